/* Programs on a mesh: what crosses takes its hops and bytes, and the number of threads does not show. */
#include "pod/pod.h"

#include <stdio.h>
#include <string.h>

#include "run/run.h"
#include "tests/support/rounds.h"
#include "tests/support/test.h"

typedef struct {
    ts_arena *arena;
    ts_error err;
    ts_run_result result;
    const ts_machine *machine;
    bool good;
} outcome;

/* Where devices and links are, but for the usual. */
typedef struct {
    const char *axes, *failed[3];
    int failed_count;
    const char *machine, *topology; /* NULL: tpu-v5e, the axes */
    const int32_t *order;
    bool check; /* as with the sanitizer */
    const ts_chip_observer *const *observers;
} place;

/* What is to be run, where, by one thread. */
static ts_run_request read_at(outcome *o, const place *where, const char *text) {
    *o = (outcome){.arena = ts_arena_new()};
    o->machine = ts_machine_load(&o->err, o->arena, where->machine ? where->machine : "tpu-v5e");
    assert_non_null(o->machine);
    ts_mesh *mesh = TS_NEW(o->arena, ts_mesh);
    ts_mesh_request request = {.machine = o->machine,
                               .axes = {"mesh", where->axes, strlen(where->axes)},
                               .failed = where->failed,
                               .failed_count = where->failed_count};
    if (where->topology) request.topology = (ts_source){"topology", where->topology, strlen(where->topology)};
    assert_true(ts_mesh_read(&o->err, o->arena, &request, mesh));
    mesh->order = where->order;
    o->machine = ts_machine_device(&o->err, o->arena, o->machine);
    ts_source *source = TS_NEW(o->arena, ts_source);
    char *copy = ts_arena_copy_text(o->arena, text, strlen(text));
    *source = (ts_source){"a.tsim", copy, strlen(copy)};
    ts_target target;
    ts_run_target(o->machine, &target);
    target.mesh = mesh;
    ts_run_request asked = {.program = "a.tsim",
                            .built = ts_program_parse(&o->err, o->arena, source, &target, NULL, 0),
                            .machine = o->machine,
                            .mesh = mesh,
                            .threads = 1,
                            .check = where->check,
                            .observers = where->observers,
                            .max_cycles = 100000000};
    if (!asked.built) print_error("%d: %s\n", o->err.line, o->err.message);
    assert_non_null(asked.built);
    return asked;
}

static outcome run_at(const place *where, const char *text, int threads) {
    outcome o;
    ts_run_request asked = read_at(&o, where, text);
    asked.threads = threads;
    o.good = ts_run(&o.err, o.arena, &asked, &o.result);
    return o;
}

static outcome run(const char *axes, const char *text, int threads) {
    return run_at(&(place){.axes = axes}, text, threads);
}

static int64_t cycles_of(outcome *o, int device) {
    if (!o->good) print_error("%d: %s\n", o->err.line, o->err.message);
    assert_true(o->good);
    assert_true(o->result.passed);
    return o->result.mesh->chips[device].cycles;
}

static int64_t hop_cycles(const outcome *o) {
    return (o->machine->ici.hop_ps * (o->machine->chip.sustained_khz / 1000)) / 1000000;
}

/* v5e: a line, as it has no 16 chips. */
TEST(a_signal_takes_a_hop_for_each_chip) {
    int64_t before = 0;
    for (int d = 1; d < 8; d++) {
        char text[256];
        snprintf(text, sizeof text,
                 ".sem a\n device.id s1\n br.eq s1, %d, last\n br.ne s1, 0, over\n sem.signal a, 1, %d\n"
                 "over: halt\nlast: wait a\n",
                 d, d);
        outcome o = run("8", text, 1 + d % 3);
        int64_t cycles = cycles_of(&o, d), hop = hop_cycles(&o);
        assert_true(hop > 1000);
        assert_in_range(cycles_of(&o, 0), 1, 300);
        if (d > 1) assert_in_range(cycles - before, hop - 1, hop + 1);
        if (d == 1) assert_in_range(cycles, hop, hop + 400);
        before = cycles;
        ts_arena_free(o.arena);
    }
}

static int64_t send(int rows, int to, int64_t *sent) {
    char text[512];
    snprintf(text, sizeof text,
             ".tensor x vmem f32[%d,128]{1,0:T(8,128)}\n.tensor y vmem f32[%d,128]{1,0:T(8,128)}\n.sem s, r\n"
             " device.id s1\n br.eq s1, %d, last\n br.ne s1, 0, over\n dma y <- x, s, r device=%d\n wait s\n"
             "over: halt\nlast: wait r\n",
             rows, rows, to, to);
    outcome o = run("8", text, 1);
    int64_t cycles = cycles_of(&o, to);
    *sent = cycles_of(&o, 0);
    ts_arena_free(o.arena);
    return cycles;
}

