/* Sessions: where they stop, what they tell, what names stand for, what is watched and what is fetched. */
#include "run/session.h"

#include <string.h>

#include "tests/support/test.h"

static const char alone[] = ".tensor x hbm s32[16,128]{1,0:T(8,128)} in iota\n"
                            ".tensor xb vmem s32[16,128]{1,0:T(8,128)}\n"
                            ".sem in[2], out\n"
                            ".param ROWS = 16\n"
                            ".reg row = s1\n"
                            "        dma xb <- x, in[1]\n" /* line 6 */
                            "        wait in[1]\n"
                            ".loop row = 0, ROWS, 8\n" /* line 8 */
                            ".reg value = v3\n"
                            "        vld value, xb[row, 0]\n" /* line 10 */
                            "        vadd.i32 value, value, 1\n"
                            "        vst xb[row, 0], value\n" /* line 12 */
                            ".end\n"
                            ".for i = 0, 1\n"
                            ".reg value = v4\n"
                            "        dma x <- xb, out\n" /* line 16 */
                            "        wait out\n"
                            ".end\n";

enum { MOST = 64, TILE_BYTES = 4096 };

typedef struct {
    ts_arena *arena;
    ts_mesh mesh;
    ts_run_request request;
    ts_session *session;
} fixture;

static void begin(fixture *f, const char *machine, const char *axes, const char *text) {
    ts_error err = {0};
    *f = (fixture){.arena = ts_arena_new()};
    f->request = (ts_run_request){.program = "programs/a.tsim",
                                  .machine = ts_machine_load(&err, f->arena, machine),
                                  .max_cycles = INT64_MAX};
    assert_non_null(f->request.machine);
    if (axes) {
        ts_mesh_request mesh = {.machine = f->request.machine, .axes = {"mesh", axes, strlen(axes)}};
        assert_true(ts_mesh_read(&err, f->arena, &mesh, &f->mesh));
        f->request.mesh = &f->mesh;
    }
    ts_source *source = TS_NEW(f->arena, ts_source);
    *source = (ts_source){f->request.program, text, strlen(text)};
    ts_target target;
    ts_run_target(f->request.machine, &target);
    target.mesh = f->request.mesh;
    f->request.built = ts_program_parse(&err, f->arena, source, &target, NULL, 0);
    if (!f->request.built) fail_msg("line %d: %s", err.line, err.message);
}

static void open(fixture *f) {
    ts_error err = {0};
    f->session = ts_session_open(&err, f->arena, &f->request);
    if (!f->session) fail_msg("%s", err.message);
}

static void end(fixture *f) {
    ts_session_close(f->session);
    ts_arena_free(f->arena);
}

static ts_stop go(fixture *f, const ts_session_goal *goal) {
    ts_error err = {0};
    ts_stop stop = TS_STOP_END;
    if (!ts_session_go(&err, f->session, goal, &stop)) fail_msg("%s", err.message);
    return stop;
}

static ts_stop step(fixture *f, int64_t bundles) {
    return go(f, &(ts_session_goal){.bundles = bundles, .until = INT64_MAX});
}

static ts_stop until(fixture *f, int64_t cycle) {
    return go(f, &(ts_session_goal){.bundles = INT64_MAX, .until = cycle});
}

static ts_stop to_breakpoint(fixture *f, const ts_breakpoint *at, int count) {
    return go(f, &(ts_session_goal){INT64_MAX, INT64_MAX, at, count});
}

static ts_session_state look(const fixture *f) {
    ts_session_state state;
    ts_session_look(f->session, &state);
    return state;
}

/* Of the bundle that issues next; 0: the program has ended. */
static int line(const fixture *f) {
    int bundle = look(f).bundle;
    return bundle < 0 ? 0 : f->request.built->code.bundles[bundle].instructions[0].line;
}

static int32_t scalar(fixture *f, int reg) {
    ts_core *core = (ts_core *)(uintptr_t)ts_chip_core(ts_session_chip(f->session), 0);
    return (int32_t)*ts_core_register(core, TS_OPERAND_SREG, reg);
}

/* ---- What is told ---- */

typedef struct {
    int count;
    struct {
        char what;
        int64_t numbers[4];
    } list[MOST];
} events;

