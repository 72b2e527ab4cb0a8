/* Loops of the per bank scheduler over lanes, beside those of hbm_lanes.h: in plain C and, where HBM_AVX2 is
 * defined, 8 lanes at a time. Both give the same. Arrays are padded: 8 lanes are loaded from any place. */
#ifndef TILESIM_DRAM_HBM_BANKS_LANES_H
#define TILESIM_DRAM_HBM_BANKS_LANES_H

#include <string.h>

#include "hbm_lanes.h"

enum { LANES = 8 };

/* By bank group, of 1 << shift banks. */
typedef struct {
    const int32_t *time;
    int shift;
} group_lanes;

#ifndef HBM_AVX2

/* The lanes of `set` with time[i] <= t. At most 64 lanes. */
static inline uint64_t reached(const int32_t *time, uint64_t set, int32_t t, int count) {
    uint64_t due = 0;
    (void)count;
    for (; set != 0; set &= set - 1)
        due |= (uint64_t)(time[__builtin_ctzll(set)] <= t) << __builtin_ctzll(set);
    return due;
}

static inline int32_t later_of(const group_lanes groups, const int32_t *time, int i) {
    return max32(time[i], groups.time[i >> groups.shift]);
}

/* The same with max(time[i], groups.time[i >> groups.shift]). */
static inline uint64_t reached_both(const group_lanes groups, const int32_t *time, uint64_t set, int32_t t,
                                    int count) {
    uint64_t due = 0;
    (void)count;
    for (; set != 0; set &= set - 1)
        due |= (uint64_t)(later_of(groups, time, __builtin_ctzll(set)) <= t) << __builtin_ctzll(set);
    return due;
}

/* The lowest of some times, or FAR. */
typedef int32_t least_time;
static inline least_time least_begin(void) { return FAR; }
static inline int32_t least_end(least_time least) { return least; }

/* And of time[i], of the lanes of `set`. */
static inline least_time least_of(least_time least, const int32_t *time, uint64_t set, int count) {
    (void)count;
    for (; set != 0; set &= set - 1) least = min32(least, time[__builtin_ctzll(set)]);
    return least;
}

/* The same with max(time[i], groups.time[i >> groups.shift]). */
static inline least_time least_of_both(least_time least, const group_lanes groups, const int32_t *time,
                                       uint64_t set, int count) {
    (void)count;
    for (; set != 0; set &= set - 1) least = min32(least, later_of(groups, time, __builtin_ctzll(set)));
    return least;
}

/* The first index from `from` on that holds this key; `count` or more: none does. */
ALWAYS static inline int find_key(const uint32_t *keys, uint32_t key, int from, int count) {
    while (from < count && keys[from] != key) from++;
    return from;
}

#else

/* All bits in those of 8 lanes that are in the lowest bits of `set`. */
ALWAYS static inline __m256i lanes_in(uint64_t set) {
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int32_t)(set & 0xff)), bits), bits);
}

ALWAYS static inline uint64_t lanes_until(__m256i at, int32_t t) {
    __m256i reached = _mm256_cmpgt_epi32(_mm256_set1_epi32(t + 1), at);
    return (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(reached));
}

ALWAYS static inline uint64_t reached(const int32_t *time, uint64_t set, int32_t t, int count) {
    uint64_t due = 0;
    UNROLL
    for (int i = 0; i < count; i += LANES) due |= lanes_until(lanes_load(time + i), t) << i;
    return due & set;
}

/* Of lanes i to i + 7: max(time[i], groups.time[i >> groups.shift]). 8 groups are loaded as they were stored. */
ALWAYS static inline __m256i lanes_of_both(const group_lanes groups, const int32_t *time, int i) {
    const __m256i iota = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i group =
        _mm256_srlv_epi32(_mm256_add_epi32(iota, _mm256_set1_epi32(i)), _mm256_set1_epi32(groups.shift));
    __m256i theirs = lanes_load(groups.time + (i >> groups.shift & -LANES));
    return _mm256_max_epi32(lanes_load(time + i), _mm256_permutevar8x32_epi32(theirs, group));
}

ALWAYS static inline uint64_t reached_both(const group_lanes groups, const int32_t *time, uint64_t set,
                                           int32_t t, int count) {
    uint64_t due = 0;
    UNROLL
    for (int i = 0; i < count; i += LANES) due |= lanes_until(lanes_of_both(groups, time, i), t) << i;
    return due & set;
}

typedef __m256i least_time;
static inline least_time least_begin(void) { return _mm256_set1_epi32(FAR); }
static inline int32_t least_end(least_time least) { return lanes_min(least); }

ALWAYS static inline least_time least_of(least_time least, const int32_t *time, uint64_t set, int count) {
    UNROLL
    for (int i = 0; i < count; i += LANES)
        least = _mm256_min_epi32(
            least, _mm256_blendv_epi8(_mm256_set1_epi32(FAR), lanes_load(time + i), lanes_in(set >> i)));
    return least;
}

ALWAYS static inline least_time least_of_both(least_time least, const group_lanes groups, const int32_t *time,
                                              uint64_t set, int count) {
    UNROLL
    for (int i = 0; i < count; i += LANES)
        least =
            _mm256_min_epi32(least, _mm256_blendv_epi8(_mm256_set1_epi32(FAR), lanes_of_both(groups, time, i),
                                                       lanes_in(set >> i)));
    return least;
}

ALWAYS static inline int find_key(const uint32_t *keys, uint32_t key, int from, int count) {
    const __m256i wanted = _mm256_set1_epi32((int32_t)key);
    while (true) {
        __m256i same = _mm256_cmpeq_epi32(lanes_load((const int32_t *)keys + from), wanted);
        int found = __builtin_ctz((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(same)) | 1u << LANES);
        from += found;
        if (__builtin_expect(found < LANES || from >= count, 1)) return from;
    }
}

#endif

/* What is behind `at` moves up by one place, as far as `count`. */
ALWAYS static inline void move_up(int32_t *values, int at, int count) {
    do {
        int32_t lanes[LANES];
        memcpy(lanes, values + at + 1, sizeof lanes);
        memcpy(values + at, lanes, sizeof lanes);
    } while (__builtin_expect((at += LANES) < count, 0));
}

#endif
