//! Opening a trace in either form, and the search for traces.
#![allow(clippy::unwrap_used)] // helpers of tests may, as tests do

mod common;

use std::{fs, path::Path};

use capture_format::{CaseOptions, WriteOptions, find_traces, open, write_case, write_trace};

fn found(root: &Path, path: &str) -> Vec<String> {
    let paths = find_traces(&root.join(path)).unwrap();
    paths.iter().map(|path| path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/")).collect()
}

/// Cases and packed traces in all arrangements.
fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let trace = common::small_trace();
    let case = |folder: &str, file_name: &str| {
        let options = CaseOptions { file_name: file_name.to_owned(), overwrite: true, ..CaseOptions::default() };
        write_case(&trace, &root.path().join(folder), &options).unwrap();
    };
    let packed = |path: &str| write_trace(&root.path().join(path), &trace, WriteOptions::default()).unwrap();
    case("a", "case.toml");
    packed("a/a.texeltrace");
    case("b", "case.toml");
    packed("b/small.texeltrace");
    case("c", "case.toml");
    packed("c/other.texeltrace");
    case("d", "x.toml");
    case("d", "y.toml");
    packed("d/x.texeltrace");
    case(".hidden", "case.toml");
    fs::write(root.path().join("d/settings.toml"), "schema = 1\nlevel = 3\n").unwrap();
    fs::write(root.path().join("d/broken.toml"), "schema = \n").unwrap();
    fs::write(root.path().join("d/notes.txt"), "dispatch").unwrap();
    root
}

#[test]
fn a_folder_gives_packed_traces_and_the_cases_that_are_not_packed() {
    let root = tree();
    assert_eq!(
        found(root.path(), ""),
        [
            "a/a.texeltrace",
            "b/small.texeltrace",
            "c/case.toml",
            "c/other.texeltrace",
            "d/broken.toml",
            "d/x.texeltrace",
            "d/y.toml"
        ]
    );
    assert_eq!(found(root.path(), "a"), ["a/a.texeltrace"]);
    assert_eq!(found(root.path(), ".hidden"), [".hidden/case.toml"]);
}

#[test]
fn files_and_patterns() {
    let root = tree();
    assert_eq!(found(root.path(), "a/case.toml"), ["a/case.toml"]);
    assert_eq!(found(root.path(), "d/notes.txt"), ["d/notes.txt"]);
    assert_eq!(found(root.path(), "d/x.*"), ["d/x.texeltrace"]);
    assert_eq!(found(root.path(), "d/x.tom?"), ["d/x.toml"]);
    assert_eq!(found(root.path(), "[ab]"), ["a/a.texeltrace", "b/small.texeltrace"]);
    assert_eq!(found(root.path(), "**/other.*"), ["c/other.texeltrace"]);
    assert_eq!(found(root.path(), "nothing*"), [""; 0]);
    let error = find_traces(&root.path().join("nothing")).unwrap_err().to_string();
    assert!(error.ends_with("nothing: no such file or folder"), "{error}");
    let error = find_traces(&root.path().join("a[")).unwrap_err().to_string();
    assert!(error.contains("a[: not a valid pattern: "), "{error}");
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_or_in_a_circle_are_errors() {
    let root = tree();
    let link = root.path().join("c/link");
    std::os::unix::fs::symlink("missing", &link).unwrap();
    let error = find_traces(root.path()).unwrap_err();
    assert_eq!(error.path, link);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("..", &link).unwrap();
    let error = find_traces(root.path()).unwrap_err();
    assert_eq!(error.path, link);
}

#[test]
fn both_forms_open_to_the_same() {
    let root = tree();
    let trace = common::small_trace();
    for path in ["a", "a/case.toml", "a/a.texeltrace", "d/y.toml"] {
        let source = open(&root.path().join(path)).unwrap();
        assert_eq!(source.path(), root.path().join(path));
        assert_eq!((source.name(), source.oracle(), source.len()), ("small", &trace.oracle, 3), "{path}");
        assert_eq!(source.names(), ["first", "second", "third"]);
        assert_eq!(source.position("third"), Some(2));
        assert_eq!(source.dispatch(2).unwrap(), trace.dispatches[2], "{path}");
        assert!(source.recovery().is_none());
        let error = source.dispatch(3).unwrap_err().to_string();
        assert!(error.contains(path) && error.contains("no dispatch 3"), "{error}");
    }
    // Known by its content, whatever its name.
    fs::rename(root.path().join("a/a.texeltrace"), root.path().join("a/recording")).unwrap();
    assert_eq!(open(&root.path().join("a/recording")).unwrap().len(), 3);
    for (path, problem) in [("d", "a folder without a case"), ("d/notes.txt", "a file of another kind")] {
        let error = open(&root.path().join(path)).err().unwrap().to_string();
        let message =
            format!("{path}: {problem}, expected a .texeltrace file, a case (.toml), or a folder with case.toml");
        assert!(error.ends_with(&message), "{error}");
    }
    let error = open(&root.path().join("none")).err().unwrap().to_string();
    assert!(error.contains("none: cannot open: "), "{error}");
}
