/* CuTe layouts by reading their text and enumerating. */
#include "tests/support/cute_oracle.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int read_integers(const char *text, const char *end, int64_t *values) {
    int count = 0;
    while (text < end) {
        char *behind;
        int64_t value = strtoll(text, &behind, 10);
        if (behind == text)
            text++;
        else
            values[count++] = value, text = behind;
    }
    return count;
}

cute_leaves cute_leaves_read(const char *text) {
    cute_leaves l = {0};
    const char *colon = strchr(text, ':');
    l.count = read_integers(text, colon, l.extent);
    int strides = read_integers(colon, text + strlen(text), l.stride);
    assert(strides == l.count);
    return l;
}

int64_t cute_leaves_size(const cute_leaves *l) {
    int64_t size = 1;
    for (int i = 0; i < l->count; i++) size *= l->extent[i];
    return size;
}

int64_t cute_leaves_cosize(const cute_leaves *l) {
    int64_t cosize = 1;
    for (int i = 0; i < l->count; i++) cosize += (l->extent[i] - 1) * llabs(l->stride[i]);
    return cosize;
}

int64_t cute_leaves_value(const cute_leaves *l, int64_t index) {
    int64_t value = 0;
    for (int i = 0; i < l->count; i++) {
        int64_t digit = i + 1 < l->count ? index % l->extent[i] : index;
        value += digit * l->stride[i];
        index /= l->extent[i];
    }
    return value;
}

cute_leaves cute_leaves_concatenate(const cute_leaves *a, const cute_leaves *b) {
    cute_leaves both = *a;
    for (int i = 0; i < b->count; i++) {
        both.extent[both.count] = b->extent[i];
        both.stride[both.count++] = b->stride[i];
    }
    return both;
}

static int compare_values(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The values on 0 .. size-1, sorted. */
static int64_t *sorted_values(ts_arena *arena, const cute_leaves *l) {
    int64_t size = cute_leaves_size(l), *values = TS_NEW_ARRAY(arena, int64_t, size);
    for (int64_t i = 0; i < size; i++) values[i] = cute_leaves_value(l, i);
    qsort(values, (size_t)size, sizeof *values, compare_values);
    return values;
}

bool cute_leaves_have_same_values(ts_arena *arena, const cute_leaves *a, const cute_leaves *b) {
    return cute_leaves_size(a) == cute_leaves_size(b) &&
           memcmp(sorted_values(arena, a), sorted_values(arena, b),
                  (size_t)cute_leaves_size(a) * sizeof(int64_t)) == 0;
}

bool cute_leaves_are_injective(ts_arena *arena, const cute_leaves *l) {
    const int64_t *values = sorted_values(arena, l);
    for (int64_t i = 1; i < cute_leaves_size(l); i++)
        if (values[i] == values[i - 1]) return false;
    return true;
}

cute_leaves cute_leaves_by_stride(const cute_leaves *l) {
    cute_leaves sorted = {0};
    for (int i = 0; i < l->count; i++) {
        int at = sorted.count;
        if (l->extent[i] == 1 || l->stride[i] == 0) continue;
        for (; at > 0 && sorted.stride[at - 1] > l->stride[i]; at--) {
            sorted.extent[at] = sorted.extent[at - 1];
            sorted.stride[at] = sorted.stride[at - 1];
        }
        sorted.extent[at] = l->extent[i];
        sorted.stride[at] = l->stride[i];
        sorted.count++;
    }
    return sorted;
}

bool cute_leaves_overlap(const cute_leaves *l, bool *even) {
    cute_leaves sorted = cute_leaves_by_stride(l);
    int64_t covered = 1;
    *even = true;
    for (int i = 0; i < sorted.count; i++) {
        if (sorted.stride[i] < covered) return true;
        *even = *even && sorted.stride[i] % covered == 0;
        covered = sorted.stride[i] * sorted.extent[i];
    }
    return false;
}
