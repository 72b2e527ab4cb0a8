/* Semaphores that others see: signals to devices, what is told of a change, remote transfers. */
#include <string.h>

#include "tests/support/core_fixture.h"
#include "tests/support/test.h"

enum { HERE = 2, DEVICES = 4 };
static const ts_core_device device = {.id = HERE, .count = DEVICES};

static struct {
    int signals, changes;
    ts_core_signal signal;
    int semaphore;
    int64_t by, cycle;
    int starts;
    ts_core_start start;
    const char *refusal;
} seen;

static void signalled(void *chip, const ts_core_signal *signal) {
    (void)chip;
    seen.signals++;
    seen.signal = *signal;
}

static void changed(void *chip, const ts_instruction *instruction, int semaphore, int64_t by, int64_t cycle) {
    (void)chip;
    assert_non_null(instruction);
    seen.changes++;
    seen.semaphore = semaphore;
    seen.by = by;
    seen.cycle = cycle;
}

static bool start(ts_error *err, void *chip, const ts_core_start *told) {
    (void)chip;
    seen.starts++;
    seen.start = *told;
    return !seen.refusal || ts_error_set(err, TS_ERROR_FAULT, "%s", seen.refusal);
}

/* Without a mesh: `is_alone`. */
static fixture *load(const char *text, const ts_transfer *transfer, bool is_alone) {
    fixture *f = fixture_new();
    memset(&seen, 0, sizeof seen);
    f->code.transfers = transfer;
    f->code.transfer_count = transfer != NULL;
    f->ports = (ts_core_ports){.chip = f, .dma_start = start, .changed = changed};
    if (!is_alone) f->ports.signalled = signalled;
    fixture_assemble(f->arena, &f->code, text);
    ts_core_setup setup = {.config = &f->config,
                           .code = &f->code,
                           .cores = 1,
                           .device = is_alone ? NULL : &device,
                           .vmem = f->vmem,
                           .smem = f->smem,
                           .semaphores = f->semaphores,
                           .ports = &f->ports};
    f->core = ts_core_new(&f->err, f->arena, &setup);
    assert_non_null(f->core);
    return f;
}

static const struct {
    const char *text, *message; /* NULL: it ends well */
    bool is_alone;
    int signals;    /* that leave the device */
    int64_t device; /* the last of them goes to */
    int64_t e1;     /* in the end */
} rows[] = {
    {"sem.signal e1 3 2", NULL, false, 0, 0, 3},
    {"sem.signal e1 3 0", NULL, false, 1, 0, 0},
    {"sem.signal e1 1 3", NULL, false, 1, 3, 0},
    {"smov s1 1\nsem.set e1 5\nsem.signal e1 2 s1", NULL, false, 1, 1, 5},
    {"sem.set e1 5\nsem.signal e1 2 2", NULL, false, 0, 0, 7},
    {"sem.signal e1 3 4", "there is no device 4, expected 0 to 3", false, 0, 0, 0},
    {"sem.signal e1 3 -1", "there is no device -1, expected 0 to 3", false, 0, 0, 0},
    {"sem.signal e1 0 1", "a signal of 0, expected 1 or more", false, 0, 0, 0},
    {"sem.signal e1 -2 2", "a signal of -2, expected 1 or more", false, 0, 0, 0},
    {"sem.signal e1 3 0", NULL, true, 0, 0, 3}, /* the only one */
    {"sem.signal e1 3 1", "there is no device 1, expected 0 to 0", true, 0, 0, 0},
    {"smov s1 2\nsem.signal e0+s1:2 1 0", "semaphore index 2 is out of range, expected 0 to 1", false, 0, 0,
     0},
    {"smov s1 1\nsem.signal e0+s1:2 1 2", NULL, false, 0, 0, 1},
    {"smov s1 -1\nsem.signal e1+s1:2 1 2", "semaphore index -1 is out of range, expected 0 to 1", false, 0, 0,
     0},
};

TEST(signals_go_to_their_device) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture *f = load(rows[i].text, NULL, rows[i].is_alone);
        bool good = fixture_run(f);
        if (good != (rows[i].message == NULL)) fail_msg("%s: %s", rows[i].text, f->err.message);
        if (!good) assert_string_equal(f->err.message, rows[i].message);
        assert_int_equal(seen.signals, rows[i].signals);
        assert_int_equal(f->semaphores[1], rows[i].e1);
        if (seen.signals > 0) {
            assert_int_equal(seen.signal.device, rows[i].device);
            assert_int_equal(seen.signal.semaphore, 1);
        }
        fixture_free(f);
    }
}

TEST(a_signal_says_how_much_and_when) {
    fixture *f = load("nop\nnop\nsem.signal e1 7 3", NULL, false);
    assert_true(fixture_run(f));
    assert_int_equal(seen.signal.by, 7);
    assert_int_equal(seen.signal.cycle, 2);
    assert_int_equal(seen.signal.instruction->opcode, TS_OP_sem_signal);
    assert_int_equal(seen.changes, 0);
    fixture_free(f);
}

