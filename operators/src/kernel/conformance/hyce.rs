//! Cases of HyCE-RAG: from the incidences of a corpus to what supports an answer.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Case, by_id, list, number, string, strings, whole};
use crate::kernel::{
    self, AssembleSettings, Assembled, ChainSettings, EvidencePath, EvidenceWeights, ExpandSettings, Extraction, Lift,
    Surroundings, expand, jaccard, propagate, rank,
};

type Hypergraph<'a> = kernel::Hypergraph<&'a str, &'a str>;

fn hypergraph<'a>(case: &Case<'a>) -> Hypergraph<'a> {
    let incidence = |pair: &'a Value| (string(&pair[0]), string(&pair[1]));
    Hypergraph::new(list(&case.input["incidences"]).iter().map(incidence))
}

/// Numbers by id, in the order of some ids.
fn aligned(ids: &[&str], value: &Value) -> Vec<f64> {
    ids.iter().map(|&id| number(&value[id])).collect()
}

fn zipped<'a, 'b>(ids: &'b [&'a str], values: &'b [f64]) -> impl Iterator<Item = (&'a str, f64)> + 'b {
    ids.iter().copied().zip(values.iter().copied())
}

fn named<'a>(ids: &[&'a str], indices: &[u32]) -> Vec<&'a str> {
    indices.iter().map(|&at| ids[at as usize]).collect()
}

/// E_q, best first, with s_hyp; and H_q.
fn retrieved<'a>(case: &Case<'a>, what: &str) -> (Hypergraph<'a>, BTreeMap<&'a str, f64>) {
    let graph = hypergraph(case);
    let settings = ExpandSettings {
        hops: whole(&case.params["hops"]),
        beta: case.param("beta"),
        epsilon: case.param("epsilon"),
        hyperedges: whole(&case.params["k_h"]),
    };
    let entry = graph.entities_among(&strings(&case.input["entry"]));
    let name = |hyperedge: u32| graph.hyperedges()[hyperedge as usize];
    let s_rel = |hyperedge: u32| number(&case.input["s_rel"][name(hyperedge)]);

    let candidates = expand::candidates(&graph, &entry, |_| true, settings.hops);
    let found: Vec<&str> = candidates.iter().map(|&(hyperedge, _)| name(hyperedge)).collect();
    case.same_ids("candidates", &found, &case.expected["candidates"]);
    let scored = expand::score(&graph, &candidates, &entry, s_rel, &settings);
    let of = |value: fn(&kernel::Expanded) -> f64| scored.iter().map(move |it| (it.hyperedge, value(it)));
    let with_name = |(hyperedge, value)| (name(hyperedge), value);
    case.close_by_id("s_entry", of(|it| it.entry).map(with_name), &case.expected["s_entry"]);
    case.close_by_id("s_hyp", of(|it| it.score).map(with_name), &case.expected["s_hyp"]);

    let kept = kernel::expand(&graph, &entry, |_| true, s_rel, &settings);
    let names: Vec<&str> = kept.iter().map(|it| name(it.hyperedge)).collect();
    case.same_ids(what, &names, &case.expected[what]);
    let part = graph.restrict(&kept.iter().map(|it| it.hyperedge).collect::<Vec<u32>>());
    case.same_ids("vertices", part.entities(), &case.expected["vertices"]);
    (part, kept.iter().map(|it| (name(it.hyperedge), it.score)).collect())
}

pub(crate) fn retrieval(case: &Case<'_>) {
    retrieved(case, "selected");
}

pub(crate) fn restart(case: &Case<'_>) {
    let mut vertices = strings(&case.input["vertices"]);
    vertices.sort_unstable();
    let entry = strings(&case.input["entry"]);
    let entry: Vec<u32> = (0u32..).zip(&vertices).filter(|(_, id)| entry.contains(id)).map(|(at, _)| at).collect();
    restart_over(case, &vertices, &entry, true);
}

