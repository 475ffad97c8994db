//! How far a set of rules is from what was recorded.

use capture_format::{Coords, Dispatch, LodSource};

use super::{LeftOut, Recorded};
use crate::{
    materialise::materialise,
    reference::Sampler,
    rules::Rules,
    table::{Parts, integer_results},
};

/// Names a sample.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SampleRef {
    /// Name of the trace.
    pub trace: String,
    /// Name of the dispatch.
    pub dispatch: String,
    /// Number of the sample in the dispatch.
    pub sample: usize,
}

/// A place among the samples: item, and sample in it.
pub type Place = (usize, usize);

/// Samples of a dispatch.
struct Item {
    trace: String,
    dispatch: Dispatch,
    /// Number of each sample in the recorded dispatch.
    numbers: Vec<usize>,
    expected: Vec<u32>,
    measured: Vec<u8>,
    float: bool,
}

/// Recorded samples that can be modelled.
pub struct Samples {
    items: Vec<Item>,
}

/// The distance of a word that is wrong altogether: a NaN for a number, an integer.
const FAR: u64 = 32;

impl Samples {
    /// The samples of all dispatches that have an oracle and that are modelled.
    pub fn collect(recorded: &[Recorded], rules: &Rules) -> (Self, Vec<LeftOut>) {
        let (mut items, mut left_out) = (Vec::new(), Vec::new());
        for Recorded { trace, dispatch } in recorded {
            match items_of(trace, dispatch, rules) {
                Ok(found) => items.extend(found),
                Err(reason) => {
                    left_out.push(LeftOut { trace: trace.clone(), dispatch: dispatch.name.clone(), reason });
                }
            }
        }
        (Self { items }, left_out)
    }

    /// Number of samples.
    pub fn count(&self) -> usize {
        self.items.iter().map(|item| item.numbers.len()).sum()
    }

    /// Names a sample.
    pub fn name(&self, (item, sample): Place) -> SampleRef {
        let item = &self.items[item];
        SampleRef { trace: item.trace.clone(), dispatch: item.dispatch.name.clone(), sample: item.numbers[sample] }
    }

    /// At most `count` samples of each dispatch, spread evenly; quads stay whole, so dispatches with LODs from them do.
    pub fn thinned(&self, count: usize) -> Self {
        let keep = |item: &Item| {
            let have = item.numbers.len();
            let step = have.div_ceil(count).max(1);
            // A step that shares no factor with powers of two, so that grids are not met in one column only.
            let step = if step > 1 { step | 1 } else { 1 };
            (0..have).step_by(step).collect::<Vec<_>>()
        };
        Self { items: self.items.iter().map(|item| item.only(&keep(item))).collect() }
    }

    /// These samples alone.
    pub fn only(&self, places: &[Place]) -> Self {
        let items = self.items.iter().enumerate().filter_map(|(index, item)| {
            let samples: Vec<usize> = places.iter().filter(|(i, _)| *i == index).map(|(_, sample)| *sample).collect();
            (!samples.is_empty()).then(|| item.only(&samples))
        });
        Self { items: items.collect() }
    }

    /// The distance of rules from the recorded words in bits; `None` as soon as it is above `limit`.
    pub fn distance(&self, rules: &Rules, limit: u64) -> Option<u64> {
        let mut total = 0;
        for item in &self.items {
            total += item.distance(rules);
            if total > limit {
                return None;
            }
        }
        Some(total)
    }

    /// The number of samples that differ; `None` as soon as it is above `limit`.
    pub fn mismatched(&self, rules: &Rules, limit: usize) -> Option<usize> {
        let mut total = 0;
        for item in &self.items {
            total += item.mismatches(rules).len();
            if total > limit {
                return None;
            }
        }
        Some(total)
    }

    /// The samples that differ.
    pub fn mismatches(&self, rules: &Rules) -> Vec<Place> {
        let of_item = |(index, item): (usize, &Item)| {
            item.mismatches(rules).into_iter().map(move |sample| (index, sample)).collect::<Vec<_>>()
        };
        self.items.iter().enumerate().flat_map(of_item).collect()
    }
}

