//! Faults at the edges, with the real command, real brokers and real disks: what the user is told (what is wrong, where, and
//! what to do), that nothing is lost or corrupt afterwards, and that it goes on where it should.
//!
//! Each test prints what the user sees: `cargo test --release --workspace --test it faults -- --nocapture`, or `make faults`.

mod broker;
mod cluster;
mod disk;
mod gaps;
mod replays;
mod restarts;
mod running;
mod stops;
