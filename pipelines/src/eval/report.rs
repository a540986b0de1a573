//! The figures of an evaluation, as a table and as JSON.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

use super::Outcome;

/// Means over some questions.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
pub struct Scores {
    /// Mean share of the needed documents that are cited.
    pub evidence: f64,
    /// Share of questions that cite needed documents, all in the order of the reasoning.
    pub order: f64,
    /// Documents cited that were issued after the question's time.
    pub late: usize,
    /// How many questions.
    pub questions: usize,
}

/// All figures.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct Report {
    /// Over all questions.
    pub overall: Scores,
    /// By skill.
    pub skills: BTreeMap<String, Scores>,
}

impl Scores {
    fn of<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Self {
        let mut scores = Self::default();
        for outcome in outcomes {
            scores.questions += 1;
            scores.evidence += outcome.evidence;
            scores.order += f64::from(u8::from(outcome.in_order));
            scores.late += outcome.late.len();
        }
        let n = scores.questions.max(1) as f64;
        Self { evidence: scores.evidence / n, order: scores.order / n, ..scores }
    }
}

impl Report {
    /// The figures of these outcomes.
    pub fn of(outcomes: &[Outcome]) -> Self {
        let mut skills: BTreeMap<String, Vec<&Outcome>> = BTreeMap::new();
        for outcome in outcomes {
            skills.entry(outcome.question.skill.clone()).or_default().push(outcome);
        }
        Self {
            overall: Scores::of(outcomes.iter()),
            skills: skills.into_iter().map(|(skill, of)| (skill, Scores::of(of.into_iter()))).collect(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<16} {:>9} {:>9} {:>7} {:>6}", "skill", "questions", "evidence", "order", "late")?;
        let lines =
            self.skills.iter().map(|(name, scores)| (name.as_str(), scores)).chain([("overall", &self.overall)]);
        for (name, s) in lines {
            writeln!(f, "{name:<16} {:>9} {:>9.3} {:>7.3} {:>6}", s.questions, s.evidence, s.order, s.late)?;
        }
        Ok(())
    }
}
