/* tilesim sweep: a study, all points of a grid, whose results stay. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "base/file.h"
#include "files.h"
#include "options.h"
#include "progress.h"
#include "report/sweep.h"
#include "sweep/case.h"
#include "sweep/crew.h"

static const cli_option options[] = {
    {"db", '\0', "DATABASE",
     "where results are and go; STUDY.db in this folder when not given; ':memory:' keeps none"},
    {"jobs", 'j', "N", "answer with so many worker processes; 1 when not given"},
    {"timeout", '\0', "SECONDS", "a point that takes longer has failed; its row says so"},
    {"retry", '\0', NULL, "try points again that crashed or took too long"},
    {"shard", '\0', "I/N", "only part I of N, of 1 to N: into STUDY.I-of-N.db when --db is not given"},
    {"merge", '\0', "DATABASE", "instead: adds to it what the databases hold that are the operands"},
    {"diff", '\0', "DATABASE", "instead: what changed from it to the database that is the operand"},
    {"fail-over", '\0', "RATIO",
     "with --diff: exit code 3 when a point's column is more than RATIO times what it was, or is no longer "
     "ok"},
    {"sensitivity", '\0', NULL, "instead of rows: which figures of the machine the results hang on"},
    {"tune", '\0', "NAME",
     "look for the best by successive halving: all points at the first value of this parameter, the best of "
     "them at the next"},
    {"keep", '\0', "N", "with --tune: one point in N goes on; 4 when not given"},
    {"column", '\0', "NAME", "that --tune, --sensitivity and --diff look at; time when not given"},
    {"pareto", '\0', "COLUMNS", "only rows that no other has less in all of these: time,hbm_bytes"},
    {"rows", '\0', "N", "of the table; 8 when not given"},
    {"all", '\0', NULL, "all rows"},
    {"csv", '\0', "FILE", "all rows and columns"},
    {"plot", '\0', "AXES", "x=COLUMN,y=COLUMN,by=COLUMN: a line for each value of the last"},
    {"svg", '\0', "FILE", "the picture of --plot"},
    {"html", '\0', "FILE", "a page with the picture and all rows"},
    {"json", '\0', NULL, "the same as JSON"},
};

static const cli_command usage = {
    .name = "sweep",
    .operands = "STUDY.yaml",
    .operands_least = 0, /* check_line says which */
    .operands_most = 1000,
    .operand_files = "r",
    .about =
        "Asks a question at each point of a grid: what a transfer costs, a program takes, a layout pads.\n"
        "Rows go into a database as they come: a point that is in it is not asked again, so that a study\n"
        "goes on where it was stopped, however that was. docs/sweep.md has the form of a study.\n",
    .example = "    tilesim sweep programs/studies/generations.yaml -j 2 --csv generations.csv\n"
               "    tilesim sweep programs/studies/blocks.yaml --pareto time,hbm_bytes\n"
               "    tilesim sweep --merge all.db generations.db blocks.db\n",
    CLI_OPTIONS(options),
};

enum { ROWS = 8, KEEP = 4, LEAST_KEEP = 2, MOST_KEEP = 1000, MOST_SHARDS = 1000000, MOST_RANKED_BY = 16 };

typedef struct {
    cli_line line;
    ts_sweep_crew_request crew;
    ts_sweep_request request;
    ts_sweep_result result;
    ts_sweep_table table;
    ts_sweep_view view;
    int ranked_by[MOST_RANKED_BY]; /* columns */
    ts_sweep_changes changes;      /* of --sensitivity */
    ts_sweep_tuned tuned;          /* of --tune */
    ts_sweep_ranks ranks;          /* of MPI; size 1: this is alone */
    const char *column;
    int keep;
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
    if (good) request->shard = (ts_sweep_shard){shard - 1, shards};
    return good || ts_error_set(err, TS_ERROR_USAGE,
                                "--shard is '%.40s', expected I/N with I of 1 to N, such as 1/8", text);
}

