//! A set of sample indices, one bit a sample.

/// Which samples differ: one bit a sample, in the order of the samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
    len: usize,
}

impl Bitmap {
    /// A set over samples `0..len` from its bits, 64 samples a word, lowest bit first.
    pub(crate) fn from_words(mut words: Vec<u64>, len: usize) -> Self {
        words.resize(len.div_ceil(64), 0);
        Self { words, len }
    }

    /// Number of samples the set ranges over.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the set ranges over no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a sample is in the set; samples past the end are not.
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        index < self.len && self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// The samples in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(at * 64 + bit as usize)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterates_over_the_bits_that_contains_reports() {
        let set = Bitmap::from_words(vec![1 << 63 | 1, 0, 0b110], 131);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 129, 130]);
        assert_eq!((0..200).filter(|&i| set.contains(i)).collect::<Vec<_>>(), [0, 63, 129, 130]);
        assert_eq!(Bitmap::from_words(Vec::new(), 0).iter().count(), 0);
    }
}
