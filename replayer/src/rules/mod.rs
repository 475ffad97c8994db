//! The rules of texture filtering and the profiles that choose among them.
//!
//! A [`Rules`] value is one complete choice; a [`Profile`] is a hardware's choice with the [`Evidence`] of each rule.

mod evidence;
mod profiles;
mod table;

pub use evidence::{Evidence, EvidenceKind};
pub use profiles::Profile;
pub use table::*;

/// One rule set to another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleChange {
    /// The rule.
    pub rule: RuleId,
    /// Index of the new value among [`RuleId::value_names`].
    pub value: usize,
}

impl RuleChange {
    /// Name of the new value.
    #[must_use]
    pub fn value_name(self) -> &'static str {
        self.rule.value_names()[self.value]
    }
}

impl std::fmt::Display for RuleChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} = {}", self.rule.name(), self.value_name())
    }
}

impl RuleId {
    /// The rule of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.name() == name)
    }
}

impl Rules {
    /// Name of the value a rule has here.
    #[must_use]
    pub fn value_name(&self, rule: RuleId) -> &'static str {
        rule.value_names()[self.value(rule)]
    }

    /// Every single change that leads to other rules that are consistent, in the order of the table.
    pub fn alternatives(self) -> impl Iterator<Item = (RuleChange, Self)> {
        RuleId::ALL.iter().flat_map(move |&rule| {
            (0..rule.value_names().len()).filter_map(move |value| {
                let changed = self.with(rule, value)?;
                (changed != self && changed.inconsistency().is_none()).then_some((RuleChange { rule, value }, changed))
            })
        })
    }

    /// Says which two rules contradict each other, if any do.
    #[must_use]
    pub fn inconsistency(&self) -> Option<&'static str> {
        let unquantized = self.subtexel_bits == SubtexelBits::None;
        if unquantized && self.coordinate_product == CoordinateProduct::Exact {
            return Some("coordinate-product exact needs subtexel-bits");
        }
        if !unquantized {
            if self.nan_coordinate == NanCoordinate::Kept || self.integer_conversion == IntegerConversion::Lowest {
                return Some("nan-coordinate kept and integer-conversion lowest need subtexel-bits none");
            }
            if self.edge_clamp == EdgeClamp::Coordinate
                || self.address_stage == AddressStage::Coordinate
                || self.offset_stage == OffsetStage::Coordinate
            {
                return Some("edge-clamp, address-stage and offset-stage coordinate need subtexel-bits none");
            }
            if self.accumulation.is_difference() {
                return Some("accumulation fp32-difference needs subtexel-bits none");
            }
            if self.sample_group != SampleGroup::One || self.anisotropy == AnisotropyRule::Ellipse {
                return Some("sample-group and anisotropy ellipse need subtexel-bits none");
            }
        }
        // Totals need a grid, which differences do without: the two exclude each other.
        if self.fixed_point_weights() {
            if unquantized {
                return Some("weight-scheme totals and accumulation aligned need subtexel-bits");
            }
            if self.lod_rounding == LodRounding::None {
                return Some("weight-scheme totals and accumulation aligned need lod-rounding");
            }
            if self.cube_corner == CubeCorner::Thirds {
                return Some("cube-corner thirds needs FP32 weights");
            }
        } else if self.cube_corner == CubeCorner::Shares {
            return Some("cube-corner shares needs weight-scheme totals or accumulation aligned");
        } else if self.anisotropy == AnisotropyRule::Pairs {
            return Some("anisotropy pairs needs weight-scheme totals or accumulation aligned");
        }
        None
    }

    /// The same rules, with the textbook's value for each that a fixed-point grid excludes.
    #[must_use]
    pub fn for_a_grid(self) -> Self {
        let textbook = Profile::EXACT.rules;
        Self {
            nan_coordinate: if self.nan_coordinate == NanCoordinate::Kept {
                textbook.nan_coordinate
            } else {
                self.nan_coordinate
            },
            integer_conversion: textbook.integer_conversion,
            edge_clamp: if self.edge_clamp == EdgeClamp::Coordinate { textbook.edge_clamp } else { self.edge_clamp },
            address_stage: textbook.address_stage,
            offset_stage: textbook.offset_stage,
            accumulation: if self.accumulation.is_difference() { textbook.accumulation } else { self.accumulation },
            sample_group: textbook.sample_group,
            anisotropy: if self.anisotropy == AnisotropyRule::Ellipse { textbook.anisotropy } else { self.anisotropy },
            ..self
        }
    }

    /// Whether weights are used as integers, which fixed-point accumulation and the totals scheme do.
    #[must_use]
    pub fn fixed_point_weights(&self) -> bool {
        self.weight_scheme == WeightScheme::Totals || self.accumulation.aligned_bits().is_some()
    }
}

impl SubtexelBits {
    /// Number of fraction bits; `None` when there is no fixed point.
    #[must_use]
    pub fn bits(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Four => Some(4),
            Self::Five => Some(5),
            Self::Six => Some(6),
            Self::Seven => Some(7),
            Self::Eight => Some(8),
        }
    }
}

impl CoordinateStep {
    /// `k` of the step 2^-k.
    #[must_use]
    pub fn bits(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Bits20 => Some(20),
            Self::Bits21 => Some(21),
            Self::Bits22 => Some(22),
        }
    }
}

impl SampleGroup {
    /// Number of samples.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::One => 1,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

impl Accumulation {
    /// Whether a blend adds a part of the taps' difference.
    #[must_use]
    pub fn is_difference(self) -> bool {
        matches!(self, Self::Difference | Self::DifferenceFused)
    }

    /// Fraction bits kept below the largest exponent; `None` for FP32.
    #[must_use]
    pub fn aligned_bits(self) -> Option<u32> {
        match self {
            Self::Fp32 | Self::Difference | Self::DifferenceFused => None,
            Self::Aligned12 => Some(12),
            Self::Aligned13 => Some(13),
            Self::Aligned14 => Some(14),
            Self::Aligned15 => Some(15),
            Self::Aligned16 => Some(16),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_and_values_are_found_by_name_and_names_are_distinct() {
        let mut names: Vec<_> = RuleId::ALL.iter().map(|r| r.name()).collect();
        for &rule in RuleId::ALL {
            assert_eq!(RuleId::by_name(rule.name()), Some(rule));
            assert_eq!(rule.value_names().len(), rule.value_docs().len());
            let mut values = rule.value_names().to_vec();
            values.sort_unstable();
            values.dedup();
            assert_eq!(values.len(), rule.value_names().len(), "{}", rule.name());
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RuleId::ALL.len());
    }

    #[test]
    fn alternatives_change_one_rule_and_stay_consistent() {
        let rules = Profile::GFX1035.rules;
        let mut seen = 0;
        for (change, other) in rules.alternatives() {
            seen += 1;
            assert!(other.inconsistency().is_none());
            for &rule in RuleId::ALL {
                assert_eq!(rules.value(rule) != other.value(rule), rule == change.rule, "{change}");
            }
        }
        assert!(seen > 30, "{seen}");
    }
}
