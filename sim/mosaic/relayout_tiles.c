/* Relayouts: other tiles, and packed elements as words and back. */
#include "relayout_state.h"

/* ---- Packing ---- */

enum { MOST_PARTS = TS_WORD_BITS };

/* Which vregs of words lie in one of packed elements: `rows` by `columns` of them, rows first. */
typedef struct {
    int64_t rows, columns;
    int64_t offsets[2]; /* of the first, in those; or replicated */
    bool interleaved;
} packing;

/* Words and packed elements are the same value, in two layouts. */
static bool find_packing(relayout_state *s, const ts_vpad *words, const ts_vpad *packed, packing *out) {
    int64_t ratio[2], sublanes = sublanes_of_tile(words);
    for (int i = 0; i < 2; i++) {
        int64_t small = slice_of(words, i), large = slice_of(packed, i), offset = packed->offsets[i];
        if (large % small != 0) return relayout_refuse(s, "Not implemented: Unsupported tiling change");
        ratio[i] = large / small;
        out->offsets[i] = is_replica(offset) ? TS_VPAD_REPLICATED : offset / small;
    }
    out->rows = ratio[0], out->columns = ratio[1];
    if (ratio[0] != 1 && sublanes != 1 && sublanes != TS_SUBLANES)
        return relayout_refuse(s, "Not implemented: Tiling change requires interleaving tiles that are not "
                                  "one sublane or one full vreg");
    out->interleaved = ratio[0] != 1 && sublanes == 1;
    if (words->tile[1] != packed->tile[1] && words->tile[0] * ratio[0] != 1)
        return relayout_refuse(s, "Not implemented: Truncating to increasing minor tile size");
    if (out->interleaved && ratio[1] != 1)
        return relayout_refuse(s, "Not implemented: Tiling change requires mixed compressed and interleaved "
                                  "packing");
    return true;
}

bool relayout_unpack(relayout_state *s, int64_t rows, int64_t columns) {
    const relayout_state old = *s;
    const ts_vpad words = relayout_aligned(&old.layout, TS_WORD_BITS, rows, columns);
    packing p;
    if (!find_packing(s, &words, &old.layout, &p) || !relayout_become(s, &words)) return false;
    for (int64_t i = 0; i < relayout_count(s); i++) {
        int64_t row = is_replica(p.offsets[0]) ? 0 : i / s->across % s->down + p.offsets[0];
        int64_t column = is_replica(p.offsets[1]) ? 0 : i % s->across + p.offsets[1];
        int from = *relayout_at(&old, i / s->across / s->down, row / p.rows, column / p.columns);
        int part = (int)(column % p.columns * p.rows + row % p.rows);
        s->values[i] = relayout_op(s, (ts_relayout_op){.kind = TS_RELAYOUT_UNPACK,
                                                       .bits = old.layout.bits,
                                                       .input_count = 1,
                                                       .inputs = &from,
                                                       .numbers = {p.interleaved, part}});
    }
    relayout_step(s, "unpack");
    return true;
}

/* The vreg of words that is part `part` of vreg `at` of the result. */
static int part_of_pack(const relayout_state *old, const packing *p, const int64_t at[3], int64_t part) {
    int64_t row = at[1] * p->rows - p->offsets[0] + part % p->rows,
            column = at[2] * p->columns - p->offsets[1] + part / p->rows;
    if (is_replica(p->offsets[0])) row = 0;
    if (is_replica(p->offsets[1])) column = 0;
    if (row < 0 || row >= old->down || column < 0 || column >= old->across) return NO_VALUE;
    return *relayout_at(old, at[0], row, column);
}

static int pack_one(relayout_state *s, const relayout_state *old, const packing *p, const int64_t at[3]) {
    int inputs[MOST_PARTS];
    ts_relayout_op op = {
        .kind = TS_RELAYOUT_PACK, .bits = s->layout.bits, .inputs = inputs, .numbers = {p->interleaved}};
    for (int part = 0; part < p->rows * p->columns; part++) {
        int from = part_of_pack(old, p, at, part);
        if (from == NO_VALUE) continue;
        inputs[op.input_count++] = from;
        op.present |= UINT32_C(1) << part;
    }
    return relayout_op(s, op);
}

