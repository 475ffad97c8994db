//! The words that a driver makes of a sampler, by VK_EXT_descriptor_buffer.
//!
//! On AMD's GPUs these are S#; a driver that runs without hardware (RADV with `RADV_FORCE_FAMILY`) makes them too.

use ash::{ext, vk};
use capture_format::CompareFunc;

use super::{
    DeviceSelection, VulkanOptions,
    error::Named,
    native::{AddressMode, BorderColor, NativeFilter, NativeSamplerState, ReductionMode},
    small_device::Chosen,
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
    let chosen = Chosen::new(selection, options)?;
    let extension = ext::descriptor_buffer::NAME;
    chosen.require(extension)?;
    // SAFETY: the device has the extension.
    let size = unsafe { chosen.descriptor_sizes() }.sampler_descriptor_size;
    if size != BYTES {
        return Err(ExecuteError::Unsupported(format!("sampler descriptors take {size} bytes, {BYTES} are expected")));
    }
    let have = &chosen.physical.features;
    let core = vk::PhysicalDeviceFeatures {
        sampler_anisotropy: have.core.sampler_anisotropy,
        ..vk::PhysicalDeviceFeatures::default()
    };
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default()
        .buffer_device_address(true)
        .sampler_filter_minmax(have.v12.sampler_filter_minmax == vk::TRUE)
        .sampler_mirror_clamp_to_edge(have.v12.sampler_mirror_clamp_to_edge == vk::TRUE);
    let mut buffers = vk::PhysicalDeviceDescriptorBufferFeaturesEXT::default().descriptor_buffer(true);
    let features = vk::PhysicalDeviceFeatures2::default().features(core).push_next(&mut v12).push_next(&mut buffers);
    // SAFETY: the extension is there, and it requires the two features that were not asked about.
    let device = unsafe { chosen.open(extension, features) }?;
    let functions = ext::descriptor_buffer::Device::new(&device.instance.raw, &device.raw);
    states.iter().map(|(state, compare)| words(&device.raw, &functions, state, *compare)).collect()
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
