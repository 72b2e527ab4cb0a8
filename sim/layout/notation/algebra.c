/* The algebras of layouts: expressions, and which function of the tables a call means. */
#include "layout/notation/algebra.h"

#include <string.h>

#include "algebra_private.h"
#include "notation.h"

enum { NESTING_MAX = 64, ARGUMENTS_MAX = 8 };

typedef struct {
    ts_error *err;
    ts_arena *arena;
    ts_cursor cursor;
    int depth; /* calls that are open */
} parser;

/* ---- The table of functions ---- */

static const ts_algebra_table *const tables[] = {&ts_algebra_arrays, &ts_algebra_cute, &ts_algebra_axe,
                                                 &ts_algebra_index_maps};
enum { TABLES = sizeof tables / sizeof tables[0] };

/* Entry number i of all tables; NULL behind the last one. */
static const ts_algebra_entry *entry_at(int i, const ts_algebra_table **table) {
    for (int t = 0; t < TABLES; i -= tables[t++]->count) {
        *table = tables[t];
        if (i < tables[t]->count) return &tables[t]->entries[i];
    }
    return NULL;
}

bool ts_algebra_function(int i, ts_algebra_row *row) {
    const ts_algebra_table *table;
    const ts_algebra_entry *entry = entry_at(i, &table);
    if (!entry) return false;
    *row = (ts_algebra_row){table->system,  entry->name,   entry->meaning,
                            entry->example, entry->result, table->sources};
    return true;
}

static int parameter_count(const ts_algebra_entry *entry) {
    int count = 0;
    while (count < TS_PARAMETERS_MAX && entry->parameters[count].takes != TS_TAKES_NOTHING) count++;
    return count;
}

static void print_usage(ts_text *out, const ts_algebra_entry *entry) {
    ts_text_add(out, "%s(", entry->name);
    for (int i = 0; i < parameter_count(entry); i++) {
        const ts_parameter *parameter = &entry->parameters[i];
        ts_text_add(out, parameter->optional ? "%s[%s]" : "%s%s", i > 0 ? ", " : "", parameter->name);
    }
    ts_text_add_char(out, ')');
}

void ts_algebra_print_usage(ts_text *out, int i) {
    const ts_algebra_table *table;
    print_usage(out, entry_at(i, &table));
}

static bool is_function(ts_span name) {
    const ts_algebra_table *table;
    const ts_algebra_entry *entry;
    for (int i = 0; (entry = entry_at(i, &table)) != NULL; i++)
        if (ts_span_is(name, entry->name)) return true;
    return false;
}

/* ---- Errors ---- */

static bool refuse(parser *p, size_t at, const char *message) {
    return ts_error_at(p->err, TS_ERROR_INPUT, p->cursor.source, at, "%s", message);
}

static bool unexpected(parser *p, const char *what) { return ts_cursor_unexpected(p->err, &p->cursor, what); }

/* An error of what stands at an offset, which has no location of its own: its message, there. */
static bool error_at(parser *p, size_t at, const ts_error *own) {
    return ts_error_at(p->err, own->kind, p->cursor.source, at, "%s", own->message);
}

/* To the error of an unknown name, the function whose name is nearest. */
static bool hint_function(parser *p, ts_span name) {
    enum { NAMES_MAX = 256 };
    const char *names[NAMES_MAX];
    const ts_algebra_table *table;
    size_t count = 0;
    for (int i = 0; i < NAMES_MAX; i++) {
        const ts_algebra_entry *entry = entry_at(i, &table);
        if (!entry) break;
        if (count == 0 || strcmp(names[count - 1], entry->name) != 0) names[count++] = entry->name;
    }
    const char *word = ts_arena_copy_text(p->arena, name.text, name.length);
    return ts_error_hint(p->err, ts_text_nearest(word, names, count, sizeof names[0]));
}

static bool unknown_function(parser *p, size_t at, ts_span name) {
    ts_error_at(p->err, TS_ERROR_INPUT, p->cursor.source, at, "found '%.*s', expected a function",
                ts_text_quoted(name.length), name.text);
    return hint_function(p, name);
}

/* ---- Arguments ---- */

typedef struct {
    const char *name; /* of "name=value", or NULL */
    size_t at;
    ts_value value;
} given;

typedef struct {
    ts_span name;
    size_t at;
    int count;
    given given[ARGUMENTS_MAX];
} call_text;

static bool expression(parser *p, ts_value *out);