static void add(events *e, char what, int64_t a, int64_t b, int64_t c, int64_t d) {
    assert_true(e->count < MOST);
    e->list[e->count].what = what;
    memcpy(e->list[e->count++].numbers, (const int64_t[]){a, b, c, d}, sizeof e->list[0].numbers);
}
static void issued(void *self, int bundle, int64_t cycle) { add(self, 'i', bundle, cycle, 0, 0); }
static void stalled(void *self, int bundle, int64_t first, int64_t cycles, int stall) {
    add(self, 's', bundle, first, cycles, stall);
}
static void transferred(void *self, const ts_in_flight *transfer, const ts_dma_result *result) {
    add(self, 't', transfer->transfer, result->completed_cycle, 0, 0);
}
static void on_core(void *self, int core) { add(self, 'c', core, 0, 0, 0); }

static ts_chip_observer observer_of(events *e) {
    return (ts_chip_observer){
        .self = e, .issued = issued, .stalled = stalled, .transferred = transferred, .core = on_core};
}

/* A session that goes a bundle at a time tells what a run tells, and stands before the bundle that is told next. */
TEST(a_step_is_a_bundle) {
    fixture f;
    events told = {0}, stepped = {0};
    const ts_chip_observer run = observer_of(&told), session = observer_of(&stepped);
    ts_error err = {0};
    ts_run_result result;
    begin(&f, "tpu-v5e", NULL, alone);
    f.request.observer = &run;
    assert_true(ts_run(&err, f.arena, &f.request, &result));
    f.request.observer = &session;
    open(&f);
    assert_int_equal(ts_session_device(f.session), -1);
    assert_int_equal(ts_session_followed(f.session), 0);
    assert_int_equal(look(&f).stall, -1);
    for (int at = 0; at < told.count; at++) {
        if (told.list[at].what != 'i') continue;
        const ts_session_state before = look(&f);
        assert_int_equal(before.bundle, told.list[at].numbers[0]);
        assert_in_range(before.cycle, 0, told.list[at].numbers[1]);
        bool has_stalled = at > 0 && told.list[at - 1].what == 's' && stepped.count >= at;
        assert_int_equal(before.stall, has_stalled ? told.list[at - 1].numbers[3] : -1);
        if (has_stalled) assert_int_equal(before.stall_cycles, told.list[at - 1].numbers[2]);
        assert_int_equal(step(&f, 1), TS_STOP_STEPPED);
    }
    assert_int_equal(step(&f, 1), TS_STOP_END);
    assert_int_equal(step(&f, 1), TS_STOP_END);
    assert_int_equal(look(&f).bundle, -1);
    assert_false(look(&f).waits);
    assert_int_equal(look(&f).cycle, result.chip.cycles);
    assert_int_equal(stepped.count, told.count);
    assert_memory_equal(&stepped, &told, sizeof told);
    end(&f);
}

TEST(a_cycle_is_reached) {
    fixture f;
    begin(&f, "tpu-v5e", NULL, alone);
    open(&f);
    assert_int_equal(step(&f, 2), TS_STOP_STEPPED);
    assert_int_equal(line(&f), 8);
    ts_session_close(f.session);
    open(&f);
    assert_int_equal(step(&f, 1), TS_STOP_STEPPED);
    assert_int_equal(until(&f, 100), TS_STOP_CYCLE);
    assert_int_equal(line(&f), 7);
    assert_true(look(&f).waits);
    assert_int_equal(look(&f).cycle, 100);
    assert_int_equal(until(&f, 100), TS_STOP_CYCLE);
    assert_int_equal(until(&f, 101), TS_STOP_CYCLE);
    assert_int_equal(look(&f).cycle, 101);
    assert_int_equal(until(&f, 50), TS_STOP_CYCLE);
    assert_int_equal(look(&f).cycle, 101);
    const ts_session_goal both = {1, 5000, NULL, 0};
    assert_int_equal(go(&f, &both), TS_STOP_STEPPED);
    assert_int_equal(line(&f), 8);
    assert_false(look(&f).waits);
    int64_t here = look(&f).cycle;
    assert_int_equal(until(&f, here), TS_STOP_CYCLE);
    assert_int_equal(line(&f), 8);
    assert_int_equal(until(&f, here + 1), TS_STOP_CYCLE);
    assert_true(line(&f) > 8);
    assert_int_equal(until(&f, INT64_MAX), TS_STOP_END);
    end(&f);
}

/* ---- Names ---- */

