/* The functions of the algebras of layouts, a row each, and the values of expressions. */
#include "report/algebra.h"

#include <string.h>

void ts_report_algebra(ts_text *out) {
    ts_algebra_row row;
    const char *system = "";
    for (int i = 0; ts_algebra_function(i, &row); i++) {
        if (strcmp(system, row.system) != 0)
            ts_text_add(out, "%s%s (%s)\n", i > 0 ? "\n" : "", row.system, row.sources);
        system = row.system;
        ts_text_add(out, "\n  ");
        ts_algebra_print_usage(out, i);
        ts_text_add(out, "\n      %s\n      %s\n          = %s\n", row.meaning, row.example, row.result);
    }
}

void ts_report_algebra_markdown(ts_text *out) {
    ts_algebra_row row;
    const char *system = "";
    for (int i = 0; ts_algebra_function(i, &row); i++) {
        if (strcmp(system, row.system) != 0)
            ts_text_add(out, "%s### %s\n\nFrom %s.\n\n| function | gives | example |\n|---|---|---|\n",
                        i > 0 ? "\n" : "", row.system, row.sources);
        system = row.system;
        ts_text_add(out, "| `");
        ts_algebra_print_usage(out, i);
        ts_text_add(out, "` | %s | `%s` = `%s` |\n", row.meaning, row.example, row.result);
    }
}

void ts_report_value(const ts_value *value, ts_text *out) {
    ts_value_print(out, value);
    ts_text_add_char(out, '\n');
    if (value->extra == NULL) return;
    ts_text_add(out, "%s: ", value->extra_name);
    ts_report_value(value->extra, out);
}

/* ---- JSON ---- */

enum { NESTING_MAX = 20 }; /* deeper tuples are null: JSON has 32 levels */

static int depth_of(const ts_cute *tuple) {
    int deepest = 0;
    for (int i = 0; i < tuple->rank; i++) {
        int depth = 1 + depth_of(&tuple->modes[i]);
        if (depth > deepest) deepest = depth;
    }
    return deepest;
}

typedef enum { EXTENTS, STRIDES } column;

/* The stride of an extent of 1 never matters: it is printed as 0. */
static int64_t integer_of(const ts_cute *mode, column which) {
    return which == EXTENTS ? mode->extent : mode->extent == 1 ? 0 : mode->stride;
}

static void add_nested(ts_json *json, const char *key, const ts_cute *tuple, column which) {
    if (!tuple->rank) {
        ts_json_int(json, key, integer_of(tuple, which));
        return;
    }
    if (depth_of(tuple) == 1) {
        int64_t *values = TS_NEW_ARRAY(json->out->arena, int64_t, tuple->rank);
        for (int i = 0; i < tuple->rank; i++) values[i] = integer_of(&tuple->modes[i], which);
        ts_json_ints(json, key, tuple->rank, values);
        return;
    }
    ts_json_array(json, key);
    for (int i = 0; i < tuple->rank; i++) add_nested(json, NULL, &tuple->modes[i], which);
    ts_json_close(json);
}

static void add_tuple(ts_json *json, const char *key, const ts_cute *tuple, column which) {
    if (depth_of(tuple) > NESTING_MAX)
        ts_json_null(json, key);
    else
        add_nested(json, key, tuple, which);
}

static void add_word(ts_json *json, const char *key, const char *word) {
    if (strcmp(word, "none") == 0)
        ts_json_null(json, key);
    else if (strcmp(word, "yes") == 0 || strcmp(word, "no") == 0)
        ts_json_bool(json, key, strcmp(word, "yes") == 0);
    else
        ts_json_text(json, key, word);
}

static void add_points(ts_json *json, const char *key, const ts_value *value) {
    ts_json_array(json, key);
    for (int i = 0; i < value->point_count; i++) {
        ts_json_object(json, NULL);
        for (int j = 0; j < value->points[i].count; j++)
            ts_json_int(json, value->points[i].axes[j], value->points[i].coordinates[j]);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_cute(ts_json *json, const char *key, const ts_cute_map *map) {
    const ts_cute_swizzle *s = &map->swizzle;
    ts_json_object(json, key);
    add_tuple(json, "shape", &map->layout, EXTENTS);
    add_tuple(json, "stride", &map->layout, STRIDES);
    if (map->swizzled)
        ts_json_ints(json, "swizzle", 3, (int64_t[]){s->bits, s->base, s->shift});
    else
        ts_json_null(json, "swizzle");
    ts_json_int(json, "offset", map->offset);
    ts_json_close(json);
}

static void add_iters(ts_json *json, const char *key, const ts_axe_iter *iters, int count) {
    ts_json_array(json, key);
    for (int i = 0; i < count; i++) {
        ts_json_object(json, NULL);
        ts_json_int(json, "extent", iters[i].extent);
        ts_json_int(json, "stride", iters[i].stride);
        ts_json_text(json, "axis", iters[i].axis);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_axe(ts_json *json, const char *key, const ts_axe *axe) {
    const ts_swizzle *s = &axe->swizzle;
    ts_json_object(json, key);
    add_iters(json, "shards", axe->shards, axe->shard_count);
    add_iters(json, "replicas", axe->replicas, axe->replica_count);
    ts_json_object(json, "offsets");
    for (int i = 0; i < axe->offset_count; i++)
        ts_json_int(json, axe->offsets[i].axis, axe->offsets[i].value);
    ts_json_close(json);
    if (s->present)
        ts_json_ints(json, "swizzle", 3, (int64_t[]){s->keep, s->bits, s->shift});
    else
        ts_json_null(json, "swizzle");
    ts_json_close(json);
}

/* Numbers and lists where the value has them, else its text. */
static void add_value(ts_json *json, const char *key, const ts_value *value) {
    ts_text text;
    switch (value->kind) {
    case TS_VALUE_WORD:
        add_word(json, key, value->text);
        return;
    case TS_VALUE_TUPLE:
        add_tuple(json, key, &value->tuple, EXTENTS);
        return;
    case TS_VALUE_EMPTY:
        ts_json_ints(json, key, 0, NULL);
        return;
    case TS_VALUE_POINTS:
        add_points(json, key, value);
        return;
    case TS_VALUE_CUTE:
        add_cute(json, key, &value->cute);
        return;
    case TS_VALUE_AXE:
        add_axe(json, key, &value->axe);
        return;
    default:
        text = ts_text_begin(json->out->arena);
        ts_value_print(&text, value);
        ts_json_text(json, key, text.bytes);
    }
}

void ts_report_value_json(const ts_value *value, ts_json *json) {
    ts_text text = ts_text_begin(json->out->arena);
    ts_value_print(&text, value);
    ts_json_text(json, "kind", strchr(ts_value_kind_name(value->kind), ' ') + 1); /* without its article */
    ts_json_text(json, "result", text.bytes);
    add_value(json, "value", value);
    if (value->extra != NULL) add_value(json, value->extra_name, value->extra);
}
