//! Storage buffers that hold something at first, and storage images: on the device, staged and direct, and on the embedded
//! executor.

use replayer::execute::{
    Binding, ExecuteError, Executor, Image, ImageDim, Job, Module, Resource,
    embedded::Embedded,
    vulkan::{
        MemoryMode, NativeBinding, NativeFormat, NativeImage, NativeJob, NativeResource, NativeSampler as _, NativeView,
    },
};

use super::{assemble::assemble, assert_silent, open};

/// Adds the texel to the buffer's word, and stores twice the old word in the image. One invocation a texel of a row.
const SWAP: &str = r#"
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main" %id
               OpExecutionMode %main LocalSize 1 1 1
               OpDecorate %id BuiltIn GlobalInvocationId
               OpDecorate %words ArrayStride 4
               OpMemberDecorate %block 0 Offset 0
               OpDecorate %block Block
               OpDecorate %buffer DescriptorSet 0
               OpDecorate %buffer Binding 3
               OpDecorate %fresh DescriptorSet 0
               OpDecorate %fresh Binding 1
               OpDecorate %image DescriptorSet 0
               OpDecorate %image Binding 2
       %void = OpTypeVoid
       %uint = OpTypeInt 32 0
        %int = OpTypeInt 32 1
     %v2uint = OpTypeVector %uint 2
     %v3uint = OpTypeVector %uint 3
     %v4uint = OpTypeVector %uint 4
     %texels = OpTypeImage %uint 2D 0 0 0 2 R32ui
      %words = OpTypeRuntimeArray %uint
      %block = OpTypeStruct %words
   %to_input = OpTypePointer Input %v3uint
  %to_texels = OpTypePointer UniformConstant %texels
   %to_block = OpTypePointer StorageBuffer %block
    %to_word = OpTypePointer StorageBuffer %uint
  %main_type = OpTypeFunction %void
      %int_0 = OpConstant %int 0
     %uint_0 = OpConstant %uint 0
     %uint_2 = OpConstant %uint 2
         %id = OpVariable %to_input Input
      %image = OpVariable %to_texels UniformConstant
     %buffer = OpVariable %to_block StorageBuffer
      %fresh = OpVariable %to_block StorageBuffer
       %main = OpFunction %void None %main_type
      %start = OpLabel
     %all_id = OpLoad %v3uint %id
          %x = OpCompositeExtract %uint %all_id 0
         %at = OpCompositeConstruct %v2uint %x %uint_0
     %target = OpLoad %texels %image
      %texel = OpImageRead %v4uint %target %at
       %word = OpCompositeExtract %uint %texel 0
       %here = OpAccessChain %to_word %buffer %int_0 %x
        %old = OpLoad %uint %here
        %sum = OpIAdd %uint %old %word
               OpStore %here %sum
      %other = OpAccessChain %to_word %fresh %int_0 %x
       %zero = OpLoad %uint %other
       %more = OpIAdd %uint %zero %word
               OpStore %other %more
      %twice = OpIMul %uint %old %uint_2
      %store = OpCompositeConstruct %v4uint %twice %twice %twice %twice
               OpImageWrite %target %at %store
               OpReturn
               OpFunctionEnd
"#;

fn run(executor: &mut dyn Executor, module: &Module, groups: u32) -> Result<Vec<Vec<u32>>, ExecuteError> {
    let image = Image { dim: ImageDim::D2, extent: [4, 1, 1], layers: 1, levels: 1, texels: &[10, 20, 30, 40] };
    let at = |binding, resource| Binding { set: 0, binding, element: 0, resource };
    // The outputs of both kinds stand in another order than their places in memory.
    let bindings = [at(1, Resource::Output(4)), at(2, Resource::Storage(image)), at(3, Resource::InOut(&[1, 2, 3, 4]))];
    executor.run(&Job {
        module,
        entry: "main",
        specialization: &[],
        bindings: &bindings,
        push_constants: &[],
        groups: [groups, 1, 1],
    })
}

fn check(executor: &mut dyn Executor) {
    let module = Module::new(assemble(SWAP));
    let all = vec![vec![10, 20, 30, 40], vec![2, 4, 6, 8], vec![11, 22, 33, 44]];
    // Twice: nothing of the first run is left in the second.
    assert_eq!(run(executor, &module, 4), Ok(all.clone()));
    assert_eq!(run(executor, &module, 4), Ok(all));
    let two = vec![vec![10, 20, 0, 0], vec![2, 4, 30, 40], vec![11, 22, 3, 4]];
    assert_eq!(run(executor, &module, 2), Ok(two));
    let none = vec![vec![0; 4], vec![10, 20, 30, 40], vec![1, 2, 3, 4]];
    assert_eq!(run(executor, &module, 0), Ok(none));
}

#[test]
fn contents_are_there_before_and_come_back_after() {
    for memory in [MemoryMode::Direct, MemoryMode::Staged] {
        let mut executor = open(|options| options.memory = memory);
        check(&mut executor);
        assert_silent(&mut executor);
    }
    check(&mut Embedded::new());
}

#[test]
fn a_storage_image_and_a_sampled_one_are_not_taken_for_each_other() {
    let module = Module::new(assemble(SWAP));
    let mut executor = open(|_| {});
    let image = NativeImage {
        format: NativeFormat::R32Uint,
        view: NativeView::D2,
        extent: [1, 1, 1],
        layers: 1,
        levels: 1,
        components: replayer::execute::vulkan::Component::IDENTITY,
        texels: &[0],
    };
    let at = |binding, resource| NativeBinding { set: 0, binding, element: 0, resource };
    let mut text = |resource| {
        let bindings = [at(1, NativeResource::Output(1)), at(3, NativeResource::InOut(&[0])), at(2, resource)];
        let job = NativeJob {
            module: &module,
            entry: "main",
            specialization: &[],
            bindings: &bindings,
            push_constants: &[],
            groups: [1, 1, 1],
        };
        executor.run_native(&job).unwrap_err().to_string()
    };
    assert_eq!(
        text(NativeResource::Image(image)),
        "invalid job: set 0 binding 2: the module has a storage image, the job binds an image without a sampler"
    );
    let deep = NativeImage { extent: [2, 2, 1], levels: 2, texels: &[0; 5], ..image };
    assert_eq!(
        text(NativeResource::Storage(deep)),
        "invalid job: set 0 binding 2: a storage image has one level and the identity for a component mapping"
    );
    let float = NativeImage { format: NativeFormat::R32Sfloat, ..image };
    assert_eq!(
        text(NativeResource::Storage(float)),
        "invalid job: set 0 binding 2: the module reads integers from an image of R32Sfloat"
    );
}
