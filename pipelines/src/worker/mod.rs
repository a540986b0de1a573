//! The workers: timely's threads, fed with epochs over channels and stepped until each epoch is complete.
//!
//! One epoch is in flight at a time. While it is worked on, new input gathers outside and becomes the next one, so that a
//! busy pipeline works in larger batches and a quiet one answers at once. Workers never wait for anything but the next
//! epoch: models and tables are asked outside.
//!
//! Several processes work through the same epochs together: an epoch is complete when each has given its share of it, which
//! may be none. A process that begins an epoch calls the others, and each gives a note with it that all will have heard when
//! it is complete; so all know the same, and decide alike, without another channel between them.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    mem,
    rc::Rc,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, unbounded};
use hypercane_operators::domain::Domain;
use hypercane_schemas::{ContentHash, Epoch, Vector};
use timely::{
    communication::WorkerGuards,
    dataflow::{
        InputHandle, Scope,
        operators::{Input as _, Inspect, Probe, probe, vec::Broadcast},
    },
    worker::Worker,
};

use self::failure::Failed;
pub use self::layout::Layout;
use crate::{
    changes::Changes,
    idle,
    live::{AnswerChange, DocumentChange, Groups, HorizonChange, QueryChange, live},
    sizes,
};

mod failure;
mod layout;

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
    /// Answers of a language model, under the hashes of passages.
    pub answers: Vec<AnswerChange>,
}

impl Batch {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        let Self { documents, horizons, queries, vectors, answers } = self;
        let has_records = !documents.is_empty() || !horizons.is_empty() || !queries.is_empty();
        !has_records && vectors.is_empty() && answers.is_empty()
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
        deal!(answers);
        hands
    }
}

/// How often a wait for the workers looks whether one has failed.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// How long an idle worker of a cluster sleeps before it looks for an epoch, unless another process wakes it.
const NAP: Duration = Duration::from_millis(1);

/// What a process tells the others with an epoch.
pub type Note = Vec<u8>;

/// The running workers. Dropping it stops them.
pub struct Engine {
    orders: Vec<Sender<Order>>,
    done: Receiver<Done>,
    guards: Option<WorkerGuards<()>>,
    failed: Failed,
    /// The last epoch that a process has begun.
    called: Arc<AtomicU64>,
    n_processes: usize,
    next_epoch: Epoch,
    has_left: bool,
}

/// An epoch to work on.
struct Order {
    epoch: Epoch,
    batch: Batch,
    /// For the first worker of a process in a cluster.
    note: Option<Note>,
}

/// What a worker has done of an epoch: what changed, and the notes that it heard.
type Done = (Changes, Vec<Note>);

/// The workers could not be started, or one of them is gone.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Timely could not start.
    #[error("the workers could not be started: {0}")]
    Start(String),
    /// The other processes can't be reached.
    #[error("the processes of the cluster do not come together")]
    Peers(#[from] crate::connect::Error),
    /// A worker ended early.
    #[error("a worker ended before its time; its panic message is above")]
    WorkerGone,
    /// Another process ended early.
    #[error(
        "another process of the cluster is gone, so this one stops too; what was committed stays, and the cluster goes on \
         from there when all its processes are started again"
    )]
    PeerGone,
}

impl Engine {
    /// Starts the workers of this process; the first epoch will be `first_epoch`. In a cluster it waits for all processes.
    ///
    /// # Errors
    /// The threads can't be started, or the processes do not come together.
    pub fn start(layout: impl Into<Layout>, first_epoch: Epoch, domain: Arc<Domain>) -> Result<Self, Error> {
        Self::start_on(None, layout, first_epoch, domain)
    }

