/* Text: the growing buffer, the cursor, the nearest name. */
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ts_text ts_text_begin(ts_arena *arena) {
    enum { FIRST_BYTES = 64 };
    return (ts_text){arena, ts_arena_alloc(arena, FIRST_BYTES, 1), 0, FIRST_BYTES};
}

/* Room for `more` bytes and a NUL. */
static void reserve(ts_text *text, size_t more) {
    size_t needed = text->length + more + 1, capacity = text->capacity;
    if (needed <= capacity) return;
    while (capacity < needed) capacity *= 2;
    text->bytes = ts_arena_grow(text->arena, text->bytes, text->length + 1, capacity, 1);
    text->capacity = capacity;
}

void ts_text_add_list(ts_text *text, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    size_t room = text->capacity - text->length;
    int length = vsnprintf(text->bytes + text->length, room, format, args);
    assert(length >= 0);
    if ((size_t)length >= room) {
        text->bytes[text->length] = '\0';
        reserve(text, (size_t)length);
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    }
    text->length += (size_t)length;
    va_end(again);
}

void ts_text_add(ts_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    ts_text_add_list(text, format, args);
    va_end(args);
}

const char *ts_text_format(ts_arena *arena, const char *format, ...) {
    ts_text text = ts_text_begin(arena);
    va_list args;
    va_start(args, format);
    ts_text_add_list(&text, format, args);
    va_end(args);
    return text.bytes;
}

