/* The choice of layouts: uses as they are read, the layouts that there are, which is the best, what is cut,
 * which kernel a use runs. */
#include "choose/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "choose/choose_private.h"
#include "base/number.h"
#include "chip/energy.h"
#include "config/scale.h"
#include "dma/price.h"
#include "run/run.h"
#include "tests/support/group.h"
#include "tests/support/rounds.h"
#include "tests/support/run_text.h"
#include "tests/support/shapes.h"
#include "tests/support/temporary.h"

static const ts_machine *machine;

static ts_choose_request request_of(const char *shape, const char *uses) {
    ts_choose_request request = {
        .machine = machine, .machine_name = "tpu-v5e", .shape = shape ? parse_shape(arena, shape) : NULL};
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"uses", uses, strlen(uses)};
    ts_error err = {0};
    if (shape && !ts_choose_read_uses(&err, arena, source, &request)) fail_msg("%s: %s", uses, err.message);
    return request;
}

static ts_choose_result chosen(const ts_choose_request *request) {
    ts_error err = {0};
    ts_choose_result result;
    if (!ts_choose(&err, arena, request, &result)) fail_msg("%s", err.message);
    return result;
}

/* ---- Uses ---- */

TEST(uses_are_read) {
    const ts_choose_request r = request_of("f32[4,5,6]", "dma, reduce:2,stream,reduce : 0, dma:vmem>hbm");
    assert_int_equal(r.use_count, 5);
    const ts_use_kind kinds[] = {TS_USE_DMA, TS_USE_REDUCE, TS_USE_STREAM, TS_USE_REDUCE, TS_USE_DMA};
    for (int i = 0; i < 5; i++) assert_int_equal(r.uses[i].kind, kinds[i]);
    assert_true(r.uses[1].dim == 2 && r.uses[3].dim == 0);
    assert_string_equal(r.uses[0].from->name, "hbm");
    assert_string_equal(r.uses[0].to->name, "vmem");
    assert_string_equal(r.uses[4].from->name, "vmem");
    assert_string_equal(r.uses[4].to->name, "hbm");
}

static const struct {
    const char *uses, *error;
} wrong[] = {
    {"", "uses:1:1: error: found the end, expected a use: dma, reduce or stream\n\n^\n"},
    {"dam",
     "uses:1:1: error: unknown use 'dam', expected dma, reduce or stream; did you mean 'dma'?\ndam\n^\n"},
    {"reduce", "uses:1:7: error: found the end, expected ':'\nreduce\n      ^\n"},
    {"reduce:x", "uses:1:8: error: found 'x', expected a dimension\nreduce:x\n       ^\n"},
    {"reduce:3", "uses:1:8: error: the tensor has no dimension 3, expected 0 to 2\nreduce:3\n       ^\n"},
    {"dma:hbm", "uses:1:8: error: found the end, expected '>'\ndma:hbm\n       ^\n"},
    {"dma:hmb>vmem",
     "uses:1:5: error: tpu-v5e has no memory 'hmb'; did you mean 'hbm'?\ndma:hmb>vmem\n    ^\n"},
    {"dma:hb>vmem", "uses:1:5: error: tpu-v5e has no memory 'hb'; did you mean 'hbm'?\ndma:hb>vmem\n    ^\n"},
    {"dma:hbm>", "uses:1:9: error: found the end, expected a memory of the machine\ndma:hbm>\n        ^\n"},
    {"dma dma", "uses:1:5: error: found 'dma', expected ',' or the end\ndma dma\n    ^\n"},
    {"dma,dma,dma,dma,dma,dma,dma,dma,dma,dma,dma,dma,dma,dma,dma,dma,dma", "error: more than 16 uses\n"},
};

TEST(wrong_uses_are_refused) {
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ts_choose_request request = {.machine = machine, .shape = parse_shape(arena, "f32[4,5,6]")};
        ts_source source = {"uses", wrong[i].uses, strlen(wrong[i].uses)};
        ts_error err = {0};
        assert_false(ts_choose_read_uses(&err, arena, &source, &request));
        assert_error(&err, err.kind, wrong[i].error);
    }
}

TEST(a_scalar_has_no_dim_to_sum) {
    ts_choose_request request = {.machine = machine, .shape = parse_shape(arena, "f32[]")};
    ts_source source = {"uses", "reduce:0", 8};
    ts_error err = {0};
    assert_false(ts_choose_read_uses(&err, arena, &source, &request));
    assert_error(&err, TS_ERROR_USAGE,
                 "uses:1:8: error: the tensor has no dimensions to sum\nreduce:0\n       ^\n");
}

/* ---- Which layouts there are ---- */

static const struct {
    const char *shape;
    bool combine;
    int count;
    const char *first, *last;
} listed[] = {
    {"f32[16,256]", false, 8, "f32[16,256]{1,0:T(8,128)}", "f32[16,256]{0,1:T(1,128)}"},
    {"f32[2,16,256]", false, 24, "f32[2,16,256]{2,1,0:T(8,128)}", "f32[2,16,256]{0,1,2:T(1,128)}"},
    {"f32[2,16,256]", true, 72, "f32[2,16,256]{2,1,0:T(8,128)}", "f32[2,16,256]{0,1,2:T(1,*,128)}"},
    {"f32[16,256]", true, 8, "f32[16,256]{1,0:T(8,128)}", "f32[16,256]{0,1:T(1,128)}"},
    {"f32[16,256]{1,0:T(8,128)S(1)}", false, 8, "f32[16,256]{1,0:T(8,128)S(1)}",
     "f32[16,256]{0,1:T(1,128)S(1)}"},
    {"bf16[64,256]", false, 8, "bf16[64,256]{1,0:T(8,128)(2,1)}", "bf16[64,256]{0,1:T(2,128)(2,1)}"},
    {"f32[1000]", false, 4, "f32[1000]{0:T(1024)}", "f32[1000]{0:T(128)}"},
    /* Up to 6 dims all orders; of 7 those of the two minor ones. */
    {"f32[1,1,1,1,1,2]", false, 720 * 4, "f32[1,1,1,1,1,2]{5,4,3,2,1,0:T(8,128)}",
     "f32[1,1,1,1,1,2]{0,1,2,3,4,5:T(1,128)}"},
    {"f32[1,1,1,1,1,1,2]", false, 42 * 4, "f32[1,1,1,1,1,1,2]{6,5,4,3,2,1,0:T(8,128)}",
     "f32[1,1,1,1,1,1,2]{0,1,6,5,4,3,2:T(1,128)}"},
};

