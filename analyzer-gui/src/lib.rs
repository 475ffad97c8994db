//! The analyzer's window as a library.
//!
//! [`model`] is everything that can be tested without a window: what is open and selected, evaluation in the background,
//! values, ranges, colours, pictures, exports. [`ui`] draws it. Every verdict and number comes from the `replayer` crate.

pub mod args;
pub mod model;
pub mod ui;
