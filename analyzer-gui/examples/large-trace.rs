//! Writes a trace to measure the window with: `large-trace OUT [SIDE [COUNT]]`, COUNT dispatches of SIDE² samples.
//!
//! The oracle is synthetic: what the reference computes by the rules of the H200.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use capture_format::{
    Column, Coords, Dispatch, Expected, ImageDescriptor, Op, Oracle, OracleSource, SamplerDescriptor, Trace, Words,
    WriteOptions, write_trace,
};
use replayer::{
    path::{Path, evaluate},
    rules::Profile,
};

/// Width and height of the texture.
const TEXTURE: u32 = 256;

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args_os().skip(1);
    let Some(out) = args.next().map(PathBuf::from) else { bail!("usage: large-trace OUT [SIDE [COUNT]]") };
    let mut number = |name: &str, default: u32| match args.next() {
        None => Ok(default),
        Some(text) => {
            text.to_str().and_then(|text| text.parse().ok()).with_context(|| format!("{name} is no number: {text:?}"))
        }
    };
    let (side, count) = (number("SIDE", 4096)?, number("COUNT", 1)?);
    let texels = texels();
    let mut dispatches = Vec::new();
    for n in 0..count {
        let mut dispatch = Dispatch {
            name: format!("{side}x{side} {n}"),
            op: Op::SAMPLE_LZ,
            grid: [side, side, 1],
            image: image()?,
            sampler: Some(SamplerDescriptor::from_words([0, 0x00ff_f000, 0x0050_0000, 0]).words()),
            more_images: Vec::new(),
            more_samplers: Vec::new(),
            border_table: Vec::new(),
            dmask: None,
            texels: texels.clone(),
            coords: Coords { columns: vec![Column::U, Column::V], words: coords(side, n) },
            expected: None,
        };
        let words = evaluate(&dispatch, Path::Reference, &Profile::H200, None, false)?;
        dispatch.expected = Some(Expected { words: words.into(), measured: None });
        dispatches.push(dispatch);
    }
    let oracle = Oracle {
        device: "the reference by the rules of the H200".to_owned(),
        profile: Profile::H200.name.to_owned(),
        source: OracleSource::Synthetic,
        note: String::new(),
    };
    let summary = "to measure programs with".to_owned();
    let trace = Trace { name: "large".to_owned(), summary, oracle, dispatches };
    write_trace(&out, &trace, WriteOptions::default())?;
    Ok(())
}

/// A 2D image of format 43 with X, Y, Z, 1.
fn image() -> anyhow::Result<[u32; 8]> {
    let image = ImageDescriptor::from_words([0, 0, 0x8000_0000, 0x9000_03ac, 0, 0, 0, 0]);
    Ok(image.with_format(43)?.with_width(TEXTURE)?.with_height(TEXTURE)?.words())
}

/// Rings of colour: every exponent of the format occurs.
fn texels() -> Words {
    let texel = |index: u32| {
        let (x, y) = ((index % TEXTURE) as f32 - 128.0, (index / TEXTURE) as f32 - 128.0);
        let distance = (x * x + y * y).sqrt();
        let code = |phase: f32, most: f32| ((distance / 12.0 + phase).sin() * 0.5 + 0.5) * most * 0.9;
        // Codes of unsigned floats with 5, 6 and 6 fraction bits.
        let (r, g, b) = (code(0.0, 512.0) as u32, code(2.1, 1024.0) as u32, code(4.2, 1024.0) as u32);
        r | g << 10 | b << 21
    };
    (0..TEXTURE * TEXTURE).map(texel).collect::<Vec<_>>().into()
}

/// Coordinates that zoom into the texture and turn it, so that every fraction of a texel occurs; others for each dispatch.
fn coords(side: u32, n: u32) -> Words {
    let shift = n as f32 / 64.0;
    let mut words = Vec::with_capacity(side as usize * side as usize * 2);
    for y in 0..side {
        for x in 0..side {
            let (s, t) = (x as f32 / side as f32, y as f32 / side as f32);
            words.push((0.8 * s + 0.3 * t + shift).to_bits());
            words.push((0.8 * t - 0.3 * s + 0.2).to_bits());
        }
    }
    words.into()
}
