/* Trees into structs, by the table of fields. */
#include "config/field.h"

#include <assert.h>
#include <string.h>

#include "value.h"

enum { MAX_NAMES = 256 }; /* keys of one level */

typedef struct {
    ts_arena *arena;
    const ts_field_table *table;
    const char *prefix; /* of paths in messages and leaves: "memories.vmem." */
    char *out;          /* the struct */
    ts_field_leaves *leaves;
} reader;

static const char *join(ts_arena *arena, const char *prefix, const char *path) {
    return ts_text_format(arena, "%s%s", prefix, path);
}

/* ---- Keys that the table does not have ---- */

/* Whether `path` names a field (exact) or leads to some. */
static bool leads_to_field(const ts_field_table *table, const char *path, bool *exact) {
    size_t length = strlen(path);
    bool leads = false;
    *exact = false;
    for (int i = 0; i < table->count; i++) {
        if (strncmp(table->fields[i].path, path, length) != 0) continue;
        *exact |= table->fields[i].path[length] == '\0';
        leads |= table->fields[i].path[length] == '.';
    }
    return leads || *exact;
}

/* The keys that the table has below `prefix` ("hbm." or ""), each once. */
static int list_names(const reader *r, const char *prefix, const char **names) {
    size_t length = strlen(prefix);
    int count = 0;
    for (int i = 0; i < r->table->count; i++) {
        const char *path = r->table->fields[i].path;
        if (strncmp(path, prefix, length) != 0) continue;
        size_t name = strcspn(path + length, ".");
        if (count > 0 && strncmp(names[count - 1], path + length, name) == 0 &&
            names[count - 1][name] == '\0')
            continue;
        assert(count < MAX_NAMES);
        names[count++] = ts_arena_copy_text(r->arena, path + length, name);
    }
    return count;
}

static bool fail_unknown(ts_error *err, const reader *r, const char *prefix, const ts_tree_entry *entry) {
    const char *names[MAX_NAMES];
    int count = list_names(r, prefix, names);
    ts_text list = ts_text_begin(r->arena);
    for (int i = 0; i < count; i++) ts_text_add(&list, "%s%s", i > 0 ? ", " : "", names[i]);
    const char *nearest = ts_text_nearest(entry->key, names, (size_t)count, sizeof names[0]);
    ts_error_at(err, TS_ERROR_INPUT, entry->source, entry->offset, "unknown key '%s%s%s'%s%s", r->prefix,
                prefix, entry->key, nearest ? "" : ", expected one of ", nearest ? "" : list.bytes);
    return ts_error_hint(err,
                         nearest ? ts_text_format(r->arena, "%s%s%s", r->prefix, prefix, nearest) : NULL);
}

/* What a node is, for messages. */
static const char *describe(const reader *r, const ts_tree *node) {
    if (node->kind != TS_TREE_SCALAR) return node->kind == TS_TREE_MAP ? "a mapping" : "a list";
    if (node->text[0] == '\0' && !node->quoted) return "nothing";
    return ts_text_format(r->arena, node->quoted ? "the text '%.60s%s'" : "'%.60s%s'", node->text,
                          strlen(node->text) > 60 ? "..." : "");
}

static bool fail_value(ts_error *err, const reader *r, const char *path, const ts_tree *node,
                       const char *expected) {
    return ts_error_at(err, TS_ERROR_INPUT, node->source, node->offset, "%s%s: found %s, expected %s",
                       r->prefix, path, describe(r, node), expected);
}

/* Every key below `prefix` leads to a field. */
static bool check_keys(ts_error *err, const reader *r, const char *prefix, const ts_tree *map) {
    for (int i = 0; i < map->count; i++) {
        const ts_tree_entry *entry = &map->entries[i];
        const char *path = join(r->arena, prefix, entry->key);
        bool exact;
        if (strchr(entry->key, '.') || entry->key[0] == '\0' || !leads_to_field(r->table, path, &exact))
            return fail_unknown(err, r, prefix, entry);
        if (exact) continue;
        if (entry->value->kind != TS_TREE_MAP) return fail_value(err, r, path, entry->value, "a mapping");
        if (!check_keys(err, r, join(r->arena, path, "."), entry->value)) return false;
    }
    return true;
}