bool relayout_pack(relayout_state *s, int bits, const int64_t *tile, const int64_t *hint) {
    const relayout_state old = *s;
    ts_vpad next = old.layout;
    packing p;
    next.bits = bits, next.tile[0] = tile[0], next.tile[1] = tile[1];
    for (int i = 0; i < 2; i++) {
        int64_t small = slice_of(&old.layout, i), *offset = &next.offsets[i];
        if (slice_of(&next, i) % small != 0)
            return relayout_refuse(s, "Packed vreg slice is not a union of whole unpacked vreg slices");
        if (!is_replica(hint[i]) && !is_replica(*offset) && hint[i] % small == *offset) *offset = hint[i];
    }
    if (!find_packing(s, &old.layout, &next, &p) || !relayout_become(s, &next)) return false;
    for (int64_t i = 0; i < relayout_count(s); i++) {
        const int64_t at[3] = {i / s->across / s->down, i / s->across % s->down, i % s->across};
        s->values[i] = pack_one(s, &old, &p, at);
    }
    relayout_step(s, "pack");
    return true;
}

/* ---- By gathers of sublanes, of what is replicated ---- */

/* Rows that are all the same, or one row, into larger tiles. */
static bool gather_to_larger(relayout_state *s, const int64_t *tile) {
    const relayout_state old = *s;
    ts_vpad next = relayout_aligned(&old.layout, old.layout.bits, tile[0], tile[1]);
    next.offsets[0] = TS_VPAD_REPLICATED;
    bool columns = !is_replica(next.offsets[1]);
    int64_t tiles = ts_vpad_tiles(&next), old_tiles = ts_vpad_tiles(&old.layout);
    int64_t first = columns ? (old.layout.offsets[1] - next.offsets[1]) / old.layout.tile[1] : 0;
    int64_t row = offset_or_0(old.layout.offsets[0]) / ts_vpad_packing(&old.layout);
    if (!relayout_become(s, &next)) return false;
    for (int64_t i = 0; i < relayout_count(s); i++) {
        int64_t at = columns ? i % s->across * tiles + first : 0;
        int32_t from[TS_SUBLANES];
        for (int k = 0; k < TS_SUBLANES; k++)
            from[k] =
                (int32_t)((at % old_tiles + k / sublanes_of_tile(&next)) * sublanes_of_tile(&old.layout) +
                          row);
        s->values[i] = relayout_gather(s, *relayout_at(&old, i / s->across, 0, at / old_tiles), from);
    }
    relayout_step(s, "gather sublanes");
    return true;
}

/* Columns that are all the same into smaller tiles. */
static bool gather_to_smaller(relayout_state *s, const int64_t *tile) {
    const relayout_state old = *s;
    const ts_vpad next = relayout_aligned(&old.layout, old.layout.bits, tile[0], tile[1]);
    int64_t ratio = old.layout.tile[0] / tile[0], first = old.layout.offsets[0] / tile[0],
            sublanes = sublanes_of_tile(&next);
    if (!relayout_become(s, &next)) return false;
    for (int64_t i = 0; i < relayout_count(s); i++) {
        int64_t row = i % s->down + first;
        int32_t from[TS_SUBLANES];
        for (int k = 0; k < TS_SUBLANES; k++) from[k] = (int32_t)(row % ratio * sublanes + k % sublanes);
        s->values[i] = relayout_gather(s, *relayout_at(&old, i / s->down, row / ratio, 0), from);
    }
    relayout_step(s, "gather sublanes");
    return true;
}

/* ---- Into smaller tiles by rotates and selects ---- */

/* Of a row of rotated vregs those from `first` to `last`: each has a tile of the result from sublane `at`
 * on. */
