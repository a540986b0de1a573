//! Tropical Weather Outlook (TWO): areas that may become cyclones, and their chances over 48 hours and five or seven days.
//!
//! An area with an id (`AL98`) is the storm that may come of it; an area without one is named by its place in the text.

use hypercane_schemas::{Attribute, Fixed, GroupKey, Origin, Span};
use jiff::Timestamp;

use super::facts::{mention, moment, slug};
use super::lines::{Line, folded, lines, paragraphs};
use super::moment::{issue_time, minute_form, spoken_form};
use super::prose::sentences;
use crate::extraction::{Extraction, Fact, Failure, Mention, Product};

/// Lines in which the issue time must come.
const HEAD_LINES: usize = 20;

/// The facts of an outlook.
///
/// # Errors
/// Where it has no issue time, or says nothing.
pub fn extract(text: &str) -> Result<Extraction, Failure> {
    let all = lines(text);
    let head = all.iter().take(HEAD_LINES).find_map(|line| Some((line.number as usize, issue_time(line.words())?)));
    let Some((head, issued)) = head else {
        let reason = "no issue time such as `800 AM EDT Wed Sep 25 2024` in the first lines".into();
        return Err(Failure { line: 1, reason });
    };
    let issued_at = issued.map_err(|reason| Failure { line: head as u32, reason })?;
    let body = &all[head.min(all.len())..];
    let end = body.iter().position(|line| {
        line.words() == "$$" || line.words().starts_with("Forecaster") || line.words().starts_with("FORECASTER")
    });
    let body = &body[..end.unwrap_or(body.len())];
    let basin = basin(text, body);
    let mut outlook = Outlook { issued_at, basin, facts: Vec::new() };
    for block in blocks(text, body) {
        outlook.block(&block);
    }
    if outlook.facts.is_empty() {
        return Err(Failure {
            line: head as u32 + 1,
            reason: "no area and no chance of formation stands in the outlook".into(),
        });
    }
    let product =
        Product { kind: "two".into(), name: format!("{}:{}", outlook.basin.0, minute_form(issued_at)), correction: 0 };
    Ok(Extraction { product: Some(product), issued_at: Some(issued_at), facts: outlook.facts, failures: Vec::new() })
}

/// Code and name of the waters, from the `For the ...` line or the product's header.
fn basin(text: &str, body: &[Line<'_>]) -> (&'static str, &'static str) {
    let intro = body.iter().map(|line| line.words().to_ascii_uppercase()).find(|words| words.starts_with("FOR THE "));
    let intro = intro.unwrap_or_default();
    let head: String = text.chars().take(200).collect::<String>().to_ascii_uppercase();
    if intro.contains("CENTRAL NORTH PACIFIC") || head.contains("TWOCP") || head.contains("TWOHC") {
        ("cp", "central North Pacific")
    } else if intro.contains("PACIFIC") || head.contains("TWOEP") {
        ("ep", "eastern North Pacific")
    } else {
        ("al", "North Atlantic")
    }
}

/// One numbered area, or a paragraph beside them.
struct Block<'a> {
    number: Option<u32>,
    title: String,
    text: &'a str,
    span: Span,
}

/// The paragraphs; a line `1. ...` starts an area, and lines with stars belong to the area before them.
fn blocks<'a>(text: &'a str, body: &[Line<'a>]) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    for paragraph in paragraphs(text, body) {
        let first = paragraph.text.lines().next().unwrap_or_default().trim();
        let number = first
            .split_once('.')
            .and_then(|(number, _)| number.trim().parse::<u32>().ok())
            .filter(|number| *number < 100);
        let chances = first.starts_with('*');
        let goes_on = chances
            || (number.is_none()
                && blocks.last().is_some_and(|last| {
                    last.number.is_some() && first.to_ascii_lowercase().contains("formation chance")
                }));
        if goes_on && let Some(last) = blocks.last_mut() {
            last.span = last.span.cover(paragraph.span());
            last.text = last.span.of(text).unwrap_or(last.text);
            continue;
        }
        let title = match number {
            Some(_) => {
                first.split_once('.').map_or("", |(_, title)| title).trim().trim_end_matches(':').trim_end().to_owned()
            }
            None => String::new(),
        };
        blocks.push(Block { number, title, text: paragraph.text, span: paragraph.span() });
    }
    blocks
}