/* In this folder: "a/b.yaml" has "b.db", its first part of four "b.1-of-4.db". */
static const char *database_of(const command_state *c) {
    const char *given = cli_value(&c->line, "db"), *study = c->line.operands[0];
    const char *slash = strrchr(study, '/'), *name = slash ? slash + 1 : study, *dot = strrchr(name, '.');
    if (given) return given;
    ts_text text = ts_text_begin(c->line.arena);
    ts_text_add_bytes(&text, name, dot ? (size_t)(dot - name) : strlen(name));
    if (c->request.shard.count > 0)
        ts_text_add(&text, ".%lld-of-%lld", (long long)c->request.shard.index + 1,
                    (long long)c->request.shard.count);
    ts_text_add(&text, ".db");
    return text.bytes;
}

/* What else than its rows may be asked of a study or of databases, and the options that then count. The last:
 * rows. */
static const struct {
    const char *name, *others;
} modes[] = {
    {"merge", ""},
    {"diff", "fail-over,column,rows,all,json"},
    {"tune", "keep,column,db,jobs,timeout,retry,rows,all,csv,plot,svg,html,json"},
    {"sensitivity", "column,db,jobs,timeout,retry,shard,rows,all,json"},
    {"rows", "db,jobs,timeout,retry,shard,pareto,all,csv,plot,svg,html,json"},
};
enum { MODES = sizeof modes / sizeof *modes, ROWS_MODE = MODES - 1 };

static bool belongs(const char *option, int mode) {
    size_t length = strlen(option);
    if (strcmp(option, modes[mode].name) == 0) return true;
    for (const char *at = modes[mode].others; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, option, length) == 0) return true;
    return false;
}

/* An error: the option does not belong to the mode; for rows it names the modes it belongs to. */
static bool refuse_option(ts_error *err, const char *option, int mode) {
    const char *with[MODES + 1] = {0};
    int count = 0;
    if (mode != ROWS_MODE)
        return ts_error_set(err, TS_ERROR_USAGE, "--%s does not go with --%s", option, modes[mode].name);
    for (int i = 0; i < ROWS_MODE; i++)
        if (belongs(option, i)) with[count++] = modes[i].name;
    return ts_error_set(err, TS_ERROR_USAGE, "--%s needs --%s%s%s%s%s", option, with[0],
                        count > 2 ? ", --" : "", count > 2 ? with[1] : "", count > 1 ? " or --" : "",
                        count > 1 ? with[count - 1] : "");
}

static bool check_line(ts_error *err, const cli_line *line) {
    int mode = 0;
    while (mode < ROWS_MODE && !cli_value(line, modes[mode].name)) mode++;
    for (int i = 0; i < line->given_count; i++) {
        const char *option = options[line->given[i].option].name;
        if (!belongs(option, mode)) return refuse_option(err, option, mode);
    }
    bool merges = cli_value(line, "merge"), databases = merges || cli_value(line, "diff");
    if (line->operand_count < 1)
        return ts_error_set(err, TS_ERROR_USAGE, "too few operands, expected %s",
                            databases ? "a database" : usage.operands);
    if (line->operand_count > 1 && !merges)
        return ts_error_set(err, TS_ERROR_USAGE, "found %d operands, expected one", line->operand_count);
    return true;
}

static const char *const written[] = {"csv", "svg", "html"};

/* Refuses output files that would replace the database, be it named or the study's usual one. */
static bool check_database(ts_error *err, const command_state *c) {
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const char *path = cli_value(&c->line, written[i]);
        if (path && ts_file_same(c->line.arena, path, c->view.database))
            return ts_error_set(err, TS_ERROR_USAGE,
                                "--%s would be written over the database '%s', expected another name",
                                written[i], c->view.database);
    }
    return true;
}

/* Nor over a file that the study names. */
static bool check_study(ts_error *err, const command_state *c, const ts_sweep_study *study) {
    bool writes = false;
    int count;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        writes = writes || cli_value(&c->line, written[i]);
    if (!writes) return true;
    const char *const *files = ts_sweep_study_files(c->line.arena, study, &count);
    return cli_check_inputs(err, &c->line, files, count);
}

