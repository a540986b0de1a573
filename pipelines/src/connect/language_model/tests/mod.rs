//! The client and the extractor against a real endpoint on this machine.

mod client;
mod extractor;
mod import;
mod reasoner;
mod secrets;
mod server;

use hypercane_operators::language_model::{Passage, Prompt};

use super::{ApiKey, Client, Settings};
use server::{Reply, Server};

/// The prompt that ships.
const PROMPT: &str = include_str!("../../../../../data/domains/general/prompts/extract.md");

/// An answer that can be used.
const ANSWER: &str = r#"{"entities": [
    {"name": "Ada", "type": "person", "role": "writer", "alias": [], "desc": "A writer.", "conf": 0.9},
    {"name": "London", "type": "place", "role": "home", "alias": [], "desc": "", "conf": 0.8}],
  "hyperedges": [{"text": "Ada lived in London.", "entities": ["Ada", "London"], "relation": "lived in", "conf": 0.9}],
  "relations": [{"from": "Ada", "to": "London", "label": "lived in", "conf": 0.9}]}"#;

impl Server {
    /// Settings that lead to it.
    fn settings(&self) -> Settings {
        Settings {
            base_url: Some(self.base_url()),
            model: "test-model".into(),
            timeout_seconds: 5,
            retries: 2,
            ..Settings::default()
        }
    }
}

fn prompt() -> Prompt {
    Prompt::parse(PROMPT).unwrap()
}

fn passage(n: usize) -> Passage {
    Passage { title: format!("Page {n}"), text: format!("Ada lived in London in year {n}.") }
}

fn passages(n: usize) -> Vec<Passage> {
    (0..n).map(passage).collect()
}

/// A client that waits a few milliseconds where others wait half a second.
fn client(settings: &Settings) -> Client {
    client_with(settings, None)
}

fn client_with(settings: &Settings, key: Option<ApiKey>) -> Client {
    let mut client = Client::new(settings, key).unwrap();
    client.first_delay = std::time::Duration::from_millis(5);
    client
}
