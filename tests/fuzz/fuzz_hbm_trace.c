/* Traces of HBM requests from any bytes. What is accepted are aligned addresses that a map takes, in order of
 * the cycle from which they may be offered; what is not has a place in the file. */
#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "study/hbm_run.h"

enum { PIPE_BYTES = 1 << 16 }; /* what a pipe holds; fuzzers make inputs of at most 4 KiB */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const ts_hbm_config config = {.stacks = 64,
                                         .channels = 64,
                                         .pseudo_channels = 2,
                                         .sids = 1,
                                         .bank_groups = 4,
                                         .banks = 4,
                                         .rows = 1 << 16,
                                         .row_bytes = 1 << 12,
                                         .burst_bytes = 32,
                                         .ticks_per_ck = 2};
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_hbm_request block[8];
    int64_t earliest = 0;
    int count, ends[2];
    char path[64];
    bool written = size <= PIPE_BYTES && pipe(ends) == 0 && write(ends[1], data, size) == (ssize_t)size;
    assert(written);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    ts_hbm_requests *requests = ts_hbm_requests_open(&err, arena, path, &config);
    assert(requests);
    while (ts_hbm_requests_read(&err, requests, block, 8, &count) && count > 0) {
        for (int i = 0; i < count; i++) {
            assert(block[i].address >= 0 && block[i].address < INT64_C(32) << 40 &&
                   block[i].address % 64 == 0);
            assert(block[i].earliest >= earliest);
            earliest = block[i].earliest;
        }
    }
    assert(err.kind == TS_ERROR_NONE || (err.kind == TS_ERROR_INPUT && err.line > 0 && err.column > 0));
    ts_hbm_requests_close(requests);
    close(ends[0]);
    ts_arena_free(arena);
    return 0;
}
