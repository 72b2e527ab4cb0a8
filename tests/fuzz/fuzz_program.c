/* The assembler on any text. Whatever it accepts prints as text that assembles and prints the same. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "program/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const ts_target target = {
    .machine = "toy",
    .core.limits = {.slots = {2, 2, 1, 1, 1, 1, 1, 1}, .sregs = 32, .bf16 = true, .vregs = 32, .vmasks = 8},
    .space_bytes = {1 << 30, 1 << 24, 1 << 14, 0},
};

static const ts_program *assemble(ts_error *err, ts_arena *arena, const char *text, size_t length) {
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){.name = "fuzz", .text = text, .length = length};
    return ts_program_parse(err, arena, source, &target, NULL, 0);
}

static void check_again(ts_arena *arena, const ts_program *program) {
    ts_error err = {0};
    ts_text first, second;
    first = ts_text_begin(arena);
    second = ts_text_begin(arena);
    ts_program_print(program, &first);
    const ts_program *again = assemble(&err, arena, first.bytes, first.length);
    assert(again != NULL);
    ts_program_print(again, &second);
    assert(strcmp(first.bytes, second.bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (memmem(data, size, ".include", 8) != NULL) return 0; /* reads files */
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    const ts_program *program = assemble(&err, arena, (const char *)data, size);
    assert((program != NULL) == (err.kind == TS_ERROR_NONE));
    if (program != NULL) check_again(arena, program);
    ts_arena_free(arena);
    return 0;
}
