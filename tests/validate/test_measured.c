/* Tables of measurements: rows, parameters, errors; the workloads that are recognised in them. */
#include <string.h>

#include "tests/support/rounds.h"
#include "tests/support/test.h"
#include "base/file.h"
#include "base/text.h"
#include "validate/validate.h"

static const char header[] = "id,chip,workload description,parameters,measured value,unit\n";

static bool parse(ts_error *err, ts_arena *arena, const char *text, ts_measured *table) {
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"t.csv", text, strlen(text)};
    *table = (ts_measured){0};
    return ts_measured_add(err, arena, source, table);
}

TEST_WITH_ARENA(rows_of_both_formats) {
    ts_measured t;
    ts_error err = {0};
    assert_true(parse(&err, arena,
                      "id,unit,chip,workload description,parameters,measured value,source\r\n"
                      "a,ms,v4,\"say \"\"x\"\", y\",\"n=1, m=2\",2.5,s\n\nb,us,v5e,,,1e3,\n",
                      &t));
    assert_int_equal(t.count, 2);
    assert_string_equal(t.rows[0].workload, "say \"x\", y");
    assert_string_equal(t.rows[0].parameters, "n=1, m=2");
    assert_string_equal(t.rows[0].unit, "ms");
    assert_true(t.rows[0].value == 2.5 && t.rows[1].value == 1000);
    assert_true(parse(&err, arena, "id\tgroup\tmeasured_us\tworkload\nx\tcopy-v4\t1.5\t{\"b\": 3}", &t));
    assert_int_equal(t.count, 1);
    assert_string_equal(t.rows[0].group, "copy-v4");
    assert_string_equal(t.rows[0].unit, "us");
    assert_string_equal(t.rows[0].parameters, "{\"b\": 3}");
    /* as spreadsheets save it */
    assert_true(parse(&err, arena,
                      "\xef\xbb\xbf"
                      "id,unit,chip,workload description,parameters,measured value,source\na,ms,v4,,,2,\n",
                      &t));
    assert_int_equal(t.count, 1);
}

TEST_WITH_ARENA(errors) {
    static const struct {
        bool headed;
        const char *text, *message;
        int line, column;
    } cases[] = {
        {true, "a,v4,w,p,0,us\n", "found '0', expected a number above 0", 2, 10},
        {true, "a,v4,w,p,1,us\nb,v4,w,p,nan,us\n", "found 'nan', expected a number above 0", 3, 10},
        {true, "a,v4,w,p,1us,us\n", "found '1us', expected a number above 0", 2, 10},
        {true, "a,v4,w,p,1\n", "found 5 fields, expected 6 as in the first line", 2, 10},
        {true, "a,v4,w,p,1,us,x\n", "found 7 fields, expected 6 as in the first line", 2, 15},
        {true, "a,v4,\"w,p,1,us\n", "a quoted field does not end, expected '\"'", 2, 6},
        {true, "a,v4,\"w\"x,p,1,us\n", "found 'x' behind a quoted field, expected ','", 2, 9},
        {true, ",v4,w,p,1,us\n", "a row without id", 2, 1},
        {false, "id,chip,workload description,parameter,measured value,unit\n",
         "there is no column 'parameters'; did you mean 'parameter'?", 1, 1},
        {false, "id,chip,chip,workload description,parameters,measured value,unit\n",
         "column 'chip' stands twice", 1, 9},
        {false, "", "found nothing, expected a line of column names, 'id' among them", 1, 1},
        {false, "x\n", "there is no column 'id'", 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ts_text text;
        ts_error err = {0};
        ts_measured t;
        text = ts_text_begin(arena);
        ts_text_add(&text, "%s%s", cases[i].headed ? header : "", cases[i].text);
        assert_false(parse(&err, arena, text.bytes, &t));
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(err.line, cases[i].line);
        assert_int_equal(err.column, cases[i].column);
    }
}

static bool add_groups(ts_error *err, ts_arena *arena, const char *text, ts_work_groups *groups) {
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"g.tsv", text, strlen(text)};
    return ts_work_groups_are(arena, source) && ts_work_groups_add(err, arena, source, groups);
}

