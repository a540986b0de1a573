//! The configuration of `hypercane run`: one TOML file, with overrides from the environment.
//!
//! What a pipeline *is* stands in the file. A variable `HYPERCANE__SECTION__KEY` overrides one value for one process:
//! `HYPERCANE__LAKE__LOCATION=/data/lake`. A wrong key, type or value is named with its line, or with its variable.
//! Shells allow no dot in the name of a variable, so a property of librdkafka is written with underscores there:
//! `HYPERCANE__SOURCE__KAFKA__PROPERTIES__SASL_PASSWORD`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

use crate::connect::language_model;

/// Prefix of the environment variables that override.
const PREFIX: &str = "HYPERCANE__";

/// The whole configuration, checked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The pipeline itself.
    #[serde(default)]
    pub pipeline: Pipeline,
    /// Where input comes from.
    pub source: Source,
    /// Where results are written.
    pub lake: Lake,
    /// The embedding model.
    #[serde(default)]
    pub model: Model,
    /// The language model that extracts; none where none is asked.
    #[serde(default)]
    pub language_model: Option<language_model::Settings>,
    /// Several processes that work together.
    #[serde(default)]
    pub cluster: Option<Cluster>,
    /// What is told of the pipeline's sizes.
    #[serde(default)]
    pub metrics: Metrics,
}

/// The pipeline itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pipeline {
    /// Name of the pipeline; a lake belongs to one.
    pub id: String,
    /// Worker threads of the dataflow.
    pub workers: usize,
    /// The domain pack: a folder, or the name of a pack that ships with the program.
    pub domain: String,
    /// Most records that become visible together.
    pub max_epoch_records: usize,
    /// Longest time for which results may wait for their commit, in milliseconds.
    pub commit_interval_ms: u64,
    /// Largest record that is taken, in bytes; a larger one is a reject.
    pub max_record_bytes: usize,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self {
            id: "hypercane".into(),
            workers: 2,
            domain: "cyclone".into(),
            max_epoch_records: 256,
            commit_interval_ms: 500,
            max_record_bytes: 8 << 20,
        }
    }
}

impl Pipeline {
    /// Longest time for which results may wait for their commit.
    pub fn commit_interval(&self) -> Duration {
        Duration::from_millis(self.commit_interval_ms)
    }
}

/// Where input comes from: exactly one of the two.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Apache Kafka.
    #[serde(default)]
    pub kafka: Option<Kafka>,
    /// Files.
    #[serde(default)]
    pub files: Option<Files>,
}

/// Topics of Apache Kafka.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kafka {
    /// Properties of librdkafka, as its documentation names them; `bootstrap.servers` is needed.
    pub properties: BTreeMap<String, String>,
    /// Names of the topics.
    #[serde(default)]
    pub topics: Topics,
    /// Whether missing topics are created, with this many partitions each.
    #[serde(default)]
    pub create_partitions: Option<i32>,
}

/// Names of the topics.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Topics {
    /// Documents, in.
    pub documents: String,
    /// Reference times, in.
    pub horizons: String,
    /// Standing questions, in.
    pub queries: String,
    /// Changes of answers, out.
    pub results: String,
    /// Records that could not be used, out.
    pub rejects: String,
}

impl Default for Topics {
    fn default() -> Self {
        Self {
            documents: "documents".into(),
            horizons: "horizons".into(),
            queries: "queries".into(),
            results: "results".into(),
            rejects: "rejects".into(),
        }
    }
}

/// Files: a folder, a glob, JSON Lines.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// Folders, files or globs.
    pub paths: Vec<String>,
    /// Whether to go on watching them; else the pipeline ends when all is read.
    #[serde(default)]
    pub watch: bool,
}

/// The lake.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lake {
    /// A folder, or the URL of an object store.
    pub location: String,
    /// A table with more small files than this is compacted while the pipeline runs; 0 for never.
    #[serde(default)]
    pub small_files: Option<usize>,
    /// Small files older than this are merged also where they are few, in minutes.
    #[serde(default)]
    pub merge_after_minutes: Option<u64>,
    /// How long removed files and old log entries are kept, in hours.
    #[serde(default)]
    pub retention_hours: Option<u64>,
    /// How far back the state at an epoch stays readable, in hours; for ever if not given.
    #[serde(default)]
    pub history_hours: Option<u64>,
}

