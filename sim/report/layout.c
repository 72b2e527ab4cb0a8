/* The explanation of a shape: its sizes, what each dim costs, its digits. */
#include "report/layout.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "padding.h"
#include "base/number.h"
#include "layout/notation/index_map.h"
#include "layout/notation/xla.h"

/* ---- What the digits are made of: walks the stages with a formula and a group of dims for each dim. ---- */

enum { NO_DIM = -1, FORMULA_BYTES = 400, FORMULA_WIDTH = 52 };

typedef struct {
    ts_arena *arena;
    int count, group[TS_LAYOUT_MAX_DIMS];
    const char *formula[TS_LAYOUT_MAX_DIMS];
    int joined[TS_LAYOUT_MAX_DIMS]; /* of each logical dim: the group that it belongs to */
} walk;

__attribute__((format(printf, 2, 3))) static const char *formula(walk *w, const char *format, ...) {
    char text[FORMULA_BYTES];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length >= FORMULA_BYTES) strcpy(text, "..."); /* rather than to grow without end */
    return ts_arena_copy_text(w->arena, text, strlen(text));
}

static void open_gap(walk *w, int at) {
    for (int i = w->count++; i > at; i--) {
        w->group[i] = w->group[i - 1];
        w->formula[i] = w->formula[i - 1];
    }
}

static void close_gap(walk *w, int at) {
    w->count--;
    for (int i = at; i < w->count; i++) {
        w->group[i] = w->group[i + 1];
        w->formula[i] = w->formula[i + 1];
    }
}

/* From here on the dims of both groups cost together. */
static int join(walk *w, int a, int b, int rank) {
    if (a == NO_DIM || b == NO_DIM || a == b) return a == NO_DIM ? b : a;
    int kept = a < b ? a : b, gone = a < b ? b : a;
    for (int i = 0; i < rank; i++)
        if (w->joined[i] == gone) w->joined[i] = kept;
    for (int i = 0; i < w->count; i++)
        if (w->group[i] == gone) w->group[i] = kept;
    return kept;
}

static void merge(walk *w, const ts_stage *stage, int rank) {
    int k = stage->dim;
    w->formula[k] =
        formula(w, "(%s * %" PRId64 " + %s)", w->formula[k], stage->extent_before, w->formula[k + 1]);
    int group = join(w, w->group[k], w->group[k + 1], rank);
    close_gap(w, k + 1);
    w->group[k] = group;
}

/* `whole op value`; a / 2 / 4 is a / 8, and a % 8 % 4 is a % 4. */
static const char *apply(walk *w, const char *whole, char op, int64_t value) {
    const char *last = strrchr(whole, ' ');
    if (last && last[-1] == op) {
        int64_t before = strtoll(last, NULL, 10), both = value;
        if (op == '%' ? before % value == 0 : ts_mul(before, value, &both))
            return formula(w, "%.*s %c %" PRId64, (int)(last - 2 - whole), whole, op, both);
    }
    return formula(w, "%s %c %" PRId64, whole, op, value);
}

static void split(walk *w, const ts_stage *stage) {
    int k = stage->dim;
    const char *whole = w->formula[k];
    open_gap(w, k);
    bool counts = stage->extent > 1, within = stage->value > 1;
    w->formula[k] = !counts ? "0" : within ? apply(w, whole, '/', stage->value) : whole;
    w->formula[k + 1] = !within ? "0" : counts ? apply(w, whole, '%', stage->value) : whole;
}

static void insert(walk *w, int k) {
    open_gap(w, k);
    w->group[k] = NO_DIM;
    w->formula[k] = "0";
}

static void reorder(walk *w, const int *order) {
    walk old = *w;
    for (int i = 0; i < w->count; i++) {
        w->group[i] = old.group[order[i]];
        w->formula[i] = old.formula[order[i]];
    }
}

static void step(walk *w, const ts_stage *stage, int rank) {
    int k = stage->dim;
    switch (stage->kind) {
    case TS_STAGE_MERGE:
        merge(w, stage, rank);
        break;
    case TS_STAGE_BIAS:
        w->formula[k] = formula(w, "(%s + %" PRId64 ")", w->formula[k], stage->value);
        break;
    case TS_STAGE_PAD:
        break;
    case TS_STAGE_SPLIT:
        split(w, stage);
        break;
    case TS_STAGE_INSERT:
        insert(w, k);
        break;
    case TS_STAGE_REORDER:
        reorder(w, stage->order);
        break;
    }
}

