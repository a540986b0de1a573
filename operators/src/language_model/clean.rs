//! Bounds of what one answer may say. A model that runs in a circle repeats a record a hundred times; each counts once.

use std::{collections::BTreeMap, fmt};

use hypercane_schemas::{EntityKey, text};

use super::{Answer, EntityRecord, HyperedgeRecord, RelationRecord, facts::entity_key};
use crate::{domain::slug, kernel::normalise_relation::label_form};

/// Most entities of one passage.
pub const MOST_ENTITIES: usize = 256;
/// Most hyperedges of one passage.
pub const MOST_HYPEREDGES: usize = 256;
/// Most directed relations of one passage.
pub const MOST_RELATIONS: usize = 512;
/// Most entities of one hyperedge.
pub const MOST_PARTICIPANTS: usize = 32;
/// Most other names of one entity.
const MOST_ALIASES: usize = 16;
/// Longest name, type, role and relation, in characters.
const LONGEST_NAME: usize = 200;
/// Longest statement and description, in characters.
const LONGEST_TEXT: usize = 2_000;

/// How much of an answer was left out, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Records, names and aliases that were there before. They are no loss.
    pub repeated: usize,
    /// Without a name, a text or a relation, or a relation of a thing with itself.
    pub empty: usize,
    /// Longer than a name or a statement can be.
    pub too_long: usize,
    /// Beyond the number that one passage may have.
    pub too_many: usize,
    /// Of confidence zero.
    pub unsure: usize,
}

impl Dropped {
    /// How many in all, repetitions too.
    pub fn total(&self) -> usize {
        self.repeated + self.lost()
    }

    /// How many that were no repetition.
    pub fn lost(&self) -> usize {
        self.empty + self.too_long + self.too_many + self.unsure
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.empty, "empty or of a thing with itself"),
            (self.too_long, "too long"),
            (self.too_many, "beyond the bound of one passage"),
            (self.unsure, "of confidence zero"),
            (self.repeated, "repeated"),
        ];
        let told: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")).collect();
        f.write_str(&told.join(", "))
    }
}

/// The answer with folded white space, each record once, within the bounds.
pub(super) fn clean(answer: Answer) -> (Answer, Dropped) {
    let mut dropped = Dropped::default();
    let entities = entities(answer.entities, &mut dropped);
    let hyperedges = hyperedges(answer.hyperedges, &mut dropped);
    let relations = relations(answer.relations, &mut dropped);
    (Answer { entities, hyperedges, relations }, dropped)
}

fn entities(records: Vec<EntityRecord>, dropped: &mut Dropped) -> Vec<EntityRecord> {
    let mut places: BTreeMap<EntityKey, usize> = BTreeMap::new();
    let mut kept: Vec<EntityRecord> = Vec::new();
    for mut record in records {
        record.name = text::canonical(&record.name);
        record.kind = text::canonical(&record.kind);
        record.role = text::canonical(&record.role);
        record.desc = text::canonical(&record.desc);
        let is_long = is_longer(&record.desc, LONGEST_TEXT)
            || [&record.name, &record.kind, &record.role].iter().any(|name| is_longer(name, LONGEST_NAME));
        if !usable(&[&record.name], is_long, record.conf, dropped) {
            continue;
        }
        let aliases = std::mem::take(&mut record.alias);
        let key = entity_key(&record.name);
        let entity = match places.get(&key) {
            Some(&place) => {
                dropped.repeated += 1;
                let entity = &mut kept[place];
                // A second record of the same thing may know what the first did not say.
                for (of, by) in [(&mut entity.kind, record.kind), (&mut entity.desc, record.desc)] {
                    if of.is_empty() {
                        *of = by;
                    }
                }
                entity.conf = entity.conf.max(record.conf);
                entity
            }
            None if kept.len() == MOST_ENTITIES => {
                dropped.too_many += 1;
                continue;
            }
            None => {
                places.insert(key, kept.len());
                kept.push(record);
                kept.last_mut().expect("one was just pushed")
            }
        };
        add_aliases(entity, aliases, dropped);
    }
    kept
}

