//! The evidence of one question, from its entry entities to what supports and what diverges (HyCE-RAG 3.3.2 to 3.3.4).
//!
//! It reads a hypergraph by what is near the question only, so a part of the whole does: the hyperedges within the hops.
//! What the paper calls a chain of evidence is here the paths of eq. 37, in groups, split in two.

use serde::{Deserialize, Serialize};

use super::{
    AssembleSettings, Assembled, EvidencePath, EvidenceWeights, ExpandSettings, Extraction, Hypergraph, Split,
    assemble, contradiction_score, expand, fuse, hyperedge_confidence, propagate_by_weight, query_relevance,
    rank::higher_first, restart, split, synonyms::ETA,
};

/// How evidence is found and scored. Where the paper gives a value (its appendix C) it is the default; the others were chosen
/// on training questions, see `hypercane eval multihop --tune`; tau and theta_s are first ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChainSettings {
    /// eta: the cosine above which a name is a synonym of what the question mentions (HyperProve 3.2: 0.8).
    pub synonym_cosine: f64,
    /// K_v: entry entities by cosine (eq. 12; appendix C: 5).
    pub nearest_entities: usize,
    /// Hops of expansion (after eq. 15; appendix C: 4).
    pub hops: usize,
    /// beta: weight of entry matching against the relevance of the text (eq. 16), 0 to 1.
    pub beta: f64,
    /// K_h: most hyperedges of the query's hypergraph (eq. 19).
    pub hyperedges: usize,
    /// alpha: weight of the similarity of an entity against being an entry entity (eq. 22), 0 to 1.
    pub alpha: f64,
    /// lambda: strength of the restart (eq. 27), above 0 and at most 1.
    pub lambda: f64,
    /// K: steps of propagation (eq. 27; appendix C: 10). With none, confidence is the restart distribution.
    pub steps: usize,
    /// theta_v: least confidence of a retained entity (eq. 30).
    pub retained: f64,
    /// The weights of S(e) (eq. 32).
    pub weights: EvidenceWeights,
    /// L: most evidence paths (eq. 36; appendix C: 15).
    pub paths: usize,
    /// tau: least overlap of paths that are fused (eq. 39).
    pub overlap: f64,
    /// theta_s: share of the best score at which a path supports (eq. 40).
    pub supporting: f64,
    /// Most paths in the context of an answer (appendix C: 6).
    pub segments: usize,
    /// The small constant of eq. 17, 23 and 33.
    pub epsilon: f64,
    /// What goes beyond the paper.
    pub lift: Lift,
}

/// What the question's words may decide beyond the paper, in which a text's fit (s_rel) chooses the query's hypergraph and is
/// then forgotten; nothing of it by default.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lift {
    /// Power of an entry entity's degree by which its share of the restart shrinks; 0 as published: each alike (eq. 22).
    pub entry_rarity: f64,
    /// Power of s_hyp by which the walk prefers hyperedges; 0 as published: each alike (eq. 26).
    pub relevance_power: f64,
    /// Weight of s_hyp beside the five terms of S(e) (eq. 32); 0 as published.
    pub retrieval_weight: f64,
}

impl Default for Lift {
    fn default() -> Self {
        Self { entry_rarity: 0.0, relevance_power: 0.0, retrieval_weight: 0.0 }
    }
}

impl Default for ChainSettings {
    fn default() -> Self {
        Self {
            synonym_cosine: ETA,
            nearest_entities: 5,
            hops: 4,
            beta: 0.0,
            hyperedges: 100,
            alpha: 0.7,
            lambda: 0.9,
            steps: 10,
            retained: 0.02,
            weights: EvidenceWeights::default(),
            paths: 15,
            overlap: 0.6,
            supporting: 0.7,
            segments: 6,
            epsilon: 1e-9,
            lift: Lift::default(),
        }
    }
}

impl ChainSettings {
    /// With what the question's words may decide, as the training questions chose it (`hypercane eval multihop --tune --mode
    /// lifted`).
    pub fn lifted() -> Self {
        Self {
            nearest_entities: 0,
            beta: 0.3,
            hyperedges: 200,
            alpha: 0.0,
            lambda: 0.1,
            retained: 0.002,
            weights: EvidenceWeights { coverage: 0.4, propagation: 16.0, entry: 0.2, ..EvidenceWeights::default() },
            lift: Lift { entry_rarity: 1.0, relevance_power: 4.0, ..Lift::default() },
            ..Self::default()
        }
    }

    fn expansion(&self) -> ExpandSettings {
        ExpandSettings { hops: self.hops, beta: self.beta, epsilon: self.epsilon, hyperedges: self.hyperedges }
    }

