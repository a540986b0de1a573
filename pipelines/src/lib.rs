//! Dataflows, connectors, the lake and the command: where Hypercane meets the world.

pub mod check_extraction;
pub mod connect;