static const struct {
    const char *text;
    ts_name name;
} names[] = {
    {"v0", {TS_NAME_REGISTER, TS_OPERAND_VREG, 0, 1}},
    {"v63", {TS_NAME_REGISTER, TS_OPERAND_VREG, 63, 1}},
    {"v64", {0}},
    {"v99999999999", {0}},
    {"m7", {TS_NAME_REGISTER, TS_OPERAND_VMASK, 7, 1}},
    {"s31", {TS_NAME_REGISTER, TS_OPERAND_SREG, 31, 1}},
    {"s32", {0}},
    {"s", {0}},
    {"s1x", {0}},
    {"s1/", {0}},
    {"row", {TS_NAME_REGISTER, TS_OPERAND_SREG, 1, 1}},
    {"ro", {0}},
    {"value", {TS_NAME_REGISTER, TS_OPERAND_VREG, 3, 1}}, /* the first behind */
    {"x", {.kind = TS_NAME_TENSOR, .index = 0}},
    {"xb", {.kind = TS_NAME_TENSOR, .index = 1}},
    {"ROWS", {.kind = TS_NAME_PARAM, .index = 0}},
    {"in", {.kind = TS_NAME_SEMAPHORE, .index = 0, .count = 2}},
    {"in[1]", {.kind = TS_NAME_SEMAPHORE, .index = 1, .count = 1}},
    {"out", {.kind = TS_NAME_SEMAPHORE, .index = 2, .count = 1}},
    {"in[", {0}},
    {"i", {0}},
    {"ins", {0}},
};

TEST(names_stand_for) {
    fixture f;
    begin(&f, "tpu-v5e", NULL, alone);
    open(&f);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const ts_name *want = &names[i].name;
        ts_name got = ts_session_name(f.session, names[i].text, strlen(names[i].text));
        if (got.kind != want->kind) fail_msg("%s is of kind %d", names[i].text, (int)got.kind);
        if (got.kind == TS_NAME_NONE) continue;
        assert_int_equal(got.index, want->index);
        assert_int_equal(got.count, want->count);
        if (got.kind == TS_NAME_REGISTER) assert_int_equal(got.reg, want->reg);
    }
    assert_int_equal(ts_session_name(f.session, "rowing", 3).index, 1); /* of the length that is given */
    const ts_breakpoint at[] = {{NULL, 12, {0}}, {NULL, 16, {0}}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(to_breakpoint(&f, &at[i], 1), TS_STOP_BREAK);
        assert_int_equal(ts_session_name(f.session, "value", 5).index, 3 + i);
    }
    end(&f);
}

/* ---- Breakpoints ---- */

static const struct {
    const char *file;
    int line;
    bool known;
} places[] = {
    {NULL, 6, true},
    {NULL, 10, true},
    {NULL, 17, true},
    {NULL, 18, false},
    {NULL, 1, false},
    {"a.tsim", 6, true},
    {".tsim", 6, false},
    {"programs/a.tsim", 6, true},
    {"rograms/a.tsim", 6, false},
    {"/programs/a.tsim", 6, false},
    {"b.tsim", 6, false},
    {"a.tsi", 6, false},
};

TEST(places_are_known) {
    fixture f;
    begin(&f, "tpu-v5e", NULL, alone);
    open(&f);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (ts_session_has_line(f.session, &(ts_breakpoint){places[i].file, places[i].line, {0}}) !=
            places[i].known)
            fail_msg("%s:%d", places[i].file ? places[i].file : "", places[i].line);
    end(&f);
}

/* Lines that use macros, one in another, and stop where those begin; that of a loop has an instruction. */
static const char calls[] = ".macro inner K\n  sadd s2, s2, K\n  sadd s3, s3, K\n.end\n" /* lines 1 to 4 */
                            ".macro outer K\n  inner K\n  inner K\n.end\n"               /* 5 to 8 */
                            ".loop s1 = 0, 3\n  outer 1\n.end\n"                         /* 9 to 11 */
                            "inner 2\n";                                                 /* 12 */
static const struct {
    int line, stops, s2, s3; /* how often it stops, and with what at first */
} used[] = {{10, 3, 0, 0}, {12, 1, 6, 6}, {6, 3, 0, 0}, {7, 3, 1, 1}, {3, 7, 1, 0}, {9, 3, 2, 2}};

TEST(uses_of_macros_are_places) {
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
        fixture f;
        begin(&f, "tpu-v5e", NULL, calls);
        open(&f);
        const ts_breakpoint at = {NULL, used[i].line, {0}};
        assert_true(ts_session_has_line(f.session, &at));
        for (int k = 0; to_breakpoint(&f, &at, 1) == TS_STOP_BREAK; k++) {
            if (k >= used[i].stops) fail_msg("line %d: a stop too many", used[i].line);
            if (k == 0 && used[i].s2 != scalar(&f, 2)) fail_msg("line %d: s2", used[i].line);
            if (k == 0 && used[i].s3 != scalar(&f, 3)) fail_msg("line %d: s3", used[i].line);
            if (k == used[i].stops - 1) {
                assert_int_equal(to_breakpoint(&f, &at, 1), TS_STOP_END);
                break;
            }
        }
        assert_int_equal(line(&f), 0);
        end(&f);
    }
}

