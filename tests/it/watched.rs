//! A watched folder, a pipeline and its lake: what the files say is what stands, also after the process was down.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use hypercane::{
    connect::{
        embed::{Hashed, Model as _},
        files,
        format::Decoder,
        lake::{self, Lake},
        memory,
        transport::Limits,
    },
    pipeline::Pipeline,
    run::{Settings, run},
    vectors::LakeVectors,
};
use hypercane_operators::domain::Domain;
use hypercane_schemas::{Document, Entity, Epoch, Hyperedge, Record, Reject};
use tokio::runtime::Runtime;

use crate::{general::domain, lakes::recorded};

/// A pipeline that watches a folder, in a thread.
struct Watching {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watching {
    fn start(inbox: &Path, lake: &Path, domain: &Arc<Domain>) -> Self {
        let (inbox, lake) = (inbox.to_string_lossy().into_owned(), lake.to_string_lossy().into_owned());
        let (stop, domain) = (Arc::new(AtomicBool::new(false)), Arc::clone(domain));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let runtime = Runtime::new().unwrap();
            let lake = runtime.block_on(Lake::open(&lake, "watched", lake::Options::default())).unwrap();
            let vectors = runtime.block_on(LakeVectors::open(lake.clone(), Hashed.id())).unwrap();
            let model = recorded(Arc::new(vectors));
            let mut pipeline = runtime.block_on(Pipeline::start(1, domain, model, Some(lake.clone()))).unwrap();
            let known_keys = pipeline.resumed().iter().map(|key| key.0.clone()).collect();
            let read = files::Settings { watch: true, known_keys, ..files::Settings::once([inbox]).unwrap() };
            let feed = files::open(read, Limits::default()).unwrap();
            let settings = Settings {
                decoder: Decoder::default(),
                max_epoch_records: 100,
                commit_interval: Duration::ZERO,
                results: "results".into(),
                rejects: "rejects".into(),
            };
            run(&runtime, &mut pipeline, &feed, &mut memory::Sink::default(), &settings, &stopped, |_| {}).unwrap();
            runtime.block_on(lake.close());
        });
        Self { stop, thread }
    }

    fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

/// What stands in a lake.
#[derive(Debug, Default, PartialEq, Eq)]
struct Stands {
    documents: BTreeSet<String>,
    facts: BTreeSet<String>,
    names: BTreeSet<String>,
    rejects: BTreeSet<String>,
    titles: BTreeSet<String>,
}

async fn rows<R: Record>(lake: &Lake) -> Vec<R> {
    let rows = lake.read::<R>(None).await.unwrap();
    rows.into_iter().filter(|(_, count)| *count > 0).map(|(row, _)| row).collect()
}

fn look(runtime: &Runtime, location: &Path) -> (Stands, Epoch) {
    runtime.block_on(async {
        let lake = Lake::view(&location.to_string_lossy(), lake::Options::default()).await;
        let Ok(lake) = lake else { return (Stands::default(), 0) };
        let Ok(Some(point)) = lake.commit_point().await else { return (Stands::default(), 0) };
        let documents: Vec<Document> = rows(&lake).await;
        let stands = Stands {
            titles: documents.iter().filter_map(|document| document.title.clone()).collect(),
            documents: documents.into_iter().map(|document| document.key.0).collect(),
            facts: rows::<Hyperedge>(&lake).await.into_iter().map(|row| row.text).collect(),
            names: rows::<Entity>(&lake).await.into_iter().map(|row| row.key.0).collect(),
            rejects: rows::<Reject>(&lake).await.into_iter().map(|row| row.key).collect(),
        };
        (stands, point.epoch)
    })
}

