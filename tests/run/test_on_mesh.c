/* Runs on a mesh: what devices hold, copies that differ, links, findings of all devices, and their one timeline. */
#include <stdio.h>
#include <string.h>

#include "run/run.h"
#include "tests/support/test.h"

enum { TILE_BYTES = 4096, MOST_EVENTS = 2000 };

typedef struct {
    ts_arena *arena;
    ts_mesh mesh;
    ts_run_request request;
    ts_run_result result;
    ts_timeline timeline;
    ts_trace_event *events;
    int event_count;
} fixture;

static ts_source source_of(const char *name, const char *text) {
    return (ts_source){name, text, strlen(text)};
}

/* On that many chips of a torus; devices: as many, or twice. */
static fixture *begin(const char *machine, const char *axes, const char *topology, const char *text) {
    ts_arena *arena = ts_arena_new();
    fixture *f = TS_NEW(arena, fixture);
    ts_error err = {0};
    *f = (fixture){.arena = arena};
    f->request = (ts_run_request){.program = "a.tsim",
                                  .machine = ts_machine_load(&err, arena, machine),
                                  .keep_outputs = true,
                                  .max_cycles = INT64_MAX,
                                  .mesh = &f->mesh};
    assert_non_null(f->request.machine);
    ts_mesh_request mesh = {.machine = f->request.machine, .axes = source_of("mesh", axes)};
    if (topology) mesh.topology = source_of("topology", topology);
    if (!ts_mesh_read(&err, arena, &mesh, &f->mesh)) fail_msg("%s", err.message);
    ts_source *source = TS_NEW(arena, ts_source);
    *source = source_of("a.tsim", text);
    ts_target target;
    ts_run_target(f->request.machine, &target);
    target.mesh = &f->mesh;
    f->request.built = ts_program_parse(&err, arena, source, &target, NULL, 0);
    if (!f->request.built) fail_msg("line %d: %s", err.line, err.message);
    return f;
}

static void run(fixture *f) {
    ts_error err = {0};
    if (!ts_run(&err, f->arena, &f->request, &f->result)) fail_msg("%s", err.message);
}

static void give(fixture *f, const char *name, int rank, const int64_t *dims, const int32_t *values) {
    ts_host_array *array = TS_NEW(f->arena, ts_host_array);
    ts_run_array *given = TS_NEW(f->arena, ts_run_array);
    ts_error err = {0};
    assert_true(ts_host_array_init(&err, f->arena, TS_DTYPE_S32, rank, dims, array));
    memcpy(array->bytes, values, array->length);
    *given = (ts_run_array){name, array};
    f->request.arrays = given;
    f->request.array_count = 1;
}

static const int32_t *output(const fixture *f, int tensor) {
    return (const int32_t *)(const void *)f->result.tensors[tensor].after.bytes;
}

/* ---- Values ---- */

static const char pairs[] = ".tensor x hbm s32[4,8,128]{2,1,0:T(8,128)} P('x') in iota\n"
                            ".tensor y hbm s32[4,8,128]{2,1,0:T(8,128)} P('x') out\n"
                            ".tensor w hbm s32[8,128]{1,0:T(8,128)} inout iota\n"
                            ".check y == x\n.check w == iota(8, 128, axis=1)\n.report most = sum(w)\n"
                            ".sem sent, came\n"
                            " device.id s1\n"
                            " sxor s2, s1, 1\n" /* line 9 */
                            " dma y <- x, sent, came device=s2\n"
                            " wait came\n"
                            " wait sent\n";

TEST(parts_are_dealt_out_and_gathered) {
    static const char *const meshes[][3] = {{"tpu-v5p", "4", NULL}, {"tpu-v7x", "4", "2"}};
    for (int i = 0; i < 2; i++) {
        fixture *f = begin(meshes[i][0], meshes[i][1], meshes[i][2], pairs);
        run(f);
        for (int e = 0; e < 4096; e++) assert_int_equal(output(f, 1)[e], e ^ 1024);
        for (int e = 0; e < 1024; e++) assert_int_equal(output(f, 2)[e], e);
        assert_int_equal(f->result.checks[0].failed, 4096);
        assert_int_equal(f->result.checks[1].failed, 1024 - 128);
        assert_true(f->result.reports[0] == 1024 * 1023 / 2);
        assert_false(f->result.passed);
        f->request.time_only = true;
        f->request.keep_outputs = false;
        run(f);
        assert_true(f->result.passed && !f->result.checks && !f->result.tensors[1].after.bytes);
        ts_arena_free(f->arena);
    }
}

