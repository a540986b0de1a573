//! Synthesize changes: a hyperedge between neighbouring states of one thing (OKH-RAG A.2 step 4).
//!
//! As if its input never changed: for each entity family of a group and each relation family, the states are laid out by
//! their place in the sequence (the horizon, else the issue time), and each two neighbours are joined by a change
//! hyperedge. It keeps the states, grouped by entity family, and their pairs. A state that arrives between two others
//! replaces one change hyperedge by two; what changed is worked out for these alone.

use std::sync::Arc;

use hypercane_schemas::{GroupKey, Hyperedge, HyperedgeId};

use crate::{
    collection::Collection,
    domain::Domain,
    kernel::{self, State},
    shared::Shared,
};

/// The change hyperedges.
pub fn synthesize_changes<'scope>(
    hyperedges: Collection<'scope, (HyperedgeId, Shared<Hyperedge>)>,
    domain: Arc<Domain>,
) -> Collection<'scope, (HyperedgeId, Shared<Hyperedge>)> {
    hyperedges
        .flat_map(|(_, hyperedge)| {
            let place = kernel::sequence(&hyperedge);
            let states: Vec<_> = place
                .into_iter()
                .flat_map(|(by_horizon, sequence)| {
                    let hyperedge = &hyperedge;
                    hyperedge.members.iter().filter_map(move |member| {
                        if !kernel::is_state(&member.entity) {
                            return None;
                        }
                        let family = member.entity.family().to_owned();
                        let thing: (GroupKey, String, u8, bool) =
                            (hyperedge.group.clone(), family, hyperedge.family, by_horizon);
                        Some((thing, (sequence, State { entity: member.entity.clone(), hyperedge: hyperedge.clone() })))
                    })
                })
                .collect();
            states
        })
        .reduce_named("SynthesizeChanges", |_thing, states, output| {
            let states = states.iter().map(|((sequence, state), _)| (*sequence, state.clone()));
            output.extend(kernel::neighbouring_states(states).into_iter().map(|pair| (pair, 1)));
        })
        .flat_map(move |((_, entity_family, family, _), [before, after])| {
            let change = kernel::change_hyperedge(&entity_family, family, [&before, &after], &domain)?;
            Some((change.id, Shared::new(change)))
        })
}
