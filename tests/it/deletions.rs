//! What users of other engines of knowledge graphs suffer from, tried here: one behaviour each.
//!
//! Behaviours that other tests hold:
//!
//! - malformed JSON of a model is told and the rest is kept: `connect::language_model::tests::extractor`
//!   (`a_passage_whose_answer_stays_malformed_is_rejected_alone_and_not_asked_about_again`), and
//!   `what_is_left_out_is_a_failure_of_the_chunk` of `operators::language_model::facts`
//! - rate limits are obeyed: `an_endpoint_that_wants_to_be_left_alone_is_left_alone_by_all` and
//!   `calls_are_spread_over_the_minute` of `connect::language_model::tests::client`
//! - a blank text blocks nothing, and one bad byte is told and stops nothing:
//!   `bad_input::a_record_that_cannot_be_used_is_kept_with_its_reason_and_the_stream_goes_on`; of files,
//!   `a_file_that_holds_nothing_takes_out_what_stood_under_its_name` and `what_is_no_utf_8_is_told_with_its_place` of
//!   `connect::files::tests`
//! - another order of arrival gives the same graph, through Kafka:
//!   `arrival::shuffled_and_repeated_records_give_the_hypergraph_of_the_files_in_order`
//! - late records take their place: steps of kind `late` in `hypergraph::incremental_equals_rebuild_on_random_histories`
//! - an expired offset is told:
//!   `faults::gaps::records_that_are_gone_stop_the_run_until_the_gap_is_accepted_and_written_down`
//! - offsets do not move past a commit that failed: `nothing_is_lost_or_twice_wherever_a_process_dies` of
//!   `connect::lake::tests::crash`
//! - an edit of a long text embeds only what it changes: `chunks::an_edit_embeds_only_what_it_changes_and_moves_the_rest`

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::{Arc, Mutex},
    time::Duration,
};

use hypercane::{
    connect::{
        self,
        embed::{EmbedService, Hashed, Model, Recorded, ServiceSettings},
        format::Input,
        lake::{self, Lake},
        packs,
    },
    live::live,
    pipeline::{Gathered, Pipeline},
    vectors::LakeVectors,
};
use hypercane_operators::domain::Domain;
use hypercane_schemas::{Document, DocumentKey, Entity, Hyperedge, Vector};
use proptest::prelude::*;
use timely::logging::{TimelyEvent, TimelyEventBuilder};

use crate::{
    general,
    harness::{Feeder, History, Standing, Step, compare, run},
    hypergraph::forecast_advisory,
    lakes::{advisory, asked, no_advisory, recorded},
    plain::{self, State},
};

/// A pack, and texts of which some say the same.
struct Corpus {
    domain: Arc<Domain>,
    texts: Vec<Document>,
}

impl Corpus {
    fn general() -> Option<Self> {
        let text =
            |key: &str, title: &str, text: &str| Document { title: Some(title.into()), ..Document::plain(key, text) };
        let texts = vec![
            text("a", "Marie Curie", "She was born in Warsaw. She discovered polonium in 1898."),
            text("b", "Marie Curie", "She discovered polonium in 1898. She died in Passy."),
            text("c", "Warsaw", "It lies on the Vistula River. Warsaw is the capital of Poland."),
            text("d", "Poland", "Warsaw is the capital of Poland."),
        ];
        Some(Self { domain: general::domain()?, texts })
    }

    fn cyclone() -> Self {
        let advisory =
            |key: &str, number, correction| Document::plain(key, forecast_advisory(1, number, correction, 4, 0));
        // The same product under two keys states the same facts; a correction takes the place of both.
        let texts = vec![advisory("a", 1, 0), advisory("b", 1, 0), advisory("c", 2, 0), advisory("d", 2, 1)];
        Self { domain: Arc::new(packs::load("cyclone").unwrap()), texts }
    }

    fn all() -> Vec<Self> {
        Self::general().into_iter().chain([Self::cyclone()]).collect()
    }

    fn put(&self, at: usize) -> Step {
        Step::Document(self.texts[at].key.clone(), Some(self.texts[at].clone()))
    }

    fn drop(&self, at: usize) -> Step {
        Step::Document(self.texts[at].key.clone(), None)
    }

