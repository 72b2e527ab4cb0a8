/* Constant expressions, by precedence climbing. */
#include "expr.h"

#include <math.h>

#include "base/number.h"

enum { NESTING_MAX = 64 };

/* Levels of binary operators, loosest first: the precedence. */
enum { OR, AND, COMPARISON, SHIFT, SUM, PRODUCT };

typedef struct {
    ts_error *err;
    const scope *names;
    const token *at;
    int nesting;
    int skipped; /* how many && and || around do not ask: values are all 0 */
    enum { CONSTANT, AFFINE /* may name sregs */, FORM /* all values are 0 */ } mode;
} parser;

static bool parse_binary(parser *p, int least, constant *out);

/* Is nothing computed here? */
static bool is_form(const parser *p) { return p->mode == FORM || p->skipped > 0; }

/* Are names not looked up? */
static bool is_blind(const parser *p) { return p->mode == FORM || (p->skipped > 0 && p->names->is_checked); }

static double as_number(const constant *v) { return v->is_float ? v->number : (double)v->integer; }

static bool expect(parser *p, int mark, const char *what) {
    return token_take(&p->at, mark) || token_unexpected(p->err, p->at, what);
}

static bool parse_call(parser *p, const function *called, constant *out) {
    const token *name = p->at++;
    constant a, b;
    if (!expect(p, '(', "'('") || !parse_binary(p, OR, &a) || !expect(p, ',', "','") ||
        !parse_binary(p, OR, &b) || !expect(p, ')', "')'"))
        return false;
    *out = (constant){0};
    if (is_form(p)) return true;
    if (a.is_float || b.is_float || a.term_count + b.term_count > 0)
        return TOKEN_ERROR(p->err, name, "%s takes constant integers", called->name);
    if (!called->apply(a.integer, b.integer, &out->integer)) {
        return TOKEN_ERROR(p->err, name, "%s of %lld and %lld has no value in 64 bits", called->name,
                           (long long)a.integer, (long long)b.integer);
    }
    return true;
}

/* One sreg, when one is next. */
static bool parse_sreg(parser *p, constant *out, bool *found) {
    const token *begin = p->at;
    ts_operand_kind kind;
    int number;
    if (!register_read(p->err, p->names, &p->at, &kind, &number, found)) return false;
    if (*found && kind != TS_OPERAND_SREG) {
        return TOKEN_ERROR(p->err, begin, "found a %s, expected a sreg or a number",
                           ts_operand_kind_text(kind));
    }
    *out = (constant){.term_count = 1};
    out->terms[0].sreg = number;
    out->terms[0].factor = 1;
    return true;
}

static bool parse_name(parser *p, constant *out) {
    const function *called = function_find(p->at->text, p->at->length);
    if (called != NULL) return parse_call(p, called, out);
    bool found = false;
    if (p->mode == AFFINE && !parse_sreg(p, out, &found)) return false;
    if (found) return true;
    const symbol *named = scope_find(p->names, p->at->text, p->at->length);
    if (named == NULL) return scope_unknown(p->err, p->names, p->at, "name", SYMBOL_PARAM);
    if (named->class != SYMBOL_PARAM) {
        return TOKEN_ERROR(p->err, p->at, "'%s' is a %s, expected a number or a parameter", named->name,
                           symbol_class_text(named->class));
    }
    *out = named->value;
    p->at++;
    return true;
}

static bool parse_primary(parser *p, constant *out);

/* a * factor, terms and all. */
static bool scale(constant *a, int64_t factor) {
    bool good = ts_mul(a->integer, factor, &a->integer);
    for (int i = 0; i < a->term_count; i++)
        good = good && ts_mul(a->terms[i].factor, factor, &a->terms[i].factor);
    return good;
}

static bool takes_operators(parser *p, const token *op, const constant *v) {
    return !isnan(as_number(v)) || TOKEN_ERROR(p->err, op, "nan takes no operators");
}

/* 2^63: no number, but with a sign it is the least. */
static bool is_edge(const token *at) { return at->kind == TOKEN_BAD && at->integer == INT64_MIN; }

static bool parse_sign(parser *p, constant *out) {
    const token *sign = p->at++;
    if (token_is(sign, '-') && is_edge(p->at)) {
        *out = (constant){.integer = p->at++->integer};
        return true;
    }
    if (!parse_primary(p, out)) return false;
    if (is_form(p)) return true;
    if (token_is(sign, '!') && !takes_operators(p, sign, out)) return false;
    if (token_is(sign, '!'))
        *out = (constant){.integer = as_number(out) == 0};
    else if (out->is_float)
        out->number = -out->number;
    else if (!scale(out, -1))
        return TOKEN_ERROR(p->err, sign, "the result does not fit in 64 bits");
    return true;
}

