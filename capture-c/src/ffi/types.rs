//! Types of the C interface.

use core::ffi::{c_char, c_void};

use crate::status::Status;

/// What a call returns: one of the constants below. All but `TEXELTRACE_OK` and `TEXELTRACE_SKIPPED` are errors;
/// `texeltrace_message` says more.
pub type TexelTraceStatus = i32;
/// Done.
pub const TEXELTRACE_OK: TexelTraceStatus = 0;
/// The dispatch is not recorded: the filter or a limit leaves it out. Nothing else is to be done for it.
pub const TEXELTRACE_SKIPPED: TexelTraceStatus = 1;
/// An argument is not valid; nothing was changed.
pub const TEXELTRACE_INVALID_ARGUMENT: TexelTraceStatus = 2;
/// The handle names nothing that is there; nothing was changed.
pub const TEXELTRACE_INVALID_HANDLE: TexelTraceStatus = 3;
/// The call is not possible at this point; nothing was changed.
pub const TEXELTRACE_BAD_ORDER: TexelTraceStatus = 4;
/// The file would grow beyond the limit; nothing was changed.
pub const TEXELTRACE_LIMIT: TexelTraceStatus = 5;
/// The file can't be written any more. What was complete before stays readable.
pub const TEXELTRACE_IO: TexelTraceStatus = 6;
/// Memory ran out; nothing was changed.
pub const TEXELTRACE_OUT_OF_MEMORY: TexelTraceStatus = 7;
/// A mistake of this library.
pub const TEXELTRACE_INTERNAL: TexelTraceStatus = 8;

const _: () = {
    assert!(TEXELTRACE_OK == Status::Ok as i32 && TEXELTRACE_SKIPPED == Status::Skipped as i32);
    assert!(TEXELTRACE_INVALID_ARGUMENT == Status::InvalidArgument as i32);
    assert!(TEXELTRACE_INVALID_HANDLE == Status::InvalidHandle as i32);
    assert!(TEXELTRACE_BAD_ORDER == Status::BadOrder as i32 && TEXELTRACE_LIMIT == Status::Limit as i32);
    assert!(TEXELTRACE_IO == Status::Io as i32 && TEXELTRACE_OUT_OF_MEMORY == Status::OutOfMemory as i32);
    assert!(TEXELTRACE_INTERNAL == Status::Internal as i32);
};

/// A recording. Valid until it is closed; any thread may use it. 0 is none.
pub type TexelTraceRecorder = u64;
/// A shader of a recording. Valid as long as the recording.
pub type TexelTraceShader = u64;
/// A dispatch that is being recorded. Valid until it ends; any thread may use it. 0: one that is left out.
pub type TexelTraceDispatch = u64;

/// How the outputs are come by: one of the constants below.
pub type TexelTraceSource = u32;
/// Read back from a device.
pub const TEXELTRACE_SOURCE_MEASURED: TexelTraceSource = 0;
/// Published by somebody who measured them.
pub const TEXELTRACE_SOURCE_PUBLISHED: TexelTraceSource = 1;
/// Computed.
pub const TEXELTRACE_SOURCE_SYNTHETIC: TexelTraceSource = 2;

/// Kind of an image: one of the constants below.
pub type TexelTraceImageKind = u32;
/// Read without a sampler.
pub const TEXELTRACE_SAMPLED_IMAGE: TexelTraceImageKind = 0;
/// Read through the sampler with which it is combined.
pub const TEXELTRACE_COMBINED_IMAGE: TexelTraceImageKind = 1;
/// One level, read and written.
pub const TEXELTRACE_STORAGE_IMAGE: TexelTraceImageKind = 2;

/// Type of an image's view: one of the constants below.
pub type TexelTraceView = u32;
/// One dimension.
pub const TEXELTRACE_VIEW_1D: TexelTraceView = 0;
/// Layers of one dimension.
pub const TEXELTRACE_VIEW_1D_ARRAY: TexelTraceView = 1;
/// Two dimensions.
pub const TEXELTRACE_VIEW_2D: TexelTraceView = 2;
/// Layers of two dimensions.
pub const TEXELTRACE_VIEW_2D_ARRAY: TexelTraceView = 3;
/// Three dimensions.
pub const TEXELTRACE_VIEW_3D: TexelTraceView = 4;
/// Six square layers.
pub const TEXELTRACE_VIEW_CUBE: TexelTraceView = 5;
/// Six square layers a cube.
pub const TEXELTRACE_VIEW_CUBE_ARRAY: TexelTraceView = 6;

/// What a word of a buffer is: one of the constants below.
pub type TexelTraceElement = u32;
/// An unsigned integer.
pub const TEXELTRACE_ELEMENT_UINT: TexelTraceElement = 0;
/// A signed integer.
pub const TEXELTRACE_ELEMENT_SINT: TexelTraceElement = 1;
/// FP32.
pub const TEXELTRACE_ELEMENT_FLOAT: TexelTraceElement = 2;
/// Added to a FORMAT code of a T# (20, or 30 to 43): a texel of that format, such as `TEXELTRACE_ELEMENT_TEXEL + 43`.
pub const TEXELTRACE_ELEMENT_TEXEL: TexelTraceElement = 0x1_0000;

