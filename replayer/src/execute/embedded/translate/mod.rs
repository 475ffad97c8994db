//! From a module to a program: specialization constants get their values, constant branches disappear, calls are inlined,
//! composites fall apart into scalars.
//!
//! Every id that an instruction names is looked up where it must be defined, and a value's registers always have the widths of
//! its type's scalars, so that no module, however damaged, makes a program that reads a register that is not there.

mod arithmetic;
mod ext;
mod function;
mod image;
mod instruction;
mod memory;
mod optimize;
mod record;
mod types;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use rspirv::spirv::{self, Op as SpirvOp};

use self::function::Frame;
use self::memory::Ptr;
use self::types::{Scalar, TypeInfo};
use super::Limits;
use super::ir::{
    Block, BufferDecl, Builtin, Descriptor, Edge, ImageDecl, Inst, Lanes, Mask, NONE, Op, Program, Reg, Term,
};
use super::kernels;
use super::report::Choice;
use super::source::{ExtSet, Id, Source};
use super::trace::Record;
use crate::execute::ExecuteError;

/// The value of an id.
#[derive(Clone)]
enum Val {
    /// Scalars of a value.
    Data(Rc<[Reg]>),
    Ptr(Rc<Ptr>),
    /// An image, and its type.
    Image(ImageRef, Id),
    /// A sampler, or the result of a function without one.
    Nothing,
}

/// Index of an image's declaration, and the register of its element where that is an array.
#[derive(Clone, Copy)]
struct ImageRef {
    index: u32,
    element: Reg,
}

/// What identifies an instruction without effects.
type Key = (Op, u8, u8, [Reg; 5], u32);

struct Translator<'s> {
    src: &'s Source,
    specialization: &'s [(u32, u32)],
    limits: &'s Limits,
    arch: pulp::Arch,
    types: HashMap<Id, Rc<TypeInfo>>,
    globals: HashMap<Id, Val>,
    frame: Frame,
    /// Functions being inlined, outermost first.
    calls: Vec<Id>,
    /// Slots of each register.
    widths: Vec<u32>,
    constants: HashMap<(u64, u8), Reg>,
    values: HashMap<Reg, u64>,
    undefs: [Option<Reg>; 2],
    variables: Vec<Reg>,
    blocks: Vec<Block>,
    /// The block being filled.
    current: usize,
    /// Variables' slots with a known content, in the block being filled.
    known: HashMap<(Reg, u32), Reg>,
    /// Results at hand in the block being filled.
    computed: HashMap<Key, Reg>,
    buffers: Vec<BufferDecl>,
    images: Vec<(Descriptor, ImageDecl)>,
    builtins: Vec<(Builtin, Reg)>,
    /// Values of image and sampler variables.
    handles: HashMap<Id, Val>,
    /// Private variables and their initializers.
    initial: Vec<(Ptr, Rc<[Reg]>)>,
    variable_slots: u32,
    shared_words: u32,
    local_size: [u32; 3],
    notes: Vec<(Choice, u32)>,
    /// Index of the instruction being translated.
    at: usize,
    /// Not in a function yet.
    global: bool,
    insts: usize,
    trace: Option<Vec<Record>>,
    scratch: Vec<Lanes>,
}