/// r, checked; r_hat too where it is expected.
fn restart_over(case: &Case<'_>, vertices: &[&str], entry: &[u32], with_relevance: bool) -> Vec<f64> {
    let relevance = kernel::query_relevance(&aligned(vertices, &case.input["s_vec"]), entry, case.param("alpha"));
    if with_relevance {
        case.close_by_id("r_hat", zipped(vertices, &relevance), &case.expected["r_hat"]);
    }
    let restart = kernel::restart(&relevance, case.param("epsilon"));
    case.close_by_id("r", zipped(vertices, &restart), &case.expected["r"]);
    if !case.expected["r_sum"].is_null() {
        case.close("sum of r", restart.iter().sum(), &case.expected["r_sum"]);
    }
    restart
}

pub(crate) fn transition(case: &Case<'_>) {
    let graph = hypergraph(case);
    let (vertices, hyperedges) = (graph.entities(), graph.hyperedges());
    retained(case, &graph);
    let removed = |given: &Value, left: &[&str]| -> Vec<String> {
        let mut removed = strings(given);
        removed.retain(|id| !left.contains(id));
        removed.sort_unstable();
        removed.into_iter().map(str::to_owned).collect()
    };
    let gone = removed(&case.input["entities"], vertices);
    assert_eq!(gone, strings(&case.expected["removed_vertices"]), "{}", case.name);
    let gone = removed(&case.input["hyperedges"], hyperedges);
    assert_eq!(gone, strings(&case.expected["removed_hyperedges"]), "{}", case.name);

    let of_entity = |at: usize| graph.hyperedges_of(at as u32);
    let row = |(at, &entity)| named(hyperedges, of_entity(at)).into_iter().map(move |edge| (entity, edge));
    let b: Vec<(&str, &str)> = vertices.iter().enumerate().flat_map(row).collect();
    let pair = |pair| (string(&list(pair)[0]), string(&list(pair)[1]));
    assert_eq!(b, list(&case.expected["b"]).iter().map(pair).collect::<Vec<_>>(), "{}: B", case.name);
    degrees(case, &graph);

    let s = propagate::transition(&graph);
    let entries = s.iter().map(|(&value, (to, from))| (vertices[to as usize], vertices[from as usize], value));
    case.close_matrix("S", entries, &case.expected["s"]);
    let mut sums = vec![0.0; vertices.len()];
    s.iter().for_each(|(value, (_, from))| sums[from as usize] += value);
    case.close_by_id("column sums", zipped(vertices, &sums), &case.expected["column_sums"]);
}

fn retained(case: &Case<'_>, graph: &Hypergraph<'_>) {
    case.same_ids("vertices", graph.entities(), &case.expected["vertices"]);
    case.same_ids("hyperedges", graph.hyperedges(), &case.expected["hyperedges"]);
}

fn degrees(case: &Case<'_>, graph: &Hypergraph<'_>) {
    let of_vertices = (0u32..).zip(graph.entities()).map(|(at, &id)| (id, graph.hyperedges_of(at).len() as f64));
    case.close_by_id("D_v", of_vertices, &case.expected["d_v"]);
    let of_hyperedges = (0u32..).zip(graph.hyperedges()).map(|(at, &id)| (id, graph.entities_of(at).len() as f64));
    case.close_by_id("D_e", of_hyperedges, &case.expected["d_e"]);
}

pub(crate) fn propagation(case: &Case<'_>) {
    let graph = hypergraph(case);
    let r = aligned(graph.entities(), &case.input["r"]);
    confidence(case, &graph, &kernel::propagate(&graph, &r, case.param("lambda"), whole(&case.params["steps"])));
}

pub(crate) fn fixed_point(case: &Case<'_>) {
    let graph = hypergraph(case);
    let r = aligned(graph.entities(), &case.input["r"]);
    confidence(case, &graph, &kernel::fixed_point(&graph, &r, case.param("lambda")));
}

fn confidence(case: &Case<'_>, graph: &Hypergraph<'_>, c: &[f64]) {
    case.close_by_id("c", zipped(graph.entities(), c), &case.expected["c"]);
    if !case.expected["c_sum"].is_null() {
        case.close("sum of c", c.iter().sum(), &case.expected["c_sum"]);
    }
}

pub(crate) fn hyperedge_confidence(case: &Case<'_>) {
    let graph = hypergraph(case);
    rho(case, &graph, &aligned(graph.entities(), &case.input["c"]));
}

