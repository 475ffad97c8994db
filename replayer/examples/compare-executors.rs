//! Runs SPIR-V compute modules of any origin on a Vulkan device and on the embedded executor, and says where they differ:
//! `cargo run --release --example compare-executors -- a.spv b.spv`.
//!
//! What a module binds is found in it. Storage buffers that it only reads and uniform buffers hold a fixed pattern of small
//! floats and small integers, all others are zero at first and are compared; images are 16 texels wide. One line a module: its
//! name, a word, and the reason behind it:
//!
//! - `agree`: both give the same words. NaNs with different payloads count as the same.
//! - `open`: they differ, and the module depended on what Vulkan leaves open, which is named.
//! - `DIFFER`: they differ, and nothing that is noticed explains it. Invocations that race for a word are not noticed: `--groups 1`
//!   leaves fewer of them.
//! - `embedded-only`: the device, or this program's job for it, lacks something.
//! - `refused`: the embedded executor lacks something.
//! - `runs`, with `--embedded`: the device was not asked.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, anyhow};
use clap::Parser;
use replayer::execute::{
    Binding, ExecuteError, Executor, Image, ImageDim, Job, Module, Resource,
    embedded::{Embedded, Limits, StorageImage},
    vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
};
use rspirv::{
    dr,
    spirv::{Decoration, Dim, ExecutionModel, ImageFormat, Op, StorageClass},
};

/// Words of each buffer.
const WORDS: usize = 1 << 14;
/// Texels along each side of an image.
const SIDE: u32 = 16;
/// Words of push constants: what each Vulkan device has.
const PUSH_WORDS: usize = 32;
/// Layers of an image that has some: two cubes.
const LAYERS: u32 = 12;

#[derive(Parser)]
struct Arguments {
    /// Modules
    #[arg(required = true)]
    modules: Vec<PathBuf>,
    /// Only the embedded executor
    #[arg(long)]
    embedded: bool,
    /// Workgroups in each direction
    #[arg(long, default_value_t = 2)]
    groups: u32,
}

/// What a module binds.
enum Bound {
    Input,
    Output,
    Sampled(ImageDim),
    Storage(ImageDim, usize),
}

struct Interface {
    entry: String,
    bindings: Vec<(u32, u32, Bound)>,
}

fn operand(i: &dr::Instruction, n: usize) -> Option<u32> {
    i.operands.get(n).and_then(|o| match o {
        dr::Operand::LiteralBit32(v) => Some(*v),
        other => other.id_ref_any(),
    })
}

/// Finds entry point and bindings.
fn interface(module: &dr::Module) -> anyhow::Result<Interface> {
    let entry = module
        .entry_points
        .iter()
        .find(|e| e.operands.first() == Some(&dr::Operand::ExecutionModel(ExecutionModel::GLCompute)))
        .and_then(|e| match e.operands.get(2) {
            Some(dr::Operand::LiteralString(name)) => Some(name.clone()),
            _ => None,
        })
        .ok_or_else(|| anyhow!("no compute entry point"))?;
    let decoration = |id: u32, which: Decoration| {
        module.annotations.iter().find_map(|a| {
            let plain = a.class.opcode == Op::Decorate && operand(a, 0) == Some(id);
            let found = plain && a.operands.get(1) == Some(&dr::Operand::Decoration(which));
            found.then(|| operand(a, 2).unwrap_or(0))
        })
    };
    let read_only_members = |id: u32| {
        module
            .annotations
            .iter()
            .filter(|a| a.class.opcode == Op::MemberDecorate && operand(a, 0) == Some(id))
            .filter(|a| a.operands.get(2) == Some(&dr::Operand::Decoration(Decoration::NonWritable)))
            .count()
    };
    let find = |id: u32| module.types_global_values.iter().find(|i| i.result_id == Some(id));
    let mut bindings = vec![];
    for v in module.types_global_values.iter().filter(|i| i.class.opcode == Op::Variable) {
        let (Some(id), Some(pointer)) = (v.result_id, v.result_type.and_then(find)) else { continue };
        let Some(dr::Operand::StorageClass(class)) = pointer.operands.first() else { continue };
        let Some(ty) = operand(pointer, 1).and_then(find) else { continue };
        let place = (decoration(id, Decoration::DescriptorSet).unwrap_or(0), decoration(id, Decoration::Binding));
        let (set, Some(binding)) = place else { continue };
        let bound = match (class, ty.class.opcode) {
            (StorageClass::StorageBuffer | StorageClass::Uniform, Op::TypeStruct) => {
                let block = ty.result_id.unwrap_or(0);
                let storage =
                    *class == StorageClass::StorageBuffer || decoration(block, Decoration::BufferBlock).is_some();
                let reads =
                    decoration(id, Decoration::NonWritable).is_some() || read_only_members(block) == ty.operands.len();
                if storage && !reads { Bound::Output } else { Bound::Input }
            }
            (StorageClass::UniformConstant, Op::TypeImage) => {
                let Some(dr::Operand::Dim(dim)) = ty.operands.get(1) else { continue };
                let arrayed = operand(ty, 3) == Some(1);
                let dim = match (dim, arrayed) {
                    (Dim::Dim1D, false) => ImageDim::D1,
                    (Dim::Dim1D, true) => ImageDim::D1Array,
                    (Dim::Dim2D, false) => ImageDim::D2,
                    (Dim::Dim2D, true) | (Dim::DimCube, _) => ImageDim::D2Array,
                    (Dim::Dim3D, _) => ImageDim::D3,
                    (other, _) => return Err(anyhow!("an image of {other:?}")),
                };
                match (operand(ty, 5), ty.operands.get(6)) {
                    (Some(2), Some(dr::Operand::ImageFormat(format))) => Bound::Storage(dim, words_of(*format)),
                    _ => Bound::Sampled(dim),
                }
            }
            (_, other) => return Err(anyhow!("a binding of Op{other:?}")),
        };
        bindings.push((set, binding, bound));
    }
    Ok(Interface { entry, bindings })
}

