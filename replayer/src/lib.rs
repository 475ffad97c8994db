//! Replays traces of texture sampling bit for bit and says why a texel differs.

pub mod batch;
pub mod capture;
pub mod cli;
pub mod compare;
pub mod coverage;
pub mod emulated;
pub mod execute;
pub mod expectations;
pub mod explain;
pub mod fit;
pub mod fuzz;
pub mod generate;
pub mod interchange;
pub mod materialise;
pub mod native;
pub mod path;
pub mod recorded;
pub mod reduce;
pub mod reference;
pub mod refusal;
pub mod report;
pub mod results;
pub mod rules;
pub mod source;
pub mod state;
pub mod step;
