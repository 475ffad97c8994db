//! The tiles of the window.

use egui::{Ui, WidgetText};
use egui_tiles::{Behavior, SimplificationOptions, Tile, TileId, Tiles, Tree, UiResponse};
use serde::{Deserialize, Serialize};

use super::{
    descriptor_panel, image_view,
    image_view::{ImageView, Mark},
    sample_panel, spirv_panel, step_panel, theme,
    tile_store::TileStore,
    view_state::{ViewKind, ViewState},
};
use crate::model::{
    navigate::Layout, outcome::Verdict, raster::Metric, sample::TapInfo, session::Session, settings::Settings,
};

/// One tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
pub enum Pane {
    /// What the oracle returned.
    Oracle,
    /// What the path returned.
    Result,
    /// |got − expected|.
    Difference,
    /// Sizes of differences.
    Heatmap,
    /// The source texture.
    Texture,
    /// The bit fields of T# and S#.
    Descriptors,
    /// The selected sample.
    Sample,
    /// The module.
    Spirv,
    /// The selected sample's way through the module.
    Steps,
}

impl Pane {
    /// Every tile.
    pub const ALL: [Self; 9] = [
        Self::Oracle,
        Self::Result,
        Self::Difference,
        Self::Heatmap,
        Self::Texture,
        Self::Descriptors,
        Self::Sample,
        Self::Spirv,
        Self::Steps,
    ];

    /// The text on its tab.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Oracle => "Oracle",
            Self::Result => "Result",
            Self::Difference => "Difference",
            Self::Heatmap => "Heatmap",
            Self::Texture => "Source texture",
            Self::Descriptors => "T# and S#",
            Self::Sample => "Sample",
            Self::Spirv => "SPIR-V",
            Self::Steps => "Shader steps",
        }
    }
}

/// The arrangement at the first start.
#[must_use]
pub fn default_tree() -> Tree<Pane> {
    let mut tiles = Tiles::default();
    let pane = |tiles: &mut Tiles<Pane>, pane| {
        let id = tiles.insert_pane(pane);
        tiles.insert_tab_tile(vec![id])
    };
    let oracle = pane(&mut tiles, Pane::Oracle);
    let result = pane(&mut tiles, Pane::Result);
    let (heatmap, difference) = (tiles.insert_pane(Pane::Heatmap), tiles.insert_pane(Pane::Difference));
    let differences = tiles.insert_tab_tile(vec![heatmap, difference]);
    let texture = pane(&mut tiles, Pane::Texture);
    let images = tiles.insert_grid_tile(vec![oracle, result, differences, texture]);
    let sample = pane(&mut tiles, Pane::Sample);
    let left = tiles.insert_vertical_tile(vec![images, sample]);
    set_shares(&mut tiles, left, &[(images, 2.1), (sample, 1.0)]);
    let (descriptors, spirv) = (tiles.insert_pane(Pane::Descriptors), tiles.insert_pane(Pane::Spirv));
    let steps = tiles.insert_pane(Pane::Steps);
    let right = tiles.insert_tab_tile(vec![descriptors, spirv, steps]);
    let root = tiles.insert_horizontal_tile(vec![left, right]);
    set_shares(&mut tiles, root, &[(left, 1.8), (right, 1.0)]);
    Tree::new(egui::Id::unique("panes"), root, tiles)
}

fn set_shares(tiles: &mut Tiles<Pane>, container: TileId, shares: &[(TileId, f32)]) {
    if let Some(Tile::Container(egui_tiles::Container::Linear(linear))) = tiles.get_mut(container) {
        for &(tile, share) in shares {
            linear.shares.set_share(tile, share);
        }
    }
}

/// Whether a stored arrangement has every tile: one of another version may not.
#[must_use]
pub fn is_complete(tree: &Tree<Pane>) -> bool {
    Pane::ALL.iter().all(|pane| tree.tiles.find_pane(pane).is_some())
}

/// What the tiles draw from.
pub struct Panes<'a> {
    /// The state.
    pub session: &'a mut Session,
    /// How images are shown.
    pub view: &'a mut ViewState,
    /// What is remembered.
    pub settings: &'a mut Settings,
    /// Tiles of pictures.
    pub tiles: &'a mut TileStore,
    /// State of the descriptor panel.
    pub descriptors: &'a mut descriptor_panel::DescriptorPanel,
    /// State of the SPIR-V panel.
    pub spirv: &'a mut spirv_panel::SpirvPanel,
    /// State of the panel of steps.
    pub steps: &'a mut step_panel::StepPanel,
    /// The texel that is under the pointer in this frame.
    pub hovered: Option<[u32; 2]>,
    /// What is asked of the window.
    pub requests: &'a mut Vec<Request>,
}

/// What a tile asks of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The export window.
    Export(super::export_window::What),
    /// The samples of a cause are stepped through from the first on.
    Cause(usize),
    /// The causes are looked for, however many samples differ.
    Explain,
}

