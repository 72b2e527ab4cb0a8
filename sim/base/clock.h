/* Clock domains: each counts its own integer cycles from 0; a frequency is integer kHz. */
#ifndef TILESIM_BASE_CLOCK_H
#define TILESIM_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The first cycle of `to` that does not begin before cycle `cycles` of `from` does: both clocks start
 * together. Always from cycle 0, never from a difference, so that nothing accumulates. cycles >= 0, clocks >
 * 0; the result must fit (it does below 2^63 / 1000 cycles for clocks within a factor of 1000). */
static inline int64_t ts_clock_convert(int64_t cycles, int64_t from_khz, int64_t to_khz) {
    int64_t product;
    bool is_short = !__builtin_mul_overflow(cycles, to_khz, &product) &&
                    !__builtin_add_overflow(product, from_khz - 1, &product);
    return is_short ? product / from_khz : (int64_t)(((__int128)cycles * to_khz + from_khz - 1) / from_khz);
}

/* Picoseconds to cycles, rounded up: 10^9 kHz has a cycle a picosecond. */
static inline int64_t ts_clock_cycles(int64_t picoseconds, int64_t khz) {
    return ts_clock_convert(picoseconds, INT64_C(1000000000), khz);
}

#endif