/* What begins with the use of a macro, which is a place though nothing was before it. */
TEST(a_program_may_begin_with_a_macro) {
    fixture f;
    begin(&f, "tpu-v5e", NULL, ".macro one\n  nop\n.end\none\nsadd s1, s1, 1\n");
    open(&f);
    for (int place = 1; place <= 5; place++) {
        const bool known = place == 2 || place >= 4;
        assert_int_equal(ts_session_has_line(f.session, &(ts_breakpoint){NULL, place, {0}}), known);
    }
    end(&f);
}

/* Rows of a tile of which a mask has the first 100 words; sublanes 3 and 4 of the next; one row, eight times. */
static const char masked[] = ".tensor a vmem f32[16,128]{1,0:T(8,128)}\n"
                             "mlanes m1, 100\nvmov v0, 3.0\nvst a[0, 0], v0 if m1\n"
                             "vst a[8, 0] mask=0x18, v0 if m1\nvst a.words[256] stride=0, v0 if m1\n";
static const struct {
    int64_t first, end; /* words */
    int line;           /* that stops first; 0: none */
    int64_t hit[2];
} left_out[] = {{0, 1, 4, {0, 400}},           {99, 100, 4, {0, 400}}, {100, 128, 0, {0}},
                {100, 129, 4, {512, 912}},     {1508, 1536, 0, {0}},   {1408, 1409, 5, {5632, 6032}},
                {1536, 1600, 5, {6144, 6544}}, {1664, 2048, 0, {0}},   {256, 257, 4, {1024, 1424}}};

TEST(words_that_a_mask_leaves_out_are_not_written) {
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++) {
        fixture f;
        ts_error err = {0};
        begin(&f, "tpu-v5e", NULL, masked);
        open(&f);
        assert_int_equal(ts_session_watch_bytes(&err, f.session, TS_SPACE_VMEM, left_out[i].first * 4,
                                                left_out[i].end * 4),
                         1);
        bool stops = step(&f, INT64_MAX) == TS_STOP_WATCH;
        const ts_watch_hit *hit = ts_session_hit(f.session);
        if (stops != (left_out[i].line > 0)) fail_msg("words from %lld on", (long long)left_out[i].first);
        if (stops) {
            assert_int_equal(hit->instruction->line, left_out[i].line);
            assert_int_equal(hit->first, left_out[i].hit[0]);
            assert_int_equal(hit->end, left_out[i].hit[1]);
        }
        end(&f);
    }
}

/* All lanes but the second of each row, which are told one by one: words 0, 2 to 127, then 128 .. */
TEST(one_word_may_be_left_out) {
    fixture f;
    ts_error err = {0};
    begin(&f, "tpu-v5e", NULL,
          ".tensor a vmem s32[8,128]{1,0:T(8,128)}\nviota.lane v1\nvcmp.ne.i32 m1, v1, 1\n"
          "vst a[0, 0], v1 if m1\n");
    open(&f);
    assert_int_equal(ts_session_watch_bytes(&err, f.session, TS_SPACE_VMEM, 4, 12), 1);
    assert_int_equal(step(&f, INT64_MAX), TS_STOP_WATCH);
    assert_int_equal(ts_session_hit(f.session)->first, 8);
    assert_int_equal(ts_session_hit(f.session)->end, 128 * 4);
    end(&f);
}

/* A core that has halted stands where it did, whatever the others do. */
TEST(a_halted_core_stays) {
    fixture f;
    ts_core_counters counters;
    begin(&f, "tpu-v4", NULL,
          ".cores 2\n.tensor x hbm s32[8,128] in iota\n.tensor y vmem s32[8,128]\n.sem s\n core.id s1\n"
          " brz s1, out\n dma y <- x, s\n wait s\nout: halt\n");
    open(&f);
    assert_int_equal(until(&f, INT64_MAX), TS_STOP_END);
    ts_core_count(ts_chip_core(ts_session_chip(f.session), 0), &counters);
    assert_int_equal(look(&f).cycle, counters.cycles);
    assert_int_equal(look(&f).bundle, -1);
    ts_session_follow(f.session, 1);
    assert_true(look(&f).cycle > counters.cycles + 100);
    end(&f);
}

