/* What the debugger shows: where a program stands, registers, parts of tensors, what happened. */
#include "report/debug.h"

#include <string.h>

#include "tests/support/group.h"
#include "tests/support/run_text.h"

static ts_run_request request;
static ts_session *session;
static ts_mesh mesh;

/* At cycle 0; axes: of a mesh, NULL: none. */
static void begin_on(const char *axes, const char *text) {
    ts_error err = {0};
    request = (ts_run_request){.program = "a.tsim", .max_cycles = INT64_MAX, .mesh = axes ? &mesh : NULL};
    request.machine = ts_machine_load(&err, arena, "tpu-v5e");
    ts_mesh_request of = {.machine = request.machine, .axes = {"mesh", axes, axes ? strlen(axes) : 0}};
    if (axes) assert_true(ts_mesh_read(&err, arena, &of, &mesh));
    request.built = assemble_text(arena, request.machine, text);
    session = ts_session_open(&err, arena, &request);
    if (!session) fail_msg("%s", err.message);
}

static void begin(const char *text) { begin_on(NULL, text); }

static ts_stop go(ts_session_goal goal) {
    ts_error err = {0};
    ts_stop stop;
    if (!ts_session_go(&err, session, &goal, &stop)) fail_msg("%s", err.message);
    return stop;
}

/* Over so many bundles. */
static void step(int64_t bundles) { go((ts_session_goal){.bundles = bundles, .until = INT64_MAX}); }

static void end(void) { ts_session_close(session); }

#define ASSERT_SHOWN(expected, report, ...)                                                                  \
    do {                                                                                                     \
        ts_text shown = ts_text_begin(arena);                                                                \
        report(__VA_ARGS__, &shown);                                                                         \
        assert_string_equal(shown.bytes, expected);                                                          \
    } while (0)

/* ---- Where it stands ---- */

static const char moves[] = ".tensor x hbm s32[8,128]{1,0:T(8,128)} in iota\n"
                            ".tensor y vmem s32[16,128]{1,0:T(8,128)}\n"
                            ".sem in[2], out\n"
                            ".param ROWS = 8\n"
                            ".param HALF = 0.5\n"
                            "    smov s3, -7\n"
                            "    dma y[8:16, :] <- x, in[1]\n"
                            "    wait in[1]\n"
                            "    vld v0, y[8, 0]\n"
                            "    vst y[0, 0], v0";

TEST(where_it_stands) {
    begin(moves);
    ASSERT_SHOWN("cycle 0, line 6: smov s3, -7\n", ts_report_where, session);
    ASSERT_SHOWN("all scalar registers are 0\n", ts_report_scalars, session);
    ASSERT_SHOWN("no DMA is under way\n", ts_report_transfers, session);
    ASSERT_SHOWN("a.tsim\n     5  .param HALF = 0.5\n>    6      smov s3, -7\n     7      dma y[8:16, :] <- "
                 "x, in[1]\n",
                 ts_report_source, session, 1);
    go((ts_session_goal){.bundles = INT64_MAX, .until = 20});
    ASSERT_SHOWN("cycle ~20, line 8: wait in[1]\nit waits for a semaphore or the DMA engine\n",
                 ts_report_where, session);
    ASSERT_SHOWN("s3 = -7\nthe others are 0\n", ts_report_scalars, session);
    ASSERT_SHOWN("line 7: dma y[8:+8, 0:+128] <- x[0:+8, 0:+128], in[1], issued at cycle ~1\n",
                 ts_report_transfers, session);
    step(1);
    ASSERT_SHOWN("in[0]            0\nin[1]            0\n", ts_report_semaphores, session, 0, 2);
    ASSERT_SHOWN("out[0]           0\n", ts_report_semaphores, session, 2, 1);
    step(1);
    ASSERT_SHOWN("a.tsim\n     9      vld v0, y[8, 0]\n>   10      vst y[0, 0], v0\n", ts_report_source,
                 session, 1);
    ASSERT_SHOWN("", ts_report_hit, session);
    step(9);
    ASSERT_SHOWN("the program has ended\n", ts_report_source, session, 1);
    ts_session_state state_at_end;
    ts_session_look(session, &state_at_end);
    ASSERT_SHOWN(ts_text_format(arena, "cycle ~%d: the program has ended\n", (int)state_at_end.cycle),
                 ts_report_where, session);
    ASSERT_SHOWN("ROWS = 8\n", ts_report_param, &request.built->params[0]);
    ASSERT_SHOWN("HALF = 0.5\n", ts_report_param, &request.built->params[1]);
    end();
    begin("nop\n");
    ASSERT_SHOWN("the program has no semaphores\n", ts_report_semaphores, session, 0, 0);
    ASSERT_SHOWN("a.tsim\n>    1  nop\n", ts_report_source, session, 4);
    end();
}

