/* What an audit of a text finds: buffers, moves and how often they run, what is worth doing, what compilers reported of
 * memory. */
#include "audit/audit_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/support/audited.h"
#include "tests/support/group.h"

enum { MOST_FILE_BYTES = 1 << 20, SMALL = 4000 };

/* ---- A result as text ---- */

static void add_where(ts_text *out, const char *name, ts_hlo_opcode opcode, int64_t line,
                      const ts_audit_source *source) {
    ts_text_add(out, "%s %s line %" PRId64, name[0] ? name : "-", ts_hlo_opcode_name(opcode), line);
    if (source->op[0]) ts_text_add(out, " of %s", source->op);
}

static const char *shape_of(const ts_audit_result *r, int32_t shape) {
    return shape < 0 ? "?" : r->shapes[shape].text;
}

static void add_sum(ts_text *out, const char *what, const ts_audit_sum *sum) {
    if (sum->buffers > 0)
        ts_text_add(out, "%s: %" PRId64 " buffers, %" PRId64 " bytes in %" PRId64 ", wider %" PRId64 "\n",
                    what, sum->buffers, sum->logical_bytes, sum->padded_bytes, sum->widened_bytes);
}

static void add_buffers(ts_text *out, const ts_audit_result *r) {
    static const char *const spaces[] = {"space 0", "space 1", "space 2", "space 3"};
    add_sum(out, "all", &r->sum);
    for (int i = 0; i < 4; i++) add_sum(out, spaces[i], &r->spaces[i]);
    for (int i = 0; i < r->class_count; i++) {
        const ts_audit_class *c = &r->classes[i];
        if (c->waste_bytes == 0) continue;
        ts_text_add(out, "%" PRId64 " of %s waste %" PRId64 ": ", c->count, shape_of(r, c->shape),
                    c->waste_bytes);
        add_where(out, c->first.name, c->first.opcode, c->first.line, &c->first.source);
        ts_text_add(out, "\n");
    }
}

static void add_move(ts_text *out, const ts_audit_result *r, const ts_audit_group *g) {
    const ts_audit_move *m = &g->first;
    add_where(out, m->name, m->opcode, m->line, &m->source);
    ts_text_add(out, ", %s: %s to %s", ts_audit_level_text(m->level), shape_of(r, m->src),
                shape_of(r, m->dst));
    ts_text_add(out, ", changes %u, space %d to %d, %" PRId64 " bytes read, %" PRId64 " written", m->changes,
                m->from, m->to, m->read_bytes, m->written_bytes);
    ts_text_add(out, ", %" PRId64 " run %" PRId64 "%s%s%s\n", m->count, m->runs, g->by ? " by " : "",
                g->by ? g->by : "",
                g->moves_nothing ? " for nothing"
                : g->priced      ? ""
                                 : " unpriced");
}

static void add_finding(ts_text *out, const ts_audit_finding *f) {
    ts_text_add(out, "%s: %s; saves %" PRId64 "%s\n", f->what, f->fix, f->bytes_saved,
                f->at_most ? " at most" : "");
    if (f->layout) ts_text_add(out, "  as %s\n", f->layout);
}

static void add_memory(ts_text *out, const ts_audit_result *r) {
    for (int i = 0; i < r->report_count; i++) {
        const ts_audit_report *p = &r->reports[i];
        ts_text_add(out, "line %" PRId64 " %s: %s %s, ours %s %s%s\n", p->line, shape_of(r, p->shape),
                    p->reported, p->reported_expansion, p->computed, p->computed_expansion,
                    p->agrees ? "" : " differs");
    }
    for (int i = 0; i < r->figure_count; i++)
        ts_text_add(out, "line %" PRId64 " %s of %d: %s, %" PRId64 "\n", r->figures[i].line,
                    r->figures[i].name, r->figures[i].space, r->figures[i].text, r->figures[i].bytes);
    for (int i = 0; i < r->allocation_count; i++) {
        const ts_audit_allocation *a = &r->allocations[i];
        ts_text_add(out, "line %" PRId64 " %s of %d: %s, %" PRId64 ", %s%s\n", a->line, a->name, a->space,
                    a->text, a->bytes, shape_of(r, a->shape), a->at_peak ? " at the peak" : "");
    }
    for (int i = 0; i < r->kind_count; i++)
        ts_text_add(out, "%" PRId64 " %s, line %" PRId64 "\n", r->kinds[i].count, r->kinds[i].kind,
                    r->kinds[i].first_line);
}

/* In the order of the text: that of prices is not what is stated here. */
static int by_line(const void *a, const void *b) {
    const ts_audit_group *x = a, *y = b;
    return (x->first.line > y->first.line) - (x->first.line < y->first.line);
}

static int by_text(const void *a, const void *b) {
    return strcmp(((const ts_audit_finding *)a)->what, ((const ts_audit_finding *)b)->what);
}

static void *sorted(const void *items, int64_t count, size_t size, int (*order)(const void *, const void *)) {
    void *copy = ts_arena_alloc(arena, (size_t)count, size);
    if (count > 0) memcpy(copy, items, (size_t)count * size);
    qsort(copy, (size_t)count, size, order);
    return copy;
}

/* Sums of times, which no row states: of groups, all, and as often as they run. */
static void assert_times(const ts_audit_result *r) {
    double all = 0, fused = 0;
    for (int i = 0; i < r->group_count; i++) {
        const ts_audit_group *g = &r->groups[i];
        if (!g->priced || g->first.level == TS_AUDIT_LEVEL_APPLIED) continue;
        double runs = (double)g->first.runs;
        if (g->moves_nothing || g->first.written_bytes == 0) continue;
        assert_true(g->microseconds > 0);
        assert_true(g->total_microseconds > 0.999 * runs * g->microseconds &&
                    g->total_microseconds < 1.001 * runs * g->microseconds);
        *(g->first.level == TS_AUDIT_LEVEL_FUSED ? &fused : &all) += g->total_microseconds;
        if (i > 0 && r->groups[i - 1].priced)
            assert_true(r->groups[i - 1].total_microseconds >= g->total_microseconds);
    }
    assert_true(r->microseconds >= all * 0.999 && r->microseconds <= all * 1.001);
    assert_true(r->fused_microseconds >= fused * 0.999 && r->fused_microseconds <= fused * 1.001);
}

