/* Address maps: parse the fields and hashes of one, check that it is a bijection, make its tables. */
#include "machine/address_map.h"

#include <string.h>

#include "base/number.h"
#include "base/text.h"

enum { OFFSET, COLUMN, PC, CHANNEL, STACK, SID, GROUP, BANK, ROW, FIELD_COUNT };
enum { MAX_BITS = 8 * TS_ADDRESS_TABLES };

static const char *const field_names[FIELD_COUNT] = {"off", "co", "pc", "ch", "st", "sid", "bg", "ba", "ro"};

/* The cache-line maps are Ramulator 2's RoBaRaCoCh and MOP4CLXOR behind CacheLineInterleave at one burst, the
 * last is DRAMsim3's rorabgbachco. Their stacks, which those tools do not have, are channels on top. */
static const struct {
    const char *name, *text;
} named[] = {
    {"A", "off co:1 pc ch st bg co ba sid ro"},
    {"B", "off co pc ch st ba bg sid ro"},
    {"H",
     "off co:1 pc ch st bg co ba sid ro; pc.ch.st ^= fold; bg ^= co[2:1] ^ co[4:3] ^ ro[1:0]; ba ^= ro[3:2]"},
    {"robaracoch", "off ch st co pc sid bg ba ro"},
    {"mop4clxor", "off ch st co:2 pc sid bg ba co ro; pc.sid.bg.ba ^= co"},
    {"rorabgbachco", "off co ch st pc ba bg sid ro"},
};

typedef struct {
    ts_cursor cursor;
    int width[FIELD_COUNT];        /* bits of a field */
    int given[FIELD_COUNT];        /* bits of it that have an address bit so far */
    int at[FIELD_COUNT][MAX_BITS]; /* the address bit of each */
    int bits;                      /* address bits given */
    int64_t turns;                 /* stacks that are no power of two take turns; 0 */
    int turns_at;                  /* the address bit of a turn; -1 */
    bool pcs_are_channels;
    bool is_named; /* then hashes may name bits that this HBM does not have */
    uint64_t column_of[MAX_BITS + TS_HBM_MAX_BURST_BITS]; /* by address bit: the packed bits it sets */
} parser;

/* The position of bit `bit` of a field in a packed location; the offset has none. */
static int packed_bit(const parser *p, int field, int bit) {
    const int order[] = {BANK, GROUP, SID, PC, CHANNEL, STACK}, in_bank = p->pcs_are_channels ? 3 : 4;
    int base = TS_ADDRESS_COLUMN_BITS;
    if (field == COLUMN) return bit;
    for (int i = 0; i < 6; base += p->width[order[i++]]) {
        if (i == in_bank) base = TS_ADDRESS_CHANNEL_SHIFT;
        if (order[i] == field) return base + bit;
    }
    return TS_ADDRESS_ROW_SHIFT + bit;
}

ts_address_location ts_address_map_unpack(uint64_t packed) {
    return (ts_address_location){.channel = ts_address_channel(packed),
                                 .bank = ts_address_bank(packed),
                                 .column = ts_address_column(packed),
                                 .row = ts_address_row(packed)};
}

static void skip_separators(parser *p) {
    while (ts_cursor_take(&p->cursor, ",") || ts_cursor_take(&p->cursor, "|"))
        ;
}

static bool parse_field_name(ts_error *err, parser *p, int *field) {
    ts_span name;
    if (!ts_cursor_name(&p->cursor, &name))
        return ts_cursor_unexpected(err, &p->cursor, "a field (off, co, pc, ch, st, sid, bg, ba or ro)");
    for (*field = 0; *field < FIELD_COUNT; (*field)++)
        if (ts_span_is(name, field_names[*field])) return true;
    return ts_cursor_refuse(err, &p->cursor,
                            "unknown field '%.*s', expected off, co, pc, ch, st, sid, bg, ba or ro",
                            (int)name.length, name.text);
}

