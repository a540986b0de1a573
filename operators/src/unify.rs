//! Unify: assertions about a thing named without its identifier join those about the thing itself.
//!
//! As if its input never changed: every assertion, with each provisional key replaced by the identified key that
//! answers to it, where there is exactly one (see [`crate::kernel::unify`]). It keeps the provisional assertions and the names.

use hypercane_schemas::EntityKey;

use crate::{
    assertion::Assertion,
    collection::{Collection, left_join},
    kernel::unify as kernel,
    shared::Shared,
};

/// The assertions under the identifiers that are known.
pub fn unify<'scope>(assertions: Collection<'scope, Shared<Assertion>>) -> Collection<'scope, Shared<Assertion>> {
    let names = assertions
        .clone()
        .flat_map(|assertion| {
            let name = |mention| Some((kernel::answers_to(mention)?, mention.entity.clone()));
            assertion.mentions.iter().filter_map(name).collect::<Vec<(EntityKey, EntityKey)>>()
        })
        .reduce_named("Unify", |_provisional, identified, output| {
            // A name that several things of the year bore tells none of them.
            if let [(only, _)] = identified {
                output.push(((*only).clone(), 1));
            }
        });
    let settled = assertions.clone().filter(|assertion| kernel::provisional(assertion).is_none());
    let provisional = assertions.flat_map(|assertion| Some((kernel::provisional(&assertion)?, assertion)));
    let unified = left_join(provisional, names).map(|(from, assertion, to)| match to {
        Some(to) => Shared::new(kernel::renamed(&assertion, &from, &to)),
        None => assertion,
    });
    settled.concat(unified)
}