/// Translates an entry point. With `tracing` the program records what each instruction reads and gives.
pub(super) fn translate(
    source: &Arc<Source>,
    entry: &str,
    specialization: &[(u32, u32)],
    limits: &Limits,
    tracing: bool,
) -> Result<Program, ExecuteError> {
    let Some(&(_, function, entry_inst)) = source.entries.iter().find(|e| e.0 == entry) else {
        let names: Vec<&str> = source.entries.iter().map(|e| e.0.as_str()).collect();
        return Err(ExecuteError::Module(format!("no compute entry point {entry:?}; it has {names:?}")));
    };
    let mut t = Translator {
        src: source,
        specialization,
        limits,
        arch: pulp::Arch::new(),
        types: HashMap::new(),
        globals: HashMap::new(),
        frame: Frame::default(),
        calls: vec![],
        widths: vec![],
        constants: HashMap::new(),
        values: HashMap::new(),
        undefs: [None; 2],
        variables: vec![],
        blocks: vec![],
        current: 0,
        known: HashMap::new(),
        computed: HashMap::new(),
        buffers: vec![],
        images: vec![],
        builtins: vec![],
        handles: HashMap::new(),
        initial: vec![],
        variable_slots: 0,
        shared_words: 0,
        local_size: [0; 3],
        notes: vec![],
        at: entry_inst,
        global: true,
        insts: 0,
        trace: tracing.then(Vec::new),
        scratch: vec![[0; super::ir::LANES]; 12],
    };
    t.open_block();
    for &n in &source.globals {
        t.at = n;
        t.global_instruction(n)?;
    }
    t.modes(function)?;
    t.global = false;
    t.at = entry_inst;
    t.initialize()?;
    t.inline(function, vec![])?;
    t.blocks[t.current].term = Term::Return;
    optimize::finish(t, source)
}

