//! The head of an NHC or CPHC product: title, office, storm and issue time.
//!
//! The forms changed over thirty years and forecasters break lines anywhere, so the head is found by its title words and
//! its issue line, not by counting lines.

use hypercane_schemas::Span;
use jiff::Timestamp;
use winnow::{
    Result,
    ascii::space0,
    combinator::{alt, opt},
    prelude::*,
    token::take_while,
};

use super::lines::{Line, folded, lines};
use super::moment;
use super::units::{gap, whole, word, words};
use crate::extraction::{Failure, Product};

/// Lines in which the title must come.
const HEAD_LINES: usize = 40;

/// What kind of product a title names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TitleKind {
    /// Forecast/Advisory, once Marine Advisory.
    ForecastAdvisory,
    /// Public Advisory.
    PublicAdvisory,
    /// Wind Speed Probabilities.
    WindSpeedProbabilities,
    /// Forecast discussion.
    Discussion,
    /// Tropical Cyclone Update.
    Update,
    /// Position estimate.
    PositionEstimate,
    /// Watches and warnings with VTEC.
    WatchWarning,
}

impl TitleKind {
    /// Its short name, as in entity keys.
    pub fn code(self) -> &'static str {
        match self {
            Self::ForecastAdvisory => "tcm",
            Self::PublicAdvisory => "tcp",
            Self::WindSpeedProbabilities => "pws",
            Self::Discussion => "tcd",
            Self::Update => "tcu",
            Self::PositionEstimate => "tce",
            Self::WatchWarning => "tcv",
        }
    }

    /// Its name in sentences.
    pub fn words(self) -> &'static str {
        match self {
            Self::ForecastAdvisory => "forecast/advisory",
            Self::PublicAdvisory => "public advisory",
            Self::WindSpeedProbabilities => "wind speed probabilities",
            Self::Discussion => "discussion",
            Self::Update => "tropical cyclone update",
            Self::PositionEstimate => "position estimate",
            Self::WatchWarning => "watch/warning advisory",
        }
    }
}

/// A title such as `Hurricane Harvey Intermediate Advisory Number 19A...Corrected`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    /// The product.
    pub kind: TitleKind,
    /// Class as titled, in title case (`Hurricane`); empty where there is none.
    pub class: String,
    /// Name in title case (`Harvey`, `Nine`).
    pub name: String,
    /// Advisory number.
    pub number: Option<u32>,
    /// Letter of an intermediate advisory.
    pub letter: Option<char>,
    /// Issued between two complete ones.
    pub intermediate: bool,
    /// Issued outside the schedule.
    pub special: bool,
    /// The title says that it is corrected.
    pub corrected: bool,
}

/// The head of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its title.
    pub title: Title,
    /// Where the title stands.
    pub title_span: Span,
    /// ATCF id in its long form (`AL092017`), printed or built from what is printed.
    pub atcf: Option<String>,
    /// The issuing office, as printed.
    pub office: String,
    /// Issue time.
    pub issued_at: Timestamp,
    /// The issue line, as printed.
    pub issued_given: String,
    /// Where the issue line stands.
    pub issued_span: Span,
    /// Zero, or how often it has been corrected (`CCA` 1, `CCB` 2; the word alone 1).
    pub correction: u8,
    /// Index of the first line behind the head.
    pub body: usize,
}

const CLASSES: [&[&str]; 17] = [
    &["POTENTIAL", "TROPICAL", "CYCLONE"],
    &["POTENTIAL", "TROP", "CYCLONE"],
    &["POST-TROPICAL", "CYCLONE"],
    &["POST-TROPICAL", "STORM"],
    &["POSTTROPICAL", "CYCLONE"],
    &["SUBTROPICAL", "STORM"],
    &["SUBTROPICAL", "DEPRESSION"],
    &["EXTRATROPICAL", "STORM"],
    &["EXTRATROPICAL", "CYCLONE"],
    &["TROPICAL", "STORM"],
    &["TROPICAL", "DEPRESSION"],
    &["TROPICAL", "DISTURBANCE"],
    &["TROPICAL", "CYCLONE"],
    &["REMNANTS", "OF"],
    &["REMNANT", "LOW"],
    &["TYPHOON"],
    &["HURRICANE"],
];

/// The class that words start with, in upper case as listed, and the words behind it.
pub fn class_prefix(text: &str) -> Option<(String, &str)> {
    CLASSES.iter().find_map(|class| {
        let mut rest = text;
        words(class).parse_next(&mut rest).ok()?;
        if rest.starts_with(|c: char| c.is_alphanumeric()) {
            return None;
        }
        Some((class.join(" "), rest))
    })
}