/// Waits until the lake holds these documents and rejects.
#[track_caller]
fn wait(runtime: &Runtime, lake: &Path, documents: &[&str], rejects: &[&str]) -> Stands {
    let set = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<BTreeSet<_>>();
    let (documents, rejects) = (set(documents), set(rejects));
    let began = Instant::now();
    loop {
        let (stands, _) = look(runtime, lake);
        if (&stands.documents, &stands.rejects) == (&documents, &rejects) {
            return stands;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{stands:#?}");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn what_the_files_of_a_folder_say_is_what_stands_also_after_the_process_was_down() {
    let Some(domain) = domain() else { return };
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (inbox, lake) = (folder.path().join("in"), folder.path().join("lake"));
    fs::create_dir_all(inbox.join("sub")).unwrap();
    fs::write(inbox.join("curie.md"), "# Marie Curie\n\nShe *discovered* polonium in 1898.\n").unwrap();
    let page = "<title>Warsaw</title><nav>Home</nav><p>Warsaw is the capital of Poland.</p>";
    fs::write(inbox.join("sub/warsaw.html"), page).unwrap();
    fs::write(inbox.join("bad.txt"), b"Caf\xe9").unwrap();
    fs::write(inbox.join("nothing.txt"), " \n").unwrap();

    let watching = Watching::start(&inbox, &lake, &domain);
    let stands = wait(&runtime, &lake, &["curie.md", "sub/warsaw.html"], &["bad.txt", "nothing.txt"]);
    assert!(stands.facts.contains("Marie Curie discovered polonium in 1898."), "{stands:#?}");
    assert!(stands.facts.contains("Warsaw is the capital of Poland."), "{stands:#?}");
    assert!(!stands.names.iter().any(|name| name.contains("home")), "{stands:#?}");
    assert_eq!(stands.titles, ["Marie Curie".to_owned(), "Warsaw".to_owned()].into());

    // Changed, deleted, repaired, renamed, while it watches.
    fs::write(inbox.join("sub/warsaw.html"), page.replace("capital of Poland", "seat of the Sejm")).unwrap();
    fs::remove_file(inbox.join("nothing.txt")).unwrap();
    fs::write(inbox.join("bad.txt"), "The Café stands in Paris.").unwrap();
    fs::rename(inbox.join("curie.md"), inbox.join("sub/marie.md")).unwrap();
    let stands = wait(&runtime, &lake, &["bad.txt", "sub/marie.md", "sub/warsaw.html"], &[]);
    assert!(stands.facts.iter().any(|fact| fact.contains("seat of the Sejm")), "{stands:#?}");
    assert!(!stands.facts.iter().any(|fact| fact.contains("Poland")), "{stands:#?}");
    fs::remove_file(inbox.join("bad.txt")).unwrap();
    let stands = wait(&runtime, &lake, &["sub/marie.md", "sub/warsaw.html"], &[]);
    assert!(!stands.names.contains("name:paris"), "{stands:#?}");
    watching.stop();

    // While it is down.
    fs::remove_file(inbox.join("sub/warsaw.html")).unwrap();
    fs::write(inbox.join("new"), "The old bridge was closed in May 2004.").unwrap();
    let watching = Watching::start(&inbox, &lake, &domain);
    let stands = wait(&runtime, &lake, &["new", "sub/marie.md"], &[]);
    assert!(!stands.names.contains("name:warsaw") && stands.names.contains("name:marie curie"), "{stands:#?}");
    watching.stop();

    // The folder is moved: nothing changes, and nothing is written.
    let (before, epoch) = look(&runtime, &lake);
    let moved = folder.path().join("elsewhere");
    fs::rename(&inbox, &moved).unwrap();
    let watching = Watching::start(&moved, &lake, &domain);
    fs::write(moved.join("last.txt"), "Nothing was lost in Warsaw.").unwrap();
    wait(&runtime, &lake, &["last.txt", "new", "sub/marie.md"], &[]);
    fs::write(moved.join("last.txt"), "").unwrap();
    let stands = wait(&runtime, &lake, &["new", "sub/marie.md"], &["last.txt"]);
    watching.stop();
    let (_, after) = look(&runtime, &lake);
    assert!(after > epoch);
    assert_eq!(Stands { rejects: BTreeSet::new(), ..stands }, before);
    let changed = runtime.block_on(async {
        let lake = Lake::view(&lake.to_string_lossy(), lake::Options::default()).await.unwrap();
        let mut keys = BTreeSet::new();
        let note = |document: Document, at: Epoch, _| {
            if at > epoch {
                keys.insert(document.key.0);
            }
        };
        lake.read_changes(None, note).await.unwrap();
        keys
    });
    assert_eq!(changed, ["last.txt".to_owned()].into(), "rows of other documents were written again");
}
