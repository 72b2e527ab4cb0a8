/* HLO text: what logs write before each line, such as times, levels, processes and places in a source, and
 * what terminals, web pages and strings of programs put between words. */
#include <stdlib.h>
#include <string.h>

#include "hlo_reader_private.h"

enum { LONGEST_BRACKET = 80, MOST_FIELDS = 12 };

static bool is_blank_or_end(const char *at, const char *end) { return at >= end || hlo_is_space(*at); }

/* ---- Fields: each ends where its function says; NULL: it is none ---- */

/* "09:05:40.7", "03:59:34,123]", "03:59:34.1Z", "03:59:34+01:00" */
static const char *read_time(const char *at, const char *end) {
    for (int part = 0; part < 3; part++) {
        const char *digits = at + (part == 0 && at < end && *at == '['),
                   *behind = hlo_skip_digits(digits, end);
        if (behind == digits || (part < 2 && (behind == end || *behind != ':'))) return NULL;
        at = behind + (part < 2);
    }
    if (end - at > 1 && (*at == '.' || *at == ',') && ts_is_digit(at[1])) at = hlo_skip_digits(at + 1, end);
    if (end - at > 1 && (*at == '+' || *at == '-') && ts_is_digit(at[1]))
        for (at++; at < end && (ts_is_digit(*at) || *at == ':');) at++;
    if (at < end && *at == 'Z') at++;
    return at + (at < end && *at == ']');
}

/* "2020-05-04", "2020/05/04", "06-03", with "T" where a time follows so */
static const char *read_date(const char *at, const char *end) {
    at += at < end && *at == '[';
    const char *digits = at;
    int parts = 0;
    for (; (at = hlo_skip_digits(at, end)) > digits; digits = at) {
        parts++;
        if (at == end || (*at != '-' && *at != '/')) break;
        at++;
    }
    if (parts < 2 || at == end || !ts_is_digit(at[-1])) return NULL;
    return end - at > 1 && *at == 'T' && ts_is_digit(at[1]) ? at + 1 : at;
}

/* Of a level, or of what pytest writes. */
static bool begins_level(char c) {
    return c == 'C' || c == 'D' || c == 'E' || c == 'F' || c == 'I' || c == 'W';
}

static const char *read_level(const char *at, const char *end) {
    static const char *const levels[] = {"INFO", "WARNING", "WARN", "ERROR", "DEBUG", "FATAL", "CRITICAL"};
    if (at == end || !begins_level(*at)) return NULL;
    const char *behind = hlo_skip(at, end, HLO_NAME);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (ts_span_is((ts_span){at, (size_t)(behind - at)}, levels[i])) return behind;
    return NULL;
}

/* "ERROR:root" before ":" */
static const char *read_logger(const char *at, const char *end) {
    const char *level = read_level(at, end), *name = level ? level + 1 : NULL;
    if (!level || level == end || *level != ':') return NULL;
    const char *behind = hlo_skip(name, end, HLO_NAME);
    return behind > name && behind < end && *behind == ':' ? behind : NULL;
}

/* "jax - " before a level */
static const char *read_named(const char *at, const char *end) {
    const char *behind = hlo_skip(at, end, HLO_NAME);
    if (behind == at || end - behind < 3 || memcmp(behind, " - ", 3) != 0) return NULL;
    return read_level(behind + 3, end) ? behind + 2 : NULL;
}

/* "I0320", "E" */
static const char *read_letter(const char *at, const char *end) {
    return at < end && memchr("IWEFD", *at, 5) ? hlo_skip_digits(at + 1, end) : NULL;
}

static const char *read_number(const char *at, const char *end) {
    const char *behind = hlo_skip_digits(at, end);
    return behind > at ? behind : NULL;
}

static const char *close_of(const char *at, const char *end, char open, char close) {
    if (at >= end || *at != open) return NULL;
    size_t length = (size_t)(end - at);
    const char *found = memchr(at, close, length < LONGEST_BRACKET ? length : LONGEST_BRACKET);
    return found && !memchr(at, '"', (size_t)(found - at)) ? found + 1 : NULL;
}

