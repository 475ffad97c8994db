//! A dispatch under many choices of rules.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use capture_format::{Column, Dispatch, Entries, ImageDescriptor, LodSource, TexelFormat};
use rayon::prelude::*;

use super::{agree::Target, bits::Bits};
use crate::{
    reference::coordinate::texel_limit,
    refusal::Refusal,
    rules::{
        CoordinateProduct, CubeCorner, EdgeClamp, IntegerConversion, NanCoordinate, RuleChange, RuleId, Rules,
        TruncCoord,
    },
    state::{Address, Filter, Reduction, SliceFilter, State, View},
    table::{self, PartSamplers, Parts},
};

/// The states of a dispatch under some rules: one for each pair of descriptors in use, one in all without tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct States(Vec<State>);

impl States {
    /// The states, by pair.
    pub(crate) fn all(&self) -> &[State] {
        &self.0
    }

    /// The largest number of probes that an anisotropic sample takes.
    pub(crate) fn most_probes(&self) -> usize {
        self.0.iter().filter_map(|state| state.anisotropy).map(|a| 1 << a.log2_ratio).max().unwrap_or(1)
    }
}

/// States that are kept: a table may have many for each of many rules, and makes those beyond again.
const KEPT_STATES: usize = 1 << 16;

/// A dispatch with the states that it has under the rules asked for so far.
pub(crate) struct Models<'a> {
    dispatch: &'a Dispatch,
    /// The dispatch by its descriptors; the refusal of a split is that of every choice of rules.
    parts: Result<Parts<'a>, Refusal>,
    /// Looked for when it is first asked for: one sample is described without a look at all others.
    special: OnceLock<Special>,
    states: Mutex<HashMap<Rules, Result<Arc<States>, Refusal>>>,
    stop: Option<&'a AtomicBool>,
}

/// Special values among the operands.
#[derive(Clone, Copy, Debug, Default)]
struct Special {
    nan: bool,
    denormal: bool,
    /// Below 0 among the places on a cube's face.
    negative_place: bool,
    /// Of 256 and more: beyond 2^22 texels in the largest images.
    huge: bool,
    /// The largest magnitude of a coordinate.
    farthest: f32,
}

impl<'a> Models<'a> {
    pub(crate) fn new(dispatch: &'a Dispatch) -> Self {
        let parts = Parts::new(dispatch);
        Self { dispatch, parts, special: OnceLock::new(), states: Mutex::default(), stop: None }
    }

    /// As [`Self::new`]; once `stop` is set, [`Self::agreeing`] finds nothing and is done at once.
    pub(crate) fn until(dispatch: &'a Dispatch, stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), ..Self::new(dispatch) }
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn special(&self) -> Special {
        *self.special.get_or_init(|| Special::of(self.dispatch))
    }

    /// Whether results are integers.
    pub(crate) fn integer(&self) -> bool {
        table::integer_results(self.dispatch)
    }

    fn parts(&self) -> Result<&Parts<'a>, Refusal> {
        self.parts.as_ref().map_err(Clone::clone)
    }

    /// The dispatch's states under some rules.
    pub(crate) fn states(&self, rules: &Rules) -> Result<Arc<States>, Refusal> {
        let lock = || self.states.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(rules) {
            return known.clone();
        }
        let parts = self.parts()?;
        let states = parts.states(rules).map(|states| Arc::new(States(states)));
        let mut kept = lock();
        if kept.len().saturating_mul(parts.parts().len()) < KEPT_STATES.max(parts.parts().len() * 8) {
            kept.insert(*rules, states.clone());
        }
        states
    }

