//! What devices there are, what they can do, and which one is meant.

use std::{ffi::CStr, fmt};

use ash::{ext, khr, vk};

use super::{error::Named, instance::Instance};
use crate::execute::ExecuteError;

/// Kind of a device, as the driver states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// A GPU with its own memory.
    Discrete,
    /// A GPU that shares the host's memory.
    Integrated,
    /// A GPU of a virtual machine.
    Virtual,
    /// A driver that runs on the CPU.
    Cpu,
    /// None of these.
    Other,
}

impl DeviceKind {
    /// The word for it in lists.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Cpu => "cpu",
            Self::Other => "other",
        }
    }

    /// Place in the order in which [`DeviceSelection::Auto`] takes devices.
    fn rank(self) -> u32 {
        match self {
            Self::Discrete => 0,
            Self::Integrated => 1,
            Self::Virtual => 2,
            Self::Cpu => 3,
            Self::Other => 4,
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which guarantees of 32-bit float arithmetic a module may ask for (`VkPhysicalDeviceFloatControlsProperties`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct FloatControls32 {
    /// Denormals can be kept.
    pub denorm_preserve: bool,
    /// Denormals can be flushed to zero.
    pub denorm_flush_to_zero: bool,
    /// The sign of zero, Inf and NaN can be kept.
    pub signed_zero_inf_nan_preserve: bool,
    /// Rounding to nearest even can be asked for.
    pub rounding_mode_rte: bool,
    /// Rounding towards zero can be asked for.
    pub rounding_mode_rtz: bool,
}

/// What a physical device is and can do.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DeviceInfo {
    /// Place in the loader's list, for [`DeviceSelection::Index`].
    pub index: usize,
    /// Name, such as `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub name: String,
    /// Kind.
    pub kind: DeviceKind,
    /// PCI vendor, or a vendor id that Khronos gave.
    pub vendor_id: u32,
    /// The vendor's id of the device.
    pub device_id: u32,
    /// Version of Vulkan that it implements: major, minor, patch.
    pub api_version: [u32; 3],
    /// The driver's version in the vendor's own packing.
    pub driver_version: u32,
    /// Which driver it is (`VkDriverId`); 0 below Vulkan 1.2.
    pub driver_id: i32,
    /// The driver's name; empty below Vulkan 1.2.
    pub driver_name: String,
    /// The driver's version as text; empty below Vulkan 1.2.
    pub driver_info: String,
    /// Identifies the driver build.
    pub driver_uuid: [u8; 16],
    /// Identifies data in a pipeline cache that this device can take.
    pub pipeline_cache_uuid: [u8; 16],
    /// Bits of the fraction of a texel that native filtering uses (`subTexelPrecisionBits`).
    pub sub_texel_precision_bits: u32,
    /// Bits of the fraction of a level (`mipmapPrecisionBits`).
    pub mipmap_precision_bits: u32,
    /// Texels in x of a 1D image.
    pub max_image_dimension_1d: u32,
    /// Texels in x and y of a 2D image.
    pub max_image_dimension_2d: u32,
    /// Texels in x, y, z of a 3D image.
    pub max_image_dimension_3d: u32,
    /// Texels in x and y of a cube's face.
    pub max_image_dimension_cube: u32,
    /// Layers of an image.
    pub max_image_array_layers: u32,
    /// Bytes of push constants.
    pub max_push_constants_size: u32,
    /// Highest anisotropy of a native sampler, 1 when there is none.
    pub max_sampler_anisotropy: f32,
    /// 64-bit integers in modules.
    pub shader_int64: bool,
    /// 16-bit integers in modules.
    pub shader_int16: bool,
    /// 64-bit floats in modules.
    pub shader_float64: bool,
    /// 16-bit floats in modules.
    pub shader_float16: bool,
    /// Gathers with offsets that are no constants.
    pub shader_image_gather_extended: bool,
    /// Accesses out of a buffer's bounds are defined.
    pub robust_buffer_access: bool,
    /// Guarantees of float arithmetic.
    pub float_controls32: FloatControls32,
    /// Native samplers may mirror once and clamp.
    pub sampler_mirror_clamp_to_edge: bool,
    /// Native samplers may take the minimum or maximum of the texels.
    pub sampler_filter_minmax: bool,
    /// Native samplers may have any border colour.
    pub custom_border_color: bool,
    /// Nanoseconds a tick of GPU timestamps; 0 when the compute queue has none.
    pub timestamp_period_ns: f32,
    /// Why this executor can not use the device; `None` when it can.
    pub problem: Option<String>,
}

impl DeviceInfo {
    /// Whether it is lavapipe: Mesa's Vulkan on the CPU, whose devices are called llvmpipe.
    #[must_use]
    pub fn is_lavapipe(&self) -> bool {
        self.driver_id == vk::DriverId::MESA_LLVMPIPE.as_raw()
    }

    /// Whether a text names the device by its driver: a part of the driver's name, or `lavapipe`.
    fn has_driver(&self, wanted: &str) -> bool {
        self.is_lavapipe() && wanted == "lavapipe"
            || !wanted.is_empty() && self.driver_name.to_lowercase().contains(wanted)
    }
}

/// Which device to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceSelection {
    /// The first of the best kind: discrete, integrated, virtual, then CPU.
    #[default]
    Auto,
    /// By place in [`super::VulkanExecutor::devices`].
    Index(usize),
    /// By a part of the name, whatever the case; where no name has it, by a part of the driver's name, or `lavapipe`.
    Name(String),
}

impl std::str::FromStr for DeviceSelection {
    type Err = std::convert::Infallible;

    /// A number is an index, `auto` is [`DeviceSelection::Auto`], any other text a part of a name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.parse() {
            Ok(index) => Self::Index(index),
            Err(_) if text.eq_ignore_ascii_case("auto") => Self::Auto,
            Err(_) => Self::Name(text.to_owned()),
        })
    }
}

