//! The join against the plain definition: all pairs, whatever the blocks, the shares and the order.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{Category, Diff, EntityKey, Vector};
use proptest::prelude::*;

use super::{CosineJoin, EntityName, NameVector, may_link};
use crate::{kernel::relevance, shared::Shared};

/// A name made of letters alone, so that no guard keeps it apart.
fn named(number: usize, category: Category, vector: &[f32]) -> Shared<NameVector> {
    let letters: String = number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'k')).collect();
    let name = EntityName { entity: EntityKey(format!("x:{number:06}")), name: format!("Name {letters}"), category };
    Shared::new(NameVector { name: Shared::new(name), vector: Vector(vector.into()) })
}

type Links = BTreeMap<(EntityKey, EntityKey, u64), Diff>;

fn ordered(a: &NameVector, b: &NameVector, cosine: f64) -> (EntityKey, EntityKey, u64) {
    let (a, b) = (a.name.entity.clone(), b.name.entity.clone());
    if a < b { (a, b, cosine.to_bits()) } else { (b, a, cosine.to_bits()) }
}

fn all_pairs(rows: &[Shared<NameVector>], eta: f64) -> Links {
    let mut links = Links::new();
    for (at, a) in rows.iter().enumerate() {
        for b in &rows[at + 1..] {
            if a.vector.0.len() != b.vector.0.len() {
                continue;
            }
            let cosine = relevance(&a.vector.0, &b.vector.0);
            if cosine > eta && may_link(&a.name, &b.name) {
                *links.entry(ordered(a, b, cosine)).or_default() += 1;
            }
        }
    }
    links
}

/// Applies changes on so many shares, and adds the links up.
fn apply(shares: &mut [CosineJoin], changes: &[(Shared<NameVector>, Diff)], links: &mut Links) {
    let n_shares = shares.len();
    for (idx, share) in shares.iter_mut().enumerate() {
        let owns =
            |row: &Shared<NameVector>| row.name.entity.0.bytes().map(usize::from).sum::<usize>() % n_shares == idx;
        share.apply(changes.to_vec(), owns, |a, b, cosine, diff| {
            *links.entry(ordered(a, b, cosine)).or_default() += diff;
        });
    }
    links.retain(|_, count| *count != 0);
}

/// Vectors of small whole numbers: many pairs have equal cosines, and some the threshold itself.
fn small_vector(state: &mut u64, n_components: usize) -> Vec<f32> {
    let mut next = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 40) as f32 % 7.0 - 3.0
    };
    (0..n_components).map(|_| next()).collect()
}

#[test]
fn names_over_several_blocks_and_panels_give_all_pairs() {
    let mut state = 5;
    let rows: Vec<_> =
        (0..2600).map(|number| named(number, Category::Persistent, &small_vector(&mut state, 5))).collect();
    for n_shares in [1, 3] {
        let mut shares: Vec<CosineJoin> = (0..n_shares).map(|_| CosineJoin::new(0.95)).collect();
        let mut links = Links::new();
        // One by one, a few, and many.
        for (from, to) in [(0, 1), (1, 4), (4, 40), (40, 1300), (1300, 2600)] {
            let changes: Vec<_> = rows[from..to].iter().map(|row| (row.clone(), 1)).collect();
            apply(&mut shares, &changes, &mut links);
        }
        let wanted = all_pairs(&rows, 0.95);
        assert!(wanted.len() > 5_000, "{} links", wanted.len());
        assert!(links == wanted, "{} links on {n_shares} shares, {} by the definition", links.len(), wanted.len());
        // What goes takes its links with it: every third first, then the rest.
        let (third, rest): (Vec<_>, Vec<_>) = rows.iter().cloned().enumerate().partition(|(at, _)| at % 3 == 0);
        let gone: Vec<_> = third.into_iter().map(|(_, row)| (row, -1)).collect();
        apply(&mut shares, &gone, &mut links);
        let rest: Vec<_> = rest.into_iter().map(|(_, row)| row).collect();
        assert!(links == all_pairs(&rest, 0.95), "after a third went on {n_shares} shares");
        let gone: Vec<_> = rest.into_iter().map(|row| (row, -1)).collect();
        apply(&mut shares, &gone, &mut links);
        assert_eq!(links, Links::new());
        assert_eq!(shares.iter().map(CosineJoin::block_bytes).sum::<usize>(), 0);
    }
}

#[test]
fn a_cosine_of_eta_is_no_link_and_the_next_number_is_one() {
    let rows = [named(0, Category::Concept, &[5.0, 0.0]), named(1, Category::Concept, &[4.0, 3.0])];
    let linked = |eta: f64| {
        let (mut links, mut shares) = (Links::new(), [CosineJoin::new(eta)]);
        apply(&mut shares, &rows.clone().map(|row| (row, 1)), &mut links);
        links.len()
    };
    assert_eq!(relevance(&rows[0].vector.0, &rows[1].vector.0), 0.8);
    assert_eq!((linked(0.8), linked(0.8_f64.next_down())), (0, 1));
}

#[test]
fn vectors_without_direction_or_of_other_length_link_nothing() {
    let odd: [&[f32]; 7] =
        [&[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[1.0], &[], &[1.0, 0.0], &[1e-30, 0.0]];
    let rows: Vec<_> = odd.iter().enumerate().map(|(at, vector)| named(at, Category::Concept, vector)).collect();
    let (mut links, mut shares) = (Links::new(), [CosineJoin::new(0.8)]);
    let come: Vec<_> = rows.iter().map(|row| (row.clone(), 1)).collect();
    apply(&mut shares, &come, &mut links);
    assert_eq!(links, all_pairs(&rows, 0.8));
    assert_eq!(links.len(), 1, "the two that point the same way");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Random changes of few names with few vectors, in random batches, on one and on several shares.
    #[test]
    fn any_history_gives_all_pairs_of_what_stands(
        steps in prop::collection::vec((0..12_usize, 0..4_u64, any::<bool>(), any::<bool>()), 1..60),
        n_shares in 1..4_usize,
        eta in prop::sample::select(vec![0.5, 0.8, 0.95]),
    ) {
        let mut shares: Vec<CosineJoin> = (0..n_shares).map(|_| CosineJoin::new(eta)).collect();
        let (mut links, mut standing) = (Links::new(), BTreeSet::new());
        let mut batch: BTreeMap<Shared<NameVector>, Diff> = BTreeMap::new();
        for (number, turn, is_concept, ends) in steps {
            let category = if is_concept { Category::Concept } else { Category::Persistent };
            let mut state = turn;
            let row = named(number, category, &small_vector(&mut state, 3));
            let goes = standing.contains(&row);
            if goes { standing.remove(&row) } else { standing.insert(row.clone()) };
            *batch.entry(row).or_default() += if goes { -1 } else { 1 };
            if ends {
                let changes: Vec<_> = std::mem::take(&mut batch).into_iter().filter(|(_, diff)| *diff != 0).collect();
                apply(&mut shares, &changes, &mut links);
                let rows: Vec<_> = standing.iter().cloned().collect();
                prop_assert_eq!(&links, &all_pairs(&rows, eta));
            }
        }
    }
}
