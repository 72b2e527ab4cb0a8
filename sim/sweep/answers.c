/* A study from its beginning to its table. */
#include "sweep/answers.h"

static bool answer(ts_error *err, ts_arena *arena, const ts_sweep_answers_request *request,
                   ts_sweep_store *store, ts_sweep_answers *answers) {
    const ts_sweep_table_request read = {.study = request->crew.study, .store = store};
    ts_sweep_crew crew;
    ts_sweep_request all = {.study = request->crew.study,
                            .store = store,
                            .crew = &crew,
                            .retry = request->retry,
                            .progress = request->progress,
                            .self = request->self};
    if (!ts_sweep_processes(err, arena, &request->crew, &crew)) return false;
    bool good = ts_sweep(err, arena, &all, &answers->result);
    crew.dismiss(crew.self);
    return good && ts_sweep_table_read(err, arena, &read, &answers->table);
}

bool ts_sweep_answer_all(ts_error *err, ts_arena *arena, const ts_sweep_answers_request *request,
                         ts_sweep_answers *answers) {
    ts_sweep_store *store =
        ts_sweep_store_open(err, arena, request->database ? request->database : ":memory:", TS_SWEEP_WRITE);
    bool good = store && answer(err, arena, request, store, answers);
    return ts_sweep_store_close(good ? err : NULL, store) && good;
}
