//! Dispatches with their T# and S# as they are: see [`crate::execute::vulkan::RawDevice`].

use std::{borrow::Cow, sync::Arc};

use capture_format::{BorderColorType, Dispatch, ImageDescriptor, ImageType, OpKind, SamplerDescriptor, TexelFormat};

use super::{
    in_batches, kernel, lower,
    lower::{Lowered, Shape, check_op, gather_component, image_field},
    module, operands, part,
};
use crate::{
    execute::{
        ExecuteError, Module,
        vulkan::{Component, NativeFormat, NativeView, RawDevice, RawJob},
    },
    path::Failure,
    reference::texel_count_refusal,
    refusal::Refusal,
    table::tables_refused,
};

/// Texels in a row of a linear image are padded to 256 bytes (AMD's addrlib for GFX10).
const PITCH: u32 = 64;

/// A dispatch for a device that takes descriptors as words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    /// T# of a linear image, without address.
    pub image: [u32; 8],
    /// S# as recorded.
    pub sampler: Option<[u32; 4]>,
    /// Texels with padded rows.
    pub texels: Vec<u32>,
}

/// Samples a dispatch with its own T# and S#; four words a sample.
///
/// # Errors
/// [`Failure::Refused`] for what can not be laid out, [`Failure::Execute`] when the device fails.
pub fn run_raw(device: &RawDevice, dispatch: &Dispatch) -> Result<Vec<u32>, Failure> {
    let (raw, lowered) = raw(dispatch)?;
    in_batches(dispatch, &lowered, |batch, coverage| {
        Ok(device.run(&RawJob {
            module: &*apart(&lowered, batch)?,
            image: raw.image,
            texels: &raw.texels,
            sampler: raw.sampler,
            operands: &batch.words,
            results: batch.samples.len() * 4,
            push_constants: [coverage.samples, coverage.row, 0, 0],
            groups: coverage.groups,
        })?)
    })
}

/// The module of [`run_raw`] (of the first texel offset where there are several).
///
/// # Errors
/// As [`run_raw`]; a dispatch without samples has no module.
pub fn raw_module(dispatch: &Dispatch) -> Result<Arc<Module>, Failure> {
    let (_, lowered) = raw(dispatch)?;
    match operands::batches(dispatch, &lowered)?.first() {
        Some(batch) => Ok(apart(&lowered, batch)?),
        None => Err(ExecuteError::InvalidJob("a dispatch without samples takes no module".to_owned()).into()),
    }
}

fn apart(lowered: &Lowered<'_>, batch: &operands::Batch) -> Result<Arc<Module>, ExecuteError> {
    module(&kernel::Kernel { apart: true, ..super::kernel(lowered, batch) })
}

/// The words and texels of a dispatch as the texture unit is to see them, and what its operands are made by.
///
/// # Errors
/// What can not be laid out without the driver's help, by the field's name.
pub fn raw(dispatch: &Dispatch) -> Result<(Raw, Lowered<'_>), Refusal> {
    if dispatch.is_table() {
        return Err(tables_refused(dispatch, "one T# and one S# go into a descriptor buffer"));
    }
    let image = ImageDescriptor::from_words(dispatch.image);
    let op = dispatch.op;
    check_op(op)?;
    let shape = Shape::of(image)?;
    let refuse = |which, reason| Err(image_field(image, which, reason));
    let view = match image.image_type() {
        ImageType::D1 => NativeView::D1,
        ImageType::D2 => NativeView::D2,
        ImageType::D3 => NativeView::D3,
        ImageType::D1Array | ImageType::D2Array => {
            return refuse(&ImageDescriptor::TYPE, "compilers for GFX10 round the layer before the instruction");
        }
        _ => {
            return refuse(
                &ImageDescriptor::TYPE,
                "a shader makes face coordinates itself, so they are not the recorded ones",
            );
        }
    };
    if shape.extent.levels > 1 {
        return refuse(&ImageDescriptor::MAX_MIP, "how the levels of a linear image follow each other is the driver's");
    }
    if op.kind == OpKind::Gather4 && view != NativeView::D2 {
        return refuse(&ImageDescriptor::TYPE, "Vulkan gathers from 2D images and cubes only");
    }
    let Some(format) = TexelFormat::from_code(image.format()) else {
        return refuse(&ImageDescriptor::FORMAT, "formats 20 and 30 to 43 have texels of 32 bits that are known");
    };
    let sampler = match (op.kind, dispatch.sampler) {
        (OpKind::Load, _) => None,
        (_, None) => return Err(part("sampler", "absent", &format!("{op} needs an S#"))),
        (_, Some(words)) => {
            let sampler = SamplerDescriptor::from_words(words);
            if sampler.border_color_type() == BorderColorType::Register {
                let which = &SamplerDescriptor::BORDER_COLOR_TYPE;
                return Err(lower::field("S#", &words, which, "the table of border colours is the driver's"));
            }
            Some(words)
        }
    };
    if dispatch.texels.len() as u64 != shape.extent.texels() {
        return Err(texel_count_refusal(&shape.extent, dispatch.texels.len()));
    }
    let [width, height, depth] = shape.extent.size;
    let pitch = width.next_multiple_of(PITCH);
    let texels = dispatch.texels.chunks(width.max(1) as usize).flat_map(|row| {
        let padding = (pitch - width) as usize;
        row.iter().copied().chain(std::iter::repeat_n(0, padding))
    });
    let lowered = Lowered {
        op,
        format: if format.kind().is_integer() { NativeFormat::R32Uint } else { NativeFormat::B10G11R11Ufloat },
        view,
        extent: [width, height, depth],
        layers: 1,
        levels: 1,
        components: [Component::R, Component::G, Component::B, Component::A],
        sampler: None,
        // The view has no mapping of Vulkan's: a gather's component is the channel after DST_SEL.
        gather_component: gather_component(dispatch)?,
        texels: Cow::Borrowed(&dispatch.texels),
    };
    Ok((Raw { image: linear(dispatch.image, pitch, width), sampler, texels: texels.collect() }, lowered))
}

