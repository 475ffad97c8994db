/* Four threads record 10,000 dispatches with one recorder; the order in which their ends were recorded is printed.
 * usage: threads OUT.texeltrace */
#include <pthread.h>

#include "common.h"

enum { THREADS = 4, DISPATCHES = 2500 };

static TexelTraceShader shader;
static pthread_mutex_t ends = PTHREAD_MUTEX_INITIALIZER;
static char order[THREADS * DISPATCHES][16];
static int ended;

static void *work(void *argument) {
    int thread = *(int *)argument;
    for (int number = 0; number < DISPATCHES; number++) {
        char name[16];
        snprintf(name, sizeof name, "%d-%d", thread, number);
        TexelTraceDispatchInfo info = dispatch_info(name);
        TexelTraceDispatch dispatch;
        EXPECT(TEXELTRACE_OK, texeltrace_add_dispatch(shader, &info, &dispatch));
        uint32_t before[16], after[16];
        for (uint32_t i = 0; i < 16; i++) {
            before[i] = (uint32_t)thread << 24 | (uint32_t)number << 8 | i;
            after[i] = ~before[i];
        }
        TexelTraceBuffer buffer = buffer_of(0, before, sizeof before);
        EXPECT(TEXELTRACE_OK, texeltrace_add_buffer(dispatch, &buffer));
        EXPECT(TEXELTRACE_OK, texeltrace_begin(dispatch));
        EXPECT(TEXELTRACE_OK, texeltrace_output(dispatch, buffer.place, after, sizeof after));
        /* Held so that the order is known here. */
        pthread_mutex_lock(&ends);
        EXPECT(TEXELTRACE_OK, texeltrace_end(dispatch));
        memcpy(order[ended++], name, sizeof name);
        pthread_mutex_unlock(&ends);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc != 2) return 64;
    TexelTraceOptions options = options_of(argv[1]);
    /* Small, so that the threads have to wait. */
    options.queue_bytes = 4096;
    TexelTraceRecorder recorder;
    EXPECT(TEXELTRACE_OK, texeltrace_open(&options, &recorder));
    shader = shader_of(recorder, 1);
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0) return 1;
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    EXPECT(TEXELTRACE_OK, texeltrace_close(recorder));
    for (int i = 0; i < ended; i++) puts(order[i]);
    return 0;
}