static void add_costs(const walk *w, const ts_layout *layout, ts_layout_anatomy *out) {
    for (int group = NO_DIM; group < layout->rank; group++) {
        ts_layout_cost *cost = &out->costs[out->cost_count];
        *cost = (ts_layout_cost){.extent = 1, .padded = 1};
        for (int i = 0; i < layout->rank; i++) {
            if (w->joined[i] != group) continue;
            cost->dims[cost->dim_count++] = i;
            cost->extent *= layout->dims[i];
        }
        for (int i = 0; i < w->count; i++)
            if (w->group[i] == group) cost->padded *= layout->digits[i].extent;
        if (cost->dim_count > 0 || cost->padded > 1) out->cost_count++;
    }
}

void ts_layout_dissect(ts_arena *arena, const ts_layout *layout, ts_layout_anatomy *out) {
    assert(layout->function.forward == NULL);
    walk w = {.arena = arena, .count = layout->rank};
    for (int i = 0; i < layout->rank; i++) {
        w.group[i] = w.joined[i] = i;
        w.formula[i] = formula(&w, "d%d", i);
    }
    for (int i = 0; i < layout->stage_count; i++) step(&w, &layout->stages[i], layout->rank);
    *out = (ts_layout_anatomy){.costs = TS_NEW_ARRAY(arena, ts_layout_cost, layout->rank + 1),
                               .values = TS_NEW_ARRAY(arena, const char *, w.count + 1)};
    for (int i = 0; i < w.count; i++) out->values[i] = w.formula[i];
    add_costs(&w, layout, out);
}

/* ---- Text ---- */

/* As compilers number them (XProf hlo_to_memory_analysis.cc). */
static const char *const memory_spaces[] = {"HBM", "VMEM", "sync flags", "CMEM", "SMEM", "host memory"};
enum { MEMORY_SPACES = sizeof memory_spaces / sizeof memory_spaces[0] };

static void add_count(ts_text *out, int width, int64_t value) {
    ts_text_add(out, " %*s", width - 1, ts_text_grouped(out->arena, value));
}

static void add_bytes(ts_text *out, int64_t bytes) {
    if (bytes == TS_SIZE_UNKNOWN)
        ts_text_add(out, "%22s", "?");
    else
        add_count(out, 22, bytes);
}

static void add_ratio(ts_text *out, int64_t padded, int64_t extent) {
    if (extent == 0 || padded == 0)
        ts_text_add(out, "%11s", "-");
    else
        ts_text_add(out, "%10.2fx", (double)padded / (double)extent);
}

/* Other notations than XLA's may leave holes or share locations: what they reach is not called padding. */
static void add_pair(const ts_shape *shape, ts_text *out, const char *what, int64_t logical, int64_t padded) {
    ts_text_add(out, "  %-14s %s logical, %s %s", what, ts_text_grouped(out->arena, logical),
                ts_text_grouped(out->arena, padded), shape->xla != NULL ? "with padding" : "in memory");
}

static void add_sizes(const ts_shape *shape, ts_text *out) {
    int space = shape->memory_space;
    ts_text_add(out, "  %-14s %s, %s each\n", "element", ts_dtype_get(shape->dtype)->name,
                ts_text_counted(out->arena, shape->element_bits, "bit"));
    add_pair(shape, out, "elements", ts_layout_element_count(shape->layout), shape->padded_elements);
    ts_text_add_char(out, '\n');
    add_pair(shape, out, "bytes", shape->unpadded_bytes, shape->bytes);
    if (shape->xla != NULL && shape->bytes > shape->unpadded_bytes)
        ts_text_add(out, ": %.1f %% padding", report_padding_percent(shape->unpadded_bytes, shape->bytes));
    if (report_replica_bytes(shape) > 0)
        ts_text_add(out, ", %s of them replicas", ts_text_grouped(out->arena, report_replica_bytes(shape)));
    ts_text_add_char(out, '\n');
    if (shape->storage_bytes != shape->bytes) {
        ts_text_add(out, "  %-14s %s to hold every element; XLA's compilers report the count above\n",
                    "storage bytes", ts_text_grouped(out->arena, shape->storage_bytes));
    }
    ts_text_add(out, "  %-14s %d%s%s%s\n", "memory space", space, space < MEMORY_SPACES ? " (" : "",
                space < MEMORY_SPACES ? memory_spaces[space] : "", space < MEMORY_SPACES ? ")" : "");
}

