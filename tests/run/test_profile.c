/* Cycles by line, frame and loop of small programs, worked out by hand. */
#include "tests/support/run_text.h"

#include <string.h>

#include "tests/support/test.h"

static void add_counts(ts_text *out, const ts_line_counts *c) {
    const int64_t *v = c->values;
    ts_text_add(out, " x%lld %lld+%lld", (long long)v[TS_LINE_TIMES], (long long)v[TS_LINE_ISSUED],
                (long long)v[TS_LINE_STALLED]);
    assert_int_equal(v[TS_LINE_CYCLES], v[TS_LINE_ISSUED] + v[TS_LINE_STALLED]);
    int64_t stalled = 0;
    for (int i = 0; i < TS_STALL_COUNT; i++) {
        stalled += c->stalls[i];
        if (c->stalls[i] > 0) ts_text_add(out, " %s=%lld", ts_stall_get(i)->text, (long long)c->stalls[i]);
    }
    assert_int_equal(stalled, v[TS_LINE_STALLED]);
    if (v[TS_LINE_TRANSFERS] + v[TS_LINE_HBM_BYTES] + v[TS_LINE_VMEM_BYTES] > 0)
        ts_text_add(out, " dma=%lld hbm=%lld vmem=%lld", (long long)v[TS_LINE_TRANSFERS],
                    (long long)v[TS_LINE_HBM_BYTES], (long long)v[TS_LINE_VMEM_BYTES]);
    ts_text_add_char(out, '\n');
}

/* Lines as "frame:line", frames, loops with own cycles and places; they add up to the run. */
static void assert_profile(const char *machine, const char *text, const char *expected) {
    for (int time_only = 0; time_only < 2; time_only++) {
        run_of_text r = run_text(machine, text, time_only);
        const ts_profile *p = r.result.profile;
        ts_text out = ts_text_begin(r.arena);
        for (int i = 0; i < p->line_count; i++) {
            ts_text_add(&out, "%d:%d", p->lines[i].frame, p->lines[i].line);
            add_counts(&out, &p->lines[i].counts);
            assert_ptr_equal(ts_profile_find(p, p->lines[i].frame, p->lines[i].line), &p->lines[i]);
        }
        for (int i = 0; i < r.program->frame_count; i++) {
            const ts_program_frame *f = &r.program->frames[i];
            ts_text_add(&out, "frame %d in %d at %d, %d-%d %s", i, f->parent, f->line, f->first_line,
                        f->end_line, f->name);
            add_counts(&out, &p->frames[i]);
        }
        for (int i = 0; i < p->loop_count; i++) {
            const ts_profile_loop *l = &p->loops[i];
            ts_text_add(&out, "loop %d-%d in %d, own %lld, places %d", l->first_line, l->last_line, l->frame,
                        (long long)l->own_cycles, l->locations);
            add_counts(&out, &l->counts);
        }
        ts_text_add(&out, "total");
        add_counts(&out, &p->total);
        if (strcmp(out.bytes, expected) != 0) print_error("%s", out.bytes);
        assert_string_equal(out.bytes, expected);
        int64_t cycles = 0;
        for (int i = 0; i < r.result.chip.core_count; i++) cycles += r.result.chip.cores[i].cycles;
        assert_int_equal(p->total.values[TS_LINE_CYCLES], cycles);
        assert_null(ts_profile_find(p, r.program->frame_count, 1));
        assert_null(ts_profile_find(p, -1, 9999));
        assert_null(ts_profile_find(p, -1, 0));
        ts_arena_free(r.arena);
    }
}

TEST(loops_macros_and_labels) {
    assert_profile("tpu-v5e",
                   ".macro add n\n"                        /* 1 */
                   "sadd n, n, 1\n"                        /* 2 */
                   ".end\n"                                /* 3 */
                   ".loop s0 = 0, 3\n"                     /* 4 */
                   "add s1\n"                              /* 5 */
                   ".for I = 0, 2\n"                       /* 6 */
                   "{ sadd s2, s2, 1 ; sadd s3, s3, 1 }\n" /* 7 */
                   ".end\n"                                /* 8 */
                   ".end\n"                                /* 9 */
                   "add s4\n"                              /* 10 */
                   "top: sadd s5, s5, 1\n"                 /* 11 */
                   "br.lt s5, 4, top\n"                    /* 12 */
                   "halt\n",                               /* 13 */
                   "-1:11 x4 4+0\n"
                   "-1:12 x4 4+9 wait_branch=9\n" /* three times back, at 3 cycles */
                   "-1:13 x1 1+0\n"
                   "0:4 x3 4+6 wait_branch=6\n" /* sets the counter, then adds to it and goes back */
                   "0:7 x6 6+0\n"               /* two copies */
                   "1:2 x3 3+0\n"
                   "2:2 x1 1+0\n"
                   "frame 0 in -1 at 4, 4-9  x3 13+6 wait_branch=6\n"
                   "frame 1 in 0 at 5, 2-3 add x3 3+0\n"
                   "frame 2 in -1 at 10, 2-3 add x1 1+0\n"
                   "loop 4-9 in 0, own 18, places 1 x3 12+6 wait_branch=6\n"
                   "loop 11-12 in -1, own 17, places 1 x4 8+9 wait_branch=9\n"
                   "total x0 23+15 wait_branch=15\n");
}

