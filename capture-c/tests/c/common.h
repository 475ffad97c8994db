/* What the test programs share. */
#ifndef COMMON_H
#define COMMON_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "texeltrace.h"

/* Ends the program when a call does not return what it should. */
#define EXPECT(expected, call)                                                                                         \
    do {                                                                                                               \
        TexelTraceStatus status_ = (call);                                                                             \
        if (status_ != (expected)) {                                                                                   \
            fprintf(stderr, "%s:%d: %s is %d, expected %d: %s\n", __FILE__, __LINE__, #call, (int)status_,             \
                    (int)(expected), texeltrace_message());                                                            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Ends the program when the last message does not hold a text. */
#define EXPECT_MESSAGE(text)                                                                                           \
    do {                                                                                                               \
        if (strstr(texeltrace_message(), (text)) == NULL) {                                                            \
            fprintf(stderr, "%s:%d: expected %s in: %s\n", __FILE__, __LINE__, (text), texeltrace_message());          \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Not a module that runs: recording does not look into it. */
static const uint32_t spirv[8] = {0x07230203, 0x00010300, 0, 1, 0, 0, 0, 0};

static TexelTraceOptions options_of(const char *path) {
    TexelTraceOptions options;
    memset(&options, 0, sizeof options);
    options.path = path;
    options.name = "test";
    options.profile = "exact";
    options.source = TEXELTRACE_SOURCE_SYNTHETIC;
    return options;
}

static TexelTraceShader shader_of(TexelTraceRecorder recorder, uint64_t hash) {
    TexelTraceShaderInfo info;
    memset(&info, 0, sizeof info);
    info.spirv = spirv;
    info.spirv_bytes = sizeof spirv;
    info.guest_hash = hash;
    info.has_guest_hash = 1;
    TexelTraceShader shader;
    EXPECT(TEXELTRACE_OK, texeltrace_add_shader(recorder, &info, &shader));
    return shader;
}

static TexelTraceDispatchInfo dispatch_info(const char *name) {
    TexelTraceDispatchInfo info;
    memset(&info, 0, sizeof info);
    info.name = name;
    info.groups[0] = info.groups[1] = info.groups[2] = 1;
    return info;
}

/* A storage buffer at a binding, which is an output. */
static TexelTraceBuffer buffer_of(uint32_t binding, const void *data, size_t bytes) {
    TexelTraceBuffer buffer;
    memset(&buffer, 0, sizeof buffer);
    buffer.place.binding = binding;
    buffer.output = 1;
    buffer.data = data;
    buffer.data_bytes = bytes;
    return buffer;
}

#endif