/* Each byte once on its way, however far: chunks are on all links at once. */
TEST(bytes_take_the_rate_of_a_link) {
    outcome o = run("8", ".sem a\n nop\n", 1);
    int64_t hop = hop_cycles(&o);
    double ps = ts_mesh_link_ps(o.result.mesh->mesh, 2048 * 512.0);
    int64_t bytes = (int64_t)(ps * (double)o.machine->chip.sustained_khz / 1e9);
    int64_t sent[4], near = send(2048, 1, &sent[0]), far = send(2048, 5, &sent[1]),
                     twice = send(4096, 1, &sent[2]);
    assert_in_range(far - near, 4 * hop - 1, 4 * hop + 1);
    assert_int_equal(sent[0], sent[1]);
    assert_in_range(near - sent[0], hop - 1, hop + 1);
    assert_in_range(twice - near, bytes - 80, bytes + 80);
    assert_in_range(sent[2] - sent[0], bytes - 80, bytes + 80);
    ts_arena_free(o.arena);
}

static int64_t launch_cycles(const outcome *o) {
    return o->machine->ici.launch_ps * (o->machine->chip.sustained_khz / 1000) / 1000000;
}

/* Of each device the first transfer that goes over links, and what follows before that has left; not signals, nor what
 * stays on its chip. */
TEST(each_device_launches_once) {
    static const struct {
        const char *body; /* of device 0 */
        int launches;
    } rows[] = {
        {"dma y <- x, s, r device=1\n wait s\n", 1},
        {"dma y <- x, s, r device=0\n wait s\n", 0},
        {"dma y <- x, s, r device=0\n wait s\n dma y <- x, s, r device=1\n wait s\n", 1},
        {"dma y <- x, s, r device=1\n wait s\n dma y <- x, s, r device=1\n wait s\n", 1},
        {"dma y <- x, s, r device=1\n dma y <- x, s, r device=1\n wait s, 2\n", 1},
        {"sem.signal r, 1, 1\n", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            ".tensor x vmem f32[8,128]{1,0:T(8,128)}\n.tensor y vmem f32[8,128]{1,0:T(8,128)}\n.sem s, r\n"
            " device.id s1\n br.eq s1, 1, over\n %sover: nop\n",
            rows[i].body);
        outcome o = run("2", text, 1);
        int64_t launch = launch_cycles(&o) * rows[i].launches;
        assert_true(launch_cycles(&o) > 5000);
        assert_in_range(cycles_of(&o, 0), launch, launch + 3000);
        assert_in_range(cycles_of(&o, 1), 1, 100);
        ts_arena_free(o.arena);
    }
}

/* What all devices get of HBM is written there: its bytes are counted at the receiver. */
TEST(what_comes_into_hbm_is_counted_there) {
    for (int hbm = 0; hbm < 2; hbm++) {
        char text[512];
        snprintf(text, sizeof text,
                 ".tensor x hbm f32[64,128]{1,0:T(8,128)} in iota\n.tensor y %s "
                 "f32[64,128]{1,0:T(8,128)}\n.sem s, r\n"
                 " device.id s1\n br.eq s1, 1, last\n dma y <- x, s, r device=1\n wait s\n halt\n"
                 "last: wait r\n",
                 hbm ? "hbm" : "vmem");
        outcome o = run("2", text, 1);
        cycles_of(&o, 1);
        assert_int_equal(o.result.mesh->chips[0].hbm_read_bytes, 32768);
        assert_int_equal(o.result.mesh->chips[0].hbm_written_bytes, 0);
        assert_int_equal(o.result.mesh->chips[1].hbm_written_bytes, hbm ? 32768 : 0);
        assert_int_equal(o.result.mesh->chips[1].hbm.writes > 0, hbm);
        ts_arena_free(o.arena);
    }
}

static const char storm[] =
    ".param N = mesh.devices\n"
    ".tensor x hbm s32[N,N,8,128]{3,2,1,0:T(8,128)} {devices=[N,1,1,1]<=[N]} in random(seed=3, lo=-9, hi=9)\n"
    ".tensor y hbm s32[N,N,8,128]{3,2,1,0:T(8,128)} {devices=[N,1,1,1]<=[N]} out\n"
    ".sem s, r, c\n.check y == transpose(x, 1, 0, 2, 3)\n"
    " device.id s1\n dma y[0, s1] <- x[0, s1], c\n"
    ".loop s3 = 1, N\n sadd s2, s1, s3\n smod s2, s2, N\n dma y[0, s1] <- x[0, s2], s, r device=s2\n"
    " sem.signal c, 1, s2\n.end\n wait s, N - 1\n wait r, N - 1\n wait c, N\n";

