/* The counts of an HBM's statistics, as a table; and what follows from them. */
#include "dram/hbm.h"

#include "base/number.h"

const ts_member ts_hbm_stats_members[] = {
#define STAT(name) TS_MEMBER(ts_hbm_stats, name),
#include "hbm_stats.def"
#undef STAT
    TS_MEMBER(ts_hbm_stats, reads),          TS_MEMBER(ts_hbm_stats, writes),
    TS_MEMBER(ts_hbm_stats, row_hits),       TS_MEMBER(ts_hbm_stats, open_cycles),
    TS_MEMBER(ts_hbm_stats, limiter_cycles), {0, 0},
};

/* And two that are not counts: the largest latency, the last cycle. */
enum {
    COUNTS = 4 + TS_HBM_LIMITER_COUNT
#define STAT(name) +1
#include "hbm_stats.def"
#undef STAT
};
_Static_assert(sizeof(ts_hbm_stats) == (COUNTS + 2) * sizeof(int64_t), "every member is in the table");

void ts_hbm_stats_add(ts_hbm_stats *sum, const ts_hbm_stats *stats, int64_t times) {
    ts_members_add(sum, stats, ts_hbm_stats_members, times, 1);
    sum->read_latency_max = ts_max(sum->read_latency_max, stats->read_latency_max);
}

int64_t ts_hbm_on_pins(const ts_hbm_stats *stats, int64_t moved) {
    int64_t bursts = stats->reads + stats->writes, answered = stats->forwarded + stats->coalesced;
    return bursts > 0 ? moved - (int64_t)((__int128)moved * answered / bursts) : moved;
}
