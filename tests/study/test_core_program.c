/* What the DMA engine cannot do costs what the shipped program takes that does it, run as a user would. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/extend.h"
#include "study/timed.h"
#include "study/transfer.h"
#include "tests/support/rounds.h"
#include "tests/support/group.h"
#include "tests/support/shapes.h"
#include "tests/support/transfers.h"

/* A machine whose engine cannot do these either: their bits by ts_dma_kind. */
static const ts_machine *machine_without(const char *name, unsigned kinds) {
    const ts_machine *loaded = ts_machine_load(NULL, arena, name);
    ts_machine *machine = TS_NEW(arena, ts_machine);
    assert_non_null(loaded);
    *machine = *loaded;
    for (int i = 0; i < TS_DMA_KIND_COUNT; i++)
        if (kinds >> i & 1) machine->dma.bytes_per_cycle[i] = 0;
    return machine;
}

/* A tpu-v5e with a figure changed, or two. */
static const ts_machine *machine_with(const char *one, const char *other) {
    const char *const overrides[] = {one, other};
    const ts_machine *machine =
        ts_machine_load_with(NULL, arena, "tpu-v5e", "test", overrides, other ? 2 : 1);
    assert_non_null(machine);
    return machine;
}

static ts_dma_cost price(const ts_machine *machine, const char *src, const char *dst, bool exact) {
    ts_transfer_request request = parse_transfer(arena, machine, src, dst);
    ts_transfer_study study;
    request.exact = exact;
    assert_true(ts_transfer_price(NULL, arena, &request, &study));
    return study.cost;
}

enum { CONVERT = 1 << TS_DMA_CONVERT, RETILE = 1 << TS_DMA_RETILE, GATHER = 1 << TS_DMA_GATHER };

static const struct {
    const char *machine;
    unsigned without;
    const char *src, *dst;
    ts_dma_kind kind;
    const char *status, *program, *parameters;
} small[] = {
    {"tpu-v5e", 0, "f32[300,1030]{1,0:T(8,128)}", "f32[300,1030]{0,1:T(8,128)}", TS_DMA_TRANSPOSE, "derived",
     "programs/transpose.tsim", "-D TYPE=f32 -D ROWS=300 -D COLS=1030"},
    {"tpu-v5p", 0, "f32[600,1030]{1,0:T(8,128)}", "f32[600,1030]{0,1:T(8,128)}", TS_DMA_TRANSPOSE, "derived",
     "programs/transpose.tsim", "-D TYPE=f32 -D ROWS=600 -D COLS=1030"},
    {"tpu-v7x", 0, "s32[300,1030]{1,0}", "s32[300,1030]{0,1:T(8,128)}", TS_DMA_TRANSPOSE, "derived",
     "programs/transpose.tsim", "-D TYPE=f32 -D ROWS=300 -D COLS=1030 -D X_TILES=0"},
    {"tpu-v5e", 0, "bf16[3,520,260]{2,1,0:T(8,128)(2,1)}", "bf16[3,520,260]{1,2,0}", TS_DMA_TRANSPOSE,
     "derived", "programs/transpose.tsim", "-D TYPE=bf16 -D BATCH=3 -D ROWS=520 -D COLS=260 -D Y_TILES=0"},
    {"tpu-v5e", 0, "s8[512,256]{1,0:T(8,128)(4,1)}", "s8[512,256]{0,1:T(8,128)(4,1)}", TS_DMA_TRANSPOSE,
     "derived", "programs/transpose.tsim", "-D TYPE=u8 -D ROWS=512 -D COLS=256"},
    {"tpu-v5e", 0, "s4[512,256]{1,0:T(8,128)(8,1)E(4)}", "s4[512,256]{0,1:T(8,128)(8,1)E(4)}",
     TS_DMA_TRANSPOSE, "derived", "programs/transpose.tsim", "-D TYPE=u4 -D ROWS=512 -D COLS=256"},
    {"tpu-v5e", 0, "f32[512,256]{1,0:T(8,128)}", "f32[512,256]{0,1:T(8,128)S(1)}", TS_DMA_TRANSPOSE,
     "derived", "programs/transpose.tsim", "-D TYPE=f32 -D ROWS=512 -D COLS=256 -D Y_VMEM=1"},
    {"tpu-v5e", 0, "f32[512,256]{1,0:T(8,128)S(1)}", "f32[512,256]{0,1:T(8,128)}", TS_DMA_TRANSPOSE,
     "derived", "programs/transpose.tsim", "-D TYPE=f32 -D ROWS=512 -D COLS=256 -D X_VMEM=1"},
    {"tpu-v5e", CONVERT, "f32[600,512]{1,0}", "bf16[600,512]{1,0:T(8,128)(2,1)}", TS_DMA_CONVERT, "unstated",
     "programs/pack.tsim", "-D ROWS=600 -D COLS=512 -D X_TILES=0 -D BLOCK=512"},
    {"tpu-v5e", CONVERT, "bf16[40,4096]{1,0:T(8,128)(2,1)}", "f32[40,4096]{1,0:T(8,128)}", TS_DMA_CONVERT,
     "unstated", "programs/unpack.tsim", "-D ROWS=40 -D COLS=4096 -D BLOCK=64"},
    {"tpu-v5e", RETILE, "f32[64,16384]{1,0}", "f32[64,16384]{1,0:T(8,128)}", TS_DMA_RETILE, "unstated",
     "programs/tile.tsim", "-D ROWS=64 -D COLS=16384 -D BLOCK=16"},
    {"tpu-v5e", RETILE, "f32[600,512]{1,0:T(8,128)}", "f32[600,512]{1,0}", TS_DMA_RETILE, "unstated",
     "programs/untile.tsim", "-D ROWS=600 -D COLS=512 -D BLOCK=512"},
};

