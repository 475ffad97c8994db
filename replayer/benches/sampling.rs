//! Samples a second of the reference and of the emulated path, beside the device's own sampler on the same work.
//!
//! Run with `cargo bench -p replayer --bench sampling`. Needs a Vulkan device: lavapipe for the figures of the README.

use std::{hint::black_box, num::NonZeroU32, time::Duration};

use capture_format::{Column, Coords, Dispatch, Op, TexelFormat};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use replayer::{
    execute::vulkan::{DeviceKind, DeviceSelection, MemoryMode, VulkanExecutor, VulkanOptions},
    generate::Random,
    path::{Path, evaluate},
    rules::Profile,
};

/// Samples along each side of the grid.
const SIDE: u32 = 2048;
/// Texels along each side of the image.
const SIZE: u32 = 256;

/// What is sampled.
#[derive(Clone, Copy)]
enum Work {
    /// Bilinear, coordinates in scan order.
    Scan,
    /// Bilinear, coordinates at random.
    Scattered,
    /// Trilinear, coordinates in scan order, any LOD.
    Trilinear,
    /// 3D, linear along all axes, coordinates in scan order.
    Volume,
}

const WORKS: [(&str, Work); 4] = [
    ("bilinear 2D, scan order", Work::Scan),
    ("bilinear 2D, random order", Work::Scattered),
    ("trilinear 2D, scan order", Work::Trilinear),
    ("linear 3D, scan order", Work::Volume),
];

fn dispatch(work: Work) -> Dispatch {
    let mut random = Random::new(7, 0);
    let (levels, depth) = match work {
        Work::Trilinear => (9u32, 1u32),
        Work::Volume => (1, 16),
        Work::Scan | Work::Scattered => (1, 1),
    };
    let texels: u32 = (0..levels).map(|level| (SIZE >> level).max(1).pow(2) * depth).sum();
    let format = TexelFormat::R10G11B11_FLOAT;
    let words: Vec<u32> =
        (0..texels).map(|_| format.pack(std::array::from_fn(|_| random.uniform(0.0, 8.0).to_bits()))).collect();
    let kind = if matches!(work, Work::Volume) { 10u32 } else { 9 };
    let image = [
        0,
        u32::from(format.code()) << 20 | (SIZE - 1 & 3) << 30,
        (SIZE - 1) >> 2 | (SIZE - 1) << 14 | 1 << 31,
        0x0000_03ac | (levels - 1) << 16 | kind << 28,
        depth - 1,
        (levels - 1) << 4,
        0,
        0,
    ];
    // Edge, all LODs, bilinear; TRUNC_COORD is clear. Linear mip filter for the trilinear work.
    let mip = if matches!(work, Work::Trilinear) { 2 << 26 } else { 0 };
    let sampler = [0x92, 0x00ff_f000, 0x0050_0000 | mip, 0];
    let mut columns = vec![Column::U, Column::V];
    match work {
        Work::Trilinear => columns.push(Column::Lod),
        Work::Volume => columns.push(Column::W),
        Work::Scan | Work::Scattered => {}
    }
    let mut coords = Vec::with_capacity((SIDE * SIDE) as usize * columns.len());
    for y in 0..SIDE {
        for x in 0..SIDE {
            let place = |n: u32| (n as f32 + 0.37) / SIDE as f32;
            let [u, v] = match work {
                Work::Scattered => [random.uniform(0.0, 1.0), random.uniform(0.0, 1.0)],
                _ => [place(x), place(y)],
            };
            coords.extend([u.to_bits(), v.to_bits()]);
            match work {
                Work::Trilinear => coords.push((place(y) * 7.0).to_bits()),
                Work::Volume => coords.push(place(x ^ y).to_bits()),
                Work::Scan | Work::Scattered => {}
            }
        }
    }
    Dispatch {
        name: "bench".to_owned(),
        op: if matches!(work, Work::Trilinear) { Op::SAMPLE_L } else { Op::SAMPLE_LZ },
        grid: [SIDE, SIDE, 1],
        image,
        sampler: Some(sampler),
        border_table: Vec::new(),
        dmask: None,
        texels: words.into(),
        coords: Coords { columns, words: coords.into() },
        expected: None,
    }
}

fn sampling(c: &mut Criterion) {
    let mut executor = VulkanExecutor::open(&DeviceSelection::Auto, &VulkanOptions::default()).expect(
        "the benchmark compares with a Vulkan device; install lavapipe (Debian: mesa-vulkan-drivers libvulkan1)",
    );
    for (name, work) in WORKS {
        let dispatch = dispatch(work);
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
        let dispatch = dispatch(work);
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

criterion_group!(benches, sampling, kernels);
criterion_main!(benches);
