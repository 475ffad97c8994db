//! One sample in full: operands, got and expected, taps with their weights.

use capture_format::{Column, Dispatch, OpKind};
use replayer::{
    materialise::materialise,
    reference::{
        Sampler,
        footprint::{Footprint, Tap},
    },
    rules::Rules,
    state::State,
};

use super::{
    compare::Number,
    navigate,
    number::{decimal, hex_float, ulp, word},
    outcome::Outcome,
};

/// A texel that goes into a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct TapInfo {
    /// Level of the resource.
    pub level: u32,
    /// x, y and slice or layer; `None` for the border colour.
    pub texel: Option<[u32; 3]>,
    /// Its part of the whole, 0 to 1.
    pub weight: f64,
    /// The packed word.
    pub word: u32,
    /// Unpacked channels before DST_SEL.
    pub channels: [u32; 4],
}

/// A position along an axis, in texels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionInfo {
    /// Level of the resource.
    pub level: u32,
    /// `x`, `y` or `z`.
    pub axis: char,
    /// `integer.#hex`: index of the first tap, and the weight of the second in steps of the fixed-point grid.
    pub text: String,
}

/// One output channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelInfo {
    /// What the path returned.
    pub got: Option<u32>,
    /// What the oracle returned; `None` if it was not measured.
    pub expected: Option<u32>,
    /// Distance in ULPs, when both are there; `None` when they agree.
    pub distance: Option<u32>,
}

/// Everything about one sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleInfo {
    /// Its number.
    pub index: usize,
    /// The invocation.
    pub at: [u32; 3],
    /// How its words are read.
    pub number: Number,
    /// The operands as recorded.
    pub operands: Vec<(Column, u32)>,
    /// X, Y, Z, W.
    pub channels: [ChannelInfo; 4],
    /// Positions along the axes; empty for loads.
    pub positions: Vec<PositionInfo>,
    /// Level of detail after bias and clamps, and the part of the second level; `None` for loads.
    pub lod: Option<(f32, f32)>,
    /// Probes of an anisotropic filter; 1 without one.
    pub probes: u32,
    /// The texels that are read under the profile's rules.
    pub taps: Vec<TapInfo>,
    /// Why there are no taps.
    pub refusal: Option<String>,
}

impl SampleInfo {
    /// Looks at a sample of a dispatch, with the result of a path if there is one.
    #[must_use]
    pub fn new(dispatch: &Dispatch, outcome: Option<&Outcome>, rules: &Rules, index: usize, number: Number) -> Self {
        let columns = &dispatch.coords.columns;
        let row = dispatch.coords.words.get(index * columns.len()..(index + 1) * columns.len()).unwrap_or_default();
        let got = outcome
            .and_then(|o| o.words.as_ref()?.get(index * 4..index * 4 + 4))
            .and_then(|words| <[u32; 4]>::try_from(words).ok());
        let expected = dispatch.expected.as_ref();
        let measured = expected.map_or(0, |e| e.measured_channels(index));
        let wanted = expected.and_then(|e| e.sample(index));
        let difference =
            got.zip(wanted).and_then(|(got, wanted)| super::compare::difference(got, wanted, measured, number));
        let channels = std::array::from_fn(|c| ChannelInfo {
            got: got.map(|words| words[c]),
            expected: wanted.map(|words| words[c]).filter(|_| measured >> c & 1 == 1),
            distance: difference.filter(|d| d.channels >> c & 1 == 1).map(|d| d.distances[c]),
        });
        let mut info = Self {
            index,
            at: navigate::position(index, dispatch.grid),
            number,
            operands: columns.iter().copied().zip(row.iter().copied()).collect(),
            channels,
            positions: Vec::new(),
            lod: None,
            probes: 1,
            taps: Vec::new(),
            refusal: None,
        };
        if let Err(refusal) = info.look_up(dispatch, rules) {
            info.refusal = Some(refusal);
        }
        info
    }

    fn look_up(&mut self, dispatch: &Dispatch, rules: &Rules) -> Result<(), String> {
        let state = materialise(dispatch, rules).map_err(|refusal| refusal.to_string())?;
        let sampler =
            Sampler::new(*rules, &state, &dispatch.texels, &dispatch.coords).map_err(|refusal| refusal.to_string())?;
        if self.index >= sampler.samples() {
            return Err(format!("no sample {}, the dispatch has {}", self.index, sampler.samples()));
        }
        let operands = sampler.operands(self.index);
        if state.op.kind == OpKind::Load {
            let at = sampler.load_address(&operands);
            let texture = at.and_then(|[level, x, y, slice]| load_word(dispatch, &state, level, [x, y, slice]));
            if let Some((level, texel, word)) = texture {
                self.taps.push(TapInfo {
                    level,
                    texel: Some(texel),
                    weight: 1.0,
                    word,
                    channels: state.format.unpack(word),
                });
            }
            return Ok(());
        }
        let probes = if state.op.kind == OpKind::Sample { 1u32 << operands.log2_probes } else { 1 };
        for probe in 0..probes {
            let operands = if probes == 1 { operands } else { operands.probe(rules, probe) };
            self.look_at(&state, &sampler.footprint(&operands), probes);
        }
        Ok(())
    }

