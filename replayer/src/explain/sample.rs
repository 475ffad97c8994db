//! One sample in full: coordinates, levels, taps, weights, blend, and both results.

use capture_format::{Column, Dispatch, Op, OpKind};

use super::{
    Alternative, Cause, Change, DescriptorField, ExplainError, Group, PathModel, Subject, fields, model::Models,
};
use crate::{
    reference::{
        Sampler,
        blend::{
            AxisWeight, Weights, axis_bits, lerp as blend_lerp, level_numerators, numerators, product_weights,
            sum_of_products,
        },
        coordinate::SHIFT_BITS,
        footprint::{Footprint, Probe, Tap},
        operands::Operands,
    },
    rules::{Rules, WeightScheme},
    state::{Filter, Reduction, Select, State, View},
    table,
};

/// All there is to say about a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleDetail {
    /// Name of the dispatch.
    pub dispatch: String,
    /// The instruction.
    pub op: Op,
    /// Number of the sample.
    pub sample: usize,
    /// Its place in the grid.
    pub position: [u32; 3],
    /// The operands as recorded.
    pub operands: Vec<(Column, u32)>,
    /// The descriptors that the sample uses; `None` when the dispatch has no tables of descriptors.
    pub descriptors: Option<UsedDescriptors>,
    /// The path's result.
    pub got: [u32; 4],
    /// The oracle's result.
    pub expected: [u32; 4],
    /// The channels that were measured, in bits 0 to 3.
    pub measured: u8,
    /// Whether the results are integers.
    pub integer: bool,
    /// The cause; `None` when the results agree.
    pub cause: Option<Cause>,
    /// The cause in words.
    pub label: Option<String>,
    /// What else would explain the sample.
    pub alternatives: Vec<Alternative>,
    /// How the path's value comes about, by the rules it computes by; `None` when they are not known.
    pub path: Option<Evaluation>,
    /// How the oracle's value comes about, by the rules that explain it; `None` when there are none.
    pub oracle: Option<Evaluation>,
    /// The descriptor fields involved, with their values.
    pub fields: Vec<FieldValue>,
}

/// The entries of tables of descriptors that a sample uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedDescriptors {
    /// The entry of the T#, when there are several, and the T#.
    pub image: (Option<u32>, [u32; 8]),
    /// The entry of the S#, when there are several, and the S#, where the instruction takes one.
    pub sampler: (Option<u32>, Option<[u32; 4]>),
}

impl UsedDescriptors {
    fn of(dispatch: &Dispatch, sample: usize) -> Option<Self> {
        let entries = dispatch.is_table().then(|| dispatch.entries_of(sample))??;
        let (image, _) = dispatch.image_at(entries.image as usize)?;
        let several = |count: usize, entry: u32| (count > 1).then_some(entry);
        Some(Self {
            image: (several(dispatch.image_count(), entries.image), *image),
            sampler: (
                several(dispatch.sampler_count(), entries.sampler),
                dispatch.sampler_at(entries.sampler as usize).copied(),
            ),
        })
    }
}

/// A descriptor field with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldValue {
    /// The field.
    pub field: DescriptorField,
    /// Its value, not sign-extended.
    pub value: u32,
}

/// How a value comes about under one choice of rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The rules.
    pub rules: Rules,
    /// The result, after DST_SEL.
    pub result: [u32; 4],
    /// What leads to it.
    pub way: Way,
}

/// What leads to a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    /// A load: the texel's level, x, y and slice or layer, with its word and channels; `None` outside the image.
    Load(Option<LoadedTexel>),
    /// A filtered sample or a gather: one part for each probe of an anisotropic filter, one in all otherwise. The probes'
    /// values are averaged.
    Filtered(Vec<Filtered>),
}

/// What a load reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadedTexel {
    /// Resource level, x, y, slice or layer.
    pub at: [u32; 4],
    /// The packed word.
    pub word: u32,
    /// The channels before DST_SEL.
    pub channels: [u32; 4],
}

