//! One question, asked once: of a lake as it stood at an epoch, or of a pipeline that runs.
//!
//! A lake is asked by building the same dataflow in memory from the inputs and vectors that it recorded, so that the
//! answer is the one that a standing question would have had. A running pipeline is asked by a standing question that is
//! taken back once it is answered.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use hypercane_operators::{
    domain::Domain,
    kernel::{EvidenceStep, evidence},
};
use hypercane_schemas::{
    AnswerStep, Change, Entity, EntityKey, Epoch, EvidenceRow, Hyperedge, HyperedgeId, Part, Provenance, Query,
    RankedPassage,
};

use crate::{
    connect::{
        self,
        format::Input,
        lake::Lake,
        transport::{Event, Feed, Next},
    },
    enrich::Models,
    pipeline::{self, Pipeline, read_inputs},
    run::read_result,
    texts::unanswered,
};

/// An answer, with what its evidence text names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The steps, by rank and step.
    pub steps: Vec<AnswerStep>,
    /// The passages, by rank.
    pub passages: Vec<RankedPassage>,
    /// The paths of evidence, by rank.
    pub evidence: Vec<EvidenceRow>,
    /// The facts behind the steps, where they are known.
    pub hyperedges: BTreeMap<HyperedgeId, Hyperedge>,
    /// Who takes part in them.
    pub entities: BTreeMap<EntityKey, Entity>,
}

/// Asks a lake as it stood at an epoch; `told` hears what is being done.
///
/// # Errors
/// The lake can't be read, the model fails, or the dataflow stops.
pub async fn ask_lake(
    lake: &Lake,
    epoch: Option<Epoch>,
    query: Query,
    domain: &Arc<Domain>,
    models: impl Into<Models>,
    n_workers: usize,
    mut told: impl FnMut(String),
) -> Result<Answer, pipeline::Error> {
    let models = models.into();
    told("reading the documents".into());
    let mut inputs = read_inputs(lake, epoch).await?;
    // Other standing questions don't bear on this one.
    inputs.queries.clear();
    told(format!("building the hypergraph of {} documents", inputs.documents.len()));
    let mut pipeline = Pipeline::start(n_workers, Arc::clone(domain), models.clone(), None).await?;
    pipeline.withhold(unanswered(&models, lake, epoch).await?);
    let graph = pipeline.step(inputs.into_inputs()).await?.changes.unwrap_or_default();
    told("asking".into());
    let changes = pipeline.step(vec![Input::Query(query.id.clone(), Some(query))]).await?.changes.unwrap_or_default();

    let ranked = changes.rankings.into_iter().filter(|(.., diff)| *diff > 0);
    let mut passages: Vec<RankedPassage> = ranked.map(|(passage, ..)| passage).collect();
    passages.sort_by_key(|passage| passage.rank);
    let found = changes.evidence.into_iter().filter(|(.., diff)| *diff > 0);
    let mut evidence: Vec<EvidenceRow> = found.map(|(path, ..)| path).collect();
    evidence.sort_by_key(|path| path.rank);
    let added = changes.answers.into_iter().filter(|(.., diff)| *diff > 0);
    let mut answer = Answer { steps: added.map(|(step, ..)| step).collect(), passages, evidence, ..Answer::default() };
    answer.steps.sort_by_key(|step| (step.rank, step.step));
    let cited: BTreeSet<HyperedgeId> = answer.steps.iter().map(|step| step.hyperedge).collect();
    let facts = graph.hyperedges.iter().filter(|(fact, _, diff)| *diff > 0 && cited.contains(&fact.id));
    answer.hyperedges = facts.map(|(fact, ..)| (fact.id, (**fact).clone())).collect();
    let named: BTreeSet<&EntityKey> =
        answer.hyperedges.values().flat_map(|fact| fact.members.iter().map(|member| &member.entity)).collect();
    let entities = graph.entities.iter().filter(|(entity, _, diff)| *diff > 0 && named.contains(&entity.key));
    answer.entities = entities.map(|(entity, ..)| (entity.key.clone(), (**entity).clone())).collect();
    Ok(answer)
}

/// How long no further step of an answer has to come until it counts as whole. A pipeline sends all steps of an epoch
/// together.
const QUIET: Duration = Duration::from_millis(300);

