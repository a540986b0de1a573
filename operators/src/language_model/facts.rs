//! From a recorded answer to facts.

use std::collections::BTreeMap;

use hypercane_schemas::{DirectedRelation, Document, EntityKey, Fixed, GroupKey, Origin, Span};

use super::{Answer, EntityRecord, clean::is_same_name, read};
use crate::{
    extraction::{Extraction, Fact, Failure, Mention},
    grammar::statements,
    kernel::{Chunk, normalise_relation::label_form},
    language::date_key,
};

/// Type of an entity that the answer names without a record of its own, or without a type.
const UNTYPED: &str = statements::CONCEPT;
/// Role of a participant whose record says none.
const PARTICIPANT: &str = "participant";
/// Role of the document's title, where it takes the second place in a fact of one.
const TOPIC: &str = "topic";

/// The key of a thing that is known by its name alone, as the general extractor has it: letter case, accents, articles and
/// what stands in brackets behind it do not count.
pub fn entity_key(name: &str) -> EntityKey {
    statements::name_entity(name)
}

/// Whether a mention names something that other texts may name too: all that an answer names, but not the title or the
/// document itself.
pub(crate) fn is_name(mention: &Mention) -> bool {
    mention.role != TOPIC && mention.kind != statements::DOCUMENT
}

/// What an answer says of the things that it names.
struct Records<'a>(BTreeMap<EntityKey, &'a EntityRecord>);

impl<'a> Records<'a> {
    fn of(answer: &'a Answer) -> Self {
        Self(answer.entities.iter().map(|record| (entity_key(&record.name), record)).collect())
    }

    /// The type that an answer gives a thing.
    fn kind(&self, name: &str) -> String {
        given(self.0.get(&entity_key(name)).map(|record| &record.kind), UNTYPED)
    }

    /// The key of what an answer names, by its type: dates and amounts have keys of their own. Where no type is given,
    /// what is a date to its year is one.
    fn key(&self, name: &str) -> EntityKey {
        let kind = self.kind(name);
        let kind = if kind == UNTYPED && date_key(name).is_some() { "date" } else { &kind };
        statements::key(name, kind).map_or_else(|| entity_key(name), EntityKey)
    }

    fn mention(&self, name: &str) -> Mention {
        let record = self.0.get(&entity_key(name)).copied();
        Mention {
            entity: self.key(name),
            name: record.map_or_else(|| name.to_owned(), |record| record.name.clone()),
            kind: self.kind(name),
            role: given(record.map(|record| &record.role), PARTICIPANT),
            aliases: record.map(|record| record.alias.clone()).unwrap_or_default(),
            description: record.map(|record| record.desc.clone()).unwrap_or_default(),
        }
    }
}

/// A label of a record in its form, or what stands for one that is not given.
fn given(label: Option<&String>, otherwise: &str) -> String {
    let label = label.map(|label| label_form(label)).unwrap_or_default();
    if label.is_empty() { otherwise.to_owned() } else { label }
}

/// What a recorded answer says of the chunk that it was given for. Places are bytes and lines of the chunk's text.
///
/// A hyperedge whose words stand in the text has their place, any other that of the whole chunk. A directed relation
/// belongs to every hyperedge that has both its ends; one that has none is a fact of its own. A fact with one participant
/// gets the document's title as the second; one of two names of one thing, the document. What is lost (see [`super::Dropped`]) is one failure of the chunk.
///
/// # Errors
/// The answer is malformed; the model was asked to repair it before it was recorded.
pub fn extraction(answer: &str, chunk: &Chunk) -> Result<Extraction, Failure> {
    let failed = |reason: String| Failure { line: 1, reason };
    let reading = read(answer).map_err(|malformed| {
        let when = if malformed.can_be_repaired { ", also after it was asked to repair it" } else { "" };
        failed(format!("the language model's answer can't be used{when}: {}", malformed.reason))
    })?;
    let document = &chunk.document;
    let (mut facts, n_alone) = facts(&reading.answer, document);
    // The chunk before states what stands in the overlap.
    facts.retain(|fact| fact.span.end > chunk.overlap);
    let mut failures = Vec::new();
    if reading.dropped.lost() > 0 {
        failures.push(failed(format!("parts of the language model's answer were left out: {}", reading.dropped)));
    }
    if n_alone > 0 {
        let reason = format!("{n_alone} facts of the language model's answer have fewer than two participants");
        failures.push(failed(reason));
    }
    Ok(Extraction { product: None, issued_at: document.issued_at, facts, failures })
}

