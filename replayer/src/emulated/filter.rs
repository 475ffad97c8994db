//! The sampling model in SPIR-V: the same steps in the same order as [`crate::reference`], which states the rules.

use rspirv::{
    dr::Operand,
    spirv::{self, Op as SpirvOp, Word},
};

use super::{
    code::{B, Code, D, F, I, U, Value},
    decode::{self, Format, FormatClass},
    section::Stage,
    specialization::Slot,
};
use crate::{
    reference::{
        coordinate::{FINEST_STEP, NORMALIZED_LIMIT, Rounding, TEXEL_LIMIT, largest_size_of_step, rounding},
        cube::{NEIGHBOURS, Neighbour},
        derivatives::{LOG2_COEFFICIENTS, LOG2_LIMIT},
        lod::LOD_LIMIT,
    },
    rules::{
        BorderSwizzle, CoordinateProduct, CubeCorner, EdgeClamp, ExplicitLodBias, HalfBorder, LayerRounding,
        LodDerivatives, LodRounding, LodRoundingStage, MinMaxTaps, MinifyFrom, MipNearest, MipNearestLod,
        MipPointClamp, NanCoordinate, ResultRounding, RuleId, Rules, TruncCoord, WeightScheme, ZFilterRule,
        ZeroWeightTaps,
    },
    state::{Address, Filter, View},
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
    /// Derivatives along x and y of each coordinate, as bits, where the LOD is computed.
    pub derivatives: Option<[Vec<U>; 2]>,
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
    /// The specialization constants, by [`Slot`].
    pub slots: &'a [U],
    /// The loaded image.
    pub image: Word,
    /// Whether the footprint is gathered.
    pub gathers: bool,
    /// Function variables for a loop over probes: its counter and the sums of four channels.
    pub variables: Option<Variables>,
}

/// Variables of the entry point, which have to be declared at its start.
#[derive(Clone, Copy)]
pub struct Variables {
    /// An unsigned counter.
    pub counter: Word,
    /// FP32 sums.
    pub sums: [Word; 4],
}

/// A level of detail computed from derivatives.
struct Computed {
    lod: F,
    log2_probes: U,
    major: Vec<F>,
}

/// A position along one axis, and the two texels there.
#[derive(Clone, Copy)]
struct AxisTaps {
    linear: B,
    /// Weight of the second texel in steps of the grid; 0 for point.
    step: U,
    /// Weight of the second texel; 0 for point.
    weight: F,
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

    // --- operands -----------------------------------------------------------------------------------------------------

    fn condition(&mut self, bits: U) -> F {
        condition(self.code, self.rules, bits)
    }

    fn limited(&mut self, bits: U, low: f32, high: f32) -> F {
        let value = self.condition(bits);
        let (low, high) = (self.code.f(low), self.code.f(high));
        self.code.f_clamp(value, low, high)
    }

    fn round_f(&mut self, how: Rounding, x: F) -> F {
        let code = &mut *self.code;
        match how {
            Rounding::Floor => code.f_floor(x),
            Rounding::NearestEven => code.f_round_even(x),
            Rounding::HalfUp => {
                let down = code.f_floor(x);
                let rest = code.f_sub(x, down);
                let half = code.f(0.5);
                let one = code.f(1.0);
                let up = code.f_ge(rest, half);
                let next = code.f_add(down, one);
                code.select(up, next, down)
            }
        }
    }

    fn round_d(&mut self, how: Rounding, x: D) -> D {
        let code = &mut *self.code;
        match how {
            Rounding::Floor => code.d_floor(x),
            Rounding::NearestEven => code.d_round_even(x),
            Rounding::HalfUp => {
                let down = code.d_floor(x);
                let rest = code.d_sub(x, down);
                let half = code.d(0.5);
                let one = code.d(1.0);
                let up = code.d_ge(rest, half);
                let next = code.d_add(down, one);
                code.select(up, next, down)
            }
        }
    }

    /// Applies the rounding in force: it depends on the filter (dynamic) and on TRUNC_COORD (specialized).
    fn round_by_filter<T: Value>(&mut self, linear: B, x: T, round: fn(&mut Self, Rounding, T) -> T) -> T {
        let mut cache: Vec<(Rounding, T)> = Vec::new();
        let mut rounded = |emitter: &mut Self, how: Rounding| match cache.iter().find(|(known, _)| *known == how) {
            Some(&(_, value)) => value,
            None => {
                let value = round(emitter, how, x);
                cache.push((how, value));
                value
            }
        };
        let trunc = self.slot_is(Slot::TruncCoord, 1);
        let mut by_filter = |emitter: &mut Self, filter: Filter| {
            let (set, clear) = (rounding(emitter.rules, filter, true), rounding(emitter.rules, filter, false));
            // What serves both kinds of filter alike goes by the one for linear.
            let shared = (set, clear)
                == (rounding(emitter.rules, Filter::Linear, true), rounding(emitter.rules, Filter::Linear, false));
            let rule = if shared { RuleId::WeightRounding } else { RuleId::PointRounding };
            let _section = emitter.code.section(rule);
            let clear_value = rounded(emitter, clear);
            if set == clear {
                return (clear_value, set, clear);
            }
            let set_value = rounded(emitter, set);
            let _section = emitter.code.section(RuleId::TruncCoord);
            (emitter.code.select(trunc, set_value, clear_value), set, clear)
        };
        let (point, point_set, point_clear) = by_filter(self, Filter::Point);
        if (point_set, point_clear)
            == (rounding(self.rules, Filter::Linear, true), rounding(self.rules, Filter::Linear, false))
        {
            return point;
        }
        let (linear_value, ..) = by_filter(self, Filter::Linear);
        self.code.select(linear, linear_value, point)
    }

    // --- positions ----------------------------------------------------------------------------------------------------

    /// See [`crate::reference::coordinate::position`] and [`crate::reference::address::address`].
    fn axis(&mut self, axis: usize, bits: U, offset: Option<I>, size: I, linear: B) -> AxisTaps {
        let _section = self.code.section(Stage::Position);
        let mut c = self.condition(bits);
        if self.view == View::Cube {
            let (one, two) = (self.code.f(1.0), self.code.f(2.0));
            c = self.code.f_clamp(c, one, two);
            c = self.code.f_sub(c, one);
            let bits = self.code.f_bits(c);
            c = self.condition(bits);
        }
        let c = self.step_down(c, size);
        let size_f = self.code.i_to_f(size);
        let (index, step, weight) = if self.rules.coordinate_product == CoordinateProduct::Exact {
            let fixed = self.exact_position(axis, c, size, linear);
            self.on_grid(axis, fixed, offset, size, linear)
        } else {
            let unnormalized = self.slot_is(Slot::Unnormalized, 1);
            let scaled = self.code.f_mul(c, size_f);
            let s = self.code.select(unnormalized, c, scaled);
            let s = self.half_border_limit(axis, s, size_f);
            let (low, high) = (self.code.f(-TEXEL_LIMIT), self.code.f(TEXEL_LIMIT));
            let s = self.code.f_clamp(s, low, high);
            match self.rules.subtexel_bits.bits() {
                Some(bits) => {
                    let scale = self.code.f((1u32 << bits) as f32);
                    let x = self.code.f_mul(s, scale);
                    let rounded = self.round_by_filter(linear, x, Self::round_f);
                    let fixed = self.code.f_to_i(rounded);
                    self.on_grid(axis, fixed, offset, size, linear)
                }
                None => self.unquantized(axis, s, offset, size_f, linear),
            }
        };
        let (indices, inside) = self.address(axis, index, size, size_f, linear);
        AxisTaps { linear, step, weight, raw: index, indices, inside }
    }

    fn step_down(&mut self, c: F, size: I) -> F {
        let _section = self.code.section(RuleId::CoordinateStep);
        let Some(bits) = self.rules.coordinate_step.bits() else { return c };
        let unnormalized = self.slot_is(Slot::Unnormalized, 1);
        let code = &mut *self.code;
        let power = |bits: u32| (1u32 << bits) as f32;
        let (mut scale, mut step) = (code.f(power(bits)), code.f(1.0 / power(bits)));
        for finer in bits + 1..=FINEST_STEP {
            let largest = code.i(largest_size_of_step(finer - 1) as i32);
            let needs = code.i_lt(largest, size);
            let (finer_scale, finer_step) = (code.f(power(finer)), code.f(1.0 / power(finer)));
            scale = code.select(needs, finer_scale, scale);
            step = code.select(needs, finer_step, step);
        }
        let (low, high) = (code.f(-NORMALIZED_LIMIT), code.f(NORMALIZED_LIMIT));
        let x = code.f_clamp(c, low, high);
        let x = code.f_mul(x, scale);
        let x = code.f_floor(x);
        let x = code.f_mul(x, step);
        code.select(unnormalized, c, x)
    }

