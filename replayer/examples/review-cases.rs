//! Writes the cases of `traces/review`: the published review of the emulated filter, in the order of its points, and the
//! sweep over one texel that it counts 768 wrong rows in.
//!
//! `cargo run -p replayer --example review-cases -- traces` reads `traces/gfx1035` and writes `traces/review`, and in
//! `traces/tables` the same points in dispatches with tables of descriptors.

use std::path::Path;

use anyhow::{Context as _, ensure};
use capture_format::{
    Case, CaseOptions, Column, Coords, Dispatch, Expected, Op, Oracle, OracleSource, TableImage, Trace, write_case,
};
use replayer::{
    path::{Path as Evaluated, evaluate},
    rules::Profile,
};

fn main() -> anyhow::Result<()> {
    let folder = std::env::args().nth(1).context("usage: review-cases FOLDER")?;
    let folder = Path::new(&folder);
    for (name, trace) in [("published", published(folder)?), ("sweep-1024", sweep()?)] {
        let options = CaseOptions { overwrite: true, ..CaseOptions::default() };
        let path = write_case(&trace, &folder.join("review").join(name), &options)?;
        println!("{}", path.display());
    }
    let options = CaseOptions { overwrite: true, ..CaseOptions::default() };
    let path = write_case(&tables(&published(folder)?)?, &folder.join("tables"), &options)?;
    println!("{}", path.display());
    Ok(())
}

/// The published points, all in one trace.
fn published(folder: &Path) -> anyhow::Result<Trace> {
    let mut all = Trace {
        name: "published".to_owned(),
        summary: "the published hardware review of the emulated filter, point by point".to_owned(),
        oracle: Oracle {
            device: "AMD gfx1035".to_owned(),
            profile: "gfx1035".to_owned(),
            source: OracleSource::Published,
            note: "the points of traces/gfx1035 in the order of the review".to_owned(),
        },
        dispatches: Vec::new(),
    };
    for part in ["mip-filter", "z-filter", "border-swizzle", "weight-rounding", "trunc-coord", "decode"] {
        let trace = Case::read(&folder.join("gfx1035").join(format!("{part}.toml")))?;
        ensure!(trace.oracle.device == all.oracle.device, "{part}: another device");
        for mut dispatch in trace.dispatches {
            dispatch.name = format!("{part}-{}", dispatch.name);
            all.dispatches.push(dispatch);
        }
    }
    Ok(all)
}

/// The published points with the descriptors of several dispatches in tables: a dispatch for each instruction and view.
fn tables(published: &Trace) -> anyhow::Result<Trace> {
    let mut trace = Trace {
        name: "tables".to_owned(),
        summary: "published points of several T#s and S#s in one dispatch, chosen by index".to_owned(),
        oracle: Oracle {
            note: "measured with one T# and one S# at a time, as in traces/gfx1035; a table changes which are used, not what \
                   they do"
                .to_owned(),
            ..published.oracle.clone()
        },
        dispatches: Vec::new(),
    };
    let groups = [
        ("planes", Op::SAMPLE_LZ, vec![Column::U, Column::V]),
        ("volumes", Op::SAMPLE_LZ, vec![Column::U, Column::V, Column::W]),
        ("levels", Op::SAMPLE_L, vec![Column::U, Column::V, Column::Lod]),
    ];
    for (name, op, columns) in groups {
        let points = published.dispatches.iter().filter(|d| d.op == op && d.coords.columns == columns);
        trace.dispatches.push(in_tables(name, &points.collect::<Vec<_>>())?);
    }
    Ok(trace)
}

