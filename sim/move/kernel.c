/* Choosing a kernel for a box: which loops a tile or a run takes. */

#include "copy_plan.h"

#include "base/number.h"

/* What part of a tile is there at least; bytes a clock of a permute as fast as tiles that mostly are, or
 * hardly; what all of a tile counts; stages of a network that may take fewer shuffles than a permute. */
enum {
    SHORT_LINE = 32,
    MOSTLY = 2,
    HARDLY = 8,
    LIKE_MOSTLY = 5,
    LIKE_HARDLY = 3,
    WHOLE = 64,
    MANY_STAGES = 3
};

static ts_load load_of(const ts_copy_context *m) {
    ts_dtype from = m->src.dtype, to = m->dst.dtype;
    if (from == TS_DTYPE_F32 && to == TS_DTYPE_BF16) return TS_LOAD_BF16_FROM_F32;
    return from == TS_DTYPE_BF16 && to == TS_DTYPE_F32 ? TS_LOAD_F32_FROM_BF16 : TS_LOAD_SAME;
}

/* ---- The loops that a kernel leaves ---- */

/* How many steps of each loop the digits take; false when they leave one out between, or take one twice. */
static bool count_times(const ts_plan_box *box, const ts_digit *digits, int count, int64_t *times) {
    uint64_t taken[TS_PLAN_MAX_LOOPS] = {0};
    for (int i = 0; i < count; i++)
        if (digits[i].loop >= 0) taken[digits[i].loop] |= UINT64_C(1) << digits[i].bit;
    for (int i = 0; i < box->loop_count; i++) {
        if ((taken[i] & (taken[i] + 1)) != 0) return false;
        times[i] = (int64_t)taken[i] + 1;
    }
    return true;
}

/* ---- Tiles ---- */

static void set_lines(ts_copy_plan *copy, const ts_digit *enters, const ts_digit *leaves) {
    ts_tile *tile = &copy->tile;
    int64_t *src = copy->line_bits, dst[TS_TILE_LINES];
    src[0] = dst[0] = 0;
    for (int i = 1; i < 1 << tile->stages; i++) {
        int low = __builtin_ctz((unsigned)i), others = i & (i - 1);
        src[i] = src[others] + enters[low].src;
        dst[i] = dst[others] + leaves[low].dst;
    }
    for (int i = 0; i < 1 << tile->stages; i++) {
        tile->src_line[i] = copy->fills ? i * tile->line_bytes : src[i] / 8;
        tile->dst_line[i] = copy->joins ? i * tile->line_bytes : dst[i] / 8;
        copy->narrow.dst_line[i] = dst[i] / 8;
    }
}

/* The digits whose elements share a byte of the destination, if they can be loaded in parts: they must not
 * lie within a source line. */
static int find_parts(ts_copy_plan *copy, const ts_plan_box *box, const ts_digit *src, int src_count,
                      ts_digit *digits) {
    const ts_copy_context *m = copy->m;
    int width = m->dst.element_bits, count = width < 8 ? 3 - ts_log2(width) : 0;
    copy->narrow.parts = 1;
    copy->narrow.part[0] = 0;
    if (count == 0 || m->src.dtype != m->dst.dtype || !ts_digits_find(box, TS_DST, width, count, digits))
        return 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < src_count; k++)
            if (src[k].loop == digits[i].loop && src[k].bit == digits[i].bit) return 0;
    }
    copy->narrow.parts = 1 << count;
    for (int y = 0; y < copy->narrow.parts; y++) {
        copy->narrow.part[y] = 0;
        for (int k = 0; k < count; k++) copy->narrow.part[y] += (y >> k & 1) * digits[k].src;
    }
    return count;
}

