/* tilesim relayout: how a value in vregs comes from one layout to another, and what that takes. */

#include "commands.h"
#include "files.h"
#include "options.h"
#include "report/relayout.h"

static const cli_option options[] = {
    CLI_MACHINE_OPTION,
    CLI_SET_OPTION,
    {"svg", '\0', "FILE", "also a picture: the vregs of both, coloured by where elements come from"},
    {"html", '\0', "FILE", "also all of it as one page"},
    {"json", '\0', NULL, "the same as JSON"},
};

static const cli_command usage = {
    .name = "relayout",
    .operands = "SRC DST",
    .operands_least = 0,
    .operands_most = 2,
    .about =
        "How Mosaic brings a value in vregs from one layout to another: free, or which ops on vregs; or its\n"
        "refusal. The cycles are those that the ops add to a kernel that loads the vregs and stores them.\n"
        "The ops are those for the generation of the machine.\n"
        "SRC and DST are TYPE[DIMS] vpad<\"BITS,{ROW,COLUMN},(ROWS,COLUMNS)\">, of the same type and dims.\n",
    .example = "    tilesim relayout 'f32[16,256] vpad<\"32,{0,0},(8,128)\">' 'f32[16,256] "
               "vpad<\"32,{3,0},(8,128)\">'\n",
    CLI_OPTIONS(options),
};

static bool find(ts_error *err, const cli_line *line, ts_relayout_price_request *request,
                 ts_relayout_price *price) {
    ts_source ends[2];
    if (!cli_ends(err, line, ends)) return false;
    request->machine = cli_machine(err, line);
    if (request->machine == NULL || (request->from = ts_shape_parse(err, line->arena, &ends[0])) == NULL ||
        (request->to = ts_shape_parse(err, line->arena, &ends[1])) == NULL)
        return false;
    return ts_relayout_price_find(err, line->arena, request, price);
}

static bool save(ts_error *err, const cli_line *line, const ts_relayout_price_request *request,
                 const ts_relayout_price *price) {
    ts_text *svg = cli_text_for(line, "svg"), *page = cli_text_for(line, "html");
    return (svg == NULL || ts_report_relayout_svg(err, price, svg)) &&
           (page == NULL || ts_report_relayout_html(err, request, price, page)) &&
           cli_save(err, line, "svg", svg) && cli_save(err, line, "html", page);
}

static bool print(ts_error *err, const cli_line *line, ts_text *out) {
    ts_relayout_price_request request = {0};
    ts_relayout_price price;
    if (!find(err, line, &request, &price) || !save(err, line, &request, &price)) return false;
    if (cli_reports(line))
        (cli_value(line, "json") ? ts_report_relayout_json : ts_report_relayout)(&request, &price, out);
    return true;
}

int cmd_relayout(int argc, char **argv) { return cli_print_of(&usage, argc, argv, print); }