/* "-D NAME=value -D .." as defines. */
static void define_all(ts_timed_program *p, const char *parameters) {
    char *text = ts_arena_copy_text(arena, parameters, strlen(parameters)), *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        if (!equals) continue;
        *equals = '\0';
        p->defines[p->count++] = (ts_define){word, equals + 1};
    }
}

static ts_timed_program program_of(const ts_machine *machine, const char *program, const char *parameters) {
    ts_timed_program p = {.arena = arena,
                          .runs = ts_timed_runs_new(arena),
                          .machine = machine,
                          .program = ts_text_format(arena, "tilesim:/%s", program + strlen("programs/"))};
    define_all(&p, parameters);
    return p;
}

static ts_chip_counters run_of(const ts_machine *machine, const char *program, const char *parameters) {
    ts_timed_program p = program_of(machine, program, parameters);
    p.exact = true;
    const ts_timed_run *run = ts_timed_run_get(NULL, &p);
    assert_non_null(run);
    return run->chip;
}

/* Scalar results that take a thousand cycles: the first of all stalls. */
TEST(the_longest_stall_is_named) {
    const ts_machine *machine = machine_with("core.timing.scalar.latency=1000", NULL);
    ts_dma_cost cost =
        price(machine, "f32[128,128]{1,0:T(8,128)S(1)}", "f32[128,128]{0,1:T(8,128)S(1)}", true);
    assert_string_equal(cost.limiter, ts_stall_get(TS_STALL_WAIT + TS_LATENCY_SCALAR)->meaning);
}

/* The program holds three blocks of each in VMEM, of 1 MiB; also where only part of it would be run. */
TEST(what_does_not_fit_is_refused) {
    const ts_machine *machine = machine_with("memories.vmem.capacity=1 MiB", NULL);
    ts_transfer_request request =
        parse_transfer(arena, machine, "f32[8192,8192]{1,0:T(8,128)}", "f32[8192,8192]{0,1:T(8,128)}");
    ts_transfer_study study;
    ts_error err = {0};
    assert_false(ts_transfer_price(&err, arena, &request, &study));
    assert_non_null(strstr(err.message, "vmem"));
}

static void parts_make_the_whole(const ts_dma_cost *cost) {
    int64_t sum = 0;
    for (int i = 0; i < TS_DMA_COMPONENT_COUNT; i++) sum += cost->components[i];
    assert_int_equal(sum, cost->cycles);
    assert_int_equal(cost->transfer.completed_cycle, cost->cycles);
}

/* For transfers, of all cores. */
static int64_t mean_wait(const ts_chip_counters *chip) {
    int64_t cycles = 0;
    for (int i = 0; i < chip->core_count; i++)
        cycles += chip->cores[i].stalls[TS_STALL_SEMAPHORE] + chip->cores[i].stalls[TS_STALL_DMA_QUEUE];
    return cycles / chip->core_count;
}

