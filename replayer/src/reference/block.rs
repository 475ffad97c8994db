//! Many samples at a time: the same functions as for one sample, over arrays, with the rules as constants.
//!
//! A block is a few stages, each a plain loop over [`LANES`] samples that vectorizes: operands, levels, positions and
//! addresses along each axis, fetches, unpacking, blending. What varies within a loop is data only: rules, addressing and
//! filters are constants of the instance, so [`crate::reference`]'s functions fold to straight-line code. States that are
//! rare or need more than this (integers, reductions, cubes, anisotropy, filters that differ by LOD, other rules) are left
//! to the samples' own path.

use capture_format::{LodSource, OpKind, TexelFormat, TexelLayout, texel::small_float_to_f32_bits};
use pulp::Arch;

use crate::{
    reference::{
        Sampler,
        address::address,
        blend::{AxisWeight, lerp},
        coordinate::{Axis, position},
        lod::{LodOperand, levels},
    },
    rules::{BorderSwizzle, Profile, Rules},
    state::{Address, Filter, MipMode, Reduction, Select, SliceFilter, State, View},
};

/// Samples in a block.
pub const LANES: usize = 128;

type Lanes<T> = [T; LANES];

/// Rules that are known when this is compiled.
trait Constant {
    const RULES: Rules;
}

struct Gfx1035;

impl Constant for Gfx1035 {
    const RULES: Rules = Profile::GFX1035.rules;
}

struct Exact;

impl Constant for Exact {
    const RULES: Rules = Profile::EXACT.rules;
}

/// How a sampler's blocks are computed.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    linear: bool,
    slice_linear: bool,
    exact: bool,
}

impl Plan {
    /// The plan for a state; `None` when blocks do not cover it.
    #[must_use]
    pub fn new(rules: &Rules, state: &State) -> Option<Self> {
        let exact = if *rules == Gfx1035::RULES {
            false
        } else if *rules == Exact::RULES {
            true
        } else {
            return None;
        };
        let covered = state.op.kind == OpKind::Sample
            && matches!(state.op.lod, LodSource::Zero | LodSource::Explicit)
            && !state.op.offset
            && matches!(state.view, View::D2 | View::D3)
            && !state.format.kind().is_integer()
            && state.reduction == Reduction::Blend
            && state.mag == state.min
            && rules.border_swizzle == BorderSwizzle::DstSel;
        if !covered {
            return None;
        }
        let linear = state.mag == Filter::Linear;
        let slice_linear = match state.slices {
            SliceFilter::FollowXy => linear,
            SliceFilter::Own(filter) => filter == Filter::Linear,
        };
        Some(Self { linear, slice_linear, exact })
    }

    /// Computes the samples from `first` on, four words each, as many as `out` holds.
    pub fn run(self, sampler: &Sampler<'_>, first: usize, out: &mut [u32]) {
        for (n, out) in out.chunks_mut(4 * LANES).enumerate() {
            let first = first + n * LANES;
            // pulp compiles the closure for the processor's vector instructions; everything in it is inlined.
            Arch::new().dispatch(|| {
                if self.exact {
                    block::<Exact>(self, sampler, first, out);
                } else {
                    block::<Gfx1035>(self, sampler, first, out);
                }
            });
        }
    }
}

/// Texels and weight along one axis.
struct AxisLanes {
    index: [Lanes<u32>; 2],
    /// All ones where the tap is inside the image.
    inside: [Lanes<u32>; 2],
    weight: Lanes<f32>,
}

impl AxisLanes {
    fn new() -> Self {
        Self { index: [[0; LANES]; 2], inside: [[!0; LANES]; 2], weight: [0.0; LANES] }
    }
}

