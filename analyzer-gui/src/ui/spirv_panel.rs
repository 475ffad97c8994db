//! The module of a dispatch, disassembled, with its specialization.

use egui::{Grid, RichText, ScrollArea, Ui};

use crate::model::{number::grouped, session::Session};

/// State of the panel.
#[derive(Default)]
pub struct SpirvPanel {
    /// Only lines that hold this.
    pub filter: String,
}

/// Draws the panel.
pub fn spirv_ui(ui: &mut Ui, session: &mut Session, panel: &mut SpirvPanel) {
    let made = match session.disassembly() {
        Ok(made) => made,
        Err(reason) => {
            ui.weak(format!("No module: {reason}"));
            return;
        }
    };
    ui.horizontal_wrapped(|ui| {
        ui.add(egui::TextEdit::singleline(&mut panel.filter).hint_text("filter lines").desired_width(130.0))
            .accessible_name("Filter SPIR-V");
        if ui.button("Copy module").clicked() {
            ui.ctx().copy_text(made.lines.join("\n"));
        }
        ui.weak(format!("{} instructions, {} words", grouped(made.instructions as u64), grouped(made.words as u64)));
    });
    if made.constants.is_empty() {
        ui.weak("No specialization constants.");
    }
    // The instructions keep most of the room.
    let most = (ui.available_height() * 0.35).max(60.0);
    let header = egui::CollapsingHeader::new("Specialization").default_open(true);
    let constants = |ui: &mut Ui| {
        ScrollArea::vertical().id_salt("constants").max_height(most).auto_shrink([false, true]).show(ui, |ui| {
            Grid::new("constants").num_columns(3).striped(true).spacing([12.0, 2.0]).show(ui, |ui| {
                for constant in &made.constants {
                    ui.label(RichText::new(constant.id.to_string()).monospace().weak());
                    ui.label(RichText::new(&constant.name).monospace());
                    ui.label(RichText::new(format!("{:#x} = {}", constant.value, constant.value)).monospace());
                    ui.end_row();
                }
            });
        });
    };
    if !made.constants.is_empty() {
        header.show(ui, constants);
    }
    ui.separator();
    let filter = panel.filter.trim();
    let lines: Vec<(usize, &str)> = made
        .lines
        .iter()
        .enumerate()
        .map(|(n, line)| (n, line.as_str()))
        .filter(|(_, line)| filter.is_empty() || line.contains(filter))
        .collect();
    let height = ui.text_style_height(&egui::TextStyle::Monospace);
    ScrollArea::both().id_salt("instructions").auto_shrink(false).show_rows(ui, height, lines.len(), |ui, range| {
        // Rows are as high as the area counts with, so that the last ones can be scrolled to.
        ui.spacing_mut().interact_size.y = height;
        for (n, line) in &lines[range] {
            ui.horizontal(|ui| {
                ui.label(RichText::new(format!("{:>5}", n + 1)).monospace().weak());
                ui.add(egui::Label::new(RichText::new(*line).monospace()).wrap_mode(egui::TextWrapMode::Extend));
            });
        }
    });
}