/* With one transfer at a time the second of a block stands in a queue, and that is no work of the core either. */
TEST(waiting_for_the_engine_is_not_work) {
    const ts_machine *machine = machine_with("dma.queues=1", "dma.descriptors=1");
    ts_dma_cost cost = price(machine, "f32[300,1030]{1,0:T(8,128)}", "f32[300,1030]{0,1:T(8,128)}", true);
    ts_chip_counters chip =
        run_of(machine, "programs/transpose.tsim", "-D TYPE=f32 -D ROWS=300 -D COLS=1030");
    assert_true(chip.cores[0].stalls[TS_STALL_DMA_QUEUE] > 0);
    assert_int_equal(cost.engine_cycles, chip.cycles - mean_wait(&chip));
}

TEST(the_price_is_that_of_the_program) {
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i += (size_t)stride(1, 3)) {
        const ts_machine *machine = machine_without(small[i].machine, small[i].without);
        ts_transfer_request request = parse_transfer(arena, machine, small[i].src, small[i].dst);
        ts_transfer_study study;
        request.exact = true;
        assert_true(ts_transfer_price(NULL, arena, &request, &study));
        if (!study.by.program) fail_msg("%s: by the engine", small[i].src);
        assert_int_equal(study.by.kind, small[i].kind);
        assert_string_equal(study.by.program, small[i].program);
        assert_string_equal(study.by.parameters, small[i].parameters);
        assert_null(study.by.slower);
        if (small[i].without == 0) assert_string_equal(study.by.status, small[i].status);
        ts_chip_counters chip = run_of(machine, small[i].program, small[i].parameters);
        const ts_dma_cost *cost = &study.cost;
        int64_t elements = study.plan->elements, src = elements * study.src.shape->element_bits / 8,
                dst = elements * study.dst.shape->element_bits / 8;
        assert_int_equal(cost->cycles, chip.cycles);
        assert_int_equal(cost->transfer.kind, TS_DMA_CORE_PROGRAM);
        assert_int_equal(cost->transfer.useful_bytes, src > dst ? src : dst);
        assert_int_equal(cost->transfer.src_bytes, chip.hbm_read_bytes);
        assert_int_equal(cost->transfer.dst_bytes, chip.hbm_written_bytes);
        assert_int_equal(cost->transfer.padding_bytes, chip.padding_bytes / 2);
        assert_int_equal(cost->transfer.waste_bytes, chip.waste_bytes);
        assert_int_equal(cost->transfer.descriptors, chip.transfers);
        assert_memory_equal(&cost->hbm, &chip.hbm, sizeof chip.hbm);
        assert_int_equal(cost->engine_cycles, chip.cycles - mean_wait(&chip));
        assert_false(cost->estimated || cost->is_over);
        parts_make_the_whole(cost);
    }
}

/* ---- Large ones are run in part ---- */

static const struct {
    const char *machine;
    unsigned without;
    const char *src, *dst;
    double percent; /* that its cycles may be off */
} large[] = {
    {"tpu-v5e", 0, "u8[1100,17000]{1,0:T(8,128)(4,1)}", "u8[1100,17000]{0,1:T(8,128)(4,1)}",
     0.3}, /* low last strips */
    {"tpu-v5e", RETILE, "f32[12800,512]{1,0}", "f32[12800,512]{1,0:T(8,128)}", TS_EXTEND_PERCENT},
    {"tpu-v5e", CONVERT, "bf16[3200,2048]{1,0:T(8,128)(2,1)}", "f32[3200,2048]{1,0:T(8,128)}",
     TS_EXTEND_PERCENT},
};

static void near_to(int64_t value, int64_t exact, double percent) {
    double off = 100.0 * ((double)value - (double)exact) / (double)exact;
    if (off < -percent || off > percent) fail_msg("%d, exactly %d", (int)value, (int)exact);
}

/* But for rounding, once for each of the two that an extension adds. */
static void near_by(int64_t value, double expected) {
    if (fabs((double)value - expected) > 2) fail_msg("%d, expected %.1f", (int)value, expected);
}

