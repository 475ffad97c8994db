//! Capturing: dispatches through a Vulkan device's own sampler, written as traces with their provenance.
//!
//! What is sampled is a [`Suite`] or a given trace. Every dispatch is run twice, the second time after all the others, and the
//! two runs must agree in every bit. What a device or Vulkan can not do is left out by name, never replaced.

mod build;
mod suite;
mod texels;

use std::path::{Path, PathBuf};

use capture_format::{
    Dispatch, Expected, FieldRangeError, Oracle, OracleSource, Trace, WriteError, WriteOptions, find::TRACE_EXTENSION,
    write_trace,
};

pub use self::{
    build::{ImageSpec, SamplerSpec},
    suite::{Suite, UnknownSuite},
    texels::Texels,
};
use crate::{
    execute::{
        ExecuteError,
        vulkan::{DeviceInfo, DeviceKind},
    },
    path::Failure,
};

/// What the suites are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Seed of everything random. A seed means the same dispatches on every device.
    pub seed: u64,
    /// Samples of a random dispatch, and the most of a sweep.
    pub samples: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self { seed: 1, samples: 4096 }
    }
}

/// Where a capture's results come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The device's name.
    pub device: String,
    /// The profile whose rules the device is said to follow.
    pub profile: String,
    /// Vendor, device, driver, limits, date and version of this program, as a line of text.
    pub text: String,
}

impl Provenance {
    /// Of a device, captured on `date` (year-month-day). Without a profile the device's usual one is named.
    #[must_use]
    pub fn of(info: &DeviceInfo, profile: Option<&str>, date: &str) -> Self {
        let [major, minor, patch] = info.api_version;
        let driver = [info.driver_name.as_str(), info.driver_info.as_str()].join(" ");
        let text = format!(
            "{}; vendor 0x{:04x}, device 0x{:04x}; driver {} (0x{:08x}), Vulkan {major}.{minor}.{patch}; subTexelPrecisionBits {}, mipmapPrecisionBits {}; captured {date} by replayer {}, each dispatch twice",
            info.name,
            info.vendor_id,
            info.device_id,
            driver.trim(),
            info.driver_version,
            info.sub_texel_precision_bits,
            info.mipmap_precision_bits,
            env!("CARGO_PKG_VERSION"),
        );
        let profile = profile.map_or_else(|| usual_profile(info).to_owned(), str::to_owned);
        Self { device: info.name.clone(), profile, text }
    }

    fn oracle(&self, detail: &str) -> Oracle {
        Oracle {
            device: self.device.clone(),
            profile: self.profile.clone(),
            source: OracleSource::Measured,
            note: if detail.is_empty() { self.text.clone() } else { format!("{}; {detail}", self.text) },
        }
    }
}

/// The profile that fits a device best: AMD's RDNA2 rules for AMD devices, the H200's for NVIDIA ones, its own for lavapipe,
/// the textbook for all others.
#[must_use]
pub fn usual_profile(info: &DeviceInfo) -> &'static str {
    match (info.kind, info.vendor_id) {
        _ if info.is_lavapipe() => "lavapipe",
        (DeviceKind::Cpu, _) => "exact",
        (_, 0x10de) => "h200",
        (_, 0x1002) => "gfx1035",
        _ => "exact",
    }
}

/// Today's date in UTC, year-month-day.
#[must_use]
pub fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// A dispatch that was not captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Name of the dispatch.
    pub dispatch: String,
    /// What the device or Vulkan lacks.
    pub reason: String,
}

/// A captured trace, and what is missing in it.
#[derive(Clone, Debug)]
pub struct Captured {
    /// The trace; every dispatch has what the device returned.
    pub trace: Trace,
    /// What was not captured.
    pub left_out: Vec<LeftOut>,
}

