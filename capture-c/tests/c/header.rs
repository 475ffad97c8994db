//! The header is what cbindgen makes of the interface.

use std::{env, fs, path::Path};

#[test]
fn the_header_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(folder.join("src/ffi/types.rs"))
        .with_src(folder.join("src/ffi/mod.rs"))
        .generate()
        .unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let path = folder.join("include/texeltrace.h");
    if env::var_os("TEXELTRACE_WRITE_HEADER").is_some_and(|value| value == "1") {
        fs::write(&path, &made).unwrap();
    }
    let found = fs::read(&path).unwrap();
    assert!(
        found == made,
        "{} is not what cbindgen makes of the interface: run TEXELTRACE_WRITE_HEADER=1 cargo test -p capture-c --test c",
        path.display()
    );
}
