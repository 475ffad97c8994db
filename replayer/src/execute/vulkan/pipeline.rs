//! Shader modules, layouts and pipelines, kept in memory up to a limit.

use std::{collections::BTreeMap, ffi::CString, num::NonZeroUsize, path::Path, sync::Arc};

use ash::vk;
use lru::LruCache;
use rspirv::spirv::Capability;

use super::{
    capabilities,
    device::Device,
    disk_cache::{CacheState, DiskCache},
    error::Named,
    module_info::ModuleInfo,
};
use crate::execute::{ExecuteError, Module};

/// Modules kept; a pipeline needs its module no more.
const MODULES_KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);
/// Layouts kept beside those that pipelines hold.
const LAYOUTS_KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);

/// A shader module with what it declares.
pub(super) struct ShaderModule {
    device: Arc<Device>,
    raw: vk::ShaderModule,
    words: Arc<[u32]>,
    pub(super) info: ModuleInfo,
}

impl Drop for ShaderModule {
    fn drop(&mut self) {
        // SAFETY: made from this device and destroyed once; pipelines do not need it after they were made.
        unsafe { self.device.raw.destroy_shader_module(self.raw, None) };
    }
}

/// A binding of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LayoutBinding {
    pub(super) set: u32,
    pub(super) binding: u32,
    pub(super) kind: vk::DescriptorType,
    /// Number of descriptors, more than 1 for an array.
    pub(super) count: u32,
    /// Some of them are not bound.
    pub(super) partial: bool,
}

/// What determines a layout: the type of each binding, and the bytes of push constants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LayoutKey {
    /// Sorted by set and binding.
    pub(super) bindings: Vec<LayoutBinding>,
    pub(super) push_constant_bytes: u32,
}

/// A pipeline layout, its set layouts, and the one group of sets that each run fills anew.
pub(super) struct Layout {
    device: Arc<Device>,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    pub(super) raw: vk::PipelineLayout,
    pool: vk::DescriptorPool,
    /// One for each set from 0 on.
    pub(super) sets: Vec<vk::DescriptorSet>,
}

impl Layout {
    fn new(device: &Arc<Device>, key: &LayoutKey) -> Result<Self, ExecuteError> {
        // What is there so far is destroyed on the way out when a later call fails.
        let mut layout = Self {
            device: device.clone(),
            set_layouts: Vec::new(),
            raw: vk::PipelineLayout::null(),
            pool: vk::DescriptorPool::null(),
            sets: Vec::new(),
        };
        let sets = key.bindings.iter().map(|bound| bound.set + 1).max().unwrap_or(0);
        for set in 0..sets {
            let in_set = || key.bindings.iter().filter(|bound| bound.set == set);
            let bindings: Vec<_> = in_set()
                .map(|bound| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(bound.binding)
                        .descriptor_type(bound.kind)
                        .descriptor_count(bound.count)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let flags: Vec<_> = in_set()
                .map(|bound| match bound.partial {
                    true => vk::DescriptorBindingFlags::PARTIALLY_BOUND,
                    false => vk::DescriptorBindingFlags::empty(),
                })
                .collect();
            let mut flags_info = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
            let mut info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            if in_set().any(|bound| bound.partial) {
                info = info.push_next(&mut flags_info);
            }
            // SAFETY: the bindings are distinct, and they and their flags live to the end of the call; a plan has partial
            // bindings only where the device has the feature for them on.
            let raw =
                unsafe { device.raw.create_descriptor_set_layout(&info, None) }.named("vkCreateDescriptorSetLayout")?;
            layout.set_layouts.push(raw);
        }
        let ranges =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(key.push_constant_bytes)];
        let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layout.set_layouts);
        if key.push_constant_bytes > 0 {
            info = info.push_constant_ranges(&ranges);
        }
        // SAFETY: the set layouts are alive; the number of sets and bytes were checked against the limits.
        layout.raw = unsafe { device.raw.create_pipeline_layout(&info, None) }.named("vkCreatePipelineLayout")?;
        if sets > 0 {
            let mut counts: BTreeMap<vk::DescriptorType, u32> = BTreeMap::new();
            for bound in &key.bindings {
                *counts.entry(bound.kind).or_default() += bound.count;
            }
            let sizes: Vec<_> = counts
                .into_iter()
                .map(|(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count })
                .collect();
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(sets).pool_sizes(&sizes);
            // SAFETY: the sizes live to the end of the call and none is zero.
            layout.pool = unsafe { device.raw.create_descriptor_pool(&info, None) }.named("vkCreateDescriptorPool")?;
            let info =
                vk::DescriptorSetAllocateInfo::default().descriptor_pool(layout.pool).set_layouts(&layout.set_layouts);
            // SAFETY: the pool has room for exactly these sets.
            layout.sets = unsafe { device.raw.allocate_descriptor_sets(&info) }.named("vkAllocateDescriptorSets")?;
        }
        Ok(layout)
    }
}

