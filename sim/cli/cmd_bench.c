/* tilesim bench: how fast this host moves a tensor from one layout to another. */
#include <string.h>

#include "commands.h"
#include "options.h"
#include "base/threads.h"
#include "report/bench.h"

static const cli_option options[] = {
    {"jobs", 'j', "N", "move, and copy, with so many threads, where they pay; 1 when not given"},
    {"kernels", '\0', "NAME",
     "portable, avx2, avx512, or formula: element by element; the best when not given"},
    {"stores", '\0', "NAME", "ordinary or streaming; by the size of the tensors when not given"},
    {"milliseconds", '\0', "N", "about how long to measure; 1000 when not given"},
    {"json", '\0', NULL, "the same as JSON"},
};

static const cli_command command_bench = {
    .name = "bench",
    .operands = "SRC DST",
    .operands_least = 2,
    .operands_most = 2,
    .about =
        "Moves a tensor on this host from one layout to another, and copies as many bytes with memcpy and\n"
        "with streaming stores, in turns. What does not depend on addresses is prepared once, as memcpy has\n"
        "nothing to prepare. GB/s are bytes read plus bytes written.\n",
    .example = "    tilesim bench 'f32[8192,8192]{1,0}' 'bf16[8192,8192]{1,0:T(8,128)(2,1)}'\n",
    CLI_OPTIONS(options),
};

static bool read_kernels(ts_error *err, const cli_line *line, ts_bench_report *report) {
    const char *words[TS_KERNELS_COUNT + 2] = {[TS_KERNELS_COUNT] = "formula"};
    int number = 0;
    for (int i = 0; i < TS_KERNELS_COUNT; i++) words[i] = ts_kernels_name(i);
    while (ts_kernels_get(number) != ts_kernels_best()) number++;
    if (!cli_word(err, line, "kernels", words, &number)) return false;
    report->kernels = words[number];
    report->bench.how.kernels = number < TS_KERNELS_COUNT ? ts_kernels_get(number) : NULL;
    return number == TS_KERNELS_COUNT || report->bench.how.kernels ||
           ts_error_set(err, TS_ERROR_UNMODELLED, "this host cannot run the kernels '%s'", words[number]);
}

static bool read_stores(ts_error *err, const cli_line *line, ts_move_stores *stores) {
    static const char *const words[] = {"ordinary", "streaming", NULL};
    static const ts_move_stores given[] = {TS_STORES_ORDINARY, TS_STORES_STREAMING};
    int number = -1;
    bool good = cli_word(err, line, "stores", words, &number);
    *stores = number < 0 ? TS_STORES_BY_SIZE : given[number];
    return good;
}

static bool measure(ts_error *err, const cli_line *line, ts_bench_report *report) {
    ts_source from = {"source", line->operands[0], strlen(line->operands[0])};
    ts_source to = {"destination", line->operands[1], strlen(line->operands[1])};
    ts_bench *bench = &report->bench;
    int milliseconds = 1000;
    bench->how.threads = 1;
    if (!cli_int(err, line, "jobs", 1, TS_THREADS_MOST, &bench->how.threads) ||
        !cli_int(err, line, "milliseconds", 1, 1000000, &milliseconds) || !read_kernels(err, line, report) ||
        !read_stores(err, line, &bench->how.stores) ||
        !ts_transfer_end_parse(err, line->arena, &from, &bench->src) ||
        !ts_transfer_end_parse(err, line->arena, &to, &bench->dst))
        return false;
    bench->seconds = (double)milliseconds * 1e-3;
    return ts_bench_run(err, line->arena, bench, &report->result);
}

static bool print(ts_error *err, const cli_line *line, ts_text *out) {
    ts_bench_report report = {0};
    if (!measure(err, line, &report)) return false;
    (cli_value(line, "json") ? ts_report_bench_json : ts_report_bench)(&report, out);
    return true;
}

int cmd_bench(int argc, char **argv) { return cli_print_of(&command_bench, argc, argv, print); }
