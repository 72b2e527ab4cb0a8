/* Databases of studies: what is kept, and two of them compared. */
#include <string.h>

#include "sweep/diff.h"
#include "sweep/store.h"
#include "tests/support/study.h"
#include "tests/support/test.h"

/* ---- Databases ---- */

static void put(ts_sweep_store *store, const char *key, const char *parameters, ts_sweep_status status,
                double time) {
    ts_sweep_row row = {.status = status, .err = status == TS_SWEEP_OK ? NULL : &study_why};
    ts_sweep_identity identity = {
        .parameters = parameters, .question = "layout: f32[8]", .machine = "tpu-v5e"};
    strcpy(identity.key, key);
    if (time > 0) ts_sweep_set_real(&row, TS_SWEEP_MICROSECONDS_COLUMN, time);
    ts_sweep_set_integer(&row, TS_COUNTER_CYCLES, 7);
    ts_sweep_set_text(&row, TS_SWEEP_LIMITER_COLUMN, "a 'quote'");
    assert_true(ts_sweep_store_put(NULL, store, &identity, &row));
}

static void stores(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_sweep_row row;
    bool found;
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, ":memory:", true);
    assert_int_equal(ts_sweep_store_status(&err, store, "k1"), -1);
    put(store, "k1", "{}", TS_SWEEP_OK, 1.25);
    put(store, "k2", "{}", TS_SWEEP_TIMEOUT, 0);
    assert_int_equal(ts_sweep_store_status(&err, store, "k1"), TS_SWEEP_OK);
    assert_int_equal(ts_sweep_store_status(&err, store, "k2"), TS_SWEEP_TIMEOUT);
    assert_true(ts_sweep_store_get(&err, arena, store, "k1", &found, &row));
    assert_true(found && row.values[TS_SWEEP_MICROSECONDS_COLUMN].real == 1.25);
    assert_int_equal(row.values[TS_COUNTER_CYCLES].integer, 7);
    assert_string_equal(row.values[TS_SWEEP_LIMITER_COLUMN].text, "a 'quote'");
    assert_int_equal(row.values[TS_SWEEP_LAYOUT_COLUMN].kind, TS_SWEEP_NONE);
    assert_null(row.err);
    assert_true(ts_sweep_store_get(&err, arena, store, "k2", &found, &row) && found);
    assert_string_equal(row.err->message, "why");
    assert_true(ts_sweep_store_get(&err, arena, store, "k3", &found, &row) && !found);
    put(store, "k2", "{}", TS_SWEEP_OK, 2);
    assert_int_equal(ts_sweep_store_status(&err, store, "k2"), TS_SWEEP_OK);
    assert_true(ts_sweep_store_close(&err, store));
    assert_true(ts_sweep_store_close(&err, NULL));
    assert_int_equal(err.kind, TS_ERROR_NONE);
    ts_arena_free(arena);
}

