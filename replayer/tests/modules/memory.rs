//! Variables, buffers, atomics, barriers, images.

use replayer::execute::ImageDim;
use rspirv::spirv::{BuiltIn, Capability, Decoration, Dim, ImageOperands, Op, StorageClass};

use super::shader::{BOOL, F32, F64, I16, I32, ImageType, Shader, U8, U16, U32, U64};
use super::{Bound, Case, CaseImage};

/// Runs `body` with the index of the invocation; it stores to the output at binding 0 itself.
fn with_index(local: [u32; 3], body: impl FnOnce(&mut Shader, u32, u32)) -> Shader {
    let mut s = Shader::new(local);
    let output = s.buffer(0);
    let gid = s.builtin(BuiltIn::GlobalInvocationId, U32.by(3));
    let x = s.global_x(gid);
    body(&mut s, output, x);
    s.effect(Op::Return, &[]);
    s
}

/// Workgroup scope, and acquire-release semantics on workgroup memory.
fn barrier(s: &mut Shader) {
    let (scope, semantics) = (s.u(2), s.u(0x108));
    s.effect(Op::ControlBarrier, &[scope, scope, semantics]);
}

fn buffers(list: &mut Vec<Case>) {
    let s = with_index([1, 1, 1], |s, output, x| {
        let input = s.buffer(1);
        let v = s.load_word(input, x);
        s.store_word(output, x, v);
    });
    let words: Vec<u32> = (0..200).map(|n| n * n + 7).collect();
    list.push(
        Case::new("buffer.copy", s, vec![Bound::Output(200), Bound::Input(words.clone())], words).groups([200, 1, 1]),
    );

    // A block of members with offsets of their own: { uint a; vec3 b @16; mat2x3 m @32, stride 16; uint c[] @64 }.
    let s = with_index([1, 1, 1], |s, output, x| {
        let (word, vec3) = (s.ty(U32), s.ty(F32.by(3)));
        let matrix = s.matrix(F32.by(3), 2);
        let array = s.global(Op::TypeRuntimeArray, None, &[word]);
        s.decorate(array, Decoration::ArrayStride, &[4]);
        let block = s.global(Op::TypeStruct, None, &[word, vec3, matrix, array]);
        s.decorate(block, Decoration::Block, &[]);
        for (n, offset) in [0, 16, 32, 64].into_iter().enumerate() {
            s.decorate_member(block, n as u32, Decoration::Offset, &[offset]);
        }
        s.decorate_member(block, 2, Decoration::ColMajor, &[]);
        s.decorate_member(block, 2, Decoration::MatrixStride, &[16]);
        let var = s.variable(StorageClass::StorageBuffer, block, None);
        s.bind(var, 1);
        let chain = |s: &mut Shader, ty: u32, indices: &[u32]| {
            let ptr = s.pointer(StorageClass::StorageBuffer, ty);
            let mut operands = vec![var];
            operands.extend(indices.iter().map(|&n| s.u(n)));
            let p = s.op(Op::AccessChain, ptr, &operands);
            s.load(ty, p)
        };
        let float = s.ty(F32);
        let a = chain(s, word, &[0]);
        let b = chain(s, float, &[1, 2]);
        let v = chain(s, vec3, &[1]);
        let v = s.kind_op(Op::CompositeExtract, F32, &[v, 1]);
        let m = chain(s, float, &[2, 1, 0]);
        let whole = chain(s, matrix, &[2]);
        let whole = s.kind_op(Op::CompositeExtract, F32, &[whole, 0, 2]);
        let c = chain(s, word, &[3, 2]);
        let three = 3u32;
        let length = s.kind_op(Op::ArrayLength, U32, &[var, three]);
        let mut values = vec![a];
        for f in [b, v, m, whole] {
            values.push(s.kind_op(Op::Bitcast, U32, &[f]));
        }
        values.extend([c, length]);
        let _ = x;
        for (n, v) in values.into_iter().enumerate() {
            let at = s.u(n as u32);
            s.store_word(output, at, v);
        }
    });
    let input: Vec<u32> = (0..20).map(|n| 100 + n).collect();
    list.push(Case::new(
        "buffer.layout",
        s,
        vec![Bound::Output(7), Bound::Input(input)],
        vec![100, 106, 105, 112, 110, 118, 4],
    ));

    // Row-major: element (column 1, row 0) of a matrix whose rows are 8 bytes apart.
    let s = with_index([1, 1, 1], |s, output, x| {
        let float = s.ty(F32);
        let matrix = s.matrix(F32.by(2), 2);
        let block = s.global(Op::TypeStruct, None, &[matrix]);
        s.decorate(block, Decoration::Block, &[]);
        s.decorate_member(block, 0, Decoration::Offset, &[0]);
        s.decorate_member(block, 0, Decoration::RowMajor, &[]);
        s.decorate_member(block, 0, Decoration::MatrixStride, &[8]);
        let var = s.variable(StorageClass::StorageBuffer, block, None);
        s.bind(var, 1);
        let (zero, one) = (s.u(0), s.u(1));
        let ptr = s.pointer(StorageClass::StorageBuffer, float);
        let p = s.op(Op::AccessChain, ptr, &[var, zero, one, x]);
        let v = s.load(float, p);
        let v = s.kind_op(Op::Bitcast, U32, &[v]);
        s.store_word(output, x, v);
    });
    list.push(
        Case::new("buffer.row-major", s, vec![Bound::Output(2), Bound::Input(vec![1, 2, 3, 4])], vec![2, 4])
            .groups([2, 1, 1]),
    );

    // Numbers of other widths.
    for (name, kind, bytes, want) in [
        ("buffer.u8", U8, 1u32, vec![0x11, 0x22, 0x33, 0x44]),
        ("buffer.u16", U16, 2, vec![0x2211, 0x4433]),
        ("buffer.u64", U64, 8, vec![0x4433_2211]),
    ] {
        let count = want.len() as u32;
        let s = with_index([1, 1, 1], |s, output, x| {
            match bytes {
                1 => {
                    s.capability(Capability::StorageBuffer8BitAccess);
                    s.extension("SPV_KHR_8bit_storage");
                }
                2 => {
                    s.capability(Capability::StorageBuffer16BitAccess);
                    s.extension("SPV_KHR_16bit_storage");
                }
                _ => {}
            }
            let ty = s.ty(kind);
            let input = s.buffer_of(1, ty, bytes);
            let copy = s.buffer_of(2, ty, bytes);
            let p = s.element(input, ty, x);
            let v = s.load(ty, p);
            let p = s.element(copy, ty, x);
            s.effect(Op::Store, &[p, v]);
            let v = s.kind_op(Op::UConvert, U32, &[v]);
            s.store_word(output, x, v);
        });
        let input = vec![0x4433_2211, 0x8877_6655];
        let copied = if bytes == 8 { vec![0x4433_2211, 0x8877_6655] } else { vec![0x4433_2211, 0] };
        let mut expected = want;
        expected.extend(copied);
        let bindings = vec![Bound::Output(count as usize), Bound::Input(input), Bound::Output(2)];
        list.push(Case::new(name, s, bindings, expected).groups([count, 1, 1]));
    }

    let s = with_index([1, 1, 1], |s, output, x| {
        let push = s.push_constants(3);
        let word = s.ty(U32);
        let two = s.u(2);
        let ptr = s.pointer(StorageClass::PushConstant, word);
        let p = s.op(Op::AccessChain, ptr, &[push, two]);
        let v = s.load(word, p);
        let v = s.kind_op(Op::IAdd, U32, &[v, x]);
        s.store_word(output, x, v);
    });
    list.push(
        Case::new("push-constants", s, vec![Bound::Output(3)], vec![50, 51, 52]).push(&[1, 2, 50]).groups([3, 1, 1]),
    );

    let s = with_index([1, 1, 1], |s, output, x| {
        let input = s.buffer(1);
        let v = s.load_word(input, x);
        s.store_word(output, x, v);
        let far = s.u(1000);
        s.store_word(output, far, v);
    });
    list.push(
        Case::new("buffer.out-of-bounds", s, vec![Bound::Output(4), Bound::Input(vec![5, 6])], vec![5, 6, 0, 0])
            .groups([4, 1, 1])
            .choice(),
    );
}

