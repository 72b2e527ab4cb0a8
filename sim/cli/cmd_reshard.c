/* tilesim reshard: what it takes to bring a tensor from one sharding over many chips to another. */

#include "commands.h"
#include "files.h"
#include "options.h"
#include "report/reshard.h"

static const cli_option options[] = {
    CLI_MESH_OPTIONS,
    CLI_MACHINE_OPTION,
    CLI_SET_OPTION,
    {"algorithm", '\0', "NAME",
     "direct, ring, bidirectional, torus or two-rings, where a collective has it: the plan says what it "
     "took; the fastest when not given"},
    {"no-proof", '\0', NULL, "do not move a small array by the plan to check it"},
    {"svg", '\0', "FILE", "also draw the bytes over each link, as an SVG image"},
    {"html", '\0', "FILE", "also all of it as one page"},
    CLI_MEMORY_OPTION,
    {"json", '\0', NULL, "the same as JSON"},
};

static const cli_command command_reshard = {
    .name = "reshard",
    .operands = "SRC DST",
    .operands_least = 0,
    .operands_most = 2,
    .about =
        "Plans how a tensor that is sharded over the devices of a mesh becomes one that is sharded "
        "otherwise,\n"
        "prices the plan on the links between the chips, and makes it with real bytes. Behind the shape "
        "stands\n"
        "a partition spec, P('x', None), HLO's {devices=[2,2]<=[4]}, Shardy's #sdy.sharding<..>, or an Axe\n"
        "layout with the mesh's axes; without any, every device has a copy.\n",
    .example = "    tilesim reshard \"f32[8192,8192] P('x', 'y')\" \"f32[8192,8192] P('y', None)\" --mesh "
               "4x4 -m tpu-v5p\n"
               "    tilesim reshard \"bf16[64,64] P('a', unreduced={'b'})\" \"bf16[64,64] P('a', 'b')\" "
               "--mesh a=4,b=8\n",
    CLI_OPTIONS(options),
};

static bool read_mesh(ts_error *err, const cli_line *line, ts_reshard_report *report) {
    if (!cli_value(line, "mesh"))
        return ts_error_set(err, TS_ERROR_USAGE, "--mesh is not given, expected the devices, as 4x4");
    report->machine = cli_mesh_machine(err, line);
    return report->machine && cli_mesh(err, line, report->machine, &report->mesh);
}

static bool read_algorithm(ts_error *err, const cli_line *line, ts_reshard_request *request) {
    const char *word = cli_value(line, "algorithm");
    request->choice.forced = word != NULL;
    return !word || ts_algorithm_find(err, "--algorithm", word, &request->choice.algorithm);
}

static bool prove(ts_error *err, const cli_line *line, ts_reshard_report *report) {
    return cli_value(line, "no-proof") || ts_reshard_report_prove(err, line->arena, report);
}

static bool plan(ts_error *err, const cli_line *line, ts_reshard_report *report) {
    ts_source ends[2];
    ts_reshard_request request = {
        .mesh = &report->mesh, .source = &report->source, .destination = &report->destination};
    return cli_ends(err, line, ends) && read_mesh(err, line, report) && read_algorithm(err, line, &request) &&
           ts_sharding_parse(err, line->arena, &report->mesh, &ends[0], &report->source) &&
           ts_sharding_parse(err, line->arena, &report->mesh, &ends[1], &report->destination) &&
           ts_reshard(err, line->arena, &request, &report->plan) && prove(err, line, report);
}

static bool save(ts_error *err, const cli_line *line, const ts_reshard_report *report) {
    ts_text *svg = cli_text_for(line, "svg"), *html = cli_text_for(line, "html");
    if (svg) ts_report_reshard_svg(report, svg);
    if (html) ts_report_reshard_html(report, html);
    return cli_save(err, line, "svg", svg) && cli_save(err, line, "html", html);
}

static bool print(ts_error *err, const cli_line *line, ts_text *out) {
    ts_reshard_report *report = TS_NEW(line->arena, ts_reshard_report);
    if (!plan(err, line, report) || !save(err, line, report)) return false;
    if (cli_reports(line))
        (cli_value(line, "json") ? ts_report_reshard_json : ts_report_reshard)(report, out);
    return true;
}

int cmd_reshard(int argc, char **argv) { return cli_print_of(&command_reshard, argc, argv, print); }