    /// Starts workers that keep the facts of some groups only.
    ///
    /// # Errors
    /// The threads can't be started, or the processes do not come together.
    pub fn start_on(
        groups: Groups,
        layout: impl Into<Layout>,
        first_epoch: Epoch,
        domain: Arc<Domain>,
    ) -> Result<Self, Error> {
        let layout: Layout = layout.into();
        let (n_workers, n_processes) = (layout.workers.max(1), layout.n_processes());
        let (orders, inboxes): (Vec<_>, Vec<_>) = (0..n_workers).map(|_| unbounded()).unzip();
        let inboxes: Mutex<Vec<Option<Receiver<Order>>>> = Mutex::new(inboxes.into_iter().map(Some).collect());
        let (outputs, done) = unbounded();
        let failed = Failed::default();
        if n_processes > 1 {
            failed.watch_connections();
        }
        let called = Arc::new(AtomicU64::new(0));
        let (told, heard) = (failed.clone(), Arc::clone(&called));
        let (builders, connections) = layout.allocators()?;
        let work = move |worker: &mut Worker| {
            let local = worker.index() % n_workers;
            let inbox = inboxes.lock().ok().and_then(|mut inboxes| inboxes[local].take());
            let Some(inbox) = inbox else { return };
            let _watch = told.clone();
            sizes::watch(worker);
            let (inputs, outbox, probe) =
                worker.dataflow_named("live", |scope| live(scope, &domain, groups.clone(), n_processes > 1));
            let rounds = (n_processes > 1).then(|| {
                let called = (local == 0).then(|| Arc::clone(&heard));
                worker.dataflow_named("rounds", |scope| Rounds::new(scope, called))
            });
            let mut share = Share { inputs, outbox, probe, rounds };
            while let Some(order) = next(&inbox, worker, n_processes > 1) {
                if outputs.send(share.work(worker, order)).is_err() {
                    break;
                }
            }
            // The inputs are dropped here, so that the dataflow ends; timely would wait for it for ever otherwise.
        };
        let guards = timely::execute::execute_from(builders, connections, idle::worker_config(), work);
        let guards = Some(guards.map_err(Error::Start)?);
        Ok(Self { orders, done, guards, failed, called, n_processes, next_epoch: first_epoch, has_left: false })
    }

    /// The epoch that the next batch will be.
    pub fn next_epoch(&self) -> Epoch {
        self.next_epoch
    }

    /// Leaves epochs out, up to one. All processes must do the same.
    pub fn skip_to(&mut self, epoch: Epoch) {
        self.next_epoch = self.next_epoch.max(epoch);
    }

    /// Says that all processes of the cluster leave after the last epoch, so that dropping this waits for them.
    pub fn leave(&mut self) {
        self.has_left = true;
    }

    /// Whether another process has begun the next epoch and waits for this one's share.
    ///
    /// # Errors
    /// A worker or a process is gone.
    pub fn is_called(&self) -> Result<bool, Error> {
        self.failed.check()?;
        Ok(self.n_processes > 1 && self.called.load(Ordering::Acquire) >= self.next_epoch)
    }

    /// What a worker has done; an error when one has failed, since the others then never finish.
    fn receive(&self) -> Result<Done, Error> {
        loop {
            match self.done.recv_timeout(LOOK_AGAIN) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Timeout) => self.failed.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.failed.check().err().unwrap_or(Error::WorkerGone));
                }
            }
        }
    }

    /// Works one batch off as the next epoch, and gives all that changed in it here.
    ///
    /// # Errors
    /// A worker or a process is gone.
    pub fn step(&mut self, batch: Batch) -> Result<Changes, Error> {
        self.round(batch, Note::new()).map(|(changes, _)| changes)
    }

    /// Works one batch off as this process's share of the next epoch. Gives what changed in it here, and the notes of all
    /// processes, in no order.
    ///
    /// # Errors
    /// A worker or a process is gone.
    pub fn round(&mut self, batch: Batch, note: Note) -> Result<(Changes, Vec<Note>), Error> {
        let epoch = self.next_epoch;
        let (mut to_all, mut notes) = (None, Vec::new());
        if self.n_processes > 1 {
            to_all = Some(note);
        } else {
            notes.push(note);
        }
        for (worker, batch) in self.orders.iter().zip(batch.deal(self.orders.len())) {
            let order = Order { epoch, batch, note: to_all.take() };
            worker.send(order).map_err(|_| self.failed.check().err().unwrap_or(Error::WorkerGone))?;
        }
        self.next_epoch += 1;
        let mut changes = Changes::default();
        for _ in 0..self.orders.len() {
            let (changed, heard) = self.receive()?;
            changes.absorb(changed);
            notes.extend(heard);
        }
        changes.consolidate();
        Ok((changes, notes))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.orders.clear();
        let Some(guards) = self.guards.take() else { return };
        let waits_for_others = self.n_processes > 1 && !self.has_left;
        if thread::panicking() || self.failed.check().is_err() || waits_for_others {
            // Workers that wait for a failed one, or for processes that do not leave, never end; joining them would be one
            // more that waits. When this process ends, its connections break, and so the others hear of it.
            mem::forget(guards);
        } else {
            for result in guards.join() {
                if let Err(reason) = result {
                    tracing::error!(reason, "worker failed");
                }
            }
        }
    }
}

