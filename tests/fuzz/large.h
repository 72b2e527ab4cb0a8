/* Inputs that would take long: those with large numbers, where every element is gone over. */
#ifndef TESTS_FUZZ_LARGE_H
#define TESTS_FUZZ_LARGE_H

#include <stdbool.h>
#include <string.h>

/* Does the text have one of the words, and is the product of all its numbers large? */
static inline bool fuzz_too_large(const char *text, const char *const *words) {
    double product = 1, number = 0;
    while (*words && !strstr(text, *words)) words++;
    for (const char *c = text; *words; c++) {
        bool digit = *c >= '0' && *c <= '9';
        if (digit)
            number = number * 10 + (*c - '0');
        else if (number > 1)
            product *= number;
        if (!digit) number = 0;
        if (!*c) return product > 1e6;
    }
    return false;
}

#endif
