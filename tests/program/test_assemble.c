/* The assembler: what each construct becomes, as the disassembler prints it, and the exact text of its
 * errors. */

#include <stdio.h>
#include <string.h>

#include "mesh/mesh.h"
#include "program/program.h"
#include "tests/support/test.h"
#include "tests/support/rounds.h"
#include "tests/support/temporary.h"

static const ts_target target = {
    .machine = "toy",
    .core.limits = {.slots = {[TS_SLOT_SCALAR] = 2,
                              [TS_SLOT_VALU] = 2,
                              [TS_SLOT_VLD] = 1,
                              [TS_SLOT_VST] = 1,
                              [TS_SLOT_EUP] = 1,
                              [TS_SLOT_XLU] = 1,
                              [TS_SLOT_MXU] = 1,
                              [TS_SLOT_MISC] = 1},
                    .sregs = 32,
                    .bf16 = true,
                    .vregs = 32,
                    .vmasks = 8},
    .space_bytes = {[TS_SPACE_HBM] = 1 << 30, [TS_SPACE_VMEM] = 1 << 20, [TS_SPACE_SMEM] = 1 << 12},
};

typedef struct {
    const ts_define *items;
    int count;
} define_list;

/* The program printed, or the error as the user sees it. */
static void assemble_for(const ts_target *machine, const char *text, define_list defines, char *result,
                         size_t bytes) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_source source = {.name = "a.tsim", .text = text, .length = strlen(text)};
    const ts_program *program = ts_program_parse(&err, arena, &source, machine, defines.items, defines.count);
    if (program == NULL) {
        assert_int_not_equal(err.kind, TS_ERROR_NONE);
        ts_error_format(&err, result, bytes);
    } else {
        ts_text out = ts_text_begin(arena);
        ts_program_print(program, &out);
        snprintf(result, bytes, "%s", out.bytes);
    }
    ts_arena_free(arena);
}

static void assemble(const char *text, const ts_define *defines, int define_count, char *result,
                     size_t bytes) {
    assemble_for(&target, text, (define_list){defines, define_count}, result, bytes);
}

typedef struct {
    const char *text, *expect;
} row;

/* Prints what differs, so that all rows are seen; returns how many differ. */
static int differs(const char *text, const char *got, const char *expect) {
    if (strcmp(got, expect) == 0) return 0;
    print_error("%s\ngave:\n%s\nnot:\n%s\n", text, got, expect);
    return 1;
}

static int check_row(const char *before, const row *r) {
    char text[4096], result[4096];
    snprintf(text, sizeof(text), "%s%s", before, r->text);
    assemble(text, NULL, 0, result, sizeof(result));
    return differs(r->text, result, r->expect);
}

