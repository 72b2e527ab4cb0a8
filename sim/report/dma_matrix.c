/* The table of all pairs of layouts, as text and as JSON. */
#include "transfer_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "layout/notation/xla.h"
#include "report/machine.h"

int64_t matrix_ratio(const ts_transfer_matrix *m, int from, int to) {
    return (m->costs[from][to].cycles * 200 + m->copy_cycles) / (2 * m->copy_cycles);
}

const char *matrix_layout_text(ts_arena *arena, const ts_shape *shape) {
    const char *text = ts_shape_text(arena, shape), *layout = strchr(text, ']');
    return layout ? layout + 1 + strspn(layout + 1, " ") : text;
}

const char *matrix_array_text(ts_arena *arena, const ts_shape *shape) {
    const char *text = ts_shape_text(arena, shape), *layout = strchr(text, ']');
    return layout ? ts_arena_copy_text(arena, text, (size_t)(layout + 1 - text)) : text;
}

bool matrix_is_estimated(const ts_transfer_matrix *m) {
    bool estimated = false;
    for (int i = 0; i < m->list.count * m->list.count; i++)
        estimated = estimated || m->costs[i / m->list.count][i % m->list.count].estimated;
    return estimated;
}

/* ---- What it teaches ---- */

typedef struct {
    int from, to; /* of the dearest */
    int64_t least, most;
    int count;
} group;

static void widen(group *g, const ts_transfer_matrix *m, int from, int to) {
    int64_t ratio = matrix_ratio(m, from, to);
    g->least = g->count == 0 ? ratio : ts_min(g->least, ratio);
    g->most = ts_max(g->most, ratio);
    if (g->count == 0 || m->costs[from][to].cycles > m->costs[g->from][g->to].cycles)
        g->from = from, g->to = to;
    g->count++;
}

/* The dim whose neighbours lie nearest; -1: none. */
static int minor_dim(const ts_shape *shape) {
    const ts_layout *layout = shape->layout;
    int64_t index[TS_LAYOUT_MAX_DIMS] = {0}, first, there, least = INT64_MAX;
    int best = -1;
    if (shape->xla) return shape->xla->rank > 0 ? ts_xla_dim_at(shape->xla, 0) : -1;
    if (layout->axis_count != 1 || ts_layout_element_count(layout) == 0) return best;
    ts_layout_forward(layout, index, &first);
    for (int i = 0; i < layout->rank; i++) {
        if (layout->dims[i] < 2) continue;
        index[i] = 1;
        ts_layout_forward(layout, index, &there);
        index[i] = 0;
        int64_t step = llabs(there - first);
        if (step < least) least = step, best = i;
    }
    return best;
}

static void add_range(ts_text *out, const group *g) {
    ts_text_add(out, "%lld.%02lld", (long long)g->least / 100, (long long)g->least % 100);
    if (g->most != g->least)
        ts_text_add(out, " to %lld.%02lld", (long long)g->most / 100, (long long)g->most % 100);
}

/* " (A to B: +11.40 burst waste)": what the dearest of them pays most beyond a straight copy. */
static void add_dearest(ts_text *out, const ts_transfer_matrix *m, const group *g) {
    const int64_t *dear = m->costs[g->from][g->to].components, *copy = m->costs[0][0].components;
    int most = 0;
    for (int i = 1; i < TS_DMA_COMPONENT_COUNT; i++)
        most = dear[i] - copy[i] > dear[most] - copy[most] ? i : most;
    int64_t more = ((dear[most] - copy[most]) * 200 + m->copy_cycles) / (2 * m->copy_cycles);
    if (g->most <= 100 || more <= 0) return;
    ts_text_add(out, " (%c to %c: +%lld.%02lld %s)", 'A' + g->from, 'A' + g->to, (long long)more / 100,
                (long long)more % 100, ts_dma_component_label((ts_dma_component)most));
}

/* What the numbers say, as lines that each begin with `indent`, but for the first. */
static void add_lesson(ts_text *out, const ts_transfer_matrix *m, const char *indent) {
    group same = {0}, kept = {0}, exchanged = {0};
    for (int from = 0; from < m->list.count; from++) {
        for (int to = 0; to < m->list.count; to++) {
            if (m->costs[from][to].cycles == 0) continue;
            bool keeps = minor_dim(m->list.shapes[from]) == minor_dim(m->list.shapes[to]);
            widen(from == to ? &same : keeps ? &kept : &exchanged, m, from, to);
        }
    }
    ts_text_add(out, "staying in a layout costs ");
    add_range(out, &same);
    add_dearest(out, m, &same);
    if (kept.count > 0) {
        ts_text_add(out, ";\n%schanging tiles only, ", indent);
        add_range(out, &kept);
        add_dearest(out, m, &kept);
    }
    if (exchanged.count > 0) {
        ts_text_add(out, ";\n%schanging the minor dimension, ", indent);
        add_range(out, &exchanged);
        add_dearest(out, m, &exchanged);
    }
    ts_text_add(out, "\n");
}

/* ---- Text ---- */

static void add_heading(ts_text *out, const ts_transfer_matrix *m) {
    ts_text_add(out, "matrix        %s; from the rows, to the columns\n",
                matrix_array_text(out->arena, m->list.shapes[0]));
    ts_report_machine_line("machine       ", m->machine, out);
    for (int i = 0; i < m->list.count; i++) {
        ts_text_add(out, "%-13s %c %15s bytes  %s\n", i == 0 ? "layouts" : "", 'A' + i,
                    ts_text_grouped(out->arena, m->list.shapes[i]->bytes),
                    matrix_layout_text(out->arena, m->list.shapes[i]));
    }
    if (matrix_is_estimated(m)) ts_text_add(out, "prices        " REPORT_ESTIMATED "\n");
}

