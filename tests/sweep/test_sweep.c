/* Studies answered by a crew in this process, with rows that the test makes: what is asked, kept, merged, tuned, ranked
 * and compared. */
#include "sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sweep/diff.h"
#include "sweep/sensitivity.h"
#include "sweep/tune.h"
#include "tests/support/test.h"

static const ts_error why = {.kind = TS_ERROR_INPUT, .message = "why"};
enum { AHEAD = 3, MEMBERS = 2, QUEUE = 16 };

/* Answers what was asked last first, as members may. */
typedef struct {
    ts_arena *arena;
    const ts_sweep_study *study;
    double (*time)(const ts_sweep_point *point); /* NAN: an error; negative: a crash */
    int64_t points[QUEUE];
    int members[QUEUE];
    int count, most, asked;
    int queue;   /* that the last point went behind */
    bool counts; /* each has cycles as well: ten times the time */
    enum { HONEST, HANDS_NOTHING, ANSWERS_NOTHING, ANSWERS_ANOTHER, ANSWERS_NONE, ANSWERS_HALF } fault;
} fake;

static bool hand(ts_error *err, void *self, int member, int64_t index) {
    fake *f = self;
    int own = 0;
    for (int i = 0; i < f->count; i++) own += f->members[i] == member;
    if (f->fault == HANDS_NOTHING && f->count > 0) return ts_error_set(err, TS_ERROR_IO, "no hand");
    assert_true(own < AHEAD && member >= 0 && member < MEMBERS);
    f->points[f->count] = index;
    f->members[f->count++] = member;
    f->asked++;
    f->queue = own;
    if (f->count > f->most) f->most = f->count;
    return true;
}

static bool wait_for_one(ts_error *err, void *self, ts_sweep_reply *reply) {
    fake *f = self;
    ts_sweep_row row = {0};
    ts_sweep_point point;
    ts_text out;
    assert_true(f->count > 0);
    reply->member = f->members[--f->count];
    reply->index = f->points[f->count];
    ts_sweep_point_get(f->arena, f->study, reply->index, &point);
    double time = f->time(&point);
    if (isnan(time) || time < 0) row.status = isnan(time) ? TS_SWEEP_ERROR : TS_SWEEP_CRASH;
    if (row.status != TS_SWEEP_OK) row.err = &why;
    if (row.status == TS_SWEEP_OK) ts_sweep_set_real(&row, TS_SWEEP_MICROSECONDS_COLUMN, time);
    if (row.status == TS_SWEEP_OK && f->counts)
        ts_sweep_set_integer(&row, TS_COUNTER_CYCLES, (int64_t)(10 * time));
    ts_text_init(&out, f->arena);
    ts_sweep_row_pack(&out, &row);
    reply->bytes = out.bytes;
    reply->length = f->fault == ANSWERS_HALF ? out.length / 2 : out.length;
    if (f->fault == ANSWERS_ANOTHER) reply->index = 1000;
    if (f->fault == ANSWERS_NONE) reply->index = -1;
    return f->fault != ANSWERS_NOTHING || ts_error_set(err, TS_ERROR_IO, "no answer");
}

static void dismiss(void *self) { (void)self; }

static double number(const ts_sweep_point *point, const char *name) {
    ts_sweep_value value = ts_sweep_value_read(ts_sweep_point_value(point, name));
    double found;
    return ts_sweep_value_number(&value, &found) ? found : (double)NAN;
}

/* ---- Set-up ---- */

typedef struct {
    ts_arena *arena;
    ts_error err;
    const ts_sweep_study *study;
    ts_sweep_store *store;
    fake crew_self;
    ts_sweep_crew crew;
    ts_sweep_request request;
    ts_sweep_result result;
} fixture;