static bool parse_one(parser *p, constant *out) {
    if (token_is(p->at, '-') || token_is(p->at, '!')) return parse_sign(p, out);
    if (token_take(&p->at, '(')) return parse_binary(p, OR, out) && expect(p, ')', "')'");
    if (is_blind(p) && (p->at->kind == TOKEN_NAME || p->at->kind == TOKEN_STRING) &&
        !function_find(p->at->text, p->at->length)) {
        *out = (constant){0};
        p->at++;
        return true;
    }
    if (p->at->kind == TOKEN_NAME) return parse_name(p, out);
    if (p->at->kind != TOKEN_INTEGER && p->at->kind != TOKEN_FLOAT)
        return token_unexpected(p->err, p->at, "a number");
    if (p->at->kind == TOKEN_FLOAT)
        *out = (constant){.is_float = true, .number = p->at->number};
    else
        *out = (constant){.integer = p->at->integer};
    p->at++;
    return true;
}

static bool parse_primary(parser *p, constant *out) {
    if (++p->nesting > NESTING_MAX)
        return TOKEN_ERROR(p->err, p->at, "the expression is nested over %d deep", NESTING_MAX);
    bool good = parse_one(p, out);
    p->nesting--;
    return good;
}

typedef struct {
    int mark, level;
} operator;
static const operator operators[] = {
    {MARK2('|', '|'), OR},
    {MARK2('&', '&'), AND},
    {MARK2('=', '='), COMPARISON},
    {MARK2('!', '='), COMPARISON},
    {'<', COMPARISON},
    {MARK2('<', '='), COMPARISON},
    {'>', COMPARISON},
    {MARK2('>', '='), COMPARISON},
    {MARK2('<', '<'), SHIFT},
    {MARK2('>', '>'), SHIFT},
    {'+', SUM},
    {'-', SUM},
    {'*', PRODUCT},
    {'/', PRODUCT},
    {MARK2('/', '/'), PRODUCT},
    {'%', PRODUCT},
};

static const operator* find_operator(const token *at, int least) {
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        if (token_is(at, operators[i].mark) && operators[i].level >= least) return &operators[i];
    return NULL;
}

static bool compare(int mark, double order) {
    switch (mark) {
    case MARK2('=', '='):
        return order == 0;
    case MARK2('!', '='):
        return order != 0;
    case '<':
        return order < 0;
    case MARK2('<', '='):
        return order <= 0;
    case '>':
        return order > 0;
    default:
        return order >= 0;
    }
}

static bool does_not_fit(parser *p, const token *op) {
    return TOKEN_ERROR(p->err, op, "the result of '%.*s' does not fit in 64 bits", (int)op->length, op->text);
}

static bool shift(parser *p, const token *op, int64_t a, int64_t by, int64_t *out) {
    if (by < 0 || by > 63) return TOKEN_ERROR(p->err, op, "a shift by %lld, expected 0 to 63", (long long)by);
    if (token_is(op, MARK2('>', '>'))) {
        *out = a < 0 ? ~(~a >> by) : a >> by;
        return true;
    }
    __int128 wide = (__int128)1 << by;
    return !__builtin_mul_overflow(wide, a, out) || does_not_fit(p, op);
}

static bool integer_result(int mark, int64_t a, int64_t b, int64_t *out) {
    switch (mark) {
    case '+':
        return ts_add(a, b, out);
    case '-':
        return !__builtin_sub_overflow(a, b, out);
    case '*':
        return ts_mul(a, b, out);
    case '/':
    case MARK2('/', '/'):
        if (b == -1) return ts_mul(a, b, out);
        *out = ts_floor_div(a, b);
        return true;
    default:
        *out = b == -1 ? 0 : ts_floor_mod(a, b);
        return true;
    }
}

static double float_result(int mark, double a, double b) {
    return mark == '+' ? a + b : mark == '-' ? a - b : mark == '*' ? a * b : a / b;
}

/* An infinity comes of one that was written. */
static bool is_known(parser *p, const token *op, double a, double b, double result) {
    if (isnan(result)) return TOKEN_ERROR(p->err, op, "the result is not a number");
    return !isinf(result) || isinf(a) || isinf(b) || does_not_fit(p, op);
}

