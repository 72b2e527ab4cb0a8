/* The named patterns of requests to HBM, those of the reference figures (tests/data/hbm_reference.csv). Two
 * buffers lie 256 MiB apart; matrices are 4096 x 4096, row after row, or tile after tile of (8,128). */
#include <string.h>

#include "study/hbm_requests.h"
#include "base/text.h"

enum { KIB = 1 << 10, MIB = 1 << 20, OTHER = 256 * MIB };

const ts_hbm_pattern ts_hbm_patterns[] = {
#define PATTERN(id, text, first, extents, ...)                                                               \
    {.name = id, .meaning = text, .leg_loop = first, extents, __VA_ARGS__},
#include "hbm_patterns.def"
#undef PATTERN
    {0},
};

typedef struct {
    ts_hbm_requests base;
    ts_hbm_pattern pattern;
    int64_t at[TS_HBM_NEST_LOOPS];
    int leg; /* -1: the end */
    uint64_t drawn;
} nest;

/* Output i of splitmix64 (Steele, Lea and Flood, 2014) from seed 0. */
static uint64_t splitmix64(uint64_t i) {
    uint64_t z = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static int64_t address_at(const nest *n) {
    int64_t address = n->pattern.legs[n->leg].base;
    for (int i = 0; i < TS_HBM_NEST_LOOPS; i++) address += n->at[i] * n->pattern.legs[n->leg].strides[i];
    return address;
}

/* Steps loop `i`, which has come to its end or not, and those around it down to `first`; false when all are
 * through. */
static bool carry(nest *n, int i, int first) {
    for (; i >= first; i--) {
        if (n->at[i] < n->pattern.extents[i]) return true;
        n->at[i] = 0;
        if (i > first) n->at[i - 1]++;
    }
    return false;
}

static void next_run(nest *n) {
    if (carry(n, TS_HBM_NEST_LOOPS - 1, n->pattern.leg_loop)) return;
    if (++n->leg < n->pattern.leg_count) return;
    n->leg = 0;
    if (n->pattern.leg_loop > 0) n->at[n->pattern.leg_loop - 1]++;
    if (n->pattern.leg_loop == 0 || !carry(n, n->pattern.leg_loop - 1, 0)) n->leg = -1;
}

static bool read_nest(ts_error *err, ts_hbm_requests *requests, ts_hbm_request *out, int most, int *count) {
    nest *n = (nest *)requests;
    int64_t *inner = &n->at[TS_HBM_NEST_LOOPS - 1];
    (void)err;
    for (*count = 0; *count < most && n->leg >= 0; next_run(n)) {
        bool is_write = n->pattern.legs[n->leg].is_write;
        int64_t address = address_at(n), stride = n->pattern.legs[n->leg].strides[TS_HBM_NEST_LOOPS - 1];
        for (; *inner < n->pattern.extents[TS_HBM_NEST_LOOPS - 1] && *count < most;
             ++*inner, address += stride) {
            if (n->pattern.random_lines > 0)
                address = (int64_t)(splitmix64(n->drawn++) % (uint64_t)n->pattern.random_lines) *
                          TS_HBM_REQUEST_BYTES;
            out[(*count)++] = (ts_hbm_request){address, 0, is_write};
        }
    }
    return true;
}

/* From a row of a bank to its next, when the fields below the row fill all address bits: under maps A and
 * B. */
static int64_t row_stride(const ts_hbm_config *c) {
    int64_t stacks = 1;
    while (stacks < c->stacks) stacks *= 2;
    return stacks * c->channels * c->pseudo_channels * c->sids * c->bank_groups * c->banks * c->row_bytes;
}

/* Are all its addresses below the limit? */
static bool is_below(const ts_hbm_pattern *pattern, int64_t limit) {
    for (int leg = 0; leg < pattern->leg_count; leg++) {
        int64_t left = limit - pattern->legs[leg].base - TS_HBM_REQUEST_BYTES;
        for (int i = 0; i < TS_HBM_NEST_LOOPS && left >= 0; i++) {
            int64_t steps = pattern->extents[i] - 1, stride = pattern->legs[leg].strides[i];
            left = stride > 0 && steps > left / stride ? -1 : left - steps * stride;
        }
        if (left < 0) return false;
    }
    return pattern->random_lines * TS_HBM_REQUEST_BYTES <= limit;
}

ts_hbm_requests *hbm_pattern_open(ts_error *err, ts_arena *arena, const ts_hbm_pattern *pattern,
                                  const ts_hbm_config *config) {
    nest *n = TS_NEW(arena, nest);
    *n = (nest){.base = {.read = read_nest}, .pattern = *pattern};
    if (pattern->row_stride) n->pattern.legs[0].strides[TS_HBM_NEST_LOOPS - 1] = row_stride(config);
    if (is_below(&n->pattern, hbm_address_limit(config))) return &n->base;
    ts_error_set(err, TS_ERROR_INPUT, "pattern %s has addresses beyond 0x%llx, where the machine's HBM ends",
                 pattern->name, (long long)hbm_address_limit(config));
    return NULL;
}

ts_hbm_requests *ts_hbm_requests_open(ts_error *err, ts_arena *arena, const char *what,
                                      const ts_hbm_config *config) {
    size_t count = 0;
    for (; ts_hbm_patterns[count].name; count++)
        if (strcmp(ts_hbm_patterns[count].name, what) == 0)
            return hbm_pattern_open(err, arena, &ts_hbm_patterns[count], config);
    if (strpbrk(what, "./") || strcmp(what, "-") == 0) return hbm_trace_open(err, arena, what, config);
    ts_error_set(err, TS_ERROR_INPUT,
                 "found '%.60s', expected a pattern (tilesim hbm --list names them), or the path of a trace "
                 "(with a '.' or '/')",
                 what);
    ts_error_hint(err, ts_text_nearest(what, &ts_hbm_patterns[0].name, count, sizeof ts_hbm_patterns[0]));
    return NULL;
}

bool ts_hbm_requests_read(ts_error *err, ts_hbm_requests *requests, ts_hbm_request *out, int most,
                          int *count) {
    return requests->read(err, requests, out, most, count);
}

void ts_hbm_requests_close(ts_hbm_requests *requests) {
    if (requests && requests->close) requests->close(requests);
}
