//! The msgpack structures of compute dispatches.

use serde::{Deserialize, Serialize};

use super::structure::BlobRef;
use crate::{
    BoundBuffer, BoundImage, BoundResource, BoundSampler, BufferLayout, ComputeBinding, ComputeDispatch, GuestShader,
    HostFormat, SpecializationValue, Words,
};

/// Payload of a compute dispatch, written before it runs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ComputeRecord {
    pub name: String,
    pub module: BlobRef,
    pub entry: String,
    #[serde(default)]
    pub specialization: Vec<SpecializationRecord>,
    #[serde(default)]
    pub push_constants: Vec<u32>,
    pub groups: [u32; 3],
    pub bindings: Vec<BindingFields>,
    #[serde(default)]
    pub shader_hash: Option<u64>,
    #[serde(default)]
    pub isa: Option<BlobRef>,
    #[serde(default)]
    pub labels: Vec<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct SpecializationRecord {
    id: u32,
    value: u64,
    bytes: u8,
}

/// A binding, in records and case files. `kind` says which of the other keys are there.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct BindingFields {
    pub set: u32,
    pub binding: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub element: u32,
    pub kind: BindingKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<[u32; 8]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<[u32; 4]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<[u32; 4]>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub format: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub view: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<[u32; 3]>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub layers: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub levels: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<u64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub element_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<[u32; 3]>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub output: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<BlobRef>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BindingKind {
    SampledImage,
    CombinedImage,
    StorageImage,
    Sampler,
    UniformBuffer,
    #[default]
    StorageBuffer,
}

impl BindingKind {
    const ALL: [Self; 6] = [
        Self::SampledImage,
        Self::CombinedImage,
        Self::StorageImage,
        Self::Sampler,
        Self::UniformBuffer,
        Self::StorageBuffer,
    ];

    /// The word that stands in records and case files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SampledImage => "sampled-image",
            Self::CombinedImage => "combined-image",
            Self::StorageImage => "storage-image",
            Self::Sampler => "sampler",
            Self::UniformBuffer => "uniform-buffer",
            Self::StorageBuffer => "storage-buffer",
        }
    }
}

impl std::str::FromStr for BindingKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("unknown kind {text:?}, expected one of {names}")
        })
    }
}

/// Payload of the end of a compute dispatch.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ComputeEndRecord {
    /// Offset of the record with which it began.
    pub begin: u64,
    #[serde(default)]
    pub outputs: Vec<OutputRecord>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OutputRecord {
    /// Number of the binding in the dispatch's list.
    pub binding: u32,
    pub after: BlobRef,
}

/// The one key that says which dispatch an end belongs to.
#[derive(Debug, Deserialize)]
pub(super) struct EndedDispatch {
    pub begin: u64,
}

impl ComputeRecord {
    /// The record of a dispatch whose module, machine code and contents are these blobs. `before` has one for each binding.
    pub fn new(
        dispatch: &ComputeDispatch,
        module: BlobRef,
        isa: Option<BlobRef>,
        before: impl IntoIterator<Item = Option<BlobRef>>,
    ) -> Self {
        let constants = dispatch.specialization.iter();
        Self {
            name: dispatch.name.clone(),
            module,
            entry: dispatch.entry.clone(),
            specialization: constants
                .map(|&SpecializationValue { id, value, bytes }| SpecializationRecord { id, value, bytes })
                .collect(),
            push_constants: dispatch.push_constants.to_vec(),
            groups: dispatch.groups,
            bindings: dispatch
                .bindings
                .iter()
                .zip(before)
                .map(|(binding, before)| BindingFields::new(binding, before))
                .collect(),
            shader_hash: dispatch.guest_shader.hash,
            isa,
            labels: dispatch.labels.clone(),
        }
    }

