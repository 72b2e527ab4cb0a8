/* Mesh files on any text, and links that have failed: up to the first NUL a file, behind it a link. What is accepted is a
 * mesh whose links lead from chip to chip. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mesh/mesh.h"
#include "mesh/mesh_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read once, for all inputs. */
static const ts_machine *machine(void) {
    static ts_arena *kept;
    static const ts_machine *loaded;
    if (!kept) loaded = ts_machine_load(NULL, kept = ts_arena_new(), "tpu-v4");
    return loaded;
}

static void check_file(ts_arena *arena, const char *text, size_t length) {
    ts_error err = {0};
    ts_source source = {"fuzz", text, length};
    const ts_machine *own = machine();
    const ts_tree *tree = ts_tree_parse(&err, arena, &source);
    const ts_mesh_file *file = tree ? ts_mesh_file_read(&err, arena, tree, &own) : NULL;
    const int32_t *order;
    if (!file) {
        assert(err.kind != TS_ERROR_NONE);
        return;
    }
    assert(file->dim_count >= 1 && file->dims[0].chips >= 1 && file->ici.flit_bytes >= 1);
    if (ts_mesh_file_order(&err, arena, file, 4, &order) && order)
        assert((order[0] ^ order[1] ^ order[2] ^ order[3]) == 0); /* 0 to 3, each once */
}

static void check_links(ts_arena *arena, const char *text) {
    ts_mesh mesh;
    ts_mesh_request request = {
        .machine = machine(), .axes = {"mesh", "4x4", 3}, .failed = &text, .failed_count = 1};
    if (!ts_mesh_read(NULL, arena, &request, &mesh)) return;
    int64_t *loads = TS_NEW_ARRAY(arena, int64_t, ts_mesh_link_count(&mesh));
    for (int64_t to = 0; to < 16; to++) (void)ts_mesh_route(&mesh, 0, to, 1, loads);
    for (int64_t link = 0; link < ts_mesh_link_count(&mesh); link++)
        assert(loads[link] == 0 || ts_mesh_has_link(&mesh, link));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ts_arena *arena = ts_arena_new();
    const char *text = ts_arena_copy_text(arena, (const char *)data, size);
    size_t length = strlen(text);
    check_file(arena, text, length);
    if (length < size) check_links(arena, text + length + 1);
    ts_arena_free(arena);
    return 0;
}
