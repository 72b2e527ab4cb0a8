/* Studies. */
#include "report/sweep.h"

#include <limits.h>
#include <string.h>

#include "api_private.h"

struct ts_study {
    ts_sweep_table table;
    ts_sweep_result result;
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
    return ts_sweep_study_parse(err, arena, source, "");
}

static bool answer(ts_error *err, ts_arena *arena, const ts_study_request *from, ts_sweep_request *request,
                   ts_study *study) {
    const ts_sweep_crew_request workers = {request->study, from->workers ? from->workers : 1,
                                           from->timeout_seconds};
    const ts_sweep_table_request read = {.study = request->study, .store = request->store};
    ts_sweep_crew crew;
    if (!ts_sweep_processes(err, arena, &workers, &crew)) return false;
    request->crew = &crew;
    bool good = ts_sweep(err, arena, request, &study->result);
    crew.dismiss(crew.self);
    return good && ts_sweep_table_read(err, arena, &read, &study->table);
}

static bool make(ts_error *err, ts_arena *arena, const ts_study_request *from, ts_study *study) {
    ts_sweep_request request = {.study = read_study(err, arena, from), .retry = from->retry != 0};
    const char *database = from->database ? from->database : ":memory:";
    if (!request.study) return false;
    request.store = ts_sweep_store_open(err, arena, database, true);
    bool good = request.store && answer(err, arena, from, &request, study);
    study->view = (ts_sweep_view){.table = &study->table,
                                  .result = &study->result,
                                  .study = request.study->source->name,
                                  .database = ts_arena_copy_text(arena, database, strlen(database)),
                                  .rows = INT_MAX};
    return ts_sweep_store_close(good ? err : NULL, request.store) && good;
}

const ts_study *ts_study_answer(ts_error *err, ts_arena *arena, const ts_study_request *request) {
    ts_study_request own;
    ts_study *study = TS_NEW(arena, ts_study);
    bool good =
        api_read_request(err, "ts_study_request", request, &own, sizeof own) && make(err, arena, &own, study);
    return good ? study : NULL;
}

int64_t ts_study_points(const ts_study *study) { return study->result.points; }
int64_t ts_study_answered(const ts_study *study) { return study->result.answered; }

static const char *print_study(ts_arena *arena, const ts_study *study,
                               void (*add)(const ts_sweep_view *, ts_text *)) {
    ts_text text;
    ts_text_init(&text, arena);
    add(&study->view, &text);
    return text.bytes;
}

const char *ts_study_csv(ts_arena *arena, const ts_study *study) {
    return print_study(arena, study, ts_report_sweep_csv);
}
const char *ts_study_json(ts_arena *arena, const ts_study *study) {
    return print_study(arena, study, ts_report_sweep_json);
}
