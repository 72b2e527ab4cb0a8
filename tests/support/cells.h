/* Pages as text, for tests. */
#ifndef TESTS_SUPPORT_CELLS_H
#define TESTS_SUPPORT_CELLS_H

#include "base/text.h"

/* Without tags: a row is a line, its cells end in bars; a button is a plus. */
const char *cells_of(ts_arena *arena, const char *html);

#endif
