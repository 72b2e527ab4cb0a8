/* The YAML of a study, read: every key is known, every text in place, every name known. */
#include "sweep/study.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "names.h"
#include "sweep/case.h"

enum { MOST_POINTS = 10000000, MOST_VALUES = 1000000 };

/* ---- Keys ---- */

static bool fail(ts_error *err, const ts_tree *node, const char *message) {
    return ts_error_at(err, TS_ERROR_INPUT, node->source, node->offset, "%s", message);
}

static bool fail_key(ts_error *err, const ts_tree_entry *entry, const char *const *keys, size_t count) {
    ts_error_at(err, TS_ERROR_INPUT, entry->source, entry->offset, "unknown key '%.60s'", entry->key);
    return ts_error_hint(err, ts_text_nearest(entry->key, keys, count, sizeof keys[0]));
}

static bool check_keys(ts_error *err, const ts_tree *map, const char *const *keys, size_t count) {
    for (int i = 0; i < map->count; i++) {
        size_t k = 0;
        while (k < count && strcmp(keys[k], map->entries[i].key) != 0) k++;
        if (k == count) return fail_key(err, &map->entries[i], keys, count);
    }
    return true;
}

static const ts_tree *get(const ts_tree *map, const char *key) {
    const ts_tree_entry *entry = ts_tree_find(map, key, strlen(key));
    return entry ? entry->value : NULL;
}

static bool check_scalar(ts_error *err, const ts_tree *node, const char *what) {
    if (node->kind == TS_TREE_SCALAR && node->text[0]) return true;
    ts_error_at(err, TS_ERROR_INPUT, node->source, node->offset, "%s: expected a text", what);
    return false;
}

static bool check_map(ts_error *err, const ts_tree *node, const char *what) {
    if (node->kind == TS_TREE_MAP && node->count > 0 && node->count <= TS_SWEEP_NAMES) return true;
    return ts_error_at(err, TS_ERROR_INPUT, node->source, node->offset,
                       "%s: expected a mapping of 1 to %d keys", what, TS_SWEEP_NAMES);
}

/* ---- Questions ---- */

static const struct {
    const char *name;
    const char *options[TS_SWEEP_OPTIONS];
} questions[TS_SWEEP_QUESTIONS] = {
    [TS_SWEEP_DMA] = {"dma", {"exact"}},
    [TS_SWEEP_PROGRAM] = {"program", {"define", "input", "time_only", "exact"}},
    [TS_SWEEP_LAYOUT] = {"layout", {"rule"}},
    [TS_SWEEP_CHOOSE] = {"choose", {"uses", "exact"}},
    [TS_SWEEP_AUDIT] = {"audit", {"exact"}},
    [TS_SWEEP_RESHARD] = {"reshard", {"mesh", "topology", "algorithm"}},
    [TS_SWEEP_HBM] = {"hbm", {"exact"}},
};

const char *ts_sweep_question_text(ts_sweep_question question) { return questions[question].name; }
const char *ts_sweep_option_text(ts_sweep_question question, int i) { return questions[question].options[i]; }

static bool check_option(ts_error *err, const char *name, const ts_tree *value) {
    bool is_map = strcmp(name, "define") == 0 || strcmp(name, "input") == 0;
    if (!is_map) return check_scalar(err, value, name);
    if (!check_map(err, value, name)) return false;
    for (int i = 0; i < value->count; i++)
        if (!check_scalar(err, value->entries[i].value, value->entries[i].key)) return false;
    return true;
}

static bool read_options(ts_error *err, const ts_tree *map, ts_sweep_ask *ask) {
    const char *keys[TS_SWEEP_OPTIONS + 2] = {questions[ask->question].name, "name"};
    size_t count = 2;
    for (int i = 0; i < TS_SWEEP_OPTIONS && questions[ask->question].options[i]; i++) {
        const char *name = questions[ask->question].options[i];
        keys[count++] = name;
        ask->options[i] = get(map, name);
        if (ask->options[i] && !check_option(err, name, ask->options[i])) return false;
    }
    return check_keys(err, map, keys, count);
}

