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
    int rank, nesting;
    ts_index_step *steps; /* of the expression that is being read */
    int count, waiting, depth;
} parser;

/* ---- Expressions that are made ---- */

static const ts_index_expr *leaf(ts_arena *arena, ts_index_kind kind, int64_t value) {
    ts_index_expr *expr = TS_NEW(arena, ts_index_expr);
    ts_index_step *step = TS_NEW(arena, ts_index_step);
    *step = (ts_index_step){kind, 0, value};
    *expr = (ts_index_expr){1, 1, step};
    return expr;
}

const ts_index_expr *ts_index_constant(ts_arena *arena, int64_t value) {
    return leaf(arena, TS_INDEX_CONSTANT, value);
}

const ts_index_expr *ts_index_variable(ts_arena *arena, int number) {
    return leaf(arena, TS_INDEX_VARIABLE, number);
}

static int larger(int a, int b) { return a > b ? a : b; }

const ts_index_expr *ts_index_node(ts_arena *arena, ts_index_kind kind, const ts_index_expr *a,
                                   const ts_index_expr *b) {
    ts_index_expr *expr = TS_NEW(arena, ts_index_expr);
    int count = a->count + b->count;
    ts_index_step *steps = ts_arena_grow(arena, a->steps, (size_t)a->count, (size_t)count + 1, sizeof *steps);
    memcpy(steps + a->count, b->steps, (size_t)b->count * sizeof *steps);
    for (int i = a->count; i < count; i++) steps[i].first += a->count;
    steps[count] = (ts_index_step){.kind = kind};
    *expr = (ts_index_expr){count + 1, larger(a->depth, b->depth + 1), steps};
    return expr;
}

bool ts_index_by_constant(ts_arena *arena, const ts_index_expr *expr, ts_index_kind kind,
                          const ts_index_expr **something, int64_t *constant) {
    const ts_index_step *root = ts_index_root(expr);
    if (root->kind != kind || root[-1].kind != TS_INDEX_CONSTANT) return false;
    ts_index_expr *left = TS_NEW(arena, ts_index_expr);
    *left = (ts_index_expr){expr->count - 2, expr->depth, expr->steps};
    *something = left;
    *constant = root[-1].value;
    return true;
}

/* ---- Expressions ---- */

/* The rows of a level of precedence bind alike, from the left; levels from loose to tight. */
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
    return ts_cursor_refuse(p->err, p->cursor, "%s", message);
}

static bool unexpected(parser *p, const char *what) { return ts_cursor_unexpected(p->err, p->cursor, what); }

static bool expression(parser *p, int least);

/* Of `arguments` operands. A divisor that is always 0 is seen here. */
static bool emit(parser *p, ts_index_kind kind, int64_t value, int arguments) {
    bool divides = kind == TS_INDEX_DIVIDE || kind == TS_INDEX_MODULO;
    int first = p->count;
    if (divides && p->steps[first - 1].kind == TS_INDEX_CONSTANT && p->steps[first - 1].value == 0)
        return refuse(p, "division by 0");
    for (int i = 0; i < arguments; i++) first = p->steps[first - 1].first;
    *TS_APPEND(p->arena, p->steps, p->count) = (ts_index_step){kind, first, value};
    p->waiting += 1 - arguments;
    p->depth = larger(p->depth, p->waiting);
    return p->waiting <= TS_INDEX_DEPTH || refuse(p, "nested more than 200 deep");
}

static bool in_brackets(parser *p) {
    return ts_cursor_expect(p->err, p->cursor, "(") && expression(p, 0) &&
           (ts_cursor_take(p->cursor, ")") || unexpected(p, "an operator or ')'"));
}

static bool call(parser *p, ts_index_kind kind) {
    return ts_cursor_expect(p->err, p->cursor, "(") && expression(p, 0) &&
           ts_cursor_expect(p->err, p->cursor, ",") && expression(p, 0) &&
           ts_cursor_expect(p->err, p->cursor, ")") && emit(p, kind, 0, 2);
}

/* "T.": TVM's scripts have it before functions and types. */
static bool skip_script_prefix(parser *p, ts_span *name) {
    return !ts_span_is(*name, "T") || !ts_cursor_take(p->cursor, ".") || ts_cursor_name(p->cursor, name) ||
           unexpected(p, "a function or a type");
}