struct Outlook {
    issued_at: Timestamp,
    basin: (&'static str, &'static str),
    facts: Vec<Fact>,
}

impl Outlook {
    fn block(&mut self, block: &Block<'_>) {
        let words = folded(block.text);
        let upper = words.to_ascii_uppercase();
        if block.number.is_some()
            || upper.contains("FORMATION CHANCE")
            || upper.contains("CHANCE OF BECOMING")
            || upper.contains("PERCENT")
        {
            self.area(block, &words, &upper);
        } else if upper.contains("ADVISORIES ON")
            || upper.contains("IS NOT EXPECTED")
            || upper.contains("NOT EXPECTED TO")
        {
            self.statement(&words, block.span);
        }
    }

    fn lead(&self) -> String {
        format!("Tropical Weather Outlook for the {} issued {}", self.basin.1, spoken_form(self.issued_at))
    }

    fn add(
        &mut self,
        relation: &str,
        text: String,
        span: Span,
        mentions: Vec<Mention>,
        attributes: Vec<Attribute>,
        group: String,
    ) {
        let name = format!("Tropical Weather Outlook of {}", spoken_form(self.issued_at));
        let key = format!("two:{}:{}", self.basin.0, minute_form(self.issued_at));
        let mut all = mentions;
        all.push(mention(key, name, "advisory", "advisory"));
        all.push(moment(self.issued_at, "issued"));
        let mut given = vec![Attribute::text("product", "two")];
        given.extend(attributes);
        self.facts.push(Fact {
            relation: relation.into(),
            mentions: all,
            text: format!("{}: {text}", self.lead()),
            span,
            attributes: given,
            relations: Vec::new(),
            group: GroupKey(group),
            valid_at: None,
            confidence: Fixed::ONE,
            origin: Origin::Extracted,
            reference_at: None,
        });
    }

    fn group(&self) -> String {
        format!("two:{}", self.basin.0)
    }

    /// `advisories on Tropical Storm Helene`, or that nothing will form.
    fn statement(&mut self, words: &str, span: Span) {
        let year = self.issued_at.strftime("%Y").to_string();
        let mut mentions = Vec::new();
        for class in
            ["Hurricane", "Tropical Storm", "Tropical Depression", "Subtropical Storm", "Post-Tropical Cyclone"]
        {
            let Some(at) = words.to_ascii_lowercase().find(&format!("{} ", class.to_ascii_lowercase())) else {
                continue;
            };
            let name: String =
                words[at + class.len()..].trim_start().chars().take_while(|c| c.is_alphabetic() || *c == '-').collect();
            let is_name = name.chars().next().is_some_and(char::is_uppercase) && !name.eq_ignore_ascii_case("Center");
            if is_name {
                let shown = super::facts::shown_name(&name);
                let mut storm = mention(
                    format!("storm:{}_{year}", name.to_uppercase().replace('-', "_")),
                    &shown,
                    "cyclone",
                    "storm",
                );
                storm.aliases = vec![format!("{class} {shown}"), format!("{shown} {year}")];
                mentions.push(storm);
            }
        }
        let group = mentions
            .first()
            .and_then(|storm| storm.entity.0.strip_prefix("storm:"))
            .map_or_else(|| self.group(), str::to_owned);
        self.add("has_cyclone_state", words.to_owned(), span, mentions, vec![Attribute::text("remark", words)], group);
    }

