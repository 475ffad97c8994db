//! Loader, devices and their choice.

use std::{path::PathBuf, process::Command};

use replayer::execute::{
    ExecuteError, Executor, Resource,
    vulkan::{DeviceSelection, VALIDATION_VARIABLE, VulkanExecutor, VulkanOptions},
};

use crate::{assert_copies, bind, job, modules, open};

/// Set in the processes that a test starts of itself, as a process should not change its own environment.
const CHILD: &str = "REPLAYER_TEST_CHILD";

/// Runs one test of this binary in a process with `variables`, and returns what it printed.
fn rerun(test: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").envs(variables.iter().copied());
    command.env_remove("VK_ICD_FILENAMES");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn unavailable<T: std::fmt::Debug>(result: Result<T, ExecuteError>) -> String {
    match result {
        Err(ExecuteError::Unavailable(text)) => text,
        other => panic!("expected Unavailable, got {other:?}"),
    }
}

#[test]
fn devices_are_listed_with_their_properties() {
    let devices = VulkanExecutor::devices().unwrap();
    let opened = open(|_| {});
    let device = opened.device();
    assert_eq!(&devices[device.index], device);
    for (place, device) in devices.iter().enumerate() {
        assert_eq!(device.index, place);
    }
    // What Vulkan demands at least of each implementation.
    assert!(!device.name.is_empty());
    assert!(device.api_version >= [1, 1, 0]);
    assert!(device.sub_texel_precision_bits >= 4 && device.mipmap_precision_bits >= 4);
    assert!(device.max_image_dimension_1d >= 4096 && device.max_image_dimension_2d >= 4096);
    assert!(device.max_image_dimension_3d >= 256 && device.max_image_array_layers >= 256);
    assert!(device.max_push_constants_size >= 128);
    assert!(device.robust_buffer_access);
    assert_eq!(device.problem, None);
    assert_eq!(opened.info().kind, "vulkan");
    assert_eq!(opened.info().device, device.name);
}

#[test]
fn a_missing_loader_is_said_with_the_remedy() {
    let options = VulkanOptions { loader: Some(PathBuf::from("/no/such/libvulkan.so.1")), ..VulkanOptions::default() };
    for text in [
        unavailable(VulkanExecutor::devices_with(&options)),
        unavailable(VulkanExecutor::open(&DeviceSelection::Auto, &options).map(|_| ())),
    ] {
        assert!(text.starts_with("no Vulkan loader ("), "{text}");
        for part in ["/no/such/libvulkan.so.1", "libvulkan1", "VK_DRIVER_FILES"] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn drivers_that_are_not_there_leave_no_device() {
    if std::env::var_os(CHILD).is_some() {
        println!("answer: {}", unavailable(VulkanExecutor::devices()));
        return;
    }
    let text = rerun(
        "loader::drivers_that_are_not_there_leave_no_device",
        &[("VK_DRIVER_FILES", "/no/such/driver.json"), (VALIDATION_VARIABLE, "0")],
    );
    assert!(text.contains("answer: the Vulkan loader finds no device: install a driver"), "{text}");
    assert!(text.contains("VK_DRIVER_FILES"), "{text}");
}

#[test]
fn a_missing_validation_layer_is_an_error_when_asked_for() {
    if std::env::var_os(CHILD).is_some() {
        println!("answer: {}", unavailable(VulkanExecutor::devices()));
        return;
    }
    let empty = tempfile::tempdir().unwrap();
    let text = rerun(
        "loader::a_missing_validation_layer_is_an_error_when_asked_for",
        &[("VK_LAYER_PATH", empty.path().to_str().unwrap()), (VALIDATION_VARIABLE, "1")],
    );
    assert!(text.contains("answer: validation was asked for, but the layer VK_LAYER_KHRONOS_validation"), "{text}");
    assert!(text.contains("vulkan-validationlayers"), "{text}");
}

#[test]
fn unknown_devices_are_answered_with_the_list() {
    let devices = VulkanExecutor::devices().unwrap();
    let options = VulkanOptions::default();
    let name = DeviceSelection::Name("no such device".to_owned());
    let by_name = unavailable(VulkanExecutor::open(&name, &options).map(|_| ()));
    assert!(
        by_name.starts_with("no Vulkan device has \"no such device\" in its name or its driver's; there are:"),
        "{by_name}"
    );
    let by_index = unavailable(VulkanExecutor::open(&DeviceSelection::Index(99), &options).map(|_| ()));
    assert!(by_index.starts_with("there is no Vulkan device 99; there are:"), "{by_index}");
    for device in &devices {
        assert!(by_name.contains(&device.name) && by_index.contains(&device.name));
    }
}

#[test]
fn a_device_is_opened_by_index_and_by_part_of_its_name() {
    let auto = open(|_| {}).device().clone();
    let options = VulkanOptions::default();
    let mut by_index = VulkanExecutor::open(&DeviceSelection::Index(auto.index), &options).unwrap();
    assert_eq!(by_index.device(), &auto);
    assert_copies(&mut by_index, &[1, 2, 3]);
    let name = DeviceSelection::Name(auto.name.to_uppercase());
    let by_name = VulkanExecutor::open(&name, &options).unwrap();
    assert_eq!(by_name.device(), &auto);
    drop(by_index);
}

#[test]
fn messages_of_the_validation_layer_are_collected() {
    let mut k = modules::Kernel::new();
    let output = k.buffer(0, 0);
    // A type that needs a capability which the module does not declare. Nothing uses it.
    k.b.type_float(16, None);
    let one = k.constant(1);
    k.store(output, k.index, one);
    let module = k.finish();
    let bindings = [bind(0, Resource::Output(1))];
    let mut executor = open(|_| {});
    assert_eq!(executor.run(&job(&module, &bindings, 1)), Ok(vec![vec![1]]));
    let messages = executor.take_validation_messages();
    assert!(messages.iter().any(|m| m.contains("SPIR-V module not valid")), "{messages:?}");
    assert_eq!(executor.take_validation_messages(), Vec::<String>::new());
}
