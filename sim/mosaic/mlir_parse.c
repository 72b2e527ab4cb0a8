/* The parser of MLIR's generic form. */
#include <string.h>

#include "base/hash.h"
#include "base/list.h"
#include "base/text.h"

#include "mlir.h"

enum { OPS_MAX = 1 << 21, LIST_MAX = 1 << 16, BUCKETS = 1 << 12 };

/* A name that stands for a value; what is found first was defined last. */
typedef struct binding {
    ts_span name;
    int value, count; /* its first result, and how many */
    struct binding *next;
    uint32_t bucket;
} binding;

/* Types that were read, by their text. */
typedef struct known_type {
    mlir_type type;
    struct known_type *next;
} known_type;

typedef struct {
    ts_error *err;
    ts_arena *arena;
    const ts_source *source;
    const char *at, *end;
    int ops, depth;
    binding **buckets;
    known_type **types;
    LIST_OF(binding *) bound; /* in their order, so that those of a region end with it */
    LIST_OF(mlir_value) values;
    LIST_OF(mlir_attribute) aliases;
} parser;

/* ---- Characters ---- */

static void skip(parser *p) {
    while (p->at < p->end) {
        if (ts_is_space(*p->at))
            p->at++;
        else if (p->end - p->at >= 2 && p->at[0] == '/' && p->at[1] == '/')
            while (p->at < p->end && *p->at != '\n') p->at++;
        else
            return;
    }
}

static bool next_is(parser *p, const char *text) {
    skip(p);
    size_t length = strlen(text);
    return (size_t)(p->end - p->at) >= length && memcmp(p->at, text, length) == 0;
}

static bool take(parser *p, const char *text) {
    if (!next_is(p, text)) return false;
    p->at += strlen(text);
    return true;
}

static bool fail(parser *p, const char *what) {
    skip(p);
    size_t offset = (size_t)(p->at - p->source->text);
    if (p->at == p->end) {
        return ts_error_at(p->err, TS_ERROR_INPUT, p->source, offset,
                           "found the end of the text, expected %s", what);
    }
    return ts_error_at(p->err, TS_ERROR_INPUT, p->source, offset, "found '%c', expected %s",
                       *p->at >= ' ' && *p->at < 127 ? *p->at : '?', what);
}

static bool expect(parser *p, const char *text) {
    return take(p, text) || fail(p, ts_text_format(p->arena, "'%s'", text));
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ts_is_digit(c) || c == '_' || c == '.' ||
           c == '$' || c == '-';
}

/* The name behind a mark such as '%' or '^', or a word. */
static ts_span word(parser *p) {
    ts_span out = {p->at, 0};
    while (p->at < p->end && is_word(*p->at)) p->at++;
    out.length = (size_t)(p->at - out.text);
    return out;
}

static bool quoted(parser *p, ts_span *out) {
    if (!take(p, "\"")) return fail(p, "'\"'");
    out->text = p->at;
    while (p->at < p->end && *p->at != '"' && *p->at != '\n')
        p->at += *p->at == '\\' && p->end - p->at > 1 ? 2 : 1;
    out->length = (size_t)(p->at - out->text);
    return expect(p, "\"");
}

static bool value_text(parser *p, ts_span *out) {
    skip(p);
    const char *stop = mlir_value_end(p->at, p->end);
    *out = (ts_span){p->at, (size_t)(stop - p->at)};
    p->at = stop;
    while (out->length > 0 && ts_is_space(out->text[out->length - 1])) out->length--;
    return out->length > 0 || fail(p, "a value");
}

/* ---- Names of values ---- */

static uint32_t hash(ts_span text) {
    return (uint32_t)(ts_hash_bytes(TS_HASH_BEGIN, text.text, text.length) % BUCKETS);
}

static void bind(parser *p, ts_span name, int value, int count) {
    binding *new = TS_NEW(p->arena, binding);
    *new = (binding){name, value, count, NULL, hash(name)};
    new->next = p->buckets[new->bucket];
    p->buckets[new->bucket] = new;
    *PUSH(p->arena, &p->bound) = new;
}

static void unbind(parser *p, int count) {
    while (p->bound.count > count) {
        binding *last = p->bound.items[--p->bound.count];
        p->buckets[last->bucket] = last->next;
    }
}

/* "12" of "#12"; -1: out of range. */
static int small_number(parser *p) {
    int64_t n;
    return mlir_integer(word(p), &n) && n >= 0 && n < LIST_MAX ? (int)n : -1;
}

static bool use(parser *p, int *value) {
    const char *begin = p->at;
    if (!take(p, "%")) return fail(p, "a value such as %0");
    ts_span name = word(p);
    int part = p->at < p->end && *p->at == '#' ? (p->at++, small_number(p)) : 0;
    const binding *b = p->buckets[hash(name)];
    while (b && !ts_span_same(b->name, name)) b = b->next;
    if (!b || part < 0 || part >= b->count) {
        p->at = begin;
        skip(p);
        return ts_error_at(p->err, TS_ERROR_INPUT, p->source, (size_t)(p->at - p->source->text),
                           "the value '%%%.*s' is not defined before this", ts_text_quoted(name.length),
                           name.text);
    }
    *value = b->value + part;
    return true;
}

