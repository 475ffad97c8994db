//! The list of traces and dispatches on the left.

use egui::{RichText, ScrollArea, TextEdit, Ui};

use super::theme;
use crate::model::{
    list::{Group, Line, Query, Row, Sort},
    number::{grouped, ulp},
    outcome::Verdict,
    session::Session,
    worker::DispatchId,
};

/// State of the list.
#[derive(Default)]
pub struct ListPanel {
    /// What is listed. Its order is remembered with the settings.
    pub query: Query,
    scrolled_to: Option<DispatchId>,
}

/// Height of a line.
const LINE: f32 = 34.0;

/// Draws the list.
pub fn list_ui(ui: &mut Ui, session: &mut Session, panel: &mut ListPanel, sort: &mut Sort) {
    filter_ui(ui, &mut panel.query, sort);
    panel.query.sort = *sort;
    broken_ui(ui, session);

    let selected = session.selected();
    let pending = session.listed();
    let listing = session.listing(&panel.query);
    if session.is_listing_stale() {
        ui.ctx().request_repaint_after_secs(0.25);
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        let noun = if listing.dispatches == 1 { "dispatch" } else { "dispatches" };
        ui.weak(format!("{} {noun}", grouped(listing.dispatches as u64)));
        for &(verdict, count) in &listing.counts {
            let text = format!("{} {verdict}", grouped(count as u64));
            ui.colored_label(theme::verdict(Some(verdict), ui.visuals()), text);
        }
        if pending > 0 {
            ui.weak(format!("{} to go", grouped(pending as u64)));
        }
        if session.is_opening() {
            ui.weak("opening…");
        }
    });
    ui.separator();
    if listing.lines.is_empty() && !session.traces().is_empty() {
        let filtered = !panel.query.filter.trim().is_empty() || panel.query.only.is_some();
        ui.weak(if filtered { "No dispatch passes the filter." } else { "There are no dispatches." });
        if filtered && ui.button("Clear filter").clicked() {
            panel.query.filter.clear();
            panel.query.only = None;
        }
    }
    let lines = &listing.lines;
    let mut clicked = None;
    let target = (panel.scrolled_to != selected).then_some(selected).flatten();
    let mut area = ScrollArea::vertical().auto_shrink(false).id_salt("dispatches");
    let is_target = |line: &Line| matches!(line, Line::Row(row) if Some(row.id) == target);
    if let Some(at) = target.and_then(|_| lines.iter().position(is_target)) {
        // Only lines in sight are drawn, so the list is moved by their known height.
        let offset = (LINE + ui.spacing().item_spacing.y) * at as f32 - ui.available_height() / 2.0;
        if lines.len() > 12 {
            area = area.vertical_scroll_offset(offset.max(0.0));
        }
    }
    panel.scrolled_to = selected;
    area.show_rows(ui, LINE, lines.len(), |ui, range| {
        for line in &lines[range] {
            match line {
                Line::Group(group) => {
                    if group_ui(ui, group) && !panel.query.folded.remove(&group.trace) {
                        panel.query.folded.insert(group.trace);
                    }
                }
                Line::Row(row) => {
                    if row_ui(ui, row, Some(row.id) == selected) {
                        clicked = Some(row.id);
                    }
                }
            }
        }
    });
    if let Some(id) = clicked {
        session.select(id);
    }
}

fn filter_ui(ui: &mut Ui, query: &mut Query, sort: &mut Sort) {
    ui.add(
        TextEdit::singleline(&mut query.filter)
            .hint_text("filter: name, op, verdict, cause")
            .desired_width(f32::INFINITY),
    )
    .accessible_name("Filter dispatches");
    ui.horizontal(|ui| {
        let shown = query.only.map_or("all verdicts", Verdict::name);
        egui::ComboBox::from_id_salt("only verdict")
            .selected_text(shown)
            .width(104.0)
            .show_ui(ui, |ui| {
                ui.selectable_value(&mut query.only, None, "all verdicts");
                for verdict in Verdict::ALL {
                    ui.selectable_value(&mut query.only, Some(verdict), verdict.name());
                }
            })
            .response
            .accessible_name("Show verdict");
        egui::ComboBox::from_id_salt("sort")
            .selected_text(sort.name())
            .width(ui.available_width() - 8.0)
            .truncate()
            .show_ui(ui, |ui| {
                for choice in Sort::ALL {
                    ui.selectable_value(sort, choice, choice.name());
                }
            })
            .response
            .accessible_name("Sort dispatches");
    });
}

