//! The CPU model: the single statement of the rules.
//!
//! A sample goes through [`lod`] (levels), [`coordinate`] (positions and weights along the axes), [`address`] (texels or
//! border), [`image`] (fetch) and [`mod@blend`] (one value a channel); DST_SEL comes last. The emitted SPIR-V computes the same,
//! bit for bit.

pub mod address;
pub mod blend;
pub mod block;
pub mod coordinate;
pub mod cube;
pub mod derivatives;
pub mod ellipse;
pub mod footprint;
pub mod image;
pub mod lod;
pub mod octagon;
pub mod operands;
pub mod pairs;
pub mod place;

use std::borrow::Cow;

use capture_format::{Coords, LodSource, OpKind, TexelFormat};
use rayon::prelude::*;

use crate::{
    reference::{
        blend::{
            ProbeTaps, Taps, blend, blend_probes, corner_value, for_each_tap, reduce, reduce_probes, round_result,
        },
        block::Plan,
        coordinate::condition,
        cube::with_faces,
        derivatives::computed,
        footprint::{Footprint, Probe, Tap, footprint, footprint_of, levels_of},
        image::Image,
        lod::{Levels, levels},
        operands::{Group, OperandLayout, Operands},
    },
    refusal::Refusal,
    rules::{BorderSwizzle, CubeCorner, QuadDerivatives, Rules},
    state::{Extent, Filter, MipMode, Reduction, Select, State, View},
};

/// A dispatch ready to be sampled.
#[derive(Clone, Debug)]
pub struct Sampler<'a> {
    rules: Rules,
    state: &'a State,
    image: Image<'a>,
    layout: OperandLayout,
    words: Cow<'a, [u32]>,
}

/// Samples that one task computes.
const CHUNK: usize = 4096;

impl<'a> Sampler<'a> {
    /// Binds texels and coordinates to a state.
    ///
    /// # Errors
    /// When the texels do not fill the image, or the columns are not the instruction's operands.
    pub fn new(rules: Rules, state: &'a State, texels: &'a [u32], coords: &'a Coords) -> Result<Self, Refusal> {
        let image =
            Image::new(state.extent.clone(), texels).ok_or_else(|| texel_count_refusal(&state.extent, texels.len()))?;
        let coords = with_faces(&rules, state, coords);
        let layout = OperandLayout::new(state, &coords)?;
        let words = match coords {
            Cow::Borrowed(coords) => Cow::Borrowed(coords.words.as_slice()),
            Cow::Owned(coords) => Cow::Owned(coords.words.to_vec()),
        };
        Ok(Self { rules, state, image, layout, words })
    }

