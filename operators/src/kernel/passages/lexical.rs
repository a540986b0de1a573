//! A lexical index: BM25 over texts that come and go.

use std::collections::{BTreeMap, BTreeSet};

use super::coarse::{coarse, in_steps};

/// How fast the weight of a repeated word levels off.
const K1: f64 = 0.9;
/// How far long texts are held against.
const B: f64 = 0.4;
/// The mean length is told in parts of a word, so that its steps are small.
const LENGTH_PARTS: u64 = 16;
/// Its binary digits that are kept.
const LENGTH_DIGITS: u32 = 5;

/// Postings by word. A text that goes leaves nothing behind; what is inserted in another order is the same index.
///
/// Inserting and removing costs as much as the text has distinct words, each with a search among the texts that have it. Numbers
/// should be dense, since it keeps a place for every one below the largest. Scores read counts in steps (`coarse`), so that
/// most texts that come or go change no other text's score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lexical {
    /// For each word the texts that have it, by number, and how often.
    postings: BTreeMap<String, BTreeMap<u32, u32>>,
    /// Words of each text, by number; none where there is no text of that number, and none at the end.
    lengths: Vec<Option<u32>>,
    n_texts: u64,
    n_words: u64,
}

/// The words of a question, each once, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedWords(Vec<String>);

impl AskedWords {
    /// The words of this question.
    pub fn of(question: &str) -> Self {
        let asked: BTreeSet<String> = words(question).collect();
        Self(asked.into_iter().collect())
    }

    /// Whether this word is one.
    pub fn contains(&self, word: &str) -> bool {
        self.0.binary_search_by(|asked| asked.as_str().cmp(word)).is_ok()
    }

    /// Whether one of them is among these.
    pub fn meet(&self, words: &BTreeSet<String>) -> bool {
        self.0.iter().any(|word| words.contains(word))
    }
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
    pub fn scores(&self, asked: &AskedWords) -> BTreeMap<u32, f64> {
        let mut scores = BTreeMap::new();
        self.score(asked, |number, score| *scores.entry(number).or_default() += score);
        scores
    }

    /// Hands every score of a word and a text to `add`, in the order of the words.
    pub(super) fn score(&self, asked: &AskedWords, mut add: impl FnMut(u32, f64)) {
        let mean = self.mean_length();
        for texts in asked.0.iter().filter_map(|word| self.postings.get(word)) {
            let rarity = self.word_rarity(texts.len());
            texts.iter().for_each(|(number, count)| add(*number, rarity * self.fit(*number, *count, mean)));
        }
    }

    /// The BM25 score of one text.
    pub(super) fn score_of(&self, asked: &AskedWords, number: u32) -> f64 {
        let mean = self.mean_length();
        let postings = asked.0.iter().filter_map(|word| self.postings.get(word));
        let scores = postings
            .filter_map(|texts| Some(self.word_rarity(texts.len()) * self.fit(number, *texts.get(&number)?, mean)));
        // From a positive zero, as the sums of all texts begin.
        scores.fold(0.0, |sum, score| sum + score)
    }

    /// What the scores of all texts rest on beside the words themselves: the number of texts and their mean length, in steps.
    pub(super) fn measure(&self) -> (u64, u64) {
        (coarse(self.n_texts), in_steps(self.n_words * LENGTH_PARTS / self.n_texts.max(1), LENGTH_DIGITS))
    }

    /// How many texts have a word, in steps.
    pub(super) fn n_with(&self, word: &str) -> u64 {
        coarse(self.postings.get(word).map_or(0, |texts| texts.len() as u64))
    }

    /// The texts that have each of these words.
    pub(super) fn with_all<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Vec<u32> {
        let postings: Option<Vec<_>> = words.into_iter().map(|word| self.postings.get(word)).collect();
        let Some(mut postings) = postings else { return Vec::new() };
        postings.sort_by_key(|texts| texts.len());
        let Some((rarest, rest)) = postings.split_first() else { return Vec::new() };
        rarest.keys().copied().filter(|number| rest.iter().all(|texts| texts.contains_key(number))).collect()
    }

    fn word_rarity(&self, n_with: usize) -> f64 {
        let (n_texts, n_with) = (coarse(self.n_texts) as f64, coarse(n_with as u64) as f64);
        (1.0 + (n_texts - n_with + 0.5) / (n_with + 0.5)).ln()
    }

    fn mean_length(&self) -> f64 {
        self.measure().1 as f64 / LENGTH_PARTS as f64
    }

    fn fit(&self, number: u32, count: u32, mean: f64) -> f64 {
        let (count, length) = (f64::from(count), f64::from(self.lengths[number as usize].unwrap_or(0)));
        count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / mean))
    }
}

/// The words of a text in small letters: runs of letters, digits and underscores.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{AskedWords, Lexical};

    const WORDS: [&str; 6] = ["the", "port", "of", "Houston", "is", "closed"];

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(&WORDS[..]), 0..8).prop_map(|words| words.join(" "))
    }

    /// BM25 as its formula is written, over all texts; there are too few for steps, but for the mean length.
    fn plain(texts: &[(u32, String)], question: &str, number: u32) -> f64 {
        let split = |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_lowercase).collect() };
        let all: Vec<(u32, Vec<String>)> = texts.iter().map(|(number, text)| (*number, split(text))).collect();
        let mean = all.iter().map(|(_, words)| words.len()).sum::<usize>() * 16 / all.len();
        let mean = [64, 32, 16, 8, 4, 2, 1].into_iter().find(|step| mean / step >= 16).map_or(mean, |s| mean / s * s);
        let own = &all.iter().find(|(other, _)| *other == number).unwrap().1;
        let mut asked = split(question);
        asked.sort();
        asked.dedup();
        let score = |word: &String| {
            let tf = own.iter().filter(|other| *other == word).count() as f64;
            let df = all.iter().filter(|(_, words)| words.contains(word)).count() as f64;
            let idf = (1.0 + (all.len() as f64 - df + 0.5) / (df + 0.5)).ln();
            let length = own.len() as f64 * 16.0 / mean as f64;
            if tf == 0.0 { 0.0 } else { idf * tf * 1.9 / (tf + 0.9 * (0.6 + 0.4 * length)) }
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
            let asked = AskedWords::of(&question);
            let scores = index.scores(&asked);
            for (number, _) in &texts {
                let (found, wanted) = (scores.get(number).copied().unwrap_or(0.0), plain(&texts, &question, *number));
                prop_assert!((found - wanted).abs() < 1e-9, "{number}: {found} {wanted}");
                prop_assert_eq!(found.to_bits(), index.score_of(&asked, *number).to_bits());
            }
        }
    }

    #[test]
    fn a_rare_word_counts_for_more_than_a_common_one() {
        let mut index = Lexical::default();
        for (number, text) in ["the port", "the bay", "the sea"].into_iter().enumerate() {
            index.insert(number as u32, text);
        }
        let scores = index.scores(&AskedWords::of("The PORT?"));
        assert!(scores[&0] > scores[&1] && scores[&1] == scores[&2]);
        assert!(index.scores(&AskedWords::of("closed")).is_empty());
        assert_eq!(index.with_all(["the", "bay"]), [1]);
        assert!(index.with_all(["the", "bay", "port"]).is_empty() && index.with_all(["the", "fog"]).is_empty());
    }
}
