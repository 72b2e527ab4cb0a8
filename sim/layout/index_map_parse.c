/* Index maps: their texts. */
#include <inttypes.h>
#include <string.h>

#include "index_map_private.h"

enum { NESTING_MAX = 200 };

typedef struct {
    ts_error *err;
    ts_arena *arena;
    ts_cursor *cursor;
    const char **names;
    int rank, depth;
} parser;

const ts_index_expr *ts_index_node(ts_arena *arena, ts_index_kind kind, const ts_index_expr *a,
                                   const ts_index_expr *b) {
    ts_index_expr *node = TS_NEW(arena, ts_index_expr);
    *node = (ts_index_expr){kind, 0, a, b};
    return node;
}

const ts_index_expr *ts_index_constant(ts_arena *arena, int64_t value) {
    ts_index_expr *node = TS_NEW(arena, ts_index_expr);
    *node = (ts_index_expr){.kind = TS_INDEX_CONSTANT, .value = value};
    return node;
}

const ts_index_expr *ts_index_variable(ts_arena *arena, int number) {
    ts_index_expr *node = TS_NEW(arena, ts_index_expr);
    *node = (ts_index_expr){.kind = TS_INDEX_VARIABLE, .value = number};
    return node;
}

/* ---- Expressions. The rows of a level of precedence bind alike, from the left; levels from loose to tight.
 * ---- */

static const struct {
    const char *text;
    ts_index_kind kind;
    int level;
} operators[] = {
    {"|", TS_INDEX_OR, 0},          {"^", TS_INDEX_XOR, 1},          {"&", TS_INDEX_AND, 2},
    {"<<", TS_INDEX_SHIFT_LEFT, 3}, {">>", TS_INDEX_SHIFT_RIGHT, 3}, {"+", TS_INDEX_ADD, 4},
    {"-", TS_INDEX_SUBTRACT, 4},    {"*", TS_INDEX_MULTIPLY, 5},     {"//", TS_INDEX_DIVIDE, 5},
    {"%", TS_INDEX_MODULO, 5},
};
enum { OPERATORS = sizeof operators / sizeof operators[0], TIGHTEST = 5 };

