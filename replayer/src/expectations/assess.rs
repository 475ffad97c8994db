//! How a verdict stands to the expectations.

use std::collections::BTreeMap;

use super::{Entry, Expectations};
use crate::results::{Cause, DispatchResult, Outcome, Status};

/// The cause of differing samples that no rule explains.
pub const UNEXPLAINED: &str = "unexplained";

impl Expectations {
    /// How a verdict stands to the expectations, and what the entry that applies expects. `None`: a match, by no entry.
    pub fn assess(&self, result: &DispatchResult) -> (Outcome, Option<String>) {
        let Some(entry) = self.applying(result) else {
            return if result.status == Status::Match {
                (Outcome::Expected, None)
            } else {
                (Outcome::Regression, None)
            };
        };
        let (outcome, why) = entry.assess(result);
        let mut text = format!("{} ({}, line {})", entry.expected(), entry.reason, entry.line);
        if let Some(why) = why {
            text = format!("{why}; expected {text}");
        }
        (outcome, Some(text))
    }
}

impl Entry {
    /// What is expected, in words.
    fn expected(&self) -> String {
        let mut text = self.verdict.to_string();
        if let Some(count) = self.mismatched {
            text += &format!(" of {count} samples");
        }
        if !self.causes.is_empty() {
            let causes: Vec<_> = self.causes.iter().map(|c| format!("{} {}", c.rule, c.samples)).collect();
            text += &format!(" by {}", causes.join(", "));
        }
        if let Some(field) = &self.field {
            text += &format!(" for {}", field.glob());
        }
        text
    }

    fn assess(&self, result: &DispatchResult) -> (Outcome, Option<String>) {
        if result.status != self.verdict {
            let better = result.status == Status::Match;
            let outcome = if better { Outcome::Improvement } else { Outcome::Regression };
            return (outcome, Some(result.status.to_string()));
        }
        match self.verdict {
            Status::Mismatch => self.assess_counts(result),
            Status::Refused => {
                let found = result.refused_field.as_deref().unwrap_or_default();
                match &self.field {
                    Some(field) if !field.is_match(found) => {
                        (Outcome::Regression, Some(format!("refused for {found}")))
                    }
                    _ => (Outcome::Expected, None),
                }
            }
            Status::Match | Status::Crash | Status::Timeout | Status::NoOracle => (Outcome::Expected, None),
        }
    }

