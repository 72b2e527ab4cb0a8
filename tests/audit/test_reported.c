/* Sizes that compilers print beside ours, where a message says that arrays lie, and arrays without tiles. */
#include "audit/audit_state.h"

#include <string.h>

#include "tests/support/audited.h"
#include "tests/support/group.h"

/* As tsl's HumanReadableNumBytes: three digits behind 1024 from K on, a decimal of K and two of what is more. */
TEST(sizes_are_printed) {
    static const struct {
        int64_t bytes;
        const char *text;
    } rows[] = {{0, "0B"},
                {1023, "1023B"},
                {1024, "1.0K"},
                {1536, "1.5K"},
                {6656, "6.5K"},
                {65535, "64.0K"},
                {(1 << 20) - 1, "1024.0K"},
                {1 << 20, "1.00M"},
                {3 << 19, "1.50M"},
                {1 << 30, "1.00G"},
                {INT64_C(5) << 29, "2.50G"},
                {INT64_C(1) << 40, "1.00T"},
                {INT64_C(1) << 50, "1.00P"},
                {INT64_C(1) << 60, "1.00E"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[16];
        ts_audit_print_bytes(text, rows[i].bytes);
        assert_string_equal(text, rows[i].text);
    }
}

static ts_audit *report(const char *heading, const char *size, const char *shape, ts_audit_result *r) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text,
                "Ran out of memory in memory space hbm.\n\n  Largest program allocations in %s:\n\n"
                "  1. Size: 4.0K\n     Shape: f32[8,128]{1,0:T(8,128)}\n     Allocation type: scoped\n"
                "     ==========================\n\n"
                "  2. Size: %s\n     Shape: %s\n     Allocation type: HLO temp\n"
                "     ==========================\n",
                heading, size, shape);
    return audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, r);
}

/* f32[8,128] takes 4096 bytes; f32[9,100] is padded to 16 x 128. A tuple's size is of no array. */
TEST(sizes_are_compared) {
    static const struct {
        const char *size, *shape;
        bool compared, agrees;
    } rows[] = {
        {"4.0K", "f32[8,128]{1,0:T(8,128)}", true, true},
        {"8.0K", "f32[8,128]{1,0:T(8,128)}", true, false},
        {"8.0K", "f32[9,100]{1,0:T(8,128)}", true, true},
        {"4096B", "f32[8,128]{1,0:T(8,128)}", true, true},
        {"4097B", "f32[8,128]{1,0:T(8,128)}", true, false},
        {"4.00M", "f32[1024,1024]{1,0:T(8,128)}", true, true},
        {"8.0K", "(f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)})", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_audit_result r;
        ts_audit *audit = report("hbm", rows[i].size, rows[i].shape, &r);
        if (r.report_count != 2 || r.reports_compared != 1 + rows[i].compared ||
            r.reports_agreeing != 1 + rows[i].agrees)
            fail_msg("%s of %s: %d, %d compared, %d agree", rows[i].size, rows[i].shape, r.report_count,
                     r.reports_compared, r.reports_agreeing);
        ts_audit_free(audit);
    }
}

/* Of an array without an order: the rule's, else the nearest that the size is of, else the rule's. */
TEST(sizes_say_the_order) {
    static const struct {
        const char *size, *shape, *found;
    } rows[] = {
        {"64.0K", "f32[256,64]", "f32[256,64]{0,1:T(8,128)}"},
        {"128.0K", "f32[256,64]", "f32[256,64]{1,0:T(8,128)}"},
        {"96.0K", "f32[256,64]", "f32[256,64]{0,1:T(8,128)}"},
        {"1.0K", "f32[3,16]", "f32[3,16]{1,0:T(4,128)}"},
        {"8.0K", "f32[3,16]", "f32[3,16]{0,1:T(8,128)}"},
        {"192B", "f32[3,16]", "f32[3,16]"},
        {"1000.0K", "f32[4,500,96]", "f32[4,500,96]{2,0,1:T(4,128)}"},
        {"400.0K", "f32[4,4,200]", "f32[4,4,200]{1,2,0:T(8,128)}"},
        {"128.0K", "f32[256,64]{0,1}", "f32[256,64]{0,1:T(8,128)}"},
        {"4.0K", "f32[]", "f32[]{:T(128)}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text,
                    "  Largest program allocations in hbm:\n\n  1. Size: %s\n     Shape: %s\n     =====\n",
                    rows[i].size, rows[i].shape);
        ts_audit_result r;
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.report_count, 1);
        assert_string_equal(r.shapes[r.reports[0].shape].text, rows[i].found);
        ts_audit_free(audit);
    }
}