/// The facts, and how many could not be one for want of participants.
fn facts(answer: &Answer, document: &Document) -> (Vec<Fact>, usize) {
    let records = Records::of(answer);
    let title = document.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let mut taken = vec![false; answer.relations.len()];
    let (mut facts, mut n_alone) = (Vec::new(), 0);
    for hyperedge in &answer.hyperedges {
        let mut mentions: Vec<Mention> = hyperedge.entities.iter().map(|name| records.mention(name)).collect();
        if let ([only], Some(title)) = (&hyperedge.entities[..], title)
            && !is_same_name(only, title)
        {
            mentions.push(Mention { role: TOPIC.into(), ..records.mention(title) });
        }
        if mentions.len() < 2 {
            n_alone += 1;
            continue;
        }
        let mentions = of_two(mentions, document);
        let mut relations = Vec::new();
        for (relation, taken) in answer.relations.iter().zip(&mut taken) {
            let [from, to] = [records.key(&relation.from), records.key(&relation.to)];
            let is_among = |end: &EntityKey| mentions.iter().any(|mention| mention.entity == *end);
            if from != to && is_among(&from) && is_among(&to) {
                *taken = true;
                relations.push(directed(from, to, &relation.label, relation.conf));
            }
        }
        facts.push(fact(&hyperedge.relation, mentions, &hyperedge.text, relations, hyperedge.conf, document));
    }
    for (relation, _) in answer.relations.iter().zip(taken).filter(|(_, taken)| !taken) {
        let [from, to] = [&relation.from, &relation.to].map(|name| records.mention(name));
        let said = format!("{} {} {}", relation.from, relation.label, relation.to);
        let directed = (from.entity != to.entity)
            .then(|| directed(from.entity.clone(), to.entity.clone(), &relation.label, relation.conf));
        let mentions = of_two(vec![from, to], document);
        facts.push(fact(&relation.label, mentions, &said, directed.into_iter().collect(), relation.conf, document));
    }
    (facts, n_alone)
}

/// The participants, or the document with what they all name: two names of one thing, such as `Rome` and `the Rome (city)`, are
/// joined with the document that relates them.
fn of_two(mut mentions: Vec<Mention>, document: &Document) -> Vec<Mention> {
    if mentions.iter().all(|mention| mention.entity == mentions[0].entity) {
        mentions.truncate(1);
        mentions.push(statements::source(document));
    }
    mentions
}

fn directed(from: EntityKey, to: EntityKey, label: &str, confidence: f64) -> DirectedRelation {
    DirectedRelation { from, to, label: label.into(), confidence: positive(confidence) }
}

fn fact(
    relation: &str,
    mentions: Vec<Mention>,
    said: &str,
    relations: Vec<DirectedRelation>,
    confidence: f64,
    document: &Document,
) -> Fact {
    let span = match document.text.find(said) {
        Some(start) => Span::new(start, start + said.len()),
        None => whole(&document.text),
    };
    Fact {
        relation: relation.into(),
        mentions,
        text: said.into(),
        span,
        attributes: Vec::new(),
        relations,
        group: document.group.clone().unwrap_or_else(|| GroupKey(document.key.0.clone())),
        valid_at: None,
        confidence: positive(confidence),
        origin: Origin::Extracted,
        reference_at: None,
    }
}

/// The text without the white space around it.
fn whole(text: &str) -> Span {
    let start = text.len() - text.trim_start().len();
    Span::new(start, start + text.trim().len())
}

