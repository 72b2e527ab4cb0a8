/* What patterns and traces have in common. */
#ifndef TILESIM_STUDY_HBM_REQUESTS_H
#define TILESIM_STUDY_HBM_REQUESTS_H

#include "study/hbm_run.h"

struct ts_hbm_requests {
    bool (*read)(ts_error *err, ts_hbm_requests *requests, ts_hbm_request *out, int most, int *count);
    void (*close)(ts_hbm_requests *requests); /* or NULL */
    int64_t limit;                            /* addresses are below it */
};

/* Addresses that the HBM has, and that a map has tables for. */
int64_t hbm_address_limit(const ts_hbm_config *config);

ts_hbm_requests *hbm_pattern_open(ts_error *err, ts_arena *arena, const ts_hbm_pattern *pattern,
                                  const ts_hbm_config *config);
ts_hbm_requests *hbm_trace_open(ts_error *err, ts_arena *arena, const char *path,
                                const ts_hbm_config *config);

#endif
