//! A lexical index: BM25 over texts that come and go.

use std::collections::BTreeMap;

/// How fast the weight of a repeated word levels off.
const K1: f64 = 0.9;
/// How far long texts are held against.
const B: f64 = 0.4;

/// Postings by word. A text that goes leaves nothing behind; what is inserted in another order is the same index.
///
/// Inserting and removing costs as much as the text has distinct words, each with a search among the texts that have it. Numbers
/// should be dense, since it keeps a place for every one below the largest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lexical {
    /// For each word the texts that have it, by number, and how often.
    postings: BTreeMap<String, BTreeMap<u32, u32>>,
    /// Words of each text, by number; none where there is no text of that number, and none at the end.
    lengths: Vec<Option<u32>>,
    n_texts: usize,
    n_words: u64,
}

impl Lexical {
    /// Takes in a text under a number that is free.
    ///
    /// # Panics
    /// The number is taken.
    pub fn insert(&mut self, number: u32, text: &str) {
        let mut length = 0;
        for word in words(text) {
            *self.postings.entry(word).or_default().entry(number).or_default() += 1;
            length += 1;
        }
        let place = number as usize;
        if self.lengths.len() <= place {
            self.lengths.resize(place + 1, None);
        }
        assert!(self.lengths[place].replace(length).is_none(), "a text has its own number");
        self.n_texts += 1;
        self.n_words += u64::from(length);
    }

    /// Takes out the text of a number; it must be the one that was taken in.
    ///
    /// # Panics
    /// There is no text of that number.
    pub fn remove(&mut self, number: u32, text: &str) {
        for word in words(text) {
            if let Some(texts) = self.postings.get_mut(&word) {
                texts.remove(&number);
                if texts.is_empty() {
                    self.postings.remove(&word);
                }
            }
        }
        let length = self.lengths.get_mut(number as usize).and_then(Option::take).expect("a text that goes was there");
        while self.lengths.pop_if(|length| length.is_none()).is_some() {}
        self.n_texts -= 1;
        self.n_words -= u64::from(length);
    }

    /// The texts that share words with a question, by number, with their BM25 score (k1 0.9, b 0.4; each word of the question
    /// counts once). The sum runs in the order of the words.
    pub fn scores(&self, question: &str) -> BTreeMap<u32, f64> {
        let mut scores = BTreeMap::new();
        self.score(question, |number, score| *scores.entry(number).or_default() += score);
        scores
    }

    /// Hands every score of a word and a text to `add`.
    pub(super) fn score(&self, question: &str, mut add: impl FnMut(u32, f64)) {
        let mut asked: Vec<String> = words(question).collect();
        asked.sort_unstable();
        asked.dedup();
        let n_texts = self.n_texts as f64;
        let mean = self.n_words as f64 / n_texts.max(1.0);
        for word in asked {
            let Some(texts) = self.postings.get(&word) else { continue };
            let n_with = texts.len() as f64;
            let rarity = (1.0 + (n_texts - n_with + 0.5) / (n_with + 0.5)).ln();
            for (&number, &count) in texts {
                let (count, length) = (f64::from(count), f64::from(self.lengths[number as usize].unwrap_or(0)));
                add(number, rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / mean)));
            }
        }
    }
}

/// The words of a text in small letters: runs of letters, digits and underscores.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::Lexical;

    const WORDS: [&str; 6] = ["the", "port", "of", "Houston", "is", "closed"];

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(&WORDS[..]), 0..8).prop_map(|words| words.join(" "))
    }

    /// BM25 as its formula is written, over all texts.
    fn plain(texts: &[(u32, String)], question: &str, number: u32) -> f64 {
        let split = |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_lowercase).collect() };
        let all: Vec<(u32, Vec<String>)> = texts.iter().map(|(number, text)| (*number, split(text))).collect();
        let mean = all.iter().map(|(_, words)| words.len()).sum::<usize>() as f64 / all.len() as f64;
        let own = &all.iter().find(|(other, _)| *other == number).unwrap().1;
        let mut asked = split(question);
        asked.sort();
        asked.dedup();
        let score = |word: &String| {
            let tf = own.iter().filter(|other| *other == word).count() as f64;
            let df = all.iter().filter(|(_, words)| words.contains(word)).count() as f64;
            let idf = (1.0 + (all.len() as f64 - df + 0.5) / (df + 0.5)).ln();
            if tf == 0.0 { 0.0 } else { idf * tf * 1.9 / (tf + 0.9 * (0.6 + 0.4 * own.len() as f64 / mean)) }
        };
        asked.iter().map(score).sum()
    }

    proptest! {
        #[test]
        fn after_any_history_it_scores_what_stands_as_the_formula_does(
            history in prop::collection::vec((0u32..6, prop::option::of(text())), 1..24),
            question in text(),
        ) {
            let (mut index, mut stands) = (Lexical::default(), BTreeMap::<u32, String>::new());
            for (number, text) in history {
                if let Some(old) = stands.remove(&number) {
                    index.remove(number, &old);
                }
                if let Some(text) = text {
                    index.insert(number, &text);
                    stands.insert(number, text);
                }
            }
            let mut anew = Lexical::default();
            let texts: Vec<(u32, String)> = stands.into_iter().rev().collect();
            texts.iter().for_each(|(number, text)| anew.insert(*number, text));
            prop_assert_eq!(&index, &anew, "what went left something behind, or the order shows");
            let scores = index.scores(&question);
            for (number, _) in &texts {
                let (found, wanted) = (scores.get(number).copied().unwrap_or(0.0), plain(&texts, &question, *number));
                prop_assert!((found - wanted).abs() < 1e-9, "{number}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn a_rare_word_counts_for_more_than_a_common_one() {
        let mut index = Lexical::default();
        for (number, text) in ["the port", "the bay", "the sea"].into_iter().enumerate() {
            index.insert(number as u32, text);
        }
        let scores = index.scores("The PORT?");
        assert!(scores[&0] > scores[&1] && scores[&1] == scores[&2]);
        assert!(index.scores("closed").is_empty());
    }
}
