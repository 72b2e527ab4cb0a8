/* Private to traffic.c and periods.c: what is kept of transfers, and of busy periods. */
#ifndef TILESIM_CHIP_TRAFFIC_STATE_H
#define TILESIM_CHIP_TRAFFIC_STATE_H

#include "traffic.h"
#include "passed.h"
#include "shapes.h"

/* What has happened in a busy period, the latest first; and what came next whenever it had. */
typedef struct step {
    struct step *sibling; /* another start after the same */
    struct step *starts;  /* of transfers, before any other is complete */
    struct step *done;    /* the next completion when none starts before it; NULL: not known */
    int64_t after;        /* cycles since the step before; of the first: the phase */
    int64_t quiet;        /* cycles after it in which no transfer is complete: the last of `starts` */
    const shape *shape;   /* of a start; NULL: a completion */
    int member;           /* of a completion: which transfer of the busy period */
    ts_dma_result result;
    ts_hbm_stats *hbm; /* of the whole busy period, when it ends here */
    bool ends;         /* of the first: a busy period has come to its end, all steps of which are kept */
} step;

typedef struct record {
    struct record *next; /* in order of issue */
    ts_arena *arena;     /* of its plan */
    ts_dma_transfer what;
    int layouts;          /* see traffic_start */
    int64_t number;       /* of all that were started: the tag of what is simulated */
    int member;           /* of the busy period */
    int64_t issued, done; /* done INT64_MAX: not known yet */
    ts_dma_result result;
    bool over;
} record;

/* What has come over links. */
typedef struct arrival {
    struct arrival *next;
    ts_dma_result result;
} arrival;

enum { PERIOD_BUCKETS = 1 << 10 };

struct traffic {
    ts_arena *arena;
    const ts_dma_machine *machine;
    chip_engine *engine; /* NULL: nothing was started yet */
    chip_engine_setup setup;
    bool exact;
    bool recalls; /* this busy period is recalled so far: the engine knows nothing of it */
    int64_t simulated_bytes, simulated_most, started;
    int64_t least;        /* the engine has been here */
    record *first, *free; /* first: of the busy period, while its steps are kept; else those under way */
    record *next;         /* for the next start */
    int under_way;
    int expected;  /* that has not come */
    arrival *came; /* that the engine has completed, by cycle */
    arrival *unused;
    passed passed;  /* of what comes */
    step *root;     /* the first of the busy period */
    step *at;       /* the latest; NULL: they are no longer kept */
    int steps;      /* that the busy period has added */
    int64_t latest; /* the cycle of the last start or completion */
    shapes shapes;
    step *periods[PERIOD_BUCKETS]; /* by the first start */
    int64_t interval;              /* of refreshes of all banks; 0: none */
    int64_t interval_bytes;        /* that the HBM moves in it at its peak */
    ts_hbm_stats stats;            /* at the beginning of the busy period, if it is simulated */
    ts_hbm_stats past;             /* of what was recalled */
    int64_t recalled;
    int64_t skipped;     /* cycles that the engine does not know of (traffic_repeat) */
    ts_hbm_stats marked; /* counts when it was marked */
    int64_t marked_recalled;
};

/* The engine's cycle, and back. */
static inline int64_t to_engine(const traffic *t, int64_t cycle) {
    return cycle == INT64_MAX ? cycle : cycle - t->skipped;
}
static inline int64_t of_engine(const traffic *t, int64_t cycle) {
    return cycle == INT64_MAX ? cycle : cycle + t->skipped;
}

/* Busy periods: from a start with nothing under way until nothing is under way again. */
void period_begin(traffic *t, const ts_dma_transfer *what, int layouts, int64_t cycle); /* its first start */
void period_go_on(traffic *t, const ts_dma_transfer *what, int layouts, int64_t cycle); /* another one */
void period_note_done(traffic *t, const record *r);
void period_end(traffic *t);
void period_simulate(traffic *t, record *r); /* gives it to the engine */
/* The engine, which is idle, is given what has been started before `now`. */
void period_catch_up(traffic *t, int64_t now);
/* Takes off what the engine has completed. It ends at `least` at the earliest; if it was recalled to have
 * ended, that stands. */
void period_take(traffic *t, int64_t least);
int64_t period_bytes(const ts_dma_transfer *what); /* that its plan moves in the HBM */

#endif
