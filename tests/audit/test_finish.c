/* What an audit comes to: which moves are free, in which order lists are, what is counted. */
#include "audit/audit_private.h"

#include <string.h>

#include "tests/support/audited.h"
#include "tests/support/group.h"

#define HEADER "HloModule m, is_scheduled=true\n\n"
#define A      "f32[64,256]{1,0:T(8,128)}" /* of 64 KiB, 8 x 2 tiles */

static ts_audit *audit_of(const char *text, ts_audit_result *r) {
    return audited(arena, &v6e_audit, (audited_text){text, strlen(text), 0}, r);
}

/* ---- What is free ---- */

/* In a fused computation a move is free that keeps order, tiles and padding; elsewhere where no byte moves. */
static const struct {
    const char *instruction; /* of %p, which is A, and %u, of 8 rows in VMEM */
    bool fused, entry;       /* is it free there? */
    unsigned changes;        /* where it is fused */
} frees[] = {
    {A " copy(%p)", true, false, 0},
    {"f32[64,256]{0,1:T(8,128)} copy(%p)", false, false, TS_AUDIT_ORDER | TS_AUDIT_PADDING},
    {"f32[64,256]{1,0:T(4,128)} copy(%p)", false, false, TS_AUDIT_TILE},
    {"f32[64,256]{1,0:T(128,128)} copy(%p)", false, false, TS_AUDIT_TILE | TS_AUDIT_PADDING},
    {"f32[64,256]{1,0:T(8,128)S(1)} copy(%p)", true, false, TS_AUDIT_SPACE},
    {"f32[256,64]{0,1:T(8,128)} transpose(%p), dimensions={1,0}", true, true, 0},
    {"f32[256,64]{1,0:T(8,128)} transpose(%p), dimensions={1,0}", false, false,
     TS_AUDIT_ORDER | TS_AUDIT_PADDING},
    {"f32[8,8,256]{2,1,0:T(8,128)} reshape(%p)", true, true, TS_AUDIT_SHAPE},
    {"f32[128,128]{1,0:T(8,128)} reshape(%p)", true, false, TS_AUDIT_SHAPE},
    {"f32[128,128]{1,0:T(8,128)} dynamic-reshape(%p)", true, false, TS_AUDIT_SHAPE},
    {"f32[512,32]{1,0:T(8,128)} reshape(%p)", false, false, TS_AUDIT_SHAPE | TS_AUDIT_PADDING},
    {"f32[16,256]{1,0:T(8,128)} slice(%p), slice={[0:16],[0:256]}", true, false, TS_AUDIT_SHAPE},
    {"f32[66,256]{1,0:T(8,128)} pad(%p, %u), padding=1_1x0_0", true, false,
     TS_AUDIT_SHAPE | TS_AUDIT_PADDING},
    {A " reverse(%p), dimensions={0}", true, false, TS_AUDIT_REVERSED},
    {A " dynamic-update-slice(%p, %u, %i, %i)", true, false,
     TS_AUDIT_SHAPE}, /* from VMEM, as its text says */
};

TEST(some_moves_are_free) {
    for (size_t i = 0; i < sizeof frees / sizeof *frees; i++)
        for (int fused = 0; fused < 2; fused++) {
            ts_audit_result r;
            ts_audit *audit = audit_of(
                ts_text_format(
                    arena,
                    HEADER "%s {\n  %%p = " A " parameter(0)\n"
                           "  %%u = f32[8,256]{1,0:T(8,128)S(1)} parameter(1)\n"
                           "  %%i = s32[]{:T(128)} parameter(2)\n  ROOT %%m = %s\n}\n\n%s",
                    fused ? "%fused_computation" : "ENTRY %main", frees[i].instruction,
                    fused ? "ENTRY %main {\n  ROOT %f = f32[] fusion(), calls=%fused_computation\n}\n" : ""),
                &r);
            const bool free = fused ? frees[i].fused : frees[i].entry;
            assert_int_equal(r.group_count, 1);
            if (r.free_moves != free || (r.groups[0].cycles == 0) != free)
                fail_msg("%s, fused %d: %d are free", frees[i].instruction, fused, (int)r.free_moves);
            assert_true(r.groups[0].priced && r.scaled_moves == 0);
            assert_true(r.groups[0].total_microseconds == (fused ? r.fused_microseconds : r.microseconds));
            assert_true((fused ? r.microseconds : r.fused_microseconds) == 0);
            if (fused) assert_int_equal(r.groups[0].first.changes, frees[i].changes);
            ts_audit_free(audit);
        }
}