static int select_tiles(relayout_state *s, const int *row, int64_t first, int64_t last, int64_t at) {
    int64_t middle = first + (last - first) / 2, sublanes = sublanes_of_tile(&s->layout);
    if (first == last) return row[first];
    int left = select_tiles(s, row, first, middle, at);
    int64_t then = (at + (middle - first + 1) * sublanes) % TS_SUBLANES;
    int right = select_tiles(s, row, middle + 1, last, then);
    if (at < then) return relayout_select(s, relayout_mask_rows(s, at, then), left, right);
    return relayout_select(s, relayout_mask_rows(s, then, at), right, left);
}

/* Each tile of the source's vregs, rotated to where it is in the first row of the result. */
static int *rotate_tiles(relayout_state *s, const relayout_state *old) {
    int64_t tiles = ts_vpad_tiles(&s->layout), old_tiles = ts_vpad_tiles(&old->layout);
    int64_t count = relayout_count(old) * old_tiles, line = old->across * old_tiles;
    int *rotated = TS_NEW_ARRAY(s->arena, int, count);
    for (int64_t i = 0; i < count; i++) {
        int64_t by =
            i % line % tiles * sublanes_of_tile(&s->layout) - i % old_tiles * sublanes_of_tile(&old->layout);
        rotated[i] = old->values[i / old_tiles];
        if (by != 0) rotated[i] = relayout_rotate(s, rotated[i], 0, by < 0 ? by + TS_SUBLANES : by);
    }
    return rotated;
}

static bool retile_by_rotates(relayout_state *s, const int64_t *tile) {
    const relayout_state old = *s;
    ts_vpad next = old.layout;
    int64_t ratio = old.layout.tile[0] / tile[0], line = old.across * ts_vpad_tiles(&old.layout);
    next.tile[0] = tile[0];
    if (!relayout_become(s, &next)) return false;
    int64_t tiles = ts_vpad_tiles(&next);
    const int *rotated = rotate_tiles(s, &old);
    for (int64_t i = 0; i < relayout_count(s); i++) {
        int64_t l = i / s->across / s->down, row = i / s->across % s->down, column = i % s->across;
        int64_t at = row % ratio * sublanes_of_tile(&next), end = (column + 1) * tiles;
        const int *from = &rotated[(l * old.down + row / ratio) * line];
        int value = select_tiles(s, from, column * tiles, (end < line ? end : line) - 1, at);
        s->values[i] = at == 0 ? value : relayout_rotate(s, value, 0, TS_SUBLANES - at);
    }
    relayout_step(s, "rotate and select tiles");
    return true;
}

/* ---- Which way ---- */

enum { COMBINES_FROM = 6, GATHERS_FROM = 5, UNPACKS_FROM = 4 }; /* generations */

static bool has_scratch(const relayout_state *s) {
    return s->request->scratch_sublanes >= (int64_t)TS_SUBLANES * (TS_SUBLANES + 1);
}

/* Between tiles of 128 columns, as the pass found it fastest on each generation. It has rules for single
 * pairs of tiles too, which never hold: the sublanes of the result's tiles are counted 16 times. */
static bool retile(relayout_state *s, const int64_t *tile, const int64_t *hint) {
    const ts_vpad next = relayout_aligned(&s->layout, s->layout.bits, tile[0], tile[1]);
    const int64_t offsets[2] = {offset_or_0(s->layout.offsets[0]), offset_or_0(s->layout.offsets[1])};
    bool combines = s->request->generation >= COMBINES_FROM, gathers = s->request->generation >= GATHERS_FROM;
    bool rotates =
        s->layout.tile[0] > tile[0] && offsets[0] < slice_of(&next, 0) && offsets[1] < slice_of(&next, 1);
    if (!combines && !has_scratch(s) && !rotates)
        return relayout_refuse(s, "Not implemented: Unsupported tiling change.");
    if (!relayout_materialize(s, offsets)) return false;
    if (combines) return relayout_by_halves(s, tile, hint);
    if (rotates && (gathers || !has_scratch(s))) return retile_by_rotates(s, tile);
    return relayout_through_scratch(s, tile, hint);
}

