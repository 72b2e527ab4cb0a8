/* Relayouts: other implicit dims. */
#include "relayout_state.h"

static const int64_t native[2] = {TS_SUBLANES, TS_LANES};

static void copy(relayout_state *s, const relayout_state *old) {
    for (int64_t i = 0; i < relayout_count(s); i++) s->values[i] = old->values[i];
}

/* ---- None to -2: each row gets vregs of its own ---- */

static bool split_rows(relayout_state *s, const int64_t *hint) {
    const relayout_state old = *s;
    ts_vpad next = old.layout;
    bool same = is_replica(old.layout.offsets[0]);
    next.implicit = TS_VPAD_SECOND;
    if (!same) next.offsets[0] = offset_or_0(hint[0]);
    if (!relayout_become(s, &next)) return false;
    for (int64_t i = 0; i < relayout_count(s); i++) {
        int64_t l = i / s->across / old.rows, tile = next.tile[0];
        int64_t row = same ? 0 : i / s->across % old.rows + old.layout.offsets[0];
        int value = *relayout_at(&old, l, row / tile, i % s->across);
        s->values[i] = same ? value : relayout_rotate_row(s, value, row % tile, next.offsets[0]);
        if (s->values[i] == NO_VALUE) return relayout_stops(s);
    }
    if (!same) relayout_step(s, "rotate each row to a vreg of its own");
    return true;
}

/* ---- -2 to none: rows are copied together one by one ---- */

static int copy_row(relayout_state *s, int from, int64_t row, int into, int64_t to) {
    from = relayout_rotate(s, from, 0, (to - row % TS_SUBLANES + TS_SUBLANES) % TS_SUBLANES);
    if (into == NO_VALUE) return from;
    return relayout_select(s, relayout_mask_rows(s, to, to + 1), from, into);
}

/* Vreg (l, i, j) of the result. */
static int joined(relayout_state *s, const relayout_state *old, int64_t l, int64_t i, int64_t j) {
    int64_t first = s->layout.offsets[0], tile = s->layout.tile[0], begin = i == 0 ? first : 0;
    int64_t offset = old->layout.offsets[0];
    int value = NO_VALUE;
    for (int64_t to = begin; to < tile && i * tile + to - first < s->rows; to++) {
        int from = *relayout_at(old, l * s->rows + i * tile + to - first, 0, j);
        for (int64_t t = 0; t < TS_SUBLANES; t += sublanes_of_tile(&s->layout))
            value = copy_row(s, from, t + (is_replica(offset) ? to : offset), value, t + to);
    }
    return value;
}

static bool join_rows(relayout_state *s, const int64_t *hint) {
    const relayout_state old = *s;
    ts_vpad next = old.layout;
    next.implicit = TS_VPAD_ALL, next.offsets[0] = hint[0];
    if (is_replica(hint[0])) return relayout_stops(s);
    if (!relayout_become(s, &next)) return false;
    for (int64_t i = 0; i < relayout_count(s); i++)
        s->values[i] = joined(s, &old, i / s->across / s->down, i / s->across % s->down, i % s->across);
    relayout_step(s, "copy rows together");
    return true;
}

/* ---- None or -2 to -1: columns become rows ---- */

static int column_as_rows(relayout_state *s, const relayout_state *old, int64_t l, int64_t i) {
    const int64_t *offsets = old->layout.offsets;
    bool rows = !is_replica(offsets[0]), columns = !is_replica(offsets[1]);
    int64_t row = rows ? l % old->rows + offsets[0] : 0;
    int64_t column = columns ? i * TS_SUBLANES + offsets[1] - s->layout.offsets[0] : 0;
    int value = *relayout_at(old, l / old->rows, row / TS_SUBLANES, column / TS_LANES);
    if (rows) {
        int32_t from[TS_SUBLANES];
        for (int k = 0; k < TS_SUBLANES; k++) from[k] = (int32_t)(row % TS_SUBLANES);
        value = relayout_gather(s, value, from);
    }
    return columns ? relayout_unary(s, TS_RELAYOUT_BROADCAST_LANES, value, (int)(column % TS_LANES), 0)
                   : value;
}

static bool columns_to_rows(relayout_state *s, const int64_t *hint) {
    const relayout_state old = *s;
    ts_vpad next = old.layout;
    int64_t first = old.layout.offsets[1];
    bool fits = is_replica(first) || first + old.columns <= TS_LANES;
    next.implicit = TS_VPAD_MINOR, next.offsets[0] = fits ? hint[0] : first % TS_SUBLANES;
    next.offsets[1] = hint[1];
    if (!is_replica(first) && is_replica(next.offsets[0]))
        return relayout_refuse(s, "Not implemented: Replication mismatch");
    if (!relayout_become(s, &next)) return false;
    for (int64_t i = 0; i < relayout_count(s); i++) {
        int64_t l = i / s->down, row = i % s->down;
        bool again = is_replica(old.layout.offsets[0]) && l % old.rows != 0;
        if (again)
            s->values[i] = *relayout_at(s, l - l % old.rows, row, 0);
        else if (is_replica(first) && row != 0)
            s->values[i] = *relayout_at(s, l, 0, 0);
        else
            s->values[i] = column_as_rows(s, &old, l, row);
    }
    relayout_step(s, "broadcast rows and their lanes");
    return true;
}

/* ---- -1 to -2: a column becomes a row ---- */

