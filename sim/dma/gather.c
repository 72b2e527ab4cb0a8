/* Plans that gather: offsets of many indices at once, then the elements at them. */
#include <string.h>

#include "mover.h"

enum { GATHER_ELEMENTS = 1 << 16 };

bool ts_gather_possible(const ts_plan *plan) {
    return plan->gathers && plan->src_layout->axis_count == 1 && plan->dst_layout->axis_count == 1 &&
           plan->dst_layout->replica_count == 0;
}

static void find_bits(const ts_plan_side *side, const ts_layout *layout, int64_t first, int64_t count,
                      int64_t *bits) {
    ts_arena *scratch = ts_arena_new();
    ts_layout_forward_many(NULL, scratch, layout, first, count, bits);
    ts_arena_free(scratch);
    for (int64_t i = 0; i < count; i++) bits[i] = side->base_bits + bits[i] * side->axis_bits[0];
}

#define COPY(type)                                                                                           \
    for (int64_t i = 0; i < count; i++) {                                                                    \
        type value;                                                                                          \
        memcpy(&value, m->src.bytes + from[i] / 8, sizeof value);                                            \
        memcpy(m->dst.bytes + to[i] / 8, &value, sizeof value);                                              \
    }                                                                                                        \
    return

static void copy_elements(const ts_mover *m, const int64_t *from, const int64_t *to, int64_t count,
                          bool whole_bytes) {
    switch (m->same && whole_bytes ? m->src.element_bits : 0) {
    case 8:
        COPY(uint8_t);
    case 16:
        COPY(uint16_t);
    case 32:
        COPY(uint32_t);
    case 64:
        COPY(uint64_t);
    default:
        for (int64_t i = 0; i < count; i++) {
            ts_plan_box box = {.src_bits = from[i], .dst_bits = to[i], .elements = 1};
            ts_move_elements(m, &box);
        }
    }
}

void ts_move_gather(const ts_mover *m, const ts_plan *plan) {
    ts_arena *scratch = ts_arena_new();
    int64_t most = plan->box_count < GATHER_ELEMENTS ? plan->box_count : GATHER_ELEMENTS;
    int64_t *from = TS_NEW_ARRAY(scratch, int64_t, most), *to = TS_NEW_ARRAY(scratch, int64_t, most);
    int64_t bits =
        plan->src.base_bits | plan->dst.base_bits | plan->src.axis_bits[0] | plan->dst.axis_bits[0];
    for (int64_t first = 0; first < plan->box_count; first += most) {
        int64_t count = plan->box_count - first < most ? plan->box_count - first : most;
        find_bits(&plan->src, plan->src_layout, first, count, from);
        find_bits(&plan->dst, plan->dst_layout, first, count, to);
        copy_elements(m, from, to, count, bits % 8 == 0);
    }
    ts_arena_free(scratch);
}
