//! How the values of an image are spread: what ranges and histograms are made from.

use super::{
    compare::Number,
    number::{WordClass, value},
};

/// Samples that are looked at: of larger images an even selection.
pub const LOOKED_AT: usize = 1 << 17;

/// The spread of the values of one channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelStats {
    /// Finite values, ascending.
    sorted: Vec<f32>,
    /// NaNs among the samples looked at.
    pub nan: u64,
    /// Infinities among the samples looked at.
    pub infinite: u64,
    /// Denormal numbers among the samples looked at.
    pub denormal: u64,
}

/// The spread of the values of an image, channel by channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// X, Y, Z, W.
    pub channels: [ChannelStats; 4],
    /// Samples looked at.
    pub looked_at: u64,
    /// Samples there are.
    pub samples: u64,
}

impl Stats {
    /// Looks at results of four words a sample. A channel that was not measured is left out.
    #[must_use]
    pub fn of_results(words: &[u32], measured: Option<&[u8]>, number: Number) -> Self {
        let samples = words.len() / 4;
        Self::gather(samples, number, |index| {
            let mask = measured.map_or(0xf, |mask| mask.get(index).copied().unwrap_or(0));
            (std::array::from_fn(|c| words[index * 4 + c]), mask)
        })
    }

    /// Looks at samples by index: their words and which of them count.
    pub fn gather(samples: usize, number: Number, at: impl Fn(usize) -> ([u32; 4], u8)) -> Self {
        // An odd stride, so that columns of a power-of-two image are not singled out.
        let stride = samples.div_ceil(LOOKED_AT).max(1) | 1;
        let mut stats = Self { samples: samples as u64, ..Self::default() };
        for index in (0..samples).step_by(stride) {
            let (words, mask) = at(index);
            stats.looked_at += 1;
            for (c, channel) in stats.channels.iter_mut().enumerate() {
                if mask >> c & 1 == 1 {
                    channel.add(words[c], number);
                }
            }
        }
        for channel in &mut stats.channels {
            channel.sorted.sort_unstable_by(f32::total_cmp);
        }
        stats
    }

    /// The range between two percentiles over some channels; only finite values count. `None` when there are none.
    ///
    /// `channels` has a bit a channel, `low` and `high` are 0 to 100.
    #[must_use]
    pub fn range(&self, channels: u8, low: f64, high: f64) -> Option<[f32; 2]> {
        let chosen = self.channels.iter().enumerate().filter(|(c, _)| channels >> c & 1 == 1);
        chosen.filter_map(|(_, stats)| stats.range(low, high)).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
    }
}

impl ChannelStats {
    fn add(&mut self, word: u32, number: Number) {
        if number == Number::Float {
            match WordClass::of(word) {
                WordClass::Nan => self.nan += 1,
                WordClass::Infinity => self.infinite += 1,
                class => {
                    self.denormal += u64::from(class == WordClass::Denormal);
                    self.sorted.push(f32::from_bits(word));
                }
            }
        } else {
            self.sorted.push(value(word, number) as f32);
        }
    }

    /// Number of finite values.
    #[must_use]
    pub fn finite(&self) -> usize {
        self.sorted.len()
    }

    /// The values at two percentiles, 0 to 100.
    #[must_use]
    pub fn range(&self, low: f64, high: f64) -> Option<[f32; 2]> {
        let last = self.sorted.len().checked_sub(1)?;
        let at =
            |percent: f64| self.sorted[((percent.clamp(0.0, 100.0) / 100.0 * last as f64).round() as usize).min(last)];
        Some([at(low), at(high)])
    }

    /// Counts in equal bins over a range; the first and last take what lies outside.
    #[must_use]
    pub fn histogram(&self, [low, high]: [f32; 2], bins: usize) -> Vec<u64> {
        let mut counts = vec![0; bins];
        if bins == 0 || high <= low {
            return counts;
        }
        let edge = |n: usize| f64::from(low) + (f64::from(high) - f64::from(low)) * n as f64 / bins as f64;
        let below = |edge: f64| self.sorted.partition_point(|&v| f64::from(v) < edge) as u64;
        let mut before = 0;
        for (n, count) in counts.iter_mut().enumerate() {
            let upto = if n + 1 == bins { self.sorted.len() as u64 } else { below(edge(n + 1)) };
            *count = upto - before;
            before = upto;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(values: &[f32]) -> Stats {
        let words: Vec<u32> = values.iter().flat_map(|v| [v.to_bits(), 0, 0, 0]).collect();
        Stats::of_results(&words, Some(&vec![1; values.len()]), Number::Float)
    }

    #[test]
    fn ranges_ignore_what_is_not_finite() {
        let stats = stats(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 0.0, 2.0, 3.0, f32::from_bits(1)]);
        let x = &stats.channels[0];
        assert_eq!((x.nan, x.infinite, x.denormal, x.finite()), (1, 2, 1, 5));
        assert_eq!(stats.range(0b1, 0.0, 100.0), Some([-1.0, 3.0]));
        assert_eq!(stats.range(0b1, 25.0, 75.0), Some([0.0, 2.0]));
        assert_eq!(stats.range(0b10, 0.0, 100.0), None, "channels that were not measured have no range");
    }

    #[test]
    fn histograms_count_every_finite_value() {
        let stats = stats(&[-5.0, 0.0, 0.1, 0.5, 0.9, 1.0, 7.0, f32::NAN]);
        assert_eq!(stats.channels[0].histogram([0.0, 1.0], 2), [3, 4]);
        assert_eq!(stats.channels[0].histogram([1.0, 1.0], 2), [0, 0]);
    }

    #[test]
    fn large_images_are_looked_at_evenly() {
        let words = vec![0u32; 4 * LOOKED_AT * 3];
        let stats = Stats::of_results(&words, None, Number::Float);
        assert_eq!(stats.samples, LOOKED_AT as u64 * 3);
        assert_eq!(stats.looked_at, LOOKED_AT as u64);
    }
}
