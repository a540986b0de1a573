//! Watches and warnings: what is in effect for which stretch, and what changed with this advisory.

use super::facts::Notes;
use super::lines::Line;

/// Reads the part of a product that speaks of watches and warnings.
pub fn read(_text: &str, _section: &[Line<'_>], _notes: &mut Notes<'_>) {}
