//! Reading compute dispatches of the text form.

use toml::de::DeValue;

use super::{
    CaseError, number,
    read::{Table, Value},
};
use crate::{ComputeDispatch, GuestShader, SpecializationValue, Words, container::BindingFields};

/// Reads a `[[compute]]` table.
pub(super) fn compute(table: &Table<'_, '_>) -> Result<ComputeDispatch, CaseError> {
    table.only(&[
        "name",
        "module",
        "entry",
        "groups",
        "specialization",
        "push_constants",
        "shader_hash",
        "isa",
        "labels",
        "ended",
        "binding",
    ])?;
    let optional_words =
        |key| if table.table.get(key).is_some() { words(&table.table(key)?) } else { Ok(Words::default()) };
    let mut dispatch = ComputeDispatch {
        name: table.text("name")?,
        module: words(&table.table("module")?)?,
        entry: table.text("entry")?,
        specialization: specialization(table)?,
        push_constants: optional_words("push_constants")?,
        groups: table.words("groups", table.required("groups")?, number::integer)?,
        bindings: Vec::new(),
        guest_shader: GuestShader { hash: optional(table, "shader_hash", number::long)?, isa: optional_words("isa")? },
        labels: Vec::new(),
        ended: flag(table, "ended")?.unwrap_or(true),
    };
    if let Some(labels) = table.table.get("labels") {
        for (i, label) in table.array("labels", labels)?.iter().enumerate() {
            let text = label.get_ref().as_str();
            let text = text.ok_or_else(|| table.invalid(&format!("labels[{i}]"), label, "expected a string"))?;
            dispatch.labels.push(text.to_owned());
        }
    }
    if let Some(bindings) = table.table.get("binding") {
        for (i, value) in table.array("binding", bindings)?.iter().enumerate() {
            let DeValue::Table(inner) = value.get_ref() else {
                return Err(table.invalid("binding", value, "expected [[compute.binding]] tables"));
            };
            let table = Table {
                reader: table.reader,
                place: table.place.clone(),
                prefix: format!("binding[{i}]."),
                span: value.span(),
                table: inner,
            };
            let (fields, before, after) = binding(&table)?;
            let at =
                |problem: String| table.reader.error(value.span(), &format!("{}binding[{i}]: ", table.place), problem);
            let mut binding = fields.decode().map_err(at)?;
            for (contents, set) in [
                (before, crate::ComputeBinding::set_before as fn(&mut crate::ComputeBinding, Words)),
                (after, crate::ComputeBinding::set_after),
            ] {
                match contents {
                    Some(_) if matches!(binding.resource, crate::BoundResource::Sampler(_)) => {
                        return Err(at("a sampler has no contents".to_owned()));
                    }
                    Some(words) => set(&mut binding, words),
                    None => {}
                }
            }
            dispatch.bindings.push(binding);
        }
    }
    dispatch.check().map_err(|found| {
        // The tables of the bindings stand under their key in the singular.
        let key = if found.field == "bindings" { "binding" } else { found.field };
        let span = table.table.get(key).map_or(table.span.clone(), |value| value.span());
        table.reader.error(span, &format!("{}{}: ", table.place, found.field), found.problem)
    })?;
    Ok(dispatch)
}

fn specialization(table: &Table<'_, '_>) -> Result<Vec<SpecializationValue>, CaseError> {
    if table.table.get("specialization").is_none() {
        return Ok(Vec::new());
    }
    let table = table.table("specialization")?;
    table.only(&["rows"])?;
    let mut constants = Vec::new();
    for (i, row) in table.array("rows", table.required("rows")?)?.iter().enumerate() {
        let key = format!("rows[{i}]");
        let values = table.array(&key, row)?;
        let [id, value, bytes] = values.iter().collect::<Vec<_>>()[..] else {
            let problem = format!("expected 3 numbers (id, value, bytes), found {}", values.len());
            return Err(table.invalid(&key, row, problem));
        };
        let fail = |value: &Value<'_>, problem: String| table.invalid(&key, value, problem);
        let size = number::integer(bytes.get_ref()).and_then(|n| u8::try_from(n).map_err(|e| e.to_string()));
        constants.push(SpecializationValue {
            id: number::word(id.get_ref()).map_err(|problem| fail(id, problem))?,
            value: number::long(value.get_ref()).map_err(|problem| fail(value, problem))?,
            bytes: size.map_err(|problem| fail(bytes, problem))?,
        });
    }
    Ok(constants)
}

type Binding = (BindingFields, Option<Words>, Option<Words>);

fn binding(table: &Table<'_, '_>) -> Result<Binding, CaseError> {
    table.only(&[
        "set",
        "binding",
        "element",
        "kind",
        "image",
        "sampler",
        "buffer",
        "format",
        "view",
        "extent",
        "layers",
        "levels",
        "words",
        "element_type",
        "channels",
        "grid",
        "output",
        "before",
        "after",
    ])?;
    let number = |key| optional(table, key, number::integer);
    let required = |key| {
        let value = table.required(key)?;
        number::integer(value.get_ref()).map_err(|problem| table.invalid(key, value, problem))
    };
    let kind = table.required("kind")?;
    let channels = number("channels")?.map(u8::try_from).transpose();
    let contents = |key| if table.table.get(key).is_some() { words(&table.table(key)?).map(Some) } else { Ok(None) };
    let fields = BindingFields {
        set: required("set")?,
        binding: required("binding")?,
        element: number("element")?.unwrap_or(0),
        kind: table.text("kind")?.parse().map_err(|problem: String| table.invalid("kind", kind, problem))?,
        image: array(table, "image", number::word)?,
        sampler: array(table, "sampler", number::word)?,
        buffer: array(table, "buffer", number::word)?,
        format: number("format")?.unwrap_or(0),
        view: table.optional_text("view")?,
        extent: array(table, "extent", number::integer)?,
        layers: number("layers")?.unwrap_or(0),
        levels: number("levels")?.unwrap_or(0),
        words: optional(table, "words", number::long)?,
        element_type: table.optional_text("element_type")?,
        channels: channels.map_err(|error| {
            table.required("channels").map_or_else(|missing| missing, |value| table.invalid("channels", value, error))
        })?,
        grid: array(table, "grid", number::integer)?,
        output: flag(table, "output")?.unwrap_or(false),
        before: None,
    };
    Ok((fields, contents("before")?, contents("after")?))
}

/// `{ words = […] }` or `{ file = "…" }`.
fn words(table: &Table<'_, '_>) -> Result<Words, CaseError> {
    table.reader.texels(table)
}

fn optional<T>(
    table: &Table<'_, '_>,
    key: &str,
    number: fn(&DeValue<'_>) -> Result<T, String>,
) -> Result<Option<T>, CaseError> {
    let Some(value) = table.table.get(key) else { return Ok(None) };
    number(value.get_ref()).map(Some).map_err(|problem| table.invalid(key, value, problem))
}

fn array<const N: usize>(
    table: &Table<'_, '_>,
    key: &str,
    number: fn(&DeValue<'_>) -> Result<u32, String>,
) -> Result<Option<[u32; N]>, CaseError> {
    table.table.get(key).map(|value| table.words(key, value, number)).transpose()
}

fn flag(table: &Table<'_, '_>, key: &str) -> Result<Option<bool>, CaseError> {
    match table.table.get(key) {
        None => Ok(None),
        Some(value) => match value.get_ref() {
            DeValue::Boolean(flag) => Ok(Some(*flag)),
            other => {
                Err(table.invalid(key, value, format_args!("expected true or false, found {}", number::kind(other))))
            }
        },
    }
}