fn rho(case: &Case<'_>, graph: &Hypergraph<'_>, c: &[f64]) {
    let rho = kernel::hyperedge_confidence(graph, c);
    case.close_by_id("rho", zipped(graph.hyperedges(), &rho), &case.expected["rho"]);
}

pub(crate) fn isolated(case: &Case<'_>) {
    let graph = hypergraph(case);
    retained(case, &graph);
    propagated(case, &graph, false);
}

/// c* from the restart on, checked with all that leads to it.
fn propagated(case: &Case<'_>, graph: &Hypergraph<'_>, with_relevance: bool) -> Vec<f64> {
    let entry = graph.entities_among(&strings(&case.input["entry"]));
    let r = restart_over(case, graph.entities(), &entry, with_relevance);
    let c = kernel::propagate(graph, &r, case.param("lambda"), whole(&case.params["steps"]));
    confidence(case, graph, &c);
    rho(case, graph, &c);
    c
}

pub(crate) fn evidence(case: &Case<'_>) {
    let graph = hypergraph(case);
    let c = aligned(graph.entities(), &case.input["c"]);
    let s_hyp = aligned(graph.hyperedges(), &case.input["s_hyp"]);
    assembled(case, &graph, &c, &s_hyp);
}

/// E_q* as paths, checked with all that leads to it; nothing where the fallback is expected.
fn assembled(case: &Case<'_>, graph: &Hypergraph<'_>, c: &[f64], s_hyp: &[f64]) -> Option<Vec<EvidencePath>> {
    let settings = AssembleSettings {
        theta: case.param("theta_v"),
        weights: weights(case),
        epsilon: case.param("epsilon"),
        paths: whole(&case.params["top_l"]),
    };
    let hyperedges = graph.hyperedges();
    let confidences = |id: &&str| list(&case.input["relations"][id]).iter().map(|it| number(&it[2])).collect();
    let relations: Vec<Vec<f64>> = hyperedges.iter().map(confidences).collect();
    let gamma = aligned(hyperedges, &case.input["gamma"]);
    let extractions = gamma.into_iter().zip(&relations);
    let extractions: Vec<Extraction<'_>> =
        extractions.map(|(confidence, relations)| Extraction { confidence, relations }).collect();
    let entry = graph.entities_among(&strings(&case.input["entry"]));

    let candidates = kernel::evidence_paths(graph, c, &entry, &extractions, &settings);
    let of = |path: &EvidencePath| hyperedges[path.hyperedge as usize];
    let expected = by_id(&case.expected["retained_of"]);
    assert!(expected.keys().eq(hyperedges), "{}: F(e) of {hyperedges:?}", case.name);
    for (&id, expected) in &expected {
        let path = candidates.iter().find(|path| of(path) == id);
        let retained = path.map_or(Vec::new(), |path| named(graph.entities(), &path.retained));
        case.same_ids("F(e)", &retained, expected);
    }
    let mut retained: Vec<u32> = candidates.iter().flat_map(|path| path.retained.iter().copied()).collect();
    retained.sort_unstable();
    retained.dedup();
    case.same_ids("F_q", &named(graph.entities(), &retained), &case.expected["retained"]);

    let fallback = case.expected["fallback"].as_bool().expect("it is expected or not");
    let assembled = kernel::assemble(graph, c, &entry, &extractions, s_hyp, &settings);
    let paths = match assembled {
        Assembled::Fallback(ranking) => {
            assert!(fallback && candidates.is_empty(), "{}: falls back", case.name);
            case.same_ids("fallback", &named(hyperedges, &ranking), &case.expected["fallback_ranking"]);
            return None;
        }
        Assembled::Paths(paths) => paths,
    };
    assert!(!fallback, "{}: does not fall back", case.name);
    let parts = by_id(&case.expected["parts"]);
    assert!(candidates.iter().map(of).eq(parts.keys().copied()), "{}: candidates", case.name);
    for path in &candidates {
        let (kernel::EvidenceParts { coverage, propagation, extraction, entry, relations }, id) =
            (path.parts, of(path));
        let given =
            [("cov", coverage), ("prop", propagation), ("ext", extraction), ("entry", entry), ("rel", relations)];
        case.close_by_id(&format!("parts of {id}"), given, parts[id]);
        case.close(&format!("S({id})"), path.score, &case.expected["score"][id]);
    }
    case.same_ids("E_q*", &paths.iter().map(of).collect::<Vec<_>>(), &case.expected["selected"]);
    Some(paths)
}