static bool read_ask(ts_error *err, const ts_tree *map, ts_sweep_ask *ask) {
    if (!check_map(err, map, "ask")) return false;
    const ts_tree *name = get(map, "name");
    for (int i = 0; i < TS_SWEEP_QUESTIONS; i++) {
        const ts_tree *text = get(map, questions[i].name);
        if (!text) continue;
        *ask = (ts_sweep_ask){.question = (ts_sweep_question)i, .name = questions[i].name, .text = text};
        if (name && !check_scalar(err, name, "name")) return false;
        if (name) ask->name = name->text;
        return check_scalar(err, text, questions[i].name) && read_options(err, map, ask);
    }
    const char *key = map->entries[name && map->entries[0].value == name ? map->count - 1 : 0].key;
    fail(err, map, "ask: expected one of dma, program, layout, choose, audit, reshard, hbm");
    return ts_error_hint(err,
                         ts_text_nearest(key, &questions[0].name, TS_SWEEP_QUESTIONS, sizeof questions[0]));
}

static bool read_asks(ts_error *err, ts_arena *arena, const ts_tree *node, ts_sweep_study *study) {
    bool list = node->kind == TS_TREE_LIST && node->count > 0;
    ts_sweep_ask *asks = TS_NEW_ARRAY(arena, ts_sweep_ask, list ? node->count : 1);
    study->asks = asks;
    study->ask_count = list ? node->count : 1;
    for (int i = 0; i < study->ask_count; i++) {
        const ts_tree *one = list ? node->entries[i].value : node;
        if (!read_ask(err, one, &asks[i])) return false;
        for (int k = 0; k < i; k++)
            if (strcmp(asks[k].name, asks[i].name) == 0)
                return fail(err, one,
                            "ask: two questions have one name, expected each with a `name` of its own");
    }
    return true;
}

/* ---- What varies ---- */

/* What varies has no value for all points beside those that it takes. */
static bool check_unset(ts_error *err, const ts_tree_entry *entry, const ts_sweep_study *study) {
    bool is_machine = strcmp(entry->key, "machine") == 0;
    const ts_tree *set = is_machine ? study->machine : study->sets ? get(study->sets, entry->key) : NULL;
    if (!set) return true;
    ts_error location = {0};
    fail(&location, set, "");
    return ts_error_at(err, TS_ERROR_INPUT, entry->source, entry->offset,
                       "'%.60s' varies, but `%s` in line %d gives it one value, expected one of the two",
                       entry->key, is_machine ? "machine" : "set", location.line);
}

static bool add_name(ts_error *err, const ts_tree_entry *entry, ts_sweep_study *study) {
    for (int i = 0; i < study->name_count; i++)
        if (strcmp(study->names[i], entry->key) == 0)
            return ts_error_at(err, TS_ERROR_INPUT, entry->source, entry->offset, "'%.60s' varies already",
                               entry->key);
    if (study->name_count == TS_SWEEP_NAMES)
        return ts_error_at(err, TS_ERROR_INPUT, entry->source, entry->offset, "over %d names",
                           TS_SWEEP_NAMES);
    if (strcmp(entry->key, TS_SWEEP_CHANGE) == 0)
        return ts_error_at(err, TS_ERROR_INPUT, entry->source, entry->offset,
                           "'change' is taken, expected another name");
    bool taken = strcmp(entry->key, "status") == 0 || strcmp(entry->key, "error") == 0 ||
                 ts_sweep_column_find(entry->key, strlen(entry->key)) >= 0;
    if (strchr(entry->key, '.') == NULL && taken)
        return ts_error_at(err, TS_ERROR_INPUT, entry->source, entry->offset,
                           "'%.60s' is the name of a result, expected another", entry->key);
    study->names[study->name_count++] = entry->key;
    return check_unset(err, entry, study);
}

static bool read_integer(ts_error *err, const ts_tree *map, const char *key, int64_t *value) {
    const ts_tree *node = get(map, key);
    ts_error theirs = {0};
    if (node == NULL || node->kind != TS_TREE_SCALAR)
        return ts_error_at(err, TS_ERROR_INPUT, map->source, map->offset,
                           "expected {from: A, to: B, step: C} or {from: A, to: B, times: C}");
    return ts_text_to_int(&theirs, key, node->text, value) || fail(err, node, theirs.message);
}

