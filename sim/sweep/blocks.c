/* A study of block sizes, written as its YAML; its rows ranked. */
#include "sweep/blocks.h"

#include <string.h>

#include "base/json_quote.h"

/* What the study takes for itself. */
static void add_quoted(ts_text *out, const char *text) {
    ts_text plain;
    ts_text_init(&plain, out->arena);
    for (; *text; text++) ts_text_add(&plain, *text == '$' ? "$$" : "%c", *text);
    ts_json_quote(out, plain.bytes);
}

static bool is_name(const char *name) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char digits[] = "0123456789";
    size_t first = strspn(name, letters), length = first;
    for (size_t more = 1; more > 0; length += more)
        more = strspn(name + length, letters) + strspn(name + length, digits);
    return first > 0 && name[length] == '\0';
}

static bool check_names(ts_error *err, const ts_sweep_blocks_request *r) {
    for (int i = 0; i < r->block_count; i++) {
        const char *name = r->blocks[i].name;
        if (!is_name(name))
            return ts_error_set(err, TS_ERROR_USAGE, "--block '%.60s': expected a name of letters and digits",
                                name);
        for (int k = 0; k < i + r->define_count; k++)
            if (strcmp(k < i ? r->blocks[k].name : r->defines[k - i].name, name) == 0)
                return ts_error_set(err, TS_ERROR_USAGE, "--block %s: it has a value already", name);
    }
    return true;
}

static void add_define(const ts_sweep_blocks_request *r, ts_text *out) {
    for (int i = 0; i < r->define_count; i++) {
        ts_text_add(out, i ? ", " : "");
        ts_json_quote(out, r->defines[i].name);
        ts_text_add(out, ": ");
        add_quoted(out, r->defines[i].value);
    }
    for (int i = 0; i < r->block_count; i++)
        ts_text_add(out, "%s\"%s\": \"$%s\"", i + r->define_count ? ", " : "", r->blocks[i].name,
                    r->blocks[i].name);
}

/* A kernel whose path has block sizes in it has no parameters beside them. */
static void write_study(const ts_sweep_blocks_request *r, ts_text *out) {
    bool by_path = strchr(r->program, '$') != NULL;
    ts_text_add(out, "machine: ");
    ts_json_quote(out, r->machine);
    for (int i = 0; i < r->set_count; i++) {
        const char *equals = strchr(r->sets[i], '=');
        ts_text_add(out, i ? ", " : "\nset: {");
        ts_json_quote(out, ts_arena_copy_text(out->arena, r->sets[i], (size_t)(equals - r->sets[i])));
        ts_text_add(out, ": ");
        add_quoted(out, equals + 1);
    }
    ts_text_add(out, r->set_count ? "}\nvary:\n" : "\nvary:\n");
    for (int i = 0; i < r->block_count; i++) {
        ts_text_add(out, "    %s: ", r->blocks[i].name);
        ts_json_quote(out, r->blocks[i].value);
        ts_text_add_char(out, '\n');
    }
    ts_text_add(out, "ask: {time_only: true, exact: %s, program: ", r->exact ? "true" : "false");
    ts_json_quote(out, r->program);
    if (!by_path) ts_text_add(out, ", define: {");
    if (!by_path) add_define(r, out);
    ts_text_add(out, by_path ? "}\n" : "}}\n");
}

static const ts_sweep_study *make_study(ts_error *err, ts_arena *arena, const ts_sweep_blocks_request *r) {
    ts_source *source = TS_NEW(arena, ts_source);
    ts_text text;
    ts_text_init(&text, arena);
    if (!check_names(err, r)) return NULL;
    write_study(r, &text);
    *source = (ts_source){"--block", text.bytes, text.length};
    return ts_sweep_study_parse(err, arena, source, "");
}

/* As a tensor's place says it (program/tensor.c). */
static bool is_misfit(const ts_sweep_value *why) {
    return why->kind == TS_SWEEP_TEXT &&
           (strstr(why->text, " does not fit: ") || strstr(why->text, " is larger than "));
}

/* Those without a time, by whether their error says that something does not fit. */
static void select_failed(ts_arena *arena, const ts_sweep_table *all, ts_sweep_blocks *blocks) {
    int time = ts_sweep_table_find(NULL, all, "", "time"),
        error = ts_sweep_table_find(NULL, all, "", "error");
    int64_t *rows[2] = {TS_NEW_ARRAY(arena, int64_t, all->row_count + 1),
                        TS_NEW_ARRAY(arena, int64_t, all->row_count + 1)};
    int64_t counts[2] = {0};
    for (int64_t i = 0; i < all->row_count; i++) {
        double value;
        if (time >= 0 && ts_sweep_value_number(ts_sweep_table_cell(all, i, time), &value)) continue;
        const ts_sweep_value *why = error >= 0 ? ts_sweep_table_cell(all, i, error) : NULL;
        int kind = !why || !is_misfit(why);
        rows[kind][counts[kind]++] = i;
    }
    ts_sweep_table_select(arena, all, rows[0], counts[0], &blocks->misfits);
    ts_sweep_table_select(arena, all, rows[1], counts[1], &blocks->failed);
}

bool ts_sweep_rank_blocks(ts_error *err, ts_arena *arena, const ts_sweep_blocks_request *request,
                          ts_sweep_blocks *blocks) {
    ts_sweep_answers answers;
    const ts_sweep_study *study = make_study(err, arena, request);
    const ts_sweep_answers_request all = {
        .crew = {study, request->workers, 0}, .progress = request->progress, .self = request->self};
    if (!study || !ts_sweep_answer_all(err, arena, &all, &answers)) return false;
    int time = ts_sweep_table_find(NULL, &answers.table, "", "time");
    if (time >= 0) ts_sweep_table_rank(arena, &answers.table, time, &blocks->fast);
    if (time < 0) ts_sweep_table_select(arena, &answers.table, NULL, 0, &blocks->fast);
    select_failed(arena, &answers.table, blocks);
    return true;
}
