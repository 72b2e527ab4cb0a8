/* Layouts that a header gives arguments and results before a compiler has laid out the rest: theirs are taken, of the rest they
 * say nothing. */
#include "audit/audit_private.h"

#include <string.h>

#include "tests/support/audited.h"
#include "tests/support/group.h"

#define HEADER                                                                                               \
    "entry_computation_layout={(f32[4,2]{1,0:T(4,128)}, "                                                    \
    "/*index=1*/f32[512,1024]{0,1:T(8,128)})->f32[512,1024]{1,0:T(8,128)}}\n\n"
#define HEADER_LINES                                                                                         \
    "entry_computation_layout={(\n f32[4,2]{1,0:T(4,128)},\n f32[512,1024]{0,1:T(8,128)}\n )\n"              \
    " ->f32[512,1024]{1,0:T(8,128)}\n}"
#define BODY                                                                                                 \
    "ENTRY main {\n  a = f32[4,2]{1,0} parameter(0)\n  b = f32[512,1024]{1,0} parameter(1)\n"                \
    "  c = f32[5,7]{1,0} custom-call(a)\n  n = f32[512,1024]{1,0} negate(b)\n  ROOT e = f32[512,1024]{1,0} " \
    "tanh(n)\n}\n"

TEST(arguments_are_as_the_header_says) {
    static const struct {
        const char *text;
        int64_t padded_bytes, copies; /* copies -1: not foretold */
    } rows[] = {
        /* 4 by 128, three times 512 by 1024, 8 by 128 */
        {"HloModule m, " HEADER BODY, 2048 + 3 * 2097152 + 4096, 1},
        /* With tiles of their own they are laid out. */
        {"HloModule m, " HEADER
         "ENTRY main {\n  a = f32[4,2]{1,0:T(8,128)} parameter(0)\n  b = f32[512,1024]{1,0} parameter(1)\n"
         "  c = f32[5,7]{1,0} custom-call(a)\n  n = f32[512,1024]{1,0} negate(b)\n"
         "  ROOT e = f32[512,1024]{1,0} tanh(n)\n}\n",
         4096 + 3 * 2097152 + 140, -1},
        /* Laid out: what has no tiles is linear. */
        {"HloModule m, is_scheduled=true, " HEADER BODY, 32 + 3 * 2097152 + 140, -1},
        /* Over several lines. */
        {"HloModule m, is_scheduled=true,\n" HEADER BODY, 32 + 3 * 2097152 + 140, -1},
        {"HloModule m,\n  " HEADER_LINES ",\n  is_scheduled=true\n\n" BODY, 32 + 3 * 2097152 + 140, -1},
        {"HloModule m,\n  " HEADER_LINES "\n\n" BODY, 2048 + 3 * 2097152 + 4096, 1},
        /* Without tiles the default: 2 by 128. */
        {"HloModule m\n\n" BODY, 1024 + 3 * 2097152 + 4096, 0},
        /* Of other arguments, or with a tuple among them. */
        {"HloModule m, entry_computation_layout={(f32[4,3]{1,0:T(4,128)})->f32[4,2]{1,0}}\n\n" BODY,
         1024 + 3 * 2097152 + 4096, 0},
        {"HloModule m, entry_computation_layout={((f32[4,2]{1,0:T(4,128)}))->f32[4,2]{1,0}}\n\n" BODY,
         1024 + 3 * 2097152 + 4096, 0},
        {"HloModule m, entry_computation_layout={(token[], f32[4,2]{1,0:T(4,128)})->f32[]}\n\n" BODY,
         1024 + 3 * 2097152 + 4096, 0},
        {"HloModule m, entry_computation_layout={(f32[4,2]{1,0:T(4,128)})->f32[]}\n\nHloModule o\n\n" BODY,
         1024 + 3 * 2097152 + 4096, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_audit_result r;
        ts_audit *audit =
            audited(arena, &v6e_audit, (audited_text){rows[i].text, strlen(rows[i].text), 0}, &r);
        assert_int_equal(r.sum.buffers, 5);
        assert_int_equal(r.sum.padded_bytes, rows[i].padded_bytes);
        assert_int_equal(r.copies_predicted ? r.copy_count : -1, rows[i].copies);
        if (r.copy_count > 0) assert_string_equal(r.copies[0].from, "f32[512,1024]{0,1:T(8,128)}");
        assert_int_equal(r.kind_count, 0);
        ts_audit_free(audit);
    }
}

#define RESULTS(arguments, results)                                                                          \
    "HloModule m, entry_computation_layout={(" arguments ")->" results "}\n\nENTRY main {\n"

TEST(results_are_as_the_header_says) {
    static const struct {
        const char *text, *copies; /* their readers and orders */
    } rows[] = {
        {RESULTS("f32[512,1024]{0,1:T(8,128)}",
                 "f32[512,1024]{0,1:T(8,128)}") "  a = f32[512,1024]{1,0} parameter(0)\n  ROOT b = "
                                                "f32[512,1024]{1,0} negate(a)\n}\n",
         ""},
        {RESULTS("f32[512,1024]{1,0:T(8,128)}",
                 "f32[512,1024]{0,1:T(8,128)}") "  a = f32[512,1024]{1,0} parameter(0)\n  ROOT b = "
                                                "f32[512,1024]{1,0} negate(a)\n}\n",
         "a f32[512,1024]{0,1:T(8,128)};"},
        /* One array twice, in two orders; what is in no order of tiles has the default one. */
        {RESULTS("f32[512,1024]{1,0:T(8,128)}",
                 "(f32[512,1024]{1,0:T(8,128)}, f32[512,1024]{0,1:T(8,128)}, "
                 "f32[512,1024]{0,1})") "  a = f32[512,1024]{1,0} parameter(0)\n  "
                                        "b = f32[512,1024]{1,0} negate(a)\n"
                                        "  ROOT t = (f32[512,1024]{1,0}, "
                                        "f32[512,1024]{1,0}, f32[512,1024]{1,0}) "
                                        "tuple(b, b, a)\n}\n",
         "b f32[512,1024]{0,1:T(8,128)};"},
        /* Of other results, or in tuples. */
        {RESULTS("f32[512,1024]{1,0:T(8,128)}",
                 "f32[512,512]{0,1:T(8,128)}") "  a = f32[512,1024]{1,0} parameter(0)\n  ROOT b = "
                                               "f32[512,1024]{1,0} negate(a)\n}\n",
         ""},
        {RESULTS("f32[512,1024]{1,0:T(8,128)}",
                 "((f32[512,1024]{0,1:T(8,128)}))") "  a = f32[512,1024]{1,0} parameter(0)\n  b = "
                                                    "f32[512,1024]{1,0} negate(a)\n"
                                                    "  t = (f32[512,1024]{1,0}) tuple(b)\n  ROOT u = "
                                                    "((f32[512,1024]{1,0})) tuple(t)\n}\n",
         ""},
        /* The ninth. */
        {"HloModule m\n\nENTRY main {\n  a = f32[8]{0} parameter(0)\n  b = f32[64,512]{1,0} parameter(1)\n"
         "  c = f32[512,64]{1,0} reshape(b)\n  ROOT t = (f32[8]{0}, f32[8]{0}, f32[8]{0}, f32[8]{0}, "
         "f32[8]{0}, f32[8]{0}, f32[8]{0}, f32[8]{0}, f32[512,64]{1,0}) tuple(a, a, a, a, a, a, a, a, "
         "c)\n}\n",
         "c f32[512,64]{0,1:T(8,128)};"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_audit_result r;
        ts_audit *audit =
            audited(arena, &v6e_audit, (audited_text){rows[i].text, strlen(rows[i].text), 0}, &r);
        ts_text found = ts_text_begin(arena);
        for (int k = 0; k < r.copy_count; k++)
            ts_text_add(&found, "%s %s;", r.copies[k].name, r.copies[k].to);
        assert_true(r.copies_predicted);
        assert_string_equal(found.bytes, rows[i].copies);
        assert_int_equal(r.kind_count, 0);
        ts_audit_free(audit);
    }
}

int main(void) { return run_all_tests(begin_audits, end_group); }
