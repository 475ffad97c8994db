//! SPIR-V from its text form, for tests.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

/// The words of a module; panics when `spirv-as` does not take the text.
pub fn assemble(text: &str) -> Vec<u32> {
    let mut child = Command::new("spirv-as")
        .args(["--target-env", "vulkan1.1", "-o", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("spirv-as is in the package spirv-tools");
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let (words, rest) = output.stdout.as_chunks::<4>();
    assert!(rest.is_empty());
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
