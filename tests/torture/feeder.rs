//! Sends records from a thread of its own, as many as it is told to.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use hypercane::connect::{
    kafka::{Properties, Sink},
    transport::Sink as _,
};

use crate::{dice::Dice, traffic::Traffic};

/// A thread that sends.
pub struct Feeder {
    owed: Arc<AtomicUsize>,
    n_sent: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Traffic, String>>,
}

impl Feeder {
    /// Starts it. All that is sent is also written to a file.
    pub fn start(properties: &Properties, topics: [String; 3], seed: u64, copy: &Path) -> Result<Self, String> {
        let mut sink = Sink::open(properties).map_err(|e| e.to_string())?;
        let mut copy = BufWriter::new(File::create(copy).map_err(|e| format!("{}: {e}", copy.display()))?);
        let mut traffic = Traffic::new(seed)?;
        let mut dice = Dice::new(seed, "feeder");
        let (owed, n_sent, stop) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default(), Arc::default());
        let (told, sent, stopped) = (Arc::clone(&owed), Arc::clone(&n_sent), Arc::<AtomicBool>::clone(&stop));
        let thread = thread::spawn(move || {
            let failed = |e: &dyn std::error::Error| format!("records can't be sent: {e}");
            loop {
                let n_records = told.load(Ordering::SeqCst).min(1 + dice.below(6));
                if n_records == 0 {
                    if stopped.load(Ordering::SeqCst) {
                        copy.flush().map_err(|e| failed(&e))?;
                        return Ok(traffic);
                    }
                    thread::sleep(Duration::from_millis(1));
                    continue;
                }
                for _ in 0..n_records {
                    let record = traffic.next();
                    let topic = &topics[record.topic];
                    let payload = record.payload.as_deref();
                    sink.send(topic, record.key.as_bytes(), payload).map_err(|e| failed(&e))?;
                    let payload = payload.map(String::from_utf8_lossy);
                    let line = serde_json::json!({"topic": topic, "key": record.key, "payload": payload});
                    writeln!(copy, "{line}").map_err(|e| failed(&e))?;
                }
                sink.flush(0).map_err(|e| failed(&e))?;
                told.fetch_sub(n_records, Ordering::SeqCst);
                sent.fetch_add(n_records, Ordering::SeqCst);
            }
        });
        Ok(Self { owed, n_sent, stop, thread })
    }

    /// Has it send some more.
    pub fn send(&self, n_records: usize) {
        self.owed.fetch_add(n_records, Ordering::SeqCst);
    }

    /// How many it has sent.
    pub fn n_sent(&self) -> usize {
        self.n_sent.load(Ordering::SeqCst)
    }

    /// Ends it when it has sent all that it was told to.
    pub fn finish(self) -> Result<Traffic, String> {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.join().map_err(|_| "the thread that sends panicked".to_owned())?
    }
}
