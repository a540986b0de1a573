//! The process under torture: the command as users run it, its phase as its log tells it, and its death.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::command;

/// How far a process has come, by the lines of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It loads the model, takes the lock and reads recorded vectors.
    Start,
    /// It takes back what was not committed.
    Recovery,
    /// It works off the inputs of the lake.
    Resume,
    /// It reads the topics.
    Epochs,
}

impl Phase {
    pub const ALL: [Self; 4] = [Self::Start, Self::Recovery, Self::Resume, Self::Epochs];

    /// The words of the log that begin it.
    fn sign(self) -> &'static str {
        match self {
            Self::Start => "",
            Self::Recovery => "recovering the lake",
            Self::Resume => "resuming from the lake",
            Self::Epochs => ": reading topic=",
        }
    }
}

/// No process takes longer than this to come to its next phase, or to its end.
const PATIENCE: Duration = Duration::from_secs(180);

/// How a process is started.
pub struct Start<'a> {
    /// The configuration.
    pub config: &'a Path,
    /// Values that override those of the configuration.
    pub variables: Vec<(&'a str, String)>,
    /// Where its log goes.
    pub log: PathBuf,
    /// Whether it is to stop when all is read.
    pub until_end: bool,
}

/// A process that runs.
pub struct Process {
    child: Child,
    phase: Arc<AtomicUsize>,
    log: PathBuf,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    pub fn start(start: Start<'_>) -> Result<Self, String> {
        let mut run = Command::new(command::path());
        run.arg("run").arg(start.config).args(start.until_end.then_some("--until-end"));
        run.env("HYPERCANE_LOG", "warn,hypercane=info,hypercane::pipeline=debug")
            .env("NO_COLOR", "1")
            .envs(start.variables);
        run.current_dir(command::root()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = run.spawn().map_err(|e| format!("{}: {e}", command::path().display()))?;
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut file = fs::File::create(&start.log).map_err(|e| format!("{}: {e}", start.log.display()))?;
        let phase = Arc::new(AtomicUsize::new(0));
        let told = Arc::clone(&phase);
        let reader = thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let now = Phase::ALL.into_iter().rev().find(|phase| line.contains(phase.sign()));
                told.fetch_max(now.map_or(0, |phase| phase as usize), Ordering::SeqCst);
                // A log that can't be kept is no reason to end.
                let _ = writeln!(file, "{line}");
            }
        });
        Ok(Self { child, phase, log: start.log, reader: Some(reader) })
    }

    /// How far it has come.
    pub fn phase(&self) -> Phase {
        Phase::ALL[self.phase.load(Ordering::SeqCst)]
    }

    /// Waits until it is as far. An end before that is an error.
    pub fn reaches(&mut self, phase: Phase) -> Result<(), String> {
        let began = Instant::now();
        while self.phase() < phase {
            self.is_alive()?;
            if began.elapsed() > PATIENCE {
                return Err(self.complaint(&format!("it did not come to phase {phase:?} within {PATIENCE:?}")));
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// An error if it has ended.
    pub fn is_alive(&mut self) -> Result<(), String> {
        match self.child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => Err(self.complaint(&format!("it ended by itself ({status})"))),
            None => Ok(()),
        }
    }

    /// Waits for a time; `work` is called all the while.
    pub fn lives(&mut self, time: Duration, mut work: impl FnMut(Phase)) {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            work(self.phase());
            thread::sleep(left.min(Duration::from_millis(1)));
        }
    }

    /// Kills it with SIGKILL and waits until it is gone. It must not have ended by itself before.
    pub fn kill(mut self) -> Result<Phase, String> {
        self.child.kill().map_err(|e| e.to_string())?;
        let status = self.ends(|_| ())?;
        match status.signal() {
            Some(9) => Ok(self.phase()),
            _ => Err(self.complaint(&format!("it ended by itself ({status})"))),
        }
    }

    /// Waits until it is gone by its fault; `work` is called all the while.
    pub fn dies(mut self, work: impl FnMut(Phase)) -> Result<Phase, String> {
        let status = self.ends(work)?;
        match status.signal() {
            Some(6) => Ok(self.phase()),
            _ => Err(self.complaint(&format!("its fault did not end it ({status})"))),
        }
    }

    /// Waits until it is done with all that there is.
    pub fn finishes(mut self) -> Result<(), String> {
        let status = self.ends(|_| ())?;
        if status.success() { Ok(()) } else { Err(self.complaint(&format!("it failed ({status})"))) }
    }

    fn ends(&mut self, mut work: impl FnMut(Phase)) -> Result<ExitStatus, String> {
        let began = Instant::now();
        let status = loop {
            work(self.phase());
            if let Some(status) = self.child.try_wait().map_err(|e| e.to_string())? {
                break status;
            }
            if began.elapsed() > PATIENCE * 5 {
                return Err(self.complaint(&format!("it did not end within {:?}", PATIENCE * 5)));
            }
            thread::sleep(Duration::from_millis(1));
        };
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        Ok(status)
    }

    /// What is wrong, with the end of the log.
    fn complaint(&self, what: &str) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines[lines.len().saturating_sub(20)..].join("\n");
        format!("the process of {}: {what}; the end of its log:\n{last}", self.log.display())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // After an error it may still run.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