TEST(layouts_are_enumerated) {
    for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++) {
        const ts_choose_request request = {.machine = machine, .combine = listed[i].combine};
        const ts_shape *shape = parse_shape(arena, listed[i].shape);
        ts_candidate *list = TS_NEW_ARRAY(arena, ts_candidate, TS_CHOOSE_CANDIDATES);
        int count = 0;
        ts_error err = {0};
        assert_true(choose_enumerate(&err, arena, &request, shape, list, &count));
        if (count != listed[i].count) fail_msg("%s: %d", listed[i].shape, count);
        assert_string_equal(list[0].text, listed[i].first);
        bool found = false;
        for (int k = 0; k < count; k++) {
            found |= strcmp(list[k].text, listed[i].last) == 0;
            assert_int_equal(list[k].bytes, list[k].shape->bytes);
            assert_int_equal(list[k].combines, strchr(list[k].text, '*') != NULL);
            assert_int_equal(list[k].alike, 1);
            for (int j = 0; j < k && count < 100; j++) assert_string_not_equal(list[j].text, list[k].text);
        }
        if (!found) fail_msg("%s has no %s", listed[i].shape, listed[i].last);
    }
}

TEST(too_many_are_refused) {
    static const struct {
        const char *shape, *error;
    } rows[] = {
        {"f32[?,3]", "not modelled: the tensor has an unbounded dimension ('?'), which has no layout\n"},
        {"f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
         "not modelled: more than 32 dimensions\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_choose_request request = {.machine = machine};
        ts_candidate *list = TS_NEW_ARRAY(arena, ts_candidate, TS_CHOOSE_CANDIDATES);
        int count = 0;
        ts_error err = {0};
        assert_false(
            choose_enumerate(&err, arena, &request, parse_shape(arena, rows[i].shape), list, &count));
        assert_error(&err, err.kind, rows[i].error);
    }
}

/* ---- The best ---- */

static const ts_candidate *find(const ts_choose_result *r, const char *text) {
    for (int i = 0; i < r->candidate_count; i++)
        if (strcmp(r->candidates[i].text, text) == 0) return &r->candidates[i];
    return NULL;
}

/* The fewest bytes are the best to transfer; what cannot be the best is cut, unless one asks for all. */
TEST(the_best_is_first) {
    ts_choose_request request = request_of("f32[1000,3]", "dma");
    const ts_choose_result some = chosen(&request);
    request.exhaustive = true;
    const ts_choose_result all = chosen(&request);
    assert_int_equal(some.enumerated, 8);
    assert_true(some.priced == 4 && some.cut == 4 && some.unfit == 0);
    assert_true(all.priced == 8 && all.cut == 0);
    assert_true(some.candidate_count == 8 && all.candidate_count == 8);
    assert_int_equal(some.logical_bytes, 12000);
    assert_string_equal(some.candidates[0].text, "f32[1000,3]{0,1:T(1,128)}");
    for (int i = 0; i < 8; i++) {
        const ts_candidate *a = &some.candidates[i], *b = find(&all, a->text);
        assert_true(b->bound_cycles <= b->cycles && b->priced);
        if (a->priced) assert_int_equal(a->cycles, b->cycles);
        if (!a->priced) assert_true(a->bound_cycles > choose_with_tie(some.candidates[0].cycles));
        assert_int_equal(a->is_rule, strcmp(a->text, "f32[1000,3]{0,1:T(4,128)}") == 0);
        assert_int_equal(a->is_tie, a->priced && a->cycles <= choose_with_tie(some.candidates[0].cycles));
        assert_false(a->is_now);
        assert_true(b->cycles == b->dma_cycles && b->core_cycles == 0);
        if (i > 0) assert_true(all.candidates[i - 1].cycles <= all.candidates[i].cycles);
        if (i > 0) assert_true(some.candidates[i - 1].priced >= a->priced);
    }
}

static bool is_marked(const ts_candidate *c) { return c->is_now || c->is_rule; }

/* Which of two rows that are alike in time comes first: less than 0, the first. */
static int64_t order_of(const ts_candidate *a, const ts_candidate *b) {
    bool cut = !a->priced;
    int64_t time = cut ? a->bound_cycles - b->bound_cycles : a->cycles - b->cycles,
            bytes = a->bytes - b->bytes, combines = a->combines - b->combines,
            marked = is_marked(b) - is_marked(a);
    if (a->priced != b->priced) return a->priced ? -1 : 1;
    if (time != 0) return time;
    if (!cut && bytes != 0) return bytes;
    if (combines != 0 || marked != 0) return combines != 0 ? combines : marked;
    return bytes != 0 ? bytes : strcmp(b->text, a->text);
}

/* Of those that take as long: fewer bytes, then tiles that compilers make, then the rule's and the tensor's own, then
 * row-major. Of those that were cut bytes are third. */
TEST(rows_are_in_order) {
    static const struct {
        const char *shape, *uses;
        bool exhaustive;
    } rows[] = {
        {"f32[2,16,256]", "dma", true},  {"f32[2,16,256]{2,0,1:T(2,128)}", "dma", true},
        {"f32[4,8,128]", "dma", true},   {"f32[2,16,256]", "dma,reduce:0", true},
        {"f32[20,3,100]", "dma", false}, {"f32[20,3,100]", "stream", false},
    };
    int alike = 0, cut = 0, combined = 0, marked = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_choose_request request = request_of(rows[i].shape, rows[i].uses);
        request.combine = true;
        request.exhaustive = rows[i].exhaustive;
        const ts_choose_result r = chosen(&request);
        for (int k = 1; k < r.candidate_count; k++) {
            const ts_candidate *a = &r.candidates[k - 1], *b = &r.candidates[k];
            if (order_of(a, b) >= 0) fail_msg("%s: %s before %s", rows[i].shape, a->text, b->text);
            bool same = a->priced && b->priced && a->cycles == b->cycles && a->bytes == b->bytes;
            alike += same;
            combined += same && a->combines != b->combines;
            marked += same && a->combines == b->combines && is_marked(a) != is_marked(b);
            cut += !a->priced && !b->priced && a->bound_cycles == b->bound_cycles;
        }
    }
    assert_true(alike > 10 && cut > 10 && combined > 0 && marked > 0);
}

/* The HBM's energy is that of each transfer, and of standing by while the core works alone. */
TEST(energy_is_of_all_uses) {
    static const struct {
        const char *uses;
        int transfers;
    } rows[] = {{"dma", 1},
                {"dma,dma,dma", 3},
                {"reduce:0", 0},
                {"dma,reduce:1,reduce:1,reduce:1,reduce:1,reduce:1,reduce:1,reduce:1,reduce:1,reduce:1", 1}};
    double joules = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_choose_request request = request_of("f32[64,1000]{1,0:T(8,128)}", rows[i].uses);
        const ts_choose_result r = chosen(&request);
        const ts_candidate *c = find(&r, "f32[64,1000]{1,0:T(8,128)}");
        ts_energy waits;
        ts_energy_of_hbm(machine, &(ts_hbm_stats){0}, c->cycles - c->dma_cycles, &waits);
        if (i == 0) joules = c->hbm_joules;
        assert_true(joules > 0 && (waits.hbm_total > 0) == (i >= 2));
        double expected = rows[i].transfers * joules + waits.hbm_total;
        assert_true(fabs(c->hbm_joules - expected) < 1e-9 * expected);
    }
}

