/* Moves and copies, timed on this host. */
#include "study/bench.h"

#include <string.h>

#include "base/host_clock.h"
#include "base/number.h"

enum { SAMPLE_BYTES = 16 << 20, SAMPLE_MOST_TIMES = 2048, LEAST_ROUNDS = 3 };
enum { SMALL_NUMBERS = 0x40 }; /* in every byte: 2 to 33 in each floating-point type */

typedef struct {
    ts_prepared_move *move;
    ts_space *src, *dst;
    uint8_t *from, *to; /* where copies begin */
    int64_t half;       /* bytes that a copy reads, and writes */
    int times;          /* in one sample */
    const ts_move_options *how;
} timed;

/* One thread is timed by what it ran, so that others on the host cost it only their share of the memory. */
static double now(const ts_move_options *how) {
    return ts_host_seconds(how->threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID);
}

/* ---- Buffers ---- */

/* The axis, of those without bits, whose last digit is the last of all: what steps fastest. */
static int innermost_axis(const ts_layout *layout, const int64_t *bits) {
    for (int i = layout->digit_count - 1; i >= 0; i--)
        if (bits[layout->digits[i].axis] == 0) return layout->digits[i].axis;
    int axis = layout->axis_count - 1;
    while (bits[axis] != 0) axis--;
    return axis;
}

bool ts_bench_place(ts_error *err, const ts_transfer_end *end, int64_t *bits, int64_t *bytes) {
    const ts_layout *layout = ts_shape_layout(err, end->shape, "the tensor");
    if (!layout) return ts_transfer_end_error(err, end, 0);
    int64_t step = end->shape->element_bits, low, high;
    memset(bits, 0, TS_LAYOUT_MAX_AXES * sizeof *bits);
    for (int i = 0; i < layout->axis_count; i++) {
        int axis = innermost_axis(layout, bits);
        ts_layout_axis_range(layout, axis, &low, &high);
        bits[axis] = step;
        if (low < 0) {
            ts_error_set(err, TS_ERROR_INPUT, "the layout begins at %lld on axis '%s', expected 0 or more",
                         (long long)low, layout->axes[axis].name);
            return ts_transfer_end_error(err, end, 0);
        }
        if (!ts_mul(step, high + 1, &step)) step = INT64_MAX;
    }
    *bytes = ts_ceil_div(step, 8);
    if (*bytes < end->shape->storage_bytes) *bytes = end->shape->storage_bytes;
    if (*bytes <= TS_BENCH_MOST_BYTES) return true;
    ts_error_set(err, TS_ERROR_INPUT, "the tensor takes %lld bytes, and a bench at most %d",
                 (long long)*bytes, TS_BENCH_MOST_BYTES);
    return ts_transfer_end_error(err, end, 0);
}

/* A space whose first byte begins a huge page. */
static ts_space *buffer(ts_arena *arena, const char *name, int64_t bytes, uint8_t **first) {
    bytes = ts_round_up(bytes + 1, TS_SPACE_HUGE_BYTES);
    ts_space *space = ts_space_new(arena, name, bytes);
    *first = ts_space_touch(space, 0, bytes);
    return space;
}

/* ---- Samples ---- */

int ts_bench_times(int64_t bytes) { return (int)ts_min(SAMPLE_BYTES / (bytes + 1) + 1, SAMPLE_MOST_TIMES); }

/* The caller has seen that the move is possible. */
static double time_move(const timed *t) {
    double start = now(t->how);
    for (int i = 0; i < t->times; i++)
        ts_move_execute(NULL, t->move, (ts_move_end){t->src, 0}, (ts_move_end){t->dst, 0});
    return (now(t->how) - start) / t->times;
}

/* By all threads that the move may take. */
static void copy(const timed *t, const ts_plan *bytes, ts_move_stores stores) {
    ts_move_options how = {.kernels = ts_kernels_best(), .stores = stores, .threads = t->how->threads};
    if (stores == TS_STORES_ORDINARY)
        how.kernels = ts_kernels_get(TS_KERNELS_PORTABLE); /* its runs are memcpy's */
    if (t->how->threads > 1)
        ts_dma_move_with(NULL, bytes, t->src, t->dst, &how);
    else if (stores == TS_STORES_STREAMING)
        ts_kernels_stream_copy(how.kernels, t->to, t->from, t->half);
    else
        memcpy(t->to, t->from, (size_t)t->half);
    __asm__ volatile("" ::: "memory");
}