static void add_row(ts_text *out, const char *name, int64_t extent, int64_t padded, int64_t lost_bytes) {
    ts_text_add(out, "  %-12s", name);
    add_count(out, 20, extent);
    add_count(out, 20, padded);
    add_ratio(out, padded, extent);
    add_count(out, 22, lost_bytes);
    ts_text_add(out, "\n");
}

static const char *cost_name(ts_arena *arena, const ts_layout_cost *cost) {
    ts_text name = ts_text_begin(arena);
    if (cost->dim_count == 0) return "(tile)";
    for (int i = 0; i < cost->dim_count; i++) ts_text_add(&name, "%s%d", i > 0 ? "*" : "", cost->dims[i]);
    return name.bytes;
}

/* The bytes whose index along these dims is padding. */
static int64_t lost_bytes(const ts_layout_cost *cost, int64_t elements, int bits) {
    if (cost->padded == 0) return 0;
    return (int64_t)((__int128)(elements / cost->padded) * (cost->padded - cost->extent) * bits / 8);
}

static void add_costs_table(ts_arena *arena, const ts_shape *shape, const ts_layout_anatomy *anatomy,
                            ts_text *out) {
    int64_t elements = ts_layout_element_count(shape->layout), held = ts_layout_padded_count(shape->layout);
    int64_t aligned = held;
    ts_text_add(out, "\n  %-12s%20s%20s%11s%22s\n", "dim", "extent", "padded", "expansion",
                "bytes of padding");
    for (int i = 0; i < anatomy->cost_count; i++) {
        const ts_layout_cost *cost = &anatomy->costs[i];
        add_row(out, cost_name(arena, cost), cost->extent, cost->padded,
                lost_bytes(cost, held, shape->element_bits));
    }
    if (shape->xla != NULL && shape->xla->tail_alignment > 1) {
        int64_t step = shape->xla->tail_alignment;
        aligned = ts_round_up(held, step);
        add_row(out, "L()", held, aligned, (int64_t)((__int128)(aligned - held) * shape->element_bits / 8));
    }
    add_row(out, "all", elements, aligned, ts_max(0, shape->storage_bytes - report_held_bytes(shape)));
}

static void add_digits(const ts_layout *layout, const ts_layout_anatomy *anatomy, ts_text *out) {
    ts_text_add(out, "\n  %-6s%14s%22s   %s\n", "digit", "extent", "stride",
                "value, of the logical index (d0, d1 ..)");
    for (int i = 0; i < layout->digit_count; i++) {
        const ts_iter *digit = &layout->digits[i];
        const char *axis = layout->axes[digit->axis].name;
        const char *stride =
            ts_text_format(out->arena, "%" PRId64 "%s%.20s", digit->stride, layout->axis_count > 1 ? "@" : "",
                           layout->axis_count > 1 ? axis : "");
        ts_text_add(out, "  %-6d%14" PRId64 "%22s   %s\n", i, digit->extent, stride,
                    ts_text_cut(out->arena, anatomy->values[i], FORMULA_WIDTH));
    }
}

static void report_tuple(ts_arena *arena, const ts_shape *shape, ts_text *out) {
    ts_text_add(out, "  %-8s%22s%22s   %s\n", "member", "logical bytes", "with padding", "shape");
    for (int i = 0; i < shape->xla->tuple_count; i++) {
        const ts_shape *member = shape->xla->members[i];
        ts_text_add(out, "  %-8d", i);
        add_bytes(out, member->unpadded_bytes);
        add_bytes(out, member->bytes);
        ts_text_add(out, "   %s\n", ts_text_cut(arena, ts_shape_text(arena, member), 42));
    }
    ts_text_add(out, "  %-8s", "all");
    add_bytes(out, shape->unpadded_bytes);
    add_bytes(out, shape->bytes);
    ts_text_add_char(out, '\n');
}

