/* Points as they are asked: texts filled in, paths found from the study's folder. */
#include "sweep/case.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "mesh/mesh_file.h"
#include "names.h"
#include "study/transfer.h"

enum { UNKNOWN_BYTES = 16 << 20 };

/* "NAME=VALUE" of a map, and of parameters with a point in their name. */
static const char *setting(ts_arena *arena, const char *name, const char *value) {
    return ts_text_format(arena, "%s=%s", name, value);
}

static bool find_sets(ts_error *err, ts_arena *arena, const ts_sweep_point *point, ts_sweep_case *asked) {
    const ts_sweep_study *study = point->study;
    int fixed = study->sets ? study->sets->count : 0;
    const char **sets = TS_NEW_ARRAY(arena, const char *, fixed + study->name_count);
    asked->sets = sets;
    for (int i = 0; i < fixed; i++) {
        const ts_tree_entry *entry = &study->sets->entries[i];
        const char *value = ts_sweep_point_fill(err, arena, point, entry->value);
        if (!value) return false;
        sets[asked->set_count++] = setting(arena, entry->key, value);
    }
    for (int i = 0; i < study->name_count; i++) {
        const char *name = study->names[i], *value = point->values[i];
        if (strchr(name, '.')) sets[asked->set_count++] = setting(arena, name, value);
    }
    const char *change = ts_sweep_point_value(point, TS_SWEEP_CHANGE);
    if (change && *change) {
        const char *set = ts_sweep_moves_set(study->moves, asked, change);
        sets[asked->set_count++] = set;
    }
    return true;
}

bool ts_sweep_has_mesh_file(const ts_sweep_case *asked) {
    return asked->mesh && ts_mesh_file_is(asked->mesh, strlen(asked->mesh));
}

/* Where the study names none, that of the mesh file; of one that cannot be read, the answer says so. */
static const char *usual_machine(ts_arena *arena, const ts_sweep_case *asked) {
    const char *of_mesh =
        ts_sweep_has_mesh_file(asked) ? ts_mesh_file_machine(NULL, arena, asked->mesh) : NULL;
    return of_mesh ? of_mesh : TS_MACHINE_DEFAULT;
}

static void find_machine(ts_arena *arena, const ts_sweep_point *point, ts_sweep_case *asked) {
    const ts_sweep_study *study = point->study;
    const char *varied = ts_sweep_point_value(point, "machine");
    const char *name = varied ? varied : study->machine ? study->machine->text : NULL;
    if (ts_sweep_has_mesh_file(asked) && ts_tree_is_path(asked->mesh))
        asked->mesh = sweep_beside(arena, study, asked->mesh);
    asked->machine = !name                   ? usual_machine(arena, asked)
                     : ts_tree_is_path(name) ? sweep_beside(arena, study, name)
                                             : name;
}

static bool fill_map(ts_error *err, ts_arena *arena, const ts_sweep_point *point, const ts_tree *map,
                     const ts_define **out, int *count) {
    int entries = map ? map->count : 0;
    ts_define *pairs = TS_NEW_ARRAY(arena, ts_define, entries);
    *out = pairs;
    for (int i = 0; i < entries; i++) {
        const char *value = ts_sweep_point_fill(err, arena, point, map->entries[i].value);
        if (!value) return false;
        pairs[(*count)++] = (ts_define){map->entries[i].key, value};
    }
    return true;
}

static bool fill_truth(ts_error *err, ts_arena *arena, const ts_sweep_point *point, const ts_tree *text,
                       bool *out) {
    const char *value = text ? ts_sweep_point_fill(err, arena, point, text) : "false";
    if (!value) return false;
    *out = strcmp(value, "true") == 0;
    return *out || strcmp(value, "false") == 0 ||
           ts_error_at(err, TS_ERROR_INPUT, text->source, text->offset,
                       "found '%.40s', expected true or false", value);
}

static const ts_tree *option(const ts_sweep_ask *ask, const char *name) {
    for (int i = 0; i < TS_SWEEP_OPTIONS; i++) {
        const char *known = ts_sweep_option_text(ask->question, i);
        if (known && strcmp(known, name) == 0) return ask->options[i];
    }
    return NULL;
}

/* A text of requests is a file where it is no pattern's name. */
bool ts_sweep_reads_file(const ts_sweep_case *asked) {
    if (asked->question == TS_SWEEP_HBM) return strpbrk(asked->text, "./") != NULL;
    return asked->question == TS_SWEEP_PROGRAM || asked->question == TS_SWEEP_AUDIT;
}

static bool fill_text(ts_error *err, ts_arena *arena, const ts_sweep_point *point, const ts_tree *text,
                      const char **out) {
    *out = text ? ts_sweep_point_fill(err, arena, point, text) : NULL;
    return !text || *out;
}