static double time_copy(const timed *t, const ts_plan *bytes, ts_move_stores stores) {
    double start = now(t->how);
    for (int i = 0; i < t->times; i++) copy(t, bytes, stores);
    return (now(t->how) - start) / t->times;
}

static void keep_best(double *best, double seconds) {
    if (*best == 0 || seconds < *best) *best = seconds;
}

/* The plan of a copy of `half` bytes. */
static const ts_plan *plan_copy(ts_error *err, ts_arena *arena, const timed *t) {
    const ts_shape *bytes = ts_shape_row_major(err, arena, TS_DTYPE_U8, 1, &t->half);
    if (!bytes) return NULL;
    ts_plan_side side = {bytes, NULL, NULL, 0};
    return ts_plan_new(err, arena, &side, &side, 1, &t->half);
}

static bool measure(ts_error *err, ts_arena *arena, const timed *t, double seconds, ts_bench_result *result) {
    const ts_plan *bytes = plan_copy(err, arena, t);
    if (!bytes || !ts_move_execute(err, t->move, (ts_move_end){t->src, 0}, (ts_move_end){t->dst, 0}))
        return false;
    bool can_stream = ts_kernels_best() != ts_kernels_get(TS_KERNELS_PORTABLE);
    double end = ts_host_seconds(CLOCK_MONOTONIC) + seconds;
    for (result->rounds = 0; result->rounds < LEAST_ROUNDS || ts_host_seconds(CLOCK_MONOTONIC) < end;
         result->rounds++) {
        keep_best(&result->move_seconds, time_move(t));
        keep_best(&result->memcpy_seconds, time_copy(t, bytes, TS_STORES_ORDINARY));
        if (can_stream) keep_best(&result->stream_seconds, time_copy(t, bytes, TS_STORES_STREAMING));
    }
    return true;
}

/* What does not depend on time. */
static void describe(const ts_plan *plan, const ts_bench *bench, ts_bench_result *result) {
    int64_t bits = plan->src.shape->element_bits + plan->dst.shape->element_bits;
    result->elements = plan->elements;
    result->bytes = ts_ceil_div(plan->elements * bits, 8);
    result->boxes = plan->box_count;
    result->gathers = plan->gathers;
    result->why_gather = plan->why_gather;
    result->streams = ts_dma_move_streams(plan, &bench->how);
}

/* Where a side lies, and how many bytes it takes. */
typedef struct {
    int64_t bits[TS_LAYOUT_MAX_AXES], bytes;
} placement;

/* Two buffers, each large enough for either side. */
static bool run(ts_error *err, ts_arena *arena, const ts_bench *bench, const placement sides[2], timed *t,
                ts_bench_result *result) {
    int64_t bytes = sides[0].bytes > sides[1].bytes ? sides[0].bytes : sides[1].bytes;
    t->src = buffer(arena, "the source", bytes, &t->from);
    t->dst = buffer(arena, "the destination", bytes, &t->to);
    ts_plan_side from = {bench->src.shape, bench->src.begin, sides[0].bits, 0};
    ts_plan_side to = {bench->dst.shape, bench->dst.begin, sides[1].bits, 0};
    const ts_plan *plan = ts_transfer_plan(err, arena, &bench->src, from, &bench->dst, to);
    if (!plan) return false;
    t->move = ts_move_prepare(arena, plan, t->how);
    describe(plan, bench, result);
    t->half = ts_ceil_div(result->bytes, 2);
    t->times = ts_bench_times(result->bytes);
    memset(t->from, SMALL_NUMBERS, (size_t)bytes);
    memset(t->to, 0, (size_t)bytes);
    return measure(err, arena, t, bench->seconds, result);
}

bool ts_bench_run(ts_error *err, ts_arena *arena, const ts_bench *bench, ts_bench_result *result) {
    placement sides[2];
    timed t = {.how = &bench->how};
    *result = (ts_bench_result){0};
    if (!ts_bench_place(err, &bench->src, sides[0].bits, &sides[0].bytes) ||
        !ts_bench_place(err, &bench->dst, sides[1].bits, &sides[1].bytes))
        return false;
    bool done = run(err, arena, bench, sides, &t, result);
    ts_space_free(t.src);
    ts_space_free(t.dst);
    return done;
}
