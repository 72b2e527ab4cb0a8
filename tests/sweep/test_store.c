/* Databases of studies: what is kept, and two of them compared. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "sweep/diff.h"
#include "sweep/store.h"
#include "tests/support/study.h"
#include "tests/support/test.h"
#include "tilesim/version.h"

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

/* A value in each column, whichever it is. */
static void every_column_comes_back(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_sweep_row row = {.status = TS_SWEEP_OK}, read;
    ts_sweep_identity identity = {
        .key = "k", .parameters = "{}", .question = "", .machine = "", .version = ""};
    bool found;
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, ":memory:", true);
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++) {
        ts_sweep_kind kind = ts_sweep_column_get(i)->kind;
        if (kind == TS_SWEEP_INTEGER) ts_sweep_set_integer(&row, i, 1000 + i);
        if (kind == TS_SWEEP_REAL) ts_sweep_set_real(&row, i, i + 0.25);
        if (kind == TS_SWEEP_TEXT) ts_sweep_set_text(&row, i, ts_sweep_column_get(i)->name);
    }
    assert_true(ts_sweep_store_put(&err, store, &identity, &row));
    assert_true(ts_sweep_store_get(&err, arena, store, "k", &found, &read) && found);
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++) {
        const ts_sweep_value *value = &read.values[i];
        assert_int_equal(value->kind, ts_sweep_column_get(i)->kind);
        if (value->kind == TS_SWEEP_INTEGER) assert_int_equal(value->integer, 1000 + i);
        if (value->kind == TS_SWEEP_REAL) assert_true(value->real == i + 0.25);
        if (value->kind == TS_SWEEP_TEXT) assert_string_equal(value->text, ts_sweep_column_get(i)->name);
    }
    ts_sweep_store_close(NULL, store);
    ts_arena_free(arena);
}

/* ---- Files ---- */

static char path[64]; /* of this process: others may test too */

static void write_file(const char *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(bytes, 1, length, file) == length);
    fclose(file);
}

static void run_sql(const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Of a new file, with a point in it. */
static void make_file(void) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    remove(path);
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, true);
    if (!store) fail_msg("%s", err.message);
    put(store, "k1", "{}", TS_SWEEP_OK, 1.25);
    assert_true(ts_sweep_store_close(&err, store));
    ts_arena_free(arena);
}

/* `text` has a %s for the path. */
static void expect_error(const ts_error *err, const char *text) {
    const char *place = strstr(text, "%s");
    char expected[256];
    snprintf(expected, sizeof expected, "%.*s%s%s", (int)(place - text), text, path, place + 2);
    assert_string_equal(err->message, expected);
}

/* What is there stays as it is. */
static void files_that_are_none(void **state) {
    (void)state;
    static char garbage[4096] = "SQLite format 3";
    static const struct {
        const char *bytes;
        size_t length;
        const char *error;
    } rows[] = {{"x", 1, "'%s' is no database of tilesim sweep"},
                {"SQLite format", 13, "'%s' is no database of tilesim sweep"},
                {"SQLite formats are many", 23, "'%s' is no database of tilesim sweep"},
                {garbage, sizeof garbage, "cannot read '%s': it is no database of tilesim sweep"}};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        char *bytes;
        size_t length;
        write_file(rows[i / 2].bytes, rows[i / 2].length);
        assert_null(ts_sweep_store_open(&err, arena, path, i % 2));
        if (i % 2 == 0) expect_error(&err, rows[i / 2].error);
        assert_true(ts_file_read(&err, arena, path, 1 << 20, &bytes, &length));
        assert_true(length == rows[i / 2].length && memcmp(bytes, rows[i / 2].bytes, length) == 0);
        ts_arena_free(arena);
    }
    remove(path);
}

/* It holds nothing to be read, and what is written stays. */
static void files_that_are_empty(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    write_file("", 0);
    assert_null(ts_sweep_store_open(&err, arena, path, false));
    expect_error(&err, "'%s' holds no study");
    err = (ts_error){0};
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, true);
    if (!store) fail_msg("%s", err.message);
    put(store, "k1", "{}", TS_SWEEP_OK, 1.25);
    assert_null(ts_sweep_store_open(&err, arena, path, false)); /* while it is written */
    expect_error(&err, "cannot read '%s': another process uses it");
    assert_true(ts_sweep_store_close(NULL, store));
    store = ts_sweep_store_open(&err, arena, path, false);
    assert_non_null(store);
    assert_int_equal(ts_sweep_store_status(&err, store, "k1"), TS_SWEEP_OK);
    ts_sweep_store_close(NULL, store);
    ts_arena_free(arena);
    remove(path);
}

