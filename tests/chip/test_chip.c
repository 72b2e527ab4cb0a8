/* A chip: whose its memories are, who goes first, what is counted and told of transfers, and how a run ends. */
#include "chip/chip.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "chip/remote.h"
#include "chip/state.h"
#include "tests/support/run_text.h"
#include "tests/support/test.h"

enum { CORES = 2, MOST = 8, MOST_EVENTS = 2048 };
typedef struct {
    int core, bundle;
    int64_t cycle;
} issue;

typedef struct {
    ts_arena *arena;
    ts_chip_config config;
    const ts_code *code;
    ts_chip *chip;
    ts_findings findings;
    bool inputs[MOST], outputs[MOST];
    ts_chip_observer observer;
    /* What was told; of each transfer what it did last. */
    int core, core_calls, issue_count, done_count, started_count;
    issue issues[MOST_EVENTS];
    int64_t started[MOST], begun[MOST], issued[MOST], completed[MOST], done[MOST];
} fixture;

static void on_core(void *self, int core) {
    fixture *f = self;
    assert_true(core != f->core);
    f->core = core;
    f->core_calls++;
}
static void on_issued(void *self, int bundle, int64_t cycle) {
    fixture *f = self;
    assert_true(f->issue_count < MOST_EVENTS);
    f->issues[f->issue_count++] = (issue){f->core, bundle, cycle};
}
static void on_started(void *self, const ts_in_flight *t) {
    fixture *f = self;
    f->begun[t->transfer] = t->begun_cycle;
    f->started[t->transfer] = t->issued_cycle;
    f->started_count++;
}
static void on_transferred(void *self, const ts_in_flight *t, const ts_dma_result *result) {
    fixture *f = self;
    assert_int_equal(t->done_cycle, result->completed_cycle);
    f->issued[t->transfer] = result->issued_cycle;
    f->completed[t->transfer] = result->completed_cycle;
    f->done[f->done_count++] = result->completed_cycle;
}

/* Two cores with 32 KiB of CMEM between them, or (tpu-v5e) one core without. */
static void begin(fixture *f, const char *machine_name, const char *text) {
    ts_error err = {0};
    *f = (fixture){.arena = ts_arena_new()};
    const ts_machine *machine = ts_machine_load(&err, f->arena, machine_name);
    assert_non_null(machine);
    ts_chip_configure(machine, &f->config);
    f->code = &assemble_text(f->arena, machine, text)->code;
    f->config.findings = &f->findings;
    f->config.inputs = f->inputs;
    f->config.outputs = f->outputs;
    f->config.exact = true;
    f->observer = (ts_chip_observer){.self = f,
                                     .core = on_core,
                                     .issued = on_issued,
                                     .started = on_started,
                                     .transferred = on_transferred};
}

static void make(fixture *f) {
    ts_error err = {0};
    f->chip = ts_chip_new(&err, f->arena, &f->config, f->code, &f->observer);
    if (!f->chip) fail_msg("%s", err.message);
}

static void end(fixture *f) {
    ts_chip_free(f->chip);
    ts_arena_free(f->arena);
}

/* ---- Memories ---- */

#define TENSORS                                                                                              \
    ".tensor x hbm f32[2,8,128]{2,1,0:T(8,128)} in zeros\n.tensor y hbm f32[8,128]{1,0:T(8,128)} out\n"      \
    ".tensor a vmem f32[8,128]{1,0:T(8,128)}\n.tensor b vmem f32[2,8,128]{2,1,0:T(8,128)}\n.sem s, t\n"

TEST(cores_have_their_own_and_share_the_rest) {
    fixture f;
    begin(&f, "tpu-v4", ".cores 2\n" TENSORS ".tensor c cmem f32[8,128]{1,0:T(8,128)}\nnop\n");
    make(&f);
    assert_int_equal(ts_chip_core_count(f.chip), CORES);
    for (int kind = 0; kind < TS_SPACE_COUNT; kind++) {
        ts_space *first = ts_chip_space(f.chip, kind), *second = ts_chip_core_space(f.chip, 1, kind);
        assert_ptr_equal(ts_chip_core_space(f.chip, 0, kind), first);
        bool shared = kind == TS_SPACE_HBM || kind == TS_SPACE_CMEM;
        assert_int_equal(first == second, shared);
        assert_string_equal(second->name, ts_space_text(kind));
        assert_null(first->shadow);
    }
    end(&f);
}

