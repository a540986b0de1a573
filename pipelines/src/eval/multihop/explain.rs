//! One question's evidence, with every part of every score, for people and as JSON.

use std::{collections::BTreeMap, fmt};

use hypercane_operators::kernel::{
    Chain, ContextPath, EvidenceParts, EvidenceWeights, Grounds, NamedBy, context,
    passages::{Asked, First, PassageSettings, Ranked, Scratch},
};
use serde::Serialize;

use super::{
    EvidenceRun, Facts, Index, Models, ProofRun, QuestionFacts, Settings,
    index::{at, vectors},
};
use crate::connect;

/// Passages that are shown with the parts of their score.
const PASSAGES: usize = 10;

/// A question with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// The set.
    pub set: String,
    /// The question.
    pub question: String,
    /// Its evidence as published.
    pub evidence: Evidence,
    /// Its evidence with what goes beyond the paper.
    pub lifted: Evidence,
    /// The hops of the proof (HyperProve).
    pub hops: Vec<Hop>,
    /// The first passages of mode `spread`.
    pub passages: Vec<Passage>,
}

/// The evidence of a question (HyCE-RAG).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// V_0, with what each entity is there for.
    pub entry: Vec<Entry>,
    /// The weights of S(e).
    pub weights: EvidenceWeights,
    /// The evidence paths, best first; none where no entity is confident enough.
    pub paths: Vec<Path>,
    /// S_max.
    pub highest: f64,
    /// The score at which a path supports.
    pub threshold: f64,
    /// The contradiction score.
    pub contradiction: f64,
    /// What a generator is given (HyCE-RAG eq. 41).
    pub context: String,
}

/// An entry entity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Its key.
    pub entity: String,
    /// `name`, `alias` or `synonym`, where the question mentions it.
    pub named: Option<&'static str>,
    /// Its cosine, where it is among the nearest.
    pub nearest: Option<f64>,
}

/// An evidence path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Path {
    /// The passage's id.
    pub passage: String,
    /// The sentence, as it stands by itself.
    pub text: String,
    /// F(e), with the confidence of each.
    pub retained: BTreeMap<String, f64>,
    /// The terms of S(e).
    pub parts: EvidenceParts,
    /// S(e).
    pub score: f64,
    /// The path that stands for it, by position from 1; itself where it represents its group.
    pub represented_by: usize,
    /// Whether its group supports the answer, or diverges.
    pub supports: bool,
}

/// A hop of a proof.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hop {
    /// The sub-query, with the answers before.
    pub query: String,
    /// The hop's answer.
    pub answer: Option<String>,
    /// Its evidence: score, cosine, structure, text.
    pub evidence: Vec<(f64, f64, f64, String)>,
}

/// A passage with the parts of its score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Passage {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Cosine.
    pub dense: f64,
    /// BM25.
    pub lexical: f64,
    /// Both, in 0 to 1.
    pub fused: f64,
    /// With the titles that the question names.
    pub start: f64,
    /// What the names of the first passages lead to.
    pub step: f64,
    /// Where the walk stands.
    pub walk: f64,
    /// All together.
    pub total: f64,
}

/// Explains a question: what stands as a question of the set, or any other one.
///
/// # Errors
/// The model, or the record of its outputs, fails.
pub async fn explain(
    question: &str,
    index: &Index,
    facts: &Facts,
    settings: &Settings,
    models: Models<'_>,
) -> Result<Explained, connect::Error> {
    let vector = vectors(models.recorded, &[question.to_owned()], models.watch).await?.remove(0);
    let asked = facts.read_questions(vec![(question.to_owned(), vector)], models.recorded, models.watch).await?;
    Ok(Explained {
        set: index.set.name.clone(),
        question: question.to_owned(),
        evidence: shown_evidence(&settings.evidence, index, facts, &asked[0]),
        lifted: shown_evidence(&settings.lifted, index, facts, &asked[0]),
        hops: hops(facts, &settings.prove, &asked, models).await?,
        passages: passages(index, &settings.spread, &asked[0]),
    })
}

