//! The layers of a trained network, as spaCy stores them: MessagePack with the names of the layers, their settings, and their
//! arrays of little-endian 32-bit floats.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::LanguageError;

/// The layers of one file, in its order.
pub(super) struct Layers<'a> {
    file: &'static str,
    layers: Vec<Layer<'a>>,
}

/// A layer with its settings and arrays.
pub(super) struct Layer<'a> {
    file: &'static str,
    name: &'a str,
    number: usize,
    settings: BTreeMap<&'a str, &'a [u8]>,
    arrays: BTreeMap<&'a str, Stored<'a>>,
}

#[derive(Deserialize)]
struct Network<'a> {
    #[serde(borrow)]
    nodes: Vec<Node<'a>>,
    #[serde(borrow)]
    attrs: Vec<BTreeMap<&'a str, &'a [u8]>>,
    #[serde(borrow)]
    params: Vec<BTreeMap<&'a str, Stored<'a>>>,
}

#[derive(Deserialize)]
struct Node<'a> {
    name: &'a str,
}

#[derive(Deserialize)]
struct Stored<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    shape: Vec<usize>,
    data: &'a [u8],
}

impl<'a> Layers<'a> {
    /// Reads a file.
    ///
    /// # Errors
    /// It is no such MessagePack.
    pub(super) fn parse(file: &'static str, bytes: &'a [u8]) -> Result<Self, LanguageError> {
        let network: Network<'a> = message_pack(file, bytes)?;
        let n_layers = network.nodes.len();
        if network.attrs.len() != n_layers || network.params.len() != n_layers {
            let (n_settings, n_arrays) = (network.attrs.len(), network.params.len());
            let reason = format!("it has {n_layers} layers, but settings of {n_settings} and arrays of {n_arrays}");
            return Err(LanguageError::Damaged { file, reason });
        }
        let parts = network.nodes.into_iter().zip(network.attrs).zip(network.params).enumerate();
        let layers = parts.map(|(number, ((node, settings), arrays))| {
            let name = node.name;
            Layer { file, name, number, settings, arrays }
        });
        Ok(Self { file, layers: layers.collect() })
    }

    /// The layers of a name, in the order of the file.
    ///
    /// # Errors
    /// There are fewer than `at_least`.
    pub(super) fn named(&self, name: &str, at_least: usize) -> Result<Vec<&Layer<'a>>, LanguageError> {
        let found: Vec<_> = self.layers.iter().filter(|layer| layer.name == name).collect();
        if found.len() < at_least {
            let n_found = found.len();
            return Err(self.unfit(format!("{at_least} layers {name:?} or more are needed, and it has {n_found}")));
        }
        Ok(found)
    }

    pub(super) fn unfit(&self, reason: String) -> LanguageError {
        LanguageError::Unfit { file: self.file, reason }
    }
}

impl Layer<'_> {
    /// The numbers of an array, in row-major order, with the shape they have.
    ///
    /// # Errors
    /// There is no such array, its numbers are no 32-bit floats, or they don't fill its shape.
    pub(super) fn array(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>), LanguageError> {
        let stored = self.arrays.get(name).ok_or_else(|| self.unfit(&format!("has no array {name:?}")))?;
        if stored.kind != "<f4" {
            return Err(self.unfit(&format!("has an array {name:?} of {:?}, not of \"<f4\"", stored.kind)));
        }
        let n_bytes = stored.shape.iter().try_fold(4_usize, |product, length| product.checked_mul(*length));
        if n_bytes != Some(stored.data.len()) {
            let (shape, length) = (&stored.shape, stored.data.len());
            return Err(self.unfit(&format!("has {length} bytes for its array {name:?} of shape {shape:?}")));
        }
        let (numbers, _) = stored.data.as_chunks::<4>();
        Ok((stored.shape.clone(), numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
    }

    /// The numbers of an array that must have a shape.
    ///
    /// # Errors
    /// As [`Layer::array`], or its shape is another.
    pub(super) fn array_of(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, LanguageError> {
        let (found, numbers) = self.array(name)?;
        if found != shape {
            return Err(self.unfit(&format!("has an array {name:?} of shape {found:?}, and {shape:?} is needed")));
        }
        Ok(numbers)
    }

    /// A setting.
    ///
    /// # Errors
    /// There is none of that name, or it is of another type.
    pub(super) fn setting<'b, T: Deserialize<'b>>(&'b self, name: &str) -> Result<T, LanguageError> {
        let bytes = self.settings.get(name).ok_or_else(|| self.unfit(&format!("has no setting {name:?}")))?;
        rmp_serde::from_slice(bytes)
            .map_err(|error| self.unfit(&format!("has a setting {name:?} that is wrong: {error}")))
    }

    /// The layer is not what is needed; `what` goes on after its name.
    pub(super) fn unfit(&self, what: &str) -> LanguageError {
        LanguageError::Unfit { file: self.file, reason: format!("layer {} ({}) {what}", self.number, self.name) }
    }
}

/// Reads a file of MessagePack.
///
/// # Errors
/// It is damaged, or holds something else.
pub(super) fn message_pack<'a, T: Deserialize<'a>>(file: &'static str, bytes: &'a [u8]) -> Result<T, LanguageError> {
    rmp_serde::from_slice(bytes)
        .map_err(|error| LanguageError::Damaged { file, reason: format!("it can't be read as MessagePack: {error}") })
}
