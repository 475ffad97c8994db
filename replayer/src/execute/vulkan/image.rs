//! Images: shape checks, the layout of their texels in the staging buffer, and a pool that uses them again.

use std::sync::Arc;

use ash::vk;

use super::{
    device::Device,
    error::Named,
    memory::Memory,
    native::{Component, NativeFormat, NativeImage, NativeView},
};
use crate::execute::ExecuteError;

/// Images kept beyond those that the current run uses.
const IMAGES_KEPT: usize = 32;
/// Bytes of memory in images kept beyond those that the current run uses.
const BYTES_KEPT: u64 = 256 << 20;

/// All that makes two images interchangeable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) format: NativeFormat,
    pub(super) view: NativeView,
    pub(super) extent: [u32; 3],
    pub(super) layers: u32,
    pub(super) levels: u32,
    /// It is written by modules, and read back.
    pub(super) storage: bool,
}

impl Shape {
    /// The shape of an image that contradicts neither itself nor the device's limits, with as many texels as it needs.
    pub(super) fn of(image: &NativeImage<'_>, storage: bool, device: &Device) -> Result<Self, ExecuteError> {
        let shape = Self {
            format: image.format,
            view: image.view,
            extent: image.extent,
            layers: image.layers,
            levels: image.levels,
            storage,
        };
        shape.check_consistent()?;
        shape.check_limits(device)?;
        let words = shape.words().ok_or_else(|| ExecuteError::InvalidJob(format!("{shape}: too many texels")))?;
        if u64::try_from(image.texels.len()) != Ok(words) {
            return Err(ExecuteError::InvalidJob(format!(
                "{shape}: {} words of texels, its levels take {words}",
                image.texels.len()
            )));
        }
        Ok(shape)
    }

    fn check_consistent(&self) -> Result<(), ExecuteError> {
        let invalid = |text: String| Err(ExecuteError::InvalidJob(format!("{self}: {text}")));
        let [x, y, z] = self.extent;
        if x == 0 || y == 0 || z == 0 || self.layers == 0 || self.levels == 0 {
            return invalid("extents, layers and levels start at 1".to_owned());
        }
        let (flat, deep) = match self.view {
            NativeView::D1 | NativeView::D1Array => (true, false),
            NativeView::D3 => (false, true),
            _ => (false, false),
        };
        if (flat && y != 1) || (!deep && z != 1) {
            return invalid("the extent is 1 in dimensions that are not there".to_owned());
        }
        match self.view {
            NativeView::D1 | NativeView::D2 | NativeView::D3 if self.layers != 1 => {
                return invalid("a view without layers has 1 layer".to_owned());
            }
            NativeView::Cube if self.layers != 6 => return invalid("a cube has 6 layers".to_owned()),
            NativeView::CubeArray if !self.layers.is_multiple_of(6) => {
                return invalid("an array of cubes has 6 layers a cube".to_owned());
            }
            NativeView::Cube | NativeView::CubeArray if x != y => {
                return invalid("the faces of a cube are squares".to_owned());
            }
            _ => {}
        }
        let most = 32 - x.max(y).max(z).leading_zeros();
        if self.levels > most {
            return invalid(format!("it has {most} levels at most"));
        }
        Ok(())
    }

    fn check_limits(&self, device: &Device) -> Result<(), ExecuteError> {
        let limits = &device.physical.limits;
        let (name, limit) = match self.view {
            NativeView::D1 | NativeView::D1Array => ("maxImageDimension1D", limits.max_image_dimension1_d),
            NativeView::D2 | NativeView::D2Array => ("maxImageDimension2D", limits.max_image_dimension2_d),
            NativeView::D3 => ("maxImageDimension3D", limits.max_image_dimension3_d),
            NativeView::Cube | NativeView::CubeArray => ("maxImageDimensionCube", limits.max_image_dimension_cube),
        };
        let largest = self.extent.into_iter().max().unwrap_or(0);
        if largest > limit {
            return Err(ExecuteError::Unsupported(format!("{self}: extent {largest}, {name} is {limit}")));
        }
        if self.layers > limits.max_image_array_layers {
            return Err(ExecuteError::Unsupported(format!(
                "{self}: {} layers, maxImageArrayLayers is {}",
                self.layers, limits.max_image_array_layers
            )));
        }
        if self.view == NativeView::CubeArray && device.enabled.core.image_cube_array != vk::TRUE {
            return Err(ExecuteError::Unsupported(format!("{self}: a cube array without imageCubeArray")));
        }
        Ok(())
    }

