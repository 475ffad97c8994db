//! T# and S# as bit fields that can be changed.

use capture_format::{Dispatch, Shown};
use egui::{RichText, ScrollArea, Ui};
use replayer::rules::Profile;

use super::{bindings_panel, export_window::What, panes::Request, theme};
use crate::model::{
    edits::{Descriptor, recorded},
    fields::{self, FieldRow},
    number::{grouped, word},
    session::Session,
};

/// State of the panel.
#[derive(Default)]
pub struct DescriptorPanel {
    /// Only fields whose name or meaning holds this.
    pub filter: String,
    /// Whether fields that drive no rule and are zero are hidden.
    pub brief: bool,
}

/// A change that the user made.
enum Change {
    Set(u32),
    Revert,
}

/// Draws the panel.
pub fn descriptors_ui(ui: &mut Ui, session: &mut Session, panel: &mut DescriptorPanel, requests: &mut Vec<Request>) {
    let Some(shown) = session.shown() else {
        ui.weak("Select a dispatch to see its descriptors.");
        return;
    };
    if let Some(compute) = &shown.compute {
        return bindings_panel::bindings_ui(ui, compute, &mut panel.filter, requests);
    }
    let (dispatch, edits, entries) = (shown.recorded.clone(), session.edits(), shown.entries);
    let profile = session.profile().ok();
    ui.horizontal_wrapped(|ui| {
        ui.add(egui::TextEdit::singleline(&mut panel.filter).hint_text("filter fields").desired_width(110.0))
            .accessible_name("Filter fields");
        ui.checkbox(&mut panel.brief, "brief").on_hover_text("Hides fields that are zero and drive no rule");
        let changed = !edits.is_empty();
        if ui.add_enabled(changed, egui::Button::new("Revert all")).on_hover_text("All fields as recorded").clicked() {
            session.revert_all();
        }
        if ui.button("Export as case…").on_hover_text("Writes the dispatch as it is now").clicked() {
            requests.push(Request::Export(What::Case));
        }
    });
    if !edits.is_empty() {
        effect_ui(ui, session);
    }
    ScrollArea::vertical().id_salt("fields").auto_shrink(false).show(ui, |ui| {
        let mut change = None;
        for descriptor in [Descriptor::Sampler, Descriptor::Image] {
            let entry = descriptor.entry(entries);
            let rows = fields::rows(&dispatch, &edits, descriptor, entry);
            let words = edits.words(&dispatch, descriptor, entry);
            let Some(words) = words else {
                ui.weak(format!("{}: a load has none.", descriptor.name()));
                continue;
            };
            let what = if descriptor == Descriptor::Image { "image" } else { "sampler" };
            let of_table = match fields::in_table(&dispatch, descriptor, entry) {
                Some(entry) => format!("[{entry}] of {}", count(&dispatch, descriptor)),
                None => String::new(),
            };
            let title = RichText::new(format!("{}{of_table}  {what}", descriptor.name())).strong();
            let header = egui::CollapsingHeader::new(title).id_salt(what).default_open(true);
            header.show_unindented(ui, |ui| {
                words_ui(ui, &words, recorded(&dispatch, descriptor, entry).unwrap_or_default());
                ui.spacing_mut().item_spacing.y = 1.0;
                for (n, row) in rows.iter().filter(|row| is_listed(row, panel)).enumerate() {
                    if let Some(made) = row_ui(ui, row, profile.as_ref(), n) {
                        change = Some((descriptor, row.field, made));
                    }
                }
            });
        }
        match change {
            Some((descriptor, field, Change::Set(value))) => {
                if let Err(error) = session.set_field(descriptor, field, value) {
                    session.complain(&error);
                }
            }
            Some((descriptor, field, Change::Revert)) => session.revert_field(descriptor, field),
            None => {}
        }
    });
}

