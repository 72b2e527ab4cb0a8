/* A kernel that a box has been matched with, and the loops around it. */
#ifndef TILESIM_MOVE_COPY_PLAN_H
#define TILESIM_MOVE_COPY_PLAN_H

#include "copy_context.h"
#include "base/number.h"

enum { TS_SCRATCH_BYTES = 8192 };

/* A loop around a kernel. Its steps are taken in segments of up to `most`, which the kernel loops over; where
 * a tile leaves a rest of the loop, the last is a tile that ends where the loop does. */
typedef struct {
    int64_t count, src_bits, dst_bits, most;
    bool has_tail;
    int64_t tail_src_bits, tail_dst_bits;
} ts_copy_loop;

/* Boxes of a plan that are moved one after the other. */
typedef struct {
    int count, next; /* next: the first that is not moved yet */
    ts_plan_box boxes[TS_CONCURRENT_BOXES];
    bool taken[TS_CONCURRENT_BOXES]; /* moved with one before it */
} ts_box_list;

/* A kernel and the loops around it, outermost first. */
typedef struct {
    const ts_copy_context *m;
    ts_box_list *others;                   /* that may be moved with a box; NULL: there are none */
    bool extended;                         /* some are */
    ts_lack lack;                          /* of the box that it is matched with */
    ts_tile_function *tile_function;       /* NULL: a run */
    ts_columns_function *columns_function; /* of columns past the caches */
    ts_tile_function *runs_function;       /* where its lines continue runs; NULL: there is none */
    bool lists;                            /* it takes tiles by a list */
    ts_tile tile;
    bool streams;    /* where the destination is aligned */
    bool in_runs;    /* by runs_function, past the caches too */
    ts_plan_box box; /* the loops that a tile was matched with; none: there is no tile */
    int64_t times[TS_PLAN_MAX_LOOPS];
    int64_t run_elements, run_bytes;
    int loop_count,
        inner_loop[TS_TILE_LOOPS]; /* which of the loops the kernel runs, its outermost first; or -1 */
    ts_copy_loop loops[TS_PLAN_MAX_LOOPS + 1];
    ts_kernel_loop inner[TS_TILE_LOOPS]; /* these, of a segment; bits if it fills */
    bool is_call;                        /* one call of the kernel is all: inner and tile.loops are set */
    /* Elements that change: their lines are made in a scratch first, and narrow ones are stored from
     * another. */
    bool fills, joins;
    const ts_tile_kernels *kernels;
    ts_narrow narrow;
    int64_t line_bits[TS_TILE_LINES];
    uint8_t have[TS_TILE_LINES]; /* elements of each line of a tile that masks */
} ts_copy_plan;

/* What moves a whole box, with its order; false where no kernel does so alone. */
bool ts_copy_plan_match(ts_copy_plan *copy, const ts_copy_context *m, const ts_plan_box *box);
/* For copy->m: the best kernel, and how many steps of each loop it takes; what it leaves of them is not
 * moved. */
bool ts_copy_plan_match_box(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times);
/* The same by tiles whose lines may continue runs. */
bool ts_copy_plan_match_runs(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times);
/* What it was matched with serves again for a box whose loops have more or fewer steps. */
void ts_copy_plan_keep(ts_copy_plan *copy, const ts_plan_box *box, const int64_t *times);
bool ts_copy_plan_serves(const ts_copy_plan *copy, const ts_plan_box *box, int64_t *times);
bool ts_copy_plan_match_again(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times);
/* The same for a box that has a lack, by kernels that mask lines. */
bool ts_copy_plan_match_lacking(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times);
/* A long run of elements narrower than a byte that change. */
bool ts_copy_plan_match_narrow_run(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times);
/* Rows of the source that become columns of the destination (transpose.c): how many steps of each loop they
 * take. */
bool ts_copy_plan_match_transpose(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times);
/* The same for rows that are shorter than a vector's lane; where kernels may not read behind the source, of
 * bytes alone, which are copied first. */
bool ts_copy_plan_match_short_rows(ts_copy_plan *copy, const ts_plan_box *box, int64_t *times);
/* What stores all of a box past the caches, as columns of rows. */
bool ts_copy_plan_match_columns(ts_copy_plan *copy, const ts_copy_context *m, const ts_plan_box *box);
/* The rows of a column that the box has all loops of: the last again, up to whole lines of elements of so
 * many bits. */
void ts_copy_plan_list_rows(const ts_plan_box *box, int64_t width, ts_offsets *rows);
/* Do the first so many rows lie so that the caches hold few of their lines at once, as those of large powers
 * of two do? */
bool ts_copy_plan_rows_collide(const ts_offsets *rows, int64_t count);
/* Loops whose elements lie together on both sides make runs, and `times` says so; the bits of these. */
int64_t ts_copy_plan_find_run(const ts_plan_box *box, int64_t width, int64_t *times);
/* Are so many bits an element that kernels know? */
bool ts_copy_plan_is_element(int64_t width);
/* Loops that stay within a few lines (permute.c): of each side one behind the other, or apart, where these
 * move so many bytes a clock; 0: not at all. */