    fn level_extent(&self, level: u32) -> [u32; 3] {
        self.extent.map(|e| e.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Words of one level with all its layers.
    fn level_words(&self, level: u32) -> Option<u64> {
        let [x, y, z] = self.level_extent(level).map(u64::from);
        x.checked_mul(y)?.checked_mul(z)?.checked_mul(self.layers.into())?.checked_mul(self.format.words().into())
    }

    fn words(&self) -> Option<u64> {
        (0..self.levels).try_fold(0u64, |sum, level| sum.checked_add(self.level_words(level)?))
    }

    /// Where the levels go in a staging buffer from byte `start` on, and the first byte after them.
    pub(super) fn staging(&self, start: u64, alignment: u64) -> Option<Staging> {
        // A copy starts at a multiple of the texel's size, of 4, and best at one of the device's wish.
        let alignment = alignment.max(16);
        let mut end = start;
        let mut levels = Vec::new();
        for level in 0..self.levels {
            let offset = end.checked_next_multiple_of(alignment)?;
            let words = self.level_words(level)?;
            levels.push(StagedLevel { offset, words: usize::try_from(words).ok()? });
            end = offset.checked_add(words.checked_mul(4)?)?;
        }
        Some(Staging { levels, end })
    }

    fn aspect(levels: u32, layers: u32) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .level_count(levels)
            .layer_count(layers)
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.extent;
        write!(f, "image {:?} {:?} {x}x{y}x{z}, layers {}, levels {}", self.view, self.format, self.layers, self.levels)
    }
}

/// A level in the staging buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StagedLevel {
    /// Byte offset.
    pub(super) offset: u64,
    /// Words of the level.
    pub(super) words: usize,
}

/// An image in the staging buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Staging {
    pub(super) levels: Vec<StagedLevel>,
    pub(super) end: u64,
}

/// A view and an image's handle, destroyed when dropped.
struct Handles {
    device: Arc<Device>,
    image: vk::Image,
    views: Vec<([Component; 4], vk::ImageView)>,
}

impl Drop for Handles {
    fn drop(&mut self) {
        for (_, view) in &self.views {
            // SAFETY: made from this device, destroyed once, and the device is idle.
            unsafe { self.device.raw.destroy_image_view(*view, None) };
        }
        // SAFETY: as above, and its views are gone.
        unsafe { self.device.raw.destroy_image(self.image, None) };
    }
}

/// An image with memory and views.
pub(super) struct PooledImage {
    handles: Handles,
    pub(super) shape: Shape,
    /// Hash of the texels that it holds, once an upload of them was completed.
    content: Option<u128>,
    last_run: u64,
    bytes: u64,
    _memory: Memory,
}

