/* Relayouts. */
#include "report/relayout.h"

#include "api_private.h"

struct ts_relayout_answer {
    ts_relayout_price_request request;
    ts_relayout_price price;
};

const ts_relayout_answer *ts_relayout_find(ts_error *err, ts_arena *arena, const ts_relayout_query *query) {
    API_C_LOCALE;
    ts_relayout_query own;
    ts_relayout_answer *answer = TS_NEW(arena, ts_relayout_answer);
    if (!api_read_request(err, "ts_relayout_query", query, &own, sizeof own)) return NULL;
    if (own.machine == NULL || own.source == NULL || own.destination == NULL) {
        ts_error_set(err, TS_ERROR_USAGE, "ts_relayout_query needs a machine, a source and a destination");
        return NULL;
    }
    ts_source from = api_source("source", own.source), to = api_source("destination", own.destination);
    ts_relayout_price_request *request = &answer->request;
    request->machine = own.machine;
    bool good = (request->from = ts_shape_parse(err, arena, &from)) != NULL &&
                (request->to = ts_shape_parse(err, arena, &to)) != NULL &&
                ts_relayout_price_find(err, arena, request, &answer->price);
    return good ? answer : NULL;
}

int64_t ts_relayout_cycles(const ts_relayout_answer *answer) {
    return answer->price.unpriced != NULL ? -1 : answer->price.cycles;
}

int64_t ts_relayout_op_total(const ts_relayout_answer *answer) { return answer->price.plan.op_count; }

API_TEXT(ts_relayout_text, ts_relayout_answer, ts_report_relayout(&self->request, &self->price, &text))

API_TEXT(ts_relayout_json, ts_relayout_answer, ts_report_relayout_json(&self->request, &self->price, &text))

const char *ts_relayout_svg(ts_arena *arena, const ts_relayout_answer *answer) {
    API_C_LOCALE;
    ts_error err = {0};
    ts_text out = ts_text_begin(arena);
    return ts_report_relayout_svg(&err, &answer->price, &out) ? out.bytes : NULL;
}
