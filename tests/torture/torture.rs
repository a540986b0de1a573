//! One trial: topics, a feeder, kills, the last run to the end, the undisturbed run, and the verdict.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use hypercane::connect::kafka::{Properties, create_topics, ends};

use crate::{
    compare::Findings,
    dice::Dice,
    feeder::Feeder,
    lake::Lake,
    process::{Phase, Process, Start},
    traffic::{TOPICS, Traffic},
};

/// How a process is to end.
#[derive(Debug)]
enum Death {
    /// By SIGKILL, some time after it has come so far.
    Kill(Since, Duration),
    /// By the fault point of this name, when it is reached the n-th time.
    Fault(&'static str, usize),
}

/// Since when the time to a kill counts.
#[derive(Clone, Copy, Debug)]
enum Since {
    Phase(Phase),
    /// The first commit that the process makes.
    Commit,
}

/// Fault points with their weight, and how often the process may pass them before it ends there: several tables are
/// written in each commit.
const FAULTS: [(usize, (&str, usize)); 6] = [
    (1, ("before_table_writes", 4)),
    (3, ("after_table_file", 30)),
    (3, ("after_table_write", 30)),
    (2, ("after_table_writes", 4)),
    (3, ("after_commit_file", 4)),
    (1, ("after_commit", 4)),
];

/// Since when the time counts, with their weight and the longest time to the kill in milliseconds.
const KILLS: [(usize, (Since, u64)); 5] = [
    (2, (Since::Phase(Phase::Start), 1000)),
    (2, (Since::Phase(Phase::Recovery), 60)),
    (1, (Since::Phase(Phase::Resume), 500)),
    (2, (Since::Phase(Phase::Epochs), 1000)),
    (5, (Since::Commit, 300)),
];

impl Death {
    /// Each third one is by a fault point.
    fn draw(n: usize, dice: &mut Dice) -> Self {
        if n.is_multiple_of(3) {
            let (place, most) = *dice.weighted(&FAULTS);
            return Self::Fault(place, 1 + dice.below(most));
        }
        let (from, most) = *dice.weighted(&KILLS);
        let most = Duration::from_millis(most);
        // The first instants are worth more than their share, but after a commit the next one is some way off.
        let is_early = dice.below(2) == 0 && !matches!(from, Since::Commit);
        let delay = if is_early { dice.delay(most) } else { most * dice.below(1000) as u32 / 1000 };
        Self::Kill(from, delay)
    }
}

/// So many kills may come before the first commit. Else a model that is asked for its first vectors would be all that is
/// ever killed.
const ON_AN_EMPTY_LAKE: usize = 3;

/// How many records are to wait for a process when it starts, and how often two more come while it reads: one that has
/// caught up would be killed at rest.
const WAITING: i64 = 40;
const TWO_MORE: Duration = Duration::from_millis(100);

/// A lake is looked at as often for a commit.
const LOOK: Duration = Duration::from_millis(5);

/// Kills the process so many times; whether its lake is as it should be.
pub fn torture(brokers: &str, n_kills: usize, seed: u64) -> Result<bool, String> {
    println!("torture: {n_kills} kills, seed {seed}");
    let folder = tempfile::Builder::new().prefix("torture-").tempdir().map_err(|e| e.to_string())?;
    let outcome = Trial::new(brokers, seed, folder.path()).and_then(|mut trial| trial.run(n_kills));
    let is_clean = outcome.as_ref().is_ok_and(Findings::is_clean);
    if let Ok(findings) = &outcome {
        for example in &findings.examples {
            println!("{example}");
        }
    }
    if is_clean {
        drop(folder);
    } else {
        println!("lakes, logs and all that was sent are kept in {}", folder.keep().display());
    }
    println!("seed {seed} (TORTURE_SEED={seed} sends the same records and draws the same kills)");
    let findings = outcome?;
    let Findings { n_lost, n_twice, n_orphans, .. } = findings;
    println!("{n_kills} kills, {n_lost} rows lost, {n_twice} rows twice, {n_orphans} orphans");
    Ok(is_clean)
}

struct Trial<'a> {
    folder: &'a Path,
    config: PathBuf,
    properties: Properties,
    /// The names of the topics that are read.
    topics: [String; 3],
    seed: u64,
    dice: Dice,
    began: Instant,
    /// How many processes ended where.
    ends: BTreeMap<String, usize>,
}