static bool read_line(ts_error *err, command_state *c) {
    const cli_line *line = &c->line;
    c->crew.workers = 1;
    c->view.rows = ROWS;
    c->keep = KEEP;
    if (!check_line(err, line) || !cli_int(err, line, "jobs", 1, TS_SWEEP_WORKERS, &c->crew.workers) ||
        !cli_rows(err, line, 1, &c->view.rows) ||
        !cli_int(err, line, "keep", LEAST_KEEP, MOST_KEEP, &c->keep) ||
        !read_timeout(err, line, &c->crew.timeout_seconds) || !read_shard(err, line, &c->request))
        return false;
    c->request.retry = cli_value(line, "retry") != NULL;
    c->column = cli_value(line, "column") ? cli_value(line, "column") : "microseconds";
    c->view.study = line->operands[0];
    c->view.database = database_of(c);
    c->view.ranked_by = c->ranked_by;
    return check_database(err, c);
}

/* ---- The study ---- */

static bool tune(ts_error *err, command_state *c) {
    const ts_sweep_tune_request request = {&c->request, c->column, cli_value(&c->line, "tune"), c->keep};
    if (!ts_sweep_tune(err, c->line.arena, &request, &c->tuned)) return false;
    c->result = c->tuned.result;
    c->table = c->tuned.table;
    c->ranked_by[0] = ts_sweep_table_find(NULL, &c->table, "--tune", c->column);
    c->view.ranked_by_count = c->ranked_by[0] >= 0;
    return true;
}

/* --pareto: the rows of the front alone; where no point has a result all, which say why. */
static bool select_rows(ts_error *err, command_state *c) {
    const char *names = cli_value(&c->line, "pareto");
    int *columns = c->ranked_by, count = 0;
    int64_t *rows;
    if (!names || (c->table.row_count > 0 && !ts_sweep_table_any_ok(&c->table))) return true;
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ",");
        const char *name = ts_arena_copy_text(c->line.arena, at, length);
        if (count == MOST_RANKED_BY)
            return ts_error_set(err, TS_ERROR_USAGE, "--pareto: over %d columns", MOST_RANKED_BY);
        columns[count] = ts_sweep_table_find_number(err, &c->table, "--pareto", name);
        if (columns[count++] < 0) return false;
        at += length;
        if (!*at) break;
    }
    ts_sweep_table all = c->table;
    int64_t found = ts_sweep_pareto(c->line.arena, &all, columns, count, &rows);
    if (found == 0 && all.row_count > 0)
        return ts_error_set(err, TS_ERROR_USAGE, "--pareto: no row has a number in each of '%s'", names);
    ts_sweep_table_select(c->line.arena, &all, rows, found, &c->table);
    c->view.ranked_by_count = count;
    return true;
}

static bool answer(ts_error *err, command_state *c) {
    ts_arena *arena = c->line.arena;
    const ts_sweep_table_request read = {
        .study = c->request.study, .store = c->request.store, .shard = c->request.shard};
    ts_sweep_crew crew;
    if (c->ranks.size > 1) ts_sweep_ranks_crew(arena, &c->ranks, &crew);
    if (c->ranks.size == 1 && !ts_sweep_processes(err, arena, &c->crew, &crew)) return false;
    c->request.crew = &crew;
    c->request.progress = cli_progress_rate;
    c->request.self = &c->bar;
    c->bar = cli_progress_begin("points");
    bool tunes = cli_value(&c->line, "tune") != NULL;
    bool good = tunes ? tune(err, c) : ts_sweep(err, arena, &c->request, &c->result);
    crew.dismiss(crew.self);
    cli_progress_end(&c->bar);
    return good && (tunes || ts_sweep_table_read(err, arena, &read, &c->table)) && select_rows(err, c);
}

/* Known of results of texts before any point is asked. */
static bool has_numbers(ts_error *err, const char *name) {
    int column = ts_sweep_column_find(name, strlen(name));
    return column < 0 || ts_sweep_column_get(column)->kind != TS_SWEEP_TEXT ||
           ts_error_set(err, TS_ERROR_USAGE, "--column: '%.60s' has no numbers", name);
}

