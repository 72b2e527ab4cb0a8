/* Choices of layouts, and audits of modules. */
#include <limits.h>

#include "report/audit.h"
#include "report/choose.h"
#include "base/number.h"

#include "api_private.h"

struct ts_choice {
    ts_choose_request request;
    ts_choose_result result;
};

static bool read_shape(ts_error *err, ts_arena *arena, const ts_choice_request *from, ts_choose_request *to) {
    ts_source shape = api_source("shape", from->shape),
              uses = api_source("uses", from->uses ? from->uses : "dma:hbm>vmem");
    to->shape = ts_shape_parse(err, arena, &shape);
    return to->shape && ts_shape_layout(err, to->shape, "the tensor") &&
           ts_choose_read_uses(err, arena, &uses, to);
}

/* What would not be looked at is refused. */
static bool fits_together(ts_error *err, const ts_choice_request *from) {
    const char *why = NULL;
    if (!from->shape == !from->program)
        why = "a choice is of a shape or of a program's tensor";
    else if (from->shape && (from->tensor || from->define_count > 0))
        why = "a tensor and defines are of a program, the choice is of a shape";
    else if (from->program && from->uses)
        why = "uses are of a shape: a program says itself what it does";
    return !why || ts_error_set(err, TS_ERROR_USAGE, "%s", why);
}

static bool choose(ts_error *err, ts_arena *arena, const ts_choice_request *from, ts_choice *choice) {
    ts_choose_request *to = &choice->request;
    if (!api_need_defines(err, from->defines, from->define_count) || !fits_together(err, from)) return false;
    to->machine_name = from->machine ? from->machine : TS_MACHINE_DEFAULT;
    to->sets = from->changes;
    to->set_count = from->change_count;
    to->machine = ts_machine_change(err, arena, to->machine_name, to->sets, to->set_count);
    to->combine = from->combine;
    to->exhaustive = from->exhaustive;
    to->exact = from->exact;
    to->interrupt = api_interrupt(arena, "the choice", from->stopped, from->context);
    to->program = from->program;
    to->tensor = from->tensor;
    to->defines = from->defines;
    to->define_count = from->define_count;
    return to->machine && (from->program || read_shape(err, arena, from, to)) &&
           ts_choose(err, arena, to, &choice->result);
}

const ts_choice *ts_choose_layouts(ts_error *err, ts_arena *arena, const ts_choice_request *request) {
    API_C_LOCALE;
    ts_choice_request own;
    ts_choice *choice = TS_NEW(arena, ts_choice);
    bool good = api_read_request(err, "ts_choice_request", request, &own, sizeof own) &&
                choose(err, arena, &own, choice);
    return good ? choice : NULL;
}

static const ts_candidate *candidate(const ts_choice *choice, int number) {
    bool there = number >= 0 && number < choice->result.candidate_count;
    return there ? &choice->result.candidates[number] : NULL;
}

int ts_choice_count(const ts_choice *choice) { return choice->result.candidate_count; }
const char *ts_choice_layout(const ts_choice *choice, int number) {
    const ts_candidate *c = candidate(choice, number);
    return c ? c->text : NULL;
}
int64_t ts_choice_cycles(const ts_choice *choice, int number) {
    const ts_candidate *c = candidate(choice, number);
    return c && c->priced ? c->cycles : -1;
}
int64_t ts_choice_bytes(const ts_choice *choice, int number) {
    const ts_candidate *c = candidate(choice, number);
    return c ? c->bytes : -1;
}

API_TEXT(ts_choice_text, ts_choice, ts_report_choose(&self->result, &(ts_choose_view){INT_MAX}, &text))
API_TEXT(ts_choice_json, ts_choice, ts_report_choose_json(&self->result, &(ts_choose_view){INT_MAX}, &text))

/* ---- Audits ---- */

struct ts_module_audit {
    ts_audit *state;
    ts_audit_request request;
    ts_audit_result result;
};

static bool read_audit_request(ts_error *err, const ts_module_audit_request *from,
                               ts_module_audit_request *own) {
    if (!api_read_request(err, "ts_module_audit_request", from, own, sizeof *own)) return false;
    if (!own->machine) return ts_error_set(err, TS_ERROR_USAGE, "the request has no machine");
    return ts_error_need(err, "the module", own->text);
}

/* In parts, between which it may be stopped. */
static bool feed(ts_error *err, ts_module_audit *audit, const ts_module_audit_request *from) {
    enum { PART_BYTES = 1 << 18 };
    ts_interrupt *interrupt = audit->request.interrupt;
    for (size_t at = 0; at < from->length; at += PART_BYTES) {
        if (ts_interrupt_is_heard(interrupt)) return ts_interrupt_error(err, interrupt);
        ts_audit_feed(audit->state, from->text + at,
                      (size_t)ts_min(PART_BYTES, (int64_t)(from->length - at)));
    }
    return true;
}

ts_module_audit *ts_audit_module(ts_error *err, ts_arena *arena, const ts_module_audit_request *request) {
    API_C_LOCALE;
    ts_module_audit_request own;
    ts_module_audit *audit = TS_NEW(arena, ts_module_audit);
    if (!read_audit_request(err, request, &own)) return NULL;
    audit->request = (ts_audit_request){
        .machine = own.machine,
        .exact = own.exact,
        .interrupt = api_interrupt(arena, "the audit", own.stopped, own.context),
    };
    audit->state = ts_audit_new(arena, &audit->request);
    if (feed(err, audit, &own) && ts_audit_finish(err, audit->state, NULL, NULL, &audit->result) &&
        ts_audit_check_any(err, &audit->result, "the module"))
        return audit;
    ts_audit_close(audit);
    return NULL;
}

void ts_audit_close(ts_module_audit *audit) {
    if (audit) ts_audit_free(audit->state);
}

int64_t ts_audit_logical_bytes(const ts_module_audit *audit) { return audit->result.sum.logical_bytes; }
int64_t ts_audit_padded_bytes(const ts_module_audit *audit) { return audit->result.sum.padded_bytes; }
double ts_audit_microseconds(const ts_module_audit *audit) { return audit->result.microseconds; }
const char *ts_audit_fix(const ts_module_audit *audit, int number) {
    bool there = number >= 0 && number < audit->result.finding_count;
    return there ? audit->result.findings[number].fix : NULL;
}

API_TEXT(ts_audit_text, ts_module_audit,
         ts_report_audit(&self->result, &(ts_audit_view){"the module", INT_MAX}, &text))
API_TEXT(ts_audit_json, ts_module_audit,
         ts_report_audit_json(&self->result, &(ts_audit_view){"the module", INT_MAX}, &text))