/* A group of one's own stands behind those that are there, and one of a name that is there in its place. */
TEST_WITH_ARENA(groups_are_added) {
    ts_measurements m;
    ts_error err = {0};
    assert_true(ts_measurements_load(&err, arena, NULL, 0, &m));
    int count = m.groups.count;
    assert_true(add_groups(&err, arena,
                           "reads\tgroup\tchip\ttiming\tgoal_median\tgoal_p90\tmodel\tmiss\n"
                           "product\tmine\tv5e\thost\t3.5\t9\t\tsoon\n"
                           "traffic\tcopy-v4\t\t\t\t\tanother\t\n",
                           &m.groups));
    assert_int_equal(m.groups.count, count + 1);
    const ts_work_group *mine = ts_work_groups_find(&m.groups, "mine"),
                        *copy = ts_work_groups_find(&m.groups, "copy-v4");
    assert_ptr_equal(m.groups.groups[count], mine);
    assert_ptr_equal(m.groups.groups[0], copy);
    assert_true(mine->reads == TS_READS_PRODUCT && mine->wall && mine->median == 3.5 && mine->high == 9);
    assert_string_equal(mine->chip, "v5e");
    assert_string_equal(mine->model, "programs/matmul.tsim");
    assert_string_equal(mine->miss, "soon");
    assert_string_equal(mine->meaning, "");
    assert_null(mine->reason);
    assert_true(copy->reads == TS_READS_TRAFFIC && !copy->wall && copy->median == 0 && copy->high == 0);
    assert_string_equal(copy->model, "another");
    assert_null(copy->chip);
    assert_null(copy->miss);
    assert_null(ts_work_groups_find(&m.groups, "min"));
    ts_workload work;
    const ts_measured_row row = {
        .group = "mine", .workload = "", .parameters = "M=N=K=64", .unit = "us", .value = 2};
    ts_workload_read(&m.groups, &m.rules, &row, &work);
    assert_true(work.kind == TS_WORK_MATMUL && work.group == mine && work.products[0].k == 64);
    assert_string_equal(work.machine, "tpu-v5e");
}

TEST_WITH_ARENA(errors_of_groups) {
    static const struct {
        const char *text, *message;
        int line, column;
    } rows[] = {
        {"group\treads\na\tcoppy\n", "found 'coppy' as reads; did you mean 'copy'?", 2, 3},
        {"group\treads\na\t\n", "found '' as reads", 2, 3},
        {"group\treads\ttiming\na\tcopy\thots\n", "found 'hots' as timing; did you mean 'host'?", 2, 8},
        {"group\treads\tgoal_median\na\tcopy\tx\n", "found 'x', expected a number above 0", 2, 8},
        {"group\treads\tgoal_median\na\tcopy\t3\n",
         "a goal for the median or the 90th percentile alone, expected both or none", 2, 1},
        {"group\treads\na\tnothing\n", "expected a reason where nothing is read, and only there", 2, 1},
        {"group\treads\treason\na\tcopy\tb\n", "expected a reason where nothing is read, and only there", 2,
         1},
        {"reads\tgroup\nx\ty\ncopy\t\n", "found 'x' as reads", 2, 1},
        {"reads\tgroup\ncopy\t\n", "a group without a name", 2, 6},
        {"reads\tgroup\ncopy\n", "found 1 fields, expected 2 as in the first line", 2, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_work_groups groups = {0};
        assert_false(add_groups(&err, arena, rows[i].text, &groups));
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.line, rows[i].line);
        assert_int_equal(err.column, rows[i].column);
    }
    ts_work_groups none = {0};
    assert_false(add_groups(NULL, arena, "id\tgroup\n", &none)); /* not a table of groups */
    assert_false(add_groups(NULL, arena, "reads,id\n", &none));
}

