/* What a transfer does to the order of elements, and how fast the engine does it. */
#include <stdlib.h>

#include "dma/dma.h"
#include "isa/vreg.h"

static const char *const kind_texts[TS_DMA_KIND_COUNT + 1] = {
    [TS_DMA_COPY] = "copy",
    [TS_DMA_RETILE] = "retile",
    [TS_DMA_INTERLEAVE] = "interleave",
    [TS_DMA_TRANSPOSE] = "transpose",
    [TS_DMA_CONVERT] = "convert",
    [TS_DMA_GATHER] = "gather",
    [TS_DMA_CORE_PROGRAM] = "core program",
};

const char *ts_dma_kind_text(ts_dma_kind kind) { return kind_texts[kind]; }

/* The loop whose steps are one element on a side, or -1. */
static int dense_loop(const ts_plan_box *box, ts_side side, int element_bits) {
    for (int i = 0; i < box->loop_count; i++)
        if (llabs(ts_plan_step_bits(&box->loops[i], side)) == element_bits) return i;
    return -1;
}

/* The loop that goes from word to word: the dense one, or of elements that share a word the next. */
static int lane_loop(const ts_plan_box *box, ts_side side, int element_bits) {
    int dense = dense_loop(box, side, element_bits), best = -1;
    int64_t least = INT64_MAX;
    if (dense < 0 || box->loops[dense].extent * element_bits > TS_WORD_BITS) return dense;
    for (int i = 0; i < box->loop_count; i++) {
        int64_t step = llabs(ts_plan_step_bits(&box->loops[i], side));
        if (step >= TS_WORD_BITS && step < least) least = step, best = i;
    }
    return best;
}

/* Do the elements of a box keep their order, in whole words? */
static bool box_keeps_order(const ts_plan_box *box, int element_bits) {
    int64_t inner =
        box->loop_count > 0 ? box->loops[box->loop_count - 1].extent * element_bits : element_bits;
    int64_t offsets = box->src_bits | box->dst_bits;
    for (int i = 0; i < box->loop_count; i++) {
        const ts_plan_loop *loop = &box->loops[i];
        if (loop->src_bits <= 0 || loop->dst_bits <= 0) return false;
        if (i > 0 && loop->src_bits >= box->loops[i - 1].src_bits) return false;
        if (i + 1 < box->loop_count) offsets |= loop->src_bits | loop->dst_bits;
    }
    return element_bits % TS_WORD_BITS == 0 || (offsets % TS_WORD_BITS == 0 && inner % TS_WORD_BITS == 0);
}

enum { BOXES_IN_ORDER = 16 }; /* more are taken to be out of order */

/* A strided copy, such as that of a block of whole tiles: the engine passes on the stream of words as it
 * comes, box after box. */
static bool keeps_order(const ts_plan *plan) {
    int64_t src = INT64_MIN, dst = INT64_MIN;
    for (int64_t n = 0; n < plan->box_count; n++) {
        ts_plan_box box;
        ts_plan_get_box(plan, n, &box);
        if (plan->box_count > BOXES_IN_ORDER || !box_keeps_order(&box, plan->src.shape->element_bits))
            return false;
        if (box.src_bits < src || box.dst_bits < dst) return false;
        src = box.src_bits;
        dst = box.dst_bits;
        for (int i = 0; i < box.loop_count; i++) {
            src += (box.loops[i].extent - 1) * box.loops[i].src_bits;
            dst += (box.loops[i].extent - 1) * box.loops[i].dst_bits;
        }
    }
    return true;
}

static bool is_whole_integer(const ts_shape *shape) {
    const ts_dtype_info *type = ts_dtype_get(shape->dtype);
    bool integer = type->class == TS_CLASS_SIGNED || type->class == TS_CLASS_UNSIGNED;
    return integer && shape->element_bits == type->value_bits;
}

/* Of integers without their sign, or with one, the bits stay. */
static bool has_same_bits(const ts_shape *a, const ts_shape *b) {
    if (a->element_bits != b->element_bits) return false;
    return a->dtype == b->dtype || (is_whole_integer(a) && is_whole_integer(b));
}

ts_dma_kind ts_dma_classify(const ts_plan *plan) {
    int src_bits = plan->src.shape->element_bits, dst_bits = plan->dst.shape->element_bits;
    if (plan->gathers) return TS_DMA_GATHER;
    if (!has_same_bits(plan->src.shape, plan->dst.shape)) return TS_DMA_CONVERT;
    if (plan->box_count == 0) return TS_DMA_COPY;
    ts_plan_box box;
    ts_plan_get_box(plan, 0, &box);
    int src = dense_loop(&box, TS_SRC, src_bits), dst = dense_loop(&box, TS_DST, dst_bits);
    if (box.loop_count <= 1 && plan->box_count == 1 && (src == dst || box.loop_count == 0))
        return TS_DMA_COPY;
    if (src == dst && keeps_order(plan)) return TS_DMA_COPY;
    if (lane_loop(&box, TS_SRC, src_bits) != lane_loop(&box, TS_DST, dst_bits)) return TS_DMA_TRANSPOSE;
    return src == dst ? TS_DMA_RETILE : TS_DMA_INTERLEAVE; /* else the elements of a word are others */
}

ts_dma_kind ts_dma_kind_done(const ts_dma_config *config, const ts_plan *plan) {
    ts_dma_kind kind = ts_dma_classify(plan);
    return config->bytes_per_cycle[kind] > 0 ? kind : TS_DMA_GATHER;
}

int64_t ts_dma_rate(const ts_dma_config *config, ts_dma_end src, ts_dma_kind kind) {
    int64_t rate = config->bytes_per_cycle[kind], read = config->read_bytes_per_cycle;
    return src.in_hbm && read > 0 && read < rate ? read : rate;
}

bool ts_dma_check_kind(ts_error *err, const ts_dma_config *config, const ts_plan *plan) {
    ts_dma_kind kind = ts_dma_classify(plan);
    return config->bytes_per_cycle[ts_dma_kind_done(config, plan)] > 0 ||
           ts_error_set(err, TS_ERROR_UNMODELLED, "the DMA engine of this machine cannot do a %s",
                        ts_dma_kind_text(kind));
}
