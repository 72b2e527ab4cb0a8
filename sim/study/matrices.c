/* Which of a transfer's dims are the rows and the columns of matrices, and what these leave out of the
 * padding. */
#include "study/matrices.h"

#include "base/number.h"
#include "layout/notation/xla.h"

static const ts_xla_layout *fields_of(const ts_plan *plan, const ts_shape *shape) {
    return shape->xla && shape->xla->rank == plan->rank ? shape->xla : NULL;
}

/* The dim whose neighbours are nearest, a word being one place: its elements lie in the lanes, one alone too
 * where a tile pads it. -1: none. */
static int lane_dim(const ts_plan *plan, const ts_shape *shape, const ts_layout *layout) {
    int64_t index[TS_LAYOUT_MAX_DIMS] = {0}, first[TS_LAYOUT_MAX_AXES], at[TS_LAYOUT_MAX_AXES];
    int64_t least = INT64_MAX, word = shape->element_bits < 32 ? 32 / shape->element_bits : 1;
    const ts_xla_layout *fields = fields_of(plan, shape);
    int best = -1;
    for (int i = 0; fields && i < plan->rank; i++) {
        int dim = ts_xla_dim_at(fields, i);
        if (plan->sizes[dim] > 1 || fields->tile_count > 0) return dim;
    }
    ts_layout_forward(layout, index, first);
    for (int i = 0; i < plan->rank; i++) {
        if (plan->sizes[i] <= 1) continue;
        index[i] = plan->sizes[i] > word ? word : plan->sizes[i] - 1;
        ts_layout_forward(layout, index, at);
        int64_t step = (at[0] < first[0] ? first[0] - at[0] : at[0] - first[0]) / index[i];
        if (step < least) least = step, best = i;
        index[i] = 0;
    }
    return best;
}

bool ts_matrices_find(const ts_plan *plan, ts_dma_end src, ts_dma_end dst, ts_matrices *m) {
    const ts_shape *sides[2] = {plan->src.shape, plan->dst.shape};
    if (plan->gathers || plan->src_layout->axis_count > 1 || plan->dst_layout->axis_count > 1) return false;
    int from = lane_dim(plan, sides[0], plan->src_layout), to = lane_dim(plan, sides[1], plan->dst_layout);
    if (from < 0 || to < 0) return false;
    *m = (ts_matrices){.batch = 1,
                       .rows = 1,
                       .cols = plan->sizes[from],
                       .transposed = from != to,
                       .in_hbm = {src.in_hbm, dst.in_hbm}};
    for (int i = 0; i < plan->rank; i++)
        if (i != from) *(m->transposed && i != to ? &m->batch : &m->rows) *= plan->sizes[i];
    for (int i = 0; i < 2; i++) m->is_tiled[i] = sides[i]->xla && sides[i]->xla->tile_count > 0;
    return true;
}

/* Elements of one side's matrices, in tiles as its shape has them. */
static __int128 elements_in_tiles(const ts_shape *shape, int64_t batch, int64_t rows, int64_t cols) {
    const ts_xla_tile *tile = shape->xla && shape->xla->tile_count > 0 ? &shape->xla->tiles[0] : NULL;
    int64_t edges[2] = {1, 1};
    for (int i = 0; tile && i < 2 && i < tile->rank; i++) {
        int64_t edge = tile->dims[tile->rank - 1 - i];
        if (edge > 0) edges[i] = edge;
    }
    return (__int128)batch * ts_round_up(rows, edges[1]) * ts_round_up(cols, edges[0]);
}

int64_t ts_matrices_left_out_bytes(const ts_plan *plan, const ts_matrices *m) {
    const ts_shape *sides[2] = {plan->src.shape, plan->dst.shape};
    __int128 bytes = 0;
    for (int side = 0; side < 2; side++) {
        const ts_shape *shape = sides[side];
        bool is_transposed = side == 1 && m->transposed;
        int64_t elements = ts_layout_element_count(shape->layout), rows = is_transposed ? m->cols : m->rows,
                cols = is_transposed ? m->rows : m->cols;
        __int128 padded = (__int128)shape->padded_elements * plan->elements / elements,
                 here = elements_in_tiles(shape, m->batch, rows, cols);
        if (m->in_hbm[side] && padded > here)
            bytes += (padded - here) * shape->bytes / shape->padded_elements;
    }
    return bytes > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)bytes;
}
