/* Where moves come from: their own metadata, that of what made their operand, or of what reads them. */
#include <stdlib.h>
#include <string.h>

#include "audit/audit_private.h"
#include "tests/support/audited.h"
#include "tests/support/group.h"

enum { AWAITED = 64, KEPT = TS_AUDIT_NAME_BYTES - 1 };

static ts_audit_request request;

static int by_line(const void *a, const void *b) {
    const ts_audit_group *x = a, *y = b;
    return (x->first.line > y->first.line) - (x->first.line < y->first.line);
}

/* Of each move, in the order of the text: its name, and line number and kind of its location. */
static void assert_sources(const char *text, const char *want) {
    ts_audit_result result;
    ts_audit *audit = audited(arena, &request, (audited_text){text, strlen(text), 0}, &result);
    ts_text found = ts_text_begin(arena);
    ts_audit_group *groups = TS_NEW_ARRAY(arena, ts_audit_group, result.group_count + 1);
    for (int i = 0; i < result.group_count; i++) groups[i] = result.groups[i];
    qsort(groups, (size_t)result.group_count, sizeof *groups, by_line);
    for (int i = 0; i < result.group_count; i++) {
        static const char *const placed[] = {"own", "maker", "reader"};
        const ts_audit_move *m = &groups[i].first;
        ts_text_add(&found, "%s%s", i > 0 ? ", " : "", m->name);
        if (m->source.location >= 0)
            ts_text_add(&found, " %s %d", placed[m->source.of],
                        (int)ts_hlo_locations_get(result.locations, m->source.location).line);
    }
    assert_string_equal(found.bytes, want);
    ts_audit_free(audit);
}

#define AT(line)   "metadata={op_name=\"x\" source_file=\"a.py\" source_line=" #line "}"
#define ROWS(n)    "f32[" #n ",256]{1,0:T(8,128)}"
#define COLUMNS(n) "f32[" #n ",256]{0,1:T(8,128)}"

TEST(by_itself_its_operand_or_its_readers) {
    assert_sources("HloModule m\nENTRY %e {\n"
                   "  %p = f32[64,256]{1,0:T(8,128)} parameter(0)\n"
                   "  %q = f32[72,256]{1,0:T(8,128)} parameter(1), " AT(
                       7) "\n"
                          "  %own = f32[64,256]{0,1:T(8,128)} copy(f32[64,256]{1,0:T(8,128)} %p), " AT(
                              8) "\n"
                                 "  %made = f32[72,256]{0,1:T(8,128)} copy(f32[72,256]{1,0:T(8,128)} %q)\n"
                                 "  %read = f32[80,256]{0,1:T(8,128)} copy(f32[80,256]{1,0:T(8,128)} %z)\n"
                                 "  %through = bf16[64,256]{0,1:T(8,128)(2,1)} copy(p)\n"
                                 "  %none = f32[64,256]{1,0:T(4,128)} copy(p)\n"
                                 "  %neg = f32[80,256]{0,1:T(8,128)} negate(read), " AT(
                                     9) "\n"
                                        "  %t = (bf16[64,256]{0,1:T(8,128)(2,1)}) tuple(%through)\n"
                                        "  %late = f32[80,256]{0,1:T(8,128)} add(f32[80,256]{0,1:T(8,128)} "
                                        "%read, %t), " AT(10) "\n"
                                                              "}\n",
                   "own own 8, made maker 7, read reader 9, through reader 10, none");
}

/* What is read in another computation has the name by chance. */
TEST(computations_do_not_read_each_other) {
    assert_sources(
        "HloModule m\n%b {\n  %p = " ROWS(64) " parameter(0)\n  %c = " COLUMNS(
            64) " copy(%p)\n"
                "  ROOT %r = " ROWS(64) " copy(" COLUMNS(
                    64) " %c)\n}\n"
                        "ENTRY %e {\n  %x = " ROWS(64) " parameter(0)\n  %d = " ROWS(64) " negate(%c), " AT(
                            5) "\n"
                               "  ROOT %y = " ROWS(64) " call(%x), to_apply=%b\n}\n",
        "c, r");
}

