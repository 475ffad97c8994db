/* Each call that is not possible returns an error and changes nothing; what is recorded in between is complete.
 * usage: order OUT.texeltrace */
#include "common.h"

int main(int argc, char **argv) {
    if (argc != 2) return 64;
    uint32_t words[4] = {1, 2, 3, 4};
    TexelTraceRecorder recorder = 99;
    TexelTraceShader shader = 99;
    TexelTraceDispatch dispatch = 99, other = 99;
    TexelTraceOptions options = options_of(argv[1]);
    TexelTraceDispatchInfo info = dispatch_info("a");
    TexelTraceBuffer buffer = buffer_of(0, words, sizeof words);

    /* Before there is a recording. */
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_close(1));
    EXPECT_MESSAGE("no handle of a recorder");
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_flush(1));
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_begin(1));
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_add_dispatch(1, &info, &dispatch));
    EXPECT(TEXELTRACE_SKIPPED, texeltrace_end(0));
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_open(NULL, &recorder));
    EXPECT_MESSAGE("options is null");
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_open(&options, NULL));
    options.path = NULL;
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_open(&options, &recorder));
    EXPECT_MESSAGE("options.path is missing");
    options.path = "/nonexistent/folder/a.texeltrace";
    EXPECT(TEXELTRACE_IO, texeltrace_open(&options, &recorder));
    EXPECT_MESSAGE("/nonexistent/folder/a.texeltrace: cannot create");
    options.path = argv[1];
    options.source = 7;
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_open(&options, &recorder));
    EXPECT_MESSAGE("options.source is 7");
    options.source = TEXELTRACE_SOURCE_SYNTHETIC;
    EXPECT(TEXELTRACE_OK, texeltrace_open(&options, &recorder));

    /* Shaders. */
    TexelTraceShaderInfo module;
    memset(&module, 0, sizeof module);
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_add_shader(recorder, &module, &shader));
    module.spirv = spirv;
    module.spirv_bytes = 7;
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_add_shader(recorder, &module, &shader));
    EXPECT_MESSAGE("spirv has 7 bytes, expected a multiple of 4");
    module.spirv = NULL;
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_add_shader(recorder, &module, &shader));
    shader = shader_of(recorder, 5);
    EXPECT(TEXELTRACE_OK, texeltrace_wants(shader));

    /* A handle of one kind is none of another. */
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_begin(shader));
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_close(shader));

    /* Before it begins. */
    TexelTraceConstant twice[2] = {{3, 4, 1}, {3, 4, 2}};
    info.constants = twice;
    info.constant_count = 2;
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_add_dispatch(shader, &info, &dispatch));
    EXPECT_MESSAGE("constant 3 is given twice");
    info.constant_count = 1;
    EXPECT(TEXELTRACE_OK, texeltrace_add_dispatch(shader, &info, &dispatch));
    EXPECT(TEXELTRACE_BAD_ORDER, texeltrace_output(dispatch, buffer.place, words, sizeof words));
    EXPECT_MESSAGE("has not begun");
    EXPECT(TEXELTRACE_BAD_ORDER, texeltrace_end(dispatch));
    EXPECT(TEXELTRACE_OK, texeltrace_add_buffer(dispatch, &buffer));
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_add_buffer(dispatch, &buffer));
    EXPECT_MESSAGE("is bound twice");
    TexelTraceBuffer odd = buffer_of(1, words, 6);
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_add_buffer(dispatch, &odd));
    EXPECT_MESSAGE("buffer.data_bytes is 6");
    odd.data_bytes = 8;
    odd.channels = 3;
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_add_buffer(dispatch, &odd));
    odd.channels = 1;
    odd.element = 9;
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_add_buffer(dispatch, &odd));
    EXPECT_MESSAGE("buffer.element is 9");
    TexelTraceImage image;
    memset(&image, 0, sizeof image);
    image.place.binding = 2;
    image.format = 98;
    image.view = TEXELTRACE_VIEW_2D;
    image.extent[0] = image.extent[1] = 2;
    image.extent[2] = image.layers = image.levels = 1;
    image.texels = words;
    image.texel_bytes = 12;
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_add_image(dispatch, &image));
    EXPECT_MESSAGE("set 0 binding 2: 12 bytes before the dispatch, expected 4 * 4");
    image.texel_bytes = 16;
    image.output = 1;
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_add_image(dispatch, &image));
    EXPECT_MESSAGE("only storage images are outputs");
    image.output = 0;
    image.view = 7;
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_add_image(dispatch, &image));
    image.view = TEXELTRACE_VIEW_2D;
    image.kind = 3;
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_add_image(dispatch, &image));
    image.kind = TEXELTRACE_SAMPLED_IMAGE;
    EXPECT(TEXELTRACE_OK, texeltrace_add_image(dispatch, &image));
    EXPECT(TEXELTRACE_OK, texeltrace_begin(dispatch));

    /* Between beginning and end. */
    EXPECT(TEXELTRACE_BAD_ORDER, texeltrace_begin(dispatch));
    EXPECT_MESSAGE("has begun");
    odd = buffer_of(1, words, 8);
    EXPECT(TEXELTRACE_BAD_ORDER, texeltrace_add_buffer(dispatch, &odd));
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_output(dispatch, image.place, words, sizeof words));
    EXPECT_MESSAGE("was not added as an output");
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_output(dispatch, buffer.place, words, 12));
    EXPECT_MESSAGE("12 bytes after the dispatch, expected 16");
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_output(dispatch, buffer.place, NULL, 16));
    EXPECT(TEXELTRACE_OK, texeltrace_output(dispatch, buffer.place, words, sizeof words));
    EXPECT(TEXELTRACE_INVALID_ARGUMENT, texeltrace_output(dispatch, buffer.place, words, sizeof words));
    EXPECT_MESSAGE("was given before");
    EXPECT(TEXELTRACE_OK, texeltrace_end(dispatch));
    if (texeltrace_message()[0] != 0) return 1;

    /* Behind the end. */
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_end(dispatch));
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_begin(dispatch));
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_discard(dispatch));

    /* Given up before and behind its beginning. */
    EXPECT(TEXELTRACE_OK, texeltrace_add_dispatch(shader, &info, &other));
    EXPECT(TEXELTRACE_OK, texeltrace_discard(other));
    info.name = "given-up";
    EXPECT(TEXELTRACE_OK, texeltrace_add_dispatch(shader, &info, &other));
    EXPECT(TEXELTRACE_OK, texeltrace_begin(other));
    EXPECT(TEXELTRACE_OK, texeltrace_discard(other));
    info.name = "a";
    EXPECT(TEXELTRACE_OK, texeltrace_add_dispatch(shader, &info, &other));
    EXPECT(TEXELTRACE_OK, texeltrace_begin(other));
    EXPECT(TEXELTRACE_OK, texeltrace_end(other));

    /* Behind the close. */
    info.name = "open-at-close";
    EXPECT(TEXELTRACE_OK, texeltrace_add_dispatch(shader, &info, &other));
    EXPECT(TEXELTRACE_OK, texeltrace_begin(other));
    EXPECT(TEXELTRACE_OK, texeltrace_close(recorder));
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_end(other));
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_close(recorder));
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_wants(shader));
    EXPECT(TEXELTRACE_INVALID_HANDLE, texeltrace_add_dispatch(shader, &info, &dispatch));
    return 0;
}
