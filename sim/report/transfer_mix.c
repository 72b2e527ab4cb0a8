/* What mixing transfers costs. */
#include "report/transfer.h"

#include "transfer_private.h"

#include "base/number.h"
#include "report/machine.h"

static double us_of(const ts_transfer_mix *m, int64_t cycles) {
    return ts_machine_microseconds(m->machine, cycles);
}

static double gb_per_second(const ts_transfer_mix *m, int transfer, int64_t cycles) {
    return ts_machine_gb_per_second(m->machine, m->alone[transfer].cost.transfer.useful_bytes, cycles);
}

static void add_transfers(ts_text *out, const ts_transfer_mix *m) {
    for (int i = 0; i < m->count; i++) {
        const ts_transfer_study *s = &m->alone[i];
        const ts_transfer_end *ends[2] = {&s->src, &s->dst};
        for (int side = 0; side < 2; side++) {
            if (side == 0) ts_text_add(out, "%-13s %2d ", i == 0 ? "transfers" : "", i + 1);
            if (side == 1) ts_text_add(out, "%17sto ", "");
            ts_text_add(out, "%s  in %s at byte %s\n", ts_transfer_end_text(out->arena, ends[side]),
                        (side ? s->dst_memory : s->src_memory)->name,
                        ts_text_grouped(out->arena, ends[side]->at));
        }
    }
}

/* Marked where not every access was simulated. */
static const char *about(ts_arena *arena, bool estimated, double us) {
    return ts_text_format(arena, "%s%.3f", estimated ? "~" : "", us);
}

static void add_times(ts_text *out, const ts_transfer_mix *m) {
    ts_text_add(out, "\n%17s%12s%15s%12s%16s%16s\n", "", "alone us", "together us", "slowdown", "alone GB/s",
                "together GB/s");
    for (int i = 0; i < m->count; i++) {
        int64_t alone = m->alone[i].cost.cycles, together = m->results[i].completed_cycle;
        ts_text_add(out, "%16d %12s%15s%11.2fx%16.1f%16.1f\n", i + 1,
                    about(out->arena, m->alone[i].cost.estimated, us_of(m, alone)),
                    about(out->arena, m->mix.estimated, us_of(m, together)), ts_fraction(together, alone),
                    gb_per_second(m, i, alone), gb_per_second(m, i, together));
    }
}

void ts_report_transfer_mix(const ts_transfer_mix *m, ts_text *out) {
    ts_report_machine_line("machine       ", m->machine, out);
    add_transfers(out, m);
    add_times(out, m);
    ts_text_add(out, "\ntogether      %s us, %.2f times one after the other (%.3f us)\n",
                about(out->arena, m->mix.estimated, us_of(m, m->mix.cycles)),
                ts_fraction(m->mix.cycles, m->one_after_other), us_of(m, m->one_after_other));
    ts_text_add(out, "floor         %.3f us: the HBM at its peak, for the %s of all; %.2f times that\n",
                us_of(m, m->mix.memory_cycles), ts_text_counted(out->arena, m->mix.pin_bytes, "byte"),
                ts_fraction(m->mix.cycles, m->mix.memory_cycles));
    if (m->mix.pin_bytes < m->mix.moved_bytes)
        ts_text_add(out, "              and %s that its queues answer, without the pins\n",
                    ts_text_counted(out->arena, m->mix.moved_bytes - m->mix.pin_bytes, "byte"));
    ts_text_add(out, "engine        %.3f us, at its rates\n", us_of(m, m->mix.engine_cycles));
    if (m->mix.moved_bytes > 0) report_add_limiters(out, "HBM           ", &m->mix.hbm);
}

static void add_json_transfer(ts_json *json, const ts_transfer_mix *m, int i, ts_arena *arena) {
    const ts_transfer_study *s = &m->alone[i];
    ts_json_object(json, NULL);
    ts_json_text(json, "source", ts_transfer_end_text(arena, &s->src));
    ts_json_text(json, "destination", ts_transfer_end_text(arena, &s->dst));
    ts_json_int(json, "useful_bytes", s->cost.transfer.useful_bytes);
    ts_json_int(json, "alone_cycles", s->cost.cycles);
    ts_json_bool(json, "alone_estimated", s->cost.estimated);
    ts_json_int(json, "together_cycles", m->results[i].completed_cycle);
    ts_json_real(json, "slowdown", ts_fraction(m->results[i].completed_cycle, s->cost.cycles), 4);
    ts_json_close(json);
}

void ts_report_transfer_mix_json(const ts_transfer_mix *m, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "dma_mix");
    ts_report_machine_keys(m->machine, &json);
    ts_json_bool(&json, "estimated", m->mix.estimated);
    ts_json_int(&json, "cycles", m->mix.cycles);
    ts_json_real(&json, "microseconds", us_of(m, m->mix.cycles), 6);
    ts_json_int(&json, "one_after_other_cycles", m->one_after_other);
    ts_json_int(&json, "memory_cycles", m->mix.memory_cycles);
    ts_json_int(&json, "engine_cycles", m->mix.engine_cycles);
    ts_json_int(&json, "moved_bytes", m->mix.moved_bytes);
    ts_json_int(&json, "pin_bytes", m->mix.pin_bytes);
    report_add_limiters_json(&json, &m->mix.hbm);
    ts_json_array(&json, "transfers");
    for (int i = 0; i < m->count; i++) add_json_transfer(&json, m, i, out->arena);
    ts_json_close(&json);
    ts_json_end(&json);
}