/* s1 is 0, 1 .. 7 at line 3. */
static const char turns[] = ".sem many\n.loop s1 = 0, 8\n  sadd s2, s1, s1\n.end\n";
static const struct {
    ts_test test;
    int64_t number;
    int stops, first; /* how often it stops, and with which s1 at first */
} conditions[] = {
    {TS_TEST_NONE, 0, 8, 0}, {TS_TEST_EQ, 2, 1, 2}, {TS_TEST_EQ, 8, 0, 0}, {TS_TEST_NE, 0, 7, 1},
    {TS_TEST_LT, 2, 2, 0},   {TS_TEST_LE, 2, 3, 0}, {TS_TEST_GT, 2, 5, 3}, {TS_TEST_GE, 2, 6, 2},
};

TEST(conditions_hold) {
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        fixture f;
        begin(&f, "tpu-v5e", NULL, turns);
        open(&f);
        const ts_breakpoint at[] = {
            {"a.tsim", 4, {0}},
            {"a.tsim",
             3,
             {conditions[i].test, {TS_NAME_REGISTER, 0, 1}, {TS_NAME_NONE, conditions[i].number, 0}}}};
        int stops = 0;
        while (to_breakpoint(&f, at + 1, 1) == TS_STOP_BREAK) {
            assert_int_equal(line(&f), 3);
            if (stops++ == 0) assert_int_equal(scalar(&f, 1), conditions[i].first);
        }
        assert_int_equal(stops, conditions[i].stops);
        assert_int_equal(line(&f), 0);
        assert_int_equal(to_breakpoint(&f, at + 1, 1), TS_STOP_END);
        end(&f);
    }
}

TEST(semaphores_are_sides) {
    fixture f;
    begin(&f, "tpu-v5e", NULL,
          ".tensor x hbm f32[8,128] in iota\n.tensor y vmem f32[8,128]\n.sem a, b\n"
          " dma y <- x, b\n"
          ".loop s1 = 0, 100000\n sadd s2, s1, s1\n.end\n wait b\n");
    open(&f);
    const ts_breakpoint at = {NULL, 6, {TS_TEST_EQ, {TS_NAME_SEMAPHORE, 0, 1}, {TS_NAME_NONE, 1, 0}}};
    assert_int_equal(to_breakpoint(&f, &at, 1), TS_STOP_BREAK);
    assert_int_equal(ts_chip_semaphore(ts_session_chip(f.session), 0, 1), 1);
    assert_in_range(scalar(&f, 1), 10, 99999);
    end(&f);
}

/* ---- Watches and values ---- */

/* Watch 1: a byte of the first tile of xb; watch 2: a box over the end of that tile. */
static const ts_tensor *watch_xb(fixture *f) {
    ts_error err = {0};
    const ts_tensor *xb = &f->request.built->code.tensors[1];
    const int64_t begin_at[] = {7, 0}, sizes[] = {2, 4};
    const ts_session_box box = {1, begin_at, sizes};
    assert_int_equal(
        ts_session_watch_bytes(&err, f->session, TS_SPACE_VMEM, xb->base_bytes + 4, xb->base_bytes + 5), 1);
    assert_int_equal(ts_session_watch_box(&err, f->session, &box), 2);
    return xb;
}

TEST(watches_have_ranges) {
    fixture f;
    ts_watch_range range;
    begin(&f, "tpu-v5e", NULL, alone);
    open(&f);
    const ts_tensor *xb = watch_xb(&f);
    assert_true(ts_session_watch(f.session, 2, &range));
    assert_int_equal(range.space, TS_SPACE_VMEM);
    assert_int_equal(range.first, xb->base_bytes + 7 * 512);
    assert_int_equal(range.end, xb->base_bytes + TILE_BYTES + 16);
    assert_false(ts_session_watch(f.session, 3, &range));
    end(&f);
}