static bool add_rules(ts_error *err, ts_arena *arena, const char *text, ts_measurements *m) {
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"w.tsv", text, strlen(text)};
    return ts_work_rules_are(arena, source) && ts_work_rules_add(err, arena, source, &m->groups, &m->rules);
}

/* Which group a row of words is of; what is refused, by its reason. */
static const char *group_by_words(const ts_measurements *m, const char *chip, const char *words,
                                  const char *timing) {
    ts_workload work;
    const ts_measured_row row = {.group = "",
                                 .chip = chip,
                                 .workload = words,
                                 .timing = timing,
                                 .parameters = "M=N=K=64 bytes=1024",
                                 .unit = "us",
                                 .value = 2};
    ts_workload_read(&m->groups, &m->rules, &row, &work);
    return work.reason != NULL ? work.reason : work.group->name;
}

/* A chip is a machine, and as many devices as that one's file says, however tables name it. */
TEST_WITH_ARENA(chips_by_their_names) {
    static const char *const names[] = {"v2",      "v3",       "v4i", "v4",    "v5litepod-1",
                                        "v5 lite", "v5lite",   "v5e", "v5p",   "v6e",
                                        "v6 lite", "trillium", "v7x", "tpu7x", "Ironwood"};
    ts_measurements m;
    ts_error err = {0};
    assert_true(ts_measurements_load(&err, arena, NULL, 0, &m));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ts_workload work;
        const ts_measured_row row = {.group = "",
                                     .chip = names[i],
                                     .workload = "ppermute",
                                     .parameters = "",
                                     .unit = "us",
                                     .value = 2};
        ts_workload_read(&m.groups, &m.rules, &row, &work);
        const ts_machine *machine = ts_machine_load(&err, arena, work.machine);
        if (!machine) fail_msg("%s", err.message);
        assert_int_equal(work.devices, machine->chip.devices);
    }
}

/* The first rule that fits counts; rules of one's own stand before those of the binary. */
TEST_WITH_ARENA(rules_of_words) {
    static const struct {
        const char *chip, *words, *timing, *group, *own;
    } rows[] = {
        {"v5e", "a gemm of bf16", "", "gemm", NULL},
        {"v5e", "a gemm of bf16", "Wall-clock", "gemm-large-wall", NULL},
        {"v5e", "a gemm of bf16", "on the host", "gemm-large-wall", NULL},
        {"v5e", "a gemm of bf16", "firewall", "gemm", NULL},
        {"v5e", "copy HBM to HBM", "", "copy", NULL},
        {"v5e", "copy HBM to SMEM, own", "", "copy", "mine"},
        {"v5e", "copy HBM to VMEM, own", "", "copy", "mine"},
        {"v4", "copy HBM to VMEM, own", "", "copy", NULL},
        {"v5e", "copy HBM to VMEM", "", "copy", NULL},
        {"v5e", "copy to VMEM, disown", "", "words that are not known", NULL},
        {"v5e", "copy, CMEM and HBM, own", "", "copy", "no CMEM"},
        {"v5e x8", "copy, CMEM and HBM, own", "", "it is of several chips, and no collective", NULL},
        {"v5e x8", "nothing known", "", "it is of several chips, and no collective", NULL},
        {"v5e", "nothing known", "", "words that are not known", NULL},
        {"v5e", "softmax", "", "words that are not known", "mine"},
    };
    ts_measurements m, own;
    ts_error err = {0};
    assert_true(ts_measurements_load(&err, arena, NULL, 0, &m));
    own = m;
    assert_true(add_groups(&err, arena, "group\treads\nmine\tcopy\n", &own.groups));
    assert_true(add_rules(&err, arena,
                          "words\tchip\tgroup\treason\n*CMEM & own\tv5e\t\tno CMEM\n"
                          "copy & *SMEM|VMEM & own\tv5e\tmine\t\n*max\t\tmine\t\n",
                          &own));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *expected = rows[i].own != NULL ? rows[i].own : rows[i].group;
        assert_string_equal(group_by_words(&m, rows[i].chip, rows[i].words, rows[i].timing), rows[i].group);
        assert_string_equal(group_by_words(&own, rows[i].chip, rows[i].words, rows[i].timing), expected);
    }
    assert_false(add_rules(NULL, arena, "group\treads\nmine\tcopy\n", &own)); /* not a table of rules */
}

