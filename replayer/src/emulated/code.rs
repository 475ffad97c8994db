//! A typed layer over rspirv's builder: values know their type, constants are made once, control flow is structured.
//!
//! Building can only fail on a mistake in this crate; the first failure is kept and returned by [`Code::finish`].

use std::{cell::Cell, collections::HashMap, rc::Rc};

use rspirv::{
    binary::Assemble,
    dr::{Builder, InsertPoint, Instruction, Operand},
    spirv::{self, Op, Word},
};

use super::section::{LISTING, Section};

/// A SPIR-V value whose type is known to Rust.
pub trait Value: Copy {
    /// Wraps a result id.
    fn from_id(id: Word) -> Self;
    /// The result id.
    fn id(self) -> Word;
    /// Id of the value's type.
    fn type_id(code: &Code) -> Word;
}

macro_rules! values {
    ($($(#[$doc:meta])* $name:ident => $field:ident,)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $name(Word);

            impl Value for $name {
                fn from_id(id: Word) -> Self { Self(id) }
                fn id(self) -> Word { self.0 }
                fn type_id(code: &Code) -> Word { code.types.$field }
            }
        )*
    };
}

values! {
    /// FP32.
    F => f32,
    /// FP64.
    D => f64,
    /// Unsigned 32-bit integer.
    U => u32,
    /// Signed 32-bit integer.
    I => i32,
    /// Boolean.
    B => bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Types {
    void: Word,
    bool: Word,
    u32: Word,
    i32: Word,
    f32: Word,
    f64: Word,
}

/// Instructions of GLSL.std.450 that are used.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
enum Glsl {
    RoundEven = 2,
    Trunc = 3,
    FAbs = 4,
    SAbs = 5,
    Floor = 8,
    InverseSqrt = 32,
    FMin = 37,
    UMin = 38,
    SMin = 39,
    FMax = 40,
    UMax = 41,
    SMax = 42,
    Fma = 50,
    UnpackHalf2x16 = 62,
}

/// An `if` that has begun.
#[must_use]
pub struct OpenIf {
    before: Word,
    merge: Word,
}

/// A loop that has begun.
#[must_use]
pub struct OpenLoop {
    /// The index, from 0 on.
    pub index: U,
    counter: Word,
    header: Word,
    next: Word,
    merge: Word,
}

/// A section of the module, until it is dropped; then the one around it goes on.
#[must_use]
pub struct OpenSection {
    current: Rc<Cell<Option<Section>>>,
    outer: Option<Section>,
}

impl Drop for OpenSection {
    fn drop(&mut self) {
        self.current.set(self.outer);
    }
}

/// A module under construction: one entry point, filled from top to bottom.
pub struct Code {
    builder: Builder,
    types: Types,
    glsl: Word,
    constants: HashMap<(Word, u64), Word>,
    error: Option<rspirv::dr::Error>,
    uses_f64: bool,
    /// The source text's name, when instructions are to refer to it.
    listing: Option<Word>,
    section: Rc<Cell<Option<Section>>>,
    /// The block with the last OpLine, and its section.
    marked: Option<(usize, Section)>,
}

impl Code {
    /// An empty module.
    #[must_use]
    pub fn new() -> Self {
        let mut builder = Builder::new();
        builder.set_version(1, 3);
        builder.capability(spirv::Capability::Shader);
        let glsl = builder.ext_inst_import("GLSL.std.450");
        builder.memory_model(spirv::AddressingModel::Logical, spirv::MemoryModel::GLSL450);
        let types = Types {
            void: builder.type_void(),
            bool: builder.type_bool(),
            u32: builder.type_int(32, 0),
            i32: builder.type_int(32, 1),
            f32: builder.type_float(32, None),
            f64: 0,
        };
        Self {
            builder,
            types,
            glsl,
            constants: HashMap::new(),
            error: None,
            uses_f64: false,
            listing: None,
            section: Rc::default(),
            marked: None,
        }
    }

    /// Takes the source text of the module, whose lines are its sections ([`super::section::listing`]). From here on each
    /// instruction refers to the line of its section.
    pub fn set_listing(&mut self, text: &str) {
        let name = self.builder.string(LISTING);
        self.builder.source(spirv::SourceLanguage::Unknown, 0, Some(name), Some(text));
        self.listing = Some(name);
    }

    /// Begins a section: what is emitted until the returned value is dropped belongs to it, inner sections aside.
    pub fn section(&mut self, section: impl Into<Section>) -> OpenSection {
        let current = self.section.clone();
        let outer = current.replace(Some(section.into()));
        OpenSection { current, outer }
    }

    /// Refers to the line of the section, where that is not in force yet. An OpLine holds until the end of its block.
    fn mark_section(&mut self) {
        let (Some(listing), Some(section), Some(block)) =
            (self.listing, self.section.get(), self.builder.selected_block())
        else {
            return;
        };
        if self.marked != Some((block, section)) {
            self.marked = Some((block, section));
            self.builder.line(listing, section.line(), 0);
        }
    }

    /// Declares FP64 and what moves its bits.
    pub fn enable_f64(&mut self) {
        if !self.uses_f64 {
            self.uses_f64 = true;
            self.builder.capability(spirv::Capability::Float64);
            self.types.f64 = self.builder.type_float(64, None);
        }
    }

    /// The builder, for declarations.
    pub fn raw(&mut self) -> &mut Builder {
        &mut self.builder
    }

    /// Id of `void`.
    #[must_use]
    pub fn void_type(&self) -> Word {
        self.types.void
    }

    /// Takes the value of a building step, or keeps its error.
    pub fn keep<T: Default>(&mut self, result: Result<T, rspirv::dr::Error>) -> T {
        result.unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            T::default()
        })
    }

    /// The assembled module.
    ///
    /// # Errors
    /// The first failure while building.
    pub fn finish(self) -> Result<Vec<u32>, rspirv::dr::Error> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.builder.module().assemble()),
        }
    }

    fn insert(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Word {
        self.mark_section();
        let id = self.builder.id();
        let result =
            self.builder.insert_into_block(InsertPoint::End, Instruction::new(op, Some(ty), Some(id), operands));
        self.keep(result);
        id
    }

    fn op<T: Value>(&mut self, op: Op, operands: &[Word]) -> T {
        let ty = T::type_id(self);
        T::from_id(self.insert(op, ty, operands.iter().map(|&id| Operand::IdRef(id)).collect()))
    }

    fn op_exact<T: Value>(&mut self, op: Op, operands: &[Word]) -> T {
        let value: T = self.op(op, operands);
        self.builder.decorate(value.id(), spirv::Decoration::NoContraction, []);
        value
    }

    fn ext<T: Value>(&mut self, instruction: Glsl, operands: &[Word]) -> T {
        let ty = T::type_id(self);
        T::from_id(self.ext_raw(instruction, ty, operands))
    }

    fn ext_raw(&mut self, instruction: Glsl, ty: Word, operands: &[Word]) -> Word {
        let mut all = vec![Operand::IdRef(self.glsl), Operand::LiteralExtInstInteger(instruction as u32)];
        all.extend(operands.iter().map(|&id| Operand::IdRef(id)));
        self.insert(Op::ExtInst, ty, all)
    }

    /// A name for debuggers and disassemblies.
    pub fn name(&mut self, id: Word, name: &str) {
        self.builder.name(id, name);
    }

    fn constant(&mut self, ty: Word, bits: u32) -> Word {
        if let Some(&id) = self.constants.get(&(ty, u64::from(bits))) {
            return id;
        }
        let id = self.builder.constant_bit32(ty, bits);
        self.constants.insert((ty, u64::from(bits)), id);
        id
    }

    /// An unsigned constant.
    pub fn u(&mut self, value: u32) -> U {
        U(self.constant(self.types.u32, value))
    }

    /// A signed constant.
    pub fn i(&mut self, value: i32) -> I {
        I(self.constant(self.types.i32, value as u32))
    }

    /// An FP32 constant.
    pub fn f(&mut self, value: f32) -> F {
        F(self.constant(self.types.f32, value.to_bits()))
    }

    /// An FP64 constant.
    pub fn d(&mut self, value: f64) -> D {
        let key = (self.types.f64, value.to_bits());
        if let Some(&id) = self.constants.get(&key) {
            return D(id);
        }
        let id = self.builder.constant_bit64(self.types.f64, value.to_bits());
        self.constants.insert(key, id);
        D(id)
    }

    /// A boolean constant.
    pub fn b(&mut self, value: bool) -> B {
        let ty = self.types.bool;
        B(if value { self.builder.constant_true(ty) } else { self.builder.constant_false(ty) })
    }

    /// A specialization constant of 32 bits.
    pub fn specialization(&mut self, id: u32, default: u32, name: &str) -> U {
        let value = self.builder.spec_constant_bit32(self.types.u32, default);
        self.builder.decorate(value, spirv::Decoration::SpecId, [Operand::LiteralBit32(id)]);
        self.builder.name(value, name);
        U(value)
    }

    /// `condition ? yes : no`.
    pub fn select<T: Value>(&mut self, condition: B, yes: T, no: T) -> T {
        self.op(Op::Select, &[condition.0, yes.id(), no.id()])
    }

    /// The entry of `values` at `index`; the last one for every index beyond.
    pub fn choose<T: Value>(&mut self, index: U, values: &[T]) -> T {
        let (&last, rest) = values.split_last().expect("choose needs a value");
        rest.iter().enumerate().rev().fold(last, |other, (i, &value)| {
            let at = self.u(i as u32);
            let here = self.u_eq(index, at);
            self.select(here, value, other)
        })
    }

    /// Begins `if condition { … }`; what follows is inside until [`Self::end_if`].
    pub fn begin_if(&mut self, condition: B) -> OpenIf {
        let before = self.current_block().unwrap_or_default();
        let (yes, merge) = (self.builder.id(), self.builder.id());
        self.branch_on(condition, yes, merge);
        let begun = self.builder.begin_block(Some(yes));
        self.keep(begun);
        OpenIf { before, merge }
    }

    /// Ends an `if`. Values (type and id) are `inside` where it was taken and `outside` where not; the merged ids.
    pub fn end_if(&mut self, open: OpenIf, outside: &[(Word, Word)], inside: &[(Word, Word)]) -> Vec<Word> {
        let last = self.current_block().unwrap_or_default();
        let branched = self.builder.branch(open.merge);
        self.keep(branched);
        let begun = self.builder.begin_block(Some(open.merge));
        self.keep(begun);
        outside
            .iter()
            .zip(inside)
            .map(|(&(ty, out), &(_, inner))| {
                if out == inner {
                    return out;
                }
                self.mark_section();
                let phi = self.builder.phi(ty, None, [(out, open.before), (inner, last)]);
                self.keep(phi)
            })
            .collect()
    }

    /// `if condition { then }`.
    pub fn if_then(&mut self, condition: B, then: impl FnOnce(&mut Self)) {
        let open = self.begin_if(condition);
        then(self);
        self.end_if(open, &[], &[]);
    }

    /// Begins a loop that runs `count` times, with its index in a variable; what follows is inside until
    /// [`Self::end_loop`].
    pub fn begin_loop(&mut self, counter: Word, count: U) -> OpenLoop {
        let zero = self.u(0);
        self.store(counter, zero);
        let [header, test, body, next, merge] = std::array::from_fn(|_| self.builder.id());
        let branched = self.builder.branch(header);
        self.keep(branched);
        let begun = self.builder.begin_block(Some(header));
        self.keep(begun);
        let merged = self.builder.loop_merge(merge, next, spirv::LoopControl::NONE, []);
        self.keep(merged);
        let branched = self.builder.branch(test);
        self.keep(branched);
        let begun = self.builder.begin_block(Some(test));
        self.keep(begun);
        let index: U = self.load(counter);
        let again = self.u_lt(index, count);
        let branched = self.builder.branch_conditional(again.0, body, merge, []);
        self.keep(branched);
        let begun = self.builder.begin_block(Some(body));
        self.keep(begun);
        OpenLoop { index, counter, header, next, merge }
    }

    /// Ends a loop.
    pub fn end_loop(&mut self, open: OpenLoop) {
        let branched = self.builder.branch(open.next);
        self.keep(branched);
        let begun = self.builder.begin_block(Some(open.next));
        self.keep(begun);
        let one = self.u(1);
        let next = self.u_add(open.index, one);
        self.store(open.counter, next);
        let branched = self.builder.branch(open.header);
        self.keep(branched);
        let begun = self.builder.begin_block(Some(open.merge));
        self.keep(begun);
    }

    /// A variable of the function; only at its start.
    pub fn local<T: Value>(&mut self, name: &str) -> Word {
        let ty = T::type_id(self);
        let pointer = self.builder.type_pointer(None, spirv::StorageClass::Function, ty);
        let variable = self.builder.variable(pointer, None, spirv::StorageClass::Function, None);
        self.builder.name(variable, name);
        variable
    }

    /// Loads through a pointer.
    pub fn load<T: Value>(&mut self, pointer: Word) -> T {
        self.op(Op::Load, &[pointer])
    }

    /// Stores through a pointer.
    pub fn store<T: Value>(&mut self, pointer: Word, value: T) {
        self.mark_section();
        let stored = self.builder.store(pointer, value.id(), None, []);
        self.keep(stored);
    }

    fn branch_on(&mut self, condition: B, yes: Word, merge: Word) {
        let merged = self.builder.selection_merge(merge, spirv::SelectionControl::NONE);
        self.keep(merged);
        let branched = self.builder.branch_conditional(condition.0, yes, merge, []);
        self.keep(branched);
    }

    fn current_block(&self) -> Option<Word> {
        let function = self.builder.module_ref().functions.get(self.builder.selected_function()?)?;
        function.blocks.get(self.builder.selected_block()?)?.label.as_ref()?.result_id
    }

    /// The two FP16 halves of a word as FP32, the low half first.
    pub fn unpack_half(&mut self, word: U) -> [F; 2] {
        let pair = self.builder.type_vector(self.types.f32, 2);
        let halves = self.ext_raw(Glsl::UnpackHalf2x16, pair, &[word.0]);
        [0, 1].map(|n| {
            let ty = self.types.f32;
            F(self.insert(Op::CompositeExtract, ty, vec![Operand::IdRef(halves), Operand::LiteralBit32(n)]))
        })
    }

    /// The high word of an FP64 value: sign, exponent, and the upper 20 bits of the mantissa.
    pub fn d_high_word(&mut self, value: D) -> U {
        let pair = self.builder.type_vector(self.types.u32, 2);
        let words = self.insert(Op::Bitcast, pair, vec![Operand::IdRef(value.0)]);
        let ty = self.types.u32;
        U(self.insert(Op::CompositeExtract, ty, vec![Operand::IdRef(words), Operand::LiteralBit32(1)]))
    }

    /// The low word of an FP64 value: the lower 32 bits of the mantissa.
    pub fn d_low_word(&mut self, value: D) -> U {
        let pair = self.builder.type_vector(self.types.u32, 2);
        let words = self.insert(Op::Bitcast, pair, vec![Operand::IdRef(value.0)]);
        let ty = self.types.u32;
        U(self.insert(Op::CompositeExtract, ty, vec![Operand::IdRef(words), Operand::LiteralBit32(0)]))
    }

    /// The FP64 value of a low and a high word.
    pub fn d_from_words(&mut self, low: U, high: U) -> D {
        let words = self.vector(&[low, high]);
        let ty = self.types.f64;
        D(self.insert(Op::Bitcast, ty, vec![Operand::IdRef(words)]))
    }

    /// `a b + c`, rounded once to nearest even; no result may be denormal. Needs FP64.
    ///
    /// The product is exact in FP64. Rounding the sum twice goes wrong only where the first rounding ends halfway between two
    /// FP32 values; there its error says on which side the sum lies.
    pub fn f_fused(&mut self, a: F, b: F, c: F) -> F {
        let (a, b, c) = (self.f_to_d(a), self.f_to_d(b), self.f_to_d(c));
        let product = self.d_mul(a, b);
        let sum = self.d_add(product, c);
        let of_c = self.d_sub(sum, product);
        let of_product = self.d_sub(sum, of_c);
        let lost = self.d_sub(product, of_product);
        let lost_of_c = self.d_sub(c, of_c);
        let error = self.d_add(lost, lost_of_c);
        let zero = self.d(0.0);
        let (below, above) = (self.d_lt(error, zero), self.d_lt(zero, error));
        let inexact = self.b_or(below, above);
        let (low, high) = (self.d_low_word(sum), self.d_high_word(sum));
        let (mask, half, one, shift) = (self.u(0x1fff_ffff), self.u(0x1000_0000), self.u(1), self.u(31));
        let rest = self.u_and(low, mask);
        let halfway = self.u_eq(rest, half);
        let wrong = self.b_and(halfway, inexact);
        let sign = self.u_shr(high, shift);
        let nothing = self.u(0);
        let error_sign = self.select(below, one, nothing);
        let larger = self.u_eq(sign, error_sign);
        let (up, down) = (self.u_add(low, one), self.u_sub(low, one));
        let moved = self.select(larger, up, down);
        let low = self.select(wrong, moved, low);
        let sum = self.d_from_words(low, high);
        self.d_to_f(sum)
    }

    /// `a / b`, rounded once to nearest even, for finite values, `b` not 0, and no denormals. Needs FP64.
    ///
    /// A quotient of FP32 values is further from halfway between two others than the second correction leaves.
    pub fn f_quotient(&mut self, a: F, b: F) -> F {
        let rough = self.f_div(a, b);
        let one = self.f(1.0);
        let inverse = self.f_div(one, b);
        let (a, b, inverse) = (self.f_to_d(a), self.f_to_d(b), self.f_to_d(inverse));
        let mut quotient = self.f_to_d(rough);
        for _ in 0..2 {
            let product = self.d_mul(quotient, b);
            let rest = self.d_sub(a, product);
            let correction = self.d_mul(rest, inverse);
            quotient = self.d_add(quotient, correction);
        }
        self.d_to_f(quotient)
    }

    /// Component of a vector.
    pub fn extract<T: Value>(&mut self, vector: Word, index: u32) -> T {
        let ty = T::type_id(self);
        T::from_id(self.insert(Op::CompositeExtract, ty, vec![Operand::IdRef(vector), Operand::LiteralBit32(index)]))
    }

    /// A vector of two to four components.
    pub fn vector<T: Value>(&mut self, components: &[T]) -> Word {
        let ty = T::type_id(self);
        let vector = self.builder.type_vector(ty, components.len() as u32);
        self.insert(Op::CompositeConstruct, vector, components.iter().map(|c| Operand::IdRef(c.id())).collect())
    }

    /// Any instruction with id operands and a result of a given type.
    pub fn instruction(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Word {
        self.insert(op, ty, operands)
    }
}

impl Default for Code {
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident ( $($arg:ident : $ty:ty),* ) -> $result:ty = $how:ident $op:expr;)*) => {
        impl Code {
            $(
                $(#[$doc])*
                pub fn $name(&mut self, $($arg: $ty),*) -> $result {
                    self.$how($op, &[$($arg.id()),*])
                }
            )*
        }
    };
}

