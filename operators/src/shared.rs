//! Rows that many operators hold: shared, and compared by a hash of their content.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
    ops::Deref,
    sync::Arc,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::Xxh3Default;

/// A shared row. An arrangement of it costs a pointer, and two rows compare in constant time: by a 128-bit hash that is made
/// once. A row that leaves and one that comes are often equal but made apart, and to compare these by content was an
/// eighth of the work of an update.
///
/// As with the ids of records, equal hashes are taken for equal content. The order is that of the hashes: the same on
/// every worker and in every run, and without meaning.
#[derive(Debug)]
pub struct Shared<T>(Arc<Hashed<T>>);

#[derive(Debug)]
struct Hashed<T> {
    hash: u128,
    row: T,
}

impl<T: Hash> Shared<T> {
    /// Takes a row in.
    pub fn new(row: T) -> Self {
        let mut hasher = Xxh3Default::new();
        row.hash(&mut hasher);
        Self(Arc::new(Hashed { hash: hasher.digest128(), row }))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.row
    }
}

impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.hash == other.0.hash
    }
}

impl<T> Eq for Shared<T> {}

impl<T> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl<T> PartialOrd for Shared<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Shared<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.hash.cmp(&other.0.hash)
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de> + Hash> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::Shared;

    #[test]
    fn rows_that_were_made_apart_are_equal_by_content_and_only_then() {
        let row = |text: &str| Shared::new((text.to_owned(), Some(3u8), vec![text.to_owned()]));
        assert_eq!(row("a"), row("a"));
        assert_eq!(row("a").cmp(&row("a")), std::cmp::Ordering::Equal);
        assert_ne!(row("a"), row("b"));
        assert_eq!(row("a").cmp(&row("b")), row("b").cmp(&row("a")).reverse());
        // What stands in two fields is not what stands in one.
        let pair = |a: &str, b: &str| Shared::new((a.to_owned(), b.to_owned()));
        assert_ne!(pair("ab", "c"), pair("a", "bc"));
        let read: Shared<(String, String)> =
            serde_json::from_str(&serde_json::to_string(&pair("x", "y")).unwrap()).unwrap();
        assert_eq!(read, pair("x", "y"));
    }
}
