/* A point of a study: the values of its parameters, in texts and in expressions. */
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "program/expr.h"
#include "sweep/study.h"

bool ts_sweep_shard_has(const ts_sweep_shard *shard, int64_t point) {
    return shard->count == 0 || point % shard->count == shard->index;
}

void ts_sweep_point_get(ts_arena *arena, const ts_sweep_study *study, int64_t index, ts_sweep_point *point) {
    const ts_grid *grid = &study->grid;
    ts_define *defines = TS_NEW_ARRAY(arena, ts_define, grid->axis_count + 1);
    const ts_define *at = defines;
    int name = 0;
    *point =
        (ts_sweep_point){study, study->asks, TS_NEW_ARRAY(arena, const char *, study->name_count + 1), index};
    ts_grid_point(grid, index, defines);
    if (study->ask_count > 1) {
        point->ask = &study->asks[ts_sweep_value_read((at++)->value).integer];
        point->values[name++] = point->ask->name;
    }
    if (study->points) {
        const ts_tree *row = study->points->entries[ts_sweep_value_read((at++)->value).integer].value;
        for (int keys = row->count; keys > 0; keys--, name++)
            point->values[name] =
                ts_tree_find(row, study->names[name], strlen(study->names[name]))->value->text;
    }
    for (; name < study->name_count; name++) point->values[name] = (at++)->value;
}

const char *ts_sweep_point_value(const ts_sweep_point *point, const char *name) {
    for (int i = 0; i < point->study->name_count; i++)
        if (strcmp(point->study->names[i], name) == 0) return point->values[i];
    return NULL;
}

/* ---- Expressions ---- */

static void add_value(scope *names, const char *name, const ts_sweep_value *value) {
    constant number = {.is_float = value->kind == TS_SWEEP_REAL};
    if (value->kind == TS_SWEEP_INTEGER) number.integer = value->integer;
    if (value->kind == TS_SWEEP_REAL) number.number = value->real;
    if (value->kind == TS_SWEEP_INTEGER || value->kind == TS_SWEEP_REAL)
        scope_add_number(names, name, number);
}

static scope *scope_of(ts_arena *arena, const ts_sweep_point *point, const ts_sweep_row *row) {
    scope *names = scope_new(arena, NULL);
    names->is_checked = true; /* texts, and results that there are not, have no number */
    for (int i = 0; i < point->study->name_count; i++) {
        ts_sweep_value value = ts_sweep_value_read(point->values[i]);
        add_value(names, point->study->names[i], &value);
    }
    for (int i = 0; row && i < TS_SWEEP_COLUMNS; i++)
        add_value(names, ts_sweep_column_get(i)->name, &row->values[i]);
    if (row) add_value(names, "time", &row->values[TS_SWEEP_MICROSECONDS_COLUMN]);
    return names;
}

/* A zero has no sign: 0 * -1.0 is -0.0, which would be printed so. */
static ts_sweep_value value_of(const constant *number) {
    ts_sweep_value value = {.kind = number->is_float ? TS_SWEEP_REAL : TS_SWEEP_INTEGER};
    if (number->is_float)
        value.real = number->number + 0.0;
    else
        value.integer = number->integer;
    return value;
}

static bool calculate(ts_error *err, const ts_sweep_point *point, const scope *names,
                      const sweep_segment *text, ts_sweep_value *value) {
    ts_source source = {"expression", text->text, text->length};
    const token *at = sweep_compare_texts(names->arena, point, token_list(names->arena, &source));
    constant number;
    if (!expr_parse(err, names, &at, &number)) return false;
    if (!token_ends_line(at)) return token_unexpected(err, at, "an operator, or the end");
    *value = value_of(&number);
    return true;
}

/* Why an expression over parameters has no value: one that is no number is unknown to it. */
static void explain(const ts_sweep_point *point, scope *names, ts_error *theirs) {
    const token *unknown = scope_take_unknown(names);
    const ts_sweep_study *study = point->study;
    for (int i = 0; unknown && i < study->name_count; i++)
        if (ts_text_is(unknown->text, unknown->length, study->names[i]))
            snprintf(theirs->message, sizeof theirs->message, "%.60s is '%.60s' here, expected a number",
                     study->names[i], point->values[i]);
}

bool ts_sweep_point_counts(ts_error *err, ts_arena *arena, const ts_sweep_point *point, bool *counts) {
    const ts_sweep_study *study = point->study;
    scope *names = study->condition_count > 0 ? scope_of(arena, point, NULL) : NULL;
    *counts = true;
    for (int i = 0; i < study->condition_count && *counts; i++) {
        const ts_tree *text = study->conditions[i].node;
        sweep_segment all = {SWEEP_EXPRESSION, text->text, strlen(text->text)};
        ts_error theirs = {0};
        ts_sweep_value value;
        double number;
        if (!calculate(&theirs, point, names, &all, &value)) {
            explain(point, names, &theirs);
            return sweep_pass_up(err, text, &all, &theirs);
        }
        *counts = ts_sweep_value_number(&value, &number) && number != 0;
    }
    return true;
}

bool ts_sweep_point_evaluate(ts_error *err, ts_arena *arena, const ts_sweep_point *point,
                             const ts_sweep_row *row, const ts_sweep_text *text, ts_sweep_value *value) {
    sweep_segment all = {SWEEP_EXPRESSION, text->node->text, strlen(text->node->text)};
    ts_error theirs = {0};
    scope *names = scope_of(arena, point, row);
    const ts_sweep_study *study = point->study;
    *value = (ts_sweep_value){0};
    for (const ts_sweep_text *before = study->derived; before != text; before++) {
        ts_sweep_value known = {0};
        sweep_segment part = {SWEEP_EXPRESSION, before->node->text, strlen(before->node->text)};
        if (calculate(NULL, point, names, &part, &known)) add_value(names, before->name, &known);
    }
    if (calculate(&theirs, point, names, &all, value)) return true;
    bool absent = scope_take_unknown(names) != NULL; /* a text, or a result that this point does not have */
    *value = (ts_sweep_value){0};
    return absent || sweep_pass_up(err, text->node, &all, &theirs);
}

/* ---- Texts ---- */

static bool add_segment(ts_error *err, ts_arena *arena, const ts_sweep_point *point, const ts_tree *text,
                        const sweep_segment *segment, ts_text *out) {
    ts_error theirs = {0};
    ts_sweep_value value;
    if (segment->kind == SWEEP_LITERAL) ts_text_add_bytes(out, segment->text, segment->length);
    if (segment->kind == SWEEP_NAME)
        ts_text_add(out, "%s",
                    ts_sweep_point_value(point, ts_arena_copy_text(arena, segment->text, segment->length)));
    if (segment->kind != SWEEP_EXPRESSION) return true;
    scope *names = scope_of(arena, point, NULL);
    if (!calculate(&theirs, point, names, segment, &value)) {
        explain(point, names, &theirs);
        return sweep_pass_up(err, text, segment, &theirs);
    }
    ts_sweep_value_print(&value, out);
    return true;
}

const char *ts_sweep_point_fill(ts_error *err, ts_arena *arena, const ts_sweep_point *point,
                                const ts_tree *text) {
    sweep_segment segment = {.kind = SWEEP_LITERAL};
    ts_text out = ts_text_begin(arena);
    for (size_t at = 0; segment.kind != SWEEP_END;)
        if (!sweep_next_segment(err, text, &at, &segment) ||
            !add_segment(err, arena, point, text, &segment, &out))
            return NULL;
    return out.bytes;
}