/// A trace over its dispatches. Returns whether it was clicked.
fn group_ui(ui: &mut Ui, group: &Group) -> bool {
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), LINE), egui::Sense::click());
    let counts: Vec<String> =
        group.counts.iter().map(|(verdict, count)| format!("{} {verdict}", grouped(*count as u64))).collect();
    response.widget_info(|| {
        egui::WidgetInfo::selected(
            egui::Role::ListItem,
            true,
            !group.folded,
            format!("Trace {}: {}", group.name, counts.join(", ")),
        )
    });
    let visuals = ui.visuals();
    let fill = if response.hovered() { visuals.widgets.hovered.weak_bg_fill } else { visuals.faint_bg_color };
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 3.0, fill);
    let (strong, weak) = (visuals.strong_text_color(), visuals.weak_text_color());
    let centre = rect.left_top() + egui::vec2(9.0, 11.0);
    let points = if group.folded {
        [egui::vec2(-2.5, -4.0), egui::vec2(3.5, 0.0), egui::vec2(-2.5, 4.0)]
    } else {
        [egui::vec2(-4.0, -2.5), egui::vec2(4.0, -2.5), egui::vec2(0.0, 3.5)]
    };
    painter.add(egui::Shape::convex_polygon(points.map(|p| centre + p).to_vec(), weak, egui::Stroke::NONE));
    let (body, small) = (egui::TextStyle::Body.resolve(ui.style()), egui::TextStyle::Small.resolve(ui.style()));
    let total = if group.mismatched > 0 { format!("{} differ", grouped(group.mismatched)) } else { String::new() };
    let right = painter.text(
        rect.right_top() + egui::vec2(-8.0, 4.0),
        egui::Align2::RIGHT_TOP,
        total,
        small.clone(),
        theme::verdict(Some(Verdict::Mismatch), visuals),
    );
    text_until(&painter, rect.min + egui::vec2(19.0, 2.0), right.left() - 6.0, &group.name, body, strong);
    let mut at = rect.left_bottom() + egui::vec2(19.0, -3.0);
    let noun = if group.dispatches == 1 { "dispatch" } else { "dispatches" };
    let about = format!("{} {noun}", grouped(group.dispatches as u64));
    for (text, colour) in std::iter::once((about, weak)).chain(
        counts
            .iter()
            .zip(&group.counts)
            .map(|(text, (verdict, _))| (text.clone(), theme::verdict(Some(*verdict), visuals))),
    ) {
        let drawn = painter.text(at, egui::Align2::LEFT_BOTTOM, text, small.clone(), colour);
        at.x = drawn.right() + 8.0;
    }
    let hint = if group.folded { "Click to unfold" } else { "Click to fold" };
    response.on_hover_text(format!("{}\n{}\n{hint}", group.name, counts.join(", "))).clicked()
}

/// Traces that could not be opened.
pub fn broken_ui(ui: &mut Ui, session: &mut Session) {
    const SHOWN: usize = 4;
    let mut dismissed = None;
    for (at, path, reason) in session.broken().take(SHOWN) {
        let name =
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        egui::Frame::group(ui.style()).show(ui, |ui| {
            ui.colored_label(
                theme::verdict(Some(Verdict::Unreadable), ui.visuals()),
                format!("{name}: cannot be opened"),
            );
            ui.label(reason);
            ui.weak("Check the file, or record it again. Traces that open are not affected.");
            if ui.small_button("Dismiss").accessible_name(format!("Dismiss {name}")).clicked() {
                dismissed = Some(at);
            }
        });
    }
    let more = session.broken().count().saturating_sub(SHOWN);
    if more > 0 {
        ui.weak(format!("and {more} more that cannot be opened"));
    }
    if let Some(at) = dismissed {
        session.dismiss_broken(at);
    }
}

fn row_ui(ui: &mut Ui, row: &Row, selected: bool) -> bool {
    let (rect, response) = ui.allocate_exact_size(egui::vec2(ui.available_width(), LINE), egui::Sense::click());
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
    let painter = ui.painter_at(rect);
    let font = egui::TextStyle::Body.resolve(ui.style());
    let small = egui::TextStyle::Small.resolve(ui.style());
    painter.rect_filled(
        egui::Rect::from_min_size(rect.min + egui::vec2(8.0, 3.0), egui::vec2(3.0, LINE - 6.0)),
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
    text_until(&painter, rect.min + egui::vec2(19.0, 3.0), right.left() - 6.0, &name, font, strong);
    let counts = if row.mismatched > 0 { format!("{} differ", grouped(row.mismatched)) } else { String::new() };
    let below = painter.text(
        rect.right_bottom() + egui::vec2(-8.0, -3.0),
        egui::Align2::RIGHT_BOTTOM,
        counts,
        small.clone(),
        weak,
    );
    let at = egui::pos2(rect.left() + 19.0, below.top());
    text_until(&painter, at, below.left() - 8.0, row.cause.as_ref().unwrap_or(&row.op), small, weak);
    let cause = row.cause.as_ref().map_or(String::new(), |cause| format!("\ncause: {cause}"));
    let ulps = if row.mismatched > 0 { format!("\nat most {} ULP", ulp(row.max_ulp)) } else { String::new() };
    response.on_hover_text(RichText::new(format!("{label}\n{}{cause}{ulps}", row.op))).clicked()
}

/// Draws a line of text that ends before some place, with dots where it is cut.
fn text_until(
    painter: &egui::Painter,
    at: egui::Pos2,
    end: f32,
    text: &str,
    font: egui::FontId,
    colour: egui::Color32,
) {
    let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), font, colour);
    job.wrap = egui::text::TextWrapping::truncate_at_width((end - at.x).max(0.0));
    painter.galley(at, painter.layout_job(job), colour);
}