/* The value of an expression is seen as the immediate of a delay. */
TEST(test_expressions) {
    static const row rows[] = {
        {"1 + 2 * 3", "    delay 7\n"},
        {"(1 + 2) * 3", "    delay 9\n"},
        {"10 - 4 - 3", "    delay 3\n"},
        {"7 / 2 + 7 % 4", "    delay 6\n"},
        {"-7 / 2", "    delay -4\n"},
        {"-7 % 4", "    delay 1\n"},
        {"0x1f", "    delay 31\n"},
        {"ceil_div(ROWS, 8) * 100 + round_up(ROWS, 8)", "    delay 1404\n"},
        {"min(3, 4) * 10 + max(3, 4)", "    delay 34\n"},
        {"ceil_div(7, 1) * 10 + round_up(8, 8)", "    delay 78\n"},
        {"ceil_div(7, 0)",
         "a.tsim:4:7: error: ceil_div of 7 and 0 has no value in 64 bits\ndelay ceil_div(7, 0)\n      ^\n"},
        {"round_up(7, -2)",
         "a.tsim:4:7: error: round_up of 7 and -2 has no value in 64 bits\ndelay round_up(7, -2)\n      ^\n"},
        {"round_up(9223372036854775807, 2)",
         "a.tsim:4:7: error: round_up of 9223372036854775807 and 2 has no value in 64 bits\ndelay "
         "round_up(9223372036854775807, 2)\n      ^\n"},
        {"ceil_div(7)",
         "a.tsim:4:17: error: found ')', expected ','\ndelay ceil_div(7)\n                ^\n"},
        {"max(1, 2, 3)",
         "a.tsim:4:15: error: found ',', expected ')'\ndelay max(1, 2, 3)\n              ^\n"},
        {"mix(1, 2)", "a.tsim:4:7: error: unknown name 'mix'\ndelay mix(1, 2)\n      ^\n"},
        {"min(1.5, 2)", "a.tsim:4:7: error: min takes constant integers\ndelay min(1.5, 2)\n      ^\n"},
        {"1 < 2 && 2 <= 2 || 0", "    delay 1\n"},
        {"(1 == 2) + (1 != 2) * 2 + (3 > 2) * 4 + (2 >= 3) * 8 + !0 * 16", "    delay 22\n"},
        {"0 != 0 && 8 / 0 > 1 || 0", "    delay 0\n"}, /* as in C: what is not asked is not computed */
        {"1 || 8 % 0 > 1", "    delay 1\n"},
        {"2 + (ROWS || ceil_div(1, 0) && -nan + !nan)", "    delay 3\n"},
        {"0.5 || 9223372036854775807 * 2 || 1 / 0", "    delay 1\n"},
        {"0 && (1 || 0) || 3 && 0 || 2", "    delay 1\n"},
        {"0 && (1 && 1 / 0) + 2", "    delay 0\n"},
        {"1 && 8 / 0 > 1", "a.tsim:4:14: error: the divisor is 0\ndelay 1 && 8 / 0 > 1\n             ^\n"},
        {"0 && 1 || 8 / 0",
         "a.tsim:4:19: error: the divisor is 0\ndelay 0 && 1 || 8 / 0\n                  ^\n"},
        {"nan || 1", "a.tsim:4:11: error: nan takes no operators\ndelay nan || 1\n          ^\n"},
        {"1 || ROW",
         "a.tsim:4:12: error: unknown name 'ROW'; did you mean 'ROWS'?\ndelay 1 || ROW\n           ^\n"},
        {"1 || 1 < 2 < 3",
         "a.tsim:4:18: error: a comparison of a comparison, expected '&&' between two, or parentheses\n"
         "delay 1 || 1 < 2 < 3\n                 ^\n"},
        {"1.5 < 2", "    delay 1\n"},
        {"-2147483648", "    delay -2147483648\n"},
        {"2147483647", "    delay 2147483647\n"},
        {"4294967295",
         "a.tsim:4:7: error: found 4294967295 where numbers are signed, expected -2147483648 to "
         "2147483647\ndelay 4294967295\n      ^\n"},
        {"4294967296", "a.tsim:4:7: error: 4294967296 does not fit in 32 bits\ndelay 4294967296\n      ^\n"},
        {"9223372036854775807 + 1", "a.tsim:4:27: error: the result of '+' does not fit in 64 bits\n"
                                    "delay 9223372036854775807 + 1\n                          ^\n"},
        {"9223372036854775808",
         "a.tsim:4:7: error: '9223372036854775808' is not a number of at most 64 bits\n"
         "delay 9223372036854775808\n      ^\n"},
        {"-9223372036854775808 + 9223372036854775807", "    delay -1\n"},
        {"- 0x8000000000000000 == -9223372036854775807 - 1", "    delay 1\n"},
        {"1 - 9223372036854775808",
         "a.tsim:4:11: error: '9223372036854775808' is not a number of at most 64 bits\n"
         "delay 1 - 9223372036854775808\n          ^\n"},
        {"-9223372036854775809",
         "a.tsim:4:8: error: '9223372036854775809' is not a number of at most 64 bits\n"
         "delay -9223372036854775809\n       ^\n"},
        {"-18446744073709551616",
         "a.tsim:4:8: error: '18446744073709551616' is not a number of at most 64 bits\n"
         "delay -18446744073709551616\n       ^\n"},
        {"-9223372036854775808x",
         "a.tsim:4:8: error: '9223372036854775808x' is not a number of at most 64 bits\n"
         "delay -9223372036854775808x\n       ^\n"},
        {"-9223372036854775808.0e999",
         "a.tsim:4:8: error: '9223372036854775808.0e999' is not a number of at most 64 bits\n"
         "delay -9223372036854775808.0e999\n       ^\n"},
        {"--9223372036854775808", "a.tsim:4:7: error: the result does not fit in 64 bits\n"
                                  "delay --9223372036854775808\n      ^\n"},
        {"1e400", "a.tsim:4:7: error: '1e400' is not a number of at most 64 bits\ndelay 1e400\n      ^\n"},
        {"1e200 * -1e200 < 0", "a.tsim:4:13: error: the result of '*' does not fit in 64 bits\n"
                               "delay 1e200 * -1e200 < 0\n            ^\n"},
        {"-inf * 1e300 < -1e308", "    delay 1\n"},
        {"nan == nan", "a.tsim:4:11: error: nan takes no operators\ndelay nan == nan\n          ^\n"},
        {"0 + !nan", "a.tsim:4:11: error: nan takes no operators\ndelay 0 + !nan\n          ^\n"},
        {"1 / 0", "a.tsim:4:9: error: the divisor is 0\ndelay 1 / 0\n        ^\n"},
        {"0 % 0", "a.tsim:4:9: error: the divisor is 0\ndelay 0 % 0\n        ^\n"},
        {"4 + 7 / -2", "    delay 0\n"},
        {"4 + -7 / -2", "    delay 7\n"},
        {"4 + 8 / -2", "    delay 0\n"},
        {"4 + 7 % -2", "    delay 3\n"},
        {"4 + -7 % -2", "    delay 3\n"},
        {"4 + -8 % -2", "    delay 4\n"},
        {"4 + -7 % 2", "    delay 5\n"},
        {"4 + 3 / -1", "    delay 1\n"},
        {"4 + 3 % -1", "    delay 4\n"},
        {"(-9223372036854775807 - 1) % -1", "    delay 0\n"},
        {"(-9223372036854775807 - 1) / -1",
         "a.tsim:4:34: error: the result of '/' does not fit in 64 bits\n"
         "delay (-9223372036854775807 - 1) / -1\n                                 ^\n"},
        {"7 // 2 * 10 + 4 + -7 // 2", "    delay 30\n"},
        {"7 // 0", "a.tsim:4:9: error: the divisor is 0\ndelay 7 // 0\n        ^\n"},
        {"7.0 // 2", "a.tsim:4:11: error: '//' takes integers\ndelay 7.0 // 2\n          ^\n"},
        {"7 % 2.0", "a.tsim:4:9: error: '%' takes integers\ndelay 7 % 2.0\n        ^\n"},
        {"(-9223372036854775807 - 1) // -1",
         "a.tsim:4:34: error: the result of '//' does not fit in 64 bits\n"
         "delay (-9223372036854775807 - 1) // -1\n                                 ^\n"},
        {"1 << 2 + 1 << 1", "    delay 16\n"}, /* sums first, then from the left */
        {"1 << 3 > 7 && 64 >> 2 >> 1 == 8", "    delay 1\n"},
        {"(-7 >> 1) + 2 * (7 >> 1) + (-1 >> 63) + (1 >> 63)", "    delay 1\n"},
        {"(3 << 0) + (3 >> 0)", "    delay 6\n"},
        {"-1 << 63 == -9223372036854775808", "    delay 1\n"},
        {"4611686018427387904 << 0 == 1 << 62", "    delay 1\n"},
        {"0 << 63", "    delay 0\n"},
        {"1 << 63",
         "a.tsim:4:9: error: the result of '<<' does not fit in 64 bits\ndelay 1 << 63\n        ^\n"},
        {"-2 << 63",
         "a.tsim:4:10: error: the result of '<<' does not fit in 64 bits\ndelay -2 << 63\n         ^\n"},
        {"1 << 64", "a.tsim:4:9: error: a shift by 64, expected 0 to 63\ndelay 1 << 64\n        ^\n"},
        {"1 >> -1", "a.tsim:4:9: error: a shift by -1, expected 0 to 63\ndelay 1 >> -1\n        ^\n"},
        {"1 >> 2.0", "a.tsim:4:9: error: '>>' takes integers\ndelay 1 >> 2.0\n        ^\n"},
        {"0 && 1 << 99", "    delay 0\n"},
        {"!ROWS", "    delay 0\n"},
        {"!0 + 2", "    delay 3\n"},
        {"!!ROWS", "    delay 1\n"},
        {"1.5", "a.tsim:4:7: error: found 1.5, expected sreg or integer\ndelay 1.5\n      ^\n"},
        {"1 + ",
         "a.tsim:4:11: error: found the end of the text, expected a number\ndelay 1 + \n          ^\n"},
        {"1 + ROW",
         "a.tsim:4:11: error: unknown name 'ROW'; did you mean 'ROWS'?\ndelay 1 + ROW\n          ^\n"},
        {"(1", "a.tsim:4:9: error: found the end of the text, expected ')'\ndelay (1\n        ^\n"},
        {"1 + x",
         "a.tsim:4:11: error: 'x' is a tensor, expected a number or a parameter\ndelay 1 + x\n          ^\n"},
        {"12monkeys",
         "a.tsim:4:7: error: '12monkeys' is not a number of at most 64 bits\ndelay 12monkeys\n      ^\n"},
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char expect[1024];
        bool good = strncmp(rows[i].expect, "    ", 4) == 0;
        snprintf(expect, sizeof(expect), "%s%s", good ? ".tensor x smem s32[4]{0}\n" : "", rows[i].expect);
        failures += check_row(".param ROWS = 100 ; comment\n.param HALF = 0.5\n.tensor x smem s32[4]\ndelay ",
                              &(row){rows[i].text, expect});
    }
    assert_int_equal(failures, 0);
}