static bool fill_options(ts_error *err, ts_arena *arena, const ts_sweep_point *point, ts_sweep_case *asked) {
    const ts_sweep_ask *ask = point->ask;
#define TEXT(name)                                                                                           \
    if (!fill_text(err, arena, point, option(ask, #name), &asked->name)) return false;
#define TRUTH(name)                                                                                          \
    if (!fill_truth(err, arena, point, option(ask, #name), &asked->name)) return false;
#include "sweep/case_options.def"
    return true;
}

static bool find_inputs(ts_error *err, ts_arena *arena, const ts_sweep_point *point, ts_sweep_case *asked) {
    if (!fill_map(err, arena, point, option(point->ask, "input"), &asked->inputs, &asked->input_count))
        return false;
    ts_define *inputs = TS_NEW_ARRAY(arena, ts_define, asked->input_count);
    for (int i = 0; i < asked->input_count; i++)
        inputs[i] =
            (ts_define){asked->inputs[i].name, sweep_beside(arena, point->study, asked->inputs[i].value)};
    asked->inputs = inputs;
    return true;
}

bool ts_sweep_case_of(ts_error *err, ts_arena *arena, const ts_sweep_point *point, ts_sweep_case *asked) {
    const ts_sweep_ask *ask = point->ask;
    *asked = (ts_sweep_case){.question = ask->question};
    asked->text = ts_sweep_point_fill(err, arena, point, ask->text);
    if (!asked->text) return false;
    if (ts_sweep_reads_file(asked)) asked->text = sweep_beside(arena, point->study, asked->text);
    if (!fill_options(err, arena, point, asked)) return false;
    find_machine(arena, point, asked);
    return find_sets(err, arena, point, asked) &&
           fill_map(err, arena, point, option(ask, "define"), &asked->defines, &asked->define_count) &&
           find_inputs(err, arena, point, asked);
}

/* ---- Files ---- */

typedef struct {
    ts_arena *arena;
    const char **paths;
    int count;
} path_list;

static void add_path(path_list *list, const char *path) {
    *TS_APPEND(list->arena, list->paths, list->count) = ts_arena_copy_text(list->arena, path, strlen(path));
}

static void add_files(path_list *list, const ts_sweep_case *asked) {
    if (ts_tree_is_path(asked->machine)) add_path(list, asked->machine);
    if (ts_sweep_reads_file(asked)) add_path(list, asked->text);
    if (ts_sweep_has_mesh_file(asked)) add_path(list, asked->mesh);
    for (int i = 0; i < asked->input_count; i++) add_path(list, asked->inputs[i].value);
}

const char *const *ts_sweep_study_files(ts_arena *arena, const ts_sweep_study *study, int *count) {
    path_list list = {.arena = arena};
    ts_arena *scratch = ts_arena_new();
    for (int64_t i = 0; i < study->grid.point_count; i++) {
        ts_sweep_point point;
        ts_sweep_case asked;
        ts_sweep_point_get(scratch, study, i, &point);
        if (ts_sweep_case_of(NULL, scratch, &point, &asked)) add_files(&list, &asked);
        ts_arena_reset(scratch);
    }
    ts_arena_free(scratch);
    int kept = 0;
    if (list.count > 0) qsort(list.paths, (size_t)list.count, sizeof *list.paths, ts_text_order);
    for (int i = 0; i < list.count; i++)
        if (kept == 0 || strcmp(list.paths[kept - 1], list.paths[i]) != 0) list.paths[kept++] = list.paths[i];
    *count = kept;
    return list.paths;
}

/* ---- How long it may take ---- */

static double end_bytes(const ts_transfer_end *end) {
    const ts_layout *layout = end->shape->layout;
    double bytes = (double)end->shape->unpadded_bytes;
    for (int i = 0; end->sizes && i < layout->rank; i++)
        bytes *= (double)end->sizes[i] / (double)layout->dims[i];
    return bytes;
}

double ts_sweep_case_bytes(ts_arena *arena, const ts_sweep_case *asked) {
    const ts_source text = {"text", asked->text, strlen(asked->text)};
    const ts_shape *shape;
    ts_transfer_end ends[2];
    uint64_t bytes;
    switch (asked->question) {
    case TS_SWEEP_DMA:
        if (!ts_transfer_pair_parse(NULL, arena, "dma", asked->text, ends)) return 1;
        return 1 + end_bytes(&ends[0]);
    case TS_SWEEP_LAYOUT:
    case TS_SWEEP_CHOOSE:
        shape = ts_shape_parse(NULL, arena, &text);
        return 1 + (shape ? (double)shape->unpadded_bytes : 0);
    case TS_SWEEP_AUDIT:
        return ts_file_size(NULL, asked->text, &bytes) ? 1 + (double)bytes : 1;
    default:
        return UNKNOWN_BYTES;
    }
}
