//! The Vulkan executor on a real driver. Where there is no device, each of these tests fails and says what to install.

#![expect(clippy::unwrap_used, reason = "a test that can not go on fails")]

#[path = "../assemble/mod.rs"]
mod assemble;
mod loader;
mod modules;
mod native;
mod reuse;
mod run;
mod storage;
mod tables;

use std::path::Path;

use replayer::execute::{
    Binding, Executor, Job, Module, Resource,
    vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
};

/// Opens the device with the validation layer on, and `change`d options.
fn open(change: impl FnOnce(&mut VulkanOptions)) -> VulkanExecutor {
    let mut options = VulkanOptions { validation: true, ..VulkanOptions::default() };
    change(&mut options);
    match VulkanExecutor::open(&DeviceSelection::Auto, &options) {
        Ok(executor) => executor,
        Err(error) => panic!(
            "the tests of the Vulkan executor need a Vulkan device and the validation layer (packages \
             mesa-vulkan-drivers and vulkan-validationlayers): {error}"
        ),
    }
}

/// Fails if the validation layer had anything to say.
#[track_caller]
fn assert_silent(executor: &mut VulkanExecutor) {
    let messages = executor.take_validation_messages();
    assert!(messages.is_empty(), "validation messages:\n{}", messages.join("\n"));
}

fn bind<'a>(binding: u32, resource: Resource<'a>) -> Binding<'a> {
    Binding { set: 0, binding, element: 0, resource }
}

/// A job of `main` with nothing but bindings.
fn job<'a>(module: &'a Module, bindings: &'a [Binding<'a>], groups: u32) -> Job<'a> {
    Job { module, entry: "main", specialization: &[], bindings, push_constants: &[], groups: [groups, 1, 1] }
}

/// Runs [`modules::copy`] and checks the result.
#[track_caller]
fn assert_copies(executor: &mut VulkanExecutor, words: &[u32]) {
    let module = modules::copy();
    let bindings = [bind(0, Resource::Input(words)), bind(1, Resource::Output(words.len()))];
    let count = u32::try_from(words.len()).unwrap();
    assert_eq!(executor.run(&job(&module, &bindings, count)), Ok(vec![words.to_vec()]));
}

/// The only file in a folder.
#[track_caller]
fn only_file(dir: &Path) -> std::path::PathBuf {
    let files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}
