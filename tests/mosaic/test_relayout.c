/* Relayouts against what Mosaic's own pass makes of them (tables by make_relayouts.py): equal ops, equal refusals. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/relayouts.h"

enum { SMALL = 256 /* values of a relayout whose ops are compared one by one */ };

/* As the table has them: by name, in the order of the alphabet. */
static const char *print_counts(ts_arena *arena, const ts_relayout *relayout) {
    ts_text out = ts_text_begin(arena);
    for (int i = 0; i < TS_RELAYOUT_OPS; i++)
        if (relayout->counts[i] > 0)
            ts_text_add(&out, "%s%s=%d", out.length > 0 ? " " : "", ts_relayout_op_name((ts_relayout_kind)i),
                        (int)relayout->counts[i]);
    return out.length > 0 ? out.bytes : "free";
}

static bool moves_memory(const ts_relayout_op *op) {
    return op->kind == TS_RELAYOUT_LOAD || op->kind == TS_RELAYOUT_SHUFFLED_LOAD ||
           op->kind == TS_RELAYOUT_STORE || op->kind == TS_RELAYOUT_SHUFFLED_STORE;
}

static bool is_store(const ts_relayout_op *op) {
    return op->kind == TS_RELAYOUT_STORE || op->kind == TS_RELAYOUT_SHUFFLED_STORE;
}

/* Whether two ops are one where those of the same are one. */
static bool is_same(const ts_relayout *r, const ts_relayout_op *a, const ts_relayout_op *b) {
    bool same = a->kind == b->kind && a->bits == b->bits && a->present == b->present &&
                a->input_count == b->input_count && memcmp(a->numbers, b->numbers, sizeof a->numbers) == 0;
    for (int i = 0; same && i < a->input_count; i++) same = r->kept[a->inputs[i]] == r->kept[b->inputs[i]];
    return same && !moves_memory(a);
}

static void need(const ts_relayout *r, int value, bool *needed) {
    assert_true(r->kept[value] >= 0);
    needed[r->kept[value]] = true;
}

/* What is kept is needed, and differs from all before it; what is not is one that is kept, or nothing needs it. */
static void check_merged(const ts_relayout *r) {
    bool needed[SMALL] = {false};
    int count = 0, sources = (int)r->sources;
    for (int64_t i = 0; i < r->results; i++) need(r, r->values[i], needed);
    for (int i = 0; i < r->op_count; i++)
        for (int k = 0; r->kept[sources + i] == sources + i && k < r->ops[i].input_count; k++)
            need(r, r->ops[i].inputs[k], needed);
    for (int i = 0; i < sources; i++) assert_int_equal(r->kept[i], i);
    for (int i = 0; i < r->op_count; i++) {
        const ts_relayout_op *op = &r->ops[i];
        int value = sources + i, kept = r->kept[value];
        bool still = op->kind == TS_RELAYOUT_ROTATE && op->numbers[1] == 0;
        count += kept == value;
        assert_true(kept >= -1 && kept <= value);
        if (kept < 0) continue;
        if (kept < value)
            assert_true(still ? kept == r->kept[op->inputs[0]] : is_same(r, op, &r->ops[kept - sources]));
        for (int k = 0; k < i && kept == value; k++)
            assert_false(r->kept[sources + k] == sources + k && is_same(r, op, &r->ops[k]));
        assert_true(kept < value || (!still && (needed[value] || is_store(op))));
    }
    assert_int_equal(r->kept_count, count);
}

/* The pass ends without words where it stops. */
static const char *say(ts_arena *arena, const ts_relayout_request *request) {
    ts_error err = {0};
    ts_relayout relayout;
    ts_text out;
    if (ts_relayout_plan(&err, arena, request, &relayout)) {
        assert_true(relayout.scratch_sublanes <= request->scratch_sublanes);
        if (relayout.sources + relayout.op_count <= SMALL) check_merged(&relayout);
        return print_counts(arena, &relayout);
    }
    if (err.kind == TS_ERROR_INPUT && strstr(err.message, "at a check of its own") != NULL) return "stops";
    out = ts_text_begin(arena);
    ts_text_add(&out, "%s: %s", err.kind == TS_ERROR_INPUT ? "refused" : "not modelled", err.message);
    return out.bytes;
}

static bool agrees(void *self, ts_arena *arena, const relayout_row *row) {
    const char *said = say(arena, &row->request);
    bool same = strcmp(said, row->said) == 0;
    (void)self;
    if (!same)
        print_message("generation %d: %s %s -> %s: %s, expected %s\n", row->request.generation,
                      row->shape_text, row->from_text, row->to_text, said, row->said);
    return same;
}

static void check_table(const char *path, int least_rows) {
    relayout_rows found = relayout_table_read(path, agrees, NULL);
    print_message("%s: %d of %d relayouts agree\n", path, found.used, found.rows);
    assert_int_equal(found.used, found.rows);
    assert_true(found.rows >= least_rows);
}

TEST(test_ops_are_mosaics) {
    const char *other = getenv("TS_RELAYOUTS"); /* a table that was drawn */
    check_table("tests/mosaic/relayouts.tsv", 2459);
    check_table("tests/mosaic/relayouts_drawn.tsv", 1018);
    if (other != NULL) check_table(other, 0);
}