/// The parts of a filtered sample, or of one probe of an anisotropic one.
#[derive(Clone, Debug, PartialEq)]
pub struct Filtered {
    /// The probe's part of the sample, 0 to 1.
    pub part: f64,
    /// Level of detail after bias and clamps.
    pub lod: f32,
    /// Whether the XY filter is the one for minification.
    pub minify: bool,
    /// XY filter in force.
    pub filter: Filter,
    /// The levels read.
    pub levels: Vec<LevelPart>,
    /// The blend of each channel that an output shows and that the taps differ in, step by step.
    pub blends: Vec<ChannelBlend>,
}

/// What is read of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelPart {
    /// Resource level.
    pub level: u32,
    /// Its size in texels.
    pub size: [u32; 3],
    /// Its weight in 1/256.
    pub weight: f64,
    /// Positions along the axes.
    pub axes: Vec<AxisPart>,
    /// The taps, x fastest.
    pub taps: Vec<TapPart>,
}

/// A position along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisPart {
    /// The operand.
    pub coordinate: u32,
    /// Texels along the axis.
    pub size: u32,
    /// The coordinate in texels, without rounding.
    pub texels: f64,
    /// Index of the (first) texel.
    pub index: i32,
    /// Weight of the second texel in 1/256.
    pub weight: f64,
    /// Whether there are two taps.
    pub linear: bool,
}

/// A tap with its weight in the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TapPart {
    /// Column, row and slice in the footprint: 0 or 1 each.
    pub place: [usize; 3],
    /// Where the texel is: x, y, slice or layer; `None` for the border.
    pub texel: Option<[u32; 3]>,
    /// The packed word; 0 for the border.
    pub word: u32,
    /// The channels before DST_SEL.
    pub channels: [u32; 4],
    /// Its part of the sample, over all levels of its probe, in 1/256; of a gather, which blends nothing, the part it would
    /// have.
    pub weight: f64,
}

/// The blend of one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelBlend {
    /// The output that shows it.
    pub output: usize,
    /// The channel before DST_SEL.
    pub channel: usize,
    /// The steps; the last one's result is the channel's value.
    pub steps: Vec<Step>,
}

/// One step of a blend.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What is blended: `row 0`, `slice 1`, `levels`, …
    pub what: String,
    /// Values (FP32 bits) with their weights in 1/256.
    pub terms: Vec<(u32, f64)>,
    /// The value that comes out, FP32 bits.
    pub result: u32,
}

/// Describes a sample; `group` is its group in the explanation, when it differs.
///
/// # Errors
/// When there is no such sample, or the dispatch is refused by the rules that are to be shown.
pub fn detail(subject: &Subject<'_>, group: Option<&Group>, sample: usize) -> Result<SampleDetail, ExplainError> {
    super::check(subject)?;
    let dispatch = subject.dispatch;
    let models = Models::new(dispatch);
    let samples = subject.got.len() / 4;
    if sample >= samples || sample >= dispatch.coords.rows() {
        return Err(ExplainError::NoSample { dispatch: dispatch.name.clone(), sample, samples });
    }
    let words = |all: &[u32]| all.get(sample * 4..).and_then(|w| w.first_chunk()).copied().unwrap_or_default();
    let [width, height, _] = dispatch.grid.map(|n| n.max(1) as usize);
    let position = [sample % width, sample / width % height, sample / width / height].map(|n| n as u32);
    let columns = dispatch.coords.columns.len();
    let row = dispatch.coords.words.get(sample * columns..(sample + 1) * columns).unwrap_or_default();
    let cause = group.map(|g| g.rule.clone());
    let (path_rules, oracle_rules) = sides(subject, cause.as_ref());
    let evaluated = |rules: Option<Rules>| rules.map(|rules| evaluation(&models, rules, sample)).transpose();
    let refused = |refusal| ExplainError::Refused { dispatch: dispatch.name.clone(), refusal };
    let state = |rules: Rules| models.at(&rules, sample, |state, _, _| state.clone()).ok();
    let state = [path_rules, oracle_rules].into_iter().flatten().find_map(state);
    let alternatives = group.map(|g| alternatives(&models, subject, g, sample)).unwrap_or_default();
    Ok(SampleDetail {
        dispatch: dispatch.name.clone(),
        op: dispatch.op,
        sample,
        position,
        operands: dispatch.coords.columns.iter().copied().zip(row.iter().copied()).collect(),
        got: words(subject.got),
        expected: words(&subject.expected.words),
        measured: subject.expected.measured_channels(sample),
        integer: models.integer(),
        label: cause.as_ref().map(|c| c.label(state.as_ref())),
        alternatives,
        path: evaluated(path_rules).map_err(refused)?,
        oracle: evaluated(oracle_rules).map_err(refused)?,
        descriptors: UsedDescriptors::of(dispatch, sample),
        fields: field_values(dispatch, sample, cause.as_ref()),
        cause,
    })
}

