/* A result of an audit made by hand, for tests of what is written of it: every kind of entry, with small figures. */
#ifndef TESTS_SUPPORT_SMALL_AUDIT_H
#define TESTS_SUPPORT_SMALL_AUDIT_H

#include "audit/audit.h"

/* Writable, and anew with each call: shapes, classes, groups, findings and so on, two or three of each. */
typedef struct {
    ts_audit_request request;
    ts_machine machine;
    ts_hlo_counts text;
    ts_audit_shape shapes[6];
    ts_audit_buffer buffers[2];
    ts_audit_class classes[3];
    ts_audit_group groups[5];
    ts_audit_finding findings[3];
    int by_bytes[3];
    ts_audit_kind kinds[2];
    ts_audit_report reports[3];
    ts_audit_figure figures[2];
    ts_audit_allocation allocations[3];
    ts_audit_copy copies[2];
    ts_audit_result result;
} small_audit;

small_audit *small_audit_new(ts_arena *arena);
/* A result with a machine, a text of no instructions, and nothing else. */
small_audit *small_audit_empty(ts_arena *arena);

#endif
