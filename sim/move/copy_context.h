/* One transfer under way: what moving a box needs to know. */
#ifndef TILESIM_MOVE_COPY_CONTEXT_H
#define TILESIM_MOVE_COPY_CONTEXT_H

#include "kernel.h"
#include "move/move.h"

/* A version of all kernels. */
struct ts_kernels {
    const ts_tile_kernels *tiles[4];     /* the longest lines first; NULL ends them */
    ts_run_function *runs, *stream_runs; /* NULL: there are no stores that pass the caches */
    ts_staged_function *stream_staged;   /* the same */
    ts_convert_function *const (*converts)[TS_KIND_COUNT]; /* [from][to] */
    ts_convert_function *const *look_ups; /* from bytes, by the kind of the target; NULL: there are none */
    void (*stream_end)(void);             /* after such stores, in each thread */
};

typedef struct {
    ts_dtype dtype;
    int element_bits;
    uint8_t *bytes; /* of the address from which the plan counts */
} ts_copy_side;

struct ts_copy_steps;

typedef struct {
    ts_copy_side src, dst;
    bool same; /* the same type in the same width: bits are copied */
    const ts_kernels *kernels;
    bool streams;
    bool staging;                 /* to a scratch */
    int64_t behind_bytes;         /* of the source, which may be read behind the last that moves */
    int64_t ahead_bytes;          /* where what is read next lies, when nothing streams; 0: not known */
    ts_convert_function *convert; /* NULL: ts_element_convert, or nothing changes */
    ts_conversion conversion;
    uint8_t table[2][256];       /* conversion.table */
    struct ts_copy_steps *steps; /* that keep what is done; NULL: nothing does */
} ts_copy_context;

/* What one thread does within the caches, a kernel or elements after the other, kept so that it can be done
 * again between other addresses (steps.c). */
typedef struct ts_copy_steps {
    ts_arena *arena;
    ts_copy_context *m; /* of most */
    int count, room;
    bool full;  /* there was no room for all */
    bool finds; /* and nothing is moved yet */
    struct ts_copy_step **steps;
} ts_copy_steps;

/* All but the addresses of a context comes from the plan and the options. */
void ts_copy_set(ts_copy_context *m, const ts_plan *plan, const ts_move_options *options, uint8_t *src,
                 uint8_t *dst);
/* How many of the threads that are asked for pay. */
int ts_move_threads(const ts_plan *plan, int asked);
/* By so many threads, whether or not they pay. */
void ts_move_plan(const ts_copy_context *m, const ts_plan *plan, int threads);
void ts_move_boxes(const ts_copy_context *m, const ts_plan *plan, int threads);

/* A plan that gathers, many indices at once: where both sides have one axis, and the destination no
 * replicas. */
bool ts_gather_possible(const ts_plan *plan);
void ts_move_gather(const ts_copy_context *m, const ts_plan *plan, int threads);

static inline bool ts_copy_is_same_loop(const ts_plan_loop *a, const ts_plan_loop *b) {
    return a->extent == b->extent && a->src_bits == b->src_bits && a->dst_bits == b->dst_bits;
}

static inline int64_t ts_copy_count_elements(const ts_plan_box *box) {
    int64_t elements = 1;
    for (int i = 0; i < box->loop_count; i++) elements *= box->loops[i].extent;
    return elements;
}

enum { TS_COPY_MOST_STEPS = 64 };
/* All steps again; m has the addresses. */
void ts_copy_steps_repeat(const ts_copy_steps *steps);

/* The definition: element by element. */
void ts_move_elements(const ts_copy_context *m, const ts_plan_box *box);
/* Up to so many elements, to choose a kernel takes longer than to move them one by one. */
enum { TS_COPY_TINY = 384 };
/* The same of so few, of whole bytes, of a box whose offsets are listed, in bytes, in its order; of each
 * side, whether they follow each other. */
typedef struct {
    ts_tile_place at[TS_COPY_TINY];
    int count; /* 0 where it is another box */
    bool follows[2];
} ts_element_list;
void ts_elements_list(const ts_copy_context *m, const ts_plan_box *box, ts_element_list *list);
void ts_elements_move_list(const ts_copy_context *m, const ts_element_list *list);
/* The same by the kernels that the box's loops allow. */
void ts_move_box(const ts_copy_context *m, const ts_plan_box *box);

/* Does it store long runs, or whole lines past the caches? */
bool ts_move_box_in_lines(const ts_copy_context *m, const ts_plan_box *box);

enum { TS_CONCURRENT_BOXES = 16 };
/* Boxes of a plan, where m->streams. Takes them apart. */
void ts_move_concurrent_boxes(const ts_copy_context *m, ts_plan_box *boxes, int count);