/// Words with each first letter large and the rest small; `of`, `the`, `and` small inside.
pub fn title_case(words: &str) -> String {
    let mut cased = String::with_capacity(words.len());
    for (idx, part) in words.split_whitespace().enumerate() {
        if idx > 0 {
            cased.push(' ');
        }
        let lower = part.to_lowercase();
        if idx > 0 && matches!(lower.as_str(), "of" | "the" | "and" | "to" | "from") {
            cased.push_str(&lower);
            continue;
        }
        let mut large = true;
        for c in lower.chars() {
            if large {
                cased.extend(c.to_uppercase());
            } else {
                cased.push(c);
            }
            large = matches!(c, '-' | '/' | '(' | '.');
        }
    }
    cased
}

/// The product words of a title, as the text from their start gives them.
fn product_words(input: &mut &str) -> Result<(TitleKind, bool, bool)> {
    let flags = (
        opt((alt((word("SPECIAL"), word("REVISED"))), gap)).map(|special| special.is_some()),
        opt((word("INTERMEDIATE"), gap)).map(|intermediate| intermediate.is_some()),
        opt((word("SPECIAL"), gap)).map(|special| special.is_some()),
    );
    let kind = alt((
        (word("FORECAST"), gap, '/', gap, word("ADVISORY")).value(TitleKind::ForecastAdvisory),
        words(&["MARINE", "ADVISORY"]).value(TitleKind::ForecastAdvisory),
        (word("WATCH"), gap, '/', gap, word("WARNING"), gap, word("ADVISORY")).value(TitleKind::WatchWarning),
        words(&["WIND", "SPEED", "PROBABILITIES"]).value(TitleKind::WindSpeedProbabilities),
        (opt((words(&["TROPICAL", "CYCLONE"]), gap)), words(&["POSITION", "ESTIMATE"]))
            .value(TitleKind::PositionEstimate),
        words(&["TROPICAL", "CYCLONE", "UPDATE"]).value(TitleKind::Update),
        (opt((word("FORECAST"), gap)), word("DISCUSSION")).value(TitleKind::Discussion),
        (opt((word("PUBLIC"), gap)), word("ADVISORY")).value(TitleKind::PublicAdvisory),
    ));
    (flags, kind).map(|((a, intermediate, b), kind)| (kind, intermediate, a || b)).parse_next(input)
}

/// A title in one line of folded words; `None` where the words are none.
pub fn title(text: &str) -> Option<Title> {
    let text = folded(text);
    let (at, (kind, intermediate, special), mut rest) = text.char_indices().find_map(|(idx, _)| {
        if idx > 0 && !text[..idx].ends_with(' ') {
            return None;
        }
        let mut rest = &text[idx..];
        let product = product_words.parse_next(&mut rest).ok()?;
        Some((idx, product, rest))
    })?;
    let letter = take_while(1.., |c: char| c.is_ascii_alphabetic()).verify(|word: &str| word.len() == 1);
    let mut numbered = (gap, word("NUMBER"), gap, whole, opt((space0, letter)))
        .map(|(.., number, letter)| (number, letter.and_then(|(_, letter): (_, &str)| letter.chars().next())));
    let (number, letter) = match numbered.parse_next(&mut rest) {
        Ok((number, letter)) => (Some(number), letter),
        Err(_) => (None, None),
    };
    let numberless = matches!(kind, TitleKind::Update | TitleKind::PositionEstimate);
    if number.is_none() && !numberless {
        return None;
    }
    // What is left is dots and `Corrected`; other words mean that this is a sentence.
    let tail = rest.trim_matches(|c: char| c == '.' || c == '-' || c.is_whitespace()).to_ascii_uppercase();
    let corrected = tail.contains("CORRECT") || tail.contains("RESEND") || tail.contains("RETRANSMIT");
    if !(tail.is_empty() || corrected || tail.contains("SPECIAL") || tail == "FOR") {
        return None;
    }
    let (class, name) = match class_prefix(&text[..at]) {
        Some((class, name)) => (class, name.trim()),
        None => (String::new(), text[..at].trim()),
    };
    let (class, name) = match class_prefix(name) {
        // `REMNANTS OF TROPICAL STORM X`: the last class is a part of the first one.
        Some((inner, name)) => (format!("{class} {inner}"), name.trim()),
        None => (class, name),
    };
    // Other offices build on these titles: `X Local Statement Advisory Number 4`, `X ICAO ADVISORY NUMBER 4`.
    let other = [" LOCAL STATEMENT", " ICAO", "TC "].iter().any(|end| name.to_ascii_uppercase().ends_with(end));
    if name.len() > 40 || other {
        return None;
    }
    let letter = letter.map(|letter| letter.to_ascii_uppercase());
    let special = special || tail.contains("SPECIAL");
    let intermediate = intermediate || letter.is_some();
    let (class, name) = (title_case(&class), title_case(name));
    Some(Title { kind, class, name, number, letter, intermediate, special, corrected })
}