/// A device with what was asked of the driver about it.
pub(super) struct Physical {
    pub(super) raw: vk::PhysicalDevice,
    pub(super) info: DeviceInfo,
    pub(super) queue_family: u32,
    pub(super) limits: vk::PhysicalDeviceLimits,
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    pub(super) features: Features,
    pub(super) float_controls: vk::PhysicalDeviceFloatControlsProperties<'static>,
    pub(super) subgroup_operations: vk::SubgroupFeatureFlags,
    pub(super) max_memory_allocation: u64,
    pub(super) extensions: Extensions,
}

/// Features by the version of Vulkan that brought them. Below 1.2 (1.3) those of later versions count as lacking.
#[derive(Clone, Copy, Default)]
pub(super) struct Features {
    pub(super) core: vk::PhysicalDeviceFeatures,
    pub(super) v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub(super) v12: vk::PhysicalDeviceVulkan12Features<'static>,
    pub(super) v13: vk::PhysicalDeviceVulkan13Features<'static>,
    pub(super) custom_border_color: bool,
    pub(super) custom_border_color_without_format: bool,
    pub(super) robust_buffer_access2: bool,
    pub(super) derivative_group_quads: bool,
    pub(super) derivative_group_linear: bool,
}

/// Device extensions that are used when they are there.
#[derive(Clone, Copy, Default)]
pub(super) struct Extensions {
    pub(super) custom_border_color: bool,
    pub(super) robustness2: bool,
    pub(super) derivatives: bool,
    pub(super) portability_subset: bool,
}

impl Physical {
    /// Lists all devices of an instance.
    pub(super) fn list(instance: &Instance) -> Result<Vec<Self>, ExecuteError> {
        let devices = instance.physical_devices()?;
        devices.into_iter().enumerate().map(|(index, raw)| Self::query(instance, index, raw)).collect()
    }

    /// Version of Vulkan that may be used with it.
    pub(super) fn version(&self) -> (u32, u32) {
        (self.info.api_version[0], self.info.api_version[1])
    }

