//! An image with zoom and pan, a grid and numbers at high zoom, marks and a lens.

use std::sync::Arc;

use egui::{
    Align2, Color32, CornerRadius, FontId, Painter, PointerButton, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, pos2, vec2,
};

use super::{theme, tile_store::TileStore};
use crate::model::{
    colour,
    raster::{Content, Picture},
    viewport::Viewport,
};

/// Points a texel from which on the grid is drawn.
const GRID_FROM: f32 = 9.0;

/// Points a texel from which on numbers are written into texels.
const NUMBERS_FROM: f32 = 42.0;

/// Texels that a lens shows along each axis.
const LENS: i64 = 7;

/// Smallest text in texels, in points.
const SMALLEST_TEXT: f32 = 9.0;

/// Width of a character of the monospaced font, as a part of its height.
const CHARACTER: f32 = 0.602;

/// A texel that is marked.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The texel.
    pub texel: [u32; 2],
    /// Colour of its frame.
    pub colour: Color32,
    /// What is written into it: the first of these that fits.
    pub texts: Vec<String>,
}

/// What is drawn.
pub struct ImageView<'a> {
    /// Its accessible name.
    pub name: &'a str,
    /// The picture, or why there is none.
    pub picture: Result<Arc<Picture>, String>,
    /// A picture that is shown left of the split instead.
    pub left: Option<Arc<Picture>>,
    /// Marked texels.
    pub marks: &'a [Mark],
    /// Texel under the pointer in another view of the same image.
    pub hovered: Option<[u32; 2]>,
    /// Whether the neighbourhood of the pointer is shown.
    pub lens: bool,
}

/// What the user did.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageReply {
    /// The texel under the pointer.
    pub hovered: Option<[u32; 2]>,
    /// The texel that was clicked.
    pub clicked: Option<[u32; 2]>,
    /// The texel that was double-clicked.
    pub double_clicked: Option<[u32; 2]>,
}

/// Draws an image into all of the space that is left.
pub fn image_ui(
    ui: &mut Ui,
    view: &ImageView<'_>,
    viewport: &mut Viewport,
    split: &mut Option<f32>,
    reveal: Option<[u32; 2]>,
    tiles: &mut TileStore,
) -> ImageReply {
    let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, view.name));
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, CornerRadius::ZERO, theme::behind_images(ui.visuals()));
    let picture = match &view.picture {
        Ok(picture) => picture,
        Err(reason) => {
            let font = egui::TextStyle::Body.resolve(ui.style());
            let colour = ui.visuals().weak_text_color();
            let wrapped = painter.layout(reason.clone(), font, colour, rect.width() - 16.0);
            painter.galley(rect.center() - wrapped.size() / 2.0, wrapped, colour);
            // What is only painted has to be said as well.
            ui.ctx().accesskit_node_builder(response.id, |node| node.set_description(reason.as_str()));
            return ImageReply::default();
        }
    };
    let size = picture.size();
    if let Some(texel) = reveal {
        viewport.reveal(texel, size, rect);
    }
    let reply = interact(ui, &response, viewport, size, rect);

    tiles.paint(&painter, picture, viewport, rect);
    if let (Some(left), Some(at)) = (&view.left, split.as_mut()) {
        split_ui(ui, rect, left, viewport, at, tiles);
    }
    let scale = viewport.scale(size, rect);
    let image = viewport.image_rect(size, rect);
    painter.rect_stroke(image, CornerRadius::ZERO, Stroke::new(1.0, Color32::from_gray(90)), StrokeKind::Outside);
    if scale >= GRID_FROM {
        grid(&painter, viewport, size, rect, scale);
    }
    if scale >= NUMBERS_FROM {
        numbers(&painter, picture, viewport, rect);
    }
    for mark in view.marks {
        mark_texel(&painter, mark, viewport, size, rect);
    }
    if let Some(texel) = reply.hovered.or(view.hovered) {
        let frame = texel_rect(texel, viewport, size, rect);
        if scale >= 3.0 {
            painter.rect_stroke(
                frame,
                CornerRadius::ZERO,
                Stroke::new(1.0, Color32::from_white_alpha(170)),
                StrokeKind::Outside,
            );
        } else {
            cross(&painter, frame.center(), Color32::from_white_alpha(150));
        }
    }
    if view.lens
        && let (Some(texel), Some(at)) = (reply.hovered, response.hover_pos())
    {
        lens(ui, picture, texel, at);
    }
    reply
}

