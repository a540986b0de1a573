//! Sentence boundaries of general English text.
//!
//! A text is first cut into blocks, at blank lines, list items, rows of tables and line feeds; a line feed that only wraps a
//! long line is no boundary. A block is then cut after `.`, `!`, `?` and their kin, where white space follows and neither an
//! abbreviation nor a small letter speaks against it. So no word is ever cut, and no byte but white space is left out.

use std::ops::Range;

use hypercane_schemas::Span;

/// The sentences of a text, in text order, each without white space at its ends. Every byte that is not white space lies in
/// exactly one of them.
pub fn sentences(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    for block in blocks(text) {
        let mut start = block.start;
        for end in ends(&text[block.clone()]) {
            push_trimmed(text, start..block.start + end, &mut found);
            start = block.start + end;
        }
        push_trimmed(text, start..block.end, &mut found);
    }
    found
}

fn push_trimmed(text: &str, range: Range<usize>, found: &mut Vec<Span>) {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    let end = range.start + part.trim_end().len();
    if start < end {
        found.push(Span::new(start, end));
    }
}

/// Lines narrower than this are not wrapped: they are titles, items, cells.
const NARROWEST_WRAP: usize = 40;
/// Where the usual line is wider than this, each paragraph is one line.
const WIDEST_WRAP: usize = 120;

/// A line with text, and the bytes that it takes.
struct Line<'a> {
    range: Range<usize>,
    /// Without white space at its ends.
    text: &'a str,
    /// In characters, with white space at its start.
    width: usize,
}

/// The parts of a text that no sentence crosses.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let ends_line = ['\n', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(ends_line) {
        let range = start..start + line.len();
        start = range.end;
        lines.push(Line { range, text: line.trim(), width: line.trim_end().chars().count() });
    }
    let wrap = wrap_width(&lines);
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut previous: Option<&Line<'_>> = None;
    for line in &lines {
        if line.text.is_empty() {
            previous = None;
            continue;
        }
        match (previous, blocks.last_mut()) {
            (Some(previous), Some(block)) if goes_on(previous, line, wrap) => block.end = line.range.end,
            _ => blocks.push(line.range.clone()),
        }
        previous = Some(line);
    }
    blocks
}