    /// Of a sample: the state under some rules, the reference for it, and the sample's number there.
    pub(crate) fn at<T>(
        &self,
        rules: &Rules,
        sample: usize,
        tell: impl FnOnce(&State, &crate::reference::Sampler<'_>, usize) -> T,
    ) -> Result<T, Refusal> {
        let parts = self.parts()?;
        let state = parts.state_of(rules, sample)?;
        let (dispatch, place) = parts.alone(sample).ok_or_else(|| table::no_sample(self.dispatch, sample))?;
        let sampler = crate::reference::Sampler::new(*rules, &state, &dispatch.texels, &dispatch.coords)?;
        Ok(tell(&state, &sampler, place))
    }

    /// Whether some result can depend on a rule, given the other rules and the states under them all.
    pub(crate) fn depends_on(&self, rules: &Rules, states: &States, rule: RuleId) -> bool {
        states.all().iter().any(|state| self.state_depends_on(rules, state, rule))
    }

    fn state_depends_on(&self, rules: &Rules, state: &State, rule: RuleId) -> bool {
        let in_force = || state.rules_in_force().contains(&rule);
        match rule {
            RuleId::PointRounding | RuleId::WeightRounding | RuleId::LayerRounding
                if rules.trunc_coord != TruncCoord::Everywhere =>
            {
                // TRUNC_COORD does not keep the rounding from being seen.
                State { trunc_coord: false, ..state.clone() }.rules_in_force().contains(&rule)
            }
            // Integer weights, which both rules ask for, decide which taps count for min and max.
            RuleId::WeightScheme | RuleId::Accumulation if state.reduction != Reduction::Blend => {
                State { reduction: Reduction::Blend, ..state.clone() }.rules_in_force().contains(&rule)
            }

            // Differences of coordinates can be NaN where no coordinate is.
            RuleId::NanCoordinate => {
                self.special().nan || !matches!(state.op.lod, LodSource::Explicit | LodSource::Zero)
            }
            // The average of several probes is rounded, even if each is a single texel.
            RuleId::ResultRounding if state.anisotropy.is_some() => state.reduction == Reduction::Blend,
            // A constant that goes through the blend shows weights that are NaN or don't add up to 1.
            RuleId::BorderSwizzle => {
                let special = self.special();
                in_force()
                    || rules.cube_corner == CubeCorner::Thirds && state.view == View::Cube
                    || rules.nan_coordinate == NanCoordinate::Kept && special.nan
                    || rules.integer_conversion == IntegerConversion::Lowest && special.huge
            }
            RuleId::DenormalCoordinate => self.special().denormal,
            RuleId::IntegerConversion => {
                let gridded =
                    rules.subtexel_bits.bits().is_some() && rules.coordinate_product == CoordinateProduct::Fp32;
                let repeats = |a: &Address| matches!(a, Address::Wrap | Address::Mirror);
                let size = if state.unnormalized { 1 } else { state.extent.size.into_iter().max().unwrap_or(1) };
                let beyond = self.special().farthest * size as f32 > texel_limit(false);
                // Outside of the image a weight is seen in a sum's rounding.
                let weighs = [state.mag, state.min].contains(&Filter::Linear);
                self.special().huge
                    || gridded && beyond && weighs && !state.address[..state.view.axes()].iter().all(repeats)
            }
            // A place on a face below 0 is one that was made from a direction, also where it was recorded.
            RuleId::CubeDirection => {
                state.view == View::Cube
                    && (self.dispatch.coords.index_of(Column::Rx).is_some() || self.special().negative_place)
            }
            // Where both taps are one texel, a blend by unequal weights need not give the texel back.
            RuleId::EdgeClamp => {
                let clamps = |a: &Address| matches!(a, Address::Edge | Address::MirrorOnceEdge);
                state.address[..state.view.axes()].iter().any(clamps)
                    && (in_force()
                        || rules.edge_clamp == EdgeClamp::Coordinate
                        || state.mag == Filter::Linear
                        || state.min == Filter::Linear
                        || state.slices == SliceFilter::Own(Filter::Linear))
            }
            // A border colour from the table can be infinite, whatever texels are.
            RuleId::ZeroWeightTaps if state.table_border => {
                State { format: TexelFormat::R10G11B11_FLOAT, ..state.clone() }.rules_in_force().contains(&rule)
            }
            // Bias and clamp can be operands, too, and T# has a limit of its own.
            RuleId::MipPointClamp => State { min_lod: 1, ..state.clone() }.rules_in_force().contains(&rule),
            RuleId::LodRoundingStage => State { lod_bias: 1, ..state.clone() }.rules_in_force().contains(&rule),
            _ => in_force(),
        }
    }

    /// The single changes of rules on which a result can depend, with the rules they lead to.
    pub(crate) fn alternatives(&self, base: Rules) -> Vec<(RuleChange, Rules)> {
        let before = self.states(&base);
        base.alternatives()
            .filter(|(change, rules)| {
                let Ok(after) = self.states(rules) else { return false };
                self.depends_on(rules, &after, change.rule)
                    || before.as_ref().is_ok_and(|states| self.depends_on(&base, states, change.rule))
            })
            .collect()
    }

    /// Which of the samples have the target's results under some rules; none when the rules refuse the dispatch.
    pub(super) fn agreeing(&self, rules: &Rules, samples: &[u32], target: &Target<'_>) -> Bits {
        if self.is_stopped() {
            return Bits::empty(samples.len());
        }
        let Ok(states) = self.states(rules) else { return Bits::empty(samples.len()) };
        let Ok(sampler) = self.sampler(rules, &states) else { return Bits::empty(samples.len()) };
        let word = |chunk: &[u32]| {
            if self.is_stopped() {
                return 0;
            }
            chunk.iter().enumerate().fold(0u64, |word, (at, &sample)| {
                let sample = sample as usize;
                word | u64::from(sampler.all_channels(sample, target.accepts(sample))) << at
            })
        };
        let words = samples.par_chunks(Bits::WORD).with_min_len(16).map(word).collect();
        Bits::from_words(words, samples.len())
    }

    /// The reference for states of this dispatch.
    pub(crate) fn sampler<'s>(&'s self, rules: &Rules, states: &'s States) -> Result<PartSamplers<'s>, Refusal> {
        self.parts()?.reference(rules, states.all())
    }

    /// All results under some rules.
    pub(crate) fn results(&self, rules: &Rules) -> Result<Vec<u32>, Refusal> {
        let states = self.states(rules)?;
        Ok(self.sampler(rules, &states)?.run())
    }

    /// The word of the texel at a level, x, y and slice or layer inside the image that a sample uses; 0 outside.
    pub(crate) fn texel(&self, sample: usize, state: &State, [level, x, y, slice]: [u32; 4]) -> u32 {
        let Entries { image, .. } = self.dispatch.entries_of(sample).unwrap_or_default();
        let texels = self.dispatch.image_at(image as usize).map(|(_, texels)| texels.as_slice()).unwrap_or_default();
        let Some(image) = crate::reference::image::Image::new(state.extent.clone(), texels) else {
            return 0;
        };
        let [width, height, depth] = state.extent.level_size(level);
        let slices = depth.max(state.extent.layers);
        if level < state.extent.levels && x < width && y < height && slice < slices {
            image.texel(level, x, y, slice)
        } else {
            0
        }
    }

    /// One result under some rules.
    pub(crate) fn result(&self, rules: &Rules, sample: usize) -> Result<[u32; 4], Refusal> {
        self.at(rules, sample, |_, sampler, place| sampler.sample(place))
    }
}

/// A texel that holds the number 1 in every channel of a T#'s format; 1 where the format is not known.
pub(crate) fn one(image: [u32; 8]) -> u32 {
    let code = ImageDescriptor::from_words(image).format();
    TexelFormat::from_code(code).map_or(1, |format| format.pack([format.kind().one(); 4]))
}

impl Special {
    fn of(dispatch: &Dispatch) -> Self {
        let columns = &dispatch.coords.columns;
        let float: Vec<bool> = columns.iter().map(|c| !c.is_integer()).collect();
        let mut special = Self::default();
        for row in dispatch.coords.words.chunks_exact(columns.len().max(1)) {
            for ((&word, _), &column) in row.iter().zip(&float).zip(columns).filter(|((_, float), _)| **float) {
                let magnitude = word & 0x7fff_ffff;
                special.negative_place |= matches!(column, Column::S | Column::T) && f32::from_bits(word) < 0.0;
                special.nan |= magnitude > 0x7f80_0000;
                special.huge |= magnitude >= 0x4380_0000;
                if matches!(column, Column::U | Column::V | Column::W | Column::S | Column::T) {
                    special.farthest = special.farthest.max(f32::from_bits(magnitude));
                }
                special.denormal |= (1..0x0080_0000).contains(&magnitude);
            }
        }
        special
    }
}
