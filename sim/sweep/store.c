/* Results in an SQLite file. In its write-ahead log every row is a transaction: what a process wrote before
 * it was killed is read by the next one. Once a second the log is forced to the disk, against the loss of
 * power. */
#include "sweep/store.h"

#include <sqlite3.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "tilesim/version.h"

enum { APPLICATION = 0x7473696d, SYNC_SECONDS = 1 }; /* "tsim" */

/* What a row has before its results. */
static const char *const fixed[] = {"key",        "parameters", "question", "machine", "machine_hash",
                                    "input_hash", "version",    "status",   "error"};
enum { KEY, PARAMETERS, QUESTION, MACHINE, MACHINE_HASH, INPUT_HASH, VERSION, STATUS, ERROR_TEXT, FIXED };

struct ts_sweep_store {
    sqlite3 *db;
    const char *path;
    ts_arena *arena;
    bool writes;
    sqlite3_stmt *put, *get, *status;
    time_t synced;
};

/* ---- Errors and short statements ---- */

static bool fail_with(ts_error *err, const ts_sweep_store *store, const char *verb, const char *path) {
    int code = store->db ? sqlite3_errcode(store->db) : SQLITE_NOMEM;
    const char *why = store->db ? sqlite3_errmsg(store->db) : "out of memory";
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) why = "another process uses it";
    if (code == SQLITE_NOTADB) why = "it is no database of tilesim sweep";
    if (code == SQLITE_CORRUPT) why = "it is damaged";
    return ts_error_set(err, TS_ERROR_IO, "cannot %s '%s': %s", verb, path, why);
}

static bool fail(ts_error *err, const ts_sweep_store *store, const char *verb) {
    return fail_with(err, store, verb, store->path);
}

static bool execute(ts_error *err, ts_sweep_store *store, const char *sql, const char *verb) {
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(err, store, verb);
}

/* What memory lacked is never taken for what is not there. */
static bool done(int code) {
    enum { PAGE_BYTES = 4096 }; /* SQLite's; it does not say what it lacked */
    if (code == SQLITE_NOMEM) ts_out_of_memory(PAGE_BYTES);
    return code == SQLITE_OK;
}

/* NULL: there is none. */
static const char *text_in(const ts_sweep_store *store, sqlite3_stmt *statement, int column) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    if (!text) done(sqlite3_errcode(store->db));
    return text;
}

/* The first column of a query's first row, as an integer and as text; no row is an error. */
static bool ask(ts_error *err, ts_sweep_store *store, const char *sql, int64_t *number, char text[128]) {
    sqlite3_stmt *statement = NULL;
    bool good = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_ROW;
    const char *found = good ? text_in(store, statement, 0) : NULL;
    *number = found ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_snprintf(128, text, "%s", found ? found : "");
    if (!good) fail(err, store, "read");
    sqlite3_finalize(statement);
    return good;
}

/* ---- Columns ---- */

static const char *kind_of(int column) {
    static const char *const kinds[] = {
        [TS_SWEEP_INTEGER] = "INTEGER", [TS_SWEEP_REAL] = "REAL", [TS_SWEEP_TEXT] = "TEXT"};
    return kinds[ts_sweep_column_get(column)->kind];
}

static bool has_column(ts_sweep_store *store, const char *schema, const char *name) {
    return done(
        sqlite3_table_column_metadata(store->db, schema, "point", name, NULL, NULL, NULL, NULL, NULL));
}

/* The names of all columns; of those that the table lacks, NULL where it is read. */
static void add_columns(ts_sweep_store *store, const char *schema, ts_text *sql) {
    for (int i = 0; i < FIXED; i++) ts_text_add(sql, "%s%s", i ? ", " : "", fixed[i]);
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++) {
        const char *name = ts_sweep_column_get(i)->name;
        ts_text_add(sql, has_column(store, schema, name) ? ", \"%s\"" : ", NULL AS \"%s\"", name);
    }
}

static bool make_tables(ts_error *err, ts_sweep_store *store) {
    ts_text sql = ts_text_begin(store->arena);
    ts_text_add(&sql,
                "BEGIN; PRAGMA application_id = %d; CREATE TABLE IF NOT EXISTS study (text TEXT PRIMARY KEY, "
                "title TEXT, version TEXT); CREATE TABLE IF NOT EXISTS point (key TEXT PRIMARY KEY",
                APPLICATION);
    for (int i = 1; i < FIXED; i++) ts_text_add(&sql, ", %s TEXT", fixed[i]);
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++)
        ts_text_add(&sql, ", \"%s\" %s", ts_sweep_column_get(i)->name, kind_of(i));
    ts_text_add(&sql, ") WITHOUT ROWID; COMMIT");
    return execute(err, store, sql.bytes, "write");
}

