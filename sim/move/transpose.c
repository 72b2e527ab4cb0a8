/* Matching a box with a transpose: which loops make its rows and its columns. */
#include "copy_plan.h"

#include "base/number.h"

enum {
    MOST_BYTES = 16,
    LEAST_ROW_BYTES = 16,
    LEAST_COLUMN_BYTES = 8,
    SHORT_COLUMN_BYTES = 16,
    LEAST_SHORT_BYTES = 8, /* of short rows */
    LEAST_LINE_BYTES = 32,
    SPARSE_BYTES = 32,
    LEAST_STAGED_BYTES = 32,
    LEAST_SQUARE_BYTES = 1600, /* of a row times those of a column */
    LEAST_HALVES_SQUARE_BYTES = 800,
    PAGE_BYTES = 4096,
    FEW_WAYS = 8
};

/* The loops whose elements lie together on one side, and how many elements these are, with those of other
 * boxes that continue them. */
typedef struct {
    ts_side side, other;
    int64_t count, next_bits; /* next_bits: the step that would continue them; 0: nothing does */
    int loop_count, loops[TS_PLAN_MAX_LOOPS];
    int box_count, boxes[TS_CONCURRENT_BOXES]; /* the others, of those that may be taken */
    int64_t repeats,
        repeat_bytes; /* with the others, of a loop that continues all of them; its step on the other side */
} side;

int64_t ts_copy_plan_find_run(const ts_plan_box *box, int64_t width, int64_t *times) {
    for (int i = 0; i < box->loop_count; i++) {
        const ts_plan_loop *loop = &box->loops[i];
        if (loop->src_bits != width || loop->dst_bits != width || loop->extent < 2) continue;
        width *= loop->extent;
        times[i] = loop->extent;
        i = -1;
    }
    return width;
}

bool ts_copy_plan_is_element(int64_t width) { return (width & (width - 1)) == 0 && width <= 8 * MOST_BYTES; }

/* Loops whose elements lie together on both sides make larger elements, and `times` says so; the bits of
 * these, or 0 where they are of another size than kernels know. */
static int64_t find_width(const ts_plan_box *box, int64_t width, int64_t *times) {
    const int64_t run = ts_copy_plan_find_run(box, width, times);
    return run == width || ts_copy_plan_is_element(run) ? run : 0;
}

/* Steps of a loop of which there is room for so many, in pieces of about one size. */
static int64_t in_pieces(int64_t extent, int64_t most) {
    int64_t pieces = extent <= most ? 1 : (extent + most - 1) / most;
    return pieces == 1 ? extent : (extent + pieces - 1) / pieces;
}

/* The loop that continues a side, or as many of its steps as there is room for. */
static bool extend(const ts_plan_box *box, side *s, int64_t *times) {
    int64_t most = TS_TRANSPOSED / s->count;
    for (int i = 0; i < box->loop_count && s->next_bits != 0 && most > 1; i++) {
        int64_t extent = box->loops[i].extent;
        if (times[i] > 1 || extent < 2 || ts_plan_step_bits(&box->loops[i], s->side) != s->next_bits)
            continue;
        times[i] = in_pieces(extent, most);
        s->count *= times[i];
        s->next_bits = extent <= most ? s->next_bits * extent : 0;
        s->loops[s->loop_count++] = i;
        return true;
    }
    return false;
}

/* ---- Boxes that continue a side ---- */

static bool is_of_side(const side *s, int loop) {
    for (int i = 0; i < s->loop_count; i++)
        if (s->loops[i] == loop) return true;
    return false;
}

/* Marks the loops of another box that are not the first one's (times: 1; the others 2), but for those of the
 * side; false where it lacks one. */
static bool find_own(const ts_plan_box *box, const side *s, const ts_plan_box *other, int64_t *times) {
    bool used[TS_PLAN_MAX_LOOPS] = {false};
    int shared = 0;
    for (int i = 0; i < other->loop_count; i++) {
        int k = 0;
        while (k < box->loop_count &&
               (used[k] || is_of_side(s, k) || !ts_copy_is_same_loop(&box->loops[k], &other->loops[i])))
            k++;
        times[i] = k == box->loop_count ? 1 : 2;
        if (times[i] == 1) continue;
        used[k] = true;
        shared++;
    }
    return shared + s->loop_count == box->loop_count;
}

