//! Reports: what people and machines read about a run.

mod changes;
mod github;
mod html;
mod json;
mod junit;
mod markdown;
mod merge;
mod number;
pub mod picture;
pub mod table;
mod terminal;

pub use changes::{Change, ChangeKind, changes};
pub use github::write_annotations;
pub use html::{HtmlError, HtmlReport};
pub use json::{ReadError, read_results, write_results};
pub use junit::write_junit;
pub use markdown::write_markdown;
pub use merge::{MergeError, merge};
pub use number::{decimal, hex_float, seconds, ulps};
pub use terminal::{Layout, write_difference, write_result, write_summary};
