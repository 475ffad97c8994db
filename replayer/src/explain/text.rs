//! Explanations as text.

use std::fmt::Write as _;

use super::{
    Cause, Explanation, SampleDetail,
    sample::{AxisPart, Evaluation, Filtered, LevelPart, TapPart, Way},
    ulp_distance,
};
use crate::state::State;

/// An explanation as lines: one for the dispatch, one a cause, and what is uncertain about it.
///
/// `state` (of the dispatch under the oracle's rules) tells what rules are called.
#[must_use]
pub fn render_text(name: &str, explanation: &Explanation, state: Option<&State>) -> String {
    let mut text = String::new();
    let Explanation { samples, mismatched, groups, not_searched, .. } = explanation;
    // Writing to a string can't fail, so the results are dropped.
    let _ = match mismatched {
        0 => writeln!(text, "{name}: {samples} samples agree"),
        _ => writeln!(text, "{name}: {mismatched} of {samples} samples differ"),
    };
    for group in groups {
        let _ = writeln!(text, "  {:>8}  {}", group.samples, group.rule.label(state));
        if group.ambiguous == 0 {
            continue;
        }
        let which = if group.ambiguous == group.samples { "all".to_owned() } else { group.ambiguous.to_string() };
        let _ = writeln!(text, "            ambiguous: {which} of these fit other changes as well");
        for other in group.alternatives.iter().take(SHOWN_ALTERNATIVES) {
            let _ = writeln!(text, "            {:>8}  {}", other.samples, other.rule.name());
        }
        if let Some(more @ 1..) = group.alternatives.len().checked_sub(SHOWN_ALTERNATIVES) {
            let _ = writeln!(text, "            and {more} more");
        }
    }
    if *not_searched > 0 {
        let _ = writeln!(text, "  pairs of rules were not tried on {not_searched} of the unexplained samples");
    }
    text
}

/// Other causes that are listed for a cause.
const SHOWN_ALTERNATIVES: usize = 4;

const CHANNELS: [char; 4] = ['X', 'Y', 'Z', 'W'];
const AXES: [char; 3] = ['x', 'y', 'z'];

/// A sample in full.
#[must_use]
pub fn render_sample(detail: &SampleDetail) -> String {
    let mut text = String::new();
    let [x, y, z] = detail.position;
    let _ = writeln!(text, "{} {} sample {} at {x},{y},{z}", detail.dispatch, detail.op, detail.sample);
    let operands: Vec<_> = detail
        .operands
        .iter()
        .map(|(column, bits)| match column {
            capture_format::Column::Offset => format!("{column} {bits:#x}"),
            _ => format!("{column} {bits:#010x} = {}", f32::from_bits(*bits)),
        })
        .collect();
    let _ = writeln!(text, "  operands  {}", operands.join(", "));
    match (&detail.cause, &detail.label) {
        (Some(cause), Some(label)) => {
            let _ = writeln!(text, "  cause     {label}");
            if matches!(cause, Cause::Unexplained) {
                let _ = writeln!(text, "            no change of one or two rules gives the oracle's value");
            }
        }
        _ => {
            let _ = writeln!(text, "  the results agree");
        }
    }
    for other in &detail.alternatives {
        let _ = writeln!(text, "            or {}", other.rule.name());
    }
    for field in &detail.fields {
        let f = field.field.field();
        let _ =
            writeln!(text, "  field     {:24} {:14} {}", field.field.name(), f.bits_text(), f.describe(field.value));
    }
    results(&mut text, detail);
    let differing = (0..4).filter(|&c| {
        let same = super::same_word(detail.got[c], detail.expected[c], detail.integer);
        detail.measured >> c & 1 == 1 && !same
    });
    // Of a sample that agrees all channels are of interest.
    let shown = differing.fold(0u8, |shown, c| shown | 1 << c);
    let shown = if shown == 0 { 0xf } else { shown };
    if let Some(path) = &detail.path {
        let _ = writeln!(text, "\n  got, by the path's rules");
        evaluation(&mut text, path, shown);
    }
    if let Some(oracle) = &detail.oracle {
        let _ = writeln!(text, "\n  expected, by the rules that give it");
        evaluation(&mut text, oracle, shown);
    }
    if let (Some(Way::Filtered(path)), Some(Way::Filtered(oracle))) =
        (detail.path.as_ref().map(|e| &e.way), detail.oracle.as_ref().map(|e| &e.way))
    {
        grids(&mut text, path, oracle);
    }
    text
}

