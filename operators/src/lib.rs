//! The maintained hypergraph: kernels, grammars and dataflow operators.
//!
//! Nothing here reads a file, a clock, a topic or the network; domain knowledge comes in through [`domain::Domain`].

pub mod domain;
pub mod extraction;
pub mod grammar;
pub mod kernel;
