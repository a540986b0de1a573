//! The structural walk between atomic facts (HyperProve 3.2 and 3.3) by its factors.
//!
//! W_s = B_he D_e^-1 B_he^T + B_hd D_d^-1 B_hd^T is one product B D^-1 B^T where entities and documents are both columns of
//! B: whatever two facts can share, a *tie*. T_s takes the diagonal away and scales rows to one. A fact's own share of its
//! ties is left out tie by tie, where the difference is exactly 0 for a tie that nothing else shares.

use super::{Hypergraph, rank::top};

/// What two facts can share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tie<V, D> {
    /// A participant, or a synonym of one.
    Entity(V),
    /// The document that says them.
    Document(D),
}

/// T_s over all facts, or T* over some of them. `F` are facts, `N` ties, as ids or as ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct FactWalk<F, N> {
    graph: Hypergraph<F, N>,
    /// Facts of each tie in the whole corpus: D_e and D_d.
    degrees: Vec<f64>,
    /// Sum of each row of W_s without its diagonal.
    row_sums: Vec<f64>,
}

impl<F: Ord + Clone, N: Ord + Clone> FactWalk<F, N> {
    /// T_s over all facts, from the ties of each: its expanded participants and its document. A tie that is left out, such as
    /// a hub, carries no step and counts in no row. Cost: sorting the ties.
    pub fn new(ties: impl IntoIterator<Item = (F, N)>) -> Self {
        let graph = Hypergraph::new(ties);
        let degrees = (0..graph.entities().len() as u32).map(|tie| graph.hyperedges_of(tie).len() as f64).collect();
        Self::of(graph, degrees)
    }

    /// T* over some facts, where `degree` gives the facts that each tie has in the whole corpus. Cost: sorting the ties.
    pub fn with_degrees(ties: impl IntoIterator<Item = (F, N)>, degree: impl Fn(&N) -> u32) -> Self {
        let graph = Hypergraph::new(ties);
        let degrees = graph.entities().iter().map(|tie| f64::from(degree(tie))).collect();
        Self::of(graph, degrees)
    }

    /// T*: T_s restricted to some facts, its rows scaled to one again (HyperProve 3.3). Degrees stay those of the corpus.
    /// Cost: sorting the ties of the facts kept.
    pub fn restrict(&self, facts: &[u32]) -> Self {
        let graph = self.graph.restrict(facts);
        let of_whole = graph.entities().iter().filter_map(|tie| self.graph.entity(tie));
        let degrees = of_whole.map(|tie| self.degrees[tie as usize]).collect();
        Self::of(graph, degrees)
    }

    fn of(graph: Hypergraph<F, N>, degrees: Vec<f64>) -> Self {
        let others = |tie: &u32| (graph.hyperedges_of(*tie).len() - 1) as f64 / degrees[*tie as usize];
        let facts = 0..graph.hyperedges().len() as u32;
        let row_sums = facts.map(|fact| graph.entities_of(fact).iter().map(others).sum()).collect();
        Self { graph, degrees, row_sums }
    }
}

impl<F, N> FactWalk<F, N> {
    /// B: facts are its hyperedges, ties its entities.
    pub fn graph(&self) -> &Hypergraph<F, N> {
        &self.graph
    }

    /// Facts of each tie in the whole corpus: the diagonals of D_e and D_d.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// The row of a fact: the facts that it leads to, ascending, with the share of each. Empty, or the shares sum to one.
    /// Cost: the facts of its ties.
    pub fn row(&self, fact: u32) -> Vec<(u32, f64)> {
        self.row_with(fact, &mut Sparse::new(self.row_sums.len()))
    }

    /// All rows, in order. Cost: the sum over ties of their facts squared.
    pub fn rows(&self) -> impl Iterator<Item = Vec<(u32, f64)>> {
        let mut sums = Sparse::new(self.row_sums.len());
        (0..self.row_sums.len() as u32).map(move |fact| self.row_with(fact, &mut sums))
    }

    fn row_with(&self, fact: u32, sums: &mut Sparse) -> Vec<(u32, f64)> {
        for &tie in self.graph.entities_of(fact) {
            let weight = 1.0 / self.degrees[tie as usize];
            let others = self.graph.hyperedges_of(tie).iter().filter(|&&other| other != fact);
            others.for_each(|&other| sums.add(other, weight));
        }
        let mut row = sums.take();
        row.iter_mut().for_each(|(_, weight)| *weight /= self.row_sums[fact as usize]);
        row
    }

    /// One step of the walk: the mass of each fact moves along its row; that of a row of zeros is lost. Mass is positive, by
    /// fact, ascending. Cost: the facts of the ties of the facts that have mass.
    pub fn step(&self, mass: &[(u32, f64)]) -> Vec<(u32, f64)> {
        let mut scratch = Scratch::of(self);
        self.step_with(mass, &mut scratch)
    }

    fn step_with(&self, mass: &[(u32, f64)], scratch: &mut Scratch) -> Vec<(u32, f64)> {
        for &(fact, mass) in mass.iter().filter(|(fact, _)| self.row_sums[*fact as usize] > 0.0) {
            let scaled = mass / self.row_sums[fact as usize];
            scratch.scaled[fact as usize] = scaled;
            self.graph.entities_of(fact).iter().for_each(|&tie| scratch.ties.add(tie, scaled));
        }
        for (tie, all) in scratch.ties.take() {
            for &fact in self.graph.hyperedges_of(tie) {
                let others = all - scratch.scaled[fact as usize];
                scratch.facts.add(fact, others / self.degrees[tie as usize]);
            }
        }
        mass.iter().for_each(|&(fact, _)| scratch.scaled[fact as usize] = 0.0);
        scratch.facts.take()
    }

