//! Whether a lake holds what follows from its own input: everything is computed again, in one step and without a model, and
//! compared row by row with what was kept change by change.

use std::{collections::BTreeSet, sync::Arc};

use differential_dataflow::consolidation::consolidate;
use hypercane_operators::{Shared, domain::Domain};
use hypercane_schemas::{
    AnswerStep, Conflict, ContentHash, Degree, Diff, Document, Entity, Epoch, GroupKey, HorizonUpdate, Hyperedge,
    HyperedgeId, Incidence, Precedence, Query, Record, Reject, Stage,
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    changes::{Updates, owned},
    connect::{
        embed::{EmbedService, RecordOnly, Recorded, ServiceSettings},
        lake::{self, Lake},
    },
    enrich::Enricher,
    export::{self, AsOf},
    pipeline::{self, read_inputs, recorded_vectors},
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
    /// Only so many groups, chosen by the seed.
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
    /// The groups of the sample; empty where all were verified.
    pub groups: Vec<GroupKey>,
    /// Each table that was compared.
    pub tables: Vec<Table>,
}

impl Verified {
    /// Whether the lake holds what follows from its input, and nothing else.
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
    told("reading the input".into());
    let inputs = read_inputs(lake, Some(epoch)).await?;
    told("reading the hyperedges".into());
    let mut hyperedges = lake.read::<Hyperedge>(Some(epoch)).await?;
    let groups = settings.sample.map(|size| sample(&hyperedges, size, settings.seed));

    let mut batch = Batch::default();
    if groups.is_none() {
        told("reading the recorded vectors".into());
        batch.vectors = vectors(lake, domain, settings, &inputs).await?;
        batch.queries = inputs.queries.into_iter().map(|row| (row.id.clone(), 0, Some(Shared::new(row)))).collect();
    }
    let n_documents = inputs.documents.len();
    batch.documents = inputs.documents.into_iter().map(|row| (row.key.clone(), 0, Some(Shared::new(row)))).collect();
    batch.horizons = inputs.horizons.into_iter().map(|row| (row.group.clone(), 0, Some(row))).collect();
    told(format!("working off {n_documents} documents again"));
    let kept = groups.clone().map(Arc::new);
    let engine = Engine::start_on(kept, settings.n_workers, epoch, Arc::clone(domain));
    let rebuilt = engine.and_then(|mut engine| engine.step(batch)).map_err(pipeline::Error::from)?;

    told("comparing".into());
    let n_shown = settings.n_shown;
    let mut tables = Vec::new();
    macro_rules! compare {
        ($rows:expr, $record:ty) => {
            tables.push(compare(lake.read::<$record>(Some(epoch)).await?, $rows, n_shown)?)
        };
    }
    let Some(groups) = groups else {
        tables.push(compare(hyperedges, owned(rebuilt.hyperedges), n_shown)?);
        compare!(owned(rebuilt.documents), Document);
        compare!(rebuilt.horizons, HorizonUpdate);
        compare!(owned(rebuilt.queries), Query);
        compare!(owned(rebuilt.entities), Entity);
        compare!(rebuilt.incidence, Incidence);
        compare!(rebuilt.degrees, Degree);
        compare!(rebuilt.precedence, Precedence);
        compare!(rebuilt.conflicts, Conflict);
        compare!(rebuilt.answers, AnswerStep);
        // What could not be decoded never was a record, so nothing in the input tables tells of it.
        let mut rejects = lake.read::<Reject>(Some(epoch)).await?;
        rejects.retain(|(reject, _)| reject.stage != Stage::Decode);
        tables.push(compare(rejects, rebuilt.rejects, n_shown)?);
        return Ok(Verified { epoch, n_documents, groups: Vec::new(), tables });
    };
    hyperedges.retain(|(hyperedge, _)| groups.contains(&hyperedge.group));
    let of_groups: BTreeSet<HyperedgeId> = hyperedges.iter().map(|(hyperedge, _)| hyperedge.id).collect();
    let also: BTreeSet<HyperedgeId> = rebuilt.hyperedges.iter().map(|(hyperedge, ..)| hyperedge.id).collect();
    tables.push(compare(hyperedges, owned(rebuilt.hyperedges), n_shown)?);
    let mut incidence = lake.read::<Incidence>(Some(epoch)).await?;
    incidence.retain(|(row, _)| of_groups.contains(&row.hyperedge) || also.contains(&row.hyperedge));
    tables.push(compare(incidence, rebuilt.incidence, n_shown)?);
    let mut precedence = lake.read::<Precedence>(Some(epoch)).await?;
    precedence.retain(|(row, _)| groups.contains(&row.before.group));
    tables.push(compare(precedence, rebuilt.precedence, n_shown)?);
    Ok(Verified { epoch, n_documents, groups: groups.into_iter().collect(), tables })
}

/// The vectors that the documents and questions ask for, all from the record.
async fn vectors(
    lake: &Lake,
    domain: &Arc<Domain>,
    settings: &Settings,
    inputs: &pipeline::Inputs,
) -> Result<Vec<(ContentHash, hypercane_schemas::Vector)>, Error> {
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
    let mut enricher = Enricher::new(Arc::clone(domain), Arc::new(Recorded::new(service, Arc::new(store))));
    let questions = inputs.queries.iter().map(|query| query.question.as_str());
    Ok(enricher.vectors(&inputs.documents, questions).await.map_err(pipeline::Error::from)?)
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
fn compare<R: Record>(stored: Vec<(R, Diff)>, computed: Updates<R>, n_shown: usize) -> Result<Table, Error> {
    let mut n_rows = 0;
    let mut left = stored;
    left.extend(computed.into_iter().map(|(row, _, diff)| {
        n_rows += diff;
        (row, -diff)
    }));
    consolidate(&mut left);
    let mut table = Table {
        table: R::TABLE,
        n_rows: usize::try_from(n_rows).unwrap_or_default(),
        n_missing: 0,
        n_extra: 0,
        first: Vec::new(),
    };
    for (row, count) in left {
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
