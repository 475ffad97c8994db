//! Native samplers, kept by their state.

use std::{num::NonZeroUsize, sync::Arc};

use ash::vk;
use lru::LruCache;

use super::{
    device::Device,
    error::Named,
    native::{
        AddressMode, BorderColor, NativeFilter, NativeFormat, NativeImage, NativeSamplerState, NativeView,
        ReductionMode,
    },
};
use crate::execute::ExecuteError;

/// Samplers kept; the lowest limits that Vulkan allows are above it.
const SAMPLERS_KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(23);

/// A sampler's state with floats by their bits, and what its border depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    filters: [NativeFilter; 3],
    address: [AddressMode; 3],
    border: BorderColor,
    lods: [u32; 3],
    anisotropy: Option<u32>,
    unnormalized: bool,
    reduction: ReductionMode,
    integer: bool,
    /// Format of a custom border colour.
    format: Option<NativeFormat>,
}

/// A sampler, destroyed when dropped.
pub(super) struct Sampler {
    device: Arc<Device>,
    pub(super) raw: vk::Sampler,
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // SAFETY: made from this device, destroyed once, and the device is idle.
        unsafe { self.device.raw.destroy_sampler(self.raw, None) };
    }
}

/// The samplers at hand.
pub(super) struct Samplers {
    device: Arc<Device>,
    kept: LruCache<Key, Arc<Sampler>>,
}

impl Samplers {
    pub(super) fn new(device: &Arc<Device>) -> Self {
        Self { device: device.clone(), kept: LruCache::new(SAMPLERS_KEPT) }
    }

    /// The sampler of a state, for use with `image`.
    pub(super) fn get(
        &mut self,
        image: &NativeImage<'_>,
        state: &NativeSamplerState,
    ) -> Result<Arc<Sampler>, ExecuteError> {
        let custom = matches!(state.border, BorderColor::Custom(_)) && uses_border(state);
        let key = Key {
            filters: [state.mag, state.min, state.mip],
            address: state.address,
            // A colour that no address mode asks for needs no feature.
            border: if uses_border(state) { state.border } else { BorderColor::TransparentBlack },
            lods: [state.min_lod.to_bits(), state.max_lod.to_bits(), state.lod_bias.to_bits()],
            anisotropy: state.anisotropy.map(f32::to_bits),
            unnormalized: state.unnormalized,
            reduction: state.reduction,
            integer: image.format.is_integer(),
            format: custom.then_some(image.format),
        };
        // With every image, as a kept sampler may not fit another one's view or format.
        check(&self.device, image, state)?;
        if let Some(sampler) = self.kept.get(&key) {
            return Ok(sampler.clone());
        }
        let raw = create(&self.device, &key, state)?;
        let sampler = Arc::new(Sampler { device: self.device.clone(), raw });
        self.kept.put(key, sampler.clone());
        Ok(sampler)
    }
}

fn uses_border(state: &NativeSamplerState) -> bool {
    state.address.contains(&AddressMode::ClampToBorder)
}

