/* Writes that come over links and are not simulated. */
#include "passed.h"

#include <string.h>

#include "base/clock.h"
#include "base/number.h"

enum { WINDOW = 1024 }; /* cycles */
enum { SAMPLES = 16 };  /* of which averages are made */
enum { LITTLE = 2 };    /* one part in so many of the HBM's peak */

bool passed_may(passed *p, const ts_dma_machine *machine, const ts_dma_chunk *chunk) {
    if (chunk->cycle - p->since >= WINDOW) {
        p->since = chunk->cycle;
        p->bytes = 0;
    }
    p->bytes += chunk->bytes;
    return p->samples == SAMPLES && LITTLE * ts_dma_peak_cycles(machine, p->bytes) <= WINDOW;
}

/* What happens without requests is counted when the memory is simulated past that time. */
static void leave_out_time(ts_hbm_stats *stats) {
    stats->refreshes = 0;
    memset(stats->limiter_cycles, 0, sizeof stats->limiter_cycles);
}

bool passed_samples(const passed *p) { return p->samples < SAMPLES; }

void passed_simulate(passed *p, const ts_hbm_stats *now, bool alone, const ts_dma_chunk *chunk) {
    if (p->is_alone && alone) {
        ts_hbm_stats_add(&p->stats, now, 1);
        ts_hbm_stats_add(&p->stats, &p->before, -1);
        p->simulated.bytes += p->last;
        p->simulated.cycles += chunk->cycle - p->cycle;
        p->samples++;
    }
    p->before = *now;
    p->last = chunk->bytes;
    p->cycle = chunk->cycle;
    p->is_alone = alone;
}

void passed_over(passed *p, const ts_dma_chunk *chunk) {
    p->passed.bytes += chunk->bytes;
    p->passed.cycles += ts_min(chunk->cycle - p->cycle, WINDOW);
    p->cycle = chunk->cycle;
}

/* Rows stay open as long as nobody needs their banks; some of that time was simulated past as well. */
void passed_count(const passed *p, const ts_dma_machine *machine, ts_hbm_stats *stats) {
    if (p->passed.bytes == 0) return;
    ts_hbm_stats of_bytes = p->stats, of_cycles = {.open_cycles = p->stats.open_cycles};
    leave_out_time(&of_bytes);
    of_bytes.open_cycles = 0;
    ts_members_add(stats, &of_bytes, ts_hbm_stats_members, p->passed.bytes, p->simulated.bytes);
    if (p->simulated.cycles > 0)
        ts_members_add(stats, &of_cycles, ts_hbm_stats_members, p->passed.cycles, p->simulated.cycles);
    const ts_hbm_config *hbm = machine->hbm;
    int64_t end = ts_clock_convert(p->cycle, machine->core_khz, ts_hbm_tick_khz(hbm));
    int64_t all = ts_max(end, stats->end_cycle) * ts_hbm_bus_count(hbm);
    stats->open_cycles = ts_min(stats->open_cycles, all);
}
