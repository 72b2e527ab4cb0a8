/* Estimates of memory: sizes as text, and parts that fit or do not. */
#include "tests/support/test.h"

#include <string.h>
#include <sys/resource.h>

#include "tilesim/base/memory.h"

static void sizes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes; /* 0: refused */
    } rows[] = {{"1", 1},          {"17B", 17},       {"3 KiB", 3072}, {"2MiB", 2 << 20},
                {"5  GiB", INT64_C(5) << 30}, {"1TiB", INT64_C(1) << 40}, {"0", 0}, {"", 0},
                {"GiB", 0},        {"-1", 0},         {"1GB", 0},      {"1 GiB ", 0},
                {"9999999TiB", 0}, {"8388607TiB", INT64_C(8388607) << 40}, {"99999999999999999999", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        int64_t bytes = 0;
        assert_int_equal(ts_memory_parse(&err, "--max-memory", rows[i].text, &bytes), rows[i].bytes > 0);
        if (rows[i].bytes > 0)
            assert_int_equal(bytes, rows[i].bytes);
        else
            assert_non_null(strstr(err.message, "expected a size such as 4GiB or 512MiB"));
    }
}

static void checks(void **state) {
    (void)state;
    static const ts_memory_part parts[] = {
        {"a", 1 << 20}, {"b", INT64_C(3) << 30}, {"c", 0}, {"d", 1 << 20}, {"e", 700}};
    static const struct {
        int count;
        int64_t most;
        const char *message;
    } rows[] = {
        {1, 1 << 20, ""},
        {1, (1 << 20) - 1,
         "this needs about 1.0 MiB of memory, more than --max-memory, which is 1024.0 KiB: a 1.0 MiB"},
        {5, 5000, "this needs about 3.0 GiB of memory, more than --max-memory, which is 4.9 KiB: "
                  "b 3.0 GiB, a 1.0 MiB, d 1.0 MiB"},
        {5, (INT64_C(3) << 30) + (2 << 20) + 700, ""},
        {5, (INT64_C(3) << 30) + (2 << 20) + 699, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        bool fits = ts_memory_check(&err, parts, rows[i].count, rows[i].most);
        assert_int_equal(fits, rows[i].message && !*rows[i].message);
        if (rows[i].message) assert_string_equal(err.message, rows[i].message);
    }
    static const ts_memory_part huge[] = {{"a", INT64_MAX}, {"b", INT64_MAX}};
    assert_false(ts_memory_check(NULL, huge, 2, INT64_MAX - 1));
}

static void host(void **state) {
    (void)state;
    struct rlimit old, less;
    int64_t all = ts_memory_host();
    assert_true(all > 1 << 20 && all < INT64_MAX / 5 * 4);
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    less = old;
    less.rlim_cur = (rlim_t)all / 2;
    if (setrlimit(RLIMIT_AS, &less) != 0) return; /* the sanitizer's own memory may be beyond it */
    assert_int_equal(ts_memory_host(), all / 2 / 5 * 4);
    setrlimit(RLIMIT_AS, &old);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(checks),
        cmocka_unit_test(host),
    };
    return cmocka_run_group_tests_name("base/memory", tests, NULL, NULL);
}