impl Behavior<Pane> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, pane: &mut Pane) -> UiResponse {
        match pane {
            Pane::Oracle => self.dispatch_image_ui(ui, ViewKind::Oracle),
            Pane::Result => self.dispatch_image_ui(ui, ViewKind::Result),
            Pane::Difference => self.dispatch_image_ui(ui, ViewKind::Difference),
            Pane::Heatmap => self.dispatch_image_ui(ui, ViewKind::Heatmap),
            Pane::Texture => self.texture_ui(ui),
            Pane::Descriptors => framed(ui, |ui| {
                descriptor_panel::descriptors_ui(ui, self.session, self.descriptors, self.requests);
            }),
            Pane::Sample => framed(ui, |ui| sample_panel::sample_ui(ui, self.session, self.view, self.requests)),
            Pane::Spirv => framed(ui, |ui| spirv_panel::spirv_ui(ui, self.session, self.spirv)),
            Pane::Steps => framed(ui, |ui| step_panel::steps_ui(ui, self.session, self.steps)),
        }
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Pane) -> WidgetText {
        pane.title().into()
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions { all_panes_must_have_tabs: true, ..SimplificationOptions::default() }
    }

    fn gap_width(&self, _: &egui::Style) -> f32 {
        3.0
    }

    fn tab_bar_height(&self, _: &egui::Style) -> f32 {
        22.0
    }
}

fn framed(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    let fill = ui.visuals().panel_fill;
    ui.painter().rect_filled(ui.max_rect(), 0.0, fill);
    egui::Frame::new().inner_margin(6).show(ui, add);
}

impl Panes<'_> {
    fn dispatch_image_ui(&mut self, ui: &mut Ui, kind: ViewKind) {
        let (metric, overlay) = (self.settings.metric, self.settings.overlay);
        let time = ui.input(|input| input.time);
        let in_place = kind == ViewKind::Result && self.view.shows_oracle(time);
        if kind == ViewKind::Result && self.view.blink {
            ui.ctx().request_repaint_after_secs((0.5 - time.rem_euclid(0.5)) as f32 + 0.005);
        }
        let drawn = if in_place { ViewKind::Oracle } else { kind };
        let picture = self.view.picture(self.session, drawn, metric, overlay).map_err(|reason| self.reason(reason));
        let left = (kind == ViewKind::Result && self.view.split.is_some())
            .then(|| self.view.picture(self.session, ViewKind::Oracle, metric, overlay).ok())
            .flatten();
        let layout = self.session.shown().map(|shown| Layout::of(shown.dispatch.grid));
        let slice = self.session.slice();
        let selected = self.session.sample().zip(layout).map(|(sample, layout)| layout.place(sample));
        let marks: Vec<Mark> = selected
            .filter(|(_, at)| *at == slice)
            .map(|(texel, _)| Mark { texel, colour: theme::SELECTED, text: String::new() })
            .into_iter()
            .collect();
        let name = match kind {
            ViewKind::Oracle => "Oracle image",
            ViewKind::Result => "Result image",
            ViewKind::Difference => "Difference image",
            ViewKind::Heatmap => "Heatmap image",
        };
        let view =
            ImageView { name, picture, left, marks: &marks, hovered: self.view.hovered, lens: self.settings.lens };
        let mut no_split = None;
        let rect = ui.available_rect_before_wrap();
        let split = if kind == ViewKind::Result { &mut self.view.split } else { &mut no_split };
        let reply = image_view::image_ui(ui, &view, &mut self.view.viewport, split, self.view.reveal, self.tiles);
        if let Ok(picture) = &view.picture {
            image_view::legend(&ui.painter_at(rect), picture, rect);
        }
        if kind == ViewKind::Heatmap && view.picture.is_ok() {
            metric_ui(ui, rect, &mut self.settings.metric);
        }
        let agrees = self.session.outcome().is_some_and(|(outcome, _)| outcome.summary.verdict == Verdict::Match);
        if agrees && matches!(kind, ViewKind::Heatmap | ViewKind::Difference) && view.picture.is_ok() {
            let font = egui::TextStyle::Body.resolve(ui.style());
            // The picture is dark in both colour schemes.
            let colour = theme::verdict(Some(Verdict::Match), &egui::Visuals::dark());
            ui.painter_at(rect).text(rect.center(), egui::Align2::CENTER_CENTER, "all samples agree", font, colour);
        }
        if in_place {
            let at = rect.center_top() + egui::vec2(0.0, 8.0);
            badge(ui, at, "showing the oracle");
        }
        self.hovered = reply.hovered.or(self.hovered);
        if let (Some([x, y]), Some(layout)) = (reply.clicked.or(reply.double_clicked), layout) {
            self.session.select_sample(layout.index(x, y, slice));
            self.show_taps();
            if reply.double_clicked.is_some() {
                self.view.viewport.close_up([x, y]);
            }
        }
    }

    /// Shows the level and slice of the texture that the selected sample reads.
    fn show_taps(&mut self) {
        if let Some((info, _)) = self.session.sample_info()
            && let Some(TapInfo { level, texel: Some([x, y, slice]), .. }) =
                info.taps.iter().max_by(|a, b| a.weight.total_cmp(&b.weight))
        {
            self.view.texture_at = [*level, *slice];
            self.view.texture_reveal([*x, *y]);
        }
    }

    fn reason(&self, short: &'static str) -> String {
        if let Some(reason) = self.session.unreadable() {
            return reason.to_owned();
        }
        match self.session.outcome().map(|(outcome, _)| &outcome.summary) {
            Some(summary) if summary.reason.is_some() && short == "no results" => {
                format!("{}: {}", summary.verdict, summary.reason.as_deref().unwrap_or_default())
            }
            _ => short.to_owned(),
        }
    }

    fn texture_ui(&mut self, ui: &mut Ui) {
        let levels = self
            .session
            .shown()
            .and_then(|shown| shown.texture.as_ref().ok())
            .map(|texture| (texture.levels(), texture.slices(self.view.texture_at[0])));
        if let Some((levels, slices)) = levels {
            let at = &mut self.view.texture_at;
            at[0] = at[0].min(levels - 1);
            at[1] = at[1].min(slices.saturating_sub(1));
            if levels > 1 || slices > 1 {
                ui.horizontal(|ui| {
                    if levels > 1 {
                        ui.label("level");
                        ui.add(egui::DragValue::new(&mut at[0]).range(0..=levels - 1)).accessible_name("Texture level");
                        ui.weak(format!("of {levels}"));
                    }
                    if slices > 1 {
                        ui.label("slice");
                        ui.add(egui::DragValue::new(&mut at[1]).range(0..=slices - 1)).accessible_name("Texture slice");
                        ui.weak(format!("of {slices}"));
                    }
                });
            }
        }
        let [level, slice] = self.view.texture_at;
        let picture = self.view.texture_picture(self.session, self.settings.overlay);
        let taps = self.session.sample_info().map(|(info, _)| info.taps.clone()).unwrap_or_default();
        let marks = tap_marks(&taps, level, slice);
        let view = ImageView {
            name: "Source texture image",
            picture,
            left: None,
            marks: &marks,
            hovered: None,
            lens: self.settings.lens,
        };
        let rect = ui.available_rect_before_wrap();
        let reveal = self.view.take_texture_reveal();
        image_view::image_ui(ui, &view, &mut self.view.texture_viewport, &mut None, reveal, self.tiles);
        if let Ok(picture) = &view.picture {
            image_view::legend(&ui.painter_at(rect), picture, rect);
        }
    }
}

