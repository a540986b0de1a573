//! Sentences that tell vessels, facilities or mariners what is allowed, required or advised.

use hypercane_schemas::Span;

use super::places::Place;
use super::report::Report;
use super::words::Sentence;

/// A rule is told of each place only up to this many; of more, it is told once for all.
const MOST_PLACES: usize = 2;

const VESSELS: [&str; 28] = [
    "vessel",
    "vessels",
    "mariner",
    "mariners",
    "boater",
    "boaters",
    "craft",
    "crafts",
    "barge",
    "barges",
    "tug",
    "tugs",
    "ship",
    "ships",
    "anchorage",
    "anchorages",
    "epirb",
    "mooring",
    "moored",
    "lightering",
    "drawbridges",
    "traffic",
    "waterway",
    "waterways",
    "transit",
    "pilots",
    "maritime",
    "arrival",
];
const FACILITIES: [&str; 14] = [
    "cargo",
    "transfer",
    "facility",
    "facilities",
    "terminal",
    "bunkering",
    "dredging",
    "operations",
    "open",
    "opened",
    "closed",
    "reopen",
    "resume",
    "assessments",
];
const RELIEF: [&str; 8] = ["open", "opened", "reopen", "reopened", "resume", "lifted", "normal", "completed"];

/// Adds what a sentence rules for `places`. `said` tells that the sentence already gave a condition.
pub(super) fn rules(text: &str, sentence: &Sentence, places: &[Place], said: bool, report: &mut Report) {
    if sentence.chatter {
        return;
    }
    let has = |cues: &[&str]| sentence.words.iter().any(|word| cues.contains(&word.form.as_str()));
    let (vessels, facilities) = (has(&VESSELS), has(&FACILITIES));
    // A sentence that sets a condition is a rule too only where it goes on to speak of traffic or vessels.
    let rules = if said {
        vessels && has(&["traffic", "vessel", "vessels", "restrictions", "restricted", "transit"])
    } else {
        vessels || facilities
    };
    let n_words = sentence.words.iter().filter(|word| !word.is_mark()).count();
    if !rules || n_words < 4 {
        return;
    }
    let Some(words) = text.get(sentence.bytes.clone()) else { return };
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ").replace("&amp;", "&");
    let (relation, attribute) = match (vessels, has(&RELIEF) && !has(&["while", "closed"])) {
        (true, _) => ("affects_vessel_handling", "vessel_rule"),
        (false, true) => ("has_recovery_status", "facility_rule"),
        (false, false) => ("has_operation_status", "facility_rule"),
    };
    let span = Span::new(sentence.bytes.start, sentence.bytes.end);
    if places.is_empty() || places.len() > MOST_PLACES {
        report.rule(relation, attribute, &words, span, places);
        return;
    }
    for place in places {
        report.rule(relation, attribute, &words, span, std::slice::from_ref(place));
    }
}
