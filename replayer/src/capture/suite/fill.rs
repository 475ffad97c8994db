//! The dispatches of each suite.

use capture_format::{
    AnisoRatio, BorderColorType, Clamp, Column, Coords, Dispatch, FieldRangeError, FilterMode, ImageDescriptor,
    ImageType, LodSource, MipFilter, Op, OpKind, TexelFormat, Words, XyFilter,
};

use super::{
    super::{ImageSpec, Plan, SamplerSpec, Texels},
    points,
};
use crate::generate::Random;

type Made = Result<(), FieldRangeError>;

/// The address modes that Vulkan has.
const CLAMPS: [(Clamp, &str); 5] = [
    (Clamp::Wrap, "wrap"),
    (Clamp::Mirror, "mirror"),
    (Clamp::ClampLastTexel, "edge"),
    (Clamp::MirrorOnceLastTexel, "mirror-once-edge"),
    (Clamp::ClampBorder, "border"),
];

const FILTERS: [(XyFilter, &str); 2] = [(XyFilter::Point, "point"), (XyFilter::Bilinear, "linear")];

const UV: [Column; 2] = [Column::U, Column::V];
const UVW: [Column; 3] = [Column::U, Column::V, Column::W];
const UV_LOD: [Column; 3] = [Column::U, Column::V, Column::Lod];

const SAMPLE_D: Op = Op::plain(OpKind::Sample, LodSource::Derivatives);
const GATHER_LZ: Op = Op::plain(OpKind::Gather4, LodSource::Zero);

const LINEAR: XyFilter = XyFilter::Bilinear;
const POINT: XyFilter = XyFilter::Point;

/// An image ready for dispatches.
#[derive(Clone)]
struct Image {
    descriptor: [u32; 8],
    texels: Words,
}

/// Rows of operands, shared by dispatches.
#[derive(Clone)]
struct Table {
    columns: Vec<Column>,
    words: Words,
}

/// Collects dispatches.
pub struct Maker {
    samples: usize,
    random: Random,
    pub dispatches: Vec<Dispatch>,
}

impl Maker {
    pub fn new(plan: &Plan, suite: &str) -> Self {
        Self {
            samples: plan.samples.max(1),
            random: Random::new(plan.seed, xxhash_rust::xxh3::xxh3_64(suite.as_bytes())),
            dispatches: Vec::new(),
        }
    }

    fn image(&mut self, spec: &ImageSpec) -> Result<Image, FieldRangeError> {
        Ok(Image { descriptor: spec.descriptor()?, texels: spec.words(&mut self.random).into() })
    }

    fn near64(&mut self) -> Result<Image, FieldRangeError> {
        self.image(&ImageSpec::d2(64, 64, Texels::Near))
    }

    /// Random rows, each column in its bounds.
    fn random_table(&mut self, columns: &[Column], bounds: &[[f32; 2]]) -> Table {
        let words: Vec<u32> = (0..self.samples)
            .flat_map(|_| {
                bounds.iter().map(|&[low, high]| self.random.uniform(low, high).to_bits()).collect::<Vec<_>>()
            })
            .collect();
        Table { columns: columns.to_vec(), words: words.into() }
    }

    fn add(&mut self, name: &str, op: Op, image: &Image, sampler: &SamplerSpec, table: &Table) -> Made {
        let rows = (table.words.len() / table.columns.len()) as u32;
        let grid = if rows >= 128 && rows.is_multiple_of(64) { [64, rows / 64, 1] } else { [rows, 1, 1] };
        self.dispatches.push(Dispatch {
            name: name.to_owned(),
            op,
            grid,
            image: image.descriptor,
            sampler: Some(sampler.descriptor()?),
            more_images: Vec::new(),
            more_samplers: Vec::new(),
            border_table: Vec::new(),
            dmask: None,
            texels: image.texels.clone(),
            coords: Coords { columns: table.columns.clone(), words: table.words.clone() },
            expected: None,
        });
        Ok(())
    }
}

fn rows<const N: usize>(columns: [Column; N], rows: impl IntoIterator<Item = [u32; N]>) -> Table {
    let words: Vec<u32> = rows.into_iter().flatten().collect();
    Table { columns: columns.to_vec(), words: words.into() }
}

const HALF: u32 = 0x3f00_0000;

