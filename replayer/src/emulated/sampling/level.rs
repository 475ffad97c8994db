//! Levels of detail: clamps, bias, derivatives, and the levels with their weight.

use rspirv::{dr::Operand, spirv::Op as SpirvOp};

use super::{Computed, Emitter, Inputs, Level, Levels, Probes, Texels};
use crate::{
    emulated::{
        code::{B, F, I, U, Value},
        module::element,
        section::Stage,
        specialization::{RowWord, Slot},
    },
    reference::{
        coordinate::Rounding,
        derivatives::{LOG2_COEFFICIENTS, LOG2_LIMIT, SMALLEST_CHANGE},
        lod::{FAR_LOD, FREE_MAX_LOD, LOD_LIMIT},
        place::INTEGER_END,
    },
    rules::{
        AnisotropyRule, DenormalCoordinate, ExplicitLodBias, IntegerConversion, LodDerivatives, LodRounding,
        LodRoundingStage, MinifyFrom, MipNearest, MipNearestLod, MipPointClamp, NanCoordinate, RuleId, SampleGroup,
    },
    state::View,
};

/// Which LODs are multiples of 1/256.
struct LodGrid {
    /// The one whose nearest level is taken.
    holds_nearest: bool,
    /// The one before limits, where the nearest level is limited instead.
    holds_free: bool,
    /// Whether rounding and limits may change places.
    limits_commute: bool,
}