/* How lines that are padded otherwise than in memory are arranged. */
static void set_orders(ts_tile *tile, int unit, const ts_line_elements *src, const ts_line_elements *dst) {
    uint8_t from[TS_LINE_BYTES] = {0};
    bool moves = src->positions[src->count - 1] != src->offsets[src->count - 1];
    for (int i = 0; moves && i < src->count * unit; i++)
        from[src->positions[i / unit] * unit + i % unit] =
            (uint8_t)(src->offsets[i / unit] * unit + i % unit);
    for (int p = 0; moves && p < tile->line_bytes; p++)
        tile->order[p] = from[tile->orders ? tile->order[p] : p];
    tile->orders = tile->orders || moves;
    tile->packs = dst->positions[dst->count - 1] != dst->offsets[dst->count - 1];
    for (int i = 0; tile->packs && i < dst->count * unit; i++) {
        tile->pack[dst->offsets[i / unit] * unit + i % unit] =
            (uint8_t)(dst->positions[i / unit] * unit + i % unit);
    }
}

/* The bytes of each line, which has the first so many elements. */
static void set_masks(uint64_t *masks, int lines, const uint8_t *have, int unit,
                      const ts_line_elements *line) {
    uint64_t first[TS_LINE_BYTES + 1] = {0};
    for (int i = 0; i < line->count; i++)
        first[i + 1] = first[i] | ((UINT64_C(1) << unit) - 1) << (line->offsets[i] * unit);
    for (int i = 0; i < lines; i++) masks[i] = first[have[i]];
}

/* The same without the elements that are not there. */
static void set_masks_lacking(uint64_t *masks, const ts_line *line, const ts_digit *numbers, int stages,
                              const uint8_t *have, const ts_line_elements *elements) {
    const int unit = line->width / 8;
    for (int i = 0; line->lack.from > 0 && i < 1 << stages; i++) {
        masks[i] = 0;
        for (int k = 0; k < have[i]; k++)
            if (!ts_lines_lack(line, numbers, stages, i, elements->positions[k]))
                masks[i] |= ((UINT64_C(1) << unit) - 1) << (elements->offsets[k] * unit);
    }
}

/* The lines of both sides that are not whole, and the digits that tell those of a tile apart. */
typedef struct {
    ts_line src, dst;
    ts_digit digits[2 * TS_TILE_STAGES], enters[TS_TILE_STAGES], leaves[TS_TILE_STAGES];
} masked_lines;

/* Finds them and their network; how many of WHOLE elements of a tile are there, 0 where there is no tile. */
static int64_t find_masked(ts_copy_plan *copy, const ts_plan_box *box, const ts_tile_kernels *kernels,
                           masked_lines *lines, int64_t *times) {
    int src_width = copy->m->src.element_bits, width = copy->m->dst.element_bits, unit = width / 8;
    int count = ts_log2(kernels->line_bytes / (unit ? unit : 1));
    ts_digit *src = lines->digits, *dst = lines->digits + count;
    if (!kernels->masked || src_width < 8 || width < 8 || count < 1) return 0;
    lines->src = (ts_line){box, copy->lack, TS_SRC, src_width, count, src};
    lines->dst = (ts_line){box, copy->lack, TS_DST, width, count, dst};
    ts_lines_find(&lines->src, src);
    ts_lines_find(&lines->dst, dst);
    if (!count_times(box, lines->digits, 2 * count, times) || !ts_lack_is_inside(&copy->lack, box, times))
        return 0;
    ts_network network = {kernels->line_bytes, ts_log2(unit), count, src, dst};
    ts_network_make(&copy->tile, &network, lines->enters, lines->leaves);
    int64_t useful = 1;
    for (int i = 0; i < box->loop_count; i++)
        useful *= times[i] < box->loops[i].extent ? times[i] : box->loops[i].extent;
    return useful * WHOLE >> (copy->tile.stages + count);
}

