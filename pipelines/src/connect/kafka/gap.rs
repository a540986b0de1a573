//! Records that a topic no longer has: between the offset at which the lake goes on and the first one that is there.
//!
//! Nothing is skipped unless a person says so. Then the gap is a row in the table of rejects, with stage `gap`.

use hypercane_schemas::{ContentHash, Reject, Stage};
use rdkafka::consumer::{BaseConsumer, Consumer as _, ConsumerContext};

use super::{ANSWER_TIMEOUT, Error, Listener, failure};

/// A partition that does not have the offset at which it is to be read on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    topic: String,
    partition: i32,
    /// Where the lake goes on.
    committed: i64,
    /// The first offset that is there.
    first: i64,
    /// The offset after the last that is there.
    end: i64,
}

impl Gap {
    /// Asks whether a partition still has an offset, or ends with it.
    pub(super) fn find<C: ConsumerContext>(
        consumer: &BaseConsumer<C>,
        listener: &Listener,
        topic: &str,
        partition: i32,
        committed: i64,
    ) -> Result<Option<Self>, Error> {
        let (first, end) = consumer
            .fetch_watermarks(topic, partition, ANSWER_TIMEOUT)
            .map_err(|e| failure(format!("no broker says which offsets topic {topic} has"), e, Some(listener)))?;
        let is_there = (first..=end).contains(&committed);
        Ok((!is_there).then(|| Self { topic: topic.to_owned(), partition, committed, first, end }))
    }

    /// Where reading goes on for those who accept the gap.
    pub(super) fn goes_on_at(&self) -> i64 {
        self.first
    }

    /// What happened, for a person.
    fn what(&self) -> String {
        let Self { topic, partition, committed, first, end } = self;
        if committed < first {
            return format!(
                "partition {partition} of topic {topic} no longer has offsets {committed} to {}: the broker dropped {} \
                 records before they were read",
                first - 1,
                first - committed
            );
        }
        format!(
            "partition {partition} of topic {topic} ends at offset {end}, but the lake has read it up to {committed}: the \
             topic was made anew, or the broker lost its data"
        )
    }

    /// The row that stands for what is lost; its offset is the first one.
    pub(super) fn reject(&self) -> Reject {
        let reason = format!("{}; accepted, reading went on at offset {}", self.what(), self.goes_on_at());
        let (partition, offset) = (self.partition.to_string(), self.committed.to_string());
        Reject {
            id: ContentHash::of_parts([&self.topic, &*partition, &*offset, Stage::Gap.name(), &*reason]),
            topic: self.topic.clone(),
            partition: Some(self.partition),
            offset: Some(self.committed),
            key: String::new(),
            stage: Stage::Gap,
            line: None,
            reason,
            payload_base64: String::new(),
        }
    }
}

/// The error that these gaps are, for as long as nobody accepts them.
pub(super) fn error(gaps: &[Gap]) -> Error {
    let all: Vec<String> = gaps.iter().map(Gap::what).collect();
    let from: Vec<String> = gaps.iter().map(|gap| format!("{}/{}", gap.partition, gap.goes_on_at())).collect();
    Error::lasting(format!(
        "{}. Restore the topic, or send again what is missing and start with --accept-gap: it writes the gap down in table \
         rejects and goes on at what is there (partition/offset {})",
        all.join("; "),
        from.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::{Gap, error};

    #[test]
    fn a_gap_says_what_is_lost_and_what_to_do() {
        let expired = Gap { topic: "documents".into(), partition: 2, committed: 5, first: 42, end: 50 };
        let renewed = Gap { topic: "documents".into(), partition: 0, committed: 50, first: 0, end: 3 };
        let told = error(&[expired.clone(), renewed.clone()]).to_string();
        for words in [
            "partition 2",
            "offsets 5 to 41",
            "37 records",
            "ends at offset 3",
            "up to 50",
            "--accept-gap",
            "2/42, 0/0",
        ] {
            assert!(told.contains(words), "{words:?} is not in {told}");
        }
        assert_eq!((expired.reject().offset, expired.goes_on_at(), renewed.goes_on_at()), (Some(5), 42, 0));
        assert_ne!(expired.reject().id, renewed.reject().id);
    }
}