TEST(what_happened) {
    begin(moves);
    ts_event_source of = {request.built, false};
    const ts_dma_result result = {.completed_cycle = 1234, .issued_cycle = 1000, .useful_bytes = 4096};
    ASSERT_SHOWN("       1,000      8  wait in[1]\n", ts_report_issued, &of, 2, 1000);
    ASSERT_SHOWN("           7      8    stalls 2,000 cycles: waiting for a DMA, or another semaphore\n",
                 ts_report_stalled, &of, 2, 7, 2000, TS_STALL_SEMAPHORE);
    ASSERT_SHOWN(
        "       1,234      7    done: dma y[8:+8, 0:+128] <- x[0:+8, 0:+128], in[1] (4,096 bytes, issued "
        "at 1,000)\n",
        ts_report_transferred, &of, 0, &result);
    const ts_dma_result of_a_byte = {.completed_cycle = 1234, .issued_cycle = 1000, .useful_bytes = 1};
    ASSERT_SHOWN("       1,234      7    done: dma y[8:+8, 0:+128] <- x[0:+8, 0:+128], in[1] (1 byte, issued "
                 "at 1,000)\n",
                 ts_report_transferred, &of, 0, &of_a_byte);
    of.estimated = true;
    ASSERT_SHOWN("      ~1,000      8  wait in[1]\n", ts_report_issued, &of, 2, 1000);
    ASSERT_SHOWN("          ~7      8    stalls ~2,000 cycles: waiting for a DMA, or another semaphore\n",
                 ts_report_stalled, &of, 2, 7, 2000, TS_STALL_SEMAPHORE);
    ASSERT_SHOWN("          ~7      8    stalls 3 cycles: not ready: taken branch\n", ts_report_stalled, &of,
                 2, 7, 3, TS_STALL_WAIT + TS_LATENCY_BRANCH);
    ASSERT_SHOWN("          ~7      8    stalls 2 cycles: VMEM bank busy: rows of one strided access\n",
                 ts_report_stalled, &of, 2, 7, 2, TS_STALL_VMEM_BANK);
    ASSERT_SHOWN(
        "      ~1,234      7    done: dma y[8:+8, 0:+128] <- x[0:+8, 0:+128], in[1] (4,096 bytes, issued "
        "at ~1,000)\n",
        ts_report_transferred, &of, 0, &result);
    end();
}

TEST(watches_and_who_wrote) {
    static const struct {
        int64_t row;
        const char *hit;
    } rows[] = {
        {0, "line 10, bytes 0 to 4,095 of vmem were written by vst\n"},
        {8, "line 7, bytes 4,096 to 8,191 of vmem were written by dma "
            "y[8:+8, 0:+128] <- x[0:+8, 0:+128], in[1]\n"},
    };
    for (int i = 0; i < 2; i++) {
        begin(moves);
        ASSERT_SHOWN("no watches\n", ts_report_watches, session);
        assert_int_equal(ts_session_watch_box(NULL, session,
                                              &(ts_session_box){.tensor = 1,
                                                                .begin = (int64_t[]){rows[i].row, 0},
                                                                .sizes = (int64_t[]){8, 128}}),
                         1);
        assert_int_equal(ts_session_watch_bytes(NULL, session, TS_SPACE_SMEM, 0, 4), 2);
        ASSERT_SHOWN(i == 0 ? "1  bytes 0 to 4,095 of vmem\n2  bytes 0 to 3 of smem\n"
                            : "1  bytes 4,096 to 8,191 of vmem\n2  bytes 0 to 3 of smem\n",
                     ts_report_watches, session);
        assert_int_equal(go((ts_session_goal){.bundles = INT64_MAX, .until = INT64_MAX}), TS_STOP_WATCH);
        int64_t cycle = ts_session_hit(session)->cycle;
        assert_in_range(cycle, 100, 999);
        ASSERT_SHOWN(ts_text_format(arena, "watch 1: at cycle ~%d, %s", (int)cycle, rows[i].hit),
                     ts_report_hit, session);
        end();
    }
}

TEST(all_watches_are_listed) {
    ts_text expected = ts_text_begin(arena);
    begin(moves);
    for (int i = 1; i <= TS_WATCHES; i++) {
        assert_int_equal(ts_session_watch_bytes(NULL, session, TS_SPACE_SMEM, 4 * i, 4 * i + 4), i);
        ts_text_add(&expected, "%d  bytes %d to %d of smem\n", i, 4 * i, 4 * i + 3);
    }
    ASSERT_SHOWN(expected.bytes, ts_report_watches, session);
    end();
}

