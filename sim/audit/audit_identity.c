/* Does a reshape, or a transpose, move nothing? Both layouts are seen as maps of the same indices, those of
 * the dims that both shapes have in common, and composed: their plan then is the identity. */
#include "audit_private.h"
#include "layout/notation/tpu_rule.h"
#include "layout/notation/xla.h"

enum { MOST_BOXES = 1 << 16 };

/* Runs of dims of both shapes that hold as many indices each. */
typedef struct {
    int count;
    int64_t extents[TS_LAYOUT_MAX_DIMS];
    int ends[2][TS_LAYOUT_MAX_DIMS]; /* behind the dims of each side */
} common_dims;

/* Of layouts of as many elements, two at least. Dims of extent 1 at the end belong to the last run. */
static void find_common(const ts_layout *const sides[2], common_dims *common) {
    int at[2] = {0, 0};
    common->count = 0;
    while (at[0] < sides[0]->rank && at[1] < sides[1]->rank) {
        int64_t products[2] = {sides[0]->dims[at[0]++], sides[1]->dims[at[1]++]};
        while (products[0] != products[1]) {
            int side = products[0] > products[1];
            products[side] *= sides[side]->dims[at[side]++];
        }
        common->extents[common->count] = products[0];
        for (int k = 0; k < 2; k++) common->ends[k][common->count] = at[k];
        common->count++;
    }
    for (int k = 0; k < 2; k++) common->ends[k][common->count - 1] = sides[k]->rank;
}

/* Runs into the layout's dims; how many stages that takes. */
static int split_runs(const ts_layout *layout, const common_dims *common, int side, ts_stage *stages) {
    int made = 0;
    for (int group = 0, dim = 0; group < common->count; group++) {
        int64_t left = common->extents[group];
        for (; dim + 1 < common->ends[side][group]; dim++) {
            int64_t inner = left / layout->dims[dim];
            stages[made++] = (ts_stage){.kind = TS_STAGE_SPLIT,
                                        .dim = dim,
                                        .value = inner,
                                        .extent_before = left,
                                        .extent = layout->dims[dim]};
            left = inner;
        }
        dim++;
    }
    return made;
}

/* The same map of the indices of the runs. */
static const ts_layout *of_common(ts_arena *arena, const ts_layout *layout, const common_dims *common,
                                  int side) {
    ts_layout *out = TS_NEW(arena, ts_layout);
    int splits = layout->rank - common->count;
    ts_stage *stages = TS_NEW_ARRAY(arena, ts_stage, splits + layout->stage_count + 1);
    int made = split_runs(layout, common, side, stages);
    for (int i = 0; i < layout->stage_count; i++) stages[made++] = layout->stages[i];
    *out = *layout;
    out->rank = common->count;
    out->dims = common->extents;
    out->stages = stages;
    out->stage_count = made;
    return out;
}

static bool is_identity(const ts_plan *plan) {
    ts_plan_box box;
    if (plan->gathers || plan->box_count > MOST_BOXES) return false;
    for (int64_t i = 0; i < plan->box_count; i++) {
        ts_plan_get_box(plan, i, &box);
        if (box.src_bits != box.dst_bits) return false;
        for (int k = 0; k < box.loop_count; k++)
            if (box.loops[k].src_bits != box.loops[k].dst_bits) return false;
    }
    return true;
}

bool audit_same_places(ts_arena *arena, const ts_shape *src, const ts_shape *dst) {
    common_dims common;
    ts_shape seen[2];
    if (!src->layout || !dst->layout || src->element_bits != dst->element_bits || src->bytes != dst->bytes)
        return false;
    int64_t elements = ts_layout_element_count(src->layout);
    if (elements != ts_layout_element_count(dst->layout)) return false;
    if (elements < 2) return true; /* the one lies where the buffer begins */
    find_common((const ts_layout *const[2]){src->layout, dst->layout}, &common);
    seen[0] = *src, seen[1] = *dst;
    seen[0].layout = of_common(arena, src->layout, &common, 0);
    seen[1].layout = of_common(arena, dst->layout, &common, 1);
    ts_plan_side from = {.shape = &seen[0]}, to = {.shape = &seen[1]};
    const ts_plan *plan = ts_plan_new(NULL, arena, &from, &to, common.count, common.extents);
    return plan && is_identity(plan);
}

bool audit_moves_nothing(ts_arena *arena, const ts_shape *src, const ts_shape *dst) {
    return src->dtype == dst->dtype && src->memory_space == dst->memory_space &&
           audit_same_places(arena, src, dst);
}

/* The rule's tiles, with the dims of extent 1 outside all others: where nothing says how a result lies, the
 * compiler has it lie so that it is the operand. */
static const ts_shape *squeezed(ts_arena *arena, const ts_audit_request *request, const ts_shape *shape) {
    ts_xla_layout f = *shape->xla;
    int64_t *dims = TS_NEW_ARRAY(arena, int64_t, f.rank + 1);
    int *order = TS_NEW_ARRAY(arena, int, f.rank + 1), number[TS_LAYOUT_MAX_DIMS], rank = 0, count = 0;
    for (int i = 0; i < f.rank; i++) {
        number[i] = rank;
        if (f.dims[i] != 1) dims[rank++] = f.dims[i];
    }
    for (int i = 0; i < f.rank; i++) {
        int dim = ts_xla_dim_at(&f, i);
        if (f.dims[dim] != 1) order[count++] = number[dim];
    }
    f.rank = rank;
    f.dims = dims;
    f.minor_to_major = order;
    f.dynamic = NULL;
    f.split_count = 0;
    return ts_tpu_tiled(NULL, arena, shape->dtype, &f, request->machine->chip.generation, TS_TPU_ENTRY);
}

bool audit_can_move_nothing(ts_arena *arena, const ts_audit_request *request, const ts_shape *src,
                            const ts_shape *dst) {
    if (audit_moves_nothing(arena, src, dst)) return true;
    const ts_shape *other = dst->xla ? squeezed(arena, request, dst) : NULL;
    return other && audit_moves_nothing(arena, src, other);
}
