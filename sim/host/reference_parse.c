/* Parses reference expressions: precedence climbing over the characters; the errors point at them. */
#include <stdlib.h>
#include <string.h>

#include "reference_tree.h"
#include "base/text.h"

enum { DEPTH = 200, NUMBER_BYTES = 64 };

typedef struct {
    ts_error *err;
    ts_arena *arena;
    ts_cursor cursor;
    int depth; /* of recursion */
} parser;

/* Operators, longer ones before their prefixes. Higher levels bind closer. */
static const struct {
    const char *text;
    int level;
} operators[] = {{"<=", 1}, {">=", 1}, {"==", 1}, {"!=", 1}, {"<", 1}, {">", 1}, {"+", 2},
                 {"-", 2},  {"**", 4}, {"*", 3},  {"//", 3}, {"/", 3}, {"%", 3}};
enum { COMPARISON = 1, PRODUCT = 3, POWER = 4 };

static const char *const keyword_names[KEYWORDS] = {"axis", "keepdims", "eps"};

static const node *parse_level(parser *in, int level);
static const node *parse_unary(parser *in);

static void *refuse(parser *in, size_t offset, const char *what) {
    ts_error_at(in->err, TS_ERROR_INPUT, in->cursor.source, offset, "%s", what);
    return NULL;
}

static void *expected(parser *in, const char *what) {
    ts_cursor_unexpected(in->err, &in->cursor, what);
    return NULL;
}

static node *new_node(parser *in, node_kind kind, size_t offset) {
    static const node *const no_keywords[KEYWORDS] = {NULL};
    node *made = TS_NEW(in->arena, node);
    made->keywords = no_keywords;
    made->kind = kind;
    made->offset = offset;
    made->depth = 1;
    return made;
}

/* False where the tree becomes too deep to walk. NULL items (of a slice) are fine. */
static bool add_item(parser *in, node *parent, const node *item) {
    *TS_APPEND(in->arena, parent->items, parent->count) = item;
    if (item && item->depth >= parent->depth) parent->depth = item->depth + 1;
    return parent->depth <= DEPTH || refuse(in, parent->offset, "the expression is nested too deep");
}

static size_t skip_digits(const ts_source *source, size_t at) {
    while (at < source->length && ts_is_digit(source->text[at])) at++;
    return at;
}

/* Digits with an optional point and exponent. */
static size_t number_end(const ts_source *source, size_t begin) {
    size_t at = skip_digits(source, begin);
    if (at < source->length && source->text[at] == '.') at = skip_digits(source, at + 1);
    if (at == begin || (at == begin + 1 && source->text[begin] == '.')) return begin;
    if (at >= source->length || (source->text[at] != 'e' && source->text[at] != 'E')) return at;
    size_t sign = at + 1;
    if (sign < source->length && (source->text[sign] == '+' || source->text[sign] == '-')) sign++;
    size_t end = skip_digits(source, sign);
    return end > sign ? end : at;
}

static bool parse_number(parser *in, double *value) {
    ts_cursor_skip_space(&in->cursor);
    size_t begin = in->cursor.at, end = number_end(in->cursor.source, begin);
    char text[NUMBER_BYTES];
    if (end == begin) return expected(in, "a number");
    if (end - begin >= sizeof text) return refuse(in, begin, "a number of more than 63 characters");
    memcpy(text, in->cursor.source->text + begin, end - begin);
    text[end - begin] = '\0';
    *value = strtod(text, NULL);
    in->cursor.at = end;
    return true;
}

static char *copy_name(parser *in) {
    ts_span name;
    if (!ts_cursor_name(&in->cursor, &name)) return expected(in, "a name");
    return ts_arena_copy_text(in->arena, name.text, name.length);
}

/* axis=, keepdims= or eps=: `name` was read, '=' is next. */
static bool parse_keyword(parser *in, node *call, const char *name, size_t offset) {
    int key = 0;
    while (key < KEYWORDS && strcmp(keyword_names[key], name) != 0) key++;
    if (key == KEYWORDS || !(call->function->keywords & 1u << key))
        return ts_error_at(in->err, TS_ERROR_INPUT, in->cursor.source, offset,
                           "'%s' takes no '%.40s=', usage: %s", call->name, name, call->function->usage);
    if (call->keywords[key]) return refuse(in, offset, "the same keyword twice");
    const node **keywords = TS_COPY_ARRAY(in->arena, call->keywords, KEYWORDS);
    call->keywords = keywords;
    keywords[key] = parse_level(in, COMPARISON);
    return keywords[key] != NULL;
}

