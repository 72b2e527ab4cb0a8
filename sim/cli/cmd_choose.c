/* tilesim choose: which layout a tensor should have. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "files.h"
#include "options.h"
#include "progress.h"
#include "report/sweep.h"
#include "report/choose.h"
#include "report/run.h"

static const cli_option options[] = {
    CLI_MACHINE_OPTION,
    CLI_SET_OPTION,
    {"use", 0, "USES",
     "of a shape: dma:FROM>TO (between memories), reduce:DIM (a sum), stream (a pass), "
     "with commas between; dma:hbm>vmem when not given"},
    {"tensor", 0, "NAME", "of a program: which of its tensors"},
    {"block", 0, "NAME=A,B,..", "of a program: ranks the values of this parameter instead; may be repeated"},
    {"jobs", 'j', "N", "with --block: worker processes; 1 when not given"},
    {"define", 'D', "NAME=VALUE", "of a program: a parameter's value; may be repeated"},
    {"combine", 0, NULL, "also tiles with '*', of dims taken together, which compilers do not make yet"},
    {"exact", 0, NULL, "simulate every access of transfers of every size: slower"},
    {"exhaustive", 0, NULL, "price every layout, also those that cannot be the best"},
    {"no-moves", 0, NULL, "do not move the machine's assumed figures"},
    {"rows", 0, "N", "of the ranking; 10 when not given"},
    {"all", 0, NULL, "all rows"},
    CLI_MEMORY_OPTION,
    {"json", 0, NULL, "the same as JSON"},
    {"svg", 0, "FILE", "a picture: bars of time and of bytes"},
    {"html", 0, "FILE", "all of it as one page"},
};

static const cli_command usage = {
    .name = "choose",
    .operands = "SHAPE|PROGRAM",
    .operands_least = 1,
    .operands_most = 1,
    .operand_files = "r",
    .about =
        "Ranks the layouts that a tensor may have: orders of dims, and the tiles of its type and the "
        "machine's generation. "
        "A program is run with each of them for its tensor, which lies in hbm or is only transferred; "
        "of a shape, each "
        "stated use is: "
        "transfers on the DMA "
        "engine and the HBM, sums and passes on the core; the two overlap, so the slower is the time. "
        "The compiler's "
        "published rule and the layout that is there now are marked.\n"
        "With --block, a program is timed with each combination of block sizes instead, and those that do "
        "not fit\nare said: without values, which tilesim run checks. PROGRAM may be texts of a Pallas "
        "kernel: 'k.$bm.mlir'; python3 -m "
        "tilesim.pallas makes them.\n",
    .example =
        "    tilesim choose 'bf16[29184,2,2560]' --use 'dma:hbm>vmem, reduce:2, stream' -m tpu-v4\n"
        "    tilesim choose programs/softmax.tsim --tensor x\n"
        "    tilesim choose programs/matmul.tsim -D M=1024 --block BM=128,256 --block BK=128,256 -j 2\n",
    CLI_OPTIONS(options),
};

enum { ROWS = 10 };

static bool read_shape(ts_error *err, const cli_line *line, ts_choose_request *r) {
    ts_source source = {"SHAPE", line->operands[0], strlen(line->operands[0])};
    static const char *const others[] = {"tensor", "define", NULL};
    const char *uses = cli_value(line, "use");
    if (!cli_refuse(err, line, others, "is of a program, expected PROGRAM.tsim")) return false;
    r->shape = ts_shape_parse(err, line->arena, &source);
    if (!r->shape || !ts_shape_layout(err, r->shape, "the tensor")) return false;
    if (!uses) uses = "dma:hbm>vmem";
    ts_source text = {"--use", uses, strlen(uses)};
    return ts_choose_read_uses(err, line->arena, &text, r);
}

static bool read_program(ts_error *err, const cli_line *line, ts_choose_request *r) {
    r->program = line->operands[0];
    r->tensor = cli_value(line, "tensor");
    if (cli_value(line, "use"))
        return ts_error_set(err, TS_ERROR_USAGE, "--use is of a shape: a program says itself what it does");
    return cli_pairs(err, line, "define", &r->defines, &r->define_count);
}

static bool choose(ts_error *err, const cli_line *line, ts_choose_request *r, ts_choose_view *view,
                   ts_choose_result *result) {
    cli_progress bar = cli_progress_begin("layouts");
    const char *name = cli_value(line, "machine");
    if (cli_value(line, "jobs")) return ts_error_set(err, TS_ERROR_USAGE, "--jobs goes only with --block");
    r->machine_name = name ? name : TS_MACHINE_DEFAULT;
    r->sets = cli_values(line, "set", &r->set_count);
    r->machine = cli_machine(err, line);
    if (!r->machine || !cli_rows(err, line, 1, &view->rows)) return false;
    bool program = ts_text_ends(line->operands[0], ".tsim");
    if (program ? !read_program(err, line, r) : !read_shape(err, line, r)) return false;
    r->combine = cli_value(line, "combine") != NULL;
    r->exhaustive = cli_value(line, "exhaustive") != NULL;
    r->exact = cli_value(line, "exact") != NULL;
    r->moves_fields = cli_value(line, "no-moves") == NULL;
    r->progress = cli_progress_draw;
    r->self = &bar;
    bool good = ts_choose(err, line->arena, r, result);
    cli_progress_end(&bar);
    return good;
}

static bool save(ts_error *err, const cli_line *line, const ts_choose_result *result,
                 const ts_choose_view *view) {
    ts_text *svg = cli_text_for(line, "svg"), *html = cli_text_for(line, "html");
    if (svg) ts_report_choose_svg(result, view, svg);
    if (html) ts_report_choose_html(result, view, html);
    return cli_save(err, line, "svg", svg) && cli_save(err, line, "html", html);
}

/* ---- Block sizes: --block NAME=1,2,3 ---- */

