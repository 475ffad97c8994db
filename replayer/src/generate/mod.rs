//! Seeded random dispatches that reach every state that is modelled.
//!
//! A dispatch depends on its seed and index alone, so runs can be split, resumed and repeated. Dispatches share states (S#,
//! T# fields and instruction): dispatch `i` has state `i % states`, each with sizes, texels and operands of its own.

mod random;
mod tables;
mod tally;

use capture_format::{
    AnisoRatio, BcSwizzle, BorderColorType, Clamp, Column, Coords, Dispatch, DstSel, FilterMode, ImageDescriptor,
    ImageType, LodSource, MipFilter, Op, OpKind, SamplerDescriptor, TexelFormat, XyFilter, ZFilter,
};

pub use random::Random;
pub use tally::Tally;

use crate::{
    rules::Profile,
    state::{State, View},
};

/// What is generated.
#[derive(Clone, Debug)]
pub struct Generator {
    /// Names the sequence.
    pub seed: u64,
    /// Number of states that dispatches cycle through.
    pub states: u64,
    /// Samples in a dispatch along x and y; both must be even, so that quads are whole.
    pub grid: [u32; 2],
    /// Profiles to draw from; must not be empty.
    pub profiles: Vec<Profile>,
    /// One in so many dispatches has tables of descriptors; 0: none. On a device each of these is a pipeline of its own.
    pub tables: u32,
}

/// A generated dispatch with the profile it is to be run under.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The dispatch, without an oracle.
    pub dispatch: Dispatch,
    /// The profile.
    pub profile: Profile,
}

/// The part of a dispatch that many dispatches share.
struct SharedState {
    profile: Profile,
    op: Op,
    view: View,
    format: TexelFormat,
    sampler: SamplerDescriptor,
    /// T# without sizes.
    image: ImageDescriptor,
    levels: u32,
    base_level: u32,
    last_level: u32,
    border_table: Vec<[u32; 4]>,
    dmask: u8,
    layers: u32,
    base_layer: u32,
    image_min_lod: u32,
}

impl Generator {
    /// The profiles of GPUs and the textbook, with 8 x 8 samples a dispatch. (A CPU's sampler takes samples in groups, which
    /// costs, and filters some states in a way that the emulated path does not have.)
    #[must_use]
    pub fn new(seed: u64, states: u64) -> Self {
        let profiles = vec![Profile::GFX1035, Profile::H200, Profile::EXACT];
        Self { seed, states: states.max(1), grid: [8, 8], profiles, tables: 64 }
    }

