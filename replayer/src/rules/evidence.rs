//! What a rule's value rests on.

use std::fmt;

/// How strong the ground is that a rule's value stands on, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EvidenceKind {
    /// Follows from what the profile is defined to be.
    Definition,
    /// Measured on the hardware.
    Measured,
    /// Stated by the vendor's documentation or source.
    Documented,
    /// Read off a driver's source.
    Driver,
    /// Inferred; nobody has measured it.
    Inferred,
}

impl EvidenceKind {
    /// The word in listings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Measured => "measured",
            Self::Documented => "documented",
            Self::Driver => "driver",
            Self::Inferred => "inferred",
        }
    }

    /// Whether `--strict` refuses what rests on it.
    #[must_use]
    pub fn is_weak(self) -> bool {
        self == Self::Inferred
    }
}

impl fmt::Display for EvidenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a rule's value rests on, in one profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The kind of ground.
    pub kind: EvidenceKind,
    /// Where it comes from, and what is not known.
    pub source: &'static str,
}
