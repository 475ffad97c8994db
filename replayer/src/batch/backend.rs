//! What computes: the executors of this build, or those of a test.

use capture_format::Dispatch;

use super::{ExecutorKind, Settings};
use crate::{
    execute::{
        ExecuteError, Executor,
        vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
    },
    path::{Failure, Path, evaluate},
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
}

/// The executors of this build.
#[derive(Clone, Copy, Debug, Default)]
pub struct Installed;

impl Backend for Installed {
    fn open(&self, settings: &Settings) -> Result<Box<dyn Executor>, ExecuteError> {
        open_executor(settings.executor, settings.device.as_deref())
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

/// Opens an executor. `device` names a Vulkan device by its number or a part of its name.
///
/// # Errors
/// [`ExecuteError::Unavailable`] when there is none that fits.
pub fn open_executor(kind: ExecutorKind, device: Option<&str>) -> Result<Box<dyn Executor>, ExecuteError> {
    match kind {
        ExecutorKind::Vulkan => open_vulkan(device),
        ExecutorKind::Embedded => {
            Err(ExecuteError::Unavailable("the embedded executor is not in this build".to_owned()))
        }
        ExecutorKind::Auto => open_vulkan(device),
    }
}

fn open_vulkan(device: Option<&str>) -> Result<Box<dyn Executor>, ExecuteError> {
    let selection = device.map_or(DeviceSelection::Auto, |text| match text.parse() {
        Ok(selection) => selection,
        Err(never) => match never {},
    });
    Ok(Box::new(VulkanExecutor::open(&selection, &VulkanOptions::default())?))
}
