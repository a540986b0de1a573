//! Words and sentences of a post: hashtags taken apart, links, reply lists and calls to follow somebody left out.

use std::ops::Range;

/// A word or a mark that separates words, with its bytes in the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    /// As written, without `#` or `@`.
    pub(super) text: String,
    /// In lower case, without full stops and apostrophes; a lone mark is itself (`,`, `&`, `;`, `:`).
    pub(super) form: String,
    /// Its bytes.
    pub(super) bytes: Range<usize>,
    /// Whether it came from a hashtag or an account name.
    pub(super) tag: bool,
}

impl Word {
    /// Whether it is a mark and no word.
    pub(super) fn is_mark(&self) -> bool {
        matches!(self.form.as_str(), "," | "&" | ";" | ":" | "(" | ")" | "/")
    }

    /// Whether it starts with a capital or was a hashtag, as names do.
    pub(super) fn is_name(&self) -> bool {
        self.tag || self.text.chars().next().is_some_and(char::is_uppercase)
    }
}

/// A sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sentence {
    /// Its words and marks.
    pub(super) words: Vec<Word>,
    /// Its bytes, from its first word to its last.
    pub(super) bytes: Range<usize>,
    /// Whether it only tells the reader where to look or whom to call.
    pub(super) chatter: bool,
}

impl Sentence {
    /// The forms of its words, joined by blanks, for searching with blanks around.
    pub(super) fn forms(&self) -> String {
        let mut joined = String::from(" ");
        for word in &self.words {
            joined.push_str(&word.form);
            joined.push(' ');
        }
        joined
    }
}

/// The sentences of a text.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut words: Vec<Word> = Vec::new();
    let mut first = true;
    let pieces = pieces(text);
    for (at, piece) in pieces.iter().enumerate() {
        let raw = &text[piece.clone()];
        let reply =
            first && raw.starts_with('@') && !is_own_account(raw, pieces.get(at + 1).map(|next| &text[next.clone()]));
        first &= raw.starts_with('@') || raw == ".";
        if reply {
            continue;
        }
        if is_link(raw) {
            close(&mut words, &mut found);
            continue;
        }
        if opens_chatter(text, &pieces[at..]) {
            close(&mut words, &mut found);
        }
        push_piece(raw, piece.start, &mut words);
        // `Por…` is a word cut off; only a condition is told from so little.
        if raw.ends_with('\u{2026}')
            && words.last().is_some_and(|word| !word.form.starts_with("whisk") && !word.form.starts_with("yank"))
        {
            words.pop();
        }
        let next = pieces.get(at + 1).map(|next| &text[next.clone()]);
        let gap = pieces.get(at + 1).map_or("", |next| &text[piece.end..next.start]);
        if ends_sentence(raw, next) || ends_line(text, piece, gap, next) {
            close(&mut words, &mut found);
        }
    }
    close(&mut words, &mut found);
    found
}

/// Whether the line end or wide gap behind a piece ends the sentence too: a blank line does, and so does the end of a title or
/// of a paragraph on one line, and a hashtag with more than one blank behind it.
fn ends_line(text: &str, piece: &Range<usize>, gap: &str, next: Option<&str>) -> bool {
    let breaks = gap.matches('\n').count();
    if breaks != 1 {
        let starts = next.and_then(|next| next.chars().next()).is_some_and(char::is_uppercase);
        return breaks > 1 || (gap.len() > 1 && starts && text[piece.clone()].starts_with('#'));
    }
    let line = piece.end - text[..piece.end].rfind('\n').map_or(0, |at| at + 1);
    let starts = next.and_then(|next| next.chars().next()).is_some_and(|c| c.is_uppercase() || !c.is_alphabetic());
    starts && !(WRAPPED_FROM..=WRAPPED_TO).contains(&line)
}

/// Lines of this length may have been wrapped; shorter ones are titles, longer ones whole paragraphs.
const WRAPPED_FROM: usize = 55;
const WRAPPED_TO: usize = 100;

fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (c.is_whitespace(), start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                found.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    found.extend(start.map(|from| from..text.len()));
    found
}

fn is_link(piece: &str) -> bool {
    piece.starts_with("http") || piece.starts_with("www.") || piece.contains("t.co/")
}

/// An account at the start that is the sentence's subject (`@USCG Sector Miami set ...`), not one of a reply list.
fn is_own_account(piece: &str, next: Option<&str>) -> bool {
    piece.to_lowercase().starts_with("@uscg")
        && next.is_some_and(|next| !next.starts_with('@') && !next.starts_with('#'))
}