    /// The dispatch of an index.
    #[must_use]
    pub fn dispatch(&self, index: u64) -> Generated {
        let state = self.state(index % self.states);
        let mut random = Random::new(self.seed ^ 0x5eed_d15b, index);
        let (image, size, layers) = sizes(&mut random, &state);
        let texels: Vec<u32> =
            (0..texel_count(size, layers, state.levels)).map(|_| texel(&mut random, state.format)).collect();
        let mut columns = State::operands(state.op, state.view);
        let by_direction = state.view == View::Cube
            && state.op.kind != OpKind::Load
            && state.op.lod != LodSource::Derivatives
            && random.one_in(4);
        if by_direction {
            columns.retain(|column| !matches!(column, Column::S | Column::T | Column::Face));
            columns.splice(..0, [Column::Rx, Column::Ry, Column::Rz]);
            if layers > 6 {
                columns.push(Column::Layer);
            }
        }
        let samples = self.grid[0] * self.grid[1];
        let mut words = Vec::with_capacity(samples as usize * columns.len());
        // With implicit derivatives half of the dispatches have coordinates in steps, as a surface gives them.
        let implicit = matches!(state.op.lod, LodSource::Implicit | LodSource::Bias);
        let surface = (implicit && random.one_in(2)).then(|| Surface::new(&mut random, size, state.sampler));
        for sample in 0..samples {
            let mut axis = 0;
            for &column in &columns {
                words.push(match column {
                    Column::U | Column::V | Column::W | Column::S | Column::T => {
                        axis += 1;
                        match &surface {
                            Some(surface) => surface.coordinate(axis - 1, sample % self.grid[0], sample / self.grid[0]),
                            None if state.view == View::Cube => face_coordinate(&mut random, size[0]),
                            None => coordinate(&mut random, size[axis - 1], state.sampler.force_unnormalized()),
                        }
                    }
                    Column::X | Column::Y | Column::Z => {
                        axis += 1;
                        index_operand(&mut random, size[axis - 1])
                    }
                    Column::Layer | Column::Face if state.op.kind == OpKind::Load => index_operand(&mut random, layers),
                    Column::Layer => layer_operand(&mut random, layers),
                    Column::Face => face_operand(&mut random, layers),
                    Column::Lod if state.op.kind == OpKind::Load => index_operand(&mut random, state.levels),
                    Column::Lod | Column::Clamp => lod_operand(&mut random, state.levels),
                    Column::Bias => lod_operand(&mut random, 2),
                    Column::Offset => random.bits(),
                    // Chosen for the whole dispatch, where there are tables.
                    Column::Image | Column::Sampler => 0,
                    Column::Rx | Column::Ry | Column::Rz => direction_operand(&mut random),
                    Column::Dudx | Column::Dvdx | Column::Dwdx | Column::Dudy | Column::Dvdy | Column::Dwdy => {
                        derivative(&mut random, size[0])
                    }
                });
            }
        }
        let mut dispatch = Dispatch {
            name: format!("random-{:x}-{index}", self.seed),
            op: state.op,
            grid: [self.grid[0], self.grid[1], 1],
            image: image.words(),
            sampler: (state.op.kind != OpKind::Load).then(|| state.sampler.words()),
            more_images: Vec::new(),
            more_samplers: Vec::new(),
            border_table: state.border_table.clone(),
            dmask: (state.op.kind == OpKind::Gather4).then_some(state.dmask),
            texels: texels.into(),
            coords: Coords { columns, words: words.into() },
            expected: None,
        };
        // A sequence of its own: dispatches without tables are what they are whatever tables hold.
        let mut random = Random::new(self.seed ^ 0x7ab1_e000, index);
        if self.tables > 0 && random.one_in(self.tables) {
            tables::add(&mut random, &state, &mut dispatch);
        }
        Generated { dispatch, profile: state.profile }
    }

    fn state(&self, number: u64) -> SharedState {
        let mut random = Random::new(self.seed ^ 0x57a7_e000, number);
        let random = &mut random;
        let profile = self.profiles[random.below(self.profiles.len() as u32) as usize].clone();
        let view = random.pick(&VIEWS);
        let ops: Vec<Op> = Op::all().filter(|op| is_modelled(*op, view)).collect();
        // Samples are four times as likely as the rest: they have by far the most states.
        let wants_sample = !random.one_in(4);
        let ops: Vec<Op> = ops.iter().copied().filter(|op| (op.kind == OpKind::Sample) == wants_sample).collect();
        let op = random.pick(&ops);
        let formats: Vec<TexelFormat> = TexelFormat::all()
            .filter(|f| {
                profile.rules.accumulation.aligned_bits().is_none()
                    || f.kind().is_integer()
                    || matches!(f.code(), 36 | 43)
            })
            .collect();
        let format = if random.one_in(2) { random.pick(&formats) } else { random.pick(&FLOATS) };
        let levels = if random.one_in(3) { 1 } else { 1 + random.below(5) };
        let base_level = if random.one_in(2) { 0 } else { random.below(levels) };
        let last_level = base_level + random.below(levels - base_level);
        let unnormalized = random.one_in(8) && !op.offset && !matches!(view, View::Cube);
        let sampler = sampler(random, op, view, format, unnormalized, levels);
        let border_table = if sampler.border_color_type() == BorderColorType::Register {
            (0..4).map(|_| border_color(random, format)).collect()
        } else {
            Vec::new()
        };
        let image = image(random, view, format);
        let layers = match view {
            View::Cube => 6 * (1 + random.below(2)),
            view if view.is_layered() => 1 + random.below(5),
            _ => 1,
        };
        let base_layer = match view {
            View::Cube => layers - 6,
            _ if random.one_in(2) => 0,
            _ => random.below(layers),
        };
        let image_min_lod = if random.one_in(4) { random.below(256 * levels) } else { 0 };
        SharedState {
            profile,
            op,
            view,
            format,
            sampler,
            image,
            levels,
            base_level,
            last_level,
            border_table,
            dmask: 1 << random.below(4),
            layers,
            base_layer,
            image_min_lod,
        }
    }
}

