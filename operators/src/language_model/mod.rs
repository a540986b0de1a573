//! What a language model is asked, what it answers, and the facts that follow from an answer.
//!
//! All of it is pure: a prompt ([`Prompt`]) and a passage make the messages; the text of an answer is read strictly
//! ([`read`]) or found malformed, with a reason that goes back to the model once; [`extraction`] turns a recorded answer
//! into facts. The hops of a question are asked for in the same way ([`HopPrompts`]). Who asks, and how answers are recorded, is a matter of `pipelines`.

mod clean;
mod facts;
mod form;
mod hops;
mod open_ie;
mod prompt;
mod read;
mod template;

pub use clean::{Dropped, MOST_ENTITIES, MOST_HYPEREDGES, MOST_PARTICIPANTS, MOST_RELATIONS};
pub(crate) use facts::is_name;
pub use facts::{entity_key, extraction};
pub use form::{Answer, EntityRecord, HyperedgeRecord, RelationRecord, json_schema};
pub use hops::{HopPrompts, read_hop_answer, read_sub_queries};
pub use open_ie::OpenIe;
pub use prompt::{Message, Passage, Prompt, Role, imported_template};
pub use read::{Malformed, Reading, read, refusal};
pub use template::Template;
