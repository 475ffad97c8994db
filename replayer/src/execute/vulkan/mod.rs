//! Runs modules on a Vulkan device.
//!
//! The loader is opened at run time: a program with this executor starts without any Vulkan, and [`VulkanExecutor::open`]
//! says what is missing. Modules, pipelines, buffers and images are kept from run to run, so that a small dispatch costs
//! little beside its work. This is the only part of the crate with `unsafe` code.

#![allow(unsafe_code)]

mod capabilities;
mod descriptor_words;
mod device;
mod disk_cache;
mod engine;
mod error;
mod image;
mod instance;
mod memory;
mod module_info;
mod native;
mod physical;
mod pipeline;
mod plan;
mod raw;
mod sampler;
mod small_device;
mod statistics;

use std::{
    mem::ManuallyDrop,
    num::{NonZeroU32, NonZeroUsize},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

pub(crate) use self::module_info::{ModuleInfo, ModuleResource};
pub use self::{
    descriptor_words::sampler_words,
    disk_cache::CacheState,
    engine::RunTiming,
    native::{
        AddressMode, BorderColor, Component, NativeBinding, NativeFilter, NativeFormat, NativeImage, NativeJob,
        NativeResource, NativeSampler, NativeSamplerState, NativeView, ReductionMode,
    },
    physical::{DeviceInfo, DeviceKind, DeviceSelection, FloatControls32},
    pipeline::PipelineCounts,
    raw::{RawDevice, RawJob},
    statistics::{BoundTexels, Statistic, compile_statistics},
};
use self::{device::Device, engine::Engine, instance::Instance, physical::Physical};
use super::{ExecuteError, Executor, ExecutorInfo, Job, Resource};

/// Environment variable that turns the validation layer on when it is `1`.
pub const VALIDATION_VARIABLE: &str = "REPLAYER_VALIDATION";

/// How the host reaches the device's buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryMode {
    /// Directly on CPU and integrated devices that have such memory, staged on others.
    #[default]
    Auto,
    /// Inputs and outputs are in memory that both reach.
    Direct,
    /// Inputs and outputs are copied to and from memory of the device.
    Staged,
}

/// Options of a [`VulkanExecutor`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VulkanOptions {
    /// Turns the validation layer on; so does `REPLAYER_VALIDATION=1`. It is an error if it is not installed.
    pub validation: bool,
    /// Folder of the pipeline cache on disk, made if it is missing; no cache on disk when `None`.
    pub cache_dir: Option<PathBuf>,
    /// Pipelines kept in memory; beyond, the least recently used goes.
    pub pipelines_kept: NonZeroUsize,
    /// Time for one run, after which it is [`ExecuteError::Timeout`].
    pub timeout: Duration,
    /// Records GPU timestamps around the dispatch, see [`RunTiming::kernel`].
    pub timestamps: bool,
    /// How often a run dispatches, each after the one before: to measure what alone is over before a GPU's clocks have
    /// risen. Only for modules that do not read what they write.
    pub repeats: NonZeroU32,
    /// How the host reaches the device's buffers.
    pub memory: MemoryMode,
    /// File of the Vulkan loader; the system's when `None`.
    pub loader: Option<PathBuf>,
}

impl Default for VulkanOptions {
    fn default() -> Self {
        Self {
            validation: false,
            cache_dir: None,
            pipelines_kept: const { NonZeroUsize::MIN.saturating_add(4095) },
            timeout: Duration::from_secs(60),
            timestamps: false,
            repeats: NonZeroU32::MIN,
            memory: MemoryMode::Auto,
            loader: None,
        }
    }
}

impl VulkanOptions {
    fn instance(&self) -> Result<Instance, ExecuteError> {
        let variable = std::env::var_os(VALIDATION_VARIABLE).is_some_and(|value| value == "1");
        Instance::new(self.loader.as_deref(), self.validation || variable)
    }
}

/// Runs jobs on a Vulkan device.
///
/// An empty input or output is bound as 16 bytes of zeros, as Vulkan has no empty buffers.
///
/// When a run is over its time, its results are lost and the next run first waits for its end. A run that never ends makes
/// the executor unusable; dropping it then leaves the device's objects behind, as nothing in use may be destroyed.
pub struct VulkanExecutor {
    engine: ManuallyDrop<Engine>,
    info: ExecutorInfo,
    notes: Vec<String>,
}

impl VulkanExecutor {
    /// What devices there are, in the loader's order, usable or not.
    ///
    /// # Errors
    /// [`ExecuteError::Unavailable`] if there is no loader or no device.
    pub fn devices() -> Result<Vec<DeviceInfo>, ExecuteError> {
        Self::devices_with(&VulkanOptions::default())
    }

