/* YAML as a tree that remembers where every node stands, and the comment on its line. */
#ifndef TILESIM_CONFIG_TREE_H
#define TILESIM_CONFIG_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

typedef enum { TS_TREE_SCALAR, TS_TREE_MAP, TS_TREE_LIST } ts_tree_kind;

struct ts_tree_entry;
typedef struct ts_tree {
    ts_tree_kind kind;
    const char *text;                    /* of a scalar, without quotes; no NUL inside */
    bool quoted;                         /* a scalar in quotes, or a block */
    const struct ts_tree_entry *entries; /* of a map (keys differ), or of a list (no keys) */
    int count;
    const ts_source *source;
    size_t offset;       /* in the source, for ts_error_at */
    const char *comment; /* behind the value on its last line, without '#' and blanks around; "" if none */
    int size;            /* nodes in it, aliases counted as often as they are used */
} ts_tree;

typedef struct ts_tree_entry {
    const char *key;
    size_t offset; /* of the key */
    const ts_source *source;
    const ts_tree *value;
} ts_tree_entry;

enum { TS_TREE_MAX_DEPTH = 16, TS_TREE_MAX_NODES = 4096, TS_TREE_MAX_BYTES = 1 << 20, TS_TREE_MAX_BASES = 8 };

/* One document. Aliases are followed; cyclic ones are refused, as are duplicate keys, tags, keys that are no
 * scalars, more than one document, and more nodes or levels than the limits above. */
const ts_tree *ts_tree_parse(ts_error *err, ts_arena *arena, const ts_source *source);

/* A file that the binary carries. */
typedef struct {
    const char *name; /* without ".yaml" */
    const char *text; /* ends in NUL */
    size_t length;    /* without the NUL */
} ts_tree_builtin;

/* The file at a path, or the built-in one of that name (a name has no '/' and no ending .yaml or .yml), on
 * top of its `base:`, which is resolved in the same way, relative to the file; a built-in one's base is built
 * in. */
const ts_tree *ts_tree_load(ts_error *err, ts_arena *arena, const char *name, const ts_tree_builtin *builtins,
                            size_t count);
bool ts_tree_is_path(const char *name);
/* The files that it reads, as far as they can be, and more than once: how many. */
int ts_tree_files(ts_arena *arena, const char *name, const char *files[TS_TREE_MAX_BASES + 1]);

/* Maps are merged key by key, everything else is replaced by what lies above; null above takes a key away. */
const ts_tree *ts_tree_merge(ts_arena *arena, const ts_tree *below, const ts_tree *above);

/* The tree of "path.to.key=value", to be merged above another. */
const ts_tree *ts_tree_parse_override(ts_error *err, ts_arena *arena, const ts_source *source);

const ts_tree_entry *ts_tree_find(const ts_tree *map, const char *key, size_t length);

#endif
