/* How often a law is tried. */
#include "tests/support/rounds.h"

#include <limits.h>
#include <stdlib.h>

int rounds(int plain, int sanitized) {
#ifdef __SANITIZE_ADDRESS__
    int usual = sanitized;
    (void)plain;
#else
    int usual = plain;
    (void)sanitized;
#endif
    const char *text = getenv("TS_ROUNDS");
    int factor = text ? atoi(text) : 1;
    if (factor < 1 || factor > INT_MAX / usual) abort();
    return factor * usual;
}
