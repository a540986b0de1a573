//! The workers: timely's threads, fed with epochs over channels and stepped until each epoch is complete.
//!
//! One epoch is in flight at a time. While it is worked on, new input gathers outside and becomes the next one, so that a
//! busy pipeline works in larger batches and a quiet one answers at once. Workers never wait for anything but the next
//! epoch: models and tables are asked outside.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use hypercane_operators::domain::Domain;
use hypercane_schemas::{ContentHash, Epoch, Vector};
use timely::{WorkerConfig, communication::WorkerGuards};

use crate::{
    changes::Changes,
    live::{DocumentChange, Groups, HorizonChange, QueryChange, live},
};

/// The input of one epoch.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Changes of documents.
    pub documents: Vec<DocumentChange>,
    /// Changes of horizons.
    pub horizons: Vec<HorizonChange>,
    /// Changes of queries.
    pub queries: Vec<QueryChange>,
    /// Vectors that no earlier epoch gave.
    pub vectors: Vec<(ContentHash, Vector)>,
}

impl Batch {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty() && self.horizons.is_empty() && self.queries.is_empty() && self.vectors.is_empty()
    }

    /// Deals the rows out to `n` workers; the operators exchange them by key.
    fn deal(self, n: usize) -> Vec<Self> {
        let mut hands: Vec<Self> = (0..n).map(|_| Self::default()).collect();
        macro_rules! deal {
            ($rows:ident) => {
                for (idx, row) in self.$rows.into_iter().enumerate() {
                    hands[idx % n].$rows.push(row);
                }
            };
        }
        deal!(documents);
        deal!(horizons);
        deal!(queries);
        deal!(vectors);
        hands
    }
}

/// How often a wait for the workers looks whether one has failed.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The running workers. Dropping it stops them.
pub struct Engine {
    epochs: Vec<Sender<(Epoch, Batch)>>,
    done: Receiver<Changes>,
    guards: Option<WorkerGuards<()>>,
    failed: Failed,
    next_epoch: Epoch,
}

/// Set when a worker panics. The others would wait for it for ever, and so would whoever waits for them.
#[derive(Clone, Debug, Default)]
struct Failed(Arc<AtomicBool>);

impl Failed {
    fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Failed {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// The workers could not be started, or one of them is gone.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Timely could not start.
    #[error("the workers could not be started: {0}")]
    Start(String),
    /// A worker ended early.
    #[error("a worker ended before its time; its panic message is above")]
    WorkerGone,
}

/// Where a worker finds its share of each epoch.
type Inbox = Receiver<(Epoch, Batch)>;

impl Engine {
    /// Starts `n_workers` threads; the first epoch will be `first_epoch`.
    ///
    /// # Errors
    /// The threads can't be started.
    pub fn start(n_workers: usize, first_epoch: Epoch, domain: Arc<Domain>) -> Result<Self, Error> {
        Self::start_on(None, n_workers, first_epoch, domain)
    }

    /// Starts threads that keep the facts of some groups only.
    ///
    /// # Errors
    /// The threads can't be started.
    pub fn start_on(groups: Groups, n_workers: usize, first_epoch: Epoch, domain: Arc<Domain>) -> Result<Self, Error> {
        let n_workers = n_workers.max(1);
        let (epochs, inboxes): (Vec<_>, Vec<_>) = (0..n_workers).map(|_| unbounded()).unzip();
        let inboxes: Mutex<Vec<Option<Inbox>>> = Mutex::new(inboxes.into_iter().map(Some).collect());
        let (outputs, done) = unbounded();
        let failed = Failed::default();
        let told = failed.clone();
        let config = timely::Config {
            communication: timely::CommunicationConfig::Process(n_workers),
            worker: WorkerConfig::default(),
        };
        let guards = timely::execute(config, move |worker| {
            let inbox = inboxes.lock().ok().and_then(|mut inboxes| inboxes[worker.index()].take());
            let Some(inbox) = inbox else { return };
            let _watch = told.clone();
            let (mut inputs, outbox, probe) =
                worker.dataflow_named("live", |scope| live(scope, &domain, groups.clone()));
            inputs.advance_to(first_epoch);
            while let Ok((epoch, batch)) = inbox.recv() {
                batch.documents.into_iter().for_each(|change| inputs.documents.send(change));
                batch.horizons.into_iter().for_each(|change| inputs.horizons.send(change));
                batch.queries.into_iter().for_each(|change| inputs.queries.send(change));
                batch.vectors.into_iter().for_each(|vector| inputs.vectors.insert(vector));
                inputs.advance_to(epoch + 1);
                worker.step_or_park_while(Some(Duration::from_millis(10)), || probe.less_than(&(epoch + 1)));
                let mut changes = std::mem::take(&mut *outbox.borrow_mut());
                changes.consolidate();
                if outputs.send(changes).is_err() {
                    break;
                }
            }
            // The inputs are dropped here, so that the dataflow ends; timely would wait for it for ever otherwise.
        })
        .map_err(Error::Start)?;
        Ok(Self { epochs, done, guards: Some(guards), failed, next_epoch: first_epoch })
    }

    /// The epoch that the next batch will be.
    pub fn next_epoch(&self) -> Epoch {
        self.next_epoch
    }

    /// What a worker has done; an error when one has failed, since the others then never finish.
    fn receive(&self) -> Result<Changes, Error> {
        loop {
            match self.done.recv_timeout(LOOK_AGAIN) {
                Ok(changes) => return Ok(changes),
                Err(RecvTimeoutError::Timeout) if !self.failed.get() => {}
                Err(_) => return Err(Error::WorkerGone),
            }
        }
    }

    /// Works one batch off as the next epoch, and gives all that changed in it.
    ///
    /// # Errors
    /// A worker is gone.
    pub fn step(&mut self, batch: Batch) -> Result<Changes, Error> {
        let epoch = self.next_epoch;
        for (worker, hand) in self.epochs.iter().zip(batch.deal(self.epochs.len())) {
            worker.send((epoch, hand)).map_err(|_| Error::WorkerGone)?;
        }
        self.next_epoch += 1;
        let mut changes = Changes::default();
        for _ in 0..self.epochs.len() {
            changes.absorb(self.receive()?);
        }
        changes.consolidate();
        Ok(changes)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.epochs.clear();
        let Some(guards) = self.guards.take() else { return };
        if thread::panicking() || self.failed.get() {
            // Workers that wait for a failed one never end; joining them would be one more that waits.
            std::mem::forget(guards);
        } else {
            for result in guards.join() {
                if let Err(reason) = result {
                    tracing::error!(reason, "worker failed");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::Failed;

    #[test]
    fn a_worker_that_panics_is_told_and_one_that_ends_is_not() {
        let failed = Failed::default();
        let watch = failed.clone();
        thread::spawn(move || drop(watch)).join().unwrap();
        assert!(!failed.get());
        let watch = failed.clone();
        let ended = thread::spawn(move || {
            let _watch = watch;
            panic!("as a worker would");
        });
        assert!(ended.join().is_err() && failed.get());
    }
}
