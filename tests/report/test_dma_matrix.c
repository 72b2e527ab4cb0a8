/* All pairs of layouts: as text, JSON and a heat map. */
#include "report/transfer.h"

#include <string.h>

#include "tests/support/frame.h"
#include "tests/support/group.h"
#include "tests/support/shapes.h"
#include "tests/support/written.h"

static ts_machine machine = {.name = "m", .title = "of hand", .chip.sustained_khz = 1000000};
static ts_transfer_matrix *m;

static void put(int from, int to, int64_t cycles, ts_dma_kind kind) {
    m->costs[from][to] = (ts_dma_cost){.cycles = cycles, .transfer = {.kind = kind}, .limiter = "why"};
    m->costs[from][to].components[TS_DMA_COMPONENT_USEFUL] = 900;
    m->costs[from][to].components[TS_DMA_COMPONENT_WASTE] = cycles - 900;
}

/* Of row-major, tiled and column-major layouts; C to B cannot be done. A copy of A is 1000 cycles of 1 ns. */
static void begin(void) {
    static const char *const texts[] = {"f32[16,256]{1,0}", "f32[16,256]{1,0:T(8,128)}", "f32[16,256]{0,1}"};
    m = TS_NEW(arena, ts_transfer_matrix);
    m->machine = &machine;
    m->copy_cycles = 1000;
    m->list.count = 3;
    for (int i = 0; i < 3; i++) m->list.shapes[i] = parse_shape(arena, texts[i]);
    put(0, 0, 1000, TS_DMA_COPY), put(0, 1, 1200, TS_DMA_RETILE), put(0, 2, 12345, TS_DMA_TRANSPOSE);
    put(1, 0, 1506, TS_DMA_RETILE), put(1, 1, 994, TS_DMA_COPY), put(1, 2, 123456, TS_DMA_CORE_PROGRAM);
    put(2, 0, 2000, TS_DMA_GATHER), put(2, 2, 1000, TS_DMA_COPY);
    m->costs[2][1].transfer.kind = TS_DMA_INTERLEAVE;
}

typedef void writer(const ts_transfer_matrix *matrix, ts_text *out);

static const char *written(writer *write) {
    ts_text out = ts_text_begin(arena);
    write(m, &out);
    if (write == ts_report_matrix_svg) assert_readable(out.bytes);
    return out.bytes;
}

#define HEAD                                                                                                 \
    "matrix        f32[16,256]; from the rows, to the columns\n"                                             \
    "machine       m (of hand)\n"                                                                            \
    "layouts       A          16,384 bytes  {1,0}\n"                                                         \
    "              B          16,384 bytes  {1,0:T(8,128)}\n"                                                \
    "              C          16,384 bytes  {0,1}\n"
#define LETTERS "        A        B        C\n"

TEST(as_text) {
    begin();
    assert_string_equal(
        written(ts_report_matrix), HEAD
        "\nmicroseconds  " LETTERS "            A     1.000    1.200    12.35\n"
        "            B     1.506    0.994    123.5\n"
        "            C     2.000        -    1.000\n"
        "\ncopies        " LETTERS "            A    1.00 c   1.20 r  12.35 t\n"
        "            B    1.51 r   0.99 c 123.46 p\n"
        "            C    2.00 g        -   1.00 c\n"
        "              1.00 is 1.000 us, a straight copy of A; c copy, r retile, t transpose, g gather, p\n"
        "                  core program\n"
        "              -: neither the engine nor a shipped program can do it, or both do not fit\n"
        "\nso            staying in a layout costs 0.99 to 1.00;\n"
        "              changing tiles only, 1.20 to 1.51 (B to A: +0.51 burst waste);\n"
        "              changing the minor dimension, 2.00 to 123.46 (B to C: +122.46 burst waste)\n");
}

TEST(as_an_estimate) {
    begin();
    m->costs[2][2].estimated = true;
    assert_holds(written(ts_report_matrix),
                 HEAD "prices        ~ sampled or extended; --exact simulates every access\n\nmicroseconds");
    assert_holds(written(ts_report_matrix_svg), "&#215;); ~ sampled or extended</text>");
    m->list.count = 2;
    assert_null(strstr(written(ts_report_matrix), "sampled"));
    assert_null(strstr(written(ts_report_matrix_svg), "sampled"));
}

