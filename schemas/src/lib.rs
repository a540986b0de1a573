//! The words of Hypercane: one record per file, with its identifier, its invariants, its JSON and its Arrow form.
//!
//! Everything that crosses a boundary (a topic, a table, an operator) is one of these types. They hold no behaviour
//! beyond their own invariants; what is computed from them lives in `hypercane-operators`.

pub mod answer;
pub mod conflict;
pub mod document;
pub mod entity;
pub mod evidence;
pub mod fixed;
pub mod horizon;
pub mod hyperedge;
pub mod id;
pub mod incidence;
pub mod json;
pub mod model_output;
pub mod model_text;
pub mod precedence;
pub mod query;
pub mod ranking;
pub mod record;
pub mod reject;
pub mod synonym;
pub mod text;

pub use answer::{AnswerStep, Cause, Change, Part, ResultEvent, StepScore};
pub use conflict::{Conflict, ConflictKind, ConflictSide};
pub use document::{Document, DocumentKey};
pub use entity::{Category, Entity, EntityKey};
pub use evidence::{EvidenceRow, EvidenceScore};
pub use fixed::Fixed;
pub use horizon::HorizonUpdate;
pub use hyperedge::{Attribute, DirectedRelation, GroupKey, Hyperedge, HyperedgeId, Member, Origin, Provenance, Value};
pub use id::ContentHash;
pub use incidence::{Degree, Incidence};
pub use model_output::{ModelOutput, Vector};
pub use model_text::ModelText;
pub use precedence::{Cell, Precedence, Rule};
pub use query::{Mode, Query, QueryId, QueryParameters};
pub use ranking::{PassageScore, RankedPassage};
pub use record::Record;
pub use reject::{Reject, Stage};
pub use synonym::Synonym;
pub use text::Span;

/// The one totally ordered time of the dataflow: an epoch is a batch of changes that become visible together.
pub type Epoch = u64;
/// How often a row is present; `+1` adds it, `-1` takes it away.
pub type Diff = isize;
