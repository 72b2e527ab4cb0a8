/* Rows of a table of measurements beside their models, and the errors of groups. */
#include "validate/validate.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "embedded.h"
#include "base/file.h"
#include "base/number.h"
#include "base/threads.h"

/* ---- Tables ---- */

static ts_source carried(const char *name) {
    size_t i = 0;
    while (strcmp(ts_embedded_tables[i].name, name) != 0) i++;
    return (ts_source){ts_embedded_tables[i].name, ts_embedded_tables[i].text, ts_embedded_tables[i].length};
}

bool ts_measurements_load(ts_error *err, ts_arena *arena, const char *const *paths, int count,
                          ts_measurements *m) {
    ts_source groups = carried("measured_groups.tsv"), words = carried("measured_words.tsv"),
              rows = carried("tpu_measured.csv"), *files = TS_NEW_ARRAY(arena, ts_source, count);
    bool own = true;
    *m = (ts_measurements){0};
    if (!ts_work_groups_add(err, arena, &groups, &m->groups) ||
        !ts_work_rules_add(err, arena, &words, &m->groups, &m->rules))
        return false;
    for (int i = 0; i < count; i++) {
        if (!ts_file_read_source(err, arena, paths[i], TS_MEASURED_MAX_BYTES, &files[i])) return false;
        if (!ts_work_groups_are(arena, &files[i])) continue;
        if (!ts_work_groups_add(err, arena, &files[i], &m->groups)) return false;
    }
    for (int i = 0; i < count; i++) { /* whose groups are known now */
        if (ts_work_groups_are(arena, &files[i])) continue;
        bool words_of = ts_work_rules_are(arena, &files[i]);
        own = own && words_of;
        if (words_of ? !ts_work_rules_add(err, arena, &files[i], &m->groups, &m->rules)
                     : !ts_measured_add(err, arena, &files[i], &m->table))
            return false;
    }
    return !own || ts_measured_add(err, arena, &rows, &m->table);
}

static bool has_kernel(const ts_measurements *m, const ts_measured_row *row, const char *group) {
    ts_workload work;
    ts_workload_read(&m->groups, &m->rules, row, &work);
    return work.group != NULL && strcmp(work.group->name, group) == 0 && ts_workload_has_kernel(&work);
}

void ts_measurements_share(ts_arena *arena, ts_measurements *m) {
    const ts_measured table = m->table;
    for (int g = 0; g < m->groups.count; g++) {
        const ts_work_group *group = m->groups.groups[g];
        for (int i = 0; i < table.count && group->rows_of != NULL; i++) {
            if (!has_kernel(m, &table.rows[i], group->rows_of)) continue;
            m->table.rows =
                ts_arena_extend(arena, m->table.rows, (size_t)m->table.count, sizeof m->table.rows[0]);
            m->table.rows[m->table.count] = table.rows[i];
            m->table.rows[m->table.count++].group = group->name;
        }
    }
}

bool ts_validated_meets_goals(const ts_validated_group *g) {
    return g->model.median <= g->group->median && g->model.high <= g->group->high;
}

double ts_validated_error(double predicted_us, double measured_us) {
    return 100 * (predicted_us / measured_us - 1);
}

/* ---- Rows ---- */

typedef struct {
    ts_arena *arena;
    ts_timed_runs *known;
    const ts_machine *given; /* or NULL */
    bool exact;
    const ts_machine *loaded[16];
    int count;
} machines;

/* The machine of that name; of a given one, the file says which chip it is by its title. */
static const ts_machine *find_machine(ts_error *err, machines *m, const char *name) {
    for (int i = 0; i < m->count; i++)
        if (strcmp(m->loaded[i]->name, name) == 0) return m->loaded[i];
    const ts_machine *machine = ts_machine_load(err, m->arena, name);
    if (machine != NULL && m->count < (int)(sizeof m->loaded / sizeof m->loaded[0]))
        m->loaded[m->count++] = machine;
    return machine;
}

/* Than the machine that was given. */
static bool is_of_another_chip(machines *m, const ts_workload *work) {
    const ts_machine *own = m->given && work->machine ? find_machine(NULL, m, work->machine) : NULL;
    return own && strcmp(own->title, m->given->title) != 0;
}

bool ts_validation_refuse(ts_error *err, ts_arena *arena, const ts_validation *v, const char *what) {
    enum { MOST = 16 };
    machines m = {.arena = arena};
    const char *titles[MOST];
    int count = 0;
    for (int i = 0; i < v->row_count && count < MOST; i++) {
        const ts_workload *work = &v->rows[i].work;
        const ts_machine *own = work->machine ? find_machine(NULL, &m, work->machine) : NULL;
        int k = 0;
        while (own && k < count && strcmp(titles[k], own->title) != 0) k++;
        if (own && k == count) titles[count++] = own->title;
    }
    ts_text text = ts_text_begin(arena);
    if (count > 0) ts_text_add(&text, ", expected a machine whose title is ");
    ts_text_add_choices(&text, titles, count);
    return ts_error_set(err, TS_ERROR_INPUT, "no row is of a %s%s%s", v->machine->title, what, text.bytes);
}