/* In the memory of the heading, as XLA numbers it, unless the shape says another. */
TEST(headings_say_where) {
    static const struct {
        const char *heading, *shape;
        int first, second; /* memory spaces of the two */
    } rows[] = {
        {"hbm", "f32[8,128]{1,0:T(8,128)}", 0, 0},
        {"vmem", "f32[8,128]{1,0:T(8,128)}", 1, 1},
        {"vmem", "f32[16,128]{1,0:T(8,128)S(3)}", 1, 3},
        {"hbm", "f32[16,128]{1,0:T(8,128)S(5)}", 0, 5},
        {"hbm", "f32[16,128]{1,0:T(8,128)S(2)}", 0, 2},
        {"smem", "f32[16,128]{1,0:T(8,128)}", 6, 6},
        {"smem", "f32[16,128]{1,0:T(8,128)S(6)}", 6, 6},
        {"hbm", "f32[16,128]{1,0:T(8,128)S(6)}", 0, 6},
        {"hbm", "f32[16,128]{1,0:T(8,128)S(7)}", 0, TS_AUDIT_SPACES - 1},
        {"hbm", "f32[16,128]{1,0:T(8,128)S(4)}", 0, TS_AUDIT_SPACES - 1}, /* of no name */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_audit_result r;
        ts_audit *audit = report(rows[i].heading, "4.0K", rows[i].shape, &r);
        int64_t expected[TS_AUDIT_SPACES] = {0};
        expected[rows[i].first]++;
        expected[rows[i].second]++;
        for (int k = 0; k < TS_AUDIT_SPACES; k++)
            if (r.spaces[k].buffers != expected[k])
                fail_msg("row %zu: %d in space %d", i, (int)r.spaces[k].buffers, k);
        ts_audit_free(audit);
    }
}

/* f32[3,5] without tiles takes 60 bytes; with those of the rule, T(4,128), 2048. */
TEST(arrays_without_tiles) {
    static const struct {
        ts_audit_untiled untiled;
        const char *other;
        int64_t bytes;
    } rows[] = {
        {TS_AUDIT_UNTILED_AUTO, "f32[8,128]{1,0:T(8,128)}", 60},
        {TS_AUDIT_UNTILED_AUTO, "f32[8,128]{1,0}", 2048},
        {TS_AUDIT_UNTILED_LINEAR, "f32[8,128]{1,0:T(8,128)}", 60},
        {TS_AUDIT_UNTILED_LINEAR, "f32[8,128]{1,0}", 60},
        {TS_AUDIT_UNTILED_RULE, "f32[8,128]{1,0:T(8,128)}", 2048},
        {TS_AUDIT_UNTILED_RULE, "f32[8,128]{1,0}", 2048},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_audit_request request = v6e_audit;
        ts_text text = ts_text_begin(arena);
        ts_audit_result r;
        request.untiled = rows[i].untiled;
        ts_text_add(&text,
                    "HloModule m, is_scheduled=true\n\nENTRY %%main {\n  %%a = %s parameter(0)\n"
                    "  ROOT %%b = f32[3,5]{1,0} parameter(1)\n}\n",
                    rows[i].other);
        ts_audit *audit = audited(arena, &request, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.sum.buffers, 2);
        assert_int_equal(r.sum.logical_bytes, 4096 + 60);
        assert_int_equal(r.sum.padded_bytes, 4096 + rows[i].bytes);
        ts_audit_free(audit);
    }
}

