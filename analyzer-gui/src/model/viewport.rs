//! Zoom and pan of an image in a rectangle of the window.

use std::{fmt, str::FromStr};

use egui::{Pos2, Rect, Vec2, pos2, vec2};

/// Which part of an image is seen, in texels; independent of the window, so that views share it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// The texel coordinate at the middle of the view.
    pub centre: Pos2,
    /// Points of the window a texel; `None`: as large as fits.
    pub zoom: Option<f32>,
}

impl Default for Viewport {
    fn default() -> Self {
        Self { centre: Pos2::ZERO, zoom: None }
    }
}

/// `X,Y@ZOOM`: the texel coordinate in the middle and the points a texel; `fit` when the whole image is seen.
impl fmt::Display for Viewport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.zoom {
            Some(zoom) => write!(f, "{},{}@{zoom}", self.centre.x, self.centre.y),
            None => f.write_str("fit"),
        }
    }
}

/// As it is displayed.
impl FromStr for Viewport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (place, zoom) = text.split_once('@')?;
            let (x, y) = place.split_once(',')?;
            let number = |text: &str| text.trim().parse::<f32>().ok().filter(|n| n.is_finite());
            let zoom = number(zoom).filter(|zoom| ZOOM_RANGE.contains(zoom))?;
            Some(Self { centre: pos2(number(x)?, number(y)?), zoom: Some(zoom) })
        };
        if text == "fit" {
            return Ok(Self::default());
        }
        parse().ok_or_else(|| format!("{text:?} is no place, expected fit or X,Y@ZOOM with a zoom from 1/512 to 512"))
    }
}

/// Zoom is limited so that texel coordinates stay exact in FP32 and a texel does not fill the screen.
const ZOOM_RANGE: std::ops::RangeInclusive<f32> = 1.0 / 512.0..=512.0;

impl Viewport {
    /// Points a texel, with an image of `size` in `view`.
    #[must_use]
    pub fn scale(&self, size: [u32; 2], view: Rect) -> f32 {
        self.zoom.unwrap_or_else(|| {
            let [w, h] = size.map(|n| n.max(1) as f32);
            let fit = (view.width() / w).min(view.height() / h) * 0.98;
            fit.clamp(*ZOOM_RANGE.start(), 64.0)
        })
    }

    fn middle(&self, size: [u32; 2]) -> Pos2 {
        if self.zoom.is_some() { self.centre } else { pos2(size[0] as f32 / 2.0, size[1] as f32 / 2.0) }
    }

    /// Where a texel coordinate is in the window.
    #[must_use]
    pub fn to_window(&self, texel: Pos2, size: [u32; 2], view: Rect) -> Pos2 {
        view.center() + (texel - self.middle(size)) * self.scale(size, view)
    }

    /// The texel coordinate at a place of the window.
    #[must_use]
    pub fn to_texel(&self, at: Pos2, size: [u32; 2], view: Rect) -> Pos2 {
        self.middle(size) + (at - view.center()) / self.scale(size, view)
    }

    /// The texel at a place of the window, if it is in the image.
    #[must_use]
    pub fn texel_at(&self, at: Pos2, size: [u32; 2], view: Rect) -> Option<[u32; 2]> {
        let texel = self.to_texel(at, size, view);
        let inside = texel.x >= 0.0 && texel.y >= 0.0 && texel.x < size[0] as f32 && texel.y < size[1] as f32;
        inside.then_some([texel.x as u32, texel.y as u32])
    }

    /// Where the whole image is in the window.
    #[must_use]
    pub fn image_rect(&self, size: [u32; 2], view: Rect) -> Rect {
        let corner = pos2(size[0] as f32, size[1] as f32);
        Rect::from_min_max(self.to_window(Pos2::ZERO, size, view), self.to_window(corner, size, view))
    }

    /// The texels that are seen: first column and row, and one past the last.
    #[must_use]
    pub fn visible(&self, size: [u32; 2], view: Rect) -> [[u32; 2]; 2] {
        let min = self.to_texel(view.min, size, view);
        let max = self.to_texel(view.max, size, view);
        // A negative number is cut to 0 by the conversion.
        let first = [(min.x as u32).min(size[0]), (min.y as u32).min(size[1])];
        let end = [(max.x.ceil().max(0.0) as u32).min(size[0]), (max.y.ceil().max(0.0) as u32).min(size[1])];
        [first, end]
    }

    /// Zooms by a factor about a place of the window, which keeps its texel.
    pub fn zoom_about(&mut self, factor: f32, at: Pos2, size: [u32; 2], view: Rect) {
        let texel = self.to_texel(at, size, view);
        let scale = (self.scale(size, view) * factor).clamp(*ZOOM_RANGE.start(), *ZOOM_RANGE.end());
        self.centre = texel - (at - view.center()) / scale;
        self.zoom = Some(scale);
    }

