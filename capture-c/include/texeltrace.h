/* Records an emulator's compute dispatches as traces. C library texeltrace; docs/recording.md says how to use it. */

#ifndef TEXELTRACE_H
#define TEXELTRACE_H

/* Made by cbindgen from capture-c/src/ffi; `cargo test -p capture-c` says how to make it anew. */

#include <stddef.h>
#include <stdint.h>

/**
 * What a call returns: one of the constants below. All but `TEXELTRACE_OK` and `TEXELTRACE_SKIPPED` are errors;
 * `texeltrace_message` says more.
 */
typedef int32_t TexelTraceStatus;

/**
 * How the outputs are come by: one of the constants below.
 */
typedef uint32_t TexelTraceSource;

/**
 * How a recording is made. A structure of zeros but for path, name and profile is valid.
 */
typedef struct TexelTraceOptions {
    /**
     * The file, as UTF-8.
     */
    const char *path;
    /**
     * Name of the trace.
     */
    const char *name;
    /**
     * What it shows, in a line. May be null.
     */
    const char *summary;
    /**
     * The device that the outputs are of. May be null.
     */
    const char *device;
    /**
     * Profile whose rules the outputs follow: `gfx1035`, `h200`, `exact`.
     */
    const char *profile;
    /**
     * Free text: driver, build of the host. May be null.
     */
    const char *note;
    /**
     * How the outputs are come by.
     */
    TexelTraceSource source;
    /**
     * Not 0: `texeltrace_begin` returns only when the system has the dispatch's record, so that it is in the file even if the
     * process dies in the dispatch. Else it is there a moment later.
     */
    uint32_t wait_for_begin;
    /**
     * The most bytes that wait to be written; who adds more waits. 0: 64 MiB.
     */
    size_t queue_bytes;
    /**
     * Contents of up to this many bytes are copied into the queue; longer ones are written from where they are, before the call
     * returns. 0: 1 MiB.
     */
    size_t copy_bytes;
    /**
     * The most bytes that the file may have; 0: no limit.
     */
    uint64_t max_file_bytes;
    /**
     * The most dispatches that are recorded; 0: no limit.
     */
    uint64_t max_dispatches;
    /**
     * Only dispatches of shaders with these hashes are recorded; all when there are none.
     */
    const uint64_t *shader_hashes;
    /**
     * Number of hashes.
     */
    size_t shader_hash_count;
} TexelTraceOptions;

/**
 * A recording. Valid until it is closed; any thread may use it. 0 is none.
 */
typedef uint64_t TexelTraceRecorder;

/**
 * A shader, as the host runs it.
 */
typedef struct TexelTraceShaderInfo {
    /**
     * The SPIR-V module.
     */
    const void *spirv;
    /**
     * Its length in bytes, a multiple of 4.
     */
    size_t spirv_bytes;
    /**
     * The guest's machine code from which it was made. May be null.
     */
    const void *isa;
    /**
     * Its length in bytes, a multiple of 4.
     */
    size_t isa_bytes;
    /**
     * The host's hash of the guest's shader.
     */
    uint64_t guest_hash;
    /**
     * Not 0 when there is a hash.
     */
    uint32_t has_guest_hash;
} TexelTraceShaderInfo;

/**
 * A shader of a recording. Valid as long as the recording.
 */
typedef uint64_t TexelTraceShader;

/**
 * A specialization constant.
 */
typedef struct TexelTraceConstant {
    /**
     * Its id.
     */
    uint32_t id;
    /**
     * Its size in bytes: 1, 2, 4 or 8. Booleans have 4.
     */
    uint32_t bytes;
    /**
     * Its value, zero-extended.
     */
    uint64_t value;
} TexelTraceConstant;

/**
 * A dispatch, but for its bindings.
 */
typedef struct TexelTraceDispatchInfo {
    /**
     * Its name; dispatches of one name are told apart by a number behind it. May be null: the shader's hash.
     */
    const char *name;
    /**
     * Name of the entry point. May be null: main.
     */
    const char *entry;
    /**
     * Workgroups in x, y, z.
     */
    uint32_t groups[3];
    /**
     * Specialization constants.
     */
    const struct TexelTraceConstant *constants;
    /**
     * Number of constants.
     */
    size_t constant_count;
    /**
     * Push constants from offset 0 on.
     */
    const void *push_constants;
    /**
     * Their length in bytes, a multiple of 4.
     */
    size_t push_constant_bytes;
    /**
     * Labels of the host around the dispatch, outermost first.
     */
    const char *const *labels;
    /**
     * Number of labels.
     */
    size_t label_count;
} TexelTraceDispatchInfo;

/**
 * A dispatch that is being recorded. Valid until it ends; any thread may use it. 0: one that is left out.
 */
typedef uint64_t TexelTraceDispatch;

/**
 * Where a resource is bound.
 */
