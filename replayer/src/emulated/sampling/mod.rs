//! The sampling model in SPIR-V: the same steps in the same order as [`crate::reference`], which states the rules.

mod accumulate;
mod address;
mod channel;
mod extreme;
mod float_grid;
mod footprint;
mod group;
mod level;
mod octagon;
mod pairs;
mod place;
mod position;
mod result;
mod weight;

use rspirv::spirv::Word;
use weight::Share;

use self::group::Group;
pub use self::group::{GroupVariables, Rows};
use super::{
    code::{B, Code, D, F, I, U},
    decode::{self, FormatClass},
    section::Stage,
    specialization::Slot,
};
use crate::{
    reference::coordinate::NORMALIZED_LIMIT,
    rules::{
        AnisotropyRule, BorderSwizzle, CubeCorner, DenormalCoordinate, IntegerConversion, NanCoordinate, RuleId, Rules,
        ZFilterRule,
    },
    state::{Address, View},
};

/// Operands of one invocation. What the instruction does not take is absent.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Coordinates along the axes, as bits.
    pub coordinates: Vec<U>,
    /// Layer, as bits.
    pub layer: Option<U>,
    /// Level of detail, as bits.
    pub lod: Option<U>,
    /// Bias, as bits.
    pub bias: Option<U>,
    /// Lower clamp, as bits.
    pub clamp: Option<U>,
    /// Packed texel offsets.
    pub offset: Option<U>,
    /// Where a probe lies beside the sample along x and y, in 1/128 of a texel.
    pub shift: Option<[I; 2]>,
    /// Derivatives along x and y of each coordinate, as bits, where the LOD is computed.
    pub derivatives: Option<[Vec<U>; 2]>,
}

/// What a module is made for, and the variables that its body uses.
pub struct About<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The view's shape.
    pub view: View,
    /// The format's class.
    pub class: FormatClass,
    /// Whether the footprint is gathered.
    pub gathers: bool,
    /// Variables for a loop over probes.
    pub variables: Option<Variables>,
    /// Variables for a loop over the samples of a group.
    pub group_variables: Option<GroupVariables>,
}

/// Emits the body of a module.
pub struct Emitter<'a> {
    /// The module.
    pub code: &'a mut Code,
    /// The rules.
    pub rules: &'a Rules,
    /// The view's shape.
    pub view: View,
    /// The format's class.
    pub class: FormatClass,
    /// The words of the state, by [`Slot`].
    pub slots: &'a [U],
    /// Where texels are.
    pub texels: Texels,
    /// Whether the footprint is gathered.
    pub gathers: bool,
    /// Function variables for a loop over the samples of a group; `None` where each sample takes its own way.
    pub group_variables: Option<GroupVariables>,
    /// The rows of the other samples.
    pub rows: Rows<'a>,
    /// What the sample's group asks for.
    group: Option<Group>,
    /// Function variables for a loop over probes: its counter and the sums of four channels.
    pub variables: Option<Variables>,
}

/// Where texels are read, and where the sizes of their image come from.
#[derive(Clone, Copy)]
pub enum Texels {
    /// A loaded image.
    Image(Word),
    /// Storage buffers with the texels of all images of a table, and with the states.
    Table(TableTexels),
}

/// The image that a row of a table's states is about.
#[derive(Clone, Copy)]
pub struct TableTexels {
    /// The buffer with the texels of all images.
    pub texels: Word,
    /// The buffer with the states.
    pub states: Word,
    /// Where the row begins in it.
    pub row: U,
    /// Texels of level 0 in x, y, z.
    pub size: [U; 3],
    /// Whether the format is a fixed-point one ([`RowWord::Fixed`]).
    pub fixed: U,
}

/// A level of the image.
struct Level {
    number: U,
    /// Texels along the axes.
    size: Vec<I>,
    /// Where its texels begin, in a table's buffer.
    start: Option<U>,
}

/// Variables of the entry point, which have to be declared at its start.
#[derive(Clone, Copy)]
pub struct Variables {
    /// An unsigned counter.
    pub counter: Word,
    /// FP32 sums.
    pub sums: [Word; 4],
    /// FP64 sums, where the rules want them.
    pub wide_sums: Option<[Word; 4]>,
    /// Whether NaN, infinity, negative infinity, and a smallest or largest tap were found, a channel.
    pub flags: Option<[[Word; 4]; 4]>,
    /// Smallest or largest taps.
    pub best: Option<[Word; 4]>,
}

