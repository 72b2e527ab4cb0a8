/* Address maps: the named ones by formulas of their own; any is one to one; bad ones are refused. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"
#include "machine/address_map.h"

static ts_address_map *map_of(ts_error *err, ts_arena *arena, const ts_hbm_config *config, const char *text) {
    ts_source source = {"map", text, strlen(text)};
    return ts_address_map_new(err, arena, config, &source);
}

/* Takes bits off the low end of what is left of an address. */
static int take(int64_t *rest, int bits) {
    int field = (int)(*rest & ((1 << bits) - 1));
    *rest >>= bits;
    return field;
}

typedef struct {
    int pcx, group, bank, column; /* pcx: channel * 2 + pseudo channel */
    int64_t row;
} parts;

static int fold(int64_t value) { /* XOR of its hexadecimal digits */
    int sum = 0;
    for (; value != 0; value >>= 4) sum ^= (int)(value & 15);
    return sum;
}

/* Fields from the lowest bit on, each with its bits: (c)olumn, c(h)annel, (p)seudo channel, (g)roup, (b)ank. */
static parts place(const char *fields, int64_t burst) {
    parts p = {0};
    for (int columns = 0; *fields; fields += 2) {
        int bits = fields[1] - '0', value = take(&burst, bits);
        if (*fields == 'c') p.column |= value << columns;
        columns += *fields == 'c' ? bits : 0;
        if (*fields == 'h') p.pcx |= 2 * value;
        if (*fields == 'p') p.pcx |= value;
        if (*fields == 'g') p.group = value;
        if (*fields == 'b') p.bank = value;
    }
    p.row = burst;
    return p;
}

static void hash_h(int64_t burst, parts *p) {
    p->pcx ^= fold(burst >> 5);
    p->group ^= (p->column >> 1 & 3) ^ (p->column >> 3 & 3) ^ (int)(p->row & 3);
    p->bank ^= (int)(p->row >> 2 & 3);
}

static void hash_mop4clxor(int64_t burst, parts *p) {
    p->pcx ^= p->column & 1;
    p->group ^= p->column >> 1 & 3;
    p->bank ^= p->column >> 3 & 3;
}