TEST_WITH_ARENA(errors_of_rules) {
    static const struct {
        const char *text, *message;
        int line, column;
    } rows[] = {
        {"words\tgroup\n\tcopy\n", "found '' as words, expected words, as in 'copy & HBM|VMEM'", 2, 1},
        {"words\tgroup\na||b\tcopy\n", "found 'a||b' as words, expected words, as in 'copy & HBM|VMEM'", 2,
         1},
        {"words\tgroup\na & *\tcopy\n", "found 'a & *' as words, expected words, as in 'copy & HBM|VMEM'", 2,
         1},
        {"words\tgroup\ttiming\na\tcopy\tb|\n", "found 'b|' as timing, expected words, as in 'wall|host'", 2,
         8},
        {"words\tgroup\na\tcoppy\n", "found 'coppy' as group, expected one that is known", 2, 3},
        {"words\tgroup\na\tcopy\tb\n", "found 3 fields, expected 2 as in the first line", 2, 8},
        {"words\na\n", "found 'a' as words, expected a group, or the reason why there is none", 2, 1},
        {"words\tgroup\treason\na\tcopy\tb\n",
         "found 'a' as words, expected a group, or the reason why there is none", 2, 1},
        {"words\tsuite\na\twikki\n", "found 'wikki' as suite; did you mean 'wiki'?", 2, 3},
        {"words\tgroup\tsuite\na\tcopy\tjaxbench\n",
         "found 'jaxbench' as suite, expected no group and no reason, as the suite chooses", 2, 8},
        {"words\tgroup\tresult\na\tcopy\tsome\n", "found 'some' as result; did you mean 'same'?", 2, 8},
        {"words\tgroup\tinput_reads\na\tcopy\t0\n", "found '0', expected a number above 0", 2, 8},
        {"words\tgroup\tinput_reads\na\tcopy\t1.5\n",
         "found '1.5' as input_reads, expected a whole number, at most 16", 2, 8},
        {"words\tgroup\tinput_reads\na\tcopy\t17\n",
         "found '17' as input_reads, expected a whole number, at most 16", 2, 8},
        {"words\tgroup\tinput_reads\na\tcopy\t1\n",
         "found 'a' as words, expected input_reads and result of the suite kernelbench-stream, and of no "
         "other",
         2, 1},
        {"words\tgroup\tresult\na\tcopy\tsame\n",
         "found 'a' as words, expected input_reads and result of the suite kernelbench-stream, and of no "
         "other",
         2, 1},
    };
    ts_measurements m;
    assert_true(ts_measurements_load(NULL, arena, NULL, 0, &m));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        assert_false(add_rules(&err, arena, rows[i].text, &m));
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.line, rows[i].line);
        assert_int_equal(err.column, rows[i].column);
    }
}

