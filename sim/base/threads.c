/* Work that several threads share. */
#include "base/threads.h"

#include <pthread.h>
#include <unistd.h>

#include "base/number.h"

static int some_of(int64_t count) { return (int)ts_max(1, ts_min(count, TS_THREADS_MOST)); }

int ts_threads_of_host(void) { return some_of(ts_min(sysconf(_SC_NPROCESSORS_ONLN), TS_THREADS_USUAL)); }

typedef struct {
    ts_threads_part *part;
    const void *context;
    int share, threads;
    pthread_t thread;
    bool started;
} worker;

static void *begin_worker(void *context) {
    const worker *w = context;
    w->part(w->context, w->share, w->threads);
    return NULL;
}

void ts_threads_share(int threads, ts_threads_part *part, const void *context) {
    worker workers[TS_THREADS_MOST];
    threads = some_of(threads);
    for (int i = 0; i < threads; i++) {
        worker *w = &workers[i];
        *w = (worker){.part = part, .context = context, .share = i, .threads = threads};
        w->started = i > 0 && pthread_create(&w->thread, NULL, begin_worker, w) == 0;
    }
    for (int i = 0; i < threads; i++)
        if (!workers[i].started) begin_worker(&workers[i]);
    for (int i = 1; i < threads; i++)
        if (workers[i].started) pthread_join(workers[i].thread, NULL);
}

/* ---- Items ---- */

typedef struct {
    const ts_threads_list *list;
    pthread_mutex_t lock; /* of what follows */
    int next, done;
    int end; /* of those to do: the first that failed */
    ts_error err;
} queue;

/* The next item; -1: there is none. */
static int take(queue *q) {
    pthread_mutex_lock(&q->lock);
    int number = q->next < q->end ? q->next++ : -1;
    pthread_mutex_unlock(&q->lock);
    return number;
}

static void give_back(queue *q, int number, bool good, const ts_error *err) {
    const ts_threads_list *list = q->list;
    pthread_mutex_lock(&q->lock);
    if (!good && number < q->end) {
        q->end = number;
        q->err = *err;
    }
    q->done++;
    if (list->done) list->done(list->told, q->done, list->count);
    pthread_mutex_unlock(&q->lock);
}

static void work(const void *context, int share, int threads) {
    queue *q = *(queue *const *)context;
    ts_arena *scratch = ts_arena_new();
    (void)share, (void)threads;
    for (int number; (number = take(q)) >= 0; ts_arena_reset(scratch)) {
        ts_error err = {0};
        bool good = q->list->item(&err, scratch, q->list->self, number);
        give_back(q, number, good, &err);
    }
    ts_arena_free(scratch);
}

bool ts_threads_each(ts_error *err, const ts_threads_list *list) {
    queue q = {.list = list, .lock = PTHREAD_MUTEX_INITIALIZER, .end = list->count}, *shared = &q;
    ts_threads_share((int)ts_min(list->threads, list->count), work, &shared);
    pthread_mutex_destroy(&q.lock);
    if (q.end < list->count && err) *err = q.err;
    return q.end == list->count;
}