/* Do all loops step by whole bytes? */
static bool steps_by_bytes(const ts_plan_box *box) {
    for (int i = 0; i < box->loop_count; i++)
        if (box->loops[i].src_bits % 8 != 0 || box->loops[i].dst_bits % 8 != 0) return false;
    return true;
}

/* The part of a side that another box has, its loops otherwise alike; false where it does not continue the
 * side. */
static bool find_part(const ts_plan_box *box, const side *s, int64_t width, const ts_plan_box *other,
                      side *part, int64_t *times) {
    int64_t start = ts_plan_start_bits(box, s->side) + s->count * width, elements = 1;
    if (ts_plan_start_bits(other, s->side) != start || ts_plan_start_bits(other, s->other) % 8 != 0 ||
        !steps_by_bytes(other) || !find_own(box, s, other, times))
        return false;
    *part = (side){.side = s->side, .other = s->other, .count = 1, .next_bits = width};
    for (int i = 0; i < other->loop_count; i++) elements *= times[i] == 1 ? other->loops[i].extent : 1;
    while (extend(other, part, times)) continue;
    return part->count == elements && s->count + elements <= TS_TRANSPOSED;
}

/* Are all steps of its loops the side's? */
static bool is_complete(const ts_plan_box *box, const side *s, const int64_t *times) {
    for (int i = 0; i < s->loop_count; i++)
        if (times[s->loops[i]] != box->loops[s->loops[i]].extent) return false;
    return true;
}

/* Adds the boxes that come later and continue a side. Tables cost more than to move few elements alone. */
static void add_boxes(const ts_copy_plan *copy, const ts_plan_box *box, int64_t width, const int64_t *times,
                      side *s) {
    const ts_box_list *list = copy->others;
    side part;
    int64_t own[TS_PLAN_MAX_LOOPS];
    if (!list || copy->m->streams || copy->m->staging || !is_complete(box, s, times) ||
        ts_copy_leaves_rests(copy->m, box, times))
        return;
    for (int i = list->next; i < list->count; i++) {
        if (list->taken[i] || ts_copy_is_tiny(copy->m, &list->boxes[i]) ||
            !find_part(box, s, width, &list->boxes[i], &part, own))
            continue;
        s->boxes[s->box_count++] = i;
        s->count += part.count;
    }
}

/* The loop that continues a short side behind those of other boxes, as all of these have it. */
static void add_repeats(const ts_plan_box *box, int64_t width, int64_t *times, side *s) {
    int64_t most = TS_TRANSPOSED / s->count;
    bool is_short = s->count * width < 8 * TS_STRIP_BYTES;
    for (int i = 0; s->box_count > 0 && is_short && i < box->loop_count; i++) {
        const ts_plan_loop *loop = &box->loops[i];
        if (times[i] > 1 || ts_plan_step_bits(loop, s->side) != s->count * width) continue;
        times[i] = s->repeats = in_pieces(loop->extent, most);
        s->repeat_bytes = ts_plan_step_bits(loop, s->other) / 8;
        s->count *= s->repeats;
        return;
    }
}

/* ---- Tables ---- */

/* From a loop on, the offsets of its steps and those before. */
static void list_offsets(const ts_plan_box *box, const side *s, const int64_t *times, int first,
                         int64_t *at) {
    int64_t used = 1;
    for (int n = first; n < s->loop_count; n++) {
        int64_t step = ts_plan_step_bits(&box->loops[s->loops[n]], s->other) / 8, many = times[s->loops[n]];
        for (int64_t k = 1; k < many; k++)
            for (int64_t i = 0; i < used; i++) at[k * used + i] = at[i] + k * step;
        used *= many;
    }
}

