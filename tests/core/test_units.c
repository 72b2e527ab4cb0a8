/* Units: what an instruction keeps busy, how units are called, and what instructions take at least. */
#include <string.h>

#include "tests/support/core_fixture.h"
#include "tests/support/test.h"

static fixture *new_fixture(void) {
    fixture *f = fixture_new();
    f->config.mxu =
        (ts_machine_mxu){.units = 2, .edge = 128, .rate = {1, 1, 1, 2, 4}, .staging = 2, .result_vregs = 8};
    for (int i = 0; i < TS_SLOT_COUNT; i++) f->config.limits.slots[i] = 1 + i % 3;
    return f;
}

static const ts_instruction *first_of(fixture *f, const char *text) {
    fixture_assemble(f->arena, &f->code, text);
    return &f->code.bundles[0].instructions[0];
}

/* Each unit has a name of its own, and an instruction takes those that are called after its slot or port. */
static const struct {
    const char *text, *unit;
    int64_t cycles;
    bool takes;
} uses[] = {
    {"sadd s1 s2 s3", "scalar", 5, false},
    {"vadd.f32 v1 v2 v3", "valu", 5, false},
    {"vld v1 [0]", "vld", 5, false},
    {"vst [0] v1", "vst", 5, false},
    {"vexp.f32 v1 v2", "eup", 5, false},
    {"vrot.lane v1 v2 1", "xlu", 5, false},
    {"mxu.latch.i8 0 v1", "mxu 0 latch", 0, false},
    {"mxu.push.i8 1 v1", "mxu 1 push", 0, false},
    {"mxu.pop v1 0", "mxu 0 pop", 0, true},
    {"mxu.pop v1 1", "mxu 1 pop", 0, true},
    {"mxu.swap 1", "mxu 1 swap", 0, true},
    {"vtr.push.b32 v1", "transposer push", 5, false},
    {"vtr.push.b16 v1", "transposer push", 10, false}, /* of 16 rows */
    {"vtr.pop v1", "transposer pop", 5, true},
};

TEST(instructions_take_units_of_that_name) {
    fixture *f = new_fixture();
    for (int i = 0; i < TS_LATENCY_COUNT; i++) f->config.occupancy_cycles[i] = 5;
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        const ts_instruction *instruction = first_of(f, uses[i].text);
        ts_core_use use = ts_core_use_of(&f->config, instruction);
        assert_true(use.count > 0);
        for (int k = 0; k < use.count; k++) {
            char name[32];
            ts_core_unit_name(&f->config, use.first + k, name);
            size_t length = strlen(uses[i].unit);
            if (strncmp(name, uses[i].unit, length) != 0) fail_msg("%s: %s", uses[i].text, name);
            if (use.count == 1)
                assert_string_equal(name, uses[i].unit);
            else
                assert_true(name[length] == ' ' && name[length + 1] == '0' + k && name[length + 2] == '\0');
        }
        if (uses[i].cycles > 0) assert_int_equal(use.cycles, uses[i].cycles);
        assert_int_equal(use.takes, uses[i].takes);
    }
    fixture_free(f);
}

TEST(units_are_numbered_through) {
    fixture *f = new_fixture();
    int count = ts_core_unit_count(&f->config), slots = 0;
    char names[64][32];
    for (int i = 0; i < TS_SLOT_COUNT; i++) slots += f->config.limits.slots[i];
    assert_int_equal(count, slots + 2 * 4 + 2);
    for (int i = 0; i < count; i++) {
        ts_core_unit_name(&f->config, i, names[i]);
        for (int k = 0; k < i; k++) assert_string_not_equal(names[i], names[k]);
    }
    assert_string_equal(names[slots], "mxu 0 latch");
    assert_string_equal(names[slots + 7], "mxu 1 swap");
    assert_string_equal(names[count - 1], "transposer pop");
    fixture_free(f);
}

/* A unit or a type of matrices that there is not keeps nothing busy. */
TEST(what_there_is_not_is_not_busy) {
    fixture *f = new_fixture();
    assert_int_equal(ts_core_use_of(&f->config, first_of(f, "mxu.push.i8 2 v1")).count, 0);
    assert_int_equal(ts_core_use_of(&f->config, first_of(f, "mxu.push.i8 -1 v1")).count, 0);
    f->config.mxu.edge = 64;
    assert_int_equal(ts_core_use_of(&f->config, first_of(f, "mxu.push.i8 1 v1")).count, 0);
    fixture_free(f);
}