fn weights(case: &Case<'_>) -> EvidenceWeights {
    let weight = |name: &str| number(&case.params["weights"][name]);
    EvidenceWeights {
        coverage: weight("cov"),
        propagation: weight("prop"),
        extraction: weight("ext"),
        entry: weight("entry"),
        relations: weight("rel"),
    }
}

pub(crate) fn top_l(case: &Case<'_>) {
    let scores = by_id(&case.input["score"]);
    let (ids, scores): (Vec<&str>, Vec<f64>) = scores.into_iter().map(|(id, score)| (id, number(score))).unzip();
    let given: Vec<&str> = rank::top(&scores, whole(&case.params["top_l"])).into_iter().map(|at| ids[at]).collect();
    case.same_ids("Top_L", &given, &case.expected["selected"]);
}

pub(crate) fn fusion(case: &Case<'_>) {
    let paths = list(&case.input["paths"]);
    let mut paths: Vec<(&str, f64, Vec<&str>)> = paths
        .iter()
        .map(|path| (string(&path["hyperedge"]), number(&path["score"]), strings(&path["retained"])))
        .collect();
    paths.sort_by_key(|(id, ..)| *id);
    paths.iter_mut().for_each(|(_, _, retained)| retained.sort_unstable());
    fused(case, &paths);
}