TEST(parameters) {
    static const struct {
        const char *text, *key;
        int count;
        double numbers[4];
    } cases[] = {
        {"M=N=K=1024 dtype=bf16", "M", 1, {1024}},
        {"M=N=K=1024 dtype=bf16", "N", 1, {1024}},
        {"M=1024*2 K=3", "M", 1, {2048}},
        {"{\"blk\": [128, 256,512], \"n\": 8192}", "blk", 3, {128, 256, 512}},
        {"{\"blk\": null, \"n\": 8192}", "blk", 0, {0}},
        {"{\"b\": 8704.5}", "b", 1, {8704.5}},
        {"bytes=12 shape=f16[512,1024]{1,0:T(8,128)(2,1)S(3)} 7 GB/s", "shape", 2, {512, 1024}},
        {"shape=mul_(16, 16, 24) n=6144", "shape", 3, {16, 16, 24}},
        {"shape=(128,)", "shape", 1, {128}},
        {"out=((4096, 393216), dtype(float32)) std=0.03", "out", 2, {4096, 393216}},
        {"out=((), dtype(float32))", "out", 0, {0}},
        {"num_classes=4096 input_shape=(num_classes,)", "input_shape", 1, {4096}},
        {"batch: 4, seq_len: 4096", "seq_len", 1, {4096}},
        {"xM=3 M=4", "M", 1, {4}},
        {"Mx=3", "M", 0, {0}},
        {"size=8192 MB median", "size", 1, {8589934592.0}},
        {"size=2MiB", "size", 1, {2097152}},
        {"M=2K N=4 K=5", "M", 1, {2048}},
        {"M=2K N=4 K=5", "N", 1, {4}},
        {"M=2048x2048", "M", 0, {0}},
        {"a=b b=a", "a", 0, {0}},
        {"a=f16[512,", "a", 0, {0}},
        {"a=f16[512,1024 b=2", "a", 0, {0}},
        {"a=f16[512,1O24]", "a", 0, {0}},
        {"a=f16[512;1024]", "a", 0, {0}},
        {"a=(2, none)", "a", 0, {0}},
        {"a=( 2 , b ) b=3", "a", 2, {2, 3}},
        {"a=[2,3,4,5,x]", "a", 4, {2, 3, 4, 5}},
        {"", "a", 0, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double numbers[4] = {0};
        assert_int_equal(ts_measured_numbers(cases[i].text, cases[i].key, 4, numbers), cases[i].count);
        for (int n = 0; n < cases[i].count; n++) assert_true(numbers[n] == cases[i].numbers[n]);
    }
    static const struct {
        const char *text;
        double number;
    } scalars[] = {{"a=16,777,216 B", 16777216}, {"a=1,77", 1}, {"a=(16,777)", 16}, {"a=1,b=222", 1}};
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
        double number = 0;
        assert_int_equal(ts_measured_numbers(scalars[i].text, "a", 1, &number), 1);
        assert_true(number == scalars[i].number);
    }
}

static void read_table(ts_arena *arena, const char *path, ts_measured *table) {
    ts_error err = {0};
    ts_source *source = TS_NEW(arena, ts_source);
    char *text;
    assert_true(ts_file_read(&err, arena, path, TS_MEASURED_MAX_BYTES, &text, &source->length));
    source->name = path;
    source->text = text;
    *table = (ts_measured){0};
    assert_true(ts_measured_add(&err, arena, source, table));
}

/* The words of a row and the figures that someone else took from them say the same. */
TEST_WITH_ARENA(words_and_figures_agree) {
    ts_measured words, figures;
    ts_measurements standard;
    ts_error err = {0};
    int modelled = 0;
    assert_true(ts_measurements_load(&err, arena, NULL, 0, &standard));
    read_table(arena, "tests/data/tpu_measured.csv", &words);
    read_table(arena, "tests/data/tpu_groups.tsv", &figures);
    assert_int_equal(words.count, 336);
    assert_int_equal(figures.count, 239);
    for (int i = 0; i < figures.count; i++) {
        ts_workload a = {0}, b = {0};
        for (int j = 0; j < words.count; j++)
            if (strcmp(words.rows[j].id, figures.rows[i].id) == 0)
                ts_workload_read(&standard.groups, &standard.rules, &words.rows[j], &a);
        ts_workload_read(&standard.groups, &standard.rules, &figures.rows[i], &b);
        assert_ptr_equal(a.group, b.group);
        assert_int_equal(a.kind, b.kind);
        if (a.kind == TS_WORK_NONE) continue;
        modelled++;
        double difference = a.measured_us / b.measured_us - 1;
        assert_true(difference < 1e-5 && difference > -1e-5);
        assert_string_equal(a.machine, b.machine);
        assert_int_equal(a.read_bytes, b.read_bytes);
        assert_int_equal(a.written_bytes, b.written_bytes);
        assert_int_equal(a.inputs, b.inputs);
        assert_int_equal(a.rank, b.rank);
        assert_memory_equal(a.dims, b.dims, (size_t)a.rank * sizeof *a.dims);
        double flops[2] = {0};
        for (int p = 0; p < TS_WORK_MAX_PRODUCTS; p++) {
            flops[0] += (double)a.products[p].m * (double)a.products[p].n * (double)a.products[p].k;
            flops[1] += (double)b.products[p].m * (double)b.products[p].n * (double)b.products[p].k;
        }
        assert_true(flops[0] == flops[1]);
        assert_int_equal(a.random, b.random);
        assert_int_equal(a.collective, b.collective);
        assert_int_equal(a.bytes, b.bytes);
        assert_int_equal(a.members, b.members);
    }
    assert_int_equal(modelled, 189);
}