/* What is asked about is priced, however bad; a layout of its own is one more. */
TEST(the_tensor_s_own_is_priced) {
    ts_choose_request request = request_of("f32[1000,3]{1,0:T(8,128)}", "dma");
    ts_choose_result r = chosen(&request);
    assert_true(r.priced == 5 && r.cut == 3);
    assert_true(find(&r, "f32[1000,3]{1,0:T(8,128)}")->is_now);
    assert_true(find(&r, "f32[1000,3]{1,0:T(8,128)}")->priced);
    request = request_of("f32[1000,3]{1,0:T(16,128)}", "dma");
    r = chosen(&request);
    assert_int_equal(r.enumerated, 9);
    assert_true(find(&r, "f32[1000,3]{1,0:T(16,128)}")->is_now);
    assert_false(find(&r, "f32[1000,3]{1,0:T(8,128)}")->is_now);
}

/* Transfers, and the core beside them: the slower counts, with its limiter. */
TEST(the_slower_side_counts) {
    ts_choose_request request = request_of("f32[512,512]", "dma");
    request.exhaustive = true;
    const ts_choose_result once = chosen(&request);
    request = request_of("f32[512,512]", "dma,dma,reduce:0,stream,stream,stream,stream,stream,stream,stream");
    request.exhaustive = true;
    const ts_choose_result twice = chosen(&request);
    request = request_of("f32[512,512]", "reduce:0,dma:vmem>hbm");
    request.exhaustive = true;
    const ts_choose_result back = chosen(&request);
    for (int i = 0; i < twice.candidate_count; i++) {
        const ts_candidate *c = &twice.candidates[i], *one = find(&once, c->text), *b = find(&back, c->text);
        assert_int_equal(c->dma_cycles, 2 * one->dma_cycles);
        assert_int_equal(c->cycles, ts_max(c->dma_cycles, c->core_cycles));
        assert_int_equal(strncmp(c->limiter, "core: ", 6) == 0, c->core_cycles > c->dma_cycles);
        assert_true(c->core_cycles > 7 * (b->core_cycles > 0) && c->bound_cycles <= c->cycles);
        assert_true(c->hbm_joules > one->hbm_joules && b->dma_cycles > 0);
    }
}

/* Orders of the major dims that change nothing are one row. */
TEST(rows_that_are_alike_are_one) {
    ts_choose_request request = request_of("f32[2,3,8,128]", "dma");
    request.exhaustive = true;
    const ts_choose_result r = chosen(&request);
    int alike = 0;
    for (int i = 0; i < r.candidate_count; i++) alike += r.candidates[i].alike;
    assert_int_equal(alike, 24 * 4);
    assert_int_equal(r.enumerated, 24 * 4);
    assert_int_equal(r.candidate_count, 12 * 4);
    const ts_candidate *c = find(&r, "f32[2,3,8,128]{3,2,1,0:T(8,128)}");
    assert_true(c && c->alike == 2 && c->is_rule && c->bytes == 24576);
    assert_null(find(&r, "f32[2,3,8,128]{3,2,0,1:T(8,128)}"));
}

TEST(what_does_not_fit_is_dropped) {
    ts_choose_request request = request_of("f32[1000000,3]{0,1:T(4,128)S(1)}", "stream");
    const ts_choose_result r = chosen(&request);
    assert_int_equal(r.enumerated, 8);
    assert_int_equal(r.unfit, 4); /* 512 MB of 128 MiB */
    assert_int_equal(r.candidate_count, 4);
    request = request_of("f32[100000000,3]{0,1:T(4,128)S(1)}", "stream");
    ts_error err = {0};
    ts_choose_result none;
    assert_false(ts_choose(&err, arena, &request, &none));
    assert_error(
        &err, TS_ERROR_UNMODELLED,
        "not modelled: the tensor fits into its memory with none of 8 layouts; the smallest takes 1200000000 "
        "bytes\n");
}

/* ---- Prices ---- */

static choose_pricer pricer_of(const ts_choose_request *request) {
    return (choose_pricer){.arena = arena,
                           .machine = request->machine,
                           .request = request,
                           .prices = ts_prices_new(arena),
                           .scratch = ts_arena_new()};
}

static ts_candidate priced(const ts_choose_request *request, const ts_shape *shape) {
    choose_pricer p = pricer_of(request);
    ts_candidate c = {.shape = shape};
    ts_error err = {0};
    bool cut = true;
    if (!choose_price(&err, &p, &c, INT64_MAX, &cut)) fail_msg("%s", err.message);
    assert_false(cut);
    c.bound_cycles = choose_bound(&p, shape);
    ts_arena_free(p.scratch);
    return c;
}

/* From 64 MiB on a price is that of twice as much and of less, to within 2 % (choose_price.c). */
TEST(large_transfers_are_extended) {
    ts_choose_request request = request_of("f32[26000,1024]{1,0:T(8,128)}", "dma");
    const ts_candidate large = priced(&request, request.shape);
    request.exact = true;
    const ts_candidate exact = priced(&request, request.shape);
    assert_true(llabs(large.cycles - exact.cycles) * 50 < exact.cycles);
    assert_true(large.hbm_joules < exact.hbm_joules * 1.02 && large.hbm_joules > exact.hbm_joules * 0.98);
    const double least = (double)request.shape->bytes / (double)ts_machine_hbm_rate(machine) * 1000 *
                         (double)machine->chip.sustained_khz;
    assert_true((double)large.bound_cycles <= least && (double)large.bound_cycles >= 0.98 * least);
    assert_true(large.bound_cycles <= exact.cycles);
}

/* From a memory to itself: to where the memory aligns what comes behind. */
TEST(copies_go_behind_their_source) {
    ts_choose_request request = request_of("f32[1000,300]{1,0:T(8,128)}", "dma:hbm>hbm");
    const int64_t bytes = request.shape->bytes;
    ts_error err = {0};
    const ts_machine_memory *hbm = ts_machine_find_memory(&err, machine, "hbm");
    const ts_shape *shape = ts_shape_row_major(&err, arena, TS_DTYPE_U8, 1, &bytes);
    const ts_plan_side src = {.shape = shape};
    const ts_plan_side dst = {.shape = shape, .base_bits = 8 * ts_round_up(bytes, hbm->align_bytes)};
    const ts_dma_machine dma = ts_dma_machine_of(machine, NULL);
    const ts_dma_price_request whole = {.machine = &dma,
                                        .plan = ts_plan_new(&err, arena, &src, &dst, 1, &bytes),
                                        .src = {.in_hbm = true},
                                        .dst = {.in_hbm = true}};
    ts_dma_cost cost;
    assert_true(ts_dma_price(&err, arena, &whole, &cost));
    const ts_candidate c = priced(&request, request.shape);
    assert_int_equal(c.cycles, cost.cycles);
    assert_int_equal(c.dma_cycles, cost.cycles);
    assert_string_equal(c.limiter, cost.limiter);
}

