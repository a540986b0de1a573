//! Dedupe: assertions of one fact become one hyperedge with all its supporters (OKH-RAG A.2 step 5).
//!
//! As if its input never changed: one hyperedge an id, whose provenance is the union over the assertions of that id. It
//! keeps the assertions, grouped by id. A document that goes takes away its provenance, and the hyperedge only when no
//! other document supports it.

use hypercane_schemas::HyperedgeId;

use crate::{assertion::Assertion, collection::Collection, kernel, shared::Shared};

/// One merged assertion an id.
pub fn dedupe<'scope>(
    assertions: Collection<'scope, Shared<Assertion>>,
) -> Collection<'scope, (HyperedgeId, Shared<Assertion>)> {
    assertions.map(|assertion| (assertion.id, assertion)).reduce_named("Dedupe", |_id, assertions, output| {
        let merged = match assertions {
            [(only, _)] => (*only).clone(),
            many => Shared::new(kernel::merge(many.iter().map(|(assertion, _)| &***assertion))),
        };
        output.push((merged, 1));
    })
}
