/* Databases of studies: what is kept. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "sweep/store.h"
#include "tests/support/study.h"
#include "tests/support/test.h"
#include "tilesim/version.h"

TEST_WITH_ARENA(stores) {
    ts_error err = {0};
    ts_sweep_row row;
    bool found;
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, ":memory:", TS_SWEEP_WRITE);
    assert_int_equal(ts_sweep_store_status(&err, store, "k1"), -1);
    study_put(store, "k1", "{}", TS_SWEEP_OK, 1.25);
    study_put(store, "k2", "{}", TS_SWEEP_TIMEOUT, 0);
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
    assert_int_equal(row.values[TS_SWEEP_MICROSECONDS_COLUMN].kind, TS_SWEEP_NONE); /* as k1 has one */
    assert_true(ts_sweep_store_get(&err, arena, store, "k3", &found, &row) && !found);
    study_put(store, "k2", "{}", TS_SWEEP_OK, 2);
    assert_int_equal(ts_sweep_store_status(&err, store, "k2"), TS_SWEEP_OK);
    assert_true(ts_sweep_store_close(&err, store));
    assert_true(ts_sweep_store_close(&err, NULL));
    assert_int_equal(err.kind, TS_ERROR_NONE);
}

/* A value in each column, whichever it is. */
TEST_WITH_ARENA(every_column_comes_back) {
    ts_error err = {0};
    ts_sweep_row row = {.status = TS_SWEEP_OK}, read;
    ts_sweep_identity identity = {
        .key = "k", .parameters = "{}", .question = "", .machine = "", .version = ""};
    bool found;
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, ":memory:", TS_SWEEP_WRITE);
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
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, TS_SWEEP_WRITE);
    if (!store) fail_msg("%s", err.message);
    study_put(store, "k1", "{}", TS_SWEEP_OK, 1.25);
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
TEST(files_that_are_none) {
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
        assert_null(ts_sweep_store_open(&err, arena, path, i % 2 ? TS_SWEEP_WRITE : TS_SWEEP_READ));
        if (i % 2 == 0) expect_error(&err, rows[i / 2].error);
        assert_true(ts_file_read(&err, arena, path, 1 << 20, &bytes, &length));
        assert_true(length == rows[i / 2].length && memcmp(bytes, rows[i / 2].bytes, length) == 0);
        ts_arena_free(arena);
    }
    remove(path);
}

/* It holds nothing to be read, and what is written stays. */
TEST(files_that_are_empty) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    write_file("", 0);
    assert_null(ts_sweep_store_open(&err, arena, path, TS_SWEEP_READ));
    expect_error(&err, "'%s' holds no study");
    err = (ts_error){0};
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, TS_SWEEP_WRITE);
    if (!store) fail_msg("%s", err.message);
    study_put(store, "k1", "{}", TS_SWEEP_OK, 1.25);
    assert_null(ts_sweep_store_open(&err, arena, path, TS_SWEEP_READ)); /* while it is written */
    expect_error(&err, "cannot read '%s': another process uses it");
    assert_true(ts_sweep_store_close(NULL, store));
    store = ts_sweep_store_open(&err, arena, path, TS_SWEEP_READ);
    assert_non_null(store);
    assert_int_equal(ts_sweep_store_status(&err, store, "k1"), TS_SWEEP_OK);
    ts_sweep_store_close(NULL, store);
    ts_arena_free(arena);
    remove(path);
}

TEST(databases_of_others) {
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
            assert_null(ts_sweep_store_open(&err, arena, path, writes ? TS_SWEEP_WRITE : TS_SWEEP_READ));
            expect_error(&err, rows[i].error);
            ts_arena_free(arena);
        }
    }
    remove(path);
}

/* A column that it lacks, the first or the last, is none when it is read, and is added when it is written. */
TEST(files_of_older_versions) {
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
        ts_sweep_store *store =
            ts_sweep_store_open(&err, arena, path, writes ? TS_SWEEP_WRITE : TS_SWEEP_READ);
        if (!store) fail_msg("%s", err.message);
        assert_true(ts_sweep_store_get(&err, arena, store, "k1", &found, &row) && found);
        assert_int_equal(row.values[columns[i % 2]].kind, TS_SWEEP_NONE);
        assert_true(row.values[TS_SWEEP_MICROSECONDS_COLUMN].real == 1.25);
        if (writes) study_put(store, "k1", "{}", TS_SWEEP_OK, 2.5);
        ts_sweep_store_close(NULL, store);
        if (writes) run_sql("UPDATE point SET cycles = 1, estimated = 1 WHERE microseconds = 2.5");
        ts_arena_free(arena);
    }
    remove(path);
}

