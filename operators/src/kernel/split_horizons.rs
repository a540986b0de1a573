//! Splits a document that speaks of several horizons at its horizon headers (OKH-RAG A.2, per-horizon extraction).
//!
//! A header opens a line: `T-48 hours before expected landfall:`. Any letter case, blanks and tabs around the parts; one
//! to three digits; any words before the colon. The same words inside a line are a mention, not a header.

use hypercane_schemas::Span;

/// A part of a document that speaks of one horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it stands; a headed block begins at the start of its header's line.
    pub span: Span,
    /// What is said in it: all of it, or what follows its header's colon.
    pub body: Span,
    /// Hours before the reference event; `None` for the text before the first header.
    pub horizon: Option<u16>,
}

/// The blocks of a text, in text order. A blank text before the first header is no block. A horizon that is headed twice
/// gives two blocks.
pub fn split_horizons(text: &str) -> Vec<Block> {
    let mut starts = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some((horizon, after)) = header(line) {
            starts.push((start, start + line.len() - after.len(), horizon));
        }
        start += line.len();
    }
    let first = starts.first().map_or(text.len(), |&(start, ..)| start);
    let mut blocks = Vec::with_capacity(starts.len() + 1);
    if !text[..first].trim().is_empty() {
        let span = Span::new(0, first);
        blocks.push(Block { span, body: span, horizon: None });
    }
    for (idx, &(start, body, horizon)) in starts.iter().enumerate() {
        let end = starts.get(idx + 1).map_or(text.len(), |&(next, ..)| next);
        blocks.push(Block { span: Span::new(start, end), body: Span::new(body, end), horizon: Some(horizon) });
    }
    blocks
}

/// The horizon of a line that begins with a header, and what follows the header.
fn header(line: &str) -> Option<(u16, &str)> {
    let rest = blanks(line);
    let rest = blanks(word(rest, "t")?).strip_prefix('-').map(blanks)?;
    let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=3).contains(&n_digits) {
        return None;
    }
    let (digits, rest) = rest.split_at(n_digits);
    let rest = word(blanks(rest), "hours").or_else(|| word(blanks(rest), "hour"))?;
    let rest = some_blanks(word(some_blanks(rest)?, "before")?)?;
    let (words, after) = rest.split_once(':')?;
    // A colon inside a number is a time of day in running text.
    if words.trim().is_empty() || words.contains('\n') || after.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Some((digits.parse().ok()?, after))
}

fn blanks(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

fn some_blanks(text: &str) -> Option<&str> {
    let rest = blanks(text);
    (rest.len() < text.len()).then_some(rest)
}

fn word<'a>(text: &'a str, expected: &str) -> Option<&'a str> {
    let head = text.get(..expected.len())?;
    head.eq_ignore_ascii_case(expected).then(|| &text[expected.len()..])
}

#[cfg(test)]
mod tests {
    use super::header;

    #[test]
    fn headers_and_what_looks_like_them() {
        let cases = [
            ("T-48 hours before expected landfall:", Some(48)),
            ("T-1 hour before closing: winds rise", Some(1)),
            ("\tt - 072 HOURS  before landfall :\r\n", Some(72)),
            ("T-1200 hours before landfall:", None),
            ("T- hours before landfall:", None),
            ("T-48 hours before landfall", None),
            ("T-48 hours before :", None),
            ("T-48 hours beforehand:", None),
            ("T-48 hours before we had 12:30 on the clock", None),
            ("At T-48 hours before landfall:", None),
            ("ü", None),
        ];
        for (line, horizon) in cases {
            assert_eq!(header(line).map(|(horizon, _)| horizon), horizon, "{line:?}");
        }
    }
}
