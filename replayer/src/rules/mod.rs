//! The rules of texture filtering and the profiles that choose among them.

/// One hardware's set of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// `gfx1035`, `h200` or `exact`.
    pub name: &'static str,
}

impl Profile {
    /// The profile of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        ["gfx1035", "h200", "exact"].into_iter().find(|n| *n == name).map(|name| Self { name })
    }
}
