/* Shapes by the hash of their plans. */
#include "shapes.h"

#include <string.h>

#include "base/hash.h"
#include "base/number.h"

enum { SHAPE_BOXES = 1 << 10 };

static void mix(uint64_t *hash, int64_t value) { ts_hash_add(hash, (uint64_t)value); }

static void mix_box(uint64_t *hash, const ts_plan_box *box, const ts_plan_box *first) {
    mix(hash, box->loop_count);
    mix(hash, box->src_bits - first->src_bits);
    mix(hash, box->dst_bits - first->dst_bits);
    for (int i = 0; i < box->loop_count; i++) {
        mix(hash, box->loops[i].extent);
        mix(hash, box->loops[i].src_bits);
        mix(hash, box->loops[i].dst_bits);
    }
}

/* Plans of too many boxes are each a shape of their own. */
static void hash_shape(shapes *all, const ts_dma_transfer *what, int layouts, uint64_t *hash) {
    const ts_plan *plan = what->plan;
    int64_t access_bits = (int64_t)all->dma->access_bytes * 8;
    hash[0] = hash[1] = (uint64_t)layouts;
    mix(hash, what->priority);
    mix(hash, plan->box_count);
    mix(hash, plan->gathers);
    mix(hash, plan->box_count > SHAPE_BOXES ? ++all->serial : 0);
    ts_plan_box first, box;
    for (int64_t i = 0; i < plan->box_count && i < SHAPE_BOXES; i++) {
        ts_plan_get_box(plan, i, &box);
        if (i == 0) first = box;
        mix_box(hash, &box, &first);
    }
    if (plan->box_count > 0) {
        mix(hash, what->src.in_hbm ? ts_floor_mod(first.src_bits, access_bits) : -1);
        mix(hash, what->dst.in_hbm ? ts_floor_mod(first.dst_bits, access_bits) : -1);
    }
}

const shape *shapes_find(shapes *all, const ts_dma_transfer *what, int layouts) {
    uint64_t hash[2];
    hash_shape(all, what, layouts, hash);
    shape **at = &all->buckets[hash[0] % SHAPE_BUCKETS];
    for (shape *s = *at; s; s = s->next)
        if (memcmp(s->hash, hash, sizeof hash) == 0) return s;
    shape *made = TS_NEW(all->arena, shape);
    *made = (shape){.next = *at, .hash = {hash[0], hash[1]}};
    return *at = made;
}

void shapes_hash_start(shapes *all, const ts_dma_transfer *what, int layouts, uint64_t *hash) {
    const ts_plan *plan = what->plan;
    int64_t aligned_bits = (int64_t)all->dma->access_bytes * 8 * all->dma->write_granule_bits;
    ts_plan_box first = {0};
    hash_shape(all, what, layouts, hash);
    if (plan->box_count > 0) ts_plan_get_box(plan, 0, &first);
    mix(hash, plan->box_count > SHAPE_BOXES ? (int64_t)(uintptr_t)all : 0);
    mix(hash, plan->elements);
    mix(hash, plan->moved_elements);
    mix(hash, ts_floor_mod(first.src_bits, aligned_bits));
    mix(hash, ts_floor_mod(first.dst_bits, aligned_bits));
}
