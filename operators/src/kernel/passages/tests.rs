//! The ranking on small corpora: by hand, against plain definitions, and after histories.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{ContentHash, QueryId, Vector};
use proptest::prelude::*;

use super::{Asked, Changes, First, Passage, PassageFact, PassageIndex, PassageSettings, Ranked, Scratch, Standing};
use crate::shared::Shared;

fn id(number: usize) -> ContentHash {
    ContentHash(number as u128)
}

fn vector(values: &[f32]) -> Option<Vector> {
    Some(Vector(values.into()))
}

fn asked(question: &str) -> Asked {
    Asked::new(question, vector(&[1.0, 0.0, 0.0]), None)
}

fn passage(title: &str, facts: &[(&str, &[&str])], values: &[f32]) -> Shared<Passage> {
    let text = facts.iter().map(|(text, _)| *text).collect::<Vec<_>>().join(" ");
    let fact = |(said, names): &(&str, &[&str])| {
        let start = text.find(said).unwrap() as u32;
        PassageFact {
            start,
            end: start + said.len() as u32,
            text: (*said).to_owned(),
            vector: vector(values),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        }
    };
    let facts = facts.iter().map(fact).collect();
    Shared::new(Passage { title: title.to_owned(), vector: vector(values), facts, text, ..Passage::default() })
}

fn index(passages: impl IntoIterator<Item = Shared<Passage>>) -> PassageIndex {
    let mut index = PassageIndex::new([]);
    index.apply([], passages.into_iter().enumerate().map(|(number, passage)| (id(number), passage)));
    index
}

fn rank(index: &PassageIndex, asked: &Asked, settings: &PassageSettings) -> Vec<Ranked> {
    let n = index.len();
    let first = First::new(index, asked, settings, settings.n_first(n));
    index.rank(asked, &first, settings, n, &mut Scratch::default()).ranked
}

fn storms() -> PassageIndex {
    index([
        passage(
            "Hurricane Alder",
            &[("Hurricane Alder closed the Port of Birchton.", &["Port of Birchton"])],
            &[1.0, 0.0, 0.0],
        ),
        passage("Port of Birchton", &[("It lies on the Cedar River.", &["Cedar River"])], &[0.0, 1.0, 0.0]),
        passage("Cedar River", &[("The river rises in Elm County.", &["Elm County"])], &[0.0, 0.0, 1.0]),
        passage("Rose Bay", &[("A bay with a light.", &[])], &[0.0, 0.6, 0.8]),
    ])
}

#[test]
fn what_the_question_does_not_say_is_found_over_what_passages_name() {
    let index = storms();
    let asked = asked("On which river lies what Alder closed?");
    let scan = index.scan(&asked);
    // By itself the question finds the storm only; the port and its river follow by name, the bay by nothing.
    assert_eq!(scan.first(1, |found| found.dense), [id(0)]);
    let ranked = rank(&index, &asked, &PassageSettings::default());
    assert_eq!(ranked.iter().map(|ranked| ranked.id).collect::<Vec<_>>(), [id(0), id(1), id(2), id(3)]);
    assert!(ranked.windows(2).all(|pair| pair[0].walk > pair[1].walk));
    assert!(ranked[1].step > 0.0 && ranked[3].step == 0.0);
}

#[test]
fn a_name_that_many_passages_share_leads_to_its_title_only() {
    let index = storms();
    let mut settings = PassageSettings { hub_passages: 0, ..PassageSettings::default() };
    let steps =
        |settings: &PassageSettings| rank(&index, &asked("Alder"), settings).into_iter().map(|r| (r.id, r.step));
    assert!(steps(&settings).any(|(passage, step)| passage == id(1) && step > 0.0), "the port's own passage");
    settings.title_edge = 0.0;
    assert!(steps(&settings).all(|(_, step)| step == 0.0));
}

#[test]
fn a_corpus_without_a_passage_has_no_ranking() {
    let index = index([]);
    assert!(index.is_empty());
    assert!(rank(&index, &asked("Alder"), &PassageSettings::default()).is_empty());
}