/* Of an index map: the loops over the transformed tensor. */
static void add_loops(ts_arena *arena, const ts_shape *shape, ts_text *out) {
    ts_index_map map;
    if (shape->notation == NULL || strcmp(shape->notation, "tvm") != 0) return;
    ts_source source = {"layout", shape->layout_text, strlen(shape->layout_text)};
    ts_text loops = ts_text_begin(arena);
    if (!ts_index_map_parse(NULL, arena, &source, &map) ||
        !ts_index_map_print_loops(NULL, arena, &map, shape->layout->dims, &loops))
        return;
    ts_text_add(out, "\n  loops in the order of memory\n");
    for (const char *line = loops.bytes; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        ts_text_add(out, "    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void ts_report_shape(ts_arena *arena, const ts_shape *shape, ts_text *out) {
    ts_text_add(out, "%s\n\n", ts_shape_text(arena, shape));
    if (shape->layout == NULL) {
        if (shape->xla->is_tuple)
            report_tuple(arena, shape, out);
        else if (shape->bytes == TS_SIZE_UNKNOWN)
            ts_text_add(out, "  an unbounded dimension ('?') has no size\n");
        else
            ts_text_add(out, "  holds no data\n");
        return;
    }
    add_sizes(shape, out);
    if (shape->layout->function.forward == NULL) {
        ts_layout_anatomy anatomy;
        ts_layout_dissect(arena, shape->layout, &anatomy);
        add_costs_table(arena, shape, &anatomy, out);
        add_digits(shape->layout, &anatomy, out);
    }
    ts_report_axes(shape->layout, out);
    add_loops(arena, shape, out);
    size_t before = out->length;
    ts_text_add_char(out, '\n');
    if (!ts_report_picture(arena, shape, out)) out->bytes[out->length = before] = '\0';
}

/* ---- JSON ---- */

static void add_costs_json(const ts_layout_anatomy *anatomy, ts_json *json) {
    ts_json_array(json, "costs");
    for (int i = 0; i < anatomy->cost_count; i++) {
        const ts_layout_cost *cost = &anatomy->costs[i];
        int64_t dims[TS_LAYOUT_MAX_DIMS];
        for (int k = 0; k < cost->dim_count; k++) dims[k] = cost->dims[k];
        ts_json_object(json, NULL);
        ts_json_ints(json, "dims", cost->dim_count, dims);
        ts_json_int(json, "extent", cost->extent);
        ts_json_int(json, "padded", cost->padded);
        ts_json_close(json);
    }
    ts_json_close(json);
}

static void add_layout_json(ts_arena *arena, const ts_layout *layout, ts_json *json) {
    ts_json_ints(json, "dims", layout->rank, layout->dims);
    ts_report_axes_json(layout, json);
    if (layout->function.forward != NULL) return;
    ts_layout_anatomy anatomy;
    ts_layout_dissect(arena, layout, &anatomy);
    add_costs_json(&anatomy, json);
    ts_json_array(json, "digits");
    for (int i = 0; i < layout->digit_count; i++) {
        ts_json_object(json, NULL);
        ts_json_int(json, "extent", layout->digits[i].extent);
        ts_json_int(json, "stride", layout->digits[i].stride);
        ts_json_text(json, "axis", layout->axes[layout->digits[i].axis].name);
        ts_json_text(json, "value", anatomy.values[i]);
        ts_json_close(json);
    }
    ts_json_close(json);
}

void ts_report_shape_json(ts_arena *arena, const ts_shape *shape, ts_json *json) {
    ts_json_text(json, "canonical", ts_shape_text(arena, shape));
    ts_json_count(json, "padded_elements", shape->padded_elements);
    ts_json_count(json, "bytes", shape->bytes);
    ts_json_count(json, "storage_bytes", shape->storage_bytes);
    ts_json_count(json, "unpadded_bytes", shape->unpadded_bytes);
    if (shape->bytes != TS_SIZE_UNKNOWN && shape->unpadded_bytes != TS_SIZE_UNKNOWN)
        report_shape_padding_json(json, shape, shape->bytes);
    ts_json_int(json, "replica_bytes", report_replica_bytes(shape));
    if (shape->layout == NULL) return;
    ts_json_text(json, "element", ts_dtype_get(shape->dtype)->name);
    ts_json_int(json, "element_bits", shape->element_bits);
    ts_json_int(json, "memory_space", shape->memory_space);
    add_layout_json(arena, shape->layout, json);
}
