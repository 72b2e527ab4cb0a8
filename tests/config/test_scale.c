/* Figures doubled and halved: as a file would have them, exactly, or not at all. */
#include <string.h>

#include "tests/support/test.h"
#include "config/scale.h"

typedef struct {
    int32_t count, cycles;
    int64_t big, bytes, khz, picoseconds;
    bool flag;
} thing;

#define ROW(key, kind_, member)                                                                              \
    {                                                                                                        \
        .path = key, .kind = TS_FIELD_##kind_, .offset = offsetof(thing, member),                            \
        .bytes = sizeof(((thing *)0)->member), .unit = ""                                                    \
    }

/* No more than the member holds, nor half of an odd figure; 0 would stay what it is. */
TEST_WITH_ARENA(figures_are_scaled_exactly) {
    static const struct {
        ts_field field;
        thing at;
        const char *doubled, *halved; /* NULL: neither */
    } rows[] = {
        {ROW("count", INTEGER, count), {.count = 6}, "count=12", "count=3"},
        {ROW("count", INTEGER, count), {.count = 1}, "count=2", NULL},
        {ROW("count", INTEGER, count), {.count = 0}, NULL, NULL},
        {ROW("count", INTEGER, count), {.count = -2}, NULL, NULL},
        {ROW("count", INTEGER, count), {.count = (1 << 30) - 1}, "count=2147483646", NULL},
        {ROW("count", INTEGER, count), {.count = 1 << 30}, NULL, "count=536870912"},
        {ROW("cycles", CYCLES, cycles), {.cycles = 14}, "cycles=28 ck", "cycles=7 ck"},
        {ROW("big", INTEGER, big), {.big = INT64_C(1) << 32}, "big=8589934592", "big=2147483648"},
        {ROW("big", INTEGER, big), {.big = INT64_C(1) << 62}, NULL, "big=2305843009213693952"},
        {ROW("bytes", BYTES, bytes), {.bytes = 512 << 10}, "bytes=1 MiB", "bytes=256 KiB"},
        {ROW("clock", CLOCK, khz), {.khz = 1500000}, "clock=3 GHz", "clock=750 MHz"},
        {ROW("time", TIME, picoseconds), {.picoseconds = 800}, "time=1.6 ns", "time=0.4 ns"},
        {ROW("flag", BOOL, flag), {.flag = true}, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int doubles = 0; doubles < 2; doubles++) {
            const ts_field *field = &rows[i].field;
            ts_field_leaf leaf = {field->path, field, (const char *)&rows[i].at + field->offset, NULL};
            ts_text out = ts_text_begin(arena);
            const char *expected = doubles ? rows[i].doubled : rows[i].halved;
            bool moved = ts_field_scaled(&leaf, doubles ? TS_FIELD_DOUBLED : TS_FIELD_HALVED, &out);
            if (moved != (expected != NULL)) fail_msg("row %zu: %s", i, out.bytes);
            if (moved) assert_string_equal(out.bytes, expected);
        }
}
