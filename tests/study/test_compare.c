/* What two reports differ in. */
#include "study/compare.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <setjmp.h>
#include <string.h>

#include "base/text.h"
#include "tests/support/test.h"

static ts_source source_of(const char *name, const char *text) {
    return (ts_source){name, text, strlen(text)};
}

static void add_changes(const ts_compare_change *changes, int count, const char *kind, ts_text *out) {
    for (int i = 0; i < count; i++) {
        const ts_compare_change *c = &changes[i];
        ts_text_add(out, "%s %s/%d %s%s %s%s\n", kind, c->path, (int)c->section,
                    c->before.is_number ? "#" : "", c->before.text ? c->before.text : "-",
                    c->after.is_number ? "#" : "", c->after.text ? c->after.text : "-");
    }
}

/* Reports of `command` with these keys, as text: figures, settings, results, and how many values are equal. */
static void expect(const char *command, const char *before, const char *after, const char *expected) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_comparison result;
    ts_text texts[2], out;
    for (int i = 0; i < 2; i++) {
        texts[i] = ts_text_begin(arena);
        ts_text_add(&texts[i], "{\"schema\":\"tilesim.%s\",%s}", command, i == 0 ? before : after);
    }
    ts_source a = source_of("a", texts[0].bytes), b = source_of("b", texts[1].bytes);
    out = ts_text_begin(arena);
    if (!ts_compare(&err, arena, &a, &b, &result)) fail_msg("%s", err.message);
    assert_string_equal(result.command, command);
    for (int i = 0; i < result.figure_count; i++)
        ts_text_add(&out, "figure %s %g %g\n", result.figures[i].path, result.figures[i].before,
                    result.figures[i].after);
    if (result.lacking) ts_text_add(&out, "lacks %s\n", result.lacking);
    add_changes(result.settings, result.setting_count, "set", &out);
    add_changes(result.results, result.result_count, "got", &out);
    ts_text_add(&out, "%d equal\n", (int)result.equal_count);
    assert_string_equal(out.bytes, expected);
    ts_arena_free(arena);
}

TEST(values) {
    expect("x", "\"a\":1,\"b\":\"s\",\"c\":true,\"d\":null,\"e\":[],\"f\":{}",
           "\"a\":1,\"b\":\"s\",\"c\":true,\"d\":null,\"e\":[],\"f\":{}", "5 equal\n");
    expect("x", "\"a\":1,\"b\":\"s\",\"c\":true,\"d\":null,\"e\":[1],\"g\":0.1",
           "\"a\":2,\"b\":\"t\",\"c\":false,\"d\":7,\"e\":{\"y\":1},\"g\":1e300",
           "got a/1 #1 #2\ngot b/1 s t\ngot c/1 true false\ngot d/1 null #7\ngot e/1 [..] {..}\n"
           "got g/1 #0.10000000000000001 #1.0000000000000001e+300\n1 equal\n");
    expect("x", "\"k\":{\"a\":1,\"b\":{\"c\":2}}", "\"k\":{\"b\":{\"c\":3},\"z\":[1]}",
           "got k.a/1 #1 -\ngot k.b.c/1 #2 #3\ngot k.z/1 - [..]\n1 equal\n");
}