/// Waits for the answer to a question that was just sent to a running pipeline, in its topic of results. `None` when
/// nothing came in time: the pipeline does not run, is far behind, or knows nothing that bears on the question.
///
/// # Errors
/// The topic can't be read.
pub fn await_answer(feed: &Feed, query: &Query, timeout: Duration) -> Result<Option<Answer>, connect::Error> {
    let began = Instant::now();
    let mut parts: BTreeMap<(u16, u16), Part> = BTreeMap::new();
    let mut last_step = None;
    loop {
        if last_step.is_some_and(|last: Instant| last.elapsed() >= QUIET) {
            return Ok(Some(Answer::of(parts)));
        }
        if last_step.is_none() && began.elapsed() >= timeout {
            return Ok(None);
        }
        let record = match feed.next_within(QUIET) {
            Next::Event(Event::Record(record)) => record,
            Next::Event(Event::Failed(error)) => return Err(error),
            Next::Event(_) | Next::Nothing => continue,
            Next::Ended if parts.is_empty() => return Ok(None),
            Next::Ended => return Ok(Some(Answer::of(parts))),
        };
        if record.key.as_deref() != Some(query.id.0.as_bytes()) {
            continue;
        }
        // What is no result is not ours, and whoever wrote it will hear of it elsewhere.
        let Some(event) = record.payload.as_deref().and_then(|payload| read_result(payload).ok()) else { continue };
        last_step = Some(Instant::now());
        let now_at = event.part.place();
        let was_at = event.moved_from.unwrap_or(now_at);
        if parts.get(&was_at).is_some_and(|part| part.what() == event.part.what()) {
            parts.remove(&was_at);
        }
        if event.change != Change::Went {
            parts.insert(now_at, event.part);
        }
    }
}

impl Answer {
    /// The answer of these parts, in order.
    fn of(parts: BTreeMap<(u16, u16), Part>) -> Self {
        let mut answer = Self::default();
        for part in parts.into_values() {
            match part {
                Part::Step(step) => answer.steps.push(step),
                Part::Passage(passage) => answer.passages.push(passage),
                Part::Evidence(path) => answer.evidence.push(path),
            }
        }
        answer
    }

    /// Whether there is no evidence.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.passages.is_empty() && self.evidence.is_empty()
    }

    /// The evidence for a reader or a generator: each numbered path with the parts of its score, its steps, and the documents
    /// and bytes that they stand in; each passage with the parts of its score, what in it fits best, and where it stands; each
    /// path of evidence with the parts of its score and the entities that propagation is confident of.
    pub fn text(&self, domain: &Domain) -> String {
        let mut out = String::new();
        for path in self.steps.chunk_by(|a, b| a.rank == b.rank) {
            let score = path[0].score;
            if !out.is_empty() {
                out.push_str("\n\n");
            }
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "Path {} (score {}: relevance {}, transitions {}, precedence {}, overlap {}, coverage {})",
                path[0].rank,
                short(score.total),
                short(score.relevance),
                short(score.transition),
                short(score.precedence),
                short(score.overlap),
                short(score.coverage),
            );
            out.push_str(&self.steps_text(path, domain));
        }
        let passages = self.passages.iter().map(passage_text);
        let ranked: Vec<String> = passages.chain(self.evidence.iter().map(evidence_text)).collect();
        out + &ranked.join("\n\n")
    }

    fn steps_text(&self, path: &[AnswerStep], domain: &Domain) -> String {
        let befores = std::iter::once(None).chain(path.iter().map(Some));
        let tags: Vec<Vec<&str>> = befores.zip(path).map(|(before, step)| reasoning(before, step, domain)).collect();
        let entities: Vec<Vec<(&str, &str)>> = path.iter().map(|step| self.participants(step)).collect();
        let family = |step: &AnswerStep| domain.family_of(&step.relation).map_or("", |family| family.name.as_str());
        let shown: Vec<EvidenceStep<'_>> = path
            .iter()
            .zip(tags.iter().zip(&entities))
            .map(|(step, (reasoning, entities))| EvidenceStep {
                horizon: step.horizon_hours,
                phase: &step.phase,
                family: family(step),
                relation: &step.relation,
                text: &step.text,
                reasoning,
                entities,
            })
            .collect();
        let mut out = evidence(&shown);
        out.push_str("\nSources:");
        for step in path {
            let issued =
                step.issued_at.map_or_else(String::new, |at| format!(", issued {}", at.strftime("%Y-%m-%dT%H:%MZ")));
            // Writing to a string cannot fail.
            let _ = write!(
                out,
                "\n  [Step {}] {}{issued}, relevance {}",
                step.step,
                places(&step.provenance),
                short(step.relevance)
            );
        }
        out
    }

    fn participants(&self, step: &AnswerStep) -> Vec<(&str, &str)> {
        let members = self.hyperedges.get(&step.hyperedge).map(|fact| fact.members.as_slice()).unwrap_or_default();
        let entities = members.iter().filter_map(|member| self.entities.get(&member.entity));
        entities.map(|entity| (entity.name.as_str(), entity.kind.as_str())).collect()
    }
}

