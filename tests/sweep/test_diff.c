/* Two databases of a study compared. */
#include "sweep/answers.h"

#include <math.h>
#include <string.h>

#include "tests/support/study.h"
#include "tests/support/test.h"

typedef struct {
    ts_arena *arena;
    ts_error err;
    ts_sweep_store *a, *b;
    ts_sweep_diff d;
} pair;

static void begin(pair *p) {
    *p = (pair){.arena = ts_arena_new()};
    p->a = ts_sweep_store_open(&p->err, p->arena, ":memory:", TS_SWEEP_WRITE);
    p->b = ts_sweep_store_open(&p->err, p->arena, ":memory:", TS_SWEEP_WRITE);
}

static void compare(pair *p, int column) {
    if (!ts_sweep_compare(&p->err, p->arena, p->a, p->b, column, &p->d)) fail_msg("%s", p->err.message);
}

static void end(pair *p) {
    ts_sweep_store_close(NULL, p->a);
    ts_sweep_store_close(NULL, p->b);
    ts_arena_free(p->arena);
}

TEST(differences) {
    pair p;
    begin(&p);
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
        if (rows[i].was >= 0) study_put(p.a, key, rows[i].parameters, rows[i].before, rows[i].was);
        if (rows[i].is >= 0)
            study_put(p.b, rows[i].parameters, rows[i].parameters, rows[i].after, rows[i].is);
    }
    compare(&p, TS_SWEEP_MICROSECONDS_COLUMN);
    assert_int_equal(p.d.both, 5);
    assert_int_equal(p.d.measured, 3); /* of what is broken nothing is */
    assert_int_equal(p.d.only_before, 1);
    assert_int_equal(p.d.only_after, 2);
    assert_int_equal(p.d.change_count, 4);
    assert_int_equal(p.d.broken, 1);
    assert_true(p.d.worst == 1.5);
    static const char *const order[] = {"broken", "slower", "faster", "mended"};
    for (int i = 0; i < 4; i++) assert_string_equal(p.d.changes[i].parameters, order[i]);
    assert_true(p.d.changes[1].ratio == 1.5 && p.d.changes[1].before == 2 && p.d.changes[1].after == 3);
    assert_true(p.d.changes[0].ratio == 0 && p.d.changes[2].ratio == 0.5);
    assert_string_equal(p.d.column, "microseconds");
    compare(&p, TS_COUNTER_CYCLES);
    assert_int_equal(p.d.change_count, 2);
    assert_true(p.d.worst == 1);
    end(&p);
}