/// What the changed fields do to the counts.
fn effect_ui(ui: &mut Ui, session: &Session) {
    let now = session.outcome().map(|(outcome, _)| &outcome.summary);
    let before = session.unchanged_summary();
    egui::Frame::group(ui.style()).show(ui, |ui| {
        let colour = theme::changed(ui.visuals());
        match (before, now) {
            (_, None) => {
                ui.colored_label(colour, "Changed; evaluating…");
            }
            (Some(before), Some(now)) if now.reason.is_none() && before.reason.is_none() => {
                ui.colored_label(
                    colour,
                    format!("Changed: {} differ, {} as recorded", grouped(now.mismatched), grouped(before.mismatched)),
                );
            }
            (_, Some(now)) => {
                ui.colored_label(colour, format!("Changed: {}", now.text()));
            }
        }
    });
}

fn is_listed(row: &FieldRow, panel: &DescriptorPanel) -> bool {
    let filter = panel.filter.trim().to_lowercase();
    let named = row.field.name.to_lowercase().contains(&filter) || row.field.meaning.to_lowercase().contains(&filter);
    let dull = row.rules.is_empty() && row.value == 0 && !row.is_changed();
    named && !(panel.brief && dull)
}

/// Number of descriptors in a table.
fn count(dispatch: &Dispatch, descriptor: Descriptor) -> usize {
    match descriptor {
        Descriptor::Image => dispatch.image_count(),
        Descriptor::Sampler => dispatch.sampler_count(),
    }
}

/// The raw words, four a line; those that were changed stand out.
fn words_ui(ui: &mut Ui, words: &[u32], recorded: &[u32]) {
    let small = egui::FontId::monospace(11.0);
    for (line, four) in words.chunks(4).enumerate() {
        let mut job = egui::text::LayoutJob::default();
        for (n, &bits) in four.iter().enumerate() {
            let at = line * 4 + n;
            let changed = recorded.get(at).is_some_and(|&known| known != bits);
            let colour = if changed { theme::changed(ui.visuals()) } else { ui.visuals().text_color() };
            let format = egui::TextFormat { font_id: small.clone(), color: colour, ..Default::default() };
            job.append(&word(bits), if n == 0 { 0.0 } else { 8.0 }, format);
        }
        ui.label(job).on_hover_text(format!("word{} to word{}", line * 4, line * 4 + four.len() - 1));
    }
}

/// Height of a row of the fields.
const ROW: f32 = 21.0;

