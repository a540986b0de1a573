//! Vectors from hashed words: they know nothing of meaning, only of shared words. For tests and trials without weights.

use hypercane_schemas::{ContentHash, Vector};

use super::{Error, Model};

const N_DIMENSIONS: usize = 384;

/// A model without weights: each word adds or takes one in a few dimensions that its hash chooses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hashed;

impl Model for Hashed {
    fn id(&self) -> &str {
        "hashed-words"
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, Error> {
        Ok(texts.iter().map(|text| Vector(unit_sum(text).into())).collect())
    }
}

fn unit_sum(text: &str) -> Vec<f32> {
    let mut sum = vec![0f32; N_DIMENSIONS];
    // A text without words still gets a direction, so that every vector has length one.
    sum[0] = 1e-3;
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let mut bits = ContentHash::of_parts([word]).0;
        for _ in 0..8 {
            let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
            sum[(bits >> 1) as usize % N_DIMENSIONS] += sign;
            bits >>= 16;
        }
    }
    let norm = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    sum.iter_mut().for_each(|x| *x /= norm);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        unit_sum(a).iter().zip(unit_sum(b)).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn shared_words_are_near_and_order_does_not_count() {
        assert!((cosine("Port of Houston", "houston: port OF") - 1.0).abs() < 1e-5);
        assert!(cosine("Port of Houston closed", "Port of Houston open") > 0.6);
        assert!(cosine("Port of Houston", "seas of twelve feet").abs() < 0.5);
        assert!((cosine("", "") - 1.0).abs() < 1e-5);
    }
}