static bool study(ts_error *err, command_state *c) {
    ts_arena *arena = c->line.arena;
    const ts_sweep_study *study = ts_sweep_study_load(err, arena, c->line.operands[0]);
    if (!study || !check_study(err, c, study)) return false;
    if (cli_value(&c->line, "sensitivity")) {
        if (!has_numbers(err, c->column) || !ts_sweep_changes_make(err, arena, study, &c->changes))
            return false;
        study = c->changes.study;
    }
    c->crew.study = c->request.study = study;
    if (c->ranks.rank > 0) return ts_sweep_ranks_serve(err, arena, &c->ranks, &c->crew);
    c->request.store = ts_sweep_store_open(err, arena, c->view.database, TS_SWEEP_WRITE);
    bool good = c->request.store && answer(err, c);
    c->view.table = &c->table;
    c->view.result = &c->result;
    return ts_sweep_store_close(good ? err : NULL, c->request.store) && good;
}

/* ---- Reports ---- */

static bool save(ts_error *err, const command_state *c, const char *option,
                 void (*write)(const ts_sweep_view *view, ts_text *out)) {
    ts_text *text = cli_text_for(&c->line, option);
    if (text) write(&c->view, text);
    return cli_save(err, &c->line, option, text);
}

/* --svg and --html */
static bool save_picture(ts_error *err, const command_state *c) {
    const cli_line *line = &c->line;
    const char *axes = cli_value(line, "plot");
    ts_sweep_plot plot;
    ts_text *svg = cli_text_for(line, "svg"), *page = cli_text_for(line, "html");
    if (axes && !ts_sweep_plot_parse(err, &c->table, axes, &plot)) return false;
    if (axes ? !svg && !page : svg != NULL)
        return ts_error_set(err, TS_ERROR_USAGE,
                            axes ? "--plot needs --svg FILE or --html FILE"
                                 : "--svg needs --plot, such as x=ROWS,y=time");
    if (axes && svg) ts_report_sweep_svg(&c->table, &plot, svg);
    if (page) ts_report_sweep_html(&c->view, axes ? &plot : NULL, page);
    return cli_save(err, line, "svg", svg) && cli_save(err, line, "html", page);
}

static bool print_sensitivity(ts_error *err, const command_state *c, ts_text *out) {
    int column = ts_sweep_table_find_number(err, &c->table, "--column", c->column);
    if (column < 0) return false;
    const ts_sweep_sensitivity_view view = {
        &c->view, &c->changes, ts_sweep_elasticities(c->line.arena, &c->changes, &c->table, column),
        c->column};
    (cli_value(&c->line, "json") ? ts_report_sensitivity_json : ts_report_sensitivity)(&view, out);
    return true;
}

static bool print(ts_error *err, const command_state *c, ts_text *out) {
    bool json = cli_value(&c->line, "json") != NULL;
    if (!cli_reports(&c->line)) return true;
    if (cli_value(&c->line, "sensitivity")) return print_sensitivity(err, c, out);
    if (cli_value(&c->line, "tune"))
        (json ? ts_report_tuned_json : ts_report_tuned)(&c->view, &c->tuned, out);
    else
        (json ? ts_report_sweep_json : ts_report_sweep)(&c->view, out);
    return true;
}

/* 3: a program's check failed; 1: no point has a result, and rows say why. */
static int exit_code(const ts_sweep_result *result) {
    if (result->by_status[TS_SWEEP_FAILED] > 0) return 3;
    return result->points > 0 && result->by_status[TS_SWEEP_OK] == 0;
}

static int report(ts_error *err, const command_state *c) {
    ts_text out = ts_text_begin(c->line.arena);
    if (!save(err, c, "csv", ts_report_sweep_csv) || !save_picture(err, c) || !print(err, c, &out))
        return cli_error(&c->line, err);
    if (out.length > 0) cli_print(&out);
    return exit_code(&c->result);
}

/* ---- Databases ---- */

/* Before anything is made or written. */
static bool check_databases(ts_error *err, const cli_line *line) {
    for (int i = 0; i < line->operand_count; i++) {
        ts_sweep_store *store = ts_sweep_store_open(err, line->arena, line->operands[i], TS_SWEEP_READ);
        if (store == NULL) return false;
        ts_sweep_store_close(NULL, store);
    }
    return true;
}

