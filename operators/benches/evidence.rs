//! One question's evidence over a corpus of the size of 2wikimultihopqa_full, on seeded inputs without embedding: expansion to
//! fused paths (HyCE-RAG), and one hop with its local facts (HyperProve).

mod seeded;

use std::collections::BTreeSet;

use divan::{Bencher, black_box};
use hypercane_operators::kernel::{
    AssembleSettings, Assembled, EvidenceWeights, ExpandSettings, Extraction, FactWalk, Hypergraph, LocalSettings,
    ProveSettings, Split, assemble, expand, fuse, propagate, prove_hop, query_relevance, restart, split,
};
use seeded::Seeded;

const N_DOCUMENTS: u32 = 6_119;
const N_FACTS: u32 = 5 * N_DOCUMENTS;
const N_ENTITIES: u32 = 40_000;
/// Entities with more facts carry no expansion.
const HUB: usize = 64;

fn main() {
    divan::main();
}

/// Few entities are in many facts: the share of rank r falls as 1/r.
fn entity(seeded: &mut Seeded) -> u32 {
    f64::from(N_ENTITIES).powf(seeded.unit()) as u32 - 1
}

/// Five facts a document; each has the document's subject and one to four other entities.
fn incidences() -> Vec<(u32, u32)> {
    let mut seeded = Seeded(7);
    let mut incidences = Vec::new();
    for document in 0..N_DOCUMENTS {
        let subject = (seeded.unit() * f64::from(N_ENTITIES)) as u32;
        for fact in 5 * document..5 * document + 5 {
            incidences.push((fact, subject));
            incidences.extend((0..1 + seeded.next() % 4).map(|_| (fact, entity(&mut seeded))));
        }
    }
    incidences
}

fn settings() -> (ExpandSettings, AssembleSettings) {
    let weights = EvidenceWeights { coverage: 0.2, propagation: 0.3, extraction: 0.2, entry: 0.15, relations: 0.15 };
    (
        ExpandSettings { hops: 4, beta: 0.5, epsilon: 1e-9, hyperedges: 600 },
        AssembleSettings { theta: 1e-4, weights, epsilon: 1e-9, paths: 15 },
    )
}

/// Five entry entities that are no hubs, as HyCE-RAG's appendix C has it.
fn entry(graph: &Hypergraph<u32, u32>) -> Vec<u32> {
    let carries = |&entity: &u32| (8..=HUB).contains(&graph.hyperedges_of(entity).len());
    (0..graph.entities().len() as u32).filter(carries).step_by(97).take(5).collect()
}

fn evidence(graph: &Hypergraph<u32, u32>, entry: &[u32], relevance: &[f64]) -> Option<Split> {
    let (expansion, assembly) = settings();
    let carries = |entity: u32| graph.hyperedges_of(entity).len() <= HUB;
    let kept = expand(graph, entry, carries, |hyperedge| relevance[hyperedge as usize], &expansion);
    let part = graph.restrict(&kept.iter().map(|it| it.hyperedge).collect::<Vec<u32>>());
    let entry = part.entities_among(entry.iter().map(|&at| &graph.entities()[at as usize]));
    let similarity: Vec<f64> =
        part.entities().iter().map(|&entity| relevance[entity as usize % relevance.len()]).collect();
    let r = restart(&query_relevance(&similarity, &entry, 0.5), 1e-9);
    let c = propagate(&part, &r, 0.3, 10);
    let extractions = vec![Extraction { confidence: 0.9, relations: &[0.5, 0.75] }; part.hyperedges().len()];
    let s_hyp: Vec<f64> = part.hyperedges().iter().map(|&fact| relevance[fact as usize]).collect();
    match assemble(&part, &c, &entry, &extractions, &s_hyp, &assembly) {
        Assembled::Fallback(_) => None,
        Assembled::Paths(mut paths) => {
            paths.sort_unstable_by_key(|path| path.hyperedge);
            let retained: Vec<&[u32]> = paths.iter().map(|path| path.retained.as_slice()).collect();
            let scores: Vec<f64> = paths.iter().map(|path| path.score).collect();
            let groups = fuse(&retained, &scores, 0.5);
            Some(split(&groups.iter().map(|group| scores[group[0]]).collect::<Vec<f64>>(), 0.7))
        }
    }
}

fn relevance() -> Vec<f64> {
    let mut seeded = Seeded(11);
    (0..N_FACTS).map(|_| seeded.unit()).collect()
}

/// Four hops from five entities, 600 hyperedges, ten steps, fifteen paths.
#[divan::bench]
fn hyce(bencher: Bencher<'_, '_>) {
    let graph = Hypergraph::new(incidences());
    let (entry, relevance) = (entry(&graph), relevance());
    assert!(evidence(&graph, &entry, &relevance).is_some());
    bencher.bench(|| evidence(black_box(&graph), &entry, &relevance));
}

fn walk() -> FactWalk<u32, u32> {
    let incidences = incidences();
    let mut degrees = vec![0; N_ENTITIES as usize];
    incidences.iter().for_each(|&(_, entity)| degrees[entity as usize] += 1);
    // Documents come after entities; a hub ties nothing.
    let ties = incidences.into_iter().filter(|&(_, entity)| degrees[entity as usize] <= HUB);
    FactWalk::new(ties.chain((0..N_FACTS).map(|fact| (fact, N_ENTITIES + fact / 5))))
}

fn seeds() -> Vec<(u32, f64)> {
    (0..10).map(|seed| (seed * (N_FACTS / 10), 0.1)).collect()
}

/// Ten seeds, a walk of three steps, 600 facts.
#[divan::bench]
fn hyperprove_local(bencher: Bencher<'_, '_>) {
    let (walk, seeds) = (walk(), seeds());
    let settings = LocalSettings { steps: 3, damping: 0.5, facts: 600 };
    bencher.bench(|| black_box(&walk).local(&seeds, &settings));
}

/// The walk on the local facts, and one hop over it.
#[divan::bench]
fn hyperprove_hop(bencher: Bencher<'_, '_>) {
    let (walk, seeds) = (walk(), seeds());
    let local = walk.local(&seeds, &LocalSettings { steps: 3, damping: 0.5, facts: 600 });
    let frontier: BTreeSet<u32> = [seeds[0].0].into();
    let seeds: BTreeSet<u32> = seeds.into_iter().map(|(fact, _)| fact).collect();
    let cosine = relevance();
    let settings = ProveSettings { theta: 0.0, steps: 3, alpha: 0.5, facts: 5, from_frontier: true };
    bencher
        .bench(|| prove_hop(&black_box(&walk).restrict(&local), &seeds, &frontier, &cosine[..local.len()], &settings));
}

/// The whole corpus as a matrix.
#[divan::bench]
fn incidence_of_a_corpus(bencher: Bencher<'_, '_>) {
    let incidences = incidences();
    bencher.bench(|| Hypergraph::new(black_box(&incidences).iter().copied()));
}
