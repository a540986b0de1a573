//! Whether a lake holds what follows from its own input: everything is computed again, in one step and without a model, and
//! compared row by row with what was kept change by change.

use std::{collections::BTreeSet, sync::Arc};

use differential_dataflow::consolidation::consolidate;
use hypercane_operators::{Shared, domain::Domain};
use hypercane_schemas::{
    AnswerStep, Conflict, ContentHash, Degree, Diff, Document, Entity, Epoch, EvidenceRow, GroupKey, HorizonUpdate,
    Hyperedge, HyperedgeId, Incidence, Precedence, Query, RankedPassage, Record, Reject, Synonym,
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    changes::{Changes, Updates, owned},
    connect::{
        embed::{EmbedService, RecordOnly, Recorded, ServiceSettings},
        lake::{self, Lake},
    },
    enrich::{Enriched, Enricher, Models},
    export::{self, AsOf},
    live::Groups,
    pipeline::{self, Inputs, read_inputs},
    texts::{recorded_extractor, unanswered},
    vectors::recorded_vectors,
    worker::{Batch, Engine},
};

/// Why a lake could not be verified.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It can't be read, or nothing is committed.
    #[error(transparent)]
    Export(#[from] export::Error),
    /// It can't be read.
    #[error("the lake can't be read")]
    Lake(#[from] lake::Error),
    /// Its input can't be worked off.
    #[error("the lake's input can't be worked off again")]
    Pipeline(#[from] pipeline::Error),
    /// Several models have written vectors.
    #[error("the lake holds vectors of several models ({}): name the one that its pipeline uses", .0.join(", "))]
    Models(Vec<String>),
    /// A row has no JSON form.
    #[error("a row of table {0} can't be shown")]
    Row(&'static str, #[source] serde_json::Error),
}

/// What is verified.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Only so many of the groups that the lake holds, chosen by the seed.
    pub sample: Option<usize>,
    /// Chooses the groups.
    pub seed: u64,
    /// The model whose vectors count; where the lake holds those of one only, that one.
    pub model: Option<String>,
    /// Worker threads.
    pub n_workers: usize,
    /// How many differences of each table are shown.
    pub n_shown: usize,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verified {
    /// The epoch of the last commit.
    pub epoch: Epoch,
    /// Documents from which everything was computed again.
    pub n_documents: usize,
    /// The groups of the sample; `None` where all were verified.
    pub groups: Option<Vec<GroupKey>>,
    /// Each table that was compared.
    pub tables: Vec<Table>,
}

impl Verified {
    /// Whether what was compared is what follows from the input, and nothing else.
    pub fn is_same(&self) -> bool {
        self.tables.iter().all(|table| table.n_missing == 0 && table.n_extra == 0)
    }
}

/// One table against its rebuild.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// Its name.
    pub table: &'static str,
    /// Rows that were computed.
    pub n_rows: usize,
    /// Rows that were computed and are not in the lake, each as often as it lacks.
    pub n_missing: usize,
    /// Rows that are in the lake and were not computed, each as often as it is there too often.
    pub n_extra: usize,
    /// The first of both.
    pub first: Vec<Difference>,
}

/// A row that is on one side only.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// How often the lake has it too much (less than zero: too little).
    pub count: Diff,
    /// The row; its provenance is in it where it has one.
    pub row: Value,
}

/// Computes everything again from the input tables of a lake, as of its last commit, and compares. `told` hears what is
/// being done.
///
/// # Errors
/// The lake can't be read, a vector is missing, or the dataflow stops.
pub async fn verify(
    lake: &Lake,
    domain: &Arc<Domain>,
    settings: &Settings,
    told: impl Fn(String),
) -> Result<Verified, Error> {
    let epoch = AsOf::Latest.epoch(lake).await?;
    let models = &recorded_models(lake, settings).await?;
    let domain = &models.reading(Arc::clone(domain));
    match settings.sample {
        None => whole(lake, epoch, domain, models, settings, told).await,
        Some(size) => sampled(lake, epoch, domain, models, settings, size, told).await,
    }
}

/// Every table.
async fn whole(
    lake: &Lake,
    epoch: Epoch,
    domain: &Arc<Domain>,
    models: &Models,
    settings: &Settings,
    told: impl Fn(String),
) -> Result<Verified, Error> {
    told("reading the input".into());
    let inputs = read_inputs(lake, Some(epoch)).await?;
    told("reading what the models gave".into());
    let enriched = enriched(lake, epoch, domain, models, &inputs).await?;
    let n_documents = inputs.documents.len();
    told(format!("working off {n_documents} documents again"));
    let rebuilt = rebuild(inputs, enriched, None, epoch, domain, settings.n_workers)?;

    told("comparing".into());
    let mut tables = Vec::new();
    macro_rules! compare {
        ($record:ty, $rows:expr) => {
            tables.push(compare(lake.read::<$record>(Some(epoch)).await?, $rows, settings.n_shown)?)
        };
    }
    compare!(Document, owned(rebuilt.documents));
    compare!(HorizonUpdate, rebuilt.horizons);
    compare!(Query, owned(rebuilt.queries));
    compare!(Entity, owned(rebuilt.entities));
    compare!(Hyperedge, owned(rebuilt.hyperedges));
    compare!(Incidence, rebuilt.incidence);
    compare!(Degree, rebuilt.degrees);
    compare!(Synonym, rebuilt.synonyms);
    compare!(Precedence, rebuilt.precedence);
    compare!(Conflict, rebuilt.conflicts);
    compare!(AnswerStep, rebuilt.answers);
    compare!(RankedPassage, rebuilt.rankings);
    compare!(EvidenceRow, rebuilt.evidence);
    // What could not be decoded or was lost never was a record, so nothing in the input tables tells of it.
    let mut rejects = lake.read::<Reject>(Some(epoch)).await?;
    rejects.retain(|(reject, _)| reject.stage.is_derived());
    tables.push(compare(rejects, rebuilt.rejects, settings.n_shown)?);
    Ok(Verified { epoch, n_documents, groups: None, tables })
}

/// What a sample of groups has to itself: hyperedges, incidence, precedence.
async fn sampled(
    lake: &Lake,
    epoch: Epoch,
    domain: &Arc<Domain>,
    models: &Models,
    settings: &Settings,
    size: usize,
    told: impl Fn(String),
) -> Result<Verified, Error> {
    told("reading the hyperedges".into());
    let mut hyperedges = lake.read::<Hyperedge>(Some(epoch)).await?;
    let groups = Arc::new(sample(&hyperedges, size, settings.seed));
    hyperedges.retain(|(hyperedge, _)| groups.contains(&hyperedge.group));
    told("reading the input".into());
    let mut inputs = read_inputs(lake, Some(epoch)).await?;
    inputs.queries.clear();
    let n_documents = inputs.documents.len();
    told(format!("working off {n_documents} documents again"));
    let enriched = match models.extractor {
        Some(_) => enriched(lake, epoch, domain, models, &inputs).await?,
        None => Enriched::default(),
    };
    let rebuilt = rebuild(inputs, enriched, Some(Arc::clone(&groups)), epoch, domain, settings.n_workers)?;

    told("comparing".into());
    let stored = hyperedges.iter().map(|(hyperedge, _)| hyperedge.id);
    let computed = rebuilt.hyperedges.iter().map(|(hyperedge, ..)| hyperedge.id);
    let of_groups: BTreeSet<HyperedgeId> = stored.chain(computed).collect();
    let mut incidence = lake.read::<Incidence>(Some(epoch)).await?;
    incidence.retain(|(row, _)| of_groups.contains(&row.hyperedge));
    let mut precedence = lake.read::<Precedence>(Some(epoch)).await?;
    precedence.retain(|(row, _)| groups.contains(&row.before.group));
    let tables = vec![
        compare(hyperedges, owned(rebuilt.hyperedges), settings.n_shown)?,
        compare(incidence, rebuilt.incidence, settings.n_shown)?,
        compare(precedence, rebuilt.precedence, settings.n_shown)?,
    ];
    Ok(Verified { epoch, n_documents, groups: Some(groups.iter().cloned().collect()), tables })
}

/// What follows from the inputs, in one step.
pub(crate) fn rebuild(
    inputs: Inputs,
    enriched: Enriched,
    groups: Groups,
    epoch: Epoch,
    domain: &Arc<Domain>,
    n_workers: usize,
) -> Result<Changes, pipeline::Error> {
    let batch = Batch {
        documents: inputs.documents.into_iter().map(|row| (row.key.clone(), 0, Some(Shared::new(row)))).collect(),
        horizons: inputs.horizons.into_iter().map(|row| (row.group.clone(), 0, Some(row))).collect(),
        queries: inputs.queries.into_iter().map(|row| (row.id.clone(), 0, Some(Shared::new(row)))).collect(),
        vectors: enriched.vectors,
        answers: enriched.answers,
    };
    let engine = Engine::start_on(groups, n_workers, epoch, Arc::clone(domain));
    Ok(engine.and_then(|mut engine| engine.step(batch))?)
}

/// The record of the models that the lake's pipeline asks.
async fn recorded_models(lake: &Lake, settings: &Settings) -> Result<Models, Error> {
    let model = match &settings.model {
        Some(model) => model.clone(),
        None => {
            let models: Vec<String> = lake.models().await?.into_iter().collect();
            match models.as_slice() {
                [] => String::new(),
                [only] => only.clone(),
                _ => return Err(Error::Models(models)),
            }
        }
    };
    let store = recorded_vectors(lake, &model).await?;
    let service = EmbedService::start(Arc::new(RecordOnly::new(model)), &ServiceSettings::default());
    let service = service.map_err(pipeline::Error::from)?;
    let vectors = Arc::new(Recorded::new(service, Arc::new(store)));
    Ok(Models { vectors, extractor: recorded_extractor(lake).await? })
}

/// The answers and vectors that the documents and questions ask for, all from the record as of an epoch.
async fn enriched(
    lake: &Lake,
    epoch: Epoch,
    domain: &Arc<Domain>,
    models: &Models,
    inputs: &Inputs,
) -> Result<Enriched, Error> {
    let mut enricher = Enricher::new(Arc::clone(domain), models.clone());
    enricher.withhold(unanswered(models, lake, Some(epoch)).await?);
    Ok(enricher.enrich(&inputs.documents, &inputs.queries).await.map_err(pipeline::Error::from)?)
}

/// So many of the groups, in the order of a hash with the seed: another seed, another sample.
fn sample(hyperedges: &[(Hyperedge, Diff)], size: usize, seed: u64) -> BTreeSet<GroupKey> {
    let groups: BTreeSet<&GroupKey> = hyperedges.iter().map(|(hyperedge, _)| &hyperedge.group).collect();
    let seed = seed.to_string();
    let mut order: Vec<&GroupKey> = groups.into_iter().collect();
    order.sort_by_key(|group| ContentHash::of_parts([seed.as_str(), group.0.as_str()]));
    order.into_iter().take(size).cloned().collect()
}

/// Adds the lake's rows and takes the computed ones away: what is left differs.
pub(crate) fn difference<R: Record>(stored: Vec<(R, Diff)>, computed: Updates<R>) -> Vec<(R, Diff)> {
    let mut left = stored;
    left.extend(computed.into_iter().map(|(row, _, diff)| (row, -diff)));
    consolidate(&mut left);
    left
}

fn compare<R: Record>(stored: Vec<(R, Diff)>, computed: Updates<R>, n_shown: usize) -> Result<Table, Error> {
    let n_rows: Diff = computed.iter().map(|(.., diff)| diff).sum();
    let mut table = Table {
        table: R::TABLE,
        n_rows: usize::try_from(n_rows).unwrap_or_default(),
        n_missing: 0,
        n_extra: 0,
        first: Vec::new(),
    };
    for (row, count) in difference(stored, computed) {
        match count {
            1.. => table.n_extra += count.unsigned_abs(),
            _ => table.n_missing += count.unsigned_abs(),
        }
        if table.first.len() < n_shown {
            let row = serde_json::to_value(&row).map_err(|e| Error::Row(R::TABLE, e))?;
            table.first.push(Difference { count, row });
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::Document;

    use super::compare;

    #[test]
    fn rows_that_differ_are_counted_on_their_side() {
        let row = |text: &str| Document::plain("a", text);
        let stored = vec![(row("same"), 1), (row("twice"), 2), (row("extra"), 1)];
        let computed = vec![(row("same"), 7, 1), (row("twice"), 7, 1), (row("missing"), 7, 1)];
        let table = compare(stored, computed, 2).unwrap();
        assert_eq!((table.n_rows, table.n_missing, table.n_extra, table.first.len()), (3, 1, 2, 2));
        assert!(table.first.iter().all(|difference| difference.row["key"] == "a"));
    }
}
