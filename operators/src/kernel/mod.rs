//! Plain functions: no dataflow, no input or output, no clock. An operator of the same name runs each over collections.

pub mod beam_search;
pub mod canonical_order;
pub mod embedding_text;
pub mod evidence;
pub mod exposure;
pub mod geodesy;
pub mod inject_horizons;
pub mod link;
pub mod matrix;
pub mod normalise_relation;
pub mod objective;
pub mod overlap;
pub mod precedence;
pub mod reach;
pub mod relevance;
pub mod retrieve;
pub mod scope;
pub mod split_horizons;
pub mod synthesize_changes;
pub mod transition;
pub mod viterbi;

#[cfg(test)]
mod conformance;

pub use beam_search::{BeamSettings, Trajectory, beam_search};
pub use canonical_order::{Orderable, canonical_order};
pub use embedding_text::{Named, embedding_text};
pub use evidence::{EvidenceStep, evidence};
pub use inject_horizons::{anchor, horizon_label, hours_before, inject_horizons, is_anchor};
pub use matrix::Matrix;
pub use normalise_relation::{Match, Relations, label_form};
pub use objective::{Parts, Trellis, Weights, entity_continuity, objective, order_coherence, precedence_consistency};
pub use overlap::jaccard;
pub use precedence::{CausalRule, PrecedenceRules, Standpoint};
pub use reach::Reach;
pub use relevance::relevance;
pub use retrieve::{Asked, Candidate, Laid, Step, cell_of, precedence_rules, retrieve};
pub use scope::{Scope, ScopeSettings, Scoped, Via, scope};
pub use split_horizons::{Block, split_horizons};
pub use synthesize_changes::{Change, ChangeRelations, entity_family, synthesize_changes};
pub use transition::{Bilinear, Heuristic, Standing, StepCosts, Transition, log_transition};
pub use viterbi::{Viterbi, viterbi};