/// What is told of the pipeline's sizes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Metrics {
    /// The file that they are written to, in the text form of Prometheus; none if not given.
    pub file: Option<PathBuf>,
    /// How often, in seconds.
    pub interval_s: u64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self { file: None, interval_s: 15 }
    }
}

/// The embedding model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// Folder of the model's files.
    pub folder: PathBuf,
    /// Threads of the model.
    pub threads: usize,
}

impl Default for Model {
    fn default() -> Self {
        Self { folder: ".cache/models/all-MiniLM-L6-v2".into(), threads: 2 }
    }
}

/// Several processes that work together, each with its own partitions of the topics.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Where each process listens, `host:port`; the first one leads.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Which of them this process is, from 0.
    #[serde(default)]
    pub process: Option<usize>,
}

impl Cluster {
    /// Reads the hosts from a file: one a line; what follows a `#` is a comment.
    ///
    /// # Errors
    /// The file can't be read, or names nobody.
    pub fn read_hosts(path: &Path) -> Result<Vec<String>, Error> {
        let text = fs::read_to_string(path).map_err(|cause| Error::Read { path: path.into(), cause })?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let hosts: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
        if hosts.is_empty() {
            let message = "it names no process: give host:port of each, one a line".into();
            return Err(Error::File { path: path.into(), message });
        }
        Ok(hosts)
    }

    /// Which process this is.
    ///
    /// # Errors
    /// That is not said, or there is no such process: says what to do.
    pub fn place(&self) -> Result<usize, String> {
        let last = self.hosts.len().saturating_sub(1);
        match self.process {
            _ if self.hosts.is_empty() => {
                Err("[cluster] has no hosts: set cluster.hosts, or give --hostfile".to_owned())
            }
            Some(process) if process <= last => Ok(process),
            Some(process) => Err(format!(
                "there is no process {process}: cluster.hosts has {} entries, so a process is 0 to {last}",
                self.hosts.len()
            )),
            None => Err(format!("which process is this? give --process 0 to {last}, or set cluster.process")),
        }
    }
}

/// A configuration that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file can't be read.
    #[error("the configuration {path:?} can't be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The file is wrong.
    #[error("the configuration {path:?} is wrong: {message}")]
    File {
        /// The file.
        path: PathBuf,
        /// Line, column, what is wrong there.
        message: String,
    },
    /// A variable is wrong.
    #[error("the environment variable {variable} is wrong: {message}")]
    Variable {
        /// Its name.
        variable: String,
        /// What is wrong.
        message: String,
    },
}

impl Config {
    /// Reads a file and applies the variables of the environment given.
    ///
    /// # Errors
    /// The file can't be read, or a key, type or value is wrong: says which, and where.
    pub fn load(path: &Path, environment: impl IntoIterator<Item = (String, String)>) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|cause| Error::Read { path: path.into(), cause })?;
        Self::parse(&text, environment).map_err(|e| match e {
            Error::File { message, .. } => Error::File { path: path.into(), message },
            other => other,
        })
    }

    /// As [`Config::load`], from text.
    ///
    /// # Errors
    /// A key, type or value is wrong.
    pub fn parse(text: &str, environment: impl IntoIterator<Item = (String, String)>) -> Result<Self, Error> {
        let in_file = |message: String| Error::File { path: PathBuf::new(), message };
        // The file alone comes first, so that its errors carry their lines.
        let mut config: Self = toml::from_str(text).map_err(|e| in_file(e.to_string()))?;
        let mut table: toml::Table = toml::from_str(text).map_err(|e| in_file(e.to_string()))?;
        let mut variables: Vec<(String, String)> =
            environment.into_iter().filter(|(name, _)| name.starts_with(PREFIX)).collect();
        variables.sort();
        for (variable, value) in variables {
            let wrong = |message: String| Error::Variable { variable: variable.clone(), message };
            let path: Vec<String> = variable[PREFIX.len()..].split("__").map(str::to_lowercase).collect();
            set(&mut table, &path, &value).map_err(wrong)?;
            config = table.clone().try_into().map_err(|e: toml::de::Error| wrong(e.message().to_owned()))?;
        }
        config.check().map_err(in_file)?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        match (&self.source.kafka, &self.source.files) {
            (Some(_), Some(_)) => return Err("[source.kafka] and [source.files] exclude each other; keep one".into()),
            (None, None) => return Err("no source: add [source.kafka] or [source.files]".into()),
            (Some(kafka), None) if !kafka.properties.contains_key("bootstrap.servers") => {
                return Err("[source.kafka.properties] needs \"bootstrap.servers\", such as \"localhost:9092\"".into());
            }
            (None, Some(files)) if files.paths.is_empty() => {
                return Err("source.files.paths is empty; name a folder, a file or a glob".into());
            }
            _ => {}
        }
        if self.pipeline.workers == 0 {
            return Err("pipeline.workers is 0; at least one worker is needed".into());
        }
        if self.pipeline.max_epoch_records == 0 {
            return Err("pipeline.max_epoch_records is 0; at least one record must fit into an epoch".into());
        }
        if self.cluster.is_some() && self.source.kafka.is_none() {
            return Err(
                "[cluster] needs [source.kafka]: processes share the partitions of topics, files they can't".into()
            );
        }
        if self.lake.location.is_empty() {
            return Err("lake.location is empty; name a folder or a URL".into());
        }
        if self.lake.retention_hours == Some(0) {
            return Err(
                "lake.retention_hours is 0; files that someone still reads would be deleted, give 1 or more".into()
            );
        }
        if self.lake.history_hours == Some(0) {
            return Err("lake.history_hours is 0; give 1 or more, or leave it out to keep all history".into());
        }
        if let Some(language_model) = &self.language_model {
            language_model.check()?;
        }
        if self.metrics.interval_s == 0 {
            return Err("metrics.interval_s is 0; give the seconds between two writes".into());
        }
        Ok(())
    }
}