const CHATTER: [&str; 34] = [
    "follow",
    "stay up",
    "stay tuned",
    "stay updated",
    "visit",
    "read more",
    "read the",
    "read about",
    "find out",
    "learn more",
    "for more",
    "for updates",
    "for port condition",
    "for storm",
    "check out",
    "check homeport",
    "click",
    "more info",
    "more here",
    "more:",
    "more >>",
    "more &gt;&gt;",
    "details here",
    "reminder",
    "use vhf",
    "dial",
    "full release",
    "help stop",
    "what does",
    "port updates",
    "storm updates",
    "then follow",
    "tune in",
    "use #coastguard",
];

fn opens_chatter(text: &str, rest: &[Range<usize>]) -> bool {
    let Some(first) = rest.first() else { return false };
    let end = rest.get(2).or(rest.get(1)).unwrap_or(first).end;
    let lead = &text[first.start..end];
    let proper = lead.chars().next().is_some_and(|c| c.is_uppercase());
    proper && is_chatter(lead)
}

fn is_chatter(lead: &str) -> bool {
    let lead = lead.to_lowercase();
    CHATTER.iter().any(|cue| lead.strip_prefix(cue).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphabetic())))
}

fn close(words: &mut Vec<Word>, found: &mut Vec<Sentence>) {
    let sentence = std::mem::take(words);
    let (Some(first), Some(last)) = (sentence.iter().find(|word| !word.is_mark()), sentence.last()) else { return };
    let lead: Vec<&str> =
        sentence.iter().filter(|word| !word.is_mark()).take(3).map(|word| word.text.as_str()).collect();
    let chatter = is_chatter(&lead.join(" "));
    found.push(Sentence { bytes: first.bytes.start..last.bytes.end, words: sentence, chatter });
}

const SHORT_FORMS: [&str; 34] = [
    "st", "capt", "cmdr", "lt", "mr", "ms", "dr", "no", "u.s", "sun", "mon", "tue", "tues", "wed", "thu", "thur",
    "thurs", "fri", "sat", "jan", "feb", "mar", "apr", "aug", "sept", "oct", "nov", "dec", "fla", "va", "ga", "approx",
    "ft", "ch",
];

const DAY_WORDS: [&str; 21] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mon",
    "tue",
    "tues",
    "wed",
    "thu",
    "thur",
    "thurs",
    "fri",
    "sat",
    "sun",
    "est",
    "edt",
    "cdt",
    "hst",
];

fn ends_sentence(piece: &str, next: Option<&str>) -> bool {
    let Some(next) = next else { return true };
    let stop = piece.trim_end_matches(['"', '\u{201d}', ')']);
    if stop.ends_with(['!', '?']) || stop.ends_with('\u{2026}') {
        return true;
    }
    let Some(word) = stop.strip_suffix('.') else { return false };
    let word = word.trim_start_matches(['#', '@', '(', '"']).to_lowercase();
    if SHORT_FORMS.contains(&word.as_str()) {
        return false;
    }
    let next_word = next.trim_matches(|c: char| !c.is_alphanumeric());
    if matches!(word.as_str(), "a.m" | "p.m" | "info") {
        let name = next_word.chars().next().is_some_and(char::is_uppercase);
        return name && !DAY_WORDS.contains(&next_word.to_lowercase().as_str());
    }
    true
}

/// Adds the words of one white-space separated piece.
fn push_piece(raw: &str, start: usize, words: &mut Vec<Word>) {
    if matches!(raw, "&" | "&amp;" | "+") {
        words.push(mark("&", start..start + raw.len()));
        return;
    }
    if raw.starts_with("&gt;") || raw.starts_with("&lt;") {
        return;
    }
    let mut at = 0;
    let mut tag = false;
    while at < raw.len() {
        let rest = &raw[at..];
        let Some(c) = rest.chars().next() else { break };
        if matches!(c, '#' | '@') {
            tag = true;
            at += 1;
        } else if c.is_alphanumeric() {
            let length = word_length(rest);
            push_word(&rest[..length], start + at, tag, words);
            tag = false;
            at += length;
        } else {
            tag = false;
            if rest.starts_with("&amp;") {
                words.push(mark("&", start + at..start + at + 5));
                at += 5;
                continue;
            }
            let form = match c {
                ',' | '&' | ';' | ':' | '(' | ')' | '/' => Some(c.to_string()),
                '\u{2013}' | '\u{2014}' => Some(";".to_owned()),
                _ => None,
            };
            let end = at + c.len_utf8();
            words.extend(form.map(|form| mark(&form, start + at..start + end)));
            at = end;
        }
    }
}

