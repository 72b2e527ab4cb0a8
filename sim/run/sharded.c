/* Arrays over devices. */
#include "sharded.h"

#include <string.h>

typedef struct {
    const ts_sharding *sharding;
    int64_t device;             /* of a part; -1: the whole */
    const ts_host_reader *from; /* the whole, or [device] the parts */
    size_t element_bytes;
} sharded;

static int64_t elements_of(const sharded *s, int dim) {
    return s->device < 0 ? s->sharding->dims[dim] : ts_sharding_extent(s->sharding, dim);
}

/* Elements of the last dim that follow each other on a device. */
static int64_t run_of(const ts_sharding *sharding) {
    int dim = sharding->rank - 1;
    int64_t run = dim < 0 ? 1 : sharding->dims[dim];
    for (int i = 0; i < sharding->digit_count; i++) {
        const ts_mesh_digit *digit = &sharding->digits[i];
        if (digit->kind == TS_DIGIT_SHARD && digit->dim == dim && digit->weight < run) run = digit->weight;
    }
    return run;
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

/* One run: where it is on the other side, and who has it. */
static int64_t place(const sharded *s, int64_t flat, const ts_host_reader **from) {
    const ts_sharding *sharding = s->sharding;
    int64_t index[TS_LAYOUT_MAX_DIMS], other = 0;
    for (int i = sharding->rank - 1; i >= 0; i--) {
        index[i] = flat % elements_of(s, i);
        flat /= elements_of(s, i);
    }
    bool part = s->device >= 0;
    *from = part ? s->from : &s->from[ts_sharding_device(sharding, index, 0)];
    for (int i = 0; i < sharding->rank; i++) {
        int64_t extent = part ? sharding->dims[i] : ts_sharding_extent(sharding, i);
        other = other * extent +
                (part ? to_whole(sharding, i, s->device, index[i]) : to_part(sharding, i, index[i]));
    }
    return other;
}

static bool read_elements(ts_error *err, void *self, int64_t begin, int64_t stride, size_t count,
                          void *elements) {
    const sharded *s = self;
    int64_t run = run_of(s->sharding);
    uint8_t *out = elements;
    for (size_t done = 0; done < count;) {
        int64_t at = begin + (int64_t)done * stride, left = run - at % run;
        size_t now = stride == 1 && left < (int64_t)(count - done) ? (size_t)left
                     : stride == 1                                 ? count - done
                                                                   : 1;
        const ts_host_reader *from;
        int64_t other = place(s, at, &from);
        if (!from->read(err, from->self, other, 1, now, out + done * s->element_bytes)) return false;
        done += now;
    }
    return true;
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