typedef struct {
    machines *machines;
    ts_validated_row *rows;
    const ts_machine **machine_of; /* [row]; NULL: it needs no prediction */
    pthread_mutex_t lock;          /* of the machines' arena */
} prediction;

/* What the row asks for. False: the system refused something, which is no reason that the row has. */
static bool begin_row(ts_error *failure, machines *m, const ts_measurements *known, ts_validated_row *out,
                      const ts_machine **machine) {
    ts_error err = {0};
    ts_workload_read(&known->groups, &known->rules, out->row, &out->work);
    out->is_left_out = is_of_another_chip(m, &out->work);
    out->reason = out->is_left_out ? "it is of another chip than the machine" : out->work.reason;
    *machine = NULL;
    if (out->is_left_out || out->work.kind == TS_WORK_NONE) return true;
    *machine = m->given ? m->given : find_machine(&err, m, out->work.machine);
    if (*machine == NULL) out->reason = ts_arena_copy_text(m->arena, err.message, strlen(err.message));
    return *machine != NULL || !ts_error_keep_system(failure, &err);
}

static const char *keep_reason(prediction *p, const ts_error *err) {
    pthread_mutex_lock(&p->lock);
    const char *reason = ts_arena_copy_text(p->machines->arena, err->message, strlen(err->message));
    pthread_mutex_unlock(&p->lock);
    return reason;
}

/* False: as above. */
static bool predict_row(ts_error *failure, ts_arena *scratch, void *self, int number) {
    prediction *p = self;
    ts_error err = {0};
    ts_validated_row *out = &p->rows[number];
    const ts_machine *machine = p->machine_of[number];
    ts_predictor by = {.arena = scratch, .runs = p->machines->known, .exact = p->machines->exact};
    if (machine == NULL) return true;
    if (!ts_workload_predict(&err, &by, &out->work, machine, &out->simulated_us)) {
        out->reason = keep_reason(p, &err);
        out->simulated_us = 0;
        return !ts_error_keep_system(failure, &err);
    }
    out->estimated = by.estimated;
    out->roofline_us = ts_workload_roofline(&out->work, machine);
    return true;
}

static bool predict_rows(ts_error *err, machines *m, const ts_validate_request *request, ts_validation *v) {
    prediction p = {.machines = m,
                    .rows = v->rows,
                    .machine_of = TS_NEW_ARRAY(m->arena, const ts_machine *, v->row_count + 1),
                    .lock = PTHREAD_MUTEX_INITIALIZER};
    for (int i = 0; i < v->row_count; i++) {
        v->rows[i].row = &request->measurements->table.rows[i];
        if (!begin_row(err, m, request->measurements, &v->rows[i], &p.machine_of[i])) return false;
    }
    bool good = ts_threads_each(err, &(ts_threads_list){request->threads, v->row_count, predict_row, &p,
                                                        request->row, request->self});
    pthread_mutex_destroy(&p.lock);
    return good;
}

double ts_validate_seconds(ts_arena *arena, const ts_validate_request *request) {
    const ts_measurements *measurements = request->measurements;
    static const double of_kind[] = {/* of a row, on average; of others nothing to speak of */
                                     [TS_WORK_COPY] = 0.01,
                                     [TS_WORK_MATMUL] = 0.41,
                                     [TS_WORK_KERNEL] = 0.41,
                                     [TS_WORK_PASSES] = 0.01,
                                     [TS_WORK_COLLECTIVE] = 0};
    const double of_stated_blocks = 0.03; /* of which none are tried */
    machines m = {.arena = arena, .given = request->machine};
    double seconds = 0;
    for (int i = 0; i < measurements->table.count; i++) {
        ts_workload work;
        ts_workload_read(&measurements->groups, &measurements->rules, &measurements->table.rows[i], &work);
        if (work.kind == TS_WORK_NONE || is_of_another_chip(&m, &work)) continue;
        bool stated = work.kind == TS_WORK_MATMUL && work.block[0] > 0;
        seconds += stated ? of_stated_blocks : of_kind[work.kind];
    }
    return seconds;
}

/* ---- Groups ---- */

static int compare(const void *a, const void *b) {
    return ts_order_reals(*(const double *)a, *(const double *)b);
}

ts_validation_errors ts_validated_errors(double *errors, int count) {
    qsort(errors, (size_t)count, sizeof *errors, compare);
    double median = count % 2 ? errors[count / 2] : (errors[count / 2 - 1] + errors[count / 2]) / 2;
    return (ts_validation_errors){median, errors[(9 * count + 9) / 10 - 1], errors[count - 1]};
}

