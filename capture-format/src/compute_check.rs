//! What holds for every compute dispatch, whichever form it is stored in.

use std::{collections::HashSet, fmt};

use crate::{
    BoundBuffer, BoundImage, BoundResource, ComputeBinding, ComputeDispatch, DispatchProblem, ElementType, HostView,
    Words,
};

fn problem<T>(field: &'static str, problem: impl fmt::Display) -> Result<T, DispatchProblem> {
    Err(DispatchProblem { field, problem: problem.to_string() })
}

/// Levels of the largest image that Vulkan can describe.
const MAX_LEVELS: u32 = 32;

impl ComputeDispatch {
    /// Checks that the parts of the dispatch fit together. Every reader and writer of this crate does.
    ///
    /// * `name` and `entry` are not empty, and neither holds a zero character; the module is not empty;
    /// * specialization constants have distinct ids, sizes of 1, 2, 4 or 8 bytes, and values that fit;
    /// * no place (set, binding, element) is bound twice;
    /// * extents, layers and levels of an image are at least 1 and fit its view; a storage image has one level and is not combined with a sampler;
    /// * contents have the size that the image or buffer has, where the texels' size is known;
    /// * only storage images and storage buffers are outputs, and only outputs have contents after the dispatch; those of a
    ///   dispatch that has not ended are not there;
    /// * the layout of an output buffer gives its size.
    ///
    /// Whether the module is valid and fits the bindings is left to who runs it.
    ///
    /// # Errors
    /// The first part, in the order above, for which this does not hold.
    pub fn check(&self) -> Result<(), DispatchProblem> {
        if self.name.is_empty() {
            return problem("name", "a dispatch needs a name");
        }
        if self.entry.is_empty() || self.entry.contains('\0') {
            return problem("entry", "expected the name of an entry point");
        }
        if self.module.is_empty() {
            return problem("module", "a compute dispatch needs a SPIR-V module");
        }
        self.check_specialization()?;
        let mut places = HashSet::new();
        for (number, binding) in self.bindings.iter().enumerate() {
            if !places.insert((binding.set, binding.binding, binding.element)) {
                return problem("bindings", format_args!("{number} ({binding}): is bound twice"));
            }
            binding
                .check(self.ended)
                .or_else(|text| problem("bindings", format_args!("{number} ({binding}): {text}")))?;
        }
        Ok(())
    }

    fn check_specialization(&self) -> Result<(), DispatchProblem> {
        let mut ids = HashSet::new();
        for constant in &self.specialization {
            let (id, bytes) = (constant.id, constant.bytes);
            if !ids.insert(id) {
                return problem("specialization", format_args!("constant {id} is given twice"));
            }
            if !matches!(bytes, 1 | 2 | 4 | 8) {
                return problem("specialization", format_args!("constant {id}: {bytes} bytes, expected 1, 2, 4 or 8"));
            }
            if bytes < 8 && constant.value >> (u32::from(bytes) * 8) != 0 {
                let value = constant.value;
                return problem("specialization", format_args!("constant {id}: {value:#x} does not fit {bytes} bytes"));
            }
        }
        Ok(())
    }
}

impl ComputeBinding {
    /// Checks what [`ComputeDispatch::check`] does of a binding alone. `ended`: its dispatch has ended.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, ended: bool) -> Result<(), String> {
        match &self.resource {
            BoundResource::Image(image) => check_image(image)?,
            BoundResource::Buffer(buffer) => check_buffer(buffer)?,
            BoundResource::Sampler(_) => {}
        }
        let (_, after) = self.contents();
        if after.is_some() && !self.is_output() {
            return Err("has contents after the dispatch, but is no output".to_owned());
        }
        if after.is_some() && !ended {
            return Err("has contents after a dispatch that has not ended".to_owned());
        }
        Ok(())
    }
}

