/* Stalls by instruction: of the bundle that waits, the one whose constraint is met last. */
#include <string.h>

#include "tests/support/core_fixture.h"
#include "tests/support/test.h"

enum { CYCLES = 9 };

static const ts_affine zero = {0};
static const int64_t one = 1;
static const ts_transfer transfer = {.source = {.rank = 1, .begin = &zero, .size = &one},
                                     .destination = {.rank = 1, .begin = &zero, .size = &one},
                                     .semaphore = {.count = 1, .sreg = -1}};

typedef enum { LATENCY, OCCUPANCY } kind;

/* With the key's cycles set to 9, instruction `instruction` of bundle `bundle` waits for 8. */
static const struct {
    kind kind;
    ts_latency key;
    const char *text;
    int bundle, instruction;
    const char *stall;
} rows[] = {
    /* Who reads it, */
    {LATENCY, TS_LATENCY_SCALAR, "sadd s1 s2 1\nsadd s3 s1 1", 1, 0, "wait_scalar"},
    {LATENCY, TS_LATENCY_SCALAR, "sadd s1 s2 1\nsadd s4 s5 1 ; sadd s3 s1 1", 1, 1, "wait_scalar"},
    {LATENCY, TS_LATENCY_SCALAR, "sadd s1 s2 1\nvadd.f32 v4 v5 1.0 ; sadd s4 s5 1 ; br.eq s3 s1 @0", 1, 2,
     "wait_scalar"},
    {LATENCY, TS_LATENCY_EUP, "vexp.f32 v1 v2\nvneg.f32 v4 v3 ; vneg.f32 v3 v1", 1, 1, "wait_eup"},
    {LATENCY, TS_LATENCY_VECTOR_MASK, "mall m1\nvmov v5 v2 ; vmov v1 v2 ?m1", 1, 1, "wait_vector_mask"},
    {LATENCY, TS_LATENCY_VECTOR_ALU, "vadd.f32 v1 v2 1.0\nsadd s1 s2 s3 ; vst [0] v1", 1, 1,
     "wait_vector_alu"},
    {LATENCY, TS_LATENCY_EUP, "vexp.f32 v1 v2 ; vexp.f32 v3 v2\nvneg.f32 v5 v3 ; vneg.f32 v4 v1", 1, 0,
     "wait_eup"}, /* the first of those that wait alike */
    /* who needs the unit, */
    {OCCUPANCY, TS_LATENCY_EUP, "vexp.f32 v1 v2\nvneg.f32 v4 v5 ; vlog.f32 v3 v4", 1, 1, "busy_eup"},
    {OCCUPANCY, TS_LATENCY_VECTOR_STORE, "vst [0] v1\nsadd s1 s2 1 ; vst [1024] v1", 1, 1,
     "busy_vector_store"},
    /* what has to be visible first, */
    {LATENCY, TS_LATENCY_VECTOR_STORE, "vst [1024] v1\nsadd s1 s2 1 ; vld v1 [1920]", 1, 1,
     "wait_vector_store"},
    {LATENCY, TS_LATENCY_VECTOR_STORE, "vst [1024] v1\nsadd s1 s2 1 ; dma t0", 1, 1, "wait_vector_store"},
    {LATENCY, TS_LATENCY_SCALAR_STORE, "sst [4] 7\nsadd s2 s3 1 ; sld s1 [4]", 1, 1, "wait_scalar_store"},
    /* and who holds the next bundle back, */
    {LATENCY, TS_LATENCY_BRANCH, "sadd s1 s2 1 ; jump @1\nnop", 0, 1, "wait_branch"},
    {LATENCY, TS_LATENCY_SEMAPHORE, "sadd s1 s2 1 ; wait e0 0\nnop", 0, 1, "wait_semaphore"},
    {LATENCY, TS_LATENCY_SEMAPHORE, "sadd s2 s1 1 ; wait e0 0 ; sem.read s1 e0\nnop", 0, 1, "wait_semaphore"},
    {LATENCY, TS_LATENCY_BRANCH, "jump @1 ; delay 9\nnop", 0, 0, "wait_branch"}, /* the first of two alike */
    {LATENCY, TS_LATENCY_BRANCH, "delay 9 ; jump @1\nnop", 0, 0, "wait_control"},
};

static int stall_called(const char *name) {
    for (int i = 0; i < TS_STALL_COUNT; i++)
        if (strcmp(ts_stall_get(i)->text, name) == 0) return i;
    fail_msg("no stall %s", name);
    return -1;
}

static int64_t all_stalls(fixture *f, int bundle, int instruction) {
    const int64_t *stalls = ts_core_stalls(f->core, &f->code.bundles[bundle].instructions[instruction]);
    int64_t sum = 0;
    for (int i = 0; stalls && i < TS_STALL_COUNT; i++) sum += stalls[i];
    return sum;
}

static void sums_are_those_of_the_core(fixture *f) {
    ts_core_counters counters;
    int64_t stalls = 0, of_instructions = 0;
    ts_core_count(f->core, &counters);
    for (int i = 0; i < TS_STALL_COUNT; i++) stalls += counters.stalls[i];
    for (int b = 0; b < f->code.bundle_count; b++)
        for (int k = 0; k < f->code.bundles[b].count; k++) of_instructions += all_stalls(f, b, k);
    assert_int_equal(of_instructions, stalls);
}

static fixture *new_fixture(void) {
    fixture *f = fixture_new();
    f->profile = true;
    f->code.transfers = &transfer;
    f->code.transfer_count = 1;
    return f;
}