fn find_title<'a>(head: &[Line<'a>]) -> Option<(usize, usize, Title)> {
    for (idx, line) in head.iter().enumerate() {
        if line.is_blank() {
            continue;
        }
        let next = head.get(idx + 1).map_or("", |next| next.words());
        let joined = format!("{} {next}", line.words());
        let before = idx.checked_sub(1).map_or("", |before| head[before].words());
        // Broken over two lines: before the number, or before the product words.
        if let Some(found) = title(line.words()) {
            if found.name.is_empty()
                && !before.is_empty()
                && let Some(longer) = title(&format!("{before} {}", line.words()))
            {
                return Some((idx - 1, idx, longer));
            }
            return Some((idx, idx, found));
        }
        if !next.is_empty()
            && title(next).is_none_or(|next| next.name.is_empty())
            && let Some(found) = title(&joined)
        {
            return Some((idx, idx + 1, found));
        }
    }
    None
}

/// Basin letters and digits: `AL092017`, or `AL0998` of before 2002.
fn atcf(word: &str, year: i16) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_uppercase();
    let (basin, digits) = word.split_at_checked(2)?;
    if !matches!(basin, "AL" | "EP" | "CP" | "WP" | "IO" | "SH" | "SL" | "SP" | "AB" | "BB" | "LS") {
        return None;
    }
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    match digits.len() {
        6 => Some(word),
        4 if digits.get(2..)?.parse::<i16>().ok()? == year.rem_euclid(100) => {
            Some(format!("{basin}{}{year:04}", digits.get(..2)?))
        }
        _ => None,
    }
}

const ORDINALS: [&str; 20] = [
    "ONE",
    "TWO",
    "THREE",
    "FOUR",
    "FIVE",
    "SIX",
    "SEVEN",
    "EIGHT",
    "NINE",
    "TEN",
    "ELEVEN",
    "TWELVE",
    "THIRTEEN",
    "FOURTEEN",
    "FIFTEEN",
    "SIXTEEN",
    "SEVENTEEN",
    "EIGHTEEN",
    "NINETEEN",
    "TWENTY",
];

/// The number that a numbered depression's name stands for: `Nine` 9, `Twenty-One` 21, `Three-C` 3.
fn storm_number(name: &str) -> Option<usize> {
    let name = name.to_ascii_uppercase();
    let name = name.strip_suffix("-C").or(name.strip_suffix("-E")).unwrap_or(&name);
    let single = |word: &str| ORDINALS.iter().position(|ordinal| *ordinal == word).map(|idx| idx + 1);
    match name.split_once('-') {
        Some(("TWENTY", unit)) => single(unit).map(|unit| 20 + unit),
        Some(("THIRTY", unit)) => single(unit).map(|unit| 30 + unit),
        Some(_) => None,
        None if name == "THIRTY" => Some(30),
        None => single(name),
    }
}

