//! What a program reads and writes: buffers and images as the job binds them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU32, Ordering};

use super::Limits;
use super::StorageImage;
use super::ir::{Atomic, BufferDecl, Count, Descriptor, ImageDecl, Inst, LANES, Lanes, Op, POISON, Program};
use crate::execute::{Binding, ExecuteError, ImageDim, Job, Resource};

/// Words that are read only, or shared by all threads.
#[derive(Clone, Copy)]
pub(super) enum Words<'a> {
    Fixed(&'a [u32]),
    Shared(&'a [AtomicU32]),
}

impl Words<'_> {
    pub fn len(&self) -> usize {
        match self {
            Self::Fixed(w) => w.len(),
            Self::Shared(w) => w.len(),
        }
    }

    #[inline(always)]
    pub fn get(&self, n: usize) -> Option<u32> {
        match self {
            Self::Fixed(w) => w.get(n).copied(),
            Self::Shared(w) => w.get(n).map(|w| w.load(Ordering::Relaxed)),
        }
    }

    /// Replaces the bits of the mask in a word; false when it is not there.
    #[inline(always)]
    pub fn set(&self, n: usize, value: u32, mask: u32) -> bool {
        let Self::Shared(words) = self else { return false };
        let Some(word) = words.get(n) else { return false };
        if mask == u32::MAX {
            word.store(value, Ordering::Relaxed);
        } else {
            // Two operations, each of which leaves the other bits to other invocations.
            word.fetch_and(!mask | value, Ordering::Relaxed);
            word.fetch_or(value & mask, Ordering::Relaxed);
        }
        true
    }

    /// The value before an atomic operation.
    pub fn atomic(&self, n: usize, kind: Atomic, value: u32, comparator: u32) -> Option<u32> {
        if kind == Atomic::Load {
            return match self {
                Self::Fixed(w) => w.get(n).copied(),
                Self::Shared(w) => w.get(n).map(|w| w.load(Ordering::Acquire)),
            };
        }
        let Self::Shared(words) = self else { return None };
        let word = words.get(n)?;
        let update = |old| Some(kind.apply(old, value, comparator));
        word.fetch_update(Ordering::AcqRel, Ordering::Acquire, update).ok()
    }
}

/// A level of an image.
struct Level {
    /// First texel.
    first: u32,
    width: u32,
    height: u32,
    /// Slices or layers.
    depth: u32,
}

/// An image as it is bound.
pub(super) struct View<'a> {
    levels: Vec<Level>,
    extent: [u32; 3],
    layers: u32,
    pub texel_words: usize,
    pub words: Words<'a>,
}

impl View<'_> {
    /// Index of a texel, [`POISON`] when it is not there.
    #[inline(always)]
    pub fn address(&self, x: u32, y: u32, z: u32, level: u32) -> u32 {
        let Some(l) = self.levels.get(level as usize) else { return POISON };
        if x >= l.width || y >= l.height || z >= l.depth {
            return POISON;
        }
        // All texels of the image fit 32 bits.
        l.first + (z * l.height + y) * l.width + x
    }

    /// The same for all lanes at one level.
    pub fn addresses(&self, x: &Lanes, y: &Lanes, z: &Lanes, level: u32, t: &mut Lanes) {
        let Some(l) = self.levels.get(level as usize) else { return *t = [POISON; LANES] };
        for n in 0..LANES {
            let inside = (x[n] < l.width) & (y[n] < l.height) & (z[n] < l.depth);
            // Out of bounds the products may wrap; they are not used then.
            let row = z[n].wrapping_mul(l.height).wrapping_add(y[n]);
            let at = row.wrapping_mul(l.width).wrapping_add(x[n]).wrapping_add(l.first);
            t[n] = if inside { at } else { POISON };
        }
    }

    /// Field `k` of a query at a level.
    pub fn query(&self, k: u8, level: u32) -> Option<u32> {
        if k == 4 {
            return Some(self.levels.len() as u32);
        }
        let l = self.levels.get(level as usize)?;
        Some(match k {
            0 => l.width,
            1 => l.height,
            2 => (self.extent[2] >> level).max(1),
            3 => self.layers,
            _ => self.layers / 6,
        })
    }
}

/// The elements of an array of descriptors.
#[derive(Default)]
struct Elements {
    count: u32,
    /// Place in the resources of each element that is bound.
    places: HashMap<u32, u32>,
}