/* Rows that state blocks are those of their kernels, too. */
TEST_WITH_ARENA(rows_are_shared) {
    ts_measurements m;
    ts_error err = {0};
    ts_workload work;
    assert_true(ts_measurements_load(&err, arena, NULL, 0, &m));
    assert_true(parse(&err, arena,
                      "id,unit,chip,workload description,parameters,measured value\n"
                      "a,us,v5e,\"Pallas matmul, transposed rhs fused\",M=N=K=1024 bm=128 bk=256 bn=512,2\n"
                      "b,us,v5e,Pallas matmul,M=N=K=1024 bm=128 bk=256,2\n"
                      "c,us,v5e,XLA matmul,M=N=K=1024,2\nd,us,v4,matmul of f32,M=N=K=1024 bm=1 bk=1 bn=1,2\n"
                      "e,us,v5e,\"Pallas matmul, fused relu\",M=N=K=1024 bm=bn=bk=256,2\n"
                      "f,us,v5e,Pallas matmul,M=N=K=1024 bm=bn=bk=64,2\n",
                      &m.table));
    ts_measurements_share(arena, &m);
    assert_int_equal(m.table.count, 8);
    assert_string_equal(m.table.rows[6].id, "a");
    assert_string_equal(m.table.rows[7].id, "e");
    assert_string_equal(m.table.rows[0].group, "");
    ts_workload_read(&m.groups, &m.rules, &m.table.rows[6], &work);
    assert_true(work.kind == TS_WORK_KERNEL && work.transposed && !work.relu && work.measured_us == 2);
    assert_true(work.block[0] == 128 && work.block[1] == 512 && work.block[2] == 256);
    assert_string_equal(work.group->name, "pallas-kernels-v5e");
    assert_string_equal(work.machine, "tpu-v5e");
    ts_workload_read(&m.groups, &m.rules, &m.table.rows[7], &work);
    assert_true(work.kind == TS_WORK_KERNEL && !work.transposed && work.relu);
    m.table.rows[7].parameters = "M=N=K=1024 bm=128 bk=256";
    ts_workload_read(&m.groups, &m.rules, &m.table.rows[7], &work);
    assert_string_equal(work.reason, "it states no blocks");
}

/* Of many steps some are walked, which is nearly the same as all; small grids are walked whole. */
TEST(kernels_are_predicted) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v5e");
    double us;
    ts_predictor by = {.arena = arena};
    static const struct {
        int64_t blocks; /* of each side */
        double most_us; /* of a step */
    } rows[] = {{16, 0.43}, {12, 0.42}, {24, 0.43}};
    for (int i = 0, most = cases(3, 1); i < most; i++) {
        int64_t n = rows[i].blocks, side = 128 * n;
        ts_workload work = {.block = {128, 128, 128}, .products = {{.m = side, .n = side, .k = side}}};
        assert_true(ts_workload_predict_kernel(&err, &by, &work, machine, &us));
        us /= (double)(n * n * n);
        assert_true(us > 0.34 && us < rows[i].most_us);
    }
    ts_workload odd = {.block = {100, 128, 128}, .products = {{.m = 200, .n = 128, .k = 128}}};
    assert_false(ts_workload_predict_kernel(&err, &by, &odd, machine, &us));
    assert_int_equal(err.kind, TS_ERROR_UNMODELLED);
    ts_arena_free(arena);
}