static void add_letters(ts_text *out, const ts_transfer_matrix *m, const char *label) {
    ts_text_add(out, "\n%-14s", label);
    for (int to = 0; to < m->list.count; to++) ts_text_add(out, "%9c", 'A' + to);
    ts_text_add(out, "\n");
}

static void add_times(ts_text *out, const ts_transfer_matrix *m) {
    add_letters(out, m, "microseconds");
    for (int from = 0; from < m->list.count; from++) {
        ts_text_add(out, "%13c ", 'A' + from);
        for (int to = 0; to < m->list.count; to++) {
            double time = ts_machine_microseconds(m->machine, m->costs[from][to].cycles);
            if (time > 0)
                ts_text_add(out, "%9.*f", time < 10 ? 3 : time < 100 ? 2 : 1, time);
            else
                ts_text_add(out, "%9s", "-");
        }
        ts_text_add(out, "\n");
    }
}

static bool has_kind(const ts_transfer_matrix *m, ts_dma_kind kind) {
    for (int i = 0; i < m->list.count * m->list.count; i++) {
        const ts_dma_cost *cost = &m->costs[i / m->list.count][i % m->list.count];
        if (cost->cycles > 0 && cost->transfer.kind == kind) return true;
    }
    return false;
}

/* Types are equal in a matrix: nothing converts, and c is copy. */
static char kind_letter(ts_dma_kind kind) {
    return kind == TS_DMA_CORE_PROGRAM ? 'p' : ts_dma_kind_text(kind)[0];
}

static void add_ratios(ts_text *out, const ts_transfer_matrix *m) {
    add_letters(out, m, "copies");
    for (int from = 0; from < m->list.count; from++) {
        ts_text_add(out, "%13c ", 'A' + from);
        for (int to = 0; to < m->list.count; to++) {
            int64_t ratio = matrix_ratio(m, from, to);
            const char *text =
                ts_text_format(out->arena, "%lld.%02lld %c", (long long)ratio / 100, (long long)ratio % 100,
                               kind_letter(m->costs[from][to].transfer.kind));
            ts_text_add(out, "%9s", m->costs[from][to].cycles ? text : "-");
        }
        ts_text_add(out, "\n");
    }
    ts_text_add(out, "              1.00 is %.3f us, a straight copy of A;",
                ts_machine_microseconds(m->machine, m->copy_cycles));
    for (int kind = 0, shown = 0; kind <= TS_DMA_CORE_PROGRAM; kind++) {
        const char *name = ts_dma_kind_text((ts_dma_kind)kind);
        if (has_kind(m, (ts_dma_kind)kind))
            ts_text_add(out, "%s %c %s", shown++ ? "," : "", kind_letter((ts_dma_kind)kind), name);
    }
    ts_text_add(out, "\n");
}

static bool has_gap(const ts_transfer_matrix *m) {
    for (int i = 0; i < m->list.count * m->list.count; i++)
        if (m->costs[i / m->list.count][i % m->list.count].cycles == 0) return true;
    return false;
}

void ts_report_matrix(const ts_transfer_matrix *m, ts_text *out) {
    add_heading(out, m);
    add_times(out, m);
    add_ratios(out, m);
    if (has_gap(m))
        ts_text_add(
            out, "              -: neither the engine nor a shipped program can do it, or both do not fit\n");
    ts_text_add(out, "\nso            ");
    add_lesson(out, m, "              ");
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

/* ---- JSON ---- */

static void add_pair(ts_json *json, const ts_transfer_matrix *m, int from, int to) {
    const ts_dma_cost *cost = &m->costs[from][to];
    ts_json_object(json, NULL);
    ts_json_int(json, "from", from);
    ts_json_int(json, "to", to);
    ts_json_int(json, "cycles", cost->cycles);
    ts_json_bool(json, "estimated", cost->estimated);
    ts_json_real(json, "microseconds", ts_machine_microseconds(m->machine, cost->cycles), 6);
    ts_json_real(json, "ratio", (double)cost->cycles / (double)m->copy_cycles, 4);
    ts_json_text(json, "kind", ts_dma_kind_text(cost->transfer.kind));
    ts_json_text(json, "limiter", cost->limiter);
    ts_json_object(json, "parts");
    for (int i = 0; i < TS_DMA_COMPONENT_COUNT; i++)
        ts_json_int(json, ts_dma_component_key((ts_dma_component)i), cost->components[i]);
    ts_json_close(json);
    ts_json_close(json);
}

void ts_report_matrix_json(const ts_transfer_matrix *m, ts_text *out) {
    ts_json json;
    ts_text lesson = ts_text_begin(out->arena);
    add_lesson(&lesson, m, "");
    ts_json_begin(&json, out, "dma_matrix");
    ts_report_machine_keys(m->machine, &json);
    ts_json_array(&json, "layouts");
    for (int i = 0; i < m->list.count; i++) {
        ts_json_object(&json, NULL);
        ts_json_text(&json, "shape", ts_shape_text(out->arena, m->list.shapes[i]));
        ts_json_int(&json, "bytes", m->list.shapes[i]->bytes);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_int(&json, "copy_cycles", m->copy_cycles);
    ts_json_array(&json, "pairs"); /* without those that the engine cannot do */
    for (int i = 0; i < m->list.count * m->list.count; i++) {
        int from = i / m->list.count, to = i % m->list.count;
        if (m->costs[from][to].cycles > 0) add_pair(&json, m, from, to);
    }
    ts_json_close(&json);
    ts_json_text(&json, "lesson", lesson.bytes);
    ts_json_end(&json);
}
