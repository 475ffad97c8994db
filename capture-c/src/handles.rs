//! Handles of the C interface: numbers, so that one that is not valid any more is an error and no access to freed memory.

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::status::{Failure, Status};

/// What the numbers stand for. A number is given out once.
pub(crate) struct Handles<T> {
    what: &'static str,
    things: RwLock<Option<HashMap<u64, Arc<T>>>>,
}

/// Numbers of all kinds of handles come from here, so that a handle of another kind is not taken for one.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl<T> Handles<T> {
    pub(crate) const fn new(what: &'static str) -> Self {
        Self { what, things: RwLock::new(None) }
    }

    pub(crate) fn add(&self, thing: T) -> u64 {
        let handle = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut things = self.things.write().unwrap_or_else(PoisonError::into_inner);
        things.get_or_insert_default().insert(handle, Arc::new(thing));
        handle
    }

    pub(crate) fn get(&self, handle: u64) -> Result<Arc<T>, Failure> {
        let things = self.things.read().unwrap_or_else(PoisonError::into_inner);
        let found = things.as_ref().and_then(|things| things.get(&handle)).cloned();
        found.ok_or_else(|| self.missing(handle))
    }

    pub(crate) fn remove(&self, handle: u64) -> Result<Arc<T>, Failure> {
        let mut things = self.things.write().unwrap_or_else(PoisonError::into_inner);
        let found = things.as_mut().and_then(|things| things.remove(&handle));
        drop_empty(&mut things);
        found.ok_or_else(|| self.missing(handle))
    }

    /// Removes those for which `keep` is false.
    pub(crate) fn retain(&self, mut keep: impl FnMut(&T) -> bool) {
        let mut things = self.things.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(things) = things.as_mut() {
            things.retain(|_, thing| keep(thing));
        }
        drop_empty(&mut things);
    }

    fn missing(&self, handle: u64) -> Failure {
        let what = self.what;
        Failure::new(Status::InvalidHandle, format!("{handle} is no handle of a {what}, or not any more"))
    }
}

/// A table that is empty is not kept: a host that looks for leaks at its end finds none.
fn drop_empty<T>(things: &mut Option<HashMap<u64, Arc<T>>>) {
    if things.as_ref().is_some_and(HashMap::is_empty) {
        *things = None;
    }
}
