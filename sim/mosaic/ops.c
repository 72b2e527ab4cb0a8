/* The operations that are modelled, and those that are not, as a table. */

#include "mosaic/mosaic.h"

typedef struct {
    const char *name, *what; /* NULL: what the instructions are of */
    bool kinds[5];           /* scalars, f32, bf16, i32, masks */
} op_row;

#define HAS(opcode) (TS_OP_##opcode != TS_OP_nop)
static const op_row rows[] = {
#define OP(name, function, what)              {name, what, {0}},
#define WORDS(name, function, operands, what) {name, what ", of scalars and packed ones too", {0}},
#define BINARY(name, scalar, f32, bf16, i32, mask)                                                           \
    {name, NULL, {HAS(scalar), HAS(f32), HAS(bf16), HAS(i32), HAS(mask)}},
#define UNARY(name, f32, bf16, i32) {name, NULL, {false, HAS(f32), HAS(bf16), HAS(i32), false}},
#define REFUSED(name, why)          {name, "refused: " why, {0}},
#include "ops.def"
};

static void add_kinds(ts_text *out, const op_row *row) {
    static const char *const words[] = {"scalars", "f32", "bf16", "integers", "masks"};
    const char *before = "";
    for (int i = 0; i < 5; i++) {
        bool floats = i == 2 && row->kinds[1]; /* bf16 by way of f32, where there is no instruction */
        if (!row->kinds[i] && !floats) continue;
        ts_text_add(out, "%s%s", before, words[i]);
        before = ", ";
    }
}

static void add_what(ts_text *out, const op_row *row) {
    if (row->what) ts_text_add(out, "%s", row->what);
    if (!row->what) add_kinds(out, row);
}

void ts_mosaic_print_ops(ts_text *out) {
    ts_text what = ts_text_begin(out->arena);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text_clear(&what);
        add_what(&what, &rows[i]);
        ts_text_add(out, "%-*s%s\n", what.length > 0 ? 37 : 0, rows[i].name, what.bytes);
    }
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

void ts_mosaic_print_ops_markdown(ts_text *out) {
    ts_text_add(out, "| operation | of |\n|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text_add(out, "| `%s` | ", rows[i].name);
        add_what(out, &rows[i]);
        ts_text_add(out, " |\n");
    }
}