/* Cores have an SMEM each. */
TEST(every_core_has_inputs) {
    fixture *f = begin("tpu-v4", "2", NULL,
                       ".tensor x smem s32[2,4] P('x') in iota\n.tensor y hbm s32[2,2,4] P('x') out\n"
                       ".sem s\n.cores 2\n core.id s1\n dma y[0, s1] <- x[0], s\n wait s\n");
    run(f);
    for (int e = 0; e < 16; e++) assert_int_equal(output(f, 1)[e], e / 8 * 4 + e % 4);
    ts_arena_free(f->arena);
}

/* ---- Copies ---- */

static void assert_copies_differ(fixture *f, const char *text) {
    ts_error err = {0};
    assert_false(ts_run(&err, f->arena, &f->request, &f->result));
    assert_error(&err, TS_ERROR_FAULT, text);
}

/* Of 17,000 elements, more than are compared at once. */
TEST(copies_are_compared) {
    enum { MOST = 17000 };
    static const int64_t dims[] = {2, MOST};
    static const struct {
        int element;
        const char *error;
    } rows[] = {
        {0, "fault: the copies of 'y' on devices 0 and 1 differ, first in element 0 of the part\n"},
        {16383, "fault: the copies of 'y' on devices 0 and 1 differ, first in element 16383 of the part\n"},
        {16384, "fault: the copies of 'y' on devices 0 and 1 differ, first in element 16384 of the part\n"},
        {MOST - 1,
         "fault: the copies of 'y' on devices 0 and 1 differ, first in element 16999 of the part\n"},
    };
    fixture *f = begin("tpu-v5p", "2", NULL,
                       ".tensor x hbm s32[2,17000] P('x') in\n.tensor y hbm s32[17000] {replicated} out\n"
                       ".tensor z hbm s32[17000]\n.sem s\n"
                       " dma y <- x[0], s\n wait s\n dma z <- x[0], s\n wait s\n");
    int32_t *values = TS_NEW_ARRAY(f->arena, int32_t, 2 * MOST);
    for (int e = 0; e < 2 * MOST; e++) values[e] = e % MOST;
    give(f, "x", 2, dims, values);
    run(f);
    assert_memory_equal(output(f, 1), values, MOST * sizeof *values);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        values[MOST + rows[i].element]++;
        give(f, "x", 2, dims, values);
        assert_copies_differ(f, rows[i].error);
        values[MOST + rows[i].element]--;
    }
    ts_arena_free(f->arena);
}

/* 3 rows over 2 parts of 2: the last row of the second is padding, and each part is on two devices. */
TEST(padding_is_not_compared) {
    static const int64_t dims[] = {4, 2, 4};
    fixture *f = begin("tpu-v5p", "2x2", NULL,
                       ".tensor x hbm s32[4,2,4] P(('x','y')) in\n.tensor y hbm s32[3,4] P('x') out\n.sem s\n"
                       " dma y <- x[0], s\n wait s\n");
    int32_t values[32];
    for (int e = 0; e < 32; e++) values[e] = e < 16 ? e % 8 : 100 + e % 8;
    for (int e = 28; e < 32; e++) values[e] = 7;
    give(f, "x", 3, dims, values);
    run(f);
    for (int e = 0; e < 12; e++) assert_int_equal(output(f, 1)[e], e < 8 ? e : 100 + e - 8);
    values[27] = 0;
    give(f, "x", 3, dims, values);
    assert_copies_differ(
        f, "fault: the copies of 'y' on devices 2 and 3 differ, first in element 3 of the part\n");
    ts_arena_free(f->arena);
}

/* What only the program uses may differ; a check of it is that of the first device. */
TEST(scratch_is_not_compared) {
    fixture *f =
        begin("tpu-v5p", "2", NULL,
              ".tensor x hbm s32[2,4] P('x') in iota\n.tensor z hbm s32[4]\n.sem s\n.check z == iota(4)\n"
              " dma z <- x[0], s\n wait s\n");
    run(f);
    assert_true(f->result.passed && f->result.checks[0].failed == 0);
    ts_arena_free(f->arena);
}

/* ---- What happened ---- */