    fn half_border_limit(&mut self, axis: usize, s: F, size: F) -> F {
        let _section = self.code.section(RuleId::HalfBorder);
        if self.rules.half_border != HalfBorder::CoordinateClamp {
            return s;
        }
        let half = self.slot_is(Self::address_slot(axis), Address::HalfBorder as u32);
        let half = self.unless_seamless(half);
        let once = self.slot_is(Self::address_slot(axis), Address::MirrorOnceHalfBorder as u32);
        let once = self.unless_seamless(once);
        let code = &mut *self.code;
        let zero = code.f(0.0);
        let minus = code.f_sub(zero, size);
        let low = code.select(once, minus, zero);
        let limited = code.f_clamp(s, low, size);
        let either = code.b_or(half, once);
        code.select(either, limited, s)
    }

    fn exact_position(&mut self, axis: usize, c: F, size: I, linear: B) -> I {
        let _section = self.code.section(RuleId::CoordinateProduct);
        let unnormalized = self.slot_is(Slot::Unnormalized, 1);
        let periodic = self.is_periodic(axis);
        let half = self.slot_is(Self::address_slot(axis), Address::HalfBorder as u32);
        let half = self.unless_seamless(half);
        let once = self.slot_is(Self::address_slot(axis), Address::MirrorOnceHalfBorder as u32);
        let once = self.unless_seamless(once);
        let limit_half_border = self.rules.half_border == HalfBorder::CoordinateClamp;
        let code = &mut *self.code;
        let (low, high) = (code.f(-NORMALIZED_LIMIT), code.f(NORMALIZED_LIMIT));
        let c = code.f_clamp(c, low, high);
        let c = code.f_to_d(c);
        let (point_five, two, zero) = (code.d(0.5), code.d(2.0), code.d(0.0));
        let halved = code.d_mul(c, point_five);
        let periods = code.d_floor(halved);
        let whole = code.d_mul(periods, two);
        let reduced = code.d_sub(c, whole);
        let normalized = code.b_not(unnormalized);
        let reduce = code.b_and(periodic, normalized);
        let c = code.select(reduce, reduced, c);
        let size = code.i_to_d(size);
        let scaled = code.d_mul(c, size);
        let mut s = code.select(unnormalized, c, scaled);
        if limit_half_border {
            let minus = code.d_sub(zero, size);
            let low = code.select(once, minus, zero);
            let limited = code.d_clamp(s, low, size);
            let either = code.b_or(half, once);
            s = code.select(either, limited, s);
        }
        let (low, high) = (code.d(f64::from(-TEXEL_LIMIT)), code.d(f64::from(TEXEL_LIMIT)));
        let s = code.d_clamp(s, low, high);
        let bits = self.rules.subtexel_bits.bits().unwrap_or(8);
        let scale = code.d(f64::from(1u32 << bits));
        let x = code.d_mul(s, scale);
        let rounded = self.round_by_filter(linear, x, Self::round_d);
        self.code.d_to_i(rounded)
    }

    /// Whether positions are clamped (by the rules), and in which of the modes that do (by the state).
    fn position_clamps(&mut self, axis: usize, linear: B) -> Option<[B; 2]> {
        let _section = self.code.section(RuleId::EdgeClamp);
        if self.rules.edge_clamp != EdgeClamp::Position || self.gathers {
            return None;
        }
        let modes = [Address::Edge, Address::MirrorOnceEdge].map(|mode| {
            let mode = self.slot_is(Self::address_slot(axis), mode as u32);
            let mode = self.unless_seamless(mode);
            self.code.b_and(mode, linear)
        });
        Some(modes)
    }

    fn on_grid(&mut self, axis: usize, fixed: I, offset: Option<I>, size: I, linear: B) -> (I, U, F) {
        let _section = self.code.section(RuleId::SubtexelBits);
        let bits = self.rules.subtexel_bits.bits().unwrap_or(8);
        let clamps = self.position_clamps(axis, linear);
        let code = &mut *self.code;
        let (zero, half) = (code.i(0), code.i(1 << (bits - 1)));
        let shift = code.u(bits);
        let half = code.select(linear, half, zero);
        let fixed = match offset {
            Some(offset) => {
                let offset = code.i_shl(offset, shift);
                code.i_add(fixed, offset)
            }
            None => fixed,
        };
        let mut fixed = code.i_sub(fixed, half);
        if let Some([edge, mirror_once]) = clamps {
            let _section = code.section(RuleId::EdgeClamp);
            let (one, texel) = (code.i(1), code.i(1 << bits));
            let last = code.i_sub(size, one);
            let last = code.i_shl(last, shift);
            let minus = code.i_sub(zero, last);
            let below = code.i_sub(minus, texel);
            let low = code.select(mirror_once, below, zero);
            let limited = code.i_clamp(fixed, low, last);
            let minus_texel = code.i(-(1 << bits));
            let (after, before) = (code.i_lt(minus_texel, limited), code.i_lt(limited, zero));
            let between = code.b_and(after, before);
            let limited = code.select(between, zero, limited);
            let limit = code.b_or(edge, mirror_once);
            fixed = code.select(limit, limited, fixed);
        }
        let index = code.i_shr(fixed, shift);
        let unsigned = code.i_to_u(fixed);
        let (mask, none) = (code.u((1 << bits) - 1), code.u(0));
        let step = code.u_and(unsigned, mask);
        let step = code.select(linear, step, none);
        let scale = code.f(1.0 / (1u32 << bits) as f32);
        let weight = code.u_to_f(step);
        let weight = code.f_mul(weight, scale);
        (index, step, weight)
    }

    fn unquantized(&mut self, axis: usize, s: F, offset: Option<I>, size: F, linear: B) -> (I, U, F) {
        let _section = self.code.section(RuleId::SubtexelBits);
        let clamps = self.position_clamps(axis, linear);
        let code = &mut *self.code;
        let (zero, half, one) = (code.f(0.0), code.f(0.5), code.f(1.0));
        let half = code.select(linear, half, zero);
        let mut t = code.f_sub(s, half);
        let mut limit = None;
        if let Some([edge, mirror_once]) = clamps {
            let _section = code.section(RuleId::EdgeClamp);
            let last = code.f_sub(size, one);
            let moved = match offset {
                Some(offset) => {
                    let offset = code.i_to_f(offset);
                    code.f_add(t, offset)
                }
                None => t,
            };
            let minus_one = code.f(-1.0);
            let below = code.f_sub(minus_one, last);
            let low = code.select(mirror_once, below, zero);
            let limited = code.f_clamp(moved, low, last);
            let (after, before) = (code.f_lt(minus_one, limited), code.f_lt(limited, zero));
            let between = code.b_and(after, before);
            let limited = code.select(between, zero, limited);
            let limits = code.b_or(edge, mirror_once);
            t = code.select(limits, limited, t);
            limit = Some(limits);
        }
        let down = code.f_floor(t);
        let index = code.f_to_i(down);
        let index = match offset {
            Some(offset) => {
                let moved = code.i_add(index, offset);
                match limit {
                    Some(limit) => code.select(limit, index, moved),
                    None => moved,
                }
            }
            None => index,
        };
        let weight = code.f_sub(t, down);
        let weight = code.select(linear, weight, zero);
        let step = code.u(0);
        (index, step, weight)
    }

    fn is_periodic(&mut self, axis: usize) -> B {
        let two = self.code.u(2);
        let mode = self.slot(Self::address_slot(axis));
        let periodic = self.code.u_lt(mode, two);
        self.unless_seamless(periodic)
    }

    /// A seamless cube has no addressing beyond its faces.
    fn unless_seamless(&mut self, condition: B) -> B {
        if self.view != View::Cube {
            return condition;
        }
        let separate = self.slot_is(Slot::CubeWrap, 0);
        self.code.b_and(condition, separate)
    }