/// Waits for an epoch; `None` when there will be no more. In a cluster the worker goes on meanwhile, so that it hears calls.
fn next(inbox: &Receiver<Order>, worker: &mut Worker, in_cluster: bool) -> Option<Order> {
    if !in_cluster {
        idle::rest(worker, || !inbox.is_empty());
        return inbox.recv().ok();
    }
    loop {
        match inbox.try_recv() {
            Ok(order) => return Some(order),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => drop(worker.step_or_park(Some(NAP))),
        }
    }
}

/// One worker's part of the dataflow.
struct Share {
    inputs: crate::live::Inputs,
    outbox: crate::live::Outbox,
    probe: probe::Handle<Epoch>,
    rounds: Option<Rounds>,
}

impl Share {
    /// Works until an epoch is complete everywhere.
    fn work(&mut self, worker: &mut Worker, order: Order) -> Done {
        let Order { epoch, batch, note } = order;
        if let Some(rounds) = &mut self.rounds {
            rounds.begin(epoch, note);
        }
        let inputs = &mut self.inputs;
        inputs.advance_to(epoch);
        batch.documents.into_iter().for_each(|change| inputs.documents.send(change));
        batch.horizons.into_iter().for_each(|change| inputs.horizons.send(change));
        batch.queries.into_iter().for_each(|change| inputs.queries.send(change));
        batch.vectors.into_iter().for_each(|(hash, vector)| inputs.vectors.send((hash, 0, Some(vector))));
        batch.answers.into_iter().for_each(|change| inputs.answers.send(change));
        inputs.advance_to(epoch + 1);
        let is_open = || {
            let rounds = self.rounds.as_ref();
            self.probe.less_than(&(epoch + 1)) || rounds.is_some_and(|rounds| rounds.probe.less_than(&(epoch + 1)))
        };
        worker.step_or_park_while(Some(Duration::from_millis(10)), is_open);
        let notes = self.rounds.as_ref().and_then(|rounds| rounds.heard.borrow_mut().remove(&epoch));
        (self.outbox.take_up_to(epoch), notes.unwrap_or_default())
    }
}

/// The notes and calls between the processes of a cluster.
struct Rounds {
    notes: InputHandle<Epoch, timely::container::CapacityContainerBuilder<Vec<(Epoch, Note)>>>,
    calls: InputHandle<Epoch, timely::container::CapacityContainerBuilder<Vec<Epoch>>>,
    /// Notes by epoch; one of the next epoch may come before this worker has seen that the last is complete.
    heard: Rc<RefCell<BTreeMap<Epoch, Vec<Note>>>>,
    probe: probe::Handle<Epoch>,
}

impl Rounds {
    /// On the first worker of each process, `called` hears of the epochs that processes have begun.
    fn new(scope: Scope<'_, Epoch>, called: Option<Arc<AtomicU64>>) -> Self {
        let (notes, told) = scope.new_input();
        let (calls, begun) = scope.new_input();
        let (heard, probe) = (Rc::<RefCell<BTreeMap<Epoch, Vec<Note>>>>::default(), probe::Handle::new());
        let (outbox, listens) = (Rc::clone(&heard), called.is_some());
        told.broadcast()
            .inspect(move |(epoch, note): &(Epoch, Note)| {
                if listens {
                    outbox.borrow_mut().entry(*epoch).or_default().push(note.clone());
                }
            })
            .probe_with(&probe);
        // Calls are heard when they come, in no epoch: the epoch that they are about waits for them.
        begun.broadcast().inspect(move |epoch: &Epoch| {
            if let Some(called) = &called {
                called.fetch_max(*epoch, Ordering::AcqRel);
            }
        });
        Self { notes, calls, heard, probe }
    }

    fn begin(&mut self, epoch: Epoch, note: Option<Note>) {
        self.notes.advance_to(epoch);
        if let Some(note) = note {
            self.notes.send((epoch, note));
            self.calls.send(epoch);
            self.calls.flush();
        }
        self.notes.advance_to(epoch + 1);
    }
}
