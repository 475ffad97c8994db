//! Loader and instance, with the validation layer on request.

use std::{
    ffi::{CStr, c_void},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use ash::{ext::debug_utils, vk};

use super::error::{Named, from_result};
use crate::execute::ExecuteError;

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Messages kept at most, so that a job run a million times does not fill memory with one complaint.
const MESSAGES_KEPT: usize = 1000;

type Messages = Mutex<Vec<String>>;

/// The loader, opened at run time, and an instance of Vulkan 1.1 or later.
pub(super) struct Instance {
    pub(super) raw: ash::Instance,
    debug: Option<Debug>,
    // Unloads the library when dropped, thus the last field.
    _entry: ash::Entry,
}

struct Debug {
    functions: debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    messages: Arc<Messages>,
}

impl Instance {
    /// Opens `loader` (the system's when `None`) and makes an instance.
    pub(super) fn new(loader: Option<&Path>, validation: bool) -> Result<Self, ExecuteError> {
        let entry = load(loader)?;
        // SAFETY: the entry is a loaded loader; the call has no other precondition.
        let version = unsafe { entry.try_enumerate_instance_version() }.named("vkEnumerateInstanceVersion")?;
        if version.unwrap_or(vk::API_VERSION_1_0) < vk::API_VERSION_1_1 {
            return Err(ExecuteError::Unavailable(
                "the Vulkan loader is of version 1.0, 1.1 or later is needed: update it".to_owned(),
            ));
        }
        let messages = Arc::new(Messages::default());
        let mut layers = Vec::new();
        let mut extensions = Vec::new();
        if validation {
            require_validation(&entry)?;
            layers.push(VALIDATION_LAYER.as_ptr());
            extensions.push(debug_utils::NAME.as_ptr());
        }
        let application = vk::ApplicationInfo::default()
            .application_name(c"replayer")
            .engine_name(c"replayer")
            .api_version(vk::API_VERSION_1_3);
        let mut messenger_info = messenger_info(&messages);
        let mut info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions);
        if validation {
            info = info.push_next(&mut messenger_info);
        }
        // SAFETY: the structures and names that `info` points to live until the end of this function.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => no_device(),
            other => from_result("vkCreateInstance", other),
        })?;
        let mut instance = Self { raw, debug: None, _entry: entry };
        if validation {
            let functions = debug_utils::Instance::new(&instance._entry, &instance.raw);
            let info = self::messenger_info(&messages);
            // SAFETY: the extension is enabled; the user data is kept alive in `Debug` longer than the messenger.
            let messenger = unsafe { functions.create_debug_utils_messenger(&info, None) }
                .named("vkCreateDebugUtilsMessengerEXT")?;
            instance.debug = Some(Debug { functions, messenger, messages });
        }
        Ok(instance)
    }

    /// The messages of the validation layer since the last call; empty when it is off.
    pub(super) fn take_messages(&self) -> Vec<String> {
        self.debug.as_ref().map_or_else(Vec::new, |debug| {
            std::mem::take(&mut *debug.messages.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }

    /// All physical devices, in the loader's order.
    pub(super) fn physical_devices(&self) -> Result<Vec<vk::PhysicalDevice>, ExecuteError> {
        // SAFETY: the instance is alive.
        let found = unsafe { self.raw.enumerate_physical_devices() };
        match found {
            Ok(list) if list.is_empty() => Err(no_device()),
            // Some drivers say so when they find no hardware.
            Err(vk::Result::ERROR_INITIALIZATION_FAILED) => Err(no_device()),
            other => other.named("vkEnumeratePhysicalDevices"),
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(debug) = &self.debug {
            // SAFETY: made from this instance, destroyed once; no other call is in progress as `self` is exclusive.
            unsafe { debug.functions.destroy_debug_utils_messenger(debug.messenger, None) };
        }
        // SAFETY: devices hold this instance in an `Arc`, so that all of them are gone.
        unsafe { self.raw.destroy_instance(None) };
    }
}

fn load(path: Option<&Path>) -> Result<ash::Entry, ExecuteError> {
    let loaded = match path {
        // SAFETY: the caller names a Vulkan loader; its initialisation is as trusted as the system's.
        Some(path) => unsafe { ash::Entry::load_from(path) },
        // SAFETY: the system's Vulkan loader has no preconditions on its initialisation.
        None => unsafe { ash::Entry::load() },
    };
    loaded.map_err(|error| {
        ExecuteError::Unavailable(format!(
            "no Vulkan loader ({error}): install it (package libvulkan1 on Debian and Ubuntu, vulkan-loader on Fedora) \
             and a driver (mesa-vulkan-drivers has one that runs on the CPU); VK_DRIVER_FILES names the JSON file of a \
             driver outside the standard folders"
        ))
    })
}

/// The error for a loader that knows no driver with a device.
pub(super) fn no_device() -> ExecuteError {
    ExecuteError::Unavailable(
        "the Vulkan loader finds no device: install a driver (mesa-vulkan-drivers has one that runs on the CPU), and \
         check VK_DRIVER_FILES and VK_ICD_FILENAMES, which limit the loader to the drivers that they name"
            .to_owned(),
    )
}

fn require_validation(entry: &ash::Entry) -> Result<(), ExecuteError> {
    // SAFETY: the entry is a loaded loader.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.named("vkEnumerateInstanceLayerProperties")?;
    if !layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER)) {
        return Err(ExecuteError::Unavailable(format!(
            "validation was asked for, but the layer {} is not installed (package vulkan-validationlayers)",
            VALIDATION_LAYER.to_string_lossy()
        )));
    }
    Ok(())
}

fn messenger_info(messages: &Arc<Messages>) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE)
        .pfn_user_callback(Some(on_message))
        .user_data(Arc::as_ptr(messages).cast_mut().cast())
}

extern "system" fn on_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    if data.is_null() || user.is_null() {
        return vk::FALSE;
    }
    // SAFETY: the layer passes a valid structure for the duration of the call.
    let message = unsafe { (*data).p_message };
    // SAFETY: `user` points to the `Messages` that outlive the messenger (see `Instance`); they are only shared.
    let messages = unsafe { &*user.cast::<Messages>() };
    if !message.is_null() {
        // SAFETY: a message is a string that ends in zero and lives during the call.
        let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
        let mut messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
        if messages.len() < MESSAGES_KEPT {
            messages.push(text);
        }
    }
    vk::FALSE
}