static int merge(ts_error *err, const cli_line *line) {
    const char *into = cli_value(line, "merge");
    bool good = check_databases(err, line);
    ts_sweep_store *store = good ? ts_sweep_store_open(err, line->arena, into, TS_SWEEP_WRITE) : NULL;
    good = store != NULL;
    ts_text out = ts_text_begin(line->arena);
    for (int i = 0; i < line->operand_count && good; i++) {
        int64_t added;
        good = ts_sweep_store_merge(err, store, line->operands[i], &added);
        if (good)
            ts_text_add(&out, "%s: %s added to %s\n", ts_text_one_line(line->arena, line->operands[i]),
                        ts_text_counted(line->arena, added, "point"), ts_text_one_line(line->arena, into));
    }
    good = ts_sweep_store_close(good ? err : NULL, store) && good;
    cli_print(&out);
    return good ? 0 : cli_fail(err);
}

static bool compare(ts_error *err, const command_state *c, ts_sweep_diff *diff) {
    ts_arena *arena = c->line.arena;
    int column = ts_sweep_column_find(c->column, strlen(c->column));
    if (column < 0)
        return ts_error_set(err, TS_ERROR_USAGE, "--column: there is no result '%.60s'", c->column);
    if (!has_numbers(err, c->column)) return false;
    ts_sweep_store *before = ts_sweep_store_open(err, arena, cli_value(&c->line, "diff"), TS_SWEEP_READ),
                   *after =
                       before ? ts_sweep_store_open(err, arena, c->line.operands[0], TS_SWEEP_READ) : NULL;
    bool good = after && ts_sweep_compare(err, arena, before, after, column, diff);
    ts_sweep_store_close(NULL, before);
    ts_sweep_store_close(NULL, after);
    return good;
}

static int print_diff(ts_error *err, const command_state *c) {
    ts_sweep_diff diff;
    double limit;
    if (!cli_fail_over(err, &c->line, &limit) || !compare(err, c, &diff)) return cli_error(&c->line, err);
    const ts_sweep_diff_view view = {&diff, cli_value(&c->line, "diff"), c->line.operands[0], c->view.rows};
    ts_text out = ts_text_begin(c->line.arena);
    (cli_value(&c->line, "json") ? ts_report_sweep_diff_json : ts_report_sweep_diff)(&view, &out);
    cli_print(&out);
    if (limit == 0 || (diff.worst <= limit && diff.broken == 0 && diff.measured > 0)) return 0;
    ts_text_clear(&out);
    ts_report_sweep_worst(&diff, &out);
    if (diff.both == 0)
        ts_error_set(err, TS_ERROR_FAULT, "no point is in both, and --fail-over is given");
    else if (diff.measured == 0)
        ts_error_set(err, TS_ERROR_FAULT, "%s, and --fail-over is given", out.bytes);
    else
        ts_error_set(err, TS_ERROR_FAULT, "%s: more than --fail-over %gx", out.bytes, limit);
    return cli_fail(err);
}

/* Under mpirun rank 0 does what a process alone does, but for the answers. */
static int run_study(ts_error *err, command_state *c) {
    int started = ts_sweep_ranks_started(getenv);
    c->ranks.size = 1;
    if (started > 1 && !ts_sweep_ranks_load(err, c->line.arena, started, &c->ranks))
        return cli_error(&c->line, err);
    bool good = study(err, c);
    int code = !good ? cli_error(&c->line, err) : c->ranks.rank == 0 ? report(err, c) : 0;
    if (c->ranks.finish) c->ranks.finish(good);
    return code;
}

int cmd_sweep(int argc, char **argv) {
    command_state c = {0};
    ts_error err = {0};
    signal(SIGXFSZ, SIG_IGN); /* a file that must not grow is an error of a write */
    if (!cli_begin(&c.line, &usage, argc, argv)) return c.line.exit_code;
    if (!read_line(&err, &c)) return cli_end(&c.line, cli_error(&c.line, &err));
    if (cli_value(&c.line, "merge")) return cli_end(&c.line, merge(&err, &c.line));
    if (cli_value(&c.line, "diff")) return cli_end(&c.line, print_diff(&err, &c));
    return cli_end(&c.line, run_study(&err, &c));
}
