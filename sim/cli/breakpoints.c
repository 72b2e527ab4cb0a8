/* Breakpoints of the debugger: where it stops, and under which condition. */
#include "run_request.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { NEXT_LINES = 200 };

/* ---- Lines: LINE, FILE:LINE, a macro ---- */

/* Says which of the next lines has an instruction. */
static bool no_line(ts_error *err, const cli_breakpoints *b, const char *text, ts_breakpoint at) {
    int line = at.line++, most = line < INT_MAX - NEXT_LINES ? line + NEXT_LINES : INT_MAX - 1;
    while (at.line <= most && !ts_session_has_line(b->session, &at)) at.line++;
    if (at.line > most) return ts_error_set(err, TS_ERROR_INPUT, "no instruction comes from '%s'", text);
    return ts_error_set(err, TS_ERROR_INPUT, "no instruction comes from '%s', the next one from line %d",
                        text, at.line);
}

/* The first line of a macro's body that has an instruction. */
static bool find_macro(ts_error *err, const cli_breakpoints *b, const char *name, ts_breakpoint *at) {
    const ts_program *program = ts_session_program(b->session);
    bool known = false;
    for (int i = 0; i < program->macro_count; i++) {
        const ts_program_macro *m = &program->macros[i];
        known = known || strcmp(m->name, name) == 0;
        for (int line = m->first_line; strcmp(m->name, name) == 0 && line < m->end_line; line++) {
            *at = (ts_breakpoint){.file = m->source->name, .line = line};
            if (ts_session_has_line(b->session, at)) return true;
        }
    }
    if (known) return ts_error_set(err, TS_ERROR_INPUT, "no instruction comes from macro '%s'", name);
    return ts_error_set(err, TS_ERROR_INPUT, "'%s' is no place, expected a line, FILE:LINE or a macro", name);
}

static bool read_location(ts_error *err, cli_breakpoints *b, const char *text, ts_breakpoint *at) {
    const char *colon = strrchr(text, ':');
    char *end;
    long line = strtol(colon ? colon + 1 : text, &end, 10);
    *at = (ts_breakpoint){.line = (int)line};
    if (colon) at->file = ts_arena_copy_text(b->arena, text, (size_t)(colon - text));
    if (*end != '\0' || line <= 0 || line > 1000000000) return find_macro(err, b, text, at);
    return ts_session_has_line(b->session, at) || no_line(err, b, text, *at);
}

/* ---- Conditions: s1 == 4 ---- */

static const char *const tests[] = {[TS_TEST_EQ] = "==", [TS_TEST_NE] = "!=", [TS_TEST_LT] = "<",
                                    [TS_TEST_LE] = "<=", [TS_TEST_GT] = ">",  [TS_TEST_GE] = ">="};
enum { TESTS = sizeof tests / sizeof tests[0] };

static bool read_side(ts_error *err, const cli_breakpoints *b, const char *text, size_t length,
                      ts_condition_side *side) {
    char *end;
    ts_name name = ts_session_name(b->session, text, length);
    *side = (ts_condition_side){.number = strtoll(text, &end, 0)};
    if (length > 0 && end == text + length) return true;
    if (name.kind == TS_NAME_PARAM) {
        const ts_param *param = &ts_session_program(b->session)->params[name.index];
        side->number = param->integer;
        if (!param->is_float) return true;
    }
    side->kind = name.kind;
    side->index = name.index;
    return (name.kind == TS_NAME_REGISTER && name.reg == TS_OPERAND_SREG) ||
           (name.kind == TS_NAME_SEMAPHORE && name.count == 1) ||
           ts_error_set(
               err, TS_ERROR_INPUT,
               "'%.*s' is no side of a condition, expected a number, a scalar register or a semaphore",
               ts_text_quoted(length), text);
}

/* A number beside a scalar register is its 32 bits, as in a program. */
static bool fit_number(ts_error *err, ts_test test, const ts_condition_side *other, ts_condition_side *side) {
    bool sign = test != TS_TEST_EQ && test != TS_TEST_NE;
    if (side->kind != TS_NAME_NONE || other->kind != TS_NAME_REGISTER) return true;
    if (side->number < INT32_MIN || side->number > (sign ? INT32_MAX : UINT32_MAX))
        return ts_error_set(err, TS_ERROR_INPUT, "found %lld beside a scalar register, expected %d to %lld",
                            (long long)side->number, INT32_MIN, sign ? INT32_MAX : (long long)UINT32_MAX);
    side->number = (int32_t)(uint32_t)side->number;
    return true;
}