/* At the cycle in which the bundle issues at last. */
TEST(why_it_stalled) {
    begin("    vexp.f32 v1, v1\n    vadd.f32 v2, v1, v1\n");
    int cycles = (int)request.machine->core.latency_cycles[TS_LATENCY_EUP] - 1;
    go((ts_session_goal){.bundles = INT64_MAX, .until = cycles + 1});
    ASSERT_SHOWN(ts_text_format(arena,
                                "cycle %d, line 2: vadd.f32 v2, v1, v1\n"
                                "it stalled %d cycles: not ready: transcendental function\n",
                                cycles + 1, cycles),
                 ts_report_where, session);
    end();
}

TEST(devices_have_numbers) {
    const ts_breakpoint at = {.line = 2};
    begin_on("2x2", "    nop\n    nop\n");
    ASSERT_SHOWN("device 0, cycle 0, line 1: nop\n", ts_report_where, session);
    ASSERT_SHOWN("\n", ts_report_broken, session, 4);
    go((ts_session_goal){INT64_MAX, INT64_MAX, &at, 1});
    ASSERT_SHOWN("at a breakpoint: device 0, 1, 2, 3\n", ts_report_broken, session, 4);
    ts_session_look_at(session, 3);
    ASSERT_SHOWN("device 3, cycle 1, line 2: nop\n", ts_report_where, session);
    end();
}

/* ---- Registers ---- */

#define EIGHT(a, b)                                                                                          \
    "\nsublane 0" a b "\nsublane 1" a b "\nsublane 2" a b "\nsublane 3" a b "\nsublane 4" a b                \
    "\nsublane 5" a b "\nsublane 6" a b "\nsublane 7" a b "\n"

