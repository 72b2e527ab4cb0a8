/* What is asked of a whole study: its table, its best points, what its results hang on, what became of them. */
#ifndef TILESIM_SWEEP_ANSWERS_H
#define TILESIM_SWEEP_ANSWERS_H

#include "sweep/sweep.h"
#include "sweep/table.h"

/* ---- From its beginning to its table, with processes of this host ---- */

typedef struct {
    ts_sweep_crew_request crew; /* with the study */
    const char *database;       /* NULL: none is kept */
    bool retry;
    void (*progress)(void *self, int64_t done, int64_t of, int64_t answered); /* as of ts_sweep_request */
    void *self;
} ts_sweep_answers_request;

typedef struct {
    ts_sweep_table table;
    ts_sweep_result result;
} ts_sweep_answers;

bool ts_sweep_answer_all(ts_error *err, ts_arena *arena, const ts_sweep_answers_request *request,
                         ts_sweep_answers *answers);

/* ---- The best points of a large grid without asking all of them: successive halving ---- */

/* All are asked at the least value of one parameter, which makes them cheap; the best part at the next; and so
 * on. */
typedef struct {
    const ts_sweep_request *sweep; /* without points */
    const char *least;             /* column: what is sought is its least */
    const char *budget; /* parameter of `vary`, whose values come in the order in which they are tried */
    int keep;           /* one in so many goes on: 2 or more */
} ts_sweep_tune_request;

/* At one value of the budget. */
typedef struct {
    const char *value;
    int64_t tried, kept; /* of the last: those with a result */
} ts_sweep_rung;

typedef struct {
    const ts_sweep_rung *rungs;
    int rung_count;
    int64_t candidates;     /* points at one value of the budget */
    ts_sweep_table table;   /* tried at the last value and ok, the best first; where none is, all */
    ts_sweep_result result; /* of all rungs */
} ts_sweep_tuned;

bool ts_sweep_tune(ts_error *err, ts_arena *arena, const ts_sweep_tune_request *request,
                   ts_sweep_tuned *tuned);

/* ---- Which figures of the machine its results hang on ---- */

/* A figure that is moved: at half and at twice what it is, as far as a point's machine can be so. */
typedef struct {
    const char *field, *value; /* value: of the first machine that can change it */
    int halved, doubled;       /* values of the axis "change"; 0: none */
} ts_sweep_moved;

typedef struct {
    const ts_sweep_study *study; /* each point without a change, and with each */
    const ts_sweep_moved *fields;
    int count;
} ts_sweep_changes;

/* All figures of the machines of all points. That of the first must be one: where it is not, its error is
 * this one's. */
bool ts_sweep_changes_make(ts_error *err, ts_arena *arena, const ts_sweep_study *study,
                           ts_sweep_changes *changes);

typedef struct {
    const ts_sweep_moved *moved;
    double elasticity;      /* d ln(column) / d ln(figure) between half and twice: 1: as much in per cent */
    double halved, doubled; /* what the column is then, times what it was: the geometric mean; 0: not known */
} ts_sweep_elasticity;

/* Of a table of such a study: [changes->count], the largest first. */
const ts_sweep_elasticity *ts_sweep_elasticities(ts_arena *arena, const ts_sweep_changes *changes,
                                                 const ts_sweep_table *table, int column);

/* ---- Two databases of it: what became of a column, point by point ---- */

/* A point that both have, and whose column or status differs. */
typedef struct {
    const char *parameters, *question, *machine;
    ts_sweep_status before_status, after_status;
    double before, after; /* NAN: it has none */
    double ratio;         /* after / before; 0: not known, or less than any; INFINITY: it was 0 */
} ts_sweep_change;

typedef struct {
    const char *column;
    int64_t both, only_before, only_after; /* points */
    int64_t measured;                      /* points of `both` that have the column on both sides */
    int64_t older;                         /* rows left out */
    int64_t change_count;
    const ts_sweep_change *changes; /* that got worse first: no longer ok, then by their ratio */
    double worst;                   /* largest ratio; 1: nothing is larger; INFINITY: something was 0 */
    int64_t broken;                 /* were ok, and are no longer */
} ts_sweep_diff;

/* column: number of a result; less is better. Points are the same when their parameters, their question and
 * their machine's name are. Of several rows of a point, as of several versions or of a program that changed,
 * that of the last version counts, and of those one that the other database lacks. */
bool ts_sweep_compare(ts_error *err, ts_arena *arena, ts_sweep_store *before, ts_sweep_store *after,
                      int column, ts_sweep_diff *diff);

#endif
