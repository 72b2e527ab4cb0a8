/* An arena that the tests of a group share. */
#include "tests/support/group.h"

ts_arena *arena;

int begin_group(void **state) {
    arena = ts_arena_new();
    return 0;
}

int end_group(void **state) {
    ts_arena_free(arena);
    return 0;
}
