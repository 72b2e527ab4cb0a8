/* Software pipelining: which intervals loops get, by slots, units and recurrences worked out by hand. */
#include <string.h>

#include "program/program.h"
#include "tests/support/cmocka.h"
#include "tests/support/group.h"

/* One slot of each kind. A load takes 4 cycles, vector arithmetic 3, and a transcendental function 10, of which 3 keep
 * its unit busy. */
static ts_target make_target(void) {
    ts_target target = {.machine = "toy",
                        .core.limits = {.sregs = 8, .vregs = 32, .vmasks = 4},
                        .space_bytes = {[TS_SPACE_VMEM] = 1 << 20}};
    for (int i = 0; i < TS_SLOT_COUNT; i++) target.core.limits.slots[i] = 1;
    for (int i = 0; i < TS_LATENCY_COUNT; i++)
        target.core.latency_cycles[i] = target.core.occupancy_cycles[i] = 1;
    target.core.latency_cycles[TS_LATENCY_VECTOR_LOAD] = 4;
    target.core.latency_cycles[TS_LATENCY_VECTOR_ALU] = 3;
    target.core.latency_cycles[TS_LATENCY_EUP] = 10;
    target.core.occupancy_cycles[TS_LATENCY_EUP] = 3;
    return target;
}

/* No iteration writes a register that one in front has still to read: with one copy the next load, which is read 4
 * cycles later, waits as long. Stores keep their order, a cycle apart. */
static const struct {
    const char *mode, *body;
    int line, iterations, stages, cycles, slot_cycles, path_cycles; /* 0: it has no overlap */
} rows[] = {
    /* A load each cycle is the most; 4 copies, the last store at 4 + 3 + 3. */
    {"v8", "vld v0, w[s7, 0]\nvadd.f32 v0, v0, 1.0\nvst y[s7, 0], v0\n", 5, 4, 3, 4, 4, 11},
    /* No vregs for copies: the next load waits for the store, and that is not worth it. */
    {"", "vld v0, w[s7, 0]\nvadd.f32 v0, v0, 1.0\nvst y[s7, 0], v0\n", 0, 0, 0, 0, 0, 0},
    /* A sum each 3 cycles. Of two iterations the last store is at 4 + 3 + 3. */
    {"v8", "vld v0, w[s7, 0]\nvadd.f32 v1, v1, v0\nvst y[s7, 0], v1\n", 5, 2, 2, 6, 2, 11},
    /* The unit is busy for 3 cycles; 4 copies, as a result is read 10 cycles later. */
    {"v8", "vld v0, w[s7, 0]\nvexp.f32 v0, v0\nvst y[s7, 0], v0\n", 5, 4, 2, 12, 12, 18},
    /* What is stored at 7 is loaded two iterations later; one later, and there is nothing to gain. */
    {"v8", "vld v0, w[s7, 0]\nvadd.f32 v0, v0, 1.0\nvst w[s7 + 16, 0], v0\n", 5, 1, 2, 4, 2, 8},
    {"v8", "vld v0, w[s7, 0]\nvadd.f32 v0, v0, 1.0\nvst w[s7 + 8, 0], v0\n", 0, 0, 0, 0, 0, 0},
    /* Neither is there where every iteration has the same address. */
    {"v8", "vld v0, w[s6, 0]\nvadd.f32 v0, v0, 1.0\nvst w[s6, 0], v0\n", 0, 0, 0, 0, 0, 0},
    /* The counter is read, so there are no copies; three scalar instructions. */
    {"v8", "sadd s1, s7, 3\nvld v0, w[s7, 0]\nvadd.i32 v0, v0, s1\nvst y[s7, 0], v0\n", 5, 1, 2, 4, 3, 8},
    {"v8", "vmov v0, s7\nvexp.f32 v0, v0\nvst y[s7, 0], v0\n", 5, 1, 2, 10, 3, 14},
    /* Nothing but the sums, which wait for each other. */
    {"v8", "vadd.f32 v1, v1, 1.0\nvst y[s7, 0], v1\n", 0, 0, 0, 0, 0, 0},
    /* What others may notice keeps its place. */
    {"v8", "delay 1\nvld v0, w[s7, 0]\nvadd.f32 v0, v0, 1.0\nvst y[s7, 0], v0\n", 0, 0, 0, 0, 0, 0},
    /* A counter, or its end, that the body changes. */
    {"v8", "vld v0, w[s7, 0]\nvadd.f32 v0, v0, 1.0\nvst y[s7, 0], v0\nsadd s7, s7, 8\n", 0, 0, 0, 0, 0, 0},
};

