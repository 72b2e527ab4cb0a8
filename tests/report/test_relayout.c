/* What a relayout takes, in words and as JSON: of a made-up plan. */
#include "report/relayout.h"

#include <string.h>

#include "tests/support/group.h"
#include "tests/support/shapes.h"

static ts_relayout_price_request request;
static ts_relayout_price price;

static void begin(void) {
    ts_error err = {0};
    request = (ts_relayout_price_request){ts_machine_load(&err, arena, "tpu-v5e"),
                                          parse_shape(arena, "f32[8,128]{1,0:T(8,128)}"),
                                          parse_shape(arena, "f32[8,128]{0,1:T(8,128)}")};
    price = (ts_relayout_price){.plan = {.sources = 3, .results = 4, .op_count = 5, .kept_count = 5},
                                .cycles = 17};
    price.plan.steps = ts_text_begin(arena);
    ts_text_add(&price.plan.steps, "tiles, offsets");
    price.plan.counts[0] = 1;
    price.plan.counts[TS_RELAYOUT_OPS - 1] = 4;
}

static const char *text_of(void) {
    ts_text out = ts_text_begin(arena);
    ts_report_relayout(&request, &price, &out);
    return strstr(out.bytes, "vregs ");
}

static const char *json_of(void) {
    ts_text out = ts_text_begin(arena);
    ts_report_relayout_json(&request, &price, &out);
    return strstr(out.bytes, "\"src_vregs\"");
}

TEST(with_its_ops) {
    begin();
    assert_string_equal(text_of(), "vregs      3 to 4\n"
                                   "how        tiles, offsets\n"
                                   "                1 arith.addi\n"
                                   "                4 tpu.unpack_subelements\n"
                                   "ops        5\n"
                                   "cycles     17 more than to load and store the vregs alone\n");
    assert_string_equal(json_of(), "\"src_vregs\": 3,\n"
                                   "  \"dst_vregs\": 4,\n"
                                   "  \"how\": \"tiles, offsets\",\n"
                                   "  \"ops\": {\n"
                                   "    \"arith.addi\": 1,\n"
                                   "    \"tpu.unpack_subelements\": 4\n"
                                   "  },\n"
                                   "  \"op_count\": 5,\n"
                                   "  \"merged_op_count\": 5,\n"
                                   "  \"scratch_sublanes\": 0,\n"
                                   "  \"cycles\": 17\n"
                                   "}\n");
}

TEST(merged_through_scratch_and_without_a_price) {
    begin();
    price.plan.kept_count = 4;
    price.plan.scratch_sublanes = 1;
    price.unpriced = "no unit";
    assert_string_equal(text_of(), "vregs      3 to 4\n"
                                   "how        tiles, offsets\n"
                                   "                1 arith.addi\n"
                                   "                4 tpu.unpack_subelements\n"
                                   "ops        5, 4 when those that are the same are merged\n"
                                   "scratch    1 sublane\n"
                                   "cycles     not known: no unit\n");
    assert_string_equal(json_of(), "\"src_vregs\": 3,\n"
                                   "  \"dst_vregs\": 4,\n"
                                   "  \"how\": \"tiles, offsets\",\n"
                                   "  \"ops\": {\n"
                                   "    \"arith.addi\": 1,\n"
                                   "    \"tpu.unpack_subelements\": 4\n"
                                   "  },\n"
                                   "  \"op_count\": 5,\n"
                                   "  \"merged_op_count\": 4,\n"
                                   "  \"scratch_sublanes\": 1,\n"
                                   "  \"unpriced\": \"no unit\"\n"
                                   "}\n");
}

TEST(nothing_to_do) {
    begin();
    price.plan.op_count = price.plan.kept_count = 0;
    memset(price.plan.counts, 0, sizeof price.plan.counts);
    price.cycles = 0;
    assert_string_equal(text_of(), "vregs      3 to 4\n"
                                   "how        tiles, offsets\n"
                                   "ops        0\n"
                                   "cycles     0\n");
}

TEST(one_op) {
    begin();
    price.plan.op_count = price.plan.kept_count = 1;
    price.plan.counts[TS_RELAYOUT_OPS - 1] = 0;
    assert_string_equal(text_of(), "vregs      3 to 4\n"
                                   "how        tiles, offsets\n"
                                   "                1 arith.addi\n"
                                   "ops        1\n"
                                   "cycles     17 more than to load and store the vregs alone\n");
}

int main(void) { return run_all_tests(begin_group, end_group); }
