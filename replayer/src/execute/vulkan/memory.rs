//! Buffers with their memory: pools that only grow and are used again by each run.

use std::{ptr::NonNull, sync::Arc};

use ash::vk;

use super::{device::Device, error::Named};
use crate::execute::ExecuteError;

/// Properties of memory, the wished-for first: the first memory type that has them all is taken.
pub(super) type Wishes<'a> = &'a [vk::MemoryPropertyFlags];

/// The host reads and writes it where the device uses it.
pub(super) const DIRECT: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::DEVICE_LOCAL.as_raw()
        | vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw()
        | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw()
        | vk::MemoryPropertyFlags::HOST_CACHED.as_raw(),
);
/// The host writes it. Coherent, so that nothing has to be flushed.
pub(super) const UPLOAD: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw() | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw(),
);
/// The host reads it, and fast.
pub(super) const READBACK: vk::MemoryPropertyFlags =
    vk::MemoryPropertyFlags::from_raw(UPLOAD.as_raw() | vk::MemoryPropertyFlags::HOST_CACHED.as_raw());

/// Finds a type among those that `bits` allow.
pub(super) fn memory_type(memory: &vk::PhysicalDeviceMemoryProperties, bits: u32, wishes: Wishes<'_>) -> Option<u32> {
    let types = &memory.memory_types_as_slice();
    wishes.iter().find_map(|wish| {
        (0u32..)
            .zip(types.iter())
            .find(|(i, t)| bits & (1 << i) != 0 && t.property_flags.contains(*wish))
            .map(|(i, _)| i)
    })
}

/// Memory of the device, freed when dropped.
pub(super) struct Memory {
    device: Arc<Device>,
    pub(super) raw: vk::DeviceMemory,
}

impl Memory {
    /// Allocates for what `needs` tells; `what` is its name in errors.
    pub(super) fn allocate(
        device: &Arc<Device>,
        needs: vk::MemoryRequirements,
        wishes: Wishes<'_>,
        what: &str,
    ) -> Result<Self, ExecuteError> {
        if needs.size > device.physical.max_memory_allocation {
            return Err(ExecuteError::Unsupported(format!(
                "{what} takes {} bytes, above maxMemoryAllocationSize {}",
                needs.size, device.physical.max_memory_allocation
            )));
        }
        let index = memory_type(&device.physical.memory, needs.memory_type_bits, wishes)
            .ok_or_else(|| ExecuteError::Unsupported(format!("the device has no type of memory that fits {what}")))?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        // SAFETY: the type's index comes from this device's list.
        let raw = unsafe { device.raw.allocate_memory(&info, None) }
            .named(&format!("vkAllocateMemory of {} bytes for {what}", needs.size))?;
        Ok(Self { device: device.clone(), raw })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: what is bound to it is destroyed before (field order of the owners), and the device is idle. Mapped
        // memory is unmapped by this.
        unsafe { self.device.raw.free_memory(self.raw, None) };
    }
}

/// A buffer's handle, destroyed when dropped.
struct Handle {
    device: Arc<Device>,
    raw: vk::Buffer,
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: made from this device, destroyed once, and the device is idle.
        unsafe { self.device.raw.destroy_buffer(self.raw, None) };
    }
}

/// A buffer with its memory, mapped for good if it is host-visible by its wishes.
pub(super) struct Buffer {
    handle: Handle,
    mapped: Option<NonNull<u8>>,
    size: u64,
    _memory: Memory,
}

// SAFETY: the mapped pointer is plain memory that belongs to this buffer alone and is reached only through its methods.
unsafe impl Send for Buffer {}

