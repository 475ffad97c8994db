//! The selected sample in full.

use capture_format::Column;
use egui::{Grid, RichText, ScrollArea, Ui};

use replayer::{explain::render_sample, rules::SubtexelBits};

use super::{export_window::What, panes::Request, step_panel::StepPanel, theme, view_state::ViewState};
use crate::model::{
    causes::Known,
    compare::Number,
    compute::Compute,
    navigate::Layout,
    number::{decimal, hex_float, short_weight, ulp, value, weight, word},
    outcome::Verdict,
    sample::{SampleInfo, TapInfo},
    session::{SampleView, Session},
};

/// Draws the panel.
pub fn sample_ui(
    ui: &mut Ui,
    session: &mut Session,
    view: &mut ViewState,
    steps: &StepPanel,
    requests: &mut Vec<Request>,
) {
    let Some(sample) = session.sample_view().cloned() else {
        ui.weak("Click a sample in an image, or press N for the next one that differs.");
        return;
    };
    header_ui(ui, session, view, &sample, requests);
    ScrollArea::both().id_salt("sample").auto_shrink(false).show(ui, |ui| {
        // Tables beside each other: small text lets a window of usual width show them without scrolling.
        if let Some(mono) = ui.style_mut().text_styles.get_mut(&egui::TextStyle::Monospace) {
            mono.size = 11.5;
        }
        ui.spacing_mut().interact_size.y = 15.0;
        let has_room = ui.available_width() > 1080.0;
        ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
        if let Some(compute) = session.shown().and_then(|shown| shown.compute.clone()) {
            ui.horizontal_top(|ui| {
                ui.vertical(|ui| values_ui(ui, &sample.info));
                ui.add_space(8.0);
                ui.vertical(|ui| accesses_ui(ui, session, &compute, steps));
            });
            return;
        }
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| values_ui(ui, &sample.info));
            ui.add_space(8.0);
            ui.vertical(|ui| {
                taps_ui(ui, &sample);
                if !has_room {
                    operands_ui(ui, &sample.info);
                }
            });
            if has_room {
                ui.add_space(8.0);
                ui.vertical(|ui| operands_ui(ui, &sample.info));
            }
        });
        egui::CollapsingHeader::new("How the values come about").show(ui, |ui| match &sample.detail {
            Ok(detail) => {
                // The window's font has no arrow.
                let text = render_sample(detail).replace('→', "->");
                ui.add(egui::Label::new(mono(text)).wrap_mode(egui::TextWrapMode::Extend));
            }
            Err(reason) => {
                ui.weak(reason);
            }
        });
    });
}

fn header_ui(ui: &mut Ui, session: &Session, view: &mut ViewState, sample: &SampleView, requests: &mut Vec<Request>) {
    let info = &sample.info;
    let place = session.shown().map(|shown| Layout::of(shown.dispatch.grid).place(info.index).0);
    ui.horizontal(|ui| {
        let [x, y, z] = info.at;
        ui.strong(format!("Sample {x},{y},{z}"));
        ui.weak(format!("number {}", info.index));
        if ui.button("Copy as text").on_hover_text("Puts all of this on the clipboard").clicked() {
            let title = session.place().map(|place| place.to_string()).unwrap_or_default();
            ui.ctx().copy_text(sample.detail.as_ref().map_or_else(|_| info.text(&title), render_sample));
        }
        if ui.button("Close up").on_hover_text("Shows the sample and its taps at high zoom").clicked() {
            view.viewport.close_up(place.unwrap_or([x, y]));
            if let Some((level, [x, y, slice])) = info.heaviest_tap() {
                view.texture_at = [level, slice];
                view.texture_viewport.close_up([x, y]);
            }
        }
        if !session.is_compute() && ui.button("Export sample as case…").clicked() {
            requests.push(Request::Export(What::SampleCase));
        }
        if let Known::Found(causes) = session.causes()
            && let Some(group) = causes.group_of(info.index)
            && let Some((label, _)) = causes.groups().nth(group)
        {
            ui.separator();
            let (swatch, _) = ui.allocate_exact_size(egui::vec2(10.0, 10.0), egui::Sense::hover());
            ui.painter().rect_filled(swatch, 1.0, crate::model::colour::cause(Some(group)));
            ui.strong("Cause");
            ui.add(egui::Label::new(label).truncate());
        }
    });
}

fn mono(text: impl Into<String>) -> RichText {
    RichText::new(text).monospace()
}