    fn assess_counts(&self, result: &DispatchResult) -> (Outcome, Option<String>) {
        let mut fewer = None;
        if !self.causes.is_empty() {
            let unexplained = [Cause::new(UNEXPLAINED, result.mismatched)];
            let found = if result.causes.is_empty() { &unexplained[..] } else { &result.causes };
            let mut expected: BTreeMap<_, _> = self.causes.iter().map(|c| (c.rule.as_str(), c.samples)).collect();
            for cause in found {
                let (rule, samples) = (&cause.rule, cause.samples);
                match expected.remove(rule.as_str()) {
                    None => return (Outcome::Regression, Some(format!("new cause {rule} of {samples} samples"))),
                    Some(known) if samples > known => {
                        return (Outcome::Regression, Some(format!("{rule} of {samples} samples, not {known}")));
                    }
                    Some(known) if samples < known => fewer = Some(format!("{rule} of {samples} samples, not {known}")),
                    Some(_) => {}
                }
            }
            if let Some((rule, _)) = expected.first_key_value() {
                fewer = Some(format!("no sample by {rule}"));
            }
        }
        if let Some(known) = self.mismatched {
            let found = format!("{} samples differ, not {known}", result.mismatched);
            if result.mismatched > known {
                return (Outcome::Regression, Some(found));
            }
            if result.mismatched < known {
                fewer.get_or_insert(found);
            }
        }
        match fewer {
            Some(why) => (Outcome::Improvement, Some(why)),
            None => (Outcome::Expected, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::results::tests::result;

    fn expectations(entries: &str) -> Expectations {
        Expectations::parse(&format!("schema = 1\n{entries}"), Path::new("expect.toml")).unwrap()
    }

    fn mismatch(mismatched: u64, causes: &[(&str, u64)]) -> DispatchResult {
        let mut found = result("trace", "dispatch", Status::Mismatch);
        found.mismatched = mismatched;
        found.causes = causes.iter().map(|&(rule, samples)| Cause::new(rule, samples)).collect();
        found
    }

    #[test]
    fn without_an_entry_a_match_is_expected() {
        let none = Expectations::default();
        for status in Status::ALL {
            let expected = if status == Status::Match { Outcome::Expected } else { Outcome::Regression };
            assert_eq!(none.assess(&result("t", "d", status)).0, expected);
        }
    }

    #[test]
    fn a_wrong_count_is_a_change() {
        let known = expectations("[[expect]]\ntrace = 'trace'\nverdict = 'mismatch'\nmismatched = 12\nreason = 'r'");
        let outcome = |n| known.assess(&mismatch(n, &[])).0;
        assert_eq!(
            [outcome(11), outcome(12), outcome(13)],
            [Outcome::Improvement, Outcome::Expected, Outcome::Regression]
        );
        assert_eq!(known.assess(&result("trace", "dispatch", Status::Match)).0, Outcome::Improvement);
        for status in [Status::Refused, Status::Crash, Status::Timeout, Status::NoOracle] {
            assert_eq!(known.assess(&result("trace", "dispatch", status)).0, Outcome::Regression);
        }
    }

    #[test]
    fn a_known_cause_hides_no_new_one() {
        let known = expectations(
            "[[expect]]\ntrace = '*'\nverdict = 'mismatch'\nreason = 'r'
             causes = [{ rule = 'a', samples = 10 }, { rule = 'b', samples = 5 }]",
        );
        let assess = |causes: &[(&str, u64)]| {
            let total = causes.iter().map(|c| c.1).sum();
            known.assess(&mismatch(total, causes))
        };
        assert_eq!(assess(&[("a", 10), ("b", 5)]).0, Outcome::Expected);
        assert_eq!(assess(&[("b", 5), ("a", 10)]).0, Outcome::Expected);
        assert_eq!(assess(&[("a", 9), ("b", 5)]).0, Outcome::Improvement);
        assert_eq!(assess(&[("a", 10)]).0, Outcome::Improvement);
        // Fewer samples differ, and still it got worse.
        assert_eq!(assess(&[("a", 1), ("c", 1)]).0, Outcome::Regression);
        assert_eq!(assess(&[("a", 1), ("b", 6)]).0, Outcome::Regression);
        assert!(
            assess(&[("a", 1), ("c", 1)]).1.unwrap().starts_with("new cause c of 1 samples; expected mismatch by a 10")
        );
        assert_eq!(known.assess(&mismatch(3, &[])).0, Outcome::Regression);
    }

    #[test]
    fn the_first_entry_whose_conditions_hold_applies_and_unused_ones_are_told() {
        let known = expectations(
            "[[expect]]\ntrace = 'trace'\ndevice = 'llvmpipe*'\nverdict = 'mismatch'\nmismatched = 1\nreason = 'r'
             [[expect]]\ntrace = 'tr*'\ndispatch = 'dis[a-z]*'\nverdict = 'mismatch'\nmismatched = 2\nreason = 'r'
             [[expect]]\ntrace = '*'\nverdict = 'crash'\nreason = 'r'",
        );
        let mut found = mismatch(2, &[]);
        found.device = "AMD".to_owned();
        assert_eq!(known.assess(&found).0, Outcome::Expected);
        assert_eq!(known.unused().len(), 2);
        found.device = "llvmpipe (LLVM 15)".to_owned();
        assert_eq!(known.assess(&found).0, Outcome::Regression);
        assert_eq!(known.unused(), ["expect.toml:14: * / *: crash"]);
    }

    #[test]
    fn a_refusal_is_pinned_to_its_field() {
        let known = expectations("[[expect]]\ntrace = '*'\nverdict = 'refused'\nfield = 'S#.*'\nreason = 'r'");
        let mut found = result("t", "d", Status::Refused);
        found.refused_field = Some("S#.DERIV_ADJUST_EN".to_owned());
        assert_eq!(known.assess(&found).0, Outcome::Expected);
        found.refused_field = Some("T#.TYPE".to_owned());
        assert_eq!(known.assess(&found).0, Outcome::Regression);
    }

    #[test]
    fn errors_name_the_place_and_what_was_expected() {
        let error = |text: &str| Expectations::parse(text, Path::new("e.toml")).unwrap_err().to_string();
        assert_eq!(error("schema = 2"), "e.toml:1:10: schema 2, expected 1");
        let entry = |text: &str| error(&format!("schema = 1\n[[expect]]\n{text}"));
        assert_eq!(
            entry("trace = 't'\nverdict = 'bad'\nreason = 'r'"),
            "e.toml:4:11: unknown verdict \"bad\", expected match, mismatch, refused, crash, timeout or no-oracle"
        );
        assert!(
            entry("trace = 't'\nverdict = 'mismatch'\nreason = 'r'")
                .starts_with("e.toml:4:11: a mismatch without counts")
        );
        assert!(entry("trace = 't'\nverdict = 'match'\nmismatched = 1\nreason = 'r'").contains("e.toml:5:14"));
        assert!(entry("trace = 't'\nverdict = 'match'\nreason = ' '").contains("e.toml:5:10: empty reason"));
        assert!(entry("trace = '['\nverdict = 'match'\nreason = 'r'").contains("e.toml:3:9: expected a glob"));
        assert!(entry("trase = 't'").contains("e.toml:3:1: unknown field `trase`"));
        assert!(entry("verdict = 'match'\nreason = 'r'").contains("missing field `trace`"));
    }
}
