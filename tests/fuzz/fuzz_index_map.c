/* Operations on index maps on any text: three lines, the name, the map and the arguments. What is read must
 * print and read back as the same text. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/fuzz/lines.h"
#include "layout/notation/index_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(ts_arena *arena, const char *text, bool must_parse) {
    ts_index_map map, again;
    ts_text once, twice;
    ts_source source = {"map", text, strlen(text)};
    if (!ts_index_map_parse(NULL, arena, &source, &map)) {
        assert(!must_parse);
        return;
    }
    ts_text_init(&once, arena);
    ts_text_init(&twice, arena);
    ts_index_map_print(&once, &map);
    source = (ts_source){"again", once.bytes, once.length};
    bool parsed = ts_index_map_parse(NULL, arena, &source, &again);
    assert(parsed && again.rank == map.rank && again.count == map.count);
    ts_index_map_print(&twice, &again);
    assert(strcmp(once.bytes, twice.bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const enumerate[] = {
        "injective",      "bijective", "inverse", "inverse_at", "nonsurjective_inverse_at",
        "padding_points", "loops",     NULL};
    fuzz_lines lines;
    fuzz_lines_cut(&lines, data, size);
    ts_error err = {0};
    ts_text out;
    ts_text_init(&out, lines.arena);
    if (!fuzz_lines_too_large(&lines, enumerate)) {
        bool ok = ts_index_map_evaluate(&err, lines.arena, lines.text[0], lines.text[1], lines.text[2], &out);
        assert(ok == (err.kind == TS_ERROR_NONE));
    }
    check_text(lines.arena, lines.text[1], false);
    ts_arena_free(lines.arena);
    return 0;
}