fn values_ui(ui: &mut Ui, info: &SampleInfo) {
    let bad = theme::verdict(Some(Verdict::Mismatch), ui.visuals());
    Grid::new("values").num_columns(6).striped(true).spacing([9.0, 2.0]).show(ui, |ui| {
        for head in ["", "", "word", "hex float", "decimal", "ULP, error"] {
            ui.label(RichText::new(head).weak().small());
        }
        ui.end_row();
        for (channel, name) in info.channels.iter().zip(["X", "Y", "Z", "W"]) {
            let differs = channel.distance.is_some();
            ui.strong(name);
            ui.weak("got");
            word_ui(ui, channel.got, "no result", info.number, differs.then_some(bad));
            match (channel.distance, channel.got.zip(channel.expected)) {
                (Some(0), _) => ui.label(mono("sign of zero").color(bad)),
                (Some(distance), _) => ui.label(mono(ulp(distance)).color(bad)),
                (None, Some(_)) => ui.label(mono("0").weak()),
                (None, None) => ui.label(""),
            };
            ui.end_row();
            ui.label("");
            ui.weak("expected");
            word_ui(ui, channel.expected, "not measured", info.number, differs.then_some(bad));
            match channel.got.zip(channel.expected) {
                Some((got, expected)) if differs => {
                    let error = value(got, info.number) - value(expected, info.number);
                    ui.label(mono(format!("{error:+.3e}")).color(bad)).on_hover_text("got - expected");
                }
                _ => {
                    ui.label("");
                }
            }
            ui.end_row();
        }
    });
}

/// A word, its hexadecimal float and its decimal, in three cells.
fn word_ui(ui: &mut Ui, bits: Option<u32>, missing: &str, number: Number, colour: Option<egui::Color32>) {
    let Some(bits) = bits else {
        ui.weak(missing);
        ui.label("");
        ui.label("");
        return;
    };
    let hex = if number == Number::Float { hex_float(bits) } else { String::new() };
    for text in [word(bits), hex, decimal(bits, number)] {
        let text = mono(text);
        ui.label(if let Some(colour) = colour { text.color(colour) } else { text });
    }
}

/// The texels that an invocation of a compute dispatch reads and writes.
fn accesses_ui(ui: &mut Ui, session: &Session, compute: &Compute, steps: &StepPanel) {
    let Some(Some((key, walk))) = steps.steps(session) else {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.weak("executing…");
        });
        return;
    };
    let [x, y, z] = key.invocation.unwrap_or_default();
    ui.strong(format!("Texels of invocation {x},{y},{z}")).on_hover_text(
        "What it reads and writes, in its order. Another invocation can be chosen under “Shader steps”.",
    );
    let accesses = match walk.as_ref().map(|walk| walk.accesses.as_ref()) {
        Ok(Ok(accesses)) => accesses,
        Err(reason) | Ok(Err(reason)) => {
            ui.label(reason);
            ui.weak("Another invocation can be chosen under “Shader steps”.");
            return;
        }
    };
    if accesses.is_empty() {
        ui.weak("None: it accesses no image.");
        return;
    }
    let levels = accesses.iter().any(|tap| tap.level != 0);
    Grid::new("accesses").num_columns(6).striped(true).spacing([9.0, 2.0]).show(ui, |ui| {
        for head in
            ["", "binding", "level", "texel", "word", "x y z w"].iter().filter(|head| levels || **head != "level")
        {
            ui.label(RichText::new(*head).weak().small());
        }
        ui.end_row();
        for tap in accesses.iter().take(MOST_ACCESSES) {
            ui.weak(if tap.write { "writes" } else { "reads" });
            ui.label(mono(compute.dispatch.bindings.get(tap.binding).map_or(String::new(), ToString::to_string)));
            if levels {
                ui.label(mono(tap.level.to_string()));
            }
            let place: Vec<String> = tap.coordinates.iter().map(ToString::to_string).collect();
            ui.label(mono(place.join(",")));
            ui.label(mono(word(tap.word)));
            let values = match (tap.inside, tap.channels) {
                (false, _) => "outside the image".to_owned(),
                (true, None) => String::new(),
                (true, Some((channels, there))) => {
                    let there = (0..4).filter(|c| there >> c & 1 == 1);
                    there.map(|c| decimal(channels[c], Number::Float)).collect::<Vec<_>>().join(" ")
                }
            };
            ui.label(mono(values));
            ui.end_row();
        }
    });
    if accesses.len() > MOST_ACCESSES {
        ui.weak(format!("and {} more", accesses.len() - MOST_ACCESSES));
    }
}

/// Accesses that are listed.
const MOST_ACCESSES: usize = 256;

fn operands_ui(ui: &mut Ui, info: &SampleInfo) {
    ui.strong("Operands");
    Grid::new("operands").num_columns(4).striped(true).spacing([10.0, 3.0]).show(ui, |ui| {
        for (column, bits) in &info.operands {
            ui.label(mono(column.name()));
            ui.label(mono(word(*bits)));
            if column.chooses_entry() {
                ui.label(mono(bits.to_string()));
                ui.label("");
            } else if *column == Column::Offset {
                let [x, y, z] = replayer::reference::operands::unpack_offset(*bits);
                ui.label(mono(format!("{x} {y} {z}")));
                ui.label("");
            } else {
                ui.label(mono(decimal(*bits, Number::Float)));
                ui.label(mono(hex_float(*bits)).weak());
            }
            ui.end_row();
        }
    });
    if let Some((lod, weight)) = info.lod {
        let next = if weight > 0.0 { format!("  next level's weight {}/256", weight * 256.0) } else { String::new() };
        ui.label(mono(format!("lod {lod}{next}")));
        if info.probes > 1 {
            ui.label(mono(format!("{} anisotropic probes", info.probes)));
        }
    }
    if !info.positions.is_empty() {
        ui.add_space(4.0);
        ui.strong("Position in texels")
            .on_hover_text("integer.#hex: the first tap and, in hexadecimal steps of 1/256, the weight of the second");
        for position in &info.positions {
            ui.label(mono(format!("level {}  {} = {}", position.level, position.axis, position.text)));
        }
    }
}

