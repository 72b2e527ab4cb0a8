/* What a recorder draws of what chips and links tell it, told here by hand. */
#include "run/recorder.h"

#include <string.h>

#include "layout/shape.h"
#include "run/run.h"
#include "tests/support/test.h"

enum { QUEUES = 3, DIMS = 2, REMEMBERED = 64 };

static const char text[] = ".tensor x hbm f32[8,128]{1,0:T(8,128)} in iota\n"
                           ".tensor a vmem f32[8,128]{1,0:T(8,128)}\n"
                           ".sem one, two, far bytes\n"
                           "{ vadd.f32 v1, v0, v0 ; vadd.f32 v2, v0, v0 }\n" /* bundle 0 */
                           " vexp.f32 v3, v1\n"
                           ".region outer\n"
                           " dma a <- x, one\n" /* bundle 2 */
                           ".region inner\n"
                           " wait one\n" /* bundle 3 */
                           ".endregion\n"
                           " sem.add one, -1\n" /* bundle 4 */
                           ".region second\n"
                           " nop\n" /* bundle 5 */
                           ".endregion\n"
                           ".endregion\n"
                           " dma a <- x, far\n" /* bundle 6 */
                           ".cores 2\n";
enum { ONE, TWO, FAR };

typedef struct {
    ts_arena *arena;
    ts_machine machine;
    ts_mesh mesh;
    const ts_program *program;
    ts_timeline timeline;
    recorder *recorder;
    const ts_chip_observer *told;
    int hidden; /* kinds of events that are not printed, a bit each */
    bool brief;
    int message_track; /* of the last message */
    ts_text text;      /* of each event its track, "begin+cycles" and what it says */
} fixture;

/* In brief without its track. */
static void print_place(fixture *f, const ts_trace_event *e) {
    const ts_track *track = &f->timeline.tracks[e->track];
    if (!f->brief) ts_text_add(&f->text, "%s/%s ", f->timeline.processes[track->process], track->name);
    ts_text_add(&f->text, "%lld", (long long)e->begin);
    if (!f->brief || e->cycles > 0) ts_text_add(&f->text, "+%lld", (long long)e->cycles);
}

static void print_arrow(fixture *f, const ts_trace_event *e) {
    const ts_track *tracks = f->timeline.tracks;
    ts_text_add(&f->text, " to %s%s%lld", f->brief ? "" : tracks[e->value[0]].name, f->brief ? "" : " ",
                (long long)e->value[1]);
    if (e->value[2] >= 0 && !f->brief)
        ts_text_add(&f->text, " through %s %lld", tracks[e->value[2]].name, (long long)e->value[3]);
}

static void print(fixture *f, const ts_trace_event *e) {
    static const char *const kinds[] = {"bundle", "instruction", "stall", "transfer", "bus",  "message",
                                        "rest",   "enter",       "leave", "counter",  "arrow"};
    ts_text *out = &f->text;
    print_place(f, e);
    ts_text_add(out, " %s", kinds[e->kind]);
    if (e->kind == TS_TIMELINE_COUNTER)
        ts_text_add(out, " %lld", (long long)e->value[0]);
    else if (e->kind != TS_TIMELINE_LEAVE)
        ts_text_add(out, " %d", e->id);
    if (e->kind >= TS_TIMELINE_INSTRUCTION && e->kind <= TS_TIMELINE_MESSAGE)
        ts_text_add(out, ".%d", e->part);
    if (e->kind == TS_TIMELINE_TRANSFER || e->kind == TS_TIMELINE_MESSAGE)
        ts_text_add(out, " of %lld %lld %lld", (long long)e->value[0], (long long)e->value[1],
                    (long long)e->value[e->kind == TS_TIMELINE_TRANSFER ? 3 : 2]);
    if (e->kind == TS_TIMELINE_ARROW) print_arrow(f, e);
    ts_text_add(out, f->brief ? ", " : "\n");
}

static void take(void *self, const ts_trace_event *events, int64_t count) {
    fixture *f = self;
    for (const ts_trace_event *e = events; e < events + count; e++) {
        if (e->kind == TS_TIMELINE_MESSAGE) f->message_track = e->track;
        if (!(f->hidden >> e->kind & 1)) print(f, e);
    }
}

