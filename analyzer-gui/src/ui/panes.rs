//! The tiles of the window.

use egui::{Ui, WidgetText};
use egui_tiles::{Behavior, SimplificationOptions, Tile, TileId, Tiles, Tree, UiResponse};
use replayer::recorded::Tap;
use serde::{Deserialize, Serialize};

use super::{
    causes_panel, descriptor_panel, image_view,
    image_view::{ImageView, Mark},
    legend, sample_panel, spirv_panel, step_panel, theme,
    tile_store::TileStore,
    view_state::{RangeMode, ViewKind, ViewState},
};
use crate::model::{
    navigate::Layout,
    number,
    outcome::Verdict,
    raster::{Channels, Metric},
    sample::TapInfo,
    session::Session,
    settings::Settings,
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
    /// The causes of the dispatch's differences.
    Causes,
    /// The module.
    Spirv,
    /// The selected sample's way through the module.
    Steps,
}

impl Pane {
    /// Every tile.
    pub const ALL: [Self; 10] = [
        Self::Oracle,
        Self::Result,
        Self::Difference,
        Self::Heatmap,
        Self::Texture,
        Self::Descriptors,
        Self::Sample,
        Self::Causes,
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
            Self::Causes => "Causes",
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
    let (descriptors, spirv) = (tiles.insert_pane(Pane::Descriptors), tiles.insert_pane(Pane::Spirv));
    let steps = tiles.insert_pane(Pane::Steps);
    let right = tiles.insert_tab_tile(vec![descriptors, spirv, steps]);
    let above = tiles.insert_horizontal_tile(vec![images, right]);
    set_shares(&mut tiles, above, &[(images, 2.0), (right, 1.0)]);
    let (sample, causes) = (pane(&mut tiles, Pane::Sample), pane(&mut tiles, Pane::Causes));
    let below = tiles.insert_horizontal_tile(vec![sample, causes]);
    set_shares(&mut tiles, below, &[(sample, 2.7), (causes, 1.0)]);
    let root = tiles.insert_vertical_tile(vec![above, below]);
    set_shares(&mut tiles, root, &[(above, 2.2), (below, 1.0)]);
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
    /// The tile that is under the pointer in this frame.
    pub pointed: Option<Pane>,
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
    /// The tile takes the room of all, or gives it back.
    Maximise(Pane),
}

impl Panes<'_> {
    /// The text on a tile's tab.
    fn title(&self, pane: Pane) -> &'static str {
        if pane == Pane::Descriptors && self.session.is_compute() { "Bindings" } else { pane.title() }
    }

    /// Draws a tile over all of the room that is left.
    pub fn maximised_ui(&mut self, ui: &mut Ui, pane: Pane) {
        ui.horizontal(|ui| {
            ui.add_space(4.0);
            ui.strong(self.title(pane));
            if ui.button("Back to all tiles").on_hover_text("Gives the room back (M)").clicked() {
                self.requests.push(Request::Maximise(pane));
            }
        });
        self.content_ui(ui, pane);
    }

    fn content_ui(&mut self, ui: &mut Ui, pane: Pane) {
        match pane {
            Pane::Oracle => self.dispatch_image_ui(ui, ViewKind::Oracle),
            Pane::Result => self.dispatch_image_ui(ui, ViewKind::Result),
            Pane::Difference => self.dispatch_image_ui(ui, ViewKind::Difference),
            Pane::Heatmap => self.dispatch_image_ui(ui, ViewKind::Heatmap),
            Pane::Texture => self.texture_ui(ui),
            Pane::Descriptors => framed(ui, |ui| {
                descriptor_panel::descriptors_ui(ui, self.session, self.descriptors, self.requests);
            }),
            Pane::Sample => framed(ui, |ui| {
                sample_panel::sample_ui(ui, self.session, self.view, self.steps, self.requests);
            }),
            Pane::Causes => framed(ui, |ui| causes_panel::causes_ui(ui, self.session, self.requests)),
            Pane::Spirv => framed(ui, |ui| spirv_panel::spirv_ui(ui, self.session, self.spirv)),
            Pane::Steps => framed(ui, |ui| step_panel::steps_ui(ui, self.session, self.steps)),
        }
    }
}