/* Of a file that an older version made. */
static bool widen_table(ts_error *err, ts_sweep_store *store) {
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++) {
        const char *name = ts_sweep_column_get(i)->name;
        if (has_column(store, "main", name)) continue;
        const char *sql =
            ts_text_format(store->arena, "ALTER TABLE point ADD COLUMN \"%s\" %s", name, kind_of(i));
        if (!execute(err, store, sql, "write")) return false;
    }
    return true;
}

/* ---- Opening ---- */

/* Of lines, the first that says something: those of a check have "*** in database main ***" above. */
static const char *first_fault(char text[128]) {
    char *at = text, *end;
    while (*at == '*' && (end = strchr(at, '\n')) != NULL) at = end + 1;
    at[strcspn(at, "\n")] = '\0';
    return at;
}

/* A file without tables is a new one. */
static bool check_file(ts_error *err, ts_sweep_store *store, bool *is_new) {
    int64_t number, tables;
    char text[128];
    if (!ask(err, store, "SELECT count(*) FROM sqlite_master", &tables, text) ||
        !ask(err, store, "PRAGMA application_id", &number, text))
        return false;
    *is_new = tables == 0 && number == 0;
    if (!*is_new && number != APPLICATION)
        return ts_error_set(err, TS_ERROR_INPUT, "'%s' is a database, but not one of tilesim sweep",
                            store->path);
    if (!ask(err, store, "PRAGMA quick_check(1)", &number, text)) return false;
    if (strcmp(text, "ok") != 0)
        return ts_error_set(err, TS_ERROR_IO, "'%s' is damaged: %s", store->path, first_fault(text));
    return *is_new || has_column(store, "main", "key") ||
           ts_error_set(err, TS_ERROR_IO, "'%s' is damaged: it has no table of points", store->path);
}

static bool prepare(ts_error *err, ts_sweep_store *store, const char *sql, sqlite3_stmt **statement) {
    return sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) == SQLITE_OK ||
           fail(err, store, "read");
}

static bool prepare_all(ts_error *err, ts_sweep_store *store) {
    ts_text get = ts_text_begin(store->arena);
    ts_text put = ts_text_begin(store->arena);
    ts_text_add(&get, "SELECT ");
    add_columns(store, "main", &get);
    ts_text_add(&get, " FROM point WHERE key = ?1");
    ts_text_add(&put, "INSERT OR REPLACE INTO point (");
    add_columns(store, "main", &put);
    ts_text_add(&put, ") VALUES (?1");
    for (int i = 2; i <= FIXED + TS_SWEEP_COLUMNS; i++) ts_text_add(&put, ", ?%d", i);
    ts_text_add(&put, ")");
    return prepare(err, store, get.bytes, &store->get) &&
           prepare(err, store, "SELECT status FROM point WHERE key = ?1", &store->status) &&
           (!store->writes || prepare(err, store, put.bytes, &store->put));
}

static bool begin(ts_error *err, ts_sweep_store *store) {
    bool is_new;
    if (store->writes && !execute(err, store, "PRAGMA locking_mode = EXCLUSIVE", "write")) return false;
    if (!check_file(err, store, &is_new)) return false;
    if (!store->writes)
        return !is_new ? prepare_all(err, store)
                       : ts_error_set(err, TS_ERROR_INPUT, "'%s' holds no study", store->path);
    return execute(err, store,
                   "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 512",
                   "write") &&
           make_tables(err, store) && widen_table(err, store) && prepare_all(err, store);
}

/* What is no database at all: short files SQLite would take as new ones, no name as one that is not kept. */
static bool check_beginning(ts_error *err, const ts_sweep_store *store) {
    static const char magic[] = "SQLite format 3";
    char begin[sizeof magic] = "";
    uint64_t bytes;
    if (!*store->path) return ts_error_set(err, TS_ERROR_INPUT, "a database has no name");
    if (!ts_file_size(NULL, store->path, &bytes) || bytes == 0) return true;
    bool read =
        ts_file_read_part(NULL, store->path, 0, bytes < sizeof magic ? (size_t)bytes : sizeof magic, begin);
    return !read || memcmp(begin, magic, sizeof magic) == 0 ||
           ts_error_set(err, TS_ERROR_INPUT, "'%s' is no database of tilesim sweep", store->path);
}

