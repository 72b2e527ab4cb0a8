/* Which device holds what: sizes, blocks, rows of devices, in all notations; as text, as JSON and as a picture. */
#include "report/reshard.h"

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "tests/support/frame.h"
#include "tests/support/group.h"
#include "tests/support/written.h"

static ts_mesh mesh;
static ts_sharding sharding;

static void read_on(const char *machine, const char *chips, const char *axes, const char *text) {
    ts_error err = {0};
    ts_mesh_request request = {.machine = ts_machine_load(&err, arena, machine),
                               .axes = {"mesh", axes, strlen(axes)}};
    if (chips) request.topology = (ts_source){"chips", chips, strlen(chips)};
    if (!ts_mesh_read(&err, arena, &request, &mesh)) fail_msg("%s", err.message);
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"sharding", text, strlen(text)};
    if (!ts_sharding_parse(&err, arena, &mesh, source, &sharding)) fail_msg("%s: %s", text, err.message);
}

static void read(const char *axes, const char *text) { read_on("tpu-v5e", NULL, axes, text); }

TEST(sizes_are_short) {
    static const struct {
        double bytes;
        const char *text;
    } rows[] = {{0, "0 B"},          {1023, "1023 B"},      {1024, "1.0 KiB"},   {1536, "1.5 KiB"},
                {0x1p20, "1.0 MiB"}, {0x1.8p30, "1.5 GiB"}, {0x1p40, "1.0 TiB"}, {0x1p50, "1024.0 TiB"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(ts_report_size(arena, rows[i].bytes), rows[i].text);
}

static const struct {
    const char *axes, *sharding, *text;
} rows[] = {
    {"2x4", "f32[8,16] P('x', 'y')",
     "array         f32[8,16]{1,0}\n"
     "machine       tpu-v5e (TPU v5e), the default\n"
     "mesh          x=2, y=4: 8 devices of TPU v5e\n"
     "links         chips 2 (line) x 4 (line); 45.0 GB/s one way, 1.00 us a hop, 3.80 us to launch\n"
     "sharding      S[(2,4,4,4):(1@x,4,1@y,1)]\n"
     "              P('x', 'y')\n"
     "              {devices=[2,4]<=[8]}\n"
     "              64 B a device, every element once\n"
     "\n"
     "devices that hold each block of dims 0 and 1\n"
     "                0-3   4-7  8-11 12-15\n"
     "0-3               0     1     2     3\n"
     "4-7               4     5     6     7\n"
     "\n"
     "device   chip         dim 0              dim 1\n"
     "0        (0,0)        0-3                0-3\n"
     "1        (0,1)        0-3                4-7\n"
     "2        (0,2)        0-3                8-11\n"
     "3        (0,3)        0-3                12-15\n"
     "4        (1,0)        4-7                0-3\n"
     "5        (1,1)        4-7                4-7\n"
     "6        (1,2)        4-7                8-11\n"
     "7        (1,3)        4-7                12-15\n"},
    {"2x4", "f32[8,16] P('y')",
     "array         f32[8,16]{1,0}\n"
     "machine       tpu-v5e (TPU v5e), the default\n"
     "mesh          x=2, y=4: 8 devices of TPU v5e\n"
     "links         chips 2 (line) x 4 (line); 45.0 GB/s one way, 1.00 us a hop, 3.80 us to launch\n"
     "sharding      S[(4,2,16):(1@y,16,1)] + R[(2):(1@x)]\n"
     "              P('y', None)\n"
     "              {devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}\n"
     "              128 B a device, every element 2 times\n"
     "\n"
     "devices that hold each block of dims 0 and 1\n"
     "               0-15\n"
     "0-1             0,4\n"
     "2-3             1,5\n"
     "4-5             2,6\n"
     "6-7             3,7\n"
     "\n"
     "device   chip         dim 0              dim 1\n"
     "0        (0,0)        0-1                0-15\n"
     "1        (0,1)        2-3                0-15\n"
     "2        (0,2)        4-5                0-15\n"
     "3        (0,3)        6-7                0-15\n"
     "4        (1,0)        0-1                0-15\n"
     "5        (1,1)        2-3                0-15\n"
     "6        (1,2)        4-5                0-15\n"
     "7        (1,3)        6-7                0-15\n"},
    {"1x2", "bf16[3,9] P(None, 'y')",
     "array         bf16[3,9]{1,0}\n"
     "machine       tpu-v5e (TPU v5e), the default\n"
     "mesh          x=1, y=2: 2 devices of TPU v5e\n"
     "links         chips 1 x 2 (line); 45.0 GB/s one way, 1.00 us a hop, 3.80 us to launch\n"
     "sharding      S[(3,2,5):(5,1@y,1)]\n"
     "              P(None, 'y')\n"
     "              {devices=[1,2]<=[2]}\n"
     "              30 B a device, every element once\n"
     "\n"
     "devices that hold each block of dims 0 and 1\n"
     "                0-4   5-8\n"
     "0-2               0     1\n"
     "\n"
     "device   chip         dim 0              dim 1\n"
     "0        (0,0)        0-2                0-4\n"
     "1        (0,1)        0-2                5-8\n"},
    {"4", "s8[10] P('x')",
     "array         s8[10]{0}\n"
     "machine       tpu-v5e (TPU v5e), the default\n"
     "mesh          x=4: 4 devices of TPU v5e\n"
     "links         chips 4 (line); 45.0 GB/s one way, 1.00 us a hop, 3.80 us to launch\n"
     "sharding      S[(4,3):(1@x,1)]\n"
     "              P('x')\n"
     "              {devices=[4]<=[4]}\n"
     "              3 B a device, every element once\n"
     "\n"
     "devices that hold each block of dim 0\n"
     "                0-2   3-5   6-8     9\n"
     "                  0     1     2     3\n"
     "\n"
     "device   chip         dim 0\n"
     "0        (0)          0-2\n"
     "1        (1)          3-5\n"
     "2        (2)          6-8\n"
     "3        (3)          9-9\n"},
    {"2", "f32[3,2,4] P('x')",
     "array         f32[3,2,4]{2,1,0}\n"
     "machine       tpu-v5e (TPU v5e), the default\n"
     "mesh          x=2: 2 devices of TPU v5e\n"
     "links         chips 2 (line); 45.0 GB/s one way, 1.00 us a hop, 3.80 us to launch\n"
     "sharding      S[(2,2,2,4):(1@x,8,4,1)]\n"
     "              P('x', None, None)\n"
     "              {devices=[2,1,1]<=[2]}\n"
     "              64 B a device, every element once\n"
     "\n"
     "devices that hold each block of dims 1 and 2, of the first index in the others\n"
     "                0-3\n"
     "0-1               0\n"
     "\n"
     "device   chip         dim 0              dim 1              dim 2\n"
     "0        (0)          0-1                0-1                0-3\n"
     "1        (1)          2-2                0-1                0-3\n"},
    {"1", "f32[8589934592] P()",
     "array         f32[8589934592]{0}\n"
     "machine       tpu-v5e (TPU v5e), the default\n"
     "mesh          x=1: 1 device of TPU v5e\n"
     "links         chips 1; 45.0 GB/s one way, 1.00 us a hop, 3.80 us to launch\n"
     "sharding      S[(8589934592):(1)]\n"
     "              P(None)\n"
     "              {replicated}\n"
     "              32.0 GiB a device, every element once\n"
     "              does not fit: a device of TPU v5e has 16.0 GiB of HBM\n"
     "\n"
     "devices that hold each block of dim 0\n"
     "              0-8589934591\n"
     "                         0\n"
     "\n"
     "device   chip         dim 0\n"
     "0        (0)          0-8589934591\n"},
};

TEST(who_holds_what) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text out = ts_text_begin(arena);
        read(rows[i].axes, rows[i].sharding);
        ts_report_sharding(&mesh, &sharding, &out);
        assert_string_equal(out.bytes, rows[i].text);
    }
}

