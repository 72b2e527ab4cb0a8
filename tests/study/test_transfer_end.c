/* Ends of transfers as text: which slice of which shape, how it is printed, what is refused; and what fits what. */
#include <string.h>

#include "study/transfer.h"
#include "tests/support/group.h"

static const struct {
    const char *text, *printed; /* printed NULL: the same */
    int64_t begin[3], sizes[3]; /* no sizes: the whole */
} ends[] = {
    {"f32[8,16]{1,0:T(8,128)}", NULL, {0}, {0}},
    {"f32[8,16]{1,0}[0:4]", "f32[8,16]{1,0}[0:4,:]", {0, 0}, {4, 16}},
    {"f32[8,16]{1,0}[2:+4, 3]", "f32[8,16]{1,0}[2:6,3]", {2, 3}, {4, 1}},
    {"f32[8,16]{1,0} [:, 12:]", "f32[8,16]{1,0}[:,12:16]", {0, 12}, {8, 4}},
    {"f32[8,16]{1,0}[:3,:]  ", "f32[8,16]{1,0}[0:3,:]", {0, 0}, {3, 16}},
    {"f32[8,16] [7]", "f32[8,16]{1,0}[7,:]", {7, 0}, {1, 16}},
    {"f32[8,16]", "f32[8,16]{1,0}", {0}, {0}}, /* the type's own brackets */
    {"f32[4] S[4:1@m]", NULL, {0}, {0}},       /* Axe's */
    {"f32[4] S[4:1@m][1:3]", "f32[4] S[4:1][1:3]", {1}, {2}},
    {"f32[4,8] lambda a,b: [b, a]", NULL, {0}, {0}}, /* an index map's */
    {"f32[4,8] lambda a,b: [b, a][1, 2:4]", NULL, {1, 2}, {1, 2}},
    {"f32[0,3]{1,0}[:]", "f32[0,3]{1,0}[:,:]", {0, 0}, {0, 3}},
};

TEST(ends_are_read) {
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const ts_source source = {"source", ends[i].text, strlen(ends[i].text)};
        ts_error err = {0};
        ts_transfer_end end;
        if (!ts_transfer_end_parse(&err, arena, &source, &end)) fail_msg("%s: %s", ends[i].text, err.message);
        assert_true(end.at == TS_TRANSFER_ANYWHERE && end.text->text == source.text);
        const char *printed = ts_transfer_end_text(arena, &end);
        bool whole = ends[i].sizes[0] + ends[i].sizes[1] == 0;
        assert_true(whole == (end.sizes == NULL) && whole == (end.begin == NULL));
        for (int k = 0; !whole && k < end.shape->layout->rank; k++)
            if (end.begin[k] != ends[i].begin[k] || end.sizes[k] != ends[i].sizes[k])
                fail_msg("%s: dim %d from %d, %d", ends[i].text, k, (int)end.begin[k], (int)end.sizes[k]);
        const ts_source again = {"again", printed, strlen(printed)};
        assert_true(ts_transfer_end_parse(&err, arena, &again, &end));
        assert_string_equal(ts_transfer_end_text(arena, &end), printed);
        if (ends[i].printed) assert_string_equal(printed, ends[i].printed);
    }
}

#define S "f32[8,16]{1,0}"
static const struct {
    const char *text, *message;
    int column;
} wrong[] = {
    {S "[8]", "index 8 is outside dim 0, which has 8", 16},
    {S "[0,16]", "index 16 is outside dim 1, which has 16", 18},
    {S "[-1]", "index -1 is outside dim 0, which has 8", 16},
    {S "[-9223372036854775807:]", "the slice -9223372036854775807:8 is outside dim 0, which has 8", 16},
    {S "[4:9]", "the slice 4:9 is outside dim 0, which has 8", 16},
    {S "[4:+5]", "the slice 4:9 is outside dim 0, which has 8", 16},
    {S "[9:]", "the slice 9:8 is outside dim 0, which has 8", 16},
    {S "[4:4]", "the slice holds nothing", 16},
    {S "[5:4]", "the slice holds nothing", 16},
    {S "[:+0]", "the slice holds nothing", 16},
    {S "[9223372036854775807]",
     "the slice 9223372036854775807:9223372036854775807 is outside dim 0, which has 8", 16},
    {S "[1:+9223372036854775807]", "the slice 1:9223372036854775807 is outside dim 0, which has 8", 16},
    {S "[0,0,0]", "the slice has more ranges than the 2 dims of the shape", 20},
    {"f32[8]{0}[0,0]", "the slice has more ranges than the 1 dim of the shape", 13},
    {S "[x]", "found 'x', expected an index or a range", 16},
    {S "[1:x]", "found 'x', expected the end of a range", 18},
    {S "[1:2", "found the end, expected ',' or ']'", 19},
};

TEST(wrong_slices_are_refused) {
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const ts_source source = {"source", wrong[i].text, strlen(wrong[i].text)};
        ts_error err = {0};
        ts_transfer_end end;
        assert_false(ts_transfer_end_parse(&err, arena, &source, &end));
        assert_string_equal(err.message, wrong[i].message);
        assert_int_equal(err.column, wrong[i].column);
    }
}

