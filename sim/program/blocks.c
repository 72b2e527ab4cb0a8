/* What repeats or chooses statements: macros, .for, .if, .include. */
#include <string.h>

#include "assembler.h"

typedef struct {
    const token *name;
    const token *params; /* of param_count names, with commas between */
    int param_count;
    const token *begin, *end; /* the body */
} macro;

bool opens_block(const token *at) {
    return token_is_name(at, ".macro") || token_is_name(at, ".for") || token_is_name(at, ".loop") ||
           token_is_name(at, ".if");
}

bool refuse_depth(assembler *as, const token *at) {
    TOKEN_ERROR(as->err, at, "blocks are nested over %d deep", BLOCKS_MAX);
    return give_up(as);
}

const token *find_end(assembler *as, const token *word, const token *at, const token *stop, block_end end) {
    int depth = 0;
    for (; at < stop; at++) {
        if (at->kind != TOKEN_DIRECTIVE) continue;
        if (depth == 0 && (token_is_name(at, ".end") || (end == END_OR_ELSE && token_is_name(at, ".else"))))
            return at;
        depth += opens_block(at) - token_is_name(at, ".end");
        if (as->blocks + depth >= BLOCKS_MAX) { /* else each block would look through all that it holds */
            refuse_depth(as, at);
            return NULL;
        }
    }
    TOKEN_ERROR(as->err, word, "%.*s has no .end", (int)word->length, word->text);
    give_up(as);
    return NULL;
}

bool run_in_scope(assembler *as, scope *names, const token *at, const token *stop) {
    scope *outer = as->names;
    as->names = names;
    bool good = as->assemble_block(as, at, stop);
    as->names = outer;
    return good;
}

/* ---- Macros ---- */

/* The argument that has this name; -1: none. */
static int find_param(const macro *of, const char *text, size_t length) {
    for (int i = 0; i < of->param_count; i++) {
        const token *param = &of->params[2 * i];
        if (param->length == length && memcmp(param->text, text, length) == 0) return i;
    }
    return -1;
}

/* "NAME, NAME .." up to the end of the line, no name twice. */
static bool read_params(assembler *as, const token **at, macro *new) {
    new->params = *at;
    while (!token_ends_line(*at)) {
        const token *param;
        if (new->param_count > 0 && !expect_mark(as, at, ',', "','")) return false;
        if (!expect_name(as, at, "the name of an argument", &param)) return false;
        if (find_param(new, param->text, param->length) >= 0)
            return TOKEN_ERROR(as->err, param, "the macro has two arguments '%.*s'", (int)param->length,
                               param->text);
        new->param_count++;
    }
    return true;
}

bool assemble_macro(assembler *as, const token *word, const token **at, const token *stop) {
    macro *new = TS_NEW(as->arena, macro);
    symbol *named = expect_name(as, at, "a name", &new->name)
                        ? scope_add(as->err, as->names, SYMBOL_MACRO, new->name)
                        : NULL;
    if (named == NULL) return false;
    ts_opcode opcode;
    if (ts_opcode_find(new->name->text, new->name->length, &opcode))
        return TOKEN_ERROR(as->err, new->name, "'%s' is an instruction, choose another name", named->name);
    named->macro = new;
    if (!read_params(as, at, new)) return false;
    new->begin = *at;
    new->end = find_end(as, word, *at, stop, END_ONLY);
    if (new->end == NULL) return false;
    *at = new->end + 1;
    *PUSH(as->arena, &as->macros) =
        (ts_program_macro){named->name, word->source, new->begin->line, new->end->line};
    return true;
}

typedef struct {
    const token *begin, *end;
} argument;
enum { ARGUMENTS_MAX = 32 };

/* Arguments are parted by commas outside brackets. */
static bool read_arguments(assembler *as, const token **at, const macro *called, argument *arguments) {
    int count = 0;
    const token *name = *at - 1;
    while (!token_ends_line(*at)) {
        if (count == ARGUMENTS_MAX) return TOKEN_ERROR(as->err, *at, "over %d arguments", ARGUMENTS_MAX);
        argument *arg = &arguments[count++];
        arg->begin = *at;
        for (int depth = 0; !token_ends_line(*at) && (depth > 0 || !token_is(*at, ',')); ++*at) {
            depth += token_is(*at, '(') || token_is(*at, '[') || token_is(*at, '{');
            depth -= token_is(*at, ')') || token_is(*at, ']') || token_is(*at, '}');
        }
        arg->end = *at;
        if (arg->begin == arg->end) return token_unexpected(as->err, *at, "an argument");
        *at += token_is(*at, ',');
    }
    return count == called->param_count ||
           TOKEN_ERROR(as->err, name, "macro '%.*s' takes %d argument%s, found %d", (int)name->length,
                       name->text, called->param_count, called->param_count == 1 ? "" : "s", count);
}