/* ---- Values ---- */

static void add_leaf(const reader *r, const ts_field *field, const void *at, const ts_tree *node) {
    ts_field_leaves *l = r->leaves;
    *TS_APPEND(r->arena, l->leaves, l->count) =
        (ts_field_leaf){join(r->arena, r->prefix, field->path), field, at, node};
}

static void store(const ts_field *field, void *at, int64_t value) {
    int32_t narrow = (int32_t)value;
    bool truth = value != 0;
    assert(field->bytes == 8 || field->bytes == 4 || field->bytes == sizeof truth);
    memcpy(at,
           field->bytes == 8   ? (void *)&value
           : field->bytes == 4 ? (void *)&narrow
                               : (void *)&truth,
           field->bytes);
}

static bool is_printable(const char *text) {
    for (; *text; text++)
        if (ts_is_control(*text)) return false;
    return true;
}

static bool fail_expected(ts_error *err, const reader *r, const ts_field *field, const ts_tree *node) {
    ts_text expected = ts_text_begin(r->arena);
    ts_field_expectation(&expected, field);
    fail_value(err, r, field->path, node, expected.bytes);
    if (field->kind != TS_FIELD_CHOICE || node->kind != TS_TREE_SCALAR) return false;
    size_t count = 0;
    while (field->choices[count]) count++;
    return ts_error_hint(err, ts_text_nearest(node->text, field->choices, count, sizeof field->choices[0]));
}

static bool read_scalar(ts_error *err, const reader *r, const ts_field *field, const ts_tree *node) {
    void *at = r->out + field->offset;
    if (node->kind != TS_TREE_SCALAR) return fail_expected(err, r, field, node);
    if (field->kind == TS_FIELD_TEXT) {
        if ((node->text[0] == '\0' && !node->quoted) || !is_printable(node->text))
            return fail_expected(err, r, field, node);
        memcpy(at, &node->text, sizeof node->text);
    } else {
        int64_t value, clock_khz = 0;
        if (field->kind == TS_FIELD_CYCLES) memcpy(&clock_khz, r->out + field->clock, sizeof clock_khz);
        if (!ts_value_parse(field, node, clock_khz, &value)) return fail_expected(err, r, field, node);
        store(field, at, value);
    }
    add_leaf(r, field, at, node);
    return true;
}

static bool read_fields(ts_error *err, const reader *r, const ts_tree *tree);

static bool is_name(const char *key) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-";
    return key[0] != '\0' && strspn(key, letters) == strlen(key);
}

static bool read_group(ts_error *err, const reader *r, const ts_field *field, const ts_tree *node) {
    int32_t count = node->count;
    if (node->kind != TS_TREE_MAP || count < field->min || count > field->max)
        return fail_expected(err, r, field, node);
    if (count == 0) add_leaf(r, field, r->out + field->offset, node);
    char *elements = ts_arena_alloc(r->arena, (size_t)count + 1, field->fields->bytes);
    for (int i = 0; i < count; i++) {
        const ts_tree_entry *entry = &node->entries[i];
        if (!is_name(entry->key))
            return ts_error_at(err, TS_ERROR_INPUT, entry->source, entry->offset,
                               "'%s' is no name: expected letters, digits, '_' and '-'", entry->key);
        const char *prefix = ts_text_format(r->arena, "%s%s.%s.", r->prefix, field->path, entry->key);
        reader inner = {r->arena, field->fields, prefix, elements + (size_t)i * field->fields->bytes,
                        r->leaves};
        memcpy(inner.out, &entry->key, sizeof entry->key);
        if (!read_fields(err, &inner, entry->value)) return false;
    }
    memcpy(r->out + field->offset, &elements, sizeof elements);
    memcpy(r->out + field->count_offset, &count, sizeof count);
    return true;
}

/* The node of a field, or NULL and in *last the innermost mapping on the way. */
static const ts_tree *find_node(const ts_tree *tree, const char *path, const ts_tree **last) {
    *last = tree;
    for (;;) {
        size_t length = strcspn(path, ".");
        const ts_tree_entry *entry = ts_tree_find(*last, path, length);
        if (entry == NULL || path[length] == '\0') return entry ? entry->value : NULL;
        *last = entry->value;
        path += length + 1;
    }
}