/* The bound counts each end that is in HBM, and the core beside transfers. */
TEST(bounds_add_up) {
    static const struct {
        const char *uses;
        int transfers, kernels;
    } rows[] = {
        {"dma:vmem>vmem", 0, 0}, {"dma", 1, 0},     {"dma:vmem>hbm", 1, 0},
        {"dma:hbm>hbm", 2, 0},   {"dma,dma", 2, 0}, {"dma,dma,stream,stream,stream,reduce:0", 2, 4},
        {"reduce:0", 0, 1},
    };
    ts_choose_request request = request_of("f32[8192,1024]{1,0:T(8,128)}", "dma");
    choose_pricer p = pricer_of(&request);
    const choose_core core = {.machine = machine};
    p.core = core;
    const int64_t once = choose_bound(&p, request.shape), kernel = choose_core_bound(&core, request.shape);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        request = request_of("f32[8192,1024]{1,0:T(8,128)}", rows[i].uses);
        int64_t want = ts_max(rows[i].transfers * once, rows[i].kernels * kernel);
        assert_in_range(choose_bound(&p, request.shape), want > 2 ? want - 2 : 0, want + 2);
    }
    ts_arena_free(p.scratch);
}

/* ---- Programs in C ---- */

/* x takes 4 units of 4,096 bytes of VMEM, or 125, or 3; z as many as it likes, of 32,768. */
static const struct {
    const char *layout;
    int units;
    bool fits;
} rooms[] = {
    {"{1,0:T(8,128)S(1)}", 32639, true},  {"{1,0:T(8,128)S(1)}", 32640, false},
    {"{0,1:T(4,128)S(1)}", 32764, true},  {"{0,1:T(1,128)S(1)}", 32764, true},
    {"{1,0:T(8,128)S(1)}", 32764, false},
};

TEST(a_layout_lies_in_place_or_behind) {
    const ts_choose_request request = {.machine = machine};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text,
                    ".tensor x vmem f32[1000,3]{0,1:T(4,128)}\n.tensor z vmem s32[%d]{0:T(1024)}\n"
                    ".tensor h hbm s32[99999999]\n sadd s1, s1, s1\n", /* larger than VMEM */
                    rooms[i].units * 1024);
        choose_pricer p = pricer_of(&request);
        p.program = assemble_text(arena, machine, text.bytes);
        ts_text shape = ts_text_begin(arena);
        ts_text_add(&shape, "f32[1000,3]%s", rooms[i].layout);
        if (choose_fits(&p, parse_shape(arena, shape.bytes)) != rooms[i].fits) fail_msg("row %zu", i);
        ts_arena_free(p.scratch);
    }
}

/* Behind itself, too: 62 MB and 77 MB are more than the 134 MB of VMEM. */
TEST(a_layout_lies_behind_its_own) {
    const ts_choose_request request = {.machine = machine};
    choose_pricer p = pricer_of(&request);
    p.program =
        assemble_text(arena, machine, ".tensor x vmem f32[150000,100]{0,1:T(8,128)}\n sadd s1, s1, s1\n");
    assert_false(choose_fits(&p, parse_shape(arena, "f32[150000,100]{1,0:T(8,128)S(1)}")));
    assert_true(choose_fits(&p, parse_shape(arena, "f32[150000,100]{0,1:T(8,128)S(1)}")));
    p.program =
        assemble_text(arena, machine, ".tensor x vmem f32[100000,100]{0,1:T(8,128)}\n sadd s1, s1, s1\n");
    assert_true(choose_fits(&p, parse_shape(arena, "f32[100000,100]{1,0:T(8,128)S(1)}"))); /* 42 and 51 MB */
    ts_arena_free(p.scratch);
}

/* What a run says where it does not end is no limit that was reached. */
TEST(a_run_that_fails) {
    const ts_choose_request request = {.machine = machine, .program = "a.tsim"};
    choose_pricer p = pricer_of(&request);
    p.program = assemble_text(arena, machine,
                              ".tensor x hbm f32[8,128]{1,0:T(8,128)}\n.sem s\n sem.add s, 1\n wait s, 2\n");
    for (int64_t limit = 1000; limit > 0; limit = limit == 1000 ? INT64_MAX : 0) {
        ts_candidate c = {.shape = parse_shape(arena, "f32[8,128]{1,0:T(8,128)}")};
        ts_error err = {0};
        bool cut = true;
        assert_false(choose_run_program(&err, &p, &c, limit, &cut));
        assert_false(cut);
        assert_int_equal(err.kind, TS_ERROR_FAULT);
        assert_non_null(strstr(err.message, "deadlock"));
        assert_int_equal(c.cycles, 0);
    }
    ts_arena_free(p.scratch);
}

/* Of its own layout a program takes what a run takes; it is cut where it reaches the limit. */
TEST(a_run_is_cut_at_its_limit) {
    const ts_choose_request request = {.machine = machine, .program = "a.tsim"};
    choose_pricer p = pricer_of(&request);
    p.program =
        assemble_text(arena, machine,
                      ".tensor x hbm f32[64,1000]{1,0:T(8,128)}\n.tensor y vmem f32[64,1000]{1,0:T(8,128)}\n"
                      ".sem s\n dma y <- x, s\n wait s\n");
    ts_run_request run = {.program = "a.tsim",
                          .built = p.program,
                          .machine = machine,
                          .time_only = true,
                          .max_cycles = INT64_MAX};
    ts_run_result result;
    ts_error err = {0};
    assert_true(ts_run(&err, arena, &run, &result));
    const int64_t takes = result.chip.cycles;
    for (int64_t limit = takes / 2; limit <= takes; limit += takes - takes / 2) {
        ts_candidate c = {.shape = parse_shape(arena, "f32[64,1000]{1,0:T(8,128)}")};
        bool cut = false;
        err = (ts_error){0};
        assert_true(choose_run_program(&err, &p, &c, limit, &cut));
        assert_int_equal(cut, limit < takes);
        assert_int_equal(err.message[0], 0);
        assert_int_equal(c.cycles, ts_min(limit, takes));
    }
    ts_candidate wide = {
        .shape = parse_shape(arena, "f32[64,1000]{0,1:T(8,128)}")}; /* 512,000 bytes, behind all others */
    bool cut = true;
    assert_true(choose_run_program(&err, &p, &wide, INT64_MAX, &cut));
    assert_true(!cut && wide.cycles > takes && wide.hbm_joules > 0);
    ts_arena_free(p.scratch);
}