impl Variables {
    /// Declares what a loop over probes needs by these rules.
    pub fn new(code: &mut Code, rules: &Rules) -> Self {
        let pairs = rules.anisotropy == AnisotropyRule::Pairs;
        Self {
            counter: code.local::<U>("probe"),
            sums: ["sum_x", "sum_y", "sum_z", "sum_w"].map(|name| code.local::<F>(name)),
            wide_sums: (pairs && rules.accumulation.aligned_bits().is_some())
                .then(|| ["wide_x", "wide_y", "wide_z", "wide_w"].map(|name| code.local::<D>(name))),
            flags: pairs.then(|| {
                std::array::from_fn(|_| {
                    ["nan", "infinity", "negative_infinity", "found"].map(|name| code.local::<B>(name))
                })
            }),
            best: pairs.then(|| ["best_x", "best_y", "best_z", "best_w"].map(|name| code.local::<F>(name))),
        }
    }
}

/// A level of detail computed from derivatives.
struct Computed {
    lod: F,
    probes: Probes,
}

/// The probes of an anisotropic filter.
enum Probes {
    /// By [`AnisotropyRule::PowersOfTwo`]: log2 of their number, and the change of each coordinate along their line.
    PowersOfTwo { log2_probes: U, major: Vec<F> },
    /// By [`AnisotropyRule::Pairs`]: see [`crate::reference::pairs::Line`].
    Pairs { ratio: I, direction: [I; 2] },
}

/// A position along one axis, and the two texels there.
#[derive(Clone, Copy)]
struct AxisTaps {
    linear: B,
    /// Weight of the second texel in steps of the grid; 0 for point.
    step: U,
    /// Weight of the second texel; 0 for point.
    weight: F,
    /// Whether the weight is NaN, where the rules allow that. Vulkan lets a driver take the product of NaN and 0 for 0.
    nan: Option<B>,
    /// Index of the first texel before addressing.
    raw: I,
    indices: [I; 2],
    inside: [B; 2],
}

/// One texel of a footprint.
#[derive(Clone, Copy)]
struct Tap {
    word: U,
    border: B,
    /// Beyond a cube's corner: whether it is, and the two other texels around the corner.
    corner: Option<(B, [U; 2])>,
}

/// The footprint in one level: `[slice][row][column]`.
struct LevelTaps {
    axes: Vec<AxisTaps>,
    /// Whether texels and weights are multiplied one by one; `None` without the rule for it.
    products: Option<B>,
    taps: Vec<Vec<Vec<Tap>>>,
}

/// What is carried from one level to the next, a channel.
#[derive(Clone, Copy)]
struct Sum {
    fp32: F,
    fp64: Option<D>,
    nan: B,
    infinity: B,
    negative_infinity: B,
    /// Smallest or largest tap so far, and whether there is one.
    best: F,
    found: B,
}

/// Levels chosen for a sample.
struct Levels {
    minify: B,
    level: U,
    next: U,
    step: U,
    weight: F,
    two: B,
}

const MIN_BIASED_EXPONENT: u32 = 127 - 14;

impl<'a> Emitter<'a> {
    /// An emitter for a sample whose rows are `rows`.
    pub fn new(code: &'a mut Code, about: About<'a>, slots: &'a [U], texels: Texels, rows: Rows<'a>) -> Self {
        let About { rules, view, class, gathers, variables, group_variables } = about;
        Self { code, rules, view, class, slots, texels, gathers, variables, group_variables, rows, group: None }
    }
}

