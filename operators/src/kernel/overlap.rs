//! Jaccard similarity of sets, the ground of entity continuity (OKH-RAG eq. 12).

use std::cmp::Ordering;

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

#[cfg(test)]
mod tests {
    use super::jaccard;

    #[test]
    fn counts_shared_over_all() {
        assert_eq!(jaccard(&[1, 2], &[2, 3]), 1.0 / 3.0);
        assert_eq!(jaccard(&[1, 2], &[1, 2]), 1.0);
        assert_eq!(jaccard(&[1], &[2]), 0.0);
        assert_eq!(jaccard::<u32>(&[], &[]), 0.0);
    }
}
