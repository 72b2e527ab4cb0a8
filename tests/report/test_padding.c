/* What of a shape's bytes is data, replicas and padding. */
#include "report/padding.h"

#include "tests/support/group.h"
#include "tests/support/shapes.h"

static void what_bytes_hold(void **state) {
    static const struct {
        const char *shape;
        int64_t replicas, held;
        const char *text, *expansion;
    } rows[] = {
        {"f32[3,5]{1,0:T(4,8)}", 0, 60, "53.1 % padding: 60 of 128 bytes hold elements", "2.1x"},
        {"f32[4] S[4:1] + R[2:4]", 16, 32, "0.0 % padding: 32 of 32 bytes hold elements, 16 of them replicas",
         "2.0x"},
        {"f32[4] S[4:1] + R[(2,3):(4,10)]", 80, 96,
         "14.3 % padding: 96 of 112 bytes hold elements, 80 of them replicas", "7.0x"},
        {"f32[4] S[4:1] + R[3:0]", 0, 16, "0.0 % padding: 16 of 16 bytes hold elements", "1.0x"},
        {"f32[4] S[4:1] + R[2:2]", 8, 24, "0.0 % padding: 24 of 24 bytes hold elements, 8 of them replicas",
         "1.5x"}, /* some share places */
        {"f32[1] S[1:1] + R[2:1]", 4, 8, "0.0 % padding: 8 of 8 bytes hold elements, 4 of them replicas",
         "2.0x"},
        {"f32[4] 4:0", 0, 16, "0.0 % padding: 16 bytes of elements share 4 bytes", "0.2x"},
        {"s8[1]{0:T(2)}", 0, 1, "50.0 % padding: 1 of 2 bytes hold elements", "2.0x"},
        {"f32[0]{0}", 0, 0, "no elements, 0 bytes", "-"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ts_shape *shape = parse_shape(arena, rows[i].shape);
        assert_int_equal(report_replica_bytes(shape), rows[i].replicas);
        assert_int_equal(report_held_bytes(shape), rows[i].held);
        assert_string_equal(report_padding_text(arena, shape), rows[i].text);
        assert_string_equal(report_expansion_text(arena, shape->unpadded_bytes, shape->storage_bytes, 1),
                            rows[i].expansion);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_bytes_hold)};
    return cmocka_run_group_tests(tests, begin_group, end_group);
}
