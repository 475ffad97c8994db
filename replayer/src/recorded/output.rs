//! Outputs as samples: how the words of a buffer or an image are compared and shown.

use capture_format::{
    BoundBuffer, BoundImage, BoundResource, ComputeBinding, ElementType, HostFormat, NumericKind, TexelFormat,
};

use super::refuse;
use crate::{compare::Number, execute::embedded::half_to_f32, refusal::Refusal};

/// How an output is laid out as samples of four channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples {
    /// Its place and what it is, for people.
    pub name: String,
    /// Samples in x, y, z.
    pub grid: [u32; 3],
    /// How the channels are read.
    pub number: Number,
    /// Channels that are there, in bits 0 to 3.
    pub channels: u8,
    unpack: Unpack,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unpack {
    /// As many words a sample, as they are.
    Words(u8),
    /// A texel of a guest format.
    Texel(TexelFormat),
    /// Halves, two a word.
    Halves(u8),
    /// Fields of a word, from the lowest bit up.
    Fields([u8; 4]),
}

/// How an output is shown.
///
/// An image is read by the format of its T# where that is a packed one of one word, else by its host format; UNORM formats are
/// compared by their codes. A buffer is read by its layout.
///
/// # Errors
/// An image of a format that is not known here, and a buffer of more than 2^32 − 1 samples.
pub fn samples(binding: &ComputeBinding) -> Result<Samples, Refusal> {
    match &binding.resource {
        BoundResource::Image(image) => image_samples(binding, image),
        BoundResource::Buffer(buffer) => buffer_samples(binding, buffer),
        BoundResource::Sampler(_) => Err(refuse(&format!("binding {binding}"), "a sampler", "is no output")),
    }
}

impl Samples {
    /// Four words a sample. A length that is no whole number of samples leaves the rest out.
    #[must_use]
    pub fn unpack(&self, words: &[u32]) -> Vec<u32> {
        match self.unpack {
            Unpack::Words(4) => words.to_vec(),
            Unpack::Words(channels) => {
                let chunks = words.chunks_exact(usize::from(channels.max(1)));
                chunks.flat_map(|sample| [0, 1, 2, 3].map(|c| sample.get(c).copied().unwrap_or(0))).collect()
            }
            Unpack::Texel(format) => {
                let kept =
                    |words: [u32; 4]| [0, 1, 2, 3].map(|c| if self.channels >> c & 1 == 1 { words[c] } else { 0 });
                words.iter().flat_map(|&word| kept(format.unpack(word))).collect()
            }
            Unpack::Halves(channels) => {
                let chunks = words.chunks_exact(usize::from(channels).div_ceil(2));
                let half = |sample: &[u32], c: usize| {
                    sample.get(c / 2).map_or(0, |word| half_to_f32((word >> (c % 2 * 16)) & 0xffff))
                };
                chunks.flat_map(|sample| [0, 1, 2, 3].map(|c| half(sample, c))).collect()
            }
            Unpack::Fields(bits) => words
                .iter()
                .flat_map(|&word| {
                    let mut shift = 0;
                    bits.map(|bits| {
                        let field = u64::from(word) >> shift & ((1 << bits) - 1);
                        shift += u32::from(bits);
                        field as u32
                    })
                })
                .collect(),
        }
    }

    /// The channels that are there, for each sample of a comparison.
    #[must_use]
    pub fn measured(&self) -> Option<Vec<u8>> {
        let count = self.grid.iter().fold(1usize, |n, &size| n.saturating_mul(size as usize));
        (self.channels != 0xf).then(|| vec![self.channels; count])
    }
}

fn of_texel(format: TexelFormat) -> (Number, u8, Unpack) {
    let number = match format.kind() {
        NumericKind::Uint => Number::Uint,
        NumericKind::Sint => Number::Sint,
        NumericKind::Unorm | NumericKind::Snorm | NumericKind::Uscaled | NumericKind::Sscaled | NumericKind::Float => {
            Number::Float
        }
    };
    let channels = (1 << format.channels().len()) - 1;
    (number, channels, Unpack::Texel(format))
}

