//! The selected sample in full.

use capture_format::Column;
use egui::{Grid, RichText, ScrollArea, Ui};

use replayer::explain::{SampleDetail, render_sample};

use super::{export_window::What, panes::Request, theme, view_state::ViewState};
use crate::model::{
    causes::Known,
    compare::Number,
    navigate::Layout,
    number::{decimal, grouped, hex_float, ulp, value, word},
    outcome::Verdict,
    sample::SampleInfo,
    session::Session,
};

/// Draws the panel.
pub fn sample_ui(ui: &mut Ui, session: &mut Session, view: &mut ViewState, requests: &mut Vec<Request>) {
    let causes = session.causes();
    let cause = session.cause();
    let Some((info, detail)) = session.sample_info() else {
        ScrollArea::vertical().id_salt("causes").auto_shrink(false).show(ui, |ui| {
            ui.weak("Click a sample in an image, or press N for the next one that differs.");
            causes_ui(ui, &causes, None, cause, requests);
        });
        return;
    };
    let (info, detail) = (info.clone(), detail.clone());
    header_ui(ui, session, view, &info, &detail, requests);
    if let Known::Found(causes) = &causes
        && let Some((label, _)) = causes.group_of(info.index).and_then(|group| causes.groups().nth(group))
    {
        ui.horizontal_wrapped(|ui| {
            ui.strong("Cause");
            ui.label(label);
        });
    }
    ScrollArea::both().id_salt("sample").auto_shrink(false).show(ui, |ui| {
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| values_ui(ui, &info));
            ui.add_space(12.0);
            ui.vertical(|ui| {
                taps_ui(ui, &info);
                ui.add_space(6.0);
                operands_ui(ui, &info);
            });
        });
        let group = match &causes {
            Known::Found(causes) => causes.group_of(info.index),
            _ => None,
        };
        causes_ui(ui, &causes, group, cause, requests);
        egui::CollapsingHeader::new("How the values come about").show(ui, |ui| match &detail {
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

fn header_ui(
    ui: &mut Ui,
    session: &Session,
    view: &mut ViewState,
    info: &SampleInfo,
    detail: &Result<SampleDetail, String>,
    requests: &mut Vec<Request>,
) {
    let place = session.shown().map(|shown| Layout::of(shown.dispatch.grid).place(info.index).0);
    ui.horizontal_wrapped(|ui| {
        let [x, y, z] = info.at;
        ui.strong(format!("Sample {x},{y},{z}"));
        ui.weak(format!("number {}", info.index));
        if ui.button("Copy as text").on_hover_text("Puts all of this on the clipboard").clicked() {
            let title = session.place().map(|place| place.to_string()).unwrap_or_default();
            ui.ctx().copy_text(detail.as_ref().map_or_else(|_| info.text(&title), render_sample));
        }
        if ui.button("Close up").on_hover_text("Shows the sample at high zoom").clicked() {
            view.viewport.close_up(place.unwrap_or([x, y]));
            if let Some([x, y, _]) = info.taps.iter().find_map(|tap| tap.texel) {
                view.texture_viewport.close_up([x, y]);
            }
        }
        if ui.button("Export sample as case…").clicked() {
            requests.push(Request::Export(What::SampleCase));
        }
    });
}

fn mono(text: impl Into<String>) -> RichText {
    RichText::new(text).monospace()
}

fn values_ui(ui: &mut Ui, info: &SampleInfo) {
    let bad = theme::verdict(Some(Verdict::Mismatch), ui.visuals());
    Grid::new("values").num_columns(6).striped(true).spacing([12.0, 3.0]).show(ui, |ui| {
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

/// The causes of the dispatch; `group` is the selected sample's.
fn causes_ui(ui: &mut Ui, causes: &Known, group: Option<usize>, stepped: usize, requests: &mut Vec<Request>) {
    let causes = match causes {
        Known::Nothing => return,
        Known::NotAsked(reason) => {
            ui.add_space(6.0);
            ui.strong("Causes");
            ui.weak(reason);
            if ui.button("Look for causes").clicked() {
                requests.push(Request::Explain);
            }
            return;
        }
        Known::Searching => {
            ui.add_space(6.0);
            ui.strong("Causes");
            ui.horizontal(|ui| {
                ui.spinner();
                ui.weak("looking for causes…");
            });
            return;
        }
        Known::Failed(reason) => {
            ui.add_space(6.0);
            ui.strong("Causes");
            ui.weak(reason);
            return;
        }
        Known::Found(causes) => causes,
    };
    ui.add_space(6.0);
    ui.strong("Causes in this dispatch").on_hover_text("Click one to step through its samples with N and P");
    for (n, (label, samples)) in causes.groups().enumerate() {
        ui.horizontal(|ui| {
            let (swatch, _) = ui.allocate_exact_size(egui::vec2(10.0, 10.0), egui::Sense::hover());
            ui.painter().rect_filled(swatch, 1.0, crate::model::colour::cause(Some(n)));
            let chosen = n == stepped && group == Some(n);
            let text = format!("{}  {label}", grouped(samples as u64));
            if ui.selectable_label(chosen, text).clicked() {
                requests.push(Request::Cause(n));
            }
        });
    }
    let not_searched = causes.explanation().not_searched;
    if not_searched > 0 {
        ui.weak(format!(
            "Pairs of rules were not tried on {} of the unexplained samples.",
            grouped(not_searched as u64)
        ));
    }
}

fn operands_ui(ui: &mut Ui, info: &SampleInfo) {
    ui.strong("Operands");
    Grid::new("operands").num_columns(4).striped(true).spacing([10.0, 3.0]).show(ui, |ui| {
        for (column, bits) in &info.operands {
            ui.label(mono(column.name()));
            ui.label(mono(word(*bits)));
            if *column == Column::Offset {
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
        ui.label(mono(format!("lod {lod}  next level's weight {weight}")));
        if info.probes > 1 {
            ui.label(mono(format!("{} anisotropic probes", info.probes)));
        }
    }
    if !info.positions.is_empty() {
        ui.add_space(4.0);
        ui.strong("Position in texels").on_hover_text(
            "integer.#hex: the first tap and, in steps of the fixed-point grid, the weight of the second",
        );
        for position in &info.positions {
            ui.label(mono(format!("level {}  {} = {}", position.level, position.axis, position.text)));
        }
    }
}

fn taps_ui(ui: &mut Ui, info: &SampleInfo) {
    ui.strong("Taps");
    if let Some(refusal) = &info.refusal {
        ui.label(refusal);
        return;
    }
    if info.taps.is_empty() {
        ui.weak("None: the coordinates are outside the image.");
        return;
    }
    Grid::new("taps").num_columns(5).striped(true).spacing([10.0, 3.0]).show(ui, |ui| {
        for head in ["level", "texel", "weight", "word", "x y z w"] {
            ui.label(RichText::new(head).weak().small());
        }
        ui.end_row();
        for tap in &info.taps {
            ui.label(mono(tap.level.to_string()));
            ui.label(mono(tap.texel.map_or("border".to_owned(), |[x, y, z]| format!("{x},{y},{z}"))));
            let weight = mono(format!("{}", tap.weight));
            ui.label(if tap.weight == 0.0 { weight.weak() } else { weight });
            ui.label(mono(tap.texel.map_or("-".to_owned(), |_| word(tap.word))));
            let values: Vec<String> = tap.channels.iter().map(|&bits| decimal(bits, info.number)).collect();
            ui.label(mono(values.join(" ")));
            ui.end_row();
        }
    });
}
