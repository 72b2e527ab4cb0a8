/* An audit as JSON. */
#include "padding.h"
#include "report/audit.h"
#include "report/machine.h"

static void add_sum(ts_json *json, const char *key, const ts_audit_sum *sum, int space) {
    ts_json_object(json, key);
    if (!key) ts_json_int(json, "space", space);
    ts_json_int(json, "buffers", sum->buffers);
    ts_json_int(json, "logical_bytes", sum->logical_bytes);
    ts_json_int(json, "padded_bytes", sum->padded_bytes);
    report_padding_json(json, sum->logical_bytes, sum->padded_bytes);
    ts_json_int(json, "widened_bytes", sum->widened_bytes);
    ts_json_close(json);
}

static void add_sums(ts_json *json, const ts_audit_result *r) {
    add_sum(json, "all", &r->sum, 0);
    ts_json_array(json, "spaces");
    for (int i = 0; i < TS_AUDIT_SPACES; i++)
        if (r->spaces[i].buffers > 0) add_sum(json, NULL, &r->spaces[i], i < TS_AUDIT_SPACES - 1 ? i : -1);
    ts_json_close(json);
}

static void add_classes(ts_json *json, const ts_audit_result *r, ts_arena *arena) {
    ts_json_array(json, "buffers");
    for (int64_t i = 0; i < r->class_count; i++) {
        const ts_audit_class *class = &r->classes[i];
        const ts_audit_shape *shape = &r->shapes[class->shape];
        ts_json_object(json, NULL);
        ts_json_text(json, "shape", shape->text);
        ts_json_int(json, "count", class->count);
        ts_json_int(json, "logical_bytes", shape->logical_bytes);
        ts_json_int(json, "padded_bytes", shape->padded_bytes);
        report_padding_json(json, shape->logical_bytes, shape->padded_bytes);
        ts_json_int(json, "widened_bytes", shape->widened_bytes);
        ts_json_int(json, "space", class->first.space);
        ts_json_bool(json, "tiles_assumed", shape->assumed);
        ts_json_text(json, "cause", ts_report_audit_cause(arena, shape));
        ts_json_text(json, "first", class->first.name);
        ts_json_text(json, "opcode",
                     class->first.opcode < TS_HLO_OPCODES ? ts_hlo_opcode_name(class->first.opcode) : NULL);
        ts_json_int(json, "line", class->first.line);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_price(ts_json *json, const ts_audit_group *group) {
    if (!group->priced) {
        ts_json_text(json, "not_priced", group->why_not);
        return;
    }
    ts_json_int(json, "cycles", group->cycles);
    ts_json_real(json, "microseconds", group->microseconds, 6);
    ts_json_bool(json, "at_most", group->first.level == TS_AUDIT_LEVEL_FUSED);
    ts_json_text(json, "by", group->by);
    ts_json_bool(json, "scaled", group->scaled);
}

static void add_groups(ts_json *json, const ts_audit_result *r, ts_arena *arena) {
    ts_json_array(json, "moves");
    for (int64_t i = 0; i < r->group_count; i++) {
        const ts_audit_group *group = &r->groups[i];
        const ts_audit_move *move = &group->first;
        ts_json_object(json, NULL);
        ts_json_text(json, "opcode", ts_hlo_opcode_name(move->opcode));
        ts_json_text(json, "level", ts_audit_level_text(group->first.level));
        ts_json_text(json, "source", ts_report_audit_from(r, move));
        ts_json_text(json, "shape", r->shapes[move->dst].text);
        ts_json_text(json, "changes", ts_report_audit_changes(arena, move->changes));
        ts_json_int(json, "count", group->first.count);
        ts_json_int(json, "runs", group->first.runs);
        ts_json_bool(json, "trips_unknown", group->first.trips_unknown);
        ts_json_bool(json, "in_branch", group->first.in_branch);
        ts_json_int(json, "from_space", move->from);
        ts_json_int(json, "to_space", move->to);
        ts_json_int(json, "read_bytes", move->read_bytes);
        ts_json_int(json, "written_bytes", move->written_bytes);
        add_price(json, group);
        ts_json_text(json, "first", move->name);
        ts_json_int(json, "line", move->line);
        ts_json_close(json);
    }
    ts_json_close(json);
}

/* null: the text does not say. */
static void add_source(ts_json *json, const ts_audit_result *r, const ts_audit_source *source) {
    static const char *const of[] = {"own", "maker", "reader"};
    ts_hlo_location location = ts_hlo_locations_get(r->locations, source->location);
    if (source->location < 0 && !source->op[0]) {
        ts_json_text(json, "source", NULL);
        return;
    }
    ts_json_object(json, "source");
    ts_json_text(json, "op", source->op);
    ts_json_text(json, "file", source->location >= 0 ? location.file : NULL);
    ts_json_text(json, "function", source->location >= 0 ? location.function : NULL);
    ts_json_int(json, "line", location.line);
    ts_json_text(json, "of", of[source->of]);
    ts_json_close(json);
}

static void add_copies(ts_json *json, const ts_audit_result *r) {
    ts_json_bool(json, "copies_predicted", r->copies_predicted);
    ts_json_array(json, "copies");
    for (int i = 0; i < r->copy_count; i++) {
        const ts_audit_copy *copy = &r->copies[i];
        ts_json_object(json, NULL);
        ts_json_text(json, "value", copy->name);
        ts_json_text(json, "reader", copy->reader[0] ? copy->reader : NULL);
        ts_json_int(json, "line", copy->line);
        ts_json_text(json, "from", copy->from);
        ts_json_text(json, "to", copy->to);
        ts_json_int(json, "bytes", copy->bytes);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_findings(ts_json *json, const ts_audit_result *r) {
    ts_json_array(json, "findings");
    for (int i = 0; i < r->finding_count; i++) {
        const ts_audit_finding *f = &r->findings[i];
        ts_json_object(json, NULL);
        ts_json_text(json, "what", f->what);
        ts_json_text(json, "fix", f->fix);
        ts_json_text(json, "first",
                     f->is_move ? r->groups[f->index].first.name : r->classes[f->index].first.name);
        ts_json_int(json, "line",
                    f->is_move ? r->groups[f->index].first.line : r->classes[f->index].first.line);
        ts_json_real(json, "microseconds_saved", f->microseconds_saved, 6);
        ts_json_bool(json, "at_most", f->at_most);
        ts_json_bool(json, "each_read", !f->is_move);
        ts_json_int(json, "bytes_saved", f->bytes_saved);
        ts_json_text(json, "layout", f->layout);
        ts_json_int(json, "space",
                    f->is_move ? r->groups[f->index].first.to : r->classes[f->index].first.space);
        add_source(json, r, ts_report_audit_source_of(r, f));
        ts_json_close(json);
    }
    ts_json_close(json);
    ts_json_array(json, "findings_by_bytes");
    for (int i = 0; i < r->finding_count; i++) ts_json_int(json, NULL, r->by_bytes[i]);
    ts_json_close(json);
}

static void add_memory(ts_json *json, const ts_audit_result *r) {
    ts_json_array(json, "memory");
    for (int i = 0; i < r->figure_count; i++) {
        const ts_audit_figure *f = &r->figures[i];
        ts_json_object(json, NULL);
        ts_json_int(json, "line", f->line);
        ts_json_text(json, "name", f->name);
        ts_json_int(json, "space", f->space);
        ts_json_text(json, "reported", f->text);
        ts_json_int(json, "bytes", f->bytes);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_allocations(ts_json *json, const ts_audit_result *r) {
    ts_json_array(json, "allocations");
    for (int i = 0; i < r->allocation_count; i++) {
        const ts_audit_allocation *one = &r->allocations[i];
        const ts_audit_shape *shape = one->shape >= 0 ? &r->shapes[one->shape] : NULL;
        ts_json_object(json, NULL);
        ts_json_int(json, "line", one->line);
        ts_json_text(json, "name", one->name);
        ts_json_int(json, "index", one->index);
        ts_json_int(json, "space", one->space);
        ts_json_text(json, "reported", one->text);
        ts_json_int(json, "bytes", one->bytes);
        ts_json_text(json, "shape", shape ? shape->text : NULL);
        ts_json_int(json, "logical_bytes", shape ? shape->logical_bytes : 0);
        ts_json_int(json, "values", one->values);
        ts_json_bool(json, "at_peak", one->at_peak);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_reports(ts_json *json, const ts_audit_result *r) {
    ts_json_array(json, "reported");
    for (int i = 0; i < r->report_count; i++) {
        const ts_audit_report *report = &r->reports[i];
        ts_json_object(json, NULL);
        ts_json_int(json, "line", report->line);
        ts_json_text(json, "shape", report->is_tuple ? NULL : r->shapes[report->shape].text);
        ts_json_text(json, "reported", report->reported);
        ts_json_text(json, "computed", report->is_tuple ? NULL : report->computed);
        ts_json_text(json, "expansion", report->is_tuple ? NULL : report->computed_expansion);
        ts_json_bool(json, "equal", report->agrees);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_kinds(ts_json *json, const ts_audit_result *r) {
    ts_json_array(json, "not_understood");
    for (int i = 0; i < r->kind_count; i++) {
        ts_json_object(json, NULL);
        ts_json_text(json, "kind", r->kinds[i].kind);
        ts_json_int(json, "count", r->kinds[i].count);
        ts_json_int(json, "line", r->kinds[i].first_line);
        ts_json_text(json, "excerpt", r->kinds[i].excerpt);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_module(ts_json *json, const ts_audit_result *r) {
    ts_json_text(json, "module", r->module);
    ts_json_int(json, "bytes", r->text->bytes);
    ts_json_int(json, "lines", r->text->lines);
    ts_json_int(json, "instructions", r->text->instructions);
    ts_json_int(json, "computations", r->text->computations);
    ts_json_bool(json, "entry", r->has_entry);
    ts_json_bool(json, "tiles_assumed", r->assumed_tiles);
}

static void add_moves(ts_json *json, const ts_audit_result *r) {
    ts_json_real(json, "microseconds", r->microseconds, 6);
    ts_json_real(json, "fused_microseconds_at_most", r->fused_microseconds, 6);
    ts_json_int(json, "bitcasts", r->bitcasts);
    ts_json_int(json, "free_moves", r->free_moves);
    ts_json_int(json, "collectives", r->collectives);
    ts_json_int(json, "collective_bytes", r->collective_bytes);
    ts_json_int(json, "collectives_priced", r->collectives_priced);
    ts_json_real(json, "collective_microseconds", r->collective_microseconds, 6);
}

void ts_report_audit_json(const ts_audit_result *r, const ts_audit_view *view, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "audit");
    ts_report_machine_keys(r->request->machine, &json);
    ts_json_bool(&json, "estimated", !r->request->exact);
    ts_json_text(&json, "input", view->input);
    add_module(&json, r);
    add_sums(&json, r);
    add_moves(&json, r);
    add_classes(&json, r, out->arena);
    add_groups(&json, r, out->arena);
    add_copies(&json, r);
    add_findings(&json, r);
    add_reports(&json, r);
    add_memory(&json, r);
    add_allocations(&json, r);
    add_kinds(&json, r);
    ts_json_end(&json);
}