    fn assembly(&self) -> AssembleSettings {
        AssembleSettings { theta: self.retained, weights: self.weights, epsilon: self.epsilon, paths: self.paths }
    }
}

/// A hypergraph as one question sees it. Hyperedges and entities are meant by index.
pub struct Surroundings<'a, E, V> {
    /// The hypergraph, or what of it is within the hops.
    pub graph: &'a Hypergraph<E, V>,
    /// V_0, ascending, without repeats.
    pub entry: &'a [u32],
    /// Whether an entity carries expansion; a hub of the whole hypergraph does not.
    pub carries: &'a dyn Fn(u32) -> bool,
    /// s_rel of a hyperedge (eq. 18), in 0 to 1.
    pub relevance: &'a dyn Fn(u32) -> f64,
    /// s~_vec of an entity (eq. 22), in 0 to 1.
    pub similarity: &'a dyn Fn(u32) -> f64,
    /// The hyperedges of an entity in the whole hypergraph.
    pub degree: &'a dyn Fn(u32) -> usize,
    /// What extraction left with a hyperedge.
    pub extraction: &'a dyn Fn(u32) -> Extraction<'a>,
    /// Whether a hyperedge contradicts another one (our reading of delta_q).
    pub in_conflict: &'a dyn Fn(u32) -> bool,
}

/// The evidence of a question. `Hyperedges` of it are meant by index into [`Chain::graph`].
#[derive(Clone, Debug, PartialEq)]
pub struct Chain<E, V> {
    /// H_q (eq. 21).
    pub graph: Hypergraph<E, V>,
    /// c*, by entity (eq. 27).
    pub confidence: Vec<f64>,
    /// rho, by hyperedge (eq. 29).
    pub hyperedge_confidence: Vec<f64>,
    /// s_hyp, by hyperedge (eq. 16).
    pub retrieval: Vec<f64>,
    /// Every hyperedge with a retained entity, best first: the first [`ChainSettings::paths`] of them are E_q* (eq. 36).
    /// None where the fallback applies.
    pub candidates: Vec<EvidencePath>,
    /// How many of the candidates are evidence paths.
    pub n_paths: usize,
    /// The paths in groups, by position among the candidates (eq. 39); the first of each represents it.
    pub groups: Vec<Vec<usize>>,
    /// Which groups support and which diverge, by position (eq. 40).
    pub split: Split,
    /// delta_q, by our reading: [`contradiction_score`].
    pub contradiction: f64,
}

impl<E, V> Chain<E, V> {
    /// The evidence paths p_e, best first.
    pub fn paths(&self) -> &[EvidencePath] {
        &self.candidates[..self.n_paths]
    }

    /// The path that represents a group.
    pub fn representative(&self, group: usize) -> &EvidencePath {
        &self.candidates[self.groups[group][0]]
    }

    /// All hyperedges of the question, best evidence first: those with a retained entity by S(e), then, as in the fallback,
    /// the others by s_hyp. Equal ones go by id. Cost: sorting them.
    pub fn ranking(&self) -> Vec<u32> {
        let mut ranking: Vec<u32> = self.candidates.iter().map(|path| path.hyperedge).collect();
        let mut is_ranked = vec![false; self.retrieval.len()];
        ranking.iter().for_each(|&hyperedge| is_ranked[hyperedge as usize] = true);
        let rest = super::rank::top(&self.retrieval, self.retrieval.len()).into_iter().filter(|&at| !is_ranked[at]);
        ranking.extend(rest.map(|at| at as u32));
        ranking
    }
}

/// The evidence of a question (HyCE-RAG eq. 15 to 40). Cost: that of [`expand()`] in the surroundings; for what it keeps,
/// steps times incidences, and paths squared.
pub fn chain<E: Ord + Clone, V: Ord + Clone>(around: &Surroundings<'_, E, V>, settings: &ChainSettings) -> Chain<E, V> {
    let retrieved = expand(around.graph, around.entry, around.carries, around.relevance, &settings.expansion());
    // Indices follow ids in both, so the kept ones in ascending order are those of H_q.
    let mut kept: Vec<(u32, f64)> = retrieved.iter().map(|expanded| (expanded.hyperedge, expanded.score)).collect();
    kept.sort_unstable_by_key(|&(hyperedge, _)| hyperedge);
    let (hyperedges, retrieval): (Vec<u32>, Vec<f64>) = kept.into_iter().unzip();
    let graph = around.graph.restrict(&hyperedges);
    let entry = graph.entities_among(around.entry.iter().map(|&entity| &around.graph.entities()[entity as usize]));
    let of_whole: Vec<u32> = graph.entities().iter().filter_map(|entity| around.graph.entity(entity)).collect();
    let entry = entry.into_iter().map(|at| (at, (around.degree)(of_whole[at as usize]))).collect();
    let similarity = of_whole.iter().map(|entity| (around.similarity)(*entity)).collect();
    let extractions = hyperedges.iter().map(|&at| (around.extraction)(at)).collect();
    let in_conflict = |at: u32| (around.in_conflict)(hyperedges[at as usize]);
    let query = QueryHypergraph { graph, entry, retrieval, similarity, extractions, in_conflict: &in_conflict };
    query.chain(settings)
}

