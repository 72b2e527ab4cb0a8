/* What a transfer does to the shadows: the elements that arrive are as defined as those that left. */
#include "move/move.h"

typedef struct {
    const ts_space *src;
    ts_space *dst; /* NULL: nothing is written */
    int src_bits, dst_bits;
    int64_t poisoned; /* the source bit of the first element that is not whole; -1 */
    int64_t arrives;  /* the destination bit of the same */
} shadow_context;

static void meet_poison(shadow_context *m, int64_t src_bit, int64_t dst_bit) {
    if (m->poisoned < 0) {
        m->poisoned = src_bit;
        m->arrives = dst_bit;
    }
}

static void one(shadow_context *m, int64_t src_bit, int64_t dst_bit) {
    if (ts_space_find_poison(m->src, src_bit, m->src_bits) >= 0) {
        meet_poison(m, src_bit, dst_bit);
        if (m->dst) ts_space_mark_poison(m->dst, dst_bit, m->dst_bits);
    } else if (m->dst) {
        ts_space_mark_valid(m->dst, dst_bit, m->dst_bits);
    }
}

static void row(shadow_context *m, int64_t src_bit, int64_t dst_bit, const ts_plan_loop *loop) {
    int64_t last = (loop->extent - 1) * loop->src_bits;
    bool whole = last >= 0 && ts_space_find_poison(m->src, src_bit, last + m->src_bits) < 0;
    if (whole && !m->dst) return;
    if (whole && loop->dst_bits == m->dst_bits) {
        ts_space_mark_valid(m->dst, dst_bit, loop->extent * m->dst_bits);
        return;
    }
    for (int64_t i = 0; whole && i < loop->extent; i++)
        ts_space_mark_valid(m->dst, dst_bit + i * loop->dst_bits, m->dst_bits);
    for (int64_t i = 0; !whole && i < loop->extent; i++)
        one(m, src_bit + i * loop->src_bits, dst_bit + i * loop->dst_bits);
}

static void box(shadow_context *m, const ts_plan_box *b, int loop, int64_t src_bit, int64_t dst_bit) {
    if (loop == b->loop_count) {
        one(m, src_bit, dst_bit);
        return;
    }
    const ts_plan_loop *l = &b->loops[loop];
    if (loop == b->loop_count - 1) {
        row(m, src_bit, dst_bit, l);
        return;
    }
    for (int64_t i = 0; i < l->extent; i++)
        box(m, b, loop + 1, src_bit + i * l->src_bits, dst_bit + i * l->dst_bits);
}

static void all(shadow_context *m, const ts_plan *plan) {
    m->src_bits = plan->src.shape->element_bits;
    m->dst_bits = plan->dst.shape->element_bits;
    m->poisoned = m->arrives = -1;
    for (int64_t i = 0; i < plan->box_count; i++) {
        ts_plan_box b;
        ts_plan_get_box(plan, i, &b);
        box(m, &b, 0, b.src_bits, b.dst_bits);
    }
}

void ts_dma_move_shadow(const ts_plan *plan, const ts_space *src, ts_space *dst) {
    shadow_context m = {.src = src, .dst = dst};
    all(&m, plan);
}

bool ts_dma_find_poison(const ts_plan *plan, const ts_space *src, int64_t *src_bit, int64_t *dst_bit) {
    shadow_context m = {.src = src};
    all(&m, plan);
    *src_bit = m.poisoned;
    *dst_bit = m.arrives;
    return m.poisoned >= 0;
}
