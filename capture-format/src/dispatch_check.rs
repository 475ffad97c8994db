//! What holds for every dispatch, whichever form it is stored in.

use std::fmt;

use crate::{Column, Dispatch, OpKind, dispatch::MAX_TABLE_ENTRIES};

/// A dispatch that contradicts itself: which part of it, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct DispatchProblem {
    /// The part of the dispatch, by its key in case files.
    pub field: &'static str,
    /// What is wrong, and what was expected.
    pub problem: String,
}

fn problem<T>(field: &'static str, problem: impl fmt::Display) -> Result<T, DispatchProblem> {
    Err(DispatchProblem { field, problem: problem.to_string() })
}

impl Dispatch {
    /// Checks that the parts of the dispatch fit together. Every reader and writer of this crate does.
    ///
    /// * `name` is not empty;
    /// * each size in `grid` is at least 1, and their product fits 64 bits;
    /// * a load has no sampler, every other op has one;
    /// * a table of T#s or S#s has at most [`MAX_TABLE_ENTRIES`] entries, and S#s only where the op takes one;
    /// * `dmask` is 1 to 15;
    /// * `coords` has at least one column, none twice, and a row for each sample;
    /// * the columns `image` and `sampler` are there exactly where there is a table of several entries to choose from, and each
    ///   row names an entry that is there;
    /// * `expected` has four words a sample; its mask, if there is one, has a byte a sample, uses bits 0 to 3 only, and a word
    ///   that was not measured is 0.
    ///
    /// Whether there are as many texels as the T# asks for, and whether the columns are those that the op and the view take,
    /// needs the decoded descriptors and is left to who decodes them.
    ///
    /// # Errors
    /// The first part, in the order above, for which this does not hold.
    pub fn check(&self) -> Result<(), DispatchProblem> {
        if self.name.is_empty() {
            return problem("name", "a dispatch needs a name");
        }
        let mut samples = 1u64;
        for size in self.grid {
            samples = match samples.checked_mul(u64::from(size)) {
                Some(0) => return problem("grid", "each of the three sizes is at least 1"),
                Some(product) => product,
                None => return problem("grid", "the number of samples does not fit 64 bits"),
            };
        }
        match (self.op.kind, self.sampler) {
            (OpKind::Load, Some(_)) => return problem("sampler", format_args!("{} takes no S#", self.op)),
            (OpKind::Sample | OpKind::Gather4, None) => {
                return problem("sampler", format_args!("{} needs an S# (4 words)", self.op));
            }
            _ => {}
        }
        self.check_tables()?;
        if self.dmask.is_some_and(|mask| !(1..=15).contains(&mask)) {
            return problem("dmask", "expected 1 to 15");
        }
        self.check_coords(samples)?;
        self.check_entries()?;
        self.check_expected(samples)
    }

    fn check_tables(&self) -> Result<(), DispatchProblem> {
        if self.op.kind == OpKind::Load && !self.more_samplers.is_empty() {
            return problem("samplers", format_args!("{} takes no S#", self.op));
        }
        for (field, count) in [("images", self.image_count()), ("samplers", self.sampler_count())] {
            if count > MAX_TABLE_ENTRIES {
                return problem(field, format_args!("{count} entries, expected at most {MAX_TABLE_ENTRIES}"));
            }
        }
        Ok(())
    }

    /// Holds the columns that choose descriptors against the tables. The columns are known to have whole rows.
    fn check_entries(&self) -> Result<(), DispatchProblem> {
        let tables = [
            (Column::Image, "T#", "images", self.image_count()),
            (Column::Sampler, "S#", "samplers", self.sampler_count()),
        ];
        for (column, descriptor, field, count) in tables {
            match (self.coords.index_of(column), count > 1) {
                (None, false) => {}
                (None, true) => {
                    return problem(
                        "coords",
                        format_args!("{count} {descriptor}s in {field}, but no column {column} to choose among them"),
                    );
                }
                (Some(_), false) => {
                    return problem(
                        "coords",
                        format_args!("column {column}: there is no table of {descriptor}s ({field}) to choose from"),
                    );
                }
                (Some(at), true) => {
                    let chosen = self.coords.words.chunks_exact(self.coords.columns.len()).map(|row| row[at]);
                    if let Some((row, entry)) = chosen.enumerate().find(|(_, entry)| *entry as usize >= count) {
                        return problem(
                            "coords",
                            format_args!("row {row}, column {column}: entry {entry}, but {field} has {count}"),
                        );
                    }
                }
            }
        }
        Ok(())
    }

