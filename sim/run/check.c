/* Checks: what the program left is compared with what the reference makes of its inputs. */
#include <string.h>

#include "run_parts.h"

/* Tensors as they are after the run, or inputs as they were before it; and parameters. Without `tensors`, all
 * that may be named. */
static ts_reference_name *make_names(ts_arena *arena, const ts_program *program, const ts_run_tensor *tensors,
                                     bool before, size_t *count) {
    const ts_code *code = &program->code;
    ts_reference_name *names =
        TS_NEW_ARRAY(arena, ts_reference_name, code->tensor_count + program->param_count + 1);
    *count = 0;
    for (int i = 0; i < code->tensor_count; i++) {
        bool first = tensors != NULL && before && tensors[i].origin != NULL;
        if (tensors == NULL || first || tensors[i].fetched.read != NULL) {
            const ts_host_array *array = tensors == NULL ? NULL
                                         : first         ? &tensors[i].before
                                                         : &tensors[i].after;
            names[*count] = (ts_reference_name){.name = code->tensors[i].name, .array = array};
            if (array != NULL && array->bytes == NULL) {
                names[*count].reader = first ? tensors[i].made : tensors[i].fetched;
            }
            (*count)++;
        }
    }
    for (int i = 0; i < program->param_count; i++) {
        const ts_param *param = &program->params[i];
        names[(*count)++] = (ts_reference_name){
            .name = param->name, .number = param->is_float ? param->number : (double)param->integer};
    }
    return names;
}

const ts_check *parse_checks(ts_error *err, ts_arena *arena, const ts_program *program) {
    ts_check *checks = TS_NEW_ARRAY(arena, ts_check, program->check_count + program->report_count + 1);
    size_t count;
    const ts_reference_name *names = make_names(arena, program, NULL, false, &count);
    for (int i = 0; i < program->check_count; i++) {
        const ts_program_check *text = &program->checks[i];
        if (!ts_check_parse(err, arena, text->source, text->begin, text->end, &checks[i]) ||
            !ts_check_resolve(err, &checks[i], names, count)) {
            return NULL;
        }
    }
    for (int i = 0; i < program->report_count; i++) {
        const ts_program_check *text = &program->reports[i].text;
        const ts_reference *read = ts_reference_parse(err, arena, text->source, text->begin, text->end);
        ts_check *report = &checks[program->check_count + i];
        *report = (ts_check){.actual = read, .expected = read};
        if (read == NULL || !ts_check_resolve(err, report, names, count)) {
            return NULL;
        }
    }
    return checks;
}

bool run_checks(ts_error *err, const ts_program *program, const ts_check *checks,
                const ts_run_tensor *tensors, ts_check_result *results) {
    for (int i = 0; i < program->check_count; i++) {
        ts_arena *scratch = ts_arena_new();
        ts_reference_names after, before;
        after.list = make_names(scratch, program, tensors, false, &after.count);
        before.list = make_names(scratch, program, tensors, true, &before.count);
        bool good = find_run_tensor(err, program, ".check", checks[i].name) >= 0 &&
                    ts_check_run(err, scratch, &checks[i], &after, &before, &results[i]);
        ts_arena_free(scratch);
        if (!good) {
            return false;
        }
    }
    return true;
}

bool run_reports(ts_error *err, const ts_program *program, const ts_check *checks,
                 const ts_run_tensor *tensors, double *results) {
    for (int i = 0; i < program->report_count; i++) {
        ts_arena *scratch = ts_arena_new();
        size_t count;
        const ts_reference_name *names = make_names(scratch, program, tensors, false, &count);
        ts_reference_value value;
        bool good = ts_reference_evaluate(err, scratch, checks[program->check_count + i].actual, names, count,
                                          &value);
        if (good && value.count != 1) {
            const ts_program_check *text = &program->reports[i].text;
            good = ts_error_at(err, TS_ERROR_INPUT, text->source, text->begin,
                               "a report is one number, found %zu", value.count);
        }
        results[i] = good ? value.values[0] : 0;
        ts_arena_free(scratch);
        if (!good) {
            return false;
        }
    }
    return true;
}
