//! What changed since an earlier run.

use std::collections::BTreeMap;

use crate::results::{DispatchResult, Results};

/// In what way a dispatch's result changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not in the earlier run.
    New,
    /// It is not in this run.
    Gone,
    /// Its verdict, causes, counts or words changed.
    Changed,
}

/// A dispatch whose result is not the earlier run's.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// In what way.
    pub kind: ChangeKind,
    /// The result then.
    pub before: Option<&'a DispatchResult>,
    /// The result now.
    pub now: Option<&'a DispatchResult>,
}

impl Change<'_> {
    /// `trace/dispatch`.
    #[must_use]
    pub fn label(&self) -> String {
        self.now.or(self.before).map_or_else(String::new, DispatchResult::label)
    }

    /// The change in words.
    #[must_use]
    pub fn text(&self) -> String {
        let verdict = |r: &DispatchResult| format!("{} ({})", r.status, r.summary());
        match (self.before, self.now) {
            (Some(before), Some(now)) if before.status == now.status && before.summary() == now.summary() => {
                let counts = |r: &DispatchResult| {
                    let causes: Vec<_> = r.causes.iter().map(|c| format!("{} {}", c.rule, c.samples)).collect();
                    format!("max {} ULP, causes [{}], words {}", r.max_ulp, causes.join(", "), r.digest)
                };
                format!("{}: {} → {}", verdict(now), counts(before), counts(now))
            }
            (Some(before), Some(now)) => format!("{} → {}", verdict(before), verdict(now)),
            (Some(before), None) => format!("{} → not in this run", verdict(before)),
            (None, Some(now)) => format!("new: {}", verdict(now)),
            (None, None) => String::new(),
        }
    }
}

/// Compares a run with an earlier one by trace, dispatch, path and what it is held against, in the order of this run; what
/// is gone comes last. Dispatches of the earlier run that another shard runs count as gone only when this is a whole run.
#[must_use]
pub fn changes<'a>(base: &'a Results, now: &'a Results) -> Vec<Change<'a>> {
    let key = |r: &'a DispatchResult| (&*r.trace, &*r.dispatch, &*r.path, &*r.against);
    let mut before: BTreeMap<_, _> = base.dispatches.iter().map(|r| (key(r), r)).collect();
    let mut found = Vec::new();
    for result in &now.dispatches {
        match before.remove(&key(result)) {
            None => found.push(Change { kind: ChangeKind::New, before: None, now: Some(result) }),
            Some(earlier) if !earlier.same_result(result) => {
                found.push(Change { kind: ChangeKind::Changed, before: Some(earlier), now: Some(result) });
            }
            Some(_) => {}
        }
    }
    if now.shard.is_none() && now.not_run == 0 {
        let gone = base.dispatches.iter().filter(|r| before.contains_key(&key(r)));
        found.extend(gone.map(|r| Change { kind: ChangeKind::Gone, before: Some(r), now: None }));
    }
    found
}
