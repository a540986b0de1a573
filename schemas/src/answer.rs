//! Answers: ranked, ordered evidence, and what changed in it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ContentHash, DocumentKey, Epoch, EvidenceRow, Fixed, GroupKey, HyperedgeId, Provenance, QueryId, RankedPassage,
};

/// The parts of a trajectory's score (OKH-RAG eq. 5), each before its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub struct StepScore {
    /// Sum of cosines, Rel.
    pub relevance: Fixed,
    /// Sum of log P, Trans.
    pub transition: Fixed,
    /// Prec (eq. 11).
    pub precedence: Fixed,
    /// Ovlp (eq. 12).
    pub overlap: Fixed,
    /// Cov (eq. 13).
    pub coverage: Fixed,
    /// The weighted sum.
    pub total: Fixed,
}

/// One step of one trajectory of one query: a row of table `answers`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct AnswerStep {
    /// The query.
    pub query: QueryId,
    /// Rank of the trajectory, from 1.
    pub rank: u16,
    /// Step in the trajectory, from 1, in chronological order.
    pub step: u16,
    /// The evidence.
    pub hyperedge: HyperedgeId,
    /// Its relation.
    pub relation: String,
    /// Its phase.
    pub phase: String,
    /// Hours before the group's reference event, where known.
    #[serde(default)]
    pub horizon_hours: Option<i32>,
    /// When it was said.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub issued_at: Option<Timestamp>,
    /// Its text.
    pub text: String,
    /// Cosine with the question.
    pub relevance: Fixed,
    /// Score of the trajectory and its parts.
    pub score: StepScore,
    /// Where it stands.
    pub provenance: Vec<Provenance>,
}

/// What happened to a part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// New in the answer.
    Came,
    /// No longer in the answer.
    Went,
    /// In the answer before and after, at another place or with another score.
    Moved,
}

/// Why an answer changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// Documents that came, changed or went in this epoch and whose facts are candidates of the query, or whose passages or
    /// evidence came into its answer, went from it or moved in it; every one of this epoch where that explains nothing.
    pub documents: Vec<DocumentKey>,
    /// Groups whose reference time a `horizons` record set, moved or took away in this epoch.
    pub horizons: Vec<GroupKey>,
    /// Whether the query itself came, changed or went.
    pub query_changed: bool,
}

/// What an answer consists of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A step of a trajectory.
    Step(AnswerStep),
    /// A passage of a ranking.
    Passage(RankedPassage),
    /// A path of evidence.
    Evidence(EvidenceRow),
}

impl Part {
    /// The query that it answers.
    pub fn query(&self) -> &QueryId {
        match self {
            Self::Step(step) => &step.query,
            Self::Passage(passage) => &passage.query,
            Self::Evidence(path) => &path.query,
        }
    }

    /// Its rank and step; the one step of a passage or a path of evidence is 1.
    pub fn place(&self) -> (u16, u16) {
        match self {
            Self::Step(step) => (step.rank, step.step),
            Self::Passage(passage) => (passage.rank, 1),
            Self::Evidence(path) => (path.rank, 1),
        }
    }

    /// What stands there: a fact or a passage.
    pub fn what(&self) -> ContentHash {
        match self {
            Self::Step(step) => step.hyperedge.0,
            Self::Passage(passage) => passage.passage,
            Self::Evidence(path) => path.hyperedge.0,
        }
    }

    /// Where it is said.
    pub fn provenance(&self) -> &[Provenance] {
        match self {
            Self::Step(step) => &step.provenance,
            Self::Passage(passage) => &passage.provenance,
            Self::Evidence(path) => &path.provenance,
        }
    }
}

/// One message of topic `results`: a part of an answer that came, went or moved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ResultEvent {
    /// The epoch in which it happened.
    pub epoch: Epoch,
    /// What happened.
    pub change: Change,
    /// The step, passage or path as it is now; for `went`, as it was.
    #[serde(flatten)]
    pub part: Part,
    /// Its former rank and step, for `moved`.
    #[serde(default)]
    pub moved_from: Option<(u16, u16)>,
    /// Why.
    pub cause: Cause,
}
