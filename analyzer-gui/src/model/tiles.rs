//! Pictures cut into tiles that are drawn in the background, so that a frame costs what is seen and no more.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use egui::{Color32, ColorImage, Rect, pos2};

use super::{raster::Picture, viewport::Viewport, worker::Wake};

/// Width and height of a tile in pixels. Within the texture limit of every device.
pub const TILE: u32 = 256;

/// Which tile of which picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileKey {
    /// [`Picture::fingerprint`].
    pub picture: u64,
    /// Reduction: a pixel stands for `2^level` squared texels.
    pub level: u32,
    /// Column of tiles.
    pub x: u32,
    /// Row of tiles.
    pub y: u32,
}

impl TileKey {
    /// The texels the tile stands for: its first column and row, and one past its last.
    #[must_use]
    pub fn texels(&self, size: [u32; 2]) -> [[u32; 2]; 2] {
        let span = |at: u32, size: u32| {
            let start = (u64::from(at) * u64::from(TILE)) << self.level;
            let end = (u64::from(at + 1) * u64::from(TILE)) << self.level;
            [start.min(size.into()) as u32, end.min(size.into()) as u32]
        };
        let ([x0, x1], [y0, y1]) = (span(self.x, size[0]), span(self.y, size[1]));
        [[x0, y0], [x1, y1]]
    }

    /// Width and height of the tile's picture.
    #[must_use]
    pub fn pixels(&self, size: [u32; 2]) -> [u32; 2] {
        let [[x0, y0], [x1, y1]] = self.texels(size);
        let blocks = |texels: u32| (u64::from(texels)).div_ceil(1 << self.level) as u32;
        [blocks(x1 - x0), blocks(y1 - y0)]
    }

    /// Where the tile's pixels are in texel coordinates: the last column and row may reach over the image's edge.
    #[must_use]
    pub fn rect(&self, size: [u32; 2]) -> Rect {
        let [[x0, y0], _] = self.texels(size);
        let [w, h] = self.pixels(size).map(|n| (u64::from(n) << self.level) as f32);
        let min = pos2(x0 as f32, y0 as f32);
        Rect::from_min_max(min, pos2(min.x + w, min.y + h))
    }
}

/// The reduction at which a pixel of the window stands for about one pixel of a tile.
#[must_use]
pub fn level_for(points_a_texel: f32, pixels_a_point: f32) -> u32 {
    let texels_a_pixel = 1.0 / (points_a_texel * pixels_a_point).max(1e-6);
    texels_a_pixel.max(1.0).log2().floor() as u32
}

/// The coarsest reduction that is used: the whole image in one tile.
#[must_use]
pub fn coarsest(size: [u32; 2]) -> u32 {
    let longest = size[0].max(size[1]).max(1);
    longest.div_ceil(TILE).next_power_of_two().trailing_zeros()
}

/// The tiles that a view shows at a reduction.
#[must_use]
pub fn visible(picture: u64, level: u32, size: [u32; 2], viewport: &Viewport, view: Rect) -> Vec<TileKey> {
    let [first, end] = viewport.visible(size, view);
    if first[0] >= end[0] || first[1] >= end[1] {
        return Vec::new();
    }
    let tile = |texel: u32| ((u64::from(texel) >> level) / u64::from(TILE)) as u32;
    let mut keys = Vec::new();
    for y in tile(first[1])..=tile(end[1] - 1) {
        for x in tile(first[0])..=tile(end[0] - 1) {
            keys.push(TileKey { picture, level, x, y });
        }
    }
    keys
}

