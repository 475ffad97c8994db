//! Executors: what runs a SPIR-V compute module.
//!
//! A [`Job`] says what to run; an [`Executor`] runs it and returns the output buffers. The job's form is the same for every
//! executor, so that a difference between two of them is a difference in what they compute.

pub mod embedded;

use std::sync::Arc;

pub mod vulkan;

/// Dimension of an image binding. Cubes are bound as [`ImageDim::D2Array`] with six layers a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageDim {
    /// One dimension.
    D1,
    /// Layers of one dimension.
    D1Array,
    /// Two dimensions.
    D2,
    /// Layers of two dimensions.
    D2Array,
    /// Three dimensions.
    D3,
}

/// An R32_UINT image. As [`Resource::Image`] it is bound as a sampled image (without a sampler) and read with `OpImageFetch`.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// Dimension of the image and of the view that is bound.
    pub dim: ImageDim,
    /// Texels of level 0 in x, y, z; 1 in the dimensions that are not there. Level `l` has `max(1, extent >> l)`.
    pub extent: [u32; 3],
    /// Number of array layers, 1 when it is no array.
    pub layers: u32,
    /// Number of levels.
    pub levels: u32,
    /// All texels, level by level, in a level layer by layer (or slice by slice), row by row.
    pub texels: &'a [u32],
}

/// What is bound at a binding.
#[derive(Clone, Copy, Debug)]
pub enum Resource<'a> {
    /// A read-only storage buffer.
    Input(&'a [u32]),
    /// A storage buffer of that many words, zero at first, returned after the run.
    Output(usize),
    /// A storage buffer that holds these words at first, returned after the run.
    InOut(&'a [u32]),
    /// An image.
    Image(Image<'a>),
    /// A storage image of one level that holds these texels at first, returned after the run. Its texels have the form that the
    /// module's image format gives them.
    Storage(Image<'a>),
}

/// A resource with its place.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'a> {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Element, for arrays of descriptors; else 0.
    pub element: u32,
    /// What is bound.
    pub resource: Resource<'a>,
}

/// A SPIR-V module with the key under which executors may keep what they compiled from it.
#[derive(Clone, Debug)]
pub struct Module {
    /// The words of the module.
    pub words: Arc<[u32]>,
    /// Hash of the words ([`Module::new`]).
    pub key: u64,
}

impl Module {
    /// Takes a module's words and hashes them.
    #[must_use]
    pub fn new(words: Vec<u32>) -> Self {
        let key = xxhash_rust::xxh3::xxh3_64(bytemuck::cast_slice(&words));
        Self { words: words.into(), key }
    }
}

/// One compute dispatch: module, specialization, bindings, push constants, group counts.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The module.
    pub module: &'a Module,
    /// Name of the entry point.
    pub entry: &'a str,
    /// Specialization constants: `SpecId` and the 32-bit value. Ids that the module lacks are ignored, as in Vulkan.
    pub specialization: &'a [(u32, u32)],
    /// What is bound, in any order.
    pub bindings: &'a [Binding<'a>],
    /// Push constants from offset 0 on.
    pub push_constants: &'a [u32],
    /// Workgroups in x, y, z.
    pub groups: [u32; 3],
}

/// What an executor is, for reports and cache keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorInfo {
    /// `vulkan` or `embedded`.
    pub kind: &'static str,
    /// Device name, such as `llvmpipe (LLVM 15.0.6, 256 bits)`; for the embedded executor its name.
    pub device: String,
    /// Driver's name and version; the crate's version for the embedded executor.
    pub driver: String,
}

/// Why a job gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecuteError {
    /// No loader, no device, or none that fits; the text says what to do.
    #[error("{0}")]
    Unavailable(String),
    /// The job asks for what this executor or device lacks.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// The job contradicts itself (an image whose texels do not fill its levels, say).
    #[error("invalid job: {0}")]
    InvalidJob(String),
    /// The module is not valid SPIR-V or uses what is not implemented.
    #[error("module: {0}")]
    Module(String),
    /// The device was lost.
    #[error("device lost: {0}")]
    DeviceLost(String),
    /// Host or device memory ran out.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// A limit on time or steps was reached.
    #[error("timeout: {0}")]
    Timeout(String),
    /// Any other failure of the driver, with the call and its result.
    #[error("driver: {0}")]
    Driver(String),
}

/// Runs jobs, one at a time.
pub trait Executor: Send {
    /// What this executor is.
    fn info(&self) -> &ExecutorInfo;

    /// Runs a job to the end; the contents of its outputs in the order of `job.bindings`.
    ///
    /// # Errors
    /// As [`ExecuteError`] lists.
    fn run(&mut self, job: &Job<'_>) -> Result<Vec<Vec<u32>>, ExecuteError>;

    /// The device's own sampler, where there is one.
    fn native(&mut self) -> Option<&mut dyn vulkan::NativeSampler> {
        None
    }
}