static void begin(fixture *f, const char *text, const char *database,
                  double (*time)(const ts_sweep_point *)) {
    *f = (fixture){.arena = ts_arena_new()};
    ts_source *source = TS_NEW(f->arena, ts_source);
    *source = (ts_source){"study", text, strlen(text)};
    f->study = ts_sweep_study_parse(&f->err, f->arena, source, "");
    if (!f->study) fail_msg("%s", f->err.message);
    f->store = ts_sweep_store_open(&f->err, f->arena, database, true);
    if (!f->store) fail_msg("%s", f->err.message);
    f->crew_self = (fake){.arena = f->arena, .study = f->study, .time = time};
    f->crew = (ts_sweep_crew){&f->crew_self, MEMBERS, AHEAD, hand, wait_for_one, dismiss};
    f->request = (ts_sweep_request){.study = f->study, .store = f->store, .crew = &f->crew};
}

static void go(fixture *f) {
    if (!ts_sweep(&f->err, f->arena, &f->request, &f->result)) fail_msg("%s", f->err.message);
    assert_int_equal(f->crew_self.count, 0);
}

static void end(fixture *f) {
    assert_true(ts_sweep_store_close(&f->err, f->store));
    ts_arena_free(f->arena);
}

static void expect(const fixture *f, int64_t points, int64_t there, int64_t answered) {
    assert_int_equal(f->result.points, points);
    assert_int_equal(f->result.there, there);
    assert_int_equal(f->result.answered, answered);
}

/* ---- Points ---- */

static const char grid[] =
    "vary: {A: {from: 0, to: 9, step: 1}, B: [1, 2]}\nwhere: A != 3\nask: {layout: 'f32[$A]'}\n";

static double sum_of(const ts_sweep_point *point) {
    double a = number(point, "A");
    return a == 5 ? (double)NAN : a == 6 ? -1 : a + 10 * number(point, "B");
}

static void told(void *self, int64_t done, int64_t of, int64_t answered) {
    int64_t *last = self;
    assert_true(done >= 0 && done <= of && answered >= last[0]);
    last[0] = answered;
    last[1] = done;
    last[2] = of;
}

static void each_point_once(void **state) {
    (void)state;
    fixture f;
    int64_t last[3] = {0};
    begin(&f, grid, ":memory:", sum_of);
    f.request.progress = told;
    f.request.self = last;
    go(&f);
    expect(&f, 18, 0, 18);
    assert_int_equal(f.result.left_out, 2);
    assert_int_equal(f.result.by_status[TS_SWEEP_OK], 14);
    assert_int_equal(f.result.by_status[TS_SWEEP_ERROR], 2);
    assert_int_equal(f.result.by_status[TS_SWEEP_CRASH], 2);
    assert_int_equal(f.crew_self.asked, 18);
    assert_true(f.crew_self.most > MEMBERS);
    assert_true(last[0] == 18 && last[1] == 20 && last[2] == 20);
    f.request.progress = NULL;
    go(&f);
    expect(&f, 18, 18, 0);
    assert_int_equal(f.result.by_status[TS_SWEEP_OK], 14);
    assert_int_equal(f.result.by_status[TS_SWEEP_CRASH], 2);
    f.request.retry = true;
    go(&f);
    expect(&f, 18, 16, 2);
    assert_int_equal(f.result.by_status[TS_SWEEP_CRASH], 2);
    assert_int_equal(f.crew_self.asked, 20);
    end(&f);
}

static void some_points(void **state) {
    (void)state;
    fixture f;
    static const int64_t points[] = {19, 2, 3};
    begin(&f, grid, ":memory:", sum_of);
    f.request.points = points;
    f.request.point_count = 3;
    go(&f);
    expect(&f, 3, 0, 3);
    ts_sweep_table table;
    const ts_sweep_table_request read = {f.study, f.store, points, 3};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &table));
    static const double times[] = {29, 11, 21};
    int column = ts_sweep_table_find(&f.err, &table, "", "time");
    assert_int_equal(table.row_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(ts_sweep_table_cell(&table, i, column)->real == times[i]);
        assert_int_equal(table.points[i], points[i]);
    }
    f.request.points = NULL;
    f.request.shards = 3;
    static const int64_t counts[] = {6, 6, 6},
                         there[] = {1, 1, 1}; /* of 0, 3 .. 18; A = 3 are points 6 and 7 */
    for (f.request.shard = 0; f.request.shard < 3; f.request.shard++) {
        go(&f);
        int64_t known = f.request.shard == 1 ? 1 : there[f.request.shard];
        expect(&f, counts[f.request.shard], known, counts[f.request.shard] - known);
    }
    f.request.shards = 0;
    go(&f);
    expect(&f, 18, 18, 0);
    end(&f);
}

