//! Samples a second of the embedded executor: `cargo bench -p replayer --bench embedded`.
//!
//! The module fetches four texels of a packed format, unpacks them and blends them with weights of 1/256, as the emulated path
//! does for a bilinear sample.

#[path = "../tests/modules/mod.rs"]
mod modules;

use divan::Bencher;
use divan::counter::ItemsCount;
use modules::shader::{BOOL, F32, I32, ImageType, Shader, U32};
use modules::{Bound, Case, CaseImage};
use replayer::execute::embedded::Embedded;
use replayer::execute::{Executor, ImageDim};
use rspirv::spirv::{BuiltIn, Dim, GlslStd450Op as G, ImageOperands, Op};

const SAMPLES: u32 = 1 << 20;
const SIZE: u32 = 256;

fn main() {
    divan::main();
}

/// A float of `bits` bits without a sign, 5 of them exponent, from the low bits of a word, as a 32-bit float.
fn small_float(s: &mut Shader, word: u32, at: u32, bits: u32) -> u32 {
    let (offset, count) = (s.u(at), s.u(bits));
    let field = s.kind_op(Op::BitFieldUExtract, U32, &[word, offset, count]);
    let mantissa = bits - 5;
    let up = s.u(23 - mantissa);
    let shifted = s.kind_op(Op::ShiftLeftLogical, U32, &[field, up]);
    let value = s.kind_op(Op::Bitcast, F32, &[shifted]);
    // The bias differs by 112.
    let scale = s.constant(F32, (112 + 127) << 23);
    let value = s.kind_op(Op::FMul, F32, &[value, scale]);
    let value = s.kind_op(Op::Bitcast, U32, &[value]);
    let top = s.u(31 << mantissa);
    let special = s.kind_op(Op::UGreaterThanEqual, BOOL, &[field, top]);
    let exponent = s.u(0x7f80_0000);
    let infinite = s.kind_op(Op::BitwiseOr, U32, &[shifted, exponent]);
    let value = s.kind_op(Op::Select, U32, &[special, infinite, value]);
    s.kind_op(Op::Bitcast, F32, &[value])
}

/// Texel and weight of an axis: floor and fraction of `u * size - 0.5`, the fraction in 1/256.
fn axis(s: &mut Shader, u: u32) -> [u32; 3] {
    let ty = s.ty(F32);
    let (size, half) = (s.f(SIZE as f32), s.f(0.5));
    let x = s.kind_op(Op::FMul, F32, &[u, size]);
    let x = s.kind_op(Op::FSub, F32, &[x, half]);
    let (k, low, high) = (s.f(256.0), s.f(-2e9), s.f(2e9));
    let x = s.kind_op(Op::FMul, F32, &[x, k]);
    let x = s.ext(G::RoundEven, ty, &[x]);
    let x = s.ext(G::NClamp, ty, &[x, low, high]);
    let fixed = s.kind_op(Op::ConvertFToS, I32, &[x]);
    let eight = s.u(8);
    let texel = s.kind_op(Op::ShiftRightArithmetic, I32, &[fixed, eight]);
    let texel = s.kind_op(Op::Bitcast, U32, &[texel]);
    let fixed = s.kind_op(Op::Bitcast, U32, &[fixed]);
    let (mask, wrap, one) = (s.u(255), s.u(SIZE - 1), s.u(1));
    let weight = s.kind_op(Op::BitwiseAnd, U32, &[fixed, mask]);
    let weight = s.kind_op(Op::ConvertUToF, F32, &[weight]);
    let inverse = s.f(1.0 / 256.0);
    let weight = s.kind_op(Op::FMul, F32, &[weight, inverse]);
    let next = s.kind_op(Op::IAdd, U32, &[texel, one]);
    let first = s.kind_op(Op::BitwiseAnd, U32, &[texel, wrap]);
    let second = s.kind_op(Op::BitwiseAnd, U32, &[next, wrap]);
    [first, second, weight]
}

