/* A result of an audit made by hand. */
#include "tests/support/small_audit.h"

#include <string.h>

#define OWN_NOWHERE                                                                                          \
    { -1, TS_AUDIT_OWN, "" }

/* Padded by its minor dim 128 / 3 times, by its second minor one 2 times, by width 2 times, not at all. */
static const ts_audit_shape shapes[] = {
    {.text = "f32[8,3]{a}",
     .logical_bytes = 96,
     .padded_bytes = 4096,
     .worst_dim = 1,
     .worst_extent = 3,
     .worst_padded = 128,
     .worst_rank = 0,
     .tiled = true},
    {.text = "f32[4,128]{b}",
     .logical_bytes = 2048,
     .padded_bytes = 4096,
     .worst_dim = 0,
     .worst_extent = 4,
     .worst_padded = 8,
     .worst_rank = 1,
     .assumed = true,
     .memory_space = 1},
    {.text = "s4[2048]{c}",
     .logical_bytes = 1024,
     .padded_bytes = 2048,
     .widened_bytes = 1024,
     .worst_dim = -1},
    {.text = "f32[8,128]{d}", .logical_bytes = 4096, .padded_bytes = 4096, .worst_dim = -1},
    {.text = "f32[8,128]{e}", .logical_bytes = 4096, .padded_bytes = 4096, .worst_dim = -1},
    {.text = "f32[]{f}", .logical_bytes = 4, .padded_bytes = 512, .worst_dim = -1},
};

static const ts_audit_class classes[] = {
    {0, 3, 12000, {.name = "a.1", .line = 7, .opcode = TS_HLO_OP_COPY, .source = {0, TS_AUDIT_OWN, "x"}}},
    {1, 1, 2048, {.name = "", .line = 9, .opcode = TS_HLO_OPCODES, .space = 1, .source = OWN_NOWHERE}},
    {3, 2, 0, {.name = "c.1", .line = 11, .opcode = TS_HLO_OP_ADD, .source = OWN_NOWHERE}},
};

static const ts_audit_group groups[] = {
    {{.line = 20,
      .name = "copy.1",
      .source = {1, TS_AUDIT_MAKER, "jit(f)/t"},
      .opcode = TS_HLO_OP_COPY,
      .src = 3,
      .dst = 4,
      .changes = TS_AUDIT_ORDER | TS_AUDIT_TILE,
      .from = 0,
      .to = 1,
      .read_bytes = 4096,
      .written_bytes = 4000,
      .level = TS_AUDIT_LEVEL_ENTRY,
      .count = 2,
      .runs = 6},
     .priced = true,
     .by = "a program",
     .cycles = 1500,
     .microseconds = 1.5,
     .total_microseconds = 9},
    {{.line = 21,
      .name = "t.1",
      .source = OWN_NOWHERE,
      .opcode = TS_HLO_OP_TRANSPOSE,
      .src = 3,
      .dst = 0,
      .changes = TS_AUDIT_PADDING,
      .read_bytes = 4096,
      .written_bytes = 4096,
      .level = TS_AUDIT_LEVEL_FUSED,
      .count = 1,
      .runs = 1,
      .trips_unknown = true,
      .in_branch = true},
     .priced = true,
     .cycles = 500,
     .microseconds = .5,
     .total_microseconds = .5},
    {{.line = 22,
      .name = "copy.2",
      .source = {0, TS_AUDIT_READER, "op"},
      .opcode = TS_HLO_OP_COPY,
      .src = 4,
      .dst = 3,
      .changes = TS_AUDIT_ORDER,
      .level = TS_AUDIT_LEVEL_CONTROL,
      .count = 1,
      .runs = 1,
      .read_bytes = 64,
      .written_bytes = 32,
      .in_branch = true},
     .priced = true,
     .scaled = true,
     .by = "two passes",
     .cycles = 250,
     .microseconds = .25,
     .total_microseconds = .25},
    {{.line = 23,
      .name = "u.1",
      .source = OWN_NOWHERE,
      .opcode = TS_HLO_OP_DYNAMIC_UPDATE_SLICE,
      .src = 3,
      .dst = 4,
      .level = TS_AUDIT_LEVEL_UNKNOWN,
      .count = 1,
      .runs = 1,
      .trips_unknown = true,
      .written_bytes = 77,
      .changes = TS_AUDIT_SHAPE},
     .why_not = "too many dims"},
    {{.line = 24,
      .name = "r.1",
      .source = OWN_NOWHERE,
      .opcode = TS_HLO_OP_RESHAPE,
      .src = -1,
      .dst = 3,
      .level = TS_AUDIT_LEVEL_ENTRY,
      .count = 4,
      .runs = 4,
      .written_bytes = 10},
     .priced = true,
     .moves_nothing = true},
};

static const ts_audit_finding findings[] = {
    {"fix 1", "{g}", "move 1", true, 0, 0, 6.5, false},
    {"fix 2", NULL, "pad 2", false, 0, 8192, 2.25, true},
    {"fix 3", "{h}", "move 3", true, 2, 1 << 20, .125, false},
};