fn check_contents(size: Option<u64>, contents: [(&'static str, Option<&Words>); 2]) -> Result<(), String> {
    for (when, words) in contents {
        if let (Some(size), Some(words)) = (size, words)
            && words.len() as u64 != size
        {
            return Err(format!("expected {size} words {when} the dispatch, found {}", words.len()));
        }
    }
    Ok(())
}

fn check_image(image: &BoundImage) -> Result<(), String> {
    let [x, y, z] = image.extent;
    if x == 0 || y == 0 || z == 0 || image.layers == 0 || image.levels == 0 {
        return Err("extents, layers and levels start at 1".to_owned());
    }
    if image.levels > MAX_LEVELS {
        return Err(format!("{} levels, expected at most {MAX_LEVELS}", image.levels));
    }
    let (flat, deep) = match image.view {
        HostView::D1 | HostView::D1Array => (true, false),
        HostView::D3 => (false, true),
        HostView::D2 | HostView::D2Array | HostView::Cube | HostView::CubeArray => (false, false),
    };
    if (flat && y != 1) || (!deep && z != 1) {
        return Err(format!("a view of type {} has extent 1 in the dimensions that it lacks", image.view));
    }
    let layers = image.layers;
    match image.view {
        HostView::D1 | HostView::D2 | HostView::D3 if layers != 1 => {
            return Err(format!("a view of type {} has 1 layer, found {layers}", image.view));
        }
        HostView::Cube if layers != 6 => return Err(format!("a cube has 6 layers, found {layers}")),
        HostView::CubeArray if !layers.is_multiple_of(6) => {
            return Err(format!("an array of cubes has 6 layers a cube, found {layers}"));
        }
        _ => {}
    }
    if image.storage && image.levels != 1 {
        return Err(format!("a storage image is one level, found {}", image.levels));
    }
    if image.storage && image.combined {
        return Err("a storage image is not combined with a sampler".to_owned());
    }
    if image.output && !image.storage {
        return Err("only storage images are outputs".to_owned());
    }
    let size = image.content_words();
    if size.is_none() && image.format.texel_words().is_some() {
        return Err("the number of texels does not fit 64 bits".to_owned());
    }
    check_contents(size, [("before", image.before.as_ref()), ("after", image.after.as_ref())])
}

fn check_buffer(buffer: &BoundBuffer) -> Result<(), String> {
    if buffer.output && buffer.uniform {
        return Err("only storage buffers are outputs".to_owned());
    }
    let layout = buffer.layout;
    if !(1..=4).contains(&layout.channels) {
        return Err(format!("{} words a sample, expected 1 to 4", layout.channels));
    }
    if matches!(layout.element, ElementType::Texel(_)) && layout.channels != 1 {
        return Err(format!("{} words a sample, a packed texel is one", layout.channels));
    }
    let channels = u64::from(layout.channels);
    match layout.grid {
        None if !buffer.words.is_multiple_of(channels) => {
            return Err(format!("{} words are no whole number of samples of {channels}", buffer.words));
        }
        None => {}
        Some(grid) => {
            let words = grid.iter().try_fold(channels, |product, &size| product.checked_mul(u64::from(size)));
            if words != Some(buffer.words) {
                return Err(format!(
                    "a grid of {grid:?} with {channels} words a sample is not the {} words of the buffer",
                    buffer.words
                ));
            }
        }
    }
    check_contents(Some(buffer.words), [("before", buffer.before.as_ref()), ("after", buffer.after.as_ref())])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{BoundSampler, BufferLayout, GuestShader, HostFormat, SpecializationValue, TexelFormat};

    /// A dispatch with a binding of each kind.
    pub(crate) fn dispatch() -> ComputeDispatch {
        let at = |binding, resource| ComputeBinding { set: 0, binding, element: 0, resource };
        let image = BoundImage {
            storage: false,
            descriptor: Some([0, 0x02b0_0000, 0, 0x9000_0fac, 0, 0, 0, 0]),
            combined: false,
            sampler: Some([0x92, 0, 0x0050_0000, 0]),
            format: HostFormat::R32_UINT,
            view: HostView::D2,
            extent: [4, 2, 1],
            layers: 1,
            levels: 2,
            before: Some(vec![7; 10].into()),
            output: false,
            after: None,
        };
        let stored = BoundImage {
            storage: true,
            levels: 1,
            before: None,
            output: true,
            after: Some(vec![5; 8].into()),
            ..image.clone()
        };
        let buffer = BoundBuffer {
            uniform: false,
            descriptor: Some([1, 2, 3, 4]),
            words: 8,
            before: Some(vec![1; 8].into()),
            output: true,
            layout: BufferLayout { element: ElementType::Float, channels: 2, grid: Some([2, 2, 1]) },
            after: Some(vec![2; 8].into()),
        };
        ComputeDispatch {
            name: "filter".to_owned(),
            module: vec![0x0723_0203, 1, 2, 3, 4].into(),
            entry: "main".to_owned(),
            specialization: vec![SpecializationValue { id: 3, value: 0xffff_ffff, bytes: 4 }],
            push_constants: vec![1, 2].into(),
            groups: [1, 2, 3],
            bindings: vec![
                at(0, BoundResource::Image(image)),
                at(1, BoundResource::Sampler(BoundSampler { descriptor: Some([9, 8, 7, 6]) })),
                at(2, BoundResource::Buffer(buffer)),
                at(3, BoundResource::Image(stored)),
            ],
            guest_shader: GuestShader { hash: Some(u64::MAX), isa: vec![0xbf81_0000].into() },
            labels: vec!["frame 7".to_owned(), "bloom".to_owned()],
            ended: true,
        }
    }

    fn image(dispatch: &mut ComputeDispatch, number: usize) -> &mut BoundImage {
        match &mut dispatch.bindings[number].resource {
            BoundResource::Image(image) => image,
            other => panic!("expected an image, found {other:?}"),
        }
    }

    fn buffer(dispatch: &mut ComputeDispatch) -> &mut BoundBuffer {
        match &mut dispatch.bindings[2].resource {
            BoundResource::Buffer(buffer) => buffer,
            other => panic!("expected a buffer, found {other:?}"),
        }
    }

    #[test]
    fn contradictions_are_named() {
        assert_eq!(dispatch().check(), Ok(()));
        type Case = (&'static str, fn(&mut ComputeDispatch), &'static str);
        let cases: &[Case] = &[
            ("name", |d| d.name.clear(), "a dispatch needs a name"),
            ("entry", |d| d.entry = "ma\0in".to_owned(), "expected the name of an entry point"),
            ("module", |d| d.module = Words::default(), "a compute dispatch needs a SPIR-V module"),
            ("specialization", |d| d.specialization.push(d.specialization[0]), "constant 3 is given twice"),
            ("specialization", |d| d.specialization[0].bytes = 3, "constant 3: 3 bytes, expected 1, 2, 4 or 8"),
            ("specialization", |d| d.specialization[0].bytes = 2, "constant 3: 0xffffffff does not fit 2 bytes"),
            ("bindings", |d| d.bindings[3].binding = 0, "3 (set 0 binding 0): is bound twice"),
            ("bindings", |d| image(d, 0).extent[1] = 0, "0 (set 0 binding 0): extents, layers and levels start at 1"),
            ("bindings", |d| image(d, 0).levels = 33, "0 (set 0 binding 0): 33 levels, expected at most 32"),
            (
                "bindings",
                |d| image(d, 0).extent[2] = 2,
                "0 (set 0 binding 0): a view of type 2d has extent 1 in the dimensions that it lacks",
            ),
            ("bindings", |d| image(d, 0).layers = 2, "0 (set 0 binding 0): a view of type 2d has 1 layer, found 2"),
            ("bindings", |d| image(d, 0).view = HostView::Cube, "0 (set 0 binding 0): a cube has 6 layers, found 1"),
            ("bindings", |d| image(d, 0).output = true, "0 (set 0 binding 0): only storage images are outputs"),
            ("bindings", |d| image(d, 3).levels = 2, "3 (set 0 binding 3): a storage image is one level, found 2"),
            (
                "bindings",
                |d| image(d, 0).before = Some(vec![0; 9].into()),
                "0 (set 0 binding 0): expected 10 words before the dispatch, found 9",
            ),
            (
                "bindings",
                |d| {
                    image(d, 0).extent = [u32::MAX; 3];
                    image(d, 0).view = HostView::D3;
                },
                "0 (set 0 binding 0): the number of texels does not fit 64 bits",
            ),
            (
                "bindings",
                |d| image(d, 3).output = false,
                "3 (set 0 binding 3): has contents after the dispatch, but is no output",
            ),
            ("bindings", |d| d.ended = false, "2 (set 0 binding 2): has contents after a dispatch that has not ended"),
            ("bindings", |d| buffer(d).uniform = true, "2 (set 0 binding 2): only storage buffers are outputs"),
            ("bindings", |d| buffer(d).layout.channels = 5, "2 (set 0 binding 2): 5 words a sample, expected 1 to 4"),
            (
                "bindings",
                |d| buffer(d).layout.element = ElementType::Texel(TexelFormat::R10G11B11_FLOAT),
                "2 (set 0 binding 2): 2 words a sample, a packed texel is one",
            ),
            (
                "bindings",
                |d| buffer(d).layout.grid = Some([3, 1, 1]),
                "2 (set 0 binding 2): a grid of [3, 1, 1] with 2 words a sample is not the 8 words of the buffer",
            ),
            (
                "bindings",
                |d| buffer(d).layout = BufferLayout { channels: 3, ..BufferLayout::default() },
                "2 (set 0 binding 2): 8 words are no whole number of samples of 3",
            ),
            (
                "bindings",
                |d| buffer(d).after = Some(Words::default()),
                "2 (set 0 binding 2): expected 8 words after the dispatch, found 0",
            ),
        ];
        for (field, change, problem) in cases {
            let mut changed = dispatch();
            change(&mut changed);
            assert_eq!(changed.check(), Err(DispatchProblem { field, problem: (*problem).to_owned() }));
        }
    }

    #[test]
    fn an_image_of_an_unknown_format_has_contents_of_any_size() {
        let mut changed = dispatch();
        image(&mut changed, 0).format = HostFormat(146);
        assert_eq!(changed.check(), Ok(()));
    }
}