impl Buffer {
    fn new(
        device: &Arc<Device>,
        size: u64,
        usage: vk::BufferUsageFlags,
        wishes: Wishes<'_>,
        what: &str,
    ) -> Result<Self, ExecuteError> {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage).sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: `info` is complete and its size is not zero (see `Pool::reserve`).
        let raw = unsafe { device.raw.create_buffer(&info, None) }.named("vkCreateBuffer")?;
        let handle = Handle { device: device.clone(), raw };
        // SAFETY: the buffer was just made from this device.
        let needs = unsafe { device.raw.get_buffer_memory_requirements(raw) };
        let memory = Memory::allocate(device, needs, wishes, what)?;
        // SAFETY: the memory is as large as the buffer needs, of a type it allows, and bound once.
        unsafe { device.raw.bind_buffer_memory(raw, memory.raw, 0) }.named("vkBindBufferMemory")?;
        let mapped = if wishes.iter().all(|w| w.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)) {
            // SAFETY: the memory is host-visible, and mapped once.
            let pointer = unsafe { device.raw.map_memory(memory.raw, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) }
                .named("vkMapMemory")?;
            NonNull::new(pointer.cast())
        } else {
            None
        };
        Ok(Self { handle, mapped, size, _memory: memory })
    }

    /// Pointer to `len` mapped bytes at `offset`, if they are there.
    fn bytes(&self, offset: u64, len: usize) -> Result<*mut u8, ExecuteError> {
        let end = u64::try_from(len).ok().and_then(|len| offset.checked_add(len));
        match (self.mapped, end, usize::try_from(offset)) {
            // SAFETY: `offset` is at most the mapped size.
            (Some(base), Some(end), Ok(offset)) if end <= self.size => Ok(unsafe { base.as_ptr().add(offset) }),
            _ => Err(ExecuteError::Driver(format!(
                "{len} bytes at {offset} are not mapped in a buffer of {}",
                self.size
            ))),
        }
    }
}

/// A place for one buffer that is replaced by a larger one when a run needs more.
pub(super) struct Pool {
    device: Arc<Device>,
    usage: vk::BufferUsageFlags,
    wishes: &'static [vk::MemoryPropertyFlags],
    what: &'static str,
    buffer: Option<Buffer>,
}

impl Pool {
    /// An empty pool; `what` names it in errors.
    pub(super) fn new(
        device: &Arc<Device>,
        usage: vk::BufferUsageFlags,
        wishes: &'static [vk::MemoryPropertyFlags],
        what: &'static str,
    ) -> Self {
        Self { device: device.clone(), usage, wishes, what, buffer: None }
    }

    /// A buffer of at least `size` bytes. The device must be idle. Contents are lost when it grows.
    pub(super) fn reserve(&mut self, size: u64) -> Result<vk::Buffer, ExecuteError> {
        match &self.buffer {
            Some(buffer) if buffer.size >= size => Ok(buffer.handle.raw),
            _ => {
                // The old one first, so that the two need not fit side by side.
                self.buffer = None;
                let size = size.max(64 * 1024);
                // Room to grow, unless that is what does not fit.
                let roomy =
                    size.checked_next_power_of_two().filter(|&r| r <= self.device.physical.max_memory_allocation / 2);
                let made = Buffer::new(&self.device, roomy.unwrap_or(size), self.usage, self.wishes, self.what);
                let buffer = match made {
                    Err(ExecuteError::OutOfMemory(_)) if roomy.is_some_and(|r| r > size) => {
                        Buffer::new(&self.device, size, self.usage, self.wishes, self.what)?
                    }
                    other => other?,
                };
                Ok(self.buffer.insert(buffer).handle.raw)
            }
        }
    }

    fn mapped(&self, offset: u64, len: usize) -> Result<*mut u8, ExecuteError> {
        let Some(buffer) = &self.buffer else {
            return Err(ExecuteError::Driver(format!("no memory was reserved for {}", self.what)));
        };
        buffer.bytes(offset, len)
    }

    /// Copies words to a byte offset. The device must be idle.
    pub(super) fn write(&mut self, offset: u64, words: &[u32]) -> Result<(), ExecuteError> {
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let to = self.mapped(offset, bytes.len())?;
        // SAFETY: `to` has room for the bytes (checked by `bytes`), belongs to this pool alone, and the device is idle.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    /// Sets `len` bytes at a byte offset to zero. The device must be idle.
    pub(super) fn zero(&mut self, offset: u64, len: usize) -> Result<(), ExecuteError> {
        let to = self.mapped(offset, len)?;
        // SAFETY: as in `write`.
        unsafe { to.write_bytes(0, len) };
        Ok(())
    }

    /// Reads words at a byte offset. The device must be idle.
    pub(super) fn read(&self, offset: u64, words: usize) -> Result<Vec<u32>, ExecuteError> {
        let len = words.checked_mul(4).ok_or_else(|| ExecuteError::OutOfMemory(format!("{words} words")))?;
        let from = self.mapped(offset, len)?;
        let mut out = vec![0u32; words];
        // SAFETY: `from` has that many bytes, `out` too; the device is idle, so that nobody writes them.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr().cast::<u8>(), len) };
        Ok(out)
    }
}