fn variables(list: &mut Vec<Case>) {
    // An array indexed by the invocation: written at one place, read at another.
    let mut s = Shader::new([1, 1, 1]);
    let output = s.buffer(0);
    let gid = s.builtin(BuiltIn::GlobalInvocationId, U32.by(3));
    let word = s.ty(U32);
    let array = s.array(word, 8);
    let k: Vec<u32> = (0..8).map(|n| s.u(10 * n)).collect();
    let values = s.global(Op::ConstantComposite, Some(array), &k);
    let var = s.local(array, Some(values));
    let x = s.global_x(gid);
    let ptr = s.pointer(StorageClass::Function, word);
    let p = s.op(Op::AccessChain, ptr, &[var, x]);
    let v = s.load(word, p);
    let one = s.u(1);
    let v = s.kind_op(Op::IAdd, U32, &[v, one]);
    s.effect(Op::Store, &[p, v]);
    // What is stored is seen by a whole load.
    let all = s.load(array, var);
    let mut sum = s.u(0);
    for n in 0..8 {
        let e = s.kind_op(Op::CompositeExtract, U32, &[all, n]);
        sum = s.kind_op(Op::IAdd, U32, &[sum, e]);
    }
    let v = s.load(word, p);
    let v = s.kind_op(Op::IAdd, U32, &[v, sum]);
    s.store_word(output, x, v);
    s.effect(Op::Return, &[]);
    let want = (0..8).map(|n| 10 * n + 1 + 281).collect();
    list.push(Case::new("variable.array", s, vec![Bound::Output(8)], want).groups([8, 1, 1]));

    // A struct with a member of 64 bits and an array, in a private variable.
    let s = with_index([1, 1, 1], |s, output, x| {
        let (word, double) = (s.ty(U32), s.ty(F64));
        let array = s.array(double, 3);
        let both = s.structure(&[word, array]);
        let var = s.variable(StorageClass::Private, both, None);
        let (zero, one) = (s.u(0), s.u(1));
        let p64 = s.pointer(StorageClass::Private, double);
        let p32 = s.pointer(StorageClass::Private, word);
        for n in 0..3 {
            let at = s.u(n);
            let p = s.op(Op::AccessChain, p64, &[var, one, at]);
            let v = s.constant(F64, (f64::from(n) + 0.5).to_bits());
            s.effect(Op::Store, &[p, v]);
        }
        let p = s.op(Op::AccessChain, p32, &[var, zero]);
        s.effect(Op::Store, &[p, x]);
        let q = s.op(Op::AccessChain, p64, &[var, one, x]);
        let v = s.load(double, q);
        let two = s.constant(F64, 2f64.to_bits());
        let v = s.kind_op(Op::FMul, F64, &[v, two]);
        let v = s.kind_op(Op::ConvertFToU, U32, &[v]);
        let x = s.load(word, p);
        s.store_word(output, x, v);
    });
    list.push(Case::new("variable.struct", s, vec![Bound::Output(3)], vec![1, 3, 5]).groups([3, 1, 1]));

    let mut s = Shader::new([1, 1, 1]);
    let output = s.buffer(0);
    let gid = s.builtin(BuiltIn::GlobalInvocationId, U32.by(3));
    let v4 = s.ty(U32.by(4));
    let (a, b) = (s.local(v4, None), s.local(v4, None));
    let x = s.global_x(gid);
    let word = s.ty(U32);
    let k: Vec<u32> = (1..=4).map(|n| s.u(n)).collect();
    let v = s.op(Op::CompositeConstruct, v4, &k);
    s.effect(Op::Store, &[a, v]);
    s.effect(Op::CopyMemory, &[b, a]);
    let ptr = s.pointer(StorageClass::Function, word);
    let p = s.op(Op::InBoundsAccessChain, ptr, &[b, x]);
    let v = s.load(word, p);
    s.store_word(output, x, v);
    s.effect(Op::Return, &[]);
    list.push(Case::new("variable.copy-memory", s, vec![Bound::Output(4)], vec![1, 2, 3, 4]).groups([4, 1, 1]));

    let mut s = Shader::new([1, 1, 1]);
    let output = s.buffer(0);
    let gid = s.builtin(BuiltIn::GlobalInvocationId, U32.by(3));
    let word = s.ty(U32);
    let array = s.array(word, 2);
    let var = s.local(array, None);
    let x = s.global_x(gid);
    let ptr = s.pointer(StorageClass::Function, word);
    let (zero, nine) = (s.u(0), s.u(9));
    let p = s.op(Op::AccessChain, ptr, &[var, zero]);
    s.effect(Op::Store, &[p, nine]);
    let p = s.op(Op::AccessChain, ptr, &[var, x]);
    let v = s.load(word, p);
    s.store_word(output, x, v);
    s.effect(Op::Return, &[]);
    let case = Case::new("variable.uninitialized-and-beyond", s, vec![Bound::Output(3)], vec![9, 0, 0]);
    list.push(case.groups([3, 1, 1]).choice());
}