/// All that a program accesses: what its declarations stand for, then the elements of those that are arrays.
pub(super) struct Resources<'a> {
    pub buffers: Vec<Words<'a>>,
    pub images: Vec<View<'a>>,
    /// By declaration; empty for what is no array.
    buffer_arrays: Vec<Elements>,
    image_arrays: Vec<Elements>,
}

/// Storage for the outputs of a job: a buffer for each binding, empty for those that are no output.
pub(super) fn outputs(job: &Job<'_>, limits: &Limits) -> Result<Vec<Vec<AtomicU32>>, ExecuteError> {
    let mut total = 0usize;
    let mut list = vec![];
    for b in job.bindings {
        let (words, contents) = match b.resource {
            Resource::Output(words) => (words, None),
            Resource::InOut(contents) => (contents.len(), Some(contents)),
            Resource::Input(_) | Resource::Image(_) | Resource::Storage(_) => {
                list.push(vec![]);
                continue;
            }
        };
        total = total.saturating_add(words);
        if total > limits.memory_bytes / 4 {
            return Err(ExecuteError::OutOfMemory(format!(
                "outputs of {total} words, at most {} bytes are accepted",
                limits.memory_bytes
            )));
        }
        let mut buffer = Vec::new();
        buffer
            .try_reserve_exact(words)
            .map_err(|_| ExecuteError::OutOfMemory(format!("an output of {words} words does not fit")))?;
        match contents {
            Some(contents) => buffer.extend(contents.iter().map(|&word| AtomicU32::new(word))),
            None => buffer.extend((0..words).map(|_| AtomicU32::new(0))),
        }
        list.push(buffer);
    }
    Ok(list)
}

/// A storage image with its element, and its texels.
pub(super) type Stored<'a, T> = (&'a StorageImage, u32, T);

/// The storage images that a job binds, with their elements and texels.
pub(super) fn storage_images<'a>(job: &Job<'a>) -> Vec<(StorageImage, u32, &'a [u32])> {
    let images = job.bindings.iter().filter_map(|bound| match bound.resource {
        Resource::Storage(image) => Some((bound, image)),
        _ => None,
    });
    images
        .map(|(bound, image)| {
            let place = StorageImage {
                set: bound.set,
                binding: bound.binding,
                dim: image.dim,
                extent: image.extent,
                layers: image.layers,
                texels: Vec::new(),
            };
            (place, bound.element, image.texels)
        })
        .collect()
}

/// What the job binds to a descriptor, with the numbers of the bindings: all that the program can reach.
fn bound_to<'j, 'a>(job: &'j Job<'a>, d: &Descriptor) -> impl Iterator<Item = (usize, &'j Binding<'a>)> {
    let (set, binding, count) = (d.set, d.binding, d.count);
    job.bindings.iter().enumerate().filter(move |(_, b)| {
        let within = match count {
            Count::One => b.element == 0,
            Count::Fixed(n) => b.element < n,
            Count::Runtime => true,
        };
        (b.set, b.binding) == (set, binding) && within
    })
}

/// The descriptor of an element, for errors.
fn element_of(d: &Descriptor, element: u32) -> Descriptor {
    Descriptor { name: format!("{}[{element}]", d.name), count: Count::One, ..d.clone() }
}

impl Elements {
    fn new(count: Count, places: HashMap<u32, u32>) -> Self {
        let count = match count {
            Count::One => 0,
            Count::Fixed(n) => n,
            Count::Runtime => places.keys().max().map_or(0, |last| last.saturating_add(1)),
        };
        Self { count, places }
    }
}

