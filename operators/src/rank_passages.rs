//! Rank passages: the best passages of a corpus for each standing question.
//!
//! As if its input never changed: for each question the first passages of the ranking by the plain [`PassageIndex::rank`]. Each
//! worker keeps the words and names of all passages (the passages themselves are shared) and the questions that hash to it; what a
//! change costs is told at [`Standing`].
//!
//! [`PassageIndex::rank`]: crate::kernel::passages::PassageIndex::rank

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use differential_dataflow::{Hashable, consolidation::consolidate};
use hypercane_schemas::{ContentHash, Fixed, Mode, PassageScore, Query, QueryId, RankedPassage, Reject, Stage, Vector};
use serde::{Deserialize, Serialize};
use timely::dataflow::operators::{Concat, Exchange, vec::Broadcast, vec::Map};

use crate::{
    collection::{Collection, Told, Updates, by_epoch},
    domain::Domain,
    extract::rejected,
    kernel::{
        cosine_of_units,
        passages::{Asked, Changes, Passage, PassageSettings, Ranked, Standing},
    },
    link::LinkedQuery,
    passages::PlacedPassage,
    shared::Shared,
};

/// What comes in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Row {
    Passage(ContentHash, Shared<PlacedPassage>),
    Question(QueryId, Shared<LinkedQuery>),
}

/// The rankings of the questions.
pub fn rank_passages<'scope>(
    passages: Collection<'scope, (ContentHash, Shared<PlacedPassage>)>,
    questions: Collection<'scope, (QueryId, Shared<LinkedQuery>)>,
    domain: Arc<Domain>,
) -> Collection<'scope, RankedPassage> {
    let passages = passages.map(|(id, passage)| Row::Passage(id, passage)).inner.broadcast();
    let questions = questions.inner.exchange(|((id, _), ..)| id.hashed());
    let questions = questions.map(|((id, query), at, diff)| (Row::Question(id, query), at, diff));
    let mut rankings = Rankings::new(&domain);
    by_epoch(passages.concat(questions), "RankPassages", move |rows| rankings.apply(rows))
}

/// Queries of modes that need facts of running text where the pack reads none: each a reject, so that nobody waits for an
/// answer.
pub fn unranked<'scope>(queries: Collection<'scope, (QueryId, Shared<Query>)>) -> Collection<'scope, Reject> {
    queries.flat_map(|(id, query)| {
        let mode = match query.mode {
            Mode::Trajectory => return None,
            Mode::Spread => "spread",
            Mode::Evidence => "evidence",
        };
        let reason = format!(
            "mode {mode} reads running text, and this domain pack keeps none; take mode trajectory, or a pack with a \
             language model, such as general"
        );
        Some(rejected("queries", &id.0, Stage::Answer, None, reason))
    })
}

/// The standing questions of a worker, and the rows that it has told.
struct Rankings {
    standing: Standing,
    passages: BTreeMap<ContentHash, Shared<PlacedPassage>>,
    questions: BTreeMap<QueryId, Shared<LinkedQuery>>,
    told: Told<RankedPassage>,
}

impl Rankings {
    fn new(domain: &Domain) -> Self {
        let standing = Standing::new(domain.common_words().iter().cloned(), PassageSettings::default());
        Self { standing, passages: BTreeMap::new(), questions: BTreeMap::new(), told: Told::default() }
    }

    /// Takes in the rows of an epoch. Gives the rows of rankings that came and went.
    fn apply(&mut self, mut rows: Updates<Row>) -> Updates<RankedPassage> {
        consolidate(&mut rows);
        // What goes first, so that what comes under the same key is what stands.
        rows.sort_by_key(|(_, diff)| *diff);
        let mut changes = Changes::default();
        for (row, diff) in rows {
            match (row, diff > 0) {
                (Row::Passage(id, passage), true) => {
                    changes.passages_came.push((id, passage.passage.clone()));
                    self.passages.insert(id, passage);
                }
                (Row::Passage(id, _), false) => {
                    changes.passages_gone.push(id);
                    self.passages.remove(&id);
                }
                (Row::Question(id, query), true) => {
                    let asked = Asked::new(&query.query.question, query.vector.clone(), query.query.as_of);
                    let n_wanted = usize::from(query.query.parameters.passages);
                    changes.questions_came.push((id.clone(), asked, n_wanted));
                    self.questions.insert(id, query);
                }
                (Row::Question(id, _), false) => {
                    self.questions.remove(&id);
                    changes.questions_gone.push(id);
                }
            }
        }
        let mut updates = Vec::new();
        for id in self.standing.apply(changes) {
            let now = self.rows(&id);
            updates.extend(self.told.tell(id, now));
        }
        updates
    }

    /// The rows of a question's ranking; none where it does not stand.
    fn rows(&self, id: &QueryId) -> BTreeSet<RankedPassage> {
        let Some((query, ranking)) = self.questions.get(id).zip(self.standing.ranking(id)) else {
            return BTreeSet::new();
        };
        let placed = ranking.ranked.iter().filter_map(|ranked| Some((ranked, self.passages.get(&ranked.id)?)));
        placed.zip(1..).map(|((ranked, placed), rank)| ranked_passage(query, rank, ranked, placed)).collect()
    }
}

/// The row of a ranking for a passage at its rank.
pub fn ranked_passage(query: &LinkedQuery, rank: u16, ranked: &Ranked, placed: &PlacedPassage) -> RankedPassage {
    let passage = &placed.passage;
    let (evidence, relevance) = best_fact(passage, query).unwrap_or_default();
    RankedPassage {
        query: query.query.id.clone(),
        rank,
        passage: ranked.id,
        title: passage.title.clone(),
        text: passage.text.clone(),
        evidence,
        relevance,
        score: PassageScore {
            dense: Fixed::from_f64(ranked.dense),
            lexical: Fixed::from_f64(ranked.lexical),
            start: Fixed::from_f64(ranked.start),
            step: Fixed::from_f64(ranked.step),
            walk: Fixed::from_f64(ranked.walk),
            total: Fixed::from_f64(ranked.total),
        },
        provenance: placed.provenance.clone(),
    }
}

/// The fact that fits a question best by cosine, the first of equal ones; the first of all where there are no vectors.
fn best_fact(passage: &Passage, query: &LinkedQuery) -> Option<(String, Fixed)> {
    let fit = |fact: &Option<Vector>| match (fact, &query.vector) {
        (Some(fact), Some(asked)) => Fixed::from_f64(cosine_of_units(&fact.0, &asked.0)),
        _ => Fixed::default(),
    };
    let facts = passage.facts.iter().map(|fact| (fit(&fact.vector), fact));
    let best = facts.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    Some((best.1.text.clone(), best.0))
}
