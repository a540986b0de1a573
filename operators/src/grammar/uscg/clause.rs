//! What a sentence says of which port: clauses, and in each the places that go with each condition.

use std::ops::Range;

use jiff::Timestamp;

use super::clock::{Clock, clocks};
use super::condition::{Condition, conditions};
use super::places::{Found, Place, places};
use super::storm::{Storm, storms};
use super::words::{Sentence, Word};
use crate::domain::Domain;

/// What happens to a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// It is set, or holds.
    Set,
    /// It is set in a modified form.
    Modified,
    /// It will be set.
    Planned,
    /// It stays.
    Remains,
    /// It ends.
    Lifted,
    /// It follows a stricter one.
    Downgraded,
    /// Ports open.
    Reopened,
    /// Ports close, with no condition named.
    Closed,
    /// Something about the condition is announced, and not said.
    Announced,
}

/// One thing said of one place, or of places not named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// The condition; empty where none is named.
    pub(super) code: String,
    /// Its words.
    pub(super) given: String,
    /// What happens.
    pub(super) action: Action,
    /// The condition before, where the text says it.
    pub(super) previous: Option<String>,
    /// The places; none where the text names none.
    pub(super) places: Vec<Place>,
    /// The local time at which it takes effect.
    pub(super) clock: Option<Clock>,
    /// That time as written.
    pub(super) clock_given: String,
    /// Whether the sentence closes ports.
    pub(super) closes: bool,
    /// The bytes of the sentence.
    pub(super) bytes: Range<usize>,
}

/// What earlier sentences said, for those that say `the port` only.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    /// The places of the last statement.
    pub(super) places: Vec<Place>,
    /// State of the dateline.
    pub(super) state: String,
    /// The condition of the last statement and its words.
    pub(super) last: Option<(String, String)>,
    /// The storms named so far.
    pub(super) storms: Vec<Storm>,
    /// When the text was issued.
    pub(super) issued_at: Option<Timestamp>,
}

/// Words behind which a place is one that the storm threatens, not one whose condition is set.
const PATH: [&str; 12] = [
    "impact",
    "impacts",
    "impacting",
    "affect",
    "affecting",
    "landfall",
    "crosses",
    "passed",
    "passes",
    "passing",
    "threaten",
    "threatens",
];

/// Words behind which the reason for a condition stands.
const REASON: [&str; 5] = ["due", "because", "potential", "caused", "generated"];

/// What a sentence says.
pub(super) fn statements(text: &str, sentence: &Sentence, context: &mut Context, domain: &Domain) -> Vec<Statement> {
    let words = sentence.words.as_slice();
    let mut conditions = if defines(sentence) { Vec::new() } else { conditions(words) };
    // `while Whiskey is in effect` and `condition X-Ray means ...` set nothing.
    let form = |at: usize| words.get(at).map_or("", |word| word.form.as_str());
    conditions.retain(|condition| {
        let before = condition.words.start.checked_sub(1).map_or("", form);
        before != "while" && !matches!(form(condition.words.end), "means" | "indicates")
    });
    let mut taken: Vec<Range<usize>> = conditions.iter().map(|condition| condition.words.clone()).collect();
    for (range, storm) in storms(words) {
        if !taken.iter().any(|other| other.start < range.end && range.start < other.end) {
            taken.push(range);
            context.storms.push(storm);
        }
    }
    taken.sort_by_key(|range| range.start);
    let mut named = places(words, &taken, domain);
    let start = dateline(words, &named, context);
    let moves = |at: usize| {
        let next = words.get(at + 1).map_or("", |word| word.form.as_str());
        matches!(words[at].form.as_str(), "moves" | "moved" | "moving")
            && matches!(next, "across" | "through" | "over" | "past" | "into" | "toward" | "towards" | "near" | "away")
    };
    let path =
        (0..words.len()).find(|at| PATH.contains(&words[*at].form.as_str()) || moves(*at)).unwrap_or(words.len());
    named.retain(|found| found.words.start >= start && found.words.end <= path);
    // Behind a reason (`due to weather in A and B`) a place counts only where the sentence names no other.
    if let Some(reason) = words.iter().position(|word| REASON.contains(&word.form.as_str()))
        && named.iter().any(|found| found.words.end <= reason)
    {
        named.retain(|found| found.words.end <= reason || conditions.iter().any(|other| other.words.start > reason));
    }
    let reader = Reader { text, sentence, words, conditions: &conditions, named: &named, clocks: clocks(words) };
    let found = reader.read(start, context);
    if let Some(last) = found.iter().rev().find(|statement| !statement.code.is_empty()) {
        context.last = Some((last.code.clone(), last.given.clone()));
    }
    if let Some(last) = found.iter().rev().find(|statement| !statement.places.is_empty()) {
        context.places = last.places.clone();
    } else if !named.is_empty() && !sentence.chatter {
        context.places = named.iter().flat_map(|found| found.places.clone()).collect();
    }
    found
}