static void broadcast_column(relayout_state *s) {
    for (int64_t i = 0; i < relayout_count(s); i++)
        s->values[i] = relayout_op(s, (ts_relayout_op){.kind = TS_RELAYOUT_GATHER_BY,
                                                       .bits = TS_WORD_BITS,
                                                       .input_count = 1,
                                                       .inputs = &s->values[i],
                                                       .numbers = {1, (int)s->layout.offsets[1]}});
}

/* Lane j of every sublane has what sublane j + `by` has. */
static int rotated(relayout_state *s, int value, int64_t by) {
    int lanes = relayout_op(s, (ts_relayout_op){.kind = TS_RELAYOUT_IOTA, .bits = TS_WORD_BITS});
    int from = relayout_unary(s, TS_RELAYOUT_ADD, lanes, (int)by, 0);
    return relayout_binary(s, TS_RELAYOUT_GATHER_BY, value, from, 0);
}

/* Vreg j along the columns of the result, from those that have its elements, 8 in each. */
static int row_from_column(relayout_state *s, const relayout_state *old, int64_t l, int64_t j) {
    int64_t lead = old->layout.offsets[0], first = s->layout.offsets[1];
    int64_t left = j * TS_LANES - first, at = ts_max(left, 0), end = ts_min(left + TS_LANES, s->columns);
    int64_t value = NO_VALUE;
    while (at < end) {
        int64_t sublane = (at + lead) % TS_SUBLANES, lane = (at + first) % TS_LANES;
        int64_t count = ts_min(TS_SUBLANES - sublane, TS_LANES - lane);
        int here = rotated(s, *relayout_at(old, l, (at + lead) / TS_SUBLANES, 0), sublane - lane);
        if (value != NO_VALUE) {
            const int64_t rows[2] = {0, TS_SUBLANES}, lanes[2] = {lane, lane + count};
            here = relayout_select(s, relayout_mask(s, TS_WORD_BITS, rows, lanes), here, (int)value);
        }
        value = here, at += count;
    }
    return (int)value;
}

static bool rows_to_columns(relayout_state *s, const int64_t *hint) {
    if (!is_replica(s->layout.offsets[1])) broadcast_column(s);
    const relayout_state old = *s;
    ts_vpad next = old.layout;
    bool all = is_replica(old.layout.offsets[0]);
    next.implicit = TS_VPAD_SECOND, next.offsets[0] = TS_VPAD_REPLICATED;
    next.offsets[1] = all ? TS_VPAD_REPLICATED : offset_or_0(hint[1]);
    if (!relayout_become(s, &next)) return false;
    if (all)
        copy(s, &old);
    else
        for (int64_t i = 0; i < relayout_count(s); i++)
            s->values[i] = row_from_column(s, &old, i / s->across, i % s->across);
    relayout_step(s, "gather a column to a row");
    return true;
}

/* ---- Which way ---- */

/* Other tiles and packed elements: as words in native tiles. */
static bool through_native(relayout_state *s, ts_vpad_implicit implicit, const int64_t *hint) {
    const ts_vpad from = s->layout;
    const int64_t *tile = from.tile[0] % TS_SUBLANES == 0 ? from.tile : native;
    ts_vpad want = from;
    want.offsets[0] = hint[0], want.offsets[1] = hint[1];
    bool packed = from.bits != TS_WORD_BITS;
    const ts_vpad then = relayout_aligned(&want, from.bits, tile[0], tile[1]);
    const ts_vpad words = relayout_aligned(&want, TS_WORD_BITS, TS_SUBLANES, TS_LANES);
    const ts_vpad last = relayout_aligned(&want, from.bits, from.tile[0], from.tile[1]);
    return relayout_tiles(s, tile, then.offsets) && (!packed || relayout_unpack(s, TS_SUBLANES, TS_LANES)) &&
           relayout_implicit(s, implicit, words.offsets) &&
           (!packed || relayout_pack(s, from.bits, tile, then.offsets)) &&
           relayout_tiles(s, from.tile, last.offsets);
}

static bool is_native(const ts_vpad *v) {
    return v->bits == TS_WORD_BITS && has_tile(v, TS_SUBLANES, TS_LANES);
}

bool relayout_implicit(relayout_state *s, ts_vpad_implicit implicit, const int64_t *hint) {
    const ts_vpad *v = &s->layout;
    ts_vpad_implicit from = v->implicit;
    if (from == implicit) return true;
    if (from == TS_VPAD_BOTH || implicit == TS_VPAD_BOTH)
        return relayout_refuse(s, "Not implemented: Double implicit dimensions");
    if (relayout_same_positions(s, implicit)) return relayout_rename(s, implicit);
    if (v->tile[0] % sublanes_of_tile(v) != 0)
        return relayout_refuse(s, "Not implemented: Rows within tile span multiple sublanes");
    if (from == TS_VPAD_ALL && implicit == TS_VPAD_SECOND) return split_rows(s, hint);
    if (from == TS_VPAD_SECOND && implicit == TS_VPAD_ALL && v->bits == TS_WORD_BITS &&
        v->tile[1] == TS_LANES)
        return join_rows(s, hint);
    if (!is_native(v)) return through_native(s, implicit, hint);
    if (implicit == TS_VPAD_MINOR) return columns_to_rows(s, hint);
    if (implicit == TS_VPAD_SECOND) return rows_to_columns(s, hint);
    return relayout_implicit(s, TS_VPAD_SECOND, hint) && relayout_implicit(s, implicit, hint);
}