/* Many ahead, but none behind another at the end, when its member may be the last that works. */
static void ahead(void **state) {
    (void)state;
    fixture f;
    begin(&f, "vary: {A: {from: 0, to: 99, step: 1}, B: 1}\nask: {layout: 'f32[$A]'}\n", ":memory:", sum_of);
    go(&f);
    expect(&f, 100, 0, 100);
    assert_int_equal(f.crew_self.most, MEMBERS * AHEAD);
    assert_int_equal(f.crew_self.queue, 0);
    end(&f);
}

static double one(const ts_sweep_point *point) { return number(point, "A"); }

/* Nothing goes on after that, and the study says what it was. */
static void crews_that_fail(void **state) {
    (void)state;
    static const struct {
        int fault;
        const char *message;
    } rows[] = {{HANDS_NOTHING, "no hand"},
                {ANSWERS_NOTHING, "no answer"},
                {ANSWERS_ANOTHER, "a worker answered what nobody asked"},
                {ANSWERS_NONE, "a worker answered what nobody asked"},
                {ANSWERS_HALF, "a worker's answer cannot be read"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, grid, ":memory:", sum_of);
        f.crew_self.fault = rows[i].fault;
        assert_false(ts_sweep(&f.err, f.arena, &f.request, &f.result));
        assert_string_equal(f.err.message, rows[i].message);
        assert_int_equal(f.result.answered, 0);
        end(&f);
    }
}

/* Points before it are answered, or not even asked: the study is wrong. */
static void studies_that_fail(void **state) {
    (void)state;
    static const char *const rows[] = {
        "vary: {A: [3, 2, 1, 0]}\nwhere: 1 / (A - 2) < 5\nask: {layout: 'f32[$A]'}\n",
        "vary: {A: [3, 2, 1, 0]}\nask: {layout: 'f32[$(1 / (A - 2))]'}\n",
        "vary: {A: [2, 3]}\nwhere: 1 / (A - 2) < 5\nask: {layout: 'f32[$A]'}\n"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, rows[i], ":memory:", one);
        assert_false(ts_sweep(&f.err, f.arena, &f.request, &f.result));
        assert_string_equal(f.err.message, "the divisor is 0");
        assert_true(f.crew_self.asked <= 1);
        end(&f);
    }
}

/* What is wrong, the worker says, once. */
static void machines_that_cannot_be(void **state) {
    (void)state;
    fixture f;
    ts_sweep_table t;
    begin(&f, "vary: {A: 8, hbm.stacks: [2, -1]}\nask: {layout: 'f32[$A]'}\n", ":memory:", one);
    const ts_sweep_crew_request workers = {f.study, 1, 0};
    assert_true(ts_sweep_processes(&f.err, f.arena, &workers, &f.crew));
    for (int again = 0; again < 2; again++) {
        go(&f);
        expect(&f, 2, again ? 2 : 0, again ? 0 : 2);
        assert_int_equal(f.result.by_status[TS_SWEEP_ERROR], 1);
    }
    f.crew.dismiss(f.crew.self);
    const ts_sweep_table_request read = {.study = f.study, .store = f.store};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    const char *error = ts_sweep_table_cell(&t, 1, ts_sweep_table_find(NULL, &t, "", "error"))->text;
    if (!strstr(error, "hbm.stacks")) fail_msg("%s", error);
    end(&f);
}

/* ---- The table ---- */

