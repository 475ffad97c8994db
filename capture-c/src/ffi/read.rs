//! What pointers of the host lead to.

use std::{
    ffi::{CStr, c_char, c_void},
    path::PathBuf,
};

use capture_format::{Oracle, OracleSource, TraceMeta};

use super::types::{
    TEXELTRACE_SOURCE_MEASURED, TEXELTRACE_SOURCE_PUBLISHED, TEXELTRACE_SOURCE_SYNTHETIC, TexelTraceOptions,
};
use crate::{
    recorder::Options,
    status::{Failure, Status},
};

/// A copy of a structure.
///
/// # Safety
/// The pointer is null or points to a valid `T`.
pub(super) unsafe fn copied<T: Copy>(pointer: *const T, name: &str) -> Result<T, Failure> {
    if pointer.is_null() {
        return Err(Failure::argument(format!("{name} is null")));
    }
    if !pointer.is_aligned() {
        return Err(Failure::argument(format!("{name} is not aligned")));
    }
    // SAFETY: not null and aligned, and as the caller promises.
    Ok(unsafe { *pointer })
}

/// A list.
///
/// # Safety
/// The pointer points to that many valid `T` that stay as they are for `'a`, or the count is 0, or the pointer is null.
pub(super) unsafe fn records<'a, T>(pointer: *const T, count: usize, name: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(Failure::argument(format!("{name} is null, but has a length of {count}")));
    }
    if !pointer.is_aligned() {
        return Err(Failure::argument(format!("{name} is not aligned")));
    }
    if count.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes > isize::MAX.unsigned_abs()) {
        return Err(Failure::argument(format!("{name} has a length of {count}, which no memory has")));
    }
    // SAFETY: not null and aligned, the length fits, and as the caller promises.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Bytes; `None` for a null pointer without a length.
///
/// # Safety
/// As [`records`].
pub(super) unsafe fn bytes<'a>(pointer: *const c_void, count: usize, name: &str) -> Result<Option<&'a [u8]>, Failure> {
    if pointer.is_null() && count == 0 {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    unsafe { records(pointer.cast::<u8>(), count, name) }.map(Some)
}

/// A copy of words that need not be aligned.
///
/// # Safety
/// As [`records`].
pub(super) unsafe fn words(pointer: *const c_void, count: usize, name: &str) -> Result<Vec<u32>, Failure> {
    // SAFETY: as the caller promises.
    let bytes = unsafe { bytes(pointer, count, name)? }.unwrap_or_default();
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(Failure::argument(format!("{name} has {count} bytes, expected a multiple of 4")));
    }
    let mut copy = Vec::new();
    if copy.try_reserve_exact(words.len()).is_err() {
        return Err(Failure::new(Status::OutOfMemory, format!("no memory for a copy of {name}, {count} bytes")));
    }
    copy.extend(words.iter().map(|word| u32::from_le_bytes(*word)));
    Ok(copy)
}

/// A copy of a text; `None` for a null pointer.
///
/// # Safety
/// The pointer is null or points to a text that ends in a zero.
pub(super) unsafe fn string(pointer: *const c_char, name: &str) -> Result<Option<String>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(pointer) };
    let text = text.to_str().map_err(|error| Failure::argument(format!("{name} is no UTF-8: {error}")))?;
    Ok(Some(text.to_owned()))
}

/// A copy of a list of texts.
///
/// # Safety
/// As [`records`], each of the pointers as [`string`]; null among them is an error.
pub(super) unsafe fn strings(pointer: *const *const c_char, count: usize, name: &str) -> Result<Vec<String>, Failure> {
    // SAFETY: as the caller promises.
    let list = unsafe { records(pointer, count, name)? };
    let read = |&text: &*const c_char| {
        // SAFETY: as the caller promises.
        let text = unsafe { string(text, name)? };
        text.ok_or_else(|| Failure::argument(format!("{name} holds a null pointer")))
    };
    list.iter().map(read).collect()
}

/// The options of a recording.
///
/// # Safety
/// The pointers in it are as [`TexelTraceOptions`] says.
pub(super) unsafe fn options(given: &TexelTraceOptions) -> Result<Options, Failure> {
    let required = |text: Option<String>, name: &str| {
        text.filter(|text| !text.is_empty()).ok_or_else(|| Failure::argument(format!("options.{name} is missing")))
    };
    // SAFETY: as the caller promises.
    let (path, name, summary, device, profile, note, hashes) = unsafe {
        (
            string(given.path, "options.path")?,
            string(given.name, "options.name")?,
            string(given.summary, "options.summary")?,
            string(given.device, "options.device")?,
            string(given.profile, "options.profile")?,
            string(given.note, "options.note")?,
            records(given.shader_hashes, given.shader_hash_count, "options.shader_hashes")?,
        )
    };
    let source = match given.source {
        TEXELTRACE_SOURCE_MEASURED => OracleSource::Measured,
        TEXELTRACE_SOURCE_PUBLISHED => OracleSource::Published,
        TEXELTRACE_SOURCE_SYNTHETIC => OracleSource::Synthetic,
        other => {
            let text = format!("options.source is {other}, expected one of TEXELTRACE_SOURCE_*");
            return Err(Failure::argument(text));
        }
    };
    let or = |value: usize, default: usize| if value == 0 { default } else { value };
    let limit = |value: u64| (value != 0).then_some(value);
    Ok(Options {
        path: PathBuf::from(required(path, "path")?),
        meta: TraceMeta {
            name: required(name, "name")?,
            summary: summary.unwrap_or_default(),
            oracle: Oracle {
                device: device.unwrap_or_default(),
                profile: required(profile, "profile")?,
                source,
                note: note.unwrap_or_default(),
            },
        },
        queue_bytes: or(given.queue_bytes, Options::QUEUE_BYTES),
        copy_bytes: or(given.copy_bytes, Options::COPY_BYTES),
        max_file_bytes: limit(given.max_file_bytes),
        max_dispatches: limit(given.max_dispatches),
        shader_hashes: hashes.to_vec(),
        wait_for_begin: given.wait_for_begin != 0,
    })
}
