//! Every emitted module passes spirv-val, and runs clean under the validation layer. Needs spirv-tools, a Vulkan device and
//! the Khronos validation layer.

use std::{fs, process::Command};

use capture_format::Op;
use replayer::{
    emulated::{self, FormatClass, ModuleKey},
    execute::vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
    generate::{Generator, is_modelled},
    materialise::materialise,
    native,
    rules::Profile,
    state::View,
};

fn keys() -> Vec<(String, ModuleKey)> {
    let mut keys = Vec::new();
    for profile in Profile::ALL {
        for view in View::ALL {
            for op in Op::all().filter(|&op| is_modelled(op, view)) {
                for class in [FormatClass::Float, FormatClass::Fixed, FormatClass::Integer] {
                    let name = format!("{}-{op}-{}-{}", profile.name, view.name(), class.name());
                    keys.push((name, ModuleKey { op, view, class, rules: profile.rules }));
                }
            }
        }
    }
    keys
}

#[test]
fn every_emitted_module_passes_spirv_val() {
    let dir = tempfile::tempdir().unwrap();
    let keys = keys();
    assert!(keys.len() > 300);
    let mut failures = Vec::new();
    // And those that sample with raw descriptors, which no device here can run.
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/product.toml");
    let with_raw = capture_format::Case::read(&file).unwrap().dispatches.into_iter();
    let raw: Vec<_> =
        with_raw.filter_map(|d| Some((format!("raw-{}", d.name), native::raw_module(&d).ok()?))).collect();
    assert!(raw.len() > 40, "{}", raw.len());
    let emitted = keys.into_iter().map(|(name, key)| (name, emulated::module(&key).unwrap()));
    for (name, module) in emitted.chain(raw) {
        let path = dir.path().join(format!("{name}.spv"));
        fs::write(&path, bytemuck::cast_slice::<u32, u8>(&module.words)).unwrap();
        let output = Command::new("spirv-val")
            .args(["--target-env", "vulkan1.1"])
            .arg(&path)
            .output()
            .expect("this test runs spirv-val; install it (Debian: spirv-tools)");
        if !output.status.success() {
            failures.push(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(failures.is_empty(), "{} modules are invalid, the first: {}", failures.len(), failures[0]);
}

#[test]
fn the_validation_layer_is_silent() {
    let options = VulkanOptions { validation: true, ..VulkanOptions::default() };
    let mut executor = VulkanExecutor::open(&DeviceSelection::Auto, &options)
        .expect("this test needs a Vulkan device and the validation layer (Debian: vulkan-validationlayers)");
    let generator = Generator::new(0x51_1e, 100);
    for index in 0..100 {
        let generated = generator.dispatch(index);
        let dispatch = &generated.dispatch;
        let state = materialise(dispatch, &generated.profile.rules).unwrap();
        emulated::run(&mut executor, generated.profile.rules, &state, &dispatch.texels, &dispatch.coords).unwrap();
    }
    assert_eq!(executor.take_validation_messages(), Vec::<String>::new());
}
