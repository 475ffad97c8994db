//! Files written from the window: pictures, values, lists of differing samples, cases.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use capture_format::{
    CaseOptions, ComputeDispatch, Dispatch, Expected, Oracle, Recorded, Recording, Trace, TraceMeta, write_case,
    write_recording_case,
};
use exr::prelude::{AnyChannel, AnyChannels, Encoding, FlatSamples, Image, Layer, LayerAttributes, WritableImage as _};

use super::{
    compare::Number,
    number::{decimal, hex_float, word},
    outcome::Outcome,
    raster::{Picture, Plane},
};

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The system refused.
    #[error("{}: cannot write: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The picture can't be encoded.
    #[error("{}: cannot write the picture: {problem}", path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A case can't be written.
    #[error(transparent)]
    Case(#[from] capture_format::CaseError),
    /// There is nothing to write.
    #[error("{0}")]
    Nothing(&'static str),
    /// The view shows no picture: why.
    #[error("there is no picture to export: {0}")]
    Unseen(String),
}

/// The most pixels of a picture that is exported whole.
const MAX_PIXELS: u64 = 1 << 28;

/// Rows that are drawn at a time.
const BAND: u32 = 64;

/// Whether a file was written, or given up because the flag was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The file is there.
    Whole,
    /// There is no file; one of that name that was there before still is.
    GivenUp,
}

/// Writes a file under another name and puts it in its place once it is whole.
fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<Written, ExportError>,
) -> Result<Written, ExportError> {
    let fail = |source| ExportError::Io { path: path.to_owned(), source };
    let mut name = path.file_name().ok_or(ExportError::Nothing("the path names no file"))?.to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let mut file = BufWriter::new(File::create(&part).map_err(fail)?);
    let written = write(&mut file).and_then(|written| {
        file.flush().map_err(fail)?;
        if written == Written::Whole {
            fs::rename(&part, path).map_err(fail)?;
        }
        Ok(written)
    });
    if !matches!(written, Ok(Written::Whole)) {
        // What can't be removed either is left; the error that matters is the first.
        drop(fs::remove_file(&part));
    }
    written
}

/// Writes a picture as 8-bit RGB PNG, a pixel a sample.
///
/// # Errors
/// A picture of no or of more than 2^28 pixels, and what the system refuses.
pub fn png(picture: &Picture, path: &Path, stop: &AtomicBool) -> Result<Written, ExportError> {
    let [w, h] = picture.size();
    if w == 0 || h == 0 {
        return Err(ExportError::Nothing("the picture has no pixels"));
    }
    if u64::from(w) * u64::from(h) > MAX_PIXELS {
        return Err(ExportError::Nothing("the picture has more than 2^28 pixels; export EXR values instead"));
    }
    replace(path, |file| {
        let io = |source| ExportError::Io { path: path.to_owned(), source };
        let fail = |error| encoding_error(path, &error);
        let mut writer = encoder(file, [w, h]).write_header().map_err(fail)?;
        let mut stream = writer.stream_writer().map_err(fail)?;
        for y in (0..h).step_by(BAND as usize) {
            if stop.load(Ordering::Relaxed) {
                // An encoder that is dropped half-way pads the picture; the file is removed.
                return Ok(Written::GivenUp);
            }
            let pixels = picture.draw(0, [0, y], [w, BAND.min(h - y)]);
            let bytes: Vec<u8> = pixels.iter().flat_map(|p| [p.r(), p.g(), p.b()]).collect();
            stream.write_all(&bytes).map_err(io)?;
        }
        stream.finish().map_err(fail)?;
        writer.finish().map_err(fail)?;
        Ok(Written::Whole)
    })
}

/// Writes pixels of the window as PNG.
///
/// # Errors
/// What the system refuses.
pub fn window_png(image: &egui::ColorImage, path: &Path) -> Result<(), ExportError> {
    let bytes: Vec<u8> = image.pixels.iter().flat_map(|p| [p.r(), p.g(), p.b()]).collect();
    replace(path, |file| {
        let fail = |error| encoding_error(path, &error);
        let mut writer = encoder(file, image.size.map(|n| n as u32)).write_header().map_err(fail)?;
        writer.write_image_data(&bytes).map_err(fail)?;
        writer.finish().map_err(fail)?;
        Ok(Written::Whole)
    })
    .map(|_| ())
}

fn encoder<W: Write>(file: W, [w, h]: [u32; 2]) -> png::Encoder<'static, W> {
    let mut encoder = png::Encoder::new(file, w, h);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder
}

fn encoding_error(path: &Path, error: &png::EncodingError) -> ExportError {
    ExportError::Picture { path: path.to_owned(), problem: error.to_string() }
}

/// Writes a slice of results as OpenEXR with the channels X, Y, Z, W: FP32, or 32-bit integers for integer formats. Bits are
/// kept; what was not measured is 0.
///
/// # Errors
/// When there are no results, and what the system refuses.
pub fn exr(plane: &Plane, z: u32, number: Number, path: &Path, stop: &AtomicBool) -> Result<Written, ExportError> {
    let [w, h, depth] = plane.grid();
    if z >= depth || w == 0 || h == 0 {
        return Err(ExportError::Nothing("the slice has no samples"));
    }
    let (size, count) = ((w as usize, h as usize), w as usize * h as usize);
    let first = z as usize * count;
    if plane.sample(first).is_none() {
        return Err(ExportError::Nothing("there are no results to export"));
    }
    let mut list = Vec::new();
    for (c, name) in ["X", "Y", "Z", "W"].into_iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            return Ok(Written::GivenUp);
        }
        let words = (first..first + count).map(|i| plane.sample(i).map_or(0, |(words, _)| words[c]));
        let samples = match number {
            Number::Float => FlatSamples::F32(words.map(f32::from_bits).collect()),
            Number::Uint | Number::Sint => FlatSamples::U32(words.collect()),
        };
        list.push(AnyChannel::new(name, samples));
    }
    let layer = Layer::new(
        size,
        LayerAttributes::named("results"),
        Encoding::SMALL_LOSSLESS,
        AnyChannels::sort(list.into_iter().collect()),
    );
    let image = Image::from_layer(layer);
    let fail = |error: exr::error::Error| ExportError::Picture { path: path.to_owned(), problem: error.to_string() };
    replace(path, |file| {
        image.write().to_buffered(file).map_err(fail)?;
        Ok(Written::Whole)
    })
}

