//! Known names in running text.

use std::collections::{BTreeSet, HashMap};

/// Names have at most so many words.
const LONGEST: usize = 8;

/// Names by their form, each with a number, while somebody has them.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<String, u32>,
    /// By number.
    known: Vec<Option<Known>>,
    /// Numbers that are free.
    free: Vec<u32>,
    /// Words in small letters that are no name in running text.
    common_words: BTreeSet<String>,
}

#[derive(Clone, Debug)]
struct Known {
    form: String,
    /// How often it was added and not dropped.
    n_added: u32,
    /// Whether it is looked for in text. One common word, a bare number and two letters are not.
    is_telling: bool,
}

impl Names {
    /// No names yet.
    pub(super) fn new(common_words: impl IntoIterator<Item = String>) -> Self {
        Self { common_words: common_words.into_iter().collect(), ..Self::default() }
    }

    /// The number of a name, which is given where it has none, and whether it was; none for a name without words. Each call
    /// asks for one [`Names::drop`].
    pub(super) fn add(&mut self, name: &str) -> Option<(u32, bool)> {
        let form = form(name);
        if form.is_empty() {
            return None;
        }
        if let Some(&number) = self.numbers.get(&form) {
            self.known[number as usize].as_mut()?.n_added += 1;
            return Some((number, false));
        }
        let is_telling = form.contains(' ')
            || (form.chars().count() >= 3
                && !form.chars().all(char::is_numeric)
                && !self.common_words.contains(form.as_str()));
        let number = self.free.pop().unwrap_or(self.known.len() as u32);
        if self.known.len() <= number as usize {
            self.known.push(None);
        }
        self.numbers.insert(form.clone(), number);
        self.known[number as usize] = Some(Known { form, n_added: 1, is_telling });
        Some((number, true))
    }

    /// Takes back one [`Names::add`]. The number of a name that nobody has any more is free; its form is given where it was
    /// looked for in text.
    pub(super) fn drop(&mut self, number: u32) -> Option<String> {
        let known = self.known[number as usize].as_mut()?;
        known.n_added -= 1;
        if known.n_added > 0 {
            return None;
        }
        let known = self.known[number as usize].take()?;
        self.numbers.remove(&known.form);
        self.free.push(number);
        known.is_telling.then_some(known.form)
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Above every number.
    pub(super) fn bound(&self) -> usize {
        self.known.len()
    }

    /// The form of a name, where it is looked for in text.
    pub(super) fn telling(&self, number: u32) -> Option<&str> {
        self.known[number as usize].as_ref().filter(|known| known.is_telling).map(|known| known.form.as_str())
    }

    /// The number of a name that was added, where it tells something, or is a number that was read as a name.
    pub(super) fn read(&self, name: &str) -> Option<u32> {
        let form = form(name);
        let number = *self.numbers.get(&form)?;
        (self.telling(number).is_some() || form.parse::<u32>().is_ok()).then_some(number)
    }

    /// The number of a name that was added.
    pub(super) fn get(&self, name: &str) -> Option<u32> {
        self.numbers.get(&form(name)).copied()
    }

    /// The names in a text, each with the byte where it begins: from left to right the longest that begins with a capital or a
    /// digit, and none within another.
    pub(super) fn find(&self, text: &str) -> Vec<(u32, usize)> {
        let words: Vec<(usize, &str)> = words(text).collect();
        let small: Vec<String> = words.iter().map(|(_, word)| word.to_lowercase()).collect();
        let mut found = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let begins = words[at].1.chars().next().is_some_and(|first| first.is_uppercase() || first.is_numeric());
            let longest = if begins { LONGEST.min(words.len() - at) } else { 0 };
            let hit = (1..=longest).rev().find_map(|n_words| {
                let number = *self.numbers.get(&small[at..at + n_words].join(" "))?;
                self.telling(number).is_some().then_some((number, n_words))
            });
            match hit {
                Some((number, n_words)) => {
                    found.push((number, words[at].0));
                    at += n_words;
                }
                None => at += 1,
            }
        }
        found
    }
}

/// The form under which names are looked up: its words in small letters, without a leading article, a possessive `'s` and a
/// bracket at the end. Words are parted at apostrophes, unlike those of [`crate::domain::name_form`], so that a text that says
/// `Curie's` names `Curie`.
fn form(name: &str) -> String {
    let mut name = name.trim();
    if let Some(at) = name.rfind('(').filter(|at| *at > 0 && name.ends_with(')')) {
        name = name[..at].trim_end();
    }
    let mut words: Vec<String> = words(name).map(|(_, word)| word.to_lowercase()).collect();
    if words.len() > 1 && matches!(words[0].as_str(), "the" | "a" | "an") {
        words.remove(0);
    }
    if words.len() > 1 && words.last().is_some_and(|word| word == "s") {
        words.pop();
    }
    words.join(" ")
}

/// Runs of letters, digits and underscores, with the byte where each begins.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_mark = |letter: char| !letter.is_alphanumeric() && letter != '_';
    text.split(is_mark)
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_name_agree() {
        for name in ["The Straw Hat (film)", "straw hat", "A Straw Hat's", "Straw-Hat"] {
            assert_eq!(form(name), "straw hat", "{name}");
        }
        assert_eq!(form("The"), "the");
        assert_eq!(form("(a)"), "a");
    }

    #[test]
    fn the_longest_known_name_counts_and_none_within_it() {
        let mut names = Names::new(["film".to_owned()]);
        for (number, name) in ["New York", "New York City", "York", "The Film", "1984"].into_iter().enumerate() {
            assert_eq!(names.add(name), Some((number as u32, true)));
            assert_eq!(names.add(name), Some((number as u32, false)));
        }
        assert_eq!((names.add("("), names.len()), (None, 5));
        assert_eq!((names.read("film"), names.read("1984"), names.get("a film")), (None, Some(4), Some(3)));
        let text = "In New York City, in York, and in new york. Film of 1984.";
        assert_eq!(names.find(text), [(1, 3), (2, 21)]);
        // Each was added twice.
        assert_eq!((names.drop(1), names.drop(1)), (None, Some("new york city".to_owned())));
        assert_eq!(names.find(text), [(0, 3), (2, 21)]);
        assert_eq!((names.add("Rose Bay"), names.len(), names.bound()), (Some((1, true)), 5, 5));
    }
}