    /// As [`VulkanExecutor::devices`], with the loader and the validation layer of `options`.
    ///
    /// # Errors
    /// As there.
    pub fn devices_with(options: &VulkanOptions) -> Result<Vec<DeviceInfo>, ExecuteError> {
        let instance = options.instance()?;
        Ok(Physical::list(&instance)?.into_iter().map(|physical| physical.info).collect())
    }

    /// Opens a device.
    ///
    /// # Errors
    /// [`ExecuteError::Unavailable`] if there is no loader, no device, none or more than one that fits, none with a queue
    /// for compute, or no validation layer when it was asked for. A pipeline cache that is of no use is a note, no error.
    pub fn open(selection: &DeviceSelection, options: &VulkanOptions) -> Result<Self, ExecuteError> {
        let instance = Arc::new(options.instance()?);
        let mut devices = Physical::list(&instance)?;
        let infos: Vec<DeviceInfo> = devices.iter().map(|d| d.info.clone()).collect();
        let physical = devices.swap_remove(physical::choose(&infos, selection)?);
        let info = executor_info(&physical.info);
        let device = Arc::new(Device::open(instance, physical)?);
        let engine = Engine::new(device, options)?;
        let notes = match engine.pipelines.cache_state() {
            CacheState::Ignored(reason) => vec![reason],
            _ => Vec::new(),
        };
        Ok(Self { engine: ManuallyDrop::new(engine), info, notes })
    }

    /// The device that was opened.
    #[must_use]
    pub fn device(&self) -> &DeviceInfo {
        &self.engine.device.physical.info
    }

    /// The messages of the validation layer since the last call; none when it is off.
    pub fn take_validation_messages(&mut self) -> Vec<String> {
        self.engine.device.instance.take_messages()
    }

    /// What went wrong beside the work, since the last call: a pipeline cache that could not be read or written.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// What became of the pipeline cache on disk when the executor was opened.
    #[must_use]
    pub fn cache_state(&self) -> CacheState {
        self.engine.pipelines.cache_state()
    }

    /// Writes the pipeline cache to disk if pipelines were made since it was read or written. Dropping the executor does
    /// it too. A failure is a note.
    pub fn flush_cache(&mut self) {
        let note = self.engine.pipelines.flush();
        self.notes.extend(note);
    }

    /// How often modules, layouts and pipelines were made and reused.
    #[must_use]
    pub fn pipeline_counts(&self) -> PipelineCounts {
        self.engine.pipelines.counts()
    }

    /// How long the last run took; `None` before the first and after one that failed.
    #[must_use]
    pub fn last_run_timing(&self) -> Option<RunTiming> {
        self.engine.timing
    }
}

impl Executor for VulkanExecutor {
    fn info(&self) -> &ExecutorInfo {
        &self.info
    }

    fn run(&mut self, job: &Job<'_>) -> Result<Vec<Vec<u32>>, ExecuteError> {
        let bindings: Vec<NativeBinding<'_>> = job
            .bindings
            .iter()
            .map(|bound| NativeBinding {
                set: bound.set,
                binding: bound.binding,
                element: bound.element,
                resource: match bound.resource {
                    Resource::Input(words) => NativeResource::Input(words),
                    Resource::Output(words) => NativeResource::Output(words),
                    Resource::InOut(words) => NativeResource::InOut(words),
                    Resource::Storage(image) => NativeResource::Storage(image.into()),
                    Resource::Image(image) => NativeResource::Image(image.into()),
                },
            })
            .collect();
        self.engine.run(&NativeJob {
            module: job.module,
            entry: job.entry,
            specialization: job.specialization,
            bindings: &bindings,
            push_constants: job.push_constants,
            groups: job.groups,
        })
    }

    fn native(&mut self) -> Option<&mut dyn NativeSampler> {
        Some(self)
    }
}

impl Drop for VulkanExecutor {
    fn drop(&mut self) {
        // Of no interest to anyone any more when it fails.
        let _ = self.engine.pipelines.flush();
        if self.engine.settle() {
            // SAFETY: dropped once, here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.engine) };
        }
    }
}

fn executor_info(device: &DeviceInfo) -> ExecutorInfo {
    let [major, minor, patch] = device.api_version;
    let driver = match (device.driver_name.as_str(), device.driver_info.as_str()) {
        ("", _) => format!("driver 0x{:08x}", device.driver_version),
        (name, "") => format!("{name} 0x{:08x}", device.driver_version),
        (name, info) => format!("{name} {info}"),
    };
    ExecutorInfo {
        kind: "vulkan",
        device: device.name.clone(),
        driver: format!("{driver}, Vulkan {major}.{minor}.{patch}"),
    }
}