fn interact(ui: &Ui, response: &egui::Response, viewport: &mut Viewport, size: [u32; 2], rect: Rect) -> ImageReply {
    if response.dragged_by(PointerButton::Primary) || response.dragged_by(PointerButton::Middle) {
        viewport.pan(response.drag_delta(), size, rect);
    }
    let pointer = response.hover_pos();
    if let Some(at) = pointer {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = pinch * (scroll / 180.0).exp2();
        if factor != 1.0 {
            viewport.zoom_about(factor, at, size, rect);
        }
    }
    let texel = |at: Option<Pos2>| at.and_then(|at| viewport.texel_at(at, size, rect));
    let clicked = response.clicked().then(|| texel(response.interact_pointer_pos())).flatten();
    let double_clicked = response.double_clicked().then(|| texel(response.interact_pointer_pos())).flatten();
    ImageReply { hovered: texel(pointer), clicked, double_clicked }
}

/// The picture on the left of the split, and the handle between the two.
fn split_ui(ui: &mut Ui, rect: Rect, left: &Arc<Picture>, viewport: &Viewport, at: &mut f32, tiles: &mut TileStore) {
    let x = rect.left() + rect.width() * at.clamp(0.0, 1.0);
    let handle = Rect::from_center_size(pos2(x, rect.center().y), vec2(9.0, rect.height()));
    let response = ui
        .interact(handle, ui.scope_id().with("split"), Sense::drag())
        .on_hover_and_drag_cursor(egui::CursorIcon::ResizeHorizontal);
    response.widget_info(|| WidgetInfo::slider(true, f64::from(*at), "Split between oracle and result"));
    if response.dragged() {
        *at = ((x + response.drag_delta().x - rect.left()) / rect.width()).clamp(0.02, 0.98);
    }
    let part = Rect::from_min_max(rect.min, pos2(x, rect.max.y));
    let painter = ui.painter().with_clip_rect(part);
    painter.rect_filled(part, CornerRadius::ZERO, theme::behind_images(ui.visuals()));
    tiles.paint(&painter, left, viewport, rect);
    ui.painter_at(rect).vline(x, rect.y_range(), Stroke::new(2.0, theme::SELECTED));
    let font = egui::TextStyle::Small.resolve(ui.style());
    for (align, text, offset) in [(Align2::RIGHT_TOP, "oracle", -6.0), (Align2::LEFT_TOP, "result", 6.0)] {
        let painter = ui.painter_at(rect);
        let place = painter.text(pos2(x + offset, rect.top() + 26.0), align, text, font.clone(), Color32::WHITE);
        painter.rect_filled(place.expand(2.0), 2.0, Color32::from_black_alpha(180));
        painter.text(pos2(x + offset, rect.top() + 26.0), align, text, font.clone(), Color32::WHITE);
    }
}

fn texel_rect(texel: [u32; 2], viewport: &Viewport, size: [u32; 2], rect: Rect) -> Rect {
    let corner = |dx: u32, dy: u32| {
        let at = pos2((texel[0] + dx) as f32, (texel[1] + dy) as f32);
        viewport.to_window(at, size, rect)
    };
    Rect::from_min_max(corner(0, 0), corner(1, 1))
}

fn grid(painter: &Painter, viewport: &Viewport, size: [u32; 2], rect: Rect, scale: f32) {
    let [first, end] = viewport.visible(size, rect);
    let strength = (((scale - GRID_FROM) / 20.0).clamp(0.0, 1.0) * 50.0 + 14.0) as u8;
    let stroke = Stroke::new(1.0, Color32::from_gray(128).gamma_multiply(f32::from(strength) / 100.0));
    let image = viewport.image_rect(size, rect).intersect(rect);
    for x in first[0]..=end[0] {
        painter.vline(viewport.to_window(pos2(x as f32, 0.0), size, rect).x, image.y_range(), stroke);
    }
    for y in first[1]..=end[1] {
        painter.hline(image.x_range(), viewport.to_window(pos2(0.0, y as f32), size, rect).y, stroke);
    }
}

fn numbers(painter: &Painter, picture: &Picture, viewport: &Viewport, rect: Rect) {
    let size = picture.size();
    let [first, end] = viewport.visible(size, rect);
    for y in first[1]..end[1] {
        for x in first[0]..end[0] {
            let place = texel_rect([x, y], viewport, size, rect);
            // A number that is cut off reads as another one.
            if rect.expand(2.0).contains_rect(place) {
                texel_numbers(painter, picture, [x, y], place);
            }
        }
    }
}

/// Writes the numbers of a texel into its place: with as many digits as fit, and not at all when too few do.
fn texel_numbers(painter: &Painter, picture: &Picture, [x, y]: [u32; 2], place: Rect) {
    let count = picture.labels(x, y, usize::MAX).len();
    if count == 0 {
        return;
    }
    let is_texture = matches!(picture.content, Content::Texture { .. });
    // The lower edge of a texel of the source texture is left to the weight of a tap.
    let place = if is_texture { place.with_max_y(place.bottom() - place.height() * 0.22) } else { place };
    let width = place.width() - 5.0;
    // Six characters are enough for four digits, so more height than leaves room for them is of no use.
    let height = ((place.height() - 5.0) / count as f32).min((width / (6.0 * CHARACTER)).max(SMALLEST_TEXT)).min(15.0);
    if height < SMALLEST_TEXT - 0.5 {
        return;
    }
    let lines = picture.labels(x, y, (width / (height * CHARACTER)) as usize);
    let colour = colour::readable_on(picture.draw(0, [x, y], [1, 1])[0]);
    for (n, line) in lines.iter().enumerate() {
        let at = place.center() + vec2(0.0, (n as f32 - (count as f32 - 1.0) / 2.0) * height);
        painter.text(at, Align2::CENTER_CENTER, line, FontId::monospace(height), colour);
    }
}

