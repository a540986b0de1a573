//! Link: what each standing question is about.
//!
//! As if its input never changed: for each query its links, resolved against the names of all lasting entities that the
//! hyperedges mention. Names and questions meet by a join on alias keys, so a storm that is named for the first time
//! reaches the questions that name it, and no other. It keeps the alias keys of lasting entities and of questions.

use std::sync::Arc;

use hypercane_schemas::{Category, ContentHash, Entity, EntityKey, Query, QueryId, Vector};
use serde::{Deserialize, Serialize};

use crate::{
    collection::{Collection, left_join},
    domain::Domain,
    kernel::{
        embedded_as,
        link::{AliasKey, AliasMatch, Links, QuestionSlots, alias_keys, keys_of, read_question, resolve, verify},
    },
    shared::Shared,
};

/// A query with its links and its vector.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LinkedQuery {
    /// The query.
    pub query: Shared<Query>,
    /// What it is about.
    pub links: Links,
    /// The vector of its question; `None` until it is recorded.
    pub vector: Option<Vector>,
}

/// A query with what its words say, before names are known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct ReadQuery {
    query: Shared<Query>,
    slots: QuestionSlots,
}

/// What a query is resolved from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum Part {
    Query(Shared<ReadQuery>),
    Match(AliasMatch),
}

/// The text under which a question is embedded: its own words.
pub fn question_embedded_as(question: &str) -> ContentHash {
    embedded_as(question)
}

/// The queries with their links.
pub fn link<'scope>(
    queries: Collection<'scope, (QueryId, Shared<Query>)>,
    entities: Collection<'scope, (EntityKey, Shared<Entity>)>,
    vectors: Collection<'scope, (ContentHash, Vector)>,
    domain: Arc<Domain>,
) -> Collection<'scope, (QueryId, Shared<LinkedQuery>)> {
    let pack = Arc::clone(&domain);
    let read = queries.map(move |(id, query)| {
        let slots = read_question(&query.question, &pack, query.as_of);
        (id, Shared::new(ReadQuery { query, slots }))
    });
    let mentions = read.clone().flat_map(|(id, read)| {
        let keys = |(at, mention): (usize, &crate::kernel::link::Mention)| {
            let (id, form) = (id.clone(), mention.form.clone());
            let key = move |key: AliasKey| (key, (id.clone(), at as u32, form.clone()));
            keys_of(&mention.form).into_iter().map(key).collect::<Vec<_>>()
        };
        read.slots.mentions.iter().enumerate().flat_map(keys).collect::<Vec<_>>()
    });
    let aliases = entities.filter(|(_, entity)| entity.category == Category::Persistent).flat_map(|(key, entity)| {
        let names = std::iter::once((&entity.name, true)).chain(entity.aliases.iter().map(|alias| (alias, false)));
        names
            .flat_map(|(name, is_name)| {
                let (key, entity) = (&key, &entity);
                alias_keys(name)
                    .into_iter()
                    .map(move |alias_key| (alias_key, (key.clone(), entity.kind.clone(), name.clone(), is_name)))
            })
            .collect::<Vec<_>>()
    });
    let matches = mentions
        .join_map(aliases, |_, (id, mention, form), (entity, kind, alias, is_name)| {
            let how = verify(form, alias, *is_name)?;
            let matched = AliasMatch { mention: *mention, entity: entity.clone(), kind: kind.clone(), how };
            Some((id.clone(), Part::Match(matched)))
        })
        .flat_map(|matched| matched);
    let resolved = read.map(|(id, read)| (id, Part::Query(read))).concat(matches).reduce_named(
        "Link",
        move |_id, parts, output| {
            let mut query = None;
            let mut matches = Vec::new();
            for (part, _) in parts {
                match part {
                    Part::Query(read) => query = Some(read),
                    Part::Match(matched) => matches.push(matched.clone()),
                }
            }
            // Matches outlive their query for no longer than an update in flight.
            if let Some(read) = query {
                output.push(((read.query.clone(), resolve(&read.slots, &matches, &domain)), 1));
            }
        },
    );
    let by_text = resolved.map(|(id, (query, links))| (question_embedded_as(&query.question), (id, query, links)));
    left_join(by_text, vectors)
        .map(|(_, (id, query, links), vector)| (id, Shared::new(LinkedQuery { query, links, vector })))
}
