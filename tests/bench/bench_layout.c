/* How fast layouts are evaluated: one index at a time, and in bulk, next to memcpy of the same bytes; and how
 * fast shapes are read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/shapes.h"
#include "base/host_clock.h"

enum { SINGLE_RUNS = 2000000, PARSE_RUNS = 20000, BULK = 1 << 24 };

static const char *const shapes[] = {
    "f32[4096,4096]{1,0}",
    "f32[4096,4096]{1,0:T(8,128)}",
    "bf16[4096,4096]{1,0:T(8,128)(2,1)}",
    "f32[4096,4096]{0,1:T(8,128)}",
    "f32[1000,784]{1,0:T(8,128)}",
    "bf16[16,12,512,512]{3,2,1,0:T(8,128)(2,1)}",
    "bf16[16777216]{0:T(1024)(128)(2,1)}",
    "f32[64,8,64,512]{3,2,1,0:T(*,8,128)}",
    "f32[4095,4093]{1,0:T(15,13)(2,2)}",
    "f32[4096,4096] S[(512,8,32,128):(32768,128,1024,1)]",
    "f32[4096,4096] S[(512,8,32,128):(1@P,4096@F,128@F,1@F)]",
    "f32[8,16] S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)] + R[2:4@warp] + 5@warp",
    "f32[4096,4096] SW(3,3,3) o S[16777216:1]",
    "f32[16,64,64,256] lambda n,h,w,c: [n, c//4, h, w, c%4]",
    "f32[4096,4096] lambda i,j: [i, j^(i%8)]",
    "f32[4096,4096] ((8,512),(128,32)):((128,32768),(1,1024))",
    "f32[16,255,64,64] NCHW16c",
};

static double parse_seconds(const char *text) {
    ts_arena *arena = ts_arena_new();
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID), elapsed = 0;
    int runs = 0;
    for (; runs < PARSE_RUNS && elapsed < 1; runs++) { /* a map that is enumerated takes long */
        if (read_shape(NULL, arena, text) == NULL) abort();
        ts_arena_reset(arena);
        elapsed = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    }
    ts_arena_free(arena);
    return elapsed / runs;
}

/* Indices a large odd step apart, so that nothing is in a cache or predicted. */
static double single_seconds(const ts_layout *layout) {
    enum { INDICES = 4096 };
    static int64_t indices[INDICES][8];
    int64_t sum = 0, point[TS_LAYOUT_MAX_AXES];
    for (int i = 0; i < INDICES; i++) {
        int64_t flat = (int64_t)i * 7919 * 104729 % ts_layout_element_count(layout);
        for (int k = layout->rank - 1; k >= 0; k--) {
            indices[i][k] = flat % layout->dims[k];
            flat /= layout->dims[k];
        }
    }
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < SINGLE_RUNS; i++) {
        ts_layout_forward(layout, indices[i % INDICES], point);
        sum += point[0];
    }
    double elapsed = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    if (sum == 0) abort();
    return elapsed / SINGLE_RUNS;
}

/* An offset; of one axis only. */
static double bulk_seconds(const ts_layout *layout, int64_t *offsets) {
    int64_t count = ts_layout_element_count(layout), done = 0;
    if (count > BULK) count = BULK;
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (; done < BULK; done += count) {
        ts_arena *scratch = ts_arena_new();
        if (!ts_layout_forward_many(NULL, scratch, layout, 0, count, offsets)) abort();
        ts_arena_free(scratch);
    }
    return (ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)done;
}

static double memcpy_seconds(int64_t *to, const int64_t *from) {
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    memcpy(to, from, BULK * sizeof *to);
    __asm__ volatile("" ::"r"(to) : "memory");
    return (ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / BULK;
}

int main(void) {
    int64_t *offsets = calloc(BULK, sizeof *offsets), *copy = calloc(BULK, sizeof *copy);
    if (offsets == NULL || copy == NULL) abort();
    memset(offsets, 1, BULK * sizeof *offsets);
    memset(copy, 1, BULK * sizeof *copy);
    double one = memcpy_seconds(copy, offsets);
    printf("%-46s %9s %9s %12s %10s\n", "shape", "parse us", "one ns", "bulk M/s", "x memcpy");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_shape *shape = read_shape(NULL, arena, shapes[i]);
        if (shape == NULL) abort();
        printf("%-46.46s %9.2f %9.1f", shapes[i], 1e6 * parse_seconds(shapes[i]),
               1e9 * single_seconds(shape->layout));
        double bulk = shape->layout->axis_count == 1 ? bulk_seconds(shape->layout, offsets) : 0;
        if (bulk > 0)
            printf(" %12.1f %10.1f\n", 1e-6 / bulk, bulk / one);
        else
            printf(" %12s %10s\n", "-", "-");
        ts_arena_free(arena);
    }
    free(offsets);
    free(copy);
    return 0;
}
