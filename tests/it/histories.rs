//! Random histories of a whole pipeline, and the scripts that they come down to, in the session format.
//!
//! ```text
//! feed advisory {"key":"a","storm":1,"number":2}
//! feed horizon {"storm":1,"hours":24}
//! tick
//! retract document "a"
//! retract horizon 1
//! tick
//! ```

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{Document, DocumentKey, GroupKey, HorizonUpdate, Mode, Query, QueryId, QueryParameters};
use jiff::{SignedDuration, Timestamp};
use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any, prop_oneof},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{harness, hypergraph::forecast_advisory, session::Line};

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a session feeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Given {
    Advisory(Advisory),
    Scenario(Scenario),
    Horizon(Reference),
    Query(Asked),
}

/// A forecast/advisory. Storms 1 and 2 are Alder and Birch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Advisory {
    pub key: String,
    pub storm: u8,
    /// Its number, by which it is issued six hours after the one before.
    pub number: u8,
    /// Zero for the first issue.
    #[serde(skip_serializing_if = "is_default")]
    pub correction: u8,
    #[serde(skip_serializing_if = "is_default")]
    pub wind: u8,
    #[serde(skip_serializing_if = "is_default")]
    pub drift: u8,
    /// Whether its text is cut in the middle of the head.
    #[serde(skip_serializing_if = "is_default")]
    pub spoilt: bool,
    /// Hours before the reference event that the sender states.
    #[serde(skip_serializing_if = "is_default")]
    pub horizon: Option<u16>,
    /// The document that it replaces by name.
    #[serde(skip_serializing_if = "is_default")]
    pub supersedes: Option<String>,
}

/// A document in parts by horizon.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    pub key: String,
    pub parts: Vec<Advisory>,
    /// Whether it says the same words under two horizons more.
    #[serde(skip_serializing_if = "is_default")]
    pub repeated: bool,
}

/// The reference time of a storm, in hours after 2020-08-12 00:00 UTC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reference {
    pub storm: u8,
    pub hours: i64,
}

/// A question, and the day of August 2020 at noon of which it is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    pub id: String,
    pub asks: String,
    #[serde(skip_serializing_if = "is_default")]
    pub as_of: Option<u8>,
}

/// What a session retracts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    Document(String),
    Horizon(u8),
    Query(String),
}

/// A change of the input, as a session tells it.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Feed(Given),
    Retract(Key),
}

/// The changes of each epoch.
pub type Script = Vec<Vec<Change>>;

impl Advisory {
    fn text(&self) -> String {
        let mut text = forecast_advisory(self.storm, self.number, self.correction, self.wind, self.drift);
        if self.spoilt {
            text.truncate(120);
        }
        text
    }

    /// Without what decides which document it is.
    fn said(&self) -> Self {
        Self { key: String::new(), supersedes: None, ..self.clone() }
    }
}

impl Scenario {
    fn text(&self) -> String {
        let headed =
            |(idx, part): (usize, &Advisory)| format!("T-{} hours before landfall:\n{}\n", 72 - 24 * idx, part.text());
        let mut text: String = self.parts.iter().enumerate().map(headed).collect();
        if self.repeated {
            for hours in [12, 6] {
                text.push_str(&format!(
                    "T-{hours} hours before landfall: Port Condition ZULU is set for the Port of Houston.\n"
                ));
            }
        }
        text
    }
}

fn group(storm: u8) -> GroupKey {
    GroupKey(format!("AL{storm:02}2020"))
}

impl Given {
    fn key(&self) -> Key {
        match self {
            Self::Advisory(advisory) => Key::Document(advisory.key.clone()),
            Self::Scenario(scenario) => Key::Document(scenario.key.clone()),
            Self::Horizon(reference) => Key::Horizon(reference.storm),
            Self::Query(asked) => Key::Query(asked.id.clone()),
        }
    }

