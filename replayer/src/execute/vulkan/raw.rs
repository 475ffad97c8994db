//! Sampling with descriptors as given: words that go into a descriptor buffer as they are (VK_EXT_descriptor_buffer).
//!
//! On AMD's GPUs these are T# and S#, so that formats, filters and fields that Vulkan does not have reach the texture unit.
//! There was no such GPU to run this on; that the driver's own T# reads as GFX10.3's is asked of it before anything is
//! sampled.

use std::time::Duration;

use ash::{ext, vk};
use capture_format::{ImageDescriptor, ImageType};

use super::{
    DeviceInfo, DeviceSelection, VulkanOptions,
    error::Named,
    memory::memory_type,
    small_device::{Chosen, SmallDevice},
};
use crate::execute::{ExecuteError, Module};

/// AMD's vendor number.
const AMD: u32 = 0x1002;

/// Words of a T# and of an S#.
const IMAGE_WORDS: usize = 8;
const SAMPLER_WORDS: usize = 4;

/// Alignment of everything that has an address: of T#.BASE_ADDRESS, and at least that of descriptor buffers and storage
/// buffers.
const ALIGNMENT: u64 = 256;

/// Bindings of the module of a raw job: see [`RawJob`].
const IMAGE: u32 = 0;
const OPERANDS: u32 = 1;
const RESULTS: u32 = 2;
const SAMPLER: u32 = 3;

/// FORMAT 20 of GFX10, R32_UINT.
const R32_UINT: u16 = 20;

/// One dispatch with raw descriptors. The module has an image at binding 0, operands and results in storage buffers at 1 and
/// 2, and a sampler at 3.
#[derive(Clone, Copy, Debug)]
pub struct RawJob<'a> {
    /// The module.
    pub module: &'a Module,
    /// T#; its address is put in.
    pub image: [u32; IMAGE_WORDS],
    /// Texels as they lie in memory.
    pub texels: &'a [u32],
    /// S#; absent for loads.
    pub sampler: Option<[u32; SAMPLER_WORDS]>,
    /// Contents of the operands' buffer.
    pub operands: &'a [u32],
    /// Words of the results' buffer.
    pub results: usize,
    /// Push constants from offset 0 on.
    pub push_constants: [u32; 4],
    /// Workgroups in x, y, z.
    pub groups: [u32; 3],
}

/// A device that takes descriptors as words.
pub struct RawDevice {
    functions: ext::descriptor_buffer::Device,
    sizes: Sizes,
    timeout: Duration,
    device: SmallDevice,
}

/// Bytes of descriptors.
#[derive(Clone, Copy)]
struct Sizes {
    image: usize,
    sampler: usize,
    buffer: usize,
    alignment: u64,
}

/// Destroys what it holds at the end of a scope.
struct Guard<'a, T: Handle> {
    device: &'a ash::Device,
    raw: T,
}

impl<T: Handle> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: made from this device, destroyed once, and the device is idle: a run ends with a wait.
        unsafe { self.raw.destroy(self.device) };
    }
}

/// What a [`Guard`] holds.
trait Handle: Copy {
    /// Destroys it.
    ///
    /// # Safety
    /// It was made from this device, is used by nothing any more, and is not destroyed again.
    unsafe fn destroy(self, device: &ash::Device);
}

macro_rules! handles {
    ($($handle:ty = $destroy:ident,)*) => {
        $(impl Handle for $handle {
            unsafe fn destroy(self, device: &ash::Device) {
                // SAFETY: as the caller promises.
                unsafe { device.$destroy(self, None) };
            }
        })*
    };
}

handles! {
    vk::Buffer = destroy_buffer,
    vk::CommandPool = destroy_command_pool,
    vk::DescriptorSetLayout = destroy_descriptor_set_layout,
    vk::DeviceMemory = free_memory,
    vk::Fence = destroy_fence,
    vk::Image = destroy_image,
    vk::ImageView = destroy_image_view,
    vk::Pipeline = destroy_pipeline,
    vk::PipelineLayout = destroy_pipeline_layout,
    vk::ShaderModule = destroy_shader_module,
}

