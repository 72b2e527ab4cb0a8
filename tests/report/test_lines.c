/* The program beside the cycles of its lines, to the character. */
#include "report/run.h"
#include "report/run_private.h"

#include <string.h>

#include <cjson/cJSON.h>

#include "tests/support/cells.h"
#include "tests/support/run_text.h"
#include "tests/support/test.h"
#include "tests/support/written.h"

static void assert_listing(const char *text, bool colour, const char *expected) {
    run_of_text r = run_text("tpu-v5e", text, true);
    ts_text out = ts_text_begin(r.arena);
    ts_report_lines(&r.result, colour, &out);
    if (strcmp(out.bytes, expected) != 0) print_error("%s", out.bytes);
    for (const char *at = out.bytes; *at && !colour; at += strcspn(at, "\n") + 1)
        assert_in_range(strcspn(at, "\n"), 0, 100);
    assert_string_equal(out.bytes, expected);
    ts_arena_free(r.arena);
}

TEST(one_line) {
    assert_listing(
        "halt", false,
        "\n"
        "cycles by line: a bundle's is divided among its instructions; + sums up what is further in\n"
        "issued  stall     %  times  HBM B VMEM B line\n"
        "     1        100.0                            total\n"
        "     1        100.0      1                  1  halt\n");
}

/* A note stays. */
TEST(long_lines_are_cut) {
    assert_listing(
        ".macro count value\nsmov s1, value\n.end\n"
        "count 1+2+3+4+5+6+7+8+9+10+11+12+13+14+15+16+17+18+19+20+21+22+23\nhalt\n",
        false,
        "\n"
        "cycles by line: a bundle's is divided among its instructions; + sums up what is further in\n"
        "issued  stall     %  times  HBM B VMEM B line\n"
        "     2        100.0                            total\n"
        "     1         50.0      1                  4 +count 1+2+3+4+5+6+7+8+9+10+11+12+13+14+15+16+..  -> "
        "2\n"
        "     1         50.0      1                  2    smov s1, value\n"
        "     1         50.0      1                  5  halt\n");
}

