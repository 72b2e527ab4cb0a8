/* tilesim hbm: a stream of requests through the HBM of a machine. */
#include <string.h>

#include "commands.h"
#include "files.h"
#include "options.h"
#include "base/host_clock.h"
#include "report/hbm.h"

static const cli_option options[] = {
    CLI_MACHINE_OPTION,
    {"window", 0, "BYTES",
     "look-ahead past the oldest request not yet accepted: bytes, 0 (in order) "
     "or unlimited; the machine's dma.lookahead when not given"},
    {"map", 0, "A|B|H|FIELDS", "the address map, instead of the machine's"},
    CLI_SET_OPTION,
    {"exact", 0, NULL, "simulate every channel by itself, and gaps cycle by cycle: the same, slower"},
    {"commands", 0, "FILE",
     "writes every command, a line each: cycle, command, channel, pseudo channel, sid, bank group, bank, "
     "row, column; held in memory until the end"},
    {"list", 0, NULL, "the patterns, a line each"},
    CLI_MEMORY_OPTION,
    {"json", 0, NULL, "the same as JSON"},
};

static const cli_command usage = {
    .name = "hbm",
    .operands = "PATTERN|TRACE",
    .operands_least = 0,
    .operands_most = 1,
    .operand_files = "r",
    .about =
        "Offers requests of 64 bytes to a machine's HBM as fast as it takes them, and says what came of it.\n"
        "They come from a named pattern, or from a trace (a path with '.' or '/'; - is standard input) with "
        "lines\n"
        "    LD 0x1f40     R 0x1f40     of Ramulator; also ST, W, and decimal addresses\n"
        "    0x1f40 READ 120            of DRAMsim3: not before cycle 120; also WRITE, and no cycle\n"
        "Cycles are those of the HBM's command clock (of HBM3: half cycles), from the first offer to the "
        "last "
        "data, or the last write command.\n",
    .example = "    tilesim hbm c_copy4k -m hbm2-reference --map H --window 65536\n"
               "    tilesim hbm a_seq_rd -m hbm2-reference --set hbm.channels=1 --set "
               "memories.hbm.capacity='1 GiB'\n",
    CLI_OPTIONS(options),
};

enum { LARGEST_WINDOW = 1 << 30 };

static bool read_window(ts_error *err, const cli_line *line, int64_t *bytes) {
    const char *text = cli_value(line, "window");
    if (!text) return true;
    *bytes = TS_HBM_UNLIMITED;
    if (strcmp(text, "unlimited") == 0) return true;
    if (!ts_text_to_int(err, "--window", text, bytes)) return false;
    if (*bytes >= 0 && *bytes <= LARGEST_WINDOW) return true;
    return ts_error_set(err, TS_ERROR_USAGE, "--window is %s, expected 0 to %d, or unlimited", text,
                        LARGEST_WINDOW);
}

static const ts_machine *load_machine(ts_error *err, const cli_line *line) {
    const char *map = cli_value(line, "map"), *name = cli_value(line, "machine");
    return cli_machine_named(err, line, name,
                             map ? ts_text_format(line->arena, "hbm.address_map=%s", map) : NULL);
}

static bool run(ts_error *err, const cli_line *line, ts_hbm_report *report) {
    const ts_machine *machine = load_machine(err, line);
    if (!machine) return false;
    *report = (ts_hbm_report){
        .machine = machine, .what = line->operands[0], .lookahead_bytes = machine->dma.lookahead_bytes};
    if (!read_window(err, line, &report->lookahead_bytes)) return false;
    double start = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID);
    ts_hbm_requests *requests = ts_hbm_requests_open(err, line->arena, report->what, &machine->hbm);
    ts_text *trace = cli_text_for(line, "commands");
    const ts_hbm_run_request request = {&machine->hbm, requests, report->lookahead_bytes,
                                        cli_value(line, "exact") != NULL,
                                        trace ? ts_hbm_commands_new(line->arena, &machine->hbm) : NULL};
    bool done = requests && ts_hbm_run_requests(err, line->arena, &request, &report->run);
    ts_hbm_requests_close(requests);
    report->host_seconds = ts_host_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    if (done && trace) ts_hbm_commands_write(request.commands, trace);
    return done && cli_save(err, line, "commands", trace);
}

/* Nothing else goes with it but --json. */
static bool list(ts_error *err, const cli_line *line, ts_text *out) {
    if (line->operand_count > 0)
        return ts_error_set(err, TS_ERROR_USAGE, "--list takes no operands, found '%s'", line->operands[0]);
    static const char *const own[] = {"list", "json", NULL};
    const char *other = cli_other(line, own);
    if (other) return ts_error_set(err, TS_ERROR_USAGE, "--%s does not go with --list", other);
    (cli_value(line, "json") ? ts_report_hbm_patterns_json : ts_report_hbm_patterns)(out);
    return true;
}

static bool print(ts_error *err, const cli_line *line, ts_text *out) {
    ts_hbm_report report;
    if (cli_value(line, "list")) return list(err, line, out);
    if (line->operand_count == 0)
        return ts_error_set(err, TS_ERROR_USAGE, "too few operands, expected PATTERN|TRACE");
    if (!run(err, line, &report)) return false;
    if (cli_reports(line)) /* else the commands are what is printed */
        (cli_value(line, "json") ? ts_report_hbm_json : ts_report_hbm)(&report, out);
    return true;
}

int cmd_hbm(int argc, char **argv) { return cli_print_of(&usage, argc, argv, print); }