/// A drawn tile.
pub struct Tile {
    /// Which one.
    pub key: TileKey,
    /// Its pixels.
    pub image: ColorImage,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<(TileKey, Arc<Picture>)>,
    drawing: Vec<TileKey>,
    quit: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads that draw tiles.
pub struct TilePool {
    shared: Arc<Shared>,
    drawn: Receiver<Tile>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl TilePool {
    /// Starts the threads. `wake` is called after each tile.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(wake: &Wake) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (sender, drawn) = channel();
        let count = thread::available_parallelism().map_or(2, |n| n.get().clamp(2, 4));
        let threads = (0..count)
            .map(|n| {
                let (shared, sender, wake) = (shared.clone(), sender.clone(), wake.clone());
                thread::Builder::new().name(format!("tiles {n}")).spawn(move || work(&shared, &sender, &wake))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { shared, drawn, threads })
    }

    /// Replaces what is waited for, most urgent first. What is being drawn is finished.
    pub fn want(&self, mut tiles: Vec<(TileKey, Arc<Picture>)>) {
        let mut queue = self.shared.lock();
        tiles.retain(|(key, _)| !queue.drawing.contains(key));
        tiles.reverse();
        queue.waiting = tiles;
        self.shared.changed.notify_all();
    }

    /// A tile that was drawn, if there is one.
    #[must_use]
    pub fn poll(&self) -> Option<Tile> {
        let tile = self.drawn.try_recv().ok()?;
        self.shared.lock().drawing.retain(|key| *key != tile.key);
        Some(tile)
    }

    /// Whether nothing waits or is being drawn.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let queue = self.shared.lock();
        queue.waiting.is_empty() && queue.drawing.is_empty()
    }
}

impl Drop for TilePool {
    fn drop(&mut self) {
        self.shared.lock().quit = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

fn work(shared: &Shared, sender: &Sender<Tile>, wake: &Wake) {
    loop {
        let (key, picture) = {
            let mut queue = shared.lock();
            loop {
                if queue.quit {
                    return;
                }
                if let Some(task) = queue.waiting.pop() {
                    queue.drawing.push(task.0);
                    break task;
                }
                queue = shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
        };
        if sender.send(Tile { key, image: draw(&key, &picture) }).is_err() {
            return;
        }
        wake();
    }
}

/// Draws a tile.
#[must_use]
pub fn draw(key: &TileKey, picture: &Picture) -> ColorImage {
    let [w, h] = key.pixels(picture.size());
    let pixels: Vec<Color32> = picture.draw(key.level, [key.x * TILE, key.y * TILE], [w, h]);
    ColorImage::new([w as usize, h as usize], pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_an_image_at_every_reduction() {
        for size in [[1, 1], [256, 256], [257, 100], [4096, 4096], [40_000, 3]] {
            let view = Rect::from_min_max(pos2(0.0, 0.0), pos2(800.0, 600.0));
            for level in 0..=coarsest(size) {
                let keys = visible(7, level, size, &Viewport::default(), view);
                let texels: u64 = keys
                    .iter()
                    .map(|key| {
                        let [[x0, y0], [x1, y1]] = key.texels(size);
                        u64::from(x1 - x0) * u64::from(y1 - y0)
                    })
                    .sum();
                assert_eq!(texels, u64::from(size[0]) * u64::from(size[1]), "{size:?} at {level}");
                assert!(keys.iter().all(|key| key.pixels(size).iter().all(|&n| (1..=TILE).contains(&n))));
            }
            assert_eq!(visible(7, coarsest(size), size, &Viewport::default(), view).len(), 1);
        }
    }

    #[test]
    fn only_what_is_seen_is_asked_for() {
        let view = Rect::from_min_max(pos2(0.0, 0.0), pos2(800.0, 600.0));
        let mut viewport = Viewport::default();
        viewport.close_up([2000, 2000]);
        let keys = visible(7, 0, [4096, 4096], &viewport, view);
        assert_eq!(keys, [TileKey { picture: 7, level: 0, x: 7, y: 7 }]);
        // Whatever the size, a view at the level for its zoom shows a bounded number of tiles.
        for zoom in [0.1f32, 0.3, 0.7, 1.0, 2.0] {
            viewport.set_zoom(zoom, [16_384, 16_384]);
            let level = level_for(zoom, 1.0);
            assert!(visible(7, level, [16_384, 16_384], &viewport, view).len() <= 48, "{zoom}");
        }
    }

    #[test]
    fn levels_follow_the_zoom() {
        assert_eq!([4.0, 1.0, 0.6, 0.5, 0.25, 0.1].map(|zoom| level_for(zoom, 1.0)), [0, 0, 0, 1, 2, 3]);
        assert_eq!(level_for(0.25, 2.0), 1);
    }
}