fn workgroups(list: &mut Vec<Case>) {
    // Reverses the order of a workgroup of 100 through its memory.
    let reverse = |name: &str, size: u32| {
        let mut s = Shader::new([size, 1, 1]);
        let output = s.buffer(0);
        let gid = s.builtin(BuiltIn::GlobalInvocationId, U32.by(3));
        let index = s.builtin(BuiltIn::LocalInvocationIndex, U32);
        let word = s.ty(U32);
        let array = s.array(word, size);
        let shared = s.variable(StorageClass::Workgroup, array, None);
        let x = s.global_x(gid);
        let i = s.load(word, index);
        let ptr = s.pointer(StorageClass::Workgroup, word);
        let p = s.op(Op::AccessChain, ptr, &[shared, i]);
        s.effect(Op::Store, &[p, x]);
        barrier(&mut s);
        let last = s.u(size - 1);
        let other = s.kind_op(Op::ISub, U32, &[last, i]);
        let p = s.op(Op::AccessChain, ptr, &[shared, other]);
        let v = s.load(word, p);
        s.store_word(output, x, v);
        s.effect(Op::Return, &[]);
        let want = (0..3 * size).map(|x| x / size * size + (size - 1 - x % size)).collect();
        Case::new(name, s, vec![Bound::Output(3 * size as usize)], want).groups([3, 1, 1])
    };
    list.extend([reverse("workgroup.reverse", 100), reverse("workgroup.reverse.small", 7)]);

    let mut s = Shader::new([80, 1, 1]);
    let output = s.buffer(0);
    let gid = s.builtin(BuiltIn::GlobalInvocationId, U32.by(3));
    let word = s.ty(U32);
    let shared = s.variable(StorageClass::Workgroup, word, None);
    let x = s.global_x(gid);
    let (scope, none, zero, two) = (s.u(2), s.u(0), s.u(0), s.u(2));
    s.effect(Op::AtomicStore, &[shared, scope, none, zero]);
    barrier(&mut s);
    s.op(Op::AtomicIAdd, word, &[shared, scope, none, two]);
    barrier(&mut s);
    let v = s.load(word, shared);
    s.store_word(output, x, v);
    s.effect(Op::Return, &[]);
    list.push(Case::new("workgroup.atomic", s, vec![Bound::Output(80)], vec![160; 80]));
}