/* A name and a single '=' come next: a keyword. Leaves the cursor alone where not. */
static bool take_keyword(parser *in, char **name, size_t *offset) {
    ts_cursor before = in->cursor;
    ts_span text;
    ts_cursor_skip_space(&in->cursor);
    *offset = in->cursor.at;
    if (ts_cursor_name(&in->cursor, &text) && ts_cursor_peek(&in->cursor) == '=' &&
        !ts_cursor_take(&in->cursor, "==")) {
        ts_cursor_take(&in->cursor, "=");
        *name = ts_arena_copy_text(in->arena, text.text, text.length);
        return true;
    }
    in->cursor = before;
    return false;
}

static bool parse_argument(parser *in, node *call) {
    char *name;
    size_t offset;
    if (take_keyword(in, &name, &offset)) return parse_keyword(in, call, name, offset);
    const node *item = parse_level(in, COMPARISON);
    return item && add_item(in, call, item);
}

static const node *parse_call(parser *in, char *name, size_t offset) {
    node *call = new_node(in, NODE_CALL, offset);
    call->name = name;
    call->function = ts_reference_find(name);
    if (!call->function) {
        const char *near = ts_reference_nearest(name);
        ts_error_at(in->err, TS_ERROR_INPUT, in->cursor.source, offset, "unknown function '%.40s'%s%s%s",
                    name, near ? "; did you mean '" : ", expected such as 'softmax'", near ? near : "",
                    near ? "'?" : "");
        return NULL;
    }
    while (!ts_cursor_take(&in->cursor, ")")) {
        if (!parse_argument(in, call)) return NULL;
        if (!ts_cursor_take(&in->cursor, ",") && ts_cursor_peek(&in->cursor) != ')')
            return expected(in, "',' or ')'");
    }
    if (call->count >= call->function->least && call->count <= call->function->most) return call;
    ts_error_at(in->err, TS_ERROR_INPUT, in->cursor.source, offset, "'%s' with %d argument%s, usage: %s",
                name, call->count, call->count == 1 ? "" : "s", call->function->usage);
    return NULL;
}

/* (x) or a tuple (0, 1); the '(' was read. */
static const node *parse_parenthesis(parser *in, size_t offset) {
    const node *first = parse_level(in, COMPARISON);
    if (!first || ts_cursor_take(&in->cursor, ")")) return first;
    node *tuple = new_node(in, NODE_TUPLE, offset);
    if (!add_item(in, tuple, first)) return NULL;
    while (ts_cursor_take(&in->cursor, ",")) {
        if (ts_cursor_peek(&in->cursor) == ')') break;
        const node *item = parse_level(in, COMPARISON);
        if (!item || !add_item(in, tuple, item)) return NULL;
    }
    return ts_cursor_expect(in->err, &in->cursor, ")") ? tuple : NULL;
}

static const node *parse_primary(parser *in) {
    ts_cursor_skip_space(&in->cursor);
    size_t offset = in->cursor.at;
    ts_span text;
    if (ts_cursor_take(&in->cursor, "(")) return parse_parenthesis(in, offset);
    if (ts_cursor_name(&in->cursor, &text)) {
        char *name = ts_arena_copy_text(in->arena, text.text, text.length);
        if (ts_cursor_take(&in->cursor, "(")) return parse_call(in, name, offset);
        node *made = new_node(in, NODE_NAME, offset);
        made->name = name;
        return made;
    }
    if (!ts_is_digit(ts_cursor_peek(&in->cursor)) && ts_cursor_peek(&in->cursor) != '.')
        return expected(in, "a name, a number, a function or '('");
    node *made = new_node(in, NODE_NUMBER, offset);
    return parse_number(in, &made->number) ? made : NULL;
}

/* start, stop or step of a slice, which may be left out. */
static bool parse_slice_part(parser *in, node *slice) {
    int next = ts_cursor_peek(&in->cursor);
    if (next == ':' || next == ',' || next == ']') return add_item(in, slice, NULL);
    const node *part = parse_level(in, COMPARISON);
    return part && add_item(in, slice, part);
}

