//! The first of many scored things, kept while others come and go.

use std::cmp::Ordering;

use crate::kernel::rank::higher_first;

/// A thing with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored<I> {
    /// The score, a number.
    pub score: f64,
    /// What it is, for equal scores.
    pub id: I,
    /// Where it is held.
    pub slot: u32,
}

impl<I: Ord> Scored<I> {
    fn order(&self, other: &Self) -> Ordering {
        higher_first(self.score, other.score).then_with(|| self.id.cmp(&other.id))
    }
}

/// The first `n` things by score, equal ones by id, or all where there are fewer.
///
/// It holds up to twice as many, so that some may go before all have to be looked at again.
#[derive(Clone, Debug)]
pub struct Pool<I> {
    n: usize,
    held: Vec<Scored<I>>,
    /// Nothing outside comes before this; `None` where nothing is outside.
    rest: Option<Scored<I>>,
}

impl<I: Ord + Clone> Pool<I> {
    /// The first ones of all. Cost: linear in their count.
    pub fn new(n: usize, all: impl IntoIterator<Item = Scored<I>>) -> Self {
        let mut pool = Self { n, held: all.into_iter().collect(), rest: None };
        pool.cut();
        pool
    }

    /// How many it is to hold.
    pub fn n(&self) -> usize {
        self.n
    }

    /// What it holds, at least the first `n`, in no order; everything outside comes after [`Pool::rest`], or is it.
    pub fn held(&self) -> &[Scored<I>] {
        &self.held
    }

    /// The first of what is outside, or something before it; `None` where nothing is outside.
    pub fn rest(&self) -> Option<&Scored<I>> {
        self.rest.as_ref()
    }

    /// Takes out what was held in these slots, ascending. Gives whether it still holds the first ones.
    #[must_use]
    pub fn drop(&mut self, slots: &[u32]) -> bool {
        self.held.retain(|scored| slots.binary_search(&scored.slot).is_err());
        self.rest.is_none() || self.held.len() >= self.n
    }

    /// Takes something in. Gives whether what it holds is other than before.
    pub fn add(&mut self, scored: Scored<I>) -> bool {
        let comes_before = self.rest.as_ref().is_none_or(|rest| scored.order(rest).is_lt());
        if comes_before {
            self.held.push(scored);
            self.cut();
        }
        comes_before
    }

    /// The first ones, in order.
    pub fn first(&self) -> Vec<&Scored<I>> {
        let mut first: Vec<&Scored<I>> = self.held.iter().collect();
        first.sort_unstable_by(|a, b| a.order(b));
        first.truncate(self.n);
        first
    }

    /// Lets what is too much go.
    fn cut(&mut self) {
        let most = 2 * self.n;
        if self.held.len() > most {
            self.held.select_nth_unstable_by(most, Scored::order);
            // What falls out comes before all that was outside.
            self.rest = Some(self.held[most].clone());
            self.held.truncate(most);
        }
    }
}