fn atomics(list: &mut Vec<Case>) {
    // All invocations work on word 0; those that are commutative have one end.
    let mut add =
        |name: &str, op: Op, kind_signed: bool, start: u32, value: fn(u32) -> u32, want: u32, needs_value: bool| {
            let mut s = Shader::new([1, 1, 1]);
            let kind = if kind_signed { I32 } else { U32 };
            let ty = s.ty(kind);
            let output = s.buffer_of(0, ty, 4);
            let gid = s.builtin(BuiltIn::GlobalInvocationId, U32.by(3));
            let x = s.global_x(gid);
            let zero = s.u(0);
            let word = s.element(output, ty, zero);
            let (scope, none) = (s.u(1), s.u(0));
            // The start is added by the first invocation alone, which only suits operations that commute with it.
            let _ = start;
            let mut v = s.u(0);
            for n in 0..4 {
                let at = s.u(n);
                let here = s.kind_op(Op::IEqual, super::shader::BOOL, &[x, at]);
                let k = s.u(value(n));
                v = s.kind_op(Op::Select, U32, &[here, k, v]);
            }
            let v = if kind_signed { s.kind_op(Op::Bitcast, I32, &[v]) } else { v };
            let mut operands = vec![word, scope, none];
            if needs_value {
                operands.push(v);
            }
            s.op(op, ty, &operands);
            s.effect(Op::Return, &[]);
            list.push(Case::new(name, s, vec![Bound::Output(1)], vec![want]).groups([4, 1, 1]));
        };
    add("AtomicIAdd", Op::AtomicIAdd, false, 0, |n| n + 1, 10, true);
    add("AtomicISub", Op::AtomicISub, false, 0, |n| n + 1, (-10i32) as u32, true);
    add("AtomicIIncrement", Op::AtomicIIncrement, false, 0, |n| n, 4, false);
    add("AtomicIDecrement", Op::AtomicIDecrement, false, 0, |n| n, (-4i32) as u32, false);
    add("AtomicOr", Op::AtomicOr, false, 0, |n| 1 << n, 15, true);
    add("AtomicXor", Op::AtomicXor, false, 0, |n| 3 << n, 0b10001, true);
    add("AtomicAnd", Op::AtomicAnd, false, 0, |n| n, 0, true);
    add("AtomicUMax", Op::AtomicUMax, false, 0, |n| n * 5, 15, true);
    add("AtomicUMin", Op::AtomicUMin, false, 0, |n| n * 5, 0, true);
    add("AtomicSMin", Op::AtomicSMin, true, 0, |n| (2 - n as i32) as u32, (-1i32) as u32, true);
    add("AtomicSMax", Op::AtomicSMax, true, 0, |n| (2 - n as i32) as u32, 2, true);

    // Old values, one invocation: exchange, compare and exchange twice, load.
    let s = with_index([1, 1, 1], |s, output, _| {
        let word = s.ty(U32);
        let zero = s.u(0);
        let p = s.element(output, word, zero);
        let (scope, none, five, six, seven) = (s.u(1), s.u(0), s.u(5), s.u(6), s.u(7));
        let a = s.op(Op::AtomicExchange, word, &[p, scope, none, five]);
        let b = s.op(Op::AtomicCompareExchange, word, &[p, scope, none, none, six, five]);
        let c = s.op(Op::AtomicCompareExchange, word, &[p, scope, none, none, seven, five]);
        let d = s.op(Op::AtomicLoad, word, &[p, scope, none]);
        for (n, v) in [a, b, c, d].into_iter().enumerate() {
            let at = s.u(n as u32 + 1);
            s.store_word(output, at, v);
        }
    });
    list.push(Case::new("Atomic.exchange", s, vec![Bound::Output(5)], vec![6, 0, 5, 6, 6]));

    let s = with_index([1, 1, 1], |s, output, x| {
        let counter = s.buffer(1);
        let word = s.ty(U32);
        let zero = s.u(0);
        let p = s.element(counter, word, zero);
        let (scope, none, one) = (s.u(1), s.u(0), s.u(1));
        s.op(Op::AtomicIAdd, word, &[p, scope, none, one]);
        let semantics = s.u(0x48);
        s.effect(Op::MemoryBarrier, &[scope, semantics]);
        s.store_word(output, x, one);
    });
    let mut want = vec![1; 1000];
    want.push(1000);
    list.push(Case::new("AtomicIAdd.many", s, vec![Bound::Output(1000), Bound::Output(1)], want).groups([1000, 1, 1]));
}

