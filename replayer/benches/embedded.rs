//! Samples a second of the embedded executor beside a Vulkan device (lavapipe for the figures of the documentation):
//! `cargo bench -p replayer --bench embedded`. The module is the one that the emulated path runs for a bilinear sample.

mod support;

use divan::{Bencher, counter::ItemsCount};
use replayer::{
    execute::{
        Executor,
        embedded::Embedded,
        vulkan::{DeviceSelection, VulkanExecutor, VulkanOptions},
    },
    path::{Path, evaluate},
    rules::Profile,
    step::trace_sample,
};
use support::{Work, dispatch};

/// Samples along each side of the grid.
const SIDE: u32 = 1024;

const PROFILES: [&str; 2] = ["gfx1035", "h200"];

fn main() {
    divan::main();
}

fn run(bencher: Bencher<'_, '_>, profile: &str, executor: &mut dyn Executor) {
    let profile = Profile::by_name(profile).expect("it is known");
    let dispatch = dispatch(Work::Scan, SIDE);
    let mut run = || evaluate(&dispatch, Path::Emulated, &profile, Some(executor), false).expect("it is modelled");
    // The module is compiled once.
    run();
    bencher.counter(ItemsCount::new(dispatch.sample_count())).bench_local(run);
}

#[divan::bench(args = PROFILES, sample_count = 10)]
fn bilinear_samples(bencher: Bencher<'_, '_>, profile: &str) {
    let mut executor = Embedded::new();
    run(bencher, profile, &mut executor);
}

#[divan::bench(args = PROFILES, sample_count = 10)]
fn bilinear_samples_on_a_vulkan_device(bencher: Bencher<'_, '_>, profile: &str) {
    let mut executor = VulkanExecutor::open(&DeviceSelection::Auto, &VulkanOptions::default()).expect(
        "the benchmark compares with a Vulkan device; install lavapipe (Debian: mesa-vulkan-drivers libvulkan1)",
    );
    run(bencher, profile, &mut executor);
}

/// Translated anew each time, as for the first look at a sample.
#[divan::bench(args = PROFILES, sample_count = 20)]
fn trace_of_one_sample(bencher: Bencher<'_, '_>, profile: &str) {
    let profile = Profile::by_name(profile).expect("it is known");
    let dispatch = dispatch(Work::Scan, SIDE);
    bencher.bench_local(|| trace_sample(&dispatch, Path::Emulated, &profile, 777).expect("it is modelled"));
}

/// Parsing and translating the module, and a single sample.
#[divan::bench(args = PROFILES, sample_count = 20)]
fn translation(bencher: Bencher<'_, '_>, profile: &str) {
    let profile = Profile::by_name(profile).expect("it is known");
    let dispatch = dispatch(Work::Scan, 1);
    bencher.bench_local(|| evaluate(&dispatch, Path::Emulated, &profile, Some(&mut Embedded::new()), false));
}
