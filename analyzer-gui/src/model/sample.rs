//! One sample in full: operands, got and expected, taps with their weights.

use capture_format::{Column, Dispatch, OpKind};
use replayer::{
    explain::{
        Evaluation, Way, evaluate_sample,
        sample::{Filtered, LevelPart},
        texel_position,
    },
    rules::{Rules, SubtexelBits},
};

use super::{
    compare::Number,
    navigate,
    number::{decimal, hex_float, ulp, weight, word},
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
    /// `integer.#hex`: index of the first tap, and the weight of the second in 1/256; what is left of a step is added.
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
    pub lod: Option<(f32, f64)>,
    /// Probes of an anisotropic filter; 1 without one.
    pub probes: usize,
    /// Whether weights are multiples of a fixed step under the rules.
    pub quantised: bool,
    /// The texels that are read under the path's rules.
    pub taps: Vec<TapInfo>,
    /// Why there are no taps.
    pub refusal: Option<String>,
}

impl SampleInfo {
    /// Looks at a sample of a dispatch, with the result of a path if there is one.
    #[must_use]
    pub fn new(dispatch: &Dispatch, outcome: Option<&Outcome>, rules: &Rules, index: usize, number: Number) -> Self {
        let mut info = Self::of_values(dispatch, outcome, index, number);
        info.quantised = rules.subtexel_bits != SubtexelBits::None;
        match evaluate_sample(dispatch, *rules, index) {
            Ok(evaluation) => {
                info.taps = taps(&evaluation, dispatch);
                if let Way::Filtered(probes) = &evaluation.way {
                    info.probes = probes.len();
                    probes.iter().for_each(|probe| info.look_at(probe));
                }
            }
            Err(error) => info.refusal = Some(error.to_string()),
        }
        info
    }

    /// Operands and values of a sample, without its taps.
    #[must_use]
    pub fn of_values(dispatch: &Dispatch, outcome: Option<&Outcome>, index: usize, number: Number) -> Self {
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
        Self {
            index,
            at: navigate::position(index, dispatch.grid),
            number,
            operands: columns.iter().copied().zip(row.iter().copied()).collect(),
            channels,
            positions: Vec::new(),
            lod: None,
            probes: 1,
            quantised: false,
            taps: Vec::new(),
            refusal: None,
        }
    }

    /// Takes in the place of a probe.
    fn look_at(&mut self, probe: &Filtered) {
        let second = probe.levels.get(1).map_or(0.0, |level| level.weight / 256.0);
        self.lod = Some((probe.lod, second));
        for LevelPart { level, axes, .. } in &probe.levels {
            for (part, axis) in axes.iter().zip(['x', 'y', 'z']) {
                let text = match (part.linear, self.quantised) {
                    (false, _) => part.index.to_string(),
                    (true, true) => texel_position(f64::from(part.index) + part.weight / 256.0),
                    (true, false) => format!("{} + {}", part.index, part.weight / 256.0),
                };
                self.positions.push(PositionInfo { level: *level, axis, text });
            }
        }
    }

    /// Level and place of the texel with the largest weight.
    #[must_use]
    pub fn heaviest_tap(&self) -> Option<(u32, [u32; 3])> {
        let taps = self.taps.iter().filter_map(|tap| Some((tap.weight, tap.level, tap.texel?)));
        taps.reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, level, texel)| (level, texel))
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
                weight(tap.weight, self.quantised),
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

/// The texels that go into a value with their part of it. Gathers give each the whole.
#[must_use]
pub fn taps(evaluation: &Evaluation, dispatch: &Dispatch) -> Vec<TapInfo> {
    match &evaluation.way {
        Way::Load(None) => Vec::new(),
        Way::Load(Some(texel)) => {
            let [level, x, y, slice] = texel.at;
            vec![TapInfo { level, texel: Some([x, y, slice]), weight: 1.0, word: texel.word, channels: texel.channels }]
        }
        Way::Filtered(probes) => {
            let gather = dispatch.op.kind == OpKind::Gather4;
            let parts = probes.iter().flat_map(|probe| probe.levels.iter().map(|level| (probe.part, level)));
            let taps = parts.flat_map(|(part, level)| level.taps.iter().map(move |tap| (part, level.level, tap)));
            taps.map(|(part, level, tap)| TapInfo {
                level,
                texel: tap.texel,
                weight: if gather { 1.0 } else { tap.weight / 256.0 * part },
                word: tap.word,
                channels: tap.channels,
            })
            .collect()
        }
    }
}
