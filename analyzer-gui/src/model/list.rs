//! The list of dispatches: filter and order.

use super::{outcome::Verdict, worker::DispatchId};

/// What the list shows of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which dispatch.
    pub id: DispatchId,
    /// Name of its trace.
    pub trace: String,
    /// Its name.
    pub name: String,
    /// The instruction.
    pub op: String,
    /// The verdict, once there is one.
    pub verdict: Option<Verdict>,
    /// Samples that differ.
    pub mismatched: u64,
    /// The largest distance in ULPs.
    pub max_ulp: u32,
    /// The cause of most differing samples.
    pub cause: Option<String>,
    /// Whether fields were changed.
    pub changed: bool,
}

/// How the list is ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Sort {
    /// As the traces have them.
    #[default]
    Recorded,
    /// By name.
    Name,
    /// Gravest verdict first.
    Verdict,
    /// Most differing samples first.
    Mismatched,
    /// Largest distance first.
    Ulp,
}

impl Sort {
    /// Every order.
    pub const ALL: [Self; 5] = [Self::Recorded, Self::Name, Self::Verdict, Self::Mismatched, Self::Ulp];

    /// Its name in the window.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Recorded => "as recorded",
            Self::Name => "by name",
            Self::Verdict => "by verdict",
            Self::Mismatched => "by differing samples",
            Self::Ulp => "by ULP",
        }
    }
}

/// The rows of the list, with how many there are of each verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The rows in order.
    pub rows: Vec<Row>,
    /// Verdicts that occur, with their number.
    pub counts: Vec<(Verdict, usize)>,
}

/// The rows that pass a filter, in order. Every word of the filter must occur in the trace's or dispatch's name, the
/// instruction, the verdict or the cause; case does not matter. Rows without a verdict come last when verdicts order the list.
#[must_use]
pub fn arrange(mut rows: Vec<Row>, filter: &str, only: Option<Verdict>, sort: Sort) -> Listing {
    let words: Vec<String> = filter.split_whitespace().map(str::to_lowercase).collect();
    rows.retain(|row| {
        let verdict = row.verdict.map_or("", Verdict::name);
        let cause = row.cause.as_deref().unwrap_or_default();
        let text = format!("{} {} {} {verdict} {cause}", row.trace, row.name, row.op).to_lowercase();
        only.is_none_or(|only| row.verdict == Some(only)) && words.iter().all(|word| text.contains(word))
    });
    let last = |verdict: Option<Verdict>| (verdict.is_none(), verdict);
    match sort {
        Sort::Recorded => {}
        Sort::Name => rows.sort_by(|a, b| a.name.cmp(&b.name)),
        Sort::Verdict => rows.sort_by_key(|row| last(row.verdict)),
        Sort::Mismatched => rows.sort_by_key(|row| std::cmp::Reverse(row.mismatched)),
        Sort::Ulp => rows.sort_by_key(|row| std::cmp::Reverse(row.max_ulp)),
    }
    let count = |verdict| rows.iter().filter(|row| row.verdict == Some(verdict)).count();
    let counts = Verdict::ALL.map(|verdict| (verdict, count(verdict))).into_iter().filter(|(_, n)| *n > 0).collect();
    Listing { rows, counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(index: usize, name: &str, verdict: Option<Verdict>, mismatched: u64) -> Row {
        Row {
            id: DispatchId { trace: 0, index },
            trace: "Weights".to_owned(),
            name: name.to_owned(),
            op: "image_sample_lz".to_owned(),
            verdict,
            mismatched,
            max_ulp: mismatched as u32,
            cause: None,
            changed: false,
        }
    }

    fn names(listing: &Listing) -> Vec<&str> {
        listing.rows.iter().map(|row| row.name.as_str()).collect()
    }

    #[test]
    fn rows_are_filtered_and_ordered() {
        let rows = vec![
            row(0, "ties", Some(Verdict::Match), 0),
            row(1, "edge", None, 0),
            row(2, "border", Some(Verdict::Mismatch), 7),
            row(3, "wrap", Some(Verdict::Refused), 0),
        ];
        let arranged = |filter, only, sort| arrange(rows.clone(), filter, only, sort);
        assert_eq!(names(&arranged("", None, Sort::Recorded)), ["ties", "edge", "border", "wrap"]);
        assert_eq!(names(&arranged("weights SAMPLE r", None, Sort::Recorded)), ["border", "wrap"]);
        assert_eq!(names(&arranged("refused", None, Sort::Recorded)), ["wrap"]);
        assert_eq!(names(&arranged("", Some(Verdict::Match), Sort::Recorded)), ["ties"]);
        assert_eq!(names(&arranged("", None, Sort::Verdict)), ["border", "wrap", "ties", "edge"]);
        assert_eq!(names(&arranged("", None, Sort::Name)), ["border", "edge", "ties", "wrap"]);
        assert_eq!(names(&arranged("", None, Sort::Mismatched))[0], "border");
        assert_eq!(
            arranged("", None, Sort::Name).counts,
            [(Verdict::Mismatch, 1), (Verdict::Refused, 1), (Verdict::Match, 1)]
        );
    }
}