    fn step(&self) -> harness::Step {
        match self {
            Self::Advisory(advisory) => {
                let mut document = Document::plain(advisory.key.clone(), advisory.text());
                document.horizon_hours = advisory.horizon;
                document.supersedes = advisory.supersedes.clone().map(DocumentKey);
                harness::Step::Document(document.key.clone(), Some(document))
            }
            Self::Scenario(scenario) => {
                let document = Document::plain(scenario.key.clone(), scenario.text());
                harness::Step::Document(document.key.clone(), Some(document))
            }
            Self::Horizon(reference) => {
                let group = group(reference.storm);
                let issued_at: Timestamp = "2020-08-12T00:00Z".parse().unwrap();
                let update = HorizonUpdate {
                    group: group.clone(),
                    reference_event: "landfall".into(),
                    reference_at: issued_at + SignedDuration::from_hours(reference.hours),
                    issued_at,
                };
                harness::Step::Horizon(group, Some(update))
            }
            Self::Query(asked) => {
                let id = QueryId(asked.id.clone());
                let query = Query {
                    id: id.clone(),
                    question: asked.asks.clone(),
                    mode: Mode::Trajectory,
                    group: None,
                    as_of: asked.as_of.map(|day| format!("2020-08-{day}T12:00Z").parse().unwrap()),
                    parameters: QueryParameters { seeds: 12, candidates: 20, length: 4, ..QueryParameters::default() },
                };
                harness::Step::Query(id, Some(query))
            }
        }
    }
}

impl Change {
    /// The change as the harness takes it.
    pub fn step(&self) -> harness::Step {
        match self {
            Self::Feed(given) => given.step(),
            Self::Retract(Key::Document(key)) => harness::Step::Document(DocumentKey(key.clone()), None),
            Self::Retract(Key::Horizon(storm)) => harness::Step::Horizon(group(*storm), None),
            Self::Retract(Key::Query(id)) => harness::Step::Query(QueryId(id.clone()), None),
        }
    }
}

/// A step of a random history.
#[derive(Clone, Debug)]
enum Step {
    Change(Change),
    /// Of the documents that were fed so far, one more time.
    Again(u8, How),
}

/// How a document is fed again.
#[derive(Clone, Debug)]
enum How {
    /// As it was.
    Same,
    /// Under another key.
    Under(String),
    /// As a correction, under another key.
    Corrected(String),
    /// As it was, if it was retracted.
    Back,
}

/// A random history: steps, each with the number of epochs that end after it.
#[derive(Clone, Debug)]
pub struct History(Vec<(Step, u8)>);

fn document_key() -> impl Strategy<Value = String> {
    (0..6_u8).prop_map(|key| format!("doc-{key}"))
}

fn advisory() -> impl Strategy<Value = Advisory> {
    let text = (1..=2_u8, 1..=5_u8, prop_oneof![3 => Just(0_u8), 1 => Just(1)], 0..=2_u8, 0..=1_u8);
    let spoilt = prop_oneof![9 => Just(false), 1 => Just(true)];
    let horizon = prop_oneof![3 => Just(None), 1 => (1..=4_u16).prop_map(|n| Some(n * 12))];
    let supersedes = prop_oneof![9 => Just(None), 1 => document_key().prop_map(Some)];
    (document_key(), text, spoilt, horizon, supersedes).prop_map(
        |(key, (storm, number, correction, wind, drift), spoilt, horizon, supersedes)| Advisory {
            key,
            storm,
            number,
            correction,
            wind,
            drift,
            spoilt,
            horizon,
            supersedes,
        },
    )
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let part = (1..=2_u8, 1..=5_u8, 0..=2_u8, prop_oneof![5 => Just(false), 1 => Just(true)]);
    let part =
        part.prop_map(|(storm, number, wind, spoilt)| Advisory { storm, number, wind, spoilt, ..Advisory::default() });
    (0..2_u8, vec(part, 1..4), any::<bool>()).prop_map(|(key, parts, repeated)| Scenario {
        key: format!("scenario-{key}"),
        parts,
        repeated,
    })
}