fn check(device: &Device, image: &NativeImage<'_>, state: &NativeSamplerState) -> Result<(), ExecuteError> {
    let lacks = |text: String| Err(ExecuteError::Unsupported(text));
    let invalid = |text: String| Err(ExecuteError::InvalidJob(text));
    let on = |feature: vk::Bool32| feature == vk::TRUE;
    let enabled = &device.enabled;
    let limits = &device.physical.limits;
    if !(state.min_lod.is_finite() && state.max_lod.is_finite() && state.lod_bias.is_finite()) {
        return invalid("sampler: min_lod, max_lod and lod_bias must be finite".to_owned());
    }
    if state.max_lod < state.min_lod {
        return invalid(format!("sampler: max_lod {} is below min_lod {}", state.max_lod, state.min_lod));
    }
    if state.lod_bias.abs() > limits.max_sampler_lod_bias {
        return lacks(format!(
            "sampler: lod_bias {}, maxSamplerLodBias is {}",
            state.lod_bias, limits.max_sampler_lod_bias
        ));
    }
    if state.address.contains(&AddressMode::MirrorClampToEdge) && !on(enabled.v12.sampler_mirror_clamp_to_edge) {
        return lacks("sampler: address mode MIRROR_CLAMP_TO_EDGE without samplerMirrorClampToEdge".to_owned());
    }
    if let Some(anisotropy) = state.anisotropy {
        if !on(enabled.core.sampler_anisotropy) {
            return lacks("sampler: anisotropy without samplerAnisotropy".to_owned());
        }
        if !(1.0..=limits.max_sampler_anisotropy).contains(&anisotropy) {
            return lacks(format!(
                "sampler: anisotropy {anisotropy} is not in 1 to maxSamplerAnisotropy {}",
                limits.max_sampler_anisotropy
            ));
        }
    }
    if matches!(state.border, BorderColor::Custom(_)) && uses_border(state) && !enabled.custom_border_color {
        return lacks(
            "sampler: custom border colour without customBorderColors (VK_EXT_custom_border_color)".to_owned(),
        );
    }
    // SAFETY: the physical device belongs to the instance that the device holds.
    let features =
        unsafe { device.instance.raw.get_physical_device_format_properties(device.physical.raw, image.format.vk()) }
            .optimal_tiling_features;
    let linear = [state.mag, state.min, state.mip].contains(&NativeFilter::Linear) || state.anisotropy.is_some();
    if state.reduction == ReductionMode::Average {
        if linear && !features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR) {
            return lacks(format!("sampler: linear filter of {:?} (SAMPLED_IMAGE_FILTER_LINEAR)", image.format.vk()));
        }
    } else {
        if !on(enabled.v12.sampler_filter_minmax) {
            return lacks(format!("sampler: reduction mode {:?} without samplerFilterMinmax", state.reduction));
        }
        if !features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_MINMAX) {
            return lacks(format!(
                "sampler: reduction mode {:?} of {:?} (SAMPLED_IMAGE_FILTER_MINMAX)",
                state.reduction,
                image.format.vk()
            ));
        }
    }
    if state.unnormalized {
        let clamps = |mode| matches!(mode, AddressMode::ClampToEdge | AddressMode::ClampToBorder);
        let broken = if state.mag != state.min {
            Some("equal mag and min filters")
        } else if state.mip != NativeFilter::Nearest {
            Some("the nearest mip filter")
        } else if state.min_lod != 0.0 || state.max_lod != 0.0 {
            Some("min_lod and max_lod 0")
        } else if !clamps(state.address[0]) || !clamps(state.address[1]) {
            Some("clamped u and v")
        } else if state.anisotropy.is_some() {
            Some("no anisotropy")
        } else if !matches!(image.view, NativeView::D1 | NativeView::D2) || image.levels != 1 {
            Some("a 1D or 2D view of one level")
        } else {
            None
        };
        if let Some(rule) = broken {
            return lacks(format!("sampler: unnormalized coordinates need {rule}"));
        }
    }
    Ok(())
}

fn create(device: &Device, key: &Key, state: &NativeSamplerState) -> Result<vk::Sampler, ExecuteError> {
    let filter = |f| match f {
        NativeFilter::Nearest => vk::Filter::NEAREST,
        NativeFilter::Linear => vk::Filter::LINEAR,
    };
    let border = match (key.border, key.integer) {
        (BorderColor::TransparentBlack, false) => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        (BorderColor::TransparentBlack, true) => vk::BorderColor::INT_TRANSPARENT_BLACK,
        (BorderColor::OpaqueBlack, false) => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        (BorderColor::OpaqueBlack, true) => vk::BorderColor::INT_OPAQUE_BLACK,
        (BorderColor::OpaqueWhite, false) => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        (BorderColor::OpaqueWhite, true) => vk::BorderColor::INT_OPAQUE_WHITE,
        (BorderColor::Custom(_), false) => vk::BorderColor::FLOAT_CUSTOM_EXT,
        (BorderColor::Custom(_), true) => vk::BorderColor::INT_CUSTOM_EXT,
    };
    let mut reduction = vk::SamplerReductionModeCreateInfo::default().reduction_mode(match key.reduction {
        ReductionMode::Average => vk::SamplerReductionMode::WEIGHTED_AVERAGE,
        ReductionMode::Min => vk::SamplerReductionMode::MIN,
        ReductionMode::Max => vk::SamplerReductionMode::MAX,
    });
    let mut custom = vk::SamplerCustomBorderColorCreateInfoEXT::default();
    let mut info = vk::SamplerCreateInfo::default()
        .mag_filter(filter(state.mag))
        .min_filter(filter(state.min))
        .mipmap_mode(match state.mip {
            NativeFilter::Nearest => vk::SamplerMipmapMode::NEAREST,
            NativeFilter::Linear => vk::SamplerMipmapMode::LINEAR,
        })
        .address_mode_u(state.address[0].vk())
        .address_mode_v(state.address[1].vk())
        .address_mode_w(state.address[2].vk())
        .mip_lod_bias(state.lod_bias)
        .anisotropy_enable(state.anisotropy.is_some())
        .max_anisotropy(state.anisotropy.unwrap_or(1.0))
        .min_lod(state.min_lod)
        .max_lod(state.max_lod)
        .border_color(border)
        .unnormalized_coordinates(state.unnormalized);
    if key.reduction != ReductionMode::Average {
        info = info.push_next(&mut reduction);
    }
    if let (BorderColor::Custom(words), Some(format)) = (key.border, key.format) {
        custom.custom_border_color = if key.integer {
            vk::ClearColorValue { uint32: words }
        } else {
            vk::ClearColorValue { float32: words.map(f32::from_bits) }
        };
        custom.format = format.vk();
        info = info.push_next(&mut custom);
    }
    // SAFETY: what `info` points to lives to the end of this function; features and limits were checked.
    unsafe { device.raw.create_sampler(&info, None) }.named("vkCreateSampler")
}
