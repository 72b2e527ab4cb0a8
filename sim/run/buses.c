/* Bursts of HBM as intervals in which a bus is busy, and as a rate. */
#include "recorder.h"

#include "base/number.h"

void buses_init(buses *b, ts_arena *arena, row_set *rows, const track_map *tracks) {
    const ts_machine *machine = rows->timeline->machine;
    *b = (buses){.rows = rows,
                 .tracks = tracks,
                 .core_khz = machine->chip.sustained_khz,
                 .tick_khz = ts_hbm_tick_khz(&machine->hbm),
                 .burst_ticks = ts_hbm_burst_ticks(&machine->hbm),
                 .burst_bytes = machine->hbm.burst_bytes,
                 .open = TS_NEW_ARRAY(arena, bus_interval, tracks->buses),
                 .bins = TS_NEW_ARRAY(arena, bus_bin, BUSES_BINS),
                 .since = -1,
                 .is_zero = true};
}

/* ---- Intervals ---- */

static void close_interval(buses *b, int bus) {
    bus_interval *open = &b->open[bus];
    int64_t bursts = open->bursts[0] + open->bursts[1];
    if (bursts == 0) return;
    rows_add(b->rows,
             &(ts_trace_event){.begin = open->begin,
                               .cycles = open->end - open->begin,
                               .value = {open->bursts[0], open->bursts[1], bursts * b->burst_ticks},
                               .kind = TS_TIMELINE_BUS,
                               .track = b->tracks->bus_first + bus},
             0);
    *open = (bus_interval){0};
}

/* A cycle that is taken in part is taken. */
static void extend(buses *b, const ts_hbm_burst *burst, int64_t begin) {
    bus_interval *open = &b->open[burst->bus];
    __int128 end = (__int128)(burst->tick + b->burst_ticks) * b->core_khz;
    if (begin > open->end) close_interval(b, burst->bus);
    if (open->bursts[0] + open->bursts[1] == 0) open->begin = begin;
    open->end = (int64_t)((end + b->tick_khz - 1) / b->tick_khz);
    open->bursts[burst->is_write]++;
}

/* ---- The rate ---- */

static void put_rate(buses *b, int64_t begin, int64_t cycles, const bus_bin *bin) {
    bool zero = bin->bytes[0] + bin->bytes[1] == 0;
    if (zero && b->is_zero) return;
    b->is_zero = zero;
    rows_put(b->rows, &(ts_trace_event){.begin = begin,
                                        .cycles = cycles,
                                        .value = {bin->bytes[0], bin->bytes[1]},
                                        .kind = TS_TIMELINE_COUNTER,
                                        .track = b->tracks->bandwidth});
}

/* What was not drawn is drawn as its mean. */
static void put_rest(buses *b, int64_t until) {
    if (b->since >= 0) put_rate(b, b->since, until - b->since, &b->rest);
    b->since = -1;
    b->rest = (bus_bin){0};
}

static void close_bin(buses *b) {
    const ts_timeline *t = b->rows->timeline;
    bus_bin *bin = &b->bins[b->first % BUSES_BINS];
    int64_t begin = b->first++ * BUSES_BIN;
    if (rows_draws(b->rows, begin)) {
        put_rest(b, begin);
        put_rate(b, begin, BUSES_BIN, bin);
    } else if (begin >= t->from && begin < t->until) {
        if (b->since < 0) b->since = begin;
        b->rest.bytes[0] += bin->bytes[0];
        b->rest.bytes[1] += bin->bytes[1];
    }
    b->held -= bin->bytes[0] + bin->bytes[1];
    *bin = (bus_bin){0};
}

/* Closes what is `BUSES_BINS` old; of a long time without bursts only its beginning. */
static void move_on(buses *b, int64_t last) {
    int64_t first = last - BUSES_BINS + 1;
    while (b->first < first && b->held > 0) close_bin(b);
    if (b->first >= first) return;
    close_bin(b);
    b->first = ts_max(first, b->first);
}

/* What comes too late counts towards the oldest. */
static void count(buses *b, const ts_hbm_burst *burst, int64_t cycle) {
    int64_t at = cycle / BUSES_BIN, bytes = (int64_t)b->burst_bytes * burst->share;
    if (at >= b->first + BUSES_BINS) move_on(b, at);
    if (at < b->first) at = b->first;
    b->bins[at % BUSES_BINS].bytes[burst->is_write] += bytes;
    b->held += bytes;
}

/* ---- Both ---- */

void buses_burst(buses *b, const ts_hbm_burst *burst) {
    ts_timeline *t = b->rows->timeline;
    int64_t begin = (int64_t)((__int128)burst->tick * b->core_khz / b->tick_khz);
    t->share = burst->share;
    count(b, burst, begin);
    if (begin >= t->from && begin < t->until) extend(b, burst, begin);
}

void buses_end(buses *b) {
    for (int i = 0; i < b->tracks->buses; i++) close_interval(b, i);
    while (b->held > 0) close_bin(b);
    int64_t end = b->first * BUSES_BIN, until = b->rows->timeline->until;
    put_rest(b, end <= until ? end : ts_ceil_div(until, BUSES_BIN) * BUSES_BIN);
    if (end < until) put_rate(b, end, BUSES_BIN, &(bus_bin){0});
}
