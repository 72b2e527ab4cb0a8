/* What a resharding does and takes, line by line, of round numbers. */
#include "report/reshard.h"

#include <string.h>

#include "tests/support/group.h"
#include "tests/support/written.h"

static ts_reshard_report report;

static void parse(const char *text, ts_sharding *out) {
    ts_error err = {0};
    const ts_source source = {"array", text, strlen(text)};
    if (!ts_sharding_parse(&err, arena, &report.mesh, &source, out)) fail_msg("%s", err.message);
}

/* Pairs of devices: each keeps a part of what it has, then they exchange their shares; over two links 1,536 bytes. */
static void begin(void) {
    ts_error err = {0};
    const ts_mesh_request request = {.machine = ts_machine_load(&err, arena, "tpu-v5e"),
                                     .axes = {"mesh", "2x2", 3}};
    report = (ts_reshard_report){.machine = request.machine};
    assert_true(ts_mesh_read(&err, arena, &request, &report.mesh));
    parse("s4[8,30] P('x', None)", &report.source);
    parse("s4[8,30] P(None, 'y')", &report.destination);
    ts_reshard_plan *plan = &report.plan;
    plan->count = 2;
    plan->ps = 2000000;
    plan->bound_ps = 500000;
    for (int i = 0; i < 2; i++) {
        int64_t *loads = TS_NEW_ARRAY(arena, int64_t, ts_mesh_link_count(&report.mesh));
        loads[0] = loads[6] = 512 * (i + 1);
        loads[4] = 512 * i;
        plan->collectives[i] = (ts_collective){.mesh = &report.mesh,
                                               .kind = i ? TS_COLLECTIVE_ALL_TO_ALL : TS_COLLECTIVE_SLICE,
                                               .algorithm = TS_ALGORITHM_RING,
                                               .before = report.source,
                                               .group_count = 1,
                                               .chunks = 3 * i};
        plan->prices[i] = (ts_collective_price){.steps = 2 * i,
                                                .transfers = 5 * i,
                                                .sent_bytes = 4096 * i,
                                                .link_bytes = 512 * i,
                                                .hops = 7 * i,
                                                .ps = 1500000 * i,
                                                .bound_ps = 500000 * i,
                                                .loads = loads};
    }
}

static const char *text_of(const char *beginning) {
    ts_text out = ts_text_begin(arena);
    ts_report_reshard(&report, &out);
    return section_of(arena, out.bytes, beginning);
}

TEST(in_words) {
    begin();
    assert_string_equal(
        text_of("array"),
        "array         s4[8,30]{1,0}, 240 B\n"
        "machine       tpu-v5e (TPU v5e), the default\n"
        "mesh          x=2, y=2: 4 devices of TPU v5e\n"
        "links         chips 2 (line) x 2 (line); 45.0 GB/s one way, 1.00 us a hop, 3.80 us to launch\n"
        "source        S[(2,4,30):(1@x,30,1)] + R[(2):(1@y)]\n"
        "              P('x', None)\n"
        "              {devices=[2,1,2]<=[4] last_tile_dim_replicate}\n"
        "              120 B a device, every element 2 times\n"
        "destination   S[(8,2,15):(15,1@y,1)] + R[(2):(1@x)]\n"
        "              P(None, 'y')\n"
        "              {devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}\n"
        "              120 B a device, every element 2 times\n"
        "plan          algorithm          groups    steps        sent   busy link         time of bound\n"
        "  1 slice                             2 x 2     nothing moves\n"
        "  2 all-to-all     ring               2 x 2         2     4.0 KiB       512 B      1.50 us   33.3 "
        "%\n"
        "time          2.00 us, 25.0 % of the bound by bandwidth, 0.50 us\n"
        "busiest link  (0,0) -> (1,0): 1.5 KiB; 3 of 8 links are used\n");
    report.proved = true;
    report.proof = (ts_reshard_proof){.moved_bytes = 12345, .shape = ts_text_begin(arena)};
    ts_text_add(&report.proof.shape, "s4[8,32]");
    assert_string_equal(text_of("proof"), "proof         s4[8,32]: 12,345 bytes moved, all in place\n");
    report.proof.shrunk = true;
    assert_string_equal(text_of("proof"),
                        "proof         s4[8,32], with the same parts: 12,345 bytes moved, all in place\n");
    report.proved = false;
    report.unproved = "too large";
    assert_string_equal(text_of("proof"), "proof         none: too large\n");
}

TEST(where_nothing_moves) {
    begin();
    report.plan.count = 0;
    report.proved = true;
    assert_string_equal(text_of("plan"), "plan          nothing to do: every device has its elements\n");
}

/* Slices alone take no time. */
TEST(where_devices_only_drop_parts) {
    begin();
    report.plan.count = 1;
    report.plan.ps = report.plan.bound_ps = 0;
    report.plan.prices[0].loads = TS_NEW_ARRAY(arena, int64_t, ts_mesh_link_count(&report.mesh));
    assert_string_equal(text_of("time"), "time          0.00 us, 0.0 % of the bound by bandwidth, 0.00 us\n");
}

/* By the plan that is made of them. */
TEST(plans_are_proved) {
    begin();
    ts_error err = {0};
    const ts_reshard_request request = {
        .mesh = &report.mesh, .source = &report.source, .destination = &report.destination};
    assert_true(ts_reshard(&err, arena, &request, &report.plan));
    assert_true(ts_reshard_report_prove(&err, arena, &report));
    assert_true(report.proved && report.unproved == NULL);
    assert_true(report.proof.moved_bytes > 0);
}

TEST(as_json) {
    begin();
    ts_text out = ts_text_begin(arena);
    ts_report_reshard_json(&report, &out);
    assert_string_equal(
        json_value(arena, out.bytes, "plan"),
        "[{\"kind\":\"slice\",\"algorithm\":null,\"group_devices\":2,\"groups\":2,\"pieces\":1,"
        "\"steps\":0,\"transfers\":0,\"hops\":0,\"sent_bytes\":0,\"busiest_link_bytes\":0,"
        "\"microseconds\":0,\"bound_microseconds\":0},{\"kind\":\"all-to-all\","
        "\"algorithm\":\"ring\",\"group_devices\":2,\"groups\":2,\"pieces\":3,\"steps\":2,"
        "\"transfers\":5,\"hops\":7,\"sent_bytes\":4096,\"busiest_link_bytes\":512,"
        "\"microseconds\":1.5,\"bound_microseconds\":0.5}]");
    assert_string_equal(json_value(arena, out.bytes, "links"),
                        "{\"(0,0) -> (1,0)\":1536,\"(0,1) -> (1,1)\":512,\"(0,1) -> (0,0)\":1536}");
    assert_string_equal(json_value(arena, out.bytes, "microseconds"), "2");
    assert_string_equal(json_value(arena, out.bytes, "bound_microseconds"), "0.5");
    assert_string_equal(json_value(arena, out.bytes, "proof_array"), "null");
    assert_string_equal(json_value(arena, out.bytes, "proof_moved_bytes"), "0");
    report.proved = true;
    report.proof = (ts_reshard_proof){.moved_bytes = 12345, .shape = ts_text_begin(arena)};
    ts_text_add(&report.proof.shape, "s4[8,32]");
    ts_text_clear(&out);
    ts_report_reshard_json(&report, &out);
    assert_string_equal(json_value(arena, out.bytes, "proof_array"), "\"s4[8,32]\"");
    assert_string_equal(json_value(arena, out.bytes, "proof_moved_bytes"), "12345");
}

int main(void) { return run_all_tests(begin_group, end_group); }
