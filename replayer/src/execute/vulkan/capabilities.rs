//! Whether a device runs modules that declare a SPIR-V capability.

use ash::vk;
use rspirv::spirv::Capability;

use super::device::Device;

/// Whether a module may declare `capability` on this device, with the features that are on.
pub(super) fn supports(device: &Device, capability: Capability) -> bool {
    let on = |feature: vk::Bool32| feature == vk::TRUE;
    let any = |features: &[vk::Bool32]| features.contains(&vk::TRUE);
    let subgroup = |operation| device.physical.subgroup_operations.contains(operation);
    let (core, v11, v12, v13) = (&device.enabled.core, &device.enabled.v11, &device.enabled.v12, &device.enabled.v13);
    let controls = &device.physical.float_controls;
    match capability {
        // Part of each implementation with compute shaders.
        Capability::Matrix
        | Capability::Shader
        | Capability::Sampled1D
        | Capability::Image1D
        | Capability::SampledBuffer
        | Capability::ImageBuffer
        | Capability::ImageQuery
        | Capability::DerivativeControl
        | Capability::DeviceGroup => true,
        Capability::ImageGatherExtended => on(core.shader_image_gather_extended),
        Capability::Int64 => on(core.shader_int64),
        Capability::Int16 => on(core.shader_int16),
        Capability::Float64 => on(core.shader_float64),
        Capability::Int8 => on(v12.shader_int8),
        Capability::Float16 => on(v12.shader_float16),
        Capability::MinLod => on(core.shader_resource_min_lod),
        Capability::SampledCubeArray => on(core.image_cube_array),
        Capability::StorageImageExtendedFormats => on(core.shader_storage_image_extended_formats),
        Capability::UniformBufferArrayDynamicIndexing => on(core.shader_uniform_buffer_array_dynamic_indexing),
        Capability::SampledImageArrayDynamicIndexing => on(core.shader_sampled_image_array_dynamic_indexing),
        Capability::StorageBufferArrayDynamicIndexing => on(core.shader_storage_buffer_array_dynamic_indexing),
        Capability::StorageImageArrayDynamicIndexing => on(core.shader_storage_image_array_dynamic_indexing),
        // Of Vulkan 1.2, as the decoration that it brings.
        Capability::ShaderNonUniform => device.physical.version() >= (1, 2),
        Capability::RuntimeDescriptorArray => on(v12.runtime_descriptor_array),
        Capability::UniformBufferArrayNonUniformIndexing => on(v12.shader_uniform_buffer_array_non_uniform_indexing),
        Capability::SampledImageArrayNonUniformIndexing => on(v12.shader_sampled_image_array_non_uniform_indexing),
        Capability::StorageBufferArrayNonUniformIndexing => on(v12.shader_storage_buffer_array_non_uniform_indexing),
        Capability::StorageImageArrayNonUniformIndexing => on(v12.shader_storage_image_array_non_uniform_indexing),
        Capability::StorageBuffer16BitAccess => on(v11.storage_buffer16_bit_access),
        Capability::UniformAndStorageBuffer16BitAccess => on(v11.uniform_and_storage_buffer16_bit_access),
        Capability::StoragePushConstant16 => on(v11.storage_push_constant16),
        Capability::VariablePointersStorageBuffer => on(v11.variable_pointers_storage_buffer),
        Capability::VariablePointers => on(v11.variable_pointers),
        Capability::StorageBuffer8BitAccess => on(v12.storage_buffer8_bit_access),
        Capability::UniformAndStorageBuffer8BitAccess => on(v12.uniform_and_storage_buffer8_bit_access),
        Capability::StoragePushConstant8 => on(v12.storage_push_constant8),
        Capability::VulkanMemoryModel => on(v12.vulkan_memory_model),
        Capability::VulkanMemoryModelDeviceScope => on(v12.vulkan_memory_model_device_scope),
        Capability::DotProduct
        | Capability::DotProductInputAll
        | Capability::DotProductInput4x8Bit
        | Capability::DotProductInput4x8BitPacked => on(v13.shader_integer_dot_product),
        Capability::GroupNonUniform => subgroup(vk::SubgroupFeatureFlags::BASIC),
        Capability::GroupNonUniformVote => subgroup(vk::SubgroupFeatureFlags::VOTE),
        Capability::GroupNonUniformArithmetic => subgroup(vk::SubgroupFeatureFlags::ARITHMETIC),
        Capability::GroupNonUniformBallot => subgroup(vk::SubgroupFeatureFlags::BALLOT),
        Capability::GroupNonUniformShuffle => subgroup(vk::SubgroupFeatureFlags::SHUFFLE),
        Capability::GroupNonUniformShuffleRelative => subgroup(vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE),
        Capability::GroupNonUniformClustered => subgroup(vk::SubgroupFeatureFlags::CLUSTERED),
        Capability::GroupNonUniformQuad => subgroup(vk::SubgroupFeatureFlags::QUAD),
        Capability::ComputeDerivativeGroupQuadsKHR => device.enabled.derivative_group_quads,
        Capability::ComputeDerivativeGroupLinearKHR => device.enabled.derivative_group_linear,
        // For some width; the execution mode says which, see `supports_float_mode`.
        Capability::DenormPreserve => any(&[
            controls.shader_denorm_preserve_float16,
            controls.shader_denorm_preserve_float32,
            controls.shader_denorm_preserve_float64,
        ]),
        Capability::DenormFlushToZero => any(&[
            controls.shader_denorm_flush_to_zero_float16,
            controls.shader_denorm_flush_to_zero_float32,
            controls.shader_denorm_flush_to_zero_float64,
        ]),
        Capability::SignedZeroInfNanPreserve => any(&[
            controls.shader_signed_zero_inf_nan_preserve_float16,
            controls.shader_signed_zero_inf_nan_preserve_float32,
            controls.shader_signed_zero_inf_nan_preserve_float64,
        ]),
        Capability::RoundingModeRTE => any(&[
            controls.shader_rounding_mode_rte_float16,
            controls.shader_rounding_mode_rte_float32,
            controls.shader_rounding_mode_rte_float64,
        ]),
        Capability::RoundingModeRTZ => any(&[
            controls.shader_rounding_mode_rtz_float16,
            controls.shader_rounding_mode_rtz_float32,
            controls.shader_rounding_mode_rtz_float64,
        ]),
        _ => false,
    }
}

