/* Plans that gather: offsets of many indices at once, then the elements at them. */
#include <string.h>

#include "copy_context.h"
#include "base/threads.h"

enum { GATHER_ELEMENTS = 1 << 16, TAKEN_ELEMENTS = 512 };

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

#define TAKE(type)                                                                                           \
    for (int64_t i = 0; i < count; i++)                                                                      \
        memcpy(raw + i * (int64_t)sizeof(type), side->bytes + at[i] / 8, sizeof(type));                      \
    return

/* Elements at their addresses become whole bytes, one behind the other. */
static void take(const ts_copy_side *side, const int64_t *at, int64_t count, uint8_t *raw) {
    int mask = (1 << side->element_bits % 8) - 1;
    switch (side->element_bits) {
    case 8:
        TAKE(uint8_t);
    case 16:
        TAKE(uint16_t);
    case 32:
        TAKE(uint32_t);
    case 64:
        TAKE(uint64_t);
    default:
        for (int64_t i = 0; i < count; i++) raw[i] = (uint8_t)(side->bytes[at[i] >> 3] >> (at[i] & 7) & mask);
    }
}

#define PUT(type)                                                                                            \
    for (int64_t i = 0; i < count; i++)                                                                      \
        memcpy(side->bytes + at[i] / 8, raw + i * (int64_t)sizeof(type), sizeof(type));                      \
    return

static void put(const ts_copy_side *side, const int64_t *at, int64_t count, const uint8_t *raw) {
    int mask = (1 << side->element_bits % 8) - 1;
    switch (side->element_bits) {
    case 8:
        PUT(uint8_t);
    case 16:
        PUT(uint16_t);
    case 32:
        PUT(uint32_t);
    case 64:
        PUT(uint64_t);
    default:
        for (int64_t i = 0; i < count; i++) {
            uint8_t *byte = &side->bytes[at[i] >> 3];
            *byte = (uint8_t)((*byte & ~(mask << (at[i] & 7))) | (raw[i] & mask) << (at[i] & 7));
        }
    }
}

/* Do take and put know the side's elements? `bits`: all that its addresses are sums of multiples of. */
static bool is_plain(const ts_copy_side *side, int64_t bits) {
    const ts_dtype_info *type = ts_dtype_get(side->dtype);
    int width = side->element_bits;
    if (width < 8)
        return (width == 1 || width == 2 || width == 4) && bits % width == 0 && type->stored_bits == 8;
    return (width == 8 || width == 16 || width == 32 || width == 64) && bits % 8 == 0 &&
           type->stored_bits == width;
}

static void convert_elements(const ts_copy_context *m, const int64_t *from, const int64_t *to,
                             int64_t count) {
    uint8_t raw[TAKEN_ELEMENTS * 8], value[TAKEN_ELEMENTS * 8];
    for (int64_t done = 0; done < count; done += TAKEN_ELEMENTS) {
        int64_t many = count - done < TAKEN_ELEMENTS ? count - done : TAKEN_ELEMENTS;
        bool converts = m->src.dtype != m->dst.dtype;
        take(&m->src, from + done, many, raw);
        if (converts) ts_fill_convert(m, raw, value, many);
        for (int64_t i = 0; !converts && m->dst.dtype == TS_DTYPE_PRED && i < many; i++) raw[i] = raw[i] != 0;
        put(&m->dst, to + done, many, converts ? value : raw);
    }
}

/* `bits`: of each side, as of is_plain. */
static void copy_elements(const ts_copy_context *m, const int64_t *from, const int64_t *to, int64_t count,
                          const int64_t bits[2]) {
    switch (m->same && (bits[0] | bits[1]) % 8 == 0 ? m->src.element_bits : 0) {
    case 8:
        COPY(uint8_t);
    case 16:
        COPY(uint16_t);
    case 32:
        COPY(uint32_t);
    case 64:
        COPY(uint64_t);
    default:
        if (is_plain(&m->src, bits[0]) && is_plain(&m->dst, bits[1])) {
            convert_elements(m, from, to, count);
            return;
        }
        for (int64_t i = 0; i < count; i++) {
            ts_plan_box box = {.src_bits = from[i], .dst_bits = to[i], .elements = 1};
            ts_move_elements(m, &box);
        }
    }
}

typedef struct {
    const ts_copy_context *m;
    const ts_plan *plan;
} gathering;

static void gather_share(const void *context, int share, int threads) {
    const ts_plan *plan = ((const gathering *)context)->plan;
    int64_t first = plan->box_count / threads * share, end = plan->box_count / threads * (share + 1);
    if (share == threads - 1) end = plan->box_count;
    int64_t most = end - first < GATHER_ELEMENTS ? end - first : GATHER_ELEMENTS;
    ts_arena *scratch = ts_arena_new();
    int64_t *from = TS_NEW_ARRAY(scratch, int64_t, most), *to = TS_NEW_ARRAY(scratch, int64_t, most);
    const int64_t bits[2] = {plan->src.base_bits | plan->src.axis_bits[0],
                             plan->dst.base_bits | plan->dst.axis_bits[0]};
    for (; first < end; first += most) {
        int64_t count = end - first < most ? end - first : most;
        find_bits(&plan->src, plan->src_layout, first, count, from);
        find_bits(&plan->dst, plan->dst_layout, first, count, to);
        copy_elements(((const gathering *)context)->m, from, to, count, bits);
    }
    ts_arena_free(scratch);
}

void ts_move_gather(const ts_copy_context *m, const ts_plan *plan, int threads) {
    bool shared =
        m->dst.element_bits % 8 == 0 && plan->dst.base_bits % 8 == 0 && plan->dst.axis_bits[0] % 8 == 0;
    ts_threads_share(shared ? threads : 1, gather_share, &(gathering){m, plan});
}
