/* Time without values: the same cycles, exact scalars, and an end where an unknown scalar would matter. */

#include "tests/support/cmocka.h"
#include "tests/support/core_fixture.h"

static const ts_affine begin = {.term_count = 1, .terms = {{1, 8}}};
static const int64_t one = 1;
static const ts_transfer transfer = {.source = {.rank = 1, .begin = &begin, .size = &one},
                                     .destination = {.rank = 1, .begin = &begin, .size = &one},
                                     .semaphore = {.first = 0, .count = 2, .sreg = 2}};

static fixture *new_fixture(bool time_only) {
    fixture *f = fixture_new();
    f->code.transfers = &transfer;
    f->code.transfer_count = 1;
    f->time_only = time_only;
    f->config.mxu =
        (ts_machine_mxu){.units = 1, .edge = 128, .rate = {1, 1, 1, 2, 4}, .staging = 2, .result_vregs = 8};
    for (int i = 0; i < TS_LATENCY_COUNT; i++) {
        f->config.latency_cycles[i] = 1 + i * 5 % 13;
        f->config.occupancy_cycles[i] = 1 + i * 3 % 4;
    }
    return f;
}

/* ---- The same cycles ---- */

#define LATCH_4 "mxu.latch.i8 0 v1\nmxu.latch.i8 0 v1\nmxu.latch.i8 0 v1\nmxu.latch.i8 0 v1\n"
#define TRANSPOSE_8                                                                                          \
    "vtr.push.b16 v1\nvtr.push.b16 v2\nvtr.push.b16 v1\nvtr.push.b16 v2\n"                                   \
    "vtr.push.b16 v1\nvtr.push.b16 v2\nvtr.push.b16 v1\nvtr.push.b16 v2\n"

static const char *const programs[] = {
    "smov s1 20\nvld v1 [0+s1/4*128] ; ssub s1 s1 1\nvexp.f32 v2 v1\nvsum.lane.f32 v3 v2\nvst [1024] v3\n"
    "vld v4 [1024] ; brnz s1 @1",
    "vmov v1 1 ; vmov v2 2\nvmov v1 v2 ; vmov v2 v1 ; smov s1 3\nvadd.i32 v3 v1 s1 ; smov s1 s1\nsst [4] "
    "s1\nsld s2 [4]\n"
    "br.ge s2 4 @0",
    LATCH_4 "mxu.swap 0\n" LATCH_4
            "mxu.push.i8 0 v2\nmxu.pop v3 0 ; mxu.swap 0\nmxu.push.i8 0 v3\nmxu.pop v4 0 ?m1",
    TRANSPOSE_8 "vtr.pop v1\nvtr.pop v2\nvneg.f32 v3 v2\nvst [0] v3\nsmov s1 2\ndma t0",
    "v2s s1 v3\nsadd s3 s1 4\nvadd.i32 v1 v1 s3\nsst [0] s3 ; smov s4 5\nsld s3 [1]\nbrnz s3 @0\ndelay s4",
};

TEST(cycles_are_those_with_values) {
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        fixture *values = new_fixture(false), *time = new_fixture(true);
        fixture_do(values, programs[i]);
        fixture_do(time, programs[i]);
        assert_int_equal(values->event_count, time->event_count);
        for (int e = 0; e < time->event_count; e++)
            assert_memory_equal(&values->events[e], &time->events[e], sizeof(time->events[0]));
        assert_int_equal(values->start_count, time->start_count);
        fixture_free(values);
        fixture_free(time);
    }
}

TEST(scalars_are_exact_and_vectors_untouched) {
    fixture *f = new_fixture(true);
    fixture_do(f, "smov s1 7 ; vmov v1 3\nsst [8] s1\nsld s2 [8]\nsmul s3 s2 6\nvst [0] v1");
    assert_int_equal(fixture_sreg(f, 3), 42);
    assert_int_equal(fixture_vreg(f, 1)[0], 0);
    assert_ptr_equal(fixture_vreg(f, 1), fixture_vreg(f, 2)); /* and take no room */
    assert_int_equal(ts_space_touch(f->vmem, 0, 4)[0], 0);
    fixture_free(f);
}

/* ---- Unknown scalars ---- */

