//! Bindings in words.

use capture_format::{BoundResource, ComputeBinding};

/// What is bound, in a line.
#[must_use]
pub fn describe(binding: &ComputeBinding) -> String {
    match &binding.resource {
        BoundResource::Image(image) => {
            let kind = match (image.storage, image.combined) {
                (true, _) => "storage image",
                (false, true) => "image with a sampler",
                (false, false) => "image",
            };
            let [x, y, z] = image.extent;
            let (view, format, layers, levels) = (image.view, image.format, image.layers, image.levels);
            format!("{kind} {view} {x}×{y}×{z}, {layers} layers, {levels} levels, {format}")
        }
        BoundResource::Sampler(_) => "sampler".to_owned(),
        BoundResource::Buffer(buffer) => {
            let kind = if buffer.uniform { "uniform buffer" } else { "storage buffer" };
            let layout = buffer.layout;
            let mut text = format!("{kind} of {} words", buffer.words);
            if buffer.output {
                text += &format!(", samples of {} × {}", layout.channels, layout.element);
            }
            if let Some([x, y, z]) = layout.grid {
                text += &format!(" in {x}×{y}×{z}");
            }
            text
        }
    }
}
