/* Audits as JSON: the keys of each list, and what is null. */
#include "report/audit.h"

#include "tests/support/group.h"
#include "tests/support/small_audit.h"
#include "tests/support/written.h"

static small_audit *a;

static const char *value(const char *key) {
    ts_text out = ts_text_begin(arena);
    ts_report_audit_json(&a->result, &(ts_audit_view){"m.hlo", 1}, &out);
    return json_value(arena, out.bytes, key);
}

TEST(heads_and_sums) {
    static const char *const rows[][2] = {
        {"schema", "\"tilesim.audit\""},
        {"machine", "\"m\""},
        {"estimated", "true"},
        {"input", "\"m.hlo\""},
        {"module", "\"jit_f\""},
        {"bytes", "12345"},
        {"lines", "1000"},
        {"instructions", "2000"},
        {"computations", "2"},
        {"entry", "true"},
        {"tiles_assumed", "true"},
        {"microseconds", "9.25"},
        {"fused_microseconds_at_most", "0.5"},
        {"bitcasts", "1001"},
        {"free_moves", "1002"},
        {"collectives", "1009"},
        {"collective_bytes", "4096"},
        {"collectives_priced", "2"},
        {"collective_microseconds", "2.5"},
        {"all", "{\"buffers\":6,\"logical_bytes\":10000,\"padded_bytes\":25000,\"padding_percent\":60,"
                "\"expansion\":2.5,\"widened_bytes\":1024}"},
        /* Of what is in no known memory the number is -1. */
        {"spaces", "[{\"space\":0,\"buffers\":5,\"logical_bytes\":8000,\"padded_bytes\":20000,"
                   "\"padding_percent\":60,\"expansion\":2.5,\"widened_bytes\":1024},"
                   "{\"space\":-1,\"buffers\":1,\"logical_bytes\":2000,\"padded_bytes\":5000,"
                   "\"padding_percent\":60,\"expansion\":2.5,\"widened_bytes\":0}]"},
    };
    a = small_audit_new(arena);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(value(rows[i][0]), rows[i][1]);
    a->request.exact = true;
    assert_string_equal(value("estimated"), "false");
    a->result.spaces[TS_AUDIT_SPACES - 1].buffers = 0;
    a->result.spaces[TS_AUDIT_SPACES - 2] = (ts_audit_sum){1, 0, 0, 0};
    assert_holds(value("spaces"), "},{\"space\":14,\"buffers\":1,\"logical_bytes\":0,\"padded_bytes\":0,"
                                  "\"padding_percent\":0,\"expansion\":null,\"widened_bytes\":0}]");
}

TEST(buffers_by_shape) {
    a = small_audit_new(arena);
    a->result.class_count = 2;
    assert_string_equal(
        value("buffers"),
        "[{\"shape\":\"f32[8,3]{a}\",\"count\":3,\"logical_bytes\":96,\"padded_bytes\":4096,"
        "\"padding_percent\":97.6562,\"expansion\":42.666667,\"widened_bytes\":0,\"space\":0,"
        "\"tiles_assumed\":false,\"cause\":\"dim 1 (minor) 3 to 128\",\"first\":\"a.1\","
        "\"opcode\":\"copy\",\"line\":7},"
        "{\"shape\":\"f32[4,128]{b}\",\"count\":1,\"logical_bytes\":2048,\"padded_bytes\":4096,"
        "\"padding_percent\":50,\"expansion\":2,\"widened_bytes\":0,\"space\":1,"
        "\"tiles_assumed\":true,\"cause\":\"dim 0 (second minor) 4 to 8\",\"first\":\"\","
        "\"opcode\":null,\"line\":9}]");
}

#define RUNS(count, runs, unknown, branch)                                                                   \
    "\"count\":" #count ",\"runs\":" #runs ",\"trips_unknown\":" #unknown ",\"in_branch\":" #branch ","

TEST(moves_with_and_without_a_price) {
    a = small_audit_new(arena);
    a->result.group_count = 4;
    assert_string_equal(
        value("moves"),
        "[{\"opcode\":\"copy\",\"level\":\"entry\",\"source\":\"f32[8,128]{d}\",\"shape\":\"f32[8,128]{e}\","
        "\"changes\":\"order+tile\"," RUNS(
            2, 6, false,
            false) "\"from_space\":0,\"to_space\":1,\"read_bytes\":4096,\"written_bytes\":4000,\"cycles\":"
                   "1500,"
                   "\"microseconds\":1.5,\"at_most\":false,\"by\":\"a program\",\"scaled\":false,"
                   "\"first\":\"copy.1\",\"line\":20},"
                   "{\"opcode\":\"transpose\",\"level\":\"fused\",\"source\":\"f32[8,128]{d}\","
                   "\"shape\":\"f32[8,3]{a}\",\"changes\":\"padding\"," RUNS(
                       1, 1, true,
                       true) "\"from_space\":0,\"to_space\":0,\"read_bytes\":4096,\"written_bytes\":4096,"
                             "\"cycles\":500,"
                             "\"microseconds\":0.5,\"at_most\":true,\"by\":null,\"scaled\":false,\"first\":"
                             "\"t.1\",\"line\":21},"
                             "{\"opcode\":\"copy\",\"level\":\"loop or branch\",\"source\":\"f32[8,128]{e}\","
                             "\"shape\":\"f32[8,128]{d}\",\"changes\":\"order\"," RUNS(
                                 1, 1, false, true) "\"from_space\":0,\"to_space\":0,\"read_bytes\":64,"
                                                    "\"written_bytes\":32,\"cycles\":250,"
                                                    "\"microseconds\":0.25,\"at_most\":false,\"by\":\"two "
                                                    "passes\",\"scaled\":true,"
                                                    "\"first\":\"copy.2\",\"line\":22},"
                                                    "{\"opcode\":\"dynamic-update-slice\",\"level\":\"level "
                                                    "unknown\",\"source\":null,"
                                                    "\"shape\":\"f32[8,128]{e}\",\"changes\":\"dims\"," RUNS(
                                                        1, 1, true,
                                                        false) "\"from_space\":0,\"to_space\":0,\"read_"
                                                               "bytes\":0,\"written_bytes\":77,"
                                                               "\"not_priced\":\"too many "
                                                               "dims\",\"first\":\"u.1\",\"line\":23}]");
}