/* Of what programs leave, that of the fastest that ends with transfers under way is kept, else of the fastest. */
TEST(the_fastest_run_s_findings_are_kept) {
    static const struct {
        const char *end;
        int bundles;
        bool unfinished, kept;
    } rows[] = {
        {"", 9, false, false},
        {"sem.add s, 1", 6, false, true},
        {"sem.add s, 1", 6, false, false},
        {"sem.add s, 1", 8, false, false},
        {"sem.add s, 1", 4, false, true},
        {"", 2, false, false},
        {"dma y <- x, s", 9, true, true},
        {"sem.add s, 1", 2, false, false},
        {"dma y <- x, s", 9, true, false},
        {"dma y <- x, s", 7, true, true},
        {"", 2, false, false},
    };
    const ts_choose_request request = {.machine = machine, .program = "a.tsim"};
    ts_findings left = {0};
    choose_pricer p = pricer_of(&request);
    p.left = &left;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text, ".tensor x hbm f32[8,128]{1,0:T(8,128)}\n.tensor y vmem f32[8,128]{1,0:T(8,128)}\n"
                           ".sem s\n");
        for (int k = 0; k < rows[i].bundles; k++) ts_text_add(&text, " sadd s1, s1, 1\n");
        ts_text_add(&text, " %s\n", rows[i].end);
        p.program = assemble_text(arena, machine, text.bytes);
        ts_candidate c = {.shape = parse_shape(arena, "f32[8,128]{1,0:T(8,128)}")};
        ts_error err = {0};
        bool cut;
        left.dropped = -1; /* of what is kept it is 0 */
        assert_true(choose_run_program(&err, &p, &c, INT64_MAX, &cut));
        assert_int_equal(c.unfinished, rows[i].unfinished);
        if ((left.dropped == 0) != rows[i].kept) fail_msg("row %zu", i);
        if (rows[i].kept) assert_int_equal(p.left_cycles, c.cycles);
    }
    assert_true(ts_findings_have(&left, TS_FINDING_TRANSFER));
    ts_arena_free(p.scratch);
}

/* ---- Assumed figures ---- */

static int64_t asked, last_done, last_of;

static void count_asked(void *self, int64_t done, int64_t of) {
    (void)self;
    asked++;
    assert_true(done >= 1 && done <= of);
    last_done = done;
    last_of = of;
}

/* Is there a machine with the figure halved, or doubled? */
static bool can_be_moved(const char *name, const ts_field_leaf *leaf) {
    bool moved = false;
    for (int doubles = 0; doubles < 2; doubles++) {
        ts_arena *scratch = ts_arena_new();
        ts_text set = ts_text_begin(scratch);
        ts_error err = {0};
        moved |= ts_field_scaled(leaf, doubles != 0, &set) &&
                 ts_machine_load_with(&err, scratch, name, "set", (const char *const[]){set.bytes}, 1);
        ts_arena_free(scratch);
    }
    return moved;
}

static bool is_timing(const char *path) {
    static const char *const groups[] = {"dma.", "hbm.", "core.timing.", "core.slots."};
    bool of_one = false;
    for (int i = 0; i < 4; i++) of_one |= strncmp(path, groups[i], strlen(groups[i])) == 0;
    return of_one && strncmp(path, "hbm.energy.", 11) != 0;
}

static const struct {
    const char *machine, *shape, *uses;
    int flips;
    const char *field, *value, *winner; /* of the first */
} moved[] = {
    {"tpu-v5p", "f32[500,300]", "dma,reduce:0", 1, "core.timing.lane_reduce.occupancy", "16",
     "f32[500,300]{1,0:T(4,128)}"},
    {"tpu-v4", "f32[1024,1024]", "dma,reduce:1", 1, "core.timing.vector_load.latency", "20",
     "f32[1024,1024]{0,1:T(8,128)}"},
    {"tpu-v5e", "f32[1000,3]", "dma", 0, NULL, NULL, NULL},
    {"tpu-v6e", "f32[64,100]", "reduce:1,stream", 1, "core.timing.lane_reduce.latency", "64",
     "f32[64,100]{0,1:T(1,128)}"}, /* of as many bytes, which takes the core longer */
};

/* On a machine with that figure, the other layout is the best by more than a tie, in the cycles that were said. */
static void assert_wins(const ts_choose_request *request, const ts_choose_result *now, const char *uses,
                        const ts_choose_flip *flip) {
    ts_error err = {0};
    ts_text set = ts_text_begin(arena);
    ts_text_add(&set, "%s=%s", flip->field, flip->value);
    const ts_machine *was = machine;
    machine =
        ts_machine_load_with(&err, arena, request->machine_name, "set", (const char *const[]){set.bytes}, 1);
    assert_non_null(machine);
    ts_text shape = ts_text_begin(arena);
    ts_shape_print(now->tensor, &shape);
    ts_choose_request other = request_of(shape.bytes, uses);
    other.exhaustive = true;
    const ts_choose_result result = chosen(&other);
    assert_int_equal(find(&result, now->candidates[0].text)->cycles, flip->cycles_of_best);
    assert_int_equal(find(&result, now->candidates[flip->winner].text)->cycles, flip->cycles);
    assert_true(choose_with_tie(flip->cycles) < flip->cycles_of_best);
    assert_int_equal(result.candidates[0].cycles, flip->cycles);
    machine = was;
}

TEST(assumed_figures_are_moved) {
    const ts_machine *usual = machine;
    for (size_t i = 0; i < sizeof moved / sizeof moved[0]; i += (size_t)stride(1, 4)) {
        machine = ts_machine_load(NULL, arena, moved[i].machine);
        assert_non_null(machine);
        ts_choose_request request = request_of(moved[i].shape, moved[i].uses);
        request.machine_name = moved[i].machine;
        request.moves_fields = true;
        request.progress = count_asked;
        asked = 0;
        const ts_choose_result r = chosen(&request);
        int64_t fields = 0, movable = 0;
        for (int k = 0; k < machine->leaf_count; k++) {
            const ts_field_leaf *leaf = &machine->leaves[k];
            if (ts_field_leaf_status(leaf) != TS_STATUS_ASSUMED || !is_timing(leaf->path)) continue;
            fields++;
            movable += i > 0 || can_be_moved(moved[i].machine, leaf);
        }
        assert_int_equal(asked, r.enumerated + fields); /* candidates, then figures */
        assert_true(last_of == machine->leaf_count && last_done <= last_of);
        if (i == 0) assert_int_equal(r.fields_moved, movable);
        assert_int_equal(r.flip_count, moved[i].flips);
        if (r.flip_count == 0) continue;
        assert_string_equal(r.flips[0].field, moved[i].field);
        assert_string_equal(r.flips[0].value, moved[i].value);
        assert_string_equal(r.candidates[r.flips[0].winner].text, moved[i].winner);
        for (int k = 0; k < r.flip_count; k++) assert_wins(&request, &r, moved[i].uses, &r.flips[k]);
    }
    machine = usual;
}

