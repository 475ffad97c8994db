//! Seeded random numbers.

/// A sequence of random words that a seed and a name give: XXH3 of a counter, so that it is the same in every version.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    counter: u64,
}

impl Random {
    /// The sequence of a seed under a name.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        Self { seed: xxhash_rust::xxh3::xxh3_64_with_seed(name.as_bytes(), seed), counter: 0 }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.counter += 1;
        xxhash_rust::xxh3::xxh3_64_with_seed(&self.counter.to_le_bytes(), self.seed)
    }

    /// A number from 0 to `end - 1`; 0 when `end` is 0.
    pub fn below(&mut self, end: u32) -> u32 {
        ((self.bits() >> 32) * u64::from(end) >> 32) as u32
    }

    /// A number in `low..high`, of 24 random bits.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        let unit = self.below(1 << 24) as f32 / (1 << 24) as f32;
        low + unit * (high - low)
    }

    /// One of the values.
    ///
    /// # Panics
    /// When there are none.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_name_give_one_sequence_within_its_bounds() {
        let take = |seed, name| {
            let mut random = Random::new(seed, name);
            (0..64).map(|_| random.below(10)).collect::<Vec<_>>()
        };
        assert_eq!(take(1, "a"), take(1, "a"));
        assert_ne!(take(1, "a"), take(2, "a"));
        assert_ne!(take(1, "a"), take(1, "b"));
        let mut seen = take(1, "a");
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
        let mut random = Random::new(3, "c");
        assert!((0..1000).map(|_| random.between(-2.0, 3.0)).all(|x| (-2.0..3.0).contains(&x)));
    }
}
