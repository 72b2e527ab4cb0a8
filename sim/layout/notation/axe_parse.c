/* Axe layouts: their texts, TVM's S[..] + R[..] + O and the paper's matrices. */
#include <inttypes.h>

#include "axe_private.h"
#include "base/number.h"

typedef struct {
    ts_error *err;
    ts_arena *arena;
    ts_cursor *cursor;
    ts_axe_list shards, replicas;
    ts_axe_offset *offsets;
    int offset_count;
    bool shards_seen, replicas_seen; /* S[] or ( ); R[] */
    bool script;                     /* as TVM's scripts print it: T.S[..] + T.R[..] + (offsets) */
} parser;

static const char extent_text[] = "an extent of at least 1";
static const char stride_text[] = "a stride: a number, a number@axis or an axis";

static bool refuse_at(parser *p, size_t at, const char *message) {
    return ts_error_at(p->err, TS_ERROR_INPUT, p->cursor->source, at, "%s", message);
}

static bool unexpected(parser *p, const char *what) { return ts_cursor_unexpected(p->err, p->cursor, what); }

static bool axis_name(parser *p, const char **axis) {
    const char *quote = ts_cursor_take(p->cursor, "\"") ? "\"" : ts_cursor_take(p->cursor, "'") ? "'" : NULL;
    ts_span name;
    bool found = ts_cursor_name(p->cursor, &name);
    if (found && ts_span_is(name, "Axis") && ts_cursor_take(p->cursor, "."))
        found = ts_cursor_name(p->cursor, &name);
    if (!found) return unexpected(p, "the name of an axis");
    *axis = ts_span_is(name, "m") ? "m" : ts_arena_copy_text(p->arena, name.text, name.length);
    return !quote || ts_cursor_expect(p->err, p->cursor, quote);
}

static bool begins_integer(int c) { return c == '-' || ts_is_digit(c); }

