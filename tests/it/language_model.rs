//! A pipeline that reads texts by the answers of a language model: recorded, asked for once, and what has none.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hypercane::{
    connect::{
        embed::{Hashed, Model as _},
        format::Input,
        lake::{self, Lake},
        language_model::{Client, Extractor, Settings, import},
        packs,
    },
    enrich::Models,
    extract::chunks,
    pipeline::{Gathered, Pipeline},
    reconcile::reconcile,
    texts::LakeTexts,
    vectors::LakeVectors,
    verify::{self, verify},
    worker::{Batch, Engine},
};
use hypercane_operators::{
    Shared,
    domain::Domain,
    extract::{RecordedAnswer, UNANSWERED, read_answered, read_chunk},
    kernel,
    language_model::{Passage, Prompt},
};
use hypercane_schemas::{Document, DocumentKey, Entity, Hyperedge, Reject, Stage};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{
    command::{hypercane, root},
    endpoint::{Reply, Seen, Server},
    general,
    harness::accumulate,
    lakes,
    multihop::has_model,
    plain::State,
};

/// An answer with one fact for a text such as `Ada met Charles.`
fn answer(text: &str) -> String {
    let words: Vec<&str> = text.trim_end_matches('.').split_whitespace().collect();
    let [from, label, to] = words[..] else { panic!("{text} has not three words") };
    let text = format!("{from} {label} {to}.");
    let entity = |name| json!({"name": name, "type": "person", "role": "", "alias": [], "desc": "", "conf": 1.0});
    let fact = json!({"text": text, "entities": [from, to], "relation": label, "conf": 0.5});
    json!({"entities": [entity(from), entity(to)], "hyperedges": [fact], "relations": []}).to_string()
}

/// The passage that was asked about, which the prompt gives last.
fn asked_about(seen: &Seen) -> &str {
    seen.message(1).lines().last().unwrap_or_default()
}

fn put(key: &str, text: &str) -> Input {
    Input::Document(DocumentKey(key.into()), Some(Document::plain(key, text)))
}

fn three() -> Vec<Input> {
    vec![put("a", "Ada met Charles."), put("b", "Charles built engines."), put("c", "Ada wrote notes.")]
}

/// What stands in the tables of a lake.
#[derive(Debug, Default, PartialEq)]
struct Tables {
    /// The documents of each fact.
    facts: BTreeMap<String, Vec<String>>,
    /// The reason of each reject, by its document.
    rejects: BTreeMap<String, String>,
    entities: BTreeSet<String>,
}

impl Tables {
    fn texts(&self) -> Vec<&str> {
        self.facts.keys().map(String::as_str).collect()
    }

    fn rejected(&self) -> Vec<&str> {
        self.rejects.keys().map(String::as_str).collect()
    }
}

/// A lake, and the pipelines that run on it one after the other.
struct Place {
    runtime: Runtime,
    folder: TempDir,
    domain: Arc<Domain>,
}

impl Place {
    fn new() -> Self {
        let domain = Arc::new(packs::load("general").unwrap());
        Self { runtime: Runtime::new().unwrap(), folder: tempfile::tempdir().unwrap(), domain }
    }

    /// An endpoint that answers about every text, but for what `reply` says.
    fn endpoint(&self, reply: impl Fn(&str) -> Option<Reply> + Send + Sync + 'static) -> Server {
        let reply = move |_, seen: &Seen| {
            let text = asked_about(seen);
            reply(text).unwrap_or_else(|| Reply::Says(answer(text)))
        };
        self.runtime.block_on(Server::start(reply))
    }

    async fn lake(&self) -> Lake {
        Lake::open(&self.folder.path().to_string_lossy(), "tests", lake::Options::default()).await.unwrap()
    }