fn add_aliases(entity: &mut EntityRecord, aliases: Vec<String>, dropped: &mut Dropped) {
    for alias in aliases {
        let alias = text::canonical(&alias);
        if alias.is_empty() {
            dropped.empty += 1;
        } else if is_longer(&alias, LONGEST_NAME) {
            dropped.too_long += 1;
        } else if alias == entity.name || entity.alias.contains(&alias) {
            dropped.repeated += 1;
        } else if entity.alias.len() == MOST_ALIASES {
            dropped.too_many += 1;
        } else {
            entity.alias.push(alias);
        }
    }
}

fn hyperedges(records: Vec<HyperedgeRecord>, dropped: &mut Dropped) -> Vec<HyperedgeRecord> {
    let mut kept: BTreeMap<(String, String, Vec<String>), usize> = BTreeMap::new();
    let mut hyperedges: Vec<HyperedgeRecord> = Vec::new();
    for record in records {
        let text = text::canonical(&record.text);
        let relation = text::canonical(&record.relation);
        let is_long = is_longer(&text, LONGEST_TEXT) || is_longer(&relation, LONGEST_NAME);
        if !usable(&[&text, &relation], is_long, record.conf, dropped) {
            continue;
        }
        let names = names(record.entities, dropped);
        let mut keys: Vec<String> = names.iter().map(|name| entity_key(name).0).collect();
        keys.sort_unstable();
        let identity = (text.clone(), label_form(&relation), keys);
        if let Some(&place) = kept.get(&identity) {
            dropped.repeated += 1;
            hyperedges[place].conf = hyperedges[place].conf.max(record.conf);
        } else if hyperedges.len() == MOST_HYPEREDGES {
            dropped.too_many += 1;
        } else {
            kept.insert(identity, hyperedges.len());
            hyperedges.push(HyperedgeRecord { text, entities: names, relation, conf: record.conf });
        }
    }
    hyperedges
}

/// Names of participants, each once.
fn names(given: Vec<String>, dropped: &mut Dropped) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in given {
        let name = text::canonical(&name);
        if name.is_empty() {
            dropped.empty += 1;
        } else if is_longer(&name, LONGEST_NAME) {
            dropped.too_long += 1;
        } else if names.iter().any(|known| is_same_name(known, &name)) {
            dropped.repeated += 1;
        } else if names.len() == MOST_PARTICIPANTS {
            dropped.too_many += 1;
        } else {
            names.push(name);
        }
    }
    names
}

fn relations(records: Vec<RelationRecord>, dropped: &mut Dropped) -> Vec<RelationRecord> {
    let mut kept: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    let mut relations: Vec<RelationRecord> = Vec::new();
    for record in records {
        let [from, to, label] = [&record.from, &record.to, &record.label].map(|part| text::canonical(part));
        let is_long = [&from, &to, &label].iter().any(|name| is_longer(name, LONGEST_NAME));
        if !usable(&[&from, &to, &label], is_long, record.conf, dropped) {
            continue;
        }
        let identity = (entity_key(&from).0, entity_key(&to).0, label_form(&label));
        if is_same_name(&from, &to) {
            dropped.empty += 1;
        } else if let Some(&place) = kept.get(&identity) {
            dropped.repeated += 1;
            relations[place].conf = relations[place].conf.max(record.conf);
        } else if relations.len() == MOST_RELATIONS {
            dropped.too_many += 1;
        } else {
            kept.insert(identity, relations.len());
            relations.push(RelationRecord { from, to, label, conf: record.conf });
        }
    }
    relations
}

/// Whether two names differ in letter case, accents and punctuation only.
pub(super) fn is_same_name(a: &str, b: &str) -> bool {
    let (form, other) = (slug(a), slug(b));
    // Names of signs alone (`∞`) have no words; they stand for themselves.
    if form.is_empty() { a == b } else { form == other }
}

