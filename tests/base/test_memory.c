/* Estimates of memory: sizes as text, and parts that fit or do not. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "tests/support/temporary.h"

TEST(sizes) {
    static const struct {
        const char *text;
        int64_t bytes; /* 0: refused */
    } rows[] = {{"1", 1},
                {"17B", 17},
                {"3 KiB", 3072},
                {"2MiB", 2 << 20},
                {"5  GiB", INT64_C(5) << 30},
                {"1TiB", INT64_C(1) << 40},
                {"0", 0},
                {"", 0},
                {"GiB", 0},
                {"-1", 0},
                {"1GB", 0},
                {"1 GiB ", 0},
                {"9999999TiB", 0},
                {"8388607TiB", INT64_C(8388607) << 40},
                {"99999999999999999999", 0}};
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

TEST(checks) {
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
        {5, 5000,
         "this needs about 3.0 GiB of memory, more than --max-memory, which is 4.9 KiB: "
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

TEST(host) {
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

static void put(const char *folder, const char *name, const char *text) {
    char path[TEMPORARY_PATH + 64];
    snprintf(path, sizeof path, "%s%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* A group's own limit and those of the groups around it; of v1 only where memory is a controller. */
TEST(groups) {
    char folder[TEMPORARY_PATH], path[TEMPORARY_PATH + 64];
    static const char *const folders[] = {"/memory", "/memory/a", "/a", "/a/b"};
    static const struct {
        const char *groups;
        int64_t expect;
    } rows[] = {
        {"", 9000},
        {"0::/\n", 9000},
        {"0::/a\n", 7000},
        {"0::/a/b\n", 5000},
        {"0::/a/b/c", 5000},
        {"3:cpu,memory:/a\n0::/\n", 3000},
        {"3:memory,cpu:/a\n", 3000},
        {"3:memory:/a/gone\n", 3000},
        {"3:memory2,mymemory:/a\n", 9000},
        {"nothing\nof:it\n", 9000},
    };
    assert_non_null(mkdtemp(temporary_path(folder, "test_memory_XXXXXX")));
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s%s", folder, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    assert_true(ts_memory_group("/no/file", folder) == INT64_MAX);
    put(folder, "/memory/memory.limit_in_bytes", "9000\n");
    put(folder, "/memory/a/memory.limit_in_bytes", "3000\n");
    put(folder, "/memory.max", "max\n");
    put(folder, "/a/memory.max", "7000\n");
    put(folder, "/a/b/memory.max", "5000\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        put(folder, "/groups", rows[i].groups);
        snprintf(path, sizeof path, "%s/groups", folder);
        assert_int_equal(ts_memory_group(path, folder), rows[i].expect);
    }
    snprintf(path, sizeof path, "rm -r %s", folder);
    assert_int_equal(system(path), 0);
}
