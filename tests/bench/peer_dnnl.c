/* oneDNN's reorder of a matrix. */
#include "tests/bench/peer_dnnl.h"

#ifdef TS_BENCH_DNNL
#include <dnnl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/host_clock.h"

#if DNNL_VERSION_MAJOR == 2

enum { HUGE_PAGE_BYTES = 2 << 20, ROUNDS = 9, SAMPLE_BYTES = 16 << 20 };

static bool type_of(const char *text, dnnl_data_type_t *type, int64_t *bytes) {
    *type = strncmp(text, "f32[", 4) == 0 ? dnnl_f32 : strncmp(text, "bf16[", 5) == 0 ? dnnl_bf16 : dnnl_s8;
    *bytes = *type == dnnl_f32 ? 4 : *type == dnnl_bf16 ? 2 : 1;
    return *type != dnnl_s8 || strncmp(text, "s8[", 3) == 0;
}

/* The blocks of a tile of 8 x 128 with `packed` rows interleaved. */
static void set_blocks(dnnl_memory_desc_t *desc, int64_t rows, int64_t columns, int packed) {
    dnnl_blocking_desc_t *blocks = &desc->format_desc.blocking;
    desc->padded_dims[0] = (rows + 7) / 8 * 8;
    desc->padded_dims[1] = (columns + 127) / 128 * 128;
    blocks->strides[0] = desc->padded_dims[1] * 8;
    blocks->strides[1] = 8 * 128;
    blocks->inner_nblks = packed > 1 ? 3 : 2;
    blocks->inner_blks[0] = 8 / packed;
    blocks->inner_idxs[0] = 0;
    blocks->inner_blks[1] = 128;
    blocks->inner_idxs[1] = 1;
    blocks->inner_blks[2] = packed;
    blocks->inner_idxs[2] = 0;
}

static bool describe(const char *text, dnnl_memory_desc_t *desc, int64_t *count, int64_t *bytes) {
    dnnl_data_type_t type;
    long long rows, columns;
    const char *dims = strchr(text, '['), *layout = strchr(text, '{');
    if (!type_of(text, &type, bytes) || !layout || sscanf(dims, "[%lld,%lld]", &rows, &columns) != 2)
        return false;
    dnnl_dims_t sizes = {rows, columns}, strides = {columns, 1}, transposed = {1, rows};
    bool turned = strcmp(layout, "{0,1}") == 0, tiled = strncmp(layout, "{1,0:T(8,128)", 13) == 0;
    if (!turned && !tiled && strcmp(layout, "{1,0}") != 0) return false;
    if (dnnl_memory_desc_init_by_strides(desc, 2, sizes, type, turned ? transposed : strides) != dnnl_success)
        return false;
    if (tiled) set_blocks(desc, rows, columns, strstr(layout, "(2,1)") ? 2 : strstr(layout, "(4,1)") ? 4 : 1);
    *count = rows * columns;
    return true;
}

static uint8_t *buffer(size_t bytes) {
    size_t length = (bytes / HUGE_PAGE_BYTES + 2) * HUGE_PAGE_BYTES;
    uint8_t *range = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (range == MAP_FAILED) return NULL;
    range += -(uintptr_t)range & (HUGE_PAGE_BYTES - 1);
    madvise(range, length - HUGE_PAGE_BYTES, MADV_HUGEPAGE);
    memset(range, 1, bytes);
    return range; /* as long as the bench runs */
}

typedef struct {
    dnnl_primitive_t reorder;
    dnnl_stream_t stream;
    dnnl_exec_arg_t args[2];
} work;

static double time_best(const work *w, uint8_t *to, const uint8_t *from, size_t half, int times,
                        bool copies) {
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = ts_host_seconds(CLOCK_THREAD_CPUTIME_ID);
        for (int i = 0; i < times; i++) {
            if (copies)
                memcpy(to, from, half);
            else
                dnnl_primitive_execute(w->reorder, w->stream, 2, w->args);
            __asm__ volatile("" ::: "memory");
        }
        double elapsed = (ts_host_seconds(CLOCK_THREAD_CPUTIME_ID) - start) / times;
        if (elapsed < best) best = elapsed;
    }
    return best;
}

static double run(dnnl_engine_t engine, const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to,
                  size_t bytes) {
    size_t half = bytes / 2, src_bytes = dnnl_memory_desc_get_size(from),
           dst_bytes = dnnl_memory_desc_get_size(to);
    uint8_t *src = buffer(src_bytes > half ? src_bytes : half),
            *dst = buffer(dst_bytes > half ? dst_bytes : half);
    dnnl_memory_t source, target;
    dnnl_primitive_desc_t plan;
    work w;
    if (!src || !dst || dnnl_memory_create(&source, from, engine, src) != dnnl_success ||
        dnnl_memory_create(&target, to, engine, dst) != dnnl_success ||
        dnnl_reorder_primitive_desc_create(&plan, from, engine, to, engine, NULL) != dnnl_success ||
        dnnl_primitive_create(&w.reorder, plan) != dnnl_success ||
        dnnl_stream_create(&w.stream, engine, dnnl_stream_default_flags) != dnnl_success)
        return 0;
    w.args[0] = (dnnl_exec_arg_t){DNNL_ARG_FROM, source};
    w.args[1] = (dnnl_exec_arg_t){DNNL_ARG_TO, target};
    int times = (int)(SAMPLE_BYTES / bytes) + 1;
    double move = time_best(&w, dst, src, half, times, false);
    return time_best(&w, dst, src, half, times, true) / move;
}

double peer_dnnl_ratio(const char *src, const char *dst) {
    static dnnl_engine_t engine;
    dnnl_memory_desc_t from, to;
    int64_t count, src_bytes, dst_bytes;
    if (!describe(src, &from, &count, &src_bytes) || !describe(dst, &to, &count, &dst_bytes)) return 0;
    if (!engine && dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) return 0;
    return run(engine, &from, &to, (size_t)(count * (src_bytes + dst_bytes)));
}

#else
double peer_dnnl_ratio(const char *src, const char *dst) {
    (void)src, (void)dst;
    return 0; /* the descriptors of oneDNN 3 are another interface */
}
#endif
#else
double peer_dnnl_ratio(const char *src, const char *dst) {
    (void)src, (void)dst;
    return 0;
}
#endif
