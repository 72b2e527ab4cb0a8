/* Which arrays of an instruction's result are buffers of its own. What lies in an operand's, or in that of
 * another computation, is none. */
#include <string.h>

#include "audit_state.h"

enum { DEEPEST = 16 }; /* member of a tuple within tuples that an alias names */

/* A member of the result, by its numbers from the outermost tuple on; none: the result. */
typedef struct {
    int count, numbers[DEEPEST];
} member_path;

/* "1,0": its numbers. */
static bool is_path(ts_span text, const member_path *path) {
    ts_span item;
    int at = 0;
    for (; ts_hlo_next(&text, &item); at++)
        if (at >= path->count || ts_hlo_number(item) != path->numbers[at]) return false;
    return at == path->count;
}

/* aliases: "{1,0}: (2, {}), {0}: (3, {})", by member of the result. */
static bool is_aliased(ts_span aliases, const member_path *path) {
    ts_span item;
    while (ts_hlo_next(&aliases, &item)) {
        const char *close = item.length > 0 && *item.text == '{' ? memchr(item.text, '}', item.length) : NULL;
        if (close && is_path((ts_span){item.text + 1, (size_t)(close - item.text) - 1}, path)) return true;
    }
    return false;
}

static void add_leaves(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape) {
    if (shape == AUDIT_NONE) return;
    const shape_record *record = &a->shapes[shape];
    if (!record->is_tuple) audit_add_buffer(a, i->line, i->name, opcode, shape);
    for (int32_t k = 0; record->is_tuple && k < a->shapes[shape].leaf_count; k++)
        audit_add_buffer(a, i->line, i->name, opcode, a->shapes[shape].leaves[k]);
}

/* Of this part of the result what lies in no operand's. */
static void add_unaliased(ts_audit *a, const ts_hlo_instruction *i, ts_span part, ts_span aliases,
                          const member_path *path) {
    if (is_aliased(aliases, path)) return;
    if (part.length < 2 || *part.text != '(' || path->count == DEEPEST) {
        add_leaves(a, i, ts_hlo_opcode_find(i->opcode), audit_intern(a, i->line, part));
        return;
    }
    ts_span rest = ts_hlo_inside(part), item;
    member_path inner = *path;
    inner.numbers[inner.count++] = 0;
    for (; ts_hlo_next(&rest, &item); inner.numbers[inner.count - 1]++)
        add_unaliased(a, i, item, aliases, &inner);
}

static bool makes_buffers(const ts_audit *a, ts_hlo_opcode opcode) {
    ts_hlo_class class = ts_hlo_opcode_class(opcode);
    if (class == TS_HLO_CALLS && audit_is_start(opcode)) return true;
    if (class == TS_HLO_ALIASES || class == TS_HLO_CALLS) return false;
    if (opcode == TS_HLO_OP_DYNAMIC_UPDATE_SLICE) return false;
    return opcode != TS_HLO_OP_PARAMETER || a->current < 0 ||
           a->computations[a->current].level == TS_AUDIT_LEVEL_ENTRY;
}

static bool find_aliases(const ts_hlo_instruction *i, ts_hlo_opcode opcode, ts_span *aliases) {
    static const char sent[] = "{0}: (0, {})";
    *aliases = (ts_span){sent, sizeof sent - 1};
    if (opcode == TS_HLO_OP_SEND) return i->shape.length > 0;
    if (opcode != TS_HLO_OP_FUSION && opcode != TS_HLO_OP_CUSTOM_CALL) return false;
    if (!ts_hlo_attribute(i->attributes, "output_to_operand_aliasing", aliases)) return false;
    *aliases = ts_hlo_inside(*aliases);
    return true;
}

void audit_add_buffers(ts_audit *a, const ts_hlo_instruction *i, ts_hlo_opcode opcode, int32_t shape) {
    ts_span aliases;
    if (!makes_buffers(a, opcode)) return;
    if (*i->shape.text == '(' && audit_is_start(opcode)) {
        ts_span made = audit_started(opcode, i->shape);
        shape = made.length > 0 ? audit_intern(a, i->line, made) : AUDIT_NONE;
    }
    if (find_aliases(i, opcode, &aliases))
        add_unaliased(a, i, i->shape, aliases, &(member_path){0});
    else
        add_leaves(a, i, opcode, shape);
}
