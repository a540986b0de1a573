//! The join of synonyms against the same join by plain blocked matrix products, in one run.
//!
//! Names come in ten epochs. After each, the plain join does the same share of its work: all products of the new names with
//! those before them, in blocks, by the same library, and a look at each for those above eta; no names, no guards, no exact
//! cosines, no dataflow. So what else the machine does weighs on both alike.
//!
//! `cargo bench -p hypercane-operators --bench synonyms [-- 300000]`: how many names, several numbers for several runs.

mod seeded;

use std::{
    cell::Cell,
    env,
    ops::Range,
    rc::Rc,
    time::{Duration, Instant},
};

use differential_dataflow::input::{Input as _, InputSession};
use hypercane_operators::{
    Shared,
    kernel::synonyms::{ETA, name_embedded_as},
    synonyms,
};
use hypercane_schemas::{Category, ContentHash, Diff, Entity, EntityKey, Epoch, Fixed, Vector};
use ndarray::{Array2, linalg::general_mat_mul, s};
use seeded::Seeded;
use timely::{dataflow::operators::probe, worker::Worker};

/// As MiniLM has it.
const N_COMPONENTS: usize = 384;
const N_EPOCHS: usize = 10;
/// Of the plain join: the best of those tried, by a few per cent.
const BLOCK: usize = 1024;
const PANEL: usize = 256;
/// Cosines that the plain join looks at together.
const LANES: usize = 64;
/// Changes of single names that are timed.
const SINGLE: usize = 20;
/// Changes of names in one epoch.
const TOGETHER: usize = 100;

fn main() {
    let sizes: Vec<usize> = env::args().filter_map(|argument| argument.parse().ok()).collect();
    println!(
        "{:>8} {:>8} {:>14} {:>14} {:>6} {:>10} {:>10} {:>12} {:>14}",
        "names",
        "links",
        "names/s",
        "plain names/s",
        "ratio",
        "blocks MB",
        "memory MB",
        "1 change ms",
        "100 changes ms"
    );
    for n_names in if sizes.is_empty() { vec![10_000, 100_000] } else { sizes } {
        let corpus = Corpus::new(n_names);
        timely::execute_directly(move |worker| measure(worker, &corpus));
    }
}

/// Entities under names that mean nothing, and their vectors.
struct Corpus {
    entities: Vec<Shared<Entity>>,
    texts: Vec<ContentHash>,
    vectors: Vec<Vector>,
}

impl Corpus {
    /// Random directions. One in twenty lies near an earlier one: half of them above eta, half below.
    fn new(n_names: usize) -> Self {
        let mut seeded = Seeded(3);
        let mut corpus = Self { entities: Vec::new(), texts: Vec::new(), vectors: Vec::new() };
        for number in 0..n_names {
            let mut vector = random(&mut seeded);
            if number % 20 == 19 {
                let near = &corpus.vectors[(seeded.next() % number as u64) as usize];
                let cosine: f64 = if number % 40 == 19 { 0.9 } else { 0.7 };
                let apart = (1.0 - cosine * cosine).sqrt();
                let parts = vector.iter().zip(&*near.0);
                vector = of_length_one(parts.map(|(x, y)| x * apart + f64::from(*y) * cosine).collect());
            }
            let name = name(number);
            corpus.texts.push(name_embedded_as(&name));
            corpus.vectors.push(Vector(vector.iter().map(|x| *x as f32).collect()));
            corpus.entities.push(Shared::new(Entity {
                key: EntityKey(format!("place:{name}")),
                name,
                kind: "place".into(),
                category: Category::Persistent,
                description: String::new(),
                aliases: Vec::new(),
                confidence: Fixed::ONE,
                support: 1,
            }));
        }
        corpus
    }
}

fn random(seeded: &mut Seeded) -> Vec<f64> {
    of_length_one((0..N_COMPONENTS).map(|_| seeded.unit() - 0.5).collect())
}

fn of_length_one(vector: Vec<f64>) -> Vec<f64> {
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    vector.into_iter().map(|x| x / length).collect()
}

/// A number in letters; digits would tell the names apart.
fn name(mut number: usize) -> String {
    let mut name = String::from("Quay ");
    for _ in 0..5 {
        name.push(char::from(b"bdfghklmnprstvwz"[number % 16]));
        name.push('o');
        number /= 16;
    }
    name
}

/// The operator's inputs, and what came out.
struct Running {
    entities: InputSession<Epoch, (EntityKey, Shared<Entity>), Diff>,
    vectors: InputSession<Epoch, (ContentHash, Vector), Diff>,
    probe: probe::Handle<Epoch>,
    n_links: Rc<Cell<Diff>>,
}

impl Running {
    fn start(worker: &mut Worker) -> Self {
        let n_links: Rc<Cell<Diff>> = Rc::default();
        let counted = Rc::clone(&n_links);
        worker.dataflow(|scope| {
            let (entity_input, entities) = scope.new_collection();
            let (vector_input, vectors) = scope.new_collection();
            let links = synonyms(entities, vectors, ETA);
            let (probe, _) = links.inspect(move |(_, _, diff)| counted.set(counted.get() + diff)).probe();
            Self { entities: entity_input, vectors: vector_input, probe, n_links }
        })
    }

