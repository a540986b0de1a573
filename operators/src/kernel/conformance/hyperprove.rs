//! Cases of HyperProve: synonyms, the walk between facts, hops with a carried frontier.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Case, by_id, list, number, string, strings, whole};
use crate::kernel::{self, FactWalk, Hop, ProveSettings, Tie, prove};

type Walk<'a> = FactWalk<&'a str, Tie<&'a str, &'a str>>;

/// The neighbours of each name, and A_i+ of each fact.
type Names<'a> = (BTreeMap<&'a str, BTreeSet<&'a str>>, BTreeMap<&'a str, Vec<&'a str>>);

fn names<'a>(case: &Case<'a>) -> Names<'a> {
    let pairs = list(&case.input["pairs"]).iter();
    let pairs = pairs.map(|pair| (string(&pair[0]), string(&pair[1]), number(&pair[2])));
    let neighbours = kernel::synonyms(pairs, case.param("eta"));
    let facts = list(&case.input["facts"]).iter();
    let of = |fact: &'a Value| (string(&fact["id"]), kernel::expanded(&strings(&fact["participants"]), &neighbours));
    let expanded = facts.map(of).collect();
    (neighbours, expanded)
}

fn walk<'a>(case: &Case<'a>) -> Walk<'a> {
    let (_, expanded) = names(case);
    let documents = list(&case.input["facts"]).iter().map(|fact| (string(&fact["id"]), string(&fact["doc"])));
    let participants = expanded.into_iter().flat_map(|(fact, names)| names.into_iter().map(move |name| (fact, name)));
    let ties = participants.map(|(fact, name)| (fact, Tie::Entity(name)));
    FactWalk::new(ties.chain(documents.map(|(fact, document)| (fact, Tie::Document(document)))))
}

/// T* on the nodes of a case or a hop.
fn local<'a>(whole: &Walk<'a>, nodes: &Value) -> Walk<'a> {
    whole.restrict(&whole.graph().hyperedges_among(&strings(nodes)))
}

fn named<'a>(walk: &Walk<'a>, facts: &[u32]) -> Vec<&'a str> {
    facts.iter().map(|&fact| walk.graph().hyperedges()[fact as usize]).collect()
}

pub(crate) fn synonyms(case: &Case<'_>) {
    let (neighbours, expanded) = names(case);
    for (name, expected) in by_id(&case.expected["synonyms"]) {
        let given: Vec<&str> = neighbours.get(name).into_iter().flatten().copied().collect();
        case.same_ids(&format!("synonyms of {name}"), &given, expected);
    }
    expanded_as_expected(case, &expanded);
}

fn expanded_as_expected(case: &Case<'_>, expanded: &BTreeMap<&str, Vec<&str>>) {
    let expected = by_id(&case.expected["expanded"]);
    assert!(expanded.keys().eq(expected.keys()), "{}: facts", case.name);
    expected.into_iter().for_each(|(fact, names)| case.same_ids("A+", &expanded[fact], names));
}