fn of_host(format: HostFormat) -> Option<(Number, u8, Unpack)> {
    if let Some(guest) = format.guest() {
        return Some(of_texel(guest));
    }
    Some(match format.0 {
        37 | 41 => (Number::Uint, 0xf, Unpack::Fields([8; 4])),
        64 => (Number::Uint, 0xf, Unpack::Fields([10, 10, 10, 2])),
        83 => (Number::Float, 0b11, Unpack::Halves(2)),
        97 => (Number::Float, 0xf, Unpack::Halves(4)),
        99 => (Number::Sint, 1, Unpack::Words(1)),
        100 => (Number::Float, 1, Unpack::Words(1)),
        101 => (Number::Uint, 0b11, Unpack::Words(2)),
        103 => (Number::Float, 0b11, Unpack::Words(2)),
        107 => (Number::Uint, 0xf, Unpack::Words(4)),
        109 => (Number::Float, 0xf, Unpack::Words(4)),
        123 => (Number::Uint, 0xf, Unpack::Fields([9, 9, 9, 5])),
        _ => return None,
    })
}

fn image_samples(binding: &ComputeBinding, image: &BoundImage) -> Result<Samples, Refusal> {
    // A T# of R32_UINT says no more than the host format.
    let guest = image.guest_format().filter(|_| image.format.texel_words() == Some(1));
    let guest = guest.filter(|&format| format != TexelFormat::R32_UINT);
    let found = guest.map(of_texel).or_else(|| of_host(image.format));
    let (number, channels, unpack) = found.ok_or_else(|| {
        refuse(
            &format!("binding {binding}"),
            image.format,
            "outputs of this host format are recorded, but not compared",
        )
    })?;
    let [x, y, z] = image.extent;
    let slices = z.checked_mul(image.layers).ok_or_else(|| {
        refuse(&format!("binding {binding}"), format!("{} layers", image.layers), "too many to be shown as one image")
    })?;
    let format = guest.map_or_else(|| image.format.to_string(), |format| format.to_string());
    let name = format!("{binding}: image {x}x{y}x{slices}, {format}");
    Ok(Samples { name, grid: [x, y, slices], number, channels, unpack })
}

fn buffer_samples(binding: &ComputeBinding, buffer: &BoundBuffer) -> Result<Samples, Refusal> {
    let layout = buffer.layout;
    let words = u64::from(layout.channels.max(1));
    let grid = match layout.grid {
        Some(grid) => grid,
        None => {
            let count = u32::try_from(buffer.words / words).map_err(|_| {
                let value = format!("{} words", buffer.words);
                refuse(&format!("binding {binding}"), value, "a buffer in one row has at most 2^32 - 1 samples")
            })?;
            [count, 1, 1]
        }
    };
    let all = (1u8 << layout.channels.min(4)) - 1;
    let plain = |number| (number, all, Unpack::Words(layout.channels));
    let (number, channels, unpack) = match layout.element {
        ElementType::Uint => plain(Number::Uint),
        ElementType::Sint => plain(Number::Sint),
        ElementType::Float => plain(Number::Float),
        ElementType::Texel(format) => of_texel(format),
    };
    let name = format!("{binding}: buffer of {} words, {} by {}", buffer.words, layout.element, layout.channels);
    Ok(Samples { name, grid, number, channels, unpack })
}

#[cfg(test)]
mod tests {
    use capture_format::{BufferLayout, HostView};

    use super::*;

    fn image(format: HostFormat, descriptor: Option<[u32; 8]>) -> Samples {
        let image = BoundImage {
            storage: true,
            descriptor,
            combined: false,
            sampler: None,
            format,
            view: HostView::D2Array,
            extent: [4, 3, 1],
            layers: 2,
            levels: 1,
            before: None,
            output: true,
            after: None,
        };
        let binding = ComputeBinding { set: 1, binding: 2, element: 0, resource: BoundResource::Image(image) };
        samples(&binding).unwrap()
    }