/* Of those that wait the 65th pushes out the first. */
TEST(so_many_wait_for_a_reader) {
    for (int extra = 0; extra < 3; extra++) {
        ts_text text = ts_text_begin(arena), want = ts_text_begin(arena);
        ts_text_add(&text, "HloModule m\nENTRY %%e {\n");
        for (int i = 0; i < AWAITED + extra; i++)
            ts_text_add(&text,
                        "  %%c.%d = f32[%d,256]{0,1:T(8,128)} copy(f32[%d,256]{1,0:T(8,128)} %%p.%d)\n", i,
                        8 * (i + 1), 8 * (i + 1), i);
        for (int i = AWAITED + extra - 1; i >= 0; i--)
            ts_text_add(&text,
                        "  %%n.%d = f32[%d,256]{0,1:T(8,128)} negate(%%c.%d), metadata={source_file=\"a.py\" "
                        "source_line=%d}\n",
                        i, 8 * (i + 1), i, 100 + i);
        ts_text_add(&text, "}\n");
        for (int i = 0; i < AWAITED + extra; i++) {
            ts_text_add(&want, "%sc.%d", i > 0 ? ", " : "", i);
            if (i >= extra) ts_text_add(&want, " reader %d", 100 + i);
        }
        assert_sources(text.bytes, want.bytes);
    }
}

/* ---- Names ---- */

static const char *op_of(const char *name) {
    ts_text text = ts_text_begin(arena);
    ts_audit_result result;
    ts_text_add(&text,
                "HloModule m\nENTRY %%e {\n  %%c = " COLUMNS(64) " copy(" ROWS(
                    64) " %%p), metadata={op_name=\"%s\"}\n}\n",
                name);
    ts_audit *audit = audited(arena, &request, (audited_text){text.bytes, text.length, 0}, &result);
    assert_int_equal(result.group_count, 1);
    char *op =
        ts_arena_copy_text(arena, result.groups[0].first.source.op, strlen(result.groups[0].first.source.op));
    ts_audit_free(audit);
    return op;
}

TEST(the_end_of_a_name_is_kept) {
    char name[2 * KEPT];
    assert_string_equal(op_of("jit(f)/params[\\'w\\']"), "jit(f)/params['w']");
    for (int length = KEPT - 1; length <= KEPT + 2; length++) {
        for (int i = 0; i < length; i++) name[i] = (char)('a' + i % 26);
        name[length] = '\0';
        ts_text want = ts_text_begin(arena);
        ts_text_add(&want, "%s%s", length > KEPT ? ".." : "",
                    name + (length > KEPT ? length - (KEPT - 2) : 0));
        assert_string_equal(op_of(name), want.bytes);
    }
}

/* Two bytes a character: of one that would be cut the rest goes too. */
TEST(characters_are_not_cut) {
    for (int odd = 0; odd < 2; odd++) {
        ts_text name = ts_text_begin(arena), want = ts_text_begin(arena);
        for (int i = 0; i < KEPT; i++) ts_text_add(&name, "\xc3\xa9");
        ts_text_add(&want, "..");
        for (int i = 0; i < (KEPT - 2 - odd) / 2; i++) ts_text_add(&want, "\xc3\xa9");
        ts_text_add(&name, "%s", odd ? "x" : "");
        ts_text_add(&want, "%s", odd ? "x" : "");
        assert_string_equal(op_of(name.bytes), want.bytes);
    }
}

static int set_up(void **state) {
    begin_group(state);
    request.machine = ts_machine_load(NULL, arena, "tpu-v5e");
    return request.machine ? 0 : -1;
}

int main(void) { return run_all_tests(set_up, end_group); }