fn images(list: &mut Vec<Case>) {
    let sampled = |dim, arrayed| ImageType { dim, arrayed, storage: None, channel: U32 };
    // Texels are numbered; each invocation fetches the texel of its coordinates.
    let forms = [
        ("image.1d", Dim::Dim1D, false, ImageDim::D1, [5, 1, 1], 1),
        ("image.1d-array", Dim::Dim1D, true, ImageDim::D1Array, [5, 1, 1], 3),
        ("image.2d", Dim::Dim2D, false, ImageDim::D2, [5, 3, 1], 1),
        ("image.2d-array", Dim::Dim2D, true, ImageDim::D2Array, [5, 3, 1], 2),
        ("image.3d", Dim::Dim3D, false, ImageDim::D3, [5, 3, 2], 1),
    ];
    for (name, dim, arrayed, bound, extent, layers) in forms {
        let levels = 2;
        let level = |l: u32| -> [u32; 3] {
            let e = extent.map(|e: u32| (e >> l).max(1));
            [e[0], e[1], if bound == ImageDim::D3 { e[2] } else { layers }]
        };
        let count: u32 = (0..levels).map(|l| level(l).iter().product::<u32>()).sum();
        let texels: Vec<u32> = (0..count).map(|n| 1000 + n).collect();
        let t = sampled(dim, arrayed);
        for l in 0..levels {
            let [w, h, d] = level(l);
            let mut s = Shader::new([1, 1, 1]);
            let output = s.buffer(0);
            let image = s.image(1, t);
            let gid = s.builtin(BuiltIn::GlobalInvocationId, U32.by(3));
            let v3 = s.ty(U32.by(3));
            let id = s.load(v3, gid);
            let c: Vec<u32> = (0..3).map(|n| s.kind_op(Op::CompositeExtract, U32, &[id, n])).collect();
            let coordinate = match (dim, arrayed) {
                (Dim::Dim1D, false) => c[0],
                (Dim::Dim1D, true) => s.kind_op(Op::CompositeConstruct, U32.by(2), &[c[0], c[2]]),
                (Dim::Dim2D, false) => s.kind_op(Op::CompositeConstruct, U32.by(2), &c[..2]),
                _ => id,
            };
            let ty = s.image_type(t);
            let i = s.load(ty, image);
            let lod = s.u(l);
            let texel = s.kind_op(Op::ImageFetch, U32.by(4), &[i, coordinate, ImageOperands::LOD.bits(), lod]);
            let v = s.kind_op(Op::CompositeExtract, U32, &[texel, 0]);
            // The channels that the format lacks: 0, 0, 1.
            let g = s.kind_op(Op::CompositeExtract, U32, &[texel, 1]);
            let a = s.kind_op(Op::CompositeExtract, U32, &[texel, 3]);
            let v = s.kind_op(Op::IAdd, U32, &[v, g]);
            let v = s.kind_op(Op::IMul, U32, &[v, a]);
            let (kw, kh) = (s.u(w), s.u(h));
            let at = s.kind_op(Op::IMul, U32, &[c[2], kh]);
            let at = s.kind_op(Op::IAdd, U32, &[at, c[1]]);
            let at = s.kind_op(Op::IMul, U32, &[at, kw]);
            let at = s.kind_op(Op::IAdd, U32, &[at, c[0]]);
            s.store_word(output, at, v);
            s.effect(Op::Return, &[]);
            let first: u32 = (0..l).map(|l| level(l).iter().product::<u32>()).sum();
            let want: Vec<u32> = (0..w * h * d).map(|n| 1000 + first + n).collect();
            let image = CaseImage { dim: bound, extent, layers, levels, texels: texels.clone() };
            let bindings = vec![Bound::Output(want.len()), Bound::Image(image)];
            list.push(Case::new(&format!("{name}.fetch.{l}"), s, bindings, want).groups([w, h, d]));
        }
        // Sizes of level 1, and the number of levels.
        let mut s = Shader::new([1, 1, 1]);
        s.capability(Capability::ImageQuery);
        let output = s.buffer(0);
        let image = s.image(1, t);
        let ty = s.image_type(t);
        let i = s.load(ty, image);
        let one = s.u(1);
        let dims = match dim {
            Dim::Dim1D => 1,
            Dim::Dim2D => 2,
            _ => 3,
        };
        let n = dims + u32::from(arrayed);
        let kind = if n == 1 { U32 } else { U32.by(n) };
        let size = s.kind_op(Op::ImageQuerySizeLod, kind, &[i, one]);
        let mut want = vec![];
        for k in 0..n {
            let v = if n == 1 { size } else { s.kind_op(Op::CompositeExtract, U32, &[size, k]) };
            let at = s.u(k);
            s.store_word(output, at, v);
            want.push(if k < dims { (extent[k as usize] >> 1).max(1) } else { layers });
        }
        let count = s.kind_op(Op::ImageQueryLevels, U32, &[i]);
        let at = s.u(n);
        s.store_word(output, at, count);
        want.push(levels);
        s.effect(Op::Return, &[]);
        let image = CaseImage { dim: bound, extent, layers, levels, texels: texels.clone() };
        list.push(Case::new(&format!("{name}.query"), s, vec![Bound::Output(want.len()), Bound::Image(image)], want));
    }

    // Beyond each side, and before the first texel.
    let s = with_index([1, 1, 1], |s, output, x| {
        let t = sampled(Dim::Dim2D, false);
        let image = s.image(1, t);
        let ty = s.image_type(t);
        let i = s.load(ty, image);
        let (zero, one) = (s.u(0), s.u(1));
        let before = s.kind_op(Op::ISub, U32, &[x, one]);
        let c = s.kind_op(Op::CompositeConstruct, U32.by(2), &[before, zero]);
        let texel = s.kind_op(Op::ImageFetch, U32.by(4), &[i, c, ImageOperands::LOD.bits(), zero]);
        let v = s.kind_op(Op::CompositeExtract, U32, &[texel, 0]);
        s.store_word(output, x, v);
    });
    let image = CaseImage { dim: ImageDim::D2, extent: [2, 1, 1], layers: 1, levels: 1, texels: vec![8, 9] };
    list.push(
        Case::new("image.out-of-bounds", s, vec![Bound::Output(4), Bound::Image(image)], vec![0, 8, 9, 0])
            .groups([4, 1, 1])
            .choice(),
    );
}