/* Tuples in tuples, 65 of them and not one more; of nothing, too, and of what is short. */
TEST(tuples_are_deep) {
    static const struct {
        int tuples;
        const char *inner;
        int64_t arrays;
        const char *kind; /* NULL: all was understood */
    } rows[] = {{1, "", 0, NULL},
                {1, "s4[]", 1, NULL},
                {2, "", 0, NULL},
                {3, "f32[8], token[], f32[9]", 2, NULL},
                {2, "f32[8], , f32[9],", 2, NULL},
                {65, "f32[8]", 1, NULL},
                {66, "f32[8]", 0, "tuples nested more than 64 deep"},
                {1, "f32[8], ...", 1, "members of a tuple that the text leaves out"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_audit *audit = ts_audit_new(arena, &v6e_audit);
        ts_text text = ts_text_begin(arena);
        for (int k = 0; k < rows[i].tuples; k++) ts_text_add(&text, "(");
        ts_text_add(&text, "%s", rows[i].inner);
        for (int k = 0; k < rows[i].tuples; k++) ts_text_add(&text, ")");
        int32_t shape = audit_intern(audit, 7, (ts_span){text.bytes, text.length});
        assert_true(shape >= 0 && audit->shapes[shape].is_tuple);
        assert_int_equal(audit->shapes[shape].leaf_count, rows[i].arrays);
        assert_int_equal(audit->kind_count, rows[i].kind != NULL);
        if (rows[i].kind) assert_string_equal(audit->kinds[0].kind, rows[i].kind);
        assert_int_equal(audit_intern(audit, 8, (ts_span){text.bytes, text.length}), shape);
        ts_audit_free(audit);
    }
}

/* What a text lacks is counted once all of it was read. */
TEST(what_is_cut_off_is_noted) {
    enum { LONG = (1 << 20) + 100 };
    static const struct {
        const char *begin, *end;
        int zeros; /* between them */
        const char *kind;
    } rows[] = {
        {"HloModule m\n\nENTRY %main {\n  %a = f32[8,128]{1,0} parameter(0), index=", "\n", 1,
         "computations that do not end"},
        {"HloModule m\n\nENTRY %main {\n  %a = f32[8,128]{1,0} parameter(0), metadata={", "}\n}\n", LONG,
         "lines longer than 1 MiB, whose middle was left out"},
        {"HloModule m\n\nENTRY %main {\n  %a = f32[8,128]{1,0} parameter(0), index=", "\n}\n", 1, NULL},
        {"HloModule m, entry_computation_layout={(f32[8,128]{1,0:T(8,128)})->f32[8]{0:T(128)}}\n\n"
         "ENTRY %main (x: f32[8,128], y",
         "", 1, "computations that do not end"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_audit_result r;
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text, "%s%0*d%s", rows[i].begin, rows[i].zeros, 0, rows[i].end);
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
        bool found = false;
        for (int k = 0; k < r.kind_count; k++)
            found |= rows[i].kind && strcmp(r.kinds[k].kind, rows[i].kind) == 0 && r.kinds[k].count == 1;
        if (found != (rows[i].kind != NULL)) fail_msg("row %zu: %d kinds", i, r.kind_count);
        assert_int_equal(r.kind_count, rows[i].kind != NULL);
        assert_int_equal(r.sum.buffers, 1);
        ts_audit_free(audit);
    }
}

/* An instruction that ends in its operands has its result; without an opcode what is there may be half a shape. */
TEST(instructions_that_are_not_understood) {
    static const struct {
        const char *end;
        int buffers;
        const char *kinds;
    } rows[] = {{"add(%b, %b", 2, "1 of instructions that are cut off; 1 of computations that do not end; "},
                {"", 1,
                 "1 of an instruction that ends before its opcode; 1 of instructions that are cut off; "
                 "1 of computations that do not end; "},
                {"frobnicate(%b)\n}\n", 2, "1 of unknown instruction 'frobnicate'; "}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_audit_result r;
        ts_text text = ts_text_begin(arena), kinds = ts_text_begin(arena);
        ts_text_add(&text,
                    "HloModule m\n\nENTRY %%main {\n  %%b = f32[8,128]{1,0} parameter(0)\n"
                    "  %%a = f32[8,256]{1,0} %s",
                    rows[i].end);
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
        for (int k = 0; k < r.kind_count; k++)
            ts_text_add(&kinds, "%d of %s; ", (int)r.kinds[k].count, r.kinds[k].kind);
        assert_string_equal(kinds.bytes, rows[i].kinds);
        assert_int_equal(r.sum.buffers, rows[i].buffers);
        ts_audit_free(audit);
    }
}

static ts_span span_of(const char *text) { return (ts_span){text, strlen(text)}; }

/* They have no number, however often they are met, and each time is counted. */
TEST(shapes_that_are_none) {
    static const struct {
        const char *shape, *kind;
    } rows[] = {{"f99[8]", "shape: "},
                {"f32[8", "shape: "},
                {"f32[8]{1}", "shape: "},
                {"f32[?,8]{1,0}", "shape: an unbounded dimension has no size"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_audit *audit = ts_audit_new(arena, &v6e_audit);
        for (int k = 0; k < 2; k++)
            assert_int_equal(audit_intern(audit, 3, span_of(rows[i].shape)), AUDIT_NONE);
        assert_int_equal(audit->kind_count, 1);
        assert_int_equal(audit->kinds[0].count, 2);
        assert_int_equal(strncmp(audit->kinds[0].kind, rows[i].kind, strlen(rows[i].kind)), 0);
        assert_int_equal(audit->shape_count, 0);
        ts_audit_free(audit);
    }
}

/* XLA's tuples: copy-start's of its destination, source and context, others' of operand and result; of send the data. */
TEST(starts_make_a_member) {
    static const char three[] = "(f32[8,128]{1,0}, bf16[4]{0}, u32[])";
    static const struct {
        ts_hlo_opcode opcode;
        const char *shape, *member;
    } rows[] = {
        {TS_HLO_OP_COPY_START, three, "f32[8,128]{1,0}"},
        {TS_HLO_OP_SEND, three, "f32[8,128]{1,0}"},
        {TS_HLO_OP_RECV, three, "f32[8,128]{1,0}"},
        {TS_HLO_OP_ALL_GATHER_START, three, "bf16[4]{0}"},
        {TS_HLO_OP_SLICE_START, three, "bf16[4]{0}"},
        {TS_HLO_OP_COPY_START, "(f32[8,128]{1,0})", "f32[8,128]{1,0}"},
        {TS_HLO_OP_SLICE_START, "(f32[8,128]{1,0})", ""},
        {TS_HLO_OP_COPY_START, "()", ""},
        {TS_HLO_OP_COPY_START, "f32[8,128]{1,0}", "f32[8,128]{1,0}"}, /* what is no tuple is itself */
        {TS_HLO_OP_COPY_START, "(", "("},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_span found = audit_started(rows[i].opcode, span_of(rows[i].shape));
        if (!ts_span_is(found, rows[i].member)) fail_msg("row %zu: '%.*s'", i, (int)found.length, found.text);
    }
    assert_true(audit_is_start(TS_HLO_OP_COPY_START) && audit_is_start(TS_HLO_OP_ALL_GATHER_START));
    assert_false(audit_is_start(TS_HLO_OP_ALL_REDUCE_START));
    assert_false(audit_is_start(TS_HLO_OP_COPY_DONE) || audit_is_start(TS_HLO_OP_ADD));
}

/* What messages say of shapes: the line, the size and factor as printed, ours; "!": they differ. Ours of f32[8,128] are 4096
 * bytes; f32[8,65] in tiles is 2.0 times (4096 of 2080 bytes) as large. */
static const struct {
    const char *text, *reports;
} messages[] = {
    {"Size: 4.0K\nShape: f32[8,128]{1,0:T(8,128)}\n", "1 4.0K , 4.0K \n"},
    {"  1. Size: 4.0KiB\n  Shape: f32[8,128]{1,0:T(8,128)}\n", "1 4.0K , 4.0K \n"},
    {"I0102 03:04:05 a.cc:67] \tSize: 4.0K,\nI0102 03:04:05 a.cc:68] Shape: f32[8,128]{1,0:T(8,128)} \n",
     "1 4.0K , 4.0K \n"},
    {"Size: 4.0K\nShape: f32[8,65]{1,0:T(8,128)}\nExtra memory due to padding: 1.97K (2.0x expansion)\n",
     "1 4.0K 2.0x, 4.0K 2.0x\n"},
    {"Size: 4.0K\nShape: f32[8,65]{1,0:T(8,128)}\nExtra memory due to padding: 1.97K (1.9x expansion)\n",
     "1 4.0K 1.9x, 4.0K 2.0x!\n"},
    {"Size: 4.0K\nShape: f32[8,65]{1,0:T(8,128)}\nExtra memory due to padding: 1.97K (2.0x)\n",
     "1 4.0K 2.0x, 4.0K 2.0x\n"},
    /* a shape without a size is in no report; a size without a shape is noted */
    {"Shape: f32[8,128]{1,0:T(8,128)}\n", ""},
    {"Size: 4.0K\n", ""},
    /* each size begins an entry, and so does each shape behind a shape */
    {"Size: 8.0K\nSize: 4.0K\nShape: f32[8,128]{1,0:T(8,128)}\n", "2 4.0K , 4.0K \n"},
    {"Size: 4.0K\nShape: f32[8,128]{1,0:T(8,128)}\nShape: f32[16,128]{1,0:T(8,128)}\n", "1 4.0K , 4.0K \n"},
    {"Size: 4.0K\n=====\nShape: f32[8,128]{1,0:T(8,128)}\n", ""},
    {"Size: large\nShape: f32[8,128]{1,0:T(8,128)}\n", ""},
    /* sizes before shapes in a line, the last before each */
    {"allocated size 4096 for f32[8,128]{1,0:T(8,128)}\n", "1 4096 , 4096 \n"},
    {"size=4096: f32[8,128]{1,0:T(8,128)}\n", "1 4096 , 4096 \n"},
    {"size: 8192 f32[8,128]{1,0:T(8,128)}\n", "1 8192 , 4096 !\n"},
    /* with a unit, as reports round them, and at the end of a sentence */
    {"size 4.0KiB : f32[8,128]{1,0:T(8,128)}\n", "1 4.0K , 4.0K \n"},
    {"size 8.00MiB, f32[2048,1024]{1,0:T(8,128)}\n", "1 8.00M , 8.00M \n"},
    {"size=8.25M f32[2048,1024]{1,0:T(8,128)}\n", "1 8.25M , 8.00M !\n"},
    {"size 4096B f32[8,128]{1,0:T(8,128)}\n", "1 4096B , 4096B \n"},
    {"a size of 4096. size .5 f32[8,128]{1,0:T(8,128)}\n", ""},
    {"size 4096. f32[8,128]{1,0:T(8,128)}\n", "1 4096 , 4096 \n"},
    {"size 1, size 4096 f32[8,128]{1,0:T(8,128)} size 8192 f32[16,128]{1,0:T(8,128)}\n",
     "1 4096 , 4096 \n1 8192 , 8192 \n"},
    {"size 4096, and 44 bytes of text later, which is too far f32[8,128]{1,0:T(8,128)}\n", ""},
    {"Allocation (size=4096) would exceed memory (size=134217728) :: f32[8,128]{1,0:T(8,128)}\n",
     "1 4096 , 4096 \n"},
    {"size 102400000 f32[5000,5000]{1,0:T(8,128)}\n", "1 102400000 , 102400000 1.0x\n"}, /* 5000 x 5120 */
    /* without tiles: as the size says, 60 bytes, or in those of the rule, T(4,128) */
    {"Size: 60B\nShape: f32[3,5]{1,0}\n", "1 60B , 60B \n"},
    {"Size: 2.0K\nShape: f32[3,5]{1,0}\n", "1 2.0K , 2.0K 34.1x\n"},
    {"Size: 1.0K\nShape: f32[3,5]{1,0}\n", "1 1.0K , 2.0K 34.1x!\n"},
    {"Size: 4.0K\nShape: f32[8,128]{1,0}\n", "1 4.0K , 4.0K \n"},
    {"size 4 f32[]\n", "1 4 , 4 \n"},
    /* and once it has said so, of all that are alike */
    {"Size: 60B\nShape: f32[3,5]{1,0}\nSize: 2.0K\nShape: f32[3,5]{1,0}\n", "1 60B , 60B \n3 2.0K , 60B !\n"},
    {"f32[8,128]{1,0:T(8,128)} of no size\n", ""},
};

TEST(messages_are_read) {
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        ts_audit_result r;
        ts_text found = ts_text_begin(arena);
        ts_audit *audit =
            audited(arena, &v6e_audit, (audited_text){messages[i].text, strlen(messages[i].text), 0}, &r);
        for (int k = 0; k < r.report_count; k++)
            ts_text_add(&found, "%d %s %s, %s %s%s\n", (int)r.reports[k].line, r.reports[k].reported,
                        r.reports[k].reported_expansion, r.reports[k].computed,
                        r.reports[k].computed_expansion, r.reports[k].agrees ? "" : "!");
        if (strcmp(found.bytes, messages[i].reports) != 0)
            fail_msg("%s: %s, expected %s", messages[i].text, found.bytes, messages[i].reports);
        ts_audit_free(audit);
    }
}

TEST(texts_of_nothing) {
    static const struct {
        const char *text;
        size_t length;
        const char *message; /* NULL: it holds something */
    } rows[] = {
        {"", 0, "it is empty, expected a module as text"},
        {"hello\n", 6,
         "it holds no instruction or shape in 1 line, expected HLO text, such as '%a = "
         "f32[8,128]{1,0:T(8,128)} parameter(0)'"},
        {"a\nb\n", 4,
         "it holds no instruction or shape in 2 lines, expected HLO text, such as '%a = "
         "f32[8,128]{1,0:T(8,128)} parameter(0)'"},
        {"a /* b\nf32[8]\n", 14,
         "it holds no instruction or shape in 2 lines, as a comment does not end, expected HLO text, such as "
         "'%a = "
         "f32[8,128]{1,0:T(8,128)} parameter(0)'"},
        {"\n\0\n", 3,
         "it is binary and holds no instruction or shape, expected HLO as text "
         "(XLA_FLAGS=--xla_dump_hlo_as_text)"},
        {"%a = f32[8,128]{1,0:T(8,128)} parameter(0)\n", 43, NULL},
        {"%a = token[] after-all()\n", 25, NULL}, /* one instruction, of no bytes */
        {"Size: 4.0K\n", 11, NULL},               /* one allocation, of no shape */
        {"size 4096 f32[8,128]{1,0:T(8,128)}\n", 35, NULL},
        {"HBM capacity 8.0K:\n", 19, NULL}, /* one figure */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_audit_result r;
        ts_error err = {0};
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){rows[i].text, rows[i].length, 0}, &r);
        assert_int_equal(ts_audit_check_any(&err, &r, "it"), rows[i].message == NULL);
        if (rows[i].message) assert_string_equal(err.message, rows[i].message);
        ts_audit_free(audit);
    }
}

int main(void) { return run_all_tests(begin_audits, end_group); }
