//! A lake that another version of the program wrote: what follows from its documents is computed again, and what differs is
//! committed as an epoch of its own.
//!
//! A start takes for granted that what it computes from the committed input is what the lake holds. That is so for the same
//! program, domain pack and models only. So the lake notes which ones wrote it; where others start, its tables are made to
//! be what these ones compute. After a grammar was fixed, this is how documents come to their facts, and rejects go.

use std::sync::Arc;

use hypercane_operators::domain::Domain;
use hypercane_schemas::{
    AnswerStep, Conflict, Degree, Diff, Entity, Epoch, EvidenceRow, Hyperedge, Incidence, Precedence, RankedPassage,
    Record, Reject, Synonym,
};

use crate::{
    changes::{Updates, owned},
    connect::lake::{CommitBatch, Lake},
    enrich::{Enricher, Models},
    pipeline::{Error, read_inputs},
    texts::note_extractor,
    verify::{difference, rebuild},
};

/// What was put right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconciled {
    /// The epoch in which it was.
    pub epoch: Epoch,
    /// Documents that were read again.
    pub n_documents: usize,
    /// Rows that came and went.
    pub n_rows: usize,
}

/// Brings a lake, which has to be open for writing, to what `program` computes; `None` where that is what it holds by its
/// own word. `told` hears what is being done. A crash in the middle leaves the lake as it was, and the next start does it.
///
/// # Errors
/// The lake can't be read or written, a model fails, or the dataflow stops.
pub async fn reconcile(
    lake: &Lake,
    domain: &Arc<Domain>,
    models: impl Into<Models>,
    n_workers: usize,
    program: &str,
    told: impl Fn(String),
) -> Result<Option<Reconciled>, Error> {
    let models: Models = models.into();
    let Some(point) = lake.recover().await? else {
        lake.note_program(program).await?;
        return Ok(None);
    };
    if lake.program().await?.as_deref() == Some(program) {
        return Ok(None);
    }
    // From here on nobody may take the lake for one of their own before it is.
    lake.note_program("").await?;
    let inputs = read_inputs(lake, None).await?;
    let n_documents = inputs.documents.len();
    told(format!("another version wrote the lake: reading its {n_documents} documents again"));
    let (domain, extractor) = (&models.reading(Arc::clone(domain)), models.extractor.clone());
    let enriched = Enricher::new(Arc::clone(domain), models).enrich(&inputs.documents, &inputs.queries).await?;
    let computed = rebuild(inputs, enriched, None, point.epoch, domain, n_workers)?;

    told("comparing".into());
    let epoch = point.epoch + 1;
    let mut batch = CommitBatch { epoch, offsets: point.offsets, ..CommitBatch::default() };
    macro_rules! put_right {
        ($record:ty, $rows:expr) => {{
            let stored = lake.read::<$record>(None).await?;
            batch.add(&missing(stored, $rows, epoch))?;
        }};
    }
    put_right!(Entity, owned(computed.entities));
    put_right!(Hyperedge, owned(computed.hyperedges));
    put_right!(Incidence, computed.incidence);
    put_right!(Degree, computed.degrees);
    put_right!(Synonym, computed.synonyms);
    put_right!(Precedence, computed.precedence);
    put_right!(Conflict, computed.conflicts);
    put_right!(AnswerStep, computed.answers);
    put_right!(RankedPassage, computed.rankings);
    put_right!(EvidenceRow, computed.evidence);
    let mut rejects = lake.read::<Reject>(None).await?;
    rejects.retain(|(reject, _)| reject.stage.is_derived());
    batch.add(&missing(rejects, computed.rejects, epoch))?;
    let n_rows = batch.n_rows();
    if n_rows > 0 {
        lake.commit(batch).await?;
    }
    note_extractor(lake, extractor.as_deref()).await?;
    lake.note_program(program).await?;
    Ok(Some(Reconciled { epoch, n_documents, n_rows }))
}

/// The changes that make the rows of a lake the computed ones.
fn missing<R: Record>(stored: Vec<(R, Diff)>, computed: Updates<R>, epoch: Epoch) -> Updates<R> {
    difference(stored, computed).into_iter().map(|(row, count)| (row, epoch, -count)).collect()
}