    fn address(&mut self, axis: usize, index: I, size: I, size_f: F, linear: B) -> ([I; 2], [B; 2]) {
        let _section = self.code.section(Stage::Address);
        let slot = Self::address_slot(axis);
        let periodic = self.is_periodic(axis);
        let mirror = self.slot_is(slot, Address::Mirror as u32);
        let mirror_once = [Address::MirrorOnceEdge, Address::MirrorOnceHalfBorder, Address::MirrorOnceBorder]
            .map(|a| self.slot_is(slot, a as u32));
        let full_border = [Address::Border, Address::MirrorOnceBorder].map(|a| self.slot_is(slot, a as u32));
        let half_border = [Address::HalfBorder, Address::MirrorOnceHalfBorder].map(|a| self.slot_is(slot, a as u32));
        let code = &mut *self.code;
        let (zero, one) = (code.i(0), code.i(1));
        let last = code.i_sub(size, one);
        let double = code.i_add(size, size);

        // Periodic: one remainder serves both texels.
        let period = code.select(mirror, double, size);
        let double_f = code.f_add(size_f, size_f);
        let period_f = code.select(mirror, double_f, size_f);
        let first = remainder(code, index, period, period_f);
        let second = code.i_add(first, one);
        let wraps = code.i_eq(second, period);
        let second = code.select(wraps, zero, second);
        let two_last = code.i_sub(double, one);
        let reflect = |code: &mut Code, i: I| {
            let reflected = code.i_sub(two_last, i);
            let plain = code.i_lt(i, size);
            code.select(plain, i, reflected)
        };
        let periodic_indices = [reflect(code, first), reflect(code, second)];

        // The others: mirrored once or not, then limited; border where that changed the index.
        let once = code.b_or(mirror_once[0], mirror_once[1]);
        let once = code.b_or(once, mirror_once[2]);
        let full = code.b_or(full_border[0], full_border[1]);
        let half = code.b_or(half_border[0], half_border[1]);
        let half = code.b_and(half, linear);
        let has_border = code.b_or(full, half);
        let no_border = code.b_not(has_border);
        let mut indices = [zero; 2];
        let mut inside = [no_border; 2];
        for tap in 0..2 {
            let i = if tap == 0 { index } else { code.i_add(index, one) };
            // -1 - i is i with all bits flipped.
            let flipped = code.i_not(i);
            let negative = code.i_lt(i, zero);
            let flip = code.b_and(once, negative);
            let i = code.select(flip, flipped, i);
            let limited = code.i_clamp(i, zero, last);
            let kept = code.i_eq(limited, i);
            inside[tap] = code.b_or(no_border, kept);
            indices[tap] = code.select(periodic, periodic_indices[tap], limited);
        }
        (indices, inside)
    }

    /// Sizes of a level along the axes: level 0's are queried and shifted, since llvmpipe's query takes the level of one
    /// invocation for all of a group.
    fn level_size(&mut self, level: U) -> Vec<I> {
        let _section = self.code.section(Stage::Levels);
        let components = match self.view {
            View::D1 => 1,
            View::D1Array | View::D2 => 2,
            View::D2Array | View::Cube | View::D3 => 3,
        };
        let int = I::type_id(self.code);
        let ty = if components == 1 { int } else { self.code.raw().type_vector(int, components) };
        let (zero, one) = (self.code.u(0), self.code.i(1));
        let size = self.code.instruction(
            SpirvOp::ImageQuerySizeLod,
            ty,
            vec![Operand::IdRef(self.image), Operand::IdRef(zero.id())],
        );
        (0..self.view.axes() as u32)
            .map(|n| {
                let whole = if components == 1 { I::from_id(size) } else { self.code.extract(size, n) };
                let shifted = self.code.i_shr(whole, level);
                self.code.i_max(shifted, one)
            })
            .collect()
    }

    fn fetch(&mut self, level: U, at: &[I]) -> U {
        let _section = self.code.section(Stage::Fetch);
        let coordinate = if at.len() == 1 { at[0].id() } else { self.code.vector(at) };
        let uint = U::type_id(self.code);
        let vector = self.code.raw().type_vector(uint, 4);
        let texel = self.code.instruction(
            SpirvOp::ImageFetch,
            vector,
            vec![
                Operand::IdRef(self.image),
                Operand::IdRef(coordinate),
                Operand::ImageOperands(spirv::ImageOperands::LOD),
                Operand::IdRef(level.id()),
            ],
        );
        self.code.extract(texel, 0)
    }

    // --- levels -------------------------------------------------------------------------------------------------------

    fn quantize_lod(&mut self, lod: F) -> F {
        let _section = self.code.section(RuleId::LodRounding);
        let rounding = match self.rules.lod_rounding {
            LodRounding::None => return lod,
            LodRounding::TowardZero => None,
            LodRounding::Floor => Some(Rounding::Floor),
            LodRounding::NearestEven => Some(Rounding::NearestEven),
            LodRounding::HalfUp => Some(Rounding::HalfUp),
        };
        let (scale, step) = (self.code.f(256.0), self.code.f(1.0 / 256.0));
        let x = self.code.f_mul(lod, scale);
        let x = match rounding {
            Some(how) => self.round_f(how, x),
            None => self.code.f_trunc(x),
        };
        self.code.f_mul(x, step)
    }

    fn slot_lod(&mut self, slot: Slot, signed: bool) -> F {
        let value = self.slot(slot);
        let value = if signed {
            let value = self.code.u_to_i(value);
            self.code.i_to_f(value)
        } else {
            self.code.u_to_f(value)
        };
        let step = self.code.f(1.0 / 256.0);
        self.code.f_mul(value, step)
    }

    /// See [`crate::reference::lod::levels`].
    fn levels(&mut self, inputs: &Inputs, explicit: bool) -> Levels {
        let _section = self.code.section(Stage::Levels);
        let mut lod = match inputs.lod {
            Some(bits) => self.limited(bits, -LOD_LIMIT, LOD_LIMIT),
            None => self.code.f(0.0),
        };
        if self.rules.lod_rounding_stage == LodRoundingStage::Operand {
            lod = self.quantize_lod(lod);
        }
        if !explicit || self.rules.explicit_lod_bias == ExplicitLodBias::Added {
            let _section = self.code.section(RuleId::ExplicitLodBias);
            let bias = self.slot_lod(Slot::LodBias, true);
            lod = self.code.f_add(lod, bias);
        }
        if let Some(bits) = inputs.bias {
            let bias = self.limited(bits, -LOD_LIMIT, LOD_LIMIT);
            lod = self.code.f_add(lod, bias);
        }
        let free = lod;
        let mut low = self.slot_lod(Slot::MinLod, false);
        if let Some(bits) = inputs.clamp {
            let clamp = self.limited(bits, -LOD_LIMIT, LOD_LIMIT);
            low = self.code.f_max(low, clamp);
        }
        let high = self.slot_lod(Slot::MaxLod, false);
        lod = self.code.f_clamp(lod, low, high);
        let unrounded = lod;
        if self.rules.lod_rounding_stage == LodRoundingStage::Final {
            lod = self.quantize_lod(lod);
        }
        let point_mode = self.slot_is(Slot::Mip, 1);
        let linear_mode = self.slot_is(Slot::Mip, 2);
        let last_level = self.slot(Slot::LastLevel);
        let code = &mut *self.code;
        let zero = code.f(0.0);
        let section = code.section(RuleId::MinifyFrom);
        let minify = match self.rules.minify_from {
            MinifyFrom::AboveZero => code.f_gt(lod, zero),
            MinifyFrom::AtZero => code.f_ge(lod, zero),
        };
        drop(section);
        let last = code.u_to_f(last_level);
        let in_view = code.f_clamp(lod, zero, last);
        let point_lod = match self.rules.mip_nearest_lod {
            MipNearestLod::Rounded => in_view,
            MipNearestLod::Unrounded => code.f_clamp(unrounded, zero, last),
        };
        let mut nearest = self.nearest_level(point_lod);
        if self.rules.mip_point_clamp == MipPointClamp::ByField {
            let _section = self.code.section(RuleId::MipPointClamp);
            let preclamp = self.slot_is(Slot::MipPointPreclamp, 1);
            let rounds = self.rules.mip_nearest_lod == MipNearestLod::Rounded
                && self.rules.lod_rounding_stage == LodRoundingStage::Final;
            let free = if rounds { self.quantize_lod(free) } else { free };
            let chosen = self.nearest_level(free);
            let code = &mut *self.code;
            let chosen = code.f_clamp(chosen, low, high);
            let chosen = code.f_floor(chosen);
            let chosen = code.f_clamp(chosen, zero, last);
            nearest = code.select(preclamp, nearest, chosen);
        }
        let code = &mut *self.code;
        let down = code.f_floor(in_view);
        let fraction = code.f_sub(in_view, down);
        let level = code.select(point_mode, nearest, zero);
        let level = code.select(linear_mode, down, level);
        let weight = code.select(linear_mode, fraction, zero);
        let level = code.f_to_u(level);
        let one = code.u(1);
        let next = code.u_add(level, one);
        let next = code.u_min(next, last_level);
        let step = if self.rules.lod_rounding == LodRounding::None {
            code.u(0)
        } else {
            let scale = code.f(256.0);
            let scaled = code.f_mul(weight, scale);
            code.f_to_u(scaled)
        };
        let two = code.f_gt(weight, zero);
        let base = self.slot(Slot::BaseLevel);
        let level = self.code.u_add(level, base);
        let next = self.code.u_add(next, base);
        Levels { minify, level, next, step, weight, two }
    }

    fn nearest_level(&mut self, lod: F) -> F {
        let _section = self.code.section(RuleId::MipNearest);
        match self.rules.mip_nearest {
            MipNearest::HalfUp => self.round_f(Rounding::HalfUp, lod),
            MipNearest::HalfDown => {
                let code = &mut *self.code;
                let down = code.f_floor(lod);
                let rest = code.f_sub(lod, down);
                let (half, one) = (code.f(0.5), code.f(1.0));
                let up = code.f_gt(rest, half);
                let next = code.f_add(down, one);
                code.select(up, next, down)
            }
        }
    }

    // --- derivatives --------------------------------------------------------------------------------------------------