/* Surely over is what would be if it were TS_LIMIT_PERCENT faster. */
static void within_limits(const ts_machine *machine, const char *src, const char *dst,
                          const ts_dma_cost *cost) {
    static const struct {
        int percent;
        bool is_over;
    } limits[] = {
        {40, true}, {66, true}, {75, true}, {101, false}}; /* 40: its first blocks are over; 66: nearly */
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        ts_transfer_request request = parse_transfer(arena, machine, src, dst);
        ts_transfer_study study;
        request.limit = cost->cycles * limits[i].percent / 100;
        assert_true(ts_transfer_price(NULL, arena, &request, &study));
        if (study.cost.is_over != limits[i].is_over)
            fail_msg("%s: over %d percent: %d", src, limits[i].percent, study.cost.is_over);
        if (limits[i].is_over)
            assert_in_range(study.cost.cycles, request.limit + 1, cost->cycles);
        else
            assert_int_equal(study.cost.cycles, cost->cycles);
    }
}

TEST(what_is_run_in_part_is_near_the_whole) {
    /* Under ASan the smallest: the first runs below, as three parts. */
    for (size_t i = (size_t)cases(0, 2); i < sizeof large / sizeof large[0]; i += (size_t)stride(1, 4)) {
        const ts_machine *machine = machine_without(large[i].machine, large[i].without);
        ts_dma_cost whole = price(machine, large[i].src, large[i].dst, true),
                    part = price(machine, large[i].src, large[i].dst, false);
        assert_true(part.estimated && !whole.estimated);
        near_to(part.cycles, whole.cycles, large[i].percent);
        near_to(part.transfer.src_bytes, whole.transfer.src_bytes, 2);
        near_to(part.transfer.dst_bytes, whole.transfer.dst_bytes, 2);
        near_to(part.transfer.descriptors, whole.transfer.descriptors, 5);
        near_to(part.hbm.reads, whole.hbm.reads, 2);
        near_to(part.hbm.writes, whole.hbm.writes, 2);
        near_to(part.hbm.end_cycle, whole.hbm.end_cycle, large[i].percent);
        assert_true(part.hbm.read_latency_max > 0);
        within_limits(machine, large[i].src, large[i].dst, &part);
        parts_make_the_whole(&part);
    }
}

/* Blocks have 512 x 512 elements, or a matrix's where those are fewer: 6 * 8 are run for each core, more of small ones,
 * whole strips, and whole matrices where the full strips of one are fewer. The rest takes as long as the transfers in the
 * middle of the run do. */
static const struct {
    const char *machine, *src, *dst;
    int64_t run, blocks;
} blocks[] = {
    {"tpu-v5e", "u4[160,512,512]{2,1,0:T(8,128)(8,1)E(4)}", "u4[160,512,512]{1,2,0:T(8,128)(8,1)E(4)}", 48,
     160},
    {"tpu-v4", "u4[160,512,512]{2,1,0:T(8,128)(8,1)E(4)}", "u4[160,512,512]{1,2,0:T(8,128)(8,1)E(4)}", 96,
     160},
    {"tpu-v5e", "u4[600,256,256]{2,1,0:T(8,128)(8,1)E(4)}", "u4[600,256,256]{1,2,0:T(8,128)(8,1)E(4)}", 192,
     600},
    {"tpu-v5e", "u4[14,1536,2048]{2,1,0:T(8,128)(8,1)E(4)}", "u4[14,1536,2048]{1,2,0:T(8,128)(8,1)E(4)}",
     6 * 12, 168},
    {"tpu-v5e", "u8[5120,4608]{1,0:T(8,128)(4,1)}", "u8[5120,4608]{0,1:T(8,128)(4,1)}", 6 * 9, 90},
    /* four full strips of 9 are fewer than 6 * 9: whole matrices of five; six full ones are as many */
    {"tpu-v5e", "u4[4,2500,4608]{2,1,0:T(8,128)(8,1)E(4)}", "u4[4,2500,4608]{1,2,0:T(8,128)(8,1)E(4)}",
     2 * 45, 180},
    {"tpu-v5e", "u4[2,3584,4608]{2,1,0:T(8,128)(8,1)E(4)}", "u4[2,3584,4608]{1,2,0:T(8,128)(8,1)E(4)}", 54,
     126},
};

