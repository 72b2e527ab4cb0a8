/* The one extrapolation. */
#include "study/extend.h"

#include "tests/support/test.h"

TEST(a_line_through_both) {
    ts_extension known = {{8, 16}, {1000, 1800}};
    assert_int_equal(ts_extend(&known, 8), 1000);
    assert_int_equal(ts_extend(&known, 16), 1800);
    assert_int_equal(ts_extend(&known, 12), 1400);
    assert_int_equal(ts_extend(&known, 17), 1900);
    assert_int_equal(ts_extend(&known, 0), 200);
    assert_int_equal(ts_extend(&known, 4096), 409800);
}

TEST(sizes_and_costs_of_any_origin) {
    ts_extension falls = {{10, 13}, {7, 1}};
    assert_int_equal(ts_extend(&falls, 16), -5);
    assert_int_equal(ts_extend(&falls, 11), 5);
    ts_extension thirds = {{0, 3}, {0, 10}};
    assert_int_equal(ts_extend(&thirds, 2), 6);
}

TEST(products_beyond_64_bits) {
    const int64_t large = INT64_C(1) << 50;
    ts_extension known = {{large, 2 * large}, {large, 3 * large}};
    assert_int_equal(ts_extend(&known, 4 * large), 7 * large);
}