/// T# of the same image in linear order: no swizzle, no compression, and the pitch where it is not the width.
fn linear(words: [u32; 8], pitch: u32, width: u32) -> [u32; 8] {
    let mut image = words;
    image[3] &= !ImageDescriptor::SW_MODE.mask();
    let kind = ImageDescriptor::from_words(words).image_type();
    if kind != ImageType::D3 {
        // On GFX10.3 the depth of 1D and 2D images is the pitch less one, where that is not the width (Mesa).
        image[4] = if pitch > width { pitch - 1 } else { 0 };
    }
    // Metadata, compression and feedback belong to memory that is not there.
    image[6] = 0;
    image[7] = 0;
    image
}

#[cfg(test)]
mod tests {
    use capture_format::Case;

    use super::*;

    fn case(image: &str, op: &str, texels: usize) -> Dispatch {
        let words = vec!["\"0x00000001\""; texels].join(", ");
        let sampler = if op == "image_load" {
            ""
        } else {
            "sampler = [\"0x00000092\", \"0x00fff000\", \"0x00500000\", \"0x00000000\"]"
        };
        let columns = if op == "image_load" { "\"x\", \"y\"" } else { "\"u\", \"v\"" };
        let text = format!(
            "schema = 1\nname = \"t\"\nsummary = \"\"\n[oracle]\ndevice = \"d\"\nprofile = \"gfx1035\"\nsource = \"synthetic\"\nnote = \"\"\n[[dispatch]]\nname = \"a\"\nop = \"{op}\"\ngrid = [1, 1, 1]\nimage = {image}\n{sampler}\ntexels = {{ words = [{words}] }}\ncoords = {{ columns = [{columns}], rows = [[0.0, 0.0]] }}\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("case.toml");
        std::fs::write(&file, text).unwrap();
        Case::read(&file).unwrap().dispatches.remove(0)
    }

    const FLAT: &str = "[\"0x12345678\", \"0xc2b000ff\", \"0x80008000\", \"0x91b003ac\", \"0x00000000\", \"0x00000000\", \"0x00200001\", \"0x00000007\"]";

    #[test]
    fn rows_are_padded_and_the_rest_of_the_words_stays() {
        // 4x3 texels of format 43 in 64KB_R_X order, compressed.
        let dispatch = case(FLAT, "image_sample_lz", 12);
        let (raw, lowered) = raw(&dispatch).unwrap();
        assert_eq!(raw.image, [0x1234_5678, 0xc2b0_00ff, 0x8000_8000, 0x9000_03ac, 63, 0, 0, 0]);
        assert_eq!(raw.sampler, dispatch.sampler);
        assert_eq!(raw.texels.len(), 3 * 64);
        assert_eq!((raw.texels[3], raw.texels[4], raw.texels[64]), (1, 0, 1));
        assert_eq!((lowered.view, lowered.extent), (NativeView::D2, [4, 3, 1]));
        let module = raw_module(&dispatch).unwrap();
        assert!(!module.words.is_empty());
    }

    #[test]
    fn what_only_a_driver_knows_is_refused() {
        let refused = |image: &str| raw(&case(image, "image_load", 12)).unwrap_err().to_string();
        let layers = FLAT.replace("0x91b003ac", "0xd1b003ac");
        assert!(refused(&layers).contains("T#.TYPE (word3[31:28])"), "{}", refused(&layers));
        let levels =
            FLAT.replacen("\"0x00000000\", \"0x00000000\", \"0x0020", "\"0x00000000\", \"0x00000010\", \"0x0020", 1);
        assert!(refused(&levels).contains("T#.MAX_MIP"), "{}", refused(&levels));
        let mut table = case(FLAT, "image_sample_lz", 12);
        table.sampler = Some([0x92, 0x00ff_f000, 0x0050_0000, 0xc000_0000]);
        assert!(raw(&table).unwrap_err().to_string().contains("S#.BORDER_COLOR_TYPE"));
    }
}
