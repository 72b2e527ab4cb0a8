/* The arguments of operations on layouts. */
#include "layout_args.h"

#include <string.h>

bool ts_layout_args_read(ts_error *err, ts_arena *arena, const char *text, ts_layout_args *args) {
    *args = (ts_layout_args){0};
    while (text && *text) {
        size_t length = strcspn(text, ";"), key = strcspn(text, "=");
        if (key >= length)
            return ts_error_set(err, TS_ERROR_INPUT, "argument '%.40s', expected key=value", text);
        if (args->count == TS_LAYOUT_ARGS_MAX) return ts_error_set(err, TS_ERROR_INPUT, "too many arguments");
        args->keys[args->count] = ts_arena_copy_text(arena, text, key);
        args->values[args->count++] = ts_arena_copy_text(arena, text + key + 1, length - key - 1);
        text += length + (text[length] == ';');
    }
    return true;
}

const char *ts_layout_args_find(const ts_layout_args *args, const char *key) {
    for (int i = 0; i < args->count; i++)
        if (strcmp(args->keys[i], key) == 0) return args->values[i];
    return NULL;
}

static bool find(ts_error *err, const ts_layout_args *args, const char *key, ts_source *source,
                 ts_cursor *cursor) {
    const char *text = ts_layout_args_find(args, key);
    if (!text) return ts_error_set(err, TS_ERROR_INPUT, "missing argument %s", key);
    *source = (ts_source){key, text, strlen(text)};
    *cursor = (ts_cursor){.source = source};
    return true;
}

static bool at_end(ts_error *err, ts_cursor *cursor) {
    return ts_cursor_at_end(cursor) || ts_cursor_unexpected(err, cursor, "',' or the end");
}

bool ts_layout_args_int(ts_error *err, const ts_layout_args *args, const char *key, int64_t *value) {
    ts_source source;
    ts_cursor cursor;
    return find(err, args, key, &source, &cursor) && ts_cursor_integer(err, &cursor, "a number", value) &&
           at_end(err, &cursor);
}

/* Numbers up to the end or a '|'; room for one a byte. */
static bool read_ints(ts_error *err, ts_arena *arena, ts_cursor *cursor, int *count, int64_t **values) {
    *values = TS_NEW_ARRAY(arena, int64_t, cursor->source->length + 1);
    *count = 0;
    if (ts_cursor_at_end(cursor) || ts_cursor_peek(cursor) == '|') return true;
    do {
        if (!ts_cursor_integer(err, cursor, "a number", &(*values)[(*count)++])) return false;
    } while (ts_cursor_take(cursor, ","));
    return true;
}

bool ts_layout_args_ints(ts_error *err, ts_arena *arena, const ts_layout_args *args, const char *key,
                         int *count, int64_t **values) {
    ts_source source;
    ts_cursor cursor;
    return find(err, args, key, &source, &cursor) && read_ints(err, arena, &cursor, count, values) &&
           at_end(err, &cursor);
}

bool ts_layout_args_lists(ts_error *err, ts_arena *arena, const ts_layout_args *args, const char *key,
                          int *count, int **counts, const int64_t ***lists) {
    ts_source source;
    ts_cursor cursor;
    if (!find(err, args, key, &source, &cursor)) return false;
    *counts = TS_NEW_ARRAY(arena, int, source.length + 1);
    *lists = TS_NEW_ARRAY(arena, const int64_t *, source.length + 1);
    *count = 0;
    do {
        int64_t *values;
        if (!read_ints(err, arena, &cursor, &(*counts)[*count], &values)) return false;
        (*lists)[(*count)++] = values;
    } while (ts_cursor_take(&cursor, "|"));
    return at_end(err, &cursor);
}

bool ts_layout_args_ranges(ts_error *err, ts_arena *arena, const ts_layout_args *args, const char *key,
                           int *count, int64_t **begin, int64_t **end) {
    ts_source source;
    ts_cursor cursor;
    if (!find(err, args, key, &source, &cursor)) return false;
    *begin = TS_NEW_ARRAY(arena, int64_t, source.length + 1);
    *end = TS_NEW_ARRAY(arena, int64_t, source.length + 1);
    *count = 0;
    do {
        if (!ts_cursor_integer(err, &cursor, "a number", &(*begin)[*count]) ||
            !ts_cursor_expect(err, &cursor, ":") ||
            !ts_cursor_integer(err, &cursor, "a number", &(*end)[(*count)++]))
            return false;
    } while (ts_cursor_take(&cursor, ","));
    return at_end(err, &cursor);
}