/// The representatives with their scores, checked with the groups. Paths are by id.
fn fused<'a>(case: &Case<'_>, paths: &[(&'a str, f64, Vec<&str>)]) -> Vec<(&'a str, f64)> {
    let scores: Vec<f64> = paths.iter().map(|(_, score, _)| *score).collect();
    let retained: Vec<&[&str]> = paths.iter().map(|(.., retained)| retained.as_slice()).collect();
    let id = |&at: &usize| paths[at].0;
    case.same_ids(
        "order",
        &rank::top(&scores, scores.len()).iter().map(id).collect::<Vec<_>>(),
        &case.expected["order"],
    );
    let pairs = (0..paths.len()).flat_map(|a| (a + 1..paths.len()).map(move |b| (a, b)));
    let overlaps = pairs.map(|(a, b)| (id(&a), id(&b), jaccard(retained[a], retained[b])));
    case.close_matrix("J", overlaps, &case.expected["jaccard"]);
    let groups = kernel::fuse(&retained, &scores, case.param("tau"));
    let expected = list(&case.expected["groups"]);
    assert_eq!(groups.len(), expected.len(), "{}: {groups:?}", case.name);
    for (group, expected) in groups.iter().zip(expected) {
        case.same_ids("group", &group.iter().map(id).collect::<Vec<_>>(), expected);
    }
    let representatives: Vec<(&str, f64)> = groups.iter().map(|group| (id(&group[0]), scores[group[0]])).collect();
    let names: Vec<&str> = representatives.iter().map(|(id, _)| *id).collect();
    case.same_ids("representatives", &names, &case.expected["representatives"]);
    representatives
}

pub(crate) fn split(case: &Case<'_>) {
    let scores = by_id(&case.input["score"]);
    split_of(case, &scores.into_iter().map(|(id, score)| (id, number(score))).collect::<Vec<_>>());
}

/// Checks the two sets of paths given by id.
fn split_of(case: &Case<'_>, paths: &[(&str, f64)]) {
    let scores: Vec<f64> = paths.iter().map(|(_, score)| *score).collect();
    let split = kernel::split(&scores, case.param("theta_s"));
    let names = |paths_of: &[usize]| paths_of.iter().map(|&at| paths[at].0).collect::<Vec<_>>();
    case.close("S_max", split.highest, &case.expected["s_max"]);
    case.close("threshold", split.threshold, &case.expected["threshold"]);
    case.same_ids("P+", &names(&split.supporting), &case.expected["supporting"]);
    case.same_ids("P-", &names(&split.divergent), &case.expected["divergent"]);
}

pub(crate) fn chain(case: &Case<'_>) {
    chain_at_once(case);
    let (graph, s_hyp) = retrieved(case, "retrieved");
    let c = propagated(case, &graph, true);
    degrees(case, &graph);
    let s_hyp: Vec<f64> = graph.hyperedges().iter().map(|id| s_hyp[id]).collect();
    let Some(paths) = assembled(case, &graph, &c, &s_hyp) else { return };

    let expected = list(&case.expected["paths"]);
    assert_eq!(paths.len(), expected.len(), "{}: paths", case.name);
    let mut by_id: Vec<(&str, f64, Vec<&str>)> = Vec::new();
    for (path, expected) in paths.iter().zip(expected) {
        let id = graph.hyperedges()[path.hyperedge as usize];
        let retained = named(graph.entities(), &path.retained);
        assert_eq!(id, string(&expected["hyperedge"]), "{}", case.name);
        case.same_ids("retained of a path", &retained, &expected["retained"]);
        case.close("score of a path", path.score, &expected["score"]);
        case.close("gamma of a path", path.parts.extraction, &expected["gamma"]);
        by_id.push((id, path.score, retained));
    }
    by_id.sort_by_key(|(id, ..)| *id);
    let mut representatives = fused(case, &by_id);
    representatives.sort_by_key(|(id, _)| *id);
    split_of(case, &representatives);
}

/// The same by the one kernel that does all steps.
fn chain_at_once(case: &Case<'_>) {
    let graph = hypergraph(case);
    let settings = ChainSettings {
        synonym_cosine: 1.0,
        nearest_entities: 0,
        hops: whole(&case.params["hops"]),
        beta: case.param("beta"),
        hyperedges: whole(&case.params["k_h"]),
        alpha: case.param("alpha"),
        lambda: case.param("lambda"),
        steps: whole(&case.params["steps"]),
        retained: case.param("theta_v"),
        weights: weights(case),
        paths: whole(&case.params["top_l"]),
        overlap: case.param("tau"),
        supporting: case.param("theta_s"),
        segments: 6,
        epsilon: case.param("epsilon"),
        lift: Lift::default(),
    };
    let name = |hyperedge: u32| graph.hyperedges()[hyperedge as usize];
    let confidences = |id: &&str| list(&case.input["relations"][id]).iter().map(|it| number(&it[2])).collect();
    let relations: Vec<Vec<f64>> = graph.hyperedges().iter().map(confidences).collect();
    let extraction =
        |at: u32| Extraction { confidence: number(&case.input["gamma"][name(at)]), relations: &relations[at as usize] };
    let found = kernel::chain(
        &Surroundings {
            graph: &graph,
            entry: &graph.entities_among(&strings(&case.input["entry"])),
            carries: &|_| true,
            relevance: &|at| number(&case.input["s_rel"][name(at)]),
            degree: &|_| 1,
            similarity: &|at| case.input["s_vec"][graph.entities()[at as usize]].as_f64().unwrap_or(0.0),
            extraction: &extraction,
            in_conflict: &|_| false,
        },
        &settings,
    );
    confidence(case, &found.graph, &found.confidence);
    let id = |path: &EvidencePath| found.graph.hyperedges()[path.hyperedge as usize];
    if case.expected["fallback"] == true {
        let ranking = found.ranking();
        let given = named(found.graph.hyperedges(), &ranking[..ranking.len().min(settings.paths)]);
        case.same_ids("fallback", &given, &case.expected["fallback_ranking"]);
        assert!(found.paths().is_empty() && found.groups.is_empty(), "{}", case.name);
        return;
    }
    case.same_ids("E_q*", &found.paths().iter().map(id).collect::<Vec<_>>(), &case.expected["selected"]);
    for path in found.paths() {
        case.close("S(e)", path.score, &case.expected["score"][id(path)]);
    }
    let groups = list(&case.expected["groups"]);
    assert_eq!(found.groups.len(), groups.len(), "{}: groups", case.name);
    for (group, expected) in found.groups.iter().zip(groups) {
        case.same_ids("group", &group.iter().map(|&at| id(&found.paths()[at])).collect::<Vec<_>>(), expected);
    }
    let named = |of: &[usize]| of.iter().map(|&group| id(found.representative(group))).collect::<Vec<_>>();
    case.same_ids("P+", &named(&found.split.supporting), &case.expected["supporting"]);
    case.same_ids("P-", &named(&found.split.divergent), &case.expected["divergent"]);
}