static void databases_of_others(void **state) {
    (void)state;
    static const struct {
        const char *sql, *error;
    } rows[] = {
        {"CREATE TABLE mine (a)", "'%s' is a database, but not one of tilesim sweep"},
        {"PRAGMA application_id = 7", "'%s' is a database, but not one of tilesim sweep"},
        {"PRAGMA application_id = 1953720685; CREATE TABLE mine (a)",
         "'%s' is damaged: it has no table of points"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int writes = 0; writes < 2; writes++) {
            ts_arena *arena = ts_arena_new();
            ts_error err = {0};
            remove(path);
            run_sql(rows[i].sql);
            assert_null(ts_sweep_store_open(&err, arena, path, writes));
            expect_error(&err, rows[i].error);
            ts_arena_free(arena);
        }
    }
    remove(path);
}

/* A column that it lacks, the first or the last, is none when it is read, and is added when it is written. */
static void files_of_older_versions(void **state) {
    (void)state;
    static const int columns[] = {0, TS_SWEEP_COLUMNS - 1};
    for (int i = 0; i < 4; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_sweep_row row;
        bool found, writes = i / 2;
        char sql[128];
        make_file();
        snprintf(sql, sizeof sql, "ALTER TABLE point DROP COLUMN %s",
                 ts_sweep_column_get(columns[i % 2])->name);
        run_sql(sql);
        ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, writes);
        if (!store) fail_msg("%s", err.message);
        assert_true(ts_sweep_store_get(&err, arena, store, "k1", &found, &row) && found);
        assert_int_equal(row.values[columns[i % 2]].kind, TS_SWEEP_NONE);
        assert_true(row.values[TS_SWEEP_MICROSECONDS_COLUMN].real == 1.25);
        if (writes) put(store, "k1", "{}", TS_SWEEP_OK, 2.5);
        ts_sweep_store_close(NULL, store);
        if (writes) run_sql("UPDATE point SET cycles = 1, estimated = 1 WHERE microseconds = 2.5");
        ts_arena_free(arena);
    }
    remove(path);
}

/* A row that both have stays as it is; a store that cannot be merged leaves no trace. */
static void merged(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_sweep_row row;
    int64_t added = -1;
    bool found;
    make_file();
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, ":memory:", true);
    put(store, "k2", "{}", TS_SWEEP_OK, 2);
    assert_true(ts_sweep_store_merge(&err, store, path, &added));
    assert_int_equal(added, 1);
    assert_true(ts_sweep_store_get(&err, arena, store, "k1", &found, &row) && found);
    assert_true(row.values[TS_SWEEP_MICROSECONDS_COLUMN].real == 1.25);
    run_sql("UPDATE point SET microseconds = 3; INSERT INTO point (key, status) VALUES ('k3', 'ok')");
    assert_true(ts_sweep_store_merge(&err, store, path, &added));
    assert_int_equal(added, 1);
    assert_true(ts_sweep_store_get(&err, arena, store, "k1", &found, &row) && found);
    assert_true(row.values[TS_SWEEP_MICROSECONDS_COLUMN].real == 1.25);
    run_sql("DROP TABLE study");
    assert_false(ts_sweep_store_merge(&err, store, path, &added));
    assert_string_equal(err.message, "cannot merge ':memory:': no such table: other.study");
    remove(path);
    err = (ts_error){0};
    assert_false(ts_sweep_store_merge(&err, store, path, &added));
    expect_error(&err, "cannot open '%s': unable to open database file");
    make_file();
    err = (ts_error){0};
    assert_true(ts_sweep_store_merge(&err, store, path, &added)); /* nothing is attached still */
    assert_int_equal(added, 0);
    assert_true(ts_sweep_store_close(&err, store));
    remove(path);
    ts_arena_free(arena);
}