/// The samples of a dispatch; with tables of descriptors, an item for each pair in use.
fn items_of(trace: &str, dispatch: &Dispatch, rules: &Rules) -> Result<Vec<Item>, String> {
    let expected = dispatch.expected.as_ref().ok_or("no oracle")?;
    let count = dispatch.coords.rows();
    if expected.words.len() != count * 4 || expected.measured.as_ref().is_some_and(|m| m.len() != count) {
        return Err(format!("{} expected words for {count} samples", expected.words.len()));
    }
    let parts = Parts::new(dispatch).map_err(|refusal| refusal.to_string())?;
    let states = parts.states(rules).map_err(|refusal| refusal.to_string())?;
    parts.reference(rules, &states).map_err(|refusal| refusal.to_string())?;
    let item = |(part, alone): (usize, &Dispatch)| {
        let numbers: Vec<usize> = parts.samples(part).collect();
        let item = Item {
            trace: trace.to_owned(),
            dispatch: Dispatch { expected: None, ..alone.clone() },
            expected: numbers.iter().flat_map(|&n| expected.sample(n).unwrap_or_default()).collect(),
            measured: numbers.iter().map(|&n| expected.measured_channels(n)).collect(),
            float: !integer_results(alone),
            numbers,
        };
        let measured: Vec<usize> = (0..item.numbers.len()).filter(|&n| item.measured[n] != 0).collect();
        item.only(&measured)
    };
    Ok(parts.dispatches().iter().enumerate().map(item).collect())
}

impl Item {
    /// Some of the samples. Dispatches whose LODs come from quads are kept whole, and samples in them stop counting.
    fn only(&self, samples: &[usize]) -> Self {
        let quads = matches!(self.dispatch.op.lod, LodSource::Implicit | LodSource::Bias);
        let mut item = Self {
            trace: self.trace.clone(),
            dispatch: self.dispatch.clone(),
            numbers: self.numbers.clone(),
            expected: self.expected.clone(),
            measured: self.measured.clone(),
            float: self.float,
        };
        if samples.len() == self.numbers.len() {
            return item;
        }
        if quads {
            let mut kept = vec![0; self.measured.len()];
            for &sample in samples {
                kept[sample] = self.measured[sample];
            }
            item.measured = kept;
            return item;
        }
        let width = self.dispatch.coords.columns.len();
        let rows = |words: &[u32], width: usize| -> Vec<u32> {
            samples.iter().flat_map(|&n| words[n * width..(n + 1) * width].iter().copied()).collect()
        };
        let words = rows(&self.dispatch.coords.words, width);
        item.dispatch.coords = Coords { columns: self.dispatch.coords.columns.clone(), words: words.into() };
        item.dispatch.grid = [samples.len() as u32, 1, 1];
        item.numbers = samples.iter().map(|&n| self.numbers[n]).collect();
        item.expected = rows(&self.expected, 4);
        item.measured = samples.iter().map(|&n| self.measured[n]).collect();
        item
    }

    /// The words under rules; `None` when these do not model the dispatch.
    fn results(&self, rules: &Rules) -> Option<Vec<u32>> {
        let state = materialise(&self.dispatch, rules).ok()?;
        Some(Sampler::new(*rules, &state, &self.dispatch.texels, &self.dispatch.coords).ok()?.run())
    }

    fn channels(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.expected.len()).filter(|n| self.measured[n / 4] >> (n % 4) & 1 == 1)
    }

    fn distance(&self, rules: &Rules) -> u64 {
        match self.results(rules) {
            Some(words) => self.channels().map(|n| distance(words[n], self.expected[n], self.float)).sum(),
            None => self.channels().count() as u64 * FAR,
        }
    }

    fn mismatches(&self, rules: &Rules) -> Vec<usize> {
        let words = self.results(rules);
        let mut differ: Vec<usize> = match &words {
            Some(words) => self
                .channels()
                .filter(|&n| distance(words[n], self.expected[n], self.float) > 0)
                .map(|n| n / 4)
                .collect(),
            None => self.channels().map(|n| n / 4).collect(),
        };
        differ.dedup();
        differ
    }
}

/// The length in bits of the number of values between two words; 0 for equal words and for two NaNs.
fn distance(got: u32, expected: u32, float: bool) -> u64 {
    if got == expected {
        return 0;
    }
    let nan = |word: u32| word & 0x7fff_ffff > 0x7f80_0000;
    if !float || nan(got) != nan(expected) {
        return FAR;
    }
    if nan(got) {
        return 0;
    }
    let place = |word: u32| {
        let magnitude = i64::from(word & 0x7fff_ffff);
        if word >> 31 == 1 { -magnitude } else { magnitude }
    };
    let between = place(got).abs_diff(place(expected));
    // +0 and -0 differ, if by nothing else.
    u64::from(64 - between.leading_zeros()).max(1)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_count_bits_of_ulps() {
        let bits = |x: f32| x.to_bits();
        assert_eq!(distance(bits(1.0), bits(1.0), true), 0);
        assert_eq!(distance(bits(1.0), bits(1.0) + 1, true), 1);
        assert_eq!(distance(bits(1.0), bits(1.0) + 4, true), 3);
        assert_eq!(distance(bits(0.0), bits(-0.0), true), 1);
        assert_eq!(distance(1, 0x8000_0001, true), 2);
        assert_eq!(distance(0x7fc0_0000, 0xffc0_0001, true), 0);
        assert_eq!(distance(0x7fc0_0000, bits(1.0), true), 32);
        assert_eq!(distance(5, 4, false), 32);
    }
}
