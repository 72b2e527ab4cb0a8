/* tilesim sweep: a study, all points of a grid, whose results stay. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "files.h"
#include "options.h"
#include "progress.h"
#include "report/sweep.h"

static const cli_option options[] = {
    {"db", '\0', "DATABASE", "where results are and go; STUDY.db in this folder when not given"},
    {"jobs", 'j', "N", "answer with so many worker processes; 1 when not given"},
    {"timeout", '\0', "SECONDS", "a point that takes longer has failed; its row says so"},
    {"retry", '\0', NULL, "try points again that crashed or took too long"},
    {"shard", '\0', "I/N", "only part I of N, of 1 to N: into STUDY.I-of-N.db when --db is not given"},
    {"merge", '\0', "DATABASE", "instead: adds to it what the databases hold that are the operands"},
    {"rows", '\0', "N", "of the table; 8 when not given"},
    {"all", '\0', NULL, "all rows"},
    {"csv", '\0', "FILE", "all rows and columns"},
    {"json", '\0', NULL, "the same as JSON"},
};

static const cli_command usage = {
    .name = "sweep",
    .operands = "STUDY.yaml",
    .operands_least = 1,
    .operands_most = 1000,
    .about =
        "Asks a question at each point of a grid: what a transfer costs, a program takes, a layout pads.\n"
        "Rows go into a database as they come: a point that is in it is not asked again, so that a study\n"
        "goes on where it was stopped, however that was. docs/sweep.md has the form of a study.\n",
    .example = "    tilesim sweep programs/studies/generations.yaml -j 2 --csv generations.csv\n",
    .option_count = sizeof options / sizeof options[0],
    .options = options,
};

enum { ROWS = 8, MOST_SHARDS = 1000000 };

typedef struct {
    cli_line line;
    ts_sweep_crew_request crew;
    ts_sweep_request request;
    ts_sweep_result result;
    ts_sweep_table table;
    ts_sweep_view view;
    cli_progress bar;
} command_state;

/* ---- The command line ---- */

static bool read_timeout(ts_error *err, const cli_line *line, double *seconds) {
    const char *text = cli_value(line, "timeout");
    char *end;
    if (!text) return true;
    *seconds = strtod(text, &end);
    return (end != text && !*end && *seconds > 0 && *seconds < 1e7) ||
           ts_error_set(err, TS_ERROR_USAGE, "--timeout is '%.40s', expected seconds, such as 10", text);
}

static bool read_shard(ts_error *err, const cli_line *line, ts_sweep_request *request) {
    const char *text = cli_value(line, "shard");
    long long shard, shards;
    int length = 0;
    if (!text) return true;
    bool good = sscanf(text, "%lld/%lld%n", &shard, &shards, &length) == 2 && !text[length] && shard >= 1 &&
                shard <= shards && shards <= MOST_SHARDS;
    request->shard = good ? shard - 1 : 0;
    request->shards = good ? shards : 0;
    return good || ts_error_set(err, TS_ERROR_USAGE,
                                "--shard is '%.40s', expected I/N with I of 1 to N, such as 1/8", text);
}

/* In this folder: "a/b.yaml" has "b.db", its first part of four "b.1-of-4.db". */
static const char *database_of(const command_state *c) {
    const char *given = cli_value(&c->line, "db"), *study = c->line.operands[0];
    const char *slash = strrchr(study, '/'), *name = slash ? slash + 1 : study, *dot = strrchr(name, '.');
    ts_text text;
    if (given) return given;
    ts_text_init(&text, c->line.arena);
    ts_text_add_bytes(&text, name, dot ? (size_t)(dot - name) : strlen(name));
    if (c->request.shards > 0)
        ts_text_add(&text, ".%lld-of-%lld", (long long)c->request.shard + 1, (long long)c->request.shards);
    ts_text_add(&text, ".db");
    return text.bytes;
}

