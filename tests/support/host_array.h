/* Arrays of files, for tests of each format. */
#ifndef TESTS_SUPPORT_HOST_ARRAY_H
#define TESTS_SUPPORT_HOST_ARRAY_H

#include "host/format.h"

/* "f32[2,3] 0 1 2 3 4 5"; of complex ones the real parts. */
const char *host_array_text(ts_arena *arena, const ts_host_array *array);

/* Arrays of every type, also without elements, are saved to `path` and loaded from there as they were. `file` is the
 * path without a name behind it, which is loaded too, and removed. */
void check_every_type(const char *path, const char *file);

#endif
