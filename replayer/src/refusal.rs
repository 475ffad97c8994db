//! Refusals: what is not modelled is named, never sampled some other way.

use std::fmt;

/// Why a dispatch is not evaluated: a descriptor field (or another part of the dispatch) holds what is not modelled, or
/// contradicts another part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The field or part by name: `S#.DERIV_ADJUST_EN`, `T#.TYPE`, `op`, `coords`, `texels`, `rule nan-coordinate`.
    pub field: String,
    /// Where the field's bits are (`word2[31]`), when it is a descriptor field.
    pub bits: Option<String>,
    /// The value found, as text.
    pub value: String,
    /// What is expected instead, or why this is not modelled.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.field)?;
        if let Some(bits) = &self.bits {
            write!(f, " ({bits})")?;
        }
        write!(f, " = {}: {}", self.value, self.reason)
    }
}

impl std::error::Error for Refusal {}