    /// What stands with some of the texts and no others.
    fn of(&self, texts: &[usize]) -> State {
        let documents = texts.iter().map(|at| (self.texts[*at].key.clone(), self.texts[*at].clone())).collect();
        plain::state(&documents, &BTreeMap::new(), &BTreeMap::new(), &self.domain)
    }
}

fn ids(state: &State) -> BTreeSet<hypercane_schemas::HyperedgeId> {
    state.hyperedges.keys().map(|hyperedge| hyperedge.id).collect()
}

/// Every row follows from a text that stands.
fn nothing_is_left_over(state: &State) {
    let keys: BTreeSet<&DocumentKey> = state.documents.keys().map(|document| &document.key).collect();
    let (facts, entities) = (ids(state), state.entities.keys().map(|entity| &entity.key).collect::<BTreeSet<_>>());
    for hyperedge in state.hyperedges.keys() {
        assert!(!hyperedge.provenance.is_empty(), "{hyperedge:?}");
        assert!(hyperedge.provenance.iter().all(|place| keys.contains(&place.document)), "{hyperedge:?}");
    }
    assert!(state.incidence.keys().all(|row| facts.contains(&row.hyperedge)));
    let held: BTreeSet<_> = state.incidence.keys().map(|row| &row.entity).collect();
    assert!(entities.iter().all(|key| held.contains(key)), "an entity of no fact");
    assert!(state.degrees.keys().all(|row| held.contains(&row.entity)));
}

#[test]
fn deleting_a_document_keeps_what_others_state_and_leaves_nothing_that_none_states() {
    for corpus in Corpus::all() {
        for deleted in 0..corpus.texts.len() {
            let others: Vec<usize> = (0..corpus.texts.len()).filter(|at| *at != deleted).collect();
            let all = (0..corpus.texts.len()).map(|at| corpus.put(at)).collect();
            let history = vec![all, vec![corpus.drop(deleted)]];
            let (wanted, mut shared) = (corpus.of(&others), 0);
            run(&history, 2, &corpus.domain, |epoch, state| {
                if epoch == 1 {
                    nothing_is_left_over(state);
                    shared = ids(state).intersection(&ids(&corpus.of(&[deleted]))).count();
                    return compare(state, &wanted);
                }
                Ok(())
            })
            .unwrap();
            let expected = others.iter().fold(BTreeSet::new(), |mut facts, at| {
                facts.extend(ids(&corpus.of(&[*at])));
                facts
            });
            let stated = ids(&corpus.of(&[deleted]));
            assert!(corpus.domain.name() != "general" || ids(&wanted) == expected);
            assert!(deleted > 1 || shared > 0 && shared <= stated.len(), "text {deleted} shares nothing");
        }
    }
}

#[test]
fn the_last_text_that_goes_takes_everything_with_it() {
    for corpus in Corpus::all() {
        let n = corpus.texts.len();
        let history = vec![(0..n).map(|at| corpus.put(at)).collect(), (0..n).map(|at| corpus.drop(at)).collect()];
        run(
            &history,
            2,
            &corpus.domain,
            |epoch, state| {
                if epoch == 1 { compare(state, &State::default()) } else { Ok(()) }
            },
        )
        .unwrap();
    }
}

