/* Shapes of an audit: sizes and what pads them, the rule's tiles, differences, better orders and folds. */
#include <string.h>

#include "audit/audit_private.h"
#include "layout/notation/xla.h"
#include "tests/support/audited.h"
#include "tests/support/group.h"

enum {
    TYPE = TS_AUDIT_TYPE,
    ORDER = TS_AUDIT_ORDER,
    TILE = TS_AUDIT_TILE,
    SPACE = TS_AUDIT_SPACE,
    SHAPE = TS_AUDIT_SHAPE,
    PADDING = TS_AUDIT_PADDING
};

static const ts_shape *parse(const char *text) {
    ts_error err = {0};
    const ts_shape *shape = audit_parse(&err, arena, text, strlen(text));
    if (!shape) fail_msg("%s: %s", text, err.message);
    return shape;
}

TEST(one_shape_is_read) {
    ts_error err = {0};
    assert_null(audit_parse(&err, arena, "f32[8] f32[8]", 13));
    assert_error(&err, TS_ERROR_INPUT,
                 "shape:1:8: error: found 'f32', expected the end of the shape\nf32[8] f32[8]\n       ^\n");
    err = (ts_error){0};
    if (!audit_parse(&err, arena, "f32[8] f32[8]", 6)) fail_msg("%s", err.message);
}

/* ---- Sizes ---- */

static const struct {
    const char *text;
    ts_audit_shape size; /* worst: dim, extent, padded, location */
} sizes[] = {
    {"f32[3,100]{1,0:T(8,128)}",
     {.logical_bytes = 1200, .padded_bytes = 4096, .worst_extent = 3, .worst_padded = 8, .worst_rank = 1}},
    {"f32[8,100]{1,0:T(8,128)}",
     {.logical_bytes = 3200, .padded_bytes = 4096, .worst_dim = 1, .worst_extent = 100, .worst_padded = 128}},
    {"f32[100,8]{0,1:T(8,128)}",
     {.logical_bytes = 3200, .padded_bytes = 4096, .worst_extent = 100, .worst_padded = 128}},
    {"f32[4,64]{1,0:T(8,128)}", /* of equals the minor one */
     {.logical_bytes = 1024, .padded_bytes = 4096, .worst_dim = 1, .worst_extent = 64, .worst_padded = 128}},
    {"f32[5,8,128]{2,1,0:T(8,128)}", {.logical_bytes = 20480, .padded_bytes = 20480, .worst_dim = -1}},
    {"f32[3,100]{1,0}", {.logical_bytes = 1200, .padded_bytes = 1200, .worst_dim = -1}},
    {"f32[3]{0:T(8,128)}", /* a tile of more dims */
     {.logical_bytes = 12, .padded_bytes = 4096, .worst_extent = 3, .worst_padded = 128}},
    {"f32[0,5]{1,0:T(8,128)}", {.worst_dim = 1, .worst_extent = 5, .worst_padded = 128}},
    {"f32[2,3,100]{2,1,0:T(8,*,128)}", /* dims 1 and 2 are one */
     {.logical_bytes = 2400, .padded_bytes = 12288, .worst_extent = 2, .worst_padded = 8, .worst_rank = 2}},
    {"f32[2,3,100]{2,1,0:T(*,8,128)}", /* dims 0 and 1 are */
     {.logical_bytes = 2400, .padded_bytes = 4096, .worst_dim = 2, .worst_extent = 100, .worst_padded = 128}},
    {"pred[8,128]{1,0:T(8,128)E(32)}",
     {.logical_bytes = 1024, .padded_bytes = 4096, .widened_bytes = 3072, .worst_dim = -1}},
    {"f32[8,128]{1,0:T(8,128)S(1)}",
     {.memory_space = 1, .logical_bytes = 4096, .padded_bytes = 4096, .worst_dim = -1}},
};

TEST(sizes_and_what_pads) {
    ts_audit_shape got;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const ts_audit_shape want = sizes[i].size;
        got = (ts_audit_shape){0};
        assert_true(audit_shape_size(arena, parse(sizes[i].text), &got));
        if (memcmp(&got, &want, sizeof got) != 0) {
            fail_msg("%s: %d bytes of %d, %d wider; dim %d at %d, %d to %d", sizes[i].text,
                     (int)got.logical_bytes, (int)got.padded_bytes, (int)got.widened_bytes, got.worst_dim,
                     got.worst_rank, (int)got.worst_extent, (int)got.worst_padded);
        }
    }
    assert_false(audit_shape_size(arena, parse("f32[?,5]"), &got));
}

