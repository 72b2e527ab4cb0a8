/* Fits figures of a machine to measurements. */
#include "validate/calibrate.h"

#include <math.h>
#include <string.h>

const char *const ts_calibrate_fields[] = {"chip.launch",   "chip.dispatch",     "dma.issue",
                                           "dma.rate.copy", "chip.clock.matrix", NULL};

#define NEAR      1e-6 /* the mean square of a tenth of a per cent */
#define SCAN_GAIN 0.8  /* of the sum of squares that a first guess must leave at most */
enum { ITERATIONS = 12, FACTOR = 16, ROWS_A_FIELD = 2 };
static const double step_size = 0.08;   /* of the logarithm of a figure, for differences */
static const double least_moved = 1e-3; /* per cent for a per cent: less is nothing */
static const double least_apart = 0.02; /* 1 - correlation^2: two fields nearer than that are one */

typedef struct {
    ts_arena *arena;
    const ts_calibrate_request *request;
    ts_fitted_field *fields;
    int row_count;
    int count;                                         /* of fields in use */
    double scale[TS_CALIBRATE_MAX_FIELDS];             /* log(new value / old value) of each */
    double *residual, *moved[TS_CALIBRATE_MAX_FIELDS]; /* by row; a column for each field */
    bool *used;
} fit;

/* ---- Machines ---- */

static int64_t clamp(const ts_fitted_field *f, double value) {
    double low = (double)f->before / FACTOR, high = (double)f->before * FACTOR;
    low = fmax(low, (double)f->field->min);
    high = fmin(high, (double)f->field->max);
    return (int64_t)(fmin(fmax(value, low), high) + 0.5);
}

static int64_t value_of(const fit *f, int i) {
    return clamp(&f->fields[i], (double)f->fields[i].before * exp(f->scale[i]));
}

static double scale_of(const ts_fitted_field *field, int64_t value) {
    return log((double)value / (double)field->before);
}

static const ts_machine *machine_of(ts_error *err, const fit *f) {
    int set_count = f->request->set_count;
    const char **sets = TS_NEW_ARRAY(f->arena, const char *, set_count + f->count);
    for (int i = 0; i < set_count; i++) sets[i] = f->request->sets[i];
    for (int i = 0; i < f->count; i++) {
        ts_text text = ts_text_begin(f->arena);
        ts_text_add(&text, "%s=", f->fields[i].path);
        ts_field_print_value(&text, f->fields[i].field, value_of(f, i));
        sets[set_count + i] = text.bytes;
    }
    return ts_machine_load_with(err, f->arena, f->request->machine, "--fit", sets, set_count + f->count);
}

static bool find_field(ts_error *err, const ts_machine *machine, const char *path, ts_fitted_field *out) {
    const ts_field_leaf *leaf = ts_machine_leaf(machine, path);
    if (leaf == NULL) {
        ts_error_set(err, TS_ERROR_USAGE, "--fit: the machine has no figure '%.60s'", path);
        return ts_error_hint(err, ts_text_nearest(path, &machine->leaves[0].path, (size_t)machine->leaf_count,
                                                  sizeof machine->leaves[0]));
    }
    ts_field_kind kind = leaf->field->kind;
    *out = (ts_fitted_field){.path = leaf->path, .field = leaf->field};
    if (kind != TS_FIELD_TIME && kind != TS_FIELD_CYCLES && kind != TS_FIELD_CLOCK &&
        kind != TS_FIELD_INTEGER && kind != TS_FIELD_BYTES)
        return ts_error_set(err, TS_ERROR_USAGE, "--fit: %s is no time, clock, number or size", path);
    if (leaf->field->power_of_two)
        return ts_error_set(err, TS_ERROR_USAGE, "--fit: %s must stay a power of two", path);
    out->before = out->after = ts_field_value(leaf->field, leaf->at);
    if (leaf->field->min == leaf->field->max)
        return ts_error_set(err, TS_ERROR_USAGE, "--fit: %s is %lld on all machines", path,
                            (long long)out->before);
    if (out->before > 0) return true;
    return ts_error_set(err, TS_ERROR_USAGE, "--fit: %s is 0: start it from a guess with --set", path);
}