#[test]
fn the_same_text_twice_is_no_second_fact() {
    for corpus in Corpus::all() {
        let again = Document { key: DocumentKey("again".into()), ..corpus.texts[0].clone() };
        // A text without a group is its own; facts of one group have to be compared.
        let group = Some(hypercane_schemas::GroupKey("one".into()));
        let texts = [corpus.texts[0].clone(), again].map(|text| Document { group: group.clone(), ..text });
        let put = |text: &Document| Step::Document(text.key.clone(), Some(text.clone()));
        let history = vec![vec![put(&texts[0])], vec![put(&texts[0]), put(&texts[0])], vec![put(&texts[1])]];
        let mut seen: Vec<State> = Vec::new();
        run(&history, 2, &corpus.domain, |_, state| {
            let copy = State {
                documents: state.documents.clone(),
                hyperedges: state.hyperedges.clone(),
                incidence: state.incidence.clone(),
                degrees: state.degrees.clone(),
                ..State::default()
            };
            seen.push(copy);
            Ok(())
        })
        .unwrap();
        compare(&seen[0], &seen[1]).unwrap();
        assert!(!ids(&seen[0]).is_empty());
        assert_eq!(ids(&seen[1]), ids(&seen[2]));
        assert_eq!((&seen[1].incidence, &seen[1].degrees), (&seen[2].incidence, &seen[2].degrees));
        for (hyperedge, count) in &seen[2].hyperedges {
            let supporters: BTreeSet<_> = hyperedge.provenance.iter().map(|place| &place.document.0).collect();
            assert!(*count == 1 && supporters.len() == 2, "{hyperedge:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn another_order_of_arrival_gives_the_same_graph(
        order in Just((0..4usize).collect::<Vec<_>>()).prop_shuffle(),
        epochs in prop::collection::vec(0..3usize, 4),
        gone in 0..4usize,
    ) {
        for corpus in Corpus::all() {
            // One of them comes, goes and comes again on the way.
            let mut history: History = vec![vec![corpus.put(gone)], vec![corpus.drop(gone)], vec![], vec![], vec![]];
            for (at, epoch) in order.iter().zip(&epochs) {
                history[2 + epoch].push(corpus.put(*at));
            }
            let (last, wanted) = (history.len() - 1, corpus.of(&[0, 1, 2, 3]));
            let outcome = run(&history, 2, &corpus.domain, |epoch, state| {
                if epoch == last { compare(state, &wanted) } else { Ok(()) }
            });
            prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
        }
    }
}

#[test]
fn one_bad_part_does_not_fail_its_document() {
    let domain = Arc::new(packs::load("cyclone").unwrap());
    let part = |hours: u16, text: &str| format!("T-{hours} hours before landfall:\n{text}\n");
    let whiskey = part(48, "Port Condition WHISKEY is set for the Port of Houston.");
    let zulu = part(12, "Port Condition ZULU is set for the Port of Houston.");
    let put = |bad: &str| {
        let text = format!("{whiskey}{}{zulu}", part(24, bad));
        vec![Step::Document(DocumentKey("scenario".into()), Some(Document::plain("scenario", text)))]
    };
    let history = vec![put("Nothing that is known."), put("Port Condition YANKEE is set for the Port of Houston.")];
    let mut seen = Vec::new();
    run(&history, 2, &domain, |_, state| {
        let texts: Vec<String> = state.hyperedges.keys().map(|hyperedge| hyperedge.text.to_uppercase()).collect();
        let has = ["WHISKEY", "YANKEE", "ZULU"].map(|word| texts.iter().any(|text| text.contains(word)));
        seen.push((has, state.rejects.len()));
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, [([true, false, true], 1), ([true, true, true], 0)]);
}

/// How many records move between operators in each epoch of a history, on one worker: work that is counted and not timed.
fn work(history: &History, domain: &Arc<Domain>) -> Vec<i64> {
    let mut feeder = Feeder::new(domain);
    let batches: Vec<_> = history.iter().map(|steps| feeder.batch(steps)).collect();
    let domain = Arc::clone(domain);
    timely::execute_directly(move |worker| {
        let moved = Rc::new(Cell::new(0));
        let counted = Rc::clone(&moved);
        let note = move |_: &Duration, events: &mut Option<Vec<(Duration, TimelyEvent)>>| {
            for (_, event) in events.iter().flatten() {
                if let TimelyEvent::Messages(messages) = event
                    && messages.is_send
                {
                    counted.set(counted.get() + messages.record_count);
                }
            }
        };
        worker.log_register().unwrap().insert::<TimelyEventBuilder, _>("timely", note);
        let (mut inputs, _outbox, probe) = worker.dataflow(|scope| live(scope, &domain, None, false));
        let mut works = Vec::new();
        for (epoch, batch) in (0..).zip(batches) {
            batch.documents.into_iter().for_each(|row| inputs.documents.send(row));
            batch.vectors.into_iter().for_each(|(hash, vector)| inputs.vectors.send((hash, 0, Some(vector))));
            inputs.advance_to(epoch + 1);
            worker.step_while(|| probe.less_than(&(epoch + 1)));
            // What is logged is passed on some steps later.
            (0..10).for_each(|_| _ = worker.step());
            works.push(moved.replace(0));
        }
        works
    })
}

#[test]
fn a_deletion_costs_what_it_deletes_whatever_else_stands() {
    let post: fn(usize) -> Document = |number| {
        let issued: jiff::Timestamp = "2020-08-26T15:00:00Z".parse().unwrap();
        Document {
            source_kind: Some("port_post".into()),
            issued_at: Some(issued + jiff::SignedDuration::from_mins(number as i64)),
            ..Document::plain(format!("post-{number:04}"), "Port Condition WHISKEY is set for the Port of Houston.")
        }
    };
    let town: fn(usize) -> Document = |number| {
        let text = format!("Bridge {number} of Town{number} was opened by Mayor Smith{number}.");
        Document { title: Some(format!("Town{number}")), ..Document::plain(format!("town-{number:04}"), text) }
    };
    let cyclone = (Arc::new(packs::load("cyclone").unwrap()), post);
    let corpora = [cyclone].into_iter().chain(general::domain().map(|domain| (domain, town)));
    for (domain, document) in corpora {
        let put = |number: usize| {
            let document = document(number);
            Step::Document(document.key.clone(), Some(document))
        };
        let cost = |n_others: usize| {
            let others = (1..=n_others).map(put).collect();
            let gone = vec![Step::Document(document(0).key, None)];
            work(&vec![others, vec![put(0)], gone], &domain)
        };
        let (few, many) = (cost(20), cost(400));
        assert!(many[0] > 10 * few[0] && few[2] > 0, "{few:?}, {many:?}");
        assert!(many[2] <= 2 * few[2], "a deletion moves {} records among 20 texts and {} among 400", few[2], many[2]);
    }
}

/// A model that notes what it is asked, and fails on a word.
struct Moody {
    asked: Arc<Mutex<Vec<String>>>,
    fails_on: &'static str,
}

impl Model for Moody {
    fn id(&self) -> &str {
        Hashed.id()
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, connect::Error> {
        self.asked.lock().unwrap().extend_from_slice(texts);
        if texts.iter().any(|text| !self.fails_on.is_empty() && text.contains(self.fails_on)) {
            return Err(connect::Error::lasting("the model is moody".to_owned()));
        }
        Hashed.embed(texts)
    }
}

async fn pipeline(lake: &Lake, fails_on: &'static str) -> (Pipeline, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let model = Moody { asked: Arc::clone(&asked), fails_on };
    let service = EmbedService::start(Arc::new(model), &ServiceSettings::default()).unwrap();
    let vectors = LakeVectors::open(lake.clone(), Hashed.id()).await.unwrap();
    let recorded = Arc::new(Recorded::new(service, Arc::new(vectors)));
    let domain = Arc::new(packs::load("cyclone").unwrap());
    (Pipeline::start(2, domain, recorded, Some(lake.clone())).await.unwrap(), asked)
}

async fn open(folder: &std::path::Path) -> Lake {
    Lake::open(&folder.to_string_lossy(), "deletions", lake::Options::default()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_loses_no_vector_and_asks_for_none() {
    let folder = tempfile::tempdir().unwrap();
    let lake = open(folder.path()).await;
    let (mut first, asked_first) = pipeline(&lake, "").await;
    first.step(vec![advisory(1, 5), advisory(2, 9), asked("q")]).await.unwrap();
    first.commit().await.unwrap();
    let before: BTreeMap<_, _> = lake.read::<hypercane_schemas::AnswerStep>(None).await.unwrap().into_iter().collect();
    assert!(!before.is_empty() && !asked_first.lock().unwrap().is_empty());
    drop(first);
    lake.close().await;

    let lake = open(folder.path()).await;
    let (mut second, asked_again) = pipeline(&lake, "").await;
    assert_eq!(second.resumed().len(), 2);
    // A second question finds by its vectors what the first one finds, and the first one's answer does not move.
    second.step(vec![asked("r")]).await.unwrap();
    second.commit().await.unwrap();
    assert_eq!(*asked_again.lock().unwrap(), Vec::<String>::new());
    let after: BTreeMap<_, _> = lake.read::<hypercane_schemas::AnswerStep>(None).await.unwrap().into_iter().collect();
    let of = |query: &str| after.iter().filter(|(step, _)| step.query.0 == query).count();
    assert!(before.iter().all(|row| after.get(row.0) == Some(row.1)));
    assert_eq!((of("q"), of("r")), (before.len(), before.len()));
}

#[tokio::test(flavor = "multi_thread")]
async fn offsets_do_not_move_past_what_failed() {
    let folder = tempfile::tempdir().unwrap();
    let lake = open(folder.path()).await;
    let offset = |next: i64| BTreeMap::from([(("documents".to_owned(), 0), next)]);
    let read = |number: u8, next| Gathered {
        inputs: vec![advisory(number, 5), asked("q")],
        offsets: offset(next),
        ..Gathered::default()
    };
    let (mut first, _) = pipeline(&lake, "").await;
    let no_question = Gathered { inputs: vec![advisory(1, 5)], ..read(1, 1) };
    first.turn(no_question, false, Duration::MAX).await.unwrap();
    first.commit().await.unwrap();
    drop(first);

    let (mut failing, texts) = pipeline(&lake, "How strong").await;
    let error = failing.turn(read(2, 2), false, Duration::ZERO).await.unwrap_err();
    let told = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source())
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ");
    assert!(told.contains("moody") && !texts.lock().unwrap().is_empty(), "{told}");
    drop(failing);
    assert_eq!(lake.commit_point().await.unwrap().unwrap().offsets, offset(1));

    let (mut healthy, _) = pipeline(&lake, "").await;
    assert_eq!(healthy.offsets(), offset(1), "it goes on before what failed");
    healthy.turn(read(2, 2), false, Duration::MAX).await.unwrap();
    healthy.commit().await.unwrap();
    assert_eq!(lake.commit_point().await.unwrap().unwrap().offsets, offset(2));
    let documents: BTreeMap<Document, _> = lake.read::<Document>(None).await.unwrap().into_iter().collect();
    assert!(documents.len() == 2 && documents.values().all(|count| *count == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_committed_is_visible_at_once_however_small_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let lake = open(folder.path()).await;
    let vectors = LakeVectors::open(lake.clone(), Hashed.id()).await.unwrap();
    let domain = Arc::new(packs::load("cyclone").unwrap());
    let recorded = recorded(Arc::new(vectors));
    let mut pipeline = Pipeline::start(1, domain, recorded, Some(lake)).await.unwrap();
    for (number, is_deleted) in [(1, false), (2, false), (1, true)] {
        let input = if is_deleted { no_advisory(number) } else { advisory(number, 5) };
        let key = match &input {
            Input::Document(key, _) => key.clone(),
            other => panic!("{other:?}"),
        };
        pipeline.step(vec![input]).await.unwrap();
        pipeline.commit().await.unwrap();
        // A reader that knows nothing of the pipeline.
        let reader = Lake::view(&folder.path().to_string_lossy(), lake::Options::default()).await.unwrap();
        let rows = reader.read::<Hyperedge>(None).await.unwrap();
        let states =
            |(row, count): &(Hyperedge, _)| *count > 0 && row.provenance.iter().any(|place| place.document == key);
        assert_eq!(rows.iter().any(states), !is_deleted, "{key:?}");
        let entities = reader.read::<Entity>(None).await.unwrap();
        assert!(entities.iter().any(|(_, count)| *count > 0));
    }
}

#[test]
fn a_late_text_takes_the_place_that_its_time_gives_it() {
    let corpus = Corpus::cyclone();
    // The first advisory comes last, after the second one was corrected, and one more time.
    let history = vec![
        vec![corpus.put(2)],
        vec![corpus.put(3)],
        vec![corpus.put(0)],
        vec![corpus.put(0), corpus.put(1), corpus.drop(1)],
    ];
    let wanted: Vec<State> =
        [vec![2], vec![2, 3], vec![0, 2, 3], vec![0, 2, 3]].iter().map(|texts| corpus.of(texts)).collect();
    let mut n_steps = Vec::new();
    run(&history, 2, &corpus.domain, |epoch, state| {
        n_steps.push(state.precedence.len());
        compare(state, &wanted[epoch])
    })
    .unwrap();
    assert!(n_steps[2] > n_steps[1], "the late advisory has no place in the order: {n_steps:?}");
    let mut standing = Standing::default();
    history.iter().for_each(|epoch| standing.apply(epoch));
    run(&vec![standing.steps()], 1, &corpus.domain, |_, state| compare(state, &wanted[3])).unwrap();
}
