/* Loops that are simulated in part, time only: counts are those of the whole, and cycles are near. */
#include <stdio.h>
#include <string.h>

#include "tests/support/rounds.h"
#include "tests/support/test.h"
#include "run/run.h"

typedef struct {
    ts_arena *arena;
    ts_error err;
    bool good;
    ts_run_result result;
} outcome;

/* `as`: what is asked for but for the program and the machine. */
static outcome go_as(const char *machine_name, const char *text, ts_run_request as) {
    outcome o = {.arena = ts_arena_new()};
    const ts_machine *machine = ts_machine_load(&o.err, o.arena, machine_name);
    ts_source *source = TS_NEW(o.arena, ts_source);
    *source = (ts_source){"a.tsim", text, strlen(text)};
    ts_target target;
    ts_run_target(machine, &target);
    const ts_program *program = ts_program_parse(&o.err, o.arena, source, &target, NULL, 0);
    if (!program) print_error("line %d: %s\n", o.err.line, o.err.message);
    assert_non_null(program);
    as.program = "a.tsim";
    as.built = program;
    as.machine = machine;
    as.time_only = true;
    o.good = ts_run(&o.err, o.arena, &as, &o.result);
    return o;
}

static outcome go(const char *machine_name, const char *text, bool exact, int64_t max_cycles) {
    return go_as(machine_name, text, (ts_run_request){.exact = exact, .max_cycles = max_cycles});
}

#define TENSORS(rows)                                                                                        \
    ".tensor x hbm f32[" rows ",128]{1,0:T(8,128)} in zeros\n.tensor y hbm f32[" rows                        \
    ",128]{1,0:T(8,128)} out\n.tensor b vmem f32[4,8,128]{2,1,0:T(8,128)}\n.sem a[4], c[4]\n"

/* What a block costs, to and fro. */
#define BLOCK(slot)                                                                                          \
    "dma b[" slot "] <- x[s0*8:+8], a[" slot "]\nwait a[" slot "]\ndma y[s0*8:+8] <- b[" slot "], c[" slot   \
    "]\nwait c[" slot "]\n"

static const struct {
    const char *name;
    /* cycles, those with a transfer under way, and of each transfer: equal on every host */
    int64_t found[3];
    const char *text;
} loops[] = {
    {"one buffer", {4509287, 3919289, 3919289}, TENSORS("40000") ".loop s0 = 0, 5000\n" BLOCK("0") ".end\n"},
    {"three buffers in turn",
     {4509308, 3914310, 3914310},
     TENSORS("40000") ".loop s0 = 0, 5000\nsmod s1, s0, 3\n" BLOCK("s1") ".end\n"},
    {"in flight from one iteration to the next",
     {2444154, 2134104, 3923193},
     TENSORS("40000") ".loop s0 = 0, 4999\nsand s1, s0, 1\ndma b[s1] <- x[s0*8:+8], a[s1]\nbr.lt s0, 2, no\n"
                      "wait a[s1]\nno: vld v0, b[s1, 0, 0]\ndma y[s0*8:+8] <- b[s1], c[0]\nwait c[0]\n.end\n"
                      "wait a[0]\nwait a[1]\n"},
    {"another way from the middle on",
     {8284209, 7196711, 7196711},
     TENSORS("40000") ".loop s0 = 0, 5000\n" BLOCK("0") "br.lt s0, 2900, no\n" BLOCK("1")
         BLOCK("2") "no: nop\n.end\n"},
    {"inner loops",
     {4892371, 3777369, 3777369},
     TENSORS("40000") ".loop s2 = 0, 2\n.loop s3 = 0, 2500\nsmul s0, s2, 2500\nsadd s0, s0, s3\n" BLOCK(
         "0") ".loop s4 = 0, 7\nvld v0, b[0, 0, 0]\nvst b[1, 0, 0], v0\n.end\n.end\n.end\n"},
    {"blocks off a tile, now and then",
     {6999261, 6119263, 6119263},
     TENSORS("40000") ".loop s0 = 0, 5000\n" BLOCK(
         "0") "smul s1, s0, 3\ndma b[1] <- x[s1:+8], a[0]\nwait a[0]\n.end\n"},
    {"a transfer is always under way",
     {2435863, 2291601, 4132097},
     TENSORS(
         "40000") "dma b[3] <- x[0:8], c[3]\n.loop s0 = 0, 5000\ndma b[0] <- x[s0*8:+8], a[0]\nwait c[3]\n"
                  "dma b[3] <- x[s0*8:+8], c[3]\nwait a[0]\n.end\nwait c[3]\n"},
    {"one in 200 is another",
     {4527817, 3905044, 3905044},
     TENSORS("40000") ".loop s0 = 0, 5000\n" BLOCK("0") "smod s1, s0, 200\nbr.lt s1, 199, no\n" BLOCK(
         "1") "no: nop\n.end\n"},
    {"alike for 64 at a time, and long to look at",
     {55573079, 1387081, 1387081},
     TENSORS("480000") ".loop s0 = 0, 3000\nsand s1, s0, -16\nsmul s1, s1, 7917\nsmod s1, s1, 479971\n"
                       "dma b[0] <- x[s1:+8], a[0]\nwait a[0]\n.loop s2 = 0, 3000\nsadd s3, s2, 1\n"
                       "sadd s3, s3, 1\n.end\n.end\n"},
    {"a transposer between",
     {3510023, 2319025, 2319025},
     TENSORS("40000") ".loop s0 = 0, 3000\n" BLOCK(
         "0") ".for I = 0, 16\nvtr.push.b32 v[I]\n.end\n.for I = 0, 16\n"
              "vtr.pop v[I]\n.end\n.end\n"},
};