/* ---- Rows ---- */

/* Logarithms of simulated / measured, of the rows in use. False: a row that was modelled no longer is. */
static bool find_residual(ts_error *err, const fit *f, const ts_validation *v, double *residual) {
    for (int i = 0; i < v->row_count; i++) {
        if (!f->used[i]) continue;
        if (v->rows[i].reason != NULL)
            return ts_error_set(err, TS_ERROR_INPUT, "%s: %s", v->rows[i].row->id, v->rows[i].reason);
        residual[i] = log(v->rows[i].simulated_us / v->rows[i].work.measured_us);
    }
    return true;
}

static bool validate(ts_error *err, ts_arena *arena, const ts_calibrate_request *request,
                     const ts_machine *machine, ts_validation *v) {
    const ts_validate_request rows = {.measurements = request->measurements,
                                      .machine = machine,
                                      .exact = request->exact,
                                      .threads = request->threads};
    return ts_validate(err, arena, &rows, v);
}

/* Those of the figures as they are now; of the rows nothing else is kept. */
static bool look(ts_error *err, const fit *f, double *residual) {
    ts_arena *scratch = ts_arena_new();
    ts_validation v;
    const ts_machine *machine = machine_of(err, f);
    bool good =
        machine && validate(err, scratch, f->request, machine, &v) && find_residual(err, f, &v, residual);
    ts_arena_free(scratch);
    return good;
}

static double product_of(const fit *f, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < f->row_count; i++) sum += f->used[i] ? a[i] * b[i] : 0;
    return sum;
}

/* A step up from a value, or down; by one at least. */
static int64_t neighbour(const ts_fitted_field *field, double value, bool up) {
    double above = value * exp(step_size), below = value * exp(-step_size);
    if (above < value + 1) above = value + 1, below = value - 1;
    return clamp(field, up ? above : below);
}

/* How the rows move with a field, by a step up or down. */
static bool take_step(ts_error *err, fit *f, int j, bool up, int rows) {
    double before = f->scale[j], value = (double)value_of(f, j), *moved = f->moved[j];
    f->scale[j] = scale_of(&f->fields[j], neighbour(&f->fields[j], value, up));
    double step = log((double)value_of(f, j) / value);
    bool good = look(err, f, moved);
    f->scale[j] = before;
    for (int i = 0; i < f->row_count; i++) moved[i] = good ? (moved[i] - f->residual[i]) / step : 0;
    f->fields[j].elasticity = sqrt(product_of(f, moved, moved) / rows);
    return good;
}

/* Up where it has room; down where that is no machine, or moves nothing: what bounds it may be there, another
 * bound above. */
static bool look_along(ts_error *err, fit *f, int j, int rows) {
    const ts_fitted_field *field = &f->fields[j];
    int64_t value = value_of(f, j);
    bool above = neighbour(field, (double)value, true) > value,
         below = neighbour(field, (double)value, false) < value;
    ts_error why = {0}, none = {0};
    bool good = take_step(&why, f, j, above, rows);
    if (good && (!above || !below || field->elasticity >= least_moved)) return true;
    if (ts_error_keep_system(err, &why)) return false;
    if (take_step(&none, f, j, false, rows)) return true;
    if (ts_error_keep_system(err, &none)) return false;
    return good || ts_error_set(err, TS_ERROR_INPUT, "%s cannot be fitted: %s", field->path, why.message);
}

static bool look_around(ts_error *err, fit *f, int rows) {
    for (int j = 0; j < f->count; j++)
        if (!look_along(err, f, j, rows)) return false;
    return true;
}

/* What is left of the squares with the figures as they are now; infinite: there is no such machine. */
static bool try_out(ts_error *err, const fit *f, double *trial, double *sum) {
    ts_error none = {0};
    bool good = look(&none, f, trial);
    *sum = good ? product_of(f, trial, trial) : HUGE_VAL;
    return good || !ts_error_keep_system(err, &none);
}

