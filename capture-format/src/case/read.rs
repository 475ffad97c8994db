//! Reading the text form. The TOML tree is walked by hand: each value knows where it stands, so each error can say so.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::Read,
    ops::Range,
    path::{Component, Path, PathBuf},
};

use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue},
};

use super::{CASE_FILE, CaseError, MAX_CASE_BYTES, SCHEMA, number, read_compute};
use crate::{
    Column, Coords, Dispatch, Expected, MAX_TABLE_ENTRIES, Oracle, OracleSource, Recorded, Recording, TableImage,
    Trace, TraceMeta, Words,
};

/// Reads a case that has sample dispatches only.
pub(super) fn read_trace(path: &Path) -> Result<Trace, CaseError> {
    read_as(path, |reader, root| {
        if let Some(compute) = root.get_ref().get("compute") {
            return Err(reader.error(compute.span(), "compute: ", "expected sample dispatches only"));
        }
        let Recording { meta: TraceMeta { name, summary, oracle }, dispatches } = reader.recording(root)?;
        let samples = dispatches.into_iter().filter_map(|dispatch| match dispatch {
            Recorded::Sample(dispatch) => Some(dispatch),
            Recorded::Compute(_) => None,
        });
        Ok(Trace { name, summary, oracle, dispatches: samples.collect() })
    })
}

pub(super) fn read(path: &Path) -> Result<Recording, CaseError> {
    read_as(path, |reader, root| reader.recording(root))
}

fn read_as<T>(
    path: &Path,
    read: impl FnOnce(&Reader<'_>, &Spanned<DeTable<'_>>) -> Result<T, CaseError>,
) -> Result<T, CaseError> {
    let found = fs::metadata(path).map_err(|source| io_error(path, "read", source))?;
    let path = if found.is_dir() { path.join(CASE_FILE) } else { path.to_owned() };
    let text = read_text(&path)?;
    let reader = Reader { path: &path, folder: path.parent().unwrap_or(Path::new("")), text: &text };
    let root = DeTable::parse(&text).map_err(|error| {
        reader.error(error.span().unwrap_or(0..0), "", format_args!("not valid TOML: {}", error.message()))
    })?;
    read(&reader, &root)
}

fn io_error(path: &Path, action: &'static str, source: std::io::Error) -> CaseError {
    CaseError::Io { path: path.to_owned(), action, source }
}

fn read_text(path: &Path) -> Result<String, CaseError> {
    let (mut file, bytes) = open_regular(path)?;
    if bytes > MAX_CASE_BYTES {
        return Err(CaseError::TooLong { path: path.to_owned(), bytes });
    }
    let mut text = String::new();
    // The limit holds even if the file grows meanwhile.
    file.by_ref().take(MAX_CASE_BYTES).read_to_string(&mut text).map_err(|source| io_error(path, "read", source))?;
    Ok(text)
}

/// Opens a regular file (no folder, pipe or device) and gives its length.
fn open_regular(path: &Path) -> Result<(File, u64), CaseError> {
    // Asked before opening: opening a pipe would wait for its other end.
    let found = fs::metadata(path).map_err(|source| io_error(path, "read", source))?;
    if !found.is_file() {
        return Err(io_error(path, "read", std::io::Error::other("not a regular file")));
    }
    let file = File::open(path).map_err(|source| io_error(path, "read", source))?;
    let bytes = file.metadata().map_err(|source| io_error(path, "read", source))?.len();
    Ok((file, bytes))
}

pub(super) struct Reader<'a> {
    path: &'a Path,
    folder: &'a Path,
    text: &'a str,
}

pub(super) type Value<'a> = Spanned<DeValue<'a>>;

/// A table with the place it has in the case, which errors name.
pub(super) struct Table<'r, 'a> {
    pub(super) reader: &'r Reader<'r>,
    /// Where the table stands: for a dispatch `dispatch "name": `, else empty.
    pub(super) place: String,
    /// The key of the table itself with a dot behind, or empty.
    pub(super) prefix: String,
    pub(super) span: Range<usize>,
    pub(super) table: &'r DeTable<'a>,
}

