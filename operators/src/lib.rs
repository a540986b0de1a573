//! The maintained hypergraph: kernels, grammars and dataflow operators.
//!
//! Nothing here reads a file, a clock, a topic or the network; domain knowledge comes in through [`domain::Domain`].
//!
//! An operator is a function over collections. In the order of the flow:
//!
//! - [`upsert`]: changes under a key -> what stands
//! - [`chunk`]: documents -> the parts in which they are read
//! - [`extract()`], [`extract_answered`]: chunks -> what they say, by grammar or by a language model, and rejects
//! - [`supersede`]: corrections replace what they correct
//! - [`canonicalize`]: facts -> assertions in the pack's words
//! - [`unify`]: things named without their identifier join the thing itself
//! - [`dedupe`]: assertions -> hyperedges with all their supporters
//! - [`reference_times`], [`inject_horizons`]: places before each group's reference event
//! - [`synthesize_changes`]: hyperedges between neighbouring states
//! - [`incidence`], [`degrees`], [`entities`]: the hypergraph as a matrix and its vertices
//! - [`synonyms`], [`expanded_incidence`], [`expanded_degrees`]: links between names, and the incidence expanded by them
//! - [`cells`], [`precedence`]: the precedence DAG between cells
//! - [`link`], [`embed`], [`candidates`], [`trajectory`]: standing questions and their ordered evidence
//! - [`passages()`], [`rank_passages()`]: the parts of documents that retrieval ranks, and their rankings for standing questions
//! - [`asked`], [`find_evidence`]: what standing questions mention, and the paths of evidence for them
//! - [`value_conflicts`], [`order_conflicts`]: contradictions as data

pub mod assertion;
mod candidates;
mod canonicalize;
mod chunk;
mod collection;
mod conflicts;
mod dedupe;
pub mod domain;
mod entities;
mod expanded_incidence;
pub mod extract;
pub mod extraction;
mod find_evidence;
pub mod grammar;
mod incidence;
mod inject_horizons;
pub mod kernel;
pub mod language;
pub mod language_model;
mod link;
mod passages;
mod precedence;
mod rank_passages;
mod reference_times;
mod shared;
mod supersede;
mod synonyms;
mod synthesize_changes;
mod trajectory;
mod unify;
mod upsert;

pub use candidates::{Candidate, Embedded, candidates, embed};
pub use canonicalize::canonicalize;
pub use chunk::chunk;
pub use collection::{Collection, left_join, split_results};
pub use conflicts::{order_conflicts, value_conflicts};
pub use dedupe::dedupe;
pub use entities::entities;
pub use expanded_incidence::{expanded_degrees, expanded_incidence};
pub use extract::{extract, extract_answered};
pub use find_evidence::{asked, evidence_rows, fact, find_evidence, mentioned, named};
pub use incidence::{degrees, incidence};
pub use inject_horizons::inject_horizons;
pub use link::{LinkedQuery, link, question_embedded_as};
pub use passages::{PlacedPassage, passages};
pub use precedence::{cells, precedence};
pub use rank_passages::{rank_passages, ranked_passage, unranked};
pub use reference_times::reference_times;
pub use shared::Shared;
pub use supersede::supersede;
pub use synonyms::synonyms;
pub use synthesize_changes::synthesize_changes;
pub use trajectory::{answer, trajectory};
pub use unify::unify;
pub use upsert::{KeyedChange, upsert};
