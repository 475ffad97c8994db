//! Sets of samples.

/// A set of positions in a list of samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// Positions in one word.
    pub(super) const WORD: usize = 64;

    pub(super) fn empty(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(Self::WORD)], len }
    }

    /// Every position below `len`.
    pub(super) fn full(len: usize) -> Self {
        let mut bits = Self { words: vec![u64::MAX; len.div_ceil(Self::WORD)], len };
        if let (Some(last), rest @ 1..) = (bits.words.last_mut(), len % Self::WORD) {
            *last = (1 << rest) - 1;
        }
        bits
    }

    /// Takes words whose bits beyond `len` are 0.
    pub(super) fn from_words(words: Vec<u64>, len: usize) -> Self {
        debug_assert_eq!(words.len(), len.div_ceil(Self::WORD));
        Self { words, len }
    }

    pub(super) fn insert(&mut self, at: usize) {
        self.words[at / Self::WORD] |= 1 << (at % Self::WORD);
    }

    pub(super) fn contains(&self, at: usize) -> bool {
        self.words[at / Self::WORD] >> (at % Self::WORD) & 1 == 1
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    pub(super) fn count_and(&self, other: &Self) -> usize {
        self.words.iter().zip(&other.words).map(|(a, b)| (a & b).count_ones() as usize).sum()
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Self { words: self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect(), len: self.len }
    }

    pub(super) fn without(&self, other: &Self) -> Self {
        Self { words: self.words.iter().zip(&other.words).map(|(a, b)| a & !b).collect(), len: self.len }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
    }

    pub(super) fn remove(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= !b);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            std::iter::successors((word != 0).then_some(word), |w| {
                let rest = w & (w - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |w| at * Self::WORD + w.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_behave_as_sets() {
        let mut a = Bits::empty(130);
        for at in [0, 63, 64, 129] {
            a.insert(at);
        }
        assert_eq!(a.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        let full = Bits::full(130);
        assert_eq!((full.count(), full.without(&a).count(), full.count_and(&a)), (130, 126, 4));
        let mut b = full.clone();
        b.remove(&a);
        assert!(!b.contains(64) && b.contains(65) && b.and(&a).is_empty());
        b.add(&a);
        assert_eq!(b, full);
        assert_eq!(Bits::full(128).count(), 128);
        assert!(Bits::full(0).is_empty());
    }
}