/* What is in no use is forgotten at each line, and not missed. */
static ts_audit *audited_forgetting(const char *text, size_t length, ts_audit_result *r) {
    ts_error err = {0};
    ts_audit *audit = ts_audit_new(arena, &v6e_audit);
    for (size_t at = 0, line; at < length; at += line) {
        line = strcspn(text + at, "\n") + 1;
        audit->forget_count = 0;
        ts_audit_feed(audit, text + at, length - at < line ? length - at : line);
    }
    if (!ts_audit_finish(&err, audit, NULL, NULL, r)) fail_msg("%s", err.message);
    return audit;
}

static void assert_found(const char *text, size_t length, const char *expected) {
    static const size_t pieces[] = {0, 1, 61};
    for (int i = -1; i < (length < SMALL ? 3 : 1); i++) { /* cut anywhere */
        ts_audit_result r;
        ts_audit *audit = i < 0 ? audited_forgetting(text, length, &r)
                                : audited(arena, &v6e_audit, (audited_text){text, length, pieces[i]}, &r);
        ts_text out = ts_text_begin(arena);
        add_buffers(&out, &r);
        const ts_audit_group *groups = sorted(r.groups, r.group_count, sizeof *r.groups, by_line);
        const ts_audit_finding *findings = sorted(r.findings, r.finding_count, sizeof *r.findings, by_text);
        for (int k = 0; k < r.group_count; k++) add_move(&out, &r, &groups[k]);
        ts_text_add(&out, "free: %" PRId64 " bitcasts, %" PRId64 " others\n", r.bitcasts, r.free_moves);
        for (int k = 0; k < r.finding_count; k++) add_finding(&out, &findings[k]);
        add_memory(&out, &r);
        assert_string_equal(out.bytes, expected);
        assert_times(&r);
        ts_audit_free(audit);
    }
}

/* ---- Texts ---- */

/* A loop of five rounds between HBM and VMEM, a fused copy, and what pads. */
static const char step[] =
    "HloModule step, is_scheduled=true\n\n"
    "%fused (p.1: f32[8,1024]) -> f32[8,1024] {\n"
    "  %p.1 = f32[8,1024]{1,0:T(8,128)} parameter(0)\n"
    "  ROOT %c.1 = f32[8,1024]{0,1:T(8,128)} copy(%p.1)\n"
    "}\n\n"
    "%cond (s.1: (s32[], f32[8,1024])) -> pred[] {\n"
    "  %s.1 = (s32[]{:T(128)}, f32[8,1024]{1,0:T(8,128)}) parameter(0)\n"
    "  ROOT %lt = pred[]{:T(512)} constant(true)\n" /* line 10 */
    "}\n\n"
    "%body (s.2: (s32[], f32[8,1024])) -> (s32[], f32[8,1024]) {\n"
    "  %s.2 = (s32[]{:T(128)}, f32[8,1024]{1,0:T(8,128)}) parameter(0)\n"
    "  %i = s32[]{:T(128)} get-tuple-element(%s.2), index=0\n"
    "  %x = f32[8,1024]{1,0:T(8,128)} get-tuple-element(%s.2), index=1\n"
    "  %vmem = f32[8,1024]{1,0:T(8,128)S(1)} copy(%x)\n"
    "  %back = f32[8,1024]{1,0:T(8,128)} copy(%vmem)\n"
    "  ROOT %r = (s32[]{:T(128)}, f32[8,1024]{1,0:T(8,128)}) tuple(%i, %back)\n"
    "}\n\n" /* line 20 */
    "ENTRY %main (a: f32[8,1024]) -> f32[1024,8] {\n"
    "  %a = f32[8,1024]{1,0:T(8,128)} parameter(0), metadata={op_name=\"x\"}\n"
    "  %k = s32[]{:T(128)} constant(0)\n"
    "  %in = (s32[]{:T(128)}, f32[8,1024]{1,0:T(8,128)}) tuple(%k, %a)\n"
    "  %w = (s32[]{:T(128)}, f32[8,1024]{1,0:T(8,128)}) while(%in), condition=%cond, body=%body, "
    "backend_config={\"known_trip_count\":{\"n\":\"5\"}}\n"
    "  %o = f32[8,1024]{1,0:T(8,128)} get-tuple-element(%w), index=1\n"
    "  %f = f32[8,1024]{0,1:T(8,128)} fusion(%o), kind=kLoop, calls=%fused\n"
    "  %b = f32[1024,8]{1,0:T(8,128)} bitcast(%f)\n"
    "  %u = bf16[1024,8]{1,0:T(8,128)(2,1)} convert(%b), metadata={op_name=\"jit(f)/convert\"}\n" /* 30 */
    "  %n = f32[3,1024]{1,0:T(8,128)} slice(%o), slice={[0:3],[0:1024]}\n"
    "  ROOT %t = f32[1024,8]{0,1:T(8,128)} transpose(%o), dimensions={1,0}\n"
    "}\n";

