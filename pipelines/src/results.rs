//! Results: from the updates of an epoch to what changed in each answer, and why.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{Cause, Change, ContentHash, Diff, DocumentKey, Epoch, GroupKey, Part, QueryId, ResultEvent};

use crate::changes::{Changes, Moved};

/// The steps, passages and paths of evidence that came, went or moved in the epoch, by query, rank and step.
///
/// A part whose place and horizon are the same and whose score alone differs has not moved.
pub fn results(changes: &Changes, epoch: Epoch) -> Vec<ResultEvent> {
    let steps = changes.answers.iter().map(|(step, _, diff)| (Part::Step(step.clone()), *diff));
    let passages = changes.rankings.iter().map(|(passage, _, diff)| (Part::Passage(passage.clone()), *diff));
    let evidence = changes.evidence.iter().map(|(path, _, diff)| (Part::Evidence(path.clone()), *diff));
    let parts: Vec<(Part, Diff)> = steps.chain(passages).chain(evidence).collect();
    let causes = Causes::new(changes);
    let mut old: BTreeMap<(QueryId, ContentHash), Vec<Part>> = BTreeMap::new();
    let mut new: Vec<Part> = Vec::new();
    for (part, diff) in parts {
        match diff > 0 {
            true => new.push(part),
            false => old.entry((part.query().clone(), part.what())).or_default().push(part),
        }
    }
    let mut events = Vec::new();
    for part in new {
        let former = old.get_mut(&(part.query().clone(), part.what())).and_then(Vec::pop);
        let (change, moved_from) = match former {
            None => (Change::Came, None),
            Some(was) if was.place() == part.place() && horizon(&was) == horizon(&part) => continue,
            Some(was) => (Change::Moved, Some(was.place())),
        };
        let cause = causes.of(part.query());
        events.push(ResultEvent { epoch, change, part, moved_from, cause });
    }
    for part in old.into_values().flatten() {
        let cause = causes.of(part.query());
        events.push(ResultEvent { epoch, change: Change::Went, part, moved_from: None, cause });
    }
    events.sort_by(|a, b| order(a).cmp(&order(b)));
    events
}

fn horizon(part: &Part) -> Option<i32> {
    match part {
        Part::Step(step) => step.horizon_hours,
        Part::Passage(_) | Part::Evidence(_) => None,
    }
}

fn order(event: &ResultEvent) -> (&QueryId, bool, (u16, u16)) {
    (event.part.query(), event.change == Change::Went, event.part.place())
}

/// Why answers changed in an epoch.
struct Causes<'a> {
    moved: &'a Moved,
    touched: BTreeMap<&'a QueryId, Vec<(&'a DocumentKey, &'a GroupKey)>>,
    /// Changed documents whose passages or facts came into an answer, went or moved.
    ranked: BTreeMap<QueryId, BTreeSet<&'a DocumentKey>>,
}

impl<'a> Causes<'a> {
    fn new(changes: &'a Changes) -> Self {
        let mut touched: BTreeMap<&QueryId, Vec<(&DocumentKey, &GroupKey)>> = BTreeMap::new();
        for (query, document, group) in changes.touched.places() {
            touched.entry(query).or_default().push((document, group));
        }
        let mut ranked: BTreeMap<QueryId, BTreeSet<&DocumentKey>> = BTreeMap::new();
        let passages = changes.rankings.iter().map(|(passage, ..)| (&passage.query, &passage.provenance));
        let evidence = changes.evidence.iter().map(|(path, ..)| (&path.query, &path.provenance));
        for (query, provenance) in passages.chain(evidence) {
            let documents = provenance.iter().map(|place| &place.document);
            let changed = documents.filter(|document| changes.moved.documents.contains(document));
            ranked.entry(query.clone()).or_default().extend(changed);
        }
        Self { moved: &changes.moved, touched, ranked }
    }

    /// The changed documents among whose facts a candidate came or went, or whose passages or facts changed in the answer. Where there
    /// is none, every changed document: the candidates are of unchanged ones, and one of the others moved their reference
    /// time; or the passages are, and one of the others leads to them.
    fn of(&self, query: &QueryId) -> Cause {
        let touched = self.touched.get(query).map(Vec::as_slice).unwrap_or_default();
        let documents: BTreeSet<&DocumentKey> = touched
            .iter()
            .map(|(document, _)| *document)
            .filter(|document| self.moved.documents.contains(document))
            .chain(self.ranked.get(query).into_iter().flatten().copied())
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
