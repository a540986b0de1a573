//! Plain functions: no dataflow, no input or output, no clock. An operator of the same name runs each over collections.

pub mod beam_search;
pub mod calendar;
pub mod canonical_order;
mod canonicalize;
mod change;
mod chunk;
mod contradiction;
mod embedded;
pub mod embedding_text;
pub mod evidence;
pub mod exposure;
pub mod geodesy;
pub mod inject_horizons;
pub mod link;
pub mod matrix;
mod merge;
mod merge_entity;
pub mod normalise_relation;
pub mod number_words;
pub mod objective;
pub mod overlap;
pub mod precedence;
pub mod reach;
pub mod relevance;
pub mod retrieve;
pub mod scope;
mod sequence;
pub mod split_horizons;
pub mod synthesize_changes;
pub mod transition;
pub mod unify;
pub mod viterbi;
mod with_horizon;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod properties;

pub use beam_search::{BeamSettings, Trajectory, beam_search};
pub use canonical_order::{Orderable, canonical_order};
pub use canonicalize::canonicalize;
pub use change::{State, change_hyperedge, neighbouring_states};
pub use chunk::{Chunk, chunk};
pub use contradiction::{Claim, claims, conflict_tolerance, contradictions, order_contradiction};
pub use embedded::{change_embedding_text, embedded_as, fact_embedding_text, is_state, texts_to_embed};
pub use embedding_text::{Named, embedding_text};
pub use evidence::{EvidenceStep, evidence};
pub use inject_horizons::{anchor, horizon_label, hours_before, inject_horizons, is_anchor};
pub use matrix::Matrix;
pub use merge::merge;
pub use merge_entity::{EntityMention, merge_entity};
pub use normalise_relation::{Match, Relations, label_form};
pub use objective::{Parts, Trellis, Weights, entity_continuity, objective, order_coherence, precedence_consistency};
pub use overlap::{jaccard, overlaps};
pub use precedence::{CausalRule, PrecedenceRules, Standpoint};
pub use reach::Reach;
pub use relevance::relevance;
pub use retrieve::{Asked, Laid, Offered, ReachOf, Step, retrieve};
pub use scope::{Scope, ScopeSettings, Scoped, Via, scope};
pub use sequence::sequence;
pub use split_horizons::{Block, split_horizons};
pub use synthesize_changes::{Change, synthesize_changes};
pub use transition::{Bilinear, Heuristic, Standing, StepCosts, Transition, log_transition};
pub use viterbi::{Viterbi, viterbi};
pub use with_horizon::with_horizon;