pub fn weights(m: &mut Maker) -> Made {
    let linear = SamplerSpec::plain(LINEAR);
    let count = m.samples.min(4097);
    for size in [32, 100, 7] {
        let image = m.image(&ImageSpec::d2(size, size, Texels::Alternating))?;
        let from = f64::from(size / 2) + 0.5;
        let centre = points::normalized(0.5, size);
        let sweep = points::sweep(size, from, count);
        let ties = points::ties(size, from, count.min(1024), &mut m.random);
        m.add(&format!("x-{size}"), Op::SAMPLE_LZ, &image, &linear, &rows(UV, sweep.iter().map(|&u| [u, centre])))?;
        m.add(&format!("y-{size}"), Op::SAMPLE_LZ, &image, &linear, &rows(UV, sweep.iter().map(|&v| [centre, v])))?;
        m.add(&format!("x-ties-{size}"), Op::SAMPLE_LZ, &image, &linear, &rows(UV, ties.iter().map(|&u| [u, centre])))?;
        m.add(&format!("y-ties-{size}"), Op::SAMPLE_LZ, &image, &linear, &rows(UV, ties.iter().map(|&v| [centre, v])))?;
    }
    let volume = ImageSpec { kind: ImageType::D3, size: [4, 4, 16], ..ImageSpec::d2(4, 4, Texels::Alternating) };
    let volume = m.image(&volume)?;
    let sweep = points::sweep(16, 8.5, count.min(2049));
    let centre = points::normalized(0.5, 4);
    m.add("z-16", Op::SAMPLE_LZ, &volume, &linear, &rows(UVW, sweep.iter().map(|&w| [centre, centre, w])))?;
    // Both axes off the grid at once: how the four weights are made of two.
    let image = m.near64()?;
    let table = m.random_table(&UV, &[[0.0, 1.0]; 2]);
    m.add("xy", Op::SAMPLE_LZ, &image, &linear, &table)?;
    // Far from 0, where FP32 has few fraction bits left.
    let table = m.random_table(&UV, &[[500.0, 520.0], [-40.0, -20.0]]);
    m.add("far", Op::SAMPLE_LZ, &image, &linear.clamped(Clamp::Wrap), &table)
}

pub fn point_edges(m: &mut Maker) -> Made {
    let point = SamplerSpec::plain(POINT);
    for size in [32, 100, 7, 1024] {
        let (width, height) = (size, size.min(100));
        let image = m.image(&ImageSpec::d2(width, height, Texels::Counting))?;
        let edges = points::edges(width, m.samples.min(2048), &mut m.random);
        m.add(&format!("x-{size}"), Op::SAMPLE_LZ, &image, &point, &rows(UV, edges.iter().map(|&u| [u, HALF])))?;
        if size != 1024 {
            m.add(&format!("y-{size}"), Op::SAMPLE_LZ, &image, &point, &rows(UV, edges.iter().map(|&v| [HALF, v])))?;
        }
    }
    let volume = ImageSpec { kind: ImageType::D3, size: [4, 4, 12], ..ImageSpec::d2(4, 4, Texels::Counting) };
    let volume = m.image(&volume)?;
    let edges = points::edges(12, m.samples.min(2048), &mut m.random);
    m.add("z-12", Op::SAMPLE_LZ, &volume, &point, &rows(UVW, edges.iter().map(|&w| [HALF, HALF, w])))?;
    let image = m.image(&ImageSpec::d2(32, 4, Texels::Counting))?;
    let texels = edges.iter().map(|&w| [(f32::from_bits(w) * 12.0).to_bits(), 0x3fc0_0000]);
    let unnormalized = SamplerSpec { unnormalized: true, ..point };
    m.add("x-unnormalized", Op::SAMPLE_LZ, &image, &unnormalized, &rows(UV, texels))
}

pub fn addressing(m: &mut Maker) -> Made {
    let image = m.near64()?;
    let table = m.random_table(&UV, &[[-1.5, 2.5]; 2]);
    for (clamp, clamp_name) in CLAMPS {
        for (filter, filter_name) in FILTERS {
            let sampler = SamplerSpec::plain(filter).clamped(clamp);
            m.add(&format!("{clamp_name}-{filter_name}"), Op::SAMPLE_LZ, &image, &sampler, &table)?;
        }
    }
    let mixed = SamplerSpec { clamp: [Clamp::Wrap, Clamp::ClampBorder, Clamp::Wrap], ..SamplerSpec::plain(LINEAR) };
    m.add("wrap-x-border-y", Op::SAMPLE_LZ, &image, &mixed, &table)?;
    let mixed = SamplerSpec { clamp: [Clamp::ClampLastTexel, Clamp::Mirror, Clamp::Wrap], ..mixed };
    m.add("edge-x-mirror-y", Op::SAMPLE_LZ, &image, &mixed, &table)
}

pub fn special(m: &mut Maker) -> Made {
    let image = m.image(&ImageSpec::d2(32, 32, Texels::Counting))?;
    let table = rows(UV, points::pairs(&points::SPECIAL, m.samples));
    for (clamp, clamp_name) in CLAMPS {
        for (filter, filter_name) in FILTERS {
            let border = BorderColorType::OpaqueWhite;
            let sampler = SamplerSpec { border, ..SamplerSpec::plain(filter).clamped(clamp) };
            m.add(&format!("{clamp_name}-{filter_name}"), Op::SAMPLE_LZ, &image, &sampler, &table)?;
        }
    }
    Ok(())
}