/* ---- Tiles ---- */

static const struct {
    const char *text, *before, *chosen; /* before orders are chosen, and once they are; NULL: as it is */
} tiled[] = {
    {"f32[1000,3]", "f32[1000,3]{0,1:T(4,128)}", "f32[1000,3]{0,1:T(4,128)}"},
    {"f32[1000,3]{1,0}", "f32[1000,3]{0,1:T(4,128)}", "f32[1000,3]{1,0:T(8,128)}"},
    {"f32[3,1000]{0,1}", "f32[3,1000]{0,1:T(8,128)}", "f32[3,1000]{0,1:T(8,128)}"},
    {"f32[9,9,3]{2,0,1}", "f32[9,9,3]{2,0,1:T(8,128)}", "f32[9,9,3]{2,0,1:T(8,128)}"},
    {"f32[1000,3]{1,0:T(8,128)}", NULL, NULL},
    {"f32[?,3]", NULL, NULL},
};

TEST(the_rule_s_tiles) {
    for (size_t i = 0; i < sizeof tiled / sizeof tiled[0]; i++) {
        for (int chosen = 0; chosen < 2; chosen++) {
            const char *want = chosen ? tiled[i].chosen : tiled[i].before;
            const ts_shape *got =
                audit_shape_tiled(arena, v6e_audit.machine, parse(tiled[i].text), chosen != 0);
            ts_text text = ts_text_begin(arena);
            if (got) ts_shape_print(got, &text);
            assert_string_equal(got ? text.bytes : "as it is", want ? want : "as it is");
        }
    }
}

/* ---- Differences ---- */

static const struct {
    const char *src, *dst;
    unsigned changes;
    const int8_t *permutation;
} differences[] = {
    {"f32[8,128]{1,0:T(8,128)}", "f32[8,128]{1,0:T(8,128)}", 0, NULL},
    {"f32[8,64]{1,0:T(8,128)}", "bf16[8,64]{1,0:T(8,128)}", TYPE, NULL}, /* padded alike */
    {"pred[8,128]{1,0:T(8,128)}", "pred[8,128]{1,0:T(8,128)E(32)}", TYPE | PADDING, NULL},
    {"f32[8,128]{1,0:T(8,128)}", "f32[8,128]{1,0:T(8,128)S(1)}", SPACE, NULL},
    {"f32[8,1024]{1,0:T(8,128)}", "f32[8,1024]{0,1:T(8,128)}", ORDER | PADDING, NULL},
    {"f32[8,1024]{0,1:T(8,128)}", "f32[8,1024]{1,0:T(8,128)}", ORDER, NULL},
    {"f32[1,128]{1,0}", "f32[1,128]{0,1}", 0, NULL},
    {"f32[8,1,128]{2,1,0:T(8,128)}", "f32[8,1,128]{2,0,1:T(8,128)}", ORDER, NULL}, /* the 1 is tiled */
    {"f32[8,1,128]{2,1,0:T(1,128)}", "f32[8,1,128]{2,0,1:T(1,128)}", 0, NULL},     /* by 1 */
    {"f32[8,1,128]{2,1,0:T(8,128)}", "f32[8,1,128]{2,0,1:T(1,128)}", TILE, NULL},  /* as far as both do */
    {"f32[8,128]{1,0}", "f32[8,128]{1,0:T(8,128)}", TILE, NULL},
    {"f32[8,128]{1,0:T(8,128)}", "f32[8,128]{0,1:T(1,128)}", ORDER | TILE | PADDING, NULL},
    {"f32[8,128]{1,0:T(8,128)}", "f32[8,128]{1,0:T(4,128)}", TILE, NULL},
    {"f32[8,128]{1,0:T(8,128)}", "f32[8,128]{1,0:T(8,128)(2,1)}", TILE, NULL},
    {"f32[8,128]{1,0:T(8,128)(2,1)}", "f32[8,128]{1,0:T(8,128)(4,1)}", TILE, NULL},
    {"f32[8,128]{1,0:T(8,128)}", "f32[8,128]{1,0:T(128)}", TILE, NULL},
    {"f32[801,128]{1,0}", "f32[801,128]{1,0:T(8,128)}", TILE | PADDING, NULL},
    {"f32[8001,128]{1,0}", "f32[8001,128]{1,0:T(8,128)}", TILE, NULL}, /* below 0.1 % */
    {"f32[8,128]{1,0}", "f32[16,64]{1,0}", SHAPE, NULL},
    {"f32[8,128]{1,0}", "f32[8,128,1]{2,1,0}", SHAPE, NULL},
    {"f32[8,128]{1,0}", "f32[128,8]{0,1}", 0, (const int8_t[]){1, 0}},
    {"f32[8,128]{1,0}", "f32[128,8]{1,0}", ORDER, (const int8_t[]){1, 0}},
    {"f32[2,3,4]{2,1,0}", "f32[3,4,2]{1,0,2}", 0, (const int8_t[]){1, 2, 0}},
    {"f32[2,3,4]{2,1,0}", "f32[3,4,2]{2,1,0}", ORDER, (const int8_t[]){1, 2, 0}},
    {"f32[2,3,4]{2,1,0}", "f32[4,2,3]{2,1,0}", SHAPE, (const int8_t[]){1, 2, 0}},
    {"f32[?,4]", "bf16[?,4]", TYPE, NULL},
};

