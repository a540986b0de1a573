//! Matrix products whose result is the same to the last bit on every machine and for every number of rows.
//!
//! Each output is its bias plus the products in the order of the inputs, every step a fused multiply-add: one rounding,
//! as IEEE 754 defines it. Libraries of linear algebra order the sums by the processor and by the number of rows. That does
//! not do here: what a document says must be the same on each process of a cluster, and when it is taken back years later.

/// Outputs that are computed together: with [`ROWS`], as many sums as the registers hold.
const PANEL: usize = 16;
/// Rows that are computed together.
const ROWS: usize = 4;

/// A linear layer: outputs are bias plus weights times inputs.
pub(super) struct Dense {
    n_inputs: usize,
    n_outputs: usize,
    /// For each panel of outputs, for each input, the weights of these outputs; zero beyond the last output.
    panels: Vec<[f32; PANEL]>,
    bias: Vec<[f32; PANEL]>,
}

impl Dense {
    /// From weights by rows, one row an output, and one bias an output.
    ///
    /// # Panics
    /// The lengths don't belong together.
    pub(super) fn new(weights: &[f32], bias: &[f32]) -> Self {
        let n_outputs = bias.len();
        let n_inputs = weights.len() / n_outputs;
        assert_eq!(weights.len(), n_inputs * n_outputs, "weights without their outputs");
        let n_panels = n_outputs.div_ceil(PANEL);
        let mut panels = vec![[0.0; PANEL]; n_panels * n_inputs];
        let mut padded_bias = vec![[0.0; PANEL]; n_panels];
        for (output, (row, bias)) in weights.chunks_exact(n_inputs).zip(bias).enumerate() {
            let (panel, column) = (output / PANEL, output % PANEL);
            padded_bias[panel][column] = *bias;
            for (input, weight) in row.iter().enumerate() {
                panels[panel * n_inputs + input][column] = *weight;
            }
        }
        Self { n_inputs, n_outputs, panels, bias: padded_bias }
    }

    pub(super) fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    pub(super) fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// The outputs of `n_rows` rows of inputs, of which each starts `stride` numbers after the one before. So rows may
    /// overlap, as windows do.
    pub(super) fn apply(&self, inputs: &[f32], stride: usize, n_rows: usize) -> Vec<f32> {
        let mut outputs = vec![0.0; n_rows * self.n_outputs];
        let groups = outputs.chunks_mut(ROWS * self.n_outputs).enumerate();
        vectorized(
            #[inline(always)]
            || {
                for (group, outputs) in groups {
                    // Where rows are left over, the last one stands in for those that are missing.
                    let row =
                        |number: usize| &inputs[(group * ROWS + number).min(n_rows - 1) * stride..][..self.n_inputs];
                    self.tile([row(0), row(1), row(2), row(3)], outputs);
                }
            },
        );
        outputs
    }

    /// The outputs of up to four rows of inputs. The sums are plain variables, so that they stay in registers.
    #[inline(always)]
    fn tile(&self, rows: [&[f32]; ROWS], outputs: &mut [f32]) {
        let [a, b, c, d] = rows;
        for (number, (panel, bias)) in self.panels.chunks_exact(self.n_inputs).zip(&self.bias).enumerate() {
            let [mut sum_a, mut sum_b, mut sum_c, mut sum_d] = [*bias; ROWS];
            for ((((weights, a), b), c), d) in panel.iter().zip(a).zip(b).zip(c).zip(d) {
                add_product(&mut sum_a, *a, weights);
                add_product(&mut sum_b, *b, weights);
                add_product(&mut sum_c, *c, weights);
                add_product(&mut sum_d, *d, weights);
            }
            let start = number * PANEL;
            let width = PANEL.min(self.n_outputs - start);
            for (row, sums) in outputs.chunks_exact_mut(self.n_outputs).zip([sum_a, sum_b, sum_c, sum_d]) {
                row[start..start + width].copy_from_slice(&sums[..width]);
            }
        }
    }
}

#[inline(always)]
fn add_product(sums: &mut [f32; PANEL], value: f32, weights: &[f32; PANEL]) {
    for (sum, weight) in sums.iter_mut().zip(weights) {
        *sum = value.mul_add(*weight, *sum);
    }
}

/// Runs a loop with the widest vectors that the processor has. They change the speed, never the result.
#[inline(always)]
fn vectorized(work: impl FnOnce()) {
    #[cfg(target_arch = "x86_64")]
    if let Some(vectors) = pulp::x86::V3::try_new() {
        return vectors.vectorize(work);
    }
    work();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Dense;

    /// One output after the other, one row after the other.
    fn plain(weights: &[f32], bias: &[f32], inputs: &[f32], stride: usize, n_rows: usize) -> Vec<f32> {
        let n_inputs = weights.len() / bias.len();
        let mut outputs = Vec::new();
        for row in 0..n_rows {
            for (weights, bias) in weights.chunks_exact(n_inputs).zip(bias) {
                let inputs = &inputs[row * stride..][..n_inputs];
                outputs.push(inputs.iter().zip(weights).fold(*bias, |sum, (a, b)| a.mul_add(*b, sum)));
            }
        }
        outputs
    }

    proptest! {
        #[test]
        fn products_equal_the_plain_ones_to_the_bit(
            n_inputs in 1_usize..20,
            n_outputs in 1_usize..80,
            n_rows in 0_usize..11,
            stride in 1_usize..20,
            seed in any::<u32>(),
        ) {
            let mut state = seed;
            let mut number = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state as f32 / 1e9 - 2.0
            };
            let weights: Vec<f32> = (0..n_inputs * n_outputs).map(|_| number()).collect();
            let bias: Vec<f32> = (0..n_outputs).map(|_| number()).collect();
            let inputs: Vec<f32> = (0..n_rows * stride + n_inputs).map(|_| number()).collect();
            let dense = Dense::new(&weights, &bias);
            prop_assert_eq!((dense.n_inputs(), dense.n_outputs()), (n_inputs, n_outputs));
            prop_assert_eq!(dense.apply(&inputs, stride, n_rows), plain(&weights, &bias, &inputs, stride, n_rows));
        }
    }
}