TEST(threads_do_not_show) {
    static const place meshes[] = {
        {.axes = "12"}, {.axes = "16x2"}, {.axes = "12", .machine = "tpu-v7x", .topology = "2x3"}};
    static const int threads[] = {2, 38, 11, 29, 20};
    for (size_t m = 0; m < 3; m++) {
        outcome alone = run_at(&meshes[m], storm, 1);
        for (int i = 0, most = cases(5, 1); i < most; i++) {
            outcome o = run_at(&meshes[m], storm, threads[(m + (size_t)i) % 5]);
            const ts_mesh *mesh = o.result.mesh->mesh;
            for (int d = 0; d < mesh->device_count; d++)
                assert_int_equal(cycles_of(&o, d), cycles_of(&alone, d));
            assert_memory_equal(o.result.mesh->links, alone.result.mesh->links,
                                (size_t)ts_mesh_link_count(mesh) * sizeof(ts_run_link));
            ts_arena_free(o.arena);
        }
        ts_arena_free(alone.arena);
    }
}

static const int32_t mixed[] = {5, 2, 11, 0, 7, 9, 1, 3, 10, 4, 8, 6};
static const place places[] = {
    {.axes = "3x4", .failed = {"(0,0)->(0,1)", "(1,3)->(0,3)", "(2,1)->(1,1)"}, .failed_count = 3},
    {.axes = "3x4", .order = mixed},
    {.axes = "3x4", .failed = {"(2,2)->(2,3)", "(0,0)->(1,0)"}, .failed_count = 2, .order = mixed},
    {.axes = "12", .machine = "tpu-v7x", .topology = "2x3"}, /* two devices a chip */
};

/* Each link has the bytes of the routes that go over it, as a reshard counts them. */
TEST(links_carry_what_routes_say) {
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        outcome o = run_at(&places[p], storm, 1 + (int)p);
        const ts_mesh *mesh = o.good ? o.result.mesh->mesh : NULL;
        assert_true(cycles_of(&o, 0) > 0);
        int64_t *loads = TS_NEW_ARRAY(o.arena, int64_t, ts_mesh_link_count(mesh));
        for (int64_t i = 0; i < 144; i++) ts_mesh_route(mesh, i / 12, i % 12, 4096, loads);
        ts_mesh_sum_loads(mesh, loads);
        for (int64_t i = 0; i < ts_mesh_link_count(mesh); i++)
            assert_int_equal(o.result.mesh->links[i].bytes, loads[i]);
        ts_arena_free(o.arena);
    }
}

TEST(signals_take_the_way_that_is_left) {
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (int d = 1; d < 12; d += 4) {
            char text[256];
            snprintf(text, sizeof text,
                     ".sem a\n device.id s1\n br.eq s1, %d, last\n br.ne s1, 0, over\n sem.signal a, 1, %d\n"
                     "over: halt\nlast: wait a\n",
                     d, d);
            outcome o = run_at(&places[p], text, 1);
            int64_t cycles = cycles_of(&o, d), hop = hop_cycles(&o), loads[48] = {0};
            int64_t hops = ts_mesh_route(o.result.mesh->mesh, 0, d, 1, loads);
            assert_in_range(cycles, hops * hop, hops * hop + 400);
            ts_arena_free(o.arena);
        }
}

/* Device `late` comes some 50,000 cycles after the others to the first barrier, and device 0 to the second: nobody goes on
 * before, and who comes last goes on as soon as the signals of its rounds are there. */
TEST(nobody_passes_a_barrier_alone) {
    for (int late = 1; late < 12; late += 5) {
        char text[512];
        snprintf(text, sizeof text,
                 ".param DEVICES = mesh.devices\n.reg barrier_to = s4\n.reg barrier_far = s5\n"
                 ".include \"tilesim:/mesh/include/barrier.tsim\"\n device.id s1\n br.ne s1, %d, first\n"
                 " delay 50000\nfirst: mesh_barrier\n brnz s1, second\n delay 70000\nsecond: mesh_barrier\n"
                 " br.eq s1, 3, over\n delay 5000\nover: halt\n",
                 late);
        outcome o = run("12", text, 1 + late % 2);
        int64_t hop = hop_cycles(&o);
        for (int d = 0; d < 12; d++) {
            int64_t rest = d == 3 ? 0 : 5000;
            assert_in_range(cycles_of(&o, d), 120000 + rest, 120000 + rest + 40 * hop);
        }
        ts_arena_free(o.arena);
    }
}

