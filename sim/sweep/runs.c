/* A study whose points are runs of one program; its rows ranked. */
#include "sweep/runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "names.h"

/* ---- The runs ---- */

static const ts_sweep_row *run_study(ts_error *err, ts_arena *arena, const ts_sweep_runs_request *r,
                                     ts_sweep_study *study) {
    const ts_sweep_crew_request workers = {.study = study, .workers = r->workers};
    ts_sweep_row *rows = TS_NEW_ARRAY(arena, ts_sweep_row, r->grid->point_count);
    ts_sweep_crew crew;
    ts_sweep_result result;
    const ts_sweep_request all = {
        .study = study, .rows = rows, .crew = &crew, .progress = r->progress, .self = r->self};
    if (!ts_sweep_processes(err, arena, &workers, &crew)) return NULL;
    bool good = ts_sweep(err, arena, &all, &result);
    crew.dismiss(crew.self);
    return good ? rows : NULL;
}

static ts_sweep_study *study_of(ts_arena *arena, const ts_sweep_runs_request *r) {
    ts_sweep_study *study = TS_NEW(arena, ts_sweep_study);
    const char **names = TS_NEW_ARRAY(arena, const char *, r->grid->axis_count + 1);
    for (int i = 0; i < r->grid->axis_count; i++) names[i] = r->grid->axes[i].name;
    *study =
        (ts_sweep_study){.grid = *r->grid, .names = names, .name_count = r->grid->axis_count, .run = &r->run};
    return study;
}

const ts_sweep_row *ts_sweep_runs(ts_error *err, ts_arena *arena, const ts_sweep_runs_request *request) {
    return run_study(err, arena, request, study_of(arena, request));
}

/* ---- Block sizes ---- */

static bool is_name(const char *name) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char digits[] = "0123456789";
    size_t first = strspn(name, letters), length = first;
    for (size_t more = 1; more > 0; length += more)
        more = strspn(name + length, letters) + strspn(name + length, digits);
    return first > 0 && name[length] == '\0';
}

static bool check_names(ts_error *err, const ts_sweep_runs_request *r) {
    for (int i = 0; i < r->grid->axis_count; i++) {
        const char *name = r->grid->axes[i].name;
        if (!is_name(name))
            return ts_error_set(err, TS_ERROR_USAGE, "--block '%.60s': expected a name of letters and digits",
                                name);
        for (int k = 0; k < r->run.define_count; k++)
            if (strcmp(r->run.defines[k].name, name) == 0)
                return ts_error_set(err, TS_ERROR_USAGE, "--block %s: it has a value already", name);
    }
    return true;
}

/* "k.$BM.mlir" */
static bool find_path(ts_error *err, ts_arena *arena, const char *program, ts_sweep_study *study) {
    ts_source *source = TS_NEW(arena, ts_source);
    ts_tree *path = TS_NEW(arena, ts_tree);
    const sweep_known known = {study, -1};
    if (!strchr(program, '$')) return true;
    *source = (ts_source){"PROGRAM", program, strlen(program)};
    *path = (ts_tree){.kind = TS_TREE_SCALAR, .text = program, .source = source};
    study->path = path;
    return sweep_check_text(err, arena, &known, path);
}

/* ---- Ranks ---- */

static ts_sweep_class class_of(const ts_sweep_row *row) {
    if (!row->err) return TS_SWEEP_TIMED;
    return row->err->kind == TS_ERROR_CAPACITY ? TS_SWEEP_MISFIT : TS_SWEEP_UNTIMED;
}

typedef struct {
    int64_t cycles; /* 0: none */
    int64_t point;
} ranked;

static int by_cycles(const void *one, const void *other) {
    const ranked *a = one, *b = other;
    return a->cycles != b->cycles ? ts_order(a->cycles, b->cycles) : ts_order(a->point, b->point);
}

static void rank(ts_arena *arena, int64_t count, ts_sweep_blocks *blocks) {
    ranked *list = TS_NEW_ARRAY(arena, ranked, count);
    for (int64_t i = 0; i < count; i++)
        list[i] = (ranked){blocks->rows[i].values[TS_COUNTER_CYCLES].integer, i};
    qsort(list, (size_t)count, sizeof *list, by_cycles);
    for (int kind = 0; kind < TS_SWEEP_CLASSES; kind++) {
        int64_t *points = TS_NEW_ARRAY(arena, int64_t, count), found = 0;
        for (int64_t i = 0; i < count; i++)
            if (class_of(&blocks->rows[list[i].point]) == (ts_sweep_class)kind)
                points[found++] = list[i].point;
        blocks->points[kind] = points;
        blocks->counts[kind] = found;
    }
}

bool ts_sweep_rank_blocks(ts_error *err, ts_arena *arena, const ts_sweep_runs_request *request,
                          ts_sweep_blocks *blocks) {
    ts_sweep_study *study = study_of(arena, request);
    if (!check_names(err, request) || !find_path(err, arena, request->run.program, study)) return false;
    blocks->rows = run_study(err, arena, request, study);
    if (blocks->rows) rank(arena, request->grid->point_count, blocks);
    return blocks->rows != NULL;
}
