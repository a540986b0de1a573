//! Vectors of tokens in their context: hashed embeddings of each token's features, then layers that look one token to
//! either side.

use super::{
    LanguageError,
    features::{COLUMNS, Features},
    hash::rows_of,
    products::Dense,
    weights::{Layer, Layers},
};

/// Tokens whose vectors are computed together. It bounds the memory, and changes no result.
const TOGETHER: usize = 128;
/// How many outputs of a maxout layer compete for one number.
const PIECES: usize = 3;
/// Tokens that a layer looks at: one to the left, itself, one to the right.
const WINDOW: usize = 3;

/// The network from features to vectors.
pub(super) struct Tok2Vec {
    width: usize,
    embeddings: Vec<Embedding>,
    mix: Maxout,
    /// Each layer adds what it computes to its input.
    windows: Vec<Maxout>,
}

/// Vectors for the values of one feature: a value is the sum of four rows, chosen by hash.
struct Embedding {
    seed: u32,
    n_rows: usize,
    rows: Vec<f32>,
}

/// A linear layer of which only the largest of each three outputs counts, then normalised to mean zero and variance one,
/// then scaled and shifted.
struct Maxout {
    dense: Dense,
    scale: Vec<f32>,
    shift: Vec<f32>,
}

impl Tok2Vec {
    /// From the layers of a file.
    ///
    /// # Errors
    /// They are of another kind of network.
    pub(super) fn parse(layers: &Layers<'_>) -> Result<Self, LanguageError> {
        let extract = layers.named("extract_features", 1)?[0];
        let columns: Vec<&str> = extract.setting("columns")?;
        if !COLUMNS.starts_with(&columns) {
            return Err(extract.unfit(&format!("wants the features {columns:?}, of which {COLUMNS:?} are known")));
        }
        let hashed = layers.named("hashembed", columns.len().max(1))?;
        let (shape, _) = hashed[0].array("E")?;
        let width = match *shape.as_slice() {
            [_, width] if width > 0 => width,
            _ => {
                let what = format!("has an array \"E\" of shape {shape:?}, and rows of numbers are needed");
                return Err(hashed[0].unfit(&what));
            }
        };
        let embeddings = hashed.iter().map(|layer| Embedding::parse(layer, width)).collect::<Result<Vec<_>, _>>()?;
        if embeddings.len() != columns.len() {
            return Err(layers.unfit(format!("it embeds {} features, not {}", embeddings.len(), columns.len())));
        }
        let maxouts = layers.named("maxout", 1)?;
        let norms = layers.named("layernorm", maxouts.len())?;
        let mix = Maxout::parse(maxouts[0], norms[0], columns.len() * width, width)?;
        let windows = maxouts.iter().zip(&norms).skip(1);
        let windows = windows.map(|(maxout, norm)| Maxout::parse(maxout, norm, WINDOW * width, width));
        Ok(Self { width, embeddings, mix, windows: windows.collect::<Result<_, _>>()? })
    }

    /// How many numbers a vector has.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The vectors of a sentence's tokens, one after the other.
    pub(super) fn vectors(&self, tokens: &[Features]) -> Vec<f32> {
        let width = self.width;
        // Every layer looks one token further, and beyond the sentence are zeros.
        let reach = self.windows.len();
        let mut vectors = Vec::with_capacity(tokens.len() * width);
        for start in (0..tokens.len()).step_by(TOGETHER) {
            let end = tokens.len().min(start + TOGETHER);
            let context = start.saturating_sub(reach)..tokens.len().min(end + reach);
            let mixed = self.mix.apply(&self.embed(&tokens[context.clone()]), self.mix.dense.n_inputs(), context.len());
            let mut rows = vec![0.0; (end - start + 2 * reach) * width];
            rows[(context.start + reach - start) * width..][..mixed.len()].copy_from_slice(&mixed);
            for layer in &self.windows {
                let n_rows = rows.len() / width - (WINDOW - 1);
                let mut next = layer.apply(&rows, width, n_rows);
                next.iter_mut().zip(&rows[width..]).for_each(|(sum, input)| *sum += input);
                rows = next;
            }
            vectors.extend(rows);
        }
        vectors
    }