fn mark_texel(painter: &Painter, mark: &Mark, viewport: &Viewport, size: [u32; 2], rect: Rect) {
    let frame = texel_rect(mark.texel, viewport, size, rect);
    if frame.width() < 4.0 {
        return cross(painter, frame.center(), mark.colour);
    }
    // Inside, so that the frames of neighbours stay apart.
    painter.rect_stroke(frame, CornerRadius::ZERO, Stroke::new(3.0, Color32::BLACK), StrokeKind::Inside);
    painter.rect_stroke(frame, CornerRadius::ZERO, Stroke::new(2.0, mark.colour), StrokeKind::Inside);
    let font = FontId::monospace(10.5);
    let fits = |text: &&String| text.len() as f32 * font.size * CHARACTER <= frame.width() - 8.0;
    if let Some(text) = mark.texts.iter().find(fits).filter(|_| frame.height() >= 20.0) {
        let galley = painter.layout_no_wrap(text.clone(), font.clone(), mark.colour);
        let at = pos2(frame.center().x - galley.size().x / 2.0, frame.bottom() - galley.size().y - 3.0);
        let back = Rect::from_min_size(at, galley.size()).expand2(vec2(2.0, 0.0));
        painter.rect_filled(back, 2.0, Color32::from_black_alpha(210));
        painter.galley(at, galley, mark.colour);
    }
}

fn cross(painter: &Painter, at: Pos2, colour: Color32) {
    for (width, colour) in [(3.0, Color32::from_black_alpha(200)), (1.0, colour)] {
        for (from, to) in [(vec2(-9.0, 0.0), vec2(-3.0, 0.0)), (vec2(3.0, 0.0), vec2(9.0, 0.0))] {
            painter.line_segment([at + from, at + to], Stroke::new(width, colour));
            let turn = |v: egui::Vec2| vec2(v.y, v.x);
            painter.line_segment([at + turn(from), at + turn(to)], Stroke::new(width, colour));
        }
    }
}

/// The texels around one, enlarged, with their numbers, beside the pointer and over all tiles.
fn lens(ui: &Ui, picture: &Picture, texel: [u32; 2], pointer: Pos2) {
    const CELL: f32 = 48.0;
    let side = CELL * LENS as f32;
    let window = ui.ctx().content_rect().shrink(6.0);
    // On the side of the pointer where there is room.
    let beside = |at: f32, low: f32, high: f32| {
        let start = if at + 22.0 + side <= high { at + 22.0 } else { at - 22.0 - side };
        start.min(high - side).max(low)
    };
    let corner =
        pos2(beside(pointer.x, window.left(), window.right()), beside(pointer.y, window.top(), window.bottom()));
    let painter = ui.ctx().layer_painter(egui::LayerId::new(egui::Order::Tooltip, egui::Id::unique("lens")));
    let whole = Rect::from_min_size(corner, vec2(side, side));
    painter.rect_filled(whole.expand(4.0), 3.0, Color32::from_gray(14));
    painter.rect_stroke(whole.expand(4.0), 3.0, Stroke::new(1.0, Color32::from_gray(120)), StrokeKind::Outside);
    let size = picture.size();
    for row in 0..LENS {
        for column in 0..LENS {
            let at = [i64::from(texel[0]) + column - LENS / 2, i64::from(texel[1]) + row - LENS / 2];
            let (Ok(x), Ok(y)) = (u32::try_from(at[0]), u32::try_from(at[1])) else { continue };
            if x >= size[0] || y >= size[1] {
                continue;
            }
            let corner = corner + vec2(column as f32 * CELL, row as f32 * CELL);
            let cell = Rect::from_min_size(corner, vec2(CELL - 1.0, CELL - 1.0));
            painter.rect_filled(cell, CornerRadius::ZERO, picture.draw(0, [x, y], [1, 1])[0]);
            texel_numbers(&painter, picture, [x, y], cell);
        }
    }
    let middle = Rect::from_min_size(corner + vec2(1.0, 1.0) * CELL * (LENS / 2) as f32, vec2(CELL - 1.0, CELL - 1.0));
    painter.rect_stroke(middle, CornerRadius::ZERO, Stroke::new(2.0, theme::SELECTED), StrokeKind::Outside);
}
