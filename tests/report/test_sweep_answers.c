/* What hangs on which figure, what changed between two databases, runs of a grid, and rankings of blocks. */
#include <math.h>

#include "report/sweep.h"
#include "tests/support/group.h"
#include "tests/support/small_table.h"
#include "tests/support/written.h"

/* ---- Sensitivity ---- */

static const ts_sweep_moved moved[] = {
    {"dma.issue", "8", 1, 2}, {"hbm.banks", "16", 0, 3}, {"core.x", "64 KiB", 4, 5}};
static const ts_sweep_elasticity list[] = {
    {&moved[0], 1, .5, 2}, {&moved[1], -.25, 0, .875}, {&moved[2], 0, 1, 1}};

#define FIGURES                                                                                              \
    "study      s.yaml: a title\ncycles against 3 figures of the machine, each at half and at twice its "    \
    "value\n\n"                                                                                              \
    "figure                                                   is elasticity    at half   at twice\n"

TEST(what_hangs_on_figures) {
    ts_sweep_changes changes = {.fields = moved, .count = 3};
    ts_sweep_view view = {.table = small_table(arena, 0, ""), .study = "s.yaml", .rows = 2};
    ts_sweep_sensitivity_view about = {&view, &changes, list, "cycles"};
#define FIRST "dma.issue                                                 8     +1.000     0.500x     2.000x\n"
#define SECOND                                                                                               \
    "hbm.banks                                                16     -0.250          -     0.875x\n"
    ts_text out = ts_text_begin(arena);
    ts_report_sensitivity(&about, &out);
    assert_string_equal(out.bytes, FIGURES FIRST SECOND "1 without effect\n");
    view.rows = 1;
    ts_text_clear(&out);
    ts_report_sensitivity(&about, &out);
    assert_string_equal(out.bytes, FIGURES FIRST "and 1 more: --rows N, --all\n1 without effect\n");
    view.rows = 9;
    changes.count = 1;
    ts_text_clear(&out);
    ts_report_sensitivity(&about, &out);
    assert_true(ts_text_ends(out.bytes, FIRST "0 without effect\n"));
    changes.count = 3;
    ts_text_clear(&out);
    ts_report_sensitivity_json(&about, &out);
    assert_string_equal(json_value(arena, out.bytes, "schema"), "\"tilesim.sweep.sensitivity\"");
    assert_string_equal(json_value(arena, out.bytes, "study"), "\"s.yaml\"");
    assert_string_equal(json_value(arena, out.bytes, "column"), "\"cycles\"");
    assert_string_equal(
        json_value(arena, out.bytes, "figures"),
        "[{\"field\":\"dma.issue\",\"value\":\"8\",\"elasticity\":1,\"at_half\":0.5,\"at_twice\":2},"
        "{\"field\":\"hbm.banks\",\"value\":\"16\",\"elasticity\":-0.25,\"at_half\":null,"
        "\"at_twice\":0.875},"
        "{\"field\":\"core.x\",\"value\":\"64 KiB\",\"elasticity\":0,\"at_half\":1,\"at_twice\":1}]");
}

/* ---- Two databases ---- */

static const ts_sweep_change changes[] = {
    {"n=1", "dma a b\nmore", "m", TS_SWEEP_OK, TS_SWEEP_ERROR, 5, (double)NAN, 0},
    {"n=2", "run", "m", TS_SWEEP_OK, TS_SWEEP_OK, 8, 10, 1.25},
    {"n=3", "run", "m", TS_SWEEP_FAILED, TS_SWEEP_OK, 0, 3, (double)INFINITY},
};

TEST(two_databases) {
    ts_sweep_diff diff = {.column = "cycles",
                          .both = 7,
                          .only_before = 8,
                          .only_after = 9,
                          .measured = 6,
                          .change_count = 3,
                          .changes = changes,
                          .worst = 1.25,
                          .broken = 1};
    ts_sweep_diff_view view = {&diff, "a.db", "b.db", 3};
    ts_text out = ts_text_begin(arena);
#define HEAD "before     a.db\nafter      b.db\npoints     7 in both: 3 differ; 8 only before, 9 only after"
#define ONE  "\nn=1\n    dma a b on m\n    error, was ok\n"
#define TWO  "\nn=2\n    run on m\n    cycles 10, was 8: 1.2500x\n"
    ts_report_sweep_diff(&view, &out);
    assert_string_equal(out.bytes, HEAD "\nworst      cycles 1.2500x what it was; 1 no longer ok\n" ONE TWO
                                        "\nn=3\n    run on m\n    ok, was failed\n    cycles 3, was 0\n");
    view.rows = 2;
    diff.older = 1;
    diff.worst = (double)INFINITY;
    ts_text_clear(&out);
    ts_report_sweep_diff(&view, &out);
    assert_string_equal(out.bytes,
                        HEAD "; 1 older row left out\nworst      cycles was 0, and is no longer; 1 no "
                             "longer ok\n" ONE TWO "\nand 1 more: --rows N, --all\n");
    diff.measured = 0;
    ts_text_clear(&out);
    ts_report_sweep_worst(&diff, &out);
    assert_string_equal(out.bytes, "no point has cycles in both; 1 no longer ok");
    diff.measured = 1;
    ts_text_clear(&out);
    ts_report_sweep_worst(&diff, &out);
    assert_string_equal(out.bytes, "cycles was 0, and is no longer; 1 no longer ok");
}

