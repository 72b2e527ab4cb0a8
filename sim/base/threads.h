/* Work that several threads share. */
#ifndef TILESIM_BASE_THREADS_H
#define TILESIM_BASE_THREADS_H

#include "base/arena.h"
#include "base/error.h"

enum {
    TS_THREADS_MOST = 64,
    TS_THREADS_USUAL = 16 /* unless the user says more: each takes memory */
};

/* How many threads this host runs at once, up to the usual; 1 where it does not say. */
int ts_threads_of_host(void);

/* Calls `part` for each of the shares 0 .. threads-1, each in a thread, and returns when all are done. The
 * caller is the first; it does what a thread that cannot be started leaves. */
typedef void ts_threads_part(const void *context, int share, int threads);
void ts_threads_share(int threads, ts_threads_part *part, const void *context);

/* Of a number; what is in `scratch` is gone when it returns. */
typedef bool ts_threads_item(ts_error *err, ts_arena *scratch, void *self, int number);

/* Items 0 .. count-1, of which each thread takes the next. The error is that of the first item that has one,
 * as if one thread did all; of those behind it some are done. */
typedef struct {
    int threads, count;
    ts_threads_item *item;
    void *self;
    /* Told of each item, by one thread at a time, with `told`; NULL: nobody is. */
    void (*done)(void *told, int64_t done, int64_t of);
    void *told;
} ts_threads_list;
bool ts_threads_each(ts_error *err, const ts_threads_list *list);

#endif
