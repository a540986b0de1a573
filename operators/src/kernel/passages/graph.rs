//! The passages of a corpus with the names that join them.

use std::collections::BTreeSet;

use super::{Lexical, Passage, names::Names};

/// Passages, names, and which passage mentions which name in which fact.
///
/// It holds one vector a passage and a fact. Making it costs as much as the texts are long, and as many look-ups as they have
/// words that may begin a name, times the length of the longest name.
#[derive(Clone, Debug)]
pub struct PassageGraph {
    pub(super) n_passages: usize,
    pub(super) n_dimensions: usize,
    /// Vectors of passages, one behind the other.
    pub(super) passages: Vec<f32>,
    /// Vectors of facts, one behind the other.
    pub(super) facts: Vec<f32>,
    pub(super) lexical: Lexical,
    /// Names by their form.
    pub(super) known: Names,
    /// The name that is the title of each passage.
    pub(super) titles: Vec<Option<u32>>,
    /// What each passage names, with the fact that does, in the order of both; no fact where a name belongs to the whole.
    pub(super) mentions: Vec<Vec<(u32, Option<u32>)>>,
    /// What each passage names, once, in order.
    pub(super) names: Vec<Vec<u32>>,
    /// By name: the passages that mention it, in order.
    pub(super) mentioned_in: Vec<Vec<u32>>,
    /// By name: the passages that it is the title of, in order.
    pub(super) title_of: Vec<Vec<u32>>,
    /// By name: how many passages mention it or have it as their title.
    pub(super) n_with: Vec<u32>,
    /// By name: the logarithm of one and the share's inverse.
    pub(super) rarity: Vec<f64>,
    /// By passage: the sum of the rarity of what it names, its title counted by itself.
    pub(super) rarity_sums: Vec<f64>,
}

impl PassageGraph {
    /// The graph of these passages; they are numbered in this order. A name that is one of the common words (in small letters)
    /// is not looked for in text.
    ///
    /// # Panics
    /// Vectors differ in length.
    pub fn new(passages: &[Passage<'_>], common_words: &[String]) -> Self {
        let common_words: BTreeSet<&str> = common_words.iter().map(String::as_str).collect();
        let mut known = Names::default();
        let titles: Vec<Option<u32>> = passages.iter().map(|passage| known.add(passage.title, &common_words)).collect();
        for passage in passages {
            let named = passage.facts.iter().flat_map(|fact| &fact.names).chain(&passage.names);
            named.for_each(|name| _ = known.add(name, &common_words));
        }
        let mentions: Vec<Vec<(u32, Option<u32>)>> = mentions(passages, &known);
        let (mut mentioned_in, mut title_of) = (vec![Vec::new(); known.len()], vec![Vec::new(); known.len()]);
        let mut named = Vec::with_capacity(passages.len());
        for (passage, (mentions, title)) in mentions.iter().zip(&titles).enumerate() {
            let mut once: Vec<u32> = mentions.iter().map(|(name, _)| *name).collect();
            once.dedup();
            once.iter().for_each(|name| mentioned_in[*name as usize].push(passage as u32));
            title.iter().for_each(|name| title_of[*name as usize].push(passage as u32));
            named.push(once);
        }
        let n_with: Vec<u32> = mentioned_in.iter().zip(&title_of).map(|(a, b)| n_in_either(a, b)).collect();
        let rarity: Vec<f64> =
            n_with.iter().map(|n_with| (1.0 + passages.len() as f64 / f64::from(*n_with)).ln()).collect();
        let rarity_sums = named
            .iter()
            .zip(&titles)
            .map(|(named, title)| named.iter().chain(title).map(|name| rarity[*name as usize]).sum());
        let rarity_sums = rarity_sums.collect();
        let mut lexical = Lexical::default();
        for (number, passage) in passages.iter().enumerate() {
            lexical.insert(number as u32, &text_of(passage));
        }
        let n_dimensions = passages.first().map_or(0, |passage| passage.vector.len());
        let facts = || passages.iter().flat_map(|passage| &passage.facts).map(|fact| fact.vector);
        let vectors = passages.iter().map(|passage| passage.vector).chain(facts());
        assert!(vectors.into_iter().all(|vector| vector.len() == n_dimensions), "vectors are of one model");
        Self {
            n_passages: passages.len(),
            n_dimensions,
            passages: passages.iter().flat_map(|passage| passage.vector).copied().collect(),
            facts: facts().flatten().copied().collect(),
            lexical,
            known,
            titles,
            mentions,
            names: named,
            mentioned_in,
            title_of,
            n_with,
            rarity,
            rarity_sums,
        }
    }

    /// How many passages.
    pub fn len(&self) -> usize {
        self.n_passages
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.n_passages == 0
    }

    /// How many names.
    pub fn n_names(&self) -> usize {
        self.known.len()
    }
}

/// The text in which words are looked for: the title, a line feed, the text.
fn text_of(passage: &Passage<'_>) -> String {
    format!("{}\n{}", passage.title, passage.text)
}

/// What each passage names: what its facts were read to name, and every known name that stands in its text.
fn mentions(passages: &[Passage<'_>], known: &Names) -> Vec<Vec<(u32, Option<u32>)>> {
    let mut first = 0;
    let of = |passage: &Passage<'_>| {
        let mut found: Vec<(u32, Option<u32>)> = Vec::new();
        for (fact, number) in passage.facts.iter().zip(first..) {
            found.extend(fact.names.iter().filter_map(|name| Some((known.read(name)?, Some(number)))));
        }
        found.extend(known.find(passage.title).into_iter().map(|(name, _)| (name, None)));
        for (name, at) in known.find(passage.text) {
            let fact = passage.facts.iter().position(|fact| fact.bytes.contains(&at));
            found.push((name, fact.map(|fact| first + fact as u32)));
        }
        found.extend(passage.names.iter().filter_map(|name| Some((known.get(name)?, None))));
        first += passage.facts.len() as u32;
        found.sort_unstable();
        found.dedup();
        found
    };
    passages.iter().map(of).collect()
}

/// How many numbers are in one of two sorted lists, or in both.
fn n_in_either(a: &[u32], b: &[u32]) -> u32 {
    (a.len() + b.iter().filter(|number| a.binary_search(number).is_err()).count()).max(1) as u32
}