/// Whether the sentence explains what a condition means, and sets none.
fn defines(sentence: &Sentence) -> bool {
    let forms = sentence.forms();
    let lead =
        ["during port condition", "in port condition", "under port condition", "in condition", "port condition means"];
    let meaning = [
        " indicates ",
        " is set when ",
        " what port condition ",
        " port condition means ",
        " means that ",
        " is within ",
    ];
    lead.iter().any(|lead| forms.trim_start().starts_with(lead)) || meaning.iter().any(|cue| forms.contains(cue))
}

/// Where the sentence proper starts: behind `TAMPA, Fla. –`, whose state is kept for local times.
fn dateline(words: &[Word], named: &[Found], context: &mut Context) -> usize {
    let Some(dash) = words.iter().take(7).position(|word| word.form == ";") else { return 0 };
    let capitals = words.first().is_some_and(|word| word.text.len() > 2 && !word.text.chars().any(char::is_lowercase));
    if !capitals {
        return 0;
    }
    if let Some(place) = named.iter().filter(|found| found.words.end <= dash).flat_map(|found| &found.places).next() {
        context.state = place.state.clone();
    }
    dash + 1
}

struct Reader<'a> {
    text: &'a str,
    sentence: &'a Sentence,
    words: &'a [Word],
    conditions: &'a [Condition],
    named: &'a [Found],
    clocks: Vec<Clock>,
}

