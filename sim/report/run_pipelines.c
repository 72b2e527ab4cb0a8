/* Loops under .pack pipeline: how often an iteration begins, and what it would take at least. */
#include "run_private.h"

enum { SHOWN = 8 };

void report_run_pipelines(const ts_program *program, ts_text *out) {
    for (int i = 0; i < program->pipeline_count && i < SHOWN; i++) {
        const ts_program_pipeline *p = &program->pipelines[i];
        ts_text_add(out, "%-10s ", i == 0 ? "pipelines" : "");
        if (program->includes) ts_text_add(out, "%s:", ts_text_one_line(out->arena, p->source->name));
        ts_text_add(out, "%d: %s in %lld cycles, %d under way; slot bound %lld, critical path %lld\n",
                    p->line, ts_text_counted(out->arena, p->iterations, "iteration"), (long long)p->cycles,
                    p->iterations * p->stages, (long long)p->slot_cycles, (long long)p->path_cycles);
    }
    if (program->pipeline_count > SHOWN)
        ts_text_add(out, "           %s\n",
                    ts_text_counted(out->arena, program->pipeline_count - SHOWN, "other"));
}

void report_run_pipelines_json(const ts_program *program, ts_json *json) {
    if (program->pipeline_count == 0) return;
    ts_json_array(json, "pipelines");
    for (int i = 0; i < program->pipeline_count; i++) {
        const ts_program_pipeline *p = &program->pipelines[i];
        ts_json_object(json, NULL);
        ts_json_text(json, "file", p->source->name);
        ts_json_int(json, "line", p->line);
        ts_json_int(json, "iterations", p->iterations);
        ts_json_int(json, "stages", p->stages);
        ts_json_int(json, "cycles", p->cycles);
        ts_json_int(json, "slot_bound", p->slot_cycles);
        ts_json_int(json, "critical_path", p->path_cycles);
        ts_json_close(json);
    }
    ts_json_close(json);
}
