/* Names and what they stand for. A scope sees its own names, then its parent's. */
#ifndef TILESIM_PROGRAM_SCOPE_H
#define TILESIM_PROGRAM_SCOPE_H

#include "isa/isa.h"

#include "token.h"

/* A number, or integer + the sum of factor * sreg. */
typedef struct {
    bool is_float;
    int64_t integer;
    double number;
    int term_count;
    struct {
        int sreg;
        int64_t factor;
    } terms[TS_AFFINE_TERMS];
} constant;

typedef enum {
    SYMBOL_PARAM = 1 << 0,     /* also the counter of a .for */
    SYMBOL_REGISTER = 1 << 1,  /* an alias: operand kind in `kind`, number in `index` */
    SYMBOL_TENSOR = 1 << 2,    /* number in `index` */
    SYMBOL_SEMAPHORE = 1 << 3, /* its first number in `index`, how many in `count` */
    SYMBOL_LABEL = 1 << 4,     /* of the bundle `index` */
    SYMBOL_MACRO = 1 << 5,
    SYMBOL_BAD = 1 << 6, /* an error was reported where it is, or should be, defined */
} symbol_class;

typedef struct symbol {
    symbol_class class;
    const char *name; /* ended by NUL */
    size_t length;
    const token *location; /* where it was defined; NULL for a figure of the machine */
    constant value;
    ts_operand_kind kind;
    int index, count;
    const void *macro;
    uint32_t hash;
    struct symbol *next; /* in its bucket */
} symbol;

typedef struct scope {
    ts_arena *arena;
    const struct scope *parent;
    const token **unknown; /* the name last found unknown; one for a scope and all in it */
    symbol **buckets;      /* a power of two of them, at least as many as symbols; none at first */
    uint32_t bucket_count, symbol_count;
    bool is_checked; /* all names were: one that is unknown may stand where nothing is computed */
} scope;

scope *scope_new(ts_arena *arena, const scope *parent);
/* NULL when the name is unknown. */
const symbol *scope_find(const scope *names, const char *name, size_t length);
/* A new name in this scope; an error when it is taken here, or is the name of a register or of a function. */
symbol *scope_add(ts_error *err, scope *names, symbol_class class, const token *name);
/* A number that every program knows; its name has a dot, so that no program takes it. */
void scope_add_figure(scope *names, const char *name, int64_t value);
/* The same of any number, for expressions of other texts than programs. */
void scope_add_number(scope *names, const char *name, constant value);
/* "unknown WHAT 'NAME'; did you mean 'OTHER'?", OTHER of the given classes. */
bool scope_unknown(ts_error *err, const scope *names, const token *name, const char *what, int classes);
/* The name last reported as unknown since this was asked, or NULL. */
const token *scope_take_unknown(scope *names);
/* The name, if this token defines it or nothing does in this scope, is known as bad; it may still be
 * defined. */
void scope_spoil(scope *names, const token *name);
const char *symbol_class_text(symbol_class class);
/* v12, s3, m0: a register's name. */
bool register_parse(const char *name, size_t length, ts_operand_kind *kind, int *number);

#endif
