/* tilesim dma: what it costs to move a tensor from one layout to another. */
#include <string.h>

#include "commands.h"
#include "options.h"
#include "tilesim/report/transfer.h"

static const cli_option options[] = {
    {"machine", 'm', "NAME|FILE", "the machine; " TS_MACHINE_DEFAULT " when not given"},
    {"set", '\0', "FIELD=VALUE", "the machine with this figure changed; may be repeated"},
    {"explain", '\0', NULL, "also the loops of the plan"},
    {"src-at", '\0', "BYTE", "where the source begins; 0 when not given"},
    {"dst-at", '\0', "BYTE", "where the destination begins; 0, or behind the source"},
    {"exact", '\0', NULL, "walk every access, also where the time repeats"},
    {"json", '\0', NULL, "the same as JSON"},
};

static const cli_command command_dma = {
    .name = "dma",
    .operands = "SRC DST",
    .operands_least = 2,
    .operands_most = 2,
    .about =
        "Prices one transfer between two shapes with the same dimensions: the plan that moves the bytes,\n"
        "walked through the machine's DMA engine and HBM from rest. S(n) in a layout names the memory.\n",
    .example = "    tilesim dma 'f32[4096,4096]{1,0}' 'bf16[4096,4096]{1,0:T(8,128)(2,1)}' -m tpu-v5e\n",
    .option_count = sizeof options / sizeof options[0],
    .options = options,
};

static bool read_place(ts_error *err, const cli_line *line, const char *name, int64_t *at) {
    const char *text = cli_value(line, name);
    *at = TS_TRANSFER_ANYWHERE;
    if (!text) return true;
    if (!ts_text_to_int(err, name, text, at)) return false;
    if (*at >= 0) return true;
    return ts_error_set(err, TS_ERROR_INPUT, "--%s is %s, expected 0 or more", name, text);
}

static const ts_machine *load_machine(ts_error *err, const cli_line *line) {
    const char *name = cli_value(line, "machine");
    int count = cli_count(line, "set");
    const char **sets = TS_NEW_ARRAY(line->arena, const char *, count + 1);
    for (int i = 0; i < count; i++) sets[i] = cli_value_at(line, "set", i);
    return ts_machine_load_with(err, line->arena, name ? name : TS_MACHINE_DEFAULT, "--set", sets, count);
}

static bool price(ts_error *err, const cli_line *line, ts_transfer_study *study) {
    ts_source from = {"source", line->operands[0], strlen(line->operands[0])};
    ts_source to = {"destination", line->operands[1], strlen(line->operands[1])};
    ts_transfer_end src, dst;
    if (!ts_transfer_end_parse(err, line->arena, &from, &src) ||
        !ts_transfer_end_parse(err, line->arena, &to, &dst) || !read_place(err, line, "src-at", &src.at) ||
        !read_place(err, line, "dst-at", &dst.at)) {
        return false;
    }
    const ts_machine *machine = load_machine(err, line);
    return machine &&
           ts_transfer_price(err, line->arena, machine, &src, &dst, cli_value(line, "exact") != NULL, study);
}

int cmd_dma(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    ts_transfer_study study;
    ts_text out;
    if (!cli_begin(&line, &command_dma, argc, argv)) return line.exit_code;
    if (!price(&err, &line, &study)) return cli_end(&line, cli_fail(&err));
    study.by_default = cli_value(&line, "machine") == NULL;
    bool explain = cli_value(&line, "explain") != NULL;
    ts_text_init(&out, line.arena);
    if (cli_value(&line, "json"))
        ts_report_transfer_json(&study, explain, &out);
    else
        ts_report_transfer(&study, explain, &out);
    return cli_end(&line, cli_print(&out));
}
