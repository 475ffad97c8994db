//! What the benchmarks of sampling run.

use capture_format::{Column, Coords, Dispatch, Op, TableImage, TexelFormat};
use replayer::generate::Random;

/// Texels along each side of the image.
const SIZE: u32 = 256;

/// What is sampled.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "not every benchmark runs all of it")]
pub enum Work {
    /// Bilinear, coordinates in scan order.
    Scan,
    /// Bilinear, coordinates at random.
    Scattered,
    /// Trilinear, coordinates in scan order, any LOD.
    Trilinear,
    /// 3D, linear along all axes, coordinates in scan order.
    Volume,
}

/// A dispatch of `side` by `side` samples.
pub fn dispatch(work: Work, side: u32) -> Dispatch {
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
    let mut coords = Vec::with_capacity((side * side) as usize * columns.len());
    for y in 0..side {
        for x in 0..side {
            let place = |n: u32| (n as f32 + 0.37) / side as f32;
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
        grid: [side, side, 1],
        image,
        sampler: Some(sampler),
        more_images: Vec::new(),
        more_samplers: Vec::new(),
        border_table: Vec::new(),
        dmask: None,
        texels: words.into(),
        coords: Coords { columns, words: coords.into() },
        expected: None,
    }
}

/// `side` by `side` bilinear samples at random places of so many images of 64 x 64 texels by so many samplers; each sample
/// chooses at random.
#[allow(dead_code, reason = "not every benchmark runs it")]
pub fn bindless(images: u32, samplers: u32, side: u32) -> Dispatch {
    const SIZE: u32 = 64;
    let mut random = Random::new(11, 0);
    let format = TexelFormat::R10G11B11_FLOAT;
    let image = |random: &mut Random| TableImage {
        words: [
            0,
            u32::from(format.code()) << 20 | (SIZE - 1 & 3) << 30,
            (SIZE - 1) >> 2 | (SIZE - 1) << 14 | 1 << 31,
            9 << 28 | 0x3ac,
            0,
            0,
            0,
            0,
        ],
        texels: (0..SIZE * SIZE)
            .map(|_| format.pack(std::array::from_fn(|_| random.uniform(0.0, 8.0).to_bits())))
            .collect::<Vec<u32>>()
            .into(),
    };
    let TableImage { words, texels } = image(&mut random);
    let more_images: Vec<TableImage> = (1..images).map(|_| image(&mut random)).collect();
    // Edge and wrap along x and y, of which the state of a sample must know.
    let sampler = |n: u32| [n % 2 * 2 | n / 2 % 2 * 2 << 3 | n / 4 << 6, 0x00ff_f000, 0x0050_0000, 0];
    let more_samplers: Vec<[u32; 4]> = (1..samplers).map(sampler).collect();
    let mut columns = vec![Column::U, Column::V];
    columns.extend((images > 1).then_some(Column::Image));
    columns.extend((samplers > 1).then_some(Column::Sampler));
    let mut coords = Vec::new();
    for _ in 0..side * side {
        coords.extend([random.uniform(0.0, 1.0).to_bits(), random.uniform(0.0, 1.0).to_bits()]);
        coords.extend((images > 1).then(|| random.below(images)));
        coords.extend((samplers > 1).then(|| random.below(samplers)));
    }
    Dispatch {
        name: "bindless".to_owned(),
        op: Op::SAMPLE_LZ,
        grid: [side, side, 1],
        image: words,
        sampler: Some(sampler(0)),
        more_images,
        more_samplers,
        border_table: Vec::new(),
        dmask: None,
        texels,
        coords: Coords { columns, words: coords.into() },
        expected: None,
    }
}
