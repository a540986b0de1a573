//! Forms under which labels and names are equal, and an index of names that also finds them in running text.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::Span;
use unicode_normalization::UnicodeNormalization;

use super::DomainError;

/// The form of a name: NFKC, lower case, words of letters and digits with one blank between them. Apostrophes inside a
/// word, full stops between initials and accents vanish: `O'ahu` is `oahu`, `U.S.` is `us`, `St. Louis` is `st louis`.
pub fn name_form(name: &str) -> String {
    words(name).into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

/// The slug of a name: its [`name_form`] with underscores.
pub fn slug(name: &str) -> String {
    name_form(name).replace(' ', "_")
}

/// The words of a text in name form, each with its bytes in the text.
fn words(text: &str) -> Vec<(Span, String)> {
    let mut found: Vec<(Span, String)> = Vec::new();
    let mut current: Option<(usize, usize, String)> = None;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if c.is_alphanumeric() {
            let (_, last, word) = current.get_or_insert_with(|| (at, end, String::new()));
            *last = end;
            let plain = c.nfkd().filter(|part| part.is_alphanumeric());
            word.extend(plain.flat_map(char::to_lowercase));
        } else if !joins(c, &text[end..], current.as_ref().map_or("", |(_, _, word)| word)) {
            found.extend(current.take().map(|(start, last, word)| (Span::new(start, last), word)));
        }
    }
    found.extend(current.take().map(|(start, last, word)| (Span::new(start, last), word)));
    found
}

/// Whether a mark stands inside a word: an apostrophe before a letter, or a full stop between initials.
fn joins(mark: char, rest: &str, word: &str) -> bool {
    let goes_on = rest.chars().next().is_some_and(char::is_alphabetic);
    match mark {
        '\'' | '\u{2019}' | '\u{2018}' | '\u{02bb}' => goes_on,
        '.' => goes_on && word.chars().count() == 1,
        _ => false,
    }
}

/// Names and what they stand for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct NameIndex {
    /// Slugs by name form, sorted.
    slugs: BTreeMap<String, Vec<String>>,
    /// Name forms by the same without blanks, for hashtags (`#KeyWest`).
    joined: BTreeMap<String, String>,
    longest: usize,
}

impl NameIndex {
    /// Indexes the names of each slug. A name of two slugs is an error unless `shared` declares it.
    pub(crate) fn build<'a>(
        file: &str,
        items: impl Iterator<Item = (&'a str, &'a [String])>,
        shared: &BTreeSet<String>,
    ) -> Result<Self, DomainError> {
        let mut index = Self::default();
        for (slug, names) in items {
            for name in names {
                let form = name_form(name);
                if form.is_empty() {
                    return Err(DomainError::at_key(file, slug, "a name without a letter or digit"));
                }
                let slugs = index.slugs.entry(form.clone()).or_default();
                if slugs.iter().any(|known| known == slug) {
                    continue;
                }
                if let Some(other) = slugs.first().filter(|_| !shared.contains(&form)) {
                    let reason = format!("{name:?} names {other} too; declare it in ambiguous_names or drop it");
                    return Err(DomainError::at_key(file, slug, reason));
                }
                slugs.push(slug.to_owned());
                slugs.sort_unstable();
                index.longest = index.longest.max(form.split(' ').count());
                index.joined.insert(form.replace(' ', ""), form);
            }
        }
        Ok(index)
    }

    /// What a name stands for. `Port of X` and `the X` are looked up as `X` too, and names written in one word.
    pub fn get(&self, name: &str) -> &[String] {
        let form = name_form(name);
        let mut rest = form.as_str();
        loop {
            if let Some(slugs) = self.slugs.get(rest) {
                return slugs;
            }
            let shorter = ["the ", "ports of ", "port of ", "captain of the port "]
                .iter()
                .find_map(|lead| rest.strip_prefix(lead));
            match shorter {
                Some(shorter) => rest = shorter,
                None => break,
            }
        }
        if rest.contains(' ') {
            return &[];
        }
        let bare = rest.strip_prefix("portof").unwrap_or(rest);
        let joined = self.joined.get(rest).or_else(|| self.joined.get(bare));
        joined.and_then(|form| self.slugs.get(form)).map_or(&[], Vec::as_slice)
    }

    /// The names in a text, in text order: at each word the longest name that starts there, and none inside another. A name
    /// starts with a capital or a digit, so that "mobile homes" is not the port, unless the text has no capitals at all.
    pub fn find_in(&self, text: &str) -> Vec<(Span, &[String])> {
        let words = words(text);
        let has_capitals = text.chars().any(char::is_uppercase);
        let lower = |span: Span| span.of(text).and_then(|word| word.chars().next()).is_some_and(char::is_lowercase);
        let mut found = Vec::new();
        let mut at = 0;
        while at < words.len() {
            if has_capitals && lower(words[at].0) {
                at += 1;
                continue;
            }
            let most = self.longest.min(words.len() - at);
            let hit = (1..=most).rev().find_map(|count| {
                let run = &words[at..at + count];
                let form = run.iter().map(|(_, word)| word.as_str()).collect::<Vec<_>>().join(" ");
                let slugs = match self.slugs.get(&form) {
                    Some(slugs) => slugs.as_slice(),
                    // A single long word may be a hashtag; short ones are left alone, they would meet by chance.
                    None if count == 1 && form.len() >= 6 => self.get(&form),
                    None => return None,
                };
                (!slugs.is_empty())
                    .then(|| (count, Span::new(run[0].0.start as usize, run[count - 1].0.end as usize), slugs))
            });
            match hit {
                Some((count, span, slugs)) => {
                    found.push((span, slugs));
                    at += count;
                }
                None => at += 1,
            }
        }
        found
    }
}
