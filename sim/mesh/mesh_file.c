/* Mesh files: their fields, what is in them where they do not say it, and how they are found. */
#include "mesh/mesh_file.h"

#include <string.h>

#include "mesh/embedded.h"

static const char *const wraps[] = {"rule", "ring", "line", NULL};

#define ROW(type, key, kind_, member, low, high, unit_, ...)                                                 \
    {                                                                                                        \
        .path = key, .kind = TS_FIELD_##kind_, .offset = offsetof(type, member),                             \
        .bytes = sizeof(((type *)0)->member), .min = low, .max = high, .unit = unit_, .meaning = __VA_ARGS__ \
    }

static const ts_field dim_rows[] = {
    ROW(ts_mesh_file_dim, "chips", INTEGER, chips, 1, 1 << 16, "chips", "in a row of this dim"),
    ROW(ts_mesh_file_dim, "wrap", CHOICE, wrap, 0, INT32_MAX, "",
        "whether the ends are joined: by the machine's rule, as a ring, or not", .choices = wraps),
};
static const ts_field_table dim_table = {dim_rows, 2, sizeof(ts_mesh_file_dim)};
static const ts_field axis_rows[] = {
    ROW(ts_mesh_file_axis, "devices", INTEGER, devices, 1, 1 << 16, "devices", "along this axis"),
};
static const ts_field_table axis_table = {axis_rows, 1, sizeof(ts_mesh_file_axis)};

static const ts_field rows[] = {
    ROW(ts_mesh_file, "title", TEXT, title, 0, 0, "", "what people call the slice"),
    ROW(ts_mesh_file, "machine", TEXT, machine, 0, 0, "", "whose chips they are, where -m names no other"),
    ROW(ts_mesh_file, "dims", GROUP, dims, 1, 4, "", "of the torus, the last one the fastest",
        .fields = &dim_table, .count_offset = offsetof(ts_mesh_file, dim_count)),
    ROW(ts_mesh_file, "axes", GROUP, axes, 0, 8, "", "that shardings name; none: the dims",
        .fields = &axis_table, .count_offset = offsetof(ts_mesh_file, axis_count)),
    ROW(ts_mesh_file, "order", TEXT, order, 0, 0, "",
        "which chips follow each other: row_major, or their numbers"),
#define ICI(kind, key, member, low, high, unit, meaning)                                                     \
    ROW(ts_mesh_file, "ici." key, kind, ici.member, low, high, unit, meaning),
#include "machine/ici.def"
#undef ICI
};
static const ts_field_table fields = {rows, sizeof rows / sizeof rows[0], sizeof(ts_mesh_file)};

/* ---- Finding ---- */

bool ts_mesh_file_is(const char *text, size_t length) {
    const char *name = text;
    if (length == 0 || memchr(text, '=', length)) return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '/' || text[i] == '.') return true;
    return (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z');
}

const ts_tree *ts_mesh_file_tree(ts_error *err, ts_arena *arena, const char *name) {
    bool known = ts_tree_is_path(name);
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text,
                "no mesh is called '%.60s', and it is neither axes, as 4x4 or data=2,model=8, nor a path: "
                "the built-in ones are",
                name);
    for (size_t i = 0; i < ts_embedded_slice_count; i++) {
        ts_text_add(&text, "%s %s", i > 0 ? "," : "", ts_embedded_slices[i].name);
        known = known || strcmp(name, ts_embedded_slices[i].name) == 0;
    }
    if (known) return ts_tree_load(err, arena, name, ts_embedded_slices, ts_embedded_slice_count);
    ts_error_set(err, TS_ERROR_INPUT, "%s", text.bytes);
    (void)ts_error_hint(err, ts_text_nearest(name, &ts_embedded_slices[0].name, ts_embedded_slice_count,
                                             sizeof ts_embedded_slices[0]));
    return NULL;
}

/* ---- Reading ---- */

/* What a file need not say: the machine's links, and what most meshes have. */
static const ts_tree *defaults(ts_arena *arena, const ts_machine *machine) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "axes: {}\norder: row_major # the last dim the fastest\nici:\n");
    for (int i = 0; i < machine->leaf_count; i++) {
        const ts_field_leaf *leaf = &machine->leaves[i];
        if (!ts_text_starts(leaf->path, "ici.")) continue;
        ts_text_add(&text, "    %s: ", leaf->path + 4);
        ts_field_print_given(&text, leaf);
        ts_text_add(&text, " # %s\n", leaf->node->comment);
    }
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){machine->name, text.bytes, text.length};
    return ts_tree_parse(NULL, arena, source);
}

static const ts_tree *machine_name(ts_error *err, const ts_tree *tree) {
    const ts_tree_entry *entry = tree->kind == TS_TREE_MAP ? ts_tree_find(tree, "machine", 7) : NULL;
    if (entry && entry->value->kind == TS_TREE_SCALAR) return entry->value;
    ts_error_at(err, TS_ERROR_INPUT, tree->source, tree->offset,
                "'machine' is missing: whose chips they are, where -m names no other");
    return NULL;
}

