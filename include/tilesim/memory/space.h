/* A memory space: bytes that exist once touched, named axes, and a shadow that knows which bits are valid.
 *
 * The address range is reserved without memory behind it; chunks of TS_SPACE_CHUNK_BYTES become real at first
 * touch and start as zeros, so that a space of the configured size (hundreds of gigabytes) costs what the
 * program uses, and does not rely on over-commit. Bits are little-endian: bit b of the space is bit b % 8 of
 * byte b / 8. */
#ifndef TILESIM_MEMORY_SPACE_H
#define TILESIM_MEMORY_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "tilesim/base/arena.h"
#include "tilesim/base/error.h"
#include "tilesim/layout/shape.h"
#include "tilesim/machine/machine.h"

enum { TS_SPACE_CHUNK_BYTES = 1 << 18, TS_SPACE_MAX_AXES = 5 };

/* An axis on which layouts may place elements. On "m" (every space has it) a step is one element. */
typedef struct {
    const char *name;
    int64_t extent;     /* in steps; 0: up to the capacity */
    int64_t step_bytes; /* 0: one element of whatever type is stored */
} ts_space_axis;

typedef struct ts_space {
    const char *name;
    int64_t capacity_bytes;
    int axis_count;
    ts_space_axis axes[TS_SPACE_MAX_AXES];
    uint8_t *bytes;           /* reserved; use ts_space_touch before reading or writing */
    uint8_t *touched;         /* one byte a chunk */
    struct ts_shadow *shadow; /* NULL: nothing is tracked */
} ts_space;

/* Refused when the system will not reserve the range. The name is copied. */
ts_space *ts_space_new(ts_error *err, ts_arena *arena, const char *name, int64_t capacity_bytes);
/* A machine's memory with its axes. Without `real` it only places shapes: it has no bytes, and nothing to
 * free. */
ts_space *ts_space_of_machine(ts_error *err, ts_arena *arena, const ts_machine_memory *memory, bool real);
/* A space over memory that the caller owns (a file's bytes). */
ts_space *ts_space_wrap(ts_arena *arena, const char *name, void *bytes, int64_t length);
void ts_space_free(ts_space *space); /* the address range; the rest belongs to the arena. NULL is fine */

/* Makes [address, address + length) real and returns its first byte. Must be inside (asserted): check first.
 */
uint8_t *ts_space_touch(ts_space *space, int64_t address, int64_t length);
static inline bool ts_space_contains(const ts_space *space, int64_t address, int64_t length) {
    return address >= 0 && length >= 0 && address <= space->capacity_bytes &&
           length <= space->capacity_bytes - address;
}
/* A fault (TS_ERROR_FAULT) when outside. */
bool ts_space_read(ts_error *err, ts_space *space, int64_t address, void *out, int64_t length);

/* Bits a step on each axis of a shape's layout, when the shape lies in this space. Refused: an axis that the
 * space does not have, coordinates outside the axis, and a shape that ends behind the capacity when placed at
 * `base_bytes`. */
bool ts_space_place(ts_error *err, const ts_space *space, const ts_shape *shape, int64_t base_bytes,
                    int64_t *axis_bits);
/* Bits from one partition to the next: the largest step of an axis; 0 in a memory without partitions. An axis
 * that counts elements lies within a partition. */
int64_t ts_space_partition_bits(const ts_space *space);

/* ---- The shadow: one bit a data bit, kept a page at a time as all poison, all valid, or a bitmap. ---- */

void ts_space_track(ts_space *space, ts_arena *arena); /* everything is poison from here on */
void ts_space_mark(ts_space *space, int64_t first_bit, int64_t count,
                   bool valid); /* no-op when not tracked */
/* The first poisoned bit in the range, or -1 (also when not tracked). */
int64_t ts_space_find_poison(const ts_space *space, int64_t first_bit, int64_t count);
/* 32-bit words from a bit that is a multiple of 64 on; an even number of them, within 64 KiB. A set bit is
 * poison; true when there is any. Only of tracked spaces. */
bool ts_space_get_poison(const ts_space *space, int64_t first_bit, int64_t words, uint32_t *poison);
bool ts_space_set_poison(ts_space *space, int64_t first_bit, int64_t words, const uint32_t *poison);

#endif