    /// See [`crate::reference::derivatives::computed`].
    fn computed(&mut self, derivatives: &[Vec<U>; 2]) -> Computed {
        let _section = self.code.section(RuleId::LodDerivatives);
        let base = self.slot(Slot::BaseLevel);
        let size = self.level_size(base);
        let unnormalized = self.slot_is(Slot::Unnormalized, 1);
        let conditioned = derivatives
            .each_ref()
            .map(|side| side.iter().take(size.len()).map(|&bits| self.condition(bits)).collect::<Vec<F>>());
        let [x, y] = conditioned.each_ref().map(|side| {
            let mut sum = self.code.f(0.0);
            for (&along, &size) in side.iter().zip(&size) {
                let code = &mut *self.code;
                let size = code.i_to_f(size);
                let scaled = code.f_mul(along, size);
                let texels = code.select(unnormalized, along, scaled);
                sum = match self.rules.lod_derivatives {
                    LodDerivatives::Length => {
                        let square = code.f_mul(texels, texels);
                        code.f_add(sum, square)
                    }
                    LodDerivatives::Largest => {
                        let square = code.f_mul(texels, texels);
                        code.f_max(sum, square)
                    }
                };
            }
            sum
        });
        let code = &mut *self.code;
        let x_is_longer = code.f_ge(x, y);
        let long = code.select(x_is_longer, x, y);
        let short = code.select(x_is_longer, y, x);
        let (limit, threshold) = (self.slot(Slot::Anisotropy), self.slot(Slot::AnisoThreshold));
        let code = &mut *self.code;
        let eighth = code.f(0.125);
        let threshold = code.u_to_f(threshold);
        let threshold = code.f_mul(threshold, eighth);
        let section = code.section(RuleId::AnisotropyRule);
        let mut log2_probes = limit;
        for k in (0..4u32).rev() {
            let ratio = code.f((1u32 << k) as f32);
            let ratio = code.f_add(ratio, threshold);
            let square = code.f_mul(ratio, ratio);
            let reach = code.f_mul(short, square);
            let enough = code.f_ge(reach, long);
            let here = code.u(k);
            let allowed = code.u_lt(here, limit);
            let takes = code.b_and(allowed, enough);
            log2_probes = code.select(takes, here, log2_probes);
        }
        drop(section);
        let lod = self.half_log2(long);
        let code = &mut *self.code;
        let shares = code.u_to_f(log2_probes);
        let lod = code.f_sub(lod, shares);
        let major = conditioned[0].iter().zip(&conditioned[1]).map(|(&x, &y)| code.select(x_is_longer, x, y)).collect();
        Computed { lod, log2_probes, major }
    }

    /// See [`crate::reference::derivatives::half_log2`].
    fn half_log2(&mut self, square: F) -> F {
        let code = &mut *self.code;
        let bits = code.f_bits(square);
        let (shift, bias, mantissa, one_bits) = (code.u(23), code.i(127), code.u(0x007f_ffff), code.u(0x3f80_0000));
        let exponent = code.u_shr(bits, shift);
        let exponent = code.u_to_i(exponent);
        let exponent = code.i_sub(exponent, bias);
        let exponent = code.i_to_f(exponent);
        let fraction = code.u_and(bits, mantissa);
        let fraction = code.u_or(fraction, one_bits);
        let fraction = code.u_float(fraction);
        let (zero, one, half) = (code.f(0.0), code.f(1.0), code.f(0.5));
        let fraction = code.f_sub(fraction, one);
        let polynomial = LOG2_COEFFICIENTS.iter().rev().fold(zero, |sum, &c| {
            let c = code.f(c);
            let product = code.f_mul(sum, fraction);
            code.f_add(product, c)
        });
        let polynomial = code.f_mul(polynomial, fraction);
        let log = code.f_add(exponent, polynomial);
        let lod = code.f_mul(log, half);
        let (smallest, infinity) = (code.u(0x0080_0000), code.u(0x7f80_0000));
        let (low, high) = (code.f(-LOG2_LIMIT), code.f(LOG2_LIMIT));
        let tiny = code.u_lt(bits, smallest);
        let huge = code.u_ge(bits, infinity);
        let lod = code.select(tiny, low, lod);
        code.select(huge, high, lod)
    }

    /// See [`crate::reference::footprint::layer`].
    fn layer(&mut self, operand: U) -> I {
        let _section = self.code.section(RuleId::LayerRounding);
        let value = self.limited(operand, -1.0, 16384.0);
        let rounded = self.round_f(
            match self.rules.layer_rounding {
                LayerRounding::NearestEven => Rounding::NearestEven,
                LayerRounding::HalfUp => Rounding::HalfUp,
                LayerRounding::Floor => Rounding::Floor,
            },
            value,
        );
        let rounded = if self.rules.trunc_coord == TruncCoord::Everywhere {
            let _section = self.code.section(RuleId::TruncCoord);
            let trunc = self.slot_is(Slot::TruncCoord, 1);
            let cut = self.code.f_trunc(value);
            self.code.select(trunc, cut, rounded)
        } else {
            rounded
        };
        let (base, last) = (self.slot(Slot::BaseLayer), self.slot(Slot::LastLayer));
        let code = &mut *self.code;
        let zero = code.f(0.0);
        let layer = code.f_max(rounded, zero);
        let layer = code.f_to_u(layer);
        let layer = if self.view == View::Cube {
            let (three, seven, five, six, one) = (code.u(3), code.u(7), code.u(5), code.u(6), code.u(1));
            let layers = code.u_add(last, one);
            let cubes = code.u_div(layers, six);
            let last_cube = code.u_sub(cubes, one);
            let cube = code.u_shr(layer, three);
            let cube = code.u_min(cube, last_cube);
            let face = code.u_and(layer, seven);
            let face = code.u_min(face, five);
            let first = code.u_mul(cube, six);
            code.u_add(first, face)
        } else {
            code.u_min(layer, last)
        };
        let layer = code.u_add(layer, base);
        code.u_to_i(layer)
    }

    // --- taps ---------------------------------------------------------------------------------------------------------

    fn level_taps(&mut self, level: U, inputs: &Inputs, layer: Option<I>, linear: B, slice_linear: B) -> LevelTaps {
        let _section = self.code.section(Stage::Address);
        let size = self.level_size(level);
        let offsets: Vec<Option<I>> = (0..3).map(|axis| inputs.offset.map(|word| self.offset(word, axis))).collect();
        let axes: Vec<AxisTaps> = (0..self.view.axes())
            .map(|axis| {
                let linear = if axis == 2 { slice_linear } else { linear };
                self.axis(axis, inputs.coordinates[axis], offsets[axis], size[axis], linear)
            })
            .collect();
        if let (View::Cube, Some(layer)) = (self.view, layer) {
            return self.cube_taps(level, axes, size[0], layer, linear);
        }
        let count = |axis: usize| if axis < axes.len() { 2 } else { 1 };
        let taps = (0..count(2))
            .map(|z| {
                (0..count(1))
                    .map(|y| {
                        (0..count(0))
                            .map(|x| {
                                let places = [x, y, z];
                                let mut at: Vec<I> =
                                    axes.iter().zip(places).map(|(axis, place)| axis.indices[place]).collect();
                                at.extend(layer);
                                let word = self.fetch(level, &at);
                                let inside = axes
                                    .iter()
                                    .zip(places)
                                    .map(|(axis, place)| axis.inside[place])
                                    .reduce(|a, b| self.code.b_and(a, b));
                                let border = match inside {
                                    Some(inside) => self.code.b_not(inside),
                                    None => self.code.b(false),
                                };
                                Tap { word, border, corner: None }
                            })
                            .collect()
                    })
                    .collect()
            })
            .collect();
        LevelTaps { axes, taps }
    }

