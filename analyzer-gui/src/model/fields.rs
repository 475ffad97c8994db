//! Descriptor fields as rows: bits, value, meaning, and the rules they drive.

use capture_format::{Dispatch, Field, ImageDescriptor, SamplerDescriptor, Shown};
use replayer::rules::RuleId;

use super::edits::{Descriptor, Edits, recorded};

/// One field of a descriptor as the panel shows it.
#[derive(Clone, Debug)]
pub struct FieldRow {
    /// Which descriptor.
    pub descriptor: Descriptor,
    /// Its entry, when the dispatch has a table of such descriptors.
    pub entry: Option<u32>,
    /// The field.
    pub field: &'static Field,
    /// Its value.
    pub value: u32,
    /// The value as recorded.
    pub recorded: u32,
    /// What the value stands for.
    pub text: String,
    /// The rules that say how hardware applies the field.
    pub rules: Vec<RuleId>,
}

impl FieldRow {
    /// Whether the value is not the recorded one.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.value != self.recorded
    }

    /// The name under which its control is found: `S# CLAMP_X`, in a table `S#[3] CLAMP_X`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{} {}", entry_name(self.descriptor, self.entry), self.field.name)
    }
}

/// `S#`, or `S#[3]` for an entry of a table.
#[must_use]
pub fn entry_name(descriptor: Descriptor, entry: Option<u32>) -> String {
    let name = descriptor.name();
    entry.map_or_else(|| name.to_owned(), |entry| format!("{name}[{entry}]"))
}

/// An entry, where the dispatch has a table of such descriptors.
#[must_use]
pub fn in_table(dispatch: &Dispatch, descriptor: Descriptor, entry: u32) -> Option<u32> {
    let several = match descriptor {
        Descriptor::Image => dispatch.image_count() > 1,
        Descriptor::Sampler => dispatch.sampler_count() > 1,
    };
    several.then_some(entry)
}

/// The fields of a descriptor.
#[must_use]
pub fn table(descriptor: Descriptor) -> &'static [Field] {
    match descriptor {
        Descriptor::Image => ImageDescriptor::FIELDS,
        Descriptor::Sampler => SamplerDescriptor::FIELDS,
    }
}

/// The rows of an entry of a descriptor (0 without a table); none when the dispatch has no such descriptor.
#[must_use]
pub fn rows(dispatch: &Dispatch, edits: &Edits, descriptor: Descriptor, entry: u32) -> Vec<FieldRow> {
    let recorded = recorded(dispatch, descriptor, entry);
    let Some((words, recorded)) = edits.words(dispatch, descriptor, entry).zip(recorded) else { return Vec::new() };
    table(descriptor)
        .iter()
        .map(|field| {
            let value = field.extract(&words);
            FieldRow {
                descriptor,
                entry: in_table(dispatch, descriptor, entry),
                field,
                value,
                recorded: field.extract(recorded),
                text: field.describe(value),
                rules: rules(field.name).to_vec(),
            }
        })
        .collect()
}

/// The rules that say how hardware applies a field.
#[must_use]
pub fn rules(field: &str) -> &'static [RuleId] {
    use RuleId::*;
    match field {
        "CLAMP_X" | "CLAMP_Y" | "CLAMP_Z" => &[EdgeClamp, HalfBorder],
        "TRUNC_COORD" => &[TruncCoord, PointRounding, WeightRounding, LayerRounding],
        "FORCE_UNNORMALIZED" => &[CoordinateStep, CoordinateProduct],
        "XY_MAG_FILTER" | "XY_MIN_FILTER" => {
            &[MinifyFrom, SubtexelBits, WeightRounding, WeightScheme, Accumulation, ResultRounding, ZeroWeightTaps]
        }
        "Z_FILTER" => &[ZFilterRule, MipFilterBits],
        "MIP_FILTER" => &[MipFilterBits, MipNearest, MipNearestLod, LodRounding],
        "FILTER_MODE" => &[MinMaxTaps, EdgeClamp],
        "MIN_LOD" | "MAX_LOD" | "BASE_LEVEL" | "LAST_LEVEL" => &[LodRounding, LodRoundingStage, MinifyFrom],
        "LOD_BIAS" => &[ExplicitLodBias, LodRounding, LodRoundingStage],
        "BORDER_COLOR_TYPE" | "BORDER_COLOR_PTR" => &[BorderSwizzle, BorderMissingChannel, BorderPrecision],
        "BC_SWIZZLE" => &[BorderSwizzle],
        "DST_SEL_X" | "DST_SEL_Y" | "DST_SEL_Z" | "DST_SEL_W" => &[BorderSwizzle, BorderMissingChannel],
        "BASE_ARRAY" | "DEPTH" => &[LayerRounding],
        _ => &[],
    }
}

