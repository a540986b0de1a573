//! The exact join of names by cosine, kept while names come and go.

use std::collections::{BTreeMap, HashMap};

use hypercane_schemas::{Category, Diff, Vector};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::{
    directions::{Directions, PANEL, panel},
    guard::{EntityName, pair_may_link},
};
use crate::{kernel::relevance, shared::Shared};

/// A name with its vector.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NameVector {
    /// The name.
    pub name: Shared<EntityName>,
    /// The vector of its text.
    pub vector: Vector,
}

/// A change of the names: `+1` for one that comes, `-1` for one that goes.
pub type NameChange = (Shared<NameVector>, Diff);

/// The names of one share of all, and the links that follow from a change of any name.
///
/// Shares are searched apart: all are told of every change, and each change belongs to one. A pair of names is found in one
/// share only, so the links of all shares together are the join. Which pairs are linked, and with which cosine, is decided by
/// [`relevance()`] over the vectors as they are given, so neither depends on shares, blocks or order.
///
/// It keeps the vectors of its share once more, scaled to length one: 4 bytes a component. It keeps no links: those of a name
/// that goes are found as they were when it came. Cost of a change: its product with the names of its category in each share;
/// many changes at once go by matrix products.
pub struct CosineJoin {
    eta: f64,
    /// By category and number of components: names that differ in these are never linked.
    names: BTreeMap<(Category, usize), Names>,
    products: Vec<f32>,
}

impl CosineJoin {
    /// No names yet; links are those strictly above `eta`.
    pub fn new(eta: f64) -> Self {
        Self { eta, names: BTreeMap::new(), products: Vec::new() }
    }

    /// Takes changes in, and calls `link` with the two names of each link that comes or goes, its cosine, and +1 or -1. Names
    /// that have a [`guard`](super::guard()) are not among the changes; `owns` says which belong to this share.
    ///
    /// # Panics
    /// Where a name comes that is there, or one goes that is not, in this share.
    pub fn apply(
        &mut self,
        mut changes: Vec<NameChange>,
        owns: impl Fn(&Shared<NameVector>) -> bool,
        mut link: impl FnMut(&NameVector, &NameVector, f64, Diff),
    ) {
        let kind_of = |(row, _): &NameChange| (row.name.category, row.vector.0.len());
        changes.sort_by(|a, b| (kind_of(a), &a.0).cmp(&(kind_of(b), &b.0)));
        for changes in changes.chunk_by(|a, b| kind_of(a) == kind_of(b)) {
            let kind = kind_of(&changes[0]);
            let names = self.names.entry(kind).or_insert_with(|| Names::new(kind.1));
            names.apply(changes, &owns, self.eta, &mut self.products, &mut link);
            if names.rows.is_empty() {
                self.names.remove(&kind);
            }
        }
    }

    /// The bytes of the blocks that hold the directions.
    pub fn block_bytes(&self) -> usize {
        self.names.values().map(|names| names.directions.block_bytes()).sum()
    }
}

/// The names of one category, with vectors of one length.
struct Names {
    rows: Vec<Shared<NameVector>>,
    /// The directions of the rows.
    directions: Directions,
    /// Where each row is.
    at: HashMap<Shared<NameVector>, usize>,
}

impl Names {
    fn new(n_components: usize) -> Self {
        Self { rows: Vec::new(), directions: Directions::new(n_components), at: HashMap::new() }
    }

    fn extend<'a>(&mut self, rows: impl Iterator<Item = &'a Shared<NameVector>>) {
        let start = self.rows.len();
        for row in rows {
            let former = self.at.insert(row.clone(), self.rows.len());
            assert!(former.is_none(), "{:?} comes, but is there", row.name);
            self.rows.push(row.clone());
        }
        for part in self.rows[start..].chunks(PANEL) {
            self.directions.extend(panel_of(self.directions.n_components(), part.iter()).view());
        }
    }

    fn remove(&mut self, row: &Shared<NameVector>) {
        let Some(at) = self.at.remove(row) else { panic!("{:?} goes, but is not there", row.name) };
        self.rows.swap_remove(at);
        self.directions.swap_remove(at);
        if let Some(moved) = self.rows.get(at) {
            self.at.insert(moved.clone(), at);
        }
    }

    /// The changes are sorted by row.
    fn apply(
        &mut self,
        changes: &[NameChange],
        owns: impl Fn(&Shared<NameVector>) -> bool,
        eta: f64,
        products: &mut Vec<f32>,
        link: &mut impl FnMut(&NameVector, &NameVector, f64, Diff),
    ) {
        let own: Vec<usize> = (0..changes.len()).filter(|at| owns(&changes[*at].0)).collect();
        // First the names that stay, then those that change, in the order of the changes.
        let goes = own.iter().map(|at| &changes[*at]).filter(|(_, diff)| *diff < 0);
        goes.clone().for_each(|(row, _)| self.remove(row));
        let n_stay = self.rows.len();
        self.extend(own.iter().map(|at| &changes[*at].0));
        for (first, part) in (0..).step_by(PANEL).zip(changes.chunks(PANEL)) {
            let panel = panel_of(self.directions.n_components(), part.iter().map(|(row, _)| row));
            // Of two names that change, the later one's share finds the pair.
            let later = n_stay + own.partition_point(|at| *at <= first);
            for range in [0..n_stay, later..self.rows.len()] {
                self.directions.near(panel.view(), range, eta, products, |at, with| {
                    let (row, diff) = &part[at];
                    // Names that both come make a link, and so do such that both go; else one never met the other.
                    let meets = with.checked_sub(n_stay).is_none_or(|with| {
                        let with = own[with];
                        with > first + at && changes[with].1 == *diff
                    });
                    let other = &self.rows[with];
                    if meets {
                        let cosine = relevance(&row.vector.0, &other.vector.0);
                        if cosine > eta && pair_may_link(&row.name, &other.name) {
                            link(row, other, cosine, *diff);
                        }
                    }
                });
            }
        }
        goes.for_each(|(row, _)| self.remove(row));
    }
}

/// The directions of some rows.
fn panel_of<'a>(n_components: usize, rows: impl ExactSizeIterator<Item = &'a Shared<NameVector>>) -> Array2<f32> {
    panel(n_components, rows.map(|row| &*row.vector.0))
}