/// Memory that host and device reach, with a buffer over all of it.
struct Block<'a> {
    address: u64,
    mapped: *mut u8,
    bytes: u64,
    _buffer: Guard<'a, vk::Buffer>,
    _memory: Guard<'a, vk::DeviceMemory>,
}

impl Block<'_> {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ExecuteError> {
        let to = self.at(offset, bytes.len())?;
        // SAFETY: `at` checked that the bytes lie in the mapping, which this block alone writes while the device is idle.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    fn read(&self, offset: u64, words: usize) -> Result<Vec<u32>, ExecuteError> {
        let from = self.at(offset, words.saturating_mul(4))?;
        let mut out = vec![0u32; words];
        // SAFETY: as in `write`; the device is idle.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr().cast::<u8>(), words * 4) };
        Ok(out)
    }

    fn at(&self, offset: u64, len: usize) -> Result<*mut u8, ExecuteError> {
        let end = u64::try_from(len).ok().and_then(|len| offset.checked_add(len));
        match (end, usize::try_from(offset)) {
            // SAFETY: `offset` is within the mapping.
            (Some(end), Ok(offset)) if end <= self.bytes => Ok(unsafe { self.mapped.add(offset) }),
            _ => Err(ExecuteError::Driver(format!("{len} bytes at {offset} are beyond a block of {}", self.bytes))),
        }
    }
}

