/* Programs run for their time alone, each once. */
#include "study/timed.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "run/run.h"

/* ---- The program ---- */

void ts_timed_define(ts_timed_program *p, const char *name, int64_t value) {
    char *text = ts_arena_alloc(p->arena, 24, 1);
    snprintf(text, 24, "%lld", (long long)value);
    int i = 0;
    while (i < p->count && strcmp(p->defines[i].name, name) != 0) i++;
    p->defines[i] = (ts_define){name, text};
    p->count += i == p->count;
}

void ts_timed_add_defines(const ts_timed_program *p, ts_text *text) {
    for (int i = 0; i < p->count; i++)
        ts_text_add(text, "%s-D %s=%s", text->length > 0 ? " " : "", p->defines[i].name, p->defines[i].value);
}

/* ---- Its runs ---- */

typedef struct known_run {
    const char *what;
    ts_timed_run run;
    struct known_run *next;
} known_run;

struct ts_timed_runs {
    pthread_mutex_t lock;
    ts_arena *arena;
    known_run *first;
    ts_interrupt *interrupt;
};

ts_timed_runs *ts_timed_runs_new(ts_arena *arena) {
    ts_timed_runs *runs = TS_NEW(arena, ts_timed_runs);
    *runs = (ts_timed_runs){PTHREAD_MUTEX_INITIALIZER, arena, NULL, NULL};
    return runs;
}

void ts_timed_runs_set_interrupt(ts_timed_runs *runs, ts_interrupt *interrupt) {
    runs->interrupt = interrupt;
}

const char *ts_timed_runs_text(ts_timed_runs *runs, const char *text) {
    pthread_mutex_lock(&runs->lock);
    const char *copy = ts_arena_copy_text(runs->arena, text, strlen(text));
    pthread_mutex_unlock(&runs->lock);
    return copy;
}

/* The machine, what a device or a load of it differs in, the program and its parameters. */
static const char *name_of(const ts_timed_program *p) {
    const ts_machine *m = p->machine;
    ts_text text = ts_text_begin(p->arena);
    ts_text_add(&text, "%llx %d %d %lld %s %d %d %d", (unsigned long long)m->hash, (int)m->hbm.stacks,
                (int)m->hbm.channels, (long long)m->chip.sustained_khz, p->program, p->exact, p->paced,
                p->channel_share);
    ts_timed_add_defines(p, &text);
    return text.bytes;
}

static const ts_timed_run *keep(ts_timed_runs *runs, const char *name, const ts_timed_run *run) {
    pthread_mutex_lock(&runs->lock);
    known_run *new = TS_NEW(runs->arena, known_run);
    *new = (known_run){ts_arena_copy_text(runs->arena, name, strlen(name)), *run, runs->first};
    runs->first = new;
    pthread_mutex_unlock(&runs->lock);
    return &new->run;
}

/* ---- Their pace ---- */

typedef struct {
    ts_arena *arena;
    int64_t *cycles; /* of completions */
    int64_t count;
} completions;

static void add_completion(void *self, const ts_in_flight *transfer, const ts_dma_result *result) {
    completions *c = self;
    (void)transfer;
    *TS_APPEND(c->arena, c->cycles, c->count) = result->completed_cycle;
}

/* Neither of the first quarter, until queues have settled, nor of the last eighth, when little is read. */
static double pace_of(const completions *c) {
    int64_t from = c->count / 4, to = c->count - c->count / 8, n = to - from;
    double middle = (double)(from + to - 1) / 2, sum = 0;
    if (n < 2) return 0;
    for (int64_t i = from; i < to; i++)
        sum += ((double)i - middle) * (double)(c->cycles[i] - c->cycles[from]);
    return sum * 12 / ((double)n * ((double)n * (double)n - 1));
}

/* Whole, or over a limit that is no lower. */
static const ts_timed_run *find(const ts_timed_program *p, const char *name) {
    const known_run *r;
    pthread_mutex_lock(&p->runs->lock);
    for (r = p->runs->first; r; r = r->next) {
        bool answers = !r->run.is_over || (p->limit > 0 && p->limit <= r->run.chip.cycles);
        if (answers && strcmp(r->what, name) == 0) break;
    }
    pthread_mutex_unlock(&p->runs->lock);
    return r ? &r->run : NULL;
}

static const int64_t LONGEST = INT64_C(1) << 50;

/* Makes it now. One that ends at its limit is a run, too. */
static bool run_now(ts_error *err, ts_arena *scratch, const ts_timed_program *p, ts_timed_run *run) {
    completions completed = {.arena = scratch};
    const ts_chip_observer observer = {.self = &completed, .transferred = add_completion};
    ts_run_request request = {.program = p->program,
                              .observer = p->paced ? &observer : NULL,
                              .machine = p->machine,
                              .defines = p->defines,
                              .define_count = p->count,
                              .time_only = true,
                              .exact = p->exact,
                              .channel_share = p->channel_share,
                              .interrupt = p->runs->interrupt,
                              .max_cycles = p->limit > 0 ? p->limit : LONGEST};
    ts_run_result result = {0};
    ts_error own = {0};
    bool good = ts_run(&own, scratch, &request, &result),
         is_over = !good && p->limit > 0 && own.kind == TS_ERROR_FAULT && own.cycle >= p->limit;
    *run = is_over ? (ts_timed_run){.chip.cycles = p->limit, .is_over = true}
                   : (ts_timed_run){.chip = result.chip, .pace = pace_of(&completed)};
    own.next = NULL; /* others of its text are in scratch */
    if (!good && !is_over && err) *err = own;
    return good || is_over;
}

const ts_timed_run *ts_timed_run_get(ts_error *err, const ts_timed_program *p) {
    const char *name = name_of(p);
    const ts_timed_run *known = find(p, name);
    ts_timed_run run;
    if (known) return known;
    ts_arena *scratch = ts_arena_new();
    if (run_now(err, scratch, p, &run)) known = keep(p->runs, name, &run);
    ts_arena_free(scratch);
    return known;
}