fn results(text: &mut String, detail: &SampleDetail) {
    let _ = writeln!(text, "\n  channel   {:32} {:32} ULP", "got", "expected");
    for (c, name) in CHANNELS.iter().enumerate() {
        let number = |word: u32| {
            if detail.integer { format!("{word:#010x} {word}") } else { format!("{word:#010x} {}", number(word)) }
        };
        let got = number(detail.got[c]);
        if detail.measured >> c & 1 == 0 {
            let _ = writeln!(text, "  {name}         {got:32} not measured");
            continue;
        }
        let expected = number(detail.expected[c]);
        let distance = if super::same_word(detail.got[c], detail.expected[c], detail.integer) {
            String::new()
        } else if detail.integer {
            detail.got[c].abs_diff(detail.expected[c]).to_string()
        } else {
            match ulp_distance(detail.got[c], detail.expected[c]) {
                None => "NaN against a number".to_owned(),
                Some(0) => "sign of zero".to_owned(),
                Some(ulp) => ulp.to_string(),
            }
        };
        let _ = writeln!(text, "  {}", format!("{name}         {got:32} {expected:32} {distance}").trim_end());
    }
}

/// A value as hex float and as decimal.
fn number(bits: u32) -> String {
    format!("{} {}", hex_float(bits), f32::from_bits(bits))
}

/// FP32 bits as a hexadecimal floating-point number: `0x1.fcp-2`.
#[must_use]
pub fn hex_float(bits: u32) -> String {
    let value = f32::from_bits(bits);
    let sign = if bits >> 31 == 1 { "-" } else { "" };
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return format!("{sign}inf");
    }
    let (exponent, fraction) = ((bits >> 23 & 0xff) as i32, bits & 0x007f_ffff);
    let (whole, exponent) = match (exponent, fraction) {
        (0, 0) => return format!("{sign}0x0p+0"),
        (0, _) => (0, -126),
        _ => (1, exponent - 127),
    };
    let digits = format!("{:06x}", fraction << 1);
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("{sign}0x{whole}{point}{digits}p{exponent:+}")
}

/// A position in texels as integer and 1/256 in hex, `1.#7f`; what is left of a step is added as a decimal: `1.#7f+0.5`.
#[must_use]
pub fn texel_position(texels: f64) -> String {
    if !texels.is_finite() || texels.abs() >= f64::from(1u32 << 31) {
        return texels.to_string();
    }
    let whole = texels.floor();
    let steps = (texels - whole) * 256.0;
    let rest = steps - steps.floor();
    let mut position = format!("{whole}.#{:02x}", steps as u32);
    if rest > 0.0 {
        let _ = write!(position, "+{rest}");
    }
    position
}

fn evaluation(text: &mut String, evaluation: &Evaluation, shown: u8) {
    match &evaluation.way {
        Way::Load(None) => {
            let _ = writeln!(text, "    outside the image: zeros");
        }
        Way::Load(Some(texel)) => {
            let [level, x, y, slice] = texel.at;
            let _ = writeln!(
                text,
                "    level {level} texel {x},{y},{slice}  word {:#010x}  {}",
                texel.word,
                decoded(texel.channels)
            );
        }
        Way::Filtered(probes) => {
            for (at, way) in probes.iter().enumerate() {
                if probes.len() > 1 {
                    let _ = writeln!(text, "    probe {} of {}, weight {}/256", at + 1, probes.len(), way.part * 256.0);
                }
                filtered(text, way, shown);
            }
        }
    }
}

fn decoded(channels: [u32; 4]) -> String {
    channels.map(|c| f32::from_bits(c).to_string()).join(" ")
}

/// `shown`: the outputs whose blend is of interest, in bits 0 to 3.
fn filtered(text: &mut String, way: &Filtered, shown: u8) {
    for part in &way.levels {
        level(text, way, part);
    }
    for blend in way.blends.iter().filter(|b| shown >> b.output & 1 == 1) {
        for step in &blend.steps {
            let terms: Vec<_> =
                step.terms.iter().map(|(value, weight)| format!("{} × {weight}/256", f32::from_bits(*value))).collect();
            let _ = writeln!(
                text,
                "    {} {:14} {} = {}",
                CHANNELS.get(blend.output).copied().unwrap_or('?'),
                step.what,
                terms.join(" + "),
                f32::from_bits(step.result)
            );
        }
    }
}