static const struct {
    const char *text, *message; /* NULL: the program ends well */
} unknowns[] = {
    {"v2s s1 v1\nsadd s2 s1 1\nbrnz s2 @0",
     "s2 is unknown when only time is modelled: it comes from a vector <- line 2 (sadd) <- line 1 (v2s)"},
    {"v2s s1 v1\nvld v1 [0+s1*128]",
     "s1 is unknown when only time is modelled: it comes from a vector <- line 1 (v2s)"},
    {"v2s s2 v1\ndma t0", "s2 is unknown when only time is modelled: it comes from a vector <- line 1 (v2s)"},
    {"v2s s1 v1\ndma t0", "s1 is unknown when only time is modelled: it comes from a vector <- line 1 (v2s)"},
    {"v2s s1 v1\nwait e0 s1",
     "s1 is unknown when only time is modelled: it comes from a vector <- line 1 (v2s)"},
    {"v2s s1 v1\nwait e0+s1:2 0",
     "s1 is unknown when only time is modelled: it comes from a vector <- line 1 (v2s)"},
    {"v2s s1 v1\nsem.set e0 s1",
     "s1 is unknown when only time is modelled: it comes from a vector <- line 1 (v2s)"},
    {"v2s s1 v1\ndelay s1",
     "s1 is unknown when only time is modelled: it comes from a vector <- line 1 (v2s)"},
    {"v2s s1 v1\nsst [0+s1] 1",
     "s1 is unknown when only time is modelled: it comes from a vector <- line 1 (v2s)"},
    {"v2s s1 v1\nsld s2 [0+s1]",
     "s1 is unknown when only time is modelled: it comes from a vector <- line 1 (v2s)"},
    {"v2s s1 v1\nsst [5] s1\nsld s2 [5]\nbrz s2 @0",
     "s2 is unknown when only time is modelled: it comes from a vector <- line 3 (sld) <- line 2 (sst) <- "
     "line 1 (v2s)"},
    {"v2s s1 v1\nsadd s1 s1 1\nsadd s1 s1 1\nbr.lt s3 s1 @0",
     "s1 is unknown when only time is modelled: it comes from a vector <- line 3 (sadd) <- line 2 (sadd) <- "
     "line 1 (v2s)"},
    {"v2s s1 v1\nsmov s1 4\nbrz s1 @0", NULL}, /* overwritten */
    {"v2s s1 v1\nsst [5] s1\nsst [5] 0\nsld s2 [5]\nbrnz s2 @0", NULL},
    {"v2s s1 v1\nbrnz s2 @0 ; sadd s2 s1 1", NULL}, /* read before the write */
    {"v2s s1 v1\nsmov s1 3 ; sadd s2 s1 1\nbrz s1 @0", NULL},
    {"v2s s1 v1\nsmov s1 3 ; sadd s2 s1 1\nbrz s2 @0",
     "s2 is unknown when only time is modelled: it comes from a vector <- line 2 (sadd) <- line 1 (v2s)"},
    {"v2s s1 v1\nvadd.i32 v1 v1 s1\nmlanes m1 s1\nvrot.lane v1 v1 s1", NULL}, /* into vectors again */
    {"smov s1 9\nv2s s2 v1 ; sadd s2 s2 0\nnop", "two instructions of the bundle write sreg 2"},
    {"smov s3 3\nv2s s1 v1\nsadd s2 s2 s1\nssub s3 s3 1\nbrnz s3 @2\nbrnz s2 @0", /* through a loop, by itself
                                                                                   */
     "s2 is unknown when only time is modelled: it comes from a vector <- line 3 (sadd) <- line 2 (v2s)"},
};

TEST(an_unknown_that_matters_ends_the_run) {
    for (size_t i = 0; i < sizeof(unknowns) / sizeof(unknowns[0]); i++) {
        fixture *f = new_fixture(true);
        bool ok = fixture_load(f, unknowns[i].text) && fixture_run(f);
        if (ok != (unknowns[i].message == NULL)) fail_msg("%s: %s", unknowns[i].text, f->err.message);
        if (!ok) assert_string_equal(f->err.message, unknowns[i].message);
        if (!ok && f->core) assert_int_equal(f->err.kind, TS_ERROR_UNMODELLED);
        fixture_free(f);
    }
}

TEST(addresses_are_still_checked) {
    fixture *f = new_fixture(true);
    assert_true(fixture_load(f, "smov s1 3\nvld v1 [0+s1/8*1024!]"));
    assert_false(fixture_run(f));
    assert_int_equal(f->err.kind, TS_ERROR_FAULT);
    fixture_free(f);
}