/* Where the lines of a tile lie, and which bytes of them are there. */
static void set_masked_lines(ts_copy_plan *copy, const masked_lines *lines, int unit) {
    ts_tile *tile = &copy->tile;
    const int all = 1 << tile->stages;
    ts_line_elements from, to;
    uint8_t dst_have[TS_TILE_LINES];
    ts_lines_order(&lines->src, &from);
    ts_lines_order(&lines->dst, &to);
    set_orders(tile, unit, &from, &to);
    set_lines(copy, lines->enters, lines->leaves);
    ts_lines_measure(&lines->src, lines->enters, tile->stages, from.count, copy->have);
    ts_lines_measure(&lines->dst, lines->leaves, tile->stages, to.count, dst_have);
    set_masks(tile->src_mask, all, copy->have, unit, &from);
    set_masks(tile->dst_mask, all, dst_have, unit, &to);
    set_masks_lacking(tile->src_mask, &lines->src, lines->enters, tile->stages, copy->have, &from);
    set_masks_lacking(tile->dst_mask, &lines->dst, lines->leaves, tile->stages, dst_have, &to);
    for (int i = 0; i < all; i++) {
        if (copy->have[i] > 0) copy->have[i] = (uint8_t)(from.offsets[copy->have[i] - 1] + 1);
        if (tile->src_mask[i] == 0) tile->src_line[i] = 0;
        if (tile->dst_mask[i] == 0) tile->dst_line[i] = 0;
    }
    tile->loads_whole = ts_copy_may_load_whole(copy, all);
}

/* Is there a kernel for a tile of so many lines of bytes, which is not one of longer units? */
static bool are_bytes(const ts_copy_plan *copy) {
    const ts_tile *tile = &copy->tile;
    bool arranged = tile->orders || (tile->masks && tile->packs) || tile->granules % 4 != 0;
    return copy->kernels->bytes && tile->unit_log2 == 0 && tile->stages == 4 && copy->m->same && arranged;
}

/* Tiles of lines that are not whole, if one in `least` elements of them is there. */
static bool match_masked(ts_copy_plan *copy, const ts_plan_box *box, const ts_tile_kernels *kernels,
                         int least, int64_t *times) {
    masked_lines lines;
    if (find_masked(copy, box, kernels, &lines, times) * least < WHOLE) return false;
    copy->kernels = kernels;
    copy->lists = kernels->lists;
    copy->joins = false;
    copy->fills = !copy->m->same;
    copy->narrow.lines = 1 << copy->tile.stages;
    set_masked_lines(copy, &lines, copy->m->dst.element_bits / 8);
    ts_copy_plan_set_loops(copy, box, times);
    copy->tile.masks = true;
    copy->tile_function = are_bytes(copy) ? kernels->bytes[true] : kernels->masked[copy->tile.stages];
    return true;
}

/* Is it the interleave of two lines, with nothing else to arrange? */
static bool is_pairs(const ts_tile *tile, int unit_log2, int count, const ts_digit *src,
                     const ts_digit *dst) {
    for (int i = 0; i + 1 < count; i++)
        if (dst[i + 1].loop != src[i].loop || dst[i + 1].bit != src[i].bit) return false;
    return tile->stages == 1 && tile->granules == 1 << unit_log2;
}

/* What happens to the elements on their way, and how narrow ones are loaded and stored. */
static void set_widths(ts_copy_plan *copy, ts_load how) {
    const ts_copy_context *m = copy->m;
    ts_narrow *narrow = &copy->narrow;
    narrow->truth = m->dst.dtype == TS_DTYPE_PRED;
    narrow->src_width = m->src.element_bits < 8 && m->src.dtype == m->dst.dtype ? m->src.element_bits : 8;
    narrow->dst_width = m->dst.element_bits < 8 ? m->dst.element_bits : 8;
    narrow->width = narrow->src_width < narrow->dst_width ? narrow->src_width : narrow->dst_width;
    copy->joins = narrow->dst_width * narrow->parts < 8;
    copy->fills = how == TS_LOAD_SAME && (!m->same || m->dst.element_bits < 8);
}

