/* The stages of a permute within lines. */
#include "move/copy_plan.h"
#include "tests/support/test.h"

static const struct {
    int line_bytes, unit, count;
    int src[6], dst[6]; /* names of the digits */
    int stages, granules;
    bool orders, swaps, orders_again;
} networks[] = {
    {64, 1, 5, {1, 2, 3, 4, 5}, {9, 1, 2, 3, 4}, 1, 2, false, false, false}, /* pairs of 16 bits */
    {64, 1, 5, {9, 1, 2, 3, 4}, {1, 2, 3, 4, 5}, 1, 32, true, false, false}, /* and back */
    {32, 1, 4, {1, 2, 3, 4}, {9, 1, 2, 3}, 1, 2, false, true, false},
    {32, 1, 4, {9, 1, 2, 3}, {1, 2, 3, 4}, 1, 16, true, true, false},
    {64, 0, 6, {1, 2, 3, 4, 5, 6}, {8, 9, 1, 2, 3, 4}, 2, 3, false, false, false}, /* fours of 8 bits */
    {64, 2, 4, {1, 2, 3, 4}, {6, 7, 8, 9}, 4, 60, false, false, false}, /* a transpose of 32 bits */
    {32, 2, 3, {1, 2, 3}, {7, 8, 9}, 3, 28, false, false, false},
    {32, 1, 4, {4, 1, 2, 3}, {3, 4, 1, 2}, 0, 0, false, true, true}, /* bytes change places only */
    {32, 1, 4, {1, 2, 3, 4}, {4, 3, 2, 1}, 0, 0, true, true, true},
    {16, 3, 1, {1}, {1}, 0, 0, false, false, false}, /* nothing changes */
};

TEST(networks_of_digits) {
    for (size_t n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        ts_tile tile;
        ts_digit src[6] = {{0}}, dst[6] = {{0}}, enters[6], leaves[6];
        for (int i = 0; i < networks[n].count; i++) {
            src[i].loop = networks[n].src[i];
            dst[i].loop = networks[n].dst[i];
        }
        ts_network network = {networks[n].line_bytes, networks[n].unit, networks[n].count, src, dst};
        ts_network_make(&tile, &network, enters, leaves);
        assert_int_equal(tile.stages, networks[n].stages);
        assert_int_equal(tile.granules, networks[n].granules);
        assert_int_equal(tile.orders, networks[n].orders);
        assert_int_equal(tile.swaps, networks[n].swaps);
        assert_int_equal(tile.orders_again, networks[n].orders_again);
    }
}
