/* Windows of layouts and steps of transfers, as JSON: what they hold is what layouts and plans say one by one. */
#include <string.h>
#include <cjson/cJSON.h>

#include "report/layout.h"
#include "report/transfer.h"
#include "tests/support/test.h"
#include "tests/support/shapes.h"

/* ---- Windows ---- */

typedef struct {
    const char *shape;
    ts_layout_window window;
    const char *found; /* the JSON in one line, from "drawn" on */
} row;

#define WHOLE .row_dim = -1, .column_dim = -1, .line_axis = -1, .place_axis = -1

static const row rows[] = {
    {"f32[3,3]{1,0:T(2,2)}",
     {WHOLE, .rows = 9, .columns = 9, .lines = 9},
     "\"drawn\":[4,4],\"tile\":[2,2],\"second_tile\":[0,0],\"run\":4,\"swizzle_keep\":null,"
     "\"grid\":{\"row_dim\":0,\"column_dim\":1,\"index\":[0,0],\"rows\":4,\"columns\":4,\"points\":["
     "[0],[1],[4],[],[2],[3],[6],[],[8],[9],[12],[],[],[],[],[]]},\"low\":[0],\"high\":[15],"
     "\"memory\":{\"line_axis\":0,\"place_axis\":0,\"point\":[0],\"lines\":4,\"line\":4,\"elements\":["
     "[0,0],[0,1],[1,0],[1,1],[0,2],null,[1,2],null,[2,0],[2,1],null,null,[2,2],null,null,null]}}"},
    {"f32[3,3]{1,0:T(2,2)}", /* a part: from row 1 and column 2, places 6 to 11; a first place that is none is the least */
     {WHOLE, .rows = 2, .columns = 1, .index = {1, 2}, .lines = 2, .line = 3, .point = {6}},
     "\"drawn\":[4,4],\"tile\":[2,2],\"second_tile\":[0,0],\"run\":4,\"swizzle_keep\":null,"
     "\"grid\":{\"row_dim\":0,\"column_dim\":1,\"index\":[1,2],\"rows\":2,\"columns\":1,\"points\":[[6],[12]]"
     "},"
     "\"low\":[0],\"high\":[15],\"memory\":{\"line_axis\":0,\"place_axis\":0,\"point\":[6],\"lines\":2,"
     "\"line\":3,"
     "\"elements\":[[1,2],null,[2,0],[2,1],null,null]}}"},
    {"f32[2,3]", /* the last line has fewer; beyond the last row there is nothing */
     {WHOLE, .rows = 2, .columns = 2, .index = {2, 1}, .lines = 3, .line = 4, .point = {99}},
     "\"drawn\":[2,3],\"tile\":[0,0],\"second_tile\":[0,0],\"run\":3,\"swizzle_keep\":null,"
     "\"grid\":{\"row_dim\":0,\"column_dim\":1,\"index\":[2,1],\"rows\":0,\"columns\":2,\"points\":[]},"
     "\"low\":[0],\"high\":[5],\"memory\":{\"line_axis\":0,\"place_axis\":0,\"point\":[0],\"lines\":2,"
     "\"line\":4,"
     "\"elements\":[[0,0],[0,1],[0,2],[1,0],[1,1],[1,2],null,null]}}"},
    {"f32[2,3]{1,0}", /* dim 1 down, dim 0 across; what is left of both, and of the places */
     {.row_dim = 1,
      .column_dim = 0,
      .rows = 9,
      .columns = 9,
      .index = {1, 1},
      .lines = 9,
      .line = 2,
      .point = {3}},
     "\"drawn\":[2,3],\"tile\":[0,0],\"second_tile\":[0,0],\"run\":3,\"swizzle_keep\":null,"
     "\"grid\":{\"row_dim\":1,\"column_dim\":0,\"index\":[1,1],\"rows\":2,\"columns\":1,\"points\":[[4],[5]]}"
     ","
     "\"low\":[0],\"high\":[5],\"memory\":{\"line_axis\":0,\"place_axis\":0,\"point\":[3],\"lines\":2,"
     "\"line\":2,\"elements\":[[1,0],[1,1],[1,2],null]}}"},
    {"f32[2,3]{1,0}", /* dims and axes behind the last */
     {.row_dim = 2,
      .column_dim = 2,
      .line_axis = 1,
      .place_axis = 1,
      .rows = 1,
      .columns = 1,
      .lines = 1,
      .line = 1},
     "\"drawn\":[2,3],\"tile\":[0,0],\"second_tile\":[0,0],\"run\":3,\"swizzle_keep\":null,"
     "\"grid\":{\"row_dim\":0,\"column_dim\":1,\"index\":[0,0],\"rows\":1,\"columns\":1,\"points\":[[0]]},"
     "\"low\":[0],\"high\":[5],\"memory\":{\"line_axis\":0,\"place_axis\":0,\"point\":[0],\"lines\":1,"
     "\"line\":1,\"elements\":[[0,0]]}}"},
    {"f32[2,2,2]{2,1,0}", /* dim 0 down, dim 1 across, at index 1 of dim 2 */
     {.row_dim = 0,
      .column_dim = 1,
      .line_axis = 0,
      .place_axis = 0,
      .rows = 2,
      .columns = 2,
      .index = {0, 0, 1},
      .lines = 1,
      .line = 2},
     "\"drawn\":[2,2,2],\"tile\":[0,0,0],\"second_tile\":[0,0,0],\"run\":2,\"swizzle_keep\":null,"
     "\"grid\":{\"row_dim\":0,\"column_dim\":1,\"index\":[0,0,1],\"rows\":2,\"columns\":2,\"points\":[[1],[3]"
     ",[5],[7]]},"
     "\"low\":[0],\"high\":[7],\"memory\":{\"line_axis\":0,\"place_axis\":0,\"point\":[0],\"lines\":1,"
     "\"line\":2,"
     "\"elements\":[[0,0,0],[0,0,1]]}}"},
    {"f32[2,2] S[(2,2):(1@lane,1@reg)] + 5@lane", /* axes down and across */
     {WHOLE, .rows = 2, .columns = 2, .lines = 9, .point = {-1, -1}},
     "\"drawn\":[2,2],\"tile\":[0,0],\"second_tile\":[0,0],\"run\":2,\"swizzle_keep\":null,"
     "\"grid\":{\"row_dim\":0,\"column_dim\":1,\"index\":[0,0],\"rows\":2,\"columns\":2,\"points\":[[5,0],[5,"
     "1],[6,0],[6,1]]},"
     "\"low\":[5,0],\"high\":[6,1],\"memory\":{\"line_axis\":0,\"place_axis\":1,\"point\":[5,0],\"lines\":2,"
     "\"line\":2,"
     "\"elements\":[[0,0],[0,1],[1,0],[1,1]]}}"},
    {"f32[4] S<1,0,1> o 0 o 4:1",
     {WHOLE, .rows = 1, .columns = 4, .lines = 1, .line = 4},
     "\"drawn\":[4],\"tile\":[0],\"second_tile\":[0],\"run\":4,\"swizzle_keep\":0,"
     "\"grid\":{\"row_dim\":-1,\"column_dim\":0,\"index\":[0],\"rows\":1,\"columns\":4,\"points\":[[0],[1],["
     "3],[2]]},"
     "\"low\":[0],\"high\":[3],\"memory\":{\"line_axis\":0,\"place_axis\":0,\"point\":[0],\"lines\":1,"
     "\"line\":4,"
     "\"elements\":[[0],[1],[3],[2]]}}"},
    {"f32[2,3] (2,3):(0,1)", /* two elements a place */
     {WHOLE, .rows = 1, .columns = 1, .lines = 1, .line = 2},
     "\"drawn\":[2,3],\"tile\":[0,0],\"second_tile\":[0,0],\"run\":3,\"swizzle_keep\":null,"
     "\"grid\":{\"row_dim\":0,\"column_dim\":1,\"index\":[0,0],\"rows\":1,\"columns\":1,\"points\":[[0]]},"
     "\"low\":[0],\"high\":[2],\"memory\":{\"line_axis\":0,\"place_axis\":0,\"point\":[0],\"lines\":1,"
     "\"line\":2,"
     "\"elements\":[[0,0,1,0],[0,1,1,1]]}}"},
    {"f32[65] 65:0",
     {WHOLE, .rows = 1, .columns = 1, .lines = 1, .line = 1},
     "\"drawn\":[65],\"tile\":[0],\"second_tile\":[0],\"run\":16,\"swizzle_keep\":null,"
     "\"grid\":{\"row_dim\":-1,\"column_dim\":0,\"index\":[0],\"rows\":1,\"columns\":1,\"points\":[[0]]},"
     "\"low\":[0],\"high\":[0],\"memory\":{\"line_axis\":0,\"place_axis\":0,\"point\":[0],\"lines\":1,"
     "\"line\":1,"
     "\"elements\":[\"many\"]}}"},
    {"f32[0,8]",
     {WHOLE, .rows = 2, .columns = 1, .lines = 1},
     "\"drawn\":[0,8],\"tile\":[0,0],\"second_tile\":[0,0],\"run\":8,\"swizzle_keep\":null,"
     "\"grid\":{\"row_dim\":0,\"column_dim\":1,\"index\":[0,0],\"rows\":0,\"columns\":1,\"points\":[]},"
     "\"low\":[0],\"high\":[0]}"},
};

