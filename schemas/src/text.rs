//! Text: identity after Unicode NFKC and white-space folding, and byte spans.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// A half-open range of UTF-8 bytes in a document's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from byte offsets.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// The smallest span that holds both.
    pub fn cover(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The text under the span, or `None` where it leaves the text or cuts a character.
    pub fn of(self, text: &str) -> Option<&str> {
        text.get(self.start as usize..self.end as usize)
    }
}

/// The form under which two texts count as the same: NFKC, each run of white space one blank, none at the ends.
/// Letter case is kept.
pub fn canonical(text: &str) -> String {
    let composed: String = text.nfkc().collect();
    let mut folded = String::with_capacity(composed.len());
    for word in composed.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::{Span, canonical};

    #[test]
    fn identity_ignores_white_space_and_compatibility_forms() {
        assert_eq!(canonical("  Port\u{a0}of\n Houston "), "Port of Houston");
        assert_eq!(canonical("\u{ff21}BC"), "ABC");
        assert_ne!(canonical("Port"), canonical("port"));
    }

    #[test]
    fn spans_never_cut_a_character() {
        assert_eq!(Span::new(0, 1).of("é"), None);
        assert_eq!(Span::new(0, 2).of("é"), Some("é"));
        assert_eq!(Span::new(3, 9).of("abc"), None);
    }
}
