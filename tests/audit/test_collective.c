/* Collectives of a module on a mesh: which are priced, by whom, for how long, and why others are not. */
#include <math.h>
#include <string.h>

#include "audit/audit_private.h"
#include "tests/support/audited.h"
#include "tests/support/group.h"

static ts_audit_request request;
static ts_mesh mesh;

#define P "bf16[1024,8192]{1,0:T(8,128)(2,1)}"
#define Q "f32[256,1024]{1,0:T(8,128)}"

static const char module[] =
    "HloModule sharded, is_scheduled=true\n\n"
    "ENTRY %main (p: bf16[1024,8192], q: f32[256,1024]) -> f32[256,1024] {\n"
    "  %p = " P " parameter(0)\n"
    "  %q = " Q " parameter(1)\n"
    "  %ag = bf16[4096,8192]{1,0:T(8,128)(2,1)} all-gather(%p), replica_groups=[4,4]<=[16], dimensions={0}\n"
    "  %ar = " Q " all-reduce(%q), replica_groups=[4,4]<=[16], to_apply=%sum\n"
    "  %ar2 = " Q " all-reduce(%q), replica_groups=[4,4]<=[16], to_apply=%sum\n"
    "  %rs = f32[64,1024]{1,0:T(8,128)} reduce-scatter(%q), replica_groups=[4,4]<=[16], dimensions={0}\n"
    "  %cp = " P " collective-permute(%p), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}\n"
    "  %aa = " P " all-to-all(%p), replica_groups=[4,4]<=[16], dimensions={0}\n"
    "  %st = (" P
    ", bf16[4096,8192]{1,0:T(8,128)(2,1)}) all-gather-start(%p), replica_groups=[4,4]<=[16], dimensions={0}\n"
    "  %dn = bf16[4096,8192]{1,0:T(8,128)(2,1)} all-gather-done(%st)\n"
    "  %cb = " P " collective-broadcast(%p), replica_groups={{0,1}}\n"
    "  %np = " P " collective-permute(%p)\n"
    "  %bad = " Q " all-reduce(%q), replica_groups={{0,1,2,3}}\n"
    "  %all = f32[512,1024]{1,0:T(8,128)} all-reduce(%q), to_apply=%sum\n"
    "  %two = " Q " all-reduce(%q), replica_groups=[8,2]<=[16], to_apply=%sum\n"
    "  %ax = f32[512,1024]{1,0:T(8,128)} all-reduce(%q), replica_groups=mesh['a'=2,'b'=8], device_ids="
    "([8,2]T(1,0)) {'b':(1)4}, to_apply=%sum\n"
    "}\n";

/* On TPU v4: 45 GB/s a link, 1 us a hop, 3.8 us. Of four devices in a ring, either way, half of three
 * quarters of the result passes each link. All to all: a quarter to the next, and of the quarters that go
 * two links, from every other device this way. */
#define FIXED 3.8
#define GB    45e3 /* bytes a microsecond */
#define SHARD (1024.0 * 8192 * 2)
#define ARRAY (1 << 20)
static const struct {
    const char *name;
    double microseconds; /* 0: not priced */
    const char *by;      /* or why not */
} expected[] = {
    {"ag", FIXED + 3 + 3 * SHARD / 2 / GB, "links, bidirectional ring"},
    {"ar", FIXED + 6 + 2 * 3 * (ARRAY / 4) / 2 / GB, "links, bidirectional ring"},
    {"rs", FIXED + 3 + 3 * (ARRAY / 4) / 2 / GB, "links, bidirectional ring"},
    {"cp", FIXED + 1 + SHARD / GB, NULL},
    {"aa", FIXED + 2 + 2 * SHARD / 4 / GB, NULL},
    {"st", FIXED + 3 + 3 * SHARD / 2 / GB, "links, bidirectional ring"},
    {"ax", FIXED + 6 + 2 * 3 * (512 * 1024) / 2 / GB, "links, bidirectional ring"},
    {"cb", 0, "collectives of this kind are not modelled"},
    {"np", 0, "its pairs are not in the text"},
    {"bad", 0, "the sharding is of 4 devices, the mesh has 16"},
};

static const audited_text whole = {module, sizeof module - 1, 0};

static const ts_audit_group *group_of(const ts_audit_result *r, const char *name) {
    for (int i = 0; i < r->group_count; i++)
        if (strcmp(r->groups[i].first.name, name) == 0) return &r->groups[i];
    fail_msg("no group begins with %s", name);
    return NULL;
}

