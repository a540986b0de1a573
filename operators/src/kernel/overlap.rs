//! Jaccard similarity of sets, the ground of entity continuity (OKH-RAG eq. 12).

use std::cmp::Ordering;

use super::Matrix;

/// |A ∩ B| / |A ∪ B| of two sorted slices without repeats; 0 where both are empty.
pub fn jaccard<T: Ord>(a: &[T], b: &[T]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0usize);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    let union = a.len() + b.len() - shared;
    if union == 0 { 0.0 } else { shared as f64 / union as f64 }
}

/// The Jaccard similarity of every two of the sets (sorted, without repeats). The values are those of [`jaccard`]; one
/// set at a time is marked in a table, so that the others are only looked up.
pub fn overlaps<T: Ord + Copy>(sets: &[&[T]]) -> Matrix {
    let mut all: Vec<T> = sets.iter().flat_map(|set| set.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let place = |element: &T| all.partition_point(|other| other < element) as u32;
    let sets: Vec<Vec<u32>> = sets.iter().map(|set| set.iter().map(place).collect()).collect();
    let mut marked = vec![0u32; all.len()];
    let mut matrix = Matrix::from_fn(sets.len(), |_, _| 0.0);
    for (row, set) in sets.iter().enumerate() {
        set.iter().for_each(|&at| marked[at as usize] = 1);
        for (column, other) in sets.iter().enumerate().skip(row) {
            let shared: u32 = other.iter().map(|&at| marked[at as usize]).sum();
            let union = set.len() + other.len() - shared as usize;
            let value = if union == 0 { 0.0 } else { f64::from(shared) / union as f64 };
            matrix.row_mut(row)[column] = value;
            matrix.row_mut(column)[row] = value;
        }
        set.iter().for_each(|&at| marked[at as usize] = 0);
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::{jaccard, overlaps};

    #[test]
    fn counts_shared_over_all() {
        assert_eq!(jaccard(&[1, 2], &[2, 3]), 1.0 / 3.0);
        assert_eq!(jaccard(&[1, 2], &[1, 2]), 1.0);
        assert_eq!(jaccard(&[1], &[2]), 0.0);
        assert_eq!(jaccard::<u32>(&[], &[]), 0.0);
    }

    #[test]
    fn all_pairs_are_as_each_pair() {
        let sets: [&[u32]; 5] = [&[1, 5, 9], &[5], &[], &[1, 2, 5, 9], &[3]];
        let matrix = overlaps(&sets);
        for (i, a) in sets.iter().enumerate() {
            for (j, b) in sets.iter().enumerate() {
                assert_eq!(matrix.get(i, j), jaccard(a, b), "{i} {j}");
            }
        }
    }
}
