/* Devices and links of a run on a mesh: of made-up counts. */
#include <stdlib.h>
#include <string.h>

#include "report/run_private.h"

#include "tests/support/group.h"
#include "tests/support/written.h"

enum { DEVICES = 4 };

static ts_machine machine;
static ts_run_request request = {.machine = &machine};
static ts_mesh mesh;
static ts_chip_counters chips[DEVICES];
static ts_run_link *links;
static ts_run_mesh on_mesh;

/* A line of four, in cycles of a nanosecond: three links there, three back. Device 1 ends last, 0 and 3 first. */
static int begin(void **state) {
    begin_group(state);
    ts_error err = {0};
    const ts_machine *loaded = ts_machine_load(&err, arena, "tpu-v5e");
    const ts_mesh_request of = {.machine = loaded, .axes = {"mesh", "x=4", 3}};
    if (!loaded || !ts_mesh_read(&err, arena, &of, &mesh)) return -1;
    machine = *loaded;
    machine.chip.sustained_khz = 1000000;
    links = TS_NEW_ARRAY(arena, ts_run_link, ts_mesh_link_count(&mesh));
    for (int i = 0; i < DEVICES; i++)
        chips[i] = (ts_chip_counters){.cycles = 500 + (i == 1) - (i % 3 == 0),
                                      .transfers = i + 1,
                                      .hbm_read_bytes = 100 * i,
                                      .hbm_written_bytes = 10 * i,
                                      .cores[0].stalls[TS_STALL_SEMAPHORE] = 7 * i};
    on_mesh = (ts_run_mesh){&mesh, 1, chips, links};
    return 0;
}

static const char *text_of(void) {
    ts_text out = ts_text_begin(arena);
    report_run_mesh(&request, &on_mesh, &out);
    return out.bytes;
}

static const char *json_of(void) {
    ts_text out = ts_text_begin(arena);
    ts_json json;
    ts_json_begin(&json, &out, "test");
    report_run_mesh_json(&request, &on_mesh, &json);
    ts_json_end(&json);
    return json_value(arena, out.bytes, "mesh");
}

static void use(int64_t device, int64_t to, ts_run_link what) {
    for (int64_t i = 0; i < ts_mesh_link_count(&mesh); i++) {
        const char *wanted = ts_text_format(arena, "(%d) -> (%d)", (int)device, (int)to);
        if (ts_mesh_has_link(&mesh, i) && strcmp(ts_mesh_link_text(arena, &mesh, i), wanted) == 0)
            links[i] = what;
    }
}

TEST(no_link_is_used) {
    assert_string_equal(text_of(), "mesh       x=4: 4 devices; 0 of 6 links are used, for 0 bytes in all\n"
                                   "devices    device 1 ends last, in cycle 501, and is told of below\n"
                                   "           device 0 ends first, in cycle 499\n");
}

TEST(the_busiest_link) {
    use(0, 1, (ts_run_link){1, 1000});
    assert_holds(text_of(), "busiest link (0) -> (1): 1 byte, in use 0.2 % of the time\n");
    use(0, 1, (ts_run_link){400, 300600});
    use(2, 1, (ts_run_link){400, 250500});
    use(2, 3, (ts_run_link){1, 1000});
    assert_string_equal(text_of(),
                        "mesh       x=4: 4 devices; 3 of 6 links are used, for 801 bytes in all\n"
                        "           busiest link (0) -> (1): 400 bytes, in use 60.0 % of the time\n"
                        "devices    device 1 ends last, in cycle 501, and is told of below\n"
                        "           device 0 ends first, in cycle 499\n");
    assert_string_equal(
        json_of(),
        "{\"axes\":{\"x\":4},\"slowest_device\":1,\"devices\":[{\"device\":0,\"cycles\":499,"
        "\"transfers\":1,\"hbm_read_bytes\":0,\"hbm_written_bytes\":0,\"semaphore_stall_cycles\":0},"
        "{\"device\":1,\"cycles\":501,\"transfers\":2,\"hbm_read_bytes\":100,\"hbm_written_bytes\":10,"
        "\"semaphore_stall_cycles\":7},{\"device\":2,\"cycles\":500,\"transfers\":3,"
        "\"hbm_read_bytes\":200,\"hbm_written_bytes\":20,\"semaphore_stall_cycles\":14},{\"device\":3,"
        "\"cycles\":499,\"transfers\":4,\"hbm_read_bytes\":300,\"hbm_written_bytes\":30,"
        "\"semaphore_stall_cycles\":21}],\"links\":[{\"link\":\"(0) -> (1)\",\"bytes\":400,"
        "\"busy_percent\":60},{\"link\":\"(1) -> (2)\",\"bytes\":0,\"busy_percent\":0},{\"link\":\"(1) "
        "-> (0)\",\"bytes\":0,\"busy_percent\":0},{\"link\":\"(2) -> (3)\",\"bytes\":1,"
        "\"busy_percent\":0.2},{\"link\":\"(2) -> (1)\",\"bytes\":400,\"busy_percent\":50},"
        "{\"link\":\"(3) -> (2)\",\"bytes\":0,\"busy_percent\":0}]}");
}

TEST(no_time_goes_by) {
    int64_t cycles = chips[1].cycles;
    chips[1].cycles = 0;
    assert_holds(text_of(), "in use 0.0 % of the time\n");
    chips[1].cycles = cycles;
}

int main(void) { return run_all_tests(begin, end_group); }
