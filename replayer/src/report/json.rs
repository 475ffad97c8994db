//! Results as JSON: `{"schema":1,"dispatches":[…],"totals":{…}}`.

use std::{
    fs::File,
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
};

use crate::results::{Results, SCHEMA, Totals};

/// Writes results, a dispatch a line, so that two files can be compared as text.
///
/// # Errors
/// When the output can't be written.
pub fn write_results(out: &mut dyn Write, results: &Results) -> io::Result<()> {
    let Results { schema, dispatches, totals, errors, unused_expectations, not_run, unreadable, ended, shard, seconds } =
        results;
    write!(out, "{{\n\"schema\":{schema},\n\"dispatches\":[")?;
    for (number, result) in dispatches.iter().enumerate() {
        out.write_all(if number == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, result)?;
    }
    out.write_all(b"\n],\n\"totals\":")?;
    serde_json::to_writer(&mut *out, totals)?;
    out.write_all(b",\n\"errors\":")?;
    serde_json::to_writer(&mut *out, errors)?;
    out.write_all(b",\n\"unused_expectations\":")?;
    serde_json::to_writer(&mut *out, unused_expectations)?;
    write!(out, ",\n\"not_run\":{not_run},\n\"unreadable\":{unreadable}")?;
    if let Some(ended) = ended {
        out.write_all(b",\n\"ended\":")?;
        serde_json::to_writer(&mut *out, ended)?;
    }
    if let Some(shard) = shard {
        out.write_all(b",\n\"shard\":")?;
        serde_json::to_writer(&mut *out, shard)?;
    }
    out.write_all(b",\n\"seconds\":")?;
    serde_json::to_writer(&mut *out, seconds)?;
    out.write_all(b"\n}\n")
}

/// Why results could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file can't be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is no JSON of this schema; the error names line and column.
    #[error("{}: expected results as `run --json` writes them: {source}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The schema is another one.
    #[error("{}: schema {found}, expected {SCHEMA}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u32,
    },
    /// The totals are not those of the dispatches: the file was cut or edited.
    #[error("{}: totals {found:?}, expected {expected:?} by its dispatches", path.display())]
    Totals {
        /// The file.
        path: PathBuf,
        /// The totals in the file.
        found: Box<Totals>,
        /// The totals of its dispatches.
        expected: Box<Totals>,
    },
}

/// Reads results that [`write_results`] wrote.
///
/// # Errors
/// When the file can't be read or is something else.
pub fn read_results(path: &Path) -> Result<Results, ReadError> {
    let file = File::open(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let results: Results = serde_json::from_reader(BufReader::new(file))
        .map_err(|source| ReadError::Form { path: path.to_owned(), source })?;
    if results.schema != SCHEMA {
        return Err(ReadError::Schema { path: path.to_owned(), found: results.schema });
    }
    let mut expected = Totals::default();
    results.dispatches.iter().for_each(|d| expected.add(d.status));
    if expected != results.totals {
        let found = Box::new(results.totals);
        return Err(ReadError::Totals { path: path.to_owned(), found, expected: Box::new(expected) });
    }
    Ok(results)
}
