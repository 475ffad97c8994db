//! Ways in and out: what other tools read and write.

pub mod hw_oracle;
