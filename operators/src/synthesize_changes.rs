//! Synthesize changes: a hyperedge between neighbouring states of one thing (OKH-RAG A.2 step 4).
//!
//! As if its input never changed: for each entity family of a group and each relation family, the states are laid out by
//! their place in the sequence (the horizon, else the issue time), and each two neighbours are joined by a change
//! hyperedge. It keeps the states, grouped by entity family. A state that arrives between two others replaces one change
//! hyperedge by two.

use std::sync::Arc;

use hypercane_schemas::{GroupKey, Hyperedge, HyperedgeId};

use crate::{collection::Collection, domain::Domain, kernel, shared::Shared};

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
                        Some((thing, (sequence, member.entity.clone(), hyperedge.clone())))
                    })
                })
                .collect();
            states
        })
        .reduce_named("SynthesizeChanges", move |thing, states, output| {
            let (_, entity_family, family, _) = thing;
            let states = states.iter().map(|((sequence, entity, hyperedge), _)| kernel::State {
                sequence: *sequence,
                entity,
                hyperedge,
            });
            for change in kernel::change_hyperedges(entity_family, *family, states, &domain) {
                output.push((Shared::new(change), 1));
            }
        })
        .map(|(_, change)| (change.id, change))
}
