/* One end of a transfer as text: a shape, and the slice of it that moves. */
#include <string.h>

#include "study/transfer.h"

/* Where the slice begins: the last [..], or [.. that does not end, that is no part of the shape. That of a
 * type or of an Axe layout follows a name without a space, that of an index map a colon. */
static size_t find_slice(const ts_source *text) {
    size_t end = text->length, open;
    while (end > 0 && strchr(" \t\r\n", text->text[end - 1])) end--;
    if (end == 0) return text->length;
    for (open = end - 1; open > 0 && text->text[open] != '['; open--)
        if (text->text[open] == ']' && open + 1 < end) return text->length;
    size_t before = open;
    while (before > 0 && strchr(" \t\r\n", text->text[before - 1])) before--;
    if (before == 0 || text->text[before - 1] == ':') return text->length;
    bool closes = strchr("})]", text->text[before - 1]) != NULL;
    return closes || before < open ? open : text->length;
}

typedef struct {
    int64_t begin, end;
} range;

static bool bad_range(ts_error *err, const ts_source *source, size_t at, int dim, int64_t extent, range r) {
    if (r.begin < r.end && r.begin == r.end - 1)
        return ts_error_at(err, TS_ERROR_INPUT, source, at, "index %lld is outside dim %d, which has %lld",
                           (long long)r.begin, dim, (long long)extent);
    return ts_error_at(err, TS_ERROR_INPUT, source, at,
                       "the slice %lld:%lld is outside dim %d, which has %lld", (long long)r.begin,
                       (long long)r.end, dim, (long long)extent);
}

static bool parse_range(ts_error *err, ts_cursor *cursor, int dim, int64_t extent, int64_t *begin,
                        int64_t *size) {
    int64_t end = extent;
    ts_cursor_skip_space(cursor);
    size_t at = cursor->at;
    bool open = ts_cursor_take(cursor, ":");
    *begin = 0;
    if (!open && !ts_cursor_integer(err, cursor, "an index or a range", begin)) return false;
    bool ranged = open || ts_cursor_take(cursor, ":");
    int next = ts_cursor_peek(cursor);
    bool counted = ranged && ts_cursor_take(cursor, "+");
    if (!ranged) {
        if (__builtin_add_overflow(*begin, 1, &end)) end = INT64_MAX;
    } else if (next != ',' && next != ']' && !ts_cursor_integer(err, cursor, "the end of a range", &end)) {
        return false;
    }
    if (counted && __builtin_add_overflow(*begin, end, &end)) end = INT64_MAX;
    if (*begin < 0 || *begin > extent || end > extent || end < 0)
        return bad_range(err, cursor->source, at, dim, extent, (range){*begin, end});
    *size = end - *begin;
    return *size > 0 || extent == 0 ||
           ts_error_at(err, TS_ERROR_INPUT, cursor->source, at, "the slice holds nothing");
}

bool ts_transfer_slice_parse(ts_error *err, ts_cursor *cursor, const ts_layout *layout, int64_t *begin,
                             int64_t *sizes) {
    for (int i = 0; i < layout->rank; i++) {
        begin[i] = 0;
        sizes[i] = layout->dims[i];
    }
    for (int i = 0; i == 0 || ts_cursor_peek(cursor) == ','; i++) {
        ts_cursor_take(cursor, i == 0 ? "[" : ",");
        ts_cursor_skip_space(cursor);
        if (i == layout->rank)
            return ts_error_at(err, TS_ERROR_INPUT, cursor->source, cursor->at,
                               "the slice has more ranges than the %d dim%s of the shape", layout->rank,
                               layout->rank == 1 ? "" : "s");
        if (!parse_range(err, cursor, i, layout->dims[i], &begin[i], &sizes[i])) return false;
    }
    return ts_cursor_take(cursor, "]") || ts_cursor_unexpected(err, cursor, "',' or ']'");
}

static bool parse_slice(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_transfer_end *end) {
    const ts_layout *layout = ts_shape_layout(err, end->shape, cursor->source->name);
    if (!layout) return false;
    int64_t *begin = TS_NEW_ARRAY(arena, int64_t, layout->rank + 1);
    int64_t *sizes = TS_NEW_ARRAY(arena, int64_t, layout->rank + 1);
    end->begin = begin;
    end->sizes = sizes;
    return ts_transfer_slice_parse(err, cursor, layout, begin, sizes);
}

bool ts_transfer_end_parse(ts_error *err, ts_arena *arena, const ts_source *text, ts_transfer_end *end) {
    ts_source shape = *text;
    ts_source *kept = TS_NEW(arena, ts_source);
    *kept = *text;
    shape.length = find_slice(text);
    *end = (ts_transfer_end){.text = kept, .at = TS_TRANSFER_ANYWHERE};
    end->shape = ts_shape_parse(err, arena, &shape);
    if (!end->shape) return false;
    ts_cursor cursor = {text, shape.length, shape.length};
    return shape.length == text->length || parse_slice(err, arena, &cursor, end);
}

bool ts_transfer_pair_split(ts_error *err, ts_arena *arena, const char *what, const char *text,
                            ts_source ends[2]) {
    const char *arrow = strstr(text, "->");
    if (!arrow) return ts_error_set(err, TS_ERROR_USAGE, "%s is '%s', expected 'SRC -> DST'", what, text);
    const char *to = arrow + 2 + strspn(arrow + 2, " "), *end = arrow;
    while (end > text && end[-1] == ' ') end--;
    const char *from = ts_arena_copy_text(arena, text, (size_t)(end - text));
    ends[0] = (ts_source){ts_text_format(arena, "source of %s", what), from, strlen(from)};
    ends[1] = (ts_source){ts_text_format(arena, "destination of %s", what), to, strlen(to)};
    return true;
}

bool ts_transfer_pair_parse(ts_error *err, ts_arena *arena, const char *what, const char *text,
                            ts_transfer_end ends[2]) {
    ts_source texts[2];
    return ts_transfer_pair_split(err, arena, what, text, texts) &&
           ts_transfer_end_parse(err, arena, &texts[0], &ends[0]) &&
           ts_transfer_end_parse(err, arena, &texts[1], &ends[1]);
}

const char *ts_transfer_end_text(ts_arena *arena, const ts_transfer_end *end) {
    ts_text out = ts_text_begin(arena);
    ts_shape_print(end->shape, &out);
    if (!end->sizes) return out.bytes;
    bool closed = out.length > 0 && strchr("})]", out.bytes[out.length - 1]);
    ts_text_add(&out, closed ? "[" : " [");
    for (int i = 0; i < end->shape->layout->rank; i++) {
        int64_t last = end->begin[i] + end->sizes[i];
        ts_text_add(&out, i ? "," : "");
        if (end->sizes[i] == end->shape->layout->dims[i])
            ts_text_add(&out, ":");
        else if (end->sizes[i] == 1)
            ts_text_add(&out, "%lld", (long long)end->begin[i]);
        else
            ts_text_add(&out, "%lld:%lld", (long long)end->begin[i], (long long)last);
    }
    ts_text_add(&out, "]");
    return out.bytes;
}

bool ts_transfer_end_error(ts_error *err, const ts_transfer_end *end, size_t offset) {
    if (!err || err->line > 0 || !end->text) return false;
    ts_error bare = *err;
    ts_error_clear(err);
    return ts_error_at(err, bare.kind, end->text, offset, "%s", bare.message);
}
