/* Sizes that a compiler reported beside those that are computed. */
#include <stdio.h>
#include <string.h>

#include "audit_state.h"

enum { REPORTS = 1 << 14 };

static ts_audit_report *new_report(ts_audit *a) {
    if (a->report_count == REPORTS) return NULL;
    return TS_APPEND(a->arena, a->reports, a->report_count);
}

/* The rule's order and tiles, or another order that explains the size; NULL: it lies in rows, for that does. */
static const char *explained(ts_audit *a, const shape_record *record, const char *reported) {
    if (!reported[0] || audit_says(reported, record->ruled.padded_bytes)) return record->rule_text;
    if (audit_says(reported, record->linear.padded_bytes)) return NULL;
    const char *other = audit_find_reported(a->texts, a->request, record->text, reported);
    return other ? other : record->rule_text;
}

int32_t audit_with_tiles(ts_audit *a, int64_t line, int32_t shape, const char *reported) {
    const shape_record *record = &a->shapes[shape];
    if (record->is_tuple || !record->rule_text || a->request->untiled == TS_AUDIT_UNTILED_LINEAR)
        return shape;
    const char *text = explained(a, record, reported);
    if (!text) {
        a->shapes[shape].ruled = record->linear; /* the text says so, for all that are alike */
        a->shapes[shape].rule_text = NULL;
        return shape;
    }
    bool tiles = a->any_tiles; /* these were not printed */
    int32_t tiled = audit_intern(a, line, (ts_span){text, strlen(text)});
    a->any_tiles = tiles;
    if (tiled == AUDIT_NONE) return shape;
    a->shapes[tiled].linear.assumed = a->shapes[tiled].ruled.assumed = true;
    return tiled;
}

void audit_compare(ts_audit *a, int64_t line, int32_t shape, const char *reported, const char *expansion) {
    ts_audit_report *r = new_report(a);
    if (!r) return;
    const shape_record *record = &a->shapes[shape];
    const ts_audit_shape *array = &record->linear;
    r->line = line;
    r->shape = shape;
    r->is_tuple = record->is_tuple;
    snprintf(r->reported, sizeof r->reported, "%s", reported);
    snprintf(r->reported_expansion, sizeof r->reported_expansion, "%s", expansion);
    if (r->is_tuple) return;
    audit_print_as(reported, array->padded_bytes, r->computed);
    if (array->padded_bytes > array->logical_bytes && array->logical_bytes > 0)
        snprintf(r->computed_expansion, sizeof r->computed_expansion, "%.1fx",
                 (double)array->padded_bytes / (double)array->logical_bytes);
    r->agrees = strcmp(r->reported, r->computed) == 0 &&
                (!expansion[0] || strcmp(expansion, r->computed_expansion) == 0);
}

int32_t audit_add_reported(ts_audit *a, int64_t line, ts_span name, int32_t shape, const char *reported) {
    if (shape == AUDIT_NONE) return AUDIT_NONE;
    shape = audit_with_tiles(a, line, shape, reported);
    if (!a->shapes[shape].is_tuple) audit_add_buffer(a, line, name, TS_HLO_OP_UNKNOWN, shape);
    audit_compare(a, line, shape, reported, "");
    return shape;
}
