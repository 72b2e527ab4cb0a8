/* Loops and branches of StableHLO: where their regions begin and end, what loops carry, what regions give. */
#include <string.h>

#include "hlo_mlir_private.h"

static void tell(hlo_teller *teller, ts_hlo_part part, ts_span values) {
    if (teller->events->part) teller->events->part(teller->events->self, teller->line, part, values);
}

static const ts_span no_values = {"", 0};

void hlo_mlir_begin_region(hlo_mlir *m, hlo_teller *teller, ts_hlo_part part, int64_t depth) {
    if (m->muted_above >= 0) return;
    if (m->region_count == HLO_MLIR_OPEN) {
        if (m->lost_above < 0) m->lost_above = depth;
        return;
    }
    m->regions[m->region_count++] = (struct hlo_region){part, depth};
    tell(teller, part, no_values);
}

void hlo_mlir_end_regions(hlo_mlir *m, hlo_teller *teller, int64_t depth) {
    for (; m->region_count > 0 && m->regions[m->region_count - 1].depth >= depth; m->region_count--)
        tell(teller, TS_HLO_REGION_END, no_values);
}

ts_span hlo_mlir_values(const char *at, const char *end) {
    const char *values = memchr(at, '%', (size_t)(end - at)), *behind = values;
    while (behind && behind < end && *behind != ':' && *behind != ')') behind++;
    return values ? ts_hlo_trim((ts_span){values, (size_t)(behind - values)}) : no_values;
}

typedef enum { BEFORE_MARK, BEHIND_MARK } half_side;

/* Of items "%a = %x", or "%a: type", what is before the mark or behind it; of those without one, all. */
static ts_span halves(ts_text *out, ts_span list, char mark, half_side side) {
    ts_span item;
    ts_text_clear(out);
    while (ts_hlo_next(&list, &item)) {
        const char *found = memchr(item.text, mark, item.length), *end = item.text + item.length;
        ts_span half = item;
        if (found) half.length = (size_t)((side == BEHIND_MARK ? end : found) - item.text);
        if (found && side == BEHIND_MARK) half = (ts_span){found + 1, (size_t)(end - found - 1)};
        half = ts_hlo_trim(half);
        if (half.length == 0 || *half.text != '%') continue; /* the rest of a type: tensor<2x?xf32, #enc> */
        ts_text_add(out, "%s%.*s", out->length > 0 ? ", " : "", (int)half.length, half.text);
    }
    return (ts_span){out->bytes ? out->bytes : "", out->length};
}

/* What is in the brackets at `at`. */
static ts_span in_brackets(const char *at, const char *end) {
    const char *close = at < end && *at == '(' ? hlo_bracket_end(at, end) : NULL;
    return close ? (ts_span){at + 1, (size_t)(close - at - 2)} : no_values;
}

void hlo_mlir_loop(hlo_mlir *m, hlo_teller *teller, const char *at, const char *end) {
    ts_span list = in_brackets(at, end);
    if (m->muted_above >= 0 || m->region_count == HLO_MLIR_OPEN) return;
    tell(teller, TS_HLO_LOOP, halves(&m->operands, list, '=', BEHIND_MARK));
    if (memchr(list.text, '=', list.length) == NULL) return; /* each region names them */
    tell(teller, TS_HLO_CARRIED, halves(&m->operands, list, '=', BEFORE_MARK));
}

/* The line is within the innermost region, and no deeper. */
static bool is_in_region(const hlo_mlir *m) {
    return m->region_count > 0 && m->muted_above < 0 && m->depth == m->regions[m->region_count - 1].depth + 1;
}

/* "cond {", "do {", "} do {" and, between regions of one operation, "}, {". */
static void begin_named(hlo_mlir *m, hlo_teller *teller, const char *at, const char *end) {
    bool closes = *at == '}', ends = closes && is_in_region(m);
    int64_t depth = m->depth - closes;
    ts_hlo_part last = ends ? m->regions[m->region_count - 1].part : TS_HLO_LOOP;
    if (closes) hlo_mlir_end_regions(m, teller, depth);
    if (hlo_begins(at, end, "cond {")) hlo_mlir_begin_region(m, teller, TS_HLO_CONDITION, depth);
    if (hlo_begins(at, end, "do {") || hlo_begins(at, end, "} do {"))
        hlo_mlir_begin_region(m, teller, TS_HLO_BODY, depth);
    if (ends && hlo_begins(at, end, "}, {"))
        hlo_mlir_begin_region(m, teller, last == TS_HLO_CONDITION ? TS_HLO_BODY : last, depth);
}

void hlo_mlir_regions(hlo_mlir *m, hlo_teller *teller, const char *at, const char *end) {
    begin_named(m, teller, at, end);
    if (!is_in_region(m)) return;
    const char *bracket = *at == '^' ? memchr(at, '(', (size_t)(end - at)) : NULL;
    if (bracket)
        tell(teller, TS_HLO_CARRIED, halves(&m->operands, in_brackets(bracket, end), ':', BEFORE_MARK));
    if (hlo_begins(at, end, "stablehlo.return") || hlo_begins(at, end, "\"stablehlo.return\"") ||
        hlo_begins(at, end, "mhlo.return") || hlo_begins(at, end, "\"mhlo.return\""))
        tell(teller, TS_HLO_GIVES, hlo_mlir_values(at, end));
}