TEST(a_step_of_a_loop) {
    assert_found(
        step, sizeof step - 1,
        "all: 9 buffers, 192517 bytes in 951296, wider 0\n"
        "space 0: 8 buffers, 159749 bytes in 918528, wider 0\n"
        "space 1: 1 buffers, 32768 bytes in 32768, wider 0\n"
        "1 of f32[8,1024]{0,1:T(8,128)} waste 491520: f fusion line 28\n"
        "1 of bf16[1024,8]{1,0:T(8,128)(2,1)} waste 245760: u convert line 30 of jit(f)/convert\n"
        "1 of f32[3,1024]{1,0:T(8,128)} waste 20480: n slice line 31\n"
        "1 of pred[]{:T(512)} waste 511: lt constant line 10\n"
        "1 of s32[]{:T(128)} waste 508: k constant line 24\n"
        "c.1 copy line 5, fused: f32[8,1024]{1,0:T(8,128)} to f32[8,1024]{0,1:T(8,128)}, changes 34, space 0 "
        "to 0, 32768 bytes read, 524288 written, 1 run 1 by programs/transpose.tsim\n"
        "vmem copy line 17, loop or branch: f32[8,1024]{1,0:T(8,128)} to f32[8,1024]{1,0:T(8,128)S(1)}, "
        "changes 8, space 0 to 1, 32768 bytes read, 32768 written, 1 run 5\n"
        "back copy line 18, loop or branch: f32[8,1024]{1,0:T(8,128)S(1)} to f32[8,1024]{1,0:T(8,128)}, "
        "changes 8, space 1 to 0, 32768 bytes read, 32768 written, 1 run 5\n"
        "b bitcast line 29, entry: f32[8,1024]{0,1:T(8,128)} to f32[1024,8]{1,0:T(8,128)}, changes 16, space "
        "0 to 0, 0 bytes read, 0 written, 1 run 1\n"
        "n slice line 31, entry: ? to f32[3,1024]{1,0:T(8,128)}, changes 16, space 0 to 0, 32768 bytes read, "
        "32768 written, 1 run 1\n"
        "t transpose line 32, entry: f32[8,1024]{1,0:T(8,128)} to f32[1024,8]{0,1:T(8,128)}, changes 0, "
        "space 0 to 0, 32768 bytes read, 32768 written, 1 run 1 for nothing\n"
        "free: 1 bitcasts, 1 others\n"
        "bf16[1024,8]{1,0:T(8,128)(2,1)} takes 256.0K for 16.0K of data: another order of dims: "
        "bf16[1024,8]{0,1:T(8,128)(2,1)} takes 16.0K; saves 245760\n"
        "  as {0,1:T(8,128)(2,1)}\n"
        "copy changes order of dims, more padding: f32[8,1024]{1,0:T(8,128)} to f32[8,1024]{0,1:T(8,128)}: "
        "the padding is the target's: 512.0K for it; keep the source's layout {1,0:T(8,128)}; saves 491520\n"
        "  as {0,1:T(8,128)}\n"
        "f32[3,1024]{1,0:T(8,128)} takes 32.0K for 12.0K of data: fold dims that are neighbours in memory: "
        "f32[3072]{0:T(1024)} takes 12.0K; saves 20480\n"
        "f32[8,1024]{0,1:T(8,128)} takes 512.0K for 32.0K of data: another order of dims: "
        "f32[8,1024]{1,0:T(8,128)} takes 32.0K; saves 491520\n"
        "  as {1,0:T(8,128)}\n");
}