TEST(differences_are_told) {
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++) {
        unsigned got =
            audit_changes(parse(differences[i].src), parse(differences[i].dst), differences[i].permutation);
        if (got != differences[i].changes)
            fail_msg("%s to %s: %x", differences[i].src, differences[i].dst, got);
    }
}

/* ---- Better ---- */

static const struct {
    const char *text, *order, *fold; /* NULL: none is better */
    int64_t order_bytes, fold_bytes;
} better[] = {
    {"f32[1000,3]{1,0:T(8,128)}", "f32[1000,3]{0,1:T(4,128)}", "f32[3000]{0:T(1024)}", 16384, 12288},
    {"f32[8,128]{1,0:T(8,128)}", NULL, NULL, 4096, 4096},
    {"f32[5,3,700]{2,1,0:T(8,128)}", "f32[5,3,700]{2,1,0:T(4,128)}", "f32[15,700]{1,0:T(8,128)}", 61440,
     49152},
    {"f32[7,16,3]{2,1,0:T(8,128)}", "f32[7,16,3]{1,0,2:T(8,128)}", "f32[7,48]{1,0:T(8,128)}", 12288, 4096},
    /* {2,0,3,1} is as good, but further from the order now. */
    {"f32[8,100,200,5]{3,2,1,0:T(8,128)}", "f32[8,100,200,5]{1,2,3,0:T(8,128)}",
     "f32[8,100,1000]{2,1,0:T(8,128)}", 4096000, 3407872},
    {"f32[1000,3]{1,0:T(8,128)S(1)}", "f32[1000,3]{0,1:T(4,128)S(1)}", "f32[3000]{0:T(1024)S(1)}", 16384,
     12288},
    {"f32[100]{0:T(128)}", NULL, NULL, 512, 512},
    {"f32[]{:T(128)}", NULL, NULL, 0, 0},
    {"f32[?,3]", NULL, NULL, 0, 0},
};

TEST(better_ones_are_found) {
    for (size_t i = 0; i < sizeof better / sizeof better[0]; i++) {
        audit_better order = {0}, fold = {0};
        audit_find_better(arena, &v6e_audit, better[i].text, &order, &fold);
        assert_string_equal(order.text ? order.text : "none", better[i].order ? better[i].order : "none");
        assert_string_equal(fold.text ? fold.text : "none", better[i].fold ? better[i].fold : "none");
        assert_int_equal(order.bytes, better[i].order_bytes);
        assert_int_equal(fold.bytes, better[i].fold_bytes);
        assert_true(!order.folds && fold.folds == (better[i].fold_bytes > 0));
    }
}

int main(void) { return run_all_tests(begin_audits, end_group); }