/* Do all lines of tiles begin at whole bytes, or where an element of the source does? */
static bool are_whole(const ts_copy_plan *copy, const ts_plan_box *box, const ts_digit *leaves) {
    int64_t offsets = 0, width = copy->m->src.element_bits;
    for (int i = 0; i < copy->tile.stages; i++) offsets |= leaves[i].dst;
    return offsets % 8 == 0 && ts_copy_plan_steps_by(copy, box, width < 8 ? width : 8);
}

/* The digits that tell the lines of a tile apart, where these are whole. */
typedef struct {
    ts_digit digits[2 * TS_TILE_STAGES + 3], enters[TS_TILE_STAGES], leaves[TS_TILE_STAGES];
    bool is_pairs;
} whole_lines;

/* Finds them and their network. */
static bool find_whole(ts_copy_plan *copy, const ts_plan_box *box, const ts_tile_kernels *kernels,
                       whole_lines *lines, int64_t *times) {
    const ts_copy_context *m = copy->m;
    int unit_log2 = ts_log2(ts_copy_width(&m->dst) / 8), count = ts_log2(kernels->line_bytes) - unit_log2;
    ts_digit *src = lines->digits, *dst = src + count;
    if (count < 0 || !ts_digits_find(box, TS_SRC, ts_copy_width(&m->src), count, src)) return false;
    int parts = find_parts(copy, box, src, count, dst + count);
    if (!ts_digits_find(box, TS_DST, (int64_t)m->dst.element_bits << parts, count, dst) ||
        !count_times(box, src, 2 * count + parts, times))
        return false;
    ts_network network = {kernels->line_bytes, unit_log2, count, src, dst};
    ts_network_make(&copy->tile, &network, lines->enters, lines->leaves);
    lines->is_pairs = is_pairs(&copy->tile, unit_log2, count, src, dst);
    return true;
}

static bool match_tile(ts_copy_plan *copy, const ts_plan_box *box, const ts_tile_kernels *kernels,
                       int64_t *times) {
    ts_tile *tile = &copy->tile;
    ts_load how = load_of(copy->m);
    whole_lines lines;
    if (!find_whole(copy, box, kernels, &lines, times)) return false;
    if (how == TS_LOAD_BF16_FROM_F32 && lines.is_pairs)
        how = TS_LOAD_BF16_PAIRS;
    else if ((tile->orders || tile->swaps) && !kernels->orders)
        return false;
    tile->masks = false;
    copy->kernels = kernels;
    copy->lists = kernels->lists;
    copy->narrow.lines = 1 << tile->stages;
    set_widths(copy, how);
    set_lines(copy, lines.enters, lines.leaves);
    ts_copy_plan_set_loops(copy, box, times);
    if (!are_whole(copy, box, lines.leaves)) return false;
    copy->tile_function = kernels->by_granules ? kernels->by_granules[how][tile->granules]
                          : are_bytes(copy)    ? kernels->bytes[false]
                                               : kernels->by_stages[how][tile->stages];
    copy->runs_function = kernels->runs ? kernels->runs[how][tile->stages] : NULL;
    return copy->tile_function != NULL;
}

/* ---- Runs ---- */

static bool match_run(ts_copy_plan *copy, const ts_plan_box *box, int64_t least_bytes, int64_t *times) {
    const ts_copy_context *m = copy->m;
    int src_width = m->src.element_bits, dst_width = m->dst.element_bits, run = 0;
    while (run < box->loop_count &&
           (box->loops[run].src_bits != src_width || box->loops[run].dst_bits != dst_width))
        run++;
    if (run == box->loop_count) return false;
    copy->run_elements = box->loops[run].extent;
    copy->run_bytes = copy->run_elements * dst_width / 8;
    if (copy->run_bytes < least_bytes || copy->run_elements * dst_width % 8 != 0 ||
        copy->run_elements * src_width % 8 != 0)
        return false;
    for (int i = 0; i < box->loop_count; i++) times[i] = i == run ? copy->run_elements : 1;
    ts_copy_plan_set_loops(copy, box, times);
    copy->tile_function = NULL;
    copy->fills = false;
    return ts_copy_plan_steps_by(copy, box, 8);
}

