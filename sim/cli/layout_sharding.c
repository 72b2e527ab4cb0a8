/* tilesim layout --mesh: which device of a mesh holds what of a sharded tensor. */
#include "layout_sharding.h"

#include <string.h>

#include "files.h"
#include "report/reshard.h"

/* An option of layouts within one memory would be passed over in silence. */
static bool check_options(ts_error *err, const cli_line *line) {
    static const char *const others[] = {"eval", "at", "inverse", "as", "equal", "ansi", "exact", NULL};
    for (const char *const *name = others; *name; name++)
        if (cli_value(line, *name))
            return ts_error_set(err, TS_ERROR_USAGE, "--%s is not of a sharding (--mesh)", *name);
    return line->operand_count == 1 ||
           ts_error_set(err, TS_ERROR_USAGE, "expected one sharded SHAPE with --mesh");
}

static bool save(ts_error *err, const cli_line *line, const ts_mesh *mesh, const ts_sharding *sharding) {
    ts_text *svg = cli_text_for(line, "svg"), *html = cli_text_for(line, "html");
    if (svg) ts_report_sharding_svg(mesh, sharding, svg);
    if (html) ts_report_sharding_html(mesh, sharding, html);
    return cli_save(err, line, "svg", svg) && cli_save(err, line, "html", html);
}

int cli_layout_sharding(cli_line *line) {
    ts_error err = {0};
    ts_mesh mesh;
    ts_sharding *sharding = TS_NEW(line->arena, ts_sharding);
    if (!check_options(&err, line)) return cli_usage_error(line, &err);
    const ts_machine *machine = cli_mesh_machine(&err, line);
    ts_source source = {"shape", line->operands[0], strlen(line->operands[0])};
    if (!machine || !cli_mesh(&err, line, machine, &mesh) ||
        !ts_sharding_parse(&err, line->arena, &mesh, &source, sharding) || !save(&err, line, &mesh, sharding))
        return cli_fail(&err);
    ts_text out = ts_text_begin(line->arena);
    if (cli_value(line, "json"))
        ts_report_sharding_json(&mesh, sharding, &out);
    else if (cli_reports(line))
        ts_report_sharding(&mesh, sharding, &out);
    return cli_print(&out);
}