    /// The dispatch without contents, not ended.
    pub fn dispatch(&self, module: Words, isa: Words) -> Result<ComputeDispatch, String> {
        let bindings = self.bindings.iter().enumerate();
        Ok(ComputeDispatch {
            name: self.name.clone(),
            module,
            entry: self.entry.clone(),
            specialization: self
                .specialization
                .iter()
                .map(|&SpecializationRecord { id, value, bytes }| SpecializationValue { id, value, bytes })
                .collect(),
            push_constants: self.push_constants.as_slice().into(),
            groups: self.groups,
            bindings: bindings
                .map(|(number, binding)| binding.decode().map_err(|problem| format!("binding {number}: {problem}")))
                .collect::<Result<_, _>>()?,
            guest_shader: GuestShader { hash: self.shader_hash, isa },
            labels: self.labels.clone(),
            ended: false,
        })
    }
}

impl BindingFields {
    pub(crate) fn new(binding: &ComputeBinding, before: Option<BlobRef>) -> Self {
        let place = Self { set: binding.set, binding: binding.binding, element: binding.element, ..Self::default() };
        match &binding.resource {
            BoundResource::Image(image) => Self {
                kind: match (image.storage, image.combined) {
                    (true, _) => BindingKind::StorageImage,
                    (false, true) => BindingKind::CombinedImage,
                    (false, false) => BindingKind::SampledImage,
                },
                image: image.descriptor,
                sampler: image.sampler,
                format: image.format.0,
                view: image.view.name().to_owned(),
                extent: Some(image.extent),
                layers: image.layers,
                levels: image.levels,
                output: image.output,
                before,
                ..place
            },
            BoundResource::Sampler(sampler) => {
                Self { kind: BindingKind::Sampler, sampler: sampler.descriptor, ..place }
            }
            BoundResource::Buffer(buffer) => Self {
                kind: if buffer.uniform { BindingKind::UniformBuffer } else { BindingKind::StorageBuffer },
                buffer: buffer.descriptor,
                words: Some(buffer.words),
                element_type: buffer.layout.element.to_string(),
                channels: Some(buffer.layout.channels),
                grid: buffer.layout.grid,
                output: buffer.output,
                before,
                ..place
            },
        }
    }

    pub(crate) fn decode(&self) -> Result<ComputeBinding, String> {
        let resource = match self.kind {
            BindingKind::SampledImage | BindingKind::CombinedImage | BindingKind::StorageImage => {
                BoundResource::Image(BoundImage {
                    storage: self.kind == BindingKind::StorageImage,
                    descriptor: self.image,
                    combined: self.kind == BindingKind::CombinedImage,
                    sampler: self.sampler,
                    format: HostFormat(self.format),
                    view: self.view.parse().map_err(|error: crate::host_format::UnknownView| error.to_string())?,
                    extent: self.extent.ok_or("an image without an extent")?,
                    layers: self.layers,
                    levels: self.levels,
                    before: None,
                    output: self.output,
                    after: None,
                })
            }
            BindingKind::Sampler if self.before.is_some() => return Err("a sampler with contents".to_owned()),
            BindingKind::Sampler => BoundResource::Sampler(BoundSampler { descriptor: self.sampler }),
            BindingKind::UniformBuffer | BindingKind::StorageBuffer => BoundResource::Buffer(BoundBuffer {
                uniform: self.kind == BindingKind::UniformBuffer,
                descriptor: self.buffer,
                words: self.words.ok_or("a buffer without a size")?,
                before: None,
                output: self.output,
                layout: BufferLayout {
                    element: self
                        .element_type
                        .parse()
                        .map_err(|error: crate::compute::UnknownElement| error.to_string())?,
                    channels: self.channels.ok_or("a buffer without words a sample")?,
                    grid: self.grid,
                },
                after: None,
            }),
        };
        Ok(ComputeBinding { set: self.set, binding: self.binding, element: self.element, resource })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        ContainerError, OutputContent, RecordKind, TraceMeta, TraceReader, TraceWriter, WriteError, WriteOptions,
    };
    use crate::{
        Case, CaseOptions, Column, Coords, Dispatch, DispatchKind, Op, Oracle, OracleSource, Recorded, Recording,
        case::write_recording_case, compute_check::tests::dispatch,
    };