    /// Taps on a cube: on the face itself, or across its edges when the cube is seamless.
    fn cube_taps(&mut self, level: U, axes: Vec<AxisTaps>, size: I, layer: I, linear: B) -> LevelTaps {
        let _section = self.code.section(Stage::Address);
        let seamless = self.slot_is(Slot::CubeWrap, 1);
        let base = self.slot(Slot::BaseLayer);
        let code = &mut *self.code;
        let (six, zero, one) = (code.u(6), code.i(0), code.i(1));
        let last = code.i_sub(size, one);
        let unsigned = code.i_to_u(layer);
        let from_base = code.u_sub(unsigned, base);
        let face = code.u_mod(from_base, six);
        let face = code.u_to_i(face);
        let first_of_cube = code.i_sub(layer, face);
        let no = code.b(false);
        // Indices from the first tap's, limited to the face and one texel beyond it (none for point sampling).
        let free: Vec<[I; 2]> = axes
            .iter()
            .map(|axis| {
                let minus_one = code.i(-1);
                let low = code.select(linear, minus_one, zero);
                let index = code.i_clamp(axis.raw, low, last);
                let next = code.i_add(index, one);
                [index, next]
            })
            .collect();
        let taps = (0..2)
            .map(|y| {
                (0..2)
                    .map(|x| {
                        let (i, j) = (free[0][x], free[1][y]);
                        let code = &mut *self.code;
                        let (inside_i, inside_j) = (code.i_clamp(i, zero, last), code.i_clamp(j, zero, last));
                        let (same_i, same_j) = (code.i_eq(i, inside_i), code.i_eq(j, inside_j));
                        let (out_i, out_j) = (code.b_not(same_i), code.b_not(same_j));
                        let corner = code.b_and(out_i, out_j);
                        let corner = code.b_and(corner, seamless);
                        // Beyond s only, beyond t only; both are looked up for a corner.
                        let across_s = self.across_edge(face, i, inside_j, last, true);
                        let across_t = self.across_edge(face, j, inside_i, last, false);
                        let code = &mut *self.code;
                        let mut place = [face, inside_i, inside_j];
                        let only_s = code.b_and(out_i, same_j);
                        let only_t = code.b_and(out_j, same_i);
                        for n in 0..3 {
                            place[n] = code.select(only_s, across_s[n], place[n]);
                            place[n] = code.select(only_t, across_t[n], place[n]);
                        }
                        let (clamped_x, clamped_y) = (axes[0].indices[x], axes[1].indices[y]);
                        place = [
                            code.select(seamless, place[0], face),
                            code.select(seamless, place[1], clamped_x),
                            code.select(seamless, place[2], clamped_y),
                        ];
                        let inside = code.b_and(axes[0].inside[x], axes[1].inside[y]);
                        let outside = code.b_not(inside);
                        let border = code.select(seamless, no, outside);
                        let word_at = |emitter: &mut Self, [face, i, j]: [I; 3]| {
                            let layer = emitter.code.i_add(first_of_cube, face);
                            emitter.fetch(level, &[i, j, layer])
                        };
                        let word = word_at(self, place);
                        // Without a corner the others are this same texel: its fetch is not paid for three times.
                        let code = &mut *self.code;
                        let a: [I; 3] = std::array::from_fn(|n| code.select(corner, across_s[n], place[n]));
                        let b: [I; 3] = std::array::from_fn(|n| code.select(corner, across_t[n], place[n]));
                        let others = [word_at(self, a), word_at(self, b)];
                        Tap { word, border, corner: Some((corner, others)) }
                    })
                    .collect()
            })
            .collect();
        LevelTaps { axes, taps: vec![taps] }
    }

    /// Face and texel that lie beyond an edge, as [`crate::reference::cube::NEIGHBOURS`] says. `index` is the one that is out.
    fn across_edge(&mut self, face: I, index: I, along: I, last: I, is_s: bool) -> [I; 3] {
        let code = &mut *self.code;
        let zero = code.i(0);
        let below = code.i_lt(index, zero);
        let face = code.i_to_u(face);
        let first_edge = if is_s { 0 } else { 2 };
        let mut looked_up = |value: &dyn Fn(&Neighbour) -> i32| -> I {
            let [low, high] = [0, 1].map(|n| {
                let values: Vec<I> = NEIGHBOURS.iter().map(|edges| code.i(value(&edges[first_edge + n]))).collect();
                code.choose(face, &values)
            });
            code.select(below, low, high)
        };
        let other = looked_up(&|n| n.face as i32);
        let along_s = looked_up(&|n| n.along_s.into());
        let reversed = looked_up(&|n| n.reversed.into());
        let at_last = looked_up(&|n| n.at_last.into());
        let mirrored = code.i_sub(last, along);
        let forward = code.i_eq(reversed, zero);
        let along = code.select(forward, along, mirrored);
        let at_first = code.i_eq(at_last, zero);
        let across = code.select(at_first, zero, last);
        let along_t = code.i_eq(along_s, zero);
        [other, code.select(along_t, across, along), code.select(along_t, along, across)]
    }

    /// See [`crate::reference::operands::unpack_offset`].
    fn offset(&mut self, word: U, axis: usize) -> I {
        let _section = self.code.section(Stage::Operands);
        let left = self.code.u(26 - 8 * axis as u32);
        let right = self.code.u(26);
        let signed = self.code.u_to_i(word);
        let top = self.code.i_shl(signed, left);
        self.code.i_shr(top, right)
    }

    fn format(&self) -> Format {
        Format { layout: self.slot(Slot::Layout), numeric: self.slot(Slot::Numeric) }
    }

    fn select_channel<T: Value>(&mut self, slot: Slot, zero: T, one: T, channels: [T; 4]) -> T {
        let which = self.slot(slot);
        let [x, y, z, w] = channels;
        self.code.choose(which, &[zero, one, x, y, z, w])
    }

    fn border(&self) -> [U; 4] {
        [Slot::BorderX, Slot::BorderY, Slot::BorderZ, Slot::BorderW].map(|slot| self.slot(slot))
    }

    const SELECTS: [Slot; 4] = [Slot::SelectX, Slot::SelectY, Slot::SelectZ, Slot::SelectW];

    /// A tap's four channels: before DST_SEL, or after it when the border colour does not go through it.
    fn channels(&mut self, tap: Tap) -> [F; 4] {
        let _section = self.code.section(Stage::Decode);
        let [x, y, z] = self.decode(tap.word);
        let one = self.code.f(1.0);
        let mut channels = [x, y, z, one];
        if let (Some((corner, others)), CubeCorner::Average) = (tap.corner, self.rules.cube_corner) {
            let _section = self.code.section(RuleId::CubeCorner);
            let others = others.map(|word| self.decode(word));
            let third = self.code.f(1.0 / 3.0);
            for (n, channel) in channels.iter_mut().enumerate().take(3) {
                let sum = self.code.f_add(*channel, others[0][n]);
                let sum = self.code.f_add(sum, others[1][n]);
                let average = self.code.f_mul(sum, third);
                *channel = self.code.select(corner, average, *channel);
            }
        }
        if self.rules.border_swizzle == BorderSwizzle::None {
            let _section = self.code.section(RuleId::BorderSwizzle);
            let zero = self.code.f(0.0);
            channels = Self::SELECTS.map(|slot| self.select_channel(slot, zero, one, channels));
        }
        let border = self.border();
        std::array::from_fn(|n| {
            let border = self.code.u_float(border[n]);
            self.code.select(tap.border, border, channels[n])
        })
    }

    fn decode(&mut self, word: U) -> [F; 3] {
        let format = self.format();
        match self.class {
            FormatClass::Float => decode::float(self.code, format, word),
            FormatClass::Fixed | FormatClass::Integer => decode::fixed(self.code, format, word),
        }
    }

    fn integer_channels(&mut self, tap: Tap) -> [U; 4] {
        let _section = self.code.section(Stage::Decode);
        let format = self.format();
        let mut channels = decode::integer(self.code, format, tap.word);
        if self.rules.border_swizzle == BorderSwizzle::None {
            let _section = self.code.section(RuleId::BorderSwizzle);
            let (zero, one) = (self.code.u(0), self.code.u(1));
            channels = Self::SELECTS.map(|slot| self.select_channel(slot, zero, one, channels));
        }
        let border = self.border();
        std::array::from_fn(|n| self.code.select(tap.border, border[n], channels[n]))
    }

    // --- whole instructions -------------------------------------------------------------------------------------------

    /// `image_sample*`: the four words of the result.
    pub fn sample(&mut self, inputs: &Inputs, explicit: bool) -> [U; 4] {
        let Some(derivatives) = &inputs.derivatives else {
            return self.sample_at(inputs, explicit);
        };
        let computed = self.computed(derivatives);
        let lod = self.code.f_bits(computed.lod);
        let inputs = Inputs { lod: Some(lod), ..inputs.clone() };
        match self.variables {
            Some(variables) if self.class != FormatClass::Integer => self.probes(&inputs, &computed, variables),
            _ => self.sample_at(&inputs, explicit),
        }
    }

