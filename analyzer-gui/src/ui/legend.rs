//! What the colours of a picture stand for.

use egui::{Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, Shape, pos2, vec2};

use crate::model::{
    colour,
    compare::Number,
    number::{self, WordClass, grouped},
    raster::{Channels, Content, Metric, Picture},
};

/// Width of a scale in points.
const WIDTH: f32 = 118.0;

const TEXT: Color32 = Color32::from_gray(228);

const BACK: Color32 = Color32::from_black_alpha(205);

/// Draws the legend of a picture into the lower left corner, when there is room.
pub fn legend(painter: &Painter, picture: &Picture, rect: Rect) {
    let high = picture.range.high;
    let (low, title, logarithmic) = match &picture.content {
        Content::Values { .. } | Content::Texture { .. } => (picture.range.low, "value", false),
        Content::Difference { .. } => (0.0, "|got - expected|", false),
        Content::Heat { metric, .. } => match metric {
            Metric::Signed => (-high, "got - expected", false),
            Metric::Ulp => (0.0, "ULP, logarithmic", true),
            Metric::Absolute => (0.0, "|got - expected|", false),
            Metric::Relative => (0.0, "|got - expected| / |expected|", false),
            Metric::Cause => return causes(painter, picture, rect),
        },
    };
    let swatches = swatches(picture);
    // What values are need not be said.
    let title = Some(title).filter(|title| *title != "value");
    let above = if title.is_some() { 16.0 } else { 5.0 };
    let height = above + if swatches.is_empty() { 26.0 } else { 40.0 };
    if rect.width() < WIDTH + 60.0 || rect.height() < height + 70.0 {
        return;
    }
    let back = Rect::from_min_size(pos2(rect.left() + 4.0, rect.bottom() - height - 4.0), vec2(WIDTH + 12.0, height));
    painter.rect_filled(back, 4.0, BACK);
    let bar = Rect::from_min_size(back.min + vec2(6.0, above), vec2(WIDTH, 8.0));
    if let Some(title) = title {
        text(painter, back.min + vec2(6.0, 2.0), Align2::LEFT_TOP, title);
    }
    scale(painter, picture, bar);
    text(painter, bar.left_bottom() + vec2(0.0, 2.0), Align2::LEFT_TOP, &compact(low));
    text(painter, bar.right_bottom() + vec2(0.0, 2.0), Align2::RIGHT_TOP, &compact(high));
    if logarithmic && high >= 256.0 {
        let middle = ((1.0 + f64::from(high)).sqrt() - 1.0).round();
        text(painter, bar.center_bottom() + vec2(0.0, 2.0), Align2::CENTER_TOP, &compact(middle as f32));
    }
    let mut at = bar.left_bottom() + vec2(0.0, 23.0);
    for (fill, name) in swatches {
        let swatch = Rect::from_center_size(at + vec2(4.0, 0.0), vec2(7.0, 7.0));
        painter.rect_filled(swatch, 1.0, fill);
        painter.rect_stroke(swatch, 1.0, egui::Stroke::new(1.0, Color32::from_gray(110)), egui::StrokeKind::Outside);
        at.x = text(painter, at + vec2(10.0, 0.0), Align2::LEFT_CENTER, name).right() + 7.0;
    }
}

/// Colours beside the scale.
fn swatches(picture: &Picture) -> Vec<(Color32, &'static str)> {
    match &picture.content {
        Content::Values { .. } | Content::Texture { .. } if picture.overlay => {
            [(WordClass::Nan, "NaN"), (WordClass::Infinity, "Inf"), (WordClass::Denormal, "denormal")]
                .into_iter()
                .filter_map(|(class, name)| Some((colour::of_class(class)?, name)))
                .collect()
        }
        Content::Values { .. } | Content::Texture { .. } => Vec::new(),
        Content::Difference { .. } | Content::Heat { .. } => {
            vec![(colour::AGREES, "agrees"), (colour::NAN_AGAINST_NUMBER, "NaN")]
        }
    }
}

