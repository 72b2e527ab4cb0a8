/* Databases of studies: what is kept, and two of them compared. */
#include <math.h>
#include <string.h>

#include "sweep/diff.h"
#include "sweep/store.h"
#include "tests/support/study.h"
#include "tests/support/test.h"

/* ---- Databases ---- */

static void put_of(ts_sweep_store *store, const char *version, const char *key, const char *parameters,
                   ts_sweep_status status, double time) {
    ts_sweep_row row = {.status = status, .err = status == TS_SWEEP_OK ? NULL : &study_why};
    ts_sweep_identity identity = {
        .parameters = parameters, .question = "layout: f32[8]", .machine = "tpu-v5e", .version = version};
    strcpy(identity.key, key);
    if (time > 0) ts_sweep_set_real(&row, TS_SWEEP_MICROSECONDS_COLUMN, time);
    ts_sweep_set_integer(&row, TS_COUNTER_CYCLES, 7);
    ts_sweep_set_text(&row, TS_SWEEP_LIMITER_COLUMN, "a 'quote'");
    assert_true(ts_sweep_store_put(NULL, store, &identity, &row));
}

static void put(ts_sweep_store *store, const char *key, const char *parameters, ts_sweep_status status,
                double time) {
    put_of(store, "0.1.0", key, parameters, status, time);
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

/* Of a point that a database has several times, by the time of each row. */
static void differences_of_the_last(void **state) {
    (void)state;
    typedef struct {
        const char *version, *key;
        double time;
    } entry;
    static const struct {
        entry before[3], after[3];
        double was, is;
        int64_t older;
    } rows[] = {
        {{{"0.1.0", "a", 1}}, {{"0.1.0", "a", 1}, {"0.2.0", "b", 3}}, 1, 3, 1},
        {{{"0.1.0", "b", 1}}, {{"0.1.0", "b", 1}, {"0.2.0", "a", 3}}, 1, 3, 1},
        {{{"0.2.0", "b", 1}}, {{"0.10.0", "c", 2}, {"0.9.1", "a", 3}}, 1, 2, 1},
        {{{"1.0.0", "b", 1}}, {{"0.9.9", "c", 2}, {"0.9.10", "d", 3}}, 1, 3, 1},
        {{{"2.0.0", "d", 4}, {"1.9.0", "e", 5}}, {{"0.1.0", "b", 7}}, 4, 7, 1},
        {{{"0.1.0", "a", 1}}, {{"0.1.0", "a", 1}, {"0.1.0", "b", 2}}, 1, 2, 1}, /* inputs that changed */
        {{{"0.1.0", "b", 1}}, {{"0.1.0", "a", 2}, {"0.1.0", "b", 1}}, 1, 2, 1},
        {{{"0.1.0", "c", 1}}, {{"0.1.0", "b", 2}, {"0.1.0", "a", 3}, {"0.1.0", "c", 1}}, 1, 3, 2},
        {{{"0.1.0", "c", 1}, {"0.1.0", "b", 3}},
         {{"0.1.0", "b", 3}, {"0.1.0", "c", 1}, {"0.1.0", "d", 9}},
         3,
         9,
         3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_sweep_diff d;
        ts_sweep_store *a = ts_sweep_store_open(&err, arena, ":memory:", true),
                       *b = ts_sweep_store_open(&err, arena, ":memory:", true);
        for (int k = 0; k < 3; k++) {
            const entry *x = &rows[i].before[k], *y = &rows[i].after[k];
            if (x->key) put_of(a, x->version, x->key, "p", TS_SWEEP_OK, x->time);
            if (y->key) put_of(b, y->version, y->key, "p", TS_SWEEP_OK, y->time);
        }
        assert_true(ts_sweep_compare(&err, arena, a, b, TS_SWEEP_MICROSECONDS_COLUMN, &d));
        assert_true(d.both == 1 && d.only_before == 0 && d.only_after == 0 && d.change_count == 1);
        assert_int_equal(d.older, rows[i].older);
        assert_true(d.changes[0].before == rows[i].was && d.changes[0].after == rows[i].is);
        ts_sweep_store_close(NULL, a);
        ts_sweep_store_close(NULL, b);
        ts_arena_free(arena);
    }
}

/* What was 0 and is not is worse by any ratio; what has no number is not compared, but where its status differs. */
static void differences_from_nothing(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_sweep_diff d;
    ts_sweep_store *a = ts_sweep_store_open(&err, arena, ":memory:", true),
                   *b = ts_sweep_store_open(&err, arena, ":memory:", true);
    static const struct {
        const char *key;
        double was, is; /* negative: none */
    } rows[] = {{"a", 0, 5},   {"b", 5, 0}, {"c", -1, 5}, {"d", 5, -1},
                {"e", -1, -1}, {"f", 0, 0}, {"g", 2, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int k = 0; k < 2; k++) {
            ts_sweep_row row = {.status = TS_SWEEP_OK};
            ts_sweep_identity identity = {
                .parameters = rows[i].key, .question = "", .machine = "", .version = ""};
            double value = k ? rows[i].is : rows[i].was;
            strcpy(identity.key, rows[i].key);
            if (value >= 0) ts_sweep_set_real(&row, TS_SWEEP_MICROSECONDS_COLUMN, value);
            assert_true(ts_sweep_store_put(&err, k ? b : a, &identity, &row));
        }
    }
    assert_true(ts_sweep_compare(&err, arena, a, b, TS_SWEEP_MICROSECONDS_COLUMN, &d));
    assert_true(d.both == 7 && d.older == 0 && d.broken == 0 && isinf(d.worst));
    static const char *const order[] = {"a", "g", "b", "c", "d"};
    assert_int_equal(d.change_count, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(d.changes[i].parameters, order[i]);
    assert_true(isinf(d.changes[0].ratio) && d.changes[1].ratio == 2 && d.changes[2].ratio == 0);
    assert_true(isnan(d.changes[3].before) && isnan(d.changes[4].after) && d.changes[3].ratio == 0);
    ts_sweep_store_close(NULL, a);
    ts_sweep_store_close(NULL, b);
    ts_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores),
        cmocka_unit_test(differences),
        cmocka_unit_test(differences_of_few),
        cmocka_unit_test(worse_comes_first),
        cmocka_unit_test(differences_of_the_last),
        cmocka_unit_test(differences_from_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
