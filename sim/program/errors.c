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

/* The line of the program's own text that leads to a line of a source; 0: of the command line. */
static int leading_line(const assembler *as, const char *name, int line) {
    if (same_name(name, as->name)) return line;
    for (int i = 0; i < as->includes.count; i++)
        if (same_name(name, as->includes.items[i].name)) return as->includes.items[i].line;
    return 0;
}

void note_include(assembler *as, const token *location, const char *name) {
    int line = leading_line(as, location->source->name, location->line);
    *PUSH(as->arena, &as->includes) = (included){name, line};
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
                 as->uses_open[i].kind, (int)(location->length > 40 ? 40 : location->length), location->text,
                 location->line);
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

static bool stands_before(const assembler *as, const ts_error *a, const ts_error *b) {
    int line_a = leading_line(as, a->name, a->line), line_b = leading_line(as, b->name, b->line);
    if (line_a != line_b) return line_a < line_b;
    return a->line != b->line ? a->line < b->line : a->column < b->column;
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