/* Where the elements of a side lie on the other one; chunks of several are multiples of so many. */
static void set_offsets(const ts_plan_box *box, const side *s, const int64_t *times, int64_t together,
                        ts_offsets *offsets) {
    const ts_plan_loop *first = &box->loops[s->loops[0]];
    int64_t even = times[s->loops[0]];
    bool is_even = s->loop_count == 1 || even % together == 0;
    offsets->count = 1;
    for (int i = 0; i < s->loop_count; i++) offsets->count *= (int)times[s->loops[i]];
    offsets->even = is_even ? (int)even : 1;
    offsets->step = ts_plan_step_bits(first, s->other) / 8;
    offsets->chunk[0] = 0;
    list_offsets(box, s, times, is_even, offsets->chunk);
}

/* A table of more offsets, the last again. */
static void repeat_last(ts_offsets *offsets, int64_t count) {
    int64_t *chunk = offsets->chunk, even = offsets->even;
    for (int64_t n = offsets->count / even - 1; even > 1 && n >= 0;
         n--) { /* those that are read lie before */
        int64_t first = chunk[n];
        for (int64_t i = 0; i < even; i++) chunk[n * even + i] = first + i * offsets->step;
    }
    for (int64_t i = offsets->count; i < count; i++) chunk[i] = chunk[offsets->count - 1];
    offsets->even = 1;
}

/* Do the offsets of a part go on in the steps of all before? */
static bool goes_on(const ts_offsets *offsets, const ts_plan_box *box, const side *part, int64_t begin) {
    int64_t step = offsets->step;
    if (part->loop_count > 1 || offsets->even < offsets->count || begin != offsets->count * step)
        return false;
    return part->loop_count == 0 || ts_plan_step_bits(&box->loops[part->loops[0]], part->other) / 8 == step;
}

/* Behind those of the first box, the offsets of the others. */
static void join_offsets(const ts_box_list *list, const ts_plan_box *box, const side *s, int64_t width,
                         ts_offsets *offsets) {
    side whole = *s, part;
    int64_t times[TS_PLAN_MAX_LOOPS];
    for (int i = 0; i < s->box_count; i++) {
        const ts_plan_box *other = &list->boxes[s->boxes[i]];
        int64_t begin = (ts_plan_start_bits(other, s->other) - ts_plan_start_bits(box, s->other)) / 8;
        whole.count = offsets->count;
        find_part(box, &whole, width, other, &part, times);
        if (goes_on(offsets, other, &part, begin)) {
            offsets->even += (int)part.count;
        } else {
            repeat_last(offsets, offsets->count);
            offsets->chunk[offsets->count] = begin;
            list_offsets(other, &part, times, 0, offsets->chunk + offsets->count);
        }
        offsets->count += (int)part.count;
    }
}

/* All of them again, for each step of a loop. */
static void repeat_offsets(const side *s, ts_offsets *offsets) {
    const int count = offsets->count;
    if (s->repeats < 2) return;
    if (offsets->even > 1) repeat_last(offsets, count);
    for (int64_t k = 1; k < s->repeats; k++)
        for (int i = 0; i < count; i++)
            offsets->chunk[k * count + i] = offsets->chunk[i] + k * s->repeat_bytes;
    offsets->count *= (int)s->repeats;
}

/* The version of the longest lines that can make such columns of such rows. */
static const ts_tile_kernels *choose(const ts_kernels *kernels, int64_t column_bytes, int64_t row_bytes) {
    for (int i = 0; kernels->tiles[i]; i++) {
        const ts_tile_kernels *version = kernels->tiles[i];
        int64_t line = version->line_bytes;
        if (column_bytes >= line || (column_bytes >= 16 && row_bytes >= line) || version->masks_columns)
            return version;
    }
    return NULL;
}

/* Adds the line at an offset, if it lies as the first does and is not known. */
static void add_colliding(uint64_t *lines, int *count, uint64_t at) {
    int known = 0;
    if (at % PAGE_BYTES >= TS_CACHE_LINE_BYTES) return;
    while (known < *count && lines[known] != at / TS_CACHE_LINE_BYTES) known++;
    if (known == *count) lines[(*count)++] = at / TS_CACHE_LINE_BYTES;
}

