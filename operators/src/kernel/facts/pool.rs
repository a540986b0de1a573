//! The first of many scored things, kept while others come and go.

use crate::kernel::rank::{in_ranking, keep_first};

/// A thing with its score.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scored<I> {
    /// The score, a number.
    pub(super) score: f64,
    /// What it is, for equal scores.
    pub(super) id: I,
    /// Where it is held.
    pub(super) slot: u32,
}

/// The first `n` things by score, equal ones by id, or all where there are fewer.
///
/// It holds up to twice as many, so that some may go before all have to be looked at again.
#[derive(Clone, Debug)]
pub(super) struct Pool<I> {
    n: usize,
    held: Vec<Scored<I>>,
    /// Nothing outside comes before this; `None` where nothing is outside.
    rest: Option<(f64, I)>,
}

impl<I: Ord + Clone> Pool<I> {
    /// The first ones of all. Cost: linear in their count.
    pub(super) fn new(n: usize, all: impl IntoIterator<Item = Scored<I>>) -> Self {
        let mut pool = Self { n, held: all.into_iter().collect(), rest: None };
        pool.cut();
        pool
    }

    /// How many it is to hold.
    pub(super) fn n(&self) -> usize {
        self.n
    }

    /// What it holds: at least the first `n`, in no order.
    pub(super) fn held(&self) -> &[Scored<I>] {
        &self.held
    }

    /// No score outside is above this; `None` where nothing is outside.
    pub(super) fn bound(&self) -> Option<f64> {
        self.rest.as_ref().map(|(score, _)| *score)
    }

    /// Takes out what was held in these slots, ascending. Gives whether it still holds the first ones.
    #[must_use]
    pub(super) fn drop(&mut self, slots: &[u32]) -> bool {
        self.held.retain(|scored| slots.binary_search(&scored.slot).is_err());
        self.rest.is_none() || self.held.len() >= self.n
    }

    /// Takes something in. Gives whether what it holds is other than before.
    pub(super) fn add(&mut self, scored: Scored<I>) -> bool {
        let is_before = |(score, id): &(f64, I)| in_ranking((scored.score, &scored.id), (*score, id)).is_lt();
        let comes_before = self.rest.as_ref().is_none_or(is_before);
        if comes_before {
            self.held.push(scored);
            self.cut();
        }
        comes_before
    }

    /// The first ones, in order.
    pub(super) fn first(&self) -> Vec<&Scored<I>> {
        let mut first: Vec<&Scored<I>> = self.held.iter().collect();
        first.sort_unstable_by(|a, b| in_ranking((a.score, &a.id), (b.score, &b.id)));
        first.truncate(self.n);
        first
    }

    /// Lets what is too much go.
    fn cut(&mut self) {
        if self.held.len() > 2 * self.n {
            // What falls out comes before all that was outside.
            self.rest = keep_first(&mut self.held, 2 * self.n, |scored| (scored.score, &scored.id));
        }
    }
}
