//! Building and running programs in C and C++.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

/// Runs a command, and fails with what it said when it fails.
#[track_caller]
pub fn run(command: &mut Command) -> Output {
    let output =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error} (run-tests.sh lists the packages)"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

pub fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where `install.sh` has put library and headers, for all tests.
pub fn installed() -> &'static Path {
    static PLACE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, prefix) = PLACE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        // The test program stands beside the libraries that cargo built for it.
        let libraries = env::current_exe().unwrap().parent().unwrap().to_owned();
        let prefix = dir.path().join("prefix");
        let mut install = Command::new("sh");
        install.arg(manifest().join("install.sh")).arg("--prefix").arg(&prefix).arg("--libraries").arg(libraries);
        run(&mut install);
        (dir, prefix)
    });
    prefix
}

/// What pkg-config says of the installed library.
pub fn pkg_config(arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.env("PKG_CONFIG_PATH", installed().join("lib/pkgconfig")).args(arguments).arg("texeltrace");
    let output = run(&mut command);
    String::from_utf8(output.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
}

/// Compiles a C program against the shared library.
pub fn compile_c(source: &Path, program: &Path) {
    let mut command = Command::new("gcc");
    command
        .args(["-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(program)
        .arg(source);
    command.args(pkg_config(&["--cflags"])).args(pkg_config(&["--libs"])).arg("-pthread");
    command.arg(format!("-Wl,-rpath,{}", installed().join("lib").display()));
    run(&mut command);
}

/// One of the programs beside this file, compiled once.
pub fn program(name: &str) -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap());
    let program = folder.path().join(name);
    compile_c(&manifest().join("tests/c").join(format!("{name}.c")), &program);
    program
}
