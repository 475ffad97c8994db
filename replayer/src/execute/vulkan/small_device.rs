//! A device with one extension and a queue, for what the executor's own device is not made for.

use std::{ffi::CStr, sync::Arc};

use ash::vk;

use super::{
    DeviceSelection, VulkanOptions,
    error::Named,
    instance::Instance,
    physical::{Physical, choose},
};
use crate::execute::ExecuteError;

/// A physical device with its instance.
pub(super) struct Chosen {
    pub(super) instance: Arc<Instance>,
    pub(super) physical: Physical,
}

impl Chosen {
    /// The device that is selected.
    pub(super) fn new(selection: &DeviceSelection, options: &VulkanOptions) -> Result<Self, ExecuteError> {
        let instance = Arc::new(options.instance()?);
        let mut devices = Physical::list(&instance)?;
        let infos: Vec<_> = devices.iter().map(|d| d.info.clone()).collect();
        let physical = devices.swap_remove(choose(&infos, selection)?);
        Ok(Self { instance, physical })
    }

    /// [`ExecuteError::Unsupported`] where the device lacks an extension.
    pub(super) fn require(&self, extension: &CStr) -> Result<(), ExecuteError> {
        // SAFETY: the physical device comes from this instance.
        let known = unsafe { self.instance.raw.enumerate_device_extension_properties(self.physical.raw) }
            .named("vkEnumerateDeviceExtensionProperties")?;
        if known.iter().any(|e| e.extension_name_as_c_str() == Ok(extension)) {
            return Ok(());
        }
        let (name, extension) = (&self.physical.info.name, extension.to_string_lossy());
        Err(ExecuteError::Unsupported(format!("{name} has no {extension}")))
    }

    /// Sizes and alignments of descriptors.
    ///
    /// # Safety
    /// The device has VK_EXT_descriptor_buffer.
    pub(super) unsafe fn descriptor_sizes(&self) -> vk::PhysicalDeviceDescriptorBufferPropertiesEXT<'static> {
        let mut sizes = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut sizes);
        // SAFETY: the device has the extension of the structure in the chain, and so version 1.1 at least.
        unsafe { self.instance.raw.get_physical_device_properties2(self.physical.raw, &mut properties) };
        sizes
    }

    /// Makes the device.
    ///
    /// # Safety
    /// It has the extension and the features.
    pub(super) unsafe fn open(
        self,
        extension: &CStr,
        mut features: vk::PhysicalDeviceFeatures2<'_>,
    ) -> Result<SmallDevice, ExecuteError> {
        let Self { instance, physical } = self;
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(physical.queue_family)
            .queue_priorities(&priorities)];
        let extensions = [extension.as_ptr()];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut features);
        // SAFETY: all that `info` points to lives to the end of this function; the caller answers for the rest.
        let raw = unsafe { instance.raw.create_device(physical.raw, &info, None) }.named("vkCreateDevice")?;
        // SAFETY: a queue 0 of this family was asked for above.
        let queue = unsafe { raw.get_device_queue(physical.queue_family, 0) };
        Ok(SmallDevice { raw, queue, physical, instance })
    }
}

/// The device, destroyed when dropped. What is made from it is destroyed before.
pub(super) struct SmallDevice {
    pub(super) raw: ash::Device,
    pub(super) queue: vk::Queue,
    pub(super) physical: Physical,
    pub(super) instance: Arc<Instance>,
}

impl Drop for SmallDevice {
    fn drop(&mut self) {
        // SAFETY: whoever made something from it has destroyed it, and has waited for what was submitted or left the device
        // lost.
        unsafe { self.raw.destroy_device(None) };
    }
}
