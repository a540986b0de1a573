//! Results: from the updates of an epoch to what changed in each answer, and why.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{AnswerStep, Cause, Change, DocumentKey, Epoch, GroupKey, HyperedgeId, QueryId, ResultEvent};

use crate::changes::{Changes, Moved};

/// The steps that came, went or moved in the epoch, by query, rank and step.
///
/// A step whose place and horizon are the same and whose score alone differs has not moved.
pub fn results(changes: &Changes, epoch: Epoch) -> Vec<ResultEvent> {
    let mut old: BTreeMap<(&QueryId, HyperedgeId), Vec<&AnswerStep>> = BTreeMap::new();
    let mut new: Vec<&AnswerStep> = Vec::new();
    for (step, _, diff) in &changes.answers {
        if *diff > 0 {
            new.push(step);
        } else {
            old.entry((&step.query, step.hyperedge)).or_default().push(step);
        }
    }
    let causes = Causes::new(changes);
    let mut events = Vec::new();
    for step in new {
        let former = old.get_mut(&(&step.query, step.hyperedge)).and_then(Vec::pop);
        let (change, moved_from) = match former {
            None => (Change::Came, None),
            Some(was) if place(was) == place(step) => continue,
            Some(was) => (Change::Moved, Some((was.rank, was.step))),
        };
        events.push(ResultEvent { epoch, change, step: step.clone(), moved_from, cause: causes.of(&step.query) });
    }
    for step in old.into_values().flatten() {
        let cause = causes.of(&step.query);
        events.push(ResultEvent { epoch, change: Change::Went, step: step.clone(), moved_from: None, cause });
    }
    events.sort_by(|a, b| order(a).cmp(&order(b)));
    events
}

fn place(step: &AnswerStep) -> (u16, u16, Option<i32>) {
    (step.rank, step.step, step.horizon_hours)
}

fn order(event: &ResultEvent) -> (&QueryId, bool, u16, u16) {
    (&event.step.query, event.change == Change::Went, event.step.rank, event.step.step)
}

/// Why answers changed in an epoch.
struct Causes<'a> {
    moved: &'a Moved,
    touched: BTreeMap<&'a QueryId, Vec<(&'a DocumentKey, &'a GroupKey)>>,
}

impl<'a> Causes<'a> {
    fn new(changes: &'a Changes) -> Self {
        let mut touched: BTreeMap<&QueryId, Vec<(&DocumentKey, &GroupKey)>> = BTreeMap::new();
        for (query, document, group) in changes.touched.places() {
            touched.entry(query).or_default().push((document, group));
        }
        Self { moved: &changes.moved, touched }
    }

    /// The changed documents among whose facts a candidate came or went; where the candidates are of unchanged documents
    /// (their labels moved), every changed document, since one of them moved the reference time.
    fn of(&self, query: &QueryId) -> Cause {
        let touched = self.touched.get(query).map(Vec::as_slice).unwrap_or_default();
        let documents: BTreeSet<&DocumentKey> = touched
            .iter()
            .map(|(document, _)| *document)
            .filter(|document| self.moved.documents.contains(document))
            .collect();
        let horizons: BTreeSet<&GroupKey> =
            touched.iter().map(|(_, group)| *group).filter(|group| self.moved.horizons.contains(group)).collect();
        let query_changed = self.moved.queries.contains(query);
        let unexplained = documents.is_empty() && horizons.is_empty() && !query_changed;
        let documents = if unexplained { self.moved.documents.iter().collect() } else { documents };
        Cause {
            documents: documents.into_iter().cloned().collect(),
            horizons: horizons.into_iter().cloned().collect(),
            query_changed,
        }
    }
}