/* ---- Types ---- */

/* A type ends where a location or an attribute begins. */
static bool type_text(parser *p, ts_span *text) {
    if (!value_text(p, text)) return false;
    const char *stop = text->text;
    for (int depth = 0; stop < text->text + text->length && (depth > 0 || !ts_is_space(*stop)); stop++) {
        depth += *stop == '<' || *stop == '(';
        depth -= *stop == '>' || *stop == ')';
    }
    text->length = (size_t)(stop - text->text);
    p->at = stop;
    return true;
}

static known_type *add_type(parser *p, ts_span text, known_type **bucket) {
    known_type *new = TS_NEW(p->arena, known_type);
    if (!mlir_type_read(text, &new->type)) {
        ts_error_at(p->err, TS_ERROR_INPUT, p->source, (size_t)(text.text - p->source->text),
                    "unknown type '%.*s'", ts_text_quoted(text.length), text.text);
        return NULL;
    }
    new->next = *bucket;
    return *bucket = new;
}

static bool read_type(parser *p, const mlir_type **out) {
    ts_span text;
    if (!type_text(p, &text)) return false;
    known_type **bucket = &p->types[hash(text)], *known = *bucket;
    while (known && !ts_span_same(known->type.text, text)) known = known->next;
    if (!known) known = add_type(p, text, bucket);
    if (!known) return false;
    *out = &known->type;
    return true;
}

static int new_value(parser *p, const mlir_type *type, const mlir_op *op) {
    *PUSH(p->arena, &p->values) = (mlir_value){type, op};
    return p->values.count - 1;
}

/* ": (types) -> types" behind an operation. */
static bool read_signature(parser *p, mlir_op *op) {
    const mlir_type *type;
    int operands = 0;
    if (!expect(p, ":") || !expect(p, "(")) return false;
    while (!take(p, ")"))
        if ((operands++ > 0 && !expect(p, ",")) || !read_type(p, &type)) return false;
    if (operands != op->operand_count) return fail(p, "as many types as operands");
    if (!expect(p, "->")) return false;
    op->first_result = p->values.count;
    bool list = take(p, "(");
    while (!list || !take(p, ")")) {
        if ((op->result_count > 0 && !expect(p, ",")) || !read_type(p, &type)) return false;
        new_value(p, type, op);
        op->result_count++;
        if (!list) break;
    }
    return true;
}

/* ---- Operations ---- */

static bool read_location(parser *p, ts_span *out) {
    if (!take(p, "loc")) return true;
    return expect(p, "(") && value_text(p, out) && expect(p, ")");
}

/* name = value, ..., up to the closing text. */
static bool read_attributes(parser *p, mlir_op *op, const char *close) {
    LIST_OF(mlir_attribute) list = {(mlir_attribute *)(uintptr_t)op->attributes, op->attribute_count};
    for (int i = 0; !take(p, close); i++) {
        mlir_attribute *new = PUSH(p->arena, &list);
        if (i > 0 && !expect(p, ",")) return false;
        skip(p);
        if (next_is(p, "\"") ? !quoted(p, &new->name) : (new->name = word(p)).length == 0)
            return fail(p, "the name of an attribute");
        if (take(p, "=") && !value_text(p, &new->value)) return false;
    }
    op->attributes = list.items;
    op->attribute_count = list.count;
    return true;
}

static bool read_op(parser *p, const mlir_op **out);

/* "(%0: i32 loc(..), ...):" of a block. */
static bool read_arguments(parser *p, mlir_block *block) {
    LIST_OF(int) list = {0};
    if (take(p, "(")) {
        while (!take(p, ")")) {
            const mlir_type *type;
            ts_span ignored;
            if ((list.count > 0 && !expect(p, ",")) || !expect(p, "%")) return false;
            ts_span name = word(p);
            if (!expect(p, ":") || !read_type(p, &type) || !read_location(p, &ignored)) return false;
            *PUSH(p->arena, &list) = new_value(p, type, NULL);
            bind(p, name, p->values.count - 1, 1);
        }
    }
    block->arguments = list.items;
    block->argument_count = list.count;
    return expect(p, ":");
}

static bool read_block(parser *p, mlir_block *block) {
    LIST_OF(const mlir_op *) ops = {0};
    if (take(p, "^")) {
        word(p);
        if (!read_arguments(p, block)) return false;
    }
    while (!next_is(p, "}") && !next_is(p, "^"))
        if (!read_op(p, PUSH(p->arena, &ops))) return false;
    block->ops = ops.items;
    block->op_count = ops.count;
    return true;
}

static bool read_region(parser *p, mlir_region *region) {
    LIST_OF(const mlir_block *) blocks = {0};
    int outer = p->bound.count;
    if (!expect(p, "{")) return false;
    if (++p->depth > MLIR_DEPTH_MAX) return fail(p, "at most 64 regions in each other");
    do {
        mlir_block *block = TS_NEW(p->arena, mlir_block);
        *PUSH(p->arena, &blocks) = block;
        if (!read_block(p, block)) return false;
    } while (!take(p, "}"));
    p->depth--;
    unbind(p, outer);
    region->blocks = blocks.items;
    region->block_count = blocks.count;
    return true;
}

