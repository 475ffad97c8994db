//! Frame times and the time to the first picture, measured in a real window.

use std::time::{Duration, Instant};

use egui::{Rect, pos2, vec2};

use super::view_state::ViewState;

/// A measurement.
pub struct Bench {
    frames: usize,
    started: Instant,
    first_picture: Option<Duration>,
    complete: Option<Duration>,
    settled: usize,
    last: Option<Instant>,
    times: Vec<Duration>,
    cpu: Vec<f32>,
}

impl Bench {
    /// Measures so many frames; times count from `started`.
    #[must_use]
    pub fn new(frames: usize, started: Instant) -> Self {
        Self {
            frames,
            started,
            first_picture: None,
            complete: None,
            settled: 0,
            last: None,
            times: Vec::with_capacity(frames),
            cpu: Vec::with_capacity(frames),
        }
    }

    /// Takes a frame into account. `picture`: whether the oracle is seen in full; `idle`: whether everything is shown.
    /// Returns the report once it is done.
    pub fn frame(&mut self, picture: bool, idle: bool, cpu: Option<f32>, view: &mut ViewState) -> Option<String> {
        let now = Instant::now();
        if picture && self.first_picture.is_none() {
            self.first_picture = Some(now - self.started);
        }
        if self.complete.is_none() {
            self.settled = if idle { self.settled + 1 } else { 0 };
            if self.settled > 3 {
                self.complete = Some(now - self.started);
            }
            return None;
        }
        if let Some(last) = self.last.replace(now) {
            self.times.push(now - last);
            self.cpu.extend(cpu);
        }
        self.pan_and_zoom(view);
        (self.times.len() >= self.frames).then(|| self.report())
    }

    /// A path over the image: in to single texels and out again while going round.
    fn pan_and_zoom(&self, view: &mut ViewState) {
        let at = self.times.len() as f32 / self.frames.max(1) as f32;
        let size = [4096, 4096];
        let place = Rect::from_min_size(pos2(0.0, 0.0), vec2(600.0, 400.0));
        let zoom = 2.0f32.powf(-3.0 + 9.0 * (0.5 - 0.5 * (at * std::f32::consts::TAU * 2.0).cos()));
        view.viewport.set_zoom(zoom, size);
        let angle = at * std::f32::consts::TAU * 5.0;
        view.viewport.pan(vec2(angle.cos(), angle.sin()) * 12.0, size, place);
    }

    fn report(&mut self) -> String {
        let millis = |d: Duration| d.as_secs_f64() * 1e3;
        self.times.sort_unstable();
        self.cpu.sort_unstable_by(f32::total_cmp);
        let at = |part: f64| self.times[((self.times.len() - 1) as f64 * part) as usize];
        let cpu = |part: f64| {
            let last = self.cpu.len().saturating_sub(1) as f64;
            self.cpu.get((last * part) as usize).map_or(f64::NAN, |s| f64::from(*s) * 1e3)
        };
        format!(
            "first picture {:.0} ms, everything shown {:.0} ms, {} frames: median {:.2} ms, 95% {:.2} ms, longest {:.2} ms; \
             of these on the CPU: median {:.2} ms, 95% {:.2} ms",
            self.first_picture.map_or(f64::NAN, millis),
            self.complete.map_or(f64::NAN, millis),
            self.times.len(),
            millis(at(0.5)),
            millis(at(0.95)),
            millis(at(1.0)),
            cpu(0.5),
            cpu(0.95),
        )
    }
}
