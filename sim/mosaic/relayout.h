/* Relayouts: how Mosaic brings a value in vregs from one layout to another, as a list of ops on vregs.
 *
 * Rules: jax-ml/jax@cff5c5f6aa jaxlib/mosaic/dialect/tpu/transforms/apply_vector_layout.cc, relayoutVregs. Done here: what is
 * free, the refusal of replicas, rotations of rows (32 bits) and of columns, and packed values from 8 rows a tile to full
 * words and back. The rest is not modelled, and says so. */
#ifndef TILESIM_MOSAIC_RELAYOUT_H
#define TILESIM_MOSAIC_RELAYOUT_H

#include "base/text.h"
#include "layout/notation/vpad.h"

typedef enum {
    TS_RELAYOUT_ROTATE,
    TS_RELAYOUT_MASK,
    TS_RELAYOUT_SELECT,
    TS_RELAYOUT_UNPACK,
    TS_RELAYOUT_PACK,
    TS_RELAYOUT_OPS
} ts_relayout_kind;

enum { TS_RELAYOUT_MOST_INPUTS = 8 };

/* An op gives value number `sources + its own number`; the source's vregs are the first values. */
typedef struct {
    ts_relayout_kind kind;
    int input_count;
    int inputs[TS_RELAYOUT_MOST_INPUTS];
    int64_t
        amount; /* of a rotation; of a mask, the rows or columns from 0 that are in it; which part is unpacked */
    int dim;    /* of a rotation or mask: 0 rows, 1 columns */
    uint32_t present; /* of a pack: the parts of a word that its inputs are */
} ts_relayout_op;

typedef struct {
    int bits;
    int64_t sources, results; /* vregs */
    const int *values;        /* [results] that they are */
    const ts_relayout_op *ops;
    int op_count;
    int64_t counts[TS_RELAYOUT_OPS];
    ts_text steps; /* "free", or what is done, in order, with ", " between */
} ts_relayout;

typedef struct {
    ts_vpad from, to;
    int rank;
    const int64_t *dims;
} ts_relayout_request;

const char *ts_relayout_op_name(ts_relayout_kind kind); /* Mosaic's: "tpu.rotate" */

/* Errors: bad input where Mosaic refuses, with its words; not modelled where it has another way. */
bool ts_relayout_plan(ts_error *err, ts_arena *arena, const ts_relayout_request *request, ts_relayout *out);
/* A kernel, as text, that loads the source's vregs, does the ops and stores the result's; without the ops it stores the source's. */
void ts_relayout_kernel(const ts_relayout *relayout, bool with_ops, ts_text *out);

#endif
