/* Relayouts against what Mosaic's own pass makes of a grid of them (relayouts.tsv, by make_relayouts.py): equal ops, equal
 * refusals. What is not modelled is counted. */
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#include "layout/shape.h"
#include "mosaic/relayout.h"

/* Rows of the table of which the ops, or the words of the refusal, are ours too; the rest is not modelled. */
enum { ROWS = 2446, MODELLED = 935 };

static bool read_vpad(ts_arena *arena, const char *text, ts_vpad *out) {
    ts_text whole;
    ts_error err = {0};
    ts_text_init(&whole, arena);
    ts_text_add(&whole, "vpad<\"%s\">", text);
    ts_source source = {"table", whole.bytes, whole.length};
    ts_cursor cursor = {.source = &source};
    if (!ts_vpad_read(&err, &cursor, out)) fail_msg("%s: %s", text, err.message);
    return true;
}

/* As the table has them: by name, in the order of the alphabet. */
static const char *print_counts(ts_arena *arena, const ts_relayout *relayout) {
    static const ts_relayout_kind order[] = {TS_RELAYOUT_SELECT, TS_RELAYOUT_MASK, TS_RELAYOUT_PACK,
                                             TS_RELAYOUT_ROTATE, TS_RELAYOUT_UNPACK};
    ts_text out;
    ts_text_init(&out, arena);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (relayout->counts[order[i]] > 0)
            ts_text_add(&out, "%s%s=%d", out.length > 0 ? " " : "", ts_relayout_op_name(order[i]),
                        (int)relayout->counts[order[i]]);
    return out.length > 0 ? out.bytes : "free";
}

/* Whether the row is modelled; fails where it is, and not as the table says. */
static bool check_row(char *line) {
    static const char refused[] = "refused: ";
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_relayout relayout;
    ts_relayout_request request = {0};
    char *fields[4] = {line};
    for (int i = 1; i < 4; i++) {
        fields[i] = strchr(fields[i - 1], '\t');
        assert_non_null(fields[i]);
        *fields[i]++ = '\0';
    }
    ts_source source = {"shape", fields[0], strlen(fields[0])};
    const ts_shape *shape = ts_shape_parse(&err, arena, &source);
    assert_non_null(shape);
    request.rank = shape->layout->rank, request.dims = shape->layout->dims;
    read_vpad(arena, fields[1], &request.from), read_vpad(arena, fields[2], &request.to);
    bool planned = ts_relayout_plan(&err, arena, &request, &relayout);
    bool modelled = planned || err.kind != TS_ERROR_UNMODELLED;
    bool refuses = strncmp(fields[3], refused, strlen(refused)) == 0;
    const char *ours = planned ? print_counts(arena, &relayout) : err.message;
    const char *theirs = fields[3] + (refuses ? strlen(refused) : 0);
    if (modelled && (planned == refuses || strcmp(ours, theirs) != 0))
        fail_msg("%s %s -> %s: %s, expected %s", fields[0], fields[1], fields[2], ours, fields[3]);
    ts_arena_free(arena);
    return modelled;
}

static void test_ops_are_mosaics(void **state) {
    FILE *file = fopen("tests/mosaic/relayouts.tsv", "r");
    char line[512];
    int rows = 0, modelled = 0;
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#') continue;
        rows++;
        modelled += check_row(line);
    }
    fclose(file);
    print_message("%d of %d relayouts are modelled\n", modelled, rows);
    assert_int_equal(rows, ROWS);
    assert_int_equal(modelled, MODELLED);
}

/* ---- The ops do what the layouts say: elements by number, through an interpreter of the ops ---- */

enum { MOST = 512, EMPTY = -1 };
typedef struct {
    int part[8][128][4]; /* of words: the element's number; of masks 0 or 1 in [0] */
} vreg;