TEST_WITH_ARENA(named_maps) {
    static const struct {
        const char *name, *fields;
        void (*hash)(int64_t burst, parts *p);
    } rows[] = {{"A", "c1p1h3g2c4b2", NULL},
                {"B", "c5p1h3b2g2", NULL},
                {"H", "c1p1h3g2c4b2", hash_h},
                {"robaracoch", "h3c5p1g2b2", NULL},
                {"mop4clxor", "h3c2p1g2b2c3", hash_mop4clxor},
                {"rorabgbachco", "c5h3p1b2g2", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_address_map *map = map_of(&err, arena, &hbm2, rows[i].name);
        assert_non_null(map);
        srand(1);
        for (int k = 0; k < 20000; k++) {
            int64_t burst = ((int64_t)rand() << 16 ^ rand()) & ((1 << 28) - 1); /* of 8 GiB */
            ts_address_location got = ts_address_map_unpack(ts_address_map_pack(map, (uint64_t)burst));
            parts p = place(rows[i].fields, burst);
            if (rows[i].hash) rows[i].hash(burst, &p);
            if (got.channel != p.pcx / 2 || got.bank != (p.pcx % 2 * 4 + p.group) * 4 + p.bank ||
                got.column != p.column || got.row != p.row)
                fail_msg("map %s, burst 0x%llx: channel %d bank %d column %d row %lld", rows[i].name,
                         (long long)burst, got.channel, got.bank, got.column, (long long)got.row);
        }
    }
}

/* Every burst of a small HBM has a place of its own, inside it. */
static void check_bijection(const ts_hbm_config *c, const char *text) {
    ts_error err = {0};
    ts_arena *arena = ts_arena_new();
    ts_address_map *map = map_of(&err, arena, c, text);
    if (!map) fail_msg("%s: %s", text, err.message);
    int banks = c->pseudo_channels * c->sids * c->bank_groups * c->banks,
        columns = c->row_bytes / c->burst_bytes;
    int channels = c->stacks * c->channels, count = channels * banks * columns * c->rows;
    bool *seen = TS_NEW_ARRAY(arena, bool, count);
    for (int burst = 0; burst < count; burst++) {
        ts_address_location p = ts_address_map_unpack(ts_address_map_pack(map, (uint64_t)burst));
        if (p.channel >= channels || p.bank >= banks || p.column >= columns || p.row >= c->rows)
            fail_msg("%s: burst %d is outside", text, burst);
        int64_t at = (((int64_t)p.channel * banks + p.bank) * c->rows + p.row) * columns + p.column;
        if (seen[at]) fail_msg("%s: burst %d is where another one is", text, burst);
        seen[at] = true;
    }
    ts_arena_free(arena);
}

TEST(one_to_one) {
    static const char *const maps[] = {
        "A",
        "B",
        "H",
        "robaracoch",
        "mop4clxor",
        "rorabgbachco",
        "off ro co ba bg sid pc ch st",
        "off st ch:1 co:2 pc ro:1 ch bg sid ba ro co; bg ^= ro[1:0] ^ co[1:0]; ch ^= fold; co ^= ro",
        "off co ch st pc bg ba ro sid; pc.ch ^= fold",
    };
    for (int stacks = 1; stacks <= 6; stacks++) {
        for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
            ts_hbm_config c = hbm2;
            c.stacks = stacks;
            c.channels = 4;
            c.sids = 2;
            c.rows = 16;
            c.row_bytes = 256;
            check_bijection(&c, maps[i]);
            c.burst_bytes = 64;
            check_bijection(&c, maps[i]);
            c.burst_bytes = 1 << TS_HBM_MAX_BURST_BITS;
            c.row_bytes = 4 * c.burst_bytes;
            check_bijection(&c, maps[i]);
        }
    }
}

/* Rows that are no power of two: their lower bits can be anywhere. */
TEST(rows_of_any_number) {
    static const char *const maps[] = {"A", "H", "mop4clxor",
                                       "off ro:2 co pc ch ba bg sid st ro; ro ^= ba[0:0]"};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        ts_hbm_config c = hbm2;
        c.rows = 12;
        check_bijection(&c, maps[i]);
    }
}

/* Where an address of one bit lies. */
static ts_address_location place_of(const ts_address_map *map, int bit) {
    return ts_address_map_unpack(ts_address_map_pack(map, ((uint64_t)1 << bit) >> map->offset_bits));
}

/* 33 bits are of fields, the row has 15 of them; addresses of up to 45 bits are mapped, and hashed. */
TEST_WITH_ARENA(what_is_above_the_fields_is_the_row_s) {
    const ts_address_map *map = map_of(NULL, arena, &hbm2, "off co pc ch bg ba ro; ch ^= fold");
    for (int bit = 33; bit < 45; bit++) {
        const ts_address_location place = place_of(map, bit);
        assert_int_equal(place.row, 1 << (bit - 18));
        assert_int_equal(place.channel, 1 << (bit - 14) % 3);
        assert_int_equal(place.bank + place.column, 0);
    }
}

TEST_WITH_ARENA(pseudo_channels_are_channels_of_the_per_bank_scheduler) {
    ts_hbm_config c = hbm2;
    c.sids = 2;
    for (int i = 0; i < 2; i++) {
        c.scheduler = i ? TS_HBM_SCHEDULER_PER_BANK : TS_HBM_SCHEDULER_ROW_HIT;
        const ts_address_map *map = map_of(NULL, arena, &c, "off co pc ch sid bg ba ro");
        ts_address_location pc = place_of(map, 10), ch = place_of(map, 11), sid = place_of(map, 14);
        assert_int_equal(pc.channel, i ? 1 : 0);
        assert_int_equal(pc.bank, i ? 0 : 32);
        assert_int_equal(ch.channel, i ? 2 : 1);
        assert_int_equal(sid.bank, 16);
        assert_int_equal(ch.bank + sid.channel, 0);
    }
}