    /// The embeddings of each token's features, side by side.
    fn embed(&self, tokens: &[Features]) -> Vec<f32> {
        let mut embedded = vec![0.0; tokens.len() * self.embeddings.len() * self.width];
        let places = embedded.chunks_exact_mut(self.width);
        let values = tokens.iter().flat_map(|token| self.embeddings.iter().zip(token));
        for (place, (embedding, value)) in places.zip(values) {
            for row in rows_of(*value, embedding.seed) {
                let row = &embedding.rows[row as usize % embedding.n_rows * self.width..][..self.width];
                place.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
            }
        }
        embedded
    }
}

impl Embedding {
    fn parse(layer: &Layer<'_>, width: usize) -> Result<Self, LanguageError> {
        let (shape, rows) = layer.array("E")?;
        let n_rows = shape.first().copied().unwrap_or(0);
        if shape != [n_rows, width] || n_rows == 0 {
            return Err(layer.unfit(&format!("has an array \"E\" of shape {shape:?}, and rows of {width} are needed")));
        }
        Ok(Self { seed: layer.setting("seed")?, n_rows, rows })
    }
}

impl Maxout {
    fn parse(maxout: &Layer<'_>, norm: &Layer<'_>, n_inputs: usize, width: usize) -> Result<Self, LanguageError> {
        let weights = maxout.array_of("W", &[width, PIECES, n_inputs])?;
        let bias = maxout.array_of("b", &[width, PIECES])?;
        // Stored are the pieces of an output side by side; so that outputs lie side by side, all first pieces come first.
        let order = (0..PIECES).flat_map(|piece| (0..width).map(move |output| output * PIECES + piece));
        let (mut weights_by_piece, mut bias_by_piece) = (Vec::new(), Vec::new());
        for row in order {
            weights_by_piece.extend_from_slice(&weights[row * n_inputs..][..n_inputs]);
            bias_by_piece.push(bias[row]);
        }
        let dense = Dense::new(&weights_by_piece, &bias_by_piece);
        Ok(Self { dense, scale: norm.array_of("G", &[width])?, shift: norm.array_of("b", &[width])? })
    }

    /// For the meaning of the arguments see [`Dense::apply`].
    fn apply(&self, inputs: &[f32], stride: usize, n_rows: usize) -> Vec<f32> {
        let width = self.scale.len();
        let outputs = self.dense.apply(inputs, stride, n_rows);
        let mut rows = Vec::with_capacity(n_rows * width);
        for pieces in outputs.chunks_exact(PIECES * width) {
            let (first, others) = pieces.split_at(width);
            let (second, third) = others.split_at(width);
            let start = rows.len();
            rows.extend(first.iter().zip(second).zip(third).map(|((a, b), c)| a.max(*b).max(*c)));
            let row = &mut rows[start..];
            let mean = sum(row) / width as f32;
            row.iter_mut().for_each(|number| *number -= mean);
            let squares: Vec<f32> = row.iter().map(|number| number * number).collect();
            let variance = sum(&squares) / width as f32 + 1e-8;
            let factor = 1.0 / variance.sqrt();
            let ends = self.scale.iter().zip(&self.shift);
            row.iter_mut().zip(ends).for_each(|(number, (scale, shift))| *number = *number * factor * scale + shift);
        }
        rows
    }
}

/// The sum in an order that is always the same, and that vectors of up to eight numbers can follow.
fn sum(numbers: &[f32]) -> f32 {
    let (groups, rest) = numbers.as_chunks::<8>();
    let mut lanes = [0.0_f32; 8];
    for group in groups {
        lanes.iter_mut().zip(group).for_each(|(lane, number)| *lane += number);
    }
    lanes.iter().chain(rest).sum()
}
