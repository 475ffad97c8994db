//! Small modules for the tests: one invocation a workgroup, `gl_GlobalInvocationID.x` counts them.

use replayer::execute::Module;
use rspirv::{
    binary::Assemble,
    dr::{Builder, Operand},
    spirv::{
        AddressingModel, BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel, FunctionControl,
        ImageFormat, ImageOperands, LoopControl, MemoryModel, SelectionControl, StorageClass, Word,
    },
};

/// A module under construction, within its only function.
pub struct Kernel {
    pub b: Builder,
    pub uint: Word,
    pub float: Word,
    words: Word,
    word_pointer: Word,
    main: Word,
    zero: Word,
    invocation_var: Word,
    /// This invocation's number.
    pub index: Word,
}

impl Kernel {
    pub fn new() -> Self {
        let mut b = Builder::new();
        b.set_version(1, 3);
        b.capability(Capability::Shader);
        b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        let void = b.type_void();
        let uint = b.type_int(32, 0);
        let float = b.type_float(32, None);
        let uint3 = b.type_vector(uint, 3);
        let array = b.type_runtime_array(uint);
        b.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
        let words = b.type_struct([array]);
        b.decorate(words, Decoration::Block, []);
        b.member_decorate(words, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        let word_pointer = b.type_pointer(None, StorageClass::StorageBuffer, uint);
        let input3 = b.type_pointer(None, StorageClass::Input, uint3);
        let invocation_var = b.variable(input3, None, StorageClass::Input, None);
        b.decorate(invocation_var, Decoration::BuiltIn, [Operand::BuiltIn(BuiltIn::GlobalInvocationId)]);
        let zero = b.constant_bit32(uint, 0);
        let function_type = b.type_function(void, []);
        let main = b.begin_function(void, None, FunctionControl::NONE, function_type).unwrap();
        b.begin_block(None).unwrap();
        let id = b.load(uint3, None, invocation_var, None, []).unwrap();
        let index = b.composite_extract(uint, None, id, [0]).unwrap();
        Self { b, uint, float, words, word_pointer, main, zero, invocation_var, index }
    }

    pub fn constant(&mut self, value: u32) -> Word {
        self.b.constant_bit32(self.uint, value)
    }

    /// A specialization constant.
    pub fn spec_constant(&mut self, id: u32, default: u32) -> Word {
        let constant = self.b.spec_constant_bit32(self.uint, default);
        self.b.decorate(constant, Decoration::SpecId, [Operand::LiteralBit32(id)]);
        constant
    }

    /// A variable outside the function that is under construction.
    fn variable(&mut self, pointer: Word, class: StorageClass) -> Word {
        let (function, block) = (self.b.selected_function(), self.b.selected_block());
        self.b.select_block(None).unwrap();
        self.b.select_function(None).unwrap();
        let variable = self.b.variable(pointer, None, class, None);
        self.b.select_function(function).unwrap();
        self.b.select_block(block).unwrap();
        variable
    }

    fn place(&mut self, variable: Word, set: u32, binding: u32) {
        self.b.decorate(variable, Decoration::DescriptorSet, [Operand::LiteralBit32(set)]);
        self.b.decorate(variable, Decoration::Binding, [Operand::LiteralBit32(binding)]);
    }

    /// A storage buffer of words.
    pub fn buffer(&mut self, set: u32, binding: u32) -> Word {
        let pointer = self.b.type_pointer(None, StorageClass::StorageBuffer, self.words);
        let variable = self.variable(pointer, StorageClass::StorageBuffer);
        self.place(variable, set, binding);
        variable
    }

    /// A uniform buffer of one vector of four words; loads component 0.
    pub fn uniform_word(&mut self, set: u32, binding: u32) -> Word {
        let vector = self.b.type_vector(self.uint, 4);
        let block = self.b.type_struct([vector]);
        self.b.decorate(block, Decoration::Block, []);
        self.b.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        let pointer = self.b.type_pointer(None, StorageClass::Uniform, block);
        let variable = self.variable(pointer, StorageClass::Uniform);
        self.place(variable, set, binding);
        let member = self.b.type_pointer(None, StorageClass::Uniform, self.uint);
        let at = self.b.access_chain(member, None, variable, [self.zero, self.zero]).unwrap();
        self.b.load(self.uint, None, at, None, []).unwrap()
    }

    /// A word of the push constants, which the module declares with `count` words.
    pub fn push_constant(&mut self, count: u32, at: u32) -> Word {
        let members = vec![self.uint; count as usize];
        let block = self.b.type_struct(members);
        self.b.decorate(block, Decoration::Block, []);
        for member in 0..count {
            self.b.member_decorate(block, member, Decoration::Offset, [Operand::LiteralBit32(4 * member)]);
        }
        let pointer = self.b.type_pointer(None, StorageClass::PushConstant, block);
        let variable = self.variable(pointer, StorageClass::PushConstant);
        let member = self.b.type_pointer(None, StorageClass::PushConstant, self.uint);
        let place = self.constant(at);
        let at = self.b.access_chain(member, None, variable, [place]).unwrap();
        self.b.load(self.uint, None, at, None, []).unwrap()
    }

    pub fn load(&mut self, buffer: Word, at: Word) -> Word {
        let pointer = self.b.access_chain(self.word_pointer, None, buffer, [self.zero, at]).unwrap();
        self.b.load(self.uint, None, pointer, None, []).unwrap()
    }

    pub fn store(&mut self, buffer: Word, at: Word, value: Word) {
        let pointer = self.b.access_chain(self.word_pointer, None, buffer, [self.zero, at]).unwrap();
        self.b.store(pointer, value, None, []).unwrap();
    }

    /// `count` words at `index * count`.
    pub fn load_row(&mut self, buffer: Word, count: u32) -> Vec<Word> {
        let width = self.constant(count);
        let start = self.b.i_mul(self.uint, None, self.index, width).unwrap();
        (0..count)
            .map(|i| {
                let i = self.constant(i);
                let at = self.b.i_add(self.uint, None, start, i).unwrap();
                self.load(buffer, at)
            })
            .collect()
    }

    fn vector(&mut self, of: Word, parts: &[Word]) -> Word {
        match *parts {
            [one] => one,
            _ => {
                let vector = self.b.type_vector(of, parts.len() as u32);
                self.b.composite_construct(vector, None, parts.iter().copied()).unwrap()
            }
        }
    }

    /// Variable of an image without a sampler that is read as integers, with its type.
    pub fn image(&mut self, set: u32, binding: u32, dim: Dim, arrayed: bool) -> (Word, Word) {
        if dim == Dim::Dim1D {
            self.b.capability(Capability::Sampled1D);
        }
        let kind = self.b.type_image(self.uint, dim, 0, arrayed.into(), 0, 1, ImageFormat::Unknown, None);
        let pointer = self.b.type_pointer(None, StorageClass::UniformConstant, kind);
        let variable = self.variable(pointer, StorageClass::UniformConstant);
        self.place(variable, set, binding);
        (variable, kind)
    }

    /// Component 0 of a texel.
    pub fn fetch(&mut self, image: (Word, Word), at: &[Word], level: Word) -> Word {
        let loaded = self.b.load(image.1, None, image.0, None, []).unwrap();
        let at = self.vector(self.uint, at);
        let vector = self.b.type_vector(self.uint, 4);
        let texel =
            self.b.image_fetch(vector, None, loaded, at, Some(ImageOperands::LOD), [Operand::IdRef(level)]).unwrap();
        self.b.composite_extract(self.uint, None, texel, [0]).unwrap()
    }

    /// Four words of a sample of a float image combined with a sampler, at coordinates given by their bits.
    pub fn sample(&mut self, set: u32, binding: u32, dim: Dim, arrayed: bool, at: &[Word], lod: Word) -> Vec<Word> {
        if dim == Dim::Dim1D {
            self.b.capability(Capability::Sampled1D);
        }
        if dim == Dim::DimCube && arrayed {
            self.b.capability(Capability::SampledCubeArray);
        }
        let image = self.b.type_image(self.float, dim, 0, arrayed.into(), 0, 1, ImageFormat::Unknown, None);
        let kind = self.b.type_sampled_image(image);
        let pointer = self.b.type_pointer(None, StorageClass::UniformConstant, kind);
        let variable = self.variable(pointer, StorageClass::UniformConstant);
        self.place(variable, set, binding);
        let loaded = self.b.load(kind, None, variable, None, []).unwrap();
        let at: Vec<Word> = at.iter().map(|&w| self.b.bitcast(self.float, None, w).unwrap()).collect();
        let at = self.vector(self.float, &at);
        let lod = self.b.bitcast(self.float, None, lod).unwrap();
        let vector = self.b.type_vector(self.float, 4);
        let texel = self
            .b
            .image_sample_explicit_lod(vector, None, loaded, at, ImageOperands::LOD, [Operand::IdRef(lod)])
            .unwrap();
        (0..4)
            .map(|i| {
                let part = self.b.composite_extract(self.float, None, texel, [i]).unwrap();
                self.b.bitcast(self.uint, None, part).unwrap()
            })
            .collect()
    }

    /// A value after `rounds` steps of xorshift from `start`.
    pub fn scramble(&mut self, start: Word, rounds: Word) -> Word {
        let b = &mut self.b;
        let boolean = b.type_bool();
        let (zero, one) = (self.zero, b.constant_bit32(self.uint, 1));
        let shifts = [13u32, 17, 5].map(|s| b.constant_bit32(self.uint, s));
        let before = b.id();
        let [header, test, body, next, merge] = [(); 5].map(|()| b.id());
        let (count_next, value_next) = (b.id(), b.id());
        b.branch(before).unwrap();
        b.begin_block(Some(before)).unwrap();
        b.branch(header).unwrap();
        b.begin_block(Some(header)).unwrap();
        let count = b.phi(self.uint, None, [(zero, before), (count_next, next)]).unwrap();
        let value = b.phi(self.uint, None, [(start, before), (value_next, next)]).unwrap();
        b.loop_merge(merge, next, LoopControl::DONT_UNROLL, []).unwrap();
        b.branch(test).unwrap();
        b.begin_block(Some(test)).unwrap();
        let more = b.u_less_than(boolean, None, count, rounds).unwrap();
        b.branch_conditional(more, body, merge, []).unwrap();
        b.begin_block(Some(body)).unwrap();
        let s = b.shift_left_logical(self.uint, None, value, shifts[0]).unwrap();
        let v = b.bitwise_xor(self.uint, None, value, s).unwrap();
        let s = b.shift_right_logical(self.uint, None, v, shifts[1]).unwrap();
        let v = b.bitwise_xor(self.uint, None, v, s).unwrap();
        let s = b.shift_left_logical(self.uint, None, v, shifts[2]).unwrap();
        b.bitwise_xor(self.uint, Some(value_next), v, s).unwrap();
        b.branch(next).unwrap();
        b.begin_block(Some(next)).unwrap();
        b.i_add(self.uint, Some(count_next), count, one).unwrap();
        b.branch(header).unwrap();
        b.begin_block(Some(merge)).unwrap();
        value
    }

    /// Runs `then` only where `condition` holds.
    pub fn only_if(&mut self, condition: Word, then: impl FnOnce(&mut Self)) {
        let (inside, merge) = (self.b.id(), self.b.id());
        self.b.selection_merge(merge, SelectionControl::NONE).unwrap();
        self.b.branch_conditional(condition, inside, merge, []).unwrap();
        self.b.begin_block(Some(inside)).unwrap();
        then(self);
        self.b.branch(merge).unwrap();
        self.b.begin_block(Some(merge)).unwrap();
    }

    pub fn finish(mut self) -> Module {
        self.b.ret().unwrap();
        self.b.end_function().unwrap();
        self.b.entry_point(ExecutionModel::GLCompute, self.main, "main", [self.invocation_var]);
        self.b.execution_mode(self.main, ExecutionMode::LocalSize, [1, 1, 1]);
        Module::new(self.b.module().assemble())
    }
}

/// `out[i] = in[i]`: input at set 0 binding 0, output at binding 1.
pub fn copy() -> Module {
    let mut k = Kernel::new();
    let (input, output) = (k.buffer(0, 0), k.buffer(0, 1));
    let value = k.load(input, k.index);
    k.store(output, k.index, value);
    k.finish()
}

/// `out[i] = texel`: rows of coordinates and the level at binding 0, output at binding 1, image at binding 2.
pub fn fetch(dim: Dim, arrayed: bool) -> Module {
    let coordinates = match dim {
        Dim::Dim1D => 1,
        Dim::Dim2D => 2,
        _ => 3,
    } + u32::from(arrayed);
    let mut k = Kernel::new();
    let (rows, output) = (k.buffer(0, 0), k.buffer(0, 1));
    let image = k.image(0, 2, dim, arrayed);
    let row = k.load_row(rows, coordinates + 1);
    let texel = k.fetch(image, &row[..coordinates as usize], row[coordinates as usize]);
    k.store(output, k.index, texel);
    k.finish()
}

/// `out[4 i..] = sample`: rows of coordinates and LOD (float bits) at binding 0, output at binding 1, image at binding 2.
pub fn sample(dim: Dim, arrayed: bool) -> Module {
    let coordinates = match dim {
        Dim::Dim1D => 1,
        Dim::Dim2D => 2,
        _ => 3,
    } + u32::from(arrayed);
    let mut k = Kernel::new();
    let (rows, output) = (k.buffer(0, 0), k.buffer(0, 1));
    let row = k.load_row(rows, coordinates + 1);
    let parts = k.sample(0, 2, dim, arrayed, &row[..coordinates as usize], row[coordinates as usize]);
    let four = k.constant(4);
    let start = k.b.i_mul(k.uint, None, k.index, four).unwrap();
    for (i, part) in (0..).zip(parts) {
        let i = k.constant(i);
        let at = k.b.i_add(k.uint, None, start, i).unwrap();
        k.store(output, at, part);
    }
    k.finish()
}

/// `out[i] = spec 7 * 1000 + spec 9 + push[1]`, output at set 1 binding 3. Defaults 2 and 5; two words of push constants.
pub fn constants() -> Module {
    let mut k = Kernel::new();
    let output = k.buffer(1, 3);
    let (a, b) = (k.spec_constant(7, 2), k.spec_constant(9, 5));
    let thousand = k.constant(1000);
    let pushed = k.push_constant(2, 1);
    let product = k.b.i_mul(k.uint, None, a, thousand).unwrap();
    let sum = k.b.i_add(k.uint, None, product, b).unwrap();
    let sum = k.b.i_add(k.uint, None, sum, pushed).unwrap();
    k.store(output, k.index, sum);
    k.finish()
}

/// `out[i] = xorshift^push[0](i + 1)`, output at binding 0.
pub fn scramble() -> Module {
    let mut k = Kernel::new();
    let output = k.buffer(0, 0);
    let rounds = k.push_constant(1, 0);
    let one = k.constant(1);
    let start = k.b.i_add(k.uint, None, k.index, one).unwrap();
    let value = k.scramble(start, rounds);
    k.store(output, k.index, value);
    k.finish()
}

/// `out[0] = 7` in the first invocation alone, output at binding 0.
pub fn first_only() -> Module {
    let mut k = Kernel::new();
    let output = k.buffer(0, 0);
    let boolean = k.b.type_bool();
    let (zero, seven) = (k.constant(0), k.constant(7));
    let first = k.b.i_equal(boolean, None, k.index, zero).unwrap();
    k.only_if(first, |k| k.store(output, k.index, seven));
    k.finish()
}

/// `out[i] = uniform word`, uniform buffer at binding 0, output at binding 1.
pub fn uniform() -> Module {
    let mut k = Kernel::new();
    let output = k.buffer(0, 1);
    let value = k.uniform_word(0, 0);
    k.store(output, k.index, value);
    k.finish()
}

/// [`copy`] with one more capability.
pub fn copy_with(capability: Capability) -> Module {
    let mut k = Kernel::new();
    k.b.capability(capability);
    let (input, output) = (k.buffer(0, 0), k.buffer(0, 1));
    let value = k.load(input, k.index);
    k.store(output, k.index, value);
    k.finish()
}