static bool calculate(parser *p, const token *op, const constant *a, const constant *b, constant *out) {
    int mark = (int)op->integer;
    bool is_float = a->is_float || b->is_float;
    bool shifts = mark == MARK2('<', '<') || mark == MARK2('>', '>'),
         rounds = mark == '%' || mark == MARK2('/', '/');
    if ((mark == '/' || rounds) && as_number(b) == 0) return TOKEN_ERROR(p->err, op, "the divisor is 0");
    if ((shifts || rounds) && is_float)
        return TOKEN_ERROR(p->err, op, "'%.*s' takes integers", (int)op->length, op->text);
    if (is_float) {
        *out = (constant){.is_float = true, .number = float_result(mark, as_number(a), as_number(b))};
        return is_known(p, op, as_number(a), as_number(b), out->number);
    }
    *out = (constant){0};
    if (shifts) return shift(p, op, a->integer, b->integer, &out->integer);
    return integer_result(mark, a->integer, b->integer, &out->integer) || does_not_fit(p, op);
}

/* out += factor * sreg; false when there are too many terms, or it overflows. */
static bool add_term(constant *out, int sreg, int64_t factor) {
    int i = 0;
    while (i < out->term_count && out->terms[i].sreg != sreg) i++;
    if (i == TS_AFFINE_TERMS) return false;
    if (i == out->term_count) {
        out->terms[out->term_count++].sreg = sreg;
        out->terms[i].factor = 0;
    }
    return ts_add(out->terms[i].factor, factor, &out->terms[i].factor);
}

static bool calculate_affine(parser *p, const token *op, const constant *a, const constant *b,
                             constant *out) {
    int mark = (int)op->integer;
    const constant *factor = a->term_count == 0 ? a : b;
    bool linear = mark == '+' || mark == '-' || (mark == '*' && factor->term_count == 0);
    if (!linear || a->is_float || b->is_float) {
        return TOKEN_ERROR(p->err, op,
                           "registers may only be added, subtracted and multiplied by constants here");
    }
    *out = factor == a ? *b : *a;
    bool good = true;
    if (mark == '*') {
        good = scale(out, factor->integer);
    } else {
        constant right = *b;
        *out = *a;
        good = scale(&right, mark == '-' ? -1 : 1) && ts_add(out->integer, right.integer, &out->integer);
        for (int i = 0; i < right.term_count; i++)
            good = good && add_term(out, right.terms[i].sreg, right.terms[i].factor);
    }
    return good || TOKEN_ERROR(p->err, op, "over %d registers, or a number that does not fit in 64 bits",
                               TS_AFFINE_TERMS);
}

static bool combine(parser *p, const operator* op, const token *location, const constant *a,
                    const constant *b, constant *out) {
    *out = (constant){0};
    if (is_form(p)) return true;
    if (!takes_operators(p, location, a) || !takes_operators(p, location, b)) return false;
    if (a->term_count + b->term_count > 0) return calculate_affine(p, location, a, b, out);
    if (op->level >= SHIFT) return calculate(p, location, a, b, out);
    bool truth;
    if (op->level < COMPARISON) {
        bool left = as_number(a) != 0, right = as_number(b) != 0;
        truth = op->level == OR ? left || right : left && right;
    } else if (a->is_float || b->is_float) {
        truth = compare(op->mark, (as_number(a) > as_number(b)) - (as_number(a) < as_number(b)));
    } else {
        truth = compare(op->mark, ts_order(a->integer, b->integer));
    }
    *out = (constant){.integer = truth};
    return true;
}

/* In C a < b < c compares b's answer, 0 or 1, with c; in Python both hold. */
static bool refuse_chain(parser *p) {
    return TOKEN_ERROR(p->err, p->at,
                       "a comparison of a comparison, expected '&&' between two, or parentheses");
}

/* As in C: what && or || does not need for its answer is not computed. */
static bool is_decided(parser *p, const operator* op, const constant *left) {
    if (op->level >= COMPARISON || is_form(p) || left->term_count > 0 || isnan(as_number(left))) return false;
    return (as_number(left) != 0) == (op->level == OR);
}

static bool parse_right(parser *p, const operator* op, const constant *left, constant *out) {
    const token *location = p->at++;
    bool decided = is_decided(p, op, left);
    constant right;
    p->nesting++;
    p->skipped += decided;
    if (!parse_binary(p, op->level + 1, &right)) return false;
    p->skipped -= decided;
    p->nesting--;
    if (!decided) return combine(p, op, location, left, &right, out);
    *out = (constant){.integer = op->level == OR};
    return true;
}