impl RawDevice {
    /// Opens an AMD device whose driver takes descriptors as words.
    ///
    /// # Errors
    /// [`ExecuteError::Unavailable`] where there is no such device, [`ExecuteError::Unsupported`] when it is not AMD's or its
    /// driver lacks what is needed.
    pub fn open(selection: &DeviceSelection, options: &VulkanOptions) -> Result<Self, ExecuteError> {
        let chosen = Chosen::new(selection, options)?;
        let name = chosen.physical.info.name.clone();
        let lacks = |what: &str| ExecuteError::Unsupported(format!("{name}: {what}"));
        if chosen.physical.info.vendor_id != AMD {
            return Err(lacks("raw descriptors are T# and S#, which AMD's devices have"));
        }
        let extension = ext::descriptor_buffer::NAME;
        chosen.require(extension)?;
        // SAFETY: the device has the extension.
        let stated = unsafe { chosen.descriptor_sizes() };
        let sizes = Sizes {
            image: stated.sampled_image_descriptor_size,
            sampler: stated.sampler_descriptor_size,
            buffer: stated.storage_buffer_descriptor_size,
            alignment: stated.descriptor_buffer_offset_alignment.max(ALIGNMENT),
        };
        if sizes.image < IMAGE_WORDS * 4 || sizes.sampler != SAMPLER_WORDS * 4 {
            return Err(lacks(&format!(
                "descriptors of images take {} bytes and of samplers {}; 32 or more and 16 are expected",
                sizes.image, sizes.sampler
            )));
        }
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default().buffer_device_address(true);
        let mut buffers = vk::PhysicalDeviceDescriptorBufferFeaturesEXT::default().descriptor_buffer(true);
        let features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut buffers);
        // SAFETY: the extension is there, and it requires the two features.
        let device = unsafe { chosen.open(extension, features) }?;
        let functions = ext::descriptor_buffer::Device::new(&device.instance.raw, &device.raw);
        Ok(Self { functions, sizes, timeout: options.timeout, device })
    }

    /// The device.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        &self.device.physical.info
    }

    /// Asks the driver for the T# of a small image, and whether it reads as GFX10.3's.
    ///
    /// # Errors
    /// [`ExecuteError::Unsupported`] with what was read when it does not.
    pub fn check_generation(&self) -> Result<(), ExecuteError> {
        let words = self.driver_image_words(5, 3)?;
        is_gfx10(words, 5, 3).map_err(|found| {
            ExecuteError::Unsupported(format!(
                "{}: the driver's own T# of a 5x3 image of R32_UINT is {words:08x?}, by the fields of GFX10.3 {found}",
                self.info().name
            ))
        })
    }

    /// The first words of the descriptor that the driver makes of a linear image of R32_UINT.
    fn driver_image_words(&self, width: u32, height: u32) -> Result<[u32; IMAGE_WORDS], ExecuteError> {
        let device = &self.device.raw;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R32_UINT)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::LINEAR)
            .usage(vk::ImageUsageFlags::SAMPLED);
        // SAFETY: `info` is complete, and every device has linear sampled images of this format.
        let image = unsafe { device.create_image(&info, None) }.named("vkCreateImage")?;
        let image = Guard { device, raw: image };
        // SAFETY: the image was just made.
        let needs = unsafe { device.get_image_memory_requirements(image.raw) };
        let memory = self.allocate(needs, &[vk::MemoryPropertyFlags::empty()], false)?;
        // SAFETY: the memory is as large as the image needs, of a type it allows, and bound once.
        unsafe { device.bind_image_memory(image.raw, memory.raw, 0) }.named("vkBindImageMemory")?;
        let range =
            vk::ImageSubresourceRange::default().aspect_mask(vk::ImageAspectFlags::COLOR).level_count(1).layer_count(1);
        let info = vk::ImageViewCreateInfo::default()
            .image(image.raw)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R32_UINT)
            .subresource_range(range);
        // SAFETY: the image has memory and this format.
        let view = unsafe { device.create_image_view(&info, None) }.named("vkCreateImageView")?;
        let view = Guard { device, raw: view };
        let about = vk::DescriptorImageInfo::default()
            .image_view(view.raw)
            .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
        let get = vk::DescriptorGetInfoEXT::default()
            .ty(vk::DescriptorType::SAMPLED_IMAGE)
            .data(vk::DescriptorDataEXT { p_sampled_image: &raw const about });
        let mut bytes = vec![0u8; self.sizes.image];
        // SAFETY: the view lives, and `bytes` has the size that the driver states for sampled images.
        unsafe { self.functions.get_descriptor(&get, &mut bytes) };
        Ok(std::array::from_fn(|n| u32::from_le_bytes(std::array::from_fn(|b| bytes[4 * n + b]))))
    }

    fn allocate(
        &self,
        needs: vk::MemoryRequirements,
        wishes: &[vk::MemoryPropertyFlags],
        addressed: bool,
    ) -> Result<Guard<'_, vk::DeviceMemory>, ExecuteError> {
        let index = memory_type(&self.device.physical.memory, needs.memory_type_bits, wishes)
            .ok_or_else(|| ExecuteError::Unsupported("the device has no type of memory that fits".to_owned()))?;
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(if addressed {
            vk::MemoryAllocateFlags::DEVICE_ADDRESS
        } else {
            vk::MemoryAllocateFlags::empty()
        });
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut flags);
        // SAFETY: the type's index comes from this device's list; the feature for addresses is on.
        let raw = unsafe { self.device.raw.allocate_memory(&info, None) }
            .named(&format!("vkAllocateMemory of {} bytes", needs.size))?;
        let device = &self.device.raw;
        Ok(Guard { device, raw })
    }

    fn block(&self, bytes: u64) -> Result<Block<'_>, ExecuteError> {
        let device = &self.device.raw;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT
            | vk::BufferUsageFlags::SAMPLER_DESCRIPTOR_BUFFER_EXT;
        let info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        // SAFETY: `info` is complete and its size is not zero.
        let raw = unsafe { device.create_buffer(&info, None) }.named("vkCreateBuffer")?;
        let buffer = Guard { device, raw };
        // SAFETY: the buffer was just made.
        let needs = unsafe { device.get_buffer_memory_requirements(raw) };
        let memory = self.allocate(needs, &[super::memory::READBACK, super::memory::UPLOAD], true)?;
        // SAFETY: the memory is as large as the buffer needs, of a type it allows, and bound once.
        unsafe { device.bind_buffer_memory(raw, memory.raw, 0) }.named("vkBindBufferMemory")?;
        // SAFETY: the memory is host-visible by the wishes, and mapped once.
        let mapped = unsafe { device.map_memory(memory.raw, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) }
            .named("vkMapMemory")?
            .cast();
        let about = vk::BufferDeviceAddressInfo::default().buffer(raw);
        // SAFETY: the buffer has memory and the usage for it.
        let address = unsafe { device.get_buffer_device_address(&about) };
        Ok(Block { address, mapped, bytes, _buffer: buffer, _memory: memory })
    }

    /// Runs a job to the end; the words of its results.
    ///
    /// # Errors
    /// As [`ExecuteError`] lists.
    pub fn run(&self, job: &RawJob<'_>) -> Result<Vec<u32>, ExecuteError> {
        let (layout, offsets, set_bytes) = self.set_layout(job.sampler.is_some())?;
        let pipeline_layout = self.pipeline_layout(layout.raw)?;
        let pipeline = self.pipeline(job.module, pipeline_layout.raw)?;
        let place = Placement::of(job, set_bytes, self.sizes.alignment)
            .ok_or_else(|| ExecuteError::OutOfMemory("texels, operands and results of one job".to_owned()))?;
        let mut block = self.block(place.bytes)?;
        block.write(place.texels, bytemuck::cast_slice(job.texels))?;
        block.write(place.operands, bytemuck::cast_slice(job.operands))?;
        block.write(place.results, &vec![0; job.results * 4])?;
        block.write(place.set, &vec![0; usize::try_from(set_bytes).unwrap_or(0)])?;
        let image = with_address(job.image, block.address + place.texels);
        block.write(place.set + offsets[IMAGE as usize], bytemuck::cast_slice(&image))?;
        for (binding, offset, words) in
            [(OPERANDS, place.operands, job.operands.len()), (RESULTS, place.results, job.results)]
        {
            let bytes = self.buffer_descriptor(block.address + offset, words as u64 * 4);
            block.write(place.set + offsets[binding as usize], &bytes)?;
        }
        if let Some(words) = job.sampler {
            block.write(place.set + offsets[SAMPLER as usize], bytemuck::cast_slice(&words))?;
        }
        self.submit(job, pipeline.raw, pipeline_layout.raw, block.address + place.set)?;
        block.read(place.results, job.results)
    }

    /// The layout of the descriptors, their offsets by binding, and their bytes.
    fn set_layout(&self, samples: bool) -> Result<(Guard<'_, vk::DescriptorSetLayout>, [u64; 4], u64), ExecuteError> {
        let device = &self.device.raw;
        let mut bindings = vec![
            (IMAGE, vk::DescriptorType::SAMPLED_IMAGE),
            (OPERANDS, vk::DescriptorType::STORAGE_BUFFER),
            (RESULTS, vk::DescriptorType::STORAGE_BUFFER),
        ];
        if samples {
            bindings.push((SAMPLER, vk::DescriptorType::SAMPLER));
        }
        let made: Vec<_> = bindings
            .iter()
            .map(|&(binding, ty)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(ty)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default()
            .flags(vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT)
            .bindings(&made);
        // SAFETY: the bindings live to the end of the call.
        let raw = unsafe { device.create_descriptor_set_layout(&info, None) }.named("vkCreateDescriptorSetLayout")?;
        let layout = Guard { device, raw };
        let mut offsets = [0; 4];
        for (binding, _) in bindings {
            // SAFETY: the layout lives, was made for descriptor buffers, and has the binding.
            offsets[binding as usize] =
                unsafe { self.functions.get_descriptor_set_layout_binding_offset(raw, binding) };
        }
        // SAFETY: as above.
        let bytes = unsafe { self.functions.get_descriptor_set_layout_size(raw) };
        Ok((layout, offsets, bytes))
    }

    fn pipeline_layout(&self, set: vk::DescriptorSetLayout) -> Result<Guard<'_, vk::PipelineLayout>, ExecuteError> {
        let device = &self.device.raw;
        let sets = [set];
        let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(16)];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
        // SAFETY: what `info` points to lives to the end of the call.
        let raw = unsafe { device.create_pipeline_layout(&info, None) }.named("vkCreatePipelineLayout")?;
        Ok(Guard { device, raw })
    }

    fn pipeline(&self, module: &Module, layout: vk::PipelineLayout) -> Result<Guard<'_, vk::Pipeline>, ExecuteError> {
        let device = &self.device.raw;
        let info = vk::ShaderModuleCreateInfo::default().code(&module.words);
        // SAFETY: the module's words are SPIR-V that this crate emitted.
        let shader = unsafe { device.create_shader_module(&info, None) }.named("vkCreateShaderModule")?;
        let shader = Guard { device, raw: shader };
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader.raw)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT)
            .stage(stage)
            .layout(layout);
        // SAFETY: module, entry point and layout fit each other and live to the end of the call.
        let made = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        let raw = match made {
            Ok(pipelines) => pipelines.first().copied(),
            Err((_, result)) => return Err(super::error::from_result("vkCreateComputePipelines", result)),
        };
        let raw = raw.ok_or_else(|| ExecuteError::Driver("vkCreateComputePipelines made none".to_owned()))?;
        Ok(Guard { device, raw })
    }

    fn buffer_descriptor(&self, address: u64, range: u64) -> Vec<u8> {
        let about = vk::DescriptorAddressInfoEXT::default().address(address).range(range.max(4));
        let get = vk::DescriptorGetInfoEXT::default()
            .ty(vk::DescriptorType::STORAGE_BUFFER)
            .data(vk::DescriptorDataEXT { p_storage_buffer: &raw const about });
        let mut bytes = vec![0u8; self.sizes.buffer];
        // SAFETY: the address lies in a live buffer, and `bytes` has the size that the driver states for storage buffers.
        unsafe { self.functions.get_descriptor(&get, &mut bytes) };
        bytes
    }

    fn submit(
        &self,
        job: &RawJob<'_>,
        pipeline: vk::Pipeline,
        layout: vk::PipelineLayout,
        set: u64,
    ) -> Result<(), ExecuteError> {
        let device = &self.device.raw;
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(self.device.physical.queue_family);
        // SAFETY: the family is that of the device's queue.
        let pool = unsafe { device.create_command_pool(&info, None) }.named("vkCreateCommandPool")?;
        let pool = Guard { device, raw: pool };
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool.raw).command_buffer_count(1);
        // SAFETY: the pool was just made.
        let commands = unsafe { device.allocate_command_buffers(&info) }.named("vkAllocateCommandBuffers")?;
        let Some(&commands) = commands.first() else {
            return Err(ExecuteError::Driver("vkAllocateCommandBuffers made none".to_owned()));
        };
        // SAFETY: a fence needs nothing but the device.
        let fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }.named("vkCreateFence")?;
        let fence = Guard { device, raw: fence };
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let usage =
            vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT | vk::BufferUsageFlags::SAMPLER_DESCRIPTOR_BUFFER_EXT;
        let binding = [vk::DescriptorBufferBindingInfoEXT::default().address(set).usage(usage)];
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        let bind = vk::PipelineBindPoint::COMPUTE;
        let [x, y, z] = job.groups;
        // SAFETY: pipeline, layout and the buffer behind `set` were made for descriptor buffers and live until the wait below;
        // the host's writes are made available by the submission.
        unsafe {
            device.begin_command_buffer(commands, &begin).named("vkBeginCommandBuffer")?;
            device.cmd_bind_pipeline(commands, bind, pipeline);
            self.functions.cmd_bind_descriptor_buffers(commands, &binding);
            self.functions.cmd_set_descriptor_buffer_offsets(commands, bind, layout, 0, &[0], &[0]);
            let push = bytemuck::cast_slice(&job.push_constants);
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, push);
            device.cmd_dispatch(commands, x, y, z);
            let (from, to) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::HOST);
            device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &barrier, &[], &[]);
            device.end_command_buffer(commands).named("vkEndCommandBuffer")?;
        }
        let buffers = [commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
        // SAFETY: the commands were recorded to the end; the queue is used by this thread alone.
        unsafe { device.queue_submit(self.device.queue, &submit, fence.raw) }.named("vkQueueSubmit")?;
        let nanoseconds = u64::try_from(self.timeout.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence was submitted.
        let waited = unsafe { device.wait_for_fences(&[fence.raw], true, nanoseconds) };
        if waited == Err(vk::Result::TIMEOUT) {
            // What the commands use must not be destroyed under them.
            // SAFETY: the queue belongs to this device.
            let _ = unsafe { device.queue_wait_idle(self.device.queue) };
        }
        waited.named("vkWaitForFences")
    }
}

