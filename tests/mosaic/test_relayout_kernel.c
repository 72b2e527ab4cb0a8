/* Kernels of relayouts on the machine: their ops bring each element where the layout says, by an oracle of its own for places. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "mosaic/mosaic.h"
#include "run/run.h"
#include "tests/support/relayouts.h"
#include "tests/support/rounds.h"

enum { SUBLANES = 8, LANES = 128, WORDS = SUBLANES * LANES };

/* ---- Places, after the text of layout.h: rows and columns of a tile, tiles side by side in a vreg ---- */

typedef struct {
    const ts_vpad *v;
    int64_t leading, rows, columns, down, across;
} view;

static view view_of(const ts_vpad *v, const ts_relayout_request *r) {
    int64_t all = 1, last = r->dims[r->rank - 1], before = r->rank > 1 ? r->dims[r->rank - 2] : 1;
    view w = {.v = v};
    for (int i = 0; i < r->rank; i++) all *= r->dims[i];
    w.rows = v->implicit == TS_VPAD_ALL ? before : v->implicit == TS_VPAD_MINOR ? last : 1;
    w.columns = v->implicit == TS_VPAD_ALL || v->implicit == TS_VPAD_SECOND ? last : 1;
    w.leading = all / w.rows / w.columns;
    int64_t wide = 32 / v->bits * WORDS / v->tile[0];
    w.down = v->offsets[0] < 0 ? 1 : (v->offsets[0] + w.rows + v->tile[0] - 1) / v->tile[0];
    w.across = v->offsets[1] < 0 ? 1 : (v->offsets[1] + w.columns + wide - 1) / wide;
    return w;
}

/* The number of the element at a place, counted row-major; -1: padding. Where a dim is replicated it is that of index 0. */
static int64_t element_at(const view *w, int64_t vreg, int sublane, int lane, int sub) {
    const ts_vpad *v = w->v;
    int64_t packing = 32 / v->bits, tiles = packing * WORDS / (v->tile[0] * v->tile[1]),
            each = SUBLANES / tiles;
    int64_t tile = sublane / each, within = sublane % each, row, column;
    if (v->tile[0] == 1) /* one row, its elements by lanes, then by parts of a word */
        row = 0, column = (within * packing + sub) * LANES + lane;
    else if (packing > 1) /* rows beside each other in a word */
        row = within * packing + sub, column = lane;
    else
        row = (within * LANES + lane) / v->tile[1], column = (within * LANES + lane) % v->tile[1];
    row += vreg / w->across % w->down * v->tile[0] - v->offsets[0];
    column += vreg % w->across * tiles * v->tile[1] + tile * v->tile[1] - v->offsets[1];
    if (v->offsets[0] < 0) row = 0;
    if (v->offsets[1] < 0) column = 0;
    if (row < 0 || row >= w->rows || column < 0 || column >= w->columns) return -1;
    return (vreg / w->across / w->down * w->rows + row) * w->columns + column;
}

/* ---- Values ---- */

static uint32_t mixed(int64_t n) {
    uint64_t h = ((uint64_t)n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 29) ^ (uint32_t)(h >> 47);
}

/* What the element with that number has: along what is replicated in the source, all have the same. */
static uint32_t value_of(const ts_relayout_request *r, const view *from, int64_t number) {
    int64_t row = number / from->columns % from->rows, column = number % from->columns;
    if (from->v->offsets[0] < 0) number -= row * from->columns;
    if (from->v->offsets[1] < 0) number -= column;
    return mixed(number) & (r->masks ? 1 : UINT32_MAX >> (32 - r->from.bits));
}

static uint32_t source_word(const ts_relayout_request *r, const view *from, int64_t at) {
    uint32_t word = mixed(~at); /* padding has anything */
    for (int sub = 0; sub < 32 / r->from.bits; sub++) {
        int64_t number = element_at(from, at / WORDS, (int)(at / LANES % SUBLANES), (int)(at % LANES), sub);
        uint32_t field = UINT32_MAX >> (32 - r->from.bits);
        int up = sub * r->from.bits;
        if (number >= 0) word = (word & ~(field << up)) | value_of(r, from, number) << up;
    }
    return word;
}

/* ---- The run ---- */