    /// Takes in the taps of a footprint, one of so many probes.
    fn look_at(&mut self, state: &State, footprint: &Footprint, probes: u32) {
        self.lod = Some((footprint.levels.lod, footprint.levels.weight));
        self.probes = probes;
        let gather = state.op.kind == OpKind::Gather4;
        for m in 0..footprint.level_count {
            let level = footprint.resource_levels[m];
            for (axis, name) in ['x', 'y', 'z'].into_iter().enumerate().take(state.view.axes()) {
                let at = footprint.positions[m][axis];
                let bits = footprint.weights[m][axis].bits;
                let text = if bits == 0 {
                    format!("{} + {:?}", at.index, at.weight)
                } else {
                    format!("{}.#{:0width$x}", at.index, at.step, width = bits.div_ceil(4) as usize)
                };
                self.positions.push(PositionInfo { level, axis: name, text });
            }
            for mut tap in taps(footprint, m, gather) {
                tap.weight /= f64::from(probes);
                self.taps.push(tap);
            }
        }
    }

    /// The sample as text, to be pasted into a report.
    #[must_use]
    pub fn text(&self, title: &str) -> String {
        use std::fmt::Write as _;
        let mut text = format!("{title} sample {},{},{} (number {})\n", self.at[0], self.at[1], self.at[2], self.index);
        // Writing into a string does not fail.
        let mut line = |args: std::fmt::Arguments<'_>| {
            let _ = writeln!(text, "{args}");
        };
        for (column, bits) in &self.operands {
            if *column == Column::Offset {
                line(format_args!("  {column} = {}", word(*bits)));
            } else {
                line(format_args!(
                    "  {column} = {} ({}, {})",
                    decimal(*bits, Number::Float),
                    word(*bits),
                    hex_float(*bits)
                ));
            }
        }
        for position in &self.positions {
            line(format_args!("  level {} {} = {}", position.level, position.axis, position.text));
        }
        for (channel, name) in self.channels.iter().zip(["X", "Y", "Z", "W"]) {
            let show = |bits: Option<u32>| match bits {
                None => "not measured".to_owned(),
                Some(bits) if self.number == Number::Float => {
                    format!("{} {} {}", word(bits), hex_float(bits), decimal(bits, self.number))
                }
                Some(bits) => format!("{} {}", word(bits), decimal(bits, self.number)),
            };
            let distance = channel.distance.map_or(String::new(), |d| format!("   {} ULP", ulp(d)));
            line(format_args!("  {name} got {}   expected {}{distance}", show(channel.got), show(channel.expected)));
        }
        for tap in &self.taps {
            let at = tap.texel.map_or("border".to_owned(), |[x, y, z]| format!("{x},{y},{z}"));
            let values: Vec<_> = tap.channels.iter().map(|&bits| decimal(bits, self.number)).collect();
            line(format_args!(
                "  tap level {} texel {at} weight {} word {} = {}",
                tap.level,
                tap.weight,
                word(tap.word),
                values.join(" ")
            ));
        }
        if let Some(refusal) = &self.refusal {
            line(format_args!("  no taps: {refusal}"));
        }
        text
    }
}

fn load_word(dispatch: &Dispatch, state: &State, level: u32, at: [u32; 3]) -> Option<(u32, [u32; 3], u32)> {
    let image = replayer::reference::image::Image::new(state.extent.clone(), &dispatch.texels)?;
    Some((level, at, image.texel(level, at[0], at[1], at[2])))
}

/// The taps of a level with their part of the whole. Gathers give each tap the whole.
fn taps(footprint: &Footprint, level: usize, gather: bool) -> Vec<TapInfo> {
    let axes = &footprint.weights[level];
    let part = |axis: usize, tap: usize| {
        let second = f64::from(axes[axis].weight);
        match (axes[axis].linear, tap) {
            (false, _) => 1.0,
            (true, 0) => 1.0 - second,
            (true, _) => second,
        }
    };
    let count = |axis: usize| if axes[axis].linear { 2 } else { 1 };
    let mut found = Vec::new();
    for z in 0..count(2) {
        for y in 0..count(1) {
            for x in 0..count(0) {
                let Tap { texel, word, channels, .. } = footprint.taps[level][z][y][x];
                let in_level = part(0, x) * part(1, y) * part(2, z);
                let mip = if footprint.level_count == 2 { part(3, level) } else { 1.0 };
                let weight = if gather { 1.0 } else { in_level * mip };
                found.push(TapInfo { level: footprint.resource_levels[level], texel, weight, word, channels });
            }
        }
    }
    found
}