static ts_program_pipeline pipeline_of(const ts_target *target, const char *text) {
    ts_error err = {0};
    ts_source source = {.name = "a.tsim", .text = text, .length = strlen(text)};
    const ts_program *p = ts_program_parse(&err, arena, &source, target, NULL, 0);
    if (!p) fail_msg("%s", err.message);
    return p->pipeline_count > 0 ? p->pipelines[0] : (ts_program_pipeline){0};
}

#define TENSORS ".tensor w vmem f32[160,128]{1,0:T(8,128)}\n.tensor y vmem f32[160,128]{1,0:T(8,128)}\n"

TEST(intervals_are_the_least) {
    const ts_target target = make_target();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text =
            ts_text_format(arena, ".pack pipeline %s\n" TENSORS "\n.loop s7 = 0, 128, 8\n%s.end\n",
                           rows[i].mode, rows[i].body);
        ts_program_pipeline found = pipeline_of(&target, text);
        if (found.line != rows[i].line || found.iterations != rows[i].iterations ||
            found.stages != rows[i].stages || found.cycles != rows[i].cycles ||
            found.slot_cycles != rows[i].slot_cycles || found.path_cycles != rows[i].path_cycles)
            fail_msg("%s: line %d, %d iterations in %d cycles, %d stages, slots %d, path %d", rows[i].body,
                     found.line, found.iterations, (int)found.cycles, found.stages, (int)found.slot_cycles,
                     (int)found.path_cycles);
    }
}

/* The first of `rows`: its counter is at most 3 x 4 - 1 iterations of 8 ahead, and that is below 2^31. */
TEST(counters_stay_below_the_largest_number) {
    const ts_target target = make_target();
    for (int beyond = 0; beyond < 2; beyond++) {
        int end = INT32_MAX - 11 * 8 + beyond;
        const char *text =
            ts_text_format(arena, ".pack pipeline %s\n" TENSORS "\n.loop s7 = %d, %d, 8\n%s.end\n",
                           rows[0].mode, end - 128, end, rows[0].body);
        assert_int_equal(pipeline_of(&target, text).iterations, beyond ? 0 : rows[0].iterations);
    }
}

/* Iterations may overlap where each takes all results that it gives, of each unit, and none is from before. */
TEST(results_are_taken_by_who_gave_them) {
#define LOAD  "vld v0, w[s7, 0]\n"
#define STORE "vst y[s7, 0], v1\n"
    static const struct {
        const char *before, *body; /* U: the unit */
        int32_t accumulators;
        bool overlaps;
    } cases[] = {
        {"", LOAD "mxu.push.f32 U, v0\nmxu.pop v1, U\n" STORE, 0, true},
        {"", LOAD "mxu.push.f32 U, v0\nmxu.pop v1, U\n" STORE, 8, false},
        {"mxu.push.f32 U, v7\n", LOAD "mxu.push.f32 U, v0\nmxu.pop v1, U\n" STORE, 0, false},
        {"mxu.push.f32 U, v7\nmxu.pop v7, U\n", LOAD "mxu.push.f32 U, v0\nmxu.pop v1, U\n" STORE, 0, true},
        {"mxu.push.f32 U, v7\n", LOAD "mxu.pop v1, U\nmxu.push.f32 U, v0\n" STORE, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int unit = 0; unit < 2; unit++) {
            ts_target target = make_target();
            target.core.mxu = (ts_machine_mxu){2, 128, {1, 1, 1, 1, 1}, 2, cases[i].accumulators, 8};
            target.core.latency_cycles[TS_LATENCY_MXU_PUSH] = 20;
            ts_text text = ts_text_begin(arena);
            ts_text_add(&text, ".pack pipeline v8\n" TENSORS "%s.loop s7 = 0, 128, 8\n%s.end\n",
                        cases[i].before, cases[i].body);
            for (char *at = text.bytes; *at; at++)
                if (*at == 'U') *at = (char)('0' + unit);
            bool overlaps = pipeline_of(&target, text.bytes).iterations > 0;
            if (overlaps != cases[i].overlaps) fail_msg("case %zu, unit %d", i, unit);
        }
}

int main(void) { return run_all_tests(begin_group, end_group); }