/* To the other device of a chip and back, over and over: dma.completion (89 cycles) each way, and what a wait and a
 * signal take; a transfer takes no link. */
TEST(devices_of_a_chip_are_near) {
    static const char text[] =
        ".tensor x vmem f32[8,128]{1,0:T(8,128)}\n.tensor y vmem f32[8,128]{1,0:T(8,128)}\n"
        ".sem a, b, s, r\n device.id s1\n sxor s2, s1, 1\n dma y <- x, s, r device=s2\n wait s\n"
        " wait r\n.loop s3 = 0, 100\n br.eq s1, 1, back\n sem.signal a, 1, 1\n wait b\n"
        " jump done\nback: wait a\n sem.signal b, 1, 0\ndone:\n.end\n";
    outcome o = run_at(&(place){.axes = "2", .machine = "tpu-v7x", .topology = "1"}, text, 2);
    assert_in_range(cycles_of(&o, 0), 100 * 2 * 89, 100 * 2 * (89 + 70));
    assert_int_equal(o.machine->hbm.stacks, 4);
    ts_arena_free(o.arena);
}

/* Of two devices of a chip, whose hops are longer than that, `late` goes on for 5000 cycles behind its 2000. */
static void late_goes_on(const char *text, int late, int64_t least, int64_t most) {
    outcome o = run_at(&(place){.axes = "2", .machine = "tpu-v7x", .topology = "1"}, text, 1);
    assert_true(hop_cycles(&o) > 3000);
    assert_in_range(cycles_of(&o, late), 7000, 7200);
    assert_in_range(cycles_of(&o, !late), least, most);
    ts_arena_free(o.arena);
}

/* One that has nothing to do for 2000 cycles, less than a hop, then sees what the other did before: it goes on for 5000. */
TEST(a_device_does_not_run_ahead_of_its_chip) {
    for (int idle = 0; idle < 2; idle++) {
        char text[256];
        snprintf(text, sizeof text,
                 ".sem a\n device.id s1\n br.eq s1, %d, idle\n delay 100\n delay 100\n"
                 " sem.signal a, 1, %d\n halt\nidle: delay 2000\n sem.read s2, a\n brz s2, over\n"
                 " delay 5000\n wait a\nover: halt\n",
                 idle, idle);
        late_goes_on(text, idle, 200, 300);
    }
}

/* 300 times the coordinate on the first axis, and 10,000 times that on the second. */
TEST(a_device_knows_its_coordinates) {
    outcome o = run("2x3",
                    " axis.index s1, 0\n axis.index s2, 1\n smul s1, s1, 300\n smul s2, s2, 10000\n"
                    " sadd s1, s1, s2\n delay s1\n",
                    1);
    for (int d = 0; d < 6; d++) {
        int first = d / 3 * 300, second = d % 3 * 10000;
        assert_in_range(cycles_of(&o, d), first + second, first + second + 50);
    }
    ts_arena_free(o.arena);
}

TEST(links_have_latency) {
    outcome o;
    ts_run_request asked = read_at(&o, &(place){.axes = "2"}, " nop\n");
    ts_mesh mesh = *asked.mesh;
    ts_machine_ici ici = *mesh.ici;
    asked.mesh = &mesh;
    mesh.ici = &ici;
    ici.hop_ps = 0;
    assert_false(ts_run(&o.err, o.arena, &asked, &o.result));
    assert_int_equal(o.err.kind, TS_ERROR_INPUT);
    assert_string_equal(o.err.message, "programs on a mesh need links with latency: ici.hop is 0");
    ici.hop_ps = 1;
    assert_true(ts_run(&o.err, o.arena, &asked, &o.result));
    ts_arena_free(o.arena);
}

/* A device that waits answers one that is busy for 2000 cycles, less than a hop: it sees that, whichever is the first. */
TEST(answers_of_its_chip_come_to_a_busy_device) {
    for (int busy = 0; busy < 2; busy++) {
        char text[256];
        snprintf(text, sizeof text,
                 ".sem a, b\n device.id s1\n br.eq s1, %d, busy\n wait a\n sem.signal b, 1, %d\n halt\n"
                 "busy: sem.signal a, 1, %d\n delay 2000\n sem.read s2, b\n brz s2, over\n delay 5000\n"
                 " wait b\nover: halt\n",
                 busy, busy, !busy);
        late_goes_on(text, busy, 50, 300);
    }
}