/* Two cores in turns: each computes for s2 iterations of an inner loop. */
#define SHARED(work, more)                                                                                   \
    ".cores 2\n" TENSORS("6400") "core.id s5\n.loop s1 = 0, 400\nsmul s0, s1, 2\nsadd s0, s0, s5\n" work     \
        BLOCK("0") ".loop s3 = 0, s2\nvld v0, b[0, 0, 0]\nvst b[1, 0, 0], v0\n.end\n" more ".end\n"

/* The second core comes later; each issues `most` bundles for some iterations of an inner loop, hardly ever stalled. */
#define STRAIGHT(late, times, inner, most, more)                                                             \
    ".cores 2\n" TENSORS(                                                                                    \
        "38400") "core.id s5\nbr.eq s5, 0, go\n.loop s7 = 0, " late                                          \
                 "\n.for I = 0, 1000\nnop\n.end\n.end\ngo: nop\n.loop s1 = 0, " times                        \
                 "\nsmul s0, s1, 2\nsadd s0, s0, s5\ndma b[0] <- x[s0*8:+8], a[0]\n.loop s3 = 0, " inner     \
                 "\n.for I = 0, " most "\nnop\n.end\n.end\n" more "wait a[0]\n.end\n"

#define MEETING "dma b[3] <- x[s0*8:+8], a[3]\ndma y[s0*8:+8] <- b[2], c[2]\nwait a[3]\nwait c[2]\n"

static const struct {
    const char *name, *text;
    int64_t cycles; /* equal on every host */
} shared[] = {
    {"side by side", SHARED("smov s2, 200\n", ""), 1843376},
    {"memory and cores alike", SHARED("smov s2, 30\n", ""), 751515},
    {"one has more to do in its 12th",
     SHARED("smov s2, 200\n", "smod s4, s0, 24\nbr.lt s4, 23, no\n" BLOCK("2") "no: nop\n"), 1900443},
    {"each has more to do in its 12th",
     SHARED("smov s2, 200\n", "smod s4, s1, 12\nbr.lt s4, 11, no\n" BLOCK("2") "no: nop\n"), 1893742},
    {"one has halted", SHARED("br.eq s5, 1, out\nsmov s2, 200\n", "") "out: nop\n", 1842413},
    {"one is faster", SHARED("smul s2, s5, 50\nsadd s2, s2, 100\n", "") "barrier\n", 1612371},
    {"a transfer under way meanwhile", SHARED("smov s2, 100\ndma b[3] <- x[s0*8:+8], a[3]\n", "wait a[3]\n"),
     1228619},
    {"reads meet writes", SHARED("smov s2, 80\n", MEETING), 1368902},
    {"reads meet writes, and cores wait for them", SHARED("smov s2, 40\n", MEETING), 1125541},
    {"both mostly wait", SHARED("smov s2, 3\n", ""), 582961},
    {"they meet each time", SHARED("smov s2, 200\n", "barrier\n"), 1871834},
    {"one halts before the other leaves", STRAIGHT("110", "2120", "5", "200", ""), 2404279},
    {"the slower one never stalls for long",
     STRAIGHT("20", "400", "20", "2000", "br.eq s5, 1, no\n.for I = 0, 180\nnop\n.end\nno: nop\n"), 16101815},
    {"the later one overtakes the other",
     STRAIGHT("1", "2120", "5", "200", "br.eq s5, 1, no\n.for I = 0, 7\nnop\n.end\nno: nop\n"), 2307245},
};

