//! Public products in words.

use super::header::header;
use crate::extraction::{Extraction, Failure};

/// The facts of the product.
pub fn extract(text: &str) -> Result<Extraction, Failure> {
    let header = header(text)?;
    Ok(Extraction { product: Some(header.product()), issued_at: Some(header.issued_at), ..Extraction::default() })
}
