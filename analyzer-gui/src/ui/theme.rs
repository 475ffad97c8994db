//! Colours and spacing of the window.

use egui::{Color32, Theme, Visuals};

use crate::model::outcome::Verdict;

/// Sets up both colour schemes.
pub fn apply(ctx: &egui::Context) {
    ctx.all_styles_mut(|style| {
        style.spacing.item_spacing = egui::vec2(6.0, 4.0);
        style.spacing.button_padding = egui::vec2(6.0, 2.0);
        style.interaction.selectable_labels = true;
        if let Some(small) = style.text_styles.get_mut(&egui::TextStyle::Small) {
            small.size = 11.0;
        }
    });
    ctx.style_mut_of(Theme::Dark, |style| {
        style.visuals.weak_text_color = Some(Color32::from_gray(150));
        style.visuals.panel_fill = Color32::from_gray(24);
        style.visuals.window_fill = Color32::from_gray(30);
        style.visuals.extreme_bg_color = Color32::from_gray(14);
        style.visuals.faint_bg_color = Color32::from_gray(30);
    });
}

/// The colour of a verdict's word.
#[must_use]
pub fn verdict(verdict: Option<Verdict>, visuals: &Visuals) -> Color32 {
    let (dark, light) = match verdict {
        None => return visuals.weak_text_color(),
        Some(Verdict::Match) => ([90, 200, 120], [20, 120, 50]),
        Some(Verdict::Mismatch) => ([255, 110, 90], [190, 40, 20]),
        Some(Verdict::Refused) => ([235, 180, 70], [150, 100, 0]),
        Some(Verdict::NoOracle) => ([140, 170, 220], [60, 90, 150]),
        Some(Verdict::Failed | Verdict::Timeout | Verdict::Unreadable) => ([230, 110, 220], [150, 30, 140]),
    };
    let [r, g, b] = if visuals.dark_mode { dark } else { light };
    Color32::from_rgb(r, g, b)
}

/// Behind images, so that their edges are seen.
#[must_use]
pub fn behind_images(visuals: &Visuals) -> Color32 {
    if visuals.dark_mode { Color32::from_gray(36) } else { Color32::from_gray(190) }
}

/// The colour that marks what was changed.
#[must_use]
pub fn changed(visuals: &Visuals) -> Color32 {
    if visuals.dark_mode { Color32::from_rgb(255, 200, 80) } else { Color32::from_rgb(160, 90, 0) }
}

/// The colour that marks the selected sample.
pub const SELECTED: Color32 = Color32::from_rgb(90, 210, 255);
