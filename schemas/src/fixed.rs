//! Numbers that cancel exactly: a decimal in units of 1e-9.
//!
//! A dataflow takes a row back by presenting an equal row with the opposite sign. Floating point sums differ in their
//! last bits when their order differs, so every number that lives in a row is an integer. Kernels compute in `f64`.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number with nine decimal places, from about -9.2e9 to 9.2e9. Its JSON form is a plain number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Fixed(pub i64);

impl Fixed {
    /// Units in one.
    pub const SCALE: i64 = 1_000_000_000;
    /// One.
    pub const ONE: Self = Self(Self::SCALE);

    /// The nearest fixed number; halves away from zero, not-a-number to zero, out of range to the nearest end.
    pub fn from_f64(value: f64) -> Self {
        // `as` saturates and maps NaN to zero, which is the contract.
        Self((value * Self::SCALE as f64).round() as i64)
    }

    /// The number as a float, for arithmetic in kernels.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / Self::SCALE as f64
    }
}

impl From<i32> for Fixed {
    fn from(value: i32) -> Self {
        Self(i64::from(value) * Self::SCALE)
    }
}

impl fmt::Display for Fixed {
    /// Shortest decimal form: `75`, `-94.6`, `0.333333333`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let (whole, part) = (magnitude / Self::SCALE as u64, magnitude % Self::SCALE as u64);
        if self.0 < 0 {
            f.write_str("-")?;
        }
        if part == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{part:09}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

impl fmt::Debug for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Fixed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

impl<'de> Deserialize<'de> for Fixed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::from_f64)
    }
}

impl JsonSchema for Fixed {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fixed".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "description": "A decimal number; nine decimal places are kept."})
    }
}

#[cfg(test)]
mod tests {
    use super::Fixed;

    #[test]
    fn prints_the_shortest_decimal() {
        let cases = [(75.0, "75"), (-94.6, "-94.6"), (1.0 / 3.0, "0.333333333"), (-0.05, "-0.05"), (0.0, "0")];
        for (value, text) in cases {
            assert_eq!(Fixed::from_f64(value).to_string(), text);
        }
    }

    #[test]
    fn odd_floats_have_a_defined_value() {
        assert_eq!(Fixed::from_f64(f64::NAN), Fixed(0));
        assert_eq!(Fixed::from_f64(f64::INFINITY), Fixed(i64::MAX));
    }
}
