//! Evidence that is kept equals evidence that is worked out.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{ContentHash, EntityKey, Fixed, HyperedgeId, QueryId, Vector};
use jiff::Timestamp;
use proptest::prelude::*;

use super::{
    Asked, AskedName, Changes, Fact, NamedEntity, Standing, plain,
    pool::{Pool, Scored},
};
use crate::{
    kernel::{ChainSettings, Lift},
    shared::Shared,
};

const HUB: usize = 4;

fn unit(degrees: u16) -> Vector {
    let angle = f32::from(degrees).to_radians();
    Vector([angle.cos(), angle.sin()].into())
}

fn key(number: usize) -> EntityKey {
    EntityKey(format!("name:{number}"))
}

/// Names with different numbers are no synonyms.
fn pier(number: u8) -> String {
    format!("Pier {number}")
}

fn id(number: u128) -> HyperedgeId {
    HyperedgeId(ContentHash(number))
}

fn moment(hour: i64) -> Timestamp {
    Timestamp::from_second(hour * 3600).unwrap()
}

/// What stands.
#[derive(Clone, Debug, Default)]
struct Corpus {
    facts: BTreeMap<HyperedgeId, Shared<Fact>>,
    names: BTreeMap<EntityKey, Shared<NamedEntity>>,
}

/// What one change does.
#[derive(Clone, Debug)]
enum Step {
    Fact(u128, Fact),
    NoFact(u128),
    Name(usize, NamedEntity),
    NoName(usize),
    Question(u8, Asked),
    NoQuestion(u8),
}

const ENTITIES: usize = 14;

fn steps() -> impl Strategy<Value = Step> {
    let time = || prop::option::of((0..3i64).prop_map(moment));
    let angle = || prop::option::weighted(0.8, (0..120u16).prop_map(unit));
    let fact = (prop::collection::btree_set(0..ENTITIES, 1..4), angle(), 0..3u8, time());
    let fact = fact.prop_map(|(entities, vector, confidence, issued_at)| Fact {
        entities: entities.into_iter().map(key).collect::<BTreeSet<_>>().into_iter().collect(),
        vector,
        confidence: Fixed::from_f64(f64::from(confidence) / 2.0),
        relations: vec![Fixed::from_f64(0.5); confidence.into()],
        issued_at,
    });
    let name = (0..3u8, prop::collection::vec(0..ENTITIES + 3, 0..2), angle());
    let name = name.prop_map(|(number, aliases, vector)| NamedEntity {
        name: pier(number),
        aliases: aliases.into_iter().map(key).collect(),
        vector,
    });
    let mention = (0..ENTITIES + 3, 0..3u8, angle());
    let mention =
        mention.prop_map(|(entity, number, vector)| AskedName { entity: key(entity), name: pier(number), vector });
    let mentions = prop::collection::vec(mention, 0..3);
    let asked = (angle(), mentions, time()).prop_map(|(vector, mentions, as_of)| Asked { vector, mentions, as_of });
    prop_oneof![
        8 => (0..24u128, fact).prop_map(|(id, fact)| Step::Fact(id, fact)),
        5 => (0..24u128).prop_map(Step::NoFact),
        3 => (0..ENTITIES, name).prop_map(|(entity, name)| Step::Name(entity, name)),
        1 => (0..ENTITIES).prop_map(Step::NoName),
        3 => (0..4u8, asked).prop_map(|(id, asked)| Step::Question(id, asked)),
        1 => (0..4u8).prop_map(Step::NoQuestion),
    ]
}

