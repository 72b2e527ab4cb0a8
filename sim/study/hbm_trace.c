/* Trace files of requests to HBM, a line each, in the formats of two simulators: Ramulator's LD/ST (or R/W)
 * and an address, DRAMsim3's address, READ or WRITE and a cycle. Read as a stream: a trace may be larger than
 * memory. */
#include <string.h>

#include "study/hbm_requests.h"
#include "base/number.h"
#include "base/text.h"
#include "machine/address_map.h"

enum { BUFFER_BYTES = 1 << 18, BUFFER_MORE = 8 }; /* no line is longer; and zeros */

typedef struct {
    ts_hbm_requests base;
    ts_file_reader *reader;
    const char *path;
    char *buffer;
    size_t at, length; /* of the buffer: the next byte, the end */
    bool is_end;       /* the buffer holds the end of the file */
    int line;          /* number of the last one */
    int64_t earliest;  /* of the last request */
} trace;

static const struct {
    const char *text;
    bool is_write;
} operations[] = {
    {"LD", false},   {"ST", true},    {"R", false},    {"W", true},         {"READ", false},
    {"WRITE", true}, {"read", false}, {"write", true}, {"P_MEM_RD", false}, {"P_MEM_WR", true},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static bool parse_operation(ts_error *err, ts_cursor *cursor, bool *is_write) {
    ts_span name;
    if (!ts_cursor_name(cursor, &name))
        return ts_cursor_unexpected(err, cursor, "LD, ST, R, W, READ or WRITE");
    for (int i = 0; i < OPERATIONS; i++) {
        *is_write = operations[i].is_write;
        if (ts_span_is(name, operations[i].text)) return true;
    }
    cursor->at = cursor->token;
    return ts_cursor_unexpected(err, cursor, "LD, ST, R, W, READ or WRITE");
}

typedef enum { HEX_ONLY, HEX_OR_DECIMAL } address_digits;

/* 0x and hexadecimal digits, or decimal ones where they are allowed. */
static bool parse_address(ts_error *err, ts_cursor *cursor, address_digits digits, int64_t limit,
                          int64_t *address) {
    ts_cursor_skip_space(cursor);
    const ts_source *line = cursor->source;
    bool hex = ts_cursor_take(cursor, "0x") || ts_cursor_take(cursor, "0X");
    size_t first = cursor->at, at = first;
    int base = hex ? 16 : 10, digit;
    *address = 0;
    for (; at < line->length && (digit = ts_hex_value(line->text[at])) < base && *address < limit; at++)
        *address = *address * base + digit;
    if (at == first || (!hex && digits == HEX_ONLY)) {
        cursor->at = cursor->token;
        return ts_cursor_unexpected(
            err, cursor,
            digits == HEX_OR_DECIMAL ? "an address" : "LD, ST, R, W, or an address that begins with 0x");
    }
    if (*address >= limit)
        return ts_error_at(err, TS_ERROR_INPUT, line, cursor->token,
                           "the address is too large, expected one below 0x%llx", (unsigned long long)limit);
    cursor->at = at;
    *address -= *address % TS_HBM_REQUEST_BYTES;
    return true;
}

/* So many cycles of every bus of the largest machine, 2^13 of them, can be added up. */
#define CYCLES (INT64_C(1) << 46)

/* The cycle at the end of a line, in CK; there may be none. Requests are offered in order. */
static bool parse_cycle(ts_error *err, trace *t, ts_cursor *cursor) {
    int64_t cycle;
    if (ts_cursor_at_end(cursor)) return true;
    if (!ts_cursor_integer(err, cursor, "a cycle", &cycle)) return false;
    if (cycle < 0 || cycle >= CYCLES)
        return ts_cursor_refuse(err, cursor, "found cycle %lld, expected 0 to 2^46 - 1", (long long)cycle);
    if (cycle > t->earliest) t->earliest = cycle;
    return true;
}

static bool parse_line(ts_error *err, trace *t, ts_cursor *cursor, ts_hbm_request *out) {
    int first = ts_cursor_peek(cursor);
    bool op_first = (first | 32) >= 'a' && (first | 32) <= 'z';
    bool ok = op_first ? parse_operation(err, cursor, &out->is_write) &&
                             parse_address(err, cursor, HEX_OR_DECIMAL, t->base.limit, &out->address)
                       : parse_address(err, cursor, HEX_ONLY, t->base.limit, &out->address) &&
                             parse_operation(err, cursor, &out->is_write) && parse_cycle(err, t, cursor);
    out->earliest = t->earliest;
    if (!ok || ts_cursor_at_end(cursor)) return ok;
    return ts_cursor_unexpected(err, cursor, "the end of the line");
}

static bool refill(ts_error *err, trace *t) {
    size_t got;
    memmove(t->buffer, t->buffer + t->at, t->length - t->at);
    t->length -= t->at;
    t->at = 0;
    if (!ts_file_read_next(err, t->reader, t->buffer + t->length, BUFFER_BYTES - t->length, &got))
        return false;
    t->is_end = got < BUFFER_BYTES - t->length;
    t->length += got;
    memset(t->buffer + t->length, 0, BUFFER_MORE);
    if (t->line == 0) t->at = ts_text_mark(t->buffer, t->length);
    return true;
}

/* The next line, without its newline; *found is false behind the last. */
static bool next_line(ts_error *err, trace *t, ts_source *line, bool *found) {
    const char *end = memchr(t->buffer + t->at, '\n', t->length - t->at);
    if (!end && !t->is_end) {
        if (!refill(err, t)) return false;
        end = memchr(t->buffer, '\n', t->length);
    }
    *line =
        (ts_source){t->path, t->buffer + t->at, end ? (size_t)(end - t->buffer) - t->at : t->length - t->at};
    *found = line->length > 0 || end;
    t->line += *found;
    t->at += line->length + (end ? 1 : 0);
    if (end || t->is_end) return true;
    return ts_error_at(err, TS_ERROR_INPUT, line, 0, "the line has more than %d bytes, expected one request",
                       BUFFER_BYTES);
}

/* ---- Lines as nearly all are: blanks between their parts, and nothing else. ---- */

/* The value of a hexadecimal digit plus 1; 0: no digit. */
static const uint8_t digit_of_byte[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};
enum { QUICK_DIGITS = 15 }; /* of either base: below 2^60 */

/* NULL: there is no number, or a longer one. */
static const char *quick_digits(const char *at, unsigned base, int64_t *value) {
    const char *first = at;
    uint64_t sum = 0;
    for (unsigned digit; (digit = digit_of_byte[(uint8_t)*at] - 1u) < base; at++) sum = sum * base + digit;
    *value = (int64_t)sum;
    return at > first && at - first <= QUICK_DIGITS ? at : NULL;
}

static const char *quick_address(const char *at, address_digits digits, int64_t *address) {
    if (at[0] == '0' && at[1] == 'x') return quick_digits(at + 2, 16, address);
    return digits == HEX_OR_DECIMAL ? quick_digits(at, 10, address) : NULL;
}

static const char *quick_operation(const char *at, bool *is_write) {
    *is_write = at[0] == 'S' || at[0] == 'W';
    if ((at[0] == 'L' && at[1] == 'D') || (at[0] == 'S' && at[1] == 'T')) return at + 2;
    if (at[0] == 'R') return at + (memcmp(at, "READ", 4) == 0 ? 4 : 1);
    if (at[0] == 'W') return at + (memcmp(at, "WRITE", 5) == 0 ? 5 : 1);
    return NULL;
}

static const char *quick_blanks(const char *at) {
    if (!at || *at != ' ') return NULL;
    while (*at == ' ') at++;
    return at;
}

/* Returns the end of the line, or NULL where it is another one. */
static const char *quick_parts(const char *at, ts_hbm_request *out, int64_t *cycle) {
    *cycle = 0;
    if (*at > '9') {
        at = quick_blanks(quick_operation(at, &out->is_write));
        return at ? quick_address(at, HEX_OR_DECIMAL, &out->address) : NULL;
    }
    at = quick_blanks(quick_address(at, HEX_ONLY, &out->address));
    at = at ? quick_operation(at, &out->is_write) : NULL;
    if (!at || *at == '\n') return at;
    at = quick_blanks(at);
    return at ? quick_digits(at, 10, cycle) : NULL;
}

/* The next line, if it is whole and such a one; else nothing is taken. The buffer ends in a byte that ends
 * all loops, and in some for the longest operation. */
static bool quick_line(trace *t, ts_hbm_request *out) {
    int64_t cycle;
    const char *end = quick_parts(t->buffer + t->at, out, &cycle);
    if (!end || *end != '\n' || end >= t->buffer + t->length) return false;
    if (out->address >= t->base.limit || cycle >= CYCLES) return false;
    out->address &= ~(int64_t)(TS_HBM_REQUEST_BYTES - 1);
    if (cycle > t->earliest) t->earliest = cycle;
    out->earliest = t->earliest;
    t->line++;
    t->at = (size_t)(end + 1 - t->buffer);
    return true;
}

static bool read_request(ts_error *err, trace *t, ts_hbm_request *out, bool *found) {
    ts_source line;
    for (;;) {
        if (!next_line(err, t, &line, found)) return false;
        if (!*found) return true;
        ts_cursor cursor = {&line, 0, 0};
        if (ts_cursor_at_end(&cursor) || ts_cursor_peek(&cursor) == '#') continue;
        return parse_line(err, t, &cursor, out);
    }
}

static bool read_trace(ts_error *err, ts_hbm_requests *requests, ts_hbm_request *out, int most, int *count) {
    trace *t = (trace *)requests;
    bool found = true;
    for (*count = 0; *count < most && found; *count += found) {
        if (quick_line(t, &out[*count]) || read_request(err, t, &out[*count], &found)) continue;
        if (err && err->line == 1) err->line = t->line; /* the text is that one line */
        return false;
    }
    return true;
}

static void close_trace(ts_hbm_requests *requests) { ts_file_finish(((trace *)requests)->reader); }

int64_t hbm_address_limit(const ts_hbm_config *config) {
    return ts_min((int64_t)config->burst_bytes << 8 * TS_ADDRESS_TABLES, ts_hbm_bytes(config));
}

ts_hbm_requests *hbm_trace_open(ts_error *err, ts_arena *arena, const char *path,
                                const ts_hbm_config *config) {
    trace *t = TS_NEW(arena, trace);
    *t = (trace){.base = {read_trace, close_trace, hbm_address_limit(config)}};
    t->reader = ts_file_open(err, arena, path);
    t->path = strcmp(path, "-") == 0 ? "standard input" : path;
    t->buffer = TS_NEW_ARRAY(arena, char, BUFFER_BYTES + BUFFER_MORE);
    return t->reader ? &t->base : NULL;
}