pub fn sizes(m: &mut Maker) -> Made {
    let table = m.random_table(&UV, &[[-0.5, 1.5]; 2]);
    for (width, height) in [(1, 1), (1, 9), (7, 5), (13, 11), (37, 100), (333, 2), (2000, 3), (4096, 1), (16384, 1)] {
        let texels = if width < 300 { Texels::Near } else { Texels::Counting };
        let image = m.image(&ImageSpec::d2(width, height, texels))?;
        for (filter, filter_name) in FILTERS {
            let sampler = SamplerSpec::plain(filter).clamped(Clamp::Wrap);
            m.add(&format!("{width}x{height}-{filter_name}"), Op::SAMPLE_LZ, &image, &sampler, &table)?;
        }
    }
    Ok(())
}

pub fn wide(m: &mut Maker) -> Made {
    let image = m.image(&ImageSpec::d2(64, 64, Texels::Wide))?;
    let table = m.random_table(&UV, &[[-0.5, 1.5]; 2]);
    for (clamp, name) in [(Clamp::Wrap, "wrap"), (Clamp::ClampLastTexel, "edge"), (Clamp::ClampBorder, "border")] {
        let sampler = SamplerSpec { border: BorderColorType::OpaqueWhite, ..SamplerSpec::plain(LINEAR).clamped(clamp) };
        m.add(name, Op::SAMPLE_LZ, &image, &sampler, &table)?;
    }
    let volume = ImageSpec { kind: ImageType::D3, size: [12, 10, 9], ..ImageSpec::d2(12, 10, Texels::Wide) };
    let volume = m.image(&volume)?;
    let table = m.random_table(&UVW, &[[0.0, 1.0]; 3]);
    m.add("3d", Op::SAMPLE_LZ, &volume, &SamplerSpec::plain(LINEAR).clamped(Clamp::Wrap), &table)?;
    let levels = m.image(&ImageSpec::d2(32, 32, Texels::Wide).with_all_levels())?;
    let table = m.random_table(&UV_LOD, &[[0.0, 1.0], [0.0, 1.0], [0.0, 3.0]]);
    let trilinear = SamplerSpec { mip: MipFilter::Linear, ..SamplerSpec::plain(LINEAR).clamped(Clamp::Wrap) };
    m.add("trilinear", Op::SAMPLE_L, &levels, &trilinear, &table)
}

pub fn non_finite(m: &mut Maker) -> Made {
    let spec = ImageSpec::d2(32, 32, Texels::NonFinite).with_all_levels();
    let image = m.image(&spec)?;
    let table = m.random_table(&UV_LOD, &[[0.0, 1.0], [0.0, 1.0], [-0.5, 3.0]]);
    // Every second coordinate on a texel's centre, where the other tap has weight 0.
    let mut words = table.words.to_vec();
    for (n, row) in words.chunks_exact_mut(3).enumerate() {
        for (axis, word) in row[..2].iter_mut().enumerate() {
            if n >> axis & 1 == 1 {
                let texel = (f32::from_bits(*word) * 32.0).floor() + 0.5;
                *word = (texel / 32.0).to_bits();
            }
        }
    }
    let table = Table { words: words.into(), ..table };
    let plain = SamplerSpec::plain(LINEAR).clamped(Clamp::Wrap);
    let trilinear = SamplerSpec { mip: MipFilter::Linear, ..plain };
    m.add("linear", Op::SAMPLE_L, &image, &plain, &table)?;
    m.add("trilinear", Op::SAMPLE_L, &image, &trilinear, &table)?;
    m.add("min", Op::SAMPLE_L, &image, &SamplerSpec { mode: FilterMode::Min, ..plain }, &table)?;
    m.add("max", Op::SAMPLE_L, &image, &SamplerSpec { mode: FilterMode::Max, ..plain }, &table)?;
    m.add("point", Op::SAMPLE_L, &image, &SamplerSpec::plain(POINT), &table)
}

/// Levels of detail: random ones, ties of 1/256 and beside them, halves and beside them, special values.
fn lod_values(m: &mut Maker, low: f32, high: f32) -> Vec<u32> {
    let mut lods: Vec<u32> = points::SPECIAL.to_vec();
    while lods.len() < m.samples.max(points::SPECIAL.len()) {
        let random = m.random.uniform(low, high);
        let beside = 0.5f32.powi(9 + m.random.below(10) as i32) * (m.random.below(3) as f32 - 1.0);
        lods.push(
            match m.random.below(4) {
                0 | 1 => random,
                2 => ((random * 256.0).floor() + 0.5) / 256.0 + beside,
                _ => (random * 2.0).floor() / 2.0 + beside,
            }
            .to_bits(),
        );
    }
    lods.truncate(m.samples.max(1));
    lods
}