static const argument *find_word(const macro *called, const char *word, size_t length,
                                 const argument *arguments) {
    int param = find_param(called, word, length);
    return param >= 0 ? &arguments[param] : NULL;
}

static const argument *find_argument(const macro *called, const token *at, const argument *arguments) {
    return at->kind == TOKEN_NAME ? find_word(called, at->text, at->length, arguments) : NULL;
}

/* The words of buffer.words or mxu.push.type that are parameters, too, where their arguments are names. */
static token substitute_parts(assembler *as, const macro *called, const argument *arguments,
                              const token *name) {
    ts_text text = {0};
    size_t kept = 0; /* bytes of the name that are in the text */
    for (size_t begin = 0, end; begin <= name->length; begin = end + 1) {
        const char *dot = memchr(name->text + begin, '.', name->length - begin);
        end = dot != NULL ? (size_t)(dot - name->text) : name->length;
        const argument *arg = find_word(called, name->text + begin, end - begin, arguments);
        if (arg != NULL && arg->end - arg->begin == 1 && arg->begin->kind == TOKEN_NAME) {
            if (text.bytes == NULL) text = ts_text_begin(as->scratch);
            ts_text_add_bytes(&text, name->text + kept, begin - kept);
            ts_text_add_bytes(&text, arg->begin->text, arg->begin->length);
            kept = end;
        }
    }
    token out = *name;
    if (text.bytes != NULL) {
        ts_text_add_bytes(&text, name->text + kept, name->length - kept);
        out.text = text.bytes;
        out.length = text.length;
    }
    return out;
}

/* The body with arguments in place of parameters. Returns the end. */
static const token *substitute(assembler *as, const macro *called, const argument *arguments,
                               const token **begin) {
    int count = 0;
    for (const token *at = called->begin; at < called->end; at++) {
        const argument *arg = find_argument(called, at, arguments);
        count += arg != NULL ? (int)(arg->end - arg->begin) : 1;
    }
    if (!count_work(as, called->name, count)) return NULL;
    token *list = TS_NEW_ARRAY(as->scratch, token, count + 1), *out = list;
    for (const token *at = called->begin; at < called->end; at++) {
        const argument *arg = find_argument(called, at, arguments);
        size_t length = arg != NULL ? (size_t)(arg->end - arg->begin) : 1;
        memcpy(out, arg != NULL ? arg->begin : at, length * sizeof(token));
        if (arg == NULL && at->kind == TOKEN_NAME && memchr(at->text, '.', at->length) != NULL)
            *out = substitute_parts(as, called, arguments, at);
        out += length;
    }
    *out = *called->end;
    out->kind = TOKEN_END;
    *begin = list;
    return out;
}

/* Reads a body, whose use is at `place`, in a frame. */
typedef struct {
    const token *location, *begin, *end;
    const char *kind; /* "macro" or "file" */
    scope *names;
    ts_program_frame frame;
} expansion;

static bool expand(assembler *as, const expansion *what) {
    const token *location = what->location;
    if (as->expansions == EXPANSION_MAX) {
        TOKEN_ERROR(as->err, location, "macros and includes are nested over %d deep", EXPANSION_MAX);
        return give_up(as);
    }
    if (as->expansions < USES_NOTED) {
        as->uses_open[as->expansions].location = location;
        as->uses_open[as->expansions].kind = what->kind;
    }
    as->expansions++;
    int outer = open_frame(as, what->frame);
    bool good = run_in_scope(as, what->names, what->begin, what->end);
    as->frame = outer;
    as->expansions--;
    return good;
}