/* Each tensor of HBM by itself; of VMEM all, from byte 0 on. */
TEST(tensors_are_held) {
    fixture f;
    begin(&f, "tpu-v4", ".cores 2\n" TENSORS "nop\n");
    make(&f);
    const ts_space *hbm = ts_chip_space(f.chip, TS_SPACE_HBM);
    assert_int_equal(hbm->range_count, 2);
    for (int i = 0; i < 2; i++) {
        const ts_tensor *tensor = &f.code->tensors[i];
        assert_int_equal(hbm->ranges[i].begin, tensor->base_bytes);
        assert_int_equal(hbm->ranges[i].end, tensor->base_bytes + tensor->bytes);
    }
    for (int core = 0; core < CORES; core++) {
        const ts_space *vmem = ts_chip_core_space(f.chip, core, TS_SPACE_VMEM);
        assert_int_equal(vmem->range_count, 1);
        assert_int_equal(vmem->ranges[0].begin, 0);
        assert_int_equal(vmem->ranges[0].end, (8 + 16) * 512);
        assert_int_equal(ts_chip_core_space(f.chip, core, TS_SPACE_SMEM)->range_count, 0);
    }
    end(&f);
}

TEST(tensors_need_their_memory) {
    fixture f;
    ts_error err = {0};
    begin(&f, "tpu-v4", ".tensor c cmem f32[8,128]{1,0:T(8,128)}\n" TENSORS "nop\n");
    f.config.spaces[TS_SPACE_CMEM] = NULL;
    assert_null(ts_chip_new(&err, f.arena, &f.config, f.code, NULL));
    assert_string_equal(err.message, "tensor 'c' is in cmem, which this machine does not have");
    end(&f);
    begin(&f, "tpu-v4", TENSORS "nop\n");
    ts_machine_memory small = *f.config.spaces[TS_SPACE_VMEM];
    small.capacity_bytes = 8 * 512;
    f.config.spaces[TS_SPACE_VMEM] = &small;
    err = (ts_error){0};
    assert_null(ts_chip_new(&err, f.arena, &f.config, f.code, NULL));
    assert_string_equal(err.message,
                        "the tensor takes 8192 bytes at byte 4096 of vmem, which has 4096 bytes");
    end(&f);
}

/* ---- Cores ---- */

static void run(fixture *f) {
    ts_error err = {0};
    if (!ts_chip_run(&err, f->chip, 100000)) fail_msg("line %d: %s", err.line, err.message);
}

/* The cycle at which a core issued a bundle first. */
static int64_t issued(const fixture *f, int core, int bundle) {
    for (int i = 0; i < f->issue_count; i++)
        if (f->issues[i].core == core && f->issues[i].bundle == bundle) return f->issues[i].cycle;
    fail_msg("core %d did not issue bundle %d", core, bundle);
    return -1;
}

/* Of each core a bundle a cycle; where two are due core 0 goes first, and may go on alone while none can see it. */
TEST(each_core_is_told_of) {
    fixture f;
    begin(&f, "tpu-v4", ".cores 2\n nop\n nop\n nop\n");
    make(&f);
    run(&f);
    assert_int_equal(f.issue_count, 6);
    assert_true(f.issues[0].core == 0 && f.issues[0].cycle == 0);
    for (int core = 0; core < CORES; core++)
        for (int bundle = 0; bundle < 3; bundle++) assert_int_equal(issued(&f, core, bundle), bundle);
    end(&f);
}

/* Of one core, and of two that are there in cycle 0, it takes as long. */
TEST(a_barrier_comes_first) {
    static const char *const texts[] = {" barrier\n nop\n", ".cores 2\n barrier\n nop\n"};
    int64_t next[CORES];
    for (int i = 0; i < 2; i++) {
        fixture f;
        begin(&f, "tpu-v4", texts[i]);
        make(&f);
        run(&f);
        next[i] = issued(&f, 0, 1);
        assert_int_equal(issued(&f, i, 0), 0);
        assert_int_equal(issued(&f, i, 1), next[0]);
        end(&f);
    }
    assert_int_equal(next[1], next[0]);
}