impl Emitter<'_> {
    fn slot(&self, slot: Slot) -> U {
        self.slots[slot as usize]
    }

    fn slot_is(&mut self, slot: Slot, value: u32) -> B {
        let value = self.code.u(value);
        let slot = self.slot(slot);
        self.code.u_eq(slot, value)
    }

    fn address_slot(axis: usize) -> Slot {
        [Slot::AddressX, Slot::AddressY, Slot::AddressZ][axis]
    }

    fn condition(&mut self, bits: U) -> F {
        condition(self.code, self.rules, bits)
    }

    /// [`Self::condition`]; denormals only where they can be seen, in some cases or (`None`) in all.
    fn condition_where(&mut self, bits: U, denormals: Option<B>) -> F {
        condition_where(self.code, self.rules, bits, denormals)
    }

    fn limited(&mut self, bits: U, low: f32, high: f32) -> F {
        let value = self.condition(bits);
        let (low, high) = (self.code.f(low), self.code.f(high));
        self.code.f_clamp(value, low, high)
    }

    const SELECTS: [Slot; 4] = [Slot::SelectX, Slot::SelectY, Slot::SelectZ, Slot::SelectW];

    /// `image_sample*`: the four words of the result.
    pub fn sample(&mut self, inputs: &Inputs, explicit: bool) -> [U; 4] {
        if self.class != FormatClass::Integer {
            self.group = self.group(explicit);
        }
        let Some(derivatives) = &inputs.derivatives else {
            return self.sample_at(inputs, explicit);
        };
        let computed = self.computed(derivatives);
        let lod = self.code.f_bits(computed.lod);
        let inputs = Inputs { lod: Some(lod), ..inputs.clone() };
        match (self.variables, computed.probes) {
            (Some(variables), probes) if self.class != FormatClass::Integer => match probes {
                Probes::PowersOfTwo { log2_probes, major } => self.probes(&inputs, log2_probes, &major, variables),
                Probes::Pairs { ratio, direction } => self.pairs(&inputs, ratio, direction, variables),
            },
            _ => self.sample_at(&inputs, explicit),
        }
    }

    /// The average (or the smallest, or the largest) of the probes along the footprint's longer side.
    fn probes(&mut self, inputs: &Inputs, log2_probes: U, major: &[F], variables: Variables) -> [U; 4] {
        let _section = self.code.section(RuleId::AnisotropyRule);
        let coordinates: Vec<F> = inputs.coordinates.iter().map(|&bits| self.condition(bits)).collect();
        let reduction = self.slot(Slot::Reduction);
        let minimum = self.slot_is(Slot::Reduction, 1);
        let code = &mut *self.code;
        let (none, one) = (code.u(0), code.u(1));
        let reduces = code.u_ne(reduction, none);
        let count = code.u_shl(one, log2_probes);
        // 2^-k from its bits.
        let (bias, shift) = (code.u(127), code.u(23));
        let share = code.u_sub(bias, log2_probes);
        let share = code.u_shl(share, shift);
        let share = code.u_float(share);
        let several = code.u_gt(count, one);
        // The first probe reads them, although it uses nothing of them.
        let empty = code.f(0.0);
        for sum in variables.sums {
            code.store(sum, empty);
        }
        let open = code.begin_loop(variables.counter, count);
        let index = open.index;
        let double = code.u_add(index, index);
        let odd = code.u_add(double, one);
        let odd = code.u_to_f(odd);
        let half = code.f(0.5);
        let half_share = code.f_mul(share, half);
        let place = code.f_mul(odd, half_share);
        let place = code.f_sub(place, half);
        let moved = coordinates
            .iter()
            .zip(major)
            .zip(&inputs.coordinates)
            .map(|((&c, &major), &bits)| {
                let step = code.f_mul(major, place);
                let moved = code.f_add(c, step);
                let moved = code.f_bits(moved);
                code.select(several, moved, bits)
            })
            .collect();
        let probe = Inputs { coordinates: moved, ..inputs.clone() };
        let values = self.filtered_at(&probe, false);
        let code = &mut *self.code;
        let first = code.u_eq(index, none);
        for (&variable, value) in variables.sums.iter().zip(values) {
            let before: F = code.load(variable);
            let sum = code.f_add(before, value);
            let (less, greater) = (code.f_lt(value, before), code.f_gt(value, before));
            let better = code.select(minimum, less, greater);
            let (mask, infinity) = (code.u(0x7fff_ffff), code.u(0x7f80_0000));
            let magnitude = code.f_bits(before);
            let magnitude = code.u_and(magnitude, mask);
            let nan = code.u_gt(magnitude, infinity);
            let better = code.b_or(better, nan);
            let best = code.select(better, value, before);
            let next = code.select(reduces, best, sum);
            let next = code.select(first, value, next);
            code.store(variable, next);
        }
        code.end_loop(open);
        let channels = variables.sums.map(|variable| {
            let sum: F = self.code.load(variable);
            let average = self.code.f_mul(sum, share);
            let average = self.rounded(average);
            let single = self.code.b_not(several);
            let keep = self.code.b_or(single, reduces);
            self.code.select(keep, sum, average)
        });
        self.output(channels)
    }

    /// A sample at one place.
    fn sample_at(&mut self, inputs: &Inputs, explicit: bool) -> [U; 4] {
        if self.class == FormatClass::Integer {
            let levels = self.levels(inputs, explicit);
            let layer = inputs.layer.map(|operand| self.layer(operand));
            let point = self.code.b(false);
            let first = self.level_taps(levels.level, inputs, layer, point, point, 0);
            let channels = self.integer_channels(first.taps[0][0][0]);
            return self.output_integer(channels);
        }
        let channels = self.filtered_at(inputs, explicit);
        self.output(channels)
    }

    /// The channels of a sample at one place, before DST_SEL.
    fn filtered_at(&mut self, inputs: &Inputs, explicit: bool) -> [F; 4] {
        let _section = self.code.section(Stage::Filter);
        let mut levels = self.levels(inputs, explicit);
        let own = self.own_filter(levels.minify);
        let (linear, two) = self.with_group(own, levels.two);
        levels.two = two;
        let slice_linear = self.slice_linear(linear);
        let layer = inputs.layer.map(|operand| self.layer(operand));
        let first = self.level_taps(levels.level, inputs, layer, linear, slice_linear, 0);
        let single = {
            let code = &mut *self.code;
            let any = code.b_or(linear, levels.two);
            let any = if self.view == View::D3 { code.b_or(any, slice_linear) } else { any };
            code.b_not(any)
        };
        let point = self.channels(first.taps[0][0][0]);
        let (between, step, next) = (levels.weight, levels.step, levels.next);
        let sums = self.add_level(None, &first, Share::Level { step, m: 0 }, between);
        let sums = self.if_second_level(levels.two, sums, |emitter, sums| {
            let taps = emitter.level_taps(next, inputs, layer, linear, slice_linear, 1);
            emitter.add_level(Some(sums), &taps, Share::Level { step, m: 1 }, between)
        });
        let filtered: [F; 4] = std::array::from_fn(|n| self.finish(sums[n]));
        let mut channels: [F; 4] = std::array::from_fn(|n| self.code.select(single, point[n], filtered[n]));
        self.plain_w(&mut channels);
        channels
    }

    /// W is 1 in every texel, so it needs no blending unless a border can be seen.
    fn plain_w(&mut self, channels: &mut [F; 4]) {
        if self.rules.border_swizzle == BorderSwizzle::DstSel {
            // A weight can be NaN by these rules, and the shares of a corner need not add up to 1.
            let any_weight = self.rules.nan_coordinate == NanCoordinate::Kept
                || self.rules.integer_conversion == IntegerConversion::Lowest
                || self.rules.cube_corner == CubeCorner::Thirds && self.view == View::Cube;
            if any_weight {
                return;
            }
            let uses_border = self.uses_border();
            let one = self.code.f(1.0);
            channels[3] = self.code.select(uses_border, channels[3], one);
        }
    }

    /// Whether magnification and minification (whichever is in force) and the slices are filtered linearly.
    fn filters(&mut self, minify: B) -> [B; 2] {
        let linear = self.own_filter(minify);
        [linear, self.slice_linear(linear)]
    }

    /// Whether magnification and minification (whichever is in force) are filtered linearly, by the sample's own LOD.
    fn own_filter(&mut self, minify: B) -> B {
        let [mag, min] = [Slot::Mag, Slot::Min].map(|slot| self.slot_is(slot, 1));
        self.code.select(minify, min, mag)
    }

    /// DST_SEL, unless the taps have gone through it.
    fn output(&mut self, mut channels: [F; 4]) -> [U; 4] {
        let _section = self.code.section(Stage::Output);
        if self.rules.border_swizzle == BorderSwizzle::DstSel {
            let (zero, one) = (self.code.f(0.0), self.code.f(1.0));
            channels = Self::SELECTS.map(|slot| self.select_channel(slot, zero, one, channels));
        }
        channels.map(|c| self.code.f_bits(c))
    }

    fn output_integer(&mut self, channels: [U; 4]) -> [U; 4] {
        let _section = self.code.section(Stage::Output);
        if self.rules.border_swizzle == BorderSwizzle::None {
            return channels;
        }
        let (zero, one) = (self.code.u(0), self.code.u(1));
        Self::SELECTS.map(|slot| self.select_channel(slot, zero, one, channels))
    }

    fn slice_linear(&mut self, linear: B) -> B {
        let _section = self.code.section(RuleId::ZFilterRule);
        if self.view != View::D3 || self.rules.z_filter == ZFilterRule::FollowsXy {
            return linear;
        }
        let (point, own) = (self.code.b(false), self.code.b(true));
        let mode = self.slot(Slot::Slices);
        self.code.choose(mode, &[linear, point, own])
    }

    /// Whether the border colour can be seen.
    fn uses_border(&mut self) -> B {
        let first = self.code.u(Address::HalfBorder as u32);
        let mut any = self.code.b(false);
        for axis in 0..self.view.axes() {
            let mode = self.slot(Self::address_slot(axis));
            let border = self.code.u_ge(mode, first);
            any = self.code.b_or(any, border);
        }
        self.unless_seamless(any)
    }

    fn if_second_level(
        &mut self,
        two: B,
        sums: [Sum; 4],
        add: impl FnOnce(&mut Self, [Sum; 4]) -> [Sum; 4],
    ) -> [Sum; 4] {
        let before: Vec<(Word, Word)> = sums.iter().flat_map(|sum| sum.values(self.code)).collect();
        let start = self.code.begin_if(two);
        let added = add(self, sums);
        let after: Vec<(Word, Word)> = added.iter().flat_map(|sum| sum.values(self.code)).collect();
        let merged = self.code.end_if(start, &before, &after);
        let per_channel = merged.len() / 4;
        std::array::from_fn(|n| sums[n].with_ids(&merged[n * per_channel..][..per_channel]))
    }

    /// `image_gather4*`.
    pub fn gather(&mut self, inputs: &Inputs, explicit: bool) -> [U; 4] {
        let _section = self.code.section(Stage::Output);
        let lod = match &inputs.derivatives {
            Some(derivatives) => {
                let computed = self.computed(derivatives);
                Some(self.code.f_bits(computed.lod))
            }
            None => inputs.lod,
        };
        let inputs = &Inputs { lod, ..inputs.clone() };
        let levels = self.levels(inputs, explicit);
        let linear = self.code.b(true);
        let layer = inputs.layer.map(|operand| self.layer(operand));
        let level = self.level_taps(levels.level, inputs, layer, linear, linear, 0);
        let rows = &level.taps[0];
        let shares = self.view == View::Cube && self.rules.cube_corner == CubeCorner::Shares;
        let selects = Self::SELECTS.map(|slot| self.slot(slot));
        let channel = self.slot(Slot::GatherChannel);
        let select = self.code.choose(channel, &selects);
        let through = self.rules.border_swizzle == BorderSwizzle::DstSel;
        [[1, 0], [1, 1], [0, 1], [0, 0]].map(|[y, x]| {
            let tap = rows[y][x];
            let (channels, zero, one) = if self.class == FormatClass::Integer {
                (self.integer_channels(tap), self.code.u(0), self.code.u(1))
            } else {
                let mut channels = self.channels(tap);
                if let (Some((corner, _)), true) = (tap.corner, shares) {
                    let around = [rows[1 - y][1 - x], rows[1 - y][x], rows[y][1 - x]].map(|tap| self.channels(tap));
                    for (n, channel) in channels.iter_mut().enumerate() {
                        let value = self.corner_value(&level, around.map(|channels| channels[n]));
                        *channel = self.code.select(corner, value, *channel);
                    }
                }
                if let (Some((corner, _)), CubeCorner::Thirds) = (tap.corner, self.rules.cube_corner) {
                    let _section = self.code.section(RuleId::CubeCorner);
                    let around = [rows[y][1 - x], rows[1 - y][0], rows[1 - y][1]].map(|tap| self.channels(tap));
                    for (n, channel) in channels.iter_mut().enumerate() {
                        let [own, a, b] = around.map(|channels| channels[n]);
                        let sum = self.code.f_add(a, b);
                        let sum = self.code.f_add(own, sum);
                        let third = self.code.f(1.0 / 3.0);
                        let average = self.code.f_mul(third, sum);
                        *channel = self.code.select(corner, average, *channel);
                    }
                }
                let channels = channels.map(|c| self.code.f_bits(c));
                (channels, self.code.u(0), self.code.u(1.0f32.to_bits()))
            };
            if through {
                let [x, y, z, w] = channels;
                self.code.choose(select, &[zero, one, x, y, z, w])
            } else {
                self.code.choose(channel, &channels)
            }
        })
    }

    /// `image_load*`.
    pub fn load(&mut self, inputs: &Inputs) -> [U; 4] {
        let _section = self.code.section(Stage::Address);
        let (base, last) = (self.slot(Slot::BaseLevel), self.slot(Slot::LastLevel));
        let zero = self.code.i(0);
        let mut inside = self.code.b(true);
        let within = |emitter: &mut Self, bits: U, count: I, inside: B| -> (I, B) {
            let value = emitter.limited(bits, -1.0, NORMALIZED_LIMIT);
            let value = emitter.code.f_trunc(value);
            let code = &mut *emitter.code;
            let index = code.f_to_i(value);
            let (from, to) = (code.i_ge(index, zero), code.i_lt(index, count));
            let both = code.b_and(from, to);
            let inside = code.b_and(inside, both);
            (code.select(both, index, zero), inside)
        };
        let mut level = base;
        let one = self.code.u(1);
        if let Some(bits) = inputs.lod {
            let count = self.code.u_add(last, one);
            let count = self.code.u_to_i(count);
            let (index, ok) = within(self, bits, count, inside);
            inside = ok;
            let index = self.code.i_to_u(index);
            level = self.code.u_add(base, index);
        }
        let level = self.level(level);
        let mut at = Vec::new();
        for axis in 0..self.view.axes() {
            let (index, ok) = within(self, inputs.coordinates[axis], level.size[axis], inside);
            inside = ok;
            at.push(index);
        }
        if let Some(bits) = inputs.layer {
            let last = self.slot(Slot::LastLayer);
            let count = self.code.u_add(last, one);
            let count = self.code.u_to_i(count);
            let (index, ok) = within(self, bits, count, inside);
            inside = ok;
            let base = self.slot(Slot::BaseLayer);
            let base = self.code.u_to_i(base);
            at.push(self.code.i_add(index, base));
        }
        let word = self.fetch(&level, &at);
        let border = self.code.b(false);
        let tap = Tap { word, border, corner: None };
        let section = self.code.section(Stage::Decode);
        let integer = self.class == FormatClass::Integer;
        let format = self.format();
        let channels = match self.class {
            FormatClass::Integer => decode::integer(self.code, format, tap.word),
            FormatClass::Float | FormatClass::Fixed | FormatClass::FloatOrFixed => {
                let [x, y, z] = self.decode(tap.word);
                let one = self.code.f(1.0);
                [x, y, z, one].map(|c| self.code.f_bits(c))
            }
        };
        drop(section);
        let _section = self.code.section(Stage::Output);
        let none = self.code.u(0);
        let channels = channels.map(|c| self.code.select(inside, c, none));
        let one = if integer { one } else { self.code.u(1.0f32.to_bits()) };
        Self::SELECTS.map(|slot| self.select_channel(slot, none, one, channels))
    }
}