/// Questions that name a storm, an advisory, a trend; one that names nothing and is answered by cosine alone.
const QUESTIONS: [&str; 5] = [
    "What is the maximum wind of Alder in advisory 3?",
    "How did the pressure of Hurricane Birch change?",
    "Where is Birch forecast to be at 12 UTC on 14 August 2020?",
    "Alder or Birch: which was stronger two days before landfall?",
    "how far do gales reach",
];

fn step() -> impl Strategy<Value = Step> {
    let feed = |given| Step::Change(Change::Feed(given));
    let retract = |key| Step::Change(Change::Retract(key));
    let again = prop_oneof![
        Just(How::Same),
        document_key().prop_map(How::Under),
        document_key().prop_map(How::Corrected),
        Just(How::Back),
    ];
    let as_of = prop_oneof![2 => Just(None), 1 => (10..13_u8).prop_map(Some)];
    let query = (0..3_u8, 0..QUESTIONS.len(), as_of).prop_map(|(id, question, as_of)| {
        Given::Query(Asked { id: format!("query-{id}"), asks: QUESTIONS[question].into(), as_of })
    });
    let reference =
        (1..=2_u8, 0..=3_i64).prop_map(|(storm, at)| Given::Horizon(Reference { storm, hours: 24 + 7 * at }));
    prop_oneof![
        8 => advisory().prop_map(move |advisory| feed(Given::Advisory(advisory))),
        6 => (any::<u8>(), again).prop_map(|(of, how)| Step::Again(of, how)),
        4 => document_key().prop_map(move |key| retract(Key::Document(key))),
        1 => scenario().prop_map(move |scenario| feed(Given::Scenario(scenario))),
        1 => (0..2_u8).prop_map(move |key| retract(Key::Document(format!("scenario-{key}")))),
        2 => reference.prop_map(feed),
        1 => (1..=2_u8).prop_map(move |storm| retract(Key::Horizon(storm))),
        3 => query.prop_map(feed),
        1 => (0..3_u8).prop_map(move |id| retract(Key::Query(format!("query-{id}")))),
    ]
}

/// Histories; simpler are shorter.
pub fn histories() -> impl Strategy<Value = History> {
    let ticks = prop_oneof![5 => Just(0_u8), 3 => Just(1), 1 => Just(2)];
    vec((step(), ticks), 1..20).prop_map(History)
}

impl History {
    /// What it comes down to.
    pub fn script(&self) -> Script {
        let (mut fed, mut gone): (Vec<Given>, Vec<Given>) = Default::default();
        let mut epochs = vec![Vec::new()];
        for (step, ticks) in &self.0 {
            let change = match step {
                Step::Change(change) => Some(change.clone()),
                Step::Again(of, how) => again(&fed, &gone, usize::from(*of), how).map(Change::Feed),
            };
            match &change {
                Some(Change::Feed(given @ (Given::Advisory(_) | Given::Scenario(_)))) => fed.push(given.clone()),
                Some(Change::Retract(key)) => gone.extend(fed.iter().rfind(|given| given.key() == *key).cloned()),
                _ => {}
            }
            if let Some(epoch) = epochs.last_mut() {
                epoch.extend(change);
            }
            epochs.extend((0..*ticks).map(|_| Vec::new()));
        }
        epochs
    }
}

/// A document out of those that were fed, or of those that are gone.
fn again(fed: &[Given], gone: &[Given], of: usize, how: &How) -> Option<Given> {
    let from = if matches!(how, How::Back) { gone } else { fed };
    let mut given = from.get(of % from.len().max(1))?.clone();
    if let (Given::Advisory(advisory), How::Under(key) | How::Corrected(key)) = (&mut given, how) {
        advisory.key = key.clone();
        advisory.correction += u8::from(matches!(how, How::Corrected(_)));
    }
    Some(given)
}

/// The kinds of steps that random histories are made of.
pub const KINDS: [&str; 14] = [
    "insert",
    "change",
    "delete",
    "re-insert",
    "late",
    "duplicate",
    "corrected",
    "superseded",
    "horizon set",
    "horizon moves",
    "horizon goes",
    "query added",
    "query changed",
    "query removed",
];

