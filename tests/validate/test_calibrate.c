/* Figures that are fitted: to times of permutes, which are ici.launch + ici.hop + bytes / ici.rate by hand, where links
 * have no overhead. Fits find them where rows say them, and say why where they do not. */
#include <math.h>
#include <string.h>

#include "tests/support/test.h"
#include "base/text.h"
#include "validate/calibrate.h"

static const char *const bare[] = {"ici.efficiency=1000", "ici.flit=1 B"};
enum { BARE = 2 };

#define HEAD "id,chip,workload description,parameters,measured value,unit\n"

static void read_rows(ts_arena *arena, const char *text, ts_measurements *m) {
    ts_source *source = TS_NEW(arena, ts_source);
    ts_error err = {0};
    *source = (ts_source){"t.csv", text, strlen(text)};
    assert_true(ts_measurements_load(&err, arena, NULL, 0, m));
    m->table = (ts_measured){0};
    assert_true(ts_measured_add(&err, arena, source, &m->table));
}

/* Permutes of n rows, of 100,000 bytes, twice, four times .. as many. */
static void measure(ts_arena *arena, int n, double launch_us, double rate, ts_measurements *m) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, HEAD "none,v5e x8,ppermute,,1,us\nother,v6e x8,ppermute,bytes=4096,1,us\n");
    for (int i = 0; i < n; i++)
        ts_text_add(&text, "r%d,v5e x8,ppermute,bytes=%d,%.9f,us\n", i, 100000 << i,
                    launch_us + 1 + (100000 << i) / rate);
    read_rows(arena, text.bytes, m);
}

/* Rows that take what they take on a v4 with these figures. */
static void simulate(ts_arena *arena, const char *text, const char *const *sets, int count,
                     ts_measurements *m) {
    ts_error err = {0};
    ts_validation v;
    const ts_machine *machine = ts_machine_load_with(&err, arena, "tpu-v4", "--set", sets, count);
    assert_non_null(machine);
    read_rows(arena, text, m);
    assert_true(ts_validate(&err, arena, &(ts_validate_request){.measurements = m, .machine = machine}, &v));
    for (int i = 0; i < m->table.count; i++) m->table.rows[i].value = v.rows[i].simulated_us;
}

static bool fit(ts_error *err, ts_arena *arena, const ts_measurements *m, const char *const *fields,
                int count, ts_calibration *c) {
    const ts_calibrate_request request = {.measurements = m,
                                          .machine = "tpu-v5e",
                                          .sets = bare,
                                          .sets_from = "--set",
                                          .set_count = BARE,
                                          .fields = fields,
                                          .field_count = count};
    return ts_calibrate(err, arena, &request, c);
}

static void assert_near(double found, double expected, double part) {
    if (fabs(found / expected - 1) > part) fail_msg("found %.9g, expected %.9g", found, expected);
}

