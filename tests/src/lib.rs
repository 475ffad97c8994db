//! End-to-end tests live in `tests/`; this library holds what they share.

pub mod mock;
