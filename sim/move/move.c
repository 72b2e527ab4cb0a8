/* Transfers: the checks, and how to move. */
#include <unistd.h>

#include "copy_context.h"
#include "overlap.h"
#include "base/number.h"
#include "move/move.h"
#include "layout/convert.h"

/* ---- Checks ---- */

typedef struct {
    int64_t low, high; /* bytes: low .. high-1 */
} extent_bytes;

static void widen(extent_bytes *bits, int64_t first, int64_t last) {
    if (first < bits->low) bits->low = first;
    if (last > bits->high) bits->high = last;
}

/* Not less than the bytes that a side touches; false where they do not fit in 64 bits. */
static bool bound(const ts_plan_side *side, const ts_layout *layout, extent_bytes *bytes) {
    int64_t first = side->base_bits, last = first, low, high;
    for (int i = 0; i < layout->axis_count; i++) {
        ts_layout_axis_range(layout, i, &low, &high);
        if (!ts_mul(low, side->axis_bits[i], &low) || !ts_mul(high, side->axis_bits[i], &high) ||
            !ts_add(first, low, &first) || !ts_add(last, high, &last))
            return false;
    }
    *bytes = (extent_bytes){ts_floor_div(first, 8), ts_floor_div(last + side->shape->element_bits + 7, 8)};
    return true;
}

static bool bound_sides(const ts_plan *plan, extent_bytes *from, extent_bytes *to) {
    return bound(&plan->src, plan->src_layout, from) && bound(&plan->dst, plan->dst_layout, to);
}

/* Are both inside their spaces, and apart? No box need be asked, if the layouts as a whole are. */
static bool are_fine(const ts_space *src, const ts_space *dst, const extent_bytes *from,
                     const extent_bytes *to) {
    return ts_space_contains(src, from->low, from->high - from->low) &&
           ts_space_contains(dst, to->low, to->high - to->low) &&
           (src != dst || from->high <= to->low || to->high <= from->low);
}

/* The bytes that the boxes touch on each side. */
static void reach(const ts_plan *plan, extent_bytes *src, extent_bytes *dst) {
    *src = *dst = (extent_bytes){INT64_MAX, INT64_MIN};
    for (int64_t n = 0; n < plan->box_count; n++) {
        ts_plan_box box;
        ts_plan_get_box(plan, n, &box);
        extent_bytes from = {box.src_bits, box.src_bits}, to = {box.dst_bits, box.dst_bits};
        for (int i = 0; i < box.loop_count; i++) {
            int64_t steps = box.loops[i].extent - 1;
            *(box.loops[i].src_bits < 0 ? &from.low : &from.high) += steps * box.loops[i].src_bits;
            *(box.loops[i].dst_bits < 0 ? &to.low : &to.high) += steps * box.loops[i].dst_bits;
        }
        widen(src, from.low, from.high + plan->src.shape->element_bits);
        widen(dst, to.low, to.high + plan->dst.shape->element_bits);
    }
    *src = (extent_bytes){ts_floor_div(src->low, 8), ts_floor_div(src->high + 7, 8)};
    *dst = (extent_bytes){ts_floor_div(dst->low, 8), ts_floor_div(dst->high + 7, 8)};
}

static bool check_inside(ts_error *err, const char *which, extent_bytes at, const ts_space *space) {
    if (ts_space_contains(space, at.low, at.high - at.low)) return true;
    return ts_error_set(err, TS_ERROR_FAULT, "the %s takes bytes %lld to %lld of %s, which has %lld bytes",
                        which, (long long)at.low, (long long)at.high - 1, space->name,
                        (long long)space->capacity_bytes);
}

static bool is_possible(ts_error *err, const ts_plan *plan) {
    const ts_shape *from = plan->src.shape, *to = plan->dst.shape;
    const char *name = ts_dtype_get(from->dtype)->name;
    if (!ts_convert_possible(from->dtype, to->dtype))
        return ts_error_set(err, TS_ERROR_INPUT, "there is no conversion from %s to %s", name,
                            ts_dtype_get(to->dtype)->name);
    if (from->element_bits == to->element_bits || ts_dtype_has_value(from->dtype)) return true;
    return ts_error_set(err, TS_ERROR_INPUT, "there is no conversion of %s from %d to %d bits", name,
                        from->element_bits, to->element_bits);
}

/* The same of the boxes. */
static bool check_boxes(ts_error *err, const ts_plan *plan, const ts_space *src, const ts_space *dst,
                        extent_bytes *from, extent_bytes *to) {
    reach(plan, from, to);
    if (!check_inside(err, "source", *from, src) || !check_inside(err, "destination", *to, dst)) return false;
    if (src != dst || from->high <= to->low || to->high <= from->low || dma_sides_are_apart(plan))
        return true;
    return ts_error_set(
        err, TS_ERROR_INPUT, "the source (bytes %lld to %lld) and the destination (%lld to %lld) overlap",
        (long long)from->low, (long long)from->high - 1, (long long)to->low, (long long)to->high - 1);
}

