//! The C interface, as `include/texeltrace.h` declares it.
//!
//! Every function returns a status, catches panics, and leaves a message for [`texeltrace_message`]. Handles are numbers: one
//! that is not valid any more is an error. What pointers must hold is said at each function and structure; the functions that
//! take them are safe to call only then.

#![allow(unsafe_code)]

mod read;
mod types;

use std::{
    cell::RefCell,
    ffi::{CString, c_char},
    panic::AssertUnwindSafe,
    sync::Arc,
};

use capture_format::{
    BoundBuffer, BoundImage, BoundResource, BoundSampler, BufferLayout, ComputeBinding, ElementType, GuestShader,
    HostFormat, HostView, SpecializationValue, TexelFormat,
};

use self::read::{bytes, copied, options, records, string, strings, words};
pub use self::types::*;
use crate::{
    handles::Handles,
    recorder::{Dispatch, DispatchInfo, Recorder, Shader},
    status::{Failure, Status},
};

static RECORDERS: Handles<Arc<Recorder>> = Handles::new("recorder");
static SHADERS: Handles<(Arc<Recorder>, Arc<Shader>)> = Handles::new("shader");
static DISPATCHES: Handles<Dispatch> = Handles::new("dispatch");

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Runs the body of a function: its outcome as a status, with the message kept for this thread.
fn call(body: impl FnOnce() -> Result<Status, Failure>) -> TexelTraceStatus {
    let outcome = std::panic::catch_unwind(AssertUnwindSafe(body));
    let (status, message) = match outcome {
        Ok(Ok(status)) => (status, String::new()),
        Ok(Err(failure)) => (failure.status, failure.message),
        Err(_) => (Status::Internal, "a mistake of this library: it panicked".to_owned()),
    };
    // A zero within would end the text early.
    let text = CString::new(message.replace('\0', " ")).unwrap_or_default();
    // Fails only when the thread is ending.
    let _ = MESSAGE.try_with(|kept| *kept.borrow_mut() = text);
    status as TexelTraceStatus
}

fn done(result: Result<(), Failure>) -> Result<Status, Failure> {
    result.map(|()| Status::Ok)
}

/// Calls on a dispatch that is left out do nothing.
fn on_dispatch(dispatch: TexelTraceDispatch, act: impl FnOnce(&Dispatch) -> Result<(), Failure>) -> TexelTraceStatus {
    call(|| {
        if dispatch == 0 {
            return Ok(Status::Skipped);
        }
        done(act(&*DISPATCHES.get(dispatch)?))
    })
}

