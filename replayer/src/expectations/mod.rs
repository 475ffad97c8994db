//! Expectations: what is known not to match, and why, so that a change of behaviour can't hide behind it.
//!
//! ```toml
//! schema = 1
//!
//! [[expect]]
//! trace = "h200/*"              # glob on the trace's name
//! dispatch = "wrap"             # glob on the dispatch's name; absent: all
//! path = "emulated"             # glob on the path; absent: all
//! device = "llvmpipe*"          # glob on the executor's device; absent: all
//! driver = "Mesa 25.*"          # glob on its driver; absent: all
//! verdict = "mismatch"          # match, mismatch, refused, crash, timeout, no-oracle
//! mismatched = 12               # mismatch: differing samples
//! causes = [{ rule = "weight-rounding", samples = 12 }]      # mismatch: instead or as well
//! field = "S#.DERIV_ADJUST_EN"  # refused: glob on the field that is refused
//! reason = "why this is so"
//! ```
//!
//! The first entry whose conditions hold applies to a dispatch. Without one, a match is expected. Causes are compared one by
//! one: a cause that the entry does not name is a regression even when fewer samples differ in all, and so is a higher
//! count; lower counts only are an improvement. Differing samples without a known cause count as the cause `unexplained`.

mod assess;
mod bless;
mod file;

pub use assess::UNEXPLAINED;
pub use bless::{Blessing, bless};
pub use file::{Entry, ExpectationError, Expectations};
