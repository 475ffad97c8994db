//! What a driver's compiler says of a module, by VK_KHR_pipeline_executable_properties.
//!
//! A driver that runs without hardware (RADV with `RADV_FORCE_FAMILY`) says it as well: nothing but a pipeline is made.

use std::ffi::CString;

use ash::{khr, vk};

use super::{DeviceSelection, VulkanOptions, error::Named, small_device::Chosen};
use crate::execute::{ExecuteError, Module};

/// One figure about a compiled module, under the driver's own name.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistic {
    /// The driver's name for it.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// What a module reads texels from, at binding 0 of set 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundTexels {
    /// An image.
    Image,
    /// An image with a sampler, as on the native path.
    Sampled,
    /// A buffer, with another at binding 3: the table form of the emulated path.
    Buffers,
}

/// Compiles a module as the paths run it (set 0: `texels` at binding 0, buffers at 1 and 2; 16 bytes of push constants) and
/// returns the driver's statistics of it.
///
/// # Errors
/// [`ExecuteError::Unavailable`] where there is no such device, [`ExecuteError::Unsupported`] when its driver lacks the
/// extension, and the driver's own error when it can not compile the module.
pub fn compile_statistics(
    selection: &DeviceSelection,
    options: &VulkanOptions,
    module: &Module,
    entry: &str,
    specialization: &[(u32, u32)],
    texels: BoundTexels,
) -> Result<Vec<Statistic>, ExecuteError> {
    let entry = CString::new(entry)
        .map_err(|_| ExecuteError::InvalidJob("the entry point's name has a zero in it".to_owned()))?;
    let chosen = Chosen::new(selection, options)?;
    let extension = khr::pipeline_executable_properties::NAME;
    chosen.require(extension)?;
    let core = vk::PhysicalDeviceFeatures {
        shader_float64: chosen.physical.features.core.shader_float64,
        ..vk::PhysicalDeviceFeatures::default()
    };
    let mut executables =
        vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(true);
    let features = vk::PhysicalDeviceFeatures2::default().features(core).push_next(&mut executables);
    // SAFETY: the extension is there, and it requires its feature; the other feature is the device's own.
    let device = unsafe { chosen.open(extension, features) }?;
    let functions = khr::pipeline_executable_properties::Device::new(&device.instance.raw, &device.raw);
    with_pipeline(&device.raw, module, &entry, specialization, texels, |pipeline| {
        let of = vk::PipelineInfoKHR::default().pipeline(pipeline);
        // SAFETY: the pipeline lives, and the extension with its feature is on.
        let count = unsafe { functions.get_pipeline_executable_properties(&of) }
            .named("vkGetPipelineExecutablePropertiesKHR")?
            .len();
        let mut all = Vec::new();
        for index in 0..u32::try_from(count).unwrap_or(0) {
            let of = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(index);
            // SAFETY: as above; the pipeline was made with its statistics kept, and has this many executables.
            let statistics = unsafe { functions.get_pipeline_executable_statistics(&of) }
                .named("vkGetPipelineExecutableStatisticsKHR")?;
            all.extend(statistics.iter().map(statistic));
        }
        Ok(all)
    })
}

fn statistic(of: &vk::PipelineExecutableStatisticKHR<'_>) -> Statistic {
    let name = of.name_as_c_str().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // SAFETY: the format says which of the values the driver has set.
    let value = unsafe {
        match of.format {
            vk::PipelineExecutableStatisticFormatKHR::BOOL32 => f64::from(of.value.b32),
            vk::PipelineExecutableStatisticFormatKHR::INT64 => of.value.i64 as f64,
            vk::PipelineExecutableStatisticFormatKHR::UINT64 => of.value.u64 as f64,
            _ => of.value.f64,
        }
    };
    Statistic { name, value }
}

/// Makes a pipeline, asks about it, and destroys it with all that it needed.
fn with_pipeline(
    device: &ash::Device,
    module: &Module,
    entry: &CString,
    specialization: &[(u32, u32)],
    texels: BoundTexels,
    ask: impl FnOnce(vk::Pipeline) -> Result<Vec<Statistic>, ExecuteError>,
) -> Result<Vec<Statistic>, ExecuteError> {
    let (buffer, first) = (
        vk::DescriptorType::STORAGE_BUFFER,
        match texels {
            BoundTexels::Image => vk::DescriptorType::SAMPLED_IMAGE,
            BoundTexels::Sampled => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            BoundTexels::Buffers => vk::DescriptorType::STORAGE_BUFFER,
        },
    );
    let count = if texels == BoundTexels::Buffers { 4 } else { 3 };
    let bindings: Vec<_> = [first, buffer, buffer, buffer]
        .into_iter()
        .take(count)
        .zip(0u32..)
        .map(|(kind, binding)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        })
        .collect();
    let set = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let ranges = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(16)];
    let entries: Vec<_> = specialization
        .iter()
        .zip(0u32..)
        .map(|(&(id, _), place)| vk::SpecializationMapEntry { constant_id: id, offset: 4 * place, size: 4 })
        .collect();
    let data: Vec<u32> = specialization.iter().map(|&(_, value)| value).collect();
    let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(&data));
    // SAFETY: what the structures point to lives to the end of this function; each object is made from this device, used
    // while it lives and destroyed once (null is ignored). The words are a module that this crate has emitted.
    unsafe {
        let sets = [device.create_descriptor_set_layout(&set, None).named("vkCreateDescriptorSetLayout")?];
        let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&ranges);
        let layout = device.create_pipeline_layout(&layout, None).named("vkCreatePipelineLayout");
        let shader = device
            .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&module.words), None)
            .named("vkCreateShaderModule");
        let pipeline = match (&layout, &shader) {
            (Ok(layout), Ok(shader)) => {
                let stage = vk::PipelineShaderStageCreateInfo::default()
                    .stage(vk::ShaderStageFlags::COMPUTE)
                    .module(*shader)
                    .name(entry)
                    .specialization_info(&specialization);
                let info = vk::ComputePipelineCreateInfo::default()
                    .flags(vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR)
                    .stage(stage)
                    .layout(*layout);
                match device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) {
                    Ok(made) => Ok(made.first().copied().unwrap_or_default()),
                    Err((_, result)) => Err(super::error::from_result("vkCreateComputePipelines", result)),
                }
            }
            (Err(error), _) | (_, Err(error)) => Err(ExecuteError::Driver(error.to_string())),
        };
        let found = match &pipeline {
            Ok(pipeline) => ask(*pipeline),
            Err(error) => Err(ExecuteError::Driver(error.to_string())),
        };
        device.destroy_pipeline(pipeline.unwrap_or_default(), None);
        device.destroy_shader_module(shader.unwrap_or_default(), None);
        device.destroy_pipeline_layout(layout.unwrap_or_default(), None);
        device.destroy_descriptor_set_layout(sets[0], None);
        found
    }
}
