/* Checks: what the program left is compared with what the reference makes of its inputs. */
#include <string.h>

#include "base/number.h"
#include "run_parts.h"

typedef enum { AFTER_RUN, BEFORE_RUN } moment;

/* Tensors as they are after the run, or inputs as they were before it; and parameters. Without `tensors`, all
 * that may be named. */
static ts_reference_names make_names(ts_arena *arena, const ts_program *program, const ts_run_tensor *tensors,
                                     moment when) {
    const ts_code *code = &program->code;
    ts_reference_name *names =
        TS_NEW_ARRAY(arena, ts_reference_name, code->tensor_count + program->param_count + 1);
    size_t count = 0;
    for (int i = 0; i < code->tensor_count; i++) {
        bool first = tensors != NULL && when == BEFORE_RUN && tensors[i].origin != NULL;
        if (tensors == NULL || first || tensors[i].fetched.read != NULL) {
            const ts_host_array *array = tensors == NULL ? NULL
                                         : first         ? &tensors[i].before
                                                         : &tensors[i].after;
            names[count] = (ts_reference_name){.name = code->tensors[i].name, .array = array};
            if (array != NULL && array->bytes == NULL)
                names[count].reader = first ? tensors[i].made : tensors[i].fetched;
            count++;
        }
    }
    for (int i = 0; i < program->param_count; i++) {
        const ts_param *param = &program->params[i];
        names[count++] = (ts_reference_name){
            .name = param->name, .number = param->is_float ? param->number : (double)param->integer};
    }
    return (ts_reference_names){names, count};
}

static bool read_nothing(ts_error *err, void *self, int64_t begin, int64_t stride, size_t count,
                         void *elements) {
    (void)self, (void)begin, (void)stride, (void)count, (void)elements;
    return ts_error_set(err, TS_ERROR_INPUT, "there is nothing to read yet");
}

/* The tensors as they will be: inputs that are made or read, and what is fetched a part at a time. */
static ts_run_tensor *foresee(ts_arena *arena, const ts_program *program) {
    const ts_code *code = &program->code;
    ts_run_tensor *tensors = TS_NEW_ARRAY(arena, ts_run_tensor, code->tensor_count + 1);
    for (int i = 0; i < code->tensor_count; i++) {
        const ts_shape *shape = ts_program_shape(program, i);
        ts_tensor_role role = program->uses[i].role;
        ts_error err = {0};
        if (!ts_host_array_describe(&err, shape->dtype, shape->layout->rank, shape->layout->dims,
                                    &tensors[i].after))
            continue;
        tensors[i].before = tensors[i].after;
        tensors[i].fetched = (ts_host_reader){read_nothing, NULL, true};
        tensors[i].made = (ts_host_reader){read_nothing, NULL, false};
        tensors[i].origin = role == TS_ROLE_IN || role == TS_ROLE_INOUT ? "foreseen" : NULL;
    }
    return tensors;
}

int64_t checks_bytes(const ts_program *program, const ts_check *checks) {
    ts_arena *scratch = ts_arena_new();
    const ts_run_tensor *tensors = foresee(scratch, program);
    int64_t most = 0;
    const ts_reference_names after = make_names(scratch, program, tensors, AFTER_RUN);
    const ts_reference_names before = make_names(scratch, program, tensors, BEFORE_RUN);
    for (int i = 0; i < program->check_count; i++) {
        int64_t bytes = ts_check_bytes(&checks[i], &after, &before);
        most = ts_max(bytes, most);
    }
    ts_arena_free(scratch);
    return most;
}

static bool parse_check(ts_error *err, ts_arena *arena, const ts_program_check *text, ts_check *out) {
    return ts_check_parse(err, arena, text->source, text->begin, text->end, out);
}

static bool parse_report(ts_error *err, ts_arena *arena, const ts_program_check *text, ts_check *out) {
    const ts_reference *read = ts_reference_parse(err, arena, text->source, text->begin, text->end);
    *out = (ts_check){.actual = read, .expected = read};
    return read != NULL;
}

typedef struct {
    ts_error list[TS_PROGRAM_ERRORS_MAX];
    int count;
    bool more;
} errors;

/* What was said of another check, such as a name that is unknown, is said once. */
static void keep(errors *kept, const ts_error *err) {
    for (int i = 0; i < kept->count; i++)
        if (strcmp(kept->list[i].message, err->message) == 0) return;
    if (kept->count == TS_PROGRAM_ERRORS_MAX)
        kept->more = true;
    else
        kept->list[kept->count++] = *err;
}

static void give(errors *kept, ts_error *err) {
    for (int i = 0; i < kept->count; i++) {
        kept->list[i].next = i + 1 < kept->count ? &kept->list[i + 1] : NULL;
        kept->list[i].more = kept->more;
    }
    if (err != NULL && err->kind == TS_ERROR_NONE) *err = kept->list[0];
}

/* Checks and reports, in the order of the text. */
const ts_check *parse_checks(ts_error *err, ts_arena *arena, const ts_program *program) {
    ts_check *checks = TS_NEW_ARRAY(arena, ts_check, program->check_count + program->report_count + 1);
    errors *kept = TS_NEW(arena, errors);
    const ts_reference_names names = make_names(arena, program, NULL, AFTER_RUN);
    for (int check = 0, report = 0; check < program->check_count || report < program->report_count;) {
        const ts_program_check *a = check < program->check_count ? &program->checks[check] : NULL;
        const ts_program_check *b = report < program->report_count ? &program->reports[report].text : NULL;
        bool first = b == NULL || (a != NULL && (a->source != b->source || a->begin < b->begin));
        ts_check *out = &checks[first ? check++ : program->check_count + report++];
        ts_error theirs = {0};
        if (!(first ? parse_check(&theirs, arena, a, out) : parse_report(&theirs, arena, b, out)) ||
            !ts_check_resolve(&theirs, out, names.list, names.count))
            keep(kept, &theirs);
    }
    if (kept->count > 0) give(kept, err);
    return kept->count == 0 ? checks : NULL;
}

bool run_checks(ts_error *err, const ts_program *program, const ts_check *checks,
                const ts_run_tensor *tensors, ts_check_result *results) {
    for (int i = 0; i < program->check_count; i++) {
        ts_arena *scratch = ts_arena_new();
        const ts_reference_names after = make_names(scratch, program, tensors, AFTER_RUN);
        const ts_reference_names before = make_names(scratch, program, tensors, BEFORE_RUN);
        bool good = find_run_tensor(err, program, ".check", checks[i].name) >= 0 &&
                    ts_check_run(err, scratch, &checks[i], &after, &before, &results[i]);
        ts_arena_free(scratch);
        if (!good) return false;
    }
    return true;
}

bool run_reports(ts_error *err, const ts_program *program, const ts_check *checks,
                 const ts_run_tensor *tensors, double *results) {
    for (int i = 0; i < program->report_count; i++) {
        ts_arena *scratch = ts_arena_new();
        const ts_reference_names names = make_names(scratch, program, tensors, AFTER_RUN);
        ts_reference_value value;
        bool good = ts_reference_evaluate(err, scratch, checks[program->check_count + i].actual, names.list,
                                          names.count, &value);
        if (good && value.count != 1) {
            const ts_program_check *text = &program->reports[i].text;
            good = ts_error_at(err, TS_ERROR_INPUT, text->source, text->begin,
                               "a report is one number, found %zu", value.count);
        }
        results[i] = good ? ts_plain_nan(value.values[0]) : 0;
        ts_arena_free(scratch);
        if (!good) return false;
    }
    return true;
}
