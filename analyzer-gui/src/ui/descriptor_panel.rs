//! T# and S# as bit fields that can be changed.

use capture_format::Shown;
use egui::{Grid, RichText, ScrollArea, Ui};
use replayer::rules::Profile;

use super::{export_window::What, panes::Request, theme};
use crate::model::{
    edits::Descriptor,
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
    let (dispatch, edits) = (shown.recorded.clone(), session.edits());
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
            let rows = fields::rows(&dispatch, &edits, descriptor);
            let words = edits.words(&dispatch, descriptor);
            let Some(words) = words else {
                ui.weak(format!("{}: a load has none.", descriptor.name()));
                continue;
            };
            ui.add_space(4.0);
            ui.horizontal(|ui| {
                ui.strong(descriptor.name());
                ui.weak(if descriptor == Descriptor::Image { "image" } else { "sampler" });
            });
            let text: Vec<String> = words.iter().map(|&bits| word(bits)).collect();
            for four in text.chunks(4) {
                ui.label(RichText::new(four.join(" ")).monospace().small());
            }
            Grid::new(("fields", descriptor.name())).num_columns(4).striped(true).spacing([6.0, 3.0]).show(ui, |ui| {
                for row in rows.iter().filter(|row| is_listed(row, panel)) {
                    if let Some(made) = row_ui(ui, row, profile.as_ref()) {
                        change = Some((descriptor, row.field, made));
                    }
                    ui.end_row();
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

fn row_ui(ui: &mut Ui, row: &FieldRow, profile: Option<&Profile>) -> Option<Change> {
    let mut change = None;
    let name = RichText::new(row.field.name).monospace();
    let name = if row.is_changed() { name.color(theme::changed(ui.visuals())).strong() } else { name };
    ui.label(name).on_hover_ui(|ui| meaning_ui(ui, row, profile));
    ui.label(RichText::new(row.field.bits_text()).monospace().weak().small());
    ui.horizontal(|ui| {
        if let Some(value) = control_ui(ui, row) {
            change = Some(Change::Set(value));
        }
    });
    if row.is_changed() {
        let was = format!("Recorded: {}", row.field.describe(row.recorded));
        let label = format!("Revert {}", row.label());
        if ui.small_button("revert").accessible_name(label).on_hover_text(was).clicked() {
            change = Some(Change::Revert);
        }
    } else {
        let driven: Vec<&str> = row.rules.iter().map(|rule| rule.name()).collect();
        let text = if driven.len() > 1 { format!("{} +{}", driven[0], driven.len() - 1) } else { driven.join(", ") };
        ui.label(RichText::new(text).weak().small()).on_hover_ui(|ui| meaning_ui(ui, row, profile));
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
    match row.field.shown {
        Shown::Names(names) => {
            egui::ComboBox::from_id_salt(&label)
                .selected_text(&row.text)
                .width(128.0)
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
                ui.weak(format!("= {meaning}"));
            }
        }
    }
    (value != row.value).then_some(value)
}