bool assemble_call(assembler *as, const token **at, const symbol *called) {
    const token *location = (*at)++, *begin = NULL;
    argument arguments[ARGUMENTS_MAX];
    if (!read_arguments(as, at, called->macro, arguments)) return false;
    const token *end = substitute(as, called->macro, arguments, &begin);
    const macro *body = called->macro;
    /* a call may be an argument of another: its line is that of the body, where the line ends */
    ts_program_frame frame = {TS_FRAME_MACRO,        -1,
                              called->name,          (*at)->source,
                              (*at)->line,           body->begin->source,
                              body->begin->line + 1, body->end->line};
    return end != NULL &&
           expand(as, &(expansion){location, begin, end, "macro", scope_new(as->arena, as->names), frame});
}

bool assemble_include(assembler *as, const token *word, const token **at, const token *stop) {
    (void)stop;
    const token *name = *at;
    if (name->kind != TOKEN_STRING || name->length == 0) {
        as->blind = true;
        return token_unexpected(as->err, name, "a file's name in double quotes");
    }
    ++*at;
    ts_error theirs = {0};
    const ts_source *source =
        read_source(&theirs, as->arena, path_beside(as->arena, word->source->name, name));
    if (source == NULL) {
        as->blind = true;
        return ts_error_at(as->err, theirs.kind, name->source, name->offset, "%s", theirs.message);
    }
    note_include(as, name, source->name);
    const token *begin = token_list(as->scratch, source), *end = begin;
    while (end->kind != TOKEN_END) end++;
    ts_program_frame frame = {TS_FRAME_FILE, -1, source->name, name->source, name->line,
                              source,        1,  end->line + 1};
    return count_work(as, name, (int)(end - begin)) &&
           expand(as, &(expansion){name, begin, end, "file", as->names, frame}) &&
           expect_line_end(as, *at, "the end of the line");
}

/* ---- Repetition and choice ---- */

/* "NAME =" of .for and .loop is read; then "BEGIN, END" and perhaps ", STEP". */
bool read_step(assembler *as, const token **at, int64_t *step) {
    *step = 1;
    if (token_take(at, ',') &&
        !expr_integer(as->err, as->names, at, "the step", (integer_range){1, INT32_MAX}, step))
        return false;
    return expect_line_end(as, *at, "the end of the line");
}

static bool for_pass(assembler *as, const token *counter, int64_t number, const token *at, const token *end) {
    scope *names = scope_new(as->arena, as->names);
    symbol *named = scope_add(as->err, names, SYMBOL_PARAM, counter);
    if (named == NULL) return false;
    named->value = (constant){.integer = number};
    return count_work(as, counter, 1) && run_in_scope(as, names, at, end);
}

bool assemble_for(assembler *as, const token *word, const token **at, const token *stop) {
    const token *counter;
    int64_t begin, end, step;
    if (!expect_name(as, at, "a name", &counter) || !expect_mark(as, at, '=', "'='") ||
        !expr_integer(as->err, as->names, at, "the first value", (integer_range){INT32_MIN, INT32_MAX},
                      &begin) ||
        !expect_mark(as, at, ',', "','") ||
        !expr_integer(as->err, as->names, at, "the end", (integer_range){INT32_MIN, INT32_MAX}, &end) ||
        !read_step(as, at, &step))
        return false;
    const token *body = *at;
    *at = find_end(as, word, body, stop, END_ONLY);
    if (*at == NULL) return false;
    int failures = as->failures; /* a pass with errors is the last: others would have the same */
    for (int64_t i = begin; i < end && as->failures == failures; i += step)
        if (!for_pass(as, counter, i, body, *at)) return false;
    ++*at;
    return true;
}

bool assemble_if(assembler *as, const token *word, const token **at, const token *stop) {
    constant v;
    if (!expr_parse(as->err, as->names, at, &v) || !expect_line_end(as, *at, "the end of the line"))
        return false;
    const token *body = *at, *middle = find_end(as, word, body, stop, END_OR_ELSE);
    if (middle == NULL) return false;
    const token *end =
        token_is_name(middle, ".else") ? find_end(as, word, middle + 1, stop, END_OR_ELSE) : middle;
    if (end == NULL) return false;
    if (end != middle && token_is_name(end, ".else"))
        return TOKEN_ERROR(as->err, end, "a second .else of the .if of line %d", word->line);
    *at = end + 1;
    bool yes = v.is_float ? v.number != 0 : v.integer != 0;
    return yes ? as->assemble_block(as, body, middle)
               : middle == end || as->assemble_block(as, middle + 1, end);
}
