//! Mode `evidence`: passages by their best evidence, as HyCE-RAG finds it.

use std::{cell::RefCell, time::Instant};

use hypercane_operators::kernel::{
    Chain, ChainSettings, Extraction, Hypergraph, Surroundings, by_best_part, chain, rank::top,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    Facts, Index, QuestionFacts, Ranked,
    measure::{milliseconds, with_fused},
};

/// Every fact of the general extractor is a sentence as it stands, and has no directed relations.
const EXTRACTION: Extraction<'static> = Extraction { confidence: 1.0, relations: &[] };

/// How evidence is looked for: as published, or with one thing changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvidenceRun {
    /// The settings.
    pub settings: ChainSettings,
    /// Whether evidence is assembled; else facts are ranked by the confidence that was propagated to them.
    pub assembles: bool,
    /// Whether a fact joins all that it speaks of; else every two of them are an edge of their own.
    pub hyperedges: bool,
    /// Whether a mention that is no name here is looked for among synonyms.
    pub synonyms: bool,
    /// Weight of the passage's fused score; none as published.
    pub fused_weight: f64,
}

impl Default for EvidenceRun {
    fn default() -> Self {
        Self {
            settings: ChainSettings::default(),
            assembles: true,
            hyperedges: true,
            synonyms: true,
            fused_weight: 0.0,
        }
    }
}

impl EvidenceRun {
    /// With what is beyond the paper: the question's words in the walk, and the passage's fused score.
    pub fn lifted() -> Self {
        Self { settings: ChainSettings::lifted(), fused_weight: 0.5, ..Self::default() }
    }

    /// Asks every question.
    pub fn ranked(&self, index: &Index, facts: &Facts) -> Vec<Ranked> {
        let pairs = (!self.hyperedges).then(|| pairs(&facts.graph));
        let of = |at: usize| {
            let began = Instant::now();
            let question = &facts.questions[at];
            let passages = match &pairs {
                None => self.passages(facts, &self.chain(facts, question, &facts.graph, |fact| *fact), |fact| *fact),
                Some(pairs) => self.passages(facts, &self.chain(facts, question, pairs, |pair| pair.0), |pair| pair.0),
            };
            let passages = with_fused(passages, index, question, self.fused_weight);
            Ranked { passages, query_ms: milliseconds(began) }
        };
        (0..facts.questions.len()).into_par_iter().map(of).collect()
    }

    /// The evidence of a question, over hyperedges that each belong to a fact.
    pub(super) fn chain<E: Ord + Clone>(
        &self,
        facts: &Facts,
        question: &QuestionFacts,
        graph: &Hypergraph<E, u32>,
        fact_of: impl Fn(&E) -> u32,
    ) -> Chain<E, u32> {
        let cosines = facts.entity_cosines(&question.vector.0);
        let entry = facts.entry(question, &cosines, &self.settings, self.synonyms);
        let known = RefCell::new(vec![None; facts.texts.len()]);
        let relevance = |hyperedge: u32| {
            let fact = fact_of(&graph.hyperedges()[hyperedge as usize]);
            let cosine = || facts.fact_cosine(fact, &question.vector.0).max(0.0);
            *known.borrow_mut()[fact as usize].get_or_insert_with(cosine)
        };
        let mut settings = self.settings;
        // A fact of n entities is n (n - 1) / 2 pairs: as many facts are kept either way.
        settings.hyperedges = settings.hyperedges * graph.hyperedges().len() / facts.texts.len().max(1);
        let around = Surroundings {
            graph,
            entry: &graph.entities_among(entry.keys()),
            carries: &|entity| facts.is_carrying(graph.entities()[entity as usize]),
            relevance: &relevance,
            similarity: &|entity| cosines[graph.entities()[entity as usize] as usize].max(0.0),
            degree: &|entity| graph.hyperedges_of(entity).len(),
            extraction: &|_| EXTRACTION,
            in_conflict: &|_| false,
        };
        chain(&around, &settings)
    }

    /// Passages by their best evidence.
    fn passages<E: Ord + Clone>(&self, facts: &Facts, chain: &Chain<E, u32>, fact_of: impl Fn(&E) -> u32) -> Vec<u32> {
        let by_confidence = || top(&chain.hyperedge_confidence, usize::MAX).into_iter().map(|at| at as u32).collect();
        let ranking: Vec<u32> = if self.assembles { chain.ranking() } else { by_confidence() };
        let hyperedges = ranking.into_iter().map(|hyperedge| &chain.graph.hyperedges()[hyperedge as usize]);
        by_best_part(hyperedges.map(|hyperedge| facts.passages[fact_of(hyperedge) as usize]))
    }
}

/// Every two entities of a fact as an edge of their own, named by the fact and a number; a fact of one entity keeps it.
fn pairs(graph: &Hypergraph<u32, u32>) -> Hypergraph<(u32, u32), u32> {
    let mut incidences = Vec::new();
    for (at, &fact) in (0..).zip(graph.hyperedges()) {
        let entities = graph.entities_of(at);
        let id = |entity: &u32| graph.entities()[*entity as usize];
        let mut number = 0;
        for (position, a) in entities.iter().enumerate() {
            for b in &entities[position + 1..] {
                incidences.extend([((fact, number), id(a)), ((fact, number), id(b))]);
                number += 1;
            }
        }
        if let [only] = entities {
            incidences.push(((fact, 0), id(only)));
        }
    }
    Hypergraph::new(incidences)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_of_three_is_three_pairs() {
        let graph = Hypergraph::new([(1, 7), (1, 8), (1, 9), (2, 9)]);
        let pairs = pairs(&graph);
        assert_eq!(pairs.hyperedges(), [(1, 0), (1, 1), (1, 2), (2, 0)]);
        assert_eq!(
            (pairs.entities_of(0), pairs.entities_of(1), pairs.entities_of(3)),
            ([0, 1].as_slice(), [0, 2].as_slice(), [2].as_slice())
        );
    }
}
