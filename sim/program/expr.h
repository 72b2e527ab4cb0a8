/* Constant expressions: checked 64-bit integers, and floats.
 *   + - * / % == != < <= > >= && || ! ( )  ceil_div(a,b) round_up(a,b) min(a,b) max(a,b)
 * '/' and '%' of integers round toward minus infinity; an operation with a float gives a float.
 * && and || compute their right side where it decides; its names must be known at any rate, unless the scope
 * says that they were checked.
 * Only what is written as `inf` is an infinity; `nan` takes no operators but a sign. */
#ifndef TILESIM_PROGRAM_EXPR_H
#define TILESIM_PROGRAM_EXPR_H

#include "scope.h"

/* Reads tokens from *at, which is left behind the expression. */
bool expr_parse(ts_error *err, const scope *names, const token **at, constant *out);
/* Its form alone: any name and text is a number, and what is computed of them is not looked at. */
bool expr_check(ts_error *err, const token **at);
/* Only products and what binds tighter: stops before + and -. */
bool expr_product(ts_error *err, const scope *names, const token **at, constant *out);
/* A number, a name, a call or a parenthesis, perhaps with a sign. */
bool expr_primary(ts_error *err, const scope *names, const token **at, constant *out);
/* An expression in which sregs may take part as in s1 * 8 + ROWS: a sum of sregs times constants. */
bool expr_affine(ts_error *err, const scope *names, const token **at, ts_affine *out);
typedef struct {
    int64_t low, high;
} integer_range;
/* An expression whose value is an integer in the range. `what` begins the message. */
bool expr_integer(ts_error *err, const scope *names, const token **at, const char *what, integer_range range,
                  int64_t *out);
/* Could an expression begin here: a number, a parameter, a function, a sign or a parenthesis? */
bool expr_begins(const scope *names, const token *at);
/* A register at *at: v3, an alias, or v[expr]. When there is none, *found is false and *at stays. */
bool register_read(ts_error *err, const scope *names, const token **at, ts_operand_kind *kind, int *number,
                   bool *found);
/* functions.c: of two integers; false where they have no value. */
typedef struct {
    const char *name;
    bool (*apply)(int64_t a, int64_t b, int64_t *out);
} function;
const function *function_find(const char *name, size_t length);

#endif
