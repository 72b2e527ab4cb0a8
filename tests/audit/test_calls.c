/* Who calls whom: how often the copy of each computation runs, at which level, and in whose branch. */
#include "audit/audit_private.h"

#include <inttypes.h>
#include <string.h>

#include "tests/support/audited.h"
#include "tests/support/group.h"

/* A computation's lines below its copy; $ is an array that all of them have. */
typedef struct {
    const char *name, *calls;
} computation;

enum { MOST = 4 };

/* "e" is the entry. Of each the level, how often it runs, and "?" where a loop does not say, "b" in a branch. */
static const struct {
    computation all[MOST];
    const char *said;
} rows[] = {
    {{{"e", ""}}, "e: entry 1\n"},
    {{{"e", "$x = $ call(%p), to_apply=%f\n"}, {"f", ""}}, "e: entry 1\nf: entry 1\n"},
    {{{"e", "$x = $ call(%p), to_apply=%f\n$y = $ call(%p), to_apply=%f\n"}, {"f", ""}},
     "e: entry 1\nf: entry 2\n"},
    /* each of two calls calls twice, and so on */
    {{{"e", "$x = $ call(%p), to_apply=%f\n$y = $ call(%p), to_apply=%f\n"},
      {"f", "$x = $ call(%p), to_apply=%g\n$y = $ call(%p), to_apply=%g\n"},
      {"g", "$x = $ call(%p), to_apply=%h\n"},
      {"h", ""}},
     "e: entry 1\nf: entry 2\ng: entry 4\nh: entry 4\n"},
    /* a body runs as often as its loop turns, and so does what it calls; the entry calls that once more */
    {{{"e", "$w = $ while(%p), condition=%h, body=%f, backend_config={\"known_trip_count\":{\"n\":\"10\"}}\n"
            "$x = $ call(%p), to_apply=%g\n"},
      {"f", "$x = $ call(%p), to_apply=%g\n"},
      {"g", ""},
      {"h", ""}},
     "e: entry 1\nf: loop or branch 10\ng: loop or branch 11\nh: loop or branch 11\n"},
    {{{"e",
       "$w = $ while(%p), condition=%h, body=%f, backend_config={\"known_trip_count\":{\"n\":\"10\"}}\n"},
      {"f", "$w = $ while(%p), condition=%h, body=%g, backend_config={\"known_trip_count\":{\"n\":\"3\"}}\n"},
      {"g", ""},
      {"h", ""}},
     "e: entry 1\nf: loop or branch 10\ng: loop or branch 30\nh: loop or branch 51\n"}, /* 11 and 10 x 4 */
    {{{"e", "$w = $ while(%p), condition=%h, body=%f\n"},
      {"f", "$x = $ call(%p), to_apply=%g\n"},
      {"g", ""},
      {"h", ""}},
     "e: entry 1\nf: loop or branch 1?\ng: loop or branch 1?\nh: loop or branch 1?\n"},
    /* one of the branches runs: both count; so does what they call, and what else is called there is in no branch */
    {{{"e", "$c = $ conditional(%i, %p, %p), branch_computations={%f, %g}\n"},
      {"f", "$x = $ call(%p), to_apply=%h\n"},
      {"g", ""},
      {"h", ""}},
     "e: entry 1\nf: loop or branch 1b\ng: loop or branch 1b\nh: loop or branch 1b\n"},
    {{{"e", "$x = $ call(%p), to_apply=%f\n$y = $ call(%p), to_apply=%g\n"}, {"f", ""}, {"g", ""}},
     "e: entry 1\nf: entry 1\ng: entry 1\n"},
    {{{"e", "$x = $ fusion(%p), kind=kLoop, calls=%f\n"}, {"f", ""}}, "e: entry 1\nf: fused 1\n"},
    {{{"e",
       "$w = $ while(%p), condition=%h, body=%f, backend_config={\"known_trip_count\":{\"n\":\"10\"}}\n"},
      {"f", "$x = $ fusion(%p), kind=kLoop, calls=%g\n"},
      {"g", ""},
      {"h", ""}},
     "e: entry 1\nf: loop or branch 10\ng: fused 10\nh: loop or branch 11\n"},
    /* a loop that does not turn */
    {{{"e", "$w = $ while(%p), condition=%h, body=%f, backend_config={\"known_trip_count\":{\"n\":\"0\"}}\n"},
      {"f", "$x = $ call(%p), to_apply=%g\n"},
      {"g", ""},
      {"h", ""}},
     "e: entry 1\nf: loop or branch 0\ng: loop or branch 0\nh: loop or branch 1\n"},
    /* a body that is called as well, before or after, is a loop's */
    {{{"e", "$w = $ while(%p), condition=%h, body=%f, backend_config={\"known_trip_count\":{\"n\":\"2\"}}\n"
            "$x = $ call(%p), to_apply=%f\n"},
      {"f", ""},
      {"h", ""}},
     "e: entry 1\nf: loop or branch 3\nh: loop or branch 3\n"},
    {{{"e", "$x = $ call(%p), to_apply=%f\n"
            "$w = $ while(%p), condition=%h, body=%f, backend_config={\"known_trip_count\":{\"n\":\"2\"}}\n"},
      {"f", ""},
      {"h", ""}},
     "e: entry 1\nf: loop or branch 3\nh: loop or branch 3\n"},
    /* both branches of one condition: one of them runs */
    {{{"e", "$c = $ conditional(%i, %p, %p), branch_computations={%f, %f}\n"}, {"f", ""}},
     "e: entry 1\nf: loop or branch 1b\n"},
    {{{"e", "$c = $ conditional(%i, %p, %p), true_computation=%f, false_computation=%g\n$x = $ call(%p), "
            "to_apply=%h\n"},
      {"f", ""},
      {"g", ""},
      {"h", ""}},
     "e: entry 1\nf: loop or branch 1b\ng: loop or branch 1b\nh: entry 1\n"},
    /* nobody calls it; it calls another */
    {{{"e", ""}, {"f", "$x = $ call(%p), to_apply=%g\n"}, {"g", ""}},
     "e: entry 1\nf: level unknown 1\ng: level unknown 1\n"},
    /* that calls itself, or one that calls it: as often as others do */
    {{{"e", "$x = $ call(%p), to_apply=%f\n$y = $ call(%p), to_apply=%f\n"},
      {"f", "$x = $ call(%p), to_apply=%f\n"}},
     "e: entry 1\nf: entry 2\n"},
};

