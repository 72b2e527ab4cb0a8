/* The tables of hashes: what is put is got, until it is cleared, and a full one says so. */
#include "base/table.h"
#include "tests/support/group.h"

/* Hashes that collide: their low bits are equal. */
static uint64_t hash_of(int i) { return (uint64_t)i * UINT64_C(0x100000000) + (uint64_t)(i % 3); }

enum { MANY = 5000 };

TEST(what_is_put_is_got) {
    ts_table table = ts_table_begin(arena, MANY);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(ts_table_get(&table, hash_of(i)), -1);
        assert_true(ts_table_put(&table, hash_of(i), i));
    }
    for (int i = 0; i < MANY; i++) assert_int_equal(ts_table_get(&table, hash_of(i)), i);
}

TEST(a_later_value_takes_the_place) {
    ts_table table = ts_table_begin(arena, 3);
    for (int i = 0; i < 10; i++) assert_true(ts_table_put(&table, 77, i));
    assert_int_equal(ts_table_get(&table, 77), 9);
    assert_true(ts_table_put(&table, 0, 1)); /* a hash as others */
    assert_int_equal(ts_table_get(&table, 0), 1);
    assert_int_equal(ts_table_get(&table, 77), 9);
}

TEST(a_full_one_takes_no_more) {
    ts_table table = ts_table_begin(arena, 4);
    for (int i = 0; i < 4; i++) assert_true(ts_table_put(&table, hash_of(i), i));
    assert_false(ts_table_put(&table, hash_of(4), 4));
    assert_int_equal(ts_table_get(&table, hash_of(4)), -1);
    assert_int_equal(ts_table_get(&table, hash_of(3)), 3);
}

TEST(a_cleared_one_is_empty) {
    ts_table table = ts_table_begin(arena, MANY);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 2000; i++) assert_true(ts_table_put(&table, hash_of(i), i + round));
        assert_int_equal(ts_table_get(&table, hash_of(1999)), 1999 + round);
        ts_table_clear(&table);
        for (int i = 0; i < 2000; i++) assert_int_equal(ts_table_get(&table, hash_of(i)), -1);
    }
    table.epoch = UINT32_MAX; /* the count of clears comes round */
    assert_true(ts_table_put(&table, 5, 5));
    ts_table_clear(&table);
    assert_int_equal(ts_table_get(&table, 5), -1);
    assert_true(ts_table_put(&table, 6, 6));
    assert_int_equal(ts_table_get(&table, 6), 6);
}

int main(void) { return run_all_tests(begin_group, end_group); }