    fn area(&mut self, block: &Block<'_>, words: &str, upper: &str) {
        let id = invest(&block.title).or_else(|| invest(words));
        let number = block.number.map(|number| format!("area {number}")).unwrap_or_else(|| "area".into());
        let bare = block.title.split('(').next().unwrap_or_default().trim().trim_end_matches(':').trim();
        let named = if bare.is_empty() || bare.len() > 60 { number.clone() } else { bare.to_owned() };
        let (area, group) = match &id {
            Some(id) => {
                let long = format!("{id}{}", self.issued_at.strftime("%Y"));
                let mut storm = mention(format!("storm:{long}"), id, "cyclone", "storm");
                storm.aliases = vec![long.clone(), format!("Invest {}", &id[2..])];
                (storm, long)
            }
            None => (mention(format!("place:{}", slug(&named)), &named, "place", "place"), self.group()),
        };
        let about = match &id {
            Some(id) => format!("{named} ({id})"),
            None => named.clone(),
        };
        let key = format!(
            "formation:{}:{}:@{}",
            self.basin.0,
            id.as_deref().map_or_else(|| slug(&named), str::to_lowercase),
            minute_form(self.issued_at)
        );
        let state = mention(key, format!("Chance of formation: {about}"), "cyclone_state", "state");
        for chance in chances(upper) {
            let text = format!(
                "{about}: chance of formation through {} hours {} percent{}",
                chance.hours,
                chance.percent,
                chance.spoken_class()
            );
            let attributes = vec![
                Attribute::number("forecast_hour", f64::from(chance.hours), "h", format!("{} h", chance.hours)),
                Attribute::number(
                    "probability_cumulative",
                    f64::from(chance.percent),
                    "percent",
                    format!("{} percent", chance.percent),
                ),
                Attribute::text("area", &about),
            ];
            self.add(
                "has_leadtime_probability",
                text,
                block.span,
                vec![area.clone(), state.clone()],
                attributes,
                group.clone(),
            );
        }
        let plain = super::lines::Paragraph { number: 0, start: block.span.start as usize, text: block.text };
        for sentence in sentences(&plain) {
            let words = sentence.folded();
            let upper = words.to_ascii_uppercase();
            if upper.contains("FORMATION CHANCE") || words.len() < 30 {
                continue;
            }
            let ahead =
                ["EXPECTED", "FORECAST", "LIKELY", "COULD", "POSSIBLE", "WILL "].iter().any(|cue| upper.contains(cue));
            let relation = if ahead { "forecasts_track" } else { "has_cyclone_state" };
            let attributes = vec![Attribute::text("area", &about)];
            self.add(
                relation,
                format!("{about}: {words}"),
                sentence.span,
                vec![area.clone(), state.clone()],
                attributes,
                group.clone(),
            );
        }
    }
}

/// `AL98`, `EP90`: the id of an area.
fn invest(words: &str) -> Option<String> {
    let id = words.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| {
        let basin = ["AL", "EP", "CP"].iter().any(|basin| word.starts_with(basin));
        basin && word.len() == 4 && word[2..].bytes().all(|byte| byte.is_ascii_digit())
    });
    id.map(str::to_owned)
}

/// A chance of formation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Chance {
    hours: u32,
    percent: u32,
    class: String,
}

impl Chance {
    fn spoken_class(&self) -> String {
        if self.class.is_empty() { String::new() } else { format!(" ({})", self.class) }
    }
}

