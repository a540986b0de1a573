//! A question proved hop by hop: seeds, local facts, bounded search, the answer carried to the next sub-query (HyperProve 3.3).
//!
//! What comes next depends on the answer before, and a sub-query has a vector of its own; so a proof is a state that asks for
//! its next step, and whoever has models gives it. Nothing here waits.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{FactWalk, Hop, LocalSettings, ProveSettings, Reached, prove_hop, rank::reciprocal_rank_fusion, rank::top};

/// By what a hop's seeds are found. The paper has cosine alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeedBy {
    /// Cosine with the sub-query.
    #[default]
    Dense,
    /// BM25.
    Lexical,
    /// Both, by reciprocal rank.
    Both,
}

/// How a proof goes. The paper gives the 600 facts only; the other defaults are first ones,
/// not searched yet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProofSettings {
    /// By what seeds are found.
    pub seed_by: SeedBy,
    /// Seeds of a hop.
    pub seeds: usize,
    /// Most local facts, G* (the paper: 600).
    pub local_facts: usize,
    /// Steps of the walk that finds them.
    pub local_steps: usize,
    /// Weight of such a step against the one before.
    pub damping: f64,
    /// theta: a transition leads on where it is strictly above.
    pub theta: f64,
    /// L: most steps of the search from a start.
    pub steps: u32,
    /// alpha: weight of the cosine against structure, 0 to 1.
    pub alpha: f64,
    /// K: facts taken as evidence in a hop.
    pub facts: usize,
    /// Whether the search starts from the carried frontier too.
    pub from_frontier: bool,
    /// Most sub-queries of a question.
    pub sub_queries: usize,
}

impl Default for ProofSettings {
    fn default() -> Self {
        Self {
            seed_by: SeedBy::Dense,
            seeds: 10,
            local_facts: 600,
            local_steps: 3,
            damping: 0.5,
            theta: 0.02,
            steps: 2,
            alpha: 0.8,
            facts: 5,
            from_frontier: true,
            sub_queries: 4,
        }
    }
}

impl ProofSettings {
    fn local(&self) -> LocalSettings {
        LocalSettings { steps: self.local_steps, damping: self.damping, facts: self.local_facts }
    }

    fn hop(&self) -> ProveSettings {
        let Self { theta, steps, alpha, facts, from_frontier, .. } = *self;
        ProveSettings { theta, steps, alpha, facts, from_frontier }
    }

    /// The seeds of a hop, best first, from scores by fact: cosine, and BM25, which is asked for only where it counts. Equal ones
    /// go by index. What has no word of the query is no seed by BM25. Cost: linear in the facts.
    pub fn seeds(&self, dense: &[f64], lexical: impl FnOnce() -> BTreeMap<u32, f64>) -> Vec<u32> {
        let near = || -> Vec<u32> { top(dense, self.seeds).into_iter().map(|at| at as u32).collect() };
        let worded = || -> Vec<u32> {
            let (facts, scores): (Vec<u32>, Vec<f64>) = lexical().into_iter().unzip();
            top(&scores, self.seeds).into_iter().map(|at| facts[at]).collect()
        };
        match self.seed_by {
            SeedBy::Dense => near(),
            SeedBy::Lexical => worded(),
            SeedBy::Both => {
                let fused = reciprocal_rank_fusion(&[near(), worded()]);
                fused.into_iter().take(self.seeds).map(|(fact, _)| fact).collect()
            }
        }
    }
}

/// One hop of a proof.
#[derive(Clone, Debug, PartialEq)]
pub struct ProofHop<F> {
    /// The sub-query as it was asked: with the answers of earlier hops in their places.
    pub query: String,
    /// What it reached.
    pub hop: Hop<F>,
    /// The hop's answer, where the reader found one.
    pub answer: Option<String>,
}

/// A proof as far as it has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof<F> {
    sub_queries: Vec<String>,
    frontier: BTreeSet<F>,
    hops: Vec<ProofHop<F>>,
}

impl<F: Ord + Clone> Proof<F> {
    /// A proof of these sub-queries, in which `#1` stands for the answer of the first.
    pub fn new(sub_queries: Vec<String>) -> Self {
        Self { sub_queries, frontier: BTreeSet::new(), hops: Vec::new() }
    }

    /// The sub-query of the next hop, with the answers so far in their places; `None` when all hops are done.
    pub fn next_query(&self) -> Option<String> {
        let query = self.sub_queries.get(self.hops.len())?;
        // From the last, so that `#1` is not found in `#12`. What had no answer is asked for by its own sub-query.
        let rewritten = self.hops.iter().enumerate().rev().fold(query.clone(), |query, (at, hop)| {
            let stands_for = hop.answer.as_deref().unwrap_or(&hop.query);
            query.replace(&format!("#{}", at + 1), stands_for)
        });
        Some(rewritten)
    }