/* Where an element of a side lies on the other one. */
static int64_t offset_of(const ts_offsets *offsets, int i) {
    if (offsets->even >= offsets->count) return i * offsets->step;
    if (offsets->even == 1) return offsets->chunk[i];
    return offsets->chunk[i / offsets->even] + i % offsets->even * offsets->step;
}

/* How many offsets, of the first so many, lie in a page as those of the line do that is so many bytes before
 * the first. */
#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((optimize("O3"))) /* in vectors */
#endif
static int
count_in_first_line(const ts_offsets *offsets, int count, int before) {
    uint16_t same = 0, at[TS_TRANSPOSED]; /* short, so that a vector holds many */
    for (int i = 0; i < count; i++) at[i] = (uint16_t)offset_of(offsets, i);
    for (int i = 0; i < count; i++)
        same = (uint16_t)(same + ((uint16_t)(at[i] + before) % PAGE_BYTES < TS_CACHE_LINE_BYTES));
    return same;
}

/* Do more than `few` lines, of so many rows or columns, lie so that the caches hold few of them at once, as
 * those of large powers of two do? */
static bool are_colliding(const ts_offsets *offsets, int64_t count, int few, int before) {
    uint64_t lines[FEW_WAYS + 1];
    int same = 0, most = count < offsets->count ? (int)count : offsets->count;
    if (count_in_first_line(offsets, most, before) <= few) return false;
    for (int i = 0; i < most && same <= few; i++)
        add_colliding(lines, &same, (uint64_t)(offset_of(offsets, i) + before));
    return same > few;
}

bool ts_copy_plan_rows_collide(const ts_offsets *rows, int64_t count) {
    return are_colliding(rows, count, FEW_WAYS, 0);
}

/* The same of a strip's columns, the next of which may lie before the first in its page. */
static bool are_columns_colliding(const ts_offsets *columns, int64_t width, int strip_bytes, int few) {
    int64_t count = strip_bytes * 8 / width;
    return are_colliding(columns, count, few, 0) || are_colliding(columns, count, few, TS_CACHE_LINE_BYTES);
}

/* Bytes of a row that are moved together: within the caches many, but fewer where columns collide. */
static int choose_strip(const ts_copy_plan *copy, int64_t width, bool narrows) {
    int least = (int)ts_max(TS_FEW_COLUMNS * width / 8,
                            copy->tile.reads_on ? LEAST_SHORT_BYTES : LEAST_ROW_BYTES),
        bytes = (int)ts_min(TS_STRIP_COLUMNS * width / 8, TS_LONG_STRIP_BYTES);
    const ts_offsets *columns = &copy->tile.columns;
    if (copy->m->staging || copy->tile.packs || are_columns_colliding(columns, width, bytes, TS_FEW_COLUMNS))
        bytes = TS_STRIP_BYTES;
    while (narrows && bytes > least && are_columns_colliding(columns, width, bytes, TS_FEW_COLUMNS))
        bytes /= 2;
    return bytes;
}

/* Do rows that are as long as a kernel has them follow each other without a gap? */
static bool are_lines(const ts_plan_box *box, const side *columns) {
    bool continues = false;
    for (int i = 0; i < box->loop_count; i++)
        continues = continues || box->loops[i].src_bits == columns->next_bits;
    return continues && (columns->count & (columns->count - 1)) == 0;
}

/* Do short columns lie close to each other in the destination, so that its lines are mostly made of them?
 * Then they are better moved as lines, but for those of several boxes, which would make each line several
 * times. */
static bool are_close(const ts_plan_box *box, const side *columns, int64_t column_bytes) {
    if (column_bytes > SHORT_COLUMN_BYTES) return false;
    for (int i = 0; i < columns->loop_count; i++) {
        int64_t step = box->loops[columns->loops[i]].dst_bits / 8;
        if (step < SPARSE_BYTES && step <= 2 * column_bytes) return true;
    }
    return false;
}

