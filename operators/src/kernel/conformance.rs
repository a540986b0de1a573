//! Runs the conformance vectors (`tests/conformance`) against the kernels.
//!
//! Numbers agree to 1e-9; orders, sets and texts exactly. Every case runs but those named here, which are counted; a kind
//! that is not known fails.

mod construction;
mod hyce;
mod hyperprove;
mod retrieval;

use std::collections::BTreeMap;

use serde_json::Value;

use super::precedence::{CausalRule, PrecedenceRules};

/// OKH-RAG. Cases of kind `train` need a trainable model.
#[test]
fn kernel_conformance_okh() {
    let check_of = |kind: &str| -> Option<Check> {
        Some(match kind {
            "split_horizons" => construction::split_horizons,
            "normalise_relation" => construction::normalise_relation,
            "inject_horizons" => construction::inject_horizons,
            "synthesize_changes" => construction::synthesize_changes,
            "dedupe" => construction::dedupe,
            "precedence" => construction::precedence,
            "canonical_order" => construction::canonical_order,
            "evidence" => construction::evidence,
            "rel" => retrieval::rel,
            "trans" => retrieval::trans,
            "prec" => retrieval::prec,
            "ovlp" => retrieval::ovlp,
            "cov" => retrieval::cov,
            "objective" => retrieval::objective,
            "beam" => retrieval::beam,
            "viterbi" => retrieval::viterbi,
            "scope" => retrieval::scope,
            _ => return None,
        })
    };
    assert_eq!(run("okh.json", check_of, |name| name.starts_with("train/")), (134, 8));
}

/// HyCE-RAG.
#[test]
fn kernel_conformance_hyce() {
    let check_of = |kind: &str| -> Option<Check> {
        Some(match kind {
            "retrieval" => hyce::retrieval,
            "restart" => hyce::restart,
            "transition" => hyce::transition,
            "propagation" => hyce::propagation,
            "fixed_point" => hyce::fixed_point,
            "hyperedge_confidence" => hyce::hyperedge_confidence,
            "isolated" => hyce::isolated,
            "evidence" => hyce::evidence,
            "top_l" => hyce::top_l,
            "fusion" => hyce::fusion,
            "split" => hyce::split,
            "chain" => hyce::chain,
            _ => return None,
        })
    };
    assert_eq!(run("hyce.json", check_of, |_| false), (127, 0));
}

/// HyperProve. Names are synonyms strictly above eta, as the paper's word is; the case left out has the other reading.
#[test]
fn kernel_conformance_hyperprove() {
    let check_of = |kind: &str| -> Option<Check> {
        Some(match kind {
            "synonyms" => hyperprove::synonyms,
            "structure" => hyperprove::structure,
            "local" => hyperprove::local_walk,
            "neighbours" => hyperprove::neighbours,
            "bfs" => hyperprove::bfs,
            "score" => hyperprove::score,
            "two_hop" => hyperprove::two_hop,
            _ => return None,
        })
    };
    assert_eq!(run("hyperprove.json", check_of, |name| name == "synonyms/edge_at_eta_inclusive"), (69, 1));
}

type Check = fn(&Case<'_>);

/// Runs the cases of a file, but for those left out; counts both.
fn run(file: &str, check_of: impl Fn(&str) -> Option<Check>, left_out: impl Fn(&str) -> bool) -> (usize, usize) {
    let path = format!("{}/../tests/conformance/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the vectors are part of the repository");
    let vectors: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    let (mut n_run, mut n_left_out) = (0, 0);
    for case in list(&vectors["cases"]) {
        let name = string(&case["name"]);
        if left_out(name) {
            n_left_out += 1;
            continue;
        }
        let (kind, _) = name.split_once('/').expect("a name is kind/case");
        let check = check_of(kind).unwrap_or_else(|| panic!("{name}: no check for this kind"));
        check(&Case { name, params: &case["params"], input: &case["input"], expected: &case["expected"] });
        n_run += 1;
    }
    (n_run, n_left_out)
}

/// One case.
pub(crate) struct Case<'a> {
    name: &'a str,
    params: &'a Value,
    input: &'a Value,
    expected: &'a Value,
}