fn taps_ui(ui: &mut Ui, sample: &SampleView) {
    let info = &sample.info;
    ui.strong("Taps")
        .on_hover_text("The texels that are read, by the path's rules; they are marked in the source texture");
    if let Some(refusal) = &info.refusal {
        ui.label(refusal);
        return;
    }
    if info.taps.is_empty() {
        ui.weak("None: the coordinates are outside the image.");
        return;
    }
    let rows = merged(&info.taps, &sample.expected_taps);
    // The oracle's weights are of interest where they are others.
    let differ = !sample.expected_taps.is_empty() && rows.iter().any(|row| row.got != row.expected);
    let levels = rows.iter().any(|row| row.tap.level != 0);
    let bad = theme::verdict(Some(Verdict::Mismatch), ui.visuals());
    let quantised = sample.detail.as_ref().ok().and_then(|detail| detail.oracle.as_ref());
    let quantised = quantised.is_some_and(|oracle| oracle.rules.subtexel_bits != SubtexelBits::None);
    Grid::new("taps").num_columns(6).striped(true).spacing([9.0, 2.0]).show(ui, |ui| {
        let shown = [levels, true, true, differ, true, true];
        for (head, _) in
            ["level", "texel", "weight", "oracle's", "word", "x y z w"].iter().zip(shown).filter(|(_, s)| *s)
        {
            ui.label(RichText::new(*head).weak().small());
        }
        ui.end_row();
        for row in rows {
            let tap = &row.tap;
            if levels {
                ui.label(mono(tap.level.to_string()));
            }
            let place = tap.texel.map_or("border".to_owned(), |[x, y, z]| format!("{x},{y},{z}"));
            let times = if row.count > 1 { format!(" ×{}", row.count) } else { String::new() };
            ui.label(mono(place + &times)).on_hover_text("x, y, slice or layer; × how many taps fall on it");
            let text = weight_text(row.got, info.quantised);
            ui.label(if row.got == Some(0.0) { text.weak() } else { text })
                .on_hover_text(row.got.map_or("not read".to_owned(), |part| weight(part, info.quantised)));
            if differ {
                let text = weight_text(row.expected, quantised);
                ui.label(if row.got == row.expected { text.weak() } else { text.color(bad) })
                    .on_hover_text("The weight by the rules that give the oracle's value");
            }
            ui.label(mono(tap.texel.map_or("-".to_owned(), |_| word(tap.word))));
            let values: Vec<String> = tap.channels.iter().map(|&bits| decimal(bits, info.number)).collect();
            ui.label(mono(values.join(" ")));
            ui.end_row();
        }
    });
}

fn weight_text(part: Option<f64>, quantised: bool) -> RichText {
    const MOST: usize = 11;
    mono(
        part.map_or("-".to_owned(), |part| {
            short_weight(part, quantised, MOST).unwrap_or_else(|| weight(part, quantised))
        }),
    )
}

/// A texel with its weight on both sides; `None` where it is not read.
struct TapRow {
    tap: TapInfo,
    count: usize,
    got: Option<f64>,
    expected: Option<f64>,
}

/// The texels of both sides. Taps that fall on the same texel, as at an edge, are added up.
fn merged(got: &[TapInfo], expected: &[TapInfo]) -> Vec<TapRow> {
    let mut rows: Vec<TapRow> = Vec::new();
    for (tap, is_got) in got.iter().map(|tap| (tap, true)).chain(expected.iter().map(|tap| (tap, false))) {
        let known = rows.iter().position(|row| (row.tap.level, row.tap.texel) == (tap.level, tap.texel));
        let at = known.unwrap_or_else(|| {
            rows.push(TapRow { tap: tap.clone(), count: 0, got: None, expected: None });
            rows.len() - 1
        });
        let row = &mut rows[at];
        let weight = if is_got { &mut row.got } else { &mut row.expected };
        *weight = Some(weight.unwrap_or(0.0) + tap.weight);
        row.count += usize::from(is_got);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_on_one_texel_are_added_up_on_both_sides() {
        let tap = |x: u32, weight: f64| TapInfo { level: 0, texel: Some([x, 0, 0]), weight, word: x, channels: [0; 4] };
        let rows = merged(&[tap(3, 0.25), tap(3, 0.5), tap(4, 0.25)], &[tap(3, 0.75), tap(5, 0.25)]);
        let found: Vec<_> = rows.iter().map(|row| (row.tap.word, row.count, row.got, row.expected)).collect();
        assert_eq!(found, [(3, 2, Some(0.75), Some(0.75)), (4, 1, Some(0.25), None), (5, 0, None, Some(0.25))]);
    }
}