/* Times of 10 and of 100 have fewer digits. */
TEST(digits_of_times) {
    begin();
    put(0, 1, 10000, TS_DMA_RETILE), put(0, 2, 100000, TS_DMA_RETILE), put(1, 0, 9999, TS_DMA_RETILE);
    assert_holds(written(ts_report_matrix),
                 "            A     1.000    10.00    100.0\n            B     9.999 ");
}

/* One layout, or pairs that are all there: then there is less to say. */
TEST(lessons) {
    begin();
    m->list.count = 1;
    assert_holds(written(ts_report_matrix),
                 "a straight copy of A; c copy\n\nso            staying in a layout costs "
                 "1.00\n");
    m->list.count = 2;
    assert_holds(written(ts_report_matrix),
                 "A; c copy, r retile\n\nso            staying in a layout costs 0.99 to "
                 "1.00;\n              changing tiles only, 1.20 to 1.51 (B to A: +0.51 "
                 "burst waste)\n");
    m->list.shapes[1] = m->list.shapes[2];
    put(0, 1, 1500, TS_DMA_TRANSPOSE), put(1, 0, 1400, TS_DMA_TRANSPOSE);
    assert_holds(written(ts_report_matrix),
                 "costs 0.99 to 1.00;\n              changing the minor dimension, 1.40 to "
                 "1.50 (A to B: +0.50 burst waste)\n");
    m->costs[0][1].components[TS_DMA_COMPONENT_PADDING] = 601;
    assert_holds(written(ts_report_matrix), "(A to B: +0.60 padding)\n");
    /* Of two of one price the first is named, and a hundredth is something. */
    put(1, 0, 1500, TS_DMA_TRANSPOSE), put(0, 1, 1500, TS_DMA_TRANSPOSE);
    assert_holds(written(ts_report_matrix), "1.50 (A to B: +0.50 burst waste)\n");
    put(0, 1, 1010, TS_DMA_TRANSPOSE), put(1, 0, 1000, TS_DMA_TRANSPOSE);
    assert_holds(written(ts_report_matrix), "1.00 to 1.01 (A to B: +0.01 burst waste)\n");
    /* What is cheaper than a copy has nothing that it pays more for. */
    put(0, 1, 999, TS_DMA_TRANSPOSE), put(1, 0, 1000, TS_DMA_TRANSPOSE);
    m->costs[1][0].components[TS_DMA_COMPONENT_WASTE] -= 50,
        m->costs[1][0].components[TS_DMA_COMPONENT_PADDING] = 50;
    assert_holds(written(ts_report_matrix), "changing the minor dimension, 1.00\n");
    put(0, 1, 1500, TS_DMA_TRANSPOSE);
    memcpy(m->costs[0][1].components, m->costs[0][0].components, sizeof m->costs[0][0].components);
    assert_holds(written(ts_report_matrix), "changing the minor dimension, 1.00 to 1.50\n");
    m->costs[1][0].cycles = 0;
    assert_holds(written(ts_report_matrix), "changing the minor dimension, 1.50\n");
}

/* Of other notations by what lies next to element 0; a dim of 1 is nobody's neighbour. */
TEST(minor_dims) {
    static const struct {
        const char *one, *other;
        bool kept;
    } rows[] = {
        {"f32[16,256]{1,0}", "f32[16,256]{1,0}", true},
        {"f32[16,256]{1,0}", "f32[16,256] (16,256):(256,1)", true},
        {"f32[16,256]{1,0}", "f32[16,256] (16,256):(1,16)", false},
        {"f32[16,256]{0,1}", "f32[16,256] (16,256):(1,16)", true},
        {"f32[1,256]{0,1}", "f32[1,256] (1,256):(1,1)", false},
        {"f32[1,256]{1,0}", "f32[1,256] (1,256):(1,1)", true},
        {"f32[1,1]{1,0}", "f32[1,1]{0,1}", false},
        {"f32[1,1] S[(1,1):(1,1)]", "f32[1,1] S[(1,1):(2,2)]", true},
        {"f32[16,256]{1,0}", "f32[16,256] S[(16,256):(-256,-1)] + 4095", true},
        {"f32[64]{0}", "f32[64] 64:1", true},
        {"f32[4,4]{1,0}", "f32[4,4] S[(4,4):(1@a,1@b)]", false},
        {"f32[4,4]{0,1}", "f32[4,4] S[(4,4):(1@a,1@b)]", false},
        {"f32[0,4]{1,0}", "f32[0,4] ab", false},
        {"f32[0,4]{0,1}", "f32[0,4] ab", false},
        {"f32[] S[1:1]", "f32[]", true}, /* has none */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        m->list.count = 2;
        m->list.shapes[0] = parse_shape(arena, rows[i].one);
        m->list.shapes[1] = parse_shape(arena, rows[i].other);
        const char *text = written(ts_report_matrix);
        if ((strstr(text, "tiles only") != NULL) != rows[i].kept) fail_msg("row %zu: %s", i, text);
    }
    assert_holds(written(ts_report_matrix), "bytes  S[1:1]\n");
}