    /// Does the next hop: `seeds` are facts of the walk, without repeats; `cosine` is that of a fact with the sub-query, by
    /// index of the walk; `read` finds the answer in the evidence. Cost: that of [`FactWalk::local`] and [`prove_hop`].
    ///
    /// # Panics
    /// All hops are done.
    pub fn advance<N: Ord + Clone>(
        &mut self,
        walk: &FactWalk<F, N>,
        seeds: &[u32],
        cosine: impl Fn(u32) -> f64,
        read: impl FnOnce(&str, &[Reached<F>]) -> Option<String>,
        settings: &ProofSettings,
    ) {
        let query = self.next_query().expect("there is a hop left");
        let facts = walk.graph().hyperedges();
        let mut starts: Vec<u32> = seeds.to_vec();
        if settings.from_frontier {
            starts.extend(walk.graph().hyperedges_among(&self.frontier));
        }
        starts.sort_unstable();
        starts.dedup();
        let share = 1.0 / starts.len().max(1) as f64;
        let starts: Vec<(u32, f64)> = starts.into_iter().map(|fact| (fact, share)).collect();
        let local = walk.local(&starts, &settings.local());
        let cosine: Vec<f64> = local.iter().map(|&fact| cosine(fact)).collect();
        let seeds: BTreeSet<F> = seeds.iter().map(|&fact| facts[fact as usize].clone()).collect();
        let hop = prove_hop(&walk.restrict(&local), &seeds, &self.frontier, &cosine, &settings.hop());
        self.frontier.clone_from(&hop.frontier);
        let answer = read(&query, hop.evidence());
        self.hops.push(ProofHop { query, hop, answer });
    }

    /// Gives the last hop the answer of another reader.
    pub fn answer_last(&mut self, answer: Option<String>) {
        if let Some(hop) = self.hops.last_mut() {
            hop.answer = answer;
        }
    }

    /// The hops done.
    pub fn hops(&self) -> &[ProofHop<F>] {
        &self.hops
    }

    /// F_m: the evidence of all hops done.
    pub fn frontier(&self) -> &BTreeSet<F> {
        &self.frontier
    }

    /// All facts reached, once: the best of each hop, in the order of hops, then the second of each, and so on. Scores of two
    /// hops are not compared, since only the first has no frontier to be near to. The evidence goes before what else was
    /// reached. Cost: sorting what was reached.
    pub fn ranking(&self) -> Vec<F> {
        let mut placed: Vec<(bool, usize, usize)> = Vec::new();
        for (number, ProofHop { hop, .. }) in self.hops.iter().enumerate() {
            placed.extend((0..hop.ranking.len()).map(|rank| (rank >= hop.taken, rank, number)));
        }
        placed.sort_unstable();
        let mut seen = BTreeSet::new();
        let facts = placed.into_iter().map(|(_, rank, number)| &self.hops[number].hop.ranking[rank].fact);
        facts.filter(|fact| seen.insert(*fact)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Proof, ProofSettings, SeedBy};
    use crate::kernel::FactWalk;

    /// 1 and 2 share a city, 2 and 3 an ocean; 4 shares nothing with them.
    fn walk() -> FactWalk<u32, &'static str> {
        FactWalk::new([(1, "city"), (2, "city"), (2, "ocean"), (3, "ocean"), (4, "else"), (5, "else")])
    }

    fn settings() -> ProofSettings {
        ProofSettings { theta: 0.0, steps: 1, alpha: 0.5, facts: 1, ..ProofSettings::default() }
    }

    #[test]
    fn a_hop_starts_where_the_one_before_ended_and_asks_for_its_answer() {
        let walk = walk();
        let mut proof = Proof::new(vec!["where is the station".into(), "which ocean is at #1?".into()]);
        assert_eq!(proof.next_query().as_deref(), Some("where is the station"));
        let read = |query: &str, evidence: &[super::Reached<u32>]| {
            assert_eq!((query, evidence.len(), evidence[0].fact), ("where is the station", 1, 1));
            Some("Richmond".to_owned())
        };
        // Fact 1 is the only seed; fact 2 is one step away and less alike.
        proof.advance(&walk, &[0], |fact| [0.8, 0.4, 0.0, 0.0, 0.0][fact as usize], read, &settings());
        assert_eq!(proof.next_query().as_deref(), Some("which ocean is at Richmond?"));
        let mut other = proof.clone();
        other.answer_last(Some("Virginia".into()));
        assert_eq!(other.next_query().as_deref(), Some("which ocean is at Virginia?"));
        // The seed of the second hop shares nothing; what the frontier leads to is better by its structure.
        proof.advance(&walk, &[3], |fact| [0.0, 0.2, 0.9, 0.6, 0.0][fact as usize], |_, _| None, &settings());
        let second = &proof.hops()[1].hop;
        let shown: Vec<_> = second.ranking.iter().map(|reached| (reached.fact, reached.score)).collect();
        assert_eq!(shown, [(2, 0.6), (1, 0.5), (4, 0.3), (5, 0.0)]);
        assert_eq!(proof.frontier().iter().collect::<Vec<_>>(), [&1, &2]);
        assert_eq!(proof.ranking(), [1, 2, 4, 5]);
        assert_eq!(proof.next_query(), None);
    }

    #[test]
    fn what_had_no_answer_is_asked_for_in_its_own_words() {
        let mut proof = Proof::new(vec!["the city".into(), "the river of #1".into(), "how long is #2?".into()]);
        for _ in 0..2 {
            proof.advance(&walk(), &[], |_| 0.0, |_, _| None, &settings());
        }
        assert_eq!(proof.next_query().as_deref(), Some("how long is the river of the city?"));
        assert!(proof.ranking().is_empty());
    }

    #[test]
    fn seeds_are_near_or_worded_or_both() {
        let (dense, lexical) = ([0.5, 0.9, 0.1, 0.9], BTreeMap::from([(0, 2.0), (2, 3.0)]));
        let by =
            |seed_by| ProofSettings { seed_by, seeds: 2, ..ProofSettings::default() }.seeds(&dense, || lexical.clone());
        assert_eq!(by(SeedBy::Dense), [1, 3]);
        assert_eq!(by(SeedBy::Lexical), [2, 0]);
        assert_eq!(by(SeedBy::Both), [1, 2]);
    }
}
