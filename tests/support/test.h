/* cmocka, tests with an arena, and comparison of errors. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include "base/arena.h"
#include "base/error.h"
#include "tests/support/cmocka.h"

/* A test that has `arena`, an empty one of its own. */
#define TEST_WITH_ARENA(name)                                                                                \
    static void in_arena_##name(ts_arena *arena);                                                            \
    TEST(name) {                                                                                             \
        ts_arena *arena = ts_arena_new();                                                                    \
        in_arena_##name(arena);                                                                              \
        ts_arena_free(arena);                                                                                \
    }                                                                                                        \
    static void in_arena_##name(ts_arena *arena)

/* The error's text as a user sees it, exactly (ts_error_format), and its kind. */
#define assert_error(err, kind, text) assert_error_at((err), (kind), (text), __FILE__, __LINE__)
void assert_error_at(const ts_error *err, ts_error_kind kind, const char *text, const char *file, int line);

#endif