/* Programs that are right, and all that is left of them when the assembler is done. */
TEST(test_programs) {
    static const row rows[] = {
        {"", ""},
        {"; nothing\n\n", ""},
        {"smov s1, 3", "    smov s1, 3\n"},
        {"{ smov s1, 3 ; sadd s2, s1, -1 } ; both\nhalt", "    { smov s1, 3 ; sadd s2, s1, -1 }\n    halt\n"},
        {"{ smov s1, 3 ;; a comment\n  sadd s2, s1, -1\n}", "    { smov s1, 3 ; sadd s2, s1, -1 }\n"},
        {".region a\nnop\n.region b.c\nl: nop\n.endregion\njump l\n.endregion\nnop",
         ".region a\n    nop\n.region b.c\nL1:\n    nop\n.endregion\n    jump L1\n.endregion\n    nop\n"},
        {".macro m N\n.region N\n.region in\nnop\n.endregion\n.endregion\n.end\n.for I = 0, 2\nm a\n.end\n"
         ".region none\n.endregion\n",
         ".region a\n.region in\n    nop\n.endregion\n.endregion\n"
         ".region a\n.region in\n    nop\n.endregion\n.endregion\n"},
        {".pack auto\nsmov s1, 1\nsmov s2, 2\n.region a\nsmov s3, 3\nsmov s4, 4\n.endregion\nsmov s5, 5\n",
         "    { smov s1, 1 ; smov s2, 2 }\n.region a\n    { smov s3, 3 ; smov s4, 4 }\n.endregion\n"
         "    smov s5, 5\n"},
        {"go: jump done\nbrnz s1, go\ndone:", "L0:\n    jump L2\n    brnz s1, L0\nL2:\n"},
        {"vadd.f32 v1, v2, 0.5 if m3\nvmul.f32 v1, v1, s2\nvmul.f32 v1, v1, 3\nvmov v2, 3\nvmov v2, "
         "3.0\nvmov v2, -0.0",
         "    vadd.f32 v1, v2, 0.5 if m3\n    vmul.f32 v1, v1, s2\n    vmul.f32 v1, v1, 3.0\n    vmov v2, 3\n"
         "    vmov v2, 3.0\n    vmov v2, -0.0\n"},
        {".param N = 1000\nvmul.f32 v1, v1, 1.0 / N\nvmov v0, inf\nvmov v1, -inf * 2\nvmov v2, "
         "-nan\nvmax.f32 v2, v2, nan\nvmov v3, -1e999",
         "    vmul.f32 v1, v1, 0.00100000005\n    vmov v0, inf\n    vmov v1, -inf\n    vmov v2, -nan\n"
         "    vmax.f32 v2, v2, nan\n    vmov v3, -inf\n"},
        {".reg acc = v7\n.reg i = s3\nvadd.f32 acc, acc, v[2 + 2]\nsadd i, i, s[1]",
         "    vadd.f32 v7, v7, v4\n    sadd s3, s3, s1\n"},
        {".for I = 0, 3\nvmov v[I], I * 10\n.end", "    vmov v0, 0\n    vmov v1, 10\n    vmov v2, 20\n"},
        {".for I = 0, 4, 3\n.for J = I, I + 2\nsmov s[I], J\n.end\n.end",
         "    smov s0, 0\n    smov s0, 1\n    smov s3, 3\n    smov s3, 4\n"},
        {".for I = 3, 3\nwhat\n.end", ""},
        {".param A = 1\n.if A == 1\nsmov s0, 1\n.else\nsmov s0, 2\n.end\n.if !A\nsmov s1, 1\n.if 1\nsmov s2, "
         "1\n.end\n"
         ".else\nsmov s1, 2\n.end",
         "    smov s0, 1\n    smov s1, 2\n"},
        {".macro twice r, n\nagain: sadd r, r, n\nbr.lt r, n * 2, again\n.end\ntwice s1, 3\ntwice s2, (4 + "
         "1)",
         "L0:\n    sadd s1, s1, 3\n    br.lt s1, 6, L0\nL2:\n    sadd s2, s2, 5\n    br.lt s2, 10, L2\n"},
        {".tensor xb vmem f32[16,128]{1,0:T(8,128)}\n.macro both buffer, type, i\nvld v1, buffer.words[i]\n"
         "vadd.type v1, v1, v2\n.end\nboth xb, f32, 8 * 128",
         ".tensor xb vmem f32[16,128]{1,0:T(8,128)}\n    vld v1, xb.words[1024]\n    vadd.f32 v1, v1, "
         "v2\n"},
        {"delay machine.core.vregs * 1000 + machine.vmem.capacity / 1048576", "    delay 32001\n"},
        {".loop s1 = 0, 64, 8\nnop\n.end",
         "    smov s1, 0\nL1:\n    nop\n    { sadd s1, s1, 8 ; br.lt s1, 56, L1 }\n"},
        {".loop s1 = 5, 5\nnop\n.end", ""},
        {".loop s1 = 2147483639, 2147483647, 4\nnop\n.end", /* up to the largest number */
         "    smov s1, 2147483639\nL1:\n    nop\n    { sadd s1, s1, 4 ; br.lt s1, 2147483643, L1 }\n"},
        {".loop s1 = 0, s2\nnop\n.end\nhalt", "    smov s1, 0\n    br.ge s1, s2, L5\nL2:\n    nop\n    sadd "
                                              "s1, s1, 1\n    br.lt s1, s2, L2\nL5:\n    halt\n"},
        {".param R = 10\n.param C = 300\n.tensor x hbm bf16[R,C+0]{1,0:T(8,128)(2,1)} in random(seed=2, "
         "lo=-1, hi=0.5)\n"
         ".tensor y hbm f32[ceil_div(R, 8),2*C] out\n.tensor n hbm s32[R] inout iota\n.tensor f hbm f32[R] "
         "in file\n"
         ".sem a, b[2]\n.check y ~= x * R + 1 ulp=2",
         ".param R = 10\n.param C = 300\n.tensor x hbm bf16[10,300]{1,0:T(8,128)(2,1)} in random(seed=2, "
         "lo=-1, hi=0.5)\n"
         ".tensor y hbm f32[2,600]{1,0} out\n.tensor n hbm s32[10]{0} inout iota\n.tensor f hbm f32[10]{0} "
         "in\n"
         ".sem a[1]\n.sem b[2]\n.check y ~= x * R + 1 ulp=2\n"},
        {".param HALF = 0.1\n.param N = 3\n.tensor x hbm f32[8] in file(\"w.npy\")\n.report top = max(x) * "
         "HALF ; all\n",
         ".param HALF = 0.10000000000000001\n.param N = 3\n.tensor x hbm f32[8]{0} in file(\"w.npy\")\n"
         ".report top = max(x) * HALF\n"},
        {".param N = 1234567\n.tensor x hbm u8[N+1]", ".tensor x hbm u8[1234568]{0}\n"},
        {".tensor x hbm f32[1+2,7-3,2*3,8/2,9%5]", ".tensor x hbm f32[3,4,6,4,4]{4,3,2,1,0}\n"},
        {".macro m op, by, d\nop.by d, s2, s3\n.end\nm scmp, lt, s1", "    scmp.lt s1, s2, s3\n"},
        {".if 0.5\nnop\n.else\nhalt\n.end", "    nop\n"},
        /* Labels are no names that there are. */
        {".tensor x hbm f32[8]\ntop: jump top", ".tensor x hbm f32[8]{0}\nL0:\n    jump L0\n"},
        {".tensor L0 hbm f32[8]\n.tensor x hbm f32[8]\n.sem L_0\ntop: jump top",
         ".tensor L0 hbm f32[8]{0}\n.tensor x hbm f32[8]{0}\n.sem L_0[1]\nL__0:\n    jump L__0\n"},
        {".if 0.0\nnop\n.else\nhalt\n.end", "    halt\n"},
        /* neither a tile's letter nor an axis is the parameter */
        {".param T = 8\n.tensor x hbm f32[T,256]{1,0:T(T,128)} out",
         ".tensor x hbm f32[8,256]{1,0:T(8,128)} out\n"},
        {".param m = 2\n.tensor x hbm f32[8] S[8:1@m]", ".tensor x hbm f32[8] S[8:1]\n"},
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) failures += check_row("", &rows[i]);
    assert_int_equal(failures, 0);
}

static const char tensors[] = ".param ROWS = 64\n"
                              ".tensor x hbm f32[ROWS,512]{1,0:T(8,128)} in zeros\n"
                              ".tensor b vmem f32[2,16,512]{2,1,0:T(8,128)}\n"
                              ".tensor h vmem bf16[2,16,512]{2,1,0:T(8,128)(2,1)}\n"
                              ".tensor k smem s32[4,8]\n"
                              ".sem done[2]\n.sem one\n";

static const char tensors_printed[] = ".tensor x hbm f32[64,512]{1,0:T(8,128)} in zeros\n"
                                      ".tensor b vmem f32[2,16,512]{2,1,0:T(8,128)}\n"
                                      ".tensor h vmem bf16[2,16,512]{2,1,0:T(8,128)(2,1)}\n"
                                      ".tensor k smem s32[4,8]{1,0}\n"
                                      ".sem done[2]\n.sem one[1]\n";