TEST(two_databases_as_json) {
    static const char *const rows[][2] = {
        {"schema", "\"tilesim.sweep.diff\""},
        {"before", "\"a.db\""},
        {"after", "\"b.db\""},
        {"column", "\"cycles\""},
        {"both", "7"},
        {"only_before", "8"},
        {"only_after", "9"},
        {"measured", "6"},
        {"older", "2"},
        {"broken", "1"},
        {"worst", "1.25"},
        {"changes",
         "[{\"parameters\":\"n=1\",\"question\":\"dma a b\\nmore\",\"machine\":\"m\","
         "\"before_status\":\"ok\",\"after_status\":\"error\",\"before\":5,\"after\":null,\"ratio\":null},"
         "{\"parameters\":\"n=2\",\"question\":\"run\",\"machine\":\"m\",\"before_status\":\"ok\","
         "\"after_status\":\"ok\",\"before\":8,\"after\":10,\"ratio\":1.25},"
         "{\"parameters\":\"n=3\",\"question\":\"run\",\"machine\":\"m\",\"before_status\":\"failed\","
         "\"after_status\":\"ok\",\"before\":0,\"after\":3,\"ratio\":null}]"},
    };
    ts_sweep_diff diff = {.column = "cycles",
                          .both = 7,
                          .only_before = 8,
                          .only_after = 9,
                          .measured = 6,
                          .older = 2,
                          .change_count = 3,
                          .changes = changes,
                          .worst = 1.25,
                          .broken = 1};
    ts_text out = ts_text_begin(arena);
    ts_report_sweep_diff_json(&(ts_sweep_diff_view){&diff, "a.db", "b.db", 1}, &out);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(json_value(arena, out.bytes, rows[i][0]), rows[i][1]);
}

/* ---- Runs of a grid ---- */

static const ts_machine machine = {.name = "m", .title = "of hand", .chip.sustained_khz = 1000000};
static const char *block_values[] = {"8", "1000000"}, *kind_values[] = {"x"},
                  *other_values[] = {"a", "bcdefghijk"};
/* The last is none of the grid. */
static ts_grid_axis axes[] = {{"KIND", kind_values, 1},
                              {"BLOCK", block_values, 2},
                              {"O", other_values, 2},
                              {"BEHIND", other_values, 2}};
static const ts_grid grid = {axes, 3, 4};
static const ts_error why = {.kind = TS_ERROR_INPUT, .message = "why"};

static ts_sweep_row timed(int64_t cycles, bool estimated, const char *limiter) {
    ts_sweep_row row = {0};
    row.values[TS_COUNTER_CYCLES] = (ts_sweep_value){.kind = TS_SWEEP_INTEGER, .integer = cycles};
    row.values[TS_SWEEP_ESTIMATED_COLUMN] = (ts_sweep_value){.kind = TS_SWEEP_INTEGER, .integer = estimated};
    row.values[TS_SWEEP_MICROSECONDS_COLUMN] =
        (ts_sweep_value){.kind = TS_SWEEP_REAL, .real = (double)cycles / 1000};
    row.values[TS_SWEEP_HBM_JOULES_COLUMN] = (ts_sweep_value){.kind = TS_SWEEP_REAL, .real = 2.5e-6};
    row.values[TS_SWEEP_HBM_PEAK_PERCENT_COLUMN] = (ts_sweep_value){.kind = TS_SWEEP_REAL, .real = 12.25};
    row.values[TS_SWEEP_LIMITER_PERCENT_COLUMN] = (ts_sweep_value){.kind = TS_SWEEP_REAL, .real = 50};
    row.values[TS_SWEEP_LIMITER_COLUMN] = (ts_sweep_value){.kind = TS_SWEEP_TEXT, .text = limiter};
    return row;
}

static ts_sweep_row rows[4];

static const ts_sweep_runs_request *four_runs(void) {
    static ts_sweep_runs_request request;
    request = (ts_sweep_runs_request){.run = {.program = "p.tsim", .machine = &machine}, .grid = &grid};
    rows[0] = timed(2000, false, "waiting");
    rows[1] = timed(1234567, true, "vector arithmetic");
    rows[2] = (ts_sweep_row){.status = TS_SWEEP_ERROR, .err = &why};
    rows[3] = timed(500, false, "");
    rows[3].status = TS_SWEEP_FAILED;
    return &request;
}