/* tests/data/hlo/step.txt, as a compiler for TPUs prints a module. */
TEST(a_module_of_a_compiler) {
    char *text = NULL;
    size_t length;
    ts_error err = {0};
    assert_true(ts_file_read(&err, arena, "tests/data/hlo/step.txt", MOST_FILE_BYTES, &text, &length));
    assert_found(
        text, length,
        "all: 18 buffers, 1434058765 bytes in 1671432192, wider 201326592\n"
        "space 0: 16 buffers, 1404698637 bytes in 1642072064, wider 201326592\n"
        "space 1: 2 buffers, 29360128 bytes in 29360128, wider 0\n"
        "1 of pred[64,512,2048]{2,1,0:T(8,128)E(32)} waste 201326592: p2 parameter line 48\n"
        "1 of f32[4,128,128,18]{3,0,2,1:T(4,128)} waste 28835840: copy.remat custom-call line 52\n"
        "1 of f32[16,1280,40]{2,1,0:T(8,128)} waste 7208960: init custom-call line 57\n"
        "2 of s32[]{:T(128)} waste 1016: n constant line 41\n"
        "1 of pred[]{:T(512)} waste 511: lt compare line 42\n"
        "1 of f32[]{:T(128)} waste 508: reduce.1 reduce line 56\n"
        "copy.11 copy line 11 of state['model']['mlp'].value, fused: f32[1024,4,14336]{2,1,0:T(4,128)} to "
        "bf16[1024,4,14336]{2,0,1:T(8,128)(2,1)}, changes 7, space 0 to 0, 234881024 bytes read, 117440512 "
        "written, 1 run 1 by programs/pack.tsim\n"
        "bitcast.3 bitcast line 12, fused: bf16[1024,4,14336]{2,0,1:T(8,128)(2,1)} to "
        "bf16[4,1024,14336]{2,1,0:T(8,128)(2,1)}, changes 16, space 0 to 0, 0 bytes read, 0 written, 1 run "
        "1\n"
        "slice.1 slice line 23, asynchronous: ? to bf16[1,2048,4096]{2,1,0:T(8,128)(2,1)S(1)}, changes 24, "
        "space 0 to 1, 16777216 bytes read, 16777216 written, 1 run 1\n"
        "copy.20 copy line 31, loop or branch: f32[2048,1536]{1,0:T(8,128)} to f32[2048,1536]{0,1:T(8,128)}, "
        "changes 2, space 0 to 0, 12582912 bytes read, 12582912 written, 1 run 4 by programs/transpose.tsim\n"
        "copy-start.2 copy-start line 32, loop or branch: f32[2048,1536]{0,1:T(8,128)} to "
        "f32[2048,1536]{0,1:T(8,128)S(1)}, changes 8, space 0 to 1, 12582912 bytes read, 12582912 written, 1 "
        "run 4\n"
        "copy.1 copy line 50, entry: bf16[8,2048,4096]{2,1,0:T(8,128)(2,1)} to "
        "bf16[8,2048,4096]{2,1,0:T(8,128)(2,1)}, changes 0, space 0 to 0, 134217728 bytes read, 134217728 "
        "written, 1 run 1\n"
        "copy.2 copy line 51, entry: bf16[8,2048,4096]{2,1,0:T(8,128)(2,1)} to "
        "bf16[8,2048,4096]{1,2,0:T(8,128)(2,1)}, changes 2, space 0 to 0, 134217728 bytes read, 134217728 "
        "written, 1 run 1 by programs/transpose.tsim\n"
        "all-gather.1 all-gather line 55, entry: ? to bf16[32,2048,4096]{2,1,0:T(8,128)(2,1)}, changes 0, "
        "space 0 to 0, 0 bytes read, 536870912 written, 1 run 1 unpriced\n"
        "free: 1 bitcasts, 0 others\n"
        "copy changes nothing: bf16[8,2048,4096]{2,1,0:T(8,128)(2,1)} to "
        "bf16[8,2048,4096]{2,1,0:T(8,128)(2,1)}: donate the argument (jax.jit donate_argnums): the copy "
        "keeps it unchanged; saves 134217728\n"
        "copy changes order of dims: bf16[8,2048,4096]{2,1,0:T(8,128)(2,1)} to "
        "bf16[8,2048,4096]{1,2,0:T(8,128)(2,1)}: give the argument the layout {1,2,0:T(8,128)(2,1)} where it "
        "is made (jax.experimental.layout), once; saves 134217728\n"
        "  as {1,2,0:T(8,128)(2,1)}\n"
        "copy changes order of dims: f32[2048,1536]{1,0:T(8,128)} to f32[2048,1536]{0,1:T(8,128)}: produce "
        "the source as {0,1:T(8,128)}, or let the user read {1,0:T(8,128)}; saves 0\n"
        "  as {0,1:T(8,128)}\n"
        "copy changes type, order of dims, tile: f32[1024,4,14336]{2,1,0:T(4,128)} to "
        "bf16[1024,4,14336]{2,0,1:T(8,128)(2,1)}: produce the operand as {2,0,1:T(8,128)(2,1)}: the fusion "
        "then needs no reordering; saves 0 at most\n"
        "  as {2,0,1:T(8,128)(2,1)}\n"
        "f32[16,1280,40]{2,1,0:T(8,128)} takes 10.00M for 3.12M of data: another order of dims: "
        "f32[16,1280,40]{1,2,0:T(8,128)} takes 3.12M; saves 7208960\n"
        "  as {1,2,0:T(8,128)}\n"
        "f32[4,128,128,18]{3,0,2,1:T(4,128)} takes 32.00M for 4.50M of data: another order of dims: "
        "f32[4,128,128,18]{2,0,3,1:T(4,128)} takes 4.50M; saves 28835840\n"
        "  as {2,0,3,1:T(4,128)}\n"
        "pred[64,512,2048]{2,1,0:T(8,128)E(32)} takes 256.00M for 64.00M of data: store it at its own width: "
        "E() makes elements 4 times as wide; saves 201326592\n");
}

/* Messages of a compiler that ran out of memory. */
static const char message[] =
    "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 20.00G "
    "of "
    "15.48G hbm. Exceeded hbm capacity by 4.52G.\n\n"
    "Total hbm usage >= 20.52G:\n"
    "    reserved        530.00M \n"
    "    program          15.13G \n"
    "    arguments         4.87G \n\n"
    "Output size 0B; shares 0B with arguments.\n\n"
    "Program hbm requirement 15.13G:\n"
    "    HLO temp         15.13G (98.9% utilization: Unpadded (7.43G) Padded (7.51G), 50.4% fragmentation "
    "(7.62G))\n\n"
    "  Largest program allocations in hbm:\n\n"
    "  1. Size: 8.00G\n"
    "     Operator: op_name=\"jit(f)/transpose\"\n"
    "     Shape: f32[16,16,1024,1024]{1,3,2,0:T(8,128)}\n"
    "     Unpadded size: 1.00G\n"
    "     Extra memory due to padding: 7.00G (8.0x expansion)\n"
    "     XLA label: copy.remat = copy(Arg_0.1)\n"
    "     Allocation type: HLO temp\n"
    "     ==========================\n\n"
    "  2. Size: 4.00M\n"
    "     Shape: f32[1024,1000]{1,0:T(8,128)}\n"
    "     Unpadded size: 3.00M\n"
    "     Allocation type: scoped\n"
    "     ==========================\n\n"
    "  3. Size: 29.66K\n"
    "     XLA label: register allocator spill slots\n"
    "     Allocation type: scoped\n"
    "     ==========================\n";