static void tables(void **state) {
    (void)state;
    fixture f;
    begin(&f,
          "vary: {A: [1, 5, 2], B: [x]}\nask: {layout: 'f32[$A]'}\n"
          "columns: {twice: 2 * time, odd: 1 / (A - 1)}\n",
          ":memory:", sum_of);
    f.crew_self.time = sum_of;
    go(&f);
    ts_sweep_table t;
    const ts_sweep_table_request read = {.study = f.study, .store = f.store};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    assert_int_equal(t.row_count, 3);
    assert_int_equal(t.parameter_count, 2);
    static const char *const names[] = {"A", "B", "status", "error", "twice", "odd"};
    assert_int_equal(t.column_count, 6); /* B is no number: all times are none */
    for (int i = 0; i < 6; i++) assert_string_equal(t.headings[i].name, names[i]);
    assert_true(t.headings[0].number && !t.headings[1].number && !t.headings[2].number);
    assert_int_equal(ts_sweep_table_cell(&t, 0, 5)->kind, TS_SWEEP_NONE);
    assert_int_equal(ts_sweep_table_cell(&t, 2, 5)->integer, 1);
    assert_string_equal(ts_sweep_table_cell(&t, 1, 3)->text, "why");
    assert_int_equal(ts_sweep_table_find(&f.err, &t, "here", "staus"), -1);
    assert_string_equal(f.err.message, "here: there is no column 'staus'; did you mean 'status'?");
    end(&f);
}

static double by_a(const ts_sweep_point *point) { return number(point, "A"); }

/* The first and the last of the results, columns that follow, points in an order of the caller. */
static void tables_of_results(void **state) {
    (void)state;
    fixture f;
    ts_sweep_table t;
    begin(&f,
          "vary: {A: [3, 1, 2]}\nask: {layout: 'f32[$A]'}\n"
          "columns: {first: 1 / (A - 1), last: 4 - A + first}\n",
          ":memory:", by_a);
    f.crew_self.counts = true;
    go(&f);
    const int64_t points[] = {2, 0, 1};
    ts_sweep_table_request read = {f.study, f.store, points, 3};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    static const char *const names[] = {"A", "status", "cycles", "microseconds", "first", "last"};
    assert_int_equal(t.column_count, 6);
    for (int i = 0; i < 6; i++) assert_string_equal(t.headings[i].name, names[i]);
    static const int64_t expected[3][4] = {{2, 20, 1, 3}, {3, 30, 0, 1}, {1, 10, 0, 0}};
    for (int row = 0; row < 3; row++) {
        assert_int_equal(t.points[row], points[row]);
        assert_int_equal(ts_sweep_table_cell(&t, row, 0)->integer, expected[row][0]);
        assert_int_equal(ts_sweep_table_cell(&t, row, 2)->integer, expected[row][1]);
        assert_true(ts_sweep_table_cell(&t, row, 3)->real == (double)expected[row][0]);
        for (int k = 4; k < 6; k++) {
            assert_int_equal(ts_sweep_table_cell(&t, row, k)->kind,
                             row < 2 ? TS_SWEEP_INTEGER : TS_SWEEP_NONE);
            assert_int_equal(ts_sweep_table_cell(&t, row, k)->integer, expected[row][k - 2]);
        }
    }
    assert_int_equal(ts_sweep_table_find(&f.err, &t, "", "time"), 3);
    assert_int_equal(ts_sweep_table_find(&f.err, &t, "", "last"), 5);
    read.point_count = 1;
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    assert_int_equal(t.row_count, 1);
    end(&f);
}

/* A column that is good at one point alone is a column, whichever that is; one that is at none is an error. */
static void columns_that_are_wrong(void **state) {
    (void)state;
    static const struct {
        const char *column;
        bool good;
    } rows[] = {{"1 / (A % 2)", true},
                {"A / (2 * A - A * 2)", false},
                {"1 / (A / 3)", true},
                {"1 / (1 - A % 2)", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        ts_sweep_table t;
        char text[128];
        snprintf(text, sizeof text, "vary: {A: [3, 2, 1]}\nask: {layout: 'f32[$A]'}\ncolumns: {c: %s}\n",
                 rows[i].column);
        begin(&f, text, ":memory:", by_a);
        const ts_sweep_table_request read = {.study = f.study, .store = f.store};
        assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t)); /* no row, nothing wrong */
        assert_int_equal(t.row_count, 0);
        go(&f);
        if (ts_sweep_table_read(&f.err, f.arena, &read, &t) != rows[i].good)
            fail_msg("%s: %s", rows[i].column, f.err.message);
        if (!rows[i].good) assert_string_equal(f.err.message, "the divisor is 0");
        end(&f);
    }
}

