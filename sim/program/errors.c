/* The errors of a program, of which a run reports many: which are kept, and their order. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "assembler.h"

enum { FAILURES_MAX = 256 }; /* statements that fail, reported or not: each costs a pass over the text */

bool give_up(assembler *as) {
    as->fatal = true;
    return false;
}

/* ---- What is kept ---- */

/* Names of sources are cut in errors. */
static bool same_name(const char *a, const char *b) { return strncmp(a, b, TS_ERROR_NAME_BYTES - 4) == 0; }

/* How a source came in; NULL: it is the program's own text, or of the command line. */
static const included *find_include(const assembler *as, const char *name) {
    if (same_name(name, as->name)) return NULL;
    for (int i = 0; i < as->includes.count; i++)
        if (same_name(name, as->includes.items[i].name)) return &as->includes.items[i];
    return NULL;
}

void note_include(assembler *as, const token *location, const char *name) {
    *PUSH(as->arena, &as->includes) = (included){name, location->source->name, location->line};
}

/* A location has one error, however often macros and loops come by. */
static bool is_kept(const assembler *as, const ts_error *err) {
    for (int i = 0; i < as->errors.count && err->line > 0; i++) {
        const ts_error *kept = &as->errors.items[i];
        if (kept->line == err->line && kept->column == err->column && same_name(kept->name, err->name))
            return true;
    }
    return false;
}

/* Says behind a message where its text was used. */
static void note_uses(const assembler *as, ts_error *err) {
    int depth = as->expansions < USES_NOTED ? as->expansions : USES_NOTED;
    for (int i = depth - 1; i >= 0; i--) {
        const token *location = as->uses_open[i].location;
        size_t used = strlen(err->message);
        snprintf(err->message + used, sizeof(err->message) - used, " (in %s '%.*s' used on line %d)",
                 as->uses_open[i].kind, ts_text_quoted(location->length), location->text, location->line);
    }
}

static void keep(assembler *as) {
    if (as->now.kind == TS_ERROR_NONE || is_kept(as, &as->now)) return;
    if (as->errors.count == TS_PROGRAM_ERRORS_MAX) {
        as->more = as->stopped = true;
        return;
    }
    note_uses(as, &as->now);
    *PUSH(as->arena, &as->errors) = as->now;
}

void keep_error(assembler *as) {
    if (as->err != &as->now || as->stopped) /* a builder's caller has the first */
        return;
    keep(as);
    ts_error_clear(&as->now);
    if (++as->failures == FAILURES_MAX) as->more = as->stopped = true;
    as->stopped = as->stopped || as->fatal;
}

/* ---- The list ---- */

/* A line of a file, or that of the .include which leads to it. Those of the command line are before all. */
typedef struct {
    const char *name;
    int line, column;
} position;

static int depth_of(const assembler *as, const char *name) {
    int depth = 0;
    for (const included *in; (in = find_include(as, name)) != NULL; name = in->by) depth++;
    return depth;
}

static position go_up(const assembler *as, position at, int levels) {
    for (; levels > 0; levels--) {
        const included *in = find_include(as, at.name);
        at = (position){in->by, in->line, 0};
    }
    return at;
}

/* Of different files: by the lines of the file from where both are included. */
static bool stands_before(const assembler *as, const ts_error *a, const ts_error *b) {
    position x = {a->name, a->line, a->column}, y = {b->name, b->line, b->column};
    int deep = depth_of(as, x.name), other = depth_of(as, y.name);
    x = go_up(as, x, deep - other);
    y = go_up(as, y, other - deep);
    for (int depth = deep < other ? deep : other; depth > 0 && !same_name(x.name, y.name); depth--) {
        x = go_up(as, x, 1);
        y = go_up(as, y, 1);
    }
    if (!same_name(x.name, y.name)) return same_name(y.name, as->name);
    return x.line != y.line ? x.line < y.line : x.column < y.column;
}

static void sort_errors(assembler *as) {
    for (int i = 1; i < as->errors.count; i++) {
        ts_error moved = as->errors.items[i];
        int at = i;
        for (; at > 0 && stands_before(as, &moved, &as->errors.items[at - 1]); at--)
            as->errors.items[at] = as->errors.items[at - 1];
        as->errors.items[at] = moved;
    }
}

void give_errors(assembler *as, ts_error *err) {
    assert(as->errors.count > 0);
    sort_errors(as);
    for (int i = 0; i < as->errors.count; i++) {
        as->errors.items[i].next = i + 1 < as->errors.count ? &as->errors.items[i + 1] : NULL;
        as->errors.items[i].more = as->more;
    }
    if (err != NULL && err->kind == TS_ERROR_NONE) *err = as->errors.items[0];
}