static const struct {
    const char *text;
    ts_index_kind kind;
} functions[] = {
    {"floordiv", TS_INDEX_DIVIDE},
    {"floormod", TS_INDEX_MODULO},
    {"min", TS_INDEX_MIN},
    {"max", TS_INDEX_MAX},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static const char operand_text[] = "a number, an index, '-' or '('";

static bool refuse(parser *p, const char *message) {
    return ts_error_at(p->err, TS_ERROR_INPUT, p->cursor->source, p->cursor->token, "%s", message);
}

static bool unexpected(parser *p, const char *what) { return ts_cursor_unexpected(p->err, p->cursor, what); }

static bool is_word(const char *name, size_t length, const char *word) {
    return strlen(word) == length && memcmp(name, word, length) == 0;
}

static const ts_index_expr *expression(parser *p, int level);

/* A divisor that is always 0 is seen here. */
static const ts_index_expr *binary(parser *p, ts_index_kind kind, const ts_index_expr *a,
                                   const ts_index_expr *b) {
    bool divides = kind == TS_INDEX_DIVIDE || kind == TS_INDEX_MODULO;
    if (divides && b->kind == TS_INDEX_CONSTANT && b->value == 0) return refuse(p, "division by 0"), NULL;
    return ts_index_node(p->arena, kind, a, b);
}

static const ts_index_expr *call(parser *p, ts_index_kind kind) {
    const ts_index_expr *a, *b;
    if (!ts_cursor_expect(p->err, p->cursor, "(") || !(a = expression(p, 0)) ||
        !ts_cursor_expect(p->err, p->cursor, ",") || !(b = expression(p, 0)) ||
        !ts_cursor_expect(p->err, p->cursor, ")"))
        return NULL;
    return binary(p, kind, a, b);
}

static const ts_index_expr *named(parser *p) {
    const char *name;
    size_t length;
    if (!ts_cursor_name(p->cursor, &name, &length)) return unexpected(p, operand_text), NULL;
    for (int i = 0; i < p->rank; i++)
        if (is_word(name, length, p->names[i])) return ts_index_variable(p->arena, i);
    for (int i = 0; i < FUNCTIONS; i++)
        if (is_word(name, length, functions[i].text)) return call(p, functions[i].kind);
    int shown = length > 40 ? 40 : (int)length;
    ts_error_at(p->err, TS_ERROR_INPUT, p->cursor->source, p->cursor->token,
                "unknown name '%.*s', expected an index of the map, floordiv, floormod, min or max", shown,
                name);
    ts_error_hint(p->err, ts_text_nearest(ts_arena_copy_text(p->arena, name, length), p->names,
                                          (size_t)p->rank, sizeof *p->names));
    return NULL;
}

static const ts_index_expr *operand(parser *p) {
    int c = ts_cursor_peek(p->cursor);
    int64_t value;
    if (c >= '0' && c <= '9')
        return ts_cursor_integer(p->err, p->cursor, operand_text, &value) ? ts_index_constant(p->arena, value)
                                                                          : NULL;
    if (c == '-') {
        (void)ts_cursor_take(p->cursor, "-");
        const ts_index_expr *a = expression(p, TIGHTEST + 1);
        return a ? ts_index_node(p->arena, TS_INDEX_NEGATE, a, NULL) : NULL;
    }
    if (c != '(') return named(p);
    (void)ts_cursor_take(p->cursor, "(");
    const ts_index_expr *inside = expression(p, 0);
    if (inside && !ts_cursor_take(p->cursor, ")")) return unexpected(p, "an operator or ')'"), NULL;
    return inside;
}

static int take_operator(parser *p, int level) {
    for (int i = 0; i < OPERATORS; i++)
        if (operators[i].level == level && ts_cursor_take(p->cursor, operators[i].text)) return i;
    return -1;
}

static bool single_slash(parser *p) {
    ts_cursor ahead = *p->cursor;
    return ts_cursor_take(&ahead, "/") && !ts_cursor_take(p->cursor, "//");
}

static const ts_index_expr *expression(parser *p, int level) {
    if (level > TIGHTEST) {
        if (++p->depth > NESTING_MAX) return refuse(p, "nested more than 200 deep"), NULL;
        const ts_index_expr *found = operand(p);
        p->depth--;
        return found;
    }
    const ts_index_expr *left = expression(p, level + 1);
    for (int i; left && (i = take_operator(p, level)) >= 0;) {
        const ts_index_expr *right = expression(p, level + 1);
        left = right ? binary(p, operators[i].kind, left, right) : NULL;
    }
    if (left && level == TIGHTEST && single_slash(p))
        return unexpected(p, "'//': indices are divided with floor"), NULL;
    return left;
}

/* ---- Maps ---- */

typedef struct {
    const ts_index_expr **exprs;
    int *separators;
    int count, separator_count;
} item_list;

static bool is_separator(parser *p) {
    ts_cursor start = *p->cursor;
    const char *name;
    size_t length;
    bool named = ts_cursor_name(p->cursor, &name, &length);
    if (named && ts_cursor_take(p->cursor, ".") && ts_cursor_name(p->cursor, &name, &length) &&
        is_word(name, length, "AXIS_SEPARATOR"))
        return true;
    if (named && (is_word(name, length, "SEP") || is_word(name, length, "AXIS_SEPARATOR"))) return true;
    *p->cursor = start;
    return false;
}

static bool item(parser *p, item_list *list) {
    if (is_separator(p)) {
        list->separators = ts_arena_grow(p->arena, list->separators, (size_t)list->separator_count,
                                         (size_t)list->separator_count + 1, sizeof *list->separators);
        list->separators[list->separator_count++] = list->count;
        return list->separator_count < TS_LAYOUT_MAX_AXES || refuse(p, "the map has more than 31 separators");
    }
    const ts_index_expr *expr = expression(p, 0);
    if (!expr) return false;
    list->exprs =
        ts_arena_grow(p->arena, list->exprs, (size_t)list->count, (size_t)list->count + 1, sizeof expr);
    list->exprs[list->count++] = expr;
    return list->count <= TS_LAYOUT_MAX_AXES || refuse(p, "the map has more than 32 indices");
}

static bool items(parser *p, char close, item_list *list) {
    do {
        if (list->count > 0 && ts_cursor_peek(p->cursor) == close) break;
        if (!item(p, list)) return false;
    } while (ts_cursor_take(p->cursor, ","));
    const char text[] = {close, '\0'};
    return ts_cursor_take(p->cursor, text) ||
           unexpected(p, close == ']' ? "an operator, ',' or ']'" : "an operator, ',' or ')'");
}

/* "(a, b)" is a list, "(a + b) // 4" an expression: a comma on the first level tells. */
static bool is_list(parser *p) {
    ts_cursor at = *p->cursor;
    int depth = 0;
    ts_cursor_skip_space(&at);
    for (size_t i = at.at; i < at.source->length; i++) {
        char c = at.source->text[i];
        depth += (c == '(') - (c == ')');
        if (depth == 0) return false;
        if (depth == 1 && c == ',') return true;
    }
    return false;
}

static bool body(parser *p, item_list *list) {
    int c = ts_cursor_peek(p->cursor);
    if (c == '[' || (c == '(' && is_list(p))) {
        p->cursor->at++;
        return items(p, c == '[' ? ']' : ')', list);
    }
    return item(p, list);
}

static bool parameters(parser *p) {
    const char *name;
    size_t length;
    do {
        if (!ts_cursor_name(p->cursor, &name, &length)) return unexpected(p, "the name of an index");
        for (int i = 0; i < p->rank; i++)
            if (is_word(name, length, p->names[i]))
                return refuse(p, "an index of this name is there already");
        p->names = ts_arena_grow(p->arena, p->names, (size_t)p->rank, (size_t)p->rank + 1, sizeof *p->names);
        p->names[p->rank++] = ts_arena_copy_text(p->arena, name, length);
        if (p->rank > TS_LAYOUT_MAX_DIMS) return refuse(p, "the map has more than 128 logical indices");
    } while (ts_cursor_take(p->cursor, ","));
    return ts_cursor_take(p->cursor, ":") || unexpected(p, "',' or ':'");
}

bool ts_index_map_read(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_index_map *out) {
    parser p = {.err = err, .arena = arena, .cursor = cursor};
    item_list list = {0};
    const char *word;
    size_t length;
    ts_cursor start = *cursor;
    if (!ts_cursor_name(cursor, &word, &length) || !is_word(word, length, "lambda")) {
        *cursor = start;
        return unexpected(&p, "'lambda'");
    }
    if (!parameters(&p) || !body(&p, &list)) return false;
    if (list.count == 0) return refuse(&p, "the map has no index, only separators");
    *out = (ts_index_map){.rank = p.rank,
                          .count = list.count,
                          .names = p.names,
                          .exprs = list.exprs,
                          .separator_count = list.separator_count,
                          .separators = list.separators};
    return true;
}

bool ts_index_map_parse(ts_error *err, ts_arena *arena, const ts_source *source, ts_index_map *out) {
    ts_cursor cursor = {.source = source};
    return ts_index_map_read(err, arena, &cursor, out) &&
           (ts_cursor_at_end(&cursor) || ts_cursor_unexpected(err, &cursor, "the end of the map"));
}

/* ---- Printing: the canonical text, with the brackets that are needed ---- */

static int level_of(const ts_index_expr *expr) {
    for (int i = 0; i < OPERATORS; i++)
        if (operators[i].kind == expr->kind) return operators[i].level;
    bool predicate = expr->kind == TS_INDEX_LESS || expr->kind == TS_INDEX_AT_LEAST;
    return expr->kind == TS_INDEX_EITHER ? -2 : predicate ? -1 : TIGHTEST + 1;
}

static const char *operator_text(ts_index_kind kind) {
    for (int i = 0; i < OPERATORS; i++)
        if (operators[i].kind == kind) return operators[i].text;
    return kind == TS_INDEX_EITHER ? "or" : kind == TS_INDEX_LESS ? "<" : ">=";
}

static void print(ts_text *out, const ts_index_expr *expr, const char *const *names, int level) {
    bool brackets = level_of(expr) < level;
    if (brackets) ts_text_add_char(out, '(');
    switch (expr->kind) {
    case TS_INDEX_CONSTANT:
        ts_text_add(out, "%" PRId64, expr->value);
        break;
    case TS_INDEX_VARIABLE:
        ts_text_add(out, "%s", names[expr->value]);
        break;
    case TS_INDEX_NEGATE:
        ts_text_add_char(out, '-');
        print(out, expr->a, names, TIGHTEST + 1);
        break;
    case TS_INDEX_MIN:
    case TS_INDEX_MAX:
        ts_text_add(out, expr->kind == TS_INDEX_MIN ? "min(" : "max(");
        print(out, expr->a, names, 0);
        ts_text_add(out, ", ");
        print(out, expr->b, names, 0);
        ts_text_add_char(out, ')');
        break;
    default:
        print(out, expr->a, names, level_of(expr));
        ts_text_add(out, " %s ", operator_text(expr->kind));
        print(out, expr->b, names, level_of(expr) + 1);
    }
    if (brackets) ts_text_add_char(out, ')');
}

void ts_index_expr_print(ts_text *out, const ts_index_expr *expr, const char *const *names) {
    print(out, expr, names, -2);
}

void ts_index_map_print(ts_text *out, const ts_index_map *map) {
    ts_text_add(out, "lambda ");
    for (int i = 0; i < map->rank; i++) ts_text_add(out, "%s%s", i > 0 ? ", " : "", map->names[i]);
    ts_text_add(out, ": [");
    for (int i = 0, separator = 0; i <= map->count; i++) {
        for (; separator < map->separator_count && map->separators[separator] == i; separator++)
            ts_text_add(out, "%sSEP", i + separator > 0 ? ", " : "");
        if (i < map->count && i + separator > 0) ts_text_add(out, ", ");
        if (i < map->count) print(out, map->exprs[i], map->names, 0);
    }
    ts_text_add_char(out, ']');
}
