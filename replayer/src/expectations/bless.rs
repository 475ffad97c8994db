//! Brings a file of expectations up to date with results.

use std::path::Path;

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use super::{ExpectationError, Expectations};
use crate::results::{DispatchResult, Outcome, Results, Status};

/// What blessing does to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blessing {
    /// The new text.
    pub text: String,
    /// A line for each change.
    pub changes: Vec<String>,
    /// A line for each result that is not blessed: crashes, timeouts and flaky results are never expected.
    pub refused: Vec<String>,
}

/// Makes the results the expected ones. Entries keep their order and comments: an entry for one dispatch is changed or, when
/// it matches now, removed; a dispatch that an entry with globs covers gets one of its own before it.
///
/// # Errors
/// When the text is no file of expectations.
pub fn bless(text: &str, path: &Path, results: &Results, reason: &str) -> Result<Blessing, ExpectationError> {
    let mut blessing = Blessing { text: text.to_owned(), changes: Vec::new(), refused: Vec::new() };
    for result in &results.dispatches {
        if result.outcome == Outcome::Expected {
            continue;
        }
        let label = format!("{} ({})", result.label(), result.path);
        if result.outcome == Outcome::Flaky || matches!(result.status, Status::Crash | Status::Timeout) {
            let what = if result.outcome == Outcome::Flaky { "flaky" } else { result.status.name() };
            blessing.refused.push(format!("{label}: {what}: {}", result.summary()));
            continue;
        }
        // Read again after each change: the places of the entries have moved.
        let known = Expectations::parse(&blessing.text, path)?;
        if known.assess(result).0 == Outcome::Expected {
            // The file was changed since the run, or an entry made for an earlier result covers this one too.
            continue;
        }
        let at = known.entries.iter().position(|entry| entry.applies_to(result));
        let exact = at.is_some_and(|at| known.entries[at].is_for(result));
        let mut document: DocumentMut = blessing.text.parse().map_err(|error: toml_edit::TomlError| {
            ExpectationError::Form { path: path.to_owned(), line: 1, column: 1, message: error.message().to_owned() }
        })?;
        let entries = document.entry("expect").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        let Some(entries) = entries.as_array_of_tables_mut() else {
            let message = "expect = [{ … }], expected [[expect]] tables, which bless can change".to_owned();
            return Err(ExpectationError::Form { path: path.to_owned(), line: 1, column: 1, message });
        };
        let change = match at {
            Some(at) if exact && result.status == Status::Match => {
                entries.remove(at);
                format!("{label}: removed, it matches now")
            }
            Some(at) if exact => {
                if let Some(entry) = entries.get_mut(at) {
                    fill(entry, result);
                }
                format!("{label}: now {}, {}", result.status, result.summary())
            }
            _ => {
                let entry = new_entry(result, reason);
                match at {
                    Some(at) => entries.insert(at, entry),
                    None => entries.push(entry),
                }
                format!("{label}: new, {}, {}", result.status, result.summary())
            }
        };
        blessing.text = document.to_string();
        blessing.changes.push(change);
    }
    Ok(blessing)
}

fn new_entry(result: &DispatchResult, reason: &str) -> Table {
    let mut entry = Table::new();
    entry.decor_mut().set_prefix("\n");
    entry["trace"] = value(globset::escape(&result.trace));
    entry["dispatch"] = value(globset::escape(&result.dispatch));
    entry["path"] = value(globset::escape(&result.path));
    fill(&mut entry, result);
    entry["reason"] = value(reason);
    entry
}

/// Sets verdict, counts and field; all else stays.
fn fill(entry: &mut Table, result: &DispatchResult) {
    set(entry, "verdict", result.status.name().into());
    if result.status == Status::Mismatch {
        set(entry, "mismatched", integer(result.mismatched));
    } else {
        entry.remove("mismatched");
    }
    if result.causes.is_empty() {
        entry.remove("causes");
    } else {
        let causes: Array = result
            .causes
            .iter()
            .map(|cause| {
                let mut table = InlineTable::new();
                table.insert("rule", cause.rule.as_str().into());
                table.insert("samples", integer(cause.samples));
                toml_edit::Value::from(table)
            })
            .collect();
        set(entry, "causes", causes.into());
    }
    match (&result.refused_field, result.status) {
        (Some(field), Status::Refused) => set(entry, "field", globset::escape(field).into()),
        _ => {
            entry.remove("field");
        }
    }
}

