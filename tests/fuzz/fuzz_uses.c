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
    const ts_choose_use *uses;
    int count = 0;
    bool good = ts_choose_read_uses(&err, arena, machine, &source, RANK, &uses, &count);
    assert(good == (err.kind == TS_ERROR_NONE) && (!good || count > 0));
    for (int i = 0; good && i < count; i++) {
        if (uses[i].kind == TS_USE_REDUCE) assert(uses[i].dim >= 0 && uses[i].dim < RANK);
        if (uses[i].kind == TS_USE_DMA) assert(uses[i].from && uses[i].to);
    }
    ts_arena_free(arena);
    return 0;
}
