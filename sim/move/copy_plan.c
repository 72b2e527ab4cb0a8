/* Running a kernel over its loops, with the scratch for elements that change on their way. */
#include "copy_plan.h"

/* Tiles that are made in a scratch together: of two loops around them; the steps of the source are bits. */
typedef struct {
    ts_kernel_loop groups, tiles;
    int64_t src_bits; /* of the first */
} batch;

static int64_t group_bytes(const ts_copy_plan *copy, const batch *b) {
    return b->tiles.count * copy->narrow.lines * copy->tile.line_bytes;
}

static int line_elements(const ts_copy_plan *copy) {
    return copy->tile.line_bytes / (ts_copy_width(&copy->m->dst) / 8);
}

/* All by one call. */
static void convert_together(const ts_copy_plan *copy, const batch *b, uint8_t *lines) {
    const ts_copy_context *m = copy->m;
    int64_t at[TS_TILE_LINES];
    for (int i = 0; i < copy->narrow.lines; i++) at[i] = copy->line_bits[i] / 8;
    ts_convert_lines all = {.groups = b->groups.count,
                            .group_step = b->groups.src_step / 8,
                            .tiles = b->tiles.count,
                            .step = b->tiles.src_step / 8,
                            .count = line_elements(copy),
                            .dst_step = copy->tile.line_bytes,
                            .lines = copy->narrow.lines,
                            .line = at,
                            .have = copy->tile.masks ? copy->have : NULL};
    if (all.lines == 1 && !all.have && all.step == all.count * m->src.element_bits / 8) { /* one long line */
        all.count *= all.tiles;
        all.dst_step *= all.tiles;
        all.tiles = 1;
    }
    m->convert(&m->conversion, lines, m->src.bytes + b->src_bits / 8, &all);
}

/* Where a tile begins. */
static int64_t tile_bits(const batch *b, int64_t n) {
    return b->src_bits + n / b->tiles.count * b->groups.src_step + n % b->tiles.count * b->tiles.src_step;
}

static void convert_each(const ts_copy_plan *copy, const batch *b, uint8_t *lines) {
    const ts_copy_context *m = copy->m;
    int count = line_elements(copy);
    for (int64_t n = 0; n < b->groups.count * b->tiles.count; n++) {
        int64_t from = tile_bits(b, n);
        for (int i = 0; i < copy->narrow.lines; i++, lines += copy->tile.line_bytes)
            ts_fill_convert(m, m->src.bytes + (from + copy->line_bits[i]) / 8, lines,
                            copy->tile.masks ? copy->have[i] : count);
    }
}

/* Elements narrower than a byte are given a byte each first. */
static void convert_narrow(const ts_copy_plan *copy, const batch *b, uint8_t *lines) {
    uint8_t raw[TS_SCRATCH_BYTES], *next = raw;
    int count = line_elements(copy);
    for (int64_t n = 0; n < b->groups.count * b->tiles.count; n++) {
        int64_t from = tile_bits(b, n);
        for (int i = 0; i < copy->narrow.lines; i++, next += count)
            ts_fill_bytes(copy->m, from + copy->line_bits[i], next, count);
    }
    ts_fill_convert(copy->m, raw, lines, next - raw);
}

/* Makes their lines, whose elements are of another type. */
static void convert_tiles(const ts_copy_plan *copy, const batch *b, uint8_t *lines) {
    if (copy->m->src.element_bits < 8)
        convert_narrow(copy, b, lines);
    else if (copy->m->convert)
        convert_together(copy, b, lines);
    else
        convert_each(copy, b, lines);
}

/* Makes their lines, whose elements are narrower than a byte on a side. */
static void load_tiles(ts_copy_plan *copy, const batch *b, uint8_t *lines) {
    ts_narrow *narrow = &copy->narrow;
    int64_t step = b->tiles.src_step, together = step % 8 == 0 ? b->tiles.count : 1;
    for (int64_t g = 0; g < b->groups.count; g++) {
        int64_t from = b->src_bits + g * b->groups.src_step;
        for (int64_t n = 0; n < b->tiles.count; n += together, from += step * together) {
            for (int i = 0; i < narrow->lines; i++) narrow->src_line[i] = (from & 7) + copy->line_bits[i];
            copy->kernels->load_narrow(narrow, lines, copy->m->src.bytes + (from >> 3), together, step >> 3);
            lines += together * narrow->lines * copy->tile.line_bytes;
        }
    }
}

