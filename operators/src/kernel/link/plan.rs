//! Which documents a question should be answered from, and which of their facts: what fits the links, balanced over the
//! several advisories, places and times that it names.

use std::collections::HashMap;

use hypercane_schemas::{ContentHash, EntityKey};
use jiff::Timestamp;

use super::{super::Offered, Links, score::shelf_of};
use crate::domain::Questions;

/// The facts of one product (or of one document, where it is no product) that fit, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelf {
    /// The product, or the document's key.
    pub product: String,
    /// When it was issued.
    pub issued_at: Option<Timestamp>,
    /// How much it is wanted.
    pub weight: i64,
    /// Places of its facts in the list that was given, best first.
    pub edges: Vec<usize>,
    /// The points of those facts.
    pub scores: Vec<i64>,
}

/// The shelves of a question, most wanted first.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Plan {
    /// The shelves.
    pub shelves: Vec<Shelf>,
}

impl Links {
    /// Sorts the candidates into shelves by their points; cosine ranks among equals.
    pub fn plan(&self, candidates: &[Offered<'_>], questions: &Questions) -> Plan {
        let key_products = self.key_products(candidates, questions);
        let mut places: HashMap<ContentHash, usize> = HashMap::new();
        let mut shelves: Vec<Shelf> = Vec::new();
        for (at, Offered { edge, shelf, points, .. }) in candidates.iter().enumerate() {
            let place = *places.entry(*shelf).or_insert_with(|| {
                shelves.push(Shelf {
                    product: shelf_of(edge).to_owned(),
                    issued_at: edge.issued_at,
                    weight: 0,
                    edges: Vec::new(),
                    scores: Vec::new(),
                });
                shelves.len() - 1
            });
            let shelf = &mut shelves[place];
            shelf.edges.push(at);
            shelf.scores.push(*points);
        }
        // The order of the candidates must not decide between equals.
        shelves.sort_by(|a, b| a.product.cmp(&b.product));
        for shelf in &mut shelves {
            let mut order: Vec<usize> = (0..shelf.edges.len()).collect();
            order.sort_by(|&a, &b| {
                let of = |i: usize| &candidates[shelf.edges[i]];
                shelf.scores[b]
                    .cmp(&shelf.scores[a])
                    .then(of(b).relevance.total_cmp(&of(a).relevance))
                    .then(of(a).edge.id.cmp(&of(b).edge.id))
            });
            shelf.edges = order.iter().map(|&i| shelf.edges[i]).collect();
            shelf.scores = order.iter().map(|&i| shelf.scores[i]).collect();
            shelf.weight = shelf.scores.first().copied().unwrap_or(0);
            shelf.weight += key_products.get(&EntityKey(shelf.product.clone())).copied().unwrap_or(0);
        }
        self.weigh_by_time(&mut shelves, candidates, questions);
        self.sort(&mut shelves, questions);
        Plan { shelves }
    }

    /// The last product up to a moment that no product was issued at counts almost as if it had been issued then.
    fn weigh_by_time(&self, shelves: &mut [Shelf], candidates: &[Offered<'_>], questions: &Questions) {
        if !self.numbers.is_empty() || self.moments.is_empty() {
            return;
        }
        let about_ports = self.about_ports;
        let prompt = questions.products.iter().filter(|product| product.prompt).map(|product| product.kind.as_str());
        let kinds: Vec<&str> = if about_ports { vec![""] } else { prompt.collect() };
        for moment in &self.moments {
            for kind in &kinds {
                let of_kind = |s: &Shelf| about_ports || s.product.starts_with(kind);
                let exact = shelves.iter().any(|s| of_kind(s) && s.issued_at == Some(*moment));
                if exact && !about_ports {
                    continue;
                }
                let fits = |s: &Shelf| {
                    let place = self.places.is_empty() || s.scores.first().is_some_and(|w| *w >= 30);
                    of_kind(s) && s.issued_at.is_some_and(|t| t <= *moment) && (!about_ports || place)
                };
                let last = shelves.iter_mut().filter(|s| fits(s)).max_by_key(|s| s.issued_at);
                if let Some(last) = last {
                    let port =
                        last.edges.first().is_some_and(|e| questions.is_operation(candidates[*e].edge.base_family));
                    last.weight += if port { 10 } else { 20 };
                }
            }
        }
    }

    /// Most wanted first; among equals the ends of a range first, then newest first where the newest state is asked
    /// for, else oldest first.
    fn sort(&self, shelves: &mut [Shelf], questions: &Questions) {
        let current = self.cues.families.iter().any(|family| questions.roles.newest_first.contains(family));
        let newest = self.cues.intent.latest || current || self.cues.intent.forecast;
        shelves.sort_by(|a, b| {
            let time = if newest { b.issued_at.cmp(&a.issued_at) } else { a.issued_at.cmp(&b.issued_at) };
            b.weight.cmp(&a.weight).then(time).then(a.product.cmp(&b.product))
        });
    }
}