/* Axes of one value stand above; a column is six wide at least. What failed has no time that counts. */
TEST(runs_of_a_grid) {
    ts_text out = ts_text_begin(arena);
    const ts_sweep_runs_request *request = four_runs();
    ts_report_grid(request, rows, &out);
    assert_string_equal(
        out.bytes,
        "machine    m (of hand)\nprogram    p.tsim KIND=x\n\n"
        "  BLOCK          O         cycles           us  to best  HBM peak  most cycles went to\n"
        "      8          a          2,000        2.000    1.00x    12.2 %  50.0 % waiting\n"
        "      8 bcdefghijk     ~1,234,567     1234.567  617.28x    12.2 %  50.0 % vector arithmetic\n"
        "1000000          a error: why\n"
        "1000000 bcdefghijk            500 failed its checks\n");
}

/* Of those with one; the shortest may come last. */
TEST(the_best_of_a_grid) {
    ts_text out = ts_text_begin(arena);
    ts_grid_axis own[] = {axes[1], axes[2], axes[0]};
    const ts_grid varied = {own, 2, 4};
    ts_sweep_runs_request of_varied = *four_runs();
    const ts_sweep_runs_request *request = &of_varied;
    of_varied.grid = &varied;
    rows[1] = rows[2] = timed(500, false, "");
    rows[3] = timed(0, false, "");
    ts_report_grid(request, rows, &out);
    assert_holds(out.bytes, "p.tsim\n\n  BLOCK          O         cycles");
    assert_holds(out.bytes,
                 "\n      8          a          2,000        2.000    4.00x    12.2 %  50.0 % waiting\n");
    assert_holds(out.bytes, "              0        0.000    0.00x ");
    rows[0] = rows[1] = rows[2] = rows[3];
    ts_text_clear(&out);
    ts_report_grid(request, rows, &out);
    assert_holds(out.bytes, "              0        0.000    1.00x ");
}

TEST(a_grid_as_json) {
    ts_text out = ts_text_begin(arena);
    const ts_sweep_runs_request *request = four_runs();
    rows[2].err = &why;
    ts_report_grid_json(request, rows, &out);
#define NAMED(block, o) "\"defines\":{\"KIND\":\"x\",\"BLOCK\":\"" block "\",\"O\":\"" o "\"},"
    assert_string_equal(json_value(arena, out.bytes, "program"), "\"p.tsim\"");
    assert_string_equal(json_value(arena, out.bytes, "time_only"), "false");
    assert_string_equal(
        json_value(arena, out.bytes, "runs"),
        "[{" NAMED(
            "8",
            "a") "\"passed\":true,\"cycles\":2000,\"estimated\":false,\"microseconds\":2,\"ratio\":1,"
                 "\"hbm_peak_percent\":12.25,\"unfinished\":false,\"most_cycles\":\"waiting\",\"most_"
                 "percent\":50},"
                 "{" NAMED(
                     "8",
                     "bcdefghijk") "\"passed\":true,\"cycles\":1234567,\"estimated\":true,\"microseconds\":"
                                   "1234.567,"
                                   "\"ratio\":617.2835,\"hbm_peak_percent\":12.25,\"unfinished\":false,"
                                   "\"most_cycles\":\"vector "
                                   "arithmetic\",\"most_percent\":50},"
                                   "{" NAMED(
                                       "1000000",
                                       "a") "\"passed\":false,\"error\":{\"kind\":\"input\",\"message\":"
                                            "\"why\","
                                            "\"exit_code\":1,\"source\":null,\"line\":null,\"column\":null,"
                                            "\"excerpt\":null,\"cycle\":null}},"
                                            "{" NAMED(
                                                "1000000",
                                                "bcdefghijk") "\"passed\":false,\"cycles\":500,\"estimated\":"
                                                              "false,\"microseconds\":0.5,"
                                                              "\"ratio\":0.25,\"hbm_peak_percent\":12.25,"
                                                              "\"unfinished\":false,"
                                                              "\"most_"
                                                              "cycles\":\"\",\"most_percent\":50}]");
}

TEST(widths_of_axes) {
    static const char *values[] = {"12", "1234567890123456789012345"}, *first[] = {"1234", "1"};
    static const ts_grid_axis axis = {"abc", values, 1}, longer = {"abc", values, 2},
                              early = {"abc", first, 2};
    assert_int_equal(report_axis_width(&axis, 2), 3);
    assert_int_equal(report_axis_width(&axis, 3), 3);
    assert_int_equal(report_axis_width(&axis, 4), 4);
    assert_int_equal(report_axis_width(&longer, 4), 24);
    assert_int_equal(report_axis_width(&early, 2), 4);
}

