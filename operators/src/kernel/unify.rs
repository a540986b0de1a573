//! Unify: a thing named without its identifier is the thing that bears the name.
//!
//! A *provisional* key has the form `TYPE:NAME_YEAR`, in capitals (`storm:MILTON_2024`): the writer knew no identifier. An
//! *identified* key of the same type ends in the year (`storm:AL142024`); with its name it says which provisional key it
//! answers to.

use hypercane_schemas::{EntityKey, GroupKey, HyperedgeId};

use super::merge::each_once;
use crate::{assertion::Assertion, extraction::Mention};

/// The local part of a key, split into name and year, where the key is provisional.
fn provisional_parts(key: &EntityKey) -> Option<(&str, &str)> {
    let (_, local) = key.0.split_once(':')?;
    let (name, year) = local.rsplit_once('_')?;
    let is_year = year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit());
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'-' || b == b'_');
    (is_year && is_name).then_some((name, year))
}

/// The first provisional key that an assertion mentions.
pub fn provisional(assertion: &Assertion) -> Option<EntityKey> {
    assertion.mentions.iter().map(|mention| &mention.entity).find(|key| provisional_parts(key).is_some()).cloned()
}

/// The provisional key that an identified entity answers to, by its name in this mention.
pub fn answers_to(mention: &Mention) -> Option<EntityKey> {
    if provisional_parts(&mention.entity).is_some() {
        return None;
    }
    let (kind, local) = mention.entity.0.split_once(':')?;
    if local.contains(':') || local.len() < 5 || !local.is_char_boundary(local.len() - 4) {
        return None;
    }
    let (stem, year) = local.split_at(local.len() - 4);
    let identified = year.bytes().all(|b| b.is_ascii_digit()) && stem.bytes().all(|b| b.is_ascii_alphanumeric());
    if !identified || !mention.name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-' || b == b' ') {
        return None;
    }
    let name = mention.name.to_ascii_uppercase().replace(' ', "_");
    Some(EntityKey(format!("{kind}:{name}_{year}")))
}

/// The assertion with one thing's provisional name replaced by its identifier, in every key and in the group.
pub fn renamed(assertion: &Assertion, from: &EntityKey, to: &EntityKey) -> Assertion {
    let (Some((_, from_local)), Some((_, to_local))) = (from.0.split_once(':'), to.0.split_once(':')) else {
        return assertion.clone();
    };
    let rename = |key: &str| {
        let parts: Vec<&str> = key.split(':').map(|part| if part == from_local { to_local } else { part }).collect();
        parts.join(":")
    };
    let mut renamed = assertion.clone();
    for mention in &mut renamed.mentions {
        mention.entity = EntityKey(rename(&mention.entity.0));
    }
    renamed.mentions.sort();
    let hyperedge = &mut renamed.hyperedge;
    for member in &mut hyperedge.members {
        member.entity = EntityKey(rename(&member.entity.0));
    }
    hyperedge.members.sort();
    hyperedge.members.dedup();
    for relation in &mut hyperedge.relations {
        relation.from = EntityKey(rename(&relation.from.0));
        relation.to = EntityKey(rename(&relation.to.0));
    }
    each_once(&mut hyperedge.relations);
    hyperedge.group = GroupKey(rename(&hyperedge.group.0));
    let keys = hyperedge.members.iter().map(|member| member.entity.0.as_str());
    renamed.id = HyperedgeId::of(&hyperedge.relation, keys, &hyperedge.text);
    hyperedge.id = renamed.id;
    renamed
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::EntityKey;

    use super::{answers_to, provisional_parts};
    use crate::extraction::Mention;

    fn mention(key: &str, name: &str) -> Mention {
        Mention {
            entity: EntityKey(key.into()),
            name: name.into(),
            kind: "cyclone".into(),
            role: "storm".into(),
            aliases: vec![],
            description: String::new(),
        }
    }

    #[test]
    fn an_identifier_answers_to_its_name_and_year() {
        let found = answers_to(&mention("storm:AL142024", "Milton"));
        assert_eq!(found, Some(EntityKey("storm:MILTON_2024".into())));
        assert_eq!(answers_to(&mention("storm:MILTON_2024", "Milton")), None);
        assert_eq!(answers_to(&mention("time:2024-10-08T12:27Z", "x")), None);
        assert_eq!(answers_to(&mention("place:new_orleans_la", "New Orleans")), None);
    }

    #[test]
    fn only_a_name_in_capitals_with_a_year_is_provisional() {
        assert!(provisional_parts(&EntityKey("storm:MILTON_2024".into())).is_some());
        for key in ["storm:AL142024", "place:base_2024", "storm:MILTON", "port:x"] {
            assert!(provisional_parts(&EntityKey(key.into())).is_none(), "{key}");
        }
    }
}