impl<'a> Trial<'a> {
    fn new(brokers: &str, seed: u64, folder: &'a Path) -> Result<Self, String> {
        let properties: Properties = [("bootstrap.servers".to_owned(), brokers.to_owned())].into();
        let mark = format!("torture-{}-{seed}", std::process::id());
        let topics = TOPICS.map(|topic| format!("{mark}-{topic}"));
        let config = folder.join("torture.toml");
        let [documents, horizons, queries] = &topics;
        let text = format!(
            r#"[pipeline]
id = "torture"
max_epoch_records = 2
commit_interval_ms = 5
[source.kafka.properties]
"bootstrap.servers" = "{brokers}"
[source.kafka.topics]
documents = "{documents}"
horizons = "{horizons}"
queries = "{queries}"
results = "{mark}-results"
rejects = "{mark}-rejects"
[lake]
location = "{}"
"#,
            folder.join("tortured").display()
        );
        fs::write(&config, text).map_err(|e| format!("{}: {e}", config.display()))?;
        let out = [format!("{mark}-results"), format!("{mark}-rejects")];
        let names: Vec<&str> = topics.iter().chain(&out).map(String::as_str).collect();
        let runtime = tokio::runtime::Runtime::new().map_err(|e| e.to_string())?;
        runtime.block_on(create_topics(&properties, &names, 3)).map_err(|e| e.to_string())?;
        let (dice, began) = (Dice::new(seed, "kills"), Instant::now());
        Ok(Self { folder, config, properties, topics, seed, dice, began, ends: BTreeMap::new() })
    }

    fn run(&mut self, n_kills: usize) -> Result<Findings, String> {
        // The command is built before the clock counts.
        crate::command::path();
        self.began = Instant::now();
        let copy = self.folder.join("sent.jsonl");
        let feeder = Feeder::start(&self.properties, self.topics.clone(), self.seed, &copy)?;
        let mut tortured = Lake::new(self.folder.join("tortured"));
        for n in 1..=n_kills {
            self.kill(n, &feeder, &mut tortured)?;
            if n % 10 == 0 || n == n_kills {
                self.tell(n, feeder.n_sent(), &tortured)?;
            }
        }
        let traffic = feeder.finish()?;
        let workers = 1 + self.dice.below(3);
        let larger = ("HYPERCANE__PIPELINE__MAX_EPOCH_RECORDS", "64".to_owned());
        self.start("last", workers, &[larger], true)?.finishes()?;
        tortured.refresh()?;
        println!("{} the last start read to the end", self.clock());

        let undisturbed = [
            ("HYPERCANE__LAKE__LOCATION", self.folder.join("undisturbed").display().to_string()),
            ("HYPERCANE__PIPELINE__MAX_EPOCH_RECORDS", "256".into()),
            ("HYPERCANE__PIPELINE__COMMIT_INTERVAL_MS", "500".into()),
        ];
        self.start("undisturbed", 2, &undisturbed, true)?.finishes()?;
        let mut wanted = Lake::new(self.folder.join("undisturbed"));
        wanted.refresh()?;
        println!("{} the undisturbed run read to the end", self.clock());
        self.judge(&tortured, &wanted, &traffic)
    }

    fn start(
        &self,
        name: &str,
        workers: usize,
        variables: &[(&str, String)],
        until_end: bool,
    ) -> Result<Process, String> {
        let mut variables = variables.to_vec();
        variables.push(("HYPERCANE__PIPELINE__WORKERS", workers.to_string()));
        let log = self.folder.join(format!("{name}.log"));
        Process::start(Start { config: &self.config, variables, log, until_end })
    }