static bool read_condition(ts_error *err, const cli_breakpoints *b, const char *text,
                           ts_condition *condition) {
    size_t left = strcspn(text, "=!<> \t"), at = left + strspn(text + left, " \t");
    for (int i = TS_TEST_NONE + 1; i < TESTS && condition->test == TS_TEST_NONE; i++)
        if (ts_text_starts(text + at, tests[i])) condition->test = (ts_test)i;
    if (condition->test == TS_TEST_NONE)
        return ts_error_set(err, TS_ERROR_INPUT, "'%.60s' is no condition, expected one like s1 == 4", text);
    const char *right = text + at + strlen(tests[condition->test]);
    right += strspn(right, " \t");
    size_t length = strlen(right);
    while (length > 0 && isspace((unsigned char)right[length - 1])) length--;
    return read_side(err, b, text, left, &condition->left) &&
           read_side(err, b, right, length, &condition->right) &&
           fit_number(err, condition->test, &condition->right, &condition->left) &&
           fit_number(err, condition->test, &condition->left, &condition->right);
}

/* PLACE, or PLACE if CONDITION. */
static bool read_breakpoint(ts_error *err, cli_breakpoints *b, const char *text, ts_breakpoint *at) {
    size_t length = strcspn(text, " \t");
    const char *rest = text + length + strspn(text + length, " \t");
    if (!read_location(err, b, ts_arena_copy_text(b->arena, text, length), at)) return false;
    if (*rest == '\0') return true;
    if (strncmp(rest, "if", 2) != 0 || !isspace((unsigned char)rest[2])) {
        return ts_error_set(err, TS_ERROR_INPUT,
                            "found '%.60s' behind the place, expected 'if' and a condition", rest);
    }
    return read_condition(err, b, rest + 2 + strspn(rest + 2, " \t"), &at->condition);
}

/* ---- The list ---- */

static bool same_side(const ts_condition_side *a, const ts_condition_side *b) {
    return a->kind == b->kind && a->number == b->number && a->index == b->index;
}

static bool same_breakpoint(const ts_breakpoint *a, const ts_breakpoint *b) {
    bool same = (a->file == NULL) == (b->file == NULL) && (!a->file || strcmp(a->file, b->file) == 0);
    return same && a->line == b->line && a->condition.test == b->condition.test &&
           same_side(&a->condition.left, &b->condition.left) &&
           same_side(&a->condition.right, &b->condition.right);
}

bool cli_breakpoints_add(ts_error *err, cli_breakpoints *b, const char *text) {
    ts_breakpoint at;
    if (!read_breakpoint(err, b, text, &at)) return false;
    for (int i = 0; i < b->count; i++)
        if (same_breakpoint(&b->items[i], &at)) return true;
    if (b->count == CLI_BREAKPOINTS)
        return ts_error_set(err, TS_ERROR_INPUT, "there are %d breakpoints already", CLI_BREAKPOINTS);
    b->items[b->count++] = at;
    return true;
}

static void add_side(const cli_breakpoints *b, const ts_condition_side *side, ts_text *out) {
    if (side->kind == TS_NAME_REGISTER)
        ts_text_add(out, "s%d", side->index);
    else if (side->kind == TS_NAME_SEMAPHORE)
        ts_text_add(out, "%s", ts_session_program(b->session)->code.semaphore_names[side->index]);
    else
        ts_text_add(out, "%lld", (long long)side->number);
}

void cli_breakpoints_list(const cli_breakpoints *b, ts_text *out) {
    for (int i = 0; i < b->count; i++) {
        const ts_breakpoint *at = &b->items[i];
        ts_text_add(out, "%d  %s%sline %d", i + 1, at->file ? ts_text_one_line(out->arena, at->file) : "",
                    at->file ? ", " : "", at->line);
        if (at->condition.test != TS_TEST_NONE) {
            ts_text_add(out, " if ");
            add_side(b, &at->condition.left, out);
            ts_text_add(out, " %s ", tests[at->condition.test]);
            add_side(b, &at->condition.right, out);
        }
        ts_text_add(out, "\n");
    }
    if (b->count == 0) ts_text_add(out, "no breakpoints\n");
}

void cli_breakpoints_remove(cli_breakpoints *b, int number) {
    memmove(&b->items[number - 1], &b->items[number], (size_t)(b->count - number) * sizeof b->items[0]);
    b->count--;
}
