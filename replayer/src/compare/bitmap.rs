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

    /// The first sample of the set in a range. What lies before it costs a look at each 64th sample.
    #[must_use]
    pub fn first_in(&self, range: std::ops::Range<usize>) -> Option<usize> {
        let end = range.end.min(self.len);
        let mut at = range.start / 64;
        let mut mask = u64::MAX << (range.start % 64);
        while at * 64 < end {
            let word = self.words[at] & mask;
            if word != 0 {
                return Some(at * 64 + word.trailing_zeros() as usize).filter(|&found| found < end);
            }
            (at, mask) = (at + 1, u64::MAX);
        }
        None
    }

    /// The last sample of the set before one; an index past the end asks for the last of all.
    #[must_use]
    pub fn last_before(&self, index: usize) -> Option<usize> {
        let index = index.min(self.len);
        let mut at = index / 64;
        let mut word = self.words.get(at).map_or(0, |word| word & !(u64::MAX << (index % 64)));
        while word == 0 {
            at = at.checked_sub(1)?;
            word = self.words[at];
        }
        Some(at * 64 + 63 - word.leading_zeros() as usize)
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

    #[test]
    fn neighbours_are_those_of_a_plain_search() {
        let sets = [
            Bitmap::from_words(vec![1 << 63 | 1, 0, 0b110], 131),
            Bitmap::from_words(vec![0, 0], 128),
            Bitmap::from_words(vec![u64::MAX; 2], 128),
            Bitmap::from_words(Vec::new(), 0),
        ];
        for set in sets {
            for index in 0..200 {
                for end in [index, index + 1, index + 70, 200] {
                    assert_eq!(set.first_in(index..end), (index..end).find(|&i| set.contains(i)), "{index}..{end}");
                }
                assert_eq!(set.last_before(index), (0..index).rev().find(|&i| set.contains(i)), "{index}");
            }
            assert_eq!(set.last_before(usize::MAX), set.iter().last());
        }
    }
}
