//! Structural precedence (OKH-RAG A.3): four rule families between cells, and reachability along them.
//!
//! A cell stands for all hyperedges of one group, place, phase and family, since the rules cannot tell these apart; so
//! the relation has the size of the vocabulary times the places, however many hyperedges there are.

use std::collections::BTreeMap;

use hypercane_schemas::{Cell, GroupKey, Hyperedge, Precedence, Rule};

use super::sequence::sequence;
pub use crate::domain::CausalRule;
use crate::domain::Domain;

/// The domain's part of the rules. Empty rules order nothing, and retrieval is then that of an unordered hypergraph.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PrecedenceRules {
    /// Rank of each family's phase, from 1. Families may share a phase.
    pub phases: BTreeMap<u8, u8>,
    /// The family of change edges. It has a phase of its own, which takes no part in the order of phases.
    pub change_family: Option<u8>,
    /// Causal chains.
    pub causal: Vec<CausalRule>,
}

/// Where a hyperedge stands, for its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standpoint {
    /// Its family.
    pub family: u8,
    /// For a change edge the family that changes, else its family.
    pub base_family: u8,
    /// Whole hours before the reference event; for a change edge those of the state before.
    pub horizon_hours: Option<i32>,
    /// Issue time in minutes since 1970; for a change edge that of the state before.
    pub issued_minutes: Option<i64>,
}

impl From<&Domain> for PrecedenceRules {
    fn from(domain: &Domain) -> Self {
        let phases = domain.families().iter().filter_map(|family| Some((family.number, family.phase_rank?)));
        Self { phases: phases.collect(), change_family: domain.change_family(), causal: domain.causal_rules().to_vec() }
    }
}

impl PrecedenceRules {
    /// The cell of a hyperedge of the hypergraph.
    pub fn cell_of(&self, hyperedge: &Hyperedge) -> Option<Cell> {
        let phase = *self.phases.get(&hyperedge.family)?;
        let (by_horizon, sequence) = sequence(hyperedge)?;
        Some(Cell { group: hyperedge.group.clone(), sequence, by_horizon, phase, family: hyperedge.base_family })
    }

    /// Rank of the phase of change edges.
    pub fn change_phase(&self) -> Option<u8> {
        self.change_family.and_then(|family| self.phases.get(&family).copied())
    }

    /// The cell of a hyperedge; `None` where it has no place in the sequence or its family no phase, since no rule touches
    /// it then.
    pub fn cell(&self, group: &GroupKey, at: Standpoint) -> Option<Cell> {
        let phase = *self.phases.get(&at.family)?;
        let (sequence, by_horizon) = match (at.horizon_hours, at.issued_minutes) {
            (Some(hours), _) => (-i64::from(hours) * 60, true),
            (None, Some(minutes)) => (minutes, false),
            (None, None) => return None,
        };
        Some(Cell { group: group.clone(), sequence, by_horizon, phase, family: at.base_family })
    }

    /// The rules by which one cell comes directly before another, at most one of each kind.
    pub fn between(&self, before: &Cell, after: &Cell) -> impl Iterator<Item = Rule> {
        let comparable = before.group == after.group && before.by_horizon == after.by_horizon;
        let [change_before, change_after] = [before, after].map(|cell| Some(cell.phase) == self.change_phase());
        let states = !change_before && !change_after;
        let one_place = before.sequence == after.sequence;
        let one_family = before.family == after.family;
        let rules = [
            (Rule::PhaseOrder, one_place && states && before.phase < after.phase),
            (Rule::FamilyEvolution, one_family && change_before == change_after && before.sequence < after.sequence),
            (Rule::CausalChain, one_place && states && self.chain(before.family, after.family).is_some()),
            (Rule::FamilyToChange, one_place && one_family && !change_before && change_after),
        ];
        rules.into_iter().filter(move |&(_, holds)| comparable && holds).map(|(rule, _)| rule)
    }

    /// The first causal rule that leads from one family to another.
    pub fn chain(&self, before: u8, after: u8) -> Option<&CausalRule> {
        self.causal.iter().find(|rule| rule.before.contains(&before) && rule.after.contains(&after))
    }