    /// Moves the image by points of the window.
    pub fn pan(&mut self, by: Vec2, size: [u32; 2], view: Rect) {
        let scale = self.scale(size, view);
        let middle = self.middle(size) - by / scale;
        // Half of the view stays over the image's edge at most.
        self.centre = middle.clamp(Pos2::ZERO, pos2(size[0] as f32, size[1] as f32));
        self.zoom = Some(scale);
    }

    /// Shows the whole image.
    pub fn fit(&mut self) {
        *self = Self::default();
    }

    /// Sets the points a texel and keeps the middle.
    pub fn set_zoom(&mut self, zoom: f32, size: [u32; 2]) {
        self.centre = self.middle(size);
        self.zoom = Some(zoom.clamp(*ZOOM_RANGE.start(), *ZOOM_RANGE.end()));
    }

    /// Moves a texel to the middle if it is out of sight.
    pub fn reveal(&mut self, texel: [u32; 2], size: [u32; 2], view: Rect) {
        let at = pos2(texel[0] as f32 + 0.5, texel[1] as f32 + 0.5);
        if self.zoom.is_some() && !view.shrink2(vec2(8.0, 8.0)).contains(self.to_window(at, size, view)) {
            self.centre = at;
        }
    }

    /// Moves a texel to the middle at a zoom at which its numbers can be read.
    pub fn close_up(&mut self, texel: [u32; 2]) {
        self.centre = pos2(texel[0] as f32 + 0.5, texel[1] as f32 + 0.5);
        self.zoom = Some(64.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: Rect = Rect { min: Pos2 { x: 100.0, y: 50.0 }, max: Pos2 { x: 500.0, y: 250.0 } };

    #[test]
    fn fitting_shows_the_whole_image() {
        let viewport = Viewport::default();
        let rect = viewport.image_rect([4096, 4096], VIEW);
        assert!(VIEW.contains_rect(rect), "{rect:?}");
        assert_eq!(rect.center(), VIEW.center());
        assert_eq!(viewport.visible([4096, 4096], VIEW), [[0, 0], [4096, 4096]]);
        assert_eq!(viewport.texel_at(VIEW.min, [4096, 4096], VIEW), None, "left of the image");
    }

    #[test]
    fn zooming_keeps_the_texel_under_the_pointer() {
        let mut viewport = Viewport::default();
        let at = pos2(180.0, 120.0);
        let before = viewport.to_texel(at, [400, 200], VIEW);
        for factor in [1.5, 1.5, 0.7, 3.0] {
            viewport.zoom_about(factor, at, [400, 200], VIEW);
        }
        let after = viewport.to_texel(at, [400, 200], VIEW);
        assert!((before - after).length() < 1e-3, "{before:?} {after:?}");
    }

    #[test]
    fn coordinates_go_forth_and_back() {
        let mut viewport = Viewport::default();
        viewport.set_zoom(16.0, [64, 64]);
        viewport.pan(vec2(33.0, -20.0), [64, 64], VIEW);
        for texel in [[0, 0], [63, 63], [17, 40]] {
            let at = viewport.to_window(pos2(texel[0] as f32 + 0.5, texel[1] as f32 + 0.5), [64, 64], VIEW);
            assert_eq!(viewport.texel_at(at, [64, 64], VIEW), Some(texel));
        }
    }

    #[test]
    fn a_texel_out_of_sight_is_revealed() {
        let mut viewport = Viewport::default();
        viewport.set_zoom(32.0, [512, 512]);
        viewport.reveal([500, 3], [512, 512], VIEW);
        let [first, end] = viewport.visible([512, 512], VIEW);
        assert!((first[0]..end[0]).contains(&500) && (first[1]..end[1]).contains(&3), "{first:?} {end:?}");
    }

    #[test]
    fn a_place_is_read_back_from_its_text() {
        let mut viewport = Viewport::default();
        viewport.zoom_about(7.3, pos2(180.0, 120.0), [400, 200], VIEW);
        let mut outside = Viewport::default();
        outside.zoom_about(0.25, VIEW.max, [400, 200], VIEW);
        assert!(outside.centre.x < 0.0, "the middle of the view can lie beside the image");
        for viewport in [viewport, outside, Viewport::default()] {
            assert_eq!(viewport.to_string().parse(), Ok(viewport));
        }
        for bad in ["", "1,2", "1@2", "1,2@0", "1,2@inf", "1,2@1000", "NaN,2@1", "1,2@-1"] {
            assert!(bad.parse::<Viewport>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_seen_is_never_outside_the_image() {
        let mut viewport = Viewport::default();
        viewport.set_zoom(1.0, [7, 5]);
        viewport.pan(vec2(1e6, 1e6), [7, 5], VIEW);
        let [first, end] = viewport.visible([7, 5], VIEW);
        assert!(first[0] <= end[0] && end[0] <= 7 && first[1] <= end[1] && end[1] <= 5);
    }
}
