/* Axe operations on any text: three lines, the name, the layout and the arguments. What is read must print
 * and read back as the same text, and have the same points in the common form. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/fuzz/lines.h"
#include "layout/notation/axe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(ts_arena *arena, const char *text, bool must_parse) {
    ts_axe axe, again;
    ts_text once, twice;
    ts_source source = {"layout", text, strlen(text)};
    if (!ts_axe_parse(NULL, arena, &source, &axe)) {
        assert(!must_parse);
        return;
    }
    for (int matrix = 0; matrix < 2; matrix++) {
        ts_text_init(&once, arena);
        ts_text_init(&twice, arena);
        (matrix ? ts_axe_print_matrix : ts_axe_print)(&once, &axe);
        source = (ts_source){"again", once.bytes, once.length};
        bool parsed = ts_axe_parse(NULL, arena, &source, &again);
        assert(parsed);
        (matrix ? ts_axe_print_matrix : ts_axe_print)(&twice, &again);
        assert(strcmp(once.bytes, twice.bytes) == 0);
    }
    int64_t dims = ts_axe_size(&axe, NULL), padded;
    const ts_layout *layout = ts_axe_layout(NULL, arena, &axe, 1, &dims);
    if (layout && ts_axe_from_layout(NULL, arena, layout, &padded, &again)) assert(padded == dims);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const enumerate[] = {"same_map", "injective", "backward", NULL};
    fuzz_lines lines;
    fuzz_lines_cut(&lines, data, size);
    ts_error err = {0};
    ts_text out;
    ts_text_init(&out, lines.arena);
    if (!fuzz_lines_too_large(&lines, enumerate)) {
        bool ok = ts_axe_evaluate(&err, lines.arena, lines.text[0], lines.text[1], lines.text[2], &out);
        assert(ok == (err.kind == TS_ERROR_NONE));
        if (ok && strncmp(lines.text[0], "canon", 5) == 0) check_text(lines.arena, out.bytes, true);
    }
    check_text(lines.arena, lines.text[1], false);
    ts_arena_free(lines.arena);
    return 0;
}
