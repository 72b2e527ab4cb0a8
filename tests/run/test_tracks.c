/* The table of a timeline's tracks: of one core and of two, of a device alone and on a mesh. */
#include "run/recorder.h"

#include <string.h>

#include "core/core.h"
#include "mesh/mesh.h"
#include "tests/support/run_text.h"
#include "tests/support/test.h"

enum { CHANNELS = 2, QUEUES = 2 };

typedef struct {
    ts_arena *arena;
    ts_machine machine; /* of few channels and queues */
    ts_mesh mesh;
    ts_timeline timeline;
    track_map map;
} fixture;

/* topology NULL: as the axes are. */
static void begin(fixture *f, const char *name, const char *axes, const char *topology, const char *text) {
    ts_error err = {0};
    *f = (fixture){.arena = ts_arena_new()};
    const ts_machine *machine = ts_machine_load(&err, f->arena, name);
    assert_non_null(machine);
    f->timeline.program = assemble_text(f->arena, machine, text);
    f->machine = *machine;
    f->machine.hbm.stacks = 1;
    f->machine.hbm.channels = CHANNELS;
    f->machine.hbm.pseudo_channels = 2;
    f->machine.dma.queues = QUEUES;
    f->timeline.machine = &f->machine;
    ts_mesh_request mesh = {.machine = machine,
                            .axes = {"mesh", axes, axes ? strlen(axes) : 0},
                            .topology = {"topology", topology, topology ? strlen(topology) : 0}};
    if (axes) assert_true(ts_mesh_read(&err, f->arena, &mesh, &f->mesh));
    if (axes) f->timeline.mesh = &f->mesh;
}

/* "process: track, track (series)": a unit's is only counted. */
static const char *listed(const fixture *f) {
    const ts_timeline *t = &f->timeline;
    ts_text out = ts_text_begin(f->arena);
    for (int i = 0; i < t->track_count; i++) {
        const ts_track *track = &t->tracks[i];
        int of_core = i % f->map.of_core;
        bool first = i == 0 || track[-1].process != track->process;
        if (first) ts_text_add(&out, "%s%s:", i > 0 ? "\n" : "", t->processes[track->process]);
        if (i < f->map.cores * f->map.of_core && of_core >= TRACK_UNITS &&
            of_core < TRACK_UNITS + f->map.units)
            continue;
        ts_text_add(&out, " %s", track->name);
        for (int k = 0; k < 2; k++)
            if (track->series[k]) ts_text_add(&out, " (%s)", track->series[k]);
        ts_text_add(&out, track->is_rate ? " rate;" : ";");
    }
    return out.bytes;
}

#define ENGINE "DMA engine: queue 0; queue 1; outstanding (bytes);\n"
#define MEMORY                                                                                               \
    "HBM: channel 0.0; channel 0.1; channel 1.0; channel 1.1; bandwidth (read GB/s) (written GB/s) rate;"

TEST(a_device_alone) {
    fixture f;
    begin(&f, "tpu-v5e", NULL, NULL, ".sem a, b[2]\n nop\n");
    tracks_make(f.arena, &f.timeline, 0, &f.map);
    assert_string_equal(listed(&f),
                        "core: regions; bundles; stalls; a[0] (semaphore); b[0] (semaphore); b[1] "
                        "(semaphore);\n" ENGINE MEMORY);
    assert_int_equal(f.timeline.process_count, 3);
    assert_int_equal(f.map.units, ts_core_unit_count(&f.machine.core));
    assert_int_equal(f.map.of_core, TRACK_UNITS + f.map.units + 3);
    assert_int_equal(f.map.queue_first, f.map.of_core);
    assert_int_equal(f.map.outstanding, f.map.of_core + QUEUES);
    assert_int_equal(f.map.bus_first, f.map.outstanding + 1);
    assert_true(f.map.queues == QUEUES && f.map.buses == 2 * CHANNELS);
    assert_int_equal(f.map.bandwidth, f.map.bus_first + f.map.buses);
    assert_int_equal(f.timeline.track_count, f.map.bandwidth + 1);
    assert_true(f.map.links == 0 && f.map.link_first == 0 && f.map.arrivals == 0);
    f.machine.hbm.pseudo_channels = 1;
    tracks_make(f.arena, &f.timeline, 0, &f.map);
    assert_non_null(strstr(listed(&f), "HBM: channel 0; channel 1; bandwidth"));
    ts_arena_free(f.arena);
}

/* A unit's name is that of the core's. */
TEST(cores_have_tracks_each) {
    fixture f;
    begin(&f, "tpu-v4", NULL, NULL, ".cores 2\n nop\n");
    tracks_make(f.arena, &f.timeline, 0, &f.map);
    assert_string_equal(
        listed(&f), "core 0: regions; bundles; stalls;\ncore 1: regions; bundles; stalls;\n" ENGINE MEMORY);
    assert_true(f.timeline.process_count == 4 && f.map.cores == 2);
    for (int core = 0; core < 2; core++)
        for (int i = 0; i < f.map.units; i++) {
            char name[32];
            ts_core_unit_name(&f.machine.core, i, name);
            const ts_track *track = &f.timeline.tracks[core * f.map.of_core + TRACK_UNITS + i];
            assert_string_equal(track->name, name);
            assert_int_equal(track->process, core);
        }
    ts_arena_free(f.arena);
}

TEST(a_device_on_a_mesh) {
    fixture f;
    begin(&f, "tpu-v5e", "2x2", NULL, "nop\n");
    tracks_make(f.arena, &f.timeline, 1, &f.map);
    assert_string_equal(listed(&f), "core: regions; bundles; stalls;\n" ENGINE MEMORY
                                    "\nlinks: link 0+ (0,1) -> (1,1); ; ; link 1- (0,1) -> (0,0); arrivals;");
    assert_true(f.timeline.process_count == 4 && f.map.links == 4);
    assert_int_equal(f.map.link_first, f.map.bandwidth + 1);
    assert_int_equal(f.map.arrivals, f.map.link_first + 4);
    ts_arena_free(f.arena);
}

/* A chip of two devices has its links once. */
TEST(devices_of_a_chip) {
    static const char *const links[] = {"link 0+ (0) -> (1);", " ; ; arrivals;", "link 0- (1) -> (0);",
                                        " ; ; arrivals;"};
    for (int device = 0; device < 4; device++) {
        fixture f;
        begin(&f, "tpu-v7x", "x=2,core=2", "2", "nop\n");
        tracks_make(f.arena, &f.timeline, device, &f.map);
        if (!strstr(listed(&f), links[device])) fail_msg("device %d: %s", device, listed(&f));
        ts_arena_free(f.arena);
    }
}