ts_sweep_store *ts_sweep_store_open(ts_error *err, ts_arena *arena, const char *path,
                                    ts_sweep_access access) {
    bool writes = access == TS_SWEEP_WRITE;
    ts_sweep_store *store = TS_NEW(arena, ts_sweep_store);
    int flags = writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
    *store = (ts_sweep_store){
        .path = ts_arena_copy_text(arena, path, strlen(path)), .arena = arena, .writes = writes};
    if (!check_beginning(err, store)) return NULL;
    if (sqlite3_open_v2(path, &store->db, flags, NULL) != SQLITE_OK)
        fail(err, store, "open");
    else if (begin(err, store))
        return store;
    ts_sweep_store_close(NULL, store);
    return NULL;
}

bool ts_sweep_store_close(ts_error *err, ts_sweep_store *store) {
    if (!store) return true;
    sqlite3_finalize(store->put);
    sqlite3_finalize(store->get);
    sqlite3_finalize(store->status);
    bool good = !store->writes || !err || execute(err, store, "PRAGMA journal_mode = DELETE", "write");
    sqlite3_close(store->db);
    return good;
}

/* ---- Rows ---- */

static void bind_text(sqlite3_stmt *statement, int at, const char *text) {
    done(sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC));
}

static void bind_value(sqlite3_stmt *statement, int at, const ts_sweep_value *value) {
    if (value->kind == TS_SWEEP_NONE) sqlite3_bind_null(statement, at);
    if (value->kind == TS_SWEEP_INTEGER) sqlite3_bind_int64(statement, at, value->integer);
    if (value->kind == TS_SWEEP_REAL) sqlite3_bind_double(statement, at, value->real);
    if (value->kind == TS_SWEEP_TEXT) bind_text(statement, at, value->text);
}

/* The transaction that follows is forced to the disk, with all before it. */
static void sync_sometimes(ts_sweep_store *store, bool *full) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *full = now.tv_sec >= store->synced + SYNC_SECONDS;
    if (!*full) return;
    store->synced = now.tv_sec;
    sqlite3_exec(store->db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
}

bool ts_sweep_store_put(ts_error *err, ts_sweep_store *store, const ts_sweep_identity *identity,
                        const ts_sweep_row *row) {
    const char *texts[FIXED] = {[KEY] = identity->key,
                                [PARAMETERS] = identity->parameters,
                                [QUESTION] = identity->question,
                                [MACHINE] = identity->machine,
                                [MACHINE_HASH] = identity->machine_hash,
                                [INPUT_HASH] = identity->input_hash,
                                [VERSION] = identity->version,
                                [STATUS] = ts_sweep_status_text(row->status),
                                [ERROR_TEXT] = row->err ? row->err->message : ""};
    bool full;
    for (int i = 0; i < FIXED; i++) bind_text(store->put, i + 1, texts[i]);
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++) bind_value(store->put, FIXED + i + 1, &row->values[i]);
    sync_sometimes(store, &full);
    bool good = sqlite3_step(store->put) == SQLITE_DONE || fail(err, store, "write");
    sqlite3_reset(store->put);
    if (full) sqlite3_exec(store->db, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
    return good;
}

bool ts_sweep_store_note(ts_error *err, ts_sweep_store *store, const ts_sweep_study *study) {
    sqlite3_stmt *statement = NULL;
    if (!prepare(err, store, "INSERT OR IGNORE INTO study VALUES (?1, ?2, ?3)", &statement)) return false;
    done(sqlite3_bind_text(statement, 1, study->source->text, (int)study->source->length, SQLITE_STATIC));
    bind_text(statement, 2, study->title);
    bind_text(statement, 3, TS_VERSION);
    bool good = sqlite3_step(statement) == SQLITE_DONE || fail(err, store, "write");
    sqlite3_finalize(statement);
    return good;
}

static const char *text_of(ts_arena *arena, const ts_sweep_store *store, sqlite3_stmt *statement,
                           int column) {
    const char *text = text_in(store, statement, column);
    return text ? ts_arena_copy_text(arena, text, strlen(text)) : "";
}

static int find_status(const char *text) {
    for (int i = 0; i < TS_SWEEP_STATUSES; i++)
        if (text && strcmp(text, ts_sweep_status_text((ts_sweep_status)i)) == 0) return i;
    return -1;
}

static bool read_row(ts_error *err, ts_arena *arena, ts_sweep_store *store, sqlite3_stmt *statement,
                     ts_sweep_row *row) {
    int status = find_status(text_in(store, statement, STATUS));
    if (status < 0)
        return ts_error_set(err, TS_ERROR_IO, "'%s' is damaged: a point has no status", store->path);
    const char *text = text_in(store, statement, ERROR_TEXT);
    ts_error why = {0};
    if (text && text[0]) ts_error_set(&why, TS_ERROR_INPUT, "%s", text);
    ts_sweep_row_error(arena, (ts_sweep_status)status, &why, row);
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++) {
        int type = sqlite3_column_type(statement, FIXED + i);
        if (type == SQLITE_INTEGER) ts_sweep_set_integer(row, i, sqlite3_column_int64(statement, FIXED + i));
        if (type == SQLITE_FLOAT) ts_sweep_set_real(row, i, sqlite3_column_double(statement, FIXED + i));
        if (type == SQLITE_TEXT) ts_sweep_set_text(row, i, text_of(arena, store, statement, FIXED + i));
    }
    return true;
}

