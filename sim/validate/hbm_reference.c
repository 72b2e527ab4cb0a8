/* HBM time beside the figures of other simulators. */
#include "validate/hbm_reference.h"

#include <assert.h>
#include <string.h>

#include "base/threads.h"
#include "study/hbm_requests.h"

/* ---- Configurations. ---- */

#define QUEUES(n) "hbm.controller.read_entries=" #n, "hbm.controller.write_entries=" #n
#define ONE_PC    "hbm.channels=1", "hbm.pseudo_channels=1", "memories.hbm.capacity=512 MiB", QUEUES(32)
/* Independent channels, as DRAMsim3 has them, with no ACT that takes two cycles. */
#define PER_BANK(channels)                                                                                   \
    "hbm.channels=" #channels, "hbm.pseudo_channels=1", "hbm.bus.act=1",                                     \
        "hbm.controller.scheduler=per_bank", QUEUES(32), "hbm.controller.write_high=100",                    \
        "hbm.controller.write_low=25"

static const ts_hbm_reference_config configs[] = {
    {"hbm2_8ch", "hbm2-reference", "HBM2, one stack", {NULL}},
    {"hbm2_8ch_q256", "hbm2-reference", "HBM2, queues of 256", {QUEUES(256)}},
    {"hbm2_8ch_frfcfs",
     "hbm2-reference",
     "HBM2, precharges do not wait for hits",
     {"hbm.controller.scheduler=frfcfs"}},
    {"hbm2_8ch_noref", "hbm2-reference", "HBM2, no refresh", {"hbm.controller.refresh=none"}},
    {"hbm2_16x1pc",
     "hbm2-reference",
     "HBM2, 16 channels of one pseudo channel",
     {"hbm.channels=16", "hbm.pseudo_channels=1", QUEUES(32)}},
    {"hbm2_16x1pc_q128",
     "hbm2-reference",
     "HBM2, such channels, queues of 128",
     {"hbm.channels=16", "hbm.pseudo_channels=1", QUEUES(128)}},
    {"hbm2_1ch", "hbm2-reference", "HBM2, one channel", {"hbm.channels=1", "memories.hbm.capacity=1 GiB"}},
    {"hbm2_1pc", "hbm2-reference", "HBM2, one pseudo channel", {ONE_PC}},
    {"hbm2_1pc_noref",
     "hbm2-reference",
     "HBM2, one pseudo channel, no refresh",
     {ONE_PC, "hbm.controller.refresh=none"}},
    {"hbm2m_16pc", "hbm2-reference", "HBM2, 16 channels, DRAMsim3's controller", {PER_BANK(16)}},
    {"hbm2m_16pc_small",
     "hbm2-reference",
     "HBM2, such channels, shallow queues",
     {PER_BANK(16), QUEUES(8), "hbm.controller.write_low=99", "hbm.controller.bank_entries=2"}},
    {"hbm2m_2pc",
     "hbm2-reference",
     "HBM2, two pseudo channels, DRAMsim3's controller",
     {PER_BANK(2), "memories.hbm.capacity=1 GiB"}},
    {"hbm2m_1pc",
     "hbm2-reference",
     "HBM2, one pseudo channel, DRAMsim3's controller",
     {PER_BANK(1), "memories.hbm.capacity=512 MiB"}},
    {"hbm2m_1pc_noref",
     "hbm2-reference",
     "HBM2, one pseudo channel, DRAMsim3's controller, no refresh",
     {PER_BANK(1), "memories.hbm.capacity=512 MiB", "hbm.controller.refresh=none"}},
    {"hbm2m_16pc_noref",
     "hbm2-reference",
     "HBM2, 16 channels, DRAMsim3's controller, no refresh",
     {PER_BANK(16), "hbm.controller.refresh=none"}},
    {"hbm3_16ch", "hbm3-reference", "HBM3, one stack", {NULL}},
    {"hbm3_16ch_refpb", "hbm3-reference", "HBM3, refresh bank by bank", {"hbm.controller.refresh=per_bank"}},
};

const ts_hbm_reference_config *ts_hbm_reference_find(const char *config) {
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++)
        if (strcmp(configs[i].config, config) == 0) return &configs[i];
    return NULL;
}

const ts_machine *ts_hbm_reference_machine(ts_error *err, ts_arena *arena,
                                           const ts_hbm_reference_config *config, const char *map) {
    enum { MOST = sizeof config->sets / sizeof config->sets[0] };
    const char *sets[MOST + 1];
    int count = 0;
    while (count < MOST && config->sets[count]) {
        sets[count] = config->sets[count];
        count++;
    }
    sets[count++] = ts_text_format(arena, "hbm.address_map=%s", map);
    return ts_machine_load_with(err, arena, config->machine, config->config, sets, count);
}

/* ---- Runs. ---- */

static int64_t lookahead_of(const char *frontend) {
    if (strcmp(frontend, "perch") == 0) return TS_HBM_UNLIMITED;
    return strcmp(frontend, "inorder") == 0 ? 0 : 1024 * TS_HBM_REQUEST_BYTES;
}

static bool run_in(ts_error *err, const char *config, const char *map, const char *frontend,
                   const ts_hbm_pattern *pattern, ts_hbm_run *run) {
    const ts_hbm_reference_config *found = ts_hbm_reference_find(config);
    assert(found);
    ts_arena *arena = ts_arena_new();
    const ts_machine *machine = ts_hbm_reference_machine(err, arena, found, map);
    ts_hbm_run_request request = {.lookahead_bytes = lookahead_of(frontend), .exact = true};
    if (machine) {
        request.config = &machine->hbm;
        request.requests = hbm_pattern_open(err, arena, pattern, &machine->hbm);
    }
    bool done = request.requests && ts_hbm_run_requests(err, arena, &request, run);
    ts_arena_free(arena);
    return done;
}

