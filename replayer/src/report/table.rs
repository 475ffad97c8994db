//! Results sample by sample, as a table: for DuckDB, Polars, Spark, or a spreadsheet.

use std::{
    fs::File,
    io::{self, BufWriter},
    path::Path,
    sync::Arc,
};

use capture_format::Replacement;
use parquet::{
    basic::Compression,
    data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type},
    errors::ParquetError,
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};

use crate::compare::{Difference, Operands, Options};

/// Rows that are held in memory at a time.
const ROWS: usize = 1 << 18;

/// The columns. Words are unsigned; one that was not measured is null (empty in CSV). `mismatch` has a bit for each channel that
/// differs, `ulp` is the largest distance, 4294967295 for a NaN against a number.
const SCHEMA: &str = "message samples {
    required binary trace (UTF8);
    required binary dispatch (UTF8);
    required int64 sample (UINT_64);
    required int32 x (UINT_32);
    required int32 y (UINT_32);
    required int32 z (UINT_32);
    required int32 got_x (UINT_32);
    required int32 got_y (UINT_32);
    required int32 got_z (UINT_32);
    required int32 got_w (UINT_32);
    optional int32 expected_x (UINT_32);
    optional int32 expected_y (UINT_32);
    optional int32 expected_z (UINT_32);
    optional int32 expected_w (UINT_32);
    required int32 mismatch (UINT_32);
    required int32 ulp (UINT_32);
}";

/// Names of the columns in order.
const COLUMNS: [&str; 16] = [
    "trace",
    "dispatch",
    "sample",
    "x",
    "y",
    "z",
    "got_x",
    "got_y",
    "got_z",
    "got_w",
    "expected_x",
    "expected_y",
    "expected_z",
    "expected_w",
    "mismatch",
    "ulp",
];

/// Why a table could not be written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file can't be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Parquet's writer failed.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// The CSV writer failed.
    #[error(transparent)]
    Csv(#[from] csv::Error),
}

/// The form of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableForm {
    /// Apache Parquet, Snappy-compressed, a row group for each 262,144 samples of a dispatch.
    Parquet,
    /// Comma-separated values with a header.
    Csv,
}

/// A table that is being written.
pub struct SampleTable {
    writer: Writer,
    file: Replacement,
}

enum Writer {
    Parquet(Box<SerializedFileWriter<BufWriter<File>>>),
    Csv(Box<csv::Writer<File>>),
}

/// One sample of a table.
struct Row {
    index: u64,
    position: [u32; 3],
    got: [u32; 4],
    expected: [Option<u32>; 4],
    channels: u8,
    ulp: u32,
}

impl SampleTable {
    /// Begins the file. It is in its place when [`Self::finish`] has ended it.
    ///
    /// # Errors
    /// When it can't be created.
    pub fn create(path: &Path, form: TableForm) -> Result<Self, TableError> {
        let replacement = Replacement::new(path)?;
        let file = replacement.file().try_clone()?;
        let writer = match form {
            TableForm::Parquet => {
                let schema = Arc::new(parse_message_type(SCHEMA)?);
                let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let writer = SerializedFileWriter::new(BufWriter::new(file), schema, Arc::new(properties))?;
                Writer::Parquet(Box::new(writer))
            }
            TableForm::Csv => {
                let mut writer = csv::Writer::from_writer(file);
                writer.write_record(COLUMNS)?;
                Writer::Csv(Box::new(writer))
            }
        };
        Ok(Self { writer, file: replacement })
    }

