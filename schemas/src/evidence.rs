//! Evidence: the paths that support the answer to a question, or diverge from it, with every part of their scores.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EntityKey, Fixed, HyperedgeId, Provenance, QueryId};

/// The parts of a path's score (HyCE-RAG eq. 32), each before its weight, and s_hyp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceScore {
    /// Cov: retained entities, as a share of the most that a hyperedge of the question has (eq. 33).
    pub coverage: Fixed,
    /// rho: confidence from propagation (eq. 29).
    pub propagation: Fixed,
    /// gamma: confidence of the extraction.
    pub extraction: Fixed,
    /// One where it holds an entry entity (eq. 34).
    pub entry: Fixed,
    /// Mean confidence of its directed relations (eq. 35).
    pub relations: Fixed,
    /// s_hyp: how well it fits the question by itself (eq. 16).
    pub retrieval: Fixed,
    /// The weighted sum, S(e).
    pub total: Fixed,
}

/// An evidence path of a query (HyCE-RAG eq. 37): a row of table `evidence`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceRow {
    /// The query.
    pub query: QueryId,
    /// Its rank, from 1.
    pub rank: u16,
    /// The fact.
    pub hyperedge: HyperedgeId,
    /// Its text.
    pub text: String,
    /// The entities that propagation is confident of, by key. None where it is confident of no entity at all: then the facts that
    /// fit the question best stand in for paths, with a score of zero.
    pub retained: Vec<EntityKey>,
    /// The rank of the path that stands for it; its own where none says the same (eq. 39).
    pub represented_by: u16,
    /// Whether its group supports the answer; else it diverges (eq. 40).
    pub supports: bool,
    /// delta_q of the whole answer, 0 to 1: the share of the score that lies in paths that diverge.
    pub contradiction: Fixed,
    /// Its score and the parts of it.
    pub score: EvidenceScore,
    /// Where it stands.
    pub provenance: Vec<Provenance>,
}
