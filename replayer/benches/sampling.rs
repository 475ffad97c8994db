//! Samples a second of the reference and of the emulated path (on the device and on the embedded executor), beside the
//! device's own sampler on the same work.
//!
//! Run with `cargo bench -p replayer --bench sampling`. Needs a Vulkan device: lavapipe for the figures of the README.

mod support;

use std::{hint::black_box, num::NonZeroU32, time::Duration};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use replayer::{
    execute::{
        embedded::Embedded,
        vulkan::{DeviceKind, DeviceSelection, MemoryMode, VulkanExecutor, VulkanOptions},
    },
    path::{Path, evaluate},
    rules::Profile,
};
use support::{Work, dispatch};

/// Samples along each side of the grid.
const SIDE: u32 = 2048;

const WORKS: [(&str, Work); 4] = [
    ("bilinear 2D, scan order", Work::Scan),
    ("bilinear 2D, random order", Work::Scattered),
    ("trilinear 2D, scan order", Work::Trilinear),
    ("linear 3D, scan order", Work::Volume),
];

fn sampling(c: &mut Criterion) {
    let mut executor = VulkanExecutor::open(&DeviceSelection::Auto, &VulkanOptions::default()).expect(
        "the benchmark compares with a Vulkan device; install lavapipe (Debian: mesa-vulkan-drivers libvulkan1)",
    );
    for (name, work) in WORKS {
        let mut embedded = Embedded::new();
        let dispatch = dispatch(work, SIDE);
        let mut group = c.benchmark_group(name);
        group
            .throughput(Throughput::Elements(dispatch.sample_count()))
            .sample_size(10)
            .warm_up_time(Duration::from_secs(1))
            .measurement_time(Duration::from_secs(3));
        for path in [Path::Native, Path::Reference, Path::Emulated] {
            group.bench_function(path.name(), |b| {
                b.iter(|| {
                    let results = evaluate(&dispatch, path, &Profile::GFX1035, Some(&mut executor), false)
                        .expect("it is modelled");
                    black_box(results)
                });
            });
        }
        group.bench_function("emulated, embedded executor", |b| {
            b.iter(|| {
                let results = evaluate(&dispatch, Path::Emulated, &Profile::GFX1035, Some(&mut embedded), false)
                    .expect("it is modelled");
                black_box(results)
            });
        });
        group.finish();
    }
}

/// Dispatches in a measured run: a GPU's clocks rise within the first.
const REPEATS: NonZeroU32 = NonZeroU32::new(200).unwrap();

/// The dispatch alone, by the device's clock: everything is in the device's memory, nothing is transferred.
fn kernels(c: &mut Criterion) {
    let open = |options: &VulkanOptions| {
        VulkanExecutor::open(&DeviceSelection::Auto, options).expect("the benchmark needs a Vulkan device")
    };
    let options = VulkanOptions { timestamps: true, memory: MemoryMode::Staged, ..VulkanOptions::default() };
    let mut executor = open(&options);
    if executor.device().kind != DeviceKind::Cpu {
        executor = open(&VulkanOptions { repeats: REPEATS, ..options });
    }
    for (name, work) in WORKS {
        let dispatch = dispatch(work, SIDE);
        let mut group = c.benchmark_group(format!("{name}, on the device"));
        group
            .throughput(Throughput::Elements(dispatch.sample_count()))
            .sample_size(10)
            .warm_up_time(Duration::from_secs(1))
            .measurement_time(Duration::from_secs(3));
        for path in [Path::Native, Path::Emulated] {
            group.bench_function(path.name(), |b| {
                b.iter_custom(|iterations| {
                    (0..iterations)
                        .map(|_| {
                            let results = evaluate(&dispatch, path, &Profile::GFX1035, Some(&mut executor), false)
                                .expect("it is modelled");
                            black_box(results);
                            let timing = executor.last_run_timing().and_then(|timing| timing.kernel);
                            timing.expect("the compute queue has timestamps")
                        })
                        .sum()
                });
            });
        }
        group.finish();
    }
}

/// Rounds of [`alternating`].
const ROUNDS: usize = 21;

/// Both kernels in turn, so that what the clocks do meets both: the median of the ratios of their times, and of the times.
fn alternating(_: &mut Criterion) {
    let options = VulkanOptions { timestamps: true, memory: MemoryMode::Staged, ..VulkanOptions::default() };
    let mut executor =
        VulkanExecutor::open(&DeviceSelection::Auto, &options).expect("the benchmark needs a Vulkan device");
    if executor.device().kind != DeviceKind::Cpu {
        let options = VulkanOptions { repeats: REPEATS, ..options };
        executor = VulkanExecutor::open(&DeviceSelection::Auto, &options).expect("the benchmark needs a Vulkan device");
    }
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, work) in WORKS {
        if filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        let dispatch = dispatch(work, SIDE);
        let mut time = |path| {
            let results =
                evaluate(&dispatch, path, &Profile::GFX1035, Some(&mut executor), false).expect("it is modelled");
            black_box(results);
            let timing = executor.last_run_timing().and_then(|timing| timing.kernel);
            timing.expect("the compute queue has timestamps").as_secs_f64()
        };
        let rounds: Vec<[f64; 2]> = (0..ROUNDS).map(|_| [Path::Native, Path::Emulated].map(&mut time)).collect();
        let median = |value: &dyn Fn(&[f64; 2]) -> f64| {
            let mut values: Vec<f64> = rounds.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values[ROUNDS / 2]
        };
        println!(
            "{name}, in turn: emulated at {:.2} of the device's own sampler ({:.1} and {:.1} us)",
            median(&|[native, emulated]| native / emulated),
            median(&|[_, emulated]| emulated * 1e6),
            median(&|[native, _]| native * 1e6),
        );
    }
}

criterion_group!(benches, sampling, kernels, alternating);
criterion_main!(benches);
