/* Relayouts: rows and columns move to other offsets. */
#include "relayout_state.h"

static int64_t last_end(int64_t end, int64_t slice) { return (end - 1) % slice + 1; }

/* ---- Rows. A vreg of the result has the end of one of the source's and the beginning of the next. ---- */

typedef struct {
    int64_t per_sublane;  /* rows in a word */
    int64_t by, part;     /* rows that they move in a tile; of these, within a word */
    int64_t rotate_back;  /* rotation of what comes from the vreg before: its tile moves within the vreg */
    int64_t upper, lower; /* the source's vregs, from the result's: for its first `by` rows, for the others */
    int64_t first_row, rows; /* in the result */
    int64_t tile;            /* rows */
    int by_mask;
} row_shift;

typedef enum { LOW, HIGH } word_half;

/* The high parts of words that go up by `part`, or the low ones, that come from the word before. NO_VALUE:
 * there are none. */
static int rotate_rows(relayout_state *s, int value, int64_t amount, int64_t per_sublane, word_half half) {
    int bits = (int)(TS_WORD_BITS / per_sublane), within = (int)(amount % per_sublane);
    if (within == 0 && half == LOW) return NO_VALUE;
    if (within != 0 && half == HIGH)
        value = relayout_unary(s, TS_RELAYOUT_SHIFT_LEFT, value, bits * within, 0);
    if (within != 0 && half == LOW)
        value = relayout_unary(s, TS_RELAYOUT_SHIFT_RIGHT, value, bits * (int)(per_sublane - within), 0);
    return relayout_rotate(s, value, 0, (amount / per_sublane + (half == LOW)) % TS_SUBLANES);
}

int relayout_rotate_row(relayout_state *s, int value, int64_t from, int64_t to) {
    int64_t per_sublane = s->layout.tile[0] / sublanes_of_tile(&s->layout), amount = to - from;
    if (amount < 0) amount += per_sublane * TS_SUBLANES;
    return rotate_rows(s, value, amount, per_sublane, from % per_sublane <= to % per_sublane ? HIGH : LOW);
}

/* What of a vreg comes to rows begin to end - 1. */
static int rotate_and_blend(relayout_state *s, const row_shift *h, int value, int64_t begin, int64_t end) {
    int64_t n = h->per_sublane;
    bool several = begin / n != (end - 1) / n;
    int low = NO_VALUE, high = NO_VALUE;
    if (several || begin % n < h->part) low = rotate_rows(s, value, h->by, n, LOW);
    if (several || (end - 1) % n >= h->part) high = rotate_rows(s, value, h->by, n, HIGH);
    if (low == NO_VALUE || high == NO_VALUE) return low == NO_VALUE ? high : low;
    return relayout_binary(s, TS_RELAYOUT_OR, low, high, 0);
}

/* A mask of the first `by` rows of each tile. */
static int mask_of_tiles(relayout_state *s, const row_shift *h) {
    int bits = (int)(TS_WORD_BITS / h->per_sublane), all = NO_VALUE;
    for (int64_t i = 0; i < ts_vpad_tiles(&s->layout); i++) {
        int64_t n = h->per_sublane, from = i * h->tile, end = from + h->by;
        int one;
        if (end % n == 0)
            one =
                relayout_mask(s, bits, (const int64_t[]){from / n, end / n}, (const int64_t[]){0, TS_LANES});
        else
            one = relayout_op(s, (ts_relayout_op){.kind = TS_RELAYOUT_MASK_ROWS,
                                                  .bits = bits,
                                                  .numbers = {(int)from, (int)end}});
        all = all == NO_VALUE ? one : relayout_binary(s, TS_RELAYOUT_OR, all, one, 0);
    }
    return all;
}

static int row_result(relayout_state *s, const relayout_state *old, const row_shift *h, int64_t vreg[3]) {
    int64_t row = vreg[1], begin = row == 0 ? h->first_row : 0;
    int64_t end = row == s->down - 1 ? last_end(h->first_row + h->rows, h->tile) : h->tile;
    int upper = NO_VALUE, lower = NO_VALUE;
    if (begin < h->by) {
        upper = rotate_and_blend(s, h, *relayout_at(old, vreg[0], row + h->upper, vreg[2]), begin,
                                 end < h->by ? end : h->by);
        upper = relayout_rotate(s, upper, 0, h->rotate_back);
    }
    if (end > h->by)
        lower = rotate_and_blend(s, h, *relayout_at(old, vreg[0], row + h->lower, vreg[2]),
                                 begin > h->by ? begin : h->by, end);
    if (upper == NO_VALUE || lower == NO_VALUE) return upper == NO_VALUE ? lower : upper;
    return relayout_select(s, h->by_mask, upper, lower);
}