/// One row of `1 + n` texels, the first of which is `100 * n`.
fn row(n: u32) -> CaseImage {
    let texels = (0..=n).map(|x| 100 * n + x).collect();
    CaseImage { dim: ImageDim::D2, extent: [1 + n, 1, 1], layers: 1, levels: 1, texels }
}

/// An array of images at binding 1, its type, and that of one image.
fn image_array(s: &mut Shader, length: Option<u32>) -> (u32, u32) {
    let one = s.image_type(ImageType { dim: Dim::Dim2D, arrayed: false, storage: None, channel: U32 });
    let array = match length {
        Some(length) => s.global(Op::TypeArray, None, &[one, length]),
        None => s.global(Op::TypeRuntimeArray, None, &[one]),
    };
    let var = s.variable(StorageClass::UniformConstant, array, None);
    s.bind(var, 1);
    (var, one)
}

/// Texel `x` of the image at `index`, and the image's width.
fn fetch_of(s: &mut Shader, (var, one): (u32, u32), index: u32, x: u32, non_uniform: bool) -> [u32; 2] {
    s.capability(Capability::ImageQuery);
    let pointer = s.pointer(StorageClass::UniformConstant, one);
    let place = s.op(Op::AccessChain, pointer, &[var, index]);
    let image = s.load(one, place);
    if non_uniform {
        s.capability(Capability::ShaderNonUniform);
        s.capability(Capability::SampledImageArrayNonUniformIndexing);
        s.extension("SPV_EXT_descriptor_indexing");
        s.decorate(place, Decoration::NonUniform, &[]);
        s.decorate(image, Decoration::NonUniform, &[]);
    }
    let zero = s.u(0);
    let at = s.kind_op(Op::CompositeConstruct, U32.by(2), &[x, zero]);
    let texel = s.kind_op(Op::ImageFetch, U32.by(4), &[image, at, ImageOperands::LOD.bits(), zero]);
    let size = s.kind_op(Op::ImageQuerySizeLod, U32.by(2), &[image, zero]);
    [s.kind_op(Op::CompositeExtract, U32, &[texel, 0]), s.kind_op(Op::CompositeExtract, U32, &[size, 0])]
}