fn shown_evidence(run: &EvidenceRun, index: &Index, facts: &Facts, asked: &QuestionFacts) -> Evidence {
    let chain = run.chain(facts, asked, &facts.graph, |fact| *fact);
    let cosines = facts.entity_cosines(&asked.vector.0);
    let entry = facts.entry(asked, &cosines, &run.settings, run.synonyms);
    Evidence {
        entry: entry.into_iter().map(|(entity, grounds)| shown_entry(facts, entity, grounds)).collect(),
        weights: run.settings.weights,
        paths: (0..chain.n_paths).map(|at| path(index, facts, &chain, at)).collect(),
        highest: chain.split.highest,
        threshold: chain.split.threshold,
        contradiction: chain.contradiction,
        context: shown_context(&asked.text, index, facts, &chain, run.settings.segments),
    }
}

/// The context of an answer, from the path that represents each group.
fn shown_context(question: &str, index: &Index, facts: &Facts, chain: &Chain<u32, u32>, segments: usize) -> String {
    let name = |entity: &u32| facts.name(chain.graph.entities()[*entity as usize]);
    let groups = 0..chain.groups.len();
    let names: Vec<Vec<&str>> =
        groups.map(|group| chain.representative(group).retained.iter().map(name).collect()).collect();
    let shown = |group: &usize| {
        let path = chain.representative(*group);
        let fact = chain.graph.hyperedges()[path.hyperedge as usize] as usize;
        ContextPath {
            source: &index.set.passages[facts.passages[fact] as usize].title,
            text: &facts.texts[fact],
            entities: &names[*group],
            relations: &[],
            score: path.score,
            confidence: path.parts.extraction,
        }
    };
    let supporting: Vec<ContextPath<'_>> = chain.split.supporting.iter().map(shown).collect();
    let divergent: Vec<ContextPath<'_>> = chain.split.divergent.iter().map(shown).collect();
    context(question, &supporting, &divergent, segments)
}

fn shown_entry(facts: &Facts, entity: u32, grounds: Grounds) -> Entry {
    let named = grounds.named.map(|by| match by {
        NamedBy::Name => "name",
        NamedBy::Alias => "alias",
        NamedBy::Synonym => "synonym",
    });
    Entry { entity: facts.entities[entity as usize].clone(), named, nearest: grounds.nearest }
}

fn path(index: &Index, facts: &Facts, chain: &Chain<u32, u32>, at: usize) -> Path {
    let path = &chain.paths()[at];
    let fact = chain.graph.hyperedges()[path.hyperedge as usize] as usize;
    let group = chain.groups.iter().position(|group| group.contains(&at)).unwrap_or_default();
    let retained = path.retained.iter().map(|entity| {
        let name = facts.name(chain.graph.entities()[*entity as usize]).to_owned();
        (name, chain.confidence[*entity as usize])
    });
    Path {
        passage: index.set.passages[facts.passages[fact] as usize].id.clone(),
        text: facts.texts[fact].clone(),
        retained: retained.collect(),
        parts: path.parts,
        score: path.score,
        represented_by: chain.groups[group][0] + 1,
        supports: chain.split.supporting.contains(&group),
    }
}

async fn hops(
    facts: &Facts,
    run: &ProofRun,
    asked: &[QuestionFacts],
    models: Models<'_>,
) -> Result<Vec<Hop>, connect::Error> {
    let proofs = run.proofs(facts, asked, models).await?;
    let hops = proofs.iter().flat_map(|(proof, _)| proof.hops());
    let hops = hops.map(|hop| {
        let evidence = hop.hop.evidence().iter();
        let text = |fact: u32| facts.texts[fact as usize].clone();
        Hop {
            query: hop.query.clone(),
            answer: hop.answer.clone(),
            evidence: evidence.map(|of| (of.score, of.cosine, of.structure, text(of.fact))).collect(),
        }
    });
    Ok(hops.collect())
}

