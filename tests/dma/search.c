/* How a compiler prices transfers inside its search, with the headers of the tree and libtilesim.a: a tensor
 * goes through a chain of operations, each of which wants its layout; which layout should it have in between?
 * Prints every choice and the cheapest. Usage: search [machine] */
#include <stdio.h>
#include <string.h>

#include "layout/shape.h"
#include "study/core_program.h"

enum { CHOICES = 4 };

static const char *const before = "bf16[2048,1024]{1,0}", *const after = "bf16[2048,1024]{0,1:T(8,128)(2,1)}";
static const char *const between[CHOICES] = {"bf16[2048,1024]{1,0}", "bf16[2048,1024]{0,1}",
                                             "bf16[2048,1024]{1,0:T(8,128)(2,1)}",
                                             "bf16[2048,1024]{0,1:T(8,128)(2,1)}"};

static const ts_shape *parse(ts_error *err, ts_arena *arena, const char *text) {
    ts_source source = {"layout", text, strlen(text)};
    return ts_shape_parse(err, arena, &source);
}

/* The core cycles of one transfer from HBM to HBM, or -1. */
static int64_t price(ts_error *err, const ts_machine *machine, ts_prices *known, const char *src_text,
                     const char *dst_text) {
    ts_arena *arena = ts_arena_new();
    ts_dma_end hbm = {.in_hbm = true};
    ts_dma_cost cost = {.cycles = -1};
    ts_core_program by;
    const ts_shape *src = parse(err, arena, src_text), *dst = parse(err, arena, dst_text);
    if (src && dst) {
        ts_plan_side from = {.shape = src}, to = {.shape = dst, .base_bits = INT64_C(8) << 30}; /* at 1 GiB */
        const ts_plan *plan = ts_plan_new(err, arena, &from, &to, src->layout->rank, src->layout->dims);
        if (!plan ||
            !ts_plan_price(err, arena, &(ts_plan_price_request){machine, known, plan, hbm, hbm, false, 0},
                           &cost, &by))
            cost.cycles = -1;
    }
    ts_arena_free(arena);
    return cost.cycles;
}

int main(int argc, char **argv) {
    ts_error err = {0};
    ts_arena *arena = ts_arena_new();
    const ts_machine *machine = ts_machine_load(&err, arena, argc > 1 ? argv[1] : TS_MACHINE_DEFAULT);
    ts_prices *known = ts_prices_new(arena);
    int64_t least = INT64_MAX;
    const char *best = NULL;
    for (int i = 0; machine && err.kind == TS_ERROR_NONE && i < CHOICES; i++) {
        int64_t in = price(&err, machine, known, before, between[i]),
                out = price(&err, machine, known, between[i], after);
        printf("%-36s %9lld in, %9lld out\n", between[i], (long long)in, (long long)out);
        if (in + out < least) least = in + out, best = between[i];
    }
    char text[1024];
    bool failed = !machine || err.kind != TS_ERROR_NONE;
    if (failed) ts_error_format(&err, text, sizeof text), fputs(text, stderr);
    if (!failed) printf("best: %s, %lld cycles\n", best, (long long)least);
    ts_arena_free(arena);
    return failed ? ts_error_exit_code(&err) : 0;
}