fn mark(form: &str, bytes: Range<usize>) -> Word {
    Word { text: form.to_owned(), form: form.to_owned(), bytes, tag: false }
}

/// How far the word at the start of `rest` reaches: letters, digits, and marks that stand between two of them.
fn word_length(rest: &str) -> usize {
    let mut end = 0;
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c.is_alphanumeric() {
            end = at + c.len_utf8();
            continue;
        }
        let inside = matches!(c, '.' | '\'' | '\u{2019}' | '\u{2018}' | '\u{02bb}' | '-' | ':' | '\u{2011}')
            && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        // A colon joins digits only (`9:30`), or `port:Miami` would be one word.
        let clock = c != ':' || rest[..at].chars().next_back().is_some_and(|before| before.is_ascii_digit());
        if !inside || !clock {
            break;
        }
    }
    end
}

fn push_word(raw: &str, start: usize, tag: bool, words: &mut Vec<Word>) {
    let raw = if tag { raw.split("http").next().unwrap_or(raw) } else { raw };
    if !tag {
        words.push(plain_word(raw, start, false));
        return;
    }
    let mut from = 0;
    for to in camel_breaks(raw) {
        push_tag_part(&raw[from..to], start + from, words);
        from = to;
    }
    push_tag_part(&raw[from..], start + from, words);
}

fn push_tag_part(part: &str, start: usize, words: &mut Vec<Word>) {
    if part.is_empty() {
        return;
    }
    // `#PortofMiami` breaks into `Portof` and `Miami`.
    if part == "Portof" || part == "Portsof" {
        let of = part.len() - 2;
        words.push(plain_word(&part[..of], start, true));
        words.push(plain_word(&part[of..], start + of, true));
        return;
    }
    words.push(plain_word(part, start, true));
}

fn plain_word(text: &str, start: usize, tag: bool) -> Word {
    let form: String =
        text.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | ':')).flat_map(char::to_lowercase).collect();
    Word { text: text.to_owned(), form, bytes: start..start + text.len(), tag }
}

/// Where `KeyWest`, `USVirginIslands` and `TropicalStorm13` break.
fn camel_breaks(tag: &str) -> Vec<usize> {
    let chars: Vec<(usize, char)> = tag.char_indices().collect();
    let mut breaks = Vec::new();
    for index in 1..chars.len() {
        let (before, (at, here)) = (chars[index - 1].1, chars[index]);
        let after = chars.get(index + 1).map(|(_, c)| *c);
        let rises = here.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit());
        let leaves_capitals = here.is_uppercase() && before.is_uppercase() && after.is_some_and(char::is_lowercase);
        let digits =
            here.is_ascii_digit() != before.is_ascii_digit() && (here.is_ascii_digit() || before.is_ascii_digit());
        if rises || leaves_capitals || digits {
            breaks.push(at);
        }
    }
    breaks
}

#[cfg(test)]
mod tests {
    use super::sentences;

    fn forms(text: &str) -> Vec<String> {
        sentences(text).iter().map(|sentence| sentence.forms().trim().to_owned()).collect()
    }

    #[test]
    fn hashtags_come_apart_and_reply_lists_go() {
        assert_eq!(
            forms("@NWSMiami @PortMiami #Update The port of #KeyWest &amp; @USVirginIslands. #PortofMiami"),
            ["update the port of key west & us virgin islands", "port of miami"]
        );
    }

    #[test]
    fn short_forms_do_not_end_a_sentence() {
        assert_eq!(
            forms("Sector St. Pete set it at 8 p.m. Thursday. Kauai follows at 8 p.m. Maui waits."),
            ["sector st pete set it at 8 pm thursday", "kauai follows at 8 pm", "maui waits"]
        );
    }

    #[test]
    fn calls_to_look_elsewhere_are_chatter_and_links_end_a_sentence() {
        let found = sentences("Port closed Read more here: https://t.co/abc Follow @NWSMiami for #Miami news.");
        assert_eq!(found.len(), 3);
        assert_eq!(found.iter().map(|sentence| sentence.chatter).collect::<Vec<_>>(), [false, true, true]);
    }

    #[test]
    fn spans_point_into_the_text() {
        let text = "\u{26c8}\u{fe0f} The #KeyWest port \u{2013} closed";
        for sentence in sentences(text) {
            for word in sentence.words.iter().filter(|word| !word.is_mark()) {
                assert_eq!(&text[word.bytes.clone()], word.text);
            }
        }
    }
}
