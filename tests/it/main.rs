//! Behaviour of the whole, in one test binary.
//!
//! - `harness`: random histories, the running engine, and what it accumulates to
//! - `plain`: the hypergraph by its definition, from scratch
//! - `hypergraph`: incremental equals rebuild, on 1, 2 and 4 workers
//! - `tidy`: the layout's invariants

mod harness;
mod hypergraph;
mod plain;
mod tidy;
