//! Replays traces of texture sampling bit for bit and says why a texel differs.

pub mod emulated;
pub mod execute;
pub mod path;
pub mod refusal;
pub mod reference;
pub mod rules;
pub mod state;
