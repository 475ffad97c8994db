//! From a level of detail to levels and the weight between them.

use crate::{
    reference::{
        coordinate::{Rounding, condition},
        pairs::{LevelProbes, Line, OCTAVE},
        place::INTEGER_END,
    },
    rules::{
        ExplicitLodBias, IntegerConversion, LodRounding, LodRoundingStage, MinifyFrom, MipNearest, MipNearestLod,
        MipPointClamp, NanCoordinate, Rules,
    },
    state::{MipMode, State},
};

/// Levels of detail are limited to ±64 before anything else: beyond every clamp that S# and T# can hold with every bias.
pub const LOD_LIMIT: f32 = 64.0;

/// Fraction bits of a level of detail in fixed point.
pub const LOD_BITS: u32 = 8;

/// Where the level of detail of a sample comes from, before bias and clamps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LodOperand {
    /// The operand (or what was computed from derivatives), as FP32 bits.
    pub bits: u32,
    /// Bias of the instruction, as FP32 bits.
    pub bias: u32,
    /// Lower clamp of the instruction, as FP32 bits.
    pub clamp: Option<u32>,
    /// Whether the level was given rather than computed.
    pub explicit: bool,
}

/// The levels that a sample reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Whether XY_MIN_FILTER is in force instead of XY_MAG_FILTER.
    pub minify: bool,
    /// The (first) level, counted from the view's first level.
    pub level: u32,
    /// The level after it, or the same where there is none.
    pub next: u32,
    /// Weight of `next` in steps of 1/256; 0 without a fixed-point LOD.
    pub step: u32,
    /// Weight of `next` in 0..1 (exactly `step / 256` on the grid).
    pub weight: f32,
    /// The level of detail after bias and clamps, in fixed point when there is one.
    pub lod: f32,
}

impl Levels {
    /// The probes of a line in each level read, with the level's part of 256.
    ///
    /// In the first of two levels the probes of the whole line stand further apart than a texel, in the second, whose texels
    /// are larger, fewer are needed. A level that is read alone is not stretched.
    #[must_use]
    pub fn probes(&self, line: Line) -> [Option<(LevelProbes, u32)>; 2] {
        let probes = |ratio, stretch| LevelProbes::new(ratio, line.direction, stretch);
        let step = (self.weight * OCTAVE as f32) as u32;
        if self.weight == 0.0 {
            return [Some((probes(line.ratio, 0), OCTAVE as u32)), None];
        }
        let shorter = line.ratio - (OCTAVE - step as i32);
        [Some((probes(line.ratio, step), OCTAVE as u32 - step)), Some((probes(shorter, 0), step))]
    }
}

#[inline(always)]
fn quantize(rules: &Rules, lod: f32) -> f32 {
    let x = lod * (1 << LOD_BITS) as f32;
    let x = match rules.lod_rounding {
        LodRounding::None => return lod,
        LodRounding::Floor => x.floor(),
        LodRounding::TowardZero => x.trunc(),
        LodRounding::NearestEven => x.round_ties_even(),
        LodRounding::HalfUp => Rounding::HalfUp.f32(x),
    };
    x * (1.0 / (1 << LOD_BITS) as f32)
}

#[inline(always)]
fn operand(rules: &Rules, bits: u32) -> f32 {
    let value = condition(rules, bits);
    match rules.integer_conversion {
        IntegerConversion::Limited => value.clamp(-LOD_LIMIT, LOD_LIMIT),
        IntegerConversion::Lowest => value.clamp(-FAR_LOD, FAR_LOD),
    }
}

/// Operands of a LOD are limited to ±2^60 where no other limit is: far beyond every integer, and sums stay finite.
pub const FAR_LOD: f32 = 1_152_921_504_606_846_976.0;

/// From here on an upper limit limits nothing by [`IntegerConversion::Lowest`]: no image has so many levels.
pub const FREE_MAX_LOD: u32 = 14 << LOD_BITS;