static bool begins_axis(int c) {
    return c == '"' || c == '\'' || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool stride(parser *p, int64_t *value, const char **axis) {
    int c = ts_cursor_peek(p->cursor);
    *value = 1;
    *axis = "m";
    if (begins_axis(c)) return axis_name(p, axis);
    if (!begins_integer(c)) return unexpected(p, stride_text);
    if (!ts_cursor_integer(p->err, p->cursor, stride_text, value)) return false;
    return !ts_cursor_take(p->cursor, "@") || axis_name(p, axis);
}

static bool extent(parser *p, int64_t *value) {
    if (!ts_cursor_integer(p->err, p->cursor, extent_text, value)) return false;
    return *value >= 1 ||
           ts_cursor_refuse(p->err, p->cursor, "found %" PRId64 ", expected %s", *value, extent_text);
}

static bool add_extent(parser *p, ts_axe_list *list) {
    int64_t value;
    if (!extent(p, &value)) return false;
    ts_axe_list_add(list, (ts_axe_iter){value, 0, "m"});
    return p->shards.count + p->replicas.count <= TS_LAYOUT_MAX_DIMS ||
           refuse_at(p, p->cursor->token, "the layout has more than 128 iters");
}

/* From iter `first` on, row-major on m. */
static bool default_strides(parser *p, ts_axe_list *list, int first, size_t start) {
    int64_t step = 1;
    for (int i = list->count - 1; i >= first; i--) {
        list->items[i].stride = step;
        if (!ts_mul(step, list->items[i].extent, &step))
            return refuse_at(p, start, "the product of the extents does not fit in 64 bits");
    }
    return true;
}

/* "(8, 4)" or "8, 4"; behind a comma the bracket may close. */
static bool extents(parser *p, ts_axe_list *list) {
    bool wrapped = ts_cursor_take(p->cursor, "(");
    do {
        if (wrapped && list->count > 0 && ts_cursor_peek(p->cursor) == ')') break;
        if (!add_extent(p, list)) return false;
    } while (ts_cursor_take(p->cursor, ","));
    return !wrapped || ts_cursor_take(p->cursor, ")") || unexpected(p, "',' or ')'");
}

static bool strides(parser *p, ts_axe_list *list, int first) {
    bool wrapped = ts_cursor_take(p->cursor, "(");
    int at = first;
    do {
        if (wrapped && at > first && ts_cursor_peek(p->cursor) == ')') break;
        ts_cursor_skip_space(p->cursor);
        if (at == list->count)
            return refuse_at(p, p->cursor->at, "found another stride, expected one for each extent");
        if (!stride(p, &list->items[at].stride, &list->items[at].axis)) return false;
        at++;
    } while (ts_cursor_take(p->cursor, ","));
    if (at < list->count) return unexpected(p, "',' and another stride: one for each extent");
    return !wrapped || ts_cursor_take(p->cursor, ")") || unexpected(p, "',' or ')'");
}

typedef enum { STRIDES_OPTIONAL, STRIDES_NEEDED } stride_need;

/* What S[ or R[ holds, and the bracket behind it. */
static bool iters(parser *p, ts_axe_list *list, stride_need need) {
    int first = list->count;
    ts_cursor_skip_space(p->cursor);
    size_t start = p->cursor->at;
    if (!extents(p, list)) return false;
    if (ts_cursor_take(p->cursor, ":")) {
        if (!strides(p, list, first)) return false;
        return ts_cursor_take(p->cursor, "]") || unexpected(p, "']'");
    }
    if (need == STRIDES_NEEDED) return unexpected(p, "':' and the strides of the replicas");
    if (!ts_cursor_take(p->cursor, "]")) return unexpected(p, "',', ':' or ']'");
    return default_strides(p, list, first, start);
}

/* "8 2 / 4@lane 1@warp )": extents, then as many strides; commas are spaces. */
static bool matrix(parser *p, ts_axe_list *list, const char *close) {
    int first = list->count, at = list->count;
    while (ts_cursor_peek(p->cursor) != '/') {
        if (list->count > first && !begins_integer(ts_cursor_peek(p->cursor)))
            return unexpected(p, "another extent, or '/' and the strides");
        if (!add_extent(p, list)) return false;
        (void)ts_cursor_take(p->cursor, ",");
    }
    if (list->count == first) return unexpected(p, extent_text);
    (void)ts_cursor_expect(p->err, p->cursor, "/");
    for (; at < list->count; at++) {
        if (!stride(p, &list->items[at].stride, &list->items[at].axis)) return false;
        (void)ts_cursor_take(p->cursor, ",");
    }
    return ts_cursor_take(p->cursor, close) ||
           unexpected(p, *close == ')' ? "')': a stride for each extent" : "']': a stride for each extent");
}

static bool offset(parser *p) {
    int64_t value;
    const char *axis;
    ts_cursor_skip_space(p->cursor);
    size_t start = p->cursor->at;
    if (!stride(p, &value, &axis)) return false;
    if (!p->offsets) p->offsets = TS_NEW_ARRAY(p->arena, ts_axe_offset, TS_LAYOUT_MAX_AXES + 1);
    if (!ts_axe_add_offset(p->offsets, &p->offset_count, axis, value))
        return refuse_at(p, start, "the sum of the offsets does not fit in 64 bits");
    return p->offset_count <= TS_LAYOUT_MAX_AXES || refuse_at(p, start, "the layout has more than 32 axes");
}

/* Another S or R: which one is meant cannot be told. */
static bool once(parser *p, bool *seen, size_t start, const char *again) {
    bool first = !*seen;
    *seen = true;
    return first || refuse_at(p, start, again);
}

static const char two_shards[] = "a second S[] or ( / ): a layout has one list of shards";
static const char two_replicas[] = "a second R[]: write all replicas in one";

/* The word and the bracket behind it. */
static bool take_open(parser *p, const char *word, const char *bracket) {
    ts_cursor start = *p->cursor;
    if (ts_cursor_take(p->cursor, word) && ts_cursor_take(p->cursor, bracket)) return true;
    *p->cursor = start;
    return false;
}

static bool offsets(parser *p) {
    do {
        if (!offset(p)) return false;
    } while (ts_cursor_take(p->cursor, ","));
    return ts_cursor_take(p->cursor, "]") || unexpected(p, "',' or ']'");
}

static bool sum_of_offsets(parser *p) {
    do {
        if (!offset(p)) return false;
    } while (ts_cursor_take(p->cursor, "+"));
    return ts_cursor_take(p->cursor, ")") || unexpected(p, "'+' or ')'");
}

static bool term(parser *p) {
    if (p->script) (void)ts_cursor_take(p->cursor, "T.");
    ts_cursor_skip_space(p->cursor);
    size_t start = p->cursor->at;
    if (take_open(p, "S", "["))
        return once(p, &p->shards_seen, start, two_shards) && iters(p, &p->shards, STRIDES_OPTIONAL);
    if (take_open(p, "R", "["))
        return once(p, &p->replicas_seen, start, two_replicas) && iters(p, &p->replicas, STRIDES_NEEDED);
    if (take_open(p, "O", "[")) return offsets(p);
    if (p->script && ts_cursor_take(p->cursor, "(")) return sum_of_offsets(p);
    if (ts_cursor_take(p->cursor, "("))
        return once(p, &p->shards_seen, start, two_shards) && matrix(p, &p->shards, ")");
    if (ts_cursor_take(p->cursor, "[")) return matrix(p, &p->replicas, "]");
    int c = ts_cursor_peek(p->cursor);
    return begins_integer(c) || begins_axis(c)
               ? offset(p)
               : unexpected(p, "a term: S[..], R[..], ( .. / .. ), [ .. / .. ] or an offset");
}

static bool swizzle_field(parser *p, const char *what, int *value) {
    int64_t number;
    if (!ts_cursor_integer(p->err, p->cursor, what, &number)) return false;
    *value = (int)number;
    return (number >= 0 && number <= 62) ||
           ts_cursor_refuse(p->err, p->cursor, "found %" PRId64 ", expected %s from 0 to 62", number, what);
}

static bool swizzle_numbers(parser *p, ts_swizzle *s) {
    s->present = true;
    if (!swizzle_field(p, "the low bits that stay", &s->keep) || !ts_cursor_expect(p->err, p->cursor, ",") ||
        !swizzle_field(p, "the bits that change", &s->bits) || !ts_cursor_expect(p->err, p->cursor, ",") ||
        !swizzle_field(p, "a shift", &s->shift))
        return false;
    if (s->shift < s->bits)
        return refuse_at(p, p->cursor->token, "the shift is less than the bits that change");
    if (s->keep + s->bits + s->shift > 62)
        return refuse_at(p, p->cursor->token, "the swizzle needs more than 62 bits");
    return true;
}

/* The numbers of SW( and what is behind them, up to the "o". */
static bool swizzle(parser *p, ts_swizzle *s) {
    if (!swizzle_numbers(p, s)) return false;
    if (ts_cursor_take(p->cursor, ",")) {
        s->outer = ts_cursor_take(p->cursor, "outer");
        if (!s->outer && !ts_cursor_take(p->cursor, "inner")) return unexpected(p, "'inner' or 'outer'");
    }
    if (!ts_cursor_take(p->cursor, ")")) return unexpected(p, "',' or ')'");
    return ts_cursor_take(p->cursor, "o") || unexpected(p, "'o' and the layout that is swizzled");
}

static bool swizzles_memory(const ts_axe *axe) {
    const char *axes[TS_LAYOUT_MAX_AXES];
    int count;
    return !axe->swizzle.present ||
           (ts_axe_axes(NULL, axe, axes, &count) && count == 1 && ts_axe_same_axis(axes[0], "m"));
}

static bool terms(parser *p) {
    do {
        if (!term(p)) return false;
    } while (ts_cursor_take(p->cursor, "+"));
    return true;
}

/* What is behind "T.TileLayout(". */
static bool script_tile(parser *p) {
    p->script = true;
    return terms(p) && (ts_cursor_take(p->cursor, ")") || unexpected(p, "'+' or ')'"));
}

/* What is behind "T.ComposeLayout(": numbers, a tile, and whether the swizzle is the inner one. */
static bool script_swizzled(parser *p, ts_swizzle *s) {
    if (!swizzle_numbers(p, s) || !ts_cursor_expect(p->err, p->cursor, ",") ||
        !ts_cursor_expect(p->err, p->cursor, "T.TileLayout(") || !script_tile(p))
        return false;
    if (ts_cursor_take(p->cursor, ",")) {
        if (!ts_cursor_expect(p->err, p->cursor, "swizzle_inner=")) return false;
        s->outer = ts_cursor_take(p->cursor, "False");
        if (!s->outer && !ts_cursor_take(p->cursor, "True")) return unexpected(p, "'True' or 'False'");
    }
    return ts_cursor_take(p->cursor, ")") || unexpected(p, "',' or ')'");
}

static bool in_any_form(parser *p, ts_swizzle *s) {
    if (ts_cursor_take(p->cursor, "T.TileLayout(")) return script_tile(p);
    if (ts_cursor_take(p->cursor, "T.ComposeLayout(")) return script_swizzled(p, s);
    return (!take_open(p, "SW", "(") || swizzle(p, s)) && terms(p);
}

bool ts_axe_read(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_axe *out) {
    parser p = {.err = err, .arena = arena, .cursor = cursor, .shards.arena = arena, .replicas.arena = arena};
    ts_swizzle own = {0};
    ts_cursor_skip_space(cursor);
    size_t start = cursor->at;
    if (!in_any_form(&p, &own)) return false;
    *out = (ts_axe){
        p.shards.count, p.replicas.count, p.offset_count, p.shards.items, p.replicas.items, p.offsets, own};
    const char *misfit = ts_axe_misfit(out);
    if (misfit) return refuse_at(&p, start, misfit);
    return swizzles_memory(out) ||
           refuse_at(&p, start, "a swizzle changes the axis m, expected no other axis");
}

bool ts_axe_parse(ts_error *err, ts_arena *arena, const ts_source *source, ts_axe *out) {
    ts_cursor cursor = {.source = source};
    return ts_axe_read(err, arena, &cursor, out) &&
           (ts_cursor_at_end(&cursor) || ts_cursor_unexpected(err, &cursor, "'+' or the end"));
}