TEST(what_is_watched_stops) {
    fixture f;
    begin(&f, "tpu-v5e", NULL, alone);
    open(&f);
    const ts_tensor *xb = watch_xb(&f);
    assert_null(ts_session_hit(f.session));
    assert_int_equal(step(&f, INT64_MAX), TS_STOP_WATCH); /* the transfer */
    const ts_watch_hit *hit = ts_session_hit(f.session);
    assert_int_equal(hit->watch, 1);
    assert_null(hit->instruction);
    assert_int_equal(hit->transfer, 0);
    assert_int_equal(hit->space, TS_SPACE_VMEM);
    assert_true(hit->first <= xb->base_bytes + 4 && hit->end >= xb->base_bytes + 5);
    assert_int_equal(step(&f, INT64_MAX), TS_STOP_WATCH); /* the first tile */
    hit = ts_session_hit(f.session);
    assert_int_equal(hit->watch, 1);
    assert_int_equal(hit->instruction->line, 12);
    assert_int_equal(hit->first, xb->base_bytes);
    assert_int_equal(hit->end, xb->base_bytes + TILE_BYTES);
    assert_int_equal(scalar(&f, 1), 0);
    assert_int_equal(step(&f, INT64_MAX), TS_STOP_WATCH); /* the second */
    hit = ts_session_hit(f.session);
    assert_int_equal(hit->watch, 2);
    assert_int_equal(hit->first, xb->base_bytes + TILE_BYTES);
    assert_in_range(hit->cycle, 1, look(&f).cycle);
    assert_int_equal(step(&f, 1), TS_STOP_STEPPED);
    assert_null(ts_session_hit(f.session));
    assert_int_equal(step(&f, INT64_MAX), TS_STOP_END);
    end(&f);
}

TEST(watches_are_numbered) {
    fixture f;
    ts_error err = {0};
    const int64_t none[] = {0, 0}, sizes[] = {0, 4};
    begin(&f, "tpu-v5e", NULL, alone);
    open(&f);
    const int64_t first = f.request.built->code.tensors[1].base_bytes;
    for (int i = 1; i <= TS_WATCHES; i++)
        assert_int_equal(ts_session_watch_bytes(&err, f.session, TS_SPACE_VMEM, first + i, first + i + 1), i);
    assert_int_equal(ts_session_watch_bytes(&err, f.session, TS_SPACE_VMEM, 0, 1), -1);
    assert_error(&err, TS_ERROR_INPUT, "error: there are 16 watches already\n");
    assert_true(ts_session_unwatch(f.session, 1) && ts_session_unwatch(f.session, TS_WATCHES));
    assert_false(ts_session_unwatch(f.session, 1));
    assert_false(ts_session_unwatch(f.session, 0));
    assert_false(ts_session_unwatch(f.session, TS_WATCHES + 1));
    err = (ts_error){0};
    assert_int_equal(ts_session_watch_box(&err, f.session, &(ts_session_box){1, none, sizes}), -1);
    assert_error(&err, TS_ERROR_INPUT, "error: expected a slice that is not empty\n");
    assert_int_equal(ts_session_watch_bytes(&err, f.session, TS_SPACE_VMEM, first, first + 2), 1);
    for (int i = 1; i < TS_WATCHES; i++) assert_true(ts_session_unwatch(f.session, i));
    assert_int_equal(step(&f, INT64_MAX), TS_STOP_END); /* nothing is watched any more */
    end(&f);
}

static const struct {
    ts_space_kind space;
    int64_t first, end;
    const char *error; /* NULL: fine */
} ranges[] = {
    {TS_SPACE_VMEM, 0, 1, NULL},
    {TS_SPACE_VMEM, 8, 8, "error: expected bytes that vmem has\n"},
    {TS_SPACE_VMEM, -1, 8, "error: expected bytes that vmem has\n"},
    {TS_SPACE_VMEM, (128 << 20) - 1, 128 << 20, NULL},
    {TS_SPACE_VMEM, (128 << 20) - 1, (128 << 20) + 1, "error: expected bytes that vmem has\n"},
    {TS_SPACE_CMEM, 0, 1, "error: expected bytes that cmem has\n"},
    {TS_SPACE_HBM, 5, (256 << 20) + 5, NULL},
    {TS_SPACE_HBM, 5, (256 << 20) + 6,
     "error: 268435457 bytes from the first to the last, expected at most 268435456\n"},
};

TEST(ranges_are_checked) {
    fixture f;
    begin(&f, "tpu-v5e", NULL, alone);
    open(&f);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        ts_error err = {0};
        int number = ts_session_watch_bytes(&err, f.session, ranges[i].space, ranges[i].first, ranges[i].end);
        assert_int_equal(number, ranges[i].error ? -1 : 1);
        if (ranges[i].error) assert_error(&err, TS_ERROR_INPUT, ranges[i].error);
        if (!ranges[i].error) assert_true(ts_session_unwatch(f.session, 1));
    }
    end(&f);
}

