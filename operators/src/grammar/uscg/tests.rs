//! Posts written for these tests in the manner of the Coast Guard's.
