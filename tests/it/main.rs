//! Behaviour of the whole.