operations! {
    /// Sum, rounded once.
    f_add(a: F, b: F) -> F = op_exact Op::FAdd;
    /// Difference, rounded once.
    f_sub(a: F, b: F) -> F = op_exact Op::FSub;
    /// Product, rounded once.
    f_mul(a: F, b: F) -> F = op_exact Op::FMul;
    /// `a b + c`: only where the product is exact, as Vulkan lets a device round once or twice.
    f_fma_of_exact(a: F, b: F, c: F) -> F = ext Glsl::Fma;
    /// Quotient; Vulkan allows it an error of 2.5 ULP.
    f_div(a: F, b: F) -> F = op Op::FDiv;
    /// `a < b`.
    f_lt(a: F, b: F) -> B = op Op::FOrdLessThan;
    /// `a > b`.
    f_gt(a: F, b: F) -> B = op Op::FOrdGreaterThan;
    /// `a >= b`.
    f_ge(a: F, b: F) -> B = op Op::FOrdGreaterThanEqual;
    /// `a == b`.
    f_eq(a: F, b: F) -> B = op Op::FOrdEqual;
    /// `a != b`, also for NaN.
    f_ne(a: F, b: F) -> B = op Op::FUnordNotEqual;
    /// To a signed integer; the value must be in range.
    f_to_i(a: F) -> I = op Op::ConvertFToS;
    /// To an unsigned integer; the value must be in range.
    f_to_u(a: F) -> U = op Op::ConvertFToU;
    /// To FP64.
    f_to_d(a: F) -> D = op Op::FConvert;
    /// The other sign.
    f_neg(a: F) -> F = op Op::FNegate;
    /// The bits.
    f_bits(a: F) -> U = op Op::Bitcast;
    /// Down to an integer.
    f_floor(a: F) -> F = ext Glsl::Floor;
    /// To the nearest integer, ties to even.
    f_round_even(a: F) -> F = ext Glsl::RoundEven;
    /// Toward zero to an integer.
    f_trunc(a: F) -> F = ext Glsl::Trunc;
    /// Magnitude.
    f_abs(a: F) -> F = ext Glsl::FAbs;
    /// One over the square root; Vulkan allows it an error of 2 ULP.
    f_inverse_sqrt(a: F) -> F = ext Glsl::InverseSqrt;
    /// The smaller; no operand may be NaN.
    f_min(a: F, b: F) -> F = ext Glsl::FMin;
    /// The larger; no operand may be NaN.
    f_max(a: F, b: F) -> F = ext Glsl::FMax;
    /// FP64 sum.
    d_add(a: D, b: D) -> D = op_exact Op::FAdd;
    /// FP64 difference.
    d_sub(a: D, b: D) -> D = op_exact Op::FSub;
    /// FP64 product.
    d_mul(a: D, b: D) -> D = op_exact Op::FMul;
    /// `a >= b`.
    d_ge(a: D, b: D) -> B = op Op::FOrdGreaterThanEqual;
    /// `a < b`.
    d_lt(a: D, b: D) -> B = op Op::FOrdLessThan;
    /// Down to an integer.
    d_floor(a: D) -> D = ext Glsl::Floor;
    /// Toward zero to an integer.
    d_trunc(a: D) -> D = ext Glsl::Trunc;
    /// To the nearest integer, ties to even.
    d_round_even(a: D) -> D = ext Glsl::RoundEven;
    /// Magnitude.
    d_abs(a: D) -> D = ext Glsl::FAbs;
    /// The smaller; no operand may be NaN.
    d_min(a: D, b: D) -> D = ext Glsl::FMin;
    /// The larger; no operand may be NaN.
    d_max(a: D, b: D) -> D = ext Glsl::FMax;
    /// To FP32, to nearest even.
    d_to_f(a: D) -> F = op Op::FConvert;
    /// To a signed integer; the value must be in range.
    d_to_i(a: D) -> I = op Op::ConvertFToS;
    /// FP64 of an unsigned integer.
    u_to_d(a: U) -> D = op Op::ConvertUToF;
    /// FP64 of a signed integer.
    i_to_d(a: I) -> D = op Op::ConvertSToF;
    /// Sum modulo 2^32.
    u_add(a: U, b: U) -> U = op Op::IAdd;
    /// Difference modulo 2^32.
    u_sub(a: U, b: U) -> U = op Op::ISub;
    /// Product modulo 2^32.
    u_mul(a: U, b: U) -> U = op Op::IMul;
    /// Quotient; `b` must not be 0.
    u_div(a: U, b: U) -> U = op Op::UDiv;
    /// Remainder; `b` must not be 0.
    u_mod(a: U, b: U) -> U = op Op::UMod;
    /// Bits in both.
    u_and(a: U, b: U) -> U = op Op::BitwiseAnd;
    /// Bits in either.
    u_or(a: U, b: U) -> U = op Op::BitwiseOr;
    /// Bits in one.
    u_xor(a: U, b: U) -> U = op Op::BitwiseXor;
    /// Shift left; `b` below 32.
    u_shl(a: U, b: U) -> U = op Op::ShiftLeftLogical;
    /// Shift right; `b` below 32.
    u_shr(a: U, b: U) -> U = op Op::ShiftRightLogical;
    /// `a == b`.
    u_eq(a: U, b: U) -> B = op Op::IEqual;
    /// `a != b`.
    u_ne(a: U, b: U) -> B = op Op::INotEqual;
    /// `a < b`.
    u_lt(a: U, b: U) -> B = op Op::ULessThan;
    /// `a > b`.
    u_gt(a: U, b: U) -> B = op Op::UGreaterThan;
    /// `a >= b`.
    u_ge(a: U, b: U) -> B = op Op::UGreaterThanEqual;
    /// The smaller.
    u_min(a: U, b: U) -> U = ext Glsl::UMin;
    /// The larger.
    u_max(a: U, b: U) -> U = ext Glsl::UMax;
    /// FP32 of an unsigned integer.
    u_to_f(a: U) -> F = op Op::ConvertUToF;
    /// The same bits, signed.
    u_to_i(a: U) -> I = op Op::Bitcast;
    /// FP32 of these bits.
    u_float(a: U) -> F = op Op::Bitcast;
    /// Sum modulo 2^32.
    i_add(a: I, b: I) -> I = op Op::IAdd;
    /// Difference modulo 2^32.
    i_sub(a: I, b: I) -> I = op Op::ISub;
    /// Product modulo 2^32.
    i_mul(a: I, b: I) -> I = op Op::IMul;
    /// Bits in both.
    i_and(a: I, b: I) -> I = op Op::BitwiseAnd;
    /// All bits flipped.
    i_not(a: I) -> I = op Op::Not;
    /// Shift left; `b` below 32.
    i_shl(a: I, b: U) -> I = op Op::ShiftLeftLogical;
    /// Arithmetic shift right; `b` below 32.
    i_shr(a: I, b: U) -> I = op Op::ShiftRightArithmetic;
    /// `a == b`.
    i_eq(a: I, b: I) -> B = op Op::IEqual;
    /// `a < b`.
    i_lt(a: I, b: I) -> B = op Op::SLessThan;
    /// `a >= b`.
    i_ge(a: I, b: I) -> B = op Op::SGreaterThanEqual;
    /// The smaller.
    i_min(a: I, b: I) -> I = ext Glsl::SMin;
    /// The larger.
    i_max(a: I, b: I) -> I = ext Glsl::SMax;
    /// Magnitude.
    i_abs(a: I) -> I = ext Glsl::SAbs;
    /// FP32 of a signed integer.
    i_to_f(a: I) -> F = op Op::ConvertSToF;
    /// The same bits, unsigned.
    i_to_u(a: I) -> U = op Op::Bitcast;
    /// Both.
    b_and(a: B, b: B) -> B = op Op::LogicalAnd;
    /// Either.
    b_or(a: B, b: B) -> B = op Op::LogicalOr;
    /// Not.
    b_not(a: B) -> B = op Op::LogicalNot;
}

impl Code {
    /// Limits a value that is no NaN.
    pub fn f_clamp(&mut self, a: F, low: F, high: F) -> F {
        let a = self.f_max(a, low);
        self.f_min(a, high)
    }

    /// Limits a value that is no NaN.
    pub fn d_clamp(&mut self, a: D, low: D, high: D) -> D {
        let a = self.d_max(a, low);
        self.d_min(a, high)
    }

    /// Limits a value.
    pub fn i_clamp(&mut self, a: I, low: I, high: I) -> I {
        let a = self.i_max(a, low);
        self.i_min(a, high)
    }
}
