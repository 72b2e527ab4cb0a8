/* Figures moved: what "hbm.clock*2" is on each machine, and which machines are new. */
#include "tests/support/test.h"

#include "sweep/case.h"

TEST_WITH_ARENA(machines) {
    const char *const sets[] = {"hbm.clock=1 GHz", "hbm.clock=3 GHz"};
    static const struct {
        const char *machine;
        int first, count;
        bool is_new;
        const char *text, *change, *set;
    } rows[] = {
        {"tpu-v4", 0, 0, true, "tpu-v4", "hbm.clock*2", "hbm.clock=2.4 GHz"},
        {"tpu-v4", 0, 0, false, "tpu-v4", "hbm.clock/2", "hbm.clock=600 MHz"},
        {"tpu-v4", 0, 1, true, "tpu-v4 with hbm.clock=1 GHz", "hbm.clock*2", "hbm.clock=2 GHz"},
        {"tpu-v4", 1, 1, true, "tpu-v4 with hbm.clock=3 GHz", "hbm.clock/2", "hbm.clock=1.5 GHz"},
        {"tpu-v4", 0, 2, true, "tpu-v4 with hbm.clock=1 GHz, hbm.clock=3 GHz", "hbm.clock/2",
         "hbm.clock=1.5 GHz"},
        {"tpu-v4", 0, 2, false, "tpu-v4 with hbm.clock=1 GHz, hbm.clock=3 GHz", "hbm.cloc/2", "hbm.cloc=/2"},
        {"tpu-v5e", 0, 0, true, "tpu-v5e", "memories.cmem.capacity*2", "memories.cmem.capacity=*2"},
        {"tpu-v5e", 0, 0, false, "tpu-v5e", "hbm.bus.column/2", "hbm.bus.column=/2"},
        {"tpu-v5e", 0, 0, false, "tpu-v5e", "chip.generation*2", "chip.generation=10"},
        {"tpu-v0", 0, 0, true, "tpu-v0", "hbm.clock*2", "hbm.clock=*2"},
        {"tpu-v0", 0, 0, false, "tpu-v0", "hbm.clock/2", "hbm.clock=/2"},
    };
    ts_sweep_moves *moves = ts_sweep_moves_new(arena);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_sweep_case asked = {
            .machine = rows[i].machine, .sets = sets + rows[i].first, .set_count = rows[i].count};
        assert_int_equal(ts_sweep_moves_add(moves, &asked), rows[i].is_new);
        assert_false(ts_sweep_moves_add(moves, &asked));
        assert_string_equal(ts_sweep_machine_text(arena, &asked), rows[i].text);
        assert_string_equal(ts_sweep_moves_set(moves, &asked, rows[i].change), rows[i].set);
    }
}
