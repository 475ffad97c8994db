//! The words that a driver makes of a sampler, by VK_EXT_descriptor_buffer.
//!
//! On AMD's GPUs these are S#; a driver that runs without hardware (RADV with `RADV_FORCE_FAMILY`) makes them too.

use std::sync::Arc;

use ash::{ext, vk};
use capture_format::CompareFunc;

use super::{
    DeviceSelection, VulkanOptions,
    error::Named,
    native::{AddressMode, BorderColor, NativeFilter, NativeSamplerState, ReductionMode},
    physical::{Physical, choose},
};
use crate::execute::ExecuteError;

/// Bytes of a sampler's descriptor on GFX10.
const BYTES: usize = 16;

/// The descriptors of samplers as a driver writes them: four words each, with a depth comparison where one is given.
///
/// # Errors
/// [`ExecuteError::Unavailable`] where there is no such device, [`ExecuteError::Unsupported`] when its driver lacks the
/// extension, its samplers take other than 16 bytes, or a state has a custom border colour.
pub fn sampler_words(
    selection: &DeviceSelection,
    options: &VulkanOptions,
    states: &[(NativeSamplerState, Option<CompareFunc>)],
) -> Result<Vec<[u32; 4]>, ExecuteError> {
    let instance = Arc::new(options.instance()?);
    let mut devices = Physical::list(&instance)?;
    let infos: Vec<_> = devices.iter().map(|d| d.info.clone()).collect();
    let physical = devices.swap_remove(choose(&infos, selection)?);
    // SAFETY: the physical device comes from this instance.
    let known = unsafe { instance.raw.enumerate_device_extension_properties(physical.raw) }
        .named("vkEnumerateDeviceExtensionProperties")?;
    let name = ext::descriptor_buffer::NAME;
    if !known.iter().any(|e| e.extension_name_as_c_str() == Ok(name)) {
        return Err(ExecuteError::Unsupported(format!("{} has no VK_EXT_descriptor_buffer", physical.info.name)));
    }
    let mut sizes = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut sizes);
    // SAFETY: the device has the extension of the structure in the chain, and so version 1.1 at least.
    unsafe { instance.raw.get_physical_device_properties2(physical.raw, &mut properties) };
    if sizes.sampler_descriptor_size != BYTES {
        let size = sizes.sampler_descriptor_size;
        return Err(ExecuteError::Unsupported(format!("sampler descriptors take {size} bytes, {BYTES} are expected")));
    }
    let priorities = [1.0];
    let queues =
        [vk::DeviceQueueCreateInfo::default().queue_family_index(physical.queue_family).queue_priorities(&priorities)];
    let extensions = [name.as_ptr()];
    let have = &physical.features;
    let core = vk::PhysicalDeviceFeatures {
        sampler_anisotropy: have.core.sampler_anisotropy,
        ..vk::PhysicalDeviceFeatures::default()
    };
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default()
        .buffer_device_address(true)
        .sampler_filter_minmax(have.v12.sampler_filter_minmax == vk::TRUE)
        .sampler_mirror_clamp_to_edge(have.v12.sampler_mirror_clamp_to_edge == vk::TRUE);
    let mut buffers = vk::PhysicalDeviceDescriptorBufferFeaturesEXT::default().descriptor_buffer(true);
    let mut features =
        vk::PhysicalDeviceFeatures2::default().features(core).push_next(&mut v12).push_next(&mut buffers);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .push_next(&mut features);
    // SAFETY: all that `info` points to lives to the end of this function; the extension is there, and it requires the two
    // features that were not asked about.
    let raw = unsafe { instance.raw.create_device(physical.raw, &info, None) }.named("vkCreateDevice")?;
    let functions = ext::descriptor_buffer::Device::new(&instance.raw, &raw);
    let words = states.iter().map(|(state, compare)| words(&raw, &functions, state, *compare)).collect();
    // SAFETY: the samplers that were made from the device are destroyed.
    unsafe { raw.destroy_device(None) };
    words
}

fn words(
    device: &ash::Device,
    functions: &ext::descriptor_buffer::Device,
    state: &NativeSamplerState,
    compare: Option<CompareFunc>,
) -> Result<[u32; 4], ExecuteError> {
    let filter = |f| match f {
        NativeFilter::Nearest => vk::Filter::NEAREST,
        NativeFilter::Linear => vk::Filter::LINEAR,
    };
    let border = match state.border {
        BorderColor::TransparentBlack => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        BorderColor::OpaqueBlack => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        BorderColor::OpaqueWhite => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        BorderColor::Custom(_) => {
            return Err(ExecuteError::Unsupported("the words of a custom border colour depend on a table".to_owned()));
        }
    };
    let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(match state.reduction {
        ReductionMode::Average => vk::SamplerReductionMode::WEIGHTED_AVERAGE,
        ReductionMode::Min => vk::SamplerReductionMode::MIN,
        ReductionMode::Max => vk::SamplerReductionMode::MAX,
    });
    let [u, v, w] = state.address.map(AddressMode::vk);
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(filter(state.mag))
        .min_filter(filter(state.min))
        .mipmap_mode(match state.mip {
            NativeFilter::Nearest => vk::SamplerMipmapMode::NEAREST,
            NativeFilter::Linear => vk::SamplerMipmapMode::LINEAR,
        })
        .address_mode_u(u)
        .address_mode_v(v)
        .address_mode_w(w)
        .mip_lod_bias(state.lod_bias)
        .anisotropy_enable(state.anisotropy.is_some())
        .max_anisotropy(state.anisotropy.unwrap_or(1.0))
        .compare_enable(compare.is_some())
        // Vulkan's and AMD's comparisons have the same codes.
        .compare_op(vk::CompareOp::from_raw(compare.map_or(0, |c| c.bits().cast_signed())))
        .min_lod(state.min_lod)
        .max_lod(state.max_lod)
        .border_color(border)
        .unnormalized_coordinates(state.unnormalized)
        .push_next(&mut reduction);
    // SAFETY: what `info` points to lives to the end of this function; the features it needs are on where they are there.
    let sampler = unsafe { device.create_sampler(&info, None) }.named("vkCreateSampler")?;
    let mut bytes = [0u8; BYTES];
    let get = vk::DescriptorGetInfoEXT::default()
        .ty(vk::DescriptorType::SAMPLER)
        .data(vk::DescriptorDataEXT { p_sampler: &raw const sampler });
    // SAFETY: the sampler lives, and `bytes` has the size that the driver states for samplers.
    unsafe { functions.get_descriptor(&get, &mut bytes) };
    // SAFETY: made above, used by nothing any more.
    unsafe { device.destroy_sampler(sampler, None) };
    Ok(std::array::from_fn(|n| u32::from_le_bytes(std::array::from_fn(|b| bytes[4 * n + b]))))
}