static void no_store_is_merged_into_itself(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    int64_t added = -1;
    make_file();
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, true);
    assert_false(ts_sweep_store_merge(&err, store, path, &added));
    assert_int_equal(err.kind, TS_ERROR_USAGE);
    char text[512];
    snprintf(text, sizeof text, "cannot merge '%s' into itself: '%s' is the same file", path, path);
    assert_string_equal(err.message, text);
    assert_true(ts_sweep_store_close(&err, store));
    remove(path);
    ts_arena_free(arena);
}

/* It is larger than what is held of it, and all but its first page is overwritten while it is open. */
static void damaged_while_open(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_sweep_row row;
    bool found;
    static char garbage[6 << 20];
    make_file();
    run_sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) INSERT INTO point "
        "(key, status, parameters) SELECT printf('a%05d', i), 'ok', hex(zeroblob(300)) FROM n");
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, true);
    assert_non_null(store);
    FILE *file = fopen(path, "r+b");
    assert_true(file && fseek(file, 4096, SEEK_SET) == 0);
    assert_int_equal(fwrite(garbage, 1, sizeof garbage, file), sizeof garbage);
    fclose(file);
    assert_int_equal(ts_sweep_store_status(&err, store, "a00001"), -2);
    expect_error(&err, "cannot read '%s': it is damaged");
    err = (ts_error){0};
    assert_false(ts_sweep_store_get(&err, arena, store, "a00001", &found, &row));
    expect_error(&err, "cannot read '%s': it is damaged");
    ts_sweep_store_close(NULL, store);
    remove(path);
    ts_arena_free(arena);
}

/* Of another version, say. */
static void statuses_that_are_unknown(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_sweep_row row;
    bool found;
    make_file();
    run_sql("UPDATE point SET status = 'lost'");
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, true);
    assert_int_equal(ts_sweep_store_status(&err, store, "k1"), -1); /* it is asked again */
    assert_int_equal(err.kind, TS_ERROR_NONE);
    assert_false(ts_sweep_store_get(&err, arena, store, "k1", &found, &row));
    expect_error(&err, "'%s' is damaged: a point has no status");
    put(store, "k1", "{}", TS_SWEEP_OK, 1);
    assert_int_equal(ts_sweep_store_status(&err, store, "k1"), TS_SWEEP_OK);
    assert_true(ts_sweep_store_close(&err, store));
    remove(path);
    ts_arena_free(arena);
}

/* Its log is written into it, and begun anew, when it has 4 MB (docs/sweep.md). */
static void a_short_log(void **state) {
    (void)state;
    char log[sizeof path + 4];
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    uint64_t bytes = 0;
    snprintf(log, sizeof log, "%s-wal", path);
    remove(path);
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, true);
    for (int i = 0; i < 1000; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i * 7919 % 1000);
        put(store, key, "{}", TS_SWEEP_OK, i + 1);
    }
    assert_true(ts_file_size(&err, log, &bytes));
    assert_in_range(bytes, 1 << 20, 2200 << 10);
    assert_true(ts_sweep_store_close(&err, store));
    assert_false(ts_file_size(NULL, log, &bytes));
    remove(path);
    ts_arena_free(arena);
}

/* The text of a study, once, however often it is asked. */
static void studies_are_noted(void **state) {
    (void)state;
    study_fixture f;
    sqlite3 *db;
    sqlite3_stmt *statement;
    static const char text[] = "title: noted\nask: {layout: 'f32[8]'}\n";
    remove(path);
    study_begin(&f, text, path, NULL);
    for (int i = 0; i < 2; i++) assert_true(ts_sweep_store_note(&f.err, f.store, f.study));
    study_end(&f);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT text, title, version FROM study", -1, &statement, NULL),
                     0);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal(sqlite3_column_text(statement, 0), text);
    assert_string_equal(sqlite3_column_text(statement, 1), "noted");
    assert_string_equal(sqlite3_column_text(statement, 2), TS_VERSION);
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    remove(path);
}

/* ---- Two databases compared ---- */

typedef struct {
    ts_arena *arena;
    ts_error err;
    ts_sweep_store *a, *b;
    ts_sweep_diff d;
} pair;