/// Whether the device has a mode of float arithmetic (`DenormPreserve` and the like) for floats of `width` bits.
pub(super) fn supports_float_mode(device: &Device, mode: rspirv::spirv::ExecutionMode, width: u32) -> bool {
    use rspirv::spirv::ExecutionMode as Mode;
    let c = &device.physical.float_controls;
    let [w16, w32, w64] = match mode {
        Mode::DenormPreserve => {
            [c.shader_denorm_preserve_float16, c.shader_denorm_preserve_float32, c.shader_denorm_preserve_float64]
        }
        Mode::DenormFlushToZero => [
            c.shader_denorm_flush_to_zero_float16,
            c.shader_denorm_flush_to_zero_float32,
            c.shader_denorm_flush_to_zero_float64,
        ],
        Mode::SignedZeroInfNanPreserve => [
            c.shader_signed_zero_inf_nan_preserve_float16,
            c.shader_signed_zero_inf_nan_preserve_float32,
            c.shader_signed_zero_inf_nan_preserve_float64,
        ],
        Mode::RoundingModeRTE => {
            [c.shader_rounding_mode_rte_float16, c.shader_rounding_mode_rte_float32, c.shader_rounding_mode_rte_float64]
        }
        Mode::RoundingModeRTZ => {
            [c.shader_rounding_mode_rtz_float16, c.shader_rounding_mode_rtz_float32, c.shader_rounding_mode_rtz_float64]
        }
        _ => return true,
    };
    let found = match width {
        16 => w16,
        32 => w32,
        64 => w64,
        _ => vk::FALSE,
    };
    found == vk::TRUE
}