    /// Runs a pipeline as the command does: what it would compute otherwise is put right, what has no answer is asked about
    /// again, then come the records, an epoch each list, and a commit. What is kept has to be what a rebuild gives.
    fn run(&self, extractor: impl AsyncFn(&Lake) -> Extractor, epochs: Vec<Vec<Input>>) -> Tables {
        self.runtime.block_on(async {
            let lake = self.lake().await;
            let store = LakeVectors::open(lake.clone(), Hashed.id()).await.unwrap();
            let extractor = Arc::new(extractor(&lake).await);
            let program = format!("{:?}", extractor.id());
            let models = Models { vectors: lakes::recorded(Arc::new(store)), extractor: Some(extractor) };
            reconcile(&lake, &self.domain, models.clone(), 2, &program, |_| ()).await.unwrap();
            let mut pipeline = Pipeline::start(2, self.domain.clone(), models, Some(lake.clone())).await.unwrap();
            pipeline.turn(Gathered::default(), false, Duration::MAX).await.unwrap();
            for inputs in epochs {
                pipeline.step(inputs).await.unwrap();
            }
            pipeline.commit().await.unwrap();
            let n_unanswered = pipeline.n_unanswered();
            drop(pipeline);
            let tables = self.tables(&lake).await;
            let is_rejected = tables.rejects.values().any(|reason| reason == UNANSWERED);
            assert_eq!(is_rejected, n_unanswered > 0, "{n_unanswered}: {tables:?}");
            self.verify(&lake, None).await;
            lake.close().await;
            tables
        })
    }

    async fn verify(&self, lake: &Lake, sample: Option<usize>) {
        let settings = verify::Settings { n_workers: 2, n_shown: 3, sample, ..verify::Settings::default() };
        let verified = verify(lake, &self.domain, &settings, |_| ()).await.unwrap();
        assert!(verified.is_same(), "{verified:#?}");
    }

    async fn tables(&self, lake: &Lake) -> Tables {
        let mut tables = Tables::default();
        for (fact, count) in lake.read::<Hyperedge>(None).await.unwrap() {
            assert_eq!(count, 1);
            let documents = fact.provenance.iter().map(|place| place.document.0.clone()).collect();
            tables.facts.insert(fact.text, documents);
        }
        for (reject, count) in lake.read::<Reject>(None).await.unwrap() {
            assert_eq!((count, reject.stage, reject.line), (1, Stage::Extract, Some(1)), "{reject:?}");
            tables.rejects.insert(reject.key, reject.reason);
        }
        let entities = lake.read::<Entity>(None).await.unwrap();
        tables.entities = entities.into_iter().map(|(entity, _)| entity.key.0).collect();
        tables
    }
}

fn prompt() -> Prompt {
    packs::extraction_prompt("general").unwrap()
}

fn settings(server: &Server) -> Settings {
    Settings { base_url: Some(server.base_url()), model: "m".into(), retries: 0, ..Settings::default() }
}

/// One who asks with these settings, with the record of the lake.
async fn asking(settings: &Settings, prompt: Prompt, lake: &Lake) -> Extractor {
    let texts = LakeTexts::open(lake.clone(), "m").await.unwrap();
    Extractor::new(Client::new(settings, None).unwrap(), prompt, Arc::new(texts))
}

#[test]
fn answers_are_recorded_and_no_passage_is_asked_about_twice() {
    let place = Place::new();
    let server = place.endpoint(|_| None);
    let asks = async |lake: &Lake| asking(&settings(&server), prompt(), lake).await;
    let tables = place.run(asks, vec![three()]);
    assert_eq!(tables.texts(), ["Ada met Charles.", "Ada wrote notes.", "Charles built engines."]);
    assert!(tables.rejects.is_empty() && tables.entities.contains("name:charles"), "{tables:?}");
    assert_eq!(server.n_calls(), 3);

    assert_eq!(place.run(asks, vec![three()]), tables, "a second start asks nothing");
    assert_eq!(server.n_calls(), 3);

    // What two documents state stays with one of them. Only the text that is new is asked about.
    let edit = vec![put("a", "Ada left London."), put("d", "Charles built engines.")];
    let gone = vec![Input::Document(DocumentKey("b".into()), None), put("e", " \n")];
    let tables = place.run(asks, vec![edit, gone]);
    let facts = [("Ada left London.", "a"), ("Ada wrote notes.", "c"), ("Charles built engines.", "d")];
    assert_eq!(tables.facts, facts.map(|(text, key)| (text.to_owned(), vec![key.to_owned()])).into());
    place.runtime.block_on(async { place.verify(&place.lake().await, Some(2)).await });
    assert_eq!(server.n_calls(), 4);
}

