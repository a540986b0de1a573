//! Plain functions: no dataflow, no input or output, no clock. An operator of the same name runs each over collections.

mod canonicalize;
mod change;
mod contradiction;
mod embedded;
mod embedding_text;
mod merge;
mod merge_entity;
mod sequence;
pub mod unify;
mod with_horizon;

pub use canonicalize::canonicalize;
pub use change::{State, change_hyperedges};
pub use contradiction::{Claim, claims, conflict_tolerance, contradictions, order_contradiction};
pub use embedded::{change_embedding_text, embedded_as, is_state, texts_to_embed};
pub use embedding_text::embedding_text;
pub use merge::merge;
pub use merge_entity::{EntityMention, merge_entity};
pub use sequence::sequence;
pub use with_horizon::{horizon_anchor, horizon_hours, with_horizon};
