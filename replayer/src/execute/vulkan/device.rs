//! The logical device with its queue, and which features are switched on.

use std::sync::Arc;

use ash::{ext, khr, vk};

use super::{
    error::Named,
    instance::Instance,
    physical::{Features, Physical},
};
use crate::execute::ExecuteError;

/// A logical device. Whatever is made from it holds it in an `Arc`, so that it is destroyed last.
pub(super) struct Device {
    pub(super) raw: ash::Device,
    pub(super) physical: Physical,
    pub(super) queue: vk::Queue,
    /// The features that are on.
    pub(super) enabled: Features,
    pub(super) instance: Arc<Instance>,
}

impl Device {
    /// Opens a physical device with one compute queue and all that modules may use of it.
    pub(super) fn open(instance: Arc<Instance>, physical: Physical) -> Result<Self, ExecuteError> {
        let mut enabled = wanted(&physical.features);
        let version = physical.version();
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(physical.queue_family)
            .queue_priorities(&priorities)];
        let mut extensions = Vec::new();
        let mut core = vk::PhysicalDeviceFeatures2::default().features(enabled.core);
        let mut border = vk::PhysicalDeviceCustomBorderColorFeaturesEXT::default()
            .custom_border_colors(enabled.custom_border_color)
            .custom_border_color_without_format(enabled.custom_border_color_without_format);
        let mut robustness =
            vk::PhysicalDeviceRobustness2FeaturesEXT::default().robust_buffer_access2(enabled.robust_buffer_access2);
        let mut derivatives = vk::PhysicalDeviceComputeShaderDerivativesFeaturesNV::default()
            .compute_derivative_group_quads(enabled.derivative_group_quads)
            .compute_derivative_group_linear(enabled.derivative_group_linear);
        let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        if physical.extensions.custom_border_color {
            extensions.push(ext::custom_border_color::NAME.as_ptr());
            core = core.push_next(&mut border);
        }
        if physical.extensions.robustness2 {
            extensions.push(ext::robustness2::NAME.as_ptr());
            core = core.push_next(&mut robustness);
        }
        if physical.extensions.derivatives {
            extensions.push(ash::nv::compute_shader_derivatives::NAME.as_ptr());
            core = core.push_next(&mut derivatives);
        }
        if physical.extensions.portability_subset {
            extensions.push(khr::portability_subset::NAME.as_ptr());
        }
        if version >= (1, 2) {
            core = core.push_next(&mut enabled.v11).push_next(&mut enabled.v12);
        }
        if version >= (1, 3) {
            core = core.push_next(&mut enabled.v13);
        }
        info = info.enabled_extension_names(&extensions).push_next(&mut core);
        // SAFETY: `physical.raw` comes from `instance`; all that `info` points to lives to the end of this function, and
        // only extensions and features that the device reported are asked for.
        let raw = unsafe { instance.raw.create_device(physical.raw, &info, None) }.named("vkCreateDevice")?;
        enabled.v11.p_next = std::ptr::null_mut();
        enabled.v12.p_next = std::ptr::null_mut();
        enabled.v13.p_next = std::ptr::null_mut();
        // SAFETY: a queue 0 of this family was asked for above.
        let queue = unsafe { raw.get_device_queue(physical.queue_family, 0) };
        Ok(Self { raw, physical, queue, enabled, instance })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: everything made from the device holds it in an `Arc` and is thus gone; the executor waited until idle.
        unsafe { self.raw.destroy_device(None) };
    }
}

/// Of the features that are there, those that modules and samplers may use. The others could only cost speed.
fn wanted(have: &Features) -> Features {
    let core = vk::PhysicalDeviceFeatures {
        robust_buffer_access: have.core.robust_buffer_access,
        image_cube_array: have.core.image_cube_array,
        sampler_anisotropy: have.core.sampler_anisotropy,
        shader_image_gather_extended: have.core.shader_image_gather_extended,
        shader_storage_image_extended_formats: have.core.shader_storage_image_extended_formats,
        shader_uniform_buffer_array_dynamic_indexing: have.core.shader_uniform_buffer_array_dynamic_indexing,
        shader_sampled_image_array_dynamic_indexing: have.core.shader_sampled_image_array_dynamic_indexing,
        shader_storage_buffer_array_dynamic_indexing: have.core.shader_storage_buffer_array_dynamic_indexing,
        shader_storage_image_array_dynamic_indexing: have.core.shader_storage_image_array_dynamic_indexing,
        shader_float64: have.core.shader_float64,
        shader_int64: have.core.shader_int64,
        shader_int16: have.core.shader_int16,
        shader_resource_min_lod: have.core.shader_resource_min_lod,
        ..Default::default()
    };
    let v11 = vk::PhysicalDeviceVulkan11Features {
        storage_buffer16_bit_access: have.v11.storage_buffer16_bit_access,
        uniform_and_storage_buffer16_bit_access: have.v11.uniform_and_storage_buffer16_bit_access,
        storage_push_constant16: have.v11.storage_push_constant16,
        variable_pointers_storage_buffer: have.v11.variable_pointers_storage_buffer,
        variable_pointers: have.v11.variable_pointers,
        ..Default::default()
    };
    let v12 = vk::PhysicalDeviceVulkan12Features {
        sampler_mirror_clamp_to_edge: have.v12.sampler_mirror_clamp_to_edge,
        storage_buffer8_bit_access: have.v12.storage_buffer8_bit_access,
        uniform_and_storage_buffer8_bit_access: have.v12.uniform_and_storage_buffer8_bit_access,
        storage_push_constant8: have.v12.storage_push_constant8,
        shader_float16: have.v12.shader_float16,
        shader_int8: have.v12.shader_int8,
        shader_uniform_buffer_array_non_uniform_indexing: have.v12.shader_uniform_buffer_array_non_uniform_indexing,
        shader_sampled_image_array_non_uniform_indexing: have.v12.shader_sampled_image_array_non_uniform_indexing,
        shader_storage_buffer_array_non_uniform_indexing: have.v12.shader_storage_buffer_array_non_uniform_indexing,
        shader_storage_image_array_non_uniform_indexing: have.v12.shader_storage_image_array_non_uniform_indexing,
        descriptor_binding_partially_bound: have.v12.descriptor_binding_partially_bound,
        runtime_descriptor_array: have.v12.runtime_descriptor_array,
        sampler_filter_minmax: have.v12.sampler_filter_minmax,
        scalar_block_layout: have.v12.scalar_block_layout,
        uniform_buffer_standard_layout: have.v12.uniform_buffer_standard_layout,
        shader_subgroup_extended_types: have.v12.shader_subgroup_extended_types,
        vulkan_memory_model: have.v12.vulkan_memory_model,
        vulkan_memory_model_device_scope: have.v12.vulkan_memory_model_device_scope,
        ..Default::default()
    };
    let v13 = vk::PhysicalDeviceVulkan13Features {
        robust_image_access: have.v13.robust_image_access,
        shader_zero_initialize_workgroup_memory: have.v13.shader_zero_initialize_workgroup_memory,
        shader_integer_dot_product: have.v13.shader_integer_dot_product,
        maintenance4: have.v13.maintenance4,
        ..Default::default()
    };
    Features {
        core,
        v11,
        v12,
        v13,
        custom_border_color: have.custom_border_color,
        custom_border_color_without_format: have.custom_border_color_without_format,
        // It needs robustBufferAccess on.
        robust_buffer_access2: have.robust_buffer_access2 && have.core.robust_buffer_access == vk::TRUE,
        derivative_group_quads: have.derivative_group_quads,
        derivative_group_linear: have.derivative_group_linear,
    }
}