TEST(windows) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_text out = ts_text_begin(arena);
        ts_report_layout_window_json(arena, parse_shape(arena, rows[i].shape), &rows[i].window, &out);
        cJSON *json = cJSON_Parse(out.bytes);
        assert_non_null(json);
        char *line = cJSON_PrintUnformatted(json);
        const char *found = strstr(line, "\"drawn\"");
        assert_non_null(found);
        assert_string_equal(found, rows[i].found);
        cJSON_free(line);
        cJSON_Delete(json);
        ts_arena_free(arena);
    }
}

/* A map that is searched element by element is searched only where that is little work. */
TEST(maps_without_an_inverse) {
    static const struct {
        const char *shape;
        bool searched;
    } maps[] = {{"f32[256,256] lambda i,j: [(i + j) % 256, j]", true},
                {"f32[256,257] lambda i,j: [(i + j) % 256, j]", false}};
    for (int i = 0; i < 2; i++) {
        ts_arena *arena = ts_arena_new();
        ts_text out = ts_text_begin(arena);
        ts_layout_window window = {WHOLE, .rows = 1, .columns = 1, .lines = 2, .line = 128};
        ts_report_layout_window_json(arena, parse_shape(arena, maps[i].shape), &window, &out);
        assert_int_equal(strstr(out.bytes, "\"elements\": null") == NULL, maps[i].searched);
        ts_arena_free(arena);
    }
}

