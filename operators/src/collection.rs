//! The one collection type of this crate, and the few verbs that the library lacks.

use std::collections::{BTreeMap, BTreeSet};

use differential_dataflow::{AsCollection, Data, ExchangeData, VecCollection};
use hypercane_schemas::{Diff, Epoch, QueryId};
use timely::{
    container::CapacityContainerBuilder,
    dataflow::{StreamVec, channels::pact::Pipeline, operators::Capability, operators::generic::operator::Operator},
};

/// A collection at the one totally ordered time, the epoch. Concrete, so that operators are compiled here once.
pub type Collection<'scope, D> = VecCollection<'scope, Epoch, D, Diff>;

/// Updates of an epoch, each a row and how often it comes.
pub(crate) type Updates<D> = Vec<(D, Diff)>;

/// The rows that were told of each question.
pub(crate) struct Told<R>(BTreeMap<QueryId, BTreeSet<R>>);

impl<R> Default for Told<R> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<R: Ord + Clone> Told<R> {
    /// What changes where a question has these rows now; none where it does not stand.
    pub(crate) fn tell(&mut self, question: QueryId, now: BTreeSet<R>) -> Updates<R> {
        let before = self.0.remove(&question).unwrap_or_default();
        let went = before.difference(&now).map(|row| (row.clone(), -1));
        let changes = went.chain(now.difference(&before).map(|row| (row.clone(), 1))).collect();
        if !now.is_empty() {
            self.0.insert(question, now);
        }
        changes
    }
}

/// What `apply` makes of all updates of an epoch that a worker has, epoch by epoch, each once it is complete.
pub(crate) fn by_epoch<'scope, D: Data, R: Data>(
    rows: StreamVec<'scope, Epoch, (D, Epoch, Diff)>,
    name: &str,
    mut apply: impl FnMut(Updates<D>) -> Updates<R> + 'static,
) -> Collection<'scope, R> {
    rows.unary_frontier::<CapacityContainerBuilder<Vec<(R, Epoch, Diff)>>, _, _, _>(Pipeline, name, |_, _| {
        let mut waiting: BTreeMap<Epoch, (Capability<Epoch>, Updates<D>)> = BTreeMap::new();
        move |(input, frontier), output| {
            input.for_each(|capability, rows| {
                // A message without a capability would be one of no epoch; inputs send none.
                let Some(capability) = capability.retain_least(output.output_index()) else { return };
                for (row, at, diff) in rows.drain(..) {
                    let waits = waiting.entry(at).or_insert_with(|| (capability.delayed(&at), Vec::new()));
                    waits.1.push((row, diff));
                }
            });
            while let Some(entry) = waiting.first_entry() {
                if frontier.less_equal(entry.key()) {
                    break;
                }
                let (at, (capability, rows)) = entry.remove_entry();
                let mut session = output.session(&capability);
                apply(rows).into_iter().for_each(|(row, diff)| session.give((row, at, diff)));
            }
        }
    })
    .as_collection()
}

/// Splits a collection of results: the good rows and the errors. Timely has no notion of failure, so an error is a row;
/// when the input that caused it goes, the error goes too.
pub fn split_results<'scope, D, E>(
    rows: Collection<'scope, Result<D, Box<E>>>,
) -> (Collection<'scope, D>, Collection<'scope, E>)
where
    D: ExchangeData,
    E: ExchangeData,
{
    (rows.clone().flat_map(Result::ok), rows.flat_map(Result::err).map(|error| *error))
}

/// Joins each row of `left` with the value of its key in `right` where there is one; `right` has at most one value a key.
/// Other rows get `None`.
pub fn left_join<'scope, K, V, W>(
    left: Collection<'scope, (K, V)>,
    right: Collection<'scope, (K, W)>,
) -> Collection<'scope, (K, V, Option<W>)>
where
    K: ExchangeData + std::hash::Hash,
    V: ExchangeData,
    W: ExchangeData,
{
    let left = left.arrange_by_key_named("LeftJoin: left");
    let right = right.arrange_by_key_named("LeftJoin: right");
    let matched = left.clone().join_core(right.clone(), |key, v, w| Some((key.clone(), v.clone(), Some(w.clone()))));
    let matched_keys = right.as_collection(|key, _| key.clone());
    let all = left.clone().as_collection(|key, v| (key.clone(), v.clone(), None));
    let with_key = left.join_core(matched_keys.arrange_by_self(), |key, v, ()| Some((key.clone(), v.clone(), None)));
    matched.concat(all).concat(with_key.negate())
}