TEST(macros_loops_and_what_is_not_there) {
    assert_listing(
        "; a comment\n"
        ".param MANY = 3\n"
        ".macro never\n"
        "  nop\n"
        ".end\n"
        ".macro body value\n"
        ".if MANY > 5\n"
        "  vadd.f32 v9, v9, v9\n"
        "  vadd.f32 v8, v8, v8\n"
        ".else\n"
        "  vexp.f32 value,   value   ; what is aligned is not\n"
        ".end\n"
        ".for I = 0, 2\n"
        "  { vadd.f32 v[I], value, v[I] ; sadd s1, s1, 1 }\n"
        ".end\n"
        "  brz s2, out\n"
        "  sadd s3, s3, 1\n"
        "  sadd s3, s3, 2\n"
        "  sadd s3, s3, 3\n"
        "  sadd s3, s3, 4\n"
        "out: nop\n"
        ".end\n"
        ".loop s0 = 0, 400\n"
        "  body v5\n"
        ".end\n"
        ".macro small\n"
        "  nop\n"
        ".end\n"
        "  small\n"
        ".if MANY == 0\n"
        "  nop\n"
        "  nop\n"
        "  nop\n"
        "  nop\n"
        ".end\n"
        "  jump end\n"
        "  sadd s4, s4, 1 ; this comment goes, and the rest stays\n"
        "  sadd s5, s4, 1000000000 + 1000000000 - 1000000000 - 1000000000 + 1\n"
        "end:\n"
        "  halt\n"
        ".if MANY == 1\n"
        "  nop\n"
        ".else\n"
        "  nop\n"
        ".end\n",
        false,
        "\n"
        "hottest loops, by cycles of their own: without those of inner loops\n"
        "own cycles     % with inner      turns   a turn  lines\n"
        "     9,197  99.9      9,197        400     23.0  23-25  .loop s0 = 0, 400\n"
        "\n"
        "cycles by line: a bundle's is divided among its instructions; + sums up what is further in\n"
        "issued  stall     %  times  HBM B VMEM B line\n"
        " 2,404  6,800 100.0                            total\n"
        " 2,401  6,797  99.9    400                 23 +.loop s0 = 0, 400\n"
        " 2,000  5,600  82.6    400                 24 +  body v5  -> 7\n"
        "                                            7      .if MANY > 5\n"
        "                                            8        vadd.f32 v9, v9, v9\n"
        "                                            9        vadd.f32 v8, v8, v8\n"
        "                                           10      .else\n"
        "   400          4.3    400                 11        vexp.f32 value, value\n"
        "                                           13      .for I = 0, 2\n"
        "   800  4,400  56.5    800                 14        { vadd.f32 v[I], value, v[I] ; sadd s1, s1, 1 "
        "}\n"
        "        4,400  47.8                            ^ not ready: transcendental function\n"
        "   400  1,200  17.4    400                 16      brz s2, out\n"
        "        1,200  13.0                            ^ not ready: taken branch\n"
        "                                           17      sadd s3, s3, 1\n"
        "                                           18      sadd s3, s3, 2\n"
        "                                           19      sadd s3, s3, 3\n"
        "                                           20      sadd s3, s3, 4\n"
        "   400          4.3    400                 21      out: nop\n"
        "   401  1,197  17.4    400                 25  .end\n"
        "        1,197  13.0                            ^ not ready: taken branch\n"
        "     1          0.0      1                 29 >small  -> 27\n"
        "                                           30  .if MANY == 0  .. 4 lines\n"
        "     1      3   0.0      1                 36  jump end\n"
        "                                           37  sadd s4, s4, 1\n"
        "                                           38  sadd s5, s4, 1000000000 + 1000000000 - 1000000000 "
        "-..\n"
        "                                           39  end:\n"
        "     1          0.0      1                 40  halt\n"
        "                                           41  .if MANY == 1\n"
        "                                           42    nop\n"
        "                                           43  .else\n"
        "                                           44    nop\n");
}

TEST(bundles_over_several_lines_keep_their_semicolons) {
    assert_listing(
        "{ sadd s1, s1, 1\n sadd s2, s2, 1 ; nop ;; a comment\n }\n"
        ".tensor t vmem f32[16,128]{1,0:T(8,128)}\nvld v0, t[8, 0]\n",
        false,
        "\n"
        "cycles by line: a bundle's is divided among its instructions; + sums up what is further in\n"
        "issued  stall     %  times  HBM B VMEM B line\n"
        "     2        100.0                4,096       total\n"
        "     1         50.0      1                  1  { sadd s1, s1, 1\n"
        "                         1                  2  sadd s2, s2, 1 ; nop\n"
        "     1         50.0      1         4,096    5  vld v0, t[8, 0]\n");
}

TEST(colours_say_how_hot) {
    assert_listing(
        ".loop s0 = 0, 40\nnop\n.end\nvexp.f32 v1, v2\nvexp.f32 v2, v1\n.if 0\nnop\n.end\nhalt\nnop\n", true,
        "\n"
        "hottest loops, by cycles of their own: without those of inner loops\n"
        "own cycles     % with inner      turns   a turn  lines\n"
        "\033[0m       197  92.9        197         40      4.9  1-3  .loop s0 = 0, 40\033[0m\n"
        "\n"
        "cycles by line: a bundle's is divided among its instructions; + sums up what is further in\n"
        "issued  stall     %  times  HBM B VMEM B line\n"
        "    84    128 100.0                            total\n"
        "\033[1;31m    81    117  93.4     40                  1 +.loop s0 = 0, 40\033[0m\n"
        "\033[1;31m    40         18.9     40                  2    nop\033[0m\n"
        "\033[1;31m    41    117  74.5     40                  3  .end\033[0m\n"
        "\033[2m          117  55.2                            ^ not ready: taken branch\033[0m\n"
        "\033[0m     1          0.5      1                  4  vexp.f32 v1, v2\033[0m\n"
        "\033[33m     1     11   5.7      1                  5  vexp.f32 v2, v1\033[0m\n"
        "\033[2m           11   5.2                            ^ not ready: transcendental function\033[0m\n"
        "\033[2m                                            6  .if 0  .. 1 line\033[0m\n"
        "\033[0m     1          0.5      1                  9  halt\033[0m\n"
        "\033[2m                                           10  nop\033[0m\n");
}

