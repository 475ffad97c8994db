/* Records dispatches without end, and prints the number of those that have ended and are with the system.
 * usage: endless OUT.texeltrace */
#include "common.h"

int main(int argc, char **argv) {
    if (argc != 2) return 64;
    static uint32_t content[4096];
    TexelTraceOptions options = options_of(argv[1]);
    options.copy_bytes = 1024;
    TexelTraceRecorder recorder;
    EXPECT(TEXELTRACE_OK, texeltrace_open(&options, &recorder));
    TexelTraceShader shader = shader_of(recorder, 1);
    for (uint32_t number = 0;; number++) {
        TexelTraceDispatchInfo info = dispatch_info("endless");
        TexelTraceDispatch dispatch;
        EXPECT(TEXELTRACE_OK, texeltrace_add_dispatch(shader, &info, &dispatch));
        content[0] = number;
        /* Longer than what is copied, then shorter. */
        size_t bytes = number % 2 == 0 ? sizeof content : 512;
        TexelTraceBuffer buffer = buffer_of(0, content, bytes);
        EXPECT(TEXELTRACE_OK, texeltrace_add_buffer(dispatch, &buffer));
        EXPECT(TEXELTRACE_OK, texeltrace_begin(dispatch));
        content[0] = ~number;
        EXPECT(TEXELTRACE_OK, texeltrace_output(dispatch, buffer.place, content, bytes));
        EXPECT(TEXELTRACE_OK, texeltrace_end(dispatch));
        if (number % 3 == 0) {
            EXPECT(TEXELTRACE_OK, texeltrace_flush(recorder));
            printf("%u\n", number + 1);
            fflush(stdout);
        }
    }
}
