//! The pack in the repository, and packs that are wrong.