TEST(depths_are_indented_less_and_less) {
    assert_listing(
        ".macro a\n.for I = 0, 1\n.for J = 0, 1\n.for K = 0, 1\n.for L = 0, 1\n.for M = 0, 1\n"
        ".for N = 0, 1\n.for O = 0, 1\n.for P = 0, 1\n.for Q = 0, 1\n.for R = 0, 1\nnop\n"
        ".end\n.end\n.end\n.end\n.end\n.end\n.end\n.end\n.end\n.end\n.end\na\n",
        false,
        "\n"
        "cycles by line: a bundle's is divided among its instructions; + sums up what is further in\n"
        "issued  stall     %  times  HBM B VMEM B line\n"
        "     1        100.0                            total\n"
        "     1        100.0      1                 24 +a  -> 2\n"
        "                                            2    .for I = 0, 1\n"
        "                                            3      .for J = 0, 1\n"
        "                                            4        .for K = 0, 1\n"
        "                                            5          .for L = 0, 1\n"
        "                                            6           .for M = 0, 1\n"
        "                                            7            .for N = 0, 1\n"
        "                                            8             .for O = 0, 1\n"
        "                                            9              .for P = 0, 1\n"
        "                                           10               .for Q = 0, 1\n"
        "                                           11                .for R = 0, 1\n"
        "     1        100.0      1                 12                nop\n");
}

TEST(large_numbers_are_short) {
    assert_listing(
        ".loop s0 = 0, 25000\nnop\n.end\n.loop s0 = 0, 300000\nnop\n.end\n.loop s0 = 0, 20000000\nnop\n.end\n"
        ".loop s0 = 0, 2000000000\nnop\n.end\n",
        false,
        "\n"
        "hottest loops, by cycles of their own: without those of inner loops\n"
        "own cycles     % with inner      turns   a turn  lines\n"
        "    10.00G  99.0     10.00G     2.000G      5.0  10-12  .loop s0 = 0, 2000000000\n"
        "99,999,997   1.0 99,999,997 20,000,000      5.0  7-9  .loop s0 = 0, 20000000\n"
        "           and 2 others\n"
        "\n"
        "cycles by line: a bundle's is divided among its instructions; + sums up what is further in\n"
        "issued  stall     %  times  HBM B VMEM B line\n"
        "4.041G 6.061G 100.0                            total\n"
        "50,001 74,997   0.0 25,000                  1 >.loop s0 = 0, 25000\n"
        "600.0k 900.0k   0.0 300.0k                  4 >.loop s0 = 0, 300000\n"
        "40.00M 60.00M   1.0 20.00M                  7 +.loop s0 = 0, 20000000\n"
        "20.00M          0.2 20.00M                  8    nop\n"
        "20.00M 60.00M   0.8 20.00M                  9  .end\n"
        "       60.00M   0.6                            ^ not ready: taken branch\n"
        "4.000G 6.000G  99.0 2.000G                 10 +.loop s0 = 0, 2000000000\n"
        "2.000G         19.8 2.000G                 11    nop\n"
        "2.000G 6.000G  79.2 2.000G                 12  .end\n"
        "       6.000G  59.4                            ^ not ready: taken branch\n");
}

