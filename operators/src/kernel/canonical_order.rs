//! The canonical trajectory of a group (OKH-RAG A.3): the precedence DAG sorted topologically with a deterministic key,
//! and the chronological layout for readers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use hypercane_schemas::Cell;

use super::precedence::PrecedenceRules;

/// A hyperedge to be put in order.
#[derive(Clone, Debug)]
pub struct Orderable<I> {
    /// Its cell, where it has one.
    pub cell: Option<Cell>,
    /// Rank of its phase; 0 without one.
    pub phase: u8,
    /// Its family; for a change edge the family that changes.
    pub family: u8,
    /// Its place in the text.
    pub position: u32,
    /// Its id, which tells all others apart.
    pub id: I,
}

/// Place in the sequence: horizons first (the larger first), then issue times, then none.
type Lead = (u8, i64);

/// Among equals: phase rank, family rank, lead time, text position, id.
pub type CanonicalKey<I> = (u8, u8, Lead, u32, I);

/// For readers: lead time or issue time, phase, family, text position, id.
pub type ChronologicalKey<I> = (Lead, u8, u8, u32, I);

impl<I: Clone> Orderable<I> {
    fn lead(&self) -> Lead {
        match &self.cell {
            Some(cell) if cell.by_horizon => (0, cell.sequence),
            Some(cell) => (1, cell.sequence),
            None => (2, 0),
        }
    }

    /// The key that breaks ties in the canonical order.
    pub fn canonical_key(&self) -> CanonicalKey<I> {
        (self.phase, self.family, self.lead(), self.position, self.id.clone())
    }

    /// The key by which a trajectory is laid out for readers.
    pub fn chronological_key(&self) -> ChronologicalKey<I> {
        (self.lead(), self.phase, self.family, self.position, self.id.clone())
    }
}

/// The canonical order, as indices into `items`: repeatedly the least, by key, of those that nothing left precedes.
/// Every item is in it once, also under rules that contradict each other.
pub fn canonical_order<I: Ord + Clone>(rules: &PrecedenceRules, items: &[Orderable<I>]) -> Vec<usize> {
    let mut members: BTreeMap<&Cell, Vec<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        if let Some(cell) = &item.cell {
            members.entry(cell).or_default().push(at);
        }
    }
    // What precedes a hyperedge are the hyperedges of whole cells, so cells are counted down in place of pairs. The
    // covering steps free a cell exactly when all steps would.
    let cells: Vec<Cell> = members.keys().map(|&cell| cell.clone()).collect();
    let mut after: BTreeMap<&Cell, Vec<&Cell>> = BTreeMap::new();
    let mut waits_for: BTreeMap<&Cell, usize> = BTreeMap::new();
    let steps = rules.covering(&cells);
    for step in &steps {
        after.entry(&step.before).or_default().push(&step.after);
        *waits_for.entry(&step.after).or_default() += 1;
    }
    let mut left: BTreeMap<&Cell, usize> = members.iter().map(|(&cell, members)| (cell, members.len())).collect();

    let mut free = BinaryHeap::new();
    let push = |free: &mut BinaryHeap<_>, at: usize| free.push(Reverse((items[at].canonical_key(), at)));
    for (at, item) in items.iter().enumerate() {
        if item.cell.as_ref().is_none_or(|cell| !waits_for.contains_key(cell)) {
            push(&mut free, at);
        }
    }
    let mut order = Vec::with_capacity(items.len());
    let mut placed = vec![false; items.len()];
    while let Some(Reverse((_, at))) = free.pop() {
        order.push(at);
        placed[at] = true;
        let Some(cell) = &items[at].cell else { continue };
        let Some(n_left) = left.get_mut(cell) else { continue };
        *n_left -= 1;
        if *n_left > 0 {
            continue;
        }
        for &next in after.get(cell).into_iter().flatten() {
            let Some(n_waits) = waits_for.get_mut(next) else { continue };
            *n_waits -= 1;
            if *n_waits == 0 {
                members.get(next).into_iter().flatten().for_each(|&at| push(&mut free, at));
            }
        }
    }
    let mut rest: Vec<usize> = (0..items.len()).filter(|&at| !placed[at]).collect();
    rest.sort_by_cached_key(|&at| items[at].canonical_key());
    order.extend(rest);
    order
}