#[test]
fn a_changed_prompt_asks_again_and_takes_back_what_the_old_answers_said() {
    let place = Place::new();
    let server = place.endpoint(|_| None);
    let first = place.run(async |lake| asking(&settings(&server), prompt(), lake).await, vec![three()]);

    let changed = fs::read_to_string(root().join("data/domains/general/prompts/extract.md")).unwrap();
    let changed = || Prompt::parse(&changed.replace("Write each thing once.", "Be brief.")).unwrap();
    let brief = |_, seen: &Seen| {
        assert!(seen.message(0).contains("Be brief."));
        Reply::Says(answer(asked_about(seen)).replace("notes", "letters"))
    };
    let other = place.runtime.block_on(Server::start(brief));
    let asks = async |lake: &Lake| asking(&settings(&other), changed(), lake).await;
    for _ in 0..2 {
        let tables = place.run(asks, vec![]);
        assert_eq!(tables.texts(), ["Ada met Charles.", "Ada wrote letters.", "Charles built engines."]);
        assert_eq!((other.n_calls(), server.n_calls()), (3, 3));
    }
    // The old answers are still on record.
    assert_eq!(place.run(async |lake| asking(&settings(&server), prompt(), lake).await, vec![]), first);
    assert_eq!(server.n_calls(), 3);
}

#[test]
fn a_passage_whose_answer_stays_malformed_is_rejected_alone() {
    let place = Place::new();
    let server = place.endpoint(|text| (!text.starts_with("Ada")).then(|| Reply::Says("No idea.".into())));
    let asks = async |lake: &Lake| asking(&settings(&server), prompt(), lake).await;
    for _ in 0..2 {
        let tables = place.run(asks, vec![three()]);
        assert_eq!((tables.texts(), tables.rejected()), (vec!["Ada met Charles.", "Ada wrote notes."], vec!["b"]));
        assert!(tables.rejects["b"].contains("after it was asked to repair it: it is no JSON"), "{tables:?}");
        assert_eq!(server.n_calls(), 4, "one repair, and no more after it is on record");
    }
}

#[test]
fn documents_go_in_while_the_endpoint_is_down_and_the_next_start_asks_again() {
    let place = Place::new();
    let is_down = Arc::new(AtomicBool::new(true));
    let down = Arc::clone(&is_down);
    let server = place.endpoint(move |_| down.load(Ordering::SeqCst).then(|| Reply::status(503)));
    let asks = async |lake: &Lake| asking(&settings(&server), prompt(), lake).await;
    let tables = place.run(asks, vec![three(), vec![put("d", "Ada met Charles.")]]);
    assert_eq!((tables.texts(), tables.rejected()), (vec![], vec!["a", "b", "c", "d"]));
    let n_asked = server.n_calls();

    // Answers that come on record meanwhile count when a pipeline takes them in; until then the lake is as it was.
    is_down.store(false, Ordering::SeqCst);
    place.runtime.block_on(async {
        let lake = place.lake().await;
        let document = Document::plain("a", "Ada met Charles.");
        let passages: Vec<Passage> = chunks([document], &place.domain).iter().map(Passage::of).collect();
        asks(&lake).await.extract(&passages).await.remove(0).unwrap();
        place.verify(&lake, None).await;
        lake.close().await;
    });
    let tables = place.run(asks, vec![]);
    assert_eq!(tables.texts(), ["Ada met Charles.", "Ada wrote notes.", "Charles built engines."]);
    assert_eq!(tables.facts["Ada met Charles."], ["a", "d"]);
    assert!(tables.rejects.is_empty(), "{tables:?}");
    assert_eq!(server.n_calls(), n_asked + 3);
}

#[test]
fn an_answer_that_comes_with_another_document_is_read_for_all_that_have_its_words() {
    let place = Place::new();
    let is_down = Arc::new(AtomicBool::new(true));
    let down = Arc::clone(&is_down);
    let server = place.endpoint(move |_| down.swap(false, Ordering::SeqCst).then(|| Reply::status(503)));
    let asks = async |lake: &Lake| asking(&settings(&server), prompt(), lake).await;
    let tables = place.run(asks, vec![vec![put("a", "Ada met Charles.")], vec![put("b", "Ada met  Charles.")]]);
    assert_eq!(tables.facts["Ada met Charles."], ["a", "b"]);
    assert!(tables.rejects.is_empty(), "{tables:?}");
}