static double flat(const ts_sweep_point *point) {
    double a = number(point, "A");
    return a == 4 ? (double)NAN : a > 4 ? 1 : 2;
}

/* Equal ones in the order of the table; none without a number. */
static void ranks(void **state) {
    (void)state;
    fixture f;
    ts_sweep_table t, ranked;
    begin(&f, "vary: {A: {from: 1, to: 8, step: 1}}\nask: {layout: 'f32[$A]'}\n", ":memory:", flat);
    go(&f);
    const ts_sweep_table_request read = {.study = f.study, .store = f.store};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    ts_sweep_table_rank(f.arena, &t, ts_sweep_table_find(NULL, &t, "", "time"), &ranked);
    static const int64_t order[] = {5, 6, 7, 8, 1, 2, 3};
    assert_int_equal(ranked.row_count, 7);
    assert_int_equal(ranked.column_count, t.column_count);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(ts_sweep_table_cell(&ranked, i, 0)->integer, order[i]);
        assert_int_equal(ranked.points[i], order[i] - 1);
    }
    const int64_t failed[] = {3, 0}; /* an error in the first row alone is a column too */
    const ts_sweep_table_request two = {f.study, f.store, failed, 2};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &two, &t));
    assert_string_equal(ts_sweep_table_cell(&t, 0, ts_sweep_table_find(NULL, &t, "", "error"))->text, "why");
    end(&f);
}

/* ---- Tuning ---- */

static double by_size(const ts_sweep_point *point) {
    double a = number(point, "A"), n = number(point, "N");
    return a == 7 ? (double)NAN : fabs(a - 4 - n) + 1; /* best: A = 4 + N */
}