enum { ORDER_PERCENT = 5 };

typedef struct {
    double measured, simulated;
} pair_of_times;

static int by_measured(const void *a, const void *b) {
    const pair_of_times *x = a, *y = b;
    return ts_order_reals(x->measured, y->measured);
}

/* How many of a sorted list are at most so much. */
static int count_up_to(const double *sorted, int count, double most) {
    int low = 0;
    while (low < count) {
        int middle = low + (count - low) / 2;
        if (sorted[middle] <= most)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Of rows in the order of what was measured, one by one: of those measured well before it, how many are
 * simulated above it. A Fenwick tree counts them by the rank of what is simulated. */
static int64_t count_pairs(ts_arena *scratch, pair_of_times *rows, int count) {
    double *simulated = TS_NEW_ARRAY(scratch, double, count + 1);
    int *tree = TS_NEW_ARRAY(scratch, int, count + 1), before = 0;
    int64_t pairs = 0;
    qsort(rows, (size_t)count, sizeof *rows, by_measured);
    for (int i = 0; i < count; i++) simulated[i] = rows[i].simulated;
    qsort(simulated, (size_t)count, sizeof *simulated, compare);
    for (int i = 0; i < count; i++) {
        for (; rows[before].measured * (1 + ORDER_PERCENT / 100.0) < rows[i].measured; before++)
            for (int k = count_up_to(simulated, count, rows[before].simulated); k <= count; k += k & -k)
                tree[k]++;
        pairs += before;
        for (int k = count_up_to(simulated, count, rows[i].simulated); k > 0; k -= k & -k) pairs -= tree[k];
    }
    return pairs;
}

static int64_t count_disorder(const ts_validation *v, const ts_work_group *group) {
    ts_arena *scratch = ts_arena_new();
    pair_of_times *rows = TS_NEW_ARRAY(scratch, pair_of_times, v->row_count + 1);
    int count = 0;
    for (int i = 0; i < v->row_count; i++)
        if (v->rows[i].work.group == group && v->rows[i].reason == NULL)
            rows[count++] = (pair_of_times){v->rows[i].work.measured_us, v->rows[i].simulated_us};
    int64_t pairs = count_pairs(scratch, rows, count);
    ts_arena_free(scratch);
    return pairs;
}

/* The error in percent; 100 for a row that is not modelled. */
static double percent_off(const ts_validated_row *r, double us) {
    return r->reason != NULL ? 100 : fabs(ts_validated_error(us, r->work.measured_us));
}

static bool summarise_group(ts_arena *arena, const ts_validation *v, const ts_work_group *group,
                            ts_validated_group *out) {
    double *model = TS_NEW_ARRAY(arena, double, v->row_count + 1),
           *roofline = TS_NEW_ARRAY(arena, double, v->row_count + 1);
    double worst = -1;
    *out = (ts_validated_group){.group = group};
    for (int i = 0; i < v->row_count; i++) {
        const ts_validated_row *r = &v->rows[i];
        if (r->work.group != group || r->is_left_out) continue;
        double error = model[out->rows] = percent_off(r, r->simulated_us);
        roofline[out->rows++] = percent_off(r, r->roofline_us);
        out->modelled += r->reason == NULL;
        if (r->reason == NULL && error > worst) {
            worst = error;
            out->worst = r;
        }
    }
    if (out->rows == 0) return false;
    out->model = ts_validated_errors(model, out->rows);
    out->roofline = ts_validated_errors(roofline, out->rows);
    out->out_of_order = count_disorder(v, group);
    return true;
}

bool ts_validation_is_estimated(const ts_validation *v) {
    for (int i = 0; i < v->row_count; i++)
        if (v->rows[i].estimated) return true;
    return false;
}

bool ts_validate(ts_error *err, ts_arena *arena, const ts_validate_request *request, ts_validation *v) {
    const ts_measurements *measurements = request->measurements;
    ts_arena *of_runs = ts_arena_new(); /* one arena would need one lock */
    machines m = {.arena = arena,
                  .known = ts_timed_runs_new(of_runs),
                  .given = request->machine,
                  .exact = request->exact};
    *v = (ts_validation){.machine = request->machine,
                         .rows = TS_NEW_ARRAY(arena, ts_validated_row, measurements->table.count + 1),
                         .row_count = measurements->table.count};
    v->groups = TS_NEW_ARRAY(arena, ts_validated_group, measurements->groups.count + 1);
    bool good = predict_rows(err, &m, request, v);
    ts_arena_free(of_runs);
    if (!good) return false;
    for (int g = 0; g < measurements->groups.count; g++)
        v->group_count +=
            summarise_group(arena, v, measurements->groups.groups[g], &v->groups[v->group_count]);
    return true;
}