/// Words of a texel as the embedded executor has them.
fn words_of(format: ImageFormat) -> usize {
    use ImageFormat as F;
    match format {
        F::Rgba32f | F::Rgba32i | F::Rgba32ui => 4,
        F::Rg32f | F::Rg32i | F::Rg32ui | F::Rgba16f => 2,
        _ => 1,
    }
}

/// Small floats and small integers by turns.
fn pattern(count: usize) -> Vec<u32> {
    (0..count as u32)
        .map(|n| {
            let hash = n.wrapping_mul(2_654_435_761) >> 16;
            if n % 3 == 0 { hash % 13 } else { ((hash % 1024) as f32 / 256.0 - 1.0).to_bits() }
        })
        .collect()
}

fn extent(dim: ImageDim) -> ([u32; 3], u32) {
    match dim {
        ImageDim::D1 => ([SIDE, 1, 1], 1),
        ImageDim::D1Array => ([SIDE, 1, 1], LAYERS),
        ImageDim::D2 => ([SIDE, SIDE, 1], 1),
        ImageDim::D2Array => ([SIDE, SIDE, 1], LAYERS),
        ImageDim::D3 => ([SIDE, SIDE, SIDE], 1),
    }
}

/// A word for the outcome, and what is behind it.
fn compare(
    path: &Path,
    arguments: &Arguments,
    vulkan: Option<&mut VulkanExecutor>,
) -> anyhow::Result<(&'static str, String)> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let words: Vec<u32> = bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    let parsed = match dr::load_words(&words) {
        Ok(parsed) => parsed,
        Err(error) => return Ok(("refused", format!("does not parse: {error}"))),
    };
    let interface = match interface(&parsed) {
        Ok(interface) => interface,
        Err(error) => return Ok(("refused", error.to_string())),
    };
    let input = pattern(WORDS);
    let texels = pattern((SIDE * SIDE * SIDE) as usize);
    let mut bindings = vec![];
    let mut images = vec![];
    for &(set, binding, ref bound) in &interface.bindings {
        let resource = match *bound {
            Bound::Input => Resource::Input(&input),
            Bound::Output => Resource::Output(WORDS),
            Bound::Sampled(dim) => {
                let (extent, layers) = extent(dim);
                let count = extent.iter().product::<u32>() * layers;
                Resource::Image(Image { dim, extent, layers, levels: 1, texels: &texels[..count as usize] })
            }
            Bound::Storage(dim, words) => {
                let (extent, layers) = extent(dim);
                let count = (extent.iter().product::<u32>() * layers) as usize * words;
                images.push(StorageImage { set, binding, dim, extent, layers, texels: vec![0; count] });
                continue;
            }
        };
        bindings.push(Binding { set, binding, element: 0, resource });
    }
    let module = Module::new(words);
    let job = Job {
        module: &module,
        entry: &interface.entry,
        specialization: &[],
        bindings: &bindings,
        push_constants: &input[..PUSH_WORDS],
        groups: [arguments.groups; 3],
    };
    let limits = Limits { time: Duration::from_secs(10), ..Limits::default() };
    let mut embedded = Embedded::with_limits(limits);
    let ours = match embedded.run_with_images(&job, &mut images) {
        Ok(words) => words,
        Err(error) => return Ok(("refused", error.to_string())),
    };
    let findings = embedded.take_report().findings;
    let report = findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let Some(vulkan) = vulkan else { return Ok(("runs", report)) };
    if !images.is_empty() {
        return Ok(("embedded-only", "the job of a Vulkan device has no storage images".to_owned()));
    }
    let theirs = match vulkan.run(&job) {
        Ok(words) => words,
        Err(error @ (ExecuteError::Unsupported(_) | ExecuteError::InvalidJob(_) | ExecuteError::Module(_))) => {
            return Ok(("embedded-only", error.to_string()));
        }
        Err(error) => return Ok(("DIFFER", format!("the device fails: {error}"))),
    };
    let is_nan = |w: u32| f32::from_bits(w).is_nan();
    let difference = ours.iter().zip(&theirs).enumerate().find_map(|(output, (a, b))| {
        let at = a.iter().zip(b).position(|(&a, &b)| a != b && !(is_nan(a) && is_nan(b)))?;
        Some(format!("output {output}, word {at}: {:#010x} embedded, {:#010x} on the device", a[at], b[at]))
    });
    let written = ours.iter().flatten().filter(|&&w| w != 0).count();
    Ok(match (difference, report.is_empty()) {
        (None, _) => ("agree", format!("{written} words written")),
        (Some(text), false) => ("open", format!("{text}; {report}")),
        (Some(text), true) => ("DIFFER", text),
    })
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut vulkan = match arguments.embedded {
        true => None,
        false => Some(VulkanExecutor::open(&DeviceSelection::Auto, &VulkanOptions::default())?),
    };
    for path in &arguments.modules {
        let (word, text) = compare(path, &arguments, vulkan.as_mut())?;
        println!("{}\t{word}\t{text}", path.file_name().unwrap_or_default().to_string_lossy());
    }
    Ok(())
}
