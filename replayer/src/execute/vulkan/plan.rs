//! From a job to where everything goes, with all checks that need no call of the driver.

use std::collections::BTreeMap;

use ash::vk;
use rspirv::spirv::Dim;

use super::{
    device::Device,
    image::{Shape, Staging},
    module_info::{Kind, ModuleInfo, Texture},
    native::{Component, NativeImage, NativeJob, NativeResource, NativeSamplerState, NativeView},
    pipeline::{LayoutBinding, LayoutKey},
};
use crate::execute::ExecuteError;

/// Highest number of a binding: drivers make tables up to it.
const HIGHEST_BINDING: u32 = 4095;
/// Highest element of an array of descriptors.
const HIGHEST_ELEMENT: u32 = (1 << 20) - 1;
/// Bytes of the zeros that stand for an empty buffer, which Vulkan does not have.
const EMPTY_BYTES: u64 = 16;

/// A part of the storage arena.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Place in the job's bindings.
    pub(super) place: usize,
    /// Byte offset.
    pub(super) offset: u64,
    /// Words.
    pub(super) words: usize,
    /// Storage or uniform buffer.
    pub(super) kind: vk::DescriptorType,
}

impl Slot {
    /// Bytes that a descriptor covers.
    pub(super) fn range(&self) -> u64 {
        if self.words == 0 { EMPTY_BYTES } else { self.words as u64 * 4 }
    }
}

/// An image to bind.
pub(super) struct Texels<'a> {
    /// Place in the job's bindings.
    pub(super) place: usize,
    pub(super) image: NativeImage<'a>,
    /// Its shape, which says whether it is a storage image.
    pub(super) shape: Shape,
    pub(super) sampler: Option<NativeSamplerState>,
}

/// Where everything of a job goes.
pub(super) struct Plan<'a> {
    pub(super) layout: LayoutKey,
    /// Inputs, from byte 0 of the arena on.
    pub(super) inputs: Vec<Slot>,
    /// Outputs, after the inputs: those that hold something at first, then the others; each in the job's order.
    pub(super) outputs: Vec<Slot>,
    /// First byte of the outputs.
    pub(super) outputs_start: u64,
    /// First byte of the outputs that are zero at first. What is before it is filled by the host.
    pub(super) zeros_start: u64,
    /// Bytes of the arena.
    pub(super) arena: u64,
    pub(super) images: Vec<Texels<'a>>,
    /// Whether there is nothing to compute.
    pub(super) idle: bool,
}

fn unsupported<T>(text: String) -> Result<T, ExecuteError> {
    Err(ExecuteError::Unsupported(text))
}

fn invalid<T>(text: String) -> Result<T, ExecuteError> {
    Err(ExecuteError::InvalidJob(text))
}

