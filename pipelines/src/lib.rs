//! Dataflows, connectors, the lake and the command: where Hypercane meets the world.

pub mod changes;
pub mod check_extraction;
pub mod config;
pub mod connect;
pub mod eval;
pub mod live;
pub mod worker;