/* NAME "=", or nothing. */
static void keyword(parser *p, given *argument) {
    ts_cursor start = p->cursor;
    ts_span name;
    ts_cursor_skip_space(&p->cursor);
    argument->at = p->cursor.at;
    argument->name = NULL;
    if (ts_cursor_name(&p->cursor, &name) && ts_cursor_take(&p->cursor, "="))
        argument->name = ts_arena_copy_text(p->arena, name.text, name.length);
    else
        p->cursor = start;
}

static bool arguments(parser *p, call_text *call) {
    if (ts_cursor_take(&p->cursor, ")")) return true;
    do {
        if (call->count == ARGUMENTS_MAX)
            return refuse(p, p->cursor.at, "more arguments than any function has");
        given *argument = &call->given[call->count++];
        keyword(p, argument);
        if (!argument->name && call->count > 1 && call->given[call->count - 2].name)
            return refuse(p, argument->at, "found an argument without a name behind one with a name");
        if (!expression(p, &argument->value)) return false;
    } while (ts_cursor_take(&p->cursor, ","));
    return ts_cursor_take(&p->cursor, ")") || unexpected(p, "',' or ')'");
}

static bool is_named(const ts_algebra_entry *entry, const call_text *call) {
    return ts_span_is(call->name, entry->name);
}

/* The value for a function's first parameter; NULL: not given. */
static const ts_value *first_value(const ts_algebra_entry *entry, const call_text *call) {
    for (int i = 0; i < call->count; i++)
        if (call->given[i].name ? strcmp(call->given[i].name, entry->parameters[0].name) == 0 : i == 0)
            return &call->given[i].value;
    return NULL;
}

/* Of several systems' functions of one name the first that takes the first argument. */
static const ts_algebra_entry *choose(parser *p, const call_text *call, ts_value_kind *gives) {
    const ts_algebra_table *table;
    const ts_algebra_entry *entry, *found = NULL;
    const ts_value *first = NULL;
    ts_text expected = ts_text_begin(p->arena);
    int count = 0;
    for (int i = 0; (entry = entry_at(i, &table)) != NULL; i++) {
        if (!is_named(entry, call)) continue;
        if (!found) found = entry, *gives = table->gives;
        first = first_value(entry, call);
        if (first && ts_takes_kind(entry->parameters[0].takes, first->kind))
            return *gives = table->gives, entry;
        ts_text_add(&expected, "%s%s", count++ > 0 ? " or " : "", ts_takes_name(entry->parameters[0].takes));
    }
    if (count == 1 || !first) return found;
    ts_text what = ts_text_begin(p->arena);
    ts_value_print_kind(&what, first);
    ts_error_at(p->err, TS_ERROR_INPUT, p->cursor.source, first->at, "found %s, expected %s", what.bytes,
                expected.bytes);
    return NULL;
}

/* Which parameter an argument is for; -1: an error. */
static int parameter_of(parser *p, const ts_algebra_entry *entry, const given *argument, int number) {
    int count = parameter_count(entry);
    ts_text usage = ts_text_begin(p->arena);
    print_usage(&usage, entry);
    if (!argument->name && number < count) return number;
    for (int i = 0; i < count && argument->name; i++)
        if (strcmp(entry->parameters[i].name, argument->name) == 0) return i;
    if (argument->name) {
        ts_error_at(p->err, TS_ERROR_INPUT, p->cursor.source, argument->at, "%s has no argument '%.40s'",
                    usage.bytes, argument->name);
        ts_error_hint(p->err, ts_text_nearest(argument->name, &entry->parameters[0].name, (size_t)count,
                                              sizeof entry->parameters[0]));
    } else {
        ts_error_at(p->err, TS_ERROR_INPUT, p->cursor.source, argument->at,
                    "found argument %d, expected %d: %s", number + 1, count, usage.bytes);
    }
    return -1;
}

static bool missing(parser *p, const ts_algebra_entry *entry, const call_text *call, int i) {
    ts_text usage = ts_text_begin(p->arena);
    print_usage(&usage, entry);
    return ts_error_at(p->err, TS_ERROR_INPUT, p->cursor.source, call->at, "%s needs %s, %s", usage.bytes,
                       entry->parameters[i].name, ts_takes_name(entry->parameters[i].takes));
}

static bool bind(parser *p, const ts_algebra_entry *entry, const call_text *call, ts_call *bound) {
    for (int i = 0; i < call->count; i++) {
        ts_error own = {0};
        int at = parameter_of(p, entry, &call->given[i], i);
        if (at < 0) return false;
        if (bound->arguments[at].given)
            return refuse(p, call->given[i].at, "an argument that is already given");
        if (!ts_argument_from(&own, p->arena, entry->parameters[at].takes, &call->given[i].value,
                              &bound->arguments[at]))
            return error_at(p, call->given[i].value.at, &own);
    }
    for (int i = 0; i < parameter_count(entry); i++)
        if (!bound->arguments[i].given && !entry->parameters[i].optional) return missing(p, entry, call, i);
    return true;
}

