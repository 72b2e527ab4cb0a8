/* A plan as a stream of memory accesses: the same boxes that move the bytes, traversed in blocks.
 *
 * A block is what the engine holds at once: up to TS_TRAVERSAL_BLOCK_BYTES of elements, chosen so that both
 * sides see runs as long as the loops allow. Its source lines are read, then its destination lines are
 * written; a line that follows itself is accessed once. Lines are aligned pieces of `line_bytes`. */
#ifndef TILESIM_DMA_TRAVERSAL_H
#define TILESIM_DMA_TRAVERSAL_H

#include "base/members.h"
#include "layout/plan.h"

enum { TS_TRAVERSAL_BLOCK_BYTES = 4096, TS_TRAVERSAL_BLOCK_ELEMENTS = 4096 };

typedef struct {
    int64_t address; /* of the line, in bytes of its space */
    bool is_write;
    bool is_dst; /* which side: a read of the destination is the first half of a read-modify-write */
} ts_traversal_access;

typedef struct {
    int64_t blocks, src_lines, dst_lines, rmw_lines; /* lines accessed on each side; rmw: also read first */
    int64_t src_runs, dst_runs;                      /* stretches of consecutive bits */
} ts_traversal_totals;
extern const ts_member ts_traversal_totals_members[];

typedef struct ts_traversal ts_traversal;

/* line_bytes: of each side; 0 where no accesses are wanted (a memory with no lines). granule_bits: the
 * narrowest write of the destination: less is a read-modify-write when a neighbour in the same granule is a
 * valid element. */
ts_traversal *ts_traversal_new(ts_arena *arena, const ts_plan *plan, int src_line_bytes, int dst_line_bytes,
                               int granule_bits);

/* The accesses of the next block (*count may be 0), and the elements in it; false when there is none. The
 * array is valid until the next call. */
bool ts_traversal_next(ts_traversal *traversal, const ts_traversal_access **accesses, int *count,
                       int64_t *elements);
const ts_traversal_totals *ts_traversal_get_totals(const ts_traversal *traversal); /* so far */
int64_t ts_traversal_lines(const ts_traversal *traversal); /* of these: all of both sides */

/* The block that ts_traversal_next gave last: where it begins along the loops of its box, and how far it
 * goes. */
typedef struct {
    int64_t box; /* its number in the plan */
    int loop_count;
    int64_t at[TS_PLAN_MAX_LOOPS], extent[TS_PLAN_MAX_LOOPS];
} ts_traversal_block;
void ts_traversal_last_block(const ts_traversal *traversal, ts_traversal_block *block);

/* The current box, or -1 between boxes: how many blocks it has, and the number of the next one. The boxes of
 * a plan that gathers are blocks of one. */
int64_t ts_traversal_position(const ts_traversal *traversal, int64_t *next, int64_t *count);
/* Elements of the box before `block`, 0 to the number of its blocks. */
int64_t ts_traversal_elements_before(const ts_traversal *traversal, int64_t block);
/* What the blocks of the box before `block` are, 0 to the number of its blocks: elements, and what the time
 * goes by: the lines accessed, in parts of one, where some blocks were measured for all that are as large;
 * where nothing has lines, elements in their stead. */
enum { TS_TRAVERSAL_LINE_WORK = 16 };
typedef struct {
    int64_t elements, work;
} ts_traversal_amount;
ts_traversal_amount ts_traversal_before(ts_traversal *traversal, int64_t block);
/* The work of all boxes but the current one, where boxes are at most `most` and each by itself; else 0. */
int64_t ts_traversal_work_elsewhere(const ts_traversal *traversal, int64_t most);
/* A number of blocks, at least `least` where the box has so many, after which its inner loops begin again;
 * iterations of a loop that is not taken whole are a power of two, as address maps are made of bits. */
int64_t ts_traversal_period(const ts_traversal *traversal, int64_t least);
/* The blocks of the box, without those of the last iteration of its outermost loop where these are smaller:
 * they access more lines for their elements, and rows in another order. */
int64_t ts_traversal_alike(const ts_traversal *traversal);
/* Of boxes that are joined: the block before which such a part of their work lies, 0 to below 1, if they are
 * sorted by their work: boxes with the same loops then lie together, however the plan mixes them. */
int64_t ts_traversal_find_sorted(const ts_traversal *traversal, double part);
double ts_traversal_sorted_part(const ts_traversal *traversal,
                                int64_t box); /* where a box's middle is then */
/* The same in the order of the plan: what lies before a box, 0 to their number; the block before which so much
 * work lies. */
ts_traversal_amount ts_traversal_before_box(const ts_traversal *traversal, int64_t box);
int64_t ts_traversal_find_work(const ts_traversal *traversal, int64_t work);
/* Goes on with another block of the box. */
void ts_traversal_seek(ts_traversal *traversal, int64_t block);
/* Takes all boxes of a plan that does not gather as one: its number is that of the boxes. Before the first
 * block, or between two. */
void ts_traversal_join_boxes(ts_traversal *traversal);
/* Each by itself again. */
void ts_traversal_split_boxes(ts_traversal *traversal);
bool ts_traversal_boxes_are_joined(const ts_traversal *traversal);
/* Counts them for what is left out. */
void ts_traversal_add_totals(ts_traversal *traversal, const ts_traversal_totals *totals);

#endif