typedef struct TexelTracePlace {
    /**
     * Descriptor set.
     */
    uint32_t set;
    /**
     * Binding in the set.
     */
    uint32_t binding;
    /**
     * Element, for arrays of descriptors.
     */
    uint32_t element;
} TexelTracePlace;

/**
 * Kind of an image: one of the constants below.
 */
typedef uint32_t TexelTraceImageKind;

/**
 * Type of an image's view: one of the constants below.
 */
typedef uint32_t TexelTraceView;

/**
 * An image that is bound.
 */
typedef struct TexelTraceImage {
    /**
     * Where.
     */
    struct TexelTracePlace place;
    /**
     * How.
     */
    TexelTraceImageKind kind;
    /**
     * Format of the host's image, a `VkFormat`.
     */
    uint32_t format;
    /**
     * Type of the host's view.
     */
    TexelTraceView view;
    /**
     * Texels of level 0 in x, y, z; 1 in the dimensions that are not there.
     */
    uint32_t extent[3];
    /**
     * Number of layers: 1 when it is no array, 6 a cube.
     */
    uint32_t layers;
    /**
     * Number of levels; 1 for a storage image.
     */
    uint32_t levels;
    /**
     * Not 0: its contents after the dispatch are an output. Only for storage images.
     */
    uint32_t output;
    /**
     * The guest's T#, 8 words. May be null.
     */
    const uint32_t *descriptor;
    /**
     * The guest's S# with which the guest samples it, 4 words, whether the host has a sampler for that or filters in the
     * shader. May be null.
     */
    const uint32_t *sampler_descriptor;
    /**
     * All subresources before the dispatch: level by level, in a level layer by layer (or slice by slice), row by row, without
     * padding. Null: zeros.
     */
    const void *texels;
    /**
     * Their length in bytes.
     */
    size_t texel_bytes;
} TexelTraceImage;

/**
 * What a word of a buffer is: one of the constants below.
 */
typedef uint32_t TexelTraceElement;

/**
 * A buffer that is bound.
 */
typedef struct TexelTraceBuffer {
    /**
     * Where.
     */
    struct TexelTracePlace place;
    /**
     * Not 0: a uniform buffer. Else a storage buffer.
     */
    uint32_t uniform;
    /**
     * Not 0: its contents after the dispatch are an output. Only for storage buffers.
     */
    uint32_t output;
    /**
     * What a word of an output is.
     */
    TexelTraceElement element;
    /**
     * Words of an output that are one sample, 1 to 4. 0: 1.
     */
    uint32_t channels;
    /**
     * Samples of an output in x, y, z, to show it as an image. Zeros: one row.
     */
    uint32_t grid[3];
    /**
     * The guest's V#, 4 words. May be null.
     */
    const uint32_t *descriptor;
    /**
     * Contents before the dispatch. Null: zeros.
     */
    const void *data;
    /**
     * Size of the buffer in bytes, a multiple of 4.
     */
    size_t data_bytes;
} TexelTraceBuffer;

/**
 * Done.
 */
#define TEXELTRACE_OK 0

/**
 * The dispatch is not recorded: the filter or a limit leaves it out. Nothing else is to be done for it.
 */
#define TEXELTRACE_SKIPPED 1

/**
 * An argument is not valid; nothing was changed.
 */
#define TEXELTRACE_INVALID_ARGUMENT 2

/**
 * The handle names nothing that is there; nothing was changed.
 */
#define TEXELTRACE_INVALID_HANDLE 3

/**
 * The call is not possible at this point; nothing was changed.
 */
#define TEXELTRACE_BAD_ORDER 4

/**
 * The file would grow beyond the limit; nothing was changed.
 */
#define TEXELTRACE_LIMIT 5

/**
 * The file can't be written any more. What was complete before stays readable.
 */
#define TEXELTRACE_IO 6

/**
 * Memory ran out; nothing was changed.
 */
#define TEXELTRACE_OUT_OF_MEMORY 7

/**
 * A mistake of this library.
 */
#define TEXELTRACE_INTERNAL 8

/**
 * Read back from a device.
 */
#define TEXELTRACE_SOURCE_MEASURED 0

/**
 * Published by somebody who measured them.
 */
#define TEXELTRACE_SOURCE_PUBLISHED 1

/**
 * Computed.
 */
#define TEXELTRACE_SOURCE_SYNTHETIC 2

/**
 * Read without a sampler.
 */
#define TEXELTRACE_SAMPLED_IMAGE 0

/**
 * Read through the sampler with which it is combined.
 */
#define TEXELTRACE_COMBINED_IMAGE 1

/**
 * One level, read and written.
 */
#define TEXELTRACE_STORAGE_IMAGE 2

/**
 * One dimension.
 */
#define TEXELTRACE_VIEW_1D 0

/**
 * Layers of one dimension.
 */
#define TEXELTRACE_VIEW_1D_ARRAY 1

/**
 * Two dimensions.
 */
#define TEXELTRACE_VIEW_2D 2

/**
 * Layers of two dimensions.
 */
#define TEXELTRACE_VIEW_2D_ARRAY 3