static bool place_field(ts_error *err, parser *p) {
    int field;
    size_t start;
    if (!parse_field_name(err, p, &field)) return false;
    start = p->cursor.token;
    int64_t count = p->width[field] - p->given[field];
    int64_t left = count;
    if (ts_cursor_take(&p->cursor, ":") && !ts_cursor_integer(err, &p->cursor, "a number of bits", &count))
        return false;
    if (count < 0 || count > left) {
        return ts_error_at(err, TS_ERROR_INPUT, p->cursor.source, start,
                           "%s:%lld takes more bits than are left of it, expected at most %lld of its %d",
                           field_names[field], (long long)count, (long long)left, p->width[field]);
    }
    for (int64_t i = 0; i < count; i++) p->at[field][p->given[field]++] = p->bits++;
    if (field == STACK && p->turns_at < 0) p->turns_at = p->bits;
    return true;
}

/* Has every bit of a field its address bit, the burst's lowest? */
static bool check_places(ts_error *err, const parser *p) {
    for (int f = 0; f < FIELD_COUNT; f++) {
        if (p->given[f] < p->width[f]) {
            return ts_error_at(err, TS_ERROR_INPUT, p->cursor.source, p->cursor.at,
                               "%s has %d bits, expected %d to be placed: two addresses would be one place",
                               field_names[f], p->given[f], p->width[f]);
        }
    }
    if (p->turns > 0 && p->turns_at < p->width[OFFSET]) {
        return ts_error_at(err, TS_ERROR_INPUT, p->cursor.source, p->cursor.at,
                           "st has no place, expected it where the %d stacks are to take turns",
                           (int)p->turns);
    }
    for (int i = 0; i < p->width[OFFSET]; i++) {
        if (p->at[OFFSET][i] != i) {
            return ts_error_at(err, TS_ERROR_INPUT, p->cursor.source, 0,
                               "off is not lowest, expected the %d bits inside a burst first",
                               p->width[OFFSET]);
        }
    }
    return true;
}

static bool place_fields(ts_error *err, parser *p) {
    while (!ts_cursor_at_end(&p->cursor) && ts_cursor_peek(&p->cursor) != ';') {
        if (!place_field(err, p)) return false;
        skip_separators(p);
    }
    return check_places(err, p);
}

/* The address bits of a hash's target: fields joined by dots. */
static bool parse_target(ts_error *err, parser *p, int *bits, int *packed, int *count) {
    *count = 0;
    do {
        int field;
        if (!parse_field_name(err, p, &field)) return false;
        if (field == OFFSET)
            return ts_cursor_refuse(err, &p->cursor, "off cannot be hashed, expected another field");
        if (*count + p->width[field] > MAX_BITS) {
            return ts_cursor_refuse(
                err, &p->cursor, "the target names more bits than an address has, expected each field once");
        }
        for (int i = 0; i < p->width[field]; i++) {
            bits[*count] = p->at[field][i];
            packed[(*count)++] = packed_bit(p, field, i);
        }
    } while (ts_cursor_take(&p->cursor, "."));
    return true;
}

static void hash_fold(parser *p, const int *bits, const int *packed, int count) {
    int first = 0;
    for (int i = 0; i < count; i++) first = bits[i] >= first ? bits[i] + 1 : first;
    for (int bit = first; count > 0 && bit < MAX_BITS + p->width[OFFSET]; bit++)
        p->column_of[bit] ^= (uint64_t)1 << packed[(bit - first) % count];
}

/* "[hi:lo]" or "[bit]" behind a field, or nothing: the whole field. */
static bool parse_range(ts_error *err, parser *p, int field, int64_t *low, int64_t *high) {
    *low = 0, *high = p->width[field] - 1;
    if (!ts_cursor_take(&p->cursor, "[")) return true;
    if (!ts_cursor_integer(err, &p->cursor, "a bit of the field", high)) return false;
    *low = *high;
    if (ts_cursor_take(&p->cursor, ":") && !ts_cursor_integer(err, &p->cursor, "a bit of the field", low))
        return false;
    if (!ts_cursor_expect(err, &p->cursor, "]")) return false;
    if (*low < 0 || *low > *high || (*high >= p->width[field] && !p->is_named)) {
        return ts_cursor_refuse(err, &p->cursor,
                                "%s[%lld:%lld] is not in the field, expected high:low below %d",
                                field_names[field], (long long)*high, (long long)*low, p->width[field]);
    }
    return true;
}

