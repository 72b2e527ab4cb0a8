/* cmocka, with what it needs before it, and tests that list themselves. */
#ifndef TESTS_SUPPORT_CMOCKA_H
#define TESTS_SUPPORT_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* A test of the program: TEST(name) { .. }. Those of a program run in the order of their lines. */
#define TEST(name) TEST_WITH(name, NULL, NULL)
/* One with a set-up and a tear-down of its own. */
#define TEST_WITH(name, set_up, tear_down)                                                                   \
    static void name(void **state);                                                                          \
    __attribute__((constructor)) static void list_##name(void) {                                             \
        list_test(__LINE__, &(struct CMUnitTest){#name, name, set_up, tear_down, NULL});                     \
    }                                                                                                        \
    static void name(void **state)
void list_test(int line, const struct CMUnitTest *test);

/* What `main` returns. A program of tests that defines none has main.c's, which runs them with NULL, NULL. */
int run_all_tests(CMFixtureFunction group_set_up, CMFixtureFunction group_tear_down);

#endif
