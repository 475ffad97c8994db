//! What computes: the executors of this build, or those of a test.

use std::{path::PathBuf, time::Duration};

use capture_format::{ComputeDispatch, Dispatch};

use super::{ExecutorKind, Settings};
use crate::{
    execute::{
        ExecuteError, Executor,
        embedded::{Embedded, Limits},
        vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
    },
    path::{Failure, Path, evaluate},
    recorded,
    rules::Profile,
};

/// Opens executors and evaluates dispatches. The programs use [`Installed`]; tests of the batch put another one in its place.
pub trait Backend: Sync {
    /// Opens the executor that the settings ask for.
    ///
    /// # Errors
    /// [`ExecuteError::Unavailable`] when there is none that fits.
    fn open(&self, settings: &Settings) -> Result<Box<dyn Executor>, ExecuteError>;

    /// Computes a dispatch, as [`evaluate`].
    ///
    /// # Errors
    /// As [`evaluate`].
    fn evaluate(
        &self,
        dispatch: &Dispatch,
        path: Path,
        profile: &Profile,
        executor: Option<&mut dyn Executor>,
        strict: bool,
    ) -> Result<Vec<u32>, Failure>;

    /// Computes a compute dispatch, as [`recorded::run`].
    ///
    /// # Errors
    /// As [`recorded::run`].
    fn run_recorded(
        &self,
        dispatch: &ComputeDispatch,
        executor: &mut dyn Executor,
    ) -> Result<Vec<recorded::Output>, Failure> {
        recorded::run(dispatch, executor)
    }
}

/// The executors of this build.
#[derive(Clone, Copy, Debug, Default)]
pub struct Installed;

impl Backend for Installed {
    fn open(&self, settings: &Settings) -> Result<Box<dyn Executor>, ExecuteError> {
        open_executor(settings.executor, settings.device.as_deref(), settings.time_limit)
    }

    fn evaluate(
        &self,
        dispatch: &Dispatch,
        path: Path,
        profile: &Profile,
        executor: Option<&mut dyn Executor>,
        strict: bool,
    ) -> Result<Vec<u32>, Failure> {
        evaluate(dispatch, path, profile, executor, strict)
    }
}

/// Opens an executor. `device` names a Vulkan device by its number or a part of its name; with [`ExecutorKind::Auto`] it asks
/// for Vulkan. A run that takes longer than `time_limit` is [`ExecuteError::Timeout`].
///
/// # Errors
/// [`ExecuteError::Unavailable`] when there is none that fits.
pub fn open_executor(
    kind: ExecutorKind,
    device: Option<&str>,
    time_limit: Duration,
) -> Result<Box<dyn Executor>, ExecuteError> {
    match kind {
        ExecutorKind::Vulkan => open_vulkan(device, time_limit),
        ExecutorKind::Embedded => Ok(open_embedded(time_limit)),
        ExecutorKind::Auto => match open_vulkan(device, time_limit) {
            Err(ExecuteError::Unavailable(_)) if device.is_none() => Ok(open_embedded(time_limit)),
            other => other,
        },
    }
}

fn open_vulkan(device: Option<&str>, time_limit: Duration) -> Result<Box<dyn Executor>, ExecuteError> {
    let selection = device.map_or(DeviceSelection::Auto, |text| match text.parse() {
        Ok(selection) => selection,
        Err(never) => match never {},
    });
    let options = VulkanOptions { cache_dir: cache_folder(), timeout: time_limit, ..VulkanOptions::default() };
    Ok(Box::new(VulkanExecutor::open(&selection, &options)?))
}

fn open_embedded(time_limit: Duration) -> Box<dyn Executor> {
    Box::new(Embedded::with_limits(Limits { time: time_limit, ..Limits::default() }))
}

/// Where compiled pipelines are kept between runs: the user's cache folder. Without one there is no cache on disk.
fn cache_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = variable("XDG_CACHE_HOME").or_else(|| variable("LOCALAPPDATA"));
    Some(folder.or_else(|| Some(variable("HOME")?.join(".cache")))?.join("replayer"))
}