static bool read_line(ts_error *err, command_state *c) {
    const cli_line *line = &c->line;
    int64_t workers = 1, rows = ROWS;
    if (line->operand_count > 1 && !cli_value(line, "merge"))
        return ts_error_set(err, TS_ERROR_USAGE, "found %d studies, expected one", line->operand_count);
    if (!cli_number(err, line, "jobs", TS_SWEEP_WORKERS, &workers) ||
        !cli_number(err, line, "rows", INT_MAX, &rows) ||
        !read_timeout(err, line, &c->crew.timeout_seconds) || !read_shard(err, line, &c->request))
        return false;
    c->crew.workers = (int)workers;
    c->request.retry = cli_value(line, "retry") != NULL;
    c->view.rows = cli_value(line, "all") ? INT_MAX : (int)rows;
    c->view.study = line->operands[0];
    c->view.database = database_of(c);
    return true;
}

/* ---- The study ---- */

static void on_point(void *self, int64_t done, int64_t of, int64_t answered) {
    command_state *c = self;
    cli_progress_rate(&c->bar, answered, done, of);
}

static bool answer(ts_error *err, command_state *c) {
    ts_arena *arena = c->line.arena;
    ts_sweep_crew crew;
    c->request.crew = &crew;
    c->request.progress = on_point;
    c->request.self = c;
    c->bar = cli_progress_begin();
    bool good =
        ts_sweep_processes(err, arena, &c->crew, &crew) && ts_sweep(err, arena, &c->request, &c->result);
    cli_progress_end(&c->bar);
    return good;
}

static bool study(ts_error *err, command_state *c) {
    ts_arena *arena = c->line.arena;
    c->crew.study = c->request.study = ts_sweep_study_load(err, arena, c->line.operands[0]);
    c->request.store = c->request.study ? ts_sweep_store_open(err, arena, c->view.database, true) : NULL;
    if (!c->request.store) return false;
    bool good =
        answer(err, c) && ts_sweep_table_read(err, arena, c->request.study, c->request.store, &c->table);
    c->view.table = &c->table;
    c->view.result = &c->result;
    return ts_sweep_store_close(good ? err : NULL, c->request.store) && good;
}

/* ---- Reports ---- */

static bool save(ts_error *err, const command_state *c, const char *option,
                 void (*write)(const ts_sweep_view *view, ts_text *out)) {
    ts_text text;
    if (!cli_value(&c->line, option)) return true;
    ts_text_init(&text, c->line.arena);
    write(&c->view, &text);
    return cli_save(err, &c->line, option, &text);
}

static int report(ts_error *err, const command_state *c) {
    ts_text out;
    if (!save(err, c, "csv", ts_report_sweep_csv)) return cli_fail(err);
    ts_text_init(&out, c->line.arena);
    if (cli_value(&c->line, "json"))
        ts_report_sweep_json(&c->view, &out);
    else if (cli_reports(&c->line))
        ts_report_sweep(&c->view, &out);
    if (out.length > 0) cli_print(&out);
    return c->result.by_status[TS_SWEEP_FAILED] > 0 ? 3 : 0;
}

static int merge(ts_error *err, const cli_line *line) {
    const char *into = cli_value(line, "merge");
    ts_sweep_store *store = ts_sweep_store_open(err, line->arena, into, true);
    bool good = store != NULL;
    ts_text out;
    ts_text_init(&out, line->arena);
    for (int i = 0; i < line->operand_count && good; i++) {
        int64_t added;
        good = ts_sweep_store_merge(err, store, line->operands[i], &added);
        if (good)
            ts_text_add(&out, "%s: %lld points added to %s\n", line->operands[i], (long long)added, into);
    }
    good = ts_sweep_store_close(good ? err : NULL, store) && good;
    cli_print(&out);
    return good ? 0 : cli_fail(err);
}

static int complain(const command_state *c, const ts_error *err) {
    return err->kind == TS_ERROR_USAGE ? cli_usage_error(&c->line, err) : cli_fail(err);
}

int cmd_sweep(int argc, char **argv) {
    command_state c = {0};
    ts_error err = {0};
    signal(SIGXFSZ, SIG_IGN); /* a file that must not grow is an error of a write */
    if (!cli_begin(&c.line, &usage, argc, argv)) return c.line.exit_code;
    if (!read_line(&err, &c)) return cli_end(&c.line, complain(&c, &err));
    if (cli_value(&c.line, "merge")) return cli_end(&c.line, merge(&err, &c.line));
    if (!study(&err, &c)) return cli_end(&c.line, complain(&c, &err));
    return cli_end(&c.line, report(&err, &c));
}