/// The width at which the text is wrapped: lines up to it hold nine tenths of the text, and at least two come close to it.
/// `None` where the text is not wrapped.
fn wrap_width(lines: &[Line<'_>]) -> Option<usize> {
    let mut widths: Vec<usize> = lines.iter().map(|line| line.width).filter(|width| *width > 0).collect();
    widths.sort_unstable();
    let nine_tenths = widths.iter().sum::<usize>() * 9 / 10;
    let mut held = 0;
    let wrap = *widths.iter().find(|width| {
        held += **width;
        held >= nine_tenths
    })?;
    let n_close = widths.iter().filter(|width| **width * 5 >= wrap * 4).count();
    ((NARROWEST_WRAP..=WIDEST_WRAP).contains(&wrap) && n_close >= 2).then_some(wrap)
}

/// Whether a line goes on in the next one: this one is long and the next starts with a small letter, or the first word of
/// the next had no place in it.
fn goes_on(line: &Line<'_>, next: &Line<'_>, wrap: Option<usize>) -> bool {
    if line.width < NARROWEST_WRAP || is_apart(line.text) || is_apart(next.text) || starts_item(next.text) {
        return false;
    }
    let first_word = next.text.split_whitespace().next().map_or(0, |word| word.chars().count());
    let is_full = wrap.is_some_and(|wrap| line.width <= WIDEST_WRAP && line.width + 1 + first_word > wrap);
    is_full || next.text.starts_with(char::is_lowercase)
}

/// Whether a line stands for itself: a heading of Markdown, a row of a table, a rule.
fn is_apart(line: &str) -> bool {
    line.starts_with(['#', '|', '=', '_', '~', '>']) || line.contains('\t') || line.contains("   ")
}

/// Whether a line begins with the mark of a list item: `-`, `•`, `3.`, `3)`, `(b)`, `iv.`.
fn starts_item(line: &str) -> bool {
    let Some((mark, _)) = line.split_once(char::is_whitespace) else { return false };
    if matches!(mark, "-" | "*" | "+" | "•" | "‣" | "◦" | "·" | "–" | "—" | "▪" | "●" | "■" | "o") {
        return true;
    }
    let inner = mark.strip_prefix('(').unwrap_or(mark);
    inner.strip_suffix(')').or_else(|| inner.strip_suffix('.')).is_some_and(is_enumerator)
}

/// Whether a word counts items: `3`, `12`, `b`, `iv`, `2.1`.
fn is_enumerator(word: &str) -> bool {
    let is_roman = |letters: &str| word.len() <= 4 && word.chars().all(|letter| letters.contains(letter));
    let is_number = |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    !word.is_empty() && (is_letter || is_roman("IVX") || is_roman("ivx") || word.split('.').all(is_number))
}

/// Marks that end a sentence where white space follows.
fn is_stop(mark: char) -> bool {
    matches!(mark, '.' | '!' | '?' | '…' | '‼' | '⁇' | '⁈' | '⁉' | '؟' | '۔' | '।' | '॥') || is_wide_stop(mark)
}

/// Marks that end a sentence whatever follows, since their scripts set no blanks.
fn is_wide_stop(mark: char) -> bool {
    matches!(mark, '。' | '！' | '？' | '｡')
}

fn is_opener(mark: char) -> bool {
    matches!(mark, '"' | '\'' | '(' | '[' | '{' | '“' | '‘' | '«' | '‹' | '„' | '¿' | '¡' | '「' | '*' | '_')
}

fn is_closer(mark: char) -> bool {
    matches!(mark, '"' | '\'' | ')' | ']' | '}' | '”' | '’' | '»' | '›' | '」' | '*' | '_')
}

/// Where the sentences of a block end, but for the last: bytes after a stop and what closes with it.
fn ends(block: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while let Some(found) = block[at..].find(is_stop) {
        let stop = at + found;
        let marks_end = block.len() - block[stop..].trim_start_matches(is_stop).len();
        let end = marks_end + closers(&block[marks_end..]);
        at = end;
        let marks = &block[stop..marks_end];
        let after = &block[end..];
        if !after.starts_with(char::is_whitespace) && !marks.ends_with(is_wide_stop) {
            continue;
        }
        if is_end(&block[start..stop], marks, after.trim_start()) {
            ends.push(end);
            start = end;
        }
    }
    ends
}

/// The bytes of quotes, brackets and marks of notes (`[12]`, `[b]`) that close with a stop.
fn closers(after: &str) -> usize {
    let mut rest = after;
    loop {
        let closed = rest.trim_start_matches(is_closer);
        let note = closed.strip_prefix('[').and_then(|note| note.split_once(']'));
        match note {
            Some((mark, left)) if is_enumerator(mark) => rest = left,
            _ => return after.len() - closed.len(),
        }
    }
}

/// Whether a sentence ends between what it has so far, its stop, and what follows the white space.
fn is_end(so_far: &str, marks: &str, after: &str) -> bool {
    let follows = after.trim_start_matches(is_opener);
    // A year in brackets belongs to what it stands behind: `What Ever Happened to Baby Jane? (1962)`.
    let is_digit = |letter: char| letter.is_ascii_digit();
    if follows.starts_with(char::is_lowercase)
        || after.strip_prefix('(').is_some_and(|inner| inner.starts_with(is_digit))
    {
        return false;
    }
    if marks != "." {
        return true;
    }
    let so_far = so_far.trim_start();
    let word = so_far.rsplit(char::is_whitespace).next().unwrap_or(so_far);
    if word.len() == so_far.len() && is_enumerator(word) {
        return false;
    }
    let before_number = follows.starts_with(is_digit);
    match abbreviation(word.trim_start_matches(is_opener)) {
        None => true,
        Some(Abbreviation::BeforeName) => false,
        Some(Abbreviation::BeforeNumber) => !before_number,
        Some(Abbreviation::OfTheClock) => !before_number && !qualifies_clock(follows),
        Some(Abbreviation::Anywhere) => starts_sentence(follows),
    }
}

/// What an abbreviation says about the stop at its end.
enum Abbreviation {
    /// A name or more of the clause follows, so the sentence goes on: `Dr.`, `e.g.`
    BeforeName,
    /// The sentence goes on where a number follows: `No. 5`, `Jan. 12`.
    BeforeNumber,
    /// The sentence goes on where a day, a month or a time zone follows: `5 p.m. Monday`.
    OfTheClock,
    /// It stands within and at the end of sentences: `U.S.`, `Inc.`, an initial. It ends one where a word follows that often
    /// starts one.
    Anywhere,
}

/// What kind of abbreviation a word before a stop is, without that stop.
fn abbreviation(word: &str) -> Option<Abbreviation> {
    match word {
        "Dr" | "Ph" | "Mr" | "Mrs" | "Ms" | "Mx" | "Prof" | "Gen" | "Gov" | "Sen" | "Rep" | "Rev" | "Hon" | "Capt"
        | "Col" | "Lt" | "Sgt" | "Maj" | "Cmdr" | "Cpl" | "Pvt" | "Adm" | "Pres" | "Amb" | "Supt" | "Msgr" | "Fr"
        | "Messrs" | "Mme" | "Mlle" | "Ft" | "vs" | "v" | "cf" | "viz" | "ca" | "approx" | "e.g" | "i.e" | "E.g"
        | "I.e" | "eg" | "ie" | "incl" | "esp" => Some(Abbreviation::BeforeName),
        "No" | "no" | "Nos" | "nos" | "Nr" | "p" | "pp" | "Vol" | "vol" | "Fig" | "fig" | "Figs" | "figs" | "Sec"
        | "sec" | "Art" | "art" | "Ch" | "ch" | "Eq" | "eq" | "Eqs" | "Ref" | "ref" | "Tab" | "Par" | "par" | "Pt"
        | "Op" | "op" | "c" | "b" | "d" | "r" | "fl" | "aft" | "bef" | "§" | "Jan" | "Feb" | "Mar" | "Apr" | "Jun"
        | "Jul" | "Aug" | "Sep" | "Sept" | "Oct" | "Nov" | "Dec" => Some(Abbreviation::BeforeNumber),
        "a.m" | "p.m" | "A.M" | "P.M" => Some(Abbreviation::OfTheClock),
        "St" | "Mt" | "Inc" | "Corp" | "Co" | "Cos" | "Ltd" | "Jr" | "Sr" | "Bros" | "etc" | "al" | "Ave" | "Blvd"
        | "Rd" | "Est" | "est" | "Dept" | "dept" | "Univ" | "Assn" | "Esq" | "Cie" | "Ala" | "Ariz" | "Ark"
        | "Calif" | "Colo" | "Conn" | "Del" | "Fla" | "Ga" | "Ill" | "Ind" | "Kan" | "Ky" | "La" | "Md" | "Mass"
        | "Mich" | "Minn" | "Miss" | "Mo" | "Mont" | "Neb" | "Nev" | "Okla" | "Ore" | "Pa" | "Tenn" | "Tex" | "Va"
        | "Vt" | "Wash" | "Wis" | "Wyo" => Some(Abbreviation::Anywhere),
        _ => (is_initial(word) || has_inner_stops(word)).then_some(Abbreviation::Anywhere),
    }
}

fn is_initial(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_none()
}

/// Whether a word is letters with stops between them: `U.S`, `Ph.D`, `J.R.R`.
fn has_inner_stops(word: &str) -> bool {
    let is_short = |part: &str| matches!(part.chars().count(), 1 | 2) && part.chars().all(char::is_alphabetic);
    word.contains('.') && word.split('.').all(is_short)
}

/// Whether what follows a time of day belongs to it.
fn qualifies_clock(follows: &str) -> bool {
    let word = first_word(follows);
    let is_zone = (2..=4).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let names = [
        "Mon",
        "Tue",
        "Wed",
        "Thu",
        "Fri",
        "Sat",
        "Sun",
        "Jan",
        "Feb",
        "Mar",
        "Apr",
        "May",
        "Jun",
        "Jul",
        "Aug",
        "Sep",
        "Oct",
        "Nov",
        "Dec",
        "Eastern",
        "Central",
        "Mountain",
        "Pacific",
        "Greenwich",
    ];
    is_zone || names.iter().any(|name| word.starts_with(name))
}

/// Whether a text begins with a word that often starts a sentence and seldom a name.
fn starts_sentence(follows: &str) -> bool {
    let word = first_word(follows);
    let is_initial = word.chars().count() == 1 && follows[word.len()..].starts_with('.');
    !is_initial
        && matches!(
            word,
            "A" | "About"
                | "According"
                | "After"
                | "All"
                | "Also"
                | "Although"
                | "Among"
                | "An"
                | "And"
                | "Another"
                | "Are"
                | "As"
                | "At"
                | "Because"
                | "Before"
                | "Both"
                | "But"
                | "By"
                | "Can"
                | "Critics"
                | "Despite"
                | "Did"
                | "Do"
                | "Does"
                | "During"
                | "Each"
                | "Earlier"
                | "Even"
                | "Every"
                | "Few"
                | "Finally"
                | "First"
                | "For"
                | "From"
                | "Given"
                | "Had"
                | "Has"
                | "Have"
                | "He"
                | "Hence"
                | "Her"
                | "Here"
                | "His"
                | "How"
                | "However"
                | "I"
                | "If"
                | "In"
                | "Indeed"
                | "Instead"
                | "Is"
                | "It"
                | "Its"
                | "Last"
                | "Later"
                | "Like"
                | "Many"
                | "Meanwhile"
                | "More"
                | "Moreover"
                | "Most"
                | "Much"
                | "My"
                | "Nevertheless"
                | "No"
                | "None"
                | "Nor"
                | "Not"
                | "Now"
                | "Of"
                | "Officials"
                | "On"
                | "Once"
                | "One"
                | "Only"
                | "Or"
                | "Other"
                | "Others"
                | "Our"
                | "Over"
                | "People"
                | "Perhaps"
                | "Police"
                | "Several"
                | "She"
                | "Since"
                | "So"
                | "Some"
                | "Soon"
                | "Still"
                | "Such"
                | "Than"
                | "That"
                | "The"
                | "Their"
                | "Then"
                | "There"
                | "Therefore"
                | "These"
                | "They"
                | "This"
                | "Those"
                | "Though"
                | "Through"
                | "Thus"
                | "To"
                | "Today"
                | "Under"
                | "Unlike"
                | "Until"
                | "Upon"
                | "Was"
                | "We"
                | "Were"
                | "What"
                | "When"
                | "Where"
                | "Whether"
                | "Which"
                | "While"
                | "Who"
                | "Why"
                | "Will"
                | "With"
                | "Within"
                | "Without"
                | "Would"
                | "Yet"
                | "You"
                | "Your"
        )
}

fn first_word(text: &str) -> &str {
    text.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or(text)
}

#[cfg(test)]
mod tests;
