/* YAML to a tree: libyaml's events, with the byte offset and the comment of every node. */
#include "config/tree.h"

#include <assert.h>
#include <string.h>
#include <yaml.h>

/* An event of libyaml, copied, with byte offsets instead of marks, which count characters. */
typedef struct {
    yaml_event_type_t type;
    const char *anchor, *text;
    size_t start, end;
    bool quoted, block;
} item;

typedef struct anchor {
    const struct anchor *next;
    const char *name;
    const ts_tree *node; /* NULL while it is being read */
} anchor;

typedef struct {
    yaml_parser_t yaml;
    ts_arena *arena;
    const ts_source *source;
    anchor *anchors;      /* the last one first */
    size_t index, offset; /* of one character */
} parser;

static size_t byte_offset(parser *p, const yaml_mark_t *mark) {
    if (mark->index < p->index) p->index = p->offset = 0;
    while (p->index < mark->index && p->offset < p->source->length) {
        p->offset++;
        while (p->offset < p->source->length && (p->source->text[p->offset] & 0xc0) == 0x80) p->offset++;
        p->index++;
    }
    return p->offset;
}

static bool fail_yaml(ts_error *err, parser *p) {
    const yaml_parser_t *y = &p->yaml;
    if (y->error == YAML_MEMORY_ERROR) return false; /* which ends as it does everywhere */
    size_t offset = y->error == YAML_READER_ERROR ? y->problem_offset : byte_offset(p, &y->problem_mark);
    return ts_error_at(err, TS_ERROR_INPUT, p->source, offset, "not valid YAML: %s%s%s",
                       y->context ? y->context : "", y->context ? ", " : "", y->problem);
}

static const char *copy(parser *p, const yaml_char_t *text) {
    return text ? ts_arena_copy_text(p->arena, (const char *)text, strlen((const char *)text)) : NULL;
}

static bool is_block(yaml_scalar_style_t style) {
    return style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE;
}

/* What of `event` an item keeps; false for tags and NULs, which no field has a use for. */
static bool copy_event(ts_error *err, parser *p, const yaml_event_t *event, item *out) {
    const yaml_char_t *tag = NULL;
    *out = (item){.type = event->type, .start = byte_offset(p, &event->start_mark)};
    out->end = byte_offset(p, &event->end_mark);
    if (event->type == YAML_ALIAS_EVENT) {
        out->anchor = copy(p, event->data.alias.anchor);
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        out->anchor = copy(p, event->data.mapping_start.anchor);
        tag = event->data.mapping_start.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        out->anchor = copy(p, event->data.sequence_start.anchor);
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_SCALAR_EVENT) {
        out->anchor = copy(p, event->data.scalar.anchor);
        out->text = copy(p, event->data.scalar.value);
        out->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        out->block = is_block(event->data.scalar.style);
        tag = event->data.scalar.tag;
        if (strlen(out->text) != event->data.scalar.length)
            return ts_error_at(err, TS_ERROR_INPUT, p->source, out->start, "the text has a NUL in it");
    }
    if (tag == NULL) return true;
    return ts_error_at(err, TS_ERROR_INPUT, p->source, out->start, "found the tag '%s', expected none",
                       (const char *)tag);
}