static bool read_range(ts_error *err, ts_arena *arena, const ts_tree *map, ts_grid_axis *axis) {
    static const char *const keys[] = {"from", "to", "step", "times"};
    bool times = get(map, "times") != NULL;
    int64_t from, to, by;
    if (!check_keys(err, map, keys, 4) || !read_integer(err, map, "from", &from) ||
        !read_integer(err, map, "to", &to) || !read_integer(err, map, times ? "times" : "step", &by))
        return false;
    if (map->count != 3 || by < 1 + times || (times && from < 1) || from > to)
        return fail(err, map, "expected from <= to, and a step from 1, or times from 2 of numbers from 1");
    for (bool more = true; more && from <= to;) {
        if (axis->count == MOST_VALUES) return fail(err, map, "over 1000000 values");
        *TS_APPEND(arena, axis->values, axis->count) = ts_text_format(arena, "%lld", (long long)from);
        more = times ? ts_mul(from, by, &from) : ts_add(from, by, &from);
    }
    return true;
}

/* A value that is there twice; NULL: none. */
static const char *repeated(ts_arena *arena, const ts_grid_axis *axis) {
    const char **sorted = TS_COPY_ARRAY(arena, axis->values, axis->count);
    qsort(sorted, (size_t)axis->count, sizeof *sorted, ts_text_order);
    for (int i = 1; i < axis->count; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0) return sorted[i];
    return NULL;
}

static bool read_list(ts_error *err, ts_arena *arena, const ts_tree *node, ts_grid_axis *axis) {
    if (node->kind == TS_TREE_SCALAR)
        return ts_grid_split(arena, node->text, axis) || fail(err, node, "expected values such as 1,2,3");
    if (node->count == 0) return fail(err, node, "expected at least one value");
    axis->values = TS_NEW_ARRAY(arena, const char *, node->count);
    for (; axis->count < node->count; axis->count++) {
        const ts_tree *value = node->entries[axis->count].value;
        if (!check_scalar(err, value, axis->name)) return false;
        axis->values[axis->count] = value->text;
    }
    return true;
}

static bool read_values(ts_error *err, ts_arena *arena, const ts_tree *node, ts_grid_axis *axis) {
    if (node->kind == TS_TREE_MAP) return read_range(err, arena, node, axis);
    if (!read_list(err, arena, node, axis)) return false;
    const char *twice = repeated(arena, axis);
    return !twice || fail(err, node, ts_text_format(arena, "'%.60s' is there twice", twice));
}

static bool add_axis(ts_error *err, const ts_tree *location, ts_sweep_study *study,
                     const ts_grid_axis *axis) {
    ts_grid *grid = &study->grid;
    int64_t points;
    if (!ts_mul(grid->point_count, axis->count, &points) || points > MOST_POINTS)
        return fail(err, location, "over 10000000 points");
    grid->axes[grid->axis_count++] = *axis;
    grid->point_count = points;
    return true;
}

/* An axis whose values are the numbers of so many things. */
static bool add_numbers(ts_error *err, ts_arena *arena, const ts_tree *location, ts_sweep_study *study,
                        int count) {
    ts_grid_axis axis = {.name = "", .count = 0};
    for (int i = 0; i < count; i++)
        *TS_APPEND(arena, axis.values, axis.count) = ts_text_format(arena, "%d", i);
    return add_axis(err, location, study, &axis);
}

typedef struct {
    const char *values; /* of all keys, each behind its length */
    const ts_tree *point;
} listed_point;

static int by_values(const void *a, const void *b) {
    const listed_point *x = a, *y = b;
    int order = strcmp(x->values, y->values);
    return order != 0 ? order : x->point->offset < y->point->offset ? -1 : 1;
}

static void add_value(ts_text *values, const char *text) {
    ts_text_add(values, "%zu %s", strlen(text), text);
}

static bool check_twice(ts_error *err, const ts_tree *list) {
    ts_arena *scratch = ts_arena_new();
    const ts_tree *first = list->entries[0].value, *twice = NULL;
    listed_point *points = TS_NEW_ARRAY(scratch, listed_point, list->count);
    for (int i = 0; i < list->count; i++) {
        ts_text values = ts_text_begin(scratch);
        points[i].point = list->entries[i].value;
        for (int k = 0; k < first->count; k++)
            add_value(&values, get(points[i].point, first->entries[k].key)->text);
        points[i].values = values.bytes;
    }
    qsort(points, (size_t)list->count, sizeof *points, by_values);
    for (int i = 1; i < list->count && !twice; i++)
        if (strcmp(points[i - 1].values, points[i].values) == 0) twice = points[i].point;
    ts_arena_free(scratch);
    return !twice || fail(err, twice, "points: this one is there twice");
}