#[test]
fn a_passage_that_was_said_later_is_not_found_and_leads_nowhere() {
    let mut index = storms();
    let later = Passage {
        issued_at: Some("2020-01-02T00:00:00Z".parse().unwrap()),
        ..Passage::clone(index.get(id(0)).unwrap())
    };
    index.apply([], [(id(0), Shared::new(later))]);
    let as_of = Some("2020-01-01T00:00:00Z".parse().unwrap());
    let asked = Asked { as_of, ..asked("What did Hurricane Alder close?") };
    let ranked = rank(&index, &asked, &PassageSettings::default());
    assert!(ranked.len() == 3 && ranked.iter().all(|ranked| ranked.id != id(0)));
}

#[test]
fn a_name_that_comes_or_goes_is_found_in_texts_that_stood_before() {
    let mut index = index([
        passage("Rose Bay", &[("It is not far from New Elm City.", &["Elm"])], &[0.0, 1.0]),
        passage("", &[("so", &["New Elm City"])], &[0.0, 1.0]),
    ]);
    let names = |index: &PassageIndex| {
        let held = index.slot(index.slots_of(id(0)).unwrap()).unwrap();
        held.names.iter().filter_map(|name| index.names.telling(*name).map(str::to_owned)).collect::<BTreeSet<_>>()
    };
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(names(&index), set(&["elm", "new elm city", "rose bay"]));
    index.apply([id(1)], []);
    assert_eq!(names(&index), set(&["elm", "rose bay"]));
    index.apply([], [(id(2), passage("Elm City", &[], &[0.0, 1.0]))]);
    assert_eq!(names(&index), set(&["elm", "elm city", "rose bay"]));
}

#[test]
fn a_change_concerns_the_questions_that_rest_on_it_and_no_others() {
    let mut standing = Standing::new([], PassageSettings { restarts: 2, ..PassageSettings::default() });
    let other = |number: usize| {
        let said = format!("Nothing but {number} grows here.");
        passage("", &[(&said, &[&format!("Field {number}")])], &[-1.0, number as f32, 0.0])
    };
    let storms = storms();
    let passages = (0..4).map(|number| (id(number), storms.get(id(number)).unwrap().clone()));
    let question = QueryId("alder".into());
    standing.apply(Changes {
        passages_came: passages.chain((10..70).map(|number| (id(number), other(number)))).collect(),
        questions_came: vec![(question.clone(), asked("What did Hurricane Alder close?"), 4)],
        ..Changes::default()
    });
    let came = |number: usize, passage| Changes { passages_came: vec![(id(number), passage)], ..Changes::default() };
    assert_eq!(standing.apply(came(20, other(120))), BTreeSet::new(), "a field");
    let river = passage("Cedar River", &[("The river rises in Ash County.", &["Ash County"])], &[0.0, 0.0, 1.0]);
    assert_eq!(standing.apply(came(2, river)), BTreeSet::from([question.clone()]), "the walk comes to the river");
    let gone = Changes { passages_gone: vec![id(0)], ..Changes::default() };
    assert_eq!(standing.apply(gone), BTreeSet::from([question.clone()]));
    assert!(standing.ranking(&question).unwrap().ranked.iter().all(|ranked| ranked.id != id(0)));
}

#[test]
fn a_passage_that_only_its_title_leads_to_is_ranked_as_it_stands() {
    // Every name is a hub, and the walk goes nowhere: from the storm a step leads to the title of the port, and no further.
    let settings = PassageSettings {
        seeds: 1,
        restarts: 1,
        hub_passages: 0,
        walk_hub_passages: 0,
        walk_least: 1.0,
        step_weight: 2.0,
        ..Default::default()
    };
    let mut standing = Standing::new([], settings);
    let storm = passage("", &[("Alder closed the Port of Birchton.", &["Port of Birchton"])], &[1.0, 0.0, 0.0]);
    let port = |values: &[f32]| passage("Port of Birchton", &[("It lies there.", &[])], values);
    let other = |number: usize| passage("", &[(&format!("Alder was {number}."), &[])], &[0.9, 0.1, 0.0]);
    let question = QueryId("alder".into());
    standing.apply(Changes {
        passages_came: [(id(0), storm), (id(1), port(&[0.0, 1.0, 0.0]))]
            .into_iter()
            .chain((10..74).map(|number| (id(number), other(number))))
            .collect(),
        questions_came: vec![(question.clone(), asked("What is closed by Alder?"), 2)],
        ..Changes::default()
    });
    let port_of = |standing: &Standing| {
        let ranked = &standing.ranking(&question).unwrap().ranked;
        ranked.iter().find(|ranked| ranked.step == 1.0).map(|ranked| (ranked.id, ranked.dense))
    };
    assert_eq!(port_of(&standing), Some((id(1), 0.0)));
    // Another passage of the same title takes its place.
    let (passages_gone, passages_came) = (vec![id(1)], vec![(id(2), port(&[0.1, 0.9, 0.0]))]);
    standing.apply(Changes { passages_gone, passages_came, ..Changes::default() });
    assert_eq!(port_of(&standing).map(|(passage, _)| passage), Some(id(2)));
}

