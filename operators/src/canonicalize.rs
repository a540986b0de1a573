//! Canonicalize: facts in the pack's words, with their identity.
//!
//! As if its input never changed: the assertion of every fact of every document, and a reject for each fact whose words
//! the pack does not know. It keeps nothing in memory.

use std::sync::Arc;

use hypercane_schemas::{DocumentKey, Reject, Stage};

use crate::{
    assertion::Assertion,
    collection::{Collection, split_results},
    domain::Domain,
    extract::{Extracted, rejected},
    kernel,
    shared::Shared,
};

/// The assertions, and the facts that could not become one.
pub fn canonicalize<'scope>(
    extracted: Collection<'scope, (DocumentKey, Shared<Extracted>)>,
    domain: Arc<Domain>,
) -> (Collection<'scope, Shared<Assertion>>, Collection<'scope, Reject>) {
    let assertions = extracted.flat_map(move |(key, document)| {
        let assert = |fact| {
            kernel::canonicalize(&key, &document, fact, &domain)
                .map(Shared::new)
                .map_err(|reason| Box::new(rejected("documents", &key.0, Stage::Canonicalize, None, reason)))
        };
        document.extraction.facts.iter().map(assert).collect::<Vec<_>>()
    });
    split_results(assertions)
}
