//! Runs the conformance vectors for OKH-RAG (`tests/conformance/okh.json`) against the kernels.
//!
//! Numbers agree to 1e-9; orders, sets and texts exactly. Cases of kind `train` need a trainable model and are counted
//! but not run; a kind that is not known fails.

mod construction;
mod retrieval;

use std::collections::BTreeMap;

use serde_json::Value;

use super::precedence::{CausalRule, PrecedenceRules};

/// Runs every case and counts them by kind.
#[test]
fn kernel_conformance() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/conformance/okh.json");
    let text = std::fs::read_to_string(path).expect("the vectors are part of the repository");
    let vectors: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    let (mut run, mut left_out) = (0, 0);
    for case in list(&vectors["cases"]) {
        let name = string(&case["name"]);
        let (kind, _) = name.split_once('/').expect("a name is kind/case");
        let case = Case { name, params: &case["params"], input: &case["input"], expected: &case["expected"] };
        let check = match kind {
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
            "train" => {
                left_out += 1;
                continue;
            }
            _ => panic!("{name}: no check for this kind"),
        };
        check(&case);
        run += 1;
    }
    assert_eq!((run, left_out), (134, 8));
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