/// Writes the differing samples as CSV: a row a channel that differs.
///
/// # Errors
/// When nothing was compared, and what the system refuses.
pub fn csv(outcome: &Outcome, path: &Path, stop: &AtomicBool) -> Result<Written, ExportError> {
    let nothing = ExportError::Nothing("nothing was compared, so there are no differing samples to export");
    let Some(comparison) = &outcome.comparison else { return Err(nothing) };
    replace(path, |file| {
        let mut write = || -> std::io::Result<Written> {
            writeln!(file, "x,y,z,channel,got,expected,got_hex_float,expected_hex_float,got_value,expected_value,ulp")?;
            for index in comparison.mismatches.iter() {
                if stop.load(Ordering::Relaxed) {
                    return Ok(Written::GivenUp);
                }
                let Some(found) = outcome.difference(index) else { continue };
                let [x, y, z] = found.position;
                for c in (0..4).filter(|c| found.channels >> c & 1 == 1) {
                    let (g, e) = (found.got[c], found.expected[c]);
                    writeln!(
                        file,
                        "{x},{y},{z},{},{},{},{},{},{},{},{}",
                        ["X", "Y", "Z", "W"][c],
                        word(g),
                        word(e),
                        hex_float(g),
                        hex_float(e),
                        decimal(g, outcome.number),
                        decimal(e, outcome.number),
                        found.distances[c]
                    )?;
                }
            }
            Ok(Written::Whole)
        };
        write().map_err(|source| ExportError::Io { path: path.to_owned(), source })
    })
}

/// Writes a dispatch as a case into a folder and gives the path of the case file.
///
/// With changed descriptors the oracle's results are no longer those of the hardware, so they are left out, and the note says
/// what was changed.
///
/// # Errors
/// What [`write_case`] refuses; files that are there already are not replaced.
pub fn case(dispatch: &Dispatch, oracle: &Oracle, changed: bool, folder: &Path) -> Result<PathBuf, ExportError> {
    let mut dispatch = dispatch.clone();
    let mut oracle = oracle.clone();
    if changed {
        dispatch.expected = None;
        oracle.note = format!(
            "{}{}T# or S# was changed by hand, so there are no results of the hardware",
            oracle.note,
            if oracle.note.is_empty() { "" } else { "; " }
        );
    }
    write(dispatch, oracle, folder)
}

/// Writes a compute dispatch as a case into a folder and gives the path of the case file.
///
/// # Errors
/// As [`case`].
pub fn compute_case(dispatch: &ComputeDispatch, oracle: &Oracle, folder: &Path) -> Result<PathBuf, ExportError> {
    let meta = TraceMeta { name: dispatch.name.clone(), summary: String::new(), oracle: oracle.clone() };
    let recording = Recording { meta, dispatches: vec![Recorded::Compute(dispatch.clone())] };
    Ok(write_recording_case(&recording, folder, &CaseOptions::default())?)
}

/// Writes one sample of a dispatch as a case into a folder: its descriptors and texels, a grid of one invocation.
///
/// # Errors
/// As [`case`], and when there is no such sample.
pub fn sample_case(
    dispatch: &Dispatch,
    oracle: &Oracle,
    changed: bool,
    index: usize,
    folder: &Path,
) -> Result<PathBuf, ExportError> {
    let entries = dispatch.entries_of(index);
    let one = u32::try_from(index).ok().and_then(|number| dispatch.with_entries(entries?, [1, 1, 1], &[number]));
    let one = one.ok_or(ExportError::Nothing("there is no such sample"))?;
    let expected = dispatch.expected.as_ref().and_then(|expected| {
        let measured = expected.measured_channels(index);
        let words = expected.sample(index)?;
        Some(Expected { words: words[..].into(), measured: (measured != 0xf).then(|| vec![measured]) })
    });
    let one = Dispatch { name: format!("{}-sample-{index}", dispatch.name), expected, ..one };
    case(&one, oracle, changed, folder)
}

fn write(dispatch: Dispatch, oracle: Oracle, folder: &Path) -> Result<PathBuf, ExportError> {
    let name = dispatch.name.clone();
    let trace = Trace { name, summary: String::new(), oracle, dispatches: vec![dispatch] };
    Ok(write_case(&trace, folder, &CaseOptions::default())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_given_up_leaves_the_one_of_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let write = |text: &'static str, written: Written| {
            replace(&path, |file| {
                file.write_all(text.as_bytes()).unwrap();
                Ok(written)
            })
            .unwrap()
        };
        assert_eq!(write("first", Written::Whole), Written::Whole);
        assert_eq!(write("second", Written::GivenUp), Written::GivenUp);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        let failed = replace(&path, |_| Err(ExportError::Nothing("no values")));
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(write("third", Written::Whole), Written::Whole);
        assert_eq!(fs::read_to_string(&path).unwrap(), "third");
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a.csv"]);
    }
}
