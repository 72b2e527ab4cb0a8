/* Texts of programs: those of the binary by their names, what is near to one, and the files that a text names. */
#include <string.h>

#include "program/program.h"
#include "tests/support/cmocka.h"
#include "tests/support/group.h"

TEST(texts_of_the_binary_have_names) {
    static const char *const rows[][2] = {
        {"tilesim:/softmax.tsim", "tilesim:/softmax.tsim"},
        {"softmax", "tilesim:/softmax.tsim"},
        {"tilesim:/add.tsim", "tilesim:/add.tsim"}, /* the first of all */
        {"add", "tilesim:/add.tsim"},
        {"mesh/all_reduce", "tilesim:/mesh/all_reduce.tsim"},
        {"tilesim:/mesh/../softmax.tsim", "tilesim:/mesh/../softmax.tsim"},
        {"tilesim:/mesh/all/../softmax.tsim", NULL},
        {"softma", NULL},
        {"tilesim:/softmax", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int count;
        const ts_program_file *files = ts_program_files(arena, rows[i][0], &count);
        assert_true(count > 0);
        assert_string_equal(files[0].path, rows[i][0]);
        if (!rows[i][1] != !files[0].text) fail_msg("%s", rows[i][0]);
        if (rows[i][1]) assert_string_equal(files[0].text->name, rows[i][1]);
    }
}

TEST(what_is_near_is_suggested) {
    static const char *const rows[][2] = {
        {"tilesim:/softmx.tsim", "cannot open 'tilesim:/softmx.tsim': No such file or directory; did you "
                                 "mean 'tilesim:/softmax.tsim'?"},
        {"tilesim:/addd.tsim", "cannot open 'tilesim:/addd.tsim': No such file or directory; did you mean "
                               "'tilesim:/add.tsim'?"}, /* the first of all */
        {"tilesim:/lyrnrm.tsim", "cannot open 'tilesim:/lyrnrm.tsim': No such file or directory; did you "
                                 "mean 'tilesim:/layernorm.tsim'?"},
        {"softmax.tsim", "cannot open 'softmax.tsim': No such file or directory; did you mean "
                         "'tilesim:/softmax.tsim'?"},
        {"nowhere/softmax.tsim", "cannot open 'nowhere/softmax.tsim': No such file or directory; did you "
                                 "mean 'tilesim:/softmax.tsim'?"},
        {"nowhere/add.tsim", "cannot open 'nowhere/add.tsim': No such file or directory; did you mean "
                             "'tilesim:/add.tsim'?"},
        {"nowhere/softmx.tsim", "cannot open 'nowhere/softmx.tsim': No such file or directory"},
        {"tilesim:/qqqqqqqqqqqq.tsim", "cannot open 'tilesim:/qqqqqqqqqqqq.tsim': No such file or directory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        assert_null(ts_program_load(&err, arena, rows[i][0], &(ts_target){.machine = "toy"}, NULL, 0));
        assert_string_equal(err.message, rows[i][1]);
        assert_int_equal(err.kind, TS_ERROR_IO);
    }
}

/* Beside the text that names them, each once. */
TEST(texts_name_files) {
    int count;
    const ts_program_file *files = ts_program_files(arena, "mesh/all_reduce", &count);
    assert_true(count > 2);
    assert_string_equal(files[1].path, "tilesim:/mesh/include/ring.tsim");
    assert_string_equal(files[2].path, "tilesim:/mesh/include/scatter.tsim");
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++) assert_string_not_equal(files[i].path, files[k].path);
    assert_true(files[1].text != NULL && files[2].text != NULL);
}

/* Beside the text, unless it says from where on. */
TEST(values_lie_beside_the_text) {
    static const struct {
        const char *text, *name, *path;
    } rows[] = {
        {"a/b/x.tsim", "w.npy", "a/b/w.npy"},
        {"a/b/x.tsim", "c/w.npy", "a/b/c/w.npy"},
        {"x.tsim", "c/w.npy", "c/w.npy"},
        {"a/x.tsim", "/c/w.npy", "/c/w.npy"},
        {"a/x.tsim", "tilesim:/w.npy", "tilesim:/w.npy"},
        {"a/x.tsim", "tilesim:/", "a/tilesim:/"},
        {"a/x.tsim", "tilesim:w.npy", "a/tilesim:w.npy"},
        {"tilesim:/mesh/x.tsim", "w.npy", "tilesim:/mesh/w.npy"},
    };
    const ts_target target = {.machine = "toy", .space_bytes = {[TS_SPACE_HBM] = 64}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        const char *text = ts_text_format(arena, ".tensor x hbm f32[8] in file(\"%s\")\n", rows[i].name);
        ts_source source = {.name = rows[i].text, .text = text, .length = strlen(text)};
        const ts_program *p = ts_program_parse(&err, arena, &source, &target, NULL, 0);
        if (!p) fail_msg("%s", err.message);
        assert_string_equal(p->uses[0].file, rows[i].path);
        assert_string_equal(p->uses[0].file_text, rows[i].name);
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
