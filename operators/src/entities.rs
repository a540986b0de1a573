//! Entities: one record for all mentions of a thing.
//!
//! As if its input never changed: for each entity that a hyperedge mentions, its best-supported name and type, all other
//! names as aliases, the combined confidence, and the number of hyperedges. It keeps each distinct mention with its count.

use std::sync::Arc;

use hypercane_schemas::{Entity, EntityKey, HyperedgeId};

use crate::{assertion::Assertion, collection::Collection, domain::Domain, kernel, shared::Shared};

/// The entities of the merged facts.
pub fn entities<'scope>(
    facts: Collection<'scope, (HyperedgeId, Shared<Assertion>)>,
    domain: Arc<Domain>,
) -> Collection<'scope, (EntityKey, Shared<Entity>)> {
    facts
        .flat_map(|(_, fact)| {
            let confidence = fact.hyperedge.confidence;
            let mentions = fact.mentions.clone();
            mentions.into_iter().map(move |mention| {
                (mention.entity, (mention.name, mention.kind, mention.description, mention.aliases, confidence))
            })
        })
        .reduce_named("Entities", move |key, mentions, output| {
            let mentions =
                mentions.iter().map(|((name, kind, description, aliases, confidence), count)| kernel::EntityMention {
                    name,
                    kind,
                    description,
                    aliases,
                    confidence: *confidence,
                    count: u32::try_from(*count).unwrap_or(0),
                });
            output.push((Shared::new(kernel::merge_entity(key, mentions, |kind| domain.category_of(kind))), 1));
        })
}
