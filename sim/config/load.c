/* Files and their bases: where a tree comes from, and how trees lie on top of each other. */
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "config/tree.h"

typedef struct {
    ts_arena *arena;
    const ts_tree_builtin *builtins;
    size_t builtin_count;
} library;

/* A file being loaded, and those whose base it is. */
typedef struct chain {
    const struct chain *above;
    const char *name;        /* as opened */
    const ts_tree *location; /* the `base:` that names it; NULL: the user does */
} chain;

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), n = strlen(end);
    return length > n && strcmp(text + length - n, end) == 0;
}

bool ts_tree_is_path(const char *name) {
    return strchr(name, '/') || ends_with(name, ".yaml") || ends_with(name, ".yml");
}

/* An error at the `base:` that names the file, if one does. */
static bool fail(ts_error *err, const chain *file, ts_error_kind kind, const char *message) {
    const ts_tree *location = file->location;
    if (location) return ts_error_at(err, kind, location->source, location->offset, "%s", message);
    return ts_error_set(err, kind, "%s", message);
}

static bool fail_unknown(ts_error *err, const library *lib, const chain *file) {
    ts_text text = ts_text_begin(lib->arena);
    ts_text_add(&text, "no machine is called '%s', and it is no path of a file: the built-in ones are",
                file->name);
    for (size_t i = 0; i < lib->builtin_count; i++)
        ts_text_add(&text, "%s %s", i > 0 ? "," : "", lib->builtins[i].name);
    fail(err, file, TS_ERROR_INPUT, text.bytes);
    if (lib->builtin_count == 0) return false;
    return ts_error_hint(err, ts_text_nearest(file->name, &lib->builtins[0].name, lib->builtin_count,
                                              sizeof lib->builtins[0]));
}

static bool open_builtin(ts_error *err, const library *lib, const chain *file, ts_source *out) {
    for (size_t i = 0; i < lib->builtin_count; i++) {
        const ts_tree_builtin *b = &lib->builtins[i];
        if (strcmp(b->name, file->name) != 0) continue;
        *out = (ts_source){b->name, b->text, b->length};
        return true;
    }
    return fail_unknown(err, lib, file);
}

static bool open_file(ts_error *err, const library *lib, const chain *file, ts_source *out) {
    ts_error cause = {0};
    return ts_file_read_source(&cause, lib->arena, file->name, TS_TREE_MAX_BYTES, out) ||
           fail(err, file, cause.kind, cause.message);
}

static bool check_chain(ts_error *err, const library *lib, const chain *file) {
    int depth = 0;
    for (const chain *c = file->above; c; c = c->above, depth++) {
        if (strcmp(c->name, file->name) != 0) continue;
        return fail(err, file, TS_ERROR_INPUT,
                    ts_text_format(lib->arena, "'%s' is a base of itself", file->name));
    }
    return depth < TS_TREE_MAX_BASES ||
           fail(err, file, TS_ERROR_INPUT, "too many bases, one on top of the other");
}

/* How the file opens its base: relative to its own folder; a name stays. */
static const char *base_name(const library *lib, const chain *file, const char *base) {
    const char *slash = strrchr(file->name, '/');
    if (!ts_tree_is_path(base) || base[0] == '/' || slash == NULL) return base;
    return ts_text_format(lib->arena, "%.*s/%s", (int)(slash - file->name), file->name, base);
}

/* The map without its `base`. */
static const ts_tree *without_base(ts_arena *arena, const ts_tree *map, const ts_tree_entry *base) {
    ts_tree *rest = TS_NEW(arena, ts_tree);
    ts_tree_entry *entries = TS_NEW_ARRAY(arena, ts_tree_entry, map->count);
    *rest = *map;
    rest->entries = entries;
    rest->count = 0;
    for (int i = 0; i < map->count; i++)
        if (&map->entries[i] != base) entries[rest->count++] = map->entries[i];
    return rest;
}

static const ts_tree *load(ts_error *err, const library *lib, const chain *file) {
    ts_source *source = TS_NEW(lib->arena, ts_source);
    bool is_path = ts_tree_is_path(file->name);
    if (!check_chain(err, lib, file)) return NULL;
    if (!(is_path ? open_file : open_builtin)(err, lib, file, source)) return NULL;
    const ts_tree *tree = ts_tree_parse(err, lib->arena, source);
    const ts_tree_entry *base = tree && tree->kind == TS_TREE_MAP ? ts_tree_find(tree, "base", 4) : NULL;
    if (base == NULL) return tree;
    if (base->value->kind != TS_TREE_SCALAR || base->value->text[0] == '\0') {
        ts_error_at(err, TS_ERROR_INPUT, base->source, base->value->offset,
                    "base: expected the name of a built-in machine or the path of a file");
        return NULL;
    }
    chain below = {file, base_name(lib, file, base->value->text), base->value};
    if (!is_path && ts_tree_is_path(below.name)) {
        fail(err, &below, TS_ERROR_INPUT, "the base of a built-in machine must be a built-in one");
        return NULL;
    }
    const ts_tree *under = load(err, lib, &below);
    return under ? ts_tree_merge(lib->arena, under, without_base(lib->arena, tree, base)) : NULL;
}

