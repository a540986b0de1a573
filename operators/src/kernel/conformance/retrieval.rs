//! Cases of sections 3.2, A.6 and A.7: scoring terms, searches and candidates.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::Fixed;
use serde_json::Value;

use super::construction::precedes_among;
use super::{Case, family, list, number, numbers, string, strings, vectors, whole};
use crate::kernel;
use crate::kernel::beam_search::search;
use crate::kernel::{BeamSettings, Bilinear, Matrix, Parts, ScopeSettings, Scoped, Trellis, Via, Weights};

/// Ids in the order given, and their indices.
struct Ids<'a> {
    names: Vec<&'a str>,
    index: BTreeMap<&'a str, usize>,
}

impl<'a> Ids<'a> {
    fn of(rows: &'a Value) -> Self {
        let names: Vec<&str> = list(rows).iter().map(|row| string(&row["id"])).collect();
        let index = names.iter().enumerate().map(|(at, &id)| (id, at)).collect();
        Self { names, index }
    }

    fn trajectory(&self, ids: &Value) -> Vec<usize> {
        strings(ids).into_iter().map(|id| self.index[id]).collect()
    }
}

/// Entity sets as sorted lists without repeats.
fn entity_sets(rows: &Value) -> Vec<Vec<&str>> {
    list(rows)
        .iter()
        .map(|row| strings(&row["entities"]).into_iter().collect::<BTreeSet<_>>().into_iter().collect())
        .collect()
}