/// The rules by which the path's and the oracle's value come about.
pub(crate) fn sides(subject: &Subject<'_>, cause: Option<&Cause>) -> (Option<Rules>, Option<Rules>) {
    let path = match subject.path {
        PathModel::Rules(rules) => Some(rules),
        PathModel::Unknown => None,
    };
    let reversed = |changes: &[Change]| changes.iter().map(|c| c.reversed()).collect::<Vec<_>>();
    match (cause, path) {
        (Some(Cause::Rules(changes)), Some(path)) => (Some(path), Change::apply(changes, path)),
        (Some(Cause::Rules(changes) | Cause::Executor(changes)), _) if !changes.is_empty() => {
            (subject.oracle.and_then(|oracle| Change::apply(&reversed(changes), oracle)), subject.oracle)
        }
        _ => (path, subject.oracle),
    }
}

/// Those of a group's other causes that explain this sample.
fn alternatives(models: &Models<'_>, subject: &Subject<'_>, group: &Group, sample: usize) -> Vec<Alternative> {
    let explains = |alternative: &Alternative| {
        let (path, oracle) = sides(subject, Some(&alternative.rule));
        let words = |all: &[u32]| all.get(sample * 4..).and_then(|w| w.first_chunk()).copied().unwrap_or_default();
        let same = |rules: Option<Rules>, wanted: [u32; 4]| {
            let result = rules.and_then(|rules| models.result(&rules, sample).ok());
            let measured = subject.expected.measured_channels(sample);
            result.is_some_and(|result| {
                (0..4).all(|c| measured >> c & 1 == 0 || super::same_word(result[c], wanted[c], models.integer()))
            })
        };
        same(path, words(subject.got)) && same(oracle, words(&subject.expected.words))
    };
    group
        .alternatives
        .iter()
        .filter(|a| explains(a))
        .map(|a| Alternative { rule: a.rule.clone(), samples: 1 })
        .collect()
}

fn field_values(dispatch: &Dispatch, sample: usize, cause: Option<&Cause>) -> Vec<FieldValue> {
    let mut values: Vec<FieldValue> = Vec::new();
    for change in cause.map(Cause::changes).unwrap_or_default() {
        for &field in fields(change.rule) {
            let Some(value) = table::field_value(dispatch, sample, field) else { continue };
            if !values.iter().any(|v| v.field == field) {
                values.push(FieldValue { field, value });
            }
        }
    }
    values
}

/// How the value of a sample comes about under some rules, whether there is an oracle or not.
///
/// # Errors
/// When there is no such sample, or the rules refuse the dispatch.
pub fn evaluate_sample(dispatch: &Dispatch, rules: Rules, sample: usize) -> Result<Evaluation, ExplainError> {
    let samples = usize::try_from(dispatch.sample_count()).unwrap_or(usize::MAX).min(dispatch.coords.rows());
    if sample >= samples {
        return Err(ExplainError::NoSample { dispatch: dispatch.name.clone(), sample, samples });
    }
    let refused = |refusal| ExplainError::Refused { dispatch: dispatch.name.clone(), refusal };
    evaluation(&Models::new(dispatch), rules, sample).map_err(refused)
}

