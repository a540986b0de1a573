//! Canonicalize: a fact in a grammar's or a model's words becomes an assertion in the pack's words (OKH-RAG A.2 steps 1, 2).

use std::collections::BTreeSet;

use hypercane_schemas::{DocumentKey, Fixed, Hyperedge, HyperedgeId, Member, Provenance, text};

use super::merge::each_once;
use crate::{assertion::Assertion, domain::Domain, extract::Extracted, extraction::Fact, kernel};

/// The assertion that a document makes with this fact.
///
/// # Errors
/// A relation that is neither in the pack's vocabulary nor near a word of it, or fewer than two participants: says which.
pub fn canonicalize(
    document_key: &DocumentKey,
    document: &Extracted,
    fact: &Fact,
    domain: &Domain,
) -> Result<Assertion, String> {
    let relation = domain.relation(&fact.relation).ok_or_else(|| {
        format!("the relation `{}` is not in the domain pack; add it, or an alias for it", fact.relation)
    })?;
    let members: BTreeSet<Member> = fact
        .mentions
        .iter()
        .map(|mention| Member { entity: mention.entity.clone(), role: mention.role.clone() })
        .collect();
    let distinct: BTreeSet<&str> = members.iter().map(|member| member.entity.0.as_str()).collect();
    if distinct.len() < 2 {
        return Err(format!(
            "a `{}` fact needs two participants or more, this one has {}",
            relation.relation,
            distinct.len()
        ));
    }
    let evidence = text::canonical(&fact.text);
    // What is said without a time under two horizons is two facts (A.1: a hyperedge has one anchor). A fact that has a time is
    // the same one whether or not its document states a horizon.
    let anchor = document.horizon_hours.filter(|_| document.extraction.issued_at.is_none());
    let anchor = anchor.map(|hours| kernel::anchor(i32::from(hours)));
    let identity = distinct.iter().copied().chain(anchor.as_deref());
    let id = HyperedgeId::of(&relation.relation, identity, &evidence);
    let mut attributes = fact.attributes.clone();
    attributes.sort();
    let mut relations = fact.relations.clone();
    each_once(&mut relations);
    let mut mentions = fact.mentions.clone();
    mentions.sort();
    mentions.dedup();
    let confidence = Fixed::from_f64(fact.confidence.to_f64() * document.reliability.to_f64());
    let embedded_as =
        kernel::embedded_as(&kernel::fact_embedding_text(&relation.relation, &evidence, &mentions, domain));
    let hyperedge = Hyperedge {
        id,
        relation: relation.relation.clone(),
        family: relation.family,
        base_family: relation.family,
        text: evidence,
        members: members.into_iter().collect(),
        attributes,
        group: fact.group.clone(),
        horizon_hours: document.horizon_hours.map(i32::from),
        issued_at: document.extraction.issued_at,
        valid_at: fact.valid_at,
        confidence,
        relations,
        provenance: vec![Provenance { document: document_key.clone(), chunk: document.chunk, span: fact.span }],
        origin: fact.origin,
        position: fact.span.start,
        embedded_as,
    };
    Ok(Assertion { id, hyperedge, mentions, reference_at: fact.reference_at })
}