fn map_taps<T, R>(taps: &[Vec<Vec<T>>], mut map: impl FnMut([usize; 3], &T) -> R) -> Vec<Vec<Vec<R>>> {
    taps.iter()
        .enumerate()
        .map(|(z, slice)| {
            slice
                .iter()
                .enumerate()
                .map(|(y, row)| row.iter().enumerate().map(|(x, tap)| map([z, y, x], tap)).collect())
                .collect()
        })
        .collect()
}

fn each_tap<T>(taps: &[Vec<Vec<T>>], mut visit: impl FnMut([usize; 3], &T)) {
    map_taps(taps, |at, tap| visit(at, tap));
}

/// See [`crate::reference::coordinate::condition`].
pub fn condition(code: &mut Code, rules: &Rules, bits: U) -> F {
    condition_where(code, rules, bits, None)
}

fn condition_where(code: &mut Code, rules: &Rules, bits: U, denormals: Option<B>) -> F {
    let _section = code.section(RuleId::NanCoordinate);
    let mask = code.u(0x7fff_ffff);
    let magnitude = code.u_and(bits, mask);
    let (smallest, largest) = (code.u(0x0080_0000), code.u(0x7f80_0000));
    let zero = code.u(0);
    let section = code.section(RuleId::DenormalCoordinate);
    let mut denormal = code.u_lt(magnitude, smallest);
    if let Some(denormals) = denormals {
        denormal = code.b_and(denormal, denormals);
    }
    let flushed = match rules.denormal_coordinate {
        DenormalCoordinate::Zero => zero,
        DenormalCoordinate::Kept => {
            let sign_mask = code.u(0x8000_0000);
            let sign = code.u_and(bits, sign_mask);
            let kept = code.u_or(sign, smallest);
            let nothing = code.u_eq(magnitude, zero);
            code.select(nothing, zero, kept)
        }
    };
    let bits = code.select(denormal, flushed, bits);
    drop(section);
    let nan = code.u_gt(magnitude, largest);
    let substitute = match rules.nan_coordinate {
        NanCoordinate::Zero | NanCoordinate::Kept => zero,
        NanCoordinate::Lowest => code.u(f32::NEG_INFINITY.to_bits()),
    };
    let bits = code.select(nan, substitute, bits);
    code.u_float(bits)
}