/* Of as many chunks as it has, and also where the device does something meanwhile. */
TEST(what_a_device_sends_itself_takes_as_long_as_a_copy) {
    static const char *const ways[] = {"s\n wait s", "s, r device=s1\n wait r", "s, r device=s1\n wait s",
                                       "s, r device=s1\n delay 300\n wait r"};
    for (int rows = 32; rows <= 1024; rows *= 2) {
        int64_t copied = 0;
        for (int i = 0; i < 4; i++) {
            char text[512];
            snprintf(text, sizeof text,
                     ".tensor x vmem f32[%d,128]{1,0:T(8,128)}\n.tensor y vmem f32[%d,128]{1,0:T(8,128)}\n"
                     ".sem s, r\n device.id s1\n dma y <- x, %s\n",
                     rows, rows, ways[i]);
            outcome o = run_at(&(place){.axes = "2"}, text, 1);
            if (i == 0) copied = cycles_of(&o, 0);
            assert_true(copied > 400);
            assert_int_equal(cycles_of(&o, 0), copied);
            assert_int_equal(cycles_of(&o, 1), copied);
            ts_arena_free(o.arena);
        }
    }
}

/* Of several devices that fail, in whatever window, the first in time is told of; whoever steps it. */
TEST(the_first_error_is_told) {
    for (int threads = 1; threads < 4; threads++) {
        outcome o = run(
            "8", " device.id s1\n ssub s2, 9, s1\n smul s2, s2, 100\n delay s2\n sdiv s3, s1, 0\n", threads);
        assert_false(o.good);
        assert_string_equal(o.err.message, "device 7: division by 0, expected a divisor above 0");
        ts_arena_free(o.arena);
        o = run("8", " nop\n sdiv s3, s1, 0\n", threads);
        assert_string_equal(o.err.message, "device 0: division by 0, expected a divisor above 0");
        assert_int_equal(o.err.kind, TS_ERROR_FAULT);
        ts_arena_free(o.arena);
    }
}

TEST(polling_a_semaphore_is_no_endless_loop) {
    outcome o = run("2",
                    ".sem a\n device.id s1\n brz s1, first\ngo: sem.read s2, a\n brz s2, go\n wait a\n halt\n"
                    "first: delay 300000\n sem.signal a, 1, 1\n",
                    2);
    assert_in_range(cycles_of(&o, 1), 300000, 310000);
    ts_arena_free(o.arena);
}

/* Slices that are one run of bits, and such that are not; other tiles, types and dims at the other end. */
static const struct {
    const char *source, *from, *destination, *to, *check;
} sent_slices[] = {
    {"f32[2,16,256]{2,1,0:T(8,128)}", "x[0]", "f32[2,16,256]{2,1,0:T(8,128)}", "y[0]", "y[1] == x[0]"},
    {"f32[2,16,256]{2,1,0:T(8,128)}", "x[0]", "f32[2,16,256]{1,2,0}", "y[0]", "y[1] == x[0]"},
    {"f32[2,5,100]{2,1,0:T(8,128)}", "x[0]", "f32[2,5,100]{2,1,0:T(8,128)}", "y[0]", "y[1] == x[0]"},
    {"f32[2,16,256]{2,1,0:T(8,128)}", "x[0, 0:8]", "f32[2,24,256]{2,1,0:T(8,128)}", "y[0, 8:16]",
     "y[1, 8:16] == x[0, 0:8]"},
    {"f32[2,16,256]{2,1,0:T(8,128)}", "x[0, :, 128:256]", "f32[2,16,128]{2,1,0}", "y[0]",
     "y[1] == x[0, :, 128:256]"},
    {"f32[2,16,256]{2,1,0:T(8,128)}", "x[0, 3:5, 7:90]", "f32[2,2,83]{2,1,0}", "y[0]",
     "y[1] == x[0, 3:5, 7:90]"},
    {"bf16[2,16,256]{2,1,0:T(8,128)(2,1)}", "x[0, 0:8]", "f32[2,8,256]{2,1,0:T(8,128)}", "y[0]",
     "y[1] == x[0, 0:8]"},
    {"f32[2,4,16,256]{3,2,1,0:T(8,128)}", "x[0, 2]", "f32[2,16,256]{2,1,0:T(8,128)}", "y[0]",
     "y[1] == x[0, 2]"},
    {"s4[2,16,256]{2,1,0}", "x[0, 3:4, 1:8]", "s4[2,1,7]{2,1,0}", "y[0]", "y[1] == x[0, 3:4, 1:8]"},
};