TEST(what_a_compiler_reported) {
    assert_found(message, sizeof message - 1,
                 "all: 2 buffers, 1077837824 bytes in 8594128896, wider 0\n"
                 "space 0: 2 buffers, 1077837824 bytes in 8594128896, wider 0\n"
                 "1 of f32[16,16,1024,1024]{1,3,2,0:T(8,128)} waste 7516192768: - (unknown) line 15\n"
                 "1 of f32[1024,1000]{1,0:T(8,128)} waste 98304: - (unknown) line 24\n"
                 "free: 0 bitcasts, 0 others\n"
                 "f32[1024,1000]{1,0:T(8,128)} takes 4.00M for 3.91M of data: another order of dims: "
                 "f32[1024,1000]{0,1:T(8,128)} takes 3.91M; saves 98304\n"
                 "  as {0,1:T(8,128)}\n"
                 "f32[16,16,1024,1024]{1,3,2,0:T(8,128)} takes 8.00G for 1.00G of data: another order of "
                 "dims: f32[16,16,1024,1024]{3,1,2,0:T(8,128)} takes 1.00G; saves 7516192768\n"
                 "  as {3,1,2,0:T(8,128)}\n"
                 "line 15 f32[16,16,1024,1024]{1,3,2,0:T(8,128)}: 8.00G 8.0x, ours 8.00G 8.0x\n"
                 "line 24 f32[1024,1000]{1,0:T(8,128)}: 4.00M , ours 4.00M 1.0x\n"
                 "line 1 used of 0: 20.00G, 21474836480\n"
                 "line 1 capacity of 0: 15.48G, 16621523435\n"
                 "line 1 exceeded by of 0: 4.52G, 4853313044\n"
                 "line 3 in all, at least of 0: 20.52G, 22033182228\n"
                 "line 4 reserved of 0: 530.00M, 555745280\n"
                 "line 5 program of 0: 15.13G, 16245713797\n"
                 "line 6 arguments of 0: 4.87G, 5229122682\n"
                 "line 8 output of 0: 0B, 0\n"
                 "line 8 output that shares arguments of 0: 0B, 0\n"
                 "line 10 program of 0: 15.13G, 16245713797\n"
                 "line 11 HLO temp of 0: 15.13G, 16245713797\n"
                 "line 11 HLO temp, unpadded of 0: 7.43G, 7977901752\n"
                 "line 11 HLO temp, padded of 0: 7.51G, 8063801098\n"
                 "line 11 HLO temp, fragmentation of 0: 7.62G, 8181912698\n"
                 "line 15 HLO temp of 0: 8.00G, 8589934592, f32[16,16,1024,1024]{1,3,2,0:T(8,128)}\n"
                 "line 24 scoped of 0: 4.00M, 4194304, f32[1024,1000]{1,0:T(8,128)}\n"
                 "line 30 scoped of 0: 29.66K, 30371, ?\n"
                 "1 a move whose operand is not in the text: not priced, line 20\n"
                 "1 reported allocations without a shape, line 30\n");
}

/* ---- How often loops run ---- */

static const struct {
    int first, step, limit;
    const char *test; /* of %i and %n */
    int64_t runs;     /* 0: the loop does not say */
} loops[] = {
    {0, 1, 10, "compare(%i, %n), direction=LT", 10}, {0, 3, 10, "compare(%i, %n), direction=LT", 4},
    {0, 5, 10, "compare(%i, %n), direction=LT", 2},  {0, 1, 10, "compare(%i, %n), direction=LE", 11},
    {3, 1, 10, "compare(%i, %n), direction=LT", 7},  {10, -1, 0, "compare(%i, %n), direction=GT", 10},
    {10, -2, 0, "compare(%i, %n), direction=GE", 6}, {0, 2, 6, "compare(%i, %n), direction=NE", 3},
    {0, 1, 10, "compare(%n, %i), direction=GT", 10}, {0, 1, 10, "compare(%n, %i), direction=GE", 11},
    {0, 2, 5, "compare(%i, %n), direction=NE", 0},   {0, 0, 10, "compare(%i, %n), direction=LT", 0},
    {0, -1, 10, "compare(%i, %n), direction=LT", 0}, {0, 1, 10, "and(%i, %n)", 0},
};

TEST(loops_say_how_often_they_run) {
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(
            &text,
            "HloModule m, is_scheduled=true\n\n%%cond {\n"
            "  %%p = (s32[]{:T(128)}, f32[8,128]{1,0:T(8,128)}) parameter(0)\n"
            "  %%i = s32[]{:T(128)} get-tuple-element(%%p), index=0\n  %%n = s32[]{:T(128)} constant(%d)\n"
            "  ROOT %%t = pred[]{:T(512)} %s\n}\n\n",
            loops[i].limit, loops[i].test);
        ts_text_add(&text,
                    "%%body {\n  %%q = (s32[]{:T(128)}, f32[8,128]{1,0:T(8,128)}) parameter(0)\n"
                    "  %%j = s32[]{:T(128)} get-tuple-element(%%q), index=0\n"
                    "  %%x = f32[8,128]{1,0:T(8,128)} get-tuple-element(%%q), index=1\n"
                    "  %%s = s32[]{:T(128)} constant(%d)\n  %%k = s32[]{:T(128)} add(%%j, %%s)\n"
                    "  %%v = f32[8,128]{1,0:T(8,128)S(1)} copy(%%x)\n"
                    "  ROOT %%r = (s32[]{:T(128)}, f32[8,128]{1,0:T(8,128)S(1)}) tuple(%%k, %%v)\n}\n\n",
                    loops[i].step);
        ts_text_add(&text,
                    "ENTRY %%main {\n  %%a = f32[8,128]{1,0:T(8,128)} parameter(0)\n"
                    "  %%z = s32[]{:T(128)} constant(%d)\n"
                    "  %%in = (s32[]{:T(128)}, f32[8,128]{1,0:T(8,128)}) tuple(%%z, %%a)\n"
                    "  ROOT %%w = (s32[]{:T(128)}, f32[8,128]{1,0:T(8,128)}) while(%%in), condition=%%cond, "
                    "body=%%body\n}\n",
                    loops[i].first);
        ts_audit_result r;
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.group_count, 1);
        const ts_audit_move *move = &r.groups[0].first;
        if (move->runs != (loops[i].runs ? loops[i].runs : 1) || move->trips_unknown != (loops[i].runs == 0))
            fail_msg("row %zu runs %d, %s", i, (int)move->runs, move->trips_unknown ? "unknown" : "known");
        ts_audit_free(audit);
    }
}

/* ---- What moves read and write ---- */

