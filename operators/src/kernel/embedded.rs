//! Under which text a hyperedge is embedded.
//!
//! OKH-RAG A.4 embeds relation, evidence, entities and attribute values. Thousands of facts differ in their numbers and
//! times only; a sentence encoder can't tell these apart, and links find them exactly. So numbers and times are folded:
//! such facts share one text and one vector, and the model is asked some thousand times for a corpus of ten thousands of
//! facts. A change hyperedge is embedded by what changes, not by its values, so that its text is known as soon as one of
//! its documents is.

use hypercane_schemas::{ContentHash, EntityKey, text};

use crate::{
    assertion::Assertion,
    domain::{Domain, Embeds},
    extraction::Mention,
    kernel::{Named, embedding_text, synonyms::may_have_synonyms},
};

/// The identity of a text that is embedded; texts that count as the same (NFKC, white space folded) share it.
pub fn embedded_as(embedding_text: &str) -> ContentHash {
    ContentHash::of_parts([text::canonical(embedding_text).as_str()])
}

/// The text under which a fact is embedded. Entities whose type carries no expansion (a storm is in all that is said of
/// it) are left out: links find them exactly, and facts that differ in them alone share a text. A pack without links embeds
/// the evidence as it stands.
pub fn fact_embedding_text(relation: &str, evidence: &str, mentions: &[Mention], domain: &Domain) -> String {
    if domain.embeds() == Embeds::Evidence {
        return evidence.to_owned();
    }
    let named = mentions.iter().filter(|mention| domain.expands(&mention.kind));
    embedding_text(relation, evidence, named.map(Named::from))
}

/// The text under which a change of this thing is embedded: the relation's words and the words of the entity family; parts
/// of the key with digits or capitals (identifiers, times) are left out.
pub fn change_embedding_text(relation: &str, entity_family: &str) -> String {
    let words = entity_family
        .split(':')
        .filter(|part| !part.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase()))
        .map(|part| part.replace('_', " "));
    let mut said = relation.replace('_', " ");
    for word in words {
        said.push_str("; ");
        said.push_str(&word);
    }
    said
}

/// Every text that must have a vector before this assertion's document is let in: its own, those of the changes in which its
/// states may take part, and, where the pack looks for synonyms, the names that may have some.
pub fn texts_to_embed(assertion: &Assertion, domain: &Domain) -> Vec<String> {
    let hyperedge = &assertion.hyperedge;
    let states = hyperedge.members.iter().map(|member| &member.entity).filter(|key| is_state(key));
    let changes = domain
        .change_relation(hyperedge.family)
        .into_iter()
        .flat_map(|relation| states.clone().map(move |key| change_embedding_text(relation, key.family())));
    let own = fact_embedding_text(&hyperedge.relation, &hyperedge.text, &assertion.mentions, domain);
    let named = assertion.mentions.iter().filter(|_| domain.synonym_cosine().is_some());
    let names = named.filter(|mention| may_have_synonyms(&mention.entity, &mention.name));
    std::iter::once(own).chain(changes).chain(names.map(|mention| mention.name.clone())).collect()
}

/// Whether the key names a state at one place of a sequence. The anchor `horizon:T-48` is the place itself: many facts of
/// many things share it, so it neither contradicts nor changes.
pub fn is_state(key: &EntityKey) -> bool {
    key.family().len() < key.0.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_carry_their_place_and_anchors_are_none() {
        let is = |key: &str| is_state(&EntityKey(key.into()));
        assert!(is("state:AL092017:@2017-08-25T03:00Z") && is("wind_fcst:IRMA:port_arthur:T-48"));
        assert!(!is("horizon:T-48") && !is("time:2017-08-25T03:00Z") && !is("storm:AL092017"));
    }
}