TEST(slices_arrive_in_any_layout) {
    for (size_t i = 0; i < sizeof sent_slices / sizeof sent_slices[0]; i++) {
        char text[1024];
        bool flat = strncmp(sent_slices[i].source, "f32[2,4", 7) == 0;
        snprintf(
            text, sizeof text,
            ".tensor x hbm %s {devices=[2,1,1%s]<=[2]} in random(seed=5, lo=-7, hi=7)\n"
            ".tensor y hbm %s {devices=[2,1,1]<=[2]} inout zeros\n.check %s\n.sem s, r\n"
            " device.id s1\n brnz s1, last\n dma %s <- %s, s, r device=1\n wait s\n halt\nlast: wait r\n",
            sent_slices[i].source, flat ? ",1" : "", sent_slices[i].destination, sent_slices[i].check,
            sent_slices[i].to, sent_slices[i].from);
        outcome o = run("2", text, 2);
        if (!o.good || !o.result.passed) print_error("row %zu: %s\n", i, o.err.message);
        assert_true(o.good && o.result.passed);
        ts_arena_free(o.arena);
    }
}

/* ---- Who waits for whom ---- */

#define TENSORS                                                                                              \
    ".tensor x vmem f32[8,128]{1,0:T(8,128)} in iota\n.tensor y vmem f32[8,128]{1,0:T(8,128)}\n.sem s, r\n " \
    "device.id s1\n"

/* Lines from 5 on. A device could signal another one if an instruction names it with what its scalars are now. */
static const struct {
    const char *axes, *body;
    const char *devices; /* that are told of, each waiting at that line */
    int line;
    char semaphore;
    int needed, is;
    const char *end;
} deadlocks[] = {
    {"4", " sadd s2, s1, 1\n smod s2, s2, 4\n wait r\n dma y <- x, s, r device=s2\n", "0321", 7, 'r', 1, 0,
     ", for device 0: a cycle"},
    /* not the semaphore of the sender, nor that of a transfer that stays, nor another device's */
    {"3", " wait s\n dma y <- x, s, r device=0\n", "0", 5, 's', 1, 0, ", which no device would signal"},
    {"3", " wait r\n dma y <- x, s\n", "0", 5, 'r', 1, 0, ", which no device would signal"},
    {"3", " wait s\n dma y <- x, s\n", "0", 5, 's', 1, 0, ", which no device would signal"},
    {"3", " wait s\n dma y <- x, r\n sem.signal r, 1, 0\n sem.signal s, 1, 1\n", "0", 5, 's', 1, 0,
     ", which no device would signal"},
    {"3", " sem.signal r, 1, s1\n wait r, 3\n sem.signal r, 1, 0\n", "01", 6, 'r', 3, 1,
     ", which no device would signal"},
    {"3", " wait r\n sem.signal s, 1, 0\n", "0", 5, 'r', 1, 0, ", which no device would signal"},
    /* the second transfer is the one that would, and the first semaphore may be what is waited for */
    {"2", " wait r\n dma y <- x, s\n dma y <- x, s, r device=0\n", "01", 5, 'r', 1, 0,
     ", which no device would signal"},
    {"3", " sadd s2, s1, 1\n smod s2, s2, 3\n wait s\n sem.signal s, 1, s2\n", "021", 7, 's', 1, 0,
     ", for device 0: a cycle"},
    /* of 0 and 1, which both would signal 2, the next one round */
    {"3", " br.eq s1, 2, all\n sadd s2, s2, 2\nall: wait r\n sem.signal r, 1, s2\n", "02", 7, 'r', 1, 0,
     ", for device 0: a cycle"},
    /* from 0 one comes into the cycle of 1 and 2 */
    {"3",
     " br.eq s1, 1, one\n br.eq s1, 2, two\n jump all\none: sadd s3, s1, 1\n jump all\n"
     "two: sadd s2, s1, -1\n sadd s3, s1, -1\nall: wait r\n sem.signal r, 1, s2\n sem.signal r, 1, s3\n",
     "12", 12, 'r', 1, 0, ", for device 1: a cycle"},
    {"3", " brz s1, over\n wait r\nover: halt\n", "1", 6, 'r', 1, 0, ", which no device would signal"},
    {"2", " brnz s1, over\n wait r\nover: halt\n sem.signal r, 1, 0\n", "0", 6, 'r', 1, 0,
     ", for device 1 has halted"},
    /* as many as there is room for */
    {"8", " sadd s2, s1, 1\n smod s2, s2, 8\n wait r\n sem.signal r, 1, s2\n", "07654", 7, 'r', 1, 0,
     ", for device 3 .."},
};

