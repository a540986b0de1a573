//! Content identifiers: a 128-bit hash of canonical content, shown as 32 hexadecimal digits.

use std::{fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use xxhash_rust::xxh3::xxh3_128;

/// A 128-bit hash (XXH3) of canonical content.
///
/// Equal content has an equal hash on every machine and in every run, so it serves as an identifier that no counter
/// has to hand out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ContentHash(pub u128);

impl ContentHash {
    /// Hashes a sequence of parts. Each part is preceded by its length, so that `["ab", "c"]` and `["a", "bc"]` differ.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        Self(xxh3_128(&bytes))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ContentHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() != 32 {
            return Err(format!("an identifier has 32 hexadecimal digits, `{text}` has {}", text.len()));
        }
        u128::from_str_radix(text, 16).map(Self).map_err(|_| format!("`{text}` is no hexadecimal number"))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for ContentHash {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ContentHash".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[0-9a-f]{32}$"})
    }
}

#[cfg(test)]
mod tests {
    use super::ContentHash;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(ContentHash::of_parts(["ab", "c"]), ContentHash::of_parts(["a", "bc"]));
        assert_ne!(ContentHash::of_parts(["", "a"]), ContentHash::of_parts(["a", ""]));
    }

    #[test]
    fn text_form_comes_back() {
        let hash = ContentHash::of_parts(["storm"]);
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert!("xyz".parse::<ContentHash>().is_err());
    }
}