bool ts_sweep_store_get(ts_error *err, ts_arena *arena, ts_sweep_store *store, const char *key, bool *found,
                        ts_sweep_row *row) {
    bind_text(store->get, 1, key);
    int step = sqlite3_step(store->get);
    *found = step == SQLITE_ROW;
    bool good = *found ? read_row(err, arena, store, store->get, row)
                       : step == SQLITE_DONE || fail(err, store, "read");
    sqlite3_reset(store->get);
    return good;
}

int ts_sweep_store_status(ts_error *err, ts_sweep_store *store, const char *key) {
    bind_text(store->status, 1, key);
    int step = sqlite3_step(store->status), status = -1;
    if (step == SQLITE_ROW) status = find_status(text_in(store, store->status, 0));
    if (step != SQLITE_ROW && step != SQLITE_DONE) status = fail(err, store, "read") - 2;
    sqlite3_reset(store->status);
    return status;
}

/* ---- Whole files ---- */

/* A database in memory has no name, or an empty one, which is no file's. */
static bool is_another(ts_error *err, const ts_sweep_store *store, const char *path) {
    const char *own = sqlite3_db_filename(store->db, "main");
    if (!own || !ts_file_same(store->arena, own, path)) return true;
    return ts_error_set(err, TS_ERROR_USAGE, "cannot merge '%s' into itself: '%s' is the same file", path,
                        store->path);
}

bool ts_sweep_store_merge(ts_error *err, ts_sweep_store *store, const char *path, int64_t *added) {
    if (!is_another(err, store, path)) return false;
    ts_sweep_store *other = ts_sweep_store_open(err, store->arena, path, TS_SWEEP_READ);
    if (!other) return false;
    ts_sweep_store_close(NULL, other); /* it is one */
    char *attach = sqlite3_mprintf("ATTACH %Q AS other", path);
    bool good = done(attach ? SQLITE_OK : SQLITE_NOMEM) &&
                sqlite3_exec(store->db, attach, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_free(attach);
    if (!good) return fail_with(err, store, "merge", path);
    ts_text sql = ts_text_begin(store->arena);
    ts_text_add(&sql, "INSERT OR IGNORE INTO main.point (");
    add_columns(store, "main", &sql);
    ts_text_add(&sql, ") SELECT ");
    add_columns(store, "other", &sql);
    ts_text_add(&sql, " FROM other.point");
    good = execute(err, store, sql.bytes, "merge");
    *added = good ? sqlite3_changes64(store->db) : 0;
    good = good && execute(err, store, "INSERT OR IGNORE INTO main.study SELECT * FROM other.study", "merge");
    return execute(good ? err : NULL, store, "DETACH other", "close") && good;
}

static bool visit_row(ts_error *err, ts_sweep_store *store, sqlite3_stmt *statement, ts_sweep_visit visit,
                      void *self) {
    ts_arena *scratch = ts_arena_new();
    ts_sweep_row row;
    ts_sweep_identity identity = {.parameters = text_of(scratch, store, statement, PARAMETERS),
                                  .question = text_of(scratch, store, statement, QUESTION),
                                  .machine = text_of(scratch, store, statement, MACHINE),
                                  .version = text_of(scratch, store, statement, VERSION)};
    sqlite3_snprintf(sizeof identity.key, identity.key, "%s", text_of(scratch, store, statement, KEY));
    bool good = read_row(err, scratch, store, statement, &row) && visit(err, self, &identity, &row);
    ts_arena_free(scratch);
    return good;
}

bool ts_sweep_store_each(ts_error *err, ts_sweep_store *store, ts_sweep_visit visit, void *self) {
    sqlite3_stmt *statement = NULL;
    ts_text sql = ts_text_begin(store->arena);
    ts_text_add(&sql, "SELECT ");
    add_columns(store, "main", &sql);
    ts_text_add(&sql, " FROM point ORDER BY key");
    bool good = prepare(err, store, sql.bytes, &statement);
    int step = SQLITE_DONE;
    while (good && (step = sqlite3_step(statement)) == SQLITE_ROW)
        good = visit_row(err, store, statement, visit, self);
    if (good && step != SQLITE_DONE) good = fail(err, store, "read");
    sqlite3_finalize(statement);
    return good;
}
