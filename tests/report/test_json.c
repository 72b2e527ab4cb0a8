/* JSON output: exact text of nesting, escapes and numbers. */
#include "tilesim/version.h"
#include "report/json.h"
#include "tests/support/test.h"

#define BAD  "\xef\xbf\xbd" /* U+FFFD, for a byte that is no UTF-8 */
#define HEAD "{\n  \"schema\": \"tilesim.test\",\n  \"version\": \"" TS_VERSION "\""

TEST_WITH_ARENA(writes_nothing_but_the_head) {
    ts_text out;
    ts_json json;
    out = ts_text_begin(arena);
    ts_json_begin(&json, &out, "test");
    ts_json_end(&json);
    assert_string_equal(out.bytes, HEAD "\n}\n");
}

TEST_WITH_ARENA(writes_every_kind_of_value) {
    ts_text out;
    ts_json json;
    out = ts_text_begin(arena);
    ts_json_begin(&json, &out, "test");
    ts_json_int(&json, "low", INT64_MIN);
    ts_json_count(&json, "none of them", 0);
    ts_json_count(&json, "not counted", -1);
    ts_json_real(&json, "real", -0.125, 4);
    ts_json_real(&json, "none", 1.0 / 0.0, 4);
    ts_json_double(&json, "double", 0.1);
    ts_json_double(&json, "not finite", -1.0 / 0.0);
    ts_json_bool(&json, "yes", true);
    ts_json_null(&json, "null");
    ts_json_text(&json, "text", "a\"b\\c\n\t\x01/\x7f");
    ts_json_text(&json, "b\xff\"", "\xc3\xa4\xed\xa0\x80\xf0\x9f\x98\x80\xc3");
    ts_json_text(&json, "no text", NULL);
    ts_json_ints(&json, "dims", 3, (const int64_t[]){3, -5, 0});
    ts_json_ints(&json, "scalar", 0, NULL);
    ts_json_array(&json, "list");
    ts_json_object(&json, NULL);
    ts_json_int(&json, "x", 1);
    ts_json_close(&json);
    ts_json_array(&json, NULL);
    ts_json_close(&json);
    ts_json_int(&json, NULL, 2);
    ts_json_close(&json);
    ts_json_end(&json);
    assert_string_equal(out.bytes,
                        HEAD ",\n"
                             "  \"low\": -9223372036854775808,\n"
                             "  \"none of them\": 0,\n"
                             "  \"not counted\": null,\n"
                             "  \"real\": -0.1250,\n"
                             "  \"none\": null,\n"
                             "  \"double\": 0.10000000000000001,\n"
                             "  \"not finite\": null,\n"
                             "  \"yes\": true,\n"
                             "  \"null\": null,\n"
                             "  \"text\": \"a\\\"b\\\\c\\n\\t\\u0001/\\u007f\",\n"
                             "  \"b" BAD "\\\"\": \"\xc3\xa4" BAD BAD BAD "\xf0\x9f\x98\x80" BAD "\",\n"
                             "  \"no text\": null,\n"
                             "  \"dims\": [3, -5, 0],\n"
                             "  \"scalar\": [],\n"
                             "  \"list\": [\n"
                             "    {\n"
                             "      \"x\": 1\n"
                             "    },\n"
                             "    [],\n"
                             "    2\n"
                             "  ]\n"
                             "}\n");
}
