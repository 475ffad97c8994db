//! The list of traces and dispatches on the left.

use egui::{RichText, ScrollArea, TextEdit, Ui};

use super::theme;
use crate::model::{
    list::{Row, Sort},
    number::{grouped, ulp},
    outcome::Verdict,
    session::Session,
    worker::DispatchId,
};

/// Filter of the list.
#[derive(Default)]
pub struct ListPanel {
    /// Words that must occur.
    pub filter: String,
    /// The only verdict that is shown.
    pub only: Option<Verdict>,
    scrolled_to: Option<DispatchId>,
}

/// Draws the list.
pub fn list_ui(ui: &mut Ui, session: &mut Session, panel: &mut ListPanel, sort: &mut Sort) {
    ui.add(TextEdit::singleline(&mut panel.filter).hint_text("filter: name, op, verdict").desired_width(f32::INFINITY))
        .accessible_name("Filter dispatches");
    ui.horizontal(|ui| {
        let shown = panel.only.map_or("all verdicts", Verdict::name);
        egui::ComboBox::from_id_salt("only verdict")
            .selected_text(shown)
            .width(104.0)
            .show_ui(ui, |ui| {
                ui.selectable_value(&mut panel.only, None, "all verdicts");
                for verdict in Verdict::ALL {
                    ui.selectable_value(&mut panel.only, Some(verdict), verdict.name());
                }
            })
            .response
            .accessible_name("Show verdict");
        egui::ComboBox::from_id_salt("sort")
            .selected_text(sort.name())
            .width(ui.available_width() - 8.0)
            .show_ui(ui, |ui| {
                for choice in Sort::ALL {
                    ui.selectable_value(sort, choice, choice.name());
                }
            })
            .response
            .accessible_name("Sort dispatches");
    });
    broken_ui(ui, session);

    let selected = session.selected();
    let pending = session.listed();
    let listing = session.rows(&panel.filter, panel.only, *sort);
    let rows = &listing.rows;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        let noun = if rows.len() == 1 { "dispatch" } else { "dispatches" };
        ui.weak(format!("{} {noun}", grouped(rows.len() as u64)));
        for &(verdict, count) in &listing.counts {
            ui.colored_label(theme::verdict(Some(verdict), ui.visuals()), format!("{count} {verdict}"));
        }
        if pending > 0 {
            ui.weak(format!("{pending} to go"));
        }
    });
    ui.separator();
    if rows.is_empty() && !session.traces().is_empty() {
        ui.weak("No dispatch passes the filter.");
        if ui.button("Clear filter").clicked() {
            panel.filter.clear();
            panel.only = None;
        }
    }
    let row_height = 34.0;
    let mut clicked = None;
    let target = (panel.scrolled_to != selected).then_some(selected).flatten();
    let mut area = ScrollArea::vertical().auto_shrink(false).id_salt("dispatches");
    if let Some(at) = target.and_then(|id| rows.iter().position(|row| row.id == id)) {
        let spacing = ui.spacing().item_spacing.y;
        let offset = (row_height + spacing) * at as f32 - ui.available_height() / 2.0;
        // Only rows in sight are drawn, so the list is moved by their known height.
        if rows.len() > 12 {
            area = area.vertical_scroll_offset(offset.max(0.0));
        }
    }
    panel.scrolled_to = selected;
    area.show_rows(ui, row_height, rows.len(), |ui, range| {
        for row in &rows[range] {
            if row_ui(ui, row, Some(row.id) == selected, row_height) {
                clicked = Some(row.id);
            }
        }
    });
    if let Some(id) = clicked {
        session.select(id);
    }
}

/// Traces that could not be opened.
fn broken_ui(ui: &mut Ui, session: &Session) {
    let broken = || session.traces().iter().filter(|entry| entry.content.is_err());
    const SHOWN: usize = 4;
    for entry in broken().take(SHOWN) {
        if let Err(reason) = &entry.content {
            let name = entry
                .path
                .file_name()
                .map_or_else(|| entry.path.display().to_string(), |name| name.to_string_lossy().into_owned());
            egui::Frame::group(ui.style()).show(ui, |ui| {
                ui.colored_label(
                    theme::verdict(Some(Verdict::Unreadable), ui.visuals()),
                    format!("{name}: cannot be opened"),
                );
                ui.label(reason);
                ui.weak("Check the file, or record it again. Traces that open are not affected.");
            });
        }
    }
    let more = broken().count().saturating_sub(SHOWN);
    if more > 0 {
        ui.weak(format!("and {more} more that cannot be opened"));
    }
}

fn row_ui(ui: &mut Ui, row: &Row, selected: bool, height: f32) -> bool {
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), height), egui::Sense::click());
    let verdict = row.verdict.map_or("…", Verdict::name);
    let label = format!("{} / {}", row.trace, row.name);
    response.widget_info(|| {
        egui::WidgetInfo::selected(egui::Role::ListItem, true, selected, format!("{label}: {verdict}"))
    });
    if !ui.is_rect_visible(rect) {
        return response.clicked();
    }
    let visuals = ui.visuals();
    if selected {
        ui.painter().rect_filled(rect, 3.0, visuals.selection.bg_fill);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 3.0, visuals.widgets.hovered.weak_bg_fill);
    }
    let (strong, weak) = if selected {
        (visuals.selection.stroke.color, visuals.selection.stroke.color.gamma_multiply(0.8))
    } else {
        (visuals.strong_text_color(), visuals.weak_text_color())
    };
    let colour = theme::verdict(row.verdict, visuals);
    let painter = ui.painter_at(rect.shrink2(egui::vec2(6.0, 0.0)));
    let font = egui::TextStyle::Body.resolve(ui.style());
    let small = egui::TextStyle::Small.resolve(ui.style());
    painter.rect_filled(
        egui::Rect::from_min_size(rect.min + egui::vec2(0.0, 3.0), egui::vec2(3.0, height - 6.0)),
        1.0,
        colour,
    );
    let right = painter.text(
        rect.right_top() + egui::vec2(-8.0, 3.0),
        egui::Align2::RIGHT_TOP,
        verdict,
        font.clone(),
        if selected { strong } else { colour },
    );
    let name = if row.changed { format!("{} (changed)", row.name) } else { row.name.clone() };
    let first =
        painter.with_clip_rect(egui::Rect::from_min_max(rect.min, egui::pos2(right.left() - 4.0, rect.bottom())));
    first.text(rect.min + egui::vec2(9.0, 3.0), egui::Align2::LEFT_TOP, name, font, strong);
    let counts = if row.mismatched > 0 { format!("{} differ", grouped(row.mismatched)) } else { String::new() };
    let below = painter.text(
        rect.right_bottom() + egui::vec2(-8.0, -3.0),
        egui::Align2::RIGHT_BOTTOM,
        counts,
        small.clone(),
        weak,
    );
    let second =
        painter.with_clip_rect(egui::Rect::from_min_max(rect.min, egui::pos2(below.left() - 4.0, rect.bottom())));
    second.text(
        rect.left_bottom() + egui::vec2(9.0, -3.0),
        egui::Align2::LEFT_BOTTOM,
        row.cause.clone().unwrap_or_else(|| format!("{}  {}", row.trace, row.op)),
        small,
        weak,
    );
    let cause = row.cause.as_ref().map_or(String::new(), |cause| format!("\ncause: {cause}"));
    let ulps = if row.mismatched > 0 { format!("\nat most {} ULP", ulp(row.max_ulp)) } else { String::new() };
    response.on_hover_text(RichText::new(format!("{label}\n{}{cause}{ulps}", row.op))).clicked()
}