/* What is said of layouts. */
static bool check_blocks(ts_error *err, const cli_line *line) {
    static const char *const others[] = {"use",      "tensor", "combine", "exhaustive",
                                         "no-moves", "svg",    "html",    NULL};
    const char *program = line->operands[0], *python = strstr(program, ".py:");
    if (!cli_refuse(err, line, others, "is of layouts, and does not go with --block")) return false;
    if (python)
        return ts_error_set(err, TS_ERROR_USAGE,
                            "a kernel of Python is lowered there: python3 -m tilesim.pallas %.80s --block ..",
                            program);
    return ts_text_ends(program, ".tsim") || ts_text_ends(program, ".mlir") ||
           ts_error_set(err, TS_ERROR_USAGE, "--block is of a program, expected PROGRAM.tsim or KERNEL.mlir");
}

static bool read_blocks(ts_error *err, const cli_line *line, ts_sweep_runs_request *r, ts_grid *grid) {
    const ts_define *blocks;
    int count;
    *r = (ts_sweep_runs_request){.run = {.program = line->operands[0],
                                         .machine = cli_machine(err, line),
                                         .exact = cli_value(line, "exact") != NULL,
                                         .time_only = true,
                                         .max_cycles = TS_RUN_MOST_CYCLES,
                                         .patience = TS_RUN_PATIENCE},
                                 .grid = grid,
                                 .workers = 1,
                                 .progress = cli_progress_rate};
    return r->run.machine && check_blocks(err, line) && cli_max_memory(err, line, &r->run.max_memory_bytes) &&
           cli_int(err, line, "jobs", 1, TS_SWEEP_WORKERS, &r->workers) &&
           cli_pairs(err, line, "block", &blocks, &count) &&
           cli_pairs(err, line, "define", &r->run.defines, &r->run.define_count) &&
           ts_grid_parse(err, line->arena, "--block", blocks, count, grid);
}

/* The exit code is 0 where any is timed; else that of the first. */
static bool choose_blocks(ts_error *err, const cli_line *line, ts_text *out, int *code) {
    ts_sweep_runs_request request;
    ts_grid grid;
    ts_sweep_blocks blocks;
    ts_blocks_view view = {.request = &request, .blocks = &blocks, .rows = ROWS};
    cli_progress bar = cli_progress_begin("points");
    if (!cli_rows(err, line, 1, &view.rows) || !read_blocks(err, line, &request, &grid)) return false;
    request.self = &bar;
    bool good = ts_sweep_rank_blocks(err, line->arena, &request, &blocks);
    cli_progress_end(&bar);
    if (!good) return false;
    (cli_value(line, "json") ? ts_report_blocks_json : ts_report_blocks)(&view, out);
    *code = blocks.counts[TS_SWEEP_TIMED] > 0 ? 0 : ts_error_exit_code(blocks.rows[0].err);
    return true;
}

static int print_blocks(cli_line *line) {
    ts_error err = {0};
    ts_text out = ts_text_begin(line->arena);
    int code;
    if (!choose_blocks(&err, line, &out, &code)) return cli_error(line, &err);
    int written = cli_print(&out);
    return written != 0 ? written : code;
}

/* What is unfinished at its end may be slower than its price. */
static void warn(const ts_choose_result *result, ts_arena *arena) {
    ts_text text = ts_text_begin(arena);
    if (result->left) ts_report_findings(result->left, &text);
    fputs(text.bytes, stderr);
}

static int end_badly(cli_line *line, const ts_error *err) { return cli_end(line, cli_error(line, err)); }

int cmd_choose(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    ts_choose_request request = {0};
    ts_choose_view view = {.rows = ROWS};
    ts_choose_result result;
    if (!cli_begin(&line, &usage, argc, argv)) return line.exit_code;
    if (cli_value(&line, "block")) return cli_end(&line, print_blocks(&line));
    ts_text out = ts_text_begin(line.arena);
    if (!choose(&err, &line, &request, &view, &result) || !save(&err, &line, &result, &view))
        return end_badly(&line, &err);
    if (cli_reports(&line))
        (cli_value(&line, "json") ? ts_report_choose_json : ts_report_choose)(&result, &view, &out);
    if (out.length > 0) cli_print(&out);
    warn(&result, line.arena);
    return cli_end(&line, 0);
}
