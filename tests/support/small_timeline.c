/* Events of a timeline made by hand. */
#include "tests/support/small_timeline.h"

#include "tests/support/run_text.h"

const char small_program[] = ".tensor x  hbm  f32[8,128]{1,0:T(8,128)} in iota\n"
                             ".tensor xb vmem f32[8,128]{1,0:T(8,128)}\n"
                             ".sem ready[2]\n"
                             "        dma  xb <- x, ready[1]\n"
                             "        wait ready[1]\n"
                             ".region sum\n"
                             "        { vld v0, xb[0,0] ; sadd s1, s1, 8 }\n"
                             ".endregion\n"
                             "        halt\n";

ts_timeline small_timeline(ts_arena *arena) {
    static const char *const processes[] = {"core 0", "HBM"};
    static const ts_track tracks[SMALL_TRACKS] = {
        [SMALL_BUNDLES] = {0, "bundles", {NULL, NULL}, false},
        [SMALL_TRANSFERS] = {0, "transfers", {NULL, NULL}, false},
        [SMALL_QUEUE] = {0, "queue", {"dma", NULL}, false},
        [SMALL_BUS] = {1, "bus", {NULL, NULL}, false},
        [SMALL_RATE] = {1, "GB/s", {"read", "written"}, true},
        [SMALL_REGIONS] = {0, "regions", {NULL, NULL}, false},
    };
    ts_machine *machine = TS_NEW(arena, ts_machine);
    *machine = *ts_machine_load(NULL, arena, "tpu-v5e");
    machine->chip.sustained_khz = 2000000;
    machine->name = "m";
    machine->title = "of hand";
    return (ts_timeline){.program = assemble_text(arena, machine, small_program),
                         .machine = machine,
                         .processes = processes,
                         .process_count = 2,
                         .tracks = tracks,
                         .track_count = SMALL_TRACKS,
                         .until = INT64_MAX,
                         .sampled_from = -1,
                         .share = 1};
}
