/* Which layout a tensor should have: every legal one, priced by running the model.
 *
 * A tensor of a program: the program is run with each. It lies in HBM, or no instruction addresses its words:
 * else another layout would be another program. A shape with a stated use: its transfers are priced by the
 * DMA engine and the HBM (dma/price.h), and what the core does with it by running kernels of it on the core.
 * Transfers and core overlap, as double buffering has it: the time is that of the slower. */
#ifndef TILESIM_CHOOSE_CHOOSE_H
#define TILESIM_CHOOSE_CHOOSE_H

#include "base/interrupt.h"
#include "check/findings.h"
#include "layout/shape.h"
#include "machine/machine.h"
#include "program/program.h"

enum {
    TS_CHOOSE_USES = 16,
    TS_CHOOSE_CANDIDATES = 1 << 14,
    TS_CHOOSE_FLIPS = 64,
    /* In percent: copies that were measured differ by so much from the model (tests/cli/test_audit.py).
     * Candidates that are nearer to the best are a tie. */
    TS_CHOOSE_TIE_PERCENT = 10,
};

typedef enum { TS_USE_DMA, TS_USE_REDUCE, TS_USE_STREAM } ts_use_kind;

typedef struct {
    ts_use_kind kind;
    int dim;                            /* that is summed */
    const ts_machine_memory *from, *to; /* of a transfer */
} ts_choose_use;

typedef struct {
    const ts_machine *machine;
    const char *machine_name;
    const char *const *sets; /* what of it was changed: "hbm.stacks=4" */
    int set_count;
    /* Either a shape and its uses .. */
    const ts_shape *shape;
    const ts_choose_use *uses;
    int use_count;
    /* .. or a program's tensor. */
    const char *program, *tensor; /* tensor NULL: an error says which there are */
    const ts_define *defines;
    int define_count;
    bool combine;      /* also tiles with '*', which no compiler makes yet */
    bool exact;        /* simulate every access of every size */
    bool exhaustive;   /* price all: nothing is cut by its bound */
    bool moves_fields; /* move the machine's assumed figures */
    void (*progress)(void *self, int64_t done, int64_t of); /* NULL: none */
    void *self;
    ts_interrupt *interrupt; /* NULL: none */
} ts_choose_request;

/* dma[:FROM>TO], reduce:DIM, stream, with commas between: the uses of the request's shape on its machine. */
bool ts_choose_read_uses(ts_error *err, ts_arena *arena, const ts_source *text, ts_choose_request *request);

typedef struct {
    const ts_shape *shape;
    const char *text;
    int64_t bytes;
    int64_t bound_cycles; /* no run can be shorter */
    int64_t dma_cycles, core_cycles, cycles;
    double hbm_joules; /* in `cycles`; where it was priced */
    const char *limiter;
    bool priced; /* else it was cut: it takes at least bound_cycles */
    bool is_rule, is_now, is_tie, combines;
    bool unfinished; /* of a program: transfers were under way at its end: their time is in no price */
    int alike; /* candidates that this one stands for: they differ in the order of the major dims, and in
                  nothing else */
} ts_candidate;

/* A figure of the machine that is assumed, and with which another layout wins, by more than a tie. */
typedef struct {
    const char *field, *value;      /* "dma.lookahead", "64 KiB" */
    int winner;                     /* among the candidates */
    int64_t cycles, cycles_of_best; /* of the winner, and of what is best on the machine as it is */
} ts_choose_flip;

typedef struct {
    const ts_choose_request *request;
    const ts_shape *tensor; /* as it is, or was given */
    int64_t logical_bytes;  /* of its data, by the layout that packs them most */
    int64_t enumerated, priced, cut;
    int64_t unfit;       /* layouts with which the tensor does not fit in its memory */
    int64_t block_bytes; /* larger tensors are computed with in blocks of so many bytes; 0: there are none */
    bool estimated;      /* prices were sampled or extended */
    const ts_findings *left; /* by the fastest run that is unfinished, else that leaves any; NULL: a shape */
    int candidate_count;
    const ts_candidate *candidates; /* best first; at the end those cut, by their bounds */
    int flip_count, fields_moved;   /* fields_moved: with both values that their ranges allow */
    const ts_choose_flip *flips;
} ts_choose_result;

bool ts_choose(ts_error *err, ts_arena *arena, const ts_choose_request *request, ts_choose_result *result);

#endif
