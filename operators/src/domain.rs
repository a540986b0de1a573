//! A domain pack: vocabulary, phases, rules and tables, read from `data/domains/NAME/`.

/// A loaded pack.
#[derive(Clone, Debug, Default)]
pub struct Domain;