static bool hash_term(ts_error *err, parser *p, const int *bits, const int *packed, int count) {
    int field;
    int64_t low, high;
    if (ts_cursor_take(&p->cursor, "fold")) {
        hash_fold(p, bits, packed, count);
        return true;
    }
    if (!parse_field_name(err, p, &field) || !parse_range(err, p, field, &low, &high)) return false;
    for (int64_t i = low; i <= high && i < p->width[field] && i - low < count; i++)
        p->column_of[p->at[field][i]] ^= (uint64_t)1 << packed[i - low];
    return true;
}

static bool parse_hash(ts_error *err, parser *p) {
    int bits[MAX_BITS], packed[MAX_BITS], count;
    if (!parse_target(err, p, bits, packed, &count) || !ts_cursor_expect(err, &p->cursor, "^=")) return false;
    do {
        if (!hash_term(err, p, bits, packed, count)) return false;
    } while (ts_cursor_take(&p->cursor, "^"));
    return true;
}

static void set_fields(parser *p) {
    for (int f = COLUMN; f < FIELD_COUNT; f++)
        for (int i = 0; i < p->width[f]; i++) p->column_of[p->at[f][i]] = (uint64_t)1 << packed_bit(p, f, i);
    /* The row takes what is above the fields. */
    for (int bit = p->bits, i = p->width[ROW]; bit < MAX_BITS + p->width[OFFSET] && i < TS_ADDRESS_ROW_BITS;
         bit++)
        p->column_of[bit] = (uint64_t)1 << packed_bit(p, ROW, i++);
}

/* Gaussian elimination over GF(2): with the row's upper bits each in its own column, the map is a bijection
 * when the columns of its address bits are independent. */
static bool check_bijection(ts_error *err, const parser *p) {
    uint64_t basis[64] = {0}, made_of[64] = {0};
    for (int bit = p->width[OFFSET]; bit < p->bits; bit++) {
        uint64_t v = p->column_of[bit], from = (uint64_t)1 << bit;
        for (int top = 63; top >= 0 && v != 0; top--) {
            if (!(v >> top & 1)) continue;
            if (basis[top] == 0) {
                basis[top] = v, made_of[top] = from;
                break;
            }
            v ^= basis[top], from ^= made_of[top];
        }
        if (v == 0) {
            return ts_error_at(
                err, TS_ERROR_INPUT, p->cursor.source, 0,
                "the hashes map the addresses 0x0 and 0x%llx to one place, expected a bijection",
                (unsigned long long)from);
        }
    }
    return true;
}

/* Of rows that are no power of two the upper bits say which there are: nothing may change them. */
static bool check_rows(ts_error *err, const parser *p, int rows) {
    int free_bits = __builtin_ctz((unsigned)rows), upper_bits = p->width[ROW] - free_bits;
    for (int bit = 0; bit < p->bits && rows >> free_bits > 1; bit++) {
        uint64_t upper = p->column_of[bit] >> (TS_ADDRESS_ROW_SHIFT + free_bits);
        int i = bit - (p->bits - upper_bits);
        if (upper != (i >= 0 ? (uint64_t)1 << i : 0)) {
            return ts_error_at(
                err, TS_ERROR_INPUT, p->cursor.source, 0,
                "addresses would be in rows from %d on, of %d; expected the upper %d bits of ro "
                "on top, and no hash of them",
                rows, rows, upper_bits);
        }
    }
    return true;
}

static void fill_tables(ts_address_map *map, const parser *p) {
    for (int table = 0; table < TS_ADDRESS_TABLES; table++) {
        for (int value = 0; value < 256; value++) {
            uint64_t sum = 0;
            for (int bit = 0; bit < 8; bit++)
                sum ^= value >> bit & 1 ? p->column_of[p->width[OFFSET] + 8 * table + bit] : 0;
            map->table[table][value] = sum;
        }
    }
}