static fixture *begin(int64_t from, int64_t until, bool on_mesh) {
    ts_arena *arena = ts_arena_new();
    fixture *f = TS_NEW(arena, fixture);
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load(&err, arena, on_mesh ? "tpu-v5p" : "tpu-v4");
    assert_non_null(machine);
    *f = (fixture){.arena = arena, .machine = *machine, .text = ts_text_begin(arena)};
    f->machine.dma.queues = QUEUES;
    f->machine.chip.sustained_khz = 1000000; /* a cycle is 1000 ps */
    ts_mesh_request mesh = {.machine = &f->machine, .axes = {"mesh", "2x3", 3}};
    if (on_mesh) assert_true(ts_mesh_read(&err, arena, &mesh, &f->mesh));
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"a.tsim", text, strlen(text)};
    ts_target target;
    ts_run_target(&f->machine, &target);
    f->program = ts_program_parse(&err, arena, source, &target, NULL, 0);
    if (!f->program) fail_msg("line %d: %s", err.line, err.message);
    f->timeline = (ts_timeline){
        .from = from, .until = until, .events = TS_TIMELINE_EVENTS, .mesh = on_mesh ? &f->mesh : NULL};
    ts_trace_init(&f->timeline.trace, arena, 4, take, f);
    f->recorder = recorder_new(arena, &f->timeline);
    recorder_begin(f->recorder, &f->machine, f->program, 0);
    f->told = recorder_observer(f->recorder);
    return f;
}
/* What was drawn since the last time. */
static void expect(fixture *f, const char *want) {
    ts_trace_flush(&f->timeline.trace);
    assert_string_equal(f->text.bytes, want);
    f->text = ts_text_begin(f->arena);
}

static void end(fixture *f) {
    ts_chip_config config;
    ts_error err = {0};
    ts_chip_configure(&f->machine, &config);
    config.max_cycles = INT64_MAX;
    ts_chip *chip = ts_chip_new(&err, f->arena, &config, &f->program->code, NULL);
    if (!chip) fail_msg("%s", err.message);
    recorder_end(f->recorder, chip);
    ts_chip_free(chip);
}

/* ---- Bundles and regions ---- */

TEST(bundles_take_units) {
    fixture *f = begin(0, INT64_MAX, false);
    f->told->issued(f->recorder, 0, 10);
    f->told->stalled(f->recorder, 1, 11, 4, TS_STALL_BARRIER);
    f->told->core(f->recorder, 1);
    f->told->issued(f->recorder, 1, 15);
    f->told->issued(f->recorder, 5, 16);
    f->told->core(f->recorder, 0);
    f->told->issued(f->recorder, 0, 15);
    ts_text want = ts_text_begin(f->arena);
    ts_text_add(&want,
                "core 0/bundles 10+1 bundle 0\ncore 0/valu 0 10+1 instruction 0.0\n"
                "core 0/valu 1 10+1 instruction 0.1\ncore 0/stalls 11+4 stall %d.1\n"
                "core 1/bundles 15+1 bundle 1\ncore 1/eup 15+2 instruction 1.0\n"
                "core 1/regions 16+0 enter 0\ncore 1/regions 16+0 enter 2\n"
                "core 1/bundles 16+1 bundle 5\ncore 1/misc 16+1 instruction 5.0\n"
                "core 0/bundles 15+1 bundle 0\ncore 0/valu 0 15+1 instruction 0.0\n"
                "core 0/valu 1 15+1 instruction 0.1\n",
                TS_STALL_BARRIER);
    expect(f, want.bytes);
    ts_arena_free(f->arena);
}

/* Bundles of a run in which core 0 goes back to the first region once. */
static void run_regions(fixture *f) {
    static const int bundles[] = {0, 2, 3, 4, 5, 3, 6}, cycles[] = {0, 5, 8, 12, 13, 20, 30};
    f->hidden = 1 << TS_TIMELINE_BUNDLE | 1 << TS_TIMELINE_INSTRUCTION;
    for (int i = 0; i < 7; i++) f->told->issued(f->recorder, bundles[i], cycles[i]);
}