impl Reader<'_> {
    pub(super) fn error(&self, span: Range<usize>, place: &str, problem: impl std::fmt::Display) -> CaseError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        CaseError::Invalid {
            path: self.path.to_owned(),
            line: before.bytes().filter(|&b| b == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            place: place.to_owned(),
            problem: problem.to_string(),
        }
    }

    fn recording(&self, root: &Spanned<DeTable<'_>>) -> Result<Recording, CaseError> {
        let top =
            Table { reader: self, place: String::new(), prefix: String::new(), span: 0..0, table: root.get_ref() };
        let schema = top.required("schema")?;
        let number = match schema.get_ref() {
            DeValue::Integer(integer) => u64::from_str_radix(integer.as_str(), integer.radix()).ok(),
            _ => None,
        };
        match number {
            Some(found) if found == u64::from(SCHEMA) => {}
            Some(found) if found > u64::from(SCHEMA) => {
                return Err(CaseError::SchemaTooNew { path: self.path.to_owned(), found });
            }
            _ => return Err(top.invalid("schema", schema, format_args!("expected the integer {SCHEMA}"))),
        }
        top.only(&["schema", "name", "summary", "oracle", "dispatch", "compute"])?;
        let meta = TraceMeta {
            name: top.text("name")?,
            summary: top.optional_text("summary")?,
            oracle: self.oracle(&top.table("oracle")?)?,
        };
        if meta.name.is_empty() {
            return Err(top.invalid("name", top.required("name")?, "a case needs a name"));
        }
        let mut tables = Vec::new();
        for key in ["dispatch", "compute"] {
            let Some(value) = top.table.get(key) else { continue };
            for (index, value) in top.array(key, value)?.iter().enumerate() {
                let DeValue::Table(table) = value.get_ref() else {
                    return Err(top.invalid(key, value, format_args!("expected [[{key}]] tables")));
                };
                let name = table.get("name").and_then(|name| name.get_ref().as_str());
                let place = name.map_or_else(|| format!("{key} {index}: "), |name| format!("{key} {name:?}: "));
                tables.push((key, Table { reader: self, place, prefix: String::new(), span: value.span(), table }));
            }
        }
        // The order of the file, over both kinds.
        tables.sort_by_key(|(_, table)| table.span.start);
        let mut names = HashSet::new();
        let mut dispatches = Vec::new();
        for (key, table) in &tables {
            let dispatch = match *key {
                "dispatch" => Recorded::Sample(self.dispatch(table)?),
                _ => Recorded::Compute(read_compute::compute(table)?),
            };
            if !names.insert(dispatch.name().to_owned()) {
                return Err(table.invalid("name", table.required("name")?, "a dispatch before this has the same name"));
            }
            dispatches.push(dispatch);
        }
        Ok(Recording { meta, dispatches })
    }

    fn oracle(&self, table: &Table<'_, '_>) -> Result<Oracle, CaseError> {
        table.only(&["device", "profile", "source", "note"])?;
        let source = table.text("source")?;
        Ok(Oracle {
            device: table.text("device")?,
            profile: table.text("profile")?,
            source: OracleSource::ALL.into_iter().find(|known| known.name() == source).ok_or_else(|| {
                let problem = format!("expected measured, published or synthetic, found {source:?}");
                table.required("source").map_or_else(|error| error, |value| table.invalid("source", value, problem))
            })?,
            note: table.optional_text("note")?,
        })
    }

    fn dispatch(&self, table: &Table<'_, '_>) -> Result<Dispatch, CaseError> {
        table.only(&[
            "name",
            "op",
            "grid",
            "image",
            "images",
            "sampler",
            "samplers",
            "border_table",
            "dmask",
            "texels",
            "coords",
            "expected",
        ])?;
        let name = table.text("name")?;
        let op = table.required("op")?;
        let op = table.text("op")?.parse().map_err(|error| table.invalid("op", op, error))?;
        let grid: [u32; 3] = table.words("grid", table.required("grid")?, number::integer)?;
        // The product, when it fits 64 bits. If not, no table of rows can have that length, and `check` says why.
        let samples = grid.iter().try_fold(1u64, |n, &d| n.checked_mul(u64::from(d)));
        let dmask = match table.table.get("dmask") {
            None => None,
            Some(value) => {
                let mask = number::integer(value.get_ref()).ok().and_then(|mask| u8::try_from(mask).ok());
                Some(mask.ok_or_else(|| table.invalid("dmask", value, "expected an integer from 1 to 15"))?)
            }
        };
        let (TableImage { words: image, texels }, more_images) = self.images(table)?;
        let (sampler, more_samplers) = self.samplers(table)?;
        let mut dispatch = Dispatch {
            name,
            op,
            grid,
            image,
            sampler,
            more_images,
            more_samplers,
            border_table: self.border_table(table)?,
            dmask,
            texels,
            coords: Coords { columns: Vec::new(), words: Words::default() },
            expected: None,
        };
        dispatch.coords = self.coords(&table.table("coords")?, samples)?;
        if table.table.get("expected").is_some() {
            dispatch.expected = Some(self.expected(&table.table("expected")?, samples)?);
        }
        dispatch.check().map_err(|found| {
            let span = table.table.get(found.field).map_or(table.span.clone(), |value| value.span());
            self.error(span, &format!("{}{}: ", table.place, found.field), found.problem)
        })?;
        Ok(dispatch)
    }

    /// The T#s with their texels: `image` and `texels` for one, or `images` for a table. A file that several entries name is
    /// read once.
    fn images(&self, table: &Table<'_, '_>) -> Result<(TableImage, Vec<TableImage>), CaseError> {
        let Some(list) = table.table.get("images") else {
            let words = table.words("image", table.required("image")?, number::word)?;
            return Ok((TableImage { words, texels: self.texels(&table.table("texels")?)? }, Vec::new()));
        };
        for single in ["image", "texels"] {
            if let Some(value) = table.table.get(single) {
                return Err(table.invalid(single, value, "stands beside images, expected one of the two forms"));
            }
        }
        let mut files: HashMap<String, Words> = HashMap::new();
        let mut images = Vec::new();
        for (entry, value) in self.entries(table, "images", list)?.iter().enumerate() {
            let key = format!("images[{entry}]");
            let DeValue::Table(fields) = value.get_ref() else {
                return Err(table.invalid(&key, value, "expected a table with words and texels"));
            };
            let prefix = format!("{}{key}.", table.prefix);
            let fields = Table { reader: self, place: table.place.clone(), prefix, span: value.span(), table: fields };
            fields.only(&["words", "texels"])?;
            let words = fields.words("words", fields.required("words")?, number::word)?;
            let texels = fields.table("texels")?;
            let file = texels.table.get("file").and_then(|file| file.get_ref().as_str());
            let texels = match file.and_then(|file| files.get(file)) {
                Some(known) if texels.table.len() == 1 => known.clone(),
                _ => {
                    let read = self.texels(&texels)?;
                    if let Some(file) = file {
                        files.insert(file.to_owned(), read.clone());
                    }
                    read
                }
            };
            images.push(TableImage { words, texels });
        }
        let mut images = images.into_iter();
        let first = images.next().ok_or_else(|| table.invalid("images", list, "expected at least one entry"))?;
        Ok((first, images.collect()))
    }

    /// The S#s: `sampler` for one, or `samplers` for a table.
    #[expect(clippy::type_complexity, reason = "the first S# and the others, as a dispatch holds them")]
    fn samplers(&self, table: &Table<'_, '_>) -> Result<(Option<[u32; 4]>, Vec<[u32; 4]>), CaseError> {
        let single = table.table.get("sampler");
        let Some(list) = table.table.get("samplers") else {
            let sampler = single.map(|value| table.words("sampler", value, number::word)).transpose()?;
            return Ok((sampler, Vec::new()));
        };
        if let Some(value) = single {
            return Err(table.invalid("sampler", value, "stands beside samplers, expected one of the two"));
        }
        let mut samplers = Vec::new();
        for (entry, value) in self.entries(table, "samplers", list)?.iter().enumerate() {
            samplers.push(table.words(&format!("samplers[{entry}]"), value, number::word)?);
        }
        if samplers.is_empty() {
            return Err(table.invalid("samplers", list, "expected at least one entry"));
        }
        let more = samplers.split_off(1);
        Ok((samplers.pop(), more))
    }

    /// The entries of a table of descriptors, not more than there may be.
    fn entries<'v, 'b>(
        &self,
        table: &Table<'_, '_>,
        key: &str,
        list: &'v Value<'b>,
    ) -> Result<&'v DeArray<'b>, CaseError> {
        let entries = table.array(key, list)?;
        if entries.len() > MAX_TABLE_ENTRIES {
            let problem = format!("{} entries, expected at most {MAX_TABLE_ENTRIES}", entries.len());
            return Err(table.invalid(key, list, problem));
        }
        Ok(entries)
    }

    fn border_table(&self, dispatch: &Table<'_, '_>) -> Result<Vec<[u32; 4]>, CaseError> {
        if dispatch.table.get("border_table").is_none() {
            return Ok(Vec::new());
        }
        let table = dispatch.table("border_table")?;
        table.only(&["rows"])?;
        let rows = table.array("rows", table.required("rows")?)?;
        rows.iter().enumerate().map(|(i, row)| table.words(&format!("rows[{i}]"), row, number::fp32)).collect()
    }

    pub(super) fn texels(&self, table: &Table<'_, '_>) -> Result<Words, CaseError> {
        table.only(&["words", "file"])?;
        if let Some(file) = table.file_or("words")? {
            return table.read_words(file, None);
        }
        let values = table.array("words", table.required("words")?)?;
        let word = |(i, value): (usize, &Value<'_>)| {
            number::word(value.get_ref()).map_err(|problem| table.invalid(&format!("words[{i}]"), value, problem))
        };
        Ok(values.iter().enumerate().map(word).collect::<Result<Vec<u32>, _>>()?.into())
    }

    fn coords(&self, table: &Table<'_, '_>, samples: Option<u64>) -> Result<Coords, CaseError> {
        table.only(&["columns", "rows", "file"])?;
        let mut columns: Vec<Column> = Vec::new();
        for (i, value) in table.array("columns", table.required("columns")?)?.iter().enumerate() {
            let key = format!("columns[{i}]");
            let name = value.get_ref().as_str().ok_or_else(|| table.invalid(&key, value, "expected a string"))?;
            columns.push(name.parse().map_err(|error| table.invalid(&key, value, error))?);
        }
        if let Some(file) = table.file_or("rows")? {
            let words = samples.and_then(|samples| samples.checked_mul(columns.len() as u64));
            let words = words.ok_or_else(|| table.invalid("file", file, "no file holds a grid of that size"))?;
            return Ok(Coords { columns, words: table.read_words(file, Some(words))? });
        }
        let rows = table.rows(samples)?;
        let mut words = Vec::new();
        for (r, row) in rows.iter().enumerate() {
            let values = table.array(&format!("rows[{r}]"), row)?;
            if values.len() != columns.len() {
                let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
                let problem =
                    format!("expected {} numbers ({}), found {}", names.len(), names.join(", "), values.len());
                return Err(table.invalid(&format!("rows[{r}]"), row, problem));
            }
            for (c, (value, column)) in values.iter().zip(&columns).enumerate() {
                let number = if column.is_integer() { number::word } else { number::fp32 };
                let word = number(value.get_ref());
                words.push(word.map_err(|problem| table.invalid(&format!("rows[{r}][{c}]"), value, problem))?);
            }
        }
        Ok(Coords { columns, words: words.into() })
    }

    fn expected(&self, table: &Table<'_, '_>, samples: Option<u64>) -> Result<Expected, CaseError> {
        table.only(&["rows", "file", "measured"])?;
        let mask = table.table.get("measured");
        if let Some(file) = table.file_or("rows")? {
            let too_large = || table.invalid("file", file, "no file holds a grid of that size");
            let samples = samples.ok_or_else(too_large)?;
            let words = table.read_words(file, Some(samples.checked_mul(4).ok_or_else(too_large)?))?;
            let measured = mask.map(|mask| table.read_bytes("measured", mask, samples)).transpose()?;
            return Ok(Expected { words, measured: measured.filter(|mask| mask.iter().any(|&m| m != 0xf)) });
        }
        if let Some(mask) = mask {
            return Err(table.invalid("measured", mask, "goes with file; in rows, \"*\" is what was not measured"));
        }
        let (mut words, mut measured) = (Vec::new(), Vec::new());
        for (r, row) in table.rows(samples)?.iter().enumerate() {
            let values = table.array(&format!("rows[{r}]"), row)?;
            if values.len() != 4 {
                let problem = format!("expected 4 numbers (X, Y, Z, W) or \"*\", found {}", values.len());
                return Err(table.invalid(&format!("rows[{r}]"), row, problem));
            }
            let mut channels = 0;
            for (c, value) in values.iter().enumerate() {
                if value.get_ref().as_str() == Some("*") {
                    words.push(0);
                    continue;
                }
                let word = number::fp32(value.get_ref());
                words.push(word.map_err(|problem| table.invalid(&format!("rows[{r}][{c}]"), value, problem))?);
                channels |= 1 << c;
            }
            measured.push(channels);
        }
        let partly = measured.iter().any(|&channels| channels != 0xf);
        Ok(Expected { words: words.into(), measured: partly.then_some(measured) })
    }
}