/// Of which kinds the steps of a script are, with how many of each. A step may be of several, and of none where it takes
/// away what is not there.
pub fn kinds(script: &Script) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    let mut standing: BTreeMap<Key, Given> = BTreeMap::new();
    let mut was_there: BTreeSet<String> = BTreeSet::new();
    for change in script.iter().flatten() {
        let mut found: Vec<&str> = Vec::new();
        match change {
            Change::Retract(key) => {
                if standing.remove(key).is_some() {
                    found.push(match key {
                        Key::Document(_) => "delete",
                        Key::Horizon(_) => "horizon goes",
                        Key::Query(_) => "query removed",
                    });
                }
            }
            Change::Feed(given) => {
                let (key, former) = (given.key(), standing.get(&given.key()));
                let again = !was_there.insert(format!("{given:?}"));
                let [new, moved] = match key {
                    Key::Document(_) if again => ["re-insert", "change"],
                    Key::Document(_) => ["insert", "change"],
                    Key::Horizon(_) => ["horizon set", "horizon moves"],
                    Key::Query(_) => ["query added", "query changed"],
                };
                found.push(match former {
                    None => new,
                    Some(former) if former == given => "duplicate",
                    Some(_) => moved,
                });
                if let Given::Advisory(advisory) = given {
                    let others = || {
                        standing.values().filter_map(|other| match other {
                            Given::Advisory(other) if other.key != advisory.key => Some(other),
                            _ => None,
                        })
                    };
                    let of_storm = || others().filter(|other| other.storm == advisory.storm && !other.spoilt);
                    let corrects =
                        |other: &Advisory| other.number == advisory.number && other.correction < advisory.correction;
                    found.extend(others().any(|other| other.said() == advisory.said()).then_some("duplicate"));
                    found.extend(of_storm().any(|other| other.number > advisory.number).then_some("late"));
                    found.extend(of_storm().any(corrects).then_some("corrected"));
                    let replaces = |other: &Advisory| Some(&other.key) == advisory.supersedes.as_ref();
                    found.extend(others().any(replaces).then_some("superseded"));
                }
                standing.insert(key, given.clone());
            }
        }
        for kind in found {
            *counts.entry(kind).or_default() += 1;
        }
    }
    counts
}

/// The script as a session.
pub fn to_session(script: &Script) -> Vec<Line> {
    let tagged = |row: Value| {
        let Value::Object(row) = row else { panic!("a row has its kind as the one key") };
        row.into_iter().next().expect("it has one key")
    };
    let mut session = Vec::new();
    for epoch in script {
        for change in epoch {
            session.push(match change {
                Change::Feed(given) => {
                    let (kind, row) = tagged(json!(given));
                    Line::Feed(kind, row)
                }
                Change::Retract(key) => {
                    let (kind, key) = tagged(json!(key));
                    Line::Retract(kind, key)
                }
            });
        }
        session.push(Line::Tick);
    }
    session
}

/// Reads a session, and how many hyperedges should stand after how many epochs.
///
/// # Errors
/// A row is none of its kind, or the session has a word that is none of a pipeline's.
pub fn from_session(session: &[Line]) -> Result<(Script, Vec<(usize, usize)>), String> {
    fn read<R: DeserializeOwned>(kind: &str, row: &Value) -> Result<R, String> {
        serde_json::from_value(json!({ kind: row })).map_err(|e| format!("{row} is no {kind}: {e}"))
    }
    let (mut script, mut expected, mut epoch) = (Script::new(), Vec::new(), Vec::new());
    for line in session {
        match line {
            Line::Remark(_) => {}
            Line::Setting(word, _) => return Err(format!("`{word}` is no word of a session of a pipeline")),
            Line::Feed(kind, row) => epoch.push(Change::Feed(read(kind, row)?)),
            Line::Retract(kind, key) => epoch.push(Change::Retract(read(kind, key)?)),
            Line::Tick => script.push(std::mem::take(&mut epoch)),
            Line::Expect(n_rows) => expected.push((script.len(), *n_rows)),
        }
    }
    if !epoch.is_empty() {
        return Err("the last epoch has no `tick`".into());
    }
    Ok((script, expected))
}