TEST(the_rest_keeps_the_pace) {
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i += (size_t)stride(1, 5)) {
        const ts_machine *machine = machine_without(blocks[i].machine, 0);
        ts_transfer_request request = parse_transfer(arena, machine, blocks[i].src, blocks[i].dst);
        ts_transfer_study study;
        int64_t run = blocks[i].run, all = blocks[i].blocks;
        assert_true(ts_transfer_price(NULL, arena, &request, &study));
        ts_timed_program p = program_of(machine, study.by.program, study.by.parameters);
        p.paced = true;
        ts_timed_define(&p, "FIRST", 0);
        ts_timed_define(&p, "END", run);
        const ts_timed_run *part = ts_timed_run_get(NULL, &p);
        assert_non_null(part);
        double each = part->pace * (double)part->chip.transfers / (double)run;
        near_by(study.cost.cycles, (double)part->chip.cycles + each * (double)(all - run));
        near_by(study.cost.transfer.descriptors, (double)part->chip.transfers * (double)all / (double)run);
        near_by(study.cost.transfer.src_bytes, (double)part->chip.hbm_read_bytes * (double)all / (double)run);
        near_by(study.cost.hbm.reads, (double)part->chip.hbm.reads * (double)all / (double)run);
        assert_int_equal(study.cost.hbm.read_latency_max, part->chip.hbm.read_latency_max);
    }
}

/* The last blocks, a strip, are less high: two parts of them are run as well, and tell what each takes. Of 102 blocks in three
 * strips 66 of the 68 high ones are run, of 100 in two strips all 50. */
TEST(low_last_strips_take_their_own_time) {
    static const struct {
        const char *src, *dst;
        int64_t run, high, low, parts[2];
    } rows[] = {
        {"u8[1100,17000]{1,0:T(8,128)(4,1)}", "u8[1100,17000]{0,1:T(8,128)(4,1)}", 66, 68, 34, {11, 22}},
        {"u8[896,25600]{1,0:T(8,128)(4,1)}", "u8[896,25600]{0,1:T(8,128)(4,1)}", 50, 50, 50, {10, 20}},
    };
    const ts_machine *machine = machine_without("tpu-v5e", 0);
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        ts_transfer_request request = parse_transfer(arena, machine, rows[n].src, rows[n].dst);
        ts_transfer_study study;
        const ts_timed_run *runs[3];
        assert_true(ts_transfer_price(NULL, arena, &request, &study));
        for (int i = 0; i < 3; i++) {
            ts_timed_program p = program_of(machine, study.by.program, study.by.parameters);
            p.paced = i == 0;
            ts_timed_define(&p, "FIRST", i == 0 ? 0 : rows[n].high);
            ts_timed_define(&p, "END", i == 0 ? rows[n].run : rows[n].high + rows[n].parts[i - 1]);
            runs[i] = ts_timed_run_get(NULL, &p);
            assert_non_null(runs[i]);
        }
        double run = (double)rows[n].run, more = (double)(rows[n].parts[1] - rows[n].parts[0]),
               each = runs[0]->pace * (double)runs[0]->chip.transfers / run,
               low = (double)(runs[2]->chip.cycles - runs[1]->chip.cycles) / more,
               read = (double)(runs[2]->chip.hbm_read_bytes - runs[1]->chip.hbm_read_bytes) / more;
        near_by(study.cost.cycles, (double)runs[0]->chip.cycles + ((double)rows[n].high - run) * each +
                                       (double)rows[n].low * low);
        near_by(study.cost.transfer.src_bytes,
                (double)runs[0]->chip.hbm_read_bytes * (double)rows[n].high / run +
                    (double)rows[n].low * read);
    }
}

/* 4096 and 8192 of its rows are run, of 512 words; 3 * 4096 are not yet all. */
TEST(rows_are_extended_from_two_runs) {
    const ts_machine *machine = machine_without("tpu-v5e", RETILE);
    int64_t cycles[2];
    ts_transfer_request request =
        parse_transfer(arena, machine, "f32[12800,512]{1,0}", "f32[12800,512]{1,0:T(8,128)}");
    ts_transfer_study study;
    assert_true(ts_transfer_price(NULL, arena, &request, &study));
    for (int i = 0; i < 2; i++) {
        ts_timed_program p = program_of(machine, study.by.program, study.by.parameters);
        ts_timed_define(&p, "ROWS", 4096 * (i + 1));
        const ts_timed_run *run = ts_timed_run_get(NULL, &p);
        assert_non_null(run);
        cycles[i] = run->chip.cycles;
    }
    const ts_extension known = {{4096, 8192}, {cycles[0], cycles[1]}};
    assert_int_equal(study.cost.cycles, ts_extend(&known, 12800));
}