/* Core 1 comes late by the bundles that core 0 jumps over, less a cycle or more. All go on together. */
TEST(a_barrier_waits_for_the_last) {
    static const char *const late[] = {"", " nop\n", " nop\n nop\n nop\n nop\n"};
    int64_t lasts = 0;
    for (int n = 0; n < 3; n++) {
        char text[256];
        snprintf(text, sizeof text, ".cores 2\n core.id s1\n br.eq s1, 0, over\n%sover: barrier\n nop\n",
                 late[n]);
        fixture f;
        begin(&f, "tpu-v4", text);
        make(&f);
        run(&f);
        int barrier = f.code->bundle_count - 2;
        int64_t come[] = {issued(&f, 0, barrier), issued(&f, 1, barrier)};
        int64_t last = come[0] > come[1] ? come[0] : come[1], next = issued(&f, 0, barrier + 1);
        assert_int_equal(issued(&f, 1, barrier + 1), next);
        if (n > 0) assert_int_equal(next - last, lasts);
        lasts = next - last;
        end(&f);
    }
}

/* How much of a run is told up to a cycle. */
static int told_until(const fixture *f, int64_t cycle) {
    int count = 0;
    for (int i = 0; i < f->issue_count; i++) count += f->issues[i].cycle <= cycle;
    for (int i = 0; i < f->done_count; i++) count += f->done[i] <= cycle;
    return count;
}

/* Steps of one event: all up to `until`, none behind it, and the same as a run. */
TEST(steps_are_a_run) {
    static const char text[] =
        ".cores 2\n" TENSORS " dma a <- x[0], s\n nop\n nop\n nop\n wait s\n barrier\n nop\n nop\n";
    fixture f, g;
    begin(&f, "tpu-v4", text);
    begin(&g, "tpu-v4", text);
    make(&f);
    make(&g);
    run(&f);
    bool running = true;
    ts_error err = {0};
    assert_true(ts_chip_step(&err, g.chip, 100000, -1, &running) && running);
    for (int64_t until = 0; running; until++) {
        for (int event = 0; event < 10 && running; event++) { /* stalls are some too */
            int before = told_until(&g, INT64_MAX);
            assert_true(ts_chip_step(&err, g.chip, 100000, until, &running));
            assert_in_range(told_until(&g, INT64_MAX), before, before + 1);
        }
        assert_int_equal(told_until(&g, INT64_MAX), told_until(&f, until));
    }
    assert_int_equal(told_until(&g, INT64_MAX), told_until(&f, INT64_MAX));
    for (int i = 0; i < f.issue_count; i++)
        assert_int_equal(issued(&g, f.issues[i].core, f.issues[i].bundle), f.issues[i].cycle);
    end(&f);
    end(&g);
}

/* Up to a cycle, as the chips of a mesh go. */
TEST(several_cores_go_up_to_a_cycle) {
    static const char text[] = ".cores 2\n" TENSORS " dma a <- x[0], s\n wait s\n barrier\n nop\n nop\n";
    fixture f, g;
    begin(&f, "tpu-v4", text);
    begin(&g, "tpu-v4", text);
    make(&f);
    make(&g);
    run(&f);
    for (int64_t next = 0; next != INT64_MAX;) {
        ts_error err = {0};
        bool has_message;
        int64_t until = next + 1;
        assert_true(ts_chip_advance(&err, g.chip, &(ts_chip_span){100000, until}, &next, &has_message));
        assert_int_equal(told_until(&g, INT64_MAX), told_until(&f, until - 1));
        assert_true(next >= until);
    }
    assert_true(ts_chip_halted(g.chip));
    assert_int_equal(told_until(&g, INT64_MAX), told_until(&f, INT64_MAX));
    end(&f);
    end(&g);
}

/* ---- Transfers ---- */

#define A_VREG 4096