TEST(the_instruction_that_waits_is_charged) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture *f = new_fixture();
        for (int k = 0; k < TS_SLOT_COUNT && rows[i].kind == OCCUPANCY; k++) f->config.limits.slots[k] = 1;
        (rows[i].kind == LATENCY ? f->config.latency_cycles : f->config.occupancy_cycles)[rows[i].key] =
            CYCLES;
        fixture_do(f, rows[i].text);
        const ts_bundle *bundle = &f->code.bundles[rows[i].bundle];
        for (int k = 0; k < bundle->count; k++) {
            const int64_t *stalls = ts_core_stalls(f->core, &bundle->instructions[k]);
            int64_t cycles = stalls ? stalls[stall_called(rows[i].stall)] : 0;
            if (cycles != (k == rows[i].instruction ? CYCLES - 1 : 0) ||
                cycles != all_stalls(f, rows[i].bundle, k))
                fail_msg("%s: instruction %d has %d", rows[i].text, k, (int)cycles);
        }
        sums_are_those_of_the_core(f);
        fixture_free(f);
    }
}

/* Of two units one is free, and the other not yet: the first of those that need both is charged, whatever it is that
 * keeps the unit. */
TEST(who_needs_the_second_unit_is_charged) {
    fixture *f = new_fixture();
    f->config.limits.slots[TS_SLOT_VALU] = 2;
    f->config.occupancy_cycles[TS_LATENCY_VECTOR_ALU] = CYCLES;
    fixture_do(f, "vadd.f32 v1 v2 1.0\nsadd s1 s2 1 ; mall m1 ; mall m2");
    for (int k = 0; k < 3; k++) assert_int_equal(all_stalls(f, 1, k), k == 1 ? CYCLES - 1 : 0);
    fixture_free(f);
}

/* Of two that are waited for, the one that comes later. */
TEST(the_last_one_to_come_is_charged) {
    fixture *f = new_fixture();
    f->config.latency_cycles[TS_LATENCY_EUP] = 5;
    f->config.latency_cycles[TS_LATENCY_VECTOR_LOAD] = 8;
    fixture_do(f, "vexp.f32 v1 v2 ; vld v3 [0]\nvneg.f32 v4 v1 ; vneg.f32 v5 v3");
    assert_int_equal(all_stalls(f, 1, 0), 0);
    assert_int_equal(all_stalls(f, 1, 1), 7);
    fixture_free(f);
}

/* A result that would land before an earlier one of the same register. */
TEST(who_writes_too_early_is_charged) {
    static const char *const texts[] = {"vexp.f32 v1 v2\nvneg.f32 v5 v2 ; vneg.f32 v1 v2",
                                        "vexp.f32 v1 v2\nvst [0] v2 ; vneg.f32 v1 v2"};
    for (int i = 0; i < 2; i++) {
        fixture *f = new_fixture();
        f->config.latency_cycles[TS_LATENCY_EUP] = 10;
        f->config.latency_cycles[TS_LATENCY_VECTOR_ALU] = 2;
        fixture_do(f, texts[i]);
        assert_int_equal(all_stalls(f, 1, 0), 0);
        assert_int_equal(all_stalls(f, 1, 1), 8);
        fixture_free(f);
    }
}

/* A pop waits for the transposer; a jump beside it holds the next bundle back all the same. */
TEST(a_pop_is_charged_for_its_own_waits) {
    static const ts_latency keys[] = {TS_LATENCY_TRANSPOSE, TS_LATENCY_BRANCH};
    for (int i = 0; i < 2; i++) {
        fixture *f = new_fixture();
        char text[512] = "";
        for (int k = 0; k < 16; k++) strcat(text, "vtr.push.b32 v1\n");
        strcat(text, "sadd s1 s2 1 ; vtr.pop v3 ; jump @17\nnop");
        f->config.latency_cycles[keys[i]] = CYCLES;
        fixture_do(f, text);
        for (int k = 0; k < 3; k++) assert_int_equal(all_stalls(f, 16, k), k == i + 1 ? CYCLES - 1 : 0);
        fixture_free(f);
    }
}

static bool ready;
static bool dma_ready(void *chip) {
    (void)chip;
    return ready;
}

/* What comes from outside: a semaphore, and room in the queue of transfers. */
TEST(waits_for_others_are_charged) {
    fixture *f = new_fixture();
    f->ports.dma_ready = dma_ready;
    ready = false;
    assert_true(fixture_load(f, "sadd s1 s2 1 ; wait e3\nsadd s1 s2 1 ; dma t0"));
    assert_true(ts_core_step(&f->err, f->core, 100, INT64_MAX));
    f->semaphores[3] = 1;
    ts_core_notify(f->core, 40);
    assert_true(fixture_run(f));
    ready = true;
    ts_core_notify(f->core, 100);
    assert_true(fixture_run(f));
    assert_int_equal(all_stalls(f, 0, 0), 0);
    assert_int_equal(ts_core_stalls(f->core, &f->code.bundles[0].instructions[1])[TS_STALL_SEMAPHORE], 40);
    assert_int_equal(all_stalls(f, 1, 0), 0);
    assert_int_equal(ts_core_stalls(f->core, &f->code.bundles[1].instructions[1])[TS_STALL_DMA_QUEUE], 59);
    sums_are_those_of_the_core(f);
    fixture_free(f);
}

TEST(nobody_asked) {
    fixture *f = new_fixture();
    f->profile = false;
    f->config.latency_cycles[TS_LATENCY_SCALAR] = CYCLES;
    fixture_do(f, "sadd s1 s2 1\nsadd s3 s1 1");
    assert_null(ts_core_stalls(f->core, &f->code.bundles[1].instructions[0]));
    fixture_free(f);
}