pub(crate) fn structure(case: &Case<'_>) {
    expanded_as_expected(case, &names(case).1);
    let walk = walk(case);
    let (facts, ties) = (walk.graph().hyperedges(), walk.graph().entities());
    let ties_of = |fact: usize| walk.graph().entities_of(fact as u32).iter().map(|&tie| tie as usize);
    let incidences: Vec<(&str, &Tie<&str, &str>)> =
        facts.iter().enumerate().flat_map(|(at, &fact)| ties_of(at).map(move |tie| (fact, &ties[tie]))).collect();
    let entities = incidences.iter().filter_map(|(fact, tie)| match tie {
        Tie::Entity(entity) => Some((*fact, *entity, 1.0)),
        Tie::Document(_) => None,
    });
    case.close_matrix("B_he", entities, &with_ones(&case.expected["b_he"]));
    let documents = incidences.iter().filter_map(|(fact, tie)| match tie {
        Tie::Document(document) => Some((*fact, *document, 1.0)),
        Tie::Entity(_) => None,
    });
    case.close_matrix("B_hd", documents, &with_ones(&case.expected["b_hd"]));
    let degree = |tie: Tie<&str, &str>| walk.graph().entity(&tie).map_or(0.0, |at| walk.degrees()[at as usize]);
    for (name, expected) in by_id(&case.expected["d_e"]) {
        case.close("degree of an entity", degree(Tie::Entity(name)), expected);
    }
    for (name, expected) in by_id(&case.expected["d_d"]) {
        case.close("degree of a document", degree(Tie::Document(name)), expected);
    }

    // W_s by its closed forms: a row sums to the number of ties, its diagonal to the sum of their shares.
    let row_sum = |fact: usize| ties_of(fact).count() as f64;
    let diagonal = |fact: usize| ties_of(fact).map(|tie| 1.0 / walk.degrees()[tie]).sum::<f64>();
    let mut w: Vec<(&str, &str, f64)> = Vec::new();
    for (at, row) in walk.rows().enumerate() {
        w.push((facts[at], facts[at], diagonal(at)));
        let others =
            row.into_iter().map(|(to, share)| (facts[at], facts[to as usize], share * (row_sum(at) - diagonal(at))));
        w.extend(others);
    }
    case.close_matrix("W_s", w, &case.expected["w"]);
    let of_facts = |value: &dyn Fn(usize) -> f64| -> Vec<(&str, f64)> {
        facts.iter().enumerate().map(|(at, &fact)| (fact, value(at))).collect()
    };
    case.close_by_id("row sums", of_facts(&row_sum), &case.expected["row_sums"]);
    case.close_by_id("row sums", of_facts(&row_sum), &case.expected["row_sums_closed"]);
    case.close_by_id("diagonal", of_facts(&diagonal), &case.expected["diagonal"]);
    case.close_by_id("diagonal", of_facts(&diagonal), &case.expected["diagonal_closed"]);
    transitions(case, &walk, "t");
}

/// A list of places as a matrix of ones.
fn with_ones(places: &Value) -> Value {
    list(places).iter().map(|place| serde_json::json!([place[0], place[1], 1.0])).collect()
}

/// Checks the rows, the rows of zeros, and one step from each fact.
fn transitions(case: &Case<'_>, walk: &Walk<'_>, name: &str) {
    let facts = walk.graph().hyperedges();
    let rows: Vec<Vec<(u32, f64)>> = walk.rows().collect();
    let entries = facts
        .iter()
        .zip(&rows)
        .flat_map(|(from, row)| row.iter().map(move |&(to, share)| (*from, facts[to as usize], share)));
    case.close_matrix(name, entries, &case.expected[name]);
    let zero: Vec<u32> = (0u32..).zip(&rows).filter(|(_, row)| row.is_empty()).map(|(at, _)| at).collect();
    case.same_ids("rows of zeros", &named(walk, &zero), &case.expected["zero_rows"]);
    let steps = (0u32..).zip(facts).flat_map(|(at, &from)| {
        walk.step(&[(at, 1.0)]).into_iter().map(move |(to, share)| (from, facts[to as usize], share))
    });
    case.close_matrix("one step", steps, &case.expected[name]);
}

pub(crate) fn local_walk(case: &Case<'_>) {
    let local = local(&walk(case), &case.input["nodes"]);
    case.same_ids("nodes", local.graph().hyperedges(), &case.expected["nodes"]);
    transitions(case, &local, "t_local");
}

pub(crate) fn neighbours(case: &Case<'_>) {
    let local = local(&walk(case), &case.input["nodes"]);
    let neighbours = prove::neighbours(&local, case.param("theta"));
    let expected = by_id(&case.expected["neighbours"]);
    assert!(local.graph().hyperedges().iter().eq(expected.keys()), "{}: nodes", case.name);
    for (given, expected) in neighbours.iter().zip(expected.values()) {
        case.same_ids("neighbours", &named(&local, given), expected);
    }
}