impl<'a> Plan<'a> {
    /// Checks a job against its module and the device, and lays it out.
    pub(super) fn new(job: &NativeJob<'a>, info: &ModuleInfo, device: &Device) -> Result<Self, ExecuteError> {
        let limits = &device.physical.limits;
        check_entry(job, info, limits)?;
        check_specialization(job, info)?;
        check_push_constants(job, info, limits)?;
        check_groups(job, limits)?;

        for d in &info.resources {
            if let Kind::Other(what) = d.kind {
                return unsupported(format!("the module has {what} at set {} binding {}", d.set, d.binding));
            }
        }
        let mut kinds = Vec::with_capacity(job.bindings.len());
        let mut images = Vec::new();
        for (place, bound) in job.bindings.iter().enumerate() {
            let (set, binding) = (bound.set, bound.binding);
            if set >= limits.max_bound_descriptor_sets {
                return unsupported(format!(
                    "descriptor set {set}, maxBoundDescriptorSets is {}",
                    limits.max_bound_descriptor_sets
                ));
            }
            if binding > HIGHEST_BINDING {
                return unsupported(format!("binding {binding} of set {set}, the highest is {HIGHEST_BINDING}"));
            }
            if bound.element > HIGHEST_ELEMENT {
                return unsupported(format!(
                    "element {} of set {set} binding {binding}, the highest is {HIGHEST_ELEMENT}",
                    bound.element
                ));
            }
            let declared: Vec<Kind> =
                info.resources.iter().filter(|d| d.set == set && d.binding == binding).map(|d| d.kind).collect();
            let kind = descriptor_type(&bound.resource, &declared)
                .or_else(|text| invalid(format!("set {set} binding {binding}: {text}")))?;
            kinds.push(kind);
            let (image, sampler, storage) = match bound.resource {
                NativeResource::Image(image) => (image, None, false),
                NativeResource::Sampled(image, sampler) => (image, Some(sampler), false),
                NativeResource::Storage(image) => (image, None, true),
                NativeResource::Input(_) | NativeResource::Output(_) | NativeResource::InOut(_) => continue,
            };
            if storage && (image.levels != 1 || image.components != Component::IDENTITY) {
                return invalid(format!(
                    "set {set} binding {binding}: a storage image has one level and the identity for a component mapping"
                ));
            }
            let shape = Shape::of(&image, storage, device).map_err(|e| at(set, binding, e))?;
            images.push(Texels { place, image, shape, sampler });
        }
        for d in &info.resources {
            if !job.bindings.iter().any(|bound| (bound.set, bound.binding) == (d.set, d.binding)) {
                return invalid(format!("the module uses set {} binding {}, nothing is bound there", d.set, d.binding));
            }
        }
        let partial = device.enabled.v12.descriptor_binding_partially_bound == vk::TRUE;
        let bindings = layout_bindings(job, info, &kinds, partial)?;
        check_counts(&bindings, limits)?;
        let Slots { inputs, outputs, outputs_start, zeros_start, arena } = slots(job, &kinds, limits)?;
        let push_constant_bytes = u32::try_from(job.push_constants.len() * 4).unwrap_or(u32::MAX);
        let stores = images.iter().any(|texels| texels.shape.storage);
        let idle = job.groups.contains(&0) || (!stores && outputs.iter().all(|o| o.words == 0));
        Ok(Self {
            layout: LayoutKey { bindings, push_constant_bytes },
            inputs,
            outputs,
            outputs_start,
            zeros_start,
            arena,
            images,
            idle,
        })
    }

    /// Lays out the texels of the images at `places` in a staging buffer, from byte `start` on.
    pub(super) fn stage(
        &self,
        uploads: impl Iterator<Item = (usize, bool)>,
        start: u64,
        alignment: u64,
    ) -> Result<(Vec<Option<Staging>>, u64), ExecuteError> {
        let mut end = start;
        let mut out = Vec::with_capacity(self.images.len());
        for (which, upload) in uploads {
            let staging = match (upload, self.images.get(which)) {
                (true, Some(texels)) => {
                    let staging = texels.shape.staging(end, alignment).ok_or_else(too_large)?;
                    end = staging.end;
                    Some(staging)
                }
                _ => None,
            };
            out.push(staging);
        }
        Ok((out, end))
    }
}

fn too_large() -> ExecuteError {
    ExecuteError::OutOfMemory("the job's buffers and images take more than 64 bits can count".to_owned())
}

/// Puts the place before an image's error.
fn at(set: u32, binding: u32, error: ExecuteError) -> ExecuteError {
    let place = |text: String| format!("set {set} binding {binding}: {text}");
    match error {
        ExecuteError::InvalidJob(text) => ExecuteError::InvalidJob(place(text)),
        ExecuteError::Unsupported(text) => ExecuteError::Unsupported(place(text)),
        other => other,
    }
}

