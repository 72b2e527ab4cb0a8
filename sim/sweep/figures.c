/* Machines that a study names, and names of their figures: there must be such. What values are possible, each
 * point says. */
#include <string.h>

#include "names.h"

typedef struct {
    const char *path;
    const ts_tree *location; /* NULL: it is the default one */
} named_machine;

typedef struct {
    ts_arena *arena;
    const ts_sweep_study *study;
    named_machine *machines;
    int count;
} machine_list;

static void add(machine_list *list, const char *name, const ts_tree *location) {
    const char *path = ts_tree_is_path(name) ? sweep_beside(list->arena, list->study, name) : name;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->machines[i].path, path) == 0) return;
    *TS_APPEND(list->arena, list->machines, list->count) = (named_machine){path, location};
}

static void add_varied(machine_list *list) {
    const ts_grid *grid = &list->study->grid;
    const ts_tree *vary = list->study->vary;
    const ts_tree_entry *entry = vary ? ts_tree_find(vary, "machine", strlen("machine")) : NULL;
    for (int k = list->study->first_varied; entry && k < grid->axis_count; k++) {
        const ts_grid_axis *axis = &grid->axes[k];
        bool is_list = entry->value->kind == TS_TREE_LIST;
        if (strcmp(axis->name, "machine") != 0) continue;
        for (int i = 0; i < axis->count; i++)
            add(list, axis->values[i], is_list ? entry->value->entries[i].value : entry->value);
    }
}

static void add_points(machine_list *list) {
    const ts_tree *points = list->study->points;
    for (int i = 0; points && i < points->count; i++) {
        const ts_tree_entry *entry = ts_tree_find(points->entries[i].value, "machine", strlen("machine"));
        if (entry) add(list, entry->value->text, entry->value);
    }
}

/* An error in the machine's own file is left to the points that use it. */
static bool check_machine(ts_error *err, const named_machine *machine) {
    ts_error theirs = {0};
    ts_arena *scratch = ts_arena_new();
    bool good = ts_machine_load_with(&theirs, scratch, machine->path, "set", NULL, 0) != NULL;
    ts_arena_free(scratch);
    return good || theirs.line > 0 || sweep_error_in(err, machine->location, 0, theirs.message);
}

/* Of an error of "NAME=1", whether it is in the name. */
static bool has_figure(ts_arena *arena, const named_machine *machine, const char *name, ts_error *theirs) {
    ts_arena *scratch = ts_arena_new();
    const char *set = ts_text_format(arena, "%s=1", name);
    bool good = ts_machine_load_with(theirs, scratch, machine->path, "set", &set, 1) != NULL;
    ts_arena_free(scratch);
    return good || strcmp(theirs->name, "set") != 0 || theirs->column > (int)strlen(name);
}

/* An error unless one of the machines has the figure. */
static bool check_figure(ts_error *err, const machine_list *list, const ts_tree_entry *entry) {
    ts_error theirs = {0};
    for (int i = 0; i < list->count; i++) {
        theirs = (ts_error){0};
        if (has_figure(list->arena, &list->machines[i], entry->key, &theirs)) return true;
    }
    return ts_error_at(err, TS_ERROR_INPUT, entry->source, entry->offset, "%s", theirs.message);
}

/* All keys of a map with `part` in them. */
static bool check_figures(ts_error *err, const machine_list *list, const ts_tree *map, const char *part) {
    for (int i = 0; map && i < map->count; i++)
        if (strstr(map->entries[i].key, part) && !check_figure(err, list, &map->entries[i])) return false;
    return true;
}

bool ts_sweep_study_check(ts_error *err, ts_arena *arena, const ts_sweep_study *study) {
    machine_list list = {.arena = arena, .study = study};
    add_points(&list);
    add_varied(&list);
    if (list.count == 0)
        add(&list, study->machine ? study->machine->text : TS_MACHINE_DEFAULT, study->machine);
    for (int i = 0; i < list.count; i++)
        if (!check_machine(err, &list.machines[i])) return false;
    return check_figures(err, &list, study->sets, "") && check_figures(err, &list, study->vary, ".") &&
           (!study->points || check_figures(err, &list, study->points->entries[0].value, "."));
}