TEST(ten_loops_are_shown) {
    assert_listing(
        ".for I = 0, 2\n.loop s0 = 0, 12\nnop\n.end\n.end\n"
        ".loop s0 = 0, 11\nnop\n.end\n.loop s0 = 0, 10\nnop\n.end\n.loop s0 = 0, 9\nnop\n.end\n"
        ".loop s0 = 0, 8\nnop\n.end\n.loop s0 = 0, 7\nnop\n.end\n.loop s0 = 0, 6\nnop\n.end\n"
        ".loop s0 = 0, 5\nnop\n.end\n.loop s0 = 0, 4\nnop\n.end\n.loop s0 = 0, 3\nnop\n.end\n"
        "x: br.lt s0, 3, x\n.loop s0 = 0, 2\nnop\n.end\n",
        false,
        "\n"
        "hottest loops, by cycles of their own: without those of inner loops\n"
        "own cycles     % with inner      turns   a turn  lines\n"
        "       114  27.0        114         24      4.8  2-4 in 2 places  .loop s0 = 0, 12\n"
        "        52  12.3         52         11      4.7  6-8  .loop s0 = 0, 11\n"
        "        47  11.1         47         10      4.7  9-11  .loop s0 = 0, 10\n"
        "        42  10.0         42          9      4.7  12-14  .loop s0 = 0, 9\n"
        "        37   8.8         37          8      4.6  15-17  .loop s0 = 0, 8\n"
        "        32   7.6         32          7      4.6  18-20  .loop s0 = 0, 7\n"
        "        27   6.4         27          6      4.5  21-23  .loop s0 = 0, 6\n"
        "        22   5.2         22          5      4.4  24-26  .loop s0 = 0, 5\n"
        "        17   4.0         17          4      4.2  27-29  .loop s0 = 0, 4\n"
        "        12   2.8         12          3      4.0  30-32  .loop s0 = 0, 3\n"
        "           and 2 others\n"
        "\n"
        "cycles by line: a bundle's is divided among its instructions; + sums up what is further in\n"
        "issued  stall     %  times  HBM B VMEM B line\n"
        "   191    231 100.0                            total\n"
        "                                            1  .for I = 0, 2\n"
        "    50     66  27.5     24                  2 +  .loop s0 = 0, 12\n"
        "    24          5.7     24                  3      nop\n"
        "    26     66  21.8     24                  4    .end\n"
        "           66  15.6                            ^ not ready: taken branch\n"
        "    23     30  12.6     11                  6 +.loop s0 = 0, 11\n"
        "    11          2.6     11                  7    nop\n"
        "    12     30  10.0     11                  8  .end\n"
        "           30   7.1                            ^ not ready: taken branch\n"
        "    21     27  11.4     10                  9 +.loop s0 = 0, 10\n"
        "    10          2.4     10                 10    nop\n"
        "    11     27   9.0     10                 11  .end\n"
        "           27   6.4                            ^ not ready: taken branch\n"
        "    19     24  10.2      9                 12 +.loop s0 = 0, 9\n"
        "     9          2.1      9                 13    nop\n"
        "    10     24   8.1      9                 14  .end\n"
        "           24   5.7                            ^ not ready: taken branch\n"
        "    17     21   9.0      8                 15 +.loop s0 = 0, 8\n"
        "     8          1.9      8                 16    nop\n"
        "     9     21   7.1      8                 17  .end\n"
        "           21   5.0                            ^ not ready: taken branch\n"
        "    15     18   7.8      7                 18 +.loop s0 = 0, 7\n"
        "     7          1.7      7                 19    nop\n"
        "     8     18   6.2      7                 20  .end\n"
        "           18   4.3                            ^ not ready: taken branch\n"
        "    13     15   6.6      6                 21 +.loop s0 = 0, 6\n"
        "     6          1.4      6                 22    nop\n"
        "     7     15   5.2      6                 23  .end\n"
        "           15   3.6                            ^ not ready: taken branch\n"
        "    11     12   5.5      5                 24 +.loop s0 = 0, 5\n"
        "     5          1.2      5                 25    nop\n"
        "     6     12   4.3      5                 26  .end\n"
        "           12   2.8                            ^ not ready: taken branch\n"
        "     9      9   4.3      4                 27 +.loop s0 = 0, 4\n"
        "     4          0.9      4                 28    nop\n"
        "     5      9   3.3      4                 29  .end\n"
        "            9   2.1                            ^ not ready: taken branch\n"
        "     7      6   3.1      3                 30 +.loop s0 = 0, 3\n"
        "     3          0.7      3                 31    nop\n"
        "     4      6   2.4      3                 32  .end\n"
        "            6   1.4                            ^ not ready: taken branch\n"
        "     1          0.2      1                 33  x: br.lt s0, 3, x\n"
        "     5      3   1.9      2                 34 +.loop s0 = 0, 2\n"
        "     2          0.5      2                 35    nop\n"
        "     3      3   1.4      2                 36  .end\n"
        "            3   0.7                            ^ not ready: taken branch\n");
}

