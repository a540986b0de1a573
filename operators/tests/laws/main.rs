//! Rebuild equals increment, as a law of every operator.
//!
//! For each operator: random histories of its input on 1, 2 and 4 workers, cut into epochs at random, and as a rebuild in one
//! epoch; after each epoch what comes out is what a plain definition gives of what stands, multiplicities included.
//!
//! - `law`: what a law is, and the list; `documents`, `answers`, `facts`, `hypergraph`, `names`, `passages`, `questions`: the
//!   laws, with their definitions
//! - `spec`: rows as sessions name them; `row`: rows as operators take and give them
//! - `history`: random histories and scripts; `run`: a script on the operator, against the definition
//! - `session`: the text format of scripts; `sessions/`: those that are kept; `settings`: how many histories, which seed
//!
//! `LAWS_HISTORIES` is how many histories are run in all, `LAWS_SEED` the seed by which a failure is run again, and
//! `LAWS_OPERATOR` the one operator to look at.

// The modules of a test binary are seen by nobody outside.
#![allow(unreachable_pub)]

mod answers;
mod documents;
mod evidence;
mod facts;
mod history;
mod hypergraph;
mod law;
mod names;
mod passages;
mod questions;
mod row;
mod run;
mod session;
mod settings;
mod spec;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
    time::Instant,
};

use hypercane_operators::domain::{DOMAIN_FILE, Domain};
use proptest::test_runner::{TestCaseError, TestError, TestRunner};

use history::{Script, histories};
use law::Law;

/// Histories that are run in all where `LAWS_HISTORIES` does not say.
const HISTORIES: u32 = 1000;

/// The pack of the cyclones.
fn domain() -> &'static Arc<Domain> {
    static DOMAIN: OnceLock<Arc<Domain>> = OnceLock::new();
    DOMAIN.get_or_init(|| {
        let folder = folder().join("../data/domains/cyclone");
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let tables = ["ports.csv", "sectors.csv", "questions.toml"].map(|name| (name.to_owned(), read(name)));
        Arc::new(Domain::parse(&read(DOMAIN_FILE), &BTreeMap::from(tables)).unwrap())
    })
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What the histories of one law came to.
#[derive(Default)]
struct Tally {
    histories: u32,
    steps: usize,
    epochs: usize,
    /// The shortest script that gives a difference, and which.
    difference: Option<String>,
}

/// Runs histories of one law until one gives a difference.
fn hold(law: &Law, n_histories: u32, seed: u32) -> Tally {
    let pool = (law.pool)();
    let tally = Mutex::new(Tally::default());
    // Each operator has histories of its own.
    let config = settings::runner(n_histories, run::hash(&(seed, law.operator)));
    let outcome = TestRunner::new(config).run(&histories(), |history| {
        let script = Script::of(&history, law, &pool);
        {
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            if tally.difference.is_none() {
                tally.histories += 1;
                tally.steps += script.n_steps();
                tally.epochs += script.epochs.len();
            }
        }
        run::check(law, &script, domain()).map_err(TestCaseError::fail)
    });
    let mut tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, history)) => {
            let script = session::print(&Script::of(&history, law, &pool).to_session(law.operator));
            tally.difference =
                Some(format!("{reason}\nKeep this as a file of operators/tests/laws/sessions:\n\n{script}"));
        }
        Err(TestError::Abort(reason)) => tally.difference = Some(format!("no histories: {reason}")),
    }
    tally
}

