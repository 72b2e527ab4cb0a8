/* Names in the texts of a study: found, and known or not. */
#include "names.h"

#include <string.h>

#include "program/expr.h"

bool sweep_error_in(ts_error *err, const ts_tree *text, size_t at, const char *message) {
    return ts_error_at(err, TS_ERROR_INPUT, text->source, text->offset + text->quoted + at, "%s", message);
}

bool sweep_pass_up(ts_error *err, const ts_tree *text, const sweep_segment *segment, const ts_error *theirs) {
    size_t at = (size_t)(segment->text - text->text) + (theirs->line == 1 ? (size_t)theirs->column - 1 : 0);
    return sweep_error_in(err, text, at, theirs->message);
}

static bool is_name_byte(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || ts_is_digit(c) || c == '_';
}

/* Bytes from '(' to the ')' that closes it; 0: none does. */
static size_t bracket_length(const char *text) {
    int depth = 0;
    for (size_t i = 0; text[i]; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth == 0) return i + 1;
    }
    return 0;
}

static bool read_expression(ts_error *err, const ts_tree *text, size_t *at, sweep_segment *segment) {
    const char *open = text->text + *at + 1;
    size_t length = bracket_length(open);
    if (length == 0) return sweep_error_in(err, text, *at, "found '$(' without its ')'");
    *segment = (sweep_segment){SWEEP_EXPRESSION, open + 1, length - 2};
    *at += 1 + length;
    return true;
}

static bool read_name(ts_error *err, const ts_tree *text, size_t *at, sweep_segment *segment) {
    const char *name = text->text + *at + 1;
    size_t length = 0;
    while (is_name_byte(name[length])) length++;
    if (length == 0) return sweep_error_in(err, text, *at, "found '$', expected $NAME, $(EXPRESSION) or $$");
    *segment = (sweep_segment){SWEEP_NAME, name, length};
    *at += 1 + length;
    return true;
}

bool sweep_next_segment(ts_error *err, const ts_tree *text, size_t *at, sweep_segment *segment) {
    const char *begin = text->text + *at;
    if (*begin == '\0') return *segment = (sweep_segment){SWEEP_END, begin, 0}, true;
    if (begin[0] == '$' && begin[1] == '(') return read_expression(err, text, at, segment);
    if (begin[0] == '$' && begin[1] != '$') return read_name(err, text, at, segment);
    size_t dollar = begin[0] == '$', length = dollar ? 1 : strcspn(begin, "$");
    *segment = (sweep_segment){SWEEP_LITERAL, begin, length};
    *at += length + dollar;
    return true;
}

/* ---- Known names ---- */

static bool is_known(const sweep_known *known, const char *text, size_t length) {
    for (int i = 0; i < known->study->name_count; i++)
        if (ts_text_is(text, length, known->study->names[i])) return true;
    for (int i = 0; i < known->derived; i++)
        if (ts_text_is(text, length, known->study->derived[i].name)) return true;
    return known->derived >= 0 && ts_sweep_column_find(text, length) >= 0;
}

static bool fail_unknown(ts_error *err, ts_arena *arena, const sweep_known *known, const ts_tree *text,
                         const sweep_segment *name) {
    const char *names[TS_SWEEP_COLUMNS + 2 * TS_SWEEP_NAMES];
    const char *word = ts_arena_copy_text(arena, name->text, name->length);
    size_t count = 0;
    for (int i = 0; i < known->study->name_count; i++) names[count++] = known->study->names[i];
    for (int i = 0; i < known->derived; i++) names[count++] = known->study->derived[i].name;
    for (int i = 0; i < TS_SWEEP_COLUMNS && known->derived >= 0; i++)
        names[count++] = ts_sweep_column_get(i)->name;
    ts_error_at(err, TS_ERROR_INPUT, text->source,
                text->offset + text->quoted + (size_t)(name->text - text->text), "unknown %s '%.60s'",
                known->derived < 0 ? "parameter" : "parameter or column", word);
    return ts_error_hint(err, ts_text_nearest(word, names, count, sizeof names[0]));
}

static bool check_names(ts_error *err, ts_arena *arena, const sweep_known *known, const ts_tree *text,
                        const sweep_segment *part) {
    ts_source source = {"expression", part->text, part->length};
    const token *list = token_list(arena, &source), *location;
    for (const token *at = list; at->kind != TOKEN_END; at++) {
        sweep_segment name = {SWEEP_NAME, part->text + at->offset, at->length};
        if (*name.text == '\'')
            return sweep_error_in(err, text, (size_t)(name.text - text->text),
                                  "found ''', expected a text in double quotes");
        if (at->kind != TOKEN_NAME || function_find(at->text, at->length)) continue;
        if (!is_known(known, name.text, name.length)) return fail_unknown(err, arena, known, text, &name);
    }
    const char *wrong = sweep_wrong_text(known->study, list, &location);
    ts_error theirs = {0};
    if (wrong) return sweep_error_in(err, text, (size_t)(part->text - text->text) + location->offset, wrong);
    bool whole = expr_check(&theirs, &list);
    while (whole && list->kind == TOKEN_LINE) list++;
    if (whole && (list->kind == TOKEN_END || token_unexpected(&theirs, list, "an operator, or the end")))
        return true;
    return sweep_pass_up(err, text, part, &theirs);
}

bool sweep_check_expression(ts_error *err, ts_arena *arena, const sweep_known *known, const ts_tree *text) {
    sweep_segment all = {SWEEP_EXPRESSION, text->text, strlen(text->text)};
    return check_names(err, arena, known, text, &all);
}

bool sweep_check_text(ts_error *err, ts_arena *arena, const sweep_known *known, const ts_tree *text) {
    sweep_segment segment = {.kind = SWEEP_LITERAL};
    for (size_t at = 0; segment.kind != SWEEP_END;) {
        if (!sweep_next_segment(err, text, &at, &segment)) return false;
        if (segment.kind == SWEEP_EXPRESSION && !check_names(err, arena, known, text, &segment)) return false;
        if (segment.kind == SWEEP_NAME && !is_known(known, segment.text, segment.length))
            return fail_unknown(err, arena, known, text, &segment);
    }
    return true;
}

/* ---- Paths ---- */

const char *sweep_beside(ts_arena *arena, const ts_sweep_study *study, const char *path) {
    if (path[0] == '/' || ts_text_starts(path, "tilesim:/")) return path;
    return ts_text_format(arena, "%s%s", study->folder, path);
}