/* ---- As JSON and as a page ---- */

static const char small[] = ".macro body\n"
                            "  vexp.f32 v1, v1\n"
                            ".end\n"
                            "  body\n"
                            ".loop s0 = 0, 4\n"
                            "  { sadd s1, s1, 1 ; vadd.f32 v2, v1, v1 }\n"
                            ".end\n"
                            ".loop s0 = 0, 2\n"
                            "  nop\n"
                            ".end\n";

#define COUNTS(cycles, issued, stalled, times, stalls)                                                       \
    "\"cycles\":" #cycles ",\"issued\":" #issued ",\"stalled\":" #stalled ",\"times\":" #times               \
    ",\"transfers\":0,\"hbm_bytes\":0,\"vmem_bytes\":0,\"stalls\":{" stalls "}}"
#define PLACE(text, line) "{\"place\":\"a.tsim:" text "\",\"file\":\"a.tsim\",\"line\":" #line
#define LOOP(last, frame, cycles)                                                                            \
    ",\"last_line\":" #last ",\"frame\":" #frame ",\"places\":1,\"own_cycles\":" #cycles ","
#define FRAME(kind, name, body, end)                                                                         \
    ",\"kind\":\"" kind "\",\"name\":\"" name                                                                \
    "\",\"parent\":null,\"body_file\":\"a.tsim\",\"body_line\":" #body ",\"body_end_line\":" #end ","
#define LINE(frame) ",\"frame\":" #frame ","

/* A bundle that waits for the transcendental unit, in the first turn; a taken branch takes 4 cycles. */
TEST(lines_as_json) {
    static const char *const arrays[][2] = {
        {"loops", "[" PLACE("5-7", 5) LOOP(7, 1, 27)
                      COUNTS(27, 8, 19, 4, "\"wait_branch\":9,\"wait_eup\":10") "," PLACE("8-10", 8)
                          LOOP(10, 2, 7) COUNTS(7, 4, 3, 2, "\"wait_branch\":3") "]"},
        {"frames", "[" PLACE("4 body", 4) FRAME("macro", "body", 2, 3)
                       COUNTS(1, 1, 0, 1, "") "," PLACE("5", 5) FRAME("loop", "", 5, 7)
                           COUNTS(28, 9, 19, 4, "\"wait_branch\":9,\"wait_eup\":10") "," PLACE("8", 8)
                               FRAME("loop", "", 8, 10) COUNTS(8, 5, 3, 2, "\"wait_branch\":3") "]"},
        {"lines", "[" PLACE("2", 2) LINE(0) COUNTS(1, 1, 0, 1, "") "," PLACE("5", 5) LINE(1)
                      COUNTS(14, 5, 9, 4, "\"wait_branch\":9") "," PLACE("6", 6) LINE(1)
                          COUNTS(14, 4, 10, 4, "\"wait_eup\":10") "," PLACE("8", 8) LINE(2)
                              COUNTS(6, 3, 3, 2, "\"wait_branch\":3") "," PLACE("9", 9) LINE(2)
                                  COUNTS(2, 2, 0, 2, "") "]"},
    };
    run_of_text r = run_text("tpu-v5e", small, true);
    ts_text out = ts_text_begin(r.arena);
    ts_json json;
    ts_json_begin(&json, &out, "test");
    ts_report_lines_json(&r.result, &json);
    ts_json_end(&json);
    cJSON *all = cJSON_Parse(out.bytes);
    for (int i = 0; i < 3; i++) {
        char *text = cJSON_PrintUnformatted(cJSON_GetObjectItem(all, arrays[i][0]));
        assert_string_equal(text, arrays[i][1]);
        cJSON_free(text);
    }
    cJSON_Delete(all);
    ts_arena_free(r.arena);
}

