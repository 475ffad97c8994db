//! Writing compute dispatches of the text form.

use std::fmt::Write as _;

use super::{
    CaseError,
    write::{Files, hex_list, quoted, rows},
};
use crate::{ComputeBinding, ComputeDispatch, Words, container::BindingFields};

pub(super) fn compute_text(
    dispatch: &ComputeDispatch,
    files: &mut Files<'_>,
    text: &mut String,
) -> Result<(), CaseError> {
    let mut line = |key: &str, value: &str| {
        let _ = writeln!(text, "{key} = {value}");
    };
    let name = &dispatch.name;
    line("name", &quoted(name));
    line("module", &words(name, "module", &dispatch.module, files)?);
    line("entry", &quoted(&dispatch.entry));
    line("groups", &format!("{:?}", dispatch.groups));
    if !dispatch.specialization.is_empty() {
        let constants = dispatch.specialization.iter();
        let constants = rows(constants.map(|c| format!("[{}, \"{:#x}\", {}]", c.id, c.value, c.bytes)));
        line("specialization", &format!("{{ rows = {constants} }}"));
    }
    if !dispatch.push_constants.is_empty() {
        line("push_constants", &words(name, "push", &dispatch.push_constants, files)?);
    }
    if let Some(hash) = dispatch.guest_shader.hash {
        line("shader_hash", &format!("\"{hash:#018x}\""));
    }
    if !dispatch.guest_shader.isa.is_empty() {
        line("isa", &words(name, "isa", &dispatch.guest_shader.isa, files)?);
    }
    if !dispatch.labels.is_empty() {
        let labels: Vec<String> = dispatch.labels.iter().map(|label| quoted(label)).collect();
        line("labels", &format!("[{}]", labels.join(", ")));
    }
    if !dispatch.ended {
        line("ended", "false");
    }
    for (number, binding) in dispatch.bindings.iter().enumerate() {
        text.push_str("\n[[compute.binding]]\n");
        binding_text(name, number, binding, files, text)?;
    }
    Ok(())
}

fn binding_text(
    dispatch: &str,
    number: usize,
    binding: &ComputeBinding,
    files: &mut Files<'_>,
    text: &mut String,
) -> Result<(), CaseError> {
    let mut line = |key: &str, value: String| {
        let _ = writeln!(text, "{key} = {value}");
    };
    let fields = BindingFields::new(binding, None);
    line("set", fields.set.to_string());
    line("binding", fields.binding.to_string());
    if fields.element != 0 {
        line("element", fields.element.to_string());
    }
    line("kind", quoted(fields.kind.name()));
    if let Some(image) = &fields.image {
        line("image", hex_list(image));
    }
    if let Some(sampler) = &fields.sampler {
        line("sampler", hex_list(sampler));
    }
    if let Some(buffer) = &fields.buffer {
        line("buffer", hex_list(buffer));
    }
    if let Some(extent) = fields.extent {
        line("format", fields.format.to_string());
        line("view", quoted(&fields.view));
        line("extent", format!("{extent:?}"));
        line("layers", fields.layers.to_string());
        line("levels", fields.levels.to_string());
    }
    if let (Some(size), Some(channels)) = (fields.words, fields.channels) {
        line("words", if size < 1 << 31 { size.to_string() } else { format!("\"{size:#x}\"") });
        line("element_type", quoted(&fields.element_type));
        line("channels", channels.to_string());
    }
    if let Some(grid) = fields.grid {
        line("grid", format!("{grid:?}"));
    }
    if fields.output {
        line("output", "true".to_owned());
    }
    let (before, after) = binding.contents();
    for (key, contents) in [("before", before), ("after", after)] {
        if let Some(contents) = contents {
            line(key, words(dispatch, &format!("{number}.{key}"), contents, files)?);
        }
    }
    Ok(())
}

fn words(dispatch: &str, part: &str, words: &Words, files: &mut Files<'_>) -> Result<String, CaseError> {
    if words.len() <= files.options.inline_words {
        return Ok(format!("{{ words = {} }}", hex_list(words)));
    }
    Ok(format!("{{ file = {} }}", quoted(&files.put_shared(dispatch, part, words)?)))
}
