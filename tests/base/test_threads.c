/* Items that threads share: each once, and errors as if one thread did all. */
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "tests/support/test.h"

enum { ITEMS = 500 };

typedef struct {
    int times[ITEMS];
    int failing[3]; /* items */
    bool waits;     /* the first until another is done */
    pthread_mutex_t lock;
    int done;
} work;

static bool is_failing(const work *w, int number) {
    for (int i = 0; i < 3; i++)
        if (w->failing[i] == number) return true;
    return false;
}

static int count_done(work *w, int more) {
    pthread_mutex_lock(&w->lock);
    int done = w->done += more;
    pthread_mutex_unlock(&w->lock);
    return done;
}

static bool do_item(ts_error *err, ts_arena *scratch, void *self, int number) {
    work *w = self;
    char *text = ts_arena_alloc(scratch, 100, 1);
    while (w->waits && number == 0 && count_done(w, 0) == 0) sched_yield();
    w->times[number]++;
    count_done(w, 1);
    snprintf(text, 100, "item %d", number);
    return !is_failing(w, number) || ts_error_set(err, TS_ERROR_INPUT, "%s", text);
}

typedef struct {
    int64_t calls, done, of;
} progress;

static void note(void *self, int64_t done, int64_t of) {
    progress *p = self;
    p->calls++;
    p->done = done;
    p->of = of;
}

TEST(each_is_done_once) {
    const int threads[] = {0, 1, 2, 7, TS_THREADS_MOST, 1000};
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        work w = {.failing = {-1, -1, -1}, .lock = PTHREAD_MUTEX_INITIALIZER};
        progress p = {0};
        ts_error err = {0};
        assert_true(ts_threads_each(&err, &(ts_threads_list){threads[i], ITEMS, do_item, &w, note, &p}));
        for (int k = 0; k < ITEMS; k++) assert_int_equal(w.times[k], 1);
        assert_true(p.calls == ITEMS && p.done == ITEMS && p.of == ITEMS);
    }
}

TEST(nothing_is_no_item) {
    work w = {.failing = {-1, -1, -1}, .lock = PTHREAD_MUTEX_INITIALIZER};
    assert_true(ts_threads_each(NULL, &(ts_threads_list){4, 0, do_item, &w, NULL, NULL}));
    assert_int_equal(w.done, 0);
}

/* Also where one behind it failed before. */
TEST(the_error_is_that_of_the_first) {
    for (int threads = 1; threads <= 4; threads++) {
        work w = {.failing = {0, 1, 40}, .lock = PTHREAD_MUTEX_INITIALIZER, .waits = threads > 1};
        ts_error err = {0};
        assert_false(ts_threads_each(&err, &(ts_threads_list){threads, ITEMS, do_item, &w, NULL, NULL}));
        assert_string_equal(err.message, "item 0");
        assert_true(threads > 1 || w.done == 1);
        assert_true(w.done < ITEMS);
    }
}

/* Those before it are done whatever fails. */
TEST(what_is_before_an_error_is_done) {
    for (int threads = 1; threads <= 4; threads++) {
        work w = {.failing = {40, 41, 300}, .lock = PTHREAD_MUTEX_INITIALIZER};
        ts_error err = {0};
        assert_false(ts_threads_each(&err, &(ts_threads_list){threads, ITEMS, do_item, &w, NULL, NULL}));
        assert_string_equal(err.message, "item 40");
        for (int k = 0; k <= 40; k++) assert_int_equal(w.times[k], 1);
        assert_false(ts_threads_each(NULL, &(ts_threads_list){threads, ITEMS, do_item, &w, NULL, NULL}));
    }
}

typedef struct {
    pthread_mutex_t lock;
    int times[TS_THREADS_MOST + 1], threads;
} shares;

static void note_share(const void *context, int share, int threads) {
    shares *s = *(shares *const *)context;
    pthread_mutex_lock(&s->lock);
    assert_in_range(share, 0, TS_THREADS_MOST - 1);
    s->times[share]++;
    s->threads += threads;
    pthread_mutex_unlock(&s->lock);
}

TEST(each_share_has_a_thread) {
    const int asked[] = {-1, 0, 1, 2, 5, TS_THREADS_MOST, TS_THREADS_MOST + 1};
    const int made[] = {1, 1, 1, 2, 5, TS_THREADS_MOST, TS_THREADS_MOST};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        shares s = {.lock = PTHREAD_MUTEX_INITIALIZER}, *context = &s;
        ts_threads_share(asked[i], note_share, &context);
        assert_int_equal(s.threads, made[i] * made[i]);
        for (int k = 0; k <= TS_THREADS_MOST; k++) assert_int_equal(s.times[k], k < made[i]);
    }
}

TEST(a_host_has_threads) { assert_in_range(ts_threads_of_host(), 1, TS_THREADS_USUAL); }
