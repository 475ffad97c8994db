//! The results of a run: what reports show, `--json` stores, and `merge`, `bless` and `--base` read back.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    batch::Shard,
    compare::{Difference, Number},
};

/// Version of the JSON form.
pub const SCHEMA: u32 = 1;

/// The verdict on a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every measured bit agrees.
    Match,
    /// A measured bit differs.
    Mismatch,
    /// The dispatch holds what is not modelled; the reason names it.
    Refused,
    /// The process, driver or device failed while it ran.
    Crash,
    /// It did not end in time.
    Timeout,
    /// There is nothing to hold the result against.
    NoOracle,
}

impl Status {
    /// Every status, in the order of the totals.
    pub const ALL: [Self; 6] = [Self::Match, Self::Mismatch, Self::Refused, Self::Crash, Self::Timeout, Self::NoOracle];

    /// The word in reports, JSON and expectations.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Mismatch => "mismatch",
            Self::Refused => "refused",
            Self::Crash => "crash",
            Self::Timeout => "timeout",
            Self::NoOracle => "no-oracle",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text names no verdict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown verdict {0:?}, expected match, mismatch, refused, crash, timeout or no-oracle")]
pub struct UnknownStatus(pub String);

impl FromStr for Status {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|s| s.name() == text).ok_or_else(|| UnknownStatus(text.to_owned()))
    }
}

/// How a verdict stands to what was expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// As expected.
    #[default]
    Expected,
    /// Better than expected: the expectations are to be updated.
    Improvement,
    /// Two runs in a row differed.
    Flaky,
    /// Worse than expected, or different.
    Regression,
}

impl Outcome {
    /// The word in reports and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::Improvement => "improvement",
            Self::Flaky => "flaky",
            Self::Regression => "regression",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How many differing samples one cause explains.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cause {
    /// The cause by rules and values, such as `weight-rounding: floor → nearest-even`.
    pub rule: String,
    /// Samples.
    pub samples: u64,
    /// The cause in words for people; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
}

impl Cause {
    /// A cause without words for people.
    #[must_use]
    pub fn new(rule: &str, samples: u64) -> Self {
        Self { rule: rule.to_owned(), samples, label: String::new() }
    }
}

/// What became of one dispatch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DispatchResult {
    /// Name of the trace.
    pub trace: String,
    /// Name of the dispatch.
    pub dispatch: String,
    /// The path under test.
    pub path: String,
    /// `oracle`, or the path it is held against.
    pub against: String,
    /// Name of the profile.
    pub profile: String,
    /// `vulkan`, `embedded`, or `none` when the path needs no executor.
    pub executor: String,
    /// The verdict.
    pub status: Status,
    /// Samples of the dispatch.
    pub samples: u64,
    /// Samples that differ.
    pub mismatched: u64,
    /// The largest distance in ULPs ([`crate::compare::NAN_DISTANCE`] for a NaN against a number).
    pub max_ulp: u32,
    /// Causes with the samples each explains, most samples first.
    pub causes: Vec<Cause>,
    /// Why there is no verdict by comparison: the refusal, the driver's last words, the limit that was reached.
    pub reason: Option<String>,

    /// The file that holds the trace, as it was found.
    #[serde(default)]
    pub file: String,
    /// Number of the dispatch in its trace.
    #[serde(default)]
    pub index: usize,
    /// Invocations in x, y, z.
    #[serde(default)]
    pub grid: [u32; 3],
    /// The instruction.
    #[serde(default)]
    pub op: String,
    /// The executor's device.
    #[serde(default)]
    pub device: String,
    /// The executor's driver with its version.
    #[serde(default)]
    pub driver: String,
    /// The field that a refusal names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_field: Option<String>,
    /// Samples in which X, Y, Z, W differ.
    #[serde(default)]
    pub channels: [u64; 4],
    /// Samples in which a NaN stands against a number.
    #[serde(default)]
    pub nan: u64,
    /// Samples in which nothing but the sign of zero differs.
    #[serde(default)]
    pub sign_of_zero: u64,
    /// Hash of the result's words, in hex; tells two different wrong results apart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// Seconds from the request to the verdict.
    #[serde(default)]
    pub seconds: f64,
    /// Seconds of these that the path took.
    #[serde(default)]
    pub evaluate_seconds: f64,
    /// How the verdict stands to the expectations.
    #[serde(default)]
    pub outcome: Outcome,
    /// What the entry of the expectations that applies expects; without one, a match is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expectation: Option<String>,
    /// The first differing samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<Difference>,
    /// The differing samples of the largest distance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worst: Vec<Difference>,
    /// The first of the `worst`, told in full; where a page is written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explained: Vec<ExplainedSample>,
    /// The outputs of a compute dispatch. The counts above are their sums; grid, `first` and `worst` are those of the first
    /// output that differs, or of the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<OutputResult>,
}