fn rows(numbers: std::ops::Range<u32>) -> Bound {
    Bound::Array(numbers.map(|n| Some(Bound::Image(row(n)))).collect())
}

fn descriptor_arrays(list: &mut Vec<Case>) {
    for (name, specialized) in [("array.images.constant", false), ("array.images.specialized", true)] {
        let mut s = Shader::new([1, 1, 1]);
        let output = s.buffer(0);
        let length = if specialized { s.spec(U32, 7, 1) } else { s.u(3) };
        let array = image_array(&mut s, Some(length));
        for n in 0..3 {
            let index = s.u(n);
            let [texel, width] = fetch_of(&mut s, array, index, index, false);
            for (k, value) in [texel, width].into_iter().enumerate() {
                let at = s.u(2 * n + k as u32);
                s.store_word(output, at, value);
            }
        }
        s.effect(Op::Return, &[]);
        let case = Case::new(name, s, vec![Bound::Output(6), rows(0..3)], vec![0, 1, 101, 2, 202, 3]);
        list.push(if specialized { case.specialize(&[(7, 3)]) } else { case });
    }

    // Neighbouring invocations have other images.
    for (name, fixed) in [("array.images.non-uniform", true), ("array.images.runtime", false)] {
        let s = with_index([1, 1, 1], |s, output, x| {
            let (five, two) = (s.u(5), s.u(2));
            if !fixed {
                s.capability(Capability::RuntimeDescriptorArray);
            }
            let array = image_array(s, fixed.then_some(five));
            let index = s.kind_op(Op::UMod, U32, &[x, five]);
            let [texel, width] = fetch_of(s, array, index, index, true);
            let at = s.kind_op(Op::IMul, U32, &[x, two]);
            s.store_word(output, at, texel);
            let one = s.u(1);
            let at = s.kind_op(Op::IAdd, U32, &[at, one]);
            s.store_word(output, at, width);
        });
        let want = (0..150).flat_map(|x| [101 * (x % 5), 1 + x % 5]).collect();
        list.push(Case::new(name, s, vec![Bound::Output(300), rows(0..5)], want).groups([150, 1, 1]));
    }

    // A signed index of 16 bits; a branch keeps half of the invocations from an element that is not there.
    let s = with_index([1, 1, 1], |s, output, x| {
        s.capability(Capability::RuntimeDescriptorArray);
        let array = image_array(s, None);
        let two = s.u(2);
        let inside = s.kind_op(Op::ULessThan, BOOL, &[x, two]);
        let (yes, after) = (s.id(), s.id());
        s.effect(Op::SelectionMerge, &[after, 0]);
        s.effect(Op::BranchConditional, &[inside, yes, after]);
        s.label(yes);
        let index = s.kind_op(Op::UConvert, U16, &[x]);
        let index = s.kind_op(Op::Bitcast, I16, &[index]);
        let zero = s.u(0);
        let [texel, _] = fetch_of(s, array, index, zero, true);
        s.store_word(output, x, texel);
        s.effect(Op::Branch, &[after]);
        s.label(after);
    });
    let case = Case::new("array.images.branch", s, vec![Bound::Output(4), rows(1..3)], vec![100, 200, 0, 0]);
    list.push(case.groups([4, 1, 1]));

    // Buffers: written, read, counted and changed by atomics, each invocation in its own.
    let s = with_index([1, 1, 1], |s, output, x| {
        s.capability(Capability::StorageBufferArrayDynamicIndexing);
        let word = s.ty(U32);
        let words = s.global(Op::TypeRuntimeArray, None, &[word]);
        s.decorate(words, Decoration::ArrayStride, &[4]);
        let block = s.global(Op::TypeStruct, None, &[words]);
        s.decorate(block, Decoration::Block, &[]);
        s.decorate_member(block, 0, Decoration::Offset, &[0]);
        let array = s.array(block, 3);
        let var = s.variable(StorageClass::StorageBuffer, array, None);
        s.bind(var, 1);
        let to_block = s.pointer(StorageClass::StorageBuffer, block);
        let buffer = s.op(Op::AccessChain, to_block, &[var, x]);
        let length = s.kind_op(Op::ArrayLength, U32, &[buffer, 0]);
        s.store_word(output, x, length);
        let (zero, one, ten) = (s.u(0), s.u(1), s.u(10));
        let to_word = s.pointer(StorageClass::StorageBuffer, word);
        let first = s.op(Op::AccessChain, to_word, &[var, x, zero, zero]);
        let value = s.kind_op(Op::IAdd, U32, &[x, ten]);
        s.effect(Op::Store, &[first, value]);
        s.kind_op(Op::AtomicIAdd, U32, &[first, one, zero, ten]);
        let value = s.load(word, first);
        let last = s.kind_op(Op::ISub, U32, &[length, one]);
        let last = s.op(Op::AccessChain, to_word, &[buffer, zero, last]);
        s.effect(Op::Store, &[last, value]);
    });
    let buffers = Bound::Array((2..5).map(|words| Some(Bound::Output(words))).collect());
    let want = vec![2, 3, 4, 20, 20, 21, 0, 21, 22, 0, 0, 22];
    list.push(Case::new("array.buffers", s, vec![Bound::Output(3), buffers], want).groups([3, 1, 1]));
}

pub fn cases() -> Vec<Case> {
    let mut list = vec![];
    descriptor_arrays(&mut list);
    buffers(&mut list);
    variables(&mut list);
    workgroups(&mut list);
    atomics(&mut list);
    images(&mut list);
    list
}