/// One field: its name, its bits, its value to be changed, the way back, and what it drives. Columns have fixed places, so
/// that nothing is cut off in a narrow panel but the last one.
fn row_ui(ui: &mut Ui, row: &FieldRow, profile: Option<&Profile>, n: usize) -> Option<Change> {
    let mut change = None;
    let width = ui.available_width();
    let (rect, _) = ui.allocate_exact_size(egui::vec2(width, ROW), egui::Sense::hover());
    if n % 2 == 1 {
        ui.painter().rect_filled(rect, 0.0, ui.visuals().faint_bg_color);
    }
    let name_width = (width * 0.37).clamp(104.0, 196.0);
    // A narrow panel has no room for the bits; they are in the text under the pointer as well.
    let bits_width = if width < name_width + 76.0 + 80.0 { 0.0 } else { 76.0 };
    let revert_width = if row.is_changed() { 54.0 } else { 0.0 };
    let control_width = (width - name_width - bits_width - revert_width).clamp(60.0, 156.0);
    let mut at = rect.min;
    let mut cell = |ui: &mut Ui, width: f32, add: &mut dyn FnMut(&mut Ui)| {
        let place = egui::Rect::from_min_size(at, egui::vec2(width - 4.0, ROW));
        at.x += width;
        if place.right() <= rect.right() + 1.0 && place.width() > 12.0 {
            let layout = egui::Layout::left_to_right(egui::Align::Center);
            let builder = egui::UiBuilder::new().max_rect(place).layout(layout).id_salt((row.label(), width as i32));
            let mut child = ui.new_child(builder);
            child.shrink_clip_rect(place);
            add(&mut child);
        }
    };
    let small = |text: &str| RichText::new(text).font(egui::FontId::monospace(11.0));
    let name = small(row.field.name);
    let name = if row.is_changed() {
        name.color(theme::changed(ui.visuals())).strong()
    } else {
        name.color(ui.visuals().strong_text_color())
    };
    cell(ui, name_width, &mut |ui| {
        ui.add(egui::Label::new(name.clone()).truncate()).on_hover_ui(|ui| meaning_ui(ui, row, profile));
    });
    if bits_width > 0.0 {
        cell(ui, bits_width, &mut |ui| {
            ui.add(egui::Label::new(small(&row.field.bits_text()).size(10.0).weak()).truncate());
        });
    }
    cell(ui, control_width, &mut |ui| {
        if let Some(value) = control_ui(ui, row) {
            change = Some(Change::Set(value));
        }
    });
    if row.is_changed() {
        cell(ui, revert_width, &mut |ui| {
            let was = format!("Recorded: {}", row.field.describe(row.recorded));
            let label = format!("Revert {}", row.label());
            if ui.small_button("revert").accessible_name(label).on_hover_text(was).clicked() {
                change = Some(Change::Revert);
            }
        });
    }
    let driven: Vec<&str> = row.rules.iter().map(|rule| rule.name()).collect();
    let text = if driven.len() > 1 { format!("{} +{}", driven[0], driven.len() - 1) } else { driven.join(", ") };
    let rest = width - name_width - bits_width - revert_width - control_width;
    if !text.is_empty() && rest > 40.0 {
        cell(ui, rest, &mut |ui| {
            ui.add(egui::Label::new(RichText::new(&text).weak().small()).truncate())
                .on_hover_ui(|ui| meaning_ui(ui, row, profile));
        });
    }
    change
}

/// What a field means, and the rules that say how hardware applies it.
fn meaning_ui(ui: &mut Ui, row: &FieldRow, profile: Option<&Profile>) {
    ui.set_max_width(460.0);
    ui.strong(row.label());
    ui.label(row.field.meaning);
    ui.label(RichText::new(format!("{} = {}", row.field.bits_text(), row.text)).monospace());
    for &rule in &row.rules {
        ui.add_space(4.0);
        ui.label(RichText::new(rule.name()).monospace().strong());
        ui.label(rule.doc().join(" ").trim());
        if let Some(profile) = profile {
            let evidence = profile.evidence(rule);
            ui.weak(format!(
                "{}: {} ({}, {})",
                profile.name,
                profile.rules.value_name(rule),
                evidence.kind,
                evidence.source
            ));
        }
    }
}

fn control_ui(ui: &mut Ui, row: &FieldRow) -> Option<u32> {
    let label = row.label();
    let mut value = row.value;
    let most = row.field.max_value();
    let width = ui.available_width();
    match row.field.shown {
        Shown::Names(names) => {
            egui::ComboBox::from_id_salt(&label)
                .selected_text(RichText::new(&row.text).size(12.0))
                .width(width)
                .truncate()
                .show_ui(ui, |ui| {
                    for &(code, name) in names.iter().filter(|(code, _)| *code <= most) {
                        ui.selectable_value(&mut value, code, format!("{code} {name}"));
                    }
                })
                .response
                .accessible_name(label);
        }
        _ if row.field.width == 1 => {
            let mut set = value == 1;
            ui.checkbox(&mut set, row.value.to_string()).accessible_name(label);
            value = set.into();
        }
        _ => {
            ui.add(egui::DragValue::new(&mut value).range(0..=most).hexadecimal(1, false, false).prefix("0x"))
                .accessible_name(label);
            if let Some((_, meaning)) = row.text.split_once(" = ") {
                ui.add(egui::Label::new(RichText::new(format!("= {meaning}")).size(12.0).weak()).truncate());
            }
        }
    }
    (value != row.value).then_some(value)
}