fn lod_table(m: &mut Maker, low: f32, high: f32) -> Table {
    let words: Vec<u32> = lod_values(m, low, high)
        .into_iter()
        .flat_map(|lod| [m.random.uniform(0.0, 1.0).to_bits(), m.random.uniform(0.0, 1.0).to_bits(), lod])
        .collect();
    Table { columns: UV_LOD.to_vec(), words: words.into() }
}

fn lods_of(m: &mut Maker, image: &Image, name: &str, table: &Table, base: SamplerSpec) -> Made {
    for (mip, mip_name) in [(MipFilter::Point, "mip-point"), (MipFilter::Linear, "mip-linear")] {
        let sampler = SamplerSpec { mip, ..base };
        m.add(&format!("{name}-{mip_name}"), Op::SAMPLE_L, image, &sampler, table)?;
    }
    Ok(())
}

pub fn lods(m: &mut Maker) -> Made {
    let image = m.image(&ImageSpec::d2(64, 64, Texels::Near).with_all_levels())?;
    let table = lod_table(m, -1.0, 7.0);
    for (filter, name) in FILTERS {
        lods_of(m, &image, name, &table, SamplerSpec::plain(filter).clamped(Clamp::Wrap))?;
    }
    let odd = m.image(&ImageSpec::d2(100, 37, Texels::Near).with_all_levels())?;
    lods_of(m, &odd, "100x37", &table, SamplerSpec::plain(LINEAR).clamped(Clamp::Wrap))?;
    // Where minification begins.
    let words = lod_values(m, -0.02, 0.02);
    let near_zero = words.into_iter().flat_map(|lod| [m.random.uniform(0.0, 1.0).to_bits(), HALF, lod]);
    let near_zero = Table { columns: UV_LOD.to_vec(), words: near_zero.collect::<Vec<_>>().into() };
    let unequal = SamplerSpec { mag: POINT, ..SamplerSpec::plain(LINEAR) };
    m.add("mag-point", Op::SAMPLE_L, &image, &unequal, &near_zero)?;
    m.add("mag-linear", Op::SAMPLE_L, &image, &SamplerSpec { mag: LINEAR, min: POINT, ..unequal }, &near_zero)
}

pub fn clamps(m: &mut Maker) -> Made {
    let image = m.image(&ImageSpec::d2(64, 64, Texels::Near).with_all_levels())?;
    let table = lod_table(m, -3.0, 8.0);
    let base = SamplerSpec::plain(LINEAR).clamped(Clamp::Wrap);
    for (name, lods, bias) in [
        ("bias-0.75", [0, 0xfff], 192),
        ("bias-minus-0.5", [0, 0xfff], -128),
        ("bias-3-256ths", [0, 0xfff], 3),
        ("clamp-0.6-3.3", [154, 845], 0),
        ("bias-and-clamp", [154, 845], -77),
        ("clamp-2-2", [512, 512], 0),
    ] {
        lods_of(m, &image, name, &table, SamplerSpec { lods, bias, ..base })?;
    }
    let unequal = SamplerSpec { mag: POINT, bias: 1, ..base };
    m.add("unequal-bias", Op::SAMPLE_L, &image, &unequal, &table)
}