    /// Ends the epoch, and runs until it is complete.
    fn finish(&mut self, worker: &mut Worker) {
        let next = *self.entities.time() + 1;
        self.entities.advance_to(next);
        self.vectors.advance_to(next);
        self.entities.flush();
        self.vectors.flush();
        worker.step_while(|| self.probe.less_than(&next));
    }
}

fn measure(worker: &mut Worker, corpus: &Corpus) {
    let n_names = corpus.vectors.len();
    let mut plain = Plain::new(&corpus.vectors);
    let before = resident_bytes();
    let mut running = Running::start(worker);
    let (mut by_operator, mut by_products, mut n_hits) = (Duration::ZERO, Duration::ZERO, 0);
    for epoch in 0..N_EPOCHS {
        let names = n_names * epoch / N_EPOCHS..n_names * (epoch + 1) / N_EPOCHS;
        let started = Instant::now();
        for at in names.clone() {
            running.entities.insert((corpus.entities[at].key.clone(), corpus.entities[at].clone()));
            running.vectors.insert((corpus.texts[at], corpus.vectors[at].clone()));
        }
        running.finish(worker);
        by_operator += started.elapsed();
        let started = Instant::now();
        n_hits += plain.join(names);
        by_products += started.elapsed();
    }
    assert_eq!(running.n_links.get(), n_hits as Diff, "the two joins find the same pairs");
    let grown = resident_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));

    let mut seeded = Seeded(17);
    let mut standing = corpus.vectors.clone();
    let mut change = |running: &mut Running, worker: &mut Worker, n_changes: usize| {
        let started = Instant::now();
        for _ in 0..n_changes {
            let at = (seeded.next() % n_names as u64) as usize;
            let vector = Vector(random(&mut seeded).iter().map(|x| *x as f32).collect());
            let former = std::mem::replace(&mut standing[at], vector.clone());
            running.vectors.update((corpus.texts[at], former), -1);
            running.vectors.update((corpus.texts[at], vector), 1);
        }
        running.finish(worker);
        started.elapsed().as_secs_f64() * 1e3
    };
    let single = (0..SINGLE).map(|_| change(&mut running, worker, 1)).sum::<f64>() / SINGLE as f64;
    let together = change(&mut running, worker, TOGETHER);

    let a_second = |spent: Duration| n_names as f64 / spent.as_secs_f64();
    let (joined, multiplied) = (a_second(by_operator), a_second(by_products));
    let blocks = n_names.div_ceil(BLOCK) * BLOCK * N_COMPONENTS * size_of::<f32>();
    let memory = grown.map_or("-".into(), |bytes| format!("{:.1}", bytes as f64 / 1e6));
    println!(
        "{n_names:>8} {n_hits:>8} {joined:>14.0} {multiplied:>14.0} {:>6.3} {:>10.1} {memory:>10} {single:>12.2} {together:>14.1}",
        joined / multiplied,
        blocks as f64 / 1e6,
    );
}

/// The plain join: panels of new names by blocks of all names, prepared ahead.
struct Plain {
    panels: Array2<f32>,
    blocks: Vec<Array2<f32>>,
    products: Array2<f32>,
}

impl Plain {
    fn new(vectors: &[Vector]) -> Self {
        let mut panels = Array2::zeros((vectors.len(), N_COMPONENTS));
        panels.rows_mut().into_iter().zip(vectors).for_each(|(mut row, vector)| {
            row.iter_mut().zip(&*vector.0).for_each(|(to, x)| *to = *x);
        });
        let starts = (0..vectors.len()).step_by(BLOCK);
        let blocks = starts.map(|start| {
            let rows = panels.slice(s![start..(start + BLOCK).min(vectors.len()), ..]);
            rows.t().as_standard_layout().into_owned()
        });
        Self { blocks: blocks.collect(), panels, products: Array2::zeros((PANEL, BLOCK)) }
    }

    /// How many pairs of these names with each other and with those before them are above eta.
    fn join(&mut self, names: Range<usize>) -> usize {
        let mut n_hits = 0;
        for start in names.clone().step_by(PANEL) {
            let end = (start + PANEL).min(names.end);
            let panel = self.panels.slice(s![start..end, ..]);
            for (block, first) in self.blocks.iter().zip((0..end).step_by(BLOCK)) {
                let width = block.ncols().min(end - first);
                let mut products = self.products.slice_mut(s![..end - start, ..width]);
                general_mat_mul(1.0, &panel, &block.slice(s![.., ..width]), 0.0, &mut products);
                for (row, at) in products.rows().into_iter().zip(start..) {
                    // A name is compared with those before it.
                    let row = row.to_slice().expect("a row lies in one piece");
                    let before = &row[..width.min(at.saturating_sub(first))];
                    for lanes in before.chunks(LANES) {
                        if lanes.iter().fold(false, |any, cosine| any | (*cosine > ETA as f32)) {
                            n_hits += lanes.iter().filter(|cosine| **cosine > ETA as f32).count();
                        }
                    }
                }
            }
        }
        n_hits
    }
}

/// The bytes of memory that the process has, where the system says.
fn resident_bytes() -> Option<usize> {
    let said = std::fs::read_to_string("/proc/self/statm").ok()?;
    said.split(' ').nth(1)?.parse::<usize>().ok().map(|pages| pages * 4096)
}
