/* Audits as text and as CSV: what each table says, how many rows it shows, what its marks mean. */
#include "report/audit.h"

#include <limits.h>

#include "report/machine.h"
#include "tests/support/group.h"
#include "tests/support/small_audit.h"
#include "tests/support/written.h"

static small_audit *a;

static const char *text_of(int rows) {
    ts_text out = ts_text_begin(arena);
    ts_report_audit(&a->result, &(ts_audit_view){"m.hlo", rows}, &out);
    return out.bytes;
}

static const char *section(int rows, const char *beginning) {
    return section_of(arena, text_of(rows), beginning);
}

/* ---- Words ---- */

TEST(what_pads_a_shape) {
    static const struct {
        ts_audit_shape shape;
        const char *text;
    } rows[] = {
        {{.text = "f32[8]", .logical_bytes = 32, .padded_bytes = 32, .worst_dim = 0}, "none"},
        {{.text = "f32[8]", .logical_bytes = 33, .padded_bytes = 32, .worst_dim = 0}, "none"},
        {{.text = "f32[8]", .logical_bytes = 31, .padded_bytes = 32, .worst_dim = -1}, "tile"},
        {{.text = "token", .logical_bytes = 31, .padded_bytes = 32, .worst_dim = -1}, "tile"},
        {{.text = "f32[]{:T(8)}", .logical_bytes = 4, .padded_bytes = 32, .worst_dim = -1},
         "a scalar's tile"},
        {{.text = "f32[2,3]",
          .logical_bytes = 24,
          .padded_bytes = 4096,
          .worst_dim = 1,
          .worst_extent = 3,
          .worst_padded = 128},
         "dim 1 (minor) 3 to 128"},
        {{.text = "f32[2,3]", .padded_bytes = 1, .worst_extent = 2, .worst_padded = 8, .worst_rank = 1},
         "dim 0 (second minor) 2 to 8"},
        {{.text = "f32[2,3]", .padded_bytes = 1, .worst_rank = 2}, "dim 0 (third minor) 0 to 0"},
        {{.text = "f32[2,3]", .padded_bytes = 1, .worst_rank = 3}, "dim 0 (major) 0 to 0"},
        /* 12 bytes of data in 36; nothing else is wasted. */
        {{.text = "s4[3]", .logical_bytes = 12, .padded_bytes = 36, .widened_bytes = 24, .worst_dim = 0},
         "elements stored 3x as wide"},
        {{.text = "s4[3]",
          .logical_bytes = 12,
          .padded_bytes = 37,
          .widened_bytes = 24,
          .worst_extent = 3,
          .worst_padded = 8},
         "elements stored 3x as wide, dim 0 (minor) 3 to 8"},
        {{.text = "s4[3]", .logical_bytes = 12, .padded_bytes = 37, .widened_bytes = 24, .worst_dim = -1},
         "elements stored 3x as wide, tile"},
        {{.text = "s4[3]", .logical_bytes = 12, .padded_bytes = 37, .widened_bytes = 1, .worst_dim = -1},
         "elements stored 1x as wide, tile"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(ts_report_audit_cause(arena, &rows[i].shape), rows[i].text);
}

TEST(what_a_move_changes) {
    static const struct {
        unsigned changes;
        const char *text;
    } rows[] = {
        {0, "nothing"},
        {TS_AUDIT_TYPE, "type"},
        {TS_AUDIT_REVERSED, "reversed"},
        {TS_AUDIT_ORDER | TS_AUDIT_PADDING, "order+padding"},
        {127, "type+order+tile+space+dims+padding+reversed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(ts_report_audit_changes(arena, rows[i].changes), rows[i].text);
}

TEST(spaces_have_names) {
    static const char *const names[] = {"hbm", "vmem", "flags", "cmem", "other", "host", "smem", "other"};
    for (int i = 0; i < 8; i++) assert_string_equal(ts_report_audit_space(i), names[i]);
    assert_string_equal(ts_report_audit_space(TS_AUDIT_SPACES - 1), "other");
    assert_string_equal(ts_report_audit_space(TS_AUDIT_SPACES), "all");
}

/* "read" and "made": of whose operand it is. */
TEST(where_it_comes_from) {
    static const struct {
        ts_audit_source source;
        const char *text;
    } rows[] = {
        {{-1, TS_AUDIT_OWN, ""}, ""},
        {{-1, TS_AUDIT_OWN, "op"}, "op"},
        {{0, TS_AUDIT_OWN, ""}, "a.py:3"},
        {{0, TS_AUDIT_OWN, "op"}, "a.py:3: op"},
        {{1, TS_AUDIT_OWN, "op"}, "b.py:5 in f: op"},
        {{1, TS_AUDIT_MAKER, "op"}, "op, made at b.py:5 in f"},
        {{0, TS_AUDIT_READER, ""}, "read at a.py:3"},
        {{0, TS_AUDIT_READER, "op"}, "op, read at a.py:3"},
    };
    a = small_audit_new(arena);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(ts_report_audit_source(arena, &a->result, &rows[i].source), rows[i].text);
}

TEST(what_is_saved) {
    static const struct {
        ts_audit_finding finding;
        const char *text;
    } rows[] = {
        {{.is_move = true, .microseconds_saved = 1.25}, "saves 1.250 us"},
        {{.is_move = true, .index = 2, .microseconds_saved = 1.25, .bytes_saved = 1},
         "saves about 1.250 us, 1B"},
        {{.is_move = true, .index = 2, .at_most = true}, "saves at most 0.000 us"},
        {{.index = 2, .microseconds_saved = 2, .bytes_saved = 4096},
         "saves 2.000 us each time they are read, 4.0K"},
        {{.bytes_saved = -1}, "saves 0.000 us each time they are read"},
    };
    a = small_audit_new(arena);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(ts_report_audit_saving(arena, &a->result, &rows[i].finding), rows[i].text);
}

/* ---- Tables ---- */

/* Of a text with nothing in it. */
TEST(nothing_at_all) {
    a = small_audit_empty(arena);
    a->result.sum.widened_bytes = 1;
    assert_holds(text_of(9), "           1 byte of it is of elements stored wider");
    a->result.sum.widened_bytes = 0;
    assert_string_equal(
        text_of(9),
        "text       m.hlo: 0 bytes, 0 lines\n"
        "           0 instructions in 0 computations\n"
        "machine    m (of hand)\n\n"
        "buffers    space       buffers        logical bytes         padded bytes  expansion  padding\n"
        "           all               0                    0                    0          -    0.0 %\n"
        "           summed over instructions, not what is live at once\n\n"
        "padding    none\n"
        "in all     0.000 us; fused ones at most 0.000 us more (<); free: 0 bitcasts, 0 others\n\n"
        "findings   none\n");
    a->text.computations = 1;
    a->result.has_entry = false;
    assert_holds(text_of(9), " in 1 computation; ENTRY is not in the text\n");
    a->text.computations = 0;
    assert_holds(text_of(9), " in 0 computations\n");
}

TEST(texts_and_sums) {
    a = small_audit_new(arena);
    assert_string_equal(section(9, "text"),
                        "text       m.hlo: 12,345 bytes, 1,000 lines, module jit_f\n"
                        "           2,000 instructions in 2 computations\n"
                        "machine    m (of hand)\n"
                        "tiles      of shapes without them, and orders that none has chosen: the TPU "
                        "compiler's, generation 6\n");
    assert_string_equal(
        section(9, "buffers"),
        "buffers    space       buffers        logical bytes         padded bytes  expansion  padding\n"
        "           hbm               5                8,000               20,000      2.50x   60.0 %\n"
        "           other             1                2,000                5,000      2.50x   60.0 %\n"
        "           all               6               10,000               25,000      2.50x   60.0 %\n"
        "           1,024 bytes of it are elements stored wider than their type\n"
        "           summed over instructions, not what is live at once\n");
}

TEST(reported_figures_and_allocations) {
    a = small_audit_new(arena);
    assert_string_equal(section(3, "memory"),
                        "memory that the text reports\n"
                        "  line 50             2.0K  hbm: used\n"
                        "  line 51              64B  temp\n"
                        "  line 60             4.0K  allocation, parameter 0, 96B of data: f32[8,3]{a}\n"
                        "  line 61             512B  allocation, temp, shared by 2 values\n"
                        "  line 62             256B  live at the peak: v.1, 4.0K of data: f32[8,128]{d}\n");
    assert_holds(section(2, "memory"), "shared by 2 values\n  and 1 more; --all lists them\n");
    a->result.allocation_count = 0;
    assert_holds(section(3, "memory"), "64B  temp\n");
    a->result.figure_count = 0;
    assert_string_equal(section(3, "memory"), "");
}

TEST(reported_sizes) {
    a = small_audit_new(arena);
    assert_string_equal(section(3, "sizes"),
                        "sizes that the text reports: 1 of 2 equal the computed ones\n"
                        "  line 40             4.0K 42.7x   equals          4.0K 42.7x  f32[8,3]{a}\n"
                        "  line 41             4.0K        differs         8.0K       f32[4,128]{b} (tiles "
                        "assumed)\n"
                        "  line 42              16B        a tuple: the size of its table of pointers\n");
    assert_null(strstr(section(2, "sizes"), "line 42"));
    a->result.report_count = 0;
    assert_string_equal(section(3, "sizes"), "");
}

#define CLASSES "padding    buffers     padded    logical  expansion  shape, cause, the first one\n"
#define BLANKS  "                                                     "
#define CLASS_0                                                                                              \
    "                 3       4.0K        96B      42.7x  f32[8,3]{a}\n" BLANKS                              \
    "dim 1 (minor) 3 to 128, the target of a copy;\n" BLANKS "    a.1, line 7\n"
#define CLASS_1                                                                                              \
    "                 1       4.0K       2.0K       2.0x  f32[4,128]{b} (tiles assumed)\n" BLANKS            \
    "dim 0 (second minor) 4 to 8; line 9\n"
#define MOVES_LEFT_OUT   "        2,500 smaller moves are not listed, nor priced\n"
#define BUFFERS_LEFT_OUT "        1,500 buffers with less padding are in the sums only\n"

/* Those without padding are listed where all are asked for. */
TEST(padded_shapes) {
    a = small_audit_new(arena);
    assert_string_equal(section(2, "padding"), CLASSES CLASS_0 CLASS_1 BUFFERS_LEFT_OUT);
    assert_string_equal(section(3, "padding"), CLASSES CLASS_0 CLASS_1 BUFFERS_LEFT_OUT);
    assert_string_equal(section(4, "padding"), CLASSES CLASS_0 CLASS_1
                        "                 2       4.0K       4.0K       1.0x  f32[8,128]{d}\n" BLANKS
                        "none; c.1, line 11\n" BUFFERS_LEFT_OUT);
    a->result.buffers_left_out = 1;
    assert_holds(text_of(3), "        1 buffer with less");
    a->result.buffers_left_out = 0;
    assert_string_equal(section(1, "padding"),
                        CLASSES CLASS_0 "        and 1 more shape with padding; --all lists them\n");
    a->result.class_count = 1;
    assert_string_equal(section(1, "padding"), CLASSES CLASS_0);
    a->result.classes = &a->classes[2];
    assert_string_equal(section(1, "padding"), "padding    none\n");
    assert_holds(section(2, "padding"), "none; c.1, line 11\n");
}

/* What is copied, started or not, or ordered anew, is a target of it; without padding nobody asks. */
TEST(targets_of_copies) {
    static const struct {
        ts_hlo_opcode opcode;
        bool target;
    } rows[] = {{TS_HLO_OP_COPY, true},    {TS_HLO_OP_COPY_START, true}, {TS_HLO_OP_TRANSPOSE, true},
                {TS_HLO_OP_RESHAPE, true}, {TS_HLO_OP_ADD, false},       {TS_HLO_OPCODES, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        a = small_audit_new(arena);
        a->classes[0].first.opcode = rows[i].opcode;
        bool said = strstr(section(1, "padding"), ", the target of a copy;") != NULL;
        assert_int_equal(said, rows[i].target);
        a->classes[0].waste_bytes = 0;
        assert_null(strstr(section(9, "padding"), ", the target of a copy;"));
    }
}

#define MOVES "moves        count    us each     us in all  what changes, from what to what, the first one\n"
#define TO    "\n                     "
#define MOVE_0                                                                                               \
    "                 2       1.500        9.000  copy (entry): order+tile, by a program, runs 6 times" TO   \
    "f32[8,128]{d} to" TO "f32[8,128]{e}; copy.1, line 20\n"
#define MOVE_1                                                                                               \
    "                 1 <     0.500 <      0.500  transpose (fused): padding, in a loop of unknown" TO       \
    "length, in a branch" TO "f32[8,128]{d} to" TO "f32[8,3]{a}; t.1, line 21\n"
#define MOVE_2                                                                                               \
    "                 1 ~     0.250 ~      0.250  copy (loop or branch): order, as two passes, in a" TO      \
    "branch" TO "f32[8,128]{e} to" TO "f32[8,128]{d}; copy.2, line 22\n"
#define MOVE_3                                                                                               \
    "                 1           -            -  dynamic-update-slice (level unknown): dims, in a loop" TO  \
    "of unknown length; too many dims" TO "f32[8,128]{e}; u.1, line 23\n"
#define MOVE_4                                                                                               \
    "                 4       0.000        0.000  reshape (entry): 10 bytes" TO                              \
    "f32[8,128]{d}; r.1, line 24\n"

static const char *moves(int rows) {
    const char *all = section(rows, "moves"), *end = strstr(all, "in all     ");
    return ts_text_format(arena, "%.*s", (int)(end - all), all);
}

/* What is free is listed where all is asked for, and counts as no row. */
TEST(moves_by_time) {
    a = small_audit_new(arena);
    assert_string_equal(moves(INT_MAX), MOVES MOVE_0 MOVE_1 MOVE_2 MOVE_3 MOVE_4 MOVES_LEFT_OUT);
    assert_string_equal(moves(4), MOVES MOVE_0 MOVE_1 MOVE_2 MOVE_3 MOVES_LEFT_OUT);
    a->result.moves_left_out = 1;
    assert_holds(text_of(4), "        1 smaller move is not");
    a->result.moves_left_out = 0;
    assert_string_equal(moves(2),
                        MOVES MOVE_0 MOVE_1 "        and 2 more kinds of moves; --all lists them\n");
}

static const char *sums_of_moves(void) {
    ts_text out = ts_text_begin(arena);
    ts_report_audit_move_sums(&a->result, &out);
    return out.bytes;
}

#define IN_ALL                                                                                               \
    "in all     ~9.250 us; fused ones at most 0.500 us more (<); free: 1,001 bitcasts, 1,002 others\n"
#define SCALED                                                                                               \
    "           1,003 layouts are priced by their plans, the largest;\n"                                     \
    "           1 smaller move as the nearest of its kind (~)\n"
#define ENDLESS "           2 moves are in loops whose rounds are not known: counted once\n"

/* Of branches only what is priced, and not fused. */
TEST(sums_of_all_moves) {
    a = small_audit_new(arena);
    assert_string_equal(sums_of_moves(), IN_ALL SCALED ENDLESS
                        "           0.250 us of it are 1 move in branches: all count, but a conditional runs "
                        "one\n"
                        "           2.5 us of it are 2 collectives between chips\n"
                        "not priced: 1,007 collectives\n");
    a->groups[0].first.in_branch = a->groups[3].first.in_branch = true;
    a->groups[3].total_microseconds = 100;
    assert_holds(sums_of_moves(), "           9.250 us of it are 3 moves in branches");
    a->groups[3].first.trips_unknown = false;
    assert_holds(sums_of_moves(), "           1 move is in a loop");
    a->groups[1].first.count = 5;
    assert_holds(sums_of_moves(), "           5 moves are in loops");
    a->groups[1].first.opcode = TS_HLO_OP_ALL_REDUCE;
    a->groups[1].first.level = TS_AUDIT_LEVEL_ENTRY;
    assert_holds(sums_of_moves(), "2.5 us of it are 2 collectives");
    a->groups[1].first.level = TS_AUDIT_LEVEL_FUSED; /* then some of them are none of the 9.250 us */
    assert_holds(sums_of_moves(), "2.5 us of both are 2 collectives");
    a->result.group_count = 0;
    a->result.scaled_moves = 0;
    a->result.collectives = 2;
    assert_string_equal(sums_of_moves(), IN_ALL "           2.5 us of it are 2 collectives between chips\n");
    a->result.collectives_priced = 1;
    assert_holds(sums_of_moves(), "of it are 1 collective between chips\nnot priced: 1 collective\n");
    a->result.collectives_priced = 0;
    assert_string_equal(sums_of_moves(),
                        IN_ALL "not priced: 2 collectives; --mesh says between which devices\n");
    a->request.exact = true;
    assert_holds(sums_of_moves(), "in all     9.250 us;");
}

/* Which moves' sources are of no matter, or not known. */
TEST(sources_of_moves) {
    a = small_audit_new(arena);
    assert_string_equal(ts_report_audit_from(&a->result, &a->groups[0].first), "f32[8,128]{d}");
    assert_null(ts_report_audit_from(&a->result, &a->groups[3].first));
    assert_null(ts_report_audit_from(&a->result, &a->groups[4].first));
    a->groups[0].first.src = 0;
    a->groups[0].first.changes = 0;
    assert_string_equal(ts_report_audit_from(&a->result, &a->groups[0].first), "f32[8,3]{a}");
    assert_holds(text_of(1), "copy (entry): nothing, by a program");
    a->groups[0].first.name[1] = '\0';
    assert_holds(text_of(1), "; c, line 20\n");
    a->groups[4].first.changes = TS_AUDIT_SPACE;
    assert_holds(text_of(INT_MAX), "reshape (entry): space" TO "f32[8,128]{d}; r.1");
}

TEST(predicted_copies) {
    a = small_audit_new(arena);
    assert_string_equal(section(2, "copies"),
                        "copies     that the compiler will insert (docs/layouts.md): 2\n"
                        "           p.0 for dot.1, line 70, 8.0K\n"
                        "               {i} to\n               {j}\n"
                        "           d.1 as a result, line 71, 4.0K\n"
                        "               {k} to\n               {l}\n");
    assert_null(strstr(section(1, "copies"), "d.1"));
    a->result.copies_predicted = false;
    assert_string_equal(section(2, "copies"), "");
}

#define FINDING_1                                                                                            \
    "  1. copy: order+tile\n     f32[8,128]{d} to\n     f32[8,128]{e}\n"                                     \
    "     at copy.1, line 20 and 1 more\n"                                                                   \
    "     source: jit(f)/t, made at b.py:5 in f\n     fix: fix 1\n     saves 6.500 us\n"
#define FINDING_2                                                                                            \
    "  2. pad 2\n     at a.1, line 7 and 2 more\n     source: a.py:3: x\n     fix: fix 2\n"                  \
    "     saves at most 2.250 us each time they are read, 8.0K\n"
#define FINDING_3                                                                                            \
    "  3. copy: order\n     f32[8,128]{e} to\n     f32[8,128]{d}\n     at copy.2, line 22\n"                 \
    "     source: op, read at a.py:3\n     fix: fix 3\n     saves about 0.125 us, 1.00M\n"

/* By bytes: those that are not above are in full. */
TEST(findings_by_time_and_bytes) {
    a = small_audit_new(arena);
    assert_string_equal(section(4, "findings by time"),
                        "findings by time (3 of 3)\n" FINDING_1 FINDING_2 FINDING_3);
    assert_string_equal(section(4, "findings by bytes"),
                        "findings by bytes\n  1.00M: number 3 above\n  8.0K: number 2 above\n");
    assert_string_equal(section(2, "findings by time"), "findings by time (2 of 3)\n" FINDING_1 FINDING_2);
    assert_string_equal(section(2, "findings by bytes"),
                        "findings by bytes\n" FINDING_3 "  8.0K: number 2 above\n");
    assert_string_equal(section(1, "findings by bytes"), "findings by bytes\n" FINDING_3);
    a->classes[0].first.source = (ts_audit_source){-1, TS_AUDIT_OWN, ""};
    assert_holds(text_of(9), "line 7 and 2 more\n     fix: fix 2\n");
    a->classes[0].first.source.op[0] = 'x';
    assert_holds(text_of(9), "line 7 and 2 more\n     source: x\n     fix: fix 2\n");
    a->classes[0].first.source = (ts_audit_source){0, TS_AUDIT_OWN, ""};
    assert_holds(text_of(9), "line 7 and 2 more\n     source: a.py:3\n     fix: fix 2\n");
    a->findings[2].bytes_saved = 1;
    assert_holds(text_of(9), "findings by bytes\n  1B: number 3 above\n");
    a->findings[2].bytes_saved = 0;
    assert_string_equal(section(9, "findings by bytes"), "");
}

/* At most five, unless all are asked for. */
TEST(five_findings) {
    static const struct { int rows, shown; } cases[] = {{4, 4}, {5, 5}, {6, 5}, {7, 5}, {8, 7}};
    ts_audit_finding seven[7];
    int by_bytes[7] = {0};
    a = small_audit_new(arena);
    for (int i = 0; i < 7; i++) seven[i] = a->findings[0];
    a->result.findings = seven;
    a->result.by_bytes = by_bytes;
    a->result.finding_count = 7;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *text = section(cases[i].rows, "findings by time");
        int count = 0;
        for (const char *at = text; (at = strstr(at, "fix: ")) != NULL; at++) count++;
        assert_int_equal(count, cases[i].shown);
        assert_holds(text, ts_text_format(arena, "(%d of 7)", cases[i].shown));
    }
}

TEST(what_was_not_understood) {
    a = small_audit_new(arena);
    assert_string_equal(section(9, "not understood"), "not understood, or left out\n"
                                                      "       1,234  opcode; line 30: %x = y\n"
                                                      "           1  shapes\n");
    a->result.kind_count = 0;
    assert_string_equal(section(9, "not understood"), "");
}

TEST(as_csv) {
    ts_text out = ts_text_begin(arena);
    a = small_audit_new(arena);
    a->result.group_count = 4;
    ts_report_audit_csv(&a->result, NULL, &out);
    assert_string_equal(
        out.bytes,
        "kind,name,line,opcode,source,shape,space,logical_bytes,padded_bytes,cause,count,runs,changes,"
        "microseconds,level\n"
        "buffer,\"a.1\",7,copy,,\"f32[8,3]{a}\",0,96,4096,\"dim 1 (minor) 3 to 128\",3,,,,\n"
        "buffer,\"say \"\"b\"\"\",9,,,\"f32[4,128]{b}\",1,2048,4096,\"dim 0 (second minor) 4 to "
        "8\",1,,,,\n"
        "move,\"copy.1\",20,copy,\"f32[8,128]{d}\",\"f32[8,128]{e}\",1,4096,4000,,2,6,order+tile,"
        "1.500000,entry\n"
        "move,\"t.1\",21,transpose,\"f32[8,128]{d}\",\"f32[8,3]{a}\",0,4096,4096,,1,1,padding,"
        "0.500000,fused\n"
        "move,\"copy.2\",22,copy,\"f32[8,128]{e}\",\"f32[8,128]{d}\",0,64,32,,1,1,order,0.250000,"
        "loop or branch\n"
        "move,\"u.1\",23,dynamic-update-slice,\"\",\"f32[8,128]{e}\",0,0,77,,1,1,dims,,level "
        "unknown\n"
        "memory,\"used\",50,,,,0,,2048,,,,,,\n"
        "memory,\"temp\",51,,,,,,64,,,,,,\n"
        "allocation,\"parameter 0\",60,,,\"f32[8,3]{a}\",0,96,4096,,1,,,,\n"
        "allocation,\"temp\",61,,,\"\",,,512,,2,,,,\n"
        "peak,\"v.1\",62,,,\"f32[8,128]{d}\",1,4096,256,,,,,,\n");
}

int main(void) { return run_all_tests(begin_group, end_group); }