/* "(EngineCore pid=106339)", "(raylet, ip=10.0.0.5)" */
static const char *read_process(const char *at, const char *end) {
    const char *behind = close_of(at, end, '(', ')');
    size_t length = behind ? (size_t)(behind - at) : 0;
    return length > 0 && (memmem(at, length, "pid=", 4) || memmem(at, length, "ip=", 3)) ? behind : NULL;
}

/* "[rank0]", "[0]" before ":" */
static const char *read_rank(const char *at, const char *end) {
    const char *behind = close_of(at, end, '[', ']');
    if (!behind || behind == end || *behind != ':' || !ts_is_digit(behind[-2])) return NULL;
    return hlo_skip(at + 1, end, HLO_NAME) == behind - 1 ? behind : NULL;
}

/* "[ERROR]", "[MainThread]" */
static const char *read_bracket(const char *at, const char *end) {
    const char *behind = close_of(at, end, '[', ']');
    return behind && hlo_skip(at + 1, end, HLO_NAME) == behind - 1 && !ts_is_digit(at[1]) ? behind : NULL;
}

/* "compiler.cc:2163]", "[core.py:1184]" */
static const char *read_place(const char *at, const char *end) {
    const char *behind = at, *digits;
    while (behind < end && *behind != ']' && *behind != '"' && !hlo_is_space(*behind)) behind++;
    if (behind == end || *behind != ']') return NULL;
    for (digits = behind; digits > at && ts_is_digit(digits[-1]);) digits--;
    bool named = digits - at > 1 && digits[-1] == ':' && !ts_is_digit(digits[-2]);
    return named && digits < behind ? behind + 1 : NULL;
}

/* "stderr F" */
static const char *read_stream(const char *at, const char *end) {
    bool begins = hlo_begins(at, end, "stderr ") || hlo_begins(at, end, "stdout ");
    return begins && end - at > 7 && (at[7] == 'F' || at[7] == 'P') ? at + 8 : NULL;
}

/* "worker-1  |" */
static const char *read_service(const char *at, const char *end) {
    const char *name = hlo_skip(at, end, HLO_NAME);
    if (name == at || name == end || !hlo_is_space(*name)) return NULL;
    const char *bar = hlo_skip(name, end, HLO_SPACE);
    return bar < end && *bar == '|' ? bar + 1 : NULL;
}

/* ---- Stamps ---- */

/* When a line behind a field may be one: behind it alone a field is as likely to be the line itself. */
typedef enum { NEVER, LATER /* not behind it alone */, ALWAYS } field_closes;

static const struct {
    const char *(*read)(const char *at, const char *end);
    bool begins; /* a stamp may begin with it */
    bool glued;  /* the next field or the line may follow without a blank */
    field_closes closes;
} fields[] = {
    {read_time, true, false, ALWAYS},     {read_date, true, true, NEVER},
    {read_process, true, false, ALWAYS},  {read_rank, true, true, ALWAYS},
    {read_logger, true, true, ALWAYS},    {read_named, false, false, ALWAYS},
    {read_level, true, false, LATER},     {read_letter, true, false, NEVER},
    {read_service, true, false, ALWAYS},  {read_place, false, true, ALWAYS},
    {read_bracket, false, false, ALWAYS}, {read_stream, false, false, ALWAYS},
    {read_number, false, false, NEVER},
};

/* Behind the field and the sign that follows it. */
static const char *read_field(const char *at, const char *end, bool first, bool *closes) {
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const char *behind = first && !fields[i].begins ? NULL : fields[i].read(at, end);
        if (behind && behind < end && *behind == ':') behind++;
        if (!behind || (!fields[i].glued && !is_blank_or_end(behind, end))) continue;
        *closes = fields[i].closes == ALWAYS || (fields[i].closes == LATER && !first);
        const char *sign = hlo_skip(behind, end, HLO_SPACE);
        return sign < end && *sign == '-' && is_blank_or_end(sign + 1, end) ? sign + 1 : behind;
    }
    return NULL;
}

bool hlo_may_begin_stamp(const char *at, const char *end) {
    if (at == end || *at == '%' || *at == '}') return false;
    return !hlo_is_name(*at) || ts_is_digit(*at) || begins_level(*at) || read_service(at, end);
}