static bool fail_missing(ts_error *err, const reader *r, const ts_field *field, const ts_tree *map) {
    ts_text expected = ts_text_begin(r->arena);
    ts_field_expectation(&expected, field);
    return ts_error_at(err, TS_ERROR_INPUT, map->source, map->offset, "'%s%s' is missing: %s, %s", r->prefix,
                       field->path, field->meaning, expected.bytes);
}

static bool read_fields(ts_error *err, const reader *r, const ts_tree *tree) {
    if (tree->kind != TS_TREE_MAP) {
        size_t length = strlen(r->prefix);
        return ts_error_at(err, TS_ERROR_INPUT, tree->source, tree->offset,
                           "%.*s%sfound %s, expected a mapping", length ? (int)length - 1 : 0, r->prefix,
                           length ? ": " : "", describe(r, tree));
    }
    if (!check_keys(err, r, "", tree)) return false;
    for (int i = 0; i < r->table->count; i++) {
        const ts_field *field = &r->table->fields[i];
        const ts_tree *last, *node = find_node(tree, field->path, &last);
        if (node == NULL) return fail_missing(err, r, field, last);
        if (!(field->kind == TS_FIELD_GROUP ? read_group : read_scalar)(err, r, field, node)) return false;
    }
    return true;
}

bool ts_field_read(ts_error *err, ts_arena *arena, const ts_field_table *table, const ts_tree *tree,
                   void *out, ts_field_leaves *leaves) {
    reader r = {arena, table, "", out, leaves};
    return read_fields(err, &r, tree);
}

const char *ts_field_status_text(ts_field_status status) {
    static const char *const words[] = {[TS_STATUS_UNSTATED] = "unstated",
                                        [TS_STATUS_PUBLISHED] = "published",
                                        [TS_STATUS_DERIVED] = "derived",
                                        [TS_STATUS_ASSUMED] = "assumed"};
    return words[status];
}

ts_field_status ts_field_leaf_status(const ts_field_leaf *leaf) {
    size_t length = strcspn(leaf->node->comment, " (:,;");
    for (ts_field_status s = TS_STATUS_PUBLISHED; s <= TS_STATUS_ASSUMED; s++)
        if (ts_text_is(leaf->node->comment, length, ts_field_status_text(s))) return s;
    return TS_STATUS_UNSTATED;
}

/* The keys of `path` that are not also those of `previous`, as lines of their own, but for the last. Returns
 * it. */
static const char *print_keys(ts_text *out, const char *path, const char *previous, int *depth) {
    size_t start = 0;
    bool same = true;
    *depth = 0;
    for (size_t dot = strcspn(path, "."); path[dot]; dot += 1 + strcspn(path + dot + 1, "."), ++*depth) {
        same = same && strncmp(path, previous, dot + 1) == 0;
        if (!same) ts_text_add(out, "%*s%.*s:\n", 4 * *depth, "", (int)(dot - start), path + start);
        start = dot + 1;
    }
    return path + start;
}

void ts_field_print_leaves(ts_text *out, const ts_field_leaf *leaves, int count, ts_field_style style) {
    enum { COMMENT_COLUMN = 36 };
    const char *previous = "";
    for (int i = 0; i < count; i++) {
        const ts_field_leaf *leaf = &leaves[i];
        int depth;
        const char *key = print_keys(out, leaf->path, previous, &depth);
        size_t start = out->length;
        ts_text_add(out, "%*s%s: ", 4 * depth, "", key);
        if (style == TS_FIELD_AS_WRITTEN)
            ts_field_print_given(out, leaf);
        else
            ts_field_print(out, leaf->field, leaf->at);
        size_t width = out->length - start;
        if (style == TS_FIELD_AS_WRITTEN && leaf->node->comment[0])
            ts_text_add(out, "%*s # %s", width < COMMENT_COLUMN ? (int)(COMMENT_COLUMN - width) : 0, "",
                        leaf->node->comment);
        ts_text_add_char(out, '\n');
        previous = leaf->path;
    }
}
