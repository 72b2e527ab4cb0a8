/* How often a law is tried, and how many of a test's cases. */
#include "tests/support/rounds.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
enum { IS_SANITIZED = true };
#else
enum { IS_SANITIZED = false };
#endif

int rounds(int plain, int sanitized) {
    const char *text = getenv("TS_ROUNDS");
    int factor = text ? atoi(text) : 1;
    if (text && strcmp(text, "0") == 0) return sanitized;
    int usual = IS_SANITIZED ? sanitized : plain;
    if (factor < 1 || factor > INT_MAX / usual) abort();
    return factor * usual;
}

int stride(int usual, int sanitized) {
    const char *text = getenv("TS_ROUNDS");
    if (text && strcmp(text, "0") == 0) return sanitized;
    if (text) return IS_SANITIZED ? usual : 1;
    return IS_SANITIZED ? sanitized : usual;
}

int cases(int all, int sanitized) {
    const char *text = getenv("TS_ROUNDS");
    bool few = text ? strcmp(text, "0") == 0 : IS_SANITIZED;
    return few ? sanitized : all;
}
