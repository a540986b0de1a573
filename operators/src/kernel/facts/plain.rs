//! The evidence of a question by its definition, with nothing kept: what [`Standing`](super::Standing) has to give.

use std::collections::BTreeMap;

use hypercane_schemas::{EntityKey, HyperedgeId, Vector};

use super::{Asked, Fact, NamedEntity};
use crate::{
    kernel::{
        Chain, ChainSettings, Extraction, Hypergraph, Mentioned, NamedBy, Surroundings, chain, cosine_of_units, entry,
    },
    shared::Shared,
};

/// The evidence over all facts that the question may use (HyCE-RAG eq. 8 to 40). Entities in more than `hub` of all facts, and
/// anchors, carry no expansion. Cost: all facts and names.
pub fn evidence(
    facts: &BTreeMap<HyperedgeId, Shared<Fact>>,
    names: &BTreeMap<EntityKey, Shared<NamedEntity>>,
    asked: &Asked,
    hub: usize,
    settings: &ChainSettings,
) -> Chain<HyperedgeId, EntityKey> {
    let graph_of = |may_use: &dyn Fn(&Fact) -> bool| {
        let used = facts.iter().filter(|(_, fact)| may_use(fact));
        Hypergraph::new(used.flat_map(|(id, fact)| fact.entities.iter().map(|entity| (*id, entity.clone()))))
    };
    let (whole, graph) = (graph_of(&|_| true), graph_of(&|fact| asked.may_use(fact)));
    let vector = |key: &EntityKey| names.get(key).and_then(|named| named.vector.as_ref());
    let cosine = |a: Option<&Vector>, b: Option<&Vector>| Some(cosine_of_units(&a?.0, &b?.0));
    let mut mentioned = Vec::new();
    for (mention, asked) in (0..).zip(&asked.mentions) {
        for entity in whole.entities() {
            let named = names.get(entity);
            let is_alias = named.is_some_and(|named| named.aliases.contains(&asked.entity));
            let is_near = named.is_some_and(|named| asked.is_synonym(named, settings.synonym_cosine));
            let by =
                [(NamedBy::Name, *entity == asked.entity), (NamedBy::Alias, is_alias), (NamedBy::Synonym, is_near)];
            let found = by.into_iter().filter(|(_, is_so)| *is_so);
            mentioned.extend(found.map(|(by, _)| Mentioned { mention, by, entity: entity.clone() }));
        }
    }
    let similarity = |entity: &EntityKey| cosine(vector(entity), asked.vector.as_ref());
    let near = whole.entities().iter().filter_map(|entity| Some((entity.clone(), similarity(entity)?)));
    let entry = entry(mentioned, near, settings.nearest_entities);
    let fact = |at: u32| &facts[&graph.hyperedges()[at as usize]];
    let degree = |at: u32| {
        let entity = whole.entity(&graph.entities()[at as usize]);
        entity.map_or(0, |entity| whole.hyperedges_of(entity).len())
    };
    let relations: BTreeMap<HyperedgeId, Vec<f64>> =
        facts.iter().map(|(id, fact)| (*id, fact.relations.iter().map(|r| r.to_f64()).collect())).collect();
    let around = Surroundings {
        graph: &graph,
        entry: &graph.entities_among(entry.keys()),
        carries: &|at| degree(at) <= hub && !graph.entities()[at as usize].is_anchor(),
        relevance: &|at| cosine(fact(at).vector.as_ref(), asked.vector.as_ref()).unwrap_or(0.0).max(0.0),
        similarity: &|at| similarity(&graph.entities()[at as usize]).unwrap_or(0.0).max(0.0),
        degree: &degree,
        extraction: &|at| Extraction {
            confidence: fact(at).confidence.to_f64(),
            relations: &relations[&graph.hyperedges()[at as usize]],
        },
        in_conflict: &|_| false,
    };
    chain(&around, settings)
}