/* On a line, all send a tile to device 2: what device 0 sends goes over both links. */
TEST(links_are_counted) {
    fixture *f = begin("tpu-v5p", "3", NULL,
                       ".tensor x hbm s32[8,128]{1,0:T(8,128)} in iota\n"
                       ".tensor y hbm s32[3,8,128]{2,1,0:T(8,128)} inout zeros\n.sem sent, came\n"
                       " device.id s1\n smov s2, 2\n dma y[s1] <- x, sent, came device=s2\n wait sent\n"
                       " br.ne s1, 2, out\n smov s3, 3\n wait came, s3\nout: nop\n");
    f->request.keep_outputs = false;
    run(f);
    const ts_run_mesh *mesh = f->result.mesh;
    int64_t up = 0, next = 2 * f->mesh.dim_count;
    for (int64_t i = 0; i < ts_mesh_link_count(&f->mesh); i++)
        assert_int_equal(mesh->links[i].bytes, i == up ? TILE_BYTES : i == next ? 2 * TILE_BYTES : 0);
    assert_int_equal(mesh->links[next].busy_ps, 2 * mesh->links[up].busy_ps);
    assert_true(mesh->mesh == &f->mesh && mesh->slowest == 2);
    for (int d = 0; d < 3; d++) assert_int_equal(mesh->chips[d].transfers, 1);
    assert_true(mesh->chips[2].cycles > mesh->chips[0].cycles);
    assert_int_equal(f->result.counters.values[TS_COUNTER_CYCLES], mesh->chips[2].cycles);
    assert_int_equal(f->result.counters.values[TS_COUNTER_TRANSFERS], 1);
    assert_int_equal(f->result.roofline.link, next);
    double ps = 1e9 / (double)f->request.machine->chip.sustained_khz * (double)mesh->chips[2].cycles;
    double busy = (double)mesh->links[next].busy_ps / ps;
    assert_true(f->result.roofline.link_busy > 0.999 * busy && f->result.roofline.link_busy < 1.001 * busy);
    ts_arena_free(f->arena);
}

/* The same lines on several devices are one finding, of the first; what is not written is found device by device. */
TEST(findings_name_a_device) {
    fixture *f = begin("tpu-v5p", "3", NULL,
                       ".tensor y hbm s32[8] {replicated} out\n.tensor x hbm s32[8] in iota\n.sem s, t\n"
                       " device.id s1\n br.eq s1, 0, out\n"
                       " sem.add t, s1\n"
                       " dma y <- x, s\n wait s\nout: nop\n");
    f->request.check = true;
    f->request.keep_outputs = false;
    run(f);
    const ts_findings *found = f->result.findings;
    assert_false(f->result.passed);
    assert_int_equal(ts_findings_have(found, TS_FINDING_UNWRITTEN), 1);
    assert_int_equal(ts_findings_have(found, TS_FINDING_SEMAPHORE), 1);
    for (int i = 0; i < found->count; i++) {
        bool unwritten = found->list[i].kind == TS_FINDING_UNWRITTEN;
        assert_memory_equal(found->list[i].text, unwritten ? "device 0: " : "device 1: ", 10);
    }
    f->request.time_only = true;
    run(f);
    assert_int_equal(ts_findings_have(f->result.findings, TS_FINDING_UNWRITTEN), 0);
    ts_arena_free(f->arena);
}

/* Device n writes to an input n + 1 times: six times in all, on the same line. */
TEST(findings_are_counted_on_all_devices) {
    fixture *f = begin("tpu-v5p", "3", NULL,
                       ".tensor x hbm s32[8] in iota\n.tensor z hbm s32[8] in iota\n.sem s\n device.id s1\n"
                       "again: dma x <- z, s\n wait s\n ssub s1, s1, 1\n br.ge s1, 0, again\n");
    f->request.check = true;
    run(f);
    const ts_findings *found = f->result.findings;
    assert_true(f->result.passed && found->count == 1);
    assert_int_equal(found->list[0].kind, TS_FINDING_OVERWRITTEN);
    assert_int_equal(found->list[0].times, 1 + 2 + 3);
    ts_arena_free(f->arena);
}

/* ---- The timeline ---- */

static void keep(void *self, const ts_trace_event *events, int64_t count) {
    fixture *f = self;
    for (int64_t i = 0; i < count && f->event_count < MOST_EVENTS; i++)
        f->events[f->event_count++] = events[i];
}

