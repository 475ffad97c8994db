//! What is bound to a compute dispatch: images with T#, samplers with S#, buffers, push constants.

use capture_format::{BoundResource, ComputeBinding, ComputeDispatch, Field, ImageDescriptor, SamplerDescriptor};
use egui::{CollapsingHeader, Grid, Label, RichText, ScrollArea, TextWrapMode, Ui};
use replayer::recorded::describe;

use super::{export_window::What, panes::Request, theme};
use crate::model::{
    compute::Compute,
    number::{grouped, word},
    outcome::Verdict,
};

/// Words of a buffer or of push constants that are shown.
const SHOWN_WORDS: usize = 64;

/// Draws the panel. `filter` leaves only fields whose name or meaning holds it.
pub fn bindings_ui(ui: &mut Ui, compute: &Compute, filter: &mut String, requests: &mut Vec<Request>) {
    let dispatch = &compute.dispatch;
    ui.horizontal_wrapped(|ui| {
        ui.add(egui::TextEdit::singleline(filter).hint_text("filter fields").desired_width(110.0))
            .accessible_name("Filter fields");
        if ui.button("Export as case…").on_hover_text("Writes the dispatch with its module and bindings").clicked() {
            requests.push(Request::Export(What::Case));
        }
    });
    ScrollArea::both().id_salt("bindings").auto_shrink(false).show(ui, |ui| {
        about_ui(ui, dispatch);
        if !compute.lacks.is_empty() {
            ui.add_space(4.0);
            ui.colored_label(
                theme::verdict(Some(Verdict::Refused), ui.visuals()),
                "What the recording lacks to be replayed and compared:",
            );
            for lack in &compute.lacks {
                ui.label(format!("- {lack}"));
            }
        }
        ui.add_space(4.0);
        for (number, binding) in dispatch.bindings.iter().enumerate() {
            binding_ui(ui, binding, number, filter.trim());
        }
        if dispatch.bindings.is_empty() {
            ui.weak("Nothing is bound.");
        }
        if !dispatch.push_constants.is_empty() {
            let title = RichText::new("push constants").strong();
            CollapsingHeader::new(title).default_open(true).show_unindented(ui, |ui| {
                words_ui(ui, &dispatch.push_constants);
            });
        }
    });
}

fn mono(text: impl Into<String>) -> RichText {
    RichText::new(text).font(egui::FontId::monospace(11.0))
}

fn about_ui(ui: &mut Ui, dispatch: &ComputeDispatch) {
    Grid::new("about").num_columns(2).spacing([10.0, 2.0]).show(ui, |ui| {
        let mut row = |name: &str, text: String| {
            ui.weak(name);
            ui.add(Label::new(text).truncate());
            ui.end_row();
        };
        let [x, y, z] = dispatch.groups;
        row("entry", dispatch.entry.clone());
        row("workgroups", format!("{x} x {y} x {z}"));
        if !dispatch.labels.is_empty() {
            row("labels", dispatch.labels.join(" / "));
        }
        if let Some(hash) = dispatch.guest_shader.hash {
            row("guest shader", format!("{hash:#018x}, {} words of code", dispatch.guest_shader.isa.len()));
        }
    });
}

fn binding_ui(ui: &mut Ui, binding: &ComputeBinding, number: usize, filter: &str) {
    let output = if binding.is_output() { ", output" } else { "" };
    let title = RichText::new(format!("{binding}{output}")).strong();
    CollapsingHeader::new(title).id_salt(number).default_open(true).show_unindented(ui, |ui| {
        ui.label(describe(binding));
        let (before, after) = binding.contents();
        let words = |words: Option<&capture_format::Words>| match words {
            Some(words) => format!("{} words", grouped(words.len() as u64)),
            None => "not recorded".to_owned(),
        };
        let contents = match (binding.content_words().is_some(), binding.is_output()) {
            (false, _) => None,
            (true, false) => Some(format!("contents: {}", words(before))),
            (true, true) => Some(format!("contents before: {}, after: {}", words(before), words(after))),
        };
        if let Some(contents) = contents {
            ui.weak(contents);
        }
        match &binding.resource {
            BoundResource::Image(image) => {
                match &image.descriptor {
                    Some(words) => descriptor_ui(ui, "T#", words, ImageDescriptor::FIELDS, number, filter),
                    None => drop(ui.weak("no T# was recorded")),
                }
                if let Some(words) = &image.sampler {
                    descriptor_ui(ui, "S#", words, SamplerDescriptor::FIELDS, number, filter);
                }
            }
            BoundResource::Sampler(sampler) => match &sampler.descriptor {
                Some(words) => descriptor_ui(ui, "S#", words, SamplerDescriptor::FIELDS, number, filter),
                None => drop(ui.weak("no S# was recorded")),
            },
            BoundResource::Buffer(buffer) => {
                if let Some(words) = &buffer.descriptor {
                    ui.label(mono(format!("V#  {}", words.map(word).join(" "))));
                }
                if let Some(before) = before {
                    words_ui(ui, before);
                }
            }
        }
    });
    ui.separator();
}

/// A descriptor as raw words and bit fields. The module reads its own state, so nothing is changed here.
fn descriptor_ui(ui: &mut Ui, name: &str, words: &[u32], fields: &'static [Field], number: usize, filter: &str) {
    ui.add_space(2.0);
    let raw: Vec<String> = words.iter().map(|&bits| word(bits)).collect();
    for (line, four) in raw.chunks(4).enumerate() {
        let title = if line == 0 { name } else { "  " };
        ui.label(mono(format!("{title}  {}", four.join(" "))));
    }
    let filter = filter.to_lowercase();
    Grid::new((name, number)).num_columns(3).striped(true).spacing([10.0, 1.0]).show(ui, |ui| {
        for field in fields {
            let value = field.extract(words);
            let is_named =
                field.name.to_lowercase().contains(&filter) || field.meaning.to_lowercase().contains(&filter);
            // Reserved bits are of interest only when something is in them.
            if !is_named || field.is_reserved() && value == 0 {
                continue;
            }
            ui.label(mono(field.name).color(ui.visuals().strong_text_color())).on_hover_text(field.meaning);
            ui.label(mono(field.bits_text()).weak());
            ui.label(mono(field.describe(value)));
            ui.end_row();
        }
    });
}

/// The first words, four a line.
fn words_ui(ui: &mut Ui, words: &[u32]) {
    let shown = words.get(..SHOWN_WORDS).unwrap_or(words);
    for (line, four) in shown.chunks(4).enumerate() {
        let text: Vec<String> = four.iter().map(|&bits| word(bits)).collect();
        ui.add(Label::new(mono(format!("{:>4}  {}", line * 4, text.join(" ")))).wrap_mode(TextWrapMode::Extend));
    }
    if words.len() > shown.len() {
        ui.weak(format!("and {} words more", grouped((words.len() - shown.len()) as u64)));
    }
}
