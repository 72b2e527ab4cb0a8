/* Relayouts against what Mosaic's own pass makes of them (tables by make_relayouts.py): equal ops, equal refusals. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/relayouts.h"

/* As the table has them: by name, in the order of the alphabet. */
static const char *print_counts(ts_arena *arena, const ts_relayout *relayout) {
    ts_text out = ts_text_begin(arena);
    for (int i = 0; i < TS_RELAYOUT_OPS; i++)
        if (relayout->counts[i] > 0)
            ts_text_add(&out, "%s%s=%d", out.length > 0 ? " " : "", ts_relayout_op_name((ts_relayout_kind)i),
                        (int)relayout->counts[i]);
    return out.length > 0 ? out.bytes : "free";
}

/* The pass ends without words where it stops. */
static const char *say(ts_arena *arena, const ts_relayout_request *request) {
    ts_error err = {0};
    ts_relayout relayout;
    ts_text out;
    if (ts_relayout_plan(&err, arena, request, &relayout)) {
        assert_true(relayout.scratch_sublanes <= request->scratch_sublanes);
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

static void test_ops_are_mosaics(void **state) {
    const char *other = getenv("TS_RELAYOUTS"); /* a table that was drawn */
    (void)state;
    check_table("tests/mosaic/relayouts.tsv", 2459);
    check_table("tests/mosaic/relayouts_drawn.tsv", 1018);
    if (other != NULL) check_table(other, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ops_are_mosaics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
