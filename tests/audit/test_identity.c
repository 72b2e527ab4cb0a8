/* Reshapes and transposes that move nothing: both layouts put each element in the same place. */

#include "audit/audit_private.h"
#include "tests/support/group.h"
#include "tests/support/shapes.h"

static const struct {
    const char *src, *dst;
    bool moves_nothing;
} pairs[] = {
    {"f32[8,16]{1,0}", "f32[8,16]{1,0}", true},
    {"f32[8,16]{1,0}", "f32[8,16]{0,1}", false},
    {"f32[8,16]{1,0}", "f32[128]{0}", true},
    {"f32[128]{0}", "f32[8,16]{1,0}", true},
    {"f32[128]{0}", "f32[8,16]{0,1}", false},
    {"f32[8,16]{0,1}", "f32[128]{0}", false},
    {"f32[4,6,10]{2,1,0}", "f32[24,10]{1,0}", true},
    {"f32[4,6,10]{2,1,0}", "f32[4,60]{1,0}", true},
    {"f32[4,6,10]{2,1,0}", "f32[8,3,10]{2,1,0}", true},
    {"f32[4,6,10]{2,1,0}", "f32[8,30]{1,0}", true},
    {"f32[4,6,10]{1,0,2}", "f32[24,10]{0,1}", true},
    {"f32[4,6,10]{0,1,2}", "f32[24,10]{0,1}", false},
    {"f32[2,3,4,5]{3,2,1,0}", "f32[6,20]{1,0}", true},
    {"f32[2,3,4,5]{3,2,1,0}", "f32[6,2,10]{2,1,0}", true},
    {"f32[2,3,4,5]{1,0,3,2}", "f32[6,20]{0,1}", true},
    {"f32[2,3,4,5]{2,3,1,0}", "f32[6,20]{1,0}", false},
    /* Dims of one index, anywhere. */
    {"f32[8,16]{1,0}", "f32[1,8,16]{2,1,0}", true},
    {"f32[8,16]{1,0}", "f32[8,16,1]{2,1,0}", true},
    {"f32[8,1,16]{2,1,0}", "f32[8,16,1,1]{3,2,1,0}", true},
    {"f32[8,16,1]{2,1,0}", "f32[1,128]{1,0}", true},
    {"f32[8,16]{0,1}", "f32[8,1,16]{0,2,1}", true},
    /* In tiles: whole ones, and what is padded alike. */
    {"f32[16,256]{1,0:T(8,128)}", "f32[16,256]{1,0:T(8,128)}", true},
    {"f32[16,256]{1,0:T(8,128)}", "f32[16,256]{1,0}", false},
    {"f32[16,128]{1,0:T(8,128)}", "f32[16,128]{1,0}", true},
    {"f32[2,8,256]{2,1,0:T(8,128)}", "f32[16,256]{1,0:T(8,128)}", true},
    {"f32[4,4,256]{2,1,0:T(8,128)}", "f32[16,256]{1,0:T(8,128)}", false},
    {"f32[16,256]{1,0:T(8,128)}", "f32[2,8,256]{2,1,0:T(8,128)}", true},
    {"f32[3,5,100]{2,1,0:T(8,128)}", "f32[3,5,100]{2,1,0:T(8,128)}", true},
    {"f32[24,100]{1,0:T(8,128)}", "f32[3,8,100]{2,1,0:T(8,128)}", true},
    {"f32[24,100]{1,0:T(8,128)}", "f32[3,8,10,10]{3,2,1,0:T(8,128)}", false},
    {"bf16[16,128]{1,0:T(8,128)(2,1)}", "bf16[16,128]{1,0:T(8,128)}", false},
    {"bf16[2,16,128]{2,1,0:T(16,128)(2,1)}", "bf16[32,128]{1,0:T(16,128)(2,1)}", true},
    /* One element, or none. */
    {"f32[1,1]{1,0:T(8,128)}", "f32[1]{0:T(1024)}", true},
    {"f32[1,1]{1,0}", "f32[]", true},
    {"f32[0,4]{1,0}", "f32[4,0]{1,0}", true},
    {"f32[2]{0}", "f32[2,1]{1,0}", true},
    /* Other numbers, types, bytes, memories. */
    {"f32[8,16]{1,0}", "f32[8,15]{1,0}", false},
    {"f32[8,16]{1,0}", "s32[8,16]{1,0}", false},
    {"f32[8,16]{1,0}", "f32[8,16]{1,0:S(1)}", false},
    {"bf16[8,16]{1,0}", "f32[8,16]{1,0}", false},
    {"f32[8,16]{1,0:T(8,128)}", "f32[8,16]{1,0}", false},
    {"f32[6,6]{1,0}", "f32[4,9]{1,0}", true},
    {"f32[2,3]{1,0}", "f32[2,3]{0,1}", false},
    {"f32[8,16]{1,0:T(8,128)}", "f32[8,15]{1,0:T(8,128)}", false}, /* as many bytes */
    {"f32[1,7]{1,0:T(8,128)}", "f32[1,5]{1,0:T(8,128)}", false},
    {"f32[4,128]{1,0:T(8,128)}", "f32[4,128]{1,0}", false}, /* the same places, fewer bytes */
};