impl Translator<'_> {
    /// An error that names the instruction being translated.
    fn fail(&self, text: &str) -> ExecuteError {
        self.src.fail(&self.src.insts[self.at], text)
    }

    fn global_instruction(&mut self, n: usize) -> Result<(), ExecuteError> {
        let i = self.src.insts[n];
        match i.op {
            SpirvOp::Variable => self.declare_variable(&i),
            SpirvOp::ConstantTrue
            | SpirvOp::ConstantFalse
            | SpirvOp::Constant
            | SpirvOp::ConstantComposite
            | SpirvOp::ConstantNull
            | SpirvOp::SpecConstantTrue
            | SpirvOp::SpecConstantFalse
            | SpirvOp::SpecConstant
            | SpirvOp::SpecConstantComposite
            | SpirvOp::Undef => self.declare_constant(&i),
            SpirvOp::SpecConstantOp => {
                let number = self.src.word(&i, 0)?;
                let inner = match SpirvOp::from_u32(number) {
                    Some(op) if instruction::is_constant_op(op) => op,
                    _ => return Err(self.fail(&format!("opcode {number} is not supported in constants"))),
                };
                let inner = super::source::SourceInst { op: inner, start: i.start + 1, ..i };
                self.instruction(&inner)?;
                match self.globals.get(&i.id) {
                    Some(Val::Data(d)) if d.iter().all(|r| self.values.contains_key(r)) => Ok(()),
                    _ => Err(self.fail("is not constant")),
                }
            }
            SpirvOp::ExtInst => {
                let set = self.src.word(&i, 0)?;
                match self.src.sets.get(&set) {
                    Some(ExtSet::NonSemantic) => Ok(()),
                    _ => Err(self.fail("outside a function")),
                }
            }
            op if format!("{op:?}").starts_with("Type") => self.declare_type(&i),
            _ => Err(self.fail("is not supported outside functions")),
        }
    }

    fn modes(&mut self, function: Id) -> Result<(), ExecuteError> {
        use spirv::ExecutionMode as M;
        let from_constant = self.local_size != [0; 3];
        for &(id, mode, n) in &self.src.modes {
            if id != function {
                continue;
            }
            self.at = n;
            let i = self.src.insts[n];
            let size = |m: usize| self.src.word(&i, 2 + m);
            match M::from_u32(mode) {
                Some(M::LocalSize) if from_constant => {}
                Some(M::LocalSize) => self.local_size = [size(0)?, size(1)?, size(2)?],
                Some(M::LocalSizeId) if from_constant => {}
                Some(M::LocalSizeId) => {
                    for m in 0..3 {
                        let data = self.global_data(size(m)?)?;
                        let value = match data[..] {
                            [r] => self.constant_of(r),
                            _ => None,
                        };
                        self.local_size[m] = value
                            .and_then(|v| u32::try_from(v).ok())
                            .ok_or_else(|| self.fail("a size that is no constant"))?;
                    }
                }
                Some(M::SignedZeroInfNanPreserve | M::DenormPreserve | M::RoundingModeRTE) => {}
                Some(other) => return Err(self.fail(&format!("execution mode {other:?} is not supported"))),
                None => return Err(self.fail(&format!("execution mode {mode} is unknown"))),
            }
        }
        let invocations = self.local_size.iter().try_fold(1u32, |a, &n| a.checked_mul(n));
        match invocations {
            Some(0) => Err(self.fail("the workgroup has no size")),
            Some(n) if n <= self.limits.workgroup_invocations => Ok(()),
            _ => Err(ExecuteError::Unsupported(format!(
                "workgroups of {:?} invocations, at most {} are accepted",
                self.local_size, self.limits.workgroup_invocations
            ))),
        }
    }

    /// Scalars of a global constant.
    fn global_data(&self, id: Id) -> Result<Rc<[Reg]>, ExecuteError> {
        match self.globals.get(&id) {
            Some(Val::Data(d)) => Ok(d.clone()),
            _ => Err(self.fail(&format!("%{id} is no constant known here"))),
        }
    }

    /// The value of an id.
    fn value(&self, id: Id) -> Result<Val, ExecuteError> {
        self.frame
            .values
            .get(&id)
            .or_else(|| self.globals.get(&id))
            .cloned()
            .ok_or_else(|| self.fail(&format!("%{id} is no value known here")))
    }

    /// Scalars of an id's value.
    fn data(&self, id: Id) -> Result<Rc<[Reg]>, ExecuteError> {
        match self.value(id)? {
            Val::Data(d) => Ok(d),
            _ => Err(self.fail(&format!("%{id} is no value of numbers"))),
        }
    }

    /// Type and register of a scalar operand.
    fn scalar(&self, id: Id) -> Result<(Scalar, Reg), ExecuteError> {
        match (self.type_of(id).and_then(|ty| self.vector(ty)), &self.data(id)?[..]) {
            (Ok((s, 1)), &[r]) => Ok((s, r)),
            _ => Err(self.fail(&format!("%{id} is no scalar"))),
        }
    }

    fn type_of(&self, id: Id) -> Result<Id, ExecuteError> {
        self.src.type_of(id).ok_or_else(|| self.fail(&format!("%{id} has no type")))
    }

    /// Scalar type, and registers, of a scalar or vector operand.
    fn vector_operand(&self, id: Id) -> Result<(Scalar, Rc<[Reg]>), ExecuteError> {
        let (s, n) = self.vector(self.type_of(id)?)?;
        let data = self.data(id)?;
        if data.len() != n as usize {
            return Err(self.fail(&format!("%{id} has not {n} components")));
        }
        Ok((s, data))
    }

    /// Gives an instruction's result its value.
    fn set(&mut self, id: Id, value: Val) {
        if self.global {
            self.globals.insert(id, value);
        } else {
            self.frame.values.insert(id, value);
        }
    }

    /// Gives a result its scalars, which must be those of its type.
    fn set_data(&mut self, id: Id, ty: Id, data: Vec<Reg>) -> Result<(), ExecuteError> {
        let scalars = self.scalars(ty)?;
        self.check_widths(&data, &scalars)?;
        self.set(id, Val::Data(data.into()));
        Ok(())
    }

    fn check_widths(&self, data: &[Reg], scalars: &[Scalar]) -> Result<(), ExecuteError> {
        let fits = data.len() == scalars.len()
            && data.iter().zip(scalars).all(|(&r, s)| self.widths[r as usize] == u32::from(s.width()));
        if fits { Ok(()) } else { Err(self.fail("its operands do not have the parts of its type")) }
    }

    /// A new register.
    fn reg(&mut self, slots: u32) -> Reg {
        self.widths.push(slots);
        (self.widths.len() - 1) as Reg
    }

    /// A register that holds a constant.
    fn constant(&mut self, value: u64, width: u8) -> Reg {
        if let Some(&r) = self.constants.get(&(value, width)) {
            return r;
        }
        let r = self.reg(width.into());
        self.constants.insert((value, width), r);
        self.values.insert(r, value);
        r
    }

    fn constant_bool(&mut self, value: bool) -> Reg {
        self.constant(if value { u32::MAX.into() } else { 0 }, 1)
    }

    /// 32-bit constant.
    fn word(&mut self, value: u32) -> Reg {
        self.constant(value.into(), 1)
    }

    fn float(&mut self, value: f32) -> Reg {
        self.word(value.to_bits())
    }

    fn double(&mut self, value: f64) -> Reg {
        self.constant(value.to_bits(), 2)
    }

    /// A register of an undefined value, which is 0.
    fn undef(&mut self, width: u8) -> Reg {
        let n = usize::from(width > 1);
        if let Some(r) = self.undefs[n] {
            return r;
        }
        let r = self.reg(width.into());
        self.values.insert(r, 0);
        self.undefs[n] = Some(r);
        r
    }

    fn constant_of(&self, r: Reg) -> Option<u64> {
        self.values.get(&r).copied()
    }

    fn is_undef(&self, r: Reg) -> bool {
        self.undefs.contains(&Some(r))
    }

    /// Starts a new block.
    fn open_block(&mut self) {
        self.blocks.push(Block { insts: vec![], term: Term::Open, edges: vec![] });
        self.current = self.blocks.len() - 1;
        self.known.clear();
        self.computed.clear();
    }

    /// Adds an edge without a target to the block being filled.
    fn open_edge(&mut self) -> (usize, usize) {
        let edges = &mut self.blocks[self.current].edges;
        edges.push(Edge { target: NONE, copies: vec![], insts: vec![] });
        (self.current, edges.len() - 1)
    }

    fn note(&mut self, choice: Choice) -> Result<(), ExecuteError> {
        let place = Choice::ALL.iter().position(|c| *c == choice).unwrap_or_default();
        if self.global {
            self.notes.push((choice, self.at as u32));
            Ok(())
        } else {
            self.push(Inst { imm: place as u32, ..self.inst(Op::Note) })
        }
    }

    /// An instruction without operands.
    fn inst(&self, op: Op) -> Inst {
        Inst {
            op,
            w: 1,
            k: 0,
            masked: false,
            dst: NONE,
            a: NONE,
            b: NONE,
            c: NONE,
            d: NONE,
            e: NONE,
            imm: 0,
            src: self.at as u32,
        }
    }

    /// Appends an instruction.
    fn push(&mut self, inst: Inst) -> Result<(), ExecuteError> {
        if self.global {
            return Err(self.fail("cannot be evaluated in a constant"));
        }
        self.insts += 1;
        if self.insts > self.limits.instructions {
            return Err(self.fail(&format!(
                "the module has more than {} operations on scalars after inlining",
                self.limits.instructions
            )));
        }
        self.blocks[self.current].insts.push(inst);
        Ok(())
    }

    /// Emits an operation on registers, or evaluates it.
    fn op(&mut self, op: Op, w: u8, args: &[Reg], imm: u32) -> Result<Reg, ExecuteError> {
        self.op_k(op, w, args, imm, 0)
    }

    fn op_k(&mut self, op: Op, w: u8, args: &[Reg], imm: u32, k: u8) -> Result<Reg, ExecuteError> {
        let arg = |n: usize| args.get(n).copied().unwrap_or(NONE);
        let inst = Inst { w, k, imm, a: arg(0), b: arg(1), c: arg(2), d: arg(3), ..self.inst(op) };
        self.operation(inst)
    }

    fn operation(&mut self, mut inst: Inst) -> Result<Reg, ExecuteError> {
        if !matches!(inst.op, Op::Mov | Op::Select) && inst.uses().any(|r| self.is_undef(r)) {
            self.note(Choice::Undefined)?;
        }
        if let Some(r) = self.simplify(&inst) {
            return Ok(r);
        }
        if inst.op.is_pure()
            && let Some((value, choice)) = self.fold(&inst)
        {
            if self.global {
                if let Some(choice) = choice {
                    self.note(choice)?;
                }
                return Ok(self.constant(value, inst.w));
            }
            if choice.is_none() {
                return Ok(self.constant(value, inst.w));
            }
        }
        let push_constant = inst.op == Op::LoadBuffer && matches!(self.buffers[inst.imm as usize], BufferDecl::Push);
        let reusable = inst.op.is_pure() || push_constant || matches!(inst.op, Op::TexelAddress | Op::ImageQuery);
        let key = (inst.op, inst.w, inst.k, [inst.a, inst.b, inst.c, inst.d, inst.e], inst.imm);
        if reusable && let Some(&r) = self.computed.get(&key) {
            return Ok(r);
        }
        inst.dst = self.reg(inst.w.into());
        self.push(inst)?;
        if reusable {
            self.computed.insert(key, inst.dst);
        }
        Ok(inst.dst)
    }

    /// An operand that is the result.
    fn simplify(&self, i: &Inst) -> Option<Reg> {
        let is = |r: Reg, v: u64| !self.is_undef(r) && self.constant_of(r) == Some(v);
        let ones = if i.w == 2 { u64::MAX } else { u32::MAX.into() };
        match i.op {
            Op::Mov => Some(i.a),
            Op::Select => match self.constant_of(i.a) {
                Some(0) => Some(i.c),
                Some(_) => Some(i.b),
                None => (i.b == i.c).then_some(i.b),
            },
            Op::And if is(i.a, 0) || is(i.b, ones) => Some(i.a),
            Op::And if is(i.b, 0) || is(i.a, ones) => Some(i.b),
            Op::Or if is(i.a, ones) || is(i.b, 0) => Some(i.a),
            Op::Or if is(i.b, ones) || is(i.a, 0) => Some(i.b),
            Op::Xor | Op::Add if is(i.a, 0) => Some(i.b),
            Op::Xor | Op::Add | Op::Sub | Op::Shl | Op::Shr | Op::Sar if is(i.b, 0) => Some(i.a),
            Op::Mul if is(i.a, 1) || is(i.b, 0) => Some(i.b),
            Op::Mul if is(i.b, 1) || is(i.a, 0) => Some(i.a),
            Op::Address if is(i.a, 0) || is(i.b, u32::MAX.into()) => None,
            _ => None,
        }
    }

    /// Value of an operation on constants, and the choice it depends on.
    fn fold(&mut self, inst: &Inst) -> Option<(u64, Option<Choice>)> {
        struct Fold(Option<Choice>);
        impl kernels::Env for Fold {
            fn effect(&mut self, _: &Inst, _: &mut [Lanes], _: &Mask) {}
            fn note(&mut self, choice: Choice, _: u32, _: u64) {
                self.0 = Some(choice);
            }
        }
        let mut args = [None; 4];
        let shape = inst.op.shape();
        let fields = [(shape.a, inst.a), (shape.b, inst.b), (shape.c, inst.c), (shape.d, inst.d)];
        for (n, (is, r)) in fields.into_iter().enumerate() {
            if is && r != NONE {
                args[n] = Some(self.constant_of(r)?);
            }
        }
        for (n, value) in args.iter().enumerate() {
            if let Some(v) = value {
                self.scratch[2 * n] = [*v as u32; super::ir::LANES];
                self.scratch[2 * n + 1] = [(*v >> 32) as u32; super::ir::LANES];
            }
        }
        let place = |n: usize, old: Reg| if args[n].is_some() { 2 * n as Reg } else { old };
        let inst = Inst {
            dst: 8,
            a: place(0, inst.a),
            b: place(1, inst.b),
            c: place(2, inst.c),
            d: place(3, inst.d),
            ..*inst
        };
        let mut env = Fold(None);
        kernels::run(self.arch, &[inst], &mut self.scratch, &Mask::new(1), &mut env);
        let high = if inst.w == 2 { self.scratch[9][0] } else { 0 };
        Some((u64::from(self.scratch[8][0]) | u64::from(high) << 32, env.0))
    }
}