/// Whether a record can be kept; what can't is counted.
fn usable(needed: &[&str], is_long: bool, conf: f64, dropped: &mut Dropped) -> bool {
    if needed.iter().any(|text| text.is_empty()) {
        dropped.empty += 1;
    } else if is_long {
        dropped.too_long += 1;
    } else if conf == 0.0 {
        dropped.unsure += 1;
    } else {
        return true;
    }
    false
}

fn is_longer(text: &str, most: usize) -> bool {
    // Bytes bound characters from above, so that most texts are not counted.
    text.len() > most && text.chars().nth(most).is_some()
}

#[cfg(test)]
mod tests {
    use super::{Answer, EntityRecord, HyperedgeRecord, MOST_ENTITIES, MOST_PARTICIPANTS, RelationRecord, clean};

    fn entity(name: &str) -> EntityRecord {
        EntityRecord { name: name.into(), kind: "person".into(), conf: 0.5, ..EntityRecord::default() }
    }

    fn hyperedge(text: &str, entities: &[&str]) -> HyperedgeRecord {
        let entities = entities.iter().map(|&name| name.into()).collect();
        HyperedgeRecord { text: text.into(), entities, relation: "knows".into(), conf: 0.5 }
    }

    #[test]
    fn a_hundred_repetitions_count_once() {
        let answer = Answer {
            entities: vec![entity("Ada"); 100],
            hyperedges: vec![hyperedge("Ada knows Bob.", &["Ada", "Bob", "ada "]); 100],
            relations: vec![
                RelationRecord { from: "Ada".into(), to: "Bob".into(), label: "knows".into(), conf: 0.5 };
                100
            ],
        };
        let (kept, dropped) = clean(answer);
        assert_eq!((kept.entities.len(), kept.hyperedges.len(), kept.relations.len()), (1, 1, 1));
        assert_eq!(kept.hyperedges[0].entities, ["Ada", "Bob"]);
        // Each of the hundred hyperedges names a participant twice.
        assert_eq!((dropped.repeated, dropped.lost()), (99 + 100 + 99 + 99, 0));
    }

    #[test]
    fn what_is_too_long_too_many_or_empty_goes_and_is_counted() {
        let long = "x".repeat(201);
        let names: Vec<String> = (0..MOST_PARTICIPANTS + 3).map(|n| format!("n{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let many = (0..MOST_ENTITIES + 7).map(|n| entity(&format!("e{n}")));
        let answer = Answer {
            entities: [entity(&long), entity(" ")].into_iter().chain(many).collect(),
            hyperedges: vec![
                hyperedge("All.", &names),
                hyperedge(&"y".repeat(2_001), &["a", "b"]),
                HyperedgeRecord { conf: 0.0, ..hyperedge("Zero.", &["a", "b"]) },
            ],
            relations: vec![RelationRecord { from: "a".into(), to: "A".into(), label: "is".into(), conf: 1.0 }],
        };
        let (kept, dropped) = clean(answer);
        assert_eq!(kept.entities.len(), MOST_ENTITIES);
        assert_eq!(kept.hyperedges.len(), 1);
        assert_eq!(kept.hyperedges[0].entities.len(), MOST_PARTICIPANTS);
        assert_eq!((dropped.too_long, dropped.too_many, dropped.empty, dropped.unsure), (2, 7 + 3, 2, 1));
        let told = dropped.to_string();
        assert!(told.contains("2 too long") && !told.contains("repeated"), "{told}");
    }

    #[test]
    fn a_second_record_of_an_entity_adds_what_the_first_left_out() {
        let second =
            EntityRecord { desc: "A writer.".into(), alias: vec!["Ada L.".into()], conf: 0.9, ..entity("ADA") };
        let (kept, _) = clean(Answer { entities: vec![entity("Ada"), second], ..Answer::default() });
        let [ada] = &kept.entities[..] else { panic!("{kept:?}") };
        assert_eq!((ada.name.as_str(), ada.desc.as_str(), ada.conf), ("Ada", "A writer.", 0.9));
        assert_eq!(ada.alias, ["Ada L."]);
    }
}