/// Why a capture failed.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The device failed.
    #[error("dispatch {dispatch:?}: {source}")]
    Execute {
        /// Name of the dispatch.
        dispatch: String,
        /// What failed.
        source: ExecuteError,
    },
    /// Two runs of the same dispatch differ.
    #[error(
        "dispatch {dispatch:?}: two runs differ in {differing} samples, first in sample {sample}: {first:08x?} and {second:08x?}"
    )]
    Unsteady {
        /// Name of the dispatch.
        dispatch: String,
        /// Number of samples that differ.
        differing: usize,
        /// The first of them.
        sample: usize,
        /// What the first run gave there.
        first: [u32; 4],
        /// What the second run gave there.
        second: [u32; 4],
    },
    /// There is nothing to capture.
    #[error("{name}: no dispatches to capture")]
    Empty {
        /// Name of the trace.
        name: String,
    },
    /// A suite does not fit a descriptor: a defect of this crate.
    #[error(transparent)]
    Field(#[from] FieldRangeError),
    /// The trace could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The folder could not be made.
    #[error("{}: cannot make the folder: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// What samples a dispatch: four words a sample.
pub type Sample<'a> = dyn FnMut(&Dispatch) -> Result<Vec<u32>, Failure> + 'a;

/// Samples dispatches on a device, twice each; what they held as expected is replaced.
///
/// # Errors
/// A device that fails or does not agree with itself, and an empty list. Where everything was left out, the trace has no
/// dispatches.
pub fn capture(
    device: &mut Sample<'_>,
    name: &str,
    summary: &str,
    dispatches: Vec<Dispatch>,
    provenance: &Provenance,
    detail: &str,
) -> Result<Captured, CaptureError> {
    if dispatches.is_empty() {
        return Err(CaptureError::Empty { name: name.to_owned() });
    }
    let mut left_out = Vec::new();
    let mut captured = Vec::new();
    for mut dispatch in dispatches {
        match sample(device, &dispatch)? {
            Ok(words) => {
                dispatch.expected = Some(Expected { words: words.into(), measured: None });
                captured.push(dispatch);
            }
            Err(reason) => left_out.push(LeftOut { dispatch: dispatch.name, reason }),
        }
    }
    for dispatch in &captured {
        let again = sample(device, dispatch)?.unwrap_or_default();
        let first = dispatch.expected.as_ref().map_or(&[][..], |expected| &expected.words);
        let differing: Vec<usize> =
            (0..first.len().div_ceil(4)).filter(|&n| words_of(first, n) != words_of(&again, n)).collect();
        if let Some(&sample) = differing.first() {
            return Err(CaptureError::Unsteady {
                dispatch: dispatch.name.clone(),
                differing: differing.len(),
                sample,
                first: words_of(first, sample),
                second: words_of(&again, sample),
            });
        }
    }
    let trace = Trace {
        name: name.to_owned(),
        summary: summary.to_owned(),
        oracle: provenance.oracle(detail),
        dispatches: captured,
    };
    Ok(Captured { trace, left_out })
}

fn words_of(words: &[u32], sample: usize) -> [u32; 4] {
    std::array::from_fn(|n| words.get(sample * 4 + n).copied().unwrap_or_default())
}

/// The results, or why the device does not have what the dispatch asks for.
fn sample(device: &mut Sample<'_>, dispatch: &Dispatch) -> Result<Result<Vec<u32>, String>, CaptureError> {
    match device(dispatch) {
        Ok(words) => Ok(Ok(words)),
        Err(Failure::Refused(refusal)) => Ok(Err(refusal.to_string())),
        Err(Failure::Execute(ExecuteError::Unsupported(text))) => Ok(Err(text)),
        Err(Failure::Execute(source)) => Err(CaptureError::Execute { dispatch: dispatch.name.clone(), source }),
    }
}

/// Captures a suite.
///
/// # Errors
/// As [`capture`].
pub fn capture_suite(
    device: &mut Sample<'_>,
    suite: Suite,
    plan: &Plan,
    provenance: &Provenance,
) -> Result<Captured, CaptureError> {
    let detail = format!("suite {suite}, seed {}, samples {}", plan.seed, plan.samples);
    let name = format!("{}-{suite}", provenance.profile);
    capture(device, &name, suite.summary(), suite.dispatches(plan)?, provenance, &detail)
}

/// Name of a suite's file in the folder that [`capture_to_folder`] writes.
#[must_use]
pub fn trace_file(suite: Suite) -> String {
    format!("{suite}.{TRACE_EXTENSION}")
}

/// Captures suites into a folder, a packed trace each, as small as they get.
///
/// `each` is called after each suite with its file and what was captured, and says whether to go on; a suite of which the
/// device can do nothing has no file.
///
/// # Errors
/// As [`capture`], and when a file can not be written.
pub fn capture_to_folder(
    device: &mut Sample<'_>,
    suites: &[Suite],
    plan: &Plan,
    provenance: &Provenance,
    folder: &Path,
    mut each: impl FnMut(Suite, Option<&Path>, &Captured) -> bool,
) -> Result<(), CaptureError> {
    std::fs::create_dir_all(folder).map_err(|source| CaptureError::Folder { path: folder.to_owned(), source })?;
    for &suite in suites {
        let captured = capture_suite(device, suite, plan, provenance)?;
        if captured.trace.dispatches.is_empty() {
            if !each(suite, None, &captured) {
                break;
            }
            continue;
        }
        let path = folder.join(trace_file(suite));
        write_trace(&path, &captured.trace, WriteOptions::compact())?;
        if !each(suite, Some(&path), &captured) {
            break;
        }
    }
    Ok(())
}
