/* A memory space: bytes that exist once touched, named axes, and a shadow that knows which bits are valid.
 *
 * Nothing is reserved for what is not touched: a space of the configured size (hundreds of gigabytes) costs
 * what the program uses. Ranges of it become real at first touch and start as zeros: whole holds where one
 * was announced (a tensor), chunks of TS_SPACE_CHUNK_BYTES elsewhere. Being out of memory then ends as it
 * does in an arena. Bits are little-endian: bit b of the space is bit b % 8 of byte b / 8. */
#ifndef TILESIM_MEMORY_SPACE_H
#define TILESIM_MEMORY_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "layout/shape.h"
#include "machine/machine.h"

enum {
    TS_SPACE_LINE_BYTES = 64,
    TS_SPACE_CHUNK_BYTES = 1 << 18,
    TS_SPACE_HUGE_BYTES = 1 << 21,
    TS_SPACE_MAX_AXES = 5,
};

/* An axis on which layouts may place elements. On "m" (every space has it) a step is one element. */
typedef struct {
    const char *name;
    int64_t extent;     /* in steps; 0: up to the capacity */
    int64_t step_bytes; /* 0: one element of whatever type is stored */
} ts_space_axis;

/* Bytes begin .. end-1 of a space, one behind the other in the host's memory. */
typedef struct {
    int64_t begin, end; /* multiples of TS_SPACE_LINE_BYTES, or the end of a wrapped space */
    uint8_t *bytes;     /* of `begin`; NULL: not touched yet */
    int64_t behind;     /* bytes behind the end that may be read, whatever they are */
    void *block;        /* to be freed */
} ts_space_range;

typedef struct ts_space {
    const char *name;
    int64_t capacity_bytes;
    int axis_count;
    ts_space_axis axes[TS_SPACE_MAX_AXES];
    ts_arena *arena;
    ts_space_range *ranges; /* by begin, apart */
    int range_count, range_room;
    ts_space_range last;      /* that was touched */
    struct ts_shadow *shadow; /* NULL: nothing is tracked */
} ts_space;

ts_space *ts_space_new(ts_arena *arena, const char *name, int64_t capacity_bytes); /* the name is copied */
ts_space *ts_space_of_machine(ts_arena *arena, const ts_machine_memory *memory);   /* with its axes */
/* A space over memory that the caller owns (a file's bytes). */
ts_space *ts_space_wrap(ts_arena *arena, const char *name, void *bytes, int64_t length);
ts_space ts_space_around(const char *name, void *bytes, int64_t length); /* the same in no arena */
void ts_space_forget(
    ts_space *space);                /* all bytes are zero again, and take no memory; not of one that wraps */
void ts_space_free(ts_space *space); /* what was touched; the rest belongs to the arena. NULL is fine */

/* These bytes become real together, in one piece: what lies in them is touched without moving what was
 * touched before. A hint: where the system refuses as much, they do so in chunks. */
void ts_space_hold(ts_space *space, int64_t address, int64_t length);
uint8_t *ts_space_open(ts_space *space, int64_t address, int64_t length); /* ts_space_touch, not the last */
/* Makes [address, address + length) real and returns its first byte; the others follow. Must be inside
 * and not empty (asserted): check first. Holds until another touch. Bytes lie at multiples of
 * TS_SPACE_LINE_BYTES as their addresses do, from TS_SPACE_HUGE_BYTES on at multiples of those. */
static inline uint8_t *ts_space_touch(ts_space *space, int64_t address, int64_t length) {
    const ts_space_range *last = &space->last;
    if (address >= last->begin && length <= last->end - address) return last->bytes + (address - last->begin);
    return ts_space_open(space, address, length);
}
static inline bool ts_space_contains(const ts_space *space, int64_t address, int64_t length) {
    return address >= 0 && length >= 0 && address <= space->capacity_bytes &&
           length <= space->capacity_bytes - address;
}

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
/* Nothing happens when not tracked. */
void ts_space_mark_valid(ts_space *space, int64_t first_bit, int64_t count);
void ts_space_mark_poison(ts_space *space, int64_t first_bit, int64_t count);
/* The first poisoned bit in the range, or -1 (also when not tracked). */
int64_t ts_space_find_poison(const ts_space *space, int64_t first_bit, int64_t count);
/* 32-bit words from a bit that is a multiple of 64 on; an even number of them, within 64 KiB. A set bit is
 * poison; true when there is any. Only of tracked spaces. */
bool ts_space_get_poison(const ts_space *space, int64_t first_bit, int64_t words, uint32_t *poison);
bool ts_space_set_poison(ts_space *space, int64_t first_bit, int64_t words, const uint32_t *poison);

#endif
