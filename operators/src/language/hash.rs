//! The hash functions under which the language model was trained.

/// MurmurHash64A with seed 1: the key of a string.
pub(super) fn string_key(text: &str) -> u64 {
    const MIX: u64 = 0xc6a4_a793_5bd1_e995;
    let bytes = text.as_bytes();
    let mut hash = 1 ^ (bytes.len() as u64).wrapping_mul(MIX);
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let word = little_endian(word).wrapping_mul(MIX);
        hash = (hash ^ (word ^ (word >> 47)).wrapping_mul(MIX)).wrapping_mul(MIX);
    }
    if !words.remainder().is_empty() {
        hash = (hash ^ little_endian(words.remainder())).wrapping_mul(MIX);
    }
    hash = (hash ^ (hash >> 47)).wrapping_mul(MIX);
    hash ^ (hash >> 47)
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// MurmurHash3 (x64, 128 bits) of a key's eight bytes, as four numbers: the rows of an embedding table that stand for it.
pub(super) fn rows_of(key: u64, seed: u32) -> [u32; 4] {
    const LENGTH: u64 = 8;
    let word = key.wrapping_mul(0x87c3_7b91_1142_53d5).rotate_left(31).wrapping_mul(0x4cf5_ad43_2745_937f);
    let second = u64::from(seed) ^ LENGTH;
    let first = (second ^ word).wrapping_add(second);
    let second = second.wrapping_add(first);
    let (first, second) = (avalanche(first), avalanche(second));
    let first = first.wrapping_add(second);
    let second = second.wrapping_add(first);
    [first as u32, (first >> 32) as u32, second as u32, (second >> 32) as u32]
}

fn avalanche(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::{rows_of, string_key};

    /// Values of spaCy 3.8's string store.
    #[test]
    fn strings_have_the_keys_of_spacy() {
        for (text, key) in [
            ("a", 11_901_859_001_352_538_922),
            ("é", 16_256_712_947_286_012_828),
            ("hurricane", 11_901_169_485_731_411_408),
            ("1234567", 11_906_548_768_923_648_808),
            ("12345678", 9_871_996_032_675_327_904),
            ("123456789abcdefg", 14_321_189_609_418_888_884),
        ] {
            assert_eq!(string_key(text), key, "{text}");
        }
    }

    /// Values of thinc 8.3's `NumpyOps.hash`.
    #[test]
    fn keys_have_the_rows_of_thinc() {
        assert_eq!(rows_of(12345, 8), [1_415_810_048, 2_915_517_168, 2_123_715_072, 78_308_456]);
        assert_eq!(rows_of(12345, 13), [3_367_298_224, 2_161_639_147, 2_897_848_234, 2_923_513_198]);
        assert_eq!(rows_of(string_key("hurricane"), 8), [70_876_478, 590_209_039, 2_253_798_365, 885_313_558]);
        assert_eq!(rows_of(1, 13), [1_266_879_892, 1_356_517_611, 318_478_807, 3_343_674_364]);
        assert_eq!(rows_of(0, 8), [0; 4]);
    }
}