/* Rows of 5120 words are run whole up to three times 512. */
TEST(few_rows_are_run_whole) {
    const ts_machine *machine = machine_without("tpu-v5e", RETILE);
    ts_transfer_request request =
        parse_transfer(arena, machine, "f32[1536,5120]{1,0}", "f32[1536,5120]{1,0:T(8,128)}");
    ts_transfer_study study;
    assert_true(ts_transfer_price(NULL, arena, &request, &study));
    ts_timed_program p = program_of(machine, study.by.program, study.by.parameters);
    assert_int_equal(study.cost.cycles, ts_timed_run_get(NULL, &p)->chip.cycles);
}

/* Tiles whose lanes or sublanes hold one element of a short dim: 128 and 8 times the bytes. */
TEST(tiles_that_hold_little_move_whole) {
    static const struct {
        const char *src, *dst;
        int64_t useful, moved; /* bytes */
    } rows[] = {{"f32[1,728,256]{2,1,0:T(8,128)}", "f32[1,728,256]{0,1,2:T(8,128)}", 4 * 728 * 256,
                 4 * 728 * 256 * 129},
                {"f32[700,3,256]{2,1,0:T(8,128)}", "f32[700,3,256]{0,1,2:T(8,128)}", 4 * 700 * 3 * 256,
                 4 * 8 * 256 * (700 + 768)}};
    const ts_machine *machine = machine_without("tpu-v5e", GATHER);
    const ts_dma_machine dma = ts_dma_machine_of(machine, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_dma_cost cost = price(machine, rows[i].src, rows[i].dst, true);
        const ts_dma_result *t = &cost.transfer;
        assert_int_equal(t->kind, TS_DMA_CORE_PROGRAM);
        assert_int_equal(t->useful_bytes, rows[i].useful);
        near_to(t->src_bytes + t->dst_bytes, rows[i].moved, 1);
        assert_int_equal(t->padding_bytes + t->waste_bytes, t->src_bytes + t->dst_bytes - 2 * rows[i].useful);
        assert_true(cost.cycles >= ts_dma_peak_cycles(&dma, rows[i].moved));
        parts_make_the_whole(&cost);
    }
}

/* Of 512 columns that are read as f32 and written as bf16, 12 are padding; beside HBM they are not counted again. */
TEST(padding_counts_in_hbm) {
    ts_dma_cost cost = price(machine_without("tpu-v5e", CONVERT), "f32[512,500]{1,0:T(8,128)}",
                             "bf16[512,500]{1,0:T(8,128)(2,1)}", true);
    assert_int_equal(cost.transfer.padding_bytes, 512 * 12 * (4 + 2));
    assert_int_equal(cost.transfer.src_bytes, 512 * 512 * 4);
    assert_int_equal(cost.transfer.dst_bytes, 512 * 512 * 2);
}

/* What its core works or waits for itself, and what it waits for the HBM. */
TEST(its_parts_are_what_they_are_called) {
    static const struct {
        const char *machine, *src, *dst;
        int least, most; /* percent of the cycles that are the core's */
        bool is_fixed;   /* there is a fixed cost, of transfers */
        const char *limiter;
    } rows[] = {
        {"tpu-v6e", "f32[512,512]{1,0:S(1)}", "f32[512,512]{0,1:S(1)}", 100, 100, false,
         "unit busy: transpose of 128 x 128"},
        {"tpu-v5e", "bf16[64,64]{1,0:T(8,128)(2,1)S(1)}", "bf16[64,64]{0,1:T(8,128)(2,1)S(1)}", 100, 100,
         false, "not ready: transpose of 128 x 128"}, /* there is only one */
        {"tpu-v5e", "f32[64,256]{1,0}", "f32[64,256]{0,1}", 30, 50, true, "fixed cost of a transfer"},
        {"tpu-v4", "f32[1024,1024]{1,0}", "f32[1024,1024]{0,1}", 1, 20, true, "HBM bandwidth"},
        {"tpu-v5e", "s8[1024,1024]{1,0:T(8,128)(4,1)}", "s8[1024,1024]{0,1:T(8,128)(4,1)}", 50, 75, true,
         "unit busy: transpose of 128 x 128"},
        {"tpu-v5e", "f32[379,1021]{0,1}", "f32[379,1021]{1,0:S(1)}", 50, 60, true,
         "unit busy: transpose of 128 x 128"}, /* of a single block: the HBM is done before */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_dma_cost cost = price(machine_without(rows[i].machine, 0), rows[i].src, rows[i].dst, true);
        int64_t percent = 100 * cost.components[TS_DMA_COMPONENT_REORDER] / cost.cycles;
        assert_int_equal(cost.fixed_cycles > 0, rows[i].is_fixed);
        assert_in_range(percent, rows[i].least, rows[i].most);
        assert_string_equal(cost.limiter, rows[i].limiter);
    }
}