TEST_WITH_ARENA(bad_maps) {
    static const struct {
        const char *text, *message;
        int stacks, column;
    } rows[] = {
        {"off co", "pc has 0 bits, expected 1 to be placed: two addresses would be one place", 1, 7},
        {"co off pc ch bg ba ro", "off is not lowest, expected the 5 bits inside a burst first", 1, 1},
        {"off co:9 pc ch bg ba ro", "co:9 takes more bits than are left of it, expected at most 5 of its 5",
         1, 5},
        {"off co pc ch bg ba ra", "unknown field 'ra', expected off, co, pc, ch, st, sid, bg, ba or ro", 1,
         20},
        {"off co pc ch bg ba ro; off ^= ro", "off cannot be hashed, expected another field", 1, 24},
        {"off co pc ch bg ba ro; bg ^= co[5]", "co[5:5] is not in the field, expected high:low below 5", 1,
         34},
        {"off co pc ch bg ba ro; bg ^= co[1:2]", "co[1:2] is not in the field, expected high:low below 5", 1,
         36},
        {"off co pc ch bg ba ro; ro.ro.ro ^= co",
         "the target names more bits than an address has, expected each field once", 1, 30},
        {"off co pc ch bg ba ro; pc ^= pc; co ^= pc",
         "the hashes map the addresses 0x0 and 0x420 to one place, expected a bijection", 1, 1},
        {"off co pc ch bg ba ro", "st has no place, expected it where the 3 stacks are to take turns", 3, 22},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_hbm_config c = hbm2;
        c.stacks = rows[i].stacks;
        assert_null(map_of(&err, arena, &c, rows[i].text));
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.column, rows[i].column);
    }
    ts_error one_place = {0};
    assert_null(map_of(&one_place, arena, &hbm2, "off co pc ch bg ba ro; bg ^= ba; ba ^= bg"));
    assert_non_null(strstr(one_place.message, "one place"));
    static const char *const no_rows[] = {"off ro:3 co pc ch bg ba ro", "off co ro pc ch bg ba",
                                          "off co pc ch bg ba ro; ro ^= co"};
    for (size_t i = 0; i < sizeof no_rows / sizeof no_rows[0]; i++) {
        ts_error err = {0};
        ts_hbm_config c = hbm2;
        c.rows = 12;
        assert_null(map_of(&err, arena, &c, no_rows[i]));
        assert_string_equal(
            err.message, "addresses would be in rows from 12 on, of 12; expected the upper 2 bits of ro on "
                         "top, and no hash of them");
    }
}

/* Every count at the most that fits, and beyond it: what is too many is said. */
TEST_WITH_ARENA(too_large) {
    static const struct {
        int stacks, channels, row_bytes, burst_bytes, rows;
        const char *message;
    } rows[] = {
        {1, 8, 65536, 16, 256, NULL},
        {1, 8, 65536, 8, 256, "a row has bursts for 13 bits of address, of at most 12"},
        {32, 64, 1024, 32, 1024, NULL},
        {64, 64, 1024, 32, 1024, "all stacks together have channels for 12 bits of address, of at most 11"},
        {4, 64, 8192, 32, 1 << 19, NULL},
        {4, 64, 8192, 32, 1 << 20, "the HBM has bursts for 41 bits of address, of at most 40"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_hbm_config c = hbm2;
        c.stacks = rows[i].stacks;
        c.channels = rows[i].channels;
        c.row_bytes = rows[i].row_bytes;
        c.burst_bytes = rows[i].burst_bytes;
        c.rows = rows[i].rows;
        assert_int_equal(map_of(&err, arena, &c, "off co pc ch st bg ba ro") == NULL,
                         rows[i].message != NULL);
        if (rows[i].message) assert_string_equal(err.message, rows[i].message);
    }
}