    /// G*: the seeds, and the facts where a random walk from them is most often, ascending (HyperProve 3.3). `seeds` are
    /// facts with their share of the start, positive, ascending. Cost: walk steps times the facts of the ties of at most
    /// `settings.facts` facts.
    ///
    /// The paper names neither the length of the walk nor how the 600 are chosen. Here a fact's visits are summed over the
    /// steps, each step weighing `damping` times the one before; only the heaviest facts of a step walk on, so that the cost
    /// is bounded whatever the corpus. Equal ones go by id.
    pub fn local(&self, seeds: &[(u32, f64)], settings: &LocalSettings) -> Vec<u32> {
        let mut scratch = Scratch::of(self);
        let mut visits = Sparse::new(self.row_sums.len());
        let mut mass = heaviest(seeds.to_vec(), settings.facts);
        let starts: Vec<u32> = mass.iter().map(|&(fact, _)| fact).collect();
        let mut weight = 1.0;
        for _ in 0..settings.steps {
            mass = self.step_with(&mass, &mut scratch);
            weight *= settings.damping;
            mass.iter().for_each(|&(fact, mass)| visits.add(fact, weight * mass));
            mass = heaviest(mass, settings.facts);
        }
        let mut others = visits.take();
        others.retain(|(fact, _)| starts.binary_search(fact).is_err());
        let others = heaviest(others, settings.facts - starts.len());
        let mut facts: Vec<u32> = others.into_iter().map(|(fact, _)| fact).chain(starts).collect();
        facts.sort_unstable();
        facts
    }
}

/// How far the walk goes that finds the local facts, and how many are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalSettings {
    /// Steps of the walk.
    pub steps: usize,
    /// Weight of a step against the one before it, above 0 and at most 1.
    pub damping: f64,
    /// Most facts; the paper has 600.
    pub facts: usize,
}

/// The heaviest, in the order of facts.
fn heaviest(mut mass: Vec<(u32, f64)>, most: usize) -> Vec<(u32, f64)> {
    if mass.len() > most {
        let weights: Vec<f64> = mass.iter().map(|&(_, weight)| weight).collect();
        let mut kept = top(&weights, most);
        kept.sort_unstable();
        mass = kept.into_iter().map(|at| mass[at]).collect();
    }
    mass
}

/// Space for a step, all zeros between steps.
struct Scratch {
    scaled: Vec<f64>,
    ties: Sparse,
    facts: Sparse,
}

impl Scratch {
    fn of<F, N>(walk: &FactWalk<F, N>) -> Self {
        let n_facts = walk.row_sums.len();
        Self { scaled: vec![0.0; n_facts], ties: Sparse::new(walk.degrees.len()), facts: Sparse::new(n_facts) }
    }
}

/// Sums by index, few of which are not 0. None is negative.
struct Sparse {
    sums: Vec<f64>,
    touched: Vec<u32>,
}

impl Sparse {
    fn new(size: usize) -> Self {
        Self { sums: vec![0.0; size], touched: Vec::new() }
    }

    fn add(&mut self, at: u32, value: f64) {
        if value > 0.0 {
            let sum = &mut self.sums[at as usize];
            if *sum == 0.0 {
                self.touched.push(at);
            }
            *sum += value;
        }
    }

    /// The sums that are not 0, in the order of indices; all are 0 afterwards.
    fn take(&mut self) -> Vec<(u32, f64)> {
        self.touched.sort_unstable();
        self.touched.drain(..).map(|at| (at, std::mem::take(&mut self.sums[at as usize]))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{FactWalk, LocalSettings};

    fn chain() -> FactWalk<u32, char> {
        FactWalk::new([(1, 'a'), (2, 'a'), (2, 'b'), (3, 'b'), (3, 'c'), (4, 'c'), (9, 'z')])
    }

    #[test]
    fn local_facts_are_the_seeds_and_what_the_walk_meets_most() {
        let settings = |steps, facts| LocalSettings { steps, damping: 0.5, facts };
        let walk = chain();
        assert_eq!(walk.local(&[(0, 1.0)], &settings(9, 600)), [0, 1, 2, 3]);
        assert_eq!(walk.local(&[(0, 1.0)], &settings(1, 600)), [0, 1]);
        assert_eq!(walk.local(&[(0, 1.0)], &settings(9, 3)), [0, 1, 2]);
        assert_eq!(walk.local(&[(0, 0.25), (3, 0.5), (4, 0.25)], &settings(9, 3)), [0, 3, 4]);
        assert_eq!(walk.local(&[(0, 0.25), (3, 0.5), (4, 0.25)], &settings(9, 1)), [3]);
        assert!(walk.local(&[], &settings(9, 600)).is_empty());
    }

    #[test]
    fn a_fact_that_shares_nothing_loses_its_mass() {
        let walk = chain();
        assert!(walk.row(4).is_empty() && walk.step(&[(4, 1.0)]).is_empty());
        assert_eq!(walk.step(&[(1, 1.0)]), [(0, 0.5), (2, 0.5)]);
    }
}
