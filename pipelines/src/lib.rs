//! Dataflows, connectors, the lake and the command: where Hypercane meets the world.

pub mod ask;
pub mod bench;
pub mod changes;
pub mod check_extraction;
pub mod cli;
mod commit;
pub mod config;
pub mod connect;
pub mod enrich;
pub mod eval;
pub mod export;
pub mod extract;
pub mod idle;
pub mod live;
pub mod pipeline;
pub mod publish;
pub mod reconcile;
pub mod replay;
pub mod results;
pub mod run;
pub mod sizes;
pub mod telemetry;
pub mod texts;
pub mod vectors;
pub mod verify;
pub mod worker;