static bool read_operands(parser *p, mlir_op *op) {
    LIST_OF(int) list = {0};
    if (!expect(p, "(")) return false;
    while (!take(p, ")"))
        if ((list.count > 0 && !expect(p, ",")) || list.count == LIST_MAX || !use(p, PUSH(p->arena, &list)))
            return p->err != NULL && fail(p, "an operand");
    op->operands = list.items;
    op->operand_count = list.count;
    while (take(p, "[") || (op->successor_count > 0 && take(p, ","))) {
        if (!expect(p, "^")) return false;
        word(p);
        op->successor_count++;
        if (next_is(p, "]")) return expect(p, "]");
    }
    return true;
}

static bool read_regions(parser *p, mlir_op *op) {
    LIST_OF(mlir_region) list = {0};
    if (take(p, "(")) {
        do {
            if (!read_region(p, PUSH(p->arena, &list))) return false;
        } while (take(p, ","));
        if (!expect(p, ")")) return false;
    }
    op->regions = list.items;
    op->region_count = list.count;
    return true;
}

/* "%0:2, %1 = ", whose values are known only when the types are. */
static bool read_results(parser *p, ts_span *names, int *counts, int *count, int most) {
    *count = 0;
    if (!next_is(p, "%")) return true;
    do {
        if (*count == most || !expect(p, "%")) return fail(p, "fewer results");
        names[*count] = word(p);
        counts[*count] = take(p, ":") ? (skip(p), small_number(p)) : 1;
        if (counts[(*count)++] < 1) return fail(p, "a number of results");
    } while (take(p, ","));
    return expect(p, "=");
}

static bool bind_results(parser *p, const mlir_op *op, const ts_span *names, const int *counts, int count) {
    int first = op->first_result, all = 0;
    for (int i = 0; i < count; i++) {
        bind(p, names[i], first + all, counts[i]);
        all += counts[i];
    }
    return all == op->result_count || all == 0 || fail(p, "as many types as results");
}

static bool read_op(parser *p, const mlir_op **out) {
    enum { NAMES = 64 };
    ts_span names[NAMES];
    int counts[NAMES], count;
    mlir_op *op = TS_NEW(p->arena, mlir_op);
    if (++p->ops > OPS_MAX) return fail(p, "fewer operations");
    if (!read_results(p, names, counts, &count, NAMES)) return false;
    skip(p);
    op->offset = (size_t)(p->at - p->source->text);
    *out = op;
    return quoted(p, &op->name) && read_operands(p, op) && (!take(p, "<{") || read_attributes(p, op, "}>")) &&
           read_regions(p, op) && (!take(p, "{") || read_attributes(p, op, "}")) && read_signature(p, op) &&
           read_location(p, &op->location) && bind_results(p, op, names, counts, count);
}

/* "#loc1 = loc(..)", "#map = ..". */
static bool read_alias(parser *p) {
    mlir_attribute *new = PUSH(p->arena, &p->aliases);
    if (!expect(p, "#")) return false;
    new->name = word(p);
    return expect(p, "=") &&
           (next_is(p, "loc(") ? read_location(p, &new->value) : value_text(p, &new->value));
}

/* "module {", "func.func @main": operations of the generic form are in quotes. */
static bool is_custom_form(parser *p) {
    const char *at = p->at;
    size_t length = word(p).length;
    p->at = at;
    return length > 1;
}

static bool refuse_custom_form(parser *p) {
    return ts_error_at(p->err, TS_ERROR_INPUT, p->source, (size_t)(p->at - p->source->text),
                       "MLIR's custom form: expected the generic one, \"builtin.module\"(..), of a kernel at "
                       "vreg level, as python3 -m tilesim.pallas writes it (-o, --from-dump)");
}

const mlir_module *mlir_parse(ts_error *err, ts_arena *arena, const ts_source *source) {
    ts_error own = {0};
    parser p = {.err = err ? err : &own, .arena = arena, .source = source, .at = source->text};
    mlir_module *module = TS_NEW(arena, mlir_module);
    p.end = source->text + source->length;
    p.buckets = TS_NEW_ARRAY(arena, binding *, BUCKETS);
    p.types = TS_NEW_ARRAY(arena, known_type *, BUCKETS);
    *module = (mlir_module){.source = source};
    while (skip(&p), p.at < p.end) {
        bool good = next_is(&p, "#")      ? read_alias(&p)
                    : module->top != NULL ? fail(&p, "the end of the text")
                    : is_custom_form(&p)  ? refuse_custom_form(&p)
                                          : read_op(&p, &module->top);
        if (!good) return NULL;
    }
    if (!module->top) {
        fail(&p, "an operation");
        return NULL;
    }
    module->values = p.values.items;
    module->value_count = p.values.count;
    module->aliases = p.aliases.items;
    module->alias_count = p.aliases.count;
    return module;
}
