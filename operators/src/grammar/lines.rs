//! A text as numbered lines, and where each stands in the document.
//!
//! Parsers work on slices of the document's own text, so that a span is never more than a subtraction away.

use hypercane_schemas::Span;

/// One line, without its end and without white space at the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// From 1.
    pub number: u32,
    /// Byte at which it starts.
    pub start: usize,
    /// What stands there.
    pub text: &'a str,
}

impl<'a> Line<'a> {
    /// The bytes of its words, without the blanks around them.
    pub fn span(&self) -> Span {
        let indent = self.text.len() - self.text.trim_start().len();
        Span::new(self.start + indent, self.start + self.text.len())
    }

    /// Its words.
    pub fn words(&self) -> &'a str {
        self.text.trim()
    }

    /// Whether nothing stands on it.
    pub fn is_blank(&self) -> bool {
        self.words().is_empty()
    }
}

/// The lines of a text. Both line ends of the trade (LF, CR LF, also CR CR LF) count as one end.
pub fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let mut all = Vec::new();
    for (idx, piece) in text.split_inclusive('\n').enumerate() {
        all.push(Line { number: idx as u32 + 1, start, text: piece.trim_end() });
        start += piece.len();
    }
    all
}

/// The number of the line on which a byte stands, from 1.
pub fn line_number(text: &str, at: usize) -> u32 {
    let end = at.min(text.len());
    text.as_bytes()[..end].iter().filter(|byte| **byte == b'\n').count() as u32 + 1
}

/// The place of a slice in the text that it was cut from.
///
/// # Panics
/// Panics where `part` is no slice of `text`.
pub fn span_of(text: &str, part: &str) -> Span {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    assert!(start + part.len() <= text.len(), "the part must be a slice of the text");
    Span::new(start, start + part.len())
}

/// A block of lines up to the first blank one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paragraph<'a> {
    /// Its first line.
    pub number: u32,
    /// Byte at which its first word starts.
    pub start: usize,
    /// From its first word to its last, line ends included.
    pub text: &'a str,
}

impl Paragraph<'_> {
    /// Its bytes.
    pub fn span(&self) -> Span {
        Span::new(self.start, self.start + self.text.len())
    }
}

/// The paragraphs of some lines of a text.
pub fn paragraphs<'a>(text: &'a str, lines: &[Line<'a>]) -> Vec<Paragraph<'a>> {
    lines
        .split(Line::is_blank)
        .filter_map(|block| {
            let (first, last) = (block.first()?, block.last()?);
            let (start, end) = (first.span().start as usize, last.span().end as usize);
            Some(Paragraph { number: first.number, start, text: text.get(start..end)? })
        })
        .collect()
}

/// Words with each run of white space made one blank.
pub fn folded(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_point_into_the_text() {
        let text = "A\r\n  two words \r\n\r\nlast";
        let all = lines(text);
        assert_eq!(all.len(), 4);
        assert_eq!(all[1].span().of(text), Some("two words"));
        assert!(all[2].is_blank());
        assert_eq!(line_number(text, all[3].start), 4);
        let blocks = paragraphs(text, &all);
        assert_eq!(blocks.len(), 2);
        assert_eq!(blocks[0].span().of(text), Some("A\r\n  two words"));
        assert_eq!(span_of(text, all[3].text).of(text), Some("last"));
    }
}