static bool run(parser *p, const call_text *call, ts_value *out) {
    ts_error own = {0};
    ts_value_kind gives = TS_VALUE_TEXT; /* what was found says; gcc 14 does not see that it does */
    const ts_algebra_entry *entry = choose(p, call, &gives);
    if (!entry) return false;
    ts_call *bound = TS_NEW(p->arena, ts_call);
    *bound = (ts_call){.err = &own, .arena = p->arena, .variant = entry->variant};
    if (!bind(p, entry, call, bound)) return false;
    *out = (ts_value){.at = call->at, .kind = gives};
    return entry->run(bound, out) || error_at(p, call->at, &own);
}

/* Behind a name and its '('. */
static bool call(parser *p, size_t at, ts_span name, ts_value *out) {
    call_text *text = TS_NEW(p->arena, call_text);
    *text = (call_text){.name = name, .at = at};
    if (!is_function(name)) return unknown_function(p, at, name);
    if (p->depth == NESTING_MAX) return refuse(p, at, "calls nested more than 64 deep");
    p->depth++;
    bool ok = arguments(p, text) && run(p, text, out);
    p->depth--;
    return ok;
}

/* ---- Values ---- */

static bool read_axe(parser *p, ts_value *out) {
    out->kind = TS_VALUE_AXE;
    return ts_axe_read(p->err, p->arena, &p->cursor, &out->axe);
}

static bool read_index_map(parser *p, ts_value *out) {
    out->kind = TS_VALUE_INDEX_MAP;
    return ts_index_map_read(p->err, p->arena, &p->cursor, &out->map);
}

/* A tuple, unless strides follow. */
static bool read_cute(parser *p, ts_value *out) {
    ts_cursor start = p->cursor;
    int first = ts_cursor_peek(&p->cursor);
    out->kind = TS_VALUE_TUPLE;
    if (first != 'S') {
        if (!ts_cute_read_tuple(p->err, p->arena, &p->cursor, &out->tuple)) return false;
        if (ts_cursor_peek(&p->cursor) != ':') return true;
    }
    p->cursor = start;
    out->kind = TS_VALUE_CUTE;
    return ts_cute_read_map(p->err, p->arena, &p->cursor, &out->cute);
}

static bool read_tiler(parser *p, ts_value *out) {
    out->kind = TS_VALUE_TILER;
    return ts_cute_read_tiler(p->err, p->arena, &p->cursor, &out->tiler);
}

static bool point(parser *p, ts_value_point *out) {
    enum { COUNT_MAX = TS_LAYOUT_MAX_AXES };
    const char **axes = TS_NEW_ARRAY(p->arena, const char *, COUNT_MAX);
    int64_t *coordinates = TS_NEW_ARRAY(p->arena, int64_t, COUNT_MAX);
    ts_span name;
    *out = (ts_value_point){0, axes, coordinates};
    if (!ts_cursor_expect(p->err, &p->cursor, "{")) return false;
    do {
        if (out->count == COUNT_MAX) return refuse(p, p->cursor.at, "a point of more than 32 axes");
        if (!ts_cursor_name(&p->cursor, &name)) return unexpected(p, "the name of an axis");
        if (!ts_cursor_expect(p->err, &p->cursor, "=") ||
            !ts_cursor_integer(p->err, &p->cursor, "a coordinate", &coordinates[out->count]))
            return false;
        axes[out->count++] = ts_arena_copy_text(p->arena, name.text, name.length);
    } while (ts_cursor_take(&p->cursor, ","));
    return ts_cursor_take(&p->cursor, "}") || unexpected(p, "',' or '}'");
}

static bool read_points(parser *p, ts_value *out) {
    ts_value_point *points = NULL;
    out->kind = TS_VALUE_POINTS;
    do {
        if (!point(p, TS_APPEND(p->arena, points, out->point_count))) return false;
    } while (ts_cursor_peek(&p->cursor) == '{');
    out->points = points;
    return true;
}

/* TYPE[DIMS], then a layout of any notation, or an expression that gives one. */
static bool read_array(parser *p, ts_value *out) {
    const ts_shape *shape = ts_shape_read(p->err, p->arena, &p->cursor);
    ts_value layout = {0};
    ts_cursor look = p->cursor;
    ts_span name;
    out->kind = TS_VALUE_ARRAY;
    out->array = shape;
    if (!shape) return false;
    if (!shape->xla || !shape->layout || !ts_cursor_name(&look, &name) || !ts_cursor_take(&look, "("))
        return true;
    size_t end = p->cursor.at;
    if (!expression(p, &layout)) return false;
    ts_error own = {0};
    ts_text text = ts_text_begin(p->arena);
    ts_text_add_bytes(&text, p->cursor.source->text + out->at, end - out->at);
    ts_text_add_char(&text, ' ');
    ts_value_print(&text, &layout);
    ts_source source = {"array", text.bytes, text.length};
    out->array = ts_shape_parse(&own, p->arena, &source);
    return out->array || error_at(p, layout.at, &own);
}