TEST(lists) {
    expect("x", "\"k\":[1,2,3]", "\"k\":[1,4]", "got k[1]/1 #2 #4\ngot k[2]/1 #3 -\n2 equal\n");
    expect("x", "\"k\":[1]", "\"k\":[1,4]", "got k[1]/1 - #4\n2 equal\n");
    expect("x", "\"list\":[{\"n\":\"p\",\"v\":1},{\"n\":\"q\",\"v\":2},{\"n\":\"q\",\"v\":3}]",
           "\"list\":[{\"n\":\"q\",\"v\":2},{\"n\":\"r\"},{\"n\":\"q\",\"v\":5},{\"n\":\"p\",\"v\":1}]",
           "got list[q #2].v/4 #3 #5\ngot list[r]/4 - {..}\n6 equal\n");
    /* Of one name: by all strings that they begin with, then in order. */
    expect("x",
           "\"k\":[{\"n\":\"p\",\"s\":\"a\",\"v\":1},{\"n\":\"p\",\"s\":\"b\",\"v\":2},"
           "{\"n\":\"p\",\"s\":\"b\",\"v\":3},{\"n\":\"p\",\"s\":\"d\",\"v\":4}]",
           "\"k\":[{\"n\":\"p\",\"s\":\"c\",\"v\":4},{\"n\":\"p\",\"s\":\"b\",\"v\":2},"
           "{\"n\":\"p\",\"s\":\"a\",\"v\":1},{\"n\":\"p\",\"s\":\"b\",\"v\":5}]",
           "got k[p #3].v/1 #3 #5\ngot k[p #4].s/1 d c\n11 equal\n");
    expect("x", "\"k\":[{\"v\":1},{\"n\":\"p\"}]", "\"k\":[{\"n\":\"p\"},{\"v\":1}]",
           "got k[0]/1 {..} -\ngot k[1]/1 - {..}\n2 equal\n");
    expect("x",
           "\"k\":[{\"n\":\"12345678901234567890123456789012\",\"v\":1},{\"n\":"
           "\"123456789012345678901234567890123\",\"v\":1}]",
           "\"k\":[{\"n\":\"12345678901234567890123456789012\",\"v\":2},{\"n\":"
           "\"123456789012345678901234567890123\",\"v\":2}]",
           "got k[12345678901234567890123456789012].v/1 #1 #2\n"
           "got k[123456789012345678901234567890..].v/1 #1 #2\n3 equal\n");
    /* What only the other has is numbered behind them, names that are cut alike too. */
    expect("x", "\"k\":[{\"n\":\"p\",\"v\":1},{\"n\":\"p\",\"v\":2}]",
           "\"k\":[{\"n\":\"p\",\"v\":3},{\"n\":\"p\",\"v\":4},{\"n\":\"p\",\"v\":5},{\"n\":\"q\"}]",
           "got k[p].v/1 #1 #3\ngot k[p #2].v/1 #2 #4\ngot k[p #3]/1 - {..}\ngot k[q]/1 - {..}\n3 equal\n");
    /* Names in turns. */
    expect("x", "\"k\":[{\"n\":\"q\",\"v\":1},{\"n\":\"p\",\"v\":1},{\"n\":\"q\",\"v\":2}]",
           "\"k\":[{\"n\":\"q\",\"v\":1},{\"n\":\"p\",\"v\":3},{\"n\":\"q\",\"v\":4}]",
           "got k[p].v/1 #1 #3\ngot k[q #2].v/1 #2 #4\n5 equal\n");
    expect("x",
           "\"k\":[{\"n\":\"123456789012345678901234567890123\",\"v\":1},{\"n\":"
           "\"123456789012345678901234567890124\",\"v\":1}]",
           "\"k\":[{\"n\":\"123456789012345678901234567890123\",\"v\":2},{\"n\":"
           "\"123456789012345678901234567890124\",\"v\":3}]",
           "got k[123456789012345678901234567890..].v/1 #1 #2\n"
           "got k[123456789012345678901234567890.. #2].v/1 #1 #3\n3 equal\n");
}