static void move_batch(ts_copy_plan *copy, const batch *b, uint8_t *dst) {
    _Alignas(64) uint8_t scratch[TS_SCRATCH_BYTES], joined[TS_SCRATCH_BYTES];
    int64_t bytes = group_bytes(copy, b), tile_bytes = bytes / b->tiles.count;
    int64_t group_step = b->groups.dst_step / 8, step = b->tiles.dst_step / 8;
    if (copy->m->src.dtype != copy->m->dst.dtype)
        convert_tiles(copy, b, scratch);
    else
        load_tiles(copy, b, scratch);
    copy->tile.loops[0] = copy->tile.loops[1] = (ts_kernel_loop){1, 0, 0};
    copy->tile.loops[2] = (ts_kernel_loop){b->groups.count, bytes, copy->joins ? bytes : group_step};
    copy->tile.loops[3] = (ts_kernel_loop){b->tiles.count, tile_bytes, copy->joins ? tile_bytes : step};
    copy->tile_function(&copy->tile, copy->joins ? joined : dst, scratch);
    for (int64_t g = 0; copy->joins && g < b->groups.count; g++)
        copy->kernels->store_narrow(&copy->narrow, dst + g * group_step, joined + g * bytes, b->tiles.count,
                                    step);
}

/* Tiles whose lines are made in a scratch, as many at once as it holds. */
static void fill_and_move(ts_copy_plan *copy, int64_t src_bits, uint8_t *dst) {
    ts_kernel_loop groups = copy->inner[0], tiles = copy->inner[1];
    int64_t most = TS_SCRATCH_BYTES / (copy->narrow.lines * copy->tile.line_bytes), many = most / tiles.count;
    if (many < 1) many = 1;
    for (int64_t g = 0; g < groups.count; g += many) {
        batch b = {groups, tiles, 0};
        b.groups.count = many < groups.count - g ? many : groups.count - g;
        for (int64_t n = 0; n < tiles.count; n += most) {
            b.tiles.count = most < tiles.count - n ? most : tiles.count - n;
            b.src_bits = src_bits + g * groups.src_step + n * tiles.src_step;
            move_batch(copy, &b, dst + g * groups.dst_step / 8 + n * tiles.dst_step / 8);
        }
    }
}

/* Runs of one loop. */
static void convert_runs(const ts_copy_plan *copy, const uint8_t *src, uint8_t *dst, ts_kernel_loop loop) {
    static const int64_t here = 0;
    const ts_convert_lines lines = {.groups = 1,
                                    .tiles = loop.count,
                                    .step = loop.src_step,
                                    .count = copy->run_elements,
                                    .dst_step = loop.dst_step,
                                    .lines = 1,
                                    .line = &here};
    copy->m->convert(&copy->m->conversion, dst, src, &lines);
}

/* The same past the caches: from a scratch, as many at once as it holds. */
static void stream_runs(const ts_copy_plan *copy, const uint8_t *src, uint8_t *dst, ts_kernel_loop loop) {
    _Alignas(64) uint8_t scratch[TS_SCRATCH_BYTES];
    const int64_t bytes = copy->run_bytes, together = TS_SCRATCH_BYTES / bytes;
    for (int64_t i = 0; i < loop.count; i += together) {
        const int64_t count = together < loop.count - i ? together : loop.count - i;
        const ts_kernel_loop loops[2] = {{1, 0, 0}, {count, bytes, loop.dst_step}};
        convert_runs(copy, src + i * loop.src_step, scratch, (ts_kernel_loop){count, loop.src_step, bytes});
        copy->m->kernels->stream_runs(dst + i * loop.dst_step, scratch, bytes, loops);
    }
}

static void fill_runs(const ts_copy_plan *copy, const uint8_t *src, uint8_t *dst) {
    const ts_kernel_loop *outer = &copy->inner[0], *inner = &copy->inner[1];
    const bool streams = copy->m->streams;
    for (int64_t i = 0; i < outer->count; i++, src += outer->src_step, dst += outer->dst_step) {
        if (ts_copy_converts(copy->m) && (!streams || copy->run_bytes <= TS_SCRATCH_BYTES)) {
            (streams ? stream_runs : convert_runs)(copy, src, dst, *inner);
            continue;
        }
        for (int64_t k = 0; k < inner->count; k++)
            ts_fill_run(copy->m, src + k * inner->src_step, dst + k * inner->dst_step, copy->run_elements);
    }
}

/* A loop of one step, as for a tail, leaves the innermost place to the next: kernels take several steps of
 * that at once. Large transposes are a tenth faster with a copy than with the loops written in place. */
static void set_tile_loops(ts_copy_plan *copy) {
    int next = TS_TILE_LOOPS;
    if (copy->in_runs) { /* whose loops keep their places */
        ts_copy_plan_set_runs(copy);
        return;
    }
    for (int k = TS_TILE_LOOPS - 1; k >= 0; k--)
        if (copy->inner[k].count > 1) copy->tile.loops[--next] = copy->inner[k];
    while (next > 0) copy->tile.loops[--next] = (ts_kernel_loop){1, 0, 0};
}