typedef void page_section_of(const ts_run_result *, page *);

/* The cells as a whole, and a part of the page with its tags. */
static void assert_page(page_section_of *section, const char *text, const char *expected, const char *part) {
    run_of_text r = run_text("tpu-v5e", text, true);
    ts_text out = ts_text_begin(r.arena);
    page p;
    page_begin(&p, &out, "a", "b", ts_machine_load(NULL, r.arena, "tpu-v5e"));
    size_t begin = out.length;
    section(&r.result, &p);
    assert_string_equal(cells_of(r.arena, out.bytes + begin), expected);
    assert_holds(out.bytes + begin, part);
    ts_arena_free(r.arena);
}

TEST(lines_on_a_page) {
    assert_page(
        report_lines_section, small,
        "ProgramCycles by line: a bundle's are divided among its instructions. Bars: issued, then stalled. "
        "A line with a button sums up what is further in."
        "line|% of cycles|program|issued|stalled|times|HBM B|VMEM B|\n"
        "4|2.7|+body   -&gt; 2|1||1|||\n"
        "2|2.7|vexp.f32 v1, v1|1||1|||\n"
        "5|75.7|+.loop s0 = 0, 4|9|19|4|||\n"
        "6|37.8|{ sadd s1, s1, 1 ; vadd.f32 v2, v1, v1 }10 cycles (27.0 %) not ready: transcendental "
        "function|4|10|4|||\n"
        "7|37.8|.end9 cycles (24.3 %) not ready: taken branch|5|9|4|||\n"
        "8|21.6|+.loop s0 = 0, 2|5|3|2|||\n"
        "9|5.4|nop|2||2|||\n"
        "10|16.2|.end3 cycles (8.1 %) not ready: taken branch|3|3|2|||\n",
        "--a:10.81%;--b:37.84%");
    assert_page(
        report_lines_section,
        "  nop\n  jump end\n  nop\n.if 0\n  nop\n  nop\n  nop\n  nop\n.else\nend: halt\n.end\n",
        "ProgramCycles by line: a bundle's are divided among its instructions. Bars: issued, then stalled. "
        "A line with a button sums up what is further in."
        "line|% of cycles|program|issued|stalled|times|HBM B|VMEM B|\n"
        "1|16.7|nop|1||1|||\n"
        "2|66.7|jump end3 cycles (50.0 %) not ready: taken branch|1|3|1|||\n"
        "3||nop||||||\n"
        "4||.if 0||||||\n"
        "..|| 4 lines||||||\n"
        "9||.else||||||\n"
        "10|16.7|end: halt|1||1|||\n",
        "--a:16.67%;--b:66.67%");
#define LOOPS                                                                                                \
    "Hottest loopsBy cycles of their own: without those of inner loops."                                     \
    "+lines|+first line|+own cycles|+%|+with inner|+turns|+cycles a turn|\n"
    assert_page(report_loops_section, ".loop s0 = 0, 1\n  nop\n.end\n",
                LOOPS "line 1-3|.loop s0 = 0, 1|2|66.7|2|1|2.0|\n", "--a:66.67%;--b:66.67%");
    assert_page(report_loops_section, small,
                LOOPS "line 5-7|.loop s0 = 0, 4|27|73.0|27|4|6.8|\n"
                      "line 8-10|.loop s0 = 0, 2|7|18.9|7|2|3.5|\n",
                "--a:72.97%;--b:72.97%");
    assert_page(report_loops_section, "halt", "", "");
}