TEST(collectives_are_priced_on_the_links) {
    ts_audit_result r;
    ts_audit *audit = audited(arena, &request, whole, &r);
    double sum = 0;
    int64_t bytes = 0;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const ts_audit_group *g = group_of(&r, expected[i].name);
        bool priced = expected[i].microseconds > 0;
        if (fabs(g->microseconds - expected[i].microseconds) > 0.01)
            fail_msg("%s: %f us, expected %f", expected[i].name, g->microseconds, expected[i].microseconds);
        assert_int_equal(g->priced, priced);
        if (!priced)
            assert_string_equal(g->why_not, expected[i].by);
        else if (expected[i].by)
            assert_string_equal(g->by, expected[i].by);
        double cycles = g->microseconds * (double)request.machine->chip.sustained_khz / 1000;
        assert_true(fabs((double)g->cycles - cycles) <= 0.5001);
    }
    assert_int_equal(group_of(&r, "ar")->first.count, 2);
    for (int i = 0; i < r.group_count; i++) {
        const ts_audit_group *g = &r.groups[i];
        double all = g->microseconds * (double)g->first.runs;
        assert_true(fabs(g->total_microseconds - all) < 1e-6);
        sum += all;
        bytes += g->first.written_bytes * g->first.runs;
    }
    assert_int_equal(r.collectives, 13);
    assert_int_equal(r.collectives_priced, 10);
    assert_int_equal(r.collective_bytes, bytes);
    assert_true(fabs(r.collective_microseconds - sum) < 1e-6);
    ts_audit_free(audit);
}

TEST(without_devices_none_is_priced) {
    const ts_audit_request alone = {.machine = request.machine};
    ts_audit_result r;
    ts_audit *audit = audited(arena, &alone, whole, &r);
    assert_int_equal(r.collectives, 13);
    assert_int_equal(r.collectives_priced, 0);
    for (int i = 0; i < r.group_count; i++) {
        assert_false(r.groups[i].priced);
        assert_string_equal(r.groups[i].why_not, "collectives need the devices: a mesh");
    }
    ts_audit_free(audit);
}

/* Of rows of the mesh, of columns, of axes, half ones too, and of what is no list. */
TEST(groups_of_stablehlo) {
    static const struct {
        const char *groups;
        double microseconds; /* 0: not priced */
        const char *why_not;
    } rows[] = {
        {"dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]> : tensor<4x4xi64>",
         FIXED + 6 + 2 * 3 * (ARRAY / 4) / 2 / GB, NULL},
        {"dense<[[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]]> : tensor<4x4xi64>",
         FIXED + 6 + 2 * 3 * (ARRAY / 4) / 2 / GB, NULL},
        {"#stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = \"x\">]>", 0,
         "the mesh '@m' is not defined in the text, expected its axes"},
        {"#stablehlo.replica_group_mesh_axes<mesh = @n, axes = [#stablehlo.axis_ref<name = \"x\">]>",
         FIXED + 6 + 2 * 3 * (ARRAY / 4) / 2 / GB, NULL},
        {"#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "
         "\"x\", size = "
         "4>, #stablehlo.mesh_axis<name = \"y\", size = 4>]>, axes = [#stablehlo.axis_ref<name = \"y\", "
         "sub_axis_info "
         "= (2)2>]>",
         FIXED + 2 + 2 * (ARRAY / 2) / GB, NULL},
        {"dense<\"0x0001\"> : tensor<4x4xi64>", 0, "found 'dense', expected '{'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text,
                    "module @m {\n  sdy.mesh @n = <[\"x\"=4, \"y\"=4]>\nfunc.func @main(%%a: "
                    "tensor<256x1024xf32>) {\n  %%0 "
                    "= \"stablehlo.all_reduce\"(%%a) <{"
                    "replica_groups = %s}> ({\n  ^bb0(%%x: tensor<f32>):\n    stablehlo.return %%x : "
                    "tensor<f32>\n  }) : (tensor<256x1024xf32>) -> tensor<256x1024xf32>\n  return\n}\n",
                    rows[i].groups);
        ts_audit_result r;
        ts_audit *audit = audited(arena, &request, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.collectives, 1);
        if (fabs(r.collective_microseconds - rows[i].microseconds) > 0.01)
            fail_msg("row %zu: %f us", i, r.collective_microseconds);
        if (rows[i].why_not) assert_string_equal(r.groups[0].why_not, rows[i].why_not);
        ts_audit_free(audit);
    }
}