TEST(loops_in_loops_and_their_entries) {
    assert_profile("tpu-v5e",
                   ".macro inner\n"                          /* 1 */
                   ".loop s1 = 0, 2\n"                       /* 2 */
                   "nop\n"                                   /* 3 */
                   ".end\n"                                  /* 4 */
                   ".end\n"                                  /* 5 */
                   ".loop s0 = 0, 3\n"                       /* 6 */
                   "inner\n"                                 /* 7 */
                   ".end\n"                                  /* 8 */
                   "inner\n"                                 /* 9 */
                   "out: nop\n"                              /* 10 */
                   "in: { sadd s2, s2, 1 ; brz s3, next }\n" /* 11 */
                   "next: br.lt s2, 3, in\n"                 /* 12 */
                   "sadd s4, s4, 1\n"                        /* 13 */
                   "br.lt s4, 2, out\n",                     /* 14 */
                   "-1:10 x2 2+0\n"
                   "-1:11 x4 4+12 wait_branch=12\n"
                   "-1:12 x4 4+6 wait_branch=6\n"
                   "-1:13 x2 2+0\n"
                   "-1:14 x2 2+3 wait_branch=3\n"
                   "0:6 x3 4+6 wait_branch=6\n"
                   "2:2 x6 9+9 wait_branch=9\n"
                   "2:3 x6 6+0\n"
                   "4:2 x2 3+3 wait_branch=3\n"
                   "4:3 x2 2+0\n"
                   "frame 0 in -1 at 6, 6-8  x3 19+15 wait_branch=15\n"
                   "frame 1 in 0 at 7, 2-5 inner x3 15+9 wait_branch=9\n"
                   "frame 2 in 1 at 2, 2-4  x6 15+9 wait_branch=9\n"
                   "frame 3 in -1 at 9, 2-5 inner x1 5+3 wait_branch=3\n"
                   "frame 4 in 3 at 2, 2-4  x2 5+3 wait_branch=3\n"
                   "loop 2-4 in 2, own 28, places 2 x8 16+12 wait_branch=12\n"
                   "loop 11-12 in -1, own 26, places 1 x4 8+18 wait_branch=18\n"
                   "loop 6-8 in 0, own 12, places 1 x3 18+15 wait_branch=15\n"
                   "loop 10-14 in -1, own 9, places 1 x2 14+21 wait_branch=21\n"
                   "total x0 38+39 wait_branch=39\n");
}

/* A branch compares before its bundle adds: back four times. */
TEST(a_loop_of_one_bundle) {
    assert_profile("tpu-v5e", "top: { sadd s5, s5, 1 ; br.lt s5, 4, top }\nhalt\n",
                   "-1:1 x5 5+12 wait_branch=12\n"
                   "-1:2 x1 1+0\n"
                   "loop 1-1 in -1, own 17, places 1 x5 5+12 wait_branch=12\n"
                   "total x0 6+12 wait_branch=12\n");
}

/* A cycle of three instructions goes to one of them; of a hundred, each has its third. */
TEST(cycles_are_divided) {
    assert_profile("tpu-v5e",
                   ".loop s0 = 0, 100\n"
                   "{ vadd.f32 v0, v1, v1\n"
                   "vadd.f32 v2, v1, v1\n"
                   "vadd.f32 v3, v1, v1 }\n"
                   ".end\n"
                   "{ vmul.f32 v0, v1, v1\n"
                   "vmul.f32 v2, v1, v1 ; nop }\n",
                   "-1:6 x1 1+0\n"
                   "-1:7 x1 0+0\n"
                   "0:1 x100 101+297 wait_branch=297\n"
                   "0:2 x100 33+0\n"
                   "0:3 x100 33+0\n"
                   "0:4 x100 34+0\n"
                   "frame 0 in -1 at 1, 1-5  x100 201+297 wait_branch=297\n"
                   "loop 1-5 in 0, own 497, places 1 x100 200+297 wait_branch=297\n"
                   "total x0 202+297 wait_branch=297\n");
}