#define A "f32[64,128]{1,0:T(8,128)}"
static const struct {
    const char *instruction;
    unsigned changes;
    int64_t read, written; /* of A 32,768 bytes */
    const char *src;       /* "?": of no matter */
} moves[] = {
    {"f32[64,128]{1,0:T(8,128)S(1)} copy(%a)", TS_AUDIT_SPACE, 32768, 32768, A},
    {"f32[64,128]{0,1:T(8,128)} copy(%a)", TS_AUDIT_ORDER | TS_AUDIT_PADDING, 32768, 65536, A},
    {"f32[8,128]{1,0:T(8,128)} dynamic-slice(%a, %i, %i), dynamic_slice_sizes={8,128}", TS_AUDIT_SHAPE, 4096,
     4096, "?"},
    {"f32[64,128]{1,0:T(8,128)} dynamic-update-slice(%a, %u, %i, %i)", TS_AUDIT_SHAPE, 4096, 4096,
     "f32[8,128]{1,0:T(8,128)}"},
    {"f32[72,128]{1,0:T(8,128)} concatenate(%a, %u), dimensions={0}", TS_AUDIT_SHAPE, 36864, 36864, "?"},
    {"f32[66,128]{1,0:T(8,128)} pad(%a, %i), padding=1_1x0_0", TS_AUDIT_SHAPE | TS_AUDIT_PADDING, 32768,
     36864, A},
    {"f32[64,128]{1,0:T(8,128)} reverse(%a), dimensions={0}", TS_AUDIT_REVERSED, 32768, 32768, A},
    {"f32[128,64]{1,0:T(8,128)} transpose(%a), dimensions={1,0}", TS_AUDIT_ORDER | TS_AUDIT_PADDING, 32768,
     65536, A},
    {"f32[128,64]{1,0:T(8,128)} reshape(%a)", TS_AUDIT_SHAPE | TS_AUDIT_PADDING, 32768, 65536, A},
    {"f32[16,128]{1,0:T(8,128)} slice(%a), slice={[8:24],[0:128]}", TS_AUDIT_SHAPE, 8192, 8192, "?"},
};

TEST(moves_read_and_write) {
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text,
                    "HloModule m, is_scheduled=true\n\nENTRY %%main {\n  %%a = " A " parameter(0)\n"
                    "  %%u = f32[8,128]{1,0:T(8,128)} parameter(1)\n  %%i = s32[]{:T(128)} parameter(2)\n"
                    "  ROOT %%m = %s\n}\n",
                    moves[i].instruction);
        ts_audit_result r;
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.group_count, 1);
        const ts_audit_move *m = &r.groups[0].first;
        if (m->changes != moves[i].changes || m->read_bytes != moves[i].read ||
            m->written_bytes != moves[i].written)
            fail_msg("%s: %x, %d to %d", moves[i].instruction, m->changes, (int)m->read_bytes,
                     (int)m->written_bytes);
        assert_string_equal(shape_of(&r, m->src), moves[i].src);
        assert_true(r.groups[0].microseconds > 0);
        ts_audit_free(audit);
    }
}

#define ONES "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
#define UP   "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24"
#define DOWN "24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0"
/* The order that a transpose is written in counts where a compiler is done, where it has tiles or others have them, and of
 * other instructions. */
TEST(transposes_are_written_in_any_order) {
    static const struct {
        const char *header, *before, *instruction, *shape;
    } rows[] = {
        {"m", "", "f32[2,100,3]{0,1,2} transpose(%a), dimensions={2,1,0}", "f32[2,100,3]{1,0,2:T(2,128)}"},
        {"m", "", "f32[2,100,3]{1,2,0} transpose(%a), dimensions={2,1,0}", "f32[2,100,3]{1,0,2:T(2,128)}"},
        {"m", "", "f32[2,100,3] transpose(%a), dimensions={2,1,0}", "f32[2,100,3]{1,0,2:T(2,128)}"},
        {"m", "", "f32[2,100,3]{0,1,2} copy(%a)", "f32[2,100,3]{0,1,2:T(8,128)}"},
        {"m, is_scheduled=true", "", "f32[2,100,3]{0,1,2} transpose(%a), dimensions={2,1,0}",
         "f32[2,100,3]{0,1,2:T(8,128)}"},
        {"m", "", "f32[2,100,3]{0,1,2:T(2,128)} transpose(%a), dimensions={2,1,0}",
         "f32[2,100,3]{0,1,2:T(2,128)}"},
        {"m", "  %t = f32[8,128]{1,0:T(8,128)} negate(%u)\n",
         "f32[2,100,3]{0,1,2} transpose(%a), dimensions={2,1,0}", "f32[2,100,3]{0,1,2}"},
        {"m", "", "f32[" ONES "200000,8,128]{" UP "} transpose(%a), dimensions={2,1,0}",
         "f32[" ONES "200000,8,128]{" DOWN ":T(8,128)}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text,
                    "HloModule %s\n\nENTRY %%main {\n  %%a = f32[3,100,2]{2,1,0} parameter(0)\n%s  ROOT %%m "
                    "= %s\n}\n",
                    rows[i].header, rows[i].before, rows[i].instruction);
        ts_audit_result r;
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.group_count, 1);
        assert_string_equal(shape_of(&r, r.groups[0].first.dst), rows[i].shape);
        ts_audit_free(audit);
    }
}

#define ONES14  "1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
#define FIRST14 "0,1,2,3,4,5,6,7,8,9,10,11,12,13"
#define LAST15  "15,14,13,12,11,10,9,8,7,6,5,4,3,2,1"
/* What is started, of several memories, or cannot be read: of each move the memories, bytes and changes, then what is
 * noted. Of A 32,768 bytes lie in HBM, 0, of %s 4,096 in VMEM, 1. */
