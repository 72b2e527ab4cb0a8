/* The directives: one row each. */
#include <string.h>

#include "assembler.h"

/* ---- .param NAME = VALUE ---- */

static const ts_define *find_define(assembler *as, const symbol *named) {
    for (int i = 0; as->names == as->global && i < as->define_count; i++) {
        if (strcmp(as->defines[i].name, named->name) == 0) {
            as->define_used[i] = true;
            return &as->defines[i];
        }
    }
    return NULL;
}

/* What is given for a parameter: an expression, which may use earlier parameters; an integer where the
 * default is one. */
static bool read_define(assembler *as, const ts_define *define, constant *v) {
    ts_source *source = TS_NEW(as->arena, ts_source);
    const char *name = ts_text_format(as->arena, "parameter %s", define->name);
    *source = (ts_source){.name = name, .text = define->value, .length = strlen(define->value)};
    const token *at = token_list(as->arena, source), *first = at;
    bool integer = !v->is_float;
    if (!expr_parse(as->err, as->names, &at, v)) return false;
    if (at->kind != TOKEN_END) return token_unexpected(as->err, at, "the end of the value");
    return !integer || !v->is_float || token_unexpected(as->err, first, "an integer, as the program has it");
}

static bool assemble_param(assembler *as, const token *word, const token **at, const token *stop) {
    (void)word, (void)stop;
    const token *name;
    constant v;
    if (!expect_name(as, at, "a name", &name) || !expect_mark(as, at, '=', "'='") ||
        !expr_parse(as->err, as->names, at, &v) || !expect_line_end(as, *at, "the end of the line"))
        return false;
    symbol *named = scope_add(as->err, as->names, SYMBOL_PARAM, name);
    if (named == NULL) return false;
    const ts_define *define = find_define(as, named);
    if (define != NULL && !read_define(as, define, &v)) return false;
    named->value = v;
    if (as->names == as->global) {
        *PUSH(as->arena, &as->params) =
            (ts_param){named->name, v.is_float, v.integer, v.number, as->expansions > 0 && define == NULL};
    }
    return true;
}

/* ---- .reg NAME = REGISTER ---- */

static bool assemble_reg(assembler *as, const token *word, const token **at, const token *stop) {
    (void)word, (void)stop;
    const token *name;
    ts_operand_kind kind;
    int number;
    bool found;
    if (!expect_name(as, at, "a name", &name) || !expect_mark(as, at, '=', "'='")) return false;
    const token *location = *at;
    if (!register_read(as->err, as->names, at, &kind, &number, &found)) return false;
    if (!found) return token_unexpected(as->err, location, "a register");
    symbol *named = scope_add(as->err, as->names, SYMBOL_REGISTER, name);
    if (named == NULL) return false;
    named->kind = kind;
    named->index = number;
    *PUSH(as->arena, &as->aliases) = (ts_program_alias){named->name, kind, number, as->items.count};
    return expect_line_end(as, *at, "the end of the line");
}

/* ---- .sem NAME[COUNT] bytes, ... ---- */

enum { SEMAPHORES_MAX = 1024 };

symbol *add_semaphores(assembler *as, const token *name, int64_t count) {
    symbol *named = scope_add(as->err, as->global, SYMBOL_SEMAPHORE, name);
    if (named == NULL) return NULL;
    if (count < 1 || count > SEMAPHORES_MAX - as->semaphores.count) {
        TOKEN_ERROR(as->err, name, "expected 1 to %d semaphores", SEMAPHORES_MAX);
        return NULL;
    }
    named->index = as->semaphores.count;
    named->count = (int)count;
    for (int i = 0; i < count; i++) {
        *PUSH(as->arena, &as->semaphores) = ts_text_format(as->arena, "%s[%d]", named->name, i);
        *PUSH(as->arena, &as->semaphore_bytes) = false;
    }
    return named;
}

static bool parse_semaphores(assembler *as, const token **at) {
    const token *name;
    int64_t count = 1;
    if (!expect_name(as, at, "a name", &name)) return false;
    if (token_take(at, '[') && (!expr_integer(as->err, as->names, at, "the number of semaphores",
                                              (integer_range){1, SEMAPHORES_MAX}, &count) ||
                                !expect_mark(as, at, ']', "']'")))
        return false;
    if (!add_semaphores(as, name, count)) return false;
    bool bytes = token_take_name(at, "bytes");
    for (int i = 0; i < count; i++) as->semaphore_bytes.items[as->semaphore_bytes.count - 1 - i] = bytes;
    return true;
}