impl Behavior<Pane> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, pane: &mut Pane) -> UiResponse {
        if ui.rect_contains_pointer(ui.max_rect()) {
            self.pointed = Some(*pane);
        }
        self.content_ui(ui, *pane);
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Pane) -> WidgetText {
        self.title(*pane).into()
    }

    fn on_tab_button(&mut self, tiles: &mut Tiles<Pane>, tile: TileId, button: egui::Response) -> egui::Response {
        if button.double_clicked()
            && let Some(Tile::Pane(pane)) = tiles.get(tile)
        {
            self.requests.push(Request::Maximise(*pane));
        }
        button.on_hover_text("Drag to move the tile; double click to enlarge it")
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
            .map(|(texel, _)| Mark { texel, colour: theme::SELECTED, texts: Vec::new() })
            .into_iter()
            .collect();
        if kind == ViewKind::Heatmap {
            metric_ui(ui, &mut self.settings.metric);
        }
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
        if let Ok(picture) = view.picture.as_ref()
            && self.settings.legend
        {
            legend::legend(&ui.painter_at(rect), picture, rect);
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
        let heaviest = self.session.sample_view().and_then(|view| view.info.heaviest_tap());
        if let Some((level, [x, y, slice])) = heaviest {
            self.view.texture_at = [level, slice];
            self.view.texture_reveal([x, y]);
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

    /// Marks of the texels that the invocation of a compute dispatch reads of the image that is shown.
    fn access_marks(&self, level: u32, slice: u32) -> Vec<Mark> {
        let compute = self.session.shown().and_then(|shown| shown.compute.as_ref());
        let input = compute.and_then(|compute| compute.inputs.get(self.session.input()));
        let Some((input, Some((_, Ok(walk))))) = input.zip(self.steps.steps(self.session)) else { return Vec::new() };
        let Ok(accesses) = &walk.accesses else { return Vec::new() };
        let colour = egui::Color32::from_rgb(120, 235, 140);
        let place = |tap: &Tap| {
            let axis = |n: usize| tap.coordinates.get(n).map_or(Some(0), |&at| u32::try_from(at).ok());
            Some(([axis(0)?, axis(1)?], axis(2)?))
        };
        let mut marks: Vec<Mark> = Vec::new();
        for tap in accesses.iter().filter(|tap| tap.binding == input.binding && tap.inside && tap.level == level) {
            let Some((texel, at)) = place(tap) else { continue };
            if at == slice && marks.iter().all(|mark| mark.texel != texel) {
                marks.push(Mark { texel, colour, texts: Vec::new() });
            }
        }
        marks
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
            texture_bar_ui(ui, self.session, self.view, levels, slices);
        }
        let [level, slice] = self.view.texture_at;
        let picture = self.view.texture_picture(self.session, self.settings.overlay);
        let marks = if self.session.is_compute() {
            self.access_marks(level, slice)
        } else {
            let view = self.session.sample_view();
            view.map(|view| tap_marks(&view.info.taps, view.info.quantised, level, slice)).unwrap_or_default()
        };
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
        if let Ok(picture) = view.picture.as_ref()
            && self.settings.legend
        {
            legend::legend(&ui.painter_at(rect), picture, rect);
        }
    }
}

/// Level, slice, channels and range of the texture.
fn texture_bar_ui(ui: &mut Ui, session: &mut Session, view: &mut ViewState, levels: u32, slices: u32) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.add_space(4.0);
        if let Some(compute) = session.shown().and_then(|shown| shown.compute.clone()) {
            let mut input = session.input();
            egui::ComboBox::from_id_salt("input image")
                .selected_text(compute.inputs.get(input).map_or("", |input| input.name.as_str()))
                .width(110.0)
                .truncate()
                .show_ui(ui, |ui| {
                    for (n, image) in compute.inputs.iter().enumerate() {
                        ui.selectable_value(&mut input, n, &image.name);
                    }
                })
                .response
                .accessible_name("Bound image");
            session.choose_input(input);
        }
        let at = &mut view.texture_at;
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
        egui::ComboBox::from_id_salt("texture channels")
            .selected_text(view.texture_channels.name())
            .width(46.0)
            .show_ui(ui, |ui| {
                for channels in Channels::ALL {
                    ui.selectable_value(&mut view.texture_channels, channels, channels.name());
                }
            })
            .response
            .accessible_name("Texture channels");
        egui::ComboBox::from_id_salt("texture range")
            .selected_text(view.texture_range.name())
            .width(100.0)
            .show_ui(ui, |ui| {
                for (name, mode) in RangeMode::PRESETS {
                    ui.selectable_value(&mut view.texture_range, mode, name);
                }
                if let RangeMode::Manual(_) = view.range {
                    ui.selectable_value(&mut view.texture_range, view.range, "as the results'");
                }
            })
            .response
            .accessible_name("Range of texels");
    });
}

/// Marks of the taps in a slice. Taps that fall on the same texel are marked once, with their weights added up.
fn tap_marks(taps: &[TapInfo], quantised: bool, level: u32, slice: u32) -> Vec<Mark> {
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
    let texts = |weight: f64| {
        let mut texts: Vec<String> =
            (3..16).rev().filter_map(|most| number::short_weight(weight, quantised, most)).collect();
        texts.dedup();
        texts
    };
    found.into_iter().map(|(texel, weight)| Mark { texel, colour: colour(weight), texts: texts(weight) }).collect()
}

fn metric_ui(ui: &mut Ui, metric: &mut Metric) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.add_space(4.0);
        for choice in Metric::ALL {
            ui.selectable_value(metric, choice, choice.name()).on_hover_text(choice.meaning());
        }
    });
}

fn badge(ui: &Ui, at: egui::Pos2, text: &str) {
    let font = egui::TextStyle::Body.resolve(ui.style());
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, egui::Color32::BLACK);
    let place = egui::Rect::from_center_size(at + egui::vec2(0.0, galley.size().y / 2.0), galley.size()).expand(4.0);
    ui.painter().rect_filled(place, 4.0, theme::SELECTED);
    ui.painter().galley(place.min + egui::vec2(4.0, 4.0), galley, egui::Color32::BLACK);
}