    use super::*;

    fn meta() -> TraceMeta {
        let oracle = Oracle {
            device: "host".to_owned(),
            profile: "gfx1035".to_owned(),
            source: OracleSource::Synthetic,
            note: String::new(),
        };
        TraceMeta { name: "recording".to_owned(), summary: String::new(), oracle }
    }

    fn named(name: &str) -> ComputeDispatch {
        ComputeDispatch { name: name.to_owned(), ..dispatch() }
    }

    fn sample() -> Dispatch {
        Dispatch {
            name: "load".to_owned(),
            op: Op::LOAD,
            grid: [1, 1, 1],
            image: [0; 8],
            sampler: None,
            more_images: Vec::new(),
            more_samplers: Vec::new(),
            border_table: Vec::new(),
            dmask: None,
            texels: vec![1].into(),
            coords: Coords { columns: vec![Column::X], words: vec![0].into() },
            expected: None,
        }
    }

    fn writer() -> TraceWriter<Vec<u8>> {
        TraceWriter::begin(Vec::new(), &meta(), WriteOptions::default()).unwrap()
    }

    fn read(bytes: &[u8]) -> TraceReader {
        TraceReader::from_bytes(bytes, "t").unwrap()
    }

    /// Two that overlap, one that does not end, and a sample dispatch between them.
    fn recording() -> (Vec<u8>, Vec<Recorded>) {
        let mut writer = writer();
        let outputs = |d: &ComputeDispatch| -> Vec<Words> {
            d.outputs().map(|(_, binding)| binding.contents().1.unwrap().clone()).collect()
        };
        let first = named("first");
        let mut second = named("second");
        second.bindings.iter_mut().for_each(|b| {
            if b.is_output() {
                b.set_after(vec![77; 8].into())
            }
        });
        let lost = writer.begin_compute(&named("lost"), &[]).unwrap();
        let a = writer.begin_compute(&first, &[]).unwrap();
        let b = writer.begin_compute(&second, &[]).unwrap();
        writer.add_dispatch(&sample()).unwrap();
        for (ticket, dispatch) in [(b, &second), (a, &first)] {
            let after = outputs(dispatch);
            let places = dispatch.outputs().map(|(place, _)| place);
            let contents: Vec<_> = places.zip(&after).map(|(p, w)| (p, OutputContent::Words(w))).collect();
            writer.end_compute(ticket, &contents).unwrap();
        }
        drop(lost);
        let mut unfinished = named("lost");
        unfinished.ended = false;
        for binding in &mut unfinished.bindings {
            match &mut binding.resource {
                BoundResource::Image(image) => image.after = None,
                BoundResource::Buffer(buffer) => buffer.after = None,
                BoundResource::Sampler(_) => {}
            }
        }
        let expected = vec![
            Recorded::Sample(sample()),
            Recorded::Compute(second),
            Recorded::Compute(first),
            Recorded::Compute(unfinished),
        ];
        (writer.finish().unwrap(), expected)
    }

    #[test]
    fn dispatches_stand_in_the_order_in_which_they_ended() {
        let (bytes, expected) = recording();
        let reader = read(&bytes);
        assert!(reader.recovery().is_none() && reader.verify().is_empty(), "{:?}", reader.verify());
        assert_eq!(reader.names().collect::<Vec<_>>(), ["load", "second", "first", "lost"]);
        assert_eq!(reader.read_recording().unwrap().dispatches, expected);
        assert_eq!(reader.kind(0), Some(DispatchKind::Sample));
        assert_eq!(reader.kind(3), Some(DispatchKind::Compute));
        assert_eq!(reader.kind(4), None);
        // Without the index the same is found.
        let cut = read(&bytes[..bytes.len() - 64]);
        assert!(cut.recovery().is_some_and(|recovery| recovery.lost.is_empty()), "{:?}", cut.recovery());
        let scanned: Vec<_> = (0..cut.len()).map(|index| cut.recorded(index).unwrap()).collect();
        assert_eq!(scanned, expected);
    }