/* ---- Kernels ---- */

/* Where a summed dim lies decides what is done; dim -1: one pass. */
static const struct {
    const char *shape;
    int dim;
    const char *limiter;
} kernels[] = {
    {"f32[512,512]{1,0:T(8,128)}", -1, "core: one pass"},
    {"f32[512,512]{1,0:T(8,128)}", 0, "core: sublane sums"},
    {"f32[512,512]{1,0:T(8,128)}", 1, "core: lane sums"},
    {"f32[512,512]{0,1:T(8,128)}", 0, "core: lane sums"},
    {"f32[512,512]{0,1:T(8,128)}", 1, "core: sublane sums"},
    {"f32[512,512]{1,0:T(1,128)}", 0, "core: vreg adds"},
    {"f32[512,512]{1,0:T(1,128)}", 1, "core: lane and sublane sums"},
    {"f32[512,512]{1,0:T(2,128)}", 1, "core: lane and sublane sums"},
    {"f32[8,64,512]{2,1,0:T(8,128)}", 0, "core: vreg adds"},
    {"f32[8,64,512]{2,1,0:T(8,128)}", 1, "core: sublane sums"},
    {"f32[8,64,512]{2,1,0:T(*,8,128)}", 0, "core: sublane sums"}, /* as one with dim 1 */
    {"f32[8,64,512]{2,1,0:T(8,*,128)}", 1, "core: lane sums"},
    {"f32[8,64,512]{2,1,0:T(8,*,128)}", 0, "core: sublane sums"},
    {"f32[4096]{0:T(1024)}", 0, "core: lane and sublane sums"},
    {"bf16[512,512]{1,0:T(8,128)(2,1)}", 0, "core: sublane sums"},
    {"bf16[512,512]{1,0:T(2,128)(2,1)}", 0, "core: vreg adds"}, /* both rows of a word */
    {"bf16[512,512]{1,0:T(16,128)(2,1)}", 1, "core: lane sums"},
    {"s8[512,512]{1,0:T(8,128)(4,1)}", 1, "core: lane and sublane sums"},
    {"s4[512,512]{1,0:T(64,128)(8,1)E(4)}", 1, "core: lane sums"},
};

static int64_t cycles_of(choose_core *core, const char *shape, int dim, const char **limiter) {
    const ts_choose_use use = {dim < 0 ? TS_USE_STREAM : TS_USE_REDUCE, dim, NULL, NULL};
    ts_error err = {0};
    int64_t cycles = 0;
    core->dtype = parse_shape(arena, shape)->dtype;
    core->run_count = 0;
    if (!choose_core_cycles(&err, core, parse_shape(arena, shape), &use, &cycles, limiter))
        fail_msg("%s", err.message);
    return cycles;
}

TEST(kernels_fit_the_layout) {
    choose_core core = {.arena = arena, .machine = machine};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        const char *limiter;
        int64_t cycles = cycles_of(&core, kernels[i].shape, kernels[i].dim, &limiter);
        if (strcmp(limiter, kernels[i].limiter) != 0) fail_msg("row %zu: %s", i, limiter);
        assert_true(cycles >= choose_core_bound(&core, parse_shape(arena, kernels[i].shape)));
    }
    assert_int_equal(core.block_bytes, 0);
}

/* Twice as much takes twice as long, but for what a kernel begins and ends with; from half of VMEM on exactly. */
TEST(kernels_take_their_vregs) {
    static const char *const sizes[][2] = {
        {"f32[4096,512]{1,0:T(8,128)}", "f32[8192,512]{1,0:T(8,128)}"},
        {"bf16[4096,512]{1,0:T(8,128)(2,1)}", "bf16[8192,512]{1,0:T(8,128)(2,1)}"},
        {"s8[4096,512]{1,0:T(32,128)(4,1)}", "s8[8192,512]{1,0:T(32,128)(4,1)}"},
    };
    choose_core core = {.arena = arena, .machine = machine};
    const char *limiter;
    for (int i = 0; i < 3; i++) {
        for (int dim = -1; dim < 2; dim++) {
            double one = (double)cycles_of(&core, sizes[i][0], dim, &limiter);
            double two = (double)cycles_of(&core, sizes[i][1], dim, &limiter);
            if (two < 1.9 * one || two > 2.1 * one) fail_msg("%s: %f, %f", sizes[i][0], one, two);
        }
    }
    assert_int_equal(core.block_bytes, 0);
    int64_t half = cycles_of(&core, "f32[131072,128]{1,0:T(8,128)}", -1, &limiter);
    assert_int_equal(core.block_bytes, 0);
    assert_int_equal(cycles_of(&core, "f32[524288,128]{1,0:T(8,128)}", -1, &limiter), 4 * half);
    assert_int_equal(core.block_bytes, 64 << 20);
    assert_int_equal(choose_core_bound(&core, parse_shape(arena, "f32[131072,128]{1,0:T(8,128)}")),
                     ts_ceil_div(16384, machine->core.limits.slots[TS_SLOT_VLD]));
}

TEST(a_type_without_arithmetic) {
    const ts_choose_request request = request_of("f64[16,128]", "stream");
    ts_error err = {0};
    ts_choose_result result;
    assert_false(ts_choose(&err, arena, &request, &result));
    assert_error(&err, TS_ERROR_UNMODELLED,
                 "not modelled: the vector unit has no arithmetic for f64: only transfers can be priced\n");
}

/* ---- A program's tensor ---- */

static ts_choose_request of_program(const char *tensor) {
    static const ts_define rows = {"ROWS", "64"};
    ts_choose_request request = request_of(NULL, "");
    request.program = "programs/softmax.tsim";
    request.tensor = tensor;
    request.defines = &rows;
    request.define_count = 1;
    return request;
}

TEST(a_program_s_tensor) {
    ts_choose_request request = of_program("x");
    const ts_choose_result some = chosen(&request);
    request.exhaustive = true;
    const ts_choose_result all = chosen(&request);
    assert_string_equal(some.candidates[0].text, "f32[64,1000]{1,0:T(8,128)}");
    assert_true(some.candidates[0].is_now && some.candidates[0].is_rule);
    assert_true(some.estimated && some.cut > 0 && all.cut == 0);
    for (int i = 0; i < some.candidate_count; i++) {
        const ts_candidate *a = &some.candidates[i], *b = find(&all, a->text);
        if (a->priced) assert_int_equal(a->cycles, b->cycles);
        if (!a->priced) assert_true(a->bound_cycles <= b->cycles);
        assert_true(b->cycles >= all.candidates[0].cycles);
    }
}

