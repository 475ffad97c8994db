//! Finding traces in folders and by glob patterns.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use crate::case::{CASE_FILE, MAX_CASE_BYTES};

/// Extension of packed traces.
pub const TRACE_EXTENSION: &str = "texeltrace";

/// Why traces could not be looked for.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct FindError {
    /// The file, folder or pattern.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: String,
}

impl FindError {
    fn new(path: &Path, problem: impl ToString) -> Self {
        Self { path: path.to_owned(), problem: problem.to_string() }
    }
}

/// The traces that a path stands for, sorted.
///
/// * A file stands for itself, whatever it holds.
/// * A folder is searched with all below it: for `.texeltrace` files, and for cases that have no packed trace beside them, so
///   that nothing is looked at twice. Beside means in the same folder, with the stem of the case file, the name of the case,
///   or, for `case.toml`, the name of the folder. Names that start with a dot are passed over.
/// * Else a pattern of the `glob` crate (`*`, `?`, `[…]`, `**`) stands for the files that match, if they are traces or cases, and
///   for the folders that match, as above. A case is left out when its packed trace matches as well.
///
/// A `.toml` file is a case when it has `schema` and one of `oracle` and `dispatch`, or is named `case.toml`, or is no valid TOML:
/// then opening it says why.
///
/// # Errors
/// A path that does not exist and is no pattern, a folder or file that can't be read, and a symbolic link that leads nowhere
/// or in a circle. Finding nothing is no error.
pub fn find_traces(path: &Path) -> Result<Vec<PathBuf>, FindError> {
    let mut found = Found::default();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => found.search(path)?,
        Ok(_) => return Ok(vec![path.to_owned()]),
        Err(error) if error.kind() == io::ErrorKind::NotFound => found.glob(path)?,
        Err(error) => return Err(FindError::new(path, error)),
    }
    Ok(found.without_twins())
}

#[derive(Default)]
struct Found {
    packed: BTreeSet<PathBuf>,
    /// Cases, each with the paths at which its packed trace would be.
    cases: Vec<(PathBuf, Vec<PathBuf>)>,
}

impl Found {
    fn search(&mut self, folder: &Path) -> Result<(), FindError> {
        let visible = |entry: &walkdir::DirEntry| {
            entry.depth() == 0 || !entry.file_name().to_str().is_some_and(|name| name.starts_with('.'))
        };
        let walk = walkdir::WalkDir::new(folder).follow_links(true).sort_by_file_name();
        for entry in walk.into_iter().filter_entry(visible) {
            let entry = entry.map_err(|error| FindError::new(error.path().unwrap_or(folder), &error))?;
            if entry.file_type().is_file() {
                self.file(entry.path())?;
            }
        }
        Ok(())
    }

    fn glob(&mut self, pattern: &Path) -> Result<(), FindError> {
        let text = pattern.to_str().filter(|text| text.contains(['*', '?', '[']));
        let text = text.ok_or_else(|| FindError::new(pattern, "no such file or folder"))?;
        let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::new() };
        let paths = glob::glob_with(text, options)
            .map_err(|error| FindError::new(pattern, format_args!("not a valid pattern: {error}")))?;
        for path in paths {
            let path = path.map_err(|error| FindError::new(error.path(), error.error()))?;
            let metadata = fs::metadata(&path).map_err(|error| FindError::new(&path, error))?;
            if metadata.is_dir() {
                self.search(&path)?;
            } else {
                self.file(&path)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), FindError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        if extension == Some(TRACE_EXTENSION) {
            self.packed.insert(path.to_owned());
        } else if extension == Some("toml") {
            self.cases.extend(case_twins(path)?.map(|twins| (path.to_owned(), twins)));
        }
        Ok(())
    }

    fn without_twins(self) -> Vec<PathBuf> {
        let Self { packed, cases } = self;
        let alone = |twins: &Vec<PathBuf>| !twins.iter().any(|twin| packed.contains(twin));
        let cases: BTreeSet<PathBuf> =
            cases.into_iter().filter(|(_, twins)| alone(twins)).map(|(case, _)| case).collect();
        packed.into_iter().chain(cases).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// Where the packed trace of a case would be; `None` if the TOML file is not a case.
fn case_twins(path: &Path) -> Result<Option<Vec<PathBuf>>, FindError> {
    let named_case = path.file_name().is_some_and(|name| name == CASE_FILE);
    let length = fs::metadata(path).map_err(|error| FindError::new(path, error))?.len();
    // A file that is too long to be a case is left to opening, which says so.
    let text = if length > MAX_CASE_BYTES { Ok(String::new()) } else { fs::read_to_string(path) };
    let text = match text {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => String::from("\0"),
        text => text.map_err(|error| FindError::new(path, error))?,
    };
    let table = toml::de::DeTable::parse(&text).ok();
    let name = match &table {
        None => None,
        Some(table) => {
            let table = table.get_ref();
            let like_case =
                table.contains_key("schema") && (table.contains_key("oracle") || table.contains_key("dispatch"));
            if !like_case && !named_case && length <= MAX_CASE_BYTES {
                return Ok(None);
            }
            table.get("name").and_then(|name| name.get_ref().as_str()).map(str::to_owned)
        }
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut stems: Vec<String> =
        path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned).into_iter().collect();
    stems.extend(name.filter(|name| !name.is_empty() && !name.contains(['/', '\\', '\0'])));
    if named_case {
        // Of `.` or `..` the name is known only after resolving it.
        let resolved = fs::canonicalize(path).ok();
        let parent =
            resolved.as_deref().and_then(Path::parent).and_then(Path::file_name).and_then(|name| name.to_str());
        stems.extend(parent.map(str::to_owned));
    }
    Ok(Some(stems.iter().map(|stem| folder.join(format!("{stem}.{TRACE_EXTENSION}"))).collect()))
}
