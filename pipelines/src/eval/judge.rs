//! Judging an answer of the dataflow: how much of the needed evidence its trajectories cite, in which order.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::AnswerStep;
use jiff::Timestamp;

use super::{
    Outcome, Question,
    measure::{cite, follows, shares},
};

/// The outcome of a question from the steps of its answer. `issued` says when each document was issued.
pub fn judge(question: &Question, steps: &[AnswerStep], issued: &BTreeMap<String, Timestamp>) -> Outcome {
    let mut steps: Vec<&AnswerStep> = steps.iter().collect();
    steps.sort_by_key(|step| (step.rank, step.step));
    let mut cited: Vec<Vec<String>> = Vec::new();
    for step in steps {
        let rank = usize::from(step.rank);
        if cited.len() < rank {
            cited.resize(rank, Vec::new());
        }
        let Some(trajectory) = rank.checked_sub(1).and_then(|at| cited.get_mut(at)) else { continue };
        cite(trajectory, &step.provenance, issued);
    }
    let all: BTreeSet<&String> = cited.iter().flatten().collect();
    let (n_found, evidence) = shares(question, &all);
    let is_late = |document: &&&String| matches!((issued.get(**document), question.as_of), (Some(issued), Some(as_of)) if *issued > as_of);
    let late = all.iter().filter(is_late).map(|document| (*document).clone()).collect();
    let ordered = cited.iter().all(|documents| follows(documents, &question.ordered_evidence, issued));
    Outcome {
        in_order: n_found > 0 && ordered,
        question: question.clone(),
        links: Default::default(),
        n_candidates: 0,
        cited,
        evidence,
        late,
    }
}