/* In a bundle, the instruction whose register, unit, queue, memory or semaphore it is. */
TEST(stalls_have_an_owner) {
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"vexp.f32 v0, v1\n{ sadd s1, s1, 1\nvadd.f32 v3, v4, v4\nvadd.f32 v2, v5, v0 }\nhalt\n",
         "-1:1 x1 1+0\n"
         "-1:2 x1 0+0\n"
         "-1:3 x1 0+0\n"
         "-1:4 x1 1+11 wait_eup=11\n"
         "-1:5 x1 1+0\n"
         "total x0 3+11 wait_eup=11\n"},
        {"vexp.f32 v0, v1\n{ sadd s1, s1, 1\nvmov v0, v5 }\nhalt\n", "-1:1 x1 1+0\n"
                                                                     "-1:2 x1 0+0\n"
                                                                     "-1:3 x1 1+10 wait_eup=10\n"
                                                                     "-1:4 x1 1+0\n"
                                                                     "total x0 3+10 wait_eup=10\n"},
        {"vexp.f32 v0, v1\n{ sadd s1, s1, 1\nvexp.f32 v2, v3 }\nhalt\n", "-1:1 x1 1+0\n"
                                                                         "-1:2 x1 0+0\n"
                                                                         "-1:3 x1 1+1 busy_eup=1\n"
                                                                         "-1:4 x1 1+0\n"
                                                                         "total x0 3+1 busy_eup=1\n"},
        {"{ nop\njump end }\nend: halt\n", "-1:1 x1 1+0\n"
                                           "-1:2 x1 0+3 wait_branch=3\n"
                                           "-1:3 x1 1+0\n"
                                           "total x0 2+3 wait_branch=3\n"},
        {"{ sadd s1, s1, 1\ndelay 5 }\nhalt\n", "-1:1 x1 1+0\n"
                                                "-1:2 x1 0+4 wait_control=4\n"
                                                "-1:3 x1 1+0\n"
                                                "total x0 2+4 wait_control=4\n"},
        {".tensor t vmem f32[8,128]{1,0:T(8,128)}\nvst t.words[0], v1\n{ sadd s1, s1, 1\nvld v2, t.words[0] "
         "mask=0x03 }\nhalt\n",
         "-1:2 x1 1+0 dma=0 hbm=0 vmem=4096\n"
         "-1:3 x1 0+0\n"
         "-1:4 x1 1+3 wait_vector_store=3 dma=0 hbm=0 vmem=1024\n"
         "-1:5 x1 1+0\n"
         "total x0 3+3 wait_vector_store=3 dma=0 hbm=0 vmem=5120\n"},
        {".tensor t smem s32[8]{0}\nsst t[0], 1\n{ sadd s1, s1, 1\nsld s2, t[0] }\nhalt\n",
         "-1:2 x1 1+0\n"
         "-1:3 x1 0+0\n"
         "-1:4 x1 1+3 wait_scalar_store=3\n"
         "-1:5 x1 1+0\n"
         "total x0 3+3 wait_scalar_store=3\n"},
        {".tensor t vmem f32[8,128]{1,0:T(8,128)}\n.tensor h hbm f32[8,128]{1,0:T(8,128)} out\n.sem s\n"
         "vst t.words[0], v1\n{ sadd s1, s1, 1\ndma h <- t, s }\n{ sadd s2, s2, 1\nwait s }\nhalt\n",
         "-1:4 x1 1+0 dma=0 hbm=0 vmem=4096\n"
         "-1:5 x1 0+0\n"
         "-1:6 x1 1+3 wait_vector_store=3 dma=1 hbm=4096 vmem=4096\n"
         "-1:7 x1 1+0\n"
         "-1:8 x1 0+427 wait_semaphore=56 semaphore_low=371\n"
         "-1:9 x1 1+0\n"
         "total x0 4+430 wait_vector_store=3 wait_semaphore=56 semaphore_low=371 dma=1 hbm=4096 vmem=8192\n"},
        {".for I = 0, 16\nmxu.latch.f32 0, v1\n.end\nmxu.swap 0\nhalt\n",
         "-1:2 x16 16+105 busy_mxu_latch=105\n"
         "-1:4 x1 1+7 wait_mxu_latch=7\n"
         "-1:5 x1 1+0\n"
         "total x0 18+112 wait_mxu_latch=7 busy_mxu_latch=105\n"},
        {".for I = 0, 16\nvtr.push.b32 v1\n.end\n{ nop\nvtr.pop v2 }\nhalt\n",
         "-1:2 x16 16+120 busy_transpose=120\n"
         "-1:4 x1 1+0\n"
         "-1:5 x1 0+127 wait_transpose=127\n"
         "-1:6 x1 1+0\n"
         "total x0 18+247 wait_transpose=127 busy_transpose=120\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_profile("tpu-v5e", rows[i].text, rows[i].expected);
}

/* Of two cores, together; each waits for the other. */
TEST(cores_are_added) {
    assert_profile("tpu-v4",
                   ".cores 2\n"
                   "core.id s1\n"
                   "brz s1, meet\n"
                   "delay 9\n"
                   "meet: { sadd s2, s2, 1\n"
                   "barrier }\n",
                   "-1:2 x2 2+0\n"
                   "-1:3 x2 2+3 wait_branch=3\n"
                   "-1:4 x1 1+8 wait_control=8\n"
                   "-1:5 x2 1+0\n"
                   "-1:6 x2 1+118 wait_semaphore=112 barrier=6\n"
                   "total x0 7+129 wait_branch=3 wait_semaphore=112 wait_control=8 barrier=6\n");
}
