/* Arrays over devices. */
#include "run_parts.h"

#include <string.h>

#include "base/number.h"

typedef struct {
    const ts_sharding *sharding;
    int64_t device;             /* of a part; -1: the whole */
    const ts_host_reader *from; /* the whole, or [device] the parts */
    size_t element_bytes;
} sharded;

static int64_t extent_of(const sharded *s, int dim) {
    return s->device < 0 ? s->sharding->dims[dim] : ts_sharding_extent(s->sharding, dim);
}

static void find_index(const sharded *s, int64_t flat, int64_t *index) {
    for (int i = s->sharding->rank - 1; i >= 0; i--) {
        index[i] = flat % extent_of(s, i);
        flat /= extent_of(s, i);
    }
}

/* The digits of a dim, those of least weight first: `last` was the one before, -1: none. */
static int next_digit(const ts_sharding *sharding, int dim, int last) {
    int next = -1;
    for (int i = 0; i < sharding->digit_count; i++) {
        const ts_mesh_digit *digits = sharding->digits;
        bool more = last < 0 || digits[i].weight > digits[last].weight;
        if (digits[i].kind == TS_DIGIT_SHARD && digits[i].dim == dim && more &&
            (next < 0 || digits[i].weight < digits[next].weight))
            next = i;
    }
    return next;
}

/* Where element `index` of a device's part is in the whole dim. */
static int64_t to_whole(const ts_sharding *sharding, int dim, int64_t device, int64_t index) {
    for (int i = next_digit(sharding, dim, -1); i >= 0; i = next_digit(sharding, dim, i)) {
        const ts_mesh_digit *d = &sharding->digits[i];
        int64_t value = device / d->stride % d->extent;
        index = (index / d->weight * d->extent + value) * d->weight + index % d->weight;
    }
    return index;
}

/* And the other way round: from the digit of most weight on. */
static int64_t to_part(const ts_sharding *sharding, int dim, int64_t index) {
    int64_t order[TS_SHARDING_MAX_DIGITS];
    int count = 0;
    for (int i = next_digit(sharding, dim, -1); i >= 0; i = next_digit(sharding, dim, i)) order[count++] = i;
    while (count-- > 0) {
        const ts_mesh_digit *d = &sharding->digits[order[count]];
        index = index / d->weight / d->extent * d->weight + index % d->weight;
    }
    return index;
}

/* The flat index of the element in *from, the other side's array; -1: it is padding of a part. */
static int64_t find_other(const sharded *s, const int64_t *index, const ts_host_reader **from) {
    const ts_sharding *sharding = s->sharding;
    bool part = s->device >= 0;
    int64_t other = 0;
    *from = part ? s->from : &s->from[ts_sharding_device(sharding, index, 0)];
    for (int i = 0; i < sharding->rank; i++) {
        int64_t extent = part ? sharding->dims[i] : ts_sharding_extent(sharding, i);
        int64_t at = part ? to_whole(sharding, i, s->device, index[i]) : to_part(sharding, i, index[i]);
        if (at >= extent) return -1;
        other = other * extent + at;
    }
    return other;
}

/* How many elements from `index` on are contiguous on both sides. */
static int64_t run_from(const sharded *s, const int64_t *index) {
    int dim = s->sharding->rank - 1;
    if (dim < 0) return 1;
    int64_t run = ts_sharding_run(s->sharding, dim), extent = extent_of(s, dim);
    int64_t end = ts_min((index[dim] / run + 1) * run, extent);
    if (s->device < 0) return end - index[dim];
    int64_t whole = to_whole(s->sharding, dim, s->device, index[dim]), left = s->sharding->dims[dim] - whole;
    return left > 0 ? ts_min(end - index[dim], left) : end - index[dim];
}

static bool read_elements(ts_error *err, void *self, int64_t begin, int64_t stride, size_t count,
                          void *elements) {
    const sharded *s = self;
    uint8_t *out = elements;
    int64_t now, index[TS_LAYOUT_MAX_DIMS];
    for (int64_t done = 0; done < (int64_t)count; done += now, out += (size_t)now * s->element_bytes) {
        const ts_host_reader *from;
        find_index(s, begin + done * stride, index);
        now = stride == 1 ? ts_min(run_from(s, index), (int64_t)count - done) : 1;
        int64_t other = find_other(s, index, &from);
        if (other < 0)
            memset(out, 0, (size_t)now * s->element_bytes);
        else if (!from->read(err, from->self, other, 1, (size_t)now, out))
            return false;
    }
    return true;
}

bool sharded_is_padding(const ts_sharding *sharding, int64_t device, int64_t flat) {
    const sharded part = {.sharding = sharding, .device = device};
    int64_t index[TS_LAYOUT_MAX_DIMS];
    const ts_host_reader *from;
    find_index(&part, flat, index);
    return find_other(&part, index, &from) < 0;
}

int64_t sharded_held(const ts_sharding *sharding, int dim, int64_t device) {
    int64_t held = ts_sharding_extent(sharding, dim);
    while (held > 0 && to_whole(sharding, dim, device, held - 1) >= sharding->dims[dim]) held--;
    return held;
}

static ts_host_reader reader_of(ts_arena *arena, sharded how) {
    sharded *s = TS_NEW(arena, sharded);
    *s = how;
    s->element_bytes = (size_t)ts_dtype_get(how.sharding->shape->dtype)->stored_bits / 8;
    return (ts_host_reader){read_elements, s, false};
}

ts_host_reader sharded_part(ts_arena *arena, const ts_sharding *sharding, int64_t device,
                            const ts_host_reader *whole) {
    return reader_of(arena, (sharded){.sharding = sharding, .device = device, .from = whole});
}

ts_host_reader sharded_whole(ts_arena *arena, const ts_sharding *sharding, const ts_host_reader *parts) {
    return reader_of(arena, (sharded){.sharding = sharding, .device = -1, .from = parts});
}

int64_t sharded_first_copy(const ts_sharding *sharding, int64_t device) {
    for (int i = 0; i < sharding->digit_count; i++) {
        const ts_mesh_digit *digit = &sharding->digits[i];
        if (digit->kind == TS_DIGIT_REPLICA) device -= device / digit->stride % digit->extent * digit->stride;
    }
    return device;
}

static bool read_array(ts_error *err, void *self, int64_t begin, int64_t stride, size_t count,
                       void *elements) {
    const ts_host_array *array = self;
    size_t bytes = (size_t)ts_dtype_get(array->dtype)->stored_bits / 8;
    (void)err;
    for (size_t i = 0; i < (stride == 1 ? 1 : count); i++)
        memcpy((uint8_t *)elements + i * bytes, array->bytes + (size_t)(begin + (int64_t)i * stride) * bytes,
               stride == 1 ? count * bytes : bytes);
    return true;
}

ts_host_reader sharded_of_array(ts_arena *arena, const ts_host_array *array) {
    ts_host_array *own = TS_NEW(arena, ts_host_array);
    *own = *array;
    return (ts_host_reader){read_array, own, false};
}
