//! The pipeline cache on disk.
//!
//! One file a device and driver build: a header of this program, then what the driver gave. Whatever is wrong with the file
//! costs only its use: it is noted and written anew. Files are written beside and renamed, so that a reader sees an old or a
//! new one, never a part.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use ash::vk;

use super::{device::Device, error::Named, physical::DeviceInfo};
use crate::execute::ExecuteError;

/// Raised when the header or what is kept changes.
const FORMAT_VERSION: u32 = 1;
const MAGIC: [u8; 4] = *b"TXPC";
/// Magic, version, driver version, pipeline cache UUID, length, hash.
const HEADER: usize = 4 + 4 + 4 + 16 + 8 + 8;
/// A file above it is not read, and nothing above it is written.
const LARGEST: u64 = 256 << 20;

/// What became of the cache on disk when the device was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheState {
    /// None was asked for.
    Off,
    /// There was no file yet.
    New,
    /// A file with that many bytes of the driver's data was taken.
    Loaded(usize),
    /// There was something that could not be used, for this reason.
    Ignored(String),
}

/// A pipeline cache that came from a file and goes back to it.
pub(super) struct DiskCache {
    device: Arc<Device>,
    pub(super) raw: vk::PipelineCache,
    path: PathBuf,
    pub(super) state: CacheState,
    /// Pipelines that were made with it since it was read or written.
    made: usize,
}

impl Drop for DiskCache {
    fn drop(&mut self) {
        // SAFETY: made from this device, destroyed once; no pipeline is being made as `self` is exclusive.
        unsafe { self.device.raw.destroy_pipeline_cache(self.raw, None) };
    }
}

impl DiskCache {
    /// Reads the file for this device in `dir`.
    pub(super) fn open(device: &Arc<Device>, dir: &Path) -> Result<Self, ExecuteError> {
        let info = &device.physical.info;
        let path = dir.join(file_name(info));
        let (data, state) = match read(&path, info) {
            Ok(Some(data)) => {
                let state = CacheState::Loaded(data.len());
                (data, state)
            }
            Ok(None) => (Vec::new(), CacheState::New),
            Err(reason) => (Vec::new(), CacheState::Ignored(format!("pipeline cache {}: {reason}", path.display()))),
        };
        let create = |data: &[u8]| {
            let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
            // SAFETY: the data is what this driver build gave, by its header and hash, or empty.
            unsafe { device.raw.create_pipeline_cache(&info, None) }
        };
        let (raw, state) = match create(&data) {
            Ok(raw) => (raw, state),
            Err(result) if !data.is_empty() => {
                let state =
                    CacheState::Ignored(format!("pipeline cache {}: the driver says {result:?}", path.display()));
                (create(&[]).named("vkCreatePipelineCache")?, state)
            }
            Err(result) => return Err(super::error::from_result("vkCreatePipelineCache", result)),
        };
        Ok(Self { device: device.clone(), raw, path, state, made: 0 })
    }

    /// Notes that a pipeline was made with it.
    pub(super) fn note_made(&mut self) {
        self.made = self.made.saturating_add(1);
    }

    /// Writes it if there is anything new; the reason if that failed.
    pub(super) fn flush(&mut self) -> Option<String> {
        if self.made == 0 {
            return None;
        }
        // Not again before something new comes, even if it fails.
        self.made = 0;
        // SAFETY: the cache was made from this device.
        let data = match unsafe { self.device.raw.get_pipeline_cache_data(self.raw) } {
            Ok(data) => data,
            Err(result) => return Some(format!("pipeline cache not written: vkGetPipelineCacheData: {result:?}")),
        };
        write(&self.path, &self.device.physical.info, &data)
            .err()
            .map(|e| format!("pipeline cache {} not written: {e}", self.path.display()))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn file_name(info: &DeviceInfo) -> String {
    format!("pipelines-v{FORMAT_VERSION}-{:08x}-{:08x}-{}.bin", info.vendor_id, info.device_id, hex(&info.driver_uuid))
}

fn header(info: &DeviceInfo, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER);
    out.extend(MAGIC);
    out.extend(FORMAT_VERSION.to_le_bytes());
    out.extend(info.driver_version.to_le_bytes());
    out.extend(info.pipeline_cache_uuid);
    out.extend((data.len() as u64).to_le_bytes());
    out.extend(xxhash_rust::xxh3::xxh3_64(data).to_le_bytes());
    out
}

/// The driver's data of a file; `None` if there is no file, the reason if it is of no use.
fn read(path: &Path, info: &DeviceInfo) -> Result<Option<Vec<u8>>, String> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("larger than {LARGEST} bytes"));
    }
    let Some((head, data)) = bytes.split_at_checked(HEADER) else {
        return Err(format!("{} bytes, a header takes {HEADER}", bytes.len()));
    };
    if head != header(info, data) {
        return Err("damaged, or of another driver version".to_owned());
    }
    check_driver_header(info, data)?;
    bytes.drain(..HEADER);
    Ok(Some(bytes))
}

/// Checks `VkPipelineCacheHeaderVersionOne`, with which each driver's data starts.
fn check_driver_header(info: &DeviceInfo, data: &[u8]) -> Result<(), String> {
    let word = |i: usize| data.get(4 * i..4 * i + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    let fits = word(0).is_some_and(|length| length >= 32)
        && word(1) == Some(1)
        && word(2) == Some(info.vendor_id)
        && word(3) == Some(info.device_id)
        && data.get(16..32) == Some(&info.pipeline_cache_uuid);
    if fits { Ok(()) } else { Err("the driver's header is not this device's".to_owned()) }
}

fn write(path: &Path, info: &DeviceInfo, data: &[u8]) -> std::io::Result<()> {
    if data.len() as u64 > LARGEST - HEADER as u64 {
        return Err(std::io::Error::other(format!("larger than {LARGEST} bytes")));
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut file = tempfile::Builder::new().prefix(".pipelines-").suffix(".tmp").tempfile_in(dir)?;
    file.write_all(&header(info, data))?;
    file.write_all(data)?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}
