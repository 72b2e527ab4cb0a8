/* What a run of HBM requests took. */
#include "report/hbm.h"

#include "base/number.h"
#include "report/energy.h"
#include "report/machine.h"

static double tick_ghz(const ts_hbm_report *r) { return (double)ts_hbm_tick_khz(&r->machine->hbm) / 1e6; }

static double bandwidth_fraction(const ts_hbm_report *r) {
    const ts_hbm_config *c = &r->machine->hbm;
    double peak = (double)(ts_hbm_bus_count(c) * c->burst_bytes); /* in the time of a burst */
    double bursts = (double)r->run.bytes / peak * c->timing.n_bl * c->ticks_per_ck;
    return r->run.cycles > 0 ? bursts / (double)r->run.cycles : 0;
}

static void add_head(ts_text *out, const ts_hbm_report *r) {
    ts_text_add(out, "requests      %s: %s of %d bytes, %s\n", ts_text_one_line(out->arena, r->what),
                ts_text_grouped(out->arena, r->run.requests), TS_HBM_REQUEST_BYTES,
                ts_text_counted(out->arena, r->run.bytes, "byte"));
    ts_report_machine_line("machine       ", r->machine, out);
    ts_text_add(out, "address map   %s\n", r->machine->hbm.address_map);
    if (r->lookahead_bytes < 0)
        ts_text_add(out, "look-ahead    unlimited\n");
    else
        ts_text_add(out, "look-ahead    %s\n", ts_text_counted(out->arena, r->lookahead_bytes, "byte"));
}

static void add_time(ts_text *out, const ts_hbm_report *r) {
    double ns = (double)r->run.cycles / tick_ghz(r);
    ts_text_add(out, "time          %s of %.3f GHz, %.3f us, %.1f GB/s, %.2f %% of the peak\n",
                ts_text_counted(out->arena, r->run.cycles, "cycle"), tick_ghz(r), ns / 1000,
                ns > 0 ? (double)r->run.bytes / ns : 0, 100 * bandwidth_fraction(r));
}

static void add_counts(ts_text *out, const ts_hbm_stats *s) {
    ts_text_add(out, "rows          %.2f %% hits, %s, %s, %s\n", 100 * ts_hbm_row_hit_rate(s),
                ts_text_counted(out->arena, s->activations, "activation"),
                ts_text_counted(out->arena, s->precharges, "precharge"),
                ts_text_counted(out->arena, s->refreshes, "refresh"));
    ts_text_add(out, "reads         %s, mean latency %.2f cycles, longest %s\n",
                ts_text_counted(out->arena, s->reads, "burst"), ts_hbm_mean_read_latency(s),
                ts_text_grouped(out->arena, s->read_latency_max));
    ts_text_add(out, "writes        %s, %s to reads, %s to writes\n",
                ts_text_counted(out->arena, s->writes, "burst"),
                ts_text_counted(out->arena, s->write_to_read, "turnaround"),
                ts_text_grouped(out->arena, s->read_to_write));
    if (s->forwarded + s->coalesced == 0) return;
    ts_text_add(out, "              %s answered by queued writes, %s merged into them\n",
                ts_text_counted(out->arena, s->forwarded, "read"),
                ts_text_counted(out->arena, s->coalesced, "write"));
}

/* Of the time of all pseudo channels, the cycles of one on average: whole ones that add up to the run's. */
static void average_limiters(const ts_hbm_report *r, int64_t cycles[TS_HBM_LIMITER_COUNT]) {
    const ts_hbm_config *c = &r->machine->hbm;
    int64_t buses = ts_hbm_bus_count(c), sum = 0, before = 0;
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) {
        sum += r->run.stats.limiter_cycles[i];
        cycles[i] = sum / buses - before;
        before = sum / buses;
    }
}

static void add_limiters(ts_text *out, const ts_hbm_report *r) {
    int64_t cycles[TS_HBM_LIMITER_COUNT];
    average_limiters(r, cycles);
    ts_text_add(out, "limiters      what the time of a pseudo channel went to, on average\n");
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) {
        if (cycles[i] > 0)
            ts_text_add(out, "  %6.2f %%  %-11s %s\n", 100 * ts_fraction(cycles[i], r->run.cycles),
                        ts_hbm_limiter_name((ts_hbm_limiter)i), ts_hbm_limiter_meaning((ts_hbm_limiter)i));
    }
}

