//! Runs planned jobs: fills buffers and images, records, submits, waits, reads.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ash::vk;

use super::{
    MemoryMode, VulkanOptions,
    device::Device,
    error::{Named, from_result},
    image::{Assigned, Images, Staging},
    memory::{DIRECT, Pool, READBACK, UPLOAD, memory_type},
    native::{NativeJob, NativeResource},
    pipeline::{Pipeline, Pipelines},
    plan::Plan,
    sampler::{Sampler, Samplers},
};
use crate::execute::ExecuteError;

/// How long dropping an executor waits for a run that is over its time.
const GRACE: Duration = Duration::from_secs(1);

/// How long the last run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTiming {
    /// From the call to the result.
    pub total: Duration,
    /// From submission until the host knows of the end.
    pub submitted: Duration,
    /// The dispatch alone (the mean of all repeats), by GPU timestamps; `None` when they are off or the queue has none.
    pub kernel: Option<Duration>,
}

/// Command buffer, fence and timestamps, destroyed when dropped.
struct Commands {
    device: Arc<Device>,
    pool: vk::CommandPool,
    buffer: vk::CommandBuffer,
    fence: vk::Fence,
    queries: vk::QueryPool,
}

impl Commands {
    fn new(device: &Arc<Device>, timestamps: bool) -> Result<Self, ExecuteError> {
        // What is there so far is destroyed on the way out when a later call fails.
        let mut commands = Self {
            device: device.clone(),
            pool: vk::CommandPool::null(),
            buffer: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            queries: vk::QueryPool::null(),
        };
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER | vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(device.physical.queue_family);
        // SAFETY: the device has a queue of this family.
        commands.pool = unsafe { device.raw.create_command_pool(&info, None) }.named("vkCreateCommandPool")?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(commands.pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool is alive and used by this thread alone.
        let buffers = unsafe { device.raw.allocate_command_buffers(&info) }.named("vkAllocateCommandBuffers")?;
        commands.buffer = buffers.first().copied().unwrap_or_default();
        // SAFETY: no precondition beyond a live device.
        commands.fence =
            unsafe { device.raw.create_fence(&vk::FenceCreateInfo::default(), None) }.named("vkCreateFence")?;
        if timestamps && device.physical.info.timestamp_period_ns > 0.0 {
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
            // SAFETY: the queue family has timestamps.
            commands.queries = unsafe { device.raw.create_query_pool(&info, None) }.named("vkCreateQueryPool")?;
        }
        Ok(commands)
    }

    fn timed(&self) -> bool {
        self.queries != vk::QueryPool::null()
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        let device = &self.device.raw;
        // SAFETY: made from this device, destroyed once (null is ignored), and the device is idle. The command buffer goes
        // with its pool.
        unsafe {
            device.destroy_query_pool(self.queries, None);
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.pool, None);
        }
    }
}

/// What a run copies from the staging buffer.
struct Uploads {
    /// The staging buffer, null if the run needs none.
    buffer: vk::Buffer,
    /// Where the levels of each image are, if they are copied.
    staged: Vec<Option<Staging>>,
}

/// What the host reads after a run, beside the arena.
struct Downloads {
    /// The buffer, null if there is nothing.
    buffer: vk::Buffer,
    /// Where the texels of each image go, if it is a storage image.
    images: Vec<Option<Staging>>,
}

/// What runs jobs on one device.
pub(super) struct Engine {
    pub(super) pipelines: Pipelines,
    images: Images,
    samplers: Samplers,
    samplers_in_use: Vec<Arc<Sampler>>,
    /// Inputs and outputs.
    arena: Pool,
    /// Whether the host reaches the arena.
    direct: bool,
    /// Texels, and inputs when the arena is out of reach.
    staging: Pool,
    /// Storage images, and outputs when the arena is out of reach.
    readback: Pool,
    commands: Commands,
    timeout: Duration,
    /// Number of the current run.
    run: u64,
    /// A submission is over its time and still running.
    pending: bool,
    /// The device is lost, for this reason.
    lost: Option<String>,
    pub(super) timing: Option<RunTiming>,
    /// Dispatches a run.
    repeats: u32,
    // Last, as the rest is made from it.
    pub(super) device: Arc<Device>,
}

