//! `precedes`: reachability between cells along the steps of precedence (OKH-RAG A.3, eq. 11).
//!
//! Along one family every later place follows from an earlier one. So all that a cell reaches is known from the earliest
//! place at which it reaches each family: one number a family, in place of one bit for each other cell.

use std::collections::BTreeMap;

use hypercane_schemas::{Cell, GroupKey, Precedence};

use super::precedence::PrecedenceRules;

/// The transitive closure of precedence among given cells.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    cells: BTreeMap<Cell, usize>,
    /// Of each cell: its line, its lane, its place.
    places: Vec<(u32, usize, i64)>,
    n_lanes: usize,
    /// For each cell and lane the earliest place reached.
    earliest: Vec<i64>,
}

/// Later than every place.
const NEVER: i64 = i64::MAX;

impl Reach {
    /// The closure over these cells; cells that are not given do not mediate.
    pub fn new(rules: &PrecedenceRules, cells: &[Cell]) -> Self {
        Self::from_steps(cells, &rules.covering(cells))
    }

    /// The closure of given covering steps, such as the maintained ones. Steps from or to cells that are not given are
    /// ignored. Rules that [`PrecedenceRules::validate`] refuses can give circles; the cells of a circle then reach only
    /// what one pass finds.
    pub fn from_steps(cells: &[Cell], steps: &[Precedence]) -> Self {
        let mut index: BTreeMap<Cell, usize> = cells.iter().map(|cell| (cell.clone(), 0)).collect();
        index.values_mut().enumerate().for_each(|(at, slot)| *slot = at);

        let mut lines: BTreeMap<(&GroupKey, bool), u32> = BTreeMap::new();
        let mut lanes: BTreeMap<(u8, u8), usize> = index.keys().map(|cell| ((cell.phase, cell.family), 0)).collect();
        lanes.values_mut().enumerate().for_each(|(at, slot)| *slot = at);
        let mut places = Vec::with_capacity(index.len());
        for cell in index.keys() {
            let next = lines.len() as u32;
            let line = *lines.entry((&cell.group, cell.by_horizon)).or_insert(next);
            places.push((line, lanes[&(cell.phase, cell.family)], cell.sequence));
        }

        let mut after: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
        let mut n_before = vec![0u32; places.len()];
        for step in steps {
            if let (Some(&from), Some(&to)) = (index.get(&step.before), index.get(&step.after)) {
                after[from].push(to);
                n_before[to] += 1;
            }
        }
        let mut reach =
            Self { cells: index, n_lanes: lanes.len(), earliest: vec![NEVER; places.len() * lanes.len()], places };
        for &from in topological(&after, n_before).iter().rev() {
            for &to in &after[from] {
                reach.absorb(from, to);
            }
        }
        reach
    }

    /// Adds to what `from` reaches its successor `to`, and what that reaches.
    fn absorb(&mut self, from: usize, to: usize) {
        let n_lanes = self.n_lanes;
        let (_, lane, place) = self.places[to];
        for at in 0..n_lanes {
            let theirs = self.earliest[to * n_lanes + at];
            let theirs = if at == lane { theirs.min(place) } else { theirs };
            let ours = &mut self.earliest[from * n_lanes + at];
            *ours = (*ours).min(theirs);
        }
    }

    /// The index of a cell, for [`Self::precedes`].
    pub fn index(&self, cell: &Cell) -> Option<usize> {
        self.cells.get(cell).copied()
    }

    /// Whether one cell comes before another, by index.
    pub fn precedes(&self, before: usize, after: usize) -> bool {
        let (line, lane, place) = self.places[after];
        self.places[before].0 == line && self.earliest[before * self.n_lanes + lane] <= place
    }

    /// Whether one cell comes before another; false where one is not known.
    pub fn cell_precedes(&self, before: &Cell, after: &Cell) -> bool {
        match (self.index(before), self.index(after)) {
            (Some(before), Some(after)) => self.precedes(before, after),
            _ => false,
        }
    }
}

/// An order in which no successor comes before its predecessor; members of circles come last.
fn topological(after: &[Vec<usize>], mut n_before: Vec<u32>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..after.len()).filter(|&at| n_before[at] == 0).collect();
    let mut done = 0;
    while let Some(&at) = order.get(done) {
        done += 1;
        for &next in &after[at] {
            n_before[next] -= 1;
            if n_before[next] == 0 {
                order.push(next);
            }
        }
    }
    order.extend((0..after.len()).filter(|&at| n_before[at] > 0));
    order
}
