//! Traces of texture sampling on GFX10.3 hardware, as data: no GPU is needed to read or write one.
//!
//! A [`Trace`] holds [`Dispatch`]es. A dispatch is one recorded run of sampling invocations: an instruction ([`Op`]), a T#
//! and an S# as raw words, the texels, the coordinates, and what an oracle (real hardware) returned. The same content has
//! two forms: a binary container (`.texeltrace`) and a case (text, `case.toml`), written and reviewed by hand.

pub mod bits;
pub mod case;
pub mod codes;
pub mod compute;
mod compute_check;
pub mod container;
pub mod dispatch;
pub mod dispatch_check;
pub mod find;
pub mod host_format;
pub mod image_descriptor;
mod map;
pub mod op;
pub mod replace;
pub mod sampler_descriptor;
pub mod source;
pub mod texel;
pub mod words;

pub use bits::{Field, FieldRangeError, Shown};
pub use case::{CASE_FILE, Case, CaseError, CaseOptions, write_case, write_recording_case};
pub use codes::{
    AnisoRatio, BcSwizzle, BlockSize, BorderColorType, Clamp, CompareFunc, DstSel, FilterMode, ImageType, MipFilter,
    XyFilter, ZFilter, img_format_name, sw_mode_name,
};
pub use compute::{
    BoundBuffer, BoundImage, BoundResource, BoundSampler, BufferLayout, ComputeBinding, ComputeDispatch, DispatchKind,
    ElementType, GuestShader, Recorded, Recording, SpecializationValue,
};
pub use container::{
    ContainerError, TraceMeta, TraceReader, TraceWriter, WriteError, WriteOptions, read_trace, write_recording,
    write_trace,
};
pub use dispatch::{
    Column, Coords, Dispatch, Entries, Expected, MAX_TABLE_ENTRIES, Oracle, OracleSource, TableImage, Trace,
};
pub use dispatch_check::DispatchProblem;
pub use find::{FindError, find_traces};
pub use host_format::{HostFormat, HostView};
pub use image_descriptor::ImageDescriptor;
pub use op::{LodSource, Op, OpKind};
pub use replace::{Pending, Replacement, check_place};
pub use sampler_descriptor::SamplerDescriptor;
pub use source::{OpenError, Source, open};
pub use texel::{ChannelLayout, NumericKind, TexelFormat, TexelLayout};
pub use words::Words;