/// What the last call on this thread had to say, as UTF-8: empty after a success. It is valid until the next call on this
/// thread.
#[unsafe(no_mangle)]
pub extern "C" fn texeltrace_message() -> *const c_char {
    MESSAGE.try_with(|kept| kept.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Version of this library, as `major * 10000 + minor * 100 + patch`.
#[unsafe(no_mangle)]
pub extern "C" fn texeltrace_version() -> u32 {
    let part = |text: &str| text.parse::<u32>().unwrap_or(0);
    part(env!("CARGO_PKG_VERSION_MAJOR")) * 10_000
        + part(env!("CARGO_PKG_VERSION_MINOR")) * 100
        + part(env!("CARGO_PKG_VERSION_PATCH"))
}

/// Starts a recording. A file that is at the path already is replaced.
///
/// # Safety
/// `options` points to a structure as described there, `recorder` to room for a handle; or they are null, which is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn texeltrace_open(
    options: *const TexelTraceOptions,
    recorder: *mut TexelTraceRecorder,
) -> TexelTraceStatus {
    call(|| {
        // SAFETY: as the caller promises.
        let (given, out) = unsafe { (copied(options, "options")?, out(recorder, "recorder")?) };
        *out = 0;
        // SAFETY: as the caller promises for the pointers in the structure.
        let options = unsafe { self::options(&given)? };
        *out = RECORDERS.add(Recorder::open(options)?);
        Ok(Status::Ok)
    })
}

/// Writes all that waits and the index, and closes the file. Dispatches that have not ended stay without an end. Handles of the
/// recording are not valid any more, whatever is returned.
#[unsafe(no_mangle)]
pub extern "C" fn texeltrace_close(recorder: TexelTraceRecorder) -> TexelTraceStatus {
    call(|| {
        let recorder = RECORDERS.remove(recorder)?;
        let outcome = recorder.close();
        SHADERS.retain(|(of, _)| !Arc::ptr_eq(of, &recorder));
        DISPATCHES.retain(|dispatch| !dispatch.is_of(&recorder));
        done(outcome)
    })
}

/// Waits until the system has all that was recorded so far: it is in the file even if the process dies.
#[unsafe(no_mangle)]
pub extern "C" fn texeltrace_flush(recorder: TexelTraceRecorder) -> TexelTraceStatus {
    call(|| done(RECORDERS.get(recorder)?.flush()))
}

/// Takes a shader: once for each pipeline. Its module is copied now, and stored once.
///
/// # Safety
/// `info` points to a structure as described there, `shader` to room for a handle; or they are null, which is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn texeltrace_add_shader(
    recorder: TexelTraceRecorder,
    info: *const TexelTraceShaderInfo,
    shader: *mut TexelTraceShader,
) -> TexelTraceStatus {
    call(|| {
        // SAFETY: as the caller promises.
        let (info, out) = unsafe { (copied(info, "info")?, out(shader, "shader")?) };
        *out = 0;
        let recorder = RECORDERS.get(recorder)?;
        // SAFETY: as the caller promises for the pointers in the structure.
        let (module, isa) =
            unsafe { (words(info.spirv, info.spirv_bytes, "spirv")?, words(info.isa, info.isa_bytes, "isa")?) };
        let hash = (info.has_guest_hash != 0).then_some(info.guest_hash);
        let taken = recorder.shader(module.into(), GuestShader { hash, isa: isa.into() })?;
        *out = SHADERS.add((Arc::clone(&recorder), Arc::new(taken)));
        Ok(Status::Ok)
    })
}

/// Whether dispatches of a shader are recorded now: `TEXELTRACE_OK`, or `TEXELTRACE_SKIPPED` when the filter or a limit leaves
/// them out. Asking is cheap; nobody has to.
#[unsafe(no_mangle)]
pub extern "C" fn texeltrace_wants(shader: TexelTraceShader) -> TexelTraceStatus {
    call(|| {
        let known = SHADERS.get(shader)?;
        let (recorder, shader) = &*known;
        Ok(if recorder.wants(shader) { Status::Ok } else { Status::Skipped })
    })
}

/// Starts to describe a dispatch. When the filter or a limit leaves it out, that is `TEXELTRACE_SKIPPED` and the handle is 0, with
/// which all other calls do nothing and return the same.
///
/// # Safety
/// `info` points to a structure as described there, `dispatch` to room for a handle; or they are null, which is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn texeltrace_add_dispatch(
    shader: TexelTraceShader,
    info: *const TexelTraceDispatchInfo,
    dispatch: *mut TexelTraceDispatch,
) -> TexelTraceStatus {
    call(|| {
        // SAFETY: as the caller promises.
        let (info, out) = unsafe { (copied(info, "info")?, out(dispatch, "dispatch")?) };
        *out = 0;
        let known = SHADERS.get(shader)?;
        let (recorder, shader) = &*known;
        if !recorder.wants(shader) {
            return Ok(Status::Skipped);
        }
        // SAFETY: as the caller promises for the pointers in the structure.
        let info = unsafe {
            let constants: &[TexelTraceConstant] = records(info.constants, info.constant_count, "constants")?;
            DispatchInfo {
                name: string(info.name, "name")?.unwrap_or_default(),
                entry: string(info.entry, "entry")?.unwrap_or_default(),
                specialization: constants.iter().map(constant).collect::<Result<_, _>>()?,
                push_constants: words(info.push_constants, info.push_constant_bytes, "push_constants")?.into(),
                groups: info.groups,
                labels: strings(info.labels, info.label_count, "labels")?,
            }
        };
        match recorder.dispatch(shader, info)? {
            Some(started) => {
                *out = DISPATCHES.add(started);
                Ok(Status::Ok)
            }
            None => Ok(Status::Skipped),
        }
    })
}