/* Slices, semaphores and addresses over the tensors above. b: a row of tiles is 4 tiles of 1024 words. */
TEST(test_operands) {
    static const row rows[] = {
        {"dma b[s2] <- x[s1:+16, :], done[s2]", "dma b[s2, 0:+16, 0:+512] <- x[s1:+16, 0:+512], done[s2]"},
        {"dma b[1, 0:8] <- x[ROWS-8:ROWS], one", "dma b[1, 0:+8, 0:+512] <- x[56:+8, 0:+512], one[0]"},
        {"dma h[1, 8:, :]",
         "a.tsim:8:12: error: found ',', expected a number\ndma h[1, 8:, :]\n           ^\n"},
        {"dma x[s1*8 + 8:s1*8+16, 0:128] <- b[s3 - 1, 0:8, 128:+128], done[s3 + 1]",
         "dma x[s1 * 8 + 8:+8, 0:+128] <- b[s3 - 1, 0:+8, 128:+128], done[s3 + 1]"},
        {"dma b[1] <- x[0:16], one priority=1",
         "dma b[1, 0:+16, 0:+512] <- x[0:+16, 0:+512], one[0] priority=1"},
        {"dma b[1] <- x[0:16], one, done[s2] device=s1 * 2 + 1",
         "dma b[1, 0:+16, 0:+512] <- x[0:+16, 0:+512], one[0], done[s2] device=s1 * 2 + 1"},
        {"wait done[1], 2", "wait done[1], 2"},
        {"wait one", "wait one[0]"},
        {"vld v1, b[0, 0, 0]", "vld v1, b.words[0]"},
        {"vld v1, b[1, 8, 256]", "vld v1, b.words[14336]"},
        {"vld v1, b[s2, s1, s3]", "vld v1, b.words[0 + s2 * 8192 + s1 / 8 * 4096 + s3 / 128 * 1024]"},
        {"vld v1, b[s2 + 1, s1 * 8, s3 * 128 + 128]",
         "vld v1, b.words[9216 + s2 * 8192 + s1 * 4096 + s3 * 1024]"},
        {"vld v1, b[0, s1 + 8, s3 * 64 + 128]", "vld v1, b.words[5120 + s1 / 8 * 4096 + s3 / 2 * 1024]"},
        {"vld v1, b[0, s1 * 8 + s2, 0]", "vld v1, b.words[0 + s1 * 4096 + s2 / 8 * 4096]"},
        {"vld v1, b[0, 3, 0] stride=0", "vld v1, b.words[384] stride=0 mask=0xff"},
        {"vld v1, b[0, s1, 0] mask=0x3",
         "vld v1, b.words[0 + s1 // 8 * 4096 + s1 % 8 * 128] stride=1 mask=0x03"},
        {"vld v1, b[0, s1 * 2 + 4, 0] mask=0x3",
         "vld v1, b.words[0 + (s1 + 2) // 4 * 4096 + (s1 + 2) % 4 * 256] stride=1 mask=0x03"},
        {"vld v1, b[0, s1 * 4 + 8, s2 * 512 - 256] stride=1",
         "vld v1, b.words[2048 + s1 // 2 * 4096 + (s1 + 2) % 2 * 512 + s2 * 4096]"},
        {"vst h[0, s1, 0], v2 if m1", "vst h.words[0 + s1 / 8 * 2048], v2 if m1"},
        {"vst b.words[128 + (s1 - 1) // 2 % 4 * 256 - s2], v2",
         "vst b.words[128 + (s1 - 1) // 2 % 4 * 256 + s2 * -1], v2"},
        {"vst vmem[s1 * 128], v2", "vst vmem[0 + s1 * 128], v2"},
        {"vst vmem[(8 + 8) * 128], v2", "vst vmem[2048], v2"},
        {"vst vmem[s1 * -2147483648], v2", "vst vmem[0 + s1 * -2147483648], v2"},
        {"vst vmem[s1 // 1], v2", "vst vmem[0 + s1], v2"},
        {"sld s1, k[1, 2]", "sld s1, k.words[10]"},
        {"sst k[s1, s2 + 1], 5", "sst k.words[1 + s1 * 8 + s2], 5"},
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char expect[2048];
        bool good = strchr(rows[i].expect, '\n') == NULL;
        snprintf(expect, sizeof(expect), "%s%s%s%s", good ? tensors_printed : "", good ? "    " : "",
                 rows[i].expect, good ? "\n" : "");
        failures += check_row(tensors, &(row){rows[i].text, expect});
    }
    assert_int_equal(failures, 0);
}

