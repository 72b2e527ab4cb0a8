/* Comparison of errors. */
#include "tests/support/test.h"

void assert_error_at(const ts_error *err, ts_error_kind kind, const char *text, const char *file, int line) {
    char got[2048];
    size_t needed = ts_error_format(err, got, sizeof got);
    _assert_true(needed < sizeof got, "the error fits", file, line);
    _assert_string_equal(got, text, file, line);
    _assert_int_equal((LargestIntegralType)err->kind, (LargestIntegralType)kind, file, line);
}