int64_t ts_hbm_reference_cycles(const ts_hbm_reference *reference) {
    return reference->cycles - (strcmp(reference->simulator, "dramsim3") == 0);
}

bool ts_hbm_reference_run(ts_error *err, const ts_hbm_reference *reference, ts_hbm_run *run) {
    const ts_hbm_pattern *pattern = ts_hbm_patterns;
    while (pattern->name && strcmp(pattern->name, reference->pattern) != 0) pattern++;
    assert(pattern->name);
    return run_in(err, reference->config, reference->map, reference->frontend, pattern, run);
}

/* ---- Short sequences: in one pseudo channel under map A, bits 6-7 are the bank group, 8-11 the column,
 * 12-13 the bank, and the row begins at bit 14. ---- */

#define READS(...)  .leg_count = 1, .legs = {{false, 0, {__VA_ARGS__}}}
#define WRITES(...) .leg_count = 1, .legs = {{true, 0, {__VA_ARGS__}}}
enum { GROUP = 1 << 6, COLUMN = 1 << 8, BANK = 1 << 12, ROW = 1 << 14 };

static const ts_hbm_pattern sequences[] = {
    {.name = "R1", .extents = {1, 1, 1, 1}, READS(0)},
    {.name = "W1", .extents = {1, 1, 1, 1}, WRITES(0)},
    {.name = "R2_same_row", .extents = {1, 1, 1, 2}, READS(0, 0, 0, COLUMN)},
    {.name = "R2_diff_bg", .extents = {1, 1, 1, 2}, READS(0, 0, 0, GROUP)},
    {.name = "R2_diff_ba", .extents = {1, 1, 1, 2}, READS(0, 0, 0, BANK)},
    {.name = "R2_conflict", .extents = {1, 1, 1, 2}, READS(0, 0, 0, ROW)},
    {.name = "W2_conflict", .extents = {1, 1, 1, 2}, WRITES(0, 0, 0, ROW)},
    {.name = "R4_bg", .extents = {1, 1, 1, 4}, READS(0, 0, 0, GROUP)},
    {.name = "R8_act", .extents = {1, 1, 2, 4}, READS(0, 0, BANK, GROUP)},
    {.name = "R16_act", .extents = {1, 1, 4, 4}, READS(0, 0, BANK, GROUP)},
    {.name = "R16_row", .extents = {1, 1, 1, 16}, READS(0, 0, 0, COLUMN)},
    {.name = "R64_4rows", .extents = {1, 1, 16, 4}, READS(0, 0, COLUMN, GROUP)},
    {.name = "W16_row", .extents = {1, 1, 1, 16}, WRITES(0, 0, 0, COLUMN)},
    {.name = "R8_then_W8_row",
     .extents = {1, 1, 1, 8},
     .leg_count = 2,
     .legs = {{false, 0, {0, 0, 0, COLUMN}}, {true, 8 * COLUMN, {0, 0, 0, COLUMN}}}},
    {.name = "R16_conflict", .extents = {1, 1, 1, 16}, READS(0, 0, 0, ROW)},
    {.name = "W16_conflict", .extents = {1, 1, 1, 16}, WRITES(0, 0, 0, ROW)},
};
enum { SEQUENCES = sizeof sequences / sizeof sequences[0] };

bool ts_hbm_sequence_run(ts_error *err, const ts_hbm_sequence_reference *reference, ts_hbm_simulator as,
                         ts_hbm_run *run) {
    static const char *const config_of[] = {
        [TS_HBM_RAMULATOR] = "hbm2_1pc_noref", [TS_HBM_DRAMSIM3] = "hbm2m_1pc_noref"};
    int i = 0;
    while (i < SEQUENCES && strcmp(sequences[i].name, reference->name) != 0) i++;
    assert(i < SEQUENCES);
    return run_in(err, config_of[as], "A", "perch", &sequences[i], run);
}

static bool run_sequences(ts_error *err, ts_arena *arena, ts_hbm_accuracy *accuracy) {
    for (int k = 0; k < TS_HBM_SIMULATORS; k++) {
        accuracy->sequences[k] = TS_NEW_ARRAY(arena, ts_hbm_run, ts_hbm_sequence_reference_count);
        for (int i = 0; i < ts_hbm_sequence_reference_count; i++) {
            ts_hbm_run *run = &accuracy->sequences[k][i];
            if (!ts_hbm_sequence_run(err, &ts_hbm_sequence_references[i], (ts_hbm_simulator)k, run))
                return false;
        }
    }
    return true;
}

static bool run_reference(ts_error *err, ts_arena *scratch, void *self, int number) {
    ts_hbm_comparison *comparison = &((ts_hbm_accuracy *)self)->runs[number];
    (void)scratch;
    return ts_hbm_reference_run(err, comparison->reference, &comparison->run);
}

bool ts_hbm_accuracy_measure(ts_error *err, ts_arena *arena, const ts_hbm_accuracy_request *request,
                             ts_hbm_accuracy *accuracy) {
    *accuracy = (ts_hbm_accuracy){.runs = TS_NEW_ARRAY(arena, ts_hbm_comparison, ts_hbm_reference_count)};
    for (int i = 0; i < ts_hbm_reference_count; i++)
        if (ts_hbm_reference_find(ts_hbm_references[i].config))
            accuracy->runs[accuracy->run_count++].reference = &ts_hbm_references[i];
    const ts_threads_list list = {request->threads, accuracy->run_count, run_reference,
                                  accuracy,         request->run,        request->self};
    return run_sequences(err, arena, accuracy) && ts_threads_each(err, &list);
}