fn check_entry(job: &NativeJob<'_>, info: &ModuleInfo, limits: &vk::PhysicalDeviceLimits) -> Result<(), ExecuteError> {
    let Some(entry) = info.entries.iter().find(|e| e.name == job.entry) else {
        let names: Vec<String> = info.entries.iter().map(|e| format!("{:?}", e.name)).collect();
        return Err(ExecuteError::Module(format!(
            "no compute entry point {:?}, there are: {}",
            job.entry,
            names.join(", ")
        )));
    };
    let Some(size) = info.workgroup_size(entry.id, job.specialization) else {
        return Ok(());
    };
    let invocations = size.iter().try_fold(1u32, |product, &n| product.checked_mul(n));
    let [x, y, z] = size;
    if size.contains(&0) {
        return Err(ExecuteError::Module(format!("workgroup size {x}x{y}x{z}")));
    }
    if size.iter().zip(limits.max_compute_work_group_size).any(|(n, most)| *n > most) {
        let [mx, my, mz] = limits.max_compute_work_group_size;
        return unsupported(format!("workgroup size {x}x{y}x{z}, maxComputeWorkGroupSize is {mx}x{my}x{mz}"));
    }
    if invocations.is_none_or(|n| n > limits.max_compute_work_group_invocations) {
        return unsupported(format!(
            "workgroup size {x}x{y}x{z}, maxComputeWorkGroupInvocations is {}",
            limits.max_compute_work_group_invocations
        ));
    }
    Ok(())
}

fn check_specialization(job: &NativeJob<'_>, info: &ModuleInfo) -> Result<(), ExecuteError> {
    for (place, (id, _)) in job.specialization.iter().enumerate() {
        if job.specialization[..place].iter().any(|(other, _)| other == id) {
            return invalid(format!("specialization constant {id} is given twice"));
        }
        if let Some(&bits) = info.spec_bits.get(id)
            && bits != 32
            && bits != 1
        {
            return unsupported(format!("specialization constant {id} has {bits} bits, jobs give 32"));
        }
    }
    Ok(())
}

fn check_push_constants(
    job: &NativeJob<'_>,
    info: &ModuleInfo,
    limits: &vk::PhysicalDeviceLimits,
) -> Result<(), ExecuteError> {
    let bytes = job.push_constants.len().saturating_mul(4);
    let limit = limits.max_push_constants_size;
    if u32::try_from(bytes).is_ok_and(|b| b <= limit) {
        if (bytes as u64) < u64::from(info.push_constant_bytes) {
            return invalid(format!(
                "{bytes} bytes of push constants, the module's block takes {}",
                info.push_constant_bytes
            ));
        }
        Ok(())
    } else {
        unsupported(format!("{bytes} bytes of push constants, maxPushConstantsSize is {limit}"))
    }
}

fn check_groups(job: &NativeJob<'_>, limits: &vk::PhysicalDeviceLimits) -> Result<(), ExecuteError> {
    for ((groups, limit), axis) in job.groups.iter().zip(limits.max_compute_work_group_count).zip(["x", "y", "z"]) {
        if *groups > limit {
            return unsupported(format!("{groups} workgroups in {axis}, maxComputeWorkGroupCount is {limit}"));
        }
    }
    Ok(())
}

/// The bindings of the layout: one for each set and binding, with as many descriptors as the module and the job have there.
fn layout_bindings(
    job: &NativeJob<'_>,
    info: &ModuleInfo,
    kinds: &[vk::DescriptorType],
    partially_bound: bool,
) -> Result<Vec<LayoutBinding>, ExecuteError> {
    let mut elements: BTreeMap<(u32, u32), BTreeMap<u32, vk::DescriptorType>> = BTreeMap::new();
    for (bound, &kind) in job.bindings.iter().zip(kinds) {
        let (set, binding, element) = (bound.set, bound.binding, bound.element);
        if elements.entry((set, binding)).or_default().insert(element, kind).is_some() {
            let which = if element == 0 { String::new() } else { format!(" element {element}") };
            return invalid(format!("set {set} binding {binding}{which} is bound twice"));
        }
    }
    let mut bindings = Vec::with_capacity(elements.len());
    for ((set, binding), elements) in elements {
        let (Some((_, &kind)), Some((&last, _))) = (elements.first_key_value(), elements.last_key_value()) else {
            continue;
        };
        if elements.values().any(|other| *other != kind) {
            return invalid(format!("set {set} binding {binding}: its elements have different types"));
        }
        let declared = info.resources.iter().filter(|d| (d.set, d.binding) == (set, binding));
        let declared = declared.map(|d| d.count(job.specialization)).max().unwrap_or(1);
        let count = declared.max(last + 1);
        let partial = elements.len() as u64 != u64::from(count);
        if partial && !partially_bound {
            return unsupported(format!(
                "set {set} binding {binding}: {} of {count} elements are bound, and the device lacks \
                 descriptorBindingPartiallyBound",
                elements.len()
            ));
        }
        bindings.push(LayoutBinding { set, binding, kind, count, partial });
    }
    Ok(bindings)
}

