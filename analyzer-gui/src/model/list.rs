//! The list of traces and dispatches: filter, order, sums.

use std::collections::{BTreeSet, HashMap};

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

/// What is asked of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Words that must occur in the trace's or dispatch's name, the instruction, the verdict or the cause; case does not
    /// matter.
    pub filter: String,
    /// The only verdict that is listed.
    pub only: Option<Verdict>,
    /// The order.
    pub sort: Sort,
    /// Traces whose dispatches are folded away.
    pub folded: BTreeSet<usize>,
}

/// A trace in the list, over its dispatches that pass the filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Number of the trace.
    pub trace: usize,
    /// Its name.
    pub name: String,
    /// Dispatches that pass the filter.
    pub dispatches: usize,
    /// Verdicts that occur, gravest first, with their number.
    pub counts: Vec<(Verdict, usize)>,
    /// Samples that differ.
    pub mismatched: u64,
    /// Whether its dispatches are folded away.
    pub folded: bool,
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A trace; its dispatches follow.
    Group(Group),
    /// A dispatch.
    Row(Row),
}

/// The lines of the list, with how many dispatches there are of each verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The lines in order.
    pub lines: Vec<Line>,
    /// Dispatches that pass the filter, folded away or not.
    pub dispatches: usize,
    /// Verdicts that occur, gravest first, with their number.
    pub counts: Vec<(Verdict, usize)>,
}

impl Listing {
    /// The dispatches that are seen, in order.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.lines.iter().filter_map(|line| match line {
            Line::Row(row) => Some(row),
            Line::Group(_) => None,
        })
    }
}

/// The dispatches that pass the filter, by trace. Dispatches are in order within their trace, and traces in the order of their
/// first dispatches. Those without a verdict come last when verdicts order the list. `rows` are as the traces have them.
#[must_use]
pub fn arrange(mut rows: Vec<Row>, query: &Query) -> Listing {
    let words: Vec<String> = query.filter.split_whitespace().map(str::to_lowercase).collect();
    rows.retain(|row| {
        if query.only.is_some_and(|only| row.verdict != Some(only)) {
            return false;
        }
        if words.is_empty() {
            return true;
        }
        let verdict = row.verdict.map_or("", Verdict::name);
        let cause = row.cause.as_deref().unwrap_or_default();
        let text = format!("{} {} {} {verdict} {cause}", row.trace, row.name, row.op).to_lowercase();
        words.iter().all(|word| text.contains(word))
    });
    let last = |verdict: Option<Verdict>| (verdict.is_none(), verdict);
    match query.sort {
        Sort::Recorded => {}
        Sort::Name => rows.sort_by(|a, b| a.name.cmp(&b.name)),
        Sort::Verdict => rows.sort_by_key(|row| last(row.verdict)),
        Sort::Mismatched => rows.sort_by_key(|row| std::cmp::Reverse(row.mismatched)),
        Sort::Ulp => rows.sort_by_key(|row| std::cmp::Reverse(row.max_ulp)),
    }
    let mut listing = Listing { dispatches: rows.len(), counts: counts(&rows), lines: Vec::new() };
    let mut places: HashMap<usize, usize> = HashMap::new();
    let mut by_trace: Vec<Vec<Row>> = Vec::new();
    for row in rows {
        let place = *places.entry(row.id.trace).or_insert_with(|| {
            by_trace.push(Vec::new());
            by_trace.len() - 1
        });
        by_trace[place].push(row);
    }
    for rows in by_trace {
        let Some(first) = rows.first() else { continue };
        let folded = query.folded.contains(&first.id.trace);
        listing.lines.push(Line::Group(Group {
            trace: first.id.trace,
            name: first.trace.clone(),
            dispatches: rows.len(),
            counts: counts(&rows),
            mismatched: rows.iter().map(|row| row.mismatched).sum(),
            folded,
        }));
        if !folded {
            listing.lines.extend(rows.into_iter().map(Line::Row));
        }
    }
    listing
}

fn counts(rows: &[Row]) -> Vec<(Verdict, usize)> {
    let mut counts = Verdict::ALL.map(|verdict| (verdict, 0));
    for verdict in rows.iter().filter_map(|row| row.verdict) {
        counts.iter_mut().filter(|(known, _)| *known == verdict).for_each(|(_, count)| *count += 1);
    }
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(trace: usize, index: usize, name: &str, verdict: Option<Verdict>, mismatched: u64) -> Row {
        Row {
            id: DispatchId { trace, index },
            trace: ["Weights", "Borders"][trace].to_owned(),
            name: name.to_owned(),
            op: "image_sample_lz".to_owned(),
            verdict,
            mismatched,
            max_ulp: mismatched as u32,
            cause: None,
            changed: false,
        }
    }

    fn rows() -> Vec<Row> {
        vec![
            row(0, 0, "ties", Some(Verdict::Match), 0),
            row(0, 1, "edge", None, 0),
            row(0, 2, "border", Some(Verdict::Mismatch), 7),
            row(0, 3, "wrap", Some(Verdict::Refused), 0),
            row(1, 0, "black", Some(Verdict::Mismatch), 9),
        ]
    }

    /// The lines as text: traces in capitals.
    fn lines(query: &Query) -> Vec<String> {
        let text = |line: &Line| match line {
            Line::Group(group) => group.name.to_uppercase(),
            Line::Row(row) => row.name.clone(),
        };
        arrange(rows(), query).lines.iter().map(text).collect()
    }

    #[test]
    fn dispatches_are_filtered_and_ordered_by_trace() {
        let query = |filter: &str, only, sort| Query { filter: filter.to_owned(), only, sort, folded: BTreeSet::new() };
        let all = |sort| lines(&query("", None, sort));
        assert_eq!(all(Sort::Recorded), ["WEIGHTS", "ties", "edge", "border", "wrap", "BORDERS", "black"]);
        assert_eq!(all(Sort::Mismatched)[..3], ["BORDERS", "black", "WEIGHTS"], "the trace with the most comes first");
        assert_eq!(all(Sort::Verdict), ["WEIGHTS", "border", "wrap", "ties", "edge", "BORDERS", "black"]);
        assert_eq!(all(Sort::Name), ["BORDERS", "black", "WEIGHTS", "border", "edge", "ties", "wrap"]);
        assert_eq!(lines(&query("weights SAMPLE r", None, Sort::Recorded)), ["WEIGHTS", "border", "wrap"]);
        assert_eq!(lines(&query("refused", None, Sort::Recorded)), ["WEIGHTS", "wrap"]);
        assert_eq!(lines(&query("", Some(Verdict::Match), Sort::Recorded)), ["WEIGHTS", "ties"]);
        assert!(lines(&query("nothing", None, Sort::Recorded)).is_empty());
    }

    #[test]
    fn a_trace_adds_its_dispatches_up() {
        let listing = arrange(rows(), &Query { folded: BTreeSet::from([0]), ..Query::default() });
        assert_eq!(listing.dispatches, 5);
        assert_eq!(listing.counts, [(Verdict::Mismatch, 2), (Verdict::Refused, 1), (Verdict::Match, 1)]);
        let Line::Group(group) = &listing.lines[0] else { panic!("no trace comes first") };
        assert_eq!((group.dispatches, group.mismatched, group.folded), (4, 7, true));
        assert_eq!(group.counts, [(Verdict::Mismatch, 1), (Verdict::Refused, 1), (Verdict::Match, 1)]);
        assert_eq!(listing.rows().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["black"], "ties is folded away");
    }
}
