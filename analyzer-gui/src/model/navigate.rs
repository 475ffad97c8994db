//! From one differing sample to the next.

use super::compare::Comparison;

/// In which order differing samples are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Order {
    /// x fastest, then y, then z.
    #[default]
    Scan,
    /// Largest distance first, among the largest [`super::evaluate::WORST`].
    Size,
}

impl Order {
    /// Every order.
    pub const ALL: [Self; 2] = [Self::Scan, Self::Size];

    /// Its name in the window.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scan => "in scan order",
            Self::Size => "by size",
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

/// The differing sample after (or before) one, going round at the end; `None` when nothing differs.
#[must_use]
pub fn step(comparison: &Comparison, order: Order, from: Option<usize>, step: Step) -> Option<usize> {
    let set = &comparison.mismatches;
    if comparison.mismatched == 0 {
        return None;
    }
    match order {
        Order::Scan => {
            let len = set.len();
            match step {
                Step::Next => {
                    let start = from.map_or(0, |i| i + 1).min(len);
                    (start..len).chain(0..start).find(|&i| set.contains(i))
                }
                Step::Previous => {
                    let end = from.unwrap_or(len).min(len);
                    (0..end).rev().chain((end..len).rev()).find(|&i| set.contains(i))
                }
            }
        }
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

#[cfg(test)]
mod tests {
    use super::{super::compare::*, *};

    fn comparison() -> Comparison {
        let expected = vec![0u32; 4 * 200];
        let mut got = expected.clone();
        got[4 * 3] = 5;
        got[4 * 70 + 1] = 90;
        got[4 * 199 + 3] = 7;
        compare(&got, &expected, None, Number::Float, 2)
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
        let c = compare(&[1, 2, 3, 4], &[1, 2, 3, 4], None, Number::Float, 8);
        assert_eq!(step(&c, Order::Scan, None, Step::Next), None);
        assert_eq!(step(&c, Order::Size, None, Step::Next), None);
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