/// The samples of some dispatches, in turn, each with the entries that hold its descriptors.
fn in_tables(name: &str, points: &[&Dispatch]) -> anyhow::Result<Dispatch> {
    let first = *points.first().context("no points")?;
    let mut images: Vec<TableImage> = Vec::new();
    let mut samplers: Vec<[u32; 4]> = Vec::new();
    let (mut rows, mut expected, mut measured) = (Vec::new(), Vec::new(), Vec::new());
    let place = |found: Option<usize>, length: usize| found.unwrap_or(length);
    let longest = points.iter().map(|point| point.coords.rows()).max().unwrap_or(0);
    for sample in 0..longest {
        for point in points.iter().filter(|point| sample < point.coords.rows()) {
            let image = TableImage { words: point.image, texels: point.texels.clone() };
            let sampler = point.sampler.context("no S#")?;
            let image_at = place(images.iter().position(|known| *known == image), images.len());
            let sampler_at = place(samplers.iter().position(|known| *known == sampler), samplers.len());
            if image_at == images.len() {
                images.push(image);
            }
            if sampler_at == samplers.len() {
                samplers.push(sampler);
            }
            let results = point.expected.as_ref().context("no results")?;
            expected.extend(results.sample(sample).context("no result")?);
            measured.push(results.measured_channels(sample));
            let columns = point.coords.columns.len();
            rows.push((point.coords.words[sample * columns..][..columns].to_vec(), image_at as u32, sampler_at as u32));
        }
    }
    let mut columns = first.coords.columns.clone();
    columns.extend((images.len() > 1).then_some(Column::Image));
    columns.extend((samplers.len() > 1).then_some(Column::Sampler));
    let row = |(row, image, sampler): &(Vec<u32>, u32, u32)| {
        let image = (images.len() > 1).then_some(*image);
        let sampler = (samplers.len() > 1).then_some(*sampler);
        row.iter().copied().chain(image).chain(sampler).collect::<Vec<u32>>()
    };
    let words: Vec<u32> = rows.iter().flat_map(row).collect();
    let texels = images.remove(0);
    Ok(Dispatch {
        name: name.to_owned(),
        grid: [rows.len() as u32, 1, 1],
        image: texels.words,
        texels: texels.texels,
        sampler: Some(samplers.remove(0)),
        more_images: images,
        more_samplers: samplers,
        coords: Coords { columns, words: words.into() },
        expected: Some(Expected { words: expected.into(), measured: Some(measured) }),
        ..first.clone()
    })
}

/// 1,024 rows at 1/1024 texel from one texel's centre to the next, between 0 and 1; the second axis is constant.
fn sweep() -> anyhow::Result<Trace> {
    const SIZE: u16 = 32;
    const FIRST: f32 = 15.5;
    // Format 43: 1.0 in all three channels.
    let row = |_| (0..SIZE).map(|x| if x % 2 == 0 { 0x780f_01e0 } else { 0 });
    let coords = (0u16..1024).flat_map(|step| {
        let texels = FIRST + f32::from(step) / 1024.0;
        [(texels / f32::from(SIZE)).to_bits(), 0.5f32.to_bits()]
    });
    let mut dispatch = Dispatch {
        name: "one-texel".to_owned(),
        op: Op::SAMPLE_LZ,
        grid: [1024, 1, 1],
        image: [0, 0xc2b0_0000, 0x8000_c007, 0x9000_03ac, 0, 0, 0, 0],
        sampler: Some([0x92, 0x00ff_f000, 0x0050_0000, 0]),
        more_images: Vec::new(),
        more_samplers: Vec::new(),
        border_table: Vec::new(),
        dmask: None,
        texels: (0..4).flat_map(row).collect::<Vec<u32>>().into(),
        coords: Coords { columns: vec![Column::U, Column::V], words: coords.collect::<Vec<u32>>().into() },
        expected: None,
    };
    let words = evaluate(&dispatch, Evaluated::Reference, &Profile::GFX1035, None, false)?;
    dispatch.expected = Some(Expected { words: words.into(), measured: None });
    Ok(Trace {
        name: "sweep-1024".to_owned(),
        summary: "bilinear weight over one texel at 1/1024 steps; weights off the 1/256 grid are 768 of 1,024"
            .to_owned(),
        oracle: Oracle {
            device: "AMD gfx1035".to_owned(),
            profile: "gfx1035".to_owned(),
            source: OracleSource::Synthetic,
            note: "computed by the rules of gfx1035; the review counts the rows that differ and does not list them"
                .to_owned(),
        },
        dispatches: vec![dispatch],
    })
}
