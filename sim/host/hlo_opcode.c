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

static int compare(ts_span name, const char *other) {
    int order = strncmp(name.text, other, name.length);
    return order != 0 ? order : other[name.length] == '\0' ? 0 : -1;
}

static ts_hlo_opcode find_listed(ts_span name) {
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

/* The rest of "X-start" where X is an instruction; unknown otherwise. */
static ts_hlo_opcode find_before(ts_span name, const char *ending) {
    size_t length = strlen(ending);
    if (name.length <= length || memcmp(name.text + name.length - length, ending, length) != 0)
        return TS_HLO_OP_UNKNOWN;
    return find_listed((ts_span){name.text, name.length - length});
}

ts_hlo_opcode ts_hlo_opcode_started(ts_span name) { return find_before(name, "-start"); }

ts_hlo_opcode ts_hlo_opcode_find(ts_span name) {
    ts_hlo_opcode listed = find_listed(name);
    if (listed != TS_HLO_OP_UNKNOWN) return listed;
    if (find_before(name, "-start") != TS_HLO_OP_UNKNOWN) return TS_HLO_OP_ASYNC_START;
    if (find_before(name, "-update") != TS_HLO_OP_UNKNOWN) return TS_HLO_OP_ASYNC_UPDATE;
    return find_before(name, "-done") != TS_HLO_OP_UNKNOWN ? TS_HLO_OP_ASYNC_DONE : TS_HLO_OP_UNKNOWN;
}

const char *ts_hlo_opcode_name(ts_hlo_opcode opcode) {
    return opcode < TS_HLO_OPCODES ? opcodes[opcode].name : "(unknown)";
}

ts_hlo_class ts_hlo_opcode_class(ts_hlo_opcode opcode) {
    return opcode < TS_HLO_OPCODES ? opcodes[opcode].class : TS_HLO_COMPUTES;
}