/// A differing sample, told as `explain --sample` tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedSample {
    /// Place in the grid: x, y, z.
    pub position: [u32; 3],
    /// The rule that explains it.
    pub cause: String,
    /// Coordinates, taps, weights and both results, in lines for people.
    pub text: String,
}

/// What became of one output of a compute dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputResult {
    /// Its place and what it is.
    pub name: String,
    /// Samples in x, y, z.
    pub grid: [u32; 3],
    /// How its words are read.
    pub number: Number,
    /// Samples of the output.
    pub samples: u64,
    /// Samples that differ.
    pub mismatched: u64,
    /// The largest distance, as in [`DispatchResult::max_ulp`].
    pub max_ulp: u32,
    /// Samples in which X, Y, Z, W differ.
    pub channels: [u64; 4],
    /// The first differing samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<Difference>,
}

impl DispatchResult {
    /// `trace/dispatch`, for messages.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}/{}", self.trace, self.dispatch)
    }

    /// What a second run must give again to be the same result. Reasons are left out: a driver's last words hold addresses
    /// and times.
    pub(crate) fn same_result(&self, other: &Self) -> bool {
        self.status == other.status
            && self.mismatched == other.mismatched
            && self.max_ulp == other.max_ulp
            && self.causes == other.causes
            && self.digest == other.digest
            && self.refused_field == other.refused_field
    }

    /// A line on the verdict: what is in the reports' last column.
    #[must_use]
    pub fn summary(&self) -> String {
        match self.status {
            Status::Match if self.samples == 1 => "1 sample".to_owned(),
            Status::Match => format!("{} samples", self.samples),
            Status::Mismatch => {
                let mut text = format!("{} of {} samples differ", self.mismatched, self.samples);
                if self.nan > 0 {
                    text += &format!(", {} NaN against number", self.nan);
                }
                if self.sign_of_zero > 0 {
                    text += &format!(", {} by the sign of zero only", self.sign_of_zero);
                }
                let differing: Vec<&str> =
                    self.outputs.iter().filter(|o| o.mismatched > 0).map(|o| o.name.as_str()).collect();
                if !differing.is_empty() {
                    text += &format!(" in {}", differing.join("; "));
                }
                text
            }
            Status::Refused | Status::Crash | Status::Timeout | Status::NoOracle => {
                self.reason.clone().unwrap_or_else(|| "no reason was given".to_owned())
            }
        }
    }
}

/// How many dispatches have each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// [`Status::Match`].
    #[serde(rename = "match")]
    pub matched: u64,
    /// [`Status::Mismatch`].
    pub mismatch: u64,
    /// [`Status::Refused`].
    pub refused: u64,
    /// [`Status::Crash`].
    pub crash: u64,
    /// [`Status::Timeout`].
    pub timeout: u64,
    /// [`Status::NoOracle`].
    pub no_oracle: u64,
}

impl Totals {
    /// Counts one more.
    pub fn add(&mut self, status: Status) {
        *match status {
            Status::Match => &mut self.matched,
            Status::Mismatch => &mut self.mismatch,
            Status::Refused => &mut self.refused,
            Status::Crash => &mut self.crash,
            Status::Timeout => &mut self.timeout,
            Status::NoOracle => &mut self.no_oracle,
        } += 1;
    }

    /// The number of dispatches with a verdict.
    #[must_use]
    pub fn of(&self, status: Status) -> u64 {
        match status {
            Status::Match => self.matched,
            Status::Mismatch => self.mismatch,
            Status::Refused => self.refused,
            Status::Crash => self.crash,
            Status::Timeout => self.timeout,
            Status::NoOracle => self.no_oracle,
        }
    }

    /// All dispatches.
    #[must_use]
    pub fn dispatches(&self) -> u64 {
        Status::ALL.into_iter().map(|s| self.of(s)).sum()
    }
}

/// An input that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InputError {
    /// The file, as it was found.
    pub file: String,
    /// What is wrong with it, with its place and what was expected.
    pub message: String,
}

/// Where a shard's results stand in the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardInfo {
    /// The shard.
    #[serde(flatten)]
    pub shard: Shard,
    /// Dispatches that were selected before they were dealt to the shards.
    pub selected: u64,
    /// A digest of the selected dispatches' names and of what decides about results, below 2^48; 0 in results that have none.
    #[serde(default)]
    pub run: u64,
}

