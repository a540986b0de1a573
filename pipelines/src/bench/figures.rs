//! What was measured, and its table.

use std::{fmt, time::Duration};

use serde::Serialize;

use super::Change;
use crate::pipeline::Stepped;

/// All figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Worker threads.
    pub n_workers: usize,
    /// Vectors that the documents and questions need.
    pub n_vectors_recorded: usize,
    /// How long it took to have them all on the record; not part of any other figure.
    pub recording_seconds: f64,
    /// From topics in memory to committed Parquet, without standing questions.
    pub load: Load,
    /// The same from Kafka.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kafka_load: Option<Load>,
    /// Standing questions.
    pub n_questions: usize,
    /// How long it took to take them in.
    pub questions_seconds: f64,
    /// One record at a time before they stood.
    pub without_questions: Latency,
    /// One record at a time.
    pub with_questions: Latency,
    /// Everything again.
    pub rebuild: Rebuild,
}

/// Loading.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Load {
    /// Documents.
    pub n_documents: usize,
    /// Bytes of their payloads.
    pub n_bytes: usize,
    /// Epochs.
    pub n_epochs: u64,
    /// From the first record to the last commit.
    pub seconds: f64,
    /// Documents a second.
    pub documents_per_second: f64,
}

impl Load {
    pub(super) fn new(n_documents: usize, n_bytes: usize, n_epochs: u64, seconds: f64) -> Self {
        Self { n_documents, n_bytes, n_epochs, seconds, documents_per_second: n_documents as f64 / seconds.max(1e-9) }
    }
}

/// From one record to the changed answers, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// Records.
    pub n_records: usize,
    /// Steps of answers that came, went or moved.
    pub n_results: usize,
    /// Half of the records take no longer.
    pub p50_ms: f64,
    /// 99 of a hundred take no longer.
    pub p99_ms: f64,
    /// The slowest.
    pub max_ms: f64,
    /// The median of documents that arrive.
    pub arrives_p50_ms: f64,
    /// The median of documents that are corrected.
    pub corrected_p50_ms: f64,
    /// The median of documents that are deleted.
    pub deleted_p50_ms: f64,
    /// The median time for extraction and the record of vectors, before the dataflow.
    pub enrich_p50_ms: f64,
    /// The median time in the dataflow.
    pub dataflow_p50_ms: f64,
    /// The median time to tell what changed.
    pub results_p50_ms: f64,
    #[serde(skip)]
    all: Vec<Sample>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    change: Change,
    whole: f64,
    enrich: f64,
    dataflow: f64,
    results: f64,
}

impl Latency {
    pub(super) fn add(&mut self, change: Change, whole: Duration, stepped: &Stepped) {
        let took = stepped.took;
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        self.n_results += stepped.results.len();
        self.all.push(Sample {
            change,
            whole: ms(whole),
            enrich: ms(took.enrich),
            dataflow: ms(took.dataflow),
            results: ms(took.results),
        });
    }

    pub(super) fn finish(&mut self) {
        let of = |share: f64, part: fn(&Sample) -> f64, only: Option<Change>| {
            let chosen = self.all.iter().filter(|sample| only.is_none_or(|only| only == sample.change));
            quantile(chosen.map(part).collect(), share)
        };
        let whole: fn(&Sample) -> f64 = |sample| sample.whole;
        let (p50, p99, max) = (of(0.5, whole, None), of(0.99, whole, None), of(1.0, whole, None));
        let (arrives, corrected, deleted) = (
            of(0.5, whole, Some(Change::Arrives)),
            of(0.5, whole, Some(Change::Corrected)),
            of(0.5, whole, Some(Change::Deleted)),
        );
        let (enrich, dataflow, results) = (
            of(0.5, |sample| sample.enrich, None),
            of(0.5, |sample| sample.dataflow, None),
            of(0.5, |sample| sample.results, None),
        );
        (self.n_records, self.p50_ms, self.p99_ms, self.max_ms) = (self.all.len(), p50, p99, max);
        (self.arrives_p50_ms, self.corrected_p50_ms, self.deleted_p50_ms) = (arrives, corrected, deleted);
        (self.enrich_p50_ms, self.dataflow_p50_ms, self.results_p50_ms) = (enrich, dataflow, results);
    }
}

/// The smallest value that at least the share of them does not exceed; zero of none.
pub(super) fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (values.len() as f64 * share).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// Everything computed again, against one more advisory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rebuild {
    /// The state with its answers from nothing, without a lake.
    pub seconds: f64,
    /// Rows of that state.
    pub n_rows: usize,
    /// How much longer it takes than the median advisory that arrives.
    pub ratio: f64,
}

impl Rebuild {
    pub(super) fn new(seconds: f64, n_rows: usize, latency: &Latency) -> Self {
        Self { seconds, n_rows, ratio: seconds * 1e3 / latency.arrives_p50_ms.max(1e-6) }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::ASCII_MARKDOWN);
        table.set_header(["what", "figure"]);
        let mut row = |what: &str, figure: String| _ = table.add_row([what, &figure]);
        row("workers", self.n_workers.to_string());
        row("vectors on the record", format!("{} in {:.1} s", self.n_vectors_recorded, self.recording_seconds));
        let mut loaded = |what: &str, load: &Load| {
            let mb = load.n_bytes as f64 / 1e6;
            let (rate, n, seconds) = (load.documents_per_second, load.n_documents, load.seconds);
            row(what, format!("{rate:.0} documents/s ({n}, {mb:.1} MB, {seconds:.1} s, {} epochs)", load.n_epochs));
        };
        loaded("memory topic to committed Parquet", &self.load);
        if let Some(load) = &self.kafka_load {
            loaded("Kafka topic to committed Parquet", load);
        }
        row("questions", format!("{} in {:.2} s", self.n_questions, self.questions_seconds));
        let mut one_by_one = |what: &str, latency: &Latency| {
            let (p50, p99, max) = (latency.p50_ms, latency.p99_ms, latency.max_ms);
            row(what, format!("p50 {p50:.1} ms, p99 {p99:.1} ms, max {max:.1} ms ({})", latency.n_records));
            row(
                "  arrives, corrected, deleted (p50)",
                format!(
                    "{:.1}, {:.1}, {:.1} ms",
                    latency.arrives_p50_ms, latency.corrected_p50_ms, latency.deleted_p50_ms
                ),
            );
            row(
                "  extraction and vectors, dataflow, results (p50)",
                format!(
                    "{:.1}, {:.1}, {:.1} ms",
                    latency.enrich_p50_ms, latency.dataflow_p50_ms, latency.results_p50_ms
                ),
            );
            row("  changes of answers", latency.n_results.to_string());
        };
        one_by_one("one record, no questions", &self.without_questions);
        one_by_one("one record to changed answers", &self.with_questions);
        row("rebuild from scratch", format!("{:.1} s, {} rows", self.rebuild.seconds, self.rebuild.n_rows));
        row("rebuild / one more advisory", format!("{:.0}", self.rebuild.ratio));
        write!(f, "{table}")
    }
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_are_values_of_the_sample() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(quantile(values.clone(), 0.5), 100.0);
        assert_eq!(quantile(values.clone(), 0.99), 198.0);
        assert_eq!(quantile(values, 1.0), 200.0);
        assert_eq!(quantile(Vec::new(), 0.5), 0.0);
    }
}
