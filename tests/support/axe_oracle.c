/* Axe layouts by enumerating every point of every element. */
#include "tests/support/axe_oracle.h"

#include <assert.h>
#include <string.h>

enum { MAX_ITERS = 64 };

/* Every combination of the iters' digits added to `start`, the last iter fastest, as points one behind the
 * other. */
static void enumerate(int count, const axe_oracle_iter *iters, int axis_count, const int64_t *start,
                      int64_t *points) {
    int64_t digit[MAX_ITERS] = {0}, *point = points;
    int i;
    do {
        memcpy(point, start, (size_t)axis_count * sizeof *point);
        for (i = 0; i < count; i++) point[iters[i].axis] += digit[i] * iters[i].stride;
        point += axis_count;
        for (i = count - 1; i >= 0 && ++digit[i] == iters[i].extent; i--) digit[i] = 0;
    } while (i >= 0);
}

static bool product(int count, const axe_oracle_iter *iters, int64_t limit, int64_t *total) {
    assert(count <= MAX_ITERS);
    for (int i = 0; i < count; i++) {
        assert(iters[i].extent >= 1);
        if (*total > limit / iters[i].extent) return false;
        *total *= iters[i].extent;
    }
    return true;
}

bool axe_oracle_make(ts_arena *arena, int shard_count, const axe_oracle_iter *shards, int replica_count,
                     const axe_oracle_iter *replicas, int axis_count, const int64_t *offsets, int64_t limit,
                     axe_oracle *out) {
    int64_t elements = 1, total;
    *out = (axe_oracle){.axis_count = axis_count};
    if (!product(shard_count, shards, limit, &elements)) return false;
    total = elements;
    if (!product(replica_count, replicas, limit, &total)) return false;
    out->element_count = elements;
    out->replica_count = total / elements;
    int64_t *bases = TS_NEW_ARRAY(arena, int64_t, elements * axis_count);
    out->points = TS_NEW_ARRAY(arena, int64_t, total * axis_count);
    enumerate(shard_count, shards, axis_count, offsets, bases);
    for (int64_t e = 0; e < elements; e++)
        enumerate(replica_count, replicas, axis_count, &bases[e * axis_count],
                  &out->points[e * out->replica_count * axis_count]);
    return true;
}

const int64_t *axe_oracle_point(const axe_oracle *o, int64_t element, int64_t replica) {
    return &o->points[(element * o->replica_count + replica) * o->axis_count];
}

bool axe_oracle_has(const axe_oracle *o, int64_t element, const int64_t *point) {
    for (int64_t r = 0; r < o->replica_count; r++)
        if (memcmp(axe_oracle_point(o, element, r), point, (size_t)o->axis_count * sizeof *point) == 0)
            return true;
    return false;
}

int64_t axe_oracle_find(const axe_oracle *o, int64_t from, const int64_t *point) {
    for (int64_t e = from; e < o->element_count; e++)
        if (axe_oracle_has(o, e, point)) return e;
    return -1;
}

static bool covers(const axe_oracle *a, const axe_oracle *b, int64_t element) {
    for (int64_t r = 0; r < b->replica_count; r++)
        if (!axe_oracle_has(a, element, axe_oracle_point(b, element, r))) return false;
    return true;
}

int64_t axe_oracle_difference(const axe_oracle *a, const axe_oracle *b) {
    assert(a->axis_count == b->axis_count);
    int64_t count = a->element_count < b->element_count ? a->element_count : b->element_count;
    for (int64_t e = 0; e < count; e++)
        if (!covers(a, b, e) || !covers(b, a, e)) return e;
    return a->element_count == b->element_count ? -1 : count;
}