#[test]
fn random_histories_give_what_the_definitions_give() {
    let only = env::var("LAWS_OPERATOR").ok();
    let laws: Vec<Law> =
        law::all().into_iter().filter(|law| only.as_deref().is_none_or(|o| o == law.operator)).collect();
    assert!(!laws.is_empty(), "LAWS_OPERATOR names no operator that has a law: {only:?}");
    let n_histories = settings::number("LAWS_HISTORIES", HISTORIES);
    let each = n_histories.div_ceil(laws.len() as u32).max(1);
    let seed = settings::seed();
    let started = Instant::now();

    let next = Mutex::new(0..laws.len());
    let tallies: Mutex<BTreeMap<usize, Tally>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(at) = next.lock().unwrap().next() else { break };
                    let tally = hold(&laws[at], each, seed);
                    tallies.lock().unwrap().insert(at, tally);
                }
            });
        }
    });
    let tallies = tallies.into_inner().unwrap();

    let mut table =
        format!("\n{:<20} {:>9} {:>9} {:>9} {:>11}\n", "operator", "histories", "steps", "epochs", "differences");
    let mut row = |name: &str, histories: u32, steps: usize, epochs: usize, differences: usize| {
        table.push_str(&format!("{name:<20} {histories:>9} {steps:>9} {epochs:>9} {differences:>11}\n"));
    };
    for (law, tally) in laws.iter().zip(tallies.values()) {
        row(law.operator, tally.histories, tally.steps, tally.epochs, usize::from(tally.difference.is_some()));
    }
    let sum = |of: fn(&Tally) -> usize| tallies.values().map(of).sum::<usize>();
    let histories = sum(|tally| tally.histories as usize) as u32;
    row("all operators", histories, sum(|t| t.steps), sum(|t| t.epochs), sum(|t| usize::from(t.difference.is_some())));
    let seconds = started.elapsed().as_secs_f64();
    settings::show(&format!("{table}each on 1, 2 and 4 workers, and rebuilt; LAWS_SEED={seed}; {seconds:.0} s\n\n"));

    let differences: Vec<String> = laws
        .iter()
        .zip(tallies.values())
        .filter_map(|(law, tally)| Some(format!("{}: {}", law.operator, tally.difference.as_ref()?)))
        .collect();
    assert!(differences.is_empty(), "LAWS_SEED={seed}\n{}", differences.join("\n\n"));
}

/// The kept sessions, by file.
fn sessions() -> Vec<(PathBuf, String)> {
    let files = fs::read_dir(folder().join("tests/laws/sessions")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ext| ext == "txt")).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn kept_sessions_give_what_the_definitions_give() {
    let laws = law::all();
    let sessions = sessions();
    assert!(sessions.len() > 5, "{} sessions are kept", sessions.len());
    for (path, text) in sessions {
        let read = session::parse(&text).and_then(|lines| Script::from_session(&lines));
        let (operator, script) = read.unwrap_or_else(|reason| panic!("{path:?}: {reason}"));
        let law = laws.iter().find(|law| law.operator == operator);
        let law = law.unwrap_or_else(|| panic!("{path:?}: there is no law of `{operator}`"));
        assert!(script.n_steps() > 0, "{path:?} is empty");
        run::check(law, &script, domain()).unwrap_or_else(|difference| panic!("{path:?}: {difference}"));
    }
}

#[test]
fn sessions_come_back_from_text() {
    for (path, text) in sessions() {
        assert!(session::comes_back(&text), "{path:?}");
    }
    let law = law::all()[0];
    let pool: Vec<_> = law::all().iter().flat_map(|law| (law.pool)()).collect();
    let rows = pool.into_iter().enumerate().map(|(idx, row)| (row, if idx % 2 == 0 { 1 } else { -1 })).collect();
    let script = Script { epochs: vec![rows, Vec::new()], at_once: true, expected: Vec::new() };
    let text = session::print(&script.to_session(law.operator));
    let read = session::parse(&text).and_then(|lines| Script::from_session(&lines));
    assert_eq!(read, Ok((law.operator.to_owned(), script)));
    for (wrong, told) in [
        ("feed fact\n", "line 1: `feed` needs a kind and a row, as JSON"),
        ("tick\n\nfeed fact {\n", "line 3: the row of `feed fact` is no JSON"),
        ("expect few", "line 1: `expect` needs a number of rows, not `few`"),
    ] {
        let reason = session::parse(wrong).unwrap_err();
        assert!(reason.starts_with(told), "{reason}");
    }
    let unknown = session::parse("law unify\nfeed fact {\"dock\":\"a\"}\ntick\n").unwrap();
    assert!(Script::from_session(&unknown).unwrap_err().contains("unknown field `dock`"));
}

#[test]
fn every_operator_has_a_law() {
    let text = fs::read_to_string(folder().join("src/lib.rs")).unwrap();
    let operators: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("pub use ")?.split_once("::"))
        .filter(|(module, _)| !["collection", "shared"].contains(module))
        .flat_map(|(_, names)| names.trim_matches(['{', '}', ';']).split(", "))
        .filter(|name| name.starts_with(char::is_lowercase))
        // These are plain functions.
        .filter(|name| {
            !["answer", "evidence_rows", "fact", "mentioned", "named", "question_embedded_as", "ranked_passage"]
                .contains(name)
        })
        .collect();
    let with_law: BTreeSet<&str> = law::all().iter().map(|law| law.operator).collect();
    assert_eq!(operators, with_law, "the operators of src/lib.rs, and those that have a law");
}