fn evaluation(models: &Models<'_>, rules: Rules, sample: usize) -> Result<Evaluation, crate::refusal::Refusal> {
    models.at(&rules, sample, |state, sampler, place| {
        let operands = sampler.operands(place);
        let way = if state.op.kind == OpKind::Load {
            Way::Load(sampler.load_address(&operands).map(|at| {
                let word = models.texel(sample, state, at);
                LoadedTexel { at, word, channels: state.format.unpack(word) }
            }))
        } else {
            Way::Filtered(if sampler.is_elliptical() {
                vec![elliptical(state, sampler, place, &operands)]
            } else if operands.line.ratio > 0 {
                let probes = sampler.paired_footprints(&operands);
                probes.iter().map(|(probe, at)| probed(&rules, state, at, probe, operands.coordinates)).collect()
            } else {
                (0..1u32 << operands.log2_probes)
                    .map(|probe| {
                        let operands = if operands.log2_probes > 0 { operands.probe(&rules, probe) } else { operands };
                        let part = 1.0 / f64::from(1u32 << operands.log2_probes);
                        let footprint = sampler.footprint(&operands);
                        Filtered { part, ..filtered(&rules, state, sampler, &footprint, operands.coordinates) }
                    })
                    .collect()
            })
        };
        Evaluation { rules, result: sampler.sample(place), way }
    })
}

/// An elliptical footprint: the texels of one level with their weights, added up at once.
fn elliptical(state: &State, sampler: &Sampler<'_>, sample: usize, operands: &Operands) -> Filtered {
    let (level, texels) = sampler.elliptical_taps(sample, operands);
    let size = state.extent.level_size(level);
    let whole: f32 = texels.iter().map(|(_, weight)| weight).sum();
    let share = |weight: f32| f64::from(weight) / f64::from(whole) * 256.0;
    let axes = (0..state.view.axes())
        .map(|axis| {
            let coordinate = operands.coordinates[axis];
            let texels = f64::from(f32::from_bits(coordinate)) * f64::from(size[axis]);
            let index = texels.floor() as i32;
            AxisPart { coordinate, size: size[axis], texels, index, weight: 0.0, linear: false }
        })
        .collect();
    let taps = texels
        .iter()
        .map(|(tap, weight)| {
            let Tap { texel, word, channels, .. } = *tap;
            TapPart { place: [0; 3], texel, word, channels, weight: share(*weight) }
        })
        .collect();
    let result = sampler.sample(sample);
    let mut blends: Vec<ChannelBlend> = Vec::new();
    for (output, select) in state.select.iter().enumerate() {
        let Select::Channel(channel) = *select else { continue };
        let channel = usize::from(channel);
        if blends.iter().all(|b| b.channel != channel) {
            let terms = texels.iter().map(|(tap, weight)| (tap.channels[channel], share(*weight))).collect();
            let step = Step { what: "sum (ellipse)".to_owned(), terms, result: result[output] };
            blends.push(ChannelBlend { output, channel, steps: vec![step] });
        }
    }
    let levels = vec![LevelPart { level, size, weight: 256.0, axes, taps }];
    Filtered {
        part: 1.0,
        lod: (level - state.base_level) as f32,
        minify: level > state.base_level,
        filter: state.min,
        levels,
        blends,
    }
}

fn filtered(
    rules: &Rules,
    state: &State,
    sampler: &Sampler<'_>,
    footprint: &Footprint,
    coordinates: [u32; 3],
) -> Filtered {
    let gather = state.op.kind == OpKind::Gather4;
    let (shares, share_bits) = numerators(rules, &footprint.weights, &footprint.corners);
    let levels = (0..footprint.level_count)
        .map(|m| {
            let level = footprint.resource_levels[m];
            let size = state.extent.level_size(level);
            let axes = axes(state, footprint, m, coordinates, [0; 3]);
            let level_weight = f64::from(footprint.levels.weight) * 256.0;
            let weight = match (footprint.level_count, m) {
                (1, _) => 256.0,
                (_, 0) => 256.0 - level_weight,
                _ => level_weight,
            };
            let whole: u64 = shares[m].iter().flatten().flatten().sum();
            let taps = places(&footprint.weights[m])
                .map(|place @ [x, y, z]| {
                    let tap = footprint.taps[m][z][y][x];
                    let share = if rules.fixed_point_weights() && whole > 0 {
                        shares[m][z][y][x] as f64 / (1u64 << share_bits) as f64 * 256.0
                    } else {
                        let along = |axis: usize| {
                            let w = &footprint.weights[m][axis];
                            match (w.linear, place[axis]) {
                                (false, _) => 1.0,
                                (true, 0) => 1.0 - f64::from(w.weight),
                                (true, _) => f64::from(w.weight),
                            }
                        };
                        along(0) * along(1) * along(2) * weight
                    };
                    let Tap { texel, word, channels, .. } = tap;
                    TapPart { place, texel, word, channels, weight: share }
                })
                .collect();
            LevelPart { level, size, weight, axes, taps }
        })
        .collect();
    let mut blends: Vec<ChannelBlend> = Vec::new();
    if !gather && !state.format.kind().is_integer() {
        let combined = sampler.combine(footprint);
        for (output, select) in state.select.iter().enumerate() {
            let Select::Channel(channel) = *select else { continue };
            let channel = usize::from(channel);
            if blends.iter().all(|b| b.channel != channel) {
                let steps = steps(rules, state, footprint, channel, combined[channel]);
                blends.push(ChannelBlend { output, channel, steps });
            }
        }
    }
    let Footprint { levels: chosen, filter, .. } = footprint;
    Filtered { part: 1.0, lod: chosen.lod, minify: chosen.minify, filter: *filter, levels, blends }
}