    /// The average (or the smallest, or the largest) of the probes along the footprint's longer side.
    fn probes(&mut self, inputs: &Inputs, computed: &Computed, variables: Variables) -> [U; 4] {
        let _section = self.code.section(RuleId::AnisotropyRule);
        let coordinates: Vec<F> = inputs.coordinates.iter().map(|&bits| self.condition(bits)).collect();
        let reduction = self.slot(Slot::Reduction);
        let minimum = self.slot_is(Slot::Reduction, 1);
        let code = &mut *self.code;
        let (none, one) = (code.u(0), code.u(1));
        let reduces = code.u_ne(reduction, none);
        let count = code.u_shl(one, computed.log2_probes);
        // 2^-k from its bits.
        let (bias, shift) = (code.u(127), code.u(23));
        let share = code.u_sub(bias, computed.log2_probes);
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
            .zip(&computed.major)
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
            let first = self.level_taps(levels.level, inputs, layer, point, point);
            let channels = self.integer_channels(first.taps[0][0][0]);
            return self.output_integer(channels);
        }
        let channels = self.filtered_at(inputs, explicit);
        self.output(channels)
    }

    /// The channels of a sample at one place, before DST_SEL.
    fn filtered_at(&mut self, inputs: &Inputs, explicit: bool) -> [F; 4] {
        let _section = self.code.section(Stage::Filter);
        let levels = self.levels(inputs, explicit);
        let linear_if = |emitter: &mut Self, slot| emitter.slot_is(slot, 1);
        let (mag, min) = (linear_if(self, Slot::Mag), linear_if(self, Slot::Min));
        let linear = self.code.select(levels.minify, min, mag);
        let slice_linear = self.slice_linear(linear);
        let layer = inputs.layer.map(|operand| self.layer(operand));
        let first = self.level_taps(levels.level, inputs, layer, linear, slice_linear);
        let single = {
            let code = &mut *self.code;
            let any = code.b_or(linear, levels.two);
            let any = if self.view == View::D3 { code.b_or(any, slice_linear) } else { any };
            code.b_not(any)
        };
        let point = self.channels(first.taps[0][0][0]);
        let sums = self.add_level(None, &first, &levels, 0);
        let (weight, step, two, next) = (levels.weight, levels.step, levels.two, levels.next);
        let second = Levels { minify: levels.minify, level: levels.level, next, step, weight, two };
        let sums = self.if_second_level(two, sums, |emitter, sums| {
            let taps = emitter.level_taps(next, inputs, layer, linear, slice_linear);
            emitter.add_level(Some(sums), &taps, &second, 1)
        });
        let filtered: [F; 4] = std::array::from_fn(|n| self.finish(sums[n]));
        let mut channels: [F; 4] = std::array::from_fn(|n| self.code.select(single, point[n], filtered[n]));
        if self.rules.border_swizzle == BorderSwizzle::DstSel {
            // W is 1 in every texel, so it needs no blending unless a border can be seen.
            let uses_border = self.uses_border();
            let one = self.code.f(1.0);
            channels[3] = self.code.select(uses_border, channels[3], one);
        }
        channels
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

    /// Adds a level's taps to the sums (or starts them).
    fn add_level(&mut self, sums: Option<[Sum; 4]>, level: &LevelTaps, levels: &Levels, m: usize) -> [Sum; 4] {
        let _section = self.code.section(Stage::Filter);
        let numerators = if self.rules.fixed_point_weights() { Some(self.numerators(level, levels, m)) } else { None };
        let dead = self.dead_taps(level, numerators.as_ref());
        let zero = self.code.u(0);
        // Taps without weight read as zero, so that an infinity or NaN there does not matter.
        let blended: Vec<Vec<Vec<[F; 4]>>> = map_taps(&level.taps, |at, tap| {
            let tap = match dead.as_ref().map(|dead| dead[at[0]][at[1]][at[2]]) {
                Some(dead) => {
                    let alive = self.code.b_not(dead);
                    Tap {
                        word: self.code.select(dead, zero, tap.word),
                        border: self.code.b_and(tap.border, alive),
                        corner: tap
                            .corner
                            .map(|(corner, others)| (corner, others.map(|word| self.code.select(dead, zero, word)))),
                    }
                }
                None => *tap,
            };
            self.channels(tap)
        });
        let reducible: Vec<Vec<Vec<[F; 4]>>> = map_taps(&level.taps, |_, tap| self.channels(*tap));
        std::array::from_fn(|n| {
            let previous = sums.map(|sums| sums[n]);
            let values = map_taps(&blended, |_, channels| channels[n]);
            let raw = map_taps(&reducible, |_, channels| channels[n]);
            let mut sum = self.blend(previous, level, levels, &values, numerators.as_ref());
            if self.rules.accumulation.aligned_bits().is_some() {
                self.note_special(&mut sum, level, &raw);
            }
            (sum.best, sum.found) = self.reduce(previous, level, &raw, numerators.as_ref());
            sum
        })
    }

    /// Which taps are left out of a blend; `None` when none are.
    fn dead_taps(&mut self, level: &LevelTaps, numerators: Option<&Numerators>) -> Option<Vec<Vec<Vec<B>>>> {
        let _section = self.code.section(RuleId::ZeroWeightTaps);
        if self.rules.zero_weight_taps != ZeroWeightTaps::LeftOut {
            return None;
        }
        if let Some(numerators) = numerators {
            return Some(self.no_numerator(numerators));
        }
        let axes: Vec<[B; 2]> = level.axes.iter().map(|axis| self.weightless(axis)).collect();
        Some(map_taps(&level.taps, |at, _| {
            axes.iter()
                .zip([at[2], at[1], at[0]])
                .map(|(axis, place)| axis[place])
                .reduce(|a, b| self.code.b_or(a, b))
                .unwrap_or_else(|| self.code.b(false))
        }))
    }

    /// Which taps have an integer weight of 0.
    fn no_numerator(&mut self, numerators: &Numerators) -> Vec<Vec<Vec<B>>> {
        match numerators {
            Numerators::Integers(all) => map_taps(all, |_, &n| {
                let zero = self.code.u(0);
                self.code.u_eq(n, zero)
            }),
            Numerators::Reals(all) => map_taps(all, |_, &n| {
                let zero = self.code.d(0.0);
                let weighted = self.code.d_lt(zero, n);
                self.code.b_not(weighted)
            }),
        }
    }

    /// Whether the first and the second texel along an axis have no weight.
    fn weightless(&mut self, axis: &AxisTaps) -> [B; 2] {
        let code = &mut *self.code;
        if self.rules.subtexel_bits.bits().is_some() {
            let zero = code.u(0);
            return [code.b(false), code.u_eq(axis.step, zero)];
        }
        let (zero, one) = (code.f(0.0), code.f(1.0));
        [code.f_ge(axis.weight, one), code.f_eq(axis.weight, zero)]
    }

    // --- weights ------------------------------------------------------------------------------------------------------

    fn numerators(&mut self, level: &LevelTaps, levels: &Levels, m: usize) -> Numerators {
        let _section = self.code.section(RuleId::WeightScheme);
        let bits = self.rules.subtexel_bits.bits().unwrap_or(8);
        if self.rules.weight_scheme == WeightScheme::Product {
            let along = |emitter: &mut Self, step: U, bits: u32| -> [D; 2] {
                let code = &mut *emitter.code;
                let whole = code.u(1 << bits);
                let first = code.u_sub(whole, step);
                [code.u_to_d(first), code.u_to_d(step)]
            };
            let mip = along(self, levels.step, 8)[m];
            let axes: Vec<[D; 2]> = level.axes.iter().map(|axis| along(self, axis.step, bits)).collect();
            return Numerators::Reals(map_taps(&level.taps, |at, _| {
                axes.iter()
                    .zip([at[2], at[1], at[0]])
                    .fold(mip, |product, (axis, place)| self.code.d_mul(product, axis[place]))
            }));
        }
        let whole = self.code.u(256);
        let [first, second] = self.split(whole, levels.step, 8);
        let total = if m == 0 { first } else { second };
        let slices = match level.axes.get(2) {
            Some(z) => self.split(total, z.step, bits).to_vec(),
            None => vec![total],
        };
        let integers = slices
            .into_iter()
            .map(|slice| {
                let [c0, c1] = self.split(slice, level.axes[0].step, bits);
                let Some(y) = level.axes.get(1) else { return vec![vec![c0, c1]] };
                let code = &mut *self.code;
                let (whole, half, shift) = (code.u(1 << bits), code.u(1 << (bits - 1)), code.u(bits));
                let rest = code.u_sub(whole, y.step);
                let share = |code: &mut Code, total: U, part: U| {
                    let product = code.u_mul(total, part);
                    let product = code.u_add(product, half);
                    code.u_shr(product, shift)
                };
                let r00 = share(code, c0, rest);
                let r11 = share(code, c1, y.step);
                let (r01, r10) = (code.u_sub(c0, r00), code.u_sub(c1, r11));
                vec![vec![r00, r10], vec![r01, r11]]
            })
            .collect();
        Numerators::Integers(integers)
    }

    fn split(&mut self, total: U, step: U, bits: u32) -> [U; 2] {
        let code = &mut *self.code;
        let (half, shift) = (code.u(1 << (bits - 1)), code.u(bits));
        let product = code.u_mul(total, step);
        let product = code.u_add(product, half);
        let second = code.u_shr(product, shift);
        [code.u_sub(total, second), second]
    }

    /// log2 of the whole of [`Self::numerators`].
    fn numerator_bits(&self, level: &LevelTaps) -> u32 {
        match self.rules.weight_scheme {
            WeightScheme::Totals => 8,
            WeightScheme::Product => 8 + level.axes.len() as u32 * self.rules.subtexel_bits.bits().unwrap_or(8),
        }
    }

    // --- accumulation -------------------------------------------------------------------------------------------------

    fn blend(
        &mut self,
        previous: Option<Sum>,
        level: &LevelTaps,
        levels: &Levels,
        values: &[Vec<Vec<F>>],
        numerators: Option<&Numerators>,
    ) -> Sum {
        let _section = self.code.section(RuleId::Accumulation);
        let mut sum = previous.unwrap_or_else(|| {
            let code = &mut *self.code;
            let (zero, no) = (code.f(0.0), code.b(false));
            Sum { fp32: zero, fp64: None, nan: no, infinity: no, negative_infinity: no, best: zero, found: no }
        });
        match (self.rules.accumulation.aligned_bits(), numerators) {
            (Some(bits), Some(numerators)) => self.add_aligned(&mut sum, level, values, numerators, bits),
            (None, Some(numerators)) => {
                let scale = 1.0 / (1u64 << self.numerator_bits(level)) as f64;
                each_tap(values, |at, &value| {
                    let weight = match numerators {
                        Numerators::Integers(all) => {
                            let weight = self.code.u_to_f(all[at[0]][at[1]][at[2]]);
                            let scale = self.code.f(scale as f32);
                            self.code.f_mul(weight, scale)
                        }
                        Numerators::Reals(all) => {
                            let scale = self.code.d(scale);
                            let weight = self.code.d_mul(all[at[0]][at[1]][at[2]], scale);
                            self.code.d_to_f(weight)
                        }
                    };
                    let product = self.code.f_mul(value, weight);
                    sum.fp32 = self.code.f_add(sum.fp32, product);
                });
            }
            (_, None) => {
                let slices: Vec<F> = values
                    .iter()
                    .map(|slice| {
                        let rows: Vec<F> = slice.iter().map(|row| self.lerp(&level.axes[0], row)).collect();
                        match level.axes.get(1) {
                            Some(y) => self.lerp(y, &rows),
                            None => rows[0],
                        }
                    })
                    .collect();
                let value = match level.axes.get(2) {
                    Some(z) => self.lerp(z, &slices),
                    None => slices[0],
                };
                sum.fp32 = match previous {
                    // Only reached where the level's weight is above 0; it is below 1.
                    Some(first) => self.weighted(levels.weight, first.fp32, value),
                    None => value,
                };
            }
        }
        sum
    }

    /// `a (1-w) + b w`, or `a` for point. A tap without weight has become 0, so the formula leaves it out.
    fn lerp(&mut self, axis: &AxisTaps, taps: &[F]) -> F {
        let blended = self.weighted(axis.weight, taps[0], taps[1]);
        self.code.select(axis.linear, blended, taps[0])
    }

    fn weighted(&mut self, weight: F, a: F, b: F) -> F {
        let code = &mut *self.code;
        let one = code.f(1.0);
        let rest = code.f_sub(one, weight);
        let (a, b) = (code.f_mul(a, rest), code.f_mul(b, weight));
        code.f_add(a, b)
    }

    fn add_aligned(
        &mut self,
        sum: &mut Sum,
        level: &LevelTaps,
        values: &[Vec<Vec<F>>],
        numerators: &Numerators,
        fraction_bits: u32,
    ) {
        let weight_bits = self.numerator_bits(level);
        for (z, slice) in values.iter().enumerate() {
            let code = &mut *self.code;
            let (magnitude_mask, infinity_bits) = (code.u(0x7fff_ffff), code.u(0x7f80_0000));
            let (shift, zero) = (code.u(23), code.f(0.0));
            let mut largest = code.u(MIN_BIASED_EXPONENT);
            let mut finite = Vec::new();
            for &value in slice.iter().flatten() {
                let bits = code.f_bits(value);
                let magnitude = code.u_and(bits, magnitude_mask);
                let special = code.u_ge(magnitude, infinity_bits);
                let value = code.select(special, zero, value);
                let exponent = code.u_shr(magnitude, shift);
                largest = code.u_max(largest, exponent);
                finite.push(value);
            }
            // 2^(fraction_bits - exponent), from its bits; special values give a scale that is not used.
            let bias = code.u(254 + fraction_bits);
            let exponent = code.u_sub(bias, largest);
            let scale = code.u_shl(exponent, shift);
            let scale = code.u_float(scale);
            let mut total = None;
            for (i, &value) in finite.iter().enumerate() {
                let (y, x) = (i / slice[0].len(), i % slice[0].len());
                let aligned = code.f_mul(value, scale);
                let cut = code.f_trunc(aligned);
                let cut = code.f_to_d(cut);
                let weight = match numerators {
                    Numerators::Integers(all) => code.u_to_d(all[z][y][x]),
                    Numerators::Reals(all) => all[z][y][x],
                };
                let product = code.d_mul(cut, weight);
                total = Some(match total {
                    Some(total) => code.d_add(total, product),
                    None => product,
                });
            }
            let Some(total) = total else { continue };
            // 2^(exponent - fraction_bits - weight_bits): the first part fits FP32, the rest is a constant.
            let low = code.u(fraction_bits);
            let exponent = code.u_sub(largest, low);
            let unit = code.u_shl(exponent, shift);
            let unit = code.u_float(unit);
            let unit = code.f_to_d(unit);
            let share = code.d(1.0 / (1u64 << weight_bits) as f64);
            let unit = code.d_mul(unit, share);
            let value = code.d_mul(total, unit);
            sum.fp64 = Some(match sum.fp64 {
                Some(before) => code.d_add(before, value),
                None => value,
            });
        }
    }

    /// Notes NaN and infinities among the taps that have a weight along every axis.
    fn note_special(&mut self, sum: &mut Sum, level: &LevelTaps, values: &[Vec<Vec<F>>]) {
        let _section = self.code.section(RuleId::Accumulation);
        let left_out = self.rules.zero_weight_taps == ZeroWeightTaps::LeftOut;
        let weightless: Vec<[B; 2]> = level
            .axes
            .iter()
            .map(|axis| {
                let [first, second] = self.weightless(axis);
                // A point axis has no second texel.
                let point = self.code.b_not(axis.linear);
                if left_out { [first, self.code.b_or(second, point)] } else { [self.code.b(false), point] }
            })
            .collect();
        let code = &mut *self.code;
        let (mask, infinity_bits) = (code.u(0x7fff_ffff), code.u(0x7f80_0000));
        let negative_bits = code.u(f32::NEG_INFINITY.to_bits());
        each_tap(values, |at, &value| {
            let dead = weightless
                .iter()
                .zip([at[2], at[1], at[0]])
                .map(|(axis, place)| axis[place])
                .reduce(|a, b| code.b_or(a, b));
            let Some(dead) = dead else { return };
            let alive = code.b_not(dead);
            let bits = code.f_bits(value);
            let magnitude = code.u_and(bits, mask);
            let nan = code.u_gt(magnitude, infinity_bits);
            let positive = code.u_eq(bits, infinity_bits);
            let negative = code.u_eq(bits, negative_bits);
            for (flag, is) in
                [(&mut sum.nan, nan), (&mut sum.infinity, positive), (&mut sum.negative_infinity, negative)]
            {
                let counts = code.b_and(is, alive);
                *flag = code.b_or(*flag, counts);
            }
        });
    }

    /// See [`crate::reference::blend::reduce`].
    fn reduce(
        &mut self,
        previous: Option<Sum>,
        level: &LevelTaps,
        values: &[Vec<Vec<F>>],
        numerators: Option<&Numerators>,
    ) -> (F, B) {
        let _section = self.code.section(RuleId::MinMaxTaps);
        let minimum = self.slot_is(Slot::Reduction, 1);
        let all = self.rules.minmax_taps == MinMaxTaps::All;
        let mut weightless: Vec<[B; 2]> = level.axes.iter().map(|axis| self.weightless(axis)).collect();
        let by_numerator = numerators.filter(|_| !all).map(|numerators| self.no_numerator(numerators));
        let code = &mut *self.code;
        let (mut best, mut found) = match previous {
            Some(sum) => (sum.best, sum.found),
            None => (code.f(f32::NAN), code.b(false)),
        };
        for (axis, weightless) in level.axes.iter().zip(&mut weightless) {
            // A point axis has no second texel.
            let point = code.b_not(axis.linear);
            let by_axis = !all && by_numerator.is_none();
            weightless[1] = if by_axis { code.b_or(weightless[1], point) } else { point };
            if !by_axis {
                weightless[0] = code.b(false);
            }
        }
        let (mask, infinity) = (code.u(0x7fff_ffff), code.u(0x7f80_0000));
        each_tap(values, |at, &value| {
            let dead = weightless
                .iter()
                .zip([at[2], at[1], at[0]])
                .map(|(axis, place)| axis[place])
                .reduce(|a, b| code.b_or(a, b));
            let bits = code.f_bits(value);
            let magnitude = code.u_and(bits, mask);
            let nan = code.u_gt(magnitude, infinity);
            let mut skip = match dead {
                Some(dead) => code.b_or(dead, nan),
                None => nan,
            };
            if let Some(dead) = by_numerator.as_ref().map(|dead| dead[at[0]][at[1]][at[2]]) {
                skip = code.b_or(skip, dead);
            }
            let take = code.b_not(skip);
            let (less, greater) = (code.f_lt(value, best), code.f_gt(value, best));
            let better = code.select(minimum, less, greater);
            let first = code.b_not(found);
            let better = code.b_or(first, better);
            let better = code.b_and(better, take);
            best = code.select(better, value, best);
            found = code.b_or(found, take);
        });
        (best, found)
    }

    /// The filtered value of a channel.
    fn finish(&mut self, sum: Sum) -> F {
        let _section = self.code.section(Stage::Filter);
        let blended = match sum.fp64 {
            Some(total) => {
                let rounded = self.round_result(total);
                let code = &mut *self.code;
                let infinity = code.f(f32::INFINITY);
                let negative = code.f(f32::NEG_INFINITY);
                let not_a_number = code.f(f32::NAN);
                let both = code.b_and(sum.infinity, sum.negative_infinity);
                let nan = code.b_or(sum.nan, both);
                let value = code.select(sum.negative_infinity, negative, rounded);
                let value = code.select(sum.infinity, infinity, value);
                code.select(nan, not_a_number, value)
            }
            None => self.rounded(sum.fp32),
        };
        let zero = self.code.u(0);
        let reduction = self.slot(Slot::Reduction);
        let reduces = self.code.u_ne(reduction, zero);
        self.code.select(reduces, sum.best, blended)
    }

    /// Rounds an FP32 value as results are; NaN and infinities stay.
    fn rounded(&mut self, value: F) -> F {
        let _section = self.code.section(RuleId::ResultRounding);
        if self.rules.result_rounding == ResultRounding::Fp32 {
            return value;
        }
        let code = &mut *self.code;
        let bits = code.f_bits(value);
        let mask = code.u(0x7f80_0000);
        let exponent = code.u_and(bits, mask);
        let special = code.u_eq(exponent, mask);
        let zero = code.f(0.0);
        let finite = code.select(special, zero, value);
        let wide = code.f_to_d(finite);
        let rounded = self.round_result(wide);
        self.code.select(special, value, rounded)
    }

    /// See [`crate::reference::blend::round_result`]; the value must be finite.
    fn round_result(&mut self, value: D) -> F {
        enum Ties {
            Up,
            Even,
            Cut,
        }
        let (bits, ties) = match self.rules.result_rounding {
            ResultRounding::Fp32 => return self.code.d_to_f(value),
            ResultRounding::HalfUp10 => (10, Ties::Up),
            ResultRounding::HalfUp11 => (11, Ties::Up),
            ResultRounding::NearestEven11 => (11, Ties::Even),
            ResultRounding::Cut11 => (11, Ties::Cut),
            ResultRounding::HalfUp12 => (12, Ties::Up),
        };
        let code = &mut *self.code;
        let high = code.d_high_word(value);
        let (twenty, mask) = (code.u(20), code.u(0x7ff));
        let exponent = code.u_shr(high, twenty);
        let exponent = code.u_and(exponent, mask);
        // From FP64's bias to FP32's, with FP16's smallest exponent as the floor; sums stay below FP32's largest.
        let smallest = code.u(1023 - 14);
        let exponent = code.u_max(exponent, smallest);
        let offset = code.u(1023 - 127);
        let exponent = code.u_sub(exponent, offset);
        let shift = code.u(23);
        let drop = code.u(bits - 1);
        let step = code.u_sub(exponent, drop);
        let step = code.u_shl(step, shift);
        let step = code.u_float(step);
        let step = code.f_to_d(step);
        let bias = code.u(254 + bits - 1);
        let inverse = code.u_sub(bias, exponent);
        let inverse = code.u_shl(inverse, shift);
        let inverse = code.u_float(inverse);
        let inverse = code.f_to_d(inverse);
        let magnitude = code.d_abs(value);
        let scaled = code.d_mul(magnitude, inverse);
        let rounded = match ties {
            Ties::Up => {
                let half = code.d(0.5);
                let up = code.d_add(scaled, half);
                code.d_floor(up)
            }
            Ties::Even => code.d_round_even(scaled),
            Ties::Cut => code.d_floor(scaled),
        };
        let result = code.d_mul(rounded, step);
        let result = code.d_to_f(result);
        let bits = code.f_bits(result);
        let sign_mask = code.u(0x8000_0000);
        let sign = code.u_and(high, sign_mask);
        let bits = code.u_or(bits, sign);
        code.u_float(bits)
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
        let level = self.level_taps(levels.level, inputs, layer, linear, linear);
        let rows = &level.taps[0];
        let order = [rows[1][0], rows[1][1], rows[0][1], rows[0][0]];
        let selects = Self::SELECTS.map(|slot| self.slot(slot));
        let channel = self.slot(Slot::GatherChannel);
        let select = self.code.choose(channel, &selects);
        let through = self.rules.border_swizzle == BorderSwizzle::DstSel;
        order.map(|tap| {
            let (channels, zero, one) = if self.class == FormatClass::Integer {
                (self.integer_channels(tap), self.code.u(0), self.code.u(1))
            } else {
                let channels = self.channels(tap).map(|c| self.code.f_bits(c));
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
        let size = self.level_size(level);
        let mut at = Vec::new();
        for axis in 0..self.view.axes() {
            let (index, ok) = within(self, inputs.coordinates[axis], size[axis], inside);
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
        let word = self.fetch(level, &at);
        let border = self.code.b(false);
        let tap = Tap { word, border, corner: None };
        let section = self.code.section(Stage::Decode);
        let integer = self.class == FormatClass::Integer;
        let format = self.format();
        let channels = match self.class {
            FormatClass::Integer => decode::integer(self.code, format, tap.word),
            class => {
                let [x, y, z] = match class {
                    FormatClass::Float => decode::float(self.code, format, tap.word),
                    _ => decode::fixed(self.code, format, tap.word),
                };
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

/// Integer weights of a level's taps: words where they fit, FP64 where they do not.
enum Numerators {
    Integers(Vec<Vec<Vec<U>>>),
    Reals(Vec<Vec<Vec<D>>>),
}

impl Sum {
    /// The values that a branch can change, with their types.
    fn values(&self, code: &Code) -> Vec<(Word, Word)> {
        let float = F::type_id(code);
        let boolean = B::type_id(code);
        let mut values = vec![
            (float, self.fp32.id()),
            (boolean, self.nan.id()),
            (boolean, self.infinity.id()),
            (boolean, self.negative_infinity.id()),
            (float, self.best.id()),
            (boolean, self.found.id()),
        ];
        values.extend(self.fp64.map(|d| (D::type_id(code), d.id())));
        values
    }

    fn with_ids(&self, ids: &[Word]) -> Self {
        Self {
            fp32: F::from_id(ids[0]),
            nan: B::from_id(ids[1]),
            infinity: B::from_id(ids[2]),
            negative_infinity: B::from_id(ids[3]),
            best: F::from_id(ids[4]),
            found: B::from_id(ids[5]),
            fp64: self.fp64.map(|_| D::from_id(ids[6])),
        }
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

/// `index mod period` in 0..period, for |index| below 2^23 and periods to 2^15.
///
/// The quotient by FP32 reciprocal is off by at most one, also with the 2.5 ULP that Vulkan allows a division, as long as
/// the period is at least 2; the corrections make up for that, and the last limit serves a period of 1.
fn remainder(code: &mut Code, index: I, period: I, period_f: F) -> I {
    let one = code.f(1.0);
    let reciprocal = code.f_div(one, period_f);
    let index_f = code.i_to_f(index);
    let quotient = code.f_mul(index_f, reciprocal);
    let quotient = code.f_floor(quotient);
    let quotient = code.f_to_i(quotient);
    let whole = code.i_mul(quotient, period);
    let rest = code.i_sub(index, whole);
    let zero = code.i(0);
    let negative = code.i_lt(rest, zero);
    let up = code.i_add(rest, period);
    let rest = code.select(negative, up, rest);
    let beyond = code.i_ge(rest, period);
    let down = code.i_sub(rest, period);
    let rest = code.select(beyond, down, rest);
    let one = code.i(1);
    let last = code.i_sub(period, one);
    code.i_clamp(rest, zero, last)
}

/// See [`crate::reference::coordinate::condition`].
pub fn condition(code: &mut Code, rules: &Rules, bits: U) -> F {
    let _section = code.section(RuleId::NanCoordinate);
    let mask = code.u(0x7fff_ffff);
    let magnitude = code.u_and(bits, mask);
    let (smallest, largest) = (code.u(0x0080_0000), code.u(0x7f80_0000));
    let zero = code.u(0);
    let section = code.section(RuleId::DenormalCoordinate);
    let denormal = code.u_lt(magnitude, smallest);
    let bits = code.select(denormal, zero, bits);
    drop(section);
    let nan = code.u_gt(magnitude, largest);
    let substitute = match rules.nan_coordinate {
        NanCoordinate::Zero => zero,
        NanCoordinate::Lowest => code.u(f32::NEG_INFINITY.to_bits()),
    };
    let bits = code.select(nan, substitute, bits);
    code.u_float(bits)
}
