//! Tiles on the graphics device.

use std::{collections::HashSet, num::NonZeroUsize, sync::Arc};

use egui::{Color32, Mesh, Painter, Pos2, Rect, Shape, TextureHandle, TextureOptions, pos2};
use lru::LruCache;

use crate::model::{
    raster::Picture,
    tiles::{TileKey, TilePool, coarsest, level_for, visible},
    viewport::Viewport,
    worker::Wake,
};

/// Tiles that are kept on the device: 192 MiB.
const KEPT: NonZeroUsize = NonZeroUsize::new(768).expect("not zero");

/// Tiles that are given to the device in a frame at most.
const UPLOADS: usize = 24;

/// Draws pictures from tiles, and asks for those that are missing.
pub struct TileStore {
    pool: TilePool,
    kept: LruCache<TileKey, TextureHandle>,
    wanted: Vec<(TileKey, Arc<Picture>)>,
    asked: HashSet<TileKey>,
    /// Whether the last frame showed everything in full detail.
    complete: bool,
}

impl TileStore {
    /// Starts the threads that draw tiles.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn new(wake: &Wake) -> std::io::Result<Self> {
        Ok(Self {
            pool: TilePool::start(wake)?,
            kept: LruCache::new(KEPT),
            wanted: Vec::new(),
            asked: HashSet::new(),
            complete: false,
        })
    }

    /// Takes in tiles that were drawn. Call at the start of a frame.
    pub fn begin_frame(&mut self, ctx: &egui::Context) {
        self.wanted.clear();
        self.complete = true;
        for _ in 0..UPLOADS {
            let Some(tile) = self.pool.poll() else { return };
            let options = TextureOptions { minification: egui::TextureFilter::Linear, ..TextureOptions::NEAREST };
            self.kept.put(tile.key, ctx.load_texture("tile", tile.image, options));
        }
        ctx.request_repaint();
    }

    /// Asks for what this frame was short of. Call at the end of a frame.
    pub fn end_frame(&mut self) {
        // What covers most comes first, so that something is seen at once.
        self.wanted.sort_by_key(|(key, _)| std::cmp::Reverse(key.level));
        let keys: HashSet<TileKey> = self.wanted.iter().map(|(key, _)| *key).collect();
        if keys != self.asked || !self.wanted.is_empty() {
            self.pool.want(std::mem::take(&mut self.wanted));
            self.asked = keys;
        }
    }

    /// Whether everything that the last frame showed was there in full detail.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether no tile waits to be drawn.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.pool.is_idle()
    }

    /// Whether a picture is seen as a whole, at least coarsely.
    #[must_use]
    pub fn has_overview(&self, picture: &Picture) -> bool {
        let key = TileKey { picture: picture.fingerprint(), level: coarsest(picture.size()), x: 0, y: 0 };
        self.kept.contains(&key) || self.complete
    }

    /// Draws a picture. What is not there yet is drawn from coarser tiles.
    pub fn paint(&mut self, painter: &Painter, picture: &Arc<Picture>, viewport: &Viewport, view: Rect) {
        let size = picture.size();
        if size[0] == 0 || size[1] == 0 {
            return;
        }
        let painter = painter.with_clip_rect(painter.clip_rect().intersect(view));
        let print = picture.fingerprint();
        let coarse = coarsest(size);
        let level = level_for(viewport.scale(size, view), painter.pixels_per_point()).min(coarse);
        let keys = visible(print, level, size, viewport, view);
        let missing = keys.iter().any(|key| !self.kept.contains(key));
        if missing {
            self.complete = false;
            self.request(TileKey { picture: print, level: coarse, x: 0, y: 0 }, picture);
            self.paint_tile(&painter, TileKey { picture: print, level: coarse, x: 0, y: 0 }, size, viewport, view);
        }
        for key in keys {
            self.request(key, picture);
            self.paint_tile(&painter, key, size, viewport, view);
        }
    }

    fn request(&mut self, key: TileKey, picture: &Arc<Picture>) {
        if !self.kept.contains(&key) && !self.wanted.iter().any(|(wanted, _)| *wanted == key) {
            self.wanted.push((key, picture.clone()));
        }
    }

    fn paint_tile(&mut self, painter: &Painter, key: TileKey, size: [u32; 2], viewport: &Viewport, view: Rect) {
        let Some(texture) = self.kept.get(&key) else { return };
        let rect = key.rect(size);
        let corner = |at: Pos2| viewport.to_window(at, size, view);
        let image = viewport.image_rect(size, view);
        let place = Rect::from_min_max(corner(rect.min), corner(rect.max));
        // The last pixels of a reduced tile may stand for less than their block: they are cut at the image's edge.
        let seen = place.intersect(image);
        let to_uv = |at: Pos2| pos2((at.x - place.min.x) / place.width(), (at.y - place.min.y) / place.height());
        let mut uv = Rect::from_min_max(to_uv(seen.min), to_uv(seen.max));
        uv = uv.intersect(Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0)));
        let mut mesh = Mesh::with_texture(texture.id());
        mesh.add_rect_with_uv(seen, uv, Color32::WHITE);
        painter.add(Shape::mesh(mesh));
    }
}