fn check_counts(bindings: &[LayoutBinding], limits: &vk::PhysicalDeviceLimits) -> Result<(), ExecuteError> {
    use vk::DescriptorType as T;
    let sum = |of: &dyn Fn(T) -> bool| -> u64 {
        bindings.iter().filter(|bound| of(bound.kind)).map(|bound| u64::from(bound.count)).sum()
    };
    let count = |of: &[T]| sum(&|kind| of.contains(&kind));
    let checks = [
        (
            count(&[T::STORAGE_BUFFER]),
            "storage buffers",
            "maxPerStageDescriptorStorageBuffers",
            limits.max_per_stage_descriptor_storage_buffers,
        ),
        (
            count(&[T::UNIFORM_BUFFER]),
            "uniform buffers",
            "maxPerStageDescriptorUniformBuffers",
            limits.max_per_stage_descriptor_uniform_buffers,
        ),
        (
            count(&[T::SAMPLED_IMAGE, T::COMBINED_IMAGE_SAMPLER]),
            "images",
            "maxPerStageDescriptorSampledImages",
            limits.max_per_stage_descriptor_sampled_images,
        ),
        (
            count(&[T::STORAGE_IMAGE]),
            "storage images",
            "maxPerStageDescriptorStorageImages",
            limits.max_per_stage_descriptor_storage_images,
        ),
        (
            count(&[T::COMBINED_IMAGE_SAMPLER]),
            "samplers",
            "maxPerStageDescriptorSamplers",
            limits.max_per_stage_descriptor_samplers,
        ),
        (sum(&|_| true), "resources", "maxPerStageResources", limits.max_per_stage_resources),
    ];
    for (count, what, name, limit) in checks {
        if count > u64::from(limit) {
            return unsupported(format!("{count} {what}, {name} is {limit}"));
        }
    }
    Ok(())
}

/// The descriptor type of a binding that fits what the module declares there.
fn descriptor_type(resource: &NativeResource<'_>, declared: &[Kind]) -> Result<vk::DescriptorType, String> {
    use vk::DescriptorType as T;
    let natural = match resource {
        NativeResource::Input(_) | NativeResource::Output(_) | NativeResource::InOut(_) => T::STORAGE_BUFFER,
        NativeResource::Image(_) => T::SAMPLED_IMAGE,
        NativeResource::Storage(_) => T::STORAGE_IMAGE,
        NativeResource::Sampled(..) => T::COMBINED_IMAGE_SAMPLER,
    };
    let mut kind = None;
    for declaration in declared {
        let fits = match (declaration, resource) {
            (Kind::Storage, NativeResource::Input(_) | NativeResource::Output(_) | NativeResource::InOut(_)) => natural,
            (Kind::Uniform, NativeResource::Input(_)) => T::UNIFORM_BUFFER,
            (Kind::Image(texture), NativeResource::Image(image))
            | (Kind::StorageImage(texture), NativeResource::Storage(image))
            | (Kind::Sampled(texture), NativeResource::Sampled(image, _)) => {
                check_texture(*texture, image)?;
                natural
            }
            (declaration, _) => {
                let what = match declaration {
                    Kind::Storage => "a storage buffer",
                    Kind::Uniform => "a uniform buffer",
                    Kind::Image(_) => "an image without a sampler",
                    Kind::Sampled(_) => "an image combined with a sampler",
                    Kind::StorageImage(_) => "a storage image",
                    Kind::Other(what) => what,
                };
                let given = match resource {
                    NativeResource::Input(_) => "an input buffer",
                    NativeResource::Output(_) => "an output buffer",
                    NativeResource::InOut(_) => "a buffer that is input and output",
                    NativeResource::Storage(_) => "a storage image",
                    NativeResource::Image(_) => "an image without a sampler",
                    NativeResource::Sampled(..) => "an image combined with a sampler",
                };
                return Err(format!("the module has {what}, the job binds {given}"));
            }
        };
        if kind.is_some_and(|k| k != fits) {
            return Err("the module declares it as storage and as uniform buffer".to_owned());
        }
        kind = Some(fits);
    }
    Ok(kind.unwrap_or(natural))
}

