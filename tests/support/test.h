/* cmocka, and comparison of errors. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include "base/error.h"
#include "tests/support/cmocka.h"

/* The error's text as a user sees it, exactly (ts_error_format), and its kind. */
#define assert_error(err, kind, text) assert_error_at((err), (kind), (text), __FILE__, __LINE__)
void assert_error_at(const ts_error *err, ts_error_kind kind, const char *text, const char *file, int line);

#endif