    fn check_coords(&self, samples: u64) -> Result<(), DispatchProblem> {
        let columns = &self.coords.columns;
        if columns.is_empty() {
            return problem("coords", "at least one column is needed");
        }
        if let Some(twice) = columns.iter().enumerate().find(|(i, column)| columns[..*i].contains(column)) {
            return problem("coords", format_args!("column {} stands twice", twice.1));
        }
        let words = samples.checked_mul(columns.len() as u64);
        if words != Some(self.coords.words.len() as u64) {
            return problem(
                "coords",
                format_args!(
                    "expected {samples} rows of {} for a grid of {:?}, found {} words",
                    columns.len(),
                    self.grid,
                    self.coords.words.len()
                ),
            );
        }
        Ok(())
    }

    fn check_expected(&self, samples: u64) -> Result<(), DispatchProblem> {
        let Some(expected) = &self.expected else { return Ok(()) };
        if samples.checked_mul(4) != Some(expected.words.len() as u64) {
            return problem(
                "expected",
                format_args!(
                    "expected 4 words for each of {samples} samples of a grid of {:?}, found {} words",
                    self.grid,
                    expected.words.len()
                ),
            );
        }
        let Some(measured) = &expected.measured else { return Ok(()) };
        if measured.len() as u64 != samples {
            return problem(
                "expected",
                format_args!("the mask of measured channels has {} bytes, expected {samples}", measured.len()),
            );
        }
        for (sample, (&mask, words)) in measured.iter().zip(expected.words.chunks_exact(4)).enumerate() {
            if mask > 0xf {
                return problem(
                    "expected",
                    format_args!("sample {sample}: mask of measured channels {mask:#04x}, expected 0 to 15"),
                );
            }
            if let Some(channel) = (0..4).find(|channel| mask & (1 << channel) == 0 && words[*channel] != 0) {
                return problem(
                    "expected",
                    format_args!(
                        "sample {sample}, channel {}: {:#010x} where nothing was measured, expected 0",
                        ["X", "Y", "Z", "W"][channel],
                        words[channel]
                    ),
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Coords, Expected, Op, TableImage};

    fn dispatch() -> Dispatch {
        Dispatch {
            name: "d".to_owned(),
            op: Op::SAMPLE_LZ,
            grid: [2, 1, 1],
            image: [0; 8],
            sampler: Some([0; 4]),
            more_images: Vec::new(),
            more_samplers: Vec::new(),
            border_table: Vec::new(),
            dmask: None,
            texels: vec![1].into(),
            coords: Coords { columns: vec![Column::U, Column::V], words: vec![0; 4].into() },
            expected: Some(Expected { words: vec![7, 0, 0, 0, 0, 0, 0, 9].into(), measured: Some(vec![1, 8]) }),
        }
    }

    #[test]
    fn a_dispatch_that_holds_together_passes() {
        assert_eq!(dispatch().check(), Ok(()));
    }

    fn table() -> Dispatch {
        let image = TableImage { words: [1; 8], texels: vec![2].into() };
        Dispatch {
            more_images: vec![image],
            more_samplers: vec![[1; 4]; 2],
            coords: Coords {
                columns: vec![Column::U, Column::Image, Column::V, Column::Sampler],
                words: vec![0, 1, 0, 2, 0, 0, 0, 0].into(),
            },
            ..dispatch()
        }
    }

    #[test]
    fn tables_and_the_columns_that_choose_belong_together() {
        assert_eq!(table().check(), Ok(()));
        assert_eq!(table().entries_of(0), Some(crate::Entries { image: 1, sampler: 2 }));
        assert_eq!(table().entries_of(2), None);
        assert_eq!((table().image_count(), table().sampler_count()), (2, 3));
        assert_eq!(table().image_at(1).map(|(words, texels)| (words[0], texels[0])), Some((1, 2)));
        assert!(table().image_at(2).is_none() && table().sampler_at(3).is_none());
        type Change = fn(&mut Dispatch);
        let cases: [(&str, Change, &str); 7] = [
            ("coords", |d| d.more_images.clear(), "column image: there is no table of T#s (images) to choose from"),
            (
                "coords",
                |d| d.more_samplers.clear(),
                "column sampler: there is no table of S#s (samplers) to choose from",
            ),
            (
                "coords",
                |d| d.coords.columns[1] = Column::W,
                "2 T#s in images, but no column image to choose among them",
            ),
            (
                "coords",
                |d| d.coords.words = vec![0, 1, 0, 2, 0, 2, 0, 0].into(),
                "row 1, column image: entry 2, but images has 2",
            ),
            (
                "coords",
                |d| d.coords.words = vec![0, 1, 0, u32::MAX, 0, 0, 0, 0].into(),
                "row 0, column sampler: entry 4294967295, but samplers has 3",
            ),
            ("samplers", |d| (d.op, d.sampler) = (Op::LOAD, None), "image_load takes no S#"),
            (
                "images",
                |d| d.more_images = vec![d.more_images[0].clone(); MAX_TABLE_ENTRIES],
                "65537 entries, expected at most 65536",
            ),
        ];
        for (field, change, problem) in cases {
            let mut changed = table();
            change(&mut changed);
            assert_eq!(changed.check(), Err(DispatchProblem { field, problem: problem.to_owned() }));
        }
    }

    #[test]
    fn each_contradiction_names_its_field() {
        type Change = fn(&mut Dispatch);
        let cases: [(&str, Change, &str); 13] = [
            ("name", |d| d.name.clear(), "a dispatch needs a name"),
            ("grid", |d| d.grid = [2, 0, 1], "each of the three sizes is at least 1"),
            ("grid", |d| d.grid = [u32::MAX; 3], "the number of samples does not fit 64 bits"),
            ("sampler", |d| d.sampler = None, "image_sample_lz needs an S# (4 words)"),
            ("sampler", |d| d.op = Op::LOAD, "image_load takes no S#"),
            ("dmask", |d| d.dmask = Some(16), "expected 1 to 15"),
            ("coords", |d| d.coords.columns.clear(), "at least one column is needed"),
            ("coords", |d| d.coords.columns = vec![Column::U; 2], "column u stands twice"),
            (
                "coords",
                |d| d.coords.words = vec![0; 5].into(),
                "expected 2 rows of 2 for a grid of [2, 1, 1], found 5 words",
            ),
            (
                "expected",
                |d| d.expected.as_mut().unwrap().words = vec![0; 7].into(),
                "expected 4 words for each of 2 samples of a grid of [2, 1, 1], found 7 words",
            ),
            (
                "expected",
                |d| d.expected.as_mut().unwrap().measured = Some(vec![15]),
                "the mask of measured channels has 1 bytes, expected 2",
            ),
            (
                "expected",
                |d| d.expected.as_mut().unwrap().measured = Some(vec![1, 0x18]),
                "sample 1: mask of measured channels 0x18, expected 0 to 15",
            ),
            (
                "expected",
                |d| d.expected.as_mut().unwrap().measured = Some(vec![1, 4]),
                "sample 1, channel W: 0x00000009 where nothing was measured, expected 0",
            ),
        ];
        for (field, change, problem) in cases {
            let mut changed = dispatch();
            change(&mut changed);
            assert_eq!(changed.check(), Err(DispatchProblem { field, problem: problem.to_owned() }));
        }
    }
}