impl<'a> Resources<'a> {
    /// Finds what the program names among what the job binds.
    pub fn new(
        program: &Program,
        job: &Job<'a>,
        outputs: &'a [Vec<AtomicU32>],
        storage: &'a [Stored<'a, Vec<AtomicU32>>],
    ) -> Result<Self, ExecuteError> {
        let (buffers, buffer_arrays) = Self::buffers(program, job, outputs)?;
        let (images, image_arrays) = Self::images(program, job, storage)?;
        Ok(Self { buffers, images, buffer_arrays, image_arrays })
    }

    fn buffers(
        program: &Program,
        job: &Job<'a>,
        outputs: &'a [Vec<AtomicU32>],
    ) -> Result<(Vec<Words<'a>>, Vec<Elements>), ExecuteError> {
        let words = |d: &Descriptor, n: usize, bound: &Binding<'a>| match bound.resource {
            Resource::Input(_) if d.written => Err(invalid(d, "is bound as an input, but the module writes it")),
            Resource::Input(words) => Ok(Words::Fixed(words)),
            Resource::Output(_) | Resource::InOut(_) => Ok(Words::Shared(&outputs[n])),
            Resource::Image(_) | Resource::Storage(_) => {
                Err(invalid(d, "is an image, but the module has a buffer there"))
            }
        };
        let mut list = vec![];
        for (number, decl) in program.buffers.iter().enumerate() {
            list.push(match decl {
                BufferDecl::Push => Words::Fixed(job.push_constants),
                // As in Vulkan, what is not used need not be bound.
                BufferDecl::Bound(d) => match bound_to(job, d).next() {
                    None if uses_buffer(program, number) => return Err(invalid(d, "is not bound")),
                    Some((n, bound)) if d.count == Count::One => words(d, n, bound)?,
                    _ => Words::Fixed(&[]),
                },
            });
        }
        let mut arrays = vec![];
        for decl in &program.buffers {
            let mut places = HashMap::new();
            let count = match decl {
                BufferDecl::Push => Count::One,
                BufferDecl::Bound(d) => d.count,
            };
            if let (BufferDecl::Bound(d), true) = (decl, count != Count::One) {
                for (n, bound) in bound_to(job, d) {
                    places.insert(bound.element, list.len() as u32);
                    list.push(words(&element_of(d, bound.element), n, bound)?);
                }
            }
            arrays.push(Elements::new(count, places));
        }
        Ok((list, arrays))
    }

    fn images(
        program: &Program,
        job: &Job<'a>,
        storage: &'a [Stored<'a, Vec<AtomicU32>>],
    ) -> Result<(Vec<View<'a>>, Vec<Elements>), ExecuteError> {
        let stored_view = |d: &Descriptor, decl: ImageDecl, (image, _, texels): &'a Stored<'a, Vec<AtomicU32>>| {
            view(d, decl, image.dim, image.extent, image.layers, 1, Words::Shared(texels))
        };
        let sampled_view = |d: &Descriptor, decl: ImageDecl, bound: &Binding<'a>| match bound.resource {
            Resource::Image(_) if d.written => Err(invalid(d, "is a read-only image, but the module writes it")),
            Resource::Image(_) if decl.words != 1 => {
                Err(invalid(d, "is an R32_UINT image, but the module declares another format"))
            }
            Resource::Image(image) => {
                let words = Words::Fixed(image.texels);
                view(d, decl, image.dim, image.extent, image.layers, image.levels, words)
            }
            Resource::Storage(_) => Err(invalid(d, "is a storage image, but the module fetches from it")),
            _ => Err(invalid(d, "is a buffer, but the module has an image there")),
        };
        let stored = |d: &Descriptor, decl: &ImageDecl| {
            let (set, binding, wanted) = (d.set, d.binding, decl.storage);
            let at = move |(image, ..): &&Stored<'a, Vec<AtomicU32>>| (image.set, image.binding) == (set, binding);
            storage.iter().filter(move |_| wanted).filter(at)
        };
        let empty = || View { levels: vec![], extent: [0; 3], layers: 0, texel_words: 1, words: Words::Fixed(&[]) };
        let mut list = vec![];
        for (number, (d, decl)) in program.images.iter().enumerate() {
            let one = d.count == Count::One;
            let first = stored(d, decl).find(|(_, element, _)| !one || *element == 0);
            list.push(match (first, bound_to(job, d).next()) {
                (Some(found), _) if one => stored_view(d, *decl, found)?,
                (None, Some((_, bound))) if one => sampled_view(d, *decl, bound)?,
                (None, None) if uses_image(program, number) => return Err(invalid(d, "is not bound")),
                _ => empty(),
            });
        }
        let mut arrays = vec![];
        for (d, decl) in &program.images {
            let mut places = HashMap::new();
            if d.count != Count::One {
                for found in stored(d, decl) {
                    places.insert(found.1, list.len() as u32);
                    list.push(stored_view(&element_of(d, found.1), *decl, found)?);
                }
                for (_, bound) in bound_to(job, d) {
                    if let Entry::Vacant(place) = places.entry(bound.element) {
                        place.insert(list.len() as u32);
                        list.push(sampled_view(&element_of(d, bound.element), *decl, bound)?);
                    }
                }
            }
            arrays.push(Elements::new(d.count, places));
        }
        Ok((list, arrays))
    }

    /// Place of the resource that an instruction accesses in an array of descriptors.
    pub fn element(&self, program: &Program, i: &Inst, element: u32) -> Result<u32, ExecuteError> {
        let number = i.imm as usize;
        let buffer = matches!(i.op, Op::LoadBuffer | Op::StoreBuffer | Op::AtomicBuffer | Op::ArrayLength);
        let (elements, descriptor) = match program.buffers.get(number) {
            Some(BufferDecl::Bound(d)) if buffer => (&self.buffer_arrays[number], d),
            _ => (&self.image_arrays[number], &program.images[number].0),
        };
        if let Some(&place) = elements.places.get(&element).filter(|_| element < elements.count) {
            return Ok(place);
        }
        let inst = program.source.insts[i.src as usize];
        let what = if element < elements.count { "which is not bound" } else { "which is out of range" };
        Err(invalid(
            descriptor,
            &format!(
                "is an array of {}: {} at word {} accesses element {element}, {what}",
                elements.count,
                program.source.inst_name(&inst),
                inst.at
            ),
        ))
    }
}

