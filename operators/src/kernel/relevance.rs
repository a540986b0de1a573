//! Rel (OKH-RAG A.6): cosine between a question and a hyperedge.

/// The cosine of two vectors of equal length, summed in index order; 0 where one of them is zero.
pub fn relevance<T: Copy + Into<f64>>(a: &[T], b: &[T]) -> f64 {
    debug_assert_eq!(a.len(), b.len(), "vectors of one model have one length");
    let (mut product, mut norm_a, mut norm_b) = (0.0, 0.0, 0.0);
    for (&x, &y) in a.iter().zip(b) {
        let (x, y): (f64, f64) = (x.into(), y.into());
        product += x * y;
        norm_a += x * x;
        norm_b += y * y;
    }
    if norm_a == 0.0 || norm_b == 0.0 { 0.0 } else { product / (norm_a.sqrt() * norm_b.sqrt()) }
}

/// The cosine of two vectors of length one, summed in eight lanes, so that it is quick and the same bits everywhere.
pub fn cosine_of_units(a: &[f32], b: &[f32]) -> f64 {
    debug_assert_eq!(a.len(), b.len(), "vectors of one model have one length");
    let mut lanes = [0.0f32; 8];
    let (chunks, rest) = (a.chunks_exact(8), a.chunks_exact(8).remainder());
    for (x, y) in chunks.zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let tail: f32 = rest.iter().zip(b.chunks_exact(8).remainder()).map(|(x, y)| x * y).sum();
    f64::from(lanes.iter().sum::<f32>() + tail)
}