static bool assemble_sem(assembler *as, const token *word, const token **at, const token *stop) {
    (void)word, (void)stop;
    do {
        if (!parse_semaphores(as, at)) return false;
    } while (token_take(at, ','));
    return expect_line_end(as, *at, "',' or the end of the line");
}

/* ---- .check TENSOR ~= EXPRESSION ulp=1 ---- */

/* Words of the line as it is in the text? A macro's arguments are of other lines, or parts of a name. */
static bool is_as_written(const token *word, const token *begin, const token *end) {
    for (const token *at = begin; at < end; at++)
        if (at->source != word->source || at->line != word->line ||
            (at->kind == TOKEN_NAME && at->text != at->source->text + at->offset))
            return false;
    return true;
}

/* The rest of the line, for the parser of reference expressions. */
static bool rest_of_line(assembler *as, const token *word, const token **at, const char *what,
                         ts_program_check *out) {
    const token *begin = *at;
    while (!token_ends_line(*at)) ++*at;
    if (begin == *at) return token_unexpected(as->err, begin, what);
    if (!is_as_written(word, begin, *at)) {
        return TOKEN_ERROR(as->err, word, "a %.*s cannot use the arguments of a macro", (int)word->length - 1,
                           word->text + 1);
    }
    const token *last = *at - 1;
    size_t end = last->offset + last->length + (last->kind == TOKEN_STRING ? 2 : 0);
    *out = (ts_program_check){word->source, begin->offset, end, word->line};
    return true;
}

static bool assemble_check(assembler *as, const token *word, const token **at, const token *stop) {
    (void)stop;
    return rest_of_line(as, word, at, "a tensor, '~=' and what it should hold", PUSH(as->arena, &as->checks));
}

/* ---- .report NAME = EXPRESSION ---- */

static bool assemble_report(assembler *as, const token *word, const token **at, const token *stop) {
    (void)stop;
    const token *name;
    ts_program_report *new = PUSH(as->arena, &as->reports);
    if (!expect_name(as, at, "a name", &name) || !expect_mark(as, at, '=', "'='")) return false;
    new->name = ts_arena_copy_text(as->arena, name->text, name->length);
    return rest_of_line(as, word, at, "what to report", &new->text);
}

/* ---- .assert EXPRESSION, "message" ---- */

static bool assemble_assert(assembler *as, const token *word, const token **at, const token *stop) {
    (void)stop;
    constant v;
    if (!expr_parse(as->err, as->names, at, &v) || !expect_mark(as, at, ',', "','")) return false;
    const token *text = *at;
    if (text->kind != TOKEN_STRING) return token_unexpected(as->err, text, "a message in double quotes");
    ++*at;
    if (v.is_float ? v.number == 0 : v.integer == 0) {
        TOKEN_ERROR(as->err, word, "%.*s", (int)(text->length > 200 ? 200 : text->length), text->text);
        return give_up(as); /* what is behind it relies on it */
    }
    return expect_line_end(as, *at, "the end of the line");
}

/* ---- .pack auto | pipeline [VREG] | off ---- */

/* The first of the vregs that the program leaves to the packer. */
static bool parse_own_vregs(assembler *as, const token **at) {
    ts_operand_kind kind;
    const token *location = *at;
    int number;
    bool found;
    if ((*at)->kind == TOKEN_LINE || (*at)->kind == TOKEN_END) return true;
    if (!register_read(as->err, as->names, at, &kind, &number, &found)) return false;
    if (!found || kind != TS_OPERAND_VREG || number == 0)
        return token_unexpected(as->err, location, "a vreg from v1 on, or the end of the line");
    if (as->own_vregs == 0 || number < as->own_vregs) as->own_vregs = number;
    return true;
}

static bool assemble_pack(assembler *as, const token *word, const token **at, const token *stop) {
    (void)word, (void)stop;
    bool pipeline = token_is_name(*at, "pipeline"), automatic = token_is_name(*at, "auto");
    if (!automatic && !pipeline && !token_is_name(*at, "off"))
        return token_unexpected(as->err, *at, "auto, pipeline or off");
    ++*at;
    if (pipeline && !parse_own_vregs(as, at)) return false;
    pack_region(as);
    as->packing = automatic || pipeline;
    as->pipelining = pipeline;
    return expect_line_end(as, *at, "the end of the line");
}

/* ---- .cores NUMBER ---- */