    /// Writes all samples of a dispatch. The lengths of the operands must be those of their grid, as [`crate::compare::compare`]
    /// checks; samples beyond the shorter side are left out.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn write(&mut self, trace: &str, dispatch: &str, operands: &Operands<'_>) -> Result<(), TableError> {
        let samples = operands.got.as_chunks::<4>().0.iter().zip(operands.expected.as_chunks::<4>().0);
        let options = Options::default();
        let mut rows = samples.enumerate().map(|(index, (&got, &expected))| {
            let measured = operands.measured.map_or(0xf, |m| m.get(index).copied().unwrap_or(0));
            let difference = Difference::of(index as u64, operands.grid, got, expected, measured, &options);
            Row {
                index: index as u64,
                position: crate::compare::position(index as u64, operands.grid),
                got,
                expected: [0, 1, 2, 3].map(|c| (measured >> c & 1 == 1).then_some(expected[c])),
                channels: difference.map_or(0, |d| d.channels),
                ulp: difference.map_or(0, |d| d.ulp()),
            }
        });
        loop {
            let chunk: Vec<_> = rows.by_ref().take(ROWS).collect();
            if chunk.is_empty() {
                return Ok(());
            }
            match &mut self.writer {
                Writer::Parquet(writer) => write_row_group(writer, trace, dispatch, &chunk)?,
                Writer::Csv(writer) => write_records(writer, trace, dispatch, &chunk)?,
            }
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn finish(self) -> Result<(), TableError> {
        match self.writer {
            Writer::Parquet(writer) => {
                writer.close()?;
            }
            Writer::Csv(mut writer) => writer.flush()?,
        }
        Ok(self.file.commit()?)
    }
}

fn write_row_group(
    writer: &mut SerializedFileWriter<BufWriter<File>>,
    trace: &str,
    dispatch: &str,
    rows: &[Row],
) -> Result<(), TableError> {
    let mut group = writer.next_row_group()?;
    for name in [trace, dispatch] {
        let values = vec![ByteArray::from(name); rows.len()];
        if let Some(mut column) = group.next_column()? {
            column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
            column.close()?;
        }
    }
    let index: Vec<_> = rows.iter().map(|row| row.index.cast_signed()).collect();
    if let Some(mut column) = group.next_column()? {
        column.typed::<Int64Type>().write_batch(&index, None, None)?;
        column.close()?;
    }
    let mut words = |value: &dyn Fn(&Row) -> Option<u32>, optional: bool| -> Result<(), TableError> {
        let values: Vec<_> = rows.iter().filter_map(value).map(u32::cast_signed).collect();
        let levels: Vec<_> = rows.iter().map(|row| i16::from(value(row).is_some())).collect();
        if let Some(mut column) = group.next_column()? {
            column.typed::<Int32Type>().write_batch(&values, optional.then_some(&levels[..]), None)?;
            column.close()?;
        }
        Ok(())
    };
    for axis in 0..3 {
        words(&|row| Some(row.position[axis]), false)?;
    }
    for channel in 0..4 {
        words(&|row| Some(row.got[channel]), false)?;
    }
    for channel in 0..4 {
        words(&|row| row.expected[channel], true)?;
    }
    words(&|row| Some(u32::from(row.channels)), false)?;
    words(&|row| Some(row.ulp), false)?;
    group.close()?;
    Ok(())
}

fn write_records(writer: &mut csv::Writer<File>, trace: &str, dispatch: &str, rows: &[Row]) -> Result<(), TableError> {
    for row in rows {
        let words = row.position.into_iter().chain(row.got).map(Some).chain(row.expected);
        let words = words.chain([Some(u32::from(row.channels)), Some(row.ulp)]);
        writer.write_field(trace)?;
        writer.write_field(dispatch)?;
        writer.write_field(row.index.to_string())?;
        for word in words {
            writer.write_field(word.map_or_else(String::new, |w| w.to_string()))?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::{
        file::reader::{FileReader, SerializedFileReader},
        record::Field,
    };

    use super::*;

    const OPERANDS: Operands<'static> = Operands {
        grid: [1, 2, 1],
        got: &[1, 2, 3, u32::MAX, 5, 6, 7, 8],
        expected: &[1, 2, 3, u32::MAX, 5, 0, 0, 9],
        measured: Some(&[0xf, 0b1001]),
    };

    #[test]
    fn a_parquet_file_reads_back_with_words_and_nulls() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.parquet");
        let mut table = SampleTable::create(&path, TableForm::Parquet).unwrap();
        table.write("trace", "a", &OPERANDS).unwrap();
        table.write("trace", "b", &OPERANDS).unwrap();
        table.finish().unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows: Vec<Vec<Field>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
            .collect();
        assert_eq!(rows.len(), 4);
        let names: Vec<_> =
            reader.metadata().file_metadata().schema().get_fields().iter().map(|f| f.name().to_owned()).collect();
        assert_eq!(names, COLUMNS);
        assert_eq!(rows[0][0], Field::Str("trace".to_owned()));
        assert_eq!(rows[3][1], Field::Str("b".to_owned()));
        assert_eq!(rows[0][9], Field::UInt(u32::MAX));
        assert_eq!(rows[1][2..6], [Field::ULong(1), Field::UInt(0), Field::UInt(1), Field::UInt(0)]);
        assert_eq!(
            rows[1][10..],
            [Field::UInt(5), Field::Null, Field::Null, Field::UInt(9), Field::UInt(8), Field::UInt(1)]
        );
    }

    #[test]
    fn csv_has_a_header_and_empty_cells_for_what_was_not_measured() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.csv");
        let mut table = SampleTable::create(&path, TableForm::Csv).unwrap();
        table.write("a, b", "d", &OPERANDS).unwrap();
        table.finish().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], COLUMNS.join(","));
        assert_eq!(lines[1], "\"a, b\",d,0,0,0,0,1,2,3,4294967295,1,2,3,4294967295,0,0");
        assert_eq!(lines[2], "\"a, b\",d,1,0,1,0,5,6,7,8,5,,,9,8,1");
        assert_eq!(lines.len(), 3);
    }
}