impl Emitter<'_> {
    /// A level. Its sizes are those of level 0, shifted: llvmpipe's query takes the level of one invocation for all of a
    /// group.
    pub(super) fn level(&mut self, number: U) -> Level {
        self.level_or_first(number, None)
    }

    /// A level that a sampler has chosen. Without mip filter it is the view's first, which often is the image's; a compiler
    /// does not know that an image has texels in its first level.
    pub(super) fn chosen_level(&mut self, number: U) -> Level {
        let (no_mip, first) = (self.slot_is(Slot::Mip, 0), self.slot_is(Slot::BaseLevel, 0));
        let is_first = self.code.b_and(no_mip, first);
        self.level_or_first(number, Some(is_first))
    }

    fn level_or_first(&mut self, number: U, is_first: Option<B>) -> Level {
        let _section = self.code.section(Stage::Levels);
        let whole = self.base_size();
        let one = self.code.i(1);
        let size = whole
            .into_iter()
            .map(|whole| {
                let shifted = self.code.i_shr(whole, number);
                let limited = self.code.i_max(shifted, one);
                match is_first {
                    Some(is_first) => self.code.select(is_first, whole, limited),
                    None => limited,
                }
            })
            .collect();
        let start = match self.texels {
            Texels::Image(_) => None,
            Texels::Table(table) => {
                let first = self.code.u(RowWord::Start.place());
                let at = self.code.u_add(table.row, first);
                let at = self.code.u_add(at, number);
                let uint = U::type_id(self.code);
                let pointer = element(self.code, table.states, uint, at);
                Some(self.code.load(pointer))
            }
        };
        Level { number, size, start }
    }

    /// Sizes of level 0 along the axes.
    fn base_size(&mut self) -> Vec<I> {
        let image = match self.texels {
            Texels::Image(image) => image,
            Texels::Table(table) => {
                return table.size[..self.view.axes()].iter().map(|&size| self.code.u_to_i(size)).collect();
            }
        };
        let components = match self.view {
            View::D1 => 1,
            View::D1Array | View::D2 => 2,
            View::D2Array | View::Cube | View::D3 => 3,
        };
        let int = I::type_id(self.code);
        let ty = if components == 1 { int } else { self.code.raw().type_vector(int, components) };
        let zero = self.code.u(0);
        let size = self.code.instruction(
            SpirvOp::ImageQuerySizeLod,
            ty,
            vec![Operand::IdRef(image), Operand::IdRef(zero.id())],
        );
        (0..self.view.axes() as u32)
            .map(|n| if components == 1 { I::from_id(size) } else { self.code.extract(size, n) })
            .collect()
    }

    /// A LOD rounded to 1/256, where the rules round it.
    fn quantize_lod(&mut self, lod: F) -> F {
        let Some(steps) = self.lod_steps(lod) else { return lod };
        let _section = self.code.section(RuleId::LodRounding);
        let step = self.code.f(1.0 / 256.0);
        self.code.f_mul(steps, step)
    }

    /// A LOD in whole steps of 1/256, where the rules round it.
    fn lod_steps(&mut self, lod: F) -> Option<F> {
        let _section = self.code.section(RuleId::LodRounding);
        let rounding = match self.rules.lod_rounding {
            LodRounding::None => return None,
            LodRounding::TowardZero => None,
            LodRounding::Floor => Some(Rounding::Floor),
            LodRounding::NearestEven => Some(Rounding::NearestEven),
            LodRounding::HalfUp => Some(Rounding::HalfUp),
        };
        let scale = self.code.f(256.0);
        let x = self.code.f_mul(lod, scale);
        Some(match rounding {
            Some(how) => self.round_f(how, x),
            None => self.code.f_trunc(x),
        })
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
    pub(super) fn levels(&mut self, inputs: &Inputs, explicit: bool) -> Levels {
        let _section = self.code.section(Stage::Levels);
        let mut lod = match inputs.lod {
            Some(bits) => self.lod_operand(bits),
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
            let bias = self.lod_operand(bits);
            lod = self.code.f_add(lod, bias);
        }
        let mut free = lod;
        let grid = self.lod_grid(inputs);
        let mut low = self.slot_lod(Slot::MinLod, false);
        if let Some(bits) = inputs.clamp {
            // Whether there is a limit below can be seen, so its denormals can.
            let clamp = self.lod_operand_where(bits, None);
            low = self.code.f_max(low, clamp);
        }
        let mut high = self.slot_lod(Slot::MaxLod, false);
        let lowest = self.rules.integer_conversion == IntegerConversion::Lowest;
        let (max_lod, free_max) = (self.slot(Slot::MaxLod), self.code.u(FREE_MAX_LOD));
        let no_high = self.code.u_ge(max_lod, free_max);
        let zero = self.code.f(0.0);
        let no_low = self.code.f_eq(low, zero);
        if lowest {
            let _section = self.code.section(RuleId::IntegerConversion);
            // Above what an operand can be in the conversion's reach.
            let far = self.code.f(FAR_LOD);
            high = self.code.select(no_high, far, high);
        }
        let mut is_nan = self.code.b(false);
        if let (NanCoordinate::Kept, Some(bits)) = (self.rules.nan_coordinate, inputs.lod) {
            let _section = self.code.section(RuleId::NanCoordinate);
            let nan = self.is_nan(bits);
            let code = &mut *self.code;
            let limit = code.select(no_high, low, high);
            lod = code.select(nan, limit, lod);
            let unlimited = code.b_and(no_high, no_low);
            is_nan = code.b_and(nan, unlimited);
        }
        let negative = self.code.f_lt(lod, zero);
        let mut below = self.code.b_or(negative, is_nan);
        below = self.code.b_and(below, no_low);
        lod = self.code.f_clamp(lod, low, high);
        let mut unrounded = lod;
        let final_stage = self.rules.lod_rounding_stage == LodRoundingStage::Final;
        if final_stage {
            lod = self.quantize_lod(lod);
        }
        let point_mode = self.slot_is(Slot::Mip, 1);
        let linear_mode = self.slot_is(Slot::Mip, 2);
        let last_level = self.slot(Slot::LastLevel);
        let code = &mut *self.code;
        let section = code.section(RuleId::MinifyFrom);
        let minify = match self.rules.minify_from {
            MinifyFrom::AboveZero => code.f_gt(lod, zero),
            MinifyFrom::AtZero => code.f_ge(lod, zero),
        };
        let minify = code.b_or(minify, is_nan);
        drop(section);
        if lowest {
            let _section = code.section(RuleId::IntegerConversion);
            let end = code.f(INTEGER_END);
            let beyond = code.f_ge(lod, end);
            let minus = code.f(-1.0);
            for lod in [&mut lod, &mut unrounded, &mut free] {
                *lod = code.select(beyond, minus, *lod);
            }
            below = code.b_or(below, beyond);
        }
        let last = code.u_to_f(last_level);
        let in_view = if grid.limits_commute {
            // One limit instead of two: S# and T# give both, a compiler joins them.
            let (low, high) = (code.f_clamp(low, zero, last), code.f_clamp(high, zero, last));
            let rounded = if final_stage { self.quantize_lod(free) } else { free };
            self.code.f_clamp(rounded, low, high)
        } else {
            code.f_clamp(lod, zero, last)
        };
        let point_lod = match self.rules.mip_nearest_lod {
            MipNearestLod::Rounded => in_view,
            MipNearestLod::Unrounded => self.code.f_clamp(unrounded, zero, last),
        };
        let unchanged = if explicit || inputs.bias.is_some() || self.rules.mip_nearest != MipNearest::NearestEven {
            None
        } else {
            let unbiased = self.slot_is(Slot::LodBias, 0);
            let unlimited = self.code.b_and(no_high, no_low);
            Some(self.code.b_and(unbiased, unlimited))
        };
        let mut nearest = self.nearest_level(point_lod, grid.holds_nearest, unchanged);
        if self.rules.mip_point_clamp == MipPointClamp::ByField {
            let _section = self.code.section(RuleId::MipPointClamp);
            let preclamp = self.slot_is(Slot::MipPointPreclamp, 1);
            let rounds = self.rules.mip_nearest_lod == MipNearestLod::Rounded && final_stage;
            let chosen = if rounds && self.rules.mip_nearest == MipNearest::HalfUp {
                self.nearest_to_rounded(free)
            } else {
                let free = if rounds { self.quantize_lod(free) } else { free };
                self.nearest_level(free, grid.holds_free, unchanged)
            };
            let code = &mut *self.code;
            // The level is a whole number, so its limits may be rounded down and joined before it is known.
            let [low, high] = [low, high].map(|limit| {
                let whole = code.f_floor(limit);
                code.f_clamp(whole, zero, last)
            });
            let chosen = code.f_clamp(chosen, low, high);
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
        let mut next = code.u_add(level, one);
        // A sample of its own reads a second level only where that has a weight, so where there is one.
        if self.rules.sample_group != SampleGroup::One {
            next = code.u_min(next, last_level);
            next = code.select(below, level, next);
        }
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

    /// The level nearest to a LOD after its rounding, ties up, in one instruction less.
    fn nearest_to_rounded(&mut self, lod: F) -> F {
        let Some(steps) = self.lod_steps(lod) else { return self.nearest_level(lod, false, None) };
        let _section = self.code.section(RuleId::MipNearest);
        let code = &mut *self.code;
        let (step, half) = (code.f(1.0 / 256.0), code.f(0.5));
        let further = code.f_fma_of_exact(steps, step, half);
        code.f_floor(further)
    }

    /// What the rounding of the LOD allows.
    fn lod_grid(&self, inputs: &Inputs) -> LodGrid {
        let rules = self.rules;
        let rounds = rules.lod_rounding != LodRounding::None;
        let last = rules.lod_rounding_stage == LodRoundingStage::Final;
        let plain =
            rules.integer_conversion == IntegerConversion::Limited && rules.nan_coordinate != NanCoordinate::Kept;
        // Limits of the state are on the grid, bias and limit of the instruction need not be.
        let limits = inputs.clamp.is_none();
        let nearest_is_rounded = rules.mip_nearest_lod == MipNearestLod::Rounded;
        let (free, limited) = if last {
            (nearest_is_rounded, nearest_is_rounded)
        } else {
            (inputs.bias.is_none(), inputs.bias.is_none() && limits)
        };
        LodGrid {
            holds_nearest: rounds && plain && limited,
            holds_free: rounds && plain && free,
            limits_commute: plain && (!last || !rounds || limits),
        }
    }

    /// Whether a denormal in a LOD's operands can change the result.
    fn lod_sees_denormals(&self) -> bool {
        let rules = self.rules;
        let rounds =
            matches!(rules.lod_rounding, LodRounding::NearestEven | LodRounding::HalfUp | LodRounding::TowardZero);
        let absorbed = rounds
            && rules.lod_rounding_stage == LodRoundingStage::Final
            && rules.denormal_coordinate == DenormalCoordinate::Zero
            && rules.integer_conversion == IntegerConversion::Limited
            && rules.nan_coordinate != NanCoordinate::Kept
            && rules.sample_group == SampleGroup::One;
        !absorbed
    }

    /// The level nearest to a LOD; `on_grid`: a multiple of 1/256.
    fn nearest_level(&mut self, lod: F, on_grid: bool, unchanged: Option<B>) -> F {
        let _section = self.code.section(RuleId::MipNearest);
        match self.rules.mip_nearest {
            MipNearest::HalfUp if on_grid => {
                // The sum is exact.
                let half = self.code.f(0.5);
                let further = self.code.f_add(lod, half);
                self.code.f_floor(further)
            }
            MipNearest::HalfUp => self.round_f(Rounding::HalfUp, lod),
            MipNearest::NearestEven => {
                let even = self.round_f(Rounding::NearestEven, lod);
                let Some(unchanged) = unchanged else { return even };
                let up = self.round_f(Rounding::HalfUp, lod);
                self.code.select(unchanged, up, even)
            }
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

    /// See [`crate::reference::derivatives::computed`].
    pub(super) fn computed(&mut self, derivatives: &[Vec<U>; 2]) -> Computed {
        let _section = self.code.section(RuleId::LodDerivatives);
        let base = self.slot(Slot::BaseLevel);
        let size = self.level(base).size;
        let unnormalized = self.slot_is(Slot::Unnormalized, 1);
        let conditioned = derivatives
            .each_ref()
            .map(|side| side.iter().take(size.len()).map(|&bits| self.condition(bits)).collect::<Vec<F>>());
        if self.rules.anisotropy == AnisotropyRule::Pairs {
            let one = self.code.i(1);
            let size: Vec<I> = size.iter().map(|&size| self.code.select(unnormalized, one, size)).collect();
            return self.line(&conditioned, &size);
        }
        let changes = conditioned.each_ref().map(|side| side.iter().map(|&d| self.without_tiny(d)).collect::<Vec<F>>());
        let [x, y] = changes.each_ref().map(|side| {
            let mut sum = self.code.f(0.0);
            for (&along, &size) in side.iter().zip(&size) {
                let code = &mut *self.code;
                let size = code.i_to_f(size);
                let scaled = code.f_mul(along, size);
                let texels = code.select(unnormalized, along, scaled);
                sum = match self.rules.lod_derivatives {
                    LodDerivatives::Length | LodDerivatives::Octagon | LodDerivatives::LinearLogarithm => {
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
        let lod = match self.rules.lod_derivatives {
            LodDerivatives::Octagon => {
                let one = self.code.i(1);
                let size: Vec<I> = size.iter().map(|&size| self.code.select(unnormalized, one, size)).collect();
                let octagon = self.octagon(&conditioned, &size);
                self.short_log2(octagon.extent)
            }
            LodDerivatives::Length | LodDerivatives::Largest => self.half_log2(long),
            LodDerivatives::LinearLogarithm => self.half_linear_log2(long),
        };
        let code = &mut *self.code;
        let shares = code.u_to_f(log2_probes);
        let lod = code.f_sub(lod, shares);
        let major = changes[0].iter().zip(&changes[1]).map(|(&x, &y)| code.select(x_is_longer, x, y)).collect();
        Computed { lod, probes: Probes::PowersOfTwo { log2_probes, major } }
    }

    /// See [`SMALLEST_CHANGE`].
    fn without_tiny(&mut self, change: F) -> F {
        let code = &mut *self.code;
        let (smallest, none) = (code.f(SMALLEST_CHANGE), code.f(0.0));
        let magnitude = code.f_abs(change);
        let tiny = code.f_lt(magnitude, smallest);
        code.select(tiny, none, change)
    }

    /// See [`crate::reference::derivatives::log2_of_mantissa`].
    pub(super) fn log2_of_mantissa(&mut self, fraction: F) -> F {
        let code = &mut *self.code;
        let zero = code.f(0.0);
        let polynomial = LOG2_COEFFICIENTS.iter().rev().fold(zero, |sum, &c| {
            let c = code.f(c);
            let product = code.f_mul(sum, fraction);
            code.f_add(product, c)
        });
        code.f_mul(polynomial, fraction)
    }

    fn lod_operand(&mut self, bits: U) -> F {
        let never = self.code.b(false);
        let denormals = if self.lod_sees_denormals() { None } else { Some(never) };
        self.lod_operand_where(bits, denormals)
    }

    /// [`Self::lod_operand`]; denormals as in [`Self::condition_where`].
    fn lod_operand_where(&mut self, bits: U, denormals: Option<B>) -> F {
        let limit = match self.rules.integer_conversion {
            IntegerConversion::Limited => LOD_LIMIT,
            // Far enough for the conversion; sums stay finite.
            IntegerConversion::Lowest => FAR_LOD,
        };
        let value = self.condition_where(bits, denormals);
        let (low, high) = (self.code.f(-limit), self.code.f(limit));
        self.code.f_clamp(value, low, high)
    }

    /// See [`crate::reference::derivatives::half_linear_log2`].
    fn half_linear_log2(&mut self, square: F) -> F {
        let code = &mut *self.code;
        let bits = code.f_bits(square);
        let (infinity, zero) = (code.u(0x7f80_0000), code.u(0));
        let special = code.u_ge(bits, infinity);
        let bits = code.select(special, zero, bits);
        let (shift, bias, mantissa, one) = (code.u(23), code.i(128), code.u(0x007f_ffff), code.u(0x3f80_0000));
        let exponent = code.u_shr(bits, shift);
        let exponent = code.u_to_i(exponent);
        let exponent = code.i_sub(exponent, bias);
        let exponent = code.i_to_f(exponent);
        let fraction = code.u_and(bits, mantissa);
        let fraction = code.u_or(fraction, one);
        let fraction = code.u_float(fraction);
        let log = code.f_add(exponent, fraction);
        let half = code.f(0.5);
        code.f_mul(log, half)
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
        let (one, half) = (code.f(1.0), code.f(0.5));
        let fraction = code.f_sub(fraction, one);
        let polynomial = self.log2_of_mantissa(fraction);
        let code = &mut *self.code;
        let log = code.f_add(exponent, polynomial);
        let lod = code.f_mul(log, half);
        let (smallest, infinity) = (code.u(0x0080_0000), code.u(0x7f80_0000));
        let (low, high) = (code.f(-LOG2_LIMIT), code.f(LOG2_LIMIT));
        let tiny = code.u_lt(bits, smallest);
        let huge = code.u_ge(bits, infinity);
        let lod = code.select(tiny, low, lod);
        code.select(huge, high, lod)
    }
}