/* By how much, not what it becomes. */
TEST(changes_are_told_as_differences) {
    static const struct {
        const char *text;
        int changes;
        int64_t by, cycle;
    } told[] = {
        {"sem.set e3 5", 1, 5, 0},
        {"sem.set e3 5\nsem.set e3 2", 2, -3, 1},
        {"sem.set e3 5\nnop\nsem.add e3 4", 2, 4, 2},
        {"sem.set e3 5\nsem.add e3 -4", 2, -4, 1},
        {"sem.set e3 5\nwait e3 3", 2, -3, 1},
        {"sem.set e3 5\nwait e3", 2, -1, 1},
        {"sem.set e3 5\nsem.signal e3 6 2", 2, 6, 1},
    };
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        fixture *f = load(told[i].text, NULL, false);
        assert_true(fixture_run(f));
        assert_int_equal(seen.changes, told[i].changes);
        assert_int_equal(seen.semaphore, 3);
        assert_int_equal(seen.by, told[i].by);
        assert_int_equal(seen.cycle, told[i].cycle);
        fixture_free(f);
    }
}

TEST(a_step_ends_where_others_can_see_a_change) {
    fixture *f = load("nop\nsem.signal e1 1 0\nsem.set e0 4\nsem.read s1 e0\nnop", NULL, false);
    static const int64_t ends[] = {2, 3, 5};
    for (int i = 0; i < 3; i++) {
        int64_t until = 100;
        assert_true(ts_core_step(&f->err, f->core, until, INT64_MAX));
        ts_core_counters counts;
        ts_core_count(f->core, &counts);
        assert_int_equal(counts.cycles, ends[i]);
    }
    assert_int_equal(fixture_sreg(f, 1), 4);
    fixture_free(f);
}

/* ---- Transfers ---- */

static const ts_affine at = {.constant = 1, .term_count = 2, .terms = {{1, INT64_MAX / 2}, {2, 3}}};
static const int64_t one = 1;
#define TRANSFER(is_remote)                                                                                  \
    {                                                                                                        \
        .source = {.rank = 1, .begin = &at, .size = &one},                                                   \
        .destination = {.rank = 1, .begin = &at, .size = &one},                                              \
        .semaphore = {.first = 1, .count = 1, .sreg = -1}, .remote = is_remote,                              \
        .device = {.term_count = 1, .terms = {{4, 1}}}, .receive = {                                         \
            .first = 4,                                                                                      \
            .count = 2,                                                                                      \
            .sreg = 5                                                                                        \
        }                                                                                                    \
    }
static const ts_transfer local = TRANSFER(false), remote = TRANSFER(true);

static const struct {
    const char *text, *message;
    bool is_remote;
    int64_t device;
    int receive;
} transfers[] = {
    {"smov s4 3\nsmov s5 1\ndma t0", NULL, true, 3, 5},
    {"dma t0", NULL, true, 0, 4},
    {"smov s4 3\nsmov s5 1\ndma t0", NULL, false, -1, -1},
    {"smov s4 9\nsmov s5 9\ndma t0", NULL, false, -1, -1},
    {"smov s4 4\ndma t0", "there is no device 4, expected 0 to 3", true, 0, 0},
    {"smov s5 2\ndma t0", "semaphore index 2 is out of range, expected 0 to 1", true, 0, 0},
    {"smov s1 3\ndma t0", "the index of the slice does not fit in 64 bits", false, 0, 0},
    {"smov s1 -3\ndma t0", "the index of the slice does not fit in 64 bits", false, 0, 0},
    {"smov s1 2 ; smov s2 1\ndma t0", "the index of the slice does not fit in 64 bits", false, 0, 0},
};

TEST(remote_ends_are_found) {
    for (size_t i = 0; i < sizeof transfers / sizeof transfers[0]; i++) {
        fixture *f = load(transfers[i].text, transfers[i].is_remote ? &remote : &local, false);
        bool good = fixture_run(f);
        if (good != (transfers[i].message == NULL)) fail_msg("%s: %s", transfers[i].text, f->err.message);
        if (!good) assert_string_equal(f->err.message, transfers[i].message);
        assert_int_equal(seen.starts, good);
        if (good) {
            assert_int_equal(seen.start.device, transfers[i].device);
            assert_int_equal(seen.start.receive, transfers[i].receive);
            assert_int_equal(seen.start.semaphore, 1);
        }
        fixture_free(f);
    }
}

/* What the chip refuses is a fault at the cycle of the instruction. */
TEST(a_refused_start_is_told_with_its_cycle) {
    fixture *f = load("nop\nnop\ndma t0", &local, false);
    seen.refusal = "no room";
    assert_false(fixture_run(f));
    assert_string_equal(f->err.message, "no room");
    assert_int_equal(f->err.kind, TS_ERROR_FAULT);
    assert_int_equal(f->err.cycle, 2);
    fixture_free(f);
}