    fn query(instance: &Instance, index: usize, raw: vk::PhysicalDevice) -> Result<Self, ExecuteError> {
        let instance = &instance.raw;
        // SAFETY: `raw` comes from this instance.
        let base = unsafe { instance.get_physical_device_properties(raw) };
        // SAFETY: as above.
        let queues = unsafe { instance.get_physical_device_queue_family_properties(raw) };
        // SAFETY: as above.
        let memory = unsafe { instance.get_physical_device_memory_properties(raw) };
        let version = [
            vk::api_version_major(base.api_version),
            vk::api_version_minor(base.api_version),
            vk::api_version_patch(base.api_version),
        ];
        let at_least = |minor| (version[0], version[1]) >= (1, minor);
        let extensions = if at_least(1) { query_extensions(instance, raw)? } else { Extensions::default() };

        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut float_controls = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut ids = vk::PhysicalDeviceIDProperties::default();
        let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
        let mut maintenance3 = vk::PhysicalDeviceMaintenance3Properties::default();
        let mut features = Features::default();
        if at_least(1) {
            let mut properties = vk::PhysicalDeviceProperties2::default()
                .push_next(&mut ids)
                .push_next(&mut subgroup)
                .push_next(&mut maintenance3);
            if at_least(2) {
                properties = properties.push_next(&mut driver).push_next(&mut float_controls);
            }
            // SAFETY: the device is of version 1.1 or later, and the chain holds only structures of its version.
            unsafe { instance.get_physical_device_properties2(raw, &mut properties) };
            features = query_features(instance, raw, extensions, at_least(2), at_least(3));
        } else {
            // SAFETY: `raw` comes from this instance.
            features.core = unsafe { instance.get_physical_device_features(raw) };
        }
        // The chains are gone; keep no pointers into them.
        float_controls.p_next = std::ptr::null_mut();

        // A family with compute alone has the least to do with others; any with compute will do.
        let computes =
            |q: &vk::QueueFamilyProperties| q.queue_count > 0 && q.queue_flags.contains(vk::QueueFlags::COMPUTE);
        let dedicated = queues.iter().position(|q| computes(q) && !q.queue_flags.contains(vk::QueueFlags::GRAPHICS));
        let family = dedicated.or_else(|| queues.iter().position(computes));
        let timestamps = family.is_some_and(|f| queues[f].timestamp_valid_bits > 0);
        let problem = if !at_least(1) {
            Some(format!("implements Vulkan {}.{}, 1.1 or later is needed", version[0], version[1]))
        } else if family.is_none() {
            Some("has no queue for compute".to_owned())
        } else {
            None
        };
        let limits = base.limits;
        let info = DeviceInfo {
            index,
            name: base.device_name_as_c_str().unwrap_or_default().to_string_lossy().into_owned(),
            kind: match base.device_type {
                vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
                vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
                vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
                vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
                _ => DeviceKind::Other,
            },
            vendor_id: base.vendor_id,
            device_id: base.device_id,
            api_version: version,
            driver_version: base.driver_version,
            driver_id: driver.driver_id.as_raw(),
            driver_name: driver.driver_name_as_c_str().unwrap_or_default().to_string_lossy().into_owned(),
            driver_info: driver.driver_info_as_c_str().unwrap_or_default().to_string_lossy().into_owned(),
            driver_uuid: ids.driver_uuid,
            pipeline_cache_uuid: base.pipeline_cache_uuid,
            sub_texel_precision_bits: limits.sub_texel_precision_bits,
            mipmap_precision_bits: limits.mipmap_precision_bits,
            max_image_dimension_1d: limits.max_image_dimension1_d,
            max_image_dimension_2d: limits.max_image_dimension2_d,
            max_image_dimension_3d: limits.max_image_dimension3_d,
            max_image_dimension_cube: limits.max_image_dimension_cube,
            max_image_array_layers: limits.max_image_array_layers,
            max_push_constants_size: limits.max_push_constants_size,
            max_sampler_anisotropy: if features.core.sampler_anisotropy == vk::TRUE {
                limits.max_sampler_anisotropy
            } else {
                1.0
            },
            shader_int64: features.core.shader_int64 == vk::TRUE,
            shader_int16: features.core.shader_int16 == vk::TRUE,
            shader_float64: features.core.shader_float64 == vk::TRUE,
            shader_float16: features.v12.shader_float16 == vk::TRUE,
            shader_image_gather_extended: features.core.shader_image_gather_extended == vk::TRUE,
            robust_buffer_access: features.core.robust_buffer_access == vk::TRUE,
            float_controls32: FloatControls32 {
                denorm_preserve: float_controls.shader_denorm_preserve_float32 == vk::TRUE,
                denorm_flush_to_zero: float_controls.shader_denorm_flush_to_zero_float32 == vk::TRUE,
                signed_zero_inf_nan_preserve: float_controls.shader_signed_zero_inf_nan_preserve_float32 == vk::TRUE,
                rounding_mode_rte: float_controls.shader_rounding_mode_rte_float32 == vk::TRUE,
                rounding_mode_rtz: float_controls.shader_rounding_mode_rtz_float32 == vk::TRUE,
            },
            sampler_mirror_clamp_to_edge: features.v12.sampler_mirror_clamp_to_edge == vk::TRUE,
            sampler_filter_minmax: features.v12.sampler_filter_minmax == vk::TRUE,
            custom_border_color: features.custom_border_color,
            timestamp_period_ns: if timestamps { limits.timestamp_period } else { 0.0 },
            problem,
        };
        Ok(Self {
            raw,
            info,
            // Never used when there is none: `problem` says so.
            queue_family: family.and_then(|f| u32::try_from(f).ok()).unwrap_or(0),
            limits,
            memory,
            features,
            float_controls,
            subgroup_operations: if subgroup.supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
                subgroup.supported_operations
            } else {
                vk::SubgroupFeatureFlags::empty()
            },
            max_memory_allocation: if at_least(1) { maintenance3.max_memory_allocation_size } else { u64::MAX },
            extensions,
        })
    }
}

