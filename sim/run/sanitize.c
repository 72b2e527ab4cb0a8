/* What the sanitizer asks at the end of a run: was every element of every output written? */
#include <stdio.h>
#include <string.h>

#include "move/move.h"
#include "layout/shape.h"

#include "run_parts.h"

static bool has_kind(const ts_findings *findings, ts_finding_kind kind) {
    for (int i = 0; i < findings->count; i++) {
        if (findings->list[i].kind == kind) {
            return true;
        }
    }
    return false;
}

bool *mark_tensors(ts_arena *arena, const ts_program *program, unsigned roles) {
    bool *marked = TS_NEW_ARRAY(arena, bool, program->code.tensor_count + 1);
    for (int i = 0; i < program->code.tensor_count; i++) {
        marked[i] = (roles >> program->uses[i].role & 1) != 0;
    }
    return marked;
}

static const ts_source *source_of(const ts_program *program) {
    const ts_code *code = &program->code;
    return code->bundle_count > 0 && code->bundles[0].count > 0 ? code->bundles[0].instructions[0].source
                                                                : NULL;
}

static void describe(ts_finding *finding, const ts_tensor *tensor, int64_t flat) {
    const ts_layout *layout = tensor->shape->layout;
    char index[96];
    int64_t rest = flat;
    size_t at = sizeof index - 1;
    index[at] = '\0';
    for (int dim = layout->rank - 1; dim >= 0; dim--) {
        char one[24];
        int length = snprintf(one, sizeof one, "%s%lld", dim > 0 ? "," : "",
                              (long long)(rest % (layout->dims[dim] > 0 ? layout->dims[dim] : 1)));
        rest /= layout->dims[dim] > 0 ? layout->dims[dim] : 1;
        at = at >= (size_t)length ? at - (size_t)length : 0;
        memcpy(index + at, one, (size_t)length);
    }
    ts_finding_describe(finding, "%s[%s] was never written", tensor->name, index + at);
}

/* Values that were sent undefined are told where they were sent. */
bool find_unwritten(ts_error *err, ts_chip *chip, const ts_program *program, const bool *outputs,
                    ts_findings *findings, int64_t cycle) {
    ts_arena *scratch = ts_arena_new();
    bool good = true;
    for (int i = 0; good && !has_kind(findings, TS_FINDING_OUTPUT) && i < program->code.tensor_count; i++) {
        const ts_tensor *tensor = &program->code.tensors[i];
        const ts_shape *shape = tensor->shape;
        ts_space *space = ts_chip_space(chip, tensor->space);
        int64_t axis_bits[TS_LAYOUT_MAX_AXES], from, to;
        if (!outputs[i] || !shape->layout) {
            continue;
        }
        const ts_shape *flat =
            ts_shape_row_major(err, scratch, shape->dtype, shape->layout->rank, shape->layout->dims);
        good = flat && ts_space_place(err, space, shape, tensor->base_bytes, axis_bits);
        ts_plan_side side = {shape, NULL, axis_bits, tensor->base_bytes * 8}, rows = {flat, NULL, NULL, 0};
        const ts_plan *plan =
            good ? ts_plan_new(err, scratch, &side, &rows, shape->layout->rank, shape->layout->dims) : NULL;
        good = plan != NULL;
        if (good && ts_dma_find_poison(plan, space, &from, &to)) {
            ts_place where = {source_of(program), program->uses[i].line, 1};
            ts_finding *finding =
                ts_findings_add(findings, TS_FINDING_UNWRITTEN, where, (ts_place){0}, cycle);
            if (finding) {
                describe(finding, tensor, to / flat->element_bits);
            }
        }
    }
    ts_arena_free(scratch);
    return good;
}
