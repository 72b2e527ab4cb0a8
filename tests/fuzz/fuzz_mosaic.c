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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_source source = {.name = "fuzz.mlir", .text = (const char *)data, .length = size};
    const ts_program *program = ts_mosaic_parse(&err, arena, &source, &target);
    if (program != NULL) {
        ts_text text;
        ts_text_init(&text, arena);
        ts_program_print(program, &text);
        assert(text.length > 0);
    } else {
        assert(err.message[0] != '\0');
    }
    ts_arena_free(arena);
    return 0;
}