const VIEWS: [View; 6] = View::ALL;

const FLOATS: [TexelFormat; 2] = [TexelFormat::R10G11B11_FLOAT, TexelFormat::R11G11B10_FLOAT];

/// Whether the model covers an instruction on a view.
#[must_use]
pub fn is_modelled(op: Op, view: View) -> bool {
    let offset_on_cube = op.offset && view == View::Cube;
    let gather_elsewhere = op.kind == OpKind::Gather4 && matches!(view, View::D1 | View::D1Array | View::D3);
    !(op.compare || offset_on_cube || gather_elsewhere)
}

fn sampler(
    random: &mut Random,
    op: Op,
    view: View,
    format: TexelFormat,
    unnormalized: bool,
    levels: u32,
) -> SamplerDescriptor {
    let integer = format.kind().is_integer();
    let clamps: Vec<Clamp> = Clamp::ALL
        .iter()
        .copied()
        .filter(|c| !unnormalized || !matches!(c, Clamp::Wrap | Clamp::Mirror | Clamp::MirrorOnceLastTexel))
        .collect();
    let xy = |random: &mut Random| if integer || random.one_in(4) { XyFilter::Point } else { XyFilter::Bilinear };
    let mag = xy(random);
    let min = if random.one_in(4) { xy(random) } else { mag };
    let anisotropic = random.one_in(3) && !integer;
    let aniso = |filter: XyFilter| match filter {
        XyFilter::Point => XyFilter::AnisoPoint,
        _ => XyFilter::AnisoBilinear,
    };
    let (mag, min) = if anisotropic { (aniso(mag), aniso(min)) } else { (mag, min) };
    let z = match view {
        View::D3 if integer => random.pick(&[ZFilter::None, ZFilter::Point]),
        View::D3 => random.pick(&[ZFilter::None, ZFilter::Point, ZFilter::Linear]),
        // Without slices the field has no effect.
        _ => random.pick(&[ZFilter::None, ZFilter::None, ZFilter::Point, ZFilter::Linear]),
    };
    let mip = match (unnormalized, integer) {
        (true, _) => MipFilter::None,
        (_, true) => random.pick(&[MipFilter::None, MipFilter::Point]),
        _ => random.pick(&[MipFilter::None, MipFilter::Point, MipFilter::Linear, MipFilter::Linear]),
    };
    let mode = if random.one_in(5) { random.pick(&[FilterMode::Min, FilterMode::Max]) } else { FilterMode::Blend };
    let border = random.pick(&BorderColorType::ALL);
    let clamp_x = random.pick(&clamps);
    let clamp_y = if random.one_in(2) { clamp_x } else { random.pick(&clamps) };
    let clamp_z = random.pick(&clamps);
    let plain = SamplerDescriptor::default()
        .with_clamp_x(clamp_x)
        .with_clamp_y(clamp_y)
        .with_clamp_z(clamp_z)
        .with_max_aniso_ratio(if anisotropic { AnisoRatio::from_bits(random.below(5)) } else { AnisoRatio::X1 })
        .with_aniso_override(random.one_in(4))
        .with_disable_cube_wrap(random.one_in(3))
        .with_mip_point_preclamp(random.one_in(3))
        .with_force_unnormalized(unnormalized)
        .with_trunc_coord(random.one_in(3))
        .with_filter_mode(mode)
        .with_xy_mag_filter(mag)
        .with_xy_min_filter(min)
        .with_z_filter(z)
        .with_mip_filter(mip)
        .with_border_color_type(border);
    let (mut min_lod, mut max_lod) = (0, 0xfff);
    if random.one_in(3) {
        min_lod = random.below(256 * levels);
    }
    if random.one_in(3) {
        max_lod = random.below(256 * levels);
    }
    let bias = match random.below(4) {
        0 if op.kind != OpKind::Load => random.below(1024) as i32 - 512,
        1 => 128 * (random.below(5) as i32 - 2),
        _ => 0,
    };
    let fields = [
        (&SamplerDescriptor::MIN_LOD, min_lod),
        (&SamplerDescriptor::MAX_LOD, max_lod),
        (&SamplerDescriptor::LOD_BIAS, bias as u32 & 0x3fff),
        (&SamplerDescriptor::LOD_BIAS_SEC, if random.one_in(4) { random.below(64) } else { 0 }),
        (&SamplerDescriptor::ANISO_THRESHOLD, if random.one_in(2) { random.below(8) } else { 0 }),
        (&SamplerDescriptor::PERF_MIP, if random.one_in(8) { random.below(16) } else { 0 }),
        (&SamplerDescriptor::BORDER_COLOR_PTR, random.below(4)),
    ];
    let mut words = plain.words();
    for (field, value) in fields {
        // The values are below the fields' limits by construction.
        let fits = field.insert(&mut words, value);
        debug_assert!(fits.is_ok(), "{field} = {value}");
    }
    SamplerDescriptor::from_words(words)
}