impl Drop for Layout {
    fn drop(&mut self) {
        let device = &self.device.raw;
        // SAFETY: made from this device, destroyed once (null is ignored), and the device is idle. Sets go with the pool.
        unsafe {
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_pipeline_layout(self.raw, None);
            for set in &self.set_layouts {
                device.destroy_descriptor_set_layout(*set, None);
            }
        }
    }
}

/// A compute pipeline with its layout.
pub(super) struct Pipeline {
    pub(super) raw: vk::Pipeline,
    pub(super) layout: Arc<Layout>,
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: made from this device, destroyed once, and the device is idle.
        unsafe { self.layout.device.raw.destroy_pipeline(self.raw, None) };
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PipelineKey {
    module: u64,
    entry: String,
    specialization: Vec<(u32, u32)>,
    layout: LayoutKey,
}

/// How often objects were made and found again, since the executor was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipelineCounts {
    /// Shader modules made.
    pub modules_made: u64,
    /// Layouts made.
    pub layouts_made: u64,
    /// Pipelines made.
    pub pipelines_made: u64,
    /// Runs that found their pipeline.
    pub pipelines_reused: u64,
    /// Pipelines at hand now.
    pub pipelines_kept: usize,
}

/// All modules, layouts and pipelines at hand.
pub(super) struct Pipelines {
    device: Arc<Device>,
    modules: LruCache<u64, Arc<ShaderModule>>,
    layouts: LruCache<LayoutKey, Arc<Layout>>,
    pipelines: LruCache<PipelineKey, Arc<Pipeline>>,
    disk: Option<DiskCache>,
    counts: PipelineCounts,
}

impl Pipelines {
    pub(super) fn new(
        device: &Arc<Device>,
        kept: NonZeroUsize,
        cache_dir: Option<&Path>,
    ) -> Result<Self, ExecuteError> {
        Ok(Self {
            device: device.clone(),
            modules: LruCache::new(MODULES_KEPT),
            layouts: LruCache::new(LAYOUTS_KEPT),
            pipelines: LruCache::new(kept),
            disk: cache_dir.map(|dir| DiskCache::open(device, dir)).transpose()?,
            counts: PipelineCounts::default(),
        })
    }

    pub(super) fn counts(&self) -> PipelineCounts {
        PipelineCounts { pipelines_kept: self.pipelines.len(), ..self.counts }
    }

    pub(super) fn cache_state(&self) -> CacheState {
        self.disk.as_ref().map_or(CacheState::Off, |disk| disk.state.clone())
    }

    /// Writes the cache on disk; the reason if that failed.
    pub(super) fn flush(&mut self) -> Option<String> {
        self.disk.as_mut().and_then(DiskCache::flush)
    }

    /// The shader module of a module that this device can run.
    pub(super) fn module(&mut self, module: &Module) -> Result<Arc<ShaderModule>, ExecuteError> {
        if let Some(found) = self.modules.get(&module.key) {
            if !Arc::ptr_eq(&found.words, &module.words) && found.words != module.words {
                return Err(ExecuteError::InvalidJob(format!(
                    "two modules with different words have the key 0x{:016x}",
                    module.key
                )));
            }
            return Ok(found.clone());
        }
        let info = ModuleInfo::read(&module.words)?;
        check_device(&self.device, &info)?;
        let create = vk::ShaderModuleCreateInfo::default().code(&module.words);
        // SAFETY: the words have the form of SPIR-V, with capabilities that are on. That they are valid in full is up to
        // whoever made them, as with any driver.
        let raw = unsafe { self.device.raw.create_shader_module(&create, None) }.named("vkCreateShaderModule")?;
        let made = Arc::new(ShaderModule { device: self.device.clone(), raw, words: module.words.clone(), info });
        self.counts.modules_made += 1;
        self.modules.put(module.key, made.clone());
        Ok(made)
    }

