/* What collectives cost on a mesh: the groups that their text states are kept, each text once, and priced
 * when all is read. */
#include <string.h>

#include "audit_state.h"

enum { MOST_TEXT_BYTES = 1 << 16 };

/* How an instruction's opcode is called on links; a start is what it starts. */
static const struct {
    ts_hlo_opcode opcode;
    ts_collective_kind kind;
} kinds[] = {
    {TS_HLO_OP_ALL_GATHER, TS_COLLECTIVE_ALL_GATHER},
    {TS_HLO_OP_ALL_GATHER_START, TS_COLLECTIVE_ALL_GATHER},
    {TS_HLO_OP_ALL_REDUCE, TS_COLLECTIVE_ALL_REDUCE},
    {TS_HLO_OP_ALL_REDUCE_START, TS_COLLECTIVE_ALL_REDUCE},
    {TS_HLO_OP_CROSS_REPLICA_SUM, TS_COLLECTIVE_ALL_REDUCE},
    {TS_HLO_OP_REDUCE_SCATTER, TS_COLLECTIVE_REDUCE_SCATTER},
    {TS_HLO_OP_REDUCE_SCATTER_START, TS_COLLECTIVE_REDUCE_SCATTER},
    {TS_HLO_OP_ALL_TO_ALL, TS_COLLECTIVE_ALL_TO_ALL},
    {TS_HLO_OP_ALL_TO_ALL_START, TS_COLLECTIVE_ALL_TO_ALL},
    {TS_HLO_OP_COLLECTIVE_PERMUTE, TS_COLLECTIVE_PERMUTE},
    {TS_HLO_OP_COLLECTIVE_PERMUTE_START, TS_COLLECTIVE_PERMUTE},
};

static bool find_kind(ts_hlo_opcode opcode, ts_collective_kind *kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].opcode != opcode) continue;
        *kind = kinds[i].kind;
        return true;
    }
    return false;
}

/* "mesh['x'=2,'y'=2], device_ids=(0,2,1,3) {'x'}": the comma is of the value. */
static void add_device_ids(ts_span attributes, ts_span *text) {
    const char *behind = text->text + text->length, *end = attributes.text + attributes.length;
    ts_span rest = {behind, (size_t)(end - behind)}, item;
    if (!ts_hlo_begins(*text, "mesh[") || !ts_hlo_begins(rest, ",")) return;
    rest.text++, rest.length--;
    if (ts_hlo_next(&rest, &item) && ts_hlo_begins(item, "device_ids="))
        text->length = (size_t)(item.text + item.length - text->text);
}

int32_t audit_keep_groups(ts_audit *a, ts_span attributes) {
    ts_span text;
    if (!ts_hlo_attribute(attributes, "replica_groups", &text) &&
        !ts_hlo_attribute(attributes, "source_target_pairs", &text))
        return 0;
    add_device_ids(attributes, &text);
    for (int32_t i = 0; i < a->group_text_count; i++)
        if (ts_span_is(text, a->group_texts[i])) return i + 1;
    if (a->group_text_count == AUDIT_GROUP_TEXTS || text.length > MOST_TEXT_BYTES) return AUDIT_NONE;
    a->group_texts[a->group_text_count] = ts_arena_copy_text(a->arena, text.text, text.length);
    return ++a->group_text_count;
}

/* "async_collective_fusion_config":{"flag_start":"-1", ..}; all but the start say which of the fusion's operands
 * are its flags. */
bool audit_collective_goes_on(ts_span attributes) {
    return ts_hlo_stated_number(attributes, "\"flag_start") >= 0;
}

static bool measure(ts_error *err, ts_audit *a, const ts_audit_group *group, ts_collective *c,
                    ts_collective_price *price) {
    const ts_audit_request *from = a->request;
    if (group->first.groups == AUDIT_NONE)
        return ts_error_set(err, TS_ERROR_UNMODELLED,
                            "its groups are one text too many, or too long, to be kept");
    const char *text = group->first.groups > 0 ? a->group_texts[group->first.groups - 1] : "";
    ts_collective_request request = {.mesh = from->mesh,
                                     .bytes = group->first.written_bytes,
                                     .groups = {"replica_groups", text, strlen(text)}};
    if (!find_kind(group->first.opcode, &request.kind))
        return ts_error_set(err, TS_ERROR_UNMODELLED, "collectives of this kind are not modelled");
    if (group->first.groups == 0 && request.kind == TS_COLLECTIVE_PERMUTE)
        return ts_error_set(err, TS_ERROR_UNMODELLED, "its pairs are not in the text");
    if (!ts_collective_read(err, a->arena, &request, c)) return false;
    ts_collective_choose(a->arena, (ts_algorithm_choice){0}, c, price);
    return true;
}

void audit_price_collective(ts_audit *a, ts_audit_result *r, ts_audit_group *group) {
    ts_error err = {0};
    ts_collective c;
    ts_collective_price price;
    r->collectives += group->first.count;
    audit_add(&r->collective_bytes, audit_times(group->first.written_bytes, group->first.runs));
    if (!a->request->mesh) {
        group->why_not = "collectives need the devices: a mesh";
        return;
    }
    if (!measure(&err, a, group, &c, &price)) {
        group->why_not = ts_arena_copy_text(a->arena, err.message, strlen(err.message));
        return;
    }
    group->by = ts_text_format(a->arena, "links, %s", ts_algorithm_name(c.algorithm));
    group->priced = true;
    group->microseconds = price.ps / 1e6;
    group->total_microseconds = group->microseconds * (double)group->first.runs;
    group->cycles = (int64_t)(price.ps / 1e9 * (double)r->request->machine->chip.sustained_khz + 0.5);
    r->collectives_priced += group->first.count;
    r->collective_microseconds += group->total_microseconds;
}
