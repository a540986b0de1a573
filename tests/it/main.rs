//! Behaviour of the whole, in one test binary.
//!
//! - `arrival`: shuffled and repeated records through Kafka give the hypergraph of the files in order
//! - `histories`: random histories, and their scripts in the session format of `operators/tests/laws/session.rs`
//! - `harness`: the running engine, and what it accumulates to
//! - `plain`: the hypergraph by its definition, from scratch
//! - `hypergraph`: incremental equals rebuild, on 1, 2 and 4 workers
//! - `cluster`: several processes are one pipeline, also after one of them dies
//! - `general`: any English text, read sentence by sentence
//! - `chunks`: long texts, of which an edit reads only what it changes
//! - `deletions`: what other engines of knowledge graphs do wrong, one test each
//! - `watched`: a watched folder is what stands, also after the process was down
//! - `multihop`: retrieval over a corpus, by the command
//! - `command`: the command, as users run it
//! - `bad_input`: what cannot be used is kept with its reason, and the stream goes on
//! - `lakes`: small lakes, made by a pipeline
//! - `compact`: a lake in fewer files, with less history
//! - `export`: the state of a lake as plain files, and that equal states are equal bytes
//! - `extract`: a language model's answers about documents, ahead of a run
//! - `language_model`: a pipeline that reads texts by such answers
//! - `endpoint`: an endpoint that answers as a test wants
//! - `secured`: a broker that takes TLS and SASL only
//! - `ask`: one question, of a lake and of a running pipeline
//! - `verify`: a lake is what a rebuild of its input gives, and what is not is shown
//! - `schemas`: serde, Arrow and JSON Schema agree
//! - `faults`: brokers, disks and files that fail under the real command, and what its user sees
//! - `tidy`: the layout's invariants

// The modules of a test binary are seen by nobody outside.
#![allow(unreachable_pub)]

mod arrival;
mod ask;
mod bad_input;
mod chunks;
mod cluster;
mod command;
mod compact;
mod deletions;
#[path = "../../pipelines/src/connect/language_model/tests/server.rs"]
mod endpoint;
mod export;
mod extract;
mod faults;
mod general;
mod harness;
mod histories;
mod hypergraph;
mod lakes;
mod language_model;
mod multihop;
mod plain;
mod schemas;
mod secured;
#[path = "../../operators/tests/laws/session.rs"]
mod session;
#[path = "../../operators/tests/laws/settings.rs"]
mod settings;
mod tidy;
mod verify;
mod watched;