/* With %NAME_ before the names that $ begins, the shape of number k behind others. */
static void add_body(ts_text *out, const computation *c, int k) {
    ts_text_add(out, "%s%%%s {\n  %%p = f32[%d,128]{1,0:T(8,128)} parameter(0)\n  %%i = s32[] parameter(1)\n",
                strcmp(c->name, "e") == 0 ? "ENTRY " : "", c->name, 8 * (k + 1));
    for (const char *at = c->calls; *at; at++)
        if (*at == '$' && at[1] == ' ')
            ts_text_add(out, "f32[8,128]{1,0:T(8,128)}");
        else
            ts_text_add_char(out, *at == '$' ? '%' : *at);
    ts_text_add(out, "  ROOT %%m = f32[%d,128]{1,0:T(8,128)S(1)} copy(%%p)\n}\n\n", 8 * (k + 1));
}

static const ts_audit_move *find(const ts_audit_result *r, int k) {
    for (int i = 0; i < r->group_count; i++)
        if (r->groups[i].first.read_bytes == 4096 * (k + 1)) return &r->groups[i].first;
    return NULL;
}

TEST(computations) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int turn = 0; turn < 2; turn++) { /* callers first, or callees */
            ts_text text = ts_text_begin(arena), found = ts_text_begin(arena);
            ts_text_add(&text, "HloModule m, is_scheduled=true\n\n");
            for (int k = 0; k < MOST; k++) {
                int at = turn ? MOST - 1 - k : k;
                if (rows[i].all[at].name) add_body(&text, &rows[i].all[at], at);
            }
            ts_audit_result r;
            ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
            for (int k = 0; k < MOST && rows[i].all[k].name; k++) {
                const ts_audit_move *m = find(&r, k);
                assert_non_null(m);
                ts_text_add(&found, "%s: %s %d%s%s\n", rows[i].all[k].name, ts_audit_level_text(m->level),
                            (int)m->runs, m->trips_unknown ? "?" : "", m->in_branch ? "b" : "");
            }
            if (strcmp(found.bytes, rows[i].said) != 0)
                fail_msg("row %zu, turn %d:\n%s, expected\n%s", i, turn, found.bytes, rows[i].said);
            ts_audit_free(audit);
        }
}