/* Splits a longer run, so that it can be made in a scratch. */
static void split_run(ts_copy_plan *copy) {
    int64_t most = TS_SCRATCH_BYTES / 2 / (copy->m->dst.element_bits / 8), rest = copy->run_elements % most;
    if (copy->run_elements <= most || rest != 0) return;
    copy->loops[copy->loop_count++] = (ts_copy_loop){.count = copy->run_elements / most,
                                                     .src_bits = most * copy->m->src.element_bits,
                                                     .dst_bits = most * copy->m->dst.element_bits,
                                                     .most = 1};
    copy->run_elements = most;
    copy->run_bytes = most * copy->m->dst.element_bits / 8;
}

/* Widths for which there are kernels. */
static bool is_regular(const ts_copy_context *m, const ts_copy_side *side) {
    int bits = side->element_bits;
    const ts_dtype_info *type = ts_dtype_get(side->dtype);
    if (m->src.dtype != m->dst.dtype && bits != type->stored_bits && bits != type->value_bits) return false;
    if (bits < 8) return bits > 0 && 8 % bits == 0 && type->stored_bits == 8;
    if (!m->same && bits != type->stored_bits) return false;
    return bits % 8 == 0 && (bits & (bits - 1)) == 0;
}

/* Are all elements copied as they are, within the caches? */
static bool is_in_cache(const ts_copy_context *m) { return m->same && !m->streams && !m->staging; }

/* Are lines left that are hardly there, or none? */
static bool is_before_hardly(const ts_copy_context *m, int i) {
    const ts_tile_kernels *const *tiles = m->kernels->tiles;
    bool last = tiles[0]->masked ? tiles[i]->line_bytes == SHORT_LINE : !tiles[i + 1];
    return last && is_in_cache(m) && m->dst.element_bits >= 8;
}

/* Bytes a clock of a permute as fast as a tile of many lines of which such a part is there: these take a
 * clock to load, one in each stage, and two to store. 0 of other tiles. */
static int64_t like_masked(const ts_tile *tile, int64_t part) {
    if (part * MOSTLY < WHOLE || tile->stages < MANY_STAGES) return 0;
    int64_t clocks = tile->stages + 3, bytes = part * TS_LINE_BYTES / WHOLE;
    return (bytes + clocks - 1) / clocks;
}

/* By a permute that is as fast as tiles that are mostly there; where a network takes fewer shuffles, by
 * that. */
static bool match_permute(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times) {
    const ts_tile_kernels *kernels = copy->m->kernels->tiles[0];
    int64_t own[TS_PLAN_MAX_LOOPS];
    masked_lines lines;
    ts_copy_plan network;
    if (!ts_copy_plan_match_permute(copy, box, LIKE_MOSTLY, times)) return false;
    ts_copy_plan_begin(&network, copy->m);
    network.lack = copy->lack;
    int64_t part = find_masked(&network, box, kernels, &lines, own), like = like_masked(&network.tile, part);
    return like <= LIKE_MOSTLY || ts_copy_plan_match_permute(copy, box, (int)like, times) ||
           match_masked(copy, box, kernels, MOSTLY, times);
}