static bool read_points(ts_error *err, const ts_tree *list, ts_sweep_study *study) {
    if (list->kind != TS_TREE_LIST || list->count == 0) return fail(err, list, "points: expected a list");
    const ts_tree *first = list->entries[0].value;
    for (int i = 0; i < list->count; i++) {
        const ts_tree *point = list->entries[i].value;
        if (!check_map(err, point, "points")) return false;
        for (int k = 0; k < first->count; k++) {
            const ts_tree *value = get(point, first->entries[k].key);
            if (!value || point->count != first->count)
                return fail(err, point, "points: expected the keys of the first of them");
            if (!check_scalar(err, value, first->entries[k].key)) return false;
        }
    }
    if (!check_twice(err, list)) return false;
    study->points = list;
    for (int k = 0; k < first->count; k++)
        if (!add_name(err, &first->entries[k], study)) return false;
    return true;
}

static bool read_vary(ts_error *err, ts_arena *arena, const ts_tree *map, ts_sweep_study *study) {
    if (!check_map(err, map, "vary")) return false;
    for (int i = 0; i < map->count; i++) {
        const ts_tree_entry *entry = &map->entries[i];
        ts_grid_axis axis = {.name = entry->key};
        if (!add_name(err, entry, study) || !read_values(err, arena, entry->value, &axis) ||
            !add_axis(err, entry->value, study, &axis))
            return false;
    }
    return true;
}

static bool read_axes(ts_error *err, ts_arena *arena, const ts_tree *root, ts_sweep_study *study) {
    const ts_tree *points = get(root, "points"), *vary = get(root, "vary");
    study->vary = vary;
    study->grid = (ts_grid){.axes = TS_NEW_ARRAY(arena, ts_grid_axis, TS_SWEEP_NAMES + 4), .point_count = 1};
    study->names = TS_NEW_ARRAY(arena, const char *, TS_SWEEP_NAMES + 1);
    if (study->ask_count > 1) {
        const ts_tree_entry ask = {.key = "ask", .source = root->source, .offset = root->offset};
        if (!add_name(err, &ask, study) || !add_numbers(err, arena, root, study, study->ask_count))
            return false;
    }
    if (points &&
        (!read_points(err, points, study) || !add_numbers(err, arena, points, study, points->count)))
        return false;
    study->first_varied = study->grid.axis_count;
    return !vary || read_vary(err, arena, vary, study);
}

/* ---- Expressions ---- */

static bool read_conditions(ts_error *err, ts_arena *arena, const ts_tree *node, ts_sweep_study *study) {
    bool list = node->kind == TS_TREE_LIST;
    int count = list ? node->count : 1;
    const sweep_known known = {study, -1};
    study->conditions = TS_NEW_ARRAY(arena, ts_sweep_text, count + 1);
    for (; study->condition_count < count; study->condition_count++) {
        const ts_tree *text = list ? node->entries[study->condition_count].value : node;
        if (!check_scalar(err, text, "where") || !sweep_check_expression(err, arena, &known, text))
            return false;
        study->conditions[study->condition_count] = (ts_sweep_text){"where", text};
    }
    return true;
}

static bool read_derived(ts_error *err, ts_arena *arena, const ts_tree *map, ts_sweep_study *study) {
    if (!check_map(err, map, "columns")) return false;
    study->derived = TS_NEW_ARRAY(arena, ts_sweep_text, map->count);
    for (; study->derived_count < map->count; study->derived_count++) {
        const ts_tree_entry *entry = &map->entries[study->derived_count];
        const sweep_known known = {study, study->derived_count};
        int names = study->name_count;
        if (!add_name(err, entry, study) || !check_scalar(err, entry->value, entry->key)) return false;
        study->name_count = names; /* it was only to be new */
        if (!sweep_check_expression(err, arena, &known, entry->value)) return false;
        study->derived[study->derived_count] = (ts_sweep_text){entry->key, entry->value};
    }
    return true;
}

static bool check_map_texts(ts_error *err, ts_arena *arena, const sweep_known *known, const ts_tree *node) {
    if (node->kind == TS_TREE_SCALAR) return sweep_check_text(err, arena, known, node);
    for (int i = 0; i < node->count; i++) {
        const ts_tree *value = node->entries[i].value;
        if (!check_scalar(err, value, node->entries[i].key) || !sweep_check_text(err, arena, known, value))
            return false;
    }
    return true;
}

