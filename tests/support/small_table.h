/* Tables of a study from texts, for tests of what is written of them. */
#ifndef TESTS_SUPPORT_SMALL_TABLE_H
#define TESTS_SUPPORT_SMALL_TABLE_H

#include "sweep/table.h"

/* Lines of cells with '|' between, headings first; an empty cell has no value. So many columns are parameters; "status",
 * "cycles" and "estimated" are those. The study has a title alone. */
ts_sweep_table *small_table(ts_arena *arena, int parameters, const char *text);

#endif