#[test]
fn a_budget_that_is_used_up_rejects_what_is_left_until_the_next_start() {
    let place = Place::new();
    let server = place.endpoint(|_| None);
    let settings = Settings { budget_calls: Some(2), concurrency: 1, ..settings(&server) };
    let asks = async |lake: &Lake| asking(&settings, prompt(), lake).await;
    let tables = place.run(asks, vec![three()]);
    assert_eq!((tables.facts.len(), tables.rejects.len(), server.n_calls()), (2, 1, 2));
    let tables = place.run(asks, vec![]);
    assert_eq!((tables.facts.len(), tables.rejects.len(), server.n_calls()), (3, 0, 3));
}

#[test]
fn an_epoch_may_bring_an_answer_alone() {
    let domain = Arc::new(packs::load("general").unwrap().with_answers());
    let document = Document::plain("a", "Ada met Charles.");
    let passage = Passage::of(&kernel::chunk(&document, None)[0]).input();
    let says = |text: &str| Some(RecordedAnswer::new(answer(text).into()));
    let answers = [says("Ada met Charles."), says("Ada knew Charles."), None];
    for n_workers in [1, 2, 4] {
        let mut engine = Engine::start(n_workers, 1, Arc::clone(&domain)).unwrap();
        let mut state = State::default();
        let mut step = |batch: Batch| {
            accumulate(&mut state, engine.step(batch).unwrap());
            let facts: Vec<String> = state.hyperedges.keys().map(|fact| fact.text.clone()).collect();
            (facts.concat(), state.rejects.len())
        };
        let come = vec![(document.key.clone(), 0, Some(Shared::new(document.clone())))];
        let mut seen = vec![step(Batch { documents: come, ..Batch::default() })];
        for answer in answers.clone() {
            seen.push(step(Batch { answers: vec![(passage, 0, answer)], ..Batch::default() }));
        }
        let (met, knew) = ("Ada met Charles.".to_owned(), "Ada knew Charles.".to_owned());
        assert_eq!(seen, [(String::new(), 1), (met, 0), (knew, 0), (String::new(), 1)]);
    }
}

