//! Reasoning over a series of products: where a threshold is first reached, where the class changes, where the extreme lies.
//!
//! The evidence for "first at" is the product before and the one at which it holds, so that a reader sees the change.

use std::collections::{BTreeMap, HashMap};

use hypercane_schemas::{ContentHash, EntityKey, Fixed};
use jiff::Timestamp;

use super::{
    super::Offered,
    Links, Threshold,
    score::{ProductOf, product_of},
};
use crate::domain::{Crossing, Questions};

/// One product of a series with what it says.
#[derive(Clone, Debug)]
struct Issue {
    product: EntityKey,
    /// Present values by attribute; of a forecast the most extreme over its points.
    now: BTreeMap<String, Fixed>,
    forecast: BTreeMap<String, Fixed>,
    status: Option<String>,
    changes: String,
}

/// The full products of one storm and kind, in order of issue.
fn series(
    links: &Links,
    candidates: &[Offered<'_>],
    storm: &[EntityKey],
    kind: &str,
    questions: &Questions,
) -> Vec<Issue> {
    let counts = |n: u16| links.since.is_none_or(|since| n >= since) && links.until.is_none_or(|until| n <= until);
    let is_full = |product: &ProductOf<'_>| product.number.is_some_and(|n| n.letter.is_none() && counts(n.number));
    let mut products: HashMap<ContentHash, Option<ProductOf<'_>>> = HashMap::new();
    let mut issues: BTreeMap<(Timestamp, EntityKey), Issue> = BTreeMap::new();
    for Offered { edge, shelf, .. } in candidates {
        let product = products
            .entry(*shelf)
            .or_insert_with(|| product_of(edge).filter(|product| product.kind == kind && is_full(product)));
        let (Some(product), Some(issued)) = (product, edge.issued_at) else { continue };
        let of_storm = edge.members.iter().any(|m| storm.contains(&m.entity));
        let early = links.as_of.is_none_or(|as_of| issued <= as_of);
        if !of_storm || !early {
            continue;
        }
        let issue = issues.entry((issued, product.key.clone())).or_insert_with(|| Issue {
            product: product.key.clone(),
            now: BTreeMap::new(),
            forecast: BTreeMap::new(),
            status: None,
            changes: String::new(),
        });
        let is_forecast = edge.valid_at.is_some_and(|at| at > issued);
        let is_state = questions.roles.state == Some(edge.base_family);
        for attribute in &edge.attributes {
            let Some(number) = attribute.value.number else {
                if attribute.name == "status" && !is_forecast && is_state {
                    issue.status.get_or_insert_with(|| attribute.value.given.clone());
                }
                continue;
            };
            let values = if is_forecast { &mut issue.forecast } else { &mut issue.now };
            if !is_forecast && !is_state {
                continue;
            }
            let least = questions.measure(&attribute.name).is_some_and(|m| m.extreme == Some(Crossing::Down));
            values
                .entry(attribute.name.clone())
                .and_modify(|v| *v = if least { (*v).min(number) } else { (*v).max(number) })
                .or_insert(number);
        }
        if questions.roles.warnings == Some(edge.base_family) && edge.attributes.iter().any(|a| a.name == "change") {
            issue.changes.push_str(&edge.text);
            issue.changes.push(' ');
        }
    }
    issues.into_values().collect()
}

fn holds(threshold: &Threshold, value: Fixed) -> bool {
    match threshold.crossing {
        // Half a unit of slack: miles an hour do not convert to whole knots.
        Crossing::Up => value.0 + Fixed::SCALE / 2 >= threshold.value.0,
        Crossing::Down => value.0 - Fixed::SCALE / 2 <= threshold.value.0,
    }
}

impl Links {
    /// Whether the question is about a series as a whole and not about products that it names.
    pub fn intends_series(&self) -> bool {
        let intent = self.cues.intent;
        self.numbers.is_empty() && (intent.first || intent.sequence || intent.extreme || intent.change)
    }

    /// Products that bear on a question about order, with the weight of each, by reasoning over the series of each storm.
    pub(super) fn key_products(&self, candidates: &[Offered<'_>], questions: &Questions) -> BTreeMap<EntityKey, i64> {
        let mut keys = BTreeMap::new();
        if !self.intends_series() || self.about_ports {
            return keys;
        }
        let about_changes = questions.roles.warnings.is_some_and(|family| self.cues.families.contains(&family));
        let of_series = &questions.series;
        let kinds: &[String] = match (about_changes, self.kinds.as_slice()) {
            (true, _) => &of_series.warnings,
            // The first kind is the one that is followed anyway.
            (_, [one]) if of_series.kinds.iter().skip(1).any(|kind| kind == one) => &self.kinds,
            _ => &of_series.kinds,
        };
        for storm in &self.storms {
            let mut all = kinds.iter().map(|kind| series(self, candidates, &storm.keys, kind, questions));
            let found = all.find(|issues| issues.len() > 1);
            let Some(issues) = found else { continue };
            self.weigh(&issues, about_changes, questions, &mut keys);
        }
        keys
    }

    fn weigh(&self, issues: &[Issue], about_changes: bool, questions: &Questions, keys: &mut BTreeMap<EntityKey, i64>) {
        let mut add = |at: usize, weight: i64| {
            if let Some(issue) = issues.get(at) {
                let held = keys.entry(issue.product.clone()).or_insert(0);
                *held = (*held).max(weight);
            }
        };
        let intent = self.cues.intent;
        if about_changes {
            let hits = |issue: &Issue| {
                let text = super::words::plain(&issue.changes);
                let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
                self.words.iter().filter(|w| words.contains(&w.as_str())).count() as i64
            };
            for (at, issue) in issues.iter().enumerate() {
                let n = hits(issue);
                if n > 0 {
                    add(at, 20 * n);
                    if let Some(before) = at.checked_sub(1) {
                        add(before, 20 * n - 5);
                    }
                }
            }
            return;
        }
        // A named moment or horizon says which products; the series only ranks what is left.
        if !self.moments.is_empty() || !self.horizons.is_empty() {
            return;
        }
        let reached = |test: &dyn Fn(&Issue) -> bool| issues.iter().position(test);
        if intent.first || intent.change {
            for threshold in &self.cues.thresholds {
                let values = |issue: &Issue| {
                    let is_forecast = questions.measure(&threshold.attribute).is_some_and(|m| m.forecast);
                    let forecast = intent.forecast && is_forecast;
                    let from = if forecast { &issue.forecast } else { &issue.now };
                    from.get(&threshold.attribute).copied()
                };
                if let Some(at) = reached(&|issue| values(issue).is_some_and(|v| holds(threshold, v))) {
                    add(at, 200);
                    if let Some(before) = at.checked_sub(1) {
                        add(before, 190);
                    }
                }
            }
            for class in &self.cues.classes {
                let is = |issue: &Issue| issue.status.as_ref().is_some_and(|s| s.eq_ignore_ascii_case(class));
                let entered =
                    issues.iter().enumerate().filter(|(at, issue)| is(issue) && (*at == 0 || !is(&issues[at - 1])));
                for (n, (at, _)) in entered.enumerate() {
                    let weight = if n == 0 { 200 } else { 120 };
                    add(at, weight);
                    if let Some(before) = at.checked_sub(1) {
                        add(before, weight - 10);
                    }
                }
            }
        }
        let about_status = self.cues.attributes.iter().any(|a| a == "status") || !self.cues.classes.is_empty();
        if about_status && (intent.sequence || intent.change || intent.first) && self.cues.thresholds.is_empty() {
            let mut last: Option<&String> = None;
            for (at, issue) in issues.iter().enumerate() {
                if issue.status.as_ref() != last {
                    add(at, 150);
                    if let Some(before) = at.checked_sub(1) {
                        add(before, 60);
                    }
                    last = issue.status.as_ref();
                }
            }
        }
        if intent.extreme || intent.sequence || intent.change {
            let extremes = questions.measures.iter().filter_map(|m| Some((m.attribute.as_str(), m.extreme?)));
            for (nth, (attribute, crossing)) in extremes.enumerate() {
                // Without a word for what, the first is meant.
                let asked = self.cues.attributes.iter().any(|a| a == attribute) || (nth == 0 && intent.extreme);
                if asked && intent.extreme {
                    let values = issues.iter().enumerate().filter_map(|(at, i)| Some((at, *i.now.get(attribute)?)));
                    let best = match crossing {
                        Crossing::Up => values.max_by_key(|(at, v)| (*v, std::cmp::Reverse(*at))),
                        Crossing::Down => values.min_by_key(|(at, v)| (*v, *at)),
                    };
                    if let Some((at, _)) = best {
                        add(at, 180);
                    }
                }
            }
        }
    }
}