static bool next(ts_error *err, parser *p, item *out) {
    yaml_event_t event;
    if (!yaml_parser_parse(&p->yaml, &event)) return fail_yaml(err, p);
    bool good = copy_event(err, p, &event, out);
    yaml_event_delete(&event);
    return good;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Behind `offset` on its line: what follows a '#' that has a blank before it and is in no quotes. */
static const char *find_comment(const parser *p, size_t offset) {
    const char *text = p->source->text;
    size_t at = offset, end = offset;
    char quote = '\0';
    while (end < p->source->length && text[end] != '\n') end++;
    for (; at < end && (quote || text[at] != '#' || at == 0 || !is_blank(text[at - 1])); at++)
        if (quote ? text[at] == quote : text[at] == '"' || text[at] == '\'') quote = quote ? '\0' : text[at];
    if (at == end) return "";
    at++;
    while (at < end && is_blank(text[at])) at++;
    while (end > at && is_blank(text[end - 1])) end--;
    return ts_arena_copy_text(p->arena, text + at, end - at);
}

static anchor *add_anchor(parser *p, const char *name) {
    if (name == NULL) return NULL;
    anchor *a = TS_NEW(p->arena, anchor);
    *a = (anchor){.next = p->anchors, .name = name};
    return p->anchors = a;
}

static const ts_tree *follow_alias(ts_error *err, parser *p, const item *it) {
    const anchor *a = p->anchors;
    while (a && strcmp(a->name, it->anchor) != 0) a = a->next;
    if (a && a->node) return a->node;
    ts_error_at(err, TS_ERROR_INPUT, p->source, it->start,
                a ? "the alias '*%s' stands inside what it refers to" : "the alias '*%s' refers to nothing",
                it->anchor);
    return NULL;
}

static const ts_tree *make_scalar(parser *p, const item *it) {
    ts_tree *node = TS_NEW(p->arena, ts_tree);
    *node = (ts_tree){.kind = TS_TREE_SCALAR,
                      .text = it->text,
                      .quoted = it->quoted,
                      .source = p->source,
                      .offset = it->start,
                      .size = 1};
    node->comment = find_comment(p, it->block ? it->start : it->end);
    anchor *a = add_anchor(p, it->anchor);
    if (a) a->node = node;
    return node;
}

/* The key that `it` is, into `entry`. */
static bool read_key(ts_error *err, parser *p, const ts_tree *map, const item *it, ts_tree_entry *entry) {
    if (it->type != YAML_SCALAR_EVENT)
        return ts_error_at(err, TS_ERROR_INPUT, p->source, it->start, "expected a word as key");
    *entry = (ts_tree_entry){.key = it->text, .offset = it->start, .source = p->source};
    const ts_tree_entry *first = ts_tree_find(map, it->text, strlen(it->text));
    if (first == NULL) return true;
    int line = 1;
    for (size_t i = 0; i < first->offset; i++) line += p->source->text[i] == '\n';
    return ts_error_at(err, TS_ERROR_INPUT, p->source, it->start, "duplicate key '%s': it is also on line %d",
                       it->text, line);
}

static void append(parser *p, ts_tree *node, const ts_tree_entry *entry) {
    ts_tree_entry *entries =
        ts_arena_extend(p->arena, (void *)(uintptr_t)node->entries, (size_t)node->count, sizeof *entry);
    entries[node->count++] = *entry;
    node->entries = entries;
}

static const ts_tree *read_node(ts_error *err, parser *p, const item *it, int depth);

/* One child into `node`, or *end. */
static bool read_child(ts_error *err, parser *p, ts_tree *node, int depth, bool *end) {
    item it;
    ts_tree_entry entry = {.source = p->source};
    if (!next(err, p, &it)) return false;
    *end = it.type == YAML_MAPPING_END_EVENT || it.type == YAML_SEQUENCE_END_EVENT;
    if (*end) return true;
    if (node->kind == TS_TREE_MAP && (!read_key(err, p, node, &it, &entry) || !next(err, p, &it)))
        return false;
    entry.value = read_node(err, p, &it, depth + 1);
    if (entry.value == NULL) return false;
    node->size += entry.value->size;
    if (node->size > TS_TREE_MAX_NODES)
        return ts_error_at(err, TS_ERROR_INPUT, p->source, it.start, "more than %d values, aliases expanded",
                           TS_TREE_MAX_NODES);
    append(p, node, &entry);
    return true;
}

static const ts_tree *read_children(ts_error *err, parser *p, const item *it, int depth) {
    ts_tree *node = TS_NEW(p->arena, ts_tree);
    *node = (ts_tree){.kind = it->type == YAML_MAPPING_START_EVENT ? TS_TREE_MAP : TS_TREE_LIST,
                      .source = p->source,
                      .offset = it->start,
                      .comment = "",
                      .size = 1};
    if (depth == TS_TREE_MAX_DEPTH) {
        ts_error_at(err, TS_ERROR_INPUT, p->source, it->start, "more than %d levels", TS_TREE_MAX_DEPTH);
        return NULL;
    }
    anchor *a = add_anchor(p, it->anchor);
    for (bool end = false; !end;)
        if (!read_child(err, p, node, depth, &end)) return NULL;
    if (a) a->node = node;
    return node;
}

static const ts_tree *read_node(ts_error *err, parser *p, const item *it, int depth) {
    if (it->type == YAML_ALIAS_EVENT) return follow_alias(err, p, it);
    if (it->type == YAML_SCALAR_EVENT) return make_scalar(p, it);
    assert(it->type == YAML_MAPPING_START_EVENT || it->type == YAML_SEQUENCE_START_EVENT);
    return read_children(err, p, it, depth);
}

/* Stream start, document start, the node, document end, stream end. */
static const ts_tree *read_document(ts_error *err, parser *p) {
    item it;
    if (!next(err, p, &it) || !next(err, p, &it)) return NULL;
    if (it.type != YAML_DOCUMENT_START_EVENT) {
        ts_error_at(err, TS_ERROR_INPUT, p->source, it.start, "found nothing, expected a mapping");
        return NULL;
    }
    if (!next(err, p, &it)) return NULL;
    const ts_tree *root = read_node(err, p, &it, 0);
    if (root == NULL || !next(err, p, &it) || !next(err, p, &it)) return NULL;
    if (it.type == YAML_STREAM_END_EVENT) return root;
    ts_error_at(err, TS_ERROR_INPUT, p->source, it.start, "found a second document, expected one");
    return NULL;
}

const ts_tree *ts_tree_parse(ts_error *err, ts_arena *arena, const ts_source *source) {
    enum { BUFFER_BYTES = 64 << 10 }; /* libyaml's; what it lacked it does not say */
    parser p = {.arena = arena, .source = source};
    if (!yaml_parser_initialize(&p.yaml)) ts_out_of_memory(BUFFER_BYTES);
    yaml_parser_set_encoding(&p.yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&p.yaml, (const unsigned char *)source->text, source->length);
    const ts_tree *root = read_document(err, &p);
    bool lacks_memory = p.yaml.error == YAML_MEMORY_ERROR;
    yaml_parser_delete(&p.yaml);
    if (lacks_memory) ts_out_of_memory(BUFFER_BYTES);
    return root;
}

const ts_tree_entry *ts_tree_find(const ts_tree *map, const char *key, size_t length) {
    for (int i = 0; i < map->count; i++) {
        const ts_tree_entry *entry = &map->entries[i];
        if (entry->key && strncmp(entry->key, key, length) == 0 && entry->key[length] == '\0') return entry;
    }
    return NULL;
}