/// Marks of the taps in a slice. Taps that fall on the same texel are marked once, with their weights added up.
fn tap_marks(taps: &[TapInfo], level: u32, slice: u32) -> Vec<Mark> {
    let mut found: Vec<([u32; 2], f64)> = Vec::new();
    for tap in taps.iter().filter(|tap| tap.level == level) {
        let Some([x, y, z]) = tap.texel else { continue };
        if z != slice {
            continue;
        }
        match found.iter_mut().find(|(texel, _)| *texel == [x, y]) {
            Some((_, weight)) => *weight += tap.weight,
            None => found.push(([x, y], tap.weight)),
        }
    }
    let colour = |weight: f64| {
        if weight == 0.0 { egui::Color32::from_gray(150) } else { egui::Color32::from_rgb(120, 235, 140) }
    };
    found.into_iter().map(|(texel, weight)| Mark { texel, colour: colour(weight), text: weight_text(weight) }).collect()
}

/// A weight as a decimal, short but exact to 1/65536.
fn weight_text(weight: f64) -> String {
    let text = format!("{weight:.5}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("w {text}")
}

fn metric_ui(ui: &mut Ui, rect: egui::Rect, metric: &mut Metric) {
    let place = egui::Rect::from_min_size(rect.left_top() + egui::vec2(8.0, 8.0), egui::vec2(110.0, 22.0));
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(place).id_salt("metric"));
    egui::ComboBox::from_id_salt("metric")
        .selected_text(metric.name())
        .width(90.0)
        .show_ui(&mut child, |ui| {
            for choice in Metric::ALL {
                ui.selectable_value(metric, choice, choice.name());
            }
        })
        .response
        .accessible_name("Heatmap metric");
}

fn badge(ui: &Ui, at: egui::Pos2, text: &str) {
    let font = egui::TextStyle::Body.resolve(ui.style());
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, egui::Color32::BLACK);
    let place = egui::Rect::from_center_size(at + egui::vec2(0.0, galley.size().y / 2.0), galley.size()).expand(4.0);
    ui.painter().rect_filled(place, 4.0, theme::SELECTED);
    ui.painter().galley(place.min + egui::vec2(4.0, 4.0), galley, egui::Color32::BLACK);
}