/* Whole lines, then lines that are mostly there, then shorter ones. */
static bool match_tiles(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times) {
    const ts_copy_context *m = copy->m;
    for (int i = 0; m->kernels->tiles[i]; i++) {
        const ts_tile_kernels *kernels = m->kernels->tiles[i];
        bool is_first = i == 0 && is_in_cache(m), permutes = is_first && m->dst.element_bits == 8;
        if (match_tile(copy, box, kernels, times)) return true;
        if (ts_copy_reads_on(m) && is_first && ts_copy_plan_match_short_rows(copy, box, times)) return true;
        if (permutes && match_permute(copy, box, times)) return true;
        if (match_masked(copy, box, kernels, MOSTLY, times)) return true;
        if (permutes && ts_copy_plan_match_permute(copy, box, LIKE_HARDLY, times)) return true;
        if (!ts_copy_reads_on(m) && is_before_hardly(m, i) && ts_copy_plan_match_short_rows(copy, box, times))
            return true;
        if (kernels->line_bytes <= SHORT_LINE && match_masked(copy, box, m->kernels->tiles[0], HARDLY, times))
            return true;
    }
    return false;
}

static void begin_match(ts_copy_plan *copy) {
    copy->extended = copy->lists = false;
    copy->tile.listed = 0;
    copy->runs_function = NULL;
}

bool ts_copy_plan_match_runs(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times) {
    const ts_copy_context *m = copy->m;
    begin_match(copy);
    return is_regular(m, &m->src) && is_regular(m, &m->dst) &&
           match_tile(copy, box, m->kernels->tiles[0], times) && copy->runs_function;
}

bool ts_copy_plan_match_box(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times) {
    const ts_copy_context *m = copy->m;
    begin_match(copy);
    if (!is_regular(m, &m->src) || !is_regular(m, &m->dst)) return false;
    bool converts = ts_copy_converts(m) && load_of(m) == TS_LOAD_SAME,
         copies = m->same && m->dst.element_bits >= 8;
    const ts_tile_kernels *longest = m->kernels->tiles[0];
    bool masks = longest->masked && m->same && !m->streams; /* such a run would have a line of its own */
    if ((converts || copies) &&
        match_run(copy, box, masks ? longest->line_bytes / (is_in_cache(m) ? 4 : 2) + 1 : longest->line_bytes,
                  times)) {
        if (converts && m->streams) split_run(copy);
        return true;
    }
    if (copies && ts_copy_plan_match_permute(copy, box, 0, times)) return true;
    if (is_in_cache(m) && m->dst.element_bits > 8 && match_permute(copy, box, times)) return true;
    if (copies && !m->streams && ts_copy_plan_match_transpose(copy, box, times)) return true;
    return match_tiles(copy, box, times) || match_run(copy, box, 0, times);
}

bool ts_copy_plan_match_lacking(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times) {
    const ts_copy_context *m = copy->m;
    const ts_tile_kernels *kernels = m->kernels->tiles[0];
    begin_match(copy);
    copy->box.loop_count = 0;
    if (!is_in_cache(m) || !kernels->masked || !is_regular(m, &m->src) || !is_regular(m, &m->dst))
        return false;
    return (match_permute(copy, box, times) || match_masked(copy, box, kernels, MOSTLY, times) ||
            ts_copy_plan_match_permute(copy, box, LIKE_HARDLY, times)) &&
           !ts_copy_leaves_rests(m, box, times);
}

bool ts_copy_plan_match_narrow_run(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times) {
    const ts_copy_context *m = copy->m;
    return ts_copy_is_narrow(m) && m->dst.element_bits > 1 && m->convert && is_regular(m, &m->src) &&
           is_regular(m, &m->dst) && match_run(copy, box, TS_LINE_BYTES, times);
}

bool ts_copy_plan_match(ts_copy_plan *copy, const ts_copy_context *m, const ts_plan_box *box) {
    int64_t times[TS_PLAN_MAX_LOOPS];
    ts_copy_plan_begin(copy, m);
    if (ts_copy_is_narrow(m) || !ts_copy_plan_match_box(copy, box, times)) return false;
    if (copy->tile_function && ts_copy_leaves_rests(m, box, times)) return false;
    ts_copy_plan_order(copy, box);
    return true;
}
