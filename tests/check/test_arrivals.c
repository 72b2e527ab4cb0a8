/* What other devices write: whether it was waited for, and whether its sender knew of the last use. */
#include <stdio.h>
#include <string.h>

#include "check/arrivals.h"
#include "check/races.h"
#include "layout/shape.h"
#include "tests/support/cmocka.h"

enum { OWN = 1, DEVICES = 3, B = 8192, BYTES = 256 };

static const ts_source source = {"a.tsim", "", 0};
/* b is written by other devices, a and c are not. */
static const ts_tensor tensors[] = {{.name = "a", .space = TS_SPACE_VMEM, .bytes = B},
                                    {.name = "b", .space = TS_SPACE_VMEM, .base_bytes = B, .bytes = BYTES},
                                    {.name = "c", .space = TS_SPACE_HBM, .bytes = 4096}};
static const ts_transfer transfers[] = {
    {.source.tensor = 0, .destination.tensor = 1, .remote = true, .source_text = &source, .line = 1},
    {.source.tensor = 2, .destination.tensor = 1, .source_text = &source, .line = 2},
    {.source.tensor = 1, .destination.tensor = 2, .source_text = &source, .line = 3},
    {.source.tensor = 1, .destination.tensor = 0, .remote = true, .source_text = &source, .line = 4}};
static const ts_instruction vld = {.opcode = TS_OP_vld, .source = &source, .line = 20, .column = 1},
                            vst = {.opcode = TS_OP_vst, .source = &source, .line = 21, .column = 1},
                            wait = {.opcode = TS_OP_wait, .source = &source, .line = 22, .column = 1};

typedef struct {
    ts_arena *arena;
    ts_code code;
    ts_findings *findings;
    ts_space *spaces[TS_SPACE_COUNT];
    ts_semaphore_account account;
    ts_arrivals *arrivals;
    ts_races *races;
} world;

static world *open_world(void) {
    ts_arena *arena = ts_arena_new();
    world *w = TS_NEW(arena, world);
    w->arena = arena;
    w->code = (ts_code){.tensors = tensors,
                        .tensor_count = 3,
                        .transfers = transfers,
                        .transfer_count = 4,
                        .semaphore_count = 4};
    w->findings = TS_NEW(arena, ts_findings);
    w->spaces[TS_SPACE_VMEM] = ts_space_new(arena, "vmem", 1 << 20);
    w->spaces[TS_SPACE_HBM] = ts_space_new(arena, "hbm", 1 << 20);
    w->arrivals =
        ts_arrivals_new(&(ts_arrivals_setup){arena, &w->code, w->findings, w->spaces, OWN, DEVICES});
    w->races = ts_races_new(arena, &w->code, w->findings, &w->account, w->spaces[TS_SPACE_HBM], NULL);
    return w;
}

static void close_world(world *w) {
    ts_arrivals_free(w->arrivals);
    ts_races_free(w->races);
    ts_arena_free(w->arena);
}

static const ts_plan *plan_of(ts_arena *arena, int64_t from, int64_t to, int64_t bytes) {
    char text[32];
    ts_error err = {0};
    ts_source name = {"shape", text, (size_t)snprintf(text, sizeof text, "u8[%lld]{0}", (long long)bytes)};
    const ts_shape *shape = ts_shape_parse(&err, arena, &name);
    ts_plan_side src = {shape, NULL, NULL, from * 8}, dst = {shape, NULL, NULL, to * 8};
    const ts_plan *plan = shape ? ts_plan_new(&err, arena, &src, &dst, 1, shape->layout->dims) : NULL;
    if (!plan) fail_msg("%s", err.message);
    return plan;
}

/* Bytes of b from `at` on, from device 2, which knows this one up to cycle `known`; how many findings. */
static int come(world *w, int64_t at, int64_t bytes, int64_t by, int64_t cycle, int64_t known) {
    const int64_t all[DEVICES] = {-1, known, 0};
    w->findings->count = 0;
    ts_arrivals_come(w->arrivals, &(ts_arrival){.what = &transfers[0],
                                                .plan = plan_of(w->arena, 0, B + at, bytes),
                                                .source = 2,
                                                .cycle = cycle,
                                                .semaphore = 0,
                                                .by = by,
                                                .known = all});
    return w->findings->count;
}

static int accessed(world *w, int64_t first, int64_t bytes, bool writes, int64_t cycle) {
    w->findings->count = 0;
    ts_arrivals_access(w->arrivals, &(ts_access){writes ? &vst : &vld, w->spaces[TS_SPACE_VMEM], B + first,
                                                 B + first + bytes, writes, cycle, NULL});
    return w->findings->count;
}

