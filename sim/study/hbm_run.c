/* Requests run through an HBM. */
#include "study/hbm_run.h"

enum { BLOCK = 512 };

bool ts_hbm_run_requests(ts_error *err, ts_arena *arena, const ts_hbm_run_request *request, ts_hbm_run *run) {
    ts_hbm_request block[BLOCK];
    int count;
    ts_hbm *hbm = ts_hbm_new(err, arena, request->config);
    if (!hbm) return false;
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, request->lookahead_bytes, TS_HBM_UNLIMITED);
    *run = (ts_hbm_run){0};
    if (request->exact || request->commands) ts_hbm_simulate_all(hbm);
    if (request->commands) ts_hbm_commands_observe(request->commands, hbm);
    do {
        if (!ts_hbm_requests_read(err, request->requests, block, BLOCK, &count)) return false;
        ts_hbm_stream_offer_all(stream, block, count, TS_HBM_REQUEST_BYTES);
        run->requests += count;
    } while (count > 0);
    run->bytes = run->requests * TS_HBM_REQUEST_BYTES;
    run->cycles = ts_hbm_drain(hbm);
    ts_hbm_read_stats(hbm, &run->stats);
    return ts_hbm_check(err, hbm);
}
