//! The bar over the images: zoom, channels, range with histogram, modes.

use egui::{Color32, Rect, RichText, Role, Sense, Ui, WidgetInfo, vec2};

use super::view_state::{RangeMode, ViewState};
use crate::model::{
    colour::Range, navigate::Layout, number::grouped, raster::Channels, session::Session, settings::Settings,
    stats::Stats,
};

/// Draws the bar.
pub fn view_bar_ui(ui: &mut Ui, session: &mut Session, view: &mut ViewState, settings: &mut Settings) {
    let Some((grid, stats)) = session.shown().map(|shown| {
        let result = session.outcome().and_then(|(outcome, _)| outcome.stats.clone());
        (shown.dispatch.grid, shown.stats.clone().or(result))
    }) else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        if ui.button("Fit").on_hover_text("Shows the whole image (F)").clicked() {
            view.viewport.fit();
        }
        if ui.button("1:1").on_hover_text("One pixel a sample (1)").clicked() {
            view.viewport.set_zoom(1.0 / ui.pixels_per_point(), Layout::of(grid).size());
        }
        ui.separator();
        for channels in Channels::ALL {
            let chosen = view.channels() == channels;
            let hint = match channels {
                Channels::Rgb => "X, Y, Z as red, green, blue (0)",
                Channels::Solo(_) => "This channel alone (X, Y, Z, W)",
            };
            if ui.selectable_label(chosen, channels.name()).on_hover_text(hint).clicked() {
                view.channels = Some(channels);
            }
        }
        ui.separator();
        range_ui(ui, view, stats.as_deref());
        ui.separator();
        ui.toggle_value(&mut settings.overlay, "NaN/Inf").on_hover_text("Marks NaN, infinities and denormal numbers");
        ui.toggle_value(&mut settings.lens, "Lens").on_hover_text("Numbers around the pointer (L)");
        let held = ui
            .selectable_label(view.oracle_held, "Hold O")
            .on_hover_text("Hold the key O, or this, to see the oracle in place of the result");
        view.oracle_held |= held.is_pointer_button_down_on();
        ui.toggle_value(&mut view.blink, "Blink").on_hover_text("Result and oracle by turns (B)");
        let mut split = view.split.is_some();
        if ui.toggle_value(&mut split, "Split").on_hover_text("Oracle on the left, result on the right (S)").clicked() {
            view.split = split.then_some(0.5);
        }
        if grid[2] > 1 {
            ui.separator();
            ui.label("slice");
            let mut slice = session.slice();
            if ui
                .add(egui::DragValue::new(&mut slice).range(0..=grid[2] - 1))
                .accessible_name("Slice of the grid")
                .changed()
            {
                session.set_slice(slice);
            }
            ui.weak(format!("of {}", grid[2]));
        }
    });
}

fn range_ui(ui: &mut Ui, view: &mut ViewState, stats: Option<&Stats>) {
    let range = view.value_range(stats);
    egui::ComboBox::from_id_salt("range")
        .selected_text(format!("range {}", view.range.name()))
        .show_ui(ui, |ui| {
            for (name, mode) in RangeMode::PRESETS {
                ui.selectable_value(&mut view.range, mode, name);
            }
            if ui.selectable_label(matches!(view.range, RangeMode::Manual(_)), "by hand").clicked() {
                view.range = RangeMode::Manual(range);
            }
        })
        .response
        .accessible_name("Range of values");
    let Range { mut low, mut high } = range;
    let speed = f64::from((high - low).abs() / 200.0).max(1e-9);
    let mut changed =
        ui.add(egui::DragValue::new(&mut low).speed(speed)).accessible_name("Low end of the range").changed();
    if let Some(stats) = stats {
        histogram_ui(ui, stats, range, view.channels());
    }
    changed |= ui.add(egui::DragValue::new(&mut high).speed(speed)).accessible_name("High end of the range").changed();
    if changed {
        // A low end at or above the high end would leave no range.
        view.range = RangeMode::Manual(Range { low, high: high.max(low.next_up()) });
    }
}

fn histogram_ui(ui: &mut Ui, stats: &Stats, range: Range, channels: Channels) {
    const BINS: usize = 60;
    let (rect, response) = ui.allocate_exact_size(vec2(BINS as f32 * 2.0, 22.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Histogram of values"));
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 2.0, ui.visuals().extreme_bg_color);
    let colours = match channels {
        Channels::Rgb => vec![
            (0, Color32::from_rgba_unmultiplied(255, 90, 80, 150)),
            (1, Color32::from_rgba_unmultiplied(90, 220, 100, 150)),
            (2, Color32::from_rgba_unmultiplied(90, 140, 255, 150)),
        ],
        Channels::Solo(c) => vec![(usize::from(c), ui.visuals().text_color())],
    };
    for (channel, colour) in colours {
        let counts = stats.channels[channel].histogram([range.low, range.high], BINS);
        let most = counts.iter().copied().max().unwrap_or(0).max(1) as f32;
        for (bin, &count) in counts.iter().enumerate() {
            if count == 0 {
                continue;
            }
            // The root keeps small bins in sight.
            let height = (count as f32 / most).sqrt() * rect.height();
            let min = egui::pos2(rect.left() + bin as f32 * 2.0, rect.bottom() - height);
            painter.rect_filled(Rect::from_min_size(min, vec2(2.0, height)), 0.0, colour);
        }
    }
    response.on_hover_ui(|ui| {
        ui.label(format!("{} of {} samples looked at", grouped(stats.looked_at), grouped(stats.samples)));
        for (name, channel) in ["X", "Y", "Z", "W"].iter().zip(&stats.channels) {
            let Some([low, high]) = channel.range(0.0, 100.0) else { continue };
            ui.label(
                RichText::new(format!(
                    "{name}: {low} to {high}; NaN {}, infinite {}, denormal {}",
                    grouped(channel.nan),
                    grouped(channel.infinite),
                    grouped(channel.denormal)
                ))
                .monospace(),
            );
        }
    });
}
