/* tilesim dma: what it costs to move a tensor from one layout to another. */
#include <string.h>

#include "commands.h"
#include "files.h"
#include "options.h"
#include "report/transfer.h"

static const cli_option options[] = {
    CLI_MACHINE_OPTION,
    CLI_SET_OPTION,
    {"explain", '\0', NULL, "also the loops of the plan"},
    {"alone", '\0', NULL, "do not try other layouts of the source and the destination"},
    {"src-at", '\0', "BYTE", "where the source begins; 0 when not given"},
    {"dst-at", '\0', "BYTE", "where the destination begins; 0, or behind the source"},
    {"exact", '\0', NULL, "simulate every access, also where the time repeats"},
    {"with", '\0', "'SRC -> DST'", "another transfer at the same time; may be repeated"},
    {"matrix", '\0', "SHAPE", "instead: all pairs of the layouts that TPUs use for this array"},
    {"svg", '\0', "FILE", "with --matrix: also a heat map"},
    {"html", '\0', "FILE", "of one transfer: also a page, with pictures of both layouts"},
    CLI_THREADS_OPTION,
    CLI_MEMORY_OPTION,
    {"json", '\0', NULL, "the same as JSON"},
};

static const cli_command command_dma = {
    .name = "dma",
    .operands = "SRC DST",
    .operands_least = 0,
    .operands_most = 2,
    .about =
        "Prices one transfer between two shapes with the same dimensions: the plan that moves the bytes,\n"
        "simulated in the machine's DMA engine and HBM from rest. The time is split into parts that add up,\n"
        "and other layouts of either end are tried. S(n) in a layout names the memory. Behind a shape may\n"
        "stand the slice that moves: [8:16, 0:128], [3] or [:, 128:+64]; the last ranges may be left out.\n",
    .example =
        "    tilesim dma 'f32[4096,4096]{1,0}' 'bf16[4096,4096]{1,0:T(8,128)(2,1)}' -m tpu-v5e\n"
        "    tilesim dma 'bf16[4096,4096]{1,0:T(8,128)(2,1)}[8:16]' 'bf16[8,4096]{1,0:T(8,128)(2,1)S(1)}'\n"
        "    tilesim dma 's8[8,64,56,56]' 's8[8,64,56,56] NCHW4c' --explain\n"
        "    tilesim dma 'f32[1024,512]' 'f32[1024,512]{1,0:S(1)}' --with 's8[512]{0:S(1)} -> s8[512]'\n"
        "    tilesim dma --matrix 'bf16[4096,4096]' -m tpu-v6e --svg matrix.svg\n",
    CLI_OPTIONS(options),
};

static bool read_ends(ts_error *err, const cli_line *line, ts_transfer_end ends[2]) {
    ts_source texts[2];
    return cli_ends(err, line, texts) && ts_transfer_end_parse(err, line->arena, &texts[0], &ends[0]) &&
           ts_transfer_end_parse(err, line->arena, &texts[1], &ends[1]) &&
           cli_number(err, line, "src-at", 0, INT64_MAX, &ends[0].at) &&
           cli_number(err, line, "dst-at", 0, INT64_MAX, &ends[1].at);
}

static bool price(ts_error *err, const cli_line *line, ts_transfer_study *study, ts_transfer_others *others) {
    ts_transfer_end ends[2];
    bool shows_all = cli_value(line, "json") || cli_value(line, "html");
    ts_transfer_others_request tried = {.cheapest_only = !shows_all};
    const ts_machine *machine = read_ends(err, line, ends) ? cli_machine(err, line) : NULL;
    if (!machine || !cli_threads(err, line, &tried.threads)) return false;
    const ts_transfer_request request = {machine, ts_prices_new(line->arena),       ends[0],
                                         ends[1], cli_value(line, "exact") != NULL, 0};
    return others ? ts_transfer_price_with_others(err, line->arena, &request, &tried, study, others)
                  : ts_transfer_price(err, line->arena, &request, study);
}

static int print_price(const cli_line *line) {
    ts_error err = {0};
    ts_transfer_study study;
    ts_transfer_others tried[2], *others = cli_value(line, "alone") ? NULL : tried;
    ts_transfer_detail detail = cli_value(line, "explain") ? TS_TRANSFER_COST_AND_LOOPS : TS_TRANSFER_COST;
    if (!price(&err, line, &study, others)) return cli_fail(&err);
    ts_text out = ts_text_begin(line->arena), *html = cli_text_for(line, "html");
    if (html) ts_report_transfer_html(&study, others, html);
    if (!cli_save(&err, line, "html", html)) return cli_fail(&err);
    if (cli_reports(line))
        (cli_value(line, "json") ? ts_report_transfer_json : ts_report_transfer)(&study, others, detail,
                                                                                 &out);
    return cli_print(&out);
}

