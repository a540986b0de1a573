//! What each part of a mode is worth: the mode as published, with one thing taken away, and with one thing added.

use hypercane_operators::kernel::{ChainSettings, Lift, ProofSettings, SeedBy, passages::PassageSettings};
use serde::Serialize;

use super::{EvidenceRun, Facts, Index, Measured, Mode, Models, ProofRun, Ranked, Settings, measure};
use crate::connect;

/// A mode with one thing changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ablation {
    /// The mode.
    pub mode: Mode,
    /// What is changed; empty for the mode as it is.
    pub change: &'static str,
    /// Its figures.
    pub measured: Measured,
}

/// Weight of s_hyp beside S(e), where it is added.
const RETRIEVAL: f64 = 2.0;
/// Weight of a passage's fused score beside its evidence, where it is added.
const FUSED: f64 = 2.0;

/// The figures of the modes and of their changes on a set.
///
/// # Errors
/// The model, or the record of its outputs, fails.
pub async fn ablations(
    index: &Index,
    facts: &Facts,
    settings: &Settings,
    models: Models<'_>,
) -> Result<Vec<Ablation>, connect::Error> {
    let cpu_seconds = index.cpu_seconds + facts.cpu_seconds;
    let mut found = Vec::new();
    let mut add = |mode, change, ranked: &[Ranked]| {
        found.push(Ablation { mode, change, measured: Measured::new(index, ranked, cpu_seconds) });
    };
    let Settings { spread, evidence, lifted: beyond, prove } = *settings;
    let still = PassageSettings { step_weight: 0.0, walk_weight: 0.0, ..spread };
    let untitled = PassageSettings { title_weight: 0.0, title_edge: 1.0, ..spread };
    for (change, settings) in [("", spread), ("no propagation", still), ("titles count as mentions", untitled)] {
        for (mode, ranked) in measure(index, &settings, &[Mode::Spread]) {
            add(mode, change, &ranked);
        }
    }
    let unmoved = ChainSettings { steps: 0, ..evidence.settings };
    let lifted = |lift| EvidenceRun { settings: ChainSettings { lift, ..evidence.settings }, ..evidence };
    let as_published = Lift::default();
    for (change, run) in [
        ("", evidence),
        ("no propagation", EvidenceRun { settings: unmoved, ..evidence }),
        ("no evidence assembly", EvidenceRun { assembles: false, ..evidence }),
        ("pairwise edges", EvidenceRun { hyperedges: false, ..evidence }),
        ("no synonyms", EvidenceRun { synonyms: false, ..evidence }),
        ("s_hyp added to S(e)", lifted(Lift { retrieval_weight: RETRIEVAL, ..as_published })),
        ("passages' fused score added", EvidenceRun { fused_weight: FUSED, ..evidence }),
    ] {
        add(Mode::Evidence, change, &run.ranked(index, facts));
    }
    let lift = beyond.settings.lift;
    let lowered = |lift| EvidenceRun { settings: ChainSettings { lift, ..beyond.settings }, ..beyond };
    for (change, run) in [
        ("", beyond),
        ("entry entities alike, as published", lowered(Lift { entry_rarity: 0.0, ..lift })),
        ("walk as published", lowered(Lift { relevance_power: 0.0, ..lift })),
        ("no fused score of passages", EvidenceRun { fused_weight: 0.0, ..beyond }),
        ("as published, with these settings", EvidenceRun { fused_weight: 0.0, ..lowered(Lift::default()) }),
    ] {
        add(Mode::Lifted, change, &run.ranked(index, facts));
    }
    let seeded = ProofSettings { seed_by: SeedBy::Both, ..prove.settings };
    for (change, run) in [
        ("", prove),
        ("no synonyms", ProofRun { synonyms: false, ..prove }),
        ("fixed query", ProofRun { carries_answers: false, ..prove }),
        ("seeds dense and lexical", ProofRun { settings: seeded, ..prove }),
        ("passages' fused score added", ProofRun { fused_weight: FUSED, ..prove }),
    ] {
        add(Mode::Prove, change, &run.ranked(index, facts, models).await?);
    }
    Ok(found)
}
