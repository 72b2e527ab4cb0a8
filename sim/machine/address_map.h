/* Address maps: which channel, bank, row and column of HBM a byte address lies in. */
#ifndef TILESIM_MACHINE_ADDRESS_MAP_H
#define TILESIM_MACHINE_ADDRESS_MAP_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "machine/hbm_config.h"

/* A map is written as fields, lowest address bit first, then optional XOR hashes:
 *
 *   off co:1 pc ch st bg co ba sid ro ; bg ^= co[2:1] ^ co[4:3] ^ ro[1:0] ; ba ^= ro[3:2] ; pc.ch.st ^= fold
 *
 * off is the byte in a burst, co the column (burst of a row), pc the pseudo channel, ch the channel, st the
 * stack, bg the bank group, ba the bank, sid the stack id, ro the row. A field without a width takes all bits
 * that are left of it, repeated fields take successive bits; blanks, commas and bars separate. A hash XORs
 * the named bits, as they stood before any hash, into its target; `fold` is every address bit above the
 * target's highest, in groups of the target's width. Or a name: `named` in address_map.c.
 *
 * The map is linear over GF(2), and a bijection: checked when it is made. Bits above the last field go to the
 * row. Stacks that are no power of two take turns: what is above st in an address is divided by their number.
 * A row count that is not a power of two is rounded up; the addresses beyond are not there. */
typedef struct ts_address_map ts_address_map;

typedef struct {
    int32_t channel; /* of all stacks; with the per bank scheduler, pseudo channels are channels here */
    int32_t bank;    /* of the channel: ((pc * sids + sid) * bank_groups + group) * banks + bank */
    int32_t column;
    int64_t row;
} ts_address_location;

enum {
    TS_ADDRESS_COLUMN_BITS = 12,
    TS_ADDRESS_BANK_BITS = 9,
    TS_ADDRESS_CHANNEL_BITS = 11,
    TS_ADDRESS_ROW_BITS = 31
};

/* 5 tables of 256 cover bursts below 2^40. */
enum { TS_ADDRESS_TABLES = 5 };
struct ts_address_map {
    int32_t offset_bits;          /* log2 of the burst */
    int32_t turn_shift, turn_bit; /* of a burst, of a packed location: the stack */
    uint64_t turns;               /* stacks that are no power of two; 0 */
    uint64_t table[TS_ADDRESS_TABLES][256];
};

/* `what` names the text in errors ("--map", a path). */
ts_address_map *ts_address_map_new(ts_error *err, ts_arena *arena, const ts_hbm_config *config,
                                   const ts_source *text);

/* The packed location of a burst (address >> offset_bits): column lowest, then bank, channel, row. */
static inline uint64_t ts_address_map_pack(const ts_address_map *map, uint64_t burst) {
    uint64_t stack = 0;
    if (__builtin_expect(map->turns != 0, 0)) {
        uint64_t high = burst >> map->turn_shift, above = high / map->turns;
        stack = (high - above * map->turns) << map->turn_bit;
        burst = above << map->turn_shift | (burst & (((uint64_t)1 << map->turn_shift) - 1));
    }
    return stack ^ map->table[0][burst & 255] ^ map->table[1][burst >> 8 & 255] ^
           map->table[2][burst >> 16 & 255] ^ map->table[3][burst >> 24 & 255] ^
           map->table[4][burst >> 32 & 255];
}
ts_address_location ts_address_map_unpack(uint64_t packed);

/* The fields of a packed location; TS_ADDRESS_CHANNEL: the bits of the channel. */
enum {
    TS_ADDRESS_CHANNEL_SHIFT = TS_ADDRESS_COLUMN_BITS + TS_ADDRESS_BANK_BITS,
    TS_ADDRESS_ROW_SHIFT = TS_ADDRESS_CHANNEL_SHIFT + TS_ADDRESS_CHANNEL_BITS
};
static const uint64_t TS_ADDRESS_CHANNEL = (((uint64_t)1 << TS_ADDRESS_CHANNEL_BITS) - 1)
                                           << TS_ADDRESS_CHANNEL_SHIFT;
static inline int32_t ts_address_column(uint64_t packed) {
    return (int32_t)(packed & ((1u << TS_ADDRESS_COLUMN_BITS) - 1));
}
static inline int32_t ts_address_bank(uint64_t packed) {
    return (int32_t)(packed >> TS_ADDRESS_COLUMN_BITS & ((1u << TS_ADDRESS_BANK_BITS) - 1));
}
static inline int32_t ts_address_channel(uint64_t packed) {
    return (int32_t)((packed & TS_ADDRESS_CHANNEL) >> TS_ADDRESS_CHANNEL_SHIFT);
}
static inline int32_t ts_address_row(uint64_t packed) { return (int32_t)(packed >> TS_ADDRESS_ROW_SHIFT); }

#endif