static bool shift_rows(relayout_state *s, int64_t to) {
    const relayout_state old = *s;
    int64_t sublanes = sublanes_of_tile(&s->layout), tile = s->layout.tile[0], from = s->layout.offsets[0];
    ts_vpad next = s->layout;
    if (tile % sublanes != 0) return relayout_stops(s);
    row_shift h = {.per_sublane = tile / sublanes, .by = (to - from + tile) % tile, .first_row = to};
    h.part = h.by % h.per_sublane, h.rows = s->rows, h.tile = tile;
    h.rotate_back = (ts_vpad_tiles(&s->layout) - 1) * sublanes;
    h.upper = from < to ? -1 : 0, h.lower = h.upper + 1;
    h.by_mask = mask_of_tiles(s, &h);
    next.offsets[0] = to;
    if (!relayout_become(s, &next)) return false;
    for (int64_t l = 0; l < s->leading; l++)
        for (int64_t i = 0; i < s->down; i++)
            for (int64_t j = 0; j < s->across; j++)
                *relayout_at(s, l, i, j) = row_result(s, &old, &h, (int64_t[]){l, i, j});
    relayout_step(s, "rotate rows");
    return true;
}

/* ---- Columns. What leaves a tile goes into the next, so a vreg of the result has four parts: left and right of the lane
 * where tiles meet, and above and below the sublane where the vreg before ends. ---- */

typedef struct {
    int64_t split;                   /* columns from the begin of a vreg on which its own begin */
    int64_t tiles[2], lane;          /* where the left and the right part change; and where they meet */
    int64_t upper, lower;            /* the source's vregs, from the result's */
    int64_t first, end, tile, slice; /* columns */
    int *parts[2];                   /* the source's vregs, rotated for the left and for the right */
    int masks[3];                    /* left, right, between; NO_VALUE: not yet made */
} column_shift;

static void rotate_all(relayout_state *s, int *values, int dim, int64_t amount) {
    for (int64_t i = 0; i < relayout_count(s) && amount != 0; i++)
        values[i] = relayout_rotate(s, values[i], dim, amount);
}

static void make_parts(relayout_state *s, column_shift *h) {
    int64_t sublanes = sublanes_of_tile(&s->layout);
    rotate_all(s, s->values, 1, h->lane);
    for (int side = 0; side < 2; side++) {
        h->parts[side] = TS_NEW_ARRAY(s->arena, int, relayout_count(s));
        for (int64_t i = 0; i < relayout_count(s); i++) h->parts[side][i] = s->values[i];
        rotate_all(s, h->parts[side], 0, h->tiles[side] * sublanes % TS_SUBLANES);
    }
}

static int column_mask(relayout_state *s, column_shift *h, int which) {
    int64_t rows[2] = {0, TS_SUBLANES}, lanes[2] = {0, TS_LANES};
    if (h->masks[which] != NO_VALUE) return h->masks[which];
    if (which < 2)
        rows[1] = h->tiles[which] * sublanes_of_tile(&s->layout);
    else
        lanes[1] = h->lane;
    return h->masks[which] = relayout_mask(s, s->layout.bits, rows, lanes);
}

static int combine(relayout_state *s, column_shift *h, int which, int first, int second) {
    if (first == NO_VALUE || second == NO_VALUE) return first == NO_VALUE ? second : first;
    int by = column_mask(s, h, which);
    return relayout_select(s, by, first, second);
}

/* Which of the four parts hold something: [side][upper, lower]; of the first and the last vreg some are
 * padding alone. */