/* Whose dims cannot be read may move all. */
TEST(a_transpose_of_unknown_dims_is_not_free) {
    ts_audit_result r;
    ts_audit *audit =
        audit_of(HEADER "%fused_computation {\n  %p = " A " parameter(0)\n"
                        "  ROOT %t = " A " transpose(%p), dimensions={0,0}\n}\n\n"
                        "ENTRY %main {\n  ROOT %f = " A " fusion(), calls=%fused_computation\n}\n",
                 &r);
    assert_true(r.group_count == 1 && r.free_moves == 0 && !r.groups[0].priced);
    assert_string_equal(r.groups[0].why_not, "its dimensions cannot be read");
    ts_audit_free(audit);
}

/* ---- Lists and their order ---- */

/* Free moves take no time: those of more bytes are first, of all runs, read and written; then the earlier line. A pad
 * reads 64 KiB and writes 72, the slices move 16 and run five times. */
TEST(equal_times_are_in_order_of_bytes) {
    static const char text[] =
        HEADER "%fused_computation.1 {\n  %p = " A " parameter(0)\n"
               "  %z = f32[]{:T(128)} constant(0)\n"
               "  %c = " A " copy(%p)\n" /* line 6 */
               "  %d = f32[72,256]{1,0:T(8,128)} pad(%p, %z), padding=4_4x0_0\n"
               "  %e = f32[128,128]{1,0:T(8,128)} reshape(%p)\n}\n\n"
               "%fused_computation.2 {\n  %p = " A " parameter(0)\n"
               "  ROOT %s = f32[16,256]{1,0:T(8,128)} slice(%p), slice={[0:16],[0:256]}\n"
               "}\n\nENTRY %main {\n  %a = f32[] fusion(), calls=%fused_computation.1\n"
               "  %b = f32[] fusion(), calls=%fused_computation.2\n"
               "  %c = f32[] fusion(), calls=%fused_computation.2\n"
               "  %d = f32[] fusion(), calls=%fused_computation.2\n"
               "  %e = f32[] fusion(), calls=%fused_computation.2\n"
               "  ROOT %f = f32[] fusion(), calls=%fused_computation.2\n}\n";
    static const char *const names[] = {"s", "d", "c", "e"};
    ts_audit_result r;
    ts_audit *audit = audit_of(text, &r);
    assert_int_equal(r.group_count, 4);
    for (int i = 0; i < 4; i++) assert_string_equal(r.groups[i].first.name, names[i]);
    assert_true(r.groups[0].first.runs == 5 && r.free_moves == 4);
    ts_audit_free(audit);
}

/* Of a shape those in different memories are apart, though a text has them by turns; where they waste as much in all,
 * the earlier line is first. */
TEST(buffers_are_classes) {
    static const char hbm[] = "  Largest program allocations in hbm:\n",
                      vmem[] = "  Largest program allocations in vmem:\n", size[] = "  %d. Size: %s\n",
                      shape[] = "     Shape: f32[%s]{1,0:T(8,128)}\n     Unpadded size: %s\n"
                                "     ==========================\n";
    static const struct {
        const char *heading, *dims, *size, *unpadded;
    } entries[] = {
        {hbm, "9,128", "8.0K", "4.5K"},  {vmem, "9,128", "8.0K", "4.5K"}, {hbm, "9,128", "8.0K", "4.5K"},
        {vmem, "9,128", "8.0K", "4.5K"}, {hbm, "2,128", "4.0K", "1.0K"},  {hbm, "2,128", "4.0K", "1.0K"},
        {hbm, "4,128", "4.0K", "2.0K"},  {hbm, "8,128", "4.0K", "4.0K"},
    };
    static const struct {
        int count, entry, space;
        int64_t waste_bytes;
    } classes[] = {{2, 0, 0, 7168}, {2, 1, 1, 7168}, {2, 4, 0, 6144}, {1, 6, 0, 2048}, {1, 7, 0, 0}};
    ts_text text = ts_text_begin(arena);
    int lines[8], line = 1;
    for (int i = 0; i < 8; i++) {
        ts_text_add(&text, "%s", entries[i].heading);
        ts_text_add(&text, size, i + 1, entries[i].size);
        ts_text_add(&text, shape, entries[i].dims, entries[i].unpadded);
        lines[i] = line + 1, line += 5;
    }
    ts_audit_result r;
    ts_audit *audit = audit_of(text.bytes, &r);
    assert_true(r.buffer_count == 8 && r.class_count == 5);
    for (int i = 0; i < 5; i++) {
        assert_true(r.classes[i].count == classes[i].count && r.classes[i].first.space == classes[i].space);
        assert_int_equal(r.classes[i].first.line, lines[classes[i].entry]);
        assert_int_equal(r.classes[i].waste_bytes, classes[i].waste_bytes);
    }
    assert_true(r.spaces[0].buffers == 6 && r.spaces[1].buffers == 2);
    for (int i = 1; i < 8; i++) assert_true(r.buffers[i - 1].waste_bytes >= r.buffers[i].waste_bytes);
    ts_audit_free(audit);
}

