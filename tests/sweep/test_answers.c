/* Studies from text to table, and which of them are one question: keys that differ where an answer may. */
#include "sweep/answers.h"

#include <string.h>

#include "tests/support/test.h"

static const ts_sweep_study *parse(ts_arena *arena, const char *text) {
    ts_error err = {0};
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"study", text, strlen(text)};
    const ts_sweep_study *study = ts_sweep_study_parse(&err, arena, source, "");
    if (!study) fail_msg("%s", err.message);
    return study;
}

TEST_WITH_ARENA(answered) {
    ts_error err = {0};
    ts_sweep_answers answers;
    const char *text =
        "ask:\n  - dma: 'u8[4096] -> u8[4096]{0:S(1)}'\n  - hbm: d_s4k_512\n  - layout: 'f32['\n"
        "  - {reshard: \"f32[8,8] P('x') -> f32[8,8]\", mesh: 4}\n";
    ts_sweep_answers_request request = {.crew = {parse(arena, text), 1, 0}};
    if (!ts_sweep_answer_all(&err, arena, &request, &answers)) fail_msg("%s", err.message);
    const ts_sweep_table *t = &answers.table;
    assert_int_equal(answers.result.answered, 4);
    assert_int_equal(answers.result.by_status[TS_SWEEP_ERROR], 1);
    int read = ts_sweep_table_find(NULL, t, "", "hbm_read_bytes"),
        sent = ts_sweep_table_find(NULL, t, "", "sent_bytes");
    assert_int_equal(ts_sweep_table_cell(t, 0, read)->integer, 4096);
    assert_int_equal(ts_sweep_table_cell(t, 1, read)->integer, 8192 * 512);
    assert_int_equal(ts_sweep_table_cell(t, 3, sent)->integer, 4 * 3 * 64);
    request.crew.workers = 0;
    assert_false(ts_sweep_answer_all(&err, arena, &request, &answers));
    assert_string_equal(err.message, "0 workers, expected 1 to 256");
    err = (ts_error){0};
    request.crew.workers = 1;
    request.database = "build/no/such/folder.db";
    assert_false(ts_sweep_answer_all(&err, arena, &request, &answers));
    assert_non_null(strstr(err.message, "folder.db"));
}

static void find_key(ts_sweep_hashes *hashes, ts_arena *arena, const char *text, char key[33]) {
    ts_sweep_point point;
    ts_sweep_case asked;
    ts_sweep_identity identity;
    ts_error err = {0};
    ts_sweep_point_get(arena, parse(arena, text), 0, &point);
    if (!ts_sweep_case_of(&err, arena, &point, &asked) ||
        !ts_sweep_identify(&err, arena, hashes, &point, &asked, &identity))
        fail_msg("%s", err.message);
    memcpy(key, identity.key, 33);
    assert_int_equal(strlen(key), 32);
}

/* All differ; a text has the same key each time, whatever else was hashed. */
TEST_WITH_ARENA(keys) {
    static const char *const texts[] = {
        "ask: {layout: 'f32[8]'}",
        "ask: {layout: 'f32[9]'}",
        "ask: {layout: 'f32[8]', rule: true}",
        "machine: tpu-v4\nask: {layout: 'f32[8]'}",
        "set: {hbm.stacks: 4}\nask: {layout: 'f32[8]'}",
        "vary: {hbm.stacks: 4}\nask: {layout: 'f32[8]'}",
        "vary: {A: 1}\nask: {layout: 'f32[8]'}",
        "vary: {A: 1, B: 2}\nask: {layout: 'f32[8]'}",
        "ask: {program: programs/add.tsim}",
        "ask: {program: programs/relu.tsim}",
        "ask: {program: programs/add.tsim, define: {A: 1}}",
        "ask: {program: programs/add.tsim, define: {A: 1, B: 2}}",
        "ask: {program: programs/add.tsim, input: {x: CHANGELOG.md}}",
        "ask: {program: programs/add.tsim, input: {y: CHANGELOG.md}}",
        "ask: {program: programs/add.tsim, input: {x: LICENSE}}",
        "ask: {program: programs/add.tsim, input: {x: LICENSE, y: LICENSE}}",
    };
    enum { COUNT = sizeof texts / sizeof *texts };
    char found[2][COUNT][33];
    ts_sweep_hashes *hashes = ts_sweep_hashes_new(arena);
    for (int i = 0; i < COUNT; i++) find_key(hashes, arena, texts[i], found[0][i]);
    for (int i = COUNT - 1; i >= 0; i--) {
        find_key(i % 2 ? hashes : ts_sweep_hashes_new(arena), arena, texts[i], found[1][i]);
        assert_string_equal(found[0][i], found[1][i]);
        for (int k = 0; k < i; k++) assert_string_not_equal(found[0][i], found[0][k]);
    }
}
