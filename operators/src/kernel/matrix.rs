//! A square matrix of numbers, row by row: rows are "from", columns are "to".

/// A square matrix over the candidates of one query.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    size: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// The matrix whose value in row `i`, column `j` is `value(i, j)`.
    pub fn from_fn(size: usize, mut value: impl FnMut(usize, usize) -> f64) -> Self {
        let mut values = Vec::with_capacity(size * size);
        for row in 0..size {
            values.extend((0..size).map(|column| value(row, column)));
        }
        Self { size, values }
    }

    /// Number of rows, and of columns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The values of one row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.size..(row + 1) * self.size]
    }

    /// The values of one row, to be changed.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.size..(row + 1) * self.size]
    }

    /// One value.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        self.row(row)[column]
    }
}