/* ---- Validation ---- */

enum { COPIES = 40 };

/* Copies of v4 of a few sizes, with times that go up and down and are sometimes equal. */
static void measured_copies(ts_arena *arena, const char *more, ts_measurements *m) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "%s", header);
    for (int i = 0; i < COPIES; i++)
        ts_text_add(&text, "r%d,v4,HBM->S(3) copy,\"shape=f16[%d,1024]{1,0:T(8,128)(2,1)S(3)}\",%.2f,us\n", i,
                    128 * (1 + i * 5 % 7), 0.5 + 0.13 * (i * 11 % 17));
    ts_text_add(&text, "%s", more);
    assert_true(ts_measurements_load(NULL, arena, NULL, 0, m));
    assert_true(parse(NULL, arena, text.bytes, &m->table));
}

TEST_WITH_ARENA(pairs_in_the_wrong_order_are_counted) {
    ts_measurements m;
    ts_validation v;
    int64_t pairs = 0;
    measured_copies(arena, "", &m);
    assert_true(ts_validate(NULL, arena, &(ts_validate_request){.measurements = &m}, &v));
    assert_int_equal(v.row_count, COPIES);
    assert_int_equal(v.group_count, 1);
    for (int i = 0; i < COPIES; i++) {
        assert_null(v.rows[i].reason);
        for (int k = 0; k < COPIES; k++)
            pairs += v.rows[i].work.measured_us * 1.05 < v.rows[k].work.measured_us &&
                     v.rows[i].simulated_us > v.rows[k].simulated_us;
    }
    assert_true(pairs > COPIES);
    assert_int_equal(v.groups[0].out_of_order, pairs);
}

TEST(a_machine_without_rows_is_told_which_there_are) {
    static const struct {
        const char *more, *message;
    } rows[] = {
        {"", "no row is of a TPU v5e at all, expected a machine whose title is TPU v4"},
        {"a,v6e,HBM->S(3) copy,,1,us\n",
         "no row is of a TPU v5e at all, expected a machine whose title is TPU v4 or TPU v6e"},
        {"a,v6e,HBM->S(3) copy,,1,us\nb,v5p,HBM->S(3) copy,,1,us\nc,v6e,HBM->S(3) copy,,1,us\n",
         "no row is of a TPU v5e at all, expected a machine whose title is TPU v4, TPU v6e or TPU v5p"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_measurements m;
        ts_validation v;
        const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
        measured_copies(arena, rows[i].more, &m);
        assert_true(
            ts_validate(NULL, arena, &(ts_validate_request){.measurements = &m, .machine = machine}, &v));
        for (int k = 0; k < v.row_count; k++) assert_true(v.rows[k].is_left_out);
        assert_false(ts_validation_refuse(&err, arena, &v, " at all"));
        assert_string_equal(err.message, rows[i].message);
        ts_arena_free(arena);
    }
}

/* Tables are told apart by the columns that they must have. */
TEST_WITH_ARENA(tables_by_their_columns) {
    static const struct {
        const char *text;
        bool groups, words;
    } rows[] = {{"group\treads\n", true, false},
                {"words\tgroup\n", false, true},
                {"words\n", false, true},
                {"group\n", false, false},
                {"reads\n", false, false},
                {"id,chip\n", false, false},
                {"", false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_source source = {"t", rows[i].text, strlen(rows[i].text)};
        assert_int_equal(ts_work_groups_are(arena, &source), rows[i].groups);
        assert_int_equal(ts_work_rules_are(arena, &source), rows[i].words);
    }
}