fn query_extensions(instance: &ash::Instance, raw: vk::PhysicalDevice) -> Result<Extensions, ExecuteError> {
    // SAFETY: `raw` comes from this instance.
    let list =
        unsafe { instance.enumerate_device_extension_properties(raw) }.named("vkEnumerateDeviceExtensionProperties")?;
    let has = |name: &CStr| list.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
    Ok(Extensions {
        custom_border_color: has(ext::custom_border_color::NAME),
        robustness2: has(ext::robustness2::NAME),
        derivatives: has(ash::nv::compute_shader_derivatives::NAME),
        portability_subset: has(khr::portability_subset::NAME),
    })
}

fn query_features(
    instance: &ash::Instance,
    raw: vk::PhysicalDevice,
    extensions: Extensions,
    v12: bool,
    v13: bool,
) -> Features {
    let mut features = Features::default();
    let mut border = vk::PhysicalDeviceCustomBorderColorFeaturesEXT::default();
    let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default();
    let mut derivatives = vk::PhysicalDeviceComputeShaderDerivativesFeaturesNV::default();
    let mut all = vk::PhysicalDeviceFeatures2::default();
    if extensions.custom_border_color {
        all = all.push_next(&mut border);
    }
    if extensions.robustness2 {
        all = all.push_next(&mut robustness);
    }
    if extensions.derivatives {
        all = all.push_next(&mut derivatives);
    }
    if v12 {
        all = all.push_next(&mut features.v11).push_next(&mut features.v12);
    }
    if v13 {
        all = all.push_next(&mut features.v13);
    }
    // SAFETY: `raw` comes from this instance, is of version 1.1 or later, and the chain holds only what it knows.
    unsafe { instance.get_physical_device_features2(raw, &mut all) };
    features.core = all.features;
    features.v11.p_next = std::ptr::null_mut();
    features.v12.p_next = std::ptr::null_mut();
    features.v13.p_next = std::ptr::null_mut();
    features.custom_border_color = border.custom_border_colors == vk::TRUE;
    features.custom_border_color_without_format = border.custom_border_color_without_format == vk::TRUE;
    features.robust_buffer_access2 = robustness.robust_buffer_access2 == vk::TRUE;
    features.derivative_group_quads = derivatives.compute_derivative_group_quads == vk::TRUE;
    features.derivative_group_linear = derivatives.compute_derivative_group_linear == vk::TRUE;
    features
}