static const struct {
    const char *instruction, *moves;
} others[] = {
    {"(f32[64,128]{1,0:T(8,128)S(1)}, " A ", u32[]{:S(2)}) copy-start(%a)", "0>1 32768>32768 8\n"},
    {"(" A ", f32[64,128]{1,0:T(8,128)S(1)}, u32[]{:S(2)}) copy-start(%v)", "1>0 32768>32768 8\n"},
    {"(" A ", f32[64,128]{1,0:T(8,128)S(1)}) copy-start(%v)", "1>0 32768>32768 8\n"},
    /* what is read is the part */
    {"((" A "), f32[16,128]{1,0:T(8,128)S(1)}, s32[]{:S(2)}) slice-start(%a), slice={[8:24],[0:128]}",
     "0>1 8192>8192 24\n"},
    {"((" A ", s32[], s32[]), f32[8,128]{1,0:T(8,128)S(1)}, s32[]{:S(2)}) dynamic-slice-start(%a, %i, %i), "
     "dynamic_slice_sizes={8,128}",
     "0>1 4096>4096 24\n"},
    /* an update writes its part */
    {"((" A ", f32[8,128]{1,0:T(8,128)S(1)}, s32[], s32[]), " A ", s32[]{:S(2)}) "
     "dynamic-update-slice-start(%a, %s, %i, %i)",
     "1>0 4096>4096 24\n"},
    {"((), s32[]{:S(2)}) slice-start(%a), slice={[8:24],[0:128]}",
     "a move whose operand is not in the text: not priced\n"},
    {"(" A ", " A ") copy(%a)", "a move of a tuple: not priced\n"},
    {A " copy(%nothing)", "a move whose operand is not in the text: not priced\n"},
    /* of two memories, each its own */
    {"f32[72,128]{1,0:T(8,128)} concatenate(%a, %s), dimensions={0}",
     "0>0 32768>32768 16\n1>0 4096>4096 24\n"},
    {"f32[80,128]{1,0:T(8,128)} concatenate(%s, %a, %s), dimensions={0}",
     "0>0 32768>32768 16\n1>0 8192>8192 24\n"},
    {"f32[136,128]{1,0:T(8,128)S(1)} concatenate(%a, %u, %a), dimensions={0}", "0>1 69632>69632 24\n"},
    {"f32[72,128]{1,0:T(8,128)} concatenate(%a, %nothing), dimensions={0}",
     "a move whose operand is not in the text: not priced\n"},
    {"pred[2]{0} concatenate(%b, %d), dimensions={0}", "0>0 1>1 16\n1>0 1>1 24\n"},
    /* from memory 15 on they are one */
    {"f32[80,128]{1,0:T(8,128)} concatenate(%a, %p, %q), dimensions={0}",
     "0>0 32768>32768 16\n14>0 4096>4096 24\n15>0 4096>4096 24\n"},
    {"f32[24,128]{1,0:T(8,128)} concatenate(%q, %o, %q), dimensions={0}", "15>0 12288>12288 24\n"},
    /* as many dims as there are, each once */
    {"f32[64,128]{1,0:T(8,128)} transpose(%a), dimensions={0,0}",
     "0>0 32768>32768 0\na transpose whose dimensions cannot be read: not priced\n"},
    {"f32[64,128]{1,0:T(8,128)} transpose(%a), dimensions={0,2}",
     "0>0 32768>32768 0\na transpose whose dimensions cannot be read: not priced\n"},
    {"f32[64,128]{1,0:T(8,128)} transpose(%a), dimensions={-1,0}",
     "0>0 32768>32768 0\na transpose whose dimensions cannot be read: not priced\n"},
    {"f32[64,128]{1,0:T(8,128)} transpose(%a), dimensions={0}",
     "0>0 32768>32768 0\na transpose whose dimensions cannot be read: not priced\n"},
    {"f32[64,128]{1,0:T(8,128)} transpose(%a), dimensions={0,1,2}",
     "0>0 32768>32768 0\na transpose whose dimensions cannot be read: not priced\n"},
    {"f32[64,128]{1,0:T(8,128)} transpose(%a)",
     "0>0 32768>32768 0\na transpose whose dimensions cannot be read: not priced\n"},
    /* of 16 dims at most */
    {"f32[" ONES14 "128,64]{" LAST15 ",0:T(8,128)} transpose(%t), dimensions={" FIRST14 ",15,14}",
     "0>0 32768>65536 34\n"},
    {"f32[1," ONES14 "128,64]{16," LAST15 ",0:T(8,128)} transpose(%w), dimensions={" FIRST14 ",14,16,15}",
     "0>0 32768>65536 48\na transpose whose dimensions cannot be read: not priced\n"},
    /* under a name that any instruction has so */
    {"((" A "), f32[64,128]{1,0:T(8,128)S(1)}, s32[]{:S(2)}) async-start(%a), calls=%copied", ""},
    {"f32[8,1024]{1,0:T(8,128)} bitcast(%a)", "0>0 0>0 16\n"},
    {"f32[8,128]{1,0:T(8,128)} bitcast(%a)", "0>0 0>0 16\na bitcast between different numbers of bytes\n"},
};

static int by_line_text(const void *x, const void *y) { return strcmp(*(char *const *)x, *(char *const *)y); }

TEST(other_moves) {
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ts_text text = ts_text_begin(arena), found = ts_text_begin(arena);
        ts_text_add(&text,
                    "HloModule m, is_scheduled=true\n\nENTRY %%main {\n  %%a = " A " parameter(0)\n"
                    "  %%u = f32[8,128]{1,0:T(8,128)} parameter(1)\n  %%i = s32[]{:T(128)} parameter(2)\n"
                    "  %%s = f32[8,128]{1,0:T(8,128)S(1)} parameter(3)\n"
                    "  %%v = f32[64,128]{1,0:T(8,128)S(1)} parameter(4)\n"
                    "  %%o = f32[8,128]{1,0:T(8,128)S(15)} parameter(5)\n"
                    "  %%p = f32[8,128]{1,0:T(8,128)S(14)} parameter(6)\n"
                    "  %%q = f32[8,128]{1,0:T(8,128)S(20)} parameter(7)\n"
                    "  %%b = pred[1]{0} parameter(8)\n  %%d = pred[1]{0:S(1)} parameter(9)\n"
                    "  %%t = f32[" ONES14 "64,128]{" LAST15 ",0:T(8,128)} parameter(10)\n"
                    "  %%w = f32[1," ONES14 "64,128]{16," LAST15 ",0:T(8,128)} parameter(11)\n"
                    "  ROOT %%m = %s\n}\n",
                    others[i].instruction);
        ts_audit_result r;
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
        const char *lines[8];
        assert_true(r.group_count <= 8);
        for (int k = 0; k < r.group_count; k++) {
            const ts_audit_move *m = &r.groups[k].first;
            lines[k] = ts_text_format(arena, "%d>%d %d>%d %u\n", m->from, m->to, (int)m->read_bytes,
                                      (int)m->written_bytes, m->changes);
        }
        qsort(lines, (size_t)r.group_count, sizeof *lines, by_line_text);
        for (int k = 0; k < r.group_count; k++) ts_text_add(&found, "%s", lines[k]);
        for (int k = 0; k < r.kind_count; k++) ts_text_add(&found, "%s\n", r.kinds[k].kind);
        if (strcmp(found.bytes, others[i].moves) != 0)
            fail_msg("%s:\n%s", others[i].instruction, found.bytes);
        ts_audit_free(audit);
    }
}

