//! A domain pack: vocabulary, phases, rules and tables, read from `data/domains/NAME/`.
