//! From results of Vulkan calls to [`ExecuteError`].

use ash::vk;

use crate::execute::ExecuteError;

/// Turns a failed call into the error that fits, with the call's name.
pub(super) fn from_result(call: &str, result: vk::Result) -> ExecuteError {
    let text = format!("{call}: {result:?}");
    match result {
        vk::Result::ERROR_OUT_OF_HOST_MEMORY
        | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_OUT_OF_POOL_MEMORY
        | vk::Result::ERROR_FRAGMENTED_POOL
        | vk::Result::ERROR_FRAGMENTATION
        | vk::Result::ERROR_TOO_MANY_OBJECTS => ExecuteError::OutOfMemory(text),
        vk::Result::ERROR_DEVICE_LOST => ExecuteError::DeviceLost(text),
        vk::Result::TIMEOUT => ExecuteError::Timeout(text),
        vk::Result::ERROR_FEATURE_NOT_PRESENT
        | vk::Result::ERROR_EXTENSION_NOT_PRESENT
        | vk::Result::ERROR_FORMAT_NOT_SUPPORTED => ExecuteError::Unsupported(text),
        vk::Result::ERROR_INVALID_SHADER_NV => ExecuteError::Module(text),
        vk::Result::ERROR_INCOMPATIBLE_DRIVER | vk::Result::ERROR_LAYER_NOT_PRESENT => ExecuteError::Unavailable(text),
        _ => ExecuteError::Driver(text),
    }
}

/// Names the call in a result's error.
pub(super) trait Named<T> {
    /// The value, or the error with the name of the `call` that failed.
    fn named(self, call: &str) -> Result<T, ExecuteError>;
}

impl<T> Named<T> for Result<T, vk::Result> {
    fn named(self, call: &str) -> Result<T, ExecuteError> {
        self.map_err(|result| from_result(call, result))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_keeps_the_call() {
        let of = |r| from_result("vkQueueSubmit", r);
        assert_eq!(
            of(vk::Result::ERROR_DEVICE_LOST),
            ExecuteError::DeviceLost("vkQueueSubmit: ERROR_DEVICE_LOST".to_owned())
        );
        assert_eq!(
            of(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
            ExecuteError::OutOfMemory("vkQueueSubmit: ERROR_OUT_OF_DEVICE_MEMORY".to_owned())
        );
        assert_eq!(of(vk::Result::TIMEOUT), ExecuteError::Timeout("vkQueueSubmit: TIMEOUT".to_owned()));
        assert_eq!(of(vk::Result::ERROR_UNKNOWN), ExecuteError::Driver("vkQueueSubmit: ERROR_UNKNOWN".to_owned()));
    }
}
