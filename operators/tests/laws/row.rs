//! Rows: one type for all that goes into an operator and comes out of it, so that the harness is compiled once.

use std::collections::{BTreeMap, btree_map::Entry};

use hypercane_operators::{
    Candidate, Embedded, KeyedChange, LinkedQuery, PlacedPassage, Shared,
    assertion::Assertion,
    extract::{Extracted, RecordedAnswer},
    kernel::{Chunk, facts::Asked},
};
use hypercane_schemas::{
    AnswerStep, Cell, Conflict, ContentHash, Degree, Diff, Document, DocumentKey, Entity, EntityKey, EvidenceRow,
    GroupKey, HorizonUpdate, Hyperedge, HyperedgeId, Incidence, Precedence, Query, QueryId, RankedPassage, Reject,
    Synonym, Vector,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A row of any collection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Row {
    Change(KeyedChange<GroupKey, HorizonUpdate>),
    Horizon((GroupKey, HorizonUpdate)),
    Document((DocumentKey, Shared<Document>)),
    Chunk((DocumentKey, Shared<Chunk>)),
    Recorded((ContentHash, RecordedAnswer)),
    Extracted((DocumentKey, Shared<Extracted>)),
    Reject(Box<Reject>),
    Assertion(Shared<Assertion>),
    Fact((HyperedgeId, Shared<Assertion>)),
    Reference((GroupKey, Timestamp)),
    Hyperedge((HyperedgeId, Shared<Hyperedge>)),
    Incidence(Incidence),
    Degree(Degree),
    Entity((EntityKey, Shared<Entity>)),
    Cell(Cell),
    Precedence(Box<Precedence>),
    Conflict(Box<Conflict>),
    Query((QueryId, Shared<Query>)),
    Vector((ContentHash, Vector)),
    Linked((QueryId, Shared<LinkedQuery>)),
    Embedded(Shared<Embedded>),
    Candidate((QueryId, Candidate)),
    Answer(Box<AnswerStep>),
    Synonym(Synonym),
    Expanded((HyperedgeId, EntityKey)),
    Placed((ContentHash, Shared<PlacedPassage>)),
    Ranked(Box<RankedPassage>),
    Asked((QueryId, Shared<Asked>)),
    Evidence(Box<EvidenceRow>),
}

/// Rows with how often each stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows(pub BTreeMap<Row, Diff>);

impl Rows {
    /// Adds a row so many times.
    pub fn add(&mut self, row: Row, count: Diff) {
        match self.0.entry(row) {
            Entry::Vacant(_) if count == 0 => {}
            Entry::Vacant(entry) => _ = entry.insert(count),
            Entry::Occupied(mut entry) => {
                *entry.get_mut() += count;
                if *entry.get() == 0 {
                    entry.remove();
                }
            }
        }
    }

    /// How many rows there are, each as often as it stands.
    pub fn len(&self) -> usize {
        self.0.values().map(|count| count.unsigned_abs()).sum()
    }

    /// The first rows that stand more often here than there, as JSON.
    pub fn without(&self, other: &Self) -> String {
        let more = self.0.iter().map(|(row, count)| (row, count - other.0.get(row).copied().unwrap_or_default()));
        let shown = more.filter(|(_, count)| *count > 0).take(3).map(|(row, count)| shown(row, count));
        shown.collect()
    }
}

/// A line that shows a row as JSON, with how often it stands.
pub fn shown(row: &Row, count: Diff) -> String {
    format!("\n  {count:+} {}", serde_json::to_string(row).unwrap_or_else(|_| format!("{row:?}")))
}

/// The rows of one kind in a collection, or in what stands.
#[macro_export]
macro_rules! only {
    ($rows:expr, $kind:ident) => {
        $rows.clone().flat_map(|row| match row {
            $crate::row::Row::$kind(row) => Some(row),
            _ => None,
        })
    };
}