/**
 * Three dimensions.
 */
#define TEXELTRACE_VIEW_3D 4

/**
 * Six square layers.
 */
#define TEXELTRACE_VIEW_CUBE 5

/**
 * Six square layers a cube.
 */
#define TEXELTRACE_VIEW_CUBE_ARRAY 6

/**
 * An unsigned integer.
 */
#define TEXELTRACE_ELEMENT_UINT 0

/**
 * A signed integer.
 */
#define TEXELTRACE_ELEMENT_SINT 1

/**
 * FP32.
 */
#define TEXELTRACE_ELEMENT_FLOAT 2

/**
 * Added to a FORMAT code of a T# (20, or 30 to 43): a texel of that format, such as `TEXELTRACE_ELEMENT_TEXEL + 43`.
 */
#define TEXELTRACE_ELEMENT_TEXEL 65536

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * What the last call on this thread had to say, as UTF-8: empty after a success. It is valid until the next call on this
 * thread.
 */
const char *texeltrace_message(void);

/**
 * Version of this library, as `major * 10000 + minor * 100 + patch`.
 */
uint32_t texeltrace_version(void);

/**
 * Starts a recording. A file that is at the path already is replaced.
 *
 * # Safety
 * `options` points to a structure as described there, `recorder` to room for a handle; or they are null, which is an error.
 */
TexelTraceStatus texeltrace_open(const struct TexelTraceOptions *options,
                                 TexelTraceRecorder *recorder);

/**
 * Writes all that waits and the index, and closes the file. Dispatches that have not ended stay without an end. Handles of the
 * recording are not valid any more, whatever is returned.
 */
TexelTraceStatus texeltrace_close(TexelTraceRecorder recorder);

/**
 * Waits until the system has all that was recorded so far: it is in the file even if the process dies.
 */
TexelTraceStatus texeltrace_flush(TexelTraceRecorder recorder);

/**
 * Takes a shader: once for each pipeline. Its module is copied now, and stored once.
 *
 * # Safety
 * `info` points to a structure as described there, `shader` to room for a handle; or they are null, which is an error.
 */
TexelTraceStatus texeltrace_add_shader(TexelTraceRecorder recorder,
                                       const struct TexelTraceShaderInfo *info,
                                       TexelTraceShader *shader);

/**
 * Whether dispatches of a shader are recorded now: `TEXELTRACE_OK`, or `TEXELTRACE_SKIPPED` when the filter or a limit leaves
 * them out. Asking is cheap; nobody has to.
 */
TexelTraceStatus texeltrace_wants(TexelTraceShader shader);

/**
 * Starts to describe a dispatch. When the filter or a limit leaves it out, that is `TEXELTRACE_SKIPPED` and the handle is 0, with
 * which all other calls do nothing and return the same.
 *
 * # Safety
 * `info` points to a structure as described there, `dispatch` to room for a handle; or they are null, which is an error.
 */
TexelTraceStatus texeltrace_add_dispatch(TexelTraceShader shader,
                                         const struct TexelTraceDispatchInfo *info,
                                         TexelTraceDispatch *dispatch);

/**
 * Adds an image with its contents before the dispatch.
 *
 * # Safety
 * `image` points to a structure as described there, or is null, which is an error.
 */
TexelTraceStatus texeltrace_add_image(TexelTraceDispatch dispatch, const struct TexelTraceImage *image);

/**
 * Adds a sampler.
 *
 * # Safety
 * `descriptor` points to the four words of the guest's S#, or is null when there is none.
 */
TexelTraceStatus texeltrace_add_sampler(TexelTraceDispatch dispatch,
                                        struct TexelTracePlace place,
                                        const uint32_t *descriptor);

/**
 * Adds a buffer with its contents before the dispatch.
 *
 * # Safety
 * `buffer` points to a structure as described there, or is null, which is an error.
 */
TexelTraceStatus texeltrace_add_buffer(TexelTraceDispatch dispatch, const struct TexelTraceBuffer *buffer);

/**
 * Records that the dispatch is about to run. Call it before it is submitted.
 */
TexelTraceStatus texeltrace_begin(TexelTraceDispatch dispatch);

/**
 * Adds what an output holds after the dispatch: from the host's GPU, or from an oracle.
 *
 * # Safety
 * `data` points to `data_bytes` bytes.
 */
TexelTraceStatus texeltrace_output(TexelTraceDispatch dispatch,
                                   struct TexelTracePlace place,
                                   const void *data,
                                   size_t data_bytes);

/**
 * Records that the dispatch has ended. Its handle is not valid any more, unless this is `TEXELTRACE_BAD_ORDER`.
 */
TexelTraceStatus texeltrace_end(TexelTraceDispatch dispatch);

/**
 * Gives a dispatch up. One that has begun stays in the recording without an end. Its handle is not valid any more.
 */
TexelTraceStatus texeltrace_discard(TexelTraceDispatch dispatch);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TEXELTRACE_H */
