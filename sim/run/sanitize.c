/* What the sanitizer asks at the end of a run: was every element of every output written? */
#include "check/outputs.h"
#include "layout/shape.h"

#include "run_parts.h"

bool *mark_tensors(ts_arena *arena, const ts_program *program, unsigned roles) {
    bool *marked = TS_NEW_ARRAY(arena, bool, program->code.tensor_count + 1);
    for (int i = 0; i < program->code.tensor_count; i++)
        marked[i] = (roles >> program->uses[i].role & 1) != 0;
    return marked;
}

/* Values that were sent undefined are told where they were sent. Padding of a device's part may be
 * anything. */
bool find_unwritten(ts_error *err, const run_device *device, const ts_program *program, const bool *outputs,
                    ts_findings *findings) {
    const ts_code *code = &program->code;
    bool good = true;
    for (int i = 0; good && !ts_findings_have(findings, TS_FINDING_OUTPUT) && i < code->tensor_count; i++) {
        const ts_layout *layout = code->tensors[i].shape->layout;
        const ts_tensor_use *use = &program->uses[i];
        int64_t held[TS_LAYOUT_MAX_DIMS];
        if (!outputs[i] || !layout) continue;
        for (int d = 0; d < layout->rank; d++)
            held[d] = use->sharding ? sharded_held(use->sharding, d, device->device) : layout->dims[d];
        ts_outputs all = {.code = code, .outputs = outputs, .findings = findings, .held = held};
        good = ts_outputs_find_unwritten(err, &all, i, ts_chip_space(device->chip, code->tensors[i].space),
                                         (ts_location){use->source, use->line, 1}, device->cycle);
    }
    return good;
}