impl PooledImage {
    fn new(device: &Arc<Device>, shape: Shape) -> Result<Self, ExecuteError> {
        let cube = matches!(shape.view, NativeView::Cube | NativeView::CubeArray);
        let flags = if cube { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { vk::ImageCreateFlags::empty() };
        let usage = if shape.storage {
            vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST
        } else {
            vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST
        };
        check_format(device, shape, usage, flags)?;
        let [width, height, depth] = shape.extent;
        let info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(shape.view.image_type())
            .format(shape.format.vk())
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(shape.levels)
            .array_layers(shape.layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        // SAFETY: the shape was checked against the limits, the format against this very use.
        let image = unsafe { device.raw.create_image(&info, None) }.named("vkCreateImage")?;
        let handles = Handles { device: device.clone(), image, views: Vec::new() };
        // SAFETY: the image was just made from this device.
        let needs = unsafe { device.raw.get_image_memory_requirements(image) };
        let wishes = [vk::MemoryPropertyFlags::DEVICE_LOCAL, vk::MemoryPropertyFlags::empty()];
        let memory = Memory::allocate(device, needs, &wishes, "an image")?;
        // SAFETY: the memory is as the image needs it, and bound once.
        unsafe { device.raw.bind_image_memory(image, memory.raw, 0) }.named("vkBindImageMemory")?;
        Ok(Self { handles, shape, content: None, last_run: 0, bytes: needs.size, _memory: memory })
    }

    pub(super) fn raw(&self) -> vk::Image {
        self.handles.image
    }

    /// A view of all levels and layers with a component mapping.
    pub(super) fn view(&mut self, components: [Component; 4]) -> Result<vk::ImageView, ExecuteError> {
        if let Some((_, view)) = self.handles.views.iter().find(|(c, _)| *c == components) {
            return Ok(*view);
        }
        let [r, g, b, a] = components.map(Component::vk);
        let info = vk::ImageViewCreateInfo::default()
            .image(self.handles.image)
            .view_type(self.shape.view.vk())
            .format(self.shape.format.vk())
            .components(vk::ComponentMapping { r, g, b, a })
            .subresource_range(self.range());
        // SAFETY: the image lives as long as its views (`Handles`), and was made for this type of view.
        let view = unsafe { self.handles.device.raw.create_image_view(&info, None) }.named("vkCreateImageView")?;
        self.handles.views.push((components, view));
        Ok(view)
    }

    /// The layout in which modules access it.
    pub(super) fn layout(&self) -> vk::ImageLayout {
        if self.shape.storage { vk::ImageLayout::GENERAL } else { vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL }
    }

    /// All levels and layers.
    pub(super) fn range(&self) -> vk::ImageSubresourceRange {
        Shape::aspect(self.shape.levels, self.shape.layers)
    }

    /// The copies between it and a staging buffer, either way.
    pub(super) fn copies(&self, staging: &Staging) -> Vec<vk::BufferImageCopy> {
        (0u32..)
            .zip(&staging.levels)
            .map(|(level, staged)| {
                let [width, height, depth] = self.shape.level_extent(level);
                vk::BufferImageCopy::default()
                    .buffer_offset(staged.offset)
                    .image_subresource(
                        vk::ImageSubresourceLayers::default()
                            .aspect_mask(vk::ImageAspectFlags::COLOR)
                            .mip_level(level)
                            .layer_count(self.shape.layers),
                    )
                    .image_extent(vk::Extent3D { width, height, depth })
            })
            .collect()
    }
}

fn check_format(
    device: &Device,
    shape: Shape,
    usage: vk::ImageUsageFlags,
    flags: vk::ImageCreateFlags,
) -> Result<(), ExecuteError> {
    // SAFETY: the physical device belongs to the instance that the device holds.
    let found = unsafe {
        device.instance.raw.get_physical_device_image_format_properties(
            device.physical.raw,
            shape.format.vk(),
            shape.view.image_type(),
            vk::ImageTiling::OPTIMAL,
            usage,
            flags,
        )
    };
    let most = match found {
        Ok(most) => most,
        Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => {
            return Err(ExecuteError::Unsupported(format!(
                "{shape}: the device does not {} {:?}",
                if shape.storage { "store" } else { "sample" },
                shape.format.vk()
            )));
        }
        Err(other) => return Err(super::error::from_result("vkGetPhysicalDeviceImageFormatProperties", other)),
    };
    let [x, y, z] = shape.extent;
    let fits = x <= most.max_extent.width
        && y <= most.max_extent.height
        && z <= most.max_extent.depth
        && shape.layers <= most.max_array_layers
        && shape.levels <= most.max_mip_levels;
    if !fits {
        return Err(ExecuteError::Unsupported(format!(
            "{shape}: the device has at most {}x{}x{}, layers {}, levels {} of this format",
            most.max_extent.width,
            most.max_extent.height,
            most.max_extent.depth,
            most.max_array_layers,
            most.max_mip_levels
        )));
    }
    let bytes = shape.words().and_then(|w| w.checked_mul(4));
    if bytes.is_none_or(|bytes| bytes > most.max_resource_size) {
        return Err(ExecuteError::Unsupported(format!("{shape}: maxResourceSize is {} bytes", most.max_resource_size)));
    }
    Ok(())
}

/// Images of past runs. One with the same shape and texels is used without an upload, one of the same shape is filled anew.
pub(super) struct Images {
    device: Arc<Device>,
    pub(super) pool: Vec<PooledImage>,
}

/// An image for the current run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assigned {
    /// Place in [`Images::pool`].
    pub(super) place: usize,
    /// Hash of the texels.
    pub(super) content: u128,
    /// Whether the texels have to be uploaded.
    pub(super) upload: bool,
}

impl Images {
    pub(super) fn new(device: &Arc<Device>) -> Self {
        Self { device: device.clone(), pool: Vec::new() }
    }