TEST(what_lies_in_the_same_places_is_not_moved) {
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const ts_shape *src = parse_shape(arena, pairs[i].src), *dst = parse_shape(arena, pairs[i].dst);
        if (audit_moves_nothing(arena, src, dst) != pairs[i].moves_nothing)
            fail_msg("%s -> %s", pairs[i].src, pairs[i].dst);
        if (audit_moves_nothing(arena, dst, src) != pairs[i].moves_nothing)
            fail_msg("%s <- %s", pairs[i].src, pairs[i].dst);
    }
}

TEST(what_has_no_layout_moves) {
    ts_shape known = *parse_shape(arena, "f32[8,16]{1,0}"), unknown = known;
    unknown.layout = NULL;
    assert_false(audit_moves_nothing(arena, &unknown, &known));
    assert_false(audit_moves_nothing(arena, &known, &unknown));
}

/* A result whose layout nobody states: as it is, or in the usual tiles with dims of one index outside. */
static const struct {
    const char *src, *dst;
    bool can;
} results[] = {
    {"f32[8,16]{1,0}", "f32[8,16]{1,0}", true},
    {"f32[16,256]{1,0:T(8,128)}", "f32[16,1,256]{2,1,0:T(1,128)}", true},
    {"f32[16,256]{1,0:T(8,128)}", "f32[16,1,256]{2,0,1:T(1,128)}", true},
    {"f32[16,256]{1,0:T(8,128)}", "f32[1,16,256]{2,1,0}", true},
    {"f32[16,256]{0,1:T(8,128)}", "f32[16,256,1]{0,1,2}", true},
    {"f32[16,256]{0,1:T(8,128)}", "f32[16,256,1]{1,0,2}", false},
    {"f32[16,256]{1,0:T(8,128)}", "f32[256,16]{1,0}", false},
    {"f32[16,256]{1,0:T(4,128)}", "f32[16,1,256]{2,1,0}", false},
    {"bf16[16,256]{1,0:T(8,128)(2,1)}", "bf16[16,1,256]{2,1,0}", true},
    {"f32[16,256]{1,0:T(8,128)}", "s32[16,1,256]{2,1,0}", false},
    {"f32[16,256]{1,0:T(8,128)}", "f32[16,1,256]{2,1,0:S(1)}", false},
};

TEST(a_free_result_lies_so_that_nothing_moves) {
    ts_audit_request request = {.machine = ts_machine_load(NULL, arena, "tpu-v5e")};
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (audit_can_move_nothing(arena, &request, parse_shape(arena, results[i].src),
                                   parse_shape(arena, results[i].dst)) != results[i].can)
            fail_msg("%s -> %s", results[i].src, results[i].dst);
}

int main(void) { return run_all_tests(begin_group, end_group); }