/// A confidence above zero; one below the smallest step counts as that step.
fn positive(confidence: f64) -> Fixed {
    Fixed::from_f64(confidence).max(Fixed(1))
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::{Document, Fixed};

    use super::{entity_key, extraction, statements};
    use crate::kernel;

    const ANSWER: &str = r#"{
      "entities": [
        {"name": "Milwaukee Deep", "type": "Place", "role": "deepest point", "alias": ["the Deep"], "desc": "A part of a trench.", "conf": 0.9},
        {"name": "Puerto Rico Trench", "type": "trench", "role": "", "alias": [], "desc": "", "conf": 0.8}
      ],
      "hyperedges": [
        {"text": "Milwaukee Deep is part of the Puerto Rico Trench.", "entities": ["Milwaukee Deep", "puerto rico trench"], "relation": "part of", "conf": 0.7},
        {"text": "The Deep was found in 1939.", "entities": ["Milwaukee Deep"], "relation": "found in", "conf": 1}
      ],
      "relations": [
        {"from": "Milwaukee Deep", "to": "Puerto Rico Trench", "label": "is in", "conf": 0.6},
        {"from": "Puerto Rico Trench", "to": "Atlantic Ocean", "label": "lies in", "conf": 0.5}
      ]
    }"#;

    fn chunk(title: Option<&str>) -> kernel::Chunk {
        let text = "  So it is.\nMilwaukee Deep is part of the Puerto Rico Trench. It is deep.\n";
        let document = Document { title: title.map(str::to_owned), ..Document::plain("doc", text) };
        kernel::chunk(&document, None).remove(0)
    }

    #[test]
    fn an_answer_becomes_facts_with_their_places() {
        let chunk = chunk(Some("Depths of the Atlantic"));
        let extraction = extraction(ANSWER, &chunk).unwrap();
        assert!(extraction.failures.is_empty(), "{:?}", extraction.failures);
        let [part, found, lies] = &extraction.facts[..] else { panic!("{extraction:#?}") };
        let shown = part.span.of(&chunk.document.text);
        assert_eq!(shown, Some("Milwaukee Deep is part of the Puerto Rico Trench."));
        let deep = &part.mentions[0];
        assert_eq!((deep.entity.0.as_str(), deep.kind.as_str()), ("name:milwaukee deep", "place"));
        assert_eq!((deep.role.as_str(), deep.description.as_str()), ("deepest_point", "A part of a trench."));
        assert_eq!(
            (part.mentions[1].name.as_str(), part.mentions[1].role.as_str()),
            ("Puerto Rico Trench", "participant")
        );
        assert_eq!(part.relations.len(), 1);
        assert_eq!((part.relations[0].label.as_str(), part.relations[0].confidence), ("is in", Fixed::from_f64(0.6)));
        assert_eq!(
            (found.mentions[1].name.as_str(), found.mentions[1].role.as_str()),
            ("Depths of the Atlantic", "topic")
        );
        assert!(found.span.of(&chunk.document.text).unwrap().starts_with("So it is."), "the whole chunk is the place");
        assert_eq!(lies.text, "Puerto Rico Trench lies in Atlantic Ocean");
        assert_eq!(lies.mentions[1].kind, "concept");
        assert_eq!(lies.group.0, "doc");
    }

    #[test]
    fn what_is_left_out_is_a_failure_of_the_chunk() {
        let extraction = extraction(ANSWER, &chunk(None)).unwrap();
        assert_eq!(extraction.facts.len(), 2);
        assert!(extraction.failures[0].reason.contains("1 facts"), "{:?}", extraction.failures);
        let failure = super::extraction("no", &chunk(None)).unwrap_err();
        assert!(failure.reason.contains("after it was asked to repair"), "{failure:?}");
    }

    #[test]
    fn two_names_of_one_thing_are_joined_with_the_document_that_relates_them() {
        let relation =
            |from: &str, to: &str| format!(r#"{{"from": "{from}", "to": "{to}", "label": "was", "conf": 1}}"#);
        let relations = [relation("Rome", "the Rome (city)"), relation("Rome", "ROME")].join(", ");
        let answer = format!(
            r#"{{"entities": [], "hyperedges": [{{"text": "Rome.", "entities": ["Rome", "Rome (city)"],
            "relation": "is", "conf": 1}}], "relations": [{relations}]}}"#
        );
        let extraction = extraction(&answer, &chunk(Some("Rome"))).unwrap();
        assert_eq!(extraction.facts.len(), 2);
        for fact in &extraction.facts {
            let keys: Vec<&str> = fact.mentions.iter().map(|mention| mention.entity.0.as_str()).collect();
            assert!(keys == ["name:rome", "document:doc"] && fact.relations.is_empty(), "{fact:?}");
        }
        // A name and itself in other letters say nothing.
        assert!(
            extraction.failures[0].reason.contains("1 empty or of a thing with itself"),
            "{:?}",
            extraction.failures
        );
    }

    #[test]
    fn what_stands_in_the_overlap_is_left_to_the_chunk_before() {
        let mut chunk = chunk(Some("Depths"));
        let end = chunk.document.text.find(" It is deep").unwrap();
        chunk.overlap = end as u32;
        let texts: Vec<String> = extraction(ANSWER, &chunk).unwrap().facts.into_iter().map(|fact| fact.text).collect();
        assert_eq!(texts, ["The Deep was found in 1939.", "Puerto Rico Trench lies in Atlantic Ocean"]);
    }

    #[test]
    fn a_name_has_the_key_that_the_general_extractor_gives_it() {
        assert_eq!(entity_key("  Poincaré’s  Map"), entity_key("poincare's map"));
        assert_eq!(entity_key("The Milwaukee Deep (trench)").0, "name:milwaukee deep");
        assert_ne!(entity_key("∞").0, "name:");
        let answer = ANSWER.replace("\"Atlantic Ocean\"", "\"4 May 1939\"");
        let typed = answer.replace("Puerto Rico Trench", "8,380 m").replace("\"trench\"", "\"Quantity\"");
        let keys = |answer: &str| -> Vec<String> {
            let facts = extraction(answer, &chunk(None)).unwrap().facts;
            let last = facts.last().unwrap();
            assert_eq!(last.relations[0].from, last.mentions[0].entity);
            last.mentions.iter().map(|mention| mention.entity.0.clone()).collect()
        };
        assert_eq!(keys(&answer), ["name:puerto rico trench", "date:1939-05-04"]);
        let quantity = statements::key("8,380 m", "quantity").unwrap();
        assert_eq!(keys(&typed), [quantity.as_str(), "date:1939-05-04"]);
        assert!(quantity.starts_with("quantity:"), "{quantity}");
    }
}