static void tuning(void **state) {
    (void)state;
    fixture f;
    ts_sweep_tuned tuned;
    begin(&f, "vary: {A: {from: 1, to: 9, step: 1}, N: [0, 1, 2], C: 1}\nask: {layout: 'f32[$A]'}\n",
          ":memory:", by_size);
    ts_sweep_tune_request request = {&f.request, "time", "N", 2};
    assert_true(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_int_equal(tuned.rung_count, 3);
    static const struct {
        const char *value;
        int64_t tried, kept;
    } rungs[] = {{"0", 9, 4}, {"1", 4, 2}, {"2", 2, 2}};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(tuned.rungs[i].value, rungs[i].value);
        assert_int_equal(tuned.rungs[i].tried, rungs[i].tried);
        assert_int_equal(tuned.rungs[i].kept, rungs[i].kept);
    }
    assert_int_equal(tuned.candidates, 9);
    expect(&(fixture){.result = tuned.result}, 15, 0, 15);
    assert_int_equal(tuned.result.by_status[TS_SWEEP_OK], 14);
    assert_int_equal(tuned.result.by_status[TS_SWEEP_ERROR], 1);
    assert_int_equal(tuned.table.row_count, 2); /* of 4 3 5 2 at 0: 5 and 4 at 1, 5 first at 2 */
    assert_int_equal(ts_sweep_table_cell(&tuned.table, 0, 0)->integer, 5);
    assert_int_equal(ts_sweep_table_cell(&tuned.table, 1, 0)->integer, 4);
    request.keep = 7; /* of 8 with a result one in 7, rounded up */
    assert_true(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_int_equal(tuned.rungs[0].kept, 2);
    assert_int_equal(tuned.result.there, 12);
    request.least = "cycles";
    assert_false(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_string_equal(f.err.message, "--tune: there is no column 'cycles'");
    request.least = "time";
    request.budget = "C";
    f.err = (ts_error){0};
    assert_false(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_string_equal(f.err.message, "--tune: 'C' does not vary in the study, expected such as a size");
    end(&f);
}

/* Two sizes are enough, also where they vary slowest. */
static void tuning_of_two_sizes(void **state) {
    (void)state;
    fixture f;
    ts_sweep_tuned tuned;
    begin(&f, "vary: {N: [0, 1], A: {from: 1, to: 6, step: 1}}\nwhere: A != 6\nask: {layout: 'f32[$A]'}\n",
          ":memory:", by_size);
    const ts_sweep_tune_request request = {&f.request, "time", "N", 2};
    assert_true(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_int_equal(tuned.rung_count, 2);
    assert_int_equal(tuned.candidates, 5);
    assert_int_equal(tuned.result.left_out, 1);
    assert_int_equal(tuned.rungs[0].kept, 3); /* A = 4, 3, 5 */
    assert_int_equal(tuned.table.row_count, 3);
    assert_int_equal(ts_sweep_table_cell(&tuned.table, 0, 1)->integer, 5);
    assert_int_equal(ts_sweep_table_cell(&tuned.table, 1, 1)->integer, 4);
    assert_int_equal(ts_sweep_table_cell(&tuned.table, 2, 1)->integer, 3);
    end(&f);
}

static double with_none(const ts_sweep_point *point) {
    return number(point, "N") == 0 ? (double)NAN : number(point, "B"); /* B is a text: NAN */
}

/* Where nothing has a result, nothing goes on; a time that is none is an error of the column. */
static void tuning_of_nothing(void **state) {
    (void)state;
    fixture f;
    ts_sweep_tuned tuned;
    begin(&f, "vary: {N: [0, 1], B: [x, y]}\nask: {layout: 'f32[$N]'}\ncolumns: {c: 0 * N}\n",
          ":memory:", with_none);
    ts_sweep_tune_request request = {&f.request, "time", "N", 2};
    assert_false(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_string_equal(f.err.message, "--tune: there is no column 'time'");
    end(&f);
}

/* ---- Elasticity ---- */

/* The square of the clock, a constant, and what there is no machine with twice of. */
static double law(const ts_sweep_point *point) {
    const char *change = ts_sweep_point_value(point, TS_SWEEP_CHANGE);
    double a = number(point, "A");
    if (strncmp(change, "hbm.clock=", 10) == 0)
        return a * (strcmp(change, "hbm.clock=3.2 GHz") == 0 ? 4 : 0.25);
    if (strncmp(change, "dma.access=", 11) == 0) return a * 0.5;
    return a;
}

static void elasticities(void **state) {
    (void)state;
    fixture f;
    ts_sweep_changes changes;
    ts_sweep_table table;
    begin(&f, "vary: {A: [1, 3]}\nask: {layout: 'f32[$A]'}\n", ":memory:", law);
    assert_true(ts_sweep_changes_make(&f.err, f.arena, f.study, &changes));
    assert_int_equal(changes.study->grid.point_count % 2, 0);
    f.request.study = f.crew_self.study = changes.study;
    go(&f);
    const ts_sweep_table_request read = {.study = changes.study, .store = f.store};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &table));
    const ts_sweep_elasticity *list = ts_sweep_elasticities(
        f.arena, &changes, &table, ts_sweep_table_find(&f.err, &table, "", "microseconds"));
    assert_string_equal(list[0].moved->field, "hbm.clock");
    assert_string_equal(list[0].moved->value, "1.6 GHz");
    assert_true(fabs(list[0].elasticity - 2) < 1e-9 && fabs(list[0].halved - 0.25) < 1e-9 &&
                fabs(list[0].doubled - 4) < 1e-9);
    for (int i = 1; i < changes.count; i++) {
        bool access = strcmp(list[i].moved->field, "dma.access") == 0;
        assert_true(fabs(list[i].elasticity) <= fabs(list[i - 1].elasticity) + 1e-12);
        if (!access) assert_true(fabs(list[i].elasticity) < 1e-9);
    }
    end(&f);
}

/* ---- Databases ---- */

static void put(ts_sweep_store *store, const char *key, const char *parameters, ts_sweep_status status,
                double time) {
    ts_sweep_row row = {.status = status, .err = status == TS_SWEEP_OK ? NULL : &why};
    ts_sweep_identity identity = {
        .parameters = parameters, .question = "layout: f32[8]", .machine = "tpu-v5e"};
    strcpy(identity.key, key);
    if (time > 0) ts_sweep_set_real(&row, TS_SWEEP_MICROSECONDS_COLUMN, time);
    ts_sweep_set_integer(&row, TS_COUNTER_CYCLES, 7);
    ts_sweep_set_text(&row, TS_SWEEP_LIMITER_COLUMN, "a 'quote'");
    assert_true(ts_sweep_store_put(NULL, store, &identity, &row));
}

static void stores(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_sweep_row row;
    bool found;
    ts_sweep_store *store = ts_sweep_store_open(&err, arena, ":memory:", true);
    assert_int_equal(ts_sweep_store_status(&err, store, "k1"), -1);
    put(store, "k1", "{}", TS_SWEEP_OK, 1.25);
    put(store, "k2", "{}", TS_SWEEP_TIMEOUT, 0);
    assert_int_equal(ts_sweep_store_status(&err, store, "k1"), TS_SWEEP_OK);
    assert_int_equal(ts_sweep_store_status(&err, store, "k2"), TS_SWEEP_TIMEOUT);
    assert_true(ts_sweep_store_get(&err, arena, store, "k1", &found, &row));
    assert_true(found && row.values[TS_SWEEP_MICROSECONDS_COLUMN].real == 1.25);
    assert_int_equal(row.values[TS_COUNTER_CYCLES].integer, 7);
    assert_string_equal(row.values[TS_SWEEP_LIMITER_COLUMN].text, "a 'quote'");
    assert_int_equal(row.values[TS_SWEEP_LAYOUT_COLUMN].kind, TS_SWEEP_NONE);
    assert_null(row.err);
    assert_true(ts_sweep_store_get(&err, arena, store, "k2", &found, &row) && found);
    assert_string_equal(row.err->message, "why");
    assert_true(ts_sweep_store_get(&err, arena, store, "k3", &found, &row) && !found);
    put(store, "k2", "{}", TS_SWEEP_OK, 2);
    assert_int_equal(ts_sweep_store_status(&err, store, "k2"), TS_SWEEP_OK);
    assert_true(ts_sweep_store_close(&err, store));
    assert_true(ts_sweep_store_close(&err, NULL));
    assert_int_equal(err.kind, TS_ERROR_NONE);
    ts_arena_free(arena);
}

static void differences(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_sweep_diff d;
    ts_sweep_store *a = ts_sweep_store_open(&err, arena, ":memory:", true),
                   *b = ts_sweep_store_open(&err, arena, ":memory:", true);
    static const struct {
        const char *parameters;
        ts_sweep_status before, after;
        double was, is; /* negative: not there */
    } rows[] = {{"same", TS_SWEEP_OK, TS_SWEEP_OK, 2, 2},      {"slower", TS_SWEEP_OK, TS_SWEEP_OK, 2, 3},
                {"faster", TS_SWEEP_OK, TS_SWEEP_OK, 2, 1},    {"broken", TS_SWEEP_OK, TS_SWEEP_ERROR, 2, 0},
                {"mended", TS_SWEEP_CRASH, TS_SWEEP_OK, 0, 2}, {"gone", TS_SWEEP_OK, TS_SWEEP_OK, 2, -1},
                {"new", TS_SWEEP_OK, TS_SWEEP_OK, -1, 2},      {"newer", TS_SWEEP_OK, TS_SWEEP_OK, -1, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char key[] = {'k', (char)('z' - i), '\0'};
        if (rows[i].was >= 0) put(a, key, rows[i].parameters, rows[i].before, rows[i].was);
        if (rows[i].is >= 0) put(b, rows[i].parameters, rows[i].parameters, rows[i].after, rows[i].is);
    }
    assert_true(ts_sweep_compare(&err, arena, a, b, TS_SWEEP_MICROSECONDS_COLUMN, &d));
    assert_int_equal(d.both, 5);
    assert_int_equal(d.only_before, 1);
    assert_int_equal(d.only_after, 2);
    assert_int_equal(d.change_count, 4);
    assert_int_equal(d.broken, 1);
    assert_true(d.worst == 1.5);
    static const char *const order[] = {"broken", "slower", "faster", "mended"};
    for (int i = 0; i < 4; i++) assert_string_equal(d.changes[i].parameters, order[i]);
    assert_true(d.changes[1].ratio == 1.5 && d.changes[1].before == 2 && d.changes[1].after == 3);
    assert_true(d.changes[0].ratio == 0 && d.changes[2].ratio == 0.5);
    assert_string_equal(d.column, "microseconds");
    assert_true(ts_sweep_compare(&err, arena, a, b, TS_COUNTER_CYCLES, &d));
    assert_int_equal(d.change_count, 2);
    assert_true(d.worst == 1);
    ts_sweep_store_close(NULL, a);
    ts_sweep_store_close(NULL, b);
    ts_arena_free(arena);
}

/* Names that are next to each other, times below 1, and each list out of order. */
static void differences_of_few(void **state) {
    (void)state;
    static const struct {
        const char *before[2], *after[2];
        double was, is;
        int64_t both, only_before, only_after, changes;
        double worst;
    } rows[] = {
        {{"a", "b"}, {"b", "c"}, 0.5, 1, 1, 1, 1, 1, 2}, {{"b", "c"}, {"a", "b"}, 0.5, 0.25, 1, 1, 1, 1, 1},
        {{"b", "a"}, {"b", "a"}, 1, 0.5, 2, 0, 0, 2, 1}, {{"a", "c"}, {"b", "d"}, 1, 2, 0, 2, 2, 0, 1},
        {{"a", NULL}, {"a", "b"}, 1, 4, 1, 0, 1, 1, 4},  {{"a", "b"}, {"b", NULL}, 1, 1, 1, 1, 0, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_sweep_diff d;
        ts_sweep_store *a = ts_sweep_store_open(&err, arena, ":memory:", true),
                       *b = ts_sweep_store_open(&err, arena, ":memory:", true);
        for (int k = 0; k < 2; k++) {
            const char *keys[] = {"k2", "k1"}; /* so that what is read first is not first */
            if (rows[i].before[k]) put(a, keys[k], rows[i].before[k], TS_SWEEP_OK, rows[i].was);
            if (rows[i].after[k]) put(b, keys[k], rows[i].after[k], TS_SWEEP_OK, rows[i].is);
        }
        assert_true(ts_sweep_compare(&err, arena, a, b, TS_SWEEP_MICROSECONDS_COLUMN, &d));
        assert_int_equal(d.both, rows[i].both);
        assert_int_equal(d.only_before, rows[i].only_before);
        assert_int_equal(d.only_after, rows[i].only_after);
        assert_int_equal(d.change_count, rows[i].changes);
        assert_true(d.worst == rows[i].worst);
        ts_sweep_store_close(NULL, a);
        ts_sweep_store_close(NULL, b);
        ts_arena_free(arena);
    }
}

/* Two that got worse, the more so first, whichever comes first by name. */
static void worse_comes_first(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_sweep_diff d;
        ts_sweep_store *a = ts_sweep_store_open(&err, arena, ":memory:", true),
                       *b = ts_sweep_store_open(&err, arena, ":memory:", true);
        for (int k = 0; k < 2; k++) {
            put(a, k ? "k1" : "k2", k ? "p" : "q", TS_SWEEP_OK, 1);
            put(b, k ? "k1" : "k2", k ? "p" : "q", TS_SWEEP_OK, k == first ? 3 : 2);
        }
        assert_true(ts_sweep_compare(&err, arena, a, b, TS_SWEEP_MICROSECONDS_COLUMN, &d));
        assert_string_equal(d.changes[0].parameters, first ? "p" : "q");
        assert_string_equal(d.changes[1].parameters, first ? "q" : "p");
        ts_sweep_store_close(NULL, a);
        ts_sweep_store_close(NULL, b);
        ts_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_point_once),
        cmocka_unit_test(some_points),
        cmocka_unit_test(ahead),
        cmocka_unit_test(crews_that_fail),
        cmocka_unit_test(studies_that_fail),
        cmocka_unit_test(machines_that_cannot_be),
        cmocka_unit_test(tables),
        cmocka_unit_test(tuning),
        cmocka_unit_test(tables_of_results),
        cmocka_unit_test(columns_that_are_wrong),
        cmocka_unit_test(ranks),
        cmocka_unit_test(tuning_of_two_sizes),
        cmocka_unit_test(tuning_of_nothing),
        cmocka_unit_test(elasticities),
        cmocka_unit_test(stores),
        cmocka_unit_test(differences),
        cmocka_unit_test(differences_of_few),
        cmocka_unit_test(worse_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