/// Sets one value in the table; numbers, booleans and arrays are read as TOML, all else is text.
fn set(table: &mut toml::Table, path: &[String], value: &str) -> Result<(), String> {
    let Some((last, sections)) = path.split_last() else { return Err("it names no key".into()) };
    let mut section = table;
    for name in sections {
        let entry = section.entry(name.clone()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        section = entry.as_table_mut().ok_or_else(|| format!("`{name}` is no section"))?;
    }
    if sections == ["source", "kafka", "properties"] {
        section.insert(property(last), toml::Value::String(value.into()));
        return Ok(());
    }
    let read: Option<toml::Value> = toml::from_str::<toml::Table>(&format!("v = {value}"))
        .ok()
        .and_then(|mut table| table.remove("v"))
        .filter(|value| !value.is_datetime());
    section.insert(last.clone(), read.unwrap_or_else(|| toml::Value::String(value.into())));
    Ok(())
}

/// The property of librdkafka that a variable's last part names. All but three are words joined by dots.
fn property(name: &str) -> String {
    if ["ssl_ca", "ssl_certificate", "ssl_key"].contains(&name) { name.into() } else { name.replace('_', ".") }
}

#[cfg(test)]
mod tests {
    use super::{Config, Error};

    const MINIMAL: &str = "[source.files]\npaths = [\"in\"]\n[lake]\nlocation = \"out\"\n";

    fn parse(text: &str, environment: &[(&str, &str)]) -> Result<Config, Error> {
        Config::parse(text, environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn a_minimal_file_takes_the_defaults() {
        let config = parse(MINIMAL, &[]).unwrap();
        assert_eq!(config.pipeline.workers, 2);
        assert_eq!(config.lake.location, "out");
        assert!(parse(MINIMAL, &[("HYPERCANE__LAKE__RETENTION_HOURS", "0")]).is_err());
    }

    #[test]
    fn a_misspelt_key_is_named_with_its_line() {
        let text = format!("{MINIMAL}[pipeline]\nworkes = 4\n");
        let message = parse(&text, &[]).unwrap_err().to_string();
        assert!(message.contains("line 6") && message.contains("workes") && message.contains("workers"), "{message}");
    }

    #[test]
    fn a_wrong_type_is_named_with_its_line() {
        let text = format!("{MINIMAL}[pipeline]\nworkers = \"two\"\n");
        let message = parse(&text, &[]).unwrap_err().to_string();
        assert!(message.contains("line 6") && message.contains("workers"), "{message}");
    }

    #[test]
    fn the_environment_overrides_and_its_errors_name_the_variable() {
        let config = parse(MINIMAL, &[("HYPERCANE__PIPELINE__WORKERS", "4"), ("HOME", "x")]).unwrap();
        assert_eq!(config.pipeline.workers, 4);
        let config = parse(MINIMAL, &[("HYPERCANE__LAKE__LOCATION", "/data/lake")]).unwrap();
        assert_eq!(config.lake.location, "/data/lake");
        let message = parse(MINIMAL, &[("HYPERCANE__PIPELINE__WORKERS", "many")]).unwrap_err().to_string();
        assert!(message.contains("HYPERCANE__PIPELINE__WORKERS"), "{message}");
        let message = parse(MINIMAL, &[("HYPERCANE__PIPELINE__WORKES", "4")]).unwrap_err().to_string();
        assert!(message.contains("HYPERCANE__PIPELINE__WORKES"), "{message}");
    }

    #[test]
    fn a_property_of_librdkafka_is_set_by_its_name_with_underscores() {
        let text = "[source.kafka.properties]\n\"bootstrap.servers\" = \"a:9092\"\n[lake]\nlocation = \"out\"\n";
        let variables = [
            ("HYPERCANE__SOURCE__KAFKA__PROPERTIES__BOOTSTRAP_SERVERS", "b:9092"),
            ("HYPERCANE__SOURCE__KAFKA__PROPERTIES__FETCH_WAIT_MAX_MS", "20"),
        ];
        let properties = parse(text, &variables).unwrap().source.kafka.unwrap().properties;
        let of = |name| properties.get(name).map(String::as_str);
        assert_eq!((of("bootstrap.servers"), of("fetch.wait.max.ms")), (Some("b:9092"), Some("20")));
    }

    #[test]
    fn a_language_model_is_named_and_its_address_holds_no_key() {
        let of = |lines: &str, environment: &[_]| parse(&format!("{MINIMAL}[language_model]\n{lines}"), environment);
        let text =
            "base_url = \"http://localhost:1/v1\"\nmodel = \"m\"\nkey_env = \"M_KEY\"\nrequests_per_minute = 60\n";
        let settings = of(text, &[("HYPERCANE__LANGUAGE_MODEL__BUDGET_CALLS", "7")]).unwrap().language_model.unwrap();
        assert_eq!((settings.budget_calls, settings.concurrency, settings.extracts), (Some(7), 4, false));
        assert!(of("model = \"m\"\nextracts = true", &[]).unwrap().language_model.unwrap().extracts);
        let told = |lines: &str| of(lines, &[]).unwrap_err().to_string();
        assert!(told("base_url = \"http://localhost:1\"").contains("language_model.model"));
        let leaky = told("base_url = \"http://me:secret@localhost:1\"\nmodel = \"m\"");
        assert!(leaky.contains("key_env") && !leaky.contains("secret"), "{leaky}");
        assert!(told("base_url = \"localhost\"\nmodel = \"m\"").contains("base_url"));
        assert!(told("model = \"m\"\nconcurrency = 0").contains("language_model.concurrency"));
        assert!(told("model = \"m\"\n[language_model.parameters]\nstream = true").contains("parameters.stream"));
        assert!(parse(MINIMAL, &[]).unwrap().language_model.is_none());
    }

    #[test]
    fn a_process_of_a_cluster_has_to_know_its_place() {
        let text = "[source.kafka.properties]\n\"bootstrap.servers\" = \"a:9092\"\n[lake]\nlocation = \"out\"\n\
                    [cluster]\nhosts = [\"a:7400\", \"b:7400\"]\n";
        let place = |variables: &[_]| parse(text, variables).unwrap().cluster.unwrap().place();
        assert_eq!(place(&[("HYPERCANE__CLUSTER__PROCESS", "1")]), Ok(1));
        assert!(place(&[]).unwrap_err().contains("--process"));
        assert!(place(&[("HYPERCANE__CLUSTER__PROCESS", "2")]).unwrap_err().contains("0 to 1"));
        let files = format!("{MINIMAL}[cluster]\nhosts = [\"a:7400\"]\n");
        assert!(parse(&files, &[]).unwrap_err().to_string().contains("[source.kafka]"));
    }

    #[test]
    fn a_source_is_needed_and_only_one() {
        assert!(parse("[source]\n[lake]\nlocation = \"out\"\n", &[]).unwrap_err().to_string().contains("no source"));
        let both = format!("{MINIMAL}[source.kafka.properties]\n\"bootstrap.servers\" = \"x\"\n");
        assert!(parse(&both, &[]).unwrap_err().to_string().contains("exclude"));
    }
}