TEST(only_the_same_unit_keeps_an_order) {
    fixture *f = new_fixture();
    uint64_t zero = ts_core_use_of(&f->config, first_of(f, "mxu.push.i8 0 v1")).queues,
             one = ts_core_use_of(&f->config, first_of(f, "mxu.pop v1 1")).queues,
             transposer = ts_core_use_of(&f->config, first_of(f, "vtr.pop v1")).queues;
    assert_true(zero && one && transposer);
    assert_false((zero & one) || (zero & transposer) || (one & transposer));
    assert_true(ts_core_use_of(&f->config, first_of(f, "mxu.latch.i8 1 v1")).queues == one);
    assert_true(ts_core_use_of(&f->config, first_of(f, "vtr.push.b32 v1")).queues == transposer);
    assert_true(ts_core_use_of(&f->config, first_of(f, "vadd.f32 v1 v1 v1")).queues == 0);
    fixture_free(f);
}

TEST(a_port_takes_one_instruction_a_bundle) {
    static const struct {
        const char *text, *message; /* NULL: it may be */
    } rows[] = {
        {"mxu.push.i8 0 v1 ; mxu.push.i8 0 v2", "the bundle has two mxu.push.i8 on one unit"},
        {"mxu.push.i8 0 v1 ; mxu.push.i8 1 v2", NULL},
        {"mxu.push.i8 0 v1 ; mxu.latch.i8 0 v2", NULL},
        {"vtr.push.b32 v1 ; vtr.push.b32 v2", "the bundle has two vtr.push.b32 on one unit"},
        {"vadd.f32 v1 v9 v9 ; vadd.f32 v2 v9 v9", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture *f = new_fixture();
        for (int k = 0; k < TS_SLOT_COUNT; k++) f->config.limits.slots[k] = 4;
        bool good = fixture_load(f, rows[i].text);
        if (good != (rows[i].message == NULL)) fail_msg("%s: %s", rows[i].text, f->err.message);
        if (!good) assert_string_equal(f->err.message, rows[i].message);
        fixture_free(f);
    }
}

/* ---- The least cycles ---- */

static int64_t least_of(fixture *f, const char *text, int times) {
    ts_core_bound bound = {0};
    fixture_assemble(f->arena, &f->code, text);
    for (int i = 0; i < times; i++)
        for (int b = 0; b < f->code.bundle_count; b++)
            for (int k = 0; k < f->code.bundles[b].count; k++)
                ts_core_bound_add(&f->config, &f->code.bundles[b].instructions[k], &bound);
    return bound.cycles;
}

/* Work over units, rounded up, of what is most. */
TEST(the_busiest_sets_the_bound) {
    fixture *f = new_fixture();
    for (int i = 0; i < TS_SLOT_COUNT; i++) f->config.limits.slots[i] = 2;
    assert_int_equal(least_of(f, "vadd.f32 v1 v2 v3", 1), 1);
    assert_int_equal(least_of(f, "vadd.f32 v1 v2 v3", 6), 3);
    assert_int_equal(least_of(f, "vadd.f32 v1 v2 v3", 7), 4);
    assert_int_equal(least_of(f, "vadd.f32 v1 v2 v3 ; vexp.f32 v4 v5 ; vadd.f32 v1 v2 v3", 5), 5);
    f->config.occupancy_cycles[TS_LATENCY_EUP] = 9;
    assert_int_equal(least_of(f, "vexp.f32 v4 v5", 1), 5); /* 9 over both units */
    assert_int_equal(least_of(f, "vexp.f32 v4 v5", 2), 9);
    assert_int_equal(least_of(f, "vexp.f32 v4 v5", 3), 14);
    assert_int_equal(least_of(f, "mxu.push.i8 0 v1", 8),
                     4 * ts_core_use_of(&f->config, first_of(f, "mxu.push.i8 0 v1")).cycles);
    fixture_free(f);
}