    #[test]
    fn equal_modules_and_contents_are_stored_once() {
        let (bytes, _) = recording();
        let kinds: Vec<RecordKind> = read(&bytes).records().map(|record| record.kind).collect();
        let blobs = kinds.iter().filter(|kind| **kind == RecordKind::Blob).count();
        // Module, machine code, image and buffer before; texels and coordinates; 77s; buffer and image after.
        assert_eq!(blobs, 4 + 2 + 1 + 2);
        assert_eq!(kinds.iter().filter(|kind| **kind == RecordKind::Compute).count(), 3);
        assert_eq!(kinds.iter().filter(|kind| **kind == RecordKind::ComputeEnd).count(), 2);
    }

    #[test]
    fn each_kind_is_refused_where_the_other_is_asked_for() {
        let (bytes, _) = recording();
        let reader = read(&bytes);
        assert_eq!(
            reader.dispatch(1).unwrap_err().to_string(),
            "t: dispatch \"second\" is a compute dispatch, expected a sample dispatch; the path `recorded` runs compute \
             dispatches"
        );
        assert!(matches!(reader.compute(0), Err(ContainerError::OtherKind { found: DispatchKind::Sample, .. })));
        assert!(matches!(reader.dispatch_head(2), Err(ContainerError::OtherKind { .. })));
        assert!(reader.read_all().is_err());
    }

    #[test]
    fn a_file_that_ends_anywhere_gives_every_dispatch_that_ended_before() {
        let (bytes, expected) = recording();
        let whole = read(&bytes);
        let ends: Vec<u64> = whole
            .records()
            .filter(|record| matches!(record.kind, RecordKind::ComputeEnd | RecordKind::SampleDispatch))
            .map(|record| record.offset + 64 + record.stored_bytes.next_multiple_of(64))
            .collect();
        let first = whole.records().nth(1).unwrap().offset;
        for cut in usize::try_from(first).unwrap()..bytes.len() {
            let reader = read(&bytes[..cut]);
            let complete = ends.iter().filter(|end| **end <= cut as u64).count();
            for (index, expected) in expected.iter().take(complete).enumerate() {
                assert_eq!(&reader.recorded(index).unwrap(), expected, "cut at {cut}");
            }
            for index in complete..reader.len() {
                let Recorded::Compute(rest) = reader.recorded(index).unwrap() else { panic!("cut at {cut}") };
                assert!(!rest.ended);
            }
        }
    }

    #[test]
    fn damage_anywhere_is_an_error_or_changes_nothing() {
        let (bytes, expected) = recording();
        for at in (64..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x41;
            let Ok(reader) = TraceReader::from_bytes(&damaged, "t") else { continue };
            for index in 0..reader.len() {
                let Ok(mut found) = reader.recorded(index) else { continue };
                let known = expected.iter().find(|dispatch| dispatch.name() == found.name()).unwrap();
                // Only its end may be missing.
                if let (Recorded::Compute(found), Recorded::Compute(known)) = (&mut found, known)
                    && !found.ended
                {
                    assert_eq!((&found.module, found.groups), (&known.module, known.groups), "byte {at}");
                    continue;
                }
                assert_eq!(&found, known, "byte {at}");
            }
        }
    }

