//! The ranking on small corpora: by hand, and against plain definitions.

use proptest::prelude::*;

use super::{Asked, Passage, PassageFact, PassageGraph, PassageSettings, best};

/// A corpus of passages: title, sentences with what they name, and a direction for the vectors.
struct Corpus(Vec<(&'static str, Facts, [f32; 3])>);

/// Sentences, each with what it names.
type Facts = Vec<(&'static str, Vec<&'static str>)>;

impl Corpus {
    fn graph(&self) -> PassageGraph {
        let texts: Vec<String> = self
            .0
            .iter()
            .map(|(_, facts, _)| facts.iter().map(|(text, _)| *text).collect::<Vec<_>>().join(" "))
            .collect();
        let passages: Vec<Passage<'_>> = self
            .0
            .iter()
            .zip(&texts)
            .map(|((title, facts, vector), text)| Passage {
                title,
                text,
                vector,
                facts: facts
                    .iter()
                    .map(|(fact, names)| {
                        let start = text.find(fact).unwrap();
                        let names = names.iter().map(|name| (*name).to_owned()).collect();
                        PassageFact { bytes: start..start + fact.len(), vector, names }
                    })
                    .collect(),
                names: Vec::new(),
            })
            .collect();
        PassageGraph::new(&passages, &[])
    }
}

fn storms() -> Corpus {
    Corpus(vec![
        (
            "Hurricane Alder",
            vec![("Hurricane Alder closed the Port of Birchton.", vec!["Port of Birchton"])],
            [1.0, 0.0, 0.0],
        ),
        ("Port of Birchton", vec![("It lies on the Cedar River.", vec!["Cedar River"])], [0.0, 1.0, 0.0]),
        ("Cedar River", vec![("The river rises in Elm County.", vec!["Elm County"])], [0.0, 0.0, 1.0]),
        ("Rose Bay", vec![("A bay with a light.", vec![])], [0.0, 0.6, 0.8]),
    ])
}

fn asked(question: &str) -> Asked<'_> {
    Asked { question, vector: &[1.0, 0.0, 0.0] }
}

#[test]
fn what_the_question_does_not_say_is_found_over_what_passages_name() {
    let graph = storms().graph();
    let scores = graph.scores(&asked("On which river lies what Alder closed?"), &PassageSettings::default());
    // By itself the question finds the storm only; the port and its river follow by name, the bay by nothing.
    assert_eq!(best(&scores.dense, 1), [0]);
    assert_eq!(best(&scores.total, 4), [0, 1, 2, 3]);
    assert!(scores.walk[1] > scores.walk[2] && scores.walk[2] > scores.walk[3]);
    assert!(scores.step[1] > 0.0 && scores.step[3] == 0.0);
}

#[test]
fn a_name_that_many_passages_share_leads_to_its_title_only() {
    let graph = storms().graph();
    let mut settings = PassageSettings { hub_passages: 0, ..PassageSettings::default() };
    let scores = graph.scores(&asked("Alder"), &settings);
    assert!(scores.step[1] > 0.0, "the port's own passage");
    settings.title_edge = 0.0;
    assert!(graph.scores(&asked("Alder"), &settings).step.iter().all(|score| *score == 0.0));
}

#[test]
fn a_corpus_without_a_passage_has_no_scores() {
    let graph = PassageGraph::new(&[], &[]);
    assert!(graph.is_empty());
    assert!(graph.scores(&asked("Alder"), &PassageSettings::default()).total.is_empty());
}

const NAMES: [&str; 5] = ["Port Alder", "Birch Bay", "Cedar River", "Elm County", "Mount Fir"];

/// Passages by their title (a name, or none of them) and the names in their one fact.
fn corpora() -> impl Strategy<Value = Vec<(Option<usize>, Vec<usize>)>> {
    let passage = (prop::option::of(0..NAMES.len()), prop::collection::vec(0..NAMES.len(), 0..4));
    prop::collection::vec(passage, 1..7)
}

fn build(corpus: &[(Option<usize>, Vec<usize>)]) -> PassageGraph {
    let title = |title: &Option<usize>| title.map_or("", |name| NAMES[name]);
    let vectors: Vec<[f32; 2]> = (0..corpus.len()).map(|at| [(at as f32).cos(), (at as f32).sin()]).collect();
    let passages: Vec<Passage<'_>> = corpus
        .iter()
        .zip(&vectors)
        .map(|((own, named), vector)| {
            let names = named.iter().map(|name| NAMES[*name].to_owned()).collect();
            Passage {
                title: title(own),
                text: "so it is",
                vector,
                facts: vec![PassageFact { bytes: 0..8, vector, names }],
                names: Vec::new(),
            }
        })
        .collect();
    PassageGraph::new(&passages, &[])
}

/// The walk by its definition, with dense matrices over passages and names.
fn plain_walk(corpus: &[(Option<usize>, Vec<usize>)], restart: &[f64], s: &PassageSettings) -> Vec<f64> {
    let n = corpus.len();
    let edges = |p: usize, name: usize| {
        let mentions = corpus[p].1.contains(&name) || corpus[p].0 == Some(name);
        (f64::from(u8::from(mentions)), f64::from(u8::from(corpus[p].0 == Some(name))))
    };
    let any = |name: usize| (0..n).filter(|p| edges(*p, name) != (0.0, 0.0)).count().max(1) as f64;
    let rarity: Vec<f64> = (0..NAMES.len()).map(|name| (1.0 + n as f64 / any(name)).ln()).collect();
    let (mut x, mut y) = (restart.to_vec(), vec![0.0; NAMES.len()]);
    for _ in 0..s.walk_steps {
        let mut next = vec![0.0; n];
        let mut next_names = vec![0.0; NAMES.len()];
        for (name, mass) in y.iter().enumerate() {
            let titles = |p: usize| s.title_edge * edges(p, name).1;
            let all: f64 = (0..n).map(|p| edges(p, name).0 + titles(p)).sum();
            let is_hub = any(name) > s.walk_hub_passages as f64;
            for (p, next) in next.iter_mut().enumerate().filter(|_| all > 0.0) {
                *next += mass * (if is_hub { 0.0 } else { edges(p, name).0 } + titles(p)) / all;
            }
        }
        for (p, mass) in x.iter().enumerate() {
            let weight = |name: usize| (edges(p, name).0 + edges(p, name).1) * rarity[name];
            let all: f64 = (0..NAMES.len()).map(weight).sum();
            for (name, next) in next_names.iter_mut().enumerate().filter(|_| all > 0.0) {
                *next += mass * weight(name) / all;
            }
        }
        x = restart.iter().zip(&next).map(|(r, next)| (1.0 - s.walk_on) * r + s.walk_on * next).collect();
        y = next_names.iter().map(|next| s.walk_on * next).collect();
    }
    x
}

/// Where all passages stand alike, the last bits of a sum are over a span of 1e-9.
const ROUNDING: f64 = 1e-6;

proptest! {
    #[test]
    fn the_walk_is_that_of_dense_matrices(corpus in corpora(), walk_hub_passages in 1..6usize) {
        let graph = build(&corpus);
        let settings = PassageSettings { walk_hub_passages, ..PassageSettings::default() };
        // The question names nothing, so restarts are at passages alone.
        let asked = Asked { question: "so", vector: &[1.0, 0.0] };
        let scores = graph.scores(&asked, &settings);
        let top = scores.start.iter().copied().fold(f64::MIN, f64::max);
        let mut restart: Vec<f64> = scores.start.iter().map(|s| ((s - top) / settings.temperature).exp()).collect();
        restart.iter_mut().for_each(|weight| *weight *= f64::from(u8::from(*weight >= 1e-3)));
        let sum: f64 = restart.iter().sum();
        restart.iter_mut().for_each(|weight| *weight /= sum);
        let logs: Vec<f64> = plain_walk(&corpus, &restart, &settings).iter().map(|x| (x + 1e-6).ln()).collect();
        let (least, most) = logs.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
        for (found, log) in scores.walk.iter().zip(&logs) {
            let wanted = (log - least) / (most - least + 1e-9);
            prop_assert!((found - wanted).abs() < ROUNDING, "{found} {wanted}");
        }
    }

    #[test]
    fn the_order_of_passages_does_not_show(corpus in corpora()) {
        let n = corpus.len();
        let reversed: Vec<_> = corpus.iter().rev().cloned().collect();
        let asked = Asked { question: "Where is Birch Bay?", vector: &[1.0, 0.0] };
        // Vectors follow the position, so both corpora get one and the same.
        let flat = |corpus: &[(Option<usize>, Vec<usize>)]| {
            let mut graph = build(corpus);
            graph.passages.chunks_exact_mut(2).chain(graph.facts.chunks_exact_mut(2)).for_each(|v| v.copy_from_slice(&[1.0, 0.0]));
            // Every passage is a seed: which of several equal ones are is a matter of their order.
            graph.scores(&asked, &PassageSettings { seeds: n, ..PassageSettings::default() }).total
        };
        let (forth, back) = (flat(&corpus), flat(&reversed));
        for at in 0..n {
            prop_assert!((forth[at] - back[n - 1 - at]).abs() < ROUNDING);
        }
    }
}
