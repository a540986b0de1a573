//! Rejects that are answered: a record that is sent again for one, or a file that is read again.
//!
//! A record that was rejected is sent again with the id of its reject. The pipeline that reads it takes the reject back in
//! the commit that holds what follows from the record. A second copy finds that the reject no longer stands, and is left
//! out: so the lake itself makes a replay happen once. What has no offset, since it was read from a file, is answered by
//! the next record under its key, and the same failure of it stays one row.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hypercane_schemas::{ContentHash, Diff, Epoch, Reject, Stage};

use crate::{
    connect::{
        lake::{self, Lake},
        transport::RawRecord,
    },
    pipeline::{self, Pipeline},
};

/// Which rejects of records stand. It keeps their ids only.
#[derive(Debug, Default)]
pub struct Standing {
    ids: HashSet<ContentHash>,
    /// Those of files, by their topic and key.
    of_files: HashMap<ContentHash, Vec<ContentHash>>,
}

impl Standing {
    /// Those that stand in a lake as of its last commit.
    ///
    /// # Errors
    /// The lake can't be read.
    pub async fn load(lake: Option<&Lake>) -> Result<Self, lake::Error> {
        let Some(lake) = lake else { return Ok(Self::default()) };
        let mut counts: BTreeMap<ContentHash, (Diff, Option<ContentHash>)> = BTreeMap::new();
        lake.read_changes(None, |reject: Reject, _, diff| {
            if reject.stage == Stage::Decode {
                counts.entry(reject.id).or_insert_with(|| (0, file_key(&reject))).0 += diff;
            }
        })
        .await?;
        let mut standing = Self::default();
        for (id, (_, of_file)) in counts.into_iter().filter(|(_, (count, _))| *count > 0) {
            standing.insert(id, of_file);
        }
        Ok(standing)
    }

    fn insert(&mut self, id: ContentHash, of_file: Option<ContentHash>) -> bool {
        let is_new = self.ids.insert(id);
        if let Some(key) = of_file.filter(|_| is_new) {
            self.of_files.entry(key).or_default().push(id);
        }
        is_new
    }

    /// Notes a reject; false when it stands already.
    pub fn add(&mut self, reject: &Reject) -> bool {
        reject.stage != Stage::Decode || self.insert(reject.id, file_key(reject))
    }

    /// Whether a record is to be read: all but those that are sent again for a reject that does not stand.
    pub fn wants(&self, record: &RawRecord) -> bool {
        record.replays.is_none_or(|reject| self.ids.contains(&reject))
    }

    /// The rejects that no longer stand now that a record was read, with success or as another reject.
    pub fn answered(&mut self, record: &RawRecord, outcome: Option<&Reject>) -> Vec<ContentHash> {
        let mut answered: Vec<ContentHash> = record.replays.into_iter().collect();
        if record.offset.is_none() {
            let key = place(&record.topic, &String::from_utf8_lossy(record.key.as_deref().unwrap_or_default()));
            let of_key = self.of_files.remove(&key).unwrap_or_default();
            // The same failure stands on; the others were of what the file held before.
            let (same, others): (Vec<_>, Vec<_>) =
                of_key.into_iter().partition(|id| outcome.is_some_and(|reject| reject.id == *id));
            if !same.is_empty() {
                self.of_files.insert(key, same);
            }
            answered.extend(others);
        }
        answered.retain(|id| self.ids.remove(id));
        answered
    }
}

fn file_key(reject: &Reject) -> Option<ContentHash> {
    reject.offset.is_none().then(|| place(&reject.topic, &reject.key))
}

fn place(topic: &str, key: &str) -> ContentHash {
    ContentHash::of_parts([topic, key])
}

/// The changes of table rejects: what came, and the rows of what was answered. What stood before has to be committed for
/// its rows to be found, so a commit comes first where something was answered in a pipeline that is alone.
///
/// # Errors
/// The lake can't be read or written.
pub async fn changes(
    pipeline: &mut Pipeline,
    fresh: Vec<Reject>,
    answered: &BTreeSet<ContentHash>,
) -> Result<Vec<(Reject, Diff)>, pipeline::Error> {
    let (gone, came): (Vec<Reject>, Vec<Reject>) = fresh.into_iter().partition(|reject| answered.contains(&reject.id));
    let mut changes: Vec<(Reject, Diff)> = came.into_iter().map(|reject| (reject, 1)).collect();
    if answered.len() > gone.len() && pipeline.lake().is_some() {
        // In a cluster sources have offsets, and what is sent again for a reject was found in the lake.
        if pipeline.is_alone() {
            pipeline.commit().await?;
        }
        let mut rows: BTreeMap<Reject, Diff> = BTreeMap::new();
        if let Some(lake) = pipeline.lake() {
            let add = |reject: Reject, _, diff| {
                if answered.contains(&reject.id) {
                    *rows.entry(reject).or_default() += diff;
                }
            };
            lake.read_changes(None, add).await?;
        }
        changes.extend(rows.into_iter().filter(|(_, count)| *count > 0).map(|(reject, count)| (reject, -count)));
    }
    Ok(changes)
}

