//! The sections of a module: which rule, or which stage beside the rules, an instruction serves.
//!
//! Modules carry them as standard debug information: a source text with one line a section ([`listing`]), to which `OpLine`
//! refers. A debugger that knows SPIR-V shows that text; [`Section::of_line`] finds the way back.

use crate::rules::{RuleId, Rules};

/// A stage of sampling, for what no rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The invocation's number, its operands, and where its results go.
    Operands,
    /// Level of detail, and the levels it leads to.
    Levels,
    /// Positions along the axes in texels.
    Position,
    /// Texel indices by the address modes, and what is border.
    Address,
    /// Reads of texels.
    Fetch,
    /// Channels from packed texels.
    Decode,
    /// Weights, sums, and what the filter returns.
    Filter,
    /// DST_SEL and the results' words.
    Output,
}

impl Stage {
    /// Every stage, in the order of sampling.
    pub const ALL: [Self; 8] = [
        Self::Operands,
        Self::Levels,
        Self::Position,
        Self::Address,
        Self::Fetch,
        Self::Decode,
        Self::Filter,
        Self::Output,
    ];

    /// The word on the command line and in listings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Operands => "operands",
            Self::Levels => "levels",
            Self::Position => "position",
            Self::Address => "address",
            Self::Fetch => "fetch",
            Self::Decode => "decode",
            Self::Filter => "filter",
            Self::Output => "output",
        }
    }

    /// What the stage is about.
    #[must_use]
    pub fn doc(self) -> &'static str {
        match self {
            Self::Operands => "The invocation's number, its operands, and where its results go.",
            Self::Levels => "Level of detail, and the levels it leads to.",
            Self::Position => "Positions along the axes in texels.",
            Self::Address => "Texel indices by the address modes, and what is border.",
            Self::Fetch => "Reads of texels.",
            Self::Decode => "Channels from packed texels.",
            Self::Filter => "Weights, sums, and what the filter returns.",
            Self::Output => "DST_SEL and the results' words.",
        }
    }
}

/// What an instruction serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// A stage that every profile has in the same form.
    Stage(Stage),
    /// A rule: another value of it may give other instructions.
    Rule(RuleId),
}

impl From<Stage> for Section {
    fn from(stage: Stage) -> Self {
        Self::Stage(stage)
    }
}

impl From<RuleId> for Section {
    fn from(rule: RuleId) -> Self {
        Self::Rule(rule)
    }
}

/// Name of the source text that [`listing`] is.
pub const LISTING: &str = "sampling-rules";

impl Section {
    /// Every section, in the order of the listing.
    pub fn all() -> impl Iterator<Item = Self> {
        Stage::ALL.into_iter().map(Self::Stage).chain(RuleId::ALL.iter().copied().map(Self::Rule))
    }

    /// The stage's or rule's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stage(stage) => stage.name(),
            Self::Rule(rule) => rule.name(),
        }
    }

    /// The section of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|section| section.name() == name)
    }

    /// Its line in the listing, from 1 on.
    #[must_use]
    pub fn line(self) -> u32 {
        match self {
            Self::Stage(stage) => stage as u32 + 1,
            Self::Rule(rule) => Stage::ALL.len() as u32 + rule as u32 + 1,
        }
    }

    /// The section to which a line of a source text refers; `None` for another text, or a line that is not there.
    #[must_use]
    pub fn of_line(file: &str, line: u32) -> Option<Self> {
        if file != LISTING {
            return None;
        }
        Self::all().nth(usize::try_from(line.checked_sub(1)?).ok()?)
    }
}

/// The source text of a module: a line for each section, with the value that each rule has.
#[must_use]
pub fn listing(rules: &Rules) -> String {
    let mut text = String::new();
    for section in Section::all() {
        text += &match section {
            Section::Stage(stage) => format!("{}: {}\n", stage.name(), stage.doc()),
            Section::Rule(rule) => {
                let value = rules.value(rule);
                let doc = rule.value_docs()[value].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
                format!("{} = {}: {doc}\n", rule.name(), rule.value_names()[value])
            }
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Profile;

    #[test]
    fn sections_are_found_by_line_and_by_name() {
        let text = listing(&Profile::GFX1035.rules);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), Stage::ALL.len() + RuleId::ALL.len());
        for section in Section::all() {
            assert!(lines[section.line() as usize - 1].starts_with(section.name()), "{section:?}");
            assert_eq!(Section::of_line(LISTING, section.line()), Some(section));
            assert_eq!(Section::by_name(section.name()), Some(section));
        }
        assert_eq!(Section::of_line(LISTING, 0), None);
        assert_eq!(Section::of_line(LISTING, lines.len() as u32 + 1), None);
        assert_eq!(Section::of_line("other", 1), None);
        let rounding = Section::Rule(RuleId::WeightRounding).line() as usize - 1;
        assert_eq!(lines[rounding], "weight-rounding = nearest-even: To the nearest step, ties to even.");
    }
}
