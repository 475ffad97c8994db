//! Runs SPIR-V compute modules on the CPU, without any driver.
//!
//! A module is translated once for each set of specialization values: constants and constant branches are evaluated, calls
//! inlined, composites split into scalars, and what nothing reads is dropped. The program then runs for 64 invocations at a
//! time, each instruction decoded once for all of them, on all threads of rayon's pool.
//!
//! # Scope
//! Integers of 8, 16, 32 and 64 bits, floats of 16, 32 and 64 bits, vectors, matrices, arrays, structs; all control flow that is
//! structured; functions without recursion; variables in Function, Private, Workgroup, Uniform, StorageBuffer, PushConstant,
//! Input (built-ins) and UniformConstant (images); barriers and 32-bit atomics; GLSL.std.450 without interpolation; fetches,
//! reads, writes, atomics and queries on images. Not there: samplers, subgroups, variable and physical pointers, 64-bit
//! atomics. What is missing is refused with the opcode's name, its word offset and its result. Arrays of descriptors may be
//! indexed by whatever value, each invocation by its own; an element that is not there ends the run with an error.
//!
//! # Arithmetic
//! Each float operation is IEEE 754 in its own width, rounded to nearest even; nothing is contracted, subnormals are kept in
//! operands and results. Division and square roots are exact in that sense. 16-bit arithmetic is done in 32 bits and rounded,
//! which gives the same. The sign and payload of a NaN that an operation makes are not specified. Where SPIR-V defines an
//! instruction by a formula (FRem, FMod, FMix, Dot, Length, Reflect, …) the formula is evaluated from left to right, each
//! operation rounded: `FRem` is `x - y * trunc(x / y)`. Functions that Vulkan lets be imprecise (sine, logarithm, power, inverse
//! square root, …) are computed in 64 bits by the `libm` crate and rounded once, the same on every machine.
//!
//! # Choices
//! Where Vulkan leaves a result open, [`Choice`] says what this executor does, and [`Embedded::take_report`] lists each
//! instruction that was executed so. OpUndef is followed until a value goes through a phi or a variable. Writes to buffers are
//! seen by all invocations at once; workgroups run in no particular order, so that one that waits for another may never end.
//! What takes too long or too much ends with an error ([`Limits`]).

mod effects;
mod half;
mod ir;
mod kernels;
mod machine;
mod report;
mod resources;
mod source;
mod trace;
mod translate;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use self::ir::Program;
pub use self::report::{Choice, Finding, Report};
use self::source::Source;
pub use self::trace::{Fetch, Line, Operand, Step, Value};
use super::{ExecuteError, Executor, ExecutorInfo, ImageDim, Job, Resource};

/// A 16-bit float, the low half of a word, as FP32 bits. Exact.
pub(crate) fn half_to_f32(half: u32) -> u32 {
    half::to_f32(half)
}

/// Programs that are kept.
const CACHED: usize = 64;

/// What a module may use before its run is ended with an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions, each counted once for 64 invocations, that a block of 64 invocations may execute.
    pub steps: u64,
    /// Time that a dispatch may take.
    pub time: Duration,
    /// Invocations of a dispatch.
    pub invocations: u64,
    /// Invocations of a workgroup.
    pub workgroup_invocations: u32,
    /// Words of workgroup memory.
    pub shared_words: u32,
    /// Registers of an invocation, in words.
    pub slots: u32,
    /// Operations on scalars of a module after inlining.
    pub instructions: usize,
    /// Bytes for the outputs, and for the registers of a workgroup.
    pub memory_bytes: usize,
    /// Instructions of a trace.
    pub trace_steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 1 << 28,
            time: Duration::from_secs(300),
            invocations: 1 << 36,
            workgroup_invocations: 4096,
            shared_words: 1 << 18,
            slots: 1 << 18,
            instructions: 1 << 20,
            memory_bytes: 4 << 30,
            trace_steps: 1 << 18,
        }
    }
}

/// A storage image that a module reads and writes. Its texels have the form that the module's image format gives them: a word
/// for each 32-bit channel, two words for Rgba16f, one for the formats of four 8-bit channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageImage {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Dimension of the image and its view.
    pub dim: ImageDim,
    /// Texels in x, y, z; 1 in the dimensions that are not there.
    pub extent: [u32; 3],
    /// Number of array layers, 1 when it is no array.
    pub layers: u32,
    /// The texels, layer by layer (or slice by slice), row by row.
    pub texels: Vec<u32>,
}

/// What a program is kept under.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    words: Arc<[u32]>,
    entry: String,
    specialization: Vec<(u32, u32)>,
    tracing: bool,
}

/// The embedded executor.
///
/// ```
/// use replayer::execute::embedded::Embedded;
/// use replayer::execute::Executor;
///
/// assert_eq!(Embedded::new().info().kind, "embedded");
/// ```
pub struct Embedded {
    info: ExecutorInfo,
    limits: Limits,
    /// Latest first.
    programs: VecDeque<(u64, Key, Arc<Program>)>,
    report: Report,
}

impl Default for Embedded {
    fn default() -> Self {
        Self::new()
    }
}