static void fetch(fixture *f, const int32_t *want) {
    static const int64_t begin_at[] = {7, 126}, sizes[] = {2, 2};
    const ts_session_box box = {1, begin_at, sizes};
    ts_error err = {0};
    ts_host_array array;
    assert_true(ts_session_fetch(&err, f->arena, f->session, &box, &array));
    assert_int_equal(array.length, 16);
    assert_memory_equal(array.bytes, want, 16);
}

/* What has not arrived is not there; each tile is one more once it was stored. */
TEST(values_are_those_of_now) {
    fixture f;
    begin(&f, "tpu-v5e", NULL, alone);
    open(&f);
    const ts_breakpoint at[] = {{NULL, 10, {0}}, {NULL, 16, {0}}};
    assert_int_equal(until(&f, 100), TS_STOP_CYCLE);
    fetch(&f, (const int32_t[]){0, 0, 0, 0});
    assert_int_equal(to_breakpoint(&f, at, 2), TS_STOP_BREAK);
    fetch(&f, (const int32_t[]){1022, 1023, 1150, 1151});
    assert_int_equal(to_breakpoint(&f, at, 2), TS_STOP_BREAK);
    fetch(&f, (const int32_t[]){1023, 1024, 1150, 1151});
    assert_int_equal(to_breakpoint(&f, at, 2), TS_STOP_BREAK);
    assert_int_equal(line(&f), 16);
    fetch(&f, (const int32_t[]){1023, 1024, 1151, 1152});
    end(&f);
}

/* A tensor behind another; a program's last cycles are those of its last instruction. */
TEST(boxes_lie_where_their_tensors_do) {
    static const int64_t begin_at[] = {8, 126}, sizes[] = {1, 2};
    const ts_session_box box = {2, begin_at, sizes};
    fixture f;
    ts_error err = {0};
    ts_watch_range range;
    ts_host_array array;
    ts_chip_counters counters;
    begin(&f, "tpu-v5e", NULL,
          ".tensor x hbm s32[16,128]{1,0:T(8,128)} in iota\n.tensor a vmem s32[8,128]{1,0:T(8,128)}\n"
          ".tensor b vmem s32[16,128]{1,0:T(8,128)}\n.sem s\n dma b <- x, s\n wait s\n delay 9\n");
    open(&f);
    const int64_t base = f.request.built->code.tensors[2].base_bytes;
    assert_true(base >= TILE_BYTES);
    assert_int_equal(ts_session_watch_box(&err, f.session, &box), 1);
    assert_true(ts_session_watch(f.session, 1, &range));
    assert_int_equal(range.first, base + TILE_BYTES + 126 * 4);
    assert_int_equal(step(&f, INT64_MAX), TS_STOP_WATCH);
    assert_true(ts_session_fetch(&err, f.arena, f.session, &box, &array));
    assert_memory_equal(array.bytes, ((const int32_t[]){8 * 128 + 126, 8 * 128 + 127}), 8);
    assert_int_equal(step(&f, INT64_MAX), TS_STOP_END);
    ts_chip_count(ts_session_chip(f.session), &counters);
    assert_int_equal(look(&f).cycle, counters.cycles);
    end(&f);
}

/* ---- On a mesh ---- */

/* Device n sends to the next after n delays of 1,000 cycles, and waits for what comes. */
static const char ring[] = ".tensor x hbm s32[8,128]{1,0:T(8,128)} in iota\n"
                           ".tensor y vmem s32[8,128]{1,0:T(8,128)}\n"
                           ".sem sent, came\n"
                           "        device.id s1\n" /* line 4 */
                           "        sadd s2, s1, 1\n"
                           "        smod s2, s2, 4\n"
                           "        smul s3, s1, 1000\n"
                           ".loop s4 = 0, s3, 1000\n"
                           "        delay 1000\n"
                           ".end\n"
                           "        dma y <- x, sent, came device=s2\n" /* line 11 */
                           "        wait sent\n"
                           "        wait came\n"
                           "        sadd s5, s1, 10\n";

static int64_t at_breakpoint(const fixture *f) {
    int64_t bits = 0;
    for (int64_t i = 0; i < f->mesh.device_count; i++)
        bits |= (int64_t)ts_session_is_at_breakpoint(f->session, i) << i;
    return bits;
}