fn image(random: &mut Random, view: View, format: TexelFormat) -> ImageDescriptor {
    let selects = [DstSel::X, DstSel::Y, DstSel::Z, DstSel::W];
    let select = if random.one_in(2) {
        [DstSel::X, DstSel::Y, DstSel::Z, DstSel::One]
    } else {
        std::array::from_fn(|_| random.pick(&[&selects[..], &[DstSel::Zero, DstSel::One]].concat()))
    };
    let kind = match view {
        View::D1 => ImageType::D1,
        View::D1Array => ImageType::D1Array,
        View::D2 => ImageType::D2,
        View::D2Array => ImageType::D2Array,
        View::D3 => ImageType::D3,
        View::Cube => ImageType::Cube,
    };
    let swizzles: Vec<BcSwizzle> = BcSwizzle::ALL.iter().copied().filter(|s| s.order().is_some()).collect();
    let plain = ImageDescriptor::default()
        .with_image_type(kind)
        .with_resource_level(true)
        .with_dst_sel(select)
        .with_bc_swizzle(random.pick(&swizzles));
    let mut words = plain.words();
    let fits = ImageDescriptor::FORMAT.insert(&mut words, u32::from(format.code()));
    debug_assert!(fits.is_ok());
    ImageDescriptor::from_words(words)
}