pub(crate) fn bfs(case: &Case<'_>) {
    let local = local(&walk(case), &case.input["nodes"]);
    let neighbours = prove::neighbours(&local, case.param("theta"));
    let starts = local.graph().hyperedges_among(&strings(&case.input["seeds"]));
    let distances = prove::distances(&neighbours, &starts, whole(&case.params["steps"]) as u32);
    let reached = local.graph().hyperedges().iter().zip(distances).filter_map(|(&id, steps)| Some((id, steps?)));
    let reached: Vec<(&str, f64)> = reached.map(|(id, steps)| (id, f64::from(steps))).collect();
    let names: Vec<&str> = reached.iter().map(|(id, _)| *id).collect();
    case.same_ids("reached", &names, &case.expected["reached"]);
    case.close_by_id("distance", reached, &case.expected["distance"]);
}

fn settings(case: &Case<'_>) -> ProveSettings {
    ProveSettings {
        theta: case.param("theta"),
        steps: whole(&case.params["steps"]) as u32,
        alpha: case.param("alpha"),
        facts: whole(&case.params["k"]),
        from_frontier: match string(&case.params["start_from"]) {
            "seeds" => false,
            "seeds_and_frontier" => true,
            other => panic!("{}: starts from {other}", case.name),
        },
    }
}

/// One hop with the nodes, seeds and cosines of `input`.
fn hop<'a>(case: &Case<'a>, walk: &Walk<'a>, input: &'a Value, frontier: &BTreeSet<&'a str>) -> Hop<&'a str> {
    let local = local(walk, &input["nodes"]);
    let seeds = strings(&input["seeds"]).into_iter().collect();
    let cosine: Vec<f64> = local.graph().hyperedges().iter().map(|&id| number(&input["cosine"][id])).collect();
    kernel::prove_hop(&local, &seeds, frontier, &cosine, &settings(case))
}

fn hop_as_expected(case: &Case<'_>, hop: &Hop<&str>, expected: &Value) {
    let of = |value: fn(&prove::Reached<&str>) -> f64| -> BTreeMap<&str, f64> {
        hop.ranking.iter().map(|it| (it.fact, value(it))).collect()
    };
    case.close_by_id("reached", of(|it| f64::from(it.steps)), &expected["reached"]);
    case.close_by_id("struct", of(|it| it.structure), &expected["struct"]);
    case.close_by_id("score", of(|it| it.score), &expected["score"]);
    let distances: BTreeMap<&str, Option<u64>> =
        hop.ranking.iter().map(|it| (it.fact, it.frontier_steps.map(u64::from))).collect();
    let expected_distances = by_id(&expected["frontier_distance"]);
    let expected_distances = expected_distances.into_iter().map(|(id, steps)| (id, steps.as_u64())).collect();
    assert_eq!(distances, expected_distances, "{}: distance to the frontier", case.name);
    let ids = |facts: &[prove::Reached<&str>]| facts.iter().map(|it| it.fact.to_owned()).collect::<Vec<_>>();
    assert_eq!(ids(&hop.ranking), strings(&expected["ranking"]), "{}: ranking", case.name);
    assert_eq!(ids(hop.evidence()), strings(&expected["top"]), "{}: top K", case.name);
    frontier_as_expected(case, &hop.frontier, &expected["frontier_after"]);
}

fn frontier_as_expected(case: &Case<'_>, frontier: &BTreeSet<&str>, expected: &Value) {
    assert!(frontier.iter().copied().eq(strings(expected)), "{}: the frontier is {frontier:?}", case.name);
}

pub(crate) fn score(case: &Case<'_>) {
    let frontier = strings(&case.input["frontier"]).into_iter().collect();
    hop_as_expected(case, &hop(case, &walk(case), case.input, &frontier), case.expected);
}

pub(crate) fn two_hop(case: &Case<'_>) {
    let walk = walk(case);
    let mut frontier = BTreeSet::new();
    let (inputs, expected) = (list(&case.input["hops"]), list(&case.expected["hops"]));
    assert_eq!(inputs.len(), expected.len(), "{}", case.name);
    for (input, expected) in inputs.iter().zip(expected) {
        let hop = hop(case, &walk, input, &frontier);
        hop_as_expected(case, &hop, expected);
        frontier = hop.frontier;
    }
    frontier_as_expected(case, &frontier, &case.expected["frontier"]);
}
