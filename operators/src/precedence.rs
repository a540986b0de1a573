//! Precedence: the DAG of OKH-RAG A.3, kept between cells.
//!
//! As if its input never changed: the cells of all hyperedges, and between them a set of direct steps whose closure is
//! `precedes` and whose size is linear in the number of cells. It keeps the cells twice: by place and by family. A new cell
//! changes the steps at its own place and to its two neighbours in its family.

use std::sync::Arc;

use hypercane_schemas::{Cell, Hyperedge, HyperedgeId, Precedence};

use crate::{collection::Collection, kernel::PrecedenceRules, shared::Shared};

/// The distinct cells of the hyperedges.
pub fn cells<'scope>(
    hyperedges: Collection<'scope, (HyperedgeId, Shared<Hyperedge>)>,
    rules: Arc<PrecedenceRules>,
) -> Collection<'scope, Cell> {
    hyperedges.flat_map(move |(_, hyperedge)| rules.cell_of(&hyperedge)).distinct()
}

/// The covering steps between the cells.
pub fn precedence<'scope>(
    cells: Collection<'scope, Cell>,
    rules: Arc<PrecedenceRules>,
) -> Collection<'scope, Precedence> {
    let families = Arc::clone(&rules);
    let within = cells
        .clone()
        .map(|cell| ((cell.group.clone(), cell.by_horizon, cell.sequence), cell))
        .reduce_named("Precedence: within a place", move |_place, cells, output| {
            let cells: Vec<Cell> = cells.iter().map(|(cell, _)| (*cell).clone()).collect();
            output.extend(rules.steps_within(&cells).into_iter().map(|step| (step, 1)));
        })
        .map(|(_, step)| step);
    let along = cells
        .map(|cell| ((cell.group.clone(), cell.by_horizon, cell.phase, cell.family), cell))
        .reduce_named("Precedence: along a family", move |_family, cells, output| {
            let cells: Vec<Cell> = cells.iter().map(|(cell, _)| (*cell).clone()).collect();
            output.extend(families.steps_along(&cells).into_iter().map(|step| (step, 1)));
        })
        .map(|(_, step)| step);
    within.concat(along)
}
