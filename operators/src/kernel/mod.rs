//! Plain functions: no dataflow, no input or output, no clock. An operator of the same name runs each over collections.

pub mod assemble;
pub mod beam_search;
pub mod calendar;
pub mod canonical_order;
mod canonicalize;
pub mod chain;
mod change;
mod chunk;
pub mod context;
mod contradiction;
mod cut;
mod embedded;
pub mod embedding_text;
pub mod entry;
pub mod evidence;
pub mod expand;
pub mod exposure;
pub mod fact_walk;
pub mod facts;
pub mod fuse;
pub mod geodesy;
pub mod hypergraph;
pub mod inject_horizons;
pub mod link;
pub mod matrix;
mod merge;
mod merge_entity;
pub mod normalise_relation;
pub mod number_words;
pub mod objective;
pub mod overlap;
pub mod passages;
pub mod precedence;
pub mod proof;
pub mod propagate;
pub mod prove;
pub mod rank;
pub mod reach;
pub mod reader;
pub mod relevance;
pub mod retrieve;
mod said_by;
pub mod scope;
mod sequence;
mod sorted;
pub mod split_horizons;
pub mod sub_queries;
pub mod synonyms;
pub mod synthesize_changes;
pub mod transition;
pub mod unify;
pub mod viterbi;
mod with_horizon;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod properties;

pub use assemble::{
    AssembleSettings, Assembled, EvidenceParts, EvidencePath, EvidenceWeights, Extraction, assemble, evidence_paths,
};
pub use beam_search::{BeamSettings, Trajectory, beam_search};
pub use canonical_order::{Orderable, canonical_order};
pub use canonicalize::canonicalize;
pub use chain::{Chain, ChainSettings, Lift, Surroundings, chain};
pub use change::{State, change_hyperedge, neighbouring_states};
pub use chunk::{Chunk, chunk};
pub use context::{ContextPath, ContextRelation, context};
pub use contradiction::{Claim, claims, conflict_tolerance, contradictions, order_contradiction};
pub use cut::{Piece, cut};
pub use embedded::{
    change_embedding_text, embedded_as, fact_embedding_text, is_state, may_have_synonyms, texts_to_embed,
};
pub use embedding_text::{Named, embedding_text};
pub use entry::{Grounds, Mentioned, NamedBy, entry};
pub use evidence::{EvidenceStep, evidence};
pub use expand::{ExpandSettings, Expanded, expand};
pub use fact_walk::{FactWalk, LocalSettings, Tie};
pub use fuse::{Split, contradiction_score, fuse, split};
pub use hypergraph::Hypergraph;
pub use inject_horizons::{anchor, horizon_label, hours_before, inject_horizons, is_anchor};
pub use matrix::Matrix;
pub use merge::merge;
pub use merge_entity::{EntityMention, merge_entity};
pub use normalise_relation::{Match, Relations, label_form};
pub use objective::{Parts, Trellis, Weights, entity_continuity, objective, order_coherence, precedence_consistency};
pub use overlap::{jaccard, overlaps};
pub use precedence::{CausalRule, PrecedenceRules, Standpoint};
pub use proof::{Proof, ProofHop, ProofSettings, SeedBy};
pub use propagate::{fixed_point, hyperedge_confidence, propagate, propagate_by_weight, query_relevance, restart};
pub use prove::{Hop, ProveSettings, Reached, prove_hop};
pub use rank::{by_best_part, reciprocal_rank_fusion};
pub use reach::Reach;
pub use reader::{Spoken, extract_answer};
pub use relevance::{cosine_of_units, relevance};
pub use retrieve::{Asked, Laid, Offered, ReachOf, Step, retrieve};
use said_by::said_by;
pub use scope::{Scope, ScopeSettings, Scoped, Via, scope};
pub use sequence::sequence;
pub use split_horizons::{Block, split_horizons};
pub use sub_queries::sub_queries;
pub use synonyms::{expanded, synonyms};
pub use synthesize_changes::{Change, synthesize_changes};
pub use transition::{Bilinear, Heuristic, Standing, StepCosts, Transition, log_transition};
pub use viterbi::{Viterbi, viterbi};
pub use with_horizon::with_horizon;
