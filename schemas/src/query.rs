//! A standing question.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Fixed, GroupKey};

/// The name under which a query is changed or deleted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct QueryId(pub String);

/// How a query is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Ordered evidence (OKH-RAG 3.2).
    #[default]
    Trajectory,
    /// A ranking of passages by what they say and by what they name in common. The domain pack must be one that reads
    /// texts by a language model, as `general` does.
    Spread,
    /// Paths of evidence from what the question names (HyCE-RAG). The domain pack must be one that reads texts by a language model.
    Evidence,
}

/// A question that stands until it is deleted (null payload on topic `queries`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// The id; on a topic it may be left out, then the message key counts.
    #[serde(default = "no_id")]
    pub id: QueryId,
    /// The question, in plain words.
    pub question: String,
    /// How it is answered.
    #[serde(default)]
    pub mode: Mode,
    /// The question's own group, where the asker knows it.
    #[serde(default)]
    pub group: Option<GroupKey>,
    /// Only evidence issued at or before this moment counts.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub as_of: Option<Timestamp>,
    /// Settings of the retrieval.
    #[serde(default)]
    pub parameters: QueryParameters,
}

fn no_id() -> QueryId {
    QueryId(String::new())
}

/// Settings of retrieval; for trajectories the defaults are those of OKH-RAG 4.1 and A.7.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct QueryParameters {
    /// Beam width B.
    pub beam_width: u16,
    /// Steps in a trajectory, L.
    pub length: u16,
    /// Trajectories returned, N.
    pub trajectories: u16,
    /// Weight of order coherence, lambda.
    pub lambda: Fixed,
    /// Weight of precedence consistency, mu.
    pub mu: Fixed,
    /// Weight of entity continuity, nu.
    pub nu: Fixed,
    /// Weight of phase coverage, rho.
    pub rho: Fixed,
    /// Penalty times the largest Jaccard overlap with a beam already kept.
    pub diversity_penalty: Fixed,
    /// Seeds by cosine, K.
    pub seeds: u16,
    /// Most candidates.
    pub candidates: u16,
    /// Share of the candidates reserved for the query's own group.
    pub own_group_share: Fixed,
    /// Passages returned, in mode `spread`.
    pub passages: u16,
}

impl Default for QueryParameters {
    fn default() -> Self {
        Self {
            beam_width: 8,
            length: 8,
            trajectories: 3,
            lambda: Fixed::from_f64(1.2),
            mu: Fixed::from_f64(0.3),
            nu: Fixed::from_f64(0.2),
            rho: Fixed::from_f64(0.5),
            diversity_penalty: Fixed::from_f64(0.5),
            seeds: 80,
            candidates: 150,
            own_group_share: Fixed::from_f64(0.4),
            passages: 10,
        }
    }
}