static void find_parts(const column_shift *h, int64_t at, int64_t sources, int64_t results, bool has[2][2]) {
    int64_t tiles = h->slice / h->tile;
    bool above = at + h->upper >= 0, below = at + h->lower<sources, inside = h->lane> 0;
    has[0][0] = above && h->tiles[0] > 0 && inside;
    has[1][0] = above && h->tiles[1] > 0;
    has[0][1] = below && h->tiles[0] < tiles && inside;
    has[1][1] = below && h->tiles[1] < tiles;
    if (at == 0) {
        has[1][0] = has[1][0] && h->first < h->tiles[1] * h->tile;
        has[0][0] = has[0][0] && h->first < h->split;
        has[0][1] = has[0][1] && h->first < h->slice - h->tile + h->lane;
    }
    if (at == results - 1) {
        has[0][1] = has[0][1] && h->end > h->tiles[0] * h->tile;
        has[1][1] = has[1][1] && h->end > h->split;
        has[1][0] = has[1][0] && h->end > h->lane;
    }
}

static int column_result(relayout_state *s, int64_t sources, column_shift *h, int64_t row, int64_t at) {
    bool has[2][2];
    int sides[2];
    find_parts(h, at, sources, s->across, has);
    for (int side = 0; side < 2; side++) {
        const int *line = &h->parts[side][row * sources];
        int upper = has[side][0] ? line[at + h->upper] : NO_VALUE;
        int lower = has[side][1] ? line[at + h->lower] : NO_VALUE;
        sides[side] = combine(s, h, side, upper, lower);
    }
    return combine(s, h, 2, sides[0], sides[1]);
}

static bool shift_columns(relayout_state *s, int64_t to) {
    const relayout_state old = *s;
    ts_vpad next = s->layout;
    column_shift h = {.first = to, .tile = s->layout.tile[1], .slice = slice_of(&s->layout, 1)};
    int64_t by = to - s->layout.offsets[1];
    if (s->layout.tile[0] % ts_vpad_packing(&s->layout) != 0 || s->layout.tile[1] != TS_LANES)
        return relayout_refuse(s, "Not implemented: Unsupported tiling for column shift");
    h.split = by < 0 ? by + h.slice : by;
    h.upper = by < 0 ? 0 : -1, h.lower = h.upper + 1;
    h.tiles[0] = ts_ceil_div(h.split, h.tile), h.tiles[1] = h.split / h.tile, h.lane = h.split % h.tile;
    h.end = last_end(to + s->columns, h.slice);
    for (int i = 0; i < 3; i++) h.masks[i] = NO_VALUE;
    make_parts(s, &h);
    next.offsets[1] = to;
    if (!relayout_become(s, &next)) return false;
    for (int64_t i = 0; i < relayout_count(s); i++)
        s->values[i] = column_result(s, old.across, &h, i / s->across, i % s->across);
    if (by != 0) relayout_step(s, "rotate columns");
    return true;
}

/* Packed elements in one row are brought into rows of words first. */
static bool move_columns(relayout_state *s, const int64_t *offsets) {
    int64_t tile[2] = {s->layout.tile[0], s->layout.tile[1]}, packing = ts_vpad_packing(&s->layout);
    bool line = packing > 1 && tile[0] == 1;
    ts_vpad want = s->layout;
    want.offsets[0] = offsets[0], want.offsets[1] = offsets[1];
    if (line) {
        want = relayout_aligned(&want, want.bits, packing, TS_LANES);
        if (!relayout_tiles(s, want.tile, want.offsets)) return false;
    }
    if (!shift_columns(s, offsets[1] % slice_of(&s->layout, 1))) return false;
    return !line || (relayout_tiles(s, tile, offsets) && relayout_materialize(s, offsets));
}

bool relayout_offsets(relayout_state *s, const int64_t *offsets) {
    const int64_t *now = s->layout.offsets;
    if (is_replica(now[0])) {
        int64_t wanted[2] = {offsets[0], now[1]};
        if (!is_replica(offsets[0]) && !relayout_materialize(s, wanted)) return false;
    } else if (is_replica(offsets[0])) {
        return relayout_refuse(s, "Not implemented: Sublane broadcast");
    } else if (now[0] != offsets[0] && !shift_rows(s, offsets[0])) {
        return false;
    }
    if (is_replica(now[1])) {
        int64_t wanted[2] = {now[0], offsets[1]};
        return is_replica(offsets[1]) || relayout_materialize(s, wanted);
    }
    if (is_replica(offsets[1])) return relayout_refuse(s, "Not implemented: Lane broadcast");
    return move_columns(s, offsets);
}