/* ---- Several at once ---- */

static int print_mix(const cli_line *line) {
    ts_error err = {0};
    ts_transfer_mix mix;
    int count = 1 + cli_count(line, "with");
    ts_transfer_end(*ends)[2] = (ts_transfer_end(*)[2])TS_NEW_ARRAY(line->arena, ts_transfer_end, 2 * count);
    bool good = read_ends(&err, line, ends[0]);
    for (int i = 1; i < count && good; i++)
        good =
            ts_transfer_pair_parse(&err, line->arena, "--with", cli_value_at(line, "with", i - 1), ends[i]);
    const ts_machine *machine = good ? cli_machine(&err, line) : NULL;
    ts_transfer_mix_request request = {machine, ts_prices_new(line->arena), ends, count,
                                       cli_value(line, "exact") != NULL};
    if (!machine || !ts_transfer_price_concurrent(&err, line->arena, &request, &mix)) return cli_fail(&err);
    ts_text out = ts_text_begin(line->arena);
    (cli_value(line, "json") ? ts_report_transfer_mix_json : ts_report_transfer_mix)(&mix, &out);
    return cli_print(&out);
}

/* ---- All pairs ---- */

static bool save_svg(ts_error *err, const cli_line *line, const ts_transfer_matrix *matrix) {
    ts_text *svg = cli_text_for(line, "svg");
    if (svg) ts_report_matrix_svg(matrix, svg);
    return cli_save(err, line, "svg", svg);
}

static int print_matrix(const cli_line *line, const char *text) {
    ts_error err = {0};
    ts_source source = {"--matrix", text, strlen(text)};
    const ts_shape *shape = ts_shape_parse(&err, line->arena, &source);
    const ts_machine *machine = shape ? cli_machine(&err, line) : NULL;
    ts_transfer_matrix_request request = {machine, shape, cli_value(line, "exact") != NULL, 1};
    machine = cli_threads(&err, line, &request.threads) ? machine : NULL;
    ts_transfer_matrix *matrix = machine ? ts_transfer_price_matrix(&err, line->arena, &request) : NULL;
    ts_transfer_end whole = {.text = &source};
    if (machine && !matrix) ts_transfer_end_error(&err, &whole, 0);
    if (!matrix) return cli_fail(&err);
    if (!save_svg(&err, line, matrix)) return cli_fail(&err);
    if (!cli_reports(line)) return 0;
    ts_text out = ts_text_begin(line->arena);
    (cli_value(line, "json") ? ts_report_matrix_json : ts_report_matrix)(matrix, &out);
    return cli_print(&out);
}

/* --matrix takes no operands, and only some of the options. */
static bool check_line(ts_error *err, const cli_line *line) {
    static const char *const not_of_all[] = {"explain", "alone", "src-at", "dst-at", "with", NULL},
                             *const not_of_several[] = {"explain", "alone", NULL};
    bool matrix = cli_value(line, "matrix") != NULL;
    if ((matrix && !cli_refuse(err, line, not_of_all, "does not go with --matrix")) ||
        (cli_value(line, "with") && !cli_refuse(err, line, not_of_several, "does not go with --with")))
        return false;
    if (matrix && line->operand_count > 0)
        return ts_error_set(err, TS_ERROR_USAGE, "--matrix takes no operands, found '%s'", line->operands[0]);
    if (!matrix && cli_value(line, "svg"))
        return ts_error_set(err, TS_ERROR_USAGE, "--svg goes only with --matrix");
    if (cli_value(line, "html") && (matrix || cli_count(line, "with") > 0))
        return ts_error_set(err, TS_ERROR_USAGE, "--html is of one transfer");
    ts_source ends[2];
    return matrix || cli_ends(err, line, ends);
}

int cmd_dma(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    if (!cli_begin(&line, &command_dma, argc, argv)) return line.exit_code;
    if (!check_line(&err, &line)) return cli_end(&line, cli_usage_error(&line, &err));
    const char *matrix = cli_value(&line, "matrix");
    bool several = cli_value(&line, "with") != NULL;
    return cli_end(&line, matrix    ? print_matrix(&line, matrix)
                          : several ? print_mix(&line)
                                    : print_price(&line));
}
