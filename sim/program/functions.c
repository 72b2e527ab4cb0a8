/* The functions of constant expressions. */
#include "base/number.h"
#include "base/text.h"

#include "expr.h"

static bool apply_ceil_div(int64_t a, int64_t b, int64_t *out) {
    *out = b > 0 ? ts_floor_div(a, b) + (ts_floor_mod(a, b) != 0) : 0;
    return b > 0;
}

static bool apply_round_up(int64_t a, int64_t b, int64_t *out) {
    return apply_ceil_div(a, b, out) && ts_mul(*out, b, out);
}

static bool apply_min(int64_t a, int64_t b, int64_t *out) {
    *out = a < b ? a : b;
    return true;
}

static bool apply_max(int64_t a, int64_t b, int64_t *out) {
    *out = a > b ? a : b;
    return true;
}

static const function functions[] = {
    {"ceil_div", apply_ceil_div},
    {"round_up", apply_round_up},
    {"min", apply_min},
    {"max", apply_max},
};

const function *function_find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (ts_text_is(name, length, functions[i].name)) return &functions[i];
    return NULL;
}