/// The positions along the axes in one level of a footprint, of a probe so far beside the sample in 1/128 of a texel.
fn axes(state: &State, footprint: &Footprint, m: usize, coordinates: [u32; 3], shift: [i32; 3]) -> Vec<AxisPart> {
    let size = state.extent.level_size(footprint.resource_levels[m]);
    (0..state.view.axes())
        .map(|axis| {
            let at = footprint.positions[m][axis];
            // The cube instructions give 1 to 2 on a face.
            let c = f64::from(f32::from_bits(coordinates[axis])) - if state.view == View::Cube { 1.0 } else { 0.0 };
            let beside = f64::from(shift[axis]) / f64::from(1 << SHIFT_BITS);
            AxisPart {
                coordinate: coordinates[axis],
                size: size[axis],
                texels: beside + if state.unnormalized { c } else { c * f64::from(size[axis]) },
                index: at.index,
                weight: f64::from(at.weight) * 256.0,
                linear: footprint.weights[m][axis].linear,
            }
        })
        .collect()
}

/// One probe of a pair: its taps in its level.
fn probed(rules: &Rules, state: &State, footprint: &Footprint, probe: &Probe, coordinates: [u32; 3]) -> Filtered {
    let m = probe.level;
    let weights = &footprint.weights[m];
    let shares = level_numerators(rules, weights, footprint.corners[m], u64::from(probe.share));
    let whole = ((u64::from(probe.share) << axis_bits(rules, weights)) as f64).max(1.0) / 256.0;
    let level = footprint.resource_levels[m];
    let taps = places(weights)
        .map(|place @ [x, y, z]| {
            let Tap { texel, word, channels, .. } = footprint.taps[m][z][y][x];
            TapPart { place, texel, word, channels, weight: shares[z][y][x] as f64 / whole }
        })
        .collect();
    let level = LevelPart {
        level,
        size: state.extent.level_size(level),
        weight: 256.0,
        axes: axes(state, footprint, m, coordinates, probe.shift),
        taps,
    };
    Filtered {
        part: f64::from(probe.share) / f64::from(1u32 << probe.bits),
        lod: footprint.levels.lod,
        minify: footprint.levels.minify,
        filter: footprint.filter,
        levels: vec![level],
        blends: Vec::new(),
    }
}

/// Columns, rows and slices of the taps that are read.
fn places(weights: &Weights) -> impl Iterator<Item = [usize; 3]> + use<> {
    let [x, y, z, _] = weights.map(|w| if w.linear { 2 } else { 1 });
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
}