pub fn volumes(m: &mut Maker) -> Made {
    let spec = ImageSpec { kind: ImageType::D3, size: [16, 8, 4], ..ImageSpec::d2(16, 8, Texels::Near) };
    let image = m.image(&spec)?;
    let table = m.random_table(&UVW, &[[-1.5, 2.5]; 3]);
    for (clamp, clamp_name) in CLAMPS {
        for (filter, filter_name) in FILTERS {
            let sampler = SamplerSpec::plain(filter).clamped(clamp);
            m.add(&format!("{clamp_name}-{filter_name}"), Op::SAMPLE_LZ, &image, &sampler, &table)?;
        }
    }
    let odd = ImageSpec { size: [9, 5, 7], ..spec };
    let image = m.image(&odd)?;
    m.add("9x5x7", Op::SAMPLE_LZ, &image, &SamplerSpec::plain(LINEAR).clamped(Clamp::Wrap), &table)?;
    let image = m.image(&odd.with_all_levels())?;
    let columns = [Column::U, Column::V, Column::W, Column::Lod];
    let table = m.random_table(&columns, &[[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [-0.5, 3.0]]);
    lods_of(m, &image, "9x5x7-levels", &table, SamplerSpec::plain(LINEAR).clamped(Clamp::Wrap))
}

pub fn arrays(m: &mut Maker) -> Made {
    let linear = SamplerSpec::plain(LINEAR).clamped(Clamp::Wrap);
    let mut layers: Vec<u32> = points::SPECIAL.to_vec();
    while layers.len() < m.samples.min(1024) {
        let half = m.random.below(14) as f32 / 2.0 - 1.0;
        let beside = 0.5f32.powi(3 + m.random.below(20) as i32) * (m.random.below(3) as f32 - 1.0);
        layers.push((half + beside).to_bits());
    }
    let array = ImageSpec { kind: ImageType::D2Array, layers: 5, ..ImageSpec::d2(8, 8, Texels::Near) };
    let image = m.image(&array)?;
    let columns = [Column::U, Column::V, Column::Layer];
    let layer_rows: Vec<[u32; 3]> = layers
        .iter()
        .map(|&layer| [m.random.uniform(0.0, 1.0).to_bits(), m.random.uniform(0.0, 1.0).to_bits(), layer])
        .collect();
    m.add("2d-layers", Op::SAMPLE_LZ, &image, &SamplerSpec::plain(POINT), &rows(columns, layer_rows.clone()))?;
    m.add("2d-layers-linear", Op::SAMPLE_LZ, &image, &linear, &rows(columns, layer_rows))?;
    let line =
        ImageSpec { kind: ImageType::D1Array, size: [16, 1, 1], layers: 6, ..ImageSpec::d2(16, 1, Texels::Near) };
    let image = m.image(&line)?;
    let layer_rows: Vec<[u32; 2]> = layers.iter().map(|&layer| [m.random.uniform(0.0, 1.0).to_bits(), layer]).collect();
    m.add("1d-layers", Op::SAMPLE_LZ, &image, &linear, &rows([Column::U, Column::Layer], layer_rows))?;
    let line = ImageSpec { kind: ImageType::D1, size: [50, 1, 1], ..ImageSpec::d2(50, 1, Texels::Near) };
    let table = m.random_table(&[Column::U], &[[-1.5, 2.5]]);
    let image = m.image(&line)?;
    m.add("1d", Op::SAMPLE_LZ, &image, &linear, &table)?;
    let image = m.image(&line.with_all_levels())?;
    let table = m.random_table(&[Column::U, Column::Lod], &[[-1.5, 2.5], [-0.5, 5.0]]);
    lods_of(m, &image, "1d-levels", &table, linear)
}

pub fn cubes(m: &mut Maker) -> Made {
    let cube = ImageSpec { kind: ImageType::Cube, layers: 6, ..ImageSpec::d2(16, 16, Texels::Near) };
    let image = m.image(&cube)?;
    let faces = |m: &mut Maker, low: f32, high: f32| {
        let rows: Vec<[u32; 3]> = (0..m.samples)
            .map(|_| {
                let at = |m: &mut Maker| m.random.uniform(low, high).max(1.0000002).to_bits();
                [at(m), at(m), (m.random.below(6) as f32).to_bits()]
            })
            .collect();
        rows
    };
    let columns = [Column::S, Column::T, Column::Face];
    let inside = rows(columns, faces(m, 1.04, 1.96));
    let anywhere = rows(columns, faces(m, 1.0, 2.0));
    for (filter, name) in FILTERS {
        let sampler = SamplerSpec::plain(filter);
        m.add(&format!("inside-{name}"), Op::SAMPLE_LZ, &image, &sampler, &inside)?;
        m.add(&format!("anywhere-{name}"), Op::SAMPLE_LZ, &image, &sampler, &anywhere)?;
    }
    let directions = m.random_table(&[Column::Rx, Column::Ry, Column::Rz], &[[-1.0, 1.0]; 3]);
    for (filter, name) in FILTERS {
        m.add(&format!("directions-{name}"), Op::SAMPLE_LZ, &image, &SamplerSpec::plain(filter), &directions)?;
    }
    // Around an edge and a corner, a texel's width to each side.
    let seams: Vec<[u32; 3]> = (0..m.samples)
        .map(|_| {
            let near = m.random.uniform(0.86, 1.0);
            let other = if m.random.below(2) == 0 { m.random.uniform(0.86, 1.0) } else { m.random.uniform(-1.0, 1.0) };
            let mut direction = [1.0, near, other].map(|x| if m.random.below(2) == 0 { x } else { -x });
            direction.rotate_left(m.random.below(3) as usize);
            direction.map(f32::to_bits)
        })
        .collect();
    let seams = rows([Column::Rx, Column::Ry, Column::Rz], seams);
    m.add("seams-linear", Op::SAMPLE_LZ, &image, &SamplerSpec::plain(LINEAR), &seams)?;
    m.add("seams-point", Op::SAMPLE_LZ, &image, &SamplerSpec::plain(POINT), &seams)?;
    let flat = m.image(&ImageSpec { texels: Texels::Counting, ..cube })?;
    m.add("seams-gather", GATHER_LZ, &flat, &SamplerSpec::plain(POINT), &seams)?;
    let array = m.image(&ImageSpec { layers: 18, size: [8, 8, 1], ..cube })?;
    let columns = [Column::Rx, Column::Ry, Column::Rz, Column::Layer];
    let table = m.random_table(&columns, &[[-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0], [-0.9, 3.4]]);
    m.add("array-linear", Op::SAMPLE_LZ, &array, &SamplerSpec::plain(LINEAR), &table)?;
    let levels = m.image(&cube.with_all_levels())?;
    let columns = [Column::S, Column::T, Column::Face, Column::Lod];
    let lods = lod_values(m, -0.5, 4.5);
    let face_rows = faces(m, 1.0, 2.0).into_iter().zip(lods).map(|([s, t, face], lod)| [s, t, face, lod]);
    let table = rows(columns, face_rows.collect::<Vec<_>>());
    lods_of(m, &levels, "levels", &table, SamplerSpec::plain(LINEAR))
}

pub fn gathers(m: &mut Maker) -> Made {
    let image = m.near64()?;
    let table = m.random_table(&UV, &[[-1.5, 2.5]; 2]);
    for channel in 0..4u8 {
        m.add(&format!("wrap-{channel}"), GATHER_LZ, &image, &SamplerSpec::plain(LINEAR).clamped(Clamp::Wrap), &table)?;
        if let Some(dispatch) = m.dispatches.last_mut() {
            dispatch.dmask = Some(1 << channel);
        }
    }
    for (clamp, name) in CLAMPS.into_iter().skip(1) {
        let sampler = SamplerSpec { border: BorderColorType::OpaqueWhite, ..SamplerSpec::plain(POINT).clamped(clamp) };
        m.add(&format!("{name}-point-filter"), GATHER_LZ, &image, &sampler, &table)?;
    }
    let image = m.image(&ImageSpec::d2(32, 32, Texels::Counting))?;
    let edges = points::edges(32, m.samples.min(2048), &mut m.random);
    let halves = points::ties(32, 3.0, m.samples.min(2048), &mut m.random);
    let sampler = SamplerSpec::plain(LINEAR);
    m.add("edges", GATHER_LZ, &image, &sampler, &rows(UV, edges.iter().map(|&u| [u, HALF])))?;
    m.add("ties", GATHER_LZ, &image, &sampler, &rows(UV, halves.iter().map(|&v| [HALF, v])))?;
    let array = ImageSpec { kind: ImageType::D2Array, layers: 3, ..ImageSpec::d2(13, 9, Texels::Near) };
    let image = m.image(&array)?;
    let columns = [Column::U, Column::V, Column::Layer];
    let table = m.random_table(&columns, &[[-0.5, 1.5], [-0.5, 1.5], [-0.5, 3.0]]);
    m.add("array", GATHER_LZ, &image, &sampler.clamped(Clamp::Wrap), &table)
}

pub fn borders(m: &mut Maker) -> Made {
    let image = m.near64()?;
    // Format 36 needs no view swizzle, of which Vulkan does not say whether it applies to a custom border.
    let mut own_order = image.clone();
    own_order.descriptor =
        ImageDescriptor::from_words(own_order.descriptor).with_format(TexelFormat::R11G11B10_FLOAT.code())?.words();
    let table = m.random_table(&UV, &[[-0.05, 1.05]; 2]);
    let built_in = [
        (BorderColorType::TransparentBlack, "transparent-black"),
        (BorderColorType::OpaqueBlack, "opaque-black"),
        (BorderColorType::OpaqueWhite, "opaque-white"),
    ];
    for (filter, filter_name) in FILTERS {
        let base = SamplerSpec::plain(filter).clamped(Clamp::ClampBorder);
        for (border, name) in built_in {
            m.add(&format!("{name}-{filter_name}"), Op::SAMPLE_LZ, &image, &SamplerSpec { border, ..base }, &table)?;
        }
        for (n, colour) in
            [[0.3, 2.5, 700.0, 0.25], [1.0 / 3.0, 1e-6, 65000.0, 1.0], [-0.7, 1e6, 0.0, -1.0]].iter().enumerate()
        {
            let sampler = SamplerSpec { border: BorderColorType::Register, ..base };
            m.add(&format!("table-{n}-{filter_name}"), Op::SAMPLE_LZ, &own_order, &sampler, &table)?;
            if let Some(dispatch) = m.dispatches.last_mut() {
                dispatch.border_table = vec![colour.map(f32::to_bits)];
            }
        }
    }
    // Alpha of the view shown: what the border has in a channel that the format lacks.
    let mut shows_w = image;
    shows_w.descriptor =
        ImageDescriptor::from_words(shows_w.descriptor).with_dst_sel_w(capture_format::DstSel::W).words();
    for (border, name) in built_in {
        let sampler = SamplerSpec { border, ..SamplerSpec::plain(LINEAR).clamped(Clamp::ClampBorder) };
        m.add(&format!("{name}-w"), Op::SAMPLE_LZ, &shows_w, &sampler, &table)?;
    }
    Ok(())
}

pub fn min_max(m: &mut Maker) -> Made {
    let image = m.image(&ImageSpec::d2(64, 64, Texels::Near).with_all_levels())?;
    let table = m.random_table(&UV_LOD, &[[-0.5, 1.5], [-0.5, 1.5], [-0.5, 4.0]]);
    for (mode, name) in [(FilterMode::Min, "min"), (FilterMode::Max, "max")] {
        for (clamp, clamp_name) in
            [(Clamp::Wrap, "wrap"), (Clamp::ClampLastTexel, "edge"), (Clamp::ClampBorder, "border")]
        {
            let base = SamplerSpec { mode, ..SamplerSpec::plain(LINEAR).clamped(clamp) };
            m.add(&format!("{name}-{clamp_name}"), Op::SAMPLE_L, &image, &base, &table)?;
        }
        let trilinear = SamplerSpec { mode, mip: MipFilter::Linear, ..SamplerSpec::plain(LINEAR).clamped(Clamp::Wrap) };
        m.add(&format!("{name}-trilinear"), Op::SAMPLE_L, &image, &trilinear, &table)?;
    }
    Ok(())
}

pub fn unnormalized(m: &mut Maker) -> Made {
    let image = m.near64()?;
    let table = m.random_table(&UV, &[[-8.0, 72.0]; 2]);
    let special = rows(UV, points::pairs(&points::SPECIAL, m.samples));
    for (clamp, clamp_name) in [(Clamp::ClampLastTexel, "edge"), (Clamp::ClampBorder, "border")] {
        for (filter, filter_name) in FILTERS {
            let sampler = SamplerSpec { unnormalized: true, ..SamplerSpec::plain(filter).clamped(clamp) };
            m.add(&format!("{clamp_name}-{filter_name}"), Op::SAMPLE_LZ, &image, &sampler, &table)?;
            m.add(&format!("{clamp_name}-{filter_name}-special"), Op::SAMPLE_LZ, &image, &sampler, &special)?;
        }
    }
    Ok(())
}

pub fn offsets(m: &mut Maker) -> Made {
    let image = m.image(&ImageSpec::d2(32, 32, Texels::Counting))?;
    let offsets: Vec<u32> = [(0, 0), (1, 0), (0, -1), (7, 7), (-8, -8), (3, -5)]
        .map(|(x, y): (i32, i32)| (x & 0x3f | (y & 0x3f) << 8) as u32)
        .to_vec();
    let columns = [Column::U, Column::V, Column::Offset];
    let table: Vec<[u32; 3]> = (0..m.samples.min(1024))
        .map(|_| {
            [m.random.uniform(-0.5, 1.5).to_bits(), m.random.uniform(-0.5, 1.5).to_bits(), m.random.pick(&offsets)]
        })
        .collect();
    let table = rows(columns, table);
    let with_offset = |op: Op| Op { offset: true, ..op };
    for (clamp, name) in CLAMPS {
        let sampler = SamplerSpec::plain(LINEAR).clamped(clamp);
        m.add(&format!("{name}-linear"), with_offset(Op::SAMPLE_LZ), &image, &sampler, &table)?;
    }
    m.add("wrap-point", with_offset(Op::SAMPLE_LZ), &image, &SamplerSpec::plain(POINT).clamped(Clamp::Wrap), &table)?;
    m.add("wrap-gather", with_offset(GATHER_LZ), &image, &SamplerSpec::plain(POINT).clamped(Clamp::Wrap), &table)
}

pub fn views(m: &mut Maker) -> Made {
    let array = ImageSpec { kind: ImageType::D2Array, layers: 5, levels: 5, ..ImageSpec::d2(24, 18, Texels::Near) };
    let mut image = m.image(&array)?;
    image.descriptor = ImageDescriptor::from_words(image.descriptor)
        .with_base_level(1)?
        .with_last_level(3)?
        .with_base_array(2)?
        .words();
    let columns = [Column::U, Column::V, Column::Layer, Column::Lod];
    let table = m.random_table(&columns, &[[0.0, 1.0], [0.0, 1.0], [-1.0, 5.0], [-0.5, 4.5]]);
    lods_of(m, &image, "levels-1-3-layers-2-4", &table, SamplerSpec::plain(LINEAR).clamped(Clamp::Wrap))
}

pub fn formats(m: &mut Maker) -> Made {
    let centres: Vec<[u32; 2]> = (0..2048u32)
        .map(|n| [points::normalized(f64::from(n % 64) + 0.5, 64), points::normalized(f64::from(n / 64) + 0.5, 32)])
        .collect();
    let centres = rows(UV, centres);
    let table = m.random_table(&UV, &[[-0.5, 1.5]; 2]);
    for format in [TexelFormat::R10G11B11_FLOAT, TexelFormat::R11G11B10_FLOAT] {
        let code = format.code();
        let codes = m.image(&ImageSpec { format, ..ImageSpec::d2(64, 32, Texels::Codes) })?;
        m.add(&format!("{code}-codes"), Op::SAMPLE_LZ, &codes, &SamplerSpec::plain(POINT), &centres)?;
        let image = m.image(&ImageSpec { format, ..ImageSpec::d2(32, 32, Texels::Wide) })?;
        m.add(
            &format!("{code}-linear"),
            Op::SAMPLE_LZ,
            &image,
            &SamplerSpec::plain(LINEAR).clamped(Clamp::Wrap),
            &table,
        )?;
    }
    let image = m.image(&ImageSpec { format: TexelFormat::R32_UINT, ..ImageSpec::d2(32, 32, Texels::Wide) })?;
    m.add("20-point", Op::SAMPLE_LZ, &image, &SamplerSpec::plain(POINT).clamped(Clamp::Wrap), &table)?;
    m.add("20-gather", GATHER_LZ, &image, &SamplerSpec::plain(POINT).clamped(Clamp::Wrap), &table)
}

/// Coordinates with derivatives in texels of a 64 × 64 image: along one axis, isotropic, skewed.
fn gradient_table(m: &mut Maker, skew: bool) -> Table {
    let columns = [Column::U, Column::V, Column::Dudx, Column::Dvdx, Column::Dudy, Column::Dvdy];
    let table: Vec<[u32; 6]> = (0..m.samples)
        .map(|_| {
            let length = |m: &mut Maker| m.random.uniform(-1.5, 6.5).exp2() / 64.0;
            let sign = |m: &mut Maker, x: f32| if m.random.below(2) == 0 { x } else { -x };
            let a = length(m);
            let derivatives = match (skew, m.random.below(4)) {
                (false, 0 | 1) => [a, 0.0, 0.0, 0.0],
                (false, 2) => [0.0, 0.0, 0.0, a],
                (false, _) => [a, 0.0, 0.0, a],
                (true, _) => {
                    let b = length(m);
                    let e = m.random.uniform(0.0, 1.0) / 64.0;
                    let angle = m.random.uniform(0.0, 6.3);
                    let (c, d) = (a * angle.cos(), a * angle.sin());
                    [c, d, sign(m, b), sign(m, e)]
                }
            };
            let [dudx, dvdx, dudy, dvdy] = derivatives.map(f32::to_bits);
            [m.random.uniform(0.0, 1.0).to_bits(), m.random.uniform(0.0, 1.0).to_bits(), dudx, dvdx, dudy, dvdy]
        })
        .collect();
    rows(columns, table)
}

pub fn gradients(m: &mut Maker) -> Made {
    let image = m.image(&ImageSpec::d2(64, 64, Texels::Near).with_all_levels())?;
    for (skew, name) in [(false, "axes"), (true, "skewed")] {
        let table = gradient_table(m, skew);
        for (mip, mip_name) in [(MipFilter::Point, "mip-point"), (MipFilter::Linear, "mip-linear")] {
            let sampler = SamplerSpec { mip, ..SamplerSpec::plain(POINT).clamped(Clamp::Wrap) };
            m.add(&format!("{name}-{mip_name}"), SAMPLE_D, &image, &sampler, &table)?;
        }
    }
    Ok(())
}

pub fn anisotropy(m: &mut Maker) -> Made {
    let image = m.image(&ImageSpec::d2(64, 64, Texels::Near).with_all_levels())?;
    let tables = [(gradient_table(m, false), "axes"), (gradient_table(m, true), "skewed")];
    for (ratio, ratio_name) in [(AnisoRatio::X2, "2"), (AnisoRatio::X4, "4"), (AnisoRatio::X16, "16")] {
        for (table, name) in &tables {
            let base = SamplerSpec::plain(XyFilter::AnisoBilinear).clamped(Clamp::Wrap);
            let sampler = SamplerSpec { mip: MipFilter::Linear, ratio, ..base };
            m.add(&format!("{name}-{ratio_name}"), SAMPLE_D, &image, &sampler, table)?;
        }
    }
    Ok(())
}