/* Two devices a chip: device n sends to n xor partner, which is on the other chip if that is 2. */
static fixture *begin_timeline(int64_t events, int partner, const char *more) {
    char text[1024];
    snprintf(text, sizeof text,
             ".tensor x hbm s32[4,8,128]{2,1,0:T(8,128)} P('x') in iota\n"
             ".tensor y hbm s32[4,8,128]{2,1,0:T(8,128)} P('x') out\n.sem sent, came\n"
             " device.id s1\n sxor s2, s1, %d\n dma y <- x, sent, came device=s2\n"
             " wait came\n wait sent\n dma y <- x, sent\n wait sent\n%s",
             partner, more);
    fixture *f = begin("tpu-v7x", "4", "2", text);
    f->timeline = (ts_timeline){.until = INT64_MAX, .events = events};
    f->events = TS_NEW_ARRAY(f->arena, ts_trace_event, MOST_EVENTS);
    ts_trace_init(&f->timeline.trace, f->arena, 8, keep, f);
    f->request.timeline = &f->timeline;
    run(f);
    return f;
}

static int device_of(const fixture *f, int64_t track) { return f->timeline.tracks[track].process; }

/* Of a timeline of all of it. */
static void assert_all_bundles(const fixture *f) {
    int64_t bundles[4] = {0};
    for (int i = 0; i < f->event_count; i++)
        if (f->events[i].kind == TS_TIMELINE_BUNDLE) bundles[device_of(f, f->events[i].track)]++;
    for (int d = 0; d < 4; d++) assert_int_equal(bundles[d], f->result.mesh->chips[d].cores[0].bundles);
}

static bool is_named(const fixture *f, int64_t track, const char *name) {
    return strncmp(f->timeline.tracks[track].name, name, strlen(name)) == 0;
}

TEST(devices_are_processes) {
    static const char *const names[] = {"device 0 (x=0)", "device 1 (x=1)", "device 2 (x=2)",
                                        "device 3 (x=3)"};
    fixture *f = begin_timeline(TS_TIMELINE_EVENTS, 2, "");
    const ts_timeline *t = &f->timeline;
    int each = t->track_count / 4;
    assert_int_equal(t->process_count, 4);
    for (int i = 0; i < 4; i++) assert_string_equal(t->processes[i], names[i]);
    for (int i = 0; i < t->track_count; i++) {
        assert_int_equal(device_of(f, i), i / each);
        bool own = !is_named(f, i % each, "link") && !is_named(f, i, "link");
        if (own && *t->tracks[i].name) assert_string_equal(t->tracks[i].name, t->tracks[i % each].name);
    }
    assert_true(t->share >= 1);
    assert_all_bundles(f);
    assert_true(t->mesh == &f->mesh && t->sampled_from == -1 && t->thinned == 0);
    assert_int_equal(t->cycles, f->result.mesh->chips[f->result.mesh->slowest].cycles);
    ts_arena_free(f->arena);
}

TEST(rows_of_two_cores_are_told_apart) {
    fixture *f = begin("tpu-v4", "2", NULL, ".cores 2\n nop\n");
    f->timeline = (ts_timeline){.until = INT64_MAX, .events = TS_TIMELINE_EVENTS};
    f->events = TS_NEW_ARRAY(f->arena, ts_trace_event, MOST_EVENTS);
    ts_trace_init(&f->timeline.trace, f->arena, 8, keep, f);
    f->request.timeline = &f->timeline;
    run(f);
    int found[2] = {0}, queues = 0;
    for (int i = 0; i < f->timeline.track_count; i++) {
        found[0] += strcmp(f->timeline.tracks[i].name, "core 0 bundles") == 0;
        found[1] += strcmp(f->timeline.tracks[i].name, "core 1 bundles") == 0;
        queues += strcmp(f->timeline.tracks[i].name, "queue 0") == 0;
    }
    assert_true(found[0] == 2 && found[1] == 2 && queues == 2);
    ts_arena_free(f->arena);
}

/* On a link of the first device of the sender's chip, and as it arrives. */
TEST(messages_are_drawn_twice) {
    fixture *f = begin_timeline(TS_TIMELINE_EVENTS, 2, "");
    int64_t sent[4] = {0};
    int arrived[4] = {0};
    for (int i = 0; i < f->event_count; i++) {
        const ts_trace_event *e = &f->events[i];
        if (e->kind != TS_TIMELINE_MESSAGE) continue;
        assert_int_equal(e->value[1], e->value[0] ^ 2);
        if (is_named(f, e->track, "arrivals")) {
            assert_int_equal(device_of(f, e->track), e->value[1]);
            arrived[e->value[1]]++;
        } else {
            assert_true(is_named(f, e->track, "link"));
            assert_int_equal(device_of(f, e->track), e->value[0] & 2);
            sent[e->value[0]] += e->value[2];
        }
    }
    for (int d = 0; d < 4; d++) assert_true(sent[d] == TILE_BYTES && arrived[d] == 1);
    ts_arena_free(f->arena);
}

