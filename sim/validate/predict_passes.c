/* Passes over memory: kernels that read and write each byte once. */
#include "base/number.h"
#include "predict_private.h"

enum { PASS_COLUMNS = 4096, PASS_ROWS = 64, PASS_BLOCKS = 24 };

typedef enum { READ_ONLY, READ_AND_WRITE } pass_kind;

static bool predict_pass(ts_error *err, predict_program k, int64_t bytes, pass_kind kind, double *us) {
    int64_t blocks = ts_ceil_div(bytes, PASS_COLUMNS * PASS_ROWS * 4), columns = PASS_COLUMNS;
    /* of few, each is as wide as it must be */
    if (blocks <= 2 * PASS_BLOCKS) columns = ts_round_up(ts_ceil_div(bytes, blocks * PASS_ROWS * 4), 128);
    ts_timed_define(&k.run, "COLS", columns);
    ts_timed_define(&k.run, "BLOCK", PASS_ROWS);
    ts_timed_define(&k.run, "IN", 1);
    ts_timed_define(&k.run, "OUT", kind == READ_AND_WRITE);
    int64_t rows = ts_round_up(ts_ceil_div(bytes, columns * 4), PASS_ROWS);
    if (!predict_run_blocks(err, &k, (predict_series){"ROWS", PASS_ROWS, rows, PASS_BLOCKS}, us))
        return false;
    *us += predict_microseconds(k.run.machine->chip.launch_ps);
    return true;
}

/* One pass reads as much as it writes; what is read beyond that is read by passes that write nothing, each a
 * kernel. What is written beyond that takes as long as if half of it
 * were read. */
bool predict_passes(ts_error *err, ts_predictor *by, const ts_workload *w, const ts_machine *machine,
                    double *us) {
    int64_t both = ts_min(w->written_bytes, w->read_bytes), left = w->read_bytes - both,
            beyond = w->written_bytes - both;
    int64_t most = both > left / 8 ? both : left; /* of one pass */
    const predict_program k = predict_begin(by, machine, "tilesim:/pass.tsim");
    double one;
    *us = 0;
    both += beyond / 2;
    if (both > left / 1024 && !predict_pass(err, k, both, READ_AND_WRITE, us)) return false;
    for (; left > 0; left -= most) {
        if (!predict_pass(err, k, ts_min(left, most), READ_ONLY, &one)) return false;
        *us += one;
    }
    return true;
}