/// Gives a T# sizes: extents that hold its levels, and layers.
fn sizes(random: &mut Random, state: &SharedState) -> (ImageDescriptor, [u32; 3], u32) {
    let smallest = 1u32 << (state.levels - 1);
    let extent = |random: &mut Random| match random.below(4) {
        0 => smallest,
        1 => smallest + random.below(3),
        _ => smallest + random.below(24),
    };
    let axes = state.view.axes();
    let mut size = [1u32; 3];
    for (axis, n) in size.iter_mut().enumerate().take(axes) {
        // One axis has to hold the levels; the others may be smaller.
        *n = if axis == 0 { extent(random) } else { (extent(random) >> random.below(3)).max(1) };
        if axis == 2 {
            *n = (*n).min(9);
        }
    }
    if state.view == View::Cube {
        size[1] = size[0];
    }
    let (layers, base_layer) = (state.layers, state.base_layer);
    let depth = match state.view {
        View::D3 => size[2] - 1,
        view if view.is_layered() => layers - 1,
        _ => 0,
    };
    let mut words = state.image.words();
    for (field, value) in [
        (&ImageDescriptor::WIDTH_LO, (size[0] - 1) & 3),
        (&ImageDescriptor::WIDTH_HI, (size[0] - 1) >> 2),
        (&ImageDescriptor::HEIGHT, size[1] - 1),
        (&ImageDescriptor::DEPTH, depth),
        (&ImageDescriptor::BASE_ARRAY, if state.view.is_layered() { base_layer } else { 0 }),
        (&ImageDescriptor::BASE_LEVEL, state.base_level),
        (&ImageDescriptor::LAST_LEVEL, state.last_level),
        (&ImageDescriptor::MAX_MIP, state.levels - 1),
        (&ImageDescriptor::MIN_LOD, state.image_min_lod),
    ] {
        let fits = field.insert(&mut words, value);
        debug_assert!(fits.is_ok(), "{field} = {value}");
    }
    (ImageDescriptor::from_words(words), size, layers)
}

fn texel_count(size: [u32; 3], layers: u32, levels: u32) -> u64 {
    (0..levels)
        .map(|level| size.iter().map(|n| u64::from((n >> level).max(1))).product::<u64>() * u64::from(layers))
        .sum()
}

fn texel(random: &mut Random, format: TexelFormat) -> u32 {
    let word = random.bits();
    if !matches!(format.code(), 36 | 43) {
        return word;
    }
    // Exponents near each other most of the time, as in real images; all bits, with infinities and NaN, sometimes.
    match random.below(64) {
        0 => word,
        1..=16 => {
            let mut far = 0;
            for channel in format.channels() {
                let code = channel.extract(word);
                let exponent = channel.bits - 5;
                far |= (if code >> exponent == 31 { code & !(1 << exponent) } else { code }) << channel.shift;
            }
            far
        }
        _ => {
            let mut near = 0;
            for channel in format.channels() {
                let mantissa = channel.bits - 5;
                let code = channel.extract(word) & ((1 << mantissa) - 1) | (13 + random.below(4)) << mantissa;
                near |= code << channel.shift;
            }
            near
        }
    }
}

/// A coordinate for an axis of `size` texels: anywhere around the image, at and next to texel edges and ties, or special.
fn coordinate(random: &mut Random, size: u32, unnormalized: bool) -> u32 {
    let n = size as f32;
    let texels = match random.below(8) {
        0..=3 => random.uniform(-n, 2.0 * n),
        4 => (random.below(3 * size + 1) as f32 - n) + random.uniform(-1.0, 1.0) * 0.0078125,
        5 => (random.below(3 * size * 256 + 1) as f32) / 256.0 - n,
        6 => (random.below(3 * size * 512 + 1) as f32) / 512.0 - n,
        _ => return special(random),
    };
    (if unnormalized { texels } else { texels / n }).to_bits()
}

/// A coordinate on a cube's face, 1 to 2: often at an edge, where texels of other faces come in.
fn face_coordinate(random: &mut Random, size: u32) -> u32 {
    let n = size as f32;
    let place = match random.below(8) {
        0..=2 => random.uniform(0.0, 1.0),
        3 => random.uniform(0.0, 0.5) / n,
        4 => 1.0 - random.uniform(0.0, 0.5) / n,
        5 => random.below(size * 256 + 1) as f32 / (n * 256.0),
        6 => random.uniform(-0.5, 1.5),
        _ => return special(random),
    };
    (1.0 + place).to_bits()
}

/// Coordinates that change evenly over the grid, so that the quads have sensible derivatives.
struct Surface {
    start: [f32; 3],
    along_x: [f32; 3],
    along_y: [f32; 3],
}

