/* Conversion of element values between types. The scalar code is the definition; it uses integers only, so
 * that the host's rounding mode cannot reach a result. */
#ifndef TILESIM_LAYOUT_CONVERT_H
#define TILESIM_LAYOUT_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/dtype.h"

/* The rules, for every pair of types:
 *   to a float      one rounding, to nearest, ties to even; overflow as ts_float_encode; a NaN keeps its
 *                   sign, not its payload
 *   float to int    toward zero; what does not fit becomes the nearest value that does; NaN becomes 0
 *   int to int      modulo 2^bits, as in C and XLA
 *   to pred         x != 0 (so NaN is true); pred reads as 1 when any bit is set
 *   same type       the bits, unchanged
 * Bits above value_bits of a narrow type (s4 in a byte) are ignored when read and zero when written. */

/* The types that have a value: all but complex, token and opaque. The functions below require them. */
bool ts_dtype_has_value(ts_dtype dtype);
/* Can elements be converted? Where both are numbers, or one type that holds data. */
bool ts_convert_possible(ts_dtype from, ts_dtype to);

/* One element, its bits in the low stored_bits (or value_bits) of the word. */
uint64_t ts_element_convert(ts_dtype from, uint64_t bits, ts_dtype to);
double ts_element_to_double(ts_dtype dtype, uint64_t bits); /* exact but for s64 and u64 beyond 2^53 */

/* `count` elements of stored_bits each, little endian, any alignment, not overlapping. False when not
 * possible. */
bool ts_convert_elements(ts_dtype from, const void *source, ts_dtype to, void *destination, size_t count);

#endif