impl Engine {
    pub(super) fn new(device: Arc<Device>, options: &VulkanOptions) -> Result<Self, ExecuteError> {
        let reachable = memory_type(&device.physical.memory, u32::MAX, &[DIRECT]).is_some();
        let direct = match options.memory {
            MemoryMode::Auto => {
                use super::DeviceKind as Kind;
                reachable && matches!(device.physical.info.kind, Kind::Cpu | Kind::Integrated)
            }
            MemoryMode::Direct if reachable => true,
            MemoryMode::Direct => {
                return Err(ExecuteError::Unsupported(
                    "the device has no memory that both it and the host reach directly".to_owned(),
                ));
            }
            MemoryMode::Staged => false,
        };
        let wishes: &'static [vk::MemoryPropertyFlags] = if direct {
            &[DIRECT]
        } else {
            const { &[vk::MemoryPropertyFlags::DEVICE_LOCAL, vk::MemoryPropertyFlags::empty()] }
        };
        let arena_usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        Ok(Self {
            pipelines: Pipelines::new(&device, options.pipelines_kept, options.cache_dir.as_deref())?,
            images: Images::new(&device),
            samplers: Samplers::new(&device),
            samplers_in_use: Vec::new(),
            arena: Pool::new(&device, arena_usage, wishes, "inputs and outputs"),
            direct,
            staging: Pool::new(&device, vk::BufferUsageFlags::TRANSFER_SRC, &[UPLOAD], "uploads"),
            readback: Pool::new(&device, vk::BufferUsageFlags::TRANSFER_DST, &[READBACK, UPLOAD], "reading outputs"),
            commands: Commands::new(&device, options.timestamps)?,
            repeats: options.repeats.get(),
            timeout: options.timeout,
            run: 0,
            pending: false,
            lost: None,
            timing: None,
            device,
        })
    }

    /// Runs a job to the end.
    pub(super) fn run(&mut self, job: &NativeJob<'_>) -> Result<Vec<Vec<u32>>, ExecuteError> {
        let start = Instant::now();
        self.timing = None;
        let result = self.ready().and_then(|()| self.run_ready(job, start));
        if let Err(ExecuteError::DeviceLost(text)) = &result {
            self.lost = Some(text.clone());
        }
        result
    }

    /// Waits for a run that was over its time; an error while the device can not be used.
    fn ready(&mut self) -> Result<(), ExecuteError> {
        if let Some(text) = &self.lost {
            return Err(ExecuteError::DeviceLost(text.clone()));
        }
        if self.pending {
            self.wait("an earlier run")?;
        }
        Ok(())
    }

    fn run_ready(&mut self, job: &NativeJob<'_>, start: Instant) -> Result<Vec<Vec<u32>>, ExecuteError> {
        self.run += 1;
        let module = self.pipelines.module(job.module)?;
        let plan = Plan::new(job, &module.info, &self.device)?;
        if plan.idle {
            let contents = job.bindings.iter().filter_map(|bound| match bound.resource {
                NativeResource::Output(words) => Some(vec![0; words]),
                NativeResource::InOut(words) => Some(words.to_vec()),
                NativeResource::Storage(image) => Some(image.texels.to_vec()),
                NativeResource::Input(_) | NativeResource::Image(_) | NativeResource::Sampled(..) => None,
            });
            let contents = contents.collect();
            self.timing = Some(RunTiming { total: start.elapsed(), ..RunTiming::default() });
            return Ok(contents);
        }
        let pipeline =
            self.pipelines.pipeline(&module, job.module.key, job.entry, job.specialization, plan.layout.clone())?;
        let wanted: Vec<_> = plan.images.iter().map(|t| (t.shape, t.image.texels)).collect();
        let assigned = self.images.assign(&wanted, self.run)?;
        let arena = self.arena.reserve(plan.arena)?;
        let uploads = self.fill(job, &plan, &assigned)?;
        // Kept until the next run, so that what a run over its time uses stays alive even if it is pushed out.
        self.samplers_in_use = self.describe(job, &plan, &assigned, &pipeline, arena)?;
        let downloads = self.downloads(&plan)?;
        self.record(job, &plan, &assigned, &uploads, &pipeline, arena, &downloads)?;
        let submitted = Instant::now();
        self.submit()?;
        self.wait("the run")?;
        let submitted = submitted.elapsed();
        self.images.uploaded(&assigned);
        let results = self.results(job, &plan, &downloads)?;
        self.timing = Some(RunTiming {
            total: start.elapsed(),
            submitted,
            kernel: self.kernel_time()?.map(|all| all / self.repeats),
        });
        Ok(results)
    }

    /// Lays out what the host reads after the run beside the arena: outputs that it does not reach, and storage images.
    fn downloads(&mut self, plan: &Plan<'_>) -> Result<Downloads, ExecuteError> {
        let mut end = if self.direct { 0 } else { plan.arena - plan.outputs_start };
        let alignment = self.device.physical.limits.optimal_buffer_copy_offset_alignment;
        let mut images = Vec::with_capacity(plan.images.len());
        for texels in &plan.images {
            let staging = texels.shape.storage.then(|| texels.shape.staging(end, alignment));
            let staging = match staging {
                Some(None) => return Err(ExecuteError::OutOfMemory(format!("{}: too many texels", texels.shape))),
                Some(staging) => staging,
                None => None,
            };
            end = staging.as_ref().map_or(end, |staging| staging.end);
            images.push(staging);
        }
        let buffer = if end > 0 { self.readback.reserve(end)? } else { vk::Buffer::null() };
        Ok(Downloads { buffer, images })
    }

    /// The contents of the outputs after the run, in the order of the bindings.
    fn results(
        &self,
        job: &NativeJob<'_>,
        plan: &Plan<'_>,
        downloads: &Downloads,
    ) -> Result<Vec<Vec<u32>>, ExecuteError> {
        let mut results = Vec::new();
        for (place, bound) in job.bindings.iter().enumerate() {
            match bound.resource {
                NativeResource::Output(_) | NativeResource::InOut(_) => {
                    let Some(slot) = plan.outputs.iter().find(|slot| slot.place == place) else { continue };
                    results.push(if self.direct {
                        self.arena.read(slot.offset, slot.words)?
                    } else {
                        self.readback.read(slot.offset - plan.outputs_start, slot.words)?
                    });
                }
                NativeResource::Storage(_) => {
                    let mut images = plan.images.iter().zip(&downloads.images);
                    let found =
                        images.find(|(texels, _)| texels.place == place).and_then(|(_, staging)| staging.as_ref());
                    let Some(level) = found.and_then(|staging| staging.levels.first()) else { continue };
                    results.push(self.readback.read(level.offset, level.words)?);
                }
                NativeResource::Input(_) | NativeResource::Image(_) | NativeResource::Sampled(..) => {}
            }
        }
        Ok(results)
    }

    /// Writes inputs and texels to where the device or a copy finds them.
    fn fill(&mut self, job: &NativeJob<'_>, plan: &Plan<'_>, assigned: &[Assigned]) -> Result<Uploads, ExecuteError> {
        let inputs_end = if self.direct { 0 } else { plan.zeros_start };
        let alignment = self.device.physical.limits.optimal_buffer_copy_offset_alignment;
        // Images that share a place share the upload: the first has `upload` set, the others found it by content.
        let uploads = assigned.iter().map(|a| a.upload).enumerate();
        let (staged, staging_end) = plan.stage(uploads, inputs_end, alignment)?;
        let buffer = if staging_end > 0 { self.staging.reserve(staging_end)? } else { vk::Buffer::null() };
        for slot in plan.inputs.iter().chain(&plan.outputs) {
            let (NativeResource::Input(words) | NativeResource::InOut(words)) = job.bindings[slot.place].resource
            else {
                continue;
            };
            let pool = if self.direct { &mut self.arena } else { &mut self.staging };
            pool.write(slot.offset, words)?;
            if words.is_empty() {
                pool.zero(slot.offset, to_usize(slot.range())?)?;
            }
        }
        if self.direct {
            self.arena.zero(plan.zeros_start, to_usize(plan.arena.saturating_sub(plan.zeros_start))?)?;
        }
        for (texels, staging) in plan.images.iter().zip(&staged) {
            let Some(staging) = staging else { continue };
            let mut rest = texels.image.texels;
            for level in &staging.levels {
                let Some((words, after)) = rest.split_at_checked(level.words) else {
                    return Err(ExecuteError::InvalidJob(format!("{}: too few texels", texels.shape)));
                };
                self.staging.write(level.offset, words)?;
                rest = after;
            }
        }
        Ok(Uploads { buffer, staged })
    }

    /// Points the descriptors to this run's buffers and images.
    fn describe(
        &mut self,
        job: &NativeJob<'_>,
        plan: &Plan<'_>,
        assigned: &[Assigned],
        pipeline: &Pipeline,
        arena: vk::Buffer,
    ) -> Result<Vec<Arc<Sampler>>, ExecuteError> {
        let mut samplers = Vec::new();
        let buffers: Vec<_> = plan
            .inputs
            .iter()
            .chain(&plan.outputs)
            .map(|slot| {
                let info = vk::DescriptorBufferInfo::default().buffer(arena).offset(slot.offset).range(slot.range());
                (slot.place, slot.kind, [info])
            })
            .collect();
        let mut images = Vec::with_capacity(plan.images.len());
        for (texels, assigned) in plan.images.iter().zip(assigned) {
            let image = &mut self.images.pool[assigned.place];
            let view = image.view(texels.image.components)?;
            let mut info = vk::DescriptorImageInfo::default().image_view(view).image_layout(image.layout());
            let mut kind = if texels.shape.storage {
                vk::DescriptorType::STORAGE_IMAGE
            } else {
                vk::DescriptorType::SAMPLED_IMAGE
            };
            if let Some(state) = &texels.sampler {
                let sampler = self.samplers.get(&texels.image, state)?;
                info = info.sampler(sampler.raw);
                samplers.push(sampler);
                kind = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
            }
            images.push((texels.place, kind, [info]));
        }
        let target = |place: usize, kind| {
            let bound = &job.bindings[place];
            vk::WriteDescriptorSet::default()
                .dst_set(pipeline.layout.sets[bound.set as usize])
                .dst_binding(bound.binding)
                .dst_array_element(bound.element)
                .descriptor_type(kind)
        };
        let writes: Vec<_> = buffers
            .iter()
            .map(|(place, kind, info)| target(*place, *kind).buffer_info(info))
            .chain(images.iter().map(|(place, kind, info)| target(*place, *kind).image_info(info)))
            .collect();
        // SAFETY: the sets have these bindings with these types (the layout was made from the same plan); the device is
        // idle, so that no run uses the sets.
        unsafe { self.device.raw.update_descriptor_sets(&writes, &[]) };
        Ok(samplers)
    }

    #[expect(clippy::too_many_arguments, reason = "all that one run consists of")]
    fn record(
        &self,
        job: &NativeJob<'_>,
        plan: &Plan<'_>,
        assigned: &[Assigned],
        uploads: &Uploads,
        pipeline: &Pipeline,
        arena: vk::Buffer,
        downloads: &Downloads,
    ) -> Result<(), ExecuteError> {
        let device = &self.device.raw;
        let cmd = self.commands.buffer;
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the buffer is not in use (the device is idle); beginning resets it, as its pool allows.
        unsafe { device.begin_command_buffer(cmd, &begin) }.named("vkBeginCommandBuffer")?;
        if self.commands.timed() {
            // SAFETY: recording, and the pool has these two queries.
            unsafe { device.cmd_reset_query_pool(cmd, self.commands.queries, 0, 2) };
        }
        self.record_uploads(plan, assigned, uploads, arena);
        // SAFETY: recording; pipeline, layout and sets are alive until the run ended and belong together.
        unsafe {
            device.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::COMPUTE, pipeline.raw);
            if !pipeline.layout.sets.is_empty() {
                device.cmd_bind_descriptor_sets(
                    cmd,
                    vk::PipelineBindPoint::COMPUTE,
                    pipeline.layout.raw,
                    0,
                    &pipeline.layout.sets,
                    &[],
                );
            }
            if !job.push_constants.is_empty() {
                device.cmd_push_constants(
                    cmd,
                    pipeline.layout.raw,
                    vk::ShaderStageFlags::COMPUTE,
                    0,
                    bytemuck::cast_slice(job.push_constants),
                );
            }
        }
        let [x, y, z] = job.groups;
        let stamp = |query| {
            if self.commands.timed() {
                // SAFETY: recording; the query was reset above and is written once.
                unsafe {
                    device.cmd_write_timestamp(
                        cmd,
                        vk::PipelineStageFlags::BOTTOM_OF_PIPE,
                        self.commands.queries,
                        query,
                    );
                }
            }
        };
        stamp(0);
        for repeat in 0..self.repeats {
            if repeat > 0 {
                let after = vk::MemoryBarrier::default()
                    .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                    .dst_access_mask(vk::AccessFlags::SHADER_WRITE);
                barrier(device, cmd, SHADER, SHADER, after, &[]);
            }
            // SAFETY: recording; the group counts are within the limits, and what the pipeline uses is bound.
            unsafe { device.cmd_dispatch(cmd, x, y, z) };
        }
        stamp(1);
        let written = vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::SHADER_WRITE);
        let host = vk::AccessFlags::HOST_READ;
        if downloads.buffer == vk::Buffer::null() {
            barrier(device, cmd, SHADER, vk::PipelineStageFlags::HOST, written.dst_access_mask(host), &[]);
        } else {
            let to = vk::AccessFlags::TRANSFER_READ | if self.direct { host } else { vk::AccessFlags::empty() };
            let stages = if self.direct { COPY | vk::PipelineStageFlags::HOST } else { COPY };
            let stored = assigned.iter().zip(&downloads.images).filter(|(_, staging)| staging.is_some());
            let stored: Vec<_> = stored
                .map(|(assigned, _)| {
                    let image = &self.images.pool[assigned.place];
                    vk::ImageMemoryBarrier::default()
                        .image(image.raw())
                        .subresource_range(image.range())
                        .old_layout(image.layout())
                        .new_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
                        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                        .dst_access_mask(vk::AccessFlags::TRANSFER_READ)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                })
                .collect();
            barrier(device, cmd, SHADER, stages, written.dst_access_mask(to), &stored);
            if !self.direct && plan.arena > plan.outputs_start {
                let copy =
                    vk::BufferCopy::default().src_offset(plan.outputs_start).size(plan.arena - plan.outputs_start);
                // SAFETY: both buffers are that large; the barrier above made the results visible to the copy.
                unsafe { device.cmd_copy_buffer(cmd, arena, downloads.buffer, &[copy]) };
            }
            for (assigned, staging) in assigned.iter().zip(&downloads.images) {
                let Some(staging) = staging else { continue };
                let image = &self.images.pool[assigned.place];
                let copies = image.copies(staging);
                // SAFETY: recording; the regions are within the image and the buffer, the image is in this layout, and the
                // barrier above made what was stored visible to the copy.
                unsafe {
                    device.cmd_copy_image_to_buffer(
                        cmd,
                        image.raw(),
                        vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                        downloads.buffer,
                        &copies,
                    );
                }
            }
            let copied =
                vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::TRANSFER_WRITE).dst_access_mask(host);
            barrier(device, cmd, COPY, vk::PipelineStageFlags::HOST, copied, &[]);
        }
        // SAFETY: recording.
        unsafe { device.end_command_buffer(cmd) }.named("vkEndCommandBuffer")
    }

    /// Copies to the images and, when the host does not reach it, the arena.
    fn record_uploads(&self, plan: &Plan<'_>, assigned: &[Assigned], uploads: &Uploads, arena: vk::Buffer) {
        let fills: Vec<_> =
            assigned.iter().zip(&uploads.staged).filter_map(|(a, s)| s.as_ref().map(|s| (a.place, s))).collect();
        if self.direct && fills.is_empty() {
            return;
        }
        let device = &self.device.raw;
        let cmd = self.commands.buffer;
        let image_barriers =
            |old, new: Option<vk::ImageLayout>, from: vk::AccessFlags, to: vk::AccessFlags| -> Vec<_> {
                fills
                    .iter()
                    .map(|(place, _)| {
                        let image = &self.images.pool[*place];
                        let new = new.unwrap_or(image.layout());
                        vk::ImageMemoryBarrier::default()
                            .image(image.raw())
                            .subresource_range(image.range())
                            .old_layout(old)
                            .new_layout(new)
                            .src_access_mask(from)
                            .dst_access_mask(to)
                            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                    })
                    .collect()
            };
        let before = image_barriers(
            vk::ImageLayout::UNDEFINED,
            Some(vk::ImageLayout::TRANSFER_DST_OPTIMAL),
            vk::AccessFlags::empty(),
            vk::AccessFlags::TRANSFER_WRITE,
        );
        if !before.is_empty() {
            let none = vk::MemoryBarrier::default();
            barrier(device, cmd, vk::PipelineStageFlags::TOP_OF_PIPE, COPY, none, &before);
        }
        for (place, staged) in &fills {
            let image = &self.images.pool[*place];
            let copies = image.copies(staged);
            // SAFETY: recording; the regions are within the image and the staging buffer, the image is in this layout.
            unsafe {
                device.cmd_copy_buffer_to_image(
                    cmd,
                    uploads.buffer,
                    image.raw(),
                    vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                    &copies,
                );
            }
        }
        if !self.direct && plan.zeros_start > 0 {
            let copy = vk::BufferCopy::default().size(plan.zeros_start);
            // SAFETY: recording; both buffers have the inputs at the same offsets.
            unsafe { device.cmd_copy_buffer(cmd, uploads.buffer, arena, &[copy]) };
        }
        if !self.direct && plan.arena > plan.zeros_start {
            // SAFETY: recording; offset and size are multiples of 4 within the buffer, apart from what was copied.
            unsafe { device.cmd_fill_buffer(cmd, arena, plan.zeros_start, plan.arena - plan.zeros_start, 0) };
        }
        let after = image_barriers(
            vk::ImageLayout::TRANSFER_DST_OPTIMAL,
            None,
            vk::AccessFlags::TRANSFER_WRITE,
            vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE,
        );
        let buffers = vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::TRANSFER_WRITE).dst_access_mask(
            vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::UNIFORM_READ,
        );
        barrier(device, cmd, COPY, SHADER, buffers, &after);
    }

    fn submit(&mut self) -> Result<(), ExecuteError> {
        let device = &self.device.raw;
        let buffers = [self.commands.buffer];
        let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
        // SAFETY: the fence is not in use (the device is idle); the command buffer is complete, and what it uses stays alive
        // until the fence is signalled: pools replace nothing while `pending`.
        unsafe {
            device.reset_fences(&[self.commands.fence]).named("vkResetFences")?;
            device.queue_submit(self.device.queue, &submit, self.commands.fence).named("vkQueueSubmit")?;
        }
        self.pending = true;
        Ok(())
    }

    /// Waits until the submission has ended.
    fn wait(&mut self, what: &str) -> Result<(), ExecuteError> {
        match self.wait_for(self.timeout) {
            Ok(()) => Ok(()),
            Err(vk::Result::TIMEOUT) => Err(ExecuteError::Timeout(format!(
                "vkWaitForFences: {what} has not ended after {} s",
                self.timeout.as_secs_f64()
            ))),
            Err(other) => Err(from_result("vkWaitForFences", other)),
        }
    }

    fn wait_for(&mut self, time: Duration) -> Result<(), vk::Result> {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence is alive and was submitted.
        let result = unsafe { self.device.raw.wait_for_fences(&[self.commands.fence], true, nanoseconds) };
        match result {
            Ok(()) | Err(vk::Result::ERROR_DEVICE_LOST) => self.pending = false,
            Err(_) => {}
        }
        result
    }

    fn kernel_time(&self) -> Result<Option<Duration>, ExecuteError> {
        if !self.commands.timed() {
            return Ok(None);
        }
        let mut ticks = [0u64; 2];
        // SAFETY: both queries were written by the run that ended; `ticks` has room for them.
        unsafe {
            self.device.raw.get_query_pool_results(
                self.commands.queries,
                0,
                &mut ticks,
                vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT,
            )
        }
        .named("vkGetQueryPoolResults")?;
        let period = f64::from(self.device.physical.info.timestamp_period_ns);
        // The counter may wrap at fewer than 64 bits; such a run has no time.
        let nanoseconds = ticks[1].checked_sub(ticks[0]).map(|t| t as f64 * period);
        Ok(nanoseconds.map(|ns| Duration::from_secs_f64(ns * 1e-9)))
    }

    /// Waits until nothing is in use, so that all can be destroyed; false if a run does not end.
    pub(super) fn settle(&mut self) -> bool {
        if self.pending {
            // It clears `pending` when the run has ended or the device is lost.
            let _ = self.wait_for(GRACE);
            if self.pending {
                return false;
            }
        }
        // SAFETY: no other thread uses the device's queue. A lost device counts as idle.
        let _ = unsafe { self.device.raw.device_wait_idle() };
        true
    }
}

const SHADER: vk::PipelineStageFlags = vk::PipelineStageFlags::COMPUTE_SHADER;
const COPY: vk::PipelineStageFlags = vk::PipelineStageFlags::TRANSFER;

fn barrier(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    from: vk::PipelineStageFlags,
    to: vk::PipelineStageFlags,
    memory: vk::MemoryBarrier<'_>,
    images: &[vk::ImageMemoryBarrier<'_>],
) {
    // SAFETY: only called while `cmd` is recorded; the images are alive until the run ended.
    unsafe { device.cmd_pipeline_barrier(cmd, from, to, vk::DependencyFlags::empty(), &[memory], &[], images) };
}

fn to_usize(bytes: u64) -> Result<usize, ExecuteError> {
    usize::try_from(bytes).map_err(|_| ExecuteError::OutOfMemory(format!("{bytes} bytes")))
}