static bool named(parser *p) {
    ts_span name;
    if (!ts_cursor_name(p->cursor, &name)) return unexpected(p, operand_text);
    for (int i = 0; i < p->rank; i++)
        if (ts_span_is(name, p->names[i])) return emit(p, TS_INDEX_VARIABLE, i, 0);
    if (!skip_script_prefix(p, &name)) return false;
    for (int i = 0; i < FUNCTIONS; i++)
        if (ts_span_is(name, functions[i].text)) return call(p, functions[i].kind);
    if (ts_span_is(name, "int32") || ts_span_is(name, "int64")) return in_brackets(p);
    ts_cursor_refuse(p->err, p->cursor,
                     "unknown name '%.*s', expected an index of the map, floordiv, floormod, min or max",
                     ts_text_quoted(name.length), name.text);
    return ts_error_hint(p->err, ts_text_nearest(ts_arena_copy_text(p->arena, name.text, name.length),
                                                 p->names, (size_t)p->rank, sizeof *p->names));
}

static bool operand(parser *p);

static bool operand_inside(parser *p) {
    int c = ts_cursor_peek(p->cursor);
    int64_t value;
    if (ts_is_digit(c))
        return ts_cursor_integer(p->err, p->cursor, operand_text, &value) &&
               emit(p, TS_INDEX_CONSTANT, value, 0);
    if (ts_cursor_take(p->cursor, "-")) return operand(p) && emit(p, TS_INDEX_NEGATE, 0, 1);
    return c == '(' ? in_brackets(p) : named(p);
}

static bool operand(parser *p) {
    if (++p->nesting > NESTING_MAX) return refuse(p, "nested more than 200 deep");
    bool read = operand_inside(p);
    p->nesting--;
    return read;
}

static int take_operator(parser *p, int least) {
    for (int i = 0; i < OPERATORS; i++)
        if (operators[i].level >= least && ts_cursor_take(p->cursor, operators[i].text)) return i;
    return -1;
}

static bool single_slash(parser *p) {
    ts_cursor one = *p->cursor, two = one;
    return ts_cursor_take(&one, "/") && !ts_cursor_take(&two, "//");
}

/* Of operators that bind at least that tightly. */
static bool expression(parser *p, int least) {
    if (!operand(p)) return false;
    for (int i; (i = take_operator(p, least)) >= 0;)
        if (!expression(p, operators[i].level + 1) || !emit(p, operators[i].kind, 0, 2)) return false;
    return !single_slash(p) || unexpected(p, "'//': indices are divided with floor");
}

/* ---- Maps ---- */

typedef struct {
    const ts_index_expr **exprs;
    int *separators;
    int count, separator_count;
} item_list;

static bool is_separator(parser *p) {
    ts_cursor start = *p->cursor;
    ts_span name;
    bool named = ts_cursor_name(p->cursor, &name);
    if (named && ts_cursor_take(p->cursor, ".") && ts_cursor_name(p->cursor, &name) &&
        ts_span_is(name, "AXIS_SEPARATOR"))
        return true;
    if (named && (ts_span_is(name, "SEP") || ts_span_is(name, "AXIS_SEPARATOR"))) return true;
    *p->cursor = start;
    return false;
}

static bool item(parser *p, item_list *list) {
    if (is_separator(p)) {
        *TS_APPEND(p->arena, list->separators, list->separator_count) = list->count;
        return list->separator_count < TS_LAYOUT_MAX_AXES || refuse(p, "the map has more than 31 separators");
    }
    p->steps = NULL;
    p->count = p->waiting = p->depth = 0;
    if (!expression(p, 0)) return false;
    ts_index_expr *expr = TS_NEW(p->arena, ts_index_expr);
    *expr = (ts_index_expr){p->count, p->depth, p->steps};
    *TS_APPEND(p->arena, list->exprs, list->count) = expr;
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
    ts_span name;
    do {
        if (!ts_cursor_name(p->cursor, &name)) return unexpected(p, "the name of an index");
        for (int i = 0; i < p->rank; i++)
            if (ts_span_is(name, p->names[i])) return refuse(p, "an index of this name is there already");
        *TS_APPEND(p->arena, p->names, p->rank) = ts_arena_copy_text(p->arena, name.text, name.length);
        if (p->rank > TS_LAYOUT_MAX_DIMS) return refuse(p, "the map has more than 128 logical indices");
    } while (ts_cursor_take(p->cursor, ","));
    return ts_cursor_take(p->cursor, ":") || unexpected(p, "',' or ':'");
}