/* ---- Steps ---- */

static void price(ts_arena *arena, const char *src, const char *dst, ts_transfer_study *study) {
    const ts_machine *machine = ts_machine_load_with(NULL, arena, "tpu-v5e", "--set", NULL, 0);
    ts_transfer_request request = {.machine = machine, .prices = ts_prices_new(arena)};
    request.src = (ts_transfer_end){.shape = parse_shape(arena, src), .at = TS_TRANSFER_ANYWHERE};
    request.dst = (ts_transfer_end){.shape = parse_shape(arena, dst), .at = TS_TRANSFER_ANYWHERE};
    assert_true(ts_transfer_price(NULL, arena, &request, study));
}

static const char *steps(ts_arena *arena, const ts_transfer_study *study, int64_t first, int64_t count) {
    ts_text out = ts_text_begin(arena);
    ts_report_transfer_steps_json(study, first, count, &out);
    cJSON *json = cJSON_Parse(out.bytes);
    assert_non_null(json);
    char *line = cJSON_PrintUnformatted(json);
    const char *copy = ts_arena_copy_text(arena, line, strlen(line));
    cJSON_free(line);
    cJSON_Delete(json);
    return strstr(copy, "\"channels\"");
}

/* 32 words in one access of HBM, into VMEM, which has no lines; and back. */
TEST_WITH_ARENA(steps_of_a_copy) {
    ts_transfer_study study;
    price(arena, "f32[2,16]", "f32[2,16]{1,0:S(1)}", &study);
    assert_string_equal(
        steps(arena, &study, 0, 9),
        "\"channels\":16,\"banks\":32,\"burst_bytes\":32,\"src_bits\":32,\"dst_bits\":32,\"src_at\":0,"
        "\"dst_at\":0,\"gathers\":false,\"box_count\":1,\"boxes\":[{\"src_bits\":0,\"dst_bits\":"
        "0,"
        "\"loops\":[[32,32,32]]}],\"first\":0,\"steps\":[{\"box\":0,\"at\":[0],\"extent\":[32],\"elements\":"
        "32,"
        "\"accesses\":[[0,0,0,0,0,0,0]]}],\"more\":false}");
    price(arena, "f32[2,16]{1,0:S(1)}", "f32[2,16]", &study);
    assert_non_null(strstr(steps(arena, &study, 0, 9), "\"accesses\":[[1,1,0,0,0,0,0]]}],\"more\":false}"));
}

/* An access is [side, is it a write, address, channel, bank, row, column]; the destination is behind the source. */
TEST_WITH_ARENA(accesses_of_both_sides) {
    ts_transfer_study study;
    price(arena, "f32[64]", "f32[64]", &study);
    const char *found = strstr(steps(arena, &study, 0, 1), "\"accesses\"");
    assert_non_null(found);
    assert_string_equal(found, "\"accesses\":[[0,0,0,0,0,0,0],[1,1,4096,1,8,0,0]]}],\"more\":false}");
}

TEST_WITH_ARENA(steps_from_another_on) {
    ts_transfer_study study;
    price(arena, "f32[20,300]{0,1}", "f32[20,300]{1,0:S(1)}", &study);
    const char *part = steps(arena, &study, 7, 1), *all = steps(arena, &study, 0, 9),
               *rest = steps(arena, &study, 8, 1);
    assert_non_null(strstr(part, "\"first\":7,"));
    assert_non_null(strstr(part, "\"at\":[16,128],\"extent\":[4,128],\"elements\":512,"));
    assert_null(strstr(part, "\"at\":[16,256]"));
    assert_non_null(strstr(part, "\"more\":true}"));
    assert_non_null(strstr(rest, "\"at\":[16,256],\"extent\":[4,44],\"elements\":176,"));
    assert_non_null(strstr(rest, "\"more\":false}"));
    assert_non_null(strstr(all, "\"more\":false}"));
    assert_non_null(strstr(all, "\"at\":[0,0],\"extent\":[8,128],\"elements\":1024,"));
    assert_non_null(strstr(steps(arena, &study, 9, 1), "\"steps\":[],\"more\":false}"));
}