static void apply(const ts_relayout_op *op, int packing, const vreg *all, vreg *out) {
    for (int s = 0; s < 8; s++)
        for (int l = 0; l < 128; l++)
            for (int p = 0; p < 4; p++) {
                int *to = &out->part[s][l][p], row = s * packing + p,
                    block = op->kind == TS_RELAYOUT_PACK ? row / 8 : 0;
                const vreg *in = &all[op->inputs[op->kind == TS_RELAYOUT_SELECT ? 1 : 0]];
                *to = EMPTY;
                if (op->kind == TS_RELAYOUT_ROTATE)
                    *to = op->dim == 0 ? in->part[(s + 8 - op->amount) % 8][l][p]
                                       : in->part[s][(l + 128 - op->amount) % 128][p];
                if (op->kind == TS_RELAYOUT_MASK) *to = (op->dim == 0 ? s : l) < op->amount;
                if (op->kind == TS_RELAYOUT_SELECT)
                    *to = all[op->inputs[0]].part[s][l][0] ? in->part[s][l][p]
                                                           : all[op->inputs[2]].part[s][l][p];
                if (op->kind == TS_RELAYOUT_UNPACK && p == 0)
                    *to = in->part[op->amount * (8 / packing) + s / packing][l][s % packing];
                if (op->kind != TS_RELAYOUT_PACK || p >= packing || (op->present >> block & 1) == 0) continue;
                int input = 0;
                for (int k = 0; k < block; k++) input += (int)(op->present >> k & 1);
                *to = all[op->inputs[input]].part[row % 8][l][0];
            }
}

static int *place(vreg *all, const int *values, const ts_layout *layout, int64_t row, int64_t column) {
    int64_t x[4], index[2] = {row, column};
    ts_layout_forward(layout, index, x);
    return &all[values == NULL ? x[0] : values[x[0]]].part[x[1]][x[2]][x[3]];
}

static void check_values(const char *from, const char *to, int64_t rows, int64_t columns) {
    static vreg all[MOST];
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_relayout relayout;
    const int64_t dims[2] = {rows, columns};
    ts_relayout_request request = {.rank = 2, .dims = dims};
    read_vpad(arena, from, &request.from), read_vpad(arena, to, &request.to);
    if (!ts_relayout_plan(&err, arena, &request, &relayout)) fail_msg("%s -> %s: %s", from, to, err.message);
    assert_true(relayout.sources + relayout.op_count <= MOST);
    const ts_layout *before = ts_vpad_layout(&err, arena, &request.from, 2, dims);
    const ts_layout *after = ts_vpad_layout(&err, arena, &request.to, 2, dims);
    memset(all, 0xff, sizeof all); /* EMPTY */
    for (int64_t i = 0; i < rows * columns; i++) *place(all, NULL, before, i / columns, i % columns) = (int)i;
    for (int i = 0; i < relayout.op_count; i++)
        apply(&relayout.ops[i], 32 / relayout.bits, all, &all[relayout.sources + i]);
    for (int64_t i = 0; i < rows * columns; i++)
        if (*place(all, relayout.values, after, i / columns, i % columns) != (int)i)
            fail_msg("%s -> %s: element (%d,%d)", from, to, (int)(i / columns), (int)(i % columns));
    ts_arena_free(arena);
}

static void test_elements_arrive(void **state) {
    static const struct {
        const char *from, *to;
    } rows[] = {
        {"32,{0,0},(8,128)", "32,{3,0},(8,128)"},    {"32,{5,0},(8,128)", "32,{3,0},(8,128)"},
        {"32,{7,100},(8,128)", "32,{0,0},(8,128)"},  {"32,{2,20},(8,128)", "32,{7,127},(8,128)"},
        {"16,{0,0},(16,128)", "16,{0,0},(8,128)"},   {"16,{3,0},(8,128)", "16,{3,90},(16,128)"},
        {"16,{9,20},(16,128)", "16,{9,3},(16,128)"}, {"8,{5,9},(32,128)", "8,{5,9},(8,128)"},
        {"8,{1,0},(8,128)", "8,{1,77},(32,128)"},    {"8,{0,0},(8,128)", "8,{0,0},(32,128)"},
    };
    static const int64_t sizes[][2] = {{24, 300}, {5, 128}, {16, 500}, {40, 17}, {1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
            check_values(rows[i].from, rows[i].to, sizes[k][0], sizes[k][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ops_are_mosaics),
        cmocka_unit_test(test_elements_arrive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
