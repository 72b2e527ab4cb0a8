/* The loops over banks that stepping spends its time in, in plain C and, where HBM_AVX2 is defined, 8
 * banks at a time. Both give the same. Arrays by bank are padded to a multiple of 8: padding has no key. */
#ifndef TILESIM_DRAM_HBM_LANES_H
#define TILESIM_DRAM_HBM_LANES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    KEY_NONE = INT32_MAX,
    FAR = 1 << 30, /* a local cycle that never comes */
};

#ifdef __SANITIZE_ADDRESS__ /* each copy of checked code takes seconds to compile */
#define ALWAYS
#else
#define ALWAYS __attribute__((always_inline))
#endif
#define UNROLL _Pragma("GCC unroll 8")

static inline int lanes_of(int count) { return (count + 7) & ~7; }

/* Keeps a value in an ordinary register: gcc would do lone minima and maxima in vector registers, and spend
 * longer on moving values there and back than on all the rest. */
#if defined(__GNUC__) && defined(__x86_64__)
#define IN_REGISTER(value) __asm__("" : "+r"(value))
#else
#define IN_REGISTER(value) (void)(value)
#endif
ALWAYS static inline int32_t min32(int32_t a, int32_t b) {
    IN_REGISTER(a);
    IN_REGISTER(b);
    return a < b ? a : b;
}
ALWAYS static inline int32_t max32(int32_t a, int32_t b) {
    IN_REGISTER(a);
    IN_REGISTER(b);
    return a > b ? a : b;
}

/* A lane that is not loaded with others before much else is done. */
static inline void lane_set(int32_t *lanes, int index, int32_t value) { lanes[index] = value; }

/* By bank: when its ACT, and its next row command, can start, how long after this ACT, and its row. */
typedef struct {
    int32_t *act, *time;
    const int32_t *delta, *row;
} act_lanes;

#ifndef HBM_AVX2

static inline void lane_set_soon(int32_t *lanes, int index, int32_t value) { lanes[index] = value; }

/* value[i] = max(value[i], t + delta[i]) */
static inline void raise_row(int32_t *restrict value, const int32_t *restrict delta, int32_t t, int count) {
    for (int i = 0; i < count; i++) value[i] = max32(value[i], t + delta[i]);
}

/* act[i] = max(act[i], t + delta[i], least), and where row[i] < 0 (closed) time[i] = act[i] | odd. */
static inline void raise_acts(const act_lanes of, int32_t t, int32_t least, int32_t odd, int count) {
    int32_t *restrict act = of.act, *restrict time = of.time;
    const int32_t *restrict delta = of.delta, *row = of.row;
    for (int i = 0; i < count; i++) {
        act[i] = max32(act[i], max32(t + delta[i], least));
        time[i] = row[i] < 0 ? act[i] | odd : time[i];
    }
}

/* time[i] = max(time[i], least) where row[i] >= 0 (open) */
static inline void raise_open(int32_t *restrict time, const int32_t *row, int32_t least, int count) {
    for (int i = 0; i < count; i++) time[i] = row[i] < 0 ? time[i] : max32(time[i], least);
}

/* The lowest key among the lanes with time[i] <= t, or KEY_NONE. */
ALWAYS static inline int32_t pick_key(const int32_t *key, const int32_t *time, int32_t t, int count) {
    int32_t best = KEY_NONE;
    for (int i = 0; i < count; i++) best = min32(best, time[i] <= t ? key[i] : KEY_NONE);
    return best;
}

/* The same among those with row[i] >= 0 (open). */
ALWAYS static inline int32_t pick_open(const int32_t *key, const int32_t *row, const int32_t *time, int32_t t,
                                       int count) {
    int32_t best = KEY_NONE;
    for (int i = 0; i < count; i++) best = min32(best, row[i] >= 0 && time[i] <= t ? key[i] : KEY_NONE);
    return best;
}

/* The lowest time of a lane with a key, or FAR. */
static inline int32_t first_time(const int32_t *key, const int32_t *time, int count) {
    int32_t least = FAR;
    for (int i = 0; i < count; i++) least = min32(least, key[i] != KEY_NONE ? time[i] : FAR);
    return least;
}

#else

#include <immintrin.h>

static inline __m256i lanes_load(const int32_t *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
static inline void lanes_store(int32_t *p, __m256i v) { _mm256_storeu_si256((__m256i *)(void *)p, v); }

/* The lanes of b where the sign of `negative` is set, else those of a. */
ALWAYS static inline __m256i lanes_choose(__m256i a, __m256i b, __m256i negative) {
    return _mm256_castps_si256(
        _mm256_blendv_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _mm256_castsi256_ps(negative)));
}

