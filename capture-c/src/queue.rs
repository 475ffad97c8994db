//! A queue that holds a bounded number of bytes: who is faster than the disk waits.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, PoisonError},
};

/// Items with the bytes that each of them holds.
pub(crate) struct Queue<T> {
    max_bytes: usize,
    state: Mutex<State<T>>,
    /// An item came, or the queue was closed.
    filled: Condvar,
    /// An item went, or the queue was closed.
    drained: Condvar,
}

struct State<T> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    closed: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(max_bytes: usize) -> Self {
        let state = State { items: VecDeque::new(), bytes: 0, closed: false };
        Self { max_bytes, state: Mutex::new(state), filled: Condvar::new(), drained: Condvar::new() }
    }

    /// Adds an item, after waiting until its bytes fit or the queue is empty. Gives it back when the queue is closed.
    pub(crate) fn push(&self, item: T, bytes: usize) -> Result<(), T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.closed && !state.items.is_empty() && state.bytes.saturating_add(bytes) > self.max_bytes {
            state = self.drained.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return Err(item);
        }
        state.items.push_back((item, bytes));
        state.bytes = state.bytes.saturating_add(bytes);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// The next item, after waiting for one; `None` once the queue is closed and empty.
    pub(crate) fn pop(&self) -> Option<T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some((item, bytes)) = state.items.pop_front() {
                state.bytes = state.bytes.saturating_sub(bytes);
                drop(state);
                self.drained.notify_all();
                return Some(item);
            }
            if state.closed {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets nothing in any more. What is there can still be taken.
    pub(crate) fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread, time::Duration};

    use super::*;

    #[test]
    fn a_full_queue_makes_its_feeder_wait() {
        let queue = Arc::new(Queue::new(10));
        queue.push(1, 100).unwrap();
        let other = queue.clone();
        let feeder = thread::spawn(move || other.push(2, 1));
        thread::sleep(Duration::from_millis(20));
        assert!(!feeder.is_finished());
        assert_eq!(queue.pop(), Some(1));
        feeder.join().unwrap().unwrap();
        queue.push(3, 9).unwrap();
        queue.close();
        assert_eq!(queue.push(4, 1), Err(4));
        assert_eq!((queue.pop(), queue.pop(), queue.pop()), (Some(2), Some(3), None));
    }

    #[test]
    fn closing_wakes_a_waiting_feeder() {
        let queue = Arc::new(Queue::new(10));
        queue.push(1, 10).unwrap();
        let other = queue.clone();
        let feeder = thread::spawn(move || other.push(2, 10));
        thread::sleep(Duration::from_millis(20));
        queue.close();
        assert_eq!(feeder.join().unwrap(), Err(2));
    }
}