/// The chances in the words of an area, newer form (`through 7 days...high...80 percent`) and older one
/// (`a high chance...70 percent...of becoming a tropical cyclone during the next 48 hours`).
fn chances(upper: &str) -> Vec<Chance> {
    let words: Vec<&str> = upper.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut found: Vec<Chance> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if *word != "PERCENT" {
            continue;
        }
        let percent =
            at.checked_sub(1).and_then(|before| words[before].parse::<u32>().ok()).filter(|percent| *percent <= 100);
        let Some(percent) = percent else { continue };
        let from = at.saturating_sub(9);
        let span = |range: std::ops::Range<usize>| {
            range.clone().find_map(|index| {
                let count = words.get(index)?.parse::<u32>().ok()?;
                match *words.get(index + 1)? {
                    "HOURS" | "HOUR" => Some(count),
                    "DAYS" | "DAY" => Some(count * 24),
                    _ => None,
                }
            })
        };
        let five = |range: std::ops::Range<usize>| {
            words.get(range)?.windows(2).find_map(|pair| match pair {
                ["FIVE", "DAYS"] => Some(120),
                ["SEVEN", "DAYS"] => Some(168),
                ["TWO", "DAYS"] => Some(48),
                _ => None,
            })
        };
        let ahead = at + 1..(at + 14).min(words.len());
        let before = from..at;
        let Some(hours) = span(before.clone())
            .or_else(|| five(before.clone()))
            .or_else(|| span(ahead.clone()))
            .or_else(|| five(ahead))
        else {
            continue;
        };
        let class = words[before].iter().rev().find(|word| matches!(**word, "LOW" | "MEDIUM" | "HIGH"));
        let class = class.map(|class| class.to_lowercase()).unwrap_or_default();
        if hours <= 240 && !found.iter().any(|other| other.hours == hours) {
            found.push(Chance { hours, percent, class });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{chances, extract};

    const OUTLOOK: &str = "\
ZCZC MIATWOAT ALL
TTAA00 KNHC DDHHMM

Tropical Weather Outlook
NWS National Hurricane Center Miami FL
800 AM EDT Fri Aug 27 2021

For the North Atlantic...Caribbean Sea and the Gulf of Mexico:

Active Systems:
The National Hurricane Center is issuing advisories on Tropical
Storm Opal, located over the western Gulf.

1. Eastern Atlantic (AL97):
A wave west of Africa makes many showers and slow development of this
system is likely while it moves westward.
* Formation chance through 48 hours...low...20 percent.
* Formation chance through 7 days...medium...60 percent.

$$
Forecaster Nobody
";

    #[test]
    fn areas_have_their_chances() {
        let found = extract(OUTLOOK).unwrap();
        let product = found.product.unwrap();
        assert_eq!((product.kind.as_str(), product.name.as_str()), ("two", "al:2021-08-27T12:00Z"));
        let texts: Vec<&str> = found.facts.iter().map(|fact| fact.text.as_str()).collect();
        assert!(
            texts.iter().any(|text| text
                .ends_with("Eastern Atlantic (AL97): chance of formation through 168 hours 60 percent (medium)")),
            "{texts:#?}"
        );
        let chance = found.facts.iter().find(|fact| fact.relation == "has_leadtime_probability").unwrap();
        assert_eq!(chance.group.0, "AL972021");
        assert!(
            found.facts[0].mentions.iter().any(|mention| mention.entity.0 == "storm:OPAL_2021"),
            "{:#?}",
            found.facts[0]
        );
    }

    #[test]
    fn the_older_wording_is_read_too() {
        let found = chances(
            "THERE IS A MEDIUM CHANCE...40 PERCENT...OF THIS SYSTEM BECOMING A TROPICAL CYCLONE DURING THE NEXT 48 HOURS",
        );
        assert_eq!((found[0].hours, found[0].percent, found[0].class.as_str()), (48, 40, "medium"));
        assert!(chances("50 PERCENT OF NOTHING").is_empty());
    }

    proptest! {
        #[test]
        fn no_cut_and_no_noise_makes_it_panic(cut in 0..OUTLOOK.len(), noise in "\\PC{0,40}", at in 0..OUTLOOK.len()) {
            let _ = extract(&OUTLOOK[..cut]);
            let _ = extract(&format!("{}{noise}{}", &OUTLOOK[..at], &OUTLOOK[at..]));
        }
    }
}