/* Each leads through a link to the other device's arrivals, from there to its wait, and to the wait for what was sent; that
 * of a transfer within the device through a queue of its own. */
TEST(arrows_cross_devices) {
    fixture *f = begin_timeline(TS_TIMELINE_EVENTS, 2, "");
    int crossing[4] = {0}, taken[4] = {0}, own[4] = {0};
    for (int i = 0; i < f->event_count; i++) {
        const ts_trace_event *e = &f->events[i];
        if (e->kind != TS_TIMELINE_ARROW) continue;
        int from = device_of(f, e->track), to = device_of(f, e->value[0]);
        assert_true(e->begin <= e->value[1]);
        assert_true(is_named(f, e->value[0],
                             is_named(f, e->track, "bundles") && from != to ? "arrivals" : "bundles"));
        if (from != to) {
            assert_int_equal(to, from ^ 2);
            assert_true(is_named(f, e->track, "bundles") && is_named(f, e->value[2], "link"));
            assert_int_equal(device_of(f, e->value[2]), from & 2);
            assert_true(e->begin < e->value[3] && e->value[3] < e->value[1]);
            crossing[from]++;
        } else if (is_named(f, e->track, "arrivals"))
            taken[from]++;
        else
            own[from] += e->value[2] < 0 ? 1 : 10;
        if (from == to && e->value[2] >= 0) {
            assert_int_equal(device_of(f, e->value[2]), from);
            assert_true(is_named(f, e->value[2], "queue"));
        }
    }
    for (int d = 0; d < 4; d++) assert_true(crossing[d] == 1 && taken[d] == 1 && own[d] == 11);
    ts_arena_free(f->arena);
}

/* To the other device of the chip: through no link. */
TEST(neighbours_in_a_chip_need_no_link) {
    fixture *f = begin_timeline(TS_TIMELINE_EVENTS, 1, "");
    int crossing = 0;
    for (int i = 0; i < f->event_count; i++) {
        const ts_trace_event *e = &f->events[i];
        assert_false(e->kind == TS_TIMELINE_MESSAGE && is_named(f, e->track, "link"));
        if (e->kind != TS_TIMELINE_ARROW || device_of(f, e->track) == device_of(f, e->value[0])) continue;
        assert_int_equal(device_of(f, e->value[0]), device_of(f, e->track) ^ 1);
        assert_true(e->value[2] < 0);
        crossing++;
    }
    assert_int_equal(crossing, 4);
    ts_arena_free(f->arena);
}

/* Drawn in part when there are too many: as of the device of which least is drawn. */
TEST(many_events_are_thinned) {
    fixture *f = begin_timeline(4, 2, " br.ne s1, 3, out\n delay 4000\n delay 4000\nout: nop\n");
    int bundles[4] = {0};
    for (int i = 0; i < f->event_count; i++)
        if (f->events[i].kind == TS_TIMELINE_BUNDLE) bundles[device_of(f, f->events[i].track)]++;
    assert_true(f->timeline.thinned > 0 && f->timeline.sampled_from >= 0);
    assert_int_equal(f->timeline.sampled_from, TS_TIMELINE_WINDOW); /* one event is enough for window 0 */
    for (int d = 0; d < 4; d++) assert_true(bundles[d] > 0);
    assert_int_equal(f->timeline.cycles, f->result.mesh->chips[3].cycles);
    ts_arena_free(f->arena);
}

/* Though the others are drawn whole. */
TEST(one_device_may_be_thinned) {
    fixture *f =
        begin("tpu-v5p", "4", NULL, " device.id s1\n br.ne s1, 0, out\n delay 4000\n delay 4000\nout: nop\n");
    f->timeline = (ts_timeline){.until = INT64_MAX, .events = 4};
    f->events = TS_NEW_ARRAY(f->arena, ts_trace_event, MOST_EVENTS);
    ts_trace_init(&f->timeline.trace, f->arena, 8, keep, f);
    f->request.timeline = &f->timeline;
    run(f);
    assert_int_equal(f->timeline.sampled_from % TS_TIMELINE_WINDOW, 0);
    assert_in_range(f->timeline.sampled_from, TS_TIMELINE_WINDOW, 8 * TS_TIMELINE_WINDOW);
    assert_int_equal(f->timeline.cycles, f->result.mesh->chips[0].cycles);
    ts_arena_free(f->arena);
}