const char *hlo_skip_stamp(const char *line, const char *end) {
    const char *at = line, *behind = line;
    if (!hlo_may_begin_stamp(line, end)) return line;
    if (hlo_begins(line, end, "E   ")) return line + 4; /* pytest's, of each line of an error .. */
    if (hlo_begins(line, end, "E") && hlo_skip(line + 1, end, HLO_SPACE) == end)
        return end; /* .. which may be empty */
    for (int i = 0; i < MOST_FIELDS && at < end; i++) {
        bool closes;
        at = read_field(at, end, i == 0, &closes);
        if (!at) break;
        if (closes) behind = at;
        at = hlo_skip(at, end, HLO_SPACE);
    }
    return behind;
}

/* ---- Blanks ---- */

static const char escape = '\x1b', no_break[] = "\xc2\xa0";

bool hlo_has_marks(const char *at, size_t length) {
    return memchr(at, '\t', length) || memchr(at, escape, length) || memchr(at, *no_break, length);
}

/* Behind "ESC [ numbers letter". */
static const char *skip_escape(const char *at, const char *end) {
    if (++at == end || *at != '[') return at;
    for (at++; at < end && (ts_is_digit(*at) || *at == ';');) at++;
    return at < end ? at + 1 : at;
}

void hlo_add_plain(ts_text *out, const char *at, const char *end) {
    while (at < end) {
        bool wide = hlo_begins(at, end, no_break);
        if (*at == escape)
            at = skip_escape(at, end);
        else
            ts_text_add_char(out, wide || *at == '\t' ? ' ' : *at), at += 1 + wide;
    }
}

/* ---- Line breaks that are written as "\n" ---- */

static bool is_string(const char *at, const char *end) { return at < end && memchr("\"{[", *at, 3); }

bool hlo_has_escapes(const char *at, const char *end) {
    bool string = is_string(at, end);
    if (!memchr(at, '\\', (size_t)(end - at))) return false; /* as of most lines */
    while (at < end) {
        if (*at == '"' && !string) {
            at = hlo_quote_end(at, end);
            continue;
        }
        if (*at == '\\' && end - at > 1 && at[1] == 'n') return true;
        at += *at == '\\' ? 2 : 1;
    }
    return false;
}

/* Where the text begins: behind the last quote before its first line ends, as of {"message": "..}. */
static const char *string_begin(const char *at, const char *end) {
    const char *begin = at;
    if (at < end && *at == '\'') return at + 1;
    if (!is_string(at, end)) return at;
    for (; at < end && !(*at == '\\' && end - at > 1 && at[1] == 'n'); at += *at == '\\' ? 2 : 1)
        if (*at == '"') begin = at + 1;
    return begin;
}

/* A character of at most 16 bits, in UTF-8. */
static void add_character(ts_text *out, unsigned long code) {
    if (code >= 0x800) ts_text_add_char(out, (char)(0xe0 | code >> 12));
    if (code >= 0x80)
        ts_text_add_char(out, (char)(code >= 0x800 ? 0x80 | (code >> 6 & 0x3f) : 0xc0 | code >> 6));
    ts_text_add_char(out, (char)(code >= 0x80 ? 0x80 | (code & 0x3f) : code));
}

/* What is behind a backslash; returns behind it. */
static const char *add_escape(ts_text *out, const char *at, const char *end) {
    char digits[5] = "", *behind;
    if (*at == 'u' && end - at > 4) memcpy(digits, at + 1, 4);
    unsigned long code = strtoul(digits, &behind, 16);
    if (behind == digits + 4) return add_character(out, code), at + 5;
    ts_text_add_char(out, *at == 'n' ? '\n' : *at == 't' ? ' ' : *at);
    return at + 1;
}

void hlo_add_unescaped(ts_text *out, const char *at, const char *end) {
    for (at = string_begin(at, end); at < end;)
        if (*at == '\\' && end - at > 1)
            at = add_escape(out, at + 1, end);
        else
            ts_text_add_char(out, *at++);
}