fn lines(rows: &[serde_json::Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

#[test]
fn imported_outputs_become_the_hypergraph_of_their_corpus() {
    let place = Place::new();
    let file = |name: &str, rows: &[serde_json::Value]| {
        let path = place.folder.path().with_extension(name);
        fs::write(&path, lines(rows)).unwrap();
        path
    };
    let corpus = file(
        "corpus",
        &[
            json!({"id": "1", "title": "Ada", "text": "Ada met Charles in 1833."}),
            json!({"id": "2", "title": "", "text": "Charles lived in London."}),
        ],
    );
    let outputs = file(
        "outputs",
        &[
            json!({"id": "1", "entities": ["Ada"], "triples": [["Ada", "met", "Charles"]], "nary": [["Ada", "met", "Charles", "1833"]]}),
            json!({"id": "2", "entities": [], "triples": [["Charles", "lived in", "London"]]}),
        ],
    );
    let imported = async |lake: &Lake| {
        let texts = LakeTexts::open(lake.clone(), "gpt").await.unwrap();
        let done = import(&outputs, &corpus, "gpt", &texts).await.unwrap();
        assert_eq!((done.recorded, done.missing), (2, 0));
        Extractor::imported("gpt", Arc::new(texts))
    };
    let document = |title: Option<&str>, text: &str| {
        let key = title.unwrap_or("2");
        let document = Document { title: title.map(str::to_owned), ..Document::plain(key, text) };
        Input::Document(document.key.clone(), Some(document))
    };
    let all = vec![document(Some("Ada"), "Ada met Charles in 1833."), document(None, "Charles lived in London.")];
    let tables = place.run(imported, vec![all]);
    assert_eq!(tables.texts(), ["Ada met Charles", "Ada met Charles 1833", "Charles lived in London"]);
    let keys = ["date:1833", "name:ada", "name:charles", "name:london"];
    assert_eq!(tables.entities, keys.map(str::to_owned).into());

    let edited = place.run(imported, vec![vec![document(Some("Ada"), "Ada met nobody.")]]);
    assert_eq!((edited.texts(), edited.rejected()), (vec!["Charles lived in London"], vec!["Ada"]));
    let gone = place.run(imported, vec![vec![Input::Document(DocumentKey("2".into()), None)]]);
    assert_eq!((gone.texts(), gone.rejected(), gone.entities.len()), (vec![], vec!["Ada"], 0));
    let back = place.run(imported, vec![vec![document(Some("Ada"), "Ada met  Charles in 1833.")]]);
    assert_eq!((back.texts(), back.rejected()), (vec!["Ada met Charles", "Ada met Charles 1833"], vec![]));
    for path in [corpus, outputs] {
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn what_both_extractors_name_is_one_entity() {
    let Some(domain) = general::domain() else { return };
    let text = "Marie Curie met the Poincaré of Paris on 7 November 1911.";
    let chunk = kernel::chunk(&Document::plain("a", text), None).remove(0);
    let answer = json!({"entities": [], "hyperedges": [{"text": text, "relation": "met", "conf": 1.0,
        "entities": ["Marie Curie", "Paris", "November 7, 1911"]}], "relations": []});
    let keys = |read: hypercane_operators::extract::Extracted| -> BTreeSet<String> {
        read.extraction.facts.iter().flat_map(|fact| &fact.mentions).map(|m| m.entity.0.clone()).collect()
    };
    let by_grammar = keys(read_chunk(&chunk, &domain).unwrap());
    let by_model = keys(read_answered(&chunk, Some(&answer.to_string()), &domain).unwrap());
    assert_eq!(by_model.len(), 3);
    assert!(by_model.is_subset(&by_grammar), "{by_model:?} {by_grammar:?}");
}

/// A copy of the pack for any corpus, with its prompt.
fn pack(folder: &Path) {
    let general = root().join("data/domains/general");
    fs::create_dir_all(folder.join("prompts")).unwrap();
    for file in ["domain.toml", "prompts/extract.md"] {
        fs::copy(general.join(file), folder.join(file)).unwrap();
    }
}

#[test]
fn the_command_says_what_it_will_ask_and_its_lake_is_what_a_rebuild_gives() {
    if !(has_model("en_core_web_sm") && has_model("all-MiniLM-L6-v2")) {
        return;
    }
    let place = Place::new();
    let server = place.endpoint(|_| None);
    let folder = place.folder.path().to_str().unwrap();
    fs::create_dir(place.folder.path().join("in")).unwrap();
    fs::write(place.folder.path().join("in/a.txt"), "Ada met Charles.").unwrap();
    fs::write(place.folder.path().join("in/b.txt"), "Charles built engines.").unwrap();
    pack(&place.folder.path().join("pack"));
    let config = place.folder.path().join("config.toml");
    let text = format!(
        "[pipeline]\ndomain = \"{folder}/pack\"\n[source.files]\npaths = [\"{folder}/in\"]\n[lake]\nlocation = \"{folder}/lake\"\n\
         [language_model]\nextracts = true\nbase_url = \"{}\"\nmodel = \"m\"\n",
        server.base_url()
    );
    fs::write(&config, text).unwrap();
    let run = |arguments: &[&str]| {
        let output = hypercane(arguments, &[]);
        let told = [output.stderr, output.stdout].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(output.status.success(), "{told}");
        told
    };
    let told = run(&["run", config.to_str().unwrap()]);
    assert!(told.contains("0 rejects") && !told.contains("without an answer"), "{told}");
    assert_eq!(server.n_calls(), 2);
    let told = run(&["run", config.to_str().unwrap()]);
    assert!(told.contains("resumed") && !told.contains("another version"), "{told}");
    assert_eq!(server.n_calls(), 2);

    let prompt = place.folder.path().join("pack/prompts/extract.md");
    let changed = fs::read_to_string(&prompt).unwrap().replace("Write each thing once.", "Be brief.");
    fs::write(&prompt, changed).unwrap();
    let told = run(&["run", config.to_str().unwrap()]);
    assert!(
        told.contains("2 passages of documents that stand are without an answer")
            && told.contains("2 passages are on record only from another")
            && told.contains("2 calls are to be made")
            && told.contains("tokens of prompts"),
        "{told}"
    );
    assert_eq!(server.n_calls(), 4);

    let (lake, pack) = (format!("{folder}/lake"), format!("{folder}/pack"));
    let told = run(&["verify", "--lake", &lake, "--domain", &pack]);
    assert!(told.contains("The lake holds what follows from the input"), "{told}");
    let question = "What did Charles build?";
    let told = run(&["ask", "--lake", &lake, "--domain", &pack, "--mode", "spread", question]);
    assert!(told.contains("Charles built engines."), "{told}");
    assert_eq!(server.n_calls(), 4, "neither asks");
}
