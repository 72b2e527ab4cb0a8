/* Frames: by which calls and loops an instruction comes to stand where it does. */
#include <string.h>

#include "base/text.h"
#include "program/program.h"
#include "tests/support/cmocka.h"
#include "tests/support/group.h"

static const ts_target toy = {
    .machine = "toy",
    .core.limits = {.slots = {[TS_SLOT_SCALAR] = 2, [TS_SLOT_MISC] = 1}, .sregs = 8, .vregs = 8, .vmasks = 4},
};

static const ts_program *parse(const char *text) {
    ts_error err = {0};
    ts_source source = {.name = "a.tsim", .text = text, .length = strlen(text)};
    const ts_program *program = ts_program_parse(&err, arena, &source, &toy, NULL, 0);
    if (!program) fail_msg("%s", err.message);
    return program;
}

static const char text[] = ".macro one r\n" /* line 1 */
                           "sadd r, r, 1\n"
                           "sadd r, r, 2\n"
                           ".end\n"
                           ".macro two r\n"
                           "one r\n"
                           "one r\n"
                           ".end\n"
                           "smov s1, 0\n"
                           "two s1\n" /* 10 */
                           "two s1\n"
                           ".for I = 0, 2\n"
                           "one s1\n"
                           ".end\n"
                           ".loop s2 = 0, 64, 8\n"
                           "one s1\n"
                           "nop\n"
                           ".end\n"
                           "halt\n";

static const struct {
    ts_frame_kind kind;
    int parent;
    const char *name;
    int line, first_line, end_line;
} frames[] = {
    {TS_FRAME_MACRO, -1, "two", 10, 6, 8}, {TS_FRAME_MACRO, 0, "one", 6, 2, 4},
    {TS_FRAME_MACRO, 0, "one", 7, 2, 4},   {TS_FRAME_MACRO, -1, "two", 11, 6, 8},
    {TS_FRAME_MACRO, 3, "one", 6, 2, 4},   {TS_FRAME_MACRO, 3, "one", 7, 2, 4},
    {TS_FRAME_MACRO, -1, "one", 13, 2, 4}, {TS_FRAME_LOOP, -1, "", 15, 15, 18},
    {TS_FRAME_MACRO, 7, "one", 16, 2, 4},
};

/* One for each way to get there, however often it is gone. */
TEST(frames_are_ways) {
    const ts_program *p = parse(text);
    assert_int_equal(p->frame_count, sizeof frames / sizeof frames[0]);
    for (int i = 0; i < p->frame_count; i++) {
        const ts_program_frame *f = &p->frames[i];
        assert_int_equal(f->kind, frames[i].kind);
        assert_int_equal(f->parent, frames[i].parent);
        assert_string_equal(f->name, frames[i].name);
        assert_int_equal(f->line, frames[i].line);
        if (f->first_line != frames[i].first_line || f->end_line != frames[i].end_line)
            fail_msg("frame %d: lines %d to %d", i, f->first_line, f->end_line);
    }
}

/* The frame and the line of each instruction, in their order. */
TEST(instructions_are_in_frames) {
    static const ts_program_location places[] = {{-1, 9}, {1, 2}, {1, 3},  {2, 2},  {2, 3},  {4, 2},  {4, 3},
                                                 {5, 2},  {5, 3}, {6, 2},  {6, 3},  {6, 2},  {6, 3},  {7, 15},
                                                 {8, 2},  {8, 3}, {7, 17}, {7, 15}, {7, 15}, {-1, 19}};
    const ts_program *p = parse(text);
    int at = 0;
    for (int i = 0; i < p->code.bundle_count; i++) {
        const ts_bundle *bundle = &p->code.bundles[i];
        for (int k = 0; k < bundle->count; k++, at++) {
            ts_program_location found = ts_program_location_of(p, &bundle->instructions[k]);
            if (found.frame != places[at].frame || found.line != places[at].line)
                fail_msg("instruction %d: frame %d, line %d", at, found.frame, found.line);
            assert_ptr_equal(ts_program_frame_text(p, found.frame), p->source);
        }
    }
    assert_int_equal(at, sizeof places / sizeof places[0]);
}

/* More than there is room for at first: each of 40 lines of a body that is gone through twice. */
TEST(many_frames_are_found_again) {
    enum { CALLS = 40 };
    ts_text many = ts_text_begin(arena);
    ts_text_add(&many, ".macro one\nnop\n.end\n.for I = 0, 2\n");
    for (int i = 0; i < CALLS; i++) ts_text_add(&many, "one\n");
    ts_text_add(&many, ".end\nhalt\n");
    const ts_program *p = parse(many.bytes);
    assert_int_equal(p->frame_count, CALLS);
    for (int i = 0; i < CALLS; i++) assert_int_equal(p->frames[i].line, 5 + i);
}

int main(void) { return run_all_tests(begin_group, end_group); }