/* 3 or 1:2 or : or ::2 */
static const node *parse_index_item(parser *in) {
    ts_cursor_skip_space(&in->cursor);
    node *slice = new_node(in, NODE_SLICE, in->cursor.at);
    if (!parse_slice_part(in, slice)) return NULL;
    if (ts_cursor_peek(&in->cursor) != ':')
        return slice->items[0] ? slice->items[0] : expected(in, "an index or ':'");
    while (slice->count < 3) {
        bool present = ts_cursor_take(&in->cursor, ":");
        if (!(present ? parse_slice_part(in, slice) : add_item(in, slice, NULL))) return NULL;
    }
    return slice;
}

static const node *parse_index(parser *in, const node *base) {
    while (ts_cursor_take(&in->cursor, "[")) {
        node *index = new_node(in, NODE_INDEX, base->offset);
        bool ok = add_item(in, index, base);
        while (ok) {
            const node *item = parse_index_item(in);
            ok = item && add_item(in, index, item);
            if (!ok || ts_cursor_take(&in->cursor, "]")) break;
            ok = ts_cursor_take(&in->cursor, ",") || expected(in, "',' or ']'");
        }
        if (!ok) return NULL;
        base = index;
    }
    return base;
}

/* A chain a + b + c is as deep as its deepest term: walks follow its left ends in a loop. */
static const node *new_binary(parser *in, const char *operator, size_t offset, const node *left,
                              const node *right) {
    node *call = new_node(in, NODE_CALL, offset);
    call->name = operator;
    call->function = ts_reference_find(operator);
    call->items = ts_arena_extend(in->arena, NULL, 0, sizeof *call->items);
    call->items[call->count++] = left;
    call->depth = left->depth;
    return add_item(in, call, right) ? call : NULL;
}

/* x ** y binds closer than the minus in front of x, and groups from the right. */
static const node *parse_power(parser *in) {
    const node *left = parse_primary(in);
    if (left) left = parse_index(in, left);
    if (!left) return NULL;
    ts_cursor_skip_space(&in->cursor);
    size_t offset = in->cursor.at;
    if (!ts_cursor_take(&in->cursor, "**")) return left;
    const node *right = parse_unary(in);
    return right ? new_binary(in, "**", offset, left, right) : NULL;
}

static const node *parse_unary(parser *in) {
    if (in->depth >= DEPTH) return refuse(in, in->cursor.at, "the expression is nested too deep");
    in->depth++;
    ts_cursor_skip_space(&in->cursor);
    size_t offset = in->cursor.at;
    const node *result;
    if (ts_cursor_take(&in->cursor, "-")) {
        const node *operand = parse_unary(in);
        node *zero = new_node(in, NODE_NUMBER, offset);
        zero->number = -0.0; /* -0 - x is -x, also for zeros */
        result = operand ? new_binary(in, "-", offset, zero, operand) : NULL;
    } else {
        result = parse_power(in);
    }
    in->depth--;
    return result;
}

/* The operator of this level that comes next, or NULL. */
static const char *take_operator(parser *in, int level) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        ts_cursor before = in->cursor;
        if (!ts_cursor_take(&in->cursor, operators[i].text)) continue;
        if (operators[i].level == level) return operators[i].text;
        in->cursor = before;
        return NULL;
    }
    return NULL;
}

static const node *parse_level(parser *in, int level) {
    const node *left = level == PRODUCT ? parse_unary(in) : parse_level(in, level + 1);
    for (int i = 0; left; i++) {
        ts_cursor_skip_space(&in->cursor);
        size_t offset = in->cursor.at;
        const char *operator= take_operator(in, level);
        if (!operator) return left;
        if (level == COMPARISON &&
            i > 0) /* of numbers both hold in Python, of arrays it is an error in NumPy */
            return refuse(in, offset,
                          "a comparison of a comparison, expected '*' between two, or parentheses");
        const node *right = level == PRODUCT ? parse_unary(in) : parse_level(in, level + 1);
        left = right ? new_binary(in, operator, offset, left, right) : NULL;
    }
    return NULL;
}

/* A name, maybe with indices. */
static const node *parse_name(parser *in) {
    ts_cursor_skip_space(&in->cursor);
    node *name = new_node(in, NODE_NAME, in->cursor.at);
    name->name = copy_name(in);
    return name->name ? parse_index(in, name) : NULL;
}

