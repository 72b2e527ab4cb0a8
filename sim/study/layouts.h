/* The layouts that TPUs use for a type, and what a transfer costs with each of them. */
#ifndef TILESIM_STUDY_LAYOUTS_H
#define TILESIM_STUDY_LAYOUTS_H

#include "study/transfer.h"

enum { TS_LAYOUTS_MOST = 16 };

typedef struct {
    const ts_shape *shapes[TS_LAYOUTS_MOST];
    int count;
} ts_layout_list;

typedef struct {
    const ts_shape *shape;
    int64_t cycles;
    bool estimated;
} ts_transfer_other;

typedef struct {
    int count;                                 /* 0: none was tried, or none can be priced */
    ts_transfer_other others[TS_LAYOUTS_MOST]; /* the cheapest first */
} ts_transfer_others;

typedef struct {
    bool cheapest_only; /* all that are surely dearer (ts_plan_price) are left out, and most need no price */
    int threads;        /* that price them; the result is the same */
} ts_transfer_others_request;

/* Prices a transfer, and the same with one end in each other layout that TPUs use for its type, and in those
 * that are like the other end's. None is tried for an end that lies on several axes. others: of the source,
 * and of the destination. */
bool ts_transfer_price_with_others(ts_error *err, ts_arena *arena, const ts_transfer_request *request,
                                   const ts_transfer_others_request *tried, ts_transfer_study *study,
                                   ts_transfer_others others[2]);

/* All pairs of layouts. */
typedef struct {
    const ts_machine *machine;
    ts_layout_list list;
    int64_t copy_cycles;                                 /* of a straight copy: the first layout to itself */
    ts_dma_cost costs[TS_LAYOUTS_MOST][TS_LAYOUTS_MOST]; /* from, to; cycles 0: it cannot be done */
} ts_transfer_matrix;

typedef struct {
    const ts_machine *machine;
    const ts_shape *model; /* the type and the dims; its own layout, where it has one, is the first */
    bool exact;
    int threads; /* as above */
} ts_transfer_matrix_request;

ts_transfer_matrix *ts_transfer_price_matrix(ts_error *err, ts_arena *arena,
                                             const ts_transfer_matrix_request *request);

#endif
