/* Which scalars steer an instruction, and which are values. */
#include <stdio.h>

#include "check/scalars.h"
#include "tests/support/test.h"
#include "tests/support/core_fixture.h"

/* Of s4 and s5, and of s6 and a constant; signalled is semaphore s7 of four. */
static const ts_affine source_begin[] = {{.term_count = 2, .terms = {{4, 1}, {5, 8}}}};
static const ts_affine destination_begin[] = {{.constant = 3}, {.term_count = 1, .terms = {{6, 1}}}};
static const int64_t sizes[] = {1, 1};
static const ts_transfer transfers[] = {
    {.source = {0, 1, source_begin, sizes},
     .destination = {0, 2, destination_begin, sizes},
     .semaphore = {.first = 0, .count = 4, .sreg = 7}},
    {.source = {0, 0, NULL, NULL}, .destination = {0, 0, NULL, NULL}, .semaphore = {.count = 1, .sreg = -1}},
};

static const struct {
    const char *text, *scalars; /* controls, then values */
} rows[] = {
    {"smov s1 5", " |"},
    {"sadd s1 s2 s3", " | 2 3"},
    {"sadd s1 s2 s2", " | 2 2"},
    {"sadd s1 s0 5", " | 0"},
    {"sld s1 [0+s4]", " 4 |"},
    {"sst [4+s4+s0] s6", " 4 0 | 6"},
    {"br.eq s1 s2 @0", " 1 2 |"},
    {"brnz s3 @0", " 3 |"},
    {"delay s4", " 4 |"},
    {"vld v1 [0+s1*128]", " 1 |"},
    {"vst [0+s1*128] v1", " 1 |"},
    {"vadd.i32 v1 v2 s3", " | 3"},
    {"v2s s1 v3", " |"},
    {"sem.read s1 e0+s2:4", " 2 |"},
    {"sem.set e0+s2:4 s3", " 2 3 |"},
    {"wait e0 s7", " 7 |"},
    {"wait e0", " |"},
    {"dma t0", " 4 5 6 7 |"},
    {"dma t1", " |"},
};

TEST_WITH_ARENA(controls_and_values) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_code code = {.transfers = transfers, .transfer_count = 2};
        ts_scalar_use use;
        char text[64];
        int at = 0;
        fixture_assemble(arena, &code, rows[i].text);
        ts_scalar_use_of(arena, &code, &code.bundles[0].instructions[0], &use);
        for (int k = 0; k < use.control_count; k++) at += snprintf(text + at, 8, " %d", use.controls[k]);
        at += snprintf(text + at, 8, " |");
        for (int k = 0; k < use.value_count; k++) at += snprintf(text + at, 8, " %d", use.values[k]);
        assert_string_equal(text, rows[i].scalars);
    }
}
