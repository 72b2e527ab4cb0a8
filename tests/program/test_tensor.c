/* Tensors of programs: where they lie, what they hold at first, and those that do not fit. */
#include <string.h>

#include "program/program.h"
#include "tests/support/cmocka.h"
#include "tests/support/group.h"

static const ts_target toy = {
    .machine = "toy",
    .core.limits = {.slots = {[TS_SLOT_SCALAR] = 1, [TS_SLOT_MISC] = 1}, .sregs = 8, .vregs = 8, .vmasks = 4},
    .space_bytes = {[TS_SPACE_HBM] = 1 << 20, [TS_SPACE_VMEM] = 1 << 14, [TS_SPACE_SMEM] = 64},
};

static const ts_program *parse(ts_error *err, const char *text) {
    ts_source source = {.name = "a.tsim", .text = text, .length = strlen(text)};
    return ts_program_parse(err, arena, &source, &toy, NULL, 0);
}

/* Words of SMEM follow each other; elsewhere each begins at a vreg's worth, of 4096 bytes. */
TEST(tensors_follow_each_other) {
    static const struct {
        const char *name;
        int64_t base, bytes;
    } rows[] = {{"a", 0, 4},    {"b", 4, 6},       {"c", 12, 52}, {"d", 0, 512},
                {"e", 4096, 4}, {"f", 8192, 8192}, {"g", 0, 1},   {"h", 4096, (1 << 20) - 4096}};
    const ts_program *p =
        parse(NULL, ".tensor a smem s32[1]\n.tensor b smem s16[3]\n.tensor c smem s32[13]\n"
                    ".tensor d vmem f32[128]\n.tensor e vmem f32[1]\n.tensor f vmem f32[2048]\n"
                    ".tensor g hbm u8[1]\n.tensor h hbm u8[1044480]\nhalt\n");
    assert_non_null(p);
    assert_int_equal(p->code.tensor_count, sizeof rows / sizeof rows[0]);
    for (int i = 0; i < p->code.tensor_count; i++) {
        const ts_tensor *t = &p->code.tensors[i];
        assert_string_equal(t->name, rows[i].name);
        if (t->base_bytes != rows[i].base || t->bytes != rows[i].bytes)
            fail_msg("%s: %d bytes at %d", t->name, (int)t->bytes, (int)t->base_bytes);
    }
}

TEST(each_is_used_as_it_says) {
    static const struct {
        const char *text;
        ts_tensor_role role;
        ts_fill_kind fill;
        int64_t seed;
        double low, high;
    } rows[] = {
        {"", TS_ROLE_SCRATCH, TS_FILL_FILE, 0, 0, 0},
        {"scratch", TS_ROLE_SCRATCH, TS_FILL_FILE, 0, 0, 0},
        {"out", TS_ROLE_OUT, TS_FILL_FILE, 0, 0, 0},
        {"in", TS_ROLE_IN, TS_FILL_FILE, 0, 0, 0},
        {"inout zeros", TS_ROLE_INOUT, TS_FILL_ZEROS, 0, 0, 0},
        {"in iota", TS_ROLE_IN, TS_FILL_IOTA, 0, 0, 0},
        {"in random", TS_ROLE_IN, TS_FILL_RANDOM, 1, -1, 1},
        {"in random(seed=0)", TS_ROLE_IN, TS_FILL_RANDOM, 0, -1, 1},
        {"in random(hi=0.5, seed=9223372036854775807, lo=-2)", TS_ROLE_IN, TS_FILL_RANDOM, INT64_MAX, -2,
         0.5},
        {"in random(lo=3, hi=3)", TS_ROLE_IN, TS_FILL_RANDOM, 1, 3, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        const ts_program *p =
            parse(&err, ts_text_format(arena, ".tensor x hbm f32[8] %s\nhalt\n", rows[i].text));
        if (!p) fail_msg("%s: %s", rows[i].text, err.message);
        const ts_tensor_use *use = &p->uses[0];
        assert_int_equal(use->role, rows[i].role);
        assert_int_equal(use->fill, rows[i].fill);
        assert_int_equal(use->seed, rows[i].seed);
        assert_true(use->low == rows[i].low && use->high == rows[i].high);
        assert_int_equal(use->line, 1);
    }
}

/* Words that end a shape elsewhere are names within it. */
TEST(shapes_have_brackets) {
    static const char *const shapes[] = {"f32[iota,2]", "f32[8,2]{1,0:T(iota,2)}",
                                         "f32[8,2] (iota,2):(1,iota)"};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        ts_error err = {0};
        const ts_program *p = parse(
            &err, ts_text_format(arena, ".param iota = 8\n.tensor x hbm %s in zeros\nhalt\n", shapes[i]));
        if (!p) fail_msg("%s: %s", shapes[i], err.message);
        assert_int_equal(p->uses[0].fill, TS_FILL_ZEROS);
        assert_int_equal(p->code.tensors[0].shape->layout->dims[0], 8);
    }
}

TEST(values_need_an_input) {
    static const char *const fills[] = {"file", "zeros", "iota", "random", "out iota", "scratch file"};
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++) {
        ts_error err = {0};
        assert_null(parse(&err, ts_text_format(arena, ".tensor x hbm f32[8] %s\n", fills[i])));
        assert_string_equal(err.message, "only a tensor that is 'in' or 'inout' begins with values");
    }
}

/* As many bytes as there are in all are not larger than that; what is behind others may be a byte too many. */
TEST(what_does_not_fit) {
    static const struct {
        const char *before, *tensor, *error;
    } rows[] = {
        {"", "vmem u8[16384]", NULL},
        {"", "vmem u8[16385]",
         "'x' is larger than vmem: 16,385 bytes, the vmem of toy has 16,384 (1 too many)"},
        {".tensor y vmem u8[4096]", "vmem u8[12288]", NULL},
        {".tensor y vmem u8[4097]", "vmem u8[8193]",
         "'x' does not fit: 8,193 bytes behind the 8,192 of the tensors before it; the vmem of toy has "
         "16,384 "
         "(1 too many)"},
        {".tensor y vmem u8[4096]", "vmem u8[16384]",
         "'x' does not fit: 16,384 bytes behind the 4,096 of the tensors before it; the vmem of toy has "
         "16,384 "
         "(4,096 too many)"},
        {".tensor y vmem u8[16384]", "vmem u8[1]",
         "'x' does not fit: 1 bytes behind the 16,384 of the tensors before it; the vmem of toy has 16,384 "
         "(1 too many)"},
        {".tensor y smem u8[62]", "smem u8[1]",
         "'x' does not fit: 1 bytes behind the 64 of the tensors before it; the smem of toy has 64 (1 too "
         "many)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        const ts_program *p =
            parse(&err, ts_text_format(arena, "%s\n.tensor x %s\nhalt\n", rows[i].before, rows[i].tensor));
        assert_int_equal(p != NULL, rows[i].error == NULL);
        if (rows[i].error) assert_string_equal(err.message, rows[i].error);
        if (rows[i].error) assert_int_equal(err.kind, TS_ERROR_CAPACITY);
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
