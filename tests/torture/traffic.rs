//! What is sent: the texts of a storm, with corrections, deletions, what comes again, what is sent twice and what can't be
//! read, moving reference times, and questions that come and go. What a key ends as only depends on the order under that
//! key, and one key goes to one partition; so what the lake must hold at the end is known here.

use std::{collections::BTreeMap, fs, path::Path};

use hypercane::{
    connect::{files, transport::RawRecord},
    publish,
};
use serde_json::{Map, Value, json};

use crate::{command::root, dice::Dice};

/// The topics that are read, in the order of [`Record::topic`].
pub const TOPICS: [&str; 3] = ["documents", "horizons", "queries"];

/// A record to be sent.
#[derive(Clone, Debug)]
pub struct Record {
    /// Which topic, an index of [`TOPICS`].
    pub topic: usize,
    pub key: String,
    pub payload: Option<Vec<u8>>,
}

/// The payload under each topic and key.
pub type Standing = BTreeMap<(usize, String), Value>;

/// Records without end.
pub struct Traffic {
    dice: Dice,
    /// What may stand under each key of each topic.
    versions: [Vec<(String, Vec<Value>)>; 3],
    /// What is sent first, so that there is a state to be lost.
    opening: Vec<(usize, String, Value)>,
    /// The last record that can be read, which is what stands under its key.
    last: Option<Record>,
    standing: Standing,
    n_garbage: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Put,
    Delete,
    Again,
    Garbage,
}

const KINDS: [(usize, Kind); 4] = [(58, Kind::Put), (22, Kind::Delete), (12, Kind::Again), (8, Kind::Garbage)];

/// Payloads that no topic takes.
const GARBAGE: [&[u8]; 5] = [b"", b"{\"text\": ", b"\xff\xfe", b"[1, 2]", b"{\"no_such_field\": 1}"];

impl Traffic {
    pub fn new(seed: u64) -> Result<Self, String> {
        let mut dice = Dice::new(seed, "traffic");
        let documents = documents(&mut dice)?;
        let queries = lines("data/demo/queries.jsonl")?.into_iter().map(|query| {
            let id = query["id"].as_str().unwrap_or_default().to_owned();
            let earlier = with(&query, "as_of", json!("2020-08-26T12:00:00Z"));
            (id, vec![query, earlier])
        });
        let versions = [documents, horizons(), queries.collect()];
        let opening = versions.iter().enumerate().flat_map(|(topic, keys)| {
            keys.iter().map(move |(key, versions)| (topic, key.clone(), versions[0].clone()))
        });
        let opening = opening.rev().collect();
        Ok(Self { dice, versions, opening, last: None, standing: Standing::new(), n_garbage: 0 })
    }

    /// What stands under each key after all that was sent.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// How many records can't be decoded.
    pub fn n_garbage(&self) -> usize {
        self.n_garbage
    }

    /// The next record.
    pub fn next(&mut self) -> Record {
        if let Some((topic, key, value)) = self.opening.pop() {
            return self.put(topic, key, value);
        }
        let topic = *self.dice.weighted(&[(80, 0), (10, 1), (10, 2)]);
        let (key, versions) = self.dice.pick(&self.versions[topic]).clone();
        match (*self.dice.weighted(&KINDS), &self.last) {
            (Kind::Put, _) => {
                let value = self.dice.pick(&versions).clone();
                self.put(topic, key, value)
            }
            (Kind::Again, Some(last)) => last.clone(),
            (Kind::Delete | Kind::Again, _) => {
                let record = Record { topic, key, payload: None };
                self.standing.remove(&(topic, record.key.clone()));
                self.last.insert(record).clone()
            }
            (Kind::Garbage, _) => {
                self.n_garbage += 1;
                Record { topic, key, payload: Some(self.dice.pick(&GARBAGE).to_vec()) }
            }
        }
    }

    fn put(&mut self, topic: usize, key: String, value: Value) -> Record {
        let record = Record { topic, key, payload: Some(value.to_string().into_bytes()) };
        self.standing.insert((topic, record.key.clone()), value);
        self.last.insert(record).clone()
    }
}