/* A cycle is a price. */
TEST(the_least_price) {
    begin();
    put(1, 0, 1, TS_DMA_GATHER);
    assert_holds(json_value(arena, written(ts_report_matrix_json), "pairs"), "{\"from\":2,\"to\":2,");
    m->list.count = 2;
    assert_holds(written(ts_report_matrix), "r retile, g gather\n");
    assert_holds(json_value(arena, written(ts_report_matrix_json), "pairs"), "\"cycles\":1,");
}

TEST(as_json) {
    begin();
    m->list.count = 2;
    m->costs[1][0].cycles = 0;
    m->costs[0][1].estimated = true;
    const char *json = written(ts_report_matrix_json);
#define PARTS(useful, waste)                                                                                 \
    "\"parts\":{\"useful\":" #useful ",\"padding\":0,\"burst_waste\":" #waste ",\"row_misses\":0,"           \
    "\"conflicts\":0,\"refresh\":0,\"reordering\":0,\"fixed\":0}"
    assert_string_equal(json_value(arena, json, "machine"), "\"m\"");
    assert_string_equal(json_value(arena, json, "copy_cycles"), "1000");
    assert_string_equal(json_value(arena, json, "layouts"),
                        "[{\"shape\":\"f32[16,256]{1,0}\",\"bytes\":16384},"
                        "{\"shape\":\"f32[16,256]{1,0:T(8,128)}\",\"bytes\":16384}]");
    assert_string_equal(
        json_value(arena, json, "pairs"),
        "[{\"from\":0,\"to\":0,\"cycles\":1000,\"estimated\":false,\"microseconds\":1,\"ratio\":1,\"kind\":"
        "\"copy\","
        "\"limiter\":\"why\"," PARTS(
            900, 100) "},"
                      "{\"from\":0,\"to\":1,\"cycles\":1200,\"estimated\":true,\"microseconds\":1.2,"
                      "\"ratio\":1.2,\"kind\":"
                      "\"retile\","
                      "\"limiter\":\"why\"," PARTS(
                          900, 300) "},"
                                    "{\"from\":1,\"to\":1,\"cycles\":994,\"estimated\":false,"
                                    "\"microseconds\":0.994,\"ratio\":0.994,"
                                    "\"kind\":\"copy\",\"limiter\":\"why\"," PARTS(900, 94) "}]");
    assert_string_equal(
        json_value(arena, json, "lesson"),
        "\"staying in a layout costs 0.99 to 1.00;\\nchanging tiles only, 1.20 (A to B: +0.20 burst "
        "waste)\\n\"");
}

/* ---- The heat map ---- */

#define CELL(x, y, opacity)                                                                                  \
    "<rect class=\"heat\" x=\"" #x "\" y=\"" #y "\" width=\"149\" height=\"45\" fill-opacity=\"" opacity     \
    "\"/>\n"
#define TEXT(x, y, rest)       "<text x=\"" #x "\" y=\"" #y "\"" rest "</text>\n"
#define RATIO(x, y, ink, text) TEXT(x, y, ink " text-anchor=\"middle\" font-size=\"14\">" text)
#define TIME(x, y, ink, text)  TEXT(x, y, ink " text-anchor=\"middle\" font-size=\"11\">" text)