impl Embedded {
    /// An executor with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    /// An executor with other limits.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        let vectors = match pulp::Arch::new() {
            pulp::Arch::Scalar => "scalar",
            _ => "vectors",
        };
        let info = ExecutorInfo {
            kind: "embedded",
            device: format!("embedded ({vectors}, {} threads)", rayon::current_num_threads()),
            driver: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
        };
        Self { info, limits, programs: VecDeque::new(), report: Report::default() }
    }

    /// What the runs since the last call depended on that Vulkan leaves open.
    #[must_use]
    pub fn take_report(&mut self) -> Report {
        std::mem::take(&mut self.report)
    }

    /// Runs a job that also has storage images; they are read and written in place.
    ///
    /// # Errors
    /// As [`Executor::run`].
    pub fn run_with_images(
        &mut self,
        job: &Job<'_>,
        images: &mut [StorageImage],
    ) -> Result<Vec<Vec<u32>>, ExecuteError> {
        let (result, _) = self.execute(job, images, None)?;
        Ok(result)
    }

    /// Each instruction that one invocation executes, with the values of its operands and its result.
    ///
    /// Only what the invocation depends on is run: its workgroup where the module has barriers or workgroup memory, else the
    /// invocation alone. What other workgroups write is not seen. Outputs are zero at first, as in a run.
    ///
    /// # Errors
    /// As [`Executor::run`]; [`ExecuteError::InvalidJob`] when `invocation`, a `GlobalInvocationId`, is not part of the dispatch,
    /// and [`ExecuteError::Timeout`] when there are more steps than [`Limits::trace_steps`].
    pub fn trace_invocation(&mut self, job: &Job<'_>, invocation: [u32; 3]) -> Result<Vec<Step>, ExecuteError> {
        let (_, steps) = self.execute(job, &mut [], Some(invocation))?;
        Ok(steps)
    }

    fn program(&mut self, job: &Job<'_>, tracing: bool) -> Result<Arc<Program>, ExecuteError> {
        let found = self.programs.iter().position(|(hash, key, _)| {
            *hash == job.module.key
                && key.entry == job.entry
                && key.specialization == job.specialization
                && key.tracing == tracing
                && (Arc::ptr_eq(&key.words, &job.module.words) || key.words == job.module.words)
        });
        if let Some(entry) = found.and_then(|n| self.programs.remove(n)) {
            let program = entry.2.clone();
            self.programs.push_front(entry);
            return Ok(program);
        }
        // Another specialization of the module may have it in parts already.
        let parsed =
            self.programs.iter().find(|(hash, key, _)| *hash == job.module.key && key.words == job.module.words);
        let source = match parsed {
            Some((_, _, program)) => program.source.clone(),
            None => Arc::new(Source::parse(&job.module.words, job.module.key)?),
        };
        let program = Arc::new(translate::translate(&source, job.entry, job.specialization, &self.limits, tracing)?);
        let key = Key {
            words: job.module.words.clone(),
            entry: job.entry.to_owned(),
            specialization: job.specialization.to_vec(),
            tracing,
        };
        self.programs.push_front((job.module.key, key, program.clone()));
        self.programs.truncate(CACHED);
        Ok(program)
    }

    fn execute(
        &mut self,
        job: &Job<'_>,
        images: &mut [StorageImage],
        trace: Option<[u32; 3]>,
    ) -> Result<(Vec<Vec<u32>>, Vec<Step>), ExecuteError> {
        let program = self.program(job, trace.is_some())?;
        let outputs = resources::outputs(job, &self.limits)?;
        let bound = resources::storage_images(job);
        let atomic = |texels: &[u32]| -> Vec<AtomicU32> { texels.iter().map(|&t| AtomicU32::new(t)).collect() };
        let storage: Vec<resources::Stored<'_, Vec<AtomicU32>>> = images
            .iter()
            .map(|image| (image, 0, atomic(&image.texels)))
            .chain(bound.iter().map(|(image, element, texels)| (image, *element, atomic(texels))))
            .collect();
        let outcome = {
            let resources = resources::Resources::new(&program, job, &outputs, &storage)?;
            machine::run(&program, &resources, job.groups, &self.limits, trace)?
        };
        let mut texels: Vec<Vec<u32>> = storage.into_iter().map(|(.., t)| plain(t)).collect();
        let mut stored = texels.split_off(images.len()).into_iter();
        if trace.is_none() {
            for (image, texels) in images.iter_mut().zip(texels) {
                image.texels = texels;
            }
            let source = &program.source;
            let findings = outcome.notes.into_iter().map(|(src, choice, count, first)| {
                let i = source.insts[src as usize];
                let result = (i.id != 0).then_some(i.id);
                Finding { module: source.key, choice, opcode: source.inst_name(&i), word: i.at, result, count, first }
            });
            self.report.merge(findings.collect());
        }
        let outputs = job.bindings.iter().zip(outputs).filter_map(|(bound, output)| match bound.resource {
            Resource::Output(_) | Resource::InOut(_) => Some(plain(output)),
            Resource::Storage(_) => stored.next(),
            Resource::Input(_) | Resource::Image(_) => None,
        });
        Ok((outputs.collect(), outcome.steps))
    }
}

fn plain(words: Vec<AtomicU32>) -> Vec<u32> {
    words.into_iter().map(AtomicU32::into_inner).collect()
}

impl Executor for Embedded {
    fn info(&self) -> &ExecutorInfo {
        &self.info
    }

    fn run(&mut self, job: &Job<'_>) -> Result<Vec<Vec<u32>>, ExecuteError> {
        self.run_with_images(job, &mut [])
    }
}