/// Picks the device that is meant: its place in `devices`.
pub(super) fn choose(devices: &[DeviceInfo], selection: &DeviceSelection) -> Result<usize, ExecuteError> {
    let list = || {
        let lines: Vec<String> = devices
            .iter()
            .map(|d| {
                let problem = d.problem.as_ref().map_or_else(String::new, |p| format!(", {p}"));
                format!("  {}: {} ({}{problem})", d.index, d.name, d.kind)
            })
            .collect();
        lines.join("\n")
    };
    let found = match selection {
        DeviceSelection::Auto => {
            let usable = devices.iter().enumerate().filter(|(_, d)| d.problem.is_none());
            usable.min_by_key(|(place, d)| (d.kind.rank(), *place)).map(|(place, _)| place).ok_or_else(|| {
                ExecuteError::Unavailable(format!("no Vulkan device can be used; there are:\n{}", list()))
            })?
        }
        DeviceSelection::Index(index) => devices.iter().position(|d| d.index == *index).ok_or_else(|| {
            ExecuteError::Unavailable(format!("there is no Vulkan device {index}; there are:\n{}", list()))
        })?,
        DeviceSelection::Name(name) => {
            let wanted = name.to_lowercase();
            let places = |fits: &dyn Fn(&DeviceInfo) -> bool| -> Vec<usize> {
                (0..devices.len()).filter(|&i| fits(&devices[i])).collect()
            };
            let mut fitting = places(&|device| device.name.to_lowercase().contains(&wanted));
            if fitting.is_empty() {
                fitting = places(&|device| device.has_driver(&wanted));
            }
            match fitting[..] {
                [one] => one,
                [] => {
                    return Err(ExecuteError::Unavailable(format!(
                        "no Vulkan device has {name:?} in its name or its driver's; there are:\n{}",
                        list()
                    )));
                }
                // A full name is meant even if others contain it.
                _ => {
                    let exact: Vec<usize> =
                        fitting.iter().copied().filter(|&i| devices[i].name.to_lowercase() == wanted).collect();
                    if let [one] = exact[..] {
                        one
                    } else {
                        return Err(ExecuteError::Unavailable(format!(
                            "{} Vulkan devices have {name:?} in their name, choose one by its number:\n{}",
                            fitting.len(),
                            list()
                        )));
                    }
                }
            }
        }
    };
    match &devices[found].problem {
        Some(problem) => Err(ExecuteError::Unavailable(format!(
            "Vulkan device {} ({}) {problem}",
            devices[found].index, devices[found].name
        ))),
        None => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: usize, name: &str, kind: DeviceKind) -> DeviceInfo {
        DeviceInfo {
            index,
            name: name.to_owned(),
            kind,
            vendor_id: 0,
            device_id: 0,
            api_version: [1, 3, 0],
            driver_version: 0,
            driver_id: 0,
            driver_name: String::new(),
            driver_info: String::new(),
            driver_uuid: [0; 16],
            pipeline_cache_uuid: [0; 16],
            sub_texel_precision_bits: 8,
            mipmap_precision_bits: 8,
            max_image_dimension_1d: 1,
            max_image_dimension_2d: 1,
            max_image_dimension_3d: 1,
            max_image_dimension_cube: 1,
            max_image_array_layers: 1,
            max_push_constants_size: 128,
            max_sampler_anisotropy: 1.0,
            shader_int64: true,
            shader_int16: true,
            shader_float64: true,
            shader_float16: true,
            shader_image_gather_extended: true,
            robust_buffer_access: true,
            float_controls32: FloatControls32::default(),
            sampler_mirror_clamp_to_edge: true,
            sampler_filter_minmax: true,
            custom_border_color: true,
            timestamp_period_ns: 1.0,
            problem: None,
        }
    }

    fn three() -> Vec<DeviceInfo> {
        vec![
            device(0, "llvmpipe (LLVM 15)", DeviceKind::Cpu),
            device(1, "AMD Radeon RX 6600", DeviceKind::Discrete),
            device(2, "AMD Radeon 680M", DeviceKind::Integrated),
        ]
    }

    fn text(result: Result<usize, ExecuteError>) -> String {
        match result {
            Err(ExecuteError::Unavailable(text)) => text,
            other => panic!("expected Unavailable, got {other:?}"),
        }
    }

    #[test]
    fn auto_prefers_discrete_then_integrated_then_cpu() {
        let mut devices = three();
        assert_eq!(choose(&devices, &DeviceSelection::Auto), Ok(1));
        devices[1].problem = Some("has no queue for compute".to_owned());
        assert_eq!(choose(&devices, &DeviceSelection::Auto), Ok(2));
        devices[2].problem = Some("has no queue for compute".to_owned());
        assert_eq!(choose(&devices, &DeviceSelection::Auto), Ok(0));
        devices[0].problem = Some("has no queue for compute".to_owned());
        let text = text(choose(&devices, &DeviceSelection::Auto));
        assert!(text.contains("2: AMD Radeon 680M (integrated, has no queue for compute)"), "{text}");
    }

    #[test]
    fn names_are_parts_in_any_case() {
        let devices = three();
        assert_eq!(choose(&devices, &DeviceSelection::Name("680m".to_owned())), Ok(2));
        let ambiguous = text(choose(&devices, &DeviceSelection::Name("amd".to_owned())));
        assert!(ambiguous.starts_with("2 Vulkan devices have \"amd\" in their name"), "{ambiguous}");
        let unknown = text(choose(&devices, &DeviceSelection::Name("Voodoo".to_owned())));
        assert!(unknown.contains("no Vulkan device has \"Voodoo\"") && unknown.contains("0: llvmpipe"), "{unknown}");
    }

    #[test]
    fn drivers_name_devices_that_no_name_fits() {
        let mut devices = three();
        devices[0].driver_id = vk::DriverId::MESA_LLVMPIPE.as_raw();
        devices[0].driver_name = "llvmpipe".to_owned();
        devices[2].driver_name = "radv".to_owned();
        for name in ["lavapipe", "Lavapipe", "llvmpipe"] {
            assert_eq!(choose(&devices, &DeviceSelection::Name(name.to_owned())), Ok(0), "{name}");
        }
        assert_eq!(choose(&devices, &DeviceSelection::Name("RADV".to_owned())), Ok(2));
        // A name goes before a driver.
        devices[1].name = "lavapipe's twin".to_owned();
        assert_eq!(choose(&devices, &DeviceSelection::Name("lavapipe".to_owned())), Ok(1));
        devices[0].driver_id = 0;
        devices[1].name = "AMD Radeon RX 6600".to_owned();
        assert!(text(choose(&devices, &DeviceSelection::Name("lavapipe".to_owned()))).starts_with("no Vulkan device"));
    }

    #[test]
    fn a_full_name_is_not_ambiguous() {
        let devices = vec![device(0, "GPU", DeviceKind::Discrete), device(1, "GPU X", DeviceKind::Discrete)];
        assert_eq!(choose(&devices, &DeviceSelection::Name("gpu".to_owned())), Ok(0));
    }

    #[test]
    fn an_index_must_be_there_and_usable() {
        let mut devices = three();
        assert_eq!(choose(&devices, &DeviceSelection::Index(2)), Ok(2));
        assert!(text(choose(&devices, &DeviceSelection::Index(3))).starts_with("there is no Vulkan device 3"));
        devices[2].problem = Some("has no queue for compute".to_owned());
        assert_eq!(
            text(choose(&devices, &DeviceSelection::Index(2))),
            "Vulkan device 2 (AMD Radeon 680M) has no queue for compute"
        );
    }

    #[test]
    fn selections_are_read_from_text() {
        assert_eq!("3".parse(), Ok(DeviceSelection::Index(3)));
        assert_eq!("AUTO".parse(), Ok(DeviceSelection::Auto));
        assert_eq!("radv".parse(), Ok(DeviceSelection::Name("radv".to_owned())));
    }
}