bool ts_dma_check(ts_error *err, const ts_plan *plan, const ts_space *src, const ts_space *dst) {
    extent_bytes from, to;
    return is_possible(err, plan) &&
           (plan->elements == 0 || (bound_sides(plan, &from, &to) && are_fine(src, dst, &from, &to)) ||
            check_boxes(err, plan, src, dst, &from, &to));
}

/* ---- Moving ---- */

/* More bytes than half of the last cache are stored past the caches. Hosts may report the sum of many caches
 * of which a core reaches one; on a core with 32 MiB, streaming wins somewhere between 16 and 32 MiB of both
 * sides together. */
enum { BELIEVED_CACHE_BYTES = 48 << 20, NEVER_STREAMED_BYTES = 8 << 20 };

/* Read and written. */
static int64_t bytes_of(const ts_plan *plan) {
    return plan->moved_elements * (plan->src.shape->element_bits + plan->dst.shape->element_bits) / 8;
}

static bool is_large(const ts_plan *plan, int64_t alike) {
    int64_t bytes = bytes_of(plan);
    if (alike > 1 && !ts_mul(bytes, alike, &bytes)) return true;
    if (bytes <= NEVER_STREAMED_BYTES) return false;
    int64_t cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    if (cache <= 0 || cache > BELIEVED_CACHE_BYTES) cache = BELIEVED_CACHE_BYTES;
    return bytes > cache / 2;
}

bool ts_dma_move_streams(const ts_plan *plan, const ts_move_options *options) {
    if (!options->kernels || !options->kernels->stream_runs || options->stores == TS_STORES_ORDINARY)
        return false;
    return options->stores == TS_STORES_STREAMING || is_large(plan, options->alike);
}

/* To start a thread and wait for it costs 25 microseconds and more: what moves a MiB in a cache, or gathers 8
 * Ki elements. Fewer threads are taken where each would have less than twice that. */
enum { THREAD_BYTES = 2 << 20, THREAD_GATHERED = 16 << 10 };

int ts_move_threads(const ts_plan *plan, int asked) {
    int64_t pay = plan->gathers ? plan->moved_elements / THREAD_GATHERED : bytes_of(plan) / THREAD_BYTES;
    if (pay > asked) pay = asked;
    return pay < 1 ? 1 : (int)pay;
}

void ts_copy_set(ts_copy_context *m, const ts_plan *plan, const ts_move_options *options, uint8_t *src,
                 uint8_t *dst) {
    const ts_shape *from = plan->src.shape, *to = plan->dst.shape;
    m->src = (ts_copy_side){from->dtype, from->element_bits, src};
    m->dst = (ts_copy_side){to->dtype, to->element_bits, dst};
    m->same = from->dtype == to->dtype && from->element_bits == to->element_bits;
    m->kernels = options->kernels;
    m->streams = ts_dma_move_streams(plan, options);
    m->staging = false;
    m->behind_bytes = 0;
    m->ahead_bytes = 0;
    m->convert = NULL;
    m->steps = NULL;
    if (!m->same) ts_copy_set_conversion(m);
}

void ts_move_plan(const ts_copy_context *m, const ts_plan *plan, int threads) {
    if (m->kernels && ts_gather_possible(plan))
        ts_move_gather(m, plan, threads);
    else
        ts_move_boxes(m, plan, m->kernels ? threads : 1);
}

/* ---- Moves that are prepared ---- */

struct ts_prepared_move {
    const ts_plan *plan;
    ts_move_options options;
    bool is_bounded; /* from, to: what the layouts reach */
    extent_bytes from, to;
    bool is_ready, reads_on; /* for these sides, and sources that may be read on */
    ts_plan near;            /* its addresses count from these bytes */
    int64_t src_low, dst_low;
    int threads;
    ts_copy_context m;
    ts_copy_steps steps; /* none in an arena: nothing is kept */
};

static void prepare(ts_prepared_move *p, ts_arena *arena, const ts_plan *plan,
                    const ts_move_options *options) {
    p->plan = plan;
    p->options = *options;
    p->is_bounded = plan->elements > 0 && bound_sides(plan, &p->from, &p->to);
    p->is_ready = false;
    p->steps = (ts_copy_steps){.arena = arena, .m = &p->m};
}

ts_prepared_move *ts_move_prepare(ts_arena *arena, const ts_plan *plan, const ts_move_options *options) {
    ts_prepared_move *p = TS_NEW(arena, ts_prepared_move);
    prepare(p, arena, plan, options);
    return p;
}

static extent_bytes shifted(extent_bytes bytes, int64_t by) {
    return (extent_bytes){bytes.low + by, bytes.high + by};
}

