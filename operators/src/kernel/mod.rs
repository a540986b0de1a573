//! Plain functions: no dataflow, no input or output, no clock. An operator of the same name runs each over collections.

pub mod link;
