//! The selected sample in full.

use capture_format::Column;
use egui::{Grid, RichText, ScrollArea, Ui};

use super::{export_window::What, panes::Request, theme, view_state::ViewState};
use crate::model::{
    causes::Cause,
    compare::Number,
    navigate::Layout,
    number::{decimal, hex_float, ulp, value, word},
    sample::SampleInfo,
    session::Session,
};

/// Draws the panel.
pub fn sample_ui(ui: &mut Ui, session: &mut Session, view: &mut ViewState, requests: &mut Vec<Request>) {
    let title = session.place();
    let Some((info, causes)) = session.sample_info() else {
        ui.weak("Click a sample in an image, or press N for the next one that differs.");
        return;
    };
    let (info, causes) = (info.clone(), causes.clone());
    ui.horizontal_wrapped(|ui| {
        let [x, y, z] = info.at;
        let place = session.shown().map(|shown| Layout::of(shown.dispatch.grid).place(info.index).0);
        ui.strong(format!("Sample {x},{y},{z}"));
        ui.weak(format!("number {}", info.index));
        let title = title.map(|place| place.to_string()).unwrap_or_default();
        if ui.button("Copy as text").on_hover_text("Puts all of this on the clipboard").clicked() {
            let mut text = info.text(&title);
            for cause in causes.iter().flatten() {
                text += &format!("  cause: {} = {} instead of {}\n", cause.rule.name(), cause.needs, cause.has);
            }
            ui.ctx().copy_text(text);
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
    ScrollArea::both().id_salt("sample").auto_shrink(false).show(ui, |ui| {
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| {
                values_ui(ui, &info);
                causes_ui(ui, &info, &causes);
            });
            ui.add_space(12.0);
            ui.vertical(|ui| operands_ui(ui, &info));
            ui.add_space(12.0);
            ui.vertical(|ui| taps_ui(ui, &info));
        });
    });
}

fn mono(text: impl Into<String>) -> RichText {
    RichText::new(text).monospace()
}

fn values_ui(ui: &mut Ui, info: &SampleInfo) {
    Grid::new("values").num_columns(7).striped(true).spacing([12.0, 3.0]).show(ui, |ui| {
        for head in ["", "", "word", "hex float", "decimal", "ULP", "got - expected"] {
            ui.label(RichText::new(head).weak().small());
        }
        ui.end_row();
        for (channel, name) in info.channels.iter().zip(["X", "Y", "Z", "W"]) {
            let bad = theme::verdict(Some(crate::model::outcome::Verdict::Mismatch), ui.visuals());
            for (line, bits) in [("got", channel.got), ("expected", channel.expected)] {
                let colour = |text: RichText| if channel.distance.is_some() { text.color(bad) } else { text };
                ui.label(RichText::new(if line == "got" { name } else { "" }).strong());
                ui.weak(line);
                match bits {
                    None => {
                        let missing = if line == "got" { "no result" } else { "not measured" };
                        ui.weak(missing);
                        ui.label("");
                        ui.label("");
                    }
                    Some(bits) => {
                        ui.label(colour(mono(word(bits))));
                        ui.label(colour(mono(if info.number == Number::Float {
                            hex_float(bits)
                        } else {
                            String::new()
                        })));
                        ui.label(colour(mono(decimal(bits, info.number))));
                    }
                }
                match (line, channel.distance, channel.got.zip(channel.expected)) {
                    ("got", Some(distance), Some((got, expected))) => {
                        ui.label(mono(ulp(distance)).color(bad));
                        ui.label(
                            mono(format!("{:e}", value(got, info.number) - value(expected, info.number))).color(bad),
                        );
                    }
                    ("got", None, Some(_)) => {
                        ui.label(mono("0").weak());
                        ui.label("");
                    }
                    _ => {
                        ui.label("");
                        ui.label("");
                    }
                }
                ui.end_row();
            }
        }
    });
}

fn causes_ui(ui: &mut Ui, info: &SampleInfo, causes: &Result<Vec<Cause>, String>) {
    if info.channels.iter().all(|channel| channel.distance.is_none()) {
        return;
    }
    ui.add_space(6.0);
    ui.strong("Cause");
    match causes {
        Err(reason) => {
            ui.weak(format!("Not looked for: {reason}"));
        }
        Ok(causes) if causes.is_empty() => {
            ui.weak("No single rule, changed alone, gives the oracle's value.");
        }
        Ok(causes) => {
            for cause in causes {
                let text = format!("{} = {} instead of {}", cause.rule.name(), cause.needs, cause.has);
                ui.label(mono(text)).on_hover_text(cause.rule.doc().join(" ").trim());
            }
            ui.weak("With this rule changed alone, the reference gives the oracle's value.");
        }
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
