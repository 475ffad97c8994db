//! From one differing sample to the next.

use super::compare::Comparison;

/// In which order differing samples are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Order {
    /// x fastest, then y, then z.
    #[default]
    Scan,
    /// Those of one cause, in scan order.
    Cause,
    /// Largest distance first, among the largest [`super::compare::WORST`].
    Size,
}

impl Order {
    /// Every order.
    pub const ALL: [Self; 3] = [Self::Scan, Self::Size, Self::Cause];

    /// Its name in the window.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scan => "in scan order",
            Self::Size => "by size",
            Self::Cause => "of a cause",
        }
    }
}

/// Forwards or backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// To the next.
    Next,
    /// To the one before.
    Previous,
}

/// The differing sample after (or before) one, going round at the end; `None` when nothing differs. [`Order::Cause`] needs the
/// causes, which are not known here, and counts as scan order: see [`super::causes::Causes::step`].
#[must_use]
pub fn step(comparison: &Comparison, order: Order, from: Option<usize>, step: Step) -> Option<usize> {
    let set = &comparison.mismatches;
    if comparison.mismatched == 0 {
        return None;
    }
    match order {
        Order::Scan | Order::Cause => match step {
            Step::Next => set.first_in(from.map_or(0, |i| i + 1)..set.len()).or_else(|| set.first_in(0..set.len())),
            Step::Previous => set.last_before(from.unwrap_or(usize::MAX)).or_else(|| set.last_before(usize::MAX)),
        },
        Order::Size => {
            let worst = &comparison.worst;
            let at = from.and_then(|i| worst.iter().position(|d| d.index == i as u64));
            let next = match (step, at) {
                (Step::Next, None) => 0,
                (Step::Next, Some(at)) => (at + 1) % worst.len().max(1),
                (Step::Previous, None | Some(0)) => worst.len().checked_sub(1)?,
                (Step::Previous, Some(at)) => at - 1,
            };
            worst.get(next).and_then(|d| usize::try_from(d.index).ok())
        }
    }
}

/// Position of a sample in its grid.
#[must_use]
pub fn position(index: usize, grid: [u32; 3]) -> [u32; 3] {
    let (width, height) = (grid[0].max(1) as usize, grid[1].max(1) as usize);
    [(index % width) as u32, (index / width % height) as u32, (index / width / height) as u32]
}

/// Index of a position, if it lies in the grid.
#[must_use]
pub fn index(at: [u32; 3], grid: [u32; 3]) -> Option<usize> {
    let inside = at.iter().zip(grid).all(|(&at, size)| at < size);
    let [x, y, z] = at.map(|v| v as usize);
    inside.then(|| (z * grid[1] as usize + y) * grid[0] as usize + x)
}

/// How the samples of a grid are laid out as images.
///
/// A grid of one long row is folded, so that it fills an area: row by row from the left, the last row may be short. Every
/// other grid is shown as it is, slice by slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    grid: [u32; 3],
    columns: u32,
}

impl Layout {
    /// A row of more samples is folded.
    const FOLD_FROM: u32 = 512;

    /// The layout of a grid.
    #[must_use]
    pub fn of(grid: [u32; 3]) -> Self {
        let [width, height, depth] = grid;
        let fold = height == 1 && depth == 1 && width > Self::FOLD_FROM;
        let columns = if fold { (f64::from(width).sqrt() as u32).next_power_of_two() } else { width };
        Self { grid, columns }
    }

    /// Whether rows are not those of the grid.
    #[must_use]
    pub fn is_folded(self) -> bool {
        self.columns != self.grid[0]
    }

    /// Width and height of an image.
    #[must_use]
    pub fn size(self) -> [u32; 2] {
        let [width, height, _] = self.grid;
        if self.is_folded() { [self.columns, width.div_ceil(self.columns)] } else { [width, height] }
    }

    /// Number of images.
    #[must_use]
    pub fn slices(self) -> u32 {
        self.grid[2]
    }

    /// The sample at a place of an image.
    #[must_use]
    #[inline]
    pub fn index(self, x: u32, y: u32, slice: u32) -> Option<usize> {
        if self.is_folded() {
            let index = y as usize * self.columns as usize + x as usize;
            (x < self.columns && index < self.grid[0] as usize && slice == 0).then_some(index)
        } else {
            index([x, y, slice], self.grid)
        }
    }

    /// Where a sample is: x and y in its image, and the image.
    #[must_use]
    pub fn place(self, index: usize) -> ([u32; 2], u32) {
        if self.is_folded() {
            let columns = self.columns as usize;
            ([(index % columns) as u32, (index / columns) as u32], 0)
        } else {
            let [x, y, z] = position(index, self.grid);
            ([x, y], z)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::compare::compare_row, *};

    fn comparison() -> Comparison {
        let expected = vec![0u32; 4 * 200];
        let mut got = expected.clone();
        got[4 * 3] = 5;
        got[4 * 70 + 1] = 90;
        got[4 * 199 + 3] = 7;
        compare_row(&got, &expected, 2)
    }

    #[test]
    fn scan_order_goes_round() {
        let c = comparison();
        let next = |from| step(&c, Order::Scan, from, Step::Next);
        let previous = |from| step(&c, Order::Scan, from, Step::Previous);
        assert_eq!([next(None), next(Some(3)), next(Some(100)), next(Some(199))], [3, 70, 199, 3].map(Some));
        assert_eq!(
            [previous(None), previous(Some(199)), previous(Some(70)), previous(Some(3))],
            [199, 70, 3, 199].map(Some)
        );
    }

    #[test]
    fn by_size_goes_round_the_largest() {
        let c = comparison();
        let next = |from| step(&c, Order::Size, from, Step::Next);
        assert_eq!([next(None), next(Some(70)), next(Some(199)), next(Some(3))], [70, 199, 70, 70].map(Some));
        assert_eq!(step(&c, Order::Size, Some(70), Step::Previous), Some(199));
    }

    #[test]
    fn nothing_differs() {
        let c = compare_row(&[1, 2, 3, 4], &[1, 2, 3, 4], 8);
        assert_eq!(step(&c, Order::Scan, None, Step::Next), None);
        assert_eq!(step(&c, Order::Size, None, Step::Next), None);
    }

    #[test]
    fn long_rows_are_folded() {
        let layout = Layout::of([2160, 1, 1]);
        assert_eq!((layout.size(), layout.is_folded()), ([64, 34], true));
        for index in [0, 63, 64, 2159] {
            let ([x, y], slice) = layout.place(index);
            assert_eq!(layout.index(x, y, slice), Some(index));
        }
        assert_eq!(layout.index(63, 33, 0), None, "past the last sample");
        assert_eq!(layout.index(64, 0, 0), None);
        for grid in [[512, 1, 1], [5000, 2, 1], [600, 1, 2]] {
            assert_eq!(Layout::of(grid).size(), [grid[0], grid[1]]);
        }
        assert_eq!(Layout::of([600, 1, 2]).place(700), ([100, 0], 1));
    }

    #[test]
    fn positions_and_indices_agree() {
        let grid = [5, 3, 2];
        for i in 0..30 {
            assert_eq!(index(position(i, grid), grid), Some(i));
        }
        assert_eq!(index([5, 0, 0], grid), None);
    }
}
