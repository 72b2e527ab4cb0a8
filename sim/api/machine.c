/* Machines, and the price of a transfer on one. */
#include <string.h>

#include "machine/embedded.h"
#include "report/machine.h"
#include "study/layouts.h"
#include "report/transfer.h"

#include "api_private.h"

const ts_machine *ts_machine_change(ts_error *err, ts_arena *arena, const char *name,
                                    const char *const *changes, int count) {
    API_C_LOCALE;
    return api_need_list(err, "change", changes, count)
               ? ts_machine_load_with(err, arena, name, "changes", changes, count)
               : NULL;
}

const char *ts_machine_name(int number) {
    bool there = number >= 0 && (size_t)number < ts_embedded_machine_count;
    return there ? ts_embedded_machines[number].name : NULL;
}

const char *ts_machine_title(const ts_machine *machine) { return machine->title; }
uint64_t ts_machine_hash(const ts_machine *machine) { return machine->hash; }

API_TEXT(ts_machine_text, ts_machine, ts_report_machine(self, &text))
API_TEXT(ts_machine_json, ts_machine, ts_report_machine_json(self, &text))

/* ---- Prices ---- */

struct ts_price {
    ts_transfer_study study;
    ts_transfer_others others[2];
    bool has_others;
};

static bool read_end(ts_error *err, ts_arena *arena, const char *name, const char *text,
                     ts_transfer_end *end) {
    ts_source *source = TS_NEW(arena, ts_source);
    if (!text) return ts_error_set(err, TS_ERROR_USAGE, "the request has no %s", name);
    *source = api_source(name, ts_arena_copy_text(arena, text, strlen(text)));
    return ts_transfer_end_parse(err, arena, source, end);
}

static bool price_of(ts_error *err, ts_arena *arena, const ts_price_request *r, ts_price *price) {
    ts_transfer_end ends[2] = {0};
    if (!r->machine) return ts_error_set(err, TS_ERROR_USAGE, "the request has no machine");
    if (!read_end(err, arena, "source", r->source, &ends[0]) ||
        !read_end(err, arena, "destination", r->destination, &ends[1]))
        return false;
    ends[0].at = ends[1].at = TS_TRANSFER_ANYWHERE;
    price->has_others = r->others;
    const ts_transfer_request request = {r->machine, ts_prices_new(arena), ends[0], ends[1], r->exact, 0};
    ts_prices_set_interrupt(request.prices, api_interrupt(arena, "the price", r->stopped, r->context));
    const ts_transfer_others_request all = {.cheapest_only = false, .threads = 1};
    return r->others ? ts_transfer_price_with_others(err, arena, &request, &all, &price->study, price->others)
                     : ts_transfer_price(err, arena, &request, &price->study);
}

const ts_price *ts_price_transfer(ts_error *err, ts_arena *arena, const ts_price_request *request) {
    API_C_LOCALE;
    ts_price_request own;
    ts_price *price = TS_NEW(arena, ts_price);
    bool good = api_read_request(err, "ts_price_request", request, &own, sizeof own) &&
                price_of(err, arena, &own, price);
    return good ? price : NULL;
}

int64_t ts_price_cycles(const ts_price *price) { return price->study.cost.cycles; }
double ts_price_microseconds(const ts_price *price) {
    return ts_machine_microseconds(price->study.machine, price->study.cost.cycles);
}
int64_t ts_price_useful_bytes(const ts_price *price) { return price->study.cost.transfer.useful_bytes; }
int64_t ts_price_moved_bytes(const ts_price *price) {
    return price->study.cost.transfer.src_bytes + price->study.cost.transfer.dst_bytes;
}
const char *ts_price_limiter(const ts_price *price) { return price->study.cost.limiter; }
int ts_price_is_exact(const ts_price *price) { return !price->study.cost.estimated; }

API_TEXT(ts_price_text, ts_price,
         ts_report_transfer(&self->study, self->has_others ? self->others : NULL, TS_TRANSFER_COST, &text))
API_TEXT(ts_price_json, ts_price,
         ts_report_transfer_json(&self->study, self->has_others ? self->others : NULL, TS_TRANSFER_COST,
                                 &text))