fn passages(index: &Index, settings: &PassageSettings, question: &QuestionFacts) -> Vec<Passage> {
    let asked = Asked::new(&question.text, Some(question.vector.clone()), None);
    let first = First::new(&index.passages, &asked, settings, settings.n_first(PASSAGES));
    let ranking = index.passages.rank(&asked, &first, settings, PASSAGES, &mut Scratch::default());
    let fused = index.fused(&asked, settings);
    let passage = |ranked: &Ranked| {
        let at = at(ranked.id) as usize;
        let passage = &index.set.passages[at];
        Passage {
            id: passage.id.clone(),
            title: passage.title.clone(),
            dense: ranked.dense,
            lexical: ranked.lexical,
            fused: fused[at],
            start: ranked.start,
            step: ranked.step,
            walk: ranked.walk,
            total: ranked.total,
        }
    };
    ranking.ranked.iter().map(passage).collect()
}

impl Evidence {
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Entry entities")?;
        for Entry { entity, named, nearest } in &self.entry {
            let named = named.map_or_else(String::new, |by| format!("  by {by}"));
            let nearest = nearest.map_or_else(String::new, |cosine| format!("  nearest, cosine {cosine:.3}"));
            writeln!(f, "  {entity}{named}{nearest}")?;
        }
        let EvidenceWeights { coverage, propagation, extraction, entry, relations } = self.weights;
        writeln!(
            f,
            "\nEvidence paths (weights: coverage {coverage}, propagation {propagation}, extraction {extraction}, entry \
             {entry}, relations {relations}; a path supports from {:.4} on)",
            self.threshold
        )?;
        for (number, path) in (1..).zip(&self.paths) {
            let EvidenceParts { coverage, propagation, extraction, entry, relations } = path.parts;
            let side = if path.supports { "supports" } else { "diverges" };
            let fused = if path.represented_by == number {
                String::new()
            } else {
                format!(", says the same as {}", path.represented_by)
            };
            writeln!(f, "  {number}. {:.4} {side}{fused}  [{}]", path.score, path.passage)?;
            writeln!(f, "     {}", path.text)?;
            writeln!(
                f,
                "     coverage {coverage:.3}, propagation {propagation:.4}, extraction {extraction:.2}, entry {entry:.0}, \
                 relations {relations:.2}"
            )?;
            let retained: Vec<String> = path.retained.iter().map(|(name, c)| format!("{name} {c:.4}")).collect();
            writeln!(f, "     {}", retained.join("; "))?;
        }
        writeln!(f, "\nContradiction score {:.3}\n\nContext\n{}", self.contradiction, self.context)
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({})\n\nEvidence as published\n", self.question, self.set)?;
        self.evidence.show(f)?;
        writeln!(f, "\nEvidence, lifted\n")?;
        self.lifted.show(f)?;
        writeln!(f, "\nProof")?;
        for (number, hop) in (1..).zip(&self.hops) {
            writeln!(f, "  {number}. {}  ->  {}", hop.query, hop.answer.as_deref().unwrap_or("no answer"))?;
            for (score, cosine, structure, text) in &hop.evidence {
                writeln!(f, "     {score:.3} = cosine {cosine:.3}, structure {structure:.2}: {text}")?;
            }
        }
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::ASCII_MARKDOWN);
        table.set_header(["", "passage", "title", "dense", "lexical", "fused", "start", "step", "walk", "total"]);
        for (number, p) in (1..).zip(&self.passages) {
            let mut row = vec![format!("{number}"), p.id.clone(), p.title.clone()];
            row.extend(
                [p.dense, p.lexical, p.fused, p.start, p.step, p.walk, p.total].map(|part| format!("{part:.3}")),
            );
            table.add_row(row);
        }
        writeln!(f, "\nPassages of mode spread\n{table}")
    }
}
