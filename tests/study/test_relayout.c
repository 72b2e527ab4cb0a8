/* What relayouts cost in cycles: their ops beyond loads and stores; what has no price, and what is none. */
#include <string.h>

#include "mosaic/mosaic.h"
#include "run/run.h"
#include "study/relayout.h"
#include "tests/support/group.h"
#include "tests/support/shapes.h"

static bool find(ts_error *err, const char *machine, const char *from, const char *to,
                 ts_relayout_price *out) {
    const ts_relayout_price_request request = {.machine = ts_machine_load(NULL, arena, machine),
                                               .from = parse_shape(arena, from),
                                               .to = parse_shape(arena, to)};
    return ts_relayout_price_find(err, arena, &request, out);
}

static int64_t cycles_of(const char *machine_name, const ts_relayout *plan, ts_relayout_content content) {
    const ts_machine *machine = ts_machine_load(NULL, arena, machine_name);
    ts_target target;
    ts_run_result result;
    ts_text text = ts_text_begin(arena);
    ts_relayout_kernel(plan, content, &text);
    ts_run_target(machine, &target);
    const ts_source source = {"kernel", text.bytes, text.length};
    const ts_program *program = ts_mosaic_parse(NULL, arena, &source, &target);
    assert_non_null(program);
    const ts_run_request request = {.program = "kernel",
                                    .built = program,
                                    .machine = machine,
                                    .time_only = true,
                                    .max_cycles = TS_RUN_MOST_CYCLES};
    assert_true(ts_run(NULL, arena, &request, &result));
    return result.chip.cycles;
}

#define F32(layout)  "f32[16,256] vpad<\"" layout "\">"
#define BF16(layout) "bf16[64,256] vpad<\"" layout "\">"

static const struct {
    const char *machine, *from, *to, *steps; /* NULL: any; "free": nothing is done, and nothing run */
} priced[] = {
    {"tpu-v5e", F32("32,{0,0},(8,128)"), F32("32,{0,0},(8,128)"), "free"},
    {"tpu-v5e", F32("32,{*,*},(8,128)"), F32("32,{3,1},(4,128)"), "free"},
    {"tpu-v5e", F32("32,{0,0},(8,128)"), F32("32,{3,0},(8,128)"), "rotate rows"},
    {"tpu-v5e", F32("32,{0,0},(8,128)"), F32("32,{0,3},(8,128)"), "rotate columns"},
    {"tpu-v4", F32("32,{0,0},(8,128)"), F32("32,{0,0},(2,128)"), "through scratch memory"},
    {"tpu-v5e", F32("32,{0,0},(8,128)"), F32("32,{0,0},(2,128)"), "rotate and select tiles"},
    {"tpu-v6e", F32("32,{0,0},(8,128)"), F32("32,{0,0},(2,128)"), "combine halves of vregs"},
    {"tpu-v5e", "u4[64,256] vpad<\"4,{0,0},(64,128)\">", "u4[64,256] vpad<\"4,{0,0},(8,128)\">", NULL},
    {"tpu-v5e", "pred[16,256] vpad<\"32,{0,0},(8,128)\">", "pred[16,256] vpad<\"32,{3,0},(8,128)\">", NULL},
    {"tpu-v6e", BF16("16,{0,0},(8,128)"), BF16("16,{0,0},(16,128)"), "unpack, pack"},
};

TEST(the_price_is_what_the_ops_add) {
    for (size_t i = 0; i < sizeof priced / sizeof priced[0]; i++) {
        ts_relayout_price out;
        ts_error err = {0};
        if (!find(&err, priced[i].machine, priced[i].from, priced[i].to, &out))
            fail_msg("%s: %s", priced[i].from, err.message);
        if (priced[i].steps) assert_string_equal(out.plan.steps.bytes, priced[i].steps);
        assert_null(out.unpriced);
        bool is_free = priced[i].steps && strcmp(priced[i].steps, "free") == 0;
        int64_t with = is_free ? 0 : cycles_of(priced[i].machine, &out.plan, TS_RELAYOUT_WITH_OPS),
                without = is_free ? 0 : cycles_of(priced[i].machine, &out.plan, TS_RELAYOUT_WITHOUT_OPS);
        assert_int_equal(out.without, without);
        assert_int_equal(out.cycles, with - without);
        assert_int_equal(out.cycles > 0, !is_free);
    }
}

TEST(what_is_not_modelled_has_ops_and_no_price) {
    static const struct {
        const char *from, *to, *why;
    } rows[] = {
        {"u2[16,256] vpad<\"2,{0,0},(16,128)\">", "u2[16,256] vpad<\"2,{0,0},(1,2048)\">",
         "vregs of elements of less than 4 bits are not modelled"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_relayout_price out;
        ts_error err = {0};
        if (!find(&err, "tpu-v6e", rows[i].from, rows[i].to, &out))
            fail_msg("%s: %s", rows[i].from, err.message);
        assert_true(out.plan.op_count > 0);
        assert_string_equal(out.unpriced, rows[i].why);
        assert_int_equal(out.cycles, 0);
    }
}

/* The kernel around the ops is what does not fit: 16 vregs each way, into what has room for 8. */
TEST(what_does_not_fit_has_no_price) {
    static const char *const sets[] = {"memories.vmem.capacity=32 KiB"};
    ts_error err = {0};
    const ts_relayout_price_request request = {
        .machine = ts_machine_load_with(&err, arena, "tpu-v5e", "set", sets, 1),
        .from = parse_shape(arena, F32("32,{0,0},(8,128)")),
        .to = parse_shape(arena, F32("32,{3,0},(8,128)"))};
    ts_relayout_price out;
    assert_non_null(request.machine);
    assert_false(ts_relayout_price_find(&err, arena, &request, &out));
    assert_int_equal(err.kind, TS_ERROR_INPUT);
    assert_non_null(strstr(err.message, "tpu-v5e has 32,768"));
    assert_true(out.unpriced == NULL && out.cycles == 0);
}

TEST(what_is_no_relayout_is_refused) {
    static const struct {
        const char *from, *to, *message;
    } rows[] = {
        {"f32[16,256]{1,0}", F32("32,{0,0},(8,128)"),
         "the source is no value in vregs, expected such as f32[8,128] vpad<\"32,{0,0},(8,128)\">"},
        {F32("32,{0,0},(8,128)"), "f32[16,256]{1,0:T(8,128)}",
         "the destination is no value in vregs, expected such as f32[8,128] vpad<\"32,{0,0},(8,128)\">"},
        {F32("32,{0,0},(8,128)"), "f32[16,255] vpad<\"32,{0,0},(8,128)\">",
         "source and destination are of different types or dims"},
        {F32("32,{0,0},(8,128)"), "f32[16,256,1] vpad<\"32,{0,0},(8,128)\">",
         "source and destination are of different types or dims"},
        {F32("32,{0,0},(8,128)"), "s32[16,256] vpad<\"32,{0,0},(8,128)\">",
         "source and destination are of different types or dims"},
        {"f32[0,256] vpad<\"32,{0,0},(8,128)\">", "f32[0,256] vpad<\"32,{0,0},(8,128)\">",
         "the array has no elements, expected dims of at least 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_relayout_price out;
        ts_error err = {0};
        assert_false(find(&err, "tpu-v5e", rows[i].from, rows[i].to, &out));
        assert_int_equal(err.kind, TS_ERROR_INPUT);
        assert_string_equal(err.message, rows[i].message);
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