/* Are rows short, and few or next to each other, or are columns? Then many are better moved as a line. */
static bool is_better_in_lines(const ts_copy_context *m, const ts_plan_box *box, const side *rows,
                               const side *columns, int64_t element_bytes) {
    int64_t bytes = columns->count * element_bytes, column_bytes = rows->count * element_bytes,
            half = TS_LINE_BYTES / 2;
    if (column_bytes < LEAST_COLUMN_BYTES && (m->staging || rows->count < 2)) return true;
    int64_t least = element_bytes == 2 ? LEAST_HALVES_SQUARE_BYTES : LEAST_SQUARE_BYTES;
    bool is_small = column_bytes * bytes < least,
         takes_five = element_bytes == 1 && (rows->count > half || columns->count > half);
    return bytes < (m->staging ? LEAST_STAGED_BYTES : LEAST_ROW_BYTES) ||
           (bytes < TS_LINE_BYTES && (are_lines(box, columns) || (is_small && !takes_five)));
}

/* Takes loops into rows and columns, the shorter first, while there are any that continue them. */
static void grow(const ts_plan_box *box, side *rows, side *columns, int64_t *times) {
    bool grows = true;
    while (grows) {
        bool rows_first = rows->count < columns->count;
        grows = extend(box, rows_first ? rows : columns, times) ||
                extend(box, rows_first ? columns : rows, times);
    }
}

static void set_tile(ts_copy_plan *copy, const ts_plan_box *box, const side *rows, const side *columns,
                     int64_t width, const int64_t *times) {
    const ts_tile_kernels *kernels = copy->kernels;
    ts_tile *tile = &copy->tile;
    tile->line_bytes = kernels->line_bytes;
    tile->stages = 0;
    tile->masks = false;
    set_offsets(box, rows, times, 128 / width, &tile->rows);
    set_offsets(box, columns, times, INT64_MAX, &tile->columns);
    join_offsets(copy->others, box, rows, width, &tile->rows);
    join_offsets(copy->others, box, columns, width, &tile->columns);
    repeat_offsets(rows, &tile->rows);
    repeat_offsets(columns, &tile->columns);
    bool is_short = rows->count * width / 8 < kernels->line_bytes;
    if (is_short && kernels->masks_columns) repeat_last(&tile->rows, kernels->line_bytes * 8 / width);
    tile->packs = (!is_short || kernels->masks_columns) &&
                  ts_copy_plan_rows_collide(&tile->rows, tile->line_bytes * 8 / width);
    tile->apart = are_columns_colliding(&tile->columns, width, TS_STRIP_BYTES, TS_FEW_COLUMNS - 1);
    tile->spread = tile->packs && !tile->apart;
    tile->reads_on = ts_copy_reads_on(copy->m);
    bool reads_bytes_often = width == 8 && tile->packs; /* whose rows collide, too */
    tile->strip_bytes = choose_strip(copy, width, !copy->m->staging && !is_short && !reads_bytes_often);
}

static void take_boxes(ts_copy_plan *copy, const side *s) {
    for (int i = 0; i < s->box_count; i++) copy->others->taken[s->boxes[i]] = true;
}

/* The longest rows and columns; the bits of an element, or 0 where there are none. */
static int64_t find_sides(const ts_copy_plan *copy, const ts_plan_box *box, side *rows, side *columns,
                          int64_t *times) {
    for (int i = 0; i < box->loop_count; i++) times[i] = 1;
    int64_t width = steps_by_bytes(box) ? find_width(box, copy->m->dst.element_bits, times) : 0;
    *columns = (side){.side = TS_SRC, .other = TS_DST, .count = 1, .next_bits = width};
    *rows = (side){.side = TS_DST, .other = TS_SRC, .count = 1, .next_bits = width};
    if (width > 0) grow(box, rows, columns, times);
    return width;
}

/* Where no other boxes are joined with the rows, some may be with the columns. */
static bool match_sides(ts_copy_plan *copy, const ts_plan_box *box, side *rows, side *columns, int64_t width,
                        int64_t *times) {
    if (rows->box_count == 0) add_boxes(copy, box, width, times, columns);
    add_repeats(box, width, times, rows);
    add_repeats(box, width, times, columns);
    copy->kernels = choose(copy->m->kernels, rows->count * width / 8, columns->count * width / 8);
    if (!copy->kernels) return false;
    set_tile(copy, box, rows, columns, width, times);
    copy->fills = copy->joins = false;
    copy->tile_function = copy->kernels->transposes[__builtin_ctzll((uint64_t)width / 8)];
    ts_copy_plan_set_loops(copy, box, times);
    if (!ts_copy_plan_steps_by(copy, box, 8)) return false;
    take_boxes(copy, rows);
    take_boxes(copy, columns);
    copy->extended = rows->box_count + columns->box_count > 0;
    return true;
}