/* A row that both have stays as it is; a store that cannot be merged leaves no trace. */
TEST_WITH_ARENA(merged) {
    ts_error err = {0};
    ts_sweep_row row;
    int64_t added = -1;
    bool found;
    make_file();
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, ":memory:", TS_SWEEP_WRITE);
    study_put(store, "k2", "{}", TS_SWEEP_OK, 2);
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
}

/* SQLite attaches no database whose texts are encoded otherwise; the store stays as it was. */
TEST_WITH_ARENA(texts_of_another_encoding_are_not_merged) {
    ts_error err = {0};
    int64_t added = -1;
    remove(path);
    run_sql("PRAGMA encoding = 'UTF-16'; PRAGMA application_id = 0x7473696d;"
            "CREATE TABLE study (text TEXT PRIMARY KEY, title TEXT, version TEXT);"
            "CREATE TABLE point (key TEXT PRIMARY KEY, parameters TEXT, question TEXT, machine TEXT,"
            "machine_hash TEXT, input_hash TEXT, version TEXT, status TEXT, error TEXT);"
            "INSERT INTO point (key, status) VALUES ('k1', 'ok')");
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, ":memory:", TS_SWEEP_WRITE);
    assert_false(ts_sweep_store_merge(&err, store, path, &added));
    assert_int_equal(err.kind, TS_ERROR_IO);
    assert_non_null(strstr(err.message, "must use the same text encoding"));
    char named[512];
    snprintf(named, sizeof named, "cannot merge '%s': ", path);
    assert_memory_equal(err.message, named, strlen(named)); /* not the store */
    assert_int_equal(ts_sweep_store_status(NULL, store, "k1"), -1);
    make_file();
    err = (ts_error){0};
    assert_true(ts_sweep_store_merge(&err, store, path, &added));
    assert_int_equal(added, 1);
    assert_true(ts_sweep_store_close(&err, store));
    remove(path);
}

TEST_WITH_ARENA(no_store_is_merged_into_itself) {
    ts_error err = {0};
    int64_t added = -1;
    make_file();
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, TS_SWEEP_WRITE);
    assert_false(ts_sweep_store_merge(&err, store, path, &added));
    assert_int_equal(err.kind, TS_ERROR_USAGE);
    char text[512];
    snprintf(text, sizeof text, "cannot merge '%s' into itself: '%s' is the same file", path, path);
    assert_string_equal(err.message, text);
    assert_true(ts_sweep_store_close(&err, store));
    remove(path);
}

/* It is larger than what is held of it, and all but its first page is overwritten while it is open. */
TEST_WITH_ARENA(damaged_while_open) {
    ts_error err = {0};
    ts_sweep_row row;
    bool found;
    static char garbage[6 << 20];
    make_file();
    run_sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) INSERT INTO point "
        "(key, status, parameters) SELECT printf('a%05d', i), 'ok', hex(zeroblob(300)) FROM n");
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, TS_SWEEP_WRITE);
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
}

/* What SQLite finds at the open is one line. */
TEST_WITH_ARENA(damaged_before) {
    ts_error err = {0};
    char begin[600];
    make_file();
    run_sql("CREATE TABLE more (a); CREATE TABLE most (a); PRAGMA writable_schema = 1; "
            "DELETE FROM sqlite_master WHERE name IN ('more', 'most')");
    assert_null(ts_sweep_store_open(&err, arena, path, TS_SWEEP_READ));
    snprintf(begin, sizeof begin, "'%s' is damaged: Page ", path);
    if (strncmp(err.message, begin, strlen(begin)) != 0 || strpbrk(err.message, "*?\n"))
        fail_msg("%s", err.message);
    remove(path);
}

