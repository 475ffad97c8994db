//! The analyzer's window as a library.