/* "LINE:COLUMN: message" of a program over the same tensors, whose lines are 1 to 7. */
TEST(test_errors) {
    static const row rows[] = {
        {"vad.f32 v0, v1, v2", "8:1: unknown instruction 'vad.f32'; did you mean 'vadd.f32'?"},
        {"gurgle s0", "8:1: unknown instruction 'gurgle'"},
        {"vld v0, b[0, max(s1, s2), 0]", "8:14: max takes constant integers"},
        {"vld v0, b[0, max(8, s2), 0]", "8:14: max takes constant integers"},
        {"vst vmem[(s1 + q) * 8], v2", "8:16: unknown name 'q', expected a number or a parameter"},
        {"vst vmem[s1 * -2147483649], v2", "8:15: expected an integer from -2147483648 to 2147483647"},
        {"vst vmem[s1 // 0], v2", "8:16: expected an integer from 1 to 2147483647"},
        {"vadd.f32 v0, v1", "8:16: vadd.f32 takes 3 operands, found 2"},
        {"vadd.f32 v0, v1, v2, v3", "8:20: found ',', expected the end of the line"},
        {"vadd.f32 v0 v1, v2", "8:13: found 'v1', expected ','"},
        {"vadd.f32 v0, s1, v2", "8:14: vadd.f32: found sreg 's1', expected vreg"},
        {"vadd.f32 v0, x, v2", "8:14: vadd.f32: found tensor 'x', expected vreg"},
        {"vadd.f32 v0, v40, v2", "8:14: there is no vreg v40: toy has v0 to v31"},
        {"vadd.f32 v[9999999], v40, v2", "8:12: the register's number is 9999999, expected 0 to 9999"},
        {"vmov v0, 1e39", "8:10: 1e+39 does not fit in f32, expected at most 3.40282347e+38, or inf"},
        {"vadd.f32 v0, vv, v2", "8:14: unknown name 'vv'"},
        {"sadd s1, s2, s3 if m0", "8:17: sadd takes no mask"},
        {"vadd.f32 v0, v1, v2 if v3", "8:24: vadd.f32: found vreg 'v3', expected vmask"},
        {"jump nowhere", "8:6: unknown label 'nowhere'"},
        {"lop: nop\njump loop", "9:6: unknown label 'loop'; did you mean 'lop'?"},
        {"a: nop\na: nop", "9:1: 'a' is already a label, of line 8"},
        {"x: nop", "8:1: 'x' is already a tensor, of line 2"},
        {"v1: nop", "8:1: 'v1' is a word of the language, choose another name"},
        {".tensor smem smem s32[8]", "8:9: 'smem' is a word of the language, choose another name"},
        {".tensor vmem vmem s32[8]", "8:9: 'vmem' is a word of the language, choose another name"},
        {"{ nop ; nop }", "8:9: one misc instruction too many: a bundle has 1 of them"},
        {"{ smov s1, 1 ; smov s1, 2 }", "8:16: two instructions of the bundle write sreg 1"},
        {"{ jump a ; jump a }\na:", "8:12: the bundle has more than one branch or halt"},
        {"{ smov s1, 1", "8:1: the bundle has no '}'"},
        {"{ }", "8:1: the bundle is empty"},
        {"{ smov s1, 1 smov s2, 1 }", "8:14: found 'smov', expected ';' or '}'"},
        {".tensr y hbm f32[2]", "8:1: unknown directive '.tensr'; did you mean '.tensor'?"},
        {".tensor y hbn f32[2]", "8:11: unknown space 'hbn'; did you mean 'hbm'?"},
        {".tensor y cmem f32[2]", "8:11: toy has no cmem"},
        {".tensor y hbm f32[ROW,2]", "8:19: unknown name 'ROW'; did you mean 'ROWS'?"},
        {".tensor y hbm f32[ROWS,2]{1,0:T(8,128}", "8:38: found '}', expected ',' or ')'"},
        {".tensor y hbm f33[2]", "8:15: unknown element type 'f33'; did you mean 'f32'?"},
        {".tensor y hbm f33[ROW]", "8:15: unknown element type 'f33'; did you mean 'f32'?"},
        {".tensor y hbm f32[8 ROW]", "8:21: found 'ROW', expected ',' or ']'"},
        {".tensor y hbm f32.x[2]", "8:18: found '.', expected '['"},
        {".tensor y hbm f32[2] inn", "8:22: found 'inn', expected the end of the shape"},
        {".tensor y hbm f32[2] out zeros", "8:26: only a tensor that is 'in' or 'inout' begins with values"},
        {".tensor y hbm f32[2] in random(sed=1)", "8:32: found 'sed', expected seed, lo or hi"},
        {".tensor y hbm f32[2] in random(lo=1, hi=0)", "8:31: lo is above hi"},
        {".tensor y hbm f32[2] in random(lo=0, hi=1, lo=0)", "8:44: a second lo"},
        {".tensor y hbm f32[2] in random(seed=1, seed=1)", "8:40: a second seed"},
        {"vld v0, b[0, 0, 0] stride=2 mask=3 stride=2", "8:36: a second stride"},
        {"vst b[0, 0, 0] mask=3 mask=3, v0", "8:23: a second mask"},
        {".tensor y hbm f32[2] in random(lo=-inf, hi=0)", "8:31: lo, hi or hi - lo is no finite number"},
        {".tensor y hbm f32[2] in random(lo=0, hi=nan)", "8:31: lo, hi or hi - lo is no finite number"},
        {".tensor y hbm f32[2] in random(lo=-1e308, hi=1e308)",
         "8:31: lo, hi or hi - lo is no finite number"},
        {".tensor y hbm f32[1024,1024,1024]", "8:9: 'y' is larger than hbm: 4,294,967,296 bytes, the hbm of "
                                              "toy has 1,073,741,824 (3,221,225,472 too many)"},
        {".tensor y vmem f32[240,1024]", "8:9: 'y' does not fit: 983,040 bytes behind the 98,304 of the "
                                         "tensors before it; the vmem of toy has "
                                         "1,048,576 (32,768 too many)"},
        {"dma b[2] <- x[0:16], one", "8:7: index 2 is outside dim 0, which has 2"},
        {"dma b[1] <- x[56:+16], one", "8:15: the slice from 56, of 16, is outside dim 0, which has 64"},
        {"dma b[1] <- x[s1:+65], one", "8:15: a slice of 65 is larger than dim 0, which has 64"},
        {"dma b[1] <- x[0:8], one", "8:5: the destination takes [16,512] and the source gives [8,512]"},
        {"dma b[1] <- x[s1:s2], one", "8:17: the size of the slice is not constant; write begin:+size"},
        {"dma b[1] <- x[8:8], one", "8:16: the slice holds nothing"},
        {"dma b[1] <- x[0, 0, 0], one", "8:21: 'x' has 2 dims"},
        {"dma b[1] <- z, one", "8:13: unknown tensor 'z'"},
        {"dma b[1] <- x[0:16]", "8:20: found the end of the text, expected ',' and a semaphore"},
        {"dma b[1] <- x[0:16], dome[0]", "8:22: unknown semaphore 'dome'; did you mean 'done'?"},
        {"dma b[1] <- x[0:16], done", "8:22: 'done' has 2 semaphores, say which: done[0]"},
        {"wait done[2]", "8:6: semaphore 2 of 'done', which has 2"},
        {"wait done[s1 * 2]", "8:6: the number of a semaphore is a constant, a sreg, or their sum"},
        {"vld v0, x[0, 0]", "8:9: 'x' is in hbm, expected a tensor in vmem"},
        {"vld v0, b[0, 4, 0]", "8:9: the index into 'b' gives no address: it is not on a tile boundary: 4 in "
                               "dim 1 is no multiple of 8; "
                               "with stride=1 behind it an access may begin at any row of 128 words"},
        {"vld v0, b[s1, 4, 0]", "8:9: the index into 'b' gives no address: it is not on a tile boundary: 4 "
                                "in dim 1 is no multiple of 8; "
                                "with stride=1 behind it an access may begin at any row of 128 words"},
        {"vld v0, b[0, 0, 64] mask=1",
         "8:9: the index into 'b' gives no address: it is not at the start of a row of 128 words"},
        {"vld v0, b[0, s1 * 3, 0]", "8:9: the index into 'b' gives no address: a register's factor is "
                                    "neither a part nor a multiple of a tile"},
        {"vld v0, b[0, s1 + s2, 0]", "8:9: the index into 'b' gives no address: two registers step inside "
                                     "one tile; keep their sum in a register"},
        {"vld v0, b[0, s1 * 1152921504606846976, 0]",
         "8:9: the index into 'b' gives no address: it goes beyond 2^63 bits"},
        {"vld v0, b[s1 + 4611686018427387904, 0, 0]",
         "8:9: the index into 'b' gives no address: it goes beyond 2^63 bits"},
        {"vld v0, b[0, s1 - 4611686018427387904, 0]",
         "8:9: the index into 'b' gives no address: it goes beyond 2^63 bits"},
        {".tensor y vmem f32[4,8,128]{2,1,0:T(*,8,128)}\nvld v0, y[s1 * 2305843009213693952, 0, 0]",
         "9:9: the index into 'y' gives no address: it goes beyond 2^63 bits"},
        {"vld v0, b[0, 16, 0]", "8:14: index 16 is outside dim 1, which has 16"},
        {"vld v0, b[0, 0]", "8:15: found ']', expected ','"},
        {"vld v0, b[0, s99, 0]", "8:14: there is no sreg s99: toy has s0 to s31"},
        {"vld v0, b[0, s1 * s2, 0]",
         "8:17: registers may only be added, subtracted and multiplied by constants here"},
        {"sld s0, k[0, 0, 0]", "8:15: found ',', expected ']'"},
        {"vld v0, b.words[1.5]", "8:17: not an address in words"},
        {"vld v0, b.words[s1 + 9223372036854775807 + 1]", "8:44: not an address in words"},
        {"vld v0, h.words[9223372036854775807]", "8:9: not an address in words"},
        {"vld v0, b.words[s1 // 0]", "8:23: expected an integer from 1 to 2147483647"},
        {"vld v0, b.words[s1 * 1.5]", "8:22: expected an integer from -2147483648 to 2147483647"},
        {"vld v0, b.words[(s1 + s2) % 4]", "8:23: unknown name 's2', expected a number or a parameter"},
        {"vld v0, b.words[s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9]",
         "8:37: the index into 'b' gives no address: it has too many terms; keep the address in a register"},
        {"dma b[1] <- x[0:16], one, done[1]",
         "8:34: found the end of the text, expected device=, whose semaphore this is"},
        {"dma b[1] <- x[0:16], one priority=16", "8:35: the priority is 16, expected 0 to 15"},
        {"dma b[1] <- x[0:16], one priority 1", "8:35: found '1', expected '='"},
        {".tensor c hbm c64[16,512]\ndma b[1] <- c, one", "9:5: c64 cannot become f32"},
        {".sem many[1022]", "8:6: expected 1 to 1024 semaphores"},
        {".sem many[1021]\n.sem more", "9:6: expected 1 to 1024 semaphores"},
        {".pack on", "8:7: found 'on', expected auto, pipeline or off"},
        {".pack pipeline s1", "8:16: found 's1', expected a vreg from v1 on, or the end of the line"},
        {".pack pipeline v0", "8:16: found 'v0', expected a vreg from v1 on, or the end of the line"},
        {".pack pipeline v8\nvmov v7, 1\nvmov v8, 1", "10:1: v8 is the packer's, as .pack pipeline says"},
        {".cores 2", "8:8: found 2, expected 1: toy has 1 TensorCore"},
        {".cores 1\n.cores 1", "9:1: a second .cores"},
        {".tensor y hbm f32[64] P(\"x\")", "8:23: a sharding needs a mesh of devices to run on"},
        {".tensor w hbm f32[8] in file(w)", "8:30: found 'w', expected the name of a file in double quotes"},
        {".tensor w hbm f32[8] in file(\"w.npy\"", "8:37: found the end of the text, expected ')'"},
        {".report = x", "8:9: found '=', expected a name"},
        {".report top x", "8:13: found 'x', expected '='"},
        {".macro m a\n.report top = a\n.end\nm x",
         "9:1: a report cannot use the arguments of a macro (in macro 'm' used on line 11)"},
        {".macro m a\n.report top = a + 1\n.end\nm max(x)",
         "9:1: a report cannot use the arguments of a macro (in macro 'm' used on line 11)"},
        {".macro m a\n.check x ~= max(a)\n.end\nm x",
         "9:1: a check cannot use the arguments of a macro (in macro 'm' used on line 11)"},
        {".macro m a\n.check x ~= machine.a\n.end\nm x",
         "9:1: a check cannot use the arguments of a macro (in macro 'm' used on line 11)"},
        {"delay 2 * one", "8:11: 'one' is a semaphore, expected a number or a parameter"},
        {".reg acc = s1\ndelay 2 * acc", "9:11: 'acc' is a register, expected a number or a parameter"},
        {".macro m\n.end\ndelay 2 * m", "10:11: 'm' is a macro, expected a number or a parameter"},
        {".macro twice r\nsadd r, r, r\n.end\n{ nop ; twice s1 }",
         "11:9: 'twice' is a macro, expected an instruction: a bundle in braces has no macros"},
        {".for I = 0, 3\nnop", "8:1: .for has no .end"},
        {".end", "8:1: .end without .for, .loop, .if or .macro"},
        {".macro m a\nsadd s1, s1, a\n.end\nm", "11:1: macro 'm' takes 1 argument, found 0"},
        {".macro m a\nsadd s1, s1, a\n.end\nm v3",
         "11:3: sadd: found vreg 'v3', expected sreg or integer (in macro 'm' used on line 11)"},
        {".macro m a\nvad.a v1, v1, v1\n.end\nm f32",
         "9:1: unknown instruction 'vad.f32'; did you mean 'vadd.f32'? (in macro 'm' used on line 11)"},
        {"delay machine.core.vreg",
         "8:7: unknown name 'machine.core.vreg'; did you mean 'machine.core.vregs'?"},
        {".param machine.core.vregs = 3", "8:8: found 'machine.core.vregs', expected a name"},
        {".loop s1 = 0, 2147483648\nnop\n.end",
         "8:15: the end is 2147483648, expected -2147483648 to 2147483647"},
        {".loop s1 = 4294967295, s2\nnop\n.end",
         "8:12: the first value is 4294967295, expected -2147483648 to 2147483647"},
        {".loop s1 = 2147483640, 2147483647, 4\nnop\n.end",
         "8:24: the counter is 2147483648 behind the last pass, expected at most 2147483647"},
        {"a: br.lt s1, 2147483648, a", "8:14: found 2147483648 where numbers are signed, "
                                       "expected -2147483648 to 2147483647"},
        {"scmp.ge s1, 4294967295, s2", "8:13: found 4294967295 where numbers are signed, "
                                       "expected -2147483648 to 2147483647"},
        {"vmax.i32 v1, v1, 0x80000000", "8:18: found 2147483648 where numbers are signed, "
                                        "expected -2147483648 to 2147483647"},
        {".loop s1 = s2, -2147483649\nnop\n.end", "8:16: -2147483649 does not fit in 32 bits"},
        {".loop s1 = s2, s1\nnop\n.end",
         "8:16: the end is the loop's own counter, expected another register"},
        {".macro m a, b, a\nnop\n.end\nm 1, 2, 3", "8:16: the macro has two arguments 'a'"},
        {".if 1\nnop\n.else\nnop\n.else\nnop\n.end", "12:1: a second .else of the .if of line 8"},
        {".if 0\nnop\n.else\n.if 1\n.else\n.end\n.else\nnop\n.end",
         "14:1: a second .else of the .if of line 8"},
        {".macro m\nm\n.end\nm",
         "9:1: macros and includes are nested over 32 deep (in macro 'm' used on line 9) "
         "(in macro 'm' used on line 11)"},
        {".assert ROWS % 128 == 0, \"ROWS must be a multiple of 128\"",
         "8:1: ROWS must be a multiple of 128"},
        {".include \"nowhere.tsim\"", "8:10: cannot open 'nowhere.tsim': No such file or directory"},
        {".region\n.endregion", "8:8: found the end of the line, expected a name"},
        {".region a b\n.endregion", "8:11: found 'b', expected the end of the line"},
        {".region a\nnop\n", "8:1: .region has no .endregion in the same block"},
        {".endregion", "8:1: .endregion without a .region in the same block"},
        {".region a\n.if 1\n.endregion\n.end\n.endregion",
         "10:1: .endregion without a .region in the same block"},
        {".loop s1 = 0, 2\n .region a\n.end\n", "9:2: .region has no .endregion in the same block"},
        {".region a\nnop\n.endregion b", "10:12: found 'b', expected the end of the line"},
        {"\x01", "8:1: found byte 0x01, expected an instruction"},
        {"$", "8:1: found '$', expected an instruction"},
        {".cores 0", "8:8: found 0, expected 1: toy has 1 TensorCore"},
        {".cores 0.5", "8:8: found 0.5, expected 1: toy has 1 TensorCore"},
        {"smov s1234, 1", "8:6: there is no sreg s1234: toy has s0 to s31"},
        {"smov s12345, 1", "8:6: unknown name 's12345'"},
        {"vld v0, b[max(s1, 1), 0, 0]", "8:11: max takes constant integers"},
        {"delay max(1, 2.0)", "8:7: max takes constant integers"},
        /* Takes a second: not under ASan. */
        {".for I = 0, 2000000000\n.end", "8:6: the program expands to over 4194304 statements"},
    };
    int failures = 0;
    enum { ROWS = sizeof rows / sizeof rows[0] };
    for (int i = 0, most = cases(ROWS, ROWS - 1); i < most; i++) {
        char text[4096], result[4096], got[1024];
        snprintf(text, sizeof(text), "%s%s", tensors, rows[i].text);
        assemble(text, NULL, 0, result, sizeof(result));
        result[strcspn(result, "\n")] = '\0';
        const char *place = strncmp(result, "a.tsim:", 7) == 0 ? result + 7 : result;
        const char *message = strstr(place, "error: ");
        assert_non_null(message);
        snprintf(got, sizeof(got), "%.*s%s", (int)(message - place), place, message + 7);
        failures += differs(rows[i].text, got, rows[i].expect);
    }
    assert_int_equal(failures, 0);
}

