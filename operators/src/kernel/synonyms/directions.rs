//! Directions, packed in blocks, and which of them may lie close together: by matrix products.
//!
//! Products of single precision are fast, and differ in their last bits with the shape of the blocks and with the processor.
//! So they only say which pairs are worth an exact look ([`Directions::near`]): with the margin for all their rounding, no
//! pair above the threshold is left out.

use std::ops::Range;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, linalg::general_mat_mul, s};

/// Directions in one block.
const BLOCK: usize = 1024;
/// Directions that are compared with a block in one product. With [`BLOCK`], the cosines fit into a core's second cache.
pub(super) const PANEL: usize = 256;
/// For so few directions, the library packs more than it multiplies.
const FEW: usize = 4;
/// Cosines that are looked at together.
const LANES: usize = 64;

/// Vectors of one length, scaled to length one.
pub(super) struct Directions {
    n_components: usize,
    len: usize,
    /// One row a component, one column a direction: products read such blocks in order.
    blocks: Vec<Array2<f32>>,
}

impl Directions {
    /// None yet, of vectors with so many components.
    pub(super) fn new(n_components: usize) -> Self {
        Self { n_components, len: 0, blocks: Vec::new() }
    }

    /// How many components each has.
    pub(super) fn n_components(&self) -> usize {
        self.n_components
    }

    /// The bytes of the blocks.
    pub(super) fn block_bytes(&self) -> usize {
        self.blocks.len() * BLOCK * self.n_components * size_of::<f32>()
    }

    /// Adds the directions of a panel. Many at once cost less than one by one: a component of each lies in one piece.
    pub(super) fn extend(&mut self, panel: ArrayView2<'_, f32>) {
        let mut rest = panel;
        while rest.nrows() > 0 {
            if self.len == self.blocks.len() * BLOCK {
                self.blocks.push(Array2::zeros((self.n_components, BLOCK)));
            }
            let first = self.len % BLOCK;
            let n_fit = (BLOCK - first).min(rest.nrows());
            let (fit, others) = rest.split_at(Axis(0), n_fit);
            self.blocks[self.len / BLOCK].slice_mut(s![.., first..first + n_fit]).assign(&fit.t());
            self.len += n_fit;
            rest = others;
        }
    }

    /// Removes one; the last takes its place.
    pub(super) fn swap_remove(&mut self, at: usize) {
        assert!(at < self.len, "direction {at} of {}", self.len);
        self.len -= 1;
        if at < self.len {
            let last = self.blocks[self.len / BLOCK].column(self.len % BLOCK).to_owned();
            self.blocks[at / BLOCK].column_mut(at % BLOCK).assign(&last);
        }
        self.blocks.truncate(self.len.div_ceil(BLOCK));
    }

    /// Calls `found` with each pair of a direction of the panel and one of the range whose cosine may be above `eta`: with
    /// all that are, and with few others. One matrix product a block; `products` is room for it.
    pub(super) fn near(
        &self,
        panel: ArrayView2<'_, f32>,
        range: Range<usize>,
        eta: f64,
        products: &mut Vec<f32>,
        mut found: impl FnMut(usize, usize),
    ) {
        let least = least(eta, self.n_components);
        let mut start = range.start;
        while start < range.end {
            let (block, first) = (start / BLOCK, start % BLOCK);
            let width = (BLOCK - first).min(range.end - start);
            let columns = self.blocks[block].slice(s![.., first..first + width]);
            let n_products = panel.nrows() * width;
            if products.len() < n_products {
                products.resize(n_products, 0.0);
            }
            let products = &mut products[..n_products];
            multiply(panel, columns, products);
            for (row, cosines) in products.chunks_exact(width).enumerate() {
                for (lanes, at) in cosines.chunks(LANES).zip((start..).step_by(LANES)) {
                    if lanes.iter().fold(false, |any, cosine| any | (*cosine > least)) {
                        let near = (at..).zip(lanes).filter(|(_, cosine)| **cosine > least);
                        near.for_each(|(at, _)| found(row, at));
                    }
                }
            }
            start += width;
        }
    }
}

/// The directions of some vectors, one a row.
pub(super) fn panel<'a>(n_components: usize, vectors: impl ExactSizeIterator<Item = &'a [f32]>) -> Array2<f32> {
    let mut panel = Array2::zeros((vectors.len(), n_components));
    for (mut row, vector) in panel.rows_mut().into_iter().zip(vectors) {
        row.iter_mut().zip(direction(vector)).for_each(|(to, x)| *to = x);
    }
    panel
}

/// The components of a vector scaled to length one; zeros for the vector zero.
fn direction(vector: &[f32]) -> impl Iterator<Item = f32> {
    let square: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let scale = if square > 0.0 { square.sqrt().recip() } else { 0.0 };
    vector.iter().map(move |x| (f64::from(*x) * scale) as f32)
}

/// The product of single precision up to which a cosine can't be above `eta`. A sum of n products of single precision, in any
/// order, is off by at most n u / (1 - n u) for directions, with u half of epsilon, and their scaling adds 2 u; twice that is
/// more than all of it.
fn least(eta: f64, n_components: usize) -> f32 {
    (eta - (n_components + 4) as f64 * f64::from(f32::EPSILON)) as f32
}

/// The products of all rows with all columns, row by row.
fn multiply(rows: ArrayView2<'_, f32>, columns: ArrayView2<'_, f32>, products: &mut [f32]) {
    let width = columns.ncols();
    if rows.nrows() > FEW {
        let mut products =
            ArrayViewMut2::from_shape((rows.nrows(), width), products).expect("there is room for the products");
        general_mat_mul(1.0, &rows, &columns, 0.0, &mut products);
        return;
    }
    products.fill(0.0);
    for (component, column) in columns.rows().into_iter().enumerate() {
        let column = column.to_slice().expect("the columns of a block lie side by side");
        for (row, products) in rows.rows().into_iter().zip(products.chunks_exact_mut(width)) {
            let x = row[component];
            products.iter_mut().zip(column).for_each(|(sum, y)| *sum += x * y);
        }
    }
}