const char *ts_mesh_file_machine(ts_error *err, ts_arena *arena, const char *name) {
    const ts_tree *tree = ts_mesh_file_tree(err, arena, name),
                  *machine = tree ? machine_name(err, tree) : NULL;
    return machine ? machine->text : NULL;
}

static const ts_machine *own_machine(ts_error *err, ts_arena *arena, const ts_tree *tree,
                                     const ts_mesh_file_changes *changes) {
    ts_error found = {0};
    const ts_tree *name = machine_name(err, tree);
    const ts_machine *machine =
        name ? ts_machine_load_with(&found, arena, name->text, changes->source, changes->list, changes->count)
             : NULL;
    if (machine || !name) return machine;
    if (found.line == 0)
        ts_error_at(err, found.kind, name->source, name->offset, "%s", found.message);
    else if (err && err->kind == TS_ERROR_NONE)
        *err = found;
    return NULL;
}

const ts_machine *ts_mesh_file_load_machine(ts_error *err, ts_arena *arena, const char *name,
                                            const ts_mesh_file_changes *changes) {
    const ts_tree *tree = ts_mesh_file_tree(err, arena, name);
    return tree ? own_machine(err, arena, tree, changes) : NULL;
}

const ts_mesh_file *ts_mesh_file_read(ts_error *err, ts_arena *arena, const ts_tree *tree,
                                      const ts_machine **machine) {
    if (!*machine) *machine = own_machine(err, arena, tree, &(ts_mesh_file_changes){0});
    if (!*machine) return NULL;
    const ts_tree *below = defaults(arena, *machine);
    const ts_tree *merged = tree->kind == TS_TREE_MAP ? ts_tree_merge(arena, below, tree) : tree;
    ts_mesh_file *file = TS_NEW(arena, ts_mesh_file);
    ts_field_leaves leaves = {0};
    if (!ts_field_read(err, arena, &fields, merged, file, &leaves)) return NULL;
    file->leaves = leaves.leaves;
    file->leaf_count = leaves.count;
    return file;
}

const ts_mesh_file *ts_mesh_file_load(ts_error *err, ts_arena *arena, const char *name,
                                      const ts_machine **machine) {
    const ts_tree *tree = ts_mesh_file_tree(err, arena, name);
    return tree ? ts_mesh_file_read(err, arena, tree, machine) : NULL;
}

/* ---- Asking ---- */

const ts_tree *ts_mesh_file_node(const ts_mesh_file *file, const char *path) {
    for (int i = 0; i < file->leaf_count; i++)
        if (ts_text_starts(file->leaves[i].path, path)) return file->leaves[i].node;
    return ts_mesh_file_node(file, "dims.");
}

static bool read_position(ts_error *err, ts_cursor *cursor, int64_t chips, int32_t *order, int64_t at) {
    int64_t chip;
    if (!ts_cursor_integer(err, cursor, "the number of a chip", &chip)) return false;
    if (chip < 0 || chip >= chips)
        return ts_cursor_refuse(err, cursor, "chip %lld, the mesh has 0 to %lld", (long long)chip,
                                (long long)chips - 1);
    for (int64_t i = 0; i < at; i++)
        if (order[i] == chip)
            return ts_cursor_refuse(err, cursor, "chip %lld a second time", (long long)chip);
    order[at] = (int32_t)chip;
    return true;
}

/* The text stands in quotes or not: errors are placed in it by itself. */
bool ts_mesh_file_order(ts_error *err, ts_arena *arena, const ts_mesh_file *file, int64_t chips,
                        const int32_t **out) {
    enum { MOST_LISTED = 4096 };
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"order", file->order, strlen(file->order)};
    ts_cursor cursor = {source, 0, 0};
    *out = NULL;
    if (strcmp(file->order, "row_major") == 0) return true;
    if (!ts_is_digit(file->order[0]) || chips > MOST_LISTED) {
        const ts_tree *node = ts_mesh_file_node(file, "order");
        return ts_error_at(
            err, TS_ERROR_INPUT, node->source, node->offset,
            "order: found '%.40s', expected row_major, or the chips' numbers, as 0,2,1,3 (of at most %d)",
            file->order, MOST_LISTED);
    }
    int32_t *order = TS_NEW_ARRAY(arena, int32_t, chips);
    for (int64_t i = 0; i < chips; i++) {
        if (!read_position(err, &cursor, chips, order, i)) return false;
        if (i + 1 < chips && !ts_cursor_expect(err, &cursor, ",")) return false;
    }
    *out = order;
    return ts_cursor_at_end(&cursor) || ts_cursor_unexpected(err, &cursor, "the end: each chip stood once");
}