/* What is sent and received is data; the flag beside them stays. */
TEST(messages_are_of_data) {
    static const char text[] = "HloModule m, is_scheduled=true\n\nENTRY %main (p: bf16[8]) -> bf16[8] {\n"
                               "  %p = " P " parameter(0)\n  %t = token[] after-all()\n"
                               "  %s = (" P ", u32[], token[]) send(%p, %t), channel_id=1\n"
                               "  %r = (" P ", u32[], token[]) recv(%t), channel_id=2\n}\n";
    ts_audit_result r;
    ts_audit *audit = audited(arena, &request, (audited_text){text, sizeof text - 1, 0}, &r);
    assert_int_equal(group_of(&r, "s")->first.written_bytes, SHARD);
    assert_int_equal(group_of(&r, "r")->first.written_bytes, SHARD);
    assert_int_equal(r.collective_bytes, 2 * (int64_t)SHARD);
    ts_audit_free(audit);
}

/* Tuples of arrays that end alike; shown as the array that is most of the tuple. */
TEST(combined_collectives_are_told_apart) {
    static const char text[] = "HloModule m, is_scheduled=true\n\nENTRY %main (p: bf16[8]) -> bf16[8] {\n"
                               "  %p = " P " parameter(0)\n  %q = " Q " parameter(1)\n"
                               "  %two = (" Q ", " P ", " Q ") all-reduce(%q, %p, %q), replica_groups={}\n"
                               "  %one = (" Q ", " Q ") all-reduce(%q, %q), replica_groups={}\n}\n";
    ts_audit_result r;
    ts_audit *audit = audited(arena, &request, (audited_text){text, sizeof text - 1, 0}, &r);
    const ts_audit_group *two = group_of(&r, "two"), *one = group_of(&r, "one");
    assert_int_equal(two->first.written_bytes, (int64_t)SHARD + 2 * ARRAY);
    assert_int_equal(one->first.written_bytes, 2 * ARRAY);
    assert_true(one->microseconds < two->microseconds / 4);
    assert_int_equal(r.collective_bytes, (int64_t)SHARD + 4 * ARRAY);
    assert_string_equal(r.shapes[two->first.dst].text, P);
    assert_string_equal(r.shapes[one->first.dst].text, Q);
    ts_audit_free(audit);
}

/* Beside other work: the fusion that starts it, one that it runs beside, and the one that ends it show it. */
TEST(one_that_goes_on_counts_once) {
#define GATHER                                                                                               \
    "bf16[4096,8192]{1,0:T(8,128)(2,1)} all-gather(%p), channel_id=3, replica_groups=[4,4]<=[16], "          \
    "dimensions={0}, backend_config={\"async_collective_fusion_config\":{\"flag_start\":"
    static const char text[] =
        "HloModule m, is_scheduled=true\n\n"
        "%fused_computation.1 (p: bf16[8]) -> bf16[8] {\n  %p = " P " parameter(0)\n"
        "  ROOT %ag.1 = " GATHER "\"-1\",\"flag_end\":\"-1\"}}\n}\n\n"
        "%async_collective_fusion.2 (p: bf16[8]) -> bf16[8] {\n  %p = " P " parameter(0)\n"
        "  ROOT %ag.2 = " GATHER "\"2\",\"flag_end\":\"8\"}}\n}\n\n"
        "%fused_computation.3 (p: bf16[8]) -> bf16[8] {\n  %p = " P " parameter(0)\n"
        "  ROOT %ag.3 = " GATHER " \"0\",\"flag_end\":\"8\"}}\n}\n\n"
        "ENTRY %main (p: bf16[8]) -> bf16[8] {\n  %p = " P " parameter(0)\n"
        "  %a = bf16[8] fusion(%p), calls=%fused_computation.1\n"
        "  %b = bf16[8] fusion(%a), calls=%async_collective_fusion.2\n"
        "  ROOT %c = bf16[8] fusion(%b), calls=%fused_computation.3\n}\n";
    ts_audit_result r;
    ts_audit *audit = audited(arena, &request, (audited_text){text, sizeof text - 1, 0}, &r);
    assert_int_equal(r.collectives, 1);
    assert_int_equal(r.collective_bytes, 4 * (int64_t)SHARD);
    assert_string_equal(r.groups[0].first.name, "ag.1");
    assert_int_equal(r.groups[0].first.level, TS_AUDIT_LEVEL_FUSED);
    ts_audit_free(audit);
}