/// A count; TOML's integers end at `i64::MAX`, which no count reaches.
fn integer(count: u64) -> toml_edit::Value {
    i64::try_from(count).unwrap_or(i64::MAX).into()
}

/// Changes a value and keeps the comment behind it.
fn set(entry: &mut Table, key: &str, mut new: toml_edit::Value) {
    if let Some(old) = entry.get(key).and_then(Item::as_value) {
        *new.decor_mut() = old.decor().clone();
    }
    entry[key] = Item::Value(new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Cause, tests::result};

    const FILE: &str = "\
# what is known
schema = 1

# the wrap case
[[expect]]
trace = \"h200\" # measured
dispatch = \"wrap\"
verdict = \"mismatch\"
mismatched = 12   # by count
reason = \"weights\"

# everything else
[[expect]]
trace = \"*\"
dispatch = \"old*\"
verdict = \"refused\"
field = \"op\"
reason = \"not yet\"
";

    fn unexpected(dispatch: &str, status: Status, mismatched: u64) -> DispatchResult {
        let mut found = result("h200", dispatch, status);
        found.mismatched = mismatched;
        found.outcome = Outcome::Regression;
        found
    }

    fn blessed(text: &str, found: Vec<DispatchResult>) -> Blessing {
        bless(text, Path::new("e.toml"), &Results::new(found), "seen").unwrap()
    }

    #[test]
    fn an_entry_changes_in_place_and_keeps_its_comments() {
        let blessing = blessed(FILE, vec![unexpected("wrap", Status::Mismatch, 13)]);
        assert_eq!(blessing.text, FILE.replace("mismatched = 12", "mismatched = 13"));
        assert_eq!(blessing.changes, ["h200/wrap (emulated): now mismatch, 13 of 64 samples differ"]);
    }

    #[test]
    fn a_match_removes_its_entry_and_leaves_the_others() {
        let blessing = blessed(FILE, vec![unexpected("wrap", Status::Match, 0)]);
        assert!(blessing.text.starts_with("# what is known\nschema = 1\n"));
        assert!(!blessing.text.contains("wrap"));
        assert!(blessing.text.contains("# everything else\n[[expect]]\ntrace = \"*\""));
    }

    #[test]
    fn a_dispatch_under_a_glob_gets_an_entry_before_it() {
        let mut found = unexpected("old [1]", Status::Mismatch, 3);
        found.causes.push(Cause::new("weight-rounding", 3));
        let results = vec![found];
        let blessing = blessed(FILE, results.clone());
        let (new, glob) = (blessing.text.find("old [[]1").unwrap(), blessing.text.find("old*").unwrap());
        assert!(new < glob, "{}", blessing.text);
        let known = Expectations::parse(&blessing.text, Path::new("e.toml")).unwrap();
        assert_eq!(known.assess(&results[0]).0, Outcome::Expected);
        assert_eq!(blessed(&blessing.text, results).changes, Vec::<String>::new());
    }

    #[test]
    fn crashes_timeouts_and_flakes_are_refused() {
        let mut flaky = unexpected("f", Status::Match, 0);
        flaky.outcome = Outcome::Flaky;
        let blessing =
            blessed(FILE, vec![unexpected("c", Status::Crash, 0), unexpected("t", Status::Timeout, 0), flaky]);
        assert_eq!((blessing.text.as_str(), blessing.changes.len(), blessing.refused.len()), (FILE, 0, 3));
    }

    #[test]
    fn an_empty_file_gets_its_first_entries() {
        let results = vec![unexpected("a", Status::Mismatch, 1), unexpected("b", Status::Refused, 0)];
        let blessing = blessed("schema = 1\n", results.clone());
        let known = Expectations::parse(&blessing.text, Path::new("e.toml")).unwrap();
        assert!(results.iter().all(|r| known.assess(r).0 == Outcome::Expected));
        assert_eq!(known.unused(), Vec::<String>::new());
    }
}