static bool shows(const char *what) {
    ts_text out = ts_text_begin(arena);
    ts_report_sharding(&mesh, &sharding, &out);
    return strstr(out.bytes, what) != NULL;
}

/* To the last byte of a device: half of a chip that is two. */
TEST(what_fits_is_not_told) {
    read("1", "f32[4294967296] P()");
    assert_false(shows("does not fit"));
    read("1", "f32[4294967297] P()");
    assert_true(shows("does not fit: a device of TPU v5e has 16.0 GiB of HBM\n"));
    read_on("tpu-v7x", "1", "2", "f32[25769803777] P()");
    assert_true(shows("has 96.0 GiB of HBM\n"));
    read("2", "f32[0,3] P()");
    assert_false(shows("that hold each block"));
    assert_true(shows("\n0        (0)          none               0-2\n"));
}

/* The first ones of what is large. */
TEST(large_meshes_are_cut) {
    static const char *const cases[][3] = {
        {"8x8", "f32[64] P('x')", "63       (7,7)        56-63\n"},
        {"13x5", "f32[65] P('x')", "63       (12,3)       60-64\nand so on: 65 devices\n"},
        {"16", "f32[32,1] P('x')", "30-31            15\n\n"},
        {"17", "f32[34,1] P('x')", "30-31            15\nand so on: 17 x 1 blocks\n\n"},
        {"16", "f32[1,32] P(None, 'x')", " 26-27\n"}, /* 14 of 6 letters in 86 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ts_text out = ts_text_begin(arena);
        read(cases[i][0], cases[i][1]);
        ts_report_sharding(&mesh, &sharding, &out);
        if (i < 2 ? !ts_text_ends(out.bytes, cases[i][2]) : !strstr(out.bytes, cases[i][2]))
            fail_msg("%s", out.bytes);
    }
}

TEST(shardings_as_json) {
    static const char *const keys[][2] = {
        {"mesh", "{\"x\":4,\"y\":2}"},
        {"topology", "[4,2]"},
        {"rings", "[true,false]"},
        {"sharding", "{\"spec\":\"P('y')\",\"hlo\":\"{devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate}\","
                     "\"axe\":\"S[(2,4):(1@y,1)] + R[(4):(1@x)]\",\"device_elements\":4,\"copies\":4}"},
    };
    ts_text out = ts_text_begin(arena);
    read("4x2", "f32[8] P('y')");
    mesh.ring[0] = true;
    ts_report_sharding_json(&mesh, &sharding, &out);
    cJSON *all = cJSON_Parse(out.bytes);
    for (int i = 0; i < 4; i++) {
        char *text = cJSON_PrintUnformatted(cJSON_GetObjectItem(all, keys[i][0]));
        assert_string_equal(text, keys[i][1]);
        cJSON_free(text);
    }
    cJSON_Delete(all);
}

/* What a device holds of a dim, index by index: its first run, and how many there are behind it. */
static const char *held_of(int dim, int64_t device) {
    int64_t runs = 0, begin = -1, end = -1;
    for (int64_t i = 0; i < sharding.dims[dim]; i++) {
        if (!ts_sharding_holds_at(&sharding, dim, i, device)) continue;
        bool behind = i > 0 && ts_sharding_holds_at(&sharding, dim, i - 1, device);
        runs += !behind;
        if (runs == 1 && !behind) begin = i;
        if (runs == 1) end = i;
    }
    if (runs == 0) return "none";
    const char *first = ts_text_format(arena, "%lld-%lld", (long long)begin, (long long)end);
    return runs == 1 ? first : ts_text_format(arena, "%s and %lld more", first, (long long)(runs - 1));
}

TEST(devices_hold_runs) {
    static const char *const cases[][2] = {
        {"4", "f32[13] P('x')"},
        {"4", "f32[5,3] P('x')"},
        {"4x2", "f32[5] P('x')"},
        {"2x3", "f32[7,11] P('y', 'x')"},
        {"2x3", "f32[17] P(('y', 'x'))"},
        {"2x2", "f32[16] S[(2,2,2,2):(2,1@x,1,1@y)]"},
        {"2", "f32[24] S[(3,2,4):(4,1@x,1)]"},
        {"2x2", "f32[40] S[(5,2,2,2):(2,1@x,1,1@y)]"},
        {"2x3", "f32[24,5] S[(2,2,2,3,5):(10,1@x,5,1@y,1)]"},
        {"2x2", "f32[6,4] S[(3,2,4):(4,1@x,1)] + R[(2):(1@y)]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ts_text out = ts_text_begin(arena);
        read(cases[i][0], cases[i][1]);
        ts_report_sharding_json(&mesh, &sharding, &out);
        cJSON *all = cJSON_Parse(out.bytes);
        const cJSON *devices = cJSON_GetObjectItem(all, "devices");
        assert_int_equal(cJSON_GetArraySize(devices), mesh.device_count);
        for (int device = 0; device < (int)mesh.device_count; device++) {
            const cJSON *holds = cJSON_GetObjectItem(cJSON_GetArrayItem(devices, device), "holds");
            assert_int_equal(cJSON_GetArraySize(holds), sharding.rank);
            for (int d = 0; d < sharding.rank; d++) {
                const char *got = cJSON_GetArrayItem(holds, d)->valuestring, *want = held_of(d, device);
                if (strcmp(got, want) != 0)
                    fail_msg("%s, device %d, dim %d: %s, expected %s", cases[i][1], device, d, got, want);
            }
        }
        cJSON_Delete(all);
    }
}

/* Copies have commas between them, or are a range; addends a '+'. Of what is too long for its column the first. */
TEST(holders_are_listed) {
    static const char *const cases[][4] = {
        {"tpu-v5e", "2x4", "f32[8] P('x')", "                0-3   4-7\n                0-3   4-7\n\n"},
        {"tpu-v5e", "4x2", "f32[8,16] P('y', unreduced={'x'})",
         "0-3           0 + 2 + 4 + 6\n4-7           1 + 3 + 5 + 7\n\n"},
        {"tpu-v5p", "3x2x2", "f32[3,2] P('x', 'y', unreduced={'z'})",
         "                    0       1\n0               0 + 1   2 + 3\n"
         "1               4 + 5   6 + 7\n2               8 + 9 10 + 11\n\n"},
        {"tpu-v5e", "2x3", "f32[6] P(unreduced={'x'})", "              0-2 + 3-5\n\n"},
        {"tpu-v5e", "2x2", "f32[6] P(unreduced={'y', 'x'})", "              0 + 1 + 2 + 3\n\n"},
        {"tpu-v5p", "4x3x2", "f32[12] P('y')",
         "              0-1,6-7,12-13,18-19   2-3,8-9,14-15,20-21 4-5,10-11,16-17,22-23\n\n"},
        {"tpu-v5p", "16x3x2", "f32[12] P('y')",
         "              0-1,6-7,12-13,18-19,24-25,30-31,36-37.. 2-3,8-9,14-15,20-21,26-27,32-33,38-39..\n"
         "and so on: 1 x 3 blocks\n\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        read_on(cases[i][0], NULL, cases[i][1], cases[i][2]);
        if (!shows(cases[i][3])) fail_msg("%s on %s", cases[i][2], cases[i][1]);
    }
}

/* Blocks of one width, rows 26 pixels apart; who holds one is in its middle. */
TEST(shardings_as_pictures) {
    ts_text out = ts_text_begin(arena), words = ts_text_begin(arena);
    read("2x2", "f32[4,6] P('x', 'y')");
    ts_report_sharding_svg(&mesh, &sharding, &out);
    for (const char *at = out.bytes; (at = strstr(at, "<text ")) != NULL; at++) {
        const char *content = strchr(at, '>') + 1;
        int x = 0, y = 0;
        assert_int_equal(sscanf(at, "<text x=\"%d\" y=\"%d\"", &x, &y), 2);
        ts_text_add(&words, "%d,%d %.*s\n", x, y, (int)strcspn(content, "<"), content);
    }
    assert_string_equal(words.bytes, "8,18 Devices that hold each block\n"
                                     "109,36 0-2\n"
                                     "160,36 3-5\n"
                                     "76,61 0-1\n"
                                     "76,87 2-3\n"
                                     "109,61 0\n"
                                     "160,61 1\n"
                                     "109,87 2\n"
                                     "160,87 3\n");
    assert_non_null(strstr(out.bytes, "width=\"420\" height=\"112\""));
    assert_readable(out.bytes);
}

/* What is not drawn has its reason for a title. */
TEST(titles_of_pictures) {
    static const struct {
        const char *chips, *axes, *sharding, *title;
        bool drawn;
    } cases[] = {
        {"16x16x32", "128x128", "f32[16384,16384] P('x', 'y')", ">Devices that hold each block<", true},
        {"16x16x36", "144x128", "f32[16384,16384] P('x', 'y')", ">Too many devices to draw<", false},
        {"1", "2", "f32[0,3] P('x')", ">No elements<", false},
        {"1", "2", "f32[3,0] P('x')", ">No elements<", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ts_text out = ts_text_begin(arena);
        read_on("tpu-v7x", cases[i].chips, cases[i].axes, cases[i].sharding);
        ts_report_sharding_svg(&mesh, &sharding, &out);
        assert_readable(out.bytes);
        assert_holds(out.bytes, cases[i].title);
        assert_int_equal(strstr(strstr(out.bytes, "<text ") + 1, "<text ") != NULL, cases[i].drawn);
    }
}

/* Of four devices each is a quarter of the way round; wide pictures end behind their last column. */
TEST(colours_and_sizes_of_pictures) {
    static const struct {
        const char *axes, *sharding, *frame, *last;
    } cases[] = {
        {"4", "f32[4,4] P('x')", "width=\"420\" height=\"164\"",
         "x=\"84\" y=\"122\" width=\"51\" height=\"26\" fill=\"hsl(270,60%,80%)\"/>"},
        {"16", "f32[4,32] P(None, 'x')", "width=\"916\" height=\"86\"",
         "x=\"849\" y=\"44\" width=\"51\" height=\"26\" fill=\"hsl(337,60%,80%)\"/>"},
        {"2x4", "f32[8,16] P('y')", "", "fill=\"hsl(135,60%,80%)\"/>"},
        /* Of long ranges. */
        {"2x4", "f32[16777216,8388608] P('x', 'y')", "", "hsl(315,60%,80%)\"/>"},
        {"2", "f32[16777216,8] P('x')", "", "hsl(180,60%,80%)\"/>"},
        {"16", "f32[1,160000] P(None, 'x')", "", "hsl(337,60%,80%)\"/>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ts_text out = ts_text_begin(arena);
        read(cases[i].axes, cases[i].sharding);
        ts_report_sharding_svg(&mesh, &sharding, &out);
        assert_readable(out.bytes);
        assert_holds(out.bytes, cases[i].frame);
        assert_true(ts_text_starts(strstr(strstr(out.bytes, "\"edge\""), "hsl("), "hsl(0,"));
        assert_holds(out.bytes, cases[i].last);
        assert_null(strstr(strstr(out.bytes, cases[i].last), "<rect"));
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