static void take(world *w, int semaphore, int64_t count, int64_t cycle) {
    ts_arrivals_wait(w->arrivals, &wait, semaphore, count, cycle);
}

TEST(what_came_is_waited_for) {
    world *w = open_world();
    assert_int_equal(come(w, 64, 64, 1, 30, 0), 0);
    assert_int_equal(accessed(w, 0, 64, true, 70), 0);
    assert_int_equal(accessed(w, 128, 4, true, 70), 0);
    assert_int_equal(accessed(w, 64, 4, false, 70), 1);
    const ts_finding *f = &w->findings->list[0];
    assert_string_equal(f->text,
                        "this reads bytes of 'b' that a DMA of device 2 wrote, without waiting for it");
    assert_true(f->kind == TS_FINDING_READ_RACE && f->where.line == 20 && f->other.line == 1);
    assert_true(f->cycle == 70 && f->has_margin && f->margin_cycles == 40);
    assert_int_equal(accessed(w, 124, 8, true, 71), 1);
    assert_int_equal(f->kind, TS_FINDING_WRITE_RACE);
    assert_string_equal(f->text,
                        "this writes bytes of 'b' that a DMA of device 2 wrote, without waiting for it");
    w->findings->count = 0;
    ts_arrivals_access(w->arrivals,
                       &(ts_access){&vld, w->spaces[TS_SPACE_HBM], B, B + BYTES, false, 72, NULL});
    assert_int_equal(w->findings->count, 0);
    take(w, 1, 1, 80);
    assert_int_equal(accessed(w, 64, 4, false, 81), 1);
    take(w, 0, 0, 82);
    assert_int_equal(accessed(w, 64, 4, false, 83), 1);
    take(w, 0, 1, 84);
    assert_int_equal(accessed(w, 64, 4, false, 85), 0);
    close_world(w);
}

TEST(what_came_first_is_taken_first) {
    world *w = open_world();
    for (int i = 0; i < 4; i++) assert_int_equal(come(w, 64 * i, 64, i < 2 ? 64 : 1, 10 + i, 0), 0);
    take(w, 0, 63, 20);
    assert_int_equal(accessed(w, 0, 4, false, 21), 1);
    take(w, 0, 2, 22); /* the rest of the first, and one byte of the second */
    assert_int_equal(accessed(w, 0, 4, false, 23), 0);
    assert_int_equal(accessed(w, 64, 4, false, 24), 1);
    take(w, 0, 64, 25); /* the second and the third */
    assert_int_equal(accessed(w, 64, 128, false, 26), 0);
    assert_int_equal(accessed(w, 192, 4, false, 27), 1);
    take(w, 0, 5, 28);
    assert_int_equal(accessed(w, 0, BYTES, false, 29), 0);
    close_world(w);
}

TEST(two_that_come_to_one_place) {
    world *w = open_world();
    assert_int_equal(come(w, 0, 64, 1, 10, 0), 0);
    assert_int_equal(come(w, 64, 64, 1, 11, 0), 0);
    assert_int_equal(come(w, 32, 64, 1, 12, 0), 1); /* over both, which is one place in the program */
    assert_int_equal(w->findings->list[0].kind, TS_FINDING_WRITE_RACE);
    assert_int_equal(w->findings->list[0].where.line, 1);
    close_world(w);
}

/* A write is in order when its sender knew of the last use. */
TEST(uses_of_which_the_sender_knew) {
    for (int64_t known = 48; known < 54; known++) {
        world *w = open_world();
        assert_int_equal(accessed(w, 0, 64, false, 51), 0);
        assert_int_equal(accessed(w, 32, 4, true, 50), 0); /* the last of these granules */
        assert_int_equal(come(w, 64, 64, 1, 60, known), 0);
        take(w, 0, 1, 52);
        assert_int_equal(come(w, 32, 32, 1, 60, known), known < 50);
        if (known < 50) {
            const ts_finding *f = &w->findings->list[0];
            assert_string_equal(
                f->text, "this DMA of device 2 writes bytes of 'b' whose use here it did not wait for");
            assert_true(f->where.line == 1 && f->other.line == 21 && f->margin_cycles == 10);
        }
        assert_int_equal(come(w, 0, 32, 1, 61, known), known < 51);
        assert_int_equal(come(w, 64, 64, 1, 62, known), known < 52); /* the wait is a use */
        assert_int_equal(come(w, 192, 64, 1, 62, -1), 0);
        close_world(w);
    }
}