/// A field with a value: descriptor, entry of its table if one is named, field, value.
pub type Setting = (Descriptor, Option<u32>, &'static Field, u32);

/// A field with a value, as `S#.TRUNC_COORD=1`, in a table of descriptors as `S#[3].TRUNC_COORD=1`; the value is decimal,
/// hexadecimal, or a code's name.
///
/// # Errors
/// Text that says which part is not known.
pub fn parse_setting(text: &str) -> Result<Setting, String> {
    let fail = |problem: String| format!("{text:?}: {problem}, expected T#.FIELD=VALUE or S#.FIELD=VALUE");
    let (name, value) = text.split_once('=').ok_or_else(|| fail("no = in it".to_owned()))?;
    let neither = || fail("it starts with neither T#. nor S#.".to_owned());
    let (which, name) = name.trim().split_once('.').ok_or_else(neither)?;
    let (descriptor, entry) = match (which.get(..2), which.get(2..)) {
        (Some("T#"), Some(entry)) => (Descriptor::Image, entry),
        (Some("S#"), Some(entry)) => (Descriptor::Sampler, entry),
        _ => return Err(neither()),
    };
    let number = |text: &str| text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let entry = match entry {
        "" => None,
        text => Some(number(text).ok_or_else(|| fail(format!("{text} is no entry of a table")))?),
    };
    let field = table(descriptor).iter().find(|field| field.name.eq_ignore_ascii_case(name));
    let field = field.ok_or_else(|| fail(format!("{} has no field {name}", descriptor.name())))?;
    let value = parse_value(field, value.trim()).ok_or_else(|| fail(format!("{value:?} is no value of {name}")))?;
    Ok((descriptor, entry, field, value))
}

/// The changed fields as [`parse_setting`] reads them.
#[must_use]
pub fn settings(dispatch: &Dispatch, edits: &Edits) -> Vec<String> {
    let changed = |descriptor| {
        let rows = edits.entries(descriptor).flat_map(move |entry| rows(dispatch, edits, descriptor, entry));
        rows.filter(FieldRow::is_changed)
    };
    let text = |row: FieldRow| format!("{}.{}={:#x}", entry_name(row.descriptor, row.entry), row.field.name, row.value);
    changed(Descriptor::Sampler).chain(changed(Descriptor::Image)).map(text).collect()
}

/// A value of a field as text: decimal, hexadecimal, or a code's name.
#[must_use]
pub fn parse_value(field: &Field, text: &str) -> Option<u32> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let named = || match field.shown {
        Shown::Names(names) => names.iter().find(|(_, name)| name.eq_ignore_ascii_case(text)).map(|(code, _)| *code),
        _ => None,
    };
    number.or_else(named).filter(|value| *value <= field.max_value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_parse() {
        let (descriptor, entry, field, value) = parse_setting("S#.clamp_x=CLAMP_LAST_TEXEL").unwrap();
        assert_eq!((descriptor, entry, field.name, value), (Descriptor::Sampler, None, "CLAMP_X", 2));
        let (descriptor, entry, _, value) = parse_setting("T#[12].FORMAT=0x2b").unwrap();
        assert_eq!((descriptor, entry, value), (Descriptor::Image, Some(12), 43));
        for bad in [
            "S#.CLAMP_X",
            "CLAMP_X=1",
            "T#.CLAMP_X=1",
            "S#.CLAMP_X=8",
            "S#.CLAMP_X=SIDEWAYS",
            "S#[].CLAMP_X=1",
            "S#[1.CLAMP_X=1",
            "S#[-1].CLAMP_X=1",
            "S#1.CLAMP_X=1",
            "é.CLAMP_X=1",
        ] {
            assert!(parse_setting(bad).unwrap_err().contains("expected T#.FIELD=VALUE"), "{bad}");
        }
    }

    #[test]
    fn every_field_that_drives_rules_exists() {
        let names = [
            "CLAMP_X",
            "CLAMP_Y",
            "CLAMP_Z",
            "TRUNC_COORD",
            "FORCE_UNNORMALIZED",
            "XY_MAG_FILTER",
            "XY_MIN_FILTER",
            "Z_FILTER",
            "MIP_FILTER",
            "FILTER_MODE",
            "MIN_LOD",
            "MAX_LOD",
            "BASE_LEVEL",
            "LAST_LEVEL",
            "LOD_BIAS",
            "BORDER_COLOR_TYPE",
            "BORDER_COLOR_PTR",
            "BC_SWIZZLE",
            "DST_SEL_X",
            "DST_SEL_Y",
            "DST_SEL_Z",
            "DST_SEL_W",
            "BASE_ARRAY",
            "DEPTH",
        ];
        for name in names {
            assert!(!rules(name).is_empty());
            assert!(SamplerDescriptor::field(name).is_some() || ImageDescriptor::field(name).is_some(), "{name}");
        }
        let driving = table(Descriptor::Image).iter().chain(table(Descriptor::Sampler));
        let driving = driving.filter(|field| !rules(field.name).is_empty()).count();
        // MIN_LOD is a field of both.
        assert_eq!(driving, names.len() + 1);
    }
}