fn bilinear() -> Case {
    let mut s = Shader::new([64, 1, 1]);
    let (input, output) = (s.buffer(0), s.buffer(1));
    let t = ImageType { dim: Dim::Dim2D, arrayed: false, storage: None, channel: U32 };
    let image = s.image(2, t);
    let gid = s.builtin(BuiltIn::GlobalInvocationId, U32.by(3));
    let n = s.global_x(gid);
    let (one, two) = (s.u(1), s.u(2));
    let at = s.kind_op(Op::IMul, U32, &[n, two]);
    let u = s.load_word(input, at);
    let at = s.kind_op(Op::IAdd, U32, &[at, one]);
    let v = s.load_word(input, at);
    let u = s.kind_op(Op::Bitcast, F32, &[u]);
    let v = s.kind_op(Op::Bitcast, F32, &[v]);
    let [x0, x1, wx] = axis(&mut s, u);
    let [y0, y1, wy] = axis(&mut s, v);
    let ty = s.image_type(t);
    let view = s.load(ty, image);
    let zero = s.u(0);
    let mut texels = vec![];
    for (x, y) in [(x0, y0), (x1, y0), (x0, y1), (x1, y1)] {
        let c = s.kind_op(Op::CompositeConstruct, U32.by(2), &[x, y]);
        let texel = s.kind_op(Op::ImageFetch, U32.by(4), &[view, c, ImageOperands::LOD.bits(), zero]);
        let word = s.kind_op(Op::CompositeExtract, U32, &[texel, 0]);
        let channels: Vec<u32> =
            [(0, 11), (11, 11), (22, 10)].into_iter().map(|(at, bits)| small_float(&mut s, word, at, bits)).collect();
        texels.push(channels);
    }
    let unit = s.f(1.0);
    let rest = |s: &mut Shader, w: u32| s.kind_op(Op::FSub, F32, &[unit, w]);
    let (rx, ry) = (rest(&mut s, wx), rest(&mut s, wy));
    let weights: Vec<u32> =
        [(rx, ry), (wx, ry), (rx, wy), (wx, wy)].into_iter().map(|(a, b)| s.kind_op(Op::FMul, F32, &[a, b])).collect();
    let four = s.u(4);
    let base = s.kind_op(Op::IMul, U32, &[n, four]);
    for channel in 0..3 {
        let mut sum = None;
        for (texel, &w) in texels.iter().zip(&weights) {
            let p = s.kind_op(Op::FMul, F32, &[texel[channel], w]);
            sum = Some(match sum {
                None => p,
                Some(sum) => s.kind_op(Op::FAdd, F32, &[sum, p]),
            });
        }
        let value = s.kind_op(Op::Bitcast, U32, &[sum.expect("four texels")]);
        let k = s.u(channel as u32);
        let at = s.kind_op(Op::IAdd, U32, &[base, k]);
        s.store_word(output, at, value);
    }
    let value = s.kind_op(Op::Bitcast, U32, &[unit]);
    let k = s.u(3);
    let at = s.kind_op(Op::IAdd, U32, &[base, k]);
    s.store_word(output, at, value);
    s.effect(Op::Return, &[]);

    let coordinates = (0..2 * SAMPLES).map(|n| (n.wrapping_mul(2_654_435_761) as f32 / 4e9 * 3.0 - 1.0).to_bits());
    // Texels without infinities, so that a blend is finite.
    let texels = (0..SIZE * SIZE).map(|n: u32| n.wrapping_mul(2_654_435_761) & 0xbdf7_fbff & !(1 << 10 | 1 << 21));
    let image =
        CaseImage { dim: ImageDim::D2, extent: [SIZE, SIZE, 1], layers: 1, levels: 1, texels: texels.collect() };
    let bindings = vec![Bound::Input(coordinates.collect()), Bound::Output(4 * SAMPLES as usize), Bound::Image(image)];
    Case::new("bilinear", s, bindings, vec![]).groups([SAMPLES / 64, 1, 1])
}

#[divan::bench(sample_count = 20)]
fn bilinear_samples(bencher: Bencher<'_, '_>) {
    let case = bilinear();
    let mut executor = Embedded::new();
    case.with_job(|job| {
        executor.run(job).expect("runs");
        bencher.counter(ItemsCount::new(SAMPLES)).bench_local(|| executor.run(job));
    });
    assert!(executor.take_report().findings.is_empty(), "the module relies on nothing that Vulkan leaves open");
}

#[divan::bench(sample_count = 20)]
fn trace_of_one_sample(bencher: Bencher<'_, '_>) {
    let case = bilinear();
    // Translated anew each time, as for the first look at a sample.
    case.with_job(|job| bencher.bench_local(|| Embedded::new().trace_invocation(job, [777, 0, 0])));
}

#[divan::bench(sample_count = 20)]
fn translation(bencher: Bencher<'_, '_>) {
    let mut case = bilinear();
    case.groups = [0, 1, 1];
    case.with_job(|job| bencher.bench_local(|| Embedded::new().run(job)));
}