static void differences(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_sweep_diff d;
    ts_sweep_store *a = ts_sweep_store_open(&err, arena, ":memory:", true),
                   *b = ts_sweep_store_open(&err, arena, ":memory:", true);
    static const struct {
        const char *parameters;
        ts_sweep_status before, after;
        double was, is; /* negative: not there */
    } rows[] = {{"same", TS_SWEEP_OK, TS_SWEEP_OK, 2, 2},      {"slower", TS_SWEEP_OK, TS_SWEEP_OK, 2, 3},
                {"faster", TS_SWEEP_OK, TS_SWEEP_OK, 2, 1},    {"broken", TS_SWEEP_OK, TS_SWEEP_ERROR, 2, 0},
                {"mended", TS_SWEEP_CRASH, TS_SWEEP_OK, 0, 2}, {"gone", TS_SWEEP_OK, TS_SWEEP_OK, 2, -1},
                {"new", TS_SWEEP_OK, TS_SWEEP_OK, -1, 2},      {"newer", TS_SWEEP_OK, TS_SWEEP_OK, -1, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char key[] = {'k', (char)('z' - i), '\0'};
        if (rows[i].was >= 0) put(a, key, rows[i].parameters, rows[i].before, rows[i].was);
        if (rows[i].is >= 0) put(b, rows[i].parameters, rows[i].parameters, rows[i].after, rows[i].is);
    }
    assert_true(ts_sweep_compare(&err, arena, a, b, TS_SWEEP_MICROSECONDS_COLUMN, &d));
    assert_int_equal(d.both, 5);
    assert_int_equal(d.only_before, 1);
    assert_int_equal(d.only_after, 2);
    assert_int_equal(d.change_count, 4);
    assert_int_equal(d.broken, 1);
    assert_true(d.worst == 1.5);
    static const char *const order[] = {"broken", "slower", "faster", "mended"};
    for (int i = 0; i < 4; i++) assert_string_equal(d.changes[i].parameters, order[i]);
    assert_true(d.changes[1].ratio == 1.5 && d.changes[1].before == 2 && d.changes[1].after == 3);
    assert_true(d.changes[0].ratio == 0 && d.changes[2].ratio == 0.5);
    assert_string_equal(d.column, "microseconds");
    assert_true(ts_sweep_compare(&err, arena, a, b, TS_COUNTER_CYCLES, &d));
    assert_int_equal(d.change_count, 2);
    assert_true(d.worst == 1);
    ts_sweep_store_close(NULL, a);
    ts_sweep_store_close(NULL, b);
    ts_arena_free(arena);
}

/* Names that are next to each other, times below 1, and each list out of order. */
static void differences_of_few(void **state) {
    (void)state;
    static const struct {
        const char *before[2], *after[2];
        double was, is;
        int64_t both, only_before, only_after, changes;
        double worst;
    } rows[] = {
        {{"a", "b"}, {"b", "c"}, 0.5, 1, 1, 1, 1, 1, 2}, {{"b", "c"}, {"a", "b"}, 0.5, 0.25, 1, 1, 1, 1, 1},
        {{"b", "a"}, {"b", "a"}, 1, 0.5, 2, 0, 0, 2, 1}, {{"a", "c"}, {"b", "d"}, 1, 2, 0, 2, 2, 0, 1},
        {{"a", NULL}, {"a", "b"}, 1, 4, 1, 0, 1, 1, 4},  {{"a", "b"}, {"b", NULL}, 1, 1, 1, 1, 0, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_sweep_diff d;
        ts_sweep_store *a = ts_sweep_store_open(&err, arena, ":memory:", true),
                       *b = ts_sweep_store_open(&err, arena, ":memory:", true);
        for (int k = 0; k < 2; k++) {
            const char *keys[] = {"k2", "k1"}; /* so that what is read first is not first */
            if (rows[i].before[k]) put(a, keys[k], rows[i].before[k], TS_SWEEP_OK, rows[i].was);
            if (rows[i].after[k]) put(b, keys[k], rows[i].after[k], TS_SWEEP_OK, rows[i].is);
        }
        assert_true(ts_sweep_compare(&err, arena, a, b, TS_SWEEP_MICROSECONDS_COLUMN, &d));
        assert_int_equal(d.both, rows[i].both);
        assert_int_equal(d.only_before, rows[i].only_before);
        assert_int_equal(d.only_after, rows[i].only_after);
        assert_int_equal(d.change_count, rows[i].changes);
        assert_true(d.worst == rows[i].worst);
        ts_sweep_store_close(NULL, a);
        ts_sweep_store_close(NULL, b);
        ts_arena_free(arena);
    }
}

/* Two that got worse, the more so first, whichever comes first by name. */
static void worse_comes_first(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_sweep_diff d;
        ts_sweep_store *a = ts_sweep_store_open(&err, arena, ":memory:", true),
                       *b = ts_sweep_store_open(&err, arena, ":memory:", true);
        for (int k = 0; k < 2; k++) {
            put(a, k ? "k1" : "k2", k ? "p" : "q", TS_SWEEP_OK, 1);
            put(b, k ? "k1" : "k2", k ? "p" : "q", TS_SWEEP_OK, k == first ? 3 : 2);
        }
        assert_true(ts_sweep_compare(&err, arena, a, b, TS_SWEEP_MICROSECONDS_COLUMN, &d));
        assert_string_equal(d.changes[0].parameters, first ? "p" : "q");
        assert_string_equal(d.changes[1].parameters, first ? "q" : "p");
        ts_sweep_store_close(NULL, a);
        ts_sweep_store_close(NULL, b);
        ts_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores),
        cmocka_unit_test(differences),
        cmocka_unit_test(differences_of_few),
        cmocka_unit_test(worse_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
