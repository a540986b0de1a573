//! Tests of the lake.