fn check_texture(texture: Texture, image: &NativeImage<'_>) -> Result<(), String> {
    let (dim, arrayed) = match image.view {
        NativeView::D1 => (Dim::Dim1D, false),
        NativeView::D1Array => (Dim::Dim1D, true),
        NativeView::D2 => (Dim::Dim2D, false),
        NativeView::D2Array => (Dim::Dim2D, true),
        NativeView::D3 => (Dim::Dim3D, false),
        NativeView::Cube => (Dim::DimCube, false),
        NativeView::CubeArray => (Dim::DimCube, true),
    };
    if (texture.dim, texture.arrayed) != (dim, arrayed) {
        let layered = if texture.arrayed { " with layers" } else { "" };
        return Err(format!(
            "the module has an image of {:?}{layered}, the job binds a view of {:?}",
            texture.dim, image.view
        ));
    }
    if texture.integer != image.format.is_integer() {
        let kind = if texture.integer { "integers" } else { "floats" };
        return Err(format!("the module reads {kind} from an image of {:?}", image.format));
    }
    Ok(())
}

/// Where the buffers of a job are; see [`Plan`].
struct Slots {
    inputs: Vec<Slot>,
    outputs: Vec<Slot>,
    outputs_start: u64,
    zeros_start: u64,
    arena: u64,
}

/// Gives each buffer a place in the arena: inputs first, then outputs that hold something at first, then the others.
fn slots(
    job: &NativeJob<'_>,
    kinds: &[vk::DescriptorType],
    limits: &vk::PhysicalDeviceLimits,
) -> Result<Slots, ExecuteError> {
    let alignment = limits
        .min_storage_buffer_offset_alignment
        .max(limits.min_uniform_buffer_offset_alignment)
        .max(limits.optimal_buffer_copy_offset_alignment)
        .max(64);
    let mut end = 0u64;
    let mut take = |place: usize, words: usize| -> Result<Slot, ExecuteError> {
        let bytes = (words as u64).checked_mul(4);
        let kind = kinds.get(place).copied().unwrap_or(vk::DescriptorType::STORAGE_BUFFER);
        let (limit, name) = if kind == vk::DescriptorType::UNIFORM_BUFFER {
            (limits.max_uniform_buffer_range, "maxUniformBufferRange")
        } else {
            (limits.max_storage_buffer_range, "maxStorageBufferRange")
        };
        let Some(bytes) = bytes.filter(|b| *b <= u64::from(limit)) else {
            let at = &job.bindings[place];
            return unsupported(format!(
                "set {} binding {}: a buffer of {words} words, {name} is {limit} bytes",
                at.set, at.binding
            ));
        };
        let offset = end.checked_next_multiple_of(alignment).ok_or_else(too_large)?;
        end = offset.checked_add(bytes.max(EMPTY_BYTES)).ok_or_else(too_large)?;
        Ok(Slot { place, offset, words, kind })
    };
    let mut inputs = Vec::new();
    let mut outputs = Vec::new();
    for (place, bound) in job.bindings.iter().enumerate() {
        if let NativeResource::Input(words) = bound.resource {
            inputs.push(take(place, words.len())?);
        }
    }
    for (place, bound) in job.bindings.iter().enumerate() {
        if let NativeResource::InOut(words) = bound.resource {
            outputs.push(take(place, words.len())?);
        }
    }
    let filled = outputs.len();
    for (place, bound) in job.bindings.iter().enumerate() {
        if let NativeResource::Output(words) = bound.resource {
            outputs.push(take(place, words)?);
        }
    }
    let arena = end.checked_next_multiple_of(4).ok_or_else(too_large)?;
    let outputs_start = outputs.first().map_or(end, |o| o.offset);
    let zeros_start = outputs.get(filled).map_or(end, |o| o.offset);
    Ok(Slots { inputs, outputs, outputs_start, zeros_start, arena })
}