/// Where everything of a job lies in its block.
#[derive(Debug, PartialEq, Eq)]
struct Placement {
    set: u64,
    texels: u64,
    operands: u64,
    results: u64,
    bytes: u64,
}

impl Placement {
    fn of(job: &RawJob<'_>, set_bytes: u64, alignment: u64) -> Option<Self> {
        let words = |n: usize| u64::try_from(n).ok()?.checked_mul(4);
        let after = |start: u64, bytes: u64| start.checked_add(bytes)?.checked_next_multiple_of(alignment);
        let texels = after(0, set_bytes)?;
        // The texture unit may read a whole block beyond the last texel.
        let operands = after(texels, words(job.texels.len())?.checked_add(ALIGNMENT)?)?;
        let results = after(operands, words(job.operands.len())?.max(4))?;
        let bytes = after(results, words(job.results)?.max(4))?;
        Some(Self { set: 0, texels, operands, results, bytes })
    }
}

/// A T# with the address of its texels, a multiple of 256.
fn with_address(mut words: [u32; IMAGE_WORDS], address: u64) -> [u32; IMAGE_WORDS] {
    let units = address >> 8;
    words[0] = units as u32;
    words[1] = words[1] & !0xff | (units >> 32) as u32 & 0xff;
    words
}

/// Whether a T# reads as that of a linear 2D image of R32_UINT of this size by the fields of GFX10.3; what it says else.
fn is_gfx10(words: [u32; IMAGE_WORDS], width: u32, height: u32) -> Result<(), String> {
    let image = ImageDescriptor::from_words(words);
    let (format, kind) = (image.format(), image.image_type());
    if (format, kind, image.width(), image.height()) == (R32_UINT, ImageType::D2, width, height) {
        return Ok(());
    }
    Err(format!("format {format}, {kind:?}, {}x{}", image.width(), image.height()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_holds_everything_without_overlap() {
        let module = Module::new(Vec::new());
        let job = RawJob {
            module: &module,
            image: [0; 8],
            texels: &[0; 65],
            sampler: None,
            operands: &[0; 3],
            results: 4,
            push_constants: [0; 4],
            groups: [1; 3],
        };
        let place = Placement::of(&job, 144, 256).unwrap();
        assert_eq!(place, Placement { set: 0, texels: 256, operands: 1024, results: 1280, bytes: 1536 });
        assert_eq!(Placement::of(&job, u64::MAX, 256), None);
    }

    #[test]
    fn the_address_goes_into_both_words() {
        let words = with_address([0, 0xc2b0_00ff, 0, 0, 0, 0, 0, 0], 0x0000_ab12_3456_7800);
        assert_eq!(words[..2], [0x1234_5678, 0xc2b0_00ab]);
    }

    #[test]
    fn a_t_of_another_generation_is_told() {
        let width = |w: u32| (w - 1 & 3) << 30;
        let size = (5 - 1) >> 2 | 2 << 14;
        let gfx10 = [0, 20 << 20 | width(5), size, 9 << 28, 0, 0, 0, 0];
        assert_eq!(is_gfx10(gfx10, 5, 3), Ok(()));
        // GFX11 has R32_UINT at 20 too, in a field of 8 bits, and MAX_MIP below it; its widths are 14 bits in word 2.
        let gfx11 = [0, 20 << 20, 4 | 2 << 14, 9 << 28, 0, 0, 0, 0];
        assert_eq!(is_gfx10(gfx11, 5, 3).unwrap_err(), "format 20, D2, 17x3");
    }
}