TEST(a_deadlock_tells_who_waits_for_whom) {
    for (size_t i = 0; i < sizeof deadlocks / sizeof *deadlocks; i++) {
        char text[1024], expected[1024] = "deadlock: ";
        size_t at = strlen(expected);
        for (const char *d = deadlocks[i].devices; *d; d++)
            at += (size_t)snprintf(expected + at, sizeof expected - at,
                                   "%sdevice %c waits at line %d for semaphore '%c[0]' to reach %d, it is %d",
                                   d == deadlocks[i].devices ? "" : ", for ", *d, deadlocks[i].line,
                                   deadlocks[i].semaphore, deadlocks[i].needed, deadlocks[i].is);
        snprintf(expected + at, sizeof expected - at, "%s", deadlocks[i].end);
        snprintf(text, sizeof text, TENSORS "%s", deadlocks[i].body);
        outcome o = run(deadlocks[i].axes, text, 1);
        assert_false(o.good);
        assert_string_equal(o.err.message, expected);
        assert_int_equal(o.err.line, deadlocks[i].line);
        assert_in_range(o.err.cycle, 1, 100);
        ts_arena_free(o.arena);
    }
}

/* ---- What comes: told of, counted, and with the sanitizer looked at ---- */

typedef struct {
    int count;
    int64_t cycle;
} came;

static void see_moved(void *self, const ts_in_flight *transfer) {
    came *c = self;
    if (!transfer->message) return; /* its own */
    c->count++;
    c->cycle = transfer->done_cycle;
    assert_int_equal(transfer->plan->moved_elements, 8 * 128);
}

/* The program's first transfer, and its second: each is told of where it comes. */
TEST(what_comes_is_told_of_there) {
    came seen[2] = {{0}};
    const ts_chip_observer first = {.self = &seen[0], .moved = see_moved},
                           second = {.self = &seen[1], .moved = see_moved};
    const ts_chip_observer *const both[] = {&first, &second};
    outcome o = run_at(&(place){.axes = "2", .observers = both},
                       TENSORS " brnz s1, last\n dma y <- x, s, r device=1\n wait s\n dma y <- x, s, r "
                               "device=1\n wait s\n sem.signal r, 1, 1\n halt\nlast: wait r, 3\n",
                       1);
    assert_true(cycles_of(&o, 1) > 0);
    assert_int_equal(seen[0].count, 0);
    assert_int_equal(seen[1].count, 2);
    assert_in_range(seen[1].cycle, cycles_of(&o, 0), cycles_of(&o, 1));
    ts_arena_free(o.arena);
}

/* 16 chunks: each is written once. */
TEST(chunks_into_hbm_are_written_once) {
    outcome o = run("2",
                    ".tensor x hbm f32[512,128]{1,0:T(8,128)} in iota\n.tensor y hbm "
                    "f32[512,128]{1,0:T(8,128)}\n.sem s, r\n device.id s1\n brnz s1, last\n"
                    " dma y <- x, s, r device=1\n wait s\n halt\nlast: wait r\n",
                    1);
    assert_true(cycles_of(&o, 1) > 0);
    assert_int_equal(o.result.mesh->chips[1].hbm_written_bytes, 512 * 512);
    ts_arena_free(o.arena);
}

TEST(the_sanitizer_looks_at_what_comes) {
    for (int early = 0; early < 2; early++) {
        char text[512];
        snprintf(text, sizeof text,
                 TENSORS " brnz s1, last\n dma y <- x, s, r device=1\n wait s\n halt\nlast: delay 50000\n%s",
                 early ? " vld v1, y[0, 0]\n wait r\n" : " wait r\n vld v1, y[0, 0]\n");
        outcome o = run_at(&(place){.axes = "2", .check = true}, text, 1);
        assert_true(o.good);
        assert_int_equal(ts_findings_count(o.result.findings, TS_FINDING_WRONG), early);
        const char *found = early ? "device 1: this reads bytes of 'y' that a DMA of device 0 wrote, without "
                                    "waiting for it"
                                  : "";
        assert_string_equal(o.result.findings->list[0].text, found);
        ts_arena_free(o.arena);
    }
}

/* Whichever device it is on. */
TEST(the_sanitizer_looks_at_the_end) {
    for (int device = 0; device < 2; device++) {
        char text[256], expected[128];
        snprintf(text, sizeof text,
                 ".sem a\n device.id s1\n br.ne s1, %d, over\n sem.signal a, 1, s1\nover: halt\n", device);
        snprintf(expected, sizeof expected,
                 "device %d: semaphore a[0] is 1 at the end, expected 0: it was added to more often than "
                 "waited for",
                 device);
        outcome o = run_at(&(place){.axes = "2", .check = true}, text, 1);
        assert_true(o.good);
        assert_int_equal(o.result.findings->count, 1);
        assert_string_equal(o.result.findings->list[0].text, expected);
        ts_arena_free(o.arena);
    }
}