#[inline(always)]
fn block<R: Constant>(plan: Plan, sampler: &Sampler<'_>, first: usize, out: &mut [u32]) {
    let state = sampler.state;
    let stride = sampler.layout.stride;
    let count = out.len() / 4;
    let rows = &sampler.words[first * stride..][..count * stride];
    let mut coordinates = [[0u32; LANES]; 3];
    let mut lods = [0u32; LANES];
    let places = sampler.layout.coordinate_places();
    for (lane, row) in rows.chunks_exact(stride).enumerate() {
        for (axis, place) in places.iter().enumerate() {
            if let Some(place) = place {
                coordinates[axis][lane] = row[*place];
            }
        }
        if let Some(place) = sampler.layout.lod_place() {
            lods[lane] = row[place];
        }
    }

    let mut level = [state.base_level; LANES];
    let mut next = [state.base_level; LANES];
    let mut mip_weight = [0.0f32; LANES];
    let mut two_levels = false;
    if state.last_level > 0 && state.mip != MipMode::Base {
        for lane in 0..LANES {
            let source = LodOperand { bits: lods[lane], bias: 0, clamp: None, explicit: true };
            let levels = levels(&R::RULES, state, &source);
            level[lane] += levels.level;
            next[lane] += levels.next;
            mip_weight[lane] = levels.weight;
            two_levels |= levels.weight > 0.0 && lane < count;
        }
    }

    let mut channels = filtered::<R>(plan, sampler, &coordinates, &level);
    if two_levels {
        let second = filtered::<R>(plan, sampler, &coordinates, &next);
        for (channel, second) in channels.iter_mut().zip(&second) {
            for lane in 0..LANES {
                let axis = AxisWeight { linear: true, step: 0, bits: 8, weight: mip_weight[lane] };
                channel[lane] = lerp(&R::RULES, &axis, channel[lane], || second[lane]);
            }
        }
    }

    let one = [1.0f32; LANES];
    let zero = [0.0f32; LANES];
    let outputs = state.select.map(|select| match select {
        Select::Zero => &zero,
        Select::One => &one,
        Select::Channel(channel) => &channels[usize::from(channel)],
    });
    for (lane, words) in out.chunks_exact_mut(4).enumerate() {
        for (word, output) in words.iter_mut().zip(outputs) {
            *word = output[lane].to_bits();
        }
    }
}

/// The four filtered channels of a block in one level a lane.
#[inline(always)]
fn filtered<R: Constant>(
    plan: Plan,
    sampler: &Sampler<'_>,
    coordinates: &[Lanes<u32>; 3],
    level: &Lanes<u32>,
) -> [Lanes<f32>; 4] {
    let state = sampler.state;
    let extent = &sampler.image.extent;
    let mut sizes = [[1u32; LANES]; 3];
    let mut offsets = [0u32; LANES];
    if level.iter().all(|&l| l == level[0]) {
        let size = extent.level_size(level[0]);
        sizes = size.map(|n| [n; LANES]);
        offsets = [sampler.image.level_offset(level[0]) as u32; LANES];
    } else {
        for lane in 0..LANES {
            let size = extent.level_size(level[lane]);
            for (axis, n) in size.into_iter().enumerate() {
                sizes[axis][lane] = n;
            }
            offsets[lane] = sampler.image.level_offset(level[lane]) as u32;
        }
    }
    let mut axes = [AxisLanes::new(), AxisLanes::new(), AxisLanes::new()];
    let count = state.view.axes();
    for axis in 0..count {
        let linear = if axis == 2 { plan.slice_linear } else { plan.linear };
        axis_lanes::<R>(state, state.address[axis], linear, &coordinates[axis], &sizes[axis], &mut axes[axis]);
    }
    let uses_border = state.uses_border();
    let mut slices = [[[0.0f32; LANES]; 4]; 2];
    let slice_count = if count == 3 && plan.slice_linear { 2 } else { 1 };
    let [x, y, z] = &axes;
    for (n, slice) in slices.iter_mut().enumerate().take(slice_count) {
        let mut starts = [[0u32; LANES]; 2];
        for (start, row) in starts.iter_mut().zip(&y.index) {
            for lane in 0..LANES {
                let row = z.index[n][lane] * sizes[1][lane] + row[lane];
                start[lane] = offsets[lane] + row * sizes[0][lane];
            }
        }
        let tap = |row: usize, column: usize| {
            let mut words = [0u32; LANES];
            for lane in 0..LANES {
                words[lane] = sampler.image.texels()[(starts[row][lane] + x.index[column][lane]) as usize];
            }
            let mut channels = unpack(state.format, &words);
            if uses_border {
                for (channel, border) in channels.iter_mut().zip(state.border) {
                    for lane in 0..LANES {
                        let inside = x.inside[column][lane] & y.inside[row][lane] & z.inside[n][lane];
                        channel[lane] = if inside == 0 { f32::from_bits(border) } else { channel[lane] };
                    }
                }
            }
            channels
        };
        *slice = tap(0, 0);
        if plan.linear {
            blend_lanes::<R>(slice, &tap(0, 1), &x.weight);
            let mut second = tap(1, 0);
            blend_lanes::<R>(&mut second, &tap(1, 1), &x.weight);
            blend_lanes::<R>(slice, &second, &y.weight);
        }
    }
    let [mut first, second] = slices;
    if slice_count == 2 {
        blend_lanes::<R>(&mut first, &second, &z.weight);
    }
    if !uses_border {
        first[3] = [1.0; LANES];
    }
    first
}

