/* An arena that the tests of a group share. */
#ifndef TESTS_SUPPORT_GROUP_H
#define TESTS_SUPPORT_GROUP_H

#include "base/arena.h"
#include "tests/support/test.h"

extern ts_arena *arena; /* from begin_group to end_group, which are a group's set-up and tear-down */
int begin_group(void **state);
int end_group(void **state);

#endif