/* Where the sides are, if they may be there. */
static bool locate(ts_error *err, const ts_prepared_move *p, const ts_move_end *src, const ts_move_end *dst,
                   extent_bytes *from, extent_bytes *to) {
    if (p->is_bounded) {
        *from = shifted(p->from, src->shift_bytes);
        *to = shifted(p->to, dst->shift_bytes);
        if (are_fine(src->space, dst->space, from, to)) return true;
    }
    ts_plan plan = *p->plan;
    ts_plan_shift(&plan, src->shift_bytes * 8, dst->shift_bytes * 8);
    return check_boxes(err, &plan, src->space, dst->space, from, to);
}

/* Does one thread move few boxes within the caches? What is more takes longer than to find how. */
static bool keeps_steps(const ts_prepared_move *p) {
    return p->steps.arena && p->threads == 1 && p->m.kernels && !p->m.streams && !p->plan->gathers &&
           p->plan->box_count <= TS_COPY_MOST_STEPS;
}

/* What does not depend on the addresses, where that is not known yet. */
static void make_ready(ts_prepared_move *p, int64_t src_low, int64_t dst_low, bool reads_on) {
    ts_copy_context *m = &p->m;
    if (p->is_ready && p->reads_on == reads_on && p->src_low == src_low && p->dst_low == dst_low) return;
    p->near = *p->plan;
    ts_plan_shift(&p->near, -src_low * 8, -dst_low * 8);
    ts_copy_set(m, &p->near, &p->options, NULL, NULL);
    m->behind_bytes = reads_on ? TS_LINE_BYTES : 0;
    p->threads = ts_move_threads(&p->near, p->options.threads);
    p->steps.count = 0;
    p->steps.full = false;
    if (keeps_steps(p)) m->steps = &p->steps;
    p->is_ready = true;
    p->reads_on = reads_on;
    p->src_low = src_low;
    p->dst_low = dst_low;
}

/* Steps are kept when they are first done. */
static void move_bytes(ts_prepared_move *p, uint8_t *src, uint8_t *dst) {
    p->m.src.bytes = src;
    p->m.dst.bytes = dst;
    if (p->steps.count > 0 && !p->steps.full)
        ts_copy_steps_repeat(&p->steps);
    else
        ts_move_plan(&p->m, &p->near, p->threads);
}

static uint8_t *touch(ts_space *space, extent_bytes bytes) {
    return ts_space_touch(space, bytes.low, bytes.high - bytes.low);
}

/* For ends of which the source was touched last. */
static void make_ready_for(ts_prepared_move *p, const ts_move_end *src, extent_bytes from,
                           const ts_move_end *dst, extent_bytes to) {
    const ts_space_range *last = &src->space->last;
    bool reads_on = last->end + last->behind - from.high >= TS_LINE_BYTES;
    make_ready(p, from.low - src->shift_bytes, to.low - dst->shift_bytes, reads_on);
}

bool ts_move_make_ready(ts_error *err, ts_prepared_move *p, ts_move_end src, ts_move_end dst) {
    extent_bytes from, to;
    if (!is_possible(err, p->plan)) return false;
    if (p->plan->elements == 0) return true;
    if (!locate(err, p, &src, &dst, &from, &to)) return false;
    make_ready_for(p, &src, from, &dst, to);
    if (!p->m.steps || p->steps.count > 0) return true;
    p->steps.finds = true;
    ts_move_plan(&p->m, &p->near, p->threads);
    p->steps.finds = false;
    return true;
}

bool ts_move_execute(ts_error *err, ts_prepared_move *p, ts_move_end src, ts_move_end dst) {
    extent_bytes from, to;
    if (!is_possible(err, p->plan)) return false;
    if (p->plan->elements == 0) return true;
    if (!locate(err, p, &src, &dst, &from, &to)) return false;
    touch(src.space, from); /* in one memory, touching the destination may move it */
    uint8_t *to_bytes = touch(dst.space, to), *from_bytes = touch(src.space, from);
    make_ready_for(p, &src, from, &dst, to);
    move_bytes(p, from_bytes, to_bytes);
    if (!dst.space->shadow) return true;
    ts_plan plan = *p->plan;
    ts_plan_shift(&plan, src.shift_bytes * 8, dst.shift_bytes * 8);
    ts_dma_move_shadow(&plan, src.space, dst.space);
    return true;
}

bool ts_dma_move_with(ts_error *err, const ts_plan *plan, ts_space *src, ts_space *dst,
                      const ts_move_options *options) {
    ts_prepared_move once;
    prepare(&once, NULL, plan, options);
    return ts_move_execute(err, &once, (ts_move_end){src, 0}, (ts_move_end){dst, 0});
}

bool ts_dma_move(ts_error *err, const ts_plan *plan, ts_space *src, ts_space *dst) {
    return ts_dma_move_with(err, plan, src, dst, &(ts_move_options){.kernels = ts_kernels_best()});
}