#[inline(always)]
fn blend_lanes<R: Constant>(a: &mut [Lanes<f32>; 4], b: &[Lanes<f32>; 4], weight: &Lanes<f32>) {
    for (a, b) in a.iter_mut().zip(b) {
        for lane in 0..LANES {
            let axis = AxisWeight { linear: true, step: 0, bits: 8, weight: weight[lane] };
            a[lane] = lerp(&R::RULES, &axis, a[lane], || b[lane]);
        }
    }
}

/// Unpacks a block of texels; W is 1.
#[inline(always)]
fn unpack(format: TexelFormat, words: &Lanes<u32>) -> [Lanes<f32>; 4] {
    let mut channels = [[1.0f32; LANES]; 4];
    let mut small_floats = |places: [(u32, u32); 3]| {
        for (channel, (shift, mantissa)) in channels.iter_mut().zip(places) {
            for lane in 0..LANES {
                let code = words[lane] >> shift & ((1 << (mantissa + 5)) - 1);
                channel[lane] = f32::from_bits(small_float_to_f32_bits(code, mantissa));
            }
        }
    };
    match (format.code(), format.layout()) {
        (43, TexelLayout::Bits11_11_10) => small_floats([(0, 5), (10, 6), (21, 6)]),
        (36, TexelLayout::Bits10_11_11) => small_floats([(0, 6), (11, 6), (22, 5)]),
        _ => {
            for lane in 0..LANES {
                for (channel, bits) in channels.iter_mut().zip(format.unpack(words[lane])) {
                    channel[lane] = f32::from_bits(bits);
                }
            }
        }
    }
    channels
}

macro_rules! by_constants {
    ($function:ident::<$rules:ident>($address:expr, $linear:expr, $unnormalized:expr, $trunc:expr) $arguments:tt; $($mode:literal)*) => {
        match ($address as usize, $linear, $unnormalized, $trunc) {
            $(
                ($mode, false, false, false) => $function::<$rules, $mode, false, false, false> $arguments,
                ($mode, false, false, true) => $function::<$rules, $mode, false, false, true> $arguments,
                ($mode, true, false, false) => $function::<$rules, $mode, true, false, false> $arguments,
                ($mode, true, false, true) => $function::<$rules, $mode, true, false, true> $arguments,
                ($mode, false, true, false) => $function::<$rules, $mode, false, true, false> $arguments,
                ($mode, false, true, true) => $function::<$rules, $mode, false, true, true> $arguments,
                ($mode, true, true, false) => $function::<$rules, $mode, true, true, false> $arguments,
                ($mode, true, true, true) => $function::<$rules, $mode, true, true, true> $arguments,
            )*
            // S# has three bits for addressing.
            _ => {}
        }
    };
}

#[inline(always)]
fn axis_lanes<R: Constant>(
    state: &State,
    mode: Address,
    linear: bool,
    coordinates: &Lanes<u32>,
    sizes: &Lanes<u32>,
    out: &mut AxisLanes,
) {
    by_constants!(
        axis_lanes_of::<R>(mode, linear, state.unnormalized, state.trunc_coord)(coordinates, sizes, out);
        0 1 2 3 4 5 6 7
    );
}

#[inline(always)]
fn axis_lanes_of<
    R: Constant,
    const ADDRESS: usize,
    const LINEAR: bool,
    const UNNORMALIZED: bool,
    const TRUNC_COORD: bool,
>(
    coordinates: &Lanes<u32>,
    sizes: &Lanes<u32>,
    out: &mut AxisLanes,
) {
    let filter = if LINEAR { Filter::Linear } else { Filter::Point };
    let mode = Address::ALL[ADDRESS];
    for lane in 0..LANES {
        let size = sizes[lane];
        let axis = Axis {
            size,
            address: mode,
            filter,
            unnormalized: UNNORMALIZED,
            trunc_coord: TRUNC_COORD,
            offset: 0,
            shift: 0,
            gather: false,
            power_of_two: false,
        };
        let at = position(&R::RULES, &axis, coordinates[lane]);
        out.weight[lane] = at.weight;
        for tap in 0..if LINEAR { 2 } else { 1 } {
            let found = address(mode, filter, at.index + tap as i32, size);
            out.index[tap][lane] = found.unwrap_or(0);
            out.inside[tap][lane] = if found.is_some() { !0 } else { 0 };
        }
    }
}