/// Chooses the levels of a sample.
#[inline(always)]
#[must_use]
pub fn levels(rules: &Rules, state: &State, source: &LodOperand) -> Levels {
    const STEP: f32 = 1.0 / 256.0;
    let mut lod = operand(rules, source.bits);
    if rules.lod_rounding_stage == LodRoundingStage::Operand {
        lod = quantize(rules, lod);
    }
    if !source.explicit || rules.explicit_lod_bias == ExplicitLodBias::Added {
        lod += state.lod_bias as f32 * STEP;
    }
    lod += operand(rules, source.bias);
    let mut free = lod;
    // The upper limit is applied last, so that it wins where the limits cross.
    let mut low = state.min_lod.max(state.image_min_lod) as f32 * STEP;
    if let Some(clamp) = source.clamp {
        low = low.max(operand(rules, clamp));
    }
    let high = state.max_lod as f32 * STEP;
    let lowest = rules.integer_conversion == IntegerConversion::Lowest;
    let no_high = state.max_lod >= FREE_MAX_LOD;
    let high = if lowest && no_high { FAR_LOD } else { high };
    // A NaN that is kept takes the limit that it meets first.
    let kept = rules.nan_coordinate == NanCoordinate::Kept && source.bits & 0x7fff_ffff > 0x7f80_0000;
    if kept {
        lod = if no_high { low } else { high };
    }
    let is_nan = kept && no_high && low == 0.0;
    // Without a limit below, two levels to blend below level 0 are both level 0.
    let mut below = low == 0.0 && (lod < 0.0 || is_nan);
    let limit = |lod: f32| lod.max(low).min(high);
    lod = limit(lod);
    let mut unrounded = lod;
    if rules.lod_rounding_stage == LodRoundingStage::Final {
        lod = quantize(rules, lod);
    }
    let minify = is_nan
        || match rules.minify_from {
            MinifyFrom::AboveZero => lod > 0.0,
            MinifyFrom::AtZero => lod >= 0.0,
        };
    if lowest && lod >= INTEGER_END {
        (lod, unrounded, free, below) = (-1.0, -1.0, -1.0, true);
    }
    let unchanged = !source.explicit && state.lod_bias == 0 && source.bias == 0 && no_high && low == 0.0;
    let last = state.last_level as f32;
    let in_view = lod.clamp(0.0, last);
    let (level, weight) = match state.mip {
        MipMode::Base => (0.0, 0.0),
        MipMode::Point => {
            let chosen = if rules.mip_point_clamp == MipPointClamp::Before || state.mip_point_preclamp {
                let lod = match rules.mip_nearest_lod {
                    MipNearestLod::Rounded => in_view,
                    MipNearestLod::Unrounded => unrounded.clamp(0.0, last),
                };
                nearest(rules, lod, unchanged)
            } else {
                let lod = match (rules.mip_nearest_lod, rules.lod_rounding_stage) {
                    (MipNearestLod::Rounded, LodRoundingStage::Final) => quantize(rules, free),
                    _ => free,
                };
                limit(nearest(rules, lod, unchanged)).floor().clamp(0.0, last)
            };
            (chosen, 0.0)
        }
        MipMode::Linear => {
            let level = in_view.floor();
            (level, in_view - level)
        }
    };
    let level = level as u32;
    let next = if below { level } else { (level + 1).min(state.last_level) };
    let step = if rules.lod_rounding == LodRounding::None { 0 } else { (weight * 256.0) as u32 };
    Levels { minify, level, next, step, weight, lod }
}

#[inline(always)]
fn nearest(rules: &Rules, lod: f32, unchanged: bool) -> f32 {
    match rules.mip_nearest {
        MipNearest::HalfUp => Rounding::HalfUp.f32(lod),
        MipNearest::NearestEven if unchanged => Rounding::HalfUp.f32(lod),
        MipNearest::NearestEven => lod.round_ties_even(),
        MipNearest::HalfDown => {
            let down = lod.floor();
            if lod - down > 0.5 { down + 1.0 } else { down }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        capture::{Plan, Suite},
        materialise::materialise,
        rules::Profile,
    };

    fn level(rules: &Rules, state: &State, lod: f32, explicit: bool) -> (u32, bool) {
        let found = levels(rules, state, &LodOperand { bits: lod.to_bits(), bias: 0, clamp: None, explicit });
        (found.level, found.minify)
    }

    #[test]
    fn nearest_levels_at_halves_and_beyond_every_integer() {
        let dispatch = &Suite::Lods.dispatches(&Plan { seed: 1, samples: 1 }).unwrap()[0];
        let state = materialise(dispatch, &Profile::EXACT.rules).unwrap();
        assert_eq!((state.mip, state.max_lod, state.lod_bias), (MipMode::Point, 0xfff, 0));
        let even = Rules { mip_nearest: MipNearest::NearestEven, ..Profile::EXACT.rules };
        assert_eq!([0.5, 1.5, 2.5, 2.75].map(|lod| level(&even, &state, lod, true).0), [0, 2, 2, 3]);
        // Computed and left as it is, a half goes up.
        assert_eq!([0.5, 2.5].map(|lod| level(&even, &state, lod, false).0), [1, 3]);
        let lowest = Rules { integer_conversion: IntegerConversion::Lowest, ..even };
        assert_eq!(level(&lowest, &state, f32::INFINITY, true), (0, true));
        assert_eq!(level(&lowest, &State { max_lod: 0x200, ..state.clone() }, f32::INFINITY, true), (2, true));
        let kept = Rules { nan_coordinate: NanCoordinate::Kept, ..lowest };
        assert_eq!(level(&kept, &state, f32::NAN, true), (0, true));
        assert_eq!(level(&kept, &State { max_lod: 0x200, ..state }, f32::NAN, true), (2, true));
    }
}
