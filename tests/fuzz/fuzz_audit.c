/* The audit of any bytes: it ends, and its sums and lists agree. Moves are grouped, not priced, so that it is
 * quick. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/audit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const ts_machine machine = {.name = "fuzz", .chip.generation = 5, .chip.sustained_khz = 1000000};
    ts_audit_request request = {.machine = &machine, .untiled = (ts_audit_untiled)(size % 3)};
    ts_arena *arena = ts_arena_new();
    ts_audit *audit = ts_audit_new(arena, &request);
    ts_audit_result r;
    for (size_t at = 0; at < size; at += 100)
        ts_audit_feed(audit, (const char *)data + at, size - at < 100 ? size - at : 100);
    assert(ts_audit_finish(NULL, audit, NULL, NULL, &r));
    int64_t count = 0, buffers = 0;
    for (int64_t i = 0; i < r.class_count; i++) {
        assert(r.classes[i].shape >= 0 && r.classes[i].shape < r.shape_count);
        count += r.classes[i].count;
    }
    for (int i = 0; i < TS_AUDIT_SPACES; i++) buffers += r.spaces[i].buffers;
    assert(count == r.buffer_count && buffers == r.sum.buffers && count == r.sum.buffers);
    for (int i = 0; i < r.finding_count; i++) assert(r.findings[i].fix && r.findings[i].what);
    ts_audit_free(audit);
    ts_arena_free(arena);
    return 0;
}
