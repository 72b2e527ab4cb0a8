/* Which ops of a relayout stay when those that are the same are merged, and those that nothing needs are left
 * out: what the passes behind Mosaic's do, which keep each tpu.sublane_shuffle, though. */
#include <string.h>

#include "relayout_state.h"

static bool is_load(const ts_relayout_op *op) {
    return op->kind == TS_RELAYOUT_LOAD || op->kind == TS_RELAYOUT_SHUFFLED_LOAD;
}

static bool is_store(const ts_relayout_op *op) {
    return op->kind == TS_RELAYOUT_STORE || op->kind == TS_RELAYOUT_SHUFFLED_STORE;
}

static uint64_t hash_of(const ts_relayout_op *op, const int *kept) {
    uint64_t h = (uint64_t)op->kind * 31 + (uint64_t)op->bits;
    for (int i = 0; i < op->input_count; i++) h = h * 1000003 + (uint64_t)kept[op->inputs[i]];
    for (int i = 0; i < TS_SUBLANES; i++) h = h * 1000003 + (uint64_t)(uint32_t)op->numbers[i];
    return (h * 1000003 + op->present) * UINT64_C(0x9e3779b97f4a7c15);
}

static bool is_same(const ts_relayout_op *a, const ts_relayout_op *b, const int *kept) {
    if (a->kind != b->kind || a->bits != b->bits || a->input_count != b->input_count ||
        a->present != b->present || memcmp(a->numbers, b->numbers, sizeof a->numbers) != 0)
        return false;
    for (int i = 0; i < a->input_count; i++)
        if (kept[a->inputs[i]] != kept[b->inputs[i]]) return false;
    return true;
}

/* The value of the first equal op; for a rotation by 0, its operand. */
static int first_same(const ts_relayout *r, int number, const int *kept, int *table, int table_bits) {
    const ts_relayout_op *op = &r->ops[number];
    int mask = (1 << table_bits) - 1, value = (int)r->sources + number;
    if (op->kind == TS_RELAYOUT_ROTATE && op->numbers[1] == 0) return kept[op->inputs[0]];
    if (is_load(op) || is_store(op)) return value;
    for (int at = (int)(hash_of(op, kept) >> (64 - table_bits));; at = (at + 1) & mask) {
        if (table[at] == 0) {
            table[at] = number + 1;
            return value;
        }
        if (is_same(&r->ops[table[at] - 1], op, kept)) return (int)r->sources + table[at] - 1;
    }
}

static void drop_unneeded(ts_arena *arena, const ts_relayout *r, int *kept) {
    bool *needed = TS_NEW_ARRAY(arena, bool, r->sources + r->op_count);
    for (int64_t i = 0; i < r->results; i++) needed[kept[r->values[i]]] = true;
    for (int i = r->op_count - 1; i >= 0; i--) {
        int value = (int)r->sources + i;
        const ts_relayout_op *op = &r->ops[i];
        if (kept[value] != value || (!needed[value] && !is_store(op))) {
            if (kept[value] == value) kept[value] = NO_VALUE;
            continue;
        }
        for (int k = 0; k < op->input_count; k++) needed[kept[op->inputs[k]]] = true;
    }
}

void relayout_merge(ts_arena *arena, ts_relayout *r) {
    int table_bits = (int)ts_max(4, ts_log2_up(2 * r->op_count));
    int *table = TS_NEW_ARRAY(arena, int, 1 << table_bits);
    int *kept = TS_NEW_ARRAY(arena, int, r->sources + r->op_count);
    for (int i = 0; i < r->sources; i++) kept[i] = i;
    for (int i = 0; i < r->op_count; i++) kept[r->sources + i] = first_same(r, i, kept, table, table_bits);
    drop_unneeded(arena, r, kept);
    r->kept = kept;
    for (int i = 0; i < r->op_count; i++) r->kept_count += kept[r->sources + i] == (int)r->sources + i;
}