/* ---- Who else does it ---- */

TEST(the_engine_takes_what_it_does_faster) {
    ts_transfer_request request = parse_transfer(arena, machine_without("tpu-v5e", 0),
                                                 "s8[64,56,56,4]{2,3,1,0}", "s8[64,56,56,4] NCHW4c");
    ts_transfer_study study;
    assert_true(ts_transfer_price(NULL, arena, &request, &study));
    assert_int_equal(study.cost.transfer.kind, TS_DMA_GATHER);
    assert_null(study.by.program);
    assert_null(study.by.parameters);
    assert_string_equal(study.by.slower, "programs/transpose.tsim");
    assert_true(study.by.slower_cycles > 5 * study.cost.cycles);
}

static const struct {
    unsigned without;
    const char *src, *dst, *cannot;
} refused[] = {
    {0, "f64[64,64]{1,0}", "f64[64,64]{0,1}", "transpose (dma.rate.transpose"},
    {CONVERT, "f32[64,64]{1,0}", "bf16[64,64]{1,0}", "convert (dma.rate.convert"}, /* not tiled */
    {CONVERT, "f32[64,64]{1,0}", "s16[64,64]{1,0:T(8,128)(2,1)}", "convert (dma.rate.convert"},
    {CONVERT, "f32[64,64]{1,0}", "bf16[64,64]{0,1:T(8,128)(2,1)}",
     "convert (dma.rate.convert"}, /* and transposed */
    {RETILE, "f32[64,512]{1,0}", "f32[64,512]{1,0:T(8,128)S(1)}", "retile (dma.rate.retile"}, /* not in HBM */
    {RETILE, "f32[64,512]{1,0:T(8,128)S(1)}", "f32[64,512]{1,0}", "retile (dma.rate.retile"},
    {RETILE, "f32[64,512]{1,0:T(8,128)}", "f32[64,512]{1,0:T(4,128)}", "retile (dma.rate.retile"},
    {RETILE, "bf16[64,512]{1,0}", "bf16[64,512]{1,0:T(8,128)}", "retile (dma.rate.retile"},
};

TEST(what_nobody_does_is_refused) {
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const ts_machine *machine = machine_without("tpu-v5e", refused[i].without | GATHER);
        ts_transfer_request request = parse_transfer(arena, machine, refused[i].src, refused[i].dst);
        ts_transfer_study study;
        ts_error err = {0};
        ts_text text = ts_text_begin(arena);
        assert_false(ts_transfer_price(&err, arena, &request, &study));
        assert_int_equal(err.kind, TS_ERROR_UNMODELLED);
        ts_text_add(&text,
                    "the DMA engine of tpu-v5e cannot do a %s is 0), and no shipped program does this one: ",
                    refused[i].cannot);
        if (!strstr(err.message, text.bytes))
            fail_msg("%s -> %s: %s", refused[i].src, refused[i].dst, err.message);
        /* Element by element it can. */
        request = parse_transfer(arena, machine_without("tpu-v5e", refused[i].without), refused[i].src,
                                 refused[i].dst);
        assert_true(ts_transfer_price(&err, arena, &request, &study));
        assert_int_equal(study.cost.transfer.kind, TS_DMA_GATHER);
    }
}

TEST(every_kind_has_a_field) {
    for (int kind = 0; kind < TS_DMA_KIND_COUNT; kind++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text, "dma.rate.%s", ts_dma_kind_text((ts_dma_kind)kind));
        assert_string_equal(ts_dma_rate_field((ts_dma_kind)kind), text.bytes);
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