fn scale(painter: &Painter, picture: &Picture, bar: Rect) {
    const STEPS: usize = 50;
    let mut shapes = Vec::with_capacity(STEPS * 3);
    for step in 0..STEPS {
        let at = (step as f32 + 0.5) / STEPS as f32;
        let x = bar.left() + WIDTH * step as f32 / STEPS as f32;
        let part = Rect::from_min_size(pos2(x, bar.top()), vec2(WIDTH / STEPS as f32 + 0.5, bar.height()));
        let fills = match (&picture.content, picture.channels) {
            (Content::Heat { metric: Metric::Signed, .. }, _) => vec![colour::signed(at * 2.0 - 1.0)],
            (Content::Heat { .. }, _) => vec![colour::heat(at)],
            (_, Channels::Rgb) => {
                let byte = colour::srgb_byte_fast(at);
                (0..3).map(|c| Color32::from_rgb([byte, 0, 0][c], [0, byte, 0][c], [0, 0, byte][c])).collect()
            }
            (_, Channels::Solo(_)) => vec![Color32::from_gray(colour::srgb_byte_fast(at))],
        };
        let height = part.height() / fills.len() as f32;
        for (n, fill) in fills.into_iter().enumerate() {
            let strip = Rect::from_min_size(part.min + vec2(0.0, height * n as f32), vec2(part.width(), height));
            shapes.push(Shape::rect_filled(strip, CornerRadius::ZERO, fill));
        }
    }
    painter.extend(shapes);
}

/// The causes with their colours, most samples first.
fn causes(painter: &Painter, picture: &Picture, rect: Rect) {
    const SHOWN: usize = 8;
    const LINE: f32 = 15.0;
    let Content::Heat { causes: Some(causes), .. } = &picture.content else { return };
    let font = FontId::proportional(11.0);
    let mut lines: Vec<(Color32, String)> = causes
        .groups()
        .take(SHOWN)
        .enumerate()
        .map(|(n, (label, samples))| {
            (colour::cause(Some(n)), format!("#{}  {}  {label}", n + 1, grouped(samples as u64)))
        })
        .collect();
    let all = causes.groups().count();
    if all > SHOWN {
        lines.push((colour::cause(None), format!("{} more", all - SHOWN)));
    }
    lines.push((colour::AGREES, "agrees".to_owned()));
    let room = ((rect.height() * 0.5) / LINE) as usize;
    if room < 2 || rect.width() < 160.0 {
        return;
    }
    lines.truncate(room);
    // Causes that begin alike are told apart by their ends.
    let most = (rect.width() - 12.0).max(150.0) - 34.0;
    let galleys: Vec<_> = lines
        .into_iter()
        .map(|(fill, text)| {
            let mut job = egui::text::LayoutJob::simple_singleline(text, font.clone(), TEXT);
            job.wrap = egui::text::TextWrapping::truncate_at_width(most);
            (fill, painter.layout_job(job))
        })
        .collect();
    let width = galleys.iter().map(|(_, galley)| galley.size().x).fold(0.0, f32::max);
    let size = vec2(width + 34.0, LINE * galleys.len() as f32 + 8.0);
    let back = Rect::from_min_size(pos2(rect.left() + 6.0, rect.bottom() - size.y - 6.0), size);
    painter.rect_filled(back, 4.0, BACK);
    let mut at = back.min + vec2(8.0, 4.0);
    for (fill, galley) in galleys {
        let swatch = Rect::from_min_size(at + vec2(0.0, 3.0), vec2(9.0, 9.0));
        painter.rect_filled(swatch, 1.0, fill);
        painter.rect_stroke(swatch, 1.0, egui::Stroke::new(1.0, Color32::from_gray(110)), egui::StrokeKind::Outside);
        painter.galley(at + vec2(17.0, 0.0), galley, TEXT);
        at.y += LINE;
    }
}

fn text(painter: &Painter, at: Pos2, align: Align2, text: &str) -> Rect {
    painter.text(at, align, text, FontId::proportional(10.5), TEXT)
}

/// A number of a legend, in four digits; distances in ULPs are whole.
fn compact(value: f32) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        return format!("{value}");
    }
    number::short(value.to_bits(), Number::Float, 7).unwrap_or_else(|| format!("{value:.2e}"))
}
