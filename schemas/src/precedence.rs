//! The precedence DAG, kept between cells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::GroupKey;

/// All hyperedges of one group, place in the sequence, phase and family. Precedence is kept between cells, so its size
/// does not grow with the number of hyperedges in a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// The group.
    pub group: GroupKey,
    /// Place in the sequence, smaller is earlier: minus the horizon in minutes where there is a horizon, else the issue
    /// time in minutes since 1970.
    pub sequence: i64,
    /// Whether `sequence` counts back from the group's reference time (a horizon) or is an issue time. The two are not
    /// compared with each other.
    pub by_horizon: bool,
    /// Rank of the phase, from 1.
    pub phase: u8,
    /// The family; for a change edge the family that changes.
    pub family: u8,
}

/// Which of the rules of OKH-RAG A.3 says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Within-horizon phase ordering.
    PhaseOrder,
    /// Cross-horizon family evolution.
    FamilyEvolution,
    /// Causal chain.
    CausalChain,
    /// A state before the change that starts from it.
    FamilyToChange,
}

/// One direct step of the precedence DAG; `precedes` is reachability along such steps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Precedence {
    /// What comes first.
    pub before: Cell,
    /// What comes after it.
    pub after: Cell,
    /// Why.
    pub rule: Rule,
}