    /// The pipeline of an entry point that the module has, with specialization constants that fit it.
    pub(super) fn pipeline(
        &mut self,
        module: &ShaderModule,
        module_key: u64,
        entry: &str,
        specialization: &[(u32, u32)],
        layout: LayoutKey,
    ) -> Result<Arc<Pipeline>, ExecuteError> {
        // Constants that the module lacks change nothing, nor does their order.
        let mut specialization: Vec<(u32, u32)> =
            specialization.iter().copied().filter(|(id, _)| module.info.spec_bits.contains_key(id)).collect();
        specialization.sort_unstable();
        let key = PipelineKey { module: module_key, entry: entry.to_owned(), specialization, layout };
        if let Some(found) = self.pipelines.get(&key) {
            self.counts.pipelines_reused += 1;
            return Ok(found.clone());
        }
        let layout = match self.layouts.get(&key.layout) {
            Some(found) => found.clone(),
            None => {
                let made = Arc::new(Layout::new(&self.device, &key.layout)?);
                self.counts.layouts_made += 1;
                self.layouts.put(key.layout.clone(), made.clone());
                made
            }
        };
        let made = Arc::new(self.create(module, &key, layout)?);
        self.counts.pipelines_made += 1;
        self.pipelines.put(key, made.clone());
        Ok(made)
    }

    fn create(
        &mut self,
        module: &ShaderModule,
        key: &PipelineKey,
        layout: Arc<Layout>,
    ) -> Result<Pipeline, ExecuteError> {
        let name = CString::new(key.entry.as_str())
            .map_err(|_| ExecuteError::InvalidJob("the entry point's name has a zero in it".to_owned()))?;
        let mut entries = Vec::with_capacity(key.specialization.len());
        let mut data = Vec::with_capacity(key.specialization.len());
        for (place, &(id, value)) in (0u32..).zip(&key.specialization) {
            entries.push(vk::SpecializationMapEntry { constant_id: id, offset: 4 * place, size: 4 });
            data.push(value);
        }
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(&data));
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module.raw)
            .name(&name)
            .specialization_info(&specialization);
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.raw)];
        // A cache in memory grows without end; with states at random it is of no use on disk either.
        let limit = self.pipelines.cap().get() as u64;
        let disk = self.disk.as_mut().filter(|_| self.counts.pipelines_made < limit);
        let cache = disk.as_ref().map_or(vk::PipelineCache::null(), |disk| disk.raw);
        // SAFETY: the module has this entry point, its interface fits the layout, and the constants' sizes fit its types
        // (checked by the caller); all that `info` points to lives to the end of the call.
        let made = unsafe { self.device.raw.create_compute_pipelines(cache, &info, None) };
        let raw = match made {
            Ok(pipelines) => pipelines.first().copied().unwrap_or_default(),
            Err((_, result)) => return Err(super::error::from_result("vkCreateComputePipelines", result)),
        };
        if let Some(disk) = disk {
            disk.note_made();
        }
        Ok(Pipeline { raw, layout })
    }
}

/// Refuses a module whose version, capabilities or float modes the device lacks.
fn check_device(device: &Device, info: &ModuleInfo) -> Result<(), ExecuteError> {
    // As the specification pairs them.
    let newest = match device.physical.version() {
        (1, 1) => (1, 3),
        (1, 2) => (1, 5),
        _ => (1, 6),
    };
    if info.version > newest {
        return Err(ExecuteError::Unsupported(format!(
            "SPIR-V {}.{}, the device takes up to {}.{}",
            info.version.0, info.version.1, newest.0, newest.1
        )));
    }
    for &number in &info.capabilities {
        if !Capability::from_u32(number).is_some_and(|c| capabilities::supports(device, c)) {
            return Err(ExecuteError::Unsupported(format!(
                "SPIR-V capability {} on {}",
                ModuleInfo::capability_name(number),
                device.physical.info.name
            )));
        }
    }
    for &(_, mode, width) in &info.float_modes {
        if !capabilities::supports_float_mode(device, mode, width) {
            return Err(ExecuteError::Unsupported(format!(
                "SPIR-V execution mode {mode:?} {width} on {}",
                device.physical.info.name
            )));
        }
    }
    Ok(())
}