/// How a step follows from the one before it.
fn reasoning<'a>(before: Option<&AnswerStep>, step: &AnswerStep, domain: &'a Domain) -> Vec<&'a str> {
    let Some(before) = before else { return Vec::new() };
    let mut tags = Vec::new();
    match (before.horizon_hours, step.horizon_hours) {
        (Some(a), Some(b)) => tags.push(if a == b { "within_horizon" } else { "cross_horizon" }),
        _ if before.issued_at.is_some() && before.issued_at == step.issued_at => tags.push("within_issue"),
        _ => {}
    }
    if let (Some(from), Some(to)) = (domain.family_of(&before.relation), domain.family_of(&step.relation)) {
        let rules = domain.causal_rules().iter();
        let applies = rules.filter(|rule| rule.before.contains(&from.number) && rule.after.contains(&to.number));
        tags.extend(applies.map(|rule| rule.name.as_str()));
    }
    tags
}

fn passage_text(passage: &RankedPassage) -> String {
    let score = passage.score;
    let title = if passage.title.is_empty() { String::new() } else { format!("{}\n", passage.title) };
    format!(
        "Passage {} (score {}: start {}, step {}, walk {}; cosine {}, BM25 {})\n{title}{}\nBest fact, relevance {}: {}\n\
         Sources: {}",
        passage.rank,
        short(score.total),
        short(score.start),
        short(score.step),
        short(score.walk),
        short(score.dense),
        short(score.lexical),
        passage.text.trim_end(),
        short(passage.relevance),
        passage.evidence,
        places(&passage.provenance),
    )
}

fn evidence_text(path: &EvidenceRow) -> String {
    let score = path.score;
    let side = match (path.retained.is_empty(), path.supports) {
        (true, _) => "fits the question by itself; no entity is confident enough".to_owned(),
        (_, true) => "supports".to_owned(),
        (_, false) => "diverges".to_owned(),
    };
    let same = match path.represented_by == path.rank {
        true => String::new(),
        false => format!(", says the same as {}", path.represented_by),
    };
    let entities: Vec<&str> = path.retained.iter().map(|entity| entity.0.as_str()).collect();
    format!(
        "Evidence {} {side}{same} (score {}: coverage {}, propagation {}, extraction {}, entry {}, relations {}; fit {}; \
         contradiction {})\n{}\nEntities: {}\nSources: {}",
        path.rank,
        short(score.total),
        short(score.coverage),
        // Shares of one over all entities are small.
        format_args!("{:.5}", score.propagation.to_f64()),
        short(score.extraction),
        short(score.entry),
        short(score.relations),
        short(score.retrieval),
        short(path.contradiction),
        path.text.trim_end(),
        entities.join("; "),
        places(&path.provenance),
    )
}

/// Documents, with the bytes.
fn places(provenance: &[Provenance]) -> String {
    let places = provenance.iter().map(|place| {
        let (document, span) = (&place.document.0, place.span);
        format!("{document} bytes {}..{}", span.start, span.end)
    });
    places.collect::<Vec<_>>().join("; ")
}

/// Three decimals: enough to compare, short enough to read.
fn short(number: hypercane_schemas::Fixed) -> String {
    format!("{:.3}", number.to_f64())
}