static void begin(pair *p) {
    *p = (pair){.arena = ts_arena_new()};
    p->a = ts_sweep_store_open(&p->err, p->arena, ":memory:", true);
    p->b = ts_sweep_store_open(&p->err, p->arena, ":memory:", true);
}

static void compare(pair *p, int column) {
    if (!ts_sweep_compare(&p->err, p->arena, p->a, p->b, column, &p->d)) fail_msg("%s", p->err.message);
}

static void end(pair *p) {
    ts_sweep_store_close(NULL, p->a);
    ts_sweep_store_close(NULL, p->b);
    ts_arena_free(p->arena);
}

static void differences(void **state) {
    (void)state;
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
        if (rows[i].was >= 0) put(p.a, key, rows[i].parameters, rows[i].before, rows[i].was);
        if (rows[i].is >= 0) put(p.b, rows[i].parameters, rows[i].parameters, rows[i].after, rows[i].is);
    }
    compare(&p, TS_SWEEP_MICROSECONDS_COLUMN);
    assert_int_equal(p.d.both, 5);
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
static void differences_of_few(void **state) {
    (void)state;
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
            if (rows[i].before[k]) put(p.a, keys[k], rows[i].before[k], TS_SWEEP_OK, rows[i].was);
            if (rows[i].after[k]) put(p.b, keys[k], rows[i].after[k], TS_SWEEP_OK, rows[i].is);
        }
        compare(&p, TS_SWEEP_MICROSECONDS_COLUMN);
        assert_int_equal(p.d.both, rows[i].both);
        assert_int_equal(p.d.only_before, rows[i].only_before);
        assert_int_equal(p.d.only_after, rows[i].only_after);
        assert_int_equal(p.d.change_count, rows[i].changes);
        assert_true(p.d.worst == rows[i].worst);
        end(&p);
    }
}

/* Two that got worse, the more so first, whichever comes first by name. */
static void worse_comes_first(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        pair p;
        begin(&p);
        for (int k = 0; k < 2; k++) {
            put(p.a, k ? "k1" : "k2", k ? "p" : "q", TS_SWEEP_OK, 1);
            put(p.b, k ? "k1" : "k2", k ? "p" : "q", TS_SWEEP_OK, k == first ? 3 : 2);
        }
        compare(&p, TS_SWEEP_MICROSECONDS_COLUMN);
        assert_string_equal(p.d.changes[0].parameters, first ? "p" : "q");
        assert_string_equal(p.d.changes[1].parameters, first ? "q" : "p");
        end(&p);
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
            if (x->key) put_of(p.a, x->version, x->key, "p", TS_SWEEP_OK, x->time);
            if (y->key) put_of(p.b, y->version, y->key, "p", TS_SWEEP_OK, y->time);
        }
        compare(&p, TS_SWEEP_MICROSECONDS_COLUMN);
        assert_true(p.d.both == 1 && p.d.only_before == 0 && p.d.only_after == 0 && p.d.change_count == 1);
        assert_int_equal(p.d.older, rows[i].older);
        assert_true(p.d.changes[0].before == rows[i].was && p.d.changes[0].after == rows[i].is);
        end(&p);
    }
}

/* What was 0 and is not is worse by any ratio; what has no number is not compared, but where its status differs. */
static void differences_from_nothing(void **state) {
    (void)state;
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

int main(void) {
    snprintf(path, sizeof path, "build/test_store.%d.db", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores),
        cmocka_unit_test(every_column_comes_back),
        cmocka_unit_test(files_that_are_none),
        cmocka_unit_test(files_that_are_empty),
        cmocka_unit_test(databases_of_others),
        cmocka_unit_test(files_of_older_versions),
        cmocka_unit_test(merged),
        cmocka_unit_test(no_store_is_merged_into_itself),
        cmocka_unit_test(damaged_while_open),
        cmocka_unit_test(statuses_that_are_unknown),
        cmocka_unit_test(a_short_log),
        cmocka_unit_test(studies_are_noted),
        cmocka_unit_test(differences),
        cmocka_unit_test(differences_of_few),
        cmocka_unit_test(worse_comes_first),
        cmocka_unit_test(differences_of_the_last),
        cmocka_unit_test(differences_from_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