/* ---- Regions of StableHLO ---- */

#define TURN(name, n)                                                                                        \
    "%" name " = stablehlo.transpose %v" #n ", dims = [1, 0] : (tensor<" #n "x" #n "xf32>) -> tensor<" #n    \
    "x" #n "xf32>\n"
#define NUMBER(name, n) "%" name " = stablehlo.constant dense<" #n "> : tensor<i32>\n"
#define BEGIN                                                                                                \
    "func.func @main(%v8: tensor<8x8xf32>, %v16: tensor<16x16xf32>, %v24: tensor<24x24xf32>, %p: "           \
    "tensor<i1>) -> tensor<8x8xf32> {\n" NUMBER("z", 0) NUMBER("n", 10) NUMBER("three", 3)
#define END "return %v8 : tensor<8x8xf32>\n}\n"
/* Of a counter from 0 up, as long as it is less than a number. */
#define WHILE(counter, limit, condition)                                                                     \
    "%w" counter " = stablehlo.while(%" counter " = %z) : tensor<i32>\ncond {\n" condition "%c" counter      \
    " = stablehlo.compare LT, %" counter ", %" limit                                                         \
    ", SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %c" counter                       \
    " : tensor<i1>\n} do {\n"
#define TURNED(counter)                                                                                      \
    NUMBER("k" counter, 1)                                                                                   \
    "%m" counter " = stablehlo.add %" counter ", %k" counter " : tensor<i32>\nstablehlo.return %m" counter   \
    " : tensor<i32>\n}\n"
#define IF(first, second)                                                                                    \
    "%f = \"stablehlo.if\"(%p) ({\n" first "stablehlo.return %z : tensor<i32>\n}, {\n" second                \
    "stablehlo.return %z : tensor<i32>\n}) : (tensor<i1>) -> tensor<i32>\n"

