/* Records dispatches of a small emulator that has no GPU: it unpacks images of FORMAT 43 on the CPU, and the SPIR-V that stands
 * for that is in unpack43.spvasm.
 *
 * usage: record unpack43.spv OUT.texeltrace [DISPATCHES] */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "texeltrace.h"

enum { WIDTH = 40, HEIGHT = 30, TEXELS = WIDTH * HEIGHT, WORKGROUP = 64 };

/* Ends the program when a call fails. An emulator would stop recording and go on. */
static void check(TexelTraceStatus status, const char *what) {
    if (status != TEXELTRACE_OK && status != TEXELTRACE_SKIPPED) {
        fprintf(stderr, "%s: status %d: %s\n", what, (int)status, texeltrace_message());
        exit(1);
    }
}

static void *read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    size_t room = 1 << 20;
    void *content = malloc(room);
    *bytes = content == NULL ? 0 : fread(content, 1, room, file);
    fclose(file);
    return content;
}

/* The FP32 bits of an unsigned float with 5 exponent bits and so many mantissa bits. */
static uint32_t small_float(uint32_t code, uint32_t bits) {
    uint32_t mantissa = code & ((1u << bits) - 1u), exponent = code >> bits;
    if (exponent == 0) {
        uint32_t scale_bits = (113u - bits) << 23, word;
        float scale, value;
        memcpy(&scale, &scale_bits, sizeof scale);
        value = (float)mantissa * scale;
        memcpy(&word, &value, sizeof word);
        return word;
    }
    return (exponent == 31 ? 255u : exponent + 112u) << 23 | mantissa << (23 - bits);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s unpack43.spv OUT.texeltrace [DISPATCHES]\n", argv[0]);
        return 64;
    }
    int dispatches = argc > 3 ? atoi(argv[3]) : 3;

    TexelTraceOptions options;
    memset(&options, 0, sizeof options);
    options.path = argv[2];
    options.name = "c-example";
    options.profile = "gfx1035";
    options.device = "the CPU";
    options.source = TEXELTRACE_SOURCE_SYNTHETIC;
    TexelTraceRecorder recorder;
    check(texeltrace_open(&options, &recorder), "texeltrace_open");

    size_t spirv_bytes;
    void *spirv = read_file(argv[1], &spirv_bytes);
    TexelTraceShaderInfo shader_info;
    memset(&shader_info, 0, sizeof shader_info);
    shader_info.spirv = spirv;
    shader_info.spirv_bytes = spirv_bytes;
    shader_info.guest_hash = 0x43;
    shader_info.has_guest_hash = 1;
    TexelTraceShader shader;
    check(texeltrace_add_shader(recorder, &shader_info, &shader), "texeltrace_add_shader");
    free(spirv);

    static uint32_t texels[TEXELS], unpacked[TEXELS * 3];
    /* FORMAT 43, TYPE 2D, DST_SEL X Y Z 1, WIDTH and HEIGHT less one. */
    const uint32_t descriptor[8] = {
        0, 43u << 20 | ((WIDTH - 1) & 3u) << 30, (WIDTH - 1) >> 2 | (HEIGHT - 1) << 14, 0x900003acu, 0, 0, 0, 0};
    uint32_t state = 1;
    for (int number = 0; number < dispatches; number++) {
        for (int i = 0; i < TEXELS; i++) {
            state = state * 1664525u + 1013904223u;
            texels[i] = state;
        }

        TexelTraceDispatchInfo info;
        memset(&info, 0, sizeof info);
        info.name = "unpack";
        info.groups[0] = (TEXELS + WORKGROUP - 1) / WORKGROUP;
        info.groups[1] = info.groups[2] = 1;
        TexelTraceDispatch dispatch;
        check(texeltrace_add_dispatch(shader, &info, &dispatch), "texeltrace_add_dispatch");

        TexelTraceImage image;
        memset(&image, 0, sizeof image);
        image.kind = TEXELTRACE_SAMPLED_IMAGE;
        image.format = 98; /* VK_FORMAT_R32_UINT */
        image.view = TEXELTRACE_VIEW_2D;
        image.extent[0] = WIDTH;
        image.extent[1] = HEIGHT;
        image.extent[2] = image.layers = image.levels = 1;
        image.descriptor = descriptor;
        image.texels = texels;
        image.texel_bytes = sizeof texels;
        check(texeltrace_add_image(dispatch, &image), "texeltrace_add_image");

        TexelTraceBuffer buffer;
        memset(&buffer, 0, sizeof buffer);
        buffer.place.binding = 1;
        buffer.output = 1;
        buffer.element = TEXELTRACE_ELEMENT_FLOAT;
        buffer.channels = 3;
        buffer.grid[0] = WIDTH;
        buffer.grid[1] = HEIGHT;
        buffer.grid[2] = 1;
        buffer.data_bytes = sizeof unpacked;
        check(texeltrace_add_buffer(dispatch, &buffer), "texeltrace_add_buffer");

        check(texeltrace_begin(dispatch), "texeltrace_begin");
        for (int i = 0; i < TEXELS; i++) {
            unpacked[i * 3] = small_float(texels[i] & 0x3ff, 5);
            unpacked[i * 3 + 1] = small_float(texels[i] >> 10 & 0x7ff, 6);
            unpacked[i * 3 + 2] = small_float(texels[i] >> 21, 6);
        }
        check(texeltrace_output(dispatch, buffer.place, unpacked, sizeof unpacked), "texeltrace_output");
        check(texeltrace_end(dispatch), "texeltrace_end");
    }
    check(texeltrace_close(recorder), "texeltrace_close");
    return 0;
}
