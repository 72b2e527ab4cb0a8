/* Where buffers and moves come from in the user's program: their metadata, else that of what reads them. */
#include <string.h>

#include "audit_state.h"

uint64_t audit_hash_operand(ts_span operand) {
    const char *end = operand.text + operand.length, *name = end;
    while (name > operand.text && name[-1] != ' ' && name[-1] != '%') name--;
    return audit_hash(name, (size_t)(end - name));
}

/* The end of a name without backslashes, those of \' in d['b']; ".." stands for what is cut off. */
static void keep_end(ts_span name, char out[TS_AUDIT_NAME_BYTES]) {
    size_t at = TS_AUDIT_NAME_BYTES - 1, i = name.length;
    for (out[at] = '\0'; i > 0 && at > 0; i--)
        if (name.text[i - 1] != '\\') out[--at] = name.text[i - 1];
    if (i > 0) {
        while ((out[at + 2] & 0xc0) == 0x80) at++; /* the rest of a character of UTF-8 */
        out[at] = out[at + 1] = '.';
    }
    memmove(out, out + at, TS_AUDIT_NAME_BYTES - at);
}

void audit_find_source(ts_audit *a, ts_audit_source *source) {
    ts_span fields, op;
    *source = (ts_audit_source){.location = AUDIT_NONE};
    if (!a->now || !ts_hlo_metadata(a->now->attributes, &fields)) return;
    source->location = ts_hlo_locations_find(a->locations, fields);
    if (ts_hlo_field(fields, "op_name", &op)) keep_end(op, source->op);
}

/* ---- Moves without a location ---- */

void audit_forget_awaited(ts_audit *a) { a->awaited_count = 0; }

/* Where the operand was made. */
static int32_t location_of_maker(const ts_audit *a) {
    ts_span item;
    return ts_hlo_item(a->now->operands, 0, &item) ? ts_table_get(&a->made_at, audit_hash_operand(item))
                                                   : AUDIT_NONE;
}

void audit_await_reader(ts_audit *a, ts_span name) {
    ts_audit_source *source = &a->moves[a->move_count - 1].source;
    if (source->location >= 0 || a->current == AUDIT_NONE || !a->now) return;
    source->location = location_of_maker(a);
    if (source->location >= 0) {
        source->of = TS_AUDIT_MAKER;
        return;
    }
    if (a->awaited_count == AUDIT_AWAITED) /* the oldest is given up */
        memmove(a->awaited, a->awaited + 1, (size_t)--a->awaited_count * sizeof *a->awaited);
    a->awaited[a->awaited_count++] = (audit_awaited){audit_hash_name(name), a->move_count - 1};
}

/* What has no location either is looked through: its own readers are those of the move. */
static void see_operand(ts_audit *a, const ts_hlo_instruction *i, uint64_t operand, int32_t location) {
    for (int k = 0; k < a->awaited_count;) {
        audit_awaited *awaited = &a->awaited[k];
        if (awaited->name != operand) {
            k++;
        } else if (location < 0) {
            awaited->name = audit_hash_name(i->name);
            k++;
        } else {
            a->moves[awaited->move].source.location = location;
            a->moves[awaited->move].source.of = TS_AUDIT_READER;
            *awaited = a->awaited[--a->awaited_count];
        }
    }
}

void audit_see_location(ts_audit *a, const ts_hlo_instruction *i) {
    ts_span rest = i->operands, item, fields;
    if (a->current_fused || a->current == AUDIT_NONE) return;
    int32_t location =
        ts_hlo_metadata(i->attributes, &fields) ? ts_hlo_locations_find(a->locations, fields) : AUDIT_NONE;
    if (location >= 0) ts_table_put(&a->made_at, audit_hash_name(i->name), location);
    while (a->awaited_count > 0 && ts_hlo_next(&rest, &item))
        see_operand(a, i, audit_hash_operand(item), location);
}