    /// Number of samples.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.words.len().checked_div(self.layout.stride).unwrap_or(0)
    }

    /// All samples, four words each.
    #[must_use]
    pub fn run(&self) -> Vec<u32> {
        let mut results = vec![0u32; self.samples() * 4];
        self.run_into(&mut results);
        results
    }

    /// As [`Self::run`], into four words a sample that are there.
    pub fn run_into(&self, results: &mut [u32]) {
        let plan = Plan::new(&self.rules, self.state);
        results.par_chunks_mut(CHUNK * 4).enumerate().for_each(|(chunk, out)| {
            if let Some(plan) = plan {
                return plan.run(self, chunk * CHUNK, out);
            }
            for (i, sample) in out.chunks_exact_mut(4).enumerate() {
                sample.copy_from_slice(&self.sample(chunk * CHUNK + i));
            }
        });
    }

    /// All samples, one at a time: what [`Self::run`] has to give whatever way it takes.
    #[must_use]
    pub fn run_one_by_one(&self) -> Vec<u32> {
        (0..self.samples()).flat_map(|index| self.sample(index)).collect()
    }

    /// The operands of a sample.
    ///
    /// # Panics
    /// When `index` is not below [`Self::samples`].
    #[must_use]
    pub fn operands(&self, index: usize) -> Operands {
        let mut operands = self.own_operands(index);
        operands.group = self.group(index);
        operands
    }

    /// What the samples of a sample's group ask for.
    fn group(&self, index: usize) -> Group {
        let size = self.rules.sample_group.size();
        let state = self.state;
        let unequal = state.mag != state.min;
        let levels = state.mip == MipMode::Linear;
        let corners = self.rules.cube_corner == CubeCorner::Thirds && state.view == View::Cube && state.cube_wrap;
        let mut group = Group::default();
        if state.op.kind != OpKind::Sample || size == 1 && !corners || !(unequal || levels || corners) {
            return group;
        }
        let first = index - index % size;
        let members: Vec<Operands> =
            (first..self.samples().min(first + size)).map(|member| self.own_operands(member)).collect();
        // Beyond the last sample operands are 0.
        let explicit_lod = members[0].explicit_lod;
        let lod = if explicit_lod { 0.0 } else { computed(&self.rules, state, &[[0; 3]; 2]).lod };
        let beyond = Operands { explicit_lod, lod: lod.to_bits(), ..Operands::default() };
        let missing = (members.len() < size).then_some(&beyond);
        let own: Vec<Levels> =
            members.iter().chain(missing).map(|operands| levels_of(&self.rules, state, operands)).collect();
        if size > 1 {
            let linear = |levels: &Levels| (if levels.minify { state.min } else { state.mag }) == Filter::Linear;
            group.linear = unequal && own.iter().any(linear);
            group.levels = levels
                && if group.linear {
                    own.iter().any(|levels| levels.minify)
                } else {
                    own.iter().any(|levels| levels.weight > 0.0)
                };
        }
        if corners {
            for operands in &members {
                let footprint = self.footprint(&Operands { group, ..*operands });
                for (products, corner) in group.products.iter_mut().zip(footprint.corners) {
                    *products |= corner.is_some();
                }
            }
        }
        group
    }

    /// The operands of a sample, without what others of its group ask for.
    fn own_operands(&self, index: usize) -> Operands {
        let row = self.row(index);
        let mut operands = self.layout.read(row);
        let derivatives = match self.state.op.lod {
            LodSource::Zero | LodSource::Explicit => return operands,
            LodSource::Derivatives => self.layout.derivatives(row),
            LodSource::Implicit | LodSource::Bias => self.quad_derivatives(index),
        };
        let computed = computed(&self.rules, self.state, &derivatives);
        operands.lod = computed.lod.to_bits();
        operands.log2_probes = computed.log2_probes;
        operands.major = computed.major;
        operands.line = computed.line;
        operands
    }

    fn row(&self, index: usize) -> &[u32] {
        let stride = self.layout.stride;
        &self.words[index * stride..][..stride]
    }

    /// The derivatives along x and y of a sample's coordinates: differences in its 2x2 quad of the grid.
    fn quad_derivatives(&self, index: usize) -> [[u32; 3]; 2] {
        let width = self.state.grid[0] as usize;
        let (odd_x, odd_y) = (index % width % 2, index / width % self.state.grid[1] as usize % 2);
        let (left, top) = match self.rules.quad_derivatives {
            QuadDerivatives::Coarse => {
                let first = index - odd_x - odd_y * width;
                (first, first)
            }
            QuadDerivatives::Fine => (index - odd_x, index - odd_y * width),
        };
        let difference = |from: usize, to: usize| {
            let (from, to) = (self.layout.coordinates(self.row(from)), self.layout.coordinates(self.row(to)));
            std::array::from_fn(|n| (condition(&self.rules, to[n]) - condition(&self.rules, from[n])).to_bits())
        };
        [difference(left, left + 1), difference(top, top + width)]
    }

    /// One sample: X, Y, Z, W.
    ///
    /// # Panics
    /// When `index` is not below [`Self::samples`].
    #[must_use]
    pub fn sample(&self, index: usize) -> [u32; 4] {
        let operands = self.operands(index);
        match self.state.op.kind {
            OpKind::Load => self.select(self.load(&operands)),
            OpKind::Sample if self.is_elliptical() => self.select(self.ellipse(index, &operands)),
            OpKind::Sample if operands.log2_probes > 0 => self.select(self.probes(&operands)),
            OpKind::Sample if operands.line.ratio > 0 => self.select(self.pairs(&operands)),
            OpKind::Sample => self.select(self.combine(&self.footprint(&operands))),
            OpKind::Gather4 => self.gather(&self.footprint(&operands)),
        }
    }

    /// Whether a sample's words are all accepted, given word and channel; computes no more channels than it takes to tell.
    ///
    /// # Panics
    /// When `index` is not below [`Self::samples`].
    #[must_use]
    pub fn all_channels(&self, index: usize, accepts: impl Fn(usize, u32) -> bool) -> bool {
        let operands = self.operands(index);
        let apart = self.state.op.kind == OpKind::Sample
            && operands.log2_probes == 0
            && !self.is_elliptical()
            && operands.line.ratio <= 0
            && !self.state.format.kind().is_integer()
            && !self.selects_taps();
        if !apart {
            return self.sample(index).into_iter().enumerate().all(|(channel, word)| accepts(channel, word));
        }
        let footprint = self.footprint(&operands);
        self.state.select.into_iter().enumerate().all(|(channel, select)| {
            let word = match select {
                Select::Channel(from) => self.combine_channel(&footprint, usize::from(from)),
                constant => apply_select(constant, self.state.format, [0; 4]),
            };
            accepts(channel, word)
        })
    }

    /// The filtered channels of an anisotropic sample: the average (or the smallest, or the largest) of its probes.
    fn probes(&self, operands: &Operands) -> [u32; 4] {
        let count = 1u32 << operands.log2_probes;
        let mut sums = [0.0f32; 4];
        for index in 0..count {
            let probe = self.combine(&self.footprint(&operands.probe(&self.rules, index)));
            for (sum, bits) in sums.iter_mut().zip(probe) {
                let value = f32::from_bits(bits);
                *sum = match self.state.reduction {
                    _ if index == 0 => value,
                    Reduction::Blend => *sum + value,
                    Reduction::Min if value < *sum || sum.is_nan() => value,
                    Reduction::Max if value > *sum || sum.is_nan() => value,
                    Reduction::Min | Reduction::Max => *sum,
                };
            }
        }
        sums.map(|sum| match self.state.reduction {
            Reduction::Blend => round_result(&self.rules, f64::from(sum * (1.0 / count as f32))).to_bits(),
            Reduction::Min | Reduction::Max => sum.to_bits(),
        })
    }

    /// The filtered channels of an anisotropic sample by [`pairs`].
    fn pairs(&self, operands: &Operands) -> [u32; 4] {
        let probes = self.paired_footprints(operands);
        std::array::from_fn(|channel| {
            let value = |tap: &Tap| f32::from_bits(self.channel(tap, channel));
            let taps: Vec<ProbeTaps> = probes
                .iter()
                .map(|(probe, footprint)| {
                    let (m, weights) = (probe.level, footprint.weights[probe.level]);
                    let mut taps = ProbeTaps {
                        taps: Default::default(),
                        weights,
                        corner: footprint.corners[m],
                        share: probe.share,
                        bits: probe.bits,
                    };
                    taps.for_each(|taps, z, y, x| taps[z][y][x] = value(&footprint.taps[m][z][y][x]));
                    taps
                })
                .collect();
            match self.state.reduction {
                Reduction::Blend => blend_probes(&self.rules, &taps),
                reduction => reduce_probes(&self.rules, reduction, &taps),
            }
            .to_bits()
        })
    }

    /// The probes of an anisotropic sample by [`pairs`], level by level, and the taps of each in its level.
    #[must_use]
    pub fn paired_footprints(&self, operands: &Operands) -> Vec<(Probe, Footprint)> {
        let levels = self.levels(operands);
        let mut all = Vec::new();
        for (m, probes) in levels.probes(operands.line).into_iter().enumerate() {
            let Some((probes, part)) = probes else { continue };
            for index in 0..probes.count() {
                let [x, y] = if probes.pairs == 0 { [0; 2] } else { probes.place(index) };
                let share = probes.share(index, part);
                let probe = Probe { level: m, shift: [x, y, 0], share, bits: probes.bits };
                all.push((probe, footprint_of(&self.rules, self.state, &self.image, operands, false, Some(&probe))));
            }
        }
        all
    }

    /// The levels that a sample reads.
    #[must_use]
    pub fn levels(&self, operands: &Operands) -> Levels {
        levels(&self.rules, self.state, &operands.lod_operand())
    }

    /// The taps of a sample (not of a load).
    #[must_use]
    pub fn footprint(&self, operands: &Operands) -> Footprint {
        footprint(&self.rules, self.state, &self.image, operands, self.state.op.kind == OpKind::Gather4)
    }

    /// The filtered channels before DST_SEL.
    #[must_use]
    pub fn combine(&self, footprint: &Footprint) -> [u32; 4] {
        if self.state.format.kind().is_integer() {
            return std::array::from_fn(|channel| self.channel(&footprint.taps[0][0][0][0], channel));
        }
        std::array::from_fn(|channel| self.combine_channel(footprint, channel))
    }

    /// Whether taps go through DST_SEL one by one, because the border colour does not go through it at all.
    fn selects_taps(&self) -> bool {
        self.rules.border_swizzle == BorderSwizzle::None
    }

    /// A tap's channel as it is blended.
    fn channel(&self, tap: &Tap, channel: usize) -> u32 {
        if self.selects_taps() && tap.texel.is_some() {
            apply_select(self.state.select[channel], self.state.format, tap.channels)
        } else {
            tap.channels[channel]
        }
    }

    fn combine_channel(&self, footprint: &Footprint, channel: usize) -> u32 {
        let value = |tap: &Tap| f32::from_bits(self.channel(tap, channel));
        let one_tap = footprint.level_count == 1
            && footprint.filter == Filter::Point
            && (self.state.view != View::D3 || footprint.slice_filter == Filter::Point);
        if one_tap {
            return self.channel(&footprint.taps[0][0][0][0], channel);
        }
        let mut taps = Taps::default();
        for_each_tap(&footprint.weights, |m, z, y, x| taps[m][z][y][x] = value(&footprint.taps[m][z][y][x]));
        let result = match self.state.reduction {
            Reduction::Blend => blend(&self.rules, &taps, &footprint.weights, &footprint.corners, footprint.products),
            reduction => reduce(&self.rules, reduction, &taps, &footprint.weights, &footprint.corners),
        };
        result.to_bits()
    }

    /// DST_SEL, unless the taps have gone through it.
    fn select(&self, channels: [u32; 4]) -> [u32; 4] {
        if self.selects_taps() && self.state.op.kind != OpKind::Load {
            return channels;
        }
        self.state.select.map(|select| apply_select(select, self.state.format, channels))
    }

    /// Gathers return the selected channel of (0,1), (1,1), (1,0), (0,0).
    fn gather(&self, footprint: &Footprint) -> [u32; 4] {
        let rows = &footprint.taps[0][0];
        let select = self.state.select[usize::from(self.state.gather_channel)];
        [[1, 0], [1, 1], [0, 1], [0, 0]].map(|[y, x]| {
            let mut tap = rows[y][x];
            let mixes = tap.corner && !self.state.format.kind().is_integer();
            if mixes && self.rules.cube_corner == CubeCorner::Thirds {
                let around = [rows[y][1 - x], rows[1 - y][0], rows[1 - y][1]];
                tap.channels = std::array::from_fn(|n| {
                    let [own, a, b] = around.map(|tap| f32::from_bits(tap.channels[n]));
                    ((1.0 / 3.0) * (own + (a + b))).to_bits()
                });
            }
            if mixes && self.rules.cube_corner == CubeCorner::Shares {
                let around = [rows[1 - y][1 - x], rows[1 - y][x], rows[y][1 - x]];
                tap.channels = std::array::from_fn(|n| {
                    corner_value(&self.rules, around.map(|tap| f32::from_bits(tap.channels[n]))).to_bits()
                });
            }
            if self.selects_taps() {
                self.channel(&tap, usize::from(self.state.gather_channel))
            } else {
                apply_select(select, self.state.format, tap.channels)
            }
        })
    }

    /// A load's channels before DST_SEL. Outside the image they are all 0 (inferred: bounds-checked loads return 0).
    fn load(&self, operands: &Operands) -> [u32; 4] {
        let Some([level, x, y, slice]) = self.load_address(operands) else { return [0; 4] };
        self.state.format.unpack(self.image.texel(level, x, y, slice))
    }

    /// Resource level, x, y and slice or layer that a load reads; `None` outside the image.
    #[must_use]
    pub fn load_address(&self, operands: &Operands) -> Option<[u32; 4]> {
        let state = self.state;
        let load_index = |bits: u32| load_index(condition(&self.rules, bits));
        let level = load_index(operands.lod).filter(|&l| l <= state.last_level)? + state.base_level;
        let size = self.image.extent.level_size(level);
        let mut at = [0; 3];
        for axis in 0..state.view.axes() {
            at[axis] = load_index(operands.coordinates[axis]).filter(|&i| i < size[axis])?;
        }
        if state.view.is_layered() {
            at[2] = load_index(operands.layer).filter(|&l| l <= state.last_layer)? + state.base_layer;
        }
        Some([level, at[0], at[1], at[2]])
    }
}

/// A load's operand, recorded as FP32: cut to an integer; `None` below zero.
fn load_index(value: f32) -> Option<u32> {
    if value <= -1.0 { None } else { Some(value as u32) }
}

fn apply_select(select: Select, format: TexelFormat, channels: [u32; 4]) -> u32 {
    match select {
        Select::Zero => 0,
        Select::One if format.kind().is_integer() => 1,
        Select::One => 1.0f32.to_bits(),
        Select::Channel(channel) => channels[usize::from(channel)],
    }
}

/// The refusal of texels that do not fill an image.
#[must_use]
pub fn texel_count_refusal(extent: &Extent, words: usize) -> Refusal {
    Refusal {
        field: "texels".to_owned(),
        bits: None,
        value: format!("{words} words"),
        reason: format!("T# describes {} texels in {} levels", extent.texels(), extent.levels),
    }
}
