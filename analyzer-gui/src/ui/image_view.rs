//! An image with zoom and pan, a grid and numbers at high zoom, marks and a lens.

use std::sync::Arc;

use egui::{
    Align2, Color32, CornerRadius, FontId, Painter, PointerButton, Pos2, Rect, Role, Sense, Shape, Stroke, StrokeKind,
    Ui, WidgetInfo, pos2, vec2,
};

use super::{theme, tile_store::TileStore};
use crate::model::{
    colour,
    raster::{Content, Metric, Picture},
    viewport::Viewport,
};

/// Points a texel from which on the grid is drawn.
const GRID_FROM: f32 = 9.0;

/// Points a texel from which on numbers are written into texels.
const NUMBERS_FROM: f32 = 42.0;

/// Texels that a lens shows along each axis.
const LENS: i64 = 9;

/// A texel that is marked.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The texel.
    pub texel: [u32; 2],
    /// Colour of its frame.
    pub colour: Color32,
    /// What is written beside it.
    pub text: String,
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
        numbers(&painter, picture, viewport, rect, scale);
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
        && let Some(texel) = reply.hovered
    {
        lens(&painter, picture, texel, rect);
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

fn numbers(painter: &Painter, picture: &Picture, viewport: &Viewport, rect: Rect, scale: f32) {
    let size = picture.size();
    let [first, end] = viewport.visible(size, rect);
    for y in first[1]..end[1] {
        for x in first[0]..end[0] {
            texel_numbers(painter, picture, [x, y], texel_rect([x, y], viewport, size, rect), scale);
        }
    }
}

fn texel_numbers(painter: &Painter, picture: &Picture, [x, y]: [u32; 2], place: Rect, scale: f32) {
    let lines = picture.labels(x, y);
    if lines.is_empty() {
        return;
    }
    let background = picture.draw(0, [x, y], [1, 1])[0];
    let longest = lines.iter().map(String::len).max().unwrap_or(1).max(5) as f32;
    let is_texture = matches!(picture.content, Content::Texture { .. });
    let part = if is_texture { 0.7 } else { 0.9 };
    let height = (scale * part / lines.len() as f32).min(scale * 1.45 / longest).clamp(6.0, 15.0);
    let colour = colour::readable_on(background);
    let count = lines.len() as f32;
    // The lower edge of a texel of the source texture is left to the weight of a tap.
    let place = if is_texture { place.translate(vec2(0.0, -scale * 0.1)) } else { place };
    for (n, line) in lines.iter().enumerate() {
        let at = place.center() + vec2(0.0, (n as f32 - (count - 1.0) / 2.0) * height * 1.05);
        painter.text(at, Align2::CENTER_CENTER, line, FontId::monospace(height), colour);
    }
}

fn mark_texel(painter: &Painter, mark: &Mark, viewport: &Viewport, size: [u32; 2], rect: Rect) {
    let frame = texel_rect(mark.texel, viewport, size, rect);
    if frame.width() >= 4.0 {
        painter.rect_stroke(frame, CornerRadius::ZERO, Stroke::new(3.0, Color32::BLACK), StrokeKind::Outside);
        painter.rect_stroke(frame, CornerRadius::ZERO, Stroke::new(2.0, mark.colour), StrokeKind::Outside);
    } else {
        cross(painter, frame.center(), mark.colour);
    }
    if !mark.text.is_empty() && frame.width() >= 26.0 {
        let font = FontId::monospace(11.0);
        let galley = painter.layout_no_wrap(mark.text.clone(), font, mark.colour);
        let at = pos2(frame.center().x - galley.size().x / 2.0, frame.bottom() - galley.size().y - 1.0);
        let at = if frame.height() >= 34.0 { at } else { pos2(at.x, frame.bottom() + 2.0) };
        painter.rect_filled(Rect::from_min_size(at, galley.size()).expand(1.0), 2.0, Color32::from_black_alpha(200));
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

/// The texels around one, enlarged, with their numbers.
fn lens(painter: &Painter, picture: &Picture, texel: [u32; 2], rect: Rect) {
    const CELL: f32 = 44.0;
    let side = CELL * LENS as f32;
    if rect.width() < side + 24.0 || rect.height() < side + 24.0 {
        return;
    }
    let corner = pos2(rect.right() - side - 10.0, rect.bottom() - side - 10.0);
    let whole = Rect::from_min_size(corner, vec2(side, side));
    painter.rect_filled(whole.expand(3.0), 3.0, Color32::from_black_alpha(220));
    let size = picture.size();
    for row in 0..LENS {
        for column in 0..LENS {
            let at = [i64::from(texel[0]) + column - LENS / 2, i64::from(texel[1]) + row - LENS / 2];
            let (Ok(x), Ok(y)) = (u32::try_from(at[0]), u32::try_from(at[1])) else { continue };
            if x >= size[0] || y >= size[1] {
                continue;
            }
            let cell = Rect::from_min_size(
                corner + vec2(column as f32 * CELL, row as f32 * CELL),
                vec2(CELL - 1.0, CELL - 1.0),
            );
            painter.rect_filled(cell, CornerRadius::ZERO, picture.draw(0, [x, y], [1, 1])[0]);
            texel_numbers(painter, picture, [x, y], cell, CELL);
        }
    }
    let middle = Rect::from_min_size(corner + vec2(1.0, 1.0) * CELL * (LENS / 2) as f32, vec2(CELL, CELL));
    painter.rect_stroke(middle, CornerRadius::ZERO, Stroke::new(2.0, theme::SELECTED), StrokeKind::Outside);
}

/// The scale of a picture's colours, in the lower left corner.
pub fn legend(painter: &Painter, picture: &Picture, rect: Rect) {
    let (low, high, title) = match &picture.content {
        Content::Values { .. } | Content::Texture { .. } => (picture.range.low, picture.range.high, "value"),
        Content::Difference { .. } => (0.0, picture.range.high, "|got - expected|"),
        Content::Heat { metric, .. } => match metric {
            Metric::Signed => (-picture.range.high, picture.range.high, "got - expected"),
            Metric::Ulp => (0.0, picture.range.high, "ULP, logarithmic"),
            Metric::Absolute => (0.0, picture.range.high, "|got - expected|"),
            Metric::Relative => (0.0, picture.range.high, "|got - expected| / |expected|"),
            Metric::Cause => return cause_legend(painter, picture, rect),
        },
    };
    const WIDTH: f32 = 150.0;
    if rect.width() < WIDTH + 40.0 || rect.height() < 110.0 {
        return;
    }
    let bar = Rect::from_min_size(pos2(rect.left() + 12.0, rect.bottom() - 28.0), vec2(WIDTH, 10.0));
    let back = Rect::from_min_max(bar.min - vec2(6.0, 18.0), bar.max + vec2(6.0, 18.0));
    painter.rect_filled(back, 3.0, Color32::from_black_alpha(190));
    let steps = 50;
    let mut shapes = Vec::with_capacity(steps);
    for step in 0..steps {
        let at = (step as f32 + 0.5) / steps as f32;
        let fill = match &picture.content {
            Content::Heat { metric: Metric::Signed, .. } => colour::signed(at * 2.0 - 1.0),
            Content::Heat { .. } => colour::heat(at),
            _ => {
                let grey = colour::srgb_byte_fast(at);
                Color32::from_gray(grey)
            }
        };
        let x = bar.left() + WIDTH * step as f32 / steps as f32;
        let part = Rect::from_min_size(pos2(x, bar.top()), vec2(WIDTH / steps as f32 + 0.5, bar.height()));
        shapes.push(Shape::rect_filled(part, CornerRadius::ZERO, fill));
    }
    painter.extend(shapes);
    let font = FontId::proportional(11.0);
    let text = |at: Pos2, align, text: String| {
        painter.text(at, align, text, font.clone(), Color32::from_gray(225));
    };
    text(bar.left_top() - vec2(0.0, 3.0), Align2::LEFT_BOTTOM, title.to_owned());
    text(bar.left_bottom() + vec2(0.0, 3.0), Align2::LEFT_TOP, compact(low));
    text(bar.right_bottom() + vec2(0.0, 3.0), Align2::RIGHT_TOP, compact(high));
}

/// The causes with their colours, in the lower left corner.
fn cause_legend(painter: &Painter, picture: &Picture, rect: Rect) {
    const SHOWN: usize = 8;
    let Content::Heat { causes: Some(causes), .. } = &picture.content else { return };
    let font = FontId::proportional(11.0);
    let lines: Vec<(Color32, String)> = causes
        .groups()
        .take(SHOWN)
        .enumerate()
        .map(|(n, (label, samples))| (colour::cause(Some(n)), format!("#{} {samples}  {label}", n + 1)))
        .collect();
    let height = 15.0 * lines.len() as f32;
    if rect.height() < height + 60.0 {
        return;
    }
    let mut at = pos2(rect.left() + 12.0, rect.bottom() - height - 8.0);
    for (colour, text) in lines {
        let galley = painter.layout_no_wrap(text, font.clone(), Color32::from_gray(225));
        let place = Rect::from_min_size(at + vec2(14.0, 0.0), galley.size());
        painter.rect_filled(place.expand2(vec2(18.0, 1.0)), 2.0, Color32::from_black_alpha(190));
        painter.rect_filled(Rect::from_min_size(at + vec2(0.0, 2.0), vec2(10.0, 10.0)), 1.0, colour);
        painter.galley(place.min, galley, Color32::WHITE);
        at.y += 15.0;
    }
}

/// A number of a legend.
fn compact(value: f32) -> String {
    if value == 0.0 || (value.fract() == 0.0 && value.abs() < 1e6) {
        format!("{value}")
    } else if (1e-3..1e5).contains(&value.abs()) {
        format!("{value:.4}")
    } else {
        format!("{value:.2e}")
    }
}
