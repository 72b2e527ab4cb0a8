/* Shardings, and meshes, from any text. What is accepted holds every element somewhere, and prints to text that parses
 * back to the same digits. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "mesh/collective.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read once, for all inputs. */
static const ts_machine *machine(void) {
    static ts_arena *kept;
    static const ts_machine *loaded;
    if (!kept) loaded = ts_machine_load(NULL, kept = ts_arena_new(), "tpu-v4");
    return loaded;
}

static bool read_mesh(ts_arena *arena, const char *text, size_t length, ts_mesh *mesh) {
    ts_mesh_request request = {.machine = machine(), .axes = {"fuzz", text, length}};
    request.topology = (ts_source){"topology", "2x4x2", 5};
    return ts_mesh_read(NULL, arena, &request, mesh);
}

static bool parse(ts_arena *arena, const ts_mesh *mesh, const char *text, size_t length, ts_sharding *out) {
    ts_source source = {"fuzz", text, length};
    return ts_sharding_parse(NULL, arena, mesh, &source, out);
}

static void check_printed(ts_arena *arena, const ts_mesh *mesh, const ts_sharding *s) {
    ts_sharding again;
    const char *hlo = ts_sharding_hlo_text(arena, s);
    if (!hlo) return;
    const char *text = ts_text_format(arena, "%s %s", ts_shape_text(arena, s->shape), hlo);
    assert(parse(arena, mesh, text, strlen(text), &again));
    assert(again.digit_count == s->digit_count);
    for (int i = 0; i < s->digit_count; i++) {
        assert(again.digits[i].kind == s->digits[i].kind && again.digits[i].weight == s->digits[i].weight);
        assert(again.digits[i].extent == s->digits[i].extent &&
               again.digits[i].stride == s->digits[i].stride);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ts_arena *arena = ts_arena_new();
    ts_mesh mesh;
    ts_sharding s;
    int64_t index[TS_LAYOUT_MAX_DIMS] = {0};
    (void)read_mesh(arena, (const char *)data, size, &mesh);
    assert(read_mesh(arena, "x=2,y=4,z=2", 11, &mesh));
    if (parse(arena, &mesh, (const char *)data, size, &s)) {
        int64_t device = ts_sharding_device(&s, index, 15);
        assert(device >= 0 && device < 16 && ts_sharding_holds(&s, index, device));
        check_printed(arena, &mesh, &s);
    }
    ts_arena_free(arena);
    return 0;
}