    #[test]
    fn calls_that_fail_a_check_change_nothing() {
        let mut writer = writer();
        let dispatch = dispatch();
        let stored = writer.store(&[1, 0, 0, 0]).unwrap();
        let at = writer.bytes_written();
        let text = |result: Result<_, WriteError>| result.map(|_: ()| ()).unwrap_err().to_string();
        let begin =
            |writer: &mut TraceWriter<Vec<u8>>, stored: &[_]| text(writer.begin_compute(&dispatch, stored).map(drop));
        assert!(begin(&mut writer, &[(9, stored)]).contains("9: there is no such binding"));
        assert!(begin(&mut writer, &[(0, stored)]).contains("0: has contents before the dispatch"));
        assert!(begin(&mut writer, &[(1, stored)]).contains("1: a sampler has no contents"));
        assert!(begin(&mut writer, &[(3, stored)]).contains("3: expected 8 words before the dispatch, found 4 bytes"));
        assert!(text(writer.store(&[1, 2, 3]).map(drop)).contains("3 bytes, expected a whole number of words"));
        assert_eq!(writer.bytes_written(), at);
        writer.begin_compute(&dispatch, &[]).unwrap();
        assert!(begin(&mut writer, &[]).contains("same name"));
        let other = |writer: &mut TraceWriter<Vec<u8>>, name| writer.begin_compute(&named(name), &[]).unwrap();
        let words = OutputContent::Words(&[0; 8]);
        let ticket = other(&mut writer, "b");
        assert!(text(writer.end_compute(ticket, &[(0, words)])).contains("0: is no output"));
        let ticket = other(&mut writer, "c");
        assert!(text(writer.end_compute(ticket, &[(2, words), (2, words)])).contains("2: is given twice"));
        let ticket = other(&mut writer, "d");
        let error = text(writer.end_compute(ticket, &[(3, OutputContent::Stored(stored))]));
        assert!(error.contains("3: expected 8 words after the dispatch, found 4 bytes"), "{error}");
        let bound = writer.finished_bytes_bound();
        let bytes = writer.finish().unwrap();
        assert!(bytes.len() as u64 <= bound, "{} bytes, at most {bound}", bytes.len());
        let reader = read(&bytes);
        assert_eq!(reader.len(), 4);
        assert!(reader.verify().is_empty(), "{:?}", reader.verify());
    }

    #[test]
    fn a_recording_round_trips_through_its_text() {
        let (bytes, dispatches) = recording();
        let whole = Recording { meta: meta(), dispatches };
        for inline_words in [0, 6, 1000] {
            let dir = tempfile::tempdir().unwrap();
            let options = CaseOptions { inline_words, ..CaseOptions::default() };
            let path = write_recording_case(&whole, dir.path(), &options).unwrap();
            assert_eq!(Case::read_recording(&path).unwrap(), whole, "{inline_words}");
            let error = Case::read(&path).unwrap_err().to_string();
            assert!(error.contains("compute: expected sample dispatches only"), "{error}");
            let packed = dir.path().join("t.texeltrace");
            super::super::write_recording(&packed, &whole, WriteOptions::default()).unwrap();
            assert_eq!(TraceReader::open(&packed).unwrap().read_recording().unwrap(), whole);
        }
        assert_eq!(read(&bytes).read_recording().unwrap(), whole);
    }

    #[test]
    fn text_that_is_no_recording_is_refused_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let whole = Recording { meta: meta(), dispatches: vec![Recorded::Compute(dispatch())] };
        let path = write_recording_case(&whole, dir.path(), &CaseOptions::default()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let refused = |from: &str, to: &str, problem: &str| {
            assert!(text.contains(from), "{from}");
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            let error = Case::read_recording(&path).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        };
        refused("entry = \"main\"", "entry = 3", "compute \"filter\": entry: expected a string");
        refused(
            "\"sampler\"",
            "\"sampled\"",
            "binding[1].kind: unknown kind \"sampled\", expected one of sampled-image",
        );
        refused("view = \"2d\"", "view = \"4d\"", "binding[0]: unknown view \"4d\"");
        refused(
            "levels = 2",
            "levels = 3",
            "bindings: 0 (set 0 binding 0): expected 11 words before the dispatch, found 10",
        );
        refused("channels = 2", "channels = 300", "binding[2].channels: out of range");
        refused(
            "[3, \"0xffffffff\", 4]",
            "[3, 4]",
            "specialization.rows[0]: expected 3 numbers (id, value, bytes), found 2",
        );
        refused("output = true", "outputs = true", "binding[2].outputs: unknown key");
        refused("name = \"filter\"\n", "", "compute 0: missing key name");
    }
}