static const char *machine_of(int generation) {
    static const char *const names[] = {[4] = "tpu-v4", [5] = "tpu-v5e", [6] = "tpu-v6e", [7] = "tpu-v7x"};
    return names[generation];
}

/* What the machine does not need: the sizes of memories, and the types of casts, which differ but for words. */
static void check_text(const char *text, const ts_relayout *plan) {
    static const char cast[] = "\"tpu.bitcast_vreg\"(", arrow[] = ") -> ", words[] = "vector<8x128xi32>\n";
    char expected[256];
    const int64_t rows[3] = {plan->sources * SUBLANES, plan->results * SUBLANES,
                             (plan->scratch_sublanes + SUBLANES - 1) / SUBLANES * SUBLANES};
    for (int i = 0; i < 2; i++) {
        snprintf(expected, sizeof expected,
                 "%%tiled%d) : (memref<%dx128xi32, #tpu.tiled<(8,128),[1,1]>, #tpu.memory_space<vmem>>) -> "
                 "memref<%dx128xi32, #tpu.memory_space<vmem>>\n",
                 i, (int)rows[i], (int)rows[i]);
        if (!strstr(text, expected)) fail_msg("no %s", expected);
    }
    snprintf(expected, sizeof expected, "\"tpu.internal_scratch\"() : () -> memref<%dx128xi32, ",
             (int)rows[2]);
    assert_int_equal(strstr(text, expected) != NULL, rows[2] > 0);
    assert_non_null(strstr(text, "sym_name = \"transform_1\""));
    assert_null(strstr(text, "sym_name = \"transform_2\""));
    for (const char *at = text; (at = strstr(at, cast));) {
        const char *from = strstr(at, " : (") + strlen(" : ("), *to = strstr(at, arrow);
        at = to + strlen(arrow);
        if (memcmp(from, at, (size_t)(to - from)) == 0) assert_memory_equal(at, words, strlen(words));
    }
}

enum { LARGE_OPS = 1000 }; /* so many may need more vmem than there is */

/* NULL: a large kernel does not fit. */
static const uint32_t *run_kernel(ts_arena *arena, const relayout_row *row, const ts_relayout *plan,
                                  ts_host_array *input) {
    ts_error err = {0};
    ts_target target;
    ts_text text;
    const ts_machine *machine = ts_machine_load(&err, arena, machine_of(row->request.generation));
    ts_run_array array = {"0", input};
    ts_run_result *result = TS_NEW(arena, ts_run_result);
    assert_non_null(machine);
    text = ts_text_begin(arena);
    ts_relayout_kernel(plan, TS_RELAYOUT_WITH_OPS, &text);
    check_text(text.bytes, plan);
    ts_run_target(machine, &target);
    ts_source source = {"relayout", text.bytes, text.length};
    ts_run_request request = {.program = "relayout",
                              .machine = machine,
                              .arrays = &array,
                              .array_count = 1,
                              .keep_outputs = true,
                              .max_cycles = TS_RUN_MOST_CYCLES,
                              .patience = TS_RUN_PATIENCE};
    request.built = ts_mosaic_parse(&err, arena, &source, &target);
    if (request.built == NULL && plan->op_count > LARGE_OPS && strstr(err.message, " bytes of vmem, "))
        return NULL;
    if (request.built == NULL || !ts_run(&err, arena, &request, result))
        fail_msg("%s %s -> %s: %s", row->shape_text, row->from_text, row->to_text, err.message);
    for (int i = 0; i < result->program->code.tensor_count; i++)
        if (result->tensors[i].after.bytes != NULL)
            return (const uint32_t *)(void *)result->tensors[i].after.bytes;
    fail_msg("no output");
    return NULL;
}

static void check_word(const relayout_row *row, const view w[2], int64_t at, uint32_t word) {
    int bits = row->request.to.bits;
    for (int sub = 0; sub < 32 / bits; sub++) {
        int64_t number = element_at(&w[1], at / WORDS, (int)(at / LANES % SUBLANES), (int)(at % LANES), sub);
        uint32_t got = word >> (sub * bits) & UINT32_MAX >> (32 - bits);
        if (number >= 0 && got != value_of(&row->request, &w[0], number))
            fail_msg(
                "generation %d: %s %s -> %s: element %d in vreg %d, sublane %d, lane %d, part %d is 0x%x",
                row->request.generation, row->shape_text, row->from_text, row->to_text, (int)number,
                (int)(at / WORDS), (int)(at / LANES % SUBLANES), (int)(at % LANES), sub, got);
    }
}