/* Of several uses the latest is told of. */
TEST(the_latest_use) {
    world *w = open_world();
    accessed(w, 0, 4, false, 50);
    accessed(w, 32, 4, true, 55);
    accessed(w, 64, 4, false, 52);
    assert_int_equal(come(w, 0, 96, 1, 60, 10), 1);
    assert_int_equal(w->findings->list[0].margin_cycles, 5);
    assert_int_equal(w->findings->list[0].other.line, 21);
    accessed(w, -B, 4, false, 50); /* of the first tensor, to which another transfer goes */
    assert_int_equal(come(w, -B, 64, 1, 60, 10), 1);
    close_world(w);
}

static ts_in_flight own_transfer(world *w, int which, int64_t at, int64_t cycle) {
    bool out = which == 2;
    return (ts_in_flight){.what = &transfers[which],
                          .plan = plan_of(w->arena, out ? B + at : 0, out ? 0 : B + at, 64),
                          .src = w->spaces[out ? TS_SPACE_VMEM : TS_SPACE_HBM],
                          .dst = w->spaces[out ? TS_SPACE_HBM : TS_SPACE_VMEM],
                          .issued_cycle = cycle};
}

/* What lies beside a use is not used: not behind what was waited for, nor behind what a transfer reads. */
TEST(neighbours_of_a_use) {
    world *w = open_world();
    assert_int_equal(come(w, 64, 64, 1, 30, 0), 0);
    take(w, 0, 1, 40);
    ts_in_flight t = own_transfer(w, 2, 192 - 64, 50);
    ts_races_start(w->races, &t);
    t.done_cycle = 60;
    assert_int_equal(come(w, 128, 32, 1, 70, 0), 0);
    take(w, 0, 1, 0);
    ts_arrivals_done(w->arrivals, &t);
    assert_int_equal(come(w, 192, 32, 1, 80, 0), 0);
    assert_int_equal(come(w, 32, 32, 1, 80, 0), 0);
    assert_int_equal(come(w, 160, 32, 1, 80, 0), 1);
    close_world(w);
}

TEST(transfers_of_the_device_itself) {
    world *w = open_world();
    assert_int_equal(come(w, 64, 64, 1, 30, 0), 0);
    for (int which = 1; which < 3; which++)
        for (int64_t at = 0; at < BYTES; at += 64) {
            ts_in_flight t = own_transfer(w, which, at, 40);
            w->findings->count = 0;
            ts_arrivals_start(w->arrivals, &t);
            assert_int_equal(w->findings->count, at == 64);
            if (at != 64) continue;
            assert_int_equal(w->findings->list[0].kind,
                             which == 1 ? TS_FINDING_WRITE_RACE : TS_FINDING_READ_RACE);
            assert_true(w->findings->list[0].where.line == which + 1 &&
                        w->findings->list[0].margin_cycles == 10);
        }
    take(w, 0, 1, 50);
    for (int which = 1; which < 3; which++) { /* one is done at cycle 70, the other at 71 */
        ts_in_flight t = own_transfer(w, which, 128, 60);
        ts_arrivals_start(w->arrivals, &t);
        ts_races_start(w->races, &t);
        w->findings->count = 0;
        t.done_cycle = 69 + which;
        ts_arrivals_done(w->arrivals, &t);
        assert_int_equal(come(w, 128, 64, 1, 80, 68 + which), 1);
        assert_int_equal(w->findings->list[0].other.line, which + 1);
        take(w, 0, 1, 0);
        ts_arrivals_done(w->arrivals, &t);
        assert_int_equal(come(w, 128, 64, 1, 80, 69 + which), 0);
        take(w, 0, 1, 0);
        ts_races_free(w->races);
        w->races = ts_races_new(w->arena, &w->code, w->findings, &w->account, w->spaces[TS_SPACE_HBM], NULL);
    }
    close_world(w);
}

TEST(what_a_device_knows) {
    world *w = open_world();
    const int64_t *known = ts_arrivals_known(w->arrivals, 7);
    assert_true(known[0] == -1 && known[OWN] == 7 && known[2] == -1);
    const int64_t senders[2][DEVICES] = {{5, 6, -1}, {4, 6, 0}};
    for (int i = 0; i < 2; i++) /* two signals, of 1 and of 2 */
        ts_arrivals_come(
            w->arrivals,
            &(ts_arrival){.source = 2 * i, .cycle = 8, .semaphore = 3, .by = 1 + i, .known = senders[i]});
    known = ts_arrivals_known(w->arrivals, 9);
    assert_true(known[0] == -1 && known[2] == -1); /* it waited for none */
    take(w, 2, 3, 9);
    assert_true(known[0] == -1);
    take(w, 3, 1, 9);
    assert_true(known[0] == 5 && known[2] == -1);
    take(w, 3, 1, 9);
    assert_int_equal(known[2], 0); /* half of the second: it has come */
    take(w, 3, 1, 10);
    known = ts_arrivals_known(w->arrivals, 10);
    assert_true(known[0] == 5 && known[OWN] == 10 && known[2] == 0);
    assert_int_equal(come(w, 0, 64, 1, 11, -1), 0); /* a signal uses nothing */
    close_world(w);
}

