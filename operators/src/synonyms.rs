//! Synonyms: names with nearly the same vector (HyperProve 3.2).
//!
//! As if its input never changed: each pair of entities whose names have a cosine strictly above eta and that no guard keeps
//! apart, with the reason. It keeps names and vectors by text, each name with its vector as a pointer, and on the worker to
//! which it hashes its direction in single precision, 4 bytes a component. It keeps no links.
//!
//! A changed name is told to all workers, and each compares it with its own share of the names: one block of dot products with
//! all names of its category, spread over the workers. The changes of an epoch go together, as products of matrices.

use differential_dataflow::{AsCollection, Hashable};
use hypercane_schemas::{ContentHash, Entity, EntityKey, Fixed, Synonym, Vector};
use timely::dataflow::operators::{Exchange, vec::Broadcast};

use crate::{
    collection::{Collection, by_epoch},
    kernel::synonyms::{CosineJoin, EntityName, NameVector, guard, name_embedded_as},
    shared::Shared,
};

/// The links between the names of the entities. Vectors are found by [`name_embedded_as`]; a name without one has no links.
/// A link stands once, however often its entities do.
pub fn synonyms<'scope>(
    entities: Collection<'scope, (EntityKey, Shared<Entity>)>,
    vectors: Collection<'scope, (ContentHash, Vector)>,
    eta: f64,
) -> Collection<'scope, Synonym> {
    let names = entities.flat_map(|(_, entity)| {
        let name = EntityName::from(&*entity);
        guard(&name).is_none().then(|| (name_embedded_as(&name.name), Shared::new(name)))
    });
    let changes = names
        .join_map(vectors, |_, name, vector| Shared::new(NameVector { name: name.clone(), vector: vector.clone() }))
        .distinct();
    let scope = changes.inner.scope();
    let (index, peers) = (scope.index() as u64, scope.peers() as u64);
    let mut join = CosineJoin::new(eta);
    let links = by_epoch(changes.inner.broadcast(), "Synonyms", move |changes| {
        let owns = |row: &Shared<NameVector>| row.hashed() % peers == index;
        let mut links = Vec::new();
        join.apply(changes, owns, |a, b, cosine, diff| links.push((link(&a.name, &b.name, cosine, eta), diff)));
        links
    });
    // Who finds a link changes with the names that change beside it; it goes where it came.
    links.inner.exchange(|(link, _, _)| link.hashed()).as_collection()
}

/// The link between two names.
fn link(a: &EntityName, b: &EntityName, cosine: f64, eta: f64) -> Synonym {
    let (a, b) = if a.entity <= b.entity { (a, b) } else { (b, a) };
    let cosine = Fixed::from_f64(cosine);
    Synonym {
        a: a.entity.clone(),
        b: b.entity.clone(),
        cosine,
        why: format!("the names \"{}\" and \"{}\" have cosine {cosine}, above {eta}", a.name, b.name),
    }
}
