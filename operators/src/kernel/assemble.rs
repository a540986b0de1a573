//! Confident hyperedges become evidence paths (HyCE-RAG 3.3.4, eq. 30 to 38), each with the parts of its score.

use serde::{Deserialize, Serialize};

use super::{Hypergraph, rank::top};

/// The five terms of S(e) (HyCE-RAG eq. 32), each in 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
pub struct EvidenceParts {
    /// Cov: retained entities, as a share of the most that a hyperedge of the query has (eq. 33).
    pub coverage: f64,
    /// rho: confidence from propagation (eq. 29).
    pub propagation: f64,
    /// gamma: confidence of the extraction.
    pub extraction: f64,
    /// I_entry: 1 where it holds an entry entity (eq. 34).
    pub entry: f64,
    /// eta_rel: mean confidence of its directed relations, 0 without any (eq. 35).
    pub relations: f64,
}

/// The weights of the five terms (HyCE-RAG eq. 32). They need not sum to one. The paper leaves them open; the defaults were
/// chosen on training questions, but for those of the extraction and the relations, which are first ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvidenceWeights {
    /// w_cov.
    pub coverage: f64,
    /// w_prop.
    pub propagation: f64,
    /// w_ext.
    pub extraction: f64,
    /// w_entry.
    pub entry: f64,
    /// w_rel.
    pub relations: f64,
}

impl Default for EvidenceWeights {
    fn default() -> Self {
        Self { coverage: 0.1, propagation: 1.0, extraction: 0.1, entry: 0.4, relations: 0.1 }
    }
}

impl EvidenceParts {
    /// S(e) (HyCE-RAG eq. 32).
    pub fn score(&self, weights: &EvidenceWeights) -> f64 {
        weights.coverage * self.coverage
            + weights.propagation * self.propagation
            + weights.extraction * self.extraction
            + weights.entry * self.entry
            + weights.relations * self.relations
    }
}

/// What extraction left with a hyperedge.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Extraction<'a> {
    /// gamma: its confidence, 0 to 1.
    pub confidence: f64,
    /// conf(r) of each of its directed relations R(e), in the order of the relations.
    pub relations: &'a [f64],
}

/// What counts as confident, and how evidence is scored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AssembleSettings {
    /// theta_v: an entity with at least this confidence is retained (eq. 30).
    pub theta: f64,
    /// The weights of eq. 32.
    pub weights: EvidenceWeights,
    /// The constant in the denominator of eq. 33.
    pub epsilon: f64,
    /// L: most paths (eq. 36).
    pub paths: usize,
}

/// An evidence path p_e (HyCE-RAG eq. 37). Its relations R(e) are those of its hyperedge; gamma is `parts.extraction`.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidencePath {
    /// The hyperedge, by index.
    pub hyperedge: u32,
    /// F(e): its retained entities by index, ascending (eq. 31). Never empty.
    pub retained: Vec<u32>,
    /// The terms of its score.
    pub parts: EvidenceParts,
    /// S(p_e) = S(e) (eq. 32 and 38).
    pub score: f64,
}

/// The evidence of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Assembled {
    /// The L best paths, best first, equal ones by id (HyCE-RAG eq. 36 and 37).
    Paths(Vec<EvidencePath>),
    /// No entity is confident enough: the L hyperedges with the highest retrieval score, best first (after eq. 33).
    Fallback(Vec<u32>),
}

/// E_q* and its paths, or the fallback. `confidence` is c* by entity; `extractions` and `retrieval` (s_hyp) are by
/// hyperedge, `entry` are the entry entities by index, ascending. Cost: that of [`evidence_paths`].
pub fn assemble<E, V>(
    graph: &Hypergraph<E, V>,
    confidence: &[f64],
    entry: &[u32],
    extractions: &[Extraction<'_>],
    retrieval: &[f64],
    settings: &AssembleSettings,
) -> Assembled {
    let mut paths: Vec<Option<EvidencePath>> =
        evidence_paths(graph, confidence, entry, extractions, settings).into_iter().map(Some).collect();
    if paths.is_empty() {
        let ranked = top(retrieval, settings.paths);
        return Assembled::Fallback(ranked.into_iter().map(|at| at as u32).collect());
    }
    let scores: Vec<f64> = paths.iter().flatten().map(|path| path.score).collect();
    Assembled::Paths(top(&scores, settings.paths).into_iter().filter_map(|at| paths[at].take()).collect())
}

/// All candidate evidence, in the order of hyperedges: those with a retained entity, scored (HyCE-RAG eq. 30 to 35). Cost:
/// incidences, times the logarithm of the count of entry entities.
pub fn evidence_paths<E, V>(
    graph: &Hypergraph<E, V>,
    confidence: &[f64],
    entry: &[u32],
    extractions: &[Extraction<'_>],
    settings: &AssembleSettings,
) -> Vec<EvidencePath> {
    let rho = super::hyperedge_confidence(graph, confidence);
    let is_retained = |entity: &u32| confidence[*entity as usize] >= settings.theta;
    let retained: Vec<Vec<u32>> = (0..graph.hyperedges().len() as u32)
        .map(|hyperedge| graph.entities_of(hyperedge).iter().copied().filter(is_retained).collect())
        .collect();
    let most = retained.iter().map(Vec::len).max().unwrap_or(0);
    let paths = (0u32..).zip(retained).filter(|(_, retained)| !retained.is_empty());
    paths
        .map(|(hyperedge, retained)| {
            let extraction = &extractions[hyperedge as usize];
            let holds_entry = graph.entities_of(hyperedge).iter().any(|entity| entry.binary_search(entity).is_ok());
            let parts = EvidenceParts {
                coverage: retained.len() as f64 / (most as f64 + settings.epsilon),
                propagation: rho[hyperedge as usize],
                extraction: extraction.confidence,
                entry: if holds_entry { 1.0 } else { 0.0 },
                relations: mean(extraction.relations),
            };
            EvidencePath { hyperedge, retained, parts, score: parts.score(&settings.weights) }
        })
        .collect()
}

/// The mean, 0 of nothing (HyCE-RAG eq. 35).
fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}
