//! The window of the analyzer.

fn main() {}
