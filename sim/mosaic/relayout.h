/* Relayouts: how Mosaic brings a value in vregs from one layout to another, as a list of ops on vregs.
 *
 * Rules: jax-ml/jax@jax-v0.8.1 jaxlib/mosaic/dialect/tpu/transforms/apply_vector_layout.cc, relayout. Ops are
 * those that the pass emits, before any that are the same are merged; vmem_banks is not given, as no public
 * caller gives it. */
#ifndef TILESIM_MOSAIC_RELAYOUT_H
#define TILESIM_MOSAIC_RELAYOUT_H

#include "base/text.h"
#include "layout/notation/vpad.h"

/* In the order of their names. */
typedef enum {
    TS_RELAYOUT_ADD,
    TS_RELAYOUT_COMPARE, /* with 0: which differ */
    TS_RELAYOUT_EXTEND,  /* a mask as 0 and 1 */
    TS_RELAYOUT_OR,      /* of vregs or masks */
    TS_RELAYOUT_SELECT,
    TS_RELAYOUT_SHIFT_LEFT,
    TS_RELAYOUT_SHIFT_RIGHT,
    TS_RELAYOUT_BROADCAST_LANES, /* sublane i has lane numbers[0] + i everywhere */
    TS_RELAYOUT_MASK,            /* numbers: first row, end, first lane, end; of words */
    TS_RELAYOUT_MASK_ROWS,       /* numbers: first row, end; of the rows in the words */
    TS_RELAYOUT_GATHER_BY,       /* numbers[0]: dim; of input 0, by numbers in input 1 */
    TS_RELAYOUT_GATHER,          /* numbers: the sublane that each has */
    TS_RELAYOUT_IOTA,            /* numbers of lanes */
    TS_RELAYOUT_LOAD,            /* numbers: sublane of the scratch memory, stride */
    TS_RELAYOUT_CAST_MASK,
    TS_RELAYOUT_PACK, /* numbers[0]: whether interleaved; present */
    TS_RELAYOUT_PACK_MASKS,
    TS_RELAYOUT_ROTATE,         /* numbers: dim (0 rows, 1 columns), by how many */
    TS_RELAYOUT_SHUFFLED_LOAD,  /* numbers: of each sublane, where in the scratch memory */
    TS_RELAYOUT_SHUFFLED_STORE, /* likewise */
    TS_RELAYOUT_STORE,          /* as load */
    TS_RELAYOUT_COMBINE,        /* numbers[0]: of both inputs the upper half, not the lower */
    TS_RELAYOUT_UNPACK,         /* numbers: whether interleaved, which part */
    TS_RELAYOUT_OPS
} ts_relayout_kind;

/* An op gives value number `sources + its own number`; the source's vregs are the first values. */
typedef struct {
    ts_relayout_kind kind;
    int bits; /* of the elements as the op sees them: of masks, those that they mask */
    int input_count;
    const int *inputs;
    int32_t numbers[TS_SUBLANES];
    uint32_t present; /* of a pack: the parts of a word that its inputs are */
} ts_relayout_op;

typedef struct {
    int bits;
    bool masks;               /* the value is of masks */
    int64_t sources, results; /* vregs, or masks */
    const int *values;        /* [results] that they are */
    const ts_relayout_op *ops;
    int op_count;
    const int *kept; /* [sources + op_count]: the first value that is the same; -1: nothing needs it */
    int kept_count;  /* ops */
    int64_t counts[TS_RELAYOUT_OPS];
    int64_t scratch_sublanes; /* that are used */
    ts_text steps;            /* "free", or what is done, in order, with ", " between */
} ts_relayout;

enum { TS_RELAYOUT_SCRATCH = 72 }; /* sublanes, as jax gives the pass: of 8 vregs with one sublane between */

typedef struct {
    ts_vpad from, to;
    bool masks; /* a value of 1 bit: the layouts' bits are of what is masked */
    int rank;
    const int64_t *dims;
    int generation;           /* of the chip */
    int64_t scratch_sublanes; /* at most */
} ts_relayout_request;

const char *ts_relayout_op_name(ts_relayout_kind kind); /* Mosaic's: "tpu.rotate" */

/* Errors: bad input where Mosaic refuses, with its words; not modelled where there are more vregs than are
 * held. */
bool ts_relayout_plan(ts_error *err, ts_arena *arena, const ts_relayout_request *request, ts_relayout *out);
/* A kernel, as text, that loads the source's vregs, does the ops and stores the result's; without them it
 * stores the source's. */
typedef enum { TS_RELAYOUT_WITHOUT_OPS, TS_RELAYOUT_WITH_OPS } ts_relayout_content;
void ts_relayout_kernel(const ts_relayout *relayout, ts_relayout_content content, ts_text *out);

#endif