static bool assemble_cores(assembler *as, const token *word, const token **at, const token *stop) {
    (void)stop;
    constant v;
    const token *number = *at;
    int most = as->target->cores > 1 ? as->target->cores : 1;
    if (!expr_parse(as->err, as->names, at, &v)) return false;
    if (v.is_float || v.integer < 1 || v.integer > most) {
        double found = v.is_float ? v.number : (double)v.integer;
        return most > 1 ? TOKEN_ERROR(as->err, number, "found %g, expected 1 to %d: %s has %d TensorCores",
                                      found, most, as->target->machine, most)
                        : TOKEN_ERROR(as->err, number, "found %g, expected 1: %s has 1 TensorCore", found,
                                      as->target->machine);
    }
    if (as->cores > 0) return TOKEN_ERROR(as->err, word, "a second .cores");
    as->cores = (int)v.integer;
    return expect_line_end(as, *at, "the end of the line");
}

static bool tensor_row(assembler *as, const token *word, const token **at, const token *stop) {
    (void)word, (void)stop;
    return assemble_tensor(as, at);
}

static bool stray(assembler *as, const token *word, const token **at, const token *stop) {
    (void)stop;
    if (as->strays > 0) { /* of the block that an unknown directive should have begun */
        as->strays -= token_is_name(word, ".end");
        return expect_line_end(as, *at, "the end of the line");
    }
    return TOKEN_ERROR(as->err, word, "%.*s without .for, .loop, .if or .macro", (int)word->length,
                       word->text);
}

typedef enum { NOTHING, NAME, GLOBAL_NAME, GLOBAL_NAMES } definition; /* what stands behind the word */

typedef struct {
    const char *name;
    bool (*assemble)(assembler *as, const token *word, const token **at, const token *stop);
    definition defines;
} directive;
static const directive directives[] = {
    {".param", assemble_param, NAME},
    {".tensor", tensor_row, GLOBAL_NAME},
    {".sem", assemble_sem, GLOBAL_NAMES},
    {".check", assemble_check, NOTHING},
    {".reg", assemble_reg, NAME},
    {".assert", assemble_assert, NOTHING},
    {".for", assemble_for, NOTHING},
    {".loop", assemble_loop, NOTHING},
    {".if", assemble_if, NOTHING},
    {".macro", assemble_macro, NAME},
    {".include", assemble_include, NOTHING},
    {".pack", assemble_pack, NOTHING},
    {".cores", assemble_cores, NOTHING},
    {".report", assemble_report, NOTHING},
    {".region", assemble_region, NOTHING},
    {".endregion", assemble_endregion, NOTHING},
    {".end", stray, NOTHING},
    {".else", stray, NOTHING},
};
enum { DIRECTIVES = sizeof(directives) / sizeof(directives[0]) };

static const directive *find_directive(const token *word) {
    for (int i = 0; i < DIRECTIVES; i++)
        if (token_is_name(word, directives[i].name)) return &directives[i];
    return NULL;
}

void spoil_directive(assembler *as, const token *word) {
    const directive *found = find_directive(word);
    definition defines = found != NULL ? found->defines : GLOBAL_NAME;
    if (defines != NOTHING) scope_spoil(defines == NAME ? as->names : as->global, word + 1);
    for (const token *at = word + 1; defines == GLOBAL_NAMES && !token_ends_line(at); at++)
        if (token_is(at, ',')) scope_spoil(as->global, at + 1);
}

/* What the statements in [at, end) would define is known as bad. */
static void spoil_definitions(assembler *as, const token *at, const token *end) {
    for (bool fresh = true; at < end; fresh = at->kind == TOKEN_LINE || token_is(at, ':'), at++)
        if (fresh && at->kind == TOKEN_NAME && token_is(at + 1, ':'))
            scope_spoil(as->names, at);
        else if (fresh && at->kind == TOKEN_DIRECTIVE)
            spoil_directive(as, at);
}

bool recover_block(assembler *as, const token *word, const token **at, const token *stop) {
    if (!opens_block(word)) return true;
    const token *body = *at, *end = find_end(as, word, body, stop, END_ONLY);
    if (end == NULL) {
        keep_error(as);
        return false;
    }
    *at = end + 1;
    if (token_is_name(word, ".macro")) return true;
    if (token_is_name(word, ".if")) { /* which part it would be is not known */
        spoil_definitions(as, body, end);
        return true;
    }
    scope *names = scope_new(as->arena, as->names);
    if (token_is_name(word, ".for")) scope_spoil(names, word + 1);
    return run_in_scope(as, names, body, end);
}

bool assemble_directive(assembler *as, const token **at, const token *stop) {
    const token *word = (*at)++;
    const directive *found = find_directive(word);
    if (found != NULL) return found->assemble(as, word, at, stop);
    const char *name = ts_arena_copy_text(as->arena, word->text, word->length);
    as->strays++;
    TOKEN_ERROR(as->err, word, "unknown directive '%.63s'", name);
    return ts_error_hint(as->err, ts_text_nearest(name, &directives[0].name, DIRECTIVES, sizeof(directive)));
}
