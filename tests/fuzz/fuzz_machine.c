/* Machine files on any text: up to the first NUL a file (whose base may be built in), behind it an override.
 * Whatever is accepted prints as a file that is read as the same machine. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "machine/embedded.h"
#include "machine/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BUILTINS = 32 };

/* A machine file of that text, with the built-in ones as bases. */
static const ts_tree *load(ts_error *err, ts_arena *arena, const char *text, size_t length) {
    ts_tree_builtin files[MAX_BUILTINS];
    size_t count = ts_embedded_machine_count;
    assert(count < MAX_BUILTINS);
    memcpy(files, ts_embedded_machines, count * sizeof files[0]);
    files[count] = (ts_tree_builtin){"fuzz", text, length};
    return ts_tree_load(err, arena, "fuzz", files, count + 1);
}

static const ts_tree *apply(ts_error *err, ts_arena *arena, const ts_tree *tree, const char *text,
                            size_t length) {
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"set", text, length};
    const ts_tree *above = ts_tree_parse_override(err, arena, source);
    return above ? ts_tree_merge(arena, tree, above) : NULL;
}

static void check_again(ts_arena *arena, const ts_machine *machine) {
    ts_error err = {0};
    ts_text text = ts_text_begin(arena);
    ts_machine_print(&text, machine);
    const ts_tree *tree = load(&err, arena, text.bytes, text.length);
    const ts_machine *again = tree ? ts_machine_read(&err, arena, "fuzz", tree) : NULL;
    assert(again && again->hash == machine->hash);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    const char *text = (const char *)data, *end = size ? memchr(text, '\0', size) : NULL;
    size_t length = end ? (size_t)(end - text) : size;
    const ts_tree *tree = load(&err, arena, text, length);
    if (tree && end) tree = apply(&err, arena, tree, end + 1, size - length - 1);
    const ts_machine *machine = tree ? ts_machine_read(&err, arena, "fuzz", tree) : NULL;
    assert((machine == NULL) == (err.kind != TS_ERROR_NONE));
    if (machine) check_again(arena, machine);
    ts_arena_free(arena);
    return 0;
}