fn uses_buffer(program: &Program, n: usize) -> bool {
    let mut insts = program.blocks.iter().flat_map(|b| &b.insts);
    insts.any(|i| {
        matches!(i.op, Op::LoadBuffer | Op::StoreBuffer | Op::AtomicBuffer | Op::ArrayLength) && i.imm as usize == n
    })
}

fn uses_image(program: &Program, n: usize) -> bool {
    let mut insts = program.blocks.iter().flat_map(|b| &b.insts);
    insts.any(|i| {
        matches!(i.op, Op::TexelAddress | Op::LoadTexel | Op::StoreTexel | Op::AtomicTexel | Op::ImageQuery)
            && i.imm as usize == n
    })
}

fn invalid(d: &Descriptor, text: &str) -> ExecuteError {
    ExecuteError::InvalidJob(format!("set {}, binding {} ({}) {text}", d.set, d.binding, d.name))
}

fn view<'a>(
    d: &Descriptor,
    decl: ImageDecl,
    dim: ImageDim,
    extent: [u32; 3],
    layers: u32,
    levels: u32,
    words: Words<'a>,
) -> Result<View<'a>, ExecuteError> {
    let fits = match dim {
        ImageDim::D1 => (decl.dim, decl.arrayed, decl.cube) == (1, false, false),
        ImageDim::D1Array => (decl.dim, decl.arrayed, decl.cube) == (1, true, false),
        ImageDim::D2 => (decl.dim, decl.arrayed, decl.cube) == (2, false, false),
        ImageDim::D2Array => decl.dim == 2 && (decl.arrayed || decl.cube),
        ImageDim::D3 => (decl.dim, decl.arrayed) == (3, false),
    };
    if !fits {
        return Err(invalid(d, &format!("is a {dim:?} image, but the module declares another dimension")));
    }
    if extent.contains(&0) || layers == 0 || levels == 0 || levels > 32 {
        return Err(invalid(d, &format!("has extent {extent:?}, {layers} layers and {levels} levels")));
    }
    let one = |n: usize| extent[n] == 1;
    let flat = match dim {
        ImageDim::D1 => one(1) && one(2) && layers == 1,
        ImageDim::D1Array => one(1) && one(2),
        ImageDim::D2 => one(2) && layers == 1,
        ImageDim::D2Array => one(2),
        ImageDim::D3 => layers == 1,
    };
    if !flat {
        return Err(invalid(d, &format!("is {dim:?}, but has extent {extent:?} and {layers} layers")));
    }
    let mut list = vec![];
    let mut first = 0u64;
    for level in 0..levels {
        let [width, height, depth] = extent.map(|e| (e >> level).max(1));
        let depth = if dim == ImageDim::D3 { depth } else { layers };
        let count = u128::from(width) * u128::from(height) * u128::from(depth);
        let next = u128::from(first) + count;
        let start = u32::try_from(first).unwrap_or(POISON);
        list.push(Level { first: start, width, height, depth });
        first = u64::try_from(next).unwrap_or(u64::MAX).min(u64::MAX / 2);
    }
    let texel_words = usize::from(decl.words);
    let expected = first.saturating_mul(texel_words as u64);
    if expected != words.len() as u64 || first >= u64::from(POISON) {
        return Err(invalid(d, &format!("has {} words, its levels need {expected}", words.len())));
    }
    Ok(View { levels: list, extent, layers, texel_words, words })
}