TEST(regions_lie_in_each_other) {
    static const struct {
        int64_t from, until;
        const char *want;
    } rows[] = {
        {0, INT64_MAX,
         "5 enter 0, 8 enter 1, 12 leave, 13 enter 2, 20 leave, 20 enter 1, 30 leave, 30 leave, "},
        {10, 25, "10 enter 0, 10 enter 1, 12 leave, 13 enter 2, 20 leave, 20 enter 1, 25 leave, 25 leave, "},
        {12, 20, "12 enter 0, 13 enter 2, 20 leave, 20 leave, "},
        {13, 14, "13 enter 0, 13 enter 2, 14 leave, 14 leave, "},
        {30, 31, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture *f = begin(rows[i].from, rows[i].until, false);
        f->brief = true;
        run_regions(f);
        expect(f, rows[i].want);
        ts_arena_free(f->arena);
    }
}

/* Those that are open when the program ends do so too, here of one that has not run: in cycle 0. */
TEST(open_regions_end) {
    fixture *f = begin(0, INT64_MAX, false);
    f->brief = true;
    run_regions(f);
    expect(f, "5 enter 0, 8 enter 1, 12 leave, 13 enter 2, 20 leave, 20 enter 1, 30 leave, 30 leave, ");
    f->told->core(f->recorder, 1);
    f->told->issued(f->recorder, 3, 5);
    end(f);
    expect(f, "5 enter 0, 5 enter 1, 0 leave, 0 leave, ");
    ts_arena_free(f->arena);
}

/* In a window that is not drawn: one behind the other, by reason. */
TEST(stalls_are_told_apart) {
    enum { SECOND = TS_TIMELINE_WINDOW };
    fixture *f = begin(0, INT64_MAX, false);
    f->timeline.events = 1;
    f->told->core(f->recorder, 1);
    f->told->stalled(f->recorder, 0, 0, 2, TS_STALL_BARRIER);
    f->told->stalled(f->recorder, 0, SECOND, 5, TS_STALL_BARRIER);
    f->told->stalled(f->recorder, 0, SECOND + 8, 3, TS_STALL_SEMAPHORE);
    f->told->stalled(f->recorder, 0, SECOND + 20, 1, TS_STALL_BARRIER);
    end(f);
    ts_text want = ts_text_begin(f->arena);
    ts_text_add(&want,
                "core 1/stalls 0+2 stall %d.0\ncore 1/stalls %d+3 rest %d\ncore 1/stalls %d+6 rest %d\n",
                TS_STALL_BARRIER, SECOND, TS_STALL_SEMAPHORE, SECOND + 3, TS_STALL_BARRIER);
    expect(f, want.bytes);
    ts_arena_free(f->arena);
}

/* ---- Transfers and semaphores ---- */

static const ts_shape words = {.element_bits = 32}, halves = {.element_bits = 16},
                      nibbles = {.element_bits = 4};
static const ts_plan hundred = {.elements = 100, .src = {.shape = &words}, .dst = {.shape = &halves}},
                     hundred_back = {.elements = 100, .src = {.shape = &halves}, .dst = {.shape = &words}},
                     three = {.elements = 3, .src = {.shape = &nibbles}, .dst = {.shape = &nibbles}};

static void wait_for(fixture *f, int semaphore, int64_t count, int64_t cycle) {
    const ts_instruction wait = {.opcode = TS_OP_wait};
    f->told->changed(f->recorder, &wait, semaphore, -count, cycle);
}

static void add_to(fixture *f, int semaphore, int64_t count, int64_t cycle) {
    const ts_instruction add = {.opcode = TS_OP_sem_add};
    f->told->changed(f->recorder, &add, semaphore, count, cycle);
}

static ts_in_flight flight(const fixture *f, int transfer, int core, int semaphore, int64_t issued) {
    return (ts_in_flight){.what = &f->program->code.transfers[transfer],
                          .transfer = transfer,
                          .core = core,
                          .semaphore = semaphore,
                          .plan = &hundred,
                          .issued_cycle = issued};
}

static void transferred(fixture *f, const ts_in_flight *t, int64_t started, int64_t completed) {
    const ts_dma_result result = {.started_cycle = started,
                                  .completed_cycle = completed,
                                  .useful_bytes = 10,
                                  .src_bytes = 20,
                                  .dst_bytes = 7};
    f->told->transferred(f->recorder, t, &result);
}

/* What is outstanding is counted at the wider end, in whole bytes. */
TEST(transfers_lead_to_waits) {
    fixture *f = begin(0, INT64_MAX, false);
    ts_in_flight one = flight(f, 0, 0, ONE, 100), far = flight(f, 1, 1, FAR, 120), back = far;
    far.plan = &three;
    back.plan = &hundred_back;
    f->told->started(f->recorder, &one);
    f->told->started(f->recorder, &far);
    transferred(f, &one, 150, 300);
    transferred(f, &far, 0, 310);
    expect(f, "DMA engine/outstanding 100+0 counter 400\nDMA engine/outstanding 120+0 counter 402\n"
              "DMA engine/queue 0 150+150 transfer 0.0 of 10 27 200\nDMA engine/outstanding 300+0 counter 2\n"
              "core 0/one[0] 300+0 counter 1\n"
              "DMA engine/queue 1 120+190 transfer 1.1 of 10 27 190\nDMA engine/outstanding 310+0 counter 0\n"
              "core 1/far[0] 310+0 counter 4096\n");
    wait_for(f, ONE, 1, 320);
    expect(
        f,
        "core 0/one[0] 320+0 counter 0\ncore 0/bundles 100+0 arrow 0 to bundles 320 through queue 0 150\n");
    f->told->core(f->recorder, 1);
    wait_for(f, FAR, 1000, 330);
    wait_for(f, FAR, 3096, 340);
    expect(
        f,
        "core 1/far[0] 330+0 counter 3096\ncore 1/bundles 120+0 arrow 1 to bundles 330 through queue 1 120\n"
        "core 1/far[0] 340+0 counter 0\ncore 1/bundles 120+0 arrow 1 to bundles 340 through queue 1 120\n");
    f->told->started(f->recorder, &back);
    expect(f, "DMA engine/outstanding 310+0 counter 400\n");
    end(f);
    ts_arena_free(f->arena);
}

/* Only what a wait takes of a transfer has an arrow; what came first is taken first. */
TEST(first_come_first_taken) {
    fixture *f = begin(0, INT64_MAX, false);
    f->brief = true;
    f->hidden = ~(1 << TS_TIMELINE_ARROW);
    ts_in_flight a = flight(f, 0, 0, TWO, 10), b = flight(f, 1, 0, TWO, 20);
    add_to(f, TWO, 2, 5);
    transferred(f, &a, 10, 30);
    wait_for(f, TWO, 1, 31);
    wait_for(f, TWO, 1, 32);
    expect(f, "");
    transferred(f, &b, 20, 40);
    wait_for(f, TWO, 2, 41);
    expect(f, "10 arrow 0 to 41, 20 arrow 1 to 41, ");
    transferred(f, &a, 10, 50);
    transferred(f, &b, 20, 60);
    add_to(f, TWO, -1, 61);
    wait_for(f, TWO, 1, 62);
    expect(f, "20 arrow 1 to 62, ");
    add_to(f, TWO, 1, 63);
    transferred(f, &a, 64, 70);
    wait_for(f, TWO, 2, 71);
    expect(f, "10 arrow 0 to 71, ");
    add_to(f, TWO, 1, 72);
    transferred(f, &b, 73, 80);
    wait_for(f, TWO, 1, 81);
    expect(f, "");
    wait_for(f, TWO, 1, 82);
    expect(f, "20 arrow 1 to 82, ");
    ts_arena_free(f->arena);
}

/* What is taken before anything came is taken of what comes first. */
TEST(what_is_owed_comes_first) {
    fixture *f = begin(0, INT64_MAX, false);
    f->brief = true;
    f->hidden = ~(1 << TS_TIMELINE_ARROW);
    ts_in_flight a = flight(f, 0, 0, TWO, 10), b = flight(f, 1, 0, TWO, 20);
    add_to(f, TWO, -1, 5);
    transferred(f, &a, 10, 30);
    transferred(f, &b, 20, 40);
    wait_for(f, TWO, 1, 41);
    expect(f, "20 arrow 1 to 41, ");
    ts_arena_free(f->arena);
}

/* Of a semaphore that nobody waits for the last 64 are remembered. */
TEST(many_are_remembered) {
    fixture *f = begin(0, INT64_MAX, false);
    f->brief = true;
    f->hidden = ~(1 << TS_TIMELINE_ARROW);
    ts_text want = ts_text_begin(f->arena);
    for (int i = 0; i < REMEMBERED + 6; i++) {
        ts_in_flight t = flight(f, 0, 0, TWO, i);
        t.transfer = 1000 + i;
        transferred(f, &t, i, i + 1);
        if (i >= 6) ts_text_add(&want, "%d arrow %d to 900, ", i, 1000 + i);
    }
    wait_for(f, TWO, REMEMBERED + 6, 900);
    expect(f, want.bytes);
    ts_arena_free(f->arena);
}

static void queue_of(fixture *f, int64_t begin_cycle, int64_t completed) {
    const ts_in_flight t = flight(f, 0, 0, -1, begin_cycle);
    transferred(f, &t, begin_cycle, completed);
}

/* The queue that became free last; where none is free, behind the one that ends first, if anything is left. */
TEST(queues_do_not_overlap) {
    fixture *f = begin(0, INT64_MAX, false);
    f->hidden = ~(1 << TS_TIMELINE_TRANSFER);
    static const int spans[][2] = {{0, 10},  {5, 12},  {11, 20}, {12, 15}, {13, 30}, {14, 31},
                                   {14, 31}, {14, 30}, {40, 41}, {42, 50}, {43, 60}, {60, 61}};
    for (int i = 0; i < 12; i++) queue_of(f, spans[i][0], spans[i][1]);
    expect(f, "DMA engine/queue 0 0+10 transfer 0.0 of 10 27 10\n"
              "DMA engine/queue 1 5+7 transfer 0.0 of 10 27 7\n"
              "DMA engine/queue 0 11+9 transfer 0.0 of 10 27 9\n"
              "DMA engine/queue 1 12+3 transfer 0.0 of 10 27 3\n"
              "DMA engine/queue 2 13+17 transfer 0.0 of 10 27 17\n"
              "DMA engine/queue 1 15+16 transfer 0.0 of 10 27 17\n"
              "DMA engine/queue 0 20+11 transfer 0.0 of 10 27 17\n"
              "DMA engine/queue 0 40+1 transfer 0.0 of 10 27 1\n"
              "DMA engine/queue 0 42+8 transfer 0.0 of 10 27 8\n"
              "DMA engine/queue 1 43+17 transfer 0.0 of 10 27 17\n"
              "DMA engine/queue 1 60+1 transfer 0.0 of 10 27 1\n");
    ts_arena_free(f->arena);
}

TEST(part_of_a_run) {
    fixture *f = begin(200, 400, false);
    ts_in_flight early = flight(f, 0, 0, ONE, 100), late = flight(f, 0, 0, ONE, 210);
    f->told->started(f->recorder, &early);
    f->told->started(f->recorder, &late);
    transferred(f, &early, 110, 300);
    transferred(f, &late, 250, 500);
    wait_for(f, ONE, 1, 350);
    wait_for(f, ONE, 1, 510);
    end(f);
    expect(f,
           "DMA engine/outstanding 210+0 counter 800\nDMA engine/queue 0 200+100 transfer 0.0 of 10 27 200\n"
           "DMA engine/outstanding 300+0 counter 400\ncore 0/one[0] 300+0 counter 1\n"
           "DMA engine/queue 1 250+150 transfer 0.0 of 10 27 290\ncore 0/one[0] 350+0 counter 1\n");
    ts_arena_free(f->arena);
}

/* ---- Between devices ---- */

/* Its semaphore grows when all has left, and not when all was read. */
TEST(what_leaves) {
    fixture *f = begin(0, INT64_MAX, true);
    ts_chip_message message = {0};
    ts_in_flight t = flight(f, 1, 1, FAR, 100), mute = flight(f, 1, 1, -1, 100);
    t.message = &message;
    f->hidden = ~(1 << TS_TIMELINE_ARROW | 1 << TS_TIMELINE_COUNTER | 1 << TS_TIMELINE_TRANSFER);
    transferred(f, &t, 110, 300);
    f->told->sent(f->recorder, &mute, 350);
    f->told->sent(f->recorder, &t, 400);
    f->told->core(f->recorder, 1);
    wait_for(f, FAR, 4096, 410);
    expect(f,
           "DMA engine/queue 0 110+190 transfer 1.1 of 10 27 200\nDMA engine/outstanding 300+0 counter -400\n"
           "core 1/far[0] 400+0 counter 4096\ncore 1/far[0] 410+0 counter 0\n"
           "core 1/bundles 100+0 arrow 1 to bundles 410\n");
    ts_arena_free(f->arena);
}

static void carry(fixture *f, const ts_chip_message *m, int64_t link, int64_t begin_ps, int64_t end_ps) {
    recorder_carried(f->recorder, &(ts_pod_chunk){m, link, 64, begin_ps, end_ps});
}

/* Chunks of a message that touch are one; a cycle is 1000 ps, and what takes none is not drawn. */
TEST(chunks_become_messages) {
    fixture *f = begin(0, INT64_MAX, true);
    const ts_chip_message a = {.source = 4, .destination = 5, .bytes = 999, .transfer = 1, .semaphore = FAR},
                          b = {.source = 3, .destination = 0, .bytes = 999, .transfer = -1, .semaphore = ONE};
    int64_t up = 2, other = up + 2 * f->mesh.dim_count + 1; /* of another chip: told by its remainder */
    carry(f, &a, up, 1000, 3000);
    carry(f, &a, other, 1000, 3000);
    carry(f, &a, up, 3000, 5000);
    carry(f, &a, up, 6000, 7000);
    carry(f, &b, up, 7000, 8000);
    carry(f, &a, up, 8100, 8200);
    f->brief = true;
    expect(f, "1+4 message 1.2 of 4 5 128, 6+1 message 1.2 of 4 5 64, 7+1 message -1.0 of 3 0 64, ");
    assert_int_equal(f->message_track, recorder_tracks(f->recorder)->link_first + up);
    carry(f, &b, up, 9001, 9003);
    carry(f, &b, other, 9000, 9001);
    carry(f, &a, 0, 11000, 12000);
    expect(f, "1+2 message 1.2 of 4 5 64, ");
    assert_int_equal(f->message_track, recorder_tracks(f->recorder)->link_first + up + 1);
    end(f);
    expect(f, "11+1 message 1.2 of 4 5 64, 9+1 message -1.0 of 3 0 64, ");
    ts_arena_free(f->arena);
}

/* A cycle each, one behind the other: a wait before its cycle has no arrow from there. */
TEST(arrivals_follow_each_other) {
    fixture *f = begin(0, INT64_MAX, true);
    const ts_chip_message a = {.source = 4, .destination = 0, .bytes = 77, .transfer = 1, .core = 1, .by = 3},
                          b = {.source = 4, .destination = 0, .transfer = -1, .core = 1, .by = 1};
    static const int64_t cycles[] = {50, 50, 51, 60}, drawn[] = {50, 51, 52, 60};
    f->told->core(f->recorder, 1);
    f->brief = true;
    for (int i = 0; i < 4; i++) {
        int64_t at;
        assert_true(recorder_arrived(f->recorder, i == 0 ? &a : &b, cycles[i], &at));
        assert_int_equal(at, drawn[i]);
        wait_for(f, ONE, i == 0 ? 3 : 1, cycles[i]);
    }
    expect(f, "50+1 message 1.0 of 4 0 77, 50 counter 3, 50 counter 0, 50 arrow 1 to 50, "
              "51+1 message -1.0 of 4 0 0, 50 counter 1, 50 counter 0, "
              "52+1 message -1.0 of 4 0 0, 51 counter 1, 51 counter 0, "
              "60+1 message -1.0 of 4 0 0, 60 counter 1, 60 counter 0, 60 arrow -1 to 60, ");
    ts_arena_free(f->arena);
}
