//! Files written from the window: pictures, values, lists of differing samples, cases.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
};

use capture_format::{CaseOptions, Coords, Dispatch, Expected, Oracle, Trace, write_case};
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
}

/// The most pixels of a picture that is exported whole.
const MAX_PIXELS: u64 = 1 << 28;

/// Writes a picture as 8-bit RGB PNG, a pixel a sample.
///
/// # Errors
/// A picture of more than 2^28 pixels, and what the system refuses.
pub fn png(picture: &Picture, path: &Path) -> Result<(), ExportError> {
    let [w, h] = picture.size();
    if u64::from(w) * u64::from(h) > MAX_PIXELS {
        return Err(ExportError::Nothing("the picture has more than 2^28 pixels; export EXR values instead"));
    }
    let pixels = picture.draw(0, [0, 0], [w, h]);
    let bytes: Vec<u8> = pixels.iter().flat_map(|p| [p.r(), p.g(), p.b()]).collect();
    encode_png(path, [w, h], png::ColorType::Rgb, &bytes)
}

/// Writes pixels of the window as PNG.
///
/// # Errors
/// What the system refuses.
pub fn window_png(image: &egui::ColorImage, path: &Path) -> Result<(), ExportError> {
    let bytes: Vec<u8> = image.pixels.iter().flat_map(|p| [p.r(), p.g(), p.b()]).collect();
    encode_png(path, image.size.map(|n| n as u32), png::ColorType::Rgb, &bytes)
}

fn encode_png(path: &Path, [w, h]: [u32; 2], color: png::ColorType, bytes: &[u8]) -> Result<(), ExportError> {
    let file = File::create(path).map_err(|source| ExportError::Io { path: path.to_owned(), source })?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), w, h);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let fail = |error: png::EncodingError| ExportError::Picture { path: path.to_owned(), problem: error.to_string() };
    let mut writer = encoder.write_header().map_err(fail)?;
    writer.write_image_data(bytes).map_err(fail)?;
    writer.finish().map_err(fail)
}

/// Writes a slice of results as OpenEXR with the channels X, Y, Z, W: FP32, or 32-bit integers for integer formats. Bits are
/// kept; what was not measured is 0.
///
/// # Errors
/// When there are no results, and what the system refuses.
pub fn exr(plane: &Plane, z: u32, number: Number, path: &Path) -> Result<(), ExportError> {
    let [w, h, depth] = plane.grid();
    if z >= depth || w == 0 || h == 0 {
        return Err(ExportError::Nothing("the slice has no samples"));
    }
    let (size, count) = ((w as usize, h as usize), w as usize * h as usize);
    let first = z as usize * count;
    if plane.sample(first).is_none() {
        return Err(ExportError::Nothing("there are no results to export"));
    }
    let channel = |c: usize, name: &str| {
        let words = (first..first + count).map(|i| plane.sample(i).map_or(0, |(words, _)| words[c]));
        let samples = match number {
            Number::Float => FlatSamples::F32(words.map(f32::from_bits).collect()),
            Number::Uint | Number::Sint => FlatSamples::U32(words.collect()),
        };
        AnyChannel::new(name, samples)
    };
    let list = ["X", "Y", "Z", "W"].iter().enumerate().map(|(c, name)| channel(c, name)).collect();
    let layer = Layer::new(size, LayerAttributes::named("results"), Encoding::SMALL_LOSSLESS, AnyChannels::sort(list));
    let image = Image::from_layer(layer);
    let fail = |error: exr::error::Error| ExportError::Picture { path: path.to_owned(), problem: error.to_string() };
    image.write().to_file(path).map_err(fail)
}

/// Writes the differing samples as CSV: a row a channel that differs.
///
/// # Errors
/// When nothing was compared, and what the system refuses.
pub fn csv(outcome: &Outcome, path: &Path) -> Result<(), ExportError> {
    let fail = |source| ExportError::Io { path: path.to_owned(), source };
    let nothing = ExportError::Nothing("nothing was compared, so there are no differing samples to export");
    let Some(comparison) = &outcome.comparison else { return Err(nothing) };
    let mut file = BufWriter::new(File::create(path).map_err(fail)?);
    let mut write = || -> std::io::Result<()> {
        writeln!(file, "x,y,z,channel,got,expected,got_hex_float,expected_hex_float,got_value,expected_value,ulp")?;
        for index in comparison.mismatches.iter() {
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
        file.flush()
    };
    write().map_err(fail)
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

/// Writes one sample of a dispatch as a case into a folder: the same descriptors and texels, a grid of one invocation.
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
    let columns = dispatch.coords.columns.len();
    let row = dispatch.coords.words.get(index * columns..(index + 1) * columns);
    let row = row.ok_or(ExportError::Nothing("there is no such sample"))?;
    let expected = dispatch.expected.as_ref().and_then(|expected| {
        let measured = expected.measured_channels(index);
        let words = expected.sample(index)?;
        Some(Expected { words: words[..].into(), measured: (measured != 0xf).then(|| vec![measured]) })
    });
    let one = Dispatch {
        name: format!("{}-sample-{index}", dispatch.name),
        grid: [1, 1, 1],
        coords: Coords { columns: dispatch.coords.columns.clone(), words: row.into() },
        expected,
        ..dispatch.clone()
    };
    case(&one, oracle, changed, folder)
}

fn write(dispatch: Dispatch, oracle: Oracle, folder: &Path) -> Result<PathBuf, ExportError> {
    let name = dispatch.name.clone();
    let trace = Trace { name, summary: String::new(), oracle, dispatches: vec![dispatch] };
    Ok(write_case(&trace, folder, &CaseOptions::default())?)
}