TEST(pairs_are_read) {
    ts_error err = {0};
    ts_transfer_end pair[2];
    assert_true(ts_transfer_pair_parse(&err, arena, "copy 3", "f32[8] ->  bf16[8]{0}[2:4]", pair));
    assert_int_equal(pair[0].shape->dtype, TS_DTYPE_F32);
    assert_true(pair[1].shape->dtype == TS_DTYPE_BF16 && pair[1].begin[0] == 2);
    ts_source texts[2];
    assert_true(ts_transfer_pair_split(&err, arena, "it", "a b  ->  c d", texts));
    assert_string_equal(texts[0].text, "a b");
    assert_string_equal(texts[1].text, "c d");
    assert_int_equal(texts[0].length + texts[1].length, 6);
    assert_true(ts_transfer_pair_split(&err, arena, "it", " ->", texts));
    assert_int_equal(texts[0].length + texts[1].length, 0);
    assert_false(ts_transfer_pair_parse(&err, arena, "copy 3", "f32[8]", pair));
    assert_error(&err, TS_ERROR_USAGE, "error: copy 3 is 'f32[8]', expected 'SRC -> DST'\n");
    err = (ts_error){0};
    assert_false(ts_transfer_pair_parse(&err, arena, "copy 3", "f32[8]{0}[9] -> f32[8]", pair));
    assert_string_equal(err.name, "source of copy 3");
    err = (ts_error){0};
    assert_false(ts_transfer_pair_parse(&err, arena, "copy 3", "f32[8] -> f32[8]{0}[9]", pair));
    assert_string_equal(err.name, "destination of copy 3");
}

/* An error without a location gets that of the end's text, once. */
TEST(errors_are_placed) {
    const ts_source source = {"source", S, strlen(S)};
    ts_error err = {0};
    ts_transfer_end end;
    assert_true(ts_transfer_end_parse(&err, arena, &source, &end));
    ts_error_set(&err, TS_ERROR_UNMODELLED, "why");
    assert_false(ts_transfer_end_error(&err, &end, 3));
    assert_error(&err, TS_ERROR_UNMODELLED, "source:1:4: not modelled: why\n" S "\n   ^\n");
    assert_false(ts_transfer_end_error(&err, &end, 5));
    assert_int_equal(err.column, 4);
    assert_false(ts_transfer_end_error(NULL, &end, 5));
}

/* Where both ends lie, and what does not fit. */
static const struct {
    const char *src, *dst, *error; /* NULL: there is a price */
    int64_t dst_at;
} transfers[] = {
    {"f32[8,128]{1,0:T(8,128)}", "f32[8,128]{1,0:T(8,128)S(1)}", NULL, 0},
    {"f32[8,128]{1,0:T(8,128)}", "f32[8,128]{1,0:T(8,128)}", NULL, 4096}, /* behind the source */
    {"f32[8,200]{1,0:T(8,128)}", "f32[8,200]{1,0:T(8,128)}", NULL, 8192},
    {"f32[8,128]{1,0}[3]", "f32[1,128]{1,0}", NULL, 4096},
    {"f32[8,128]{1,0}[3]", "f32[128]{0:S(1)}[:]", NULL, 0}, /* dims of 1 do not count between slices */
    {"f32[8,128]{1,0}", "f32[8,129]{1,0}", "the destination takes [8,129] and the source gives [8,128]", 0},
    {"f32[8,128]{1,0}", "f32[1024]{0}",
     "the destination has 1 dimension, [1024], and the source has 2, [8,128]", 0},
    {"f32[8,128]{1,0}[0:2]", "f32[8,128]{1,0}[0:3]",
     "the destination takes [3,128] and the source gives [2,128]", 0},
};

TEST(ends_fit_each_other) {
    const ts_machine *machine = ts_machine_load(NULL, arena, "tpu-v5e");
    assert_non_null(machine);
    for (size_t i = 0; i < sizeof transfers / sizeof transfers[0]; i++) {
        ts_error err = {0};
        ts_transfer_request request = {.machine = machine, .prices = ts_prices_new(arena)};
        ts_transfer_study study;
        const ts_source src = {"source", transfers[i].src, strlen(transfers[i].src)},
                        dst = {"destination", transfers[i].dst, strlen(transfers[i].dst)};
        assert_true(ts_transfer_end_parse(&err, arena, &src, &request.src));
        assert_true(ts_transfer_end_parse(&err, arena, &dst, &request.dst));
        bool good = ts_transfer_price(&err, arena, &request, &study);
        if (good != !transfers[i].error) fail_msg("%s to %s: %s", src.text, dst.text, err.message);
        if (!good) assert_string_equal(err.message, transfers[i].error);
        if (!good) continue;
        assert_true(study.src.at == 0 && study.dst.at == transfers[i].dst_at && !study.dst_placed);
        assert_true(study.cost.cycles > 0);
        request.dst.at = 65536;
        assert_true(ts_transfer_price(&err, arena, &request, &study));
        assert_true(study.dst.at == 65536 && study.dst_placed);
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
