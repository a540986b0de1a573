//! The records that arrive one by one: advisories that were held back come, are corrected, are deleted, and come again.

use std::{collections::BTreeMap, sync::Arc};

use hypercane_schemas::{Document, DocumentKey};

use crate::connect::{self, format::Input, transport::RawRecord};

/// What a record does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A document that was not there.
    Arrives,
    /// Another revision of one that was there.
    Corrected,
    /// A null payload.
    Deleted,
}

/// Every so many advisories one is held back.
const ONE_IN: usize = 20;

/// Parts the documents into those that are loaded and the advisories that are held back.
pub fn hold_back(documents: Vec<Document>) -> (Vec<Document>, Vec<Document>) {
    let mut n_advisories = 0;
    documents.into_iter().partition(|document| {
        if !is_advisory(&document.key) {
            return true;
        }
        n_advisories += 1;
        n_advisories % ONE_IN != 0
    })
}

fn is_advisory(key: &DocumentKey) -> bool {
    let name = key.0.rsplit('/').next().unwrap_or_default();
    ["tcm_", "tcp_", "pws_"].iter().any(|product| name.starts_with(product))
}

/// So many changes: all arrive, then all are corrected, then all are deleted, and so on.
pub(super) fn changes(held: &[Document], n_records: usize) -> Vec<(Change, RawRecord)> {
    let topic: Arc<str> = "documents".into();
    let rounds = [Change::Arrives, Change::Corrected, Change::Deleted].into_iter().cycle();
    // Each block of documents goes through its whole life, so that what is left at the end does not depend on the count.
    let block = held.len().min((n_records / 3).max(1));
    let held = &held[..block];
    let all = rounds.take(3 * n_records.div_ceil(3 * block.max(1))).flat_map(|change| {
        held.iter().filter_map({
            let topic = Arc::clone(&topic);
            move |document| Some((change, record(&topic, document, change)?))
        })
    });
    all.collect()
}

fn record(topic: &Arc<str>, document: &Document, change: Change) -> Option<RawRecord> {
    match change {
        Change::Arrives => raw(topic, document).ok(),
        Change::Corrected => {
            let text = corrected(&document.text);
            raw(topic, &Document { text, ..document.clone() }).ok()
        }
        Change::Deleted => Some(RawRecord::new(topic, document.key.0.as_str(), None)),
    }
}

/// The text with its first wind speed raised by five knots; that of other products with a line more at its end.
pub(super) fn corrected(text: &str) -> String {
    for (at, _) in text.match_indices(" KT") {
        let digits = text[..at].bytes().rev().take_while(u8::is_ascii_digit).count();
        if let Ok(speed) = text[at - digits..at].parse::<u32>() {
            return format!("{}{}{}", &text[..at - digits], speed + 5, &text[at..]);
        }
    }
    format!("{text}\nREPEATED.\n")
}

/// A document as a record of a topic.
pub(super) fn raw(topic: &Arc<str>, document: &Document) -> Result<RawRecord, connect::Error> {
    let payload = serde_json::to_vec(document)
        .map_err(|e| connect::Error::lasting(format!("{} can't be written as JSON", document.key.0)).because(e))?;
    Ok(RawRecord::new(topic, document.key.0.as_str(), Some(payload)))
}

/// The documents that stand.
pub(super) struct Standing(BTreeMap<DocumentKey, Document>);

impl Standing {
    pub(super) fn of(documents: &[Document]) -> Self {
        Self(documents.iter().map(|document| (document.key.clone(), document.clone())).collect())
    }

    pub(super) fn apply(&mut self, input: &Input) {
        match input {
            Input::Document(key, Some(document)) => _ = self.0.insert(key.clone(), document.clone()),
            Input::Document(key, None) => _ = self.0.remove(key),
            Input::Horizon(..) | Input::Query(..) => {}
        }
    }

    pub(super) fn into_inputs(self) -> Vec<Input> {
        self.0.into_iter().map(|(key, document)| Input::Document(key, Some(document))).collect()
    }
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::Document;

    use super::{Change, changes, corrected, hold_back};

    #[test]
    fn every_twentieth_advisory_is_held_back_and_lives_its_life() {
        let documents: Vec<Document> = (0..100)
            .flat_map(|n| [format!("nhc/x/tcm_{n:03}.txt"), format!("nhc/x/tcd_{n:03}.txt")])
            .map(|key| Document::plain(key, "80 KT"))
            .collect();
        let (loaded, held) = hold_back(documents);
        assert_eq!((loaded.len(), held.len()), (195, 5));
        let all = changes(&held, 20);
        assert_eq!(all.len(), 30);
        assert_eq!(all.iter().filter(|(change, _)| *change == Change::Deleted).count(), 10);
        assert_eq!(changes(&held, 6).len(), 6);
    }

    #[test]
    fn a_correction_changes_a_value() {
        assert_eq!(corrected("MAX WIND  85 KT. GUSTS 95 KT"), "MAX WIND  90 KT. GUSTS 95 KT");
        assert_eq!(corrected("NO KT"), "NO KT\nREPEATED.\n");
    }
}
