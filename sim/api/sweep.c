/* Studies. */
#include "report/sweep.h"

#include <limits.h>
#include <string.h>

#include "api_private.h"
#include "sweep/answers.h"

struct ts_study {
    ts_sweep_answers answers;
    ts_sweep_view view;
};

static const ts_sweep_study *read_study(ts_error *err, ts_arena *arena, const ts_study_request *from) {
    if (!from->file == !from->text) {
        ts_error_set(err, TS_ERROR_USAGE, "a study is a file or a text");
        return NULL;
    }
    if (from->file) return ts_sweep_study_load(err, arena, from->file);
    ts_source *source = TS_NEW(arena, ts_source);
    *source = api_source("study", ts_arena_copy_text(arena, from->text, strlen(from->text)));
    const ts_sweep_study *study = ts_sweep_study_parse(err, arena, source, "");
    return study && ts_sweep_study_check(err, arena, study) ? study : NULL;
}

static bool make(ts_error *err, ts_arena *arena, const ts_study_request *from, ts_study *study) {
    if (!(from->timeout_seconds >= 0))
        return ts_error_set(err, TS_ERROR_USAGE, "timeout_seconds is %g, expected 0 (none) or more",
                            from->timeout_seconds);
    if (from->retry && !from->database)
        return ts_error_set(err, TS_ERROR_USAGE,
                            "retry is of points that are in a database, expected one as well");
    const ts_sweep_study *read = read_study(err, arena, from);
    const char *database = from->database ? from->database : ":memory:";
    const ts_sweep_answers_request request = {.crew = {read, from->workers ? from->workers : 1,
                                                       from->timeout_seconds, from->stopped, from->context},
                                              .database = database,
                                              .retry = from->retry != 0};
    if (!read || !ts_sweep_answer_all(err, arena, &request, &study->answers)) return false;
    study->view = (ts_sweep_view){.table = &study->answers.table,
                                  .result = &study->answers.result,
                                  .study = read->source->name,
                                  .database = ts_arena_copy_text(arena, database, strlen(database)),
                                  .rows = INT_MAX};
    return true;
}

const ts_study *ts_study_answer(ts_error *err, ts_arena *arena, const ts_study_request *request) {
    API_C_LOCALE;
    ts_study_request own;
    ts_study *study = TS_NEW(arena, ts_study);
    bool good =
        api_read_request(err, "ts_study_request", request, &own, sizeof own) && make(err, arena, &own, study);
    return good ? study : NULL;
}

int64_t ts_study_points(const ts_study *study) { return study->answers.result.points; }
int64_t ts_study_answered(const ts_study *study) { return study->answers.result.answered; }

API_TEXT(ts_study_csv, ts_study, ts_report_sweep_csv(&self->view, &text))
API_TEXT(ts_study_json, ts_study, ts_report_sweep_json(&self->view, &text))