static ts_source cut(const ts_source *source, size_t begin, size_t end) {
    const char *comment = end > begin ? memchr(source->text + begin, ';', end - begin) : NULL;
    return (ts_source){source->name, source->text, comment ? (size_t)(comment - source->text) : end};
}

static const ts_reference *new_reference(const parser *in, const node *root) {
    ts_reference *made = TS_NEW(in->arena, ts_reference);
    made->source = *in->cursor.source;
    made->root = root;
    return root ? made : NULL;
}

static bool expect_end(ts_error *err, const ts_source *source, size_t at, const char *what) {
    ts_cursor cursor = {.source = source, .at = at};
    return ts_cursor_at_end(&cursor) || ts_cursor_unexpected(err, &cursor, what);
}

const ts_reference *ts_reference_parse(ts_error *err, ts_arena *arena, const ts_source *source, size_t begin,
                                       size_t end) {
    ts_source text = cut(source, begin, end);
    parser in = {.err = err, .arena = arena, .cursor = {.source = &text, .at = begin}};
    const ts_reference *made = new_reference(&in, parse_level(&in, COMPARISON));
    return made && expect_end(err, &text, in.cursor.at, "an operator or the end") ? made : NULL;
}

/* err= is read as the right side is, up to the next bound. */
static bool parse_err(parser *in, size_t offset, ts_check *check) {
    if (check->err) return refuse(in, offset, "the same bound twice");
    check->err = new_reference(in, parse_level(in, COMPARISON));
    return check->err != NULL;
}

static bool parse_bounds(parser *in, ts_check *check) {
    ts_tolerance *tolerance = &check->tolerance;
    char *name;
    size_t offset;
    while (take_keyword(in, &name, &offset)) {
        if (strcmp(name, "err") == 0) {
            if (!parse_err(in, offset, check)) return false;
            continue;
        }
        double *bound = strcmp(name, "ulp") == 0   ? &tolerance->ulp
                        : strcmp(name, "abs") == 0 ? &tolerance->abs
                        : strcmp(name, "rel") == 0 ? &tolerance->rel
                                                   : NULL;
        if (!bound) return refuse(in, offset, "unknown bound, expected 'ulp=', 'abs=', 'rel=' or 'err='");
        if (*bound >= 0) return refuse(in, offset, "the same bound twice");
        if (!parse_number(in, bound)) return false;
    }
    return expect_end(in->err, in->cursor.source, in->cursor.at,
                      "an operator, 'ulp=', 'abs=', 'rel=', 'err=' or the end");
}

bool ts_check_parse(ts_error *err, ts_arena *arena, const ts_source *source, size_t begin, size_t end,
                    ts_check *check) {
    ts_source text = cut(source, begin, end);
    *check = (ts_check){.tolerance = {-1, -1, -1}};
    parser in = {.err = err, .arena = arena, .cursor = {.source = &text, .at = begin}};
    const node *left = parse_name(&in);
    if (!(check->actual = new_reference(&in, left))) return false;
    while (left->kind == NODE_INDEX) left = left->items[0];
    check->name = left->name;
    bool exact = ts_cursor_take(&in.cursor, "==");
    if (!exact && !ts_cursor_take(&in.cursor, "~=")) return expected(&in, "'~=' or '=='");
    if (!(check->expected = new_reference(&in, parse_level(&in, COMPARISON)))) return false;
    if (exact) return expect_end(err, &text, in.cursor.at, "an operator or the end ('==' takes no bound)");
    return parse_bounds(&in, check);
}

static bool uses(const node *tree, const char *name) {
    for (; tree; tree = tree->count > 0 ? tree->items[0] : NULL) {
        if (tree->kind == NODE_NAME) return strcmp(tree->name, name) == 0;
        for (int i = 1; i < tree->count; i++)
            if (uses(tree->items[i], name)) return true;
        for (int i = 0; i < KEYWORDS; i++)
            if (uses(tree->keywords[i], name)) return true;
    }
    return false;
}

bool ts_reference_uses(const ts_reference *expression, const char *name) {
    return uses(expression->root, name);
}

bool ts_check_uses(const ts_check *check, const char *name) {
    return ts_reference_uses(check->actual, name) || ts_reference_uses(check->expected, name) ||
           (check->err && ts_reference_uses(check->err, name));
}
