//! Control flow: branches that part the invocations, loops, switches, functions, phis, specialization.

use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, LoopControl, Op, SelectionControl, StorageClass};

use super::shader::{BOOL, F32, I32, Kind, Shader, U32, U64};
use super::{Bound, Case};

/// A module in which each invocation stores what `body` makes of its index.
fn per_invocation(
    name: &str,
    count: u32,
    local: [u32; 3],
    want: impl Fn(u32) -> u32,
    body: impl FnOnce(&mut Shader, u32) -> u32,
) -> Case {
    let mut s = Shader::new(local);
    let output = s.buffer(0);
    let gid = s.builtin(BuiltIn::GlobalInvocationId, U32.by(3));
    let x = s.global_x(gid);
    let value = body(&mut s, x);
    s.store_word(output, x, value);
    s.effect(Op::Return, &[]);
    let groups = count / local[0];
    Case::new(name, s, vec![Bound::Output(count as usize)], (0..count).map(want).collect()).groups([groups, 1, 1])
}

fn select(s: &mut Shader, cond: u32, yes: u32, no: u32, merge: u32) {
    s.effect(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
    s.effect(Op::BranchConditional, &[cond, yes, no]);
}

fn jump(s: &mut Shader, to: u32) {
    s.effect(Op::Branch, &[to]);
}

/// `for i in 0..n { acc = body(i, acc) }` with phis; `body` may branch to the merge block, for which it gets its label and
/// the header's. Returns the sum at the end.
fn count_loop(
    s: &mut Shader,
    from: u32,
    limit: u32,
    start: u32,
    body: impl FnOnce(&mut Shader, u32, u32) -> u32,
) -> u32 {
    let ids: Vec<u32> = (0..6).map(|_| s.id()).collect();
    let [header, check, inside, next, merge, more] = ids[..] else { unreachable!() };
    let (i, acc, new_i, new_acc) = (s.id(), s.id(), s.id(), s.id());
    let word = s.ty(U32);
    jump(s, header);
    s.label(header);
    let zero = s.u(0);
    s.op_as(i, Op::Phi, word, &[zero, from, new_i, next]);
    s.op_as(acc, Op::Phi, word, &[start, from, new_acc, next]);
    s.effect(Op::LoopMerge, &[merge, next, LoopControl::NONE.bits()]);
    jump(s, check);
    s.label(check);
    let go = s.kind_op(Op::ULessThan, BOOL, &[i, limit]);
    s.effect(Op::BranchConditional, &[go, inside, merge]);
    s.label(inside);
    let value = body(s, i, acc);
    jump(s, more);
    s.label(more);
    jump(s, next);
    s.label(next);
    s.op_as(new_acc, Op::CopyObject, word, &[value]);
    let one = s.u(1);
    s.op_as(new_i, Op::IAdd, word, &[i, one]);
    jump(s, header);
    s.label(merge);
    acc
}

/// Starts a labelled block, so that phis can name it.
fn here(s: &mut Shader) -> u32 {
    let label = s.id();
    jump(s, label);
    s.label(label);
    label
}

pub fn cases() -> Vec<Case> {
    let mut list = vec![
        per_invocation(
            "branch.phi",
            130,
            [1, 1, 1],
            |x| if x % 3 == 0 { x + 100 } else { x * 2 },
            |s, x| {
                let (yes, no, merge) = (s.id(), s.id(), s.id());
                let (zero, two, three, hundred) = (s.u(0), s.u(2), s.u(3), s.u(100));
                let rest = s.kind_op(Op::UMod, U32, &[x, three]);
                let cond = s.kind_op(Op::IEqual, BOOL, &[rest, zero]);
                select(s, cond, yes, no, merge);
                s.label(yes);
                let a = s.kind_op(Op::IAdd, U32, &[x, hundred]);
                jump(s, merge);
                s.label(no);
                let b = s.kind_op(Op::IMul, U32, &[x, two]);
                jump(s, merge);
                s.label(merge);
                s.kind_op(Op::Phi, U32, &[a, yes, b, no])
            },
        ),
        per_invocation(
            "branch.uniform",
            64,
            [64, 1, 1],
            |x| x + 1,
            |s, x| {
                let (yes, no, merge) = (s.id(), s.id(), s.id());
                let (one, two, limit) = (s.u(1), s.u(2), s.u(1000));
                let cond = s.kind_op(Op::ULessThan, BOOL, &[x, limit]);
                select(s, cond, yes, no, merge);
                s.label(yes);
                let a = s.kind_op(Op::IAdd, U32, &[x, one]);
                jump(s, merge);
                s.label(no);
                let b = s.kind_op(Op::IAdd, U32, &[x, two]);
                jump(s, merge);
                s.label(merge);
                s.kind_op(Op::Phi, U32, &[a, yes, b, no])
            },
        ),
        // Each invocation leaves the loop at another time: 0 + 1 + … + (x - 1).
        per_invocation(
            "loop.divergent",
            100,
            [1, 1, 1],
            |x| (0..x).sum(),
            |s, x| {
                let from = here(s);
                let zero = s.u(0);
                count_loop(s, from, x, zero, |s, i, acc| s.kind_op(Op::IAdd, U32, &[acc, i]))
            },
        ),
        // A value made in the loop is used after it, by invocations that left it early.
        per_invocation(
            "loop.escaping",
            70,
            [1, 1, 1],
            |x| (x % 7) * 10 + x,
            |s, x| {
                let from = here(s);
                let (zero, seven, ten) = (s.u(0), s.u(7), s.u(10));
                let limit = s.kind_op(Op::UMod, U32, &[x, seven]);
                let word = s.ty(U32);
                let [header, next, merge] = [s.id(), s.id(), s.id()];
                let (i, new) = (s.id(), s.id());
                jump(s, header);
                s.label(header);
                s.op_as(i, Op::Phi, word, &[zero, from, new, next]);
                let scaled = s.kind_op(Op::IMul, U32, &[i, ten]);
                let value = s.kind_op(Op::IAdd, U32, &[scaled, x]);
                let go = s.kind_op(Op::ULessThan, BOOL, &[i, limit]);
                s.effect(Op::LoopMerge, &[merge, next, LoopControl::NONE.bits()]);
                s.effect(Op::BranchConditional, &[go, next, merge]);
                s.label(next);
                let one = s.u(1);
                s.op_as(new, Op::IAdd, word, &[i, one]);
                jump(s, header);
                s.label(merge);
                value
            },
        ),
        per_invocation(
            "loop.nested",
            40,
            [1, 1, 1],
            |x| (0..x).map(|i| (0..i).sum::<u32>()).sum(),
            |s, x| {
                let from = here(s);
                let zero = s.u(0);
                count_loop(s, from, x, zero, |s, i, acc| {
                    let from = here(s);
                    count_loop(s, from, i, acc, |s, j, acc| s.kind_op(Op::IAdd, U32, &[acc, j]))
                })
            },
        ),
        // The phis of a loop read each other: Fibonacci numbers.
        per_invocation(
            "loop.swap",
            20,
            [1, 1, 1],
            |x| (0..x).fold((0, 1), |(a, b), _| (b, a + b)).0,
            |s, x| {
                let from = here(s);
                let (zero, one) = (s.u(0), s.u(1));
                let word = s.ty(U32);
                let [header, next, merge] = [s.id(), s.id(), s.id()];
                let (i, a, b, new_i, sum) = (s.id(), s.id(), s.id(), s.id(), s.id());
                jump(s, header);
                s.label(header);
                s.op_as(i, Op::Phi, word, &[zero, from, new_i, next]);
                s.op_as(a, Op::Phi, word, &[zero, from, b, next]);
                s.op_as(b, Op::Phi, word, &[one, from, sum, next]);
                let go = s.kind_op(Op::ULessThan, BOOL, &[i, x]);
                s.effect(Op::LoopMerge, &[merge, next, LoopControl::NONE.bits()]);
                s.effect(Op::BranchConditional, &[go, next, merge]);
                s.label(next);
                s.op_as(sum, Op::IAdd, word, &[a, b]);
                s.op_as(new_i, Op::IAdd, word, &[i, one]);
                jump(s, header);
                s.label(merge);
                a
            },
        ),
        per_invocation(
            "switch",
            30,
            [1, 1, 1],
            |x| match x % 5 {
                0 => 10,
                1 => 22,
                2 => 20,
                _ => 99,
            },
            |s, x| {
                // Case 1 falls through to case 2 with another value.
                let [zero, one, two, other, merge] = [s.id(), s.id(), s.id(), s.id(), s.id()];
                let (five, ten, twenty, more, big) = (s.u(5), s.u(10), s.u(20), s.u(2), s.u(99));
                let rest = s.kind_op(Op::UMod, U32, &[x, five]);
                let start = here(s);
                s.effect(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
                s.effect(Op::Switch, &[rest, other, 0, zero, 1, one, 2, two]);
                s.label(other);
                jump(s, merge);
                s.label(zero);
                jump(s, merge);
                s.label(one);
                jump(s, two);
                s.label(two);
                let nothing = s.u(0);
                let extra = s.kind_op(Op::Phi, U32, &[nothing, start, more, one]);
                let sum = s.kind_op(Op::IAdd, U32, &[twenty, extra]);
                jump(s, merge);
                s.label(merge);
                s.kind_op(Op::Phi, U32, &[big, other, ten, zero, sum, two])
            },
        ),
        per_invocation(
            "switch.u64",
            4,
            [1, 1, 1],
            |x| if x == 1 { 7 } else { 8 },
            |s, x| {
                let [hit, other, merge] = [s.id(), s.id(), s.id()];
                let wide = s.kind_op(Op::UConvert, U64, &[x]);
                let by = s.u(32);
                let wide = s.kind_op(Op::ShiftLeftLogical, U64, &[wide, by]);
                let (seven, eight) = (s.u(7), s.u(8));
                s.effect(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
                s.effect(Op::Switch, &[wide, other, 0, 1, hit]);
                s.label(hit);
                jump(s, merge);
                s.label(other);
                jump(s, merge);
                s.label(merge);
                s.kind_op(Op::Phi, U32, &[seven, hit, eight, other])
            },
        ),
        per_invocation(
            "function.early-return",
            50,
            [1, 1, 1],
            |x| if x < 20 { x * x } else { 5 },
            |s, x| {
                let word = s.ty(U32);
                let f = s.function(word, &[word], |s, p| {
                    let [yes, merge] = [s.id(), s.id()];
                    let (twenty, five) = (s.u(20), s.u(5));
                    let cond = s.kind_op(Op::ULessThan, BOOL, &[p[0], twenty]);
                    select(s, cond, yes, merge, merge);
                    s.label(yes);
                    let square = s.kind_op(Op::IMul, U32, &[p[0], p[0]]);
                    s.effect(Op::ReturnValue, &[square]);
                    s.label(merge);
                    s.effect(Op::ReturnValue, &[five]);
                });
                s.op(Op::FunctionCall, word, &[f, x])
            },
        ),
        per_invocation(
            "function.pointer",
            10,
            [1, 1, 1],
            |x| 2 * x + 3,
            |s, x| {
                // Doubles what a pointer points to, in the caller's variable.
                let (word, void) = (s.ty(U32), s.ty(Kind::Void));
                let ptr = s.pointer(StorageClass::Function, word);
                let f = s.function(void, &[ptr], |s, p| {
                    let v = s.load(word, p[0]);
                    let v = s.kind_op(Op::IAdd, U32, &[v, v]);
                    s.effect(Op::Store, &[p[0], v]);
                    s.effect(Op::Return, &[]);
                });
                let three = s.u(3);
                let private = s.variable(StorageClass::Private, word, Some(three));
                let three = s.load(word, private);
                // Function variables stand at the start of the function: the test's own code has run by now, so a block with one
                // variable cannot be opened here; a function of its own has it.
                let g = s.function(word, &[word], |s, p| {
                    let var = s.local(word, None);
                    s.effect(Op::Store, &[var, p[0]]);
                    s.op(Op::FunctionCall, void, &[f, var]);
                    let v = s.load(word, var);
                    s.effect(Op::ReturnValue, &[v]);
                });
                let v = s.op(Op::FunctionCall, word, &[g, x]);
                s.kind_op(Op::IAdd, U32, &[v, three])
            },
        ),
        per_invocation(
            "function.nested",
            10,
            [1, 1, 1],
            |x| 4 * x,
            |s, x| {
                let word = s.ty(U32);
                let double = s.function(word, &[word], |s, p| {
                    let v = s.kind_op(Op::IAdd, U32, &[p[0], p[0]]);
                    s.effect(Op::ReturnValue, &[v]);
                });
                let twice = s.function(word, &[word], |s, p| {
                    let a = s.op(Op::FunctionCall, word, &[double, p[0]]);
                    let b = s.op(Op::FunctionCall, word, &[double, a]);
                    s.effect(Op::ReturnValue, &[b]);
                });
                s.op(Op::FunctionCall, word, &[twice, x])
            },
        ),
        // The call is in a loop that invocations leave at different times, and its variable starts anew each time.
        per_invocation(
            "function.in-loop",
            33,
            [1, 1, 1],
            |x| 3 * x,
            |s, x| {
                let word = s.ty(U32);
                let zero = s.u(0);
                let f = s.function(word, &[word], |s, p| {
                    let var = s.local(word, Some(zero));
                    let old = s.load(word, var);
                    let three = s.u(3);
                    let new = s.kind_op(Op::IAdd, U32, &[old, three]);
                    s.effect(Op::Store, &[var, new]);
                    let new = s.load(word, var);
                    let sum = s.kind_op(Op::IAdd, U32, &[p[0], new]);
                    s.effect(Op::ReturnValue, &[sum]);
                });
                let from = here(s);
                count_loop(s, from, x, zero, |s, _, acc| s.op(Op::FunctionCall, word, &[f, acc]))
            },
        ),
        per_invocation(
            "phi.composite",
            6,
            [1, 1, 1],
            |x| if x < 3 { x * 2 } else { x + x + 1 },
            |s, x| {
                let [yes, no, merge] = [s.id(), s.id(), s.id()];
                let (one, three) = (s.u(1), s.u(3));
                let cond = s.kind_op(Op::ULessThan, BOOL, &[x, three]);
                select(s, cond, yes, no, merge);
                s.label(yes);
                let a = s.kind_op(Op::CompositeConstruct, U32.by(2), &[x, x]);
                jump(s, merge);
                s.label(no);
                let y = s.kind_op(Op::IAdd, U32, &[x, one]);
                let b = s.kind_op(Op::CompositeConstruct, U32.by(2), &[x, y]);
                jump(s, merge);
                s.label(merge);
                let v = s.kind_op(Op::Phi, U32.by(2), &[a, yes, b, no]);
                let p = s.kind_op(Op::CompositeExtract, U32, &[v, 0]);
                let q = s.kind_op(Op::CompositeExtract, U32, &[v, 1]);
                s.kind_op(Op::IAdd, U32, &[p, q])
            },
        ),
        per_invocation(
            "return.early",
            40,
            [1, 1, 1],
            |x| if x % 2 == 1 { 0 } else { x },
            |s, x| {
                let [odd, merge] = [s.id(), s.id()];
                let (one, zero) = (s.u(1), s.u(0));
                let bit = s.kind_op(Op::BitwiseAnd, U32, &[x, one]);
                let cond = s.kind_op(Op::INotEqual, BOOL, &[bit, zero]);
                select(s, cond, odd, merge, merge);
                s.label(odd);
                s.effect(Op::Return, &[]);
                s.label(merge);
                x
            },
        ),
    ];
    list.extend(specialized());
    list.extend(builtins());
    list
}

fn specialized() -> Vec<Case> {
    let make = |name: &str, values: &[(u32, u32)], want: u32| {
        per_invocation(
            name,
            1,
            [1, 1, 1],
            move |_| want,
            |s, _| {
                let flag = s.spec(BOOL, 3, 0);
                let n = s.spec(U32, 4, 5);
                let word = s.ty(U32);
                let three = s.u(3);
                // (n * 3, n << 3) as a constant vector, of which the sum is taken.
                let times = s.global(Op::SpecConstantOp, Some(word), &[Op::IMul as u32, n, three]);
                let shifted = s.global(Op::SpecConstantOp, Some(word), &[Op::ShiftLeftLogical as u32, n, three]);
                let pair = s.ty(U32.by(2));
                let both = s.global(Op::SpecConstantComposite, Some(pair), &[times, shifted]);
                let first = s.global(Op::SpecConstantOp, Some(word), &[Op::CompositeExtract as u32, both, 0]);
                let second = s.kind_op(Op::CompositeExtract, U32, &[both, 1]);
                let [yes, no, merge] = [s.id(), s.id(), s.id()];
                select(s, flag, yes, no, merge);
                s.label(yes);
                let sum = s.kind_op(Op::IAdd, U32, &[first, second]);
                jump(s, merge);
                s.label(no);
                let difference = s.kind_op(Op::ISub, U32, &[second, first]);
                jump(s, merge);
                s.label(merge);
                s.kind_op(Op::Phi, U32, &[sum, yes, difference, no])
            },
        )
        .specialize(values)
    };
    let mut list = vec![
        make("specialization.default", &[], 25),
        make("specialization.flag", &[(3, 1)], 55),
        make("specialization.both", &[(3, 1), (4, 2), (77, 9)], 22),
        per_invocation(
            "specialization.float",
            1,
            [1, 1, 1],
            |_| 3.5f32.to_bits(),
            |s, _| {
                let x = s.spec(F32, 0, 1f32.to_bits());
                let y = s.f(1.0);
                let sum = s.kind_op(Op::FAdd, F32, &[x, y]);
                s.kind_op(Op::Bitcast, U32, &[sum])
            },
        )
        .specialize(&[(0, 2.5f32.to_bits())]),
        per_invocation(
            "specialization.select",
            1,
            [1, 1, 1],
            |_| (-4i32) as u32,
            |s, _| {
                let n = s.spec(I32, 0, 4);
                let (int, bool) = (s.ty(I32), s.ty(BOOL));
                let minus = s.global(Op::SpecConstantOp, Some(int), &[Op::SNegate as u32, n]);
                let zero = s.constant(I32, 0);
                let positive = s.global(Op::SpecConstantOp, Some(bool), &[Op::SGreaterThan as u32, n, zero]);
                let r = s.global(Op::SpecConstantOp, Some(int), &[Op::Select as u32, positive, minus, n]);
                s.kind_op(Op::Bitcast, U32, &[r])
            },
        ),
    ];
    // The size of the workgroup is a specialization constant, and so is an array's length.
    let mut s = Shader::new([1, 1, 1]);
    s.without_local_size();
    let output = s.buffer(0);
    let index = s.builtin(BuiltIn::LocalInvocationIndex, U32);
    let (x, one) = (s.spec(U32, 0, 1), s.u(1));
    let v3 = s.ty(U32.by(3));
    let size = s.global(Op::SpecConstantComposite, Some(v3), &[x, one, one]);
    s.decorate(size, Decoration::BuiltIn, &[BuiltIn::WorkgroupSize as u32]);
    s.modes.extend([6 << 16 | Op::ExecutionMode as u32, s.main, ExecutionMode::LocalSize as u32, 1, 1, 1]);
    let word = s.ty(U32);
    let n = s.load(word, index);
    s.store_word(output, n, n);
    s.effect(Op::Return, &[]);
    let want = vec![0, 1, 2, 3, 4, 0, 0, 0];
    list.push(Case::new("specialization.workgroup-size", s, vec![Bound::Output(8)], want).specialize(&[(0, 5)]));
    list
}

fn builtins() -> Vec<Case> {
    let mut list = vec![];
    // 3 x 2 x 2 workgroups of 2 x 3 x 1: each built-in by the place of the invocation in the whole grid.
    let (groups, local) = ([3u32, 2, 2], [2u32, 3, 1]);
    let size: [u32; 3] = std::array::from_fn(|n| groups[n] * local[n]);
    let grid = || (0..size[2]).flat_map(move |z| (0..size[1]).flat_map(move |y| (0..size[0]).map(move |x| [x, y, z])));
    let digits = |v: [u32; 3]| v[0] + 100 * v[1] + 10_000 * v[2];
    let mut add = |name: &str, b: BuiltIn, kind: Kind, want: &dyn Fn([u32; 3]) -> u32| {
        let mut s = Shader::new(local);
        let output = s.buffer(0);
        let gid = s.builtin(BuiltIn::GlobalInvocationId, U32.by(3));
        let var = if b == BuiltIn::GlobalInvocationId { gid } else { s.builtin(b, kind) };
        let v3 = s.ty(U32.by(3));
        let id = s.load(v3, gid);
        let part = |s: &mut Shader, v: u32, scale: [u32; 3]| {
            let mut sum = s.u(0);
            for (n, k) in scale.into_iter().enumerate() {
                let c = s.kind_op(Op::CompositeExtract, U32, &[v, n as u32]);
                let k = s.u(k);
                let c = s.kind_op(Op::IMul, U32, &[c, k]);
                sum = s.kind_op(Op::IAdd, U32, &[sum, c]);
            }
            sum
        };
        let at = part(&mut s, id, [1, size[0], size[0] * size[1]]);
        let ty = s.ty(kind);
        let v = s.load(ty, var);
        let value = if kind == U32 { v } else { part(&mut s, v, [1, 100, 10_000]) };
        s.store_word(output, at, value);
        s.effect(Op::Return, &[]);
        let expected: Vec<u32> = grid().map(want).collect();
        list.push(Case::new(name, s, vec![Bound::Output(expected.len())], expected).groups(groups));
    };
    let each = |f: fn(u32, u32) -> u32| move |v: [u32; 3]| std::array::from_fn(|n| f(v[n], local[n]));
    let v3 = U32.by(3);
    add("builtin.GlobalInvocationId", BuiltIn::GlobalInvocationId, v3, &digits);
    add("builtin.WorkgroupId", BuiltIn::WorkgroupId, v3, &|v| digits(each(|a, b| a / b)(v)));
    add("builtin.LocalInvocationId", BuiltIn::LocalInvocationId, v3, &|v| digits(each(|a, b| a % b)(v)));
    add("builtin.NumWorkgroups", BuiltIn::NumWorkgroups, v3, &|_| digits(groups));
    add("builtin.LocalInvocationIndex", BuiltIn::LocalInvocationIndex, U32, &|v| v[0] % 2 + 2 * (v[1] % 3));
    list
}