/* Mosaic takes vregs as they are where one tile holds the value in both layouts. It does so also of what is replicated: then
 * what is in only one of the tiles, and other tiles of the vreg, where the result may be wanted, need not have it. */
static bool is_loose(const relayout_row *row, const ts_relayout *plan, int64_t at) {
    const ts_vpad *from = &row->request.from, *to = &row->request.to;
    const ts_vpad *small = from->tile[0] < to->tile[0] ? from : to;
    int64_t each = small->tile[0] * small->tile[1] * small->bits / 32 / LANES; /* sublanes of a tile */
    bool replicated = from->offsets[0] < 0 || from->offsets[1] < 0;
    return plan->op_count == 0 && from->tile[0] != to->tile[0] && replicated && at / LANES % SUBLANES >= each;
}

/* False: the kernel does not fit. */
static bool check_values(ts_arena *arena, const relayout_row *row, const ts_relayout *plan) {
    const view w[2] = {view_of(&row->request.from, &row->request), view_of(&row->request.to, &row->request)};
    int64_t words = plan->sources * WORDS;
    uint32_t *in = TS_NEW_ARRAY(arena, uint32_t, words);
    assert_int_equal(plan->sources, w[0].leading * w[0].down * w[0].across);
    assert_int_equal(plan->results, w[1].leading * w[1].down * w[1].across);
    for (int64_t i = 0; i < words; i++) in[i] = source_word(&row->request, &w[0], i);
    ts_host_array input = {.dtype = TS_DTYPE_S32, .rank = 2, .dims = {plan->sources * SUBLANES, LANES}};
    input.bytes = (uint8_t *)in, input.length = (size_t)words * sizeof *in;
    const uint32_t *out = run_kernel(arena, row, plan, &input);
    for (int64_t i = 0; out && i < plan->results * WORDS; i++)
        if (!is_loose(row, plan, i)) check_word(row, w, i, out[i]);
    return out != NULL;
}

/* What a relayout is between: implicit dims, and offsets that are replicated, 0 or neither. */
enum { SORTS_OF_LAYOUTS = 4 * 3 * 3, SORTS = SORTS_OF_LAYOUTS * SORTS_OF_LAYOUTS };

static int sort_of_layout(const ts_vpad *v) {
    int sort = (int)v->implicit;
    for (int i = 0; i < 2; i++) sort = sort * 3 + (v->offsets[i] < 0 ? 2 : v->offsets[i] > 0);
    return sort;
}

typedef struct {
    int every; /* of those that are the first of their sort; 0: all */
    int most_ops, firsts;
    bool seen[SORTS];
} choice;

static bool is_chosen(choice *c, const relayout_row *row) {
    int sort = sort_of_layout(&row->request.from) * SORTS_OF_LAYOUTS + sort_of_layout(&row->request.to);
    if (c->every == 0) return true;
    if (c->seen[sort]) return false;
    c->seen[sort] = true;
    return c->firsts++ % c->every == 0;
}

static bool try_row(void *self, ts_arena *arena, const relayout_row *row) {
    choice *c = self;
    ts_error err = {0};
    ts_relayout plan;
    if (!ts_relayout_plan(&err, arena, &row->request, &plan)) return false;
    if (plan.op_count > c->most_ops || plan.results > c->most_ops) return false;
    return is_chosen(c, row) && check_values(arena, row, &plan);
}

TEST(test_elements_arrive) {
    static const char *const tables[] = {"tests/mosaic/relayouts.tsv", "tests/mosaic/relayouts_drawn.tsv"};
    const char *other = getenv("TS_RELAYOUTS");
    const int every = stride(2, 16) / 2; /* 0: all */
    choice c = {.every = every, .most_ops = every == 0 ? 20000 : 150};
    for (int i = 0; i < (other != NULL ? 3 : 2); i++) {
        relayout_rows found = relayout_table_read(i < 2 ? tables[i] : other, try_row, &c);
        print_message("%d of %d relayouts have their elements in place\n", found.used, found.rows);
        assert_true(found.used > 0);
    }
}