/* Two of them at the same time, then one: the engine is busy from the first start to the last end of each group. */
TEST(transfers_are_counted) {
    fixture f;
    begin(&f, "tpu-v4",
          TENSORS " dma a <- x[0], s\n dma b <- x, t\n wait s\n wait t\n dma y <- a, s\n wait s\n");
    make(&f);
    run(&f);
    assert_int_equal(f.started_count, 3);
    assert_int_equal(f.done_count, 3);
    ts_chip_counters c;
    ts_chip_count(f.chip, &c);
    assert_int_equal(c.core_count, 1);
    assert_int_equal(c.transfers, 3);
    assert_int_equal(c.useful_bytes, 4 * A_VREG);
    assert_int_equal(c.hbm_read_bytes, 3 * A_VREG);
    assert_int_equal(c.hbm_written_bytes, A_VREG);
    assert_int_equal(c.src_bytes, 4 * A_VREG);
    assert_int_equal(c.dst_bytes, 4 * A_VREG);
    assert_int_equal(c.padding_bytes + c.waste_bytes + c.rmw_lines, 0);
    assert_int_equal(c.hbm.reads * f.config.memory.hbm->burst_bytes, 3 * A_VREG);
    assert_false(c.estimated);
    int64_t each = 0;
    for (int i = 0; i < 3; i++) each += f.completed[i] - f.issued[i];
    assert_int_equal(c.transfer_cycles, each);
    int64_t both = f.completed[0] > f.completed[1] ? f.completed[0] : f.completed[1];
    assert_int_equal(c.dma_busy_cycles, both - f.started[0] + f.completed[2] - f.started[2]);
    assert_int_equal(c.cycles, c.cores[0].cycles);
    static const int64_t want[][4] = {{1, 2 * A_VREG, A_VREG, A_VREG},
                                      {1, 4 * A_VREG, 2 * A_VREG, 2 * A_VREG},
                                      {1, 2 * A_VREG, A_VREG, A_VREG}};
    for (int i = 0; i < 3; i++) {
        const ts_chip_transfers *of = ts_chip_transfers_of(f.chip, i);
        const int64_t found[] = {of->times, of->moved_bytes, of->hbm_bytes, of->vmem_bytes};
        assert_memory_equal(found, want[i], sizeof found);
    }
    end(&f);
}

/* Where both sides have the same rank and other dims of 1, and where the ranks differ. */
TEST(dims_of_1_do_not_count) {
    static const char *const copies[] = {"p <- q", "r <- q[0]", "q <- p", "q[0] <- r", "t <- u"};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 ".tensor p vmem s32[8,1,128]{2,1,0}\n.tensor q vmem s32[1,8,128]{2,1,0}\n"
                 ".tensor r vmem s32[8,128]{1,0}\n.tensor t vmem s32[1,1,8,1,128]\n"
                 ".tensor u vmem s32[1,1,1,8,128]\n.sem s\n dma %s, s\n wait s\n",
                 copies[i]);
        fixture f;
        begin(&f, "tpu-v4", text);
        make(&f);
        const ts_transfer *what = &f.code->transfers[0];
        int64_t from = f.code->tensors[what->source.tensor].base_bytes,
                to = f.code->tensors[what->destination.tensor].base_bytes;
        ts_space *vmem = ts_chip_space(f.chip, TS_SPACE_VMEM);
        for (int k = 0; k < A_VREG; k++) *ts_space_touch(vmem, from + k, 1) = (uint8_t)(k % 251);
        run(&f);
        for (int k = 0; k < A_VREG; k++) assert_int_equal(*ts_space_touch(vmem, to + k, 1), k % 251);
        end(&f);
    }
}