impl Reader<'_> {
    fn read(&self, start: usize, context: &Context) -> Vec<Statement> {
        let mut found: Vec<Statement> = Vec::new();
        for clause in self.clauses(start) {
            let conditions: Vec<&Condition> =
                self.conditions.iter().filter(|condition| clause.contains(&condition.words.start)).collect();
            let before = found.len();
            if conditions.is_empty() {
                found.extend(self.bare(&clause, found.last(), context));
            } else {
                self.with_conditions(&clause, &conditions, &mut found);
            }
            for index in before..found.len() {
                if found[index].places.is_empty() && !self.except(&clause) {
                    // The subject of the clause before goes on; failing that, the places of the sentences before.
                    let subject = found[..index].iter().rev().find(|statement| !statement.places.is_empty());
                    let loose: Vec<Place> = self
                        .named
                        .iter()
                        .filter(|found| found.words.end <= clause.start)
                        .flat_map(|found| found.places.clone())
                        .collect();
                    found[index].places = match subject {
                        Some(subject) => subject.places.clone(),
                        None if !loose.is_empty() => loose,
                        None => context.places.clone(),
                    };
                }
            }
        }
        found
    }

    fn except(&self, clause: &Range<usize>) -> bool {
        self.words.get(clause.start).is_some_and(|word| matches!(word.form.as_str(), "except" | "excluding"))
    }

    fn form(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.form.as_str())
    }

    fn clauses(&self, start: usize) -> Vec<Range<usize>> {
        let mut clauses = Vec::new();
        let mut from = start;
        for at in start..self.words.len() {
            if at > from && self.breaks(from, at) {
                clauses.push(from..at);
                from = at;
            }
        }
        clauses.push(from..self.words.len());
        clauses
    }

    /// Whether a new clause starts at a word.
    fn breaks(&self, from: usize, at: usize) -> bool {
        if self.named.iter().any(|found| found.words.contains(&at) && found.words.start < at) {
            return false;
        }
        let said = self.conditions.iter().any(|condition| (from..at).contains(&condition.words.start));
        let more = self.conditions.iter().any(|condition| condition.words.start > at);
        match self.form(at) {
            ";" | "while" | "whereas" | "except" | "excluding" | "but" | "however" => true,
            "followed" => self.form(at + 1) == "by",
            "plans" | "planning" | "plan" => said && more,
            "with" => {
                said && (at..at + 8).any(|next| matches!(self.form(next), "anticipating" | "expecting" | "remaining"))
            }
            "and" => {
                let agent = (at + 1..at + 4).any(|next| matches!(self.form(next), "cotp" | "captain" | "captains"));
                said && more && agent
            }
            _ => false,
        }
    }

    /// A clause without a condition of its own.
    fn bare(&self, clause: &Range<usize>, last: Option<&Statement>, context: &Context) -> Option<Statement> {
        let here: Vec<Place> = self.places_in(clause.clone());
        let says = |cues: &[&str]| clause.clone().any(|at| cues.contains(&self.form(at)));
        let follow = says(&["follow", "follows", "followed"]) && !self.sentence.chatter;
        if follow && !here.is_empty() {
            let (code, given) = match last {
                Some(last) => (last.code.clone(), last.given.clone()),
                None => context.last.clone()?,
            };
            let planned = says(&["expected", "will", "anticipated", "scheduled", "plans"])
                || last.is_some_and(|last| last.action == Action::Planned);
            let action = if planned { Action::Planned } else { Action::Set };
            let mut statement = self.statement(clause.clone(), action, here);
            (statement.code, statement.given) = (code, given);
            return Some(statement);
        }
        if self.sentence.chatter || self.except(clause) {
            return None;
        }
        let ports = says(&["port", "ports", "seaport", "seaports", "harbor", "harbors", "harbour"]);
        let subject = !here.is_empty() || (ports && !defines(self.sentence));
        if subject && says(&["reopen", "reopens", "reopened", "reopening", "opened"]) {
            return Some(self.statement(clause.clone(), Action::Reopened, here));
        }
        if ports && says(&["open"]) && !says(&["closed", "currently", "remain", "remains"]) && !defines(self.sentence) {
            return Some(self.statement(clause.clone(), Action::Reopened, here));
        }
        if ports && says(&["closed", "closes", "closing"]) && !here.is_empty() {
            return Some(self.statement(clause.clone(), Action::Closed, here));
        }
        let forms = self.words[clause.clone()].iter().map(|word| word.form.as_str()).collect::<Vec<_>>().join(" ");
        let about = forms.contains("port condition") && (forms.contains("update") || forms.contains("status"));
        (about && !here.is_empty()).then(|| self.statement(clause.clone(), Action::Announced, here))
    }

    fn with_conditions(&self, clause: &Range<usize>, conditions: &[&Condition], found: &mut Vec<Statement>) {
        let mut previous: Option<String> = None;
        for (index, condition) in conditions.iter().enumerate() {
            let from = index.checked_sub(1).map_or(clause.start, |before| conditions[before].words.end);
            let to = conditions.get(index + 1).map_or(clause.end, |after| after.words.start);
            let lead = condition.words.start.checked_sub(1).map_or("", |at| self.form(at));
            if lead == "from" && index + 1 < conditions.len() {
                previous = Some(condition.code.clone());
                continue;
            }
            let action = self.action(condition, from..condition.words.start, condition.words.end..to);
            // The condition before is skipped where it is only what this one replaces.
            let first = index == 0 || previous.is_some();
            let mut own = if first { self.places_in(clause.start..condition.words.start) } else { Vec::new() };
            if let Some(before) = index.checked_sub(1) {
                own.extend(self.between(conditions[before], condition).1);
            }
            match conditions.get(index + 1) {
                Some(after) => own.extend(self.between(condition, after).0),
                None => own.extend(self.places_in(condition.words.end..clause.end)),
            }
            let mut seen: Vec<Place> = Vec::new();
            own.retain(|place| {
                let new = !seen.iter().any(|other| other.slug == place.slug);
                if new {
                    seen.push(place.clone());
                }
                new
            });
            let mut statement = self.statement(from..to, action, own);
            statement.code.clone_from(&condition.code);
            statement.given = self.given(condition.words.clone());
            statement.previous = previous.take();
            if statement.previous.is_some() {
                statement.action = Action::Downgraded;
            }
            found.push(statement);
        }
    }

    /// The places between two conditions of a clause: those of the first and those of the second.
    ///
    /// `X-RAY for A and YANKEE for B`: a preposition behind the first condition takes the places. `X-RAY, and A set
    /// WHISKEY`, `to ZULU and A to YANKEE`: without it they belong to the second. Of several lists the last goes to the
    /// second where a verb or `to` follows it.
    fn between(&self, first: &Condition, second: &Condition) -> (Vec<Place>, Vec<Place>) {
        let gap = first.words.end..second.words.start;
        let here: Vec<&Found> = self.named.iter().filter(|found| gap.contains(&found.words.start)).collect();
        let mut behind = first.words.end;
        while matches!(self.form(behind), "has" | "have" | "been" | "is" | "was" | "set" | "status") {
            behind += 1;
        }
        let takes =
            matches!(self.form(behind), "for" | "in" | "at" | "throughout" | "within" | "of" | "through" | "across");
        let split = here.windows(2).position(|pair| {
            let link = pair[0].words.end..pair[1].words.start;
            !link.clone().all(|at| {
                matches!(
                    self.form(at),
                    "," | "&"
                        | "and"
                        | "the"
                        | "port"
                        | "ports"
                        | "of"
                        | "sector"
                        | "sectors"
                        | "seaports"
                        | "county"
                        | "for"
                )
            })
        });
        let (mine, next) = match (takes, split) {
            (true, Some(split)) => here.split_at(split + 1),
            (true, None) => here.split_at(here.len()),
            (false, _) => here.split_at(0),
        };
        let flat = |found: &[&Found]| found.iter().flat_map(|found| found.places.clone()).collect();
        (flat(mine), flat(next))
    }

    fn places_in(&self, range: Range<usize>) -> Vec<Place> {
        let here = self.named.iter().filter(|found| range.contains(&found.words.start));
        let mut places: Vec<Place> = Vec::new();
        for place in here.flat_map(|found| &found.places) {
            if !places.iter().any(|other| other.slug == place.slug) {
                places.push(place.clone());
            }
        }
        places
    }

    fn action(&self, condition: &Condition, before: Range<usize>, after: Range<usize>) -> Action {
        let says = |range: &Range<usize>, cues: &[&str]| range.clone().any(|at| cues.contains(&self.form(at)));
        let next: Vec<&str> = after.clone().take(4).map(|at| self.form(at)).collect();
        let longer = before.clone().any(|at| self.form(at) == "longer" && matches!(self.form(at + 1), "in" | "under"));
        if longer
            || says(
                &before,
                &["lift", "lifts", "lifted", "lifting", "cancels", "canceled", "cancelled", "rescinds", "rescinded"],
            )
        {
            return Action::Lifted;
        }
        if matches!(
            next.as_slice(),
            ["has" | "have", "been", "lifted", ..] | ["is" | "was", "lifted", ..] | ["lifted", ..]
        ) {
            return Action::Lifted;
        }
        if says(
            &before,
            &["remain", "remains", "remained", "remaining", "maintain", "maintains", "still", "continues", "continue"],
        ) {
            return Action::Remains;
        }
        let ahead = [
            "will",
            "expected",
            "expects",
            "anticipates",
            "anticipate",
            "anticipating",
            "plans",
            "planning",
            "planned",
            "scheduled",
            "intends",
            "expecting",
            "should",
        ];
        if says(&before, &ahead) || matches!(next.as_slice(), ["will", ..] | ["is", "expected", ..] | ["may", ..]) {
            return Action::Planned;
        }
        if condition.modified {
            return Action::Modified;
        }
        if says(&before, &["downgrade", "downgrades", "downgraded", "lowered"]) {
            return Action::Downgraded;
        }
        let opens = ["open", "opens", "opened", "reopen", "reopens", "reopened", "reopening"];
        if relaxed(&condition.code) && (says(&before, &opens) || says(&after, &opens)) {
            return Action::Reopened;
        }
        Action::Set
    }

    fn given(&self, range: Range<usize>) -> String {
        let bytes = self.words.get(range.start).zip(self.words.get(range.end.wrapping_sub(1)));
        let bytes = bytes.map(|(first, last)| first.bytes.start..last.bytes.end);
        bytes.and_then(|bytes| self.text.get(bytes)).map(|given| given.replace("&amp;", "&")).unwrap_or_default()
    }

    fn statement(&self, range: Range<usize>, action: Action, places: Vec<Place>) -> Statement {
        let inside = self.clocks.iter().find(|clock| range.contains(&clock.words.start));
        // A time at the head of the sentence (`At 8 a.m. Friday, the ...`) is before any clause with a condition.
        let first = self.conditions.first().map_or(0, |condition| condition.words.start);
        let head = || self.clocks.first().filter(|clock| clock.words.end <= first && self.clocks.len() == 1);
        let clock = inside.or_else(head);
        Statement {
            code: String::new(),
            given: String::new(),
            action,
            previous: None,
            places,
            clock_given: clock.map(|clock| dotted(self.given(clock.words.clone()))).unwrap_or_default(),
            clock: clock.cloned(),
            closes: self
                .words
                .iter()
                .any(|word| matches!(word.form.as_str(), "closes" | "closed" | "closing" | "closure" | "closures")),
            bytes: self.sentence.bytes.clone(),
        }
    }
}

/// The words of a time with the full stop of `p.m.` at their end, which is no part of the last word.
fn dotted(given: String) -> String {
    if given.ends_with(".m") { given + "." } else { given }
}

/// Whether a condition is one of those after the storm.
pub(super) fn relaxed(code: &str) -> bool {
    matches!(code, "IV" | "V" | "NORMAL" | "SEASONAL ALERT")
}
