//! Upsert: from a stream of changes under a key to the collection of what stands.
//!
//! As if its input never changed: under each key the value of the change with the largest sequence number, if that
//! change is no deletion. It keeps one value a key in memory, on the worker that the key hashes to.
//!
//! A sequence number orders the changes of one key: within an epoch the largest wins, across epochs the later epoch
//! wins. A change that repeats what stands gives no update.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
};

use differential_dataflow::{AsCollection, ExchangeData, Hashable};
use hypercane_schemas::Epoch;
use timely::dataflow::{
    Stream,
    channels::pact::Exchange,
    operators::{Capability, generic::operator::Operator},
};

use crate::collection::Collection;

/// A change under a key: the sequence number, and the new value or `None` for a deletion.
pub type KeyedChange<K, V> = (K, u64, Option<V>);

/// The changes of an epoch that is not complete, and the right to send what follows from them.
type Waiting<K, V> = (Capability<Epoch>, Vec<KeyedChange<K, V>>);

/// The values that stand, under their keys.
pub fn upsert<'scope, K, V>(changes: Stream<'scope, Epoch, Vec<KeyedChange<K, V>>>) -> Collection<'scope, (K, V)>
where
    K: ExchangeData + Hashable<Output: Into<u64>> + Hash,
    V: ExchangeData,
{
    let by_key = Exchange::new(|change: &KeyedChange<K, V>| change.0.hashed().into());
    changes
        .unary_frontier::<timely::container::CapacityContainerBuilder<Vec<((K, V), Epoch, isize)>>, _, _, _>(
            by_key,
            "Upsert",
            |_capability, _info| {
                let mut standing: HashMap<K, V> = HashMap::new();
                let mut waiting: BTreeMap<Epoch, Waiting<K, V>> = BTreeMap::new();
                move |(input, frontier), output| {
                    input.for_each(|capability, changes| {
                        // A message without a capability would be one of no epoch; inputs send none.
                        if let Some(capability) = capability.retain_least(output.output_index()) {
                            let at = *capability.time();
                            waiting.entry(at).or_insert_with(|| (capability, Vec::new())).1.append(changes);
                        }
                    });
                    while let Some(entry) = waiting.first_entry() {
                        if frontier.less_equal(entry.key()) {
                            break;
                        }
                        let (at, (capability, mut changes)) = entry.remove_entry();
                        // The last change of a key in this order is the one that stands.
                        changes.sort();
                        let mut session = output.session(&capability);
                        let mut changes = changes.into_iter().peekable();
                        while let Some((key, _, value)) = changes.next() {
                            if changes.peek().is_some_and(|next| next.0 == key) {
                                continue;
                            }
                            if standing.get(&key) == value.as_ref() {
                                continue;
                            }
                            let former = match value.clone() {
                                Some(value) => standing.insert(key.clone(), value),
                                None => standing.remove(&key),
                            };
                            if let Some(former) = former {
                                session.give(((key.clone(), former), at, -1));
                            }
                            if let Some(value) = value {
                                session.give(((key, value), at, 1));
                            }
                        }
                    }
                }
            },
        )
        .as_collection()
}