fn settings() -> impl Strategy<Value = ChainSettings> {
    (0..3usize, 0..5usize, 0..3u8, 1..7usize, 0..3u8).prop_map(|(nearest_entities, hops, beta, hyperedges, alpha)| {
        ChainSettings {
            nearest_entities,
            hops,
            beta: f64::from(beta) / 3.0,
            hyperedges,
            alpha: f64::from(alpha) / 2.0,
            lift: Lift { entry_rarity: f64::from(alpha), relevance_power: f64::from(beta), ..Lift::default() },
            ..ChainSettings::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn it_equals_the_evidence_over_all_facts(
        epochs in prop::collection::vec(prop::collection::vec(steps(), 1..8), 1..12),
        settings in settings(),
    ) {
        let mut standing = Standing::new(HUB, settings);
        let mut corpus = Corpus::default();
        let mut questions = BTreeMap::new();
        for epoch in epochs {
            let mut changes = Changes::default();
            // Of several steps under one key the last one counts, as in an epoch of the dataflow.
            let (mut facts, mut names, mut asked) =
                (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
            for step in epoch {
                match step {
                    Step::Fact(number, fact) => _ = facts.insert(id(number), Some(Shared::new(fact))),
                    Step::NoFact(number) => _ = facts.insert(id(number), None),
                    Step::Name(entity, name) => _ = names.insert(key(entity), Some(Shared::new(name))),
                    Step::NoName(entity) => _ = names.insert(key(entity), None),
                    Step::Question(number, question) => _ = asked.insert(QueryId(number.to_string()), Some(question)),
                    Step::NoQuestion(number) => _ = asked.insert(QueryId(number.to_string()), None),
                }
            }
            for (id, fact) in facts {
                if corpus.facts.remove(&id).is_some() {
                    changes.facts_gone.push(id);
                }
                if let Some(fact) = fact {
                    corpus.facts.insert(id, fact.clone());
                    changes.facts_came.push((id, fact));
                }
            }
            for (entity, name) in names {
                corpus.names.remove(&entity);
                changes.names_gone.push(entity.clone());
                if let Some(name) = name {
                    corpus.names.insert(entity.clone(), name.clone());
                    changes.names_came.push((entity, name));
                }
            }
            for (id, question) in asked {
                questions.remove(&id);
                changes.questions_gone.push(id.clone());
                if let Some(question) = question {
                    questions.insert(id.clone(), question.clone());
                    changes.questions_came.push((id, question));
                }
            }
            let before: Vec<_> = questions.keys().map(|id| (id.clone(), standing.evidence(id).cloned())).collect();
            let concerned = standing.apply(changes);
            for (id, before) in before {
                let evidence = standing.evidence(&id).unwrap();
                prop_assert!(concerned.contains(&id) || before.as_ref() == Some(evidence), "{id:?} changed unheard");
                let plain = plain::evidence(&corpus.facts, &corpus.names, &questions[&id], HUB, &settings);
                prop_assert_eq!(&evidence.chain, &plain);
            }
        }
    }

    #[test]
    fn a_pool_holds_the_first_ones(
        n in 0..4usize,
        changes in prop::collection::vec((0..12u32, prop::option::of(0..5u8)), 0..60),
    ) {
        let mut all: BTreeMap<u32, u8> = BTreeMap::new();
        let scored = |(slot, score): (&u32, &u8)| Scored { score: f64::from(*score), id: *slot, slot: *slot };
        let mut pool = Pool::new(n, []);
        for (slot, score) in changes {
            all.remove(&slot);
            if !pool.drop(&[slot]) {
                pool = Pool::new(n, all.iter().map(scored));
            }
            if let Some(score) = score {
                all.insert(slot, score);
                _ = pool.add(scored((&slot, &score)));
            }
            let mut wanted: Vec<_> = all.iter().map(scored).collect();
            wanted.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
            let first: Vec<_> = pool.first().into_iter().cloned().collect();
            prop_assert_eq!(&first[..], &wanted[..n.min(wanted.len())]);
            prop_assert!(pool.held().len() <= 2 * n || pool.bound().is_none());
        }
    }
}

#[test]
fn a_change_concerns_the_questions_that_it_can_change_and_no_others() {
    let mut standing = Standing::new(HUB, ChainSettings { nearest_entities: 0, ..ChainSettings::default() });
    let fact = |entities: &[usize]| {
        Shared::new(Fact { entities: entities.iter().map(|e| key(*e)).collect(), ..Fact::default() })
    };
    let question = |entity: usize| Asked {
        mentions: vec![AskedName { entity: key(entity), name: pier(0), vector: None }],
        ..Asked::default()
    };
    let [a, b] = ["a", "b"].map(|id| QueryId(id.into()));
    standing.apply(Changes {
        facts_came: vec![(id(1), fact(&[1, 2])), (id(2), fact(&[2, 3])), (id(3), fact(&[7, 8]))],
        questions_came: vec![(a.clone(), question(1)), (b.clone(), question(7))],
        ..Changes::default()
    });
    let found = |standing: &Standing, id: &QueryId| standing.evidence(id).unwrap().chain.graph.hyperedges().to_vec();
    assert_eq!((found(&standing, &a), found(&standing, &b)), (vec![id(1), id(2)], vec![id(3)]));
    let joined = Changes { facts_came: vec![(id(4), fact(&[3, 4]))], ..Changes::default() };
    assert_eq!(standing.apply(joined), BTreeSet::from([a.clone()]));
    let elsewhere = Changes { facts_came: vec![(id(5), fact(&[5, 6]))], ..Changes::default() };
    assert_eq!(standing.apply(elsewhere), BTreeSet::new());
    let cut = Changes { facts_gone: vec![id(2)], ..Changes::default() };
    assert_eq!(standing.apply(cut), BTreeSet::from([a.clone()]));
    assert_eq!(found(&standing, &a), vec![id(1)]);
}

#[test]
fn a_name_with_another_number_is_no_synonym() {
    let asked = |name: &str| AskedName { entity: key(1), name: name.into(), vector: Some(unit(0)) };
    let named =
        |name: &str, degrees| NamedEntity { name: name.into(), vector: Some(unit(degrees)), ..NamedEntity::default() };
    let is_synonym = |a, b, degrees| asked(a).is_synonym(&named(b, degrees), 0.8);
    assert!(is_synonym("World War II", "Second World War", 30) && !is_synonym("World War II", "Second World War", 40));
    assert!(!is_synonym("World War II", "World War I", 0));
    assert!(!asked("Rome").is_synonym(&NamedEntity { name: "Rome".into(), ..NamedEntity::default() }, 0.8));
}