const ts_tree *ts_tree_load(ts_error *err, ts_arena *arena, const char *name, const ts_tree_builtin *builtins,
                            size_t count) {
    library lib = {arena, builtins, count};
    chain file = {NULL, name, NULL};
    return load(err, &lib, &file);
}

int ts_tree_files(ts_arena *arena, const char *name, const char *files[TS_TREE_MAX_BASES + 1]) {
    const library lib = {.arena = arena};
    int count = 0;
    while (ts_tree_is_path(name) && count <= TS_TREE_MAX_BASES) {
        ts_error ignored = {0};
        ts_source *source = TS_NEW(arena, ts_source);
        const chain file = {.name = files[count++] = name};
        bool read =
            !ts_file_is_stream(name) && ts_file_read_source(&ignored, arena, name, TS_TREE_MAX_BYTES, source);
        const ts_tree *tree = read ? ts_tree_parse(&ignored, arena, source) : NULL;
        const ts_tree_entry *base = tree && tree->kind == TS_TREE_MAP ? ts_tree_find(tree, "base", 4) : NULL;
        if (base == NULL || base->value->kind != TS_TREE_SCALAR) break;
        name = base_name(&lib, &file, base->value->text);
    }
    return count;
}

static bool is_null(const ts_tree *node) {
    return node->kind == TS_TREE_SCALAR && !node->quoted && strcmp(node->text, "null") == 0;
}

/* The order is that of `below`; new keys follow. */
const ts_tree *ts_tree_merge(ts_arena *arena, const ts_tree *below, const ts_tree *above) {
    if (below->kind != TS_TREE_MAP || above->kind != TS_TREE_MAP) return above;
    ts_tree *merged = TS_NEW(arena, ts_tree);
    ts_tree_entry *entries = TS_NEW_ARRAY(arena, ts_tree_entry, below->count + above->count);
    *merged = *above;
    merged->entries = entries;
    merged->count = 0;
    for (int i = 0; i < below->count; i++) {
        const ts_tree_entry *under = &below->entries[i];
        const ts_tree_entry *over = ts_tree_find(above, under->key, strlen(under->key));
        if (over && is_null(over->value)) continue;
        ts_tree_entry *entry = &entries[merged->count++];
        *entry = over ? *over : *under;
        if (over) entry->value = ts_tree_merge(arena, under->value, over->value);
    }
    for (int i = 0; i < above->count; i++) {
        const ts_tree_entry *entry = &above->entries[i];
        if (!ts_tree_find(below, entry->key, strlen(entry->key))) entries[merged->count++] = *entry;
    }
    return merged;
}

static bool is_key_end(const ts_source *source, size_t at) {
    return at == source->length || source->text[at] == '.' || source->text[at] == '=';
}

/* The part of "a.b=1" from `at` on, as a map with one key. */
static const ts_tree *parse_override(ts_error *err, ts_arena *arena, const ts_source *source, size_t at,
                                     int depth) {
    size_t end = at;
    while (!is_key_end(source, end)) end++;
    if (end == at || end == source->length || depth == TS_TREE_MAX_DEPTH) {
        ts_error_at(err, TS_ERROR_USAGE, source, end, "expected a field and a value: path.to.field=value");
        return NULL;
    }
    ts_tree *node = TS_NEW(arena, ts_tree), *value = TS_NEW(arena, ts_tree);
    ts_tree_entry *entry = TS_NEW(arena, ts_tree_entry);
    *node = (ts_tree){
        .kind = TS_TREE_MAP, .entries = entry, .count = 1, .source = source, .offset = at, .comment = ""};
    *value = (ts_tree){.text = ts_arena_copy_text(arena, source->text + end + 1, source->length - end - 1),
                       .source = source,
                       .offset = end + 1,
                       .comment = "override",
                       .size = 1};
    *entry = (ts_tree_entry){ts_arena_copy_text(arena, source->text + at, end - at), at, source, value};
    if (source->text[end] == '.') entry->value = parse_override(err, arena, source, end + 1, depth + 1);
    if (entry->value == NULL) return NULL;
    node->size = 1 + entry->value->size;
    return node;
}

const ts_tree *ts_tree_parse_override(ts_error *err, ts_arena *arena, const ts_source *source) {
    return parse_override(err, arena, source, 0, 0);
}