const NAMES: [&str; 5] = ["Port Alder", "Birch Bay", "Cedar River", "Elm County", "Mount Fir"];

/// A passage by its title (a name, or none of them) and the names in its one fact.
type Drawn = (Option<usize>, Vec<usize>);

fn drawn() -> impl Strategy<Value = Drawn> {
    (prop::option::of(0..NAMES.len()), prop::collection::vec(0..NAMES.len(), 0..4))
}

fn passage_of((title, named): &Drawn, at: usize) -> Shared<Passage> {
    let names: Vec<&str> = named.iter().map(|name| NAMES[*name]).collect();
    let said = format!("So it is with {}.", names.join(" and "));
    passage(title.map_or("", |name| NAMES[name]), &[(&said, &names)], &[(at as f32).cos(), (at as f32).sin(), 0.0])
}

/// The walk by its definition, with dense matrices over passages and names, and no least share.
fn plain_walk(corpus: &[Drawn], restart: &[f64], s: &PassageSettings) -> Vec<f64> {
    let n = corpus.len();
    let edges = |p: usize, name: usize| {
        let mentions = corpus[p].1.contains(&name) || corpus[p].0 == Some(name);
        (f64::from(u8::from(mentions)), f64::from(u8::from(corpus[p].0 == Some(name))))
    };
    let any = |name: usize| (0..n).filter(|p| edges(*p, name) != (0.0, 0.0)).count().max(1) as f64;
    let rarity: Vec<f64> = (0..NAMES.len()).map(|name| (1.0 + n as f64 / any(name)).ln()).collect();
    let (mut x, mut y) = (restart.to_vec(), vec![0.0; NAMES.len()]);
    for _ in 0..s.walk_steps {
        let mut next = vec![0.0; n];
        let mut next_names = vec![0.0; NAMES.len()];
        for (name, mass) in y.iter().enumerate() {
            let titles = |p: usize| s.title_edge * edges(p, name).1;
            let all: f64 = (0..n).map(|p| edges(p, name).0 + titles(p)).sum();
            let is_hub = any(name) > s.walk_hub_passages as f64;
            for (p, next) in next.iter_mut().enumerate().filter(|_| all > 0.0) {
                *next += mass * (if is_hub { 0.0 } else { edges(p, name).0 } + titles(p)) / all;
            }
        }
        for (p, mass) in x.iter().enumerate() {
            let weight = |name: usize| (edges(p, name).0 + edges(p, name).1) * rarity[name];
            let all: f64 = (0..NAMES.len()).map(weight).sum();
            for (name, next) in next_names.iter_mut().enumerate().filter(|_| all > 0.0) {
                *next += mass * weight(name) / all;
            }
        }
        x = restart.iter().zip(&next).map(|(r, next)| (1.0 - s.walk_on) * r + s.walk_on * next).collect();
        y = next_names.iter().map(|next| s.walk_on * next).collect();
    }
    x
}