/* A load of 8 lanes soon after a store of one would wait for the store to reach the cache; so all 8 are
 * stored. */
ALWAYS static inline void lane_set_soon(int32_t *lanes, int index, int32_t value) {
    const __m256i iota = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    int32_t *at = lanes + (index & ~7);
    __m256i here = _mm256_cmpeq_epi32(iota, _mm256_set1_epi32(index & 7));
    lanes_store(at, _mm256_blendv_epi8(lanes_load(at), _mm256_set1_epi32(value), here));
}

ALWAYS static inline int32_t lanes_min(__m256i v) {
    __m128i half = _mm_min_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    half = _mm_min_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_min_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return _mm_cvtsi128_si32(half);
}

static inline void raise_row(int32_t *restrict value, const int32_t *restrict delta, int32_t t, int count) {
    int i = 0;
    for (__m256i from = _mm256_set1_epi32(t); i + 8 <= count; i += 8)
        lanes_store(value + i,
                    _mm256_max_epi32(lanes_load(value + i), _mm256_add_epi32(from, lanes_load(delta + i))));
    for (; i < count; i++) value[i] = max32(value[i], t + delta[i]);
}

static inline void raise_acts(const act_lanes of, int32_t t, int32_t least, int32_t odd, int count) {
    int32_t *restrict act = of.act, *restrict time = of.time;
    const int32_t *restrict delta = of.delta, *row = of.row;
    const __m256i from = _mm256_set1_epi32(t), low = _mm256_set1_epi32(least), odds = _mm256_set1_epi32(odd);
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256i at = _mm256_max_epi32(_mm256_add_epi32(from, lanes_load(delta + i)), low);
        at = _mm256_max_epi32(at, lanes_load(act + i));
        lanes_store(act + i, at);
        at = lanes_choose(lanes_load(time + i), _mm256_or_si256(at, odds), lanes_load(row + i));
        lanes_store(time + i, at);
    }
    for (; i < count; i++) {
        act[i] = max32(act[i], max32(t + delta[i], least));
        time[i] = row[i] < 0 ? act[i] | odd : time[i];
    }
}

static inline void raise_open(int32_t *restrict time, const int32_t *row, int32_t least, int count) {
    const __m256i low = _mm256_set1_epi32(least);
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256i old = lanes_load(time + i);
        lanes_store(time + i, lanes_choose(_mm256_max_epi32(old, low), old, lanes_load(row + i)));
    }
    for (; i < count; i++) time[i] = row[i] < 0 ? time[i] : max32(time[i], least);
}

ALWAYS static inline int32_t pick_key(const int32_t *key, const int32_t *time, int32_t t, int count) {
    const __m256i now = _mm256_set1_epi32(t), none = _mm256_set1_epi32(KEY_NONE);
    __m256i best = lanes_choose(lanes_load(key), none, _mm256_cmpgt_epi32(lanes_load(time), now));
    UNROLL
    for (int i = 8; i < count; i += 8) {
        __m256i later = _mm256_cmpgt_epi32(lanes_load(time + i), now);
        best = _mm256_min_epi32(best, lanes_choose(lanes_load(key + i), none, later));
    }
    return lanes_min(best);
}

ALWAYS static inline int32_t pick_open(const int32_t *key, const int32_t *row, const int32_t *time, int32_t t,
                                       int count) {
    const __m256i now = _mm256_set1_epi32(t), none = _mm256_set1_epi32(KEY_NONE);
    __m256i best = none;
    UNROLL
    for (int i = 0; i < count; i += 8) {
        __m256i out = _mm256_or_si256(_mm256_cmpgt_epi32(lanes_load(time + i), now), lanes_load(row + i));
        best = _mm256_min_epi32(best, lanes_choose(lanes_load(key + i), none, out));
    }
    return lanes_min(best);
}

static inline int32_t first_time(const int32_t *key, const int32_t *time, int count) {
    const __m256i none = _mm256_set1_epi32(KEY_NONE), far = _mm256_set1_epi32(FAR);
    __m256i least = far;
    UNROLL
    for (int i = 0; i < count; i += 8) {
        __m256i without = _mm256_cmpeq_epi32(lanes_load(key + i), none);
        least = _mm256_min_epi32(least, _mm256_blendv_epi8(lanes_load(time + i), far, without));
    }
    return lanes_min(least);
}

#endif
#endif