static void add_energy(ts_text *out, const ts_hbm_report *r) {
    double joules[TS_HBM_ENERGY_CAUSES], seconds = (double)r->run.cycles / (tick_ghz(r) * 1e9);
    ts_hbm_energy_joules(&r->machine->hbm, &r->run.stats, r->run.cycles, joules);
    double total = report_total_joules(joules);
    ts_text_add(out, "energy        %.3f uJ, %.3f W, %.2f pJ a byte\n", total * 1e6,
                seconds > 0 ? total / seconds : 0,
                r->run.bytes > 0 ? total * 1e12 / (double)r->run.bytes : 0);
    for (int i = 0; i < TS_HBM_ENERGY_CAUSES; i++) {
        if (joules[i] != 0)
            ts_text_add(out, "  %14.3f uJ  %-17s  %s\n", joules[i] * 1e6,
                        ts_hbm_energy_name((ts_hbm_energy_cause)i),
                        ts_hbm_energy_meaning((ts_hbm_energy_cause)i));
    }
}

void ts_report_hbm(const ts_hbm_report *report, ts_text *out) {
    add_head(out, report);
    add_time(out, report);
    add_counts(out, &report->run.stats);
    add_limiters(out, report);
    add_energy(out, report);
    ts_text_add(out, "host          %.3f s of CPU time, %.2f million requests a second\n",
                report->host_seconds,
                report->host_seconds > 0 ? (double)report->run.requests / report->host_seconds / 1e6 : 0);
}

static void add_json_time(ts_json *json, const ts_hbm_report *r) {
    const ts_hbm_stats *s = &r->run.stats;
    ts_json_int(json, "requests", r->run.requests);
    ts_json_int(json, "bytes", r->run.bytes);
    ts_json_int(json, "cycles", r->run.cycles);
    ts_json_int(json, "clock_khz", ts_hbm_tick_khz(&r->machine->hbm));
    ts_json_real(json, "gb_per_s",
                 r->run.cycles > 0 ? (double)r->run.bytes / (double)r->run.cycles * tick_ghz(r) : 0, 3);
    ts_json_real(json, "bandwidth_fraction", bandwidth_fraction(r), 6);
    ts_json_real(json, "row_hit_rate", ts_hbm_row_hit_rate(s), 6);
    ts_json_real(json, "mean_read_latency_cycles", ts_hbm_mean_read_latency(s), 4);
    ts_json_int(json, "max_read_latency_cycles", s->read_latency_max);
}

static void add_json_counts(ts_json *json, const ts_hbm_stats *s) {
    ts_json_int(json, "reads", s->reads);
    ts_json_int(json, "writes", s->writes);
    ts_json_int(json, "forwarded", s->forwarded);
    ts_json_int(json, "coalesced", s->coalesced);
    ts_json_int(json, "row_hits", s->row_hits);
    ts_json_int(json, "row_misses", s->row_misses);
    ts_json_int(json, "row_conflicts", s->row_conflicts);
    ts_json_int(json, "activations", s->activations);
    ts_json_int(json, "precharges", s->precharges);
    ts_json_int(json, "refreshes", s->refreshes);
    ts_json_int(json, "read_to_write", s->read_to_write);
    ts_json_int(json, "write_to_read", s->write_to_read);
}

static void add_json_limiters(ts_json *json, const ts_hbm_report *r) {
    int64_t cycles[TS_HBM_LIMITER_COUNT];
    average_limiters(r, cycles);
    ts_json_object(json, "limiters");
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++)
        ts_json_int(json, ts_hbm_limiter_name((ts_hbm_limiter)i), cycles[i]);
    ts_json_close(json);
}

void ts_report_hbm_json(const ts_hbm_report *r, ts_text *out) {
    const ts_hbm_stats *s = &r->run.stats;
    ts_json json;
    ts_json_begin(&json, out, "hbm");
    ts_report_machine_keys(r->machine, &json);
    ts_json_text(&json, "requests_from", r->what);
    ts_json_text(&json, "address_map", r->machine->hbm.address_map);
    ts_json_count(&json, "lookahead_bytes", r->lookahead_bytes);
    add_json_time(&json, r);
    add_json_counts(&json, s);
    add_json_limiters(&json, r);
    double joules[TS_HBM_ENERGY_CAUSES];
    ts_hbm_energy_joules(&r->machine->hbm, s, r->run.cycles, joules);
    report_hbm_energy_json(&json, "energy_joules", joules);
    ts_json_real(&json, "host_seconds", r->host_seconds, 6);
    ts_json_end(&json);
}

void ts_report_hbm_patterns(ts_text *out) {
    for (const ts_hbm_pattern *p = ts_hbm_patterns; p->name; p++)
        ts_text_add(out, "%-14s  %s\n", p->name, p->meaning);
}

void ts_report_hbm_patterns_json(ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "hbm");
    ts_json_array(&json, "patterns");
    for (const ts_hbm_pattern *p = ts_hbm_patterns; p->name; p++) {
        ts_json_object(&json, NULL);
        ts_json_text(&json, "name", p->name);
        ts_json_text(&json, "meaning", p->meaning);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_end(&json);
}