/* From 3.8 us and 50,000 MB/s, as v5e's file has them. */
TEST(finds_what_rows_say) {
    static const char *const fields[] = {"ici.launch", "ici.rate"}, *const swapped[] = {"ici.rate",
                                                                                        "ici.launch"};
    static const struct {
        double launch_us, rate;
    } rows[] = {{5.7, 70000}, {3.8, 50000}, {2, 20000}, {20, 150000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_measurements m;
        ts_calibration c;
        measure(arena, 8, rows[i].launch_us, rows[i].rate, &m);
        for (int turn = 0; turn < 2; turn++) {
            if (!fit(&err, arena, &m, turn ? swapped : fields, 2, &c)) fail_msg("%s", err.message);
            assert_int_equal(c.rows, 8);
            assert_int_equal(c.field_count, 2);
            const ts_fitted_field *launch = &c.fields[turn], *rate = &c.fields[1 - turn];
            assert_string_equal(launch->path, "ici.launch");
            assert_int_equal(launch->before, 3800000);
            assert_int_equal(rate->before, 50000);
            assert_near((double)launch->after, rows[i].launch_us * 1e6, 2e-3);
            assert_near((double)rate->after, rows[i].rate, 2e-3);
            assert_true(!launch->at_bound && !rate->at_bound && !launch->left_out && !rate->left_out);
            assert_int_equal(c.after->ici.launch_ps, launch->after);
            assert_int_equal(c.before->ici.launch_ps, 3800000);
            for (int r = 2; r < 10; r++)
                assert_near(c.last.rows[r].simulated_us, c.last.rows[r].work.measured_us, 2e-3);
        }
        ts_arena_free(arena);
    }
}

/* What a per cent of a figure moves, in the mean square: its share of each row's time, at a step of 8 %. */
TEST_WITH_ARENA(elasticities) {
    static const char *const fields[] = {"ici.launch", "ici.rate"};
    ts_error err = {0};
    ts_measurements m;
    ts_calibration c;
    double sums[2] = {0};
    measure(arena, 4, 3.8, 50000, &m); /* as it is: nothing moves */
    m.table.rows += 2;                 /* the first of which is used */
    m.table.count -= 2;
    assert_true(fit(&err, arena, &m, fields, 2, &c));
    for (int i = 0; i < 4; i++) {
        double sent = (100000 << i) / 50000.0, whole = 4.8 + sent,
               launch = log((whole + 3.8 * (exp(0.08) - 1)) / whole) / 0.08,
               rate = log((4.8 + sent * exp(-0.08)) / whole) / 0.08;
        sums[0] += launch * launch / 4;
        sums[1] += rate * rate / 4;
    }
    assert_near(c.fields[0].elasticity, sqrt(sums[0]), 1e-4);
    assert_near(c.fields[1].elasticity, sqrt(sums[1]), 1e-3);
    assert_int_equal(c.fields[0].after, 3800000);
    assert_int_equal(c.fields[1].after, 50000);
}

/* A fit stays within a factor of 16, and within the field's range. */
TEST(bounds) {
    static const char *const launch[] = {"ici.launch"}, *const efficiency[] = {"ici.efficiency"};
    static const struct {
        const char *const *field;
        double launch_us, rate;
        int64_t after;
        bool at_bound;
    } rows[] = {{launch, 100, 50000, 16 * INT64_C(3800000), true},
                {launch, 0.01, 50000, 237500, true},
                {efficiency, 3.8, 100000, 1000, true}, /* thousandths: at most all */
                {efficiency, 3.8, 45000, 900, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_measurements m;
        ts_calibration c;
        measure(arena, 4, rows[i].launch_us, rows[i].rate, &m);
        if (!fit(&err, arena, &m, rows[i].field, 1, &c)) fail_msg("%s", err.message);
        assert_int_equal(c.fields[0].after, rows[i].after);
        assert_int_equal(c.fields[0].at_bound, rows[i].at_bound);
        ts_arena_free(arena);
    }
}

TEST(refuses) {
    static const struct {
        int rows;
        const char *fields[9];
        int count;
        const char *message;
    } rows[] = {
        {4, {"dma.issue"}, 1, "dma.issue cannot be fitted: no row depends on it"},
        {4,
         {"ici.launch", "ici.hop"},
         2,
         "ici.hop cannot be fitted: the rows move with it as they do with the others"},
        {6,
         {"ici.rate", "ici.launch", "ici.hop"},
         3,
         "ici.hop cannot be fitted: the rows move with it as they do with the others"},
        {3, {"ici.launch", "ici.rate"}, 2, "3 rows carry 1 figures, found 2 to fit"},
        {1, {"ici.launch"}, 1, "1 rows carry 0 figures, found 1 to fit"},
        {5, {"ici.rate", "ici.launch", "ici.hop"}, 3, "5 rows carry 2 figures, found 3 to fit"},
        {4,
         {"ici.launch", "ici.lunch"},
         2,
         "--fit: the machine has no figure 'ici.lunch'; did you mean 'ici.launch'?"},
        {4, {"chip.devices"}, 1, "chip.devices cannot be fitted: no row depends on it"}, /* it is 1 */
        /* up it moves no row, and less than the clock that is sustained it cannot be */
        {4, {"chip.clock.peak"}, 1, "chip.clock.peak cannot be fitted: no row depends on it"},
        {4, {"title"}, 1, "--fit: title is no time, clock, number or size"},
        {4, {"core.lanes"}, 1, "--fit: core.lanes is 128 on all machines"},
        {4, {"ici.injection"}, 1, "--fit: ici.injection is 0: start it from a guess with --set"},
        {4, {"ici.launch", "ici.rate", "ici.launch"}, 3, "--fit: ici.launch is there twice"},
        {4,
         {"ici.launch", "ici.rate", "ici.hop", "dma.issue", "dma.completion", "chip.launch", "chip.dispatch",
          "dma.rate.copy", "dma.rate.retile"},
         9,
         "more than 8 figures to fit"},
        {0, {"ici.launch"}, 1, "no row is of a TPU v5e and modelled; none: it does not state the bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_measurements m;
        ts_calibration c;
        measure(arena, rows[i].rows, 5, 60000, &m);
        assert_false(fit(&err, arena, &m, rows[i].fields, rows[i].count, &c));
        char text[512];
        ts_error_format(&err, text, sizeof text);
        if (strstr(text, rows[i].message) == NULL) fail_msg("%s, expected %s", text, rows[i].message);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(no_machine) {
    ts_error err = {0};
    ts_measurements m;
    ts_calibration c;
    measure(arena, 4, 5, 60000, &m);
    const ts_calibrate_request request = {.measurements = &m, .machine = "tpu-v0", .sets_from = "--set"};
    assert_false(ts_calibrate(&err, arena, &request, &c));
    assert_non_null(strstr(err.message, "tpu-v0"));
}

/* Those that are usual and that the rows determine; of a machine of no row it is said which there are. */
TEST_WITH_ARENA(usual_figures) {
    ts_error err = {0};
    ts_measurements m;
    ts_calibration c;
    measure(arena, 4, 5, 60000, &m);
    assert_false(fit(&err, arena, &m, NULL, 0, &c));
    assert_string_equal(err.message, "4 rows determine none of the figures");
    m.table.rows++; /* without the one that is not modelled */
    m.table.count = 1;
    err = (ts_error){0};
    assert_false(fit(&err, arena, &m, NULL, 0, &c));
    assert_string_equal(err.message,
                        "no row is of a TPU v5e and modelled, expected a machine whose title is TPU v6e");
}

#define COPY(id, dims) id ",v4,HBM->S(3) copy,\"shape=f16[" dims "]{1,0:T(8,128)(2,1)S(3)}\",1,us\n"
#define ADD(id, n)     id ",v4,f16 elementwise add 1D,n=" n ",1,us\n"
#define COPIES         COPY("c1", "512,1024") COPY("c2", "1024,1024") COPY("c3", "2048,2048") COPY("c4", "2048,1024")
#define ADDS           ADD("a1", "4096") ADD("a2", "8192")

/* Of the usual figures, those of a machine whose times the rows are; those that no row depends on are behind them. */
TEST_WITH_ARENA(usual_figures_of_copies) {
    static const char *const changed[] = {"chip.launch=700 ns", "dma.issue=250 ns", "dma.rate.copy=600"},
                             *const none = "no row depends on it";
    static const struct {
        const char *path, *left_out;
        double after;
    } fields[] = {{"chip.launch", NULL, 700000},
                  {"dma.issue", NULL, 250000},
                  {"dma.rate.copy", NULL, 600},
                  {"chip.dispatch", none, 0},
                  {"chip.clock.matrix", none, 0}};
    ts_error err = {0};
    ts_measurements m;
    ts_calibration c;
    simulate(arena, HEAD COPIES ADDS, changed, 3, &m);
    const ts_calibrate_request request = {.measurements = &m, .machine = "tpu-v4", .sets_from = "--set"};
    if (!ts_calibrate(&err, arena, &request, &c)) fail_msg("%s", err.message);
    assert_int_equal(c.rows, 6);
    assert_int_equal(c.field_count, 5);
    for (int i = 0; i < 5; i++) {
        const ts_fitted_field *f = &c.fields[i];
        assert_string_equal(f->path, fields[i].path);
        if (fields[i].left_out) assert_string_equal(f->left_out, fields[i].left_out);
        if (fields[i].left_out) assert_int_equal(f->after, f->before);
        if (!fields[i].left_out) assert_near((double)f->after, fields[i].after, 0.03);
    }
}

/* Fits of v4's figures to rows that others make; without fields those that are usual. */
TEST(fits_of_others) {
    static const struct {
        const char *text, *changed[4], *from, *fields[4];
        double after[3]; /* 0: any that is not at its bound */
        const char *message;
    } rows[] = {
        /* no clock is above the peak, which it has now */
        {HEAD COPIES, {"chip.clock.sustained=840 MHz"}, NULL, {"chip.clock.sustained"}, {840000}, NULL},
        {HEAD COPIES,
         {NULL},
         NULL,
         {"memories.cmem.xla_space"},
         {0},
         "memories.cmem.xla_space cannot be fitted: c1: tpu-v4 has no memory space S(3)"},
        /* HBM's clock comes to where it moves no row, and the others go on: each copy ends 1530 ns later, too */
        {HEAD COPIES ADDS,
         {"dma.rate.copy=4000", "dma.issue=2500 ns", "dma.completion=1700 ns"},
         NULL,
         {"dma.rate.copy", "hbm.clock", "dma.issue"},
         {0, 0, 2500e3 + 1530e3},
         NULL},
        /* the rate binds only where it is much less, whether a first guess begins with it or not */
        {HEAD COPIES ADDS,
         {"dma.rate.copy=600"},
         "dma.rate.copy=4000",
         {"dma.rate.copy", "dma.issue"},
         {600, 400e3},
         NULL},
        {HEAD COPIES ADDS,
         {"dma.rate.copy=600"},
         "dma.rate.copy=4000",
         {"dma.issue", "dma.rate.copy"},
         {400e3, 600},
         NULL},
        /* a first guess takes it to where it binds no more: it begins where it was, and HBM's rate is not found */
        {HEAD COPIES ADDS, {"dma.rate.copy=4000"}, NULL, {"dma.rate.copy", "dma.issue"}, {0, 400e3}, NULL},
        /* a first guess moves the issue, too, which such rows do not tell from the launch: it goes back */
        {HEAD ADD("a1", "4096") ADD("a2", "4096") ADD("a3", "4096") ADD("a4", "4096"),
         {"chip.launch=3 us"},
         NULL,
         {NULL},
         {3000e3},
         NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_measurements m;
        ts_calibration c;
        int sets = 0, count = 0;
        while (rows[i].changed[sets]) sets++;
        while (rows[i].fields[count]) count++;
        simulate(arena, rows[i].text, rows[i].changed, sets, &m);
        const ts_calibrate_request request = {.measurements = &m,
                                              .machine = "tpu-v4",
                                              .sets = &rows[i].from,
                                              .sets_from = "--set",
                                              .set_count = rows[i].from != NULL,
                                              .fields = count ? rows[i].fields : NULL,
                                              .field_count = count};
        bool good = ts_calibrate(&err, arena, &request, &c);
        if (rows[i].message) assert_string_equal(err.message, rows[i].message);
        if (good != !rows[i].message) fail_msg("%s", err.message);
        for (int k = 0; good && k < 3; k++)
            if (rows[i].after[k] > 0)
                assert_near((double)c.fields[k].after, rows[i].after[k], 0.01);
            else
                assert_false(c.fields[k].at_bound);
        ts_arena_free(arena);
    }
}

/* The file of the machine says where its figures are from: those that were fitted, and those that were set. */
TEST_WITH_ARENA(prints_a_machine) {
    static const char *const fields[] = {"ici.launch"};
    ts_error err = {0};
    ts_measurements m;
    ts_calibration c;
    measure(arena, 4, 7.5, 50000, &m);
    assert_true(fit(&err, arena, &m, fields, 1, &c));
    ts_text out = ts_text_begin(arena);
    if (!ts_calibration_print(&err, arena, &c, "four rows", &out)) fail_msg("%s", err.message);
    int marks = 0;
    for (const char *at = out.bytes; (at = strstr(at, "# derived (four rows)\n")) != NULL; at++) marks++;
    assert_int_equal(marks, 3);
    assert_non_null(strstr(out.bytes, "efficiency: 1000                 # derived (four rows)\n"));
    assert_null(strstr(out.bytes, "override"));
    assert_int_equal(out.bytes[out.length - 1], '\n');
}