TEST(programs_and_tensors_that_are_not) {
    static const struct {
        const char *tensor, *error;
    } rows[] = {
        {NULL, "error: which tensor of programs/softmax.tsim? expected x or y\n"},
        {"xc", "error: programs/softmax.tsim has no tensor 'xc'; did you mean 'x'?\n"},
        {"xb",
         "error: xb lies in vmem, and line 44 of programs/softmax.tsim addresses its words: with another "
         "layout it would be another program, expected x or y\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_choose_request request = of_program(rows[i].tensor);
        ts_error err = {0};
        ts_choose_result result;
        assert_false(ts_choose(&err, arena, &request, &result));
        assert_error(&err, err.kind, rows[i].error);
    }
}

/* A file that holds the program; to be removed. */
static const char *file_of(const char *text) {
    char *path = ts_arena_alloc(arena, TEMPORARY_PATH, 1);
    int file = mkstemp(temporary_path(path, "choose.XXXXXX"));
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    return path;
}

/* Of a tensor that is not there, or not named, an error says which may be asked about. */
TEST(what_may_be_asked_about) {
    static const struct {
        const char *text, *tensor, *begin, *end; /* around the program's name */
    } rows[] = {
        {" sadd s1, s1, s1\n", NULL, "which tensor of ", "? expected a program with tensors in hbm"},
        {" sadd s1, s1, s1\n", "x", "", " has no tensor 'x', expected a program with tensors in hbm"},
        {".tensor x hbm f32[8]\n.tensor y hbm f32[8]\n.tensor z hbm f32[8]\n sadd s1, s1, s1\n", NULL,
         "which tensor of ", "? expected x, y or z"},
        {".tensor x hbm f32[8,128]\n.tensor y vmem f32[8,128]\n vld v1, y.words[0]\n", "moment", "",
         " has no tensor 'moment', expected x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_choose_request request = request_of(NULL, "");
        request.program = file_of(rows[i].text);
        request.tensor = rows[i].tensor;
        ts_error err = {0};
        choose_pricer p = pricer_of(&request);
        assert_false(choose_load_program(&err, arena, &p));
        unlink(request.program);
        ts_arena_free(p.scratch);
        assert_string_equal(err.message,
                            ts_text_format(arena, "%s%s%s", rows[i].begin, request.program, rows[i].end));
    }
}

#define FETCH ".tensor y vmem f32[2,3,8,128]{3,2,1,0:T(8,128)}\n.sem s\n dma y <- x, s\n wait s\n"

/* A layout without tiles is one of its own, though its elements lie as tiles of 8 rows have them. */
TEST(a_program_s_tensor_without_tiles) {
    const char *path = file_of(".tensor x hbm f32[2,3,8,128]{3,2,1,0}\n" FETCH);
    ts_choose_request request = request_of(NULL, "");
    request.program = path;
    request.tensor = "x";
    request.moves_fields = request.exhaustive = true;
    const ts_choose_result r = chosen(&request);
    unlink(path);
    const ts_candidate *own = &r.candidates[0], *tiled = find(&r, "f32[2,3,8,128]{3,2,1,0:T(8,128)}");
    assert_string_equal(own->text, "f32[2,3,8,128]{3,2,1,0}");
    assert_true(own->is_now && own->alike == 1 && !own->is_rule && tiled->is_rule && tiled->alike == 1);
    assert_true(own->cycles == tiled->cycles && own->bytes == tiled->bytes);
    int alike = 0;
    for (int i = 0; i < r.candidate_count; i++) alike += r.candidates[i].alike;
    assert_true(alike == r.enumerated && r.enumerated == 24 * 4 + 1);
    assert_true(r.fields_moved > 0 && r.flip_count == 0);
}

/* In VMEM an instruction may address it: any of a bundle, of any bundle. */
TEST(words_that_are_addressed) {
    static const struct {
        const char *bundles;
        int line; /* 0: none addresses x */
    } rows[] = {
        {" vld v1, x.words[0]\n", 3},
        {" sadd s1, s1, s1\n { sadd s1, s1, s1; vld v1, x.words[0] }\n", 4},
        {" { vst x.words[0], v1; sadd s1, s1, s1 }\n", 3},
        {" vld v1, vmem[4096]\n", 3}, /* of whatever lies there */
        {" vld v1, w.words[0]\n", 0}, /* of the first of the tensors */
        {" sadd s1, s1, s1\n", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text,
                    ".tensor w vmem f32[8,128]\n.tensor x vmem f32[2,3,8,128]{3,2,1,0:T(8,128)}\n%s" FETCH,
                    rows[i].bundles);
        ts_choose_request request = request_of(NULL, "");
        request.program = file_of(text.bytes);
        request.tensor = "x";
        ts_error err = {0};
        choose_pricer p = pricer_of(&request);
        bool good = choose_load_program(&err, arena, &p);
        unlink(request.program);
        ts_arena_free(p.scratch);
        assert_int_equal(good, rows[i].line == 0);
        if (good) continue;
        assert_int_equal(err.kind, TS_ERROR_USAGE);
        if (!strstr(err.message, ts_text_format(arena, "x lies in vmem, and line %d of ", rows[i].line)))
            fail_msg("row %zu: %s", i, err.message);
    }
}

/* ---- Which figures are moved, and which layouts are priced again ---- */

#define COPY                                                                                                 \
    ".tensor x hbm f32[64,1000]{1,0:T(8,128)}\n.tensor y vmem f32[64,1000]{1,0:T(8,128)}\n.sem s\n dma y "   \
    "<- "                                                                                                    \
    "x, s\n wait s\n"
#define WIDE "f32[64,64,8,128]"
#define COPY_4D                                                                                              \
    ".tensor x hbm " WIDE "{3,2,1,0:T(8,128)}\n.tensor y vmem " WIDE                                         \
    "{3,2,1,0:T(8,128)}\n.sem s\n dma y <- x, s\n wait s\n"
#define SLOW "{0,1:T(8,128)}" /* 512,000 bytes, and y has them in another order: 64,410 cycles for 925 */
#define FAST "{1,0:T(8,128)}"
#define T_CL "hbm.timing.t_cl" /* doubled; halved there is no such machine */
#define T_WR "hbm.timing.t_wr" /* of no read */
enum { AS_PRICED = -1, MOST_TOLD = 5 };

/* A list that says what each layout takes, whatever that is: the winner of each contest is that which truly does. */
typedef struct {
    const char *layout;                 /* of f32[64,1000], or of a shape that is said */
    int64_t bytes, core_cycles, cycles; /* 0: it was cut */
} told;

static const struct {
    const char *program; /* NULL: of a transfer into VMEM */
    const char *field;
    told list[MOST_TOLD];
    int flips, winner;
} contests[] = {
    {NULL, T_CL, {{SLOW, 512000, 0, 100}, {FAST, 262144, 0, 150}}, 1, 1},
    {NULL, "hbm.energy.idd0", {{SLOW, 512000, 0, 100}, {FAST, 262144, 0, 150}}, 0, 0}, /* no time */
    {NULL, T_CL, {{SLOW, 512000, 0, 100}, {FAST, 511999, 0, 199}}, 1, 1},
    {NULL, T_CL, {{SLOW, 512000, 0, 100}, {FAST, 511999, 0, 200}}, 0, 0}, /* twice as long */
    {NULL, T_CL, {{SLOW, 512000, 0, 100}, {FAST, 511999, 0, 0}}, 0, 0},
    {NULL, T_CL, {{SLOW, 512000, 0, 100}, {FAST, 512000, 0, 150}}, 0, 0}, /* no fewer bytes: it cannot win */
    {NULL, T_CL, {{FAST, 512000, 0, 100}, {SLOW, 262144, 0, 150}}, 0, 0}, /* it takes longer */
    /* a figure that slows the best makes no other faster: who took more than that does not win */
    {NULL, T_CL, {{SLOW, 512000, 0, 700}, {FAST, 262144, 0, 1390}}, 0, 0},
    {NULL, T_WR, {{SLOW, 512000, 0, AS_PRICED}, {FAST, 262144, 0, 1500}}, 2, 1},
    /* four are priced, those that could part */
    {NULL,
     T_CL,
     {{SLOW, 5, 0, 100}, {SLOW, 5, 0, 100}, {SLOW, 4, 0, 100}, {SLOW, 5, 1, 100}, {FAST, 3, 0, 100}},
     1,
     4},
    {NULL,
     T_CL,
     {{SLOW, 5, 0, 100}, {SLOW, 4, 0, 100}, {SLOW, 5, 1, 100}, {SLOW, 5, 0, 101}, {FAST, 3, 0, 100}},
     0,
     0},
    /* of a program the best of each order of dims; an order without tiles is another */
    {COPY, T_CL, {{SLOW, 0, 0, 100}, {FAST, 0, 0, 150}}, 1, 1},
    {COPY,
     T_CL,
     {{SLOW, 0, 0, 100},
      {"{0,1:T(4,128)}", 0, 0, 100},
      {"{0,1:T(2,128)}", 0, 0, 100},
      {"{0,1:T(1,128)}", 0, 0, 100},
      {FAST, 0, 0, 100}},
     1,
     4},
    {COPY, T_CL, {{"{1,0}", 0, 0, 100}, {FAST, 0, 0, 150}}, 1, 1},
    {COPY, T_CL, {{" S[(64,1000):(1000,1)]", 0, 0, 100}, {FAST, 0, 0, 150}}, 1, 1}, /* of no dims' order */
    {COPY_4D, T_CL, {{WIDE "{3,2,0,1:T(8,128)}", 0, 0, 100}, {WIDE "{3,2,1,0:T(8,128)}", 0, 0, 150}}, 1, 1},
    {COPY, T_CL, {{SLOW, 0, 0, 100}, {"{0,1}", 0, 0, 100}, {"{1,0}", 0, 0, 100}, {FAST, 0, 0, 100}}, 1, 2},
    /* times of instructions that it has */
    {COPY, "core.timing.semaphore.latency", {{SLOW, 0, 0, 100}, {FAST, 0, 0, 150}}, 1, 1},
    {COPY, "core.timing.vector_load.latency", {{SLOW, 0, 0, 100}, {FAST, 0, 0, 150}}, 0, 0},
    {COPY " { sadd s1, s1, s1; vld v1, y.words[0] }\n",
     "core.timing.vector_load.latency",
     {{SLOW, 0, 0, 100}, {FAST, 0, 0, 150}},
     2,
     1},
};

static const ts_field_leaf *find_leaf(const char *path) {
    for (int i = 0; i < machine->leaf_count; i++)
        if (strcmp(machine->leaves[i].path, path) == 0) return &machine->leaves[i];
    return NULL;
}

static ts_candidate candidate_of(const ts_choose_request *request, const told *t) {
    const bool whole = t->layout[0] == 'f';
    const ts_shape *shape =
        parse_shape(arena, ts_text_format(arena, "%s%s", whole ? "" : "f32[64,1000]", t->layout));
    return (ts_candidate){.shape = shape,
                          .bytes = t->bytes,
                          .core_cycles = t->core_cycles,
                          .cycles = t->cycles == AS_PRICED ? priced(request, shape).cycles : t->cycles,
                          .priced = t->cycles != 0};
}

TEST(winners_of_told_lists) {
    for (size_t i = 0; i < sizeof contests / sizeof contests[0]; i++) {
        ts_machine one = *machine; /* of that figure alone */
        ts_choose_request request =
            request_of(contests[i].program ? NULL : "f32[64,1000]{1,0:T(8,128)}", "dma");
        ts_candidate list[MOST_TOLD];
        ts_choose_result r = {0};
        ts_error err = {0};
        int count = 0;
        for (; count < MOST_TOLD && contests[i].list[count].layout; count++)
            list[count] = candidate_of(&request, &contests[i].list[count]);
        one.leaves = find_leaf(contests[i].field);
        one.leaf_count = 1;
        request.machine = &one;
        request.progress = count_asked;
        request.tensor = "x";
        choose_pricer p = pricer_of(&request);
        p.failure = &err;
        p.machine = machine;
        if (contests[i].program) request.program = file_of(contests[i].program);
        if (request.program) assert_true(choose_load_program(&err, arena, &p));
        choose_move_fields(&p, list, count, &r);
        if (request.program) unlink(request.program);
        ts_arena_free(p.scratch);
        if (r.flip_count != contests[i].flips) fail_msg("row %zu: %d flips", i, r.flip_count);
        assert_true(last_done == 1 && last_of == 1 && err.message[0] == '\0');
        for (int k = 0; k < r.flip_count; k++) {
            assert_int_equal(r.flips[k].winner, contests[i].winner);
            assert_true(choose_with_tie(r.flips[k].cycles) < r.flips[k].cycles_of_best);
        }
    }
}

static int make_machine(void **state) {
    begin_group(state);
    machine = ts_machine_load(NULL, arena, "tpu-v5e");
    return machine ? 0 : -1;
}

int main(void) { return run_all_tests(make_machine, end_group); }
