/* The uses of `tilesim choose` from any text: what is accepted has its parts, what is refused says why. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "choose/choose.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RANK = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ts_arena *kept; /* to the end: the machine is loaded once */
    static const ts_machine *machine;
    ts_error err = {0};
    if (!kept) machine = ts_machine_load(&err, kept = ts_arena_new(), "tpu-v5e");
    assert(machine);
    ts_arena *arena = ts_arena_new();
    ts_source source = {"fuzz", ts_arena_copy_text(arena, (const char *)data, size), size};
    static const int64_t dims[RANK] = {8, 8, 128};
    ts_choose_request request = {.machine = machine,
                                 .shape = ts_shape_row_major(&err, arena, TS_DTYPE_F32, RANK, dims)};
    assert(request.shape);
    bool good = ts_choose_read_uses(&err, arena, &source, &request);
    assert(good == (err.kind == TS_ERROR_NONE) && (!good || request.use_count > 0));
    for (int i = 0; good && i < request.use_count; i++) {
        const ts_choose_use *use = &request.uses[i];
        if (use->kind == TS_USE_REDUCE) assert(use->dim >= 0 && use->dim < RANK);
        if (use->kind == TS_USE_DMA) assert(use->from && use->to);
    }
    ts_arena_free(arena);
    return 0;
}