/// H_q with what its entities and hyperedges bring, each by index.
pub(super) struct QueryHypergraph<'a, E, V> {
    /// H_q (eq. 21).
    pub(super) graph: Hypergraph<E, V>,
    /// The entry entities among its own, ascending, with the hyperedges that each has in the whole hypergraph.
    pub(super) entry: Vec<(u32, usize)>,
    /// s_hyp of each hyperedge.
    pub(super) retrieval: Vec<f64>,
    /// s~_vec of each entity.
    pub(super) similarity: Vec<f64>,
    /// What extraction left with each hyperedge.
    pub(super) extractions: Vec<Extraction<'a>>,
    /// Whether a hyperedge contradicts another one.
    pub(super) in_conflict: &'a dyn Fn(u32) -> bool,
}

impl<E: Ord + Clone, V: Ord + Clone> QueryHypergraph<'_, E, V> {
    /// The evidence in it (eq. 22 to 40).
    pub(super) fn chain(self, settings: &ChainSettings) -> Chain<E, V> {
        let Self { graph, entry, retrieval, similarity, extractions, in_conflict } = self;
        let Lift { entry_rarity, relevance_power, retrieval_weight } = settings.lift;
        let mut relevance = query_relevance(&similarity, &[], settings.alpha);
        for (entity, degree) in &entry {
            relevance[*entity as usize] += (1.0 - settings.alpha) * (*degree as f64).powf(-entry_rarity);
        }
        let entry: Vec<u32> = entry.into_iter().map(|(entity, _)| entity).collect();
        let restart = restart(&relevance, settings.epsilon);
        let weights: Vec<f64> = retrieval.iter().map(|s_hyp| s_hyp.max(LEAST_WEIGHT).powf(relevance_power)).collect();
        let confidence = propagate_by_weight(&graph, &weights, &restart, settings.lambda, settings.steps);
        let all = AssembleSettings { paths: usize::MAX, ..settings.assembly() };
        let mut candidates = match assemble(&graph, &confidence, &entry, &extractions, &retrieval, &all) {
            Assembled::Paths(paths) => paths,
            Assembled::Fallback(_) => Vec::new(),
        };
        if retrieval_weight > 0.0 {
            candidates.iter_mut().for_each(|path| path.score += retrieval_weight * retrieval[path.hyperedge as usize]);
            candidates.sort_by(|a, b| higher_first(a.score, b.score).then(a.hyperedge.cmp(&b.hyperedge)));
        }
        let paths = &candidates[..settings.paths.min(candidates.len())];
        let retained: Vec<&[u32]> = paths.iter().map(|path| path.retained.as_slice()).collect();
        let scores: Vec<f64> = paths.iter().map(|path| path.score).collect();
        // Equal scores go by position, which is the order of ids among equals.
        let groups = fuse(&retained, &scores, settings.overlap);
        let of_groups: Vec<f64> = groups.iter().map(|group| scores[group[0]]).collect();
        let split = split(&of_groups, settings.supporting);
        let touched = |group: usize| groups[group].iter().any(|&path| in_conflict(paths[path].hyperedge));
        let contradiction = contradiction_score(&split, &of_groups, touched);
        let (n_paths, rho) = (paths.len(), hyperedge_confidence(&graph, &confidence));
        Chain {
            graph,
            confidence,
            hyperedge_confidence: rho,
            retrieval,
            candidates,
            n_paths,
            groups,
            split,
            contradiction,
        }
    }
}