/* inner and tile.loops are set. */
static void call_kernel(ts_copy_plan *copy, int64_t src_bits, int64_t dst_bits) {
    const ts_copy_context *m = copy->m;
    const uint8_t *src = m->src.bytes + (src_bits >> 3);
    uint8_t *dst = m->dst.bytes + dst_bits / 8;
    copy->tile.streams = copy->streams && (intptr_t)dst % TS_CACHE_LINE_BYTES == 0;
    if (copy->tile_function && copy->fills)
        fill_and_move(copy, src_bits, dst);
    else if (copy->tile_function)
        (copy->in_runs ? copy->runs_function : copy->tile_function)(&copy->tile, dst, src);
    else if (!m->same)
        fill_runs(copy, src, dst);
    else
        (m->streams ? m->kernels->stream_runs : m->kernels->runs)(dst, src, copy->run_bytes, copy->inner);
}

static int64_t segments_of(const ts_copy_loop *loop) {
    int64_t whole = loop->most == 1             ? loop->count
                    : loop->most == loop->count ? 1
                                                : (loop->count + loop->most - 1) / loop->most;
    return whole + loop->has_tail;
}

/* Steps of a segment, and where it begins. */
static int64_t enter_segment(const ts_copy_loop *loop, int64_t segment, int64_t *src, int64_t *dst) {
    int64_t first = segment * loop->most, left = loop->count - first;
    *src = left > 0 ? first * loop->src_bits : loop->tail_src_bits;
    *dst = left > 0 ? first * loop->dst_bits : loop->tail_dst_bits;
    return left <= 0 ? 1 : left < loop->most ? left : loop->most;
}

/* The kernel's loops, of no steps yet; slot: which of them each loop is, -1 for none. */
static void set_inner(ts_copy_plan *copy, int *slot) {
    int shift = copy->fills ? 0 : 3;
    for (int i = 0; i < copy->loop_count; i++) slot[i] = -1;
    for (int k = 0; k < TS_TILE_LOOPS; k++) {
        int loop = copy->inner_loop[k];
        copy->inner[k] = (ts_kernel_loop){1, 0, 0};
        if (loop < 0) continue;
        slot[loop] = k;
        copy->inner[k] =
            (ts_kernel_loop){1, copy->loops[loop].src_bits >> shift, copy->loops[loop].dst_bits >> shift};
    }
}

void ts_copy_plan_set_call(ts_copy_plan *copy) {
    int slot[TS_PLAN_MAX_LOOPS + 1];
    copy->is_call = true;
    set_inner(copy, slot);
    for (int i = 0; i < copy->loop_count && copy->is_call; i++) {
        const ts_copy_loop *loop = &copy->loops[i];
        copy->is_call = slot[i] >= 0 && loop->most == loop->count && !loop->has_tail;
        if (copy->is_call) copy->inner[slot[i]].count = loop->count;
    }
    if (copy->is_call && copy->tile_function && !copy->fills) set_tile_loops(copy);
}

/* Segment after segment, those of the last loop fastest. src[i] is where loop i is entered. */
static void run_segments(ts_copy_plan *copy, int64_t src_bits, int64_t dst_bits) {
    int64_t at[TS_PLAN_MAX_LOOPS + 1] = {0}, src[TS_PLAN_MAX_LOOPS + 2], dst[TS_PLAN_MAX_LOOPS + 2];
    int slot[TS_PLAN_MAX_LOOPS + 1];
    set_inner(copy, slot);
    src[0] = src_bits;
    dst[0] = dst_bits;
    for (int i = 0; i >= 0;) {
        for (; i < copy->loop_count; i++) {
            int64_t src_step, dst_step, count = enter_segment(&copy->loops[i], at[i], &src_step, &dst_step);
            if (slot[i] >= 0) copy->inner[slot[i]].count = count;
            src[i + 1] = src[i] + src_step;
            dst[i + 1] = dst[i] + dst_step;
        }
        if (copy->tile_function && !copy->fills) set_tile_loops(copy);
        call_kernel(copy, src[i], dst[i]);
        for (i--; i >= 0 && ++at[i] == segments_of(&copy->loops[i]); i--) at[i] = 0;
    }
}

void ts_copy_plan_run(ts_copy_plan *copy, int64_t src_bits, int64_t dst_bits) {
    if (copy->tile_function && copy->tile.listed > 0)
        copy->tile_function(&copy->tile, copy->m->dst.bytes, copy->m->src.bytes);
    else if (copy->is_call)
        call_kernel(copy, src_bits, dst_bits);
    else
        run_segments(copy, src_bits, dst_bits);
}