static const ts_audit_kind kinds[] = {{"opcode", 1234, 30, "%x = y"}, {"shapes", 1, 0, ""}};

static const ts_audit_report reports[] = {
    {40, 0, "4.0K", "4.0K", "42.7x", "42.7x", true, false},
    {41, 1, "4.0K", "8.0K", "", "", false, false},
    {42, -1, "16B", "", "", "", false, true},
};

static const ts_audit_figure figures[] = {{50, 2048, "used", "2.0K", 0}, {51, 64, "temp", "64B", -1}};

static const ts_audit_allocation allocations[] = {
    {60, 4096, "4.0K", "parameter 0", 0, 0, 0, 1, false},
    {61, 512, "512B", "temp", -1, -1, -1, 2, false},
    {62, 256, "256B", "v.1", 1, -1, 3, 0, true},
};

static const ts_audit_copy copies[] = {{70, 8192, "p.0", "dot.1", "{i}", "{j}"},
                                       {71, 4096, "d.1", "", "{k}", "{l}"}};

small_audit *small_audit_empty(ts_arena *arena) {
    small_audit *a = TS_NEW(arena, small_audit);
    a->machine.name = "m";
    a->machine.title = "of hand";
    a->machine.chip.generation = 6;
    a->machine.chip.sustained_khz = 1000000;
    a->request.machine = &a->machine;
    a->result = (ts_audit_result){.request = &a->request, .text = &a->text, .has_entry = true};
    a->result.locations = ts_hlo_locations_new(arena);
    return a;
}

/* The first has no function. */
static void add_locations(ts_hlo_locations *to) {
    static const char old[] = "source_file=\"a.py\" source_line=3";
    static const char *const tables[] = {"FileNames",
                                         "1 \"b.py\"",
                                         "",
                                         "FunctionNames",
                                         "1 \"f\"",
                                         "",
                                         "FileLocations",
                                         "1 {file_name_id=1 function_name_id=1 line=5}",
                                         "",
                                         "StackFrames",
                                         "1 {file_location_id=1}",
                                         ""};
    ts_hlo_locations_find(to, (ts_span){old, strlen(old)});
    ts_hlo_locations_begin(to);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        ts_hlo_locations_row(to, (ts_span){tables[i], strlen(tables[i])});
    ts_hlo_locations_find(to, (ts_span){"stack_frame_id=1", 16});
}

#define TAKE(list)  memcpy(a->list, list, sizeof list)
#define COUNT(list) (int)(sizeof list / sizeof list[0])

small_audit *small_audit_new(ts_arena *arena) {
    small_audit *a = small_audit_empty(arena);
    ts_audit_result *r = &a->result;
    TAKE(shapes), TAKE(classes), TAKE(groups), TAKE(findings), TAKE(kinds), TAKE(reports), TAKE(figures);
    TAKE(allocations), TAKE(copies);
    static const int by_bytes[] = {2, 1, 0};
    TAKE(by_bytes);
    static const ts_audit_buffer buffers[] = {
        {.name = "a.1", .line = 7, .opcode = TS_HLO_OP_COPY, .shape = 0, .count = 3},
        {.name = "say \"b\"", .line = 9, .opcode = TS_HLO_OPCODES, .shape = 1, .count = 1}};
    TAKE(buffers);
    a->text = (ts_hlo_counts){.bytes = 12345, .lines = 1000, .instructions = 2000, .computations = 2};
    r->module = "jit_f";
    r->assumed_tiles = true;
    r->shapes = a->shapes, r->shape_count = COUNT(shapes);
    r->classes = a->classes, r->class_count = COUNT(classes);
    r->groups = a->groups, r->group_count = COUNT(groups);
    r->buffers = a->buffers, r->buffer_count = COUNT(buffers);
    r->findings = a->findings, r->finding_count = COUNT(findings);
    r->by_bytes = a->by_bytes;
    r->kinds = a->kinds, r->kind_count = COUNT(kinds);
    r->reports = a->reports, r->report_count = COUNT(reports);
    r->reports_agreeing = 1, r->reports_compared = 2;
    r->figures = a->figures, r->figure_count = COUNT(figures);
    r->allocations = a->allocations, r->allocation_count = COUNT(allocations);
    r->copies = a->copies, r->copy_count = COUNT(copies), r->copies_predicted = true;
    r->sum = (ts_audit_sum){6, 10000, 25000, 1024};
    r->spaces[0] = (ts_audit_sum){5, 8000, 20000, 1024};
    r->spaces[TS_AUDIT_SPACES - 1] = (ts_audit_sum){1, 2000, 5000, 0};
    r->buffers_left_out = 1500, r->moves_left_out = 2500;
    r->bitcasts = 1001, r->free_moves = 1002;
    r->collectives = 1009, r->collective_bytes = 4096, r->collectives_priced = 2,
    r->collective_microseconds = 2.5;
    r->microseconds = 9.25, r->fused_microseconds = .5;
    r->plans_priced = 1003, r->scaled_moves = 1;
    add_locations((ts_hlo_locations *)r->locations);
    return a;
}