/// Adds an image with its contents before the dispatch.
///
/// # Safety
/// `image` points to a structure as described there, or is null, which is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn texeltrace_add_image(
    dispatch: TexelTraceDispatch,
    image: *const TexelTraceImage,
) -> TexelTraceStatus {
    on_dispatch(dispatch, |dispatch| {
        // SAFETY: as the caller promises.
        let (image, descriptor, sampler, contents) = unsafe {
            let image = copied(image, "image")?;
            let contents = bytes(image.texels, image.texel_bytes, "texels")?;
            (image, optional(image.descriptor)?, optional(image.sampler_descriptor)?, contents)
        };
        let known = match image.kind {
            TEXELTRACE_SAMPLED_IMAGE | TEXELTRACE_COMBINED_IMAGE | TEXELTRACE_STORAGE_IMAGE => image.kind,
            other => {
                return Err(Failure::argument(format!("image.kind is {other}, expected one of TEXELTRACE_*_IMAGE")));
            }
        };
        let resource = BoundResource::Image(BoundImage {
            storage: known == TEXELTRACE_STORAGE_IMAGE,
            descriptor,
            combined: known == TEXELTRACE_COMBINED_IMAGE,
            sampler,
            format: HostFormat(image.format),
            view: view(image.view)?,
            extent: image.extent,
            layers: image.layers,
            levels: image.levels,
            before: None,
            output: image.output != 0,
            after: None,
        });
        dispatch.bind(at(image.place, resource), contents)
    })
}

/// Adds a sampler.
///
/// # Safety
/// `descriptor` points to the four words of the guest's S#, or is null when there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn texeltrace_add_sampler(
    dispatch: TexelTraceDispatch,
    place: TexelTracePlace,
    descriptor: *const u32,
) -> TexelTraceStatus {
    on_dispatch(dispatch, |dispatch| {
        // SAFETY: as the caller promises.
        let descriptor = unsafe { optional(descriptor)? };
        dispatch.bind(at(place, BoundResource::Sampler(BoundSampler { descriptor })), None)
    })
}

/// Adds a buffer with its contents before the dispatch.
///
/// # Safety
/// `buffer` points to a structure as described there, or is null, which is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn texeltrace_add_buffer(
    dispatch: TexelTraceDispatch,
    buffer: *const TexelTraceBuffer,
) -> TexelTraceStatus {
    on_dispatch(dispatch, |dispatch| {
        // SAFETY: as the caller promises.
        let (buffer, descriptor, contents) = unsafe {
            let buffer = copied(buffer, "buffer")?;
            let contents = if buffer.data.is_null() { None } else { bytes(buffer.data, buffer.data_bytes, "data")? };
            (buffer, optional(buffer.descriptor)?, contents)
        };
        if !buffer.data_bytes.is_multiple_of(4) {
            let text = format!("buffer.data_bytes is {}, expected a multiple of 4", buffer.data_bytes);
            return Err(Failure::argument(text));
        }
        let channels = match buffer.channels {
            0 => 1,
            other => u8::try_from(other)
                .map_err(|_| Failure::argument(format!("buffer.channels is {other}, expected 1 to 4")))?,
        };
        let resource = BoundResource::Buffer(BoundBuffer {
            uniform: buffer.uniform != 0,
            descriptor,
            words: buffer.data_bytes as u64 / 4,
            before: None,
            output: buffer.output != 0,
            layout: BufferLayout {
                element: element(buffer.element)?,
                channels,
                grid: (buffer.grid != [0; 3]).then_some(buffer.grid),
            },
            after: None,
        });
        dispatch.bind(at(buffer.place, resource), contents)
    })
}

/// Records that the dispatch is about to run. Call it before it is submitted.
#[unsafe(no_mangle)]
pub extern "C" fn texeltrace_begin(dispatch: TexelTraceDispatch) -> TexelTraceStatus {
    on_dispatch(dispatch, Dispatch::begin)
}