/* Without values only what nobody computes may come into SMEM. */
TEST(time_only_needs_what_smem_gets) {
#define LISTS                                                                                                \
    ".tensor x hbm s32[8] in zeros\n.tensor y hbm s32[8] inout zeros\n.tensor a vmem s32[8]\n"               \
    ".tensor i smem s32[8]\n.tensor j smem s32[8]\n.sem s\n"
    static const struct {
        const char *text, *unknown;
    } rows[] = {{LISTS " dma i <- x, s\n wait s\n", NULL},
                {LISTS " dma i <- y, s\n wait s\n", NULL},
                {LISTS " dma y <- x, s\n wait s\n dma i <- y, s\n wait s\n", "y"},
                {LISTS " dma i <- y, s\n wait s\n dma y <- x, s\n wait s\n", "y"},
                {LISTS " dma y <- x, s\n wait s\n dma i <- x, s\n wait s\n", NULL},
                {LISTS " dma i <- a, s\n wait s\n", "a"},
                {LISTS " dma i <- x, s\n wait s\n dma j <- i, s\n wait s\n", NULL},
                {LISTS " dma a <- x, s\n wait s\n dma y <- a, s\n wait s\n", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        ts_error err = {0};
        begin(&f, "tpu-v4", rows[i].text);
        f.config.time_only = true;
        make(&f);
        bool good = ts_chip_run(&err, f.chip, 100000);
        if (good != !rows[i].unknown) fail_msg("row %zu: %s", i, err.message);
        char message[128];
        snprintf(message, sizeof message, "'%s' is unknown when only time is modelled, and SMEM needs it",
                 rows[i].unknown);
        if (!good) assert_string_equal(err.message, message);
        if (!good) assert_int_equal(err.kind, TS_ERROR_UNMODELLED);
        end(&f);
    }
}

/* The oldest first; what is complete is no longer there. */
TEST(those_under_way_are_listed) {
    fixture f;
    begin(&f, "tpu-v4", TENSORS " dma b <- x, t\n nop\n dma a <- x[0], s\n wait s\n wait t\n");
    make(&f);
    ts_error err = {0};
    bool running = true;
    int transfer;
    int64_t cycle;
    assert_false(ts_chip_transfer(f.chip, 0, &transfer, &cycle));
    while (f.started_count < 2) assert_true(ts_chip_step(&err, f.chip, 100000, 100000, &running));
    for (int i = 0; i < 2; i++) {
        assert_true(ts_chip_transfer(f.chip, i, &transfer, &cycle));
        assert_int_equal(transfer, i);
        assert_int_equal(cycle, f.started[i]);
    }
    assert_false(ts_chip_transfer(f.chip, 2, &transfer, &cycle));
    assert_int_equal(ts_chip_semaphore(f.chip, 0, 0), 0);
    while (f.done_count < 1) assert_true(ts_chip_step(&err, f.chip, 100000, 100000, &running));
    assert_true(ts_chip_transfer(f.chip, 0, &transfer, &cycle));
    assert_false(ts_chip_transfer(f.chip, 1, &transfer, &cycle));
    assert_int_equal(ts_chip_semaphore(f.chip, 0, transfer == 0 ? 0 : 1), 1);
    end(&f);
}

static void step_until(fixture *f, const int *count, int wanted) {
    bool running = true;
    ts_error err = {0};
    while (*count < wanted) assert_true(ts_chip_step(&err, f->chip, 100000, 100000, &running) && running);
}

/* What starts between mark and repeat, transfer number `marked`, counts so often more, whether it is complete by then or
 * not. */
static void check_repeated(int marked, bool complete, int more) {
    fixture f;
    begin(&f, "tpu-v4",
          marked == 0
              ? TENSORS " dma b <- x, t\n wait t\n dma a <- x[0], s\n wait s\n dma y <- a, s\n wait s\n"
              : TENSORS " dma b <- x, t\n dma a <- x[0], s\n wait s\n wait t\n dma y <- a, s\n wait s\n");
    make(&f);
    step_until(&f, &f.started_count, marked);
    chip_mark(f.chip, 0);
    step_until(&f, complete ? &f.done_count : &f.started_count, marked + 1);
    assert_false(chip_counts_for_others(f.chip));
    chip_repeat(f.chip, 0, more);
    assert_int_equal(chip_counts_for_others(f.chip), !complete);
    run(&f);
    int64_t times[] = {1, 1, 1}, cycles = 0;
    times[marked] += more;
    for (int i = 0; i < 3; i++) {
        const ts_chip_transfers *of = ts_chip_transfers_of(f.chip, i);
        assert_int_equal(of->times, times[i]);
        assert_int_equal(of->moved_bytes, times[i] * (i == 0 ? 4 : 2) * A_VREG);
        cycles += times[i] * (f.completed[i] - f.issued[i]);
    }
    ts_chip_counters c;
    ts_chip_count(f.chip, &c);
    assert_int_equal(c.transfers, 3 + more);
    assert_int_equal(c.useful_bytes, (2 * times[0] + times[1] + times[2]) * A_VREG);
    assert_int_equal(c.hbm_written_bytes, A_VREG);
    assert_int_equal(c.transfer_cycles, cycles);
    end(&f);
}

TEST(transfers_are_repeated) {
    for (int more = 1; more <= 3; more += 2)
        for (int marked = 0; marked < 2; marked++)
            for (int complete = 0; complete < 2; complete++) check_repeated(marked, complete, more);
}

/* ---- The sanitizer ---- */

TEST(what_is_tracked) {
    for (int time_only = 0; time_only < 2; time_only++) {
        fixture f;
        begin(&f, "tpu-v4", ".cores 2\n" TENSORS "nop\n");
        f.config.sanitize = true;
        f.config.time_only = time_only;
        make(&f);
        for (int kind = 0; kind < TS_SPACE_COUNT; kind++)
            for (int core = 0; core < CORES; core++)
                assert_int_equal(ts_chip_core_space(f.chip, core, kind)->shadow == NULL, time_only);
        end(&f);
    }
}

/* What a transfer does not fill of the buffer that it renews is undefined, and nothing else. */
TEST(buffers_are_renewed) {
    for (int buffers = 0; buffers < 3; buffers++) {
        fixture f;
        begin(&f, "tpu-v4", TENSORS " dma b <- x, s\n wait s\n dma b[1, 0:4] <- x[0, 0:4], s\n wait s\n");
        ts_code code = *f.code;
        ts_transfer transfers[] = {f.code->transfers[0], f.code->transfers[1]};
        transfers[1].renews = buffers;
        code.transfers = transfers;
        f.code = &code;
        f.config.sanitize = true;
        make(&f);
        ts_space_mark_valid(ts_chip_space(f.chip, TS_SPACE_HBM), code.tensors[0].base_bytes * 8,
                            2 * A_VREG * 8);
        run(&f);
        int64_t first = code.tensors[3].base_bytes * 8;
        const int64_t found[] = {-1, first, first + (A_VREG + 4 * 512) * 8};
        ts_space *vmem = ts_chip_space(f.chip, TS_SPACE_VMEM);
        assert_int_equal(ts_space_find_poison(vmem, first, 2 * A_VREG * 8), found[buffers]);
        end(&f);
    }
}

#define STORE  " vmov v0, 1\n vst a[0, 0], v0\n"
#define CORE_1 " core.id s1\n br.eq s1, 0, over\n"
static const struct {
    const char *text;
    int input; /* a tensor that is one; -1: none is */
    const char *found[2];
} looked_at[] = {
    {TENSORS STORE, -1, {NULL}},
    {TENSORS STORE, 2, {"vst writes to 'a', which is an input and not inout"}},
    {TENSORS STORE, 3, {NULL}},
    {TENSORS ".tensor i smem s32[8]\n smov s1, 1\n sst i[0], s1\n",
     4,
     {"sst writes to 'i', which is an input and not inout"}},
    {TENSORS " dma a <- x[0], s\n",
     -1,
     {"the program ended at cycle 1, when this DMA was under way",
      "semaphore s[0] is 1 at the end, expected 0: the last DMA that signals it was not waited for"}},
    {TENSORS " sem.add t, 2\n",
     -1,
     {"semaphore t[0] is 2 at the end, expected 0: it was added to more often than waited for"}},
    {".cores 2\n" TENSORS CORE_1 " sem.add t, 2\nover: halt\n",
     -1,
     {"semaphore t[0] of core 1 is 2 at the end, expected 0: it was added to more often than waited for"}},
    {TENSORS " dma a <- x[0], s\n vld v0, a[0, 0]\n wait s\n",
     -1,
     {"vld reads bytes of 'a' that a DMA writes, without waiting for it"}},
    {TENSORS " dma a <- x[0], s\n wait s\n vld v0, a[0, 0]\n", -1, {NULL}},
    {".cores 2\n" TENSORS " dma y <- a, s\n wait s\n",
     -1,
     {"this DMA writes bytes of 'y' that a DMA of another core writes, with no wait and barrier between "
      "them"}},
    {".cores 2\n" TENSORS CORE_1
     " dma y <- a, s\n wait s\nover: barrier\n br.ne s1, 0, end\n dma y <- a, s\n wait s\n"
     "end: halt\n",
     -1,
     {NULL}},
};

TEST(what_a_program_does_wrong_is_found) {
    for (size_t i = 0; i < sizeof looked_at / sizeof *looked_at; i++) {
        fixture f;
        begin(&f, "tpu-v4", looked_at[i].text);
        f.config.sanitize = true;
        if (looked_at[i].input >= 0) f.inputs[looked_at[i].input] = true;
        make(&f);
        run(&f);
        int count = 0;
        while (count < 2 && looked_at[i].found[count]) count++;
        for (int k = 0; k < f.findings.count; k++)
            if (k >= count || strcmp(f.findings.list[k].text, looked_at[i].found[k]) != 0)
                fail_msg("%zu: %s", i, f.findings.list[k].text);
        assert_int_equal(f.findings.count, count);
        ts_chip_counters c;
        ts_chip_count(f.chip, &c);
        int64_t last = f.done_count > 0 ? f.done[f.done_count - 1] : 0;
        for (int k = 0; k < count; k++)
            if (f.findings.list[k].kind == TS_FINDING_SEMAPHORE)
                assert_int_equal(f.findings.list[k].cycle, last > c.cycles ? last : c.cycles);
        end(&f);
    }
}

/* Of what vectors stored it is told which store; of HBM, and of what nobody stored, that it is undefined. */
TEST(undefined_outputs_are_found) {
    static const struct {
        const char *text, *other;
        int other_line;
    } rows[] = {{TENSORS " dma y <- a, s\n wait s\n", NULL, 0},
                {TENSORS ".tensor u hbm f32[8,128]{1,0:T(8,128)}\n dma y <- u, s\n wait s\n", NULL, 0},
                {TENSORS " vld v1, b[0, 0, 0]\n vst a[0, 0], v1\n dma y <- a, s\n wait s\n",
                 "this met the undefined value first", 6},
                {TENSORS " vld v1, b[0, 0, 0]\n vst a[0, 0], v1\n dma x[0] <- a, s\n wait s\n dma y <- x[0], "
                         "s\n wait s\n",
                 NULL, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, "tpu-v4", rows[i].text);
        f.config.sanitize = f.outputs[1] = true;
        make(&f);
        run(&f);
        assert_int_equal(f.findings.count, 1);
        const ts_finding *found = &f.findings.list[0];
        if (!rows[i].other != !found->other_text)
            fail_msg("row %zu: %s %s", i, found->text, found->other_text);
        if (rows[i].other) assert_string_equal(found->other_text, rows[i].other);
        assert_int_equal(found->other.line, rows[i].other_line);
        end(&f);
    }
}

TEST(without_values_none_is_undefined) {
    fixture f;
    begin(&f, "tpu-v4", TENSORS " dma y <- a, s\n wait s\n");
    f.config.sanitize = f.config.time_only = f.outputs[1] = true;
    make(&f);
    run(&f);
    assert_int_equal(f.findings.count, 0);
    end(&f);
}

/* How many cycles later the core ends than its transfer, if it issues so many cycles behind it. */
static int64_t end_after_transfer(int64_t delay, bool *left) {
    char text[512];
    fixture f;
    ts_chip_counters c;
    snprintf(text, sizeof text, TENSORS " dma a <- x[0], s\n delay %d\n", (int)delay);
    begin(&f, "tpu-v4", text);
    make(&f);
    run(&f);
    ts_chip_count(f.chip, &c);
    *left = ts_findings_have(&f.findings, TS_FINDING_TRANSFER);
    int64_t later = c.cycles - f.completed[0];
    end(&f);
    return later;
}

/* One that ends with the core's last cycle, or later. */
TEST(a_transfer_is_left_at_the_end) {
    bool left;
    int64_t early = end_after_transfer(5, &left);
    assert_true(early < 0 && left);
    for (int64_t later = -1; later <= 1; later++) {
        assert_int_equal(end_after_transfer(5 - early + later, &left), later);
        assert_int_equal(left, later <= 0);
    }
}

/* ---- Ports of VMEM ---- */

#define LOADS  ".for I = 0, 700\n vld v0, b[0, 0, 0]\n.end\n"
#define STORES ".for I = 0, 700\n vst b[0, 0, 0], v0\n.end\n"
static const struct {
    const char *text;
    int core, slots;
    bool dma_wins, stalls;
} ports[] = {
    {TENSORS " dma y <- a, s\n" LOADS " wait s\n", 0, 1, true, true},
    {TENSORS " dma y <- a, s\n" LOADS " wait s\n", 0, 1, false, false},
    {TENSORS " dma y <- a, s\n" LOADS " wait s\n", 0, 2, true, false}, /* a slot is free */
    {TENSORS " dma y <- a, s\n" STORES " wait s\n", 0, 1, true, false},
    {TENSORS " dma a <- x[0], s\n" STORES " wait s\n", 0, 1, true, true},
    {TENSORS " dma a <- x[0], s\n" LOADS " wait s\n", 0, 1, true, false},
    {TENSORS " dma y <- x[0], s\n" LOADS " wait s\n", 0, 1, true, false},
    {TENSORS " dma y <- x[0], t\n dma y <- a, s\n" LOADS " wait s\n wait t\n", 0, 1, true, true},
    {".cores 2\n" TENSORS CORE_1 LOADS " halt\nover: dma y <- a, s\n wait s\n", 1, 1, true, false},
};

/* Of 512 bytes a cycle: a vreg's in every eighth, from the begin of the transfer to its end. */
TEST(transfers_take_ports) {
    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) {
        fixture f;
        begin(&f, "tpu-v4", ports[i].text);
        f.config.core.vmem_winner = ports[i].dma_wins ? TS_VMEM_DMA_WINS : TS_VMEM_CORE_WINS;
        f.config.core.limits.slots[TS_SLOT_VLD] = f.config.core.limits.slots[TS_SLOT_VST] = ports[i].slots;
        ts_dma_config dma = *f.config.memory.dma;
        dma.bytes_per_cycle[TS_DMA_COPY] = 512;
        f.config.memory.dma = &dma;
        make(&f);
        run(&f);
        int last = f.code->transfer_count - 1;
        int64_t cycles = ports[i].stalls ? ts_ceil_div(f.completed[last] - f.begun[last], 8) : 0;
        ts_chip_counters c;
        ts_chip_count(f.chip, &c);
        assert_int_equal(c.cores[ports[i].core].stalls[TS_STALL_VMEM_PORT], cycles);
        end(&f);
    }
}

