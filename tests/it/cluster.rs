//! Several processes are one pipeline: the same rows, the same causes, one lake; and when one dies, all stop and go on from
//! the last commit, in any number.

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use hypercane::{
    changes::Changes,
    connect::{
        lake::{CommitPoint, Lake},
        packs,
        peers::Cluster,
    },
    results::results,
    worker::{Batch, Engine, Layout, Note},
};
use hypercane_operators::domain::Domain;
use hypercane_schemas::{ContentHash, ResultEvent};
use proptest::prelude::{ProptestConfig, proptest};

use crate::{
    command::{self, hypercane, root},
    harness::{Feeder, History, Standing, Step, accumulate, compare},
    histories::histories,
    hypergraph::{forecast_advisory, steps},
    plain::{self, State},
};

/// Addresses on this machine that nobody uses.
fn free_hosts(n: usize) -> Vec<String> {
    let listeners: Vec<_> = (0..n).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners.iter().map(|listener| listener.local_addr().unwrap().to_string()).collect()
}

/// What a process saw in each epoch: changes, and results.
type Seen = Vec<(Changes, Vec<ResultEvent>)>;

/// Runs a history with the steps dealt out by their keys, as partitions do.
fn run(history: &History, n_processes: usize, domain: &Arc<Domain>) -> Vec<Seen> {
    let hosts = free_hosts(n_processes);
    let threads: Vec<_> = (0..n_processes)
        .map(|process| {
            let (history, domain) = (history.clone(), Arc::clone(domain));
            let cluster = Cluster { name: "test".into(), process, hosts: hosts.clone() };
            thread::spawn(move || {
                let cluster = (n_processes > 1).then_some(cluster);
                let mut engine = Engine::start(Layout { workers: 2, cluster }, 1, Arc::clone(&domain)).unwrap();
                let mut feeder = Feeder::new(&domain);
                let mut seen = Seen::new();
                for steps in history {
                    let own: Vec<Step> =
                        steps.into_iter().filter(|step| belongs(step) % n_processes == process).collect();
                    let epoch = engine.next_epoch();
                    let note = Note::from(format!("{process} in {epoch}"));
                    let (changes, mut notes) = engine.round(feeder.batch(&own), note).unwrap();
                    notes.sort();
                    let wanted: Vec<Note> =
                        (0..n_processes).map(|other| Note::from(format!("{other} in {epoch}"))).collect();
                    assert_eq!(notes, wanted, "each process hears all notes of an epoch, and no other");
                    let told = results(&changes, epoch);
                    seen.push((changes, told));
                }
                seen
            })
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

fn belongs(step: &Step) -> usize {
    let key = match step {
        Step::Document(key, _) => &key.0,
        Step::Horizon(group, _) => &group.0,
        Step::Query(id, _) => &id.0,
    };
    (ContentHash::of_parts([key.as_str()]).0 >> 64) as usize
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn processes_together_keep_the_hypergraph_that_one_keeps(drawn in histories()) {
        let history = steps(&drawn.script());
        let domain = Arc::new(packs::load("cyclone").unwrap());
        let alone = run(&history, 1, &domain).remove(0);
        let together = run(&history, 3, &domain);
        let (mut standing, mut state) = (Standing::default(), State::default());
        for (epoch, steps) in history.iter().enumerate() {
            standing.apply(steps);
            let (mut told, mut n_updates) = (Vec::new(), 0);
            for seen in &together {
                let (changes, results) = &seen[epoch];
                n_updates += changes.len();
                told.extend(results.clone());
                accumulate(&mut state, changes.clone());
            }
            let wanted = plain::state(&standing.documents, &standing.horizons, &standing.queries, &domain);
            compare(&state, &wanted).unwrap_or_else(|e| panic!("3 processes, epoch {epoch}: {e}"));
            // No row comes in one process and goes in another: what each commits is no more than one process commits.
            assert_eq!(n_updates, alone[epoch].0.len(), "updates of epoch {epoch}");
            told.sort();
            let mut wanted = alone[epoch].1.clone();
            wanted.sort();
            assert_eq!(told, wanted, "results of epoch {epoch}, with their causes");
        }
    }
}

#[test]
fn a_process_that_gives_up_waits_for_nobody() {
    let domain = Arc::new(packs::load("cyclone").unwrap());
    let hosts = free_hosts(2);
    let (ended, heard) = std::sync::mpsc::channel();
    let threads: Vec<_> = (0..2)
        .map(|process| {
            let cluster = Cluster { name: "test".into(), process, hosts: hosts.clone() };
            let (domain, ended) = (Arc::clone(&domain), ended.clone());
            thread::spawn(move || {
                let layout = Layout { workers: 1, cluster: Some(cluster) };
                let mut engine = Engine::start(layout, 1, domain).unwrap();
                engine.round(Batch::default(), Note::new()).unwrap();
                // The second one gives up; the first goes on and would work on another epoch.
                let kept = (process == 0).then_some(engine);
                ended.send(process).unwrap();
                kept
            })
        })
        .collect();
    let mut all = [PATIENCE, PATIENCE].map(|patience| heard.recv_timeout(patience).expect("a process does not end"));
    all.sort();
    assert_eq!(all, [0, 1]);
    drop(threads);
}

/// How long anything may take on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(180);

/// A running process of a cluster.
struct Process(Child);

impl Process {
    fn start(config: &Path, hosts: &Path, process: usize, arguments: &[&str]) -> Self {
        let child = Command::new(command::path())
            .args(["run", config.to_str().unwrap(), "--hostfile", hosts.to_str().unwrap()])
            .args(["--process", &process.to_string()])
            .args(arguments)
            .current_dir(root())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self(child)
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.0.id().to_string()]).status().unwrap().success());
    }

    /// Its exit code and what it said; it has to end soon.
    fn ended(mut self) -> (Option<i32>, String) {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match self.0.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(Instant::now() < until, "a process does not end"),
            }
            thread::sleep(Duration::from_millis(20));
        };
        let mut told = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        (status.code(), told)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Topics of a broker, a lake, and how to run processes on them.