impl<'r, 'a> Table<'r, 'a> {
    /// An error at a value of this table. `key` may go on behind the key, as in `rows[3]`.
    pub(super) fn invalid(&self, key: &str, value: &Value<'_>, problem: impl std::fmt::Display) -> CaseError {
        self.reader.error(value.span(), &format!("{}{}{key}: ", self.place, self.prefix), problem)
    }

    /// Refuses keys that are not in `known`.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), CaseError> {
        let unknown = self.table.iter().filter(|(key, _)| !known.contains(&key.get_ref().as_ref()));
        // The first in the file, whatever the order of the map.
        let Some((key, _)) = unknown.min_by_key(|(key, _)| key.span().start) else { return Ok(()) };
        let place = format!("{}{}{}: ", self.place, self.prefix, key.get_ref());
        Err(self.reader.error(key.span(), &place, format_args!("unknown key, expected one of {}", known.join(", "))))
    }

    pub(super) fn required(&self, key: &str) -> Result<&'r Value<'a>, CaseError> {
        self.table.get(key).ok_or_else(|| {
            self.reader.error(self.span.clone(), &self.place, format_args!("missing key {}{key}", self.prefix))
        })
    }

    pub(super) fn text(&self, key: &str) -> Result<String, CaseError> {
        let value = self.required(key)?;
        let text = value.get_ref().as_str().map(str::to_owned);
        text.ok_or_else(|| {
            self.invalid(key, value, format_args!("expected a string, found {}", number::kind(value.get_ref())))
        })
    }

    pub(super) fn optional_text(&self, key: &str) -> Result<String, CaseError> {
        if self.table.get(key).is_some() { self.text(key) } else { Ok(String::new()) }
    }

    pub(super) fn table(&self, key: &str) -> Result<Table<'r, 'a>, CaseError> {
        let value = self.required(key)?;
        let DeValue::Table(table) = value.get_ref() else {
            let problem = format!("expected a table, found {}", number::kind(value.get_ref()));
            return Err(self.invalid(key, value, problem));
        };
        let prefix = format!("{}{key}.", self.prefix);
        Ok(Table { reader: self.reader, place: self.place.clone(), prefix, span: value.span(), table })
    }

    pub(super) fn array<'v, 'b>(&self, key: &str, value: &'v Value<'b>) -> Result<&'v DeArray<'b>, CaseError> {
        value.get_ref().as_array().ok_or_else(|| {
            self.invalid(key, value, format_args!("expected an array, found {}", number::kind(value.get_ref())))
        })
    }

    /// An array of exactly `N` numbers.
    pub(super) fn words<const N: usize>(
        &self,
        key: &str,
        value: &Value<'_>,
        number: fn(&DeValue<'_>) -> Result<u32, String>,
    ) -> Result<[u32; N], CaseError> {
        let values = self.array(key, value)?;
        if values.len() != N {
            return Err(self.invalid(key, value, format_args!("expected {N} numbers, found {}", values.len())));
        }
        let mut words = [0; N];
        for (i, (word, value)) in words.iter_mut().zip(values.iter()).enumerate() {
            *word = number(value.get_ref()).map_err(|problem| self.invalid(&format!("{key}[{i}]"), value, problem))?;
        }
        Ok(words)
    }

    /// The `rows` of this table, as many as there are samples.
    fn rows(&self, samples: Option<u64>) -> Result<&'r DeArray<'a>, CaseError> {
        let value = self.required("rows")?;
        let rows = self.array("rows", value)?;
        match samples {
            Some(samples) if samples == rows.len() as u64 => Ok(rows),
            Some(samples) => {
                Err(self.invalid("rows", value, format_args!("expected {samples} for the grid, found {}", rows.len())))
            }
            None => Err(self.invalid("rows", value, "no table holds a grid of that size")),
        }
    }

    /// The value of `file`, if it stands there instead of `inline`. Exactly one of the two must.
    fn file_or(&self, inline: &str) -> Result<Option<&'r Value<'a>>, CaseError> {
        match (self.table.get(inline), self.table.get("file")) {
            (Some(_), None) => Ok(None),
            (None, Some(file)) => Ok(Some(file)),
            (Some(_), Some(file)) => {
                Err(self.invalid("file", file, format_args!("stands beside {inline}, expected one of the two")))
            }
            (None, None) => {
                let place = format!("{}{}: ", self.place, self.prefix.trim_end_matches('.'));
                Err(self.reader.error(self.span.clone(), &place, format_args!("expected {inline} or file")))
            }
        }
    }

    /// Path of a file that the case names.
    fn file_path(&self, key: &str, value: &Value<'_>) -> Result<PathBuf, CaseError> {
        const EXPECTED: &str = "expected a path inside the folder of the case, relative, with / between parts";
        let name = value.get_ref().as_str().ok_or_else(|| self.invalid(key, value, EXPECTED))?;
        let path = Path::new(name);
        // A backslash or a drive's colon would mean another file on another system.
        let inside = !name.is_empty()
            && !name.contains(['\\', ':', '\0'])
            && path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !inside {
            return Err(self.invalid(key, value, format_args!("{EXPECTED}, found {name:?}")));
        }
        Ok(self.reader.folder.join(path))
    }

    /// Reads a `.bin` file of `expected` bytes, or of whatever length for `None`.
    fn read_file(&self, key: &str, value: &Value<'_>, expected: Option<u64>) -> Result<Vec<u8>, CaseError> {
        let path = self.file_path(key, value)?;
        let fail = |problem: String| self.invalid(key, value, format_args!("{}: {problem}", path.display()));
        let (file, bytes) = open_regular(&path).map_err(|error| match error {
            CaseError::Io { source, .. } => fail(format!("cannot read: {source}")),
            other => other,
        })?;
        if let Some(expected) = expected.filter(|&expected| expected != bytes) {
            return Err(fail(format!("expected {expected} bytes for the grid, found {bytes}")));
        }
        let mut content = Vec::new();
        // The length of a sparse file may be anything, so running out of memory is an error of its own here.
        let reserved = usize::try_from(bytes).is_ok_and(|bytes| content.try_reserve_exact(bytes).is_ok());
        if !reserved {
            return Err(fail(format!("{bytes} bytes do not fit in memory")));
        }
        file.take(bytes).read_to_end(&mut content).map_err(|source| fail(format!("cannot read: {source}")))?;
        if content.len() as u64 != bytes {
            return Err(fail(format!("expected {bytes} bytes, it became shorter while it was read")));
        }
        Ok(content)
    }

    fn read_bytes(&self, key: &str, value: &Value<'_>, bytes: u64) -> Result<Vec<u8>, CaseError> {
        self.read_file(key, value, Some(bytes))
    }

    fn read_words(&self, value: &Value<'_>, words: Option<u64>) -> Result<Words, CaseError> {
        let too_large = || self.invalid("file", value, "no file holds a grid of that size");
        let bytes = words.map(|words| words.checked_mul(4).ok_or_else(too_large)).transpose()?;
        let content = self.read_file("file", value, bytes)?;
        let (words, rest) = content.as_chunks::<4>();
        if !rest.is_empty() {
            let problem = format!("{} bytes, expected a multiple of 4", content.len());
            return Err(self.invalid("file", value, problem));
        }
        Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect::<Vec<u32>>().into())
    }
}
