//! Packs each case below a folder into a `.texeltrace` file beside it.
//!
//! `cargo run -p capture-format --example pack-cases -- traces` writes the packed traces that ship; with `--check` before the
//! folder nothing is written, and a packed trace that is missing or has other bytes is an error.
//!
//! The packed trace of `folder/case.toml` is `folder/<name of folder>.texeltrace`, that of another case file has its stem.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use capture_format::{Case, TraceMeta, TraceWriter, WriteOptions, write_trace};

type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = arguments.first().is_some_and(|first| first == "--check");
    if check {
        arguments.remove(0);
    }
    let [folder] = &arguments[..] else {
        eprintln!("usage: pack-cases [--check] FOLDER");
        return ExitCode::from(64);
    };
    match pack_all(Path::new(folder), check) {
        Ok(count) => {
            println!("{count} cases {}", if check { "checked" } else { "packed" });
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn pack_all(folder: &Path, check: bool) -> Result<usize, Error> {
    let mut cases = Vec::new();
    collect(folder, &mut cases)?;
    cases.sort();
    for case in &cases {
        let packed = packed_path(case)?;
        let trace = Case::read(case)?;
        if !check {
            write_trace(&packed, &trace, WriteOptions::compact())?;
            continue;
        }
        let mut writer = TraceWriter::begin(Vec::new(), &TraceMeta::from(&trace), WriteOptions::compact())?;
        trace.dispatches.iter().try_for_each(|dispatch| writer.add_dispatch(dispatch))?;
        let found = fs::read(&packed).map_err(|error| format!("{}: {error}", packed.display()))?;
        if found != writer.finish()? {
            return Err(format!("{}: not what packing {} gives", packed.display(), case.display()).into());
        }
    }
    Ok(cases.len())
}

/// All `.toml` files that are cases. [`capture_format::find_traces`] would leave out those that are packed already.
fn collect(folder: &Path, cases: &mut Vec<PathBuf>) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, cases)?;
        } else if path.extension().is_some_and(|extension| extension == "toml")
            && fs::read_to_string(&path)?.contains("[[dispatch]]")
        {
            cases.push(path);
        }
    }
    Ok(())
}

fn packed_path(case: &Path) -> Result<PathBuf, Error> {
    let named_by_folder = case.file_name().is_some_and(|name| name == "case.toml");
    let folder = case.parent().ok_or("a case without a folder")?;
    let stem = if named_by_folder { folder.file_name() } else { case.file_stem() };
    let stem = stem.ok_or_else(|| format!("{}: the folder has no name", case.display()))?;
    let mut name = stem.to_owned();
    name.push(".texeltrace");
    Ok(folder.join(name))
}
