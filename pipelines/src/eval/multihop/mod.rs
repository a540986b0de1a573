//! Retrieval over corpora of passages: which share of the passages that a question needs comes among the first.
//!
//! A set is a folder with `corpus.jsonl` (`id`, `title`, `text`) and `questions.jsonl` (`id`, `question`, `supporting`).

mod compare;
mod evidence;
mod explain;
mod facts;
mod index;
mod measure;
mod prove;
mod report;
mod sets;
mod tune;

use hypercane_operators::kernel::passages::PassageSettings;
use serde::{Deserialize, Serialize};

pub use compare::{Ablation, ablations};
pub use evidence::EvidenceRun;
pub use explain::{Explained, explain};
pub use facts::{Facts, QuestionFacts};
pub use index::{Index, Watch};
pub use measure::{Measured, Ranked, Ranking, measure, rankings};
pub use prove::{Models, ProofRun};
pub use report::Report;
pub use sets::{Passage, Set, extra_questions, read_sets};
pub use tune::{Choice, Trial, Tuned, tune};

/// How passages are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, clap::ValueEnum)]
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
    /// By the best evidence of each passage, as HyCE-RAG finds it (`kernel::chain`).
    Evidence,
    /// The same with what goes beyond the paper (`kernel::Lift`).
    Lifted,
    /// By the best fact of each passage, as HyperProve proves hop by hop (`kernel::proof`).
    Prove,
}

impl Mode {
    /// Those that rank passages as they are.
    pub const OF_PASSAGES: [Self; 4] = [Self::Dense, Self::Lexical, Self::Fused, Self::Spread];

    /// Those that rank passages by their facts.
    pub const OF_FACTS: [Self; 3] = [Self::Evidence, Self::Lifted, Self::Prove];

    /// The name as it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Lexical => "lexical",
            Self::Fused => "fused",
            Self::Spread => "spread",
            Self::Evidence => "evidence",
            Self::Lifted => "lifted",
            Self::Prove => "prove",
        }
    }
}

/// The settings of the modes that have some.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Of mode spread.
    pub spread: PassageSettings,
    /// Of mode evidence.
    pub evidence: EvidenceRun,
    /// Of mode lifted.
    pub lifted: EvidenceRun,
    /// Of mode prove.
    pub prove: ProofRun,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            spread: PassageSettings::default(),
            evidence: EvidenceRun::default(),
            lifted: EvidenceRun::lifted(),
            prove: ProofRun::default(),
        }
    }
}