/* A first guess: a figure that binds nothing where it is may bind elsewhere, which no slope there tells. Each
 * in turn is tried at a half, a quarter, twice and four times what it was. */
static bool scan(ts_error *err, fit *f) {
    double *trial = TS_NEW_ARRAY(f->arena, double, f->row_count);
    for (int j = 0; j < f->count; j++) {
        double best = 0, least = product_of(f, f->residual, f->residual) * SCAN_GAIN;
        for (int power = -2; power <= 2; power++) {
            double sum;
            f->scale[j] = power * log(2);
            if (power == 0) continue;
            if (!try_out(err, f, trial, &sum)) return false;
            if (sum >= least) continue;
            least = sum;
            best = f->scale[j];
            memcpy(f->residual, trial, (size_t)f->row_count * sizeof *trial);
        }
        f->scale[j] = best;
    }
    return true;
}

/* Where it moves no row a figure cannot be fitted: from there it goes back to what it was. */
static bool go_back(ts_error *err, fit *f, int rows) {
    bool went = false;
    for (int j = 0; j < f->count; j++) {
        if (f->scale[j] == 0 || f->fields[j].elasticity >= least_moved) continue;
        f->scale[j] = 0;
        went = true;
    }
    return !went || (look(err, f, f->residual) && look_around(err, f, rows));
}

/* ---- Which fields the rows determine ---- */

static const char *doubt(const fit *f, int field, const int *kept, int count) {
    double *mine = f->moved[field], norm = product_of(f, mine, mine);
    if (f->fields[field].elasticity < least_moved) return "no row depends on it";
    double *left = TS_COPY_ARRAY(f->arena, mine, f->row_count);
    double *basis[TS_CALIBRATE_MAX_FIELDS]; /* of what the kept ones move, orthogonal */
    for (int k = 0; k < count; k++) {
        basis[k] = TS_COPY_ARRAY(f->arena, f->moved[kept[k]], f->row_count);
        for (int b = 0; b < k; b++) {
            double share = product_of(f, basis[b], basis[k]) / product_of(f, basis[b], basis[b]);
            for (int i = 0; i < f->row_count; i++) basis[k][i] -= share * basis[b][i];
        }
        double share = product_of(f, basis[k], left) / product_of(f, basis[k], basis[k]);
        for (int i = 0; i < f->row_count; i++) left[i] -= share * basis[k][i];
    }
    return product_of(f, left, left) < least_apart * norm ? "the rows move with it as they do with the others"
                                                          : NULL;
}

/* Those that are left out move behind the others, and go back to what they were: whether one had gone
 * elsewhere. */
static bool sort_fields(fit *f) {
    ts_fitted_field sorted[TS_CALIBRATE_MAX_FIELDS];
    double *moved[TS_CALIBRATE_MAX_FIELDS], scale[TS_CALIBRATE_MAX_FIELDS];
    int at = 0;
    bool went = false;
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < f->count; j++) {
            if ((f->fields[j].left_out != NULL) != (pass == 1)) continue;
            moved[at] = f->moved[j];
            scale[at] = pass == 0 ? f->scale[j] : 0;
            went |= scale[at] != f->scale[j];
            sorted[at++] = f->fields[j];
        }
    }
    memcpy(f->fields, sorted, (size_t)f->count * sizeof *sorted);
    memcpy(f->moved, moved, (size_t)f->count * sizeof *moved);
    memcpy(f->scale, scale, (size_t)f->count * sizeof *scale);
    return went;
}

/* Keeps those that the rows determine. */
static bool choose(ts_error *err, fit *f, int rows, bool all_wanted) {
    int kept[TS_CALIBRATE_MAX_FIELDS], count = 0;
    if (all_wanted && f->count * ROWS_A_FIELD > rows)
        return ts_error_set(err, TS_ERROR_INPUT, "%d rows carry %d figures, found %d to fit", rows,
                            rows / ROWS_A_FIELD, f->count);
    for (int j = 0; j < f->count; j++) {
        const char *why = doubt(f, j, kept, count);
        if (why == NULL && (count + 1) * ROWS_A_FIELD > rows) why = "there are too few rows";
        f->fields[j].left_out = why;
        if (why != NULL && all_wanted)
            return ts_error_set(err, TS_ERROR_INPUT, "%s cannot be fitted: %s", f->fields[j].path, why);
        if (why == NULL) kept[count++] = j;
    }
    if (count == 0) return ts_error_set(err, TS_ERROR_INPUT, "%d rows determine none of the figures", rows);
    bool went = sort_fields(f);
    f->count = count;
    return !went || (look(err, f, f->residual) && look_around(err, f, rows));
}

