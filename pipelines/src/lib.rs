//! Dataflows, connectors, the lake and the command: where Hypercane meets the world.

pub mod connect;
pub mod eval;
