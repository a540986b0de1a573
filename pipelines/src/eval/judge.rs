//! Judging an answer of the dataflow: how much of the needed evidence its trajectories cite, in which order.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{AnswerStep, Provenance};
use jiff::Timestamp;

use super::Question;

/// What an answer cites.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The question.
    pub question: Question,
    /// The documents that each trajectory cites, in the order of its steps.
    pub cited: Vec<Vec<String>>,
    /// Share of the needed documents that are cited.
    pub evidence: f64,
    /// Whether needed documents are cited, and in every trajectory in the order of the reasoning.
    pub in_order: bool,
    /// Cited documents that were issued after the question's time.
    pub late: Vec<String>,
}

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
    Outcome { in_order: n_found > 0 && ordered, question: question.clone(), cited, evidence, late }
}

/// Adds the documents of one step, oldest first: a change rests on an older and a newer one.
fn cite(found: &mut Vec<String>, provenance: &[Provenance], issued: &BTreeMap<String, Timestamp>) {
    let mut documents: Vec<&String> = provenance.iter().map(|p| &p.document.0).collect();
    documents.sort_by_key(|document| issued.get(*document));
    for document in documents {
        if !found.contains(document) {
            found.push(document.clone());
        }
    }
}

/// How many of the needed documents are cited, and their share; all, where none is needed.
fn shares(question: &Question, cited: &BTreeSet<&String>) -> (usize, f64) {
    // A row of a table stands for the table.
    let row_of = |need: &str| cited.iter().any(|d| d.strip_prefix(need).is_some_and(|rest| rest.starts_with('#')));
    let n_found = question.needs.iter().filter(|need| cited.contains(need) || row_of(need)).count();
    let share = if question.needs.is_empty() { 1.0 } else { n_found as f64 / question.needs.len() as f64 };
    (n_found, share)
}

/// Whether the cited ones among `expected` come in its order. Documents of one issue time have no order among themselves.
fn follows(cited: &[String], expected: &[String], issued: &BTreeMap<String, Timestamp>) -> bool {
    let places: Vec<usize> = cited.iter().filter_map(|d| expected.iter().position(|e| e == d)).collect();
    places.windows(2).all(|pair| {
        let (a, b) = (&expected[pair[0]], &expected[pair[1]]);
        pair[0] < pair[1] || issued.get(a).is_some() && issued.get(a) == issued.get(b)
    })
}