/* Of the transposes of 8, 16 and 24 rows, as above. */
static const struct {
    const char *text, *said;
} regions[] = {
    {BEGIN TURN("a", 8) WHILE("i", "n", "") TURN("b", 16) TURNED("i") TURN("c", 24) END,
     "8: entry 1\n16: loop or branch 10\n24: entry 1\n"},
    {BEGIN WHILE("i", "n", TURN("b", 16)) TURN("a", 8) TURNED("i") TURN("c", 24)
         END, /* a condition once more */
     "8: loop or branch 10\n16: loop or branch 11\n24: entry 1\n"},
    {BEGIN WHILE("i", "n", "") WHILE("j", "three", "") TURN("a", 8) TURNED("j") TURN("b", 16) TURNED("i")
         TURN("c", 24) END,
     "8: loop or branch 30\n16: loop or branch 10\n24: entry 1\n"},
    {BEGIN WHILE("i", "n", "") WHILE("j", "v8", "") TURN("a", 8) TURNED("j") TURN("b", 16) TURNED("i")
         TURN("c", 24) END, /* the inner one's limit is no number */
     "8: loop or branch 10?\n16: loop or branch 10\n24: entry 1\n"},
    {BEGIN WHILE("i", "v8", "") WHILE("j", "three", "") TURN("a", 8) TURNED("j") TURN("b", 16) TURNED("i")
         TURN("c", 24) END,
     "8: loop or branch 3?\n16: loop or branch 1?\n24: entry 1\n"},
    {BEGIN WHILE("i", "z", TURN("b", 16)) TURN("a", 8) TURNED("i") TURN("c", 24) END, /* it does not turn */
     "8: loop or branch 0\n16: loop or branch 1\n24: entry 1\n"},
    {BEGIN IF(TURN("a", 8), TURN("b", 16)) TURN("c", 24) END,
     "8: loop or branch 1b\n16: loop or branch 1b\n24: entry 1\n"},
    {BEGIN WHILE("i", "n", "") IF(TURN("a", 8), TURN("b", 16)) TURN("c", 24) TURNED("i") END,
     "8: loop or branch 10b\n16: loop or branch 10b\n24: loop or branch 10\n"},
    {BEGIN IF(WHILE("i", "n", "") TURN("a", 8) TURNED("i"), TURN("b", 16)) TURN("c", 24) END,
     "8: loop or branch 10b\n16: loop or branch 1b\n24: entry 1\n"},
    {BEGIN "%low = stablehlo.constant dense<-8> : tensor<i64>\n"
           "%most = stablehlo.constant dense<9223372036854775799> : tensor<i64>\n"
           "%w = stablehlo.while(%i = %low) : tensor<i64>\ncond {\n" TURN(
               "b", 16) "%c = stablehlo.compare LT, %i, %most : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
                        "stablehlo.return %c : tensor<i1>\n} do {\n"
                        "%one = stablehlo.constant dense<1> : tensor<i64>\n" TURN(
                            "a", 8) "%j = stablehlo.add %i, %one : tensor<i64>\nstablehlo.return %j : "
                                    "tensor<i64>\n}\n" TURN("d", 24)
                                        END, /* as often as can be counted, and the condition no less */
     "8: loop or branch 9223372036854775807\n16: loop or branch 9223372036854775807\n24: entry 1\n"},
    /* of a part of a function, and of half a loop */
    {NUMBER("z", 0) NUMBER("n", 10) WHILE("i", "n", TURN("b", 16)) TURN("a", 8) TURNED("i") TURN("c", 24),
     "8: loop or branch 10\n16: loop or branch 11\n24: level unknown 1\n"},
    {TURN("c", 24) "cond {\n" TURN("a", 8) "} do {\n" TURN("b", 16) "}\n",
     "8: loop or branch 1?\n16: loop or branch 1?\n24: level unknown 1\n"},
    {BEGIN TURN("a", 8) TURN("b", 16) TURN("c", 24) END "func.func private @other() {\nreturn\n}\n}\n}\n",
     "8: entry 1\n16: entry 1\n24: entry 1\n"},
};

TEST(regions_of_stablehlo) {
    for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
        ts_audit_result r;
        ts_text found = ts_text_begin(arena);
        ts_audit *audit =
            audited(arena, &v6e_audit, (audited_text){regions[i].text, strlen(regions[i].text), 0}, &r);
        for (int rows_of = 8; rows_of <= 24; rows_of += 8)
            for (int k = 0; k < r.group_count; k++) {
                const ts_audit_move *m = &r.groups[k].first;
                if (strncmp(r.shapes[m->dst].text, ts_text_format(arena, "f32[%d,", rows_of),
                            6 - (rows_of < 10)) != 0)
                    continue;
                ts_text_add(&found, "%d: %s %" PRId64 "%s%s\n", rows_of, ts_audit_level_text(m->level),
                            m->runs, m->trips_unknown ? "?" : "", m->in_branch ? "b" : "");
            }
        if (strcmp(found.bytes, regions[i].said) != 0)
            fail_msg("row %zu:\n%s, expected\n%s", i, found.bytes, regions[i].said);
        ts_audit_free(audit);
    }
}

int main(void) { return run_all_tests(begin_audits, end_group); }
