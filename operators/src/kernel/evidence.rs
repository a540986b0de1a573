//! Evidence as numbered steps for a reader or a generator (OKH-RAG A.8).

use std::fmt::Write;

use hypercane_schemas::text;

use super::inject_horizons::horizon_label;

/// One step of a trajectory, as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct EvidenceStep<'a> {
    /// Hours before the reference event, where known.
    pub horizon: Option<i32>,
    /// Its phase.
    pub phase: &'a str,
    /// Its semantic family.
    pub family: &'a str,
    /// Its relation.
    pub relation: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Reasoning tags, such as `within_horizon`.
    pub reasoning: &'a [&'a str],
    /// Name and type of each participant.
    pub entities: &'a [(&'a str, &'a str)],
}

/// The steps as text: line feeds between lines, none at the end, white space of a step's text folded so that every step
/// keeps its lines. A part that has nothing to say is left out.
pub fn evidence(steps: &[EvidenceStep<'_>]) -> String {
    let mut out = String::new();
    for (idx, step) in steps.iter().enumerate() {
        if idx > 0 {
            out.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = write!(out, "[Step {}]", idx + 1);
        if let Some(hours) = step.horizon {
            let _ = write!(out, " [{}]", horizon_label(hours));
        }
        let _ = write!(out, " [phase={}] [family={}]", step.phase, step.family);
        let _ = write!(out, "\n  Relation: {}\n  Evidence: {}", step.relation, text::canonical(step.text));
        if !step.reasoning.is_empty() {
            let _ = write!(out, "\n  Reasoning: {}", step.reasoning.join(", "));
        }
        if !step.entities.is_empty() {
            let shown: Vec<String> = step.entities.iter().map(|(name, kind)| format!("{name} [{kind}]")).collect();
            let _ = write!(out, "\n  Entities: {}", shown.join("; "));
        }
    }
    out
}