fn overlaps(sets: &[Vec<&str>]) -> Matrix {
    kernel::overlaps(&sets.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Places in S of the families' phases.
fn covers(case: &Case<'_>, rows: &Value) -> (Vec<Option<u8>>, u32) {
    let phases = case.phase_names();
    let covered = strings(&case.params["S"]);
    let place = |row: &Value| {
        let phase = phases[&family(&row["family"])];
        covered.iter().position(|&name| name == phase).map(|at| at as u8)
    };
    (list(rows).iter().map(place).collect(), covered.len() as u32)
}

fn weights(case: &Case<'_>) -> Weights {
    let weight = |name: &str| number(&case.params["weights"][name]);
    Weights { lambda: weight("lambda"), mu: weight("mu"), nu: weight("nu"), rho: weight("rho") }
}

fn matrix(rows: &Value) -> Matrix {
    let rows = vectors(rows);
    Matrix::from_fn(rows.len(), |row, column| rows[row][column])
}

fn log_p(embeddings: &[Vec<f64>], u: &Value, v: &Value) -> Matrix {
    let embeddings: Vec<&[f64]> = embeddings.iter().map(Vec::as_slice).collect();
    let model = Bilinear::new(&vectors(u), &vectors(v), &embeddings);
    kernel::log_transition(&model, embeddings.len())
}

fn same_matrix(case: &Case<'_>, given: &Matrix, expected: &Value) {
    assert_eq!(given.size(), list(expected).len(), "{}", case.name);
    for (row, expected) in list(expected).iter().enumerate() {
        for (column, expected) in list(expected).iter().enumerate() {
            case.close("log P", given.get(row, column), expected);
        }
    }
}

fn same_parts(case: &Case<'_>, given: &Parts, expected: &Value) {
    case.close("rel", given.relevance, &expected["rel"]);
    case.close("trans", given.transition, &expected["trans"]);
    case.close("prec", given.precedence, &expected["prec"]);
    case.close("ovlp", given.overlap, &expected["ovlp"]);
    case.close("cov", given.coverage, &expected["cov"]);
    case.close("total", given.total, &expected["total"]);
}

pub(crate) fn rel(case: &Case<'_>) {
    let query = numbers(&case.input["query"]);
    let embeddings = vectors(&case.input["embeddings"]);
    let expected = list(&case.expected["rel"]);
    assert_eq!(embeddings.len(), expected.len(), "{}", case.name);
    for (embedding, expected) in embeddings.iter().zip(expected) {
        case.close("rel", kernel::relevance(embedding, &query), expected);
    }
}

pub(crate) fn trans(case: &Case<'_>) {
    let candidates = &case.input["candidates"];
    let ids = Ids::of(candidates);
    let embeddings: Vec<Vec<f64>> = list(candidates).iter().map(|row| numbers(&row["embedding"])).collect();
    let given = log_p(&embeddings, &case.input["U"], &case.input["V"]);
    same_matrix(case, &given, &case.expected["log_p"]);
    for (trajectory, expected) in list(&case.input["trajectories"]).iter().zip(list(&case.expected["trans"])) {
        case.close("trans", kernel::order_coherence(&given, &ids.trajectory(trajectory)), expected);
    }
}

pub(crate) fn prec(case: &Case<'_>) {
    let pairs: BTreeSet<(&str, &str)> =
        list(&case.input["precedes"]).iter().map(|pair| (string(&pair[0]), string(&pair[1]))).collect();
    for (trajectory, expected) in list(&case.input["trajectories"]).iter().zip(list(&case.expected["prec"])) {
        let trajectory = strings(trajectory);
        let precedes = |a: usize, b: usize| pairs.contains(&(trajectory[a], trajectory[b]));
        let steps: Vec<usize> = (0..trajectory.len()).collect();
        case.close("prec", kernel::precedence_consistency(precedes, &steps), expected);
    }
}

pub(crate) fn ovlp(case: &Case<'_>) {
    let ids = Ids::of(&case.input["entities"]);
    let sets = entity_sets(&case.input["entities"]);
    for (trajectory, expected) in list(&case.input["trajectories"]).iter().zip(list(&case.expected["ovlp"])) {
        let overlap = |a: usize, b: usize| kernel::jaccard(&sets[a], &sets[b]);
        case.close("ovlp", kernel::entity_continuity(overlap, &ids.trajectory(trajectory)), expected);
    }
}

pub(crate) fn cov(case: &Case<'_>) {
    let rows = &case.input["families"];
    let ids = Ids::of(rows);
    let (covers, n_covered) = covers(case, rows);
    let n = covers.len();
    let flat = || Matrix::from_fn(n, |_, _| 0.0);
    let trellis = Trellis::new(vec![0.0; n], flat(), |_, _| false, flat(), &covers, n_covered);
    for (trajectory, expected) in list(&case.input["trajectories"]).iter().zip(list(&case.expected["cov"])) {
        let parts = kernel::objective(&trellis, Weights::default(), &ids.trajectory(trajectory));
        case.close("cov", parts.coverage, expected);
    }
}

pub(crate) fn objective(case: &Case<'_>) {
    let rows = &case.input["hyperedges"];
    let ids = Ids::of(rows);
    let names = &ids.names;
    let query = numbers(&case.input["query"]);
    let embeddings: Vec<Vec<f64>> = list(rows).iter().map(|row| numbers(&row["embedding"])).collect();
    let pairs = precedes_among(&case.rules(), rows);
    let sets = entity_sets(rows);
    let (covers, n_covered) = covers(case, rows);
    let trellis = Trellis::new(
        embeddings.iter().map(|embedding| kernel::relevance(embedding, &query)).collect(),
        log_p(&embeddings, &case.input["U"], &case.input["V"]),
        |a, b| pairs.contains(&(names[a], names[b])),
        overlaps(&sets),
        &covers,
        n_covered,
    );
    let expected = list(&case.expected["parts"]);
    for (trajectory, expected) in list(&case.input["trajectories"]).iter().zip(expected) {
        same_parts(case, &kernel::objective(&trellis, weights(case), &ids.trajectory(trajectory)), expected);
    }
}

pub(crate) fn beam(case: &Case<'_>) {
    let rows = &case.input["candidates"];
    let ids = Ids::of(rows);
    let names = &ids.names;
    assert!(names.is_sorted(), "{}: equal scores go by index, so indices must be in the order of ids", case.name);
    let pairs: BTreeSet<(&str, &str)> =
        list(&case.input["precedes"]).iter().map(|pair| (string(&pair[0]), string(&pair[1]))).collect();
    if !case.input["embeddings"].is_null() {
        // The numbers that the case gives are those that the earlier steps would give.
        let query = numbers(&case.input["query"]);
        let embeddings = vectors(&case.input["embeddings"]);
        for (embedding, expected) in embeddings.iter().zip(list(&case.input["rel"])) {
            case.close("rel", kernel::relevance(embedding, &query), expected);
        }
        same_matrix(case, &log_p(&embeddings, &case.input["U"], &case.input["V"]), &case.input["log_p"]);
        assert_eq!(precedes_among(&case.rules(), rows), pairs, "{}", case.name);
    }
    let sets = entity_sets(rows);
    let (covers, n_covered) = covers(case, rows);
    let trellis = Trellis::new(
        numbers(&case.input["rel"]),
        matrix(&case.input["log_p"]),
        |a, b| pairs.contains(&(names[a], names[b])),
        overlaps(&sets),
        &covers,
        n_covered,
    );
    let settings = BeamSettings {
        width: whole(&case.params["B"]),
        length: whole(&case.params["L"]),
        trajectories: whole(&case.params["N"]),
        weights: weights(case),
        diversity_penalty: number(&case.params["diversity_penalty"]),
    };
    let named = |steps: &[usize]| -> Vec<&str> { steps.iter().map(|&at| names[at]).collect() };
    let mut levels = list(&case.expected["trace"]).iter();
    let given = search(&trellis, &settings, |beams| {
        let level = list(levels.next().unwrap_or_else(|| panic!("{}: a step too many", case.name)));
        assert_eq!(beams.len(), level.len(), "{}", case.name);
        for (beam, expected) in beams.iter().zip(level) {
            assert_eq!(named(&beam.steps), strings(&expected["ids"]), "{}", case.name);
            case.close("score", beam.score, &expected["score"]);
        }
    });
    assert!(levels.next().is_none(), "{}: a step too few", case.name);
    let expected = list(&case.expected["top"]);
    assert_eq!(given.len(), expected.len(), "{}", case.name);
    for (trajectory, expected) in given.iter().zip(expected) {
        assert_eq!(named(&trajectory.steps), strings(&expected["ids"]), "{}", case.name);
        case.close("score", trajectory.score, &expected["score"]);
        same_parts(case, &trajectory.parts, &expected["parts"]);
    }
    // A beam that keeps everything finds the best of all sequences.
    let wide = BeamSettings { width: 1 << 20, trajectories: 1, ..settings };
    let best = &kernel::beam_search(&trellis, &wide)[0];
    let expected = &case.expected["exhaustive_best"];
    assert_eq!(named(&best.steps), strings(&expected["ids"]), "{}", case.name);
    case.close("best score", best.score, &expected["score"]);
}

pub(crate) fn viterbi(case: &Case<'_>) {
    let relevance = numbers(&case.input["rel"]);
    let given = kernel::viterbi(
        &relevance,
        &matrix(&case.input["log_p"]),
        number(&case.params["lambda"]),
        whole(&case.params["L"]),
    );
    let given = given.unwrap_or_else(|| panic!("{}: no path", case.name));
    let expected = list(&case.expected["dp"]);
    assert_eq!(given.dp.len(), expected.len(), "{}", case.name);
    for (given, expected) in given.dp.iter().zip(expected) {
        for (&given, expected) in given.iter().zip(list(expected)) {
            case.close("dp", given, expected);
        }
    }
    let path: Vec<usize> = list(&case.expected["path"]).iter().map(whole).collect();
    assert_eq!(given.path, path, "{}", case.name);
    case.close("score", given.score, &case.expected["score"]);
}

pub(crate) fn scope(case: &Case<'_>) {
    let rows = list(&case.input["hyperedges"]);
    // Ids in code-point order, whatever the order in which the case lists them.
    let mut rows: Vec<&Value> = rows.iter().collect();
    rows.sort_by_key(|row| string(&row["id"]));
    let mut numbering: BTreeMap<&str, u32> = BTreeMap::new();
    let mut number_of = |name| {
        let next = numbering.len() as u32;
        *numbering.entry(name).or_insert(next)
    };
    let entities: Vec<Vec<u32>> = rows
        .iter()
        .map(|row| {
            strings(&row["entities"]).into_iter().filter(|key| !kernel::is_anchor(key)).map(&mut number_of).collect()
        })
        .collect();
    let mut groups: BTreeMap<&str, u32> = BTreeMap::new();
    let mut group_of = |name| {
        let next = groups.len() as u32;
        *groups.entry(name).or_insert(next)
    };
    let pool: Vec<Scoped<'_>> = rows
        .iter()
        .zip(&entities)
        .map(|(row, entities)| Scoped {
            relevance: number(&row["cosine"]),
            group: group_of(string(&row["group"])),
            entities,
        })
        .collect();
    let own_group = case.input["query_group"].as_str().map(&mut group_of);
    let settings = ScopeSettings {
        seeds: whole(&case.params["K"]),
        candidates: whole(&case.params["cap"]),
        own_group_share: Fixed::from_f64(number(&case.params["reserved_share"])),
    };
    let given = kernel::scope(&pool, own_group, &settings);
    let id = |at: usize| string(&rows[at]["id"]);
    let seeds: Vec<&str> = given.seeds.iter().map(|&at| id(at)).collect();
    assert_eq!(seeds, strings(&case.expected["seeds"]), "{}: seeds", case.name);
    let via = |via| match via {
        Via::Reserved => "reserved",
        Via::Seed => "seed",
        Via::Expansion => "expansion",
    };
    let order: Vec<(&str, &str)> = given.candidates.iter().map(|&(at, how)| (id(at), via(how))).collect();
    let expected: Vec<(&str, &str)> =
        list(&case.expected["order"]).iter().map(|row| (string(&row["id"]), string(&row["via"]))).collect();
    assert_eq!(order, expected, "{}: order", case.name);
    let candidates: BTreeSet<&str> = order.into_iter().map(|(id, _)| id).collect();
    assert_eq!(candidates, strings(&case.expected["candidates"]).into_iter().collect(), "{}: set", case.name);
}
