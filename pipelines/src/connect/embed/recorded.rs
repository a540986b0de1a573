//! No text is embedded twice: the record is asked first, and the model only for what is missing.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use hypercane_schemas::{ContentHash, Vector, text};
use tokio::sync::Notify;

use super::{EmbedService, Error, VectorStore, input_hash};

/// The model behind its record.
#[derive(Debug)]
pub struct Recorded {
    service: EmbedService,
    store: Arc<dyn VectorStore>,
    /// Texts that some call is embedding now, so that another call waits for them and does not ask again.
    claimed: Mutex<HashSet<ContentHash>>,
    /// Told whenever claims are given back.
    released: Notify,
}

impl Recorded {
    /// Puts a record before a model.
    pub fn new(service: EmbedService, store: Arc<dyn VectorStore>) -> Self {
        Self { service, store, claimed: Mutex::default(), released: Notify::new() }
    }

    /// The id of the model.
    pub fn id(&self) -> &str {
        self.service.id()
    }

    /// One vector for each text, in the order of the texts; all of them are on the record when this returns.
    pub async fn vectors(&self, texts: &[String]) -> Result<Vec<Vector>, Error> {
        let inputs: Vec<ContentHash> = texts.iter().map(|input| input_hash(input)).collect();
        loop {
            // Listening starts before the record is read, so that a release in between is not missed.
            let released = self.released.notified();
            tokio::pin!(released);
            released.as_mut().enable();

            let known = self.store.get(&inputs)?;
            if known.iter().all(Option::is_some) {
                return Ok(known.into_iter().flatten().collect());
            }
            let claim = self.claim(&inputs, &known);
            if claim.inputs.is_empty() {
                released.await;
                continue;
            }
            // Another call may have recorded some of them between the look and the claim.
            let recorded = self.store.get(&claim.inputs)?;
            let places = claim.inputs.iter().zip(&claim.positions).zip(&recorded);
            let (missing, texts): (Vec<ContentHash>, Vec<String>) = places
                .filter(|(_, recorded)| recorded.is_none())
                .map(|((&input, &idx), _)| (input, text::canonical(&texts[idx])))
                .unzip();
            if missing.is_empty() {
                continue;
            }
            let found = self.service.embed(texts).await?;
            let rows: Vec<(ContentHash, Vector)> = missing.into_iter().zip(found).collect();
            self.store.put(&rows)?;
        }
    }

    fn claim<'a>(&'a self, inputs: &[ContentHash], known: &[Option<Vector>]) -> Claim<'a> {
        let mut claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut claim = Claim { of: self, inputs: Vec::new(), positions: Vec::new() };
        for (idx, (&input, known)) in inputs.iter().zip(known).enumerate() {
            if known.is_none() && claimed.insert(input) {
                claim.inputs.push(input);
                claim.positions.push(idx);
            }
        }
        claim
    }
}

/// Texts that one call embeds; given back when it is done, has failed or was dropped.
struct Claim<'a> {
    of: &'a Recorded,
    inputs: Vec<ContentHash>,
    /// Where each stands in the call.
    positions: Vec<usize>,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut claimed = self.of.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        for input in &self.inputs {
            claimed.remove(input);
        }
        drop(claimed);
        self.of.released.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::connect::embed::{Hashed, MemoryStore, Model, ServiceSettings};

    #[derive(Default)]
    struct Counting {
        n_texts: AtomicUsize,
        fails: AtomicUsize,
    }

    impl Model for Counting {
        fn id(&self) -> &str {
            "counting"
        }

        fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, Error> {
            if self.fails.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok() {
                return Err(Error::transient("no"));
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
            self.n_texts.fetch_add(texts.len(), Ordering::SeqCst);
            Hashed.embed(texts)
        }
    }

    fn recorded(model: &Arc<Counting>, store: &Arc<MemoryStore>) -> Recorded {
        let model: Arc<dyn Model> = Arc::<Counting>::clone(model);
        let service = EmbedService::start(model, &ServiceSettings { threads: 2, queue: 4 }).unwrap();
        Recorded::new(service, Arc::<MemoryStore>::clone(store))
    }

    fn texts(range: std::ops::Range<usize>) -> Vec<String> {
        range.map(|n| format!("port {n}")).collect()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn no_text_is_embedded_twice_by_calls_at_once_or_after_a_restart() {
        let (model, store) = (Arc::new(Counting::default()), Arc::new(MemoryStore::default()));
        let at_once = Arc::new(recorded(&model, &store));
        let calls: Vec<_> = (0..20)
            .map(|n| {
                let at_once = Arc::clone(&at_once);
                tokio::spawn(async move { at_once.vectors(&texts(n * 5..n * 5 + 100)).await.unwrap() })
            })
            .collect();
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.unwrap(), Hashed.embed(&texts(n * 5..n * 5 + 100)).unwrap());
        }
        let again = recorded(&model, &store);
        again.vectors(&["  port\u{a0}7 ".to_owned(), "port 7".to_owned()]).await.unwrap();
        assert_eq!(model.n_texts.load(Ordering::SeqCst), 195);
    }

    #[tokio::test]
    async fn a_failed_call_leaves_nothing_claimed() {
        let (model, store) = (Arc::new(Counting::default()), Arc::new(MemoryStore::default()));
        model.fails.store(1, Ordering::SeqCst);
        let recorded = recorded(&model, &store);
        assert!(recorded.vectors(&texts(0..3)).await.unwrap_err().is_transient());
        assert_eq!(recorded.vectors(&texts(0..3)).await.unwrap().len(), 3);
    }
}