TEST(settings_and_figures) {
    expect("run", "\"machine\":\"m\",\"params\":{\"A\":1},\"microseconds\":4,\"mach\":1",
           "\"machine\":\"n\",\"params\":{\"A\":2},\"microseconds\":5,\"mach\":2",
           "figure microseconds 4 5\nset machine/7 m n\nset params.A/6 #1 #2\ngot microseconds/12 #4 #5\n"
           "got mach/4 #1 #2\n1 equal\n");
    expect("audit", "\"all\":{\"padded_bytes\":3},\"microseconds\":1",
           "\"all\":{\"padded_bytes\":3},\"microseconds\":1",
           "figure microseconds 1 1\nfigure all.padded_bytes 3 3\n3 equal\n");
    expect("choose", "\"candidates\":[{\"n\":\"a\",\"microseconds\":2}]",
           "\"candidates\":[{\"n\":\"b\",\"microseconds\":1}]",
           "figure candidates.0.microseconds 2 1\ngot candidates[a]/10 {..} -\ngot candidates[b]/10 - {..}\n"
           "1 equal\n");
    expect("blocks",
           "\"candidates\":[{\"blocks\":{\"M\":8,\"K\":\"x\"},\"microseconds\":2},{\"blocks\":{\"M\":9}}]",
           "\"candidates\":[{\"blocks\":{\"M\":9}},{\"blocks\":{\"M\":8,\"K\":\"x\"},\"microseconds\":3},{"
           "\"blocks\":{}}]",
           "lacks b has no candidates.0.microseconds\n"
           "got candidates[M=8, K=x].microseconds/10 #2 #3\ngot candidates[2]/10 - {..}\n4 equal\n");
    expect("reshard", "\"microseconds\":1", "\"microseconds\":1", "figure microseconds 1 1\n2 equal\n");
    expect("relayout", "\"cycles\":1", "\"error\":{\"message\":\"why\"},\"cycles\":null",
           "lacks b has no cycles: why\ngot cycles/6 #1 null\ngot error/5 - {..}\n1 equal\n");
    expect("choose", "\"candidates\":[]", "\"candidates\":[]",
           "lacks a has no candidates.0.microseconds\n1 equal\n");
    expect("run", "\"microseconds\":null", "\"microseconds\":null", "lacks a has no microseconds\n2 equal\n");
}

static void refuse(const char *before, const char *after, const char *place, int column,
                   const char *message) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_comparison result;
    ts_source a = source_of("a", before), b = source_of("b", after);
    assert_false(ts_compare(&err, arena, &a, &b, &result));
    assert_string_equal(err.message, message);
    assert_string_equal(err.name, place);
    assert_int_equal(err.column, column);
    ts_arena_free(arena);
}

TEST(refused) {
    static const char good[] = "{\"schema\":\"tilesim.run\"}";
    static const char no_report[] =
        "expected a report of tilesim: a JSON object with \"schema\": \"tilesim.run\" or another";
    refuse(good, "{\"schema\":,}", "b", 11, "this is not valid JSON, expected a report of --json");
    refuse("", good, "a", 1, "this is not valid JSON, expected a report of --json");
    refuse("{\"schema\":\"tilesim.run\"} \t{}", good, "a", 27,
           "text behind the report, expected one JSON object");
    refuse("7", good, "a", 1, no_report);
    refuse("{\"schema\":\"tilesi\"}", good, "a", 1, no_report);
    refuse("{\"schema\":7}", good, "a", 1, no_report);
    refuse(good, "{\"schema\":\"tilesim.hbm\"}", "b", 1,
           "this is a report of tilesim hbm, expected one of tilesim run, as a is");
}

/* The call that `countdown` reaches gets nothing, as from malloc. */
static jmp_buf out_of_memory;
static int countdown;

static _Alignas(16) char pool[1 << 14];
static size_t taken;

static void *take(size_t bytes) {
    if (--countdown == 0) return errno = ENOMEM, NULL;
    taken += (bytes + 15) / 16 * 16;
    assert_true(taken <= sizeof pool);
    return pool + taken - (bytes + 15) / 16 * 16;
}
static void drop(void *bytes) { (void)bytes; }
void ts_out_of_memory(size_t bytes) {
    assert_true(bytes > 0);
    longjmp(out_of_memory, 1);
}

/* Never taken for what is wrong with the text. */
TEST(memory_runs_out) {
    cJSON_Hooks hooks = {.malloc_fn = take, .free_fn = drop};
    const ts_source a = source_of("a", "{\"schema\":\"tilesim.run\",\"cycles\":7}"), b = a;
    volatile int calls = 0;
    cJSON_InitHooks(&hooks);
    for (volatile bool whole = false; !whole; calls++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_comparison result;
        countdown = calls + 1;
        taken = 0;
        if (setjmp(out_of_memory) == 0) {
            assert_true(ts_compare(&err, arena, &a, &b, &result));
            whole = countdown > 0;
        }
        assert_int_equal(err.kind, TS_ERROR_NONE);
        ts_arena_free(arena);
    }
    assert_true(calls > 4);
    cJSON_InitHooks(NULL);
}