TEST(copies) {
    a = small_audit_new(arena);
    assert_string_equal(value("copies_predicted"), "true");
    assert_string_equal(value("copies"),
                        "[{\"value\":\"p.0\",\"reader\":\"dot.1\",\"line\":70,\"from\":\"{i}\","
                        "\"to\":\"{j}\",\"bytes\":8192},"
                        "{\"value\":\"d.1\",\"reader\":null,\"line\":71,\"from\":\"{k}\",\"to\":\"{l}\","
                        "\"bytes\":4096}]");
}

#define SOURCE(op, file, function, line, of)                                                                 \
    "\"source\":{\"op\":" op ",\"file\":" file ",\"function\":" function ",\"line\":" #line ",\"of\":" of "}"

/* Of a move its target's memory. Of what has no location there is still a name. */
TEST(findings) {
    a = small_audit_new(arena);
    assert_string_equal(
        value("findings"),
        "[{\"what\":\"move 1\",\"fix\":\"fix 1\",\"first\":\"copy.1\",\"line\":20,\"microseconds_saved\":6.5,"
        "\"at_most\":false,\"each_read\":false,\"bytes_saved\":0,\"layout\":\"{g}\",\"space\":1," SOURCE(
            "\"jit(f)/t\"", "\"b.py\"", "\"f\"", 5,
            "\"maker\"") "},"
                         "{\"what\":\"pad 2\",\"fix\":\"fix "
                         "2\",\"first\":\"a.1\",\"line\":7,\"microseconds_saved\":2.25,"
                         "\"at_most\":true,\"each_read\":true,\"bytes_saved\":8192,\"layout\":null,\"space\":"
                         "0," SOURCE("\"x\"", "\"a.py\"", "\"\"", 3,
                                     "\"own\"") "},"
                                                "{\"what\":\"move 3\",\"fix\":\"fix "
                                                "3\",\"first\":\"copy.2\",\"line\":22,"
                                                "\"microseconds_saved\":0.125,\"at_most\":false,\"each_"
                                                "read\":false,\"bytes_saved\":1048576,"
                                                "\"layout\":\"{h}\",\"space\":0," SOURCE(
                                                    "\"op\"", "\"a.py\"", "\"\"", 3, "\"reader\"") "}]");
    assert_string_equal(value("findings_by_bytes"), "[2,1,0]");
    a->result.finding_count = 1;
    a->groups[0].first.source = (ts_audit_source){-1, TS_AUDIT_OWN, "x"};
    assert_holds(value("findings"), SOURCE("\"x\"", "null", "null", 0, "\"own\""));
    a->groups[0].first.source.op[0] = '\0';
    assert_holds(value("findings"), "\"source\":null");
    a->groups[0].first.source.location = 0;
    assert_holds(value("findings"), SOURCE("\"\"", "\"a.py\"", "\"\"", 3, "\"own\""));
}

TEST(what_the_text_reports) {
    a = small_audit_new(arena);
    assert_string_equal(
        value("reported"),
        "[{\"line\":40,\"shape\":\"f32[8,3]{a}\",\"reported\":\"4.0K\",\"computed\":\"4.0K\","
        "\"expansion\":\"42.7x\",\"equal\":true},"
        "{\"line\":41,\"shape\":\"f32[4,128]{b}\",\"reported\":\"4.0K\",\"computed\":\"8.0K\","
        "\"expansion\":\"\",\"equal\":false},"
        "{\"line\":42,\"shape\":null,\"reported\":\"16B\",\"computed\":null,\"expansion\":null,"
        "\"equal\":false}]");
    assert_string_equal(value("memory"),
                        "[{\"line\":50,\"name\":\"used\",\"space\":0,\"reported\":\"2.0K\",\"bytes\":2048},"
                        "{\"line\":51,\"name\":\"temp\",\"space\":-1,\"reported\":\"64B\",\"bytes\":64}]");
    assert_string_equal(
        value("allocations"),
        "[{\"line\":60,\"name\":\"parameter 0\",\"index\":0,\"space\":0,\"reported\":\"4.0K\",\"bytes\":4096,"
        "\"shape\":\"f32[8,3]{a}\",\"logical_bytes\":96,\"values\":1,\"at_peak\":false},"
        "{\"line\":61,\"name\":\"temp\",\"index\":-1,\"space\":-1,\"reported\":\"512B\",\"bytes\":512,"
        "\"shape\":null,\"logical_bytes\":0,\"values\":2,\"at_peak\":false},"
        "{\"line\":62,\"name\":\"v.1\",\"index\":-1,\"space\":1,\"reported\":\"256B\",\"bytes\":256,"
        "\"shape\":\"f32[8,128]{d}\",\"logical_bytes\":4096,\"values\":0,\"at_peak\":true}]");
    assert_string_equal(value("not_understood"),
                        "[{\"kind\":\"opcode\",\"count\":1234,\"line\":30,\"excerpt\":\"%x = y\"},"
                        "{\"kind\":\"shapes\",\"count\":1,\"line\":0,\"excerpt\":\"\"}]");
}

int main(void) { return run_all_tests(begin_group, end_group); }