    /// Finds or makes an image for each of `wanted`. `run` is a number that no run before had. The device must be idle.
    pub(super) fn assign(&mut self, wanted: &[(Shape, &[u32])], run: u64) -> Result<Vec<Assigned>, ExecuteError> {
        self.evict(run);
        let hashes: Vec<u128> =
            wanted.iter().map(|(_, texels)| xxhash_rust::xxh3::xxh3_128(bytemuck::cast_slice(texels))).collect();
        // All that can stay first, so that none of them is filled with another's texels.
        let mut assigned: Vec<Option<Assigned>> = Vec::with_capacity(wanted.len());
        for ((shape, _), &content) in wanted.iter().zip(&hashes) {
            let place = self.pool.iter().position(|i| i.shape == *shape && i.content == Some(content));
            if let Some(place) = place {
                self.pool[place].last_run = run;
            }
            assigned.push(place.map(|place| Assigned { place, content, upload: false }));
        }
        let mut out = Vec::with_capacity(wanted.len());
        for (((shape, _), &content), found) in wanted.iter().zip(&hashes).zip(assigned) {
            if let Some(found) = found {
                out.push(found);
                continue;
            }
            let idle = (0..self.pool.len())
                .filter(|&i| self.pool[i].shape == *shape && self.pool[i].last_run != run)
                .min_by_key(|&i| self.pool[i].last_run);
            let place = match idle {
                Some(place) => place,
                None => {
                    let image = match PooledImage::new(&self.device, *shape) {
                        Err(ExecuteError::OutOfMemory(_)) if self.pool.iter().all(|i| i.last_run != run) => {
                            // What is kept for later may be what is missing now.
                            self.pool.clear();
                            PooledImage::new(&self.device, *shape)?
                        }
                        other => other?,
                    };
                    self.pool.push(image);
                    self.pool.len() - 1
                }
            };
            let image = &mut self.pool[place];
            image.last_run = run;
            image.content = None;
            out.push(Assigned { place, content, upload: true });
        }
        Ok(out)
    }

    /// Notes that the uploads of a run were completed. What a storage image holds after it is not kept track of.
    pub(super) fn uploaded(&mut self, assigned: &[Assigned]) {
        for image in assigned {
            let pooled = &mut self.pool[image.place];
            pooled.content = (!pooled.shape.storage).then_some(image.content);
        }
    }

    /// Drops the least recently used images above the limits.
    fn evict(&mut self, run: u64) {
        self.pool.sort_by_key(|i| std::cmp::Reverse(i.last_run));
        let mut bytes = 0u64;
        let mut count = 0usize;
        self.pool.retain(|image| {
            bytes = bytes.saturating_add(image.bytes);
            count += 1;
            // The newest may be of any size: the next run probably wants it again.
            image.last_run == run || count == 1 || (count <= IMAGES_KEPT && bytes <= BYTES_KEPT)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(view: NativeView, extent: [u32; 3], layers: u32, levels: u32) -> Shape {
        Shape { format: NativeFormat::R32Uint, view, extent, layers, levels, storage: false }
    }

    #[test]
    fn words_are_the_sum_of_the_levels() {
        assert_eq!(shape(NativeView::D2, [8, 4, 1], 1, 4).words(), Some(32 + 8 + 2 + 1));
        assert_eq!(shape(NativeView::D2Array, [5, 3, 1], 3, 2).words(), Some(3 * (15 + 2)));
        assert_eq!(shape(NativeView::D3, [4, 4, 4], 1, 3).words(), Some(64 + 8 + 1));
        let wide = Shape { format: NativeFormat::Rgba32Sfloat, ..shape(NativeView::D2, [2, 2, 1], 1, 1) };
        assert_eq!(wide.words(), Some(16));
        assert_eq!(shape(NativeView::D3, [u32::MAX; 3], 1, 1).words(), None);
    }

    #[test]
    fn levels_are_staged_at_aligned_offsets() {
        let staging = shape(NativeView::D2, [3, 1, 1], 1, 2).staging(4, 64);
        let expected = Staging {
            levels: vec![StagedLevel { offset: 64, words: 3 }, StagedLevel { offset: 128, words: 1 }],
            end: 132,
        };
        assert_eq!(staging, Some(expected));
    }

    #[test]
    fn contradictory_shapes_are_refused() {
        let text = |s: Shape| match s.check_consistent() {
            Err(ExecuteError::InvalidJob(text)) => text,
            other => panic!("expected InvalidJob, got {other:?}"),
        };
        assert!(text(shape(NativeView::D2, [0, 1, 1], 1, 1)).contains("start at 1"));
        assert!(text(shape(NativeView::D1, [4, 2, 1], 1, 1)).contains("dimensions that are not there"));
        assert!(text(shape(NativeView::D2, [4, 2, 2], 1, 1)).contains("dimensions that are not there"));
        assert!(text(shape(NativeView::D3, [4, 2, 2], 2, 1)).contains("1 layer"));
        assert!(text(shape(NativeView::Cube, [4, 4, 1], 5, 1)).contains("6 layers"));
        assert!(text(shape(NativeView::CubeArray, [4, 4, 1], 10, 1)).contains("6 layers a cube"));
        assert!(text(shape(NativeView::Cube, [4, 2, 1], 6, 1)).contains("squares"));
        assert!(text(shape(NativeView::D2, [4, 2, 1], 1, 4)).contains("3 levels at most"));
        assert_eq!(shape(NativeView::D2, [4, 2, 1], 1, 3).check_consistent(), Ok(()));
    }
}
