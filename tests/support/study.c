/* Studies for tests: set up, and answered in this process. */
#include "tests/support/study.h"

#include <math.h>
#include <string.h>

#include "tests/support/test.h"

const ts_error study_why = {.kind = TS_ERROR_INPUT, .message = "why"};

static bool hand(ts_error *err, void *self, int member, int64_t index) {
    fake_crew *f = self;
    int own = 0;
    for (int i = 0; i < f->count; i++) {
        own += f->members[i] == member;
        assert_true(f->members[i] != member || f->points[i] != f->alone);
    }
    if (f->fault == HANDS_NOTHING && f->count > 0) return ts_error_set(err, TS_ERROR_IO, "no hand");
    assert_true(own < STUDY_AHEAD && member >= 0 && member < STUDY_MEMBERS);
    f->points[f->count] = index;
    f->members[f->count++] = member;
    if (f->asked < STUDY_ORDER) f->order[f->asked] = index;
    f->asked++;
    f->queue = own;
    if (f->count > f->most) f->most = f->count;
    return true;
}

static bool wait_for_one(ts_error *err, void *self, ts_sweep_reply *reply) {
    fake_crew *f = self;
    ts_sweep_row row = {0};
    ts_sweep_point point;
    ts_text out;
    assert_true(f->count > 0);
    reply->member = f->members[--f->count];
    reply->index = f->points[f->count];
    ts_sweep_point_get(f->arena, f->study, reply->index, &point);
    double time = f->time(&point);
    if (isnan(time) || time < 0) row.status = isnan(time) ? TS_SWEEP_ERROR : TS_SWEEP_CRASH;
    if (row.status != TS_SWEEP_OK) row.err = &study_why;
    if (row.status == TS_SWEEP_OK) ts_sweep_set_real(&row, TS_SWEEP_MICROSECONDS_COLUMN, time);
    if (row.status == TS_SWEEP_OK && f->counts)
        ts_sweep_set_integer(&row, TS_COUNTER_CYCLES, (int64_t)(10 * time));
    out = ts_text_begin(f->arena);
    ts_sweep_row_pack(&out, &row);
    reply->bytes = out.bytes;
    reply->length = f->fault == ANSWERS_HALF ? out.length / 2 : out.length;
    if (f->fault == ANSWERS_ANOTHER) reply->index = 1000;
    if (f->fault == ANSWERS_NONE) reply->index = -1;
    return f->fault != ANSWERS_NOTHING || ts_error_set(err, TS_ERROR_IO, "no answer");
}

static void dismiss(void *self) { (void)self; }

double study_number(const ts_sweep_point *point, const char *name) {
    ts_sweep_value value = ts_sweep_value_read(ts_sweep_point_value(point, name));
    double found;
    return ts_sweep_value_number(&value, &found) ? found : (double)NAN;
}

void study_begin(study_fixture *f, const char *text, const char *database,
                 double (*time)(const ts_sweep_point *)) {
    *f = (study_fixture){.arena = ts_arena_new()};
    ts_source *source = TS_NEW(f->arena, ts_source);
    *source = (ts_source){"study", text, strlen(text)};
    f->study = ts_sweep_study_parse(&f->err, f->arena, source, "");
    if (!f->study) fail_msg("%s", f->err.message);
    f->store = ts_sweep_store_open(&f->err, f->arena, database, TS_SWEEP_WRITE);
    if (!f->store) fail_msg("%s", f->err.message);
    f->crew_self = (fake_crew){.arena = f->arena, .study = f->study, .time = time, .alone = -1};
    f->crew = (ts_sweep_crew){&f->crew_self, STUDY_MEMBERS, STUDY_AHEAD, hand, wait_for_one, dismiss};
    f->request = (ts_sweep_request){.study = f->study, .store = f->store, .crew = &f->crew};
}

void study_go(study_fixture *f) {
    if (!ts_sweep(&f->err, f->arena, &f->request, &f->result)) fail_msg("%s", f->err.message);
    assert_int_equal(f->crew_self.count, 0);
}

void study_end(study_fixture *f) {
    assert_true(ts_sweep_store_close(&f->err, f->store));
    ts_arena_free(f->arena);
}

void study_expect(const study_fixture *f, int64_t points, int64_t there, int64_t answered) {
    assert_int_equal(f->result.points, points);
    assert_int_equal(f->result.there, there);
    assert_int_equal(f->result.answered, answered);
}

void study_put_of(ts_sweep_store *store, const char *version, const char *key, const char *parameters,
                  ts_sweep_status status, double time) {
    ts_sweep_row row = {.status = status, .err = status == TS_SWEEP_OK ? NULL : &study_why};
    ts_sweep_identity identity = {
        .parameters = parameters, .question = "layout: f32[8]", .machine = "tpu-v5e", .version = version};
    strcpy(identity.key, key);
    if (time > 0) ts_sweep_set_real(&row, TS_SWEEP_MICROSECONDS_COLUMN, time);
    ts_sweep_set_integer(&row, TS_COUNTER_CYCLES, 7);
    ts_sweep_set_text(&row, TS_SWEEP_LIMITER_COLUMN, "a 'quote'");
    assert_true(ts_sweep_store_put(NULL, store, &identity, &row));
}

void study_put(ts_sweep_store *store, const char *key, const char *parameters, ts_sweep_status status,
               double time) {
    study_put_of(store, "0.1.0", key, parameters, status, time);
}