TEST(cores_that_meet) {
    world *w = open_world(), *other = open_world();
    const int64_t known[DEVICES] = {5, 6, 3};
    ts_arrivals_come(other->arrivals, &(ts_arrival){.semaphore = 3, .by = 1, .known = known});
    ts_arrivals_meet(w->arrivals, other->arrivals);
    assert_int_equal(ts_arrivals_known(w->arrivals, 9)[0], -1); /* the other has not waited for it */
    take(other, 3, 1, 9);
    ts_arrivals_meet(w->arrivals, other->arrivals);
    ts_arrivals_meet(other->arrivals, w->arrivals);
    ts_arrivals_meet(NULL, NULL);
    for (int i = 0; i < 2; i++) {
        const int64_t *now = ts_arrivals_known((i ? other : w)->arrivals, 9);
        assert_true(now[0] == 5 && now[OWN] == 9 && now[2] == 3);
    }
    close_world(w);
    close_world(other);
}

static void signal_by(world *w, int64_t by) {
    const int64_t all[DEVICES] = {0, 0, 0};
    ts_arrivals_come(w->arrivals, &(ts_arrival){.semaphore = 0, .by = by, .known = all});
}

TEST(signals_between_writes) {
    world *w = open_world();
    signal_by(w, 2);
    assert_int_equal(come(w, 0, 64, 1, 30, 0), 0);
    signal_by(w, 1);
    assert_int_equal(come(w, 64, 64, 1, 31, 0), 0);
    assert_int_equal(come(w, 128, 64, 1, 32, 0), 0);
    take(w, 0, 2, 40);
    assert_int_equal(accessed(w, 0, 4, false, 41), 1); /* that were the signal's */
    take(w, 0, 3, 42);
    assert_int_equal(accessed(w, 0, 4, false, 43), 0);
    assert_int_equal(accessed(w, 64, 4, false, 43), 0);
    assert_int_equal(accessed(w, 128, 4, false, 43), 1);
    signal_by(w, 1);
    assert_int_equal(come(w, 192, 64, 1, 44, 0), 0);
    take(w, 0, 2, 45);
    assert_int_equal(accessed(w, 128, 4, false, 46), 0);
    assert_int_equal(accessed(w, 192, 4, false, 46), 1);
    close_world(w);
}

static int64_t told(world *w, int64_t by, int64_t known) {
    const int64_t all[DEVICES] = {known, 0, 0};
    ts_arrivals_come(w->arrivals, &(ts_arrival){.semaphore = 1, .by = by, .known = all});
    return ts_arrivals_known(w->arrivals, 0)[0];
}

TEST(a_semaphore_that_is_read) {
    world *w = open_world();
    const int64_t *known = ts_arrivals_known(w->arrivals, 0);
    ts_arrivals_look(w->arrivals, 1);
    assert_int_equal(told(w, 1, 5), -1);
    ts_arrivals_look(w->arrivals, 2);
    assert_int_equal(known[0], -1);
    ts_arrivals_look(w->arrivals, 1);
    assert_int_equal(told(w, 1, 7), 5);
    assert_int_equal(told(w, 1, 8), 5);
    ts_arrivals_look(w->arrivals, 1);
    assert_int_equal(known[0], 8);
    take(w, 1, 3, 20); /* also the one that was seen last */
    assert_int_equal(told(w, 1, 9), 8);
    ts_arrivals_look(w->arrivals, 1);
    assert_int_equal(known[0], 9);
    take(w, 1, 1, 21); /* and where it is the only one */
    assert_int_equal(told(w, 1, 10), 9);
    ts_arrivals_look(w->arrivals, 1);
    assert_int_equal(known[0], 10);
    assert_int_equal(come(w, 0, 64, 1, 30, 0), 0);
    ts_arrivals_look(w->arrivals, 0);
    assert_int_equal(accessed(w, 0, 4, false, 31), 1); /* it was not waited for */
    close_world(w);
}

TEST(without_a_sanitizer) {
    ts_arrivals_free(NULL);
    ts_arrivals_access(NULL, NULL);
    ts_arrivals_start(NULL, NULL);
    ts_arrivals_done(NULL, NULL);
    ts_arrivals_come(NULL, NULL);
    ts_arrivals_wait(NULL, NULL, 0, 1, 0);
}