static bool check_texts(ts_error *err, ts_arena *arena, const ts_sweep_study *study) {
    const sweep_known known = {study, -1};
    for (int i = 0; i < study->ask_count; i++) {
        const ts_sweep_ask *ask = &study->asks[i];
        if (!sweep_check_text(err, arena, &known, ask->text)) return false;
        for (int k = 0; k < TS_SWEEP_OPTIONS; k++)
            if (ask->options[k] && !check_map_texts(err, arena, &known, ask->options[k])) return false;
    }
    return !study->sets || check_map_texts(err, arena, &known, study->sets);
}

/* ---- The whole ---- */

static const char *const keys[] = {"title", "machine", "set", "vary", "points", "where", "ask", "columns"};

static bool read_head(ts_error *err, const ts_tree *root, ts_sweep_study *study) {
    const ts_tree *title = get(root, "title");
    if (root->kind != TS_TREE_MAP) return fail(err, root, "a study: expected keys such as `vary` and `ask`");
    if (!check_keys(err, root, keys, sizeof keys / sizeof *keys)) return false;
    if (!get(root, "ask")) return fail(err, root, "a study: expected `ask`, what to ask at each point");
    study->machine = get(root, "machine");
    study->sets = get(root, "set");
    study->title = title ? title->text : study->source->name;
    return (!title || check_scalar(err, title, "title")) &&
           (!study->machine || check_scalar(err, study->machine, "machine")) &&
           (!study->sets || check_map(err, study->sets, "set"));
}

const ts_sweep_study *ts_sweep_study_parse(ts_error *err, ts_arena *arena, const ts_source *source,
                                           const char *folder) {
    ts_sweep_study *study = TS_NEW(arena, ts_sweep_study);
    const ts_tree *root = ts_tree_parse(err, arena, source);
    study->source = source;
    study->folder = folder;
    if (!root || !read_head(err, root, study)) return NULL;
    const ts_tree *where = get(root, "where"), *columns = get(root, "columns");
    bool good = read_asks(err, arena, get(root, "ask"), study) && read_axes(err, arena, root, study) &&
                (!where || read_conditions(err, arena, where, study)) &&
                (!columns || read_derived(err, arena, columns, study)) && check_texts(err, arena, study);
    return good ? study : NULL;
}

const ts_sweep_study *ts_sweep_study_load(ts_error *err, ts_arena *arena, const char *path) {
    ts_source *source = TS_NEW(arena, ts_source);
    const char *slash = strrchr(path, '/');
    if (!ts_file_read_source(err, arena, path, TS_TREE_MAX_BYTES, source)) return NULL;
    source->name = ts_arena_copy_text(arena, path, strlen(path));
    const ts_sweep_study *study = ts_sweep_study_parse(
        err, arena, source, ts_arena_copy_text(arena, path, slash ? (size_t)(slash - path) + 1 : 0));
    return study && ts_sweep_study_check(err, arena, study) ? study : NULL;
}

/* A copy with room for one more at `at`, where the rest begins one later. */
static void *with_room(ts_arena *arena, const void *items, int count, int at, size_t size) {
    char *wider = ts_arena_grow(arena, items, (size_t)count, (size_t)count + 2, size);
    memmove(wider + (size_t)(at + 1) * size, wider + (size_t)at * size, (size_t)(count - at) * size);
    return wider;
}

const ts_sweep_study *ts_sweep_study_with(ts_error *err, ts_arena *arena, const ts_sweep_study *study,
                                          const ts_grid_axis *axis) {
    const ts_grid *grid = &study->grid;
    ts_sweep_study *wider = TS_NEW(arena, ts_sweep_study);
    int at = study->first_varied, name = study->name_count - (grid->axis_count - at);
    *wider = *study;
    if (strcmp(axis->name, TS_SWEEP_CHANGE) == 0) wider->moves = ts_sweep_moves_new(arena);
    if (!ts_mul(grid->point_count, axis->count, &wider->grid.point_count) ||
        wider->grid.point_count > MOST_POINTS) {
        ts_error_set(err, TS_ERROR_INPUT, "over 10000000 points");
        return NULL;
    }
    wider->grid.axes = with_room(arena, grid->axes, grid->axis_count, at, sizeof *grid->axes);
    wider->names = with_room(arena, study->names, study->name_count, name, sizeof *study->names);
    wider->grid.axes[at] = *axis;
    wider->names[name] = axis->name;
    wider->grid.axis_count++;
    wider->name_count++;
    return wider;
}