/// Adds what an output holds after the dispatch: from the host's GPU, or from an oracle.
///
/// # Safety
/// `data` points to `data_bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn texeltrace_output(
    dispatch: TexelTraceDispatch,
    place: TexelTracePlace,
    data: *const core::ffi::c_void,
    data_bytes: usize,
) -> TexelTraceStatus {
    on_dispatch(dispatch, |dispatch| {
        // SAFETY: as the caller promises.
        let contents = unsafe { bytes(data, data_bytes, "data")? };
        dispatch.output((place.set, place.binding, place.element), contents.unwrap_or_default())
    })
}

/// Records that the dispatch has ended. Its handle is not valid any more, unless this is `TEXELTRACE_BAD_ORDER`.
#[unsafe(no_mangle)]
pub extern "C" fn texeltrace_end(dispatch: TexelTraceDispatch) -> TexelTraceStatus {
    finish(dispatch, Dispatch::end)
}

/// Gives a dispatch up. One that has begun stays in the recording without an end. Its handle is not valid any more.
#[unsafe(no_mangle)]
pub extern "C" fn texeltrace_discard(dispatch: TexelTraceDispatch) -> TexelTraceStatus {
    finish(dispatch, Dispatch::discard)
}

fn finish(dispatch: TexelTraceDispatch, act: fn(&Dispatch) -> Result<(), Failure>) -> TexelTraceStatus {
    on_dispatch(dispatch, |known| {
        let outcome = act(known);
        if !matches!(&outcome, Err(failure) if failure.status == Status::BadOrder) {
            // Another thread may have removed it meanwhile.
            let _ = DISPATCHES.remove(dispatch);
        }
        outcome
    })
}

/// Room for a handle.
///
/// # Safety
/// The pointer is null or points to memory that can be written.
unsafe fn out<'a>(pointer: *mut u64, name: &str) -> Result<&'a mut u64, Failure> {
    if !pointer.is_aligned() {
        return Err(Failure::argument(format!("{name} is not aligned")));
    }
    // SAFETY: as the caller promises, and it is aligned.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::argument(format!("{name} is null")))
}

/// A descriptor of `N` words, if there is one.
///
/// # Safety
/// The pointer is null or points to that many words.
unsafe fn optional<const N: usize>(pointer: *const u32) -> Result<Option<[u32; N]>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    unsafe { copied(pointer.cast::<[u32; N]>(), "descriptor") }.map(Some)
}

fn at(place: TexelTracePlace, resource: BoundResource) -> ComputeBinding {
    ComputeBinding { set: place.set, binding: place.binding, element: place.element, resource }
}

fn constant(given: &TexelTraceConstant) -> Result<SpecializationValue, Failure> {
    let bytes = u8::try_from(given.bytes).map_err(|_| {
        Failure::argument(format!("constant {}: {} bytes, expected 1, 2, 4 or 8", given.id, given.bytes))
    })?;
    Ok(SpecializationValue { id: given.id, value: given.value, bytes })
}

fn view(number: TexelTraceView) -> Result<HostView, Failure> {
    let known = usize::try_from(number).ok().and_then(|number| HostView::ALL.get(number)).copied();
    known.ok_or_else(|| Failure::argument(format!("image.view is {number}, expected one of TEXELTRACE_VIEW_*")))
}

fn element(number: TexelTraceElement) -> Result<ElementType, Failure> {
    match number {
        TEXELTRACE_ELEMENT_UINT => Ok(ElementType::Uint),
        TEXELTRACE_ELEMENT_SINT => Ok(ElementType::Sint),
        TEXELTRACE_ELEMENT_FLOAT => Ok(ElementType::Float),
        other => {
            let code = other.checked_sub(TEXELTRACE_ELEMENT_TEXEL).and_then(|code| u16::try_from(code).ok());
            code.and_then(TexelFormat::from_code).map(ElementType::Texel).ok_or_else(|| {
                Failure::argument(format!(
                    "buffer.element is {other}, expected TEXELTRACE_ELEMENT_UINT, _SINT, _FLOAT, or _TEXEL plus a FORMAT \
                     code of 20 or 30 to 43"
                ))
            })
        }
    }
}
