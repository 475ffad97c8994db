//! A small random number generator whose numbers never change: a seed names the same dispatches for good.

/// SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator for a seed and a stream; different streams of a seed are unrelated.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut seeds = Self(seed);
        let mixed = seeds.word() ^ stream.wrapping_mul(0xd134_2543_de82_ef95);
        let mut random = Self(mixed);
        random.word();
        random
    }

    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// 32 random bits.
    pub fn bits(&mut self) -> u32 {
        (self.word() >> 32) as u32
    }

    /// An integer below `count`, which must not be 0.
    pub fn below(&mut self, count: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(count)) >> 32) as u32
    }

    /// True once in `count` times.
    pub fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }

    /// One of the items, of which there must be at least one.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }

    /// A number in `low..high`.
    pub fn uniform(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.bits() >> 8) as f32 * (1.0 / 16_777_216.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_of_a_seed_are_pinned() {
        let mut random = Random(0);
        assert_eq!(random.word(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.word(), 0x6e78_9e6a_a1b9_65f4);
        assert_ne!(Random::new(1, 0).word(), Random::new(1, 1).word());
        assert_ne!(Random::new(1, 0).word(), Random::new(2, 0).word());
    }
}
