/* Inputs of fuzz targets that are three lines: an operation, a text and its arguments. */
#ifndef TESTS_FUZZ_LINES_H
#define TESTS_FUZZ_LINES_H

#include <string.h>

#include "base/arena.h"

typedef struct {
    ts_arena *arena;
    const char *text[3];
} fuzz_lines;

static inline void fuzz_lines_cut(fuzz_lines *lines, const void *data, size_t size) {
    const char *at = data, *end = at + size;
    lines->arena = ts_arena_new();
    for (int i = 0; i < 3; i++) {
        const char *newline = size ? memchr(at, '\n', (size_t)(end - at)) : NULL,
                   *stop = newline ? newline : end;
        lines->text[i] = ts_arena_copy_text(lines->arena, size ? at : "", (size_t)(stop - at));
        at = newline ? newline + 1 : end;
    }
}

/* Would an operation that goes over all elements have too many: is the product of all numbers large? */
static inline int fuzz_lines_too_large(const fuzz_lines *lines, const char *const *operations) {
    double product = 1, number = 0;
    while (*operations && strcmp(*operations, lines->text[0]) != 0) operations++;
    for (int i = 1; i < 3 && *operations; i++)
        for (const char *c = lines->text[i];; c++) {
            int digit = *c >= '0' && *c <= '9';
            if (digit)
                number = number * 10 + (*c - '0');
            else if (number > 1)
                product *= number;
            if (!digit) number = 0;
            if (!*c) break;
        }
    return product > 1e6;
}

#endif