bool ts_copy_plan_match_transpose(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times) {
    side rows, columns;
    int64_t width = find_sides(copy, box, &rows, &columns, times);
    if (width == 0 || !choose(copy->m->kernels, rows.count * width / 8, columns.count * width / 8) ||
        is_better_in_lines(copy->m, box, &rows, &columns, width / 8))
        return false;
    bool close = are_close(box, &columns, rows.count * width / 8);
    add_boxes(copy, box, width, times, &rows);
    if (close && rows.box_count == 0) return false;
    return match_sides(copy, box, &rows, &columns, width, times);
}

/* To make few columns of few rows takes longer than to move elements. */
bool ts_copy_plan_match_short_rows(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times) {
    side rows, columns;
    int64_t width = find_sides(copy, box, &rows, &columns, times), row_bytes = columns.count * width / 8,
            column_bytes = rows.count * width / 8;
    bool reads_on = ts_copy_reads_on(copy->m);
    if (width == 0 || width > (reads_on ? 16 : 8) || row_bytes < LEAST_SHORT_BYTES ||
        row_bytes >= LEAST_ROW_BYTES || column_bytes < (reads_on ? TS_LINE_BYTES : LEAST_ROW_BYTES))
        return false;
    const ts_tile_kernels *kernels = choose(copy->m->kernels, column_bytes, row_bytes);
    if (!kernels || kernels->line_bytes < LEAST_LINE_BYTES) return false;
    add_boxes(copy, box, width, times, &rows);
    return match_sides(copy, box, &rows, &columns, width, times);
}

void ts_copy_plan_list_rows(const ts_plan_box *box, int64_t width, ts_offsets *rows) {
    side s = {.side = TS_DST, .other = TS_SRC, .count = 1, .loop_count = box->loop_count};
    int64_t times[TS_PLAN_MAX_LOOPS];
    for (int i = 0; i < box->loop_count; i++) {
        s.loops[i] = i;
        s.count *= times[i] = box->loops[i].extent;
    }
    *rows = (ts_offsets){.count = (int)s.count, .even = 1};
    list_offsets(box, &s, times, 0, rows->chunk);
    repeat_last(rows, ts_round_up(s.count, ts_copy_count_in_line(width)));
}

bool ts_copy_plan_match_columns(ts_copy_plan *copy, const ts_copy_context *m, const ts_plan_box *box) {
    const ts_tile_kernels *kernels = m->kernels->tiles[0];
    side rows, columns;
    ts_copy_plan_begin(copy, m);
    int64_t times[TS_PLAN_MAX_LOOPS], width = find_sides(copy, box, &rows, &columns, times);
    const int64_t bytes = columns.count * width / 8;
    if (width == 0 || bytes < LEAST_ROW_BYTES) return false;
    for (int i = 0; i < box->loop_count; i++)
        if (times[i] != box->loops[i].extent) return false;
    const int64_t line = ts_copy_count_in_line(width), whole = ts_round_up(rows.count, line);
    set_offsets(box, &rows, times, ts_max(128 / width, 1), &copy->tile.rows);
    set_offsets(box, &columns, times, INT64_MAX, &copy->tile.columns);
    if (width == 8 && ts_copy_plan_rows_collide(&copy->tile.rows, line)) return false;
    if (whole > rows.count || copy->tile.rows.even < rows.count) repeat_last(&copy->tile.rows, whole);
    copy->tile.line_bytes = (int)width / 8;
    copy->columns_function =
        ts_copy_plan_is_element(width)
            ? kernels->columns[bytes >= kernels->line_bytes][__builtin_ctzll((uint64_t)width / 8)]
            : kernels->columns_of_runs;
    return true;
}
