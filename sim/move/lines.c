/* Lines of a tile from loops of any extent: each loop takes as many digits as the next power of two needs,
 * and what is not in memory is masked. */

#include "copy_context.h"

#include "base/number.h"

/* Digits that a loop needs, and not more than `most`. */
static int digits_of(int64_t extent, int most) { return (int)ts_min(ts_log2_up(extent), most); }

/* The loop with the shortest steps, from `least` to `most`; -1. */
static int next_loop(const ts_plan_box *box, ts_side side, int64_t least, int64_t most) {
    int next = -1;
    for (int n = 0; n < box->loop_count; n++) {
        int64_t step = ts_plan_step_bits(&box->loops[n], side);
        if (step < least || step > most || box->loops[n].extent < 2) continue;
        next = n;
        most = step - 1;
    }
    return next;
}

/* What elements that are not there leave behind the steps of a loop. */
static int64_t lacking_bits(const ts_line *line, int loop) {
    const ts_lack *lack = &line->lack;
    if (lack->from == 0 || loop != lack->outer) return 0;
    const ts_plan_loop *inner = &line->box->loops[lack->inner];
    int64_t step = ts_plan_step_bits(inner, line->side);
    bool follow = step * inner->extent == ts_plan_step_bits(&line->box->loops[loop], line->side);
    return follow ? step * (inner->extent - lack->from) : 0;
}

void ts_lines_find(const ts_line *line, ts_digit *digits) {
    const ts_plan_box *box = line->box;
    int64_t stride = line->width;
    int i = 0, none = -1, width = line->width, count = line->count;
    while (i < count) {
        int n = next_loop(box, line->side, stride, (int64_t)width << (count - 1));
        if (n < 0) break;
        const ts_plan_loop *loop = &box->loops[n];
        while ((int64_t)width << i < ts_plan_step_bits(loop, line->side))
            digits[i++] = (ts_digit){.loop = none--};
        int bits = digits_of(loop->extent, count - i);
        for (int k = 0; k < bits; k++, i++) {
            digits[i] =
                (ts_digit){n, k, loop->src_bits * (INT64_C(1) << k), loop->dst_bits * (INT64_C(1) << k)};
        }
        stride = ts_plan_step_bits(loop, line->side) * ts_min(loop->extent, INT64_C(1) << bits) -
                 lacking_bits(line, n);
    }
    while (i < count) digits[i++] = (ts_digit){.loop = none--};
}

void ts_lines_order(const ts_line *line, ts_line_elements *elements) {
    const ts_digit *digits = line->digits;
    uint8_t *positions = elements->positions, *offsets = elements->offsets;
    int used = 1;
    positions[0] = offsets[0] = 0;
    for (int i = 0, next; i < line->count; i = next) {
        for (next = i; next < line->count && digits[next].loop == digits[i].loop;) next++;
        if (digits[i].loop < 0) continue;
        const ts_plan_loop *loop = &line->box->loops[digits[i].loop];
        int64_t values = ts_min(loop->extent, INT64_C(1) << (next - i));
        int64_t step = ts_plan_step_bits(loop, line->side) / line->width;
        for (int v = 1; v < values; v++) {
            for (int k = 0; k < used; k++) {
                positions[v * used + k] = (uint8_t)(positions[k] + (v << i));
                offsets[v * used + k] = (uint8_t)(offsets[k] + v * step);
            }
        }
        used *= (int)values;
    }
    elements->count = used;
}

/* How many elements a line has whose number holds `value` of a loop: the line's own digits of it, if any, are
 * `count` low ones, each value with `each` elements. */
static int elements_at(int64_t extent, int64_t value, int count, int each, int all) {
    if (value >= extent) return 0;
    return count > 0 ? (int)ts_min(extent - value, INT64_C(1) << count) * each : all;
}

void ts_lines_measure(const ts_line *line, const ts_digit *numbers, int stages, int elements, uint8_t *have) {
    int64_t value[TS_TILE_LINES];
    for (int i = 0; i < 1 << stages; i++) have[i] = (uint8_t)elements;
    for (int first = 0; first < stages; first++) {
        int loop = numbers[first].loop, inside = 0, before = 0;
        int64_t extent = loop < 0 ? 1 : line->box->loops[loop].extent;
        for (int k = 0; k < first; k++) before += numbers[k].loop == loop;
        for (int k = 0; k < line->count; k++) inside += line->digits[k].loop == loop;
        if (before > 0) continue;
        int each = inside > 0 ? elements / (int)ts_min(extent, INT64_C(1) << inside) : 0;
        value[0] = 0;
        for (int i = 1; i < 1 << stages; i++) {
            const ts_digit *digit = &numbers[__builtin_ctz((unsigned)i)];
            value[i] = value[i & (i - 1)] + (digit->loop == loop ? INT64_C(1) << digit->bit : 0);
            int most = elements_at(extent, value[i], inside, each, elements);
            if (most < have[i]) have[i] = (uint8_t)most;
        }
    }
}

/* The steps of a loop that the digits with these bits say. */
static int64_t steps_of(int loop, const ts_digit *digits, int count, int bits) {
    int64_t steps = 0;
    for (int i = 0; i < count; i++)
        if (digits[i].loop == loop && (bits >> i & 1) != 0) steps |= INT64_C(1) << digits[i].bit;
    return steps;
}

bool ts_lines_lack(const ts_line *line, const ts_digit *numbers, int stages, int number, int position) {
    const int loops[2] = {line->lack.outer, line->lack.inner};
    int64_t at[2];
    for (int i = 0; i < 2; i++)
        at[i] = steps_of(loops[i], line->digits, line->count, position) |
                steps_of(loops[i], numbers, stages, number);
    return ts_lack_has(&line->lack, line->box, at[0], at[1]);
}