/// A hyperedge that does not fit the question at all still leads a little.
const LEAST_WEIGHT: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::{ChainSettings, Surroundings, chain};
    use crate::kernel::{EvidenceWeights, Extraction, Hypergraph};

    /// A station in a city, the city at an ocean, the ocean's deepest point; and a train that stops at the station.
    fn facts() -> Hypergraph<&'static str, &'static str> {
        Hypergraph::new([
            ("1 station", "Main Street"),
            ("1 station", "Richmond"),
            ("2 city", "Richmond"),
            ("2 city", "Atlantic"),
            ("3 deep", "Atlantic"),
            ("3 deep", "Milwaukee Deep"),
            ("4 train", "Main Street"),
            ("4 train", "G Train"),
            ("5 else", "Oslo"),
            ("5 else", "Bergen"),
        ])
    }

    fn settings() -> ChainSettings {
        let weights =
            EvidenceWeights { coverage: 0.25, propagation: 1.0, extraction: 0.0, entry: 0.25, relations: 0.0 };
        ChainSettings {
            hyperedges: 9,
            beta: 0.5,
            alpha: 0.0,
            lambda: 0.5,
            steps: 1,
            retained: 0.2,
            weights,
            epsilon: 0.0,
            ..ChainSettings::default()
        }
    }

    #[test]
    fn it_equals_its_steps_worked_out_by_hand() {
        let graph = facts();
        let entry = graph.entities_among(&["Main Street"]);
        let around = Surroundings {
            graph: &graph,
            entry: &entry,
            carries: &|_| true,
            relevance: &|hyperedge| [0.5, 0.25, 0.75, 0.0, 1.0][hyperedge as usize],
            similarity: &|_| 0.0,
            degree: &|_| 1,
            extraction: &|_| Extraction { confidence: 1.0, relations: &[] },
            in_conflict: &|hyperedge| hyperedge == 3,
        };
        let found = chain(&around, &settings());
        assert_eq!(found.graph.hyperedges(), ["1 station", "2 city", "3 deep", "4 train"]);
        assert_eq!(found.graph.entities(), ["Atlantic", "G Train", "Main Street", "Milwaukee Deep", "Richmond"]);
        // Half of the two entities are entry entities, half of the weight is theirs.
        assert_eq!(found.retrieval, [0.5, 0.125, 0.375, 0.25]);
        // All restarts at Main Street; one step takes half of it to two hyperedges, and half of each to either entity.
        assert_eq!(found.confidence, [0.0, 0.125, 0.75, 0.0, 0.125]);
        assert_eq!(found.hyperedge_confidence, [0.4375, 0.0625, 0.0, 0.4375]);
        // Only Main Street is retained: what holds it is evidence, equal by score, so by id.
        let shown: Vec<_> = found.paths().iter().map(|path| (path.hyperedge, path.score)).collect();
        assert_eq!(shown, [(0, 0.9375), (3, 0.9375)]);
        // Both retain the same, so they are one group; the train is contradicted, and with it the group.
        assert_eq!(found.groups, [[0, 1]]);
        assert_eq!((found.split.supporting.as_slice(), found.contradiction), ([0].as_slice(), 1.0));
        // Evidence first, then the others by s_hyp.
        assert_eq!(found.ranking(), [0, 3, 2, 1]);
    }

    #[test]
    fn a_part_of_the_hypergraph_gives_the_same() {
        let whole = facts();
        let part = whole.restrict(&[0, 1, 2, 3]);
        let of = |graph: &Hypergraph<&'static str, &'static str>| {
            let entry = graph.entities_among(&["Richmond", "Milwaukee Deep"]);
            let similarity = |at: u32| graph.entities()[at as usize].len() as f64 / 100.0;
            let around = Surroundings {
                graph,
                entry: &entry,
                carries: &|_| true,
                relevance: &|at| graph.hyperedges()[at as usize].len() as f64 / 10.0,
                similarity: &similarity,
                degree: &|at| at as usize + 1,
                extraction: &|_| Extraction { confidence: 0.5, relations: &[0.25, 0.75] },
                in_conflict: &|_| false,
            };
            chain(&around, &ChainSettings { steps: 10, alpha: 0.5, retained: 0.01, ..settings() })
        };
        assert_eq!(of(&whole), of(&part));
    }

    #[test]
    fn without_an_entry_or_a_retained_entity_there_is_no_path() {
        let graph = facts();
        let of = |entry: &[u32], retained| {
            let around = Surroundings {
                graph: &graph,
                entry,
                carries: &|_| true,
                relevance: &|_| 0.5,
                similarity: &|_| 0.0,
                degree: &|_| 1,
                extraction: &|_| Extraction::default(),
                in_conflict: &|_| false,
            };
            chain(&around, &ChainSettings { retained, ..settings() })
        };
        let nothing = of(&[], 0.0);
        assert!(nothing.paths().is_empty() && nothing.ranking().is_empty() && nothing.contradiction == 0.0);
        let entry = graph.entities_among(&["Oslo"]);
        let fallback = of(&entry, 1.0);
        assert!(fallback.paths().is_empty() && fallback.groups.is_empty());
        assert_eq!(fallback.ranking(), [0]);
    }
}