/* The same by way of a scratch, where that makes whole lines in the destination; false where it does not. */
bool ts_stage_move(const ts_copy_context *m, const ts_plan_box *box);
/* The same without a scratch, where it is a transpose with long columns, or whose columns follow each other;
 * false where it is none. */
bool ts_columns_move(const ts_copy_context *m, const ts_plan_box *box);
/* For both, loops over elements that lie together on both sides make wider elements (columns.c); false where
 * these are none that kernels know, or do not lie in whole bytes, or where there are no kernels. */
bool ts_columns_widen(ts_copy_context *m, ts_plan_box *box);
/* Long columns (staging.c), and those that follow each other (adjoin.c). */
bool ts_stage_columns(const ts_copy_context *m, const ts_plan_box *box);
bool ts_adjoin_move(const ts_copy_context *m, const ts_plan_box *box);
/* A loop of several steps, of those that are not taken, whose steps are so many bits on a side; -1. */
int ts_columns_find_step(const ts_plan_box *box, ts_side side, int64_t bits, const bool *taken);
/* The steps of each loop that a block takes, and which loops are over its columns; false where blocks are too
 * small for it to pay. */
bool ts_columns_choose(const ts_copy_context *m, const ts_plan_box *box, int64_t *cover, bool *of_columns);

/* Chooses convert and makes its table. */
void ts_copy_set_conversion(ts_copy_context *m);

/* ---- Elements that change on their way (fill.c) ---- */

/* `count` elements of whole bytes, one behind the other. */
void ts_fill_convert(const ts_copy_context *m, const uint8_t *src, uint8_t *dst, int64_t count);
/* The same for elements of any width that begin at whole bytes on both sides and end at one. */
void ts_fill_run(const ts_copy_context *m, const uint8_t *src, uint8_t *dst, int64_t count);
/* Elements narrower than a byte that are as far apart as whole bytes, a byte each. */
void ts_fill_bytes(const ts_copy_context *m, int64_t src_bits, uint8_t *bytes, int count);

/* ---- Digits (network.c) ---- */

/* Bit `bit` of the counter of a loop: one step of it moves both addresses by these bits. */
typedef struct {
    int loop, bit;
    int64_t src, dst;
} ts_digit;

/* `count` digits whose steps on one side are `stride`, twice that, .. bits. */
bool ts_digits_find(const ts_plan_box *box, ts_side side, int64_t stride, int count, ts_digit *digits);
/* The network that makes lines with the digits dst[] of lines with the digits src[], least significant first,
 * from units of 2^unit_log2 bytes. Sets all of the tile but the offsets of lines. enters[j] is bit j of a
 * source line's number, leaves[j] of a destination line's. */
typedef struct {
    int line_bytes, unit_log2, count;
    const ts_digit *src, *dst; /* [count] */
} ts_network;
void ts_network_make(ts_tile *tile, const ts_network *network, ts_digit *enters, ts_digit *leaves);

/* ---- Lines that are not whole (lines.c) ---- */

/* Elements that a box names and that are not there: at the last step of loop `outer` those of loop `inner`
 * from this step on; 0: all are there. */
typedef struct {
    int64_t from;
    int outer, inner;
} ts_lack;

/* Are all steps of these loops taken, so that a tile says what is not there? */
static inline bool ts_lack_is_inside(const ts_lack *lack, const ts_plan_box *box, const int64_t *times) {
    return lack->from == 0 || (times[lack->outer] >= box->loops[lack->outer].extent &&
                               times[lack->inner] >= box->loops[lack->inner].extent);
}
static inline bool ts_lack_has(const ts_lack *lack, const ts_plan_box *box, int64_t outer, int64_t inner) {
    return lack->from > 0 && outer == box->loops[lack->outer].extent - 1 && inner >= lack->from;
}

/* A line of one side. */
typedef struct {
    const ts_plan_box *box;
    ts_lack lack;
    ts_side side;
    int width, count;       /* bits of an element; digits */
    const ts_digit *digits; /* [count] */
} ts_line;
/* Finds its digits: of loops of any extent, each padded to a power of two, whose elements lie in memory as
 * they do so padded, or closer; and where these leave gaps, of no loop (-1, -2, ..). */
void ts_lines_find(const ts_line *line, ts_digit *digits);

/* The position in the padded line and the offset in memory, in elements, of each element of a whole line, in
 * the order of memory. */
typedef struct {
    int count;
    uint8_t positions[TS_LINE_BYTES], offsets[TS_LINE_BYTES];
} ts_line_elements;
void ts_lines_order(const ts_line *line, ts_line_elements *elements);
/* How many elements each of the 2^stages lines numbered by these digits has, of so many in a whole one. */
void ts_lines_measure(const ts_line *line, const ts_digit *numbers, int stages, int elements, uint8_t *have);
/* Is the element at a position of the line of a number not there? */
bool ts_lines_lack(const ts_line *line, const ts_digit *numbers, int stages, int number, int position);

#endif