bool ts_copy_plan_match_permute(ts_copy_plan *copy, const ts_plan_box *box, int apart, int64_t *times);
/* The loops around a kernel that takes so many steps of each (copy_loops.c). */
void ts_copy_plan_set_loops(ts_copy_plan *copy, const ts_plan_box *box, const int64_t *times);
/* Do all loops around the kernel step by multiples of so many bits of the source, and by bytes of the
 * destination? */
bool ts_copy_plan_steps_by(const ts_copy_plan *copy, const ts_plan_box *box, int64_t src_bits);
/* Before it is run: is it one call? */
void ts_copy_plan_set_call(ts_copy_plan *copy);
/* The order of the loops and the segments of them, for one whose loops are those of the box (order.c). */
void ts_copy_plan_order(ts_copy_plan *copy, const ts_plan_box *box);
/* From these addresses on: those of the first element; or all tiles that are listed. */
void ts_copy_plan_run(ts_copy_plan *copy, int64_t src_bits, int64_t dst_bits);
/* The box that its loops are those of, with others whose tiles and outermost loop are the same: all that lies
 * within a step of that by a list of tiles (lists.c), while the lines that they share are in the nearest
 * cache. */
void ts_copy_plan_run_box(ts_copy_plan *copy, const ts_plan_box *box);

/* Do so, and keep it among the steps of the context, if it has any. */
void ts_copy_step_elements(const ts_copy_context *m, const ts_plan_box *box);
void ts_copy_step_run(ts_copy_plan *copy, int64_t src_bits, int64_t dst_bits);

/* So few elements that to choose a kernel takes longer than to move them? */
bool ts_copy_is_tiny(const ts_copy_context *m, const ts_plan_box *box);
/* Moves a box: the next of those with one context. */
void ts_copy_plan_move(ts_copy_plan *copy, const ts_plan_box *box);
/* Moves a box that it serves with one of the others that it does not extend to, where both are one but for a
 * lack (join.c); false: with none. taken: those before it was matched. */
bool ts_copy_plan_move_joined(const ts_copy_plan *copy, const ts_plan_box *box, const bool *taken);
/* Lets the kernel of tiles that pass the caches keep what lines leave of lines of memory (runs.c): for loops
 * in their order. False where it cannot. */
bool ts_copy_plan_go_in_runs(ts_copy_plan *copy);
/* The tile's loops and runs are those of a call. */
void ts_copy_plan_set_runs(ts_copy_plan *copy);
/* Moves both past the caches, where they are one whose runs end with what it lacks; false: they are not. */
bool ts_copy_plan_move_runs(const ts_copy_context *m, const ts_plan_box *box, const ts_plan_box *other);
static inline void ts_copy_plan_begin(ts_copy_plan *copy, const ts_copy_context *m) {
    copy->m = m;
    copy->others = NULL;
    copy->lack.from = 0;
    copy->box.loop_count = 0;
}

/* What tiles leave of a loop; those that take more steps than it has leave nothing. */
static inline int64_t ts_copy_rest(const ts_plan_loop *loop, int64_t times) {
    return times == 1 || loop->extent < times ? 0 : loop->extent % times; /* hosts divide slowly */
}
/* Is that moved by itself, and not by a tile that ends where the loop does? */
bool ts_copy_rest_is_apart(const ts_copy_context *m, const ts_plan_loop *loop, int64_t times);
bool ts_copy_leaves_rests(const ts_copy_context *m, const ts_plan_box *box, const int64_t *times);

/* Elements of so many bits in the longest line; of a longer run one. */
static inline int64_t ts_copy_count_in_line(int64_t width) { return ts_max(8 * TS_LINE_BYTES / width, 1); }
static inline bool ts_copy_is_narrow(const ts_copy_context *m) {
    return m->src.element_bits < 8 || m->dst.element_bits < 8;
}
static inline int ts_copy_width(const ts_copy_side *side) {
    return side->element_bits < 8 ? 8 : side->element_bits;
}
/* May kernels read lines that end behind the source? */
static inline bool ts_copy_reads_on(const ts_copy_context *m) { return m->behind_bytes >= TS_LINE_BYTES; }
/* May so many lines that are not whole be read as if they were? Of a scratch they may, and those that have
 * nothing are the first again. */
static inline bool ts_copy_may_load_whole(const ts_copy_plan *copy, int lines) {
    bool whole = true;
    for (int i = 0; i < lines; i++)
        whole = whole && (copy->tile.src_mask[i] == 0 || copy->tile.src_mask[i] == UINT64_MAX);
    return whole || copy->fills || ts_copy_reads_on(copy->m);
}
/* Elements of whole bytes, which a kernel converts. */
static inline bool ts_copy_converts(const ts_copy_context *m) {
    return m->convert && m->src.element_bits >= 8 && m->dst.element_bits >= 8;
}

#endif
