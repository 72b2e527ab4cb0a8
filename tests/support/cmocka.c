/* The tests of a program, by line. */
#include "tests/support/cmocka.h"

#include <assert.h>

enum { MOST = 128 };

static struct CMUnitTest tests[MOST]; /* cmocka passes over those without a name */
static int lines[MOST];
static int count;

void list_test(int line, const struct CMUnitTest *test) {
    int at = count++;
    assert(count <= MOST);
    for (; at > 0 && lines[at - 1] > line; at--) {
        lines[at] = lines[at - 1];
        tests[at] = tests[at - 1];
    }
    lines[at] = line;
    tests[at] = *test;
}

int run_all_tests(CMFixtureFunction group_set_up, CMFixtureFunction group_tear_down) {
    return cmocka_run_group_tests(tests, group_set_up, group_tear_down);
}