/* Tiles that are assumed pad both sides of a bitcast as they do; the text says no more than its own sizes. */
TEST(bitcasts_have_the_sizes_of_the_text) {
    static const char text[] =
        "HloModule m, is_scheduled=true\n\nENTRY %main {\n  %a = f32[384]{0} parameter(0)\n"
        "  %b = f32[2,3,64]{2,1,0} bitcast(%a)\n  ROOT %c = f32[192]{0} bitcast(%b)\n}\n";
    ts_audit_result r;
    ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text, sizeof text - 1, 0}, &r);
    assert_int_equal(r.bitcasts, 2);
    assert_int_equal(r.kind_count, 1);
    assert_int_equal(r.kinds[0].count, 1);
    assert_int_equal(r.kinds[0].first_line, 6);
    ts_audit_free(audit);
}

/* A copy that says nothing comes from what made its operand, or goes to what reads it. */
TEST(copies_are_placed_by_others) {
    static const char text[] =
        "HloModule m, is_scheduled=true\n\nENTRY %main {\n  %a = " A " parameter(0)\n"
        "  %m = " A " add(%a, %a), metadata={op_name=\"f/add\" source_file=\"a.py\" "
        "source_line=3}\n"
        "  %c = f32[64,128]{1,0:T(8,128)S(1)} copy(%m)\n"
        "  %d = f32[64,128]{0,1:T(8,128)} copy(%a)\n"
        "  ROOT %n = " A " negate(%d), metadata={op_name=\"f/neg\" source_file=\"a.py\" "
        "source_line=4}\n}\n";
    ts_audit_result r;
    ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text, sizeof text - 1, 0}, &r);
    assert_int_equal(r.group_count, 2);
    for (int i = 0; i < 2; i++) {
        const ts_audit_move *m = &r.groups[i].first;
        bool made = m->name[0] == 'c';
        assert_int_equal(m->source.of, made ? TS_AUDIT_MAKER : TS_AUDIT_READER);
        assert_true(m->source.location >= 0);
    }
    ts_audit_free(audit);
}

/* ---- Names ---- */

/* Up to its limit a table holds what it was given, while it grows; a clear one holds nothing. */
TEST(tables_find_what_they_hold) {
    enum { LIMIT = 5000 };
    ts_table table = ts_table_begin(arena, LIMIT);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < LIMIT; i++) {
            char name[16];
            snprintf(name, sizeof name, "%%add.%d", i * 7);
            const ts_span bare = audit_bare_name((ts_span){name, strlen(name)});
            const uint64_t hash = audit_hash_name(bare);
            assert_ptr_equal(bare.text, name + 1);
            assert_int_equal(ts_table_get(&table, hash), -1);
            assert_true(ts_table_put(&table, hash, i));
            assert_true(i % 7 != 0 || ts_table_put(&table, hash, i) || i == LIMIT - 1);
        }
        assert_false(ts_table_put(&table, 12345, 1));
        for (int i = 0; i < LIMIT; i++) {
            char name[16];
            snprintf(name, sizeof name, "add.%d", i * 7);
            assert_int_equal(ts_table_get(&table, audit_hash_name((ts_span){name, strlen(name)})), i);
        }
        ts_table_clear(&table);
    }
}

/* By the time that they save, and by the bytes: of what is in VMEM more take less time. */
TEST(findings_are_in_order) {
    static const char text[] = "HloModule m, is_scheduled=true\n\nENTRY %main {\n"
                               "  %a = f32[256,512]{1,0:T(8,128)} parameter(0)\n"
                               "  %b = f32[1152,512]{1,0:T(8,128)S(1)} parameter(1)\n"
                               "  %c = f32[1024,512]{1,0:T(8,128)} parameter(2)\n"
                               "  %x = f32[256,512]{0,1:T(8,128)} copy(%a)\n"
                               "  %y = f32[1152,512]{0,1:T(8,128)S(1)} copy(%b)\n"
                               "  ROOT %z = f32[1024,512]{0,1:T(8,128)} copy(%c)\n}\n";
    ts_audit_result r;
    ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text, strlen(text), 0}, &r);
    static const struct {
        const char *shape;
        int64_t bytes;
        int by_bytes;
    } rows[] = {{"f32[1024,512]", 1024 * 512 * 4, 1},
                {"f32[1152,512]", 1152 * 512 * 4, 0},
                {"f32[256,512]", 256 * 512 * 4, 2}};
    assert_int_equal(r.finding_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_non_null(strstr(r.findings[i].what, rows[i].shape));
        assert_int_equal(r.findings[i].bytes_saved, rows[i].bytes);
        assert_int_equal(r.by_bytes[i], rows[i].by_bytes);
        if (i > 0) assert_true(r.findings[i].microseconds_saved < r.findings[i - 1].microseconds_saved);
    }
    ts_audit_free(audit);
}

int main(void) { return run_all_tests(begin_audits, end_group); }