impl Case<'_> {
    /// Asserts that a number is the expected one.
    fn close(&self, what: &str, given: f64, expected: &Value) {
        let expected = number(expected);
        assert!((given - expected).abs() <= 1e-9, "{}: {what} is {given}, not {expected}", self.name);
    }

    /// Asserts that numbers by id are the expected ones, with no id more or less.
    fn close_by_id<'b>(&self, what: &str, given: impl IntoIterator<Item = (&'b str, f64)>, expected: &Value) {
        let given: BTreeMap<&str, f64> = given.into_iter().collect();
        let expected = by_id(expected);
        assert!(given.keys().eq(expected.keys()), "{}: {what} is of {given:?}, not {expected:?}", self.name);
        for (id, expected) in expected {
            self.close(&format!("{what} of {id}"), given[id], expected);
        }
    }

    /// Asserts that the entries of a matrix that are not 0 are the expected ones.
    fn close_matrix<'b>(&self, what: &str, given: impl IntoIterator<Item = (&'b str, &'b str, f64)>, expected: &Value) {
        let given: BTreeMap<(&str, &str), f64> =
            given.into_iter().map(|(row, column, value)| ((row, column), value)).collect();
        let expected: BTreeMap<(&str, &str), &Value> =
            list(expected).iter().map(|entry| ((string(&entry[0]), string(&entry[1])), &entry[2])).collect();
        assert!(given.keys().eq(expected.keys()), "{}: {what} is {given:?}, not {expected:?}", self.name);
        for (at, expected) in expected {
            self.close(&format!("{what} at {at:?}"), given[&at], expected);
        }
    }

    /// Asserts that ids are the expected ones, in this order.
    fn same_ids(&self, what: &str, given: &[&str], expected: &Value) {
        assert_eq!(given, strings(expected), "{}: {what}", self.name);
    }

    /// A parameter that is a number.
    fn param(&self, name: &str) -> f64 {
        number(&self.params[name])
    }

    /// The rules that a case brings.
    fn rules(&self) -> PrecedenceRules {
        let families = |value: &Value| list(value).iter().map(family).collect();
        let rule = |chain: &Value| CausalRule {
            name: string(&chain["name"]).into(),
            before: families(&chain["before"]),
            after: families(&chain["after"]),
        };
        let rules = PrecedenceRules {
            phases: list(&self.params["phases"])
                .iter()
                .map(|phase| (family(&phase["family"]), family(&phase["phase_rank"])))
                .collect(),
            change_family: Some(13),
            causal: list(&self.params["causal_chain"]).iter().map(rule).collect(),
        };
        assert_eq!(rules.validate(), Ok(()), "{}", self.name);
        rules
    }

    /// Name of each family's phase.
    fn phase_names(&self) -> BTreeMap<u8, &str> {
        list(&self.params["phases"]).iter().map(|phase| (family(&phase["family"]), string(&phase["phase"]))).collect()
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} should be a list"))
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} should be a string"))
}

fn strings(value: &Value) -> Vec<&str> {
    list(value).iter().map(string).collect()
}

/// Values by id.
fn by_id(value: &Value) -> BTreeMap<&str, &Value> {
    let values = value.as_object().unwrap_or_else(|| panic!("{value} should have ids as keys"));
    values.iter().map(|(id, value)| (id.as_str(), value)).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} should be a number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

fn vectors(value: &Value) -> Vec<Vec<f64>> {
    list(value).iter().map(numbers).collect()
}

fn whole(value: &Value) -> usize {
    value.as_u64().unwrap_or_else(|| panic!("{value} should be a whole number")) as usize
}

fn family(value: &Value) -> u8 {
    u8::try_from(whole(value)).expect("families and phases are few")
}

fn horizon(value: &Value) -> Option<i32> {
    value.as_i64().map(|hours| i32::try_from(hours).expect("horizons are small"))
}
