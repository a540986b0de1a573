//! Known names in running text.

use std::collections::HashMap;

/// Names have at most so many words.
const LONGEST: usize = 8;

/// Single words that are names in some title and words everywhere else.
const WORDS: [&str; 73] = [
    "the", "a", "an", "of", "in", "on", "and", "or", "is", "was", "were", "are", "it", "its", "this", "that", "he",
    "she", "they", "i", "we", "you", "his", "her", "at", "by", "for", "to", "from", "with", "as", "who", "what",
    "when", "where", "which", "film", "song", "album", "one", "two", "first", "second", "new", "year", "years", "day",
    "days", "today", "home", "life", "love", "time", "man", "woman", "people", "world", "war", "state", "city",
    "county", "series", "season", "part", "show", "band", "book", "story", "game", "how", "why", "did", "does",
];

/// The form under which names are looked up: its words in small letters, without a leading article, a possessive `'s` and a
/// bracket at the end.
pub(super) fn form(name: &str) -> String {
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

/// Whether a name of that form is looked for in text: not where it is one common word, a number, or two letters.
pub(super) fn is_telling(form: &str) -> bool {
    form.contains(' ') || (form.chars().count() >= 3 && !form.chars().all(char::is_numeric) && !WORDS.contains(&form))
}

/// The known names in a text, each with the byte where it begins: from left to right the longest that begins with a capital or
/// a digit, and none within another.
pub(super) fn find(text: &str, known: &HashMap<String, u32>) -> Vec<(u32, usize)> {
    let words: Vec<(usize, &str)> = words(text).collect();
    let small: Vec<String> = words.iter().map(|(_, word)| word.to_lowercase()).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let begins = words[at].1.chars().next().is_some_and(|first| first.is_uppercase() || first.is_numeric());
        let longest = if begins { LONGEST.min(words.len() - at) } else { 0 };
        let hit = (1..=longest).rev().find_map(|n_words| {
            let form = small[at..at + n_words].join(" ");
            let number = *known.get(&form)?;
            is_telling(&form).then_some((number, n_words))
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
        let known: HashMap<String, u32> = ["new york", "new york city", "york", "film", "1984"]
            .into_iter()
            .zip(0..)
            .map(|(n, i)| (n.into(), i))
            .collect();
        let text = "In New York City, in York, and in new york. Film of 1984.";
        assert_eq!(find(text, &known), [(1, 3), (2, 21)]);
    }
}
