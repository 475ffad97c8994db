//! The native path and captures on a real driver. Where there is no device, each of these tests fails and says what to
//! install.

#![expect(clippy::unwrap_used, reason = "a test that can not go on fails")]

mod capture;
mod lavapipe;
mod path;

use replayer::execute::vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions};

/// Opens the device with the validation layer on.
fn open() -> VulkanExecutor {
    let options = VulkanOptions { validation: true, ..VulkanOptions::default() };
    match VulkanExecutor::open(&DeviceSelection::Auto, &options) {
        Ok(executor) => executor,
        Err(error) => panic!(
            "the tests of the native path need a Vulkan device and the validation layer (packages mesa-vulkan-drivers and \
             vulkan-validationlayers): {error}"
        ),
    }
}

/// Fails if the validation layer had anything to say.
#[track_caller]
fn assert_silent(executor: &mut VulkanExecutor) {
    let messages = executor.take_validation_messages();
    assert!(messages.is_empty(), "validation messages:\n{}", messages.join("\n"));
}