    /// Starts the process and sees to its death.
    fn kill(&mut self, n: usize, feeder: &Feeder, lake: &mut Lake) -> Result<(), String> {
        let (death, workers) = (Death::draw(n, &mut self.dice), 1 + self.dice.below(3));
        let before = lake.point()?;
        let n_read: i64 = before.iter().flat_map(|point| point.offsets.values()).sum();
        feeder.send(usize::try_from(WAITING + n_read - feeder.n_sent() as i64).unwrap_or_default());
        let mut fed = Instant::now();
        let mut feed = |phase| {
            if phase == Phase::Epochs && fed.elapsed() > TWO_MORE {
                feeder.send(2);
                fed = Instant::now();
            }
        };
        let name = format!("start-{n:04}");
        let end = match death {
            Death::Kill(from, delay) => {
                let mut process = self.start(&name, workers, &[], false)?;
                let (phase, after_commit) = match from {
                    Since::Phase(phase) => (phase, phase == Phase::Epochs && before.is_none()),
                    Since::Commit => (Phase::Epochs, true),
                };
                process.reaches(phase)?;
                let epoch = before.map_or(0, |point| point.epoch);
                while after_commit && n > ON_AN_EMPTY_LAKE && lake.point()?.is_none_or(|point| point.epoch == epoch) {
                    process.lives(LOOK, &mut feed);
                    process.is_alive()?;
                    lake.refresh()?;
                }
                process.lives(delay, feed);
                let phase = process.kill()?;
                lake.refresh()?;
                // Only then has it taken away what the process before left.
                let place = if phase == Phase::Epochs { lake.residue()? } else { None };
                match place {
                    Some(place) => format!("SIGKILL in a commit, {place}"),
                    None => format!("SIGKILL in phase {}", format!("{phase:?}").to_lowercase()),
                }
            }
            Death::Fault(place, count) => {
                let fault = [("HYPERCANE_FAULT", format!("{place}:{count}"))];
                self.start(&name, workers, &fault, false)?.dies(feed)?;
                lake.refresh()?;
                format!("fault {place}")
            }
        };
        *self.ends.entry(end).or_default() += 1;
        Ok(())
    }

    fn clock(&self) -> String {
        format!("{:5.0} s", self.began.elapsed().as_secs_f64())
    }

    fn tell(&self, n: usize, n_sent: usize, lake: &Lake) -> Result<(), String> {
        let point = lake.point()?;
        let n_read: i64 = point.iter().flat_map(|point| point.offsets.values()).sum();
        let epoch = point.map_or(0, |point| point.epoch);
        let n_in_commits: usize = self.ends.iter().filter(|(end, _)| !end.contains("phase")).map(|(_, n)| n).sum();
        println!(
            "{} {n} kills, {n_in_commits} of them in a commit; {n_sent} records sent, {n_read} committed by epoch {epoch}",
            self.clock()
        );
        Ok(())
    }

    fn judge(&self, tortured: &Lake, wanted: &Lake, traffic: &Traffic) -> Result<Findings, String> {
        let mut ended = String::new();
        for (end, n) in &self.ends {
            let _ = write!(ended, "\n  {n:4} {end}");
        }
        println!("where they ended:{ended}");
        let mut findings = Findings::default();
        let ends = ends(&self.properties, &self.topics).map_err(|e| e.to_string())?;
        for (name, lake) in [("tortured", tortured), ("undisturbed", wanted)] {
            let offsets = lake.point()?.map(|point| point.offsets).unwrap_or_default();
            for (partition, end) in ends.iter().filter(|(_, end)| **end > 0) {
                if offsets.get(partition) != Some(end) {
                    let found = offsets.get(partition);
                    return Err(format!("{partition:?} ends at {end}, but the {name} lake goes on at {found:?}"));
                }
            }
            let n_checkpoints = lake.check_checkpoints()?;
            println!("{} {name} lake: {n_checkpoints} checkpoints agree with their logs", self.clock());
            findings.inputs(lake, traffic.standing(), traffic.n_garbage())?;
            findings.orphans(lake)?;
        }
        let sizes = findings.tables(tortured, wanted)?;
        let sizes: Vec<String> = sizes.into_iter().map(|(table, n_rows)| format!("{n_rows} {table}")).collect();
        println!("{} compared {}", self.clock(), sizes.join(", "));
        Ok(findings)
    }
}
