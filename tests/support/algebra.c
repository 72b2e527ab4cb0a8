/* Operations of tables of vectors: their names, arguments and results, as the command line has them. */
#include "tests/support/algebra.h"

#include <inttypes.h>
#include <string.h>

#include "layout/notation/algebra.h"

/* What the tables call by another name; "": the value itself. */
static const char *const names[][2] = {
    {"parse", ""},
    {"canon", "canonicalize"},
    {"canon_paper", "canonicalize_paper"},
    {"canon_cuda", "canonicalize_cuda"},
    {"span_tvm", "span"},
    {"tile_tvm", "tile"},
    {"scope", "get_scope"},
    {"permute", "permute_dims"},
    {"xla_index", "linear_index"},
    {"xla_to_axe", "to_axe"},
    {"ordered_layout", "make_ordered_layout"},
    {"eval", "apply"},
    {"swizzle", "apply"},
    {"equivalent", "is_equivalent_to"},
    {"nonsurjective_inverse_at", "non_surjective_inverse_at"},
};

static const char *name_of(const char *op) {
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(op, names[i][0]) == 0) return names[i][1];
    return op;
}

void algebra_cute_text(ts_text *out, const char *op, const char *a, const char *b) {
    ts_text_add(out, "%s(%s", name_of(op), a);
    if (b != NULL && *b != '\0') ts_text_add(out, ", ");
    for (; b != NULL && *b != '\0'; b++) ts_text_add_char(out, *b == '|' ? ',' : *b);
    ts_text_add_char(out, ')');
}

static bool is_one_of(const char *key, size_t length, const char *const *keys) {
    while (*keys != NULL && (strlen(*keys) != length || memcmp(*keys, key, length) != 0)) keys++;
    return *keys != NULL;
}

/* "2:4,0:64" as "((2,4),(0,64))", "3,4|2,6" as "((3,4),(2,6))", "F:5" as "{F=5}", "3,4" as "(3,4)". */
static void add_value(ts_text *out, const char *key, size_t length, const char *value, size_t value_length) {
    static const char *const bare[] = {"outer", "tiled", "left", "right", "sum",
                                       "other", "n",     "pos",  "axis",  NULL},
                             *const nested[] = {"region", "shapes", NULL}, *const points[] = {"at", NULL};
    bool is_bare = is_one_of(key, length, bare), is_nested = is_one_of(key, length, nested),
         is_point = is_one_of(key, length, points), is_region = is_nested && key[0] == 'r';
    ts_text_add(out, is_bare ? "" : is_point ? "{" : is_nested ? "((" : "(");
    for (size_t i = 0; i < value_length; i++)
        if (value[i] == '|' || (is_region && value[i] == ','))
            ts_text_add(out, "),(");
        else
            ts_text_add_char(out, value[i] != ':' ? value[i] : is_region ? ',' : is_point ? '=' : ':');
    ts_text_add(out, is_bare ? "" : is_point ? "}" : is_nested ? "))" : ")");
}

void algebra_keys_text(ts_text *out, const char *op, const char *a, const char *args) {
    const char *name = name_of(op), *between = "";
    ts_text_add(out, *name != '\0' ? "%s(" : "%s", name);
    if (strcmp(a, "-") != 0) {
        ts_text_add(out, "%s%s", a[0] == '[' && strncmp(op, "xla", 3) == 0 ? "f32" : "", a);
        between = ", ";
    }
    for (; args != NULL && *args != '\0'; between = ", ") {
        size_t length = strcspn(args, ";"), key = strcspn(args, "=");
        ts_text_add(out, "%s%.*s=", between, (int)key, args);
        if (key < length) add_value(out, args, key, args + key + 1, length - key - 1);
        args += length + (args[length] == ';');
    }
    if (*name != '\0') ts_text_add_char(out, ')');
}

/* The members of a tuple, with something else than commas between them. */
static void add_members(ts_text *out, const ts_value *value, const char *between) {
    for (int i = 0; i < value->tuple.rank; i++) {
        if (i > 0) ts_text_add(out, "%s", between);
        ts_cute_print_tuple(out, &value->tuple.modes[i]);
    }
}

static bool is_call_of(const ts_text *expression, const char *name) {
    return strncmp(expression->bytes, name, strlen(name)) == 0;
}

bool algebra_run(ts_error *err, ts_arena *arena, const ts_text *expression, ts_text *out) {
    ts_source source = {"expression", expression->bytes, expression->length};
    ts_value value;
    if (!ts_algebra_evaluate(err, arena, &source, &value)) return false;
    bool tuple = value.kind == TS_VALUE_TUPLE;
    if (tuple && is_call_of(expression, "padding_points(")) {
        int64_t count = value.extra->tuple.extent;
        ts_text_add(out, "%" PRId64 ": ", count);
        add_members(out, &value, " ");
        if (count > value.tuple.rank) ts_text_add(out, " ...");
        return true;
    }
    if (tuple && is_call_of(expression, "backward("))
        add_members(out, &value, " ");
    else if (tuple && is_call_of(expression, "range("))
        ts_text_add(out, "%" PRId64 "..%" PRId64, value.tuple.modes[0].extent, value.tuple.modes[1].extent);
    else
        ts_value_print(out, &value);
    if (value.extra == NULL) return true;
    ts_text_add(out, " ; %s=", value.extra_name);
    if (is_call_of(expression, "group_many("))
        add_members(out, value.extra, "|");
    else
        ts_value_print(out, value.extra);
    return true;
}