fn steps(rules: &Rules, state: &State, footprint: &Footprint, channel: usize, result: u32) -> Vec<Step> {
    let value = |tap: &Tap| f32::from_bits(tap.channels[channel]);
    let single = footprint.level_count == 1 && places(&footprint.weights[0]).count() == 1;
    let by_axes = state.reduction == Reduction::Blend
        && rules.accumulation.aligned_bits().is_none()
        && rules.weight_scheme == WeightScheme::Product;
    if single || !by_axes {
        return vec![sum_step(rules, state, footprint, channel, result)];
    }
    let mut steps = Vec::new();
    let lerp = |steps: &mut Vec<Step>, what: String, linear: bool, w: f32, a: f32, b: f32| -> f32 {
        if !linear {
            return a;
        }
        let result = blend_lerp(rules, &AxisWeight { linear, weight: w, ..AxisWeight::default() }, a, || b);
        let n = f64::from(w) * 256.0;
        steps.push(Step { what, terms: vec![(a.to_bits(), 256.0 - n), (b.to_bits(), n)], result: result.to_bits() });
        result
    };
    let mut levels = [0.0f32; 2];
    for m in 0..footprint.level_count {
        let weights = &footprint.weights[m];
        let level_name = if footprint.level_count == 2 {
            format!("level {}, ", footprint.resource_levels[m])
        } else {
            String::new()
        };
        if footprint.products[m] {
            let (rows, corner) = (&footprint.taps[m][0], footprint.corners[m]);
            let values: [[f32; 2]; 2] = [0, 1].map(|y| [0, 1].map(|x| value(&rows[y][x])));
            let shares = product_weights(weights, corner);
            let terms = [0, 1, 2, 3].map(|n| (values[n / 2][n % 2].to_bits(), f64::from(shares[n / 2][n % 2]) * 256.0));
            levels[m] = sum_of_products(rules, &values, weights, corner);
            let what = format!("{level_name}products");
            steps.push(Step { what, terms: terms.to_vec(), result: levels[m].to_bits() });
            continue;
        }
        let mut slices = [0.0f32; 2];
        for z in 0..if weights[2].linear { 2 } else { 1 } {
            let slice_name = if weights[2].linear { format!("{level_name}slice {z}, ") } else { level_name.clone() };
            let mut rows = [0.0f32; 2];
            for y in 0..if weights[1].linear { 2 } else { 1 } {
                let row = &footprint.taps[m][z][y];
                let what = format!("{slice_name}row {y}");
                rows[y] = lerp(&mut steps, what, weights[0].linear, weights[0].weight, value(&row[0]), value(&row[1]));
            }
            slices[z] =
                lerp(&mut steps, format!("{slice_name}rows"), weights[1].linear, weights[1].weight, rows[0], rows[1]);
        }
        levels[m] =
            lerp(&mut steps, format!("{level_name}slices"), weights[2].linear, weights[2].weight, slices[0], slices[1]);
    }
    let between = &footprint.weights[0][3];
    let blended = lerp(&mut steps, "levels".to_owned(), between.linear, between.weight, levels[0], levels[1]);
    if blended.to_bits() != result {
        let what = format!("result ({})", rules.value_name(crate::rules::RuleId::ResultRounding));
        steps.push(Step { what, terms: vec![(blended.to_bits(), 256.0)], result });
    }
    steps
}

/// The step from all taps to the result at once.
fn sum_step(rules: &Rules, state: &State, footprint: &Footprint, channel: usize, result: u32) -> Step {
    let (shares, bits) = numerators(rules, &footprint.weights, &footprint.corners);
    let mut terms = Vec::new();
    for m in 0..footprint.level_count {
        for [x, y, z] in places(&footprint.weights[m]) {
            let weight = shares[m][z][y][x] as f64 / (1u64 << bits) as f64 * 256.0;
            terms.push((footprint.taps[m][z][y][x].channels[channel], weight));
        }
    }
    let what = match state.reduction {
        _ if terms.len() == 1 => "texel".to_owned(),
        Reduction::Blend => {
            use crate::rules::RuleId::{Accumulation, ResultRounding};
            format!("sum ({}, result {})", rules.value_name(Accumulation), rules.value_name(ResultRounding))
        }
        Reduction::Min => "smallest".to_owned(),
        Reduction::Max => "largest".to_owned(),
    };
    if terms.len() == 1 {
        terms[0].1 = 256.0;
    }
    Step { what, terms, result }
}

/// Name of the third place of a texel in a view.
#[must_use]
pub fn third_axis(view: View) -> &'static str {
    match view {
        View::D3 => "slice",
        View::D1Array | View::D2Array | View::Cube => "layer",
        View::D1 | View::D2 => "",
    }
}