/* ---- Least squares, by Levenberg and Marquardt ---- */

/* The damping falls by so much after a step that makes the sum of squares less, and rises after one that does
 * not; it is over when the sum falls by less than one part in a thousand, or the damping is at its most. */
static const double FIRST_DAMPING = 1e-3, LESS_DAMPING = 10, MORE_DAMPING = 100, MOST_DAMPING = 1e3,
                    LITTLE_LESS = 0.999;

/* The step, a little damped: Gaussian elimination, no figure is more than eight. A figure that moves no
 * row where it has come to, or only as those before it do, stays there. */
static void solve(const fit *f, double damping, double *step) {
    double a[TS_CALIBRATE_MAX_FIELDS][TS_CALIBRATE_MAX_FIELDS + 1];
    int n = f->count;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            a[i][j] = product_of(f, f->moved[i], f->moved[j]) * (i == j ? 1 + damping : 1);
        a[i][n] = -product_of(f, f->moved[i], f->residual);
    }
    for (int i = 0; i < n; i++) { /* symmetric and positive: no pivoting */
        for (int k = i + 1; k < n && a[i][i] > 0; k++) {
            double factor = a[k][i] / a[i][i];
            for (int j = i; j <= n; j++) a[k][j] -= factor * a[i][j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        step[i] = a[i][n];
        for (int j = i + 1; j < n; j++) step[i] -= a[i][j] * step[j];
        step[i] = a[i][i] > 0 ? step[i] / a[i][i] : 0;
    }
}

/* To the nearest values that the fields can hold. */
static void go_down(fit *f, double damping) {
    double step[TS_CALIBRATE_MAX_FIELDS];
    solve(f, damping, step);
    for (int j = 0; j < f->count; j++) {
        f->scale[j] += fmin(fmax(step[j], -1), 1);
        f->scale[j] = scale_of(&f->fields[j], value_of(f, j));
    }
}

static bool descend(ts_error *err, fit *f, int rows) {
    double damping = FIRST_DAMPING, *trial = TS_NEW_ARRAY(f->arena, double, f->row_count);
    for (int round = 0; round < ITERATIONS; round++) {
        double before[TS_CALIBRATE_MAX_FIELDS], now, sum = product_of(f, f->residual, f->residual);
        memcpy(before, f->scale, sizeof before);
        go_down(f, damping);
        if (!try_out(err, f, trial, &now)) return false;
        if (now < sum) {
            memcpy(f->residual, trial, (size_t)f->row_count * sizeof *trial);
            damping /= LESS_DAMPING;
            if (now > LITTLE_LESS * sum || now < NEAR * rows) return true;
            if (!look_around(err, f, rows)) return false;
        } else {
            memcpy(f->scale, before, sizeof before);
            damping *= MORE_DAMPING;
            if (damping > MOST_DAMPING) return true;
        }
    }
    return true;
}

/* ---- The whole ---- */

static int use_rows(fit *f, const ts_validation *v) {
    int rows = 0;
    for (int i = 0; i < v->row_count; i++) {
        f->used[i] = v->rows[i].reason == NULL;
        rows += f->used[i];
    }
    return rows;
}

/* No row is used: why the first of the machine's chip, if there is one, is not. */
static bool refuse_rows(ts_error *err, ts_arena *arena, const ts_validation *v) {
    int i = 0;
    while (i < v->row_count && v->rows[i].is_left_out) i++;
    if (i == v->row_count) return ts_validation_refuse(err, arena, v, " and modelled");
    return ts_error_set(err, TS_ERROR_INPUT, "no row is of a %s and modelled; %s: %s", v->machine->title,
                        v->rows[i].row->id, v->rows[i].reason);
}

/* Those that are asked for, else those that are usual. */
static bool find_fields(ts_error *err, fit *f, ts_calibration *c) {
    const ts_calibrate_request *request = f->request;
    bool asked = request->fields != NULL;
    const char *const *wanted = asked ? request->fields : ts_calibrate_fields;
    for (; asked ? f->count < request->field_count : wanted[f->count] != NULL; f->count++) {
        if (f->count == TS_CALIBRATE_MAX_FIELDS)
            return ts_error_set(err, TS_ERROR_USAGE, "more than %d figures to fit", TS_CALIBRATE_MAX_FIELDS);
        ts_fitted_field *field = &c->fields[f->count];
        if (!find_field(err, c->before, wanted[f->count], field)) return false;
        for (int i = 0; i < f->count; i++)
            if (strcmp(c->fields[i].path, field->path) == 0)
                return ts_error_set(err, TS_ERROR_USAGE, "--fit: %s is there twice", field->path);
        f->moved[f->count] = TS_NEW_ARRAY(f->arena, double, f->row_count);
    }
    c->field_count = f->count;
    return true;
}

static bool fit_fields(ts_error *err, fit *f, int rows, bool asked) {
    return scan(err, f) && look_around(err, f, rows) && go_back(err, f, rows) &&
           choose(err, f, rows, asked) && descend(err, f, rows);
}

static void note_values(const fit *f, ts_calibration *c) {
    for (int j = 0; j < f->count; j++) {
        ts_fitted_field *field = &c->fields[j];
        field->after = value_of(f, j);
        field->at_bound = field->after == clamp(field, -HUGE_VAL) || field->after == clamp(field, HUGE_VAL);
    }
}

bool ts_calibrate(ts_error *err, ts_arena *arena, const ts_calibrate_request *request, ts_calibration *c) {
    *c = (ts_calibration){.before = ts_machine_load_with(err, arena, request->machine, request->sets_from,
                                                         request->sets, request->set_count)};
    if (c->before == NULL) return false;
    fit f = {.arena = arena,
             .request = request,
             .fields = c->fields,
             .row_count = request->measurements->table.count};
    if (!find_fields(err, &f, c)) return false;
    f.used = TS_NEW_ARRAY(arena, bool, f.row_count);
    f.residual = TS_NEW_ARRAY(arena, double, f.row_count);
    if (!validate(err, arena, request, c->before, &c->first)) return false;
    c->rows = use_rows(&f, &c->first);
    if (c->rows == 0) return refuse_rows(err, arena, &c->first);
    if (!find_residual(err, &f, &c->first, f.residual)) return false;
    if (!fit_fields(err, &f, c->rows, request->fields != NULL)) return false;
    note_values(&f, c);
    c->after = machine_of(err, &f);
    return c->after != NULL && validate(err, arena, request, c->after, &c->last);
}

bool ts_calibration_print(ts_error *err, ts_arena *arena, const ts_calibration *c, const char *source,
                          ts_text *out) {
    static const char mark[] = "# override\n"; /* of what was fitted or set */
    ts_text plain = ts_text_begin(arena);
    ts_machine_print(&plain, c->after);
    for (const char *at = plain.bytes, *end; *at != '\0'; at = end) {
        end = strstr(at, mark);
        if (end == NULL) {
            ts_text_add(out, "%s", at);
            break;
        }
        ts_text_add_bytes(out, at, (size_t)(end - at));
        ts_text_add(out, "# derived (%s)\n", source);
        end += sizeof mark - 1;
    }
    ts_source text = {"the fitted machine", out->bytes, out->length};
    const ts_tree *tree = ts_tree_parse(err, arena, &text);
    const ts_machine *again = tree != NULL ? ts_machine_read(err, arena, c->after->name, tree) : NULL;
    return again != NULL &&
           (again->hash == c->after->hash ||
            ts_error_set(err, TS_ERROR_INPUT, "the fitted machine does not read back as itself"));
}
