//! What changed in an epoch: one list of updates for each record kind.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_operators::Shared;
use hypercane_schemas::{
    AnswerStep, Conflict, Degree, Diff, Document, DocumentKey, Entity, Epoch, EvidenceRow, GroupKey, HorizonUpdate,
    Hyperedge, Incidence, Precedence, Query, QueryId, RankedPassage, Reject, Synonym,
};

/// Updates of one record kind.
pub type Updates<R> = Vec<(R, Epoch, Diff)>;

/// The same updates, with rows of their own.
pub(crate) fn owned<R: Clone>(updates: Updates<Shared<R>>) -> Updates<R> {
    updates.into_iter().map(|(row, epoch, diff)| ((*row).clone(), epoch, diff)).collect()
}

/// All updates of one or more epochs. After [`Changes::consolidate`] each row stands once an epoch, and none cancels.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // The fields are the record kinds of the same names.
pub struct Changes {
    pub documents: Updates<Shared<Document>>,
    pub horizons: Updates<HorizonUpdate>,
    pub queries: Updates<Shared<Query>>,
    pub entities: Updates<Shared<Entity>>,
    pub hyperedges: Updates<Shared<Hyperedge>>,
    pub incidence: Updates<Incidence>,
    pub degrees: Updates<Degree>,
    pub synonyms: Updates<Synonym>,
    pub precedence: Updates<Precedence>,
    pub conflicts: Updates<Conflict>,
    pub answers: Updates<AnswerStep>,
    pub rankings: Updates<RankedPassage>,
    pub evidence: Updates<EvidenceRow>,
    pub rejects: Updates<Reject>,
    /// For each query the documents among whose facts a candidate came or went, and the groups of those facts.
    pub touched: Touched,
    /// What came, changed or went among the input of all processes.
    pub moved: Moved,
}

/// Where the candidates of queries came or went.
///
/// A candidate may come and go within one epoch, as rows of a join do when both its sides change, and how often it does depends
/// on who was quicker. So what is kept is the sum of the candidates' hashes, each as often as it came: where that is zero
/// nothing has changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Touched(BTreeMap<(QueryId, DocumentKey, GroupKey), u64>);

impl Touched {
    /// Takes in candidates of one hash that came (or went, with a negative difference) at a place.
    pub(crate) fn add(&mut self, place: (QueryId, DocumentKey, GroupKey), hash: u64, diff: Diff) {
        let sum = self.0.entry(place).or_default();
        *sum = sum.wrapping_add(hash.wrapping_mul(diff as u64));
    }

    /// The places at which candidates came or went.
    pub fn places(&self) -> impl Iterator<Item = &(QueryId, DocumentKey, GroupKey)> {
        self.0.iter().filter(|(_, sum)| **sum != 0).map(|(place, _)| place)
    }

    fn absorb(&mut self, other: Self) {
        for (place, sum) in other.0 {
            self.add(place, sum, 1);
        }
    }
}

/// The keys of documents, horizons and queries that came, changed or went. Where several processes work together each hears
/// them all, since any of them may be the cause of a change in an answer.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // The fields are the record kinds of the same names.
pub struct Moved {
    pub documents: BTreeSet<DocumentKey>,
    pub horizons: BTreeSet<GroupKey>,
    pub queries: BTreeSet<QueryId>,
}

/// Calls a macro for each list of updates.
macro_rules! for_each_kind {
    ($each:ident) => {
        $each!(documents);
        $each!(horizons);
        $each!(queries);
        $each!(entities);
        $each!(hyperedges);
        $each!(incidence);
        $each!(degrees);
        $each!(synonyms);
        $each!(precedence);
        $each!(conflicts);
        $each!(answers);
        $each!(rankings);
        $each!(evidence);
        $each!(rejects);
    };
}

impl Changes {
    /// Adds the updates of another worker or epoch.
    pub fn absorb(&mut self, mut other: Self) {
        macro_rules! append {
            ($kind:ident) => {
                self.$kind.append(&mut other.$kind)
            };
        }
        for_each_kind!(append);
        self.touched.absorb(other.touched);
        self.moved.documents.append(&mut other.moved.documents);
        self.moved.horizons.append(&mut other.moved.horizons);
        self.moved.queries.append(&mut other.moved.queries);
    }

    /// Sorts every list, adds up the differences of equal rows in an epoch, and drops what cancels.
    pub fn consolidate(&mut self) {
        macro_rules! consolidate {
            ($kind:ident) => {
                differential_dataflow::consolidation::consolidate_updates(&mut self.$kind)
            };
        }
        for_each_kind!(consolidate);
    }

    /// How many updates there are.
    pub fn len(&self) -> usize {
        let mut len = 0;
        macro_rules! count {
            ($kind:ident) => {
                len += self.$kind.len()
            };
        }
        for_each_kind!(count);
        len
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