/// The results of a run, or of several that were merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: u32,
    /// One for each dispatch, in the order of the selection.
    pub dispatches: Vec<DispatchResult>,
    /// How many dispatches have each verdict.
    pub totals: Totals,
    /// Inputs that could not be read.
    #[serde(default)]
    pub errors: Vec<InputError>,
    /// Expectations that applied to no dispatch, as text; empty when none were given.
    #[serde(default)]
    pub unused_expectations: Vec<String>,
    /// Dispatches that were selected and did not run because the run was ended early.
    #[serde(default)]
    pub not_run: u64,
    /// Dispatches that were selected and could not be read when their turn came; `errors` says why.
    #[serde(default)]
    pub unreadable: u64,
    /// Why the run was ended early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Which part of the selection this is, when it is a part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardInfo>,
    /// Wall clock seconds.
    #[serde(default)]
    pub seconds: f64,
}

impl Results {
    /// Results of these dispatches; the totals are counted.
    #[must_use]
    pub fn new(dispatches: Vec<DispatchResult>) -> Self {
        let mut totals = Totals::default();
        for result in &dispatches {
            totals.add(result.status);
        }
        Self {
            schema: SCHEMA,
            dispatches,
            totals,
            errors: Vec::new(),
            unused_expectations: Vec::new(),
            not_run: 0,
            unreadable: 0,
            ended: None,
            shard: None,
            seconds: 0.0,
        }
    }

    /// The number of dispatches with an outcome.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.dispatches.iter().filter(|d| d.outcome == outcome).count()
    }

    /// Whether an input could not be read or an oracle that nobody expected to be missing is.
    #[must_use]
    pub fn lacks_input(&self) -> bool {
        !self.errors.is_empty()
            || self.dispatches.iter().any(|d| d.status == Status::NoOracle && d.outcome != Outcome::Expected)
    }

    /// All causes with the samples they explain over all dispatches, most samples first.
    #[must_use]
    pub fn causes(&self) -> Vec<Cause> {
        let mut sums = BTreeMap::<&str, u64>::new();
        for cause in self.dispatches.iter().flat_map(|d| &d.causes) {
            *sums.entry(&cause.rule).or_default() += cause.samples;
        }
        let mut causes: Vec<_> = sums.into_iter().map(|(rule, samples)| Cause::new(rule, samples)).collect();
        causes.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.rule.cmp(&b.rule)));
        causes
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A result for tests.
    pub(crate) fn result(trace: &str, dispatch: &str, status: Status) -> DispatchResult {
        DispatchResult {
            trace: trace.to_owned(),
            dispatch: dispatch.to_owned(),
            path: "emulated".to_owned(),
            against: "oracle".to_owned(),
            profile: "gfx1035".to_owned(),
            executor: "vulkan".to_owned(),
            status,
            samples: 64,
            mismatched: 0,
            max_ulp: 0,
            causes: Vec::new(),
            reason: None,
            file: format!("{trace}.texeltrace"),
            index: 0,
            grid: [8, 8, 1],
            op: "image_sample_lz".to_owned(),
            device: "device".to_owned(),
            driver: "driver 1".to_owned(),
            refused_field: None,
            channels: [0; 4],
            nan: 0,
            sign_of_zero: 0,
            digest: String::new(),
            seconds: 0.001,
            evaluate_seconds: 0.0005,
            outcome: Outcome::Expected,
            expectation: None,
            first: Vec::new(),
            worst: Vec::new(),
            explained: Vec::new(),
            outputs: Vec::new(),
        }
    }

    #[test]
    fn the_contract_s_keys_are_there_by_their_names() {
        let mut dispatch = result("t", "d", Status::NoOracle);
        dispatch.causes.push(Cause::new("r", 1));
        let json = serde_json::to_value(Results::new(vec![dispatch])).unwrap();
        assert_eq!(json["schema"], 1);
        let keys = [
            "trace",
            "dispatch",
            "path",
            "against",
            "profile",
            "executor",
            "status",
            "samples",
            "mismatched",
            "max_ulp",
            "causes",
            "reason",
        ];
        for key in keys {
            assert!(json["dispatches"][0].get(key).is_some(), "{key}");
        }
        assert_eq!(json["dispatches"][0]["status"], "no-oracle");
        assert_eq!(json["dispatches"][0]["causes"], serde_json::json!([{ "rule": "r", "samples": 1 }]));
        assert_eq!(
            json["totals"],
            serde_json::json!({ "match": 0, "mismatch": 0, "refused": 0, "crash": 0, "timeout": 0, "no_oracle": 1 })
        );
    }
}