struct Place {
    folder: tempfile::TempDir,
    brokers: String,
    prefix: String,
}

impl Place {
    fn config(&self, lake: &str) -> std::path::PathBuf {
        let path = self.folder.path().join(format!("{lake}.toml"));
        let topics = ["documents", "horizons", "queries", "results", "rejects"];
        let topics: Vec<String> = topics.iter().map(|name| format!("{name} = \"{}-{name}\"\n", self.prefix)).collect();
        let text = format!(
            "[pipeline]\nworkers = 1\ncommit_interval_ms = 50\nmax_epoch_records = 4\n\
             [source.kafka]\ncreate_partitions = 4\n[source.kafka.properties]\n\"bootstrap.servers\" = \"{}\"\n\
             [source.kafka.topics]\n{}[lake]\nlocation = {:?}\n[model]\nthreads = 1\n",
            self.brokers,
            topics.concat(),
            self.lake(lake),
        );
        fs::write(&path, text).unwrap();
        path
    }

    fn lake(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    fn publish(&self, texts: impl IntoIterator<Item = (String, String)>) {
        let records: Vec<String> = texts
            .into_iter()
            .map(|(key, text)| serde_json::json!({ "key": key, "value": { "text": text } }).to_string() + "\n")
            .collect();
        let file = self.folder.path().join("records.jsonl");
        fs::write(&file, records.concat()).unwrap();
        let topic = format!("{}-documents", self.prefix);
        let file = file.to_str().unwrap();
        let sent = hypercane(&["publish", "--brokers", &self.brokers, "--topic", &topic, "--create", "4", file], &[]);
        assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    }

    /// Starts so many processes.
    fn start(&self, n: usize, config: &Path, arguments: &[&str]) -> Vec<Process> {
        let hosts = self.folder.path().join("hosts");
        fs::write(&hosts, free_hosts(n).join("\n")).unwrap();
        (0..n).map(|process| Process::start(config, &hosts, process, arguments)).collect()
    }

    /// Runs so many processes to the end of the topics.
    fn run_to_end(&self, n: usize, config: &Path) {
        for process in self.start(n, config, &["--until-end"]) {
            let (code, told) = process.ended();
            assert_eq!(code, Some(0), "{told}");
        }
    }

    /// The last commit of a lake, if there is one.
    fn point(&self, lake: &str) -> Option<CommitPoint> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime
            .block_on(async { Lake::view(&self.lake(lake), Default::default()).await.ok()?.commit_point().await.ok()? })
    }