static void same_core(const ts_core_counters *a, const ts_core_counters *b) {
    int64_t stalls = 0;
    for (int s = 0; s < TS_STALL_COUNT; s++) {
        assert_true(b->stalls[s] >= 0);
        stalls += b->stalls[s];
    }
    assert_int_equal(b->bundles + stalls, b->cycles);
    assert_int_equal(b->bundles, a->bundles);
    assert_memory_equal(b->instructions, a->instructions, sizeof b->instructions);
}

static void same_counts(const char *name, const ts_chip_counters *a, const ts_chip_counters *b) {
    double off = 100.0 * (double)(b->cycles - a->cycles) / (double)a->cycles;
    print_message("%s: %lld cycles, %+.3f %%\n", name, (long long)a->cycles, off);
    assert_true(!a->estimated && off > -1 && off < 1);
    for (int i = 0; i < a->core_count; i++) same_core(&a->cores[i], &b->cores[i]);
    assert_int_equal(b->transfers, a->transfers);
    assert_int_equal(b->useful_bytes, a->useful_bytes);
    assert_int_equal(b->src_bytes + b->dst_bytes, a->src_bytes + a->dst_bytes);
    assert_int_equal(b->hbm_read_bytes, a->hbm_read_bytes);
    assert_int_equal(b->hbm_written_bytes, a->hbm_written_bytes);
    assert_int_equal(b->rmw_lines, a->rmw_lines);
    double busy = (double)b->dma_busy_cycles / (double)a->dma_busy_cycles,
           under_way = (double)b->transfer_cycles / (double)a->transfer_cycles,
           bursts = (double)(b->hbm.reads + b->hbm.writes) / (double)(a->hbm.reads + a->hbm.writes);
    assert_true(busy > 0.99 && busy < 1.01 && under_way > 0.98 && under_way < 1.02);
    assert_true(bursts > 0.98 && bursts < 1.02);
}

/* Under ASan all are sampled, and one is simulated. */
TEST(counts_are_those_of_the_whole) {
    for (int i = 0; i < (int)(sizeof loops / sizeof *loops); i++) {
        outcome quick = go("tpu-v5e", loops[i].text, false, INT64_MAX);
        assert_true(quick.good && quick.result.chip.estimated);
        const ts_chip_counters *c = &quick.result.chip;
        const int64_t found[] = {c->cycles, c->dma_busy_cycles, c->transfer_cycles};
        assert_memory_equal(found, loops[i].found, sizeof found);
        if (i % stride(1, 8) == 0) {
            outcome exact = go("tpu-v5e", loops[i].text, true, INT64_MAX);
            if (!exact.good)
                print_error("%s: line %d: %s\n", loops[i].name, exact.err.line, exact.err.message);
            assert_true(exact.good);
            same_counts(loops[i].name, &exact.result.chip, &quick.result.chip);
            ts_arena_free(exact.arena);
        }
        ts_arena_free(quick.arena);
    }
}

TEST(cores_are_sampled_together) {
    for (int i = 0; i < (int)(sizeof shared / sizeof *shared); i++) {
        outcome quick = go("tpu-v4", shared[i].text, false, INT64_MAX);
        if (!quick.good) print_error("%s: line %d: %s\n", shared[i].name, quick.err.line, quick.err.message);
        assert_true(quick.good);
        assert_int_equal(quick.result.chip.cycles, shared[i].cycles);
        if (i % stride(1, 4) == 0) {
            outcome exact = go("tpu-v4", shared[i].text, true, INT64_MAX);
            assert_true(exact.good);
            same_counts(shared[i].name, &exact.result.chip, &quick.result.chip);
            ts_arena_free(exact.arena);
        }
        ts_arena_free(quick.arena);
    }
}

/* Walked, these would take a minute. */
TEST(a_thousand_times_longer_does_not_take_as_long) {
    static const struct {
        int cores, times;
        const char *end;
    } loop[] = {{1, 1000, ""},
                {1, 1000, "smod s1, s0, 200\nbr.lt s1, 199, no\nwait a, 0\nno: nop\n"},
                {2, 100, ".loop s2 = 0, 40\nvld v0, b[0, 0]\nvst b[0, 0], v0\n.end\n"}};
    static const char form[] = ".cores %d\n.tensor x hbm f32[%d,128]{1,0:T(8,128)} in zeros\n.tensor b vmem "
                               "f32[8,128]{1,0:T(8,128)}\n.sem a\n.loop s0 = 0, %d\ndma b <- x[s0*8:+8], a\n"
                               "wait a\n%s.end\n";
    char text[512];
    for (size_t n = 0; n < sizeof loop / sizeof *loop; n++) {
        int64_t cycles[2];
        const int times = cases(loop[n].times, loop[n].times / 10);
        for (int i = 0; i < 2; i++) {
            int count = i ? 3000 * times : 3000;
            snprintf(text, sizeof text, form, loop[n].cores, 8 * count, count, loop[n].end);
            outcome o = go(loop[n].cores > 1 ? "tpu-v4" : "tpu-v5e", text, false, INT64_MAX);
            assert_true(o.good);
            assert_int_equal(o.result.chip.transfers, loop[n].cores * count);
            cycles[i] = o.result.chip.cycles;
            ts_arena_free(o.arena);
        }
        double ratio = (double)cycles[1] / (double)cycles[0];
        assert_true(ratio > 0.99 * times && ratio < 1.01 * times);
    }
}