/* Of another version, say. */
TEST_WITH_ARENA(statuses_that_are_unknown) {
    ts_error err = {0};
    ts_sweep_row row;
    bool found;
    make_file();
    run_sql("UPDATE point SET status = 'lost'");
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, TS_SWEEP_WRITE);
    assert_int_equal(ts_sweep_store_status(&err, store, "k1"), -1); /* it is asked again */
    assert_int_equal(err.kind, TS_ERROR_NONE);
    assert_false(ts_sweep_store_get(&err, arena, store, "k1", &found, &row));
    expect_error(&err, "'%s' is damaged: a point has no status");
    study_put(store, "k1", "{}", TS_SWEEP_OK, 1);
    assert_int_equal(ts_sweep_store_status(&err, store, "k1"), TS_SWEEP_OK);
    assert_true(ts_sweep_store_close(&err, store));
    remove(path);
}

/* Its log is written into it, and begun anew, when it has 4 MB (docs/sweep.md). */
TEST_WITH_ARENA(a_short_log) {
    char log[sizeof path + 4];
    ts_error err = {0};
    uint64_t bytes = 0;
    snprintf(log, sizeof log, "%s-wal", path);
    remove(path);
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, path, TS_SWEEP_WRITE);
    for (int i = 0; i < 1000; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i * 7919 % 1000);
        study_put(store, key, "{}", TS_SWEEP_OK, i + 1);
    }
    assert_true(ts_file_size(&err, log, &bytes));
    assert_in_range(bytes, 1 << 20, 2200 << 10);
    assert_true(ts_sweep_store_close(&err, store));
    assert_false(ts_file_size(NULL, log, &bytes));
    remove(path);
}

/* The text of a study, once, however often it is asked. */
TEST(studies_are_noted) {
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
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), text);
    assert_string_equal((const char *)sqlite3_column_text(statement, 1), "noted");
    assert_string_equal((const char *)sqlite3_column_text(statement, 2), TS_VERSION);
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    remove(path);
}

/* ---- Memory runs out ---- */

/* Of SQLite's calls the one that `countdown` reaches gets nothing. */
static int countdown;
static sqlite3_mem_methods usual;

static void *counted(int bytes) { return --countdown == 0 ? NULL : usual.xMalloc(bytes); }
static void *counted_more(void *old, int bytes) {
    return --countdown == 0 ? NULL : usual.xRealloc(old, bytes);
}

enum { RIGHT, SAID, WRONG, WHOLE }; /* what a process found; WHOLE: no call failed, and all was right */

void ts_out_of_memory(size_t bytes) {
    assert_true(bytes > 0);
    _exit(SAID);
}

/* One row, merged from the file or read from it. */
static int read_back(bool merges) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_sweep_row row;
    int64_t added = 0;
    bool found = false;
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, merges ? ":memory:" : path, TS_SWEEP_WRITE);
    if (!store || (merges && !ts_sweep_store_merge(&err, store, path, &added)) ||
        !ts_sweep_store_get(&err, arena, store, "k1", &found, &row))
        return err.kind == TS_ERROR_IO ? SAID : WRONG;
    int status = ts_sweep_store_status(&err, store, "k1");
    if (status < -1) return err.kind == TS_ERROR_IO ? SAID : WRONG;
    bool good = found && status == TS_SWEEP_OK && added == merges &&
                row.values[TS_COUNTER_CYCLES].integer == 7 &&
                row.values[TS_SWEEP_MICROSECONDS_COLUMN].real == 1.25 &&
                row.values[TS_SWEEP_LIMITER_COLUMN].kind == TS_SWEEP_TEXT &&
                strcmp(row.values[TS_SWEEP_LIMITER_COLUMN].text, "a 'quote'") == 0;
    return !good ? WRONG : countdown > 0 ? WHOLE : RIGHT;
}

/* In processes of their own: what they leave is gone with them. */
TEST(values_that_memory_lacked_are_not_none) {
    for (int merges = 0; merges < 2; merges++) {
        int found = SAID, calls = 0;
        make_file();
        for (; found != WHOLE; calls++) {
            int status;
            pid_t child = fork();
            if (child == 0) {
                countdown = calls + 1;
                _exit(read_back(merges));
            }
            assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
            found = WEXITSTATUS(status);
            if (found == WRONG) fail_msg("call %d, %s", calls, merges ? "merged" : "read");
        }
        assert_true(calls > 100);
    }
    remove(path);
}

int main(void) {
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual);
    sqlite3_mem_methods methods = usual;
    methods.xMalloc = counted;
    methods.xRealloc = counted_more;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    snprintf(path, sizeof path, "build/test_store.%d.db", (int)getpid());
    return run_all_tests(NULL, NULL);
}
