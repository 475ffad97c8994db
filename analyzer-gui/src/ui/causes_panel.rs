//! Why the samples of the dispatch differ.

use egui::{ScrollArea, Ui};

use super::panes::Request;
use crate::model::{
    causes::{Causes, Known},
    colour,
    number::grouped,
    outcome::Verdict,
    session::Session,
};

/// Draws the panel.
pub fn causes_ui(ui: &mut Ui, session: &mut Session, requests: &mut Vec<Request>) {
    let chosen = session.cause();
    let of_sample = session.sample();
    match session.causes() {
        Known::Nothing => {
            let verdict = session.outcome().map(|(outcome, _)| outcome.summary.verdict);
            ui.weak(match verdict {
                Some(Verdict::Match) => "All samples agree with the oracle.",
                Some(Verdict::NoOracle) => "There is no oracle, so nothing can differ.",
                Some(_) => "There is no result to explain.",
                None => "Causes are shown once the dispatch is evaluated.",
            });
        }
        Known::NotAsked(reason) => {
            ui.label(reason);
            if ui.button("Look for causes").clicked() {
                requests.push(Request::Explain);
            }
        }
        Known::Searching => {
            ui.horizontal(|ui| {
                ui.spinner();
                ui.label("looking for causes…");
                if ui.button("Give up").on_hover_text("Ends the search for causes").clicked() {
                    session.cancel_explaining();
                }
            });
        }
        Known::Failed(reason) => {
            ui.label(reason);
        }
        Known::Found(causes) => {
            ScrollArea::vertical().id_salt("causes").auto_shrink(false).show(ui, |ui| {
                found_ui(ui, &causes, of_sample.and_then(|sample| causes.group_of(sample)), chosen, requests);
            });
        }
    }
}

/// The causes; `group` is the selected sample's, `stepped` the one whose samples are stepped through.
fn found_ui(ui: &mut Ui, causes: &Causes, group: Option<usize>, stepped: usize, requests: &mut Vec<Request>) {
    ui.weak("Click one to step through its samples (N, P).");
    let all: usize = causes.groups().map(|(_, samples)| samples).sum();
    for (n, (label, samples)) in causes.groups().enumerate() {
        ui.horizontal(|ui| {
            let (swatch, _) = ui.allocate_exact_size(egui::vec2(12.0, 12.0), egui::Sense::hover());
            ui.painter().rect_filled(swatch, 1.0, colour::cause(Some(n)));
            let text = format!("{}  {label}", grouped(samples as u64));
            // Causes that begin alike are told apart by their ends, so nothing is cut off.
            let button = egui::Button::selectable(n == stepped && group == Some(n), text).wrap();
            let found = &causes.explanation().groups[n];
            let response = ui.add(button).on_hover_ui(|ui| {
                ui.set_max_width(420.0);
                ui.label(label);
                let part = 100.0 * samples as f64 / all.max(1) as f64;
                ui.weak(format!(
                    "{} of {} differing samples, {part:.1}%",
                    grouped(samples as u64),
                    grouped(all as u64)
                ));
                if found.ambiguous > 0 {
                    let ambiguous = grouped(found.ambiguous as u64);
                    ui.weak(format!("{ambiguous} of them would be explained as well by"));
                    for other in found.alternatives.iter().take(6) {
                        ui.weak(format!("- {}", other.rule.name()));
                    }
                }
            });
            if response.clicked() {
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