static bool parse_binary(parser *p, int least, constant *out) {
    if (!parse_primary(p, out)) return false;
    const operator* op, *before = NULL;
    for (; (op = find_operator(p->at, least)) != NULL; before = op) {
        if (op->level == COMPARISON && before != NULL && before->level == COMPARISON) return refuse_chain(p);
        const constant left = *out;
        if (!parse_right(p, op, &left, out)) return false;
    }
    return true;
}

static bool parse_from(ts_error *err, const scope *names, const token **at, int least, constant *out) {
    parser p = {.err = err, .names = names, .at = *at};
    if (!parse_binary(&p, least, out)) return false;
    *at = p.at;
    return true;
}

bool expr_parse(ts_error *err, const scope *names, const token **at, constant *out) {
    return parse_from(err, names, at, OR, out);
}

bool expr_check(ts_error *err, const token **at) {
    parser p = {.err = err, .at = *at, .mode = FORM};
    constant nothing;
    if (!parse_binary(&p, OR, &nothing)) return false;
    *at = p.at;
    return true;
}

bool expr_product(ts_error *err, const scope *names, const token **at, constant *out) {
    return parse_from(err, names, at, PRODUCT, out);
}

bool expr_primary(ts_error *err, const scope *names, const token **at, constant *out) {
    return parse_from(err, names, at, PRODUCT + 1, out);
}

bool expr_affine(ts_error *err, const scope *names, const token **at, ts_affine *out) {
    parser p = {.err = err, .names = names, .at = *at, .mode = AFFINE};
    constant v;
    if (!parse_binary(&p, OR, &v)) return false;
    if (v.is_float) return TOKEN_ERROR(err, *at, "found %g, expected an integer", v.number);
    *at = p.at;
    *out = (ts_affine){.constant = v.integer};
    for (int i = 0; i < v.term_count; i++) {
        if (v.terms[i].factor != 0) {
            out->terms[out->term_count].sreg = v.terms[i].sreg;
            out->terms[out->term_count++].factor = v.terms[i].factor;
        }
    }
    return true;
}

bool expr_integer(ts_error *err, const scope *names, const token **at, const char *what, integer_range range,
                  int64_t *out) {
    const token *begin = *at;
    constant v;
    if (!expr_parse(err, names, at, &v)) return false;
    if (v.is_float) return TOKEN_ERROR(err, begin, "%s is %g, expected an integer", what, v.number);
    if (v.integer < range.low || v.integer > range.high) {
        return TOKEN_ERROR(err, begin, "%s is %lld, expected %lld to %lld", what, (long long)v.integer,
                           (long long)range.low, (long long)range.high);
    }
    *out = v.integer;
    return true;
}

/* "v" before '[': registers by number, unless the program uses the name. */
static bool names_registers(const scope *names, const token *at, ts_operand_kind *kind) {
    char zero[2] = {at->text[0], '0'};
    int number;
    return at->length == 1 && token_is(at + 1, '[') && register_parse(zero, 2, kind, &number) &&
           scope_find(names, at->text, 1) == NULL;
}

bool register_read(ts_error *err, const scope *names, const token **at, ts_operand_kind *kind, int *number,
                   bool *found) {
    const token *name = *at;
    *found = name->kind == TOKEN_NAME;
    if (!*found) return true;
    const symbol *alias = scope_find(names, name->text, name->length);
    if (alias != NULL && alias->class == SYMBOL_REGISTER) {
        *kind = alias->kind;
        *number = alias->index;
        ++*at;
        return true;
    }
    if (register_parse(name->text, name->length, kind, number)) {
        ++*at;
        return true;
    }
    *found = names_registers(names, name, kind);
    if (!*found) return true;
    int64_t index;
    *at += 2;
    if (!expr_integer(err, names, at, "the register's number", (integer_range){0, 9999}, &index))
        return false;
    *number = (int)index;
    return token_take(at, ']') || token_unexpected(err, *at, "']'");
}

bool expr_begins(const scope *names, const token *at) {
    if (at->kind == TOKEN_INTEGER || at->kind == TOKEN_FLOAT || token_is(at, '-') || token_is(at, '!') ||
        token_is(at, '('))
        return true;
    if (at->kind != TOKEN_NAME) return false;
    const symbol *found = scope_find(names, at->text, at->length);
    return (found != NULL && found->class == SYMBOL_PARAM) || function_find(at->text, at->length) != NULL;
}
