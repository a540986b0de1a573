//! Merging the mentions of one entity.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{Category, Entity, EntityKey, Fixed};

/// A distinct way in which hyperedges mention an entity, and how many do.
pub struct EntityMention<'a> {
    /// Name as shown.
    pub name: &'a str,
    /// Type from the pack.
    pub kind: &'a str,
    /// What is said of it in short; may be empty.
    pub description: &'a str,
    /// Other names.
    pub aliases: &'a [String],
    /// Confidence of the hyperedge.
    pub confidence: Fixed,
    /// How many hyperedges mention it so.
    pub count: u32,
}

/// Support-weighted name, type and description (ties: the least; no description counts only where there is none), the union of all other names, and the confidence that at least one
/// of `n` independent mentions is right: 1 minus the product of (1 - c).
pub fn merge_entity<'a>(
    key: &EntityKey,
    mentions: impl IntoIterator<Item = EntityMention<'a>>,
    category_of: impl Fn(&str) -> Category,
) -> Entity {
    let mut names: BTreeMap<&str, u32> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    let mut descriptions: BTreeMap<&str, u32> = BTreeMap::new();
    let mut aliases: BTreeSet<&str> = BTreeSet::new();
    let mut support = 0;
    let mut doubt = 1.0_f64;
    for mention in mentions {
        *names.entry(mention.name).or_default() += mention.count;
        *kinds.entry(mention.kind).or_default() += mention.count;
        if !mention.description.is_empty() {
            *descriptions.entry(mention.description).or_default() += mention.count;
        }
        aliases.extend(mention.aliases.iter().map(String::as_str));
        support += mention.count;
        doubt *= (1.0 - mention.confidence.to_f64()).powi(i32::try_from(mention.count).unwrap_or(i32::MAX));
    }
    let name = best(&names);
    let kind = best(&kinds);
    aliases.extend(names.keys());
    aliases.remove(name.as_str());
    Entity {
        key: key.clone(),
        category: category_of(&kind),
        aliases: aliases.into_iter().map(str::to_owned).collect(),
        name,
        kind,
        description: best(&descriptions),
        confidence: Fixed::from_f64(1.0 - doubt),
        support,
    }
}

fn best(counts: &BTreeMap<&str, u32>) -> String {
    // The map is sorted, and only a strictly larger count replaces: ties go to the least name.
    let mut best = ("", 0);
    for (&name, &count) in counts {
        if count > best.1 {
            best = (name, count);
        }
    }
    best.0.to_owned()
}
