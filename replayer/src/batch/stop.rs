//! A request to end early.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A flag that a signal handler sets and the run looks at.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks the run to end. Gives whether it had been asked before.
    pub fn request(&self) -> bool {
        self.0.swap(true, Ordering::SeqCst)
    }

    /// Whether the run is to end.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
