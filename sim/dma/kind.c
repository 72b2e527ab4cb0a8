/* What a transfer does to the order of elements. */
#include <stdlib.h>

#include "tilesim/dma/dma.h"

static const char *const kind_texts[TS_DMA_KIND_COUNT] = {
    [TS_DMA_COPY] = "copy",           [TS_DMA_RETILE] = "retile",   [TS_DMA_INTERLEAVE] = "interleave",
    [TS_DMA_TRANSPOSE] = "transpose", [TS_DMA_CONVERT] = "convert", [TS_DMA_GATHER] = "gather",
};

const char *ts_dma_kind_text(ts_dma_kind kind) { return kind_texts[kind]; }

enum { WORD_BITS = 32 };

/* The loop whose steps are one element on a side, or -1. */
static int dense_loop(const ts_plan_box *box, bool dst, int element_bits) {
    for (int i = 0; i < box->loop_count; i++) {
        if (llabs(dst ? box->loops[i].dst_bits : box->loops[i].src_bits) == element_bits) return i;
    }
    return -1;
}

ts_dma_kind ts_dma_classify(const ts_plan *plan) {
    int src_bits = plan->src.shape->element_bits, dst_bits = plan->dst.shape->element_bits;
    if (plan->gathers) return TS_DMA_GATHER;
    if (plan->src.shape->dtype != plan->dst.shape->dtype || src_bits != dst_bits) return TS_DMA_CONVERT;
    if (plan->box_count == 0) return TS_DMA_COPY;
    ts_plan_box box;
    ts_plan_get_box(plan, 0, &box);
    int src = dense_loop(&box, false, src_bits), dst = dense_loop(&box, true, dst_bits);
    if (box.loop_count <= 1 && plan->box_count == 1 && (src == dst || box.loop_count == 0))
        return TS_DMA_COPY;
    if (src == dst) return TS_DMA_RETILE;
    bool src_word = src >= 0 && box.loops[src].extent * src_bits <= WORD_BITS;
    bool dst_word = dst >= 0 && box.loops[dst].extent * dst_bits <= WORD_BITS;
    return src_bits < WORD_BITS && (src_word || dst_word) ? TS_DMA_INTERLEAVE : TS_DMA_TRANSPOSE;
}
