/* Errors: filling them in, and the text a user sees. */
#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* By ts_error_kind. */
static const struct {
    const char *label;
    int exit_code;
} kinds[] = {
    [TS_ERROR_NONE] = {"no error", 0},   [TS_ERROR_INPUT] = {"error", 1},
    [TS_ERROR_IO] = {"error", 1},        [TS_ERROR_USAGE] = {"error", 2},
    [TS_ERROR_FAULT] = {"fault", 3},     [TS_ERROR_UNMODELLED] = {"not modelled", 4},
    [TS_ERROR_WARNING] = {"warning", 0}, [TS_ERROR_NOTE] = {"note", 0},
    [TS_ERROR_CAPACITY] = {"error", 1},
};

static bool continues_utf8(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* Copies text that may be cut, at the start of a UTF-8 character and with "..." at the end. */
static void copy_cut(char *out, size_t bytes, const char *text) {
    size_t length = strlen(text);
    if (length >= bytes) {
        size_t cut = bytes - 4;
        while (cut > 0 && continues_utf8(text[cut])) cut--;
        memcpy(out, text, cut);
        memcpy(out + cut, "...", 4);
    } else {
        memcpy(out, text, length + 1);
    }
}

static void hide_controls(char *text) {
    for (; *text; text++)
        if (ts_is_control(*text)) *text = '?';
}

__attribute__((format(printf, 3, 0))) static void set_message(ts_error *err, ts_error_kind kind,
                                                              const char *format, va_list args) {
    assert(kind != TS_ERROR_NONE);
    char message[TS_ERROR_TEXT_BYTES * 2];
    *err = (ts_error){.kind = kind, .cycle = -1};
    vsnprintf(message, sizeof message, format, args);
    hide_controls(message);
    copy_cut(err->message, sizeof err->message, message);
}

bool ts_error_set(ts_error *err, ts_error_kind kind, const char *format, ...) {
    if (!err || err->kind != TS_ERROR_NONE) return false;
    va_list args;
    va_start(args, format);
    set_message(err, kind, format, args);
    va_end(args);
    return false;
}

bool ts_error_need(ts_error *err, const char *what, const char *text) {
    return text || ts_error_set(err, TS_ERROR_USAGE, "%s is NULL, expected a text", what);
}

/* The part of the line [start, end) around `at` that fits, with "..." where it is cut. */
static void set_excerpt(ts_error *err, const char *text, size_t start, size_t end, size_t at) {
    enum { ROOM = TS_ERROR_LINE_BYTES - 1 - 6, BEFORE = 60 };
    size_t from = start, to = end;
    if (end - start > ROOM) {
        from = at - start > BEFORE ? at - BEFORE : start;
        if (end - from < ROOM) from = end - ROOM;
        to = from + ROOM;
        while (from < at && continues_utf8(text[from])) from++;
        while (to < end && to > at && continues_utf8(text[to])) to--;
    }
    char *out = err->excerpt;
    if (from > start) out = (char *)memcpy(out, "...", 3) + 3;
    err->caret = (int)(out - err->excerpt) + (int)(at - from);
    for (size_t i = from; i < to; i++)
        *out++ = text[i] == '\t' ? ' ' : ts_is_control(text[i]) ? '?' : text[i];
    if (to < end) out = (char *)memcpy(out, "...", 3) + 3;
    *out = '\0';
}

/* The end of the line that begins at `start`: its newline (or the CR before that), or the end. */
static size_t line_end(const ts_source *source, size_t start) {
    if (start >= source->length) return start;
    const char *newline = memchr(source->text + start, '\n', source->length - start);
    size_t end = newline ? (size_t)(newline - source->text) : source->length;
    return end > start && source->text[end - 1] == '\r' ? end - 1 : end;
}

static void set_location(ts_error *err, const ts_source *source, int line, size_t start, size_t at) {
    size_t end = line_end(source, start);
    copy_cut(err->name, sizeof err->name, source->name ? source->name : "");
    err->line = line;
    err->column = (int)(at - start) + 1;
    set_excerpt(err, source->text, start, end, at > end ? end : at);
}

bool ts_error_at_list(ts_error *err, ts_error_kind kind, const ts_source *source, size_t offset,
                      const char *format, va_list args) {
    if (!err || err->kind != TS_ERROR_NONE) return false;
    set_message(err, kind, format, args);
    size_t at = offset < source->length ? offset : source->length, start = 0;
    int line = 1;
    for (size_t i = 0; i < at; i++) {
        if (source->text[i] != '\n') continue;
        line++;
        start = i + 1;
    }
    set_location(err, source, line, start, at);
    return false;
}

bool ts_error_at(ts_error *err, ts_error_kind kind, const ts_source *source, size_t offset,
                 const char *format, ...) {
    va_list args;
    va_start(args, format);
    ts_error_at_list(err, kind, source, offset, format, args);
    va_end(args);
    return false;
}

bool ts_error_mark(ts_error *err, ts_error_kind kind, const ts_source *source, int line, int column,
                   const char *message) {
    assert(line >= 1 && column >= 1);
    if (!err || err->kind != TS_ERROR_NONE) return false;
    ts_error_set(err, kind, "%s", message);
    size_t start = 0;
    int reached = 1;
    for (size_t i = 0; i < source->length && reached < line; i++) {
        if (source->text[i] != '\n') continue;
        reached++;
        start = i + 1;
    }
    size_t length = line_end(source, start) - start, before = (size_t)column - 1;
    set_location(err, source, reached, start, start + (before < length ? before : length));
    return false;
}

bool ts_error_hint(ts_error *err, const char *nearest) {
    if (!err || !nearest) return false;
    char message[TS_ERROR_TEXT_BYTES * 2];
    snprintf(message, sizeof message, "%s; did you mean '%s'?", err->message, nearest);
    copy_cut(err->message, sizeof err->message, message);
    return false;
}

bool ts_error_whose(ts_error *err, const char *what, int64_t number) {
    if (!err) return false;
    char message[TS_ERROR_TEXT_BYTES * 2];
    snprintf(message, sizeof message, "%s %lld: %s", what, (long long)number, err->message);
    copy_cut(err->message, sizeof err->message, message);
    return false;
}

/* Where the error is, as "name:line:column"; empty when it has no location. */
static void format_location(const ts_error *err, char *out, size_t bytes) {
    out[0] = '\0';
    if (err->line) snprintf(out, bytes, "%s:%d:%d", err->name, err->line, err->column);
    hide_controls(out);
}

bool ts_error_where(ts_error *err) {
    if (!err || !err->line) return false;
    char location[TS_ERROR_NAME_BYTES + 32], message[TS_ERROR_TEXT_BYTES * 2];
    format_location(err, location, sizeof location);
    snprintf(message, sizeof message, "%s, at %s", err->message, location);
    copy_cut(err->message, sizeof err->message, message);
    return false;
}

bool ts_error_within(ts_error *err, const ts_error *found, const char *what) {
    return ts_error_set(err, found->kind, "%s: %s", what, found->message);
}

bool ts_error_keep_system(ts_error *err, const ts_error *found) {
    if (found->kind != TS_ERROR_IO) return false;
    if (err && err->kind == TS_ERROR_NONE) *err = *found;
    return true;
}

void ts_error_clear(ts_error *err) { *err = (ts_error){.kind = TS_ERROR_NONE, .cycle = -1}; }

size_t ts_error_format(const ts_error *err, char *out, size_t bytes) {
    char location[TS_ERROR_NAME_BYTES + 32], cycle[40] = "", caret[TS_ERROR_LINE_BYTES + 4] = "";
    format_location(err, location, sizeof location);
    if ((err->kind == TS_ERROR_FAULT || err->kind == TS_ERROR_WARNING) && err->cycle >= 0)
        snprintf(cycle, sizeof cycle, " at cycle %lld", (long long)err->cycle);
    size_t width = 0;
    for (int i = 0; i < err->caret; i++)
        if (!continues_utf8(err->excerpt[i])) caret[width++] = ' ';
    if (err->line) memcpy(caret + width, "^\n", 3);
    int needed =
        snprintf(out, bytes, "%s%s%s%s: %s\n%s%s%s", location, err->line ? ": " : "", kinds[err->kind].label,
                 cycle, err->message, err->excerpt, err->line ? "\n" : "", caret);
    assert(needed >= 0);
    return (size_t)needed;
}

int ts_error_exit_code(const ts_error *err) { return kinds[err->kind].exit_code; }
