/* Counts added up by a table of members. */
#include "tests/support/test.h"

#include "base/members.h"

typedef struct {
    int64_t a, left_out, more[2];
} counts;

static const ts_member members[] = {TS_MEMBER(counts, a), TS_MEMBER(counts, more), {0, 0}};

TEST(members_of_the_table_are_added) {
    counts sum = {1, 2, {3, 4}}, part = {10, 20, {30, 40}};
    ts_members_add(&sum, &part, members, 1, 1);
    assert_memory_equal(&sum, (&(counts){11, 2, {33, 44}}), sizeof sum);
    ts_members_add(&sum, &part, members, -2, 1);
    assert_memory_equal(&sum, (&(counts){-9, 2, {-27, -36}}), sizeof sum);
}

TEST(parts_are_rounded_to_the_nearest) {
    static const struct {
        int64_t part, times, of, added;
    } rows[] = {{10, 1, 4, 3},   {9, 1, 4, 2}, {11, 1, 4, 3}, {-10, 1, 4, -3},
                {-9, 1, 4, -2},  {0, 3, 7, 0}, {7, 3, 7, 3},  {INT64_MAX, 3, 3, INT64_MAX},
                {-11, 1, 4, -3}, {1, 1, 3, 0}, {2, 1, 3, 1},  {-1, 1, 3, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        counts sum = {0}, part = {.more = {0, rows[i].part}};
        ts_members_add(&sum, &part, members, rows[i].times, rows[i].of);
        assert_int_equal(sum.more[1], rows[i].added);
        assert_int_equal(sum.more[0], 0);
    }
}

TEST(a_member_has_places) {
    counts all = {1, 2, {3, 4}};
    assert_ptr_equal(ts_member_of(&all, &members[0], 0), &all.a);
    assert_ptr_equal(ts_member_of(&all, &members[1], 1), &all.more[1]);
    assert_int_equal(members[1].count, 2);
}
