/* Clock domains: crossings are rounded up, from cycle 0. */
#include "tests/support/test.h"
#include "base/clock.h"

TEST(crosses_domains) {
    static const struct {
        int64_t cycles, from_khz, to_khz, expected;
    } rows[] = {
        {0, 1500000, 940000, 0},
        {1, 1500000, 1500000, 1},
        {1, 1500000, 940000, 1},  /* 0.63 */
        {3, 1000000, 1500000, 5}, /* 4.5 */
        {2, 1000000, 1500000, 3}, /* exact */
        {7, 3000000, 1000000, 3}, /* 2.33 */
        {INT64_C(1) << 60, 1600000, 1600000, INT64_C(1) << 60},
        {INT64_C(1000000000000000), 1600000, 940000,
         INT64_C(587500000000000)},          /* beyond 64 bits on the way */
        {INT64_MAX, 2, 1, INT64_C(1) << 62}, /* only when it is rounded up */
        {INT64_MAX - 1, 2, 1, INT64_MAX / 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(ts_clock_convert(rows[i].cycles, rows[i].from_khz, rows[i].to_khz),
                         rows[i].expected);
}

TEST(counts_times) {
    assert_int_equal(ts_clock_cycles(0, 1500000), 0);
    assert_int_equal(ts_clock_cycles(1, 1500000), 1);
    assert_int_equal(ts_clock_cycles(14000, 1000000), 14);
    assert_int_equal(ts_clock_cycles(14000, 1600000), 23); /* 22.4 */
    assert_int_equal(ts_clock_cycles(19375, 1600000), 31); /* exact */
    assert_int_equal(ts_clock_cycles(54400, 1050000), 58); /* 57.12 */
}