void ts_text_add_bytes(ts_text *text, const char *bytes, size_t length) {
    reserve(text, length);
    if (length) memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void ts_text_add_char(ts_text *text, char c) { ts_text_add_bytes(text, &c, 1); }

void ts_text_add_integers(ts_text *text, const int64_t *values, int count) {
    for (int i = 0; i < count; i++) ts_text_add(text, "%s%" PRId64, i > 0 ? "," : "", values[i]);
}

void ts_text_add_tuple(ts_text *text, const int64_t *values, int count) {
    ts_text_add_char(text, '(');
    ts_text_add_integers(text, values, count);
    ts_text_add_char(text, ')');
}

/* What may follow a first byte: [low, high] of the second, and how many there are in all. */
static const struct {
    unsigned char first, last, low, high;
    size_t bytes;
} leads[] = {
    {0x01, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

size_t ts_text_utf8_bytes(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++) {
        if (*c < leads[i].first || *c > leads[i].last) continue;
        size_t length = leads[i].bytes;
        if (length > 1 && (c[1] < leads[i].low || c[1] > leads[i].high)) return 0;
        for (size_t k = 2; k < length; k++)
            if (c[k] < 0x80 || c[k] > 0xbf) return 0;
        return length;
    }
    return 0;
}

bool ts_text_is_utf8(const char *text) {
    size_t bytes;
    while (*text && (bytes = ts_text_utf8_bytes(text)) > 0) text += bytes;
    return *text == '\0';
}

const char *ts_text_add_character(ts_text *text, const char *content) {
    size_t length = ts_text_utf8_bytes(content);
    if (length > 0)
        ts_text_add_bytes(text, content, length);
    else
        ts_text_add(text, "\xef\xbf\xbd");
    return content + (length > 0 ? length : 1);
}

int ts_text_characters(const char *text) {
    int count = 0;
    for (; *text; count++) {
        size_t bytes = ts_text_utf8_bytes(text);
        text += bytes ? bytes : 1;
    }
    return count;
}

const char *ts_text_cut(ts_arena *arena, const char *text, int most) {
    if (ts_text_characters(text) <= most) return text;
    ts_text out = ts_text_begin(arena);
    for (int i = 0; i < most - 2; i++) text = ts_text_add_character(&out, text);
    ts_text_add(&out, "..");
    return out.bytes;
}

const char *ts_text_one_line(ts_arena *arena, const char *name) {
    char *line = NULL;
    for (size_t i = 0; name[i]; i++) {
        if (!ts_is_control(name[i])) continue;
        if (!line) line = ts_arena_copy_text(arena, name, strlen(name));
        line[i] = '?';
    }
    return line ? line : name;
}

/* What no XML may hold: control characters but tab, line feed and carriage return. */
static bool is_control(char c) { return (unsigned char)c < ' ' && c != '\t' && c != '\n' && c != '\r'; }

void ts_text_add_escaped(ts_text *text, const char *content) {
    static const char *const escapes[] = {
        ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;", [127] = NULL};
    while (*content) {
        const char *escape = (unsigned char)*content < 128 ? escapes[(unsigned char)*content] : NULL;
        if (!escape && !is_control(*content)) {
            content = ts_text_add_character(text, content);
            continue;
        }
        ts_text_add(text, "%s", escape ? escape : "?");
        content++;
    }
}

const char *ts_text_escaped(ts_arena *arena, const char *content) {
    ts_text text = ts_text_begin(arena);
    ts_text_add_escaped(&text, content);
    return text.bytes;
}

void ts_text_clear(ts_text *text) {
    text->length = 0;
    text->bytes[0] = '\0';
}

/* Where a line of `length` bytes, indented by `indent`, ends if it is to have `columns`: at a space, the last
 * that is near enough, else the first. */
static size_t line_end(const char *line, size_t length, size_t indent, size_t columns) {
    size_t at = indent, end = length;
    while (at < length && line[at] != ' ') at++;
    for (; at < length && (at <= columns || end == length); at++)
        if (line[at] == ' ') end = at;
    return end;
}

/* Where it begins; of a line with a label, which has two spaces behind it, what it labels. */
static size_t beginning_of(const char *line, size_t length) {
    enum { LABEL = 16 };
    const size_t indent = strspn(line, " ");
    const char *blank = memchr(line, ' ', length < LABEL ? length : LABEL);
    if (indent > 0 || !blank) return indent;
    const size_t label = (size_t)(blank - line), text = label + strspn(blank, " ");
    return text >= label + 2 && text <= LABEL ? text : 0;
}

static void wrap_line(ts_text *out, const char *line, size_t length, size_t columns) {
    size_t indent = beginning_of(line, length), before = 0, skipped = indent;
    while (before + length > columns && indent + 4 < columns) {
        size_t end = line_end(line, length, skipped, columns - before), next = end + strspn(line + end, " ");
        if (next >= length) break;
        while (line[end - 1] == ' ') end--;
        ts_text_add_bytes(out, line, end);
        ts_text_add(out, "\n%*s", (int)indent + 4, "");
        line += next;
        length -= next;
        before = indent + 4;
        skipped = 0;
    }
    ts_text_add_bytes(out, line, length);
}

void ts_text_wrap(ts_text *text, size_t columns) {
    ts_text out = ts_text_begin(text->arena);
    for (size_t at = 0, length; at < text->length; at += length + 1) {
        length = strcspn(text->bytes + at, "\n");
        wrap_line(&out, text->bytes + at, length, columns);
        if (at + length < text->length) ts_text_add_char(&out, '\n');
    }
    *text = out;
}

void ts_text_add_choices(ts_text *text, const char *const *words, int count) {
    for (int i = 0; i < count; i++)
        ts_text_add(text, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", words[i]);
}

void ts_text_end_line(ts_text *text, size_t begin, const char *words) {
    enum { LEAST = 20 };
    size_t used = text->length - begin, length = strlen(words);
    size_t left = used + LEAST < TS_TEXT_COLUMNS ? TS_TEXT_COLUMNS - used : LEAST;
    if (length > left)
        for (length = left - strlen(" .."); length > 0 && words[length] != ' ';) length--;
    ts_text_add(text, "%.*s%s\n", (int)length, words, words[length] ? " .." : "");
}

enum { LONGEST_WORD = 64 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Optimal string alignment: insertions, deletions, substitutions, swaps of neighbours. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t rows[3][LONGEST_WORD + 1]; /* of the table, one per byte of `a`; the last three are kept */
    for (size_t j = 0; j <= b_length; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            now[j] = smaller(up[j - 1] + (a[i - 1] != b[j - 1]), 1 + smaller(up[j], now[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], up2[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

static size_t common_prefix(const char *a, const char *b) {
    size_t length = 0;
    while (a[length] && a[length] == b[length]) length++;
    return length;
}

int ts_text_order(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool ts_text_starts(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

bool ts_text_ends(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

const char *ts_text_nearest(const char *word, const char *const *names, size_t count, size_t stride_bytes) {
    enum { TOO_MANY = 3 }; /* equally near: then none is meant */
    size_t length = strlen(word), best = 2 + length / 4, prefix = 0, equals = 0;
    const char *nearest = NULL;
    if (length > LONGEST_WORD) return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name;
        memcpy(&name, (const char *)names + i * stride_bytes, sizeof name);
        size_t name_length = name ? strlen(name) : 0;
        if (name_length == 0 || name_length > LONGEST_WORD) continue;
        size_t d = distance(word, length, name, name_length), alike = common_prefix(word, name);
        if (d > best || (d == best && (!nearest || alike < prefix)) || (d >= length && d >= name_length))
            continue;
        equals = d == best && alike == prefix ? equals + 1 : 1;
        if (equals > 1) continue;
        best = d;
        prefix = alike;
        nearest = name;
    }
    return equals < TOO_MANY ? nearest : NULL;
}

static bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

void ts_cursor_skip_space(ts_cursor *cursor) {
    while (cursor->at < cursor->source->length && ts_is_space(cursor->source->text[cursor->at])) cursor->at++;
    cursor->token = cursor->at;
}

bool ts_cursor_at_end(ts_cursor *cursor) {
    ts_cursor_skip_space(cursor);
    return cursor->at == cursor->source->length;
}

int ts_cursor_peek(ts_cursor *cursor) {
    return ts_cursor_at_end(cursor) ? -1 : (unsigned char)cursor->source->text[cursor->at];
}

bool ts_cursor_take(ts_cursor *cursor, const char *text) {
    size_t length = strlen(text);
    ts_cursor_skip_space(cursor);
    if (cursor->source->length - cursor->at < length) return false;
    if (memcmp(cursor->source->text + cursor->at, text, length) != 0) return false;
    cursor->at += length;
    return true;
}

/* Where the name that begins at `at` ends; `at` when none does. */
static size_t name_end(const ts_source *source, size_t at) {
    if (at < source->length && !is_name_start(source->text[at])) return at;
    while (at < source->length && (is_name_start(source->text[at]) || ts_is_digit(source->text[at]))) at++;
    return at;
}

/* Where the digits that begin at `at`, behind a minus sign if there is one, end; `at` when there are none. */
static size_t integer_end(const ts_source *source, size_t at) {
    size_t digits = at < source->length && source->text[at] == '-' ? at + 1 : at, end = digits;
    while (end < source->length && ts_is_digit(source->text[end])) end++;
    return end > digits ? end : at;
}

bool ts_cursor_expect(ts_error *err, ts_cursor *cursor, const char *text) {
    if (ts_cursor_take(cursor, text)) return true;
    char what[64];
    snprintf(what, sizeof what, "'%s'", text);
    return ts_cursor_unexpected(err, cursor, what);
}

bool ts_cursor_name(ts_cursor *cursor, ts_span *name) {
    ts_cursor_skip_space(cursor);
    size_t end = name_end(cursor->source, cursor->at);
    if (end == cursor->at) return false;
    *name = (ts_span){cursor->source->text + cursor->at, end - cursor->at};
    cursor->at = end;
    return true;
}

/* The integer in `length` digits, behind a minus sign if there is one; false when it does not fit. */
static bool read_integer(const char *text, size_t length, int64_t *value) {
    bool negative = text[0] == '-';
    int64_t sum = 0;
    for (size_t i = negative; i < length; i++) {
        int64_t digit = text[i] - '0';
        if (__builtin_mul_overflow(sum, (int64_t)10, &sum)) return false;
        if (__builtin_add_overflow(sum, negative ? -digit : digit, &sum)) return false;
    }
    *value = sum;
    return true;
}

bool ts_cursor_integer(ts_error *err, ts_cursor *cursor, const char *what, int64_t *value) {
    ts_cursor_skip_space(cursor);
    const ts_source *source = cursor->source;
    size_t start = cursor->at, end = integer_end(source, start);
    if (end == start) return ts_cursor_unexpected(err, cursor, what);
    if (!read_integer(source->text + start, end - start, value)) {
        const int shown = ts_text_quoted(end - start);
        return ts_error_at(err, TS_ERROR_INPUT, source, start, "%.*s%s does not fit in 64 bits", shown,
                           source->text + start, end - start > TS_TEXT_QUOTED ? "..." : "");
    }
    cursor->at = end;
    return true;
}

bool ts_cursor_refuse(ts_error *err, const ts_cursor *cursor, const char *format, ...) {
    va_list args;
    va_start(args, format);
    ts_error_at_list(err, TS_ERROR_INPUT, cursor->source, cursor->token, format, args);
    va_end(args);
    return false;
}

bool ts_cursor_unexpected(ts_error *err, ts_cursor *cursor, const char *what) {
    ts_cursor_skip_space(cursor);
    const ts_source *source = cursor->source;
    size_t at = cursor->at, end = name_end(source, at);
    if (at == source->length)
        return ts_error_at(err, TS_ERROR_INPUT, source, at, "found the end, expected %s", what);
    unsigned char c = (unsigned char)source->text[at];
    if (c < ' ' || c >= 0x7f)
        return ts_error_at(err, TS_ERROR_INPUT, source, at, "found the byte 0x%02x, expected %s", c, what);
    if (end == at) end = integer_end(source, at);
    if (end == at) end++;
    const int shown = ts_text_quoted(end - at);
    return ts_error_at(err, TS_ERROR_INPUT, source, at, "found '%.*s%s', expected %s", shown,
                       source->text + at, end - at > TS_TEXT_QUOTED ? "..." : "", what);
}

bool ts_text_to_int(ts_error *err, const char *what, const char *text, int64_t *value) {
    const ts_source source = {what, text, strlen(text)};
    size_t end = integer_end(&source, 0);
    if (source.length == 0)
        return ts_error_at(err, TS_ERROR_USAGE, &source, 0, "found nothing, expected an integer");
    if (end != source.length)
        return ts_error_at(err, TS_ERROR_USAGE, &source, end, "found '%.*s%s', expected an integer",
                           TS_TEXT_QUOTED, text, source.length > TS_TEXT_QUOTED ? "..." : "");
    if (!read_integer(text, end, value))
        return ts_error_at(err, TS_ERROR_USAGE, &source, 0, "%.*s%s does not fit in 64 bits", TS_TEXT_QUOTED,
                           text, end > TS_TEXT_QUOTED ? "..." : "");
    return true;
}

char *ts_text_group_digits(char out[32], int64_t value) {
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char reversed[32];
    size_t length = 0, at = 0;
    do {
        if (length % 4 == 3) reversed[length++] = ',';
        reversed[length++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0) out[at++] = '-';
    while (length) out[at++] = reversed[--length];
    out[at] = '\0';
    return out;
}

const char *ts_text_grouped(ts_arena *arena, int64_t value) {
    return ts_text_group_digits(ts_arena_alloc(arena, 32, 1), value);
}

const char *ts_text_counted(ts_arena *arena, int64_t count, const char *noun) {
    static const char *const hissing[] = {"s", "x", "ch", "sh"};
    const char *ending = "s";
    for (size_t i = 0; i < sizeof hissing / sizeof hissing[0]; i++)
        if (ts_text_ends(noun, hissing[i])) ending = "es";
    char digits[32];
    return ts_text_format(arena, "%s %s%s", ts_text_group_digits(digits, count), noun,
                          count == 1 ? "" : ending);
}
