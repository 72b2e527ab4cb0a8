/* Tables of measurements of any text, and the workloads of their rows. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "validate/validate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The groups and rules that come with tilesim, read once. */
static const ts_measurements *known(void) {
    static ts_measurements standard;
    static ts_arena *kept;
    ts_error err = {0};
    if (kept == NULL) {
        kept = ts_arena_new();
        assert(ts_measurements_load(&err, kept, NULL, 0, &standard));
    }
    return &standard;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ts_arena *arena = ts_arena_new();
    ts_source source = {"fuzz", (const char *)data, size};
    ts_measured table = {0};
    ts_error err = {0};
    if (ts_measured_add(&err, arena, &source, &table)) {
        for (int i = 0; i < table.count; i++) {
            ts_workload work;
            ts_workload_read(&known()->groups, &known()->rules, &table.rows[i], &work);
            assert((work.kind == TS_WORK_NONE) == (work.reason != NULL));
            assert(work.kind == TS_WORK_NONE ||
                   (work.group != NULL && work.machine != NULL && work.measured_us > 0));
        }
    } else {
        assert(err.kind == TS_ERROR_INPUT && err.line > 0);
    }
    if (ts_work_rules_are(arena, &source)) {
        ts_work_rules rules = {0};
        if (ts_work_rules_add(&err, arena, &source, &known()->groups, &rules))
            ts_work_rules_find(&rules, "v4", "copy in HBM", "");
        else
            assert(err.kind == TS_ERROR_INPUT && err.line > 0);
    }
    ts_arena_free(arena);
    return 0;
}
