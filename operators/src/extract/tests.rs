//! Chunks are read once, each part under its horizon, and what is no product is told with its line.

use std::{cell::Cell, collections::BTreeSet, rc::Rc};

use differential_dataflow::input::Input as _;
use hypercane_schemas::{Diff, Document, Fixed, Span};

use super::{Extracted, Shared, read, read_once};
use crate::{
    domain::{self, ChunkLength},
    extraction::{Extraction, Failure},
    kernel,
};

/// The text of twenty chunks, with one sentence changed and one put in before the end.
fn texts() -> [String; 3] {
    let sentence = |number: usize| format!("The harbour of number {number} has {} berths. ", number * 7);
    let text = |range: std::ops::Range<usize>| range.map(sentence).collect::<String>();
    let whole = text(0..150);
    let edited = text(0..20) + "A sentence that was changed. " + &text(21..150);
    [whole, edited.clone(), "A sentence that is new. ".to_owned() + &edited]
}

#[test]
fn an_edit_reads_only_the_chunks_whose_text_it_changes_and_moves_the_others() {
    let length = ChunkLength { length: 400, overlap: 60 };
    let chunks = move |text: &str| kernel::chunk(&Document::plain("long", text), Some(length));
    let contents = texts().map(|text| chunks(&text).iter().map(kernel::Chunk::content).collect::<BTreeSet<_>>());
    timely::execute_directly(move |worker| {
        let n_read = Rc::new(Cell::new(0));
        let standing = Rc::new(std::cell::RefCell::new(Vec::<((u32, u32, Option<Failure>), Diff)>::new()));
        let (mut input, probe) = worker.dataflow(|scope| {
            let (input, documents) = scope.new_collection::<Document, Diff>();
            let chunks = documents.flat_map(move |document| {
                let key = document.key.clone();
                kernel::chunk(&document, Some(length)).into_iter().map(move |c| (key.clone(), Shared::new(c), None))
            });
            let counted = Rc::clone(&n_read);
            let rows = read_once(chunks, move |chunk, _| {
                counted.set(counted.get() + 1);
                let failure = Failure { line: chunk.first_line, reason: chunk.document.text.clone() };
                let span = Span::new(chunk.start as usize, chunk.start as usize);
                let fact = crate::extraction::Fact { span, ..fact() };
                match chunk.document.text.contains("number 4 ") {
                    true => Err(failure),
                    false => Ok(Extracted {
                        passage: None,
                        extraction: Extraction { facts: vec![fact], ..Extraction::default() },
                        chunk: chunk.number,
                        horizon_hours: None,
                        reliability: Fixed::ONE,
                        supersedes: None,
                    }),
                }
            });
            let seen = Rc::clone(&standing);
            let (probe, _) = rows
                .inspect(move |(row, _, diff)| {
                    let row = match row {
                        Ok((_, read)) => (read.chunk, read.extraction.facts[0].span.start, None),
                        Err(failure) => (u32::MAX, 0, Some(failure.1.clone())),
                    };
                    seen.borrow_mut().push((row, *diff));
                })
                .probe();
            (input, probe)
        });
        let mut before: Option<String> = None;
        let mut read = BTreeSet::new();
        for (epoch, text) in texts().into_iter().map(Some).chain([None]).enumerate() {
            if let Some(before) = &before {
                input.remove(Document::plain("long", before.clone()));
            }
            if let Some(text) = &text {
                input.insert(Document::plain("long", text.clone()));
            }
            input.advance_to(epoch as u64 + 1);
            input.flush();
            worker.step_while(|| probe.less_than(input.time()));
            let new = contents.get(epoch).map_or(0, |after| after.difference(&read).count());
            assert_eq!(n_read.replace(0), new, "epoch {epoch}");
            assert!(epoch == 0 && new > 15 || epoch > 0 && new <= 3, "{new} chunks are new in epoch {epoch}");
            read = contents.get(epoch).cloned().unwrap_or_default();
            differential_dataflow::consolidation::consolidate(&mut standing.borrow_mut());
            let found: Vec<(u32, u32)> = standing.borrow().iter().map(|((n, start, _), _)| (*n, *start)).collect();
            let failed: Vec<u32> =
                standing.borrow().iter().filter_map(|((.., failure), _)| Some(failure.as_ref()?.line)).collect();
            let mut wanted: Vec<(u32, u32)> = Vec::new();
            for chunk in text.iter().flat_map(|text| chunks(text)) {
                let fails = chunk.document.text.contains("number 4 ");
                wanted.push(if fails { (u32::MAX, 0) } else { (chunk.number, chunk.start) });
                assert!(!fails || failed.contains(&chunk.first_line), "{failed:?}");
            }
            wanted.sort_unstable();
            assert_eq!(found, wanted, "epoch {epoch}");
            assert!(standing.borrow().iter().all(|(_, count)| *count == 1));
            before = text;
        }
    });
}

fn fact() -> crate::extraction::Fact {
    crate::extraction::Fact {
        relation: "states".into(),
        mentions: Vec::new(),
        text: String::new(),
        span: Span::new(0, 0),
        attributes: Vec::new(),
        relations: Vec::new(),
        group: hypercane_schemas::GroupKey(String::new()),
        valid_at: None,
        confidence: Fixed::ONE,
        origin: hypercane_schemas::Origin::Extracted,
        reference_at: None,
    }
}

#[test]
fn a_scenario_is_read_part_by_part_under_the_horizons_of_its_headers() {
    let domain = domain::cyclone();
    let text = "Notes of the harbour master\n\
                T-48 hours before landfall:\nPort Condition WHISKEY is set for the Port of Houston.\n\
                T-24 hours before landfall:\nPort Condition ZULU is set for the Port of Houston.\n\
                T-12 hours before landfall:\nPort Condition ZULU is set for the Port of Houston.\n";
    let document = Document::plain("scenario", text);
    let mut ids = BTreeSet::new();
    let (mut read_as, mut unread) = (Vec::new(), Vec::new());
    for chunk in read(&document, &domain) {
        match chunk {
            Ok(chunk) => {
                for fact in &chunk.extraction.facts {
                    let assertion = kernel::canonicalize(&document.key, &chunk, fact, &domain).unwrap();
                    let place = &assertion.hyperedge.provenance[0];
                    assert!(text[place.span.start as usize..place.span.end as usize].contains("Port Condition"));
                    ids.insert(assertion.id);
                    read_as.push((place.chunk, assertion.hyperedge.horizon_hours));
                }
            }
            Err(failure) => unread.push(failure.line),
        }
    }
    assert_eq!(unread, [1], "the words before the first header are no product");
    assert_eq!(read_as, [(1, Some(48)), (2, Some(24)), (3, Some(12))]);
    assert_eq!(ids.len(), 3, "what holds under two horizons is two facts");
}

#[test]
fn a_part_that_is_no_product_is_told_with_its_line() {
    let text = "T-48 hours before landfall:\n\nPort Condition WHISKEY is set for the Port of Houston.\n\
                T-24 hours before landfall:\nNothing that is known.\n";
    let chunks = read(&Document::plain("scenario", text), &domain::cyclone());
    let failure = chunks[1].as_ref().unwrap_err();
    assert!(chunks[0].is_ok() && failure.line == 5, "{failure:?}");
}
