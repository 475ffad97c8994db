/* Filters, limits, and a disk that is full.
 * usage: limits filtered|small|full OUT.texeltrace */
#include "common.h"

static void filtered(const char *path) {
    uint64_t hashes[2] = {7, 9};
    TexelTraceOptions options = options_of(path);
    options.shader_hashes = hashes;
    options.shader_hash_count = 2;
    options.max_dispatches = 3;
    TexelTraceRecorder recorder;
    EXPECT(TEXELTRACE_OK, texeltrace_open(&options, &recorder));
    TexelTraceShader wanted = shader_of(recorder, 9), unwanted = shader_of(recorder, 8);
    EXPECT(TEXELTRACE_SKIPPED, texeltrace_wants(unwanted));
    for (int i = 0; i < 5; i++) {
        TexelTraceDispatchInfo info = dispatch_info(NULL);
        TexelTraceDispatch dispatch = 99;
        EXPECT(TEXELTRACE_SKIPPED, texeltrace_add_dispatch(unwanted, &info, &dispatch));
        TexelTraceStatus expected = i < 3 ? TEXELTRACE_OK : TEXELTRACE_SKIPPED;
        EXPECT(expected, texeltrace_add_dispatch(wanted, &info, &dispatch));
        TexelTraceBuffer buffer = buffer_of(0, &i, sizeof i);
        EXPECT(expected, texeltrace_add_buffer(dispatch, &buffer));
        EXPECT(expected, texeltrace_begin(dispatch));
        EXPECT(expected, texeltrace_output(dispatch, buffer.place, &i, sizeof i));
        EXPECT(expected, texeltrace_end(dispatch));
    }
    EXPECT(TEXELTRACE_OK, texeltrace_close(recorder));
}

static void small(const char *path) {
    static uint32_t content[8192];
    TexelTraceOptions options = options_of(path);
    options.max_file_bytes = 200000;
    options.copy_bytes = 16384;
    TexelTraceRecorder recorder;
    EXPECT(TEXELTRACE_OK, texeltrace_open(&options, &recorder));
    TexelTraceShader shader = shader_of(recorder, 1);
    int limited = 0;
    for (uint32_t i = 0; i < 100; i++) {
        TexelTraceDispatchInfo info = dispatch_info("small");
        TexelTraceDispatch dispatch;
        TexelTraceStatus status = texeltrace_add_dispatch(shader, &info, &dispatch);
        if (status == TEXELTRACE_SKIPPED) continue;
        EXPECT(TEXELTRACE_OK, status);
        content[0] = i;
        TexelTraceBuffer buffer = buffer_of(0, content, i % 2 == 0 ? sizeof content : 4096);
        status = texeltrace_add_buffer(dispatch, &buffer);
        if (status == TEXELTRACE_OK) status = texeltrace_begin(dispatch);
        if (status == TEXELTRACE_LIMIT) {
            EXPECT_MESSAGE("longer than its limit");
            limited++;
            EXPECT(TEXELTRACE_OK, texeltrace_discard(dispatch));
            continue;
        }
        EXPECT(TEXELTRACE_OK, status);
        content[0] = ~i;
        EXPECT(TEXELTRACE_OK, texeltrace_output(dispatch, buffer.place, content, buffer.data_bytes));
        EXPECT(TEXELTRACE_OK, texeltrace_end(dispatch));
    }
    EXPECT(TEXELTRACE_OK, texeltrace_close(recorder));
    if (limited == 0) {
        fprintf(stderr, "the limit was not reached\n");
        exit(1);
    }
}

/* The folder holds less than is recorded. */
static void full(const char *path) {
    static uint32_t content[65536];
    TexelTraceOptions options = options_of(path);
    TexelTraceRecorder recorder;
    EXPECT(TEXELTRACE_OK, texeltrace_open(&options, &recorder));
    TexelTraceShader shader = shader_of(recorder, 1);
    TexelTraceStatus status = TEXELTRACE_OK;
    uint32_t number = 0;
    for (; number < 1000 && status == TEXELTRACE_OK; number++) {
        TexelTraceDispatchInfo info = dispatch_info("full");
        TexelTraceDispatch dispatch = 0;
        status = texeltrace_add_dispatch(shader, &info, &dispatch);
        content[0] = number;
        TexelTraceBuffer buffer = buffer_of(0, content, sizeof content);
        if (status == TEXELTRACE_OK) status = texeltrace_add_buffer(dispatch, &buffer);
        if (status == TEXELTRACE_OK) status = texeltrace_begin(dispatch);
        if (status == TEXELTRACE_OK) status = texeltrace_output(dispatch, buffer.place, content, sizeof content);
        if (status == TEXELTRACE_OK) status = texeltrace_end(dispatch);
        if (status == TEXELTRACE_OK) status = texeltrace_flush(recorder);
    }
    EXPECT(TEXELTRACE_IO, status);
    EXPECT_MESSAGE("writing failed in the");
    EXPECT(TEXELTRACE_IO, texeltrace_flush(recorder));
    EXPECT(TEXELTRACE_IO, texeltrace_close(recorder));
    printf("%u\n", number - 1);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "filtered") == 0) filtered(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "small") == 0) small(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "full") == 0) full(argv[2]);
    else return 64;
    return 0;
}
