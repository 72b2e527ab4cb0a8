/* Names and what they stand for. */
#include "scope.h"

#include <string.h>

#include "base/hash.h"
#include "base/text.h"

#include "expr.h"

scope *scope_new(ts_arena *arena, const scope *parent) {
    scope *names = TS_NEW(arena, scope);
    names->arena = arena;
    names->parent = parent;
    names->unknown = parent != NULL ? parent->unknown : TS_NEW(arena, const token *);
    return names;
}

static uint32_t hash_of(const char *name, size_t length) {
    return (uint32_t)ts_hash_bytes(TS_HASH_BEGIN, name, length);
}

static symbol **bucket_of(const scope *names, uint32_t hash) {
    return &names->buckets[hash & (names->bucket_count - 1)];
}

static inline symbol *find_here(const scope *names, uint32_t hash, const char *name, size_t length) {
    symbol *at = names->bucket_count > 0 ? *bucket_of(names, hash) : NULL;
    while (at != NULL && (at->hash != hash || at->length != length || memcmp(at->name, name, length) != 0))
        at = at->next;
    return at;
}

const symbol *scope_find(const scope *names, const char *name, size_t length) {
    const symbol *found = NULL;
    for (uint32_t hash = hash_of(name, length); names != NULL && found == NULL; names = names->parent)
        found = find_here(names, hash, name, length);
    return found;
}

/* Into the scope's buckets, in front of those that were there before. */
static void enter(scope *names, symbol *new) {
    symbol **bucket = bucket_of(names, new->hash);
    new->next = *bucket;
    *bucket = new;
}

static void make_room(scope *names) {
    enum { FIRST = 8 };
    scope old = *names;
    if (old.symbol_count < old.bucket_count) return;
    names->bucket_count = old.bucket_count == 0 ? FIRST : 2 * old.bucket_count;
    names->buckets = TS_NEW_ARRAY(names->arena, symbol *, names->bucket_count);
    for (uint32_t i = 0; i < old.bucket_count; i++) {
        for (symbol *at = old.buckets[i], *next; at != NULL; at = next) {
            next = at->next;
            enter(names, at);
        }
    }
}

const char *symbol_class_text(symbol_class class) {
    switch (class) {
    case SYMBOL_PARAM:
        return "parameter";
    case SYMBOL_REGISTER:
        return "register";
    case SYMBOL_TENSOR:
        return "tensor";
    case SYMBOL_SEMAPHORE:
        return "semaphore";
    case SYMBOL_LABEL:
        return "label";
    case SYMBOL_MACRO:
        return "macro";
    case SYMBOL_BAD:
        break;
    }
    return "name with an error";
}

static bool taken(ts_error *err, const token *name, const symbol *old) {
    if (old->location == NULL) return TOKEN_ERROR(err, name, "'%s' is already defined", old->name);
    return TOKEN_ERROR(err, name, "'%s' is already a %s, of line %d", old->name,
                       symbol_class_text(old->class), old->location->line);
}

static symbol *insert(scope *names, symbol_class class, const char *name, size_t length) {
    symbol *new = TS_NEW(names->arena, symbol);
    new->class = class;
    new->name = ts_arena_copy_text(names->arena, name, length);
    new->length = length;
    new->hash = hash_of(name, length);
    make_room(names);
    names->symbol_count++;
    enter(names, new);
    return new;
}

void scope_add_number(scope *names, const char *name, constant value) {
    insert(names, SYMBOL_PARAM, name, strlen(name))->value = value;
}

void scope_add_figure(scope *names, const char *name, int64_t value) {
    scope_add_number(names, name, (constant){.integer = value});
}

/* Also of a tensor by the name of a memory: what would vmem[0] be? */
static bool is_reserved(symbol_class class, const token *name) {
    ts_operand_kind kind;
    int number;
    bool memory = false;
    for (int i = 0; i < TS_SPACE_COUNT; i++)
        memory = memory || token_is_name(name, ts_space_text((ts_space_kind)i));
    return register_parse(name->text, name->length, &kind, &number) ||
           function_find(name->text, name->length) != NULL || (class == SYMBOL_TENSOR && memory);
}

symbol *scope_add(ts_error *err, scope *names, symbol_class class, const token *name) {
    if (name->kind != TOKEN_NAME || memchr(name->text, '.', name->length) != NULL) {
        token_unexpected(err, name, "a name");
        return NULL;
    }
    if (is_reserved(class, name)) {
        TOKEN_ERROR(err, name, "'%.*s' is a word of the language, choose another name", (int)name->length,
                    name->text);
        return NULL;
    }
    symbol *old = find_here(names, hash_of(name->text, name->length), name->text, name->length);
    if (old != NULL && old->class != SYMBOL_BAD) {
        taken(err, name, old);
        return NULL;
    }
    symbol *new = old != NULL ? old : insert(names, class, name->text, name->length);
    new->class = class;
    new->location = name;
    return new;
}

const token *scope_take_unknown(scope *names) {
    const token *name = *names->unknown;
    *names->unknown = NULL;
    return name;
}

void scope_spoil(scope *names, const token *name) {
    ts_operand_kind kind;
    int number;
    if (name->kind != TOKEN_NAME || memchr(name->text, '.', name->length) != NULL ||
        register_parse(name->text, name->length, &kind, &number) ||
        function_find(name->text, name->length) != NULL)
        return;
    symbol *old = find_here(names, hash_of(name->text, name->length), name->text, name->length);
    if (old == NULL)
        insert(names, SYMBOL_BAD, name->text, name->length)->location = name;
    else if (old->location == name)
        old->class = SYMBOL_BAD;
}

static size_t collect(const scope *names, int classes, const char **list) {
    size_t count = 0;
    for (; names != NULL; names = names->parent) {
        for (uint32_t i = 0; i < names->bucket_count; i++) {
            for (const symbol *at = names->buckets[i]; at != NULL; at = at->next) {
                if ((at->class & (symbol_class)classes) == 0) continue;
                if (list != NULL) list[count] = at->name;
                count++;
            }
        }
    }
    return count;
}

bool scope_unknown(ts_error *err, const scope *names, const token *name, const char *what, int classes) {
    const char *word = ts_arena_copy_text(names->arena, name->text, name->length);
    size_t count = collect(names, classes, NULL);
    const char **list = TS_NEW_ARRAY(names->arena, const char *, count + 1);
    collect(names, classes, list);
    const char *nearest = ts_text_nearest(word, list, count, sizeof(char *));
    bool is_value = classes == SYMBOL_PARAM && nearest == NULL;
    TOKEN_ERROR(err, name, "unknown %s '%.63s'%s", what, word,
                is_value ? ", expected a number or a parameter" : "");
    if (err != NULL && (classes & SYMBOL_MACRO) == 0) /* each unknown instruction is an error of its own */
        *names->unknown = name;
    return ts_error_hint(err, nearest);
}

bool register_parse(const char *name, size_t length, ts_operand_kind *kind, int *number) {
    if (length < 2 || length > 5) return false;
    *number = 0;
    for (size_t i = 1; i < length; i++) {
        if (!ts_is_digit(name[i])) return false;
        *number = *number * 10 + (name[i] - '0');
    }
    *kind = name[0] == 's'   ? TS_OPERAND_SREG
            : name[0] == 'v' ? TS_OPERAND_VREG
            : name[0] == 'm' ? TS_OPERAND_VMASK
                             : TS_OPERAND_NONE;
    return *kind != TS_OPERAND_NONE;
}