TEST(devices_stop_together) {
    fixture f;
    begin(&f, "tpu-v5p", "4", ring);
    open(&f);
    assert_int_equal(ts_session_device(f.session), 0);
    const ts_breakpoint at[] = {{NULL, 6, {0}}, {NULL, 11, {0}}};
    ts_session_look_at(f.session, 3);
    assert_int_equal(to_breakpoint(&f, at, 2), TS_STOP_BREAK);
    assert_int_equal(at_breakpoint(&f), 15); /* all came to it */
    assert_int_equal(ts_session_device(f.session), 3);
    assert_int_equal(line(&f), 6);
    for (int device = 0; device < 4; device++) {
        assert_int_equal(to_breakpoint(&f, at + 1, 1), TS_STOP_BREAK);
        assert_int_equal(at_breakpoint(&f), 1 << device);
        assert_int_equal(ts_session_device(f.session), device);
        assert_int_equal(line(&f), 11);
        assert_in_range(look(&f).cycle, 1000 * device, 1000 * device + 100);
    }
    assert_int_equal(to_breakpoint(&f, at, 2), TS_STOP_END);
    assert_int_equal(at_breakpoint(&f), 0);
    assert_int_equal(to_breakpoint(&f, at, 2), TS_STOP_END);
    for (int64_t device = 0; device < 4; device++) {
        ts_session_look_at(f.session, device);
        assert_int_equal(look(&f).bundle, -1);
        assert_int_equal(scalar(&f, 5), device + 10);
    }
    end(&f);
}

/* Of several that come to one in a cycle the first is looked at, if that which was is none of them. */
TEST(the_first_that_stops_is_looked_at) {
    fixture f;
    begin(&f, "tpu-v5p", "4", ring);
    open(&f);
    ts_session_look_at(f.session, 3);
    const ts_breakpoint at = {NULL, 6, {TS_TEST_LT, {TS_NAME_REGISTER, 0, 1}, {TS_NAME_NONE, 3, 0}}};
    assert_int_equal(to_breakpoint(&f, &at, 1), TS_STOP_BREAK);
    assert_int_equal(at_breakpoint(&f), 7);
    assert_int_equal(ts_session_device(f.session), 0);
    end(&f);
}

TEST(devices_step_together) {
    fixture f;
    events told[4] = {0};
    ts_chip_observer observers[4];
    const ts_chip_observer *list[4];
    for (int i = 0; i < 4; i++) observers[i] = observer_of(&told[i]), list[i] = &observers[i];
    begin(&f, "tpu-v5p", "4", ring);
    f.request.observers = list;
    open(&f);
    for (int i = 5; i <= 6; i++) { /* a cycle each */
        assert_int_equal(step(&f, 1), TS_STOP_STEPPED);
        assert_int_equal(line(&f), i);
    }
    assert_int_equal(until(&f, 2500), TS_STOP_CYCLE);
    assert_int_equal(line(&f), 12);
    assert_true(look(&f).waits);
    assert_int_equal(look(&f).cycle, 2500);
    ts_session_look_at(f.session, 3);
    assert_int_equal(line(&f), 8);
    assert_in_range(look(&f).cycle, 2500, 3100);
    ts_session_look_at(f.session, 0);
    assert_int_equal(step(&f, 2), TS_STOP_STEPPED);
    assert_int_equal(line(&f), 14);
    assert_int_equal(step(&f, 1), TS_STOP_END);
    int64_t before = 0;
    for (int i = 0; i < 4; i++) { /* each is told what is its own: of one loop more than the device before */
        int64_t bundles = 0;
        for (int k = 0; k < told[i].count; k++) bundles += told[i].list[k].what == 'i';
        assert_true(bundles > before);
        before = bundles;
    }
    end(&f);
}

TEST(a_device_s_memory_is_watched) {
    fixture f;
    ts_error err = {0};
    const int64_t none[] = {0, 0}, sizes[] = {1, 4};
    begin(&f, "tpu-v5p", "4", ring);
    open(&f);
    ts_session_look_at(f.session, 2);
    assert_int_equal(ts_session_watch_box(&err, f.session, &(ts_session_box){1, none, sizes}), 1);
    ts_session_look_at(f.session, 0);
    assert_int_equal(step(&f, INT64_MAX), TS_STOP_WATCH);
    assert_int_equal(ts_session_device(f.session), 2);
    assert_null(ts_session_hit(f.session)->instruction);
    ts_host_array array;
    assert_true(ts_session_fetch(&err, f.arena, f.session, &(ts_session_box){1, none, sizes}, &array));
    assert_memory_equal(array.bytes, ((const int32_t[]){0, 1, 2, 3}), 16);
    assert_int_equal(step(&f, INT64_MAX), TS_STOP_END);
    assert_null(ts_session_hit(f.session));
    end(&f);
}