fn with(value: &Value, field: &str, new: Value) -> Value {
    let mut changed = value.clone();
    changed[field] = new;
    changed
}

fn lines(path: &str) -> Result<Vec<Value>, String> {
    let text = fs::read_to_string(root().join(path)).map_err(|e| format!("{path}: {e}"))?;
    text.lines().map(|line| serde_json::from_str(line).map_err(|e| format!("{path}: {e}"))).collect()
}

/// The demonstration's storm, and a few texts of another one where real ones are at hand.
fn documents(dice: &mut Dice) -> Result<Vec<(String, Vec<Value>)>, String> {
    let mut keys: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in lines("data/demo/feed.jsonl")? {
        let (Some(key), Some(file)) = (line["key"].as_str(), line["file"].as_str()) else { continue };
        let path = root().join("data/demo").join(file);
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let fields = line["value"].as_object().cloned().unwrap_or_else(Map::new);
        keys.entry(key.to_owned()).or_default().push(with(&Value::Object(fields), "text", text.into()));
    }
    keys.extend(real(dice)?);
    for versions in keys.values_mut() {
        for _ in 0..2 {
            let other = dice.pick(versions);
            let text = other["text"].as_str().unwrap_or_default();
            let changed = with(other, "text", corrected(dice, text).into());
            versions.push(changed);
        }
    }
    Ok(keys.into_iter().collect())
}

/// One digit of a text is another one. Where the product can't be read any more, that is one more reject.
fn corrected(dice: &mut Dice, text: &str) -> String {
    let digits: Vec<usize> = text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
    if digits.is_empty() {
        return format!("{text}\nCORRECTED");
    }
    let at = *dice.pick(&digits);
    format!("{}{}{}", &text[..at], dice.below(10), &text[at + 1..])
}

/// Some advisories of a real storm.
fn real(dice: &mut Dice) -> Result<Vec<(String, Vec<Value>)>, String> {
    let Some(folder) = shared() else { return Ok(Vec::new()) };
    let storm = *dice.pick(&["al092017_harvey", "al142018_michael", "al182012_sandy"]);
    let path = folder.join("data/cyclone/nhc").join(storm).join("tcm_0[1-2]*.txt");
    let settings = files::Settings::once([path.to_string_lossy()]).map_err(|e| e.to_string())?;
    let records = publish::read(settings).map_err(|e| e.to_string())?.records;
    let value = |record: &RawRecord| {
        let key = String::from_utf8_lossy(record.key.as_deref()?).into_owned();
        Some((key, serde_json::from_slice(record.payload.as_deref()?).ok()?))
    };
    let all: Vec<(String, Value)> = records.iter().filter_map(value).collect();
    // A few are enough: each start works off all that stand.
    Ok(all.into_iter().step_by(2).take(8).map(|(key, value)| (key, vec![value])).collect())
}

/// The folder of shared data: as named by the environment, else beside the checkout.
fn shared() -> Option<std::path::PathBuf> {
    let named = std::env::var_os("HYPERCANE_SHARED").map(Into::into);
    let folder = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    folder.join("data/cyclone/nhc").is_dir().then_some(folder)
}

/// Expected times of landfall and of closings, as they move.
fn horizons() -> Vec<(String, Vec<Value>)> {
    let of = |group: &str, event: &str| {
        let at = |hour: usize| {
            json!({
                "group": group, "reference_event": event,
                "reference_at": format!("2020-08-27T{hour:02}:00:00Z"), "issued_at": "2020-08-26T15:00:00Z",
            })
        };
        (group.to_owned(), [0, 6, 7, 18].map(at).to_vec())
    };
    vec![
        of("AL132020", "landfall"),
        of("AL132020:port_arthur_tx", "closing"),
        of("AL132020:lake_charles_la", "closing"),
        of("AL132020:houston_tx", "closing"),
    ]
}
