/* A value on its way from one layout to another: what the steps of a relayout share. */
#ifndef TILESIM_MOSAIC_RELAYOUT_STATE_H
#define TILESIM_MOSAIC_RELAYOUT_STATE_H

#include "relayout.h"

#include "base/number.h"

enum { NO_VALUE = -1 };

/* Vregs are numbered row-major over leading, down, across: `down` of them along the rows, `across` along the
 * columns of the value with its implicit dims. */
typedef struct {
    ts_error *err;
    ts_arena *arena;
    const ts_relayout_request *request;
    ts_relayout *out;
    ts_vpad layout;
    int64_t leading, rows, columns;
    int64_t down, across;
    int *values;
    ts_relayout_op *ops;
    int op_count;
    const char *last_step;
} relayout_state;

/* ---- Layouts ---- */

static inline bool is_replica(int64_t offset) { return offset == TS_VPAD_REPLICATED; }
static inline int64_t offset_or_0(int64_t offset) { return is_replica(offset) ? 0 : offset; }
static inline int64_t sublanes_of_tile(const ts_vpad *v) { return TS_SUBLANES / ts_vpad_tiles(v); }
static inline int64_t slice_of(const ts_vpad *v, int dim) {
    return dim == 0 ? v->tile[0] : v->tile[1] * ts_vpad_tiles(v);
}
static inline bool has_tile(const ts_vpad *v, int64_t rows, int64_t columns) {
    return v->tile[0] == rows && v->tile[1] == columns;
}
/* The layout in other tiles, with offsets that lie in their slices. */
ts_vpad relayout_aligned(const ts_vpad *layout, int bits, int64_t rows, int64_t columns);

/* ---- The value ---- */

/* It has another layout now: vregs are counted anew, and its values are the caller's to fill. */
bool relayout_become(relayout_state *s, const ts_vpad *layout);
static inline int64_t relayout_count(const relayout_state *s) { return s->leading * s->down * s->across; }
static inline int *relayout_at(const relayout_state *s, int64_t leading, int64_t row, int64_t column) {
    return &s->values[(leading * s->down + row) * s->across + column];
}
/* Replicas get an offset, as far as `offsets` has one for them. */
bool relayout_materialize(relayout_state *s, const int64_t *offsets);

/* ---- Ops; each returns its value ---- */

int relayout_op(relayout_state *s, ts_relayout_op op);
int relayout_unary(relayout_state *s, ts_relayout_kind kind, int input, int first, int second);
int relayout_binary(relayout_state *s, ts_relayout_kind kind, int a, int b, int number);
int relayout_rotate(relayout_state *s, int value, int dim, int64_t amount);
int relayout_mask(relayout_state *s, int bits, const int64_t rows[2], const int64_t lanes[2]);
int relayout_mask_rows(relayout_state *s, int64_t from, int64_t end); /* of words */
int relayout_select(relayout_state *s, int by, int inside, int outside);
int relayout_gather(relayout_state *s, int value, const int32_t *sublanes);
void relayout_step(relayout_state *s, const char *step);

/* Mosaic refuses, in its words. */
bool relayout_refuse(relayout_state *s, const char *words);
/* Mosaic's pass ends at a check of its own, without words. */
bool relayout_stops(relayout_state *s);

/* ---- Steps; `hint`: the offsets that are wanted in the end ---- */

bool relayout_tiles(relayout_state *s, const int64_t *tile, const int64_t *hint);
bool relayout_unpack(relayout_state *s, int64_t rows, int64_t columns); /* to words in such tiles */
bool relayout_pack(relayout_state *s, int bits, const int64_t *tile, const int64_t *hint);
bool relayout_through_scratch(relayout_state *s, const int64_t *tile, const int64_t *hint);
bool relayout_by_halves(relayout_state *s, const int64_t *tile, const int64_t *hint);
bool relayout_implicit(relayout_state *s, ts_vpad_implicit implicit, const int64_t *hint);
bool relayout_offsets(relayout_state *s, const int64_t *offsets);
/* A vreg whose row `from` has moved to row `to`. */
int relayout_rotate_row(relayout_state *s, int value, int64_t from, int64_t to);

/* Finds the ops that stay. */
void relayout_merge(ts_arena *arena, ts_relayout *relayout);

/* Other implicit dims put all elements at the same positions; and the value has them then, with the same
 * vregs. */
bool relayout_same_positions(const relayout_state *s, ts_vpad_implicit implicit);
bool relayout_rename(relayout_state *s, ts_vpad_implicit implicit);

#endif