/* "LINE:COLUMN" of all errors of a text. */
static void list_errors(const char *text, char *out, size_t bytes) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_source source = {.name = "a.tsim", .text = text, .length = strlen(text)};
    const ts_program *program = ts_program_parse(&err, arena, &source, &target, NULL, 0);
    assert_true(program == NULL);
    size_t used = 0;
    for (const ts_error *at = &err; at != NULL; at = at->next) {
        used +=
            (size_t)snprintf(out + used, bytes - used, "%s%d:%d", used > 0 ? " " : "", at->line, at->column);
        assert_int_equal(at->more, err.more);
        assert_int_equal(ts_error_exit_code(at), 1);
    }
    snprintf(out + used, bytes - used, "%s", err.more ? " more" : "");
    ts_arena_free(arena);
}

/* Each error of a text once, in its order, and none that follows from another. */
TEST(test_many_errors) {
    static const row rows[] = {
        {"smov s1\nnop\nsmov s99, 1\n", "1:8 3:6"},
        /* Within a bundle. One without a '}' ends where another, or a directive, begins. */
        {"{ smov s1 ; gurgle ; smov s2, 1 }\nvad\n", "1:11 1:13 2:1"},
        {"{ smov s1 }\n{ gurgle ; gurgle }\n", "1:11 2:3 2:12"},
        {"{ smov s1, 1 ; a { b ; c } ; nop }\nvad\n", "1:16 2:1"},
        {"{ a { b } ; gurgle }\nvad\n", "1:3 1:13 2:1"},
        {"l: { smov s1, A ; nop }\nvad\n", "1:15 2:1"},
        {"l: m: .parm A = 1\ndelay A\nvad\n", "1:7 3:1"},
        {"{ smov s1, 1\n ; a comment ; or two\n{ nop ; gurgle }\n", "1:1 3:9"},
        {"{ smov s1, 1\n.param A = \n ; of a line\n", "1:1 2:12"},
        {"{ nop } gurgle ; junk\ngurgle\n", "1:9 2:1"},
        {"{ nop ; nop }\n{ smov s1, 1 ; smov s1, 2 }\njump a\n", "1:9 2:16 3:6"},
        /* A brace that a line leaves open ends with it: ';' begins a comment again. */
        {".tensor x hbm f32[8]{0:T(8\n  nop ; a comment ; more\ngurgle\n", "1:27 3:1"},
        /* Names: unknown ones once; what failed to be defined is not missed; it may be defined after all. */
        {"delay A\ndelay A\ndelay A + B\ndelay B\n", "1:7 4:7"},
        {"jump a\njump a\njump b\n", "1:6 3:6"},
        {".param A = \ndelay A\n.param B = A + 1\n.tensor x hbm f32[B]\ndma x <- x, S\n", "1:12"},
        {".tensor x hbn f32[8]\n.tensor y hbm f32[8]\n.sem s\ndma x <- y, s\ndma y <- z, s\n", "1:11 5:10"},
        {".sem r[x], q[2]\nwait q[0]\nwait r\nwait q[2]\n", "1:8"},
        {".reg a = 3\nsmov a, 1\n.reg b = s1 s2\nsmov b, 1\n", "1:10 3:13"},
        {"delay A\n.param A = 1\ndelay A\nsmov A, 1\n", "1:7 4:6"},
        {".param A = \n.param A = 3\nsmov A, 1\n", "1:12 3:6"},
        {".param A = 1\n.param A = 2\nsmov A, 1\n", "2:8 3:6"},
        {".parm A = 1\ndelay A\ngurgle\n", "1:1 3:1"},
        {".tensor a hbm f32[8]\n.tensor b hbm f32[4000000000]\n.sem s\ndma a <- b[0:8], s\n", "2:9"},
        /* Blocks whose first line fails: bodies are read, counters and what may not be defined are bad. */
        {".loop s1 = 0, A\n gurgle\n.end\nvad\n", "1:15 2:2 4:1"},
        {".for I = 0, A\n delay I\n gurgle\n.end\nvad\n", "1:13 3:2 5:1"},
        {".if A\n.param B = 1\nl: gurgle\n.else\n.end\ndelay B\njump l\nvad\n", "1:5 8:1"},
        {".macro m 3\n gurgle\n.end\nm\nvad\n", "1:10 5:1"},
        {".lop s1 = 0, 3\n nop\n.end\n.end\n", "1:1 4:1"},
        {".for I = 0, 1000\n smov s99, I\n.end\nvad\n", "2:7 4:1"},
        {".macro m a\n smov a, 1\n gurgle\n.end\nm s1\nm v1\nm v2\nvad\n", "3:2 6:3 7:3 8:1"},
        {".loop s1 = 0, 3\n.if 1\n nop\n.end\nvad\n", "1:1"},
        {".include \"nowhere.tsim\"\ndelay A\njump a\nvad\n", "1:10 4:1"},
        {"vad\n.assert 0, \"no\"\nvad\n", "1:1 2:1"},
        {"l: gurgle\nl: nop\njump l\n", "1:4 2:1"},
        {".region 3\nvad\n.endregion\n.endregion\n", "1:9 2:1 4:1"},
        {".region a\n.region b\nvad\n", "1:1 2:1 3:1"},
        {".for I = 0, 9\n.region a\n.end\nvad\n", "2:1 4:1"},
        /* Takes a second: not under ASan. */
        {"smov s1\n.for I = 0, 4194301\n.end\nvad\nvad\nvad\n", "1:8 4:1 5:1"}, /* 2^22 statements and one */
    };
    int failures = 0;
    enum { ROWS = sizeof rows / sizeof rows[0] };
    for (int i = 0, most = cases(ROWS, ROWS - 1); i < most; i++) {
        char got[1024];
        list_errors(rows[i].text, got, sizeof(got));
        failures += differs(rows[i].text, got, rows[i].expect);
    }
    assert_int_equal(failures, 0);
}