static bool lambda(parser *p, item_list *list) {
    ts_span word;
    ts_cursor start = *p->cursor;
    if (ts_cursor_name(p->cursor, &word) && ts_span_is(word, "lambda")) return parameters(p) && body(p, list);
    *p->cursor = start;
    return unexpected(p, "'lambda'");
}

bool ts_index_map_read(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_index_map *out) {
    parser p = {.err = err, .arena = arena, .cursor = cursor};
    item_list list = {0};
    bool script = ts_cursor_take(cursor, "T.index_map(");
    if (!lambda(&p, &list)) return false;
    if (list.count == 0) return refuse(&p, "the map has no index, only separators");
    if (script && !ts_cursor_expect(err, cursor, ")")) return false;
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

static int level_of(ts_index_kind kind) {
    for (int i = 0; i < OPERATORS; i++)
        if (operators[i].kind == kind) return operators[i].level;
    bool predicate = kind == TS_INDEX_LESS || kind == TS_INDEX_AT_LEAST;
    return kind == TS_INDEX_EITHER ? -2 : predicate ? -1 : TIGHTEST + 1;
}

static const char *operator_text(ts_index_kind kind) {
    for (int i = 0; i < OPERATORS; i++)
        if (operators[i].kind == kind) return operators[i].text;
    return kind == TS_INDEX_EITHER ? "or" : kind == TS_INDEX_LESS ? "<" : ">=";
}

/* An operator that is being printed: its root, whether it has brackets, and how many operands are there. */
typedef struct {
    int root;
    bool brackets;
    unsigned char printed;
} open_operator;

typedef struct {
    ts_text *out;
    const ts_index_step *steps;
    const char *const *names;
    open_operator *open;
    int count;
} printer;

static bool is_function(ts_index_kind kind) { return kind == TS_INDEX_MIN || kind == TS_INDEX_MAX; }

static void begin(printer *p, int root, int level) {
    const ts_index_step *step = &p->steps[root];
    if (step->kind == TS_INDEX_CONSTANT) {
        ts_text_add(p->out, "%" PRId64, step->value);
    } else if (step->kind == TS_INDEX_VARIABLE) {
        ts_text_add(p->out, "%s", p->names[step->value]);
    } else {
        bool brackets = level_of(step->kind) < level;
        p->open[p->count++] = (open_operator){root, brackets, 0};
        if (brackets) ts_text_add_char(p->out, '(');
        if (step->kind == TS_INDEX_NEGATE) ts_text_add_char(p->out, '-');
        if (is_function(step->kind)) ts_text_add(p->out, step->kind == TS_INDEX_MIN ? "min(" : "max(");
    }
}

/* The next part of the innermost operator: an operand and what is in front of it, or its end. */
static void advance(printer *p) {
    open_operator *now = &p->open[p->count - 1];
    ts_index_kind kind = p->steps[now->root].kind;
    int right = now->root - 1, level = is_function(kind) ? 0 : level_of(kind);
    bool negate = kind == TS_INDEX_NEGATE;
    if (now->printed == 2 || (negate && now->printed == 1)) {
        if (now->brackets || is_function(kind)) ts_text_add_char(p->out, ')');
        p->count--;
    } else if (now->printed++ == 0) {
        begin(p, negate ? right : p->steps[right].first - 1, level);
    } else {
        ts_text_add(p->out, is_function(kind) ? ", " : " %s ", operator_text(kind));
        begin(p, right, is_function(kind) ? 0 : level + 1);
    }
}

static void print(ts_text *out, const ts_index_expr *expr, const char *const *names, int level) {
    ts_arena *scratch = ts_arena_new();
    printer p = {out, expr->steps, names, TS_NEW_ARRAY(scratch, open_operator, expr->count), 0};
    begin(&p, expr->count - 1, level);
    while (p.count > 0) advance(&p);
    ts_arena_free(scratch);
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