    /// Waits until the lake has a commit of some epoch. The processes have to go on meanwhile.
    fn await_commit(&self, lake: &str, after: u64, processes: &mut [Process]) -> u64 {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.point(lake) {
                Some(point) if point.epoch > after => return point.epoch,
                _ => assert!(Instant::now() < until, "nothing is committed"),
            }
            for process in &mut *processes {
                let mut told = String::new();
                if let Some(status) = process.0.try_wait().unwrap() {
                    process.0.stderr.take().unwrap().read_to_string(&mut told).unwrap();
                    panic!("a process has ended, {status}: {told}");
                }
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The state of a lake as files: name and content.
    fn export(&self, lake: &str) -> BTreeMap<String, Vec<u8>> {
        let out = self.folder.path().join(format!("{lake}-export"));
        let _ = fs::remove_dir_all(&out);
        let exported: Output = hypercane(&["export", "--lake", &self.lake(lake), "--out", out.to_str().unwrap()], &[]);
        assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
        let files = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap());
        files.map(|file| (file.file_name().to_string_lossy().into_owned(), fs::read(file.path()).unwrap())).collect()
    }
}

/// Advisories of two storms; later ones correct the first.
fn advisories(range: std::ops::Range<u8>) -> Vec<(String, String)> {
    let text = |n: u8| forecast_advisory(1 + n % 2, 1 + n % 12, u8::from(n >= 24), n % 7, 0);
    range.map(|n| (format!("advisory-{}", n % 30), text(n))).collect()
}

#[test]
fn a_process_that_dies_stops_all_and_any_number_goes_on_from_the_lake() {
    let Ok(brokers) = std::env::var("KAFKA_BROKERS") else {
        println!("skipped: KAFKA_BROKERS names no broker");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let place = Place { folder, brokers, prefix: format!("cluster-{}", std::process::id()) };
    let config = place.config("lake");
    place.publish(advisories(0..20));

    let mut processes = place.start(4, &config, &[]);
    let epoch = place.await_commit("lake", 0, &mut processes);
    processes.remove(2).signal("-KILL");
    for process in processes {
        let (code, told) = process.ended();
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains("another process of the cluster is gone") && !told.contains("panicked"), "{told}");
    }

    // A second signal is not needed: one process is asked, all finish and commit.
    place.publish(advisories(20..30));
    let mut processes = place.start(2, &config, &[]);
    place.await_commit("lake", epoch, &mut processes);
    processes[1].signal("-TERM");
    for process in processes {
        let (code, told) = process.ended();
        assert_eq!(code, Some(0), "{told}");
    }

    place.publish(advisories(30..45));
    place.run_to_end(3, &config);
    place.publish(advisories(45..60));
    place.run_to_end(4, &config);
    place.run_to_end(1, &config);
    let alone = place.config("alone");
    place.run_to_end(1, &alone);
    assert!(place.export("lake") == place.export("alone"), "the lakes differ");
    let offsets = |lake: &str| place.point(lake).unwrap().offsets;
    assert_eq!(offsets("lake"), offsets("alone"));
    let verified = hypercane(&["verify", "--lake", &place.lake("lake")], &[]);
    assert_eq!(verified.status.code(), Some(0), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn a_process_says_what_it_lacks_to_take_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place { folder, brokers: "127.0.0.1:1".into(), prefix: "none".into() };
    let config = place.config("lake");
    let hosts = place.folder.path().join("hosts");
    fs::write(&hosts, "# two of us\n127.0.0.1:7401\n\n127.0.0.1:7402 # the second\n").unwrap();
    let told = |arguments: &[&str]| {
        let all = [&["run", config.to_str().unwrap()], arguments].concat();
        let output = hypercane(&all, &[]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let file = hosts.to_str().unwrap();
    assert!(told(&["--hostfile", file]).contains("--process 0 to 1"));
    assert!(told(&["--hostfile", file, "--process", "2"]).contains("there is no process 2"));
    assert!(told(&["--process", "0"]).contains("--hostfile"));
    fs::write(&hosts, "# nobody\n").unwrap();
    assert!(told(&["--hostfile", file, "--process", "0"]).contains("names no process"));
}