static const char *file_of(char *path, const char *name, const char *text) {
    FILE *file = fopen(temporary_path(path, name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

/* Those of a file stand where it is included. */
TEST(test_errors_of_files) {
    char inner[TEMPORARY_PATH], outer[TEMPORARY_PATH], text[1024], got[1024];
    file_of(inner, "assemble_inner.tsim", "    gurgle\n");
    snprintf(text, sizeof text, "  gurgle\n.include \"%s\"\n  gurgle\n", inner);
    file_of(outer, "assemble_outer.tsim", text);
    snprintf(text, sizeof text, "gurgle\n.include \"%s\"\ngurgle\n", outer);
    list_errors(text, got, sizeof got);
    remove(inner);
    remove(outer);
    assert_string_equal(got, "1:1 1:3 1:5 3:3 3:1");
}

/* One that is there already is kept; nobody may want one. */
TEST_WITH_ARENA(test_errors_that_are_not_wanted) {
    ts_source source = {.name = "a.tsim", .text = "gurgle\n", .length = 7};
    ts_error err = {0};
    ts_error_set(&err, TS_ERROR_IO, "it was before");
    assert_null(ts_program_parse(NULL, arena, &source, &target, NULL, 0));
    assert_null(ts_program_parse(&err, arena, &source, &target, NULL, 0));
    assert_string_equal(err.message, "it was before");
}

TEST(test_cores) {
    static const struct {
        int cores;
        const char *text, *expect;
    } rows[] = {
        {0, ".cores 1\nnop", ".cores 1\n    nop\n"},
        {1, ".cores 2\nnop",
         "a.tsim:1:8: error: found 2, expected 1: toy has 1 TensorCore\n.cores 2\n       ^\n"},
        {2, ".cores 2\nnop", ".cores 2\n    nop\n"},
        {2, ".cores 3\nnop",
         "a.tsim:1:8: error: found 3, expected 1 to 2: toy has 2 TensorCores\n.cores 3\n       ^\n"},
        {2, ".cores 0\nnop",
         "a.tsim:1:8: error: found 0, expected 1 to 2: toy has 2 TensorCores\n.cores 0\n       ^\n"},
        {2, ".cores 1.5\nnop",
         "a.tsim:1:8: error: found 1.5, expected 1 to 2: toy has 2 TensorCores\n.cores 1.5\n       ^\n"},
        {2, ".cores 1\n.cores 1\nnop", "a.tsim:2:1: error: a second .cores\n.cores 1\n^\n"},
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_target machine = target;
        char result[1024];
        machine.cores = rows[i].cores;
        assemble_for(&machine, rows[i].text, (define_list){NULL, 0}, result, sizeof result);
        failures += differs(rows[i].text, result, rows[i].expect);
    }
    assert_int_equal(failures, 0);
}

/* A bundle has one wait, whatever slots there are; other instructions share them. */
TEST(test_waits_are_apart) {
    ts_target machine = target;
    char result[1024];
    machine.core.limits.slots[TS_SLOT_MISC] = 3;
    assemble_for(&machine, ".sem a, b\n.pack auto\nwait a\nwait b\nsadd s1, s1, 1\n", (define_list){NULL, 0},
                 result, sizeof result);
    assert_string_equal(result, ".sem a[1]\n.sem b[1]\n    { wait a[0] ; sadd s1, s1, 1 }\n    wait b[0]\n");
}

/* Up to 20; and a text whose errors are all the same is not read forever. */
TEST(test_how_many_errors) {
    for (int count = 19; count <= 21; count++) {
        char text[512] = "", got[1024], last[40];
        for (int i = 0; i < count; i++) strcat(text, "gurgle\n");
        list_errors(text, got, sizeof(got));
        snprintf(last, sizeof(last), " %d:1%s", count > 20 ? 20 : count, count > 20 ? " more" : "");
        assert_string_equal(strstr(got, last), last);
    }
    char text[4096] = "", got[1024];
    for (int i = 0; i < 300; i++) strcat(text, "delay A\n");
    strcat(text, "gurgle\n");
    list_errors(text, got, sizeof(got));
    assert_string_equal(got, "1:7 more");
    list_errors(text + 8 * 45, got, sizeof(got)); /* 255 statements and the last */
    assert_string_equal(got, "1:7 256:1 more");
}

TEST(test_deep_blocks) {
    for (int depth = 511; depth <= 512; depth++) { /* and the whole program */
        char text[8192] = "", result[4096];
        for (int i = 0; i < depth; i++) strcat(text, ".if 1\n");
        strcat(text, "nop\n");
        for (int i = 0; i < depth; i++) strcat(text, ".end\n");
        assemble(text, NULL, 0, result, sizeof(result));
        const char *expect = "a.tsim:512:1: error: blocks are nested over 512 deep\n.if 1\n^\n";
        assert_string_equal(result, depth == 511 ? "    nop\n" : expect);
    }
}

TEST(test_defines) {
    char result[1024];
    static const char text[] = ".param N = 4\n.param M = N * 2\ndelay M";
    assemble(text, (ts_define[]){{"N", "5"}}, 1, result, sizeof(result));
    assert_string_equal(result, "    delay 10\n");
    assemble(text, (ts_define[]){{"N", "5"}, {"M", "N + 1"}}, 2, result, sizeof(result));
    assert_string_equal(result, "    delay 6\n");
    assemble(text, (ts_define[]){{"NN", "5"}}, 1, result, sizeof(result));
    assert_string_equal(result, "error: the program has no parameter 'NN'; did you mean 'N'?\n");
    assemble(text, (ts_define[]){{"N", "5"}, {"N", "6"}}, 2, result, sizeof(result));
    assert_string_equal(result, "error: parameter N is given twice\n");
    assemble(text, (ts_define[]){{"N", "5 5"}}, 1, result, sizeof(result));
    assert_string_equal(result,
                        "parameter N:1:3: error: found '5', expected the end of the value\n5 5\n  ^\n");
}

#define ARRAY ".tensor x hbm f32[16,512]{1,0:T(8,128)} "

/* On a mesh of x=2, y=4: a tensor has what a device has of it, and is printed whole. */
TEST_WITH_ARENA(test_sharded) {
    static const row rows[] = {
        {ARRAY "in\n", NULL},
        {ARRAY "P('x', None) in\n", NULL},
        {ARRAY "P('x') in", ARRAY "P('x', None) in\n"},
        {ARRAY "P('x', 'y') in random(seed=2, lo=-1, hi=0.5)\n", NULL},
        {ARRAY "P(None, ('y', 'x')) out\n", NULL},
        {ARRAY "{devices=[2,4]<=[2,4]} in", ARRAY "P('x', 'y') in\n"},
        {ARRAY "P(None, None) in", ARRAY "in\n"},
        {ARRAY "P('x')\n.tensor y hbm f32[8,512]{1,0:T(8,128)}\n.sem s\ndma y <- x, s\n",
         ARRAY "P('x', None)\n.tensor y hbm f32[8,512]{1,0:T(8,128)}\n.sem s[1]\n"
               "    dma y[0:+8, 0:+512] <- x[0:+8, 0:+512], s[0]\n"},
        {".tensor v vmem f32[16,512]{1,0:T(8,128)} P('x', 'y')\nvld v1, v[0, 128]",
         "a.tsim:2:14: error: index 128 is outside dim 1, which has 128\nvld v1, v[0, 128]\n             "
         "^\n"},
        {"delay mesh.size.x * 10 + mesh.size.y", "    delay 24\n"},
        {"delay mesh.size.z", "a.tsim:1:7: error: unknown name 'mesh.size.z'; did you mean 'mesh.size.y'?\n"
                              "delay mesh.size.z\n      ^\n"},
        {ARRAY "P('z')", "a.tsim:1:43: error: the mesh has no axis 'z'\n" ARRAY
                         "P('z')\n                                          ^\n"},
        {ARRAY "P('x', unreduced={'y'})", "a.tsim:1:15: error: the sum over devices is no tensor of a "
                                          "program: give the addends a dim of their "
                                          "own, split over the axis, and check sum(.., axis=0)\n" ARRAY
                                          "P('x', unreduced={'y'})\n              ^\n"},
        {".tensor x hbm f32[16] S[(2,8):(1@x,1)] + R[4:1@y]",
         "a.tsim:1:15: error: the layout of a sharded tensor must be in XLA's notation\n"
         ".tensor x hbm f32[16] S[(2,8):(1@x,1)] + R[4:1@y]\n              ^\n"},
    };
    ts_error err = {0};
    ts_mesh mesh;
    const ts_mesh_request request = {.machine = ts_machine_load(&err, arena, "tpu-v4"),
                                     .axes = {"--mesh", "x=2,y=4", 7}};
    assert_true(request.machine && ts_mesh_read(&err, arena, &request, &mesh));
    ts_target machine = target;
    machine.mesh = &mesh;
    int failures = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char result[4096];
        assemble_for(&machine, rows[i].text, (define_list){NULL, 0}, result, sizeof result);
        failures += differs(rows[i].text, result, rows[i].expect ? rows[i].expect : rows[i].text);
    }
    assert_int_equal(failures, 0);
}

/* Longer than what stands before it. */
TEST_WITH_ARENA(test_long_axes) {
    char result[256];
    ts_error err = {0};
    ts_mesh mesh;
    const ts_mesh_request request = {.machine = ts_machine_load(&err, arena, "tpu-v4"),
                                     .axes = {"--mesh", "data_of_this_host=2,model=4", 27}};
    assert_true(request.machine && ts_mesh_read(&err, arena, &request, &mesh));
    ts_target machine = target;
    machine.mesh = &mesh;
    assemble_for(&machine, "delay mesh.size.data_of_this_host * 10 + mesh.size.model", (define_list){NULL, 0},
                 result, sizeof result);
    assert_string_equal(result, "    delay 24\n");
}

/* As those of the whole program; an error before the first instruction is the same. */
TEST_WITH_ARENA(test_parameters_alone) {
    static const char path[] = "tilesim:/transpose.tsim";
    static const ts_define rows[] = {{"ROWS", "300"}, {"TYPE", "bf16"}}, none[] = {{"ROWS", "0"}};
    ts_target large = target;
    large.space_bytes[TS_SPACE_VMEM] = large.space_bytes[TS_SPACE_HBM];
    const ts_program *all = ts_program_load(NULL, arena, path, &large, rows, 2),
                     *alone = ts_program_load_parameters(NULL, arena, path, &large, rows, 2);
    assert_non_null(all);
    assert_non_null(alone);
    assert_int_equal(alone->param_count, all->param_count);
    for (int i = 0; i < all->param_count; i++) {
        assert_string_equal(alone->params[i].name, all->params[i].name);
        assert_int_equal(alone->params[i].integer, all->params[i].integer);
    }
    assert_int_equal(alone->code.bundle_count, 0);
    ts_error err = {0}, same = {0};
    assert_null(ts_program_load(&err, arena, path, &large, none, 1));
    assert_null(ts_program_load_parameters(&same, arena, path, &large, none, 1));
    assert_string_equal(same.message, err.message);
    same = (ts_error){0};
    assert_null(ts_program_load_parameters(&same, arena, "tilesim:/transpos.tsim", &large, NULL, 0));
    assert_int_equal(same.kind, TS_ERROR_IO);
}

/* Each semaphore of an array, and none of others. */
TEST_WITH_ARENA(test_semaphores_of_bytes) {
    static const char text[] = ".sem a\n.sem b[3] bytes, c, d bytes\n";
    static const bool expected[] = {false, true, true, true, false, true};
    enum { COUNT = sizeof expected / sizeof expected[0] };
    const ts_source source = {"a.tsim", text, sizeof text - 1};
    const ts_program *program = ts_program_parse(NULL, arena, &source, &target, NULL, 0);
    assert_non_null(program);
    assert_int_equal(program->code.semaphore_count, COUNT);
    for (int i = 0; i < COUNT; i++) assert_int_equal(program->code.counts_bytes[i], expected[i]);
}
