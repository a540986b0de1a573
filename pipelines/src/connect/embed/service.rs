//! The model on its own threads, behind a bounded queue.
//!
//! Dataflow workers and the async side never compute vectors themselves: they submit and wait. Each thread runs one batch
//! at a time in a thread pool of size one, so that the libraries under the model do not start a second level of threads.

use std::{
    fmt,
    sync::Arc,
    thread::{self, JoinHandle},
};

use crossbeam_channel::{Receiver, Sender, unbounded};
use hypercane_schemas::Vector;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::{Error, Model};

/// Bounds of how many texts a thread takes at once: many fill batches of one length, few let the threads share a call.
const TEXTS_PER_JOB: std::ops::RangeInclusive<usize> = 16..=256;

/// How the service runs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceSettings {
    /// Threads that compute, each busy with its own batch.
    pub threads: usize,
    /// Jobs of up to 256 texts that may wait or run at once; who submits more has to wait.
    pub queue: usize,
}

impl Default for ServiceSettings {
    fn default() -> Self {
        Self { threads: thread::available_parallelism().map_or(1, |n| n.get().div_ceil(2)), queue: 64 }
    }
}

struct Job {
    texts: Vec<String>,
    reply: oneshot::Sender<Result<Vec<Vector>, Error>>,
    /// Gives its place in the queue back when the job is done or dropped.
    _place: OwnedSemaphorePermit,
}

/// A handle to the model's threads. The last handle to go stops them.
pub struct EmbedService {
    id: String,
    /// `None` only while it is dropped, which is how the threads learn of the end.
    jobs: Option<Sender<Job>>,
    places: Arc<Semaphore>,
    threads: Vec<JoinHandle<()>>,
}

impl fmt::Debug for EmbedService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbedService")
            .field("id", &self.id)
            .field("threads", &self.threads.len())
            .finish_non_exhaustive()
    }
}

impl EmbedService {
    /// Starts the threads.
    pub fn start(model: Arc<dyn Model>, settings: &ServiceSettings) -> Result<Self, Error> {
        let (jobs, queue) = unbounded::<Job>();
        let mut threads = Vec::new();
        for idx in 0..settings.threads.max(1) {
            let (model, queue) = (Arc::clone(&model), queue.clone());
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(1)
                .thread_name(move |_| format!("embed-{idx}-inner"))
                .build()
                .map_err(|e| Error::lasting("can't start a thread for the embedding model").because(e))?;
            let thread = thread::Builder::new()
                .name(format!("embed-{idx}"))
                .spawn(move || pool.install(|| run(&*model, &queue)))
                .map_err(|e| Error::lasting("can't start a thread for the embedding model").because(e))?;
            threads.push(thread);
        }
        let places = Arc::new(Semaphore::new(settings.queue.max(1)));
        Ok(Self { id: model.id().to_owned(), jobs: Some(jobs), places, threads })
    }

    /// The id of the model behind it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// One vector for each text, in the order of the texts. Waits while the queue is full.
    pub async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vector>, Error> {
        // Texts of like length go together, so that a job finds full batches.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&idx| texts[idx].len());
        let n_texts = texts.len().div_ceil(2 * self.threads.len().max(1));
        let n_texts = n_texts.clamp(*TEXTS_PER_JOB.start(), *TEXTS_PER_JOB.end());
        let mut replies = Vec::new();
        for part in order.chunks(n_texts) {
            let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| stopped())?;
            let (reply, answer) = oneshot::channel();
            let texts = part.iter().map(|&idx| texts[idx].clone()).collect();
            let jobs = self.jobs.as_ref().ok_or_else(stopped)?;
            jobs.send(Job { texts, reply, _place: place }).map_err(|_| stopped())?;
            replies.push(answer);
        }
        let mut vectors = vec![None; texts.len()];
        for (part, answer) in order.chunks(n_texts).zip(replies) {
            for (&idx, vector) in part.iter().zip(answer.await.map_err(|_| stopped())??) {
                vectors[idx] = Some(vector);
            }
        }
        vectors.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| Error::lasting("the model gave too few vectors"))
    }
}

impl Drop for EmbedService {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has already said so; there is nothing left to save here.
            let _ = thread.join();
        }
    }
}

fn stopped() -> Error {
    Error::lasting("the embedding service has stopped")
}

fn run(model: &dyn Model, queue: &Receiver<Job>) {
    for job in queue {
        // Whoever waited may have gone; then the work is not worth doing.
        if !job.reply.is_closed() {
            let _ = job.reply.send(model.embed(&job.texts));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::embed::Hashed;

    #[tokio::test]
    async fn answers_come_in_the_order_of_the_texts() {
        let service = EmbedService::start(Arc::new(Hashed), &ServiceSettings { threads: 2, queue: 2 }).unwrap();
        let texts: Vec<String> = (0..1000).map(|n| format!("{} port {n}", "long ".repeat(n % 7))).collect();
        let vectors = service.embed(texts.clone()).await.unwrap();
        assert_eq!(vectors, Hashed.embed(&texts).unwrap());
        assert_eq!(service.embed(Vec::new()).await.unwrap(), []);
    }
}