/* ---- In steps ---- */

static ts_pod *open_pod(outcome *o, const char *axes, const char *text) {
    const ts_run_request asked = read_at(o, &(place){.axes = axes}, text);
    ts_chip_config *config = TS_NEW(o->arena, ts_chip_config);
    ts_chip_configure(o->machine, config);
    ts_pod *pod = ts_pod_new(&o->err, o->arena,
                             &(ts_pod_request){.mesh = asked.mesh,
                                               .code = &asked.built->code,
                                               .config = config,
                                               .max_cycles = asked.max_cycles});
    assert_non_null(pod);
    return pod;
}

static int64_t pod_cycles(ts_pod *pod, int64_t device) {
    ts_chip_counters counters;
    ts_chip_count(ts_pod_chip(pod, device), &counters);
    return counters.cycles;
}

/* Up to a cycle, what is in it is still to come; from one thing to the next, the end is that of a run. */
TEST(a_pod_goes_in_steps) {
    for (int late = 0; late < 3; late += 2) {
        char text[256];
        snprintf(text, sizeof text,
                 ".sem a\n device.id s1\n br.eq s1, %d, last\n delay 5000\n delay 50000\n"
                 " sem.signal a, 1, %d\n halt\nlast: delay 20000\n wait a, 2\n",
                 late, late);
        outcome whole = run("3", text, 1), o;
        int64_t last = cycles_of(&whole, late), next = 0, steps = 0;
        ts_pod *pod = open_pod(&o, "3", text);
        assert_int_equal(ts_pod_next(pod), 0);
        assert_true(ts_pod_advance(&o.err, pod, 1000));
        next = ts_pod_next(pod);
        assert_in_range(next, 5000, 5010);
        assert_true(ts_pod_advance(&o.err, pod, next));
        assert_int_equal(ts_pod_next(pod), next);
        assert_true(ts_pod_advance(&o.err, pod, next + 1));
        assert_in_range(ts_pod_next(pod), next + 1, 20010);
        for (; (next = ts_pod_next(pod)) != INT64_MAX && steps < 100; steps++)
            assert_true(ts_pod_advance(&o.err, pod, next + 1));
        assert_in_range(steps, 5, 40);
        assert_true(ts_pod_end(&o.err, pod));
        assert_in_range(last, 55000, 60000);
        for (int d = 0; d < 3; d++) assert_int_equal(pod_cycles(pod, d), cycles_of(&whole, d));
        ts_pod_free(pod);
        ts_arena_free(o.arena);
        pod = open_pod(&o, "3", text);
        assert_true(ts_pod_advance(&o.err, pod, INT64_MAX));
        assert_int_equal(ts_pod_next(pod), INT64_MAX);
        assert_int_equal(pod_cycles(pod, late), last);
        ts_pod_free(pod);
        ts_arena_free(o.arena);
        ts_arena_free(whole.arena);
    }
}

/* How far another device has gone when one fails: to the end of a hop, or, where none can send anything, of a
 * longer window, whose end all see alike. */
TEST(without_messages_chips_go_further_alone) {
    enum { HOP = 1500, WINDOW = 1 << 17 };
    static const struct {
        const char *text;
        int64_t least, most;
    } rows[] = {
        {"", WINDOW, WINDOW + 10},
        {" sem.signal a, 1, 0\n", HOP, HOP + 10},
        {".tensor x vmem f32[8,128]{1,0:T(8,128)}\n.tensor y vmem f32[8,128]{1,0:T(8,128)}\n"
         " dma y <- x, a, a device=0\n",
         HOP, HOP + 10},
        {".tensor x vmem f32[8,128]{1,0:T(8,128)}\n.tensor y vmem f32[8,128]{1,0:T(8,128)}\n dma y <- x, a\n",
         WINDOW, WINDOW + 10},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        outcome o;
        snprintf(text, sizeof text,
                 ".sem a\n device.id s1\n br.eq s1, 1, spin\n delay 100\n sdiv s3, s1, 0\n%s"
                 "spin: sadd s4, s4, 1\n jump spin\n",
                 rows[i].text);
        ts_pod *pod = open_pod(&o, "2", text);
        assert_false(ts_pod_advance(&o.err, pod, INT64_MAX));
        assert_string_equal(o.err.message, "device 0: division by 0, expected a divisor above 0");
        assert_in_range(pod_cycles(pod, 1), rows[i].least, rows[i].most);
        ts_pod_free(pod);
        ts_arena_free(o.arena);
    }
}