TEST(registers) {
    static const char lanes[] =
        "lane                 0            1            2            3          126          127";
    static const char wide[] =
        "lane                        0                   1                 126                 127";
    begin("    smov s1, -2\n"
          "    viota.lane v1\n"
          "    viota.sublane v2\n"
          "    vcvt.f32.i32 v3, v1\n"
          "    vrcp.f32 v4, v3\n"
          "    vmov v5, 0x7fc00000\n"
          "    vsub.i32 v6, v1, 200\n"
          "    vmov v7, 0x3f804000\n"
          "    vcmp.eq.i32 m1, v1, 0\n"
          "    nop\n");
    step(9);
    const struct {
        ts_register reg;
        ts_register_view view;
        const char *text;
    } rows[] = {
        {{TS_OPERAND_SREG, 1}, TS_VIEW_I32, "s1 = -2 (0xfffffffe)\n"},
        {{TS_OPERAND_VREG, 1},
         TS_VIEW_I32,
         EIGHT("            0            1            2",
               "            3          126          127") "all 1,024 words: 0 to 127\n"},
        {{TS_OPERAND_VREG, 6},
         TS_VIEW_I32,
         EIGHT("         -200         -199         -198",
               "         -197          -74          -73") "all 1,024 words: -200 to -73\n"},
        {{TS_OPERAND_VREG, 1},
         TS_VIEW_HEX,
         EIGHT("     00000000     00000001     00000002", "     00000003     0000007e     0000007f")},
        {{TS_OPERAND_VREG, 4},
         TS_VIEW_F32,
         EIGHT("          inf            1          0.5",
               "      0.33333    0.0079365     0.007874") "all 1,024 words: 0.00787402 to inf, 0 NaN\n"},
        {{TS_OPERAND_VREG, 5},
         TS_VIEW_F32,
         EIGHT("          nan          nan          nan",
               "          nan          nan          nan") "all 1,024 words: NaN\n"},
        {{TS_OPERAND_VREG, 7},
         TS_VIEW_BF16,
         EIGHT("                 2:1                 2:1", "                 2:1                 2:1")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *head = rows[i].reg.kind == TS_OPERAND_SREG ? ""
                           : rows[i].view == TS_VIEW_BF16      ? wide
                                                               : lanes;
        ASSERT_SHOWN(ts_text_format(arena, "%s%s", head, rows[i].text), ts_report_register, session,
                     rows[i].reg, rows[i].view, false);
    }
    end();
}

/* All lanes in groups of six; the last has two. */
TEST(whole_registers) {
    begin("    viota.lane v1\n    nop\n");
    step(2);
    ts_text out = ts_text_begin(arena);
    ts_report_register(session, (ts_register){TS_OPERAND_VREG, 1}, TS_VIEW_I32, true, &out);
    int lines = 0;
    for (const char *at = out.bytes; *at; at++) lines += *at == '\n';
    assert_int_equal(lines, 22 * 9 + 1);
    assert_non_null(
        strstr(out.bytes, "\nlane               126          127\nsublane 0          126          127\n"));
    assert_non_null(strstr(out.bytes, "          125\nlane"));
    end();
}

/* NaN are counted, and neither the least nor the largest. */
TEST(ranges_leave_nan_out) {
    begin("    viota.lane v1\n    vcvt.f32.i32 v2, v1\n    vsub.f32 v2, v2, 2.0\n    vsqrt.f32 v3, v2\n    "
          "nop\n");
    step(5);
    ts_text out = ts_text_begin(arena);
    ts_report_register(session, (ts_register){TS_OPERAND_VREG, 3}, TS_VIEW_F32, false, &out);
    assert_true(ts_text_ends(out.bytes, "\nall 1,024 words: 0 to 11.1803, 16 NaN\n"));
    end();
}

TEST(views_have_names) {
    static const char *const names[] = {"f32", "i32", "hex", "bf16"};
    ts_register_view view;
    for (int i = 0; i < 4; i++) {
        assert_true(ts_register_view_find(names[i], &view));
        assert_int_equal(view, i);
    }
    assert_false(ts_register_view_find("f16", &view));
}

/* ---- Tensors ---- */

/* Elements that count up from 0; a box that begins at 10, 20, 30 .. of its dims. */
TEST(parts_of_tensors) {
    static const struct {
        ts_dtype dtype;
        int rank;
        int64_t dims[3];
        const char *text;
    } rows[] = {
        {TS_DTYPE_S32, 0, {0}, "x, s32[]\n[]          0\n"},
        {TS_DTYPE_F64, 1, {1}, "x, f64[1]\n[10]       1.25\n"},
        {TS_DTYPE_C128, 1, {1}, "x, c128[1]\n[10]          ?\n"},
        {TS_DTYPE_S16, 1, {3}, "x, s16[3], from column 10 on\n[:]          0          1          2\n"},
        {TS_DTYPE_S32,
         2,
         {3, 1},
         "x, s32[3,1]\n[10,20]          0\n[11,20]          1\n[12,20]          2\n"},
        {TS_DTYPE_U8,
         3,
         {2, 2, 2},
         "x, u8[2,2,2], from column 30 on\n"
         "[10,20,:]          0          1\n[10,21,:]          2          3\n"
         "[11,20,:]          4          5\n[11,21,:]          6          7\n"},
        {TS_DTYPE_U8,
         2,
         {1, 8},
         "x, u8[1,8], from column 20 on\n"
         "[10,:]          0          1          2          3          4          5          6          7\n"},
        {TS_DTYPE_U8,
         2,
         {1, 9},
         "x, u8[1,9], from column 20 on\n"
         "[10,:]          0          1          2          3          4          5          6          7 "
         "...\n"},
        {TS_DTYPE_U8, 2, {3, 0}, "x, u8[3,0]\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_host_array array;
        assert_true(ts_host_array_init(NULL, arena, rows[i].dtype, rows[i].rank, rows[i].dims, &array));
        int bytes = ts_dtype_get(rows[i].dtype)->stored_bits / 8;
        for (size_t k = 0; k < ts_host_array_elements(&array); k++)
            array.bytes[k * (size_t)bytes] = (uint8_t)k;
        if (rows[i].dtype == TS_DTYPE_F64) memcpy(array.bytes, &(double){1.25}, 8);
        ASSERT_SHOWN(rows[i].text, ts_report_box, "x", &array, (const int64_t[]){10, 20, 30});
    }
}

TEST(long_tensors_are_counted) {
    static const struct {
        int64_t rows;
        const char *end;
    } cases[] = {{16, "[15,0]          0\n"},
                 {17, "[15,0]          0\nand 1 more row\n"},
                 {1200, "[15,0]          0\nand 1,184 more rows\n"}};
    for (int i = 0; i < 3; i++) {
        ts_host_array array;
        ts_text out = ts_text_begin(arena);
        assert_true(ts_host_array_init(NULL, arena, TS_DTYPE_U8, 2, (int64_t[]){cases[i].rows, 1}, &array));
        ts_report_box("x", &array, (const int64_t[]){0, 0}, &out);
        assert_true(ts_text_ends(out.bytes, cases[i].end));
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