/* Do all widths fit into a packed location? */
static bool check_widths(ts_error *err, const parser *p, int stack_bits, const ts_source *text) {
    const int *width = p->width;
    const struct {
        int bits, most;
        const char *what;
    } rows[] = {
        {width[COLUMN], TS_ADDRESS_COLUMN_BITS, "a row has bursts"},
        {width[PC] + width[SID] + width[GROUP] + width[BANK], TS_ADDRESS_BANK_BITS, "a channel has banks"},
        {width[CHANNEL] + stack_bits, TS_ADDRESS_CHANNEL_BITS, "all stacks together have channels"},
        {width[ROW], TS_ADDRESS_ROW_BITS, "a bank has rows"},
        {p->bits - width[OFFSET], MAX_BITS, "the HBM has bursts"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].bits > rows[i].most)
            return ts_error_at(err, TS_ERROR_UNMODELLED, text, 0, "%s for %d bits of address, of at most %d",
                               rows[i].what, rows[i].bits, rows[i].most);
    return true;
}

typedef struct {
    int field;
    int64_t count;
    bool exact; /* must be a power of two */
    const char *name;
} field_size;

static bool set_width(ts_error *err, parser *p, const field_size *size) {
    int bits = ts_log2_up(size->count);
    if (size->count < 1 || (size->exact && (int64_t)1 << bits != size->count))
        return ts_error_set(err, TS_ERROR_UNMODELLED,
                            "%s is %lld, expected a power of two: HBM address maps are bit fields",
                            size->name, (long long)size->count);
    p->width[size->field] = bits;
    p->bits += bits;
    return true;
}

static bool set_widths(ts_error *err, parser *p, const ts_hbm_config *c, const ts_source *text) {
    const field_size sizes[] = {
        {OFFSET, c->burst_bytes, true, "burst_bytes"},
        {COLUMN, c->row_bytes / c->burst_bytes, true, "row_bytes"},
        {PC, c->pseudo_channels, true, "pseudo_channels"},
        {CHANNEL, c->channels, true, "channels"},
        {STACK, p->turns > 0 ? 1 : c->stacks, false, "stacks"},
        {SID, c->sids, true, "sids"},
        {GROUP, c->bank_groups, true, "bank_groups"},
        {BANK, c->banks, true, "banks"},
        {ROW, c->rows, false, "rows"},
    };
    for (int i = 0; i < FIELD_COUNT; i++)
        if (!set_width(err, p, &sizes[i])) return false;
    if (!check_widths(err, p, ts_log2_up(c->stacks), text)) return false;
    p->bits = 0;
    return true;
}

static const ts_source *find_named(ts_source *found, const ts_source *text) {
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (strlen(named[i].name) == text->length && memcmp(named[i].name, text->text, text->length) == 0) {
            *found = (ts_source){named[i].name, named[i].text, strlen(named[i].text)};
            return found;
        }
    }
    return text;
}

static bool parse_map(ts_error *err, parser *p, const ts_hbm_config *config) {
    if (!set_widths(err, p, config, p->cursor.source) || !place_fields(err, p)) return false;
    set_fields(p);
    while (ts_cursor_take(&p->cursor, ";"))
        if (!ts_cursor_at_end(&p->cursor) && !parse_hash(err, p)) return false;
    if (!ts_cursor_at_end(&p->cursor)) {
        ts_cursor_unexpected(err, &p->cursor, "'^', ';' or the end of the map");
        return false;
    }
    return check_bijection(err, p) && check_rows(err, p, config->rows);
}

ts_address_map *ts_address_map_new(ts_error *err, ts_arena *arena, const ts_hbm_config *config,
                                   const ts_source *text) {
    ts_source found;
    const ts_source *source = find_named(&found, text);
    parser *p = TS_NEW(arena, parser);
    p->cursor.source = source;
    p->is_named = source != text;
    p->pcs_are_channels = config->scheduler == TS_HBM_SCHEDULER_PER_BANK;
    p->turns = config->stacks & (config->stacks - 1) ? config->stacks : 0;
    p->turns_at = -1;
    if (!parse_map(err, p, config)) return NULL;
    ts_address_map *map = TS_NEW(arena, ts_address_map);
    map->offset_bits = p->width[OFFSET];
    map->turns = (uint64_t)p->turns;
    map->turn_shift = p->turns_at - p->width[OFFSET];
    map->turn_bit = packed_bit(p, STACK, 0);
    fill_tables(map, p);
    return map;
}
