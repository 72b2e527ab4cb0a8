/* The results of studies in one SQLite file. A row is there whole or not at all, whenever the process is
 * killed. */
#ifndef TILESIM_SWEEP_STORE_H
#define TILESIM_SWEEP_STORE_H

#include "sweep/case.h"

typedef struct ts_sweep_store ts_sweep_store;

/* Opened for writing it is made where it is not there, and belongs to this process alone: another one is an
 * error, as is a file that is no such database, or damaged. NULL: an error. */
typedef enum { TS_SWEEP_READ, TS_SWEEP_WRITE } ts_sweep_access;
ts_sweep_store *ts_sweep_store_open(ts_error *err, ts_arena *arena, const char *path, ts_sweep_access access);
/* What was written is in one file then. NULL is fine. */
bool ts_sweep_store_close(ts_error *err, ts_sweep_store *store);

/* Notes the text of a study. */
bool ts_sweep_store_note(ts_error *err, ts_sweep_store *store, const ts_sweep_study *study);

/* Over a row of that key. It is safe from the death of this process when this returns, from that of the host
 * within a second. */
bool ts_sweep_store_put(ts_error *err, ts_sweep_store *store, const ts_sweep_identity *identity,
                        const ts_sweep_row *row);
/* *found: there is such a row. Its texts are in the arena. */
bool ts_sweep_store_get(ts_error *err, ts_arena *arena, ts_sweep_store *store, const char *key, bool *found,
                        ts_sweep_row *row);
/* The status of a key's row, without reading the row; -1: there is none, -2: an error. */
int ts_sweep_store_status(ts_error *err, ts_sweep_store *store, const char *key);

/* Rows of another file that are not there. *added: how many. */
bool ts_sweep_store_merge(ts_error *err, ts_sweep_store *store, const char *path, int64_t *added);

/* All rows in the order of their keys; `visit` returns false to end. */
typedef bool (*ts_sweep_visit)(ts_error *err, void *self, const ts_sweep_identity *identity,
                               const ts_sweep_row *row);
bool ts_sweep_store_each(ts_error *err, ts_sweep_store *store, ts_sweep_visit visit, void *self);

#endif
