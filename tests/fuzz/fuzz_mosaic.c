/* Modules of kernels from any text: an error with a place, or a program that prints. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mosaic/mosaic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const ts_target target = {
    .machine = "toy",
    .core =
        {.limits = {.slots = {2, 2, 1, 1, 1, 1, 1, 1}, .sregs = 32, .bf16 = true, .vregs = 32, .vmasks = 8},
         .mxu = {.units = 2, .edge = 128, .rate = {1, 1, 1, 1, 1}, .staging = 2, .result_vregs = 24}},
    .space_bytes = {1 << 30, 1 << 24, 1 << 14, 0},
};

/* Read once, for all inputs. */
static const ts_mesh *four_devices(void) {
    static ts_mesh mesh;
    static ts_arena *kept;
    if (kept) return &mesh;
    kept = ts_arena_new();
    ts_mesh_request request = {.machine = ts_machine_load(NULL, kept, "tpu-v5e"), .axes = {"mesh", "2x2", 3}};
    bool good = ts_mesh_read(NULL, kept, &request, &mesh);
    assert(good);
    return &mesh;
}

static bool says_mesh(const uint8_t *data, size_t size) {
    for (size_t i = 0; i + 4 <= size; i++)
        if (memcmp(data + i, "mesh", 4) == 0) return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ts_target here = target;
    if (says_mesh(data, size)) here.mesh = four_devices();
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_source source = {.name = "fuzz.mlir", .text = (const char *)data, .length = size};
    const ts_program *program = ts_mosaic_parse(&err, arena, &source, &here);
    if (program != NULL) {
        ts_text text = ts_text_begin(arena);
        ts_program_print(program, &text);
        assert(text.length > 0);
    } else {
        assert(err.message[0] != '\0');
    }
    ts_arena_free(arena);
    return 0;
}