/// The rejects that stand in a lake as of an epoch, with the epoch in which each came.
///
/// # Errors
/// The lake can't be read.
pub async fn standing(lake: &Lake, as_of: Epoch) -> Result<Vec<(Reject, Epoch)>, lake::Error> {
    let mut rows: BTreeMap<Reject, (Diff, Epoch)> = BTreeMap::new();
    lake.read_changes(Some(as_of), |reject: Reject, epoch, diff| {
        let row = rows.entry(reject).or_default();
        *row = (row.0 + diff, if diff > 0 { row.1.max(epoch) } else { row.1 });
    })
    .await?;
    Ok(rows.into_iter().filter(|(_, (count, _))| *count > 0).map(|(reject, (_, epoch))| (reject, epoch)).collect())
}

/// How a reject can be sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Again {
    /// As this record.
    Record(RawRecord),
    /// As the record that stands in its topic at this partition and offset: its bytes or its key are not whole in the lake.
    InTopic(i32, i64),
    /// Not at all, for this reason.
    Never(&'static str),
}

/// How a reject can be sent again: to its topic and partition, under its key.
pub fn again(reject: &Reject) -> Again {
    match reject.stage {
        Stage::Extract | Stage::Canonicalize => {
            return Again::Never(
                "its document stands in the lake: once the grammar or the pack is fixed, the next start reads it again; \
                 once the document is corrected, this goes by itself",
            );
        }
        Stage::Answer => {
            return Again::Never(
                "it stands in the lake and is answered as soon as its pack can, or it asks for something else",
            );
        }
        Stage::Gap => {
            return Again::Never("the topic no longer has these records: their senders have to send them again");
        }
        Stage::Decode => {}
    }
    let (Some(partition), Some(offset)) = (reject.partition, reject.offset) else {
        return Again::Never("it comes from a file: correct the file, the next run reads it again");
    };
    let payload = STANDARD.decode(&reject.payload_base64).unwrap_or_default();
    // A key that was no UTF-8 is shown with signs in place of its bytes.
    if payload.is_empty() || reject.key.contains('\u{fffd}') {
        return Again::InTopic(partition, offset);
    }
    let mut record = RawRecord::new(&reject.topic.as_str().into(), reject.key.as_str(), Some(payload));
    record.key = record.key.filter(|key| !key.is_empty());
    record.partition = Some(partition);
    record.replays = Some(reject.id);
    Again::Record(record)
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::{Reject, Stage};

    use super::{Again, Standing, again};
    use crate::connect::{
        format::{Decoder, reject},
        transport::RawRecord,
    };

    fn bad(key: &str, offset: Option<i64>, payload: &[u8]) -> (RawRecord, Reject) {
        let mut raw = RawRecord::new(&"documents".into(), key, Some(payload.to_vec()));
        (raw.partition, raw.offset) = (offset.map(|_| 1), offset);
        let reject = Decoder::default().decode(&raw).unwrap_err();
        (raw, *reject)
    }

    #[test]
    fn a_copy_is_wanted_while_its_reject_stands_and_only_once() {
        let mut standing = Standing::default();
        let (raw, reject) = bad("k", Some(7), b"no json");
        assert!(standing.wants(&raw) && standing.add(&reject) && !standing.add(&reject));
        let Again::Record(copy) = again(&reject) else { panic!("{:?}", again(&reject)) };
        assert_eq!((copy.payload.as_deref(), copy.key.as_deref()), (Some(&b"no json"[..]), Some(&b"k"[..])));
        assert_eq!((copy.partition, copy.replays), (Some(1), Some(reject.id)));
        let copy = RawRecord { offset: Some(9), ..copy };
        assert!(standing.wants(&copy));
        assert_eq!(standing.answered(&copy, None), [reject.id]);
        assert!(!standing.wants(&copy));
    }

    #[test]
    fn a_file_that_is_read_again_answers_what_it_was_rejected_for() {
        let mut standing = Standing::default();
        let (raw, first) = bad("a.json", None, b"{}");
        standing.add(&first);
        // Unchanged: the same row stands on.
        assert!(standing.answered(&raw, Some(&first)).is_empty() && !standing.add(&first));
        let (other_raw, second) = bad("a.json", None, b"[]");
        assert_eq!(standing.answered(&other_raw, Some(&second)), [first.id]);
        assert!(standing.add(&second));
        assert_eq!(standing.answered(&raw, None), [second.id]);
        assert!(standing.answered(&raw, None).is_empty());
    }

    #[test]
    fn what_the_lake_does_not_hold_whole_is_looked_up_and_what_is_no_record_says_why() {
        let (_, whole) = bad("k", Some(7), b"no json");
        let without_bytes = Reject { payload_base64: String::new(), ..whole.clone() };
        assert_eq!(again(&without_bytes), Again::InTopic(1, 7));
        assert_eq!(again(&Reject { key: "\u{fffd}x".into(), ..whole.clone() }), Again::InTopic(1, 7));
        let words = |reject: Reject| match again(&reject) {
            Again::Never(reason) => reason,
            other => panic!("{other:?}"),
        };
        assert!(words(Reject { offset: None, ..whole.clone() }).contains("file"));
        assert!(words(Reject { stage: Stage::Gap, ..whole.clone() }).contains("senders"));
        assert!(words(Reject { stage: Stage::Extract, ..whole }).contains("next start"));
        let raw = RawRecord::new(&"documents".into(), "", None);
        assert!(matches!(again(&reject(&raw, Stage::Decode, None, "x".into(), true)), Again::Never(_)));
    }
}
