//! The command line of the replayer.

fn main() {}
