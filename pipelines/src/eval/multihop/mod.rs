//! Retrieval over corpora of passages: which share of the passages that a question needs comes among the first.
//!
//! A set is a folder with `corpus.jsonl` (`id`, `title`, `text`) and `questions.jsonl` (`id`, `question`, `supporting`).

mod index;
mod measure;
mod report;
mod sets;
mod tune;

use serde::Serialize;

pub use index::{Index, Watch};
pub use measure::{Measured, Ranking, measure};
pub use report::Report;
pub use sets::{Passage, Set, read_sets};
pub use tune::{Trial, tune};

/// How passages are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// By cosine of title and text.
    Dense,
    /// By BM25.
    Lexical,
    /// By both, weighed.
    Fused,
    /// From the fused ranking on along what passages name (`kernel::passages`).
    Spread,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Dense, Self::Lexical, Self::Fused, Self::Spread];

    /// The name as it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Lexical => "lexical",
            Self::Fused => "fused",
            Self::Spread => "spread",
        }
    }
}
