//! One question: its answer, and how much of the needed evidence it cites.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_operators::{
    domain::Domain,
    kernel::{
        Asked, Candidate, Laid, Reach,
        link::{AliasMatch, Links, keys_of, read_question, resolve, verify},
        retrieve,
    },
};
use hypercane_schemas::{Provenance, QueryParameters};
use jiff::Timestamp;

use super::{Hypergraph, Question, hypergraph::storm_group};

/// What an answer cites.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The question.
    pub question: Question,
    /// What it was linked to.
    pub links: Links,
    /// How many hyperedges the links left.
    pub n_candidates: usize,
    /// The documents that each trajectory cites, in the order of its steps.
    pub cited: Vec<Vec<String>>,
    /// Share of the needed documents that are cited.
    pub evidence: f64,
    /// Whether needed documents are cited, and in every trajectory in the order of the reasoning.
    pub in_order: bool,
    /// Cited documents that were issued after the question's time.
    pub late: Vec<String>,
}

/// Answers a question and measures the answer.
pub fn measure(
    graph: &Hypergraph,
    question: &Question,
    vector: &[f32],
    domain: &Domain,
    reach: &Reach,
    parameters: &QueryParameters,
) -> Outcome {
    let links = link(graph, question, domain);
    let mut universe: BTreeSet<u32> = BTreeSet::new();
    for key in links.scope() {
        universe.extend(graph.scopes.get(&key).into_iter().flatten());
    }
    let candidates: Vec<Candidate<'_>> = universe
        .iter()
        .map(|&at| Candidate { edge: &graph.edges[at as usize], vector: &graph.vectors[at as usize].0 })
        .collect();
    let group = links.storms.first().and_then(|s| s.keys.first()).and_then(storm_group);
    let asked = Asked { links: &links, vector, group: group.as_ref(), parameters };
    let laid = retrieve(&asked, &candidates, reach, domain);
    let cited: Vec<Vec<String>> =
        laid.iter().map(|trajectory| documents(trajectory, &candidates, &graph.issued)).collect();
    let all: BTreeSet<&String> = cited.iter().flatten().collect();
    let (n_found, evidence) = shares(question, &all);
    let is_late = |document: &&String| matches!((graph.issued.get(*document), question.as_of), (Some(issued), Some(as_of)) if *issued > as_of);
    let late = all.iter().copied().filter(is_late).cloned().collect();
    let ordered = cited.iter().all(|documents| follows(documents, &question.ordered_evidence, &graph.issued));
    Outcome {
        in_order: n_found > 0 && ordered,
        question: question.clone(),
        n_candidates: candidates.len(),
        links,
        cited,
        evidence,
        late,
    }
}

/// How many of the needed documents are cited, and their share; all, where none is needed.
pub(super) fn shares(question: &Question, cited: &BTreeSet<&String>) -> (usize, f64) {
    // A row of a table stands for the table.
    let row_of = |need: &str| cited.iter().any(|d| d.strip_prefix(need).is_some_and(|rest| rest.starts_with('#')));
    let n_found = question.needs.iter().filter(|need| cited.contains(need) || row_of(need)).count();
    let share = if question.needs.is_empty() { 1.0 } else { n_found as f64 / question.needs.len() as f64 };
    (n_found, share)
}

fn link(graph: &Hypergraph, question: &Question, domain: &Domain) -> Links {
    let slots = read_question(&question.question, domain, question.as_of);
    let mut matched = BTreeSet::new();
    for (at, mention) in slots.mentions.iter().enumerate() {
        for alias in keys_of(&mention.form).iter().filter_map(|key| graph.aliases.get(key)).flatten() {
            if let Some(how) = verify(&mention.form, &alias.name, alias.is_name) {
                let (entity, kind) = (alias.entity.clone(), alias.kind.clone());
                matched.insert(AliasMatch { mention: at as u32, entity, kind, how });
            }
        }
    }
    resolve(&slots, &matched.into_iter().collect::<Vec<_>>(), domain)
}

/// The documents of a trajectory in the order of its steps, each once.
fn documents(trajectory: &Laid, candidates: &[Candidate<'_>], issued: &BTreeMap<String, Timestamp>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for step in &trajectory.steps {
        cite(&mut found, &candidates[step.candidate].edge.provenance, issued);
    }
    found
}

/// Adds the documents of one step, oldest first: a change rests on an older and a newer one.
pub(super) fn cite(found: &mut Vec<String>, provenance: &[Provenance], issued: &BTreeMap<String, Timestamp>) {
    let mut documents: Vec<&String> = provenance.iter().map(|p| &p.document.0).collect();
    documents.sort_by_key(|document| issued.get(*document));
    for document in documents {
        if !found.contains(document) {
            found.push(document.clone());
        }
    }
}

/// Whether the cited ones among `expected` come in its order. Documents of one issue time have no order among themselves.
pub(super) fn follows(cited: &[String], expected: &[String], issued: &BTreeMap<String, Timestamp>) -> bool {
    let places: Vec<usize> = cited.iter().filter_map(|d| expected.iter().position(|e| e == d)).collect();
    places.windows(2).all(|pair| {
        let (a, b) = (&expected[pair[0]], &expected[pair[1]]);
        pair[0] < pair[1] || issued.get(a).is_some() && issued.get(a) == issued.get(b)
    })
}