/* Names that are next to each other, times below 1, and each list out of order. */
TEST(differences_of_few) {
    static const struct {
        const char *before[2], *after[2];
        double was, is;
        int64_t both, only_before, only_after, changes;
        double worst;
    } rows[] = {
        {{"a", "b"}, {"b", "c"}, 0.5, 1, 1, 1, 1, 1, 2},  {{"b", "c"}, {"a", "b"}, 0.5, 0.25, 1, 1, 1, 1, 1},
        {{"b", "a"}, {"b", "a"}, 1, 0.5, 2, 0, 0, 2, 1},  {{"a", "c"}, {"b", "d"}, 1, 2, 0, 2, 2, 0, 1},
        {{"a", NULL}, {"a", "b"}, 1, 4, 1, 0, 1, 1, 4},   {{"a", "b"}, {"b", NULL}, 1, 1, 1, 1, 0, 0, 1},
        {{"a", NULL}, {NULL, NULL}, 1, 1, 0, 1, 0, 0, 1}, {{NULL, NULL}, {"a", "b"}, 1, 1, 0, 0, 2, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pair p;
        begin(&p);
        for (int k = 0; k < 2; k++) {
            const char *keys[] = {"k2", "k1"}; /* so that what is read first is not first */
            if (rows[i].before[k]) study_put(p.a, keys[k], rows[i].before[k], TS_SWEEP_OK, rows[i].was);
            if (rows[i].after[k]) study_put(p.b, keys[k], rows[i].after[k], TS_SWEEP_OK, rows[i].is);
        }
        compare(&p, TS_SWEEP_MICROSECONDS_COLUMN);
        assert_int_equal(p.d.both, rows[i].both);
        assert_int_equal(p.d.measured, rows[i].both);
        assert_int_equal(p.d.only_before, rows[i].only_before);
        assert_int_equal(p.d.only_after, rows[i].only_after);
        assert_int_equal(p.d.change_count, rows[i].changes);
        assert_true(p.d.worst == rows[i].worst);
        end(&p);
    }
}

/* Two that got worse, the more so first, whichever comes first by name. */
TEST(worse_comes_first) {
    for (int first = 0; first < 2; first++) {
        pair p;
        begin(&p);
        for (int k = 0; k < 2; k++) {
            study_put(p.a, k ? "k1" : "k2", k ? "p" : "q", TS_SWEEP_OK, 1);
            study_put(p.b, k ? "k1" : "k2", k ? "p" : "q", TS_SWEEP_OK, k == first ? 3 : 2);
        }
        compare(&p, TS_SWEEP_MICROSECONDS_COLUMN);
        assert_string_equal(p.d.changes[0].parameters, first ? "p" : "q");
        assert_string_equal(p.d.changes[1].parameters, first ? "q" : "p");
        end(&p);
    }
}

/* Of a point that a database has several times, by the time of each row. */
TEST(differences_of_the_last) {
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
        {{{"0.1.0", "b", 1}}, {{"0.0.9", "a", 5}, {"0.1.0", "b", 1}, {"0.1.0", "c", 2}}, 1, 2, 2},
        {{{"0.1.0", "c", 1}}, {{"0.1.0", "b", 2}, {"0.1.0", "a", 3}, {"0.1.0", "c", 1}}, 1, 3, 2},
        {{{"0.1.0", "c", 1}, {"0.1.0", "b", 3}},
         {{"0.1.0", "b", 3}, {"0.1.0", "c", 1}, {"0.1.0", "d", 9}},
         3,
         9,
         3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pair p;
        begin(&p);
        for (int k = 0; k < 3; k++) {
            const entry *x = &rows[i].before[k], *y = &rows[i].after[k];
            if (x->key) study_put_of(p.a, x->version, x->key, "p", TS_SWEEP_OK, x->time);
            if (y->key) study_put_of(p.b, y->version, y->key, "p", TS_SWEEP_OK, y->time);
        }
        compare(&p, TS_SWEEP_MICROSECONDS_COLUMN);
        assert_true(p.d.both == 1 && p.d.only_before == 0 && p.d.only_after == 0 && p.d.change_count == 1);
        assert_int_equal(p.d.older, rows[i].older);
        assert_true(p.d.changes[0].before == rows[i].was && p.d.changes[0].after == rows[i].is);
        end(&p);
    }
}

/* What was 0 and is not is worse by any ratio; what has no number is not compared, but where its status differs. */
TEST(differences_from_nothing) {
    pair p;
    begin(&p);
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
            assert_true(ts_sweep_store_put(&p.err, k ? p.b : p.a, &identity, &row));
        }
    }
    compare(&p, TS_SWEEP_MICROSECONDS_COLUMN);
    assert_true(p.d.both == 7 && p.d.older == 0 && p.d.broken == 0 && isinf(p.d.worst));
    static const char *const order[] = {"a", "g", "b", "c", "d"};
    assert_int_equal(p.d.change_count, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(p.d.changes[i].parameters, order[i]);
    assert_true(isinf(p.d.changes[0].ratio) && p.d.changes[1].ratio == 2 && p.d.changes[2].ratio == 0);
    assert_true(isnan(p.d.changes[3].before) && isnan(p.d.changes[4].after) && p.d.changes[3].ratio == 0);
    end(&p);
}