proptest! {
    #[test]
    fn the_walk_is_that_of_dense_matrices(
        corpus in prop::collection::vec(drawn(), 1..7),
        walk_hub_passages in 1..6usize,
    ) {
        let index = index(corpus.iter().enumerate().map(|(at, drawn)| passage_of(drawn, at)));
        let settings = PassageSettings { walk_hub_passages, walk_least: 0.0, ..PassageSettings::default() };
        // The question names nothing, so restarts are at passages alone.
        let ranked = rank(&index, &asked("what"), &settings);
        let by_number: BTreeMap<usize, &Ranked> = ranked.iter().map(|ranked| (ranked.id.0 as usize, ranked)).collect();
        let mut restart: Vec<f64> = (0..corpus.len())
            .map(|at| ((by_number[&at].start - ranked.iter().map(|r| r.start).fold(0.0, f64::max)) / settings.temperature).exp())
            .collect();
        restart.iter_mut().for_each(|weight| *weight *= f64::from(u8::from(*weight >= 1e-3)));
        let sum: f64 = restart.iter().sum();
        restart.iter_mut().for_each(|weight| *weight /= sum);
        let logs: Vec<f64> = plain_walk(&corpus, &restart, &settings).iter().map(|x| (x / 1e-6 + 1.0).ln()).collect();
        let most = logs.iter().copied().fold(0.0, f64::max);
        for (at, log) in logs.iter().enumerate() {
            let found = by_number[&at].walk;
            prop_assert!((found - log / most).abs() < 1e-4, "{found} {}", log / most);
        }
    }

    /// Passages come, change and go under a few questions, which come and go too. At every moment the rankings are those of an
    /// index made anew, in another order, bit for bit.
    #[test]
    fn after_any_history_the_rankings_are_those_of_an_index_made_anew(
        others in prop::collection::vec(drawn(), 60..68),
        history in prop::collection::vec(prop::collection::vec((0usize..9, prop::option::of(drawn())), 1..4), 1..9),
        restarts in 1usize..4,
        walk_least in prop::sample::select(vec![3e-4, 1.0]),
    ) {
        // Few are wanted, so that some are outside of what is kept. Where no share of the walk goes on, steps alone lead.
        let settings = PassageSettings {
            seeds: 2,
            restarts,
            walk_hub_passages: 3,
            hub_passages: 2,
            walk_least,
            ..PassageSettings::default()
        };
        let questions = ["Where is Birch Bay?", "What lies on the Cedar River in Elm County?", "with and it"];
        let mut standing = Standing::new([], settings);
        // So many that counts go in steps, and not every change is one of all scores.
        let others = others.iter().enumerate().map(|(at, drawn)| (100 + at, passage_of(drawn, at)));
        let mut stands: BTreeMap<usize, Shared<Passage>> = others.collect();
        let passages_came = stands.iter().map(|(number, passage)| (id(*number), passage.clone())).collect();
        standing.apply(Changes { passages_came, ..Changes::default() });
        for (round, changes) in history.into_iter().enumerate() {
            let changes: BTreeMap<usize, Option<Drawn>> = changes.into_iter().collect();
            let mut batch = Changes::default();
            for (number, drawn) in changes {
                match drawn {
                    Some(drawn) => {
                        let passage = passage_of(&drawn, number + round);
                        stands.insert(number, passage.clone());
                        batch.passages_came.push((id(number), passage));
                    }
                    None => {
                        stands.remove(&number);
                        batch.passages_gone.push(id(number));
                    }
                }
            }
            if round == 0 || round == 3 {
                let came = questions.iter().map(|q| (QueryId((*q).into()), asked(q), 3));
                batch.questions_came.extend(came);
            }
            if round == 2 {
                batch.questions_gone.push(QueryId(questions[0].into()));
            }
            standing.apply(batch);
            let mut anew = PassageIndex::new([]);
            for (number, passage) in stands.iter().rev() {
                anew.apply([], [(id(*number), passage.clone())]);
            }
            prop_assert_eq!(anew.n_names(), standing.index().n_names());
            for question in questions {
                let asked = asked(question);
                let first = First::new(&anew, &asked, &settings, settings.n_first(3));
                let wanted = anew.rank(&asked, &first, &settings, 3, &mut Scratch::default()).ranked;
                match standing.ranking(&QueryId(question.into())) {
                    Some(found) => prop_assert_eq!(&found.ranked, &wanted, "{} in round {}", question, round),
                    None => prop_assert!(round == 2 && question == questions[0]),
                }
            }
        }
    }
}