    #[test]
    fn images_are_read_by_their_guest_format_where_it_is_packed() {
        let guest = image(HostFormat::R32_UINT, Some([0, 43 << 20, 0, 0, 0, 0, 0, 0]));
        assert_eq!((guest.grid, guest.number, guest.channels), ([4, 3, 2], Number::Float, 0b111));
        assert_eq!(guest.name, "set 1 binding 2: image 4x3x2, 11_11_10_FLOAT (R10_G11_B11)");
        assert_eq!(guest.unpack(&[0xf7e1_0401]), [0x3600_0000, 0x3882_0000, 0x477e_0000, 0]);
        assert_eq!(guest.measured().unwrap(), vec![0b111; 24]);
        let unorm = image(HostFormat::R32_UINT, Some([0, 30 << 20, 0, 0, 0, 0, 0, 0]));
        assert_eq!(unorm.unpack(&[0x7ff]), [0x3f80_0000, 0, 0, 0]);
        let plain = image(HostFormat::R32_UINT, Some([0, 20 << 20, 0, 0, 0, 0, 0, 0]));
        assert_eq!((plain.number, plain.channels), (Number::Uint, 1));
        assert_eq!(plain.unpack(&[7, 8]), [7, 0, 0, 0, 8, 0, 0, 0]);
    }

    #[test]
    fn images_without_a_packed_guest_format_are_read_by_their_host_format() {
        let half = image(HostFormat(97), None);
        assert_eq!(half.unpack(&[0xbc00_3c00, 0x7e00_0001]), [0x3f80_0000, 0xbf80_0000, 0x3380_0000, 0x7fc0_0000]);
        assert_eq!(image(HostFormat(83), None).unpack(&[0x0000_3c00]), [0x3f80_0000, 0, 0, 0]);
        assert_eq!(image(HostFormat(64), None).unpack(&[0xffc0_0401]), [1, 1, 0x3fc, 3]);
        assert_eq!(image(HostFormat(37), None).unpack(&[0x0403_0201]), [1, 2, 3, 4]);
        assert_eq!(image(HostFormat(123), None).unpack(&[0xf800_0201]), [1, 1, 0, 31]);
        assert_eq!(image(HostFormat(109), None).unpack(&[1, 2, 3, 4]), [1, 2, 3, 4]);
        assert_eq!(image(HostFormat(122), None).unpack(&[0x3c0]), [0x3f80_0000, 0, 0, 0]);
        // A host format of two words is not the guest's of one.
        assert_eq!(image(HostFormat(101), Some([0, 43 << 20, 0, 0, 0, 0, 0, 0])).number, Number::Uint);
    }

    #[test]
    fn buffers_are_read_by_their_layout() {
        let read = |words, element, channels, grid| {
            let layout = BufferLayout { element, channels, grid };
            let buffer = BoundBuffer {
                uniform: false,
                descriptor: None,
                words,
                before: None,
                output: true,
                layout,
                after: None,
            };
            let resource = BoundResource::Buffer(buffer);
            samples(&ComputeBinding { set: 0, binding: 0, element: 0, resource })
        };
        let pairs = read(6, ElementType::Float, 2, None).unwrap();
        assert_eq!((pairs.grid, pairs.channels), ([3, 1, 1], 0b11));
        assert_eq!(pairs.unpack(&[1, 2, 3, 4]), [1, 2, 0, 0, 3, 4, 0, 0]);
        let grid = read(24, ElementType::Sint, 4, Some([3, 2, 1])).unwrap();
        assert_eq!((grid.grid, grid.number, grid.measured()), ([3, 2, 1], Number::Sint, None));
        let texels = read(1, ElementType::Texel(TexelFormat::R10G11B11_FLOAT), 1, None).unwrap();
        assert_eq!(texels.unpack(&[0xf7e1_0401]), [0x3600_0000, 0x3882_0000, 0x477e_0000, 0]);
        let error = read(1 << 40, ElementType::Uint, 1, None).unwrap_err();
        assert_eq!(error.reason, "a buffer in one row has at most 2^32 - 1 samples");
    }
}
