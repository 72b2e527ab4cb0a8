/* Rows beside their models: errors, groups, which tables are read. The rows are permutes of v5e, whose time is known by
 * hand: a launch of 3.8 us, a hop of 1 us, 45,000 bytes a microsecond of flits of 128 bytes. */
#include <math.h>
#include <string.h>

#include "tests/support/test.h"
#include "base/text.h"
#include "validate/validate.h"

TEST(errors_of_rows) {
    static const struct {
        int count;
        double errors[20], median, high, worst;
    } rows[] = {
        {1, {7}, 7, 7, 7},
        {2, {9, 4}, 6.5, 9, 9},
        {3, {3, 1, 2}, 2, 3, 3},
        {4, {8, 2, 4, 1}, 3, 8, 8},
        {9, {9, 8, 7, 6, 5, 4, 3, 2, 1}, 5, 9, 9}, /* eight are fewer than nine of ten */
        {10, {10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 5.5, 9, 10},
        {11, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 6, 10, 11},
        {20, {20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 10.5, 18, 20},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double errors[20];
        memcpy(errors, rows[i].errors, sizeof errors);
        ts_validation_errors e = ts_validated_errors(errors, rows[i].count);
        assert_true(e.median == rows[i].median && e.high == rows[i].high && e.worst == rows[i].worst);
    }
    assert_true(ts_validated_error(150, 100) == 50 && ts_validated_error(25, 100) == -75);
}

TEST(goals) {
    const ts_work_group group = {.median = 5, .high = 12};
    const struct {
        double median, high;
        bool met;
    } rows[] = {{5, 12, true}, {5.1, 12, false}, {5, 12.1, false}, {0, 0, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ts_validated_group g = {.group = &group,
                                      .model = {.median = rows[i].median, .high = rows[i].high}};
        assert_int_equal(ts_validated_meets_goals(&g), rows[i].met);
    }
}

static void measure(ts_arena *arena, const char *rows, ts_measurements *m) {
    ts_source *source = TS_NEW(arena, ts_source);
    ts_text text = ts_text_begin(arena);
    ts_error err = {0};
    ts_text_add(&text, "id,chip,workload description,parameters,measured value,unit\n%s", rows);
    *source = (ts_source){"t.csv", text.bytes, text.length};
    assert_true(ts_measurements_load(&err, arena, NULL, 0, m));
    m->table = (ts_measured){0};
    if (!ts_measured_add(&err, arena, source, &m->table)) fail_msg("%s", err.message);
}

static void assert_near(double found, double expected) {
    if (fabs(found - expected) > 1e-6 * fabs(expected) + 1e-9)
        fail_msg("found %.9g, expected %.9g", found, expected);
}

typedef struct {
    int64_t calls, done, of;
} progress;

static void count_row(void *self, int64_t done, int64_t of) {
    progress *p = self;
    *p = (progress){p->calls + 1, done, of};
}

/* 5,760,000 bytes take 128 us: 132.8 in all; over a link of 50,000 bytes a microsecond 115.2. */
static const char permutes[] = "a,v5e x8,ppermute,bytes=5760000,132.8,us\n"
                               "b,v5e x8,ppermute,bytes=5760000,66.4,us\n"
                               "c,v5e x8,ppermute,bytes=5760000,265.6,us\n"
                               "d,v5e x8,ppermute,,10,us\n"
                               "e,v6e x8,ppermute,bytes=5760000,1,us\n"
                               "f,v5e x8,ppermute,bytes=2880000,70,us\n" /* 68.8 us */
                               "g,v5e,copy HBM,bytes=1,1,%\n";

TEST_WITH_ARENA(groups_of_rows) {
    ts_error err = {0};
    ts_measurements m;
    ts_validation v;
    progress seen = {0};
    measure(arena, permutes, &m);
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v5e");
    assert_true(
        ts_validate(&err, arena, &(ts_validate_request){&m, machine, false, 3, count_row, &seen}, &v));
    assert_true(seen.calls == 7 && seen.done == 7 && seen.of == 7);
    assert_int_equal(v.row_count, 7);
    assert_near(v.rows[0].simulated_us, 132.8);
    assert_near(v.rows[0].roofline_us, 115.2);
    assert_near(v.rows[5].simulated_us, 68.8);
    assert_null(v.rows[0].reason);
    assert_string_equal(v.rows[3].reason, "it does not state the bytes");
    assert_false(v.rows[3].is_left_out);
    assert_true(v.rows[4].is_left_out);
    assert_string_equal(v.rows[4].reason, "it is of another chip than the machine");
    assert_string_equal(v.rows[6].reason, "it is not a time");
    assert_int_equal(v.group_count, 2);
    const ts_validated_group *copies = &v.groups[0], *g = &v.groups[1];
    assert_string_equal(copies->group->name, "copy");
    assert_true(copies->rows == 1 && copies->modelled == 0 && copies->worst == NULL);
    assert_true(copies->model.median == 100 && copies->roofline.worst == 100);
    /* of a, b, c, d and f; d counts as 100, as b is */
    assert_string_equal(g->group->name, "ici-permute");
    assert_int_equal(g->rows, 5);
    assert_int_equal(g->modelled, 4);
    assert_near(g->model.median, 50);
    assert_near(g->model.high, 100);
    assert_near(g->model.worst, 100);
    assert_ptr_equal(g->worst, &v.rows[1]);
    /* 115.2 of 132.8, 66.4 and 265.6, 57.6 of 70 */
    assert_near(g->roofline.median, 100 * (1 - 115.2 / 265.6));
    assert_near(g->roofline.worst, 100);
    /* b, 66.4, is simulated above f, 70; that c is as long as a and b is no disorder */
    assert_int_equal(g->out_of_order, 1);
}

/* Without a machine each row is of its own; one that the machine refuses has its message. */
TEST_WITH_ARENA(machines_of_rows) {
    ts_error err = {0};
    ts_measurements m;
    ts_validation v;
    measure(arena,
            "a,v5e x8,ppermute,bytes=5760000,1,us\nb,v6e x8,ppermute,bytes=5760000,1,us\n"
            "c,v5e,all_reduce,b=100 P=100000,1,us\nd,v5e x8,ppermute,bytes=5760000,1,us\n"
            "e,v6e,flash attention,B=1 H=1 S=4294967296 D=16,1,us\n",
            &m);
    assert_true(ts_validate(&err, arena, &(ts_validate_request){.measurements = &m}, &v));
    assert_near(v.rows[0].simulated_us, 132.8);
    assert_near(v.rows[1].simulated_us, 4.3 + 1 + 5760000 / 87000.0);
    assert_non_null(v.rows[2].reason);
    assert_true(v.rows[2].simulated_us == 0 && !v.rows[2].is_left_out);
    assert_near(v.rows[3].simulated_us, 132.8);
    assert_non_null(strstr(v.rows[4].reason, "4294967296 does not fit in 32 bits")); /* as its program says */
    assert_true(v.rows[4].simulated_us == 0 && !v.rows[4].is_left_out);
    for (int g = 0; g < v.group_count; g++) /* of a and d, which are as far off, the first */
        if (v.groups[g].worst) assert_ptr_equal(v.groups[g].worst, &v.rows[0]);
}

/* Of those measured over 5 % earlier, how many are simulated later; equal ones are none. */
TEST(orders) {
    static const struct {
        const char *rows;
        int pairs;
    } rows[] = {
        {"a,v5e x8,ppermute,bytes=5760000,100,us\nb,v5e x8,ppermute,bytes=2880000,105,us\n",
         0}, /* not over */
        {"a,v5e x8,ppermute,bytes=5760000,100,us\nb,v5e x8,ppermute,bytes=2880000,105.1,us\n", 1},
        {"a,v5e x8,ppermute,bytes=2880000,100,us\nb,v5e x8,ppermute,bytes=5760000,105.1,us\n", 0},
        {"a,v5e x8,ppermute,bytes=2880000,100,us\nb,v5e x8,ppermute,bytes=2880000,200,us\n", 0},
        {"a,v5e x8,ppermute,bytes=3000000,300,us\nb,v5e x8,ppermute,bytes=4000000,200,us\n"
         "c,v5e x8,ppermute,bytes=5000000,100,us\n",
         3},
        {"a,v5e x8,ppermute,bytes=5000000,100,us\nb,v5e x8,ppermute,,200,us\n", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_measurements m;
        ts_validation v;
        measure(arena, rows[i].rows, &m);
        assert_true(ts_validate(&err, arena, &(ts_validate_request){.measurements = &m}, &v));
        assert_int_equal(v.groups[0].out_of_order, rows[i].pairs);
        ts_arena_free(arena);
    }
}

/* As ts_validate_seconds says of each kind. */
static double seconds_on(ts_arena *arena, const ts_measurements *m, const char *machine) {
    ts_error err = {0};
    return ts_validate_seconds(
        arena, &(ts_validate_request){.measurements = m, .machine = ts_machine_load(&err, arena, machine)});
}

TEST_WITH_ARENA(seconds) {
    static const struct {
        const char *row;
        double seconds;
    } rows[] = {
        {"a,v5e,copy HBM,bytes=4096,1,us\n", 0.01},
        {"a,v5e,gemm,M=N=K=64,1,us\n", 0.41},
        {"a,v5e,gemm,M=N=K=64 bm=1 bn=1 bk=1,1,us\n", 0.03},
        {"a,v6e,JAXKernelBench 19_ReLU,\"out=(4, 6)\",1,us\n", 0.01},
        {"a,v5e x8,ppermute,bytes=4096,1,us\n", 0},
        {"a,v6e,flash attention,B=1 H=1 S=16 D=16,1,us\n", 0},
        {"a,v5e,copy HBM,,1,us\n", 0},
        {"a,v5e,copy HBM,bytes=4096,1,us\nb,v5e,copy HBM,bytes=4096,1,us\n", 0.02},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_measurements m;
        measure(arena, rows[i].row, &m);
        assert_near(ts_validate_seconds(arena, &(ts_validate_request){.measurements = &m}), rows[i].seconds);
    }
    ts_measurements m;
    measure(arena, "a,v5e,copy HBM,bytes=4096,1,us\nb,v5p,gemm,M=N=K=64,1,us\n", &m);
    assert_near(seconds_on(arena, &m, "tpu-v5e"), 0.01);
    assert_near(seconds_on(arena, &m, "tpu-v5p"), 0.41);
}

/* Rows of one's own stand in the place of those that the binary carries, 336; groups and words do not. */
TEST_WITH_ARENA(tables_in_any_order) {
    static const char own[] = "tests/data/tpu_groups.tsv", groups[] = "tests/data/measured_groups.tsv",
                      words[] = "tests/data/measured_words.tsv";
    static const struct {
        const char *paths[3];
        int count, rows, times_words;
    } rows[] = {
        {{NULL}, 0, 336, 1},          {{groups}, 1, 336, 1},      {{words}, 1, 336, 2},
        {{groups, words}, 2, 336, 2}, {{own}, 1, 239, 1},         {{own, words}, 2, 239, 2},
        {{words, own}, 2, 239, 2},    {{groups, own}, 2, 239, 1}, {{own, own, groups}, 3, 478, 1},
    };
    int rules = 0, group_count = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_error err = {0};
        ts_measurements m;
        if (!ts_measurements_load(&err, arena, rows[i].paths, rows[i].count, &m)) fail_msg("%s", err.message);
        if (i == 0) rules = m.rules.count, group_count = m.groups.count;
        assert_int_equal(m.table.count, rows[i].rows);
        assert_int_equal(m.rules.count, rules * rows[i].times_words);
        assert_int_equal(m.groups.count, group_count);
    }
    ts_error err = {0};
    ts_measurements m;
    const char *none[] = {"tests/data/none.csv"}, *other[] = {"README.md"};
    assert_false(ts_measurements_load(&err, arena, none, 1, &m));
    assert_false(ts_measurements_load(&err, arena, other, 1, &m)); /* which is no table */
}
