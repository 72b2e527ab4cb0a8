/* HLO text from any bytes, fed whole and in pieces: both must say the same, within the bytes that were given.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "host/hlo.h"
#include "host/hlo_opcode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mix(void *self, ts_span span) {
    uint64_t *hash = self;
    for (size_t i = 0; i < span.length; i++)
        *hash = (*hash ^ (uint8_t)span.text[i]) * UINT64_C(0x100000001b3);
    *hash = (*hash ^ span.length) * UINT64_C(0x100000001b3);
}

static void on_module(void *self, int64_t line, ts_span name, ts_span attributes) {
    (void)line, mix(self, name), mix(self, attributes);
}

static void on_computation(void *self, int64_t line, ts_span name, bool entry) {
    *(uint64_t *)self += (uint64_t)line + entry;
    mix(self, name);
}

static void on_end(void *self) { *(uint64_t *)self *= 3; }

static void on_instruction(void *self, const ts_hlo_instruction *i) {
    ts_span rest = i->operands, item;
    while (ts_hlo_next(&rest, &item)) mix(self, item);
    rest = i->shape;
    while (ts_hlo_find_shape(&rest, &item)) mix(self, item);
    if (ts_hlo_attribute(i->attributes, "calls", &item)) mix(self, item);
    mix(self, i->name), mix(self, i->opcode), mix(self, i->attributes);
    *(uint64_t *)self += (uint64_t)i->line + (uint64_t)ts_hlo_opcode_find(i->opcode);
}

static void on_message(void *self, int64_t line, ts_span text) {
    ts_span rest = text, item;
    *(uint64_t *)self += (uint64_t)line;
    while (ts_hlo_find_shape(&rest, &item)) mix(self, item);
    mix(self, text);
}

static void on_table(void *self, ts_span text) { mix(self, text); }

static void on_part(void *self, int64_t line, ts_hlo_part part, ts_span values) {
    ts_span item;
    *(uint64_t *)self += (uint64_t)line * 8 + (uint64_t)part;
    while (ts_hlo_next(&values, &item)) mix(self, item);
}

static uint64_t read_all(const uint8_t *data, size_t size, size_t piece) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    ts_hlo_events events = {&hash,      on_module, on_computation, on_end, on_instruction,
                            on_message, on_table,  on_table,       on_part};
    ts_arena *arena = ts_arena_new();
    ts_hlo_reader *reader = ts_hlo_new(arena, &events);
    for (size_t at = 0; at < size; at += piece)
        ts_hlo_feed(reader, (const char *)data + at, piece < size - at ? piece : size - at);
    ts_hlo_finish(reader);
    assert(ts_hlo_get_counts(reader)->bytes == (int64_t)size);
    ts_arena_free(arena);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t whole = read_all(data, size, size > 0 ? size : 1);
    assert(read_all(data, size, 7) == whole);
    return 0;
}