    /// Refuses rules that contradict each other: within one place, phases and causal chains together must have no circle,
    /// and the phase of change edges must be theirs alone.
    pub fn validate(&self) -> Result<(), String> {
        if let Some(change) = self.change_family {
            let Some(rank) = self.change_phase() else {
                return Err(format!("the change family {change} has no phase"));
            };
            if let Some((other, _)) = self.phases.iter().find(|&(&family, &phase)| phase == rank && family != change) {
                return Err(format!("family {other} shares phase {rank} with the change edges"));
            }
        }
        // One cell of each family at one place; whatever holds there holds at every place.
        let at = |family: u8| Standpoint { family, base_family: family, horizon_hours: Some(0), issued_minutes: None };
        let group = GroupKey(String::new());
        let mut left: Vec<Cell> = self.phases.keys().filter_map(|&family| self.cell(&group, at(family))).collect();
        while !left.is_empty() {
            let waits = |cell: &Cell| left.iter().any(|before| self.between(before, cell).next().is_some());
            let waiting: Vec<Cell> = left.iter().filter(|cell| waits(cell)).cloned().collect();
            if waiting.len() == left.len() {
                let families: Vec<String> = left.iter().map(|cell| cell.family.to_string()).collect();
                return Err(format!(
                    "the order of phases and the causal rules contradict each other among the families {}",
                    families.join(", ")
                ));
            }
            left = waiting;
        }
        Ok(())
    }

    /// Steps between the cells of one place (equal group, sequence and kind of sequence): neighbouring phases, causal
    /// chains, and each state with its change.
    pub fn steps_within(&self, cells: &[Cell]) -> Vec<Precedence> {
        let is_state = |cell: &Cell| Some(cell.phase) != self.change_phase();
        let mut phases: Vec<u8> = cells.iter().filter(|cell| is_state(cell)).map(|cell| cell.phase).collect();
        phases.sort_unstable();
        phases.dedup();
        let adjacent =
            |a: &Cell, b: &Cell| phases.binary_search(&a.phase).is_ok_and(|at| phases.get(at + 1) == Some(&b.phase));
        let mut steps = Vec::new();
        for before in cells {
            for after in cells {
                // A phase order across a phase that is there follows from its neighbours.
                let kept =
                    self.between(before, after).filter(|&rule| rule != Rule::PhaseOrder || adjacent(before, after));
                steps.extend(kept.map(|rule| Precedence { before: before.clone(), after: after.clone(), rule }));
            }
        }
        steps
    }

    /// Steps along one family (equal group, kind of sequence, family and phase): neighbouring places.
    pub fn steps_along(&self, cells: &[Cell]) -> Vec<Precedence> {
        let mut cells: Vec<&Cell> = cells.iter().collect();
        cells.sort_unstable();
        cells.dedup();
        let evolution = |pair: &[&Cell]| Precedence {
            before: pair[0].clone(),
            after: pair[1].clone(),
            rule: Rule::FamilyEvolution,
        };
        cells.windows(2).map(evolution).collect()
    }

    /// A set of direct steps, sorted, whose closure is that of all direct steps and whose size is linear in the number of
    /// cells. Every causal step is in it, as it says why.
    pub fn covering(&self, cells: &[Cell]) -> Vec<Precedence> {
        let mut places: BTreeMap<_, Vec<Cell>> = BTreeMap::new();
        let mut families: BTreeMap<_, Vec<Cell>> = BTreeMap::new();
        for cell in cells {
            places.entry((&cell.group, cell.by_horizon, cell.sequence)).or_default().push(cell.clone());
            families.entry((&cell.group, cell.by_horizon, cell.phase, cell.family)).or_default().push(cell.clone());
        }
        let within = places.values().flat_map(|cells| self.steps_within(cells));
        let along = families.values().flat_map(|cells| self.steps_along(cells));
        let mut steps: Vec<Precedence> = within.chain(along).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }
}