fn level(text: &mut String, way: &Filtered, part: &LevelPart) {
    let [x, y, z] = part.size;
    let _ = write!(text, "    level {} of {x}×{y}×{z}, LOD {}", part.level, way.lod);
    let _ = if way.levels.len() > 1 { writeln!(text, ", weight {}/256", part.weight) } else { writeln!(text) };
    for (axis, AxisPart { coordinate, size, texels, index, weight, linear }) in part.axes.iter().enumerate() {
        let c = f32::from_bits(*coordinate);
        let _ = write!(text, "      {} {c} of {size} = {}", AXES[axis], texel_position(*texels));
        let _ = if *linear {
            writeln!(text, ", from the first centre {} → texel {index} + {weight}/256", texel_position(texels - 0.5))
        } else {
            writeln!(text, " → texel {index}")
        };
    }
    for TapPart { texel, word, channels, weight, .. } in &part.taps {
        let place = match texel {
            Some([x, y, z]) => format!("texel {x},{y},{z}  {word:#010x}"),
            None => "border".to_owned(),
        };
        let _ = writeln!(text, "      tap {place:28} {:>10}/256  {}", weight.to_string(), decoded(*channels));
    }
}

/// The texels used on both sides with their weights in 1/256, side by side, a grid for each level and slice.
fn grids(text: &mut String, got: &[Filtered], expected: &[Filtered]) {
    let mut keys: Vec<(u32, u32)> = Vec::new();
    for part in got.iter().chain(expected).flat_map(|way| &way.levels) {
        for [_, _, z] in part.taps.iter().filter_map(|tap| tap.texel) {
            if !keys.contains(&(part.level, z)) {
                keys.push((part.level, z));
            }
        }
    }
    keys.sort_unstable();
    for (level, slice) in keys {
        let cells = |probes: &[Filtered]| {
            let parts = probes.iter().flat_map(|way| &way.levels).filter(|p| p.level == level);
            let mut cells: Vec<([u32; 2], f64)> = Vec::new();
            for tap in parts.flat_map(|p| &p.taps) {
                let Some([x, y, z]) = tap.texel else { continue };
                if z != slice {
                    continue;
                }
                match cells.iter_mut().find(|(at, _)| *at == [x, y]) {
                    Some((_, weight)) => *weight += tap.weight / probes.len() as f64,
                    None => cells.push(([x, y], tap.weight / probes.len() as f64)),
                }
            }
            cells
        };
        let (got, expected) = (cells(got), cells(expected));
        let all = || got.iter().chain(&expected).map(|(at, _)| *at);
        let axis = |of: usize| {
            let mut places: Vec<u32> = all().map(|at| at[of]).collect();
            places.sort_unstable();
            places.dedup();
            places
        };
        let (columns, rows) = (axis(0), axis(1));
        let row_text = |cells: &[([u32; 2], f64)], y: u32| {
            let cell = |&x: &u32| {
                let weight = cells.iter().find(|(at, _)| *at == [x, y]).map(|(_, w)| w.to_string());
                format!("{:>10}", weight.unwrap_or_else(|| "·".to_owned()))
            };
            columns.iter().map(cell).collect::<String>()
        };
        let head: String = columns.iter().map(|x| format!("{:>10}", format!("x={x}"))).collect();
        let width = columns.len() * 10;
        let _ = writeln!(text, "\n  level {level}, slice {slice}: weights in 1/256");
        let _ = writeln!(text, "  {:8}{:<width$}      expected", "", "  got");
        let _ = writeln!(text, "  {:8}{head}    {head}", "");
        for y in rows {
            let _ = writeln!(text, "  {:8}{}    {}", format!("y={y}"), row_text(&got, y), row_text(&expected, y));
        }
    }
    let border = |probes: &[Filtered]| -> f64 {
        let taps = probes.iter().flat_map(|way| &way.levels).flat_map(|p| &p.taps);
        taps.filter(|t| t.texel.is_none()).map(|t| t.weight / probes.len() as f64).sum()
    };
    if border(got) > 0.0 || border(expected) > 0.0 {
        let _ = writeln!(text, "\n  border: weight {}/256 got, {}/256 expected", border(got), border(expected));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_hex_floats_read_as_documented() {
        assert_eq!(texel_position(1.0 + 127.0 / 256.0), "1.#7f");
        assert_eq!(texel_position(-0.5), "-1.#80");
        assert_eq!(texel_position(2.0 + 1.5 / 256.0), "2.#01+0.5");
        assert_eq!(hex_float(0x3efe_0000), "0x1.fcp-2");
        assert_eq!(hex_float(0x8000_0001), "-0x0.000002p-126");
        assert_eq!(hex_float(0xff80_0000), "-inf");
        assert_eq!(hex_float(0x3f80_0000), "0x1p+0");
        assert_eq!(hex_float(0), "0x0p+0");
    }
}