/* ---- Blocks ---- */

static const int64_t best[] = {3, 0}, misfits[] = {1}, failed[] = {2};

static ts_sweep_blocks ranked(void) {
    four_runs();
    rows[1] = rows[2];
    rows[1].err = rows[2].err = &why;
    rows[3] = timed(500, true, "HBM");
    return (ts_sweep_blocks){.rows = rows, .points = {best, misfits, failed}, .counts = {2, 1, 1}};
}

static const char *blocks_of(const ts_sweep_blocks *blocks, int most) {
    ts_text out = ts_text_begin(arena);
    static const ts_define defines[] = {{"D", "5"}, {"E", "6"}};
    ts_sweep_runs_request request = *four_runs();
    ranked();
    request.run.defines = defines;
    request.run.define_count = 2;
    ts_report_blocks(&(ts_blocks_view){&request, blocks, most}, &out);
    return out.bytes;
}

#define BLOCKS "machine    m (of hand)\nprogram    p.tsim D=5 E=6\nblocks     4: "
#define COLUMNS                                                                                              \
    "   KIND   BLOCK          O           us  to best         cycles     HBM uJ  most cycles went to\n"
#define BEST "      x 1000000 bcdefghijk        0.500    1.00x           ~500        2.5  HBM\n"

TEST(rankings_of_blocks) {
    ts_sweep_blocks blocks = ranked();
    assert_string_equal(
        blocks_of(&blocks, 2),
        BLOCKS "2 timed, 1 do not fit, 1 with another error\n\n" COLUMNS BEST
               "      x       8          a        2.000    4.00x          2,000        2.5  waiting\n"
               "\nwhat does not fit\n      x       8 bcdefghijk  why\n"
               "\nwhat has another error\n      x 1000000          a  why\n");
    assert_holds(blocks_of(&blocks, 1),
                 COLUMNS BEST "and 1 slower one; --all lists them\n\nwhat does not fit\n");
    assert_true(ts_text_ends(blocks_of(&blocks, 0),
                             "\nwhat does not fit\nand 1 more; --all lists them\n"
                             "\nwhat has another error\nand 1 more; --all lists them\n"));
    blocks.counts[TS_SWEEP_TIMED] = blocks.counts[TS_SWEEP_UNTIMED] = 0;
    assert_string_equal(blocks_of(&blocks, 2), BLOCKS "0 timed, 1 do not fit, 0 with another error\n\n\n"
                                                      "what does not fit\n      x       8 bcdefghijk  why\n");
}

TEST(rankings_as_json) {
    ts_sweep_blocks blocks = ranked();
    ts_sweep_runs_request request = *four_runs();
    ts_text out = ts_text_begin(arena);
    static const char *values[] = {"0.5", "x"};
    ts_grid_axis own[] = {{"BLOCK", block_values, 2}, {"R", values, 2}};
    ts_grid mixed = {own, 2, 4};
    ranked();
    request.grid = &mixed;
    ts_report_blocks_json(&(ts_blocks_view){&request, &blocks, 1}, &out);
    assert_string_equal(json_value(arena, out.bytes, "program"), "\"p.tsim\"");
    assert_string_equal(
        json_value(arena, out.bytes, "candidates"),
        "[{\"blocks\":{\"BLOCK\":1000000,\"R\":\"x\"},\"cycles\":500,\"estimated\":true,"
        "\"microseconds\":0.5,\"ratio\":1,\"hbm_joules\":2.5e-06,\"limiter\":\"HBM\",\"unfinished\":false},"
        "{\"blocks\":{\"BLOCK\":8,\"R\":0.5},\"cycles\":2000,\"estimated\":false,\"microseconds\":2,"
        "\"ratio\":4,\"hbm_joules\":2.5e-06,\"limiter\":\"waiting\",\"unfinished\":false}]");
    assert_string_equal(json_value(arena, out.bytes, "misfits"),
                        "[{\"blocks\":{\"BLOCK\":8,\"R\":\"x\"},\"error\":\"why\"}]");
    assert_string_equal(json_value(arena, out.bytes, "failed"),
                        "[{\"blocks\":{\"BLOCK\":1000000,\"R\":0.5},\"error\":\"why\"}]");
    rows[3] = timed(0, false, "");
    ts_text_clear(&out);
    ts_report_blocks_json(&(ts_blocks_view){&request, &blocks, 1}, &out);
    assert_holds(json_value(arena, out.bytes, "candidates"), "\"microseconds\":2,\"ratio\":1,");
}

int main(void) { return run_all_tests(begin_group, end_group); }