/* NAME [".." NAME] that nothing but the end of the argument follows. */
static bool word(parser *p, ts_value *out) {
    ts_cursor look = p->cursor;
    ts_span name, last;
    if (!ts_cursor_name(&look, &name)) return false;
    if (ts_cursor_take(&look, "..") && ts_cursor_name(&look, &last))
        name.length = (size_t)(last.text - name.text) + last.length;
    int next = ts_cursor_peek(&look);
    if (next != -1 && next != ',' && next != ')') return false;
    p->cursor = look;
    return ts_value_word(out, ts_arena_copy_text(p->arena, name.text, name.length));
}

/* "[" of a tiler, not of Axe's replicas "[2 / 8]". */
static bool begins_tiler(ts_cursor at) {
    int first = ts_cursor_peek(&at);
    const ts_source *source = at.source;
    if (first == '_') return at.at + 1 == source->length || strchr(",)>] ", source->text[at.at + 1]) != NULL;
    if (first != '[') return first == '<';
    const char *close = memchr(source->text + at.at, ']', source->length - at.at);
    return !close || !memchr(source->text + at.at, '/', (size_t)(close - source->text) - at.at);
}

static bool empty_tuple(parser *p) {
    ts_cursor start = p->cursor;
    if (ts_cursor_take(&p->cursor, "(") && ts_cursor_take(&p->cursor, ")")) return true;
    p->cursor = start;
    return false;
}

static bool in_notation(parser *p, ts_value *out) {
    static const struct {
        const char *notation;
        bool (*read)(parser *p, ts_value *out);
    } readers[] = {{"axe", read_axe}, {"tvm", read_index_map}, {"cute", read_cute}};
    const ts_notation *notation = ts_notation_find(&p->cursor);
    for (size_t i = 0; notation && i < sizeof readers / sizeof readers[0]; i++)
        if (strcmp(notation->name, readers[i].notation) == 0) return readers[i].read(p, out);
    return unexpected(p, "a function call, a layout, a tuple or an integer");
}

static bool is_word_of(ts_span name, const char *const *words) {
    while (*words && !ts_span_is(name, *words)) words++;
    return *words != NULL;
}

/* A word by itself: what a function answers, and scopes "a..b"; any other is a slip. */
static bool answer(parser *p, ts_span name, const ts_value *found) {
    static const char *const answers[] = {"yes", "no", "none", "padding", NULL};
    if (is_word_of(name, answers) || strstr(found->text, "..")) return true;
    if (is_function(name)) return unexpected(p, "'('");
    p->cursor.at = found->at;
    (void)unexpected(p, "a function call, a layout, a tuple or an integer");
    return hint_function(p, name);
}

static bool expression(parser *p, ts_value *out) {
    static const char *const lists[] = {"S", "R", "O", NULL}, *const swizzles[] = {"SW", NULL};
    ts_cursor_skip_space(&p->cursor);
    *out = (ts_value){.at = p->cursor.at};
    ts_cursor look = p->cursor;
    ts_span name;
    if (ts_cursor_name(&look, &name)) {
        size_t at = look.token;
        int next = ts_cursor_peek(&look);
        if (next == '(' && !is_word_of(name, swizzles)) {
            (void)ts_cursor_take(&look, "(");
            p->cursor = look;
            return call(p, at, name, out);
        }
        if (next == '[' && !is_word_of(name, lists)) return read_array(p, out);
        if (begins_tiler(p->cursor)) return read_tiler(p, out);
        if (word(p, out)) return p->depth > 0 || answer(p, name, out);
    }
    if (begins_tiler(p->cursor)) return read_tiler(p, out);
    if (ts_cursor_peek(&p->cursor) == '{') return read_points(p, out);
    out->kind = TS_VALUE_EMPTY;
    return empty_tuple(p) || in_notation(p, out);
}

bool ts_algebra_evaluate(ts_error *err, ts_arena *arena, const ts_source *source, ts_value *value) {
    parser p = {.err = err, .arena = arena, .cursor = {.source = source}};
    return expression(&p, value) && (ts_cursor_at_end(&p.cursor) || unexpected(&p, "the end"));
}