/* Its fusion keeps a part of what an all-reduce gives: half of the way of one. In others it stays what it is. */
TEST(parts_of_an_all_reduce_are_a_reduce_scatter) {
#define PART   "f32[64,1024]{1,0:T(8,128)}"
#define REDUCE " all-reduce(%q), replica_groups=[4,4]<=[16], to_apply=%sum\n"
    static const char text[] =
        "HloModule m, is_scheduled=true\n\n"
        "%all-reduce-scatter.1 (q: f32[8]) -> f32[8] {\n  %q = " Q " parameter(0)\n  %one = " Q REDUCE
        "  ROOT %part = " PART " dynamic-slice(%one, %i, %j), dynamic_slice_sizes={64,1024}\n}\n\n"
        "%all-reduce-scatter.2.clone (q: f32[8]) -> f32[8] {\n  %q = " Q " parameter(0)\n"
        "  %two = (" Q ", " Q ") all-reduce(%q, %q), replica_groups=[4,4]<=[16], to_apply=%sum\n"
        "  ROOT %t = (" PART ", " PART ") tuple(%x, %y)\n}\n\n"
        "%fused_computation (q: f32[8]) -> f32[8] {\n  %q = " Q " parameter(0)\n  %whole = " Q REDUCE
        "  ROOT %s = " PART " dynamic-slice(%whole, %i, %j), dynamic_slice_sizes={64,1024}\n}\n\n"
        "ENTRY %main (q: f32[8]) -> f32[8] {\n  %q = " Q " parameter(0)\n"
        "  %a = " PART " fusion(%q), kind=kCustom, calls=%all-reduce-scatter.1\n"
        "  %b = (" PART ", " PART ") fusion(%q), kind=kCustom, calls=%all-reduce-scatter.2.clone\n"
        "  ROOT %c = " PART " fusion(%q), kind=kLoop, calls=%fused_computation\n}\n";
    ts_audit_result r;
    ts_audit *audit = audited(arena, &request, (audited_text){text, sizeof text - 1, 0}, &r);
    const ts_audit_group *one = group_of(&r, "one"), *two = group_of(&r, "two"),
                         *whole_one = group_of(&r, "whole");
    assert_int_equal(one->first.opcode, TS_HLO_OP_REDUCE_SCATTER);
    assert_int_equal(two->first.opcode, TS_HLO_OP_REDUCE_SCATTER);
    assert_int_equal(whole_one->first.opcode, TS_HLO_OP_ALL_REDUCE);
    assert_string_equal(r.shapes[one->first.dst].text, PART);
    assert_string_equal(r.shapes[two->first.dst].text, PART);
    assert_true(fabs(one->microseconds - (FIXED + 3 + 3 * (ARRAY / 4) / 2 / GB)) < 0.01);
    assert_true(fabs(two->microseconds - (FIXED + 3 + 3 * (ARRAY / 2) / 2 / GB)) < 0.01);
    assert_true(fabs(whole_one->microseconds - (FIXED + 6 + 2 * 3 * (ARRAY / 4) / 2 / GB)) < 0.01);
    assert_int_equal(r.collectives, 3);
    assert_int_equal(r.collective_bytes, ARRAY / 4 + ARRAY / 2 + ARRAY);
    ts_audit_free(audit);
}

/* Groups beyond those that are kept are not those of all devices. */
TEST(groups_that_are_not_kept_are_not_priced) {
    enum { MANY = 300, KEPT = 256 };
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "HloModule m, is_scheduled=true\n\nENTRY %%main (q: f32[8]) -> f32[8] {\n  %%q = " Q
                       " parameter(0)\n");
    for (int i = 0; i < MANY; i++)
        ts_text_add(&text,
                    "  %%a%d = " Q " all-reduce(%%q), replica_groups={%*s{0,1,2,3},{4,5,6,7},{8,9,10,11},"
                    "{12,13,14,15}}\n",
                    i, i, "");
    ts_text_add(&text, "}\n");
    ts_audit_result r;
    ts_audit *audit = audited(arena, &request, (audited_text){text.bytes, text.length, 0}, &r);
    assert_int_equal(r.collectives, MANY);
    assert_int_equal(r.collectives_priced, KEPT);
    assert_string_equal(group_of(&r, "a256")->why_not,
                        "its groups are one text too many, or too long, to be kept");
    ts_audit_free(audit);
}

static int set_up(void **state) {
    begin_group(state);
    request.machine = ts_machine_load(NULL, arena, "tpu-v4");
    request.mesh = &mesh;
    const ts_mesh_request text = {.machine = request.machine, .axes = {"--mesh", "4x4", 3}};
    return request.machine && ts_mesh_read(NULL, arena, &text, &mesh) ? 0 : -1;
}

int main(void) { return run_all_tests(set_up, end_group); }