/// How a recording is made. A structure of zeros but for path, name and profile is valid.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TexelTraceOptions {
    /// The file, as UTF-8.
    pub path: *const c_char,
    /// Name of the trace.
    pub name: *const c_char,
    /// What it shows, in a line. May be null.
    pub summary: *const c_char,
    /// The device that the outputs are of. May be null.
    pub device: *const c_char,
    /// Profile whose rules the outputs follow: `gfx1035`, `h200`, `exact`.
    pub profile: *const c_char,
    /// Free text: driver, build of the host. May be null.
    pub note: *const c_char,
    /// How the outputs are come by.
    pub source: TexelTraceSource,
    /// Not 0: `texeltrace_begin` returns only when the system has the dispatch's record, so that it is in the file even if the
    /// process dies in the dispatch. Else it is there a moment later.
    pub wait_for_begin: u32,
    /// The most bytes that wait to be written; who adds more waits. 0: 64 MiB.
    pub queue_bytes: usize,
    /// Contents of up to this many bytes are copied into the queue; longer ones are written from where they are, before the call
    /// returns. 0: 1 MiB.
    pub copy_bytes: usize,
    /// The most bytes that the file may have; 0: no limit.
    pub max_file_bytes: u64,
    /// The most dispatches that are recorded; 0: no limit.
    pub max_dispatches: u64,
    /// Only dispatches of shaders with these hashes are recorded; all when there are none.
    pub shader_hashes: *const u64,
    /// Number of hashes.
    pub shader_hash_count: usize,
}

/// A shader, as the host runs it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TexelTraceShaderInfo {
    /// The SPIR-V module.
    pub spirv: *const c_void,
    /// Its length in bytes, a multiple of 4.
    pub spirv_bytes: usize,
    /// The guest's machine code from which it was made. May be null.
    pub isa: *const c_void,
    /// Its length in bytes, a multiple of 4.
    pub isa_bytes: usize,
    /// The host's hash of the guest's shader.
    pub guest_hash: u64,
    /// Not 0 when there is a hash.
    pub has_guest_hash: u32,
}

/// A specialization constant.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TexelTraceConstant {
    /// Its id.
    pub id: u32,
    /// Its size in bytes: 1, 2, 4 or 8. Booleans have 4.
    pub bytes: u32,
    /// Its value, zero-extended.
    pub value: u64,
}

/// A dispatch, but for its bindings.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TexelTraceDispatchInfo {
    /// Its name; dispatches of one name are told apart by a number behind it. May be null: the shader's hash.
    pub name: *const c_char,
    /// Name of the entry point. May be null: main.
    pub entry: *const c_char,
    /// Workgroups in x, y, z.
    pub groups: [u32; 3],
    /// Specialization constants.
    pub constants: *const TexelTraceConstant,
    /// Number of constants.
    pub constant_count: usize,
    /// Push constants from offset 0 on.
    pub push_constants: *const c_void,
    /// Their length in bytes, a multiple of 4.
    pub push_constant_bytes: usize,
    /// Labels of the host around the dispatch, outermost first.
    pub labels: *const *const c_char,
    /// Number of labels.
    pub label_count: usize,
}

/// Where a resource is bound.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TexelTracePlace {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Element, for arrays of descriptors.
    pub element: u32,
}

/// An image that is bound.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TexelTraceImage {
    /// Where.
    pub place: TexelTracePlace,
    /// How.
    pub kind: TexelTraceImageKind,
    /// Format of the host's image, a `VkFormat`.
    pub format: u32,
    /// Type of the host's view.
    pub view: TexelTraceView,
    /// Texels of level 0 in x, y, z; 1 in the dimensions that are not there.
    pub extent: [u32; 3],
    /// Number of layers: 1 when it is no array, 6 a cube.
    pub layers: u32,
    /// Number of levels; 1 for a storage image.
    pub levels: u32,
    /// Not 0: its contents after the dispatch are an output. Only for storage images.
    pub output: u32,
    /// The guest's T#, 8 words. May be null.
    pub descriptor: *const u32,
    /// The guest's S# with which the guest samples it, 4 words, whether the host has a sampler for that or filters in the
    /// shader. May be null.
    pub sampler_descriptor: *const u32,
    /// All subresources before the dispatch: level by level, in a level layer by layer (or slice by slice), row by row, without
    /// padding. Null: zeros.
    pub texels: *const c_void,
    /// Their length in bytes.
    pub texel_bytes: usize,
}

/// A buffer that is bound.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TexelTraceBuffer {
    /// Where.
    pub place: TexelTracePlace,
    /// Not 0: a uniform buffer. Else a storage buffer.
    pub uniform: u32,
    /// Not 0: its contents after the dispatch are an output. Only for storage buffers.
    pub output: u32,
    /// What a word of an output is.
    pub element: TexelTraceElement,
    /// Words of an output that are one sample, 1 to 4. 0: 1.
    pub channels: u32,
    /// Samples of an output in x, y, z, to show it as an image. Zeros: one row.
    pub grid: [u32; 3],
    /// The guest's V#, 4 words. May be null.
    pub descriptor: *const u32,
    /// Contents before the dispatch. Null: zeros.
    pub data: *const c_void,
    /// Size of the buffer in bytes, a multiple of 4.
    pub data_bytes: usize,
}