impl Surface {
    fn new(random: &mut Random, size: [u32; 3], sampler: SamplerDescriptor) -> Self {
        let texel = |n: usize| if sampler.force_unnormalized() { 1.0 } else { 1.0 / size[n] as f32 };
        let vector = |random: &mut Random| {
            let length = (1u32 << random.below(5)) as f32 * 0.25;
            std::array::from_fn(|n| texel(n) * length * random.uniform(-1.0, 1.0))
        };
        let (along_x, along_y) = (vector(random), vector(random));
        let start = std::array::from_fn(|n| texel(n) * random.uniform(0.0, 2.0 * size[n] as f32));
        Self { start, along_x, along_y }
    }

    fn coordinate(&self, axis: usize, x: u32, y: u32) -> u32 {
        (self.start[axis] + self.along_x[axis] * x as f32 + self.along_y[axis] * y as f32).to_bits()
    }
}

const SPECIAL: [f32; 18] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MAX,
    f32::MIN,
    1e10,
    -1e10,
    16_777_216.0,
    -8_388_608.0,
    65536.0,
    -65536.5,
    1e-40,
    -1e-40,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    0.0,
    -0.0,
    1.0,
];

fn special(random: &mut Random) -> u32 {
    if random.one_in(8) { random.bits() } else { random.pick(&SPECIAL).to_bits() }
}

fn index_operand(random: &mut Random, count: u32) -> u32 {
    match random.below(16) {
        0 => special(random),
        1 => (random.below(3 * count + 1) as f32 - count as f32).to_bits(),
        2 => (random.below(count) as f32 + 0.75).to_bits(),
        _ => (random.below(count) as f32).to_bits(),
    }
}

fn layer_operand(random: &mut Random, layers: u32) -> u32 {
    match random.below(8) {
        0 => special(random),
        1..=2 => (random.below(4 * layers) as f32 * 0.5 - 1.0).to_bits(),
        _ => random.uniform(-1.0, layers as f32 + 1.0).to_bits(),
    }
}

/// A component of a direction: any size, and often as long as others.
fn direction_operand(random: &mut Random) -> u32 {
    match random.below(8) {
        0 => special(random),
        1 => random.pick(&[-1.0f32, 1.0, 0.5, -0.25]).to_bits(),
        _ => random.uniform(-1.0, 1.0).to_bits(),
    }
}

fn face_operand(random: &mut Random, layers: u32) -> u32 {
    match random.below(8) {
        0 => special(random),
        1 => random.uniform(-1.0, 18.0).to_bits(),
        _ => ((random.below(layers / 6) * 8 + random.below(6)) as f32).to_bits(),
    }
}

fn lod_operand(random: &mut Random, levels: u32) -> u32 {
    let n = levels as f32;
    match random.below(8) {
        0 => special(random),
        1 => (random.below(levels * 512) as f32 / 512.0).to_bits(),
        2 => (random.below(levels * 2) as f32 * 0.5).to_bits(),
        _ => random.uniform(-1.0, n + 1.0).to_bits(),
    }
}

fn derivative(random: &mut Random, size: u32) -> u32 {
    let texel = 1.0 / size as f32;
    match random.below(8) {
        0 => special(random),
        1 => 0.0f32.to_bits(),
        2 => (texel * (1u32 << random.below(4)) as f32).to_bits(),
        _ => (texel * random.uniform(-8.0, 8.0)).to_bits(),
    }
}

fn border_color(random: &mut Random, format: TexelFormat) -> [u32; 4] {
    std::array::from_fn(|_| {
        if format.kind().is_integer() {
            return random.bits();
        }
        match random.below(8) {
            0 => random.pick(&[f32::INFINITY, 0.0, -0.0, 1.0, 65504.0]).to_bits(),
            _ => random.uniform(-2.0, 700.0).to_bits(),
        }
    })
}