/* Names of 14 letters and 3 more take 8 pixels each, so cells begin at 152. Twice a copy is of 8 times a third of
 * the way: .06 + .94 * 85 / 255. */
TEST(as_a_heat_map) {
    begin();
    put(0, 1, 2000, TS_DMA_RETILE), put(0, 2, 8000, TS_DMA_TRANSPOSE), put(1, 0, 500, TS_DMA_RETILE);
    put(1, 2, 4000, TS_DMA_CORE_PROGRAM);
    const char *svg = written(ts_report_matrix_svg);
    assert_holds(svg, "width=\"784\" height=\"242\""); /* the title: 16 + 94 * 8 + 16; 64 + 3 * 46 + 40 */
    assert_holds(
        svg,
        TEXT(16, 24,
             " font-size=\"15\">f32[16,256] on m (of hand): from a layout (rows) to another "
             "(columns), in straight copies of A") TEXT(144, 92,
                                                        " text-anchor=\"end\" font-size=\"13\">{1,0}  A")
            TEXT(227, 56, " text-anchor=\"middle\" font-size=\"13\">A")
                TEXT(144, 138, " text-anchor=\"end\" font-size=\"13\">{1,0:T(8,128)}  B")
                    TEXT(377, 56, " text-anchor=\"middle\" font-size=\"13\">B")
                        TEXT(144, 184, " text-anchor=\"end\" font-size=\"13\">{0,1}  C")
                            TEXT(527, 56, " text-anchor=\"middle\" font-size=\"13\">C") CELL(152, 64, "0.060")
                                RATIO(227, 84, "", "1.00&#215;") TIME(227, 101, "", "1.000 us, copy")
                                    CELL(302, 64, "0.373") RATIO(377, 84, "", "2.00&#215;")
                                        TIME(377, 101, "", "2.000 us, retile") CELL(452, 64, "1.000")
                                            RATIO(527, 84, " class=\"on-heat\"", "8.00&#215;")
                                                TIME(527, 101, " class=\"on-heat\"", "8.000 us, transpose")
                                                    CELL(152, 110, "0.060")
                                                        RATIO(227, 130, "", "0.50&#215;"));
    assert_holds(svg, RATIO(527, 130, " class=\"on-heat\"", "4.00&#215;"));
    assert_holds(svg, CELL(302, 156, "0.060") RATIO(377, 176, "", "-") CELL(452, 156, "0.060"));
    /* Between powers of two it is linear in 1/256. */
    put(1, 0, 3000, TS_DMA_RETILE), put(2, 0, 1500, TS_DMA_RETILE);
    svg = written(ts_report_matrix_svg);
    assert_holds(svg, CELL(152, 110, "0.561") RATIO(227, 130, "", "3.00&#215;"));
    assert_holds(svg, CELL(152, 156, "0.248") RATIO(227, 176, "", "1.50&#215;"));
    assert_holds(svg, TEXT(152, 228,
                           " class=\"soft\">1&#215; is 1.000 us; the fuller, the dearer (log scale, up to "
                           "8.00&#215;)") "</svg>");
}

/* The scale goes to twice a copy at least. */
TEST(a_heat_map_of_copies) {
    begin();
    m->list.count = 2;
    put(0, 1, 1000, TS_DMA_COPY), put(1, 0, 1990, TS_DMA_COPY);
    const char *svg = written(ts_report_matrix_svg);
    assert_holds(svg, "width=\"784\" height=\"196\"");
    assert_holds(svg, "(log scale, up to 2.00&#215;)");
    m->list.count = 5;
    m->list.shapes[3] = m->list.shapes[4] = m->list.shapes[0];
    assert_holds(written(ts_report_matrix_svg), "width=\"918\" height=\"334\""); /* 152 + 5 * 150 + 16 */
    /* What is below the cells begins where they do. */
    m->list.count = 1;
    m->list.shapes[0] = parse_shape(
        arena, "f32[2,2,2,2,2,2,2,2]{7,6,5,4,3,2,1,0:T(2,2,2,2,2,2)(2,2,2,2,2)(2,2,2,2)(2,2,2)(2,2)}");
    written(ts_report_matrix_svg);
}

int main(void) { return run_all_tests(begin_group, end_group); }