/* What is read before the first tile is of no tiles either: 9 x 130 words. */
TEST(tiles_of_the_end_are_all_s) {
    ts_audit_result r;
    ts_audit *audit = audit_of("HloModule m\n\nENTRY %main {\n  %a = f32[9,130]{1,0} parameter(0)\n"
                               "  %c = f32[9,130]{0,1} copy(%a)\n"
                               "  ROOT %b = f32[8,128]{1,0:T(8,128)} parameter(1)\n}\n",
                               &r);
    assert_int_equal(r.group_count, 1);
    assert_int_equal(r.groups[0].first.read_bytes, 4680);
    assert_int_equal(r.groups[0].first.written_bytes, 4680);
    ts_audit_free(audit);
}

/* ---- What is counted ---- */

enum { PLANS = 12, MOVES = PLANS + 3 };

typedef struct {
    int64_t calls, of;
} progress;

static void count(void *self, int64_t done, int64_t of) {
    progress *p = self;
    assert_int_equal(done, ++p->calls);
    p->of = of;
}

/* The largest are priced by their plans; the others are as much slower than in order as the nearest. The smallest is there
 * twice. */
TEST(small_plans_are_scaled) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, HEADER "ENTRY %%main {\n");
    for (int i = 0; i <= MOVES; i++) {
        int rows = 128 * (i < MOVES ? i + 1 : 1);
        ts_text_add(&text, "  %%a%d = f32[%d,128]{1,0:T(8,128)} parameter(%d)\n", i, rows, i);
        ts_text_add(&text, "  %%c%d = f32[%d,128]{0,1:T(8,128)} copy(%%a%d)\n", i, rows, i);
    }
    ts_text_add(&text, "}\n");
    ts_error err = {0};
    ts_audit_result r;
    progress seen = {0};
    ts_audit *audit = ts_audit_new(arena, &v6e_audit);
    ts_audit_feed(audit, text.bytes, text.length);
    assert_true(ts_audit_finish(&err, audit, count, &seen, &r));
    assert_true(r.group_count == MOVES && seen.calls == MOVES && seen.of == MOVES);
    assert_int_equal(r.plans_priced, PLANS);
    assert_int_equal(r.scaled_moves, MOVES - PLANS + 1);
    double all = 0;
    for (int i = 0; i < MOVES; i++) {
        const ts_audit_group *g = &r.groups[i];
        assert_int_equal(g->scaled, r.shapes[g->first.dst].logical_bytes <= (MOVES - PLANS) * 65536);
        assert_int_equal(g->first.count, r.shapes[g->first.dst].logical_bytes == 65536 ? 2 : 1);
        all += g->total_microseconds;
    }
    assert_true(r.microseconds > 0.999 * all && r.microseconds < 1.001 * all);
    ts_audit_free(audit);
}

/* A text that ends in the middle, and one that ends with its header, whose arguments are buffers. */
TEST(texts_that_end_early) {
    ts_audit_result r;
    ts_error err = {0};
    ts_audit *audit = audit_of(HEADER "ENTRY %main {\n  %a = " A " parameter(0)\n  %b = f32[64,", &r);
    assert_int_equal(r.kind_count, 3); /* the first is of its line */
    assert_string_equal(r.kinds[1].kind, "instructions that are cut off");
    assert_string_equal(r.kinds[2].kind, "computations that do not end");
    for (int i = 1; i < 3; i++) assert_true(r.kinds[i].count == 1 && r.kinds[i].first_line == 0);
    ts_audit_free(audit);
    audit = audit_of("HloModule m, entry_computation_layout={(" A ")->()}\n", &r);
    assert_true(r.text->instructions == 0 && r.sum.buffers == 1 && r.group_count == 0);
    assert_string_equal(r.buffers[0].name, "parameter 0");
    assert_true(ts_audit_check_any(&err, &r, "it"));
    ts_audit_free(audit);
}

int main(void) { return run_all_tests(begin_audits, end_group); }