/// The id of a numbered system whose product prints none, from its name and the product's code.
fn built_atcf(name: &str, head: &[Line<'_>], year: i16) -> Option<String> {
    let number = storm_number(name)?;
    let upper = name.to_ascii_uppercase();
    let codes = |ends: &[&str]| {
        head.iter().any(|line| {
            line.words().split_whitespace().any(|word| word.len() >= 5 && ends.iter().any(|end| word.contains(end)))
        })
    };
    let basin = if upper.ends_with("-C") || codes(&["TCMCP", "TCPCP", "TCUCP"]) {
        "CP"
    } else if upper.ends_with("-E") || codes(&["TCMEP", "TCPEP", "TCUEP"]) {
        "EP"
    } else if codes(&["TCMAT", "TCPAT", "TCUAT", "WRKAM"]) {
        "AL"
    } else {
        return None;
    };
    Some(format!("{basin}{number:02}{year:04}"))
}

/// The correction that a transmission header names by its group: `CCA` 1, `CCB` 2.
fn correction_group(head: &[Line<'_>]) -> u8 {
    let group = |word: &str| match word.as_bytes() {
        [b'C', b'C', letter @ b'A'..=b'Z'] => Some(letter - b'A' + 1),
        _ => None,
    };
    head.iter().filter_map(|line| line.words().split_whitespace().last().and_then(group)).max().unwrap_or(0)
}

/// The kind of product that a text's title names, if it has a title.
pub fn title_kind(text: &str) -> Option<TitleKind> {
    let all = lines(text);
    let first_word = all.iter().position(|line| !line.is_blank())?;
    let head = &all[..all.len().min(first_word + HEAD_LINES)];
    find_title(head).map(|(.., title)| title.kind)
}

/// Reads the head of a product.
pub fn header(text: &str) -> std::result::Result<Header, Failure> {
    header_of(text, &lines(text))
}

/// Reads the head of a product from its lines.
pub fn header_of(text: &str, all: &[Line<'_>]) -> std::result::Result<Header, Failure> {
    let first_word = all.iter().position(|line| !line.is_blank());
    let Some(first_word) = first_word else {
        return Err(Failure { line: 1, reason: "the text is empty".into() });
    };
    let head = &all[..all.len().min(first_word + HEAD_LINES)];
    let Some((first, last, title)) = find_title(head) else {
        let reason = "no title such as `HURRICANE NAME ADVISORY NUMBER 1` in the first lines".into();
        return Err(Failure { line: all[first_word].number, reason });
    };
    let title_span = all[first].span().cover(all[last].span());
    let after = last + 1;
    let found = all.iter().enumerate().skip(after).take(8).find_map(|(idx, line)| {
        let time = moment::issue_time(line.words())?;
        Some((idx, time))
    });
    let Some((time_idx, time)) = found else {
        let reason = "no issue time such as `0300 UTC FRI AUG 25 2017` under the title".into();
        return Err(Failure { line: all[last].number + 1, reason });
    };
    let issued_at = time.map_err(|reason| Failure { line: all[time_idx].number, reason })?;
    let year = jiff::tz::Offset::UTC.to_datetime(issued_at).year();
    let between = &all[after..time_idx];
    let printed = between.iter().chain(&all[..=last]).flat_map(|line| line.words().split_whitespace());
    let atcf = printed.filter_map(|word| atcf(word, year)).next().or_else(|| built_atcf(&title.name, head, year));
    let office = between.iter().find(|line| !line.is_blank()).map_or(String::new(), |line| office(line.words()));
    let correction = correction_group(&all[..first]).max(u8::from(title.corrected));
    debug_assert!(title_span.of(text).is_some(), "lines must be those of the text");
    Ok(Header {
        title,
        title_span,
        atcf,
        office,
        issued_at,
        issued_given: folded(all[time_idx].words()),
        issued_span: all[time_idx].span(),
        correction,
        body: time_idx + 1,
    })
}

/// The office line without the id at its end.
fn office(line: &str) -> String {
    let all: Vec<&str> = line.split_whitespace().collect();
    match all.split_last() {
        Some((last, rest)) if last.bytes().any(|b| b.is_ascii_digit()) => rest.join(" "),
        _ => all.join(" "),
    }
}

impl Header {
    /// The storm's id in keys: the ATCF id, else name and year.
    pub fn storm_id(&self) -> String {
        self.atcf.clone().unwrap_or_else(|| {
            let year = jiff::tz::Offset::UTC.to_datetime(self.issued_at).year();
            format!("{}_{year:04}", self.title.name.to_ascii_uppercase().replace([' ', '-'], "_"))
        })
    }

    /// Class and name as titled: `Hurricane Harvey`.
    pub fn titled_name(&self) -> String {
        format!("{} {}", self.title.class, self.title.name).trim().to_owned()
    }

    /// The number as the text has it, with its letter: `19A`.
    pub fn spoken_number(&self) -> Option<String> {
        let number = self.title.number?;
        Some(self.title.letter.map_or(format!("{number}"), |letter| format!("{number}{letter}")))
    }

    /// What names it within its kind: `AL092017:019A`, or the issue time for products without number.
    pub fn product_name(&self) -> String {
        let storm = self.storm_id();
        match (self.title.number, self.title.letter) {
            (Some(number), Some(letter)) => format!("{storm}:{number:03}{letter}"),
            (Some(number), None) => format!("{storm}:{number:03}"),
            (None, _) => format!("{storm}:{}", moment::minute_form(self.issued_at)),
        }
    }

    /// The product's identity.
    pub fn product(&self) -> Product {
        Product { kind: self.title.kind.code().into(), name: self.product_name(), correction: self.correction }
    }
}

#[cfg(test)]
mod tests;
