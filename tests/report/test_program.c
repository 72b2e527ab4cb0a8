/* Live ranges, memory maps and bundles of programs. */
#include "report/program.h"

#include <string.h>

#include "tests/support/group.h"
#include "tests/support/run_text.h"
#include "tests/support/written.h"

/* Registers are few, so that all of them are counted. */
static ts_target target_of(const ts_machine *machine) {
    ts_target target;
    ts_run_target(machine, &target);
    target.core.limits.sregs = 4;
    target.core.limits.vregs = 3;
    target.core.limits.vmasks = 2;
    return target;
}

static const char *live_of(const char *text) {
    const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
    const ts_target target = target_of(machine);
    ts_text out = ts_text_begin(arena);
    ts_report_live(assemble_text(arena, machine, text), &target, &out);
    return out.bytes;
}

TEST(live_ranges) {
    assert_string_equal(
        live_of(" smov s1, 3\n smov s2, 4\n sadd s1, s1, s2\n vmov v2, s1\n nop\n v2s s3, v2\n"),
        "6 bundles, a column is 1; a register is live where its value is still read\n"
        "sregs   at most 2 of 4 live, before bundle 2, line 3\n"
        "  s1    .###..\n"
        "  s2    ..#...\n"
        "vregs   at most 1 of 3 live, before bundle 4, line 5\n"
        "  v2    ....##\n"
        "vmasks  at most 0 of 2 live\n");
    assert_string_equal(live_of(" sadd s3, s0, 3\n nop\n"),
                        "2 bundles, a column is 1; a register is live where its value is still read\n"
                        "sregs   at most 1 of 4 live, before bundle 0, line 1\n"
                        "  s0    #.\n"
                        "vregs   at most 0 of 3 live\n"
                        "vmasks  at most 0 of 2 live\n");
}

/* A column is two bundles from 89 on, and three from 177; s1 is written first and read in the middle. */
TEST(long_programs) {
    static const struct { int bundles, each; } rows[] = {{88, 1}, {89, 2}, {176, 2}, {177, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text text = ts_text_begin(arena), row = ts_text_begin(arena);
        for (int k = 0; k < rows[i].bundles; k++)
            ts_text_add(&text, k == 9 ? " smov s1, 3\n" : k == 40 ? " sadd s2, s1, 1\n" : " nop\n");
        ts_text_add(&row, "\n  s1    ");
        for (int k = 0; k < rows[i].bundles; k += rows[i].each) /* is live before bundles 10 to 40 */
            ts_text_add_char(&row, k + rows[i].each > 10 && k <= 40 ? '#' : '.');
        ts_text_add_char(&row, '\n');
        const char *live = live_of(text.bytes);
        assert_holds(live,
                     ts_text_format(arena, "%d bundles, a column is %d;", rows[i].bundles, rows[i].each));
        assert_holds(live, row.bytes);
    }
}

TEST(memory_maps) {
    const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
    ts_target target = target_of(machine);
    target.space_bytes[TS_SPACE_VMEM] = 16384;
    ts_text out = ts_text_begin(arena);
    ts_report_map(assemble_text(arena, machine,
                                ".tensor x hbm f32[8,128]{1,0:T(8,128)} in zeros\n.tensor none vmem f32[0]\n"
                                ".tensor y vmem f32[8,128]{1,0:T(8,128)}\n.tensor z vmem s8[100]\n nop\n"),
                  &target, &out);
    assert_string_equal(
        out.bytes, "hbm: 4,096 of 17,179,869,184 bytes used (0.00 %), 17,179,865,088 free\n"
                   "      first byte         last byte           bytes  tensor   shape\n"
                   "               0 ..          4,095           4,096  x        f32[8,128]{1,0:T(8,128)}\n"
                   "vmem: 4,196 of 16,384 bytes used (25.61 %), 12,188 free\n"
                   "      first byte         last byte           bytes  tensor   shape\n"
                   "               0 ..              0               0  none     f32[0]{0}\n"
                   "               0 ..          4,095           4,096  y        f32[8,128]{1,0:T(8,128)}\n"
                   "           4,096 ..          4,195             100  z        s8[100]{0}\n");
}

TEST(bundles_as_json) {
    const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
    ts_text out = ts_text_begin(arena);
    ts_report_bundles_json(assemble_text(arena, machine, " nop\n\n{ smov s1, 3 ; nop }\n"), &out);
    assert_string_equal(json_value(arena, out.bytes, "bundles"),
                        "[{\"file\":\"a.tsim\",\"line\":1,\"text\":\"nop\"},{\"file\":\"a.tsim\",\"line\":3,"
                        "\"text\":\"{ smov s1, 3 ; nop }\"}]");
}

int main(void) { return run_all_tests(begin_group, end_group); }
