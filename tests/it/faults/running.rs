//! A command that runs beside the test: what it says, its signals, and the lake that it writes.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use hypercane::connect::{
    kafka::{Properties, create_topics, publish},
    lake::{self, Lake},
    transport::RawRecord,
};
use hypercane_schemas::{Document, Record, Reject};

use crate::command::{hypercane, path, root};

/// The longest that anything here may take.
pub const LONGEST: Duration = Duration::from_secs(60);

/// The broker of this test run, and whether the model is there; else says why the test is skipped.
pub fn brokers() -> Option<String> {
    if !root().join(".cache/models/all-MiniLM-L6-v2").is_dir() {
        println!("skipped: the embedding model is not there; `make models` fetches it");
        return None;
    }
    let brokers = std::env::var("KAFKA_BROKERS").ok();
    if brokers.is_none() {
        println!("skipped: KAFKA_BROKERS names no broker, so Kafka may not be here");
    }
    brokers
}

/// A broker of a test's own, stopped when it goes.
pub struct Broker {
    folder: tempfile::TempDir,
    pub address: String,
}

impl Broker {
    /// Starts one; `variables` are those of `deploy/kafka/start.sh`.
    pub fn start(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = Self::run(folder.path(), None, variables);
        Self { folder, address }
    }

    fn run(folder: &Path, port: Option<&str>, variables: &[(&str, &str)]) -> String {
        let started = Command::new(root().join("deploy/kafka/start.sh"))
            .arg(folder)
            .args(port)
            .env("KAFKA_HEAP", "256m")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        String::from_utf8(started.stdout).unwrap().trim().to_owned()
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn stop(&self) {
        Command::new(root().join("deploy/kafka/stop.sh")).arg(self.folder.path()).status().unwrap();
    }

    /// Starts it again at its address.
    pub fn start_again(&self, variables: &[(&str, &str)]) {
        let port = self.address.rsplit(':').next();
        assert_eq!(Self::run(self.folder.path(), port, variables), self.address);
    }

    /// Throws away all that it holds; it has to be stopped.
    pub fn wipe(&self) {
        fs::remove_dir_all(self.folder.path().join("data")).unwrap();
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A pipeline's configuration, topics and lake, all of the test's own.
pub struct Place {
    folder: tempfile::TempDir,
    pub lake: PathBuf,
    brokers: String,
    suffix: String,
}

impl Place {
    pub fn new(brokers: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let suffix = folder.path().file_name().unwrap().to_string_lossy().replace('.', "");
        Self { lake: folder.path().join("lake"), folder, brokers: brokers.to_owned(), suffix }
    }

    /// With its lake in another folder.
    pub fn with_lake(brokers: &str, lake: PathBuf) -> Self {
        Self { lake, ..Self::new(brokers) }
    }

    /// The full name of a topic.
    pub fn topic(&self, name: &str) -> String {
        format!("{name}-{}", self.suffix)
    }

    pub fn properties(&self) -> Properties {
        [("bootstrap.servers".to_owned(), self.brokers.clone())].into()
    }

    /// Writes the configuration and gives its path.
    pub fn config(&self) -> String {
        let topics = ["documents", "horizons", "queries", "results", "rejects"];
        let topics: String = topics.iter().map(|name| format!("{name} = {:?}\n", self.topic(name))).collect();
        let text = format!(
            "[source.kafka]\ncreate_partitions = 1\n[source.kafka.properties]\n\"bootstrap.servers\" = {:?}\n\
             \"topic.metadata.refresh.interval.ms\" = \"1000\"\n\
             \"topic.metadata.propagation.max.ms\" = \"2000\"\n[source.kafka.topics]\n{topics}[lake]\nlocation = {:?}\n",
            self.brokers,
            self.lake.to_string_lossy()
        );
        let file = self.folder.path().join("pipeline.toml");
        fs::write(&file, text).unwrap();
        file.to_string_lossy().into_owned()
    }

    /// Starts `hypercane run` on it.
    pub fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Running {
        let config = self.config();
        Running::start(&[&["run", config.as_str()], arguments].concat(), variables)
    }

    /// Runs to the end of the topics; gives the exit code and what was said.
    pub fn run_to_end(&self, arguments: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
        self.run(&[&["--until-end"], arguments].concat(), variables).ends()
    }

    pub fn create_topics(&self) {
        let topics = ["documents", "horizons", "queries", "results", "rejects"].map(|name| self.topic(name));
        let topics: Vec<&str> = topics.iter().map(String::as_str).collect();
        runtime().block_on(create_topics(&self.properties(), &topics, 1)).unwrap();
    }

    /// Sends records to the topic of documents.
    pub fn send(&self, records: impl IntoIterator<Item = (String, Vec<u8>)>) {
        let topic = self.topic("documents").as_str().into();
        let records = records.into_iter().map(|(key, payload)| RawRecord::new(&topic, key, Some(payload)));
        publish(&self.properties(), records, |_| ()).unwrap();
    }

    /// Sends good documents `d1`, `d2`, and so on.
    pub fn send_documents(&self, numbers: std::ops::RangeInclusive<usize>) {
        self.send(numbers.map(|number| (format!("d{number}"), document(number))));
    }

    /// The rows that stand in the lake as of its last commit; nothing where there is no lake yet.
    pub fn standing<R: Record>(&self) -> Vec<R> {
        runtime().block_on(async {
            let Ok(lake) = Lake::view(&self.lake.to_string_lossy(), lake::Options::default()).await else {
                return Vec::new();
            };
            let rows = lake.read::<R>(None).await.unwrap();
            assert!(rows.iter().all(|(_, count)| *count == 1), "a row of {} stands more or less than once", R::TABLE);
            rows.into_iter().map(|(row, _)| row).collect()
        })
    }

    pub fn documents(&self) -> BTreeSet<String> {
        self.standing::<Document>().into_iter().map(|document| document.key.0).collect()
    }

    pub fn rejects(&self) -> Vec<Reject> {
        self.standing()
    }

    /// The offset at which the topic of documents goes on, as the last commit has it.
    pub fn committed(&self) -> i64 {
        runtime().block_on(async {
            let lake = Lake::view(&self.lake.to_string_lossy(), lake::Options::default()).await.unwrap();
            let point = lake.commit_point().await.unwrap().unwrap();
            point.offsets.get(&(self.topic("documents"), 0)).copied().unwrap_or_default()
        })
    }

    /// Waits until the lake holds the documents up to a number.
    #[track_caller]
    pub fn wait_for_documents(&self, last: usize) {
        let wanted: BTreeSet<String> = (1..=last).map(|number| format!("d{number}")).collect();
        let began = Instant::now();
        while self.documents() != wanted {
            assert!(began.elapsed() < LONGEST, "the lake holds {:?}", self.documents());
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// The lake is what its input gives.
    #[track_caller]
    pub fn verify(&self) {
        let output = hypercane(&["verify", "--lake", &self.lake.to_string_lossy()], &[]);
        let told = [&output.stdout[..], &output.stderr[..]].concat();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&told));
    }
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A short post with a fact of its own.
pub fn document(number: usize) -> Vec<u8> {
    let at = format!("2020-08-{:02}T{:02}:00:00Z", 1 + number / 24 % 28, number % 24);
    let text = "Port Condition WHISKEY is set for the Port of Houston.";
    serde_json::json!({ "text": text, "source_kind": "port_post", "issued_at": at }).to_string().into_bytes()
}

/// A command that runs.
pub struct Running {
    child: Child,
    told: Arc<Mutex<String>>,
    readers: Vec<thread::JoinHandle<()>>,
}

impl Running {
    pub fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(path())
            .args(arguments)
            .envs(variables.iter().copied())
            .current_dir(root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let told = Arc::new(Mutex::new(String::new()));
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let readers = vec![follow(out, &told), follow(err, &told)];
        Self { child, told, readers }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// All that it has said.
    pub fn told(&self) -> String {
        self.told.lock().unwrap().clone()
    }

    /// Waits until it has said this, `n` times.
    #[track_caller]
    pub fn says_times(&mut self, words: &str, n: usize) {
        let began = Instant::now();
        while self.told().matches(words).count() < n {
            let status = self.child.try_wait().unwrap();
            assert!(
                began.elapsed() < LONGEST && status.is_none(),
                "{words:?} is not in ({status:?}):\n{}",
                self.told()
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    #[track_caller]
    pub fn says(&mut self, words: &str) {
        self.says_times(words, 1);
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for its end; gives the exit code (none where a signal ended it) and all that it said.
    #[track_caller]
    pub fn ends(mut self) -> (Option<i32>, String) {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(began.elapsed() < LONGEST, "it does not end:\n{}", self.told());
            thread::sleep(Duration::from_millis(50));
        };
        for reader in std::mem::take(&mut self.readers) {
            reader.join().unwrap();
        }
        let told = self.told();
        assert!(!told.contains("panicked"), "{told}");
        (status.code(), told)
    }

    /// Asks it to stop, and sees that it does so with success.
    #[track_caller]
    pub fn stops(self) -> String {
        self.signal("TERM");
        let (code, told) = self.ends();
        assert_eq!(code, Some(0), "{told}");
        told
    }

    /// Bytes of memory that it has now.
    pub fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn follow(lines: impl std::io::Read + Send + 'static, told: &Arc<Mutex<String>>) -> thread::JoinHandle<()> {
    let told = Arc::clone(told);
    thread::spawn(move || {
        for line in BufReader::new(lines).lines().map_while(Result::ok) {
            println!("    {line}");
            told.lock().unwrap().push_str(&format!("{line}\n"));
        }
    })
}

/// Fails unless the run ended with an error that has all these words.
#[track_caller]
pub fn refused((code, told): (Option<i32>, String), words: &[&str]) {
    assert_eq!(code, Some(1), "{told}");
    let error = told.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    for word in words {
        assert!(error.contains(word), "{word:?} is not in the error:\n{told}");
    }
}
