/* The table of HLO's instructions. */
#include "host/hlo_opcode.h"

#include <string.h>

/* In the order of the alphabet. */
static const struct {
    const char *name;
    ts_hlo_class class;
} opcodes[] = {
#define HLO_OPCODE(id, name, class) {name, TS_HLO_##class},
#include "host/hlo_opcodes.def"
#undef HLO_OPCODE
};

static int compare(ts_hlo_span name, const char *other) {
    int order = strncmp(name.text, other, name.length);
    return order != 0 ? order : other[name.length] == '\0' ? 0 : -1;
}

ts_hlo_opcode ts_hlo_opcode_find(ts_hlo_span name) {
    int low = 0, high = TS_HLO_OPCODES;
    while (low < high && name.length > 0) {
        int middle = (low + high) / 2, order = compare(name, opcodes[middle].name);
        if (order == 0) return (ts_hlo_opcode)middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return TS_HLO_OP_UNKNOWN;
}

const char *ts_hlo_opcode_name(ts_hlo_opcode opcode) {
    return opcode < TS_HLO_OPCODES ? opcodes[opcode].name : "(unknown)";
}

ts_hlo_class ts_hlo_opcode_class(ts_hlo_opcode opcode) {
    return opcode < TS_HLO_OPCODES ? opcodes[opcode].class : TS_HLO_COMPUTES;
}