/* ---- How it ends ---- */

static const struct {
    const char *text, *message;
    int line;
} stuck[] = {
    {".sem a\n nop\n nop\n wait a, 2\n", "the core waits for semaphore 'a[0]' to reach 2, it is 0", 4},
    {".cores 2\n.sem a\n core.id s1\n br.eq s1, 0, over\n sem.add a, 3\n wait a, 4\nover: halt\n",
     "core 0 has halted; core 1 waits for semaphore 'a[0]' to reach 4, it is 3", 6},
    {".cores 2\n.sem a\n core.id s1\n br.eq s1, 0, over\n barrier\nover: halt\n",
     "core 0 has halted; core 1 waits at the barrier of a.tsim:5", 5},
    {".cores 2\n.sem a\n core.id s1\n br.eq s1, 0, over\n barrier\nover: wait a\n",
     "core 0 waits for semaphore 'a[0]' to reach 1, it is 0; core 1 waits at the barrier of a.tsim:5", 6},
    {TENSORS " dma b <- x, s\n wait t\n", "the core waits for semaphore 't[0]' to reach 1, it is 0", 7},
};

/* At the cycle behind the last bundle and the last transfer. */
TEST(nobody_can_go_on) {
    for (size_t i = 0; i < sizeof stuck / sizeof *stuck; i++) {
        fixture f;
        ts_error err = {0};
        ts_chip_counters c;
        char message[256];
        begin(&f, "tpu-v4", stuck[i].text);
        make(&f);
        assert_false(ts_chip_run(&err, f.chip, 1000));
        snprintf(message, sizeof message, "deadlock: %s; the DMA engine is idle; HBM is idle",
                 stuck[i].message);
        assert_string_equal(err.message, message);
        assert_int_equal(err.line, stuck[i].line);
        ts_chip_count(f.chip, &c);
        int64_t done = f.done_count > 0 ? f.completed[0] : 0;
        assert_int_equal(err.cycle, done > c.cycles ? done : c.cycles);
        end(&f);
        begin(&f, "tpu-v4", stuck[i].text);
        make(&f);
        assert_false(ts_chip_run(NULL, f.chip, 1000)); /* nobody asks why */
        end(&f);
    }
}

/* Three bundles, the last in cycle 2. */
TEST(a_cycle_is_the_end) {
    for (int64_t most = 1; most <= 4; most++) {
        fixture f;
        ts_error err = {0};
        begin(&f, "tpu-v5e", " nop\n nop\n nop\n");
        make(&f);
        assert_int_equal(ts_chip_run(&err, f.chip, most), most >= 3);
        char message[64];
        snprintf(message, sizeof message, "the program has not halted after %d cycles", (int)most);
        if (most < 3) assert_string_equal(err.message, message);
        if (most < 3) assert_int_equal(err.cycle, most);
        assert_int_equal(f.issue_count, most < 3 ? most : 3);
        end(&f);
    }
}
