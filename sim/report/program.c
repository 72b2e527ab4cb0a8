/* Live ranges and memory maps as text. */
#include "report/program.h"

#include "program/live.h"
#include "report/json.h"

/* ---- Live ranges ---- */

enum { COLUMNS = 88 };

typedef struct {
    const ts_program *program;
    const ts_live *live;
    int bundles, per_column;
} chart;

static bool is_live(const chart *c, ts_live_kind kind, int reg, int first, int end) {
    for (int i = first; i < end && i < c->bundles; i++)
        if (ts_live_has(&c->live[i], kind, reg)) return true;
    return false;
}

static void add_row(ts_text *out, const chart *c, ts_live_kind kind, char letter, int reg) {
    if (!is_live(c, kind, reg, 0, c->bundles)) return;
    ts_text_add(out, "  %c%-4d ", letter, reg);
    for (int first = 0; first < c->bundles; first += c->per_column)
        ts_text_add_char(out, is_live(c, kind, reg, first, first + c->per_column) ? '#' : '.');
    ts_text_add(out, "\n");
}

static void add_kind(ts_text *out, const chart *c, ts_live_kind kind, const char *name, char letter,
                     int have) {
    int most = 0, where = 0;
    for (int i = 0; i < c->bundles; i++) {
        int count = ts_live_count(&c->live[i], kind);
        where = count > most ? i : where;
        most = count > most ? count : most;
    }
    ts_text_add(out, "%-7s at most %d of %d live", name, most, have);
    if (most > 0) {
        ts_text_add(out, ", before bundle %d, ", where);
        ts_program_print_location(c->program, ts_program_source(c->program, where),
                                  ts_program_line(c->program, where), out);
    }
    ts_text_add(out, "\n");
    for (int reg = 0; reg < have; reg++) add_row(out, c, kind, letter, reg);
}

void ts_report_live(const ts_program *program, const ts_target *target, ts_text *out) {
    ts_arena *scratch = ts_arena_new();
    const ts_isa_limits *limits = &target->core.limits;
    int bundles = program->code.bundle_count;
    chart c = {program, ts_program_live(scratch, program), bundles,
               bundles > COLUMNS ? (bundles + COLUMNS - 1) / COLUMNS : 1};
    ts_text_add(out, "%s, a column is %d; a register is live where its value is still read\n",
                ts_text_counted(out->arena, bundles, "bundle"), c.per_column);
    add_kind(out, &c, TS_LIVE_SREGS, "sregs", 's', limits->sregs);
    add_kind(out, &c, TS_LIVE_VREGS, "vregs", 'v', limits->vregs);
    add_kind(out, &c, TS_LIVE_VMASKS, "vmasks", 'm', limits->vmasks);
    ts_arena_free(scratch);
}

/* ---- The memory map ---- */

static void add_tensor(ts_text *out, const ts_tensor *tensor) {
    ts_text_add(out, "  %14s .. %14s  %14s  %-8s %s\n", ts_text_grouped(out->arena, tensor->base_bytes),
                ts_text_grouped(out->arena, tensor->base_bytes + (tensor->bytes > 0 ? tensor->bytes - 1 : 0)),
                ts_text_grouped(out->arena, tensor->bytes), tensor->name,
                ts_shape_text(out->arena, tensor->shape));
}

/* Tensors lie one behind the other, in the order in which they were declared. */
static void add_space(ts_text *out, const ts_program *program, const ts_target *target, ts_space_kind space) {
    int64_t used = program->used_bytes[space], have = target->space_bytes[space];
    if (used == 0) return;
    ts_text_add(out, "%s: %s of %s used (%.2f %%), %s free\n", ts_space_text(space),
                ts_text_grouped(out->arena, used), ts_text_counted(out->arena, have, "byte"),
                100.0 * (double)used / (double)have, ts_text_grouped(out->arena, have - used));
    ts_text_add(out, "  %14s    %14s  %14s  %-8s %s\n", "first byte", "last byte", "bytes", "tensor",
                "shape");
    for (int i = 0; i < program->code.tensor_count; i++)
        if (program->code.tensors[i].space == space) add_tensor(out, &program->code.tensors[i]);
}

void ts_report_map(const ts_program *program, const ts_target *target, ts_text *out) {
    for (int i = 0; i < TS_SPACE_COUNT; i++) add_space(out, program, target, (ts_space_kind)i);
}

/* ---- Bundles ---- */

void ts_report_bundles_json(const ts_program *program, ts_text *out) {
    ts_json json;
    ts_text text = ts_text_begin(out->arena);
    ts_json_begin(&json, out, "bundles");
    ts_json_array(&json, "bundles");
    for (int i = 0; i < program->code.bundle_count; i++) {
        const ts_source *source = ts_program_source(program, i);
        ts_text_clear(&text);
        ts_program_print_bundle(program, i, &text);
        ts_json_object(&json, NULL);
        ts_json_text(&json, "file", source ? source->name : NULL);
        ts_json_int(&json, "line", ts_program_line(program, i));
        ts_json_text(&json, "text", text.bytes);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_end(&json);
}