static bool through_words(relayout_state *s, const int64_t *words, const int64_t *tile, const int64_t *hint) {
    int bits = s->layout.bits;
    return relayout_unpack(s, words[0], words[1]) && relayout_pack(s, bits, tile, hint);
}

/* Elements in one row: through rows of words. */
static bool through_rows(relayout_state *s, const int64_t *tile, const int64_t *hint) {
    int64_t n = ts_vpad_packing(&s->layout);
    ts_vpad wanted = s->layout;
    wanted.offsets[0] = hint[0], wanted.offsets[1] = hint[1];
    wanted = relayout_aligned(&wanted, wanted.bits, n, TS_LANES);
    return relayout_tiles(s, wanted.tile, wanted.offsets) && relayout_tiles(s, tile, hint);
}

static bool between(const ts_vpad *v, const int64_t *tile, int64_t rows, int64_t columns,
                    const int64_t *other) {
    return (has_tile(v, rows, columns) && tile[0] == other[0] && tile[1] == other[1]) ||
           (has_tile(v, other[0], other[1]) && tile[0] == rows && tile[1] == columns);
}

static bool change_packed(relayout_state *s, const int64_t *tile, const int64_t *hint, bool *known) {
    const ts_vpad *v = &s->layout;
    int64_t n = ts_vpad_packing(v);
    const int64_t native[2] = {TS_SUBLANES * n, TS_LANES}, rows[2] = {n, TS_LANES};
    bool from_line = has_tile(v, 1, TS_LANES * n), to_line = tile[0] == 1 && tile[1] == TS_LANES * n;
    *known = true;
    if (s->request->generation >= UNPACKS_FROM && between(v, tile, TS_SUBLANES, TS_LANES, native) &&
        (v->bits != 4 || !has_scratch(s)))
        return through_words(s, (const int64_t[]){TS_SUBLANES, TS_LANES}, tile, hint);
    if (between(v, tile, 1, TS_LANES * n, rows))
        return through_words(s, (const int64_t[]){1, TS_LANES}, tile, hint);
    if ((from_line && tile[0] % n == 0 && tile[1] == TS_LANES) ||
        (to_line && v->tile[0] % n == 0 && v->tile[1] == TS_LANES))
        return through_rows(s, tile, hint);
    *known = false;
    return false;
}

static bool rows_are_same(const relayout_state *s, const int64_t *tile, int64_t hint) {
    const ts_vpad *v = &s->layout;
    return v->tile[1] == TS_LANES && tile[1] == TS_LANES && tile[0] % v->tile[0] == 0 &&
           (is_replica(v->offsets[0]) || (v->bits == TS_WORD_BITS && s->rows == 1)) &&
           (is_replica(hint) || s->request->generation >= GATHERS_FROM);
}

static bool columns_are_same(const relayout_state *s, const int64_t *tile, int64_t hint) {
    const ts_vpad *v = &s->layout;
    return v->tile[1] == tile[1] && v->tile[0] % tile[0] == 0 && is_replica(v->offsets[1]) &&
           (is_replica(hint) || s->request->generation >= GATHERS_FROM);
}

bool relayout_tiles(relayout_state *s, const int64_t *tile, const int64_t *hint) {
    bool known, good;
    if (has_tile(&s->layout, tile[0], tile[1])) return true;
    if (s->layout.tile[0] == 1 && s->rows == 1) s->layout.offsets[0] = TS_VPAD_REPLICATED;
    if (is_replica(s->layout.offsets[0]) && is_replica(s->layout.offsets[1])) {
        s->layout.tile[0] = tile[0], s->layout.tile[1] = tile[1];
        return true;
    }
    if (rows_are_same(s, tile, hint[0])) return gather_to_larger(s, tile);
    if (columns_are_same(s, tile, hint[1])) return gather_to_smaller(s, tile);
    if (s->layout.bits < TS_WORD_BITS) {
        good = change_packed(s, tile, hint, &known);
        if (known) return good;
    }
    if (s->layout.tile[1] == TS_LANES && tile[1] == TS_LANES) return retile(s, tile, hint);
    return relayout_refuse(s, "Not implemented: Unsupported tiling change");
}
