//! Sorted lists of numbers without repeats.

/// Puts a number in its place.
pub(super) fn insert(sorted: &mut Vec<u32>, number: u32) {
    if let Err(at) = sorted.binary_search(&number) {
        sorted.insert(at, number);
    }
}

/// Takes a number out.
pub(super) fn remove(sorted: &mut Vec<u32>, number: u32) {
    if let Ok(at) = sorted.binary_search(&number) {
        sorted.remove(at);
    }
}