static const char *const faults[] = {
    TENSORS("40000") ".loop s0 = 0, 6000\n" BLOCK("0") ".end\n",
    TENSORS("40000") ".loop s0 = 0, 5000\n" BLOCK("0") "sdiv s1, s0, 1200\nwait a[s1]\n.end\n",
    TENSORS("40000") ".loop s0 = 0, 5000\n" BLOCK("0") "sdiv s1, s0, 1200\nvld v0, b[s1, 0, 0]\n.end\n",
    TENSORS("40000") ".loop s0 = 0, 5000\n" BLOCK("0") "ssub s1, 4000, s0\nsdiv s1, 7, s1\n.end\n",
};

TEST(what_goes_wrong_late_is_the_same) {
    for (int i = 0; i < (int)(sizeof faults / sizeof *faults); i++) {
        outcome quick = go("tpu-v5e", faults[i], false, INT64_MAX);
        assert_false(quick.good);
        print_message("line %d: %s\n", quick.err.line, quick.err.message);
        ts_arena_free(quick.arena);
        if (i % stride(1, 4) != 0) continue;
        outcome exact = go("tpu-v5e", faults[i], true, INT64_MAX);
        assert_false(exact.good);
        assert_string_equal(exact.err.message, quick.err.message);
        assert_int_equal(exact.err.line, quick.err.line);
        ts_arena_free(exact.arena);
    }
}

/* What the sanitizer would see in an iteration that is left out, it has to see: their cycles are not those of a sample. */
TEST(what_is_checked_is_not_sampled) {
    for (int check = 0; check < 2; check++) {
        outcome o =
            go_as("tpu-v5e", loops[5].text, (ts_run_request){.check = check, .max_cycles = INT64_MAX});
        assert_true(o.good);
        assert_int_equal(o.result.chip.cycles == loops[5].found[0], !check);
        ts_arena_free(o.arena);
    }
}

static void count_one(void *self, const ts_in_flight *transfer, const ts_dma_result *result) {
    (void)transfer, (void)result;
    ++*(int64_t *)self;
}

/* Who is told of each transfer is told of all. */
TEST(what_is_observed_is_not_sampled) {
    int64_t told = 0;
    const ts_chip_observer observer = {.self = &told, .transferred = count_one};
    outcome o =
        go_as("tpu-v5e", loops[0].text, (ts_run_request){.observer = &observer, .max_cycles = INT64_MAX});
    assert_true(o.good);
    assert_int_equal(told, o.result.chip.transfers);
    assert_int_equal(told, 2 * 5000);
    ts_arena_free(o.arena);
}

/* Whether iterations are left out: who observes a run has all, and the same cycles for what is simulated. */
static bool is_sampled(int iterations) {
    static const char form[] = TENSORS("40000") ".loop s0 = 0, %d\n" BLOCK("0") ".end\n";
    static const ts_chip_observer observer = {.self = NULL};
    char text[sizeof form + 8];
    int64_t cycles[2];
    snprintf(text, sizeof text, form, iterations);
    for (int i = 0; i < 2; i++) {
        outcome o = go_as("tpu-v5e", text,
                          (ts_run_request){.observer = i ? &observer : NULL, .max_cycles = INT64_MAX});
        assert_true(o.good);
        cycles[i] = o.result.chip.cycles;
        ts_arena_free(o.arena);
    }
    return cycles[0] != cycles[1];
}

/* Iterations take some 900 cycles, refreshes come every 5,850: queues settle in 12 of these, some 78 iterations, and six
 * batches are some 233. With what is left out for them there are to be three times as many: the first number that does. */
TEST(short_loops_are_not_worth_it) {
    assert_false(is_sampled(781));
    assert_true(is_sampled(782));
}

TEST(a_run_that_is_too_long_is_a_fault) {
    outcome o = go("tpu-v5e", loops[0].text, false, 2000000);
    assert_false(o.good);
    assert_non_null(strstr(o.err.message, "has not halted after 2000000 cycles"));
    ts_arena_free(o.arena);
}
